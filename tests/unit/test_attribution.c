/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/path/attribution.c: which ends of a failed path are penalized in addition to it. */
#define HEALTH_T(name) blame_t_##name
#include "health.h"

/* Two local and two remote interfaces, all on one net: four paths. */
enum { A1_B1, A1_B2, A2_B1, A2_B2 };

static void square(void)
{
	setup_nets(2, 1);
}

static void heard(unsigned int i)
{
	begin();
	lnet_path_alive(&w->sh, &w->path[i], w->now_ns, 0);
	end();
}

/* Path @i has no response for 100 ms and fails; paths in @alive show liveness after 50 ms. */
static void silence(unsigned int i, enum lnet_outcome how, unsigned int alive)
{
	u64 since_ns = w->now_ns;
	unsigned int k;

	w->now_ns += 50 * MS;
	for (k = 0; k < 4; k++)
		if (alive & 1 << k)
			heard(k);
	w->now_ns += 50 * MS;
	begin();
	lnet_health_fail(&w->sh, &w->path[i], how, since_ns);
	end();
}

#define BIT_OF(path) (1 << (path))
#define ALL 0xf

static void all_heard(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		heard(i);
}

static void expect(const char *name, int a1, int a2, int b1, int b2)
{
	UNIT_EQUAL(ni_health(0), a1, name);
	UNIT_EQUAL(ni_health(1), a2, name);
	UNIT_EQUAL(w->pni[0].health, b1, name);
	UNIT_EQUAL(w->pni[1].health, b2, name);
}

static const enum lnet_outcome of_pairs[] = {
	LNET_LOCAL_TIMEOUT, LNET_REMOTE_DROPPED, LNET_NETWORK_TIMEOUT, LNET_PATH_LOST,
};

/* A switch port between the two is broken; both interfaces respond to others. */
static void test_port(void)
{
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(of_pairs); i++) {
		const char *name = lnet_outcomes[of_pairs[i]].name;

		square();
		all_heard();
		for (k = 0; k < 20; k++)
			silence(A1_B2, of_pairs[i], ALL & ~BIT_OF(A1_B2));
		expect(name, 1000, 1000, 1000, 1000);
		UNIT_EQUAL(w->path[A1_B2].health, 0, name);
		UNIT_EQUAL(w->path[A1_B2].recovering, RECOVER_SLOW, name);
		CU_ASSERT_FALSE(lnet_path_is_healthy(&w->path[A1_B2]));
		CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[A1_B1]));
		CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[A2_B2]));
		teardown();
	}
}

/* No path shows liveness meanwhile: one failed pair alone does not penalize its ends. */
static void test_one_is_not_enough(void)
{
	square();
	all_heard();
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	expect("one pair", 1000, 1000, 1000, 1000);
	UNIT_EQUAL(w->path[A1_B2].health, 800, "the pair itself, at once");
	teardown();
}

static void test_two_agree(void)
{
	square();
	all_heard();
	silence(A1_B1, LNET_NETWORK_TIMEOUT, BIT_OF(A2_B1) | BIT_OF(A2_B2));
	expect("the first partner", 1000, 1000, 1000, 1000);
	silence(A1_B2, LNET_NETWORK_TIMEOUT, BIT_OF(A2_B1) | BIT_OF(A2_B2));
	expect("our interface, by the second", 900, 1000, 1000, 1000);
	silence(A1_B1, LNET_NETWORK_TIMEOUT, BIT_OF(A2_B1) | BIT_OF(A2_B2));
	expect("and by each one more", 800, 1000, 1000, 1000);
	teardown();
	square();
	all_heard();
	silence(A2_B2, LNET_REMOTE_DROPPED, BIT_OF(A1_B1) | BIT_OF(A2_B1));
	expect("the first of ours", 1000, 1000, 1000, 1000);
	silence(A1_B2, LNET_REMOTE_DROPPED, BIT_OF(A1_B1) | BIT_OF(A2_B1));
	expect("the peer's interface, by the second", 1000, 1000, 1000, 900);
	teardown();
}

/* Two paths failed, but the first responded again before the second failed. */
static void test_heard_again(void)
{
	square();
	all_heard();
	silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	heard(A1_B1);
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	expect("no witness any more", 1000, 1000, 1000, 1000);
	teardown();
}

/* One of three paths to an interface gives no response, one failed just before, one responds. */
static void test_one_responds(void)
{
	enum { A1_C1 = 0, A2_C1 = 3, A3_C1 = 6 };
	unsigned int i;

	setup_nets(3, 1);
	for (i = 0; i < 9; i++)
		heard(i);
	silence(A3_C1, LNET_NETWORK_TIMEOUT, BIT_OF(A2_C1));
	silence(A1_C1, LNET_NETWORK_TIMEOUT, BIT_OF(A2_C1));
	UNIT_EQUAL(w->pni[0].health, 1000, "the peer's interface responds");
	UNIT_EQUAL(w->path[A1_C1].health, 900, "the pair");
	teardown();
}

/* The clock of a node may begin at 0, so a time that means "never" must not look recent. */
static void test_young_clock(void)
{
	square();
	w->now_ns = SEC;
	lnet_wheel_init(&w->sh.wheel, w->now_ns);
	all_heard();
	silence(A2_B2, LNET_NETWORK_TIMEOUT, 0);
	heard(A2_B2);
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	expect("the first one works again", 1000, 1000, 1000, 1000);
	teardown();
}

/* An end without a partner that responded in the last minute is penalized as if it were alone. */
static void test_nobody_can_tell(void)
{
	square();
	heard(A1_B1);
	silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	expect("no other was ever heard", 900, 1000, 900, 1000);
	teardown();
	square();
	all_heard();
	w->now_ns += 61 * SEC;
	silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	expect("none lately", 900, 1000, 900, 1000);
	teardown();
	square();
	all_heard();
	silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	w->now_ns += 61 * SEC;
	heard(A1_B1);
	all_heard();
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	expect("what failed long ago is no witness", 1000, 1000, 1000, 1000);
	teardown();
}

static const struct {
	enum lnet_outcome how;
	int a1, b2;
} culprits[] = {
	{ LNET_LOCAL_INTERRUPT, 900, 1000 }, { LNET_LOCAL_DROPPED, 900, 1000 },
	{ LNET_LOCAL_ABORTED, 900, 1000 },   { LNET_LOCAL_NO_ROUTE, 900, 1000 },
	{ LNET_LOCAL_ERROR, 900, 1000 },     { LNET_REMOTE_ERROR, 1000, 900 },
	{ LNET_REMOTE_TIMEOUT, 1000, 900 },
};

static void test_culprits(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(culprits); i++) {
		square();
		all_heard();
		silence(A1_B2, culprits[i].how, ALL);
		expect(lnet_outcomes[culprits[i].how].name, culprits[i].a1, 1000, 1000,
		       culprits[i].b2);
		UNIT_EQUAL(w->path[A1_B2].health, 900, "and the pair");
		teardown();
	}
}

/* The other partner of the local interface is in another shard. */
static void test_shards(void)
{
	struct lnet_ni *one, *two;
	unsigned int i;

	square();
	one = w->ni[0];
	two = calloc(1, sizeof(*two) + 2 * sizeof(two->sh[0]));
	memcpy(two, one, sizeof(*one) + sizeof(one->sh[0]));
	list_del(&one->link);
	list_add(&two->link, &w->ln.nis);
	free(one);
	w->ni[0] = two;
	w->path[A1_B1].ni = w->path[A1_B2].ni = two;
	w->ln.nr_shards = 2;
	for (i = 0; i < 2; i++) {
		two->sh[1].responded[0] =
			(struct lnet_seen){ .ns = w->now_ns + 99 * MS, .who = 77 };
		heard(A1_B1);
		silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	}
	UNIT_EQUAL(ni_health(0), 1000, "it was heard there");
	two->sh[1].failed[0] = (struct lnet_seen){ .ns = w->now_ns, .who = 77 };
	silence(A1_B1, LNET_NETWORK_TIMEOUT, 0);
	UNIT_EQUAL(ni_health(0), 900, "it failed there, too");
	w->ln.nr_shards = 1;
	teardown();
}

/*
 * Counts the failures until a dead interface is penalized, with requests to its partners in turn.
 */
static void test_found_soon(void)
{
	unsigned int nr = 0, round;

	for (round = 0; round < 2; round++) {
		square();
		all_heard();
		for (nr = 0; ni_health(0) == 1000 && nr < 10; nr++)
			silence(nr % 2 ? A1_B2 : A1_B1, LNET_NETWORK_TIMEOUT,
				BIT_OF(A2_B1) | BIT_OF(A2_B2));
		CU_ASSERT_TRUE(nr <= 1 + 2);
		UNIT_EQUAL(w->pni[0].health + w->pni[1].health, 2000, "the partners are not");
		teardown();
	}
}

/* The pair recovers by pings on this path only, one point of health for each ping. */
static void test_pair_heals(void)
{
	unsigned int i;

	square();
	all_heard();
	silence(A1_B2, LNET_NETWORK_TIMEOUT, ALL & ~BIT_OF(A1_B2));
	run(SEC, MS / 4, &lively);
	CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[A1_B2]));
	UNIT_EQUAL(nr_pings, 100, "lnt-035: a point each");
	for (i = 0; i < nr_pings; i++)
		CU_ASSERT_PTR_EQUAL(pings[i].path, &w->path[A1_B2]);
	teardown();
}

/* Setting the health of an interface to the maximum manually also sets its paths. */
static void test_by_hand(void)
{
	square();
	all_heard();
	silence(A1_B2, LNET_NETWORK_TIMEOUT, 0);
	lnet_health_set_peer(&w->ln, &w->pni[1].nid, LNET_HEALTH_MAX);
	UNIT_EQUAL(w->path[A1_B2].health, 1000, "the peer's");
	silence(A1_B2, LNET_LOCAL_ERROR, 0);
	lnet_health_set_ni(&w->ln, &w->ni[0]->nid, LNET_HEALTH_MAX);
	UNIT_EQUAL(w->path[A1_B2].health, 1000, "ours");
	silence(A1_B2, LNET_LOCAL_ERROR, 0);
	lnet_health_set_ni(&w->ln, &w->ni[1]->nid, LNET_HEALTH_MAX);
	UNIT_EQUAL(w->path[A1_B2].health, 900, "not by another");
	teardown();
}

UNIT_SUITE(attribution,
	   { "lnt-020: a pair that alone fails lowers neither end", test_port },
	   { "lnt-020: one silent pair is not enough", test_one_is_not_enough },
	   { "lnt-020: two partners that fail agree", test_two_agree },
	   { "lnt-020: who is heard again is no witness", test_heard_again },
	   { "lnt-020: an end that responds is healthy although two of its paths failed",
	     test_one_responds },
	   { "lnt-020: a path that works again does not count in the first minute of the clock",
	     test_young_clock },
	   { "lnt-020: where nobody can tell an end is charged", test_nobody_can_tell },
	   { "lnt-020: failures that name their culprit", test_culprits },
	   { "lnt-020: partners in other shards count", test_shards },
	   { "lnt-020: a dead interface is found by two messages more", test_found_soon },
	   { "lnt-035: the pair heals by its own pings", test_pair_heals },
	   { "lnt-015: an interface set whole by hand", test_by_hand })
