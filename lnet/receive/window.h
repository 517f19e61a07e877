/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The receiver's windows, one per session, and their entries; included by core.h. */
#ifndef LNET_WINDOW_H
#define LNET_WINDOW_H

#include "model/window.h"

struct lnet;
struct lnet_copy;
struct lnet_evt;
struct lnet_md;
struct lnet_shard;

/* ---- window_table.c -------------------------------------------------------------------------- */
u64 lnet_grant_shard(const struct lnet *ln, u64 grant);
struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 grant);	/* [sh] */
/* one window per (opener, instance, nonce); NULL: no room; may drop and retake the lock */
struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms);
/* [any shard] true if the opener of @w sent @rx */
bool lnet_window_is_openers(const struct lnet_window *w, const struct lnet_rx *rx);
/* [sh] bytes in small buffers with replies to @opener; number of replies to it that hold memory */
void lnet_windows_share(struct lnet_shard *sh, const struct lnet_nid *opener, u64 *copy_bytes,
			u64 *nr_held);
/*
 * [any shard] True if a known peer sent @rx that is not the opener of @w. False for an unknown NID,
 * which may be a rail of the opener.
 */
bool lnet_window_is_foreign(const struct lnet_window *w, const struct lnet_rx *rx);
/*
 * [sh] True if the node may cache a REPLY of @len bytes of @w in a small buffer. If copy_budget or
 * the share of the peer is used up, it counts the denial and returns false.
 */
bool lnet_window_may_copy(struct lnet_pass *p, const struct lnet_window *w, u32 len);
/* [sh] True if the peer of @w may have one more held reply; else it counts the denial. */
bool lnet_window_may_hold(struct lnet_pass *p, const struct lnet_window *w);
/* [sh] true if a request of @w has no result yet, or its memory is in use */
bool lnet_window_is_busy(const struct lnet_window *w);
void lnet_window_drop(struct lnet_pass *p, struct lnet_window *w);	/* [sh] frees it */
void lnet_windows_init(struct lnet_shard *sh);	/* for a new shard: no windows */
void lnet_windows_fini(struct lnet_shard *sh);

/* ---- window_place.c -------------------------------------------------------------------------- */
/* [sh] the entry of @seq, which is from w->floor to w->high; NULL: none, or a rejection */
struct lnet_entry *lnet_window_entry(const struct lnet_window *w, u64 seq);
/* [sh] the reason for which @seq was rejected; 0: it was not */
u32 lnet_window_rejected(const struct lnet_window *w, u64 seq);
void lnet_window_place(struct lnet_window *w, u64 seq, struct lnet_entry *e);	/* [sh] */
/* [sh] a mark with e->reason replaces @e; the caller gets the window's reference to @e */
void lnet_window_reject(struct lnet_window *w, struct lnet_entry *e);
/* [sh] empties the place @ix; returns its entry with the window's reference, or NULL */
struct lnet_entry *lnet_window_unplace(struct lnet_window *w, u32 ix);
/* [sh] adds the memory of @w without its entries to sh->window_bytes; @there false: subtracts it */
void lnet_window_count(struct lnet_window *w, bool there);
/*
 * [sh] Drops windows other than @w until window_memory has room for one more entry. False: there is
 * no room, and no other window may be dropped for @w.
 */
bool lnet_window_room(struct lnet_pass *p, struct lnet_window *w);

/* ---- window.c -------------------------------------------------------------------------------- */
/* makes room for @seq; may drop and retake the lock */
bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **w, u64 grant, u64 seq);
/* [sh] all replies below @floor are acknowledged */
void lnet_window_floor(struct lnet_pass *p, struct lnet_window *w, u64 floor);
/* [sh] w->from becomes @pni, which is referenced; NULL: none */
void lnet_window_from(struct lnet_window *w, struct lnet_peer_ni *pni);
/*
 * [sh] A request of @w was received, or its payload is complete, on the path of @rx. If the opener
 * sent it, ACKs use that path from now on.
 */
void lnet_window_heard(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx);
/*
 * [all shards] @pni has just left the peer @from. Sessions whose last request was received from
 * @pni stay with @from, and their ACKs are sent to another interface of @from. If @from has none,
 * the sessions stay with @pni.
 */
void lnet_windows_rehome(const struct lnet_peer *from, const struct lnet_peer_ni *pni);
/* [sh] a PUT is done: its ACK is sent at pass end if @wanted, else as in rule 10 */
void lnet_window_ack(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, bool wanted);
void lnet_pass_acks(struct lnet_pass *p);	/* makes the ACKs for PUTs of this pass */
void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e);	/* [sh] NULL is fine */
/* [sh] the window needs the place @ix: a request in progress continues without the window */
void lnet_entry_detach(struct lnet_pass *p, struct lnet_window *w, u32 ix);
/* [sh] a zeroed entry from the pool; NULL: the pool is empty */
struct lnet_entry *lnet_entry_take(struct lnet_shard *sh);
/* [sh] counts @e as held: its reply is sent from the memory that the GET reads */
void lnet_entry_hold(struct lnet_entry *e);
/* [sh] the sender no longer needs the reply */
void lnet_entry_confirmed(struct lnet_pass *p, struct lnet_entry *e);
/* [sh] posts the event if no receive and no reply uses the memory */
void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e);
/* discards held replies of @md (NULL: shutdown, aborts all); no lock held */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md);
/* [sh] the same in slices; skips windows newer than the walk, because they do not use @md */
void lnet_window_walk_begin(struct lnet_shard *sh, struct lnet_window_walk *walk);
/* [sh] False: this was the last slice. The lock may be released between two slices. */
bool lnet_window_walk_slice(struct lnet_pass *p, struct lnet_window_walk *walk, struct lnet_md *md);
void lnet_window_unwalk(struct lnet_window *w);	/* [sh] @w leaves sh->made */
void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh] */

#endif
