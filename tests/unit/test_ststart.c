/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do clients start at one time, whatever their clocks are, and is the error of the start known? */
#include "selftest/con.h"
#include "st_con.h"

static long long said_number(const char *name)
{
	const char *at = cmd.answer ? strstr(cmd.answer, name) : NULL;

	return at ? atoll(at + strlen(name)) : -1;
}

/* Three clients; the clock of one is 3,000 days ahead, that of another 70 s. */
static void begin(void)
{
	st_begin(3);
	rails.ahead_ns[1] = 3000ULL * 86400 * NSEC_PER_SEC;
	rails.ahead_ns[2] = 70ULL * NSEC_PER_SEC + 12345;
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|timeout=3600|"), 0, "session");
	tell(0, "add_group|key=5|name=c|");
	tell(0, "add_nodes|key=5|name=c|nid=10.0.0.1@tcp|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|");
	UNIT_EQUAL(said("joined: 3"), true, "all");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=c|type=ping|map=5|time=2000000000|"
			"rate=100|"), 0, "a ring");
}

static void end(void)
{
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

/* Returns the time of the start by the common clock; 0: it has not started. */
static u64 began_ns(unsigned int node)
{
	const struct lst_session *s = st_of(node)->session;
	const struct lst_batch *batch = s ? lst_batch_find(s, st_of(0)->con->next_bid) : NULL;

	return batch && batch->started_ns ? batch->started_ns - rails.ahead_ns[node] : 0;
}

static void together(void)
{
	u64 least = U64_MAX, most = 0;
	unsigned int i;

	begin();
	UNIT_EQUAL(tell(0, "started|key=5|name=batch|"), -EINVAL, "nothing was begun");
	UNIT_EQUAL(tell(0, "start|key=5|name=batch|"), 0, "start");
	UNIT_EQUAL(said("running: 1") && said_number("in_ns: ") > 10000000, true, "ahead");
	UNIT_EQUAL(began_ns(0) + began_ns(1) + began_ns(2), 0, "nobody has");
	tell(0, "query|key=5|name=batch|");
	UNIT_EQUAL(said("batch: Running"), true, "it is to");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=c|type=ping|map=5|"), -EBUSY,
		   "no test is added meanwhile");
	st_run(500 * NSEC_PER_MSEC);
	for (i = 0; i < 3; i++) {
		least = min(least, began_ns(i));
		most = max(most, began_ns(i));
	}
	UNIT_EQUAL(least != 0, true, "all have");
	UNIT_EQUAL(tell(0, "started|key=5|name=batch|"), 0, "asked");
	UNIT_EQUAL(said("started: 3\nwaiting: 0\n"), true, "all");
	UNIT_EQUAL(said("steps: 0") && !said("steps: 1"), true, "no clock has jumped");
	UNIT_EQUAL(most - least <= 2 * said_number("clock_error_ns: "), true, "as well as known");
	UNIT_EQUAL(llabs(said_number("skew_ns: ") - (long long)(most - least)) <=
		   2 * said_number("clock_error_ns: "), true, "and it is said");
	st_run(3 * NSEC_PER_SEC);
	tell(0, "tally|key=5|");
	UNIT_EQUAL(said("nodes: 3\n  sent: 600\n  received: 600\n"), true, "it ran");
	/* The times of all three are in one clock. */
	UNIT_EQUAL(said_number("last_ns: ") - said_number("first_ns: ") < 3LL * NSEC_PER_SEC,
		   true, "two seconds");
	end();
}

/* One clock jumps by a second between its measurement and the start. */
static void a_step(void)
{
	begin();
	tell(0, "start|key=5|name=batch|");
	rails.ahead_ns[2] += NSEC_PER_SEC;
	st_run(3 * NSEC_PER_SEC);
	tell(0, "started|key=5|name=batch|");
	UNIT_EQUAL(said("started: 3"), true, "all");
	UNIT_EQUAL(said("steps: 1"), true, "one has jumped");
	UNIT_EQUAL(llabs(said_number("skew_ns: ") - (long long)began_ns(1) +
			 (long long)began_ns(2)) < 1000000, true, "and began as much too early");
	end();
}

/* A batch does not start if the clocks are not known well enough, or one node does not answer. */
static void refused(void)
{
	begin();
	UNIT_EQUAL(tell(0, "start|key=5|name=no|"), -ENOENT, "no such batch");
	UNIT_EQUAL(tell(0, "start|key=5|name=batch|skew=0|"), -EINVAL, "at once is never");
	UNIT_EQUAL(tell(0, "start|key=5|name=batch|skew=1|"), 0, "asked");
	UNIT_EQUAL(said("running: 0") && said("clock_error_ns"), true, "within 1 ns");
	lst_stop(st_of(2));
	UNIT_EQUAL(tell(0, "start|key=5|name=batch|wait=1|"), 0, "asked");
	UNIT_EQUAL(said("running: 0") && said("10.0.0.3@tcp"), true, "one is gone");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(began_ns(0) + began_ns(1), 0, "nobody begins");
	end();
}

static int start_at(u64 bid, u64 at_ns)
{
	struct lst_msg rpy, req = { .type = LST_START_REQ, .feats = LST_FEATS,
				    .start_req = { .sid = st_sid, .bid = bid, .at_ns = at_ns } };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

/* A node without a console. */
static void by_hand(void)
{
	struct lst_plan plan;

	st_begin(3);
	UNIT_EQUAL(start_at(0, 0), ESRCH, "no session");
	UNIT_EQUAL(st_make(1), 0, "client");
	UNIT_EQUAL(st_make(2), 0, "server");
	UNIT_EQUAL(start_at(0, 0), 0, "only the clock");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns + NSEC_PER_SEC), ENOENT, "no batch");
	st_plan_init(&plan, LST_WHAT_PING);
	plan.loop = 10;
	UNIT_EQUAL(st_drill(1, 2, &plan), 0, "a test");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns), ETIME, "too late");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns + 7200 * NSEC_PER_SEC), EINVAL, "too far");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns + NSEC_PER_SEC), 0, "in a second");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns + NSEC_PER_SEC), EBUSY, "once");
	UNIT_EQUAL(st_batch(1, LST_BATCH_STOP, 0, 0), 0, "called off");
	st_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(lst_batch_find(st_of(1)->session, ST_BID)->started_ns, 0, "it did not begin");
	UNIT_EQUAL(start_at(ST_BID, rails.now_ns + NSEC_PER_SEC), 0, "again");
	/* The session ends before the start. */
	UNIT_EQUAL(st_remove(1), 0, "left");
	st_run(2 * NSEC_PER_SEC);
	st_end();
}

static void clocks(void)
{
	struct con_clock c = { 0 };

	con_clock_heard(&c, 1000, 1000500, 2000);
	UNIT_EQUAL(c.off_ns, 999000, "half way");
	UNIT_EQUAL(c.error_ns, 501, "half of it");
	con_clock_heard(&c, 3000, 1002050, 3100);
	UNIT_EQUAL(c.off_ns, 999000, "a better one agrees");
	UNIT_EQUAL(c.error_ns, 51, "and is kept");
	con_clock_heard(&c, 5000, 1004900, 7000);
	UNIT_EQUAL(c.error_ns, 51, "a worse one is not");
	con_clock_heard(&c, 8000, 8050 + 999000 + 400, 8100);
	UNIT_EQUAL(c.steps, 1, "one that cannot be");
	UNIT_EQUAL(c.off_ns, 999400, "is the clock from now on");
	con_clock_heard(&c, 10000000000ULL, 10000000500ULL, 10000001000ULL);
	UNIT_EQUAL(c.steps, 1, "clocks drift in ten seconds");
	UNIT_EQUAL(c.off_ns, 0, "and older times are worth less");
}

UNIT_SUITE(ststart,
	   { "r.c2.net.self-test.synchronized: begun together, and how well is measured",
	     together },
	   { "a clock that jumps is seen", a_step },
	   { "what cannot be together is not begun", refused },
	   { "a node is told when, and told that not", by_hand },
	   { "a clock is known as well as the best answer says", clocks })
