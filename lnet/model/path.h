/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A path: a pair of a local interface and a remote NID. The struct has the path's state and
 * measurements.
 */
#ifndef LNET_MODEL_PATH_H
#define LNET_MODEL_PATH_H

#include "plat.h"
#include "model/timer.h"
#include "model/times.h"

struct lnet_ni;
struct lnet_pass;
struct lnet_peer_ni;
struct lnet_route;

/* [shard of the path's peer] path/: the load of a path, from its first traffic on */
struct lnet_load {
	u64 bytes;		/* bytes of requests that selected the path and have not ended */
	u64 mib_ns;			/* smoothed time to transfer 1 MiB; 0: not measured */
	/*
	 * time of the last response to a request, or of the first request after the path was idle,
	 * if that request is later
	 */
	u64 end_ns;
	u64 since_ns;	/* begin of the sample: the time over which the rate is measured */
	u64 seen_ns;		/* time that the sample had lasted when @bytes became 0 */
	u64 done;			/* bytes of requests that ended in the sample */
	u32 ends;			/* number of requests that ended in the sample */
	u32 mbit;			/* link speed at which @mib_ns was measured; 0: unknown */
};

/* [shard of the path's peer] shard/ writes all but @load; allocated at the path's first traffic */
struct lnet_path_stats {
	union {
		struct list_head link;	/* link in sh->stats_free while no path uses the struct */
		/*
		 * for PUTs with one attempt: time from the hand-over to the driver to the hand-over
		 * to the fabric
		 */
		struct lnet_times put_egress;
	};
	/*
	 * for all other messages: time from the hand-over to the driver to the hand-over to the
	 * fabric
	 */
	struct lnet_times egress;
	struct lnet_times get_rtt, put_ack;	/* time from the request to its reply */
	/*
	 * histograms of the same times; sent: those of @put_egress and @egress; answered: those of
	 * @get_rtt and @put_ack
	 */
	struct lnet_hist sent, answered;
	struct lnet_load load;
};

struct lnet_path {		/* [shard of the path's peer] one pair (local NI, remote NID) */
	/* The core reads the first two cache lines of this struct for each request. */
	/* topology/: */
	struct list_head link;		/* in pni->paths */
	struct lnet_ni *ni;		/* reference held */
	struct lnet_peer_ni *pni;	/* destination of messages on the path */
	/*
	 * Next hop, with its credits and connections. Direct path: @pni; routed path: the router's
	 * interface, with a reference. @pni and @hop are in the same shard.
	 */
	struct lnet_peer_ni *hop;
	/* first-hop path, between @ni and @hop; on a direct path, the path itself */
	struct lnet_path *first_hop;
	/* path/: */
	u64 suspect_ns;			/* suspect timestamp; 0: not suspect */
	u64 down_ns;			/* time since which the path is down; 0: not down */
	u64 liveness_ns;		/* last liveness */
	u64 srtt_ns, rttvar_ns;		/* 0: not measured */
	u64 back_ns;			/* when the path last ceased to be suspect or down */
	/* xfer/: */
	u64 busy_ns;			/* time since which attempts are in flight on the path */
	u32 nr_wire;			/* attempts in WIRE or POSTED */
	/* topology/: */
	/*
	 * udsp.c: the value is -2 * the position of the path by the priorities of the policies,
	 * where 0 is the first position. If the path is preferred, 1 is added.
	 */
	s32 policy;
	/*
	 * bit of the path in op->tried; two paths have the same bit if a peer has over
	 * LNET_MAX_PATHS
	 */
	u16 ix;
	/* path/: */
	u16 health;			/* health of the pair alone, 0..1000 */
	u8 recovering;			/* recover.c: recovery pings: 0: none; else slow or quick */
	u8 pinging;			/* recovery pings in flight */
	/* xfer/: */
	u8 lost_valid : 1;
	/* topology/: */
	u8 gone : 1;			/* the path's route or the router's interface was removed */
	/* xfer/: */
	u8 large_sending : 1;		/* xfer/ is sending the attempts in @large_queue */
	/* path/: */
	/*
	 * 1: a round-trip time was measured whose request was sent before @back_ns, the end of an
	 * outage
	 */
	u8 back_measured : 1;
	u8 logged_down : 1;		/* a recovery ping on the path failed since @logged_ns */
	/* shard/: */
	struct lnet_path_stats *stats;	/* NULL until first traffic */
	/* xfer/: */
	/* attempts in ATT_AWAIT_REPLY, in the order of hand-over to the fabric */
	struct list_head await_reply;
	/* path/: */
	/* @gap_ns: longest gap between responses; @gap_set_ns: when it was last set or halved */
	u64 gap_ns, gap_set_ns;
	u64 failed_ns;	/* attribution.c: time of the last failure; 0: a response followed */
	u64 logged_ns;	/* begin of the failure that the log reported; 0: none was reported */
	struct lnet_timer timer;	/* recovery: a pause */
	/*
	 * link in sh->probes while the path waits for the ping rate limit; topology/ also removes
	 * it
	 */
	struct list_head probe_link;
	/*
	 * Link in p->resets of a pass (one visit of a thread to the core). That pass removes the
	 * path from the list under the shard lock. Until then, the path counts as not idle.
	 */
	struct list_head reset;
	/* topology/: */
	union {
		/* on a first-hop path: list of the paths through the gateway */
		struct list_head gw_paths;
		/* on a path through a gateway: link in the first-hop path's @gw_paths */
		struct list_head gw_link;
	};
	struct lnet_route *route;	/* route that requires this path; NULL: direct path */
	/* xfer/: */
	u64 lost_ns;		/* when the connections of the path were last lost; 0: never */
	u32 lost_epoch;			/* attempts with this epoch or a lower one are lost */
	u32 nr_resent;		/* messages retried because the path failed or was unresponsive */
	/*
	 * Routed path: large requests in flight. Attempts in ATT_WAIT_LARGE are in @large_queue:
	 * attempt.c.
	 */
	u32 nr_large;
	/* on a first-hop path: attempts in ATT_WAIT_LARGE on paths through the gateway */
	u32 nr_large_queue;
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

/* [sh] path/: the queue of paths that wait for the ping rate limit; one per shard. */
struct lnet_probes {
	struct list_head queue;		/* paths, by @probe_link; bound: paths */
	/* timer for the next ping; armed while @queue is not empty */
	struct lnet_timer timer;
	/* token bucket of recovery_rate, stored as a time */
	u64 budget_ns;
	/*
	 * [const] Function that sends a recovery ping on @path; called with [sh] held.
	 * lnet_probes_init() sets the pointer. The function may call lnet_path_ping_done() before
	 * it returns.
	 */
	void (*ping)(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);
};

#endif
