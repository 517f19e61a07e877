/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/receive/: untracked requests on a lazy portal, events, entries and held replies. */
#include "rails.h"
#include "receive/receive.h"

static struct lnet_shard *shard(void)
{
	return &rails.node[1].ln->shard[0];
}

/* Node 1 behaves as a stock node, and has no buffer for the PUT of node 0, which waits. */
static unsigned int wait_begin(void)
{
	struct rails_cfg cfg = { .quiet = true, .no_buffers = true };
	unsigned int tag;

	rails_begin(&cfg);
	rails.node[1].stock = true;
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.waiting), 1, "it waits");
	UNIT_EQUAL(rails.req[tag].nr_plain, 1, "untracked");
	return tag;
}

static void test_waits(void)
{
	unsigned int tag = wait_begin();

	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(rails.req[tag].status, 0, "well");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "effects");
	rails_end();
}

static void test_not_lazy(void)
{
	unsigned int tag = wait_begin();

	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, false), 0, "not lazy");
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.waiting), 0, "dropped");
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "effects");
	rails_end();
}

static void test_connection_closed(void)
{
	unsigned int tag = wait_begin();

	rails_gone(0);
	UNIT_EQUAL(rails_count(&rails.waiting), 0, "it waits no longer");
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "effects");
	rails_end();
}

static struct lnet_nid sender;
static unsigned int nr_puts;

static void sender_note(struct rails_node *n, const struct lnet_event *ev)
{
	if (n->ix != 1 || ev->kind != LNET_EVENT_PUT)
		return;
	sender = ev->sender;
	nr_puts++;
}

static void test_sender(void)
{
	struct lnet_nid want;

	rails_begin(NULL);
	rails.on_event = sender_note;
	nr_puts = 0;
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	want = rails_nid(0, (unsigned int)rails.last.rail);
	UNIT_EQUAL(nr_puts, 1, "events");
	UNIT_EQUAL(lnet_nid_same(&sender, &want), true, "the interface that sent it");
	rails.on_event = NULL;
	rails_end();
}

/* 300 requests end at once. Their entries do not all stay in the pool. */
static void test_pool(void)
{
	unsigned int i;

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_ACK, FATE_DELAY, LNET_OK, -1);
	for (i = 0; i < 300; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_clear();
	rails_release();
	rails_run(NSEC_PER_SEC);
	for (i = 1; i <= rails.nr_tags; i++)
		UNIT_EQUAL(rails.req[i].nr_effects, 1, "effects");
	CU_ASSERT_TRUE(shard()->entries.nr > 0 && shard()->entries.nr <= 128);
	rails_end();
}

/* A window whose reply is held may not be dropped for another one. */
static void test_held(void)
{
	struct lnet_window *w;
	unsigned int tag;

	rails_begin(NULL);
	rails_tune(1, "reply_cache_max", 0);
	rails_tune(0, "hedge", 0);
	rails_run(NSEC_PER_SEC);
	w = lnet_window_find(shard(), rails_peer(0, 1)->tx.session_id);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	UNIT_EQUAL(lnet_window_is_busy(w), false, "no request");
	rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, 1);
	tag = rails_get(0, 1, 64, 0);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(shard()->nr_held, 1, "the reply is held");
	UNIT_EQUAL(lnet_window_is_busy(w), true, "the reply is held");
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(lnet_window_is_busy(w), false, "the reply was acknowledged");
	rails_end();
}

/* The ACK of the first PUT is lost, and the second PUT is late. The third gets one ACK alone. */
static void test_ack_not_repeated(void)
{
	unsigned int tag[3];

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
	tag[0] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag[1] = rails_put(0, 1, 8, LNET_ACK, 0);
	tag[2] = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.nr_carried[RAILS_ACK], 2, "the lost ACK, and one more");
	UNIT_EQUAL(rails_done(tag[0]), 0, "the first");
	UNIT_EQUAL(rails_done(tag[2]), 1, "the third");
	rails_release();
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[1]), 2, "all");
	rails_end();
}

/* Node 1 has no operation for an ACK when it receives a PUT. */
static void test_ack_without_memory(void)
{
	struct lnet_window *w;
	unsigned int tag;
	LIST_HEAD(saved);

	rails_begin(NULL);
	rails_tune(0, "hedge", 0);
	w = lnet_window_find(shard(), rails_peer(0, 1)->tx.session_id);
	CU_ASSERT_PTR_NOT_NULL_FATAL(w);
	rails_on(0, -1, RAILS_PUT, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	list_splice_init(&shard()->ops.free, &saved);
	rails_release();
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "effects");
	UNIT_EQUAL(w->ack_due_ns, rails.now_ns + 10 * RAILS_MS, "retried after confirm_delay");
	list_splice_init(&saved, &shard()->ops.free);
	rails_run(11 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "attempts");
	rails_end();
}

UNIT_SUITE(untracked,
	{ "an untracked PUT waits on a lazy portal for a buffer", test_waits },
	{ "an untracked PUT is dropped if its portal is no longer lazy", test_not_lazy },
	{ "an untracked PUT is dropped if its connection closes", test_connection_closed },
	{ "an event names the interface that sent the message", test_sender },
	{ "a shard keeps a bounded number of entries", test_pool },
	{ "rule 13: a window with a held reply is busy", test_held },
	{ "rule 10: an ACK without memory is sent after confirm_delay", test_ack_without_memory },
	{ "rule 10: an ACK is repeated only for a duplicate", test_ack_not_repeated })
