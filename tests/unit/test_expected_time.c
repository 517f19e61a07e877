/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/path/expected_time.c: expected times of paths, and shares of unequal rails. */
#define lnet_load_due_ns load_t_due_ns
#define lnet_load_add load_t_add
#define lnet_load_sub load_t_sub
#include "unit.h"
#include "lnet/path/expected_time.c"

#define RAILS	2
#define WINDOW	32
#define US	((u64)NSEC_PER_USEC)
#define MS	((u64)NSEC_PER_MSEC)

/* Rails that complete one request after the other, and the requests in flight on them. */
struct rail {
	struct lnet_ni *ni;
	struct lnet_path path;
	struct lnet_path_stats stats;
	struct lnet_op op[WINDOW];
	unsigned int head, tail;	/* in flight: op[head % WINDOW] .. op[tail % WINDOW] */
	u64 mbit, free_ns;		/* free_ns: when the last of these completes */
	u64 done_ns[WINDOW];
	u64 bytes;			/* completed in total */
};

struct rails {
	struct rail r[RAILS];
	u64 now_ns;
};

static struct rails *rails_make(u64 mbit0, u64 mbit1)
{
	struct rails *w = calloc(1, sizeof(*w));
	unsigned int i;

	w->r[0].mbit = mbit0;
	w->r[1].mbit = mbit1;
	w->now_ns = 1000 * MS;
	for (i = 0; i < RAILS; i++) {
		w->r[i].ni = calloc(1, sizeof(*w->r[i].ni));
		w->r[i].path.ni = w->r[i].ni;
		w->r[i].path.stats = &w->r[i].stats;
	}
	return w;
}

static void rails_free(struct rails *w)
{
	unsigned int i;

	for (i = 0; i < RAILS; i++)
		free(w->r[i].ni);
	free(w);
}

static void rail_give(struct rail *r, u32 len, u64 now_ns)
{
	unsigned int i = r->tail++ % WINDOW;
	struct lnet_op *op = &r->op[i];

	*op = (struct lnet_op) { .type = LNET_OP_PUT, .cls = LNET_CLS_DATA, .len = len };
	op->first.op = op;
	op->first.posted_ns = now_ns;
	lnet_load_add(&r->path, &op->first, now_ns);
	r->free_ns = max(r->free_ns, now_ns) + (len + HEADER_BYTES) * 8000ULL / r->mbit;
	r->done_ns[i] = r->free_ns;
}

static void rail_end(struct rail *r, bool heard)
{
	unsigned int i = r->head++ % WINDOW;

	if (heard)
		r->path.liveness_ns = r->done_ns[i];
	r->bytes += r->op[i].len;
	lnet_load_sub(&r->path, &r->op[i].first, true);
}

/* The rail on which a request completes first; NULL: nothing is in flight. */
static struct rail *next_end(struct rails *w)
{
	struct rail *next = NULL;
	unsigned int i;

	for (i = 0; i < RAILS; i++) {
		struct rail *r = &w->r[i];

		if (r->head != r->tail &&
		    (!next || r->done_ns[r->head % WINDOW] < next->done_ns[next->head % WINDOW]))
			next = r;
	}
	return next;
}

static struct rail *earlier(struct rails *w, u32 len)
{
	u64 a = lnet_load_due_ns(&w->r[0].path, len, w->now_ns);
	u64 b = lnet_load_due_ns(&w->r[1].path, len, w->now_ns);

	return &w->r[a > b];
}

/* Keeps @window requests of @len bytes in flight until @span_ns has passed. */
static void load_run(struct rails *w, u32 len, unsigned int window, u64 span_ns)
{
	u64 end_ns = w->now_ns + span_ns;
	unsigned int nr = 0, i;
	struct rail *r;

	for (i = 0; i < RAILS; i++)
		nr += w->r[i].tail - w->r[i].head;
	for (; nr < window; nr++)
		rail_give(earlier(w, len), len, w->now_ns);
	while ((r = next_end(w)) && w->now_ns < end_ns) {
		w->now_ns = r->done_ns[r->head % WINDOW];
		rail_end(r, true);
		rail_give(earlier(w, len), len, w->now_ns);
	}
}

/* Bytes/s that both rails complete in @span_ns, in percent of their capacity. */
static u64 share(struct rails *w, u32 len, unsigned int window, u64 span_ns)
{
	u64 before = w->r[0].bytes + w->r[1].bytes, from_ns = w->now_ns, can;

	load_run(w, len, window, span_ns);
	can = (w->now_ns - from_ns) * (w->r[0].mbit + w->r[1].mbit) / 8000;
	return (w->r[0].bytes + w->r[1].bytes - before) * 100 / can;
}

static const struct {
	const char *name;
	u64 mbit[RAILS];
	u32 len;
	unsigned int window;
	u64 settle_ns, least;
} unequal[] = {
	{ "200 and 20 Mbit/s", { 200, 20 }, 16384, 32, 500 * MS, 92 },
	{ "20 and 200 Mbit/s", { 20, 200 }, 16384, 32, 500 * MS, 92 },
	{ "equal", { 100, 100 }, 16384, 32, 100 * MS, 92 },
	{ "1,000 times", { 10000, 10 }, 65536, 32, 500 * MS, 92 },
	{ "few under way", { 200, 100 }, 16384, 4, 500 * MS, 85 },
};

static void test_unequal(void)
{
	unsigned int i;
	u64 got;

	for (i = 0; i < ARRAY_SIZE(unequal); i++) {
		struct rails *w = rails_make(unequal[i].mbit[0], unequal[i].mbit[1]);

		load_run(w, unequal[i].len, unequal[i].window, unequal[i].settle_ns);
		got = share(w, unequal[i].len, unequal[i].window, 1000 * MS);
		if (got < unequal[i].least)
			UNIT_EQUAL(got, unequal[i].least, unequal[i].name);
		rails_free(w);
	}
}

/* A rail that becomes slower or faster is detected within half a second. */
static void test_changes(void)
{
	struct rails *w = rails_make(100, 100);

	load_run(w, 16384, WINDOW, 500 * MS);
	w->r[1].mbit = 10;
	load_run(w, 16384, WINDOW, 500 * MS);
	CU_ASSERT(share(w, 16384, WINDOW, 1000 * MS) > 91);
	w->r[1].mbit = 100;
	load_run(w, 16384, WINDOW, 500 * MS);
	CU_ASSERT(share(w, 16384, WINDOW, 1000 * MS) > 91);
	rails_free(w);
}

/* A rail that was too slow to be selected is tried again after a long pause. */
static void test_tried_again(void)
{
	struct rails *w = rails_make(800, 10);
	u64 bytes;

	load_run(w, 1000, 1, 1000 * MS);
	w->r[1].mbit = 100000;
	bytes = w->r[1].bytes;
	load_run(w, 1000, 1, 4000 * MS);
	CU_ASSERT(w->r[1].bytes - bytes > 1000000);
	rails_free(w);
}

/*
 * Time without a response is no rate sample: with replies on another path, and until the path
 * responds again.
 */
static void test_silence(void)
{
	struct rails *w = rails_make(100, 100);
	u64 rate, i;

	load_run(w, 16384, 2, 500 * MS);
	rate = w->r[1].stats.load.mib_ns;
	CU_ASSERT(rate > 80 * MS && rate < 100 * MS);
	w->now_ns += 5000 * MS;
	while (w->r[1].head != w->r[1].tail)
		rail_end(&w->r[1], false);
	UNIT_EQUAL(w->r[1].stats.load.mib_ns, rate, "as it was");
	UNIT_EQUAL(w->r[1].stats.load.bytes, 0, "nothing is under way");
	w->r[1].path.back_ns = w->now_ns;
	w->r[1].free_ns = 0;
	for (i = 0; i < 100; i++) {
		rail_give(&w->r[1], 16384, w->now_ns);
		w->now_ns = w->r[1].free_ns;
		rail_end(&w->r[1], true);
	}
	CU_ASSERT(w->r[1].stats.load.mib_ns > 80 * MS && w->r[1].stats.load.mib_ns < 100 * MS);
	rails_free(w);
}

/*
 * Before the first sample the link speed counts; later, the rate follows changes of the link speed.
 */
static void test_link_speed(void)
{
	struct rails *w = rails_make(100, 100);
	u64 due;

	w->r[0].ni->link_speed = 10000;
	w->r[1].ni->link_speed = 100000;
	CU_ASSERT_PTR_EQUAL(earlier(w, 1 << 20), &w->r[1]);
	due = lnet_load_due_ns(&w->r[0].path, (1 << 20) - HEADER_BYTES, w->now_ns);
	CU_ASSERT(due > 800 * US && due < 900 * US);
	w->r[1].ni->link_speed = 0;
	CU_ASSERT_PTR_EQUAL(earlier(w, 1 << 20), &w->r[0]);
	load_run(w, 16384, 4, 500 * MS);
	due = lnet_load_due_ns(&w->r[0].path, 1 << 20, w->now_ns);
	w->r[0].ni->link_speed = 1000;
	rail_give(&w->r[0], 64, w->now_ns);
	CU_ASSERT(lnet_load_due_ns(&w->r[0].path, 1 << 20, w->now_ns) > 9 * due);
	rails_free(w);
}

/* A request in flight delays the next one by its payload and its header. */
static void test_load_of_one(void)
{
	static const u32 lens[] = { 0, 8, 4096, LNET_MTU };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(lens); i++) {
		struct rails *w = rails_make(100, 100);
		u64 want = lnet_load_due_ns(&w->r[0].path, lens[i] + HEADER_BYTES, w->now_ns);

		rail_give(&w->r[0], lens[i], w->now_ns);
		UNIT_EQUAL(lnet_load_due_ns(&w->r[0].path, 0, w->now_ns), want, "due");
		rails_free(w);
	}
}

/* Only requests of programs are load, and without memory for statistics nothing is counted. */
static void test_none(void)
{
	struct rails *w = rails_make(100, 100);
	struct lnet_op op = { .type = LNET_OP_ACK, .kind = LNET_KIND_STOCK_REPLY,
			      .cls = LNET_CLS_REPLY, .len = 100 };

	op.first.op = &op;
	lnet_load_add(&w->r[0].path, &op.first, w->now_ns);
	UNIT_EQUAL(op.first.load, 0, "an ACK");
	op.type = LNET_OP_PUT;
	op.kind = LNET_KIND_USER;
	op.cls = LNET_CLS_CONTROL;
	lnet_load_add(&w->r[0].path, &op.first, w->now_ns);
	UNIT_EQUAL(op.first.load, 0, "of ours");
	op.cls = LNET_CLS_DATA;
	w->r[0].path.stats = NULL;
	lnet_load_add(&w->r[0].path, &op.first, w->now_ns);
	UNIT_EQUAL(op.first.load, 0, "no statistics");
	CU_ASSERT(lnet_load_due_ns(&w->r[0].path, 100, w->now_ns) > 0);
	rails_free(w);
}

UNIT_SUITE(expected_time, { "unequal rails get their shares", test_unequal },
	   { "a rail that changes is noticed", test_changes },
	   { "what was left alone is tried again", test_tried_again },
	   { "silence is no rate", test_silence },
	   { "a link's speed counts before, and when it changes", test_link_speed },
	   { "a request in flight counts with its payload and its header", test_load_of_one },
	   { "what is no load", test_none })
