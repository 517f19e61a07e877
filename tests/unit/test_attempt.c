/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Credits: assigned in order and by class, and always returned. */
#include "rails.h"

static const struct rails_cfg one_ni = { .one_rail = true, .peer_credits = 2, .credits = 2 };

static void no_hedge(void)
{
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "hedge", 0), 0, "hedge");
}

static struct lnet_peer_ni *pni(void)
{
	return rails_path(0, 1, 0)->pni;
}

static void test_queue(void)
{
	unsigned int i, tag[6];

	rails_begin(&one_ni);
	no_hedge();
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 2);
	for (i = 0; i < 6; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_count(&rails.kept), 2, "as many as there are credits");
	UNIT_EQUAL(pni()->nr_wait, 4, "the others wait");
	UNIT_EQUAL(pni()->credits, 0, "none left");
	rails_give(LNET_OK);
	rails_run(RAILS_MS);
	for (i = 2; i < 6; i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "woken");
	UNIT_EQUAL(pni()->credits, 2, "all back");
	UNIT_EQUAL(pni()->min_credits, 0, "least");
	rails_end();
}

/* Control messages have credits that other classes cannot use. */
static void test_classes(void)
{
	unsigned int i;

	rails_begin(&one_ni);
	no_hedge();
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, -1);
	for (i = 0; i < 4; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	i = rails_put(1, 0, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.nr_carried[RAILS_ACK], 1, "an ACK goes past what waits");
	UNIT_EQUAL(rails_done(i), 1, "and is received");
	UNIT_EQUAL(pni()->nr_wait, 2, "data still waits");
	rails_end();
}

/*
 * An attempt that waits for an NI credit holds a peer credit, and returns it when its time is over.
 */
static void test_wait_ni(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .one_rail = true, .peer_credits = 2, .credits = 2 };
	unsigned int a, b;

	rails_begin(&cfg);
	rails_get(0, 2, 8, 0);
	rails_run(50 * RAILS_MS);
	no_hedge();
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 2);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_put(0, 1, 8, LNET_ACK, 0);
	a = rails_put(0, 2, 8, LNET_ACK, 100 * RAILS_MS);
	b = rails_put(0, 2, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_path(0, 2, 0)->pni->credits, 0, "taken, the NI has none");
	UNIT_EQUAL(rails_ni(0, 0)->sh[0].credits, 0, "none");
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails.req[a].status, -ETIMEDOUT, "given up");
	UNIT_EQUAL(rails.req[a].unknown, false, "never sent");
	UNIT_EQUAL(rails_path(0, 2, 0)->pni->credits, 1, "back");
	rails_give(LNET_OK);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.req[b].status, 0, "woken");
	rails_end();
}

/* Attempts that wait for an unresponsive rail move to the other one. */
static void test_leaves_suspect(void)
{
	struct rails_cfg cfg = { .peer_credits = 1 };
	unsigned int i, tag[6];

	rails_begin(&cfg);
	rails_on(0, 0, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
	rails_on(0, 1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	for (i = 0; i < 6; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_path(0, 1, 0)->pni->nr_wait, 2, "some wait for the silent rail");
	rails_give_rail(0, 1, LNET_LOCAL_DROPPED);
	rails_run(300 * RAILS_MS);
	for (i = 0; i < 6; i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "not stuck behind the silent rail");
	rails_end();
}

/* A request without room in the window holds no credit, so the next one may use the credit. */
static void test_no_room(void)
{
	struct rails_cfg cfg = { .quiet = true, .one_rail = true, .peer_credits = 4 };
	unsigned int i, tag[12];

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "window", 2), 0, "window");
	no_hedge();
	rails_get(0, 1, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 2);
	for (i = 0; i < 12; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.delayed), 2, "two are open");
	UNIT_EQUAL(pni()->credits, 4, "no credit is kept");
	rails_release();
	for (i = 0; i < 12; i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "all in turn");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_old), 0, "never beyond the window");
	rails_end();
}

/* Random fates: all credits are returned in each case, as rails_end() checks. */
static void test_conserved(void)
{
	static const enum lnet_outcome how[] = {
		LNET_LOCAL_DROPPED, LNET_LOCAL_TIMEOUT, LNET_NETWORK_TIMEOUT, LNET_REMOTE_TIMEOUT,
		LNET_REMOTE_DROPPED, LNET_LOCAL_ERROR, LNET_REMOTE_ERROR, LNET_LOCAL_NO_ROUTE,
	};
	u64 seed;
	unsigned int i, tag, resends;

	for (seed = 1; seed <= 40; seed++) {
		struct rails_cfg cfg = { .peer_credits = 1 + seed % 4 };

		rails_begin(&cfg);
		rails.random = seed;
		for (i = 0; i < 2; i++)
			UNIT_EQUAL(lnet_tunable_set(rails.node[i].ln, "retry_count", seed % 5), 0,
				   "R");
		for (i = 0; i < 24; i++)
			rails_on(-1, (int)((seed + i) % 3) - 1, RAILS_ANY,
				 (enum rails_fate)((seed * 7 + i * 5) % 12),
				 how[(seed + i * 3) % ARRAY_SIZE(how)], 1 + (int)(i % 3));
		for (i = 0; i < 20; i++) {
			tag = i % 3 == 2 ? rails_get(0, 1, 8 + 512 * (i % 12), 0) :
			      rails_put(i & 1, !(i & 1), 64 * i, i % 3 ? LNET_ACK : 0, 0);
			rails_run((seed * i % 30) * RAILS_MS);
			if (i % 7 == 3)
				rails_give(how[i % ARRAY_SIZE(how)]);
			if (i % 9 == 5)
				rails_lost(i & 1, !(i & 1), seed & 1, LNET_PATH_LOST);
			if (i % 5 == 4)
				rails_release();
			(void)tag;
		}
		rails_run(15 * NSEC_PER_SEC);
		for (i = 1; i <= rails.nr_tags; i++) {
			const struct rails_req *r = &rails.req[i];

			CU_ASSERT(r->nr_effects <= 1);
			if (r->nr_final && !r->status)
				UNIT_EQUAL(r->nr_effects, 1, "success is one effect");
			if (r->nr_effects && r->status)
				CU_ASSERT(r->unknown);
			resends = r->nr_attempts ? r->nr_attempts - 1 : 0;
			CU_ASSERT(resends <= seed % 5 + (seed % 5 ? 3 : 0));
		}
		rails_end();
	}
}

/* A returned credit sends the next attempt, which fails and returns the credit again. */
static void test_no_nesting(void)
{
	static const enum rails_fate fates[] = { FATE_REFUSE, FATE_FAIL };
	struct rails_cfg cfg = { .nr_shards = 1, .one_rail = true, .peer_credits = 1,
				 .credits = 1 };
	unsigned int i, k, tag;

	for (k = 0; k < ARRAY_SIZE(fates); k++) {
		rails_begin(&cfg);
		no_hedge();
		UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "retry_count", 0), 0, "retries");
		rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		for (i = 1; i < 400; i++)
			rails_put(0, 1, 8, LNET_ACK, 0);
		UNIT_EQUAL(pni()->nr_wait, 399, "wait for one credit");
		rails_clear();
		rails_on(0, -1, RAILS_PUT, fates[k], LNET_LOCAL_ERROR, -1);
		rails.stack_low = rails.stack_high = 0;
		rails_give(LNET_LOCAL_ERROR);
		rails_run(60 * NSEC_PER_SEC);
		for (i = 0; i < 400; i++)
			CU_ASSERT(rails_done(tag + i) == 1 && rails.req[tag + i].status);
		CU_ASSERT(rails.stack_low && rails.stack_high - rails.stack_low < 32768);
		rails_clear();
		rails_end();
	}
}

/*
 * A counterexample of tests/model/credit.pml (M_KEEPPEER): an NI credit wakes an attempt whose time
 * is over. Its peer credit must wake the next attempt to that peer, because nothing else would.
 */
static void test_late_gives_on(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .nr_shards = 1, .one_rail = true,
				 .peer_credits = 1, .credits = 1 };
	unsigned int late, next;

	rails_begin(&cfg);
	rails_get(0, 2, 8, 0);
	rails_run(50 * RAILS_MS);
	no_hedge();
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	late = rails_put(0, 2, 8, LNET_ACK, 100 * RAILS_MS);
	next = rails_put(0, 2, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_path(0, 2, 0)->pni->nr_wait, 1, "waits for the peer's credit");
	rails.now_ns += 150 * RAILS_MS;		/* no timer has run yet */
	rails_give(LNET_OK);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.req[late].nr_attempts, 0, "not sent any more");
	UNIT_EQUAL(rails_path(0, 2, 0)->pni->nr_wait, 0, "the next one has the credit");
	UNIT_EQUAL(rails_done(next), 1, "and is sent");
	UNIT_EQUAL(rails.req[next].status, 0, "at once");
	rails_run(15 * NSEC_PER_SEC);
	rails_end();
}

UNIT_SUITE(attempt,
	{ "waiting in turn", test_queue },
	{ "control messages have two of their own", test_classes },
	{ "waiting for the NI", test_wait_ni },
	{ "what waits leaves a path that becomes suspect", test_leaves_suspect },
	{ "no room in the window holds no credit", test_no_room },
	{ "who is late when woken gives the peer's credit on", test_late_gives_on },
	{ "one failure after the other, and the stack stays small", test_no_nesting },
	{ "lnt-060, lnt-065, lnt-075: conserved, one end, at most one effect, resends bounded",
	  test_conserved })
