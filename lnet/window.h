/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The receiver's windows, one per session, and their entries; included by core.h. */
#ifndef LNET_WINDOW_H
#define LNET_WINDOW_H

struct lnet;
struct lnet_copy;
struct lnet_evt;
struct lnet_md;
struct lnet_shard;

enum lnet_entry_state { ENTRY_TAKEN, ENTRY_MATCHED, ENTRY_FINAL };
/* [sh of its window] one marked request: exactly-once.md rule 7 */
struct lnet_entry {
	u64 seq;
	u32 refs;			/* the window, each rx, each answer under way */
	u8 state, type, noack, reason;	/* reason: enum lnet_refusal of a final entry, 0: done */
	u8 acked, confirmed, detached, gone;
	u8 whole;			/* nothing of it was cut off: a merged ACK says all */
	u8 nr_answers;			/* under way */
	u32 rlength, mlength, offset;	/* as it came; what of it was taken, and where to */
	struct lnet_shard *sh;
	struct lnet_window *w;		/* while not detached */
	/* PUT: until landed; GET: until confirmed. The operation's reference */
	struct lnet_md *md;
	struct lnet_evt *evt;		/* PUT or GET event, filled at the match */
	struct lnet_copy *copy;		/* GET: small answer */
	struct list_head rxs;		/* waiting or landing */
	u64 since_ns;			/* last change */
	/* answers that ended in another shard, and the pass's list of entries to tell so */
	atomic_t nr_back;
	struct lnet_entry *next_back;
};
struct lnet_window {			/* [sh that the grant names] */
	struct list_head link;		/* LRU in the shard */
	struct lnet_window *hash_next;
	struct hlist_node own;		/* in sh->openers */
	struct list_head ranked;	/* in sh->ranked[rank] */
	u8 rank;			/* 1 up to the number of windows of its opener */
	struct lnet_shard *sh;
	u64 grant, instance, nonce;
	/* highest sequence seen; below floor all is finished at the sender */
	u64 high, floor;
	u32 W, cap, nr_unacked;
	/* requests that were unfinished at the sender, as it says */
	u32 nr_open;
	struct lnet_entry **entry;	/* at seq mod cap */
	u64 last_ns, hold_ns, ack_due_ns;
	struct lnet_nid opener;		/* primary NID of the peer that opened it */
	/* that peer's interface which was heard last; counted */
	struct lnet_peer_ni *from;
	struct lnet_peer_ni *via;	/* the router it came by; counted, or NULL */
	/* over which interface the last PUT landed that wants its ACK; counted, or NULL */
	struct lnet_ni *ack_ni;
	u8 ack_all;			/* some PUT to be acknowledged wants its ACK */
	struct list_head ack_due;	/* in sh->ack_due */
	struct lnet_timer timer;
};
#define LNET_WINDOW_HASH 128
#define LNET_WINDOWS_PER_PEER 16	/* the most that windows_per_peer may be */

/* ---- session.c ------------------------------------------------------------------------------- */
u64 lnet_grant_shard(const struct lnet *ln, u64 grant);
struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 grant);	/* [sh] */
/* once per (opener, instance, nonce); NULL: none now; may drop and retake the lock */
struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms);
/* [any shard] @rx is of the peer that opened the session */
bool lnet_window_is_openers(const struct lnet_window *w, const struct lnet_rx *rx);
/*
 * [any shard] @rx is of a peer that is known to be another one. A NID that is not known yet may be
 * a rail of the opener: it is not foreign.
 */
bool lnet_window_is_foreign(const struct lnet_window *w, const struct lnet_rx *rx);
/* [sh] some request of it has no result yet, or its memory is in use */
bool lnet_window_is_busy(const struct lnet_window *w);
void lnet_window_drop(struct lnet_pass *p, struct lnet_window *w);	/* [sh] frees it */
void lnet_windows_init(struct lnet_shard *sh);	/* of a new shard: no windows */
void lnet_windows_fini(struct lnet_shard *sh);

/* ---- window.c -------------------------------------------------------------------------------- */
/* room for @seq; may drop and retake the lock */
bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **w, u64 grant, u64 seq);
/* [sh] all below is confirmed */
void lnet_window_floor(struct lnet_pass *p, struct lnet_window *w, u64 floor);
/*
 * [sh] A request of it came, or has landed, the way @rx did. If that was the opener's,
 * acknowledgements go there from now on.
 */
void lnet_window_heard(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx);
/* [sh] a PUT is done: its ACK leaves with those of this pass, or, if none is wanted, soon */
void lnet_window_ack(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, bool wanted);
void lnet_pass_acks(struct lnet_pass *p);	/* makes what windows owe for PUTs of this pass */
void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e);	/* [sh] NULL is fine */
/* [sh] the window needs the place @ix: a request that is in progress goes on without it */
void lnet_entry_detach(struct lnet_pass *p, struct lnet_window *w, u32 ix);
/* [sh] zeroed, from those kept; NULL: none */
struct lnet_entry *lnet_entry_take(struct lnet_shard *sh);
/* [sh] the sender needs the answer no more */
void lnet_entry_confirmed(struct lnet_pass *p, struct lnet_entry *e);
/* [sh] gives the event when nobody needs the memory */
void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e);
/* held answers of @md are gone (NULL: shutdown, everything is given up); no lock held */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md);
void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh] */

#endif
