/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delivers events: handlers of one MD one at a time and in order, with no lock held, within a
 * budget per pass.
 */
#include "shard/shard.h"
#include "memory/memory.h"

#define BATCH	16U	/* events taken from an MD per hold of its lock */
/* One delivery runs handlers for this long. Then the worker serves sockets and timers. */
#define TURN_NS	(2 * (u64)NSEC_PER_MSEC)

/* The limits of one delivery: the number of events still allowed, and the end time. */
struct turn {
	unsigned int left;
	u64 end_ns, now_ns;
};

bool lnet_md_queue_list(struct lnet_md *md, struct list_head *evts)
{
	bool wake = !md->delivering;

	lockdep_assert_held(md->lock);
	list_splice_tail(evts, &md->done);
	md->delivering = 1;
	return wake;
}

bool lnet_md_queue(struct lnet_md *md, struct lnet_evt *e)
{
	LIST_HEAD(one);

	list_add(&e->link, &one);
	return lnet_md_queue_list(md, &one);
}

/*
 * Moves at most @max events to @batch. False: there are none, so this thread ceases to deliver the
 * events of @md, and must not use @md again.
 */
static bool take_events(struct lnet_md *md, struct list_head *batch, unsigned int max)
{
	struct list_head *last = &md->done;

	spin_lock(md->lock);
	if (list_empty(&md->done)) {
		md->delivering = 0;
		lnet_md_unlock_free(md);
		return false;
	}
	while (max-- && last->next != &md->done)
		last = last->next;
	list_cut_position(batch, &md->done, last);
	spin_unlock(md->lock);
	return true;
}

static u64 clock_ns(const struct lnet_pass *p)
{
	return p->ln->env->ops->now_ns(p->ln->env);
}

/* Runs the handlers of @batch, at most BATCH events, and ends @turn if its time is over. */
static void handle_batch(struct lnet_pass *p, struct lnet_md *md, struct list_head *batch,
			 struct lnet_watch *watch, struct turn *turn)
{
	struct lnet_evt *e, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(e, next, batch, link) {
		lnet_watch_event(watch, &e->ev);
		if (md->handler)
			md->handler(&e->ev);
		if (e != &lnet_md_full(md)->last)
			lnet_evt_recycle(p, e);
		nr++;
	}
	turn->left -= nr;
	turn->now_ns = clock_ns(p);
	lnet_watch_batch(p->ln, watch, nr, turn->now_ns);
	if (turn->now_ns >= turn->end_ns)
		turn->left = 0;
}

static void kick(struct lnet *ln)
{
	ln->env->ops->kick(ln->env, 0);
}

void lnet_md_hand_over(struct lnet_pass *p)
{
	lnet_enter(p, &p->ln->shard[0]);
	list_splice_tail_init(&p->ready, &p->sh->ready);
	lnet_leave(p);
	if (!lnet_pass_in_handler(p))
		kick(p->ln);
}

static void deliver(struct lnet_pass *p, struct turn *turn)
{
	struct lnet_watch *watch;
	struct lnet_md *md;
	LIST_HEAD(batch);
	bool more;

	while (turn->left && !list_empty(&p->ready)) {
		md = list_first_entry(&p->ready, struct lnet_md, ready);
		list_del_init(&md->ready);
		watch = lnet_watch_begin(md, turn->now_ns);
		while ((more = take_events(md, &batch, min(BATCH, turn->left))) && turn->left) {
			handle_batch(p, md, &batch, watch, turn);
			INIT_LIST_HEAD(&batch);
		}
		lnet_watch_end(watch);
		if (more)		/* else @md may be freed */
			list_add(&md->ready, &p->ready);
	}
}

void lnet_md_take_ready(struct lnet_pass *p)
{
	struct lnet_shard *sh = &p->ln->shard[0];

	if (list_empty(&sh->ready))
		return;
	lnet_enter(p, sh);
	list_splice_tail_init(&sh->ready, &p->ready);
	lnet_leave(p);
}

/* sh->deliverer also delivers events of its handlers. A worker delivers those of other threads. */
static void deliver_all(struct lnet_pass *p)
{
	struct lnet_shard *sh = &p->ln->shard[0];
	bool mine = !cmpxchg(&sh->deliverer, NULL, plat_self());
	struct turn turn = { .left = LNET_EVENTS_PER_PASS, .now_ns = clock_ns(p) };

	turn.end_ns = turn.now_ns + TURN_NS;
	deliver(p, &turn);
	while (mine && turn.left && !list_empty(&sh->ready)) {
		lnet_md_take_ready(p);
		deliver(p, &turn);
	}
	if (!mine)
		return;
	WRITE_ONCE(sh->deliverer, NULL);
	if (!list_empty(&sh->ready))
		kick(p->ln);
}

void lnet_md_deliver(struct lnet_pass *p)
{
	struct lnet_env *env = p->ln->env;

	if (list_empty(&p->ready))
		return;
	if (p->kind == LNET_PASS_EVENTS ||
	    (p->kind != LNET_PASS_CALL &&
	     !(env->ops->defer && env->ops->defer(env, &p->ready))))
		deliver_all(p);
	if (!list_empty(&p->ready))
		lnet_md_hand_over(p);
}
