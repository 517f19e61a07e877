/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The records of peers follow what their ping infos say: interfaces come and go, two records turn
 * out to be one node. What is configured wins. What is busy is not waited for: the worker comes
 * again.
 */
#include <lnet/hash.h>
#include "core.h"
#include "record_hook.h"
#include "peer.h"
#include "route.h"

#define VISITS		32U	/* peers in one visit of the worker */
#define AGAIN_NS	((u64)NSEC_PER_MSEC)

/* One info and the record that it is for. cfg_mutex held. */
struct merge {
	struct lnet_pass *p;
	struct lnet *ln;
	struct lnet_peer *peer;		/* counted */
	struct lnet_pinginfo pi;
	struct lnet_pinginfo_ni *nis;
	bool same_host;			/* the peer is on this host, so it may list 127.x.y.z */
	bool late;			/* it is for the last time that what is busy is tried */
	bool busy;			/* something could not be done now */
};

/* ---- facts about the peer -------------------------------------------------------------------- */

static bool learns(const struct merge *m)
{
	return lnet_disc_learns(m->ln, m->pi.features);
}

static const struct lnet_pinginfo_ni *listed(const struct merge *m, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < m->pi.nr; i++)
		if (lnet_nid_same(&m->nis[i].nid, nid))
			return &m->nis[i];
	return NULL;
}

/* Of an interface that it names, and of one that it does not name any more. */
static enum lnet_said says(const struct merge *m, const struct lnet_nid *nid)
{
	const struct lnet_pinginfo_ni *ni = listed(m, nid);

	if (!ni)
		return LNET_SAID_DOWN;
	return ni->status == LNET_NI_DOWN ? LNET_SAID_DOWN :
	       ni->status == LNET_NI_UP ? LNET_SAID_UP : LNET_SAID_NOTHING;
}

/*
 * [sh] behaviour.md 5.6: DOWN costs health, UP at first sight restores it; UP after DOWN gives back
 * what that has cost, as nobody need find out by pings what the peer says.
 */
static void pni_said(struct merge *m, struct lnet_peer_ni *pni, enum lnet_said said)
{
	u16 cost = (u16)READ_ONCE(m->ln->tun.health_sensitivity);
	struct lnet_path *path;

	if (said == pni->said || said == LNET_SAID_NOTHING)
		return;
	if (said == LNET_SAID_DOWN)
		pni->health -= min(pni->health, cost);
	else if (pni->said == LNET_SAID_NOTHING)
		pni->health = LNET_HEALTH_MAX;
	else
		pni->health = min(pni->health + cost, LNET_HEALTH_MAX);
	pni->said = said;
	if (lnet_recs(m->p->sh))
		lnet_rec_note_pni(m->p->sh, LNET_RK_HEALTH_SET, pni, pni->health);
	if (said == LNET_SAID_UP)
		list_for_each_entry(path, &pni->paths, link)
			lnet_path_recover(m->p->sh, path);
}

static void statuses(struct merge *m)
{
	struct lnet_peer_ni *pni;

	lnet_enter(m->p, m->peer->sh);
	list_for_each_entry(pni, &m->peer->pnis, link)
		if (listed(m, &pni->nid) || m->peer->configured)
			pni_said(m, pni, says(m, &pni->nid));
	lnet_leave(m->p);
}

/* What the record says of the peer as a whole. */
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

/* ---- interfaces that went -------------------------------------------------------------------- */

static void pni_hide(struct merge *m, struct lnet_peer_ni *pni)
{
	lnet_enter(m->p, m->peer->sh);
	lnet_peer_ni_hide(pni);
	lnet_leave(m->p);
}

/* All but the primary one, or those that are not listed. */
static void shed(struct merge *m, bool all)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &m->peer->pnis, link)
		if (!pni->deleted && !pni->gw && !lnet_nid_same(&pni->nid, &m->peer->primary) &&
		    (all || !listed(m, &pni->nid)))
			pni_hide(m, pni);
}

/* What is asked over it and unanswered is told to be lost. */
static void pni_lost(struct lnet_pass *p, struct lnet_peer_ni *pni)
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

/* Hidden ones go when nothing is under way there. True: some are left. */
static bool reap(struct lnet_pass *p, struct lnet_peer *peer, bool late)
{
	struct lnet_peer_ni *pni = next_hidden(peer, NULL), *next;
	bool left = false, idle;

	for (; pni; pni = next) {
		next = next_hidden(peer, pni);
		if (late)
			pni_lost(p, pni);
		lnet_enter(p, peer->sh);
		idle = lnet_peer_ni_is_idle(pni);
		lnet_leave(p);
		left |= !idle;
		if (!idle)
			continue;
		lnet_peer_ni_tell(pni);
		lnet_peer_ni_drop(pni);
	}
	return left;
}

/* ---- interfaces that came -------------------------------------------------------------------- */

static void rename_to(struct merge *m, const struct lnet_nid *primary, bool lock)
{
	lnet_enter(m->p, m->peer->sh);
	spin_lock(&m->ln->nid_lock);
	m->peer->primary = *primary;
	m->peer->locked |= lock;
	spin_unlock(&m->ln->nid_lock);
	lnet_leave(m->p);
}

/* The conflict table of behaviour.md 5.8: who loses @nid to whom. */
static bool may_take(const struct merge *m, const struct lnet_peer *from,
		     const struct lnet_nid *nid)
{
	char mine[LNET_NIDSTR_SIZE], text[LNET_NIDSTR_SIZE];

	if (from->configured || lnet_nid_is_lo(&from->primary))
		return false;
	if (!from->locked || !lnet_nid_same(&from->primary, nid) || from->nr_pnis == 1)
		return true;
	pr_warn("%s says that it has %s, which is the locked primary NID of another peer\n",
		lnet_nid_str(&m->peer->primary, mine), lnet_nid_str(nid, text));
	return false;
}

static void take_over(struct merge *m, struct lnet_peer *from, const struct lnet_nid *nid)
{
	bool whole = lnet_nid_same(&from->primary, nid);
	bool lock = whole && from->locked && !m->peer->locked;

	if (!may_take(m, from, nid))
		return;
	lnet_leave(m->p);
	if (lnet_peer_take_over(from, m->peer, whole ? NULL : nid, !m->late))
		m->busy = true;
	else if (lock)
		rename_to(m, nid, true);
}

/* -ENOMEM, else 0. */
static int add_nid(struct merge *m, const struct lnet_nid *nid)
{
	struct lnet_peer *owner;
	int err = 0;

	if (!lnet_nid_is_host(nid) || lnet_nid_is_local(m->ln, nid))
		return 0;
	if (lnet_nid_is_own_host(nid) && !m->same_host)
		return 0;
	owner = lnet_peer_owner(m->ln, nid);
	if (!owner)
		err = lnet_peer_ni_make(m->peer, nid);
	else if (owner != m->peer)
		take_over(m, owner, nid);
	lnet_peer_put(owner);
	if (err == -EEXIST) {		/* traffic made it just now */
		m->busy = true;
		err = 0;
	}
	return err;
}

static int add_all(struct merge *m)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < m->pi.nr && !err; i++)
		err = add_nid(m, &m->nis[i].nid);
	return err;
}

/* ---- one info -------------------------------------------------------------------------------- */

/*
 * Whose record it is: that of whoever has the primary NID, as far as configuration allows it to
 * get the others.
 */
static void choose_record(struct merge *m)
{
	struct lnet_peer *owner = lnet_peer_owner(m->ln, &m->nis[0].nid);

	if (!owner || owner == m->peer || m->peer->configured || lnet_nid_is_lo(&owner->primary)) {
		lnet_peer_put(owner);
		return;
	}
	lnet_peer_put(m->peer);
	m->peer = owner;
}

/* It was multi-rail and is no more: its interfaces are, from now on, strangers to each other. */
static bool turned_off(const struct merge *m)
{
	return READ_ONCE(m->ln->tun.discovery) && !m->peer->configured && m->peer->mr;
}

static int learn(struct merge *m)
{
	const struct lnet_nid *primary = &m->nis[0].nid;
	int err;

	choose_record(m);
	facts(m, true);
	if (m->peer->configured) {
		statuses(m);
		return 0;
	}
	err = add_all(m);
	if (err)
		return err;
	if (!m->peer->locked && !lnet_nid_is_local(m->ln, primary))
		rename_to(m, primary, false);
	statuses(m);
	shed(m, false);
	return 0;
}

static bool still_its(const struct lnet_peer *from, void *arg)
{
	const struct merge *m = arg;

	return learns(m) && listed(m, &from->primary);
}

static int merge(struct merge *m)
{
	if (!m->pi.has_primary)
		return 0;
	lnet_peer_heirs_review(m->peer, still_its, m);
	if (learns(m))
		return learn(m);
	if (turned_off(m))
		shed(m, true);
	facts(m, false);
	statuses(m);
	return 0;
}

/* 0: done; -EBUSY: not all of it; -ENOMEM */
static int merge_data(struct lnet_pass *p, struct lnet_peer **peer, struct lnet_copy *data, u32 len,
		      bool late)
{
	struct merge m = { .p = p, .ln = p->ln, .peer = *peer, .late = late,
			   .same_host = lnet_nid_is_own_host(&(*peer)->primary) };
	int err;

	lnet_pinginfo_decode(&m.pi, data->data, len, NULL, 0);
	m.nis = kvcalloc(m.pi.nr_seen + 1, sizeof(*m.nis), GFP_KERNEL);
	if (!m.nis)
		return -ENOMEM;
	err = lnet_pinginfo_decode(&m.pi, data->data, len, m.nis, m.pi.nr_seen + 1);
	if (!err)
		err = merge(&m);
	kvfree(m.nis);
	*peer = m.peer;
	return !err && m.busy ? -EBUSY : err;
}

/* ---- the worker ------------------------------------------------------------------------------ */

static u64 limit_ns(const struct lnet *ln)
{
	return READ_ONCE(ln->tun.transaction_timeout);
}

/* [sh] What is left to do is tried again, for a while. */
static bool try_again(struct lnet_pass *p, struct lnet_disc *d, struct lnet_copy *data, u32 len)
{
	if (!d->merge_by_ns)
		d->merge_by_ns = p->now_ns + limit_ns(p->ln);
	if (p->now_ns >= d->merge_by_ns)
		return false;
	if (!d->data && data) {
		d->data = data;
		d->data_len = len;
		lnet_copy_get(data);
	}
	return true;
}

/*
 * [sh] @err: result of the merge; @left: some interfaces still have to be removed; @own: the info
 * was that of this entry. True: run the merge again later.
 */
static bool merged(struct lnet_pass *p, struct lnet_peer *peer, struct lnet_copy *data, u32 len,
		   int err, bool left, bool own)
{
	struct lnet_disc *d = &peer->disc;

	if (peer->deleted)
		return false;
	if (data)
		WRITE_ONCE(d->whole, own && !err && !d->data && !d->off && !peer->configured);
	if (err == -EBUSY && try_again(p, d, data, len))
		return true;
	if (!left)
		d->merge_by_ns = 0;
	else if (!d->merge_by_ns)
		d->merge_by_ns = p->now_ns + limit_ns(p->ln);
	if (data)
		d->hash = err ? 0 : lnet_hash_bytes(data->data, len, 1);
	d->force_merge = 0;
	if (err == -ENOMEM) {
		d->want_ping = 1;
		lnet_disc_failed(p, peer, err);
	}
	lnet_disc_step(p, peer);
	return left || d->data;
}

/*
 * @to took the info of another record, and with that its facts. If it took the record as well, what
 * could not be done yet is left to it. [sh of none]
 */
static void handed_over(struct lnet_pass *p, struct lnet_peer *from, struct lnet_peer *to,
			struct lnet_copy *data, u32 len, int err)
{
	struct lnet_disc *d = &to->disc;

	lnet_enter(p, to->sh);
	if (from->deleted && !to->deleted) {
		d->seq = from->disc.seq;
		d->size = from->disc.size;
		d->hash = err ? 0 : lnet_hash_bytes(data->data, len, 1);
		if (err == -EBUSY)
			try_again(p, d, data, len);
	}
	lnet_disc_step(p, to);
	lnet_leave(p);
}

/* Of a peer that is counted. True: come again. */
static bool visit(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_disc *d = &peer->disc;
	struct lnet_peer *to = peer;
	struct lnet_copy *data;
	bool again, late, left;
	int err = 0;
	u32 len;

	lnet_enter(p, peer->sh);
	data = d->data;
	len = d->data_len;
	d->data = NULL;
	late = d->merge_by_ns && p->now_ns >= d->merge_by_ns;
	again = peer->deleted;
	lnet_leave(p);
	if (again) {
		lnet_copy_put(data);
		return false;
	}
	lnet_peer_get(peer);
	if (data) {
		err = merge_data(p, &to, data, len, late);
		lnet_routes_learned(p, to, data->data, len);
	}
	left = reap(p, peer, late);
	lnet_enter(p, peer->sh);
	again = merged(p, peer, data, len, err, left, to == peer);
	lnet_leave(p);
	if (to != peer)
		handed_over(p, peer, to, data, len, err);
	lnet_peer_put(to);
	lnet_copy_put(data);
	return again;
}

/* The first whose time has come; its count is the caller's. */
static struct lnet_peer *next_due(struct lnet_discovery *d, u64 now_ns)
{
	struct lnet_peer *peer = NULL, *at;

	spin_lock(&d->lock);
	list_for_each_entry(at, &d->todo, disc.todo)
		if (at->disc.todo_ns <= now_ns) {
			list_del_init(&at->disc.todo);
			peer = at;
			break;
		}
	spin_unlock(&d->lock);
	return peer;
}

/* Takes a count of @peer, or gives back the caller's if it is there already. */
static void todo_add(struct lnet *ln, struct lnet_peer *peer, u64 when_ns)
{
	struct lnet_discovery *d = &ln->disc;
	bool there;

	spin_lock(&d->lock);
	there = !list_empty(&peer->disc.todo);
	if (!there || when_ns < peer->disc.todo_ns)
		peer->disc.todo_ns = when_ns;
	if (!there)
		list_add_tail(&peer->disc.todo, &d->todo);
	spin_unlock(&d->lock);
	if (there)
		lnet_peer_put(peer);
	lnet_look_by(ln, &d->todo_ns, when_ns);
}

void lnet_merge_due(struct lnet_pass *p, struct lnet_peer *peer)
{
	bool again = peer->disc.merge_by_ns;	/* something was busy just now */

	lnet_peer_get(peer);
	todo_add(p->ln, peer, p->now_ns + (again ? AGAIN_NS : 0));
}

static bool any_todo(struct lnet_discovery *d)
{
	bool any;

	spin_lock(&d->lock);
	any = !list_empty(&d->todo);
	spin_unlock(&d->lock);
	return any;
}

static void visit_all(struct lnet_pass *p)
{
	struct lnet_peer *peer;
	unsigned int nr;

	for (nr = 0; nr < VISITS; nr++) {
		peer = next_due(&p->ln->disc, p->now_ns);
		if (!peer)
			return;
		if (visit(p, peer))
			todo_add(p->ln, peer, p->now_ns + AGAIN_NS);
		else
			lnet_peer_put(peer);
	}
}

/* By trying only: who owns the mutex may wait in this very thread for what the worker does. */
void lnet_merge_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;

	if (p->now_ns < READ_ONCE(ln->disc.todo_ns))
		return;
	WRITE_ONCE(ln->disc.todo_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (mutex_trylock(&ln->cfg_mutex)) {
		visit_all(p);
		mutex_unlock(&ln->cfg_mutex);
	}
	if (any_todo(&ln->disc))
		lnet_look_by(ln, &ln->disc.todo_ns, p->now_ns + AGAIN_NS);
}
