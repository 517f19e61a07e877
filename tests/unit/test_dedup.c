/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exactly-once, rule by rule (manual/internals/exactly-once.md), despite loss and duplicates. */
#include "rails.h"

#define T (5 * NSEC_PER_SEC)
#define LARGE 8192
static const struct rails_cfg quiet = { .quiet = true };
static const struct rails_cfg parking = { .no_buffers = true, .quiet = true };
static const struct rails_cfg one_rail = { .one_rail = true };

static void check(unsigned int tag, int status, unsigned int effects, bool unknown)
{
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "one final event");
	UNIT_EQUAL(rails.req[tag].status, status, "status");
	UNIT_EQUAL(rails.req[tag].nr_effects, effects, "effects");
	UNIT_EQUAL(rails.req[tag].unknown, unknown, "perhaps delivered");
}

/* ---- rules 1 and 3: tracked requests and request IDs ----------------------------------------- */

static void test_mark(void)
{
	u64 session_id, cookie;

	rails_begin(NULL);
	session_id = rails_peer(0, 1)->tx.session_id;
	rails_put(0, 1, 64, LNET_ACK, 0);
	UNIT_EQUAL(rails.last.hdr.msg.put.ptl_index, RAILS_PORTAL + 64, "marked");
	UNIT_EQUAL(rails.last.hdr.msg.put.ack_wmd.cookie[0], session_id, "named by the grant");
	cookie = rails.last.hdr.msg.put.ack_wmd.cookie[1];
	UNIT_EQUAL(cookie >> 62, 1, "an ACK is wanted, reserved 0");
	rails_put(0, 1, 64, 0, 0);
	UNIT_EQUAL(rails.last.hdr.msg.put.ack_wmd.cookie[0], session_id, "also without ACK");
	UNIT_EQUAL((rails.last.hdr.msg.put.ack_wmd.cookie[1] & ((1ULL << 48) - 1)),
		   (cookie & ((1ULL << 48) - 1)) + 1, "the next sequence");
	UNIT_EQUAL(rails.last.hdr.msg.put.ack_wmd.cookie[1] >> 62, 0, "none wanted");
	UNIT_EQUAL(rails.last.hdr.msg.put.ack_wmd.cookie[1] >> 48 & 0x3fff, 1, "one is older");
	rails_get(0, 1, 64, 0);
	UNIT_EQUAL(rails.last.hdr.msg.get.ptl_index, RAILS_PORTAL + 64, "a GET as well");
	rails_end();
}

static void test_same_name(void)
{
	struct lnet_handle first;
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	first = rails.last.hdr.msg.put.ack_wmd;
	rails_on(1, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	rails_run(20 * RAILS_MS);
	rails_clear();
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 2, "two attempts");
	CU_ASSERT(!memcmp(&first, &rails.last.hdr.msg.put.ack_wmd, sizeof(first)) ||
		  rails.last.hdr.type != LNET_MSG_PUT);
	rails_release();
	check(tag, 0, 1, false);
	rails_end();
}

/* ---- rule 7: duplicates ---------------------------------------------------------------------- */

static void test_dup_final(void)
{
	unsigned int put, noack, get;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_ANY, FATE_TWICE, LNET_OK, 3);
	put = rails_put(0, 1, 64, LNET_ACK, 0);
	noack = rails_put(0, 1, 64, 0, 0);
	get = rails_get(0, 1, 64, 0);
	rails_run(100 * RAILS_MS);
	check(put, 0, 1, false);
	check(noack, 0, 1, false);
	check(get, 0, 1, false);
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_final), 3, "answered from the window");
	CU_ASSERT(rails_stat(0, LNET_C_dup_reply) >= 2);
	rails_end();
}

/* A hedge is received in parallel: the first complete one wins, the other receive is aborted. */
static void test_join_landing(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 2);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_run(40 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 2, "both land");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_taken), 1, "one joined");
	rails_land(1, LNET_OK);
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "no event while the other may write");
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 0, "the other was stopped");
	check(tag, 0, 1, false);
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

static void test_broken_landing(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_pump();
	rails_land(0, LNET_LOCAL_ABORTED);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "a broken landing is no event");
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_lost(0, 1, 1, LNET_PATH_LOST);
	rails_pump();
	check(tag, 0, 1, false);
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

/*
 * If the sender of a request was too slow, a lazy portal does not keep the buffer: the event fails.
 * The next attempt is matched again and takes effect once.
 */
static void test_slow_landing(void)
{
	unsigned int tag;
	u64 bytes;

	rails_begin(NULL);
	bytes = rails.node[1].ln->shard[0].window_bytes;
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_pump();
	rails_land(0, LNET_ABORTED);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "its memory is the user's again");
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "without effect");
	UNIT_EQUAL(rails_stat(1, LNET_C_unmatched), 1, "counted");
	UNIT_EQUAL(rails.node[1].ln->shard[0].window_bytes, bytes, "its entry is removed");
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_lost(0, 1, 1, LNET_PATH_LOST);
	rails_pump();
	check(tag, 0, 1, false);
	UNIT_EQUAL(rails.req[tag].nr_target, 2, "matched again");
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

static void parked_begin(void)
{
	rails_begin(&parking);
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.waiting), 2, "a request and its second copy wait");
}

static void test_join_waiting(void)
{
	parked_begin();
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(20 * RAILS_MS);
	check(1, 0, 1, false);
	UNIT_EQUAL(rails_count(&rails.waiting), 0, "nobody waits");
	rails_end();
}

/* A request ID arrives again with another length, before and after the first has its memory. */
static void test_other_length(void)
{
	static const u32 lens[] = { 0, 1, 99, 101, 8000 };
	unsigned int i, tag;

	for (i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
		struct rails_cfg cfg = { .quiet = true, .no_buffers = true };
		struct rails_msg *m;

		rails_begin(&cfg);
		lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true);
		rails_on(0, -1, RAILS_PUT, FATE_LATE, LNET_OK, 1);
		tag = rails_put(0, 1, 100, LNET_ACK, 0);
		rails_run(5 * RAILS_MS);
		UNIT_EQUAL(rails_count(&rails.waiting) + rails_count(&rails.delayed), 2, "both");
		m = list_first_entry(&rails.delayed, struct rails_msg, link);
		m->len = m->hdr.payload_len = lens[i / 2];
		m->data = realloc(m->data, m->len + 1);
		if (i & 1)
			rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
		rails_release();
		UNIT_EQUAL(rails_stat(1, LNET_C_errors), 1, "counted");
		if (!(i & 1))
			rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(rails.req[tag].status, 0, "it ended well");
		UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
		CU_ASSERT_EQUAL(memcmp(rails.node[0].src, rails.node[1].dst, 100), 0);
		rails_end();
	}
}

/* A peer repeats one request many times while the request waits for a buffer. */
static void test_many_waiting(void)
{
	unsigned int tag, i;
	struct rails_msg *m;

	rails_begin(&parking);
	lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true);
	rails_on(0, -1, RAILS_PUT, FATE_LATE, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(50 * RAILS_MS);
	m = list_first_entry(&rails.delayed, struct rails_msg, link);
	for (i = 0; i < 20; i++)
		rails_again(m);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.waiting), 17, "the first and 16 more wait");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_taken), 16, "no more have joined");
	CU_ASSERT(rails_stat(1, LNET_C_dup_denied) >= 4);	/* and hedges */
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_release();
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "it ends");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "it took effect once");
	UNIT_EQUAL(rails_count(&rails.waiting), 0, "nobody waits");
	rails_end();
}

/* If either of the two loses its connection, the other still waits. */
static void test_waiting_gone(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		parked_begin();
		rails_gone(i);
		UNIT_EQUAL(rails_count(&rails.waiting), 1, "one is left");
		rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
		rails_run(20 * RAILS_MS);
		check(1, 0, 1, false);
		rails_end();
	}
}

static void test_waiting_all_gone(void)
{
	parked_begin();
	rails_gone(0);
	rails_gone(0);
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(2 * T);
	check(1, 0, 1, false);
	rails_end();
}

/* ---- rules 8 and 9: replies ------------------------------------------------------------------ */

static void test_answers_lost(void)
{
	unsigned int put, noack, get;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 2);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, 1);
	put = rails_put(0, 1, 64, LNET_ACK, 0);
	noack = rails_put(0, 1, 64, 0, 0);
	get = rails_get(0, 1, 64, 0);
	rails_run(T);
	check(put, 0, 1, false);
	check(noack, 0, 1, false);
	check(get, 0, 1, false);
	rails_end();
}

/* An ACK that its driver could not send is sent over another path. */
static void test_answer_fails(void)
{
	unsigned int put;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_ACK, FATE_FAIL, LNET_LOCAL_DROPPED, 1);
	put = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(10 * RAILS_MS);
	check(put, 0, 1, false);
	rails_end();
}

/* One direction of a rail is dead: the reply to the joined hedge uses the path of the hedge. */
static void test_one_way(void)
{
	unsigned int tag, rail;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 2);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rail = rails.last.rail;
	rails_on(1, (int)rail, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_run(40 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 2, "both land");
	rails_land(0, LNET_OK);
	rails_run(10 * RAILS_MS);
	check(tag, 0, 1, false);
	rails_end();
}

static void test_copy_or_held(void)
{
	unsigned int small, large;

	rails_begin(NULL);
	small = rails_get(0, 1, 1024, 0);
	large = rails_get(0, 1, LARGE, 0);
	rails_pump();
	check(small, 0, 1, false);
	UNIT_EQUAL(rails.req[small].nr_target, 1, "a copy: the memory is free at once");
	UNIT_EQUAL(rails_done(large), 1, "answered");
	UNIT_EQUAL(rails.req[large].nr_target, 0, "held until confirmed");
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(rails.req[large].nr_target, 1, "confirmed");
	CU_ASSERT(!memcmp(rails.node[0].src, rails.node[1].dst, LARGE));
	rails_end();
}

static void test_confirm_by_distance(void)
{
	unsigned int large;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	large = rails_get(0, 1, LARGE, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[large].nr_target, 0, "held");
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[large].nr_target, 1, "a later request confirms");
	rails_end();
}

/* Without room for a small buffer, the source memory is held, as for a large REPLY. */
static void test_copy_budget(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(1, "reply_cache_budget", 512);
	tag = rails_get(0, 1, 1024, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "held");
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_denied), 1, "counted");
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "confirmed");
	tag = rails_get(0, 1, 512, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "copied");
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_denied), 1, "counted");
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(rails.node[1].ln->shard[0].cache_bytes, 0, "given back");
	rails_end();
}

static void test_hold_time(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, -1);
	tag = rails_get(0, 1, LARGE, 0);
	rails_pump();
	rails_node_stop(0);
	rails_run(30 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "the memory goes back after the hold time");
	rails_end();
}

static void test_unlink_held(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, 1);
	tag = rails_get(0, 1, LARGE, 0);
	rails_pump();
	UNIT_EQUAL(lnet_md_unlink(rails.node[1].ln, rails.node[1].target), 0, "unlink");
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "the memory goes back");
	rails_run(T);
	UNIT_EQUAL(rails.req[tag].status, -EIO, "answer gone");
	UNIT_EQUAL(rails.req[tag].unknown, true, "done, the answer is lost");
	rails_end();
}

/* ---- rule 10: cumulative ACKs and rejections ------------------------------------------------- */

static void test_merged(void)
{
	unsigned int i, tag[100];

	rails_begin(NULL);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = rails_put(0, 1, 8, 0, 0);
	rails_run(100 * RAILS_MS);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		check(tag[i], 0, 1, false);
	CU_ASSERT(rails.nr_carried[RAILS_ACK] > 0 && rails.nr_carried[RAILS_ACK] <= 40);
	rails_end();
}

/* One PUT is missing: the others are acknowledged, the missing one is not. */
static void test_merged_gap(void)
{
	unsigned int i, tag[5];

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	for (i = 0; i < 5; i++) {
		if (i == 2)
			rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
		tag[i] = rails_put(0, 1, 8, 0, 0);
	}
	rails_run(100 * RAILS_MS);
	for (i = 0; i < 5; i++)
		UNIT_EQUAL(rails_done(tag[i]), i != 2, "all but the third");
	rails_release();
	rails_run(30 * RAILS_MS);
	check(tag[2], 0, 1, false);
	rails_end();
}

static void test_refused(void)
{
	unsigned int put, get, noack;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_md_unlink(rails.node[1].ln, rails.node[1].target), 0, "no buffer");
	rails_on(0, -1, RAILS_PUT, FATE_TWICE, LNET_OK, 1);
	put = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_attach(1, LNET_MD_OP_GET);
	noack = rails_put(0, 1, 8, 0, 0);
	rails_pump();
	lnet_md_unlink(rails.node[1].ln, rails.node[1].target);
	get = rails_get(0, 1, 8, 0);
	rails_run(50 * RAILS_MS);
	check(put, -ENOENT, 0, false);
	check(noack, -ENOENT, 0, false);
	check(get, -ENOENT, 0, false);
	rails_end();
}

/* The rejection precedes the completion by the driver: the request still took no effect. */
static void test_refused_before_given_back(void)
{
	static const enum lnet_outcome how[] = { LNET_OK, LNET_ABORTED, LNET_PATH_LOST };
	unsigned int i, put;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		rails_begin(NULL);
		UNIT_EQUAL(lnet_md_unlink(rails.node[1].ln, rails.node[1].target), 0, "none");
		rails_on(0, -1, RAILS_PUT, FATE_POST, LNET_OK, 1);
		put = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_pump();
		rails_give(how[i]);
		rails_run(50 * RAILS_MS);
		check(put, -ENOENT, 0, false);
		rails_end();
	}
}

/* ---- rules 5 and 11: restarts ---------------------------------------------------------------- */

static void check_soon(unsigned int tag)
{
	rails_run(100 * RAILS_MS);
	check(tag, 0, 1, false);
}

/* The receiver may drop the window of a sender that pauses, which then opens a new session. */
static void test_silence(void)
{
	unsigned int tag, i;
	u64 opens;

	rails_begin(NULL);
	check_soon(rails_put(0, 1, 64, LNET_ACK, 0));
	opens = rails_stat(1, LNET_C_session_opens);
	rails_run(12 * NSEC_PER_SEC);
	check_soon(rails_put(0, 1, 64, LNET_ACK, 0));
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens, "a window that is there is used");
	for (i = 0; i < 2; i++) {
		rails_run(16 * NSEC_PER_SEC + i * 60 * NSEC_PER_SEC);
		tag = i ? rails_get(0, 1, 64, 0) : rails_put(0, 1, 64, 0, 0);
		check_soon(tag);
		UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 1 + i, "one perhaps gone");
	}
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 0, "nothing is refused");
	rails_end();
}

static void test_receiver_restarts(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_restart(1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	check(tag, 0, 1, false);
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 1, "refused once, then under a new name");
	tag = rails_get(0, 1, 64, 0);
	rails_run(100 * RAILS_MS);
	check(tag, 0, 1, false);
	rails_end();
}

/* Two attempts with the old request ID: the request may have taken effect before. */
static void test_restart_two_attempts(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 2);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(40 * RAILS_MS);
	rails_restart(1);
	rails_release();
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].unknown, true, "perhaps");
	UNIT_EQUAL(rails.req[tag].status, -ESTALE, "no window");
	rails_end();
}

/* The only attempt has failed, and the request waits to retry; then the rejection arrives. */
static void test_refused_in_backoff(void)
{
	unsigned int tag;

	rails_begin(&one_rail);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_restart(1);
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_release();
	rails_run(100 * RAILS_MS);
	check(tag, 0, 1, false);
	rails_end();
}

static void test_sender_restarts(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_ACK, FATE_DELAY, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_pump();
	rails_restart(0);
	UNIT_EQUAL(rails.req[tag].status, -ESHUTDOWN, "gone with the node");
	rails_clear();
	rails_release();
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	check(tag, 0, 1, false);
	rails_end();
}

/* A stock node replaces the receiver: no request takes effect twice, and the sender detects it. */
static void test_stock_instead(void)
{
	unsigned int tag[2], after;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LATE, LNET_OK, 1);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	tag[0] = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	rails.node[1].stock = true;
	rails_restart(1);
	rails_release();
	tag[1] = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(2 * T);
	rails_clear();
	UNIT_EQUAL(rails.req[tag[0]].nr_effects, 1, "once, before");
	UNIT_EQUAL(rails.req[tag[0]].unknown, true, "not known");
	UNIT_EQUAL(rails.req[tag[1]].nr_effects, 0, "dropped by the mark");
	after = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(T);
	check(after, 0, 1, false);
	rails_end();
}

/* ---- rules 14 and 16 ------------------------------------------------------------------------- */

static void test_late(void)
{
	unsigned int tag, i;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_LATE, LNET_OK, 1);
	rails_on(0, -1, RAILS_GET, FATE_LATE, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_get(0, 1, 64, 0);
	rails_pump();
	for (i = 0; i < 20; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	rails_release();
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_old), 2, "below the window");
	check(tag, 0, 1, false);
	check(tag + 1, 0, 1, false);
	rails_end();
}

static void test_late_after_end(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "retry_count", 0);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 100 * RAILS_MS);
	rails_run(200 * RAILS_MS);
	check(tag, -ETIMEDOUT, 0, true);
	rails_release();
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "the late answer is nobody's");
	CU_ASSERT(rails.req[tag].nr_effects <= 1);
	rails_end();
}

static void test_plain_peer(void)
{
	unsigned int certain, always, i;

	for (i = 0; i < 2; i++) {
		rails_begin(&quiet);
		rails.node[1].stock = true;
		rails_tune(0, "resend_ambiguous", i);
		rails_get(0, 1, 8, 0);
		rails_run(50 * RAILS_MS);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_REMOTE_DROPPED, 1);
		certain = rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(10 * RAILS_MS);
		check(certain, 0, 1, false);
		rails_on(0, -1, RAILS_PUT, FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, 1);
		always = rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(10 * RAILS_MS);
		if (i)
			check(always, 0, 1, false);
		else
			check(always, -ETIMEDOUT, 0, true);
		CU_ASSERT(rails.last.type == RAILS_ACK || rails.last.hdr.msg.put.ptl_index < 64);
		rails_end();
	}
}

UNIT_SUITE(dedup,
	{ "rules 1, 3: marked, named, in sequence", test_mark },
	{ "rule 3: the same name in every attempt", test_same_name },
	{ "rule 7: duplicates of what is done are answered from the window", test_dup_final },
	{ "rule 7: a duplicate joins a landing, the first complete one wins", test_join_landing },
	{ "rule 7: a broken landing stays matched, the next attempt lands there",
	  test_broken_landing },
	{ "rule 7: one that was too slow loses its buffer", test_slow_landing },
	{ "rule 7: a duplicate joins what waits for a buffer", test_join_waiting },
	{ "rule 7: 16 duplicates of a request wait, others are dropped", test_many_waiting },
	{ "rule 7: a duplicate of another length is none", test_other_length },
	{ "rule 7: one of them loses its connection, the other waits on", test_waiting_gone },
	{ "rule 7: both lose their connection, a later attempt is taken", test_waiting_all_gone },
	{ "rule 8, lnt-scope: lost ACKs and REPLYs are sent again", test_answers_lost },
	{ "rule 8, lnt-scope: an ACK that failed goes over another path", test_answer_fails },
	{ "rule 8: a duplicate that joined is answered on its own path", test_one_way },
	{ "rule 8: small answers from a copy, large ones held until confirmed",
	  test_copy_or_held },
	{ "rule 9: a later request's distance confirms", test_confirm_by_distance },
	{ "rule 8: copies keep within their budget", test_copy_budget },
	{ "rule 12: a held answer is given up after the hold time", test_hold_time },
	{ "rule 12: unlink ends a held answer: answer gone", test_unlink_held },
	{ "rule 10: PUTs without ACK share acknowledgements", test_merged },
	{ "rule 10: a gap in them is not acknowledged", test_merged_gap },
	{ "rule 10: no match is refused, final, the same each time", test_refused },
	{ "rule 10: refused before the driver gave the attempt back",
	  test_refused_before_given_back },
	{ "rules 5, 11: after a restart refused, then sent under a new name",
	  test_receiver_restarts },
	{ "rule 13: a window that may be gone is not used", test_silence },
	{ "rule 11: with two attempts it is perhaps delivered", test_restart_two_attempts },
	{ "rule 11: refused while it pauses", test_refused_in_backoff },
	{ "rule 11: the sender restarts", test_sender_restarts },
	{ "rule 1: a stock node takes the place of the receiver", test_stock_instead },
	{ "rule 14: late originals are below the window", test_late },
	{ "rule 14: late originals after the end", test_late_after_end },
	{ "rule 16, lnt-040: peers without grant: certain and always", test_plain_peer })
