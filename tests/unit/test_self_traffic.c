/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of a node to itself: the worker returns, however many follow each other. */
#include "node.h"

#define WINDOW	4U		/* requests in flight */
#define ENOUGH	100000U		/* requests after which the traffic ends, if nothing else ends it */
/* A pass runs handlers this often at most: LNET_PASS_ROUNDS deliveries. */
#define MOST	(LNET_PASS_ROUNDS * LNET_EVENTS_PER_PASS)

static struct {
	struct lnet *ln;
	struct lnet_xfer xfer;
	unsigned int nr_put, nr_acked, nr_events;
	bool stop;
} own;

static char sink[64], source[64];

static void request(void)
{
	UNIT_EQUAL(lnet_put(own.ln, &own.xfer), 0, "a request to the node itself");
	own.nr_put++;
}

/* Each acknowledgement triggers the next request. */
static void on_event(const struct lnet_event *ev)
{
	own.nr_events++;
	if (ev->kind != LNET_EVENT_ACK)
		return;
	own.nr_acked++;
	if (!own.stop && own.nr_put < ENOUGH)
		request();
}

static void begin(void)
{
	static const struct lnet_process anyone = { .nid = { .size = 0xff, .type = LNET_LND_ANY },
						    .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = sink, .length = sizeof(sink), .cpt = -1,
				   .options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE,
				   .threshold = LNET_THRESHOLD_INF, .handler = on_event };
	lnet_me_t me;
	lnet_md_t md;

	memset(&own, 0, sizeof(own));
	own.ln = node_begin(1);
	UNIT_EQUAL(lnet_me_attach(own.ln, 20, &anyone, 1, 0, LNET_RETAIN, LNET_INS_AFTER, &me), 0,
		   "ME");
	UNIT_EQUAL(lnet_md_attach(own.ln, me, &cfg, LNET_RETAIN, &md), 0, "target's MD");
	cfg.start = source;
	cfg.options = 0;
	lnet_xfer_init(&own.xfer);
	UNIT_EQUAL(lnet_md_bind(own.ln, &cfg, LNET_RETAIN, &own.xfer.md), 0, "own MD");
	own.xfer.target.nid = LNET_NID_LO;
	own.xfer.portal = 20;
	own.xfer.match_bits = 1;
	own.xfer.flags = LNET_ACK | LNET_MORE;
}

static void test_returns(void)
{
	unsigned int i, before;

	begin();
	for (i = 0; i < WINDOW; i++)
		request();
	for (i = 0; i < 20; i++) {
		before = own.nr_events;
		node_env.nr_kicks = 0;
		node_work(own.ln);
		CU_ASSERT(own.nr_events - before <= MOST);
		CU_ASSERT(own.nr_events > before);
		CU_ASSERT(node_env.nr_kicks > 0);
	}
	CU_ASSERT(own.nr_put < ENOUGH);
	own.stop = true;
	for (i = 0; i < 20; i++)
		node_work(own.ln);
	UNIT_EQUAL(own.nr_acked, own.nr_put, "requests that were acknowledged");
	node_end(own.ln);
}

UNIT_SUITE(self_traffic, { "the worker returns from requests that bring requests", test_returns })
