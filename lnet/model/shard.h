/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A shard: the peers, operations and windows that one lock protects, and their pools. */
#ifndef LNET_MODEL_SHARD_H
#define LNET_MODEL_SHARD_H

#include "plat.h"
#include "model/op.h"
#include "model/path.h"
#include "model/timer.h"
#include "model/tunables.h"
#include "model/window.h"
#include <lnet/lnet.h>

struct lnet;
struct lnet_trace;

struct lnet_pool {			/* [sh]; refilled outside the lock */
	struct list_head free;
	u32 nr;
	u32 target;			/* number up to which it was last filled; pool.c */
};

/* pool->nr is read without the lock, to decide about a refill. */
static inline void lnet_pool_count(struct lnet_pool *pool, int by)
{
	WRITE_ONCE(pool->nr, pool->nr + by);
}

struct lnet_shard {
	/* shard/: */
	spinlock_t lock;
	struct lnet *ln;
	u32 ix;
	u64 next_ns;			/* WRITE_ONCE under the lock, read by the env */
	/* shard 0: not later than the first periodic job that is due */
	u64 job_ns;
	u64 now_ns;			/* time of the latest pass; no later pass has less */
	struct lnet_wheel wheel;
	struct lnet_pool ops, atts, rxs, evts, entries;
	struct lnet_evt *evts_back;	/* delivered, to return to @evts; lock-free stack */
	/* memory/: MDs with events that a CALL pass left; needs only the shard lock */
	struct list_head ready;
	/* shard 0: the thread that runs handlers now and then checks @ready; or NULL */
	const void *deliverer;
	/* xfer/: */
	struct list_head live;		/* all unfinished ops, in order of creation */
	/* receive/: */
	struct list_head windows;	/* LRU, most recent first */
	struct list_head made;		/* the same windows, newest first */
	struct list_head window_walks;	/* struct lnet_window_walk */
	struct list_head ack_due;	/* windows with PUTs to acknowledge at the end of a pass */
	struct lnet_window_index *index;	/* allocated at the first session open request */
	/* [n]: each peer's nth window; the highest list in use has peers with the most windows */
	struct list_head ranked[LNET_WINDOWS_PER_PEER + 1];
	u32 nr_windows;
	u64 window_bytes;		/* of windows and their entries */
	/* windows by the number of their entries: window_table.c */
	struct list_head heavy[LNET_WINDOW_WEIGHTS];
	/* fault/: */
	struct list_head delayed;	/* attempts held by delay rules, by time */
	struct lnet_timer delay_timer;
	/* shard/: next check of requests queued on lazy portals; shard 0; WRITE_ONCE */
	u64 lazy_ns;
	/* shard/, once; drivers write to @junk: */
	struct lnet_frag junk_frag;	/* memory for REPLYs to recovery pings */
	u8 junk[64];
	/* path/: */
	u64 rr_pos;
	/* any folder, by lnet_count(): */
	u64 c[LNET_NR_COUNTERS];
	/* path/: */
	struct lnet_probes probes;
	/* receive/: */
	u64 cache_bytes;		/* cached REPLYs in small buffers */
	u32 nr_held;			/* entries with memory held for a retransmitted REPLY */
	/* manage/, path/ and fault/ set it, shard/ clears it: */
	/* some NI's link changed: lnet_shard_work() acts (WRITE_ONCE, any context) */
	u8 link_work;
	/* shard/: attempts in ATT_WIRE that the next pass without LNET_MORE sends */
	struct list_head more;
	u32 nr_more;			/* calls that added some */
	u8 more_left;			/* @more is not empty (READ_ONCE without the lock) */
	/* xfer/: */
	struct lnet_walk walk;
	/* shard/: */
	u32 nr_live;			/* ops that are not free */
	u32 nr_reply_ops;		/* of these, ACKs and REPLYs of this node */
	struct list_head stats_free;	/* blocks for paths */
	u32 stats_want;			/* number to allocate, outside the lock */
	/* recorder/: */
	struct lnet_trace *rec;		/* NULL: no recording */
};

#define lnet_count(sh, name) ((sh)->c[LNET_C_##name]++)
#define lnet_count_add(sh, name, n) ((sh)->c[LNET_C_##name] += (n))

#endif
