/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Many nodes that know one NID of some others: do all find all rails, at what cost, and again? */
#ifndef TESTS_SIM_CROWD_H
#define TESTS_SIM_CROWD_H

#include "tests/sim/scenario.h"

struct sim_crowd {
	u32 nodes, partners;
	u32 recovery_rate, push_rate;	/* budget of a node; 0: the default, which is here then */
	bool storm;			/* in place of all other changes */
	/* answer */
	u64 pairs, control;		/* messages of contact and discovery until all was known */
	u64 pushes, probes;		/* of all nodes, in the phases of change; a storm: so far */
	u64 pushes_sec_max, probes_sec_max;	/* of one node in any second */
	/* virtual: how long it took */
	u64 found_ms, changed_ms, healed_ms, split_ms, restarted_ms;
	u64 sent, failed;
};

void sim_crowd_run(struct sim_crowd *c, u64 seed, struct sim_result *result);

#endif
