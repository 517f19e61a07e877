/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/match.c and portal.c: which entry takes a message, where it goes, and what waits for how long. */
#include "md_world.h"

#define PUT		LNET_MD_OP_PUT
#define GET		LNET_MD_OP_GET
#define TRUNC		LNET_MD_TRUNCATE
#define REMOTE		LNET_MD_MANAGE_REMOTE
#define MAXSZ		LNET_MD_MAX_SIZE
#define INF		LNET_THRESHOLD_INF
#define BITS		0x1122334455667788ULL

static char memory[4096];

/* NIDs by a small number: 1, 2 are NIDs of one peer (1 its primary), 3 of another; 0 is ANY. */
static struct lnet_nid nid_of(u8 n)
{
	struct lnet_nid nid = LNET_NID_ANY;

	if (n)
		lnet_nid_from_nid4(&nid, 0x000200000a000000ULL + n);
	return nid;
}

static struct lnet_peer peer_one;
static struct lnet_peer_ni pni_one[2];

static void peer_init(void)
{
	int i;

	INIT_LIST_HEAD(&peer_one.pnis);
	peer_one.primary = nid_of(1);
	for (i = 0; i < 2; i++) {
		pni_one[i].nid = nid_of((u8)(i + 1));
		pni_one[i].peer = &peer_one;
		list_add_tail(&pni_one[i].link, &peer_one.pnis);
	}
}

struct me_row {				/* an entry with its MD; length 0: there is no such entry */
	u32 length, options;
	s32 threshold;
	u32 max_size;
	u64 bits, ignore;
	u8 nid;
	u32 pid;
	u8 pos, unlink;			/* @unlink: of the MD; entries are retained */
	u8 bare;			/* an ME without MD */
};

struct msg {
	u8 type;
	u32 rlength, offset;
	u64 bits;
	u8 nid;				/* primary of the sender */
	u32 pid, portal;
};

#define P(len)			{ LNET_OP_PUT, len, 0, BITS, 1, 12345, 7 }
#define P_AT(len, at)		{ LNET_OP_PUT, len, at, BITS, 1, 12345, 7 }
#define P_BITS(bits)		{ LNET_OP_PUT, 10, 0, bits, 1, 12345, 7 }
#define P_FROM(nid, pid)	{ LNET_OP_PUT, 10, 0, BITS, nid, pid, 7 }
#define G(len)			{ LNET_OP_GET, len, 0, BITS, 1, 12345, 7 }
#define ME(len, opt)		{ len, opt, INF, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_T(len, opt, thr)	{ len, opt, thr, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_MAX(len, opt, max)	{ len, (opt) | MAXSZ, INF, max, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_BITS(bits, ign)	{ 100, PUT, INF, 0, bits, ign, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_FROM(nid, pid)	{ 100, PUT, INF, 0, BITS, 0, nid, pid, LNET_INS_AFTER }
#define ME_POS(pos)		{ 100, PUT, INF, 0, BITS, 0, 0, LNET_PID_ANY, pos }
#define ME_BARE			{ 1, PUT, INF, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, 0, 1 }

#define TO(ix, at, len)		{ LNET_LAND, ix, at, len, 0 }
#define NONE			{ LNET_SKIP, 0, 0, 0, LNET_NO_MATCH }
#define LONG			{ LNET_SKIP, 0, 0, 0, LNET_TOO_LONG }

static const struct {
	const char *name;
	struct me_row me[3];
	struct msg msg[4];		/* rlength 0 with type 0: end */
	struct { u8 verdict, ix; u32 offset, mlength; u8 why; } want[4];
} rows[] = {
	/* which entry */
	{ "no entry", { }, { P(10) }, { NONE } },
	{ "portal 64", { ME(100, PUT) }, { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 64 } }, { NONE } },
	{ "portal 4294967295", { ME(100, PUT) }, { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, ~0U } }, { NONE } },
	{ "another portal", { ME(100, PUT) }, { { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 8 } }, { NONE } },
	{ "the entry", { ME(100, PUT) }, { P(10) }, { TO(0, 0, 10) } },
	{ "an ME without MD matches nothing", { ME_BARE }, { P(10) }, { NONE } },
	{ "an ME without MD is skipped", { ME_BARE, ME(100, PUT) }, { P(10) }, { TO(1, 0, 10) } },
	{ "AFTER: the first made is the first found", { ME_POS(LNET_INS_AFTER), ME_POS(LNET_INS_AFTER) }, { P(10) }, { TO(0, 0, 10) } },
	{ "BEFORE: the last made is the first found", { ME_POS(LNET_INS_AFTER), ME_POS(LNET_INS_BEFORE) }, { P(10) }, { TO(1, 0, 10) } },
	{ "LOCAL is as AFTER", { ME_POS(LNET_INS_LOCAL), ME_POS(LNET_INS_LOCAL) }, { P(10) }, { TO(0, 0, 10) } },
	{ "a PUT needs OP_PUT", { ME(100, GET) }, { P(10) }, { NONE } },
	{ "a GET needs OP_GET", { ME(100, PUT) }, { G(10) }, { NONE } },
	{ "a GET passes by an entry for PUTs", { ME(100, PUT), ME(100, GET) }, { G(10) }, { TO(1, 0, 10) } },
	{ "an entry for both", { ME(100, PUT | GET) }, { G(10), P(10) }, { TO(0, 0, 10), TO(0, 10, 10) } },
	{ "other bits", { ME_BITS(BITS, 0) }, { P_BITS(BITS + 1) }, { NONE } },
	{ "high bits count", { ME_BITS(BITS, 0) }, { P_BITS(BITS ^ 1ULL << 63) }, { NONE } },
	{ "ignored bits", { ME_BITS(BITS, 0xff) }, { P_BITS(BITS ^ 0x5a), P_BITS(BITS ^ 0x100) }, { TO(0, 0, 10), NONE } },
	{ "all bits ignored", { ME_BITS(0, ~0ULL) }, { P_BITS(12345) }, { TO(0, 0, 10) } },
	{ "entries with ignored bits come first", { ME_BITS(BITS, 0), ME_BITS(BITS, 1) }, { P(10) }, { TO(1, 0, 10) } },
	{ "an ignoring entry that does not fit is passed by", { ME_BITS(BITS + 2, 1), ME_BITS(BITS, 0) }, { P(10) }, { TO(1, 0, 10) } },
	{ "bits decide between entries", { ME_BITS(1, 0), ME_BITS(2, 0), ME_BITS(3, 0) }, { P_BITS(3), P_BITS(1) }, { TO(2, 0, 10), TO(0, 0, 10) } },
	/* from whom */
	{ "any NID, this PID", { ME_FROM(0, 12345) }, { P_FROM(1, 12345), P_FROM(1, 1) }, { TO(0, 0, 10), NONE } },
	{ "this NID, any PID", { ME_FROM(3, LNET_PID_ANY) }, { P_FROM(3, 99), P_FROM(1, 99) }, { TO(0, 0, 10), NONE } },
	{ "unique", { ME_FROM(3, 12345), ME_FROM(1, 12345) }, { P_FROM(1, 12345), P_FROM(3, 1) }, { TO(1, 0, 10), NONE } },
	{ "another NID of the same peer will do", { ME_FROM(2, 12345) }, { P_FROM(1, 12345), P_FROM(1, 12345) }, { TO(0, 0, 10), TO(0, 10, 10) } },
	{ "but only if that peer sent it", { ME_FROM(2, 12345) }, { P_FROM(3, 12345) }, { NONE } },
	{ "the first in order wins over the exact one", { ME_FROM(2, 12345), ME_FROM(1, 12345) }, { P_FROM(1, 12345) }, { TO(0, 0, 10) } },
	/* how often */
	{ "threshold 0", { ME_T(100, PUT, 0) }, { P(10) }, { NONE } },
	{ "threshold 2", { ME_T(100, PUT, 2) }, { P(10), P(10), P(10) }, { TO(0, 0, 10), TO(0, 10, 10), NONE } },
	{ "exhausted, then the next entry", { ME_T(100, PUT, 1), ME_T(100, PUT, 1) }, { P(10), P(10), P(10) }, { TO(0, 0, 10), TO(1, 0, 10), NONE } },
	/* where to and how much */
	{ "local offset moves", { ME(100, PUT) }, { P(60), P(40), P(1) }, { TO(0, 0, 60), TO(0, 60, 40), LONG } },
	{ "an empty message fits a full buffer", { ME(100, PUT) }, { P(100), P(0) }, { TO(0, 0, 100), TO(0, 100, 0) } },
	{ "too long: dropped", { ME(100, PUT) }, { P(101) }, { LONG } },
	{ "too long: the search ends there", { ME(100, PUT), ME(200, PUT) }, { P(101) }, { LONG } },
	{ "too long costs nothing", { ME_T(100, PUT, 1) }, { P(101), P(100) }, { LONG, TO(0, 0, 100) } },
	{ "TRUNCATE", { ME(100, PUT | TRUNC) }, { P(101), P(1) }, { TO(0, 0, 100), TO(0, 100, 0) } },
	{ "the remote offset is ignored", { ME(100, PUT) }, { P_AT(10, 50) }, { TO(0, 0, 10) } },
	{ "MANAGE_REMOTE", { ME(100, PUT | REMOTE) }, { P_AT(10, 50), P_AT(10, 20) }, { TO(0, 50, 10), TO(0, 20, 10) } },
	{ "MANAGE_REMOTE up to the end", { ME(100, PUT | REMOTE) }, { P_AT(10, 90), P_AT(11, 90) }, { TO(0, 90, 10), LONG } },
	{ "MANAGE_REMOTE, TRUNCATE", { ME(100, PUT | REMOTE | TRUNC) }, { P_AT(20, 90) }, { TO(0, 90, 10) } },
	{ "remote offset at the end", { ME(100, PUT | REMOTE | TRUNC) }, { P_AT(20, 100) }, { TO(0, 100, 0) } },
	{ "remote offset beyond the end", { ME(100, PUT | REMOTE | TRUNC) }, { P_AT(20, 101), P_AT(0, ~0U) }, { LONG, LONG } },
	{ "MANAGE_REMOTE for a GET", { ME(100, GET | REMOTE) }, { { LNET_OP_GET, 5, 7, BITS, 1, 12345, 7 } }, { TO(0, 7, 5) } },
	{ "MAX_SIZE: exhausted when another may not fit", { ME_MAX(100, PUT, 40) }, { P(40), P(21), P(20) }, { TO(0, 0, 40), TO(0, 40, 21), NONE } },
	{ "MAX_SIZE: just fits again", { ME_MAX(100, PUT, 40) }, { P(30), P(30), P(40), P(0) }, { TO(0, 0, 30), TO(0, 30, 30), TO(0, 60, 40), NONE } },
	{ "MAX_SIZE: longer than that", { ME_MAX(100, PUT, 40) }, { P(41) }, { LONG } },
	{ "MAX_SIZE: cut to that", { ME_MAX(100, PUT | TRUNC, 40) }, { P(80), P(80) }, { TO(0, 0, 40), TO(0, 40, 40) } },
	{ "MAX_SIZE 0 never exhausts", { ME_MAX(100, PUT | TRUNC, 0) }, { P(80), P(80) }, { TO(0, 0, 0), TO(0, 0, 0) } },
	{ "MAX_SIZE does not pass the end with MANAGE_REMOTE", { ME_MAX(100, PUT | REMOTE | TRUNC, 40) }, { P_AT(80, 90) }, { TO(0, 90, 10) } },
	{ "MAX_SIZE counts what came, even with MANAGE_REMOTE", { ME_MAX(100, PUT | REMOTE, 40) }, { P_AT(40, 0), P_AT(40, 0), P_AT(1, 0) },
	  { TO(0, 0, 40), TO(0, 0, 40), NONE } },
};

static void rx_init(struct lnet_rx *rx, const struct msg *msg)
{
	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->link);
	rx->type = msg->type;
	rx->rlength = msg->rlength;
	rx->offset = msg->offset;
	rx->match_bits = msg->bits;
	rx->src_pid = msg->pid;
	rx->portal = msg->portal;
	rx->from = msg->nid == 1 ? &pni_one[0] : NULL;
}

static enum lnet_verdict match(struct mw *w, struct lnet_rx *rx, const struct msg *msg, enum lnet_outcome *why)
{
	struct lnet_nid initiator = nid_of(msg->nid);
	enum lnet_verdict verdict;
	struct lnet_pass p;

	rx_init(rx, msg);
	lnet_pass_begin(&p, &w->ln, LNET_PASS_DRIVER);
	lnet_enter(&p, &w->shard);
	verdict = lnet_match(&p, rx, &initiator, why);
	lnet_pass_end(&p);
	return verdict;
}

static lnet_me_t make_me(struct mw *w, const struct me_row *row, u32 portal, lnet_handler_t handler, lnet_md_t *md)
{
	struct lnet_process from = { nid_of(row->nid), row->pid };
	struct lnet_md_cfg cfg = { .start = memory, .length = row->length, .options = row->options, .threshold = row->threshold,
				   .max_size = row->max_size, .handler = handler };
	lnet_me_t me = { 0 };

	UNIT_EQUAL(lnet_me_attach(&w->ln, portal, &from, row->bits, row->ignore, LNET_RETAIN, row->pos, &me), 0, "ME");
	if (!row->bare)
		UNIT_EQUAL(lnet_md_attach(&w->ln, me, &cfg, row->unlink, md), 0, "MD");
	return me;
}

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
		bool land = rows[r].want[i].verdict == LNET_LAND;

		UNIT_EQUAL(match(&w, &rx, &rows[r].msg[i], &why), rows[r].want[i].verdict, rows[r].name);
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

/* ---- portals ---------------------------------------------------------------------------------------------------------- */

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
		UNIT_EQUAL(lnet_me_attach(&w.ln, types[i].portal, &one, 5, types[i].ignore1, LNET_RETAIN, LNET_INS_AFTER, &me),
			   types[i].want1, types[i].name);
		if (!types[i].want1)
			UNIT_EQUAL(lnet_me_unlink(&w.ln, me), 0, types[i].name);
		/* The type stays when the last entry has gone. */
		UNIT_EQUAL(lnet_me_attach(&w.ln, types[i].portal, &two, 5, types[i].ignore2, LNET_RETAIN, LNET_INS_AFTER, &me),
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
		bad += match(&w, &rx, &msg, &why) != LNET_LAND;
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

/* A matched operation that exhausts an auto-unlink MD takes it, and an ME made so, out of the search at once. */
static void test_auto_unlink(void)
{
	struct lnet_process from = { nid_of(0), LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = memory, .length = 100, .options = PUT, .threshold = 2, .handler = ending_handler };
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
		UNIT_EQUAL(lnet_me_attach(&w.ln, 7, &from, BITS, 0, how[i], LNET_INS_AFTER, &me), 0, "ME");
		UNIT_EQUAL(lnet_md_attach(&w.ln, me, &cfg, LNET_UNLINK, &md), 0, "MD");
		mdp = mw_md(&w, md);
		UNIT_EQUAL(match(&w, &rx[0], &msg, &why), LNET_LAND, "first");
		UNIT_EQUAL(mw_md(&w, md) == mdp, 1, "not exhausted");
		UNIT_EQUAL(match(&w, &rx[1], &msg, &why), LNET_LAND, "second");
		CU_ASSERT_PTR_NULL(mw_md(&w, md));
		UNIT_EQUAL(mw_me_exists(&w, me), how[i] == LNET_RETAIN, "the ME goes with it if made so");
		UNIT_EQUAL(lnet_md_unlink(&w.ln, md), -ENOENT, "exhausted: no handle");
		mw_post(&w, LNET_PASS_DRIVER, rx[1].md, LNET_EVENT_PUT, 0, true);
		UNIT_TEXT(ends, "2 ", "one of two is done");
		mw_post(&w, LNET_PASS_DRIVER, rx[0].md, LNET_EVENT_PUT, 0, true);
		UNIT_TEXT(ends, "2 2* ", "the last says so");
		mw_fini(&w);
	}
}

/* ---- waiting ------------------------------------------------------------------------------------------------------------ */

static const struct me_row wide = ME(100, PUT);
static const struct msg ten = P(10), get_ten = G(10);

static void test_lazy(void)
{
	static const struct msg zero = { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 0 };
	struct lnet_rx rx, more;
	enum lnet_outcome why;
	lnet_md_t md;
	struct mw w;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 64, true), -EINVAL, "portal 64");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 64, false), -EINVAL, "portal 64");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, false), 0, "not lazy anyway");
	UNIT_EQUAL(match(&w, &rx, &ten, &why), LNET_SKIP, "not lazy");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	UNIT_EQUAL(match(&w, &rx, &get_ten, &why), LNET_SKIP, "a GET never waits");
	UNIT_EQUAL(why, LNET_NO_MATCH, "a GET never waits");
	UNIT_EQUAL(match(&w, &rx, &ten, &why), LNET_LATER, "a PUT does, on a portal without type");
	UNIT_EQUAL(match(&w, &more, &zero, &why), LNET_SKIP, "not on another portal");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 0, true), 0, "portal 0 too");
	UNIT_EQUAL(match(&w, &more, &zero, &why), LNET_LATER, "may be made lazy");
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &more), 1, "taken back");
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &more), 0, "once");
	make_me(&w, &wide, 7, NULL, &md);
	UNIT_EQUAL(w.nr_told, 1, "matched");
	CU_ASSERT(w.told[0].rx == &rx && w.told[0].verdict == LNET_LAND && rx.md == mw_md(&w, md));
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &rx), 0, "matched: not to be taken back");
	UNIT_EQUAL(w.shard.c[LNET_C_parked], 2, "counted");
	mw_fini(&w);
}

static void test_too_long_while_lazy(void)
{
	static const struct msg big = P(101);
	enum lnet_outcome why;
	struct lnet_rx rx;
	lnet_md_t md;
	struct mw w;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	make_me(&w, &wide, 7, NULL, &md);
	UNIT_EQUAL(match(&w, &rx, &big, &why), LNET_SKIP, "what is too long does not wait");
	UNIT_EQUAL(why, LNET_TOO_LONG, "for it");
	UNIT_EQUAL(w.shard.c[LNET_C_too_long], 1, "counted");
	mw_fini(&w);
}

/* PUTs that wait, in order of arrival; an MD comes: who gets what. */
static const struct {
	const char *name;
	struct me_row me;
	struct msg msg[4];
	const char *want;		/* per message: offset+length, "L" too long, "-" waits on */
} parked_rows[] = {
	{ "in order of arrival", ME(100, PUT), { P(10), P(20), P(30) }, "0+10 10+20 30+30 " },
	{ "as many as the threshold", ME_T(100, PUT, 2), { P(10), P(20), P(30) }, "0+10 10+20 - " },
	{ "as many as there is room for", ME_MAX(100, PUT, 40), { P(40), P(40), P(1) }, "0+40 40+40 - " },
	{ "one that is too long is dropped", ME(100, PUT), { P(10), P(91), P(90) }, "0+10 L 10+90 " },
	{ "other bits wait on", ME(100, PUT), { P_BITS(1), P(10) }, "- 0+10 " },
	{ "another sender waits on", ME_FROM(3, 12345), { P_FROM(1, 12345), P_FROM(3, 12345) }, "- 0+10 " },
	{ "by the NID it came with alone", ME_FROM(2, 12345), { P_FROM(1, 12345), P_FROM(2, 12345) }, "- 0+10 " },
	{ "an MD for GETs changes nothing", ME(100, GET), { P(10) }, "- " },
	{ "auto-unlink", { 100, PUT, 1, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, LNET_UNLINK }, { P(10), P(10) }, "0+10 - " },
	{ "cut", ME(100, PUT | TRUNC), { P(80), P(80) }, "0+80 80+20 " },
};

static void tell_row(struct mw *w, struct lnet_rx *rx, char *text, size_t size)
{
	size_t len = strlen(text);

	if (lnet_match_unpark(&w->ln, rx))
		snprintf(text + len, size - len, "- ");
	else if (!rx->md)
		snprintf(text + len, size - len, "L ");
	else
		snprintf(text + len, size - len, "%u+%u ", rx->offset, rx->mlength);
}

static void test_parked(void)
{
	u32 r, i;

	peer_init();
	for (r = 0; r < ARRAY_SIZE(parked_rows); r++) {
		struct lnet_rx rx[4];
		char got[128] = "";
		u32 nr_waiting = 0;
		enum lnet_outcome why;
		lnet_md_t md;
		struct mw w;

		mw_init(&w);
		UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
		for (i = 0; i < 4 && parked_rows[r].msg[i].pid; i++)
			UNIT_EQUAL(match(&w, &rx[i], &parked_rows[r].msg[i], &why), LNET_LATER, parked_rows[r].name);
		make_me(&w, &parked_rows[r].me, 7, NULL, &md);
		for (i = 0; i < w.nr_told; i++) {
			struct mw_told *told = &w.told[i];

			CU_ASSERT(i == 0 || told->rx > told[-1].rx);
			UNIT_EQUAL(told->verdict, told->rx->md ? LNET_LAND : LNET_SKIP, parked_rows[r].name);
			UNIT_EQUAL(told->why, told->rx->md ? LNET_OK : LNET_TOO_LONG, parked_rows[r].name);
		}
		for (i = 0; i < 4 && parked_rows[r].msg[i].pid; i++) {
			tell_row(&w, &rx[i], got, sizeof(got));
			nr_waiting += got[strlen(got) - 2] == '-';
		}
		UNIT_TEXT(got, parked_rows[r].want, parked_rows[r].name);
		UNIT_EQUAL(w.nr_told + nr_waiting, i, parked_rows[r].name);
		mw_fini(&w);
	}
}

static void test_cleared(void)
{
	struct lnet_rx rx[2];
	enum lnet_outcome why;
	struct mw w;
	u32 i;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	for (i = 0; i < 2; i++)
		UNIT_EQUAL(match(&w, &rx[i], &ten, &why), LNET_LATER, "waits");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, false), 0, "not lazy any more");
	UNIT_EQUAL(w.nr_told, 2, "all that waited");
	for (i = 0; i < 2; i++) {
		CU_ASSERT(w.told[i].rx == &rx[i]);
		UNIT_EQUAL(w.told[i].verdict, LNET_SKIP, "is dropped");
		UNIT_EQUAL(lnet_outcomes[w.told[i].why].err, -ENOENT, "with ENOENT");
	}
	UNIT_EQUAL(w.shard.c[LNET_C_no_match], 2, "counted");
	UNIT_EQUAL(match(&w, &rx[0], &ten, &why), LNET_SKIP, "and no other waits");
	mw_fini(&w);
}

static u64 expire(struct mw *w)
{
	struct lnet_pass p;
	u64 next_ns;

	lnet_pass_begin(&p, &w->ln, LNET_PASS_WORKER);
	next_ns = lnet_match_expire(&p);
	lnet_pass_end(&p);
	return next_ns;
}

static void test_expired(void)
{
	static const u32 portals[] = { 7, 9, 7 };
	struct msg msg = P(10);
	struct lnet_rx rx[3];
	enum lnet_outcome why;
	struct mw w;
	u64 start;
	u32 i;

	mw_init(&w);
	start = w.now_ns;
	UNIT_EQUAL(expire(&w), U64_MAX, "nothing waits");
	for (i = 0; i < 3; i++) {
		msg.portal = portals[i];
		UNIT_EQUAL(lnet_portal_lazy(&w.ln, msg.portal, true), 0, "lazy");
		w.now_ns = start + i * 100;
		UNIT_EQUAL(match(&w, &rx[i], &msg, &why), LNET_LATER, "waits");
		UNIT_EQUAL(rx[i].arrived_ns, start + i * 100, "since now");
	}
	UNIT_EQUAL(expire(&w), start + MW_TIMEOUT_NS, "the first is due next");
	w.now_ns = start + MW_TIMEOUT_NS - 1;
	UNIT_EQUAL(expire(&w), start + MW_TIMEOUT_NS, "not a nanosecond before");
	UNIT_EQUAL(w.nr_told, 0, "not a nanosecond before");
	w.now_ns++;
	UNIT_EQUAL(expire(&w), start + 100 + MW_TIMEOUT_NS, "then the next");
	UNIT_EQUAL(w.nr_told, 1, "one dropped");
	CU_ASSERT(w.told[0].rx == &rx[0] && w.told[0].verdict == LNET_SKIP && w.told[0].why == LNET_NO_MATCH);
	w.now_ns = start + 200 + MW_TIMEOUT_NS;
	UNIT_EQUAL(expire(&w), U64_MAX, "none is left");
	UNIT_EQUAL(w.nr_told, 3, "all dropped");
	UNIT_EQUAL(w.shard.c[LNET_C_park_timeouts], 3, "counted");
	UNIT_EQUAL(w.shard.c[LNET_C_no_match], 0, "as what it was");
	mw_fini(&w);
}

static void test_drop_ni(void)
{
	struct lnet_ni ni[2];
	struct lnet_rx rx[4];
	enum lnet_outcome why;
	struct lnet_pass p;
	struct mw w;
	u32 i;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	for (i = 0; i < 4; i++) {
		UNIT_EQUAL(match(&w, &rx[i], &ten, &why), LNET_LATER, "waits");
		rx[i].ni = &ni[i % 2];
	}
	lnet_pass_begin(&p, &w.ln, LNET_PASS_WORKER);
	lnet_match_drop_ni(&p, &ni[1]);
	UNIT_EQUAL(w.nr_told, 2, "what came over that NI");
	CU_ASSERT(w.told[0].rx == &rx[1] && w.told[1].rx == &rx[3] && w.told[0].verdict == LNET_SKIP);
	lnet_match_drop_ni(&p, NULL);
	UNIT_EQUAL(w.nr_told, 4, "everything");
	CU_ASSERT(w.told[2].rx == &rx[0] && w.told[3].rx == &rx[2]);
	lnet_pass_end(&p);
	mw_fini(&w);
}

/* ---- two threads -------------------------------------------------------------------------------------------------------- */

#define NR_RACE 2000
static struct mw race;
static struct lnet_rx race_rx[NR_RACE];
static u32 nr_landed_at_once;

static void *arrivals(void *arg)
{
	enum lnet_outcome why;
	u32 i;

	for (i = 0; i < NR_RACE; i++)
		nr_landed_at_once += match(&race, &race_rx[i], &ten, &why) == LNET_LAND;
	return arg;
}

static void test_threads(void)
{
	static const struct me_row one = { 100, PUT, 1, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, LNET_UNLINK };
	pthread_t thread;
	u32 i, bad = 0;
	lnet_md_t md;

	mw_init(&race);
	nr_landed_at_once = 0;
	UNIT_EQUAL(lnet_portal_lazy(&race.ln, 7, true), 0, "lazy");
	pthread_create(&thread, NULL, arrivals, NULL);
	for (i = 0; i < NR_RACE; i++)
		lnet_me_unlink(&race.ln, make_me(&race, &one, 7, NULL, &md));
	pthread_join(thread, NULL);
	/* Whoever took a message did it once; the entries that found none are gone, so some may still wait. */
	lnet_portal_lazy(&race.ln, 7, false);
	for (i = 0; i < NR_RACE; i++)
		bad += race_rx[i].parked;
	UNIT_EQUAL(bad, 0, "none is left");
	UNIT_EQUAL(race.nr_told + nr_landed_at_once, NR_RACE, "each is told once");
	while (!list_empty(&race.shard.ready))
		mw_visit(&race, LNET_PASS_WORKER);
	mw_fini(&race);
}

UNIT_SUITE(match,
	{ "every rule of matching", test_rules },
	{ "the first entry types the portal", test_types },
	{ "many entries keep their order", test_many },
	{ "auto-unlink by a match", test_auto_unlink },
	{ "lazy portals let PUTs wait", test_lazy },
	{ "too long does not wait", test_too_long_while_lazy },
	{ "an MD takes what waits for it", test_parked },
	{ "a portal made not lazy drops what waits", test_cleared },
	{ "what waits too long is dropped", test_expired },
	{ "what came over an interface is dropped with it", test_drop_ni },
	{ "messages and buffers from two threads", test_threads })
