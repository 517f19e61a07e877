/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of gateways, computed from their last ping info, and from messages that they send or
 * forward.
 */
#include <lnet/hash.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"

/* delay of a gateway check after the gateway responded again, or a connection to it was lost */
#define SOON_NS		(10 * (u64)NSEC_PER_MSEC)
/* delay of a gateway check after the gateway could not forward a message */
#define REFUSED_NS	(100 * (u64)NSEC_PER_MSEC)

/* ---- ping info of a gateway ------------------------------------------------------------------ */

const struct lnet_pinginfo_ni *lnet_gateway_entry(const struct lnet_gateway *gw,
						  const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < gw->info.nr; i++)
		if (lnet_nid_same(&gw->nis[i].nid, nid))
			return &gw->nis[i];
	return NULL;
}

/*
 * State of a net at a router. UNKNOWN: the router lists no interface on the net; UP: an interface
 * that it lists there is up.
 */
enum { NET_UNKNOWN, NET_DOWN, NET_UP };
static unsigned int gateway_net_state(const struct lnet_gateway *gw, u32 net)
{
	unsigned int i, state = NET_UNKNOWN;

	for (i = 0; i < gw->info.nr && state != NET_UP; i++)
		if (lnet_nid_net(&gw->nis[i].nid) == net)
			state = gw->nis[i].status == LNET_NI_UP ? NET_UP : NET_DOWN;
	return state;
}

bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net)
{
	const struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &gw->pni->peer->pnis, link)
		if (pni->net == net && !pni->deleted)
			return true;
	return gateway_net_state(gw, net) != NET_UNKNOWN;
}

/*
 * If the router lists no interface on the net of @route, further routers may follow on the route.
 * So the route may reach the net, unless the route has one hop.
 */
bool lnet_gateway_reaches(const struct lnet_gateway *gw, const struct lnet_route *route)
{
	unsigned int net = gateway_net_state(gw, route->net);

	if (gw->info.features & LNET_FEAT_RTE_DISABLED)
		return false;
	if (!READ_ONCE(gw->ln->tun.avoid_asym_router_failure))
		return true;
	return net == NET_UP || (net == NET_UNKNOWN && route->hops != 1);
}

bool lnet_gateway_replaced(const struct lnet_gateway *gw, const struct lnet_peer_ni *hop)
{
	return gw->lists_hop && !lnet_gateway_entry(gw, &hop->nid);
}

void lnet_gateway_hops_review(struct lnet_gateway *gw)
{
	const struct lnet_peer_ni *hop;
	const struct lnet_path *path;

	gw->lists_hop = 0;
	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		if (!gw->complete || hop->deleted || !lnet_gateway_entry(gw, &hop->nid))
			continue;
		list_for_each_entry(path, &hop->paths, link)
			gw->lists_hop |= !lnet_path_is_routed(path);
	}
}

/*
 * Sets the state of each route through @gw, and of each interface of @gw. True: all are up, except
 * interfaces that the router no longer lists.
 */
static bool gateway_update_routes(struct lnet_gateway *gw)
{
	const struct lnet_pinginfo_ni *said;
	struct lnet_route *route;
	struct lnet_peer_ni *hop;
	bool all = true;

	list_for_each_entry(route, &gw->ln->routes->list, link) {
		if (route->gw != gw)
			continue;
		route->up = lnet_gateway_reaches(gw, route);
		all &= route->up;
	}
	lnet_gateway_hops_review(gw);
	list_for_each_entry(hop, &gw->pni->peer->pnis, link) {
		said = lnet_gateway_entry(gw, &hop->nid);
		hop->gw = lnet_gateway_replaced(gw, hop) ||
			  (said && said->status == LNET_NI_DOWN) ? LNET_GW_DOWN : LNET_GW_UP;
		all &= !said || hop->gw == LNET_GW_UP;
	}
	return all;
}

void lnet_gateway_update(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len)
{
	struct lnet_gateway *gw = lnet_gateway_of(p->ln, peer);
	u64 hash = lnet_hash_bytes(info, len, 1);
	unsigned int nr;
	int err;

	if (!gw)
		return;
	gw->rejected = 0;
	nr = gw->info.nr;
	if (!gw->known || hash != gw->hash)
		gw->doubts = 0;
	gw->hash = hash;
	err = lnet_pinginfo_decode(&gw->info, info, len, gw->nis, ARRAY_SIZE(gw->nis));
	/* the node uses a truncated ping info; after an invalid one, gw->info has no entries */
	gw->known = !err || err == -EMSGSIZE || err == -ENOBUFS;
	gw->complete = !err;
	if (!gw->known)
		return;
	gw->doubts = gateway_update_routes(gw) ? 0 : gw->doubts + 1;
	/*
	 * No path through the router may lead to its own interfaces, so the worker checks the
	 * paths.
	 */
	if (nr != gw->info.nr)
		lnet_job_schedule(p->ln, &p->ln->routes->job_ns, p->now_ns);
}

void lnet_gateway_unresponsive(struct lnet_gateway *gw, u32 net)
{
	struct lnet_peer_ni *hop;

	list_for_each_entry(hop, &gw->pni->peer->pnis, link)
		if (hop->net == net)
			hop->gw = LNET_GW_UNRESPONSIVE;
}

/* ---- liveness and checks --------------------------------------------------------------------- */

void lnet_gateway_check_by(struct lnet_pass *p, struct lnet_gateway *gw, u64 when_ns)
{
	if (list_empty(&gw->timer.link) || when_ns < gw->timer.when_ns)
		lnet_timer_set(&p->sh->wheel, &gw->timer, when_ns);
}

bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx)
{
	const struct lnet_gateway *gw;
	bool is = false;

	if (likely(rx->from->gw))
		return true;
	if (list_empty(&p->ln->routes->gateways))
		return false;
	lnet_enter(p, &p->ln->shard[0]);
	list_for_each_entry(gw, &p->ln->routes->gateways, link)
		is |= lnet_gateway_entry(gw, &rx->from->nid) != NULL;
	lnet_enter_pni(p, rx->from);
	return is;
}

void lnet_gateway_alive(struct lnet_pass *p, struct lnet_rx *rx, bool by_router)
{
	bool through = !by_router && !lnet_nid_same(&rx->src_nid, &rx->from->nid);
	struct lnet_peer_ni *hop = rx->from;
	struct lnet_gateway *gw;
	struct lnet_route *route;

	if (likely(!through && hop->gw != LNET_GW_UNRESPONSIVE))
		return;
	gw = lnet_gateway_of(p->ln, hop->peer);
	if (!gw)
		return;
	if (hop->gw != LNET_GW_UP)
		lnet_gateway_check_by(p, gw, p->now_ns + SOON_NS);
	hop->gw = LNET_GW_UP;
	if (!through)
		return;
	/* The router forwards from the net of the source, even if its ping info differs. */
	list_for_each_entry(route, &p->ln->routes->list, link)
		if (route->gw == gw && route->net == lnet_nid_net(&rx->src_nid))
			route->up = 1;
}

/*
 * After a connection to a router was lost: the router may have restarted, and may then know no
 * peer.
 */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_gateway *gw = lnet_gateway_of(p->ln, peer);

	if (!gw)
		return;
	gw->discovered = 0;
	lnet_gateway_check_by(p, gw, p->now_ns + SOON_NS);
}

void lnet_gateway_rejected(struct lnet_pass *p, struct lnet_path *via)
{
	lockdep_assert_held(&p->sh->lock);
	if (!via->route)
		return;
	via->route->up = 0;
	via->route->gw->rejected = 1;
	lnet_gateway_check_by(p, via->route->gw, p->now_ns + REFUSED_NS);
}
