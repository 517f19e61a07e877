/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The structs inside an instance, who protects what, and what each file of the core offers the
 * others.
 */
#ifndef LNET_CORE_H
#define LNET_CORE_H

#include "plat.h"
#include "path/path_stats.h"
#include "topology/link_quality.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include <lnet/wire.h>

/*
 * Locks, outermost first: ln->cfg_mutex (sleeps) > shard (one; all in index order to publish a
 * configuration) > leaf (one at a time: ln->nid_lock, portal lock, MD bucket lock, fault lock). No
 * call out of the core, no allocation and no copy of more than a few KiB under a shard or leaf
 * lock. "[sh]" below: protected by the lock of the shard named; "[cfg]": written under cfg_mutex
 * and all shard locks, read under either; "[const]": set before the object is published.
 */

#define LNET_MAX_NIS		128	/* per instance, loopback included */
#define LNET_MAX_PATHS		64	/* per peer: bits of op->tried */
#define LNET_HEALTH_MAX		1000
#define LNET_PASS_BURST		64	/* messages per lock hold */
/*
 * Messages per doorbell: of a longer run the first leave while the rest is being made, so that both
 * ends work at once. Half of what is under way, within these bounds, and with it what is left if
 * that is less than half as many: see manual/performance.md.
 */
#define LNET_BELL_BURST		32U
#define LNET_BELL_BURST_MAX	128U
#define LNET_EVENTS_PER_PASS	128
#define LNET_PASS_TURNS		8U	/* deliveries of events in one pass */
/* A router may not read more of a message aside: larger ones stop a connection when they wait. */
#define LNET_LARGE		65536U
#define LNET_POOL_LOW		64	/* attempts a shard keeps */
#define LNET_RESERVE_LOW	4	/* operations, events: with fewer a lock is given up */
#define LNET_MAX_SHARDS		64
#define LNET_MAX_LNDS		8

/* ---- tables ---------------------------------------------------------------------------------- */

/* read with READ_ONCE; written under cfg_mutex by lnet_tunable_set() */
struct lnet_tunables {
#define TUNABLE(name, unit, def, min, max, stock, text) u64 name;
#include "model/tunables.def"
#undef TUNABLE
};

/* What `global show` calls lnd_timeout: the share of a try in the time of a request. */
static inline u64 lnet_lnd_timeout_ns(const struct lnet_tunables *tun)
{
	return div64_u64(READ_ONCE(tun->transaction_timeout),
			 max_t(u64, READ_ONCE(tun->retry_count), 1));
}

/* How long a socket may make no progress; not told (0): the above, a second at least. */
static inline u64 lnet_sock_timeout_ns(const struct lnet_tunables *tun)
{
	u64 ns = READ_ONCE(tun->sock_timeout);

	return ns ? ns : max_t(u64, lnet_lnd_timeout_ns(tun), NSEC_PER_SEC);
}

enum lnet_counter {			/* of an instance, summed over shards */
#define COUNTER(name, text) LNET_C_##name,
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text)
#include "model/counters.def"
	LNET_NR_COUNTERS
};
enum lnet_ni_counter {
#undef COUNTER
#undef NI_COUNTER
#define COUNTER(name, text)
#define NI_COUNTER(name, text) LNET_NIC_##name,
#include "model/counters.def"
	LNET_NR_NI_COUNTERS
};
enum lnet_pni_counter {
#undef NI_COUNTER
#undef PNI_COUNTER
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text) LNET_PNIC_##name,
#include "model/counters.def"
	LNET_NR_PNI_COUNTERS
};
#undef COUNTER
#undef NI_COUNTER
#undef PNI_COUNTER

enum lnet_op_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/op.def"
#undef STATE
#undef EDGE
	LNET_NR_OP_STATES
};
enum lnet_att_state {
#define ASTATE(s, pc, nc, drv, mem) s,
#define AEDGE(a, b)
#include "model/states/att.def"
#undef ASTATE
#undef AEDGE
	LNET_NR_ATT_STATES
};
enum lnet_rx_state {
#define STATE(s, pc, buf) s,
#define EDGE(a, b)
#include "model/states/rx.def"
#undef STATE
#undef EDGE
	LNET_NR_RX_STATES
};
enum lnet_ni_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/ni.def"
#undef STATE
#undef EDGE
	LNET_NR_NI_STATES
};
/* what we know of a peer: ping once, open once (exactly-once.md rule 2) */
enum lnet_contact_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/contact.def"
#undef STATE
#undef EDGE
	LNET_NR_CONTACT_STATES
};

enum lnet_blame { LNET_BLAME_NONE, LNET_BLAME_LOCAL, LNET_BLAME_REMOTE, LNET_BLAME_BOTH };
enum lnet_delivery { LNET_DELIVERY_NOT, LNET_DELIVERY_PERHAPS, LNET_DELIVERY_YES };
struct lnet_outcome_info {
	const char *name;
	int err;			/* -errno or 0 */
	u8 blame, delivery;
};
extern const struct lnet_outcome_info lnet_outcomes[LNET_NR_OUTCOMES];

#include "base/timer.h"
#include "model/ni_service.h"

#include "service/discover.h"
#include "path/probe_queue.h"
#include "shard/log.h"
#include "model/trace.h"
/* ---- events ---------------------------------------------------------------------------------- */

struct lnet_evt {			/* an event waiting for its handler; pool per shard */
	struct list_head link;		/* free list, p->posts or md->done */
	struct lnet_md *md;		/* in p->posts */
	struct lnet_evt *next;		/* in sh->evts_back */
	bool last;			/* the operation's reference goes with it */
	struct lnet_event ev;
};

/* ---- memory descriptors, match entries, portals: md.c and match.c ---------------------------- */

struct lnet_md {
	spinlock_t *lock;		/* its portal's, or its bucket's */
	struct lnet *ln;
	u64 cookie;
	struct lnet_me *me;		/* [lock] NULL when bound or detached */
	struct list_head done;		/* [lock] events to deliver */
	struct list_head ready;		/* [lock] in a pass's or shard's ready list */
	u32 refs;			/* [lock] operations in flight */
	s32 threshold;			/* [lock] */
	u32 length, max_size, options;	/* [const] */
	bool unlimited;			/* [const] threshold is LNET_THRESHOLD_INF and stays so */
	u64 offset;			/* [lock] local offset */
	u8 delivering, aborted, auto_unlink, dead;	/* [lock] */
	u8 gone_sent, exhausted;
	s32 cpt;
	void *user_ptr;
	lnet_handler_t handler;
	/* internal MDs: pings */
	void (*core_handler)(struct lnet_pass *p, void *arg, const struct lnet_event *ev);
	u32 nr_frags;
	struct lnet_frag one;
	struct lnet_frag *frags;	/* &one or an allocated copy */
};

/*
 * md.c. "op use" = one operation attached to the MD: costs one of the threshold, holds one ref
 * until lnet_md_post(last).
 */
/*
 * for put/get: active, not attached; takes threshold and ref *@nr times, or as often as its
 * threshold lets, which *@nr is then: once at least
 */
struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, unsigned int *nr,
				  int *err);
/*
 * an ACK or REPLY arrived for an op that holds a ref: takes threshold only; false if aborted or
 * exhausted
 */
bool lnet_md_use_again(struct lnet_md *md);
/* undo of lnet_md_use_bound when the op was never started */
void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md);
void lnet_md_hold(struct lnet_md *md);		/* a plain ref, e.g. of a held answer */
void lnet_md_release(struct lnet_pass *p, struct lnet_md *md);
void lnet_md_buf(const struct lnet_md *md, u32 offset, u32 len, struct lnet_buf *buf);
bool lnet_md_aborted(const struct lnet_md *md);
/*
 * Queue @e for the MD's handler (in order); @last: the op's ref goes back with it, and if that was
 * the last of an unlinked MD, e->ev.unlinked is set.
 * status 0 becomes -ETIMEDOUT if the MD was aborted by lnet_md_unlink(). Any lock of a shard may be
 * held.
 */
void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last);
/*
 * [sh] Called before the shard is unlocked, as events of one MD come in the order in which shards
 * were held: what was posted under it.
 */
void lnet_md_posts(struct lnet_pass *p);
/*
 * Called at the end of passes, no lock held. DRIVER and WORKER passes: runs handlers of p->ready,
 * then of events that calls from these handlers made ready. It runs at most LNET_EVENTS_PER_PASS,
 * for about 2 ms, moves the rest to shard 0 and kicks the env. CALL passes: moves all events to
 * shard 0, and kicks the env unless a handler is the caller.
 */
void lnet_md_deliver(struct lnet_pass *p);
/* No lock held. Moves p->ready to shard 0 for a later pass. Kicks the env unless in a handler. */
void lnet_md_hand_over(struct lnet_pass *p);
void lnet_md_take_ready(struct lnet_pass *p);	/* what CALL passes left is this pass's */
int lnet_md_tables_init(struct lnet *ln);
/* after all ops ended: unlinks and frees everything, no events */
void lnet_md_tables_fini(struct lnet *ln);
/*
 * Unlinking gives up the requests that use the MD (rx.c/tx.c look at lnet_md_aborted()); md.c calls
 * this after marking, no lock held:
 */
void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md);	/* abort.c */

/* ---- NI -------------------------------------------------------------------------------------- */

struct lnet_seen {			/* WRITE_ONCE [sh]; other shards look, too */
	u64 ns;
	u32 who;			/* ix of a peer interface; 0: nobody */
};
struct lnet_ni_shard {			/* [sh] */
	s32 credits, min_credits;	/* negative: -n waiters */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_NI */
	u32 nr_wait;			/* of them */
	u32 avoid_walk, down_walk;	/* walks in which these, or all, choose again; 0: none */
	u32 holds;			/* attempts in WIRE/POSTED, rx in LAND */
	u64 turn;			/* round robin: lower was used longer ago */
	u64 share_turn;			/* degraded: its share is used up until then */
	struct lnet_seen heard[2], failed[2];	/* last partners that were or did: attribution.c */
	u64 c[LNET_NR_NI_COUNTERS];
};

struct lnet_ni {
	struct list_head link;		/* [cfg] in ln->nis, configuration order */
	struct lnet *ln;
	const struct lnet_lnd_ops *ops;
	void *priv;			/* ops->ni_priv_size bytes */
	struct lnet_nid nid;
	u32 net;
	char ifname[16];
	bool by_name;			/* was added by @ifname */
	u32 ix;				/* small number unique in the instance */
	atomic_t refs;
	atomic_t health;		/* 0..1000 */
	atomic_t work;			/* lnet_ni_kick() */
	u8 state;			/* enum lnet_ni_state [cfg] */
	/* enum lnet_ni_service, and above it the marks: lnet_ni_mark(), any context */
	atomic_t service;
	u8 link_why;			/* enum lnet_link_why; valid with the mark LINK_DOWN */
	u8 link_seen;			/* what the worker has acted on */
	u8 rising;			/* [nid_lock] the link is back, not all peers' paths know */
	u64 pinged_ns;			/* a router's: of the last ping; WRITE_ONCE */
	u8 falls;			/* in a row, soon after it rose; health.c, WRITE_ONCE */
	u64 rose_ns;			/* when it was announced as up last; the same */
	struct lnet_peer *rise_at;	/* [nid_lock] @rising: the last that does; counted */
	u32 since_seq;			/* of the first ping info that lists it; WRITE_ONCE */
	u32 link_speed;			/* Mbit/s, 0 unknown */
	u32 full_mbit;			/* [nid_lock] the most that it ever was */
	u16 wear;			/* missing to full weight: link_quality.c, READ_ONCE */
	u8 used;			/* [cfg] sent a message before its counters were reset */
	struct lnet_loss loss;		/* [nid_lock] */
	struct lnet_flap flap;		/* [nid_lock] */
	s32 dev_cpt;			/* partition near the device; -1 unknown */
	u64 cpts;			/* bits of those that serve it; 0: all */
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;
	u32 conns_per_peer;
	s32 tos;
	u32 nr_down, nr_up;		/* stt-020/025 */
	u64 ping_count, next_ping_ns;
	struct lnet_ni_shard sh[];	/* nr_shards */
};

/* ---- peers ----------------------------------------------------------------------------------- */

struct lnet_path {			/* [sh of its peer] one pair (local NI, remote NID) */
	struct list_head link;		/* in pni->paths */
	struct lnet_ni *ni;		/* counted */
	struct lnet_peer_ni *pni;	/* the far end: where messages are addressed to */
	/*
	 * Whom the driver gives them to, with its credits and connections: @pni, or a router's
	 * interface, counted then. The two live in one shard.
	 */
	struct lnet_peer_ni *hop;
	struct lnet_path *trunk;	/* of the pair (@ni, @hop): itself, or the router's */
	union {
		struct list_head carried;	/* a trunk's: the paths behind the router */
		struct list_head carry;		/* of one of them: among these */
	};
	struct lnet_route *route;	/* that wants it; NULL: direct */
	u16 ix;				/* bit in op->tried; may be shared beyond LNET_MAX_PATHS */
	u16 health;			/* 0..1000, of the pair alone */
	u8 recovering;			/* health.c: 0 not, else slow or quick */
	u8 pinging;			/* recovery pings under way */
	u8 lost_valid : 1;
	u8 gone : 1;			/* its route, or the router's interface, is taken away */
	u8 turning : 1;			/* its @turns are being served */
	u8 back_measured : 1;		/* one that left before back_ns was taken as a round trip */
	struct list_head asked;		/* attempts in ATT_ASKED, in posting order */
	u64 srtt_ns, rttvar_ns;		/* 0: not measured */
	u64 evidence_ns;		/* last proof of life */
	u64 busy_ns;			/* since when something has been out */
	u64 gap_ns, gap_set_ns;		/* longest pause between signs of life; halved then */
	u64 suspect_ns;			/* since when suspect; 0: not */
	u64 down_ns;			/* since when the path fails; 0: works */
	u64 failed_ns;			/* last failure, not heard since; 0: attribution.c */
	u64 back_ns;			/* when it last ceased to be suspect or down */
	u64 logged_ns;			/* begin of the failure in the log; 0: none is logged */
	u64 lost_ns;			/* when it last lost its connections; 0: never */
	struct lnet_timer timer;	/* recovery: a pause */
	struct list_head line;		/* in sh->probes: its ping waits for the budget */
	/* in p->resets, taken off under the shard lock: until then the path is not idle */
	struct list_head reset;
	u32 nr_wire;			/* attempts in WIRE or POSTED */
	/* routed: large requests that have their turn, and attempts in WAIT_TURN: attempt.c */
	u32 nr_large;
	u32 nr_turns;			/* a trunk's: attempts in WAIT_TURN by it */
	u32 lost_epoch;			/* what was posted under this epoch or before is lost */
	u32 nr_resent;			/* messages sent again as it failed them or was silent */
	struct list_head turns;
	s64 policy;			/* udsp.c: twice its priority, and 1 if it is preferred */
	struct lnet_path_stats *stats;	/* NULL until first traffic */
};

/* A router stands between. */
static inline bool lnet_path_routed(const struct lnet_path *path)
{
	return path->trunk != path;
}

/* Paths lead on behind the router. */
static inline bool lnet_path_carries(const struct lnet_path *path)
{
	return !lnet_path_routed(path) && !list_empty(&path->carried);
}

struct lnet_peer_ni {
	struct hlist_node hash;		/* [nid_lock] in ln->nids */
	struct list_head link;		/* [cfg] in peer->pnis */
	struct lnet *ln;
	struct lnet_peer *peer;		/* [cfg], [sh] */
	struct lnet_peer_ni *heir;	/* [nid_lock] counted: new requests go to its peer */
	struct lnet_shard *sh;		/* re-checked after locking, as peers merge */
	struct lnet_nid nid;
	u32 net, ix;			/* @ix: unique in the instance, from 1 on */
	atomic_t refs;
	/* [sh] from here */
	u16 health;
	u8 deleted : 1, sticky_set : 1;
	u8 said : 2;			/* enum lnet_said */
	u8 gw;				/* one of a router that routes name: route.h; 0: not */
	u8 alias;			/* cannot be pinged, so not proven: merge.c */
	u32 ping_count;
	s32 credits, min_credits, rtr_credits, min_rtr_credits;
	u32 max_credits;
	u32 not_own_gen;		/* configuration in which it was seen not to be our own */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_PEER */
	u32 nr_wait;
	atomic_t nr_answers;		/* ACKs and REPLYs sent by it as next hop, not done */
	atomic_t nr_windows;		/* duplicate windows of any shard whose ->from it is */
	struct list_head paths;
	/* router.h: first of each queue for its router credits, by size; messages with a credit */
	struct list_head rtr_wait[2], rtr_held;
	struct lnet_ni *sticky;		/* NI of a peer that is not multi-rail */
	u64 turn;
	u64 last_rx_ns, next_ping_ns;
	u64 *c;				/* LNET_NR_PNI_COUNTERS, which follow it in memory */
};

struct lnet_txwin {			/* our requests to a peer that named us a grant */
	u64 grant;			/* 0: none */
	u64 rx_instance;		/* the receiver's */
	u64 next, oldest;		/* sequences: next to draw, oldest unfinished */
	u64 seen;			/* highest sequence with a reply; 0: none */
	u32 W, cap;			/* cap: size of @op, power of two */
	u32 awaited;			/* requests that wait for a grant */
	u64 told;			/* floor the receiver was told */
	u64 used_ns;			/* when the last one was named */
	u64 heard_ns;			/* of the last reply; or first request that awaits one */
	u64 hold_ns;			/* what the receiver was told at the opening; 0: nothing */
	struct lnet_op **op;		/* at seq mod cap; NULL finished; starts as @few */
	struct lnet_op *few[8];
};

struct lnet_peer {
	struct list_head link;		/* [cfg] in ln->peers */
	u64 seq;			/* [nid_lock] the higher, the later in ln->peers */
	struct lnet *ln;
	struct lnet_shard *sh;
	atomic_t refs;
	struct lnet_nid primary;	/* [cfg] */
	u8 configured, mr, multi_set, deleted;	/* [cfg] */
	u8 locked;			/* [cfg] the primary NID stays, unless it is forced */
	u32 state_rest;			/* [cfg] bits of its state set by hand, without meaning */
	u32 nr_pnis;
	u64 made_ns;			/* [const] */
	struct lnet_peer *claimer;	/* [const] peer whose messages named this one; or NULL */
	atomic_t nr_claimed;		/* peers whose claimer this peer is */
	/* token bucket as one time: recovery pings to those of them that never sent a message */
	u64 claimed_pings_ns;
	struct lnet_rec_mark rec;
	struct list_head pnis;		/* [cfg] */
	/* [sh] from here */
	u64 paths_used;			/* bitmap of path ix */
	u32 nr_paths;
	u32 nr_ops;			/* unfinished operations */
	u32 back_walk;			/* walk in which its operations try; 0: none */
	u8 contact;			/* enum lnet_contact_state */
	u8 contact_busy;		/* in doubt: it is being asked */
	u8 held;			/* requests wait for its first round of discovery */
	/* the last negotiation failed: requests are sent untracked, and do not wait for the next */
	u8 plain_before;
	/* the time at which its last session open request would be received at openings_rate */
	u64 open_due_ns;
	u32 contact_fails;
	u32 features;
	u64 contact_next_ns;		/* not before: next ping of a peer that did not answer */
	struct lnet_timer timer;	/* confirm and contact */
	struct lnet_frag sink_frag;
	u8 sink[32];			/* its answer to our opening */
	struct lnet_disc disc;
	struct lnet_txwin tx;
	struct list_head resolve;	/* ops in OP_RESOLVE */
	/* ops whose name does not fit into the window yet (OP_TRY, no attempt) */
	struct list_head winwait;
	struct list_head voided;	/* ops with a request ID of an expired session */
	u64 turn;
	/* thousandths short of a full bucket, <= 0: a new peer starts full */
	s64 hedge_tokens;
	/* token bucket as one time: full if not after now; each recovery ping adds 1/rate */
	u64 pings_paid_ns;
};

/* ---- operations ------------------------------------------------------------------------------ */

enum lnet_op_type { LNET_OP_ACK, LNET_OP_PUT, LNET_OP_GET, LNET_OP_REPLY };	/* wire numbers */

enum lnet_op_flag {
	LNET_OPF_ACK = 0x1,		/* an answer is wanted by the user */
	LNET_OPF_MARKED = 0x2,		/* portal + 64, named (grant, seq) */
	LNET_OPF_NAMED = 0x4,		/* sequence drawn */
	LNET_OPF_IDEMPOTENT = 0x8,	/* ping, opening, confirm: may always be sent again */
	LNET_OPF_RECOVERY = 0x10,	/* pinned to one path, never resent */
	LNET_OPF_PINNED_NI = 0x20,	/* source given */
	LNET_OPF_SENT = 0x40,		/* SEND event posted */
	LNET_OPF_STARTED = 0x80,	/* transaction clock runs: a driver took an attempt */
	/* marked PUT without ACK: acknowledged unseen by the user */
	LNET_OPF_NOACKREQ = 0x100,
	LNET_OPF_INTERNAL = 0x200,	/* made by the core: no contact gate */
	LNET_OPF_RECALLED = 0x400,	/* its link is in a pass's list of cancels, which pins it */
	/* waited for first contact: its time runs since the start */
	LNET_OPF_RESOLVED = 0x800,
	LNET_OPF_HASSLOT = 0x1000,
	LNET_OPF_MAYBE = 0x2000,	/* some attempt was perhaps delivered */
	LNET_OPF_PINNED_DST = 0x4000,	/* only to dst_pni */
	LNET_OPF_HANDLE = 0x10000,	/* carries @wire though no answer is expected */
	/* an answer that may leave over another path if the first one fails */
	LNET_OPF_ANY_PATH = 0x20000,
	LNET_OPF_ANSWERED = 0x8000,	/* the answer used the MD once */
	LNET_OPF_NOSEND = 0x80000,	/* its success is one event: that of the answer */
	LNET_OPF_TRACKED = 0x40000,	/* counted: waits for an answer, missed it */
	LNET_OPF_FORWARD = 0x100000,	/* another node's message: router.h */
	LNET_OPF_ROUTED = 0x200000,	/* some attempt left by a router */
	LNET_OPF_COPY = 0x400000,	/* @first is a copy, as @hedge always is */
	/* an operator waits for it: it ends when the last path rejects it; short pauses */
	LNET_OPF_URGENT = 0x800000,
};

/* a counted small payload: ping replies, held answers, openings */
struct lnet_copy {
	atomic_t refs;
	u32 len;
	struct lnet_frag frag;
	u8 data[];
};

struct lnet_op {
	/* at most one of: pool, peer->resolve, peer->winwait, p->defer, entry's answers */
	struct list_head link;
	struct list_head all;		/* sh->live */
	struct lnet_timer timer;	/* the earliest of deadline, attempt deadline, suspicion */
	struct list_head landings;	/* rx: REPLYs landing for this GET */
	struct list_head voided;	/* in peer->voided */
	struct lnet_att first;
	/* set when it starts */
	struct lnet_peer *peer;		/* counted */
	struct lnet_shard *sh;		/* where it lives */
	u64 deadline_ns, start_ns;
	u64 suspect_ns;			/* next look at the silence of the attempts */
	/* from here on cleared for each: pool.c */
	struct lnet_md *md;		/* PUT payload, GET sink, REPLY source; NULL with @copy */
	struct lnet_copy *copy;
	/* internal GET: where the REPLY lands; @len bytes at least */
	const struct lnet_frag *sink;
	struct lnet_evt *evt[2];	/* SEND, final; preallocated */
	/* internal ops: instead of events, [sh] held; arg in @arg */
	void (*done)(struct lnet_pass *p, struct lnet_op *op);
	void *arg;
	struct lnet_handle wire;	/* request: our name of it; answer: the handle to echo */
	/* NID asked for (header destination may be another of the peer) */
	struct lnet_nid target;
	struct lnet_ni *src_ni;		/* PINNED_NI: counted */
	struct lnet_peer_ni *dst_pni;	/* of the NID asked for: counted */
	/* a router's, to go by if it leads there: counted */
	struct lnet_peer_ni *via;
	u64 match_bits, hdr_data;
	u64 timeout_ns, first_wire_ns;
	u64 seq;			/* name, with tx grant in @wire */
	u64 tried;			/* bitmap of path ix */
	u32 portal, offset, md_off, len, mlength, target_pid;
	u32 flags;
	u32 slot;			/* unmarked requests: index in ln->slots + 1 */
	u32 rec;			/* the recorder's number of it; 0: none */
	u8 state, type, hedges, outcome, cls, nr_held, pins;
	u8 rejected;			/* LNET_ATTF_REJECTED bits of the last attempt */
	u16 tries, unsent;		/* attempts; those among them that cost no try */
	u8 wire_bits;			/* api.c: what drivers may look at without lock */
	void *op_ptr;
	struct lnet_entry *entry;	/* answers of marked requests: counted */
	struct lnet_att *hedge;		/* second attempt; NULL mostly */
};

#include "xfer/walk.h"
#include "receive/window.h"

/* ---- shards ---------------------------------------------------------------------------------- */

struct lnet_pool {			/* [sh]; refilled outside the lock */
	struct list_head free;
	u32 nr;
	u32 reserve;			/* what it was filled up to last; pool.c */
};

/* Read without the lock by who may have to refill it. */
static inline void lnet_pool_count(struct lnet_pool *pool, int by)
{
	WRITE_ONCE(pool->nr, pool->nr + by);
}

struct lnet_shard {
	spinlock_t lock;
	struct lnet *ln;
	u32 ix;
	u64 next_ns;			/* WRITE_ONCE under the lock, read by the env */
	/* shard 0: not later than any time at which its worker is wanted for more than timers */
	u64 look_ns;
	u64 now_ns;			/* latest time of a pass that left; no earlier one enters */
	struct lnet_wheel wheel;
	struct lnet_pool ops, atts, rxs, evts, entries;
	struct lnet_evt *evts_back;	/* delivered, for @evts; a stack without lock */
	/* MDs whose events a CALL pass left; leaf: nothing but the shard lock */
	struct list_head ready;
	/* shard 0: the thread that runs handlers now and looks at @ready after them; or NULL */
	const void *deliverer;
	struct list_head live;		/* all unfinished ops, in order of creation */
	struct list_head windows;	/* LRU, most recent first */
	struct list_head made;		/* the same windows, newest first */
	struct list_head window_walks;	/* struct lnet_window_walk */
	struct list_head ack_due;	/* windows with PUTs to acknowledge at the end of a pass */
	struct lnet_window **winhash;	/* allocated at the first opening */
	struct hlist_head *openers;	/* windows by NID of opener; allocated with winhash */
	/* [n]: each peer's nth window; the highest list in use has peers with the most windows */
	struct list_head ranked[LNET_WINDOWS_PER_PEER + 1];
	u32 nr_windows;
	u64 window_bytes;		/* of windows and their entries */
	/* windows by the number of their entries: window_place.c */
	struct list_head heavy[LNET_WINDOW_WEIGHTS];
	struct list_head delayed;	/* attempts held by delay rules, by time */
	struct lnet_timer delay_timer;
	/* when to look at parked requests again; shard 0; WRITE_ONCE */
	u64 park_ns;
	struct lnet_frag junk_frag;	/* where replies to recovery pings land */
	u8 junk[64];
	u64 turn;
	u64 c[LNET_NR_COUNTERS];
	struct lnet_probes probes;
	u64 copy_bytes;			/* held small answers */
	u32 nr_held;			/* entries with memory held for a retransmitted REPLY */
	/* some NI's link changed: lnet_shard_work() acts (WRITE_ONCE, any context) */
	u8 link_work;
	/* attempts in ATT_WIRE that LNET_MORE leaves to the next pass without it */
	struct list_head more;
	u32 nr_more;			/* calls that left some */
	u8 more_left;			/* there are some (READ_ONCE without the lock) */
	struct lnet_walk walk;
	u32 nr_live;			/* ops that are not free */
	u32 nr_answers;			/* of these, ACKs and REPLYs of this node */
	struct list_head stats_free;	/* blocks for paths that want one */
	u32 stats_want;			/* how many to allocate, outside the lock */
	struct lnet_trace *rec;		/* NULL: nothing is recorded */
};

#define LNET_WATCHES	16		/* further threads in handlers are not watched */

/* watch.c: a thread that runs handlers; atomic, without a lock */
struct lnet_watch {
	u64 begin_ns;			/* start of the batch of events; 0: free; bit 0: counted */
	u32 what;			/* portal << 8 | kind of the event being handled */
};

struct lnet_slot {			/* names of unmarked requests */
	struct lnet_op *op;
	u64 gen;			/* number of uses */
	u64 tag;			/* unique, in the handle; others cannot compute it */
	u32 next;			/* when free: next free slot + 1, 0: none */
};

#define LNET_NID_HASH_BITS 6		/* first size; grows */

struct lnet {
	struct lnet_env *env;
	u64 instance;			/* interface cookie */
	u32 pid;
	unsigned int nr_shards;
	struct mutex cfg_mutex;
	u8 stopping;			/* READ_ONCE; set first in lnet_destroy() */
	u8 ping_stale;			/* a link changed: the ping info is to be written anew */
	u32 cfg_gen;			/* [cfg] */
	struct lnet_tunables tun;
	const struct lnet_lnd_ops *lnds[LNET_MAX_LNDS];	/* [cfg] */
	struct list_head nis;		/* [cfg] in configuration order, loopback first */
	u32 nr_nis, next_ni_ix;
	struct lnet_ni *lo;
	struct list_head peers;		/* [cfg] + nid_lock for adding */
	u32 nr_peers;
	u64 peer_seq;			/* [nid_lock] of the last peer */
	/* peer_expiry.c: when to look for peers to forget; WRITE_ONCE */
	u64 age_ns;
	/* link_quality.c, link_damping.c: when to look at interfaces; WRITE_ONCE */
	u64 weigh_ns, flap_ns;
	u64 rules_ns;			/* rule_table.c: when rules may have ended; the same */
	struct lnet_peer *age_at;	/* [cfg] the next to look at in this walk, counted */
	u8 age_left;			/* [cfg] it met some that traffic made */
	spinlock_t nid_lock;		/* leaf */
	struct hlist_head *nids;	/* [nid_lock] 1 << nid_bits */
	u64 nid_key;			/* [const] secret key of the hash */
	u32 nid_bits, nr_nids, pni_ix;	/* @pni_ix: the last one's */
	void *md_tables;		/* md.c, match.c */
	spinlock_t slot_lock;		/* leaf */
	struct lnet_slot *slots;	/* [slot_lock] */
	u32 nr_slots, slot_free, nr_slot_free;
	u64 slot_key[2];		/* [const] secret key of the tags */
	/* stock_rules.c; @fault NULL: no rule is there; @fault_table NULL: none was ever made */
	struct lnet_fault *fault, *fault_table;
	struct lnet_udsp *udsp;		/* [cfg] udsp.c; NULL: no rule */
	spinlock_t ping_lock;		/* leaf */
	/* what a ping GET is answered with: current buffer [ping_lock] */
	struct lnet_copy *ping_info;
	struct lnet_copy *ping_less;	/* ping info without drained NIs; NULL: same list */
	u32 ping_seq;			/* WRITE_ONCE */
	struct lnet_discovery disc;
	lnet_md_t ping_md, push_md;
	struct lnet_shard *shard;	/* nr_shards */
	/* some shard's more_left, some NI's work is set; NIs, peers and their NIs not freed yet */
	atomic_t bells, ni_work, nr_counted;
	struct lnet_log log;
	struct lnet_watch watch[LNET_WATCHES];	/* watch.c */
	u32 watch_idle;			/* atomic: no call of lnet_handlers_watch() is due */
	void *control;			/* dispatch.c */
	struct lnet_router *router;	/* router.h; NULL: it never was one */
	struct lnet_routes *routes;	/* route_config.c */
	struct lnet_recorder *recorder;	/* [cfg] ring.c; NULL: there was none */
};

#include "model/parts.h"

#endif
