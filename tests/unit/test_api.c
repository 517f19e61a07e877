/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The data calls: which requests they reject, and what they guarantee. */
#include "rails.h"
#include "fault/fault.h"

static void test_refused(void)
{
	struct lnet *ln;
	struct lnet_xfer x;
	unsigned int live;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	live = ln->shard[0].nr_live;
	rails_xfer(&x, 1);
	x.portal = 64;
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "portal 64");
	x.portal = 0;
	UNIT_EQUAL(lnet_get(ln, &x), -EINVAL, "the reserved portal");
	rails_xfer(&x, 1);
	x.length = RAILS_MEM + 1;
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "longer than the MD");
	rails_xfer(&x, 1);
	x.md_offset = RAILS_MEM - 7;
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "past the end of the MD");
	rails_xfer(&x, 1);
	x.self = rails_nid(2, 0);
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "not an interface of ours");
	rails_xfer(&x, 1);
	x.target.nid = LNET_NID_ANY;
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "to anybody");
	rails_xfer(&x, 1);
	x.md.cookie ^= 0x10000;
	UNIT_EQUAL(lnet_put(ln, &x), -ENOENT, "no such MD");
	rails_xfer(&x, 1);
	x.md = rails.node[0].target;
	UNIT_EQUAL(lnet_put(ln, &x), -ENOENT, "an attached MD");
	UNIT_EQUAL(ln->shard[0].nr_live, live, "nothing was started");
	rails_end();
}

/* While a fault is set for a peer, the node neither sends to the peer nor accepts its messages. */
static void test_failing_peer(void)
{
	struct lnet *ln, *other;
	struct lnet_nid to, from;
	struct lnet_xfer x;
	unsigned int live, tag;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	other = rails.node[1].ln;
	live = ln->shard[0].nr_live;
	to = rails_nid(1, 0);
	from = rails_nid(0, 0);
	rails_xfer(&x, 1);
	UNIT_EQUAL(lnet_fault_peer(ln, &to, 2), 0, "twice");
	UNIT_EQUAL(lnet_put(ln, &x), -EIO, "a PUT");
	UNIT_EQUAL(lnet_get(ln, &x), -EIO, "a GET");
	UNIT_EQUAL(ln->shard[0].nr_live, live, "nothing was started");
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "then no more");
	UNIT_EQUAL(lnet_fault_peer(other, &from, -1), 0, "what comes from the first rail");
	from = rails_nid(0, 1);
	UNIT_EQUAL(lnet_fault_peer(other, &from, -1), 0, "and from the second");
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(60 * NSEC_PER_SEC);
	CU_ASSERT(rails_done(tag) && rails.req[tag].status);
	CU_ASSERT(rails_stat(1, LNET_C_fault_drops) > 0);
	UNIT_EQUAL(lnet_fault_peer(other, &LNET_NID_ANY, 0), 0, "no more");
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(60 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "as before");
	rails_end();
}

/*
 * With requests_max requests in flight, a further one fails; after one has ended, it is accepted.
 */
static void test_too_many(void)
{
	struct lnet *ln;
	struct lnet_xfer x;
	unsigned int i, tag;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "met");
	UNIT_EQUAL(lnet_tunable_set(ln, "requests_max", 64), 0, "bound");
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	while (ln->shard[0].nr_live < 64)
		rails_put(0, 1, 8, LNET_ACK, 0);
	rails_xfer(&x, 1);
	for (i = 0; i < 3; i++)
		UNIT_EQUAL(lnet_put(ln, &x), -EAGAIN, "one more");
	UNIT_EQUAL(lnet_get(ln, &x), -EAGAIN, "one more");
	UNIT_EQUAL(rails_stat(0, LNET_C_requests_denied), 4, "counted");
	UNIT_EQUAL(ln->shard[0].nr_live, 64, "nothing was started");
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 0);
	rails_run(20 * NSEC_PER_SEC);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_stat(0, LNET_C_requests_denied), 4, "when others have ended");
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "when others have ended");
	rails_end();
}

/* A request to a peer that is being removed ends exactly once. */
static void test_leaving_peer(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_peer(0, 1)->deleted = 1;
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_peer(0, 1)->deleted = 0;
	rails_pump();
	UNIT_EQUAL(rails_done(tag), 1, "ended");
	UNIT_EQUAL(rails.req[tag].status, -EHOSTUNREACH, "nowhere to go");
	UNIT_EQUAL(rails.req[tag].unknown, false, "certainly not delivered");
	rails_end();
}

static void test_no_path(void)
{
	struct lnet_xfer x;

	rails_begin(NULL);
	rails_xfer(&x, 1);
	x.op_ptr = (void *)(unsigned long)++rails.nr_tags;
	CU_ASSERT(!lnet_nid_parse(&x.target.nid, "9.9.9.9@tcp7"));
	UNIT_EQUAL(lnet_put(rails.node[0].ln, &x), 0, "taken");
	rails_pump();
	UNIT_EQUAL(rails.req[rails.nr_tags].status, -EHOSTUNREACH, "no common net");
	UNIT_EQUAL(rails_done(rails.nr_tags), 1, "ended");
	rails_end();
}

/* The errno states why no connection was made; the outcome is the same. */
static void test_unconnected(void)
{
	static const struct {
		enum rails_fate fate;
		int err;
	} rows[] = {
		{ FATE_FAIL, -EHOSTUNREACH },
		{ FATE_REJECT, -ECONNRESET },
		{ FATE_CUT, -ETIMEDOUT },
	};
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_on(0, -1, RAILS_ANY, rows[i].fate, LNET_REMOTE_DROPPED, -1);
		tag = rails_put(0, 1, 8, LNET_ACK, NSEC_PER_SEC);
		rails_run(20 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_done(tag), 1, "ended");
		UNIT_EQUAL(rails.req[tag].status, rows[i].err, "why");
		UNIT_EQUAL(rails.req[tag].unknown, false, "not delivered");
		rails_end();
	}
}

/* Checks how often a request with a given source is sent over its rail, and over the other rail. */
static void from_source(unsigned int rail, enum rails_fate fate, bool stock, const u8 on_rail[2])
{
	struct lnet_xfer x;
	unsigned int tag;

	rails_begin(&(struct rails_cfg){ .quiet = stock });
	rails.node[1].stock = stock;
	rails_xfer(&x, 1);
	x.self = rails_nid(0, rail);
	x.target.nid = rails_nid(1, rail);
	x.flags = LNET_ACK;
	tag = ++rails.nr_tags;
	x.op_ptr = (void *)(unsigned long)tag;
	rails_on(0, -1, RAILS_PUT, fate, LNET_LOCAL_DROPPED, 1);
	UNIT_EQUAL(lnet_put(rails.node[0].ln, &x), 0, "put");
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	UNIT_EQUAL(rails.req[tag].on_rail[rail], on_rail[0], "by the interface asked for");
	UNIT_EQUAL(rails.req[tag].on_rail[!rail], on_rail[1], "by the other one");
	rails_end();
}

/* A given source NI is used until it fails or is unresponsive; for a stock peer always. */
static void test_source(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		from_source(i, FATE_DELIVER, false, (const u8[]){ 1, 0 });
		from_source(i, FATE_FAIL, false, (const u8[]){ 1, 1 });
		from_source(i, FATE_LOSE, false, (const u8[]){ 1, 1 });
		from_source(i, FATE_FAIL, true, (const u8[]){ 2, 0 });
	}
}

/* lnt-045: a peer that is not multi-rail sees one interface of this node. */
static void test_single_rail_peer(void)
{
	static const enum lnet_outcome how[] = { LNET_LOCAL_TIMEOUT, LNET_REMOTE_TIMEOUT,
						 LNET_NETWORK_TIMEOUT };
	struct rails_cfg cfg = { .single = true };
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		rails_begin(&cfg);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, how[i], 1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(4 * NSEC_PER_SEC);
		UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "sent again");
		UNIT_EQUAL(rails.req[tag].on_rail[0], 2, "from the same interface");
		rails_end();
	}
}

static const char *const two_nids[RAILS_NODES][RAILS_RAILS] = {
	{ "10.0.0.1@tcp", "10.0.1.1@tcp" }, { "10.0.0.2@tcp", NULL },
};

/*
 * lnt-045: node 0 has two NIs on the net of a peer that is not multi-rail. Failures lower the
 * health of the sticky NI, and the other NI is at full health. All retries and further requests use
 * the sticky NI nevertheless.
 */
static void test_sticky_on_two(void)
{
	static const enum lnet_outcome how[] = { LNET_LOCAL_TIMEOUT, LNET_LOCAL_DROPPED,
						 LNET_LOCAL_ERROR, LNET_NETWORK_TIMEOUT };
	struct rails_cfg cfg = { .nr_nodes = 2, .nr_shards = 1, .single = true, .nids = two_nids };
	unsigned int i, k, tag, sticky;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		rails_begin(&cfg);
		rails_tune(0, "retry_count", 3);
		rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(RAILS_MS);
		sticky = rails.last.rail;
		for (k = 0; k < 4; k++) {
			rails_on(0, (int)sticky, RAILS_PUT, FATE_FAIL, how[i], 3);
			tag = rails_put(0, 1, 8, LNET_ACK, 4 * NSEC_PER_SEC);
			rails_run(RAILS_MS);
			CU_ASSERT(atomic_read(&rails_ni(0, sticky)->health) < LNET_HEALTH_MAX);
			UNIT_EQUAL(atomic_read(&rails_ni(0, !sticky)->health), LNET_HEALTH_MAX,
				   "the other NI");
			rails_run(4 * NSEC_PER_SEC);
			rails_clear();
			UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "succeeds");
			UNIT_EQUAL(rails.req[tag].on_rail[sticky], 4, "all by the sticky NI");
			UNIT_EQUAL(rails.req[tag].on_rail[!sticky], 0, "none by the other");
		}
		rails_end();
	}
}

/* lnt-045: a hedge does not reveal another NI either, for example if an ACK is late. */
static void test_sticky_hedge(void)
{
	struct rails_cfg cfg = { .nr_nodes = 2, .nr_shards = 1, .single = true, .nids = two_nids };
	unsigned int i, tag, sticky;

	for (i = 0; i < 2; i++) {
		rails_begin(&cfg);
		rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(RAILS_MS);
		sticky = rails.last.rail;
		rails_on((int)i, -1, i ? RAILS_ACK : RAILS_PUT, FATE_LOSE, LNET_OK, -1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(NSEC_PER_SEC);
		UNIT_EQUAL(rails.req[tag].on_rail[!sticky], 0, "none by the other NI");
		rails_clear();
		rails_run(20 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_done(tag), 1, "ends");
		UNIT_EQUAL(rails.req[tag].on_rail[!sticky], 0, "none by the other NI");
		rails_end();
	}
}

/* stt-005, stt-010, stt-015: retries are counted by the end that failed, and by reason. */
static void test_resend_counters(void)
{
	struct lnet_ni *ni;
	struct lnet_peer_ni *pni;
	unsigned int i, rail;
	static const struct {
		enum lnet_outcome how;
		u64 local, remote, network;
	} rows[] = {
		{ LNET_LOCAL_TIMEOUT, 1, 0, 0 }, { LNET_REMOTE_TIMEOUT, 0, 1, 0 },
		{ LNET_NETWORK_TIMEOUT, 0, 0, 1 }, { LNET_LOCAL_DROPPED, 0, 0, 0 },
	};

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, rows[i].how, 1);
		rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
		rails_put(0, 1, 8, LNET_ACK, 0);
		rail = !rails.last.rail;
		rails_release();
		ni = rails_ni(0, rail);
		pni = rails_path(0, 1, rail)->pni;
		UNIT_EQUAL(ni->sh[0].c[LNET_NIC_resend_local_timeout], rows[i].local, "local");
		UNIT_EQUAL(pni->c[LNET_PNIC_resend_remote_timeout], rows[i].remote, "remote");
		UNIT_EQUAL(ni->sh[0].c[LNET_NIC_resend_network_timeout], rows[i].network, "both");
		UNIT_EQUAL(pni->c[LNET_PNIC_resend_network_timeout], rows[i].network, "both");
		UNIT_EQUAL(rails_stat(0, LNET_C_resend_count), 1, "all");
		UNIT_EQUAL(rails_stat(0, LNET_C_successful_resends), 1, "it helped");
		rails_end();
	}
}

/* lnd-045, lnd-050, lnd-055, lnd-060: each outcome has a counter, and penalizes the right ends. */
static void test_outcomes(void)
{
	static const struct {
		enum lnet_outcome how;
		enum lnet_counter c;
		bool local, remote;
	} rows[] = {
		{ LNET_LOCAL_TIMEOUT, LNET_C_local_timeout_count, true, false },
		{ LNET_NETWORK_TIMEOUT, LNET_C_network_timeout_count, true, true },
		{ LNET_REMOTE_TIMEOUT, LNET_C_remote_timeout_count, false, true },
	};
	unsigned int i, tag, rail;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_on(0, -1, RAILS_PUT, i ? FATE_POST_FAIL : FATE_FAIL, rows[i].how, 1);
		rails_on(0, -1, RAILS_CORE, FATE_KEEP, LNET_OK, -1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rail = !rails.last.rail;
		rails_pump();
		UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "by the other rail");
		UNIT_EQUAL(rails_stat(0, rows[i].c), 1, "counted");
		UNIT_EQUAL(atomic_read(&rails_ni(0, rail)->health), rows[i].local ? 900 : 1000,
			   "blame of the interface");
		UNIT_EQUAL(rails_path(0, 1, rail)->pni->health, rows[i].remote ? 900 : 1000,
			   "blame of the peer's");
		rails_end();
	}
}

/* lnt-055: a request that fails for lack of memory, or because the node stops, is not retried. */
static void test_not_resent(void)
{
	static const struct { enum lnet_outcome how; int status; } rows[] = {
		{ LNET_NO_MEMORY, -ENOMEM }, { LNET_SHUTDOWN, -ESHUTDOWN },
	};
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_on(0, -1, RAILS_PUT, FATE_FAIL, rows[i].how, 1);
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_pump();
		UNIT_EQUAL(rails.req[tag].status, rows[i].status, "told as it is");
		UNIT_EQUAL(rails_stat(0, LNET_C_resend_count), 0, "not sent again");
		rails_end();
	}
}

/* The longest timeout of a request is LNET_TIMEOUT_MAX_NS, one hour. */
static void test_for_ever(void)
{
	struct lnet_op *op;
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, U64_MAX);
	op = list_last_entry(&rails.node[0].ln->shard[0].live, struct lnet_op, all);
	UNIT_EQUAL(op->deadline_ns - rails.now_ns, LNET_TIMEOUT_MAX_NS, "an hour");
	rails_release();
	rails_pump();
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(rails.req[tag].status, 0, "well");
	rails_end();
}

/* A program reads the rails to a peer one after the other, until -ENOENT. */
static void test_rails_listed(void)
{
	struct lnet_rail_info info;
	struct lnet_nid peer, unknown, here, there;
	unsigned int i;

	rails_begin(NULL);
	peer = rails_nid(1, 1);
	unknown = rails_nid(3, 0);
	rails_path(0, 1, 1)->health = 700;
	for (i = 0; i < RAILS_RAILS; i++) {
		here = rails_nid(0, i);
		there = rails_nid(1, i);
		UNIT_EQUAL(lnet_rail_get(rails.node[0].ln, &peer, i, &info), 0, "a rail");
		CU_ASSERT_TRUE(lnet_nid_same(&info.here, &here));
		CU_ASSERT_TRUE(lnet_nid_same(&info.there, &there));
		UNIT_EQUAL(info.health, i == 1 ? 700 : 1000, "health");
	}
	UNIT_EQUAL(lnet_rail_get(rails.node[0].ln, &peer, i, &info), -ENOENT, "past the end");
	UNIT_EQUAL(lnet_rail_get(rails.node[0].ln, &unknown, 0, &info), -ENOENT, "no such peer");
	rails_path(0, 1, 1)->health = 1000;
	rails_end();
}

UNIT_SUITE(api,
	{ "what is refused starts nothing", test_refused },
	{ "who was told to fail", test_failing_peer },
	{ "no more than may be under way", test_too_many },
	{ "a peer that is being removed", test_leaving_peer },
	{ "no common net", test_no_path },
	{ "no connection: the errno states why", test_unconnected },
	{ "the source asked for", test_source },
	{ "lnt-045: a sticky NI with low health stays, although another NI is on the net",
	  test_sticky_on_two },
	{ "lnt-045: hedges use the sticky NI", test_sticky_hedge },
	{ "lnt-045: a peer without multi-rail is sent to again from the same interface",
	  test_single_rail_peer },
	{ "stt-005, stt-010, stt-015: resends by reason", test_resend_counters },
	{ "lnd-045, lnd-050, lnd-055, lnd-060, lnt-040: outcomes are told apart", test_outcomes },
	{ "lnt-055: what is not tried again", test_not_resent },
	{ "there is a longest time", test_for_ever },
	{ "a program reads all rails to a peer", test_rails_listed })
