/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routing on and off, and the ping info of the node meanwhile. */
#include "rails.h"
#include "router/router.h"

#define SETTLE (110 * NSEC_PER_SEC)

static const struct rails_cfg one = { .nr_nodes = 2, .quiet = true };

static struct lnet *node(void)
{
	return rails.node[1].ln;
}

static enum lnet_router_state state(void)
{
	return node()->router->state;
}

/* Node 0 sends a ping over @rail, with the source @src. */
static void ping_from(unsigned int rail, const struct lnet_nid *src)
{
	struct rails_msg *m = calloc(1, sizeof(*m));

	m->hdr.type = LNET_MSG_GET;
	m->hdr.src_nid = *src;
	m->hdr.dest_nid = rails_nid(1, rail);
	m->hdr.msg.get.ptl_index = LNET_PORTAL_RESERVED;
	m->hdr.msg.get.match_bits = LNET_PING_MATCHBITS;
	m->hdr.msg.get.sink_length = 272;
	m->via = rails_nid(0, rail);
	m->at = rails_nid(1, rail);
	m->from = 0;
	m->to = 1;
	list_add_tail(&m->link, &rails.wire);
	rails_pump();
}

static void ping(unsigned int rail)
{
	struct lnet_nid src = rails_nid(0, rail);

	ping_from(rail, &src);
}

static struct lnet_pinginfo_ni nis[LNET_MAX_NIS];

static u32 features(void)
{
	struct lnet_sbuf *c = node()->ping_info;
	struct lnet_pinginfo info;

	UNIT_EQUAL(lnet_pinginfo_decode(&info, c->data, c->len, nis, LNET_MAX_NIS), 0, "readable");
	return info.features;
}

static bool says_router(void)
{
	return !(features() & LNET_FEAT_RTE_DISABLED);
}

static bool says_up(unsigned int rail)
{
	struct lnet_nid nid = rails_nid(1, rail);
	unsigned int i;

	features();
	for (i = 0; i < RAILS_RAILS; i++)
		if (lnet_nid_same(&nis[i].nid, &nid))
			return nis[i].status == LNET_NI_UP;
	CU_FAIL("an interface is missing");
	return false;
}

static void enable(bool on, int want)
{
	UNIT_EQUAL(lnet_router_enable(node(), on), want, on ? "on" : "off");
}

static void test_on(void)
{
	rails_begin(&one);
	UNIT_EQUAL(says_router(), false, "an end node");
	enable(true, 0);
	UNIT_EQUAL(state(), ROUTER_STARTING, "it forwards");
	UNIT_EQUAL(says_router(), false, "and does not say so");
	enable(true, 0);
	rails_run(SETTLE - NSEC_PER_SEC);
	UNIT_EQUAL(state(), ROUTER_STARTING, "yet");
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(state(), ROUTER_ENABLED, "all had time to look");
	UNIT_EQUAL(says_router(), true, "said");
	enable(true, 0);
	UNIT_EQUAL(state(), ROUTER_ENABLED, "as it was");
	rails_end();
}

static void test_off(void)
{
	rails_begin(&one);
	enable(true, 0);
	rails_run(SETTLE + NSEC_PER_SEC);
	enable(false, 0);
	UNIT_EQUAL(state(), ROUTER_STOPPING, "it still forwards");
	UNIT_EQUAL(says_router(), false, "and says that it does not");
	enable(false, 0);
	enable(true, -EBUSY);
	rails_run(SETTLE - NSEC_PER_SEC);
	UNIT_EQUAL(state(), ROUTER_STOPPING, "not all had time to hear");
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(state(), ROUTER_DISABLED, "idle: over");
	enable(false, 0);
	enable(true, 0);
	enable(false, 0);
	UNIT_EQUAL(state(), ROUTER_STOPPING, "before it was said");
	rails_end();
}

static void test_times(void)
{
	rails_begin(&one);
	UNIT_EQUAL(lnet_tunable_set(node(), "alive_router_check_interval", 0), 0, "no looks");
	UNIT_EQUAL(lnet_tunable_set(node(), "router_ping_timeout", 20 * RAILS_MS), 0, "quick");
	enable(true, 0);
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(state(), ROUTER_ENABLED, "at once");
	enable(false, 0);
	rails_run(30 * RAILS_MS);
	UNIT_EQUAL(state(), ROUTER_DISABLED, "at once");
	rails_end();
}

static void test_unpinged(void)
{
	struct lnet_nid own = rails_nid(1, 0);
	unsigned int i;

	rails_begin(&one);
	enable(true, 0);
	for (i = 0; i < 4; i++) {
		rails_run(50 * NSEC_PER_SEC);
		ping(0);
		UNIT_EQUAL(says_up(0), true, "it is asked for");
		UNIT_EQUAL(says_up(1), i < 2, "nobody asks for a while");
	}
	ping(1);
	rails_run(RAILS_MS);
	UNIT_EQUAL(says_up(1), true, "somebody asks");
	rails_run(SETTLE + NSEC_PER_SEC);
	UNIT_EQUAL(says_up(0) || says_up(1), false, "nobody asks for either");
	ping_from(0, &own);
	rails_run(RAILS_MS);
	UNIT_EQUAL(says_up(0), false, "it does not count what it asks itself");
	enable(false, 0);
	rails_run(2 * SETTLE);
	UNIT_EQUAL(says_up(0) && says_up(1), true, "an end node's are up");
	rails_run(2 * SETTLE);
	UNIT_EQUAL(says_up(0) && says_up(1), true, "and stay so");
	rails_end();
}

static void test_shutdown(void)
{
	rails_begin(&one);
	enable(true, 0);
	rails_node_stop(1);
	rails_node_start(1);
	CU_ASSERT(!node()->router);
	WRITE_ONCE(node()->stopping, 1);
	enable(true, -ESHUTDOWN);
	WRITE_ONCE(node()->stopping, 0);
	rails_end();
}

UNIT_SUITE(router_state,
	   { "a router says so when all had time to look", test_on },
	   { "it stops when all had time to hear", test_off },
	   { "how long that takes can be said", test_times },
	   { "a net that nobody pings is down", test_unpinged },
	   { "a node that stops becomes no router", test_shutdown })
