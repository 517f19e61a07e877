/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of simulated nodes, with the sender's outcome of each and the receiver's log. */
#ifndef TESTS_SIM_LOAD_H
#define TESTS_SIM_LOAD_H

#include "tests/sim/world.h"

enum sim_req_kind { SIM_PUT_ACK, SIM_PUT, SIM_GET, SIM_NR_REQ_KINDS };

struct sim_req;

/* The memory of one end of a request, with an MD that uses it. */
struct sim_side {
	struct list_head link;		/* load->side[node] */
	struct list_head of_req;	/* of a target's side: req->targets */
	struct sim_req *req;
	u32 node, life;
	u32 len;
	u8 *buf;
	lnet_md_t md;
	lnet_me_t me;
	/* mine: the program owns the memory; no driver may write to it */
	bool target, unlinked, mine;
};

struct sim_req {
	struct list_head link;		/* load->open, then load->ended */
	struct sim_world *w;
	u64 id, start_ns, end_ns, limit_ns;
	u32 src, dst, src_life, dst_life;
	u32 len, nr_sides;
	u32 matches, effects, finals;
	u32 sides_lost;			/* target's lives that ended during the request */
	int status;
	u8 kind;
	bool unknown, unlinked, marked, plain, probe;
	struct sim_side source;
	/* a side in each life of the target, until it is unlinked */
	struct list_head targets;
};

struct sim_load {
	struct sim_world *w;
	struct sim_rng rng;
	struct list_head open, ended;
	struct list_head *side;		/* per node: sides whose MD is not yet unlinked */
	u8 *known;			/* bit per ordered pair: the peer is configured */
	u64 next_id, nr_open, nr_all;
	u64 gap_ns;			/* mean time between requests of a node */
	u64 until_ns;			/* no new requests after that */
	u64 timeout_ns, linger_ns;
	u32 retry_count;
	u32 nr_max_open;		/* per world */
	u32 min_len, max_len;
	u32 pair_open;			/* open requests of an ordered pair; 0: no bound */
	u32 partners;			/* number of other nodes to which a node sends; 0: all */
	u32 kind_permille[SIM_NR_REQ_KINDS];
	bool symmetric;			/* the target also configures the sender as its peer */
};

int sim_load_init(struct sim_load *load, struct sim_world *w);
void sim_load_start(struct sim_load *load);
void sim_load_fini(struct sim_load *load);
/* NULL: one of the two nodes is down */
struct sim_req *sim_request(struct sim_load *load, u32 src, u32 dst, u8 kind, u32 len);

/* check.c */
void sim_check_now(struct sim_world *w);	/* invariants at any time */
void sim_check_end(struct sim_world *w);	/* and when nothing is in flight */
/* checks an ended request, after its linger time */
void sim_check_req(struct sim_world *w, const struct sim_req *req);
bool sim_idle(struct sim_world *w);		/* no node has an unfinished operation */

#endif
