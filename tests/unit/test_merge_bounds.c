/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds on the effects of ping infos: NIDs of peers, and pings that prove them. */
#include "node.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

static struct lnet_sbuf *long_info(unsigned int nr, u32 *len)
{
	return node_list_from(0, nr, true, len);
}

static void push_long(struct lnet *ln, struct lnet_peer_ni *pni, struct lnet_sbuf *c, u32 len)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	pni->peer->disc.acked = 1000;
	UNIT_EQUAL(lnet_disc_take(&p, pni->peer, c, len, true), 0, "taken");
	lnet_disc_step(&p, pni->peer);
	lnet_pass_end(&p);
	node_work(ln);
}

/* The node uses 256 of 3,000 NIDs. Those without a path are aliases; it pings 129 others. */
static void test_many(void)
{
	struct lnet_nid first = nid("10.9.0.1@tcp");
	struct lnet_peer_ni *pni;
	struct lnet_sbuf *c;
	unsigned int paths, i;
	struct lnet *ln;
	u32 len;

	for (paths = 0; paths < 2; paths++) {
		ln = node_begin(1);
		if (paths)
			UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
		c = long_info(3000, &len);
		pni = lnet_peer_ni_get(ln, &first);
		push_long(ln, pni, c, len);
		for (i = 0; i < 100; i++) {
			node_env.now_ns += 5 * NSEC_PER_MSEC;
			node_answer(ln, c->data, len, NULL);
		}
		UNIT_EQUAL(pni->peer->nr_pnis, paths ? 130 : 256, "merged");
		UNIT_EQUAL(ln->nr_peers, 2, "peers, with the loopback");
		UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_nids_pinged), paths ? 129 : 0, "pinged");
		CU_ASSERT(lnet_stat_sum(ln, LNET_C_nids_ignored) >= 2744);
		lnet_peer_ni_put(pni);
		lnet_sbuf_put(c);
		node_end(ln);
	}
}

/* Three peers list 255 aliases each: peers_max bounds the NIDs of all peers together. */
static void test_many_aliases(void)
{
	static const char *const from[] = { "10.9.0.1@tcp", "10.9.0.3@tcp", "10.9.0.5@tcp" };
	struct lnet *ln = node_begin(1);
	struct lnet_peer_ni *pni[3];
	struct lnet_nid first;
	struct lnet_sbuf *c;
	unsigned int i;
	u32 len;

	UNIT_EQUAL(lnet_tunable_set(ln, "peers_max", 300), 0, "peers_max");
	for (i = 0; i < ARRAY_SIZE(from); i++) {
		first = nid(from[i]);
		pni[i] = lnet_peer_ni_get(ln, &first);
		CU_ASSERT_PTR_NOT_NULL_FATAL(pni[i]);
	}
	for (i = 0; i < ARRAY_SIZE(from); i++) {
		c = node_list_from(100 + 1000 * i, 256, true, &len);
		push_long(ln, pni[i], c, len);
		lnet_sbuf_put(c);
	}
	UNIT_EQUAL(ln->nr_nids > 256 && ln->nr_nids <= 300, true, "NIDs");
	CU_ASSERT(lnet_stat_sum(ln, LNET_C_nids_ignored) >= 3 * 255 - 300);
	for (i = 0; i < ARRAY_SIZE(from); i++)
		lnet_peer_ni_put(pni[i]);
	node_end(ln);
}

/* No NID replies: the node sends few pings at a time, and fewer later. */
static void test_unanswered(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_nid first = nid("10.9.0.1@tcp");
	struct lnet_peer_ni *pni;
	struct lnet_sbuf *c;
	u64 asked, before;
	unsigned int i;
	u32 len;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	c = long_info(100, &len);
	pni = lnet_peer_ni_get(ln, &first);
	push_long(ln, pni, c, len);
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_nids_pinged), 8, "at once");
	for (i = 0; i < 12000; i++) {		/* 10 minutes */
		node_env.now_ns += 50 * NSEC_PER_MSEC;
		node_work(ln);
	}
	before = lnet_stat_sum(ln, LNET_C_nids_pinged);
	for (i = 0; i < 12000; i++) {
		node_env.now_ns += 50 * NSEC_PER_MSEC;
		node_work(ln);
	}
	asked = lnet_stat_sum(ln, LNET_C_nids_pinged) - before;
	UNIT_EQUAL(asked > 0 && asked <= 300, true, "in 10 minutes, of 99 NIDs");
	UNIT_EQUAL(pni->peer->nr_pnis, 1, "nothing is merged");
	lnet_peer_ni_put(pni);
	lnet_sbuf_put(c);
	node_end(ln);
}

/* Each list has other NIDs, and none replies: after max_interfaces pings, one per second. */
static void test_other_lists(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_nid a = nid("10.0.0.1@tcp");
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &a);
	struct lnet_pinginfo_ni nis[64];
	struct lnet_sbuf *c;
	unsigned int i, k;
	char text[48];
	u64 asked;
	int len;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	for (i = 0; i < 1000; i++) {
		for (k = 0; k < ARRAY_SIZE(nis); k++) {
			snprintf(text, sizeof(text), "10.%u.%u.%u@tcp", 20 + i / 200, i % 200 + 1,
				 k + 1);
			nis[k].nid = k ? nid(text) : a;
			nis[k].status = LNET_NI_UP;
		}
		c = lnet_sbuf_new(2048);
		len = lnet_pinginfo_encode(c->data, 2048, NODE_LIST_FEATURES,
					   LNET_PID, i + 1, nis, k);
		CU_ASSERT_FATAL(len > 0);
		push_long(ln, pni, c, (u32)len);
		lnet_sbuf_put(c);
		node_env.now_ns += 60 * NSEC_PER_MSEC;
		node_answer(ln, "", 0, NULL);
		node_work(ln);
	}
	asked = lnet_stat_sum(ln, LNET_C_nids_pinged);
	UNIT_EQUAL(asked >= 128 && asked <= 128 + 61, true, "pings in 60 s");
	CU_ASSERT(lnet_stat_sum(ln, LNET_C_merges_delayed) > 300);
	UNIT_EQUAL(pni->peer->nr_pnis, 1, "nothing is merged");
	lnet_peer_ni_put(pni);
	node_end(ln);
}

UNIT_SUITE(merge_bounds,
	{ "thousands of NIDs, large ones too: 2 x max_interfaces are used", test_many },
	{ "peers_max bounds the aliases of all peers together", test_many_aliases },
	{ "NIDs that nobody answers for are pinged less and less", test_unanswered },
	{ "a peer that lists other NIDs each time causes few pings", test_other_lists })
