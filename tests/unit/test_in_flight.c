/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/xfer/: credits, deadlines and headers of requests in flight; a walk over them. */
#include "base/base.h"
#include "rails.h"

static const struct rails_cfg one_rail = { .one_rail = true };

static struct lnet_shard *shard(void)
{
	return &rails.node[0].ln->shard[0];
}

static struct lnet_op *last_op(void)
{
	return list_last_entry(&shard()->live, struct lnet_op, all);
}

/* The NI credit returns when the fabric has the message, long before the reply. */
static void test_ni_credit(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .one_rail = true, .credits = 1 };
	unsigned int first, second;

	rails_begin(&cfg);
	rails_get(0, 2, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	first = rails_put(0, 1, 8, LNET_ACK, 0);
	second = rails_put(0, 2, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_ni(0, 0)->sh[0].nr_wait, 1, "the second waits");
	rails_give(LNET_OK);
	rails_pump();
	UNIT_EQUAL(rails_done(first), 0, "the first has no reply");
	UNIT_EQUAL(rails_done(second), 1, "the second was sent");
	rails_run(20 * NSEC_PER_SEC);
	rails_end();
}

/*
 * A request waits for the session, and then gets no reply. It has its whole timeout for the
 * transmission, unless the negotiation failed.
 */
static void test_deadline(void)
{
	struct rails_cfg cfg = { .quiet = true, .one_rail = true };
	unsigned int fails, tag;

	for (fails = 0; fails < 2; fails++) {
		rails_begin(&cfg);
		rails_tune(0, "transaction_timeout", 2 * NSEC_PER_SEC);
		rails_on(0, -1, RAILS_CORE, fails ? FATE_LOSE : FATE_DELAY, LNET_OK, -1);
		tag = rails_put(0, 1, 8, LNET_ACK, 4 * NSEC_PER_SEC);
		rails_run(NSEC_PER_SEC / 2);
		UNIT_EQUAL(rails.req[tag].nr_attempts, 0, "it waits for the session");
		if (!fails)
			rails_clear();
		rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
		rails_release();
		rails_run(10 * NSEC_PER_SEC);
		CU_ASSERT_TRUE(rails.req[tag].nr_attempts > 0);
		UNIT_EQUAL((rails.req[tag].end_ns - rails.req[tag].started_ns + RAILS_MS) /
				   (100 * RAILS_MS), fails ? 40 : 45, "tenths of a second");
		rails_end();
	}
}

/* A driver reports that its connections are lost, and then completes a message sent on them. */
static void test_lost_before_done(void)
{
	unsigned int tag;

	rails_begin(&one_rail);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_POST, LNET_OK, 1);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "the driver still has it");
	rails_give(LNET_OK);
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "retransmitted at once");
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
	rails_end();
}

/*
 * The connections to a router are lost. A request to the router awaits its reply, and the driver
 * still has a message for a node behind the router. (The second rail stands for the routed path.)
 */
static void test_router_lost(void)
{
	struct lnet_path *path, *routed;
	unsigned int tag, rail;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rail = rails.req[tag].on_rail[1];
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	path = rails_path(0, 1, rail);
	routed = rails_path(0, 1, !rail);
	UNIT_EQUAL(routed->nr_wire, 1, "the driver has one");
	list_add(&routed->gw_link, &path->gw_paths);
	rails_lost(0, 1, rail, LNET_PATH_LOST);
	list_del_init(&routed->gw_link);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "retransmitted at once");
	rails_give(LNET_OK);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* An attempt is late, and its driver has not completed it: the next check follows in 10 ms. */
static void test_cancel(void)
{
	struct lnet_pass p;
	struct lnet_op *op;

	rails_begin(&one_rail);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	op = last_op();
	rails.now_ns = op->first.deadline_ns + 10 * RAILS_MS;
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_WORKER);
	lnet_enter(&p, shard());
	lnet_timer_cancel(&shard()->wheel, &op->timer);
	lnet_op_timer(&p, op);
	UNIT_EQUAL(rails_count(&p.cancel), 1, "cancelled");
	UNIT_EQUAL(op->timer.when_ns, p.now_ns + 10 * RAILS_MS, "the next check");
	lnet_pass_end(&p);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* A driver reuses the header of the attempt before only for PUTs on one path. */
static void test_header_reused(void)
{
	struct lnet_op put = { .type = LNET_OP_PUT }, get = { .type = LNET_OP_GET };
	struct lnet_path *path, *other;
	struct lnet_att att = { .op = &put }, before = { .op = &put };
	struct lnet_hdr hdr = { 0 };

	rails_begin(NULL);
	path = rails_path(0, 1, 0);
	other = rails_path(0, 1, 1);
	att.path = before.path = path;
	UNIT_EQUAL(lnet_att_hdr_like(&att, &before, &hdr), true, "a PUT on the same path");
	att.path = other;
	UNIT_EQUAL(lnet_att_hdr_like(&att, &before, &hdr), false, "another path");
	att.path = path;
	att.op = &get;
	UNIT_EQUAL(lnet_att_hdr_like(&att, &before, &hdr), false, "a GET");
	att.op = &put;
	before.op = &get;
	UNIT_EQUAL(lnet_att_hdr_like(&att, &before, &hdr), false, "after a GET");
	rails_end();
}

/* The socket driver connects for an urgent request without a pause, but not for others. */
static void test_urgent(void)
{
	struct lnet_op *op;

	rails_begin(&one_rail);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	op = last_op();
	UNIT_EQUAL(lnet_att_is_urgent(&op->first), false, "of a program");
	rails_give(LNET_OK);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* A fault rule repeats messages: the core sends each one again when its driver has completed it. */
static void test_repeated(void)
{
	struct lnet_op op = { .type = LNET_OP_PUT };
	struct lnet_att att[4] = { 0 };
	struct lnet_pass p;
	unsigned int i;

	rails_begin(NULL);
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_CALL);
	for (i = 0; i < 4; i++) {
		att[i].op = &op;
		INIT_LIST_HEAD(&att[i].link);
		atomic_set(&att[i].reports, LNET_REPORT_TWICE);
		lnet_att_posted(&p, &att[i], 1);
	}
	UNIT_EQUAL(list_empty(&p.reported), true, "the first hand-over is not reported");
	for (i = 0; i < 4; i++)
		lnet_att_done(&p, &att[i], i < 2 ? LNET_OK : LNET_LOCAL_ERROR, 1);
	UNIT_EQUAL(rails_count(&p.send), 2, "sent again");
	UNIT_EQUAL(rails_count(&p.reported), 2, "failed the first time");
	for (i = 0; i < 4; i++)
		list_del_init(&att[i].link);
	lnet_pass_end(&p);
	rails_end();
}

static unsigned int nr_visits;

/* The first visit ends all other requests of the list. */
static void visit_and_end(struct lnet_pass *p, struct lnet_op *op, void *arg)
{
	if (nr_visits++)
		return;
	while (!list_is_last(&op->all, &shard()->live))
		lnet_op_finish(p, last_op(), LNET_CANCELED);
}

static void test_walk_ends(void)
{
	struct rails_cfg cfg = { .one_rail = true, .peer_credits = 1 };
	struct lnet_pass p;
	unsigned int i;

	rails_begin(&cfg);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	for (i = 0; i < 5; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_count(&shard()->live), 5, "requests");
	nr_visits = 0;
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_CALL);
	lnet_ops_walk(&p, visit_and_end, NULL);
	lnet_pass_end(&p);
	UNIT_EQUAL(nr_visits, 1, "visits");
	UNIT_EQUAL(rails_count(&shard()->live), 1, "the driver has one");
	rails_give(LNET_OK);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

UNIT_SUITE(in_flight,
	{ "an interface credit returns with the hand-over to the fabric", test_ni_credit },
	{ "the wait for a session counts only if the session negotiation fails", test_deadline },
	{ "a message that was sent on lost connections is retransmitted", test_lost_before_done },
	{ "a request to a lost router is retransmitted, whatever the driver still has",
	  test_router_lost },
	{ "the timer of a cancelled attempt is not in the past", test_cancel },
	{ "a header is reused only for PUTs on one path", test_header_reused },
	{ "a request of a program is not urgent", test_urgent },
	{ "dbg-005: a repeated message is sent again unless it failed", test_repeated },
	{ "a walk ends although visited requests end others", test_walk_ends })
