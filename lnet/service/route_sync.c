/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Updates routes and paths through routers after changes of the configuration or of peers. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"

#define AGAIN_NS	(100 * (u64)NSEC_PER_MSEC)	/* pause before a retry */

/* ---- the end of a route ---------------------------------------------------------------------- */

void lnet_route_free(struct lnet_route *route)
{
	lnet_peer_ni_put(route->named);
	kfree(route);
}

void lnet_route_retire(struct lnet_route *route)
{
	struct lnet *ln = route->gw->ln;

	lnet_shards_lock_all(ln);
	route->gone = 1;
	list_move_tail(&route->link, &ln->routes->dying);
	ln->routes->nr--;
	WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	lnet_shards_unlock_all(ln);
}

/*
 * cfg_mutex held. Ends @route, which has no path. False: not ended, because a check of the gateway
 * is in flight.
 */
static bool route_end(struct lnet_route *route)
{
	struct lnet_gateway *gw = route->gw;

	if (gw) {
		gw->nr_routes--;
		if (!lnet_gateway_put(gw)) {
			gw->nr_routes++;
			return false;
		}
	}
	list_del(&route->link);
	lnet_route_free(route);
	return true;
}

/*
 * If a path was removed, makes the attempts that wait for its credits choose another path. With
 * @force, also cancels the attempts of removed paths that drivers have. With @force, an attempt of
 * a removed path that awaits its reply fails, if its request may be retried.
 */
static void leave_gone(struct lnet *ln, bool force)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_ops_leave_gone(&p, force);
	lnet_pass_end(&p);
}

/*
 * Like leave_gone() without @force, but works in slices, because the worker may not wait for a long
 * walk. Paths through routers are in shard 0. @marked: paths were removed since the last call.
 * Returns true if no attempt waits for credits of removed paths.
 */
static bool walk_gone(struct lnet *ln, bool marked)
{
	struct lnet_pass p;
	bool over;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	if (marked)
		lnet_ops_walk_gone(&p);
	over = !lnet_ops_wait_gone(p.sh);
	lnet_pass_end(&p);
	return over;
}

/*
 * Frees removed paths that are idle, and removed routes without paths. Returns true if no removed
 * path or route is left.
 */
static bool routes_reap(struct lnet *ln, void *arg)
{
	struct lnet_route *route;
	LIST_HEAD(gone);
	bool left;

	(void)arg;
	spin_lock(&ln->shard[0].lock);
	left = lnet_routes_detach_gone(ln, &gone);
	spin_unlock(&ln->shard[0].lock);
	lnet_paths_free(&gone);
	do {
		spin_lock(&ln->shard[0].lock);
		route = lnet_routes_finished(ln);
		spin_unlock(&ln->shard[0].lock);
	} while (route && route_end(route));
	return !left && list_empty(&ln->routes->dying);
}

void lnet_routes_drain(struct lnet *ln)
{
	leave_gone(ln, false);
	if (lnet_cfg_wait(ln, routes_reap, NULL, READ_ONCE(ln->tun.drain_time)))
		return;
	leave_gone(ln, true);
	lnet_cfg_wait(ln, routes_reap, NULL, U64_MAX);
}

void lnet_routes_leave_hop(struct lnet_peer_ni *hop)
{
	bool any;

	spin_lock(&hop->sh->lock);
	any = lnet_routes_mark_hop(hop);
	spin_unlock(&hop->sh->lock);
	if (any)
		lnet_routes_drain(hop->ln);
}

/* ---- routers whose peer entries were merged -------------------------------------------------- */

/*
 * Moves @route to the gateway @to. If @to already has a route to the same net, the worse of the two
 * routes is removed.
 */
static void take_route(struct lnet_route *route, struct lnet_gateway *to)
{
	struct lnet_route *other, *worse = route;

	list_for_each_entry(other, &to->ln->routes->list, link)
		if (other->gw == to && other->net == route->net)
			break;
	route->gw->nr_routes--;
	route->gw = to;
	to->nr_routes++;
	if (list_entry_is_head(other, &to->ln->routes->list, link))
		return;
	if (route->priority < other->priority ||
	    (route->priority == other->priority && (u32)route->hops < (u32)other->hops))
		worse = other;
	lnet_route_retire(worse);
}

static void gateway_merge(struct lnet_gateway *from, struct lnet_gateway *to)
{
	struct lnet_route *route, *next;

	list_for_each_entry_safe(route, next, &from->ln->routes->list, link)
		if (route->gw == from)
			take_route(route, to);
	list_for_each_entry(route, &from->ln->routes->dying, link) {
		if (route->gw != from)
			continue;
		route->gw = to;
		from->nr_routes--;
		to->nr_routes++;
	}
}

/*
 * cfg_mutex held. Merges two gateways. False: not merged, because a check of one of them is in
 * flight.
 */
static bool gateways_merge(struct lnet *ln)
{
	struct lnet_gateway *gw, *next, *first;
	bool all = true;

	list_for_each_entry_safe(gw, next, &ln->routes->gateways, link) {
		first = lnet_gateway_of(ln, gw->pni->peer);
		if (first == gw)
			continue;
		gateway_merge(gw, first);
		/* false: retried when the check in flight has ended */
		all &= lnet_gateway_put(gw);
	}
	return all;
}

/* ---- following changes ----------------------------------------------------------------------- */

static void routes_job_schedule(struct lnet *ln)
{
	lnet_job_schedule(ln, &ln->routes->job_ns, ln->env->ops->now_ns(ln->env) + AGAIN_NS);
}

int lnet_paths_add(struct lnet_peer_ni *pni)
{
	struct lnet_disc *d = &pni->peer->disc;
	LIST_HEAD(spare);
	bool alias;
	int err;

	spin_lock(&pni->sh->lock);
	alias = pni->alias;
	if (alias && !d->want_ping && lnet_paths_missing(pni)) {
		d->want_ping = d->force_merge = 1;
		lnet_push_all(pni->ln, false);
	}
	spin_unlock(&pni->sh->lock);
	if (alias)
		return 0;
	err = lnet_paths_lock(pni, &spare);
	if (!err)
		lnet_paths_attach(pni, &spare);
	spin_unlock(&pni->sh->lock);
	lnet_paths_free(&spare);
	return err;
}

/*
 * cfg_mutex held. Does the work of lnet_routes_sync() for one peer whose interfaces have changed,
 * or that is multi-rail now.
 */
static void sync_peer(struct lnet_peer *peer)
{
	struct lnet *ln = peer->ln;
	struct lnet_peer_ni *pni;

	if (!ln->routes->nr)
		return;
	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && lnet_routes_hops(ln, pni->net) &&
		    (lnet_peer_pin_shard(peer, false) || lnet_paths_add(pni)))
			routes_job_schedule(ln);
}

void lnet_routes_sync(struct lnet *ln)
{
	struct lnet_peer_ni *hop;
	struct lnet_gateway *gw;
	struct lnet_peer *peer;
	bool unwanted, marked;

	if (list_empty(&ln->routes->gateways))
		return;
	if (!gateways_merge(ln))
		routes_job_schedule(ln);
	spin_lock(&ln->shard[0].lock);
	/* A router may have gained interfaces after its first route was added. */
	list_for_each_entry(gw, &ln->routes->gateways, link)
		list_for_each_entry(hop, &gw->pni->peer->pnis, link)
			if (!hop->gw)
				hop->gw = LNET_GW_UP;
	unwanted = lnet_routes_mark_unwanted(ln, &marked);
	spin_unlock(&ln->shard[0].lock);
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		sync_peer(peer);
	if (unwanted || !list_empty(&ln->routes->dying)) {
		if (walk_gone(ln, marked))
			routes_reap(ln, NULL);
		/*
		 * If routes_reap() freed the paths to an interface, another route may need a path
		 * to it.
		 */
		routes_job_schedule(ln);
	}
}

void lnet_routes_learned(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len)
{
	if (list_empty(&p->ln->routes->gateways))
		return;
	if (!lnet_gateway_of(p->ln, peer)) {
		sync_peer(peer);
		return;
	}
	lnet_enter(p, peer->sh);
	lnet_gateway_update(p, peer, info, len);
	lnet_leave(p);
	lnet_routes_sync(p->ln);
}

u64 lnet_routes_next_ns(const struct lnet *ln)
{
	return ln->routes ? READ_ONCE(ln->routes->job_ns) : U64_MAX;
}

/*
 * Does not wait for cfg_mutex. In lnet_cfg_wait(), a thread that already has cfg_mutex calls this
 * function. In the worker, another thread that has cfg_mutex may be waiting for the worker.
 */
void lnet_routes_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;

	if (p->now_ns < lnet_routes_next_ns(ln))
		return;
	WRITE_ONCE(ln->routes->job_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (!mutex_trylock(&ln->cfg_mutex)) {
		routes_job_schedule(ln);
		return;
	}
	lnet_leave(p);
	lnet_routes_sync(ln);
	mutex_unlock(&ln->cfg_mutex);
}
