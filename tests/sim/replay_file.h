/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions to load, save and replay recordings. See manual/developer/recorder.md. */
#ifndef TESTS_SIM_REPLAY_FILE_H
#define TESTS_SIM_REPLAY_FILE_H

#include "plat.h"
#include "lnet/recorder/record.h"

struct replay_report {
	u64 records, calls, decisions, values, states, skipped, lost;
	u64 recorded, replayed;		/* hashes; equal if the replay made the same decisions */
	char why[4096];			/* the first difference */
};

/*
 * replay.c. 0: the same decisions. 1: a difference, described in @report->why. -errno: not a
 * recording, with a message in @report->why.
 */
int sim_replay(const char *file, struct replay_report *report);
/* The same for parsed records in memory. */
int sim_replay_records(const struct lnet_rec_head *head, const struct lnet_rec *rec,
		       struct replay_report *report);
/* record.c. 0, and the caller frees @rec; or -errno and a message */
int sim_record_load(const char *file, struct lnet_rec_head *head, struct lnet_rec **rec,
		    char *why, size_t size);
/* The same for @len bytes at @data. */
int sim_record_parse(const void *data, u64 len, struct lnet_rec_head *head, char *why,
		     size_t size);
/* Saves the flight recorder of a simulated node. 0 or -errno */
int sim_record_save(struct lnet *ln, const char *file);

#endif
