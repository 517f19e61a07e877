/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paths that were unresponsive and recovered: what is measured of them, and the requests that
 * waited for them.
 */
#include "rails.h"
#include "path/path.h"

#define T (5 * NSEC_PER_SEC)

/* All messages that are sent within @ns are carried at its end. */
static void slow_for(u64 ns)
{
	unsigned int i;

	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	for (i = 0; i < RAILS_RAILS; i++)
		rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(ns);
	rails_clear();
	rails_release();
	rails_run(20 * RAILS_MS);
}

/*
 * Requests on an unresponsive path took as long as the outage. The next outage is detected nearly
 * as soon as before, and after some replies just as soon.
 */
static void test_silence_is_no_rtt(void)
{
	struct lnet *ln;
	u64 before[RAILS_RAILS];
	unsigned int i;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	for (i = 0; i < 20 * RAILS_RAILS; i++)
		rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	for (i = 0; i < RAILS_RAILS; i++)
		before[i] = lnet_path_response_timeout(ln, rails_path(0, 1, i));
	slow_for(300 * RAILS_MS);
	CU_ASSERT(rails_stat(0, LNET_C_suspects) > 0);
	for (i = 0; i < RAILS_RAILS; i++)
		CU_ASSERT(lnet_path_response_timeout(ln, rails_path(0, 1, i)) <= 3 * before[i]);
	rails_run(2000 * RAILS_MS);
	for (i = 0; i < 2 * RAILS_RAILS; i++)
		rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	for (i = 0; i < RAILS_RAILS; i++)
		CU_ASSERT(lnet_path_response_timeout(ln, rails_path(0, 1, i)) <= before[i]);
	rails_end();
}

/*
 * Every message takes up to 100 ms from now on. Both paths are suspect at first, but not for ever.
 * The node learns the longer time, at least on the path that had no shorter round trips in between.
 */
static void test_slower(void)
{
	u64 after[RAILS_RAILS] = {};
	unsigned int i, k;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	for (i = 0; i < 24; i++) {
		for (k = 0; k < RAILS_RAILS; k++)
			rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(100 * RAILS_MS);
		rails_release();
		rails_run(RAILS_MS);
	}
	for (k = 0; k < RAILS_RAILS; k++)
		after[k] = lnet_path_response_timeout(rails.node[0].ln, rails_path(0, 1, k));
	CU_ASSERT(max(after[0], after[1]) >= 100 * RAILS_MS);
	CU_ASSERT(rails_stat(0, LNET_C_suspects) < 24 * RAILS_RAILS * 3 / 4);
	rails_end();
}

/* Both paths failed, so the request pauses; it is sent as soon as a ping finds a working path. */
static void test_path_back(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_ANY, FATE_FAIL, LNET_NETWORK_TIMEOUT, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "pauses");
	rails_clear();
	rails_run(T / 10);
	UNIT_EQUAL(rails_done(tag), 1, "before the pause is over");
	UNIT_EQUAL(rails.req[tag].status, 0, "delivered");
	rails_end();
}

/* The same after local failures, such as those of a link that was down: neither path is suspect. */
static void test_link_back(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_DROPPED, RAILS_RAILS);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(T / 10);
	UNIT_EQUAL(rails.req[tag].on_rail[0] + rails.req[tag].on_rail[1], RAILS_RAILS + 1,
		   "by both, and once more");
	UNIT_EQUAL(rails_stat(0, LNET_C_suspects), 0, "no silence");
	UNIT_EQUAL(rails_done(tag), 1, "before the pause is over");
	rails_end();
}

static bool is_bad(unsigned int rail)
{
	const struct lnet_path *path = rails_path(0, 1, rail);

	return path->suspect_ns || path->down_ns;
}

/*
 * A long outage is checked rarely. A request is retried as soon as the paths recover, not only at
 * the next check.
 */
static void test_long_silence(void)
{
	unsigned int tag, i;

	rails_begin(NULL);
	rails_on(-1, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(-1, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(1200 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "both copies are lost");
	CU_ASSERT(is_bad(0) || is_bad(1));
	rails_clear();
	for (i = 0; i < 1000 && (is_bad(0) || is_bad(1)); i++)
		rails_run(RAILS_MS);
	CU_ASSERT(i < 1000);
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "asked again at once");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "delivered once");
	rails_end();
}

/*
 * ACKs are cumulative, so an ACK that is lost with one path may be that of a request on the other
 * path, which works. If no other path is left, the request is retried on the same path, long before
 * the attempt timeout ends.
 */
static void test_answer_lost_elsewhere(void)
{
	unsigned int tag, rail, i;
	struct lnet_path *path;
	struct lnet_pass p;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rail = rails.last.rail;
	path = rails_path(0, 1, rail);
	for (i = 0; i < 2; i++) {
		rails_on((int)i, !rail, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
		rails_on((int)i, !rail, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	}
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, path->pni);
	lnet_path_suspect(&p, rails_path(0, 1, !rail));
	lnet_pass_end(&p);
	for (i = 0; i < 80 && !rails_done(tag); i++) {
		lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
		lnet_path_liveness(&p, path->ni, path->pni, 0);
		lnet_pass_end(&p);
		rails_run(5 * RAILS_MS);
	}
	UNIT_EQUAL(rails_done(tag), 1, "ended before its slice");
	UNIT_EQUAL(rails.req[tag].on_rail[rail], 2, "by the same rail");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "delivered once");
	rails_end();
}

/* All messages on one rail are lost, and the NI of the other has no link: no hedge can be sent. */
static void test_no_link(void)
{
	unsigned int tag, rail, loses;

	for (loses = 0; loses < 2; loses++) {
		rails_begin(NULL);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(RAILS_MS);
		rail = rails.last.rail;
		rails_link(0, !rail, false);
		rails_run(RAILS_MS);
		rails_on(loses ? 1 : 0, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
		rails_on(loses ? 1 : 0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(NSEC_PER_SEC);
		UNIT_EQUAL(rails.req[tag].on_rail[!rail], 0, "not without link");
		CU_ASSERT(rails.req[tag].on_rail[rail] > 0);
		rails_clear();
		rails_link(0, !rail, true);
		rails_run(20 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_done(tag), 1, "ends");
		rails_end();
	}
}

UNIT_SUITE(unresponsive,
	{ "what outlasted a silence is no round trip", test_silence_is_no_rtt },
	{ "a path that is slower now is not suspect for ever", test_slower },
	{ "what pauses goes when a path is back", test_path_back },
	{ "also if it was never silent", test_link_back },
	{ "a long silence ends with the first path that is back", test_long_silence },
	{ "lnd-015: no hedge uses an NI without link", test_no_link },
	{ "an answer that was lost elsewhere is asked for where it lives",
	  test_answer_lost_elsewhere })
