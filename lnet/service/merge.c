/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Changes peer entries as ping infos require: adds and removes NIDs, and merges two peer entries of
 * one node. If a NID is unknown or another peer entry has it, the NID must be proven first
 * (prove.c). The configuration overrides ping infos. If an interface or peer is in use, the worker
 * retries later.
 */
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "service/service.h"
#include "shard/trace.h"

#define FEW_NIDS	4U	/* number of NIDs that each peer may always have */

/* cfg_mutex held. A ping info, and the peer entry into which it is merged. */
struct merge {
	struct lnet_pass *p;
	struct lnet *ln;
	struct lnet_peer *from;		/* sent the info */
	struct lnet_peer *peer;		/* receives the NIDs; referenced */
	struct lnet_sbuf *info;
	u32 len;
	struct lnet_pinginfo pi;
	struct lnet_listing *list;
	bool same_host;			/* the peer is on this host, and may list 127.x.y.z */
	bool late;			/* last attempt to change an interface that is in use */
	bool busy;			/* a change failed because an interface is in use */
	bool partial;			/* a listed NID stays in another entry, or in none */
	u8 full;			/* enum lnet_full: why NIDs were ignored */
};

/* ---- facts about the peer -------------------------------------------------------------------- */

static bool learns(const struct merge *m)
{
	return lnet_disc_learns(m->ln, m->pi.features);
}

static const struct lnet_pinginfo_ni *listed(const struct merge *m, const struct lnet_nid *nid)
{
	return lnet_listing_find(m->ln, m->list, nid);
}

/*
 * [sh] Applies the status that the peer advertises for @pni, as stock LNet does. DOWN subtracts
 * health_sensitivity from the health. UP sets full health if it is the first status. UP after DOWN
 * adds health_sensitivity again, without recovery pings: the advertised status needs no test. An
 * interface that is no longer listed counts as down.
 */
static void pni_said(struct merge *m, struct lnet_peer_ni *pni)
{
	const struct lnet_pinginfo_ni *ni = listed(m, &pni->nid);
	u16 cost = (u16)READ_ONCE(m->ln->tun.health_sensitivity);
	enum lnet_pni_status said = LNET_PNI_STATUS_DOWN;
	struct lnet_path *path;

	if (ni && ni->status != LNET_NI_DOWN)
		said = ni->status == LNET_NI_UP ? LNET_PNI_STATUS_UP : LNET_PNI_STATUS_NONE;
	if (said == pni->status || said == LNET_PNI_STATUS_NONE)
		return;
	if (said == LNET_PNI_STATUS_DOWN)
		pni->health -= min(pni->health, cost);
	else if (pni->status == LNET_PNI_STATUS_NONE)
		pni->health = LNET_HEALTH_MAX;
	else
		pni->health = min(pni->health + cost, LNET_HEALTH_MAX);
	pni->status = said;
	if (lnet_recs(m->p->sh))
		m->p->sh->rec->ops->note_pni(m->p->sh, LNET_RK_HEALTH_SET, pni, pni->health);
	if (said == LNET_PNI_STATUS_UP)
		list_for_each_entry(path, &pni->paths, link)
			lnet_path_recover(m->p->sh, path);
}

static void statuses(struct merge *m)
{
	struct lnet_peer_ni *pni;

	lnet_enter(m->p, m->peer->sh);
	list_for_each_entry(pni, &m->peer->pnis, link)
		if (listed(m, &pni->nid) || m->peer->configured)
			pni_said(m, pni);
	lnet_leave(m->p);
}

/* Stores the features of the peer, and whether its NIDs are learned. */
static void facts(struct merge *m, bool learning)
{
	struct lnet_peer *peer = m->peer;
	bool on = READ_ONCE(m->ln->tun.discovery);

	lnet_enter(m->p, peer->sh);
	peer->features = m->pi.features;
	peer->disc.known = 1;
	peer->disc.off = !learning;
	if (!peer->configured && (learning || on))
		peer->mr = learning;
	lnet_leave(m->p);
}

/* ---- removed interfaces ---------------------------------------------------------------------- */

static void pni_hide(struct merge *m, struct lnet_peer_ni *pni)
{
	lnet_enter(m->p, m->peer->sh);
	lnet_peer_ni_unlist(pni);
	lnet_leave(m->p);
}

/*
 * Unlists interfaces that the info does not list; with @all, unlists all interfaces. The primary
 * interface stays. An interface of a router stays if a route names it.
 */
static void shed(struct merge *m, bool all)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &m->peer->pnis, link)
		if ((all || !listed(m, &pni->nid)) && !pni->deleted &&
		    !lnet_nid_same(&pni->nid, &m->peer->primary) &&
		    !(pni->gw && lnet_routes_need(pni)))
			pni_hide(m, pni);
}

void lnet_peer_ni_lost(struct lnet_pass *p, struct lnet_peer_ni *pni)
{
	struct lnet_ni *ni;

	list_for_each_entry(ni, &pni->ln->nis, link)
		if (ni->net == pni->net)
			lnet_path_lost(p, ni, pni, U32_MAX, LNET_PATH_LOST);
	lnet_leave(p);
}

static struct lnet_peer_ni *next_hidden(struct lnet_peer *peer, struct lnet_peer_ni *pni)
{
	pni = pni ? pni : list_entry(&peer->pnis, struct lnet_peer_ni, link);
	list_for_each_entry_continue(pni, &peer->pnis, link)
		if (pni->deleted)
			return pni;
	return NULL;
}

/*
 * [sh] True if nothing is in flight to or from @pni, and no path to @pni is the first-hop path of
 * routed paths. If routed paths still use @pni, lnet_routes_sync() removes them first.
 */
static bool merge_pni_is_idle(const struct lnet_peer_ni *pni)
{
	const struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (lnet_path_has_gw_paths(path))
			return false;
	return lnet_peer_ni_is_idle(pni);
}

bool lnet_merge_reap(struct lnet_pass *p, struct lnet_peer *peer, bool late)
{
	struct lnet_peer_ni *pni = next_hidden(peer, NULL), *next;
	bool left = false, idle;

	for (; pni; pni = next) {
		next = next_hidden(peer, pni);
		if (late)
			lnet_peer_ni_lost(p, pni);
		lnet_enter(p, peer->sh);
		idle = merge_pni_is_idle(pni);
		lnet_leave(p);
		left |= !idle;
		if (idle)
			lnet_peer_ni_drop(pni);
	}
	return left;
}

/* ---- new interfaces -------------------------------------------------------------------------- */

static void rename_to(struct merge *m, struct lnet_peer *peer, const struct lnet_nid *primary,
		      bool lock)
{
	lnet_enter(m->p, peer->sh);
	spin_lock(&m->ln->nid_lock);
	peer->primary = *primary;
	peer->locked |= lock;
	spin_unlock(&m->ln->nid_lock);
	lnet_leave(m->p);
}

/*
 * Returns the first interface of @peer that is not to be removed, and whose NID is not @nid; or
 * NULL.
 */
static struct lnet_peer_ni *another(const struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && !lnet_nid_same(&pni->nid, nid))
			return pni;
	return NULL;
}

/* True if @nid may move from the peer entry @from to m->peer. The rules are those of stock LNet. */
static bool merge_may_take(const struct merge *m, const struct lnet_peer *from,
			   const struct lnet_nid *nid)
{
	if (from->configured || lnet_nid_is_lo(&from->primary))
		return false;
	if (!from->locked || !lnet_nid_same(&from->primary, nid) || from->nr_pnis == 1)
		return true;
	lnet_log_nid_locked(m->ln, &m->peer->primary, nid);
	return false;
}

/* True if a NID cannot be pinged: no path reaches it, and nothing was received from it. */
static bool is_alias(struct merge *m, struct lnet_peer_ni *pni)
{
	bool is;

	lnet_enter_pni(m->p, pni);
	is = pni->alias || (!lnet_paths_live(pni) && !pni->last_rx_ns);
	lnet_leave(m->p);
	return is;
}

/*
 * True if @nid is on a remote net and its peer is a configured gateway. A gateway does not forward
 * to its own NIDs, so these cannot be pinged. The node accepts the list of a configured gateway
 * without proof, except for a NID from which a message was received.
 */
static bool is_gateways(struct merge *m, const struct lnet_nid *nid)
{
	return !lnet_net_is_local(m->ln, lnet_nid_net(nid)) && lnet_gateway_of(m->ln, m->from);
}

static bool nid_is_alias(struct merge *m, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(m->ln, nid);
	bool is = pni && (is_alias(m, pni) || (is_gateways(m, nid) && !pni->last_rx_ns));

	lnet_peer_ni_put(pni);
	return is;
}

/* True if a NID of @owner is listed and was proven to belong to the node that sent the info. */
static bool any_given(const struct merge *m, const struct lnet_peer *owner)
{
	const struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &owner->pnis, link)
		if (!pni->deleted && !pni->alias && listed(m, &pni->nid) &&
		    lnet_nid_is_proven(m->from, &pni->nid))
			return true;
	return false;
}

/*
 * True if @owner, which has the listed @nid, is the node that sent the info. If @nid cannot be
 * pinged, it is an alias. An alias moves if another NID of @owner was proven, or if @owner has no
 * other NID.
 */
static bool is_same_node(struct merge *m, const struct lnet_peer *owner,
			 const struct lnet_nid *nid)
{
	if (owner == m->from || owner == m->peer || lnet_nid_is_proven(m->from, nid))
		return true;
	return nid_is_alias(m, nid) && (owner->nr_pnis == 1 || any_given(m, owner));
}

/* True if each NID of @from is listed and was proven to belong to the node that sent the info. */
static bool all_its(struct merge *m, const struct lnet_peer *from)
{
	const struct lnet_peer_ni *pni;

	if (from == m->from)
		return true;
	list_for_each_entry(pni, &from->pnis, link)
		if (!pni->deleted && !pni->alias &&
		    (!listed(m, &pni->nid) || !lnet_nid_is_proven(m->from, &pni->nid)))
			return false;
	return true;
}

/*
 * Moves @nid from @from to the peer. If @nid is the primary NID of @from, all NIDs of @from move if
 * each is known to belong to the same node. Otherwise another NID becomes the primary NID of @from.
 */
static void merge_move_nid(struct merge *m, struct lnet_peer *from, const struct lnet_nid *nid)
{
	bool primary = lnet_nid_same(&from->primary, nid);
	bool lock = primary && from->locked && !m->peer->locked;
	struct lnet_peer_ni *next = another(from, nid);
	bool one;

	lnet_leave(m->p);
	one = !primary || (next && !all_its(m, from));
	if (lnet_peer_take_over(from, m->peer, one ? nid : NULL, !m->late))
		m->busy = true;
	else if (one && next && primary)
		rename_to(m, from, &next->nid, false);
	else if (!one && lock)
		rename_to(m, m->peer, nid, true);
}

static void alias_mark(struct merge *m, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(m->ln, nid);

	if (!pni || is_gateways(m, nid)) {
		lnet_peer_ni_put(pni);
		return;
	}
	lnet_enter_pni(m->p, pni);
	if (pni->peer == m->peer && !lnet_paths_live(pni) && !pni->last_rx_ns)
		pni->alias = 1;
	lnet_leave(m->p);
	lnet_peer_ni_put(pni);
}

static void nid_ignored(struct merge *m, unsigned int nr)
{
	lnet_enter(m->p, m->peer->sh);
	lnet_count_add(m->p->sh, nids_ignored, nr);
	lnet_leave(m->p);
}

/*
 * Bounds the aliases, because an alias needs no proof. Without this bound, the aliases of many
 * peers could fill the memory.
 */
static bool has_many_nids(const struct lnet *ln)
{
	return READ_ONCE(ln->nr_nids) >= READ_ONCE(ln->tun.peers_max);
}

/*
 * True if the peer may have no further NID, not even a proven one. Each peer may have FEW_NIDS. A
 * peer may have more only while the node has fewer than FEW_NIDS x peers_max NIDs.
 */
static bool peer_is_full(const struct lnet_peer *peer)
{
	const struct lnet *ln = peer->ln;
	u32 nr = peer->nr_pnis;

	return nr >= lnet_nids_max(ln) ||
	       (nr >= FEW_NIDS &&
		READ_ONCE(ln->nr_nids) >= FEW_NIDS * READ_ONCE(ln->tun.peers_max));
}

static int list_reject(struct merge *m, enum lnet_full why)
{
	m->full |= why;
	return -ENOSPC;
}

bool lnet_merge_has_room(const struct lnet_peer *peer)
{
	return !peer_is_full(peer) &&
	       !((peer->disc.full & LNET_FULL_ALIASES) && has_many_nids(peer->ln));
}

/* No peer has @nid. If @nid can be pinged, it has a separate peer entry until it is proven. */
static int add_unknown(struct merge *m, const struct lnet_nid *nid)
{
	u32 net = lnet_nid_net(nid);
	int err;

	if (peer_is_full(m->peer))
		return list_reject(m, LNET_FULL_NIDS);
	if ((lnet_net_is_local(m->ln, net) || lnet_routes_hops(m->ln, net)) && !is_gateways(m, nid))
		return lnet_proof_want(m->from, nid, true);
	if (has_many_nids(m->ln))
		return list_reject(m, LNET_FULL_ALIASES);
	err = lnet_peer_ni_make(m->peer, nid);
	if (!err)
		alias_mark(m, nid);
	return err;
}

/* The other peer entry @owner has @nid. */
static int add_known(struct merge *m, struct lnet_peer *owner, const struct lnet_nid *nid)
{
	int err = 0;

	if (!merge_may_take(m, owner, nid)) {
		m->partial = true;
		return 0;
	}
	if (!is_same_node(m, owner, nid)) {
		if (!nid_is_alias(m, nid))
			return lnet_proof_want(m->from, nid, true);
		m->partial = true;
		return 0;
	}
	if (peer_is_full(m->peer))
		return list_reject(m, LNET_FULL_NIDS);
	merge_move_nid(m, owner, nid);
	if (m->busy && lnet_nid_is_proven(m->from, nid))
		err = lnet_proof_want(m->from, nid, false);	/* for the retry */
	alias_mark(m, nid);
	return err;
}

/* -ENOMEM, else 0. */
static int merge_add_nid(struct merge *m, const struct lnet_nid *nid)
{
	struct lnet_peer *owner;
	int err = 0;

	if (!lnet_nid_is_host(nid) || lnet_nid_is_local(m->ln, nid))
		return 0;
	if (lnet_nid_is_own_host(nid) && !m->same_host)
		return 0;
	owner = lnet_peer_owner(m->ln, nid);
	if (!owner)
		err = add_unknown(m, nid);
	else if (owner != m->peer)
		err = add_known(m, owner, nid);
	lnet_peer_put(owner);
	if (err == -EEXIST) {		/* just created dynamically */
		m->busy = true;
		err = 0;
	}
	if (err == -ENOSPC) {
		m->partial = true;
		nid_ignored(m, 1);
		err = 0;
	}
	return err;
}

/* Removes aliases that can be pinged now. They are added again when they are proven. */
static void aliases_hide(struct merge *m)
{
	struct lnet_peer_ni *pni, *next = NULL;

	list_for_each_entry(pni, &m->peer->pnis, link) {
		if (pni->deleted || !pni->alias || !lnet_paths_possible(pni))
			continue;
		next = another(m->peer, &pni->nid);
		if (!next)
			continue;
		if (lnet_nid_same(&pni->nid, &m->peer->primary))
			rename_to(m, m->peer, &next->nid, false);
		pni_hide(m, pni);
	}
}

/* ---- one info -------------------------------------------------------------------------------- */

/*
 * Chooses the peer entry for the NIDs. This is the entry that has the primary NID, if it is the
 * same node and the configuration permits it.
 */
static void choose_record(struct merge *m)
{
	const struct lnet_nid *primary = &m->list->nis[0].nid;
	struct lnet_peer *owner = lnet_peer_owner(m->ln, primary);
	bool other = owner && owner != m->peer;
	bool take = other && !m->peer->configured && !lnet_nid_is_lo(&owner->primary) &&
		    is_same_node(m, owner, primary);

	lnet_enter(m->p, m->from->sh);
	m->from->disc.rail = other && !take;
	lnet_leave(m->p);
	if (take)
		swap(m->peer, owner);
	lnet_peer_put(owner);
}

/*
 * Arranges a retry for listed NIDs that the merge ignored because of a limit. The limit is that of
 * m->peer, into which the list is merged. If removed interfaces of m->peer still use up the limit,
 * the worker retries soon. Otherwise the retry waits until lnet_merge_has_room().
 */
static void note_full(struct merge *m)
{
	m->busy |= m->full && next_hidden(m->peer, NULL);
	lnet_enter(m->p, m->from->sh);
	WRITE_ONCE(m->from->disc.full, 0);
	m->from->disc.partial = m->partial;
	lnet_leave(m->p);
	lnet_enter(m->p, m->peer->sh);
	WRITE_ONCE(m->peer->disc.full, m->full);
	lnet_leave(m->p);
}

static bool still_its(const struct lnet_peer *from, void *arg)
{
	const struct merge *m = arg;

	return learns(m) && listed(m, &from->primary);
}

static int learn(struct merge *m)
{
	const struct lnet_nid *primary = &m->list->nis[0].nid;
	struct lnet_peer *owner;
	unsigned int i;
	int err = 0;

	choose_record(m);
	facts(m, true);
	if (m->peer->configured) {
		statuses(m);
		note_full(m);
		return 0;
	}
	aliases_hide(m);
	if (m->pi.nr < m->pi.nr_seen) {
		m->partial = true;
		nid_ignored(m, m->pi.nr_seen - m->pi.nr);
	}
	lnet_proofs_begin(m->from);
	for (i = 0; i < m->pi.nr && !err; i++)
		err = merge_add_nid(m, &m->list->nis[i].nid);
	lnet_proofs_end(m->from, m->info, m->len);
	if (err)
		return err;
	owner = lnet_peer_owner(m->ln, primary);
	if (!m->peer->locked && owner == m->peer)
		rename_to(m, m->peer, primary, false);
	lnet_peer_put(owner);
	lnet_peer_merges_review(m->peer, still_its, m);		/* those of absorbed peers */
	statuses(m);
	shed(m, false);
	note_full(m);
	return 0;
}

static int merge(struct merge *m)
{
	if (!m->pi.has_primary)
		return 0;
	lnet_peer_merges_review(m->peer, still_its, m);
	if (learns(m))
		return learn(m);
	/* A peer that is no longer Multi-Rail keeps only its primary NID. */
	if (READ_ONCE(m->ln->tun.discovery) && !m->peer->configured && m->peer->mr)
		shed(m, true);
	facts(m, false);
	statuses(m);
	return 0;
}

int lnet_merge_info(struct lnet_pass *p, struct lnet_peer **peer, struct lnet_sbuf *data, u32 len,
		    bool late)
{
	struct merge m = { .p = p, .ln = p->ln, .from = *peer, .peer = *peer, .info = data,
			   .len = len, .late = late,
			   .same_host = lnet_nid_is_own_host(&(*peer)->primary) };
	int err;

	m.list = kvzalloc(sizeof(*m.list), GFP_KERNEL);
	if (!m.list)
		return -ENOMEM;
	err = lnet_pinginfo_decode(&m.pi, data->data, len, m.list->nis, lnet_nids_max(p->ln));
	if (err == -ENOBUFS || err == -EMSGSIZE)	/* the rest is ignored */
		err = 0;
	if (!err) {
		lnet_listing_fill(p->ln, m.list, m.pi.nr);
		err = merge(&m);
	}
	kvfree(m.list);
	*peer = m.peer;
	return !err && m.busy ? -EBUSY : err;
}
