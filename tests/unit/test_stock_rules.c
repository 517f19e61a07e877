/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the rules of stock's tool in lnet/fault/rule_table.c and rule_apply.c: what a rule
 * matches, when it acts, its effect, and how rules are stored. Also tests of lnet/fault/fault.c.
 */
#define lnet_rule_add fault_t_add
#define lnet_rule_del fault_t_del
#define lnet_rule_get fault_t_get
#define lnet_rule_at fault_t_at
#define lnet_rules_reset fault_t_reset
#define lnet_rule_exists fault_t_exists
#define lnet_rule_last fault_t_last
#define lnet_rules_keep fault_t_keep
#define lnet_rules_put_back fault_t_put_back
#define lnet_att_release fault_t_release
#define lnet_rules_work fault_t_work
#define lnet_fault_fini fault_t_fini
#define lnet_fault_count fault_t_count
#define lnet_fault_count_reset fault_t_count_reset
#define lnet_fault_ni_down fault_t_ni_down
#define lnet_fault_peer fault_t_peer
#define lnet_fault_peer_fails fault_t_peer_fails
#define lnet_fault_want fault_t_want
#define lnet_fault_gate fault_t_gate
#define lnet_ni_by_nid fault_t_ni_by_nid
#include "paths.h"
#include "lnet/fault/rule_table.c"
#include "lnet/fault/fault.c"

#define SEC ((u64)NSEC_PER_SEC)
#define DROP LNET_RULE_K_STOCK_DROP
#define DELAY LNET_RULE_K_STOCK_DELAY

static struct lnet_hdr msg;	/* the next message to send or receive */
static struct world *w;
static struct lnet_pass pass;
static struct lnet_rule_live got;	/* get() */
static u32 released_id;		/* the last rule whose messages were released */

void lnet_att_release(struct lnet *ln, u32 id)
{
	released_id = id;
}

struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link)
		if (lnet_nid_same(&ni->nid, nid))
			return ni;
	return NULL;
}

static void setup(void)
{
	w = world_create();
	world_ni(w, 1);
	world_ni(w, 2);
	pass.ln = &w->ln;
	pass.sh = NULL;
	pass.now_ns = w->now_ns;
	memset(&msg, 0, sizeof(msg));
	msg.type = LNET_MSG_PUT;
	world_nid(&msg.src_nid, 1, 50);
	world_nid(&msg.dest_nid, 1, 1);
}

static void teardown(void)
{
	lnet_fault_fini(&w->ln);
	world_destroy(w);
}

static struct lnet_rule rule_of(u32 rate, u32 interval_s)
{
	struct lnet_rule r;

	lnet_rule_init(&r, DROP);
	r.rate = rate;
	r.interval_ns = interval_s * SEC;
	return r;
}

static int add(const struct lnet_rule *r)
{
	char err[LNET_RULE_ERR];
	int rc = lnet_rule_check(r, err);

	return rc ? rc : lnet_rule_add(&w->ln, r);
}

static int del(enum lnet_rule_kind kind, const struct lnet_nid *src, const struct lnet_nid *dst)
{
	return (int)lnet_rule_del(&w->ln, &(struct lnet_rule_which){ .kind = kind, .src = *src,
								     .dst = *dst });
}

static int del_id(enum lnet_rule_kind kind, u32 id)
{
	return (int)lnet_rule_del(&w->ln, &(struct lnet_rule_which){ .kind = kind, .id = id,
								     .src = LNET_NID_ANY,
								     .dst = LNET_NID_ANY });
}

static int get(enum lnet_rule_kind kind, unsigned int pos)
{
	return lnet_rule_at(&w->ln, kind, pos, &got);
}

static bool rx(void)
{
	struct lnet_rx message = { .ni = w->ni[0] };

	return lnet_fault_peer_fails(&w->ln, &msg.src_nid) ||
	       !lnet_rules_receive(&pass, &message, &msg);
}

static struct lnet_fate fate_of(void)
{
	struct lnet_fate fate;

	lnet_rules_send(&pass, w->ni[0], &msg, &fate);
	return fate;
}

static int tx(void)
{
	struct lnet_fate fate = fate_of();

	return fate.end ? (int)fate.how : -1;
}

static u64 delay(void)
{
	return fate_of().delay_ns;
}

static unsigned int rx_many(unsigned int nr)
{
	unsigned int dropped = 0;

	while (nr--)
		dropped += rx();
	return dropped;
}

/* ---- valid rules ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct lnet_rule r;
	int rc;
} checks[] = {
	{ "rate", { .rate = 1 }, 0 },
	{ "interval", { .interval_ns = SEC }, 0 },
	{ "neither", { .drop_all = 1 }, -EINVAL },
	{ "both", { .rate = 1, .interval_ns = SEC }, -EINVAL },
	{ "longest interval", { .interval_ns = U32_MAX * SEC }, 0 },
	{ "all types", { .rate = 1, .types = 0xf }, 0 },
	{ "portal of PUTs", { .rate = 1, .portals = 1, .types = 1 << LNET_MSG_PUT }, 0 },
	{ "portal of any", { .rate = 1, .portals = 1 }, 0 },
	{ "portal of ACKs", { .rate = 1, .portals = 1, .types = 1 << LNET_MSG_ACK }, -EINVAL },
	{ "portal of ACKs and GETs",
	  { .rate = 1, .portals = 1, .types = 1 << LNET_MSG_ACK | 1 << LNET_MSG_GET },
	  0 },
	{ "random needs interval", { .rate = 5, .random = 1 }, -EINVAL },
	{ "random", { .interval_ns = 5 * SEC, .random = 1 }, 0 },
	{ "no failure in the mask", { .rate = 1, .outcomes = 1 }, -EINVAL },
	{ "any failure", { .rate = 1, .outcomes = 0xffffffff }, 0 },
	{ "delay", { .kind = DELAY, .rate = 1, .delay_ns = 1 }, 0 },
	{ "delay of nothing", { .kind = DELAY, .rate = 1 }, -EINVAL },
	{ "delay of neither", { .kind = DELAY, .delay_ns = 1 }, -EINVAL },
};

static void test_checks(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(checks); i++) {
		struct lnet_rule r = checks[i].r;

		setup();
		r.kind = r.kind ? r.kind : DROP;
		r.src = r.dst = r.local = LNET_NID_ANY;
		UNIT_EQUAL(add(&r), checks[i].rc, checks[i].name);
		UNIT_EQUAL(lnet_rule_at(&w->ln, r.kind, 0, NULL), checks[i].rc ? -ENOENT : 0,
			   checks[i].name);
		if (checks[i].rc)
			CU_ASSERT_PTR_NULL(w->ln.fault);
		teardown();
	}
}

static void test_no_memory(void)
{
	struct lnet_rule r = rule_of(1, 0);
	unsigned int nth;

	setup();
	for (nth = 1; nth <= 2; nth++) {
		unit_fail_alloc(nth);
		UNIT_EQUAL(add(&r), -ENOMEM, "no memory");
	}
	unit_fail_alloc(0);
	UNIT_EQUAL(rx(), 0, "nothing was added");
	UNIT_EQUAL(add(&r), 0, "later");
	UNIT_EQUAL(rx(), 1, "works");
	teardown();
}

/* ---- matches --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	/* host 0: any; 0xffff: any on the net */
	u16 src, src_net, dst, dst_net, local, local_net;
	u32 msg_mask;
	u64 portal_mask;
	u32 type, portal;
	bool hit;
} matching[] = {
	{ "any", .type = LNET_MSG_PUT, .hit = true },
	{ "source", .src = 50, .src_net = 1, .hit = true },
	{ "other source", .src = 51, .src_net = 1 },
	{ "same host of another net", .src = 50, .src_net = 2 },
	{ "any source of the net", .src = 0xffff, .src_net = 1, .hit = true },
	{ "any source of another net", .src = 0xffff, .src_net = 2 },
	{ "destination", .dst = 1, .dst_net = 1, .hit = true },
	{ "other destination", .dst = 2, .dst_net = 1 },
	{ "any destination of the net", .dst = 0xffff, .dst_net = 1, .hit = true },
	{ "local NID", .local = 1, .local_net = 1, .hit = true },
	{ "other local NID", .local = 2, .local_net = 2 },
	{ "any local NID of the net", .local = 0xffff, .local_net = 1, .hit = true },
	{ "source yes, destination no", .src = 50, .src_net = 1, .dst = 9, .dst_net = 1 },
	{ "type", .msg_mask = 1 << LNET_MSG_ACK, .type = LNET_MSG_ACK, .hit = true },
	{ "other type", .msg_mask = 1 << LNET_MSG_ACK, .type = LNET_MSG_REPLY },
	{ "no type: ACK", .type = LNET_MSG_ACK, .hit = true },
	{ "no type: REPLY", .type = LNET_MSG_REPLY, .hit = true },
	{ "HELLO never", .type = LNET_MSG_HELLO },
	{ "portal of a PUT", .portal_mask = 1ULL << 63, .type = LNET_MSG_PUT, .portal = 63,
	  .hit = true },
	{ "portal of a marked PUT", .portal_mask = 1 << 4, .type = LNET_MSG_PUT, .portal = 68,
	  .hit = true },
	{ "other portal of a PUT", .portal_mask = 1 << 4, .type = LNET_MSG_PUT, .portal = 5 },
	{ "portal of a GET", .portal_mask = 1 << 4, .type = LNET_MSG_GET, .portal = 4,
	  .hit = true },
	{ "portal: no ACK", .portal_mask = 1 << 4, .type = LNET_MSG_ACK },
	{ "portal: no REPLY", .portal_mask = 1 << 4, .type = LNET_MSG_REPLY },
	{ "portal and GET: no PUT", .portal_mask = 1 << 4, .msg_mask = 1 << LNET_MSG_GET,
	  .type = LNET_MSG_PUT, .portal = 4 },
};

static void pattern(struct lnet_nid *nid, u16 host, u16 net)
{
	*nid = LNET_NID_ANY;
	if (host == 0xffff)
		lnet_nid_from_nid4(nid, (u64)lnet_net_make(LNET_LND_TCP, net) << 32 | 0xffffffff);
	else if (host)
		world_nid(nid, net, host);
}

static void test_matching(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(matching); i++) {
		struct lnet_rule r = rule_of(1, 0);

		setup();
		pattern(&r.src, matching[i].src, matching[i].src_net);
		pattern(&r.dst, matching[i].dst, matching[i].dst_net);
		pattern(&r.local, matching[i].local, matching[i].local_net);
		r.types = matching[i].msg_mask;
		r.portals = matching[i].portal_mask;
		msg.type = matching[i].type;
		if (msg.type == LNET_MSG_PUT)
			msg.msg.put.ptl_index = matching[i].portal;
		else if (msg.type == LNET_MSG_GET)
			msg.msg.get.ptl_index = matching[i].portal;
		UNIT_EQUAL(add(&r), 0, matching[i].name);
		UNIT_EQUAL(rx(), matching[i].hit, matching[i].name);
		UNIT_EQUAL(get(DROP, 0), 0, matching[i].name);
		UNIT_EQUAL(got.info.nr_match, matching[i].hit, matching[i].name);
		teardown();
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static void test_rate(void)
{
	static const u32 rates[] = { 1, 2, 3, 7, 100 };
	unsigned int i, k, n;
	bool elsewhere = false;

	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		struct lnet_rule r = rule_of(rates[i], 0);

		setup();
		add(&r);
		if (rates[i] == 2) {
			UNIT_EQUAL(rx(), 1, "of a rate of 2 the very first");
			UNIT_EQUAL(rx(), 0, "and then none of this window");
		}
		for (k = 0; k < 50; k++) {
			unsigned int seen = 0;

			for (n = 0; n < rates[i]; n++)
				if (rx()) {
					seen++;
					elsewhere |= n != 0;
				}
			UNIT_EQUAL(seen, 1, "exactly one in each window");
		}
		get(DROP, 0);
		UNIT_EQUAL(got.info.nr_hit, 50 + (rates[i] == 2), "counted");
		UNIT_EQUAL(got.info.nr_match, 50 * rates[i] + (rates[i] == 2 ? 2 : 0), "counted");
		UNIT_EQUAL(got.info.nr_by_type[LNET_MSG_PUT], got.info.nr_hit, "by type");
		UNIT_EQUAL(lnet_fault_count(&w->ln, false), 0,
			   "what comes in is counted by the receiver");
		teardown();
	}
	CU_ASSERT_TRUE(elsewhere);
}

static void test_interval(void)
{
	struct lnet_rule r = rule_of(0, 2);
	unsigned int nr[20] = { 0 }, i, late = 0;
	u64 begin_ns;

	setup();
	add(&r);
	begin_ns = pass.now_ns;
	for (i = 0; i < 40000; i++, pass.now_ns += NSEC_PER_MSEC)
		if (rx()) {
			nr[(pass.now_ns - begin_ns) / (2 * SEC)]++;
			late += (pass.now_ns - begin_ns) % (2 * SEC) >= SEC;
		}
	for (i = 0; i < 20; i++)
		UNIT_EQUAL(nr[i], 1, "one in each window of 2 s");
	CU_ASSERT_TRUE(late > 2 && late < 18);
	pass.now_ns += 1000 * SEC;
	for (i = 0; i < 3; i++)
		pass.now_ns += rx() ? 0 : 2 * SEC;
	CU_ASSERT_TRUE(rx_many(100) <= 1);
	teardown();
}

static void test_random_and_all(void)
{
	struct lnet_rule r = rule_of(0, 1);
	unsigned int nr;

	setup();
	r.random = 1;
	add(&r);
	nr = rx_many(10000);
	CU_ASSERT_TRUE(nr > 4700 && nr < 5300);
	del(DROP, &LNET_NID_ANY, &LNET_NID_ANY);
	r = rule_of(9, 0);
	r.drop_all = 1;
	add(&r);
	UNIT_EQUAL(rx_many(100), 100, "all, received");
	UNIT_EQUAL(tx(), LNET_OK, "all, sent: lost silently");
	teardown();
}

/* ---- effects --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	u32 mask;
	u8 when;
	u32 outcomes;		/* that are possible */
} doings[] = {
	{ "dbg-005 local timeout", 1 << LNET_LOCAL_TIMEOUT, 0, 1 << LNET_LOCAL_TIMEOUT },
	{ "dbg-015 remote timeout", 1 << LNET_REMOTE_TIMEOUT, 0, 1 << LNET_REMOTE_TIMEOUT },
	{ "dbg-020 network timeout", 1 << LNET_NETWORK_TIMEOUT, 0, 1 << LNET_NETWORK_TIMEOUT },
	{ "first of the failures", 1 << LNET_LOCAL_INTERRUPT, 0, 1 << LNET_LOCAL_INTERRUPT },
	{ "two of them", 1 << 3 | 1 << 7, 0, 1 << 3 | 1 << 7 },
	{ "any", 0xffffffff, 0, 0x7fe },
	{ "after posting", 0, 1, 1 << LNET_NETWORK_TIMEOUT },
	{ "after posting, named", 1 << LNET_LOCAL_ERROR, 1, 1 << LNET_LOCAL_ERROR },
	{ "dbg-035 dbg-040 after completion", 0, 2, 1 << LNET_ACKNOWLEDGED },
	{ "after completion, named", 1 << LNET_REMOTE_TIMEOUT, 2, 1 << LNET_ACKNOWLEDGED },
};

static void test_send(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(doings); i++) {
		struct lnet_rule r = rule_of(1, 0);
		u32 seen = 0;

		setup();
		r.outcomes = doings[i].mask;
		r.when = doings[i].when;
		UNIT_EQUAL(add(&r), 0, doings[i].name);
		for (k = 0; k < 300; k++)
			seen |= 1u << tx();
		UNIT_EQUAL(seen, doings[i].outcomes, doings[i].name);
		UNIT_EQUAL(rx(), 0, "not on receive");
		UNIT_EQUAL(lnet_fault_count(&w->ln, false), 300, "counted");
		teardown();
	}
}

static void test_sides(void)
{
	struct lnet_rule r = rule_of(1, 0);

	setup();
	UNIT_EQUAL(rx(), 0, "no rule");
	UNIT_EQUAL(tx(), -1, "no rule");
	add(&r);
	UNIT_EQUAL(tx(), -1, "silent rules do not touch what is sent");
	r.outcomes = 1 << LNET_LOCAL_TIMEOUT;
	r.local = w->ni[1]->nid;
	add(&r);
	UNIT_EQUAL(tx(), -1, "another NI sends");
	r.local = w->ni[0]->nid;
	add(&r);
	UNIT_EQUAL(tx(), LNET_LOCAL_TIMEOUT, "this NI sends");
	get(DROP, 2);
	UNIT_EQUAL(got.info.nr_match, 0, "rules of the other side count nothing");
	teardown();
}

static void test_delay(void)
{
	struct lnet_rule r = rule_of(2, 0);

	setup();
	r.kind = DELAY;
	r.delay_ns = 3 * SEC;
	r.types = 1 << LNET_MSG_PUT;
	UNIT_EQUAL(delay(), 0, "no rule");
	add(&r);
	UNIT_EQUAL(delay(), 3 * SEC, "the first of two");
	UNIT_EQUAL(delay(), 0, "not the second");
	msg.type = LNET_MSG_ACK;
	UNIT_EQUAL(delay(), 0, "other type");
	UNIT_EQUAL(lnet_fault_count(&w->ln, true), 1, "counted");
	UNIT_EQUAL(lnet_fault_count(&w->ln, false), 0, "not as drop");
	UNIT_EQUAL(rx(), 0, "nothing is dropped");
	lnet_fault_count_reset(&w->ln);
	UNIT_EQUAL(lnet_fault_count(&w->ln, true), 0, "reset");
	msg.type = LNET_MSG_PUT;
	r.rate = 1;
	r.delay_ns = SEC;
	add(&r);
	UNIT_EQUAL(delay(), SEC, "the most recent rule alone holds the message");
	UNIT_EQUAL(fate_of().holder, 2, "and is known as its holder");
	UNIT_EQUAL(get(DELAY, 1), 0, "the older rule");
	UNIT_EQUAL(got.info.nr_match, 2, "does not count the message");
	UNIT_EQUAL(del_id(DELAY, 2), 1, "the most recent rule");
	UNIT_EQUAL(released_id, 2, "the messages that it held are sent");
	teardown();
}

static void test_order(void)
{
	struct lnet_rule r = rule_of(1, 0);

	setup();
	r.outcomes = 1 << LNET_LOCAL_TIMEOUT;
	add(&r);
	r.outcomes = 1 << LNET_REMOTE_DROPPED;
	r.rate = 2;
	add(&r);
	UNIT_EQUAL(tx(), LNET_REMOTE_DROPPED, "the most recent");
	UNIT_EQUAL(tx(), LNET_LOCAL_TIMEOUT, "when that does not hit, the next");
	UNIT_EQUAL(get(DROP, 0), 0, "the first");
	UNIT_EQUAL(got.r.rate, 2, "listed most recent first");
	UNIT_EQUAL(got.info.nr_match, 2, "checked for both messages");
	UNIT_EQUAL(get(DROP, 1), 0, "the second");
	UNIT_EQUAL(got.info.nr_match, 1, "checked for the other message");
	UNIT_EQUAL(get(DROP, 2), -ENOENT, "past the end");
	UNIT_EQUAL(get(DELAY, 0), -ENOENT, "no delay rule");
	UNIT_EQUAL(got.info.id, 1, "the oldest has the first ID");
	UNIT_EQUAL(del_id(DELAY, 1), 0, "no delay rule has the ID");
	UNIT_EQUAL(del_id(DROP, 1), 1, "the drop rule with the ID");
	UNIT_EQUAL(get(DROP, 0), 0, "the other one");
	UNIT_EQUAL(got.info.id, 2, "has the next ID");
	UNIT_EQUAL(get(DROP, 1), -ENOENT, "and is the only one");
	teardown();
}

static void test_keep(void)
{
	struct lnet_rule r = rule_of(1, 0);
	struct lnet_nid a, b;
	unsigned int i;

	setup();
	world_nid(&a, 1, 60);
	world_nid(&b, 1, 61);
	for (i = 0; i < 4; i++) {
		r.src = i & 1 ? a : b;
		r.dst = i & 2 ? a : b;
		UNIT_EQUAL(add(&r), 0, "add");
	}
	r = rule_of(2, 0);
	r.kind = DELAY;
	r.delay_ns = 1;
	add(&r);
	UNIT_EQUAL(del(LNET_NR_RULE_KINDS, &LNET_NID_ANY, &LNET_NID_ANY), 0,
		   "a deletion of all rules of faults.def deletes none of stock's");
	UNIT_EQUAL(lnet_rule_get(&w->ln, 0, &r, &got.info), -ENOENT, "and a list has none");
	UNIT_EQUAL(del(DROP, &a, &b), 1, "by both");
	UNIT_EQUAL(del(DROP, &a, &b), 0, "gone");
	UNIT_EQUAL(del(DROP, &LNET_NID_ANY, &a), 2, "by destination");
	UNIT_EQUAL(del(DROP, &LNET_NID_ANY, &LNET_NID_ANY), 1, "all drop rules");
	UNIT_EQUAL(get(DELAY, 0), 0, "delay rules stay");
	UNIT_EQUAL(delay(), 1, "first of two");
	lnet_rules_reset(&w->ln, DROP);
	UNIT_EQUAL(delay(), 0, "reset of the other kind changes nothing");
	lnet_rules_reset(&w->ln, DELAY);
	UNIT_EQUAL(get(DELAY, 0), 0, "still there");
	UNIT_EQUAL(got.info.nr_match + got.info.nr_hit + got.info.nr_by_type[LNET_MSG_PUT], 0,
		   "reset zeroes");
	UNIT_EQUAL(delay(), 1, "and restarts the window");
	r = rule_of(1, 0);
	for (i = 1; i < LNET_RULES_MAX; i++)
		UNIT_EQUAL(add(&r), 0, "add");
	UNIT_EQUAL(add(&r), -ENOSPC, "too many");
	teardown();
}

static void test_ni_down(void)
{
	struct lnet_nid none;

	setup();
	world_nid(&none, 9, 9);
	UNIT_EQUAL(lnet_fault_ni_down(&w->ln, &none, true), -ENOENT, "no such NI");
	UNIT_EQUAL(w->kicks, 0, "nobody is woken for nothing");
	UNIT_EQUAL(lnet_fault_ni_down(&w->ln, &w->ni[1]->nid, true), 0, "down");
	UNIT_EQUAL(lnet_ni_marked(w->ni[1], LNET_MARK(RULE_DOWN)), 1, "down");
	UNIT_EQUAL(lnet_ni_marked(w->ni[0], LNET_MARK(RULE_DOWN)), 0, "not the other");
	UNIT_EQUAL(w->sh.link_work, 1, "a worker acts");
	UNIT_EQUAL(w->kicks, 1, "and is woken");
	UNIT_EQUAL(lnet_fault_ni_down(&w->ln, &w->ni[1]->nid, false), 0, "up");
	UNIT_EQUAL(lnet_ni_marked(w->ni[1], LNET_MARK(RULE_DOWN)), 0, "up");
	UNIT_EQUAL(w->kicks, 2, "again");
	teardown();
}

/* A NID fails as often as requested, counted for messages to it and from it together. */
static void test_peer_fails(void)
{
	struct lnet_nid other;
	unsigned int i;

	setup();
	world_nid(&other, 1, 51);
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 0), 0, "no more of nothing");
	CU_ASSERT_PTR_NULL(w->ln.fault);
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 3), 0, "three times");
	UNIT_EQUAL(lnet_fault_peer_fails(&w->ln, &other), 0, "not another one");
	UNIT_EQUAL(rx(), 1, "first");
	UNIT_EQUAL(lnet_fault_peer_fails(&w->ln, &msg.src_nid), 1, "second");
	UNIT_EQUAL(rx(), 1, "third");
	UNIT_EQUAL(rx(), 0, "not any more");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, -1), 0, "always");
	UNIT_EQUAL(rx_many(1000), 1000, "always");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 1), 0, "once, in its place");
	UNIT_EQUAL(rx_many(5), 1, "once");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &LNET_NID_ANY, -1), 0, "everybody");
	UNIT_EQUAL(lnet_fault_peer_fails(&w->ln, &other), 1, "everybody");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &other, -1), 0, "and one");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 0), 0, "no more of who has none");
	UNIT_EQUAL(rx(), 1, "everybody");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &LNET_NID_ANY, 0), 0, "no more at all");
	UNIT_EQUAL(rx(), 0, "nobody");
	UNIT_EQUAL(lnet_fault_peer_fails(&w->ln, &other), 0, "nobody");
	for (i = 0; i < LNET_FAULT_FAILS; i++) {
		world_nid(&other, 2, (u16)(i + 1));
		UNIT_EQUAL(lnet_fault_peer(&w->ln, &other, 1), 0, "many");
	}
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 1), -ENOSPC, "too many");
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &other, 2), 0, "which are there");
	teardown();
	setup();
	unit_fail_alloc(1);
	UNIT_EQUAL(lnet_fault_peer(&w->ln, &msg.src_nid, 1), -ENOMEM, "no memory");
	unit_fail_alloc(0);
	UNIT_EQUAL(rx(), 0, "nothing was added");
	teardown();
}

UNIT_SUITE(stock_rules,
	   { "dbg-005: rules that make no sense are refused", test_checks },
	   { "dbg-005: out of memory leaves no half rule", test_no_memory },
	   { "dbg-005: what a rule matches", test_matching },
	   { "stt-005 dbg-005: of each window of a rate exactly one", test_rate },
	   { "dbg-005: of each interval at most one", test_interval },
	   { "dbg-005: random and all", test_random_and_all },
	   { "dbg-005 dbg-015 dbg-020 dbg-035 dbg-040: outcomes at the driver seam", test_send },
	   { "dbg-005: receiver's rules and sender's rules", test_sides },
	   { "dbg-005: delay", test_delay },
	   { "dbg-005: most recent first", test_order },
	   { "dbg-005: delete, list, reset, limit", test_keep },
	   { "NIDs that fail a number of times", test_peer_fails },
	   { "dbg-025 dbg-030: an interface held down", test_ni_down })
