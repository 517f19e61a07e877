/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of the hold-downs in lnet/base/base.h: how failures are counted, and times that double. */
#include "unit.h"
#include "base/base.h"

static const struct {
	const char *name;
	u64 after_ns;			/* the time from its recovery to this failure */
	unsigned int want;
} failures[] = {
	{ "the first failure", 0, 0 },
	{ "soon", 1, 1 },
	{ "just in time", LNET_FLAP_NS - 1, 2 },
	{ "too late: from the start", LNET_FLAP_NS, 0 },
	{ "soon after that", NSEC_PER_SEC, 1 },
};

static void test_failures(void)
{
	struct lnet_relapses r = { 0 };
	u64 now_ns = NSEC_PER_SEC;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(failures); i++) {
		now_ns += failures[i].after_ns;
		lnet_relapses_fail(&r, now_ns);
		UNIT_EQUAL(r.nr, failures[i].want, failures[i].name);
		now_ns += LNET_FLAP_NS;		/* the length of the failure does not matter */
		lnet_relapses_recover(&r, now_ns);
	}
	for (i = 0; i < 300; i++)
		lnet_relapses_fail(&r, now_ns);
	UNIT_EQUAL(r.nr, LNET_RELAPSES_MAX, "bounded");
	lnet_relapses_fail(&r, now_ns - 1);
	UNIT_EQUAL(r.nr, LNET_RELAPSES_MAX, "a clock that is behind counts as soon");
}

static void test_doubled(void)
{
	static const struct {
		u64 first, most;
		unsigned int times;
		u64 want;
	} rows[] = {
		{ 5, 100, 0, 5 },
		{ 5, 100, 4, 80 },
		{ 5, 100, 5, 100 },
		{ 5, 5, 1, 5 },
		{ 5, 3, 0, 3 },
		{ 5, 0, 0, 0 },
		{ 1, U64_MAX, 63, 1ULL << 63 },
		{ 3, U64_MAX, 63, U64_MAX },
		{ 1, U64_MAX, 64, U64_MAX },
		{ 1, 7, U32_MAX, 7 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(lnet_doubled(rows[i].first, rows[i].times, rows[i].most), rows[i].want,
			   "doubled");
}

UNIT_SUITE(relapses, { "failures soon after a recovery count", test_failures },
	   { "a time doubles up to its bound, without overflow", test_doubled })
