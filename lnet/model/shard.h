/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A shard: the peers, operations and windows that one lock protects, and pools of objects for them.
 */
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
	u32 target;		/* pool.c: number of objects up to which the pool was last filled */
};

/* Adds @by to pool->nr. Other threads read pool->nr without the lock to decide about a refill. */
static inline void lnet_pool_count(struct lnet_pool *pool, int by)
{
	WRITE_ONCE(pool->nr, pool->nr + by);
}

struct lnet_shard {
	/* shard/: */
	spinlock_t lock;
	struct lnet *ln;
	u32 ix;
	/* time of the shard's next deadline; WRITE_ONCE under @lock; the environment reads it */
	u64 next_ns;
	/* shard 0: due time of the first periodic job, or an earlier time */
	u64 job_ns;
	/* time of the latest pass (visit of a thread to the core); the time never decreases */
	u64 now_ns;
	struct lnet_wheel wheel;
	struct lnet_pool ops, atts, rxs, evts, entries;
	/* delivered events that are to return to the pool @evts; a lock-free stack */
	struct lnet_evt *evts_back;
	/*
	 * memory/: MDs with events that a CALL pass did not deliver. A CALL pass is a call of the
	 * API, and runs no handlers. The list is protected by the shard lock, without the locks of
	 * the MDs.
	 */
	struct list_head ready;
	/* shard 0: the thread that runs handlers and then checks @ready again; NULL: none */
	const void *deliverer;
	/* xfer/: */
	struct list_head live;		/* all unfinished operations, in order of creation */
	/* receive/: */
	struct list_head windows;	/* LRU, most recent first */
	struct list_head made;		/* the same windows, newest first */
	struct list_head window_walks;	/* struct lnet_window_walk */
	/* windows with received PUTs for which a pass is to send ACKs when the pass ends */
	struct list_head ack_due;
	/* hash tables of the windows; allocated at the first session open request */
	struct lnet_window_index *index;
	/*
	 * ranked[n] has the nth window of each peer. So the highest non-empty list has windows of
	 * the peers with the most windows.
	 */
	struct list_head ranked[LNET_WINDOWS_PER_PEER + 1];
	u32 nr_windows;
	u64 window_bytes;		/* bytes that the windows and their entries use */
	/* window_table.c: windows by the logarithm of the number of their entries */
	struct list_head heavy[LNET_WINDOW_WEIGHTS];
	/* fault/: */
	struct list_head delayed;	/* attempts that fault rules delay, in order of time */
	struct lnet_timer delay_timer;
	/*
	 * shard/: shard 0: when the worker next checks requests queued on lazy portals; WRITE_ONCE
	 */
	u64 lazy_ns;
	/* shard/ writes @junk_frag once; drivers write received data to @junk: */
	/* describes @junk, the memory for REPLYs to recovery pings */
	struct lnet_frag junk_frag;
	u8 junk[64];
	/* path/: */
	u64 rr_pos;
	/* any folder, by lnet_count(): */
	u64 c[LNET_NR_COUNTERS];
	/* path/: */
	struct lnet_probes probes;
	/* receive/: */
	u64 cache_bytes;		/* bytes of cached REPLYs in small buffers */
	/* reply cache entries that hold a program's memory for a retransmitted REPLY */
	u32 nr_held;
	/* manage/, path/ and fault/ set the flag, shard/ clears it: */
	/*
	 * a link changed, and lnet_shard_work() is to process the change; WRITE_ONCE, any context
	 */
	u8 link_work;
	/*
	 * shard/: attempts in ATT_WIRE that LNET_MORE delays; the next pass without LNET_MORE sends
	 * them
	 */
	struct list_head more;
	u32 nr_more;			/* number of calls that added attempts to @more */
	/* 1: @more is not empty; other threads read the flag without the lock, by READ_ONCE() */
	u8 more_left;
	/* xfer/: */
	struct lnet_walk walk;
	/* shard/: */
	u32 nr_live;			/* operations that are in use */
	u32 nr_reply_ops;	/* ACKs and REPLYs of this node among the operations in use */
	struct list_head stats_free;	/* unused structs lnet_path_stats for paths */
	u32 stats_want;		/* number of structs lnet_path_stats to allocate outside the lock */
	/* recorder/: */
	struct lnet_trace *rec;		/* NULL: no recording */
};

#define lnet_count(sh, name) ((sh)->c[LNET_C_##name]++)
#define lnet_count_add(sh, name, n) ((sh)->c[LNET_C_##name] += (n))

#endif
