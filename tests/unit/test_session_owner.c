/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sessions belong to their opener: no other node completes, executes or ends requests in them. */
#include "rails.h"
#include "node.h"
#include "receive/receive.h"
#include "service/service.h"
#include "sessions.h"

static const struct rails_cfg three = { .nr_nodes = 3 };
static const struct rails_cfg apart = { .apart = true };

static unsigned int nr_replies;		/* ACKs and REPLYs to node 2 */

static void on_carry(struct rails_msg *m)
{
	nr_replies += m->to == 2 &&
		      (m->hdr.type == LNET_MSG_ACK || m->hdr.type == LNET_MSG_REPLY);
}

/* The session of node 0 at node 1. */
static struct lnet_window *window(void)
{
	return lnet_window_find(&rails.node[1].ln->shard[0], rails_peer(0, 1)->tx.session_id);
}

static void put_as(unsigned int from, unsigned int rail, u64 session_id, u64 seq)
{
	struct rails_msg m = sessions_message(from, rail, LNET_MSG_PUT, session_id,
					      seq | LNET_REQID_ALONE);

	rails_again(&m);
	rails_pump();
}

/* The timer of a window runs four times per hold time. */
static void test_hold(void)
{
	static const u32 ms[][2] = { { 1, 100 }, { 99, 100 }, { 101, 101 }, { 0, 10000 },
				     { ~0U, 600000 } };
	struct rails_msg m;
	unsigned int i;

	rails_begin(NULL);
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		m = sessions_message(0, 0, LNET_MSG_GET, 77, i + 1);
		m.hdr.msg.get.src_offset = ms[i][0];
		m.hdr.msg.get.ptl_index = LNET_PORTAL_TRACKED;
		m.hdr.msg.get.match_bits = LNET_OPEN_MATCHBITS;
		rails_again(&m);
		rails_pump();
		UNIT_EQUAL(sessions_newest()->hold_ns, ms[i][1] * RAILS_MS, "hold time");
	}
	rails_end();
}

/*
 * A node that knows the instance number, which is sent, and the state of the random generator
 * cannot compute a session ID.
 */
static void test_guess(void)
{
	struct lnet_env *env;
	unsigned int i;
	u64 session_id, state;

	rails_begin(NULL);
	env = lnet_env_of(rails.node[1].ln);
	state = rails.random;
	sessions_open(0, 77, 1);
	session_id = list_first_entry(&rails.node[1].ln->shard[0].windows, struct lnet_window,
				      link)->session_id;
	rails.random = state;
	for (i = 0; i < 100; i++)
		CU_ASSERT(env->ops->random(env) >> 6 != session_id >> 6);
	rails_end();
}

static void test_foreign_request(void)
{
	struct lnet_window *w;
	unsigned int tag;
	u64 high;

	rails_begin(&three);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	w = window();
	high = w->high;
	nr_replies = 0;
	rails.on_carry = on_carry;
	put_as(2, 0, w->session_id, high + 1);
	UNIT_EQUAL(nr_replies, 0, "no rejection: it may be a rail of the opener");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 1, "dropped and counted");
	UNIT_EQUAL(w->high, high, "it is not in the window");
	CU_ASSERT(w->from->peer == rails_peer(1, 0));
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status, 0, "the owner's request of this sequence is done");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "and took effect");
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 0, "its session is there");
	rails_end();
}

static void test_foreign_duplicate(void)
{
	struct lnet_window *w;
	struct rails_msg m;
	unsigned int tag;

	rails_begin(&three);
	nr_replies = 0;
	rails.on_carry = on_carry;
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_get(0, 1, 64, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "done, and not confirmed");
	w = window();
	m = sessions_message(2, 0, LNET_MSG_GET, w->session_id, w->high | LNET_REQID_ALONE);
	rails_again(&m);
	rails_pump();
	UNIT_EQUAL(nr_replies, 0, "the cached reply is not for others");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 1, "dropped and counted");
	rails_end();
}

static void test_foreign_confirm(void)
{
	struct lnet_window *w;
	u64 low;

	rails_begin(&three);
	w = window();
	low = w->low;
	sessions_confirm(2, w->session_id, w->high + 1);
	UNIT_EQUAL(w->low, low, "the low-water mark stays");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 1, "dropped and counted");
	rails_end();
}

/* Instance numbers are sent in every GET, and nonces are consecutive, so other nodes know both. */
static void test_foreign_open(void)
{
	u64 instance, nonce, session_id;
	struct lnet_shard *sh;
	u32 nr;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	instance = window()->instance;
	nonce = window()->nonce;
	session_id = window()->session_id;
	nr = sh->nr_windows;
	sessions_open(2, instance, nonce);
	UNIT_EQUAL(sh->nr_windows, nr + 1, "another session");
	CU_ASSERT(list_first_entry(&sh->windows, struct lnet_window, link)->session_id !=
		  session_id);
	sessions_open(2, instance, nonce);
	UNIT_EQUAL(sh->nr_windows, nr + 1, "once");
	sessions_open(0, instance, nonce);
	UNIT_EQUAL(sh->nr_windows, nr + 1, "the owner's is still the same");
	rails_end();
}

/* A request on an unknown rail is accepted; cumulative ACKs are sent to the opener. */
static void test_unknown_rail(void)
{
	unsigned int i, tag[8], nr = 0;
	struct lnet_peer_ni *from;

	rails_begin(&apart);
	from = window()->from;
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = rails_put(0, 1, 64, i & 1 ? LNET_ACK : 0, 0);
	rails_run(50 * RAILS_MS);
	for (i = 0; i < ARRAY_SIZE(tag); i++) {
		UNIT_EQUAL(rails.req[tag[i]].status, 0, "done");
		UNIT_EQUAL(rails.req[tag[i]].nr_effects, 1, "once");
		nr += rails.req[tag[i]].on_rail[1];
	}
	CU_ASSERT(nr > 0);
	CU_ASSERT(window()->from->peer == from->peer);
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 0, "nothing is rejected");
	rails_end();
}

/* The operator deletes the peer entry, and a message creates it again. */
static void test_opener_again(void)
{
	struct lnet_nid nid = rails_nid(0, 0);
	unsigned int tag;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_peer_del(rails.node[1].ln, &nid, NULL, 0), 0, "deleted");
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status, 0, "done");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 0, "it is the opener");
	rails_end();
}

/* The NID that the opener used last moves to the third node. */
static void test_nid_moves(void)
{
	struct lnet *ln;
	struct lnet_nid nid = rails_nid(0, 1);
	struct lnet_peer *opener, *third;
	struct lnet_window *w;

	rails_begin(&three);
	ln = rails.node[1].ln;
	rails_run(50 * RAILS_MS);
	w = window();
	put_as(0, 1, w->session_id, w->high + 1);
	CU_ASSERT(lnet_nid_same(&w->from->nid, &nid));
	opener = rails_peer(1, 0);
	third = rails_peer(1, 2);
	mutex_lock(&ln->cfg_mutex);
	UNIT_EQUAL(lnet_peer_take_over(opener, third, &nid, false), 0, "the NID moves");
	mutex_unlock(&ln->cfg_mutex);
	opener->disc.complete = 1;	/* discovery: it has no other NID */
	put_as(0, 0, w->session_id, w->high + 1);
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 0, "the opener keeps its session");
	CU_ASSERT(w->from->peer == opener);
	put_as(0, 1, w->session_id, w->high + 1);
	UNIT_EQUAL(rails_stat(1, LNET_C_not_opener), 1, "the message of the third node is dropped");
	rails_end();
}

/* ---- rule 4: the bound on sequences ---------------------------------------------------------- */

static unsigned int put(void)
{
	return rails_put(0, 1, 64, LNET_ACK, 0);
}

static void check_done(unsigned int tag, const char *what)
{
	UNIT_EQUAL(rails.req[tag].nr_final, 1, what);
	UNIT_EQUAL(rails.req[tag].status, 0, what);
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, what);
}

/* The opener has a defect: one of its messages has a sequence far ahead. */
static void test_far_ahead(void)
{
	u64 session_id, opens;
	unsigned int tag;

	rails_begin(NULL);
	session_id = window()->session_id;
	opens = rails_stat(1, LNET_C_session_opens);
	put_as(0, 0, session_id, 1ULL << 47);
	put_as(0, 0, session_id, window()->high + 2 * window()->W + 1);
	UNIT_EQUAL(rails_stat(1, LNET_C_too_far), 2, "rejected and counted");
	tag = put();
	rails_run(RAILS_MS);
	check_done(tag, "the session goes on");
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens, "the same session");
	rails_end();
}

/* A message within the bound may end the session: its sender detects that there is no response. */
static void test_silent_session(void)
{
	u64 session_id, opens;
	unsigned int tag;

	rails_begin(NULL);
	session_id = window()->session_id;
	opens = rails_stat(1, LNET_C_session_opens);
	put_as(0, 0, session_id, window()->high + 2 * window()->W);
	UNIT_EQUAL(rails_stat(1, LNET_C_too_far), 0, "accepted");
	tag = put();
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].unknown, true, "no response: nobody knows");
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "below the window");
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 1, "another session");
	UNIT_EQUAL(rails_stat(0, LNET_C_sessions_renewed), 1, "counted");
	tag = put();
	rails_run(10 * RAILS_MS);
	check_done(tag, "after one transaction timeout");
	rails_end();
}

/* @gap: all requests of a window end before the next ones begin. */
static void outage(unsigned int W, bool gap)
{
	static const struct rails_cfg quiet = { .quiet = true };
	unsigned int i, tag;

	rails_begin(&quiet);
	rails_tune(1, "window", W);
	tag = put();
	rails_run(50 * RAILS_MS);
	check_done(tag, "before");
	rails_on(0, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 10 * W; i++) {
		tag = rails_put(0, 1, 64, LNET_ACK, 20 * RAILS_MS);
		if (!gap || i % W == W - 1)
			rails_run(gap ? 30 * RAILS_MS : 3 * RAILS_MS);
	}
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "given up");
	CU_ASSERT(rails.req[tag].status != 0);
	rails_clear();
	tag = put();
	rails_run(4 * NSEC_PER_SEC);
	check_done(tag, "after the outage");
	UNIT_EQUAL(rails_stat(1, LNET_C_too_far), 0, "nothing is rejected");
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 0, "for no other reason either");
	CU_ASSERT(rails_stat(0, LNET_C_sessions_renewed) <= 1);
	rails_end();
}

static void test_outage(void)
{
	static const unsigned int W[] = { 1, 2, 4, 16 };
	unsigned int i;

	for (i = 0; i < 2 * ARRAY_SIZE(W); i++)
		outage(W[i / 2], i & 1);
}

/* ---- rule 13: shares of peers ---------------------------------------------------------------- */

static const struct rails_cfg four = { .nr_nodes = 4 };

/* One peer opens sessions without end, and uses them; another one is idle. */
static void test_share(void)
{
	struct lnet_shard *sh;
	unsigned int i, tag;
	u32 nr;

	rails_begin(&four);
	sh = &rails.node[1].ln->shard[0];
	nr = sh->nr_windows;
	rails_tune(1, "windows_max", nr + 4);
	for (i = 1; i <= 40; i++) {
		rails_run(NSEC_PER_SEC / 32);
		sessions_open(2, 88, i);
		put_as(2, 0, list_first_entry(&sh->windows, struct lnet_window, link)->session_id,
		       1);
	}
	UNIT_EQUAL(sh->nr_windows, nr + 4, "up to the node's bound");
	CU_ASSERT(window() != NULL);
	sessions_open(3, 99, 1);
	UNIT_EQUAL(sh->nr_windows, nr + 4, "it is kept");
	CU_ASSERT(window() != NULL);
	rails_tune(1, "windows_max", 4096);
	for (; i <= 80; i++) {
		rails_run(NSEC_PER_SEC / 32);
		sessions_open(2, 88, i);
	}
	UNIT_EQUAL(sh->nr_windows, nr + 1 + 8, "up to the share of a peer");
	CU_ASSERT(rails_stat(1, LNET_C_windows_of_peer) >= 30);
	rails_tune(1, "windows_per_peer", 1);
	sessions_open(2, 88, i);
	UNIT_EQUAL(sh->nr_windows, nr + 1 + 1, "a smaller share");
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	check_done(tag, "the idle peer has its session");
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 0, "all the time");
	rails_end();
}

static void test_rate(void)
{
	u64 opens, i;

	rails_begin(&three);
	opens = rails_stat(1, LNET_C_session_opens);
	for (i = 1; i <= 1000; i++)
		sessions_open(2, 88, i);
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 16, "a burst");
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens_limited), 1000 - 16,
		   "the others are dropped");
	rails_run(NSEC_PER_SEC / 8);
	for (; i <= 2000; i++)
		sessions_open(2, 88, i);
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 16 + 4, "32 per second");
	sessions_open(0, 88, 1);
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 16 + 5, "of each peer");
	rails_end();
}

static void test_rejections(void)
{
	struct lnet_shard *sh;
	struct lnet_window *w;
	u64 seq, bytes;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	sessions_open(2, 88, 1);
	w = sessions_newest();
	bytes = sh->window_bytes;
	for (seq = 1; seq <= 1000; seq++)
		sessions_put(2, RAILS_PORTAL + 1, w->session_id, seq);
	UNIT_EQUAL(w->high, 1000, "all were received");
	UNIT_EQUAL(w->nr_entries, 0, "and have no entry");
	UNIT_EQUAL(sh->window_bytes, bytes + (1024 - 8) * sizeof(void *), "but a place");
	sessions_put(2, RAILS_PORTAL + 1, w->session_id, 7);
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 1, "a duplicate is rejected again");
	sessions_put(2, RAILS_PORTAL, w->session_id, 8);
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 2, "also where it would match");
	UNIT_EQUAL(w->nr_entries, 0, "it has no effect");
	sessions_put(2, RAILS_PORTAL, w->session_id, 1001);
	UNIT_EQUAL(w->nr_entries, 1, "a request that matches has an entry");
	sessions_confirm(2, w->session_id, 1002);
	UNIT_EQUAL(w->nr_entries, 0, "until it is acknowledged");
	rails_end();
}

static u32 last_reason;		/* of the last rejection that node 2 received */

static void on_reject(struct rails_msg *m)
{
	if (m->to == 2 && m->hdr.type == LNET_MSG_ACK && m->hdr.msg.ack.mlength >= LNET_REJECTED)
		last_reason = m->hdr.msg.ack.mlength - LNET_REJECTED;
}

static u32 reason_of(u32 portal, u32 len, u64 session_id, u64 seq)
{
	static u8 payload[16];
	struct rails_msg m = sessions_message(2, 0, LNET_MSG_PUT, session_id,
				     seq | (seq - 1) << 48 | LNET_REQID_ALONE);

	m.hdr.msg.put.ptl_index = LNET_PORTAL_TRACKED + portal;
	m.hdr.payload_len = m.len = len;
	m.data = payload;
	last_reason = 0;
	rails_again(&m);
	rails_pump();
	return last_reason;
}

static void on_event(const struct lnet_event *ev)
{
	(void)ev;
}

/* A buffer for PUTs of at most 8 bytes to RAILS_PORTAL + 2. */
static void attach_small(void)
{
	static u8 small[8];
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg md = { .start = small, .length = sizeof(small), .cpt = -1,
				  .threshold = LNET_THRESHOLD_INF, .options = LNET_MD_OP_PUT,
				  .handler = on_event };
	struct lnet *ln = rails.node[1].ln;
	lnet_md_t target;
	lnet_me_t me;

	UNIT_EQUAL(lnet_me_attach(ln, RAILS_PORTAL + 2, &any, 0, ~0ULL, LNET_RETAIN,
				  LNET_INS_AFTER, &me), 0, "an entry");
	UNIT_EQUAL(lnet_md_attach(ln, me, &md, LNET_RETAIN, &target), 0, "a buffer");
}

static void test_same_reason(void)
{
	u64 session_id;

	rails_begin(&three);
	rails.on_carry = on_reject;
	attach_small();
	sessions_open(2, 88, 1);
	session_id = sessions_newest()->session_id;
	UNIT_EQUAL(reason_of(RAILS_PORTAL + 1, 0, session_id, 1), LNET_REJECTED_NO_MATCH,
		   "no match");
	UNIT_EQUAL(reason_of(RAILS_PORTAL + 2, 9, session_id, 2), LNET_REJECTED_TOO_LONG,
		   "too long");
	UNIT_EQUAL(reason_of(RAILS_PORTAL, 0, session_id, 1), LNET_REJECTED_NO_MATCH, "again");
	UNIT_EQUAL(reason_of(RAILS_PORTAL, 0, session_id, 2), LNET_REJECTED_TOO_LONG, "again");
	UNIT_EQUAL(sessions_newest()->nr_entries, 0, "no effect");
	rails_end();
}

/* The window moves past rejections, and late requests then use the same places. */
static void test_places_reused(void)
{
	struct lnet_window *w;
	u64 seq;

	rails_begin(&three);
	sessions_open(2, 88, 1);
	w = sessions_newest();
	for (seq = 1; seq <= 8; seq++)
		sessions_put(2, RAILS_PORTAL + 1, w->session_id, seq);
	sessions_confirm(2, w->session_id, 9);
	put_as(2, 0, w->session_id, 16 | 7ULL << 48);
	UNIT_EQUAL(w->cap, 8, "the places are the same");
	for (seq = 9; seq < 16; seq++)
		put_as(2, 0, w->session_id, seq | (seq - 9) << 48);
	UNIT_EQUAL(w->nr_entries, 8, "all match");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 0, "none is rejected");
	rails_end();
}

/* @nr requests in a new session of @from, all of which match. */
static struct lnet_window *fill(unsigned int from, u64 nonce, u64 nr)
{
	struct lnet_window *w;
	u64 seq;

	sessions_open(from, 80 + from, nonce);
	w = sessions_newest();
	for (seq = 1; seq <= nr; seq++)
		sessions_put(from, RAILS_PORTAL, w->session_id, seq);
	UNIT_EQUAL(w->nr_entries, nr, "entries");
	return w;
}

/*
 * Node 2 has a window of 400 entries and loses its connections. Node 0 has a window of 800 entries,
 * and then another session, whose entries need room.
 */
static void test_memory(void)
{
	struct lnet_shard *sh;
	struct lnet_window *w;
	u64 gone, large, seq;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	gone = fill(2, 1, 400)->session_id;
	large = fill(0, 1, 800)->session_id;
	rails_run(RAILS_MS);
	rails_lost(1, 2, 0, LNET_PATH_LOST);
	rails_tune(1, "window_memory", sh->window_bytes);
	w = fill(0, 2, 4);
	CU_ASSERT(!lnet_window_find(sh, gone));
	CU_ASSERT(lnet_window_find(sh, large) != NULL);
	UNIT_EQUAL(rails_stat(1, LNET_C_windows_for_memory), 1, "the window of the lost peer");
	rails_tune(1, "window_memory", sh->window_bytes);
	for (seq = 5; seq <= 8; seq++)
		sessions_put(0, RAILS_PORTAL, w->session_id, seq);
	CU_ASSERT(!lnet_window_find(sh, large));
	UNIT_EQUAL(rails_stat(1, LNET_C_windows_for_memory), 2, "then the largest");
	UNIT_EQUAL(rails_stat(1, LNET_C_memory_denied), 0, "no request is dropped");
	rails_tune(1, "window_memory", 65536);
	for (seq = 9; seq <= 1000; seq++)
		sessions_put(0, RAILS_PORTAL, w->session_id, seq);
	CU_ASSERT(sh->window_bytes <= 65536 + 1024 * sizeof(void *));
	CU_ASSERT(rails_stat(1, LNET_C_memory_denied) > 0);
	rails_end();
}

/* The lost peer moved to another shard, whose paths may not be read: it does not count as lost. */
static void test_memory_of_shard(void)
{
	static struct lnet_shard elsewhere;
	struct lnet_peer_ni *from;
	struct lnet_window *w;
	struct lnet_shard *sh;
	struct lnet_pass p;
	u64 gone, large;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	gone = fill(2, 1, 400)->session_id;
	large = fill(0, 1, 800)->session_id;
	w = fill(0, 2, 4);
	rails_run(RAILS_MS);
	rails_lost(1, 2, 0, LNET_PATH_LOST);
	rails_tune(1, "window_memory", sh->window_bytes);
	lnet_pass_begin(&p, rails.node[1].ln, LNET_PASS_CALL);
	lnet_enter(&p, sh);
	from = lnet_window_find(sh, gone)->from;
	from->sh = &elsewhere;
	UNIT_EQUAL(lnet_window_room(&p, w), true, "room");
	CU_ASSERT(lnet_window_find(sh, gone) != NULL);
	CU_ASSERT(!lnet_window_find(sh, large));
	from->sh = sh;
	lnet_pass_end(&p);
	rails_end();
}

/* Node 1 acknowledges to node 0 all requests of session @session_id up to @seq at once. */
static void ack_all(u64 session_id, u64 seq)
{
	struct rails_msg m = sessions_message(1, 0, LNET_MSG_ACK, 0, 0);

	m.hdr.dest_nid = m.at = rails_nid(0, 0);
	m.to = 0;
	memset(&m.hdr.msg, 0, sizeof(m.hdr.msg));
	m.hdr.msg.ack.dst_wmd = (struct lnet_handle){ { session_id, seq | LNET_REQID_ALL } };
	rails_again(&m);
	rails_pump();
}

/* A reply of an expired session is compared only with requests of such sessions of its peer. */
static void test_void(void)
{
	struct lnet_handle h = { { 0 } };
	unsigned int tag[3], other, i;
	struct lnet_peer *peer;
	struct lnet_pass p;
	u64 session_id, seq;

	rails_begin(&three);
	peer = rails_peer(0, 1);
	session_id = peer->tx.session_id;
	seq = peer->tx.next;
	rails_on(-1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	other = rails_put(0, 2, 8, LNET_ACK, 0);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(list_empty(&peer->expired), true, "none while the session lives");
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_CALL);
	lnet_enter_peer(&p, peer);
	lnet_session_expire(&p, peer, session_id);
	h = (struct lnet_handle){ { session_id, seq + 1 } };
	CU_ASSERT(lnet_op_by_id(peer, &h) != NULL);
	h.cookie[0]++;
	CU_ASSERT(!lnet_op_by_id(peer, &h));
	lnet_leave(&p);
	lnet_pass_end(&p);
	UNIT_EQUAL(rails_count(&peer->expired), ARRAY_SIZE(tag), "not those to other peers");
	ack_all(session_id, seq + 2);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "its reply finds it");
	UNIT_EQUAL(list_empty(&peer->expired), true, "none is left");
	ack_all(session_id, seq + 2);
	UNIT_EQUAL(rails_stat(0, LNET_C_bad_handle), 1, "a reply to nothing");
	UNIT_EQUAL(rails_done(other), 0, "the other still waits");
	rails_clear();
	rails_run(6000 * RAILS_MS);
	rails_end();
}

static void open_as(struct lnet *ln, const struct lnet_nid *opener)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, opener);
	struct lnet_rx rx = { .src = pni, .from = pni, .handle = { { 77, 1 } } };
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	CU_ASSERT_PTR_NOT_NULL(lnet_window_open(&p, &rx, 0));
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
}

/* Hosts chose 500 addresses with equal bits in lnet_nid_hash(), which has no key. */
static void test_chosen(void)
{
	struct lnet *ln = node_begin(1);
	unsigned int i, nr = 0, most = 0;
	struct hlist_node *at;
	struct lnet_nid n;
	char text[48];

	for (i = 0; nr < 500; i++) {
		snprintf(text, sizeof(text), "2001:db8::%x:%x@tcp", i >> 16, i & 0xffff);
		n = nid(text);
		if (lnet_nid_hash(&n) % LNET_WINDOW_HASH)
			continue;
		open_as(ln, &n);
		nr++;
	}
	for (i = 0; i < LNET_WINDOW_HASH; i++) {
		nr = 0;
		hlist_for_each(at, &ln->shard[0].index->opener[i])
			nr++;
		most = max(most, nr);
	}
	UNIT_EQUAL(most <= 20, true, "the longest chain is short");
	node_end(ln);
}

UNIT_SUITE(session_owner,
	{ "openers whose addresses a host chooses do not share one chain", test_chosen },
	{ "rule 12: a sender cannot request a hold time below 100 ms", test_hold },
	{ "rule 2: session open requests of one peer have a rate", test_rate },
	{ "replies of an expired session are compared with its requests only", test_void },
	{ "rule 7: a rejection takes no entry", test_rejections },
	{ "rule 7: a duplicate is rejected for the same reason", test_same_reason },
	{ "rule 7: the window empties a place as it moves past a rejection", test_places_reused },
	{ "rule 13: at window_memory windows of lost peers are dropped first, then the largest",
	  test_memory },
	{ "rule 13: a peer in another shard does not count as lost", test_memory_of_shard },
	{ "rule 2: a session ID cannot be computed from what is sent", test_guess },
	{ "rule 2: a request in another peer's session is rejected", test_foreign_request },
	{ "rule 8: a cached reply is for the owner of its session", test_foreign_duplicate },
	{ "rule 9: a confirmation of another peer is rejected", test_foreign_confirm },
	{ "rule 2: another peer's open request gets another session", test_foreign_open },
	{ "rule 2: a NID that is not known yet is taken", test_unknown_rail },
	{ "rule 2: the opener's peer entry is made again", test_opener_again },
	{ "rule 2: a session stays with its opener when a NID moves", test_nid_moves },
	{ "rule 4: a message far ahead does not end the session", test_far_ahead },
	{ "rule 4: a session that is silent is replaced", test_silent_session },
	{ "rule 4: nothing is rejected after an outage with 10 W requests given up", test_outage },
	{ "rule 13: a peer displaces its own sessions only", test_share })
