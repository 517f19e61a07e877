/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of router/: messages for other nodes. */
#ifndef LNET_ROUTER_ROUTER_H
#define LNET_ROUTER_ROUTER_H

#include "model/model.h"

/* ---- forward.c ------------------------------------------------------------------------------- */
/*
 * [sh of rx->from] Forwards a message. May release and take the lock. RECEIVE, LATER or SKIP;
 * CLOSE: the sender or the interface was removed meanwhile.
 */
enum lnet_verdict lnet_forward_begin(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr);
/*
 * No lock held. @rx waited for a buffer and may receive its payload. Without memory its verdict
 * becomes SKIP.
 */
void lnet_forward_receive(struct lnet_pass *p, struct lnet_rx *rx);
/* Frees rx->fwd. */
void lnet_forward_free(struct lnet_rx *rx);
/*
 * [any lock] True if messages of other senders wait for a buffer of this size. They have the same
 * destination, or any while less than half of these buffers are free.
 */
bool lnet_forward_is_wanted(const struct lnet_rx *rx);
/* [sh] If the destination NID fails, @op may use another NID of the peer. */
void lnet_forward_substitute(struct lnet_op *op);
/* [sh] The paths not to use: those to the router that sent the message. */
u64 lnet_forward_avoid(const struct lnet_op *op);
/* The payload of @rx has ended. Enters its shard. */
void lnet_forward_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/* The header to send; the destination is that of the attempt. */
void lnet_forward_hdr(const struct lnet_op *op, struct lnet_hdr *hdr);
/* The payload to send. */
void lnet_forward_payload(const struct lnet_op *op, struct lnet_buf *buf);
/* [sh] True if @op may be retried although delivery is unknown: exactly-once.md rule 15. */
bool lnet_forward_resendable(const struct lnet_op *op);
/*
 * [sh] @op was not delivered: @path has no link, or (NULL) all paths were tried. True: @op ends,
 * and its originator receives a router-generated reply.
 */
bool lnet_forward_stuck(const struct lnet_op *op, const struct lnet_path *path);
/* As lnet_rx_gone(). */
bool lnet_forward_gone(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] Drops messages that have waited too long. */
void lnet_router_timer(struct lnet_pass *p, struct lnet_timer *t);
/* [sh] Drops all messages that wait. */
void lnet_router_drop_waiting(struct lnet_pass *p, struct lnet_rtr_shard *rs);
void lnet_pass_routed(struct lnet_pass *p);	/* ln->hooks->routed() */

/* ---- buffers.c ------------------------------------------------------------------------------- */
/* All [sh], by the shard of fwd->rs. */

/* The class of buffers for a payload of this length. */
enum lnet_rtr_class lnet_rtr_class(u32 payload_len);
/* The number of buffers of this node, as set. */
u32 lnet_rtr_total(const struct lnet *ln, enum lnet_rtr_class cls);
/* The number of buffers of a shard. */
u32 lnet_rtr_share(const struct lnet *ln, enum lnet_rtr_class cls);
/*
 * The number of @nr buffers that one sender may have: router_share percent, at least min(@nr, 8).
 */
u32 lnet_rtr_sender_most(const struct lnet *ln, u32 nr);
/* No lock held: allocates what @spare lacks, if there is memory. */
void lnet_rtr_spare_fill(struct lnet_rtr_spare *spare);
/* Frees @spare. */
void lnet_rtr_spare_free(const struct lnet_rtr_spare *spare);
/* Keeps the unused part of @spare for the next message, and frees the part that @rs had. */
void lnet_rtr_spare_keep(struct lnet_rtr_shard *rs, const struct lnet_rtr_spare *spare);
/*
 * Finds or makes the flow between two nodes, and takes a reference. NULL: it is new, and @spare has
 * no memory for it.
 */
struct lnet_rtr_flow *lnet_rtr_flow_get(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
					const struct lnet_nid *dst, struct lnet_rtr_spare *spare);
/* Drops a reference. NULL is fine. */
void lnet_rtr_flow_put(struct lnet_rtr_shard *rs, struct lnet_rtr_flow *flow);
/* Sets the timer for the message that waits longest. */
void lnet_rtr_arm(struct lnet_rtr_shard *rs);
/* True: RX_NEW -> RX_RECEIVE_ROUTED, still without memory. Else the message waits. */
bool lnet_rtr_request(struct lnet_pass *p, struct lnet_fwd *fwd);
/* Allocates the buffer; may release and take the lock. False: no memory; @fwd holds nothing now. */
bool lnet_rtr_fill(struct lnet_pass *p, struct lnet_fwd *fwd);
/* Checks some of the flows that were not checked after the last release of a buffer. */
void lnet_rtr_scan(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* Buffers were released: allocates them to messages that wait. */
void lnet_rtr_wake(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* The number of router credits of @from has changed: messages that wait for one may proceed. */
void lnet_rtr_credits_set(struct lnet_pass *p, struct lnet_peer_ni *from);
/*
 * Returns the credit and the buffer of @fwd; messages that get them are in p->receive. Returns a
 * buffer to be freed without lock, or NULL.
 */
struct lnet_rtr_buf *lnet_rtr_return(struct lnet_pass *p, struct lnet_fwd *fwd);

/* ---- state.c --------------------------------------------------------------------------------- */
/* The buffers of one size in a shard, as lnet_router_view() reports them. */
struct lnet_rtr_view {
	u32 pages, nr;
	s32 credits, min_credits;	/* negative: so many wait */
};

/* cfg_mutex held. Tunables of the buffers have changed. */
void lnet_router_resize(struct lnet *ln);
/* cfg_mutex held. peer_buffer_credits has changed. */
void lnet_router_credits(struct lnet *ln);
/* All operations have ended: frees the buffers. */
void lnet_router_fini(struct lnet *ln);
/* The state, DISABLED if this node never was a router. */
enum lnet_router_state lnet_router_state(const struct lnet *ln);
/* The state as stock LNet numbers it. */
u32 lnet_router_state_nr(const struct lnet *ln);
/* Takes the lock of @shard. 0, -ENOENT: there are no buffers. */
int lnet_router_view(struct lnet *ln, unsigned int shard, struct lnet_rtr_view v[LNET_NR_RTR]);
/* Config, may sleep. 0, -ENOMEM, -EBUSY */
int lnet_router_enable(struct lnet *ln, bool on);
/*
 * Worker of shard 0, no lock held: changes the state if it is due, trims idle buffers, and checks
 * whether interfaces are pinged.
 */
void lnet_router_work(struct lnet_pass *p);

/* True if routing is enabled by the configuration. */
static inline bool lnet_router_on(const struct lnet *ln)
{
	enum lnet_router_state state = lnet_router_state(ln);

	return state == ROUTER_STARTING || state == ROUTER_ENABLED;
}

#endif
