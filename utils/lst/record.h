/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of the history: consecutive records, each with a checksum. Writers append under a lock,
 * or replace the whole file; readers skip torn or damaged records.
 */
#ifndef LST_RECORD_H
#define LST_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum record_kind { RECORD_BEGIN = 1, RECORD_SAMPLE, RECORD_END, RECORD_LAST_ID };

struct record {
	enum record_kind kind;
	uint64_t id;			/* of the measurement */
	int64_t time_ns;		/* of the wall clock */
	char session[32];
	const char *text;		/* JSON; none for RECORD_LAST_ID */
	uint32_t len;
	/* set when read */
	uint64_t at;			/* offset in the file */
};

/* The contents of a file at one time. */
struct records {
	char *bytes;
	size_t size;
	struct record *record;
	size_t nr;
	uint64_t nr_skipped;		/* bytes outside of records */
	uint64_t last_id;
};

/* "": no such file. NULL @file: $LST_HISTORY, else under $XDG_STATE_HOME or ~/.local/state. */
int record_path(const char *file, char *path, size_t size);
/* Without a file there are no records. 0 or -errno. */
int records_read(const char *path, struct records *rs);
void records_free(struct records *rs);
/*
 * Appends a record. If @r->id is 0, assigns the ID of a new measurement. Creates a missing
 * directory. Returns 0, or -errno if nothing was appended.
 */
int record_append(const char *path, struct record *r);
/* Removes the records for which @purge is true, and frees their space. -errno: no change. */
int records_purge(const char *path, bool (*purge)(const struct record *r, void *arg), void *arg,
		  size_t *nr);

#endif
