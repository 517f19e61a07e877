/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: which routers reach remote nets, and whether each route is up.
 *
 * A route names a net and a router. Each interface of a peer on that net has one path per pair of a
 * local interface and an interface of the router (struct lnet_path). Routers, and peers that have
 * such paths, are in shard 0, so that one lock covers a choice among them.
 */
#ifndef LNET_MODEL_ROUTE_H
#define LNET_MODEL_ROUTE_H

#include "plat.h"
#include "model/limits.h"
#include "model/path.h"
#include "model/peer.h"
#include "model/timer.h"
#include <lnet/wire.h>

/* [sh 0] State of an interface of a gateway, in pni->gw; 0: its node is no gateway. */
enum lnet_gw_state {
	LNET_GW_UP = 1,
	LNET_GW_UNRESPONSIVE,	/* a check had no reply, or a required first check is not done */
	LNET_GW_DOWN	/* the router reports it */
};

struct lnet_gateway {			/* a router, while a route names it */
	/* service/, and manage/ @nr_routes: */
	struct list_head link;		/* [cfg] in routes->gateways */
	struct lnet *ln;
	struct lnet_peer_ni *pni;	/* one that a route names; reference held */
	u32 nr_routes;			/* [cfg] */
	/* topology/: [sh 0] from here */
	struct lnet_timer timer;	/* the next check; service/ stops it */
	u8 known;			/* @info is its last ping info */
	u8 complete;			/* @nis are all interfaces of the router */
	/* @nis has an interface with a direct path, so interfaces not in @nis are not used */
	u8 lists_hop;
	u8 rejected;			/* it did not forward a request, and sent no info since */
	/*
	 * discovery queried the router at sequence @discovered_seq of its info; service/ writes it
	 * too
	 */
	u8 discovered;
	u32 doubts;			/* times in a row that the same info has something down */
	u64 hash;			/* of its last info */
	struct lnet_pinginfo info;
	struct lnet_pinginfo_ni nis[LNET_MAX_NIS];
	/* service/: [sh 0] from here */
	u8 busy;			/* a check is in flight: @check */
	u32 discovered_seq;
	struct lnet_op *check;
	u32 rr_pos;			/* round-robin position among the nets of its checks */
	s64 notified_s;			/* time of the last change by lnet_route_notify() */
	u64 nr_checks, nr_failed;
	struct lnet_frag frag;		/* for the REPLY to a check: @sink */
	u8 sink[LNET_PINGINFO_MANUAL];
};

/* manage/ writes it, except @up. service/ also does, at its end and when gateways merge. */
struct lnet_route {
	struct list_head link;		/* [cfg] in routes->list */
	u32 net;
	struct lnet_gateway *gw;	/* [cfg] */
	struct lnet_peer_ni *named;	/* configured interface of the router; reference held */
	s32 hops;			/* 1..255; -1: not given */
	u32 priority;			/* less is better */
	/* [sh 0] topology/, service/ for a new route: the router reports that it reaches @net */
	u8 up;
	u8 gone;			/* [cfg] in routes->dying */
};

struct lnet_routes {			/* manage/ and service/ */
	struct list_head list;		/* [cfg] in the order of configuration */
	struct list_head dying;		/* [cfg] removed, but still used by paths */
	struct list_head gateways;	/* [cfg] */
	u32 nr;				/* [cfg] */
	/* when the worker checks again; topology/ also lowers it; WRITE_ONCE */
	u64 job_ns;
};

/* [sh 0] True if the route of @path is up. Selection uses other routes only if none is up. */
static inline bool lnet_route_usable(const struct lnet_path *path)
{
	return path->route->up && path->hop->gw == LNET_GW_UP && !path->first_hop->down_ns;
}

#endif
