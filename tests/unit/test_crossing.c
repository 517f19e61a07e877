/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery: pings, pushes and their replies that overtake each other, arrive twice or not at all.
 * These are counterexamples of tests/model/discover.pml, on real nodes.
 */
#include "rails.h"

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

static void send(unsigned int from, unsigned int to)
{
	unsigned int tag = rails_get(from, to, 8, 0);

	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "delivered");
}

/* Both nodes know all NIDs of each other. */
static void begin(void)
{
	rails_begin(&strangers);
	send(0, 1);
	send(1, 0);
	UNIT_EQUAL(rails_nids(0, 1) + rails_nids(1, 0), 4, "known");
}

static void second_goes(unsigned int node)
{
	struct lnet_nid nid = rails_nid(node, 1);

	UNIT_EQUAL(lnet_ni_del(rails.node[node].ln, &nid), 0, "removal");
}

static void second_comes(unsigned int node)
{
	struct lnet_ni_cfg cfg;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = rails_nid(node, 1);
	UNIT_EQUAL(lnet_ni_add(rails.node[node].ln, &cfg), 0, "addition");
}

/* The first delayed message of @node with a ping info. */
static struct rails_msg *delayed_info(unsigned int node, u32 type)
{
	struct rails_msg *m;

	list_for_each_entry(m, &rails.delayed, link)
		if (m->from == (int)node && m->hdr.type == type && m->len >= 32 &&
		    get_unaligned_le32(m->data) == LNET_PING_MAGIC)
			return m;
	return NULL;
}

/* Node 0 doubts its session with node 1, and sends a ping. */
static void ask(void)
{
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_lost(0, 1, 1, LNET_PATH_LOST);
	rails_get(0, 1, 8, 0);
	rails_pump();
}

/* The REPLY was sent before the push, and arrives after it. */
static void test_answer(void)
{
	struct rails_msg *m;

	begin();
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
	ask();
	second_goes(1);
	rails_run(500 * RAILS_MS);
	m = delayed_info(1, LNET_MSG_PUT);
	CU_ASSERT_FATAL(m && delayed_info(1, LNET_MSG_REPLY));
	rails_clear();
	list_move_tail(&m->link, &rails.wire);
	rails_pump();
	UNIT_EQUAL(rails_nids(0, 1), 1, "told");
	rails_release();
	rails_run(3 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "what was told stays");
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_DONE, "done");
	rails_end();
}

/* A push arrives again after the next push. */
static void test_late_push(void)
{
	begin();
	rails_on(1, -1, RAILS_CORE, FATE_LATE, LNET_OK, 1);
	second_goes(1);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "one goes");
	second_comes(1);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 2, "and comes");
	rails_release();
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 2, "and stays");
	rails_end();
}

/* A ping arrives again after a change: nothing awaits its second REPLY. */
static void test_late_ping(void)
{
	rails_begin(&strangers);
	rails_on(0, -1, RAILS_CORE, FATE_LATE, LNET_OK, 1);
	send(0, 1);
	UNIT_EQUAL(rails_nids(0, 1) + rails_nids(1, 0), 4, "known");
	second_goes(1);
	rails_release();
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "told");
	rails_end();
}

/* A push that could not be decoded was acknowledged; the ping that replaces it is lost. */
static void test_ping_lost(void)
{
	struct rails_msg *m;

	begin();
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	second_goes(1);
	rails_run(500 * RAILS_MS);
	m = delayed_info(1, LNET_MSG_PUT);
	CU_ASSERT_FATAL(m != NULL);
	put_unaligned_le32(0, m->data);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	rails_release();
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_FAILED, "no answer");
	rails_clear();
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "asked again");
	rails_end();
}

/* The last push, which advertises that discovery is off, is lost. */
static void test_last_push_lost(void)
{
	begin();
	rails_on(1, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 0), 0, "off");
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 2, "not told");
	rails_clear();
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "told");
	rails_end();
}

/*
 * Both nodes advertise a change at once. A push that arrives while the node's own push is in flight
 * waits for that one to end.
 */
static void test_both(void)
{
	begin();
	rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
	second_goes(0);
	second_goes(1);
	rails_run(500 * RAILS_MS);
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_PUSH, "telling");
	UNIT_EQUAL(rails_peer(0, 1)->disc.data != NULL, true, "told");
	rails_clear();
	rails_release();
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "merged");
	UNIT_EQUAL(rails_nids(1, 0), 1, "merged");
	rails_end();
}

UNIT_SUITE(crossing, { "an answer that a push has overtaken changes nothing", test_answer },
	   { "a push that comes again, late, changes nothing", test_late_push },
	   { "a push comes while one is under way", test_both },
	   { "a ping that comes again, late, tells nobody", test_late_ping },
	   { "a ping instead of a push is sent until it is answered", test_ping_lost },
	   { "that discovery is off is told until it is acknowledged", test_last_push_lost })
