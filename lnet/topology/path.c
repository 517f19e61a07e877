/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths, the pairs of a local NI and a peer NI. A path is added together with its NI or its peer
 * NI, and is removed when it is idle.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"

void lnet_paths_free(struct list_head *paths)
{
	struct lnet_path *path, *next;

	list_for_each_entry_safe(path, next, paths, link) {
		WARN_ON_ONCE(!list_empty(&path->await_reply) || !list_empty(&path->reset) ||
			     path->nr_wire || !list_empty(&path->large_queue) || path->nr_large ||
			     path->nr_large_queue);
		if (lnet_path_is_routed(path))
			lnet_peer_ni_put(path->hop);
		lnet_ni_put(path->ni);
		kfree(path->stats);
		kfree(path);
	}
	INIT_LIST_HEAD(paths);
}

static struct lnet_path *path_new(void)
{
	struct lnet_path *path = kzalloc(sizeof(*path), GFP_NOFS);

	if (!path)
		return NULL;
	INIT_LIST_HEAD(&path->await_reply);
	INIT_LIST_HEAD(&path->large_queue);
	INIT_LIST_HEAD(&path->reset);
	INIT_LIST_HEAD(&path->probe_link);
	INIT_LIST_HEAD(&path->gw_paths);
	lnet_timer_init(&path->timer, LNET_TIMER_PATH);
	path->health = LNET_HEALTH_MAX;
	return path;
}

struct lnet_path *lnet_path_via(const struct lnet_peer_ni *pni, const struct lnet_ni *ni,
				const struct lnet_peer_ni *hop)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (path->ni == ni && path->hop == hop)
			return path;
	return NULL;
}

struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni)
{
	return lnet_path_via(pni, ni, pni);
}

u32 lnet_path_ix_take(struct lnet_peer *peer)
{
	u32 ix = peer->nr_paths % LNET_MAX_PATHS;

	if (~peer->paths_used)
		ix = __ffs64(~peer->paths_used);
	peer->paths_used |= BIT_ULL(ix);
	peer->nr_paths++;
	return ix;
}

/*
 * Computes @peer->paths_used, the bits of the path indexes in use, from the remaining paths.
 * Several paths may have the same index, so the bit of a removed path cannot simply be cleared.
 */
void lnet_path_ix_recount(struct lnet_peer *peer)
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

unsigned int lnet_paths_missing(struct lnet_peer_ni *pni)
{
	struct lnet_ni *ni;
	unsigned int nr = 0;

	list_for_each_entry(ni, &pni->ln->nis, link)
		nr += lacks_path(pni, ni);
	return nr + lnet_routes_attach(pni, NULL);
}

void lnet_paths_attach(struct lnet_peer_ni *pni, struct list_head *spare)
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
		path->pni = path->hop = pni;
		path->first_hop = path;
		path->ix = lnet_path_ix_take(pni->peer);
		lnet_udsp_path(pni->ln, path);
		list_move_tail(&path->link, &pni->paths);
	}
	lnet_routes_attach(pni, spare);
	if (!first || pni->nr_wait || list_empty(&pni->paths))
		return;
	/*
	 * The NI of the first path defines the credits of @pni. Selection ignores a @pni without
	 * credits.
	 */
	path = list_first_entry(&pni->paths, struct lnet_path, link);
	pni->max_credits = (u32)max(path->ni->peer_credits, 1);
	pni->credits = pni->min_credits = (s32)pni->max_credits;
	pni->rtr_credits = pni->min_rtr_credits = lnet_credits_rtr(pni);
}

int lnet_paths_lock(struct lnet_peer_ni *pni, struct list_head *spare)
	__acquires(&pni->sh->lock)
{
	unsigned int have = 0, need;
	struct lnet_path *path;

	spin_lock(&pni->sh->lock);
	while (have < (need = lnet_paths_missing(pni))) {
		spin_unlock(&pni->sh->lock);
		for (; have < need && (path = path_new()); have++)
			list_add_tail(&path->link, spare);
		spin_lock(&pni->sh->lock);
		if (have < need)
			return -ENOMEM;
	}
	return 0;
}

bool lnet_paths_live(const struct lnet_peer_ni *pni)
{
	const struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (!path->gone)
			return true;
	return false;
}

bool lnet_paths_possible(struct lnet_peer_ni *pni)
{
	bool possible;

	spin_lock(&pni->sh->lock);
	possible = lnet_paths_live(pni) || lnet_paths_missing(pni);
	spin_unlock(&pni->sh->lock);
	return possible;
}

bool lnet_path_is_idle(const struct lnet_path *path)
{
	return !path->nr_wire && list_empty(&path->await_reply) && !path->pinging &&
	       list_empty(&path->reset);
}

void lnet_path_detach(struct lnet_path *path, struct list_head *gone)
{
	struct lnet_peer_ni *pni = path->pni;

	lnet_timer_cancel(&pni->sh->wheel, &path->timer);
	lnet_probe_leave(path);
	if (pni->sticky == path->ni)
		pni->sticky = NULL;
	WARN_ON_ONCE(lnet_path_has_gw_paths(path));
	list_del_init(&path->gw_link);
	list_move_tail(&path->link, gone);
}

/* ---- paths of all peers ---------------------------------------------------------------------- */

/* [sh] True if @peer has a busy path over the NI @arg. */
static bool has_busy(struct lnet_peer *peer, void *arg)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (path->ni == arg && !lnet_path_is_idle(path))
				return true;
	return false;
}

struct paths_of {
	const struct lnet_ni *ni;
	struct list_head gone;		/* detached paths; the caller frees them without a lock */
	bool busy;
};

/*
 * [sh] Detaches the idle paths of @peer over the NI @arg->ni. Returns false, so that the walk
 * visits all peers.
 */
static bool detach_idle(struct lnet_peer *peer, void *arg)
{
	struct paths_of *of = arg;
	struct lnet_path *path, *next;
	struct lnet_peer_ni *pni;
	bool any = false;

	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry_safe(path, next, &pni->paths, link) {
			if (path->ni != of->ni)
				continue;
			/*
			 * A first-hop path is not removed while paths through the gateway use it.
			 */
			if (!lnet_path_is_idle(path) || lnet_path_has_gw_paths(path)) {
				of->busy = true;
				continue;
			}
			lnet_path_detach(path, &of->gone);
			any = true;
		}
	}
	if (any)
		lnet_path_ix_recount(peer);
	return false;
}

bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni)
{
	struct lnet_peer *busy = lnet_peer_find(ln, NULL, has_busy, ni);

	lnet_peer_put(busy);
	return !busy;
}

bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni)
{
	struct paths_of of = { .ni = ni };

	INIT_LIST_HEAD(&of.gone);
	lnet_peer_find(ln, NULL, detach_idle, &of);
	lnet_paths_free(&of.gone);
	return !of.busy;
}
