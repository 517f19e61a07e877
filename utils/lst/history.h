/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lst: stored measurements. */
#ifndef LST_HISTORY_H
#define LST_HISTORY_H

#include "lst.h"
#include "record.h"

/* A stored measurement. Documents that it does not have are NULL. */
struct past {
	uint64_t id;
	const char *session;
	int64_t begin_ns, end_ns;	/* times of the first and the last record */
	size_t nr_samples;
	uint64_t bytes;
	bool complete;			/* its end is stored */
	struct lnetctl_node *begin, *last, *end;	/* last: the last sample */
};

struct history {
	char path[4096];
	struct records rs;
	struct past *past;		/* without documents */
	size_t nr;
};

/* Opens the history. Returns 0 or -errno. Call history_close() in any case. */
int history_open(struct history *h, const char *file);
void history_close(struct history *h);
/* Returns the document of a record. NULL: the record has no document. */
struct lnetctl_node *history_doc(const struct record *r);
/* Returns the measurement with this ID, or NULL. */
const struct past *past_of(const struct history *h, uint64_t id);
/*
 * Finds a measurement and reads its documents, which past_free() frees. False: no measurement has
 * this ID.
 */
bool past_find(const struct history *h, uint64_t id, struct past *p);
void past_free(struct past *p);
/* Returns the printed lines of a sample as a list "table". NULL: no memory. */
struct lnetctl_node *history_table(const struct lnetctl_node *sample);

int history_verify(const struct history *h, uint64_t id);	/* 0, -1 after messages */

#endif
