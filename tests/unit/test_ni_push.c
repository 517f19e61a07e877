/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pushes after an operator adds, drains or removes an interface: their contents and times. */
#include "service/service.h"
#include "manage/manage.h"
#include "rails.h"

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

/* Pushes of node 1 since the last call. */
static unsigned int pushes(void)
{
	static unsigned int last;
	unsigned int nr = (unsigned int)rails_stat(1, LNET_C_pushes_sent), was = last;

	last = nr;
	return nr > was ? nr - was : 0;
}

static void begin(void)
{
	rails_begin(&strangers);
	pushes();
}

static void send(unsigned int from, unsigned int to)
{
	unsigned int tag = rails_get(from, to, 8, 0);

	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "delivered");
}

/*
 * Ping infos for node 0, as a stock peer and as a peer with the extension. The list for a stock
 * peer, which ignores "down", omits a drained interface unless no other stays.
 */
static void test_drained(void)
{
	struct lnet_nid nid[2];
	struct lnet_peer stock = { .features = LNET_FEAT_MULTI_RAIL };
	struct lnet_peer ours = { .features = LNET_FEAT_MULTI_RAIL | LNET_FEAT_OPEN };
	const struct lnet_peer *peer[2] = { &stock, &ours };
	static const unsigned int want[4][2] = { { 2, 2 }, { 1, 2 }, { 2, 2 }, { 2, 2 } };
	struct lnet_sbuf *info;
	struct lnet_pinginfo pi;
	struct lnet *ln;
	unsigned int i, k;

	begin();
	ln = rails.node[1].ln;
	nid[0] = rails_nid(1, 0);
	nid[1] = rails_nid(1, 1);
	for (i = 0; i < 4; i++) {
		if (i == 1)
			UNIT_EQUAL(lnet_ni_drain(ln, &nid[1], true), 0, "drain");
		if (i == 2)
			UNIT_EQUAL(lnet_ni_drain(ln, &nid[0], true), 0, "drain the last");
		if (i == 3) {
			UNIT_EQUAL(lnet_ni_drain(ln, &nid[0], false), 0, "undrain");
			UNIT_EQUAL(lnet_ni_drain(ln, &nid[1], false), 0, "undrain");
		}
		for (k = 0; k < 2; k++) {
			info = lnet_ping_info_for(ln, peer[k]);
			UNIT_EQUAL(lnet_pinginfo_decode(&pi, info->data, info->len, NULL, 0),
				   -ENOBUFS, "info");
			UNIT_EQUAL(pi.nr_seen, want[i][k], k ? "ours" : "stock");
			UNIT_EQUAL(pi.seq, ln->ping_seq, "sequence");
			lnet_sbuf_put(info);
		}
	}
	rails_end();
}

/* An interface that an operator adds or drains is advertised at once, not after push_delay. */
static void test_at_once(void)
{
	struct lnet_nid nid;

	begin();
	nid = rails_nid(1, 1);
	send(0, 1);
	rails_ni_del(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	send(0, 1);
	pushes();
	rails_ni_add(1, 1);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_nids(0, 1), 2, "interfaces known");
	UNIT_EQUAL(pushes(), 1, "pushes");
	send(0, 1);
	pushes();
	UNIT_EQUAL(lnet_ni_drain(rails.node[1].ln, &nid, true), 0, "drain");
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(pushes(), 1, "pushes");
	rails_end();
}

/* Peers are notified before an interface is removed, and the list no longer contains it. */
static void test_leaves(void)
{
	begin();
	send(0, 1);
	pushes();
	rails.node[1].ln->tun.drain_time = NSEC_PER_SEC;
	rails_ni_del(1, 1);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_nids(0, 1), 1, "interfaces known");
	UNIT_EQUAL(pushes(), 1, "pushes");
	rails_end();
}

static u64 sent(unsigned int node, unsigned int rail, enum lnet_ni_counter counter)
{
	struct lnet *ln = rails.node[node].ln;
	struct lnet_ni *ni = rails_ni(node, rail);
	unsigned int i;
	u64 nr = 0;

	for (i = 0; i < ln->nr_shards; i++)
		nr += ni->sh[i].c[counter];
	return nr;
}

/* A push from an interface that the peer does not know yet looks like one of another node. */
static void test_known_source(void)
{
	unsigned int i;

	begin();
	send(0, 1);
	for (i = 0; i < 4; i++) {
		rails_ni_del(1, 1);
		rails_run(2 * NSEC_PER_SEC);
		send(0, 1);
		pushes();
		rails_ni_add(1, 1);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(pushes(), 1, "pushes");
		UNIT_EQUAL(sent(1, 1, LNET_NIC_sent_put), 0, "pushes from the new interface");
		UNIT_EQUAL(rails_nids(0, 1), 2, "interfaces known");
	}
	rails_end();
}

static void ignore(void *arg, int status, const u8 *info, u32 len, const struct lnet_nid *primary,
		   uint64_t rtt_ns)
{
	*(int *)arg = status;
}

/*
 * Counts the replies to one ping of a leaving interface of node 1 that are sent by this interface.
 */
static u64 ping_replies(bool stock)
{
	struct lnet_nid nid;
	int status = 1;
	u64 nr;

	rails_begin(NULL);
	nid = rails_nid(1, 0);
	if (stock)
		rails_peer(1, 0)->features &= ~LNET_FEAT_OPEN;
	lnet_ni_mark(rails_ni(1, 0), LNET_MARK(DRAINED) | LNET_MARK(LEAVING), 1);
	nr = sent(1, 0, LNET_NIC_sent_reply);
	UNIT_EQUAL(lnet_ping(rails.node[0].ln, &nid, NULL, NSEC_PER_SEC, ignore, &status), 0,
		   "a ping");
	rails_pump();
	UNIT_EQUAL(status, 0, "reply");
	nr = sent(1, 0, LNET_NIC_sent_reply) - nr;
	lnet_ni_mark(rails_ni(1, 0), LNET_MARK(DRAINED) | LNET_MARK(LEAVING), 0);
	rails_end();
	return nr;
}

/* By its reply the peer proves the new interface, which it may not know yet. */
static void test_ping_reply(void)
{
	UNIT_EQUAL(ping_replies(false), 1, "ours");
	UNIT_EQUAL(ping_replies(true), 0, "stock");
}

/* The peer may have removed a leaving interface, and closes the connection of a reply from it. */
static void test_get_reply(void)
{
	unsigned int i;
	u64 nr;

	begin();
	for (i = 0; i < 4; i++)
		send(0, 1);
	lnet_ni_mark(rails_ni(1, 0), LNET_MARK(DRAINED) | LNET_MARK(LEAVING), 1);
	nr = sent(1, 0, LNET_NIC_sent_reply);
	for (i = 0; i < 8; i++)
		send(0, 1);
	UNIT_EQUAL(sent(1, 0, LNET_NIC_sent_reply), nr, "replies by the leaving interface");
	lnet_ni_mark(rails_ni(1, 0), LNET_MARK(DRAINED) | LNET_MARK(LEAVING), 0);
	rails_end();
}

/* How often a request with node 0's interface of rail 1 as its source is sent over that rail. */
static unsigned int by_source(bool stock, bool drained, bool leaving)
{
	struct lnet_xfer x;
	unsigned int tag, nr;

	rails_begin(NULL);
	if (stock)
		rails_peer(0, 1)->features &= ~LNET_FEAT_OPEN;
	lnet_ni_mark(rails_ni(0, 1), LNET_MARK(DRAINED), drained);
	lnet_ni_mark(rails_ni(0, 1), LNET_MARK(LEAVING), leaving);
	rails_xfer(&x, 1);
	x.self = rails_nid(0, 1);
	x.target.nid = rails_nid(1, 1);
	x.flags = LNET_ACK;
	tag = ++rails.nr_tags;
	x.op_ptr = (void *)(unsigned long)tag;
	UNIT_EQUAL(lnet_put(rails.node[0].ln, &x), 0, "put");
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	nr = rails.req[tag].on_rail[1];
	UNIT_EQUAL(rails.req[tag].on_rail[0], 1 - nr, "one attempt");
	lnet_ni_mark(rails_ni(0, 1), LNET_MARK(DRAINED) | LNET_MARK(LEAVING), 0);
	rails_end();
	return nr;
}

/* A stock peer whose list lacks an interface does not match requests from it. */
static void test_source(void)
{
	UNIT_EQUAL(by_source(true, false, false), 1, "stock, in service");
	UNIT_EQUAL(by_source(true, true, false), 0, "stock, drained");
	UNIT_EQUAL(by_source(true, true, true), 0, "stock, removed");
	UNIT_EQUAL(by_source(false, true, false), 1, "ours, drained");
	UNIT_EQUAL(by_source(false, true, true), 0, "ours, removed");
}

UNIT_SUITE(ni_push,
	{ "a drained interface leaves the list of a stock peer", test_drained },
	{ "peers are notified at once of changes by an operator", test_at_once },
	{ "peers are notified of a removal before", test_leaves },
	{ "a push leaves by an interface that the peer knows", test_known_source },
	{ "a leaving interface replies to its pings", test_ping_reply },
	{ "a leaving interface sends no reply to a GET", test_get_reply },
	{ "no request has a source that the peer's list is without", test_source },
)
