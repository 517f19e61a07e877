/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulator's driver: messages over simulated links, with connections that die, and every fault
 * that the core must survive.
 */
#ifndef SIMLND_H
#define SIMLND_H

#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/wire.h>
#include "tests/sim/world.h"

/*
 * A link joins each two NIs of a rail. Between two NIs there is at most one connection, known to
 * each end by its generation: what was sent under one that an end does not have any more is not
 * received there. A large payload is read from the sender's memory when it arrives, as a network
 * card would, so that memory given back too early shows: its hash is taken when it is posted.
 */

extern const struct lnet_lnd_ops simlnd_ops;

enum simlnd_end_state { END_NONE, END_DIALING, END_UP };

/* One end of the connection between two NIs. */
struct simlnd_end {
	struct list_head busy;		/* ni->busy: perhaps something is queued or in flight */
	struct list_head dirty;		/* ni->dirty: flush has to look at it */
	struct simlnd_ni *ni;
	struct lnet_peer_ni *pni;	/* counted */
	u32 peer_node : 24;
	u32 state : 7;			/* enum simlnd_end_state */
	u32 pumping : 1;		/* a pump event is under way */
	u32 epoch;
	u64 gen;			/* UP: the connection; DIALING: the attempt */
	union {
		u64 retry_ns;		/* DIALING: give up this attempt; NONE: not before */
		u64 last_arrival_ns;	/* UP: order on the wire */
	};
	struct list_head queue;		/* attempts not yet posted */
	struct list_head flight;	/* messages whose attempt we have */
	struct list_head in;		/* messages landing or waiting here */
};

struct simlnd_ni {
	struct lnet_ni *ni;
	struct sim_node *node;
	struct sim_world *w;
	u32 rail, life;
	bool stopped;
	u64 tick_ns;			/* the next tick; U64_MAX: none */
	u32 epochs;
	u64 tx_free_ns;
	u32 nr_sent, nr_lost;		/* since the core was told */
	struct list_head busy, dirty;	/* of ends */
	/* by node, or in the next slot that is free; 1 << slot_bits, a quarter of them free */
	struct simlnd_end **slot;
	u32 slot_bits, nr_ends;
};

#define simlnd_for_each_end(sn, slot)					\
	for ((slot) = (sn)->slot;					\
	     (sn)->nr_ends && (slot) < (sn)->slot + (1U << (sn)->slot_bits); (slot)++)	\
		if (*(slot))

enum simlnd_place { IN_AIR, LANDING, HELD, CONSUMED };

#define SIMLND_FEW 96U

struct simlnd_msg {
	struct list_head link;		/* end->flight of the sender, while it has @att */
	struct list_head in;		/* end->in of the receiver */
	struct lnet_att *att;		/* memory is read from there; NULL: @data has it */
	struct simlnd_end *from;	/* while on its flight list */
	struct simlnd_end *to;		/* while on its in list */
	struct lnet_hdr hdr;
	u32 src_node, dst_node, rail;
	u64 gen, hash;
	u8 *data;			/* @few, or allocated */
	u32 len;
	struct lnet_rx *rx;
	u8 place;
	u8 events;			/* that refer to it */
	bool arrived, abort_soon;
	bool lost;			/* nothing of it arrives */
	bool stop;			/* unwanted, but its writer goes on for a moment */
	/* its connection died while the core's word was on its way */
	bool gone;
	u8 few[SIMLND_FEW];
};

/* link.c: what a link does to a message. */
struct simlnd_fate {
	bool lost, dup, met;
	u64 delay_ns;
	bool unordered;
};
void simlnd_fate(struct sim_world *w, u32 rail, u32 from, u32 to, struct simlnd_fate *fate);
bool simlnd_cut(struct sim_world *w, u32 rail, u32 from, u32 to);	/* nothing passes now */
/* Mbit/s from one to the other. */
u64 simlnd_rate(struct sim_world *w, u32 rail, u32 from, u32 to);
/* a fault by chance; counts it */
bool simlnd_roll(struct sim_world *w, u8 kind, u32 rail, u32 node, u32 peer);
bool simlnd_active(const struct sim_world *w, const struct sim_fault *f, u64 now_ns);
u64 simlnd_latency(struct sim_world *w);
void simlnd_faults_start(struct sim_world *w);	/* makes the events of faults that are events */

/* conn.c */
struct simlnd_ni *simlnd_ni_at(struct sim_world *w, u32 node, u32 rail);	/* NULL: down */
struct simlnd_end *simlnd_end_find(struct simlnd_ni *sn, const struct lnet_nid *nid);
/* NULL: no memory, shutting down */
struct simlnd_end *simlnd_end_make(struct simlnd_ni *sn, const struct lnet_nid *nid);
/* What came belongs to no connection: the sender's end hears that it is gone. */
void simlnd_say_reset(struct sim_world *w, u32 from, u32 to, u32 rail, u64 gen);
/* What was dialed or accepted as @gen is in use. */
void simlnd_up(struct lnet_pass *p, struct simlnd_end *end, u64 gen);
void simlnd_dial(struct simlnd_end *end);
/*
 * In a DRIVER pass or an op, no lock held. What was posted is given back as lost. @tell: a reset
 * goes to the other end.
 */
void simlnd_close(struct lnet_pass *p, struct simlnd_end *end, enum lnet_outcome how, bool tell,
		  bool requeue);
void simlnd_end_free(struct simlnd_end *end);
void simlnd_end_busy(struct simlnd_end *end);	/* the tick looks at it */
void simlnd_reset_node(struct sim_world *w, u32 node, s32 rail, s32 peer);

/* msg.c */
void simlnd_pump(struct lnet_pass *p, struct simlnd_end *end);
void simlnd_give_back(struct lnet_pass *p, struct simlnd_msg *m, enum lnet_outcome how, bool keep);
/* the connection died: what is landing and waiting */
void simlnd_drop_in(struct lnet_pass *p, struct simlnd_end *end);
void simlnd_msg_event_drop(sim_event_fn fn, void *arg);
void simlnd_event_drop(sim_event_fn fn, void *arg);	/* conn.c: at the end of the world */

/* simlnd.c */
void simlnd_tick_by(struct simlnd_ni *sn, u64 when_ns);	/* something has a deadline */
void simlnd_wait(struct simlnd_end *end);	/* the same of what is queued, if anything is */
void simlnd_dial_waiting(struct simlnd_ni *sn);
void simlnd_ack_event(struct sim_world *w, void *arg, u64 num);
void simlnd_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void simlnd_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void simlnd_msg_put(struct simlnd_msg *m);	/* frees it if nothing refers to it */

#endif
