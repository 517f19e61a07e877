/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * State of the discovery of a peer: the ping info of the peer, and the ping info of this node that
 * the peer knows. It is a state machine under the lock of the peer's shard. Only merges of peer
 * entries (merge.c) wait for the configuration lock. service/ writes all fields; topology/
 * initializes them in a new peer.
 */
#ifndef LNET_MODEL_DISCOVERY_H
#define LNET_MODEL_DISCOVERY_H

#include "plat.h"
#include "model/timer.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_sbuf;
struct lnet_peer;
struct lnet_proofs;

enum lnet_disc_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/discover.def"
#undef STATE
#undef EDGE
	LNET_NR_DISC_STATES
};

/* status of a peer NI */
enum lnet_pni_status { LNET_PNI_STATUS_NONE, LNET_PNI_STATUS_UP, LNET_PNI_STATUS_DOWN };

/* discovery of one peer; all fields but @todo and @todo_ns: [sh] of the peer */
struct lnet_disc {
	u8 state;			/* enum lnet_disc_state */
	u8 known;	/* the node received a ping info of the peer, so peer->features is valid */
	u8 had_round;			/* a round has ended */
	u8 complete;	/* the peer entry has all NIDs of the peer's ping info; WRITE_ONCE */
	/*
	 * the peer or this node lacked the feature DISCOVERY, so this node does not learn the
	 * peer's NIDs
	 */
	u8 off;
	u8 want_ping;			/* the stored ping info of the peer may be out of date */
	/*
	 * 1: the primary NID in the peer's ping info is in another peer entry. So the NIDs of this
	 * entry may be interfaces of that other peer, but no ping has proven that yet.
	 */
	u8 rail;
	u8 partial;	/* some NID of the peer's ping info is in another peer entry, or in none */
	u8 force_push, force_merge;
	u8 full;			/* enum lnet_full of the ping info that was merged last */
	u8 merge_free;	/* @data was merged before, so merge_pause does not delay its merge */
	u8 inherits;		/* [cfg] the peer entry may be the merge target of other entries */
	u8 pushing;			/* a push is in flight */
	u8 paid;	/* 1: the next ping or push has already taken its token of push_rate */
	u8 fails;			/* failures in a row, capped */
	u32 seq;			/* sequence of the last ping info that the peer sent */
	u32 acked;	/* sequence of this node's ping info in the last push that succeeded */
	/* sequence of this node's ping info in the REPLY to the peer's first ping */
	u32 advertised_seq;
	u32 on_nr;			/* ln->disc.on_nr at the last walk */
	u32 size;			/* length of the peer's whole ping info; 0: unknown */
	int status;			/* result of the last round of discovery: 0 or -errno */
	u64 hash;			/* hash of the ping info that was merged last; 0: none */
	u64 next_ns;		/* discovery sends the peer no ping or push before this time */
	u64 doubt_ns;		/* due time of the last ping that a late push caused; 0: none */
	u64 merge_by_ns;		/* deadline for retries of a merge; 0: no retry */
	/*
	 * earliest time of the next merge of this peer, so that the peer has at most one merge per
	 * merge_pause; 0: nothing was merged yet
	 */
	u64 merge_next_ns;
	struct lnet_sbuf *data;		/* the info to be merged */
	u32 data_len;
	u8 overtaken;	/* the node received a push after it had sent its last ping to the peer */
	u8 had_force;		/* value that @force_push had when the push in flight was sent */
	struct lnet_proofs *proofs;	/* [cfg], [sh]: prove.c; NULL: none */
	/*
	 * Deadline of a round of discovery that waits for proofs (pings that prove listed NIDs); 0:
	 * no round waits.
	 */
	u64 prove_by_ns;
	struct lnet_timer timer;
	struct list_head waiters;	/* struct lnet_disc_ask */
	/* [disc lock] link in ln->disc.todo; this list has a reference to the peer */
	struct list_head todo;
	u64 todo_ns;			/* [disc lock] earliest time of the merge */
};

/*
 * A caller that waits for discovery of a NID. The caller allocates this struct, and sets the first
 * three fields. Each waiting caller has one struct, so the number of callers bounds the number of
 * structs.
 */
struct lnet_disc_ask {
	struct lnet_nid nid;
	bool force;
	/*
	 * The worker of shard 0 calls done() once, with no lock held. It does not access @ask
	 * afterwards.
	 */
	void (*done)(struct lnet_disc_ask *ask, int status);

	struct lnet *ln;
	struct list_head wait;		/* [sh] in @peer's waiters */
	struct list_head link;		/* [disc lock] link in ln->disc.waiting or ln->disc.over */
	/* [disc lock] peer whose round of discovery the caller awaits; referenced; or NULL */
	struct lnet_peer *peer;
	u64 by_ns;			/* end of the wait */
	int status;			/* in ln->disc.over: the argument of @done */
	bool left;			/* [disc lock] the caller cancels the wait */
};

struct lnet_discovery {			/* of an instance */
	spinlock_t lock;		/* leaf */
	struct list_head todo;	/* [lock] peers with a due merge; at most one element per peer */
	/* [lock] list of struct lnet_proof whose pings have ended */
	struct list_head proved;
	u64 todo_ns;		/* when the worker next checks @todo and @proved; WRITE_ONCE */
	u64 walk_ns;		/* time of the next slice of a walk that sends pushes; WRITE_ONCE */
	u8 walk_taken;	/* [lock] a thread does a slice of the walk; [walker] means that thread */
	/* [walker] next peer that the walk visits; reference held */
	struct lnet_peer *walk_at;
	u8 walk_rest;		/* [walker] 0: the walk visits only active peers; 1: all peers */
	u8 walking;			/* [walker] the current walk is not complete */
	/*
	 * If a value is not 0, the walk pushes to all peers whose entries are older than this time.
	 * next_force_ns: value for the next walk [lock]; force_ns: value for the current walk
	 * [walker].
	 */
	u64 next_force_ns, force_ns;
	/*
	 * 1: the walk pushes to active peers without delay. next_expedite: for the next walk
	 * [lock]; expedite: for the current walk [walker].
	 */
	u8 next_expedite, expedite;
	/*
	 * walk_wanted: number of changes that requested a walk [lock]; walk_done: value of
	 * @walk_wanted when the last walk began [walker]
	 */
	u32 walk_wanted, walk_done;
	u32 on_nr;	/* [cfg] number of times that discovery was switched on; WRITE_ONCE */
	u64 budget_ns;			/* [lock] token bucket of push_rate, stored as a time */
	u32 push_len;			/* bytes of memory for a received push; WRITE_ONCE */
	/* [lock] bytes of ping infos that wait for a merge or for proofs of their NIDs */
	u64 list_bytes;
	/*
	 * [lock] lists of struct lnet_disc_ask. waiting: sorted by @by_ns, earliest first; over:
	 * callers that the worker is to notify.
	 */
	struct list_head waiting, over;
	u64 ask_ns;		/* when the worker next checks @waiting and @over; WRITE_ONCE */
};

#endif
