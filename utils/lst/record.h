/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of the history. It consists of records, each with a checksum. Writers append records
 * under a lock, or replace the whole file. Readers skip truncated or damaged records.
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

/*
 * Writes the path of the history: @file, $LST_HISTORY, or else a file below $XDG_STATE_HOME or
 * ~/.local/state. The path is "" if there is no such file.
 */
int record_path(const char *file, char *path, size_t size);
/* Reads all records. A missing file counts as a file without records. Returns 0 or -errno. */
int records_read(const char *path, struct records *rs);
void records_free(struct records *rs);
/*
 * Appends a record, and creates a missing directory. If @r->id is 0, assigns it the ID of a new
 * measurement. Returns 0, or -errno if nothing was appended.
 */
int record_append(const char *path, struct record *r);
/*
 * Removes the records for which @purge returns true, and shortens the file. Returns 0, or -errno if
 * nothing was changed.
 */
int records_purge(const char *path, bool (*purge)(const struct record *r, void *arg), void *arg,
		  size_t *nr);

#endif
