/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Retries with random faults, and each outcome of a driver with all its consequences. */
#include "rails.h"
#include "base/base.h"

#define MS		RAILS_MS
#define T_MS		1000
#define SEEDS		300
#define SLACK_MS	50	/* 5 % of T */

static void tune(const char *name, u64 value)
{
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, name, value), 0, name);
}

static u32 below(u64 *state, u32 bound)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(((*state >> 32) * bound) >> 32);
}

/* ---- retries with random faults ---------------------------------------------------------- */

/* Returns how many attempts it may end without using a retry: those dropped before sending. */
static unsigned int random_rule(u64 *rng)
{
	static const struct { enum rails_fate fate; enum lnet_outcome how; } kinds[] = {
		{ FATE_FAIL, LNET_LOCAL_DROPPED }, { FATE_FAIL, LNET_REMOTE_DROPPED },
		{ FATE_FAIL, LNET_LOCAL_TIMEOUT }, { FATE_FAIL, LNET_NETWORK_TIMEOUT },
		{ FATE_REFUSE, LNET_LOCAL_NO_ROUTE }, { FATE_POST_FAIL, LNET_REMOTE_ERROR },
		{ FATE_LOSE, LNET_OK }, { FATE_TWICE, LNET_OK }, { FATE_DELIVER, LNET_OK },
	};
	unsigned int kind = below(rng, ARRAY_SIZE(kinds)), from = below(rng, 2);
	int rail = (int)below(rng, 3) - 1;
	int type = from ? RAILS_ANY : (int)below(rng, 2) + RAILS_PUT;
	unsigned int count = 1 + below(rng, 3);

	rails_on((int)from, rail, type, kinds[kind].fate, kinds[kind].how, (int)count);
	return !from && kinds[kind].how == LNET_REMOTE_DROPPED ? count : 0;
}

/* @more: attempts that are neither retries nor the first. */
static void check_request(unsigned int tag, u64 R, u64 more, const char *what)
{
	const struct rails_req *r = &rails.req[tag];

	UNIT_EQUAL(r->nr_final, 1, what);
	CU_ASSERT(r->nr_effects <= 1);
	CU_ASSERT(r->nr_attempts <= 1 + R + more);
	CU_ASSERT(r->status || r->nr_effects == 1);
	CU_ASSERT(!r->status || r->unknown || r->nr_effects == 0);
	CU_ASSERT(r->end_ns - r->started_ns <= (T_MS + SLACK_MS) * MS);
}

static void run_schedule(u64 seed)
{
	u64 rng = seed * 7919, R = below(&rng, 5), hedge = below(&rng, 2), before;
	unsigned int i, nr = below(&rng, 8), unsent = 0, tag, sent;
	char what[32];

	snprintf(what, sizeof(what), "seed %llu", seed);
	rails_begin(NULL);
	tune("transaction_timeout", T_MS * MS);
	tune("retry_count", R);
	tune("hedge", hedge);
	for (i = 0; i < nr; i++)
		unsent += random_rule(&rng);
	before = rails_stat(0, LNET_C_hedges);
	tag = below(&rng, 2) ? rails_put(0, 1, 100, LNET_ACK, 0) : rails_get(0, 1, 100, 0);
	rails_run((T_MS + SLACK_MS) * MS);
	check_request(tag, R, rails_stat(0, LNET_C_hedges) - before + unsent, what);
	sent = rails.req[tag].nr_attempts;
	rails_run(2 * T_MS * MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, sent, "attempts after the end");
	rails_clear();
	rails_end();
}

static void test_schedules(void)
{
	u64 seed;

	for (seed = 1; seed <= SEEDS; seed++)
		run_schedule(seed);
}

static void test_stops(void)
{
	unsigned int tag;
	u64 R;

	for (R = 0; R <= 3; R++) {
		rails_begin(NULL);
		tune("hedge", 0);
		tune("retry_count", R);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
		tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
		rails_run(2 * T_MS * MS);
		UNIT_EQUAL(rails.req[tag].nr_attempts, R + 1, "attempts when all fail");
		UNIT_EQUAL(rails.req[tag].status, lnet_outcomes[LNET_LOCAL_DROPPED].err, "end");
		rails_clear();
		tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
		rails_run(T_MS * MS);
		UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "attempts when the first succeeds");
		rails_end();
	}
}

/* No connection takes the request: this costs a retry only if the peer does not respond. */
static void test_unsent(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_REMOTE_DROPPED, 8);
	tag = rails_put(0, 1, 100, LNET_ACK, 2 * T_MS * MS);
	rails_run(2 * T_MS * MS);
	UNIT_EQUAL(rails.req[tag].status, 0, "delivered");
	UNIT_EQUAL(rails.req[tag].nr_attempts, 9, "attempts while it is heard");
	rails_end();

	rails_begin(NULL);
	rails_run(1100 * MS);
	rails_on(0, -1, RAILS_ANY, FATE_FAIL, LNET_REMOTE_DROPPED, -1);
	rails_on(0, -1, RAILS_CORE, FATE_FAIL, LNET_REMOTE_DROPPED, -1);
	tag = rails_put(0, 1, 100, LNET_ACK, 2 * T_MS * MS);
	rails_run(2 * T_MS * MS);
	UNIT_EQUAL(rails.req[tag].status, lnet_outcomes[LNET_REMOTE_DROPPED].err, "end");
	UNIT_EQUAL(rails.req[tag].nr_attempts, 3, "attempts when it is not");
	rails_clear();
	rails_end();
}

/* After attempts that cost no retry, exactly R retries are left. */
static void test_unsent_then_fails(void)
{
	unsigned int nr, tag, i;

	for (nr = 1; nr <= 4; nr++) {
		rails_begin(NULL);
		tune("hedge", 0);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_REMOTE_DROPPED, (int)nr);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
		tag = rails_put(0, 1, 100, LNET_ACK, 2 * T_MS * MS);
		rails_run(2 * T_MS * MS);
		UNIT_EQUAL(rails.req[tag].nr_attempts, nr + 1 + 2, "no connection took some");
		rails_end();

		rails_begin(NULL);
		tune("hedge", 0);
		rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, (int)nr);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
		tag = rails_put(0, 1, 100, LNET_ACK, 2 * T_MS * MS);
		for (i = 0; i < nr; i++) {
			rails_run(MS);
			rails_get(0, 1, 8, 0);
			rails_lost(0, 1, 0, LNET_PATH_LOST);
			rails_lost(0, 1, 1, LNET_PATH_LOST);
		}
		rails_run(2 * T_MS * MS);
		UNIT_EQUAL(rails.req[tag].nr_attempts, nr + 1 + 2, "some lost their connection");
		rails_end();
	}
}

/* A hedge is not one of the R retries, and adds none to them, also if no connection takes it. */
static void test_copies_refused(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_REMOTE_DROPPED, 3);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
	tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
	rails_run(2 * T_MS * MS);
	UNIT_EQUAL(rails_stat(0, LNET_C_hedges), 3, "copies");
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1 + 3 + 2, "and R resends");
	rails_end();
}

/* The same holds for a hedge that waits for a credit until it is not needed any more. */
static void test_copy_waits(void)
{
	struct rails_cfg cfg = { .peer_credits = 1 };
	unsigned int tag, rail;

	rails_begin(&cfg);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
	rail = rails.last.rail;
	rails_on(0, !rail, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
	rails_run(35 * MS);
	UNIT_EQUAL(rails_stat(0, LNET_C_hedges), 1, "a copy");
	UNIT_EQUAL(rails_path(0, 1, !rail)->pni->nr_wait, 1, "waits");
	tune("hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
	rails_link(0, !rail, false);
	rails_run(2 * T_MS * MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1 + 2, "R resends");
	rails_end();
}

/* ---- each outcome of a driver ------------------------------------------------------------ */

static const struct {
	enum lnet_outcome how;
	enum lnet_counter c;
} reported[] = {
	{ LNET_LOCAL_INTERRUPT, LNET_C_local_interrupt_count },
	{ LNET_LOCAL_DROPPED, LNET_C_local_dropped_count },
	{ LNET_LOCAL_ABORTED, LNET_C_local_aborted_count },
	{ LNET_LOCAL_NO_ROUTE, LNET_C_local_no_route_count },
	{ LNET_LOCAL_ERROR, LNET_C_local_error_count },
	{ LNET_LOCAL_TIMEOUT, LNET_C_local_timeout_count },
	{ LNET_REMOTE_ERROR, LNET_C_remote_error_count },
	{ LNET_REMOTE_DROPPED, LNET_C_remote_dropped_count },
	{ LNET_REMOTE_TIMEOUT, LNET_C_remote_timeout_count },
	{ LNET_NETWORK_TIMEOUT, LNET_C_network_timeout_count },
};

static void counters_equal(unsigned int except, const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reported); i++)
		UNIT_EQUAL(rails_stat(0, reported[i].c), i == except, name);
}

static void outcome_row(unsigned int i)
{
	const struct lnet_outcome_info *info = &lnet_outcomes[reported[i].how];
	int local = info->attribution & LNET_ATTRIB_LOCAL ? 900 : 1000;
	int remote = info->attribution & LNET_ATTRIB_REMOTE ? 900 : 1000;
	struct rails_cfg cfg = { .nr_nodes = 2, .nr_shards = 1, .one_rail = true };
	unsigned int tag;

	rails_begin(&cfg);
	tune("retry_count", 0);
	rails_on(0, 0, RAILS_CORE, FATE_KEEP, LNET_OK, -1);	/* no recovery ping heals it */
	rails_on(0, 0, RAILS_PUT, FATE_FAIL, reported[i].how, 1);
	tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].status, info->err, info->name);
	UNIT_EQUAL(rails.req[tag].unknown, info->delivery != LNET_DELIVERY_NOT, info->name);
	UNIT_EQUAL(atomic_read(&rails_ni(0, 0)->health), local, info->name);
	UNIT_EQUAL(rails_path(0, 1, 0)->pni->health, remote, info->name);
	counters_equal(i, info->name);
	rails_clear();
	rails_give(LNET_OK);
	rails_end();
}

static void test_outcomes(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(reported); i++)
		outcome_row(i);
}

/* The reply is lost; @life: the path continues to prove that the peer responds. */
static void lose_answer(bool life, unsigned int counted, const char *name)
{
	struct rails_cfg cfg = { .nr_nodes = 2, .nr_shards = 1, .one_rail = true };
	unsigned int tag, i;

	rails_begin(&cfg);
	tune("hedge", 0);
	tune("retry_count", 0);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 100, LNET_ACK, T_MS * MS);
	for (i = 0; i < 12; i++) {
		if (life && i < 9)
			rails_get(0, 1, 8, 0);
		rails_run(T_MS / 10 * MS);
	}
	UNIT_EQUAL(rails.req[tag].status, -ETIMEDOUT, name);
	UNIT_EQUAL(rails.req[tag].unknown, true, name);
	UNIT_EQUAL(rails_stat(0, reported[counted].c), 1, name);
	UNIT_EQUAL(rails_stat(0, LNET_C_response_timeout_count), 1, name);
	rails_clear();
	rails_end();
}

static void test_missing_answer(void)
{
	lose_answer(true, 8, "the path lived");
	lose_answer(false, 9, "nothing was heard");
}

/* @tag ended in time, and no driver ever received it. */
static void check_never_left(unsigned int tag, const char *what)
{
	const struct rails_req *r = &rails.req[tag];

	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(r->nr_final, 1, what);
	UNIT_EQUAL(r->nr_attempts, 0, what);
	UNIT_EQUAL(r->nr_effects, 0, what);
	UNIT_EQUAL(r->status, -ETIMEDOUT, what);
	UNIT_EQUAL(r->unknown, 0, what);
}

/* Timers are coarse: a request may get what it waited for between its deadline and its end. */
static void test_late(void)
{
	struct rails_cfg narrow = { .peer_credits = 1, .one_rail = true };
	struct rails_cfg stranger = { .quiet = true };
	unsigned int tag;

	rails_begin(&stranger);
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 50 * RAILS_MS);
	rails_run(RAILS_MS);
	rails.now_ns = rails.req[tag].started_ns + 50 * RAILS_MS + 1;
	rails_release();
	check_never_left(tag, "for a grant");
	rails_end();

	rails_begin(&narrow);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	tag = rails_put(0, 1, 8, LNET_ACK, 5 * RAILS_MS);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.kept), 1, "one is with the driver");
	rails.now_ns = rails.req[tag].started_ns + 5 * RAILS_MS + 1;
	rails_give(LNET_OK);
	check_never_left(tag, "for a credit");
	rails_end();
}

/* Lost connections use no retry while the peer responds. At retry_count 0, one ends the request. */
static void test_lost_in_turn(void)
{
	unsigned int i, turn, tag, other;

	for (i = 0; i < 2; i++) {
		rails_begin(NULL);
		rails_tune(0, "retry_count", i ? 0 : 2);
		rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
		tag = rails_put(0, 1, 64, LNET_ACK, 0);
		for (turn = 0; turn < 8; turn++) {
			rails_run(RAILS_MS);
			other = rails_get(0, 1, 8, 0);
			rails_run(RAILS_MS);
			UNIT_EQUAL(rails_done(other), 1, "it is there");
			rails_lost(0, 1, 0, LNET_PATH_LOST);
			rails_lost(0, 1, 1, LNET_PATH_LOST);
		}
		rails_clear();
		rails_run(5 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_done(tag), 1, "ended");
		UNIT_EQUAL(rails.req[tag].status, i ? -ECONNRESET : 0, "how");
		rails_end();
	}
}

static void check_once(unsigned int times, const char *what)
{
	unsigned int i;

	memset(rails.nr_once, 0, sizeof(rails.nr_once));
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_get(0, 1, 8, 0);
	rails_run(RAILS_MS);
	for (i = RAILS_ACK; i <= RAILS_REPLY; i++)
		UNIT_EQUAL(rails.nr_once[i], times, what);
	UNIT_EQUAL(rails.nr_once[RAILS_CORE], 0, "pings and session requests are repeated");
}

/* A driver keeps a suspect connection while it holds messages that are sent once. */
static void test_sent_once(void)
{
	static const struct rails_cfg quiet = { .quiet = true };

	rails_begin(NULL);
	check_once(0, "between nodes of this project each message is repeated");
	rails_end();
	rails_begin(&quiet);
	rails.node[1].stock = true;
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	check_once(1, "a stock peer gets each message once");
	rails_tune(0, "resend_ambiguous", 1);
	memset(rails.nr_once, 0, sizeof(rails.nr_once));
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.nr_once[RAILS_PUT], 0, "unless the operator allows more");
	rails_end();
}

UNIT_SUITE(retry,
	   { "only messages that are not tracked are lost with their connection", test_sent_once },
	   { "lnt-060, lnt-065, lnt-075: over random faults at most R resends, none after the end",
	     test_schedules },
	   { "lnt-060, lnt-065, lnt-090: R + 1 attempts when all fail, one when it succeeds",
	     test_stops },
	   { "connections that break in turn", test_lost_in_turn },
	   { "what waited until its time was over never leaves", test_late },
	   { "what no connection took costs no try while the peer is heard", test_unsent },
	   { "lnt-060: attempts that cost no retry add none to the R retries",
	     test_unsent_then_fails },
	   { "lnt-060: copies that are refused are no resends", test_copies_refused },
	   { "lnt-060: nor are those that never left", test_copy_waits },
	   { "lnd-060, lnd-045/050/055: each outcome has its errno, blame, counter",
	     test_outcomes },
	   { "lnd-055, lnd-050: an answer is missing, with and without signs of life",
	     test_missing_answer })
