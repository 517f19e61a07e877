/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/memory/match.c: which entry matches a message, and at which offset. */
#include "match_rows.h"

#define TO(ix, at, len)		{ LNET_RECEIVE, ix, at, len, 0 }
#define NONE			{ LNET_SKIP, 0, 0, 0, LNET_NO_MATCH }
#define LONG			{ LNET_SKIP, 0, 0, 0, LNET_TOO_LONG }

static const struct {
	const char *name;
	struct me_row me[3];
	struct msg msg[4];		/* rlength 0 with type 0: end */
	struct { u8 verdict, ix; u32 offset, mlength; u8 why; } want[4];
} rows[] = {
	/* which entry */
	{ "no entry", {}, { P(10) }, { NONE } },
	{ "portal 64", { ME(100, PUT) }, { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 64 } }, { NONE } },
	{ "portal 4294967295",
	  { ME(100, PUT) },
	  { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, ~0U } },
	  { NONE } },
	{ "another portal",
	  { ME(100, PUT) },
	  { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 8 } },
	  { NONE } },
	{ "the entry", { ME(100, PUT) }, { P(10) }, { TO(0, 0, 10) } },
	{ "an ME without MD matches nothing", { ME_BARE }, { P(10) }, { NONE } },
	{ "an ME without MD is skipped", { ME_BARE, ME(100, PUT) }, { P(10) }, { TO(1, 0, 10) } },
	{ "AFTER: the first made is the first found",
	  { ME_POS(LNET_INS_AFTER), ME_POS(LNET_INS_AFTER) },
	  { P(10) },
	  { TO(0, 0, 10) } },
	{ "BEFORE: the last made is the first found",
	  { ME_POS(LNET_INS_AFTER), ME_POS(LNET_INS_BEFORE) },
	  { P(10) },
	  { TO(1, 0, 10) } },
	{ "LOCAL is as AFTER",
	  { ME_POS(LNET_INS_LOCAL), ME_POS(LNET_INS_LOCAL) },
	  { P(10) },
	  { TO(0, 0, 10) } },
	{ "a PUT needs OP_PUT", { ME(100, GET) }, { P(10) }, { NONE } },
	{ "a GET needs OP_GET", { ME(100, PUT) }, { G(10) }, { NONE } },
	{ "a GET passes by an entry for PUTs",
	  { ME(100, PUT), ME(100, GET) },
	  { G(10) },
	  { TO(1, 0, 10) } },
	{ "an entry for both",
	  { ME(100, PUT | GET) },
	  { G(10), P(10) },
	  { TO(0, 0, 10), TO(0, 10, 10) } },
	{ "other bits", { ME_BITS(BITS, 0) }, { P_BITS(BITS + 1) }, { NONE } },
	{ "high bits count", { ME_BITS(BITS, 0) }, { P_BITS(BITS ^ 1ULL << 63) }, { NONE } },
	{ "ignored bits",
	  { ME_BITS(BITS, 0xff) },
	  { P_BITS(BITS ^ 0x5a), P_BITS(BITS ^ 0x100) },
	  { TO(0, 0, 10), NONE } },
	{ "all bits ignored", { ME_BITS(0, ~0ULL) }, { P_BITS(12345) }, { TO(0, 0, 10) } },
	{ "entries with ignored bits come first",
	  { ME_BITS(BITS, 0), ME_BITS(BITS, 1) },
	  { P(10) },
	  { TO(1, 0, 10) } },
	{ "an ignoring entry that does not fit is passed by",
	  { ME_BITS(BITS + 2, 1), ME_BITS(BITS, 0) },
	  { P(10) },
	  { TO(1, 0, 10) } },
	{ "bits decide between entries",
	  { ME_BITS(1, 0), ME_BITS(2, 0), ME_BITS(3, 0) },
	  { P_BITS(3), P_BITS(1) },
	  { TO(2, 0, 10), TO(0, 0, 10) } },
	/* sender */
	{ "any NID, this PID",
	  { ME_FROM(0, 12345) },
	  { P_FROM(1, 12345), P_FROM(1, 1) },
	  { TO(0, 0, 10), NONE } },
	{ "this NID, any PID",
	  { ME_FROM(3, LNET_PID_ANY) },
	  { P_FROM(3, 99), P_FROM(1, 99) },
	  { TO(0, 0, 10), NONE } },
	{ "unique",
	  { ME_FROM(3, 12345), ME_FROM(1, 12345) },
	  { P_FROM(1, 12345), P_FROM(3, 1) },
	  { TO(1, 0, 10), NONE } },
	{ "another NID of the same peer will do",
	  { ME_FROM(2, 12345) },
	  { P_FROM(1, 12345), P_FROM(1, 12345) },
	  { TO(0, 0, 10), TO(0, 10, 10) } },
	{ "but only if that peer sent it", { ME_FROM(2, 12345) }, { P_FROM(3, 12345) }, { NONE } },
	{ "the first in order wins over the exact one",
	  { ME_FROM(2, 12345), ME_FROM(1, 12345) },
	  { P_FROM(1, 12345) },
	  { TO(0, 0, 10) } },
	/* threshold */
	{ "threshold 0", { ME_T(100, PUT, 0) }, { P(10) }, { NONE } },
	{ "threshold 2",
	  { ME_T(100, PUT, 2) },
	  { P(10), P(10), P(10) },
	  { TO(0, 0, 10), TO(0, 10, 10), NONE } },
	{ "exhausted, then the next entry",
	  { ME_T(100, PUT, 1), ME_T(100, PUT, 1) },
	  { P(10), P(10), P(10) },
	  { TO(0, 0, 10), TO(1, 0, 10), NONE } },
	/* offset and length */
	{ "local offset moves",
	  { ME(100, PUT) },
	  { P(60), P(40), P(1) },
	  { TO(0, 0, 60), TO(0, 60, 40), LONG } },
	{ "an empty message fits a full buffer",
	  { ME(100, PUT) },
	  { P(100), P(0) },
	  { TO(0, 0, 100), TO(0, 100, 0) } },
	{ "too long: dropped", { ME(100, PUT) }, { P(101) }, { LONG } },
	{ "too long: the search ends there", { ME(100, PUT), ME(200, PUT) }, { P(101) }, { LONG } },
	{ "too long costs nothing",
	  { ME_T(100, PUT, 1) },
	  { P(101), P(100) },
	  { LONG, TO(0, 0, 100) } },
	{ "TRUNCATE",
	  { ME(100, PUT | TRUNC) },
	  { P(101), P(1) },
	  { TO(0, 0, 100), TO(0, 100, 0) } },
	{ "the remote offset is ignored", { ME(100, PUT) }, { P_AT(10, 50) }, { TO(0, 0, 10) } },
	{ "MANAGE_REMOTE",
	  { ME(100, PUT | REMOTE) },
	  { P_AT(10, 50), P_AT(10, 20) },
	  { TO(0, 50, 10), TO(0, 20, 10) } },
	{ "MANAGE_REMOTE up to the end",
	  { ME(100, PUT | REMOTE) },
	  { P_AT(10, 90), P_AT(11, 90) },
	  { TO(0, 90, 10), LONG } },
	{ "MANAGE_REMOTE, TRUNCATE",
	  { ME(100, PUT | REMOTE | TRUNC) },
	  { P_AT(20, 90) },
	  { TO(0, 90, 10) } },
	{ "remote offset at the end",
	  { ME(100, PUT | REMOTE | TRUNC) },
	  { P_AT(20, 100) },
	  { TO(0, 100, 0) } },
	{ "remote offset beyond the end",
	  { ME(100, PUT | REMOTE | TRUNC) },
	  { P_AT(20, 101), P_AT(0, ~0U) },
	  { LONG, LONG } },
	{ "MANAGE_REMOTE for a GET",
	  { ME(100, GET | REMOTE) },
	  { { LNET_OP_GET, 5, 7, BITS, 1, 12345, 7 } },
	  { TO(0, 7, 5) } },
	{ "MAX_SIZE: exhausted when another may not fit",
	  { ME_MAX(100, PUT, 40) },
	  { P(40), P(21), P(20) },
	  { TO(0, 0, 40), TO(0, 40, 21), NONE } },
	{ "MAX_SIZE: just fits again",
	  { ME_MAX(100, PUT, 40) },
	  { P(30), P(30), P(40), P(0) },
	  { TO(0, 0, 30), TO(0, 30, 30), TO(0, 60, 40), NONE } },
	{ "MAX_SIZE: longer than that", { ME_MAX(100, PUT, 40) }, { P(41) }, { LONG } },
	{ "MAX_SIZE: cut to that",
	  { ME_MAX(100, PUT | TRUNC, 40) },
	  { P(80), P(80) },
	  { TO(0, 0, 40), TO(0, 40, 40) } },
	{ "MAX_SIZE 0 never exhausts",
	  { ME_MAX(100, PUT | TRUNC, 0) },
	  { P(80), P(80) },
	  { TO(0, 0, 0), TO(0, 0, 0) } },
	{ "MAX_SIZE does not pass the end with MANAGE_REMOTE",
	  { ME_MAX(100, PUT | REMOTE | TRUNC, 40) },
	  { P_AT(80, 90) },
	  { TO(0, 90, 10) } },
	{ "MAX_SIZE counts what came, even with MANAGE_REMOTE",
	  { ME_MAX(100, PUT | REMOTE, 40) },
	  { P_AT(40, 0), P_AT(40, 0), P_AT(1, 0) },
	  { TO(0, 0, 40), TO(0, 0, 40), NONE } },
};

static void check_row(unsigned int r)
{
	lnet_md_t md[3] = { };
	struct lnet_rx rx;
	struct mw w;
	u32 i;

	mw_init(&w);
	for (i = 0; i < 3 && rows[r].me[i].length; i++)
		make_me(&w, &rows[r].me[i], 7, NULL, &md[i]);
	for (i = 0; i < 4 && rows[r].msg[i].pid; i++) {
		enum lnet_outcome why;
		bool land = rows[r].want[i].verdict == LNET_RECEIVE;

		UNIT_EQUAL(match(&w, &rx, &rows[r].msg[i], &why), rows[r].want[i].verdict,
			   rows[r].name);
		if (land) {
			UNIT_EQUAL(rx.md == mw_md(&w, md[rows[r].want[i].ix]), 1, rows[r].name);
			UNIT_EQUAL(rx.offset, rows[r].want[i].offset, rows[r].name);
			UNIT_EQUAL(rx.mlength, rows[r].want[i].mlength, rows[r].name);
		} else {
			UNIT_EQUAL(why, rows[r].want[i].why, rows[r].name);
			CU_ASSERT_PTR_NULL(rx.md);
		}
	}
	CU_ASSERT(i > 0);
	mw_fini(&w);
}

static void test_rules(void)
{
	u32 r;

	peer_init();
	for (r = 0; r < ARRAY_SIZE(rows); r++)
		check_row(r);
}

/* ---- portals --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	u32 portal;
	u8 nid1, nid2;
	u32 pid1, pid2;
	u64 ignore1, ignore2;
	int want1, want2;
} types[] = {
	{ "portal 64", 64, 0, 0, LNET_PID_ANY, LNET_PID_ANY, 0, 0, -EINVAL, -EINVAL },
	{ "portal 63", 63, 0, 0, LNET_PID_ANY, LNET_PID_ANY, 0, 0, 0, 0 },
	{ "unique, unique", 7, 1, 3, 1, 2, 0, 0, 0, 0 },
	{ "unique, any NID", 7, 1, 0, 1, 2, 0, 0, 0, -EPERM },
	{ "unique, any PID", 7, 1, 3, 1, LNET_PID_ANY, 0, 0, 0, -EPERM },
	{ "unique, ignored bits", 7, 1, 3, 1, 2, 0, 1, 0, -EPERM },
	{ "wildcard, unique", 7, 0, 3, 1, 2, 0, 0, 0, -EPERM },
	{ "any NID, any PID", 7, 0, 3, 1, LNET_PID_ANY, 0, 0, 0, 0 },
	{ "ignored bits, any PID", 7, 1, 3, 1, LNET_PID_ANY, 1, 0, 0, 0 },
};

static void test_types(void)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct lnet_process one = { nid_of(types[i].nid1), types[i].pid1 };
		struct lnet_process two = { nid_of(types[i].nid2), types[i].pid2 };
		lnet_me_t me = { 0 };
		struct mw w;

		mw_init(&w);
		UNIT_EQUAL(lnet_me_attach(&w.ln, types[i].portal, &one, 5, types[i].ignore1,
					  LNET_RETAIN, LNET_INS_AFTER, &me),
			   types[i].want1, types[i].name);
		if (!types[i].want1)
			UNIT_EQUAL(lnet_me_unlink(&w.ln, me), 0, types[i].name);
		/* The type remains when the last entry is unlinked. */
		UNIT_EQUAL(lnet_me_attach(&w.ln, types[i].portal, &two, 5, types[i].ignore2,
					  LNET_RETAIN, LNET_INS_AFTER, &me),
			   types[i].want2, types[i].name);
		mw_fini(&w);
	}
}

#define MANY 600
static void test_many(void)
{
	static lnet_md_t md[MANY];
	struct me_row row = ME(100, PUT);
	struct msg msg = P(10);
	enum lnet_outcome why;
	struct lnet_rx rx;
	struct mw w;
	int i, bad = 0;

	mw_init(&w);
	row.threshold = 1;
	for (i = 0; i < MANY; i++) {
		row.bits = (u64)(i / 3) << 20;		/* three of each, to be used in order */
		make_me(&w, &row, 7, NULL, &md[i]);
	}
	for (i = 0; i < MANY; i++) {
		int at = i % (MANY / 3);

		msg.bits = (u64)at << 20;
		bad += match(&w, &rx, &msg, &why) != LNET_RECEIVE;
		bad += rx.md != mw_md(&w, md[at * 3 + i / (MANY / 3)]);
	}
	UNIT_EQUAL(bad, 0, "each finds its own, in order");
	UNIT_EQUAL(match(&w, &rx, &msg, &why), LNET_SKIP, "until there are none");
	mw_fini(&w);
}

static char ends[256];

static void ending_handler(const struct lnet_event *ev)
{
	size_t len = strlen(ends);

	snprintf(ends + len, sizeof(ends) - len, "%d%s ", ev->kind, ev->unlinked ? "*" : "");
}

/*
 * A matched operation that exhausts an auto-unlink MD removes the MD from the search at once, and
 * also an ME that was attached with LNET_UNLINK.
 */
static void test_auto_unlink(void)
{
	struct lnet_process from = { nid_of(0), LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = memory,
				   .length = 100,
				   .options = PUT,
				   .threshold = 2,
				   .handler = ending_handler };
	static const struct msg msg = P(10);
	enum lnet_unlink how[] = { LNET_UNLINK, LNET_RETAIN };
	u32 i;

	for (i = 0; i < 2; i++) {
		struct lnet_rx rx[2];
		enum lnet_outcome why;
		struct lnet_md *mdp;
		lnet_me_t me;
		lnet_md_t md;
		struct mw w;

		mw_init(&w);
		ends[0] = 0;
		UNIT_EQUAL(lnet_me_attach(&w.ln, 7, &from, BITS, 0, how[i], LNET_INS_AFTER, &me), 0,
			   "ME");
		UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_UNLINK, &md), 0, "MD");
		mdp = mw_md(&w, md);
		UNIT_EQUAL(match(&w, &rx[0], &msg, &why), LNET_RECEIVE, "first");
		UNIT_EQUAL(mw_md(&w, md) == mdp, 1, "not exhausted");
		UNIT_EQUAL(match(&w, &rx[1], &msg, &why), LNET_RECEIVE, "second");
		CU_ASSERT_PTR_NULL(mw_md(&w, md));
		UNIT_EQUAL(mw_me_exists(&w, me), how[i] == LNET_RETAIN,
			   "the ME goes with it if made so");
		UNIT_EQUAL(lnet_md_unlink(&w.ln, md), -ENOENT, "exhausted: no handle");
		mw_post(&w, LNET_PASS_DRIVER, rx[1].md, LNET_EVENT_PUT, 0, true);
		UNIT_TEXT(ends, "2 ", "one of two is done");
		mw_post(&w, LNET_PASS_DRIVER, rx[0].md, LNET_EVENT_PUT, 0, true);
		UNIT_TEXT(ends, "2 2* ", "the last says so");
		mw_fini(&w);
	}
}

UNIT_SUITE(match,
	{ "every rule of matching", test_rules },
	{ "the first entry types the portal", test_types },
	{ "many entries keep their order", test_many },
	{ "auto-unlink by a match", test_auto_unlink })
