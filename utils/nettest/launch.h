/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The launcher that started this process together with others, and the exchange of their addresses.
 */
#ifndef NETTEST_LAUNCH_H
#define NETTEST_LAUNCH_H

#include <stdint.h>

struct launch {
	uint32_t rank, nr;
	uint32_t local_rank, local_nr;	/* rank and number among the processes on this machine */
	/* number of the job; other jobs probably have another number */
	uint32_t job;
};

/*
 * pmix/launch.c, or without PMIx alone/launch.c, which reports that PMIx is missing. Returns 0,
 * -ENOENT if no known launcher started this process, or another -errno after a message.
 */
int launch_begin(struct launch *l);
/*
 * Each process passes a text, and receives the texts of all processes in @all[nr]. The caller frees
 * them. Returns 0 or -errno.
 */
int launch_exchange(const struct launch *l, const char *own, char **all);
int launch_barrier(const struct launch *l);
void launch_end(const struct launch *l);

#endif
