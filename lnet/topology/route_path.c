/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths through routers: made and taken away as routes, interfaces and peers come and go.
 *
 * What is no longer wanted is marked as gone at once, and not chosen any more; it ends when nothing
 * is under way on it.
 */
#include "shard/shard.h"
#include "topology/topology.h"

/* ---- which paths there are to be ------------------------------------------------------------- */

/* What a router has itself, it does not forward. */
static bool is_its_own(const struct lnet_gateway *gw, const struct lnet_peer_ni *pni)
{
	return gw->pni->peer == pni->peer || lnet_gateway_lists(gw, &pni->nid);
}

/* Whoever is not multi-rail has one name only. */
static bool leads_by(const struct lnet_route *route, const struct lnet_peer_ni *hop)
{
	return !hop->deleted && (hop->peer->mr || hop == route->named);
}

/* Makes a path for @pni by @trunk out of the first of @spare. */
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
		if (lnet_path_routed(trunk) || lnet_path_via(pni, trunk->ni, hop))
			continue;
		nr++;
		if (spare)
			attach(pni, trunk, route, spare);
	}
	return nr;
}

unsigned int lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare)
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

static bool mark_unwanted(struct lnet_path *path, void *marked)
{
	if (!path->gone && (path->route->gone || !leads_by(path->route, path->hop) ||
			    is_its_own(path->route->gw, path->pni))) {
		path->gone = 1;
		*(bool *)marked = true;
	}
	return path->gone;
}

bool lnet_routes_mark_unwanted(struct lnet *ln, bool *marked)
{
	*marked = false;
	return for_all_carried(ln, mark_unwanted, marked);
}

static bool mark_any(struct lnet_path *path, void *arg)
{
	(void)arg;
	path->gone = 1;
	return true;
}

bool lnet_routes_mark_hop(struct lnet_peer_ni *hop)
{
	return for_carried(hop, mark_any, NULL);
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

bool lnet_routes_detach_gone(struct lnet *ln, struct list_head *gone)
{
	return for_all_carried(ln, is_gone, gone);
}

static bool has_route(struct lnet_path *path, void *arg)
{
	return path->route == arg;
}

struct lnet_route *lnet_routes_finished(struct lnet *ln)
{
	struct lnet_route *route;

	list_for_each_entry(route, &ln->routes->dying, link)
		if (!for_all_carried(ln, has_route, route))
			return route;
	return NULL;
}
