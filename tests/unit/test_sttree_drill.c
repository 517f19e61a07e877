/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do tests that only this project has run over a tree as they do among groups? */
#include "st_con.h"
#include "selftest/drill.h"
#include "selftest/tree.h"

#define KEY "|key=5|"
#define ALL "10.0.0.[2-4]@tcp"
#define TEST "tree_test" KEY "batch=batch|"
#define RING TEST "from=" ALL "|to=" ALL "|map=5|"

/* The console is node 0; of the others node 2 is above node 3. */
static void begin(void)
{
	st_begin(4);
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|"), 0, "session");
	UNIT_EQUAL(tell(0, "tree_join" KEY "ranges=" ALL "|k=2|"), 0, "join");
}

static void end(void)
{
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(said("done: 3"), true, "all");
	kfree(cmd.answer);
	cmd.answer = NULL;
	rails_clear();
	st_end();
}

static void run(u64 ns)
{
	UNIT_EQUAL(tell(0, "tree_run" KEY "batch=batch|"), 0, "run");
	UNIT_EQUAL(said("done: 3"), true, "all");
	st_run(ns);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
}

static struct lst_drill *drill_of(unsigned int node, bool server)
{
	struct lst_drill *drill;

	list_for_each_entry(drill, &st_of(node)->drills, link)
		if (!drill->plan.server == !server)
			return drill;
	return NULL;
}

static void pings_have_a_size_and_a_warm_up(void)
{
	begin();
	UNIT_EQUAL(tell(0, RING "type=ping|size=1000|loop=20|warmup=3|concur=2|"), 0, "a test");
	UNIT_EQUAL(said("done: 3, refused: 0"), true, "all have it");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 120\n  received: 120\n  lost: 0\n"), true, "without those before");
	UNIT_EQUAL(said("bytes_out: 120000\n  bytes_in: 120000\n"), true, "of that size");
	UNIT_EQUAL(said("what: ping") && said("nodes: 3\n"), true, "of three nodes");
	UNIT_EQUAL(said("running: {active: 0, started: 3"), true, "it is over");
	UNIT_EQUAL(drill_of(1, true)->nr_served, 46, "who serves has them all");
	end();
}

static void bulk_is_looked_at(void)
{
	begin();
	UNIT_EQUAL(tell(0, RING "type=bulk|size=5000|mode=3|verify=4|frags=2|off=3|loop=10|"), 0,
		   "there and back");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 30\n  received: 30\n"), true, "all");
	UNIT_EQUAL(said("corrupt: 0\n"), true, "as it was sent");
	UNIT_EQUAL(said("bytes_out: 150000\n  bytes_in: 150000\n"), true, "both ways");
	end();
}

/* One node sends the data of another session: its client counts it, and is named. */
static void what_is_wrong_is_counted(void)
{
	begin();
	UNIT_EQUAL(tell(0, RING "type=bulk|size=4096|mode=1|verify=4|loop=10|"), 0, "read");
	drill_of(2, true)->session_salt++;
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("corrupt: 10\n"), true, "of one client");
	UNIT_EQUAL(st_of(0)->root->wave.rec.tally[0]->tally.nr_bad, 1, "one is named");
	end();
}

static void time_ends_a_test(void)
{
	u64 begun;

	begin();
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|time=500000000|rate=100|"), 0, "half a second");
	begun = rails.now_ns;
	run(300 * RAILS_MS);
	UNIT_EQUAL(said("running: {active: 3"), true, "it runs");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("running: {active: 0"), true, "and is over");
	UNIT_EQUAL(said("sent: 150\n  received: 150\n"), true, "100 a second of each");
	UNIT_EQUAL(rails.now_ns - begun < 2 * NSEC_PER_SEC, true, "in time");
	end();
}

static void both_ways_are_two_tests(void)
{
	begin();
	UNIT_EQUAL(tell(0, TEST "from=10.0.0.2@tcp|to=10.0.0.[3-4]@tcp|map=3|ways=2|type=bulk|"
			   "size=100|loop=5|"), 0, "one to all, and back");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("test: 1\n") && said("test: 2\n"), true, "two");
	UNIT_EQUAL(said("sent: 10\n  received: 10\n"), true, "of each");
	UNIT_EQUAL(st_of(0)->root->wave.rec.nr_tallies, 2, "records");
	UNIT_EQUAL(st_of(0)->root->wave.rec.tally[0]->tally.nr_nodes, 1, "one client");
	UNIT_EQUAL(st_of(0)->root->wave.rec.tally[1]->tally.nr_nodes, 2, "two the other way");
	UNIT_EQUAL(st_of(0)->root->wave.rec.tally[1]->tally.c[LST_T_received], 10, "all of it");
	end();
}

/* Each node computes its receivers; in total, each two nodes exchange messages once. */
static void maps_are_computed_at_the_nodes(void)
{
	begin();
	UNIT_EQUAL(tell(0, TEST "from=" ALL "|to=" ALL "|map=7|type=ping|loop=4|"), 0, "chaos");
	UNIT_EQUAL(drill_of(1, false)->nr_dests, 2, "the first to two");
	UNIT_EQUAL(drill_of(2, false)->nr_dests, 1, "the second to one");
	UNIT_EQUAL(drill_of(3, false)->nr_dests, 0, "the last to nobody");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 12\n  received: 12\n"), true, "three pairs");
	end();
}

/* One test of each kind runs, each with separate counts; a new tree starts with new counts. */
static void kinds_run_beside_each_other(void)
{
	begin();
	UNIT_EQUAL(tell(0, TEST "from=" ALL "|to=" ALL "|seed=1|type=ping|loop=3|"), 0, "stock's");
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=4|"), 0, "ours");
	UNIT_EQUAL(tell(0, RING "type=bulk|size=64|loop=5|"), 0, "bulk");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 9\n") && said("sent: 12\n") && said("sent: 15\n"), true, "each");
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(tell(0, "tree_join" KEY "ranges=" ALL "|k=2|"), 0, "join anew");
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=7|"), 0, "a test");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 21\n  received: 21\n"), true, "of that alone");
	end();
}

/* Nodes number the tests of a batch, and consoles query the tests of groups by that number. */
static void a_batch_is_of_groups_or_of_the_tree(void)
{
	begin();
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=1|"), 0, "a test of the tree");
	UNIT_EQUAL(tell(0, "add_group" KEY "name=g|"), 0, "a group");
	UNIT_EQUAL(tell(0, "add_nodes" KEY "name=g|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|"), 0,
		   "of it");
	UNIT_EQUAL(tell(0, "add_test" KEY "batch=batch|from=g|to=g|type=ping|"), -EBUSY,
		   "not there");
	UNIT_EQUAL(tell(0, "add_batch" KEY "name=other|"), 0, "another batch");
	UNIT_EQUAL(tell(0, "add_test" KEY "batch=other|from=g|to=g|type=bulk|map=5|loop=2|"), 0,
		   "but there");
	UNIT_EQUAL(tell(0, "tree_test" KEY "batch=other|from=" ALL "|to=" ALL "|type=ping|"),
		   -EBUSY, "where the tree has none");
	UNIT_EQUAL(tell(0, "run" KEY "name=other|"), 0, "it runs");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(said("sent: 3\n  received: 3\n"), true, "beside the tree's");
	UNIT_EQUAL(tell(0, "tally" KEY "batch=other|"), 0, "its counts");
	UNIT_EQUAL(said("sent: 4\n"), true, "are its own");
	end();
}

static void what_is_refused(void)
{
	static const char *const rows[] = {
		RING "type=ping|size=63|", RING "type=ping|size=4097|",
		RING "type=bulk|size=67108865|", RING "type=bulk|verify=5|",
		RING "type=bulk|colour=1|", RING "type=bulk|seed=1|", RING "type=brw|",
		TEST "from=" ALL "|to=" ALL "|map=10|type=bulk|send=1 0 1|",
		TEST "from=" ALL "|to=" ALL "|map=10|type=bulk|",
	};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(tell(0, rows[i]), -EINVAL, rows[i]);
	for (i = 0; i < LST_TREE_TESTS_MAX - 1; i++)
		UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=1|"), 0, "as many as there may be");
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=1|ways=2|"), -EINVAL, "two are too many");
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=1|"), 0, "one is not");
	UNIT_EQUAL(tell(0, RING "type=ping|size=64|loop=1|"), -ENOSPC, "and no more");
	run(NSEC_PER_SEC);
	UNIT_EQUAL(st_of(0)->root->wave.rec.nr_tallies, LST_TREE_TESTS_MAX, "all of them");
	end();
}

UNIT_SUITE(sttree_drill,
	   { "pings have a size and a warm-up", pings_have_a_size_and_a_warm_up },
	   { "bulk is looked at", bulk_is_looked_at },
	   { "what is wrong is counted", what_is_wrong_is_counted },
	   { "time ends a test", time_ends_a_test },
	   { "both ways are two tests", both_ways_are_two_tests },
	   { "maps are computed at the nodes", maps_are_computed_at_the_nodes },
	   { "kinds run beside each other", kinds_run_beside_each_other },
	   { "a batch is of groups or of the tree", a_batch_is_of_groups_or_of_the_tree },
	   { "what is refused", what_is_refused })
