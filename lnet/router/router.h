/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node that forwards: its buffers, the messages in them, and whether it does so at all. */
#ifndef LNET_ROUTER_H
#define LNET_ROUTER_H

#include "model/core.h"

enum lnet_router_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/router.def"
#undef STATE
#undef EDGE
	LNET_NR_ROUTER_STATES
};

/* POOL(name, payload of a buffer, how many there are by default, stock's least) */
#define LNET_RTR_POOLS(POOL)			\
	POOL(tiny, 0, 2048, 512)		\
	POOL(small, 4096, 16384, 4096)		\
	POOL(large, LNET_MTU, 1024, 256)
enum lnet_rtr_class {
#define POOL(name, size, nr, least) LNET_RTR_##name,
	LNET_RTR_POOLS(POOL)
#undef POOL
	LNET_NR_RTR
};

struct lnet_rtr_buf {			/* where a message lands that is on its way to others */
	struct list_head link;		/* in pool->free */
	struct lnet_frag frag;
	u8 data[];
};

/* [sh] The messages that a shard forwards to one destination, or from one sender. */
struct lnet_rtr_node {
	struct list_head link;		/* in rs->dsts or rs->senders */
	struct lnet_nid nid;		/* primary NID, or the only one known */
	u32 refs;			/* flows */
	u32 used[LNET_NR_RTR];		/* buffers with messages to it, or from it */
	u32 nr_wait[LNET_NR_RTR];	/* its messages that wait for a buffer */
};

/* [sh] The messages that a shard forwards from one sender to one destination. */
struct lnet_rtr_flow {
	struct list_head link;		/* in rs->flows */
	struct lnet_rtr_node *dst, *sender;	/* referenced */
	u32 refs;			/* messages */
	u32 used[LNET_NR_RTR];
	u32 nr_wait[LNET_NR_RTR];
	struct list_head wait[LNET_NR_RTR];	/* fwd->wait of messages that wait for a buffer */
	/* in pool->turn or pool->checked while @wait is not empty */
	struct list_head turn[LNET_NR_RTR];
	/* fwd->lead of small and large messages: one for each interface of the sender */
	struct list_head leaders[2];
};

/* Memory for lnet_rtr_flow_get(), which cannot allocate because its caller holds the lock. */
struct lnet_rtr_spare {
	struct lnet_rtr_node *dst, *sender;
	struct lnet_rtr_flow *flow;
};

struct lnet_rtr_pool {			/* [sh] */
	u32 nr;				/* buffers that may be in use */
	u32 sender_most;		/* of these, by messages of one sender */
	u32 used, made, nr_free;	/* made: those that exist */
	u32 nr_idle;			/* least nr_free since lnet_router_work() trimmed last */
	s32 min_credits;
	u32 nr_wait;
	struct list_head free;
	/*
	 * flows whose messages wait for a buffer: those to check, next first; those that were
	 * checked after the last release of a buffer
	 */
	struct list_head turn, checked;
};

#define LNET_RTR_HASH_BITS 10
#define LNET_RTR_HASH (1 << LNET_RTR_HASH_BITS)
struct lnet_rtr_shard {			/* [sh] */
	struct lnet_shard *sh;
	struct lnet_rtr_pool pool[LNET_NR_RTR];
	struct list_head waiting;	/* fwd->all in RX_WAIT_*, in order of arrival */
	/* when the first of them has waited too long, or there are flows to check */
	struct lnet_timer timer;
	struct list_head dsts[LNET_RTR_HASH], senders[LNET_RTR_HASH], flows[LNET_RTR_HASH];
	struct lnet_rtr_spare spare;	/* for the next flow */
};

struct lnet_router {			/* made when routing is first enabled */
	u8 state;			/* enum lnet_router_state [cfg], READ_ONCE */
	u64 since_ns;			/* [cfg] of the state */
	u64 look_ns;			/* when the worker looks; WRITE_ONCE */
	u64 trim_ns;			/* [worker] the next trim of idle buffers, not before */
	struct lnet_rtr_shard sh[];	/* nr_shards */
};

/* A message to be forwarded: goes with its rx. */
struct lnet_fwd {
	struct lnet_hdr hdr;		/* as it came */
	struct lnet_rx *rx;
	struct lnet_rtr_shard *rs;	/* whose buffer it has, or waits for */
	struct lnet_peer_ni *dst;	/* its destination; counted */
	struct lnet_rtr_flow *flow;	/* referenced */
	struct lnet_rtr_buf *buf;	/* NULL: there is no payload, or not yet */
	struct list_head wait;		/* in from->rtr_wait, leader->behind, or flow->wait */
	/*
	 * Messages of a flow that wait for a credit of the same interface are a queue. The first
	 * message is in flow->leaders, and its list @behind has the others.
	 */
	struct list_head lead, behind;
	struct list_head all;		/* in rs->waiting while it waits */
	struct list_head held;		/* in from->rtr_held while it has a credit */
	u8 cls;				/* enum lnet_rtr_class */
	u8 src_mr;			/* its originator is multi-rail */
	u8 tell;			/* it went nowhere: its originator is to hear it */
	u8 told;			/* what is under way is that answer */
};

/* ---- forward.c ------------------------------------------------------------------------------- */
static inline bool lnet_router_forwards(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return unlikely(r) && READ_ONCE(r->state) != ROUTER_DISABLED;
}

/* So it says in its ping info. */
static inline bool lnet_router_announced(const struct lnet *ln)
{
	return ln->router && ln->router->state == ROUTER_ENABLED;
}

static inline u64 lnet_router_look_ns(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return likely(!r) ? U64_MAX : READ_ONCE(r->look_ns);
}

/*
 * [sh of rx->from] A message for another node. May drop and retake the lock. LAND, LATER, or SKIP;
 * CLOSE: the sender or the interface went meanwhile.
 */
enum lnet_verdict lnet_forward_begin(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr);
void lnet_forward_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how);
bool lnet_forward_gone(struct lnet_pass *p, struct lnet_rx *rx);	/* as lnet_rx_gone() */
/* no lock held: it waited and may land; without memory its verdict becomes SKIP */
void lnet_forward_land(struct lnet_pass *p, struct lnet_rx *rx);
void lnet_forward_free(struct lnet_rx *rx);	/* with its rx */
/*
 * [any lock] True if messages of other senders wait for a buffer of this size. They have the same
 * destination, or any while less than half of these buffers are free.
 */
bool lnet_forward_is_wanted(const struct lnet_rx *rx);
/* what is to be sent of it; the destination is the attempt's */
void lnet_forward_hdr(const struct lnet_op *op, struct lnet_hdr *hdr);
void lnet_forward_payload(const struct lnet_op *op, struct lnet_buf *buf);
/* [sh] It may be sent again though perhaps it arrived: exactly-once.md rule 15. */
bool lnet_forward_resendable(const struct lnet_op *op);
/*
 * [sh] It did not leave this node and goes no further for now: by @path without link, or (NULL) as
 * all were tried. It ends then, which its originator is told.
 */
bool lnet_forward_stuck(const struct lnet_op *op, const struct lnet_path *path);
/* [sh] Another NID of the node may stand for the one that fails. */
void lnet_forward_substitute(struct lnet_op *op);
/* [sh] the paths not to take: by the router that it came from */
u64 lnet_forward_avoid(const struct lnet_op *op);
/* no lock held: buffers and credits of what ended in this pass go back */
void lnet_pass_routed(struct lnet_pass *p);
/* [sh] What has waited too long is dropped. */
void lnet_router_timer(struct lnet_pass *p, struct lnet_timer *t);

/* [sh] All that waits there is dropped. */
void lnet_router_drop_waiting(struct lnet_pass *p, struct lnet_rtr_shard *rs);

/* ---- buffers.c: all [sh], by the shard of fwd->rs -------------------------------------------- */
/* RX_NEW -> RX_LAND_ROUTED without memory yet: true; else it waits. */
bool lnet_rtr_ask(struct lnet_pass *p, struct lnet_fwd *fwd);
/* Its memory; may drop and retake the lock. False: there is none, all is given back. */
bool lnet_rtr_fill(struct lnet_pass *p, struct lnet_fwd *fwd);
/*
 * Whatever its rx holds is given back and those who wait for it land (p->land). A buffer to be
 * freed without lock, or NULL.
 */
struct lnet_rtr_buf *lnet_rtr_return(struct lnet_pass *p, struct lnet_fwd *fwd);
/* [sh] how many there are has changed; who waits for one may go on */
void lnet_rtr_credits_set(struct lnet_pass *p, struct lnet_peer_ni *from);
void lnet_rtr_arm(struct lnet_rtr_shard *rs);	/* its timer, for the one that waits longest */
/* more is free than was: those who may land */
void lnet_rtr_wake(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* checks some of the flows that were not checked after the last release of a buffer */
void lnet_rtr_scan(struct lnet_pass *p, struct lnet_rtr_shard *rs);
/* No lock held: allocates what @spare lacks, if there is memory. */
void lnet_rtr_spare_fill(struct lnet_rtr_spare *spare);
/* Keeps the unused part of @spare for the next message, and frees the part that @rs had. */
void lnet_rtr_spare_keep(struct lnet_rtr_shard *rs, const struct lnet_rtr_spare *spare);
void lnet_rtr_spare_free(const struct lnet_rtr_spare *spare);
/*
 * Finds or makes the flow between two nodes, and takes a reference. NULL: it is new, and @spare has
 * no memory for it.
 */
struct lnet_rtr_flow *lnet_rtr_flow_get(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
					const struct lnet_nid *dst, struct lnet_rtr_spare *spare);
void lnet_rtr_flow_put(struct lnet_rtr_shard *rs, struct lnet_rtr_flow *flow);	/* NULL is fine */
enum lnet_rtr_class lnet_rtr_class(u32 payload_len);
u32 lnet_rtr_share(const struct lnet *ln, enum lnet_rtr_class cls);	/* a shard's */
/* How many of @nr buffers one sender may have: router_share percent, at least min(@nr, 8). */
u32 lnet_rtr_sender_most(const struct lnet *ln, u32 nr);

/* ---- state.c: configuration, may sleep ------------------------------------------------------- */
int lnet_router_enable(struct lnet *ln, bool on);	/* 0, -ENOMEM, -EBUSY */
void lnet_router_resize(struct lnet *ln);		/* cfg_mutex held: the tunables changed */
void lnet_router_credits(struct lnet *ln);		/* the same of peer_buffer_credits */
enum lnet_router_state lnet_router_state(const struct lnet *ln);
u32 lnet_router_state_nr(const struct lnet *ln);	/* as stock numbers it */
/* As it was told to be. */
static inline bool lnet_router_on(const struct lnet *ln)
{
	enum lnet_router_state state = lnet_router_state(ln);

	return state == ROUTER_STARTING || state == ROUTER_ENABLED;
}

/* What a shard's buffers are, for those who show it; takes its lock. -ENOENT: there are none. */
struct lnet_rtr_view {
	u32 pages, nr;
	s32 credits, min_credits;	/* negative: so many wait */
};
int lnet_router_view(struct lnet *ln, unsigned int shard, struct lnet_rtr_view v[LNET_NR_RTR]);
u32 lnet_rtr_total(const struct lnet *ln, enum lnet_rtr_class cls);	/* of the node, as set */
void lnet_router_fini(struct lnet *ln);			/* all operations ended */
void lnet_router_work(struct lnet_pass *p);		/* worker of shard 0, no lock held */
void lnet_router_pinged(struct lnet_pass *p, struct lnet_rx *rx);	/* [sh] of its interface */

#endif
