/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations, attempts, events and small copies, and what a shard keeps of them for reuse. */
#include "base/base.h"
#include "shard/shard.h"

/*
 * Operations and events kept ready in a shard: few at first, of each kind twice as many each time
 * it is used up, to more than a burst. Pings and pushes have no events, so one says nothing of the
 * other.
 */
#define RESERVE_FIRST LNET_RESERVE_LOW
#define RESERVE_MAX 80
#define POOL_MAX 512		/* objects of a kind that a shard keeps */

void lnet_op_init(struct lnet_op *op)
{
	memset(op, 0, sizeof(*op));
	INIT_LIST_HEAD(&op->link);
	INIT_LIST_HEAD(&op->all);
	INIT_LIST_HEAD(&op->landings);
	INIT_LIST_HEAD(&op->voided);
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

/* [sh] The link of an object of @pool; NULL: @pool is empty. */
static __always_inline struct list_head *take(struct lnet_pool *pool)
{
	struct list_head *link = pool->free.next;

	if (list_empty(&pool->free))
		return NULL;
	list_del_init(link);
	lnet_pool_count(pool, -1);
	return link;
}

void lnet_evt_keep(struct lnet_shard *sh, struct lnet_evt *e)
{
	if (!e)
		return;
	if (sh->evts.nr >= POOL_MAX) {
		kfree(e);
		return;
	}
	list_add(&e->link, &sh->evts.free);	/* who takes it fills it */
	lnet_pool_count(&sh->evts, 1);
}

void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op)
{
	const size_t kept = offsetof(struct lnet_op, md);

	lnet_evt_keep(sh, op->evt[0]);
	lnet_evt_keep(sh, op->evt[1]);
	lnet_copy_put(op->copy);
	if (sh->ops.nr >= POOL_MAX) {
		kfree(op);
		return;
	}
	/* its lists, timer and attempt are as they were at its begin; the rest is cleared */
	WARN_ON_ONCE(op->first.state != ATT_FREE || !list_empty(&op->timer.link) ||
		     !list_empty(&op->all) || !list_empty(&op->landings) ||
		     !list_empty(&op->voided));
	memset((u8 *)op + kept, 0, sizeof(*op) - kept);
	list_add(&op->link, &sh->ops.free);
	lnet_pool_count(&sh->ops, 1);
}

struct lnet_evt *lnet_evt_take(struct lnet_shard *sh)
{
	struct list_head *link = take(&sh->evts);

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
			lnet_evt_keep(sh, e);
		INIT_LIST_HEAD(&p->evts);
	}
	p->nr_evts = 0;
}

/* So many are worth the lock, if nobody else has it. */
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

/* To @evts, at most @max; how many. */
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

void lnet_evts_free(struct lnet_shard *sh)
{
	LIST_HEAD(none);

	take_back(sh, &none, 0);
}

void lnet_op_free(struct lnet_op *op)
{
	if (!op)
		return;
	lnet_evt_free(op->evt[0]);
	lnet_evt_free(op->evt[1]);
	lnet_copy_put(op->copy);
	kfree(op);
}

struct lnet_evt *lnet_evt_new(struct lnet *ln)
{
	struct lnet_evt *e = kzalloc(sizeof(*e), GFP_NOFS);

	(void)ln;
	if (e)
		INIT_LIST_HEAD(&e->link);
	return e;
}

void lnet_evt_free(struct lnet_evt *e)
{
	kfree(e);
}

struct lnet_copy *lnet_copy_new(u32 len)
{
	struct lnet_copy *c = kmalloc(sizeof(*c) + len, GFP_NOFS);

	if (!c)
		return NULL;
	memset(c, 0, sizeof(*c));
	atomic_set(&c->refs, 1);
	c->len = len;
	c->frag.base = c->data;
	c->frag.len = len;
	return c;
}

void lnet_copy_get(struct lnet_copy *c)
{
	atomic_inc(&c->refs);
}

void lnet_copy_put(struct lnet_copy *c)
{
	if (c && atomic_dec_and_test(&c->refs))
		kfree(c);
}

struct lnet_op *lnet_op_take(struct lnet_shard *sh)
{
	struct list_head *link = take(&sh->ops);

	return link ? list_entry(link, struct lnet_op, link) : NULL;
}

struct lnet_att *lnet_att_take(struct lnet_shard *sh)
{
	struct list_head *link = take(&sh->atts);

	return link ? list_entry(link, struct lnet_att, link) : NULL;
}

/* @back: those that have come back. */
static u32 wanted(const struct lnet_pool *pool, u32 back)
{
	bool more = READ_ONCE(pool->nr) + back < RESERVE_FIRST;
	u32 was = READ_ONCE(pool->reserve);

	return clamp_t(u32, more ? 2 * was : was, RESERVE_FIRST, RESERVE_MAX);
}

/*
 * No lock held: what a lock hold may need is allocated before it. A failed allocation leaves the
 * reserve short; takers cope.
 */
void lnet_pool_refill(struct lnet_shard *sh)
{
	LIST_HEAD(ops);
	LIST_HEAD(atts);
	LIST_HEAD(evts);
	u32 nr_ops = 0, nr_atts = 0, nr_evts = take_back(sh, &evts, POOL_MAX);
	u32 want_ops = wanted(&sh->ops, 0), want_evts = wanted(&sh->evts, nr_evts);

	while (READ_ONCE(sh->ops.nr) + nr_ops < want_ops) {
		struct lnet_op *op = lnet_op_new();

		if (!op)
			break;
		list_add(&op->link, &ops);
		nr_ops++;
	}
	while (READ_ONCE(sh->atts.nr) + nr_atts < RESERVE_FIRST) {
		struct lnet_att *att = kzalloc(sizeof(*att), GFP_NOFS);

		if (!att)
			break;
		list_add(&att->link, &atts);
		nr_atts++;
	}
	while (READ_ONCE(sh->evts.nr) + nr_evts < want_evts) {
		struct lnet_evt *e = lnet_evt_new(sh->ln);

		if (!e)
			break;
		list_add(&e->link, &evts);
		nr_evts++;
	}
	if (!nr_ops && !nr_atts && !nr_evts)
		return;
	spin_lock(&sh->lock);
	WRITE_ONCE(sh->ops.reserve, want_ops);
	WRITE_ONCE(sh->evts.reserve, want_evts);
	list_splice(&ops, &sh->ops.free);
	list_splice(&atts, &sh->atts.free);
	list_splice(&evts, &sh->evts.free);
	lnet_pool_count(&sh->evts, nr_evts);
	lnet_pool_count(&sh->ops, nr_ops);
	lnet_pool_count(&sh->atts, nr_atts);
	spin_unlock(&sh->lock);
}

bool lnet_pool_low(const struct lnet_shard *sh)
{
	return READ_ONCE(sh->ops.nr) < RESERVE_FIRST || READ_ONCE(sh->atts.nr) == 0 ||
	       READ_ONCE(sh->evts.nr) < RESERVE_FIRST;
}
