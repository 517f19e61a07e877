/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every allocation of the core fails once: while nodes are configured, while requests start and
 * end, while nodes end. No request is lost or duplicated, and a failed action succeeds the next
 * time.
 */
#include "rails.h"

#define ALLOCS_MAX 20000

static unsigned int nr_allocs;

static bool count_alloc(size_t size)
{
	nr_allocs++;
	return false;
}

/* Requests of all kinds, both ways. */
static void traffic(void)
{
	unsigned int from;

	for (from = 0; from < 2; from++) {
		rails_put(from, !from, 64, LNET_ACK, 0);
		rails_put(from, !from, 64, 0, 0);
		rails_get(from, !from, 64, 0);
		rails_put(from, !from, 8000, LNET_ACK, 0);
		rails_get(from, !from, 8000, 0);
		rails_run(20 * RAILS_MS);
	}
}

/* Two replies to the second traffic are late, so that second attempts are made. */
static void life(const struct rails_cfg *cfg)
{
	rails_begin(cfg);
	traffic();
	rails_on(1, -1, RAILS_ANY, FATE_DELAY, LNET_OK, 2);
	traffic();
	rails_release();
	rails_restart(1);
	traffic();
	rails_end();
}

static void check_requests(unsigned int nth)
{
	char what[64];
	unsigned int i;

	snprintf(what, sizeof(what), "effects, allocation %u failed", nth);
	for (i = 1; i <= rails.nr_tags; i++) {
		const struct rails_req *r = &rails.req[i];

		UNIT_EQUAL(r->nr_effects > 1, false, what);
		UNIT_EQUAL(!r->status && !r->nr_effects, false, what);
	}
}

static void each_fails(const struct rails_cfg *cfg)
{
	unsigned int nth, all;

	nr_allocs = 0;
	plat_alloc_fail = count_alloc;
	life(cfg);
	plat_alloc_fail = NULL;
	check_requests(0);
	all = nr_allocs;
	CU_ASSERT(all > 100 && all < ALLOCS_MAX);
	for (nth = 1; nth <= all; nth++) {
		unit_fail_alloc(nth);
		life(cfg);
		unit_fail_alloc(0);
		check_requests(nth);
	}
}

static void test_two_rails(void)
{
	static const struct rails_cfg cfg = { .quiet = true };

	each_fails(&cfg);
}

static void test_one_rail(void)
{
	static const struct rails_cfg cfg = { .quiet = true, .one_rail = true, .nr_shards = 2 };

	each_fails(&cfg);
}

static void test_discovery(void)
{
	static const struct rails_cfg cfg = { .quiet = true, .discover = true, .strangers = true };

	each_fails(&cfg);
}

UNIT_SUITE(nomem,
	{ "two rails, any allocation fails: nothing is lost or doubled", test_two_rails },
	{ "one rail, two shards, any allocation fails: the same", test_one_rail },
	{ "strangers that discover each other: the same", test_discovery })
