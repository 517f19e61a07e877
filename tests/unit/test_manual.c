/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The worked examples of manual/operator/configuration.md, computed by the code that they describe.
 * The driver of a node with two rails takes all attempts; then no reply follows, or each is
 * rejected.
 */
#include "node.h"
#include "path/path.h"
#include "xfer/xfer.h"

#define MANUAL		"manual/operator/configuration.md"
#define RAILS		2
#define ROWS_MAX	32
#define MS		((u64)NSEC_PER_MSEC)
#define GRANT		0x5a5a5a5a5a5a5a00ULL

enum behaviour { SILENT, REFUSES };

struct story {
	const char *name;
	bool own;		/* the peer has the exactly-once extension */
	u32 rails;
	u64 T_ns, R;
	u64 srtt_ns, rttvar_ns;
	enum behaviour rail[RAILS];
	bool always;		/* resend_ambiguous */
};

static struct {
	const struct story *story;
	u64 start_ns, slice_ns;
	struct list_head taken;
	char row[ROWS_MAX][96];
	unsigned int nr;
	bool ended;
} world;

/* ---- a driver without replies, or with rejections -------------------------------------------- */

static unsigned int rail_of(const struct lnet_ni *ni)
{
	return ni->net & 0xffff;
}

static void row_add(const char *what)
{
	u64 at = node_env.now_ns - world.start_ns;

	if (world.nr < ROWS_MAX)
		snprintf(world.row[world.nr++], sizeof(world.row[0]), "| %llu ms | %s |",
			 (at + MS / 2) / MS, what);
}

static int story_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	char what[16];

	if (att->op->kind == LNET_KIND_USER) {
		snprintf(what, sizeof(what), "rail %u", rail_of(ni) + 1);
		row_add(what);
		if (!world.slice_ns)
			world.slice_ns = att->deadline_ns - node_env.now_ns;
	}
	list_add_tail(&att->link, &world.taken);
	return 0;
}

static void story_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct lnet_att *att, *next;

	list_for_each_entry_safe(att, next, &world.taken, link) {
		bool refuses = world.story->rail[rail_of(att->ni)] == REFUSES;

		list_del_init(&att->link);
		if (refuses)
			lnet_att_unconnected(p, att, -ECONNREFUSED);
		else
			lnet_att_done(p, att, LNET_OK, 1);
	}
}

static int story_start(struct lnet_ni *ni)
{
	return 0;
}

static void story_stop(struct lnet_ni *ni)
{
}

static void story_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			 enum lnet_cancel how)
{
}

static void story_rx(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
}

static const struct lnet_lnd_ops story_ops = {
	.name = "story", .type = LNET_LND_O2IB, .peer_timeout = 180, .peer_credits = 8,
	.credits = 256, .ni_start = story_start, .ni_stop = story_stop, .send = story_send,
	.flush = story_flush, .cancel = story_cancel, .receive = story_rx, .rx_stop = story_rx,
};

/* ---- running a story ------------------------------------------------------------------------- */

static void handler(const struct lnet_event *ev)
{
	char what[64];

	if (!ev->final)
		return;
	snprintf(what, sizeof(what), "%s%s", ev->status == -ETIMEDOUT ? "ETIMEDOUT" :
		 ev->status == -ECONNREFUSED ? "ECONNREFUSED" : "another error",
		 ev->delivery_unknown ? ", delivery unknown" : ", not delivered");
	row_add(what);
	world.ended = true;
}

static void peer_known(struct lnet *ln, const struct story *s)
{
	struct lnet_nid first = nid("10.0.0.2@o2ib"), rest[1] = { nid("10.1.0.2@o2ib1") };
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	UNIT_EQUAL(lnet_peer_add(ln, &first, rest, s->rails - 1, s->rails > 1), 0, "adding a peer");
	pni = lnet_peer_ni_get(ln, &first);
	if (s->own) {
		pni->peer->session_state = SESSION_OPEN;
		lnet_window_begin(pni->peer, GRANT, 1024, 1);
	} else {
		pni->peer->session_state = SESSION_PLAIN;
		pni->peer->plain_before = 1;
		pni->peer->session_next_ns = U64_MAX;
	}
	list_for_each_entry(path, &pni->paths, link) {
		path->srtt_ns = s->srtt_ns;
		path->rttvar_ns = s->rttvar_ns;
	}
	lnet_peer_ni_put(pni);
}

static struct lnet *story_begin(const struct story *s)
{
	struct lnet *ln = node_begin(1);

	memset(&world, 0, sizeof(world));
	INIT_LIST_HEAD(&world.taken);
	world.story = s;
	UNIT_EQUAL(lnet_lnd_register(ln, &story_ops), 0, "registering the driver");
	UNIT_EQUAL(lnet_tunable_set(ln, "transaction_timeout", s->T_ns), 0, "setting T");
	UNIT_EQUAL(lnet_tunable_set(ln, "retry_count", s->R), 0, "setting R");
	UNIT_EQUAL(lnet_tunable_set(ln, "resend_ambiguous", s->always), 0, "setting resends");
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.1@o2ib"), 0, "rail 1");
	UNIT_EQUAL(node_ni_add(ln, "10.1.0.1@o2ib1"), 0, "rail 2");
	peer_known(ln, s);
	return ln;
}

static void story_tell(const struct story *s)
{
	static u8 memory[64];
	struct lnet_md_cfg cfg = { .start = memory, .length = sizeof(memory), .threshold = 1,
				   .cpt = -1, .handler = handler };
	struct lnet *ln = story_begin(s);
	struct lnet_xfer x;
	unsigned int i;

	lnet_xfer_init(&x);
	x.target.nid = nid("10.0.0.2@o2ib");
	x.portal = 5;
	x.flags = LNET_ACK;
	UNIT_EQUAL(lnet_md_bind(ln, &cfg, LNET_UNLINK, &x.md), 0, "binding memory");
	world.start_ns = node_env.now_ns;
	UNIT_EQUAL(lnet_put(ln, &x), 0, "putting");
	for (i = 0; i < 100000 && !world.ended; i++) {
		u64 next = lnet_shard_next_ns(ln, 0);

		if (next == U64_MAX)
			break;
		node_env.now_ns = max(next, node_env.now_ns);
		node_work(ln);
	}
	CU_ASSERT_TRUE(world.ended);
	node_end(ln);
}

/* ---- the text of the manual ------------------------------------------------------------------ */

/* Reads the next row of the table under the mark; false: there is none. */
static bool manual_row(FILE *in, char *line, size_t size)
{
	while (fgets(line, (int)size, in)) {
		if (line[0] == '|' && isdigit((unsigned char)line[2]))
			return true;
		if (line[0] != '|' && line[0] != '\n')
			return false;
	}
	return false;
}

static FILE *manual_at(const char *kind, const char *name)
{
	FILE *in = fopen(MANUAL, "re");
	char mark[128], line[512];

	snprintf(mark, sizeof(mark), "<!-- %s: %s -->\n", kind, name);
	while (in && fgets(line, sizeof(line), in))
		if (!strcmp(line, mark))
			return in;
	if (in)
		fclose(in);
	UNIT_TEXT(name, "an example of " MANUAL, "looked for");
	return NULL;
}

/* Compares the first columns of a row, up to the length of @like. */
static void row_equal(const char *line, const char *like, const char *what)
{
	char start[512];

	snprintf(start, sizeof(start), "%.*s", (int)strlen(like), line);
	UNIT_TEXT(start, like, what);
}

static void story_check(const struct story *s)
{
	FILE *in = manual_at("timeline", s->name);
	char line[512];
	unsigned int i;

	story_tell(s);
	for (i = 0; in && i < world.nr; i++)
		row_equal(manual_row(in, line, sizeof(line)) ? line : "", world.row[i], s->name);
	if (in) {
		CU_ASSERT_FALSE(manual_row(in, line, sizeof(line)));
		fclose(in);
	}
}

static const struct story stories[] = {
	{ "own peer, two rails, both silent", true, 2, 5000 * MS, 2 },
	{ "own peer, two rails known for 0.2 ms, both silent", true, 2, 5000 * MS, 2,
	  MS / 5, MS / 10 },
	{ "own peer, one rail, silent", true, 1, 5000 * MS, 2 },
	{ "own peer, two rails, both silent, T 1 s, R 4", true, 2, 1000 * MS, 4 },
	{ "own peer, two rails, the first refuses, the second silent", true, 2, 5000 * MS, 2, 0, 0,
	  { REFUSES, SILENT } },
	{ "own peer, two rails, both refuse", true, 2, 5000 * MS, 2, 0, 0, { REFUSES, REFUSES } },
	{ "stock peer, two rails, both silent", false, 2, 5000 * MS, 2 },
	{ "stock peer, two rails, both silent, always", false, 2, 5000 * MS, 2, 0, 0,
	  { SILENT, SILENT }, true },
	{ "stock peer, two rails, both refuse", false, 2, 5000 * MS, 2, 0, 0,
	  { REFUSES, REFUSES } },
};

static void test_timelines(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(stories); i++)
		story_check(&stories[i]);
}

static void test_message_timeout(void)
{
	static const struct { u64 T_ms, R; } rows[] = {
		{ 5000, 0 }, { 5000, 1 }, { 5000, 2 }, { 5000, 5 }, { 1000, 4 }, { 300, 2 },
	};
	FILE *in = manual_at("table of message timeouts", "T R");
	char line[512], like[96];
	unsigned int i;

	for (i = 0; in && i < ARRAY_SIZE(rows); i++) {
		struct story s = { "", true, 2, rows[i].T_ms * MS, rows[i].R };

		story_tell(&s);
		snprintf(like, sizeof(like), "| %llu ms | %llu | %llu ms |", rows[i].T_ms,
			 rows[i].R, world.slice_ns / MS);
		row_equal(manual_row(in, line, sizeof(line)) ? line : "", like, "message timeout");
	}
	if (in)
		fclose(in);
}

static void test_suspicion(void)
{
	static const struct { u64 srtt_us, rttvar_us; } rows[] = {
		{ 0, 0 }, { 50, 25 }, { 2000, 500 }, { 8000, 200 }, { 20000, 10000 },
	};
	FILE *in = manual_at("table of suspicion", "srtt rttvar");
	struct lnet *ln = node_begin(1);
	char line[512], like[96];
	unsigned int i;

	for (i = 0; in && i < ARRAY_SIZE(rows); i++) {
		struct lnet_path path = { .srtt_ns = rows[i].srtt_us * 1000,
					  .rttvar_ns = rows[i].rttvar_us * 1000 };

		snprintf(like, sizeof(like), "| %llu us | %llu us | %llu ms |", rows[i].srtt_us,
			 rows[i].rttvar_us, lnet_path_response_timeout(ln, &path) / MS);
		row_equal(manual_row(in, line, sizeof(line)) ? line : "", like, "suspicion");
	}
	if (in)
		fclose(in);
	node_end(ln);
}

UNIT_SUITE(manual,
	   { "doc-005 doc-010: the timelines are what happens", test_timelines },
	   { "doc-010 lnt-080/085: the message timeouts are those given to drivers",
	     test_message_timeout },
	   { "doc-010: the silences that make a path suspect are the code's", test_suspicion })
