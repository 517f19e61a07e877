/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Common code of the programs for other transports. Each has the arguments
 *
 *	PROGRAM server|client rtt|oneway|stream ADDRESS PORT SECONDS
 *
 * and makes the same measurements as raw.c. The client prints one number. rtt: the median round
 * trip of 64 bytes in microseconds. oneway: messages of 64 bytes received per second. stream:
 * megabytes received per second, in messages of 1 MiB sent from 16 buffers in turn. The server
 * serves one client and ends.
 */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SMALL		64u
#define LARGE		(1u << 20)
#define BUFFERS		16u
#define MAX_RTTS	1000000u

struct peer_job {
	bool server;
	char what;		/* r: rtt, o: oneway, s: stream */
	const char *address, *port;
	uint64_t ns;		/* duration */
	size_t size;		/* of a message */
	uint8_t *memory;	/* BUFFERS buffers of LARGE bytes */
	uint32_t *rtts;
	unsigned int nr_rtts;
};

static inline uint64_t peer_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline void peer_die(const char *what)
{
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

static inline struct peer_job peer_job_parse(int argc, char **argv)
{
	struct peer_job job = { 0 };

	if (argc != 6 || !strchr("ros", argv[2][0])) {
		fprintf(stderr, "%s server|client rtt|oneway|stream ADDRESS PORT SECONDS\n",
			argv[0]);
		exit(2);
	}
	job.server = argv[1][0] == 's';
	job.what = argv[2][0];
	job.address = argv[3];
	job.port = argv[4];
	job.ns = (uint64_t)(atof(argv[5]) * 1e9);
	job.size = job.what == 's' ? LARGE : SMALL;
	job.memory = aligned_alloc(4096, (size_t)BUFFERS * LARGE);
	job.rtts = malloc(MAX_RTTS * sizeof(*job.rtts));
	if (!job.memory || !job.rtts)
		peer_die("memory");
	memset(job.memory, 0, (size_t)BUFFERS * LARGE);
	return job;
}

/* Large messages use BUFFERS buffers in turn, small ones 1,024 adjacent pieces. */
static inline uint8_t *peer_buffer(const struct peer_job *job, uint64_t i)
{
	return job->memory + (job->what == 's' ? i % BUFFERS * LARGE : i % 1024 * SMALL);
}

static inline int peer_by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Stores the time of a round trip. False: there is no room for a further one. */
static inline bool peer_rtt_add(struct peer_job *job, uint64_t ns)
{
	job->rtts[job->nr_rtts++] = (uint32_t)ns;
	return job->nr_rtts < MAX_RTTS;
}

static inline void peer_rtt_print(struct peer_job *job)
{
	qsort(job->rtts, job->nr_rtts, sizeof(*job->rtts), peer_by_size);
	printf("%.3f\n", job->rtts[job->nr_rtts / 2] / 1e3);
}

/* @nr messages were received in the time since @start. */
static inline void peer_rate_print(const struct peer_job *job, uint64_t nr, uint64_t start)
{
	double sec = (double)(peer_now() - start) / 1e9;

	if (job->what == 's')
		printf("%.2f\n", (double)nr * LARGE / sec / 1e6);
	else
		printf("%.0f\n", (double)nr / sec);
}

#endif
