/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: look-up by net, router and NID, and the paths through routers.
 *
 * If no route permits a path any more, the path is marked as gone at once, and selection ignores
 * it. When the path is idle, it is detached.
 */
#include "shard/shard.h"
#include "topology/topology.h"

bool lnet_net_is_local(const struct lnet *ln, u32 net)
{
	const struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link)
		if (ni->net == net)
			return true;
	return false;
}

bool lnet_nid_is_gateway(const struct lnet *ln, const struct lnet_nid *nid)
{
	const struct lnet_route *route;

	list_for_each_entry(route, &ln->routes->list, link)
		if (lnet_nid_same(&route->named->nid, nid))
			return true;
	return false;
}

unsigned int lnet_routes_hops(const struct lnet *ln, u32 net)
{
	const struct lnet_route *route;
	unsigned int least = 0;

	list_for_each_entry(route, &ln->routes->list, link) {
		unsigned int hops = route->hops > 0 ? (unsigned int)route->hops : 1;

		if (route->net == net)
			least = least ? min(least, hops) : hops;
	}
	return least;
}

struct lnet_route *lnet_route_find(const struct lnet *ln, u32 net, const struct lnet_peer *peer)
{
	struct lnet_route *route;

	list_for_each_entry(route, &ln->routes->list, link)
		if (route->net == net && route->named->peer == peer)
			return route;
	return NULL;
}

struct lnet_gateway *lnet_gateway_of(const struct lnet *ln, const struct lnet_peer *peer)
{
	struct lnet_gateway *gw;

	list_for_each_entry(gw, &ln->routes->gateways, link)
		if (gw->pni->peer == peer)
			return gw;
	return NULL;
}

bool lnet_routes_need(const struct lnet_peer_ni *pni)
{
	const struct lnet_routes *routes = pni->ln->routes;
	const struct lnet_gateway *gw;
	const struct lnet_route *route;

	list_for_each_entry(gw, &routes->gateways, link)
		if (gw->pni == pni)
			return true;
	list_for_each_entry(route, &routes->dying, link)
		if (route->named == pni)
			return true;
	return lnet_nid_is_gateway(pni->ln, &pni->nid);
}

/* ---- paths through routers ------------------------------------------------------------------- */

/*
 * True if @pni is an interface of the router itself. No path through a router may lead to such an
 * interface.
 */
static bool is_its_own(const struct lnet_gateway *gw, const struct lnet_peer_ni *pni)
{
	return gw->pni->peer == pni->peer || lnet_gateway_entry(gw, &pni->nid);
}

/*
 * True if @route may use the router's interface @hop. If the router is not multi-rail, only the
 * interface that the route names is used.
 */
static bool leads_by(const struct lnet_route *route, const struct lnet_peer_ni *hop)
{
	return !hop->deleted && (hop->peer->mr || hop == route->named);
}

/* Does lnet_routes_attach() for the router's interface @hop. */
static unsigned int attach_hop(struct lnet_peer_ni *pni, struct lnet_peer_ni *hop,
			       struct lnet_route *route, struct list_head *spare)
{
	struct lnet_path *first_hop, *path;
	unsigned int nr = 0;

	list_for_each_entry(first_hop, &hop->paths, link) {
		if (lnet_path_is_routed(first_hop) || lnet_path_via(pni, first_hop->ni, hop))
			continue;
		nr++;
		if (!spare)
			continue;
		path = list_first_entry(spare, struct lnet_path, link);
		lnet_ni_get(first_hop->ni);
		lnet_peer_ni_hold(hop);
		path->ni = first_hop->ni;
		path->pni = pni;
		path->hop = hop;
		path->first_hop = first_hop;
		path->route = route;
		path->ix = lnet_path_ix_take(pni->peer);
		lnet_udsp_path(pni->ln, path);
		list_add_tail(&path->gw_link, &first_hop->gw_paths);
		list_move_tail(&path->link, &pni->paths);
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

/* ---- removal --------------------------------------------------------------------------------- */

/*
 * [sh 0] Calls @fn for all paths through the router's interface @hop; @fn may detach the path.
 * True: at least one call returned true.
 */
static bool for_carried(struct lnet_peer_ni *hop, bool (*fn)(struct lnet_path *path, void *arg),
			void *arg)
{
	struct lnet_path *first_hop, *path, *next;
	bool any = false;

	list_for_each_entry(first_hop, &hop->paths, link) {
		if (lnet_path_is_routed(first_hop))
			continue;
		list_for_each_entry_safe(path, next, &first_hop->gw_paths, gw_link)
			any |= fn(path, arg);
	}
	return any;
}

/* [cfg, sh 0] Does for_carried() for each interface of each gateway. */
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

bool lnet_routes_mark_hop(struct lnet_peer_ni *hop)
{
	bool marked;

	return for_carried(hop, mark_unwanted, &marked);
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
