/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Passes: deferred work is done in order, by threads that may do it. */
#include "rails.h"
#include "memory/memory.h"
#include "shard/hooks.h"
#include <pthread.h>

/* ---- order ----------------------------------------------------------------------------------- */

static void test_ack_first(void)
{
	const char *ack, *handled;

	rails_begin(NULL);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	ack = strchr(rails.order, 'a');
	handled = strchr(rails.order, 'P');
	CU_ASSERT(ack && handled && ack < handled);
	rails_end();
}

static unsigned int depth, deepest, left;

/* A handler that sends a request for each request that it receives. */
static void ping_pong(struct rails_node *n, const struct lnet_event *ev)
{
	if (ev->kind != LNET_EVENT_PUT || !left)
		return;
	left--;
	depth++;
	deepest = max(deepest, depth);
	rails_put(n->ix, !n->ix, 8, LNET_ACK, 0);
	depth--;
}

static void test_depth(void)
{
	rails_begin(NULL);
	depth = deepest = 0;
	left = 100;
	rails.on_event = ping_pong;
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(left, 0, "all handled");
	UNIT_EQUAL(deepest, 1, "no handler inside another's call");
	rails.on_event = NULL;
	rails_end();
}

static bool calling, handled_in_call;

static void note_call(struct rails_node *n, const struct lnet_event *ev)
{
	handled_in_call |= calling;
}

/* Events that a call causes are delivered by another thread. */
static void test_call(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails.on_event = note_call;
	handled_in_call = false;
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_NO_MEMORY, 1);
	rails_on(0, -1, RAILS_PUT, FATE_REFUSE, LNET_NO_MEMORY, 1);
	calling = true;
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_put(0, 1, 8, 0, 0);
	lnet_md_unlink(rails.node[0].ln, rails.node[0].md);
	calling = false;
	UNIT_EQUAL(rails_done(tag), 0, "not yet");
	CU_ASSERT(rails.node[0].nr_kicks > 0);
	rails_pump();
	UNIT_EQUAL(rails_done(tag) + rails_done(tag + 1), 2, "by the worker");
	UNIT_EQUAL(handled_in_call, false, "never in the call");
	rails.on_event = NULL;
	rails_end();
}

/* The next pass of a reader delivers the events that a call left, without the worker. */
static void test_reader_delivers(void)
{
	struct lnet_pass p;
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_NO_MEMORY, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_done(tag), 0, "left behind");
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_pass_end(&p);
	UNIT_EQUAL(rails_done(tag), 1, "delivered by the next reader");
	rails_end();
}

/* A reader with many messages may deliver events before the end of its pass. */
static void test_flush_delivers(void)
{
	struct lnet_pass p;
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_NO_MEMORY, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	p.ln->hooks->take_ready(&p);
	UNIT_EQUAL(rails_done(tag), 0, "not yet");
	lnet_pass_flush(&p);
	UNIT_EQUAL(rails_done(tag), 1, "in the middle of the pass");
	lnet_pass_end(&p);
	rails_end();
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A pass that makes the next time of a shard earlier arms the timer again. */
static void test_arm(void)
{
	unsigned int arms;

	rails_begin(NULL);
	rails_run(20 * NSEC_PER_SEC);
	arms = rails.node[0].nr_arms;
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	CU_ASSERT(rails.node[0].nr_arms > arms);
	CU_ASSERT(lnet_shard_next_ns(rails.node[0].ln, 0) <= rails.now_ns + 31 * RAILS_MS);
	rails_end();
}

/*
 * A pass waited for the lock of a shard while later passes had it, and then takes the current time.
 * With its old time, the timestamps of the later passes would seem to be ages old.
 */
static void test_time(void)
{
	struct lnet *ln;
	struct lnet_pass early, late;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	lnet_pass_begin(&early, ln, LNET_PASS_WORKER);
	rails.now_ns += 1000;
	lnet_pass_begin(&late, ln, LNET_PASS_DRIVER);
	lnet_enter(&late, &ln->shard[0]);
	lnet_leave(&late);
	lnet_enter(&early, &ln->shard[0]);
	UNIT_EQUAL(early.now_ns, rails.now_ns, "no earlier than the one before");
	lnet_pass_end(&early);
	lnet_pass_end(&late);
	rails_end();
}

/* struct lnet_hooks has only pointers to functions; one that is NULL would crash its caller. */
static void test_tables(void)
{
	void *const *hook = (void *const *)&lnet_hooks;
	unsigned int i, nr = sizeof(lnet_hooks) / sizeof(*hook);

	CU_ASSERT(nr > LNET_NR_TIMERS + 2 * LNET_NR_JOBS);
	for (i = 0; i < nr; i++)
		CU_ASSERT_PTR_NOT_NULL(hook[i]);
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static struct lnet_ni *going;		/* the interface that is deleted while its driver sends */
static int idle_refs;			/* of each interface, while nothing is sent */

static void *delete_going(void *arg)
{
	rails_ni_del(0, going == arg);
	return NULL;
}

static void delete_while_sending(struct lnet_ni *ni)
{
	pthread_t thread;

	rails.on_keep = NULL;
	going = ni;
	CU_ASSERT(atomic_read(&ni->refs) > idle_refs);
	pthread_create(&thread, NULL, delete_going, rails_ni(0, 1));
	pthread_join(thread, NULL);
}

/* Another thread cancels the attempt and deletes the interface before send() returns. */
static void test_ni_gone(void)
{
	unsigned int tag;

	rails_begin(NULL);
	idle_refs = atomic_read(&rails_ni(0, 0)->refs);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails.on_keep = delete_while_sending;
	going = NULL;
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	CU_ASSERT(going != NULL);
	rails_run(10 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "the request ends over the other rail");
	rails_end();
}

UNIT_SUITE(shard,
	{ "the ACK leaves before the handler of its PUT runs", test_ack_first },
	{ "handlers that send do not nest", test_depth },
	{ "no handler runs inside a call", test_call },
	{ "a reader delivers what a call left", test_reader_delivers },
	{ "a reader delivers before it has read all", test_flush_delivers },
	{ "time does not go back in a shard", test_time },
	{ "an earlier time is announced", test_arm },
	{ "an interface is deleted while its driver sends", test_ni_gone },
	{ "each hook has a function", test_tables })
