/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many nodes that know one NID of some others: do all find all rails, also after changes? */
#ifndef TESTS_SIM_CROWD_H
#define TESTS_SIM_CROWD_H

#include "tests/sim/scenario.h"

struct sim_crowd {
	u32 nodes, partners;
	u32 recovery_rate, push_rate;	/* limits of a node; 0: begin() sets the default */
	bool storm;			/* a storm in place of all other changes */
	/* results */
	/* messages of negotiation and discovery until all are known */
	u64 pairs, control;
	/* of all nodes, in the phases of change; in a storm: so far */
	u64 pushes, probes;
	u64 pushes_sec_max, probes_sec_max;	/* of one node in any second */
	/* durations, in virtual time */
	u64 found_ms, changed_ms, healed_ms, split_ms, restarted_ms;
	u64 sent, failed;
};

void sim_crowd_run(struct sim_crowd *c, u64 seed, struct sim_result *result);

#endif
