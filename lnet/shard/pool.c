/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The pools of a shard and their objects. Also references to small buffers and to NIs. */
#include "base/base.h"
#include "shard/shard.h"

/*
 * A pool of operations or events is first filled up to LNET_POOL_REFILL objects. Each time the pool
 * has too few objects, this target doubles, up to RESERVE_MAX. RESERVE_MAX is above
 * LNET_PASS_BURST. Each pool has a separate target: pings and pushes take operations, but no
 * events.
 */
#define RESERVE_MAX 80
#define POOL_MAX 512		/* maximum number of objects of one kind that a shard caches */

void lnet_op_init(struct lnet_op *op)
{
	memset(op, 0, sizeof(*op));
	INIT_LIST_HEAD(&op->link);
	INIT_LIST_HEAD(&op->all);
	INIT_LIST_HEAD(&op->receives);
	INIT_LIST_HEAD(&op->expired);
	INIT_LIST_HEAD(&op->first.link);
	lnet_timer_init(&op->timer, LNET_TIMER_OP);
	op->first.op = op;
}

struct lnet_op *lnet_op_new(void)
{
	struct lnet_op *op = kmalloc(sizeof(*op), GFP_NOFS);

	if (op)
		lnet_op_init(op);
	return op;
}

/* [sh] Removes an object from @pool and returns its link. NULL: @pool is empty. */
static __always_inline struct list_head *pool_take(struct lnet_pool *pool)
{
	struct list_head *link = pool->free.next;

	if (list_empty(&pool->free))
		return NULL;
	list_del_init(link);
	lnet_pool_count(pool, -1);
	return link;
}

/* [sh] Returns the event @e to the pool of @sh. @e may be NULL. */
static void evt_keep(struct lnet_shard *sh, struct lnet_evt *e)
{
	if (!e)
		return;
	if (sh->evts.nr >= POOL_MAX) {
		kfree(e);
		return;
	}
	list_add(&e->link, &sh->evts.free);	/* the taker fills it */
	lnet_pool_count(&sh->evts, 1);
}

void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op)
{
	const size_t kept = offsetof(struct lnet_op, md);

	evt_keep(sh, op->evt[0]);
	evt_keep(sh, op->evt[1]);
	lnet_sbuf_put(op->sbuf);
	if (sh->ops.nr >= POOL_MAX) {
		kfree(op);
		return;
	}
	/*
	 * The lists, the timer and the attempt of @op are in their initial state. The following
	 * code clears the other members.
	 */
	WARN_ON_ONCE(op->first.state != ATT_FREE || !list_empty(&op->timer.link) ||
		     !list_empty(&op->all) || !list_empty(&op->receives) ||
		     !list_empty(&op->expired));
	memset((u8 *)op + kept, 0, sizeof(*op) - kept);
	list_add(&op->link, &sh->ops.free);
	lnet_pool_count(&sh->ops, 1);
}

struct lnet_evt *lnet_evt_take(struct lnet_shard *sh)
{
	struct list_head *link = pool_take(&sh->evts);

	return link ? list_entry(link, struct lnet_evt, link) : NULL;
}

void lnet_evt_recycle(struct lnet_pass *p, struct lnet_evt *e)
{
	list_add(&e->link, &p->evts);
	p->nr_evts++;
}

void lnet_evts_keep(struct lnet_pass *p, struct lnet_shard *sh)
{
	struct lnet_evt *e, *next;

	if (likely(sh->evts.nr + p->nr_evts <= POOL_MAX)) {
		list_splice_init(&p->evts, &sh->evts.free);
		lnet_pool_count(&sh->evts, (int)p->nr_evts);
	} else {
		list_for_each_entry_safe(e, next, &p->evts, link)
			evt_keep(sh, e);
		INIT_LIST_HEAD(&p->evts);
	}
	p->nr_evts = 0;
}

/*
 * With this number of events or more, lnet_evts_return() takes the shard lock if the lock is free.
 */
#define EVTS_WORTH_A_LOCK 8

void lnet_evts_return(struct lnet_pass *p, struct lnet_shard *sh)
{
	struct lnet_evt *first = NULL, *last, *e, *next, *old;

	if (list_empty(&p->evts))
		return;
	if (p->nr_evts >= EVTS_WORTH_A_LOCK && spin_trylock(&sh->lock)) {
		lnet_evts_keep(p, sh);
		spin_unlock(&sh->lock);
		return;
	}
	last = list_first_entry(&p->evts, struct lnet_evt, link);
	list_for_each_entry_safe(e, next, &p->evts, link) {
		e->next = first;
		first = e;
	}
	INIT_LIST_HEAD(&p->evts);
	p->nr_evts = 0;
	do {
		old = READ_ONCE(sh->evts_back);
		last->next = old;
	} while (cmpxchg(&sh->evts_back, old, first) != old);
}

/*
 * Moves at most @max delivered events from sh->evts_back to @evts, and frees the others. Returns
 * the number moved.
 */
static u32 take_back(struct lnet_shard *sh, struct list_head *evts, u32 max)
{
	struct lnet_evt *e, *next;
	u32 nr = 0;

	if (!READ_ONCE(sh->evts_back))
		return 0;
	for (e = xchg(&sh->evts_back, NULL); e; e = next) {
		next = e->next;
		if (nr == max) {
			kfree(e);
			continue;
		}
		list_add(&e->link, evts);
		nr++;
	}
	return nr;
}

void lnet_op_free(struct lnet_op *op)
{
	if (!op)
		return;
	lnet_evt_free(op->evt[0]);
	lnet_evt_free(op->evt[1]);
	lnet_sbuf_put(op->sbuf);
	kfree(op);
}

struct lnet_evt *lnet_evt_new(void)
{
	struct lnet_evt *e = kzalloc(sizeof(*e), GFP_NOFS);

	if (e)
		INIT_LIST_HEAD(&e->link);
	return e;
}

void lnet_evt_free(struct lnet_evt *e)
{
	kfree(e);
}

struct lnet_sbuf *lnet_sbuf_new(u32 len)
{
	struct lnet_sbuf *c = kmalloc(sizeof(*c) + len, GFP_NOFS);

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	atomic_set(&c->refs, 1);
	c->len = len;
	c->frag.base = c->data;
	c->frag.len = len;
	return c;
}

void lnet_sbuf_get(struct lnet_sbuf *c)
{
	atomic_inc(&c->refs);
}

void lnet_sbuf_put(struct lnet_sbuf *c)
{
	if (c && atomic_dec_and_test(&c->refs))
		kfree(c);
}

void lnet_ni_get(struct lnet_ni *ni)
{
	atomic_inc(&ni->refs);
}

void lnet_ni_put(struct lnet_ni *ni)
{
	if (!ni || !atomic_dec_and_test(&ni->refs))
		return;
	WARN_ON_ONCE(ni->state != NI_GONE && ni->state != NI_NEW);
	/* the NI had been started, so a pass could call its driver until now */
	if (ni->state == NI_GONE)
		module_put(ni->ops->owner);
	kfree(ni->priv);
	atomic_dec(&ni->ln->nr_counted);
	kvfree(ni);
}

struct lnet_op *lnet_op_take(struct lnet_shard *sh)
{
	struct list_head *link = pool_take(&sh->ops);

	return link ? list_entry(link, struct lnet_op, link) : NULL;
}

struct lnet_att *lnet_att_take(struct lnet_shard *sh)
{
	struct list_head *link = pool_take(&sh->atts);

	return link ? list_entry(link, struct lnet_att, link) : NULL;
}

/*
 * Returns the number of objects up to which to fill @pool. @back: number of events that
 * lnet_evts_return() returns to it.
 */
static u32 pool_wanted(const struct lnet_pool *pool, u32 back)
{
	bool more = READ_ONCE(pool->nr) + back < LNET_POOL_REFILL;
	u32 was = READ_ONCE(pool->target);

	return clamp_t(u32, more ? 2 * was : was, LNET_POOL_REFILL, RESERVE_MAX);
}

static u32 pool_missing(const struct lnet_pool *pool, u32 want)
{
	u32 nr = READ_ONCE(pool->nr);

	return want - min(want, nr);
}

/*
 * Adds @nr zeroed objects of @size bytes to @list. @link: offset of their list_head. Returns the
 * number added, which is below @nr if an allocation fails.
 */
static u32 objects_alloc(struct list_head *list, u32 nr, size_t size, size_t link)
{
	u32 done;

	for (done = 0; done < nr; done++) {
		u8 *object = kzalloc(size, GFP_NOFS);

		if (!object)
			break;
		list_add((struct list_head *)(object + link), list);
	}
	return done;
}

/*
 * If an allocation fails, a pool has too few objects. Functions that take objects handle an empty
 * pool.
 */
void lnet_pool_refill(struct lnet_shard *sh)
{
	LIST_HEAD(ops);
	LIST_HEAD(atts);
	LIST_HEAD(evts);
	u32 nr_ops, nr_atts, nr_evts = take_back(sh, &evts, POOL_MAX);
	u32 want_ops = pool_wanted(&sh->ops, 0), want_evts = pool_wanted(&sh->evts, nr_evts);

	for (nr_ops = 0; nr_ops < pool_missing(&sh->ops, want_ops); nr_ops++) {
		struct lnet_op *op = lnet_op_new();

		if (!op)
			break;
		list_add(&op->link, &ops);
	}
	nr_atts = objects_alloc(&atts, pool_missing(&sh->atts, LNET_POOL_REFILL),
				sizeof(struct lnet_att), offsetof(struct lnet_att, link));
	nr_evts +=
		objects_alloc(&evts, pool_missing(&sh->evts, want_evts - min(want_evts, nr_evts)),
			      sizeof(struct lnet_evt), offsetof(struct lnet_evt, link));
	if (!nr_ops && !nr_atts && !nr_evts)
		return;
	spin_lock(&sh->lock);
	WRITE_ONCE(sh->ops.target, want_ops);
	WRITE_ONCE(sh->evts.target, want_evts);
	list_splice(&ops, &sh->ops.free);
	list_splice(&atts, &sh->atts.free);
	list_splice(&evts, &sh->evts.free);
	lnet_pool_count(&sh->evts, nr_evts);
	lnet_pool_count(&sh->ops, nr_ops);
	lnet_pool_count(&sh->atts, nr_atts);
	spin_unlock(&sh->lock);
}

void lnet_stats_prealloc(struct lnet_shard *sh)
{
	u32 want = READ_ONCE(sh->stats_want);
	LIST_HEAD(blocks);

	objects_alloc(&blocks, want, sizeof(struct lnet_path_stats),
		      offsetof(struct lnet_path_stats, link));
	spin_lock(&sh->lock);
	list_splice(&blocks, &sh->stats_free);
	WRITE_ONCE(sh->stats_want, sh->stats_want - min(sh->stats_want, want));
	spin_unlock(&sh->lock);
}

void lnet_pools_free(struct lnet_shard *sh)
{
	struct lnet_path_stats *s, *other;
	struct lnet_att *att, *more;
	struct lnet_op *op, *next;
	struct lnet_evt *e, *after;

	take_back(sh, &sh->evts.free, U32_MAX);
	list_for_each_entry_safe(op, next, &sh->ops.free, link)
		lnet_op_free(op);
	list_for_each_entry_safe(att, more, &sh->atts.free, link)
		kfree(att);
	list_for_each_entry_safe(e, after, &sh->evts.free, link)
		kfree(e);
	list_for_each_entry_safe(s, other, &sh->stats_free, link)
		kfree(s);
}
