/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Exactly-once at its bounds (manual/internals/exactly-once.md): windows of one request; windows,
 * small buffers and replies that are all in use; the last sequence; and late messages.
 */
#include "rails.h"
#include "receive/receive.h"
#include "service/service.h"

#define LARGE 8192
#define SEQ_LAST ((1ULL << 48) - 1)
static const struct rails_cfg quiet = { .quiet = true };

static void check_all(unsigned int first, unsigned int last)
{
	unsigned int tag, good = 0, twice = 0;

	for (tag = first; tag <= last; tag++) {
		good += rails.req[tag].nr_final == 1 && !rails.req[tag].status &&
			rails.req[tag].nr_effects == 1;
		twice += rails.req[tag].nr_effects > 1;
	}
	UNIT_EQUAL(good, last - first + 1, "done, once");
	UNIT_EQUAL(twice, 0, "done twice");
}

static struct lnet_txwin *sender(void)
{
	return &rails_peer(0, 1)->tx;
}

/* The window in which node 1 accepts requests of node 0. */
static struct lnet_window *receiver(void)
{
	struct lnet *ln = rails.node[1].ln;

	return lnet_window_find(&ln->shard[lnet_session_shard(ln, sender()->session_id)],
				sender()->session_id);
}

/* Submits @nr requests of all kinds in turn; returns the last tag. */
static unsigned int some(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (i % 3 == 2)
			rails_get(0, 1, i % 2 ? 64 : 4096, 0);
		else
			rails_put(0, 1, 64 + i, i % 3 ? 0 : LNET_ACK, 0);
	}
	return rails.nr_tags;
}

/* ---- rule 4: the size of the window ---------------------------------------------------------- */

static u64 most;

static void look(struct rails_node *n, const struct lnet_event *ev)
{
	if (n->ix == 0 && sender()->session_id)
		most = max(most, sender()->next - sender()->oldest);
}

static void faults(void)
{
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 2);
	rails_on(0, -1, RAILS_PUT, FATE_TWICE, LNET_OK, 5);
	rails_on(0, -1, RAILS_GET, FATE_LOSE, LNET_OK, 1);
	rails_on(0, -1, RAILS_GET, FATE_LATE, LNET_OK, 3);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 2);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, 1);
	rails_on(1, -1, RAILS_REPLY, FATE_TWICE, LNET_OK, 3);
}

static void test_sizes(void)
{
	static const u64 sizes[] = { 1, 2, 3, 5, 64, 16383 };
	unsigned int i, last;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		rails_begin(&quiet);
		rails_tune(1, "window", sizes[i]);
		most = 0;
		rails.on_event = look;
		faults();
		last = some(90);
		rails_run(5 * NSEC_PER_SEC);
		rails_release();
		rails_run(15 * NSEC_PER_SEC);
		rails.on_event = NULL;
		check_all(1, last);
		UNIT_EQUAL(most, min(sizes[i], (u64)90), "as many at once as are granted");
		UNIT_EQUAL(sender()->next - 1, 90, "one sequence for each");
		rails_end();
	}
}

/*
 * Requests beyond the window get no request ID until the first one, the only unfinished one, ends.
 */
static void test_held_up(void)
{
	unsigned int last;

	rails_begin(&quiet);
	rails_tune(1, "window", 4);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(20 * RAILS_MS);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	last = some(20);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(sender()->next - sender()->oldest, 4, "full");
	UNIT_EQUAL(receiver()->high - receiver()->low < 4, 1, "as the receiver sees it");
	UNIT_EQUAL(rails_done(3) + rails_done(4), 2, "those within it are done");
	UNIT_EQUAL(rails_done(6), 0, "those beyond it wait");
	rails_release();
	rails_run(200 * RAILS_MS);
	check_all(1, last);
	rails_end();
}

#define MOST 16383U
static struct {
	u8 effects[MOST + 64], finals[MOST + 64];
	unsigned int bad;
} many;

static void count_many(struct rails_node *n, const struct lnet_event *ev)
{
	u64 ix = (n->ix ? ev->match_bits : (u64)(unsigned long)ev->op_ptr) - RAILS_TAGS;

	if (ix >= ARRAY_SIZE(many.effects))
		return;
	if (n->ix)
		many.effects[ix]++;
	else if (ev->final)
		many.finals[ix] += 1;
	many.bad += ev->status != 0;
}

static void put_many(unsigned int nr)
{
	struct lnet_xfer x;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		rails_xfer(&x, RAILS_TAGS + i);
		UNIT_EQUAL(lnet_put(rails.node[0].ln, &x), 0, "put");
	}
}

/* The largest window, filled completely; then all its requests arrive, and later ones twice. */
static void test_most(void)
{
	unsigned int i, once = 0;

	rails_begin(&quiet);
	memset(&many, 0, sizeof(many));
	rails_tune(1, "window", MOST);
	rails_tune(0, "transaction_timeout", 60 * NSEC_PER_SEC);
	rails_tune(0, "hedge", 0);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(20 * RAILS_MS);
	rails.on_event = count_many;
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, (int)MOST);
	put_many(MOST + 50);
	rails_run(RAILS_MS);
	UNIT_EQUAL(sender()->next - sender()->oldest, MOST, "full");
	UNIT_EQUAL(rails_count(&rails.delayed), MOST, "on their way");
	rails_clear();
	rails_on(0, -1, RAILS_PUT, FATE_TWICE, LNET_OK, -1);
	rails_release();
	rails_run(NSEC_PER_SEC);
	rails.on_event = NULL;
	for (i = 0; i < MOST + 50; i++)
		once += many.effects[i] == 1 && many.finals[i] == 1;
	UNIT_EQUAL(once, MOST + 50, "done, once");
	UNIT_EQUAL(many.bad, 0, "well");
	rails_end();
}

/* ---- rule 3: the last sequence --------------------------------------------------------------- */

static void jump(u64 seq)
{
	struct lnet_window *w = receiver();

	sender()->next = sender()->oldest = sender()->advertised = seq;
	sender()->seen = seq - 1;
	w->low = seq;
	w->high = seq - 1;
}

/* No sequence is reused, and none exceeds 48 bits: the sender opens a new session instead. */
static void test_last_sequence(void)
{
	unsigned int left, first, last;
	u64 opens, session_id;

	for (left = 0; left < 12; left += 3) {
		rails_begin(NULL);
		opens = rails_stat(1, LNET_C_session_opens);
		session_id = sender()->session_id;
		jump(SEQ_LAST - left + 1);
		faults();
		first = rails.nr_tags + 1;
		last = some(30);
		UNIT_EQUAL(sender()->next <= SEQ_LAST + 1, 1, "never beyond the last");
		rails_run(5 * NSEC_PER_SEC);
		rails_release();
		rails_run(15 * NSEC_PER_SEC);
		check_all(first, last);
		UNIT_EQUAL(rails_stat(1, LNET_C_session_opens), opens + 1, "opened again, once");
		UNIT_EQUAL(sender()->session_id != session_id, 1, "another grant");
		UNIT_EQUAL(sender()->next, 30 - left + 1, "from one on");
		rails_end();
	}
}

/* ---- rule 13: all windows in use ------------------------------------------------------------- */

static void test_all_busy(void)
{
	struct rails_cfg cfg = { .quiet = true, .nr_nodes = 4 };
	unsigned int held[2], tag[2], later, i;

	rails_begin(&cfg);
	rails_tune(3, "windows_max", 2);
	rails_on(3, -1, RAILS_REPLY, FATE_KEEP, LNET_OK, -1);
	for (i = 0; i < 2; i++)
		held[i] = rails_get(i, 3, LARGE, 60 * NSEC_PER_SEC);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.node[3].ln->shard[0].nr_windows, 2, "as many as may be");
	tag[0] = rails_put(2, 3, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	CU_ASSERT(rails_stat(3, LNET_C_session_opens_rejected) > 0);
	UNIT_EQUAL(rails_done(tag[0]), 1, "the sender does not wait for a session");
	rails_run(1500 * RAILS_MS);
	rails_on(2, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	later = rails_put(2, 3, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails_peer(2, 3)->session_state, SESSION_PINGING, "node 2 pings the peer again");
	UNIT_EQUAL(rails_done(later), 1, "the request does not wait for the ping");
	UNIT_EQUAL(rails.req[later].nr_effects, 1, "the request is sent once");
	rails_run(4 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_stat(3, LNET_C_windows_displaced), 0, "none that is in use goes");
	UNIT_EQUAL(lnet_session_is_open(rails_peer(2, 3)), 0, "no grant");
	UNIT_EQUAL(rails.req[tag[0]].nr_plain, 1, "unmarked");
	rails_clear();
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(70 * NSEC_PER_SEC);
	tag[1] = rails_put(2, 3, 64, LNET_ACK, 0);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(lnet_session_is_open(rails_peer(2, 3)), 1, "asked again, granted");
	for (i = 0; i < 2; i++) {
		check_all(held[i], held[i]);
		check_all(tag[i], tag[i]);
	}
	rails_end();
}

/* A new peer does not displace an idle window whose last request is less than a second old. */
static void test_used_now(void)
{
	struct rails_cfg cfg = { .quiet = true, .nr_nodes = 3 };
	unsigned int first, tag[2];

	rails_begin(&cfg);
	rails_tune(2, "windows_max", 1);
	first = rails_put(0, 2, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	tag[0] = rails_put(1, 2, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails_stat(2, LNET_C_windows_displaced), 0, "the window stays");
	UNIT_EQUAL(rails_stat(2, LNET_C_session_opens_rejected), 1, "the other peer is rejected");
	UNIT_EQUAL(rails.req[tag[0]].nr_plain, 1, "it sends without a session");
	rails_run(1500 * RAILS_MS);
	tag[1] = rails_put(1, 2, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails_stat(2, LNET_C_windows_displaced), 1, "an older window is dropped");
	UNIT_EQUAL(lnet_session_is_open(rails_peer(1, 2)), 1, "the other peer gets a session");
	check_all(first, first);
	check_all(tag[0], tag[1]);
	rails_end();
}

/* ---- rule 8: small buffers, replies ---------------------------------------------------------- */

/* Small buffers use their budget to the last byte; other REPLYs hold their source memory. */
static void test_copies(void)
{
	unsigned int tag, i;

	rails_begin(NULL);
	rails_tune(1, "reply_cache_budget", 4 * 256);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, 6);
	tag = rails.nr_tags + 1;
	for (i = 0; i < 6; i++)
		rails_get(0, 1, 256, 0);
	rails_pump();
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_denied), 2, "denied");
	UNIT_EQUAL(rails.node[1].ln->shard[0].cache_bytes, 4 * 256, "all of it");
	for (i = 0; i < 6; i++)
		UNIT_EQUAL(rails.req[tag + i].nr_target, i < 4, "memory is free, or held");
	rails_run(NSEC_PER_SEC);
	rails_clear();
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(NSEC_PER_SEC);
	check_all(tag, tag + 5);
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_denied), 2, "a duplicate makes none");
	UNIT_EQUAL(rails.node[1].ln->shard[0].cache_bytes, 0, "given back");
	rails_end();
}

/* With replies_max replies waiting, no more requests are accepted; those arrive again later. */
static void test_answers(void)
{
	unsigned int first, last, i;

	rails_begin(NULL);
	rails_tune(1, "replies_max", 64);
	rails_on(1, -1, RAILS_REPLY, FATE_KEEP, LNET_OK, -1);
	first = rails.nr_tags + 1;
	for (i = 0; i < 200; i++)
		rails_get(0, 1, 64, 0);
	last = rails.nr_tags;
	rails_run(5 * RAILS_MS);
	CU_ASSERT(rails_stat(1, LNET_C_not_reading) > 0);
	UNIT_EQUAL(atomic_read(&rails_path(1, 0, 0)->pni->nr_reply_ops) <= 64, 1, "bounded");
	rails_clear();
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(10 * NSEC_PER_SEC);
	check_all(first, last);
	rails_end();
}

static const struct rails_cfg three = { .nr_nodes = 3 };

/* Replies that node 2 does not read use up replies_budget. Node 1 still serves node 0. */
static void test_answers_of_all(void)
{
	unsigned int first, honest, last, i;

	rails_begin(&three);
	rails_tune(1, "replies_budget", 64);
	rails_on(1, -1, RAILS_REPLY, FATE_KEEP, LNET_OK, -1);
	first = rails.nr_tags + 1;
	for (i = 0; i < 200; i++)
		rails_get(2, 1, 64, 0);
	honest = rails.nr_tags + 1;
	rails_run(5 * RAILS_MS);
	CU_ASSERT(rails_stat(1, LNET_C_replies_denied) > 0);
	UNIT_EQUAL(rails.node[1].ln->shard[0].nr_reply_ops <= 64 + 16, 1, "bounded");
	rails_clear();
	for (i = 0; i < 100; i++)
		rails_get(0, 1, 64, 0);
	last = rails.nr_tags;
	rails_run(NSEC_PER_SEC);
	check_all(honest, last);
	UNIT_EQUAL(rails_done(honest - 1), 0, "node 2 has no more replies meanwhile");
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(10 * NSEC_PER_SEC);
	check_all(first, honest - 1);
	UNIT_EQUAL(rails.node[1].ln->shard[0].nr_reply_ops, 0, "none is left");
	rails_end();
}

/*
 * A large REPLY is on the wire when its connection is lost: it is sent over the other path, without
 * a retry of the GET.
 */
static void test_answer_again(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_REPLY, FATE_POST_FAIL, LNET_PATH_LOST, 1);
	tag = rails_get(0, 1, LARGE, 0);
	rails_run(5 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "nobody asked again");
	UNIT_EQUAL(rails_done(tag), 1, "answered");
	rails_run(30 * RAILS_MS);
	check_all(tag, tag);
	rails_end();
}

/* ---- rule 9: a confirm message is lost ------------------------------------------------------- */

static void test_confirm_lost(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, 1);
	rails_on(0, -1, RAILS_GET, FATE_LATE, LNET_OK, 1);
	tag = rails_get(0, 1, LARGE, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "answered");
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "not confirmed");
	rails_release();
	UNIT_EQUAL(rails_stat(0, LNET_C_dup_reply), 1, "answered again");
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "and confirmed, sooner than by itself");
	check_all(tag, tag);
	rails_end();
}

/* ---- rules 12 and 14: the end of memory, of a window ----------------------------------------- */

/* The MD is unlinked while a payload is being received: the matched request still completes. */
static void test_unlink_landing(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(lnet_md_unlink(rails.node[1].ln, rails.node[1].target), 0, "unlink");
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "its memory is in use");
	rails_land(0, LNET_OK);
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "then it is told, as of memory that was unlinked");
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "ended");
	UNIT_EQUAL(rails.req[tag].status, 0, "well");
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

/* The node stops while a payload is being received: this causes one event. */
static void test_end_landing(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, NSEC_PER_SEC);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.landing), 1, "it lands");
	rails_node_stop(1);
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "told");
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "that it did not arrive");
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* The request has ended and its window has expired: it arrives late, and takes no effect. */
static void test_very_late(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(0, "retry_count", 0);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 64, LNET_ACK, 100 * RAILS_MS);
	rails_run(40 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].unknown, true, "given up");
	CU_ASSERT(receiver() == NULL);
	rails_release();
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "refused");
	UNIT_EQUAL(rails_stat(1, LNET_C_no_window), 1, "refused");
	rails_end();
}

/* ---- rules 2, 5, 11: both nodes restart repeatedly ------------------------------------------- */

static void test_both_restart(void)
{
	unsigned int round, tag, who;

	rails_begin(NULL);
	for (round = 0; round < 24; round++) {
		faults();
		for (tag = 0; tag < 9; tag++)
			rails_put(0, 1, 64, tag % 3 ? LNET_ACK : 0, 0);
		rails_run((round % 5) * 7 * RAILS_MS);
		for (who = 0; who < 2; who++)
			if (round % 3 == who || round % 3 == 2)
				rails_restart(who);
		rails_run(round * RAILS_MS);
		rails_clear();
		rails_release();
		rails_run(6 * NSEC_PER_SEC);
	}
	for (tag = 1; tag <= rails.nr_tags; tag++) {
		CU_ASSERT(rails.req[tag].nr_effects <= 1);
		UNIT_EQUAL(rails.req[tag].nr_final, 1, "one end");
		CU_ASSERT(rails.req[tag].status || rails.req[tag].nr_effects == 1);
		CU_ASSERT(rails.req[tag].unknown || !rails.req[tag].status ||
			  !rails.req[tag].nr_effects);
	}
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(NSEC_PER_SEC);
	check_all(tag, tag);
	rails_end();
}

UNIT_SUITE(bounds,
	{ "rule 4: windows of one request, of a few, of the most", test_sizes },
	{ "rule 4: the largest window, full", test_most },
	{ "rule 4: the first one holds up all that do not fit beside it", test_held_up },
	{ "rule 3: after the last sequence a new opening", test_last_sequence },
	{ "rule 13: all windows are in use", test_all_busy },
	{ "rule 13: a window that was used in the last second is not displaced", test_used_now },
	{ "rule 8: copies to the last byte", test_copies },
	{ "rule 8: as many answers as may wait", test_answers },
	{ "the bound of all replies leaves some to each peer", test_answers_of_all },
	{ "rule 8: an answer that is lost with its connection goes by another path",
	  test_answer_again },
	{ "rule 9: a lost confirmation comes again when it is asked for", test_confirm_lost },
	{ "rule 12: what lands goes on landing after unlink", test_unlink_landing },
	{ "rule 12: what lands when the node ends is told of", test_end_landing },
	{ "rule 14: later than its window", test_very_late },
	{ "rules 5, 11: both ends start anew under load", test_both_restart })
