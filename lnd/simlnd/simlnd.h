/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The simulator's driver: sends messages over simulated links, whose connections fail. It simulates
 * every fault that the core must survive.
 */
#ifndef SIMLND_H
#define SIMLND_H

#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/wire.h>
#include "tests/sim/world.h"

/*
 * A rail is a net on which each node has at most one NI. A link connects each pair of NIs on a
 * rail. A link has at most one connection, and each end identifies the connection by its
 * generation. An end does not receive messages of a generation other than its present one.
 *
 * When a message with a large payload arrives, the driver reads the payload from the sender's
 * memory, as a network card does. The driver computes the hash of the payload when the message is
 * posted, and again when the message arrives. So the driver detects memory that was released too
 * early.
 */

extern const struct lnet_lnd_ops simlnd_ops;

enum simlnd_end_state { END_NONE, END_DIALING, END_UP };

/* One end of the connection between two NIs. */
struct simlnd_end {
	struct list_head busy;		/* in ni->busy: attempts may be queued or in flight */
	struct list_head dirty;		/* in ni->dirty: flush has to check this end */
	struct simlnd_ni *ni;
	struct lnet_peer_ni *pni;	/* with a reference */
	u32 peer_node : 24;
	u32 state : 7;			/* enum simlnd_end_state */
	u32 pumping : 1;		/* a pump event is scheduled */
	u32 epoch;
	u64 gen;			/* UP: generation of the connection; DIALING: of the dial */
	union {
		/* DIALING: end of this dial; no connection: time of the next dial */
		u64 retry_ns;
		u64 last_arrival_ns;	/* UP: order on the wire */
	};
	struct list_head queue;		/* attempts not yet posted */
	/* sent messages whose attempts the driver has not completed */
	struct list_head flight;
	/* messages that this node is receiving, or that wait for a buffer */
	struct list_head in;
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
	/* sent and lost messages since the last report to the core */
	u32 nr_sent, nr_lost;
	struct list_head busy, dirty;	/* of ends */
	/*
	 * Hash table of ends by node, with linear search. It has 1 << slot_bits slots, of which a
	 * quarter is free.
	 */
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
	struct list_head link;		/* in end->flight of the sender while the driver has @att */
	struct list_head in;		/* end->in of the receiver */
	struct lnet_att *att;		/* source of the payload; NULL: the payload is in @data */
	struct simlnd_end *from;	/* while on its flight list */
	struct simlnd_end *to;		/* while on its in list */
	struct lnet_hdr hdr;
	u32 src_node, dst_node, rail;
	u64 gen, hash;
	u8 *data;			/* @few, or allocated */
	u32 len;
	struct lnet_rx *rx;
	u8 place;
	u8 events;			/* that reference it */
	bool arrived, abort_soon;
	bool lost;			/* no byte of it arrives */
	/* aborted, but the thread or card still writes for a moment */
	bool stop;
	/* the connection of the message failed before the verdict on the message */
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
bool simlnd_cut(struct sim_world *w, u32 rail, u32 from, u32 to);	/* no message passes now */
/* The rate from node @from to node @to, in Mbit/s. */
u64 simlnd_rate(struct sim_world *w, u32 rail, u32 from, u32 to);
/* Draws a random value: true if a fault of @kind occurs. Counts the fault. */
bool simlnd_roll(struct sim_world *w, u8 kind, u32 rail, u32 node, u32 peer);
bool simlnd_active(const struct sim_world *w, const struct sim_fault *f, u64 now_ns);
u64 simlnd_latency(struct sim_world *w);
void simlnd_faults_start(struct sim_world *w);	/* schedules faults that are events */

/* conn.c */
struct simlnd_ni *simlnd_ni_at(struct sim_world *w, u32 node, u32 rail);	/* NULL: down */
struct simlnd_end *simlnd_end_find(struct simlnd_ni *sn, const struct lnet_nid *nid);
/* NULL: no memory, shutting down */
struct simlnd_end *simlnd_end_make(struct simlnd_ni *sn, const struct lnet_nid *nid);
/*
 * @from has received a message of the connection @gen, which @from does not have. Sends a reset to
 * @to, the sender of the message, so that the end at @to closes.
 */
void simlnd_send_reset(struct sim_world *w, u32 from, u32 to, u32 rail, u64 gen);
/* From now on, the end uses the connection @gen, which it dialed or accepted. */
void simlnd_up(struct lnet_pass *p, struct simlnd_end *end, u64 gen);
void simlnd_dial(struct simlnd_end *end);
/*
 * In a DRIVER pass or a driver operation, no lock held. Completes posted attempts as lost. With
 * @tell, sends a reset to the remote end. With @requeue, queued attempts wait for a new connection;
 * otherwise they are completed.
 */
void simlnd_close(struct lnet_pass *p, struct simlnd_end *end, enum lnet_outcome how, bool tell,
		  bool requeue);
void simlnd_end_free(struct simlnd_end *end);
void simlnd_end_busy(struct simlnd_end *end);	/* the tick checks it */
void simlnd_reset_node(struct sim_world *w, u32 node, s32 rail, s32 peer);

/* msg.c */
void simlnd_pump(struct lnet_pass *p, struct simlnd_end *end);
void simlnd_complete(struct lnet_pass *p, struct simlnd_msg *m, enum lnet_outcome how, bool keep);
/*
 * The connection of @end failed: aborts the receives in progress. Each message that waits for a
 * buffer is dropped with a probability of one half.
 */
void simlnd_drop_in(struct lnet_pass *p, struct simlnd_end *end);
void simlnd_msg_event_drop(sim_event_fn fn, void *arg);
/* conn.c: called when the simulation ends */
void simlnd_event_drop(sim_event_fn fn, void *arg);

/* simlnd.c */
void simlnd_tick_by(struct simlnd_ni *sn, u64 when_ns);	/* an attempt has a deadline */
/* schedules a tick for the deadlines of queued attempts, if any */
void simlnd_wait(struct simlnd_end *end);
void simlnd_dial_waiting(struct simlnd_ni *sn);
void simlnd_ack_event(struct sim_world *w, void *arg, u64 num);
void simlnd_receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void simlnd_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx);
void simlnd_msg_put(struct simlnd_msg *m);	/* frees the message if it is not referenced */

#endif
