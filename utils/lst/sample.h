/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What tests counted, as the console tells it, and what is computed from it. */
#ifndef LST_SAMPLE_H
#define LST_SAMPLE_H

#include "lnet/selftest/tally.h"
#include "lst.h"

/* Whole numbers only, so that any machine comes to the same ones. */
struct figures {
	u64 mean_ns, dev_ns;	/* dev: standard deviation of all round trips, not of a part */
	u64 min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
	u64 window_ns;		/* from the first request to the last answer */
	u64 per_s, out_per_s, in_per_s;	/* answers, bytes; 0 without a window */
};

/* False: @item is no tally, or one that cannot be: counts that do not add up. */
bool tally_read(const struct lnetctl_node *item, struct lst_tally *t);
void tally_figures(const struct lst_tally *t, struct figures *f);
/* What @t has more than @before; false: less of something, as a node that left took its counts. */
bool tally_minus(struct lst_tally *t, const struct lst_tally *before);

/*
 * A sample is a mapping: "tally", "pairs" and "rails" are lists, "missing" one of mappings with a
 * nid. The tables of tests, of pairs and of rails, as far as it has these.
 */
void sample_print(const struct lnetctl_node *sample, FILE *out);
void sample_print_rails(const struct lnetctl_node *sample, FILE *out);
/* A mapping "figures" into the item: -EINVAL (it is no tally), -ENOMEM; into each of a sample. */
int sample_figures(struct lnetctl_node *item);
int sample_add_figures(struct lnetctl_node *sample);
/* The test that an item is of, as "BATCH.INDEX". */
#define TEST_NAME_SIZE	48
const char *sample_test(const struct lnetctl_node *item, char name[TEST_NAME_SIZE]);
u64 sample_count(const struct lnetctl_node *map, const char *key);	/* 0 if there is none */
/* "1234" as "1.234": of what is 1000 times as small. */
const char *thousandths(u64 value, char buf[24]);

#endif
