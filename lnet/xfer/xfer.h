/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of xfer/: operations, attempts, credits, retransmission, request IDs, sessions. */
#ifndef LNET_XFER_XFER_H
#define LNET_XFER_XFER_H

#include "model/model.h"

/* ---- op.c ------------------------------------------------------------------------------------ */
/* The only writer of the state. */
void lnet_op_set_state(struct lnet_op *op, enum lnet_op_state state);
/* [sh], or @op has not started. The only writer of the state of the request ID. */
void lnet_op_set_id(struct lnet_op *op, enum lnet_id_state state);
/* [sh] Sets the timer of @op to the earliest of its times; never moves it to a later time. */
void lnet_op_arm(struct lnet_pass *p, struct lnet_op *op);
/* [sh] As lnet_op_arm(), but if no timer runs, the next check is at most 4 ms away. */
void lnet_op_arm_later(struct lnet_pass *p, struct lnet_op *op, u64 next_ns);
/* [sh] Notes that the delivery of @op is unknown, unless the receiver rejected the request. */
void lnet_op_note_unknown(struct lnet_op *op);
/* [sh] @op is about to end. If an attempt was handed to the fabric, the delivery is unknown. */
void lnet_op_note_abort(struct lnet_op *op);
/* [sh] The response timeout of @path for @op in ns. A cumulative ACK adds confirm_delay. */
u64 lnet_op_response_timeout(const struct lnet_pass *p, const struct lnet_op *op,
			     const struct lnet_path *path);
/* [sh] The timer of @op has expired. */
void lnet_op_timer(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Posts the SEND event, once. */
void lnet_op_sent(struct lnet_pass *p, struct lnet_op *op);
/* [sh] Drops a pin; may free @op. */
void lnet_op_unpin(struct lnet_pass *p, struct lnet_op *op);
/* [sh] At the end of the pass, cancels the attempts of @op that drivers have, once. */
void lnet_op_cancel(struct lnet_pass *p, struct lnet_op *op);
/* [sh] The outcome of @op is known: -> OP_CANCEL, and OP_DONE when no driver uses its memory. */
void lnet_op_finish(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how);
/* [sh] The ACK was read, or the payload of the REPLY to @op is in place. @via: path, or NULL. */
void lnet_op_replied(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);

/* ---- send.c ---------------------------------------------------------------------------------- */
#define LNET_ATTF_DELAYED 1	/* a fault rule holds it: it is in sh->delayed */

/* [sh] Begins an attempt of @op on @path. NULL: chooses the path. */
void lnet_op_try(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path);
/* [sh of op->peer] OP_NEW -> OP_RESOLVE or OP_TRY */
void lnet_op_start(struct lnet_pass *p, struct lnet_op *op);
void lnet_pass_starts(struct lnet_pass *p);	/* ln->hooks->starts() */
/*
 * [sh] OP_RESOLVE -> OP_TRY. @negotiated false: no session yet; the time of @op runs from its
 * start.
 */
void lnet_op_release(struct lnet_pass *p, struct lnet_op *op, bool negotiated);
/*
 * [sh] A request of the core to @pni, from the pool, which ends after one attempt timeout. It is
 * idempotent, on the reserved portal with the match bits of a ping. A GET, and a PUT with
 * LNET_OPF_ACK in @flags, have a slot. NULL: no operation or no slot is free.
 */
struct lnet_op *lnet_op_control(struct lnet_pass *p, struct lnet_peer_ni *pni,
				enum lnet_op_type type, u32 flags);
/* [sh] Starts @op; takes over the reference to @pni. May release the lock. -errno: not done. */
int lnet_op_submit(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni);
/* [sh] True if @op may be retried after a failed attempt. @unknown: its delivery is unknown. */
bool lnet_op_may_resend(const struct lnet_pass *p, const struct lnet_op *op, bool unknown);
/* [sh] No driver has @att: frees it, and retries or ends its operation. @unsent: costs no try. */
void lnet_att_fail(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, bool unsent);
/*
 * [sh] A router on @via could not forward an attempt of @op: retries @op at once on another path.
 * The report does not identify the attempt, so it proves no more than a lost connection.
 */
void lnet_op_stopped(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);
/*
 * [sh] @ni stops or has no link; for lnet_ops_walk(). Attempts of @op on @ni that wait for credits
 * choose a path again, and those that a driver has are cancelled. Those awaiting replies fail if
 * @op may be retried or @ni stops.
 */
void lnet_op_ni_down(struct lnet_pass *p, struct lnet_op *op, void *ni);
/* [sh] As lnet_op_ni_down(), for removed paths. @force NULL: only for attempts that wait. */
void lnet_op_leave_gone(struct lnet_pass *p, struct lnet_op *op, void *force);
/* No lock held. Calls lnet_op_leave_gone() for all operations. */
void lnet_ops_leave_gone(struct lnet_pass *p, bool force);
/* [sh] A path to the peer works again: @op tries, or is checked, now. False: nothing to do. */
bool lnet_op_path_back(struct lnet_pass *p, struct lnet_op *op);

/* True if a second delivery of the request @op is discarded, has no effect, or is allowed. */
static inline bool lnet_op_is_repeatable(const struct lnet_op *op)
{
	return lnet_op_is_tracked(op) || lnet_op_is_idempotent(op) ||
	       op->kind == LNET_KIND_REPLY ||
	       READ_ONCE(op->sh->ln->tun.resend_ambiguous);
}
/* ln->hooks->reported() */
void lnet_atts_reported(struct lnet_pass *p, struct list_head *reported);

/* ---- attempt.c ------------------------------------------------------------------------------- */
/* The only writer of the state. Takes or returns credits, and wakes attempts that wait for them. */
void lnet_att_move(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state to);
/* [sh] Waiting or awaiting reply -> FREE; takes @att off its queue. */
void lnet_att_drop(struct lnet_pass *p, struct lnet_att *att);
/* [sh] FREE (-> WAIT_LARGE) -> WAIT_PEER -> WAIT_NI -> WIRE */
void lnet_att_enter(struct lnet_pass *p, struct lnet_att *att, struct lnet_path *path);
/* [sh] @att of @op waits for credits: chooses the path again, perhaps the same. */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att);
/* [sh] lnet_op_reselect() for attempts that wait for credits of @ni; for lnet_ops_walk(). */
void lnet_op_reselect_ni(struct lnet_pass *p, struct lnet_op *op, void *ni);
/* [sh] True if @op should use another NI: the peer's list omits the source NI, or soon will. */
bool lnet_op_source_leaves(const struct lnet_op *op);
/*
 * [sh] The path that @op is bound to failed or is unresponsive. A reply to a tracked request, and a
 * tracked request with a given source, may use any path. False: it stays bound.
 */
bool lnet_op_unbind(struct lnet_op *op);
/*
 * [sh] @op waits for a suspect path, or with @by_ni for the interface of a suspect path: chooses
 * its path again. False: no path is better, so @op keeps its place in the queue.
 */
bool lnet_op_avoid(struct lnet_pass *p, struct lnet_op *op, bool by_ni);

/* ---- header.c -------------------------------------------------------------------------------- */
/* [sh] Before @op is given to a driver: writes op->wire_bits, which drivers read without lock. */
void lnet_op_wire(struct lnet_op *op);

/* ---- cancel.c -------------------------------------------------------------------------------- */
/* No lock held. Ends all operations to the deleted @peer with @how. NULL: all, at shutdown. */
void lnet_op_fail_all(struct lnet_pass *p, struct lnet_peer *peer, enum lnet_outcome how);
/* No lock held. lnet_md_unlink() has set @md->aborted: aborts the requests that use @md. */
void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md);
/* True if no operation is unfinished. */
bool lnet_ops_idle(struct lnet *ln);
void lnet_pass_cancels(struct lnet_pass *p);	/* ln->hooks->cancels() */

/* ---- walk.c ---------------------------------------------------------------------------------- */
/* In slices: the function does the first slice of a walk, and the next ticks do the others. */
/*
 * No lock held. Calls @visit, [sh], for each unfinished op of each shard; ops may end during the
 * walk. Releases the lock after a bounded number of ops.
 */
void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg);
/* [sh] Does the next slice of the walk, or the first slice of another one. */
void lnet_walk_timer(struct lnet_pass *p);
/* [sh] A path to @peer works again: in slices, calls lnet_op_path_back() for its operations. */
void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer);
/* No lock held. @ni has no link: in slices, calls lnet_op_ni_down() for all operations. */
void lnet_ops_link_down(struct lnet_pass *p, struct lnet_ni *ni);
/* [sh] Paths of this shard were removed: in slices, attempts that wait for them leave them. */
void lnet_ops_walk_gone(struct lnet_pass *p);
/* [@sh] True if the walk of lnet_ops_walk_gone() has attempts left to visit. */
bool lnet_ops_wait_gone(const struct lnet_shard *sh);
/*
 * [sh] @path is suspect. In the next ticks, a walk calls lnet_op_avoid() for the operations that
 * wait for a suspect path or for the interface of @path.
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
 * In the second half of the handle of a reply. ALONE: it is for this request only. ALL: it is a
 * cumulative ACK for all PUTs up to this one. Neither: it is one for those of them without ACK.
 */
#define LNET_REQID_ALONE (1ULL << 62)
#define LNET_REQID_ALL (1ULL << 63)

/* [sh] After many aborts, the receiver may reject the next sequence: a new session is needed. */
bool lnet_window_stuck(const struct lnet_txwin *tx);
/* [sh] All sequences of the session were drawn and are finished: another session is needed. */
bool lnet_window_spent(const struct lnet_txwin *tx);
/* [sh] True if requests await replies, and none was received for transaction_timeout. */
bool lnet_window_is_unresponsive(const struct lnet_pass *p, const struct lnet_txwin *tx);
/* [sh] True if no request is unfinished and none was sent for 1.5 of the receiver's hold times. */
bool lnet_window_stale(const struct lnet_pass *p, const struct lnet_txwin *tx);
/* [sh] Draws the sequence of @op if it has none. False: the window is full. */
bool lnet_op_draw_id(struct lnet_pass *p, struct lnet_op *op);
/* [sh] @op waits for room in the window, or for another session. */
void lnet_op_wait_window(struct lnet_pass *p, struct lnet_op *op);
/* The sequence in the handle of a reply. *@alone: the reply is for this request only. */
u64 lnet_reqid_seq(const struct lnet_handle *h, bool *alone);
/* The low-water mark in the handle of a request: the sender has finished all lower sequences. */
u64 lnet_reqid_low(const struct lnet_handle *h);
/* [sh] The unfinished tracked request with this request ID; NULL: none. */
struct lnet_op *lnet_op_by_id(struct lnet_peer *peer, const struct lnet_handle *h);
/* [sh] Requests have finished: the peer timer sends the low-water mark after confirm_delay. */
void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] A duplicate reply: the receiver may lack the low-water mark, so the timer sends it now. */
void lnet_confirm_again(struct lnet_pass *p, struct lnet_peer *peer);
/* Enters the shard of @pni, and makes room for @nr more requests if there is memory. */
void lnet_window_grow(struct lnet_pass *p, struct lnet_peer_ni *pni, unsigned int nr);
/* [sh] The session has ended: its requests are in peer->expired. */
void lnet_window_expire(struct lnet_peer *peer);
/*
 * [sh] A session begins: @session_id is its ID, @W the size of the window, @instance the
 * receiver's.
 */
void lnet_window_begin(struct lnet_peer *peer, u64 session_id, u32 W, u64 instance);
/* 0 or -errno */
int lnet_ops_init(struct lnet *ln);
/* All operations have ended: frees the slots. */
void lnet_ops_fini(struct lnet *ln);
/* Any lock may be held. Gives @op a slot, and its handle the number. -ENOMEM: no slot is free. */
int lnet_slot_take(struct lnet *ln, struct lnet_op *op);
/* [@sh] The untracked request with this handle; NULL: none in this shard. */
struct lnet_op *lnet_slot_find(struct lnet *ln, const struct lnet_shard *sh,
			       const struct lnet_handle *h);
/* [sh] The session from which @op was to get an ID has expired: @op is not tracked any more. */
static inline void lnet_op_untrack(struct lnet_op *op)
{
	lnet_op_set_id(op, op->slot ? ID_SLOT : ID_NONE);
}
/* [sh] @op has finished: frees its request ID and slot. */
void lnet_op_free_id(struct lnet_pass *p, struct lnet_op *op);
/* [sh] The session of @op expired without a reply: @op loses its ID and slot, may get others. */
static inline void lnet_op_lose_id(struct lnet_pass *p, struct lnet_op *op)
{
	lnet_op_free_id(p, op);
	lnet_op_set_id(op, ID_NONE);
}
int lnet_slots_prealloc(struct lnet *ln);	/* ln->hooks->slots_prealloc() */
/* [sh] The only writer of the state of the session with @peer. */
void lnet_session_set_state(struct lnet_peer *peer, enum lnet_session_state state);
/* [sh] True if there is a session: requests are tracked. */
bool lnet_session_is_open(const struct lnet_peer *peer);
/* [sh] True if requests may be sent; else add them to peer->resolve. Starts due negotiation. */
bool lnet_session_is_ready(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] The session @session_id has expired, or the receiver does not know it: negotiation starts
 * again. Requests that wait for room in the window wait for the new session.
 */
void lnet_session_expire(struct lnet_pass *p, struct lnet_peer *peer, u64 session_id);
/* [sh] A path of @peer lost its connections. If no other path is alive, the session is in doubt. */
void lnet_session_path_lost(struct lnet_pass *p, struct lnet_peer *peer);
/* [sh] Tracked requests got no reply: a ping checks whether @peer still has the session. */
void lnet_session_doubt(struct lnet_pass *p, struct lnet_peer *peer);

#endif
