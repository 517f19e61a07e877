/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/fault/rule_apply.c and rule_table.c: what a rule matches, when it acts, its effect
 * on a message, and how rules are stored.
 */
#define lnet_rule_add act_t_add
#define lnet_rule_del act_t_del
#define lnet_rule_get act_t_get
#define lnet_rule_at act_t_at
#define lnet_rules_reset act_t_reset
#define lnet_rule_exists act_t_exists
#define lnet_rule_last act_t_last
#define lnet_rules_keep act_t_keep
#define lnet_rules_put_back act_t_put_back
#define lnet_att_release act_t_release
#define lnet_rules_work act_t_work
#include "paths.h"
#include "lnet/fault/rule_table.c"

static struct lnet_hdr msg;	/* the next message to send or receive */
static struct world *w;
static struct lnet_pass pass;
static struct lnet_rx rx;
static unsigned int nr_released;

void lnet_att_release(struct lnet *ln, u32 id)
{
	nr_released++;
}

static void setup(void)
{
	w = world_create();
	world_ni(w, 1);
	world_ni(w, 2);
	pass.ln = &w->ln;
	pass.sh = NULL;
	w->now_ns = 10 * (u64)NSEC_PER_SEC;
	pass.now_ns = w->now_ns;
	memset(&msg, 0, sizeof(msg));
	msg.type = LNET_MSG_PUT;
	msg.payload_len = 904;		/* 1000 with its header */
	world_nid(&msg.src_nid, 1, 50);
	world_nid(&msg.dest_nid, 1, 1);
}

static unsigned int del(u32 id)
{
	return lnet_rule_del(&w->ln, &(struct lnet_rule_which){ .id = id,
								.kind = LNET_NR_RULE_KINDS });
}

static void teardown(void)
{
	del(0);
	lnet_fault_fini(&w->ln);
	CU_ASSERT_PTR_NULL(w->ln.fault);
	world_destroy(w);
}

/* Adds the rule "kind name=text ...". */
static int add(const char *line)
{
	char buf[300], err[LNET_RULE_ERR] = "", *at = buf, *word;
	struct lnet_rule r;

	snprintf(buf, sizeof(buf), "%s", line);
	word = strsep(&at, " ");
	lnet_rule_init(&r, lnet_rule_kind_find(word));
	while ((word = strsep(&at, " "))) {
		char *value = strchr(word, '=');

		*value++ = 0;
		CU_ASSERT_EQUAL(lnet_rule_set(&r, word, value, err), 0);
	}
	CU_ASSERT_EQUAL(lnet_rule_check(&r, err), 0);
	CU_ASSERT_STRING_EQUAL(err, "");
	return lnet_rule_add(&w->ln, &r);
}

static struct lnet_fate tx(void)
{
	struct lnet_fate fate;

	lnet_rules_send(&pass, w->ni[0], &msg, &fate);
	return fate;
}

static bool lost_rx(void)
{
	rx.ni = w->ni[0];
	rx.spoil = 0;
	return !lnet_rules_receive(&pass, &rx, &msg);
}

static void advance(u64 ms)
{
	w->now_ns += ms * NSEC_PER_MSEC;
	pass.now_ns = w->now_ns;
}

/* ---- matches --------------------------------------------------------------------------------- */

/* How many of 1000 messages, alternating over two directions, are lost on sending and receiving. */
static const struct {
	const char *line;
	u8 type;
	u32 portal;
	unsigned int tx, rx;
} losses[] = {
	{ "drop", LNET_MSG_PUT, 4, 1000, 1000 },
	{ "drop at=send", LNET_MSG_PUT, 4, 1000, 0 },
	{ "drop at=receive", LNET_MSG_PUT, 4, 0, 1000 },
	{ "drop source=10.1.0.50@tcp1", LNET_MSG_PUT, 4, 500, 500 },
	{ "drop source=10.1.0.51@tcp1", LNET_MSG_PUT, 4, 0, 0 },
	{ "drop dest=*@tcp1", LNET_MSG_PUT, 4, 1000, 1000 },
	{ "drop dest=*@tcp2", LNET_MSG_PUT, 4, 0, 0 },
	{ "drop local_nid=10.1.0.1@tcp1", LNET_MSG_PUT, 4, 1000, 1000 },
	{ "drop local_nid=10.1.0.2@tcp1", LNET_MSG_PUT, 4, 0, 0 },
	{ "drop message=GET,ACK", LNET_MSG_PUT, 4, 0, 0 },
	{ "drop message=GET,ACK", LNET_MSG_GET, 4, 1000, 1000 },
	{ "drop portal=4", LNET_MSG_PUT, 4, 1000, 1000 },
	{ "drop portal=4", LNET_MSG_PUT, 68, 1000, 1000 },
	{ "drop portal=4", LNET_MSG_PUT, 5, 0, 0 },
	{ "drop portal=4", LNET_MSG_REPLY, 4, 0, 0 },
	{ "drop rate=4", LNET_MSG_PUT, 4, 250, 250 },
	{ "drop count=7", LNET_MSG_PUT, 4, 7, 0 },	/* sending is first */
	{ "drop permille=0", LNET_MSG_PUT, 4, 0, 0 },
	{ "drop permille=1000", LNET_MSG_PUT, 4, 1000, 1000 },
	{ "drop interval=24h count=1 at=receive from=1s", LNET_MSG_PUT, 4, 0, 0 },
	{ "cut source=10.1.0.50@tcp1 dest=10.1.0.1@tcp1", LNET_MSG_PUT, 4, 500, 500 },
	{ "cut", LNET_MSG_REPLY, 4, 1000, 1000 },
	{ "partition left=10.1.0.50@tcp1 right=10.1.0.9@tcp1,10.1.0.1@tcp1", LNET_MSG_ACK, 0, 1000,
	  1000 },
	{ "partition left=10.1.0.50@tcp1 right=10.1.0.9@tcp1", LNET_MSG_ACK, 0, 0, 0 },
	{ "partition left=*@tcp1 right=*@tcp2", LNET_MSG_ACK, 0, 0, 0 },
	{ "flap period=1s", LNET_MSG_PUT, 4, 1000, 1000 },	/* it starts with the link down */
	{ "ack-timeout", LNET_MSG_ACK, 0, 1000, 1000 },
	{ "ack-timeout", LNET_MSG_REPLY, 0, 0, 0 },
	{ "reply-timeout at=receive", LNET_MSG_REPLY, 0, 0, 1000 },
	{ "outcome when=posted", LNET_MSG_PUT, 4, 1000, 0 },
	{ "delay delay=1s", LNET_MSG_PUT, 4, 0, 0 },
	{ "duplicate", LNET_MSG_PUT, 68, 0, 0 },
	{ "corrupt where=bit", LNET_MSG_PUT, 4, 0, 0 },
};

static void turn(unsigned int i)
{
	world_nid(i % 2 ? &msg.src_nid : &msg.dest_nid, 1, 1);
	world_nid(i % 2 ? &msg.dest_nid : &msg.src_nid, 1, 50);
}

static void test_losses(void)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(losses); i++) {
		unsigned int nr_tx = 0, nr_rx = 0;

		setup();
		msg.type = losses[i].type;
		if (msg.type == LNET_MSG_GET)
			msg.msg.get.ptl_index = losses[i].portal;
		else
			msg.msg.put.ptl_index = losses[i].portal;
		CU_ASSERT_EQUAL(add(losses[i].line), 0);
		for (n = 0; n < 1000; n++, turn(n))
			nr_tx += tx().end;
		for (n = 0; n < 1000; n++, turn(n))
			nr_rx += lost_rx();
		if (nr_tx != losses[i].tx || nr_rx != losses[i].rx)
			printf("%s: %u, %u\n", losses[i].line, nr_tx, nr_rx);
		UNIT_EQUAL(nr_tx, losses[i].tx, losses[i].line);
		UNIT_EQUAL(nr_rx, losses[i].rx, losses[i].line);
		teardown();
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static u64 pattern(unsigned int nr)
{
	u64 bits = 0;

	while (nr--)
		bits = bits << 1 | tx().end;
	return bits;
}

static void test_seed(void)
{
	u64 first, other;

	setup();
	add("drop permille=300 seed=5");
	first = pattern(64);
	del(0);
	add("drop permille=300 seed=5");
	UNIT_EQUAL(pattern(64), first, "the same seed draws the same");
	del(0);
	add("drop permille=300 seed=6");
	other = pattern(64);
	CU_ASSERT_NOT_EQUAL(other, first);
	UNIT_EQUAL(hweight32((u32)first) + hweight32((u32)(first >> 32)) > 10, 1, "some");
	UNIT_EQUAL(hweight32((u32)first) + hweight32((u32)(first >> 32)) < 30, 1, "not most");
	teardown();
}

/* Does the rule act at each of these times, in ms after it was added? */
static const struct {
	const char *line;
	u32 ms;
	bool acts;
	u8 state;
} plans[] = {
	{ "cut", 0, true, LNET_RULE_IS_ON },
	{ "cut from=1s", 999, false, LNET_RULE_IS_WAITING },
	{ "cut from=1s", 1000, true, LNET_RULE_IS_ON },
	{ "cut to=1s", 999, true, LNET_RULE_IS_ON },
	{ "cut to=1s", 1000, false, LNET_RULE_IS_OVER },
	{ "cut from=1s to=2s", 1500, true, LNET_RULE_IS_ON },
	{ "flap period=100ms", 49, true, LNET_RULE_IS_ON },
	{ "flap period=100ms", 50, false, LNET_RULE_IS_OFF },
	{ "flap period=100ms", 100, true, LNET_RULE_IS_ON },
	{ "flap period=100ms duty=100", 9, true, LNET_RULE_IS_ON },
	{ "flap period=100ms duty=100", 10, false, LNET_RULE_IS_OFF },
	{ "flap period=100ms duty=100 from=1s", 1009, true, LNET_RULE_IS_ON },
	{ "flap period=100ms duty=100 from=1s", 1010, false, LNET_RULE_IS_OFF },
	{ "flap period=100ms to=1s", 1001, false, LNET_RULE_IS_OVER },
};

static void test_plans(void)
{
	struct lnet_rule_info info;
	struct lnet_rule r;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(plans); i++) {
		setup();
		add(plans[i].line);
		advance(plans[i].ms);
		UNIT_EQUAL(tx().end, plans[i].acts, plans[i].line);
		UNIT_EQUAL(lnet_rule_get(&w->ln, 0, &r, &info), 0, plans[i].line);
		UNIT_EQUAL(info.state, plans[i].state, plans[i].line);
		teardown();
	}
}

static void test_interval(void)
{
	unsigned int ms, window, nr;

	setup();
	add("drop interval=100ms");
	for (window = nr = 0; window < 50; window++)
		for (ms = 0; ms < 100; ms++, advance(1))
			nr += tx().end;
	UNIT_EQUAL(nr, 50, "one in each");
	teardown();
}

/* ---- effects --------------------------------------------------------------------------------- */

static void test_delays(void)
{
	unsigned int i;

	setup();
	add("delay delay=10ms jitter=5ms");
	for (i = 0; i < 1000; i++) {
		u64 ns = tx().delay_ns;

		UNIT_EQUAL(ns >= 10 * NSEC_PER_MSEC && ns <= 15 * NSEC_PER_MSEC, 1, "delay");
	}
	add("delay delay=1s message=PUT");
	UNIT_EQUAL(tx().delay_ns >= NSEC_PER_SEC + 10 * NSEC_PER_MSEC, 1, "they add up");
	UNIT_EQUAL(tx().holder, 2, "the rule with the longest delay is the holder");
	add("delay delay=100ms");
	UNIT_EQUAL(tx().holder, 2, "also if it is not the most recent rule");
	add("drop");
	UNIT_EQUAL(tx().end, 1, "lost and not held");
	teardown();
	setup();
	add("reorder delay=30ms behind=3");
	UNIT_EQUAL(tx().delay_ns, 30 * NSEC_PER_MSEC, "at most");
	UNIT_EQUAL(tx().behind, 3, "later ones");
	teardown();
}

/* Messages of 1000 bytes at 100,000 bytes per second: 10 ms each. */
static void test_slow(void)
{
	unsigned int i;

	setup();
	add("slow bandwidth=100000");
	for (i = 1; i <= 100; i++)
		UNIT_EQUAL(tx().delay_ns, i * 10 * NSEC_PER_MSEC, "one after the other");
	UNIT_EQUAL(tx().delay_ns, 1010 * NSEC_PER_MSEC, "the last that fits in the queue");
	UNIT_EQUAL(tx().end, 1, "the queue is full");
	advance(510);
	UNIT_EQUAL(tx().delay_ns, 510 * NSEC_PER_MSEC, "half of it is sent");
	advance(5000);
	UNIT_EQUAL(tx().delay_ns, 10 * NSEC_PER_MSEC, "nothing is saved up");
	teardown();
	setup();
	add("slow bandwidth=100000 burst=5000");
	for (i = 0; i < 5; i++)
		UNIT_EQUAL(tx().delay_ns, 0, "a burst");
	UNIT_EQUAL(tx().delay_ns, 10 * NSEC_PER_MSEC, "behind it");
	teardown();
}

static unsigned int lost_of(unsigned int nr)
{
	unsigned int lost = 0;

	while (nr--)
		lost += tx().end;
	return lost;
}

static void test_degrade(void)
{
	unsigned int lost;

	setup();
	add("degrade loss=400 delay=100ms over=10s from=1s");
	UNIT_EQUAL(lost_of(1000), 0, "not yet");
	advance(1000);
	UNIT_EQUAL(lost_of(1000), 0, "it begins");
	UNIT_EQUAL(tx().delay_ns, 0, "no delay");
	advance(5000);
	lost = lost_of(10000);
	UNIT_EQUAL(lost > 1700 && lost < 2300, 1, "half way: a fifth");
	del(0);
	add("degrade delay=100ms over=10s");
	advance(2500);
	UNIT_EQUAL(tx().delay_ns, 25 * NSEC_PER_MSEC, "a quarter of the delay");
	advance(60000);
	UNIT_EQUAL(tx().delay_ns, 100 * NSEC_PER_MSEC, "all of it");
	teardown();
}

static void test_outcomes(void)
{
	u32 seen = 0;
	unsigned int i;

	setup();
	add("outcome outcome=remote_timeout,local_error");
	for (i = 0; i < 100; i++)
		seen |= 1u << tx().how;
	UNIT_EQUAL(seen, 1u << LNET_REMOTE_TIMEOUT | 1u << LNET_LOCAL_ERROR, "each of them");
	del(0);
	add("outcome when=posted");
	UNIT_EQUAL(tx().how, LNET_NETWORK_TIMEOUT, "posted");
	del(0);
	add("outcome when=completed");
	UNIT_EQUAL(tx().how, LNET_ACKNOWLEDGED, "completed");
	del(0);
	add("drop");
	UNIT_EQUAL(tx().how, LNET_OK, "without a word");
	teardown();
}

/* Messages that may be delivered twice: tracked requests and pings. */
static void test_repeat(void)
{
	setup();
	add("duplicate");
	msg.msg.put.ptl_index = 4;
	UNIT_EQUAL(tx().twice, 0, "a stock node's PUT");
	msg.msg.put.ptl_index = 68;
	UNIT_EQUAL(tx().twice, 1, "a marked PUT");
	msg.type = LNET_MSG_GET;
	msg.msg.get.ptl_index = 4;
	UNIT_EQUAL(tx().twice, 0, "a stock node's GET");
	msg.msg.get.ptl_index = 0;
	UNIT_EQUAL(tx().twice, 1, "a ping");
	msg.type = LNET_MSG_REPLY;
	UNIT_EQUAL(tx().twice, 0, "a REPLY");
	teardown();
}

/* ---- corrupted messages ---------------------------------------------------------------------- */

#define BYTES 20000U
static u8 bytes[BYTES], was[BYTES];

static unsigned int bits_changed(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < BYTES; i++)
		nr += hweight32(bytes[i] ^ was[i]);
	return nr;
}

static void land(u32 want)
{
	struct lnet_frag frag = { .base = bytes, .len = BYTES };
	unsigned int i;

	for (i = 0; i < BYTES; i++)
		bytes[i] = was[i] = (u8)(i * 7 + i / 256);
	rx.into = (struct lnet_buf){ .frags = &frag, .nr = 1, .len = BYTES };
	rx.want = want;
	lnet_rx_spoil(&rx);
}

static void test_spoil(void)
{
	setup();
	msg.type = LNET_MSG_PUT;
	add("corrupt where=bit");
	UNIT_EQUAL(lost_rx(), 0, "it is not lost");
	CU_ASSERT_NOT_EQUAL(rx.spoil, 0);
	land(BYTES);
	UNIT_EQUAL(bits_changed(), 1, "one bit");
	land(1);
	UNIT_EQUAL(bits_changed(), 1, "of one byte");
	CU_ASSERT_NOT_EQUAL(bytes[0], was[0]);
	land(0);
	UNIT_EQUAL(bits_changed(), 0, "of none");
	del(0);
	add("corrupt where=pages");
	lost_rx();
	land(BYTES);
	UNIT_EQUAL(memcmp(bytes, was + 12288, 4096), 0, "the last whole page comes first");
	UNIT_EQUAL(memcmp(bytes + 12288, was, 4096), 0, "and the first there");
	UNIT_EQUAL(memcmp(bytes + 4096, was + 4096, 8192), 0, "all else stays");
	land(5000);
	UNIT_EQUAL(bits_changed(), 1, "no two pages: a bit");
	msg.payload_len = 0;
	UNIT_EQUAL(lost_rx(), 0, "nothing to spoil");
	UNIT_EQUAL(rx.spoil, 0, "nothing to spoil");
	teardown();
}

/* ---- stored rules ---------------------------------------------------------------------------- */

static void test_keep(void)
{
	struct lnet_rule_which which = { .kind = LNET_RULE_K_CUT };
	struct lnet_rule_info info;
	struct lnet_rule r;
	unsigned int i;

	setup();
	UNIT_EQUAL(lnet_rule_get(&w->ln, 0, &r, &info), -ENOENT, "none");
	UNIT_EQUAL(lnet_rule_last(&w->ln), 0, "none");
	UNIT_EQUAL(del(0), 0, "none");
	add("drop name=a permille=0");
	CU_ASSERT_PTR_NOT_NULL(w->ln.fault);
	UNIT_EQUAL(add("cut name=a"), -EEXIST, "the name is taken");
	UNIT_EQUAL(add("cut name=b"), 0, "another name");
	UNIT_EQUAL(add("cut"), 0, "no name");
	UNIT_EQUAL(add("cut"), 0, "no name again");
	tx();
	UNIT_EQUAL(lnet_rule_get(&w->ln, 0, &r, &info), 0, "first");
	UNIT_EQUAL(info.id, 1, "oldest first");
	UNIT_EQUAL(lnet_rule_get(&w->ln, 3, &r, &info), 0, "third");
	UNIT_EQUAL(info.nr_hit + info.nr_match, 0, "a later one ended it");
	UNIT_EQUAL(lnet_rule_get(&w->ln, 4, &r, &info), 0, "fourth");
	UNIT_EQUAL(info.nr_hit + info.nr_match, 2, "the last one hit");
	snprintf(which.name, sizeof(which.name), "a");
	UNIT_EQUAL(lnet_rule_del(&w->ln, &which), 0, "no cut of that name");
	UNIT_EQUAL(lnet_rule_last(&w->ln), 4, "the newest");
	which.name[0] = 0;
	UNIT_EQUAL(lnet_rule_del(&w->ln, &which), 3, "all cuts");
	UNIT_EQUAL(tx().end, 0, "they are gone");
	nr_released = 0;
	UNIT_EQUAL(del(1), 1, "by number");
	UNIT_EQUAL(nr_released, 1, "what it held goes");
	CU_ASSERT_PTR_NULL(w->ln.fault);
	for (i = 0; i < LNET_RULES_MAX; i++)
		UNIT_EQUAL(add("drop"), 0, "many");
	UNIT_EQUAL(add("drop"), -ENOSPC, "too many");
	teardown();
}

static void test_no_memory(void)
{
	unsigned int i;

	for (i = 1; i <= 2; i++) {
		setup();
		unit_fail_alloc(i);
		UNIT_EQUAL(add("drop"), -ENOMEM, "no memory");
		unit_fail_alloc(0);
		UNIT_EQUAL(tx().end, 0, "nothing was added");
		UNIT_EQUAL(add("drop"), 0, "now it is");
		UNIT_EQUAL(tx().end, 1, "added");
		teardown();
	}
}

UNIT_SUITE(rule_apply, { "dbg-005 dbg-035 dbg-040: what is lost", test_losses },
	   { "dbg-005: of the same seed the same", test_seed },
	   { "dbg-005: from, to, period, duty", test_plans },
	   { "dbg-005: one in each interval", test_interval },
	   { "dbg-005: delays and what goes later", test_delays },
	   { "dbg-005: so many bytes per second", test_slow },
	   { "dbg-005: a link that wears out", test_degrade },
	   { "dbg-005 dbg-015 dbg-020: as drivers say it", test_outcomes },
	   { "dbg-005: what may go twice", test_repeat }, { "dbg-005: spoilt", test_spoil },
	   { "dbg-005: rules are added, found and deleted", test_keep },
	   { "dbg-005: out of memory no rule is left", test_no_memory })
