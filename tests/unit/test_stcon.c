/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does a console accept commands, control nodes, and report the results? */
#include "st_con.h"

static void begin(void)
{
	st_begin(3);
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|timeout=60|"), 0, "session");
}

static void end(void)
{
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

static void who_may_lead(void)
{
	begin();
	UNIT_EQUAL(tell(0, "list_group|"), -EACCES, "no key");
	UNIT_EQUAL(tell(0, "list_group|key=6|"), -EACCES, "another key");
	UNIT_EQUAL(tell(0, "list_group|key=5|"), 0, "the key");
	UNIT_EQUAL(tell(0, "no_such|key=5|"), -EOPNOTSUPP, "no such verb");
	UNIT_EQUAL(tell(0, "list_group|key=5"), -EOPNOTSUPP, "no end");
	UNIT_EQUAL(tell(0, "new_session|name=other|key=7|"), -EEXIST, "there is one");
	UNIT_EQUAL(tell(0, "new_session|name=other|key=7|force=1|"), 0, "by force");
	UNIT_EQUAL(tell(0, "end_session|key=5|"), -EACCES, "the former key");
	UNIT_EQUAL(tell(0, "end_session|key=7|"), 0, "ended");
	UNIT_EQUAL(tell(0, "list_group|key=7|"), -ESRCH, "none");
	UNIT_EQUAL(tell(0, "new_session|name=a\"b|key=7|"), -EINVAL, "a bad name");
	end();
}

static void groups(void)
{
	begin();
	UNIT_EQUAL(tell(0, "add_group|key=5|name=g|"), 0, "a group");
	UNIT_EQUAL(tell(0, "add_group|key=5|name=g|"), -EEXIST, "twice");
	UNIT_EQUAL(tell(0, "add_nodes|key=5|name=g|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|"), 0,
		   "nodes");
	UNIT_EQUAL(said("joined: 2"), true, "both");
	UNIT_EQUAL(st_of(1)->session != NULL && st_of(2)->session != NULL, true, "they know");
	UNIT_EQUAL(tell(0, "add_group|key=5|name=h|"), 0, "another group");
	UNIT_EQUAL(tell(0, "add_nodes|key=5|name=h|nid=10.0.0.2@tcp|"), 0, "a member already");
	UNIT_EQUAL(said("members: 1"), true, "of the other one as well");
	UNIT_EQUAL(st_of(1)->session->refs, 1, "it was made once");
	UNIT_EQUAL(tell(0, "update_group|key=5|name=g|op=remove|nid=10.0.0.9@tcp|"), -ENOENT,
		   "not in");
	UNIT_EQUAL(tell(0, "update_group|key=5|name=g|op=remove|nid=10.0.0.3@tcp|"), 0,
		   "taken out");
	UNIT_EQUAL(tell(0, "list_group|key=5|name=g|"), 0, "shown");
	UNIT_EQUAL(said("10.0.0.2@tcp") && !said("10.0.0.3@tcp"), true, "one is left");
	UNIT_EQUAL(tell(0, "update_group|key=5|name=g|op=clean|state=active|"), 0, "cleaned");
	UNIT_EQUAL(tell(0, "del_group|key=5|name=g|"), 0, "deleted");
	UNIT_EQUAL(tell(0, "list_group|key=5|name=g|"), -ENOENT, "gone");
	end();
}

static void busy_nodes(void)
{
	begin();
	UNIT_EQUAL(tell(1, "new_session|name=mine|key=8|"), 0, "another console");
	tell(0, "add_group|key=5|name=g|");
	tell(0, "add_nodes|key=5|name=g|nid=10.0.0.3@tcp|");
	tell(1, "add_group|key=8|name=g|");
	UNIT_EQUAL(tell(1, "add_nodes|key=8|name=g|nid=10.0.0.3@tcp|"), 0, "asked");
	UNIT_EQUAL(said("errno: 16") && said("owner: \"lab\""), true, "busy, and whose");
	tell(1, "list_group|key=8|");
	UNIT_EQUAL(said("state: Busy"), true, "listed so");
	UNIT_EQUAL(tell(1, "new_session|name=mine|key=8|force=1|"), 0, "by force");
	tell(1, "add_group|key=8|name=g|");
	UNIT_EQUAL(tell(1, "add_nodes|key=8|name=g|nid=10.0.0.3@tcp|"), 0, "asked");
	UNIT_EQUAL(said("errno: 16") && said("owner: \"lab\""), true, "its console lives");
	st_silence(2);
	tell(1, "del_group|key=8|name=g|");
	tell(1, "add_group|key=8|name=g|");
	UNIT_EQUAL(tell(1, "add_nodes|key=8|name=g|nid=10.0.0.3@tcp|"), 0, "asked");
	UNIT_EQUAL(said("joined: 1"), true, "taken over");
	UNIT_EQUAL(tell(0, "ping|key=5|nid=10.0.0.2@tcp|"), 0, "any node");
	UNIT_EQUAL(said("state: Unknown"), true, "it is in no session");
	UNIT_EQUAL(tell(0, "stat|key=5|nid=10.0.0.2@tcp|"), -ENOENT, "it has no counters");
	UNIT_EQUAL(tell(0, "ping|key=5|group=g|"), 0, "the former one asks");
	UNIT_EQUAL(said("state: Busy") && said("session: \"mine\""), true, "and sees it");
	end();
}

static void a_test(void)
{
	begin();
	tell(0, "add_group|key=5|name=c|");
	tell(0, "add_nodes|key=5|name=c|nid=10.0.0.2@tcp|");
	tell(0, "add_group|key=5|name=s|");
	tell(0, "add_nodes|key=5|name=s|nid=10.0.0.3@tcp|");
	UNIT_EQUAL(tell(0, "run|key=5|name=batch|"), -EINVAL, "nothing to run");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=x|type=ping|"), -ENOENT,
		   "no group");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=ping|span=2|"), -EINVAL,
		   "more servers than there are");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=ping|loop=-1|"), 0,
		   "added");
	UNIT_EQUAL(said("failed: 0"), true, "by all");
	UNIT_EQUAL(tell(0, "del_group|key=5|name=s|"), -EBUSY, "a test uses it");
	UNIT_EQUAL(tell(0, "run|key=5|name=batch|"), 0, "run");
	UNIT_EQUAL(tell(0, "query|key=5|name=batch|"), 0, "query");
	UNIT_EQUAL(said("active: 1") && said("batch: Running"), true, "it runs");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=ping|"), -EBUSY, "not now");
	UNIT_EQUAL(tell(0, "stop|key=5|name=batch|"), 0, "stop");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "query|key=5|name=batch|"), 0, "query");
	UNIT_EQUAL(said("active: 0") && said("batch: Idle"), true, "it stopped");
	UNIT_EQUAL(tell(0, "stat|key=5|group=c|"), 0, "counters");
	UNIT_EQUAL(said("ping_errors: 0") && !said("rpcs_sent: 0,"), true, "of pings");
	UNIT_EQUAL(tell(0, "end_session|key=5|"), 0, "end");
	UNIT_EQUAL(st_of(1)->session == NULL && st_of(2)->session == NULL, true, "all are free");
	end();
}

static void three(void)
{
	begin();
	tell(0, "add_group|key=5|name=c|");
	tell(0, "add_nodes|key=5|name=c|nid=10.0.0.2@tcp|");
	tell(0, "add_group|key=5|name=s|");
	tell(0, "add_nodes|key=5|name=s|nid=10.0.0.3@tcp|");
	tell(0, "add_group|key=5|name=all|");
	tell(0, "add_nodes|key=5|name=all|nid=10.0.0.1@tcp|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|");
}

/* Tests of both kinds, each with separate counts. */
static void tallies(void)
{
	three();
	UNIT_EQUAL(tell(0, "tally|key=5|"), 0, "no test");
	UNIT_EQUAL(said("tally: []") && said("missing: []"), true, "no test");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=ping|size=64|loop=10|"
			"concur=3|"), 0, "pings of ours");
	UNIT_EQUAL(said("failed: 0"), true, "taken");
	tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=brw|opc=2|size=5000|loop=7|");
	tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=bulk|mode=4|size=3000000|frags=9|"
	     "verify=4|loop=4|");
	UNIT_EQUAL(said("failed: 0"), true, "taken");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=bulk|mode=5|"), -EINVAL,
		   "no such mode");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=ping|size=63|"), -EINVAL,
		   "too short");
	UNIT_EQUAL(tell(0, "list_batch|key=5|name=batch|"), 0, "listed");
	UNIT_EQUAL(said("type: ping") && said("type: brw") && said("type: bulk"), true, "listed");
	UNIT_EQUAL(said("plan: {loop: 4, time: 0, warmup: 0, concur: 1,") &&
		   said("size: 3000000, mode: 4, off: 0, frags: 9, verify: 4,"), true, "in full");
	tell(0, "run|key=5|name=batch|");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "query|key=5|name=batch|"), 0, "query");
	UNIT_EQUAL(said("batch: Idle"), true, "over");
	UNIT_EQUAL(tell(0, "tally|key=5|batch=batch|test=1|"), 0, "one");
	UNIT_EQUAL(said("test: 1\n  what: ping\n  nodes: 1\n  sent: 30\n  received: 30\n  lost: 0\n"
			"  under_way: 0\n"), true, "pings");
	UNIT_EQUAL(said("most_at_once: 3") && said("times: 30\n") && !said("test: 2"), true,
		   "of it alone");
	UNIT_EQUAL(tell(0, "tally|key=5|test=2|"), 0, "one of stock");
	UNIT_EQUAL(said("what: brw\n  nodes: 1\n  sent: 7\n  received: 7\n") &&
		   said("bytes_out: 35000\n  bytes_in: 0\n"), true, "bulk");
	UNIT_EQUAL(tell(0, "tally|key=5|servers=1|"), 0, "all");
	UNIT_EQUAL(said("what: bulk\n  nodes: 1\n  sent: 4\n") &&
		   said("bytes_out: 12000000\n  bytes_in: 12000000\n") &&
		   said("nid: \"10.0.0.3@tcp\", served: 4, to_bytes: 12000000,"), true,
		   "and servers");
	UNIT_EQUAL(said("missing: []"), true, "all answered");
	UNIT_EQUAL(tell(0, "tally|key=5|batch=no|"), -ENOENT, "no such batch");
	UNIT_EQUAL(st_remove(1), EBUSY, "another session's request");
	lst_stop(st_of(1));
	UNIT_EQUAL(tell(0, "tally|key=5|test=1|wait=2|"), 0, "a node is gone");
	UNIT_EQUAL(said("nodes: 0") && said("missing: [\"10.0.0.2@tcp\"]"), true, "it is named");
	end();
}

static void maps(void)
{
	three();
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=all|to=all|type=ping|map=5|loop=10|"),
		   0, "ring");
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=all|to=all|type=ping|map=7|loop=10|"
			"ways=2|"), 0, "chaos");
	UNIT_EQUAL(said("failed: 0"), true, "both");
	tell(0, "run|key=5|name=batch|");
	st_run(NSEC_PER_SEC);
	tell(0, "tally|key=5|test=1|");
	UNIT_EQUAL(said("nodes: 3\n  sent: 30\n  received: 30\n"), true, "each to the next");
	tell(0, "tally|key=5|test=2|");
	UNIT_EQUAL(said("nodes: 3\n  sent: 30\n  received: 30\n"), true, "three pairs");
	tell(0, "tally|key=5|test=3|");
	UNIT_EQUAL(said("nodes: 3\n  sent: 30\n  received: 30\n"), true, "and back");
	end();
}

static long long number_behind(const char *from, const char *name)
{
	const char *at = cmd.answer ? strstr(cmd.answer, from) : NULL;

	at = at ? strstr(at, name) : NULL;
	return at ? atoll(at + strlen(name)) : -1;
}

/* The counts of all clients and servers, and those of all pairs of interfaces, add up. */
static void apart(void)
{
	u32 i, nr = 0;
	u64 sent = 0, out = 0, answers = 0;
	const char *at;

	three();
	UNIT_EQUAL(tell(0, "add_test|key=5|batch=batch|from=all|to=all|type=bulk|map=4|loop=10|"
			"size=5000|warmup=3|concur=2|"), 0, "all to all");
	tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=brw|opc=2|size=5000|loop=7|");
	tell(0, "run|key=5|name=batch|");
	st_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tally|key=5|pairs=1|"), 0, "pairs");
	for (at = cmd.answer; (at = strstr(at, "\n  sent: ")); at++, nr++)
		sent += (u64)atoll(at + strlen("\n  sent: "));
	UNIT_EQUAL(nr, 7, "six and one");
	UNIT_EQUAL(sent, 6 * 20 + 7, "all that was sent");
	for (i = 0; i < 6; i++) {
		static const char *const pair[] = {
			"from: \"10.0.0.1@tcp\"\n  to: \"10.0.0.2@tcp\"",
			"from: \"10.0.0.1@tcp\"\n  to: \"10.0.0.3@tcp\"",
			"from: \"10.0.0.2@tcp\"\n  to: \"10.0.0.1@tcp\"",
			"from: \"10.0.0.2@tcp\"\n  to: \"10.0.0.3@tcp\"",
			"from: \"10.0.0.3@tcp\"\n  to: \"10.0.0.1@tcp\"",
			"from: \"10.0.0.3@tcp\"\n  to: \"10.0.0.2@tcp\"" };

		UNIT_EQUAL(number_behind(pair[i], "sent: "), 20, pair[i]);
		UNIT_EQUAL(number_behind(pair[i], "times: "), 20, pair[i]);
		UNIT_EQUAL(number_behind(pair[i], "bytes_out: "), 100000, pair[i]);
	}
	UNIT_EQUAL(said("rails:"), false, "not asked for");
	UNIT_EQUAL(tell(0, "tally|key=5|test=1|rails=1|"), 0, "rails");
	for (nr = 0, at = cmd.answer; (at = strstr(at, "- {batch: ")); at++, nr++) {
		answers += (u64)atoll(strstr(at, "answers: ") + strlen("answers: "));
		out += (u64)atoll(strstr(at, "bytes_out: ") + strlen("bytes_out: "));
	}
	UNIT_EQUAL(nr >= 12, true, "two rails to each");
	UNIT_EQUAL(answers, 120, "each answer came by one");
	UNIT_EQUAL(out, 120 * 5000, "and all that was fetched");
	end();
}

/* The server of one test stops; the other test is not affected. */
static void independent(void)
{
	begin();
	tell(0, "add_group|key=5|name=c|");
	tell(0, "add_nodes|key=5|name=c|nid=10.0.0.1@tcp|");
	tell(0, "add_group|key=5|name=s|");
	tell(0, "add_nodes|key=5|name=s|nid=10.0.0.2@tcp|");
	tell(0, "add_group|key=5|name=t|");
	tell(0, "add_nodes|key=5|name=t|nid=10.0.0.3@tcp|");
	tell(0, "add_test|key=5|batch=batch|from=c|to=s|type=bulk|size=70000|verify=4|rate=100|"
	     "time=3000000000|timeout=200000000|");
	tell(0, "add_test|key=5|batch=batch|from=c|to=t|type=bulk|size=70000|verify=4|rate=100|"
	     "time=3000000000|timeout=200000000|");
	tell(0, "run|key=5|name=batch|");
	st_run(NSEC_PER_SEC);
	lst_stop(st_of(2));
	st_run(4 * NSEC_PER_SEC);
	tell(0, "tally|key=5|test=1|");
	UNIT_EQUAL(said("sent: 300\n  received: 300\n  lost: 0\n") && said("corrupt: 0\n"), true,
		   "all of the one");
	tell(0, "tally|key=5|test=2|");
	UNIT_EQUAL(!said("lost: 0\n") && said("under_way: 0\n") && said("received: 1"), true,
		   "the other loses");
	UNIT_EQUAL(said("bad:\n  - {nid: \"10.0.0.1@tcp\""), true, "at whom");
	end();
}

/* One of two nodes does not answer; meanwhile another command reports the progress. */
static void how_far(void)
{
	static char request[] = "add_nodes|key=5|name=g|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|";
	struct lst_command slow = { .request = request, .len = sizeof(request) - 1,
				    .done = on_done };
	char *c;

	begin();
	tell(0, "add_group|key=5|name=g|");
	for (c = request; *c; c++)
		*c = *c == '|' ? 0 : *c;
	rails_on(2, -1, RAILS_PUT, FATE_LOSE, LNET_NETWORK_TIMEOUT, -1);
	lst_command(st_of(0), &slow);
	st_run(100 * RAILS_MS);
	UNIT_EQUAL(tell(0, "progress|"), 0, "without a key");
	UNIT_EQUAL(said("{verb: \"add_nodes\", asked: 2, left: 1}"), true, "one has answered");
	rails_clear();
	st_run(60 * NSEC_PER_SEC);
	tell(0, "progress|");
	UNIT_EQUAL(said("add_nodes"), false, "over");
	kfree(slow.answer);
	end();
}

/* Two clients and a server without a console. */
static void alone(void)
{
	st_begin(4);
	UNIT_EQUAL(tell(2, "alone_start|server=1|size=70000|mode=4|verify=4|count=3|"), 0,
		   "server");
	UNIT_EQUAL(tell(2, "alone_start|server=1|"), -EBUSY, "once");
	UNIT_EQUAL(tell(0, "alone_start|size=70000|mode=4|verify=4|loop=21|concur=8|"), -EINVAL,
		   "nobody to send to");
	UNIT_EQUAL(tell(0, "alone_start|size=70000|mode=4|verify=4|loop=21|concur=8|"
			"nid=10.0.0.3@tcp|"), 0, "client");
	UNIT_EQUAL(tell(1, "alone_start|size=70000|mode=4|verify=4|loop=2|concur=8|"
			"nid=10.0.0.3@tcp|"), 0, "another one");
	UNIT_EQUAL(tell(3, "alone_start|size=70001|mode=4|verify=4|loop=5|nid=10.0.0.3@tcp|"), 0,
		   "one that wants something else");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "alone_tally|"), 0, "counts");
	UNIT_EQUAL(said("role: client") && said("running: 0") && said("most_at_once: 8"), true,
		   "it is over");
	UNIT_EQUAL(said("sent: 21\n  received: 21\n  lost: 0\n"), true, "as often as was said");
	UNIT_EQUAL(said("corrupt: 0") && said("bytes_out: 1470000\n  bytes_in: 1470000\n"), true,
		   "both ways");
	tell(1, "alone_tally|");
	UNIT_EQUAL(said("sent: 2\n  received: 2\n") && said("most_at_once: 2"), true, "few");
	tell(3, "alone_tally|");
	UNIT_EQUAL(said("sent: 5\n  received: 5\n") && said("refused: 5\n"), true, "refused");
	tell(2, "alone_tally|");
	UNIT_EQUAL(said("role: server") && said("served: 23\n") && said("most_at_once: 3\n") &&
		   said("to_bytes: 1610000\n") && said("waiting: 0\n"), true, "the server");
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|"), 0, "a console");
	tell(0, "add_group|key=5|name=g|");
	tell(0, "add_nodes|key=5|name=g|nid=10.0.0.3@tcp|");
	UNIT_EQUAL(said("errno: 16") && said("owner: \"bulk_server\""), true, "finds it busy");
	UNIT_EQUAL(tell(2, "alone_stop|"), 0, "the end");
	UNIT_EQUAL(tell(2, "alone_stop|"), -ESRCH, "once");
	UNIT_EQUAL(tell(2, "alone_tally|"), -ESRCH, "nothing");
	tell(0, "update_group|key=5|name=g|op=refresh|");
	UNIT_EQUAL(st_of(2)->session != NULL, true, "it is free for the console");
	end();
}

/* Requests wait at a server when it ends. A node that no command queries becomes free. */
static void alone_ends(void)
{
	st_begin(2);
	tell(1, "alone_start|server=1|size=3000000|count=1|");
	tell(0, "alone_start|size=3000000|concur=9|lease=10|timeout=1000000000|"
	     "nid=10.0.0.2@tcp|");
	rails_on(0, -1, RAILS_REPLY, FATE_DELAY, LNET_OK, 3);
	st_run(RAILS_MS);
	tell(1, "alone_tally|");
	UNIT_EQUAL(said("busy: 1\n  waiting: 8\n"), true, "one moves");
	UNIT_EQUAL(tell(1, "alone_stop|"), 0, "with some that wait");
	rails_release();
	st_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "alone_tally|"), 0, "it goes on");
	UNIT_EQUAL(!said("refused: 0\n") && said("running: 9\n"), true, "and hears so");
	st_run(9 * NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "alone_tally|"), 0, "while somebody looks");
	st_run(11 * NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "alone_tally|"), -ESRCH, "nobody did");
	UNIT_EQUAL(st_of(0)->session == NULL && st_of(1)->session == NULL, true, "free");
	end();
}

/* Nodes stay in a session while their console runs; an idle console ends the session. */
static void time_passes(void)
{
	unsigned int i;

	begin();
	tell(0, "add_group|key=5|name=g|");
	tell(0, "add_nodes|key=5|name=g|nid=10.0.0.2@tcp|");
	for (i = 0; i < 6; i++) {
		st_run(50 * NSEC_PER_SEC);
		tell(0, "list_group|key=5|");
	}
	UNIT_EQUAL(st_of(1)->session != NULL, true, "300 s, reminded by the console");
	st_run(80 * NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "show_session|"), -ESRCH, "60 s without a command");
	UNIT_EQUAL(st_of(1)->session == NULL, true, "its nodes were told");
	end();
}

UNIT_SUITE(stcon,
	   { "who has the key leads", who_may_lead },
	   { "groups are made, filled, cleaned", groups },
	   { "r.c2.net.self-test.session.node-exclusivity: busy, or taken over", busy_nodes },
	   { "a test is added, run, stopped", a_test },
	   { "how far a command is", how_far },
	   { "without a console: counts, queues, refusals", alone },
	   { "without a console: the end", alone_ends },
	   { "sessions last while somebody leads them", time_passes },
	   { "r.c2.net.self-test.session.multiple-tests: each has its counts", tallies },
	   { "who sends to whom, both ways", maps },
	   { "pairs and rails add up to the test", apart },
	   { "r.c2.net.self-test.session.test-independency: a dead server is one test's",
	     independent })
