/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of receive/: incoming messages, replies, duplicate suppression, windows. */
#ifndef LNET_RECEIVE_RECEIVE_H
#define LNET_RECEIVE_RECEIVE_H

#include "model/model.h"

/* ---- rx.c ------------------------------------------------------------------------------------ */
/* The only writer of the state. */
void lnet_rx_set_state(struct lnet_rx *rx, enum lnet_rx_state state);
/* Frees @rx, or puts it into the pool of the locked shard; later if lnet_pass_stops() uses it. */
void lnet_rx_free(struct lnet_pass *p, struct lnet_rx *rx);
/* Nobody uses @sh any more: frees the pool of rx. */
void lnet_rx_pool_fini(struct lnet_shard *sh);
/* [sh] Counts @rx as dropped because of @why. Returns SKIP. */
enum lnet_verdict lnet_rx_drop(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome why);
/* [sh] Sets rx->want and the state. Returns RECEIVE: the driver writes the payload to rx->into. */
enum lnet_verdict lnet_rx_receive(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] lnet_match() has queued @rx on a lazy portal. Returns LATER. */
enum lnet_verdict lnet_rx_queue_lazy(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] @rx has waited: its driver receives the verdict @v at the end of the pass. */
void lnet_rx_defer(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v);
/* [any shard] Only the source of @rx and routers know its handle, so the source is alive. */
void lnet_rx_proven(const struct lnet_pass *p, const struct lnet_rx *rx);
/* [sh of rx->src] The path on which @rx was received; NULL: there is none. */
struct lnet_path *lnet_rx_path(const struct lnet_rx *rx);
/* The event that lnet_rx_prealloc() reserved, filled from @rx. @rx has none afterwards. */
struct lnet_evt *lnet_rx_event(struct lnet_rx *rx, enum lnet_event_kind kind);
/* [sh] An ACK or REPLY to @rx on its path, for the caller to fill and defer; NULL: no memory. */
struct lnet_op *lnet_reply_new(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_op_type type);
/* [sh] Reserves the event of @rx before the request has an effect. False: the pool is empty. */
bool lnet_rx_prealloc(struct lnet_pass *p, struct lnet_rx *rx);
/* ln->hooks->rx_matched() */
void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why);
void lnet_pass_receives(struct lnet_pass *p);	/* ln->hooks->lands() */
void lnet_pass_stops(struct lnet_pass *p);	/* ln->hooks->stops() */

/* ---- reply.c --------------------------------------------------------------------------------- */
/* [sh] Processes a received ACK. Stores no pointer to @rx. */
enum lnet_verdict lnet_ack_take(struct lnet_pass *p, struct lnet_rx *rx,
				const struct lnet_hdr *hdr);
/* [sh] A REPLY was received: RECEIVE to the MD of its GET, or SKIP. */
enum lnet_verdict lnet_reply_take(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr);
/* The payload of a REPLY ended. Enters the shard of its GET, and frees @rx. */
void lnet_reply_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);

/* ---- dedup.c --------------------------------------------------------------------------------- */
/* [sh] A tracked request was received: finds or makes its entry. May change the shard. */
enum lnet_verdict lnet_dedup_begin(struct lnet_pass *p, struct lnet_rx *rx);
/* No lock held. The tracked request @rx, which was queued on a lazy portal, has its verdict. */
void lnet_dedup_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
			enum lnet_outcome why);
/* As lnet_rx_gone(), for a tracked request. Releases the lock. */
bool lnet_dedup_gone(struct lnet_pass *p, struct lnet_rx *rx);
/* The payload of the tracked request @rx ended. Enters the shard of its entry. */
void lnet_dedup_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
/* [sh] Advances the window to the low-water mark of a confirm message. May change the shard. */
enum lnet_verdict lnet_dedup_confirm(struct lnet_pass *p, struct lnet_rx *rx);
/* [sh] The receiver, or a router on @via, rejected the tracked request @op for @reason. */
void lnet_rejection_take(struct lnet_pass *p, struct lnet_op *op, u32 reason,
			 struct lnet_path *via);
void lnet_pass_backs(struct lnet_pass *p);	/* ln->hooks->backs() */

/* ---- window.c -------------------------------------------------------------------------------- */
/* [sh] The entry of @seq, which is from w->low to w->high; NULL: none, or a rejection. */
struct lnet_entry *lnet_window_entry(const struct lnet_window *w, u64 seq);
/* [sh] The reason for which @seq was rejected; 0: it was not. */
u32 lnet_window_rejected(const struct lnet_window *w, u64 seq);
/* [sh] Puts @e at the place of @seq. */
void lnet_window_place(struct lnet_window *w, u64 seq, struct lnet_entry *e);
/* [sh] A mark with e->reason replaces @e; the caller gets the window's reference to @e. */
void lnet_window_reject(struct lnet_window *w, struct lnet_entry *e);
/* [sh] Drops a reference. NULL is fine. */
void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e);
/* [sh] A zeroed entry from the pool; NULL: the pool is empty. */
struct lnet_entry *lnet_entry_take(struct lnet_shard *sh);
/* [sh] Posts the event if no receive and no reply uses the memory. */
void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e);
/* [sh] Empties the place of @seq: a request in progress continues without the window. */
void lnet_entry_detach(struct lnet_pass *p, struct lnet_window *w, u64 seq);
/* [sh] The sender has finished all requests below @low: detaches them, and moves w->low. */
void lnet_window_advance(struct lnet_pass *p, struct lnet_window *w, u64 low);
/* [sh] w->from becomes @pni, which is referenced; NULL: none */
void lnet_window_from(struct lnet_window *w, struct lnet_peer_ni *pni);
/*
 * [all shards] @pni has left the peer @from. ACKs of sessions whose last request was received from
 * @pni are sent to another interface of @from; if there is none, still to @pni.
 */
void lnet_windows_rehome(const struct lnet_peer *from, const struct lnet_peer_ni *pni);
/* [sh] A request of @w was received, or is complete. If the opener sent it, ACKs use its path. */
void lnet_window_heard(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx);
/*
 * [sh] Makes room for @seq. May release and take the lock: *@w is then the window of @session_id,
 * or NULL. False: no room, no memory, or no window.
 */
bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **w, u64 session_id, u64 seq);
/* [sh] A PUT is done: its ACK is sent at the end of the pass if @wanted, else as in rule 10. */
void lnet_window_ack(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, bool wanted);
/* [sh] Sends delayed ACKs, expires entries, and drops a window that was unused for long. */
void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t);
/* [sh] Begins a walk that discards held replies of an MD. Newer windows do not use the MD. */
void lnet_window_walk_begin(struct lnet_shard *sh, struct lnet_window_walk *walk);
/* [sh] Does a slice for @md (NULL: all). False: the last. The lock may be released in between. */
bool lnet_window_walk_slice(struct lnet_pass *p, struct lnet_window_walk *walk, struct lnet_md *md);
/* No lock held. Discards the held replies of @md. NULL: shutdown, discards all. */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md);
void lnet_pass_acks(struct lnet_pass *p);	/* ln->hooks->acks() */

/* ---- window_table.c -------------------------------------------------------------------------- */
/* The index of the shard that a session ID selects. */
u64 lnet_session_shard(const struct lnet *ln, u64 session_id);
/* [sh] The window of a session ID; NULL: none. */
struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 session_id);
/* [any shard] True if the opener of @w sent @rx. */
bool lnet_window_is_openers(const struct lnet_window *w, const struct lnet_rx *rx);
/* [any shard] True if a known peer other than the opener sent @rx; an unknown NID may be a rail. */
bool lnet_window_is_foreign(const struct lnet_window *w, const struct lnet_rx *rx);
/* [sh] Bytes in small buffers with replies to @opener, and number of replies that hold memory. */
void lnet_windows_share(struct lnet_shard *sh, const struct lnet_nid *opener, u64 *cache_bytes,
			u64 *nr_held);
/* [sh] True if @w may cache a REPLY of @len bytes in a small buffer; else it counts the denial. */
bool lnet_window_may_cache(struct lnet_pass *p, const struct lnet_window *w, u32 len);
/* [sh] True if the peer of @w may have one more held reply; else it counts the denial. */
bool lnet_window_may_hold(struct lnet_pass *p, const struct lnet_window *w);
/* [sh] The memory of @w without its entries, for sh->window_bytes. */
u64 lnet_window_bytes(const struct lnet_window *w);
/* [sh] Drops other windows than @w until window_memory has room for an entry. False: no room. */
bool lnet_window_room(struct lnet_pass *p, struct lnet_window *w);
/* [sh] True if a request of @w has no result yet, or its memory is in use. */
bool lnet_window_is_busy(const struct lnet_window *w);
/* [sh] Frees @w. */
void lnet_window_drop(struct lnet_pass *p, struct lnet_window *w);
/* A new shard has no windows. */
void lnet_windows_init(struct lnet_shard *sh);
/* No lock held. All operations have ended: frees all windows. */
void lnet_windows_fini(struct lnet *ln);
/* [sh] The session that @rx opens, or has opened; NULL: no room. May release and take the lock. */
struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms);
/* [sh of rx->from] A session open request was received. May release and take the lock. */
enum lnet_verdict lnet_session_open(struct lnet_pass *p, struct lnet_rx *rx,
				    const struct lnet_hdr *hdr);

/* ---- unlink.c -------------------------------------------------------------------------------- */
/* No lock held, after lnet_md_abort(): aborts all that uses @md, or posts UNLINK; drops the pin. */
void lnet_md_aborted_finish(struct lnet *ln, struct lnet_md *md);

#endif
