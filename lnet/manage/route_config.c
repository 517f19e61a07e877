/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configured routes: adds, deletes and reports them, as stock LNet does. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"
#include "manage/manage.h"

#define HOPS_MAX 255

/* ---- adding ---------------------------------------------------------------------------------- */

static bool is_net(u32 net)
{
	return net != lnet_nid_net(&LNET_NID_ANY) && net != lnet_nid_net(&LNET_NID_LO);
}

/* cfg_mutex held. */
static int route_cfg_check(struct lnet *ln, const struct lnet_route_cfg *cfg)
{
	u32 local = lnet_nid_net(&cfg->gateway);

	if (READ_ONCE(ln->stopping))
		return -ESHUTDOWN;
	if (lnet_nid_is_any(&cfg->gateway) || !lnet_nid_is_sane(&cfg->gateway) || !is_net(local) ||
	    !is_net(cfg->net) || cfg->net == local)
		return -EINVAL;
	if (cfg->hops != -1 && (cfg->hops < 1 || cfg->hops > HOPS_MAX))
		return -EINVAL;
	if (lnet_net_is_local(ln, cfg->net))
		return -EEXIST;
	return lnet_nid_is_local(ln, &cfg->gateway) ? -EINVAL : 0;
}

static struct lnet_route *route_new(const struct lnet_route_cfg *cfg, struct lnet_peer_ni *pni)
{
	struct lnet_route *route = kzalloc(sizeof(*route), GFP_KERNEL);

	if (!route)
		return NULL;
	route->net = cfg->net;
	route->hops = cfg->hops;
	route->priority = cfg->priority;
	route->named = pni;
	lnet_peer_ni_hold(pni);
	INIT_LIST_HEAD(&route->link);
	return route;
}

static int add_by(struct lnet *ln, const struct lnet_route_cfg *cfg, struct lnet_peer_ni *pni)
{
	struct lnet_route *route;
	struct lnet_gateway *gw;
	int err = -ENOMEM;

	if (lnet_route_find(ln, cfg->net, pni->peer))
		return -EEXIST;
	route = route_new(cfg, pni);
	gw = route ? lnet_gateway_get(ln, pni, &err) : NULL;
	if (!gw) {
		if (route)
			lnet_route_free(route);
		return err;
	}
	gw->nr_routes++;
	route->gw = gw;
	lnet_shards_lock_all(ln);
	list_add_tail(&route->link, &ln->routes->list);
	ln->routes->nr++;
	WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	lnet_shards_unlock_all(ln);
	lnet_gateway_start(gw, route);
	lnet_routes_sync(ln);
	return 0;
}

/* cfg_mutex held. */
static int route_add_checked(struct lnet *ln, const struct lnet_route_cfg *cfg)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_want(ln, &cfg->gateway, NULL);
	int err = pni ? add_by(ln, cfg, pni) : -ENOMEM;

	lnet_peer_ni_put(pni);
	return err;
}

int lnet_route_add(struct lnet *ln, const struct lnet_route_cfg *cfg)
{
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = route_cfg_check(ln, cfg);
	if (!err && !lnet_net_is_local(ln, lnet_nid_net(&cfg->gateway)))
		err = -EHOSTUNREACH;
	if (!err)
		err = route_add_checked(ln, cfg);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

int lnet_route_restore(struct lnet *ln, const struct lnet_route_cfg *cfg)
{
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = route_cfg_check(ln, cfg);
	if (!err)
		err = route_add_checked(ln, cfg);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- deleting -------------------------------------------------------------------------------- */

int lnet_route_del(struct lnet *ln, uint32_t net, const struct lnet_nid *gateway)
{
	struct lnet_route *route = NULL;
	struct lnet_peer_ni *pni;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, gateway);
	if (pni)
		route = lnet_route_find(ln, net, pni->peer);
	if (route) {
		lnet_route_retire(route);
		lnet_routes_sync(ln);
		lnet_routes_drain(ln);
	}
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return route ? 0 : -ENOENT;
}

/* ---- reporting ------------------------------------------------------------------------------- */

/* [sh 0] True if some path through @route may be selected. */
static bool is_up(const struct lnet_route *route)
{
	const struct lnet_peer_ni *hop;
	const struct lnet_path *first_hop;

	list_for_each_entry(hop, &route->named->peer->pnis, link) {
		if (hop->gw != LNET_GW_UP)
			continue;
		list_for_each_entry(first_hop, &hop->paths, link)
			if (!lnet_path_is_routed(first_hop) && !first_hop->down_ns)
				return route->up;
	}
	return false;
}

int lnet_route_get(struct lnet *ln, unsigned int pos, struct lnet_route_info *info)
{
	const struct lnet_route *route;
	int err = -ENOENT;

	spin_lock(&ln->shard[0].lock);
	list_for_each_entry(route, &ln->routes->list, link) {
		if (pos--)
			continue;
		info->cfg.net = route->net;
		info->cfg.gateway = route->named->nid;
		info->cfg.hops = route->hops;
		info->cfg.priority = route->priority;
		info->up = is_up(route);
		info->multi_hop = !lnet_gateway_is_on(route->gw, route->net);
		err = 0;
		break;
	}
	spin_unlock(&ln->shard[0].lock);
	return err;
}

/* ---- start and stop of the node -------------------------------------------------------------- */

int lnet_routes_init(struct lnet *ln)
{
	ln->routes = kzalloc(sizeof(*ln->routes), GFP_KERNEL);
	if (!ln->routes)
		return -ENOMEM;
	INIT_LIST_HEAD(&ln->routes->list);
	INIT_LIST_HEAD(&ln->routes->dying);
	INIT_LIST_HEAD(&ln->routes->gateways);
	ln->routes->job_ns = U64_MAX;
	return 0;
}

void lnet_routes_fini(struct lnet *ln)
{
	struct lnet_route *route;
	struct lnet_gateway *gw;

	if (!ln->routes)
		return;
	mutex_lock(&ln->cfg_mutex);
	list_splice_init(&ln->routes->dying, &ln->routes->list);
	while (!list_empty(&ln->routes->list)) {
		route = list_first_entry(&ln->routes->list, struct lnet_route, link);
		list_del(&route->link);
		lnet_route_free(route);
	}
	while (!list_empty(&ln->routes->gateways)) {
		gw = list_first_entry(&ln->routes->gateways, struct lnet_gateway, link);
		gw->nr_routes = 0;
		lnet_gateway_put(gw);
	}
	mutex_unlock(&ln->cfg_mutex);
	kfree(ln->routes);
	ln->routes = NULL;
}
