/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The life of an operation between real nodes: timeouts, no response, hedges, outcomes. */
#include "rails.h"
#include "memory/memory.h"

#define T (5 * NSEC_PER_SEC)

static void check_took(unsigned int tag, u64 want_ns)
{
	u64 took = rails.req[tag].end_ns - rails.req[tag].started_ns;

	UNIT_EQUAL(rails.req[tag].nr_final, 1, "ended");
	CU_ASSERT(took >= want_ns && took <= want_ns + want_ns / 20);
}

/* ---- the attempt timeout --------------------------------------------------------------------- */

/* The attempt timeout that the driver gets: T / max(R, 1), but at most the remaining time. */
static void test_slices(void)
{
	static const struct {
		u32 R;
		u64 caller_ns, T_ns, slice_ns;
	} rows[] = {
		{ 0, 0, T, T }, { 1, 0, T, T }, { 2, 0, T, T / 2 }, { 5, 0, T, T / 5 },
		{ 0, 300 * RAILS_MS, 300 * RAILS_MS, 300 * RAILS_MS },
		{ 1, 300 * RAILS_MS, 300 * RAILS_MS, 300 * RAILS_MS },
		{ 2, 300 * RAILS_MS, 300 * RAILS_MS, 150 * RAILS_MS },
		{ 5, 300 * RAILS_MS, 300 * RAILS_MS, 60 * RAILS_MS },
	};
	struct lnet_op *op;
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_tune(0, "retry_count", rows[i].R);
		rails_tune(0, "hedge", 0);
		rails_on(0, -1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
		tag = rails_put(0, 1, 64, LNET_ACK, rows[i].caller_ns);
		op = list_last_entry(&rails.node[0].ln->shard[0].live, struct lnet_op, all);
		UNIT_EQUAL(op->first.deadline_ns - rails.now_ns, rows[i].slice_ns, "slice");
		UNIT_EQUAL(op->deadline_ns - rails.now_ns, rows[i].T_ns, "deadline");
		rails_run(2 * T);
		check_took(tag, rows[i].T_ns);
		UNIT_EQUAL(rails.req[tag].status, -ETIMEDOUT, "timeout");
		rails_end();
	}
}

/* The last attempt gets the rest of T, not a full attempt timeout. */
static void test_clipped(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(2 * T);
	check_took(tag, T);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "T / 2 each");
	UNIT_EQUAL(rails.req[tag].unknown, true, "perhaps");
	rails_end();
}

static const struct rails_cfg stock_cfg = { .quiet = true };

static void stock_begin(void)
{
	rails_begin(&stock_cfg);
	rails.node[1].stock = true;
	rails_get(0, 1, 8, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails.req[1].status, 0, "warm-up with a stock node");
	memset(rails.nr_carried, 0, sizeof(rails.nr_carried));
}

/* A reply is accepted until T, also if the request may not be retransmitted. */
static void test_stock_answer_lost(void)
{
	unsigned int tag[2];

	stock_begin();
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, -1);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	tag[0] = rails_get(0, 1, 64, 0);
	tag[1] = rails_put(0, 1, 64, LNET_ACK, 400 * RAILS_MS);
	rails_run(2 * T);
	check_took(tag[0], T);
	check_took(tag[1], 400 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag[0]].nr_attempts, 1, "not resent to a stock node");
	UNIT_EQUAL(rails.req[tag[0]].status, -ETIMEDOUT, "timeout");
	CU_ASSERT(rails.req[tag[0]].unknown);
	rails_end();
}

static void test_answer_lost(void)
{
	unsigned int tag[2];

	rails_begin(NULL);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, -1);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	tag[0] = rails_get(0, 1, 64, 0);
	tag[1] = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(2 * T);
	check_took(tag[0], T);
	check_took(tag[1], T);
	UNIT_EQUAL(rails.req[tag[1]].nr_effects, 1, "one effect");
	rails_end();
}

/* This holds also for the first request of all, while the ping to the peer awaits its reply. */
static void test_silent_peer(void)
{
	unsigned int tag;

	rails_begin(&stock_cfg);
	rails_on(0, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	tag = rails_get(0, 1, 64, 0);
	rails_run(3 * T);
	check_took(tag, T);
	UNIT_EQUAL(rails.req[tag].status, -ETIMEDOUT, "timeout");
	rails_end();
}

static void test_late_answer_of_last(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_tune(0, "retry_count", 1);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, 1);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(T - 100 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "still waits");
	rails_release();
	UNIT_EQUAL(rails.req[tag].status, 0, "answered");
	UNIT_EQUAL(rails_done(tag), 1, "ended");
	rails_end();
}

/* ---- unsent attempts ------------------------------------------------------------------------- */

static void test_credit_wait(void)
{
	struct rails_cfg cfg = { .peer_credits = 1, .credits = 1, .one_rail = true };
	unsigned int a, b;

	rails_begin(&cfg);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	a = rails_put(0, 1, 64, LNET_ACK, 4 * T);
	b = rails_put(0, 1, 64, LNET_ACK, T);
	rails_run(T - RAILS_MS);
	UNIT_EQUAL(rails_done(b), 0, "waits for a credit");
	rails_run(T / 20);
	check_took(b, T);
	UNIT_EQUAL(rails.req[b].unknown, false, "never left");
	UNIT_EQUAL(rails.req[b].status, -ETIMEDOUT, "a local timeout");
	UNIT_EQUAL(rails.req[b].nr_attempts, 0, "no attempt");
	UNIT_EQUAL(rails_done(a), 0, "the other has its own time");
	rails_end();
}

/* The transaction timeout starts when an attempt is first handed to a driver. */
static void test_clock_starts(void)
{
	struct rails_cfg cfg = { .peer_credits = 1, .credits = 1, .one_rail = true };
	unsigned int b;

	rails_begin(&cfg);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	rails_put(0, 1, 64, LNET_ACK, 4 * T);
	b = rails_put(0, 1, 64, LNET_ACK, T);
	rails_run(T / 2);
	rails_give(LNET_OK);
	rails_run(T - RAILS_MS);
	UNIT_EQUAL(rails_done(b), 0, "a whole T from the hand-over");
	rails_run(T / 10);
	check_took(b, T + T / 2);
	rails_end();
}

/* An attempt that is still unsent in the driver at the deadline was not delivered. */
static void test_unsent_at_deadline(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 300 * RAILS_MS);
	rails_run(T);
	check_took(tag, 300 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].unknown, false, "all of it was taken back unsent");
	UNIT_EQUAL(rails_stat(0, LNET_C_ops_failed), 1, "counted as failed");
	UNIT_EQUAL(rails_stat(0, LNET_C_ops_unknown), 0, "not as perhaps");
	rails_end();
}

static void test_posted_at_deadline(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 300 * RAILS_MS);
	rails_run(T);
	UNIT_EQUAL(rails.req[tag].unknown, true, "posted is perhaps");
	UNIT_EQUAL(rails_stat(0, LNET_C_ops_unknown), 1, "counted as perhaps");
	rails_end();
}

/* ---- no response ----------------------------------------------------------------------------- */

static void test_hedge(void)
{
	unsigned int tag, rail;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rail = rails.last.rail;
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status, 0, "delivered");
	UNIT_EQUAL(rails.req[tag].on_rail[!rail], 1, "by the other rail");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedges), 1, "counted");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedge_wins), 1, "won");
	UNIT_EQUAL(atomic_read(&rails_ni(0, rail)->health), 1000, "suspicion costs no health");
	rails_end();
}

static void test_hedge_first_wins(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 2);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "hedged");
	rails_release();
	UNIT_EQUAL(rails_done(tag), 1, "the first answer ends it");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "one effect");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedge_wins), 0, "the first attempt won");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 1, "the copy was suppressed");
	rails_end();
}

/* Two attempts are lost: a third is sent long before the attempt timeout ends, a fifth is not. */
static void test_hedge_lost_too(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 2);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(700 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "ended");
	UNIT_EQUAL(rails.req[tag].status, 0, "delivered");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedges), 2, "counted");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedge_wins), 1, "the third attempt is a hedge and won");
	rails_end();
	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(T / 2 - 10 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 4, "no more in a slice");
	rails_end();
}

/*
 * A request has two attempts. One of them, selected by @stuck, stays in the driver of a dead path.
 * The other is lost, although its path works. A third attempt is sent long before the attempt
 * timeout ends.
 */
static void hedge_stuck(unsigned int stuck)
{
	unsigned int tag, more, rail;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, stuck == 0 ? FATE_KEEP : FATE_LOSE, LNET_OK, 1);
	rails_on(0, -1, RAILS_PUT, stuck == 1 ? FATE_KEEP : FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rail = stuck == 0 ? rails.last.rail : !rails.last.rail;
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "two copies");
	rails_on(0, (int)rail, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	rails_on(0, (int)rail, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	more = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(600 * RAILS_MS);
	UNIT_EQUAL(rails_done(more), 1, "the other path lives");
	UNIT_EQUAL(rails_done(tag), 1, "ended before its slice");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "delivered once");
	rails_end();
}

static void test_hedge_stuck(void)
{
	hedge_stuck(0);
	hedge_stuck(1);
}

static void path_shows_life(unsigned int rail)
{
	struct lnet_path *path = rails_path(0, 1, rail);
	struct lnet_pass p;

	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_path_liveness(&p, path->ni, path->pni, 0);
	lnet_pass_end(&p);
}

/* Several response timeouts of a slow path would be longer than the attempt timeout. */
static void test_overdue_slow(void)
{
	unsigned int tag, rail, i;

	rails_begin(NULL);
	for (i = 0; i < RAILS_RAILS; i++)
		rails_path(0, 1, i)->srtt_ns = 100 * RAILS_MS;
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rail = rails.last.rail;
	for (i = 0; i < 14; i++) {
		rails_run(50 * RAILS_MS);
		path_shows_life(rail);
		if (i == 10)
			UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "not while it is only slow");
	}
	UNIT_EQUAL(rails_done(tag), 1, "ended long before its slice");
	UNIT_EQUAL(rails.req[tag].on_rail[!rail], 1, "by the other rail");
	rails_end();
}

static void test_hedge_off(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(T / 4);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "no second copy");
	UNIT_EQUAL(rails_stat(0, LNET_C_hedges), 0, "none counted");
	rails_end();
}

static void test_hedge_budget(void)
{
	unsigned int i;

	rails_begin(NULL);
	rails_tune(0, "hedge_burst", 3);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 6; i++)
		rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(500 * RAILS_MS);
	CU_ASSERT(rails_stat(0, LNET_C_hedges) <= 3);
	CU_ASSERT(rails_stat(0, LNET_C_hedges_denied) > 0 || rails_stat(0, LNET_C_hedges) < 3);
	rails_end();
}

/* Sends @nr PUTs while @rail is unresponsive. Returns how many have succeeded after 0.7 s. */
static unsigned int puts_into_silence(int rail, unsigned int nr)
{
	unsigned int i, first = 0, good = 0;

	rails_begin(NULL);
	rails_tune(0, "hedge_burst", 3);
	rails_on(0, rail, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(0, rail, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < nr; i++)
		first = rails_put(0, 1, 64, LNET_ACK, 0) - i;
	rails_run(700 * RAILS_MS);
	for (i = first; i < first + nr; i++)
		good += rails_done(i) && !rails.req[i].status;
	return good;
}

/*
 * A path without response for a long time, while another path works, is dead: requests on it do not
 * wait for the attempt timeout.
 */
static void test_hedge_beyond_budget(void)
{
	UNIT_EQUAL(puts_into_silence(0, 16), 16, "delivered though the budget is used up");
	CU_ASSERT(rails_stat(0, LNET_C_hedges_denied) > 0);
	CU_ASSERT(rails_stat(0, LNET_C_hedges) > 3);
	rails_end();
	UNIT_EQUAL(puts_into_silence(-1, 16), 0, "nowhere to go");
	CU_ASSERT(rails_stat(0, LNET_C_hedges) <= 3);
	rails_end();
}

/* A retry_count of 0 permits one attempt, whatever the reason for another one. */
static void test_no_retries(void)
{
	static const enum rails_fate fates[] = { FATE_LOSE, FATE_FAIL, FATE_POST_FAIL,
						 FATE_REFUSE };
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(fates); i++) {
		rails_begin(NULL);
		rails_tune(0, "retry_count", 0);
		rails_on(0, -1, RAILS_PUT, fates[i], LNET_LOCAL_DROPPED, 1);
		tag = rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(2 * T);
		CU_ASSERT(rails.req[tag].nr_attempts <= 1);
		UNIT_EQUAL(rails_done(tag), 1, "ended");
		CU_ASSERT(rails.req[tag].status != 0);
		UNIT_EQUAL(rails_stat(0, LNET_C_resend_count), 0, "no resend");
		rails_end();
	}
}

/* ---- in every state -------------------------------------------------------------------------- */

/*
 * How the driver treats the request, for each state in which an operation and its attempt can be.
 */
static const struct {
	const char *state;
	enum rails_fate fate;
	enum lnet_outcome how;
	bool one_rail;
} holds[] = {
	{ "with the driver", FATE_KEEP, LNET_OK, false },
	{ "posted", FATE_POST, LNET_OK, false },
	{ "asked", FATE_LOSE, LNET_OK, false },
	{ "asked, the answer on its way", FATE_DELAY, LNET_OK, false },
	{ "landing there", FATE_HALF, LNET_OK, false },
	{ "in back-off", FATE_FAIL, LNET_LOCAL_DROPPED, true },
	{ "resolving", FATE_DELIVER, LNET_OK, false },
	{ "waiting for a credit", FATE_DELIVER, LNET_OK, true },
};

#define NR_HOLDS ARRAY_SIZE(holds)

static unsigned int bring_to(unsigned int i)
{
	struct rails_cfg cfg = { .one_rail = holds[i].one_rail, .quiet = i == 6,
				 .peer_credits = i == 7 ? 1 : 0 };
	unsigned int tag;

	rails_begin(&cfg);
	if (i == 6) {
		rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	} else if (i == 7) {
		rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
		rails_put(0, 1, 8, LNET_ACK, 0);
	} else {
		rails_on(0, -1, RAILS_PUT, holds[i].fate, holds[i].how, -1);
	}
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	if (i != 1)		/* a request handed to the fabric arrives and is answered */
		UNIT_EQUAL(rails_done(tag), 0, holds[i].state);
	return tag;
}

static void test_unlink(void)
{
	unsigned int i, tag;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		UNIT_EQUAL(lnet_md_unlink(rails.node[0].ln, rails.node[0].md), 0, "unlink");
		rails_run(100 * RAILS_MS);
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		if (i != 1)
			UNIT_EQUAL(rails.req[tag].status, -ETIMEDOUT, holds[i].state);
		CU_ASSERT(rails.req[tag].nr_effects <= 1);
		rails_end();
	}
}

static void test_ni_del(void)
{
	unsigned int i, tag;
	struct lnet_nid nid;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		nid = rails_nid(0, 0);
		UNIT_EQUAL(lnet_ni_del(rails.node[0].ln, &nid), 0, "removal");
		rails_clear();
		rails_run(3 * T);
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		CU_ASSERT(rails.req[tag].nr_effects <= 1);
		CU_ASSERT(rails.req[tag].status != 0 || rails.req[tag].nr_effects == 1);
		rails_end();
	}
}

static void test_link_down(void)
{
	unsigned int i, tag;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		rails_clear();
		rails_link(0, 0, false);
		rails_run(300 * RAILS_MS);
		if (!holds[i].one_rail && i != 6)
			UNIT_EQUAL(rails.req[tag].status, 0, holds[i].state);
		rails_link(0, 0, true);
		rails_run(T);
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		CU_ASSERT(rails.req[tag].nr_effects <= 1);
		CU_ASSERT(rails.req[tag].status != 0 || rails.req[tag].nr_effects == 1);
		UNIT_EQUAL(rails_ni(0, 0)->nr_down, 1, "one down event");
		UNIT_EQUAL(rails_ni(0, 0)->nr_up, 1, "one up event");
		rails_end();
	}
}

static void test_path_lost(void)
{
	unsigned int i, tag;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		rails_clear();
		rails_lost(0, 1, 0, LNET_PATH_LOST);
		rails_lost(0, 1, 1 * !holds[i].one_rail, LNET_PATH_LOST);
		rails_run(2 * T);
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		CU_ASSERT(rails.req[tag].nr_effects <= 1);
		CU_ASSERT(rails.req[tag].status != 0 || rails.req[tag].nr_effects == 1);
		rails_end();
	}
}

static void test_peer_del(void)
{
	struct lnet_nid nid;
	unsigned int i, tag;
	bool unknown;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		nid = rails_nid(1, 0);
		if (rails_done(tag)) {
			rails_end();
			continue;
		}
		UNIT_EQUAL(lnet_peer_del(rails.node[0].ln, &nid, NULL, 0), 0, "removal");
		rails_pump();
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		unknown = i == 2 || i == 3 || i == 4;
		UNIT_EQUAL(rails.req[tag].unknown, unknown, holds[i].state);
		CU_ASSERT(rails.req[tag].status != 0);
		rails_end();
	}
}

static void test_shutdown(void)
{
	unsigned int i, tag;

	for (i = 0; i < NR_HOLDS; i++) {
		tag = bring_to(i);
		rails_node_stop(0);
		UNIT_EQUAL(rails_done(tag), 1, holds[i].state);
		if (i != 1)
			UNIT_EQUAL(rails.req[tag].status, -ESHUTDOWN, holds[i].state);
		rails_end();
	}
}

/* Both attempts of a request end in one run of its timer: the request is cancelled once. */
static void test_both_end(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "retry_count", 1);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	rails_tune(0, "hedge", 0);
	rails_run(2 * T);
	UNIT_EQUAL(rails_done(tag), 1, "ended");
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "two attempts");
	rails_end();
}

/* ---- response tracking ----------------------------------------------------------------------- */

static void set_options(u32 options)
{
	struct lnet *ln = rails.node[0].ln;
	struct lnet_pass p;
	unsigned int nr = 1;
	struct lnet_md *md;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	md = lnet_md_use_bound(ln, rails.node[0].md, &nr);
	CU_ASSERT_PTR_NOT_NULL_FATAL(md);
	md->options |= options;
	lnet_md_unuse(&p, md);
	lnet_pass_end(&p);
}

/* A PUT with ACK, a PUT without, a GET: how many await a reply, then are counted as missed. */
static void tracked(u32 which, u32 options, unsigned int want)
{
	rails_begin(NULL);
	rails_tune(0, "response_tracking", which);
	rails_tune(0, "hedge", 0);
	set_options(options);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	rails_on(0, -1, RAILS_GET, FATE_LOSE, LNET_OK, -1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_put(0, 1, 8, 0, 0);
	rails_get(0, 1, 8, 0);
	UNIT_EQUAL(rails_stat(0, LNET_C_rst_alloc), want, "awaited");
	rails_run(T + T / 5);
	UNIT_EQUAL(rails_stat(0, LNET_C_response_timeout_count), want, "missed");
	rails_clear();
	rails_run(2 * T);
	UNIT_EQUAL(rails_stat(0, LNET_C_rst_alloc), 0, "none is awaited any more");
	rails_end();
}

static void test_tracking(void)
{
	tracked(0, 0, 0);
	tracked(1, 0, 1);
	tracked(2, 0, 1);
	tracked(3, 0, 2);
	tracked(0, LNET_MD_TRACK_RESPONSE, 2);
	tracked(3, LNET_MD_NO_TRACK_RESPONSE, 0);
	tracked(3, LNET_MD_NO_TRACK_RESPONSE | LNET_MD_TRACK_RESPONSE, 0);
}

/* The last interface on the net of a peer's primary NID is removed. */
static void test_net_goes(void)
{
	struct lnet_nid nid = rails_nid(0, 0), name = rails_nid(1, 0);
	unsigned int tag;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_ni_del(rails.node[0].ln, &nid), 0, "removal");
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "by its name, over the other rail");
	UNIT_EQUAL(rails.req[tag].status, 0, "status");
	UNIT_EQUAL(rails.req[tag].on_rail[1], 1, "rail");
	CU_ASSERT(lnet_nid_same(&rails_peer(0, 1)->primary, &name));
	UNIT_EQUAL(rails_peer(0, 1)->nr_pnis, 2, "its interfaces");
	rails_end();
}

UNIT_SUITE(op,
	{ "lnt-080, lnt-085, lnd-030, lnt-100: the driver is given T / max(R, 1)", test_slices },
	{ "lnt-085: the last attempt is clipped to the time left", test_clipped },
	{ "lnt-095: a stock peer's lost answer is told at T, not at the slice",
	  test_stock_answer_lost },
	{ "lnt-095, dbg-035, dbg-040: a lost answer is told at T +- 5 %", test_answer_lost },
	{ "cfg-030: a GET to a peer that never spoke ends at T", test_silent_peer },
	{ "lnt-095: the last attempt's answer may come until T", test_late_answer_of_last },
	{ "lnt-105: waiting for credits has a T of its own, a local timeout", test_credit_wait },
	{ "lnt-105: the clock starts at the first hand-over", test_clock_starts },
	{ "lnd-045: what is taken back unsent is not perhaps delivered", test_unsent_at_deadline },
	{ "lnd-050: what was posted is perhaps delivered", test_posted_at_deadline },
	{ "a silent path: the second copy wins", test_hedge },
	{ "the first answer wins, the copy is suppressed", test_hedge_first_wins },
	{ "a copy that is lost, too", test_hedge_lost_too },
	{ "a copy that is lost while a driver keeps the other one", test_hedge_stuck },
	{ "what a slow path that lives loses is sent again within its slice", test_overdue_slow },
	{ "lnd-005: no second copies with hedge=0", test_hedge_off },
	{ "second copies keep within their budget", test_hedge_budget },
	{ "but where one path is dead and another lives", test_hedge_beyond_budget },
	{ "cfg-015, lnt-090: retry count 0 is one attempt", test_no_retries },
	{ "lnt-075: unlink in every state, one final event", test_unlink },
	{ "a net goes, its peers stay, under their names", test_net_goes },
	{ "lnt-075: NI removal in every state", test_ni_del },
	{ "dbg-025, stt-020, stt-025: link down and up in every state", test_link_down },
	{ "lnt-075: path lost in every state", test_path_lost },
	{ "a removed peer's requests in flight are perhaps delivered, no others", test_peer_del },
	{ "lnt-055: shutdown in every state", test_shutdown },
	{ "two attempts that end at once are recalled once", test_both_end },
	{ "which answers are counted as awaited and as missed", test_tracking })
