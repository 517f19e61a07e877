/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The launcher that started this process with others, and the exchange of their addresses. */
#ifndef NETTEST_LAUNCH_H
#define NETTEST_LAUNCH_H

#include <stdint.h>

struct launch {
	uint32_t rank, nr;
	uint32_t local_rank, local_nr;	/* among the processes on this machine */
	uint32_t job;			/* a number that other jobs are unlikely to have */
};

/*
 * pmix/launch.c, or alone/launch.c without PMIx, which reports that PMIx is missing. 0; -ENOENT: no
 * known launcher started this process; or another -errno, after a message.
 */
int launch_begin(struct launch *l);
/* Each process gives a text and receives all: @all[nr], which the caller frees. 0 or -errno. */
int launch_exchange(const struct launch *l, const char *own, char **all);
int launch_barrier(const struct launch *l);
void launch_end(const struct launch *l);

#endif
