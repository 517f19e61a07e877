/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers and their interfaces: look-up by NID, creation, references, removal. */
#include <lnet/hash.h>
#include "base/base.h"
#include "shard/shard.h"
#include "shard/hooks.h"
#include "topology/topology.h"

/* ---- the hash of NIDs: nid_lock held --------------------------------------------------------- */

u64 lnet_nid_keyed(const struct lnet *ln, const struct lnet_nid *nid)
{
	u64 sum = ln->nid_key ^ ((u64)lnet_nid_net(nid) << 8 | nid->size);
	unsigned int i, words = nid->size ? ARRAY_SIZE(nid->addr) : 1;

	for (i = 0; i < words; i++)
		sum = lnet_hash64(sum ^ be32_to_cpu(nid->addr[i]));
	return sum;
}

static struct hlist_head *nid_bucket(struct lnet *ln, const struct lnet_nid *nid)
{
	return &ln->nids[lnet_nid_keyed(ln, nid) >> (64 - ln->nid_bits)];
}

static struct lnet_peer_ni *hash_find(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	hlist_for_each_entry(pni, nid_bucket(ln, nid), hash)
		if (lnet_nid_same(&pni->nid, nid))
			return pni;
	return NULL;
}

/* Unlists @pni: later look-ups do not find it. */
static void hash_del(struct lnet_peer_ni *pni)
{
	if (pni->deleted)
		return;
	pni->deleted = 1;
	hlist_del_init(&pni->hash);
	pni->ln->nr_nids--;
}

/*
 * Enlarges the hash table of NIDs, if necessary. No lock held. If there is no memory, only the
 * chains become longer.
 */
static void hash_grow(struct lnet *ln)
{
	unsigned int bits = READ_ONCE(ln->nid_bits), i;
	struct lnet_peer_ni *pni;
	struct hlist_head *table;
	struct hlist_node *next;

	if (READ_ONCE(ln->nr_nids) >> bits < 2 || bits >= 24)
		return;
	table = kvcalloc(4UL << bits, sizeof(*table), GFP_NOFS);
	if (!table)
		return;
	spin_lock(&ln->nid_lock);
	/* no other thread has replaced the table of NIDs meanwhile */
	if (ln->nid_bits == bits) {
		swap(ln->nids, table);
		WRITE_ONCE(ln->nid_bits, bits + 2);
		for (i = 0; i < 1U << bits; i++)
			hlist_for_each_entry_safe(pni, next, &table[i], hash) {
				hlist_del(&pni->hash);
				hlist_add_head(&pni->hash, nid_bucket(ln, &pni->nid));
			}
	}
	spin_unlock(&ln->nid_lock);
	kvfree(table);
}

/* ---- objects --------------------------------------------------------------------------------- */

void lnet_peer_get(struct lnet_peer *peer)
{
	atomic_inc(&peer->refs);
}

void lnet_peer_put(struct lnet_peer *peer)
{
	if (!peer || !atomic_dec_and_test(&peer->refs))
		return;
	WARN_ON_ONCE(!list_empty(&peer->timer.link));
	peer->ln->hooks->peer_free(peer);
	if (peer->tx.op != peer->tx.few)
		kfree(peer->tx.op);
	if (peer->claimer)
		atomic_dec(&peer->claimer->nr_claimed);
	lnet_peer_put(peer->claimer);
	atomic_dec(&peer->ln->nr_counted);
	kfree(peer);
}

void lnet_peer_ni_hold(struct lnet_peer_ni *pni)
{
	atomic_inc(&pni->refs);
}

void lnet_peer_ni_put(struct lnet_peer_ni *pni)
{
	if (!pni || !atomic_dec_and_test(&pni->refs))
		return;
	WARN_ON_ONCE(!list_empty(&pni->paths) || pni->nr_wait || atomic_read(&pni->nr_windows));
	atomic_dec(&pni->ln->nr_counted);
	lnet_peer_put(pni->peer);
	kfree(pni);
}

const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni)
{
	return &pni->nid;
}

bool lnet_peer_ni_is_configured(struct lnet_peer_ni *pni)
{
	bool is;

	spin_lock(&pni->ln->nid_lock);
	is = pni->peer->configured || pni->gw;
	spin_unlock(&pni->ln->nid_lock);
	return is;
}

/* Returns the shard of a new peer. A peer behind routers is pinned to shard 0, like the routers. */
static struct lnet_shard *home_of(struct lnet *ln, const struct lnet_nid *primary)
{
	bool is_near;

	spin_lock(&ln->nid_lock);
	is_near = lnet_net_is_local(ln, lnet_nid_net(primary));
	spin_unlock(&ln->nid_lock);
	return &ln->shard[is_near ? lnet_nid_hash(primary) % ln->nr_shards : 0];
}

struct lnet_peer *lnet_peer_new(struct lnet *ln, const struct lnet_nid *primary)
{
	struct lnet_peer *peer = kzalloc(sizeof(*peer), GFP_NOFS);

	if (!peer)
		return NULL;
	INIT_LIST_HEAD(&peer->link);
	INIT_LIST_HEAD(&peer->pnis);
	INIT_LIST_HEAD(&peer->resolve);
	INIT_LIST_HEAD(&peer->winwait);
	INIT_LIST_HEAD(&peer->expired);
	lnet_timer_init(&peer->timer, LNET_TIMER_PEER);
	peer->tx.op = peer->tx.few;
	peer->tx.cap = ARRAY_SIZE(peer->tx.few);
	peer->ln = ln;
	peer->disc.on_nr = READ_ONCE(ln->disc.on_nr);
	lnet_timer_init(&peer->disc.timer, LNET_TIMER_DISC);
	INIT_LIST_HEAD(&peer->disc.waiters);
	INIT_LIST_HEAD(&peer->disc.todo);
	peer->sh = home_of(ln, primary);
	peer->made_ns = ln->env->ops->now_ns(ln->env);
	peer->primary = *primary;
	atomic_set(&peer->refs, 1);
	atomic_inc(&ln->nr_counted);
	/* the peer is this node: no message is lost, so it needs no session */
	if (lnet_nid_is_lo(primary)) {
		peer->session_state = SESSION_PLAIN;
		peer->session_next_ns = U64_MAX;
	}
	return peer;
}

/* Allocates a peer NI with a reference to @peer, but does not add it to the peer's list. */
static struct lnet_peer_ni *pni_alloc(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = kzalloc(sizeof(*pni), GFP_NOFS);
	unsigned int cls;

	if (!pni)
		return NULL;
	INIT_HLIST_NODE(&pni->hash);
	INIT_LIST_HEAD(&pni->link);
	INIT_LIST_HEAD(&pni->paths);
	INIT_LIST_HEAD(&pni->rtr_wait[0]);
	INIT_LIST_HEAD(&pni->rtr_wait[1]);
	INIT_LIST_HEAD(&pni->rtr_held);
	for (cls = 0; cls < LNET_NR_CLASSES; cls++)
		INIT_LIST_HEAD(&pni->wait[cls]);
	pni->ln = peer->ln;
	pni->peer = peer;
	pni->sh = peer->sh;
	pni->nid = *nid;
	pni->net = lnet_nid_net(nid);
	pni->health = LNET_HEALTH_MAX;
	atomic_set(&pni->refs, 1);
	atomic_inc(&pni->ln->nr_counted);
	lnet_peer_get(peer);
	return pni;
}

/* ---- look-up and creation -------------------------------------------------------------------- */

struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	spin_lock(&ln->nid_lock);
	pni = hash_find(ln, nid);
	if (!pni && lnet_nid_is_local(ln, nid))
		/* requests to any local NID use the loopback */
		pni = hash_find(ln, &LNET_NID_LO);
	if (pni)
		lnet_peer_ni_hold(pni);
	spin_unlock(&ln->nid_lock);
	return pni;
}

struct lnet_peer_ni *lnet_peer_ni_target(struct lnet_peer_ni *pni)
{
	struct lnet *ln = pni->ln;
	struct lnet_peer_ni *target = NULL;
	const struct lnet_peer *into;

	spin_lock(&ln->nid_lock);
	/* The peer of @pni exists: a merge takes nid_lock before it drops the old peer of @pni. */
	into = READ_ONCE(pni->peer)->merged_into;
	if (into && !into->deleted)
		target = hash_find(ln, &into->primary);
	if (target)
		lnet_peer_ni_hold(target);
	spin_unlock(&ln->nid_lock);
	return target;
}

void lnet_peer_merge_into(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet *ln = from->ln;

	if (from->merged_into == to)
		return;
	if (to)
		lnet_peer_get(to);
	spin_lock(&ln->nid_lock);
	swap(from->merged_into, to);
	spin_unlock(&ln->nid_lock);
	if (from->merged_into)	/* A new cfg_gen makes requests look up their merge target again. */
		WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	lnet_peer_put(to);
}

/*
 * Any shard lock protects pni->peer, because a thread that moves @pni to another peer has all shard
 * locks.
 */
struct lnet_peer *lnet_peer_of(struct lnet_peer_ni *pni)
{
	struct lnet_shard *sh = &pni->ln->shard[0];
	struct lnet_peer *peer;

	spin_lock(&sh->lock);
	peer = pni->peer;
	lnet_peer_get(peer);
	spin_unlock(&sh->lock);
	return peer;
}

struct lnet_peer *lnet_peer_owner(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);
	struct lnet_peer *peer = pni ? lnet_peer_of(pni) : NULL;

	lnet_peer_ni_put(pni);
	return peer;
}

struct lnet_peer_ni *lnet_peer_ni_any(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && !list_empty(&pni->paths))
			return pni;
	return NULL;
}

int lnet_peer_ni_make(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = pni_alloc(peer, nid);
	struct lnet *ln = peer->ln;
	LIST_HEAD(spare);
	int err;

	if (!pni)
		return -ENOMEM;
	err = lnet_paths_lock(pni, &spare);
	spin_lock(&ln->nid_lock);
	if (!err && hash_find(ln, nid))		/* another thread has added the NID meanwhile */
		err = -EEXIST;
	if (!err) {
		lnet_peer_ni_hold(pni);		/* reference of the hash */
		pni->ix = ++ln->pni_ix;
		hlist_add_head(&pni->hash, nid_bucket(ln, nid));
		ln->nr_nids++;
		list_add_tail(&pni->link, &peer->pnis);
		peer->nr_pnis++;
		if (list_empty(&peer->link)) {
			list_add_tail(&peer->link, &ln->peers);
			peer->seq = ++ln->peer_seq;
			WRITE_ONCE(ln->nr_peers, ln->nr_peers + 1);
		}
	}
	spin_unlock(&ln->nid_lock);
	if (!err)
		lnet_paths_attach(pni, &spare);
	spin_unlock(&pni->sh->lock);
	lnet_paths_free(&spare);
	lnet_peer_ni_put(pni);
	hash_grow(ln);
	return err;
}

/*
 * The claimer of a peer is the peer whose message named it. If @claimer itself has a claimer,
 * claimer->claimer becomes the claimer of the new peer. So a claimer never has a claimer. A peer
 * that is freed drops the reference to its claimer, so lnet_peer_put() recurses at most once.
 */
struct lnet_peer_ni *lnet_peer_ni_want(struct lnet *ln, const struct lnet_nid *nid,
				       struct lnet_peer *claimer)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	int err;

	if (lnet_nid_is_any(nid) || !lnet_nid_is_sane(nid))
		return NULL;
	for (;;) {
		pni = lnet_peer_ni_lookup(ln, nid);
		if (pni || READ_ONCE(ln->stopping))
			return pni;
		peer = lnet_peer_new(ln, nid);
		if (!peer)
			return NULL;
		if (claimer) {
			peer->claimer = claimer->claimer ? claimer->claimer : claimer;
			lnet_peer_get(peer->claimer);
			atomic_inc(&peer->claimer->nr_claimed);
		}
		err = lnet_peer_ni_make(peer, nid);
		if (err)
			lnet_peer_put(peer);
		else
			ln->hooks->peer_made(ln);
		if (err == -ENOMEM)
			return NULL;
	}
}

struct lnet_peer_ni *lnet_peer_ni_claimed(struct lnet *ln, const struct lnet_nid *nid,
					  struct lnet_peer *claimer)
{
	bool is_full = READ_ONCE(ln->nr_peers) >= READ_ONCE(ln->tun.peers_max);
	struct lnet_peer_ni *pni;

	if (likely(!is_full) && (!claimer || atomic_read(&claimer->nr_claimed) <
						     READ_ONCE(ln->tun.claims_max)))
		return lnet_peer_ni_want(ln, nid, claimer);
	pni = lnet_peer_ni_lookup(ln, nid);
	if (pni)
		return pni;
	lnet_stat_count(ln, is_full ? LNET_C_peers_rejected : LNET_C_claims_denied);
	ln->hooks->peer_made(ln);
	return NULL;
}

struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid)
{
	return lnet_peer_ni_claimed(ln, nid, NULL);
}

/* ---- removal --------------------------------------------------------------------------------- */

bool lnet_peer_ni_is_idle(const struct lnet_peer_ni *pni)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (!lnet_path_is_idle(path))
			return false;
	return !pni->nr_wait && list_empty(&pni->rtr_wait[0]) && list_empty(&pni->rtr_wait[1]) &&
	       list_empty(&pni->rtr_held);
}

bool lnet_peer_is_idle(const struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!lnet_peer_ni_is_idle(pni))
			return false;
	return !peer->nr_ops && !peer->session_busy && list_empty(&peer->resolve) &&
	       list_empty(&peer->winwait);
}

void lnet_peer_ni_unlist(struct lnet_peer_ni *pni)
{
	spin_lock(&pni->ln->nid_lock);
	hash_del(pni);
	spin_unlock(&pni->ln->nid_lock);
}

void lnet_peer_ni_drop(struct lnet_peer_ni *pni)
{
	struct lnet_path *path, *next;
	struct lnet_peer *peer = pni->peer;
	struct lnet_ni *ni;
	LIST_HEAD(gone);

	list_for_each_entry(ni, &pni->ln->nis, link)
		if (ni->net == pni->net && ni->ops->peer_gone)
			ni->ops->peer_gone(ni, pni);
	spin_lock(&pni->sh->lock);
	list_for_each_entry_safe(path, next, &pni->paths, link)
		lnet_path_detach(path, &gone);
	if (!list_empty(&pni->link)) {
		list_del_init(&pni->link);
		peer->nr_pnis--;
	}
	lnet_path_ix_recount(peer);
	spin_unlock(&pni->sh->lock);
	lnet_paths_free(&gone);
	lnet_peer_ni_put(pni);
}

/* [sh, nid_lock] */
static void hide(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	peer->deleted = 1;
	list_for_each_entry(pni, &peer->pnis, link)
		hash_del(pni);
	list_del_init(&peer->link);
	WRITE_ONCE(peer->ln->nr_peers, peer->ln->nr_peers - 1);
}

void lnet_peer_unlist(struct lnet_peer *peer)
{
	spin_lock(&peer->sh->lock);
	spin_lock(&peer->ln->nid_lock);
	hide(peer);
	spin_unlock(&peer->ln->nid_lock);
	spin_unlock(&peer->sh->lock);
}

/*
 * Operations, messages, windows, connections and calls have references to peers and peer NIs. The
 * list of peers and each peer NI have one reference to @peer; the hash table has one to each peer
 * NI. A thread can take a reference only through the hash table, the list or another reference. So
 * nobody takes one while nid_lock is held.
 */
bool lnet_peer_unlist_unused(struct lnet_peer *peer, unsigned int mine)
{
	struct lnet_peer_ni *pni;
	bool unused;

	if (peer->deleted || !list_empty(&peer->timer.link))
		return false;
	spin_lock(&peer->ln->nid_lock);
	unused = atomic_read(&peer->refs) == 1 + peer->nr_pnis + mine;
	list_for_each_entry(pni, &peer->pnis, link)
		unused &= atomic_read(&pni->refs) == 1 && lnet_peer_ni_is_idle(pni);
	if (unused)
		hide(peer);
	spin_unlock(&peer->ln->nid_lock);
	return unused;
}

void lnet_peer_drop(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni, *next;

	spin_lock(&peer->sh->lock);
	lnet_timer_cancel(&peer->sh->wheel, &peer->timer);
	peer->ln->hooks->peer_end(peer);
	spin_unlock(&peer->sh->lock);
	lnet_peer_merge_into(peer, NULL);
	list_for_each_entry_safe(pni, next, &peer->pnis, link)
		lnet_peer_ni_drop(pni);
	lnet_peer_put(peer);
}

/* ---- init and fini of an instance ------------------------------------------------------------ */

int lnet_peers_init(struct lnet *ln)
{
	ln->expiry_ns = ln->weigh_ns = ln->flap_ns = ln->rules_ns = U64_MAX;
	ln->nid_key = ln->env->ops->secret(ln->env);
	ln->nid_bits = LNET_NID_HASH_BITS;
	ln->nids = kvcalloc(1UL << ln->nid_bits, sizeof(*ln->nids), GFP_KERNEL);
	return ln->nids ? 0 : -ENOMEM;
}

void lnet_peers_fini(struct lnet *ln)
{
	struct lnet_peer *peer;

	if (!ln->nids)
		return;
	lnet_peer_put(ln->expiry_at);
	ln->expiry_at = NULL;
	while (!list_empty(&ln->peers)) {
		peer = list_first_entry(&ln->peers, struct lnet_peer, link);
		WARN_ON_ONCE(!lnet_peer_is_idle(peer));
		lnet_peer_unlist(peer);
		lnet_peer_drop(peer);
	}
	kvfree(ln->nids);
	ln->nids = NULL;
}
