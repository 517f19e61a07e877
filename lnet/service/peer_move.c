/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Moves a peer to another shard, or moves its interfaces to another peer. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "receive/receive.h"
#include "service/service.h"

bool lnet_peer_is_free(struct lnet *ln, void *arg)
{
	struct lnet_peer *peer = arg;
	bool idle;

	(void)ln;
	spin_lock(&peer->sh->lock);
	idle = lnet_peer_is_idle(peer);
	spin_unlock(&peer->sh->lock);
	return idle;
}

static void timer_move(struct lnet_timer *t, struct lnet_shard *from, struct lnet_shard *to)
{
	bool armed = !list_empty(&t->link);
	u64 when_ns = t->when_ns;

	lnet_timer_cancel(&from->wheel, t);
	if (armed)
		lnet_timer_set(&to->wheel, t, when_ns);
}

/* Moves the timer of @path, and the entry of @path in the queue for recovery pings. */
static void path_move(struct lnet_path *path, struct lnet_shard *from, struct lnet_shard *to)
{
	timer_move(&path->timer, from, to);
	if (list_empty(&path->probe_link))
		return;
	lnet_probe_leave(path);
	lnet_probe_join(to, path, 0);
}

/* All shards locked; @pni is idle. */
static void pni_rehome(struct lnet_peer_ni *pni, struct lnet_peer *to)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link) {
		path->ix = lnet_path_ix_take(to);
		path_move(path, pni->sh, to->sh);
	}
	list_move_tail(&pni->link, &to->pnis);
	to->nr_pnis++;
	lnet_peer_get(to);
	WRITE_ONCE(pni->peer, to);
	WRITE_ONCE(pni->sh, to->sh);
}

/*
 * All shards locked. Moves all interfaces of the dynamically created @from to @to, and removes
 * @from from the peer list. Returns the number of references to @from that the caller must drop.
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

/* Timers may have moved to @sh. Leaving @sh updates the wake-up of its worker. */
static void announce_timers(struct lnet_shard *sh)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, sh->ln, LNET_PASS_CALL);
	lnet_enter(&p, sh);
	lnet_leave(&p);
	lnet_pass_end(&p);
}

/* All shards locked; @peer is idle. */
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

int lnet_peer_pin_shard(struct lnet_peer *peer, bool wait)
{
	struct lnet *ln = peer->ln;
	bool idle;

	if (peer->sh == &ln->shard[0])
		return 0;
	if (wait)
		lnet_cfg_wait(ln, lnet_peer_is_free, peer, READ_ONCE(ln->tun.drain_time));
	lnet_shards_lock_all(ln);
	idle = lnet_peer_is_idle(peer);
	if (idle)
		peer_move(peer, &ln->shard[0]);
	lnet_shards_unlock_all(ln);
	if (idle)
		announce_timers(&ln->shard[0]);
	return idle ? 0 : -EBUSY;
}

/*
 * If @from is a router or a peer behind routers, its interfaces must stay in shard 0. So moves @to
 * to shard 0. 0, -EBUSY
 */
static int anchor_as(const struct lnet_peer *from, struct lnet_peer *to, bool wait)
{
	const struct lnet_peer_ni *pni;

	if (from->sh == to->sh)
		return 0;
	list_for_each_entry(pni, &from->pnis, link)
		if (pni->gw || lnet_routes_hops(from->ln, pni->net))
			return lnet_peer_pin_shard(to, wait);
	return 0;
}

/*
 * All shards locked. Moves one interface of the idle @from, which keeps other interfaces. Returns
 * 1, or 0 if nothing was moved.
 */
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

/*
 * @to becomes the merge target of peers whose merge target was @from, if @to can gain NIDs by
 * discovery.
 */
static void merges_move(struct lnet_peer *from, struct lnet_peer *to)
{
	struct lnet *ln = to->ln;
	bool follow = to->mr && !to->configured;
	struct lnet_peer *peer;

	if (!from->disc.inherits)
		return;
	from->disc.inherits = 0;
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer)) {
		if (peer->merged_into != from)
			continue;
		lnet_peer_merge_into(peer, follow && peer != to ? to : NULL);
		to->disc.inherits |= follow && peer != to;
	}
}

int lnet_peer_absorb(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
		     bool wait)
{
	struct lnet *ln = to->ln;
	unsigned int nr = 0;
	int err;

	if (!nid)
		lnet_peer_merge_into(from, NULL);
	err = anchor_as(from, to, wait);
	if (err)
		return err;
	if (wait)
		lnet_cfg_wait(ln, lnet_peer_is_free, from, READ_ONCE(ln->tun.drain_time));
	lnet_shards_lock_all(ln);
	if (lnet_peer_is_idle(from))
		nr = nid ? pni_take(from, to, nid) : peer_rehome(from, to);
	WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	lnet_shards_unlock_all(ln);
	if (!nr)
		return -EBUSY;
	announce_timers(to->sh);
	if (!nid)
		merges_move(from, to);
	while (nr--)
		lnet_peer_put(from);
	return 0;
}

void lnet_peer_merges_review(struct lnet_peer *to,
			     bool (*still)(const struct lnet_peer *from, void *arg), void *arg)
{
	struct lnet *ln = to->ln;
	struct lnet_peer *from;

	if (!to->disc.inherits)
		return;
	to->disc.inherits = 0;
	for (from = lnet_peer_next(ln, NULL); from; from = lnet_peer_next(ln, from)) {
		if (from->merged_into != to)
			continue;
		if (still && still(from, arg))
			to->disc.inherits = 1;
		else
			lnet_peer_merge_into(from, NULL);
	}
}

int lnet_peer_take_over(struct lnet_peer *from, struct lnet_peer *to, const struct lnet_nid *nid,
			bool follow)
{
	int err = lnet_peer_absorb(from, to, nid, false);

	if (err && !nid && follow && to->mr) {
		lnet_peer_merge_into(from, to);
		to->disc.inherits = 1;
	}
	return err;
}
