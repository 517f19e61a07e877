/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers: one hierarchical wheel per shard, tick 2^17 ns. */
#ifndef LNET_TIMER_H
#define LNET_TIMER_H

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
	struct list_head link;		/* in a slot; empty when idle */
	u64 when_ns;
	u8 kind;
};
#define LNET_WHEEL_LEVELS	5
#define LNET_WHEEL_SLOTS	64
#define LNET_TICK_SHIFT		17
#define LNET_TIMER_MOVES	1024U	/* timers that a call moves to lower levels */
struct lnet_wheel_slot {
	struct list_head timers;
	u64 first_ns;			/* of @timers and, while there are some, those cancelled */
};
struct lnet_wheel {
	u64 now_tick;
	/* of the times set since lnet_wheel_next_ns() was asked; U64_MAX: none */
	u64 soonest_ns;
	/* not later than the first of a level: the line that is read to know when to wake */
	u64 level_ns[LNET_WHEEL_LEVELS];
	u32 nr;
	u64 used[LNET_WHEEL_LEVELS];	/* bitmap of non-empty slots */
	struct lnet_wheel_slot slot[LNET_WHEEL_LEVELS][LNET_WHEEL_SLOTS];
	struct list_head queue;		/* of lnet_timer_queue(), in order of time */
	/* timers of slots whose tick has begun: due, or to be placed in a lower level */
	struct list_head begun;
};
/* timer.c, all [sh] */
void lnet_wheel_init(struct lnet_wheel *w, u64 now_ns);
void lnet_timer_init(struct lnet_timer *t, enum lnet_timer_kind kind);
/* moves it if armed */
void lnet_timer_set(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns);
/*
 * For many that wait equally long, most of which are cancelled before: an idle one goes behind the
 * last one queued. Into the wheel if its time is earlier.
 */
void lnet_timer_queue(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns);
void lnet_timer_cancel(struct lnet_wheel *w, struct lnet_timer *t);
/*
 * Moves at most @max expired timers to @due. The order is: up to half of @max from the queue, the
 * wheel by slot and insertion, the rest of the queue. Also moves at most LNET_TIMER_MOVES timers to
 * lower levels. If timers are left, lnet_wheel_next_ns() is not in the future. The caller removes
 * each timer from @due by lnet_timer_fired().
 */
unsigned int lnet_wheel_advance(struct lnet_wheel *w, u64 now_ns, struct list_head *due,
				unsigned int max);
void lnet_timer_fired(struct lnet_wheel *w, struct lnet_timer *t);
/* not later than the first expiry; U64_MAX if empty */
u64 lnet_wheel_next_ns(struct lnet_wheel *w);

#endif
