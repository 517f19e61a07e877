/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A peer lists NIDs of other nodes: the node pings these NIDs, and believes none of the lists. */
#include "rails.h"

#define FULL (LNET_FEAT_NI_STATUS | LNET_FEAT_RTE_DISABLED | LNET_FEAT_MULTI_RAIL | \
	      LNET_FEAT_DISCOVERY)

static void push_info(unsigned int from, unsigned int to, u8 *buf, u32 len)
{
	struct rails_msg m = { .from = (int)from, .to = (int)to, .type = RAILS_CORE, .data = buf };

	m.len = m.hdr.payload_len = len;
	m.hdr.type = LNET_MSG_PUT;
	m.hdr.src_nid = m.via = rails_nid(from, 0);
	m.hdr.dest_nid = m.at = rails_nid(to, 0);
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	m.hdr.msg.put.ptl_index = LNET_PORTAL_RESERVED;
	m.hdr.msg.put.match_bits = LNET_PING_MATCHBITS;
	lnet_handle_set_none(&m.hdr.msg.put.ack_wmd);
	rails_again(&m);
	rails_pump();
}

/* Node 2 pushes a list of two NIDs to node 0: its NID and NIDs of node 1, in any order. */
static void push_false(u32 seq, const struct lnet_nid *first, const struct lnet_nid *second)
{
	struct lnet_pinginfo_ni nis[2] = { { .nid = *first, .status = LNET_NI_UP },
					   { .nid = *second, .status = LNET_NI_UP } };
	u8 buf[256];
	int len;

	len = lnet_pinginfo_encode(buf, sizeof(buf), FULL, LNET_PID, seq, nis, 2);
	CU_ASSERT_FATAL(len > 0);
	push_info(2, 0, buf, (u32)len);
}

/* An unknown peer lists NIDs of another peer: it gets neither these NIDs nor requests for them. */
static void test_false_list(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .quiet = true, .discover = true,
				 .strangers = true };
	struct lnet_nid own, primary, other;
	unsigned int i, tag;
	u64 heard;

	rails_begin(&cfg);
	own = rails_nid(2, 0);
	primary = rails_nid(1, 0);
	other = rails_nid(1, 1);
	tag = rails_get(0, 1, 8, 0);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_nids(0, 1), 2, "both rails are known");
	push_false(1000, &own, &primary);
	push_false(1001, &primary, &own);
	push_false(1002, &own, &other);
	rails_run(20 * RAILS_MS);
	CU_ASSERT(rails_stat(0, LNET_C_nids_rejected) >= 2);	/* each was pinged */
	UNIT_EQUAL(rails_nids(0, 1), 2, "the peer has its NIDs");
	UNIT_EQUAL(rails_nids(0, 2), 1, "the stranger has its own");
	UNIT_EQUAL(lnet_nid_same(&rails_peer(0, 1)->primary, &primary), true, "primary NID");
	heard = rails_stat(2, LNET_C_recv_count);
	for (i = 0; i < 10; i++) {
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(rails.req[tag].nr_effects, 1, "the peer gets the request");
	}
	UNIT_EQUAL(rails_stat(2, LNET_C_recv_count), heard, "the stranger gets none");
	rails_end();
}

/* Node 2 pushes a list of its NID and nine others, which no node has. */
static void push_nobody(u32 seq, unsigned int first)
{
	struct lnet_pinginfo_ni nis[10] = { { .nid = rails_nid(2, 0), .status = LNET_NI_UP } };
	char text[LNET_NIDSTR_SIZE];
	unsigned int i;
	u8 buf[512];
	int len;

	for (i = 1; i < ARRAY_SIZE(nis); i++) {
		snprintf(text, sizeof(text), "10.0.0.%u@tcp", first + i);
		CU_ASSERT(!lnet_nid_parse(&nis[i].nid, text));
		nis[i].status = LNET_NI_UP;
	}
	len = lnet_pinginfo_encode(buf, sizeof(buf), FULL, LNET_PID, seq, nis, ARRAY_SIZE(nis));
	CU_ASSERT_FATAL(len > 0);
	push_info(2, 0, buf, (u32)len);
}

/* Eight pings are in flight when a newer list makes them useless. Their end starts the others. */
static void test_replaced(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .quiet = true, .discover = true,
				 .strangers = true };

	rails_begin(&cfg);
	rails_on(0, -1, RAILS_CORE, FATE_KEEP, LNET_OK, -1);
	push_nobody(1000, 100);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_stat(0, LNET_C_nids_pinged), 8, "pings of the first list");
	push_nobody(1001, 120);
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails_stat(0, LNET_C_nids_pinged), 8, "these are in flight");
	rails_run(6 * NSEC_PER_SEC);
	CU_ASSERT(rails_stat(0, LNET_C_nids_pinged) >= 16);
	rails_end();
}

UNIT_SUITE(proof,
	{ "a stranger that lists NIDs of a peer does not get them", test_false_list },
	{ "a list that is replaced does not stop the proofs of the next", test_replaced })
