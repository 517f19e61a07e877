/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do our tests send the configured requests, as long and as many at once, and count their ends? */
#include "st_world.h"

static struct lst_plan plan;
static struct lst_tally t;
static u64 numbers[13];

static void begin(enum lst_what what)
{
	st_begin(3);
	UNIT_EQUAL(st_make(1), 0, "client");
	UNIT_EQUAL(st_make(2), 0, "server");
	st_plan_init(&plan, what);
}

static void start(void)
{
	UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
}

/* At any time, each sent request is received, lost or in flight. */
static void sample(void)
{
	st_tally(1, 1, false, &t, numbers);
	UNIT_EQUAL(t.c[LST_T_sent],
		   t.c[LST_T_received] + t.c[LST_T_lost] + t.c[LST_T_under_way], "a sum");
}

static bool runs(void)
{
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, "query");
	return st_active() != 0;
}

static void finish(void)
{
	u32 left = 2000;

	while (runs() && left--)
		st_run(100 * NSEC_PER_MSEC);
	UNIT_EQUAL(runs(), false, "it ends by itself");
	sample();
	UNIT_EQUAL(t.c[LST_T_under_way], 0, "drained");
}

static void loops(void)
{
	static const u32 sizes[] = { 64, 65, 159, 160, 161, 1000, 4096 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		begin(LST_WHAT_PING);
		plan.loop = 250;
		plan.warmup = 20;
		plan.concur = 4;
		plan.size = sizes[i];
		plan.verify = LST_VERIFY_FULL;
		start();
		finish();
		UNIT_EQUAL(t.c[LST_T_sent], 1000, "four times, without the first ones");
		UNIT_EQUAL(t.c[LST_T_received], 1000, "all");
		UNIT_EQUAL(t.c[LST_T_corrupt] + t.c[LST_T_refused] + t.c[LST_T_reordered], 0,
			   "well");
		UNIT_EQUAL(t.c[LST_T_bytes_out], 1000ULL * sizes[i], "bytes");
		UNIT_EQUAL(t.nr_times, 1000, "times");
		UNIT_EQUAL(numbers[ST_MAX_ASKED], 4, "at one time");
		st_tally(2, 1, true, &t, numbers);
		UNIT_EQUAL(numbers[ST_SERVED], 1080, "all were served");
		UNIT_EQUAL(numbers[ST_TO], 1080ULL * sizes[i], "of that length");
		st_end();
	}
}

/* Offset of the field of replies that changes on the wire; the length of replies. */
static u32 spoiled_at;
#define SPOILED_LEN	256

static void spoil_reply(struct rails_msg *m)
{
	if (m->from == 2 && m->type == RAILS_PUT && m->len == SPOILED_LEN)
		m->data[spoiled_at] ^= 1;
}

static void wrong_replies(void)
{
	static const struct {
		const char *name;
		u32 at;
	} fields[] = { { "sequence", 32 }, { "stamp", 40 } };	/* as in messages.def */
	u32 i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		begin(LST_WHAT_PING);
		plan.loop = 10;
		plan.size = SPOILED_LEN;
		spoiled_at = fields[i].at;
		rails.on_carry = spoil_reply;
		start();
		finish();
		rails.on_carry = NULL;
		UNIT_EQUAL(t.c[LST_T_sent], 10, fields[i].name);
		UNIT_EQUAL(t.c[LST_T_corrupt], 10, fields[i].name);
		st_end();
	}
}

static void twelve_thousand(void)
{
	begin(LST_WHAT_PING);
	plan.loop = 12000;
	plan.time = 3600ULL * NSEC_PER_SEC;
	start();
	finish();
	UNIT_EQUAL(t.c[LST_T_sent], 12000, "loops are first");
	st_end();
}

static void by_time(void)
{
	u64 from;

	begin(LST_WHAT_PING);
	plan.time = 2ULL * NSEC_PER_SEC;
	plan.rate = 1000;
	plan.concur = 8;
	start();
	from = rails.now_ns;
	while (runs())
		st_run(10 * NSEC_PER_MSEC);
	UNIT_EQUAL(rails.now_ns - from < 2050ULL * NSEC_PER_MSEC &&
		   rails.now_ns - from > 1950ULL * NSEC_PER_MSEC, true, "2 s, 50 ms more or less");
	sample();
	UNIT_EQUAL(t.c[LST_T_sent], 2000, "at the rate");
	UNIT_EQUAL(t.c[LST_T_received], 2000, "drained, not cut");
	UNIT_EQUAL(t.last_ns - t.first_ns > 1990ULL * NSEC_PER_MSEC, true, "all the time");
	st_end();
}

/* White box: the test of node 1. */
static struct lst_drill *drill(void)
{
	struct lst_batch *batch = lst_batch_find(st_of(1)->session, ST_BID);

	return list_first_entry(&batch->tests, struct lst_test, link)->drill;
}

static void run_at_once(void)
{
	lst_enter(st_of(1));
	lst_test_run_locked(drill()->test);
	spin_unlock(&st_of(1)->lock);
	lst_run(st_of(1));
}

/* With concurrency 8, eight requests are in flight at one time if replies are slow. */
static void at_one_time(void)
{
	begin(LST_WHAT_PING);
	plan.loop = 3;
	plan.concur = 8;
	UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
	rails_on(1, -1, RAILS_PUT, FATE_DELAY, LNET_OK, -1);
	run_at_once();
	st_run(NSEC_PER_MSEC);
	UNIT_EQUAL(drill()->nr_asked, 8, "eight are asked");
	UNIT_EQUAL(drill()->tally.c[LST_T_under_way], 8, "eight wait");
	UNIT_EQUAL(drill()->tally.c[LST_T_sent], 8, "no more were sent");
	rails_clear();
	rails_release();
	finish();
	UNIT_EQUAL(numbers[ST_MAX_ASKED], 8, "never more");
	UNIT_EQUAL(t.c[LST_T_sent], 24, "all");
	st_end();
}

/* ---- ends of requests ------------------------------------------------------------------------ */

static struct {
	u32 lose;			/* one of this many requests is lost; 0: none */
	u32 seen, lost;
	u32 keep;			/* the bytes of this many replies are kept */
	u32 nr_kept, spoil_kept;
	u8 kept[64][LST_MSG_SIZE];
	u64 bits;
} fate;

static bool is_drill(const struct rails_msg *m, u32 type)
{
	return m->type == RAILS_PUT && m->len >= LST_DRILL_MIN &&
	       (m->hdr.msg.put.ptl_index & (LNET_PORTAL_TRACKED - 1)) == LST_PORTAL_DRILL &&
	       get_unaligned_le32(m->data + 8) == type;
}

/* Without its first number it is no valid message, and no node answers it. */
static void lose_some(struct rails_msg *m)
{
	if (is_drill(m, LST_DRILL_REQ) && fate.lose && ++fate.seen % fate.lose == 0) {
		fate.lost++;
		m->data[0] ^= 1;
	}
	if (!is_drill(m, LST_DRILL_RPY) || fate.nr_kept >= fate.keep)
		return;
	memcpy(fate.kept[fate.nr_kept++], m->data, LST_DRILL_MIN);
	fate.bits = m->hdr.msg.put.match_bits;
	if (fate.spoil_kept)
		m->data[0] ^= 1;
}

static void no_event(const struct lnet_event *ev)
{
}

/* The server sends a reply once more. */
static void answer_again(u32 nr)
{
	struct lnet_md_cfg cfg = { .start = fate.kept[nr], .length = LST_DRILL_MIN, .cpt = -1,
				   .threshold = 1, .handler = no_event };
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	UNIT_EQUAL(lnet_md_bind(rails.node[2].ln, &cfg, LNET_UNLINK, &x.md), 0, "bound");
	x.target = (struct lnet_process){ rails_nid(1, 0), LNET_PID };
	x.portal = LST_PORTAL_DRILL;
	x.match_bits = fate.bits;
	UNIT_EQUAL(lnet_put(rails.node[2].ln, &x), 0, "put");
	st_run(NSEC_PER_MSEC);
}

static void losses(void)
{
	u64 quiet_ns;

	begin(LST_WHAT_PING);
	plan.loop = 250;
	plan.concur = 4;
	plan.timeout = NSEC_PER_SEC;
	memset(&fate, 0, sizeof(fate));
	fate.lose = 100;
	rails.on_carry = lose_some;
	start();
	while (runs()) {
		sample();
		st_run(300 * NSEC_PER_MSEC);
	}
	finish();
	UNIT_EQUAL(t.c[LST_T_sent], 1000, "all");
	UNIT_EQUAL(fate.lost, 10, "one of a hundred");
	UNIT_EQUAL(t.c[LST_T_lost], fate.lost, "as many as were");
	UNIT_EQUAL(t.c[LST_T_received], 990, "the others");
	UNIT_EQUAL(t.nr_times, 990, "times of these");
	quiet_ns = t.max_ns;
	UNIT_EQUAL(quiet_ns < NSEC_PER_MSEC, true, "a loss is no round trip");
	UNIT_EQUAL(t.c[LST_T_late] + t.c[LST_T_duplicated], 0, "nothing comes later");
	st_end();
}

static void late_ones(void)
{
	u32 i;

	begin(LST_WHAT_PING);
	plan.loop = 20;
	plan.timeout = NSEC_PER_SEC;
	memset(&fate, 0, sizeof(fate));
	fate.keep = fate.spoil_kept = 5;
	rails.on_carry = lose_some;
	start();
	finish();
	UNIT_EQUAL(t.c[LST_T_lost], 5, "five answers were lost");
	for (i = 0; i < 5; i++)
		answer_again(i);
	sample();
	UNIT_EQUAL(t.c[LST_T_late], 5, "they come late");
	UNIT_EQUAL(t.c[LST_T_received], 15, "and are rejected");
	UNIT_EQUAL(t.c[LST_T_duplicated], 0, "none came again");
	answer_again(2);
	sample();
	UNIT_EQUAL(t.c[LST_T_late], 5, "once more");
	UNIT_EQUAL(t.c[LST_T_duplicated], 1, "is again");
	st_end();
}

static void duplicates(void)
{
	u32 i;

	begin(LST_WHAT_PING);
	plan.loop = 20;
	memset(&fate, 0, sizeof(fate));
	fate.keep = 7;
	rails.on_carry = lose_some;
	start();
	finish();
	for (i = 0; i < 7; i++)
		answer_again(i);
	sample();
	UNIT_EQUAL(t.c[LST_T_duplicated], 7, "told apart from late ones");
	UNIT_EQUAL(t.c[LST_T_late], 0, "which none is");
	UNIT_EQUAL(t.c[LST_T_received], 20, "not received twice");
	/* The reply belongs to an earlier run, so it is ignored. */
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "again");
	finish();
	answer_again(1);
	sample();
	UNIT_EQUAL(t.c[LST_T_duplicated] + t.c[LST_T_late], 0, "of another run");
	st_end();
}

/* Requests that are delayed together arrive in another order. */
static void overtaken(void)
{
	begin(LST_WHAT_PING);
	plan.loop = 1;
	plan.concur = 6;
	UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
	rails_on(1, -1, RAILS_PUT, FATE_DELAY, LNET_OK, -1);
	run_at_once();
	st_run(NSEC_PER_MSEC);
	list_move_tail(rails.delayed.next, &rails.delayed);
	rails_clear();
	rails_release();
	finish();
	UNIT_EQUAL(t.c[LST_T_received], 6, "all");
	UNIT_EQUAL(t.c[LST_T_reordered], 5, "five overtook the first");
	st_end();
}

/* A server stalls: requests that are due meanwhile count their wait from their due time. */
static void open_loop(void)
{
	u32 rate;

	for (rate = 0; rate <= 100; rate += 100) {
		begin(LST_WHAT_PING);
		plan.loop = 100;
		plan.rate = rate;
		plan.timeout = 2000ULL * NSEC_PER_SEC;
		UNIT_EQUAL(st_drill(1, 2, &plan), 0, "added");
		run_at_once();
		st_run(500 * NSEC_PER_MSEC);
		if (!rate)
			run_at_once();
		rails_on(1, -1, RAILS_PUT, FATE_DELAY, LNET_OK, -1);
		st_run(200 * NSEC_PER_MSEC);
		rails_clear();
		rails_release();
		finish();
		UNIT_EQUAL(t.c[LST_T_received], 100, "all");
		/* A client that waits for replies meets the stall once, however long it lasts. */
		UNIT_EQUAL(t.max_ns >= 150ULL * NSEC_PER_MSEC, true, "the stall");
		UNIT_EQUAL(lst_tally_quantile(&t, 990000) > 10ULL * NSEC_PER_MSEC, rate != 0,
			   "once");
		/* 20 requests were due during the stall; the first of them waited for all of it. */
		UNIT_EQUAL(lst_tally_quantile(&t, 880000) > 10ULL * NSEC_PER_MSEC, rate != 0,
			   "as all see it who would have asked");
		UNIT_EQUAL(lst_tally_quantile(&t, 750000) < 10ULL * NSEC_PER_MSEC, true,
			   "the others");
		st_end();
	}
}

static void refusals(void)
{
	static const struct {
		const char *what;
		size_t at;
		u64 value;
	} bad[] = {
		{ "concurrency", offsetof(struct lst_plan, concur), 0 },
		{ "concurrency", offsetof(struct lst_plan, concur), 1025 },
		{ "size", offsetof(struct lst_plan, size), 63 },
		{ "size", offsetof(struct lst_plan, size), 4097 },
		{ "check", offsetof(struct lst_plan, verify), 5 },
		{ "map", offsetof(struct lst_plan, map), 11 },
		{ "what", offsetof(struct lst_plan, what), 3 },
		{ "servers", offsetof(struct lst_plan, nr_to), 2 },
		{ "index", offsetof(struct lst_plan, index), 0 },
	};
	u32 i;

	begin(LST_WHAT_PING);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		st_plan_init(&plan, LST_WHAT_PING);
		*(u64 *)((u8 *)&plan + bad[i].at) = bad[i].value;
		UNIT_EQUAL(st_drill(1, 1, &plan), EINVAL, bad[i].what);
	}
	st_plan_init(&plan, LST_WHAT_PING);
	UNIT_EQUAL(st_drill(1, 2, &plan), 0, "a good one");
	UNIT_EQUAL(st_drill(1, 2, &plan), EEXIST, "twice");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	plan.index = 2;
	UNIT_EQUAL(st_drill(1, 0, &plan), ESRCH, "a server that is not in the session");
	/* An endless test, stopped by force. */
	UNIT_EQUAL(st_batch(1, LST_BATCH_STOP, 0, 1), 0, "stop");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(runs(), false, "stopped");
	sample();
	UNIT_EQUAL(t.c[LST_T_under_way], 0, "nothing is left");
	UNIT_EQUAL(t.c[LST_T_received] > 0, true, "it ran");
	/* The server leaves the session, and rejects requests. */
	UNIT_EQUAL(st_remove(2), 0, "left");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(st_batch(1, LST_BATCH_STOP, 0, 0), 0, "stop");
	st_run(NSEC_PER_SEC);
	sample();
	UNIT_EQUAL(t.c[LST_T_received] > 10 && t.c[LST_T_received] == t.c[LST_T_refused], true,
		   "refused, with pauses");
	UNIT_EQUAL(t.c[LST_T_received] < 200, true, "of 10 ms");
	st_end();
}

UNIT_SUITE(stdrill,
	   { "pings of any size are sent as often as asked, warm-up not counted", loops },
	   { "a reply with another sequence number or stamp is corrupt", wrong_replies },
	   { "r.c2.net.self-test.test.duration: 12000 loops end before an hour", twelve_thousand },
	   { "r.c2.net.self-test.test.duration: two seconds end by the client's clock", by_time },
	   { "r.c2.net.self-test.concurrency: as many at one time as asked", at_one_time },
	   { "as many are lost as were", losses },
	   { "a late answer is rejected", late_ones },
	   { "an answer that comes again is no late one", duplicates },
	   { "answers that overtake are counted", overtaken },
	   { "at a rate a stall is seen by all that were to begin in it", open_loop },
	   { "what a node refuses, and how it stops", refusals })
