/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An operation: a PUT, GET, ACK or REPLY with its attempts. */
#ifndef LNET_MODEL_OP_H
#define LNET_MODEL_OP_H

#include "plat.h"
#include "model/timer.h"
#include <lnet/lnd.h>
#include <lnet/nid.h>
#include <lnet/wire.h>

struct lnet_sbuf;
struct lnet_entry;
struct lnet_evt;
struct lnet_md;
struct lnet_op;
struct lnet_peer;
struct lnet_shard;

/* ---- attempts: struct lnet_att of lnet/lnd.h ------------------------------------------------- */

enum lnet_att_state {
#define ASTATE(s, pc, nc, drv, mem) s,
#define AEDGE(a, b)
#include "model/states/att.def"
#undef ASTATE
#undef AEDGE
	LNET_NR_ATT_STATES
};

/* att->flags */
#define LNET_ATTF_RELEASED 2	/* no fault rule applies any more */
#define LNET_ATTF_FAULT 4	/* a drop rule has ended it */
/* no connection was made: no listener; the peer closed it; no host has the address */
#define LNET_ATTF_REFUSED 8
#define LNET_ATTF_RESET 16
#define LNET_ATTF_UNREACHED 32
#define LNET_ATTF_REJECTED (LNET_ATTF_REFUSED | LNET_ATTF_RESET | LNET_ATTF_UNREACHED)
/* no connection was made in time: nothing answered */
#define LNET_ATTF_UNANSWERED 64
#define LNET_ATTF_UNCONNECTED (LNET_ATTF_REJECTED | LNET_ATTF_UNANSWERED)
/* att->reports; TWICE: a fault rule duplicates it, and the driver has it for the first time */
enum { LNET_REPORT_POSTED = 1, LNET_REPORT_DONE = 2, LNET_REPORT_TWICE = 4 };

/* ---- operations ------------------------------------------------------------------------------ */

enum lnet_op_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/op.def"
#undef STATE
#undef EDGE
	LNET_NR_OP_STATES
};
enum lnet_op_type { LNET_OP_ACK, LNET_OP_PUT, LNET_OP_GET, LNET_OP_REPLY };	/* wire numbers */

/* The kind of an operation. The folder that creates an operation sets it before the start. */
enum lnet_kind {
	LNET_KIND_USER,		/* a request of a program; waits for session negotiation */
	/* requests of the core, which do not wait for it: */
	LNET_KIND_RECOVERY,	/* a ping of one path, never retried */
	LNET_KIND_CONTROL,	/* ping, session open, push, confirm: may always be retried */
	/* as CONTROL, for an operator: retried soon, and fails when the last path rejects it */
	LNET_KIND_URGENT,
	/* ACKs and REPLYs of this node */
	LNET_KIND_REPLY,	/* to a tracked or session open request: may be retried */
	LNET_KIND_STOCK_REPLY,	/* to any other request, which the peer does not retry */
	LNET_KIND_FORWARD,	/* a message of another node: model/router.h */
	LNET_NR_KINDS
};

/*
 * How strictly an operation is bound to an end of its path. lnet_op_unbind() sets it to NONE. It
 * keeps FIXED for an untracked request if the list of NIDs that the peer has for this node still
 * has the source NI.
 */
enum lnet_binding {
	LNET_BIND_NONE,		/* any path to the peer; src_ni is NULL */
	LNET_BIND_SOURCE,	/* from src_ni; any path if that fails */
	LNET_BIND_FIRST,	/* to dst_pni, from src_ni if set; any path if that fails */
	LNET_BIND_FIXED,	/* to dst_pni, from src_ni if set; no other path */
	LNET_NR_BINDINGS
};

enum lnet_id_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/request_id.def"
#undef STATE
#undef EDGE
	LNET_NR_ID_STATES
};

enum lnet_op_flag {
	LNET_OPF_ACK = 0x1,		/* of a PUT: its creator requests an ACK */
	LNET_OPF_SENT = 0x2,		/* SEND event posted */
	LNET_OPF_STARTED = 0x4,		/* a driver got an attempt: the transaction time runs */
	/* its link is in a pass's list of cancels, which pins it */
	LNET_OPF_CANCELLED = 0x8,
	/* waited for session negotiation: its timeout runs from its start */
	LNET_OPF_RESOLVED = 0x10,
	LNET_OPF_UNKNOWN = 0x20,	/* the delivery of some attempt is unknown */
	LNET_OPF_REPLIED = 0x40,	/* the reply used the MD once */
	LNET_OPF_NOSEND = 0x80,		/* no SEND event: success is the event of the reply */
	LNET_OPF_RESPONSE_COUNTED = 0x100,	/* response tracking: it is in rst_alloc */
	LNET_OPF_ROUTED = 0x200,	/* some attempt was sent through a router */
	LNET_OPF_HEDGE = 0x400,		/* @first is a hedge, as @hedge always is */
};

/* small buffer: ping info, cached REPLY, session REPLY; shard/ allocates and frees it */
struct lnet_sbuf {
	atomic_t refs;
	u32 len;
	struct lnet_frag frag;
	u8 data[];
};

struct lnet_op {
	/* the folder that owns the list: */
	/* at most one of: pool, peer->resolve, peer->winwait, p->defer, entry's answers */
	struct list_head link;
	/* xfer/ from here: */
	struct list_head all;		/* sh->live */
	struct lnet_timer timer;	/* earliest of both deadlines and @suspect_ns */
	/* receive/: */
	struct list_head receives;	/* rx of REPLYs to this GET, receiving payload */
	/* xfer/: */
	struct list_head expired;	/* in peer->expired */
	struct lnet_att first;
	/* set when it starts */
	struct lnet_peer *peer;		/* reference held */
	struct lnet_shard *sh;		/* that has it */
	u64 deadline_ns;
	u64 suspect_ns;			/* next check of unresponsive attempts; end of a pause */
	/* the folder that creates the operation; pool.c clears all fields from here on: */
	struct lnet_md *md;		/* PUT payload, GET sink, REPLY source; NULL with @sbuf */
	struct lnet_sbuf *sbuf;
	/* internal GET: memory for the REPLY, at least @len bytes */
	const struct lnet_frag *sink;
	struct lnet_evt *evt[2];	/* SEND, final; preallocated */
	/* internal ops: instead of events, [sh] held; argument in @arg */
	void (*done)(struct lnet_pass *p, struct lnet_op *op);
	void *arg;			/* ops of users: @op_ptr of their events */
	/* request: session ID and sequence, or instance and slot; reply: the handle to return */
	struct lnet_handle wire;
	/* requested NID; the header may contain another one of the peer */
	struct lnet_nid target;
	u32 target_pid;
	struct lnet_ni *src_ni;		/* NI to send from; reference held, or NULL */
	struct lnet_peer_ni *dst_pni;	/* of the requested NID; reference held */
	/* peer NI of a router, used if it reaches the peer; reference held, or NULL */
	struct lnet_peer_ni *via;
	u64 match_bits, hdr_data;
	/* xfer/ writes all but @timeout_ns: */
	u64 timeout_ns, first_wire_ns;
	u64 tried;			/* bitmap of path ix */
	/* the creator of the operation; receive/ writes @mlength of a GET, many write @flags: */
	u32 portal, offset, md_off, len, mlength;
	u32 flags;
	/* xfer/: */
	u32 slot;			/* index in ln->slots + 1; 0: none */
	/* recorder/: */
	u32 rec;			/* its number in the recorder; 0: none */
	/* xfer/; the creator writes @type and @cls: */
	u8 state, type, hedges, outcome, cls, nr_held, pins;
	u8 unconnected;			/* LNET_ATTF_UNCONNECTED bits of the last attempt */
	u16 tries, unsent;		/* attempts; those among them that cost no try */
	u8 wire_bits;			/* header.c: what drivers read without lock */
	/* the creator of the operation; xfer/ and router/ loosen @binding: */
	u8 kind;			/* enum lnet_kind */
	u8 binding;			/* enum lnet_binding */
	/* xfer/: */
	u8 id_state;			/* enum lnet_id_state */
	/* receive/: */
	struct lnet_entry *entry;	/* replies to tracked requests; reference held */
	/* xfer/: */
	struct lnet_att *hedge;		/* second attempt; normally NULL */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_op) == 448);

/* ---- predicates of operations ---------------------------------------------------------------- */

/* [sh] True for a hedge: an attempt in addition to another one, which does not count as a try. */
static inline bool lnet_att_is_hedge(const struct lnet_att *att)
{
	return att != &att->op->first || att->op->flags & LNET_OPF_HEDGE;
}

/* The attempts of @op, in use or not; @op is pinned, or does not end in the loop. */
#define lnet_op_for_each_att(att, op)								\
	for ((att) = &(op)->first; (att); (att) = (att) == &(op)->first ? (op)->hedge : NULL)

/* True if @att is in use. @att may be NULL. */
static inline bool lnet_att_is_live(const struct lnet_att *att)
{
	return att && att->state != ATT_FREE;
}

/* True if @att is in a queue, so that nothing of it was sent. @att may be NULL. */
static inline bool lnet_att_waits(const struct lnet_att *att)
{
	return att && (att->state == ATT_WAIT_LARGE || att->state == ATT_WAIT_PEER ||
		       att->state == ATT_WAIT_NI);
}

/* A PUT or GET of this node. */
static inline bool lnet_op_is_request(const struct lnet_op *op)
{
	return op->kind <= LNET_KIND_URGENT;
}

/* True if @op may always be retried, because a second delivery has no effect. */
static inline bool lnet_op_is_idempotent(const struct lnet_op *op)
{
	return op->kind == LNET_KIND_CONTROL || op->kind == LNET_KIND_URGENT;
}

/* The peer detects duplicates of @op: it has a request ID, or gets one when it is sent. */
static inline bool lnet_op_is_tracked(const struct lnet_op *op)
{
	return op->id_state >= ID_DUE;
}

/* The sequence of a request that has one: ID_DRAWN. The other bits of the cookie: request_id.c. */
#define LNET_OP_SEQ_MASK ((1ULL << 48) - 1)
static inline u64 lnet_op_seq(const struct lnet_op *op)
{
	return op->wire.cookie[1] & LNET_OP_SEQ_MASK;
}

/*
 * A tracked PUT for which the user wants no ACK. The peer sends an ACK, for which the user gets no
 * event.
 */
static inline bool lnet_op_is_acked_unseen(const struct lnet_op *op)
{
	return !(op->flags & LNET_OPF_ACK) && op->type == LNET_OP_PUT &&
	       lnet_op_is_tracked(op);
}

/* Only paths to dst_pni may be used. */
static inline bool lnet_op_is_bound_to_dst(const struct lnet_op *op)
{
	return op->binding >= LNET_BIND_FIRST;
}

/* The outcome of @op is known. */
static inline bool lnet_op_is_over(const struct lnet_op *op)
{
	return op->state == OP_CANCEL || op->state == OP_DONE;
}

/* An ACK or REPLY of this node. */
static inline bool lnet_op_is_reply(const struct lnet_op *op)
{
	return op->kind == LNET_KIND_REPLY || op->kind == LNET_KIND_STOCK_REPLY;
}

/* The peer NI that the reply @op is sent to: the gateway's if the request used a gateway. */
static inline struct lnet_peer_ni *lnet_op_hop(const struct lnet_op *op)
{
	return op->via ? op->via : op->dst_pni;
}

/* ---- walks over operations ------------------------------------------------------------------- */

/*
 * [sh] A walk in slices, for all peers with a path that works again and all interfaces that have a
 * suspect path or lost their link. Their fields back_walk, avoid_walk and down_walk contain the
 * number of the walk that serves them.
 */
struct lnet_walk {
	struct list_head *at;		/* in sh->live: next to visit; NULL: no walk */
	u32 left;			/* operations to visit */
	u32 nr;				/* number of this walk, or of the last one */
	u8 again;			/* another walk is wanted */
	u32 gone_walk;			/* walk in which attempts leave removed paths; 0: none */
	u64 rest_ns;			/* earliest start of the next walk by @timer */
	struct lnet_timer timer;
};

#endif
