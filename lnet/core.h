/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The structs inside an instance, who protects what, and what each file of the core offers the others. */
#ifndef LNET_CORE_H
#define LNET_CORE_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include <lnet/wire.h>

/*
 * Locks, outermost first: ln->cfg_mutex (sleeps) > shard (one; all in index order to publish a configuration) > leaf
 * (one at a time: ln->nid_lock, portal lock, MD bucket lock, fault lock). No call out of the core, no allocation and no copy of more than
 * a few KiB under a shard or leaf lock. "[sh]" below: protected by the lock of the shard named; "[cfg]": written under
 * cfg_mutex and all shard locks, read under either; "[const]": set before the object is published.
 */

#define LNET_MAX_NIS		128	/* per instance, loopback included */
#define LNET_MAX_PATHS		64	/* per peer: bits of op->tried */
#define LNET_HEALTH_MAX		1000
#define LNET_PASS_BURST		64	/* messages per lock hold */
#define LNET_EVENTS_PER_PASS	64
/* To a peer interface that does not take them: twice the largest window. */
#define LNET_ANSWERS_MAX	32768
#define LNET_POOL_LOW		64	/* pools are refilled to this outside the lock */
#define LNET_MAX_SHARDS		64
#define LNET_MAX_LNDS		8

/* ---- tables -------------------------------------------------------------------------------------------------- */

struct lnet_tunables {			/* read with READ_ONCE; written under cfg_mutex by lnet_tunable_set() */
#define TUNABLE(name, unit, def, min, max, stock, text) u64 name;
#include "tunables.def"
#undef TUNABLE
};

enum lnet_counter {			/* of an instance, summed over shards */
#define COUNTER(name, text) LNET_C_##name,
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text)
#include "counters.def"
	LNET_NR_COUNTERS
};
enum lnet_ni_counter {
#undef COUNTER
#undef NI_COUNTER
#define COUNTER(name, text)
#define NI_COUNTER(name, text) LNET_NIC_##name,
#include "counters.def"
	LNET_NR_NI_COUNTERS
};
enum lnet_pni_counter {
#undef NI_COUNTER
#undef PNI_COUNTER
#define NI_COUNTER(name, text)
#define PNI_COUNTER(name, text) LNET_PNIC_##name,
#include "counters.def"
	LNET_NR_PNI_COUNTERS
};
#undef COUNTER
#undef NI_COUNTER
#undef PNI_COUNTER

enum lnet_op_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "states/op.def"
#undef STATE
#undef EDGE
	LNET_NR_OP_STATES
};
enum lnet_att_state {
#define ASTATE(s, pc, nc, drv, mem) s,
#define AEDGE(a, b)
#include "states/att.def"
#undef ASTATE
#undef AEDGE
	LNET_NR_ATT_STATES
};
enum lnet_rx_state {
#define STATE(s, pc, buf) s,
#define EDGE(a, b)
#include "states/rx.def"
#undef STATE
#undef EDGE
	LNET_NR_RX_STATES
};
enum lnet_ni_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "states/ni.def"
#undef STATE
#undef EDGE
	LNET_NR_NI_STATES
};
enum lnet_contact_state {		/* what we know of a peer: ping once, open once (exactly-once.md rule 2) */
#define STATE(s) s,
#define EDGE(a, b)
#include "states/contact.def"
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

/* ---- timers: one hierarchical wheel per shard, tick 2^17 ns ----------------------------------------------------- */

enum lnet_timer_kind { LNET_TIMER_OP, LNET_TIMER_PATH, LNET_TIMER_PEER, LNET_TIMER_WINDOW, LNET_TIMER_SHARD, LNET_TIMER_DELAY };
struct lnet_timer {
	struct list_head link;		/* in a slot; empty when idle */
	u64 when_ns;
	u8 kind;
};
#define LNET_WHEEL_LEVELS	5
#define LNET_WHEEL_SLOTS	64
#define LNET_TICK_SHIFT		17
struct lnet_wheel {
	u64 now_tick;
	u64 soonest_ns;			/* of the times set since lnet_wheel_next_ns() was asked; U64_MAX: none */
	u32 nr;
	u64 used[LNET_WHEEL_LEVELS];	/* bitmap of non-empty slots */
	struct list_head slot[LNET_WHEEL_LEVELS][LNET_WHEEL_SLOTS];
};
/* timer.c, all [sh] */
void lnet_wheel_init(struct lnet_wheel *w, u64 now_ns);
void lnet_timer_init(struct lnet_timer *t, enum lnet_timer_kind kind);
void lnet_timer_set(struct lnet_wheel *w, struct lnet_timer *t, u64 when_ns);	/* moves it if armed */
void lnet_timer_cancel(struct lnet_wheel *w, struct lnet_timer *t);
/* Moves what is due to @due in order of slots, then insertion; stops after the slot that reaches @max. The caller takes each off by lnet_timer_fired(). */
unsigned int lnet_wheel_advance(struct lnet_wheel *w, u64 now_ns, struct list_head *due, unsigned int max);
void lnet_timer_fired(struct lnet_wheel *w, struct lnet_timer *t);
u64 lnet_wheel_next_ns(struct lnet_wheel *w);	/* not later than the first expiry; U64_MAX if empty */

/* ---- events ---------------------------------------------------------------------------------------------------- */

struct lnet_evt {			/* an event waiting for its handler; pool per shard */
	struct list_head link;		/* free list, p->posts or md->done */
	struct lnet_md *md;		/* in p->posts */
	bool last;			/* the operation's reference goes with it */
	struct lnet_event ev;
};

/* ---- memory descriptors, match entries, portals: md.c and match.c ------------------------------------------------ */

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
	void (*core_handler)(struct lnet_pass *p, void *arg, const struct lnet_event *ev);	/* internal MDs: pings */
	u32 nr_frags;
	struct lnet_frag one;
	struct lnet_frag *frags;	/* &one or an allocated copy */
};

/* md.c. "op use" = one operation attached to the MD: costs one of the threshold, holds one ref until lnet_md_post(last). */
struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, int *err);	/* for put/get: active, not attached; takes threshold and ref */
bool lnet_md_use_again(struct lnet_md *md);	/* an ACK or REPLY arrived for an op that holds a ref: takes threshold only; false if aborted or exhausted */
void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md);	/* undo of lnet_md_use_bound when the op was never started */
void lnet_md_hold(struct lnet_md *md);		/* a plain ref, e.g. of a held answer */
void lnet_md_release(struct lnet_pass *p, struct lnet_md *md);
void lnet_md_buf(const struct lnet_md *md, u32 offset, u32 len, struct lnet_buf *buf);
bool lnet_md_aborted(const struct lnet_md *md);
/* Queue @e for the MD's handler (in order); @last: the op's ref goes back with it, and if that was the last of an unlinked MD, e->ev.unlinked is set.
 * status 0 becomes -ETIMEDOUT if the MD was aborted by lnet_md_unlink(). Any lock of a shard may be held. */
void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last);
/* [sh] Called before the shard is unlocked, as events of one MD come in the order in which shards were held: what was posted under it. */
void lnet_md_posts(struct lnet_pass *p);
/* Called at the end of DRIVER and WORKER passes, no lock held: runs handlers of p->ready; at most LNET_EVENTS_PER_PASS, the rest goes to the shard's ready list
 * and the env is kicked. CALL passes: all to the shard. */
void lnet_md_deliver(struct lnet_pass *p);
int lnet_md_tables_init(struct lnet *ln);
void lnet_md_tables_fini(struct lnet *ln);	/* after all ops ended: unlinks and frees everything, no events */
/* Unlinking gives up the requests that use the MD (rx.c/tx.c look at lnet_md_aborted()); md.c calls this after marking, no lock held: */
void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md);	/* tx.c */

/* match.c. Decide where a PUT or GET goes: uses rx->{type,portal,match_bits,rlength,offset,src_pid}, @initiator (primary NID of the peer).
 * LAND: rx->md (ref taken, threshold used), rx->offset, rx->mlength set. SKIP: *why = LNET_NO_MATCH or LNET_TOO_LONG. LATER: parked on the portal (rx->link). */
enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_nid *initiator, enum lnet_outcome *why);
/* Take a parked rx off its portal; false if it is no longer parked (it was matched meanwhile). */
bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx);
/* Drop what is parked since before @now_ns - T (calls lnet_rx_matched with LNET_SKIP). Returns when to come again (U64_MAX: nothing parked). No lock held. */
u64 lnet_match_expire(struct lnet_pass *p);
void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni);	/* drops what is parked from an NI (NULL: all) */
/* rx.c: a parked rx got its verdict (LAND with md, offset, mlength set; SKIP with @why). No lock held. */
void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v, enum lnet_outcome why);

/* ---- NI ---------------------------------------------------------------------------------------------------------- */

struct lnet_ni_shard {			/* [sh] */
	s32 credits, min_credits;	/* negative: -n waiters */
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_NI */
	u32 nr_wait;			/* of them */
	u32 holds;			/* attempts in WIRE/POSTED, rx in LAND */
	u64 turn;			/* round robin: lower was used longer ago */
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
	u32 ix;				/* small number unique in the instance */
	atomic_t refs;
	atomic_t health;		/* 0..1000 */
	atomic_t work;			/* lnet_ni_kick() */
	u8 state;			/* enum lnet_ni_state [cfg] */
	u8 fatal;			/* link down or address gone; written by lnet_ni_link(), READ_ONCE */
	u8 link_seen;			/* what the worker has acted on */
	u8 fault_down;			/* dbg hook: interface down by a fault rule */
	u8 low;				/* health fell to 0 and was not 1000 since; announced as down. health.c, READ_ONCE */
	u32 link_speed;			/* Mbit/s, 0 unknown */
	s32 dev_cpt;
	s32 peer_timeout, peer_credits, peer_buffer_credits, credits;
	u32 conns_per_peer;
	s32 tos;
	u32 nr_down, nr_up;		/* stt-020/025 */
	u64 ping_count, next_ping_ns;
	struct lnet_ni_shard sh[];	/* nr_shards */
};

/* ---- peers ------------------------------------------------------------------------------------------------------- */

#define LNET_HIST_BUCKETS 96		/* log2 with 2 bits of mantissa, 512 ns to 6.4 s: see stats.c */
struct lnet_hist {
	u64 count, sum_ns, min_ns, max_ns;
	u32 bucket[LNET_HIST_BUCKETS];
};
struct lnet_path_stats {		/* allocated at first traffic */
	struct list_head link;		/* in sh->stats_free until a path has it */
	struct lnet_hist send, trans;	/* hand-over to driver done; request to answer */
	struct lnet_hist put_egress, get_rtt, put_ack;
};

struct lnet_path {			/* [sh of its peer] one pair (local NI, remote NID) */
	struct list_head link;		/* in pni->paths */
	struct lnet_ni *ni;		/* counted */
	struct lnet_peer_ni *pni;
	u32 ix;				/* bit in op->tried; may be shared beyond LNET_MAX_PATHS */
	struct list_head asked;		/* attempts in ATT_ASKED, in posting order */
	u64 srtt_ns, rttvar_ns;		/* 0: not measured */
	u64 evidence_ns;		/* last proof of life */
	u64 suspect_ns;			/* since when suspect; 0: not */
	u64 down_ns;			/* since when the path fails; 0: works */
	struct lnet_timer timer;	/* recovery */
	struct list_head reset;		/* in p->resets, taken off under the shard lock: until then the path is not idle */
	u64 recover_ns;			/* interval of the recovery ping now */
	u32 nr_wire;			/* attempts in WIRE or POSTED */
	u32 lost_epoch;			/* what was posted under this epoch or before is lost */
	u8 lost_valid;
	u8 recovering;			/* health.c: 0 not, else slow or quick */
	u8 pinging;			/* recovery pings under way */
	struct lnet_path_stats *stats;	/* NULL until first traffic */
};

struct lnet_peer_ni {
	struct hlist_node hash;		/* [nid_lock] in ln->nids */
	struct list_head link;		/* [cfg] in peer->pnis */
	struct lnet *ln;
	struct lnet_peer *peer;		/* [cfg], [sh] */
	struct lnet_shard *sh;		/* re-checked after locking, as peers merge */
	struct lnet_nid nid;
	u32 net;
	atomic_t refs;
	/* [sh] from here */
	u16 health;
	u8 deleted, sticky_set;
	s32 credits, min_credits, rtr_credits, min_rtr_credits;
	u32 max_credits;
	struct list_head wait[LNET_NR_CLASSES];	/* attempts in ATT_WAIT_PEER */
	u32 nr_wait;
	atomic_t nr_answers;		/* ACKs and REPLYs to it, started and not done */
	struct list_head paths;
	u32 not_own_gen;		/* configuration in which it was seen not to be our own NID */
	struct lnet_ni *sticky;		/* NI of a peer that is not multi-rail */
	u64 turn;
	u64 last_rx_ns;
	u64 ping_count, next_ping_ns;
	u64 *c;				/* LNET_NR_PNI_COUNTERS, allocated at creation */
};

struct lnet_txwin {			/* our requests to a peer that named us a grant */
	u64 grant;			/* 0: none */
	u64 rx_instance;		/* the receiver's */
	u64 next, oldest;		/* sequences: next to draw, oldest unfinished */
	u32 W, cap;			/* cap: size of @op, power of two */
	u64 told;			/* floor the receiver was told */
	struct lnet_op **op;		/* at seq mod cap; NULL finished; starts as @few */
	struct lnet_op *few[8];
};

struct lnet_peer {
	struct list_head link;		/* [cfg] in ln->peers */
	struct lnet *ln;
	struct lnet_shard *sh;
	atomic_t refs;
	struct lnet_nid primary;	/* [cfg] */
	u8 configured, mr, multi_set, deleted;	/* [cfg] */
	u32 nr_pnis;
	struct list_head pnis;		/* [cfg] */
	/* [sh] from here */
	u64 paths_used;			/* bitmap of path ix */
	u32 nr_paths;
	u8 contact;			/* enum lnet_contact_state */
	u8 contact_busy;
	u32 contact_fails;
	u32 features;
	u64 void_until_ns;		/* a grant became void lately: look for its requests the slow way */
	u64 contact_next_ns;		/* not before: next ping of a peer that did not answer */
	struct lnet_timer timer;	/* confirm and contact */
	u64 confirm_due_ns;
	u8 plain_before;		/* requests may go unmarked while it is asked again */
	struct lnet_frag sink_frag;
	u8 sink[64];			/* start of its ping info, its answer to our opening */
	struct lnet_txwin tx;
	struct list_head resolve;	/* ops in OP_RESOLVE */
	struct list_head winwait;	/* ops whose name does not fit into the window yet (OP_TRY, no attempt) */
	u64 turn;
	s64 hedge_tokens;		/* thousandths short of a full bucket, <= 0: a new peer starts full */
};

/* ---- operations ---------------------------------------------------------------------------------------------------- */

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
	LNET_OPF_NOACKREQ = 0x100,	/* marked PUT without ACK: acknowledged unseen by the user */
	LNET_OPF_INTERNAL = 0x200,	/* made by the core: no contact gate */
	LNET_OPF_RECALLED = 0x400,	/* its link is in a pass's list of cancels, which pins it */
	LNET_OPF_RESOLVED = 0x800,	/* waited for first contact: its time runs since the start */
	LNET_OPF_HASSLOT = 0x1000,
	LNET_OPF_MAYBE = 0x2000,	/* some attempt was perhaps delivered */
	LNET_OPF_PINNED_DST = 0x4000,	/* only to dst_pni */
	LNET_OPF_HANDLE = 0x10000,	/* carries @wire though no answer is expected */
	LNET_OPF_ANY_PATH = 0x20000,	/* an answer that may leave over another path if the first one fails */
	LNET_OPF_ANSWERED = 0x8000,	/* the answer used the MD once */
};

struct lnet_copy {			/* a counted small payload: ping replies, held answers, openings */
	atomic_t refs;
	u32 len;
	struct lnet_frag frag;
	u8 data[];
};

struct lnet_op {
	struct list_head link;		/* at most one of: pool, peer->resolve, peer->winwait, p->defer, entry's answers */
	struct list_head all;		/* sh->live */
	struct lnet_timer timer;	/* the earliest of deadline, attempt deadline, suspicion */
	struct lnet_peer *peer;		/* counted */
	struct lnet_shard *sh;		/* where it lives */
	struct lnet_md *md;		/* PUT payload, GET sink, REPLY source; NULL with @copy */
	struct lnet_copy *copy;
	const struct lnet_frag *sink;	/* internal GET: where the REPLY lands; @len bytes at least */
	struct lnet_evt *evt[2];	/* SEND, final; preallocated */
	void (*done)(struct lnet_pass *p, struct lnet_op *op);	/* internal ops: instead of events, [sh] held; arg in @arg */
	void *arg;
	struct lnet_handle wire;	/* request: our name of it; answer: the handle to echo */
	struct lnet_nid target;		/* NID asked for (header destination may be another of the peer) */
	struct lnet_ni *src_ni;		/* PINNED_NI: counted */
	struct lnet_peer_ni *dst_pni;	/* of the NID asked for: counted */
	u64 match_bits, hdr_data;
	u64 deadline_ns, timeout_ns, start_ns, first_wire_ns;
	u64 seq;			/* name, with tx grant in @wire */
	u64 tried;			/* bitmap of path ix */
	u32 portal, offset, md_off, len, mlength, target_pid;
	u32 flags;
	u32 slot;			/* unmarked requests: index in ln->slots + 1 */
	u8 state, type, hedges, outcome, cls, nr_held, pins;
	u16 tries;
	u8 wire_bits;			/* api.c: what drivers may look at without lock */
	void *op_ptr;
	struct lnet_entry *entry;	/* answers of marked requests: counted */
	struct list_head landings;	/* rx: REPLYs landing for this GET */
	u64 suspect_ns;			/* next look at the silence of the attempts */
	struct lnet_att *hedge;		/* second attempt; NULL mostly */
	struct lnet_att first;
};

/* ---- receiving: rx.c, plain.c ---------------------------------------------------------------------------------- */
void lnet_rx_set_state(struct lnet_rx *rx, enum lnet_rx_state state);	/* the only writer */
void lnet_rx_free(struct lnet_pass *p, struct lnet_rx *rx);
bool lnet_rx_reserve(struct lnet_pass *p, struct lnet_rx *rx);	/* [sh] its event; false: no memory */
void lnet_rx_drop(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome why);	/* counts a request that is not taken */
void lnet_rx_land_md(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_md *md, u32 offset, u32 len);	/* [sh] sets into, want, state */
struct lnet_evt *lnet_rx_event(struct lnet_rx *rx, enum lnet_event_kind kind);	/* filled from @rx; taken from it */
/* An ACK or REPLY to @rx over the path it came by; NULL: no memory. [sh] The caller fills the rest and calls lnet_op_defer(). */
struct lnet_op *lnet_answer(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_op_type type);
void lnet_op_defer(struct lnet_pass *p, struct lnet_op *op);	/* starts it at pass end */
void lnet_initiator(struct lnet *ln, struct lnet_rx *rx, struct lnet_nid *initiator);
/* ---- receiver's windows: once.c, window.c -------------------------------------------------------------------------------------- */

enum lnet_entry_state { ENTRY_TAKEN, ENTRY_MATCHED, ENTRY_FINAL };
struct lnet_entry {			/* [sh of its window] one marked request: exactly-once.md rule 7 */
	u64 seq;
	u32 refs;			/* the window, each rx, each answer under way */
	u8 state, type, noack, reason;	/* reason: enum lnet_refusal of a final entry, 0: done */
	u8 acked, confirmed, detached, gone;
	u8 nr_answers;			/* under way */
	u32 mlength, offset;
	struct lnet_shard *sh;
	struct lnet_md *md;		/* PUT: until landed; GET: until confirmed. The operation's reference */
	struct lnet_evt *evt;		/* PUT or GET event, filled at the match */
	struct lnet_copy *copy;		/* GET: small answer */
	struct list_head rxs;		/* waiting or landing */
	u64 since_ns;			/* last change */
};
struct lnet_window {			/* [sh that the grant names] */
	struct list_head link;		/* LRU in the shard */
	struct lnet_window *hash_next;
	struct lnet_shard *sh;
	u64 grant, instance, nonce;
	u64 high, floor;		/* highest sequence seen; below floor all is finished at the sender */
	u32 W, cap, nr_unacked;
	u32 busy;			/* entries short of final, and held answers */
	struct lnet_entry **entry;	/* at seq mod cap */
	u64 last_ns, hold_ns, ack_due_ns;
	struct lnet_peer_ni *from;	/* where it was heard last; counted */
	struct lnet_timer timer;
};
#define LNET_WINDOW_HASH 64
u64 lnet_grant_shard(const struct lnet *ln, u64 grant);
struct lnet_window *lnet_window_find(struct lnet_shard *sh, u64 grant);	/* [sh] */
struct lnet_window *lnet_window_open(struct lnet_pass *p, struct lnet_rx *rx, u32 hold_ms);	/* once per (instance, nonce); may drop and retake the lock */
bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **w, u64 grant, u64 seq);	/* room for @seq; may drop and retake the lock */
void lnet_window_floor(struct lnet_pass *p, struct lnet_window *w, u64 floor);	/* [sh] all below is confirmed */
void lnet_window_busy(struct lnet_pass *p, struct lnet_window *w);	/* [sh] arms its timer */
void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e);	/* [sh] NULL is fine */
struct lnet_entry *lnet_entry_take(struct lnet_shard *sh);	/* [sh] zeroed, from those kept; NULL: none */
void lnet_entry_confirmed(struct lnet_pass *p, struct lnet_entry *e);	/* [sh] the sender needs the answer no more */
void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e);	/* [sh] gives the event when nobody needs the memory */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md);	/* held answers of @md are gone (NULL: shutdown, everything is given up); no lock held */
enum lnet_verdict lnet_once_begin(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);	/* [sh] may change shard */
void lnet_once_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v, enum lnet_outcome why);	/* no lock held */
void lnet_once_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
bool lnet_once_gone(struct lnet_pass *p, struct lnet_rx *rx);
enum lnet_verdict lnet_once_open(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
enum lnet_verdict lnet_once_confirm(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);
#define LNET_GRANT_SIZE 32	/* REPLY to an opening */
void lnet_grant_encode(u8 *buf, u32 W, u64 instance, u64 grant);	/* grant.c */
int lnet_grant_decode(const u8 *buf, u32 len, u32 *W, u64 *instance, u64 *grant);	/* -EPROTO */
void lnet_once_refused(struct lnet_pass *p, struct lnet_op *op, u32 reason, struct lnet_path *via);	/* [sh] sender: a refusal came */

/* ---- shards --------------------------------------------------------------------------------------------------------- */

struct lnet_pool {			/* [sh]; refilled outside the lock */
	struct list_head free;
	u32 nr;
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
	struct lnet_wheel wheel;
	struct lnet_pool ops, atts, rxs, evts, entries;
	struct list_head ready;		/* MDs whose events a CALL pass left; leaf: nothing but the shard lock */
	struct list_head live;		/* all unfinished ops, in order of creation */
	struct list_head windows;	/* LRU, most recent first */
	struct lnet_window **winhash;	/* allocated at the first opening */
	u32 nr_windows;
	struct list_head delayed;	/* attempts held by delay rules, by time */
	struct lnet_timer delay_timer;
	u64 park_ns;			/* when to look at parked requests again; shard 0; WRITE_ONCE */
	struct lnet_frag junk_frag;	/* where replies to recovery pings land */
	u8 junk[64];
	u64 turn;
	u64 c[LNET_NR_COUNTERS];
	u64 recovery_tokens_ns;		/* pacing of recovery pings */
	u64 copy_bytes;			/* held small answers */
	u8 link_work;			/* some NI's link changed: lnet_shard_work() acts (WRITE_ONCE, any context) */
	struct list_head more;		/* attempts in ATT_WIRE that LNET_MORE leaves to the next pass without it */
	u32 nr_more;			/* calls that left some */
	u8 more_left;			/* there are some (READ_ONCE without the lock) */
	u32 nr_live;			/* ops that are not free */
	struct list_head stats_free;	/* blocks for paths that want one */
	u32 stats_want;			/* how many to allocate, outside the lock */
};

struct lnet_slot {			/* names of unmarked requests */
	struct lnet_op *op;
	u64 gen;			/* of the last user; a handle is never used twice */
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
	spinlock_t nid_lock;		/* leaf */
	struct hlist_head *nids;	/* [nid_lock] 1 << nid_bits */
	u32 nid_bits, nr_nids;
	void *md_tables;		/* md.c, match.c */
	spinlock_t slot_lock;		/* leaf */
	struct lnet_slot *slots;	/* [slot_lock] */
	u32 nr_slots, slot_free, nr_slot_free;
	struct lnet_fault *fault;	/* fault.c; NULL: no rule was ever made */
	spinlock_t ping_lock;		/* leaf */
	struct lnet_copy *ping_info;	/* what a ping GET is answered with: current buffer [ping_lock] */
	u32 ping_seq;
	lnet_md_t ping_md, push_md;
	struct lnet_shard *shard;	/* nr_shards */
	atomic_t bells, ni_work;	/* some shard's more_left, some NI's work is set */
	void *control;			/* control.c */
};

/* ---- shard.c --------------------------------------------------------------------------------------------------------- */
void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh);		/* locks @sh, dropping another one held */
void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni);	/* re-checks as it may move */
void lnet_leave(struct lnet_pass *p);
void lnet_park_by(struct lnet *ln, u64 when_ns);	/* any lock may be held */
int lnet_shards_init(struct lnet *ln);
void lnet_shards_fini(struct lnet *ln);
void lnet_shards_lock_all(struct lnet *ln);	/* publish a configuration; cfg_mutex held */
void lnet_shards_unlock_all(struct lnet *ln);
struct lnet_op *lnet_op_new(void);			/* zeroed, lists and first attempt set up; outside locks; NULL: no memory */
void lnet_op_free(struct lnet_op *op);			/* frees it, its events and its copy; NULL is fine */
void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op);	/* [sh] into the shard's reserve, with its events */
struct lnet_evt *lnet_evt_take(struct lnet_shard *sh);	/* [sh] NULL: empty */
void lnet_evt_recycle(struct lnet_pass *p, struct lnet_evt *e);	/* any lock or none: kept when @p next leaves a shard */
void lnet_rx_pool_fini(struct lnet_shard *sh);	/* rx.c */
struct lnet_op *lnet_op_take(struct lnet_shard *sh);	/* [sh] from the shard's reserve (refilled by lnet_enter()); NULL: empty */
struct lnet_att *lnet_att_take(struct lnet_shard *sh);	/* [sh] for a hedge; NULL: empty */
struct lnet_evt *lnet_evt_new(struct lnet *ln);		/* kmalloc; any context that may sleep */
void lnet_evt_free(struct lnet_evt *e);			/* kfree */
struct lnet_copy *lnet_copy_new(u32 len);		/* one reference; outside locks */
void lnet_copy_get(struct lnet_copy *c);
void lnet_copy_put(struct lnet_copy *c);		/* NULL is fine */
#define lnet_count(sh, name) ((sh)->c[LNET_C_##name]++)
#define lnet_count_add(sh, name, n) ((sh)->c[LNET_C_##name] += (n))

/* ---- instance.c -------------------------------------------------------------------------------------------------------- */
/* cfg_mutex held. Until done() or @limit_ns passed (U64_MAX: no limit): does the work of all shards in between, as the caller may be the only thread,
 * and sleeps. Ends early when the clock stands still (simulator), where waiting brings nothing. What done() said last. */
bool lnet_cfg_wait(struct lnet *ln, bool (*done)(struct lnet *ln, void *arg), void *arg, u64 limit_ns);

/* ---- net.c ------------------------------------------------------------------------------------------------------------ */
struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid);	/* shard or cfg_mutex held; not counted */
void lnet_ni_get(struct lnet_ni *ni);
bool lnet_ni_usable(const struct lnet_ni *ni);		/* ACTIVE */
void lnet_ni_link_work(struct lnet_pass *p);		/* worker: acts on lnet_ni_link() records */
void lnet_ni_set_state(struct lnet_ni *ni, enum lnet_ni_state to);	/* the only writer; all shard locks held once listed */
int lnet_net_init(struct lnet *ln);			/* loopback */
void lnet_net_stop(struct lnet *ln);			/* drains and stops all NIs, loopback last */
void lnet_net_fini(struct lnet *ln);

/* ---- peer.c ------------------------------------------------------------------------------------------------------------- */
struct lnet_peer_ni *lnet_peer_ni_lookup(struct lnet *ln, const struct lnet_nid *nid);	/* counted or NULL; any context */
struct lnet_path *lnet_path_find(const struct lnet_peer_ni *pni, const struct lnet_ni *ni);	/* [sh] NULL if none */
int lnet_paths_for_ni(struct lnet *ln, struct lnet_ni *ni);	/* config: makes the paths of a new NI. 0, -ENOMEM */
bool lnet_paths_drop_ni(struct lnet *ln, struct lnet_ni *ni);	/* config: removes those that nothing is under way on; true: none is left */
bool lnet_paths_idle(struct lnet *ln, struct lnet_ni *ni);	/* config: nothing is under way on any of them */
void lnet_paths_ni_up(struct lnet_pass *p, struct lnet_ni *ni);	/* no lock held: the link came up, recovery may hurry */
/* All peers in turn, from @prev NULL: counted, puts @prev. No shard lock or nid_lock held; skips none only while cfg_mutex is held. */
struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev);
void lnet_peer_get(struct lnet_peer *peer);
void lnet_peer_put(struct lnet_peer *peer);
int lnet_peers_init(struct lnet *ln);
void lnet_peers_fini(struct lnet *ln);			/* all ops ended, all drivers stopped */
bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid);	/* shard or cfg held */

/* ---- select.c ------------------------------------------------------------------------------------------------------------ */
#define PATH_RANKS(RANK) RANK(link_up) RANK(responsive) RANK(health) RANK(priority) RANK(preferred) RANK(numa) RANK(credits) RANK(turn)
enum lnet_path_rank {
#define RANK(name) LNET_RANK_##name,
	PATH_RANKS(RANK)
#undef RANK
	LNET_NR_PATH_RANKS
};
extern const char *const lnet_path_rank_names[LNET_NR_PATH_RANKS];
struct lnet_cand {
	struct lnet_path *path;
	s64 rank[LNET_NR_PATH_RANKS];	/* more is better */
};
struct lnet_select {			/* question and answer */
	struct lnet_peer *peer;
	struct lnet_ni *ni;		/* only this NI, or NULL */
	struct lnet_peer_ni *pni;	/* only this peer NI, or NULL */
	u64 tried;			/* paths to avoid while another is left */
	u64 exclude;			/* paths never to take (a hedge: the one that is suspect) */
	s32 cpt;			/* of the memory; -1 unknown */
	u8 request;			/* PUT or GET: sets the sticky NI of a peer that is not multi-rail */
	/* answer */
	u8 decided_by;			/* enum lnet_path_rank; LNET_NR_PATH_RANKS: only one candidate */
	u8 nr_cand;
};
/* [sh] NULL: no path (no common net, all NIs gone). Bumps the turn counters of what it picks. */
struct lnet_path *lnet_select(struct lnet_shard *sh, struct lnet_select *s);
/* The rule alone, for tests and explain: index of the best, *decider the rank that decided. @range: health range (> 1000: health is off). */
unsigned int lnet_rank_best(const struct lnet_cand *c, unsigned int nr, u64 range, unsigned int *decider);

/* ---- health.c ---------------------------------------------------------------------------------------------------------------- */
void lnet_health_fail(struct lnet_shard *sh, struct lnet_path *path, enum lnet_outcome how);	/* [sh] blame, counters, recovery */
void lnet_health_ok(struct lnet_shard *sh, struct lnet_path *path, bool from_peer);	/* [sh] success; from_peer: the far side answered */
void lnet_path_suspect(struct lnet_pass *p, struct lnet_path *path);	/* [sh] marks, starts a pinned probe at once */
void lnet_path_alive(struct lnet_shard *sh, struct lnet_path *path, u64 now_ns, u64 rtt_ns);	/* [sh] evidence: clears suspicion, RTT estimate */
u64 lnet_path_suspect_after(const struct lnet *ln, const struct lnet_path *path);	/* ns of silence: max(floor, srtt + 4 var ...) */
void lnet_path_timer(struct lnet_pass *p, struct lnet_path *path);	/* [sh] recovery ping due; sends by lnet_ping_path() */
void lnet_path_ping_done(struct lnet_pass *p, struct lnet_path *path, int status, u64 rtt_ns);	/* [sh] */
/* [sh] Start recovery, or hasten it (the link came up): a ping goes as soon as the budget allows. Nothing if the path is whole. */
void lnet_path_recover(struct lnet_shard *sh, struct lnet_path *path);
bool lnet_path_whole(const struct lnet_path *path);	/* [sh] both ends at 1000, neither suspect nor down */
bool lnet_ni_up(const struct lnet_ni *ni);	/* the status that ping infos announce */
/* Calls @fn for each peer with its shard locked, one after the other. cfg_mutex held, @p holds no lock before and none after. */
void lnet_peers_walk(struct lnet_pass *p, void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg);
/* 0, -ENOENT. @value is brought into 0..1000. */
int lnet_health_set_ni(struct lnet *ln, const struct lnet_nid *nid, int value);		/* config; any NID: all */
int lnet_health_set_peer(struct lnet *ln, const struct lnet_nid *nid, int value);
bool lnet_hedge_allowed(struct lnet_shard *sh, struct lnet_peer *peer);	/* [sh] takes from the retry budget */
void lnet_hedge_earn(struct lnet_shard *sh, struct lnet_peer *peer);	/* [sh] one success */

/* ---- stats.c ------------------------------------------------------------------------------------------------------------------- */
void lnet_hist_add(struct lnet_hist *h, u64 ns);
u64 lnet_hist_quantile(const struct lnet_hist *h, unsigned int permille);	/* upper edge of the bucket, ns */
u64 lnet_stat_sum(const struct lnet *ln, enum lnet_counter c);
void lnet_stats_reset(struct lnet *ln);
/* ---- tunables.c: names are ours or stock's ------------------------------------------------------------------------------------- */
enum lnet_unit { LNET_UNIT_N, LNET_UNIT_NS, LNET_UNIT_PT, LNET_UNIT_B, LNET_UNIT_E };
struct lnet_tunable_info;
void lnet_tunables_init(struct lnet_tunables *tun);	/* defaults */
const struct lnet_tunable_info *lnet_tunable_find(const char *name);	/* NULL: none */
u64 lnet_tunable_get(const struct lnet *ln, const struct lnet_tunable_info *info);
/* `5`, `0.3`, `300ms`, `10%`, `64k`, `all` by unit; the range is lnet_tunable_set()'s to check. -ENOENT, -EINVAL (no such value), -ERANGE (negative, too large for u64) */
struct lnet_tunable_info { const char *name, *stock, *text; u8 unit; u64 def, min, max; u16 off; };
extern const struct lnet_tunable_info lnet_tunable_table[];
extern const unsigned int lnet_nr_tunables;
/* ---- stats.c, continued */
extern const char *const lnet_counter_names[LNET_NR_COUNTERS];
extern const char *const lnet_ni_counter_names[LNET_NR_NI_COUNTERS];
extern const char *const lnet_pni_counter_names[LNET_NR_PNI_COUNTERS];

/* ---- fault.c: rules of behaviour.md section 7 and the dbg-* hooks ------------------------------------------------------------- */
struct lnet_fault_rule {
	u8 delay;			/* else drop */
	struct lnet_nid src, dst, local;	/* any; or 255.255.255.255@net: any on the net */
	u64 portal_mask;
	u32 msg_mask;			/* bit 1 << type; 0: all */
	u32 rate, interval_s;		/* exactly one non-zero */
	u64 latency_ns;			/* delay */
	u32 health_mask;		/* drop: outcomes to inject at the sender's driver seam, bit 1 << number */
	u8 random, drop_all;
	u8 when;			/* dbg hooks: 0 before posting, 1 after posting (bytes are lost), 2 after completion (answer is lost) */
	u64 nr_match, nr_hit, nr_by_type[4];
};
/* config, may sleep. 0; -EINVAL; -ENOMEM; -ENOSPC */
int lnet_fault_add(struct lnet *ln, const struct lnet_fault_rule *rule);
int lnet_fault_del(struct lnet *ln, bool delay, const struct lnet_nid *src, const struct lnet_nid *dst);	/* number removed */
int lnet_fault_get(struct lnet *ln, bool delay, unsigned int pos, struct lnet_fault_rule *rule);	/* -ENOENT past the end */
void lnet_fault_reset(struct lnet *ln, bool delay);
void lnet_fault_fini(struct lnet *ln);
bool lnet_fault_rx(struct lnet_pass *p, const struct lnet_ni *ni, const struct lnet_hdr *hdr);	/* true: drop silently on receive */
u64 lnet_fault_delay(struct lnet_pass *p, const struct lnet_hdr *hdr);	/* ns to hold back a message to be sent, 0: none */
u64 lnet_fault_count(const struct lnet *ln, bool delay);	/* messages failed, or delayed, while being sent; since the last lnet_fault_count_reset() */
void lnet_fault_count_reset(struct lnet *ln);
/* dbg-025/030: hold an interface down (as if its link were); 0, -ENOENT */
int lnet_fault_ni_down(struct lnet *ln, const struct lnet_nid *nid, bool down);

/* ---- tx.c: operations ------------------------------------------------------------------------------------------------------------ */
void lnet_op_start(struct lnet_pass *p, struct lnet_op *op);		/* [sh of op->peer] OP_NEW -> ... */
void lnet_op_set_state(struct lnet_op *op, enum lnet_op_state state);	/* the only writer */
void lnet_op_release(struct lnet_pass *p, struct lnet_op *op);		/* contact made: OP_RESOLVE -> OP_TRY */
void lnet_op_finish(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how);	/* outcome known -> OP_RECALL, OP_DONE */
void lnet_op_timer(struct lnet_pass *p, struct lnet_op *op);
void lnet_op_answered(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via);	/* the answer came */
void lnet_att_given(struct lnet_pass *p, struct list_head *given);	/* pass end: what drivers posted or gave back */
void lnet_op_fail_all(struct lnet_pass *p, struct lnet_peer *peer, enum lnet_outcome how);	/* peer deleted; NULL: all, shutdown. No lock held */
void lnet_ops_ni_down(struct lnet_pass *p, struct lnet_ni *ni);	/* no lock held: what is in flight there is ambiguous at once, what waits is re-selected */
void lnet_ops_reselect_ni(struct lnet_pass *p, struct lnet_ni *ni);	/* no lock held: what waits for credits of @ni chooses again */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path);	/* [sh] the same for a path that became suspect */
bool lnet_ops_idle(struct lnet *ln);			/* no operation is unfinished */
int lnet_ops_init(struct lnet *ln);
void lnet_ops_fini(struct lnet *ln);
int lnet_op_submit(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni);	/* [sh] takes the reference of @pni; 0, -ENOMEM, -ENOSPC: nothing done */
void lnet_op_attempt_failed(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path, enum lnet_outcome how);	/* [sh] the attempt over @path is FREE */
bool lnet_op_may_resend(const struct lnet_pass *p, const struct lnet_op *op, bool perhaps);	/* [sh] if an attempt of it failed now */
void lnet_op_blame_silence(struct lnet_pass *p, struct lnet_op *op);	/* [sh] paths that did not answer in time */
void lnet_op_sent(struct lnet_pass *p, struct lnet_op *op);	/* [sh] SEND event, once */
void lnet_op_recall(struct lnet_pass *p, struct lnet_op *op);	/* [sh] asks the drivers for its attempts at pass end */
void lnet_op_unpin(struct lnet_pass *p, struct lnet_op *op);	/* [sh] may free it */
void lnet_op_back(struct lnet_pass *p, struct lnet_op *op);	/* [sh] a landing ended; may free it */
void lnet_rx_want_stop(struct lnet_pass *p, struct lnet_rx *rx);	/* rx.c [sh] its landing is to stop at pass end */
void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] ops in OP_BACKOFF try again */
void lnet_att_delay(struct lnet_pass *p, struct lnet_att *att, u64 ns);	/* no lock held: back to p->send of a later pass */
void lnet_stats_reserve(struct lnet_shard *sh);	/* account.c; no lock held: allocates the blocks that paths want */
void lnet_stats_pool_fini(struct lnet_shard *sh);
void lnet_stat_posted(struct lnet_path *path, const struct lnet_op *op, u64 ns);	/* stats.c [sh] hand-over took @ns */
void lnet_stat_sent(struct lnet_shard *sh, struct lnet_path *path, const struct lnet_op *op);	/* counters of a message that left */
void lnet_stat_answer(struct lnet_path *path, const struct lnet_op *op, u64 now_ns);
void lnet_stat_recv(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type, u32 len);
void lnet_stat_drop(struct lnet_shard *sh, struct lnet_ni *ni, struct lnet_peer_ni *from, u32 type, u32 len);
#define LNET_ATTF_RELEASED 2	/* a delay rule has let it go */
void lnet_op_try(struct lnet_pass *p, struct lnet_op *op);	/* [sh] chooses a path and enters an attempt */
/* ---- name.c ---- */
u64 lnet_name_seq(const struct lnet_handle *h, bool *alone);
u64 lnet_name_floor(const struct lnet_handle *h);	/* all sequences below are finished at the sender */
void lnet_window_grow(struct lnet_pass *p, struct lnet_peer_ni *pni);	/* enters its shard, with room for one more request if there is memory */
void lnet_window_grant(struct lnet_peer *peer, u64 grant, u32 W, u64 instance);	/* [sh] */
void lnet_window_void(struct lnet_peer *peer);		/* [sh] */
void lnet_window_free(struct lnet_peer *peer);
#define LNET_SLOTS_LOW 8	/* fewer free ones: make more before the next lock */
int lnet_slots_reserve(struct lnet *ln);	/* outside locks; 0, -ENOMEM, -ENOSPC */
int lnet_slot_take(struct lnet *ln, struct lnet_op *op);	/* any lock; -ENOMEM: none is free */
struct lnet_op *lnet_slot_find(struct lnet *ln, const struct lnet_shard *sh, const struct lnet_handle *h);
void lnet_op_unname(struct lnet_pass *p, struct lnet_op *op);	/* [sh] finished: gives name and slot back */
void lnet_op_rename(struct lnet_pass *p, struct lnet_op *op);	/* [sh] its grant is void: unmarked, without a name */
void lnet_contact_doubt(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] marked requests got no answer: is it still one of ours? */
enum lnet_verdict lnet_ping_answer(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr);	/* ping.c */
void lnet_push_taken(struct lnet_pass *p, struct lnet_rx *rx);	/* ping.c: a push landed in rx->copy */
void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] once.c: tell the receiver the new floor soon */
int lnet_get_core(struct lnet *ln, const struct lnet_xfer *x);	/* lnet_get() of the core's own: may use portal 0, never waits for contact */
bool lnet_op_request(const struct lnet_op *op);		/* PUT or GET */
bool lnet_op_over(const struct lnet_op *op);		/* its outcome is known */
bool lnet_op_name(struct lnet_pass *p, struct lnet_op *op);	/* draws its sequence if it needs one; false: the window is full */
void lnet_op_park_window(struct lnet_op *op);		/* waits for room in the window */
void lnet_op_wire(struct lnet_op *op);	/* api.c [sh] about to be given to a driver */
void lnet_op_arm(struct lnet_pass *p, struct lnet_op *op);	/* [sh] */
void lnet_op_given_up(struct lnet_op *op);	/* [sh] about to be finished: was any of it perhaps delivered? */
struct lnet_op *lnet_op_by_name(struct lnet_peer *peer, const struct lnet_handle *h);	/* [sh] marked request by (grant, sequence) */
/* ---- credit.c ----------------------------------------------------------------------------------------------------------------------- */
void lnet_att_enter(struct lnet_pass *p, struct lnet_att *att, struct lnet_path *path);	/* [sh] FREE -> WAIT_PEER -> WAIT_NI -> WIRE */
void lnet_att_move(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state to);	/* the only writer of the state; takes, gives back, wakes */
void lnet_att_drop(struct lnet_pass *p, struct lnet_att *att);	/* waiting or asked -> FREE, off its queue */
void lnet_credits_ni_init(struct lnet_ni *ni);
void lnet_credits_pni_init(struct lnet_peer_ni *pni);
/* ---- once.c, contact.c, ping.c ---------------------------------------------------------------------------------------------------------- */
void lnet_contact_need(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] start ping and opening if due */
bool lnet_contact_ready(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] requests may go */
void lnet_contact_grant_void(struct lnet_pass *p, struct lnet_peer *peer, u64 grant);	/* [sh] "no window" */
int lnet_ping_init(struct lnet *ln);
void lnet_ping_fini(struct lnet *ln);
void lnet_ping_rebuild(struct lnet *ln);	/* cfg_mutex held: NIs changed */
void lnet_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns);	/* [sh] recovery ping; answers lnet_path_ping_done() */
void lnet_windows_fini(struct lnet_shard *sh);
void lnet_peer_timer(struct lnet_pass *p, struct lnet_peer *peer);	/* [sh] */
void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh] */
void lnet_delay_timer(struct lnet_pass *p, struct lnet_timer *t);	/* [sh] tx.c: attempts held by a delay rule */
void lnet_pass_cancels(struct lnet_pass *p);	/* tx.c: calls ops->cancel for p->cancel */
void lnet_pass_stops(struct lnet_pass *p);	/* rx.c: calls ops->rx_stop for p->stop */
void lnet_path_resets(struct lnet_pass *p);	/* health.c: calls ops->path_reset for p->resets; no lock held */

#endif
