/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: which routers lead to nets that this node has no interface on, and whether they do now.
 *
 * A route names a net and a router. For each interface of a peer on that net there is a path by
 * each pair of an own interface and one of the router's (struct lnet_path). Routers, and peers that
 * have such paths, live in shard 0, so that one lock covers a choice among them.
 */
#ifndef LNET_ROUTE_H
#define LNET_ROUTE_H

#include "model/core.h"

/* ---- route_config.c -------------------------------------------------------------------------- */
int lnet_routes_init(struct lnet *ln);
void lnet_routes_fini(struct lnet *ln);		/* nothing is under way any more */
/* shard or cfg held; some route leads to @net */
bool lnet_routes_have(const struct lnet *ln, u32 net);
/* shard or cfg held; some route names @nid as its gateway */
bool lnet_routes_lead_by(const struct lnet *ln, const struct lnet_nid *nid);
/* cfg held; a route or the check of a router refers to @pni */
bool lnet_routes_need(const struct lnet_peer_ni *pni);
/*
 * lnet_route_add(), which also succeeds if this node has no interface on the gateway's net: the
 * interface may have been deleted after the route was added, or may be awaited. The route is down
 * until there is one. Context and errors as lnet_route_add(), without -EHOSTUNREACH.
 */
int lnet_route_restore(struct lnet *ln, const struct lnet_route_cfg *cfg);
/* shard or cfg held: hops to @net by the best route, 1 if not told; 0: there is none */
unsigned int lnet_routes_hops(const struct lnet *ln, u32 net);
/* shard or cfg held; the peer is a router */
bool lnet_routes_name(const struct lnet *ln, const struct lnet_peer *peer);
/* cfg_mutex held, dying, no path has it: frees it; false: its router's check must end before */
bool lnet_route_end(struct lnet_route *route);
/* cfg_mutex held: routers whose records became one have one gateway; false: not yet all */
bool lnet_gateways_merge(struct lnet *ln);
/* [sh] the route that it came by, @rx->from's to the net of @rx->src_nid, is one of ours */
bool lnet_route_leads(const struct lnet_rx *rx);
/* [sh] @net has an interface here */
bool lnet_net_is_local(const struct lnet *ln, u32 net);
/* [sh 0] the gateway that has @pni, or NULL */
struct lnet_gateway *lnet_gateway_of(const struct lnet *ln, const struct lnet_peer *peer);
/*
 * route_table.c; cfg or a shard held: the route to @net by @peer, or NULL. If the entries of a
 * router become one, they have one peer.
 */
struct lnet_route *lnet_route_find(const struct lnet *ln, u32 net, const struct lnet_peer *peer);

/* ---- route_path.c ---------------------------------------------------------------------------- */
/*
 * cfg_mutex held: routes, interfaces, or peers have changed; paths through routers follow. What
 * must wait for something is done later, by the worker.
 */
void lnet_routes_sync(struct lnet *ln);
/*
 * cfg_mutex held, @p holds no lock: what @peer said of itself has been taken. If it is a router it
 * is judged anew; paths by its interfaces, or to them, follow.
 */
void lnet_routes_learned(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/* cfg_mutex held: the same of one peer, which got or lost interfaces or is multi-rail now */
void lnet_routes_sync_peer(struct lnet_peer *peer);
/* cfg_mutex held: no path by @hop is left afterwards */
void lnet_routes_leave_hop(struct lnet_peer_ni *hop);
/* cfg_mutex held: waits until nothing that is gone is left */
void lnet_routes_drain(struct lnet *ln);
/* [sh of pni] how many paths through routers it lacks; makes them of what is in @spare */
unsigned int lnet_routes_missing(const struct lnet_peer_ni *pni);
void lnet_routes_attach(struct lnet_peer_ni *pni, struct list_head *spare);
/* worker of shard 0, no lock held: what could not be moved before is tried again */
void lnet_routes_work(struct lnet_pass *p);
u64 lnet_routes_next_ns(const struct lnet *ln);

/* ---- gateway.c ------------------------------------------------------------------------------- */
/* [sh 0] the router is known to have an interface on @net */
bool lnet_gateway_is_on(const struct lnet_gateway *gw, u32 net);
/*
 * [sh of rx->from] True if a gateway sent @rx, by any of its NIDs. May release and take the lock. A
 * gateway may use a new NID before it is proven, so a NID in the last ping info suffices.
 */
bool lnet_gateway_sent(struct lnet_pass *p, const struct lnet_rx *rx);
/* [sh of rx->from] a message came from or through a router */
void lnet_gateway_heard(struct lnet_pass *p, struct lnet_rx *rx, bool own_word);
/* [sh 0] A router's connections by one of its interfaces broke: it is asked soon, and met anew. */
void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh 0] It cannot pass on what went by @via: other routers are better, until it is asked. */
void lnet_gateway_refused(struct lnet_pass *p, struct lnet_path *via);
/*
 * Config: somebody else noticed at @when_s (seconds since 1970) that the router with the interface
 * @gateway is @up. What is older than what was told before counts for nothing, and so does a NID
 * that is no router's. Until the router answers, or is silent, the next time. 0, -EINVAL: of no net
 * of this node.
 */
int lnet_route_notify(struct lnet *ln, const struct lnet_nid *gateway, bool up, s64 when_s);
/* cfg_mutex held, no shard: @gw is new, or has a new route: it is checked at once */
void lnet_gateway_start(struct lnet_gateway *gw, struct lnet_route *route);
/* cfg_mutex held, no shard: there will be no check; false: one is under way */
bool lnet_gateway_stop(struct lnet_gateway *gw);
void lnet_gateway_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh 0] */
/*
 * [sh 0] @peer said what it is (REPLY to a ping, or a push): the raw info. Nothing, if it is no
 * router.
 */
void lnet_gateway_said(struct lnet_pass *p, struct lnet_peer *peer, const u8 *info, u32 len);
/* [sh 0] a check of @gw over @net got no answer */
void lnet_gateway_silent(struct lnet_pass *p, struct lnet_gateway *gw, u32 net);

#endif
