/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A router: its state, its buffers, and the messages in them. router/ writes all of it. */
#ifndef LNET_MODEL_ROUTER_H
#define LNET_MODEL_ROUTER_H

#include "plat.h"
#include "model/instance.h"
#include "model/timer.h"
#include <lnet/wire.h>

enum lnet_router_state {
#define STATE(s) s,
#define EDGE(a, b)
#include "model/states/router.def"
#undef STATE
#undef EDGE
	LNET_NR_ROUTER_STATES
};

/* POOL(name, payload of a buffer, default number, least number of stock LNet) */
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

struct lnet_rtr_buf {			/* router buffer */
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
	u32 used, made, nr_free;	/* made: allocated */
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
	/* due when the first of them has waited too long, or there are flows to check */
	struct lnet_timer timer;
	struct list_head dsts[LNET_RTR_HASH], senders[LNET_RTR_HASH], flows[LNET_RTR_HASH];
	struct lnet_rtr_spare spare;	/* for the next flow */
};

struct lnet_router {			/* made when routing is first enabled */
	u8 state;			/* enum lnet_router_state [cfg], READ_ONCE */
	u64 since_ns;			/* [cfg] of the state */
	u64 job_ns;			/* next visit of the worker; WRITE_ONCE */
	u64 trim_ns;			/* [worker] the next trim of idle buffers, not before */
	struct lnet_rtr_shard sh[];	/* nr_shards */
};

/* A message to be forwarded: has the same lifetime as its rx. */
struct lnet_fwd {
	struct lnet_hdr hdr;		/* as received */
	struct lnet_rx *rx;
	struct lnet_rtr_shard *rs;	/* that has its buffer, or will have it */
	struct lnet_peer_ni *dst;	/* its destination; reference held */
	struct lnet_rtr_flow *flow;	/* referenced */
	struct lnet_rtr_buf *buf;	/* NULL: no payload, or none assigned yet */
	struct list_head wait;		/* in from->rtr_wait, leader->behind, or flow->wait */
	/*
	 * Messages of a flow that wait for a credit of the same interface are a queue. The first
	 * message is in flow->leaders, and its list @behind has the others.
	 */
	struct list_head lead, behind;
	struct list_head all;		/* in rs->waiting while it waits */
	struct list_head held;		/* in from->rtr_held while it has a credit */
	u8 cls;				/* enum lnet_rtr_class */
	u8 src_mr;			/* its source is multi-rail */
	u8 tell;			/* not forwarded: a router-generated reply is due */
	u8 replying;			/* that reply is in flight */
};

static inline bool lnet_router_forwards(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return unlikely(r) && READ_ONCE(r->state) != ROUTER_DISABLED;
}

/* True if its ping info advertises that it forwards. */
static inline bool lnet_router_announced(const struct lnet *ln)
{
	return ln->router && ln->router->state == ROUTER_ENABLED;
}

static inline u64 lnet_router_job_ns(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return likely(!r) ? U64_MAX : READ_ONCE(r->job_ns);
}

#endif
