/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery: what a node knows of a peer from its ping info, and what the peer knows of it. A
 * machine per peer in the peer's shard; only what changes records (merge.c) waits for the
 * configuration. service/ writes all fields; topology/ initializes them in a new peer.
 */
#ifndef LNET_MODEL_DISCOVERY_H
#define LNET_MODEL_DISCOVERY_H

#include "plat.h"
#include "model/timer.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_copy;
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

enum lnet_said { LNET_SAID_NOTHING, LNET_SAID_UP, LNET_SAID_DOWN };	/* of an interface */

struct lnet_disc {			/* [sh] of its peer, but for @todo */
	u8 state;			/* enum lnet_disc_state */
	u8 known;			/* an info was taken: the peer's features are true */
	u8 met;				/* a round has ended */
	u8 whole;			/* this entry has all NIDs of its info; WRITE_ONCE */
	/* its features lack DISCOVERY, or ours did: its NIDs are not learned */
	u8 off;
	u8 want_ping;			/* what is known may be out of date */
	/* its info has the primary NID of another entry: perhaps an unproven rail of that peer */
	u8 rail;
	u8 force_push, force_merge;
	u8 full;			/* enum lnet_full, of the info merged last */
	u8 merge_free;			/* merge_pause does not delay @data: it was merged before */
	u8 inherits;			/* [cfg] it may be @merged_into of busy peers */
	u8 pushing;			/* a push is under way */
	u8 paid;			/* the next ping or push has its turn in the budget */
	u8 fails;			/* in a row, capped */
	u32 seq;			/* of the info taken last */
	u32 acked;			/* our sequence that it acknowledged, or has asked for */
	u32 told;			/* our sequence that answered its first discovery */
	u32 on_nr;			/* ln->disc.on_nr when it was asked because of that */
	u32 size;			/* of its whole info; 0: unknown */
	int status;			/* 0 or -errno: how the last round ended */
	u64 hash;			/* of the info merged last; 0: none */
	u64 next_ns;			/* no ping or push of discovery before */
	u64 doubt_ns;			/* due time of the last ping for a push; 0: none */
	u64 merge_by_ns;		/* what is busy is waited for until then; 0: not waiting */
	/* time of the next merge at one per merge_pause; 0: no list was merged */
	u64 merge_turn_ns;
	struct lnet_copy *data;		/* the info that waits for the merge */
	u32 data_len;
	u8 overtaken;			/* a push was taken since the last ping left */
	u8 had_force;			/* the push under way has taken @force_push */
	struct lnet_proofs *proofs;	/* [cfg], [sh]: prove.c; NULL: none */
	u64 prove_by_ns;		/* a round waits for proofs until then; 0: it does not */
	struct lnet_timer timer;
	struct list_head waiters;	/* struct lnet_disc_ask */
	struct list_head todo;		/* [disc lock] in ln->disc.todo, which counts the peer */
	u64 todo_ns;			/* [disc lock] not before */
};

/*
 * Somebody waits for discovery of a NID; the asker's memory, who fills in the first three. Bound:
 * what askers have room for.
 */
struct lnet_disc_ask {
	struct lnet_nid nid;
	bool force;
	/* Once, by the worker of shard 0, no lock held; the last that touches it. */
	void (*done)(struct lnet_disc_ask *ask, int status);

	struct lnet *ln;
	struct list_head wait;		/* [sh] in @peer's waiters */
	struct list_head link;		/* [disc lock] in ln->disc.asked or over */
	struct lnet_peer *peer;		/* [disc lock] counted: whose round it waits for, or NULL */
	u64 by_ns;			/* waits no longer */
	int status;			/* in over: what it is told */
	bool left;			/* [disc lock] was to be cancelled */
};

struct lnet_discovery {			/* of an instance */
	spinlock_t lock;		/* leaf */
	struct list_head todo;		/* [lock] peers whose records are to change; bound: peers */
	struct list_head proved;	/* [lock] struct lnet_proof whose ping has ended */
	u64 todo_ns;			/* when the worker looks at both; WRITE_ONCE */
	u64 walk_ns;			/* when it walks the peers for pushes; WRITE_ONCE */
	u8 walk_taken;			/* [lock] somebody walks now: "it" */
	struct lnet_peer *walk_at;	/* it: counted */
	u8 walk_rest;			/* it: those not heard of lately have their turn */
	u8 walking;			/* it */
	/* who was known before is told, whatever it has acknowledged; [lock] next walk, it: this */
	u64 next_force_ns, force_ns;
	u8 next_hurry, hurry;		/* [lock] next, this walk: push to recent peers at once */
	u32 walk_wanted, walk_done;	/* [lock], it: a change during a walk makes another one */
	u32 on_nr;			/* [cfg] how often discovery was switched on; WRITE_ONCE */
	u64 budget_ns;			/* [lock] when all so far had gone, had they gone evenly */
	u32 push_len;			/* room for a push that comes in; WRITE_ONCE */
	u64 list_bytes;			/* [lock] lists that wait for a merge or for proofs */
	/* [lock] struct lnet_disc_ask: waiting, who has least time first; to be told */
	struct list_head asked, over;
	u64 ask_ns;			/* when the worker looks at them; WRITE_ONCE */
};

#endif
