/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/shard/stats.c and lnet/manage/stats_reset.c: histograms and their quantiles, sums
 * over shards, reset, names.
 */
#define lnet_counter_names stats_counter_names
#define lnet_counter_get stats_counter_get
#define lnet_times_sum stats_times_sum
#define lnet_hist_quantile stats_hist_quantile
#define lnet_stat_sum stats_stat_sum
#define lnet_stat_count stats_stat_count
#define lnet_pass_stats_add stats_books_close
#define lnet_stat_sent stats_stat_sent
#define lnet_stat_recv stats_stat_recv
#define lnet_stat_drop stats_stat_drop
#define lnet_stat_start stats_stat_start
#define lnet_stat_end stats_stat_end
#define lnet_replies_full stats_answers_full
#define lnet_stat_posted stats_stat_posted
#define lnet_stat_reply stats_stat_answer
#define lnet_stats_reset stats_stats_reset
#define lnet_pass_begin stats_pass_begin
#define lnet_pass_end stats_pass_end
#define lnet_enter stats_enter
#define lnet_leave stats_leave
#define lnet_peers_walk stats_peers_walk
#define lnet_fault_count_reset stats_fault_count_reset
#define lnet_shard_stats_reset stats_shard_stats_reset
#define lnet_peer_stats_reset stats_peer_stats_reset
#include "paths.h"
#include "lnet/shard/stats.c"
#include "lnet/manage/stats_reset.c"

static u64 fault_hits[2];

void stats_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->ln = ln;
}

void stats_pass_end(struct lnet_pass *p) {}

void stats_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	p->sh = sh;
}

void stats_leave(struct lnet_pass *p)
{
	p->sh = NULL;
}

void stats_peers_walk(struct lnet_pass *p,
		      void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg)
{
	fn(p, list_first_entry(&p->ln->peers, struct lnet_peer, link), arg);
}

static u64 fault_count(const struct lnet *ln, bool delay)
{
	return fault_hits[delay];
}

static const struct lnet_hooks hooks = { .fault_count = fault_count };

void stats_fault_count_reset(struct lnet *ln)
{
	memset(fault_hits, 0, sizeof(fault_hits));
}

/*
 * Every value is in the bucket whose edges enclose it. Edges rise, and no bucket is wider than a
 * quarter of its lower edge.
 */
static void test_buckets(void)
{
	unsigned int i;
	u64 ns;

	UNIT_EQUAL(hist_bucket(0), 0, "0");
	UNIT_EQUAL(hist_bucket(511), 0, "below 512");
	UNIT_EQUAL(hist_bucket(512), 1, "512");
	UNIT_EQUAL(hist_bucket(639), 1, "last of the first quarter");
	UNIT_EQUAL(hist_bucket(640), 2, "second quarter");
	UNIT_EQUAL(hist_bucket(1024), 5, "next power");
	for (i = 0; i < LNET_HIST_BUCKETS - 1; i++) {
		UNIT_EQUAL(hist_bucket(bucket_end(i) - 1), i, "last value");
		UNIT_EQUAL(hist_bucket(bucket_end(i)), i + 1, "first value of the next");
		if (i)
			CU_ASSERT_TRUE((bucket_end(i) - bucket_end(i - 1)) * 4 <=
				       bucket_end(i - 1));
	}
	for (ns = bucket_end(LNET_HIST_BUCKETS - 2); ns < U64_MAX / 2; ns *= 2)
		UNIT_EQUAL(hist_bucket(ns), LNET_HIST_BUCKETS - 1, "the rest");
	UNIT_EQUAL(hist_bucket(U64_MAX), LNET_HIST_BUCKETS - 1, "the largest");
	CU_ASSERT_TRUE(bucket_end(LNET_HIST_BUCKETS - 2) > 6000000000ULL);
}

struct seen {
	struct lnet_times t;
	struct lnet_hist h;
};

static void see(struct seen *s, u64 ns)
{
	times_add(&s->t, ns, 1);
	hist_add(&s->h, ns, 1);
}

static u64 quantile(const struct seen *s, unsigned int permille)
{
	return lnet_hist_quantile(&s->h, s->t.max_ns, permille);
}

static void test_quantiles(void)
{
	struct seen s = { .t.count = 0 };
	unsigned int i;

	UNIT_EQUAL(quantile(&s, 500), 0, "empty");
	for (i = 1; i <= 1000; i++)
		see(&s, i * 1000);
	UNIT_EQUAL(s.t.count, 1000, "count");
	UNIT_EQUAL(s.t.sum_ns, 500500000, "sum");
	UNIT_EQUAL(s.t.min_ns, 1000, "min");
	UNIT_EQUAL(s.t.max_ns, 1000000, "max");
	UNIT_EQUAL(quantile(&s, 0), 1024, "p0: edge of the first bucket in use");
	UNIT_EQUAL(quantile(&s, 500), 524288, "p50: 500 us, in [458752, 524288)");
	UNIT_EQUAL(quantile(&s, 990), 1000000, "p99: edge 1048576, but nothing was larger");
	UNIT_EQUAL(quantile(&s, 1000), 1000000, "p100");
	UNIT_EQUAL(quantile(&s, 5000), 1000000, "beyond");
	UNIT_EQUAL(quantile(&s, 100), 114688, "p10: 100 us, in [98304, 114688)");
	see(&s, 60000000000ULL);
	UNIT_EQUAL(quantile(&s, 1000), 60000000000LL, "beyond the last edge: the maximum");
}

/* One slow message in 1000 does not change p99.9, two do. */
static void test_tail(void)
{
	struct seen s = { .t.count = 0 };
	unsigned int i;

	for (i = 0; i < 999; i++)
		see(&s, 10000);
	see(&s, 50000000);
	UNIT_EQUAL(quantile(&s, 999), 10240, "999 of 1000 are below");
	see(&s, 50000000);
	UNIT_EQUAL(quantile(&s, 999), 50000000, "999 of 1001 are not enough");
	UNIT_EQUAL(quantile(&s, 990), 10240, "p99");
}

/* Buckets are small: when one is full, all are halved, so their proportions stay the same. */
static void test_full(void)
{
	struct seen s = { .t.count = 0 };
	unsigned int i;

	for (i = 0; i < 1000000; i++)
		see(&s, i % 500 ? 10000 : 50000000);
	UNIT_EQUAL(s.t.count, 1000000, "all are counted");
	UNIT_EQUAL(quantile(&s, 500), 10240, "p50");
	UNIT_EQUAL(quantile(&s, 997), 10240, "p99.7");
	UNIT_EQUAL(quantile(&s, 999), 50000000, "p99.9: two in a thousand are slow");
	for (i = 0; i < 1000000; i++)
		see(&s, 1000000);
	UNIT_EQUAL(quantile(&s, 500), 1048576, "what is long ago counts less");
}

/* The sum equals the result of adding all times to one structure. */
static void test_sum(void)
{
	struct lnet_times a = { .count = 0 }, b = { .count = 0 }, both = { .count = 0 }, sum;
	unsigned int i;

	lnet_times_sum(&sum, &a, &b);
	CU_ASSERT_EQUAL(memcmp(&sum, &both, sizeof(sum)), 0);
	for (i = 0; i < 40; i++) {
		times_add(i % 3 ? &b : &a, 900ULL << i % 13, 1);
		times_add(&both, 900ULL << i % 13, 1);
		lnet_times_sum(&sum, &a, &b);
		CU_ASSERT_EQUAL(memcmp(&sum, &both, sizeof(sum)), 0);
		lnet_times_sum(&sum, &b, &a);
		CU_ASSERT_EQUAL(memcmp(&sum, &both, sizeof(sum)), 0);
	}
}

static void some_counters(struct lnet_ni *ni, u64 *values, bool reset)
{
	u32 *nr = &ni->link_speed;

	values[0] = *nr;
	if (reset)
		*nr = 0;
}

static void test_sum_and_reset(void)
{
	static const struct lnet_lnd_ops ops = { .nr_counters = 1, .counters = some_counters };
	struct world *w = world_create();
	struct lnet_shard *shards = calloc(3, sizeof(*shards));
	struct lnet_path_stats stats = { .egress.count = 5, .put_ack.sum_ns = 7 };
	struct lnet_ni *ni = world_ni(w, 1);
	unsigned int i;

	world_pni(w, 1);
	world_join(w);
	w->ln.shard = shards;
	w->ln.nr_shards = 3;
	w->ln.hooks = &hooks;
	for (i = 0; i < 3; i++) {
		shards[i].ln = &w->ln;
		shards[i].ix = 0;
		shards[i].c[LNET_C_send_count] = 10 + i;
		shards[i].c[LNET_C_msgs_alloc] = 1;
		shards[i].c[LNET_C_msgs_max] = 9;
		shards[i].c[LNET_C_fault_drops] = 1;
	}
	fault_hits[0] = 40;
	fault_hits[1] = 50;
	ni->nr_down = 5;
	ni->nr_up = 5;
	ni->ops = &ops;
	ni->link_speed = 6;
	ni->sh[0].c[LNET_NIC_timeouts] = 3;
	w->pni[0].c[LNET_PNIC_dropped] = 4;
	w->path[0].stats = &stats;
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_send_count), 33, "sum");
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_fault_drops), 43, "with what the rules counted");
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_fault_delays), 50, "with what the rules counted");
	lnet_stats_reset(&w->ln);
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_send_count), 0, "reset");
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_fault_drops), 0, "reset");
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_msgs_alloc), 3, "what exists stays");
	UNIT_EQUAL(lnet_stat_sum(&w->ln, LNET_C_msgs_max), 3, "and is the most from now on");
	UNIT_EQUAL(ni->sh[0].c[LNET_NIC_timeouts], 0, "NI");
	UNIT_EQUAL(ni->nr_down + ni->nr_up, 0, "NI events");
	UNIT_EQUAL(ni->link_speed, 0, "what the driver counts");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_dropped], 0, "peer NI");
	UNIT_EQUAL(stats.egress.count + stats.put_ack.sum_ns, 0, "histograms");
	free(shards);
	world_destroy(w);
}

static void test_names(void)
{
	unsigned int i;

	for (i = 0; i < LNET_NR_COUNTERS; i++)
		CU_ASSERT_PTR_NOT_NULL(lnet_counter_names[i]);
	UNIT_TEXT(lnet_counter_names[LNET_C_drop_length], "drop_length", "instance");
}

static void test_by_name(void)
{
	struct lnet_shard *shards = calloc(2, sizeof(*shards));
	struct lnet ln = { .shard = shards, .nr_shards = 2 };
	uint64_t value = 1;

	UNIT_EQUAL(lnet_counter_get(&ln, "no_such", &value), -ENOENT, "no such name");
	UNIT_EQUAL(lnet_counter_get(&ln, "send_count", &value), 0, "a name");
	UNIT_EQUAL(value, 0, "nothing was sent");
	shards[0].c[LNET_C_send_count] = 3;
	shards[1].c[LNET_C_send_count] = 4;
	UNIT_EQUAL(lnet_counter_get(&ln, "send_count", &value), 0, "a name");
	UNIT_EQUAL(value, 7, "of both shards");
	free(shards);
}

UNIT_SUITE(stats, { "stt-030: buckets enclose their values", test_buckets },
	   { "stt-030 stt-035: quantiles of a known distribution", test_quantiles },
	   { "stt-035: the tail", test_tail },
	   { "stt-030: a bucket that is full", test_full },
	   { "the sum of two is as one", test_sum },
	   { "stt-005 stt-030: sums over shards, reset of all but what exists",
	     test_sum_and_reset },
	   { "stt-005: every counter has its name", test_names },
	   { "a counter is found by its name", test_by_name })
