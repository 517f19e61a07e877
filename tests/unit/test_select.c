/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/path/select.c: candidate sets with winner and deciding rank (lnt-030, cfg-020),
 * filters, round robin.
 */
#define lnet_path_rank_names select_path_rank_names
#define lnet_select select_select
#define lnet_select_explain select_select_look
#define lnet_op_choose select_op_choose
#define lnet_load_due_ns select_load_due_ns
#define lnet_path_recover select_path_recover
#include "paths.h"
#include "lnet/path/select.c"

static unsigned int nr_recover;

u64 select_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns)
{
	return (path->ix + 1) * (u64)(bytes + 1);
}

void select_path_recover(struct lnet_shard *sh, struct lnet_path *path)
{
	nr_recover++;
}

#define ONE LNET_NR_PATH_RANKS
#define BY(rank) LNET_RANK_##rank

/* ---- with interfaces ------------------------------------------------------------------------- */

struct end {
	u8 net;			/* 0: no such end; else net tcp<net> */
	u16 lost;		/* points below 1000 */
	s32 used;		/* credits below 8 */
	u8 rr_pos;
	u8 fatal, down;		/* NI; down: by a fault rule */
	s8 cpt;			/* NI: 0 unknown, else node + 1 */
	u8 draining;		/* NI; peer NI: deleted */
	u8 out;			/* NI: administratively drained */
};

#define PAIR(n, p) (1u << ((n) * 3 + (p)))

static const struct {
	const char *name;
	struct end ni[3], pni[3];
	u32 suspect, tried, exclude;	/* PAIR() */
	u32 range, numa;
	u8 cpt;				/* 0 unknown, else node + 1 */
	s8 only_ni, only_pni;		/* + 1 */
	s8 want_ni, want_pni;		/* -1: no path */
	u8 decider;
} pairs[] = {
	{ "one pair", { { 1 } }, { { 1 } }, .want_ni = 0, .want_pni = 0, .decider = ONE },
	{ "no common net", { { 1 } }, { { 2 } }, .want_ni = -1 },
	{ "no interface", { { 0 } }, { { 1 } }, .want_ni = -1 },
	{ "NI draining", { { 1, .draining = 1 } }, { { 1 } }, .want_ni = -1 },
	{ "peer NI deleted", { { 1 } }, { { 1, .draining = 1 } }, .want_ni = -1 },
	{ "draining passed over",
	  { { 1, .draining = 1 }, { 1 } },
	  { { 1 } },
	  .want_ni = 1,
	  .decider = ONE },
	{ "deleted passed over",
	  { { 1 } },
	  { { 1, .draining = 1 }, { 1 } },
	  .want_pni = 1,
	  .decider = ONE },
	{ "lnt-030 two nets: health of the NI",
	  { { 1, .lost = 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "lnt-030 two nets: health of the peer NI",
	  { { 1 }, { 2 } },
	  { { 1, .lost = 100 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "lnt-030 two nets: nearer NUMA",
	  { { 1, .cpt = 1 }, { 2, .cpt = 2 } },
	  { { 1 }, { 2 } },
	  .cpt = 2,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(numa) },
	{ "lnt-030 two nets: nearer NUMA beats credits",
	  { { 1, .cpt = 1 }, { 2, .cpt = 2, .used = 7 } },
	  { { 1 }, { 2 } },
	  .cpt = 2,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(numa) },
	{ "lnt-030 two nets: numa_range makes them equal, credits",
	  { { 1, .cpt = 1 }, { 2, .cpt = 2, .used = 7 } },
	  { { 1 }, { 2 } },
	  .cpt = 2,
	  .numa = 20,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(credits) },
	{ "memory unknown: NUMA is silent",
	  { { 1, .cpt = 1 }, { 2, .cpt = 2 } },
	  { { 1 }, { 2 } },
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(round_robin) },
	{ "NI unknown counts as near",
	  { { 1, .cpt = 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .cpt = 2,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(numa) },
	{ "lnt-030 two nets: more credits of the NI",
	  { { 1, .used = 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(credits) },
	{ "lnt-030 two nets: more credits of the peer NI",
	  { { 1 }, { 2 } },
	  { { 1, .used = 9 }, { 2, .used = 8 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(credits) },
	{ "credits: the fewer of the two",
	  { { 1, .used = 5 }, { 2 } },
	  { { 1 }, { 2, .used = 4 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(credits) },
	{ "health: the lower of the two",
	  { { 1, .lost = 300 }, { 2 } },
	  { { 1 }, { 2, .lost = 200 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "lnt-030 two nets: round robin",
	  { { 1, .rr_pos = 5 }, { 2, .rr_pos = 4 } },
	  { { 1, .rr_pos = 5 }, { 2, .rr_pos = 4 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(round_robin) },
	{ "round robin: sum of both ends",
	  { { 1, .rr_pos = 9 }, { 2, .rr_pos = 4 } },
	  { { 1, .rr_pos = 1 }, { 2, .rr_pos = 8 } },
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(round_robin) },
	{ "one net, two by two: round robin",
	  { { 1, .rr_pos = 2 }, { 1, .rr_pos = 1 } },
	  { { 1, .rr_pos = 2 }, { 1, .rr_pos = 1 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(round_robin) },
	{ "one net, two by two: health on each side",
	  { { 1, .lost = 1 }, { 1 } },
	  { { 1 }, { 1, .lost = 1 } },
	  .want_ni = 1,
	  .want_pni = 0,
	  .decider = BY(health) },
	{ "out of service loses, though it has more of all",
	  { { 1, .out = 1 }, { 2, .lost = 900, .used = 9 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(link_up) },
	{ "out of service alone is used", { { 1, .out = 1 } }, { { 1 } }, .decider = ONE },
	{ "out of service before fatal",
	  { { 1, .fatal = 1 }, { 2, .out = 1 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(link_up) },
	{ "tried: one out of service is no other",
	  { { 1 }, { 2, .out = 1 } },
	  { { 1 }, { 2 } },
	  .tried = PAIR(0, 0),
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(link_up) },
	{ "fatal loses",
	  { { 1, .fatal = 1 }, { 2, .lost = 1000 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(link_up) },
	{ "fatal alone is used", { { 1, .fatal = 1 } }, { { 1 } }, .decider = ONE },
	{ "dbg-025 held down loses",
	  { { 1, .down = 1 }, { 2, .lost = 1000 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(link_up) },
	{ "suspect loses against less health",
	  { { 1 }, { 2, .lost = 900 } },
	  { { 1 }, { 2 } },
	  .suspect = PAIR(0, 0),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(responsive) },
	{ "suspicion is of the pair, not of its ends",
	  { { 1 }, { 1 } },
	  { { 1 }, { 1 } },
	  .suspect = PAIR(0, 0) | PAIR(0, 1) | PAIR(1, 0),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(responsive) },
	{ "cfg-020 range 0",
	  { { 1, .lost = 40 }, { 2, .rr_pos = 9 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "cfg-020 range 50: a rail at 960 carries",
	  { { 1, .lost = 40 }, { 2, .rr_pos = 9 } },
	  { { 1 }, { 2 } },
	  .range = 50,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(round_robin) },
	{ "cfg-020 range 50: one at 949 does not",
	  { { 1, .lost = 51 }, { 2, .rr_pos = 9 } },
	  { { 1 }, { 2 } },
	  .range = 50,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "cfg-020 range 1001: health does not select",
	  { { 1, .lost = 1000 }, { 2, .rr_pos = 9 } },
	  { { 1 }, { 2 } },
	  .range = 1001,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(round_robin) },
	{ "tried: the other, although worse",
	  { { 1 }, { 2, .lost = 500 } },
	  { { 1 }, { 2 } },
	  .tried = PAIR(0, 0),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = ONE },
	{ "tried: all, so the best again",
	  { { 1 }, { 2, .lost = 500 } },
	  { { 1 }, { 2 } },
	  .tried = PAIR(0, 0) | PAIR(1, 1),
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(health) },
	{ "tried: one without link is no other",
	  { { 1 }, { 2, .fatal = 1 } },
	  { { 1 }, { 2 } },
	  .tried = PAIR(0, 0),
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(link_up) },
	{ "tried: a suspect one is another",
	  { { 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .tried = PAIR(0, 0),
	  .suspect = PAIR(1, 1),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = ONE },
	{ "tried: two by two, three left",
	  { { 1 }, { 1, .rr_pos = 1 } },
	  { { 1 }, { 1, .rr_pos = 3 } },
	  .tried = PAIR(0, 0),
	  .want_ni = 1,
	  .want_pni = 0,
	  .decider = BY(round_robin) },
	{ "exclude is for ever", { { 1 } }, { { 1 } }, .exclude = PAIR(0, 0), .want_ni = -1 },
	{ "exclude leaves the other",
	  { { 1 }, { 2, .lost = 999 } },
	  { { 1 }, { 2 } },
	  .exclude = PAIR(0, 0),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = ONE },
	{ "exclude and tried: tried again",
	  { { 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .exclude = PAIR(0, 0),
	  .tried = PAIR(1, 1),
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = ONE },
	{ "NI asked for",
	  { { 1, .lost = 1000 }, { 2 } },
	  { { 1 }, { 2 } },
	  .only_ni = 1,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = ONE },
	{ "NI asked for, peer NI chosen",
	  { { 1 }, { 1 } },
	  { { 1, .used = 1 }, { 1 } },
	  .only_ni = 1,
	  .want_ni = 0,
	  .want_pni = 1,
	  .decider = BY(credits) },
	{ "peer NI asked for, NI chosen",
	  { { 1, .used = 8 }, { 1 } },
	  { { 1, .used = 1 }, { 1 } },
	  .only_pni = 1,
	  .want_ni = 1,
	  .want_pni = 0,
	  .decider = BY(credits) },
	{ "peer NI asked for on the other net",
	  { { 1 }, { 2, .lost = 1000 } },
	  { { 1 }, { 2 } },
	  .only_pni = 2,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = ONE },
	{ "both asked for, without common net",
	  { { 1 }, { 2 } },
	  { { 1 }, { 2 } },
	  .only_ni = 1,
	  .only_pni = 2,
	  .want_ni = -1 },
	{ "three nets, middle best",
	  { { 1, .used = 2 }, { 2, .used = 1 }, { 3, .used = 3 } },
	  { { 1 }, { 2 }, { 3 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(credits) },
	{ "three nets, one fatal, one low",
	  { { 1, .fatal = 1 }, { 2, .lost = 100 }, { 3 } },
	  { { 1 }, { 2 }, { 3 } },
	  .want_ni = 2,
	  .want_pni = 2,
	  .decider = BY(health) },
};

static void ends_build(struct world *w, const struct end *ni, const struct end *pni)
{
	unsigned int i;

	for (i = 0; i < 3 && ni[i].net; i++) {
		struct lnet_ni *at = world_ni(w, ni[i].net);

		atomic_set(&at->health, LNET_HEALTH_MAX - ni[i].lost);
		at->sh[0].credits = 8 - ni[i].used;
		at->sh[0].rr_pos = ni[i].rr_pos;
		lnet_ni_mark(at, LNET_MARK(LINK_DOWN), ni[i].fatal);
		lnet_ni_mark(at, LNET_MARK(DRAINED), ni[i].out);
		lnet_ni_mark(at, LNET_MARK(RULE_DOWN), ni[i].down);
		at->dev_cpt = ni[i].cpt - 1;
		at->state = ni[i].draining ? NI_DRAINING : NI_ACTIVE;
	}
	for (i = 0; i < 3 && pni[i].net; i++) {
		struct lnet_peer_ni *at = world_pni(w, pni[i].net);

		at->health = LNET_HEALTH_MAX - pni[i].lost;
		at->credits = 8 - pni[i].used;
		at->rr_pos = pni[i].rr_pos;
		at->deleted = pni[i].draining;
	}
	world_join(w);
}

static u64 bits_of(struct world *w, u32 pairs_)
{
	unsigned int n, p;
	u64 bits = 0;

	for (n = 0; n < 3; n++)
		for (p = 0; p < 3; p++)
			if (pairs_ & PAIR(n, p))
				bits |= 1ULL << world_path(w, n, p)->ix;
	return bits;
}

static void suspect_set(struct world *w, u32 pairs_)
{
	u64 bits = bits_of(w, pairs_);
	unsigned int i;

	for (i = 0; i < w->nr_path; i++)
		w->path[i].suspect_ns = bits >> i & 1;
}

static struct lnet_path *select_locked(struct world *w, struct lnet_select *s)
{
	struct lnet_path *path;

	spin_lock(&w->sh.lock);
	path = lnet_select(&w->sh, s);
	spin_unlock(&w->sh.lock);
	return path;
}

static void test_pairs(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct world *w = world_create();
		struct lnet_select s = { .peer = &w->peer, .cpt = pairs[i].cpt - 1, .request = 1 };
		struct lnet_path *path, *want;

		ends_build(w, pairs[i].ni, pairs[i].pni);
		suspect_set(w, pairs[i].suspect);
		w->sh.rr_pos = 100;
		w->ln.tun.health_range = pairs[i].range;
		w->ln.tun.numa_range = pairs[i].numa;
		s.ni = pairs[i].only_ni ? w->ni[pairs[i].only_ni - 1] : NULL;
		s.pni = pairs[i].only_pni ? &w->pni[pairs[i].only_pni - 1] : NULL;
		s.tried = bits_of(w, pairs[i].tried);
		s.exclude = bits_of(w, pairs[i].exclude);
		path = select_locked(w, &s);
		want = pairs[i].want_ni < 0 ? NULL
					    : world_path(w, pairs[i].want_ni, pairs[i].want_pni);
		UNIT_EQUAL((long)path, (long)want, pairs[i].name);
		if (path && want)
			UNIT_EQUAL(s.decided_by, pairs[i].decider, pairs[i].name);
		world_destroy(w);
	}
}

/* ---- over time ------------------------------------------------------------------------------- */

/* One path on each of two nets. */
static struct world *two_rails(void)
{
	struct world *w = world_create();

	world_ni(w, 1);
	world_ni(w, 2);
	world_pni(w, 1);
	world_pni(w, 2);
	world_join(w);
	return w;
}

static void test_round_robin(void)
{
	struct world *w = two_rails();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	unsigned int i, nr[2] = { 0 };
	struct lnet_path *last = NULL, *path;

	for (i = 0; i < 100; i++) {
		path = select_locked(w, &s);
		CU_ASSERT_PTR_NOT_EQUAL(path, last);
		nr[path->ni == w->ni[1]]++;
		last = path;
	}
	UNIT_EQUAL(nr[0], 50, "half each");
	world_destroy(w);
}

/* The path with the earliest expected time is selected, whatever its position and credits are. */
/* An interface with half the weight has exactly half as many turns. */
static void test_degraded(void)
{
	struct world *w = two_rails();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	unsigned int i, nr = 0;

	w->ni[0]->degradation = LNET_WEIGHT_MAX / 2;
	for (i = 0; i < 300; i++)
		nr += select_locked(w, &s)->ni == w->ni[0];
	UNIT_EQUAL(nr, 100, "of 300 turns");
	world_destroy(w);
}

static void test_expected_time(void)
{
	struct world *w = two_rails();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1, .bytes = 100 };
	unsigned int i, nr = 0;

	w->ni[1]->sh[0].credits = 1000;
	w->ln.tun.selection = 1;
	for (i = 0; i < 10; i++)
		nr += select_locked(w, &s) == &w->path[0];
	UNIT_EQUAL(nr, 10, "always the fast one");
	UNIT_EQUAL(s.decided_by, LNET_RANK_due, "by its time");
	atomic_set(&w->ni[0]->health, LNET_HEALTH_MAX - 1);
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s), &w->path[1]);
	UNIT_EQUAL(s.decided_by, LNET_RANK_health, "health comes before");
	world_destroy(w);
}

/* Replies use the path of their request; this must not move all requests to one rail. */
static void test_forced_keeps_position(void)
{
	struct world *w = two_rails();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	struct lnet_select answer = { .peer = &w->peer, .cpt = -1 };
	unsigned int i, nr = 0;

	answer.ni = w->ni[0];
	answer.pni = &w->pni[0];
	for (i = 0; i < 100; i++) {
		CU_ASSERT_PTR_EQUAL(select_locked(w, &answer), world_path(w, 0, 0));
		nr += select_locked(w, &s)->ni == w->ni[0];
	}
	UNIT_EQUAL(nr, 50, "half each");
	world_destroy(w);
}

static void test_sticky(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	unsigned int i;

	w->peer.mr = 0;
	world_ni(w, 1);
	world_ni(w, 1);
	s.pni = world_pni(w, 1);
	world_join(w);
	w->ni[0]->sh[0].credits = 1;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	w->ni[0]->sh[0].credits = 256;
	w->ni[1]->sh[0].credits = -9;
	for (i = 0; i < 4; i++) {
		s.tried = i;		/* also for a retry */
		CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	}
	w->ni[1]->state = NI_DRAINING;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	w->ni[1]->state = NI_ACTIVE;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	world_destroy(w);
}

/* Low health, suspicion or a bad weight does not end the use of a sticky NI. */
static void test_sticky_unhealthy(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	unsigned int i;

	w->peer.mr = 0;
	world_ni(w, 1);
	world_ni(w, 1);
	s.pni = world_pni(w, 1);
	world_join(w);
	w->ni[0]->sh[0].credits = 1;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	w->ni[0]->sh[0].credits = 256;
	for (i = 0; i <= LNET_HEALTH_MAX; i += 100) {
		atomic_set(&w->ni[1]->health, (int)i);
		world_path(w, 1, 0)->health = (u16)i;
		world_path(w, 1, 0)->suspect_ns = i;
		w->ni[1]->degradation = (u16)((LNET_HEALTH_MAX - i) / 2);
		s.tried = i;
		CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
		CU_ASSERT_PTR_EQUAL(s.pni->sticky, w->ni[1]);
	}
	world_destroy(w);
}

/* To a multi-rail peer, a source that one request names is not preferred for others afterwards. */
static void test_never_sticky(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };

	w->peer.mr = 1;
	world_ni(w, 1);
	world_ni(w, 1);
	s.pni = world_pni(w, 1);
	world_join(w);
	w->ni[0]->sh[0].credits = 1;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	s.ni = w->ni[1];
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	CU_ASSERT_PTR_NULL(s.pni->sticky);
	s.ni = NULL;
	w->ni[0]->sh[0].credits = 256;
	w->ni[1]->sh[0].credits = -9;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	world_destroy(w);
}

static void test_sticky_from_source(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };

	w->peer.mr = 0;
	world_ni(w, 1);
	s.ni = world_ni(w, 1);
	s.pni = world_pni(w, 1);
	world_join(w);
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	s.ni = w->ni[0];			/* one request names it: the sticky NI stays */
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	s.ni = NULL;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	s.request = 0;				/* replies and pings ignore it */
	w->ni[1]->sh[0].credits = -1;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	world_destroy(w);
}

static void test_starts_recovery(void)
{
	struct world *w = two_rails();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };

	nr_recover = 0;
	select_locked(w, &s);
	UNIT_EQUAL(nr_recover, 0, "whole");
	atomic_set(&w->ni[0]->health, 900);
	select_locked(w, &s);
	UNIT_EQUAL(nr_recover, 1, "one NI low");
	world_path(w, 0, 0)->recovering = 1;
	select_locked(w, &s);
	UNIT_EQUAL(nr_recover, 1, "already recovering");
	world_destroy(w);
}

/* Selects among one or two paths, healthy or not; @seed also defines the request. */
static struct lnet_path *choose_in(struct world *w, u64 seed, bool by_op)
{
	struct lnet_op op = { .type = LNET_OP_PUT, .peer = &w->peer };
	struct lnet_pass p = { .ln = &w->ln, .sh = &w->sh };
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	struct lnet_path *path;

	w->peer.mr = seed & 1;
	world_ni(w, 1);
	op.dst_pni = world_pni(w, 1);
	if (seed & 2)
		world_ni(w, 1);
	if (seed & 4)
		world_pni(w, 2);
	world_join(w);
	atomic_set(&w->ni[0]->health, seed & 8 ? LNET_HEALTH_MAX : 900);
	w->pni[0].health = seed & 16 ? LNET_HEALTH_MAX : 900;
	w->ni[0]->state = seed & 32 ? NI_ACTIVE : NI_DRAINING;
	w->pni[0].deleted = !(seed & 64);
	w->pni[0].sticky = seed & 128 ? w->ni[0] : NULL;
	w->sh.rr_pos = 7;
	if (!w->peer.mr)
		s.pni = op.dst_pni;
	spin_lock(&w->sh.lock);
	path = by_op ? select_op_choose(&p, &op) : select_select(&w->sh, &s);
	spin_unlock(&w->sh.lock);
	return path;
}

static void test_nothing_to_choose(void)
{
	u64 seed;

	for (seed = 0; seed < 256; seed++) {
		struct world *a = world_create(), *b = world_create();
		struct lnet_path *x = choose_in(a, seed, true), *y = choose_in(b, seed, false);
		const struct lnet_peer_ni *m = &a->pni[0], *n = &b->pni[0];

		UNIT_EQUAL(x ? x - a->path : -1, y ? y - b->path : -1, "path");
		UNIT_EQUAL(a->ni[0]->sh[0].rr_pos, b->ni[0]->sh[0].rr_pos, "position of the NI");
		UNIT_EQUAL(m->rr_pos, n->rr_pos, "position of the peer NI");
		UNIT_EQUAL(m->sticky == a->ni[0], n->sticky == b->ni[0], "what sticks");
		world_destroy(a);
		world_destroy(b);
	}
}

static void test_names(void)
{
	UNIT_TEXT(lnet_path_rank_names[LNET_RANK_link_up], "link_up", "first");
	UNIT_TEXT(lnet_path_rank_names[LNET_RANK_round_robin], "round_robin", "last");
}

UNIT_SUITE(select,
	   { "lnt-030 cfg-020 lnt-040: pairs of interfaces, also on different nets", test_pairs },
	   { "lnt-030: equal rails take turns", test_round_robin },
	   { "lnt-030: an interface with half the weight has half the turns", test_degraded },
	   { "expected time: where it would be done first", test_expected_time },
	   { "lnt-030: a path that was not chosen keeps its round-robin position",
	     test_forced_keeps_position },
	   { "lnt-045: a peer without multi-rail sees one NI, also when sent again", test_sticky },
	   { "lnt-045: low health does not end the use of a sticky NI", test_sticky_unhealthy },
	   { "lnt-045: a source that was asked for sticks if none did", test_sticky_from_source },
	   { "nothing sticks to a peer with multi-rail", test_never_sticky },
	   { "lnt-035: choosing starts the recovery of what is not whole", test_starts_recovery },
	   { "lnt-030: without a choice it is what the rule takes", test_nothing_to_choose },
	   { "ranks have names", test_names })
