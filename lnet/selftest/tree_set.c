/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of nodes of a row, by index. It is a bit map in memory. It is a list of runs on the wire,
 * if that list is shorter.
 */
#include "tree.h"

enum { NONE, RUNS, BITS };		/* forms on the wire */

static bool set_contains(const struct lst_set *set, u32 index)
{
	u32 bit = index - set->first;

	return set->bits && (set->bits[bit / 8] >> bit % 8 & 1);
}

int lst_set_add(struct lst_set *set, u32 first, u32 nr)
{
	u32 i;

	if (!nr)
		return 0;
	if (!set->bits)
		set->bits = kzalloc(DIV_ROUND_UP(set->nr, 8U), GFP_NOWAIT);
	if (!set->bits)
		return -ENOMEM;
	for (i = first - set->first; nr; i++, nr--) {
		u8 bit = (u8)(1U << i % 8);

		set->nr_in += !(set->bits[i / 8] & bit);
		set->bits[i / 8] |= bit;
	}
	return 0;
}

bool lst_set_run(const struct lst_set *set, u32 *at, u32 *nr)
{
	u32 end = set->first + set->nr, to;

	if (!set->nr_in)
		return false;
	while (*at < end && !set_contains(set, *at))
		++*at;
	for (to = *at; to < end && set_contains(set, to); to++)
		;
	*nr = to - *at;
	return *nr;
}

void lst_set_free(struct lst_set *set)
{
	kfree(set->bits);
	set->bits = NULL;
	set->nr_in = 0;
}

/* ---- on the wire ----------------------------------------------------------------------------- */

static u32 count_runs(const struct lst_set *set)
{
	u32 at, nr, runs = 0;

	for (at = set->first; lst_set_run(set, &at, &nr); at += nr)
		runs++;
	return runs;
}

/*
 * Encodes a set: a byte for the form, and then bits or runs. In the form with runs, the number of
 * runs precedes them. Each run has its offset in the row and its length.
 */
u32 lst_set_encode(const struct lst_set *set, u8 *buf)
{
	u32 runs = count_runs(set), bytes = DIV_ROUND_UP(set->nr, 8U), at, nr, len = 5;

	buf[0] = NONE;
	if (!runs)
		return 1;
	if ((u64)runs * 8 + 4 > bytes) {
		buf[0] = BITS;
		memcpy(buf + 1, set->bits, bytes);
		return 1 + bytes;
	}
	buf[0] = RUNS;
	put_unaligned_le32(runs, buf + 1);
	for (at = set->first; lst_set_run(set, &at, &nr); at += nr, len += 8) {
		put_unaligned_le32(at - set->first, buf + len);
		put_unaligned_le32(nr, buf + len + 4);
	}
	return len;
}

static int runs_merge(struct lst_set *set, u32 first, u32 nr, const u8 *buf, u32 len)
{
	u32 runs = len < 4 ? 0 : get_unaligned_le32(buf), i, end = 0;

	if (!runs || runs > (len - 4) / 8)
		return -EINVAL;
	for (i = 0; i < runs; i++) {
		u32 at = get_unaligned_le32(buf + 4 + 8 * i);
		u32 run = get_unaligned_le32(buf + 8 + 8 * i);

		if (at < end || at >= nr || !run || run > nr - at)
			return -EINVAL;
		end = at + run;
		if (lst_set_add(set, first + at, run))
			return -ENOMEM;
	}
	return (int)(5 + 8 * runs);
}

static int bits_merge(struct lst_set *set, u32 first, u32 nr, const u8 *buf, u32 len)
{
	u32 i, bytes = DIV_ROUND_UP(nr, 8U);

	if (len < bytes || (nr % 8 && buf[bytes - 1] >> nr % 8))
		return -EINVAL;
	for (i = 0; i < nr; i++)
		if (buf[i / 8] >> i % 8 & 1 && lst_set_add(set, first + i, 1))
			return -ENOMEM;
	return (int)(1 + bytes);
}

int lst_set_merge(struct lst_set *set, u32 first, u32 nr, const u8 *buf, u32 len)
{
	if (!len || buf[0] > BITS)
		return -EINVAL;
	if (buf[0] == NONE)
		return 1;
	return buf[0] == RUNS ? runs_merge(set, first, nr, buf + 1, len - 1) :
				bits_merge(set, first, nr, buf + 1, len - 1);
}
