/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of tests as the console reports them, and values that are computed from them. */
#ifndef LST_SAMPLE_H
#define LST_SAMPLE_H

#include "lnet/selftest/tally.h"
#include "lst.h"

/* The values are whole numbers, so that all machines compute the same values. */
struct figures {
	u64 mean_ns, dev_ns;	/* dev_ns: standard deviation of all round trips */
	u64 min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	u64 window_ns;		/* time from the first request to the last reply */
	u64 per_s, out_per_s, in_per_s;	/* replies and bytes per second; 0 if window_ns is 0 */
};

/* Reads a tally. False: @item is no tally, or its counts do not add up. */
bool tally_read(const struct lnetctl_node *item, struct lst_tally *t);
void tally_figures(const struct lst_tally *t, struct figures *f);
/* Subtracts @before from @t. False: a count has decreased, because a node left with its counts. */
bool tally_minus(struct lst_tally *t, const struct lst_tally *before);

/*
 * Prints the tables of tests, pairs and rails of a sample. A sample is a mapping. Its values
 * "tally", "pairs" and "rails" are lists; "missing" is a list of mappings with a nid.
 */
void sample_print(const struct lnetctl_node *sample, FILE *out);
void sample_print_rails(const struct lnetctl_node *sample, FILE *out);
/*
 * Both functions compute a mapping "figures" from a tally. sample_figures() adds it to one item.
 * sample_add_figures() adds a mapping to each item of "tally" and "pairs" in a sample. Both return
 * 0, -EINVAL (an item is no tally) or -ENOMEM.
 */
int sample_figures(struct lnetctl_node *item);
int sample_add_figures(struct lnetctl_node *sample);
/* Writes the test of an item as "BATCH.INDEX". */
#define TEST_NAME_SIZE	48
const char *sample_test(const struct lnetctl_node *item, char name[TEST_NAME_SIZE]);
u64 sample_count(const struct lnetctl_node *map, const char *key);	/* 0 if missing */
/* Writes @value divided by 1000 with three decimals: 1234 as "1.234". */
const char *thousandths(u64 value, char buf[24]);

#endif
