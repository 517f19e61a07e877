/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node that forwards: its buffers, the messages in them, and whether it does so at all. */
#ifndef LNET_ROUTER_H
#define LNET_ROUTER_H

#include "model/core.h"

/* ---- forward.c ------------------------------------------------------------------------------- */

/*
 * [sh of rx->from] A message for another node. May drop and retake the lock. LAND, LATER, or SKIP;
 * CLOSE: the sender or the interface went meanwhile.
 */
enum lnet_verdict lnet_forward_begin(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr);
void lnet_forward_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
bool lnet_forward_gone(struct lnet_pass *p, struct lnet_rx *rx);	/* as lnet_rx_gone() */
/* no lock held: it waited and may land; without memory its verdict becomes SKIP */
void lnet_forward_land(struct lnet_pass *p, struct lnet_rx *rx);
void lnet_forward_free(struct lnet_rx *rx);	/* with its rx */
/*
 * [any lock] True if messages of other senders wait for a buffer of this size. They have the same
 * destination, or any while less than half of these buffers are free.
 */
bool lnet_forward_is_wanted(const struct lnet_rx *rx);
/* what is to be sent of it; the destination is the attempt's */
void lnet_forward_hdr(const struct lnet_op *op, struct lnet_hdr *hdr);
void lnet_forward_payload(const struct lnet_op *op, struct lnet_buf *buf);
/* [sh] It may be sent again though perhaps it arrived: exactly-once.md rule 15. */
bool lnet_forward_resendable(const struct lnet_op *op);
/*
 * [sh] It did not leave this node and goes no further for now: by @path without link, or (NULL) as
 * all were tried. It ends then, which its originator is told.
 */
bool lnet_forward_stuck(const struct lnet_op *op, const struct lnet_path *path);
/* [sh] Another NID of the node may stand for the one that fails. */
void lnet_forward_substitute(struct lnet_op *op);
/* [sh] the paths not to take: by the router that it came from */
u64 lnet_forward_avoid(const struct lnet_op *op);
/* no lock held: buffers and credits of what ended in this pass go back */
void lnet_pass_routed(struct lnet_pass *p);
/* [sh] What has waited too long is dropped. */
void lnet_router_timer(struct lnet_pass *p, struct lnet_timer *t);

/* [sh] All that waits there is dropped. */
void lnet_router_drop_waiting(struct lnet_pass *p, struct lnet_rtr_shard *rs);

/* ---- buffers.c: all [sh], by the shard of fwd->rs -------------------------------------------- */
/* RX_NEW -> RX_LAND_ROUTED without memory yet: true; else it waits. */
bool lnet_rtr_ask(struct lnet_pass *p, struct lnet_fwd *fwd);
/* Its memory; may drop and retake the lock. False: there is none, all is given back. */
bool lnet_rtr_fill(struct lnet_pass *p, struct lnet_fwd *fwd);
/*
 * Whatever its rx holds is given back and those who wait for it land (p->land). A buffer to be
 * freed without lock, or NULL.
 */
struct lnet_rtr_buf *lnet_rtr_return(struct lnet_pass *p, struct lnet_fwd *fwd);
/* [sh] how many there are has changed; who waits for one may go on */
void lnet_rtr_credits_set(struct lnet_pass *p, struct lnet_peer_ni *from);
void lnet_rtr_arm(struct lnet_rtr_shard *rs);	/* its timer, for the one that waits longest */
/* more is free than was: those who may land */
void lnet_rtr_wake(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* checks some of the flows that were not checked after the last release of a buffer */
void lnet_rtr_scan(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* No lock held: allocates what @spare lacks, if there is memory. */
void lnet_rtr_spare_fill(struct lnet_rtr_spare *spare);
/* Keeps the unused part of @spare for the next message, and frees the part that @rs had. */
void lnet_rtr_spare_keep(struct lnet_rtr_shard *rs, const struct lnet_rtr_spare *spare);
void lnet_rtr_spare_free(const struct lnet_rtr_spare *spare);
/*
 * Finds or makes the flow between two nodes, and takes a reference. NULL: it is new, and @spare has
 * no memory for it.
 */
struct lnet_rtr_flow *lnet_rtr_flow_get(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
					const struct lnet_nid *dst, struct lnet_rtr_spare *spare);
void lnet_rtr_flow_put(struct lnet_rtr_shard *rs, struct lnet_rtr_flow *flow);	/* NULL is fine */
enum lnet_rtr_class lnet_rtr_class(u32 payload_len);
u32 lnet_rtr_share(const struct lnet *ln, enum lnet_rtr_class cls);	/* a shard's */
/* How many of @nr buffers one sender may have: router_share percent, at least min(@nr, 8). */
u32 lnet_rtr_sender_most(const struct lnet *ln, u32 nr);

/* ---- state.c: configuration, may sleep ------------------------------------------------------- */
int lnet_router_enable(struct lnet *ln, bool on);	/* 0, -ENOMEM, -EBUSY */
void lnet_router_resize(struct lnet *ln);		/* cfg_mutex held: the tunables changed */
void lnet_router_credits(struct lnet *ln);		/* the same of peer_buffer_credits */
enum lnet_router_state lnet_router_state(const struct lnet *ln);
u32 lnet_router_state_nr(const struct lnet *ln);	/* as stock numbers it */
/* As it was told to be. */
static inline bool lnet_router_on(const struct lnet *ln)
{
	enum lnet_router_state state = lnet_router_state(ln);

	return state == ROUTER_STARTING || state == ROUTER_ENABLED;
}

/* What a shard's buffers are, for those who show it; takes its lock. -ENOENT: there are none. */
struct lnet_rtr_view {
	u32 pages, nr;
	s32 credits, min_credits;	/* negative: so many wait */
};
int lnet_router_view(struct lnet *ln, unsigned int shard, struct lnet_rtr_view v[LNET_NR_RTR]);
u32 lnet_rtr_total(const struct lnet *ln, enum lnet_rtr_class cls);	/* of the node, as set */
void lnet_router_fini(struct lnet *ln);			/* all operations ended */
void lnet_router_work(struct lnet_pass *p);		/* worker of shard 0, no lock held */
void lnet_router_pinged(struct lnet_pass *p, struct lnet_rx *rx);	/* [sh] of its interface */

#endif
