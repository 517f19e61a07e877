/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a test counted, at one node or at many: the record that nodes send, that is added up on its
 * way to the console, printed and kept. Adding is exact and its order does not matter, so any tree
 * of nodes comes to the same record. Mean, deviation and quantiles are for whoever prints them; the
 * record has what they are computed from.
 */
#ifndef LNET_SELFTEST_TALLY_H
#define LNET_SELFTEST_TALLY_H

#include "plat.h"
#include <lnet/lnet.h>

#define TALLY(name, text)	LST_T_##name,
enum lst_tally_count {
#include "tally.def"
	LST_NR_TALLIES
};
#undef TALLY
extern const char *const lst_tally_names[LST_NR_TALLIES];

/*
 * Times: bucket 0 ends at 512 ns; from there each power of two has eight of equal width, so an edge
 * is off by 12.5 % at most; the last one takes all from 64 s on (2^36 ns).
 */
#define LST_TALLY_BUCKETS	(1U + 27U * 8U + 1U)
#define LST_TALLY_TOP		16U

struct lst_u128 {
	u64 hi, lo;
};

struct lst_top {
	u64 value;			/* ns of the slowest answer, or number of errors */
	struct lnet_process id;
};

struct lst_tally {
	u64 c[LST_NR_TALLIES];
	u64 nr_nodes;			/* whose counts are in it */
	u64 nr_times;			/* round trips in the following: those of answers in time */
	struct lst_u128 sum_ns, sum_ns2;	/* of them, of their squares */
	u64 min_ns, max_ns;		/* 0 without any */
	struct lnet_process min_at, max_at;	/* the client that saw it */
	/* window: clocks of the clients, corrected by their offset */
	u64 first_ns, last_ns;
	u64 bucket[LST_TALLY_BUCKETS];
	u32 nr_slow, nr_bad;
	/* Largest first, of equal ones the smaller id first; a node once. */
	struct lst_top slow[LST_TALLY_TOP], bad[LST_TALLY_TOP];
};

void lst_tally_init(struct lst_tally *t);
/* An answer in time, of a round trip of @ns, at client @id; of the counts none changes. */
void lst_tally_time(struct lst_tally *t, u64 ns, const struct lnet_process *id);
/* @nr more errors of the node @id: into the list, not into a count. */
void lst_tally_bad(struct lst_tally *t, u64 nr, const struct lnet_process *id);
/* Commutative and associative, but for `bad' where one node is in more than one record. */
void lst_tally_merge(struct lst_tally *into, const struct lst_tally *from);
/*
 * Of the times: a bound that @per_million of them do not exceed, in ns; the largest is exact. 0:
 * none.
 */
u64 lst_tally_quantile(const struct lst_tally *t, u32 per_million);

/*
 * Bytes of a record: little endian, empty buckets left out, the same bytes for equal records.
 * LST_TALLY_WIRE is enough for any.
 */
#define LST_TALLY_WIRE	4096U
u32 lst_tally_encode(const struct lst_tally *t, u8 buf[LST_TALLY_WIRE]);
/*
 * 0 and bytes used in *@used, -EINVAL: not a record; what cannot be is refused (sums, order,
 * ranges).
 */
int lst_tally_decode(struct lst_tally *t, const u8 *buf, u32 len, u32 *used);

#endif
