/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Counters of tests as the console reports them, and values computed from them. */
#ifndef LST_SAMPLE_H
#define LST_SAMPLE_H

#include "lnet/selftest/tally.h"
#include "lst.h"

/* Whole numbers only, so that all machines compute the same values. */
struct figures {
	u64 mean_ns, dev_ns;	/* dev: standard deviation of all round trips, not of a part */
	u64 min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	u64 window_ns;		/* from the first request to the last reply */
	u64 per_s, out_per_s, in_per_s;	/* replies, bytes; 0 without a window */
};

/* False: @item is no tally, or its counts do not add up. */
bool tally_read(const struct lnetctl_node *item, struct lst_tally *t);
void tally_figures(const struct lst_tally *t, struct figures *f);
/* Subtracts @before from @t; false: a count decreased, as a node that left took its counts. */
bool tally_minus(struct lst_tally *t, const struct lst_tally *before);

/*
 * Prints the tables of tests, pairs and rails of a sample. A sample is a mapping: "tally", "pairs"
 * and "rails" are lists, "missing" is a list of mappings with a nid.
 */
void sample_print(const struct lnetctl_node *sample, FILE *out);
void sample_print_rails(const struct lnetctl_node *sample, FILE *out);
/* Adds a mapping "figures" to the item: -EINVAL (no tally), -ENOMEM; or to each item. */
int sample_figures(struct lnetctl_node *item);
int sample_add_figures(struct lnetctl_node *sample);
/* The test of an item, as "BATCH.INDEX". */
#define TEST_NAME_SIZE	48
const char *sample_test(const struct lnetctl_node *item, char name[TEST_NAME_SIZE]);
u64 sample_count(const struct lnetctl_node *map, const char *key);	/* 0 if missing */
/* Writes "1234" as "1.234", a thousandth of @value. */
const char *thousandths(u64 value, char buf[24]);

#endif
