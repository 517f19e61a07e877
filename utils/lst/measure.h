/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lst: samples that are taken, printed and stored. */
#ifndef LST_MEASURE_H
#define LST_MEASURE_H

#include "sample.h"

struct measure {
	bool json, yaml, live, pairs, rails, record;
	bool tree;			/* samples of the nodes of a tree, and not of groups */
	const char *file;		/* file of the history; NULL: the default */
	const char *batch;		/* NULL: all */
	const char *target;		/* group or NIDs; NULL: all nodes */
	long long test, wait, interval, count;	/* interval 0: one sample; count -1: no end */
	/* while it runs */
	struct lnetctl_node *sample;
	/* wall-clock times of the sample, and of the first sample */
	int64_t time_ns, begin_ns;
	struct seen *seen;		/* nodes, with the time of each node's last reply */
	size_t nr_seen;
	unsigned int nr_asked, nr_missing;	/* nodes of this sample */
	uint64_t id;			/* in the history */
	char session[NAME_MAX_LEN];	/* its name, for the history */
};

/*
 * measure.c: returns 0, or -1 after a message. It is a failure if nodes are missing in the last
 * sample.
 */
int measure(struct measure *m);
/* Frees m->sample and takes a new sample. Returns 0 or -errno. */
int measure_take(struct measure *m);
void measure_free(struct measure *m);
/* Prints the missing nodes of the sample, with the reason and the time since their last reply. */
void measure_print_missing(const struct measure *m, FILE *out);

/* live.c: prints a line for each test and sample, or updates the screen. */
void live_line(struct measure *m, const struct lnetctl_node *before);
void live_screen(struct measure *m, const struct lnetctl_node *before);

/* history_write.c: these functions store the measurement. They return 0, or -1 after a message. */
int history_begin(struct measure *m);
int history_sample(struct measure *m);
int history_end(struct measure *m);

#endif
