/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The log of lnetperf and of the load in the kernel. Both sides of a test write a log, and the
 * oracle reads the logs.
 *
 * A file is an array of records in the byte order of the machine. The writer maps the file ahead of
 * its records. So the array ends at the first record of kind 0, or at the end of the file. Written
 * records survive if the process is killed.
 */
#ifndef PERFLOG_H
#define PERFLOG_H

#include <lnet/types.h>

enum perf_kind {
	PERF_START = 1,		/* id: instance, a: enum perf_role, b: process id */
	PERF_ISSUE,		/* id: request, before it is sent; a: bytes, b: enum perf_op */
	PERF_FINAL,		/* id: request; status; a: 1 if delivery unknown; b: us */
	/* id: request received by the target; status: 0, -EBADMSG; a: bytes */
	PERF_DELIVER,
	PERF_LANDED,		/* id: request found in memory that the earlier instance left */
	PERF_SERVED,		/* id: GET, at its target */
	PERF_RAIL,		/* id: index of an interface; a: messages that it has sent so far */
	PERF_END,		/* clean end of the instance */
	PERF_COUNTS,		/* id: duplicates suppressed so far, a: retries, b: hedges */
};

enum perf_role { PERF_CLIENT = 1, PERF_SERVER };
enum perf_op { PERF_PUT = 1, PERF_PUT_NOACK, PERF_GET };

/* The @id of a request is instance << 40 | number. Numbers count from 1 in the order of issue. */
#define PERF_ID_SHIFT 40

struct perf_rec {
	uint64_t id;
	/*
	 * Time of day at the start of the instance, plus the time on the monotonic clock since
	 * then. So the values of one instance never decrease.
	 */
	int64_t time_ns;
	int32_t status;
	uint32_t a, b;
	uint32_t kind;		/* written last */
};

#endif
