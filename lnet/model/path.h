/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A path: a pair of a local interface and a remote NID, and what is measured of it. */
#ifndef LNET_MODEL_PATH_H
#define LNET_MODEL_PATH_H

#include "plat.h"
#include "model/timer.h"
#include "model/times.h"

struct lnet_ni;
struct lnet_pass;
struct lnet_peer_ni;
struct lnet_route;

struct lnet_load {			/* [sh of its peer] path/: from its first traffic on */
	u64 bytes;			/* of requests that chose it and have not ended */
	u64 mib_ns;			/* time for 1 MiB, smoothed; 0: not measured */
	u64 end_ns;			/* when a request last ended */
	u64 since_ns;			/* begin of the sample */
	u64 seen_ns;			/* what the sample had seen when nothing was under way */
	u64 done;			/* bytes in it */
	u32 ends;			/* requests in it */
	u32 mbit;			/* the link's speed that it is for; 0 unknown */
};

/* [sh of its peer] shard/: all but @load; allocated at first traffic */
struct lnet_path_stats {
	union {
		struct list_head link;	/* in sh->stats_free until a path has it */
		/* hand-over to the driver until it is done: PUTs sent once only */
		struct lnet_times put_egress;
	};
	struct lnet_times egress;	/* the same of all else */
	struct lnet_times get_rtt, put_ack;	/* request to answer */
	struct lnet_hist sent, answered;	/* of both of each */
	struct lnet_load load;
};

struct lnet_path {			/* [sh of its peer] one pair (local NI, remote NID) */
	/* the first two cache lines are read for each request. topology/: */
	struct list_head link;		/* in pni->paths */
	struct lnet_ni *ni;		/* counted */
	struct lnet_peer_ni *pni;	/* the far end: where messages are addressed to */
	/*
	 * Whom the driver gives them to, with its credits and connections: @pni, or a router's
	 * interface, counted then. The two live in one shard.
	 */
	struct lnet_peer_ni *hop;
	struct lnet_path *trunk;	/* of the pair (@ni, @hop): itself, or the router's */
	/* path/: */
	u64 suspect_ns;			/* since when suspect; 0: not */
	u64 down_ns;			/* since when the path fails; 0: works */
	u64 evidence_ns;		/* last proof of life */
	u64 srtt_ns, rttvar_ns;		/* 0: not measured */
	u64 back_ns;			/* when it last ceased to be suspect or down */
	/* xfer/: */
	u64 busy_ns;			/* since when something has been out */
	u32 nr_wire;			/* attempts in WIRE or POSTED */
	/* topology/: */
	s32 policy;			/* udsp.c: twice its priority, and 1 if it is preferred */
	u16 ix;				/* bit in op->tried; may be shared beyond LNET_MAX_PATHS */
	/* path/: */
	u16 health;			/* 0..1000, of the pair alone */
	u8 recovering;			/* recover.c: 0 not, else slow or quick */
	u8 pinging;			/* recovery pings under way */
	/* xfer/: */
	u8 lost_valid : 1;
	/* topology/: */
	u8 gone : 1;			/* its route, or the router's interface, is taken away */
	/* xfer/: */
	u8 turning : 1;			/* its @turns are being served */
	/* path/: */
	u8 back_measured : 1;		/* one that left before back_ns was taken as a round trip */
	/* shard/: */
	struct lnet_path_stats *stats;	/* NULL until first traffic */
	/* xfer/: */
	struct list_head asked;		/* attempts in ATT_ASKED, in posting order */
	/* path/: */
	u64 gap_ns, gap_set_ns;		/* longest pause between signs of life; halved then */
	u64 failed_ns;			/* last failure, not heard since; 0: attribution.c */
	u64 logged_ns;			/* begin of the failure in the log; 0: none is logged */
	struct lnet_timer timer;	/* recovery: a pause */
	/* in sh->probes: its ping waits for the budget; topology/ takes it off as well */
	struct list_head line;
	/* in p->resets, taken off under the shard lock: until then the path is not idle */
	struct list_head reset;
	/* topology/: */
	union {
		struct list_head carried;	/* a trunk's: the paths behind the router */
		struct list_head carry;		/* of one of them: among these */
	};
	struct lnet_route *route;	/* that wants it; NULL: direct */
	/* xfer/: */
	u64 lost_ns;			/* when it last lost its connections; 0: never */
	u32 lost_epoch;			/* what was posted under this epoch or before is lost */
	u32 nr_resent;			/* messages sent again as it failed them or was silent */
	/* routed: large requests that have their turn, and attempts in WAIT_TURN: attempt.c */
	u32 nr_large;
	u32 nr_turns;			/* a trunk's: attempts in WAIT_TURN by it */
	struct list_head turns;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_path) == 304);

/* A router stands between. */
static inline bool lnet_path_routed(const struct lnet_path *path)
{
	return path->trunk != path;
}

/* Paths lead on behind the router. */
static inline bool lnet_path_carries(const struct lnet_path *path)
{
	return !lnet_path_routed(path) && !list_empty(&path->carried);
}

/* [sh] The queue of the paths of a shard that wait for the budget of recovery pings; path/. */
struct lnet_probes {
	struct list_head line;		/* paths, by @line; bound: paths */
	struct lnet_timer timer;	/* armed while somebody is in the line */
	/* when all pings so far would have gone, had they gone evenly */
	u64 budget_ns;
	/*
	 * [const] Set by lnet_probes_init(). [sh] Sends a recovery ping. lnet_path_ping_done() may
	 * be called before it returns.
	 */
	void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
};

#endif
