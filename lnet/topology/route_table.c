/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of routes: look-up by net, by router and by NID. */
#include <lnet/lnet.h>
#include "topology/topology.h"

bool lnet_net_is_local(const struct lnet *ln, u32 net)
{
	const struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link)
		if (ni->net == net)
			return true;
	return false;
}

bool lnet_routes_have(const struct lnet *ln, u32 net)
{
	return lnet_routes_hops(ln, net) > 0;
}

bool lnet_routes_lead_by(const struct lnet *ln, const struct lnet_nid *nid)
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

bool lnet_route_leads(const struct lnet_rx *rx)
{
	return lnet_route_find(rx->ni->ln, lnet_nid_net(&rx->src_nid), rx->from->peer);
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
	return lnet_routes_lead_by(pni->ln, &pni->nid);
}
