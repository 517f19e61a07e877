/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common code of the programs that do the same as `lnetperf --interval' over other transports. The
 * client sends a request at each interval, whether or not earlier ones have ended, and the server
 * replies to each. Both ends write the log of utils/lnetperf/perflog.h, so one oracle judges all.
 *
 *	PROGRAM server LOG ...
 *	PROGRAM client LOG SECONDS INTERVAL_US SIZE ...
 */
#ifndef BENCH_PACED_H
#define BENCH_PACED_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils/lnetperf/perflog.h"

#define PACED_MAX	(1u << 20)	/* bytes of a request */
#define PACED_LINGER_NS	5000000000ll	/* wait for replies after the last request */

struct paced {
	int log;
	bool server;
	uint64_t instance, issued, ended;
	int64_t start_ns, end_ns, interval_ns;
	uint32_t size;
	int64_t *issued_ns;		/* by number; 0: ended */
	uint64_t cap;
};

struct paced_msg {			/* the header of a request; the whole reply */
	uint64_t id;
	uint64_t size;
};

static inline int64_t paced_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static inline void paced_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void paced_log(const struct paced *p, enum perf_kind kind, uint64_t id, uint32_t a,
			     uint32_t b)
{
	struct perf_rec rec = { .id = id, .time_ns = paced_now(), .a = a, .b = b, .kind = kind };

	if (write(p->log, &rec, sizeof(rec)) != sizeof(rec))
		paced_die("log");
}

static inline struct paced paced_start(int argc, char **argv)
{
	struct paced p = { .server = argc > 1 && argv[1][0] == 's' };

	if (argc < (p.server ? 3 : 6)) {
		fprintf(stderr, "%s server LOG ... | client LOG SECONDS INTERVAL_US SIZE ...\n",
			argv[0]);
		exit(2);
	}
	p.log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (p.log < 0)
		paced_die(argv[2]);
	p.start_ns = paced_now();
	p.instance = ((uint64_t)p.start_ns ^ (uint64_t)getpid()) & 0xffffff;
	if (!p.server) {
		p.end_ns = p.start_ns + (int64_t)(atof(argv[3]) * 1e9);
		p.interval_ns = atoll(argv[4]) * 1000;
		p.size = (uint32_t)atoi(argv[5]);
		if (p.interval_ns <= 0 || p.size < sizeof(struct paced_msg) || p.size > PACED_MAX)
			paced_die("interval or size");
		p.cap = (uint64_t)((p.end_ns - p.start_ns) / p.interval_ns) + 2;
		p.issued_ns = calloc(p.cap, sizeof(*p.issued_ns));
		if (!p.issued_ns)
			paced_die("memory");
	}
	paced_log(&p, PERF_START, p.instance, p.server ? PERF_SERVER : PERF_CLIENT,
		  (uint32_t)getpid());
	return p;
}

/* Time at which the next request is due; INT64_MAX: no further requests. */
static inline int64_t paced_next(const struct paced *p)
{
	int64_t at = p->start_ns + (int64_t)p->issued * p->interval_ns;

	return at < p->end_ns ? at : INT64_MAX;
}

/* True: no request is due, and none awaits a reply or PACED_LINGER_NS has passed. */
static inline bool paced_over(const struct paced *p)
{
	return paced_next(p) == INT64_MAX &&
	       (p->ended == p->issued || paced_now() > p->end_ns + PACED_LINGER_NS);
}

static inline uint64_t paced_number(uint64_t id)
{
	return id & ((1ull << PERF_ID_SHIFT) - 1);
}

/* Logs the next request and returns its header, for the caller to send. */
static inline struct paced_msg paced_issue(struct paced *p)
{
	uint64_t id = p->instance << PERF_ID_SHIFT | ++p->issued;

	p->issued_ns[p->issued - 1] = paced_now();
	paced_log(p, PERF_ISSUE, id, p->size, PERF_PUT);
	return (struct paced_msg){ .id = id, .size = p->size };
}

/* Logs the reply to request @id. False: a duplicate, or no such request. */
static inline bool paced_answered(struct paced *p, uint64_t id)
{
	uint64_t nr = paced_number(id);
	int64_t took_ns;

	if (!nr || nr > p->issued || !p->issued_ns[nr - 1])
		return false;
	took_ns = paced_now() - p->issued_ns[nr - 1];
	p->issued_ns[nr - 1] = 0;
	p->ended++;
	paced_log(p, PERF_FINAL, id, 0, (uint32_t)(took_ns / 1000));
	return true;
}

static inline void paced_delivered(const struct paced *p, const struct paced_msg *msg)
{
	paced_log(p, PERF_DELIVER, msg->id, (uint32_t)msg->size, 0);
}

static inline int paced_end(const struct paced *p)
{
	paced_log(p, PERF_END, p->instance, 0, 0);
	if (!p->server)
		printf("%llu requests, %llu not answered\n", (unsigned long long)p->issued,
		       (unsigned long long)(p->issued - p->ended));
	return 0;
}

#endif
