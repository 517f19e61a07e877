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
#define LNET_ATTF_RELEASED 2	/* no fault rule applies to the attempt any more */
#define LNET_ATTF_FAULT 4	/* a drop rule has ended the attempt */
/*
 * The driver made no connection: no process listens; the peer closed the connection; no host has
 * the address.
 */
#define LNET_ATTF_REFUSED 8
#define LNET_ATTF_RESET 16
#define LNET_ATTF_UNREACHED 32
#define LNET_ATTF_REJECTED (LNET_ATTF_REFUSED | LNET_ATTF_RESET | LNET_ATTF_UNREACHED)
/* the driver made no connection in time, because the peer did not respond */
#define LNET_ATTF_UNANSWERED 64
#define LNET_ATTF_UNCONNECTED (LNET_ATTF_REJECTED | LNET_ATTF_UNANSWERED)
/*
 * Bits of att->reports. TWICE: a fault rule makes the driver send the attempt twice, and the first
 * send has not ended.
 */
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

/*
 * The kind of an operation. The folder that creates the operation sets it before the operation
 * starts.
 */
enum lnet_kind {
	LNET_KIND_USER,		/* a request of a program; waits for session negotiation */
	/* requests of the core, which do not wait for session negotiation: */
	LNET_KIND_RECOVERY,	/* a ping on one given path, never retried */
	/* ping, session open request, push or confirm message; may always be retried */
	LNET_KIND_CONTROL,
	/*
	 * a CONTROL request for which an operator waits: retried soon; fails if the peer rejects
	 * the connection on the last path
	 */
	LNET_KIND_URGENT,
	/* kinds of ACKs and REPLYs that this node sends: */
	/* reply to a tracked request or to a session open request; may be retried */
	LNET_KIND_REPLY,
	/* reply to any other request; the peer does not retry such a request */
	LNET_KIND_STOCK_REPLY,
	/* a message of another node that this node forwards: model/router.h */
	LNET_KIND_FORWARD,
	LNET_NR_KINDS
};

/*
 * How strictly an operation is bound to given ends of its path. lnet_op_unbind() sets the binding
 * to NONE, except in one case: an untracked request stays FIXED while the peer lists the source NI
 * as a NID of this node.
 */
enum lnet_binding {
	LNET_BIND_NONE,		/* the operation may use any path to the peer; src_ni is NULL */
	LNET_BIND_SOURCE,	/* from src_ni; after a failure, any path */
	LNET_BIND_FIRST,	/* to dst_pni, from src_ni if set; after a failure, any path */
	LNET_BIND_FIXED,	/* to dst_pni, from src_ni if set; never another path */
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
	LNET_OPF_ACK = 0x1,		/* PUT: the creator requests an ACK */
	LNET_OPF_SENT = 0x2,		/* SEND event posted */
	/* the core has given an attempt to a driver, so the transaction timeout runs */
	LNET_OPF_STARTED = 0x4,
	/*
	 * @link is in p->cancel, the list of operations that a pass is to cancel; this list pins
	 * the operation
	 */
	LNET_OPF_CANCELLED = 0x8,
	/* the operation waited for session negotiation: its timeout runs from its start */
	LNET_OPF_RESOLVED = 0x10,
	LNET_OPF_UNKNOWN = 0x20,	/* the delivery of at least one attempt is unknown */
	LNET_OPF_REPLIED = 0x40,	/* the reply has already used the MD */
	/* the handler gets no SEND event; the event of the reply reports success */
	LNET_OPF_NOSEND = 0x80,
	/* response tracking: the counter rst_alloc includes the operation */
	LNET_OPF_RESPONSE_COUNTED = 0x100,
	LNET_OPF_ROUTED = 0x200,	/* at least one attempt was sent through a router */
	/*
	 * the attempt @first is a hedge, an additional attempt; the attempt @hedge is always a
	 * hedge
	 */
	LNET_OPF_HEDGE = 0x400,
};

/*
 * small buffer with a ping info, a cached REPLY or a session REPLY; shard/ allocates and frees it
 */
struct lnet_sbuf {
	atomic_t refs;
	u32 len;
	struct lnet_frag frag;
	u8 data[];
};

struct lnet_op {
	/* written by the folder that owns the list: */
	/* in at most one of: pool, peer->resolve, peer->winwait, p->defer, p->cancel */
	struct list_head link;
	/* xfer/ from here: */
	struct list_head all;		/* sh->live */
	/* expires at the earliest of deadline, attempt deadline and @suspect_ns */
	struct lnet_timer timer;
	/* receive/: */
	/* messages (rx) of REPLYs to this GET whose payload is being received */
	struct list_head receives;
	/* xfer/: */
	struct list_head expired;	/* in peer->expired */
	struct lnet_att first;
	/* set when it starts */
	struct lnet_peer *peer;		/* reference held */
	struct lnet_shard *sh;		/* shard that has the operation */
	u64 deadline_ns;
	/*
	 * time of the next check of unresponsive attempts; in OP_BACKOFF, end of the pause before
	 * the next attempt
	 */
	u64 suspect_ns;
	/*
	 * Written by the folder that creates the operation. pool.c clears all fields from here on.
	 */
	struct lnet_md *md;	/* PUT payload, GET sink or REPLY source; NULL if @sbuf is used */
	struct lnet_sbuf *sbuf;
	/* GET of the core: memory for the REPLY, at least @len bytes */
	const struct lnet_frag *sink;
	struct lnet_evt *evt[2];	/* SEND, final; preallocated */
	/*
	 * Operation of the core: called when it ends, in place of events, with [sh] held and
	 * argument @arg.
	 */
	void (*done)(struct lnet_pass *p, struct lnet_op *op);
	void *arg;			/* operation of a program: @op_ptr of its events */
	/*
	 * Wire handle. Request: session ID and sequence, or instance number and slot; reply: the
	 * handle of the request.
	 */
	struct lnet_handle wire;
	/* NID that the request names; the header may contain another NID of the same peer */
	struct lnet_nid target;
	u32 target_pid;
	struct lnet_ni *src_ni;	/* NI from which the operation is sent; reference held; or NULL */
	struct lnet_peer_ni *dst_pni;	/* peer NI of @target; reference held */
	/*
	 * peer NI of a router, to be used as next hop if that router reaches the peer; reference
	 * held; NULL: none
	 */
	struct lnet_peer_ni *via;
	u64 match_bits, hdr_data;
	/* xfer/ writes all but @timeout_ns: */
	u64 timeout_ns, first_wire_ns;
	u64 tried;			/* bitmap of path ix */
	/*
	 * Written by the creator of the operation. receive/ writes @mlength of a GET; many folders
	 * write @flags.
	 */
	u32 portal, offset, md_off, len, mlength;
	u32 flags;
	/* xfer/: */
	u32 slot;			/* index of the slot in ln->slots, plus 1; 0: none */
	/* recorder/: */
	u32 rec;		/* number of the operation in the flight recorder; 0: none */
	/* written by xfer/; the creator writes @type and @cls: */
	u8 state, type, hedges, outcome, cls, nr_held, pins;
	u8 unconnected;		/* bits of LNET_ATTF_UNCONNECTED in @flags of the last attempt */
	/*
	 * @tries: number of all attempts so far; @unsent: number of those attempts that do not
	 * reduce the remaining retries (retry_count)
	 */
	u16 tries, unsent;
	u8 wire_bits;			/* header.c: bits that drivers read without a lock */
	/*
	 * written by the creator of the operation; xfer/ and router/ may set @binding to a weaker
	 * value:
	 */
	u8 kind;			/* enum lnet_kind */
	u8 binding;			/* enum lnet_binding */
	/* xfer/: */
	u8 id_state;			/* enum lnet_id_state */
	/* receive/: */
	/* reply cache entry of a reply to a tracked request; reference held */
	struct lnet_entry *entry;
	/* xfer/: */
	struct lnet_att *hedge;		/* second attempt of the operation; normally NULL */
};
static_assert(sizeof(void *) != 8 || sizeof(struct lnet_op) == 448);

/* ---- predicates of operations ---------------------------------------------------------------- */

/*
 * [sh] True if @att is a hedge: sent in addition to an earlier attempt. A hedge does not count as a
 * try.
 */
static inline bool lnet_att_is_hedge(const struct lnet_att *att)
{
	return att != &att->op->first || att->op->flags & LNET_OPF_HEDGE;
}

/*
 * Loops over all attempts of @op, in use or not. The caller pins @op, or does not end it in the
 * loop.
 */
#define lnet_op_for_each_att(att, op)								\
	for ((att) = &(op)->first; (att); (att) = (att) == &(op)->first ? (op)->hedge : NULL)

/* True if @att is in use. @att may be NULL. */
static inline bool lnet_att_is_live(const struct lnet_att *att)
{
	return att && att->state != ATT_FREE;
}

/* True if @att is in a queue, so that no byte of it was sent. @att may be NULL. */
static inline bool lnet_att_waits(const struct lnet_att *att)
{
	return att && (att->state == ATT_WAIT_LARGE || att->state == ATT_WAIT_PEER ||
		       att->state == ATT_WAIT_NI);
}

/* True if @op is a PUT or GET of this node. */
static inline bool lnet_op_is_request(const struct lnet_op *op)
{
	return op->kind <= LNET_KIND_URGENT;
}

/* True if @op may always be retried, because a second delivery has no effect. */
static inline bool lnet_op_is_idempotent(const struct lnet_op *op)
{
	return op->kind == LNET_KIND_CONTROL || op->kind == LNET_KIND_URGENT;
}

/* True if the peer detects duplicates of @op: @op has a request ID, or gets one when it is sent. */
static inline bool lnet_op_is_tracked(const struct lnet_op *op)
{
	return op->id_state >= ID_DUE;
}

/*
 * Bits of wire.cookie[1] that contain the sequence of a request in the state ID_DRAWN. request_id.c
 * defines the other bits of wire.cookie[1].
 */
#define LNET_OP_SEQ_MASK ((1ULL << 48) - 1)
static inline u64 lnet_op_seq(const struct lnet_op *op)
{
	return op->wire.cookie[1] & LNET_OP_SEQ_MASK;
}

/*
 * True for a tracked PUT for which the program wants no ACK. The peer sends an ACK, but the program
 * gets no event for that ACK.
 */
static inline bool lnet_op_is_acked_unseen(const struct lnet_op *op)
{
	return !(op->flags & LNET_OPF_ACK) && op->type == LNET_OP_PUT &&
	       lnet_op_is_tracked(op);
}

/* True if @op may only use paths to dst_pni. */
static inline bool lnet_op_is_bound_to_dst(const struct lnet_op *op)
{
	return op->binding >= LNET_BIND_FIRST;
}

/* True if the outcome of @op is known. */
static inline bool lnet_op_is_over(const struct lnet_op *op)
{
	return op->state == OP_CANCEL || op->state == OP_DONE;
}

/* True if @op is an ACK or REPLY of this node. */
static inline bool lnet_op_is_reply(const struct lnet_op *op)
{
	return op->kind == LNET_KIND_REPLY || op->kind == LNET_KIND_STOCK_REPLY;
}

/*
 * The peer NI to which the reply @op is sent: the gateway's if the request came through a gateway.
 */
static inline struct lnet_peer_ni *lnet_op_hop(const struct lnet_op *op)
{
	return op->via ? op->via : op->dst_pni;
}

/* ---- walks over operations ------------------------------------------------------------------- */

/*
 * [sh] A walk over the operations of a shard, in slices. An object requests the walk: a peer if one
 * of its paths works again, or an interface if a path is suspect or the link is down. The walk
 * processes the operations of these objects. The fields back_walk (of a peer), avoid_walk and
 * down_walk (of an interface) contain the number of the walk that the object requested.
 */
struct lnet_walk {
	struct list_head *at;		/* next operation to visit, in sh->live; NULL: no walk */
	u32 left;			/* operations to visit */
	u32 nr;				/* number of the current walk, else of the last one */
	u8 again;			/* another walk is wanted */
	u32 gone_walk;	/* number of the walk in which attempts leave removed paths; 0: none */
	u64 rest_ns;			/* @timer starts the next walk at this time or later */
	struct lnet_timer timer;
};

#endif
