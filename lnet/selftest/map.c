/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Senders and receivers of a drill. The servers of a client have consecutive indices, modulo the
 * number of servers.
 */
#include "plan.h"

struct row {
	u32 first, nr;
};

/* ---- permutations ---------------------------------------------------------------------------- */

#define ROUNDS	4

static u32 half_bits(u32 nr)
{
	u32 half = 1;

	while (half < 16 && (1ULL << 2 * half) < nr)
		half++;
	return half;
}

/* Permutes the numbers of 2 * @half bits. @by 1: the permutation, -1: its inverse. */
static u32 shuffle(u32 x, u32 half, u64 seed, int by)
{
	u32 mask = (1U << half) - 1, left = x >> half, right = x & mask;
	int round = by > 0 ? 0 : ROUNDS - 1;

	for (; round >= 0 && round < ROUNDS; round += by) {
		u32 f = (u32)lst_mix(seed + ((u64)round << 32) + (by > 0 ? right : left)) & mask;

		if (by > 0) {
			f ^= left;
			left = right;
			right = f;
		} else {
			f ^= right;
			right = left;
			left = f;
		}
	}
	return left << half | right;
}

/* Permutes the numbers below @nr. */
static u32 number_permute(u32 x, u32 nr, u64 seed, int by)
{
	u32 half = half_bits(nr);

	do
		x = shuffle(x, half, seed, by);
	while (x >= nr);
	return x;
}

/*
 * Returns the node after @x in one cycle of all nodes, which @seed orders. So no node is its own
 * successor.
 */
static u32 successor(u32 x, u32 nr, u64 seed)
{
	u32 place = number_permute(x, nr, seed, -1);

	return number_permute(place + 1 < nr ? place + 1 : 0, nr, seed, 1);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static struct row map_row_of(const struct lst_plan *p, u32 i)
{
	u32 n = (u32)p->nr_from, m = (u32)p->nr_to, span = (u32)min(p->span, p->nr_to), rest;

	switch ((enum lst_map)p->map) {
	case LST_MAP_SPREAD:
		div_u64_rem((u64)(i / (u32)p->dist) * span, m, &rest);
		return (struct row){ rest, span };
	case LST_MAP_ONE_TO_ONE:
		return (struct row){ i % m, 1 };
	case LST_MAP_ONE_TO_ALL:
		return (struct row){ 0, i ? 0 : m };
	case LST_MAP_ALL_TO_ALL:
		return (struct row){ (i % m + 1) % m, m };
	case LST_MAP_RING:
		return (struct row){ (i % m + 1) % m, 1 };
	case LST_MAP_STAR:
		return (struct row){ m > 1, i ? 0 : m - 1 };
	case LST_MAP_CHAOS:
		return (struct row){ i + 1 < m ? i + 1 : 0, i + 1 < m ? m - i - 1 : 0 };
	case LST_MAP_PERMUTATION:
		return (struct row){ successor(i, max(n, m), p->seed) % m, 1 };
	case LST_MAP_INCAST:
		return (struct row){ 0, 1 };
	case LST_MAP_LISTED:
		return (struct row){ 0, m };
	}
	return (struct row){ 0, 0 };
}

static bool sends(const struct lst_plan *p, u32 i, u32 j)
{
	struct row row = map_row_of(p, i);
	u32 m = (u32)p->nr_to, far = j >= row.first ? j - row.first : j + (m - row.first);

	return far < row.nr && !(p->same && i == j);
}

static u32 next_server(const struct lst_plan *p, u32 *pos)
{
	u32 self = (u32)p->self, m = (u32)p->nr_to, j;
	struct row row = map_row_of(p, self);

	while (*pos < row.nr) {
		u32 left = m - row.first, at = (*pos)++;

		j = at < left ? row.first + at : at - left;
		if (!p->same || j != self)
			return j;
	}
	return U32_MAX;
}

u32 lst_map_next(const struct lst_plan *p, u32 *pos)
{
	if (!p->back)
		return next_server(p, pos);
	while (*pos < p->nr_from) {
		u32 i = (*pos)++;

		if (sends(p, i, (u32)p->self))
			return i;
	}
	return U32_MAX;
}
