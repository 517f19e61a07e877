/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Router buffers and router credits: which messages have one, which messages wait, and in which
 * order.
 *
 * The messages from one sender to one destination are a flow. A message gets a buffer of a pool if
 * all of the following conditions are true:
 *
 *	1. The pool has more free buffers than the destination has buffers. So one destination
 *	   alone has at most half of the pool, and each of many destinations has an equal part.
 *	2. The flow has less than twice as many buffers as condition 1 still allows the
 *	   destination. Condition 1 allows the free buffers minus those of the destination.
 *	3. The sender has fewer buffers than its fixed share of the pool.
 *	4. The share has more free buffers than the flow has. So a sender's destinations divide its
 *	   share as all destinations divide the pool.
 *
 * Condition 4 also applies to the router credits of a sender. Because of the conditions, a slow
 * destination does not stop other destinations. A slow sender does not stop other senders to the
 * same destination.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "receive/receive.h"
#include "router/router.h"

/* minimum of the buffers that a sender may have, used if router_share results in fewer */
#define SENDER_LEAST	8U
#define SCAN_MAX	64U	/* number of flows that are checked under one hold of the lock */

static const struct {
	u8 credit, buffer;
} holds[LNET_NR_RX_STATES] = {
#define STATE(s, pc, buf) [s] = { pc, buf },
#define EDGE(a, b)
#include "model/states/rx.def"
#undef STATE
#undef EDGE
};

static const u32 sizes[LNET_NR_RTR] = {
#define POOL(name, size, nr, least) [LNET_RTR_##name] = size,
	LNET_RTR_POOLS(POOL)
#undef POOL
};

enum lnet_rtr_class lnet_rtr_class(u32 payload_len)
{
	unsigned int cls = 0;

	while (cls < LNET_NR_RTR - 1 && payload_len > sizes[cls])
		cls++;
	return cls;
}

u32 lnet_rtr_total(const struct lnet *ln, enum lnet_rtr_class cls)
{
	static const u32 nr_default[LNET_NR_RTR] = {
#define POOL(name, size, nr, least) [LNET_RTR_##name] = nr,
		LNET_RTR_POOLS(POOL)
#undef POOL
	};
	const u64 total[LNET_NR_RTR] = {
#define POOL(name, size, nr, least) [LNET_RTR_##name] = READ_ONCE(ln->tun.name##_router_buffers),
		LNET_RTR_POOLS(POOL)
#undef POOL
	};

	return total[cls] ? (u32)total[cls] : nr_default[cls];
}

u32 lnet_rtr_share(const struct lnet *ln, enum lnet_rtr_class cls)
{
	return max_t(u32, lnet_rtr_total(ln, cls) / ln->nr_shards, 1);
}

u32 lnet_rtr_sender_most(const struct lnet *ln, u32 nr)
{
	u64 share = div_u64(nr * READ_ONCE(ln->tun.router_share), 100);

	return max_t(u32, (u32)share, min(nr, SENDER_LEAST));
}

/* ---- flows ----------------------------------------------------------------------------------- */

static struct lnet_rtr_node *node_get(const struct lnet *ln, struct list_head *table,
				      const struct lnet_nid *nid, struct lnet_rtr_node **spare)
{
	struct list_head *bucket =
		&table[lnet_nid_keyed(ln, nid) >> (64 - LNET_RTR_HASH_BITS)];
	struct lnet_rtr_node *node;

	list_for_each_entry(node, bucket, link)
		if (lnet_nid_same(&node->nid, nid))
			return node;
	node = *spare;
	if (!node)
		return NULL;
	*spare = NULL;
	node->nid = *nid;
	list_add(&node->link, bucket);
	return node;
}

/*
 * Drops a reference to @node. If @node is then unused, stores it in *@spare; if *@spare is not
 * NULL, frees it.
 */
static void rtr_node_put(struct lnet_rtr_node *node, struct lnet_rtr_node **spare)
{
	if (--node->refs)
		return;
	list_del(&node->link);
	if (*spare) {
		kfree(node);
		return;
	}
	memset(node, 0, sizeof(*node));
	*spare = node;
}

static struct list_head *flow_bucket(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
				     const struct lnet_nid *dst)
{
	const struct lnet *ln = rs->sh->ln;
	u64 sum = lnet_nid_keyed(ln, sender) * 31 + lnet_nid_keyed(ln, dst);

	return &rs->flows[sum >> (64 - LNET_RTR_HASH_BITS)];
}

void lnet_rtr_spare_fill(struct lnet_rtr_spare *spare)
{
	if (!spare->dst)
		spare->dst = kzalloc(sizeof(*spare->dst), GFP_NOFS);
	if (!spare->sender)
		spare->sender = kzalloc(sizeof(*spare->sender), GFP_NOFS);
	if (!spare->flow)
		spare->flow = kzalloc(sizeof(*spare->flow), GFP_NOFS);
}

void lnet_rtr_spare_free(const struct lnet_rtr_spare *spare)
{
	kfree(spare->dst);
	kfree(spare->sender);
	kfree(spare->flow);
}

void lnet_rtr_spare_keep(struct lnet_rtr_shard *rs, const struct lnet_rtr_spare *spare)
{
	lnet_rtr_spare_free(&rs->spare);
	rs->spare = *spare;
}

struct lnet_rtr_flow *lnet_rtr_flow_get(struct lnet_rtr_shard *rs, const struct lnet_nid *sender,
					const struct lnet_nid *dst, struct lnet_rtr_spare *spare)
{
	struct list_head *bucket = flow_bucket(rs, sender, dst);
	struct lnet_rtr_flow *flow;
	unsigned int cls;

	list_for_each_entry(flow, bucket, link)
		if (lnet_nid_same(&flow->sender->nid, sender) &&
		    lnet_nid_same(&flow->dst->nid, dst)) {
			flow->refs++;
			return flow;
		}
	flow = spare->flow;
	if (!spare->dst || !spare->sender || !flow)
		return NULL;
	spare->flow = NULL;
	flow->sender = node_get(rs->sh->ln, rs->senders, sender, &spare->sender);
	flow->dst = node_get(rs->sh->ln, rs->dsts, dst, &spare->dst);
	flow->sender->refs++;
	flow->dst->refs++;
	for (cls = 0; cls < LNET_NR_RTR; cls++) {
		INIT_LIST_HEAD(&flow->wait[cls]);
		INIT_LIST_HEAD(&flow->turn[cls]);
	}
	INIT_LIST_HEAD(&flow->leaders[0]);
	INIT_LIST_HEAD(&flow->leaders[1]);
	list_add(&flow->link, bucket);
	flow->refs++;
	return flow;
}

void lnet_rtr_flow_put(struct lnet_rtr_shard *rs, struct lnet_rtr_flow *flow)
{
	if (!flow || --flow->refs)
		return;
	list_del(&flow->link);
	rtr_node_put(flow->sender, &rs->spare.sender);
	rtr_node_put(flow->dst, &rs->spare.dst);
	if (rs->spare.flow) {
		kfree(flow);
		return;
	}
	memset(flow, 0, sizeof(*flow));
	rs->spare.flow = flow;
}

/* ---- taking and returning -------------------------------------------------------------------- */

static struct lnet_rtr_pool *pool_of(const struct lnet_fwd *fwd)
{
	return &fwd->rs->pool[fwd->cls];
}

static void note_min(struct lnet_rtr_pool *pool)
{
	pool->min_credits = min(pool->min_credits, (s32)(pool->nr - pool->used - pool->nr_wait));
}

/*
 * Changes the state of @fwd. Takes or returns the credit and the buffer by which the two states
 * differ.
 */
static void fwd_move(struct lnet_fwd *fwd, enum lnet_rx_state to)
{
	enum lnet_rx_state state = fwd->rx->state;
	int credits = holds[to].credit - holds[state].credit;
	int bufs = holds[to].buffer - holds[state].buffer;
	struct lnet_peer_ni *from = fwd->rx->from;

	WARN_ON_ONCE(from->sh != fwd->rs->sh);
	if (credits) {
		from->rtr_credits -= credits;
		from->min_rtr_credits = min(from->min_rtr_credits, from->rtr_credits);
		if (credits > 0)
			list_add_tail(&fwd->held, &from->rtr_held);
		else
			list_del_init(&fwd->held);
	}
	if (bufs) {
		pool_of(fwd)->used += bufs;
		fwd->flow->used[fwd->cls] += bufs;
		fwd->flow->dst->used[fwd->cls] += bufs;
		fwd->flow->sender->used[fwd->cls] += bufs;
		note_min(pool_of(fwd));
	}
	lnet_rx_set_state(fwd->rx, to);
}

/*
 * True if the message may be too large for the driver to read it into separate memory while it
 * waits. Until such a message has a buffer, the driver reads nothing more from the connection.
 */
static bool fwd_is_large(const struct lnet_fwd *fwd)
{
	return fwd->hdr.payload_len > LNET_LARGE;
}

/*
 * Returns the free credits of the sender for messages of this size. Large messages have separate
 * credits, so many small messages that wait do not stop a large one.
 */
static s32 free_credits(const struct lnet_fwd *fwd)
{
	const struct lnet_peer_ni *from = fwd->rx->from;
	const struct lnet_fwd *other;
	s32 free = from->rtr_credits;

	list_for_each_entry(other, &from->rtr_held, held)
		free += fwd_is_large(other) != fwd_is_large(fwd);
	return free;
}

static bool may_have_credit(const struct lnet_fwd *fwd)
{
	const struct lnet_fwd *other;
	s32 mine = 0;

	list_for_each_entry(other, &fwd->rx->from->rtr_held, held)
		mine += other->flow->dst == fwd->flow->dst &&
			fwd_is_large(other) == fwd_is_large(fwd);
	return free_credits(fwd) > mine;
}

/*
 * True if the sender has its whole share of buffers, or if this flow has as many buffers as are
 * left of the share.
 */
static bool is_over_share(const struct lnet_fwd *fwd)
{
	u32 most = pool_of(fwd)->sender_most, used = fwd->flow->sender->used[fwd->cls];

	return used >= most || fwd->flow->used[fwd->cls] >= most - used;
}

static bool may_have_buffer(const struct lnet_fwd *fwd)
{
	const struct lnet_rtr_pool *pool = pool_of(fwd);
	u32 free = pool->nr - min(pool->used, pool->nr), of_dst = fwd->flow->dst->used[fwd->cls];

	return free > of_dst && fwd->flow->used[fwd->cls] < 2 * (free - of_dst) &&
	       !is_over_share(fwd);
}

static void count_wait(struct lnet_fwd *fwd, int by)
{
	struct lnet_rtr_flow *flow = fwd->flow;

	pool_of(fwd)->nr_wait += by;
	flow->nr_wait[fwd->cls] += by;
	flow->dst->nr_wait[fwd->cls] += by;
	flow->sender->nr_wait[fwd->cls] += by;
}

static void wait_buffer_no_more(struct lnet_fwd *fwd)
{
	list_del_init(&fwd->wait);
	count_wait(fwd, -1);
	if (list_empty(&fwd->flow->wait[fwd->cls]))
		list_del_init(&fwd->flow->turn[fwd->cls]);
}

static void lead(struct lnet_fwd *fwd)
{
	list_add_tail(&fwd->wait, &fwd->rx->from->rtr_wait[fwd_is_large(fwd)]);
	list_add_tail(&fwd->lead, &fwd->flow->leaders[fwd_is_large(fwd)]);
}

/*
 * Queues @fwd behind the first message that waits for a credit of the same interface, flow and
 * size.
 */
static void wait_credit(struct lnet_fwd *fwd)
{
	struct lnet_fwd *leader;

	list_for_each_entry(leader, &fwd->flow->leaders[fwd_is_large(fwd)], lead)
		if (leader->rx->from == fwd->rx->from) {
			list_add_tail(&fwd->wait, &leader->behind);
			return;
		}
	lead(fwd);
}

/*
 * Removes @fwd from its queue. The message behind @fwd becomes the first of the queue, and the
 * queue moves behind the other queues.
 */
static void wait_credit_no_more(struct lnet_fwd *fwd)
{
	struct lnet_fwd *next = list_first_entry_or_null(&fwd->behind, struct lnet_fwd, wait);

	list_del_init(&fwd->wait);
	list_del_init(&fwd->lead);
	if (!next)
		return;
	list_del_init(&next->wait);
	list_splice_init(&fwd->behind, &next->behind);
	lead(next);
}

/* @fwd has its credit. Returns true if @fwd also gets a buffer; else @fwd waits for a buffer. */
static bool ask_buffer(struct lnet_fwd *fwd)
{
	struct lnet_rtr_flow *flow = fwd->flow;

	fwd_move(fwd, RX_WAIT_BUFFER);
	if (may_have_buffer(fwd) && list_empty(&flow->wait[fwd->cls])) {
		fwd_move(fwd, RX_RECEIVE_ROUTED);
		return true;
	}
	if (is_over_share(fwd))
		lnet_count(fwd->rs->sh, sender_waits);
	if (list_empty(&flow->wait[fwd->cls]))
		list_add_tail(&flow->turn[fwd->cls], &pool_of(fwd)->checked);
	list_add_tail(&fwd->wait, &flow->wait[fwd->cls]);
	count_wait(fwd, 1);
	note_min(pool_of(fwd));
	return false;
}

/* [sh] @fwd has a buffer: keeps the interface from being removed until the payload is received. */
static void fwd_hold_ni(struct lnet_fwd *fwd)
{
	struct lnet_rx *rx = fwd->rx;

	rx->hold_shard = fwd->rs->sh->ix;
	rx->ni->sh[rx->hold_shard].holds++;
}

void lnet_rtr_arm(struct lnet_rtr_shard *rs)
{
	const struct lnet_fwd *first;

	if (list_empty(&rs->waiting) || !list_empty(&rs->timer.link))
		return;
	first = list_first_entry(&rs->waiting, struct lnet_fwd, all);
	lnet_timer_set(&rs->sh->wheel, &rs->timer, first->rx->arrived_ns +
		       READ_ONCE(rs->sh->ln->tun.transaction_timeout));
}

bool lnet_rtr_request(struct lnet_pass *p, struct lnet_fwd *fwd)
{
	lnet_rx_set_state(fwd->rx, RX_WAIT_PEER_RTR);
	if (!may_have_credit(fwd)) {
		wait_credit(fwd);
	} else if (ask_buffer(fwd)) {
		fwd_hold_ni(fwd);
		return true;
	}
	list_add_tail(&fwd->all, &fwd->rs->waiting);
	lnet_rtr_arm(fwd->rs);
	return false;
}

static struct lnet_rtr_buf *free_take(struct lnet_rtr_pool *pool)
{
	struct lnet_rtr_buf *buf;

	if (list_empty(&pool->free))
		return NULL;
	buf = list_first_entry(&pool->free, struct lnet_rtr_buf, link);
	list_del_init(&buf->link);
	pool->nr_free--;
	pool->nr_idle = min(pool->nr_idle, pool->nr_free);
	return buf;
}

static struct lnet_rtr_buf *buf_new(u32 size)
{
	struct lnet_rtr_buf *buf = kvmalloc(sizeof(*buf) + size, GFP_NOFS | __GFP_NOWARN);

	if (!buf)
		return NULL;
	INIT_LIST_HEAD(&buf->link);
	buf->frag.base = buf->data;
	buf->frag.len = size;
	return buf;
}

bool lnet_rtr_fill(struct lnet_pass *p, struct lnet_fwd *fwd)
{
	struct lnet_rtr_pool *pool = pool_of(fwd);
	struct lnet_rx *rx = fwd->rx;

	rx->want = rx->payload_len;
	if (fwd->cls == LNET_RTR_tiny)
		return true;
	fwd->buf = free_take(pool);
	if (!fwd->buf) {
		lnet_leave(p);
		fwd->buf = buf_new(sizes[fwd->cls]);
		lnet_enter(p, fwd->rs->sh);
		pool->made += !!fwd->buf;
	}
	if (!fwd->buf) {
		lnet_count(p->sh, rx_no_memory);
		rx->ni->sh[rx->hold_shard].holds--;
		lnet_rtr_return(p, fwd);
		return false;
	}
	rx->into = (struct lnet_buf){ .frags = &fwd->buf->frag, .nr = 1, .len = rx->want };
	return true;
}

/* ---- order of waiting messages --------------------------------------------------------------- */

/* @fwd need not wait any more. The end of the pass notifies the driver. */
static void fwd_resume(struct lnet_pass *p, struct lnet_fwd *fwd)
{
	list_del_init(&fwd->all);
	fwd_hold_ni(fwd);
	fwd->rx->verdict = LNET_RECEIVE;
	fwd->rx->received = 1;
	list_add_tail(&fwd->rx->deferred, &p->receive);
}

/*
 * Gives a buffer to the first message of the next flow, if permitted. Then moves this flow behind
 * the other flows.
 */
static void check_next(struct lnet_pass *p, struct lnet_rtr_pool *pool, unsigned int cls)
{
	struct lnet_rtr_flow *flow = list_first_entry(&pool->turn, struct lnet_rtr_flow, turn[cls]);
	struct lnet_fwd *fwd = list_first_entry(&flow->wait[cls], struct lnet_fwd, wait);

	if (!may_have_buffer(fwd)) {
		list_move_tail(&flow->turn[cls], &pool->checked);
		return;
	}
	list_move_tail(&flow->turn[cls], &pool->turn);
	wait_buffer_no_more(fwd);
	fwd_move(fwd, RX_RECEIVE_ROUTED);
	fwd_resume(p, fwd);
}

/*
 * Checks at most SCAN_MAX flows that wait for a buffer, because a sender can create many flows by
 * naming many destinations. The timer checks the remaining flows. When a buffer is released, flows
 * that were not checked since the last release are checked before the others.
 */
static void flows_check(struct lnet_pass *p, struct lnet_rtr_shard *rs, unsigned int cls)
{
	struct lnet_rtr_pool *pool = &rs->pool[cls];
	unsigned int nr;

	for (nr = 0; nr < SCAN_MAX && !list_empty(&pool->turn); nr++)
		check_next(p, pool, cls);
	/*
	 * If the timer is already due, it must not be set again. Buffers are released more often
	 * than timers run, so each release would postpone the timer.
	 */
	if (!list_empty(&pool->turn) &&
	    (list_empty(&rs->timer.link) || rs->timer.when_ns > p->now_ns))
		lnet_timer_set(&rs->sh->wheel, &rs->timer, p->now_ns);
}

void lnet_rtr_scan(struct lnet_pass *p, struct lnet_rtr_shard *rs)
{
	unsigned int cls;

	for (cls = 0; cls < LNET_NR_RTR; cls++)
		flows_check(p, rs, cls);
}

static void wake_buffers(struct lnet_pass *p, struct lnet_rtr_shard *rs, unsigned int cls)
{
	list_splice_tail_init(&rs->pool[cls].checked, &rs->pool[cls].turn);
	flows_check(p, rs, cls);
}

void lnet_rtr_wake(struct lnet_pass *p, struct lnet_rtr_shard *rs)
{
	unsigned int cls;

	for (cls = 0; cls < LNET_NR_RTR; cls++)
		wake_buffers(p, rs, cls);
}

/*
 * Returns the first message of a queue of @from that may have a credit; NULL: none. A message may
 * be refused a credit only if other messages to its destination have credits. So the loop skips at
 * most as many queues as there are messages with credits.
 */
static struct lnet_fwd *next_for_credit(const struct lnet_peer_ni *from, bool large)
{
	struct lnet_fwd *fwd;

	list_for_each_entry(fwd, &from->rtr_wait[large], wait) {
		if (free_credits(fwd) <= 0)
			return NULL;
		if (may_have_credit(fwd))
			return fwd;
	}
	return NULL;
}

static void wake_credits(struct lnet_pass *p, struct lnet_peer_ni *from)
{
	struct lnet_fwd *fwd;
	unsigned int large;

	for (large = 0; large < 2; large++)
		while ((fwd = next_for_credit(from, large))) {
			wait_credit_no_more(fwd);
			if (ask_buffer(fwd))
				fwd_resume(p, fwd);
		}
}

void lnet_rtr_credits_set(struct lnet_pass *p, struct lnet_peer_ni *from)
{
	s32 all = lnet_credits_rtr(from);
	const struct lnet_fwd *fwd;

	lockdep_assert_held(&p->sh->lock);
	if (!all)
		return;
	list_for_each_entry(fwd, &from->rtr_held, held)
		all--;
	from->rtr_credits = all;
	from->min_rtr_credits = min(from->min_rtr_credits, all);
	wake_credits(p, from);
}

struct lnet_rtr_buf *lnet_rtr_return(struct lnet_pass *p, struct lnet_fwd *fwd)
{
	struct lnet_rtr_pool *pool = pool_of(fwd);
	struct lnet_rtr_buf *buf = fwd->buf;

	list_del_init(&fwd->all);
	if (fwd->rx->state == RX_WAIT_BUFFER)
		wait_buffer_no_more(fwd);
	else if (fwd->rx->state == RX_WAIT_PEER_RTR)
		wait_credit_no_more(fwd);
	fwd_move(fwd, RX_DONE);
	lnet_rtr_flow_put(fwd->rs, fwd->flow);
	fwd->flow = NULL;
	fwd->buf = NULL;
	if (buf && pool->made > pool->nr) {
		pool->made--;
	} else if (buf) {
		list_add(&buf->link, &pool->free);
		pool->nr_free++;
		buf = NULL;
	}
	wake_buffers(p, fwd->rs, fwd->cls);
	wake_credits(p, fwd->rx->from);
	return buf;
}
