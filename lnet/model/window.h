/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The receiver's windows, one per session, and their entries. receive/ writes all of it. */
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
/* [sh of its window] reply cache entry of one tracked request: exactly-once rule 7 */
struct lnet_entry {
	u64 seq;
	u32 refs;			/* the window, each rx, each reply in flight */
	u8 state, type, noack, reason;	/* reason: enum lnet_rejection of a final entry, 0: done */
	u8 acked, gone;
	u8 whole;			/* not truncated: a cumulative ACK may cover it */
	u8 nr_reply_ops;		/* replies in flight */
	u8 held;			/* counted in w->nr_held */
	u32 rlength, mlength, offset;	/* requested length; accepted length; place in the MD */
	atomic_t nr_back;		/* replies that ended in another shard */
	struct lnet_shard *sh;
	/* NULL: the sender has finished the request, or the window has discarded the entry */
	struct lnet_window *w;
	/* the operation's reference; PUT: until received; GET: until acknowledged */
	struct lnet_md *md;
	struct lnet_evt *evt;		/* PUT or GET event, filled at the match */
	struct lnet_sbuf *sbuf;		/* GET: small buffer with the REPLY */
	struct list_head rxs;		/* waiting for a buffer, or receiving payload */
	u64 since_ns;			/* last change */
	struct lnet_entry *next_back;	/* in p->backs: @nr_back is to be processed */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_entry) == 112);

struct lnet_window {			/* [shard that the session ID selects] */
	struct list_head link;		/* LRU in the shard */
	struct list_head made;		/* in sh->made */
	struct lnet_window *hash_next;
	struct hlist_node own;		/* in sh->index->opener */
	struct list_head ranked;	/* in sh->ranked[rank] */
	u8 rank;			/* 1 to the number of windows of its opener */
	struct lnet_shard *sh;
	u64 session_id, instance, nonce;
	/* highest received sequence; low-water mark: the sender has finished all below */
	u64 high, low;
	u32 W, cap, nr_unacked;
	/* unfinished requests at the sender, from its last request */
	u32 nr_open;
	/* places, at seq mod cap: an entry, the mark of a rejection, or NULL (window.c) */
	struct lnet_entry **entry;
	u32 nr_entries;			/* without rejections */
	u32 nr_held;			/* entries with memory held for a retransmitted REPLY */
	u64 cache_bytes;		/* bytes in small buffers of the entries */
	struct list_head heavy;		/* in sh->heavy[weight] */
	u8 weight;			/* base 2 logarithm of nr_entries, with hysteresis */
	u64 last_ns, hold_ns, ack_due_ns;
	/*
	 * primary NID of the peer whose share the window uses: the opener, or the peer that sent
	 * the session open request in the name of the opener
	 */
	struct lnet_nid opener;
	/* the opener's interface that sent last; reference held */
	struct lnet_peer_ni *from;
	struct lnet_peer_ni *via;	/* the router that it used; reference held, or NULL */
	/* NI that received the last PUT that requests an ACK; reference held, or NULL */
	struct lnet_ni *ack_ni;
	u8 ack_all;			/* some PUT to acknowledge requests an ACK */
	struct list_head ack_due;	/* in sh->ack_due */
	struct lnet_timer timer;
};
/* [sh] A walk over all windows of a shard in slices; on the stack of the caller. */
struct lnet_window_walk {
	struct list_head link;		/* in sh->window_walks */
	struct list_head *at;		/* in sh->made: next to visit */
};
#define LNET_WINDOW_HASH 128
struct lnet_window_index {		/* the windows of a shard */
	struct lnet_window *session_id[LNET_WINDOW_HASH];	/* by session ID */
	struct hlist_head opener[LNET_WINDOW_HASH];	/* by NID of the opener */
};
#define LNET_WINDOW_SLICE 1024U		/* places after which a slice ends, with its window */
#define LNET_WINDOWS_PER_PEER 16	/* the maximum of windows_per_peer */
#define LNET_WINDOW_WEIGHTS 15		/* the tunable `window' is at most 16,383 */

#endif
