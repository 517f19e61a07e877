/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/memory/event.c with the environment of user space. Handlers that block are counted
 * and logged while they block, and other threads take over the polling of their thread.
 */
#include "unit.h"
#include <lnet/env.h>
#include <lnet/lnet.h>
#include <lnet/progress.h>

#define MS		NSEC_PER_MSEC
#define LONG		(10000 * MS)	/* longer than any step of these tests */
#define NR_PORTALS	8U

/* A node whose handlers of portal n block as long as bit n is set. */
struct world {
	struct lnet_env *env;
	struct lnet *ln;
	u32 blocking;
	u32 nr_entered[NR_PORTALS], nr_left[NR_PORTALS];
	u32 nr_running[NR_PORTALS];	/* log lines about handlers that still run */
	u32 nr_long;			/* log lines about handlers that have ended */
	char memory[NR_PORTALS][64];
};

static struct world *world;	/* global, because handlers get no argument */

static u64 now_ns(void)
{
	return world->env->ops->now_ns(world->env);
}

static void handler(const struct lnet_event *ev)
{
	u32 *entered = &world->nr_entered[ev->portal], *left = &world->nr_left[ev->portal];

	if (ev->kind != LNET_EVENT_PUT)
		return;
	__atomic_add_fetch(entered, 1, __ATOMIC_SEQ_CST);
	while (READ_ONCE(world->blocking) >> ev->portal & 1)
		usleep_range(500, 500);
	__atomic_add_fetch(left, 1, __ATOMIC_SEQ_CST);
}

static void note_probes(void *arg, enum lnet_log_level level, const char *text)
{
	struct world *w = arg;
	unsigned int portal;
	unsigned long long ms;

	if (sscanf(text, "a handler has been running for %llu ms: portal %u,", &ms, &portal) == 2)
		__atomic_add_fetch(&w->nr_running[portal], 1, __ATOMIC_SEQ_CST);
	else if (strstr(text, "handlers of 1 events ran for"))
		__atomic_add_fetch(&w->nr_long, 1, __ATOMIC_SEQ_CST);
}

static void post(struct world *w, u32 portal)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg md = { .start = w->memory[portal], .length = sizeof(w->memory[0]),
				  .threshold = LNET_THRESHOLD_INF, .cpt = -1,
				  .options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE,
				  .handler = handler };
	lnet_md_t handle;
	lnet_me_t me;

	UNIT_EQUAL(lnet_me_attach(w->ln, portal, &anybody, 0, 0, LNET_RETAIN, LNET_INS_AFTER, &me),
		   0, "ME");
	UNIT_EQUAL(lnet_md_attach(w->ln, me, &md, LNET_RETAIN, &handle), 0, "MD");
}

static void world_up(struct world *w, enum lnet_progress_mode mode)
{
	struct lnet_user_env_cfg how = { .mode = mode, .seed = 7 };
	struct lnet_cfg cfg = { .log = note_probes, .log_arg = w };
	u32 portal;

	*w = (struct world){ .blocking = 0 };
	world = w;
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_create(&w->env, &how), 0);
	cfg.env = w->env;
	CU_ASSERT_EQUAL_FATAL(lnet_create(&w->ln, &cfg), 0);
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_start(w->env, w->ln), 0);
	for (portal = 1; portal < NR_PORTALS; portal++)
		post(w, portal);
}

static void world_down(struct world *w)
{
	WRITE_ONCE(w->blocking, 0);
	lnet_user_env_stop(w->env);
	lnet_destroy(w->ln);
	lnet_user_env_destroy(w->env);
}

/* A PUT of the node to itself. */
static void put(struct world *w, u32 portal)
{
	static char text[4] = "put";
	struct lnet_md_cfg md = { .start = text, .length = sizeof(text), .threshold = 1,
				  .cpt = -1 };
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.portal = portal;
	UNIT_EQUAL(lnet_nid_parse(&x.target.nid, "0@lo"), 0, "loopback");
	UNIT_EQUAL(lnet_md_bind(w->ln, &md, LNET_UNLINK, &x.md), 0, "bind");
	UNIT_EQUAL(lnet_put(w->ln, &x), 0, "put");
}

static bool reaches(const u32 *value, u32 wanted)
{
	u64 end_ns = now_ns() + LONG;

	while (READ_ONCE(*value) < wanted && now_ns() < end_ns)
		usleep_range(500, 500);
	return READ_ONCE(*value) >= wanted;
}

static u64 slow_handlers(struct world *w)
{
	uint64_t value = 0;

	UNIT_EQUAL(lnet_counter_get(w->ln, "slow_handlers", &value), 0, "counter");
	return value;
}

/* ---- the watch ------------------------------------------------------------------------------- */

static void test_running(void)
{
	struct world w;

	world_up(&w, LNET_PROGRESS_SERVICE);
	w.blocking = 1 << 3;
	put(&w, 3);
	CU_ASSERT(reaches(&w.nr_running[3], 1));
	UNIT_EQUAL(READ_ONCE(w.nr_left[3]), 0, "a line while it runs");
	UNIT_EQUAL(slow_handlers(&w), 1, "counted while it runs");
	usleep_range(40000, 40000);
	UNIT_EQUAL(READ_ONCE(w.nr_running[3]), 1, "once");
	WRITE_ONCE(w.blocking, 0);
	CU_ASSERT(reaches(&w.nr_long, 1));
	UNIT_EQUAL(slow_handlers(&w), 1, "not counted again when it ends");
	world_down(&w);
}

/* In manual mode no other thread exists, so a handler is counted when it returns. */
static void blocked_manually(struct world *w)
{
	w->blocking = 1 << 1;
	put(w, 1);
}

static void *release_soon(void *arg)
{
	struct world *w = arg;

	CU_ASSERT(reaches(&w->nr_entered[1], 1));
	usleep_range(15000, 15000);
	WRITE_ONCE(w->blocking, 0);
	return NULL;
}

static void test_manual(void)
{
	pthread_t thread;
	struct world w;

	world_up(&w, LNET_PROGRESS_MANUAL);
	blocked_manually(&w);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, release_soon, &w), 0);
	while (!READ_ONCE(w.nr_left[1]) && lnet_progress(w.ln, LONG) > 0)
		;
	pthread_join(thread, NULL);
	UNIT_EQUAL(slow_handlers(&w), 1, "counted");
	UNIT_EQUAL(READ_ONCE(w.nr_running[1]), 0, "no thread saw it run");
	UNIT_EQUAL(READ_ONCE(w.nr_long), 1, "a line when it has ended");
	world_down(&w);
}

static void test_off(void)
{
	struct world w;

	world_up(&w, LNET_PROGRESS_SERVICE);
	UNIT_EQUAL(lnet_tunable_set(w.ln, "handler_limit", 0), 0, "off");
	w.blocking = 1 << 1;
	put(&w, 1);
	CU_ASSERT(reaches(&w.nr_entered[1], 1));
	put(&w, 2);
	usleep_range(50000, 50000);
	UNIT_EQUAL(READ_ONCE(w.nr_entered[2]), 0, "nobody takes over");
	UNIT_EQUAL(slow_handlers(&w), 0, "and nobody counts");
	WRITE_ONCE(w.blocking, 0);
	CU_ASSERT(reaches(&w.nr_left[2], 1));
	world_down(&w);
}

/* ---- other threads --------------------------------------------------------------------------- */

/* @nr handlers block, and other threads replace theirs. After they return, all portals work. */
static void replace_all(enum lnet_progress_mode mode, u32 nr)
{
	struct world w;
	u32 portal;

	world_up(&w, mode);
	w.blocking = ((1u << nr) - 1) << 1;
	for (portal = 1; portal <= nr; portal++) {
		put(&w, portal);
		CU_ASSERT(reaches(&w.nr_entered[portal], 1));
	}
	put(&w, NR_PORTALS - 1);
	CU_ASSERT(reaches(&w.nr_left[NR_PORTALS - 1], 1));
	for (portal = 1; portal <= nr; portal++) {
		CU_ASSERT(reaches(&w.nr_running[portal], 1));
		UNIT_EQUAL(READ_ONCE(w.nr_left[portal]), 0, "the handler still blocks");
	}
	UNIT_EQUAL(slow_handlers(&w), nr, "each is counted");
	WRITE_ONCE(w.blocking, 0);
	for (portal = 1; portal <= nr; portal++)
		CU_ASSERT(reaches(&w.nr_left[portal], 1));
	for (portal = 1; portal < NR_PORTALS; portal++)
		put(&w, portal);
	for (portal = 1; portal < NR_PORTALS; portal++)
		CU_ASSERT(reaches(&w.nr_left[portal], portal <= nr || portal == 7 ? 2 : 1));
	world_down(&w);
}

static void test_service(void)
{
	replace_all(LNET_PROGRESS_SERVICE, 1);
	replace_all(LNET_PROGRESS_SERVICE, 4);
}

static void test_hybrid(void)
{
	replace_all(LNET_PROGRESS_HYBRID, 1);
	replace_all(LNET_PROGRESS_HYBRID, 4);
}

struct caller {
	struct world *w;
	int rc;
	u32 ended;
};

static bool has_left(void *arg)
{
	struct world *w = arg;

	return READ_ONCE(w->nr_left[1]) != 0;
}

static void *calls(void *arg)
{
	struct caller *caller = arg;

	caller->rc = lnet_progress_until(caller->w->ln, has_left, caller->w, (int64_t)LONG);
	WRITE_ONCE(caller->ended, 1);
	return NULL;
}

/* The thread of the application runs the handler, and the service thread takes over. */
static void test_caller(void)
{
	struct caller caller;
	pthread_t thread;
	struct world w;

	world_up(&w, LNET_PROGRESS_HYBRID);
	caller = (struct caller){ .w = &w };
	w.blocking = 1 << 1;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, calls, &caller), 0);
	usleep_range(3000, 3000);
	put(&w, 1);
	CU_ASSERT(reaches(&w.nr_entered[1], 1));
	put(&w, 2);
	CU_ASSERT(reaches(&w.nr_left[2], 1));
	UNIT_EQUAL(READ_ONCE(caller.ended), 0, "the call lasts as long as the handler");
	WRITE_ONCE(w.blocking, 0);
	pthread_join(thread, NULL);
	UNIT_EQUAL(caller.rc, 0, "the call ends without error");
	world_down(&w);
}

/* lnet_user_env_stop() waits for handlers of threads that were replaced. */
static void *stops(void *arg)
{
	struct caller *caller = arg;

	lnet_user_env_stop(caller->w->env);
	WRITE_ONCE(caller->ended, 1);
	return NULL;
}

static void test_stop(void)
{
	struct caller caller, stopper;
	pthread_t thread, ending;
	struct world w;

	world_up(&w, LNET_PROGRESS_HYBRID);
	caller = (struct caller){ .w = &w };
	stopper = caller;
	w.blocking = 1 << 1;
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, calls, &caller), 0);
	usleep_range(3000, 3000);
	put(&w, 1);
	CU_ASSERT(reaches(&w.nr_running[1], 1));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&ending, NULL, stops, &stopper), 0);
	usleep_range(20000, 20000);
	UNIT_EQUAL(READ_ONCE(stopper.ended), 0, "a handler runs");
	WRITE_ONCE(w.blocking, 0);
	pthread_join(ending, NULL);
	pthread_join(thread, NULL);
	lnet_destroy(w.ln);
	lnet_user_env_destroy(w.env);
}

UNIT_SUITE(watch,
	{ "a handler that blocks is counted and logged while it blocks", test_running },
	{ "manual: a handler that blocks is counted when it returns", test_manual },
	{ "handler_limit 0: nothing is watched, nobody takes over", test_off },
	{ "service: other threads take over from handlers that block", test_service },
	{ "hybrid: other threads take over while no caller polls", test_hybrid },
	{ "hybrid: the service thread takes over from a caller that blocks", test_caller },
	{ "stop waits for handlers of threads that were replaced", test_stop })
