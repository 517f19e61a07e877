/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log in a file, which both sides of lnetperf and of the load in the kernel write, and the
 * oracle reads.
 *
 * A file is an array of records in the byte order of the machine. It ends with the file or with the
 * first record of kind 0, as the writer maps it ahead. Written records survive a killed process.
 */
#ifndef PERFLOG_H
#define PERFLOG_H

#include <lnet/types.h>

enum perf_kind {
	PERF_START = 1,		/* id: instance, a: enum perf_role, b: process id */
	PERF_ISSUE,		/* id: request, before it is sent; a: bytes, b: enum perf_op */
	PERF_FINAL,		/* id: request; status; a: perhaps; b: duration in us */
	PERF_DELIVER,		/* id: request, at its target; status: 0, -EBADMSG; a: bytes */
	PERF_LANDED,		/* id: request found intact in memory of the earlier instance */
	PERF_SERVED,		/* id: GET, at its target */
	PERF_RAIL,		/* id: index of the own interface; a: messages sent by it so far */
	PERF_END,		/* clean end of the instance */
	PERF_COUNTS,		/* id: duplicates suppressed so far, a: retries, b: hedges */
};

enum perf_role { PERF_CLIENT = 1, PERF_SERVER };
enum perf_op { PERF_PUT = 1, PERF_PUT_NOACK, PERF_GET };

/* @id of a request: instance << 40 | number, counted from 1 in order of issue. */
#define PERF_ID_SHIFT 40

struct perf_rec {
	uint64_t id;
	int64_t time_ns;	/* of the day, monotonic within an instance */
	int32_t status;
	uint32_t a, b;
	uint32_t kind;		/* written last */
};

#endif
