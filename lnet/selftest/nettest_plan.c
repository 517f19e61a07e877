/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The topologies of NETTEST, and the sequence of measures. */
#include "nettest.h"

#define TOPO(...)
#define STATE(...)
#define PATTERN(name, topo, two_way, title)	{ NETTEST_##topo, two_way, title },
static const struct {
	u8 topo;
	bool two_way;
	const char *title;
} patterns[] = {
#include "nettest.def"
};
#undef TOPO
#undef STATE
#undef PATTERN

enum nettest_topo nettest_topo_of(enum nettest_pattern pattern)
{
	return patterns[pattern].topo;
}

bool nettest_two_way(enum nettest_pattern pattern)
{
	return patterns[pattern].two_way;
}

const char *nettest_title(enum nettest_pattern pattern)
{
	return patterns[pattern].title;
}

/* ---- topologies ------------------------------------------------------------------------------ */

u32 nettest_channels(enum nettest_topo topo, u32 nr)
{
	switch (topo) {
	case NETTEST_EMPTY: return 0;
	case NETTEST_STAR: return nr - 1;
	case NETTEST_CHAOS: return nr * (nr - 1) / 2;
	case NETTEST_RING: return nr == 2 ? 1 : nr;
	}
	return 0;
}

u32 nettest_degree(enum nettest_topo topo, u32 nr, u32 rank)
{
	switch (topo) {
	case NETTEST_EMPTY: return 0;
	case NETTEST_STAR: return rank ? 1 : nr - 1;
	case NETTEST_CHAOS: return nr - 1;
	case NETTEST_RING: return nr == 2 ? 1 : 2;
	}
	return 0;
}

bool nettest_linked(enum nettest_topo topo, u32 nr, u32 a, u32 b)
{
	if (a == b || topo == NETTEST_EMPTY)
		return false;
	if (topo == NETTEST_STAR)
		return !a || !b;
	return topo == NETTEST_CHAOS || (a + 1) % nr == b || (b + 1) % nr == a;
}

bool nettest_speaks_first(enum nettest_topo topo, u32 nr, u32 a, u32 b)
{
	/*
	 * A ring of two nodes has one channel: each node is the right and the left neighbour of the
	 * other.
	 */
	if (topo == NETTEST_RING && nr > 2)
		return (a + 1) % nr == b;
	return a < b;
}

u32 nettest_rounds(u32 nr)
{
	u32 rounds = 0;

	while ((1U << rounds) < nr)
		rounds++;
	return rounds;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static u32 next_len(const struct nettest_plan *plan, u32 len)
{
	u64 next = plan->factor ? (u64)len * plan->factor : (u64)len + plan->step;

	return next > plan->most ? 0 : (u32)next;
}

u32 nettest_plan_lens(const struct nettest_plan *plan)
{
	u32 len, nr = 0;

	for (len = plan->least; len && nr <= NETTEST_MEASURES_MAX; len = next_len(plan, len))
		nr++;
	return nr;
}

/* Does the plan have @pattern? The barrier does not count as a pattern. */
static bool has_pattern(const struct nettest_plan *plan, u32 pattern)
{
	return pattern && (plan->patterns & BIT(pattern));
}

static u32 nr_patterns(const struct nettest_plan *plan)
{
	u32 pattern, nr = 0;

	for (pattern = 1; pattern < NETTEST_NR_PATTERNS; pattern++)
		nr += has_pattern(plan, pattern);
	return nr;
}

static bool noise_can_be(const struct nettest_plan *plan)
{
	if (!plan->noise)
		return !plan->noise_pairs && !plan->noise_depth;
	return plan->noise <= LNET_MTU && plan->noise_depth &&
	       plan->noise_depth <= NETTEST_NOISE_DEPTH && plan->noise_pairs &&
	       plan->noise_pairs < NETTEST_NODES_MAX / 2;
}

u32 nettest_plan_measured(const struct nettest_plan *plan, u32 nr)
{
	return nr > 2 * plan->noise_pairs ? nr - 2 * plan->noise_pairs : 0;
}

bool nettest_noise_other(const struct nettest_plan *plan, u32 nr, u32 rank, u32 *other)
{
	u32 first = nettest_plan_measured(plan, nr);

	*other = first + ((rank - first) ^ 1);
	return rank >= first;
}

int nettest_plan_check(const struct nettest_plan *plan)
{
	if (!plan->least || plan->least > plan->most || plan->most > NETTEST_LEN_MAX)
		return -EINVAL;
	if (plan->factor == 1 || (!plan->factor && !plan->step) || !plan->repeats || !plan->times)
		return -EINVAL;
	if (!noise_can_be(plan))
		return -EINVAL;
	if (plan->check > NETTEST_CHECK_FULL || !plan->patterns || plan->patterns & ~NETTEST_ALL)
		return -EINVAL;
	if ((u64)plan->repeats * (1 + (u64)nettest_plan_lens(plan) * nr_patterns(plan)) >
	    NETTEST_MEASURES_MAX)
		return -E2BIG;
	return 0;
}

u32 nettest_plan_nr(const struct nettest_plan *plan)
{
	return plan->repeats * (1 + nettest_plan_lens(plan) * nr_patterns(plan));
}

static u32 pattern_at(const struct nettest_plan *plan, u32 nth)
{
	u32 pattern = 0;

	do {
		while (!has_pattern(plan, ++pattern))
			;
	} while (nth--);
	return pattern;
}

static u32 len_at(const struct nettest_plan *plan, u32 nth)
{
	u32 len = plan->least;

	while (nth--)
		len = next_len(plan, len);
	return len;
}

bool nettest_plan_at(const struct nettest_plan *plan, u32 index, struct nettest_measure *m)
{
	u32 each = 1 + nettest_plan_lens(plan) * nr_patterns(plan), at = index % each;

	memset(m, 0, sizeof(*m));
	m->repeat = index / each;
	if (m->repeat >= plan->repeats)
		return false;
	if (!at)
		return true;
	m->pattern = pattern_at(plan, (at - 1) % nr_patterns(plan));
	m->len = len_at(plan, (at - 1) / nr_patterns(plan));
	return true;
}

u32 nettest_plan_index(const struct nettest_plan *plan, u32 repeat, u32 len_ix, u32 pattern)
{
	u32 p, nth = 0, first = repeat * (1 + nettest_plan_lens(plan) * nr_patterns(plan));

	if (!pattern)
		return first;
	for (p = 1; p < pattern; p++)
		nth += has_pattern(plan, p);
	return first + 1 + len_ix * nr_patterns(plan) + nth;
}

u32 nettest_plan_row_end(const struct nettest_plan *plan, u32 repeat, u32 len_ix)
{
	return nettest_plan_index(plan, repeat, len_ix, 1) + nr_patterns(plan);
}
