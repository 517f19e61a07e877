/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths through routers: made and taken away as routes, interfaces and peers come and go.
 *
 * What is no longer wanted is marked as gone at once, and not chosen any more; it ends when nothing
 * is under way on it.
 */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"
#include "manage/manage.h"

#define AGAIN_NS	(100 * (u64)NSEC_PER_MSEC)	/* what could not be done now */

/* ---- which paths there are to be ------------------------------------------------------------- */

/* What a router has itself, it does not forward. */
static bool is_its_own(const struct lnet_gateway *gw, const struct lnet_peer_ni *pni)
{
	unsigned int i;

	if (gw->pni->peer == pni->peer)
		return true;
	for (i = 0; gw->known && i < gw->info.nr; i++)
		if (lnet_nid_same(&gw->nis[i].nid, &pni->nid))
			return true;
	return false;
}

/* Whoever is not multi-rail has one name only. */
static bool leads_by(const struct lnet_route *route, const struct lnet_peer_ni *hop)
{
	return !hop->deleted && (hop->peer->mr || hop == route->named);
}

static struct lnet_path *path_by(const struct lnet_peer_ni *pni, const struct lnet_path *trunk)
{
	struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (path->trunk == trunk)
			return path;
	return NULL;
}

/* Makes a path for @pni by @trunk out of one of @spare; NULL: there is none left. */
static void attach(struct lnet_peer_ni *pni, struct lnet_path *trunk, struct lnet_route *route,
		   struct list_head *spare)
{
	struct lnet_path *path = list_first_entry(spare, struct lnet_path, link);

	lnet_ni_get(trunk->ni);
	lnet_peer_ni_hold(trunk->pni);
	path->ni = trunk->ni;
	path->pni = pni;
	path->hop = trunk->pni;
	path->trunk = trunk;
	path->route = route;
	path->ix = lnet_path_ix_take(pni->peer);
	lnet_udsp_path(pni->ln, path);
	list_add_tail(&path->carry, &trunk->carried);
	list_move_tail(&path->link, &pni->paths);
}

/* By one interface of a router. @spare NULL: only counts what is missing. */
static unsigned int attach_hop(struct lnet_peer_ni *pni, struct lnet_peer_ni *hop,
			       struct lnet_route *route, struct list_head *spare)
{
	struct lnet_path *trunk;
	unsigned int nr = 0;

	list_for_each_entry(trunk, &hop->paths, link) {
		if (lnet_path_routed(trunk) || path_by(pni, trunk))
			continue;
		nr++;
		if (spare)
			attach(pni, trunk, route, spare);
	}
	return nr;
}

static unsigned int attach_all(struct lnet_peer_ni *pni, struct list_head *spare)
{
	struct lnet_routes *routes = pni->ln->routes;
	struct lnet_route *route;
	struct lnet_peer_ni *hop;
	unsigned int nr = 0;

	lockdep_assert_held(&pni->sh->lock);
	if (!routes || list_empty(&routes->list) || pni->sh != &pni->ln->shard[0])
		return 0;
	list_for_each_entry(route, &routes->list, link) {
		if (route->net != pni->net || is_its_own(route->gw, pni))
			continue;
		list_for_each_entry(hop, &route->named->peer->pnis, link)
			if (leads_by(route, hop))
				nr += attach_hop(pni, hop, route, spare);
	}
	return nr;
}

unsigned int lnet_routes_missing(const struct lnet_peer_ni *pni)
{
	return attach_all((struct lnet_peer_ni *)pni, NULL);
}

void lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare)
{
	attach_all(pni, spare);
}

/* ---- taking away ----------------------------------------------------------------------------- */

/* [sh 0] Calls @fn for each path that @hop carries; it may detach that one. */
static bool for_carried(struct lnet_peer_ni *hop, bool (*fn)(struct lnet_path *path, void *arg),
			void *arg)
{
	struct lnet_path *trunk, *path, *next;
	bool any = false;

	list_for_each_entry(trunk, &hop->paths, link) {
		if (lnet_path_routed(trunk))
			continue;
		list_for_each_entry_safe(path, next, &trunk->carried, carry)
			any |= fn(path, arg);
	}
	return any;
}

/* The same for all that routers carry; cfg_mutex held, and shard 0. */
static bool for_all_carried(struct lnet *ln, bool (*fn)(struct lnet_path *path, void *arg),
			    void *arg)
{
	struct lnet_gateway *gw;
	struct lnet_peer_ni *hop;
	bool any = false;

	list_for_each_entry(gw, &ln->routes->gateways, link)
		list_for_each_entry(hop, &gw->pni->peer->pnis, link)
			any |= for_carried(hop, fn, arg);
	return any;
}

static bool mark_unwanted(struct lnet_path *path, void *arg)
{
	(void)arg;
	if (path->route->gone || !leads_by(path->route, path->hop) ||
	    is_its_own(path->route->gw, path->pni))
		path->gone = 1;
	return path->gone;
}

static bool is_gone(struct lnet_path *path, void *arg)
{
	struct list_head *gone = arg;

	if (!path->gone)
		return false;
	if (!lnet_path_is_idle(path))
		return true;
	lnet_path_detach(path, gone);
	lnet_path_ix_recount(path->pni->peer);
	return false;
}

static bool has_route(struct lnet_path *path, void *arg)
{
	return path->route == arg;
}

/* cfg_mutex held, shard 0 locked: a route that is gone and that no path has any more, or NULL. */
static struct lnet_route *finished_route(struct lnet *ln)
{
	struct lnet_route *route;

	list_for_each_entry(route, &ln->routes->dying, link)
		if (!for_all_carried(ln, has_route, route))
			return route;
	return NULL;
}

/* What waits for a credit chooses again; @force: so does what is out, as far as it may. */
static void leave_gone(struct lnet *ln, bool force)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_ops_leave_gone(&p, force);
	lnet_pass_end(&p);
}

/* Ends what is gone and idle. True: nothing that is gone is left. */
static bool reap(struct lnet *ln, void *arg)
{
	struct lnet_route *route;
	LIST_HEAD(gone);
	bool left;

	(void)arg;
	spin_lock(&ln->shard[0].lock);
	left = for_all_carried(ln, is_gone, &gone);
	spin_unlock(&ln->shard[0].lock);
	lnet_paths_free(&gone);
	do {
		spin_lock(&ln->shard[0].lock);
		route = finished_route(ln);
		spin_unlock(&ln->shard[0].lock);
	} while (route && lnet_route_end(route));
	return !left && list_empty(&ln->routes->dying);
}

void lnet_routes_drain(struct lnet *ln)
{
	leave_gone(ln, false);
	if (lnet_cfg_wait(ln, reap, NULL, READ_ONCE(ln->tun.drain_time)))
		return;
	leave_gone(ln, true);
	lnet_cfg_wait(ln, reap, NULL, U64_MAX);
}

static bool mark_any(struct lnet_path *path, void *arg)
{
	(void)arg;
	path->gone = 1;
	return true;
}

void lnet_routes_leave_hop(struct lnet_peer_ni *hop)
{
	bool any;

	spin_lock(&hop->sh->lock);
	any = for_carried(hop, mark_any, NULL);
	spin_unlock(&hop->sh->lock);
	if (any)
		lnet_routes_drain(hop->ln);
}

/* ---- following changes ----------------------------------------------------------------------- */

static void look_again(struct lnet *ln)
{
	lnet_look_by(ln, &ln->routes->look_ns, ln->env->ops->now_ns(ln->env) + AGAIN_NS);
}

/* 0; -EBUSY, -ENOMEM: it is to be tried again. */
static int sync_pni(struct lnet_peer_ni *pni)
{
	LIST_HEAD(spare);
	int err = lnet_peer_anchor(pni->peer, false);

	if (err || lnet_paths_withheld(pni))
		return err;
	err = lnet_paths_lock(pni, &spare);
	if (!err)
		lnet_paths_attach(pni, &spare);
	spin_unlock(&pni->sh->lock);
	lnet_paths_free(&spare);
	return err;
}

void lnet_routes_sync_peer(struct lnet_peer *peer)
{
	struct lnet *ln = peer->ln;
	struct lnet_peer_ni *pni;

	if (!ln->routes->nr)
		return;
	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && lnet_routes_have(ln, pni->net) && sync_pni(pni))
			look_again(ln);
}

/* A router may have interfaces that it had not when its first route was made. */
static void mark_hops(struct lnet_gateway *gw)
{
	struct lnet_peer_ni *hop;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link)
		if (!hop->gw)
			hop->gw = LNET_GW_UP;
}

void lnet_routes_sync(struct lnet *ln)
{
	struct lnet_gateway *gw;
	struct lnet_peer *peer;
	bool unwanted;

	if (list_empty(&ln->routes->gateways))
		return;
	if (!lnet_gateways_merge(ln))
		look_again(ln);
	spin_lock(&ln->shard[0].lock);
	list_for_each_entry(gw, &ln->routes->gateways, link)
		mark_hops(gw);
	unwanted = for_all_carried(ln, mark_unwanted, NULL);
	spin_unlock(&ln->shard[0].lock);
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		lnet_routes_sync_peer(peer);
	if (unwanted || !list_empty(&ln->routes->dying)) {
		leave_gone(ln, false);
		reap(ln, NULL);
		look_again(ln);		/* another route may need a path where one ended */
	}
}

void lnet_routes_learned(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len)
{
	if (list_empty(&p->ln->routes->gateways))
		return;
	if (!lnet_routes_name(p->ln, peer)) {
		lnet_routes_sync_peer(peer);
		return;
	}
	lnet_enter(p, peer->sh);
	lnet_gateway_said(p, peer, info, len);
	lnet_leave(p);
	lnet_routes_sync(p->ln);
}

u64 lnet_routes_next_ns(const struct lnet *ln)
{
	return ln->routes ? READ_ONCE(ln->routes->look_ns) : U64_MAX;
}

/* By trying only: who owns the mutex may wait in this very thread for what the worker does. */
void lnet_routes_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;

	if (p->now_ns < lnet_routes_next_ns(ln))
		return;
	WRITE_ONCE(ln->routes->look_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (!mutex_trylock(&ln->cfg_mutex)) {
		look_again(ln);
		return;
	}
	lnet_leave(p);
	lnet_routes_sync(ln);
	mutex_unlock(&ln->cfg_mutex);
}
