/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of base/: timers, scatter lists, outcomes, token buckets, and times that repeated
 * failures double. No function uses an instance (struct lnet).
 */
#ifndef LNET_BASE_BASE_H
#define LNET_BASE_BASE_H

#include "plat.h"
#include "model/limits.h"
#include "model/outcome.h"
#include "model/relapses.h"
#include "model/timer.h"
#include <lnet/lnd.h>

struct lnet_op;

/* ---- timer.c --------------------------------------------------------------------------------- */
/* All [sh]. */

/* Makes @w an empty wheel. */
void lnet_wheel_init(struct lnet_wheel *w, u64 now_ns);
/* Makes @t an idle timer. */
void lnet_timer_init(struct lnet_timer *t, enum lnet_timer_kind kind);
/* Disarms the timer @t, if it is armed. */
void lnet_timer_cancel(struct lnet_wheel *w, struct lnet_timer *t);
/* Removes @t from the list @due that lnet_wheel_advance() filled. */
void lnet_timer_fired(struct lnet_wheel *w, struct lnet_timer *t);
/* Arms @t. If @t is armed already, changes its time. */
void lnet_timer_set(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns);
/*
 * Arms the idle @t. If the last timer of the queue expires after @t, adds @t to the wheel,
 * otherwise to the end of the queue. Meant for many timers of equal duration, most of which are
 * cancelled before they expire.
 */
void lnet_timer_queue(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns);
/* Returns a time that is not later than the first expiry; U64_MAX: no timer is armed. */
u64 lnet_wheel_next_ns(struct lnet_wheel *w);
/*
 * Moves at most @max expired timers to @due, in three steps. First takes up to half of @max from
 * the queue. Then takes timers from the wheel: slot by slot, and in a slot in the order of
 * insertion. Last takes timers from the queue again. Also moves at most LNET_TIMER_MOVES timers to
 * lower levels of the wheel. If expired timers remain, lnet_wheel_next_ns() returns a time that is
 * not in the future. The caller removes each timer from @due by lnet_timer_fired().
 */
unsigned int lnet_wheel_advance(struct lnet_wheel *w, u64 now_ns, struct list_head *due,
				unsigned int max);

/* ---- outcomes.c ------------------------------------------------------------------------------ */
extern const struct lnet_outcome_info lnet_outcomes[LNET_NR_OUTCOMES];
/*
 * Returns the errno of the ended @op: that of its outcome or, if the peer rejected the connection,
 * that of the rejection.
 */
int lnet_op_err(const struct lnet_op *op);

/* ---- a token bucket that is stored as one time ----------------------------------------------- */

/*
 * Takes one token from a token bucket, which *@paid_ns stores. The bucket gets one token each
 * @gap_ns, and has at most @span_ns / @gap_ns tokens. Returns 0, or the time in ns until the bucket
 * has a token. If the caller changes @gap_ns or @span_ns, the bucket is empty at worst. If two
 * threads race, both may take the same token.
 */
static inline u64 lnet_bucket_take(u64 *paid_ns, u64 now_ns, u64 gap_ns, u64 span_ns)
{
	u64 most_ns = now_ns + span_ns;
	u64 from_ns = min(max(READ_ONCE(*paid_ns), now_ns), most_ns);

	if (from_ns + gap_ns > most_ns) {
		WRITE_ONCE(*paid_ns, from_ns);
		return from_ns + gap_ns - most_ns;
	}
	WRITE_ONCE(*paid_ns, from_ns + gap_ns);
	return 0;
}

/* ---- hold-downs: each failure soon after a recovery doubles a time --------------------------- */

#define LNET_RELAPSES_MAX 16U

/*
 * Records a recovery at @now_ns. Any context; a reader that races with a writer gets an old or a
 * new value.
 */
static inline void lnet_relapses_recover(struct lnet_relapses *r, u64 now_ns)
{
	WRITE_ONCE(r->well_ns, now_ns);
}

/*
 * Counts a failure soon after a recovery. The first failure, or one long after the last recovery,
 * sets the count to 0.
 */
static inline void lnet_relapses_fail(struct lnet_relapses *r, u64 now_ns)
{
	u64 well_ns = READ_ONCE(r->well_ns);
	bool soon = well_ns && now_ns - min(now_ns, well_ns) < LNET_FLAP_NS;

	WRITE_ONCE(r->nr, soon ? min(READ_ONCE(r->nr) + 1U, LNET_RELAPSES_MAX) : 0);
}

/* Returns @first, doubled @times times, but at most @most. */
static inline u64 lnet_doubled(u64 first, unsigned int times, u64 most)
{
	return times < 64 && first <= most >> times ? first << times : most;
}

#endif
