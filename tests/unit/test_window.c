/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The receiver's windows: created only by session open requests, bounded, dropped if permitted. */
#include <lnet/wire.h>
#include "rails.h"
#include "receive/receive.h"

static struct lnet_shard *shard(void)
{
	return &rails.node[1].ln->shard[0];
}

/* A message of node 0 that no sender of ours would send. */
static void forge(u32 type, u32 portal, u64 match_bits, u64 cookie0, u64 cookie1)
{
	struct rails_msg m = { .from = 0, .to = 1, .rail = 0, .type = RAILS_CORE };
	static u8 nothing[1];

	m.hdr.type = type;
	m.hdr.src_nid = rails_nid(0, 0);
	m.hdr.dest_nid = rails_nid(1, 0);
	m.via = m.hdr.src_nid;
	m.at = m.hdr.dest_nid;
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	if (type == LNET_MSG_PUT) {
		m.hdr.msg.put.ptl_index = portal;
		m.hdr.msg.put.match_bits = match_bits;
		m.hdr.msg.put.ack_wmd.cookie[0] = cookie0;
		m.hdr.msg.put.ack_wmd.cookie[1] = cookie1;
	} else {
		m.hdr.msg.get.ptl_index = portal;
		m.hdr.msg.get.match_bits = match_bits;
		m.hdr.msg.get.return_wmd.cookie[0] = cookie0;
		m.hdr.msg.get.return_wmd.cookie[1] = cookie1;
		m.hdr.msg.get.sink_length = LNET_SESSION_REPLY_SIZE;
	}
	m.data = nothing;
	rails_again(&m);
	rails_pump();
}

static void open_as(u64 instance, u64 nonce)
{
	forge(LNET_MSG_GET, LNET_PORTAL_TRACKED, LNET_OPEN_MATCHBITS, instance, nonce);
}

static void put_as(u64 session_id, u64 seq, u64 dist)
{
	forge(LNET_MSG_PUT, LNET_PORTAL_TRACKED + RAILS_PORTAL, 400 + seq, session_id,
	      seq | dist << 48 | 1ULL << 62);
}

static struct lnet_window *first(void)
{
	return list_first_entry(&shard()->windows, struct lnet_window, link);
}

static void test_open(void)
{
	u64 session_id, other;
	u32 nr;

	rails_begin(NULL);
	nr = shard()->nr_windows;
	open_as(77, 1);
	UNIT_EQUAL(shard()->nr_windows, nr + 1, "made");
	session_id = first()->session_id;
	CU_ASSERT(session_id != 0 && session_id != ~0ULL);
	open_as(77, 1);
	UNIT_EQUAL(shard()->nr_windows, nr + 1, "the same nonce makes no other");
	UNIT_EQUAL(first()->session_id == session_id, true, "and gets the same grant");
	open_as(77, 5);
	UNIT_EQUAL(shard()->nr_windows, nr + 2, "another nonce does");
	other = first()->session_id;
	CU_ASSERT(other != session_id);
	UNIT_EQUAL(first()->high, 0, "empty");
	rails_end();
}

static void open_for(u64 nonce, u32 hold_ms)
{
	struct rails_msg m = { .from = 0, .to = 1, .rail = 0, .type = RAILS_CORE };
	static u8 nothing[1];

	m.hdr.type = LNET_MSG_GET;
	m.hdr.src_nid = rails_nid(0, 0);
	m.hdr.dest_nid = rails_nid(1, 0);
	m.via = m.hdr.src_nid;
	m.at = m.hdr.dest_nid;
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	m.hdr.msg.get.ptl_index = LNET_PORTAL_TRACKED;
	m.hdr.msg.get.match_bits = LNET_OPEN_MATCHBITS;
	m.hdr.msg.get.return_wmd.cookie[0] = 77;
	m.hdr.msg.get.return_wmd.cookie[1] = nonce;
	m.hdr.msg.get.sink_length = LNET_SESSION_REPLY_SIZE;
	m.hdr.msg.get.src_offset = hold_ms;
	m.data = nothing;
	rails_again(&m);
	rails_pump();
}

/* A peer cannot make this node hold memory for weeks. */
static void test_hold_time(void)
{
	rails_begin(NULL);
	open_for(1, 0);
	UNIT_EQUAL(first()->hold_ns, 10 * NSEC_PER_SEC, "the node's own");
	open_for(2, 20000);
	UNIT_EQUAL(first()->hold_ns, 20 * NSEC_PER_SEC, "as told");
	open_for(3, U32_MAX);
	UNIT_EQUAL(first()->hold_ns, 600 * NSEC_PER_SEC, "no longer than granted");
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "hold_time_max", NSEC_PER_SEC), 0, "tunable");
	open_for(4, 20000);
	UNIT_EQUAL(first()->hold_ns, NSEC_PER_SEC, "by the tunable");
	open_for(5, 0);
	UNIT_EQUAL(first()->hold_ns, NSEC_PER_SEC, "for those who say nothing, too");
	rails_end();
}

static void test_no_window(void)
{
	rails_begin(NULL);
	put_as(0x1234567800ULL, 1, 0);
	put_as(0x1234567800ULL, 7, 2);
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 2, "refused");
	UNIT_EQUAL(strchr(rails.order, 'P') != NULL, 0, "never taken");
	UNIT_EQUAL(lnet_window_find(shard(), 0x1234567800ULL) != NULL, 0, "and makes none");
	rails_end();
}

static unsigned int taken(void)
{
	unsigned int nr = 0;
	const char *c;

	for (c = rails.order; *c; c++)
		nr += *c == 'P';
	return nr;
}

/* Both ends of the window, while it grows. */
static void test_bounds(void)
{
	struct lnet_window *w;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "window", 64), 0, "window");
	open_as(77, 1);
	w = first();
	put_as(w->session_id, 0, 0);
	UNIT_EQUAL(taken(), 0, "no sequence 0");
	put_as(w->session_id, 1, 0);
	put_as(w->session_id, 64, 63);
	UNIT_EQUAL(taken(), 2, "the last that fits");
	put_as(w->session_id, 65, 64);
	UNIT_EQUAL(taken(), 2, "one too far ahead of the floor it says itself");
	put_as(w->session_id, 65, 63);
	UNIT_EQUAL(taken(), 3, "with the first finished it fits");
	put_as(w->session_id, 1, 0);
	UNIT_EQUAL(taken(), 3, "which is old then");
	put_as(w->session_id, 30, 20);
	put_as(w->session_id, 30, 20);
	UNIT_EQUAL(taken(), 4, "in between once");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 1, "the other is a duplicate");
	forge(LNET_MSG_PUT, LNET_PORTAL_TRACKED, LNET_CONFIRM_MATCHBITS, w->session_id, 66);
	put_as(w->session_id, 40, 0);
	UNIT_EQUAL(taken(), 4, "below what is confirmed");
	put_as(w->session_id, 66, 0);
	UNIT_EQUAL(taken(), 5, "above");
	rails_end();
}

static void test_dropped(void)
{
	u64 used, i;

	rails_begin(NULL);
	rails_tune(1, "session_opens_rate", 1000000);
	rails_run(NSEC_PER_SEC);
	open_as(77, 1);
	used = first()->session_id;
	put_as(used, 1, 0);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "windows_max", shard()->nr_windows + 3), 0,
		   "bound");
	for (i = 2; i < 20; i++) {
		rails_run(RAILS_MS);
		open_as(77, i);
	}
	CU_ASSERT(shard()->nr_windows <= 10);
	UNIT_EQUAL(lnet_window_find(shard(), used) != NULL, 1, "unused ones go first");
	CU_ASSERT(rails_stat(1, LNET_C_windows_displaced) >= 10);
	UNIT_EQUAL(rails_stat(1, LNET_C_windows_displaced),
		   rails_stat(1, LNET_C_windows_dropped), "all dropped so far");
	rails_run(40 * NSEC_PER_SEC);
	UNIT_EQUAL(lnet_window_find(shard(), used) == NULL, 1, "silent for twice the hold time");
	rails_end();
}

/* Rails have no common order: an early request gets a separate ACK, and no other one. */
static void test_acks_in_turn(void)
{
	unsigned int tag[3], i;

	rails_begin(NULL);
	rails_on(0, 0, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	for (i = 0; i < 3; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.delayed), 1, "one is late");
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[1]) + rails_done(tag[2]), 2, "two ended");
	rails_release();
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[1]) + rails_done(tag[2]), 3, "three");
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_stat(0, LNET_C_dup_reply), 0, "no answer came twice");
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 3, "nothing was sent twice");
	UNIT_EQUAL(rails.nr_carried[RAILS_ACK], 3, "nor acknowledged twice");
	rails_end();
}

/* A walk visits all windows in slices, even if the next window is dropped between two slices. */
static void test_walk(void)
{
	struct lnet_window_walk walk;
	unsigned int i, slices = 0;
	struct lnet_window *next;
	struct lnet_pass p;
	struct lnet_md md;

	rails_begin(NULL);
	for (i = 0; i < 6; i++) {
		open_as(77, i + 1);
		put_as(first()->session_id, 900, 899);
	}
	UNIT_EQUAL(first()->high - first()->low, 899, "places to visit");
	lnet_pass_begin(&p, rails.node[1].ln, LNET_PASS_DRIVER);
	lnet_enter(&p, shard());
	lnet_window_walk_begin(shard(), &walk);
	UNIT_EQUAL(lnet_window_walk_slice(&p, &walk, &md), true, "the first slice");
	next = list_entry(walk.at, struct lnet_window, made);
	UNIT_EQUAL(shard()->made.next->next->next == &next->made, true, "two windows");
	lnet_window_drop(&p, next);
	while (lnet_window_walk_slice(&p, &walk, &md))
		slices++;
	UNIT_EQUAL(slices, 1, "four windows and the last slice");
	UNIT_EQUAL(list_empty(&shard()->window_walks), true, "the walk is over");
	lnet_pass_end(&p);
	rails_end();
}

UNIT_SUITE(window,
	{ "a walk visits windows in slices", test_walk },
	{ "rule 2: one grant for a nonce, another for another", test_open },
	{ "rule 5: without a window nothing is taken", test_no_window },
	{ "rule 12: the hold time is what the sender says, within bounds", test_hold_time },
	{ "rule 4: both ends of the window", test_bounds },
	{ "rule 13: which windows go, and when", test_dropped },
	{ "rule 10: out of turn, each PUT is acknowledged once", test_acks_in_turn })
