/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The receiver's windows, one per session, and their reply cache entries. Only receive/ writes
 * these structs.
 */
#ifndef LNET_MODEL_WINDOW_H
#define LNET_MODEL_WINDOW_H

#include "plat.h"
#include "model/timer.h"
#include <lnet/nid.h>

struct lnet_sbuf;
struct lnet_evt;
struct lnet_md;
struct lnet_ni;
struct lnet_peer_ni;
struct lnet_shard;
struct lnet_window;

enum lnet_entry_state { ENTRY_TAKEN, ENTRY_MATCHED, ENTRY_FINAL };
/* [shard of the window] Reply cache entry of one tracked request: exactly-once rule 7. */
struct lnet_entry {
	u64 seq;
	/* number of references: of the window, of each rx, of each reply in flight */
	u32 refs;
	/* @reason: enum lnet_rejection of a final entry; 0: the request was executed */
	u8 state, type, noack, reason;
	u8 acked, gone;
	/* the payload was not truncated, so a cumulative ACK may cover the request */
	u8 whole;
	u8 nr_reply_ops;		/* replies in flight */
	u8 held;			/* counted in w->nr_held */
	/* @rlength: requested length; @mlength: accepted length; @offset: position in the MD */
	u32 rlength, mlength, offset;
	/* number of replies that ended in another shard and are not yet processed */
	atomic_t nr_back;
	struct lnet_shard *sh;
	/*
	 * window of the entry; NULL: the sender has finished the request, or the window has
	 * discarded the entry
	 */
	struct lnet_window *w;
	/*
	 * The MD of the request; the matched operation has a reference to it. The reference of a
	 * PUT is held until the payload is received. The reference of a GET is held until the REPLY
	 * is acknowledged.
	 */
	struct lnet_md *md;
	struct lnet_evt *evt;	/* event of the PUT or GET, filled in when the request is matched */
	struct lnet_sbuf *sbuf;		/* GET: small buffer that contains the REPLY */
	/* messages (rx) of the request that wait for a buffer or receive payload */
	struct list_head rxs;
	u64 since_ns;			/* time of the last change of the entry */
	/*
	 * Next entry in p->backs of a pass. When the pass ends, it processes @nr_back of each entry
	 * in this list.
	 */
	struct lnet_entry *next_back;
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_entry) == 112);

/* a receiver's window; protected by the shard that the session ID selects */
struct lnet_window {
	struct list_head link;		/* link in sh->windows, which is in LRU order */
	struct list_head made;		/* in sh->made */
	struct lnet_window *hash_next;
	struct hlist_node own;		/* in sh->index->opener */
	struct list_head ranked;	/* in sh->ranked[rank] */
	/* position among the windows of the same @opener, from 1 to the number of these windows */
	u8 rank;
	struct lnet_shard *sh;
	u64 session_id, instance, nonce;
	/*
	 * @high: highest received sequence. @low: low-water mark: the sender has finished all
	 * requests below it.
	 */
	u64 high, low;
	u32 W, cap, nr_unacked;
	/* number of unfinished requests at the sender, computed from its last request */
	u32 nr_open;
	/*
	 * Element at index seq mod cap: a reply cache entry, the mark of a rejection, or NULL
	 * (window.c).
	 */
	struct lnet_entry **entry;
	u32 nr_entries;			/* number of reply cache entries, without rejections */
	u32 nr_held;		/* entries that hold a program's memory for a retransmitted REPLY */
	u64 cache_bytes;	/* bytes that the entries of the window have in small buffers */
	struct list_head heavy;		/* in sh->heavy[weight] */
	/*
	 * logarithm of nr_entries to base 2; small changes of nr_entries do not change it
	 * (hysteresis)
	 */
	u8 weight;
	u64 last_ns, hold_ns, ack_due_ns;
	/*
	 * Primary NID of the peer to which windows_per_peer attributes this window. This peer
	 * opened the session, or it sent the session open request with another peer's NID as the
	 * source.
	 */
	struct lnet_nid opener;
	/* interface of the opener that sent the last message; reference held */
	struct lnet_peer_ni *from;
	/* router that forwarded the opener's last message; reference held; or NULL */
	struct lnet_peer_ni *via;
	/* NI that received the last PUT that requests an ACK; reference held; or NULL */
	struct lnet_ni *ack_ni;
	u8 ack_all;			/* at least one PUT to be acknowledged requests an ACK */
	struct list_head ack_due;	/* in sh->ack_due */
	struct lnet_timer timer;
};
/* [sh] A walk over all windows of a shard, in slices. The struct is on the caller's stack. */
struct lnet_window_walk {
	struct list_head link;		/* in sh->window_walks */
	struct list_head *at;		/* next window to visit, in sh->made */
};
#define LNET_WINDOW_HASH 128
struct lnet_window_index {		/* the windows of a shard */
	struct lnet_window *session_id[LNET_WINDOW_HASH];	/* by session ID */
	struct hlist_head opener[LNET_WINDOW_HASH];	/* by NID of the opener */
};
/*
 * A slice of a walk visits whole windows. It ends when it has visited this number of elements of
 * @entry, or more.
 */
#define LNET_WINDOW_SLICE 1024U
#define LNET_WINDOWS_PER_PEER 16	/* the maximum of windows_per_peer */
/*
 * number of values of @weight in struct lnet_window; enough because the tunable `window' is at most
 * 16,383
 */
#define LNET_WINDOW_WEIGHTS 15

#endif
