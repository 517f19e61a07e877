/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NIDs that other nodes claim, in a header or in a ping info. */
#include "rails.h"
#include "router/router.h"

static const struct { const char *nid; bool host, own_host; } nids[] = {
	{ "10.0.0.1@tcp", true, false },
	{ "240.0.0.1@o2ib3", true, false },
	{ "127.0.0.1@tcp", true, true },
	{ "127.255.3.4@tcp5", true, true },
	{ "0.0.0.0@tcp", false, false },
	{ "255.255.255.255@tcp", false, false },
	{ "224.0.0.1@tcp", false, false },
	{ "239.255.255.250@o2ib", false, false },
	{ "::@tcp", false, false },
	{ "::1@tcp", true, true },
	{ "ff02::1@tcp", false, false },
	{ "2001:db8::1@tcp", true, false },
	{ "0@gni", true, false },
	{ "0@lo", false, false },
};

static void test_hosts(void)
{
	struct lnet_nid nid;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nids); i++) {
		CU_ASSERT_EQUAL(lnet_nid_parse(&nid, nids[i].nid), 0);
		UNIT_EQUAL(lnet_nid_is_host(&nid), nids[i].host, nids[i].nid);
		UNIT_EQUAL(lnet_nid_is_own_host(&nid), nids[i].own_host, nids[i].nid);
	}
	CU_ASSERT(!lnet_nid_is_host(&LNET_NID_ANY));
	lnet_nid_from_nid4(&nid, 77ULL << 48 | 0x0a000001);
	CU_ASSERT_FALSE(lnet_nid_is_host(&nid));
	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "10.0.0.1@tcp"), 0);
	nid.addr[3] = 1;
	CU_ASSERT_FALSE(lnet_nid_is_host(&nid));
	nid.addr[3] = 0;
	nid.size = 4;
	CU_ASSERT_FALSE(lnet_nid_is_host(&nid));
}

static const struct rails_cfg stock = { .quiet = true };

static enum lnet_verdict receive(const char *src, u32 type)
{
	struct lnet_hdr hdr = { .type = type, .dest_nid = rails_nid(1, 0) };
	struct lnet_nid via = rails_nid(0, 0);
	struct lnet_peer_ni *from = lnet_peer_ni_get(rails.node[1].ln, &via);
	enum lnet_verdict v;
	struct lnet_pass p;

	CU_ASSERT_EQUAL(lnet_nid_parse(&hdr.src_nid, src), 0);
	lnet_pass_begin(&p, rails.node[1].ln, LNET_PASS_DRIVER);
	v = lnet_rx_begin(&p, rails_ni(1, 0), lnet_rx_get(&p), &hdr, from);
	lnet_pass_end(&p);
	lnet_peer_ni_put(from);
	return v;
}

static void test_header(void)
{
	static const char *const bad[] = { "0@lo", "0.0.0.0@tcp", "224.0.0.1@tcp7",
					   "127.0.0.1@tcp7" };
	struct lnet_nid own;
	char text[LNET_NIDSTR_SIZE];
	unsigned int i, before;

	rails_begin(&stock);
	before = READ_ONCE(rails.node[1].ln->nr_peers);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		UNIT_EQUAL(receive(bad[i], LNET_MSG_GET), LNET_SKIP, bad[i]);
	own = rails_nid(1, 1);
	UNIT_EQUAL(receive(lnet_nid_str(&own, text), LNET_MSG_PUT), LNET_SKIP, "an own NID");
	UNIT_EQUAL(rails_stat(1, LNET_C_false_source), ARRAY_SIZE(bad) + 1, "counted");
	UNIT_EQUAL(READ_ONCE(rails.node[1].ln->nr_peers), before, "peers");
	rails_end();
}

static void test_info(void)
{
	static const char *const listed[] = { "10.0.0.1@tcp", "0.0.0.0@tcp", "224.0.0.1@tcp",
					      "ff02::1@tcp", "2001:db8::1@tcp" };
	struct lnet_pinginfo_ni nis[ARRAY_SIZE(listed)] = { { .status = LNET_NI_UP } };
	struct lnet_pinginfo pi;
	char text[LNET_NIDSTR_SIZE];
	unsigned int i;
	u8 buf[512];
	int len;

	for (i = 0; i < ARRAY_SIZE(listed); i++)
		CU_ASSERT_EQUAL(lnet_nid_parse(&nis[i].nid, listed[i]), 0);
	len = lnet_pinginfo_encode(buf, sizeof(buf), LNET_FEAT_MULTI_RAIL, LNET_PID, 1, nis,
				   ARRAY_SIZE(nis));
	CU_ASSERT(len > 0);
	CU_ASSERT_EQUAL(lnet_pinginfo_decode(&pi, buf, (unsigned int)len, nis, ARRAY_SIZE(nis)), 0);
	UNIT_EQUAL(pi.nr, 2, "NIDs of hosts");
	CU_ASSERT_STRING_EQUAL(lnet_nid_str(&nis[0].nid, text), listed[0]);
	CU_ASSERT_STRING_EQUAL(lnet_nid_str(&nis[1].nid, text), listed[4]);
}

/* Node 0 sends a PUT from @src to node 2 on the other net, through the router node 1. */
static void forward(const char *src, unsigned int rail)
{
	struct rails_msg *m = calloc(1, sizeof(*m));

	m->hdr = (struct lnet_hdr){ .type = LNET_MSG_PUT, .src_pid = LNET_PID,
				    .dest_pid = LNET_PID, .dest_nid = rails_nid(2, !rail) };
	CU_ASSERT_EQUAL(lnet_nid_parse(&m->hdr.src_nid, src), 0);
	lnet_handle_set_none(&m->hdr.msg.put.ack_wmd);
	m->hdr.msg.put.ptl_index = RAILS_PORTAL;
	m->via = rails_nid(0, rail);
	m->at = rails_nid(1, rail);
	m->to = 1;
	m->data = malloc(1);
	list_add_tail(&m->link, &rails.wire);
	rails_pump();
}

/* A router must check sources, because the next hop accepts any source from its gateway. */
static void test_forwarded(void)
{
	static const struct { const char *src; bool forged; } senders[] = {
		{ "10.0.0.1@tcp", false },	/* the sender */
		{ "10.0.0.3@tcp", true },	/* node 2 */
		{ "10.0.0.77@tcp", true },	/* no node */
		{ "10.1.0.1@tcp1", false },	/* the sender's other interface */
		{ "9.9.9.9@tcp9", true },	/* behind the sender, which is no gateway */
	};
	struct lnet_route_cfg cfg = { .hops = -1 };
	unsigned int i, forged = 0, sent = 0;

	rails_begin(&(struct rails_cfg){ .nr_nodes = 3, .quiet = true });
	UNIT_EQUAL(lnet_router_enable(rails.node[1].ln, true), 0, "routing is on");
	for (i = 0; i < ARRAY_SIZE(senders); i++) {
		forward(senders[i].src, 0);
		forged += senders[i].forged;
		sent += !senders[i].forged;
		UNIT_EQUAL(rails_stat(1, LNET_C_forged_source), forged, senders[i].src);
		UNIT_EQUAL(rails_stat(1, LNET_C_route_count), sent, senders[i].src);
	}
	cfg.gateway = rails_nid(0, 0);
	UNIT_EQUAL(lnet_net_parse(&cfg.net, "tcp8"), 0, "net");
	UNIT_EQUAL(lnet_route_add(rails.node[1].ln, &cfg), 0, "a route by the sender");
	forward("9.9.9.9@tcp9", 0);
	UNIT_EQUAL(rails_stat(1, LNET_C_route_count), sent + 1, "behind a gateway");
	rails_end();
}

UNIT_SUITE(claims,
	{ "NIDs of hosts are told from all others", test_hosts },
	{ "a header from a NID of this node or of no host is dropped", test_header },
	{ "a ping info's NIDs of no host are left out", test_info },
	{ "a router forwards no message with the source of another node", test_forwarded },
)
