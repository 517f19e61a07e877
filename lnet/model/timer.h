/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A timer, and the hierarchical timer wheel of a shard, with ticks of 2^17 ns. All members: [sh].
 * Only base/ writes them.
 */
#ifndef LNET_MODEL_TIMER_H
#define LNET_MODEL_TIMER_H

#include "plat.h"

enum lnet_timer_kind {
	LNET_TIMER_OP,
	LNET_TIMER_PATH,
	LNET_TIMER_PEER,
	LNET_TIMER_WINDOW,
	LNET_TIMER_ROUTER,
	LNET_TIMER_DELAY, LNET_TIMER_GATEWAY, LNET_TIMER_DISC, LNET_TIMER_PROBE,
	LNET_TIMER_PROOF, LNET_TIMER_WALK,
	LNET_NR_TIMERS
};
struct lnet_timer {
	/* link in a slot, @queue or @begun; empty: the timer is not armed */
	struct list_head link;
	u64 when_ns;
	u8 kind;
};
#define LNET_WHEEL_LEVELS	5
#define LNET_WHEEL_SLOTS	64
#define LNET_TICK_SHIFT		17
/* largest number of timers that one call moves to lower levels */
#define LNET_TIMER_MOVES	1024U
struct lnet_wheel_slot {
	struct list_head timers;
	/*
	 * Earliest of the due times of all timers that were in @timers since the list was last
	 * empty. Timers that were cancelled meanwhile are included.
	 */
	u64 first_ns;
};
struct lnet_wheel {
	u64 now_tick;
	/* earliest time that was set since the last call of lnet_wheel_next_ns(); U64_MAX: none */
	u64 soonest_ns;
	/*
	 * For each level: the time of its first timer, or an earlier time. The array fits in one
	 * cache line, to compute the next wake-up quickly.
	 */
	u64 level_ns[LNET_WHEEL_LEVELS];
	u32 nr;
	u64 used[LNET_WHEEL_LEVELS];	/* bitmap of non-empty slots */
	struct lnet_wheel_slot slot[LNET_WHEEL_LEVELS][LNET_WHEEL_SLOTS];
	struct list_head queue;		/* timers of lnet_timer_queue(), in order of time */
	/* timers of slots whose tick has begun: each is due, or moves to a lower level */
	struct list_head begun;
};

#endif
