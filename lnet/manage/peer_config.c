/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Peers by configuration: which NIDs are one node, and which are none any more. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "model/core.h"
#include "topology/peer.h"
#include "topology/route.h"

/* ---- configuration: taking away -------------------------------------------------------------- */

static bool peer_idle(struct lnet *ln, void *arg)
{
	struct lnet_peer *peer = arg;
	bool idle;

	(void)ln;
	spin_lock(&peer->sh->lock);
	idle = lnet_peer_is_idle(peer);
	spin_unlock(&peer->sh->lock);
	return idle;
}

static bool pni_idle(struct lnet *ln, void *arg)
{
	struct lnet_peer_ni *pni = arg;
	bool idle;

	(void)ln;
	spin_lock(&pni->sh->lock);
	idle = lnet_peer_ni_is_idle(pni);
	spin_unlock(&pni->sh->lock);
	return idle;
}

static void peer_remove(struct lnet_peer *peer)
{
	struct lnet_pass p;

	lnet_peer_hide(peer);
	lnet_pass_begin(&p, peer->ln, LNET_PASS_CALL);
	lnet_op_fail_all(&p, peer, LNET_NO_PATH);
	lnet_pass_end(&p);
	lnet_cfg_wait(peer->ln, peer_idle, peer, U64_MAX);
	lnet_peer_drop(peer);
}

/*
 * [none] What was asked over it and is unanswered is told to be lost; its other interfaces may be
 * tried.
 */
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
	lnet_peer_ni_hide(pni);
	spin_unlock(&pni->sh->lock);
	if (pni->gw)
		lnet_routes_leave_hop(pni);
	if (!lnet_cfg_wait(ln, pni_idle, pni, READ_ONCE(ln->tun.drain_time))) {
		pni_lost(pni);
		lnet_cfg_wait(ln, pni_idle, pni, U64_MAX);
	}
	lnet_peer_ni_tell(pni);
	lnet_peer_ni_drop(pni);
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

/* A router stays as long as a route names it, with what routes name it by. */
static bool is_routers(const struct lnet_peer *peer, const struct lnet_nid *nids, unsigned int nr)
{
	const struct lnet_route *route;

	list_for_each_entry(route, &peer->ln->routes->list, link)
		if (route->named->peer == peer &&
		    (!nr || lists(nids, nr, &peer->primary) ||
		     lists(nids, nr, &route->named->nid)))
			return true;
	return false;
}

int lnet_peer_del(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr)
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
	else if (is_routers(pni->peer, nids, nr))
		err = -EBUSY;
	else if (!nr || lists(nids, nr, primary))
		peer_remove(pni->peer);
	else
		err = del_nids(pni->peer, nids, nr);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- a primary NID that is locked, state by hand --------------------------------------------- */

/* NIDs of @peer but its primary one, at most @max: how many. */
static unsigned int others_of(struct lnet_peer *peer, struct lnet_nid *nids, unsigned int max)
{
	struct lnet_peer_ni *pni;
	unsigned int nr = 0;

	spin_lock(&peer->sh->lock);
	list_for_each_entry(pni, &peer->pnis, link)
		if (nr < max && !lnet_nid_same(&pni->nid, &peer->primary))
			nids[nr++] = pni->nid;
	spin_unlock(&peer->sh->lock);
	return nr;
}

static int del_others(struct lnet_peer *peer)
{
	unsigned int max = READ_ONCE(peer->nr_pnis), nr;
	struct lnet_nid *nids = kvcalloc(max, sizeof(*nids), GFP_KERNEL);
	int err;

	if (!nids)
		return -ENOMEM;
	nr = others_of(peer, nids, max);
	err = del_nids(peer, nids, nr);
	kvfree(nids);
	return err;
}

int lnet_peer_del_unlocked(struct lnet *ln, const struct lnet_nid *primary,
			   const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	bool others = false;
	int err = 0;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, primary);
	if (pni && pni->peer->locked && lnet_nid_same(&pni->peer->primary, primary))
		others = !nr || lists(nids, nr, primary);
	if (others)
		err = del_others(pni->peer);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return others ? err : lnet_peer_del(ln, primary, nids, nr);
}

int lnet_peer_set_state(struct lnet *ln, const struct lnet_nid *nid, u32 mask, u32 state)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, nid);
	peer = pni && !lnet_nid_is_lo(&pni->nid) ? pni->peer : NULL;
	if (peer) {
		lnet_shards_lock_all(ln);
		if (mask & LNET_PEER_STATE_MULTI_RAIL)
			peer->mr = !!(state & LNET_PEER_STATE_MULTI_RAIL);
		if (mask & LNET_PEER_STATE_CONFIGURED)
			peer->configured = !!(state & LNET_PEER_STATE_CONFIGURED);
		if (mask & LNET_PEER_STATE_LOCKED)
			peer->locked = !!(state & LNET_PEER_STATE_LOCKED);
		peer->state_rest &= ~mask;
		peer->state_rest |= state & mask & ~LNET_PEER_STATE_KNOWN;
		WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
		lnet_shards_unlock_all(ln);
	}
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return peer ? 0 : -ENOENT;
}

/* ---- configuration: adding ------------------------------------------------------------------- */

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
static int check_owner(const struct peer_request *r, const struct lnet_nid *nid,
		       const struct lnet_peer *self)
{
	struct lnet_peer *owner = lnet_peer_owner(r->ln, nid);
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
			if (pni->net == lnet_nid_net(nid_of(r, i)) &&
			    !lnet_nid_same(&pni->nid, nid_of(r, i)))
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

/* Whoever has the primary NID, else whom traffic made for another of them; counted, or NULL. */
static struct lnet_peer *find_peer(const struct peer_request *r)
{
	struct lnet_peer *peer = NULL;
	unsigned int i;

	for (i = 0; i <= r->nr && !peer; i++)
		peer = lnet_peer_owner(r->ln, nid_of(r, i));
	return peer;
}

/* An interface for the primary NID, which nobody has yet. */
static int make_primary(const struct peer_request *r, struct lnet_peer *found)
{
	struct lnet_peer *peer = found ? found : lnet_peer_new(r->ln, r->primary);
	int err;

	if (!peer)
		return -ENOMEM;
	err = lnet_peer_ni_make(peer, r->primary);
	if (err && !found)
		lnet_peer_put(peer);
	return err;
}

/*
 * The peer to configure, which has the primary NID from now on; counted. NULL: no memory, nothing
 * changed.
 */
static struct lnet_peer *choose_peer(const struct peer_request *r)
{
	struct lnet_peer *peer, *found;
	int err;

	for (;;) {
		peer = lnet_peer_owner(r->ln, r->primary);
		if (peer)
			return peer;
		found = find_peer(r);
		err = make_primary(r, found);
		lnet_peer_put(found);
		if (err && err != -EEXIST)	/* that: traffic was quicker */
			return NULL;
	}
}

static void configure(struct lnet_peer *peer, const struct peer_request *r)
{
	lnet_shards_lock_all(r->ln);
	peer->primary = *r->primary;
	peer->configured = 1;
	peer->mr = r->mr;
	WRITE_ONCE(r->ln->cfg_gen, r->ln->cfg_gen + 1);
	lnet_shards_unlock_all(r->ln);
}

static void timer_move(struct lnet_timer *t, struct lnet_shard *from, struct lnet_shard *to)
{
	bool armed = !list_empty(&t->link);
	u64 when_ns = t->when_ns;

	lnet_timer_cancel(&from->wheel, t);
	if (armed)
		lnet_timer_set(&to->wheel, t, when_ns);
}

/* Its pause, and its place in the line of those that wait for a ping. */
static void path_move(struct lnet_path *path, struct lnet_shard *from, struct lnet_shard *to)
{
	timer_move(&path->timer, from, to);
	if (list_empty(&path->line))
		return;
	lnet_probe_leave(path);
	lnet_probe_join(to, path, 0);
}

/* All shards locked; @pni is idle. */
static void path_rehome(struct lnet_path *path, struct lnet_shard *from, struct lnet_peer *to)
{
	path->ix = lnet_path_ix_take(to);
	path_move(path, from, to->sh);
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

/*
 * All shards locked. Empties @from, which traffic made, and takes it off the list; its counts are
 * the caller's to put.
 */
static unsigned int peer_rehome(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet_peer_ni *pni, *next;
	unsigned int nr = 1;

	lockdep_assert_held(&from->ln->cfg_mutex);

	list_for_each_entry_safe(pni, next, &from->pnis, link) {
		pni_rehome(pni, to);
		nr++;
	}
	lnet_timer_cancel(&from->sh->wheel, &from->timer);
	lnet_disc_peer_end(from);
	from->nr_pnis = 0;
	from->deleted = 1;
	spin_lock(&from->ln->nid_lock);
	list_del_init(&from->link);
	WRITE_ONCE(from->ln->nr_peers, from->ln->nr_peers - 1);
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

/* All shards locked, idle. */
static void peer_move(struct lnet_peer *peer, struct lnet_shard *to)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry(path, &pni->paths, link)
			path_move(path, pni->sh, to);
		WRITE_ONCE(pni->sh, to);
	}
	timer_move(&peer->timer, peer->sh, to);
	timer_move(&peer->disc.timer, peer->sh, to);
	lnet_proofs_move(peer, to);
	peer->back_walk = 0;
	WRITE_ONCE(peer->sh, to);
}

int lnet_peer_anchor(struct lnet_peer *peer, bool wait)
{
	struct lnet *ln = peer->ln;
	bool idle;

	if (peer->sh == &ln->shard[0])
		return 0;
	if (wait)
		lnet_cfg_wait(ln, peer_idle, peer, READ_ONCE(ln->tun.drain_time));
	lnet_shards_lock_all(ln);
	idle = lnet_peer_is_idle(peer);
	if (idle)
		peer_move(peer, &ln->shard[0]);
	lnet_shards_unlock_all(ln);
	if (idle)
		announce_timers(&ln->shard[0]);
	return idle ? 0 : -EBUSY;
}

/* A router, or one behind routers, stays in the shard it must be in. */
static int anchor_as(const struct lnet_peer *from, struct lnet_peer *to, bool wait)
{
	const struct lnet_peer_ni *pni;

	if (from->sh == to->sh)
		return 0;
	list_for_each_entry(pni, &from->pnis, link)
		if (pni->gw || lnet_routes_have(from->ln, pni->net))
			return lnet_peer_anchor(to, wait);
	return 0;
}

void lnet_peer_heir_end(struct lnet_peer_ni *pni)
{
	struct lnet_peer_ni *heir;

	spin_lock(&pni->ln->nid_lock);
	heir = pni->heir;
	pni->heir = NULL;
	spin_unlock(&pni->ln->nid_lock);
	lnet_peer_ni_put(heir);
}

void lnet_peer_heirs_end(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		lnet_peer_heir_end(pni);
}

/* All shards locked. One interface of an idle peer that keeps others. */
static unsigned int pni_take(struct lnet_peer *from, struct lnet_peer *to,
			     const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &from->pnis, link) {
		if (!lnet_nid_same(&pni->nid, nid) || pni->deleted)
			continue;
		pni_rehome(pni, to);
		lnet_windows_rehome(from, pni);
		from->nr_pnis--;
		lnet_path_ix_recount(from);
		return 1;
	}
	return 0;
}

/* The same of the interface that has @nid now. */
static void heir_end_at(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);

	if (pni)
		lnet_peer_heir_end(pni);
	lnet_peer_ni_put(pni);
}

/* As it says at lnet_peer_take_over(), but for new heirs; what moves has none any more. */
static int try_absorb(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
		      bool wait)
{
	struct lnet *ln = to->ln;
	unsigned int nr = 0;
	int err;

	if (!nid)
		lnet_peer_heirs_end(from);
	err = anchor_as(from, to, wait);
	if (err)
		return err;
	if (wait)
		lnet_cfg_wait(ln, peer_idle, from, READ_ONCE(ln->tun.drain_time));
	lnet_shards_lock_all(ln);
	if (lnet_peer_is_idle(from))
		nr = nid ? pni_take(from, to, nid) : peer_rehome(from, to);
	WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	lnet_shards_unlock_all(ln);
	if (!nr)
		return -EBUSY;
	announce_timers(to->sh);
	if (nid)
		heir_end_at(ln, nid);
	while (nr--)
		lnet_peer_put(from);
	return 0;
}

/*
 * The interfaces of @from, a peer made by traffic, become @to's. Only while nothing is under way to
 * it, as names of requests and windows are those of a peer; waits for that as long as a removed
 * interface may take. -EBUSY: it never was.
 */
static int absorb(struct lnet_peer *from, struct lnet_peer *to)
{
	return try_absorb(from, to, NULL, true);
}

/* New requests to @from's interfaces go to @to's. */
static void heirs_set(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet_peer_ni *heir = lnet_peer_ni_lookup(to->ln, &to->primary), *pni;

	if (!heir || heir->peer != to) {
		lnet_peer_ni_put(heir);
		return;
	}
	spin_lock(&from->ln->nid_lock);
	list_for_each_entry(pni, &from->pnis, link) {
		if (pni->heir)
			continue;
		lnet_peer_ni_hold(heir);
		pni->heir = heir;
	}
	spin_unlock(&from->ln->nid_lock);
	lnet_peer_ni_put(heir);
	to->disc.inherits = 1;
}

/* nid_lock held. */
static bool inherits_from(const struct lnet_peer *to, const struct lnet_peer *from)
{
	const struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &from->pnis, link)
		if (pni->heir && pni->heir->peer == to)
			return true;
	return false;
}

void lnet_peer_heirs_review(struct lnet_peer *to,
			    bool (*still)(const struct lnet_peer *from, void *arg), void *arg)
{
	struct lnet *ln = to->ln;
	struct lnet_peer *from;
	bool any;

	if (!to->disc.inherits)
		return;
	to->disc.inherits = 0;
	for (from = lnet_peer_next(ln, NULL); from; from = lnet_peer_next(ln, from)) {
		spin_lock(&ln->nid_lock);
		any = inherits_from(to, from);
		spin_unlock(&ln->nid_lock);
		if (any && still(from, arg))
			to->disc.inherits = 1;
		else if (any)
			lnet_peer_heirs_end(from);
	}
}

int lnet_peer_take_over(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
			bool heirs)
{
	int err = try_absorb(from, to, nid, false);

	if (err && !nid && heirs && to->mr)
		heirs_set(from, to);
	return err;
}

static int add_nid(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer *owner;
	int err;

	do {
		owner = lnet_peer_owner(peer->ln, nid);
		if (!owner)
			err = lnet_peer_ni_make(peer, nid);
		else
			err = owner == peer ? 0 : absorb(owner, peer);
		lnet_peer_put(owner);
	} while (err == -EEXIST);	/* traffic made it just now */
	return err;
}

static int peer_add(const struct peer_request *r)
{
	struct lnet_peer *peer = lnet_peer_owner(r->ln, r->primary);
	unsigned int i;
	int err = check_request(r, peer);

	lnet_peer_put(peer);
	if (err)
		return err;
	peer = choose_peer(r);
	if (!peer)
		return -ENOMEM;
	configure(peer, r);
	lnet_peer_heirs_end(peer);	/* whose it is has been said now */
	for (i = 0; i <= r->nr && !err; i++)
		err = add_nid(peer, nid_of(r, i));
	lnet_routes_sync(r->ln);
	lnet_peer_put(peer);
	return err;
}

int lnet_peer_add(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr, bool mr)
{
	struct peer_request r = { .ln = ln, .primary = primary, .nids = nids, .nr = nr, .mr = mr };
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = READ_ONCE(ln->stopping) ? -ESHUTDOWN : peer_add(&r);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}
