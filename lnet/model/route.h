/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: which routers lead to nets that this node has no interface on, and whether they do now.
 *
 * A route names a net and a router. For each interface of a peer on that net there is a path by
 * each pair of an own interface and one of the router's (struct lnet_path). Routers, and peers that
 * have such paths, live in shard 0, so that one lock covers a choice among them.
 */
#ifndef LNET_MODEL_ROUTE_H
#define LNET_MODEL_ROUTE_H

#include "plat.h"
#include "model/limits.h"
#include "model/path.h"
#include "model/peer.h"
#include "model/timer.h"
#include <lnet/wire.h>

/* [sh 0] State of an interface of a router, in pni->gw; 0: no route names its node. */
enum lnet_gw_state {
	LNET_GW_UP = 1,
	LNET_GW_SILENT,	/* a check got no answer, or, if asked for, none was made yet */
	LNET_GW_DOWN	/* the router says so */
};

struct lnet_gateway {			/* a router, while a route names it */
	/* service/, and manage/ @nr_routes: */
	struct list_head link;		/* [cfg] in routes->gateways */
	struct lnet *ln;
	struct lnet_peer_ni *pni;	/* one that a route names; counted */
	u32 nr_routes;			/* [cfg] */
	/* topology/: [sh 0] from here */
	struct lnet_timer timer;	/* the next check; service/ stops it */
	u8 known;			/* @info is what it said last */
	u8 whole;			/* @nis are all interfaces of the router */
	/* @nis has an interface with a path here, so one that it lacks is out of use */
	u8 lists_hop;
	u8 refused;			/* it could not pass something on, and said nothing since */
	/* discovery queried the router at sequence @met_seq of its info; service/ writes it too */
	u8 met;
	u32 doubts;			/* the same answer in a row, by which it is not wholly up */
	u64 hash;			/* of what it said last */
	struct lnet_pinginfo info;
	struct lnet_pinginfo_ni nis[LNET_MAX_NIS];
	/* service/: [sh 0] from here */
	u8 busy;			/* a check is under way: @check */
	u32 met_seq;
	struct lnet_op *check;
	u32 turn;			/* of the nets that it is checked over */
	s64 told_s;			/* when what lnet_route_notify() heard was noticed */
	u64 nr_checks, nr_failed;
	struct lnet_frag frag;		/* where the answer to a check lands: @sink */
	u8 sink[LNET_PINGINFO_MANUAL];
};

/* manage/ writes it, except @up; service/ too: at its end, and when gateways merge */
struct lnet_route {
	struct list_head link;		/* [cfg] in routes->list */
	u32 net;
	struct lnet_gateway *gw;	/* [cfg] */
	struct lnet_peer_ni *named;	/* the router's interface it was added with; counted */
	s32 hops;			/* 1..255; -1: not told */
	u32 priority;			/* less is better */
	/* [sh 0] topology/, service/ for a new route: the router says that it reaches @net */
	u8 up;
	u8 gone;			/* [cfg] in routes->dying */
};

struct lnet_routes {			/* manage/ and service/ */
	struct list_head list;		/* [cfg] in the order of configuration */
	struct list_head dying;		/* [cfg] taken away, while paths have them */
	struct list_head gateways;	/* [cfg] */
	u32 nr;				/* [cfg] */
	/* when the worker is to look again; topology/ lowers it too; WRITE_ONCE */
	u64 look_ns;
};

/* [sh 0] Of two paths through routers one that is not usable is taken only for want of others. */
static inline bool lnet_route_usable(const struct lnet_path *path)
{
	return path->route->up && path->hop->gw == LNET_GW_UP && !path->trunk->down_ns;
}

#endif
