/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shares of a router's buffers: for one gateway, one address, and many senders to one destination.
 * Node 1 is the router. The test writes the messages that it receives.
 */
#include "routed.h"

#define LARGE 4097U		/* needs a large buffer */
#define POOL 64U
#define SHARE (POOL / 4)	/* buffers of a sender; half of them for one destination */

static struct lnet_nid address;	/* the sender of all messages of rail 0 */

static void rx_address(struct lnet_ni *ni, const struct lnet_rx *rx, struct lnet_nid *nid)
{
	(void)rx;
	if (lnet_nid_net(&address) == ni->net)
		*nid = address;
}

static struct lnet_nid made_up(const char *format, unsigned int i)
{
	struct lnet_nid nid;
	char text[64];

	snprintf(text, sizeof(text), format, i);
	UNIT_EQUAL(lnet_nid_parse(&nid, text), 0, text);
	return nid;
}

/* A message to node 2 with the source @src, by a connection of the NID @via. */
static void inject_as(const struct lnet_nid *src, const struct lnet_nid *via)
{
	struct rails_msg *m = calloc(1, sizeof(*m));

	m->hdr = hdr_of(0, 0, 2, LARGE);
	m->hdr.src_nid = *src;
	m->via = *via;
	m->at = rails_nid(ROUTER, 0);
	m->to = ROUTER;
	m->len = LARGE;
	m->data = calloc(1, LARGE);
	list_add_tail(&m->link, &rails.wire);
	rails_pump();
}

/* The driver of the router completes no message, so all buffers stay in use. */
static void begin_full(u32 credits)
{
	begin();
	set("large_router_buffers", POOL);
	set("peer_buffer_credits", credits);
	rails_on(ROUTER, -1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
}

static void let_go(void)
{
	rails_clear();
	while (!list_empty(&rails.kept)) {
		rails_give(LNET_OK);
		rails_pump();
	}
}

static void end_full(void)
{
	let_go();
	set("peer_buffer_credits", 0);
	finish();
}

static u32 used(void)
{
	return pool(LNET_RTR_large)->used;
}

/* Another peer sends to the same destination. */
static void other_passes(void)
{
	struct lnet_nid other = made_up("10.99.0.%u@tcp", 7);
	u32 before = used();

	other.num = rails_nid(0, 0).num;
	inject_as(&other, &other);
	UNIT_EQUAL(used(), before + 1, "another peer gets a buffer at once");
}

static void test_gateway(void)
{
	struct lnet_route_cfg cfg = { .hops = -1 };
	struct lnet_nid via, src;
	unsigned int i;

	begin_full(1000);
	via = rails_nid(0, 0);
	cfg.gateway = via;
	UNIT_EQUAL(lnet_net_parse(&cfg.net, "tcp77"), 0, "net");
	UNIT_EQUAL(lnet_route_add(router(), &cfg), 0, "a route by node 0");
	for (i = 0; i < 100; i++) {
		src = made_up("10.7.0.%u@tcp77", i + 1);
		inject_as(&src, &via);
	}
	UNIT_EQUAL(used(), SHARE / 2, "a gateway with 100 sources has its share");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_sender_waits), 100 - SHARE / 2, "the rest waits");
	other_passes();
	end_full();
}

/* If a destination receives nothing, it cannot use up the share of a sender. */
static void test_destinations(void)
{
	unsigned int i;

	begin_full(1000);
	for (i = 0; i < 20; i++)
		put(0, 0, 2, LARGE);
	UNIT_EQUAL(used(), SHARE / 2, "half of the share");
	for (i = 0; i < 20; i++)
		put(0, 0, 0, LARGE);
	UNIT_EQUAL(used(), SHARE * 3 / 4, "half of the rest");
	end_full();
}

/* Buffers that no message needs lose their memory. One that is in use each second keeps it. */
static void test_trim(void)
{
	unsigned int i;

	begin_full(1000);
	for (i = 0; i < 20; i++)
		put(0, 0, 2, LARGE);
	let_go();
	UNIT_EQUAL(pool(LNET_RTR_large)->made, SHARE / 2, "buffers of a burst");
	for (i = 0; i < 40; i++) {
		put(0, 0, 2, LARGE);
		rails_run(100 * RAILS_MS);
	}
	UNIT_EQUAL(pool(LNET_RTR_large)->made, 1, "buffers in use");
	rails_run(4 * NSEC_PER_SEC);
	UNIT_EQUAL(pool(LNET_RTR_large)->made, 0, "buffers of an idle router");
	put(0, 0, 2, LARGE);
	UNIT_EQUAL(pool(LNET_RTR_large)->made, 1, "buffers for the next message");
	end_full();
}

static void test_address(void)
{
	struct lnet_ni *ni;
	struct lnet_lnd_ops ops;
	const struct lnet_lnd_ops *old;
	struct lnet_nid src;
	unsigned int i;

	begin_full(0);
	ni = rails_ni(ROUTER, 0);
	old = ni->ops;
	ops = *old;
	ops.rx_address = rx_address;
	ni->ops = &ops;
	address = made_up("10.98.0.%u@tcp", 1);
	address.num = rails_nid(0, 0).num;
	for (i = 0; i < 100; i++) {
		src = made_up("10.97.0.%u@tcp", i + 1);
		src.num = address.num;
		inject_as(&src, &src);
	}
	UNIT_EQUAL(used(), SHARE / 2, "one address with 100 NIDs has its share");
	ni->ops = old;
	other_passes();
	end_full();
}

/* Even if the share is the whole pool, a sender leaves buffers of a destination to others. */
static void test_destination(void)
{
	unsigned int i;

	begin_full(1000);
	set("router_share", 100);
	for (i = 0; i < 100; i++)
		put(0, 0, 2, LARGE);
	CU_ASSERT(used() < POOL / 2);
	other_passes();
	end_full();
}

/* A sender may have 8 buffers at any router_share. */
static void test_least(void)
{
	unsigned int i;

	begin_full(1000);
	set("router_share", 1);
	for (i = 0; i < 20; i++)
		put(0, 0, 2, LARGE);
	UNIT_EQUAL(used(), 4, "half of the least share");
	set("router_share", 20);
	rails_pump();
	UNIT_EQUAL(used(), 6, "half of the share that was set");
	end_full();
}

/* The buffer of a slow message is wanted if another sender waits for the same destination. */
static void test_wanted(void)
{
	struct lnet_hdr hdr;
	const struct lnet_fwd *slow;
	struct lnet_nid other;
	unsigned int i;

	begin_full(1000);
	set("large_router_buffers", 8);
	hdr = hdr_of(0, 0, 2, LARGE);
	for (i = 0; i < 6; i++)
		inject(&hdr, 0, true);
	UNIT_EQUAL(used(), 4, "half of the pool");
	slow = list_first_entry(&sender(0, 0)->rtr_held, struct lnet_fwd, held);
	UNIT_EQUAL(lnet_forward_is_wanted(slow->rx), false, "only its sender waits");
	other = made_up("10.99.0.%u@tcp", 7);
	other.num = hdr.src_nid.num;
	inject_as(&other, &other);
	UNIT_EQUAL(used(), 4, "the destination has its half");
	UNIT_EQUAL(lnet_forward_is_wanted(slow->rx), true, "another one waits");
	rails_clear();
	while (!list_empty(&rails.landing)) {
		rails_land(0, LNET_OK);
		rails_pump();
	}
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 7, "all are sent");
	end_full();
}

/* The @ith of many NIDs on the net of rail 1 that no node has. */
static struct lnet_nid nobody(unsigned int i)
{
	struct lnet_nid nid = rails_nid(2, 1);

	nid.addr[0] = cpu_to_be32(0x0a020000 + i);
	return nid;
}

/* A message to node 2 with the source @src, by a connection of that NID on rail 1. */
static void inject_back(const struct lnet_nid *src)
{
	struct rails_msg *m = calloc(1, sizeof(*m));

	m->hdr = hdr_of(0, 1, 2, LARGE);
	m->hdr.src_nid = m->via = *src;
	m->at = rails_nid(ROUTER, 1);
	m->to = ROUTER;
	m->len = LARGE;
	m->data = calloc(1, LARGE);
	list_add_tail(&m->link, &rails.wire);
	rails_pump();
}

/*
 * Messages of one sender for 1,000 destinations wait for its share. When a buffer is released, the
 * router does not check all their queues under one lock hold. Another sender gets the buffer.
 */
static void test_many_queues(void)
{
	struct lnet_nid other = made_up("10.1.99.%u@tcp1", 7);
	struct lnet_hdr hdr;
	unsigned int i;

	begin_full(2000);
	hdr = hdr_of(0, 0, 2, LARGE);
	for (i = 0; i < SHARE / 2; i++)
		inject_back(&other);
	for (i = 0; i < 1000; i++) {
		hdr.dest_nid = nobody(i);
		inject(&hdr, 0, false);
	}
	for (i = 0; i < 3; i++)
		inject_back(&other);
	UNIT_EQUAL(used(), SHARE / 2 + SHARE, "each sender has what it may have");
	rails_give_rail(ROUTER, 0, LNET_OK);
	UNIT_EQUAL(used(), SHARE, "not all queues are checked at once");
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(used(), SHARE + 3, "the rest is checked later");
	end_full();
}

/* Destinations that would be in one chain if the hash had no secret key. */
static void test_chains(void)
{
	unsigned int i, nr = 0, most = 0;
	const struct list_head *at;
	struct lnet_hdr hdr;

	begin_full(1000);
	hdr = hdr_of(0, 0, 2, LARGE);
	for (i = 0; nr < 64; i++) {
		hdr.dest_nid = nobody(i);
		if (lnet_nid_hash(&hdr.dest_nid) % LNET_RTR_HASH)
			continue;
		inject(&hdr, 0, false);
		nr++;
	}
	for (i = 0; i < LNET_RTR_HASH; i++) {
		nr = 0;
		list_for_each(at, &router()->router->sh[0].dsts[i])
			nr++;
		most = max(most, nr);
	}
	CU_ASSERT(most > 0 && most < 8);
	end_full();
}

/* The destinations of a sender get its router credits in round-robin order. */
static void test_turns(void)
{
	const struct lnet_fwd *last;
	struct lnet_nid own;
	unsigned int i;

	begin_full(2);
	for (i = 0; i < 3; i++)
		put(0, 0, 2, 8);
	for (i = 0; i < 2; i++)
		put(0, 0, 0, 8);
	UNIT_EQUAL(rails_count(&rails.waiting), 3, "one of each destination has a credit");
	set("peer_buffer_credits", 6);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.waiting), 1, "the second of each");
	last = list_last_entry(&sender(0, 0)->rtr_held, struct lnet_fwd, held);
	own = rails_nid(0, 1);
	UNIT_EQUAL(lnet_nid_same(&last->hdr.dest_nid, &own), true, "in turn");
	end_full();
}

/*
 * A sender names 500 destinations that cannot be reached. The recovery pings to all of them share
 * the bucket of the sender.
 */
static void test_unheard(void)
{
	struct lnet_hdr hdr;
	unsigned int i;
	u64 pings;

	begin();
	set("peer_buffer_credits", 2000);
	hdr = hdr_of(0, 0, 2, 8);
	rails_on(ROUTER, -1, RAILS_ANY, FATE_FAIL, LNET_REMOTE_DROPPED, -1);
	pings = rails_stat(ROUTER, LNET_C_recovery_pings);
	for (i = 0; i < 500; i++) {
		hdr.dest_nid = nobody(i);
		inject(&hdr, 0, false);
	}
	rails_run(20 * NSEC_PER_SEC);
	pings = rails_stat(ROUTER, LNET_C_recovery_pings) - pings;
	CU_ASSERT(pings >= 200 && pings <= 200 + 20 * 21);
	CU_ASSERT(rails_stat(ROUTER, LNET_C_recovery_limited) > 0);
	rails_clear();
	set("peer_buffer_credits", 0);
	finish();
}

/* claims_max bounds the unknown destinations for which one peer makes a router create peers. */
static void test_invented(void)
{
	struct lnet_hdr hdr;
	unsigned int i;

	begin();
	set("claims_max", 16);
	hdr = hdr_of(0, 0, 2, 8);
	for (i = 0; i < 40; i++) {
		hdr.dest_nid = made_up("10.96.0.%u@tcp78", i + 1);
		inject(&hdr, 0, false);
	}
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 40, "no route to them");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_claims_denied), 24, "destinations beyond claims_max");
	put(0, 0, 2, 8);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 1, "known destinations are reached");
	finish();
}

UNIT_SUITE(router_share,
	   { "a gateway has its share, however many sources it has", test_gateway },
	   { "a sender has its share for several destinations", test_destinations },
	   { "an address has its share, however many NIDs it has", test_address },
	   { "a sender leaves buffers to others with the same destination", test_destination },
	   { "the share is a tunable, with a least value", test_least },
	   { "a slow message is wanted if another sender waits for its destination", test_wanted },
	   { "claims_max bounds the unknown destinations of a sender", test_invented },
	   { "A20: buffers that no message needs lose their memory", test_trim },
	   { "many queues of one sender are not checked under one lock hold", test_many_queues },
	   { "nobody can choose destinations of the same chain", test_chains },
	   { "the destinations of a sender take turns for its credits", test_turns },
	   { "unheard destinations of a sender share its recovery pings", test_unheard })
