/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver in the simulator: byte streams over the links of simlnd. */
#ifndef SOCKLND_SIM_H
#define SOCKLND_SIM_H

#include "tests/sim/world.h"

extern const struct lnet_lnd_ops simsock_ops;

/* Resets the streams of node @node on @rail to node @peer; @peer -1: to all nodes. */
void simsock_reset_node(struct sim_world *w, u32 node, s32 rail, s32 peer);
void simsock_event_drop(sim_event_fn fn, void *arg);	/* called when the simulation ends */

#endif
