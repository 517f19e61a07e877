/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A peer, its interfaces, and the sender's window of the session with the peer. */
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

/*
 * State of session negotiation with a peer: exactly-once rule 2. The negotiation consists of one
 * ping and one session open request.
 */
enum lnet_session_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/session.def"
#undef STATE
#undef EDGE
	LNET_NR_SESSION_STATES
};

/* Bits of stock LNet's "peer state" that this implementation uses. */
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
	/* written by topology/, and by service/ when peers merge: */
	struct lnet_peer *peer;		/* [cfg], [sh] */
	/* a thread that has locked @sh checks @sh again, because a merge of peers may change it */
	struct lnet_shard *sh;
	/* topology/: */
	struct lnet_nid nid;
	u32 net, ix;			/* @ix: index, unique in the instance, from 1 on */
	atomic_t refs;
	/* [sh] from here */
	u16 health;			/* path/ */
	/* topology/: */
	u8 deleted : 1;
	/* service/: */
	u8 status : 2;			/* enum lnet_pni_status */
	u8 alias;	/* this node cannot ping the NID, so the NID is not proven: merge.c */
	/* topology/ and service/, for routes: */
	u8 gw;				/* enum lnet_gw_state; 0: the peer NI is not a gateway's */
	/* xfer/: */
	s32 credits, min_credits;
	u32 nr_wait;			/* attempts in @wait */
	/* topology/: */
	u32 max_credits;
	/* the public calls (api.c): */
	/*
	 * value of ln->cfg_gen when the node last found that this NID is not a local NID, and that
	 * the peer has no merge target
	 */
	u32 not_own_gen;
	/* shard/: */
	atomic_t nr_reply_ops;	/* unfinished ACKs and REPLYs whose next hop is this peer NI */
	/* number of struct lnet_window, in all shards, whose @from is this peer NI */
	atomic_t nr_windows;
	/* router/: */
	s32 rtr_credits, min_rtr_credits;
	/* path/: */
	u32 ping_count;
	u64 rr_pos;
	/* topology/: */
	struct list_head paths;
	/* receive/ writes @last_rx_ns; path/ writes @next_ping_ns: */
	u64 last_rx_ns, next_ping_ns;
	/* path/; topology/ resets it: */
	/* for a peer that is not multi-rail: the one NI by which this node sends it all requests */
	struct lnet_ni *sticky;
	/* xfer/: */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_PEER */
	/* router/: */
	/*
	 * @rtr_wait: messages that wait for a router credit of this peer NI: the first message of
	 * each queue. Index 0 has the small messages, and index 1 the large ones. @rtr_held:
	 * messages with a router credit of this peer NI.
	 */
	struct list_head rtr_wait[2], rtr_held;
	/* Any folder adds to the counters [sh]; shard/ resets them: */
	u64 c[LNET_NR_PNI_COUNTERS];
};
static_assert(sizeof(void *) != 8 || offsetof(struct lnet_peer_ni, c) == 280);

/* [shard of the peer] xfer/: the sender's window: the requests of the session with a peer */
struct lnet_txwin {
	u64 session_id;			/* 0: none */
	u64 rx_instance;		/* the receiver's */
	/* sequences: @next: of the next request; @oldest: of the oldest unfinished request */
	u64 next, oldest;
	u64 seen;		/* highest sequence of a request that got a reply; 0: none */
	/* @W: size of the window; @cap: number of elements of @op, a power of two */
	u32 W, cap;
	u32 awaited;		/* number of requests that wait for a session; service/ resets it */
	u64 advertised;	/* low-water mark that was last sent to the peer; service/ also writes it */
	u64 used_ns;			/* when a request last got a request ID */
	u64 heard_ns;	/* time of the last reply, or of the first request that awaits a reply */
	/* service/: the hold time that this node sent in the session open request; 0: none */
	u64 hold_ns;
	/*
	 * The request with the sequence seq is at index seq mod cap; NULL: it has finished. In a
	 * new window, @op points to @few; a larger table is allocated.
	 */
	struct lnet_op **op;
	struct lnet_op *few[8];
};

struct lnet_peer {
	/* topology/: */
	struct list_head link;		/* [cfg] in ln->peers */
	u64 seq;		/* [nid_lock] number that increases in the order of ln->peers */
	/*
	 * [nid_lock] The merge target of this peer; reference held; NULL: none. While this peer is
	 * too busy to be merged, the node sends its new requests for this peer to the merge target.
	 *
	 * After a failed merge, service/ sets the pointer. Before the next try of the merge,
	 * service/ resets the pointer. lnet_peer_drop() resets the pointer if it is still set. If a
	 * third peer absorbs the merge target, service/ sets the pointer to that third peer.
	 */
	struct lnet_peer *merged_into;
	struct lnet *ln;
	struct lnet_shard *sh;
	atomic_t refs;
	/*
	 * topology/ writes the following fields for a new peer. manage/ also writes them, and
	 * service/ when peers merge:
	 */
	struct lnet_nid primary;	/* [cfg], writers also nid_lock */
	u8 configured, mr, deleted;	/* [cfg] */
	u8 locked;			/* [cfg] only a forced deletion removes the primary NID */
	/* [cfg] bits of the peer state that an operator set and that have no effect */
	u32 state_rest;
	/* topology/; service/ when peers merge: */
	u32 nr_pnis;
	/* topology/: */
	u64 made_ns;			/* [const] */
	/* [const] claimer: the peer whose message named this peer; or NULL */
	struct lnet_peer *claimer;
	atomic_t nr_claimed;		/* number of peers whose claimer is this peer */
	/* path/: */
	/*
	 * token bucket, stored as a time, for recovery pings to claimed peers that never sent a
	 * message
	 */
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
	u32 back_walk;	/* number of the walk in which the peer's operations are retried; 0: none */
	/* xfer/ and service/: */
	u8 session_state;		/* enum lnet_session_state */
	u8 session_busy;	/* a ping or session open request to the peer is in flight */
	u8 held;		/* requests to the peer wait for its first round of discovery */
	/*
	 * The last session negotiation failed. The node sends requests untracked, and they do not
	 * wait for the next negotiation.
	 */
	u8 plain_before;
	/* receive/: */
	/*
	 * Token bucket of session_opens_rate, stored as a time. It limits the session open requests
	 * that the peer sends to this node.
	 */
	u64 open_due_ns;
	/* service/: */
	u32 session_fails;
	u32 features;
	/* xfer/ and service/: */
	/*
	 * if the last ping of the peer had no reply, time before which the node does not ping it
	 * again
	 */
	u64 session_next_ns;
	struct lnet_timer timer;	/* confirm messages and session negotiation */
	/* service/: */
	struct lnet_frag sink_frag;
	u8 sink[32];		/* buffer for the peer's REPLY to the session open request */
	struct lnet_disc disc;
	/* xfer/: */
	struct lnet_txwin tx;
	/* xfer/ and receive/ add to the list, service/ removes from it: */
	struct list_head resolve;	/* ops in OP_RESOLVE */
	/* xfer/ writes @winwait; service/ also writes @winwait when a session begins: */
	/* operations in OP_TRY that wait for room in the sender's window and have no attempt */
	struct list_head winwait;
	/* xfer/: */
	struct list_head expired;	/* operations with a request ID of an expired session */
	/* path/: */
	/*
	 * Token bucket of the hedge budget. 0: full, as in a new peer; below 0: minus the missing
	 * tokens, in thousandths.
	 */
	s64 hedge_tokens;
	/*
	 * Ping rate limit: token bucket, stored as a time; full if the time is not in the future.
	 * Each recovery ping adds 1/rate to the time.
	 */
	u64 pings_paid_ns;
};

#endif
