/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A session over many nodes, with or without a tree: what does it cost, and is it correct? */
#ifndef TESTS_SIM_TREE_H
#define TESTS_SIM_TREE_H

#include "tests/sim/scenario.h"

#define SIM_TREE_SAMPLES	10U

struct sim_tree {
	u32 nodes;			/* not including the console */
	u32 k;
	u32 loops;			/* pings of a node in each test; 0: by the levels */
	bool core;			/* nodes use the core, else they are light */
	bool flat;			/* the console sends requests to each node itself */
	bool faults;			/* links lose messages, nodes with children crash */
	/* results */
	u32 levels, dead;
	u64 join_us, sample_us, sample_max_us, skew_max_ns, skew_p99_ns, bound_ns;
	u64 root_messages_max, root_bytes_max;	/* of one command, at the console's node */
	/* requests of the console for one wave: with all nodes alive, and with dead ones */
	u64 asked_max, asked_lost_max;
	u64 pings, messages, events;
	u64 recovered_us;		/* faults: until the sample was complete */
};

void sim_tree_run(struct sim_tree *t, u64 seed, struct sim_result *result);

#endif
