/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The timer wheel of a shard: five levels of 64 slots, with a tick of 2^17 ns. Arming and
 * cancelling are O(1). In addition, a queue serves timers of equal duration at a lower cost.
 */
#include "base/base.h"

#define SLOT_MASK (LNET_WHEEL_SLOTS - 1)
#define LEVEL_SHIFT 6
#define TOP (LNET_WHEEL_LEVELS - 1)
#define WHEEL_TICKS (1ULL << (LEVEL_SHIFT * LNET_WHEEL_LEVELS))

void lnet_wheel_init(struct lnet_wheel *w, u64 now_ns)
{
	unsigned int level, slot;

	memset(w, 0, sizeof(*w));
	w->now_tick = now_ns >> LNET_TICK_SHIFT;
	w->soonest_ns = U64_MAX;
	INIT_LIST_HEAD(&w->queue);
	INIT_LIST_HEAD(&w->begun);
	memset(w->level_ns, 0xff, sizeof(w->level_ns));
	for (level = 0; level < LNET_WHEEL_LEVELS; level++)
		for (slot = 0; slot < LNET_WHEEL_SLOTS; slot++)
			INIT_LIST_HEAD(&w->slot[level][slot].timers);
}

void lnet_timer_init(struct lnet_timer *t, enum lnet_timer_kind kind)
{
	INIT_LIST_HEAD(&t->link);
	t->when_ns = 0;
	t->kind = kind;
}

/*
 * Returns the first tick that does not begin before @when_ns, so that a timer never expires too
 * early.
 */
static u64 tick_of(u64 when_ns)
{
	u64 tick = when_ns >> LNET_TICK_SHIFT;

	return tick + ((when_ns & ((1ULL << LNET_TICK_SHIFT) - 1)) != 0);
}

static void wheel_timer_place(struct lnet_wheel *w, struct lnet_timer *t, u64 tick)
{
	u64 ahead = tick - w->now_tick;
	unsigned int level = 0, ix;
	struct lnet_wheel_slot *slot;

	/* the time is beyond the wheel: when the last slot begins, the timer is moved again */
	if (ahead >= WHEEL_TICKS) {
		ahead = WHEEL_TICKS - 1;
		tick = w->now_tick + ahead;
	}
	while (ahead >> (LEVEL_SHIFT * (level + 1)))
		level++;
	ix = (tick >> (LEVEL_SHIFT * level)) & SLOT_MASK;
	slot = &w->slot[level][ix];
	if (list_empty(&slot->timers) || t->when_ns < slot->first_ns)
		slot->first_ns = t->when_ns;
	w->level_ns[level] = min(w->level_ns[level], t->when_ns);
	list_add_tail(&t->link, &slot->timers);
	w->used[level] |= 1ULL << ix;
}

void lnet_timer_cancel(struct lnet_wheel *w, struct lnet_timer *t)
{
	struct lnet_wheel_slot *slots = &w->slot[0][0], *slot;
	struct list_head *head = t->link.next;

	if (list_empty(&t->link))
		return;
	w->nr--;
	list_del_init(&t->link);
	if (!list_empty(head))
		return;
	slot = container_of(head, struct lnet_wheel_slot, timers);
	if (slot >= slots && slot < slots + LNET_WHEEL_LEVELS * LNET_WHEEL_SLOTS)
		w->used[(slot - slots) / LNET_WHEEL_SLOTS] &=
			~(1ULL << ((slot - slots) % LNET_WHEEL_SLOTS));
}

void lnet_timer_fired(struct lnet_wheel *w, struct lnet_timer *t)
{
	list_del_init(&t->link);
	w->nr--;
}

void lnet_timer_set(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns)
{
	u64 tick = tick_of(when_ns);

	lnet_timer_cancel(w, t);
	t->when_ns = when_ns;
	w->soonest_ns = min(w->soonest_ns, when_ns);
	wheel_timer_place(w, t, max(tick, w->now_tick + 1));
	w->nr++;
}

void lnet_timer_queue(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns)
{
	if (!list_empty(&w->queue) &&
	    list_last_entry(&w->queue, struct lnet_timer, link)->when_ns > when_ns) {
		lnet_timer_set(w, t, when_ns);
		return;
	}
	t->when_ns = when_ns;
	w->soonest_ns = min(w->soonest_ns, when_ns);
	list_add_tail(&t->link, &w->queue);
	w->nr++;
}

/* Returns the tick at which the next non-empty slot of @level begins. */
static u64 level_next(const struct lnet_wheel *w, unsigned int level)
{
	unsigned int shift = LEVEL_SHIFT * level;
	u64 now = w->now_tick >> shift;
	unsigned int at = (now + 1) & SLOT_MASK;
	u64 used = w->used[level];

	if (!used)
		return U64_MAX;
	used = used >> at | (at ? used << (LNET_WHEEL_SLOTS - at) : 0);
	return (now + 1 + __ffs64(used)) << shift;
}

/*
 * Returns the time of the first expiry of @level. If the first timer was cancelled, the result may
 * be too early.
 */
static u64 level_first_ns(const struct lnet_wheel *w, unsigned int level)
{
	u64 tick = level_next(w, level), used = w->used[TOP], first_ns = U64_MAX;

	if (tick == U64_MAX)
		return U64_MAX;
	if (level < TOP)
		first_ns = w->slot[level][(tick >> (LEVEL_SHIFT * level)) & SLOT_MASK].first_ns;
	/*
	 * At the top level, a timer beyond the wheel may be in an earlier slot than a timer that
	 * expires before it.
	 */
	for (; level == TOP && used; used &= used - 1)
		first_ns = min(first_ns, w->slot[TOP][__ffs64(used)].first_ns);
	return max(tick_of(first_ns), w->now_tick + 1) << LNET_TICK_SHIFT;
}

u64 lnet_wheel_next_ns(struct lnet_wheel *w)
{
	u64 next_ns = U64_MAX;
	unsigned int level;

	w->soonest_ns = U64_MAX;
	if (unlikely(!list_empty(&w->begun)))
		return w->now_tick << LNET_TICK_SHIFT;
	for (level = 0; w->nr && level < LNET_WHEEL_LEVELS; level++) {
		if (tick_of(w->level_ns[level]) <= w->now_tick)
			w->level_ns[level] = level_first_ns(w, level);
		next_ns = min(next_ns, w->level_ns[level]);
	}
	if (next_ns != U64_MAX)
		next_ns = tick_of(next_ns) << LNET_TICK_SHIFT;
	if (list_empty(&w->queue))
		return next_ns;
	return min(next_ns, list_first_entry(&w->queue, struct lnet_timer, link)->when_ns);
}

/*
 * Moves timers of begun slots to @due or to lower levels. A slot of a high level may have all
 * timers of a shard. So the function moves at most *@moves timers to lower levels, and the caller
 * continues later.
 */
static unsigned int expire_begun(struct lnet_wheel *w, struct list_head *due, unsigned int max,
				 unsigned int *moves)
{
	unsigned int nr = 0;
	struct lnet_timer *t;
	u64 tick;

	while (nr < max && *moves && !list_empty(&w->begun)) {
		t = list_first_entry(&w->begun, struct lnet_timer, link);
		tick = tick_of(t->when_ns);
		if (tick <= w->now_tick) {
			list_move_tail(&t->link, due);
			nr++;
			continue;
		}
		list_del_init(&t->link);
		wheel_timer_place(w, t, tick);
		(*moves)--;
	}
	return nr;
}

static unsigned int wheel_queue_expire(struct lnet_wheel *w, u64 now_ns, struct list_head *due,
				       unsigned int max)
{
	struct lnet_timer *t, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(t, next, &w->queue, link) {
		if (nr == max || t->when_ns > now_ns)
			break;
		list_move_tail(&t->link, due);
		nr++;
	}
	return nr;
}

static unsigned int expire_wheel(struct lnet_wheel *w, u64 now_ns, struct list_head *due,
				 unsigned int max)
{
	unsigned int moves = LNET_TIMER_MOVES, nr = 0, level, slot;
	u64 target = now_ns >> LNET_TICK_SHIFT, next;

	for (;;) {
		nr += expire_begun(w, due, max - nr, &moves);
		if (!list_empty(&w->begun) || nr == max || !moves || w->now_tick >= target)
			return nr;
		next = U64_MAX;
		for (level = 0; w->nr && level < LNET_WHEEL_LEVELS; level++)
			next = min(next, level_next(w, level));
		w->now_tick = min(next, target);
		if (next > target)
			return nr;
		/* Each timer of a slot that begins now is due, or moves to a lower level. */
		for (level = LNET_WHEEL_LEVELS; level-- > 0;) {
			if (next & ((1ULL << (LEVEL_SHIFT * level)) - 1))
				continue;
			slot = (next >> (LEVEL_SHIFT * level)) & SLOT_MASK;
			list_splice_tail_init(&w->slot[level][slot].timers, &w->begun);
			w->used[level] &= ~(1ULL << slot);
		}
	}
}

/*
 * The queue first gets half of @max, so neither the queue nor the wheel delays the other for long.
 */
unsigned int lnet_wheel_advance(struct lnet_wheel *w, u64 now_ns, struct list_head *due,
				unsigned int max)
{
	unsigned int nr = wheel_queue_expire(w, now_ns, due, max / 2);

	nr += expire_wheel(w, now_ns, due, max - nr);
	return nr + wheel_queue_expire(w, now_ns, due, max - nr);
}
