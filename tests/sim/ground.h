/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ground is the transport of self-test nodes in the simulator: the core, or light nodes. Light
 * nodes have only the API that the self-test uses. The code of the self-test is compiled for each
 * ground.
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
	struct lst *st;			/* NULL: was never up */
	struct lnet *ln;
	u32 ix;
	bool dead;			/* it neither sends nor receives any more */
	u64 due_ns;			/* time of the scheduled event; 0: none */
	struct sim_traffic before;
};

struct sim_ground {
	const char *name;
	/* Node ix has the NID sim_nid(ix, 0). begin() and up() return 0 or -errno. */
	int (*begin)(struct sim_world *w, u64 seed, u32 nr_nodes);
	void (*end)(struct sim_world *w);
	int (*up)(struct sim_world *w, struct sim_member *m, u32 nr_messages);
	void (*kill)(struct sim_member *m);
	void (*wake)(struct sim_member *m);	/* at due_ns */
	/* stop() ends all work in progress at a member; then free() is called for each member. */
	void (*stop)(struct sim_member *m);
	void (*free)(struct sim_member *m);
	void (*command)(struct lst *st, struct lst_command *cmd);
	/* Converts a time of the member's clock to the world's. */
	u64 (*true_ns)(const struct sim_member *m, u64 ns);
	/* Traffic since the last reset. */
	struct sim_traffic (*traffic)(struct sim_member *m, bool reset);
};

/* Runs the work of a member that is due. Both grounds use it. */
void sim_member_tick(struct sim_member *m, u64 (*work)(struct lst *st), u64 due_ns);

extern const struct sim_ground sim_core, sim_light;

/* Parameters of light nodes. */
struct sim_light_cfg {
	u64 near_ns, far_ns;		/* latency between neighbours (a /24); between others */
	u64 jitter_ns, gap_ns;		/* gap: time that each end needs for a message */
	u32 loss_permille;
	u32 slow;			/* node with ten times the latency to all others; 0: none */
	u32 drift_ppm;			/* maximum drift of clocks */
};
extern struct sim_light_cfg sim_light_cfg;

#endif
