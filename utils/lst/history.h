/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lst: stored measurements. */
#ifndef LST_HISTORY_H
#define LST_HISTORY_H

#include "lst.h"
#include "record.h"

/* A stored measurement; missing documents are NULL. */
struct past {
	uint64_t id;
	const char *session;
	int64_t begin_ns, end_ns;	/* time of its first and last record */
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

/* -errno; call history_close() in any case. */
int history_open(struct history *h, const char *file);
void history_close(struct history *h);
/* The document in a record; NULL: it has none. */
struct lnetctl_node *history_doc(const struct record *r);
/* NULL: no measurement has this ID. */
const struct past *past_of(const struct history *h, uint64_t id);
/* Also reads the documents, which past_free() frees. False: no measurement has this ID. */
bool past_find(const struct history *h, uint64_t id, struct past *p);
void past_free(struct past *p);
/* Returns the printed lines of a sample as a list "table". NULL: out of memory. */
struct lnetctl_node *history_table(const struct lnetctl_node *sample);

int history_verify(const struct history *h, uint64_t id);	/* 0, -1 after messages */

#endif
