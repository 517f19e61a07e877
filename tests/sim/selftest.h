/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes that test each other while a rail is cut: are the counts right, and is each node free? */
#ifndef TESTS_SIM_SELFTEST_H
#define TESTS_SIM_SELFTEST_H

#include "tests/sim/scenario.h"

struct sim_selftest {
	u32 nodes;			/* including the console; at least 3 */
	u32 loops, concur, bytes;
	/* results */
	u64 pings, moved;		/* ping requests; bytes of bulk */
	u64 ran_ms, resends;
};

void sim_selftest_run(struct sim_selftest *t, u64 seed, struct sim_result *result);

#endif
