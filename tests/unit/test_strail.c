/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does a test report what failed on its rails, on which ones, and how healthy they are? */
#include "st_con.h"

/* Clients 1 (and 2), server 2; the console is node 0, which transfers no data of the test. */
static void begin(const char *test)
{
	char words[256];

	st_begin(4);
	tell(0, "new_session|name=lab|key=5|timeout=60|");
	tell(0, "add_group|key=5|name=c|");
	tell(0, "add_nodes|key=5|name=c|nid=10.0.0.2@tcp|");
	tell(0, "add_group|key=5|name=s|");
	tell(0, "add_nodes|key=5|name=s|nid=10.0.0.3@tcp|");
	tell(0, "add_group|key=5|name=both|");
	tell(0, "add_nodes|key=5|name=both|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|");
	snprintf(words, sizeof(words), "add_test|key=5|batch=batch|timeout=20000000000|%s", test);
	UNIT_EQUAL(tell(0, words), 0, "added");
}

static void end(void)
{
	rails_clear();
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

static long long number_of(const char *at, const char *name)
{
	char key[32];

	snprintf(key, sizeof(key), "%s: ", name);
	at = at ? strstr(at, key) : NULL;
	return at ? atoll(at + strlen(key)) : -1;
}

/* Returns the last report on the rail @rail from @from to @to. */
static const char *rail(unsigned int from, unsigned int to, unsigned int rail)
{
	struct lnet_nid a = rails_nid(from, rail), b = rails_nid(to, rail);
	char here[LNET_NIDSTR_SIZE], there[LNET_NIDSTR_SIZE], key[160];

	snprintf(key, sizeof(key), "ni: \"%s\", peer: \"%s\"", lnet_nid_str(&a, here),
		 lnet_nid_str(&b, there));
	return strstr(cmd.answer, key);
}

static void look(void)
{
	UNIT_EQUAL(tell(0, "tally|key=5|rails=1|test=1|"), 0, "asked");
}

static void expect(const char *at, bool failed, const char *what)
{
	UNIT_EQUAL(number_of(at, "health_before"), 1000, what);
	UNIT_EQUAL(number_of(at, "resends") > 0, failed, what);
	UNIT_EQUAL(number_of(at, ", health") < 1000, failed, what);
}

/* Nothing fails. */
static void well(void)
{
	begin("from=c|to=s|type=bulk|size=70000|mode=4|verify=4|loop=50|concur=2|");
	tell(0, "run|key=5|name=batch|");
	st_run(NSEC_PER_SEC);
	look();
	UNIT_EQUAL(said("received: 100\n") && said("corrupt: 0\n") && said("lost: 0\n"), true,
		   "all");
	UNIT_EQUAL(said("  resends: 0\n"), true, "nothing was sent again");
	expect(rail(1, 2, 0), false, "rail 0");
	expect(rail(1, 2, 1), false, "rail 1");
	UNIT_EQUAL(rail(2, 1, 0) || rail(2, 1, 1), false, "the server has nothing to tell");
	end();
}

/*
 * One rail of two loses all messages, or its sends fail, during a test: all data arrives on the
 * other rail.
 */
static void cut(void)
{
	static const struct {
		const char *what, *test;
		int from;
		enum rails_fate fate;
		enum lnet_outcome how;
		bool client, server;
	} row[] = {
		{ "all that is sent is lost", "type=bulk|size=70000|mode=4|verify=4|", -1,
		  FATE_LOSE, LNET_OK, true, false },
		{ "sends of the client fail", "type=ping|size=1000|verify=4|", 1, FATE_FAIL,
		  LNET_LOCAL_TIMEOUT, true, false },
		{ "sends of the server fail", "type=bulk|size=70000|mode=2|verify=3|", 2,
		  FATE_FAIL, LNET_REMOTE_TIMEOUT, false, true },
	};
	char words[160];
	long long sum;
	u32 i, bad;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		for (bad = 0; bad < 2; bad++) {
			snprintf(words, sizeof(words), "from=c|to=s|%srate=100|time=4000000000|"
				 "concur=4|", row[i].test);
			begin(words);
			tell(0, "run|key=5|name=batch|");
			st_run(NSEC_PER_SEC);
			rails_on(row[i].from, (int)bad, RAILS_ANY, row[i].fate, row[i].how, -1);
			st_run(2 * NSEC_PER_SEC);
			look();
			if (row[i].client)
				expect(rail(1, 2, bad), true, row[i].what);
			if (row[i].server)
				expect(rail(2, 1, bad), true, row[i].what);
			expect(rail(1, 2, !bad), false, row[i].what);
			UNIT_EQUAL(rail(2, 1, !bad) != NULL, false, row[i].what);
			rails_clear();
			st_run(20 * NSEC_PER_SEC);
			look();
			UNIT_EQUAL(said("received: 400\n") && said("lost: 0\n") &&
				   said("corrupt: 0\n"), true, row[i].what);
			sum = number_of(strstr(cmd.answer, "most_at_once"), "resends");
			UNIT_EQUAL(sum, max(number_of(rail(1, 2, bad), "resends"), 0LL) +
				   max(number_of(rail(2, 1, bad), "resends"), 0LL), "all of them");
			UNIT_EQUAL(sum > 0, true, row[i].what);
			end();
		}
}

/* A run counts from its start, and reports the health of the rail at that time. */
static void anew(void)
{
	begin("from=c|to=s|type=ping|size=64|loop=100|rate=1000|");
	tell(0, "run|key=5|name=batch|");
	st_run(20 * RAILS_MS);
	rails_on(1, 1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_TIMEOUT, -1);
	st_run(100 * RAILS_MS);
	look();
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends") > 0, true, "some");
	UNIT_EQUAL(number_of(rail(1, 2, 1), "health_before"), 1000, "well before");
	UNIT_EQUAL(tell(0, "run|key=5|name=batch|"), 0, "again");
	look();
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends"), 0, "none in this run");
	UNIT_EQUAL(number_of(rail(1, 2, 1), "health_before") < 1000, true, "it was not well");
	end();
}

/* Each node is client and server of the other: a failure of a rail is reported and counted once. */
static void both_roles(void)
{
	const char *at;
	u32 nr = 0;

	begin("from=both|to=both|type=ping|size=64|map=4|rate=100|time=2000000000|");
	tell(0, "run|key=5|name=batch|");
	st_run(100 * RAILS_MS);
	rails_on(1, 1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_TIMEOUT, 5);
	st_run(5 * NSEC_PER_SEC);
	look();
	UNIT_EQUAL(said("  resends: 5\n"), true, "once");
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends"), 5, "on the rail");
	for (at = cmd.answer; (at = strstr(at, "- {batch: ")); at++)
		nr++;
	UNIT_EQUAL(nr, 4, "two rails each");
	end();
}

/* A rail is removed, and added again; its counts remain. */
static void removed(void)
{
	struct lnet_ni_cfg cfg;

	begin("from=c|to=s|type=ping|size=64|rate=100|time=8000000000|");
	tell(0, "run|key=5|name=batch|");
	st_run(100 * RAILS_MS);
	rails_on(1, 1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_TIMEOUT, 2);
	st_run(400 * RAILS_MS);
	look();
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends"), 2, "two");
	lnet_ni_cfg_init(&cfg);
	cfg.nid = rails_nid(1, 1);
	UNIT_EQUAL(lnet_ni_del(rails.node[1].ln, &cfg.nid), 0, "taken away");
	st_run(NSEC_PER_SEC);
	look();
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends"), 2, "as before");
	UNIT_EQUAL(strstr(rail(1, 2, 1), ", health: null}") != NULL, true, "it is not there");
	UNIT_EQUAL(lnet_ni_add(rails.node[1].ln, &cfg), 0, "back");
	st_run(NSEC_PER_SEC);
	rails_on(1, 1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_TIMEOUT, 1);
	st_run(8 * NSEC_PER_SEC);
	look();
	UNIT_EQUAL(number_of(rail(1, 2, 1), "resends"), 3, "one more");
	UNIT_EQUAL(number_of(rail(1, 2, 1), ", health") >= 0, true, "it is there");
	UNIT_EQUAL(said("received: 800\n") && said("lost: 0\n"), true, "nothing is lost");
	end();
}

/* Makes the consoles of nodes 1 and 2 unresponsive, if the nodes are in a session. */
static void silence(void)
{
	unsigned int i;

	for (i = 1; i < 3; i++)
		if (st_of(i)->session)
			st_silence(i);
}

/* Nodes are taken over, and tests stopped and run again, before and while rails are queried. */
static void at_once(void)
{
	u32 round;

	for (round = 0; round < 30; round++) {
		begin("from=both|to=both|type=bulk|size=5000|map=4|concur=2|rate=1000|");
		post(0, "run|key=5|name=batch|");
		if (round & 1)
			st_run(round * RAILS_MS / 10);
		result();
		look();
		if (round & 2)
			tell(0, "stop|key=5|name=batch|force=1|");
		if (round & 4)
			tell(1, "new_session|name=mine|key=6|force=1|");
		if (round & 4)
			tell(1, "add_group|key=6|name=g|");
		if (round & 8)
			silence();
		if (round & 8)
			tell(1, "add_nodes|key=6|name=g|nid=10.0.0.3@tcp|nid=10.0.0.2@tcp|");
		st_run(20 * RAILS_MS);
		tell(0, "run|key=5|name=batch|");
		tell(0, "tally|key=5|rails=1|servers=1|");
		end();
	}
}

UNIT_SUITE(strail,
	   { "rails that fail nothing", well },
	   { "one of two fails: which, and all arrives", cut },
	   { "a run counts from its begin", anew },
	   { "a rail of two roles is told of once", both_roles },
	   { "a rail that goes and comes", removed },
	   { "runs that are stopped and taken over at once", at_once })
