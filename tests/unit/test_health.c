/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/path/health.c: which events raise and lower health, and which nodes learn of it. */
#define HEALTH_T(name) health_t_##name
#include "health.h"

/* ---- values ---------------------------------------------------------------------------------- */

static const struct {
	enum lnet_outcome how;
	int ni, pni;		/* health that it costs */
} blames[] = {
	{ LNET_OK, 0, 0 },
	{ LNET_ACKNOWLEDGED, 0, 0 },
	{ LNET_LOCAL_INTERRUPT, 100, 0 },
	{ LNET_LOCAL_DROPPED, 100, 0 },
	{ LNET_LOCAL_ABORTED, 100, 0 },
	{ LNET_LOCAL_NO_ROUTE, 100, 0 },
	{ LNET_LOCAL_ERROR, 100, 0 },
	{ LNET_LOCAL_TIMEOUT, 100, 0 },
	{ LNET_REMOTE_ERROR, 0, 100 },
	{ LNET_REMOTE_DROPPED, 0, 100 },
	{ LNET_REMOTE_TIMEOUT, 0, 100 },
	{ LNET_NETWORK_TIMEOUT, 100, 100 },
	{ LNET_PATH_LOST, 0, 100 },
	{ LNET_CANCELED, 0, 0 },
	{ LNET_ABORTED, 0, 0 },
	{ LNET_SHUTDOWN, 0, 0 },
	{ LNET_NO_MEMORY, 0, 0 },
	{ LNET_NO_MATCH, 0, 0 },
	{ LNET_TOO_LONG, 0, 0 },
	{ LNET_NO_PATH, 0, 0 },
	{ LNET_UNLINKED, 0, 0 },
};

static void test_blame(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blames); i++) {
		setup(2);
		fail_at(0, blames[i].how);
		UNIT_EQUAL(ni_health(0), 1000 - blames[i].ni, lnet_outcomes[blames[i].how].name);
		UNIT_EQUAL(w->pni[0].health, 1000 - blames[i].pni,
			   lnet_outcomes[blames[i].how].name);
		UNIT_EQUAL(ni_health(1) + w->pni[1].health, 2000, "the other rail");
		UNIT_EQUAL(w->path[0].recovering,
			   blames[i].ni + blames[i].pni ? RECOVER_SLOW : RECOVER_NOT, "recovery");
		teardown();
	}
}

static void test_counters(void)
{
	setup(1);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	fail_at(0, LNET_REMOTE_TIMEOUT);
	fail_at(0, LNET_NETWORK_TIMEOUT);
	fail_at(0, LNET_REMOTE_DROPPED);
	fail_at(0, LNET_REMOTE_ERROR);
	fail_at(0, LNET_PATH_LOST);
	fail_at(0, LNET_CANCELED);
	UNIT_EQUAL(w->sh.c[LNET_C_local_timeout_count], 2, "local timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_remote_timeout_count], 1, "remote timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_network_timeout_count], 1, "network timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_path_lost], 0,
		   "path lost: counted by who knows what was under way");
	UNIT_EQUAL(w->ni[0]->sh[0].c[LNET_NIC_timeouts], 2, "NI timeouts");
	UNIT_EQUAL(w->ni[0]->sh[0].c[LNET_NIC_network_timeout], 1, "NI network timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_timeout], 1, "peer NI timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_network_timeout], 1, "peer NI network timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_dropped], 1, "peer NI dropped");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_error], 1, "peer NI error");
	teardown();
}

/* Stock LNet's sequence of health values, with a step of 1 instead of the sensitivity. */
static void test_vectors(void)
{
	unsigned int i;

	setup(2);
	for (i = 0; i < 3; i++)
		fail_at(0, LNET_LOCAL_TIMEOUT);
	UNIT_EQUAL(ni_health(0), 700, "three local timeouts");
	ok_at(0, false);
	ok_at(0, true);
	UNIT_EQUAL(ni_health(0), 702, "two successes");
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 602, "local error");
	for (i = 0; i < 1000; i++)
		ok_at(0, false);
	UNIT_EQUAL(ni_health(0), 1000, "capped");
	w->pni[0].health = 50;
	fail_at(0, LNET_REMOTE_ERROR);
	UNIT_EQUAL(w->pni[0].health, 0, "never below 0");
	ok_at(0, false);
	UNIT_EQUAL(w->pni[0].health, 0, "our own hand-over is no evidence of the peer");
	ok_at(0, true);
	UNIT_EQUAL(w->pni[0].health, 1, "an answer is");
	w->ln.tun.health_sensitivity = 300;
	for (i = 0; i < 4; i++)
		fail_at(1, LNET_LOCAL_DROPPED);
	UNIT_EQUAL(ni_health(1), 0, "S = 300");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[1]));
	w->ln.tun.health_step = 300;
	for (i = 0; i < 3; i++)
		ok_at(1, false);
	UNIT_EQUAL(ni_health(1), 900, "step 300");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[1]));
	ok_at(1, false);
	UNIT_EQUAL(ni_health(1), 1000, "whole");
	CU_ASSERT_TRUE(lnet_ni_up(w->ni[1]));
	UNIT_EQUAL(w->kicks, 2, "down and up are announced");
	teardown();
}

/*
 * An interface that fell to 0 is up again after 16 successes; if it falls again soon, after 32, ...
 */
static void test_flaps(void)
{
	static const unsigned int wants[] = { 16, 32, 64, 128, 256, 512, 1000, 1000 };
	unsigned int i, nr;

	setup(1);
	for (i = 0; i < ARRAY_SIZE(wants); i++) {
		atomic_set(&w->ni[0]->health, 1);
		fail_at(0, LNET_LOCAL_ERROR);
		CU_ASSERT_FALSE(lnet_ni_up(w->ni[0]));
		for (nr = 0; !lnet_ni_up(w->ni[0]) && nr < 2000; nr++)
			ok_at(0, false);
		UNIT_EQUAL(nr, wants[i], "successes");
		w->now_ns += SEC;
	}
	w->now_ns += 60 * SEC;
	atomic_set(&w->ni[0]->health, 1);
	fail_at(0, LNET_LOCAL_ERROR);
	for (nr = 0; !lnet_ni_up(w->ni[0]) && nr < 2000; nr++)
		ok_at(0, false);
	UNIT_EQUAL(nr, 16, "it was well for a minute");
	teardown();
}

static void test_exempt(void)
{
	setup(1);
	fail_at(0, LNET_REMOTE_DROPPED);
	UNIT_EQUAL(w->pni[0].health, 900, "the only NID of a peer is blamed, too");
	own_nid = w->pni[0].nid;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	UNIT_EQUAL(w->pni[0].health, 900, "an own NID is not");
	UNIT_EQUAL(ni_health(0), 900, "but the NI is");
	w->ln.lo = w->ni[0];
	fail_at(0, LNET_NETWORK_TIMEOUT);
	UNIT_EQUAL(ni_health(0), 900, "loopback is not");
	w->ln.lo = NULL;
	w->ln.tun.health_sensitivity = 0;
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 900, "sensitivity 0 keeps it");
	w->ln.tun.health_sensitivity = 100;
	w->ln.stopping = 1;
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 900, "nothing falls while the node stops");
	teardown();
}

/* Failures while an interface has no link do not penalize either end; later failures do. */
static void test_no_link(void)
{
	unsigned int i;

	setup(2);
	lnet_ni_mark(w->ni[0], LNET_MARK(LINK_DOWN), 1);
	for (i = 0; i < ARRAY_SIZE(blames); i++)
		fail_at(0, blames[i].how);
	UNIT_EQUAL(ni_health(0) + w->pni[0].health, 2000, "no link: both ends stay");
	CU_ASSERT_FALSE(lnet_ni_marked(w->ni[0], LNET_MARK(NO_HEALTH)));	/* not advertised */
	CU_ASSERT_FALSE(lnet_path_is_healthy(&w->path[0]));
	UNIT_EQUAL(w->sh.c[LNET_C_local_dropped_count], 1, "counted it is");
	lnet_ni_mark(w->ni[0], LNET_MARK(LINK_DOWN), 0);
	lnet_ni_mark(w->ni[0], LNET_MARK(RULE_DOWN), 1);
	fail_at(0, LNET_LOCAL_DROPPED);
	UNIT_EQUAL(ni_health(0), 1000, "down by a rule: the same");
	lnet_ni_mark(w->ni[0], LNET_MARK(RULE_DOWN), 0);
	fail_at(0, LNET_LOCAL_DROPPED);
	UNIT_EQUAL(ni_health(0), 900, "the link is back");
	teardown();
}

static void test_bounds(void)
{
	unsigned int round;

	setup(3);
	for (round = 0; round < 20000; round++) {
		unsigned int i = world_random(&w->env) % 3;
		u64 what = world_random(&w->env) >> 20;

		if (round % 100 == 0) {
			w->ln.tun.health_sensitivity = world_random(&w->env) % 1001;
			w->ln.tun.health_step = 1 + world_random(&w->env) % 1000;
		}
		if (what & 1)
			ok_at(i, what & 2);
		else
			fail_at(i, what / 4 % LNET_NR_OUTCOMES);
		CU_ASSERT_FATAL(ni_health(i) >= 0 && ni_health(i) <= 1000 &&
				w->pni[i].health <= 1000);
	}
	teardown();
}

static void test_by_hand(void)
{
	struct lnet_nid none;

	setup(2);
	world_nid(&none, 9, 9);
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &w->ni[0]->nid, 900), 0, "one NI");
	UNIT_EQUAL(ni_health(0), 900, "one NI");
	UNIT_EQUAL(ni_health(1), 1000, "not the other");
	UNIT_EQUAL(w->path[0].recovering, RECOVER_SLOW, "recovers");
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &LNET_NID_ANY, -5), 0, "all");
	UNIT_EQUAL(ni_health(0) + ni_health(1), 0, "clamped to 0");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[0]));
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &LNET_NID_ANY, 4000), 0, "all");
	UNIT_EQUAL(ni_health(0) + ni_health(1), 2000, "clamped to 1000");
	CU_ASSERT_TRUE(lnet_ni_up(w->ni[0]));
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &none, 1), -ENOENT, "no such NI");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &none, 1), -ENOENT, "no such peer NI");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &w->pni[1].nid, 10), 0, "one peer NI");
	UNIT_EQUAL(w->pni[1].health, 10, "one peer NI");
	UNIT_EQUAL(w->pni[0].health, 1000, "not the other");
	UNIT_EQUAL(w->path[1].recovering, RECOVER_SLOW, "recovers");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &LNET_NID_ANY, 1001), 0, "all");
	UNIT_EQUAL(w->pni[1].health, 1000, "all, clamped");
	teardown();
}

UNIT_SUITE(health,
	   { "lnt-020 lnt-055: each outcome costs those whom it blames", test_blame },
	   { "stt-005 stt-010 stt-015: failures are counted where they belong", test_counters },
	   { "lnt-020 lnt-025: down by the sensitivity, up by the step, capped", test_vectors },
	   { "when an interface that was at 0 is announced as up", test_flaps },
	   { "lnt-020: who is never blamed", test_exempt },
	   { "what fails without link costs neither end", test_no_link },
	   { "lnt-005 lnt-010 lnt-015: never outside 0..1000", test_bounds },
	   { "lnt-015: health set by hand starts recovery", test_by_hand })
