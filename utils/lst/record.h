/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file of the history: records, one behind another, each with its checksum. It is only ever
 * appended to, under a lock, or replaced as a whole; what is torn or damaged is skipped.
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
	const char *text;		/* JSON; not of RECORD_LAST_ID */
	uint32_t len;
	/* read */
	uint64_t at;			/* where it stands in the file */
};

/* All that is in a file, as it was at one moment. */
struct records {
	char *bytes;
	size_t size;
	struct record *record;
	size_t nr;
	uint64_t nr_skipped;		/* bytes that are of no record */
	uint64_t last_id;
};

/* "" : no such file. NULL @file: $LST_HISTORY, else under $XDG_STATE_HOME or ~/.local/state. */
int record_path(const char *file, char *path, size_t size);
/* No file: none. 0 or -errno. */
int records_read(const char *path, struct records *rs);
void records_free(struct records *rs);
/*
 * To the end. @r->id 0: of a new measurement, and is set; the directory is made if it is missing.
 * 0 or -errno: nothing was appended.
 */
int record_append(const char *path, struct record *r);
/* All but those that @purge is true for; their space is free. 0 or -errno: as it was. */
int records_purge(const char *path, bool (*purge)(const struct record *r, void *arg), void *arg,
		  size_t *nr);

#endif
