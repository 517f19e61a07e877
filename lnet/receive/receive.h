/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of receive/: received messages, replies, duplicate suppression, windows. */
#ifndef LNET_RECEIVE_RECEIVE_H
#define LNET_RECEIVE_RECEIVE_H

#include "model/model.h"

/* ---- rx.c ------------------------------------------------------------------------------------ */
/* Sets the state of @rx. No other function writes it. */
void lnet_rx_set_state(struct lnet_rx *rx, enum lnet_rx_state state);
/*
 * Frees @rx, or returns it to the pool of the locked shard. If lnet_pass_stops() uses @rx, that
 * function frees it later.
 */
void lnet_rx_free(struct lnet_pass *p, struct lnet_rx *rx);
/* Frees the pool of messages (rx) of @sh, which no thread uses any more. */
void lnet_rx_pool_fini(struct lnet_shard *sh);
/* [sh] Counts @rx as dropped for the reason @why. Returns SKIP. */
enum lnet_verdict lnet_rx_drop(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome why);
/*
 * [sh] Sets rx->want and the state of @rx. Returns RECEIVE, so that the driver writes the payload
 * to rx->into.
 */
enum lnet_verdict lnet_rx_receive(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] Sets the state of @rx, which lnet_match() has queued on a lazy portal. Returns LATER. */
enum lnet_verdict lnet_rx_queue_lazy(struct lnet_pass *p, struct lnet_rx *rx);
/*
 * [sh] @rx has waited for a verdict. When the pass @p ends, it gives the verdict @v to the driver
 * of @rx.
 */
void lnet_rx_defer(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v);
/*
 * [any shard] Records liveness of the source of @rx. The handle proves the source, because only the
 * source and routers know it.
 */
void lnet_rx_proven(const struct lnet_pass *p, const struct lnet_rx *rx);
/* [sh of rx->src] Returns the path on which @rx was received; NULL: there is none. */
struct lnet_path *lnet_rx_path(const struct lnet_rx *rx);
/*
 * Fills the event that lnet_rx_prealloc() reserved for @rx, and returns it. @rx has no event
 * afterwards.
 */
struct lnet_evt *lnet_rx_event(struct lnet_rx *rx, enum lnet_event_kind kind);
/*
 * [sh] Creates an ACK or REPLY to @rx, bound to the path of @rx. The caller fills and defers it.
 * NULL: no memory.
 */
struct lnet_op *lnet_reply_new(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_op_type type);
/* [sh] Reserves an event for @rx before the request has an effect. False: the pool is empty. */
bool lnet_rx_prealloc(struct lnet_pass *p, struct lnet_rx *rx);
/* ln->hooks->rx_matched() */
void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why);
void lnet_pass_receives(struct lnet_pass *p);	/* ln->hooks->lands() */
void lnet_pass_stops(struct lnet_pass *p);	/* ln->hooks->stops() */

/* ---- reply.c --------------------------------------------------------------------------------- */
/* [sh] Processes a received ACK. Keeps no pointer to @rx. */
enum lnet_verdict lnet_ack_take(struct lnet_pass *p, struct lnet_rx *rx,
				const struct lnet_hdr *hdr);
/* [sh] A REPLY was received. Returns RECEIVE, to the MD of its GET, or SKIP. */
enum lnet_verdict lnet_reply_take(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr);
/* The receive of a REPLY's payload ended. Locks the shard of its GET, and frees @rx. */
void lnet_reply_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);

/* ---- dedup.c --------------------------------------------------------------------------------- */
/*
 * [sh] A tracked request was received: finds or creates its reply cache entry. May lock another
 * shard.
 */
enum lnet_verdict lnet_dedup_begin(struct lnet_pass *p, struct lnet_rx *rx);
/* The tracked request @rx was queued on a lazy portal, and now has a verdict. No lock held. */
void lnet_dedup_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
			enum lnet_outcome why);
/* Does lnet_rx_gone() for a tracked request. Releases the lock. */
bool lnet_dedup_gone(struct lnet_pass *p, struct lnet_rx *rx);
/*
 * The receive of the payload of the tracked request @rx ended. Locks the shard of its reply cache
 * entry.
 */
void lnet_dedup_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/*
 * [sh] Advances the window to the low-water mark of a received confirm message. May lock another
 * shard.
 */
enum lnet_verdict lnet_dedup_confirm(struct lnet_pass *p, struct lnet_rx *rx);
/*
 * [sh] The receiver, or a router on the path @via, rejected the tracked request @op with @reason.
 */
void lnet_rejection_take(struct lnet_pass *p, struct lnet_op *op, u32 reason,
			 struct lnet_path *via);
void lnet_pass_backs(struct lnet_pass *p);	/* ln->hooks->backs() */

/* ---- window.c -------------------------------------------------------------------------------- */
/*
 * [sh] Returns the entry of @seq, which is from w->low to w->high; NULL: no entry, or a rejection.
 */
struct lnet_entry *lnet_window_entry(const struct lnet_window *w, u64 seq);
/* [sh] Returns the reason for which the request @seq was rejected; 0: it was not rejected. */
u32 lnet_window_rejected(const struct lnet_window *w, u64 seq);
/* [sh] Stores @e in the window as the entry of @seq. */
void lnet_window_place(struct lnet_window *w, u64 seq, struct lnet_entry *e);
/*
 * [sh] Replaces @e in the window by a mark with e->reason. The window's reference to @e then
 * belongs to the caller.
 */
void lnet_window_reject(struct lnet_window *w, struct lnet_entry *e);
/* [sh] Drops a reference to @e, which may be NULL. */
void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e);
/* [sh] Takes a zeroed entry from the pool; NULL: the pool is empty. */
struct lnet_entry *lnet_entry_take(struct lnet_shard *sh);
/* [sh] Posts the event of @e, if no receive and no reply uses the memory. */
void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e);
/*
 * [sh] Removes the entry of @seq from the window. A request in progress continues without the
 * window.
 */
void lnet_entry_detach(struct lnet_pass *p, struct lnet_window *w, u64 seq);
/*
 * [sh] The sender has finished all requests below @low: removes their entries, and raises w->low.
 */
void lnet_window_advance(struct lnet_pass *p, struct lnet_window *w, u64 low);
/* [sh] Sets w->from to @pni, and takes a reference to it; NULL: none */
void lnet_window_from(struct lnet_window *w, struct lnet_peer_ni *pni);
/*
 * [all shards] @pni has left the peer @from. Some sessions received their last request from @pni.
 * ACKs of these sessions are then sent to another interface of @from; if there is none, still to
 * @pni.
 */
void lnet_windows_rehome(const struct lnet_peer *from, const struct lnet_peer_ni *pni);
/*
 * [sh] A request of @w was received, or is complete. If the opener sent it, ACKs are sent on its
 * path from now on.
 */
void lnet_window_heard(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx);
/*
 * [sh] Makes room for @seq in the window. May release and retake the lock: *@w is then the window
 * of @session_id, or NULL. False: no room, no memory, or no window.
 */
bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **w, u64 session_id, u64 seq);
/*
 * [sh] A PUT is done. If @wanted is set, the pass @p sends the ACK of the PUT when @p ends.
 * Otherwise the ACK may be delayed, so that one cumulative ACK covers many PUTs: exactly-once rule
 * 10.
 */
void lnet_window_ack(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, bool wanted);
/* [sh] Sends delayed ACKs, expires entries, and drops the window if it was unused for long. */
void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t);
/*
 * [sh] Begins a walk that discards held replies of an MD. Windows created later do not use the MD.
 */
void lnet_window_walk_begin(struct lnet_shard *sh, struct lnet_window_walk *walk);
/*
 * [sh] Does a slice of the walk for @md; NULL: for all MDs. False: it was the last slice. The lock
 * may be released between two slices.
 */
bool lnet_window_walk_slice(struct lnet_pass *p, struct lnet_window_walk *walk, struct lnet_md *md);
/*
 * Discards the held replies of @md. @md NULL, at shutdown: discards all held replies. No lock held.
 */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md);
void lnet_pass_acks(struct lnet_pass *p);	/* ln->hooks->acks() */

/* ---- window_table.c -------------------------------------------------------------------------- */
/* Returns the index of the shard that a session ID selects. */
u64 lnet_session_shard(const struct lnet *ln, u64 session_id);
/* [sh] Returns the window of a session ID; NULL: none. */
struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 session_id);
/* [any shard] True if the opener of @w sent @rx. */
bool lnet_window_is_openers(const struct lnet_window *w, const struct lnet_rx *rx);
/*
 * [any shard] True if a known peer other than the opener of @w sent @rx. An unknown NID may be a
 * rail of the opener.
 */
bool lnet_window_is_foreign(const struct lnet_window *w, const struct lnet_rx *rx);
/*
 * [sh] Returns how much the replies to @opener use: bytes in small buffers, and the number of held
 * replies.
 */
void lnet_windows_share(struct lnet_shard *sh, const struct lnet_nid *opener, u64 *cache_bytes,
			u64 *nr_held);
/*
 * [sh] True if @w may cache a REPLY of @len bytes in a small buffer. Otherwise counts the denial.
 */
bool lnet_window_may_cache(struct lnet_pass *p, const struct lnet_window *w, u32 len);
/* [sh] True if the peer of @w may have one more held reply. Otherwise counts the denial. */
bool lnet_window_may_hold(struct lnet_pass *p, const struct lnet_window *w);
/* [sh] Returns the bytes of memory of @w without its entries, for sh->window_bytes. */
u64 lnet_window_bytes(const struct lnet_window *w);
/*
 * [sh] Drops windows other than @w until window_memory has room for an entry. False: there is no
 * room.
 */
bool lnet_window_room(struct lnet_pass *p, struct lnet_window *w);
/* [sh] True if a request of @w has no result yet, or its memory is still in use. */
bool lnet_window_is_busy(const struct lnet_window *w);
/* [sh] Frees @w. */
void lnet_window_drop(struct lnet_pass *p, struct lnet_window *w);
/* Initializes a new shard, which has no windows. */
void lnet_windows_init(struct lnet_shard *sh);
/* Frees all windows. All operations have ended; no lock held. */
void lnet_windows_fini(struct lnet *ln);
/*
 * [sh] Returns the session that @rx opens, or has already opened; NULL: no room. May release and
 * retake the lock.
 */
struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms);
/* [sh of rx->from] Processes a received session open request. May release and retake the lock. */
enum lnet_verdict lnet_session_open(struct lnet_pass *p, struct lnet_rx *rx,
				    const struct lnet_hdr *hdr);

/* ---- unlink.c -------------------------------------------------------------------------------- */
/*
 * Called after lnet_md_abort(), with no lock held. Aborts everything that uses @md, or posts
 * UNLINK; then drops the pin.
 */
void lnet_md_aborted_finish(struct lnet *ln, struct lnet_md *md);

#endif
