/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers and their interfaces: found by NID, made by traffic or by configuration, with one path for each local NI of the net. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "core.h"

/* ---- the hash of NIDs: nid_lock held ------------------------------------------------------------------------------ */

static struct hlist_head *bucket(struct lnet *ln, const struct lnet_nid *nid)
{
	return &ln->nids[lnet_nid_hash(nid) >> (32 - ln->nid_bits)];
}

static struct lnet_peer_ni *hash_find(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	hlist_for_each_entry(pni, bucket(ln, nid), hash)
		if (lnet_nid_same(&pni->nid, nid))
			return pni;
	return NULL;
}

static void hash_add(struct lnet *ln, struct lnet_peer_ni *pni)
{
	hlist_add_head(&pni->hash, bucket(ln, &pni->nid));
	ln->nr_nids++;
}

static void hash_del(struct lnet *ln, struct lnet_peer_ni *pni)
{
	hlist_del_init(&pni->hash);
	ln->nr_nids--;
}

static void hash_move(struct lnet *ln, struct hlist_head *from, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	struct hlist_node *next;
	unsigned int i;

	for (i = 0; i < nr; i++)
		hlist_for_each_entry_safe(pni, next, &from[i], hash) {
			hlist_del(&pni->hash);
			hlist_add_head(&pni->hash, bucket(ln, &pni->nid));
		}
}

/* No lock held. Without memory for a larger table the chains just grow. */
static void hash_grow(struct lnet *ln)
{
	unsigned int bits = READ_ONCE(ln->nid_bits);
	struct hlist_head *table, *old;

	if (READ_ONCE(ln->nr_nids) >> bits < 2 || bits >= 24)
		return;
	table = kvcalloc(4UL << bits, sizeof(*table), GFP_NOFS);
	if (!table)
		return;
	spin_lock(&ln->nid_lock);
	old = table;
	if (ln->nid_bits == bits) {
		old = ln->nids;
		ln->nids = table;
		WRITE_ONCE(ln->nid_bits, bits + 2);
		hash_move(ln, old, 1U << bits);
	}
	spin_unlock(&ln->nid_lock);
	kvfree(old);
}

/* ---- objects ------------------------------------------------------------------------------------------------------ */

void lnet_peer_get(struct lnet_peer *peer)
{
	atomic_inc(&peer->refs);
}

void lnet_peer_put(struct lnet_peer *peer)
{
	if (!peer || !atomic_dec_and_test(&peer->refs))
		return;
	WARN_ON_ONCE(!list_empty(&peer->timer.link));
	kfree(peer->tx.op);
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
	WARN_ON_ONCE(!list_empty(&pni->paths) || pni->nr_wait);
	lnet_peer_put(pni->peer);
	kfree(pni->c);
	kfree(pni);
}

const struct lnet_nid *lnet_peer_ni_nid(const struct lnet_peer_ni *pni)
{
	return &pni->nid;
}

static struct lnet_shard *shard_of(struct lnet *ln, const struct lnet_nid *primary)
{
	return &ln->shard[lnet_nid_hash(primary) % ln->nr_shards];
}

static struct lnet_peer *peer_alloc(struct lnet *ln, const struct lnet_nid *primary)
{
	struct lnet_peer *peer = kzalloc(sizeof(*peer), GFP_NOFS);

	if (!peer)
		return NULL;
	INIT_LIST_HEAD(&peer->link);
	INIT_LIST_HEAD(&peer->pnis);
	INIT_LIST_HEAD(&peer->resolve);
	INIT_LIST_HEAD(&peer->winwait);
	lnet_timer_init(&peer->timer, LNET_TIMER_PEER);
	peer->ln = ln;
	peer->sh = shard_of(ln, primary);
	peer->primary = *primary;
	atomic_set(&peer->refs, 1);
	if (lnet_nid_is_lo(primary)) {	/* ourselves: nothing to ask, nothing gets lost */
		peer->contact = CONTACT_PLAIN;
		peer->contact_next_ns = U64_MAX;
	}
	return peer;
}

/* Takes a count of @peer, which it does not enter yet. */
static struct lnet_peer_ni *pni_alloc(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = kzalloc(sizeof(*pni), GFP_NOFS);
	unsigned int cls;

	if (!pni)
		return NULL;
	pni->c = kcalloc(LNET_NR_PNI_COUNTERS, sizeof(*pni->c), GFP_NOFS);
	if (!pni->c) {
		kfree(pni);
		return NULL;
	}
	INIT_HLIST_NODE(&pni->hash);
	INIT_LIST_HEAD(&pni->link);
	INIT_LIST_HEAD(&pni->paths);
	for (cls = 0; cls < LNET_NR_CLASSES; cls++)
		INIT_LIST_HEAD(&pni->wait[cls]);
	pni->ln = peer->ln;
	pni->peer = peer;
	pni->sh = peer->sh;
	pni->nid = *nid;
	pni->net = lnet_nid_net(nid);
	pni->health = LNET_HEALTH_MAX;
	atomic_set(&pni->refs, 1);
	lnet_peer_get(peer);
	return pni;
}

/* ---- paths -------------------------------------------------------------------------------------------------------- */

static struct lnet_path *path_alloc(void)
{
	struct lnet_path *path = kzalloc(sizeof(*path), GFP_NOFS);

	if (!path)
		return NULL;
	INIT_LIST_HEAD(&path->link);
	INIT_LIST_HEAD(&path->asked);
	INIT_LIST_HEAD(&path->reset);
	lnet_timer_init(&path->timer, LNET_TIMER_PATH);
	return path;
}

/* Not yet in use, or not any more; cancelled before. */
static void path_free(struct lnet_path *path)
{
	WARN_ON_ONCE(!list_empty(&path->asked) || !list_empty(&path->reset) || path->nr_wire);
	lnet_ni_put(path->ni);
	kfree(path->stats);
	kfree(path);
}

static void paths_free(struct list_head *paths)
{
	struct lnet_path *path, *next;

	list_for_each_entry_safe(path, next, paths, link)
		path_free(path);
	INIT_LIST_HEAD(paths);
}

static int paths_reserve(struct list_head *paths, unsigned int *have, unsigned int want)
{
	while (*have < want) {
		struct lnet_path *path = path_alloc();

		if (!path)
			return -ENOMEM;
		list_add_tail(&path->link, paths);
		(*have)++;
	}
	return 0;
}

struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (path->ni == ni)
			return path;
	return NULL;
}

/* [sh] A bit nobody uses; beyond the last one they are shared in turn. */
static u32 ix_take(struct lnet_peer *peer)
{
	u32 ix = peer->nr_paths % LNET_MAX_PATHS;

	if (~peer->paths_used)
		ix = __ffs64(~peer->paths_used);
	peer->paths_used |= BIT_ULL(ix);
	peer->nr_paths++;
	return ix;
}

/* [sh] Anew from the paths left, as bits may be shared. */
static void ix_recount(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	peer->paths_used = 0;
	peer->nr_paths = 0;
	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link) {
			peer->paths_used |= BIT_ULL(path->ix);
			peer->nr_paths++;
		}
}

static bool lacks_path(const struct lnet_peer_ni *pni, const struct lnet_ni *ni)
{
	return ni->net == pni->net && !lnet_path_find(pni, ni);
}

/* [sh] NIs that @pni, which may be new, has no path to. */
static unsigned int paths_missing(const struct lnet_peer_ni *pni)
{
	struct lnet_ni *ni;
	unsigned int nr = 0;

	list_for_each_entry(ni, &pni->ln->nis, link)
		nr += lacks_path(pni, ni);
	return nr;
}

/* [sh] Takes what it needs from @spare, which has enough. */
static void paths_attach(struct lnet_peer_ni *pni, struct list_head *spare)
{
	bool first = list_empty(&pni->paths);
	struct lnet_path *path;
	struct lnet_ni *ni;

	list_for_each_entry(ni, &pni->ln->nis, link) {
		if (!lacks_path(pni, ni))
			continue;
		path = list_first_entry(spare, struct lnet_path, link);
		lnet_ni_get(ni);
		path->ni = ni;
		path->pni = pni;
		path->ix = ix_take(pni->peer);
		list_move_tail(&path->link, &pni->paths);
	}
	/* What a net allows is known from its first NI on. */
	if (first && !pni->nr_wait)
		lnet_credits_pni_init(pni);
}

/* Locks @pni's shard, with enough of @spare for all the paths it lacks. -ENOMEM: not locked. */
static int lock_with_paths(struct lnet_peer_ni *pni, struct list_head *spare)
{
	unsigned int have = 0, need;

	for (;;) {
		spin_lock(&pni->sh->lock);
		need = paths_missing(pni);
		if (have >= need)
			return 0;
		spin_unlock(&pni->sh->lock);
		if (paths_reserve(spare, &have, need))
			return -ENOMEM;
	}
}

static bool path_is_idle(const struct lnet_path *path)
{
	return !path->nr_wire && list_empty(&path->asked) && !path->pinging && list_empty(&path->reset);
}

/* [sh] Into @gone, to be freed without lock. */
static void path_detach(struct lnet_path *path, struct list_head *gone)
{
	struct lnet_peer_ni *pni = path->pni;

	lnet_timer_cancel(&pni->sh->wheel, &path->timer);
	if (pni->sticky == path->ni)
		pni->sticky = NULL;
	list_move_tail(&path->link, gone);
}

/* ---- walking ------------------------------------------------------------------------------------------------------ */

struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev)
{
	struct lnet_peer *next = NULL;

	spin_lock(&ln->nid_lock);
	if (!prev)
		next = list_first_entry_or_null(&ln->peers, struct lnet_peer, link);
	else if (!list_is_last(&prev->link, &ln->peers) && !list_empty(&prev->link))
		next = list_next_entry(prev, link);
	if (next)
		lnet_peer_get(next);
	spin_unlock(&ln->nid_lock);
	lnet_peer_put(prev);
	return next;
}

int lnet_paths_for_ni(struct lnet *ln, struct lnet_ni *ni)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	LIST_HEAD(spare);
	int err = 0;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		list_for_each_entry(pni, &peer->pnis, link) {
			if (err || pni->net != ni->net)
				continue;
			err = lock_with_paths(pni, &spare);
			if (err)
				continue;
			paths_attach(pni, &spare);
			spin_unlock(&pni->sh->lock);
			paths_free(&spare);
		}
	paths_free(&spare);
	return err;
}

/* Calls @fn for each path of @ni under its shard's lock; true if it said so for one. cfg_mutex held. */
static bool for_paths_of(struct lnet *ln, struct lnet_ni *ni, bool (*fn)(struct lnet_path *path, struct list_head *gone))
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_path *path;
	bool any = false;
	LIST_HEAD(gone);

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link) {
			path = pni->net == ni->net ? lnet_path_find(pni, ni) : NULL;
			if (path)
				any |= fn(path, &gone);
		}
		if (!list_empty(&gone))
			ix_recount(peer);
		spin_unlock(&peer->sh->lock);
		paths_free(&gone);
	}
	return any;
}

static bool is_busy(struct lnet_path *path, struct list_head *gone)
{
	(void)gone;
	return !path_is_idle(path);
}

bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni)
{
	return !for_paths_of(ln, ni, is_busy);
}

static bool drop_if_idle(struct lnet_path *path, struct list_head *gone)
{
	if (!path_is_idle(path))
		return true;
	path_detach(path, gone);
	return false;
}

bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni)
{
	return !for_paths_of(ln, ni, drop_if_idle);
}

void lnet_paths_ni_up(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct lnet *ln = p->ln;
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_path *path;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		lnet_enter(p, peer->sh);
		list_for_each_entry(pni, &peer->pnis, link) {
			path = lnet_path_find(pni, ni);
			if (path)
				lnet_path_recover(p->sh, path);
		}
		lnet_leave(p);
	}
}

/* ---- finding and making ------------------------------------------------------------------------------------------- */

/* nid_lock held. Our own NIDs all mean the loopback. */
static struct lnet_peer_ni *find_counted(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = hash_find(ln, nid);

	if (!pni && lnet_nid_is_local(ln, nid))
		pni = hash_find(ln, &LNET_NID_LO);
	if (pni)
		lnet_peer_ni_hold(pni);
	return pni;
}

struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	spin_lock(&ln->nid_lock);
	pni = find_counted(ln, nid);
	spin_unlock(&ln->nid_lock);
	return pni;
}

/* Into the hash, if no other thread was first: then false. Shard of @pni locked, nid_lock not. */
static bool publish(struct lnet *ln, struct lnet_peer_ni *pni)
{
	struct lnet_peer *peer = pni->peer;
	bool first;

	spin_lock(&ln->nid_lock);
	first = !hash_find(ln, &pni->nid);
	if (first) {
		hash_add(ln, pni);
		list_add_tail(&pni->link, &peer->pnis);
		peer->nr_pnis++;
		if (list_empty(&peer->link)) {
			list_add_tail(&peer->link, &ln->peers);
			ln->nr_peers++;
		}
	}
	spin_unlock(&ln->nid_lock);
	return first;
}

/* A new interface of @peer, which may be new itself. 0, -EEXIST (known meanwhile), -ENOMEM. */
static int pni_make(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = pni_alloc(peer, nid);
	struct lnet *ln = peer->ln;
	LIST_HEAD(spare);
	int err;

	if (!pni)
		return -ENOMEM;
	err = lock_with_paths(pni, &spare);
	if (!err) {
		err = -EEXIST;
		if (publish(ln, pni)) {
			lnet_peer_ni_hold(pni);		/* of the hash */
			paths_attach(pni, &spare);
			err = 0;
		}
		spin_unlock(&pni->sh->lock);
	}
	paths_free(&spare);
	lnet_peer_ni_put(pni);
	hash_grow(ln);
	return err;
}

struct lnet_peer_ni *lnet_peer_ni_get(struct lnet *ln, const struct lnet_nid *nid)
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
		peer = peer_alloc(ln, nid);
		if (!peer)
			return NULL;
		err = pni_make(peer, nid);
		if (err)
			lnet_peer_put(peer);
		if (err == -ENOMEM)
			return NULL;
	}
}

/* ---- configuration: taking away ----------------------------------------------------------------------------------- */

/* [sh] */
static bool pni_is_idle(const struct lnet_peer_ni *pni)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (!path_is_idle(path))
			return false;
	return !pni->nr_wait;
}

/* [sh] No operation is unfinished, nothing is under way. */
static bool peer_is_idle(const struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_op *op;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni_is_idle(pni))
			return false;
	list_for_each_entry(op, &peer->sh->live, all)
		if (op->peer == peer)
			return false;
	return !peer->contact_busy && list_empty(&peer->resolve) && list_empty(&peer->winwait);
}

static bool peer_idle(struct lnet *ln, void *arg)
{
	struct lnet_peer *peer = arg;
	bool idle;

	(void)ln;
	spin_lock(&peer->sh->lock);
	idle = peer_is_idle(peer);
	spin_unlock(&peer->sh->lock);
	return idle;
}

static bool pni_idle(struct lnet *ln, void *arg)
{
	struct lnet_peer_ni *pni = arg;
	bool idle;

	(void)ln;
	spin_lock(&pni->sh->lock);
	idle = pni_is_idle(pni);
	spin_unlock(&pni->sh->lock);
	return idle;
}

/* [sh] Not to be found any more. */
static void pni_hide(struct lnet_peer_ni *pni)
{
	spin_lock(&pni->ln->nid_lock);
	pni->deleted = 1;
	hash_del(pni->ln, pni);
	spin_unlock(&pni->ln->nid_lock);
}

/* Drivers close what they have to it; no lock but cfg_mutex held, which keeps the NIs. */
static void tell_drivers(struct lnet_peer_ni *pni)
{
	struct lnet_ni *ni;

	list_for_each_entry(ni, &pni->ln->nis, link)
		if (ni->net == pni->net && ni->ops->peer_gone)
			ni->ops->peer_gone(ni, pni);
}

/* Idle and hidden: its paths go, and with them the count that the hash had. */
static void pni_free(struct lnet_peer_ni *pni)
{
	struct lnet_path *path, *next;
	struct lnet_peer *peer = pni->peer;
	LIST_HEAD(gone);

	spin_lock(&pni->sh->lock);
	list_for_each_entry_safe(path, next, &pni->paths, link)
		path_detach(path, &gone);
	if (!list_empty(&pni->link)) {
		list_del_init(&pni->link);
		peer->nr_pnis--;
	}
	ix_recount(peer);
	spin_unlock(&pni->sh->lock);
	paths_free(&gone);
	lnet_peer_ni_put(pni);
}

/* Not found from now on, not in the list; the list's count becomes the caller's. */
static void peer_hide(struct lnet_peer *peer)
{
	struct lnet *ln = peer->ln;
	struct lnet_peer_ni *pni;

	spin_lock(&peer->sh->lock);
	peer->deleted = 1;
	list_for_each_entry(pni, &peer->pnis, link)
		pni_hide(pni);
	spin_lock(&ln->nid_lock);
	list_del_init(&peer->link);
	ln->nr_peers--;
	spin_unlock(&ln->nid_lock);
	spin_unlock(&peer->sh->lock);
}

/* Hidden and idle. */
static void peer_free(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni, *next;

	spin_lock(&peer->sh->lock);
	lnet_timer_cancel(&peer->sh->wheel, &peer->timer);
	spin_unlock(&peer->sh->lock);
	list_for_each_entry_safe(pni, next, &peer->pnis, link) {
		tell_drivers(pni);
		pni_free(pni);
	}
	lnet_peer_put(peer);
}

static void peer_remove(struct lnet_peer *peer)
{
	struct lnet_pass p;

	peer_hide(peer);
	lnet_pass_begin(&p, peer->ln, LNET_PASS_CALL);
	lnet_op_fail_all(&p, peer, LNET_NO_PATH);
	lnet_pass_end(&p);
	lnet_cfg_wait(peer->ln, peer_idle, peer, U64_MAX);
	peer_free(peer);
}

/* [none] What was asked over it and is unanswered is told to be lost; its other interfaces may be tried. */
static void pni_lost(struct lnet_peer_ni *pni)
{
	struct lnet_pass p;
	struct lnet_ni *ni;

	lnet_pass_begin(&p, pni->ln, LNET_PASS_CALL);
	list_for_each_entry(ni, &pni->ln->nis, link)
		if (ni->net == pni->net)
			lnet_path_lost(&p, ni, pni, U32_MAX, LNET_PATH_LOST);
	lnet_pass_end(&p);
}

static void pni_remove(struct lnet_peer_ni *pni)
{
	struct lnet *ln = pni->ln;

	spin_lock(&pni->sh->lock);
	pni_hide(pni);
	spin_unlock(&pni->sh->lock);
	if (!lnet_cfg_wait(ln, pni_idle, pni, READ_ONCE(ln->tun.drain_time))) {
		pni_lost(pni);
		lnet_cfg_wait(ln, pni_idle, pni, U64_MAX);
	}
	tell_drivers(pni);
	pni_free(pni);
}

static int del_nids(struct lnet_peer *peer, const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr; i++) {
		pni = lnet_peer_ni_lookup(peer->ln, &nids[i]);
		if (pni && pni->peer == peer)
			pni_remove(pni);
		else
			err = -ENOENT;
		lnet_peer_ni_put(pni);
	}
	return err;
}

static bool lists(const struct lnet_nid *nids, unsigned int nr, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (lnet_nid_same(&nids[i], nid))
			return true;
	return false;
}

int lnet_peer_del(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	int err = 0;

	if (lnet_nid_is_lo(primary))
		return -ENOENT;
	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, primary);
	if (!pni || lnet_nid_is_lo(&pni->nid))
		err = -ENOENT;
	else if (!lnet_nid_same(&pni->peer->primary, primary))
		err = -ENODEV;
	else if (!nr || lists(nids, nr, primary))
		peer_remove(pni->peer);
	else
		err = del_nids(pni->peer, nids, nr);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- configuration: adding ---------------------------------------------------------------------------------------- */

/* The peer that has @nid, counted, or NULL. */
static struct lnet_peer *owner_of(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);
	struct lnet_peer *peer = pni ? pni->peer : NULL;

	if (peer)
		lnet_peer_get(peer);
	lnet_peer_ni_put(pni);
	return peer;
}

static int check_nid(struct lnet *ln, const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid) || !lnet_nid_is_sane(nid) || lnet_nid_is_lo(nid))
		return -EINVAL;
	return lnet_nid_is_local(ln, nid) ? -EINVAL : 0;
}

struct peer_request {
	struct lnet *ln;
	const struct lnet_nid *primary, *nids;
	unsigned int nr;
	bool mr;
};

static const struct lnet_nid *nid_of(const struct peer_request *r, unsigned int i)
{
	return i ? &r->nids[i - 1] : r->primary;
}

/* One NID against what is configured; @self has the primary, or is NULL. */
static int check_owner(const struct peer_request *r, const struct lnet_nid *nid, const struct lnet_peer *self)
{
	struct lnet_peer *owner = owner_of(r->ln, nid);
	int err = owner && owner != self && owner->configured ? -EEXIST : 0;

	lnet_peer_put(owner);
	return err;
}

/* A peer that is not multi-rail has one NID on a net. */
static int check_nets(const struct peer_request *r, const struct lnet_peer *self)
{
	struct lnet_peer_ni *pni;
	unsigned int i, k;

	for (i = 0; i <= r->nr; i++) {
		for (k = 0; k < i; k++)
			if (lnet_nid_net(nid_of(r, i)) == lnet_nid_net(nid_of(r, k)) &&
			    !lnet_nid_same(nid_of(r, i), nid_of(r, k)))
				return -ENOTUNIQ;
		if (!self)
			continue;
		list_for_each_entry(pni, &self->pnis, link)
			if (pni->net == lnet_nid_net(nid_of(r, i)) && !lnet_nid_same(&pni->nid, nid_of(r, i)))
				return -ENOTUNIQ;
	}
	return 0;
}

static int check_request(const struct peer_request *r, const struct lnet_peer *self)
{
	unsigned int i;
	int err = 0;

	if (self && self->configured && !lnet_nid_same(&self->primary, r->primary))
		return -EEXIST;
	if (self && self->configured && self->mr != r->mr)
		return -EPERM;
	for (i = 0; i <= r->nr && !err; i++) {
		err = check_nid(r->ln, nid_of(r, i));
		if (!err)
			err = check_owner(r, nid_of(r, i), self);
	}
	if (!err && !r->mr)
		err = check_nets(r, self);
	return err;
}

/* The peer to configure, counted: whoever has the primary NID, else whom traffic made for another, else a new one. */
static struct lnet_peer *choose_peer(const struct peer_request *r)
{
	struct lnet_peer *peer = NULL;
	unsigned int i;

	for (i = 0; i <= r->nr && !peer; i++)
		peer = owner_of(r->ln, nid_of(r, i));
	if (peer)
		return peer;
	peer = peer_alloc(r->ln, r->primary);
	if (!peer)
		return NULL;
	if (pni_make(peer, r->primary)) {
		lnet_peer_put(peer);	/* traffic was quicker, or no memory */
		return owner_of(r->ln, r->primary);
	}
	lnet_peer_get(peer);
	return peer;
}

static void configure(struct lnet_peer *peer, const struct peer_request *r)
{
	lnet_shards_lock_all(r->ln);
	peer->primary = *r->primary;
	peer->configured = 1;
	peer->mr = r->mr;
	r->ln->cfg_gen++;
	lnet_shards_unlock_all(r->ln);
}

/* All shards locked; @pni is idle. */
static void path_rehome(struct lnet_path *path, struct lnet_shard *from, struct lnet_peer *to)
{
	bool armed = !list_empty(&path->timer.link);
	u64 when_ns = path->timer.when_ns;

	lnet_timer_cancel(&from->wheel, &path->timer);
	path->ix = ix_take(to);
	if (armed)
		lnet_timer_set(&to->sh->wheel, &path->timer, when_ns);
}

static void pni_rehome(struct lnet_peer_ni *pni, struct lnet_peer *to)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		path_rehome(path, pni->sh, to);
	list_move_tail(&pni->link, &to->pnis);
	to->nr_pnis++;
	lnet_peer_get(to);
	pni->peer = to;
	WRITE_ONCE(pni->sh, to->sh);
}

/* All shards locked. Empties @from, which traffic made, and takes it off the list; its counts are the caller's to put. */
static unsigned int peer_rehome(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet_peer_ni *pni, *next;
	unsigned int nr = 1;

	list_for_each_entry_safe(pni, next, &from->pnis, link) {
		pni_rehome(pni, to);
		nr++;
	}
	lnet_timer_cancel(&from->sh->wheel, &from->timer);
	from->nr_pnis = 0;
	from->deleted = 1;
	spin_lock(&from->ln->nid_lock);
	list_del_init(&from->link);
	from->ln->nr_peers--;
	spin_unlock(&from->ln->nid_lock);
	return nr;
}

/* A timer may have come to the shard: its next time is told on leaving it. */
static void announce_timers(struct lnet_shard *sh)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, sh->ln, LNET_PASS_CALL);
	lnet_enter(&p, sh);
	lnet_leave(&p);
	lnet_pass_end(&p);
}

/*
 * The interfaces of @from, a peer made by traffic, become @to's. Only while nothing is under way to it, as names of
 * requests and windows are those of a peer; waits for that as long as a removed interface may take. -EBUSY: it never was.
 */
static int absorb(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet *ln = to->ln;
	unsigned int nr = 0;

	lnet_cfg_wait(ln, peer_idle, from, READ_ONCE(ln->tun.drain_time));
	lnet_shards_lock_all(ln);
	if (peer_is_idle(from))
		nr = peer_rehome(from, to);
	ln->cfg_gen++;
	lnet_shards_unlock_all(ln);
	if (!nr)
		return -EBUSY;
	announce_timers(to->sh);
	while (nr--)
		lnet_peer_put(from);
	return 0;
}

static int add_nid(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer *owner;
	int err;

	do {
		owner = owner_of(peer->ln, nid);
		if (!owner)
			err = pni_make(peer, nid);
		else
			err = owner == peer ? 0 : absorb(owner, peer);
		lnet_peer_put(owner);
	} while (err == -EEXIST);	/* traffic made it just now */
	return err;
}

static int peer_add(const struct peer_request *r)
{
	struct lnet_peer *peer = owner_of(r->ln, r->primary);
	unsigned int i;
	int err = check_request(r, peer);

	lnet_peer_put(peer);
	if (err)
		return err;
	peer = choose_peer(r);
	if (!peer)
		return -ENOMEM;
	configure(peer, r);
	for (i = 0; i <= r->nr && !err; i++)
		err = add_nid(peer, nid_of(r, i));
	lnet_peer_put(peer);
	return err;
}

int lnet_peer_add(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids, unsigned int nr, bool mr)
{
	struct peer_request r = { .ln = ln, .primary = primary, .nids = nids, .nr = nr, .mr = mr };
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = READ_ONCE(ln->stopping) ? -ESHUTDOWN : peer_add(&r);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- the instance's begin and end ----------------------------------------------------------------------------------- */

int lnet_peers_init(struct lnet *ln)
{
	ln->nid_bits = LNET_NID_HASH_BITS;
	ln->nids = kvcalloc(1UL << ln->nid_bits, sizeof(*ln->nids), GFP_KERNEL);
	return ln->nids ? 0 : -ENOMEM;
}

void lnet_peers_fini(struct lnet *ln)
{
	struct lnet_peer *peer;

	if (!ln->nids)
		return;
	while (!list_empty(&ln->peers)) {
		peer = list_first_entry(&ln->peers, struct lnet_peer, link);
		WARN_ON_ONCE(!peer_is_idle(peer));
		peer_hide(peer);
		peer_free(peer);
	}
	kvfree(ln->nids);
	ln->nids = NULL;
}
