/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Session negotiation, restarts and replacements: what a node requests of which peer, how often,
 * and which requests wait.
 */
#include "rails.h"

static const struct rails_cfg quiet = { .quiet = true };

static unsigned int contact(unsigned int from, unsigned int to)
{
	return rails_peer(from, to)->session_state;
}

static void test_once(void)
{
	unsigned int i;

	rails_begin(&quiet);
	for (i = 0; i < 20; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 0, "they wait");
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE], 1, "for one ping");
	rails_pump();
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE], 4, "and one opening, each answered");
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), 1, "one window");
	for (i = 1; i <= 20; i++)
		UNIT_EQUAL(rails.req[i].status || !rails_done(i), 0, "done");
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "open");
	UNIT_EQUAL(rails.last.type, RAILS_ACK, "marked all");
	rails_end();
}

static void test_silent(void)
{
	unsigned int tag, asked;

	rails_begin(&quiet);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(2400 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "waits a slice");
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "then goes under stock rules");
	UNIT_EQUAL(contact(0, 1), SESSION_PLAIN, "plain");
	asked = rails.nr_carried[RAILS_CORE];
	rails_clear();
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE], asked, "not asked again at once");
	rails_run(2 * NSEC_PER_SEC);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "asked again after a second");
	UNIT_EQUAL(rails_done(tag), 1, "without waiting");
	rails_end();
}

/* The session open request is always lost. */
static void test_opening_fails(void)
{
	unsigned int tag;

	rails_begin(&quiet);
	rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, 1);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(contact(0, 1), SESSION_OPENING, "opening");
	rails_run(2600 * RAILS_MS);
	UNIT_EQUAL(contact(0, 1), SESSION_PLAIN, "plain");
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "under stock rules");
	rails_end();
}

/* Requests that wait for room in the window use the new session if the old one ends. */
static void test_void_while_full(void)
{
	unsigned int i, tag[8], bad = 0;

	rails_begin(&quiet);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "window", 2), 0, "window");
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "hedge", 0), 0, "hedge");
	rails_get(0, 1, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 2);
	for (i = 0; i < 8; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_restart(1);
	rails_release();
	rails_run(100 * RAILS_MS);
	for (i = 0; i < 8; i++) {
		UNIT_EQUAL(rails_done(tag[i]), 1, "not left behind");
		bad += rails.req[tag[i]].status != 0;
	}
	UNIT_EQUAL(bad, 0, "all done, under new names");
	rails_end();
}

/* Between an expired session and the next one, no request gets an ID of the expired session. */
static void test_named_between(void)
{
	unsigned int tag[3], i;
	struct rails_cfg cfg = { .one_rail = true, .peer_credits = 1 };

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "hedge", 0), 0, "hedge");
	rails_on(0, -1, RAILS_PUT, FATE_DELIVER, LNET_OK, 1);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_restart(1);
	for (i = 0; i < 3; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(4 * NSEC_PER_SEC);
	for (i = 0; i < 3; i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "not left behind");
	UNIT_EQUAL(rails.req[tag[2]].status, 0, "never sent under the old name");
	rails_end();
}

/* Both rails have received messages, and lose their connections. */
static void begin_and_lose(void)
{
	unsigned int i;

	rails_begin(NULL);
	for (i = 0; i < 4; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "while there is another");
	rails_run(RAILS_MS);
	rails_lost(0, 1, 1, LNET_PATH_LOST);
	UNIT_EQUAL(contact(0, 1), SESSION_DOUBT, "the last one is gone");
}

/*
 * The request succeeded in another session than @session_id, and none of its attempts was rejected.
 */
static void done_anew(unsigned int tag, u64 session_id)
{
	rails_pump();
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "open");
	CU_ASSERT(rails_peer(0, 1)->tx.session_id != session_id);
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 0, "refused");
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	rails_end();
}

static void test_doubt_restarted(void)
{
	unsigned int tag, puts;
	u64 session_id;

	begin_and_lose();
	session_id = rails_peer(0, 1)->tx.session_id;
	puts = rails.nr_carried[RAILS_PUT];
	rails_restart(1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], puts, "waits");
	done_anew(tag, session_id);
}

/* Only the connections were lost: the session continues. */
static void test_doubt_unfounded(void)
{
	unsigned int tag;
	u64 session_id, next;

	begin_and_lose();
	session_id = rails_peer(0, 1)->tx.session_id;
	next = rails_peer(0, 1)->tx.next;
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "open");
	CU_ASSERT(rails_peer(0, 1)->tx.session_id == session_id);
	UNIT_EQUAL(rails_peer(0, 1)->tx.next, next + 1, "named in turn");
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	rails_end();
}

/* The instance is the same, but had no messages for so long that it has dropped the window. */
static void test_doubt_stale(void)
{
	unsigned int tag;
	u64 session_id;

	begin_and_lose();
	session_id = rails_peer(0, 1)->tx.session_id;
	rails_run(rails_peer(0, 1)->tx.hold_ns * 5 / 2);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	done_anew(tag, session_id);
}

/* The ping gets no reply: requests use the existing session, and later ones start a ping again. */
static void test_doubt_remains(void)
{
	unsigned int tag;

	begin_and_lose();
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(2400 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "waits a slice");
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	UNIT_EQUAL(contact(0, 1), SESSION_DOUBT, "nobody said so");
	rails_clear();
	rails_run(200 * RAILS_MS);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(contact(0, 1), SESSION_OPEN, "open");
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	rails_end();
}

static void test_doubt_stock(void)
{
	unsigned int tag;

	begin_and_lose();
	rails.node[1].stock = true;
	rails_restart(1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(contact(0, 1), SESSION_PLAIN, "a stock node has taken its place");
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done under stock rules");
	rails_end();
}

/* No timer stays with a peer that is removed. */
static void test_removed(void)
{
	struct lnet_nid nid = rails_nid(1, 0);
	struct lnet_peer *peer;

	rails_begin(NULL);
	peer = rails_peer(0, 1);
	lnet_peer_get(peer);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	CU_ASSERT(!list_empty(&peer->timer.link));	/* a confirm message is due */
	UNIT_EQUAL(lnet_peer_del(rails.node[0].ln, &nid, NULL, 0), 0, "removal");
	CU_ASSERT(list_empty(&peer->timer.link));
	rails_run(100 * RAILS_MS);
	CU_ASSERT(list_empty(&peer->timer.link));
	lnet_peer_put(peer);
	rails_end();
}

/* A message of a peer that has just been removed is not answered, and does no harm. */
static void test_from_removed(void)
{
	struct lnet_nid nid = rails_nid(1, 0);
	struct lnet_peer_ni *pni;
	struct lnet_hdr hdr = { .type = LNET_MSG_GET };
	struct lnet_pass p;

	rails_begin(NULL);
	pni = lnet_peer_ni_get(rails.node[0].ln, &nid);
	UNIT_EQUAL(lnet_peer_del(rails.node[0].ln, &nid, NULL, 0), 0, "removal");
	hdr.src_nid = nid;
	hdr.dest_nid = rails_nid(0, 0);
	hdr.msg.get.ptl_index = LNET_PORTAL_RESERVED;
	hdr.msg.get.match_bits = LNET_PING_MATCHBITS;
	hdr.msg.get.sink_length = 48;
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	UNIT_EQUAL(lnet_rx_begin(&p, rails_ni(0, 0), lnet_rx_get(&p), &hdr, pni), LNET_CLOSE,
		   "verdict");
	lnet_pass_end(&p);
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE], 0, "no answer");
	lnet_peer_ni_put(pni);
	rails_end();
}

UNIT_SUITE(session,
	{ "rule 2: one ping, one opening, for all that wait", test_once },
	{ "rule 2: a silent peer is talked to under stock rules and asked again", test_silent },
	{ "rule 2: the opening is not answered", test_opening_fails },
	{ "rule 11: a void grant leaves nothing that waits for room behind", test_void_while_full },
	{ "rule 11: nor what is named between two grants", test_named_between },
	{ "rule 11: without connections the peer is asked before it is trusted",
	  test_doubt_restarted },
	{ "rule 11: one that lives keeps its window", test_doubt_unfounded },
	{ "rule 11: but not one that it has dropped", test_doubt_stale },
	{ "rule 11: one that does not answer is asked again", test_doubt_remains },
	{ "rule 11: a stock node in its place is talked to under stock rules", test_doubt_stock },
	{ "no timer of a removed peer is armed", test_removed },
	{ "a message of a removed peer is not answered", test_from_removed })
