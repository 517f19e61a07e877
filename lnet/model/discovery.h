/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery of a peer: its ping info, and which ping info of this node it knows. A state machine in
 * the shard of the peer; only merges of peer entries (merge.c) wait for the configuration lock.
 * service/ writes all fields; topology/ initializes them in a new peer.
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

struct lnet_disc {			/* [sh] of its peer, but for @todo */
	u8 state;			/* enum lnet_disc_state */
	u8 known;			/* an info was received: peer->features is valid */
	u8 had_round;			/* a round has ended */
	u8 complete;			/* this entry has all NIDs of its info; WRITE_ONCE */
	/* its features or those of this node lacked DISCOVERY: its NIDs are not learned */
	u8 off;
	u8 want_ping;			/* the known info may be out of date */
	/* its info has the primary NID of another entry: perhaps an unproven rail of that peer */
	u8 rail;
	u8 partial;			/* another entry keeps a NID of its info, or none has it */
	u8 force_push, force_merge;
	u8 full;			/* enum lnet_full, of the info merged last */
	u8 merge_free;			/* merge_pause does not delay @data: it was merged before */
	u8 inherits;			/* [cfg] it may be the merge target of other peers */
	u8 pushing;			/* a push is in flight */
	u8 paid;			/* push_rate has set the time of the next ping or push */
	u8 fails;			/* failures in a row, capped */
	u32 seq;			/* of the last received info */
	u32 acked;			/* local sequence of the last push that succeeded */
	u32 advertised_seq;		/* local sequence in the REPLY to its first ping */
	u32 on_nr;			/* ln->disc.on_nr at the last walk */
	u32 size;			/* of its whole info; 0: unknown */
	int status;			/* 0 or -errno: how the last round ended */
	u64 hash;			/* of the info merged last; 0: none */
	u64 next_ns;			/* no ping or push of discovery before */
	u64 doubt_ns;			/* due time of the last ping after a late push; 0: none */
	u64 merge_by_ns;		/* a merge is retried until then; 0: no retry */
	/* time of the next merge at one per merge_pause; 0: no list was merged */
	u64 merge_next_ns;
	struct lnet_sbuf *data;		/* the info to be merged */
	u32 data_len;
	u8 overtaken;			/* a push was received after the last ping was sent */
	u8 had_force;			/* the push in flight has taken @force_push */
	struct lnet_proofs *proofs;	/* [cfg], [sh]: prove.c; NULL: none */
	u64 prove_by_ns;		/* a round waits for proofs until then; 0: no wait */
	struct lnet_timer timer;
	struct list_head waiters;	/* struct lnet_disc_ask */
	struct list_head todo;		/* [disc lock] in ln->disc.todo, with a reference */
	u64 todo_ns;			/* [disc lock] not before */
};

/*
 * A caller that waits for discovery of a NID. The caller owns the memory, which bounds the number,
 * and sets the first three fields.
 */
struct lnet_disc_ask {
	struct lnet_nid nid;
	bool force;
	/* called once by the worker of shard 0, no lock held; the last use of @ask */
	void (*done)(struct lnet_disc_ask *ask, int status);

	struct lnet *ln;
	struct list_head wait;		/* [sh] in @peer's waiters */
	struct list_head link;		/* [disc lock] in ln->disc.waiting or over */
	struct lnet_peer *peer;		/* [disc lock] its round is awaited; referenced; or NULL */
	u64 by_ns;			/* end of the wait */
	int status;			/* in over: the argument of @done */
	bool left;			/* [disc lock] the caller cancels it */
};

struct lnet_discovery {			/* of an instance */
	spinlock_t lock;		/* leaf */
	struct list_head todo;		/* [lock] peers with a merge to do; bound: peers */
	struct list_head proved;	/* [lock] struct lnet_proof whose ping has ended */
	u64 todo_ns;			/* when the worker checks both; WRITE_ONCE */
	u64 walk_ns;			/* next slice of a walk for pushes; WRITE_ONCE */
	u8 walk_taken;			/* [lock] a thread walks now: [walker] */
	struct lnet_peer *walk_at;	/* [walker] next to visit; reference held */
	u8 walk_rest;			/* [walker] visits all peers, not only active ones */
	u8 walking;			/* [walker] a walk is not complete */
	/* [lock] next walk, [walker] this one: push to all peers that are older; 0: no */
	u64 next_force_ns, force_ns;
	u8 next_expedite, expedite;	/* as above: push to active peers at once */
	u32 walk_wanted, walk_done;	/* [lock], [walker]: a change requests another walk */
	u32 on_nr;			/* [cfg] how often discovery was switched on; WRITE_ONCE */
	u64 budget_ns;			/* [lock] token bucket as one time: push_rate */
	u32 push_len;			/* room for a received push; WRITE_ONCE */
	u64 list_bytes;			/* [lock] of lists that wait for a merge or for proofs */
	/* [lock] struct lnet_disc_ask: waiting, earliest @by_ns first; to be notified */
	struct list_head waiting, over;
	u64 ask_ns;			/* when the worker checks them; WRITE_ONCE */
};

#endif
