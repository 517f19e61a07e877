/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A router: its state, its buffers, and the messages in them. Only router/ writes these structs. */
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

/* POOL(name, payload bytes of a buffer, default number of buffers, minimum number in stock LNet) */
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

/*
 * [sh] The state of a node for which the shard forwards messages: a destination or a sender of
 * them.
 */
struct lnet_rtr_node {
	struct list_head link;		/* in rs->dsts or rs->senders */
	struct lnet_nid nid;		/* primary NID of the node, or its only known NID */
	u32 refs;			/* flows */
	u32 used[LNET_NR_RTR];		/* router buffers with messages to or from this node */
	/* messages to or from this node that wait for a router buffer */
	u32 nr_wait[LNET_NR_RTR];
};

/* [sh] A flow: the messages that a shard forwards from one sender to one destination. */
struct lnet_rtr_flow {
	struct list_head link;		/* in rs->flows */
	struct lnet_rtr_node *dst, *sender;	/* referenced */
	u32 refs;			/* messages */
	u32 used[LNET_NR_RTR];
	u32 nr_wait[LNET_NR_RTR];
	/* lists of messages that wait for a router buffer, linked by fwd->wait */
	struct list_head wait[LNET_NR_RTR];
	/* link in pool->turn or pool->checked while @wait is not empty */
	struct list_head turn[LNET_NR_RTR];
	/*
	 * First message of each queue for a router credit, linked by fwd->lead. Each interface of
	 * the sender has one queue for small messages, in list 0, and one for large messages, in
	 * list 1.
	 */
	struct list_head leaders[2];
};

/*
 * Preallocated memory for lnet_rtr_flow_get(). The function cannot allocate, because its caller
 * holds the shard lock.
 */
struct lnet_rtr_spare {
	struct lnet_rtr_node *dst, *sender;
	struct lnet_rtr_flow *flow;
};

struct lnet_rtr_pool {			/* [sh] */
	u32 nr;				/* number of router buffers that may be in use */
	u32 sender_most;	/* number of router buffers that messages of one sender may use */
	u32 used, made, nr_free;	/* @made: number of allocated buffers */
	/* lowest value of @nr_free since lnet_router_work() last freed idle buffers */
	u32 nr_idle;
	s32 min_credits;
	u32 nr_wait;
	struct list_head free;
	/*
	 * Flows whose messages wait for a router buffer. @turn: flows to check, in this order.
	 * @checked: flows that were checked after a buffer was last released.
	 */
	struct list_head turn, checked;
};

#define LNET_RTR_HASH_BITS 10
#define LNET_RTR_HASH (1 << LNET_RTR_HASH_BITS)
struct lnet_rtr_shard {			/* [sh] */
	struct lnet_shard *sh;
	struct lnet_rtr_pool pool[LNET_NR_RTR];
	/* messages in RX_WAIT_*, in order of arrival, linked by fwd->all */
	struct list_head waiting;
	/*
	 * expires when the first message in @waiting has waited too long; also set while flows are
	 * to be checked
	 */
	struct lnet_timer timer;
	struct list_head dsts[LNET_RTR_HASH], senders[LNET_RTR_HASH], flows[LNET_RTR_HASH];
	struct lnet_rtr_spare spare;	/* for the next flow */
};

struct lnet_router {		/* the router of a node; created when routing is first enabled */
	u8 state;			/* enum lnet_router_state [cfg], READ_ONCE */
	u64 since_ns;			/* [cfg] of the state */
	u64 job_ns;			/* when the worker next checks the router; WRITE_ONCE */
	u64 trim_ns;	/* [worker] earliest time at which the worker frees idle buffers again */
	struct lnet_rtr_shard sh[];	/* nr_shards */
};

/* A message to be forwarded. It has the same lifetime as its rx. */
struct lnet_fwd {
	struct lnet_hdr hdr;		/* as received */
	struct lnet_rx *rx;
	/* data of the shard whose pool provides the router buffer of the message, now or later */
	struct lnet_rtr_shard *rs;
	struct lnet_peer_ni *dst;	/* peer NI of the destination; reference held */
	struct lnet_rtr_flow *flow;	/* referenced */
	/* router buffer; NULL: no payload, or no buffer assigned yet */
	struct lnet_rtr_buf *buf;
	struct list_head wait;		/* link in from->rtr_wait, leader->behind or flow->wait */
	/*
	 * Messages of a flow that wait for a router credit of the same interface form a queue. The
	 * first message of the queue is in flow->leaders by @lead. Its list @behind has the other
	 * messages.
	 */
	struct list_head lead, behind;
	struct list_head all;		/* link in rs->waiting while the message waits */
	struct list_head held;	/* link in from->rtr_held while the message has a router credit */
	u8 cls;				/* enum lnet_rtr_class */
	u8 src_mr;			/* the source of the message is multi-rail */
	/* the message was not forwarded, so the router is to send a router-generated reply */
	u8 tell;
	u8 replying;			/* the router-generated reply is in flight */
};

static inline bool lnet_router_forwards(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return unlikely(r) && READ_ONCE(r->state) != ROUTER_DISABLED;
}

/* True if the ping info of the node @ln advertises that the node forwards messages. */
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
