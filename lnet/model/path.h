/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A path: a pair of a local interface and a remote NID, with its state and its measurements. */
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
	u64 end_ns;			/* last response to a request, or end of a pause */
	u64 since_ns;			/* begin of the sample */
	u64 seen_ns;			/* length of the sample when @bytes became 0 */
	u64 done;			/* bytes in the sample */
	u32 ends;			/* requests in the sample */
	u32 mbit;			/* link speed to which @mib_ns applies; 0: unknown */
};

/* [sh of its peer] shard/: all but @load; allocated at first traffic */
struct lnet_path_stats {
	union {
		struct list_head link;	/* in sh->stats_free until a path has it */
		/* from the driver to the fabric: PUTs with one attempt */
		struct lnet_times put_egress;
	};
	struct lnet_times egress;	/* of all other messages */
	struct lnet_times get_rtt, put_ack;	/* request to reply */
	struct lnet_hist sent, answered;	/* of the times in each line above */
	struct lnet_load load;
};

struct lnet_path {			/* [sh of its peer] one pair (local NI, remote NID) */
	/* the first two cache lines are read for each request. topology/: */
	struct list_head link;		/* in pni->paths */
	struct lnet_ni *ni;		/* reference held */
	struct lnet_peer_ni *pni;	/* the far end, to which messages are addressed */
	/*
	 * Next hop, with its credits and connections: @pni, or the interface of a router with a
	 * reference. Both are in the same shard.
	 */
	struct lnet_peer_ni *hop;
	struct lnet_path *first_hop;	/* first-hop path, of (@ni, @hop): may be this one */
	/* path/: */
	u64 suspect_ns;			/* suspect timestamp; 0: not suspect */
	u64 down_ns;			/* time since which it is down; 0: not down */
	u64 liveness_ns;		/* last liveness */
	u64 srtt_ns, rttvar_ns;		/* 0: not measured */
	u64 back_ns;			/* when it last ceased to be suspect or down */
	/* xfer/: */
	u64 busy_ns;			/* time since which attempts are in flight */
	u32 nr_wire;			/* attempts in WIRE or POSTED */
	/* topology/: */
	s32 policy;			/* udsp.c: twice its priority, plus 1 if it is preferred */
	u16 ix;				/* bit in op->tried; may be shared beyond LNET_MAX_PATHS */
	/* path/: */
	u16 health;			/* 0..1000, of the pair only */
	u8 recovering;			/* recover.c: 0 not, else slow or quick */
	u8 pinging;			/* recovery pings in flight */
	/* xfer/: */
	u8 lost_valid : 1;
	/* topology/: */
	u8 gone : 1;			/* its route, or the router's interface, was removed */
	/* xfer/: */
	u8 large_sending : 1;		/* the attempts in @large_queue are being sent */
	/* path/: */
	u8 back_measured : 1;		/* a round trip from before back_ns was measured */
	u8 logged_down : 1;		/* a recovery ping failed since @logged_ns */
	/* shard/: */
	struct lnet_path_stats *stats;	/* NULL until first traffic */
	/* xfer/: */
	struct list_head await_reply;	/* attempts in ATT_AWAIT_REPLY, in posting order */
	/* path/: */
	u64 gap_ns, gap_set_ns;		/* longest gap between responses; when set or halved */
	u64 failed_ns;			/* last failure; 0: response since then: attribution.c */
	u64 logged_ns;			/* begin of the failure in the log; 0: none is logged */
	struct lnet_timer timer;	/* recovery: a pause */
	/* in sh->probes: its ping waits for the ping rate limit; topology/ also removes it */
	struct list_head probe_link;
	/* in p->resets, removed under the shard lock: until then the path is not idle */
	struct list_head reset;
	/* topology/: */
	union {
		struct list_head gw_paths;	/* of a first-hop path: paths through the gateway */
		struct list_head gw_link;	/* of such a path: in @gw_paths */
	};
	struct lnet_route *route;	/* that requires this path; NULL: direct */
	/* xfer/: */
	u64 lost_ns;			/* when it last lost its connections; 0: never */
	u32 lost_epoch;			/* attempts with this epoch or an older one are lost */
	u32 nr_resent;			/* messages retried, as it failed or was unresponsive */
	/*
	 * routed: large requests in flight; attempts in WAIT_LARGE are in @large_queue: attempt.c
	 */
	u32 nr_large;
	u32 nr_large_queue;		/* of a first-hop path: attempts in WAIT_LARGE on it */
	struct list_head large_queue;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_path) == 304);

/* True if the path uses a router. */
static inline bool lnet_path_is_routed(const struct lnet_path *path)
{
	return path->first_hop != path;
}

/* True for a first-hop path with paths through the gateway. */
static inline bool lnet_path_has_gw_paths(const struct lnet_path *path)
{
	return !lnet_path_is_routed(path) && !list_empty(&path->gw_paths);
}

/* [sh] path/: the queue of the paths of a shard that wait for the ping rate limit. */
struct lnet_probes {
	struct list_head queue;		/* paths, by @probe_link; bound: paths */
	struct lnet_timer timer;	/* armed while the queue is not empty */
	/* token bucket as one time, for recovery_rate */
	u64 budget_ns;
	/*
	 * [const] Set by lnet_probes_init(). [sh] Sends a recovery ping. lnet_path_ping_done() may
	 * be called before it returns.
	 */
	void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
};

#endif
