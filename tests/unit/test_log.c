/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of a node: which lines are written at which level, and how many of one kind. A later line
 * has the number of suppressed lines, without another event.
 */
#include "fault/fault.h"
#include "manage/manage.h"
#include "rails.h"

#define TEXTS_MAX 512

static struct {
	char text[TEXTS_MAX][200];
	enum lnet_log_level level[TEXTS_MAX];
	unsigned int nr;
} got;

static void take(void *arg, enum lnet_log_level level, const char *text)
{
	UNIT_EQUAL(arg == &got, 1, "the argument");
	UNIT_EQUAL(strcspn(text, "\n"), strlen(text), "one line");
	if (got.nr == TEXTS_MAX)
		return;
	got.level[got.nr] = level;
	strscpy(got.text[got.nr++], text, sizeof(got.text[0]));
}

/* The number of lines that contain @words. */
static unsigned int lines(const char *words)
{
	unsigned int i, nr = 0;

	for (i = 0; i < got.nr; i++)
		nr += strstr(got.text[i], words) != NULL;
	return nr;
}

/* Node 0 of the rails logs to @got. */
static struct lnet *log_begin(u8 level)
{
	struct lnet_cfg cfg = { .log = take, .log_arg = &got, .log_level = level };
	struct lnet *ln;

	memset(&got, 0, sizeof(got));
	rails_begin(NULL);
	ln = rails.node[0].ln;
	lnet_log_init(ln, &cfg);
	return ln;
}

static void test_levels(void)
{
	static const struct {
		u8 level;
		unsigned int info, warning;
	} rows[] = {
		{ 0, 1, 1 }, { LNET_LOG_DEBUG, 1, 1 }, { LNET_LOG_INFO, 1, 1 },
		{ LNET_LOG_WARNING, 0, 1 }, { LNET_LOG_ERROR, 0, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet *ln = log_begin(rows[i].level);

		lnet_log_committed(ln, 3);
		lnet_log_undone(ln, "a reason");
		UNIT_EQUAL(lines("3 changes"), rows[i].info, "info");
		UNIT_EQUAL(lines("undone: a reason"), rows[i].warning, "warning");
		UNIT_EQUAL(got.nr, rows[i].info + rows[i].warning, "nothing else");
		if (rows[i].warning)
			UNIT_EQUAL(got.level[got.nr - 1], LNET_LOG_WARNING, "its level");
		rails_end();
	}
}

static void rejected(struct lnet *ln, unsigned int nr)
{
	while (nr--)
		lnet_ni_rejected(rails_ni(0, 0), "10.9.9.9", "it is garbage");
}

static void test_rate(void)
{
	struct lnet *ln = log_begin(0);

	rejected(ln, 3000);
	UNIT_EQUAL(lines("rejected a connection from 10.9.9.9: it is garbage"), 1, "one line");
	UNIT_EQUAL(got.nr, 1, "no count yet");
	rails_run(LNET_LOG_SPAN_NS - NSEC_PER_MSEC);
	UNIT_EQUAL(lines("suppressed"), 0, "not before the span is over");
	rails_run(2 * NSEC_PER_MSEC);
	UNIT_EQUAL(lines("connections rejected: 2999 more lines were suppressed"), 1,
		   "the count, without another event");
	rails_run(2 * LNET_LOG_SPAN_NS);
	UNIT_EQUAL(got.nr, 2, "nothing is said twice");
	rejected(ln, 1);
	UNIT_EQUAL(lines("10.9.9.9"), 2, "a new span");
	rails_run(2 * LNET_LOG_SPAN_NS);
	UNIT_EQUAL(got.nr, 3, "nothing was suppressed");
	rails_end();
}

/* Each message has a separate rate limit, and a message without a limit has none. */
static void test_apart(void)
{
	struct lnet *ln = log_begin(0);
	unsigned int i;

	rejected(ln, 5);
	for (i = 0; i < 300; i++)
		lnet_log_committed(ln, i);
	UNIT_EQUAL(lines("changes of a transaction"), 300, "no limit");
	for (i = 0; i < 25; i++)
		lnet_log_path_recovered(ln, &LNET_NID_LO, &LNET_NID_LO, 1);
	UNIT_EQUAL(lines("recovered after 1 ms"), 20, "another limit");
	lnet_log_flush(ln);
	UNIT_EQUAL(lines("connections rejected: 4 more"), 1, "at the end, before its time");
	UNIT_EQUAL(lines("paths recovered: 5 more"), 1, "both");
	rejected(ln, 1);
	UNIT_EQUAL(lines("10.9.9.9"), 1, "nothing comes after the end");
	rails_end();
}

static void test_by(void)
{
	struct lnet *ln = log_begin(0);

	UNIT_EQUAL(lnet_ni_drain(ln, &rails_ni(0, 0)->nid, true), 0, "drain");
	UNIT_EQUAL(lines("is drained"), 1, "said");
	UNIT_EQUAL(lines(", by "), 0, "nobody is known");
	scnprintf(ln->log.by, sizeof(ln->log.by), ", by uid 7, pid 8");
	UNIT_EQUAL(lnet_ni_drain(ln, &rails_ni(0, 0)->nid, true), 0, "again");
	UNIT_EQUAL(lines("is drained"), 1, "no change");
	UNIT_EQUAL(lnet_ni_drain(ln, &rails_ni(0, 0)->nid, false), 0, "undrain");
	UNIT_EQUAL(lines("is in service again (undrain), by uid 7, pid 8"), 1, "said");
	rails_end();
}

static void test_link(void)
{
	static const char *const whys[] = {
		[LNET_LINK_NO_CARRIER] = "is down: no carrier",
		[LNET_LINK_SET_DOWN] = "is down: set down by an operator",
		[LNET_LINK_NO_ADDRESS] = "is down: no address",
		[LNET_LINK_GONE] = "is down: interface gone",
	};
	struct lnet_link link = { .up = false };

	log_begin(0);
	for (link.why = 0; link.why < ARRAY_SIZE(whys); link.why++) {
		lnet_ni_link(rails_ni(0, 1), &link);
		rails_pump();
		UNIT_EQUAL(lines(whys[link.why]), 1, "its reason");
		UNIT_EQUAL(lines(" is up: it has its link"), link.why, "up again");
		lnet_ni_link(rails_ni(0, 1), &(struct lnet_link){ .up = true });
		rails_pump();
	}
	UNIT_EQUAL(lines(" is up: it has its link"), link.why, "each time");
	rails_end();
}

/* A peer or a user may choose a text in a line, such as a name in a request. */
static void test_control_characters(void)
{
	struct lnet *ln = log_begin(0);

	lnet_log_config(ln, "set", "a\nb\x1b[2J\x7f \xc3\xa4");
	UNIT_EQUAL(lines("configuration: set (a?b?[2J? \xc3\xa4)"), 1, "replaced, letters stay");
	rails_end();
}

static void test_rule(void)
{
	struct lnet *ln = log_begin(0);
	struct lnet_rule r;

	lnet_rule_init(&r, LNET_RULE_K_STOCK_DROP);
	CU_ASSERT(!lnet_nid_parse_any(&r.src, "255.255.255.255@tcp1"));
	CU_ASSERT(!lnet_rule_add(ln, &r));
	UNIT_EQUAL(lines(", from *@tcp1 to *) is active"), 1, "as the operator wrote it");
	rails_end();
}

/* Messages of node 0 on rail 0 fail; node 0 retransmits them on rail 1. */
static void messages_fail(void)
{
	unsigned int i, nr = rails_stat(0, LNET_C_local_error_count);

	rails_on(0, 0, RAILS_PUT, FATE_FAIL, LNET_LOCAL_ERROR, -1);
	for (i = 0; i < 6; i++)
		rails_put(0, 1, 64, LNET_ACK, 20 * NSEC_PER_SEC);
	rails_pump();
	rails_clear();
	CU_ASSERT_TRUE(rails_stat(0, LNET_C_local_error_count) > nr);
}

#define PATH_0 "path 10.0.0.1@tcp to 10.0.0.2@tcp "

static void test_path_message(void)
{
	log_begin(0);
	messages_fail();
	UNIT_EQUAL(lines(PATH_0 "failed: its interface could not send a message"), 1, "once");
	UNIT_EQUAL(lines("recovered"), 0, "its health is not whole");
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "recovered after"), 1, "once");
	UNIT_EQUAL(lines("failed"), 1, "nothing else failed");
	messages_fail();
	UNIT_EQUAL(lines(PATH_0 "failed"), 2, "the next failure");
	rails_end();
}

static void test_path_lost(void)
{
	log_begin(0);
	rails_on(0, 0, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	rails_on(0, 0, RAILS_CORE, FATE_REJECT, LNET_OK, -1);
	rails_put(0, 1, 64, LNET_ACK, 20 * NSEC_PER_SEC);
	rails_put(0, 1, 64, LNET_ACK, 20 * NSEC_PER_SEC);
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_pump();
	UNIT_EQUAL(lines(PATH_0 "failed: its connections were lost"), 1, "the reason");
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "failed"), 1, "pings that fail add no line");
	UNIT_EQUAL(lines("no path to peer"), 0, "the other rail works");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "recovered after"), 1, "once");
	rails_end();
}

/* Only the messages of node 0 are lost. Those of node 1 arrive, but end no failure. */
static void test_path_one_way(void)
{
	unsigned int i;

	log_begin(0);
	rails_on(0, 0, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 4; i++)
		rails_put(0, 1, 64, LNET_ACK, 20 * NSEC_PER_SEC);
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "failed"), 1, "once");
	for (i = 0; i < 8; i++)
		rails_put(1, 0, 64, LNET_ACK, 20 * NSEC_PER_SEC);
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(lines("recovered"), 0, "pings still fail");
	UNIT_EQUAL(lines(PATH_0 "failed"), 1, "the failure lasts");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "recovered after"), 1, "a ping succeeded");
	rails_end();
}

static void test_peer_cut(void)
{
	unsigned int rail;

	log_begin(0);
	rails_on(0, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	for (rail = 0; rail < 4; rail++)
		rails_put(0, 1, 64, LNET_ACK, 5 * NSEC_PER_SEC);
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lines(PATH_0 "failed"), 1, "the first path");
	UNIT_EQUAL(lines("path 10.1.0.1@tcp1 to 10.1.0.2@tcp1 failed"), 1, "the second path");
	UNIT_EQUAL(lines("no path to peer 10.0.0.2@tcp works"), 1, "the peer");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lines("recovered after"), 2, "both");
	rails_end();
}

/* The log has a line for the interface and none for its paths, which fail with the interface. */
static void test_path_linkless(void)
{
	log_begin(0);
	rails_on(0, 0, RAILS_PUT, FATE_KEEP, LNET_OK, -1);
	rails_put(0, 1, 64, LNET_ACK, 5 * NSEC_PER_SEC);
	rails_put(0, 1, 64, LNET_ACK, 5 * NSEC_PER_SEC);
	rails_link(0, 0, false);
	rails_give(LNET_LOCAL_DROPPED);
	rails_pump();
	UNIT_EQUAL(lines("is down"), 1, "the interface");
	UNIT_EQUAL(lines("failed"), 0, "no path");
	rails_clear();
	rails_link(0, 0, true);
	rails_run(5 * NSEC_PER_SEC);
	rails_end();
}

UNIT_SUITE(log,
	{ "a line is made if its level is within that of the instance", test_levels },
	{ "one line of 3000, then their number", test_rate },
	{ "each message has its own rate; the end says what was suppressed", test_apart },
	{ "a change names who asked for it, if that is known", test_by },
	{ "a link that is down has one of four reasons", test_link },
	{ "no line has control characters", test_control_characters },
	{ "a rule of stock names its NIDs as in the command", test_rule },
	{ "a path whose messages fail has one line, and one when it recovers", test_path_message },
	{ "a path that loses its connections has one line, pings add none", test_path_lost },
	{ "a path recovers with a reply, not with a message of the peer", test_path_one_way },
	{ "a peer without a path has a line", test_peer_cut },
	{ "paths of an interface without link have no line", test_path_linkless })
