/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The timer wheel, compared with a list that is searched. */
#include "model/model.h"
#include "base/base.h"
#include "unit.h"

#define NR 64
#define TICK (1ULL << LNET_TICK_SHIFT)

static struct lnet_wheel wheel;
static struct lnet_timer timers[NR];
static u64 seed;

static u64 draw(u64 bound)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 20) % bound;
}

/* Spans of all levels, and beyond the last one. */
static u64 span(void)
{
	static const u64 most[] = { 1, TICK, 64 * TICK, 4096 * TICK, 262144 * TICK, 1ULL << 42,
				    1ULL << 49 };

	return draw(most[draw(ARRAY_SIZE(most))]) + draw(2);
}

static bool armed(const struct lnet_timer *t)
{
	return !list_empty(&t->link);
}

static u64 first_of_model(void)
{
	u64 first = U64_MAX;
	unsigned int i;

	for (i = 0; i < NR; i++)
		if (armed(&timers[i]))
			first = min(first, timers[i].when_ns);
	return first;
}

/*
 * No timer expires early, or much later, and none is lost; one that is set for the past expires
 * with the next tick.
 */
static void advance(u64 now_ns, unsigned int max, bool complete)
{
	unsigned int i, nr = 0, left = 0;
	LIST_HEAD(due);
	struct lnet_timer *t;

	lnet_wheel_advance(&wheel, now_ns, &due, max);
	while (!list_empty(&due)) {
		t = list_first_entry(&due, struct lnet_timer, link);
		CU_ASSERT(t->when_ns <= now_ns);
		lnet_timer_fired(&wheel, t);
		nr++;
	}
	for (i = 0; i < NR; i++) {
		left += armed(&timers[i]);
		if (complete && armed(&timers[i]))
			CU_ASSERT(timers[i].when_ns + 2 * TICK > now_ns);
	}
	UNIT_EQUAL(wheel.nr, left, "timers that are armed");
	CU_ASSERT(lnet_wheel_next_ns(&wheel) <= (left ? first_of_model() + 2 * TICK : U64_MAX));
	CU_ASSERT(left || lnet_wheel_next_ns(&wheel) == U64_MAX);
}

static void test_model(void)
{
	u64 now_ns;
	unsigned int run, i;

	for (run = 1; run <= 60; run++) {
		seed = run;
		now_ns = draw(1ULL << 50);
		lnet_wheel_init(&wheel, now_ns);
		for (i = 0; i < NR; i++)
			lnet_timer_init(&timers[i], LNET_TIMER_OP);
		for (i = 0; i < 2000; i++) {
			struct lnet_timer *t = &timers[draw(NR)];

			if (draw(4) == 0)
				lnet_timer_cancel(&wheel, t);
			else
				lnet_timer_set(&wheel, t, now_ns + span() - draw(2) * draw(TICK));
			if (draw(3))
				continue;
			now_ns += span();
			advance(now_ns, UINT_MAX, true);
		}
	}
}

/* A caller that wakes only at the times that the wheel returns finds each timer in time. */
static void test_next(void)
{
	u64 now_ns, next_ns;
	unsigned int run, wakes;

	for (run = 1; run <= 200; run++) {
		seed = run;
		now_ns = draw(1ULL << 50);
		lnet_wheel_init(&wheel, now_ns);
		lnet_timer_init(&timers[0], LNET_TIMER_OP);
		lnet_timer_set(&wheel, &timers[0], now_ns + span());
		for (wakes = 0; wheel.nr && wakes < 100; wakes++) {
			LIST_HEAD(due);

			next_ns = lnet_wheel_next_ns(&wheel);
			CU_ASSERT(next_ns > now_ns || next_ns == U64_MAX || wakes == 0);
			now_ns = max(now_ns, next_ns);
			if (lnet_wheel_advance(&wheel, now_ns, &due, 1))
				lnet_timer_fired(&wheel, &timers[0]);
		}
		UNIT_EQUAL(wheel.nr, 0, "fired");
		CU_ASSERT(now_ns >= timers[0].when_ns && now_ns <= timers[0].when_ns + 2 * TICK);
		CU_ASSERT(wakes <= 2);		/* a time beyond the wheel takes two visits */
	}
}

static void fire(u64 now_ns, unsigned int nr, const char *row)
{
	struct lnet_timer *t, *next;
	LIST_HEAD(due);
	u64 last_ns = 0;

	UNIT_EQUAL(lnet_wheel_advance(&wheel, now_ns, &due, UINT_MAX), nr, row);
	list_for_each_entry_safe(t, next, &due, link) {
		CU_ASSERT(t->when_ns <= now_ns && t->when_ns >= last_ns);
		last_ns = t->when_ns;
		lnet_timer_fired(&wheel, t);
	}
}

/* Timers with equally long waits expire in order, among other timers, and when they are due. */
static void test_queue(void)
{
	unsigned int i;

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < NR; i++) {
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
		lnet_timer_queue(&wheel, &timers[i], 100 * TICK + i);
	}
	UNIT_EQUAL(wheel.nr, NR, "all wait");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), 100 * TICK, "the first is the next");
	lnet_timer_cancel(&wheel, &timers[0]);
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), 100 * TICK + 1, "then the one behind it");
	lnet_timer_set(&wheel, &timers[1], 50 * TICK);
	lnet_timer_queue(&wheel, &timers[0], 60 * TICK);	/* too early for the queue */
	fire(50 * TICK - 1, 0, "nothing is due");
	fire(61 * TICK, 2, "what is in the wheel");
	fire(100 * TICK + 1, 0, "nothing is early");
	fire(100 * TICK + 2, 1, "to the nanosecond");
	fire(200 * TICK, NR - 3, "all others");
	UNIT_EQUAL(wheel.nr, 0, "none is left");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), U64_MAX, "nothing to wait for");
}

#define WHEEL (TICK << 30)

/* A timer beyond the wheel is stored at an earlier time, and hides no timer before it. */
static void test_beyond(void)
{
	unsigned int i;

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < 4; i++)
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
	lnet_timer_set(&wheel, &timers[0], 3 * WHEEL);
	lnet_timer_set(&wheel, &timers[1], WHEEL / 16);
	fire(WHEEL / 4, 1, "the near one");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), 3 * WHEEL, "only the one beyond is left");
	lnet_timer_set(&wheel, &timers[2], WHEEL + WHEEL / 16);
	lnet_timer_set(&wheel, &timers[3], WHEEL / 4 + WHEEL / 32);
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), WHEEL / 4 + WHEEL / 32, "the nearest");
	fire(WHEEL / 4 + WHEEL / 32, 1, "the nearest");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), WHEEL + WHEEL / 16, "then this one");
}

/* Several calls expire a slot: each timer once, in order of insertion, before later slots. */
static void test_order(void)
{
	unsigned int i, nr;
	LIST_HEAD(due);

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < NR; i++) {
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
		lnet_timer_set(&wheel, &timers[i], (10 + 5 * (i >= NR / 2)) * TICK);
	}
	for (nr = 0; nr < NR; nr += 5) {
		UNIT_EQUAL(lnet_wheel_advance(&wheel, 20 * TICK, &due, 5), min(5U, NR - nr),
			   "as many as asked for");
		for (i = nr; i < min(nr + 5, (unsigned int)NR); i++) {
			CU_ASSERT(list_first_entry(&due, struct lnet_timer, link) == &timers[i]);
			lnet_timer_fired(&wheel, &timers[i]);
		}
		CU_ASSERT(i == NR || lnet_wheel_next_ns(&wheel) <= 20 * TICK);
	}
	UNIT_EQUAL(wheel.nr, 0, "none is lost");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), U64_MAX, "nothing to wait for");
}

/* Between the calls that expire a slot, its timers can be cancelled and set. */
static void test_divided(void)
{
	LIST_HEAD(due);
	unsigned int i;

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < 4; i++) {
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
		lnet_timer_set(&wheel, &timers[i], 10 * TICK);
	}
	UNIT_EQUAL(lnet_wheel_advance(&wheel, 12 * TICK, &due, 1), 1, "the first");
	lnet_timer_fired(&wheel, &timers[0]);
	lnet_timer_cancel(&wheel, &timers[1]);
	lnet_timer_set(&wheel, &timers[2], 11 * TICK);
	lnet_timer_set(&wheel, &timers[0], TICK);
	UNIT_EQUAL(lnet_wheel_advance(&wheel, 12 * TICK, &due, 1), 1, "the last of the slot");
	CU_ASSERT(list_first_entry(&due, struct lnet_timer, link) == &timers[3]);
	lnet_timer_fired(&wheel, &timers[3]);
	UNIT_EQUAL(lnet_wheel_advance(&wheel, 12 * TICK, &due, 8), 2, "those of the next tick");
	lnet_timer_fired(&wheel, &timers[2]);
	lnet_timer_fired(&wheel, &timers[0]);
	UNIT_EQUAL(wheel.nr, 0, "none is left");
}

/* One call expires as many timers of the queue as of the wheel. */
static void test_shared(void)
{
	unsigned int i, of_wheel = 0;
	struct lnet_timer *t;
	LIST_HEAD(due);

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < NR; i++) {
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
		if (i % 2)
			lnet_timer_queue(&wheel, &timers[i], 10 * TICK);
		else
			lnet_timer_set(&wheel, &timers[i], 10 * TICK);
	}
	UNIT_EQUAL(lnet_wheel_advance(&wheel, 20 * TICK, &due, 8), 8, "as many as asked for");
	while (!list_empty(&due)) {
		t = list_first_entry(&due, struct lnet_timer, link);
		of_wheel += (t - timers) % 2 == 0;
		lnet_timer_fired(&wheel, t);
	}
	UNIT_EQUAL(of_wheel, 4, "half of them");
}

#define MANY (8 * LNET_TIMER_MOVES)

/* All timers are in one slot of a high level: a call moves a bounded number of them. */
static void test_moves(void)
{
	struct lnet_timer *many = calloc(MANY, sizeof(*many));
	unsigned int i, calls = 0, nr = 0;
	struct list_head *at;
	LIST_HEAD(due);
	u64 now_ns = 0;

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < MANY; i++) {
		lnet_timer_init(&many[i], LNET_TIMER_OP);
		lnet_timer_set(&wheel, &many[i], (4096 + 64 + i % 128) * TICK);
	}
	now_ns = 4096 * TICK;
	UNIT_EQUAL(lnet_wheel_advance(&wheel, now_ns, &due, UINT_MAX), 0, "none is due");
	list_for_each(at, &wheel.begun)
		nr++;
	UNIT_EQUAL(nr, MANY - LNET_TIMER_MOVES, "those that wait for their place");
	UNIT_EQUAL(lnet_wheel_next_ns(&wheel), now_ns, "at once again");
	for (nr = 0; wheel.nr && calls < 1000; calls++) {
		now_ns = max(now_ns, lnet_wheel_next_ns(&wheel));
		nr += lnet_wheel_advance(&wheel, now_ns, &due, 64);
		while (!list_empty(&due)) {
			struct lnet_timer *t = list_first_entry(&due, struct lnet_timer, link);

			CU_ASSERT(t->when_ns <= now_ns && t->when_ns + TICK > now_ns);
			lnet_timer_fired(&wheel, t);
		}
	}
	UNIT_EQUAL(nr, MANY, "each once, in time");
	free(many);
}

static void test_bounded(void)
{
	unsigned int i, rounds = 0;
	LIST_HEAD(due);

	lnet_wheel_init(&wheel, 0);
	for (i = 0; i < NR; i++) {
		lnet_timer_init(&timers[i], LNET_TIMER_OP);
		lnet_timer_set(&wheel, &timers[i], (i + 1) * TICK);
	}
	while (wheel.nr && rounds++ < 100) {
		CU_ASSERT(lnet_wheel_next_ns(&wheel) <= 100 * TICK);
		CU_ASSERT(lnet_wheel_advance(&wheel, 100 * TICK, &due, 8) <= 8);
		while (!list_empty(&due))
			lnet_timer_fired(&wheel, list_first_entry(&due, struct lnet_timer, link));
	}
	UNIT_EQUAL(rounds, NR / 8, "eight at a time");
}

UNIT_SUITE(timer,
	{ "random operations against a model", test_model },
	{ "waking at the next time finds each, in few steps", test_next },
	{ "those that wait equally long go in order", test_queue },
	{ "a time beyond the wheel's hides no earlier one", test_beyond },
	{ "a slot is divided, in order of insertion", test_order },
	{ "timers of a divided slot are cancelled and set", test_divided },
	{ "the queue and the wheel share one call", test_shared },
	{ "a call moves a bounded number of timers to lower levels", test_moves },
	{ "at most so many at a time, the rest is due at once", test_bounded })
