/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts and times of a test, at one node or many. Nodes send this record, other nodes add it up on
 * the way to the console, which prints and keeps it. Adding is exact and its order does not matter,
 * so every tree of nodes gives the same record. The program that prints the record computes mean,
 * deviation and quantiles.
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
 * Times: bucket 0 ends at 512 ns. Above it each power of two has eight buckets of equal width, so
 * a bucket is at most 12.5 % wide. The last bucket has all times from 2^36 ns (68.7 s) on.
 */
#define LST_TALLY_BUCKETS	(1U + 27U * 8U + 1U)
#define LST_TALLY_TOP		16U

struct lst_u128 {
	u64 hi, lo;
};

struct lst_top {
	u64 value;			/* ns of the slowest reply, or number of errors */
	struct lnet_process id;
};

struct lst_tally {
	u64 c[LST_NR_TALLIES];
	u64 nr_nodes;			/* nodes whose counts are included */
	u64 nr_times;			/* round trips in the fields below: of replies in time */
	struct lst_u128 sum_ns, sum_ns2;	/* sum of the times, of their squares */
	u64 min_ns, max_ns;		/* 0 if there are none */
	struct lnet_process min_at, max_at;	/* the client that measured it */
	/* window: clocks of the clients, corrected by their offset */
	u64 first_ns, last_ns;
	u64 bucket[LST_TALLY_BUCKETS];
	u32 nr_slow, nr_bad;
	/* Largest first; among equal ones the smaller ID first; each node once. */
	struct lst_top slow[LST_TALLY_TOP], bad[LST_TALLY_TOP];
};

void lst_tally_init(struct lst_tally *t);
/* Adds a reply in time with a round trip of @ns at client @id; changes no count. */
void lst_tally_time(struct lst_tally *t, u64 ns, const struct lnet_process *id);
/* Adds @nr errors of the node @id to the list, not to a count. */
void lst_tally_bad(struct lst_tally *t, u64 nr, const struct lnet_process *id);
/* Commutative and associative, except for `bad' if one node is in more than one record. */
void lst_tally_merge(struct lst_tally *into, const struct lst_tally *from);
/*
 * A bound in ns that @per_million of the times do not exceed; exact for the largest. 0: no times.
 */
u64 lst_tally_quantile(const struct lst_tally *t, u32 per_million);

/*
 * Bytes of a record: little endian, without empty buckets, equal bytes for equal records.
 * LST_TALLY_WIRE bytes are enough for each record.
 */
#define LST_TALLY_WIRE	4096U
u32 lst_tally_encode(const struct lst_tally *t, u8 buf[LST_TALLY_WIRE]);
/* 0 and bytes used in *@used; -EINVAL: not a record, or impossible sums, order or ranges. */
int lst_tally_decode(struct lst_tally *t, const u8 *buf, u32 len, u32 *used);

#endif
