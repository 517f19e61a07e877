/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/select.c: candidate sets with winner and deciding rank (lnt-030, cfg-020), filters,
 * round robin.
 */
#define lnet_path_rank_names select_path_rank_names
#define lnet_rank_best select_rank_best
#define lnet_select select_select
#define lnet_path_whole select_path_whole
#define lnet_path_recover select_path_recover
#include "paths.h"
#include "lnet/select.c"

static unsigned int nr_recover;

bool select_path_whole(const struct lnet_path *path)
{
	return atomic_read(&path->ni->health) == LNET_HEALTH_MAX &&
	       path->pni->health == LNET_HEALTH_MAX;
}

void select_path_recover(struct lnet_shard *sh, struct lnet_path *path)
{
	nr_recover++;
}

/* ---- the rule alone -------------------------------------------------------------------------- */

#define ONE LNET_NR_PATH_RANKS
#define BY(rank) LNET_RANK_##rank

/* link_up, responsive, health, priority, preferred, numa, credits, turn */
static const struct {
	const char *name;
	u64 range;
	unsigned int nr;
	s64 c[4][LNET_NR_PATH_RANKS];
	unsigned int winner, decider;
} sets[] = {
	{ "one candidate decides nothing", 0, 1, { { 0, 0, 0, 0, 0, -20, -5, 0 } }, 0, ONE },
	{ "equal: the first",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(turn) },
	{ "link before all",
	  0,
	  2,
	  { { 0, 1, 1000, 9, 1, -10, 99, 0 }, { 1, 0, 0, 0, 0, -20, -9, -9 } },
	  1,
	  BY(link_up) },
	{ "responsive before health",
	  0,
	  2,
	  { { 1, 0, 1000, 0, 0, -10, 8, 0 }, { 1, 1, 10, 0, 0, -10, 8, 0 } },
	  1,
	  BY(responsive) },
	{ "suspect is used when alone with link",
	  0,
	  2,
	  { { 1, 0, 0, 0, 0, -10, 8, 0 }, { 0, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(link_up) },
	{ "lnt-030 health before numa",
	  0,
	  2,
	  { { 1, 1, 999, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -20, 8, 0 } },
	  1,
	  BY(health) },
	{ "lnt-030 health before credits",
	  0,
	  2,
	  { { 1, 1, 999, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, -8, 0 } },
	  1,
	  BY(health) },
	{ "lnt-030 health before turn",
	  0,
	  2,
	  { { 1, 1, 999, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -9 } },
	  1,
	  BY(health) },
	{ "lnt-030 numa before credits",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, -4, 0 }, { 1, 1, 1000, 0, 0, -20, 8, 0 } },
	  0,
	  BY(numa) },
	{ "lnt-030 numa before turn",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -20, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -7 } },
	  1,
	  BY(numa) },
	{ "lnt-030 credits before turn",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 7, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -7 } },
	  1,
	  BY(credits) },
	{ "lnt-030 turn at last",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 8, -2 }, { 1, 1, 1000, 0, 0, -10, 8, -1 } },
	  1,
	  BY(turn) },
	{ "priority before preferred",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 1, -10, 8, 0 }, { 1, 1, 1000, 1, 0, -10, 8, 0 } },
	  1,
	  BY(priority) },
	{ "preferred before numa",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 1, -20, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(preferred) },
	{ "preference before credits (12.5)",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 1, -10, -2, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(preferred) },
	{ "health before preference (12.5)",
	  0,
	  2,
	  { { 1, 1, 900, 0, 1, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(health) },
	{ "health before priority",
	  0,
	  2,
	  { { 1, 1, 900, 5, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(health) },
	{ "fewer waiters (12.8)",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, -3, 0 }, { 1, 1, 1000, 0, 0, -10, -2, 0 } },
	  1,
	  BY(credits) },
	{ "negative against positive credits (12.5)",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, -2, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(credits) },
	{ "12.4 first line",
	  0,
	  4,
	  { { 1, 1, 1000, 0, 0, -10, 5, -7 },
	    { 1, 1, 1000, 0, 0, -20, 200, -2 },
	    { 1, 1, 900, 0, 0, -10, 256, -1 },
	    { 0, 1, 1000, 0, 0, -10, 256, 0 } },
	  0,
	  BY(numa) },
	{ "12.4 numa_range 20",
	  0,
	  4,
	  { { 1, 1, 1000, 0, 0, -20, 5, -7 },
	    { 1, 1, 1000, 0, 0, -20, 200, -2 },
	    { 1, 1, 900, 0, 0, -20, 256, -1 },
	    { 0, 1, 1000, 0, 0, -20, 256, 0 } },
	  1,
	  BY(credits) },
	{ "12.4 priority on b",
	  0,
	  4,
	  { { 1, 1, 1000, 0, 0, -10, 5, -7 },
	    { 1, 1, 1000, 1, 0, -20, 200, -2 },
	    { 1, 1, 900, 1, 0, -10, 256, -1 },
	    { 0, 1, 1000, 1, 0, -10, 256, 0 } },
	  1,
	  BY(priority) },
	{ "12.4 all at 900: priority of c",
	  0,
	  4,
	  { { 1, 1, 900, 0, 0, -10, 5, -7 },
	    { 1, 1, 900, 0, 0, -20, 200, -2 },
	    { 1, 1, 900, 1, 0, -10, 256, -1 },
	    { 0, 1, 1000, 1, 0, -10, 256, 0 } },
	  2,
	  BY(priority) },
	{ "12.4 only d left", 0, 1, { { 0, 1, 1000, 0, 0, -10, 256, 0 } }, 0, ONE },
	{ "cfg-020 range 50: 960 is as good",
	  50,
	  2,
	  { { 1, 1, 960, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -5 } },
	  0,
	  BY(turn) },
	{ "cfg-020 range 0: 999 is not",
	  0,
	  2,
	  { { 1, 1, 999, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -5 } },
	  1,
	  BY(health) },
	{ "cfg-020 range 50: 950 just is",
	  50,
	  2,
	  { { 1, 1, 950, 0, 0, -10, 9, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(credits) },
	{ "cfg-020 range 50: 949 is not",
	  50,
	  2,
	  { { 1, 1, 949, 0, 0, -10, 9, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(health) },
	{ "cfg-020 range 1000: 0 is as good",
	  1000,
	  2,
	  { { 1, 1, 0, 0, 0, -10, 9, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(credits) },
	{ "cfg-020 range 1001: off",
	  1001,
	  2,
	  { { 1, 1, 0, 0, 0, -10, 8, -1 }, { 1, 1, 1000, 0, 0, -10, 8, -2 } },
	  0,
	  BY(turn) },
	{ "cfg-020 range 4294967295: off",
	  4294967295ULL,
	  2,
	  { { 1, 1, 0, 0, 0, -10, 8, -3 }, { 1, 1, 1000, 0, 0, -10, 8, -2 } },
	  1,
	  BY(turn) },
	{ "cfg-020 off, link still counts",
	  1001,
	  2,
	  { { 0, 1, 1000, 0, 0, -10, 8, 0 }, { 1, 1, 0, 0, 0, -10, 8, 0 } },
	  1,
	  BY(link_up) },
	{ "cfg-020 off, suspicion still counts",
	  1001,
	  2,
	  { { 1, 0, 1000, 0, 0, -10, 8, 0 }, { 1, 1, 0, 0, 0, -10, 8, 0 } },
	  1,
	  BY(responsive) },
	{ "range is of the best with link",
	  50,
	  3,
	  { { 0, 1, 1000, 0, 0, -10, 8, 0 },
	    { 1, 1, 500, 0, 0, -10, 8, 0 },
	    { 1, 1, 460, 0, 0, -10, 9, 0 } },
	  2,
	  BY(credits) },
	{ "range is of the best responsive",
	  50,
	  3,
	  { { 1, 0, 1000, 0, 0, -10, 8, 0 },
	    { 1, 1, 500, 0, 0, -10, 8, 0 },
	    { 1, 1, 460, 0, 0, -10, 9, 0 } },
	  2,
	  BY(credits) },
	{ "range is not chained",
	  50,
	  3,
	  { { 1, 1, 1000, 0, 0, -10, 8, 0 },
	    { 1, 1, 960, 0, 0, -10, 9, 0 },
	    { 1, 1, 920, 0, 0, -10, 10, 0 } },
	  1,
	  BY(credits) },
	{ "last loser names the rank: health, then turn",
	  0,
	  3,
	  { { 1, 1, 900, 0, 0, -10, 8, 0 },
	    { 1, 1, 1000, 0, 0, -10, 8, -2 },
	    { 1, 1, 1000, 0, 0, -10, 8, -1 } },
	  2,
	  BY(turn) },
	{ "last loser names the rank, winner last",
	  0,
	  3,
	  { { 1, 1, 1000, 0, 0, -10, 8, -2 },
	    { 1, 1, 1000, 0, 0, -10, 8, -1 },
	    { 1, 1, 1000, 0, 0, -10, 9, -9 } },
	  2,
	  BY(credits) },
	{ "last loser names the rank, winner first",
	  0,
	  3,
	  { { 1, 1, 1000, 0, 0, -10, 8, 0 },
	    { 1, 1, 1000, 0, 0, -20, 8, 0 },
	    { 0, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(numa) },
	{ "three by turn",
	  0,
	  3,
	  { { 1, 1, 1000, 0, 0, -10, 8, -3 },
	    { 1, 1, 1000, 0, 0, -10, 8, -2 },
	    { 1, 1, 1000, 0, 0, -10, 8, -4 } },
	  1,
	  BY(turn) },
	{ "all without link: health",
	  0,
	  2,
	  { { 0, 1, 900, 0, 0, -10, 8, 0 }, { 0, 1, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(health) },
	{ "all suspect: health",
	  0,
	  2,
	  { { 1, 0, 900, 0, 0, -10, 8, 0 }, { 1, 0, 1000, 0, 0, -10, 8, 0 } },
	  1,
	  BY(health) },
	{ "all at 0: numa",
	  0,
	  2,
	  { { 1, 1, 0, 0, 0, -20, 8, 0 }, { 1, 1, 0, 0, 0, -10, 8, 0 } },
	  1,
	  BY(numa) },
};

static void test_sets(void)
{
	unsigned int i, k, winner, decider;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		struct lnet_cand c[4] = { { .path = NULL } };

		for (k = 0; k < sets[i].nr; k++)
			memcpy(c[k].rank, sets[i].c[k], sizeof(c[k].rank));
		winner = lnet_rank_best(c, sets[i].nr, sets[i].range, &decider);
		UNIT_EQUAL(winner, sets[i].winner, sets[i].name);
		UNIT_EQUAL(decider, sets[i].decider, sets[i].name);
	}
}

/* What the sets say by hand: filter rank by rank, the last one that removed somebody decides. */
static unsigned int slow_best(const struct lnet_cand *c, unsigned int nr, u64 range,
			      unsigned int *decider)
{
	bool in[16];
	unsigned int r, i, first;

	*decider = LNET_NR_PATH_RANKS - 1;
	memset(in, 1, sizeof(in));
	for (r = 0; r < LNET_NR_PATH_RANKS; r++) {
		s64 top = S64_MIN;
		u64 slack = r != LNET_RANK_health     ? 0
			    : range > LNET_HEALTH_MAX ? LNET_HEALTH_MAX
						      : range;
		unsigned int left = 0, lost = 0;

		for (i = 0; i < nr; i++)
			if (in[i])
				top = max(top, c[i].rank[r]);
		for (i = 0; i < nr; i++) {
			bool stays = in[i] && c[i].rank[r] + (s64)slack >= top;

			lost += in[i] && !stays;
			left += stays;
			in[i] = stays;
		}
		if (left == 1 && lost) {
			*decider = r;
			break;
		}
	}
	for (first = 0; !in[first]; first++)
		;
	if (nr == 1)
		*decider = LNET_NR_PATH_RANKS;
	return first;
}

static void test_against_filter(void)
{
	static const u64 ranges[] = { 0, 1, 2, 500, 1001 };
	struct world w = { .seed = 7 };
	unsigned int round, i, r, nr, a, b, by_a, by_b;
	struct lnet_cand c[16];

	for (round = 0; round < 20000; round++) {
		nr = 1 + world_random(&w.env) % 6;
		for (i = 0; i < nr; i++)
			for (r = 0; r < LNET_NR_PATH_RANKS; r++)
				c[i].rank[r] = (world_random(&w.env) >> 20) % (r < 2 ? 2 : 4) *
					       (r == 2 ? 1 : 3);
		a = lnet_rank_best(c, nr, ranges[round % 5], &by_a);
		b = slow_best(c, nr, ranges[round % 5], &by_b);
		if (a != b || by_a != by_b) {
			UNIT_EQUAL(a, b, "winner");
			UNIT_EQUAL(by_a, by_b, "decider");
			return;
		}
	}
}

/* ---- with interfaces ------------------------------------------------------------------------- */

struct end {
	u8 net;			/* 0: no such end; else net tcp<net> */
	u16 lost;		/* points below 1000 */
	s32 used;		/* credits below 8 */
	u8 turn;
	u8 fatal, down;		/* NI; down: by a fault rule */
	s8 cpt;			/* NI: 0 unknown, else node + 1 */
	u8 draining;		/* NI; peer NI: deleted */
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
	  .decider = BY(turn) },
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
	{ "lnt-030 two nets: turn",
	  { { 1, .turn = 5 }, { 2, .turn = 4 } },
	  { { 1, .turn = 5 }, { 2, .turn = 4 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(turn) },
	{ "turn: sum of both ends",
	  { { 1, .turn = 9 }, { 2, .turn = 4 } },
	  { { 1, .turn = 1 }, { 2, .turn = 8 } },
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(turn) },
	{ "one net, two by two: turn",
	  { { 1, .turn = 2 }, { 1, .turn = 1 } },
	  { { 1, .turn = 2 }, { 1, .turn = 1 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(turn) },
	{ "one net, two by two: health on each side",
	  { { 1, .lost = 1 }, { 1 } },
	  { { 1 }, { 1, .lost = 1 } },
	  .want_ni = 1,
	  .want_pni = 0,
	  .decider = BY(health) },
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
	  { { 1, .lost = 40 }, { 2, .turn = 9 } },
	  { { 1 }, { 2 } },
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "cfg-020 range 50: a rail at 960 carries",
	  { { 1, .lost = 40 }, { 2, .turn = 9 } },
	  { { 1 }, { 2 } },
	  .range = 50,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(turn) },
	{ "cfg-020 range 50: one at 949 does not",
	  { { 1, .lost = 51 }, { 2, .turn = 9 } },
	  { { 1 }, { 2 } },
	  .range = 50,
	  .want_ni = 1,
	  .want_pni = 1,
	  .decider = BY(health) },
	{ "cfg-020 range 1001: health does not select",
	  { { 1, .lost = 1000 }, { 2, .turn = 9 } },
	  { { 1 }, { 2 } },
	  .range = 1001,
	  .want_ni = 0,
	  .want_pni = 0,
	  .decider = BY(turn) },
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
	  { { 1 }, { 1, .turn = 1 } },
	  { { 1 }, { 1, .turn = 3 } },
	  .tried = PAIR(0, 0),
	  .want_ni = 1,
	  .want_pni = 0,
	  .decider = BY(turn) },
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
		at->sh[0].turn = ni[i].turn;
		at->fatal = ni[i].fatal;
		at->fault_down = ni[i].down;
		at->dev_cpt = ni[i].cpt - 1;
		at->state = ni[i].draining ? NI_DRAINING : NI_ACTIVE;
	}
	for (i = 0; i < 3 && pni[i].net; i++) {
		struct lnet_peer_ni *at = world_pni(w, pni[i].net);

		at->health = LNET_HEALTH_MAX - pni[i].lost;
		at->credits = 8 - pni[i].used;
		at->turn = pni[i].turn;
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
		w->sh.turn = 100;
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

static void test_round_robin(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	unsigned int i, nr[2] = { 0 };
	struct lnet_path *last = NULL, *path;

	world_ni(w, 1);
	world_ni(w, 2);
	world_pni(w, 1);
	world_pni(w, 2);
	world_join(w);
	for (i = 0; i < 100; i++) {
		path = select_locked(w, &s);
		CU_ASSERT_PTR_NOT_EQUAL(path, last);
		nr[path->ni == w->ni[1]]++;
		last = path;
	}
	UNIT_EQUAL(nr[0], 50, "half each");
	world_destroy(w);
}

/* Answers go back the way they came; they must not push all requests to one rail. */
static void test_forced_is_no_turn(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };
	struct lnet_select answer = { .peer = &w->peer, .cpt = -1 };
	unsigned int i, nr = 0;

	world_ni(w, 1);
	world_ni(w, 2);
	world_pni(w, 1);
	world_pni(w, 2);
	world_join(w);
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
		s.tried = i;		/* a resend, too */
		CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	}
	w->ni[1]->state = NI_DRAINING;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	w->ni[1]->state = NI_ACTIVE;
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
	s.ni = w->ni[0];			/* asked for once: does not change what sticks */
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	s.ni = NULL;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[1]);
	s.request = 0;				/* answers and pings do not ask */
	w->ni[1]->sh[0].credits = -1;
	CU_ASSERT_PTR_EQUAL(select_locked(w, &s)->ni, w->ni[0]);
	world_destroy(w);
}

static void test_starts_recovery(void)
{
	struct world *w = world_create();
	struct lnet_select s = { .peer = &w->peer, .cpt = -1, .request = 1 };

	world_ni(w, 1);
	world_ni(w, 2);
	world_pni(w, 1);
	world_pni(w, 2);
	world_join(w);
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

static void test_names(void)
{
	UNIT_TEXT(lnet_path_rank_names[LNET_RANK_link_up], "link_up", "first");
	UNIT_TEXT(lnet_path_rank_names[LNET_RANK_turn], "turn", "last");
}

UNIT_SUITE(select,
	   { "lnt-030 cfg-020: candidate sets: winner and deciding rank", test_sets },
	   { "lnt-030: the one-pass rule equals filtering rank by rank", test_against_filter },
	   { "lnt-030 cfg-020 lnt-040: pairs of interfaces, also on different nets", test_pairs },
	   { "lnt-030: equal rails take turns", test_round_robin },
	   { "lnt-030: a path that was not chosen costs nobody its turn", test_forced_is_no_turn },
	   { "lnt-045: a peer without multi-rail sees one NI, also when sent again", test_sticky },
	   { "lnt-045: a source that was asked for sticks if none did", test_sticky_from_source },
	   { "lnt-035: choosing starts the recovery of what is not whole", test_starts_recovery },
	   { "ranks have names", test_names })
