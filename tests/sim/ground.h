/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What nodes of a self-test stand on in the simulator: the core, or light nodes, which have the API
 * that the self-test uses and nothing else. Its code is compiled for either.
 */
#ifndef TESTS_SIM_GROUND_H
#define TESTS_SIM_GROUND_H

#include "tests/sim/world.h"
#include "selftest/service.h"

struct sim_ground;

struct sim_traffic {			/* of a node */
	u64 out, in, bytes;
};

struct sim_member {
	struct lst_host host;		/* first */
	const struct sim_ground *ground;
	struct sim_world *w;
	struct lst *st;			/* NULL: down from the beginning */
	struct lnet *ln;
	u32 ix;
	bool dead;			/* it hears and says nothing any more */
	u64 due_ns;			/* of the event that is to come; 0: none */
	struct sim_traffic before;
};

struct sim_ground {
	const char *name;
	/* All have sim_nid() of rail 0. 0 or -errno, both. */
	int (*begin)(struct sim_world *w, u64 seed, u32 nr_nodes);
	void (*end)(struct sim_world *w);
	int (*up)(struct sim_world *w, struct sim_member *m, u32 nr_messages);
	void (*kill)(struct sim_member *m);
	void (*wake)(struct sim_member *m);	/* at due_ns */
	/* All that is under way ends; then free() of each. */
	void (*stop)(struct sim_member *m);
	void (*free)(struct sim_member *m);
	void (*command)(struct lst *st, struct lst_command *cmd);
	/* The member's clock to the world's. */
	u64 (*true_ns)(const struct sim_member *m, u64 ns);
	/* Since the last reset. */
	struct sim_traffic (*traffic)(struct sim_member *m, bool reset);
};

/* What both have: time for a member. */
void sim_member_tick(struct sim_member *m, u64 (*work)(struct lst *st), u64 due_ns);

extern const struct sim_ground sim_core, sim_light;

/* Of light nodes. */
struct sim_light_cfg {
	u64 near_ns, far_ns;		/* latency of a link between neighbours (a /24), others */
	u64 jitter_ns, gap_ns;		/* gap: of a message at each end */
	u32 loss_permille;
	u32 slow;			/* ten times as far from all; 0: none is */
	u32 drift_ppm;			/* clocks drift by at most */
};
extern struct sim_light_cfg sim_light_cfg;

#endif
