/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Timers: one hierarchical wheel per shard, tick 2^17 ns. */
#ifndef LNET_TIMER_H
#define LNET_TIMER_H

#include "model/timer.h"
#include "plat.h"

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
