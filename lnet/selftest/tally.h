/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts and times of a test, at one node or many. Each node sends its record. Other nodes add up
 * records on the way to the console, which prints and stores the sum. The addition is exact, and
 * its order does not matter, so every tree of nodes produces the same record. The program that
 * prints the record computes mean, deviation and quantiles.
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
 * Buckets of times. Bucket 0 ends at 512 ns. Above 512 ns each power of two has eight buckets of
 * equal width, so a bucket is at most 12.5 % wide. The last bucket has all times from 2^36 ns (68.7
 * s) on.
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
	/* number of round trips in the fields below; late replies are not included */
	u64 nr_times;
	struct lst_u128 sum_ns, sum_ns2;	/* sum of the times; sum of their squares */
	u64 min_ns, max_ns;		/* 0 if there are none */
	struct lnet_process min_at, max_at;	/* the client that measured it */
	/*
	 * The first and last time of the test. The clock of each client is corrected by its offset.
	 */
	u64 first_ns, last_ns;
	u64 bucket[LST_TALLY_BUCKETS];
	u32 nr_slow, nr_bad;
	/* Sorted by descending value; equal values by ascending ID. Each node has one entry. */
	struct lst_top slow[LST_TALLY_TOP], bad[LST_TALLY_TOP];
};

void lst_tally_init(struct lst_tally *t);
/* Adds @ns, the round-trip time of a reply that client @id received in time. Changes no count. */
void lst_tally_time(struct lst_tally *t, u64 ns, const struct lnet_process *id);
/* Adds @nr errors of the node @id to the list of nodes with errors. Changes no count. */
void lst_tally_bad(struct lst_tally *t, u64 nr, const struct lnet_process *id);
/*
 * Adds up two tallies. The order of additions does not matter, except for `bad' if one node is in
 * several records.
 */
void lst_tally_merge(struct lst_tally *into, const struct lst_tally *from);
/*
 * Returns an upper bound in ns for the quantile @per_million / 1,000,000 of the times. If
 * @per_million is 1,000,000, the result is the exact maximum. 0: there are no times.
 */
u64 lst_tally_quantile(const struct lst_tally *t, u32 per_million);

/*
 * The bytes of a record are little endian, without empty buckets. Equal records have equal bytes.
 * LST_TALLY_WIRE bytes are enough for each record.
 */
#define LST_TALLY_WIRE	4096U
u32 lst_tally_encode(const struct lst_tally *t, u8 buf[LST_TALLY_WIRE]);
/*
 * Returns 0 and the used bytes in *@used. -EINVAL: no record, or impossible sums, order or ranges.
 */
int lst_tally_decode(struct lst_tally *t, const u8 *buf, u32 len, u32 *used);

#endif
