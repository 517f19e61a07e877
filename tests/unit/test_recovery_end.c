/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/path/recover.c: paths that need no ping, bounds of a pause, lines of the log. */
#define HEALTH_T(name) recovery_end_t_##name
#include "health.h"

static void ping_ends(unsigned int i, int status)
{
	begin();
	lnet_path_ping_done(&pass, &w->path[i], status, 0);
	end();
}

/* A routed path can only work if the path to its router does. */
static void test_router_first(void)
{
	struct lnet_path *routed, *first_hop;

	setup(2);
	routed = &w->path[0];
	first_hop = &w->path[1];
	routed->hop = first_hop->pni;
	routed->first_hop = first_hop;
	first_hop->down_ns = w->now_ns;
	fail_at(0, LNET_REMOTE_TIMEOUT);
	UNIT_EQUAL(routed->recovering, RECOVER_NOT, "the router is down");
	first_hop->down_ns = 0;
	first_hop->suspect_ns = w->now_ns;
	fail_at(0, LNET_REMOTE_TIMEOUT);
	UNIT_EQUAL(routed->recovering, RECOVER_NOT, "the router is suspect");
	run(SEC, MS, &silent);
	UNIT_EQUAL(nr_pings, 0, "pings");
	first_hop->suspect_ns = 0;
	fail_at(0, LNET_REMOTE_TIMEOUT);
	run(MS, MS, &silent);
	UNIT_EQUAL(nr_pings, 1, "the router responds");
	CU_ASSERT_PTR_EQUAL(pings[0].path, routed);
	teardown();
}

/* `peer show' must not print the time of a ping that will not be sent. */
static void test_no_plan(void)
{
	unsigned int i;

	setup(1);
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(5 * SEC, MS, &silent);
	for (i = 0; i < 5000 && list_empty(&w->path[0].timer.link); i++)
		run(MS, MS, &silent);	/* a ping is in flight */
	CU_ASSERT_TRUE(w->pni[0].next_ping_ns > w->now_ns);
	w->ni[0]->state = NI_DRAINING;
	run(5 * SEC, MS, &silent);
	UNIT_EQUAL(w->path[0].recovering, RECOVER_NOT, "recovery ended");
	UNIT_EQUAL(w->pni[0].next_ping_ns, 0, "no ping is planned");
	teardown();
}

/* Interfaces that are drained while their paths wait leave the whole rate to the others. */
static void test_rate_kept(void)
{
	unsigned int i;

	setup(2 * BUDGET_BURST);
	w->ln.tun.recovery_rate = 1;
	for (i = 0; i < w->nr_path; i++)
		fail_at(i, LNET_NETWORK_TIMEOUT);
	for (i = 0; i < w->nr_path - 1; i++)
		w->ni[i]->state = NI_DRAINING;
	run(10 * MS, MS, &silent);
	UNIT_EQUAL(nr_pings, 1, "the last path of the queue");
	CU_ASSERT_PTR_EQUAL(pings[0].path, &w->path[w->nr_path - 1]);
	teardown();
}

static u64 random_value;

static u64 fixed_random(struct lnet_env *env)
{
	return random_value;
}

static void test_pause_bounds(void)
{
	static const struct {
		u64 random, percent;
	} rows[] = { { 0, 80 }, { U64_MAX / 2, 100 }, { U64_MAX, 120 } };
	struct lnet_env_ops ops = world_env_ops;
	unsigned int i;

	ops.random = fixed_random;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		setup(1);
		w->env.ops = &ops;
		random_value = rows[i].random;
		fail_at(0, LNET_NETWORK_TIMEOUT);
		run(MS, MS, &silent);
		UNIT_EQUAL(nr_pings, 1, "pings");
		w->now_ns += SEC;
		ping_ends(0, -ETIMEDOUT);
		UNIT_EQUAL(w->path[0].timer.when_ns - w->now_ns, rows[i].percent * MS,
			   "percent of 100 ms");
		teardown();
	}
}

static char last_line[200];
static unsigned int nr_lines;

static void line_take(void *arg, enum lnet_log_level level, const char *text)
{
	strscpy(last_line, text, sizeof(last_line));
	nr_lines++;
}

/* The end of a line is "@to failed: why" or "@to recovered after N ms". */
static void expect_line(const char *words, unsigned int nr)
{
	UNIT_EQUAL(nr_lines, nr, words);
	CU_ASSERT_PTR_NOT_NULL(strstr(last_line, words));
}

/* Only pings noticed the failure. The log reports the recovery before health is 1000 again. */
static void test_log(void)
{
	struct lnet_cfg cfg = { .log = line_take };

	setup(2);
	nr_lines = 0;
	lnet_log_init(&w->ln, &cfg);
	begin();
	lnet_path_suspect(&pass, &w->path[0]);
	end();
	UNIT_EQUAL(nr_lines, 0, "a suspicion");
	w->now_ns += 2 * SEC;
	ping_ends(0, -ETIMEDOUT);
	expect_line("failed: no answer to a ping", 1);
	w->now_ns += SEC;
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 0);
	end();
	UNIT_EQUAL(nr_lines, 1, "a message of the peer is no reply to a ping");
	w->path[0].pinging = 1;
	ping_ends(0, 0);
	CU_ASSERT_TRUE(w->path[0].health < LNET_HEALTH_MAX);
	expect_line("recovered after 3000 ms", 2);
	teardown();
}

UNIT_SUITE(recovery_end,
	   { "lnt-035: no ping on a routed path while its router gives no response",
	     test_router_first },
	   { "lnt-035: the time of the next ping ends with recovery", test_no_plan },
	   { "lnt-035: paths that need no ping any more use nothing of the rate", test_rate_kept },
	   { "lnt-035: a pause is 80 to 120 % of its length", test_pause_bounds },
	   { "a failure that only pings noticed is logged, and its end", test_log })
