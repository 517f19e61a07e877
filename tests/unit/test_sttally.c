/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do records of tests add up exactly in any order, bound quantiles, and survive their encoding? */
#include "selftest/tally.h"
#include "unit.h"

static u64 seed;

static u64 draw(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return seed >> 16;
}

static struct lnet_process client(u32 nr)
{
	struct lnet_process id = { .pid = LNET_PID };

	lnet_nid_from_nid4(&id.nid, 0x000200000a000000ULL + nr);
	return id;
}

/* From zero to beyond the last bucket, all magnitudes with the same probability. */
static u64 draw_ns(void)
{
	return draw() >> (10 + draw() % 38);
}

/* The record of one client, as the client counts it; a session adds up nr_clients of these. */
static void record(struct lst_tally *t, u32 nr)
{
	struct lnet_process id = client(nr);
	u32 i;

	lst_tally_init(t);
	for (i = 0; i < LST_NR_TALLIES; i++)
		t->c[i] = draw() % 1000;
	t->c[LST_T_sent] = t->c[LST_T_received] + t->c[LST_T_lost] + t->c[LST_T_under_way];
	t->nr_nodes = 1;
	for (i = (u32)(draw() % 60); i; i--)
		lst_tally_time(t, draw_ns(), &id);
	t->first_ns = 1 + draw() % 1000;
	t->last_ns = t->first_ns + draw() % 1000;
	lst_tally_bad(t, draw() % 3, &id);
}

static bool same(const struct lst_tally *a, const struct lst_tally *b)
{
	u8 x[LST_TALLY_WIRE], y[LST_TALLY_WIRE];
	u32 len = lst_tally_encode(a, x);

	return len == lst_tally_encode(b, y) && !memcmp(x, y, len);
}

#define NR 40

static void shuffle(u32 *order)
{
	u32 i;

	for (i = 0; i < NR; i++)
		order[i] = i;
	for (i = NR - 1; i; i--) {
		u32 j = (u32)(draw() % (i + 1)), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
}

/* Adds up records as a tree of any shape does: it merges two neighbours repeatedly. */
static void add_up(struct lst_tally *sum, const struct lst_tally *of, const u32 *order)
{
	static struct lst_tally part[NR];
	u32 i, at, nr = NR;

	for (i = 0; i < NR; i++)
		part[i] = of[order[i]];
	for (; nr > 1; nr--) {
		at = (u32)(draw() % (nr - 1));
		lst_tally_merge(&part[at], &part[at + 1]);
		memmove(&part[at + 1], &part[at + 2], (nr - at - 2) * sizeof(part[0]));
	}
	*sum = part[0];
}

static void order_does_not_matter(void)
{
	static struct lst_tally of[NR], sum, other;
	u32 order[NR], i, round;

	for (round = 0; round < 50; round++) {
		seed = round;
		for (i = 0; i < NR; i++)
			record(&of[i], i);
		shuffle(order);
		add_up(&sum, of, order);
		UNIT_EQUAL(sum.nr_nodes, NR, "all");
		UNIT_EQUAL(sum.nr_slow, LST_TALLY_TOP, "full");
		for (i = 0; i < 5; i++) {
			shuffle(order);
			add_up(&other, of, order);
			UNIT_EQUAL(same(&sum, &other), true, "any tree");
		}
		lst_tally_merge(&other, &of[0]);
		UNIT_EQUAL(same(&sum, &other), false, "it can differ");
		lst_tally_init(&other);
		lst_tally_merge(&sum, &other);
		lst_tally_merge(&other, &sum);
		UNIT_EQUAL(same(&sum, &other), true, "nothing changes nothing");
	}
}

/* Compared with the compiler's numbers of 128 bits, and with the list of all clients. */
static void sums_are_exact(void)
{
	unsigned __int128 sum = 0, sum2 = 0;
	u64 slowest[NR] = { 0 }, max_ns = 0, min_ns = U64_MAX;
	struct lst_tally t;
	u32 i, j, above;

	seed = 3;
	lst_tally_init(&t);
	for (i = 0; i < 20000; i++) {
		u64 ns = i % 7 ? draw_ns() : U64_MAX - draw();
		u32 nr = (u32)(draw() % NR);
		struct lnet_process id = client(nr);

		lst_tally_time(&t, ns, &id);
		sum += ns;
		sum2 += (unsigned __int128)ns * ns;
		slowest[nr] = max(slowest[nr], ns);
		max_ns = max(max_ns, ns);
		min_ns = min(min_ns, ns);
	}
	UNIT_EQUAL(t.nr_times, 20000, "times");
	UNIT_EQUAL(t.sum_ns.hi == (u64)(sum >> 64) && t.sum_ns.lo == (u64)sum, true, "sum");
	UNIT_EQUAL(t.sum_ns2.hi == (u64)(sum2 >> 64) && t.sum_ns2.lo == (u64)sum2, true,
		   "squares");
	UNIT_EQUAL(t.min_ns == min_ns && t.max_ns == max_ns, true, "ends");
	for (i = 0; i < LST_TALLY_TOP; i++) {
		for (above = 0, j = 0; j < NR; j++)
			above += slowest[j] > t.slow[i].value;
		UNIT_EQUAL(above, i, "the slowest, in order");
	}
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void quantiles_are_bounds(void)
{
	static const u32 per_million[] = { 0, 1, 500000, 900000, 990000, 999000, 999999, 1000000 };
	static u64 ns[3000];
	struct lnet_process id = client(1);
	struct lst_tally t;
	u32 i, nr, round;

	for (round = 0; round < 60; round++) {
		seed = round;
		nr = 1 + (u32)(draw() % ARRAY_SIZE(ns));
		lst_tally_init(&t);
		for (i = 0; i < nr; i++) {
			ns[i] = draw_ns();
			lst_tally_time(&t, ns[i], &id);
		}
		qsort(ns, nr, sizeof(ns[0]), by_value);
		for (i = 0; i < ARRAY_SIZE(per_million); i++) {
			u64 rank = ((u64)nr * per_million[i] + 999999) / 1000000;
			u64 exact = ns[rank ? rank - 1 : 0];
			u64 q = lst_tally_quantile(&t, per_million[i]);

			UNIT_EQUAL(q >= exact, true, "a bound");
			if (exact >= 512 && exact < 1ULL << 36)
				UNIT_EQUAL((q - exact) * 8 <= exact, true, "off by an eighth");
		}
		UNIT_EQUAL(lst_tally_quantile(&t, 1000000), ns[nr - 1], "the largest is exact");
	}
	lst_tally_init(&t);
	UNIT_EQUAL(lst_tally_quantile(&t, 500000), 0, "none");
}

static void bytes_come_back(void)
{
	static struct lst_tally t, back;
	u8 buf[LST_TALLY_WIRE];
	u32 i, len, used, cut;

	for (i = 0; i < 200; i++) {
		seed = i;
		record(&t, i);
		for (cut = (u32)(draw() % 30); cut; cut--) {
			record(&back, cut + 1000);
			lst_tally_merge(&t, &back);
		}
		len = lst_tally_encode(&t, buf);
		used = 0;
		UNIT_EQUAL(lst_tally_decode(&back, buf, LST_TALLY_WIRE, &used), 0, "read");
		UNIT_EQUAL(used, len, "bytes");
		UNIT_EQUAL(same(&t, &back), true, "the same");
		for (cut = 0; cut < len; cut++)
			UNIT_EQUAL(lst_tally_decode(&back, buf, cut, &used), -EINVAL, "cut off");
	}
}

/* Accepted bytes are a record: its encoding equals the bytes that were read. */
static void garbage_is_refused(void)
{
	static struct lst_tally t, back;
	u8 buf[LST_TALLY_WIRE], again[LST_TALLY_WIRE];
	u32 i, len, used, at, taken = 0;

	for (i = 0; i < 20000; i++) {
		seed = i;
		record(&t, 1);
		len = lst_tally_encode(&t, buf);
		at = (u32)(draw() % len);
		buf[at] ^= (u8)(1U << draw() % 8);
		if (lst_tally_decode(&back, buf, len, &used))
			continue;
		taken++;
		UNIT_EQUAL(lst_tally_encode(&back, again), used, "as long");
		UNIT_EQUAL(memcmp(buf, again, used), 0, "the same bytes");
	}
	/* A changed bit of an address, or of a count that is in no sum, leaves a valid record. */
	UNIT_EQUAL(taken > 0 && taken < 18000, true, "some are records, too");
	for (i = 0; i < 20000; i++) {
		for (at = 0; at < sizeof(buf); at++)
			buf[at] = (u8)draw();
		buf[0] = LST_NR_TALLIES;
		buf[1] = buf[2] = 1;
		UNIT_EQUAL(lst_tally_decode(&back, buf, sizeof(buf), &used), -EINVAL, "noise");
	}
}

static void spoil(struct lst_tally *t, u32 how)
{
	switch (how) {
	case 0: t->c[LST_T_sent]++; break;
	case 1: t->c[LST_T_lost] = U64_MAX; break;
	case 2: t->bucket[100]++; break;
	case 3: t->nr_times++; break;
	case 4: t->min_ns = t->max_ns + 1; break;
	case 5: t->max_ns *= 4; break;
	case 6: t->first_ns = t->last_ns + 1; break;
	case 7: t->slow[1] = t->slow[0]; break;
	case 8: t->slow[1].value = t->slow[0].value + 1; break;
	case 9: t->slow[1].id = t->slow[0].id; break;
	case 10: t->slow[0].id.nid.size = 77; break;
	case 11: t->min_at.nid.size = 77; break;
	case 12: t->nr_slow = LST_TALLY_TOP + 1; break;
	case 13: t->slow[0].value++; break;
	case 14: t->bad[1] = t->bad[0]; break;
	}
}

static void what_cannot_be_is_refused(void)
{
	struct lnet_process a = client(1), b = client(2);
	struct lst_tally t, back;
	u8 buf[2 * LST_TALLY_WIRE];
	u32 how, used;

	for (how = 0; how <= 15; how++) {
		lst_tally_init(&t);
		t.c[LST_T_sent] = t.c[LST_T_received] = 3;
		lst_tally_time(&t, 1000, &a);
		lst_tally_time(&t, 2000, &b);
		lst_tally_time(&t, 1500, &b);
		t.first_ns = 5;
		t.last_ns = 9;
		lst_tally_bad(&t, 2, &a);
		lst_tally_bad(&t, 1, &b);
		spoil(&t, how);
		lst_tally_encode(&t, buf);
		UNIT_EQUAL(lst_tally_decode(&back, buf, LST_TALLY_WIRE, &used),
			   how < 15 ? -EINVAL : 0, "spoilt");
	}
}

static void errors_are_listed(void)
{
	struct lst_tally t;
	u32 i;

	lst_tally_init(&t);
	for (i = 0; i < NR; i++) {
		struct lnet_process id = client(i);

		lst_tally_bad(&t, i, &id);
	}
	lst_tally_bad(&t, 5, &t.bad[3].id);
	UNIT_EQUAL(t.nr_bad, LST_TALLY_TOP, "the worst");
	UNIT_EQUAL(t.bad[0].value, NR - 4 + 5, "more of one that is in it");
	UNIT_EQUAL(t.bad[LST_TALLY_TOP - 1].value, NR - LST_TALLY_TOP, "the last");
	UNIT_EQUAL(t.c[LST_T_corrupt], 0, "no count");
}

UNIT_SUITE(sttally,
	   { "added in any order, by any tree, records are the same", order_does_not_matter },
	   { "sums, squares and lists are exact", sums_are_exact },
	   { "quantiles bound what was measured, by an eighth", quantiles_are_bounds },
	   { "bytes come back", bytes_come_back },
	   { "a flipped bit is seen, or is another record", garbage_is_refused },
	   { "what cannot be is refused", what_cannot_be_is_refused },
	   { "errors of nodes are listed", errors_are_listed })
