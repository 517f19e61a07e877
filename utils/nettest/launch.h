/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who started this process beside others, and how they tell each other their names. */
#ifndef NETTEST_LAUNCH_H
#define NETTEST_LAUNCH_H

#include <stdint.h>

struct launch {
	uint32_t rank, nr;
	uint32_t local_rank, local_nr;	/* among those on this machine */
	uint32_t job;			/* a number that other jobs hardly have */
};

/*
 * pmix/launch.c, or where that cannot be built alone/launch.c, which says so. 0; -ENOENT: no
 * launcher that we know started us; or another -errno of it, and it was said.
 */
int launch_begin(struct launch *l);
/* Each gives a text, each gets all: @all[nr], strings to be freed. 0 or -errno. */
int launch_exchange(const struct launch *l, const char *own, char **all);
int launch_barrier(const struct launch *l);
void launch_end(const struct launch *l);

#endif
