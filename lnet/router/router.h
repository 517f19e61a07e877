/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of router/: messages for other nodes. */
#ifndef LNET_ROUTER_ROUTER_H
#define LNET_ROUTER_ROUTER_H

#include "model/model.h"

/* ---- forward.c ------------------------------------------------------------------------------- */
/*
 * [sh of rx->from] Forwards a message. May release and take the lock. Returns RECEIVE, LATER or
 * SKIP; or CLOSE if the sender or the interface was removed meanwhile.
 */
enum lnet_verdict lnet_forward_begin(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr);
/*
 * No lock held. @rx waited for a buffer, and may receive its payload now. If there is no memory,
 * its verdict becomes SKIP.
 */
void lnet_forward_receive(struct lnet_pass *p, struct lnet_rx *rx);
/* Frees rx->fwd. */
void lnet_forward_free(struct lnet_rx *rx);
/*
 * [any lock] True if messages of other senders wait for a buffer of the size that @rx needs. If at
 * least half of these buffers are free, only messages to the destination of @rx count.
 */
bool lnet_forward_is_wanted(const struct lnet_rx *rx);
/* [sh] If the destination NID fails, @op may use another NID of the peer. */
void lnet_forward_substitute(struct lnet_op *op);
/* [sh] Returns the paths that @op must not use: the paths to the router that sent the message. */
u64 lnet_forward_avoid(const struct lnet_op *op);
/* The receive of the payload of @rx has ended with @how. Enters the shard of @rx. */
void lnet_forward_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/* Returns the header to send. Its destination is that of the attempt. */
void lnet_forward_hdr(const struct lnet_op *op, struct lnet_hdr *hdr);
/* The payload to send. */
void lnet_forward_payload(const struct lnet_op *op, struct lnet_buf *buf);
/* [sh] True if @op may be retried although delivery is unknown: see exactly-once rule 15. */
bool lnet_forward_resendable(const struct lnet_op *op);
/*
 * [sh] @op was not delivered, because @path has no link, or (@path NULL) because all paths were
 * tried. True: @op ends, and its originator receives a router-generated reply.
 */
bool lnet_forward_stuck(const struct lnet_op *op, const struct lnet_path *path);
/* As lnet_rx_gone(). */
bool lnet_forward_gone(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] Drops messages that have waited too long for a credit or a buffer. */
void lnet_router_timer(struct lnet_pass *p, struct lnet_timer *t);
/* [sh] Drops all messages that wait for a credit or a buffer. */
void lnet_router_drop_waiting(struct lnet_pass *p, struct lnet_rtr_shard *rs);
void lnet_pass_routed(struct lnet_pass *p);	/* ln->hooks->routed() */

/* ---- buffers.c ------------------------------------------------------------------------------- */
/* All functions: [sh], the shard of fwd->rs. */

/* Returns the class of buffers for a payload of this length. */
enum lnet_rtr_class lnet_rtr_class(u32 payload_len);
/* Returns the configured number of buffers of this node. */
u32 lnet_rtr_total(const struct lnet *ln, enum lnet_rtr_class cls);
/* Returns the number of buffers of a shard. */
u32 lnet_rtr_share(const struct lnet *ln, enum lnet_rtr_class cls);
/*
 * Returns how many of @nr buffers one sender may have: router_share percent, but at least min(@nr,
 * 8).
 */
u32 lnet_rtr_sender_most(const struct lnet *ln, u32 nr);
/* No lock held. Allocates the missing objects of @spare, if there is memory. */
void lnet_rtr_spare_fill(struct lnet_rtr_spare *spare);
/* Frees @spare. */
void lnet_rtr_spare_free(const struct lnet_rtr_spare *spare);
/*
 * Stores the unused objects of @spare in @rs for the next message. Frees the objects that @rs had.
 */
void lnet_rtr_spare_keep(struct lnet_rtr_shard *rs, const struct lnet_rtr_spare *spare);
/*
 * Finds or creates the flow between two nodes, and takes a reference. NULL: the flow is new, and
 * @spare has no memory for it.
 */
struct lnet_rtr_flow *lnet_rtr_flow_get(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
					const struct lnet_nid *dst, struct lnet_rtr_spare *spare);
/* Drops a reference to a flow. Accepts NULL. */
void lnet_rtr_flow_put(struct lnet_rtr_shard *rs, struct lnet_rtr_flow *flow);
/* Sets the timer to the deadline of the message that waits longest. */
void lnet_rtr_arm(struct lnet_rtr_shard *rs);
/*
 * Returns true if the state becomes RX_RECEIVE_ROUTED; the memory is not allocated yet. False: the
 * message waits.
 */
bool lnet_rtr_request(struct lnet_pass *p, struct lnet_fwd *fwd);
/*
 * Allocates the buffer; may release and take the lock. False: no memory, and @fwd has neither
 * credit nor buffer now.
 */
bool lnet_rtr_fill(struct lnet_pass *p, struct lnet_fwd *fwd);
/* Checks some of the flows that were not checked after the last release of a buffer. */
void lnet_rtr_scan(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* Called after buffers were released: assigns them to messages that wait. */
void lnet_rtr_wake(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/*
 * The number of router credits of @from has changed. Messages that wait for a credit may proceed.
 */
void lnet_rtr_credits_set(struct lnet_pass *p, struct lnet_peer_ni *from);
/*
 * Returns the credit and the buffer of @fwd. Messages that get them are added to p->receive. The
 * return value is a buffer to free without the lock, or NULL.
 */
struct lnet_rtr_buf *lnet_rtr_return(struct lnet_pass *p, struct lnet_fwd *fwd);

/* ---- state.c --------------------------------------------------------------------------------- */
/* The use of the buffers of one size in a shard, as lnet_router_view() reports it. */
struct lnet_rtr_view {
	u32 pages, nr;
	s32 credits, min_credits;	/* negative: so many wait */
};

/* cfg_mutex held. Tunables of the buffers have changed: applies them. */
void lnet_router_resize(struct lnet *ln);
/* cfg_mutex held. peer_buffer_credits has changed. */
void lnet_router_credits(struct lnet *ln);
/* Frees the buffers, after all operations have ended. */
void lnet_router_fini(struct lnet *ln);
/* Returns the routing state of this node; DISABLED if the node never was a router. */
enum lnet_router_state lnet_router_state(const struct lnet *ln);
/* Returns the routing state, as the number by which stock LNet reports this state. */
u32 lnet_router_state_nr(const struct lnet *ln);
/* Reports the use of the buffers. Takes the lock of @shard. 0, -ENOENT: there are no buffers. */
int lnet_router_view(struct lnet *ln, unsigned int shard, struct lnet_rtr_view v[LNET_NR_RTR]);
/* Takes cfg_mutex, may sleep. 0, -ENOMEM, -EBUSY */
int lnet_router_enable(struct lnet *ln, bool on);
/*
 * Worker of shard 0, no lock held. If a change of the state is due, makes it. Releases idle
 * buffers, and checks whether interfaces receive pings.
 */
void lnet_router_work(struct lnet_pass *p);

/* True if routing is enabled by the configuration. */
static inline bool lnet_router_on(const struct lnet *ln)
{
	enum lnet_router_state state = lnet_router_state(ln);

	return state == ROUTER_STARTING || state == ROUTER_ENABLED;
}

#endif
