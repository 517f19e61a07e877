/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: which routers reach remote nets, and whether each route is up.
 *
 * A route names a remote net and a router. A path over the route (struct lnet_path) has three ends:
 * a local interface, an interface of the router, and a peer interface on the remote net. Each such
 * combination is one path. Routers, and peers that have such paths, are in shard 0, so one lock
 * covers the choice among routers.
 */
#ifndef LNET_MODEL_ROUTE_H
#define LNET_MODEL_ROUTE_H

#include "plat.h"
#include "model/limits.h"
#include "model/path.h"
#include "model/peer.h"
#include "model/timer.h"
#include <lnet/wire.h>

/* [sh 0] State of a gateway's interface, stored in pni->gw; 0: the peer is no gateway. */
enum lnet_gw_state {
	LNET_GW_UP = 1,
	/* a gateway check had no reply, or the first check is required and not done */
	LNET_GW_UNRESPONSIVE,
	LNET_GW_DOWN	/* the router reports it */
};

struct lnet_gateway {		/* a router while at least one route of this node names it */
	/* service/, and manage/ @nr_routes: */
	struct list_head link;		/* [cfg] in routes->gateways */
	struct lnet *ln;
	/* an interface of the router that a route names; reference held */
	struct lnet_peer_ni *pni;
	u32 nr_routes;			/* [cfg] */
	/* topology/: [sh 0] from here */
	/* expires when the next gateway check is due; service/ also stops it */
	struct lnet_timer timer;
	u8 known;			/* @info is the last ping info of the router */
	u8 complete;			/* @nis are all interfaces of the router */
	/*
	 * 1: this node has a direct path to an interface in @nis, so it needs no other interfaces
	 * of the router. It does not use interfaces of the router that are not in @nis.
	 */
	u8 lists_hop;
	/* the router did not forward a request, and has sent no ping info since then */
	u8 rejected;
	/*
	 * discovery queried the router when its ping info had the sequence @discovered_seq;
	 * service/ also writes the field
	 */
	u8 discovered;
	/* number of successive checks in which an unchanged ping info reported something as down */
	u32 doubts;
	u64 hash;			/* hash of the router's last ping info */
	struct lnet_pinginfo info;
	struct lnet_pinginfo_ni nis[LNET_MAX_NIS];
	/* service/: [sh 0] from here */
	u8 busy;			/* the gateway check @check is in flight */
	u32 discovered_seq;
	struct lnet_op *check;
	u32 rr_pos;		/* round-robin position among the nets over which checks are sent */
	s64 notified_s;		/* time of the last change that lnet_route_notify() reported */
	u64 nr_checks, nr_failed;
	struct lnet_frag frag;		/* describes @sink, the memory for the REPLY to a check */
	u8 sink[LNET_PINGINFO_MANUAL];
};

/*
 * A route. manage/ writes all fields but @up. service/ writes them when the node stops and when
 * gateways merge.
 */
struct lnet_route {
	struct list_head link;		/* [cfg] in routes->list */
	u32 net;
	struct lnet_gateway *gw;	/* [cfg] */
	/* the router's interface that the operator configured; reference held */
	struct lnet_peer_ni *named;
	s32 hops;			/* 1..255; -1: not given */
	u32 priority;			/* priority of the route; a lower number is preferred */
	/*
	 * [sh 0] the router reports that it reaches @net; written by topology/, for a new route by
	 * service/
	 */
	u8 up;
	u8 gone;			/* [cfg] in routes->dying */
};

struct lnet_routes {			/* manage/ and service/ */
	struct list_head list;		/* [cfg] all routes, in the order of configuration */
	struct list_head dying;		/* [cfg] removed routes that paths still use */
	struct list_head gateways;	/* [cfg] */
	u32 nr;				/* [cfg] */
	/* when the worker next checks routes; topology/ may set an earlier time; WRITE_ONCE */
	u64 job_ns;
};

/*
 * [sh 0] True if the route of @path is up. Selection uses a route that is down only if no route is
 * up.
 */
static inline bool lnet_route_usable(const struct lnet_path *path)
{
	return path->route->up && path->hop->gw == LNET_GW_UP && !path->first_hop->down_ns;
}

#endif
