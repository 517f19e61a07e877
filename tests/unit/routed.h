/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A router for tests: node 1 of the rails, messages sent to it, and the check that all its
 * resources are returned.
 */
#ifndef TESTS_UNIT_ROUTED_H
#define TESTS_UNIT_ROUTED_H

#include "rails.h"
#include "router/router.h"

enum { ROUTER = 1 };

static const struct rails_cfg three = { .nr_nodes = 3, .quiet = true };

static struct lnet *router(void)
{
	return rails.node[ROUTER].ln;
}

static void set(const char *name, u64 value)
{
	UNIT_EQUAL(lnet_tunable_set(router(), name, value), 0, name);
}

static void begin_with(const struct rails_cfg *cfg)
{
	rails_begin(cfg);
	UNIT_EQUAL(lnet_router_enable(router(), true), 0, "on");
}

static void begin(void)
{
	begin_with(&three);
}

/*
 * A PUT without ACK, from node @from on rail @rail to the interface of node @to on the other rail.
 */
static struct lnet_hdr hdr_of(unsigned int from, unsigned int rail, unsigned int to, u32 len)
{
	struct lnet_hdr hdr = { .type = LNET_MSG_PUT, .payload_len = len, .src_pid = LNET_PID,
				.dest_pid = LNET_PID };

	hdr.src_nid = rails_nid(from, rail);
	hdr.dest_nid = rails_nid(to, !rail);
	lnet_handle_set_none(&hdr.msg.put.ack_wmd);
	hdr.msg.put.ptl_index = RAILS_PORTAL;
	return hdr;
}

static int node_of(const struct lnet_nid *nid)
{
	unsigned int node, rail;
	struct lnet_nid at;

	for (node = 0; node < RAILS_NODES; node++)
		for (rail = 0; rail < RAILS_RAILS; rail++) {
			at = rails_nid(node, rail);
			if (lnet_nid_same(&at, nid))
				return (int)node;
		}
	CU_FAIL("nobody's address");
	return 0;
}

/* The router receives the message from its source NID; only half of the payload if @half. */
static void inject(const struct lnet_hdr *hdr, unsigned int rail, bool half)
{
	struct rails_msg *m = calloc(1, sizeof(*m));

	m->hdr = *hdr;
	m->via = hdr->src_nid;
	m->at = rails_nid(ROUTER, rail);
	m->from = node_of(&hdr->src_nid);
	m->to = ROUTER;
	m->len = hdr->payload_len;
	m->data = malloc(m->len + 1);
	memset(m->data, 0x5a, m->len);
	m->half = half;
	list_add_tail(&m->link, &rails.wire);
	rails_pump();
}

static void put(unsigned int from, unsigned int rail, unsigned int to, u32 len)
{
	struct lnet_hdr hdr = hdr_of(from, rail, to, len);

	inject(&hdr, rail, false);
}

static struct lnet_rtr_pool *pool(enum lnet_rtr_class cls)
{
	return &router()->router->sh[0].pool[cls];
}

static struct lnet_peer_ni *sender(unsigned int node, unsigned int rail)
{
	struct lnet_nid nid = rails_nid(node, rail);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(router(), &nid);

	lnet_peer_ni_put(pni);
	return pni;
}

/* Checks that all resources are returned, each once. */
static void check_home(void)
{
	unsigned int s, cls, rail;

	for (s = 0; s < router()->nr_shards; s++) {
		const struct lnet_rtr_shard *rs = &router()->router->sh[s];

		CU_ASSERT(list_empty(&rs->waiting));
		for (cls = 0; cls < LNET_NR_RTR; cls++) {
			UNIT_EQUAL(rs->pool[cls].used, 0, "buffers are back");
			UNIT_EQUAL(rs->pool[cls].nr_wait, 0, "nobody waits");
			UNIT_EQUAL(rs->pool[cls].made, rs->pool[cls].nr_free, "all are free");
			CU_ASSERT(list_empty(&rs->pool[cls].turn));
			CU_ASSERT(list_empty(&rs->pool[cls].checked));
		}
		for (cls = 0; cls < LNET_RTR_HASH; cls++)
			CU_ASSERT(list_empty(&rs->dsts[cls]) && list_empty(&rs->senders[cls]) &&
				  list_empty(&rs->flows[cls]));
	}
	for (rail = 0; rail < RAILS_RAILS; rail++) {
		struct lnet_peer_ni *pni = sender(0, rail);

		UNIT_EQUAL(pni->rtr_credits, rails_ni(ROUTER, rail)->peer_credits, "credits are");
	}
}

static void finish(void)
{
	check_home();
	rails_end();
}

#endif
