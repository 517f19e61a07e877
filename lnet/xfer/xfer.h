/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of xfer/: operations, attempts, credits, retransmission, request IDs, sessions. */
#ifndef LNET_XFER_XFER_H
#define LNET_XFER_XFER_H

#include "model/model.h"

/* ---- op.c ------------------------------------------------------------------------------------ */
/* Sets the state of @op. No other function writes it. */
void lnet_op_set_state(struct lnet_op *op, enum lnet_op_state state);
/*
 * Sets the state of the request ID. No other function writes it. The caller holds [sh], or @op has
 * not started.
 */
void lnet_op_set_id(struct lnet_op *op, enum lnet_id_state state);
/*
 * [sh] Sets the timer of @op to the earliest of its times; never moves the timer to a later time.
 */
void lnet_op_arm(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Like lnet_op_arm(), but if the timer is not armed, sets it to at most 4 ms from now. */
void lnet_op_arm_later(struct lnet_pass *p, struct lnet_op *op, u64 next_ns);
/* [sh] Notes that the delivery of @op is unknown, unless the receiver rejected the request. */
void lnet_op_note_unknown(struct lnet_op *op);
/*
 * [sh] @op is about to end. If an attempt was handed to the fabric, notes that its delivery is
 * unknown.
 */
void lnet_op_note_abort(struct lnet_op *op);
/*
 * [sh] Returns the response timeout of @path for @op, in ns. If the peer may send a cumulative ACK,
 * it includes confirm_delay.
 */
u64 lnet_op_response_timeout(const struct lnet_pass *p, const struct lnet_op *op,
			     const struct lnet_path *path);
/* [sh] Processes the expired timer of @op. */
void lnet_op_timer(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Posts the SEND event, at most once per operation. */
void lnet_op_sent(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Drops a pin of @op; may free @op. */
void lnet_op_unpin(struct lnet_pass *p, struct lnet_op *op);
/*
 * [sh] Adds @op to the deferred work of the pass @p. At its end, @p cancels the attempts of @op
 * that drivers have. Each pass cancels the attempts of @op at most once.
 */
void lnet_op_cancel(struct lnet_pass *p, struct lnet_op *op);
/*
 * [sh] The outcome of @op is known: @op enters OP_CANCEL, and OP_DONE when no driver uses its
 * memory.
 */
void lnet_op_finish(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how);
/*
 * [sh] The ACK to @op was received, or the payload of its REPLY is in the memory. @via: path of the
 * reply, or NULL.
 */
void lnet_op_replied(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);

/* ---- send.c ---------------------------------------------------------------------------------- */
#define LNET_ATTF_DELAYED 1	/* flag: a delay rule holds the attempt in sh->delayed */

/* [sh] Begins an attempt of @op on @path. @path NULL: chooses a path. */
void lnet_op_try(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path);
/* [sh of op->peer] Starts @op: OP_NEW -> OP_RESOLVE or OP_TRY */
void lnet_op_start(struct lnet_pass *p, struct lnet_op *op);
void lnet_pass_starts(struct lnet_pass *p);	/* ln->hooks->starts() */
/*
 * [sh] Continues @op: OP_RESOLVE -> OP_TRY. If @negotiated is true, the timeout of @op begins when
 * a driver gets its first attempt. If @negotiated is false, there is no session yet, and the
 * timeout has begun with lnet_op_start().
 */
void lnet_op_release(struct lnet_pass *p, struct lnet_op *op, bool negotiated);
/*
 * [sh] Takes an operation from the pool for a request of the core to @pni. The timeout of the
 * request is one attempt timeout. The request is idempotent. It has the reserved portal and the
 * match bits of a ping. If the request expects a reply, it gets a slot: a GET, or a PUT with
 * LNET_OPF_ACK in @flags. NULL: no operation or no slot is free.
 */
struct lnet_op *lnet_op_control(struct lnet_pass *p, struct lnet_peer_ni *pni,
				enum lnet_op_type type, u32 flags);
/*
 * [sh] Starts @op, and takes over the caller's reference to @pni. May release the lock. -errno: @op
 * was not started.
 */
int lnet_op_submit(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni);
/*
 * [sh] True if @op may be retried after a failed attempt. @unknown: the delivery of the attempt is
 * unknown.
 */
bool lnet_op_may_resend(const struct lnet_pass *p, const struct lnet_op *op, bool unknown);
/*
 * [sh] An attempt failed, and no driver has it: frees @att, and retries or ends its operation.
 * @unsent: the attempt costs no try.
 */
void lnet_att_fail(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, bool unsent);
/*
 * [sh] A router on the path @via could not forward an attempt of @op. Retries @op at once on
 * another path. The router's report does not identify the attempt, so the attempt that awaits a
 * reply may have reached the peer. The outcome is LNET_PATH_LOST, with delivery unknown, as after
 * the loss of a connection.
 */
void lnet_op_stopped(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);
/*
 * [sh] @ni stops or has no link; a function for lnet_ops_walk(). Attempts of @op on @ni that wait
 * for credits choose a path again. Attempts that a driver has are cancelled. Attempts that await
 * replies fail if @op may be retried or @ni stops.
 */
void lnet_op_ni_down(struct lnet_pass *p, struct lnet_op *op, void *ni);
/*
 * [sh] Like lnet_op_ni_down(), but for attempts on removed paths. @force NULL: only for attempts
 * that wait for credits.
 */
void lnet_op_leave_gone(struct lnet_pass *p, struct lnet_op *op, void *force);
/* Calls lnet_op_leave_gone() for all operations. No lock held. */
void lnet_ops_leave_gone(struct lnet_pass *p, bool force);
/*
 * [sh] A path to the peer works again, so @op is retried or checked now. False: @op needed neither.
 */
bool lnet_op_path_back(struct lnet_pass *p, struct lnet_op *op);

/*
 * True if a second delivery of @op does no harm: the peer discards the duplicate, the duplicate has
 * no effect, or the tunable resend_ambiguous permits duplicates.
 */
static inline bool lnet_op_is_repeatable(const struct lnet_op *op)
{
	return lnet_op_is_tracked(op) || lnet_op_is_idempotent(op) ||
	       op->kind == LNET_KIND_REPLY ||
	       READ_ONCE(op->sh->ln->tun.resend_ambiguous);
}
/* ln->hooks->reported() */
void lnet_atts_reported(struct lnet_pass *p, struct list_head *reported);

/* ---- attempt.c ------------------------------------------------------------------------------- */
/*
 * Sets the state of @att; no other function writes it. Takes or returns credits, and wakes attempts
 * that wait for these credits.
 */
void lnet_att_move(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state to);
/* [sh] Frees @att, which waits for credits or awaits its reply, and removes it from its queue. */
void lnet_att_drop(struct lnet_pass *p, struct lnet_att *att);
/*
 * [sh] Moves @att from FREE through WAIT_LARGE (if limited), WAIT_PEER and WAIT_NI to WIRE. @att
 * stays in the first of these states for which a credit is missing.
 */
void lnet_att_enter(struct lnet_pass *p, struct lnet_att *att, struct lnet_path *path);
/*
 * [sh] The attempt @att of @op waits for credits: chooses its path again, which may be the same
 * path.
 */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att);
/*
 * [sh] Calls lnet_op_reselect() for attempts that wait for credits of @ni; a function for
 * lnet_ops_walk().
 */
void lnet_op_reselect_ni(struct lnet_pass *p, struct lnet_op *op, void *ni);
/*
 * [sh] True if @op should use another NI, because the peer does not list the source NI, or soon
 * will not.
 */
bool lnet_op_source_leaves(const struct lnet_op *op);
/*
 * [sh] The path to which @op is bound failed or is unresponsive. Removes the binding, so that @op
 * may use any path. Replies to tracked requests, and tracked requests with a given source, may lose
 * their binding. False: @op stays bound; enum lnet_binding has the rule.
 */
bool lnet_op_unbind(struct lnet_op *op);
/*
 * [sh] @op waits for a suspect path or, with @by_ni, for the interface of a suspect path: chooses
 * its path again. False: no path is better, so @op keeps its position in the queue.
 */
bool lnet_op_avoid(struct lnet_pass *p, struct lnet_op *op, bool by_ni);

/* ---- header.c -------------------------------------------------------------------------------- */
/*
 * [sh] Writes op->wire_bits, which drivers read without a lock. Called before a driver receives an
 * attempt of @op.
 */
void lnet_op_wire(struct lnet_op *op);

/* ---- cancel.c -------------------------------------------------------------------------------- */
/*
 * Ends all operations to the deleted @peer with the outcome @how. @peer NULL: ends all operations,
 * at shutdown. No lock held.
 */
void lnet_op_fail_all(struct lnet_pass *p, struct lnet_peer *peer, enum lnet_outcome how);
/* Aborts the requests that use @md, after lnet_md_unlink() has set @md->aborted. No lock held. */
void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md);
/* True if the node has no unfinished operation. */
bool lnet_ops_idle(struct lnet *ln);
void lnet_pass_cancels(struct lnet_pass *p);	/* ln->hooks->cancels() */

/* ---- walk.c ---------------------------------------------------------------------------------- */
/*
 * "In slices" means: the function does the first slice of a walk, and the next timer ticks do the
 * others.
 */
/*
 * Calls @visit, with [sh] held, for each unfinished operation of each shard; operations may end
 * during the walk. Releases the lock after a bounded number of operations. No lock held.
 */
void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg);
/* [sh] Does the next slice of the walk in progress, or the first slice of another walk. */
void lnet_walk_timer(struct lnet_pass *p);
/*
 * [sh] A path to @peer works again: calls lnet_op_path_back() for the peer's operations, in slices.
 */
void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer);
/* @ni has no link: calls lnet_op_ni_down() for all operations, in slices. No lock held. */
void lnet_ops_link_down(struct lnet_pass *p, struct lnet_ni *ni);
/*
 * [sh] Paths of this shard were removed: attempts that wait for such a path choose another one, in
 * slices.
 */
void lnet_ops_walk_gone(struct lnet_pass *p);
/* [@sh] True if the walk of lnet_ops_walk_gone() has not visited all attempts yet. */
bool lnet_ops_wait_gone(const struct lnet_shard *sh);
/*
 * [sh] @path is suspect: starts a walk in slices. It calls lnet_op_avoid() for the operations that
 * wait for a suspect path, or for the interface of @path.
 */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path);

/* [sh] Takes @op off sh->live. */
static inline void lnet_walk_leave(struct lnet_walk *walk, struct lnet_op *op)
{
	if (unlikely(walk->at == &op->all))
		walk->at = op->all.next;
	list_del_init(&op->all);
}

/* ---- request_id.c ---------------------------------------------------------------------------- */
/*
 * Flags in the second half of the handle of an ACK or REPLY, next to a sequence. ALONE: the reply
 * is only for the request with this sequence. Otherwise the ACK is cumulative. With ALL, it covers
 * all PUTs up to this sequence. Without ALL, it covers only PUTs that requested no ACK.
 */
#define LNET_REQID_ALONE (1ULL << 62)
#define LNET_REQID_ALL (1ULL << 63)

/*
 * [sh] True if so many requests were aborted that the receiver may reject a request with the next
 * sequence. A new session is needed.
 */
bool lnet_window_stuck(const struct lnet_txwin *tx);
/*
 * [sh] True if requests have used all sequences of the session, and all these requests are
 * finished. A new session is needed.
 */
bool lnet_window_spent(const struct lnet_txwin *tx);
/* [sh] True if requests await replies, and no reply was received for transaction_timeout. */
bool lnet_window_is_unresponsive(const struct lnet_pass *p, const struct lnet_txwin *tx);
/*
 * [sh] True if all requests are finished, and no request got a sequence for 1.5 times tx->hold_ns.
 * The receiver may drop its window if it receives no request for twice this hold time.
 */
bool lnet_window_stale(const struct lnet_pass *p, const struct lnet_txwin *tx);
/* [sh] Gives @op the next free sequence, if @op has none. False: the window is full. */
bool lnet_op_draw_id(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Makes @op wait for room in the window, or for another session. */
void lnet_op_wait_window(struct lnet_pass *p, struct lnet_op *op);
/* Returns the sequence in the handle of a reply. *@alone: the reply is for this request only. */
u64 lnet_reqid_seq(const struct lnet_handle *h, bool *alone);
/*
 * Returns the low-water mark in the handle of a request: the sender has finished all requests with
 * lower sequences.
 */
u64 lnet_reqid_low(const struct lnet_handle *h);
/* [sh] Returns the unfinished tracked request with this request ID; NULL: none. */
struct lnet_op *lnet_op_by_id(struct lnet_peer *peer, const struct lnet_handle *h);
/*
 * [sh] Requests have finished: the timer of the peer sends the low-water mark after confirm_delay.
 */
void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] A duplicate reply was received, so the receiver may lack the low-water mark: the timer of
 * the peer sends it now.
 */
void lnet_confirm_again(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * Locks the shard of @pni, and makes room for @nr more requests in the sender's window, if there is
 * memory.
 */
void lnet_window_grow(struct lnet_pass *p, struct lnet_peer_ni *pni, unsigned int nr);
/* [sh] The session has ended: moves its requests to peer->expired. */
void lnet_window_expire(struct lnet_peer *peer);
/*
 * [sh] A session begins. @session_id: its ID; @W: the size of the window; @instance: the receiver's
 * instance number.
 */
void lnet_window_begin(struct lnet_peer *peer, u64 session_id, u32 W, u64 instance);
/* 0 or -errno */
int lnet_ops_init(struct lnet *ln);
/* Frees the slots. All operations have ended. */
void lnet_ops_fini(struct lnet *ln);
/*
 * Gives @op a slot, and writes its number to the wire handle. Any lock may be held. -ENOMEM: no
 * slot is free.
 */
int lnet_slot_take(struct lnet *ln, struct lnet_op *op);
/* [@sh] Returns the untracked request with this handle; NULL: there is none in this shard. */
struct lnet_op *lnet_slot_find(struct lnet *ln, const struct lnet_shard *sh,
			       const struct lnet_handle *h);
/* [sh] The session from which @op was to get a request ID has expired: @op becomes untracked. */
static inline void lnet_op_untrack(struct lnet_op *op)
{
	lnet_op_set_id(op, op->slot ? ID_SLOT : ID_NONE);
}
/* [sh] @op has finished: frees its request ID and its slot. */
void lnet_op_free_id(struct lnet_pass *p, struct lnet_op *op);
/*
 * [sh] The session of @op expired before a reply: @op loses its request ID and slot, and may get
 * new ones.
 */
static inline void lnet_op_lose_id(struct lnet_pass *p, struct lnet_op *op)
{
	lnet_op_free_id(p, op);
	lnet_op_set_id(op, ID_NONE);
}
int lnet_slots_prealloc(struct lnet *ln);	/* ln->hooks->slots_prealloc() */
/* [sh] Sets the state of the session with @peer. No other function writes it. */
void lnet_session_set_state(struct lnet_peer *peer, enum lnet_session_state state);
/* [sh] True if there is a session with the peer, so that requests are tracked. */
bool lnet_session_is_open(const struct lnet_peer *peer);
/*
 * [sh] True if requests to the peer may be sent; else the caller adds them to peer->resolve. Starts
 * session negotiation if it is due.
 */
bool lnet_session_is_ready(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] The session @session_id has expired, or the receiver does not know it: session negotiation
 * starts again. Requests that wait for room in the window then wait for the new session.
 */
void lnet_session_expire(struct lnet_pass *p, struct lnet_peer *peer, u64 session_id);
/*
 * [sh] A path of @peer lost its connections. If no other path responds, the session is now in
 * doubt.
 */
void lnet_session_path_lost(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] Tracked requests got no reply: sends a ping, to check whether @peer still has the session.
 */
void lnet_session_doubt(struct lnet_pass *p, struct lnet_peer *peer);

#endif
