/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the walk in lnet/path/select.c: its winner and deciding rank equal those of a filter by
 * one rank after the other (lnt-030, cfg-020).
 */
#define lnet_path_rank_names rank_t_path_rank_names
#define lnet_select rank_t_select
#define lnet_select_explain rank_t_select_look
#define lnet_op_choose rank_t_op_choose
#define lnet_load_due_ns rank_t_load_due_ns
#define lnet_path_recover rank_t_path_recover
#include "paths.h"
#include "lnet/path/select.c"

static unsigned int nr_recover;

/* In place of expected_time.c: the time is a value stored in each path. */
u64 rank_t_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns)
{
	return path->srtt_ns;
}

void rank_t_path_recover(struct lnet_shard *sh, struct lnet_path *path)
{
	nr_recover++;
}

/* ---- the filter ------------------------------------------------------------------------------ */

#define ONE LNET_NR_PATH_RANKS
#define BY(rank) LNET_RANK_##rank

/* The ranks in which pairs on one net may differ; the other ranks are for routes. */
#define NR_COLUMNS 8
static const u8 columns[NR_COLUMNS] = {
	BY(link_up),   BY(responsive), BY(health),  BY(priority),
	BY(preferred), BY(numa),       BY(credits), BY(round_robin),
};

static const struct {
	const char *name;
	u64 range;
	unsigned int nr;
	s64 c[4][NR_COLUMNS];
	unsigned int winner, decider;
} sets[] = {
	{ "one candidate decides nothing", 0, 1, { { 0, 0, 0, 0, 0, -20, -5, 0 } }, 0, ONE },
	{ "equal: the first",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, 0 } },
	  0,
	  BY(round_robin) },
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
	{ "lnt-030 health before round robin",
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
	{ "lnt-030 numa before round robin",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -20, 8, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -7 } },
	  1,
	  BY(numa) },
	{ "lnt-030 credits before round robin",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 7, 0 }, { 1, 1, 1000, 0, 0, -10, 8, -7 } },
	  1,
	  BY(credits) },
	{ "lnt-030 round robin is the last rank",
	  0,
	  2,
	  { { 1, 1, 1000, 0, 0, -10, 8, -2 }, { 1, 1, 1000, 0, 0, -10, 8, -1 } },
	  1,
	  BY(round_robin) },
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
	  BY(round_robin) },
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
	  BY(round_robin) },
	{ "cfg-020 range 4294967295: off",
	  4294967295ULL,
	  2,
	  { { 1, 1, 0, 0, 0, -10, 8, -3 }, { 1, 1, 1000, 0, 0, -10, 8, -2 } },
	  1,
	  BY(round_robin) },
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
	{ "last loser names the rank: health, then round robin",
	  0,
	  3,
	  { { 1, 1, 900, 0, 0, -10, 8, 0 },
	    { 1, 1, 1000, 0, 0, -10, 8, -2 },
	    { 1, 1, 1000, 0, 0, -10, 8, -1 } },
	  2,
	  BY(round_robin) },
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
	{ "three by round robin",
	  0,
	  3,
	  { { 1, 1, 1000, 0, 0, -10, 8, -3 },
	    { 1, 1, 1000, 0, 0, -10, 8, -2 },
	    { 1, 1, 1000, 0, 0, -10, 8, -4 } },
	  1,
	  BY(round_robin) },
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

/* Filters rank by rank; the last rank that removed a candidate decides. */
static unsigned int best_by_filter(const struct lnet_cand *c, unsigned int nr, u64 range,
				   unsigned int *decider)
{
	bool in[LNET_CANDS_MAX];
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

static void test_sets(void)
{
	unsigned int i, k, winner, decider;

	for (i = 0; i < ARRAY_SIZE(sets); i++) {
		struct lnet_cand c[4] = { { .path = NULL } };

		for (k = 0; k < sets[i].nr * NR_COLUMNS; k++)
			c[k / NR_COLUMNS].rank[columns[k % NR_COLUMNS]] =
				sets[i].c[k / NR_COLUMNS][k % NR_COLUMNS];
		winner = best_by_filter(c, sets[i].nr, sets[i].range, &decider);
		UNIT_EQUAL(winner, sets[i].winner, sets[i].name);
		UNIT_EQUAL(decider, sets[i].decider, sets[i].name);
	}
}

/* ---- states ---------------------------------------------------------------------------------- */

static u32 below(struct world *w, u32 limit)
{
	return (u32)(world_random(&w->env) >> 20) % limit;
}

static struct world *whole_world(u64 seed)
{
	struct world *w = world_create();
	unsigned int i;

	w->seed = seed;
	for (i = 1 + below(w, 3); i; i--)
		world_ni(w, 1 + below(w, 2));
	for (i = 1 + below(w, 3); i; i--)
		world_pni(w, 1 + below(w, 2));
	world_join(w);
	for (i = 0; i < w->nr_ni; i++) {
		w->ni[i]->dev_cpt = (s32)below(w, 3) - 1;
		w->ni[i]->sh[0].credits = (s32)below(w, 3);
		w->ni[i]->sh[0].rr_pos = below(w, 4);
	}
	for (i = 0; i < w->nr_pni; i++) {
		w->pni[i].credits = (s32)below(w, 3);
		w->pni[i].rr_pos = below(w, 4);
	}
	for (i = 0; i < w->nr_path; i++)
		w->path[i].policy = below(w, 2) ? (s32)below(w, 6) - 4 : 0;
	w->ln.tun.selection = !below(w, 4);
	for (i = 0; i < w->nr_path; i++)
		w->path[i].srtt_ns = below(w, 3);
	return w;
}

/* ---- lnet_select_explain() ------------------------------------------------------------------- */

/* Possible defects of interfaces and paths, each with a probability. */
static void disturb(struct world *w)
{
	static const s64 ranges[] = { 0, 0, 100, 1001 };
	unsigned int i;

	w->ln.tun.health_range = ranges[below(w, 4)];
	w->peer.mr = below(w, 4) > 0;
	w->sh.rr_pos = below(w, 3);
	for (i = 0; i < w->nr_ni; i++) {
		atomic_set(&w->ni[i]->health, below(w, 3) ? LNET_HEALTH_MAX : 850 + below(w, 150));
		lnet_ni_mark(w->ni[i], LNET_MARK(LINK_DOWN), !below(w, 8));
		lnet_ni_mark(w->ni[i], LNET_MARK(DRAINED), !below(w, 6));
		w->ni[i]->state = below(w, 10) ? NI_ACTIVE : NI_DRAINING;
		w->ni[i]->degradation = below(w, 2) ? 0 : 500;
		w->ni[i]->sh[0].share_until = below(w, 3);
	}
	for (i = 0; i < w->nr_pni; i++) {
		w->pni[i].health = below(w, 3) ? LNET_HEALTH_MAX : 850 + below(w, 150);
		w->pni[i].deleted = !below(w, 12);
		w->pni[i].status = below(w, 3);
		w->pni[i].sticky = below(w, 3) ? NULL : w->ni[below(w, w->nr_ni)];
	}
	for (i = 0; i < w->nr_path; i++) {
		w->path[i].suspect_ns = below(w, 8) ? 0 : w->now_ns;
		w->path[i].down_ns = below(w, 8) ? 0 : w->now_ns;
		w->path[i].health = below(w, 3) ? LNET_HEALTH_MAX : 850 + below(w, 150);
	}
}

/* ---- lnet_select_explain() with routers ------------------------------------------------------ */

#define HOPS 2
struct routers {
	struct lnet_peer peer;
	struct lnet_peer_ni hop[HOPS];
	struct lnet_route route[HOPS];
	struct lnet_path first_hop[HOPS * WORLD_MAX], path[HOPS * WORLD_MAX * WORLD_MAX];
	unsigned int nr_trunks, nr_paths;
};

static void path_make(struct world *w, struct lnet_path *path, struct lnet_peer_ni *pni,
		      struct lnet_path *first_hop)
{
	path->ni = first_hop->ni;
	path->pni = pni;
	path->hop = first_hop->pni;
	path->first_hop = first_hop;
	path->ix = w->nr_path++ % LNET_MAX_PATHS;
	path->health = below(w, 3) ? LNET_HEALTH_MAX : 850 + below(w, 150);
	path->suspect_ns = below(w, 6) ? 0 : w->now_ns;
	path->down_ns = below(w, 6) ? 0 : w->now_ns;
	path->gone = !below(w, 16);
	path->policy = below(w, 2) ? (s32)below(w, 6) - 4 : 0;
	INIT_LIST_HEAD(&path->await_reply);
	list_add_tail(&path->link, &pni->paths);
}

/* One interface of a router, and the paths through it to all interfaces of the peer. */
static void hop_make(struct world *w, struct routers *r, unsigned int h)
{
	struct lnet_peer_ni *hop = &r->hop[h];
	unsigned int n, p;

	world_nid(&hop->nid, 1 + below(w, 2), 200 + h);
	hop->net = lnet_nid_net(&hop->nid);
	hop->peer = &r->peer;
	hop->health = below(w, 3) ? LNET_HEALTH_MAX : 850 + below(w, 150);
	hop->credits = (s32)below(w, 3);
	hop->rr_pos = below(w, 4);
	hop->gw = 1 + below(w, 3);
	INIT_LIST_HEAD(&hop->paths);
	r->route[h].up = below(w, 3) > 0;
	r->route[h].priority = below(w, 2);
	r->route[h].hops = (s32)below(w, 4) - 1;
	for (n = 0; n < w->nr_ni; n++) {
		struct lnet_path *first_hop = &r->first_hop[r->nr_trunks];

		if (w->ni[n]->net != hop->net)
			continue;
		r->nr_trunks++;
		first_hop->ni = w->ni[n];
		first_hop->pni = hop;
		path_make(w, first_hop, hop, first_hop);
		for (p = 0; p < w->nr_pni; p++) {
			path_make(w, &r->path[r->nr_paths], &w->pni[p], first_hop);
			r->path[r->nr_paths++].route = &r->route[h];
		}
	}
}

/* Some of the peer's interfaces are behind routers only. */
static struct routers *routers_make(struct world *w)
{
	struct routers *r = calloc(1, sizeof(*r));
	unsigned int i;

	for (i = 0; i < w->nr_pni; i++)
		if (!below(w, 2))
			INIT_LIST_HEAD(&w->pni[i].paths);
	r->peer.mr = 1;
	for (i = 0; i < HOPS; i++)
		hop_make(w, r, i);
	return r;
}

static void question(struct world *w, struct lnet_select *s)
{
	*s = (struct lnet_select) {
		.peer = &w->peer, .cpt = (s32)below(w, 3) - 1, .request = below(w, 2),
		.tried = below(w, 2) ? below(w, 1U << 9) : 0,
		.exclude = below(w, 6) ? 0 : 1ULL << below(w, 9),
	};
	if (!below(w, 5))
		s->ni = w->ni[below(w, w->nr_ni)];
	if (!w->peer.mr || !below(w, 5))
		s->pni = &w->pni[below(w, w->nr_pni)];
}

/* A sum of all state that lnet_select_explain() must not change. */
static u64 sum_of(const struct world *w)
{
	u64 sum = w->sh.rr_pos + nr_recover;
	unsigned int i;

	for (i = 0; i < w->nr_ni; i++)
		sum = sum * 31 + w->ni[i]->sh[0].rr_pos;
	for (i = 0; i < w->nr_pni; i++)
		sum = sum * 31 + w->pni[i].rr_pos + (u64)(uintptr_t)w->pni[i].sticky;
	return sum;
}

static u64 sum_of_hops(const struct routers *r)
{
	return r ? r->hop[0].rr_pos * 31 + r->hop[1].rr_pos : 0;
}

/*
 * Compares 100,000 states, with routers or without; returns the number of states without a path. A
 * multi-rail peer has no sticky NI, so its candidates are those of one walk.
 */
static unsigned int look_at(bool routed, unsigned int *deciders)
{
	unsigned int round, differ = 0, none = 0;
	struct lnet_cands *look = calloc(1, sizeof(*look));

	for (round = 0; round < 100000; round++) {
		struct world *w = whole_world(round);
		struct routers *r = NULL;
		struct lnet_path *seen, *real;
		unsigned int best, decider;
		struct lnet_select s, t;
		u64 before;

		if (!routed || below(w, 3))
			disturb(w);
		if (routed)
			r = routers_make(w);
		question(w, &s);
		if (routed && !below(w, 6))
			s.hop = &r->hop[below(w, HOPS)];
		t = s;
		before = sum_of(w) + sum_of_hops(r);
		spin_lock(&w->sh.lock);
		seen = lnet_select_explain(&w->sh, &t, look);
		differ += sum_of(w) + sum_of_hops(r) != before;
		real = lnet_select(&w->sh, &s);
		spin_unlock(&w->sh.lock);
		differ += seen != real;
		if (real)
			differ += s.decided_by != t.decided_by || s.nr_cand != t.nr_cand ||
				  look->nr != s.nr_cand;
		if (real && w->peer.mr) {
			best = best_by_filter(look->cand, look->nr, w->ln.tun.health_range,
					      &decider);
			differ += look->cand[best].path != real || s.decided_by != decider;
		}
		none += !real;
		deciders[real ? s.decided_by : LNET_NR_PATH_RANKS]++;
		world_destroy(w);
		free(r);
	}
	free(look);
	UNIT_EQUAL(differ, 0, "of 100,000 states");
	return none;
}

static void test_look(void)
{
	unsigned int deciders[LNET_NR_PATH_RANKS + 1] = { 0 }, none;

	none = look_at(false, deciders);
	CU_ASSERT(none > 1000 && none < 50000);
	CU_ASSERT(deciders[LNET_RANK_link_up] > 1000 && deciders[LNET_RANK_responsive] > 1000);
	CU_ASSERT(deciders[LNET_RANK_health] > 1000 && deciders[LNET_RANK_priority] > 500);
	CU_ASSERT(deciders[LNET_RANK_due] > 500 && deciders[LNET_RANK_share] > 200);
	CU_ASSERT(deciders[LNET_RANK_numa] > 100 && deciders[LNET_RANK_preferred] > 100);
	CU_ASSERT(deciders[LNET_RANK_credits] > 500 && deciders[LNET_RANK_round_robin] > 500);
}

static void test_look_routed(void)
{
	unsigned int deciders[LNET_NR_PATH_RANKS + 1] = { 0 };

	look_at(true, deciders);
	CU_ASSERT(deciders[LNET_RANK_route_up] > 1000 && deciders[LNET_RANK_responsive] > 1000);
	CU_ASSERT(deciders[LNET_RANK_direct] > 1000 && deciders[LNET_RANK_health] > 1000);
	CU_ASSERT(deciders[LNET_RANK_gw_priority] > 500 && deciders[LNET_RANK_hops] > 200);
	CU_ASSERT(deciders[LNET_RANK_gw_health] > 200 && deciders[LNET_RANK_round_robin] > 500);
}

/* More candidates than struct lnet_cands holds: the selected one is listed. */
static void test_look_many(void)
{
	struct lnet_cands *look = calloc(1, sizeof(*look));
	struct world *w = world_create();
	struct lnet_select s;
	struct lnet_path *seen;
	unsigned int i;

	for (i = 0; i < WORLD_MAX; i++) {
		world_ni(w, 1);
		world_pni(w, 1);
	}
	world_join(w);
	UNIT_EQUAL(w->nr_path > LNET_CANDS_MAX, true, "more than are kept");
	for (i = 0; i + 1 < w->nr_path; i++)
		w->path[i].health = 500;
	question(w, &s);
	s = (struct lnet_select){ .peer = s.peer, .cpt = -1 };
	spin_lock(&w->sh.lock);
	seen = lnet_select_explain(&w->sh, &s, look);
	spin_unlock(&w->sh.lock);
	CU_ASSERT_PTR_EQUAL(seen, &w->path[w->nr_path - 1]);
	UNIT_EQUAL(look->nr, LNET_CANDS_MAX, "listed");
	CU_ASSERT_PTR_EQUAL(look->cand[LNET_CANDS_MAX - 1].path, seen);
	world_destroy(w);
	free(look);
}

UNIT_SUITE(select_rank, { "the filter that other tests compare with the core", test_sets },
	   { "lnt-030 cfg-020: what is explained is what is chosen, in 100,000 states", test_look },
	   { "explain lists the chosen path of more candidates than it keeps", test_look_many },
	   { "the same where routers lead there, too", test_look_routed })
