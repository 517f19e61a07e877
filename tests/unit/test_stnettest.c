/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETTEST in a session: does a console control it and read its results, and is all memory released,
 * however it ends? nettest-topo
 */
#include "selftest/nettest_serve.h"
#include "st_con.h"

#define NODES	4
/* Two repeats of three lengths, 10 iterations. */
#define WORDS	"nettest|key=5|group=g|least=100|most=400|factor=2|repeats=2|times=10|check=2|"

static void begin(void)
{
	st_begin(NODES);
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|timeout=60|"), 0, "session");
	tell(0, "add_group|key=5|name=g|");
	UNIT_EQUAL(tell(0, "add_nodes|key=5|name=g|nid=10.0.0.1@tcp|nid=10.0.0.2@tcp|"
			"nid=10.0.0.3@tcp|nid=10.0.0.4@tcp|"), 0, "nodes");
}

static void end(void)
{
	u32 i;

	st_run(30 * NSEC_PER_SEC);
	for (i = 0; i < NODES; i++)
		UNIT_EQUAL(st_of(i) && !list_empty(&st_of(i)->nettests), false, "memory is back");
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

static u32 run_of(void)
{
	const char *at = cmd.answer ? strstr(cmd.answer, "run: ") : NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	return (u32)strtoul(at + 5, NULL, 10);
}

static int read_from(u32 run, u32 from, bool matrix)
{
	char words[200];

	snprintf(words, sizeof(words), "nettest_read|key=5|nid=10.0.0.1@tcp|run=%u|from=%u|"
		 "nodes=%u|matrix=%d|", run, from, NODES, matrix);
	return tell(0, words);
}

static u32 said_times(const char *text)
{
	const char *at = cmd.answer;
	u32 nr = 0;

	for (; at && (at = strstr(at, text)); at++)
		nr++;
	return nr;
}

static void led(void)
{
	unsigned long long noise;
	const char *at;
	char *last;
	u32 run;

	begin();
	UNIT_EQUAL(tell(0, WORDS "patterns=126|matrix=1|"), 0, "begun");
	UNIT_EQUAL(said("errors"), false, "by all");
	UNIT_EQUAL(said("first: \"10.0.0.1@tcp\"") && said("- \"12345-10.0.0.4@tcp\""), true,
		   "nodes");
	run = run_of();
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(read_from(run, 0, true), 0, "read");
	UNIT_EQUAL(said("{over: 1, errno: 0, done: 38}"), true, "barrier and 18, twice");
	UNIT_EQUAL(said_times("- sum_ns: "), 38, "a row each");
	UNIT_EQUAL(said_times("  times: 10\n"), 38, "of ten iterations");
	UNIT_EQUAL(said_times("  bad: 0\n"), 38, "all as sent");
	UNIT_EQUAL(said_times("  - ["), 38 * NODES, "a line for each node");
	UNIT_EQUAL(read_from(run, 36, true), 0, "the rest");
	UNIT_EQUAL(said_times("- sum_ns: "), 2, "the rest");
	UNIT_EQUAL(read_from(run, 38, true), 0, "no more");
	UNIT_EQUAL(said("rows:"), false, "no more");
	UNIT_EQUAL(read_from(run + 1, 0, true), 0, "another run");
	UNIT_EQUAL(said("errno: 2, remote: true"), true, "another run");
	/* One pattern; the new run replaces the one that has ended. */
	UNIT_EQUAL(tell(0, WORDS "patterns=64|"), 0, "again");
	run = run_of();
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(read_from(run, 0, false), 0, "read");
	UNIT_EQUAL(said("{over: 1, errno: 0, done: 8}") && said_times("- sum_ns: ") == 8, true,
		   "barrier and ring two ways");
	/* Two nodes are measured with the noise of the others; the last measure is read alone. */
	UNIT_EQUAL(tell(0, WORDS "patterns=64|noise=500|noise_pairs=1|noise_depth=2|"), 0, "noise");
	run = run_of();
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(read_from(run, 7, false), 0, "read");
	UNIT_EQUAL(said("{over: 1, errno: 0, done: 8}") && said_times("  times: 10\n") == 1, true,
		   "all was measured");
	at = strstr(cmd.answer, "  noise: {sent: ");
	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	noise = strtoull(at + 16, &last, 10);
	CU_ASSERT(noise >= 2 * 2 * 500 * 10 && noise % 500 == 0);
	UNIT_EQUAL(strncmp(last, ", received: ", 12), 0, "read");
	UNIT_EQUAL(strtoull(last + 12, NULL, 10), noise, "all of it arrived");
	UNIT_EQUAL(tell(0, "nettest_stop|key=5|group=g|run=1|"), 0, "another one");
	UNIT_EQUAL(st_of(1)->session->nettest != NULL, true, "which is not this one");
	tell(0, "end_session|key=5|");
	end();
}

static void refused(void)
{
	static const struct {
		const char *words;
		int rc;
	} rows[] = {
		{ "nettest|key=5|group=h|least=1|most=1|factor=2|repeats=1|times=1|patterns=2|",
		  -ENOENT },
		{ "nettest|key=5|group=one|least=1|most=1|factor=2|repeats=1|times=1|patterns=2|",
		  -EDOM },
		{ "nettest|key=5|group=g|least=1|most=1|factor=2|repeats=1|times=1|", -EINVAL },
		{ "nettest|key=5|group=g|least=1|most=1|factor=2|repeats=1|times=1|patterns=1|",
		  -EINVAL },
		{ "nettest|key=5|group=g|least=2|most=1|factor=2|repeats=1|times=1|patterns=2|",
		  -EINVAL },
		{ "nettest|key=5|group=g|least=1|most=9|factor=0|step=1|repeats=65536|times=1|"
		  "patterns=2|", -E2BIG },
		{ "nettest|key=5|group=g|least=1|most=1|factor=2|repeats=1|times=1|patterns=2|"
		  "noise=9|noise_pairs=2|noise_depth=1|", -EDOM },
		{ "nettest|key=5|group=g|least=1|most=1|factor=2|repeats=1|times=1|patterns=2|"
		  "noise=9|noise_pairs=1|noise_depth=33|", -EINVAL },
		{ "nettest_read|key=5|nid=10.0.0.9@tcp|run=1|", -ENOENT },
		{ "nettest_read|key=5|nid=10|run=1|", -EINVAL },
		{ "nettest_read|key=5|nid=10.0.0.1@tcp|run=1|nodes=257|matrix=1|", -E2BIG },
		{ "nettest_stop|key=5|group=h|run=1|", -ENOENT },
	};
	struct nettest_plan plan = { .least = 1, .most = 64U << 20, .factor = 2, .repeats = 1,
				     .times = 1, .patterns = NETTEST_ALL };
	u32 i;

	begin();
	tell(0, "add_group|key=5|name=one|");
	tell(0, "add_nodes|key=5|name=one|nid=10.0.0.2@tcp|");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(tell(0, rows[i].words), rows[i].rc, rows[i].words);
	UNIT_EQUAL(lst_nettest_check(&plan, 9, false), 0, "8 neighbours, 64 MiB each way");
	UNIT_EQUAL(lst_nettest_check(&plan, 10, false), -E2BIG, "9 neighbours");
	plan.noise = 1;
	plan.noise_pairs = plan.noise_depth = 1;
	UNIT_EQUAL(lst_nettest_check(&plan, 11, false), 0, "two that make noise are none");
	UNIT_EQUAL(lst_nettest_check(&plan, 3, false), -EDOM, "one is left");
	plan.noise = plan.noise_pairs = plan.noise_depth = 0;
	plan.patterns = BIT(NETTEST_P_ring);
	UNIT_EQUAL(lst_nettest_check(&plan, 1000, false), 0, "a ring has two");
	UNIT_EQUAL(lst_nettest_check(&plan, 1000, true), -E2BIG, "a large matrix");
	UNIT_EQUAL(lst_nettest_check(&plan, 1025, false), -EINVAL, "too many nodes");
	end();
}

#define LONG	"nettest|key=5|group=g|least=100|most=100|factor=2|repeats=1|times=100000000|"	\
	"patterns=126|"

static void endless(void)
{
	begin();
	UNIT_EQUAL(tell(0, LONG), 0, "begun");
	UNIT_EQUAL(said("errors"), false, "by all");
}

/* A run is stopped, its session ends, or a console takes over a node: all memory is released. */
static void ended(void)
{
	char words[100];
	u32 run, i;

	endless();
	run = run_of();
	UNIT_EQUAL(tell(0, LONG), 0, "one at a time");
	UNIT_EQUAL(said_times("errno: 16, remote: true"), NODES, "all are busy");
	UNIT_EQUAL(st_of(3)->session->nettest != NULL, true, "which does not stop it");
	snprintf(words, sizeof(words), "nettest_stop|key=5|group=g|run=%u|", run);
	UNIT_EQUAL(tell(0, words), 0, "stopped");
	st_run(NSEC_PER_SEC);
	for (i = 0; i < NODES; i++)
		UNIT_EQUAL(list_empty(&st_of(i)->nettests) && !st_of(i)->session->nettest, true,
			   "freed");
	tell(0, "end_session|key=5|");
	end();

	endless();
	UNIT_EQUAL(tell(0, "end_session|key=5|"), 0, "the session ends");
	end();

	endless();
	tell(1, "new_session|name=other|key=6|force=1|");
	tell(1, "add_group|key=6|name=x|");
	st_silence(0);
	st_silence(2);
	UNIT_EQUAL(tell(1, "add_nodes|key=6|name=x|nid=10.0.0.1@tcp|nid=10.0.0.3@tcp|"), 0,
		   "taken over");
	UNIT_EQUAL(said("joined: 2"), true, "taken over");
	st_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(list_empty(&st_of(0)->nettests) && list_empty(&st_of(2)->nettests), true,
		   "they are free");
	UNIT_EQUAL(st_of(1)->session && st_of(1)->session->nettest, true, "others stall");
	tell(0, "end_session|key=5|");
	tell(1, "end_session|key=6|");
	end();

	endless();
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();		/* the service itself stops during the run */
}

/* One node does not answer, so no node begins. */
static void absent(void)
{
	begin();
	lst_stop(st_of(2));
	UNIT_EQUAL(tell(0, WORDS "patterns=126|wait=2|"), 0, "one is gone");
	UNIT_EQUAL(said("- {id: \"12345-10.0.0.3@tcp\", what: \"nettest\""), true, "it is named");
	UNIT_EQUAL(said("run: "), false, "not begun");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(list_empty(&st_of(1)->nettests) && list_empty(&st_of(3)->nettests), true,
		   "no memory waits");
	tell(0, "end_session|key=5|");
	end();
}

/* Bytes that are no plan, of every length and with every number changed. */
static void garbage(void)
{
	struct lst_run run = { .first = { .pid = LNET_PID }, .nr = 2 };
	struct lst_nettest_plan p = { .plan = { .least = 1, .most = 1, .factor = 2, .repeats = 1,
						.times = 1, .patterns = NETTEST_ALL },
				      .nr = 2, .nr_runs = 1, .run = &run };
	struct lst_msg req, rpy;
	u8 buf[200];
	u32 i, len, nr_good = 0;

	st_begin(2);
	run.first.nid = rails_nid(0, 0);
	st_make(1);
	len = lst_nettest_encode(&p, buf);
	for (i = 0; i <= 2 * len; i++) {
		req = (struct lst_msg){ .type = LST_NETTEST_REQ, .feats = LST_FEATS };
		req.nettest_req = (struct lst_nettest_req){ .sid = st_sid, .run = i, .rank = i & 1,
							    .opc = LST_NETTEST_BEGIN };
		lst_nettest_encode(&p, buf);
		if (i < len)
			buf[i] ^= 0x91;
		req.nettest_req.len = i <= len ? len : i - len;
		UNIT_EQUAL(st_ask_bulk(0, 1, &req, &rpy, buf, req.nettest_req.len, LNET_MD_OP_GET),
			   0, "an answer");
		nr_good += !rpy.status;
		req = (struct lst_msg){ .type = LST_NETTEST_REQ, .feats = LST_FEATS };
		req.nettest_req = (struct lst_nettest_req){ .sid = st_sid, .run = i,
							    .opc = LST_NETTEST_STOP };
		st_ask(0, 1, &req, &rpy);
	}
	CU_ASSERT(nr_good >= 2 && nr_good < len);
	for (i = 0; i < 6; i++) {
		req = (struct lst_msg){ .type = LST_NETTEST_REQ, .feats = LST_FEATS };
		req.nettest_req = (struct lst_nettest_req){ .sid = st_sid, .opc = i };
		UNIT_EQUAL(st_ask(0, 1, &req, &rpy), 0, "an answer");
		CU_ASSERT(rpy.status != 0);
	}
	st_remove(1);
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(list_empty(&st_of(1)->nettests), true, "memory is back");
	st_end();
}

UNIT_SUITE(stnettest,
	   { "led by a console: all measures, medians from each to each (nettest-topo)", led },
	   { "what cannot be or is too much is refused", refused },
	   { "stopped, ended, taken over, in the middle: all memory is back", ended },
	   { "one that is absent: nobody begins", absent },
	   { "bytes that are no plan", garbage })
