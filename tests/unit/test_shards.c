/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instances with several shards, whose target does not know that two interfaces belong to one node.
 * So each request is served in two shards: that of its peer and that of its window. Assertions in
 * the core check which lock is held.
 */
#include "rails.h"

static const struct rails_cfg apart = { .nr_shards = 4, .apart = true };
static const struct rails_cfg apart_parking = { .nr_shards = 4, .apart = true, .no_buffers = true,
						.quiet = true };

/* Returns the shard in which node 1 has the interface of node 0 on @rail. */
static u32 shard_seen(unsigned int rail)
{
	struct lnet_nid nid = rails_nid(0, rail);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(rails.node[1].ln, &nid);
	u32 ix = pni->sh->ix;

	lnet_peer_ni_put(pni);
	return ix;
}

static void check(unsigned int tag, int status, unsigned int effects)
{
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "one final event");
	UNIT_EQUAL(rails.req[tag].status, status, "status");
	UNIT_EQUAL(rails.req[tag].nr_effects, effects, "effects");
}

static unsigned int send(unsigned int i)
{
	if (i % 3 == 2)
		return rails_get(0, 1, i & 4 ? 8192 : 64, 0);
	return rails_put(0, 1, i & 4 ? 8192 : 64, i % 3 ? LNET_ACK : 0, 0);
}

static void begin(const struct rails_cfg *cfg)
{
	rails_begin(cfg);
	CU_ASSERT(shard_seen(0) != shard_seen(1));
}

/* Every request arrives twice; the requests alternate between both rails. */
static void test_twice(void)
{
	unsigned int i, tag[48];

	begin(&apart);
	rails_on(0, -1, RAILS_ANY, FATE_TWICE, LNET_OK, -1);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = send(i);
	rails_run(100 * RAILS_MS);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		check(tag[i], 0, 1);
	CU_ASSERT(rails_stat(1, LNET_C_dup_final) > 0);
	rails_end();
}

static void test_lost(void)
{
	unsigned int i, tag[24];

	begin(&apart);
	rails_on(1, 0, RAILS_ANY, FATE_LOSE, LNET_OK, 5);
	rails_on(0, 1, RAILS_ANY, FATE_LOSE, LNET_OK, 5);
	rails_on(1, 1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_DROPPED, 5);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = send(i);
	rails_run(6 * NSEC_PER_SEC);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		check(tag[i], 0, 1);
	rails_end();
}

static void test_refused(void)
{
	unsigned int i, tag[12];

	begin(&apart);
	UNIT_EQUAL(lnet_md_unlink(rails.node[1].ln, rails.node[1].target), 0, "no buffer");
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		tag[i] = send(i);
	rails_run(100 * RAILS_MS);
	for (i = 0; i < ARRAY_SIZE(tag); i++)
		check(tag[i], -ENOENT, 0);
	UNIT_EQUAL(rails_stat(1, LNET_C_no_match), 12, "each once");
	rails_end();
}

/* A request in the queue gets a buffer, loses its connection, or is dropped in the end. */
static void test_parked(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		rails_begin(&apart_parking);
		UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
		rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(50 * RAILS_MS);
		UNIT_EQUAL(rails_count(&rails.waiting), 2, "a request and its second copy wait");
		if (i < 2)
			rails_gone(i);
		if (i < 3) {
			rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
			rails_run(20 * RAILS_MS);
			check(1, 0, 1);
		} else {
			rails_run(12 * NSEC_PER_SEC);
			check(1, -ETIMEDOUT, 0);
		}
		rails_end();
	}
}

/*
 * Two attempts are being received. The first one that is complete ends in the shard of another
 * interface than the window's.
 */
static void test_landing(void)
{
	unsigned int tag;

	begin(&apart);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 2);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_run(40 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 2, "both land");
	rails_land(1, LNET_OK);
	rails_run(RAILS_MS);
	check(tag, 0, 1);
	rails_end();
}

/*
 * Node 1 has two interfaces of node 0 as peers: the second is a gateway in shard 0, the first is in
 * another shard. A PUT of the first through the gateway is counted in one shard;
 * lockdep_assert_held() checks that its end has the lock of the same shard.
 */
static void test_other_shard(void)
{
	struct lnet_route_cfg route = { .hops = -1, .net = lnet_net_make(LNET_LND_TCP, 77) };
	struct rails_msg m = { .to = 1, .rail = 1, .type = RAILS_CORE, .len = 64 };
	u8 payload[64] = { 0 };
	struct lnet *ln;

	begin(&apart);
	ln = rails.node[1].ln;
	route.gateway = rails_nid(0, 1);
	UNIT_EQUAL(lnet_route_add(ln, &route), 0, "a gateway");
	UNIT_EQUAL(shard_seen(1), 0, "shard of the gateway");
	UNIT_EQUAL(shard_seen(0) != 0, true, "shard of the peer");
	m.data = payload;
	m.hdr = (struct lnet_hdr){ .type = LNET_MSG_PUT, .src_pid = LNET_PID, .dest_pid = LNET_PID,
				   .payload_len = 64 };
	m.hdr.src_nid = rails_nid(0, 0);
	m.via = route.gateway;
	m.hdr.dest_nid = m.at = rails_nid(1, 1);
	m.hdr.msg.put.ptl_index = RAILS_PORTAL;
	lnet_handle_set_none(&m.hdr.msg.put.ack_wmd);
	rails_again(&m);
	rails_pump();
	UNIT_EQUAL(ln->shard[0].c[LNET_C_recv_count] > 0, true, "messages by the gateway");
	UNIT_EQUAL(lnet_route_del(ln, route.net, &route.gateway), 0, "no gateway");
	rails_end();
}

UNIT_SUITE(shards,
	{ "duplicates over two interfaces", test_twice },
	{ "lost requests and answers", test_lost },
	{ "refusals", test_refused },
	{ "requests that wait for a buffer", test_parked },
	{ "landings", test_landing },
	{ "a message through a gateway in another shard", test_other_shard })
