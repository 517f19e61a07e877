/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A peer, its interfaces, and the sender's window of a session with it. */
#ifndef LNET_MODEL_PEER_H
#define LNET_MODEL_PEER_H

#include "plat.h"
#include "model/discovery.h"
#include "model/timer.h"
#include "model/trace.h"
#include "model/tunables.h"
#include <lnet/lnd.h>
#include <lnet/nid.h>

struct lnet;
struct lnet_ni;
struct lnet_op;
struct lnet_peer;
struct lnet_shard;

/* session negotiation with a peer: one ping, one session open request (exactly-once rule 2) */
enum lnet_session_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/session.def"
#undef STATE
#undef EDGE
	LNET_NR_SESSION_STATES
};

/* Bits of stock LNet's "peer state" that have a meaning here. */
#define LNET_PEER_STATE_MULTI_RAIL	BIT(0)
#define LNET_PEER_STATE_CONFIGURED	BIT(3)
#define LNET_PEER_STATE_NO_DISCOVERY	BIT(1)
#define LNET_PEER_STATE_ROUTER		BIT(2)
#define LNET_PEER_STATE_DISCOVERED	BIT(4)
#define LNET_PEER_STATE_REDISCOVER	BIT(5)
#define LNET_PEER_STATE_DISCOVERING	BIT(6)
#define LNET_PEER_STATE_DATA		BIT(7)
#define LNET_PEER_STATE_UPTODATE	BIT(8)
#define LNET_PEER_STATE_PING_SENT	BIT(9)
#define LNET_PEER_STATE_PUSH_SENT	BIT(10)
#define LNET_PEER_STATE_LOCKED		BIT(20)
#define LNET_PEER_STATE_KNOWN                                                                     \
	(LNET_PEER_STATE_MULTI_RAIL | LNET_PEER_STATE_CONFIGURED | LNET_PEER_STATE_DISCOVERED |   \
	 LNET_PEER_STATE_REDISCOVER | LNET_PEER_STATE_DISCOVERING | LNET_PEER_STATE_DATA |        \
	 LNET_PEER_STATE_UPTODATE | LNET_PEER_STATE_PING_SENT | LNET_PEER_STATE_PUSH_SENT |       \
	 LNET_PEER_STATE_LOCKED)

struct lnet_peer_ni {
	/* topology/: */
	struct hlist_node hash;		/* [nid_lock] in ln->nids */
	struct list_head link;		/* [cfg] in peer->pnis */
	struct lnet *ln;
	/* topology/, and service/ when peers merge: */
	struct lnet_peer *peer;		/* [cfg], [sh] */
	struct lnet_shard *sh;		/* checked again after locking, as peers merge */
	/* topology/: */
	struct lnet_nid nid;
	u32 net, ix;			/* @ix: unique in the instance, from 1 on */
	atomic_t refs;
	/* [sh] from here */
	u16 health;			/* path/ */
	/* topology/: */
	u8 deleted : 1;
	/* service/: */
	u8 status : 2;			/* enum lnet_pni_status */
	u8 alias;			/* cannot be pinged, so not proven: merge.c */
	/* topology/ and service/, for routes: */
	u8 gw;				/* enum lnet_gw_state; 0: not of a gateway */
	/* xfer/: */
	s32 credits, min_credits;
	u32 nr_wait;			/* attempts in @wait */
	/* topology/: */
	u32 max_credits;
	/* the public calls (api.c): */
	u32 not_own_gen;		/* cfg_gen for which it is remote without merge target */
	/* shard/: */
	atomic_t nr_reply_ops;		/* ACKs and REPLYs sent by it as next hop, not done */
	atomic_t nr_windows;		/* duplicate windows of any shard whose ->from it is */
	/* router/: */
	s32 rtr_credits, min_rtr_credits;
	/* path/: */
	u32 ping_count;
	u64 rr_pos;
	/* topology/: */
	struct list_head paths;
	/* receive/, and path/ the second: */
	u64 last_rx_ns, next_ping_ns;
	/* path/; topology/ resets it: */
	struct lnet_ni *sticky;		/* NI of a peer that is not multi-rail */
	/* xfer/: */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_PEER */
	/* router/: */
	/* first of each queue for its router credits, by size; messages with a credit */
	struct list_head rtr_wait[2], rtr_held;
	/* any folder adds [sh]; shard/ resets: */
	u64 c[LNET_NR_PNI_COUNTERS];
};
static_assert(sizeof(void *) != 8 || offsetof(struct lnet_peer_ni, c) == 280);

/* [sh of its peer] xfer/: requests to a peer in the session with it */
struct lnet_txwin {
	u64 session_id;			/* 0: none */
	u64 rx_instance;		/* the receiver's */
	u64 next, oldest;		/* sequences: next to draw, oldest unfinished */
	u64 seen;			/* highest sequence with a reply; 0: none */
	u32 W, cap;			/* cap: size of @op, power of two */
	u32 awaited;			/* requests that wait for a session; service/ resets it */
	u64 advertised;			/* advertised low-water mark; service/ also writes it */
	u64 used_ns;			/* when the last request got its ID */
	u64 heard_ns;			/* last reply, or first request that awaits one */
	/* service/: the hold time in the session open request; 0: none */
	u64 hold_ns;
	struct lnet_op **op;		/* at seq mod cap; NULL: finished; first it is @few */
	struct lnet_op *few[8];
};

struct lnet_peer {
	/* topology/: */
	struct list_head link;		/* [cfg] in ln->peers */
	u64 seq;			/* [nid_lock] increases in the order of ln->peers */
	/*
	 * [nid_lock] Merge target: new requests are sent to it while this peer is too busy to be
	 * merged; reference held; NULL: none. service/ sets the pointer after a failed merge, and
	 * resets it before the next one; lnet_peer_drop() resets it at the latest. If the target is
	 * absorbed, service/ changes the pointer to the peer that absorbed it.
	 */
	struct lnet_peer *merged_into;
	struct lnet *ln;
	struct lnet_shard *sh;
	atomic_t refs;
	/* topology/ for a new peer, manage/, and service/ when peers merge: */
	struct lnet_nid primary;	/* [cfg], writers also nid_lock */
	u8 configured, mr, deleted;	/* [cfg] */
	u8 locked;			/* [cfg] the primary NID stays, unless it is forced */
	u32 state_rest;			/* [cfg] other state bits, set manually, without meaning */
	/* topology/; service/ when peers merge: */
	u32 nr_pnis;
	/* topology/: */
	u64 made_ns;			/* [const] */
	struct lnet_peer *claimer;	/* [const] peer whose messages named this one; or NULL */
	atomic_t nr_claimed;		/* peers whose claimer this peer is */
	/* path/: */
	/* token bucket as one time: recovery pings to claimed peers that never sent a message */
	u64 claimed_pings_ns;
	/* recorder/: */
	struct lnet_rec_mark rec;
	/* topology/; service/ when peers merge: */
	struct list_head pnis;		/* [cfg] */
	/* topology/: [sh] from here */
	u64 paths_used;			/* bitmap of path ix */
	u32 nr_paths;
	/* shard/: */
	u32 nr_ops;			/* unfinished operations */
	/* xfer/: */
	u32 back_walk;			/* walk in which its operations retry; 0: none */
	/* xfer/ and service/: */
	u8 session_state;		/* enum lnet_session_state */
	u8 session_busy;		/* a ping or session open request is in flight */
	u8 held;			/* requests wait for its first round of discovery */
	/* the last negotiation failed: requests are sent untracked, and do not wait for the next */
	u8 plain_before;
	/* receive/: */
	/*
	 * the time at which its last session open request would be received at session_opens_rate
	 */
	u64 open_due_ns;
	/* service/: */
	u32 session_fails;
	u32 features;
	/* xfer/ and service/: */
	u64 session_next_ns;		/* earliest next ping of a peer that did not reply */
	struct lnet_timer timer;	/* confirm messages and session negotiation */
	/* service/: */
	struct lnet_frag sink_frag;
	u8 sink[32];			/* its REPLY to the session open request */
	struct lnet_disc disc;
	/* xfer/: */
	struct lnet_txwin tx;
	/* xfer/ and receive/ add, service/ removes: */
	struct list_head resolve;	/* ops in OP_RESOLVE */
	/* xfer/; service/ when a session begins: */
	/* ops that wait for room in the window (OP_TRY, no attempt) */
	struct list_head winwait;
	/* xfer/: */
	struct list_head expired;	/* ops with a request ID of an expired session */
	/* path/: */
	/* thousandths short of a full bucket, <= 0: a new peer starts full */
	s64 hedge_tokens;
	/* token bucket as one time: full if not after now; each recovery ping adds 1/rate */
	u64 pings_paid_ns;
};

#endif
