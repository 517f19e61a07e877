/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A map by a list: does each client send to its listed servers, and is an invalid list rejected as
 * a whole?
 */
#include "st_con.h"

static void begin(void)
{
	st_begin(4);
	tell(0, "new_session|name=lab|key=5|timeout=60|");
	tell(0, "add_group|key=5|name=all|");
	tell(0, "add_nodes|key=5|name=all|nid=10.0.0.1@tcp|nid=10.0.0.2@tcp|nid=10.0.0.3@tcp|"
	     "nid=10.0.0.4@tcp|");
	tell(0, "add_group|key=5|name=s|");
	tell(0, "add_nodes|key=5|name=s|nid=10.0.0.4@tcp|nid=10.0.0.3@tcp|");
}

static void end(void)
{
	kfree(cmd.answer);
	cmd.answer = NULL;
	st_end();
}

#define TEST(from, to) \
	"add_test|key=5|batch=batch|from=" from "|to=" to "|type=ping|loop=10|map=10|"

/* Returns the pairs of the test, each as "from>to:sent". */
static const char *pairs(const char *test)
{
	static char text[256];
	const char *at = NULL;
	char words[64];
	u32 len = 0;

	snprintf(words, sizeof(words), "tally|key=5|test=%s|pairs=1|", test);
	UNIT_EQUAL(tell(0, words), 0, "pairs");
	UNIT_EQUAL(said("missing: []"), true, "all tell");
	for (at = cmd.answer; (at = strstr(at, "  from: \"10.0.0.")); at++)
		len += (u32)snprintf(text + len, sizeof(text) - len, "%c>%c:%d ",
				     at[strlen("  from: \"10.0.0.")],
				     strstr(at, "  to: \"10.0.0.")[strlen("  to: \"10.0.0.")],
				     atoi(strstr(at, "  sent: ") + strlen("  sent: ")));
	text[len ? len - 1 : 0] = 0;
	return text;
}

/* Nodes by NID and by position, in any order; a client in two lines, and a client in none. */
static void as_listed(void)
{
	begin();
	UNIT_EQUAL(tell(0, TEST("all", "all") "send=1 3 10.0.0.1@tcp 2|send=5 10.0.0.1@tcp 1|"
			"send=9 3 1|ways=2|"), 0, "added");
	UNIT_EQUAL(said("failed: 0"), true, "by all");
	UNIT_EQUAL(tell(0, TEST("all", "s") "send=1 1 10.0.0.3@tcp|send=2 0 0|"), 0, "two groups");
	UNIT_EQUAL(tell(0, "list_batch|key=5|name=batch|"), 0, "shown");
	UNIT_EQUAL(said("    sends:\n    - [\"10.0.0.4@tcp\", \"10.0.0.1@tcp\"]\n"
			"    - [\"10.0.0.4@tcp\", \"10.0.0.3@tcp\"]\n"
			"    - [\"10.0.0.1@tcp\", \"10.0.0.2@tcp\"]\n"), true, "as it was given");
	tell(0, "run|key=5|name=batch|");
	st_run(NSEC_PER_SEC);
	UNIT_TEXT(pairs("1"), "1>2:10 4>1:10 4>3:10 4>2:10", "there");
	UNIT_TEXT(pairs("2"), "1>4:10 2>1:10 2>4:10 3>4:10", "and back");
	UNIT_TEXT(pairs("3"), "1>4:10 2>3:10", "to the other group");
	tell(0, "tally|key=5|test=1|servers=1|");
	UNIT_EQUAL(said("nodes: 4\n  sent: 40\n  received: 40\n"), true, "also who sends nothing");
	end();
}

static void refused(void)
{
	static const struct {
		const char *words, *why;
	} row[] = {
		{ TEST("all", "s"), "bad: {line: 0, word: 0, why: \"nobody sends\"}" },
		{ TEST("all", "s") "send=|", "has no number" },
		{ TEST("all", "s") "send=x 1 1|", "has no number" },
		{ TEST("all", "s") "send=7|", "bad: {line: 7, word: 1, why: \"nobody sends\"}" },
		{ TEST("all", "s") "send=7 1|",
		  "bad: {line: 7, word: 2, why: \"nobody to send to\"}" },
		{ TEST("all", "s") "send=1 0 0|send=2 4 0|",
		  "bad: {line: 2, word: 1, why: \"is not in group all\"}" },
		{ TEST("all", "s") "send=1 0 0 2|",
		  "bad: {line: 1, word: 3, why: \"is not in group s\"}" },
		{ TEST("all", "s") "send=1 0 10.0.0.1@tcp|", "is not in group s" },
		{ TEST("all", "s") "send=1 0 10.0.0.300@tcp|", "is no NID" },
		{ TEST("all", "s") "send=1 0 *@tcp|", "is no" },
		{ TEST("all", "s") "send=1 -1 0|", "is neither a NID nor a number" },
		{ TEST("all", "s") "send=1 0 1x|", "is neither a NID nor a number" },
		{ TEST("all", "s") "send=1 0 4294967296|", "is neither a NID nor a number" },
		{ TEST("all", "s") "send=1 0 4294967295|", "is not in group s" },
		{ TEST("all", "s") "send=1 0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@tcp|", "is neither" },
		{ TEST("all", "s") "send=1 0 000000000000000000000000000000000000000000000000000000"
		  "00000000000000000000000000000000005|", "is neither" },
		{ TEST("all", "all") "send=1 0 0|",
		  "bad: {line: 1, word: 2, why: \"would send to itself\"}" },
		{ TEST("all", "s") "send=1 0 1 10.0.0.3@tcp|",
		  "bad: {line: 1, word: 3, why: \"is its server already\"}" },
		{ TEST("all", "s") "send=1 0 1|send=2 10.0.0.1@tcp 1|",
		  "bad: {line: 2, word: 2, why: \"is its server already\"}" },
	};
	u32 i;

	begin();
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		UNIT_EQUAL(tell(0, row[i].words), -EINVAL, row[i].words);
		UNIT_EQUAL(said(row[i].why), true, row[i].words);
	}
	UNIT_EQUAL(tell(0, TEST("all", "no") "send=1 0 0|"), -ENOENT, "no such group");
	tell(0, "list_batch|key=5|name=batch|");
	UNIT_EQUAL(said("tests: []"), true, "nothing was made");
	for (i = 0; i < 4; i++)
		UNIT_EQUAL(list_empty(&st_of(i)->drills), true, "nowhere");
	UNIT_EQUAL(tell(0, "del_group|key=5|name=s|"), 0, "nor is a group in use");
	end();
}

/* A map without a list does not count a node that is down. Here the list names the node. */
static void who_is_down(void)
{
	begin();
	lst_stop(st_of(3));
	tell(0, "stat|key=5|wait=2|group=s|");
	UNIT_EQUAL(tell(0, TEST("all", "s") "send=1 0 0|"), -EINVAL, "named");
	UNIT_EQUAL(said("bad: {line: 1, word: 2, why: \"is Down\"}"), true, "and why not");
	UNIT_EQUAL(tell(0, TEST("all", "s") "send=1 0 1|"), 0, "others");
	end();
}

/* Two console commands at once, and a session that is taken over during one of them. */
static void meanwhile(void)
{
	static char request[] = TEST("all", "s") "send=1 0 1 0|send=2 1 0|ways=2|";
	struct lst_command other = { .request = request, .len = sizeof(request) - 1,
				     .done = on_done };
	char *c;
	u32 round;

	for (c = request; *c; c++)
		*c = *c == '|' ? 0 : *c;
	for (round = 0; round < 40; round++) {
		begin();
		lst_command(st_of(0), &other);
		if (round % 2)
			st_run(round * RAILS_MS / 100);
		if (round % 4 == 3)
			tell(0, "update_group|key=5|name=s|op=remove|nid=10.0.0.3@tcp|");
		if (round % 4 == 2)
			tell(0, TEST("all", "s") "send=1 2 0|");
		if (round % 4 < 2)
			tell(round % 8 < 4 ? 0 : 1, "new_session|name=mine|key=6|force=1|");
		st_run(NSEC_PER_SEC);
		kfree(other.answer);
		other = (struct lst_command){ .request = request, .len = sizeof(request) - 1,
					      .done = on_done };
		end();
	}
}

UNIT_SUITE(stlisted,
	   { "everybody sends to whom it is listed with", as_listed },
	   { "what is wrong is told of, and nothing is made", refused },
	   { "who is down is named", who_is_down },
	   { "two commands at once, groups that change, a takeover", meanwhile })
