/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Delivers events. Handlers of one MD run one at a time and in order, with no lock held. For each
 * pass (one visit of a thread to the core), the time and the number of events are bounded. Counts
 * and logs handlers that run for longer than handler_limit.
 */
#include <lnet/env.h>
#include "shard/shard.h"
#include "memory/memory.h"

#define BATCH	16U	/* events that a thread takes from an MD each time it locks the MD */
/* One delivery runs handlers for at most this time. Then the worker serves sockets and timers. */
#define TURN_NS	(2 * (u64)NSEC_PER_MSEC)

/*
 * The limits of one delivery: @left: number of events that it may still deliver; @end_ns: its end.
 */
struct turn {
	unsigned int left;
	u64 end_ns, now_ns;
};

static u64 event_now_ns(const struct lnet *ln)
{
	return ln->env->ops->now_ns(ln->env);
}

/* ---- handlers that run for too long ---------------------------------------------------------- */

#define COUNTED		1ULL	/* bit of w->begin_ns: the batch of events is counted as too slow */
#define LOOKS		4		/* number of checks of a handler within handler_limit */

/* Converts @now_ns to a value of w->begin_ns, which is never 0 and in which COUNTED is clear. */
static u64 begin_of(u64 now_ns)
{
	return (now_ns | 2 * COUNTED) & ~COUNTED;
}

static u64 check_ns(const struct lnet *ln, u64 now_ns)
{
	return now_ns + max_t(u64, READ_ONCE(ln->tun.handler_limit) / LOOKS, NSEC_PER_USEC);
}

/*
 * Begins the watch of handlers of @md. NULL: they are not watched, because there is no limit, or
 * all watches are in use.
 */
static struct lnet_watch *watch_begin(struct lnet_md *md, u64 now_ns)
{
	struct lnet *ln = md->ln;
	unsigned int first = (unsigned int)(md->cookie >> 8), i;

	if (!READ_ONCE(ln->tun.handler_limit))
		return NULL;
	for (i = 0; i < LNET_WATCHES; i++) {
		struct lnet_watch *w = &ln->watch[(first + i) % LNET_WATCHES];

		if (READ_ONCE(w->begin_ns) || cmpxchg(&w->begin_ns, 0, begin_of(now_ns)))
			continue;
		/*
		 * The watch may be about to become idle. lnet_handlers_watch() first sets
		 * watch_idle, and then reads begin_ns again. So either it finds this batch, or this
		 * thread finds watch_idle set and starts the watch.
		 */
		if (READ_ONCE(ln->watch_idle) && xchg(&ln->watch_idle, 0) &&
		    ln->env->ops->watch)
			ln->env->ops->watch(ln->env, check_ns(ln, now_ns));
		return w;
	}
	return NULL;
}

/*
 * A batch of @nr handlers ended at @now_ns. If it took too long, logs it, and counts it unless it
 * was counted before.
 */
static void watch_batch(struct lnet *ln, struct lnet_watch *w, unsigned int nr, u64 now_ns)
{
	u64 begin_ns = READ_ONCE(w->begin_ns) & ~COUNTED;
	u32 what = READ_ONCE(w->what);

	if (now_ns < begin_ns || now_ns - begin_ns < READ_ONCE(ln->tun.handler_limit)) {
		WRITE_ONCE(w->begin_ns, begin_of(now_ns));
		return;
	}
	if (!(xchg(&w->begin_ns, begin_of(now_ns)) & COUNTED))
		lnet_stat_count(ln, LNET_C_slow_handlers);
	lnet_log_handler_slow(ln, what >> 8, lnet_event_name(what & 0xff),
			      div64_u64(now_ns - begin_ns, NSEC_PER_MSEC), nr);
}

/* Counts and logs each handler that runs for too long. True: at least one handler runs. */
static bool look_at_all(struct lnet *ln, u64 now_ns)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < LNET_WATCHES; i++) {
		struct lnet_watch *w = &ln->watch[i];
		u64 begin_ns = READ_ONCE(w->begin_ns);
		u32 what = READ_ONCE(w->what);

		any |= begin_ns != 0;
		if (!begin_ns || begin_ns & COUNTED || now_ns < begin_ns ||
		    now_ns - begin_ns < READ_ONCE(ln->tun.handler_limit) ||
		    cmpxchg(&w->begin_ns, begin_ns, begin_ns | COUNTED) != begin_ns)
			continue;
		lnet_stat_count(ln, LNET_C_slow_handlers);
		lnet_log_handler_blocks(ln, what >> 8, lnet_event_name(what & 0xff),
					div64_u64(now_ns - begin_ns, NSEC_PER_MSEC));
	}
	return any;
}

u64 lnet_handlers_watch(struct lnet *ln)
{
	u64 now_ns = event_now_ns(ln);

	if (look_at_all(ln, now_ns))
		return check_ns(ln, now_ns);
	xchg(&ln->watch_idle, 1);
	if (look_at_all(ln, now_ns) && xchg(&ln->watch_idle, 0))
		return check_ns(ln, now_ns);
	return U64_MAX;
}

/* ---- delivery -------------------------------------------------------------------------------- */

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
 * Moves at most @max events of @md to @batch. False: @md has no event. Then this thread must not
 * use @md again, because the MD may be freed, or another thread may deliver its events.
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

/* Runs the handlers of the events in @batch, at most BATCH. Ends @turn when its time is over. */
static void handle_batch(struct lnet_pass *p, struct lnet_md *md, struct list_head *batch,
			 struct lnet_watch *watch, struct turn *turn)
{
	struct lnet_evt *e, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(e, next, batch, link) {
		if (watch)
			WRITE_ONCE(watch->what, (u32)e->ev.portal << 8 | e->ev.kind);
		if (md->handler)
			md->handler(&e->ev);
		if (e != &lnet_md_full(md)->last)
			lnet_evt_recycle(p, e);
		nr++;
	}
	turn->left -= nr;
	turn->now_ns = event_now_ns(p->ln);
	if (watch)
		watch_batch(p->ln, watch, nr, turn->now_ns);
	if (turn->now_ns >= turn->end_ns)
		turn->left = 0;
}

void lnet_md_hand_over(struct lnet_pass *p)
{
	lnet_enter(p, &p->ln->shard[0]);
	list_splice_tail_init(&p->ready, &p->sh->ready);
	lnet_leave(p);
	if (!lnet_pass_in_handler(p))
		p->ln->env->ops->kick(p->ln->env, 0);
}

static void events_deliver(struct lnet_pass *p, struct turn *turn)
{
	struct lnet_watch *watch;
	struct lnet_md *md;
	LIST_HEAD(batch);
	bool more;

	while (turn->left && !list_empty(&p->ready)) {
		md = list_first_entry(&p->ready, struct lnet_md, ready);
		list_del_init(&md->ready);
		watch = watch_begin(md, turn->now_ns);
		while ((more = take_events(md, &batch, min(BATCH, turn->left))) && turn->left) {
			handle_batch(p, md, &batch, watch, turn);
			INIT_LIST_HEAD(&batch);
		}
		if (watch)
			smp_store_release(&watch->begin_ns, 0);
		if (more)		/* if no event is left, another thread may free @md */
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

/*
 * Delivers the events of p->ready. The thread sh->deliverer also delivers the events that its
 * handlers cause. A worker delivers those that other threads cause.
 */
static void deliver_all(struct lnet_pass *p)
{
	struct lnet_shard *sh = &p->ln->shard[0];
	bool mine = !cmpxchg(&sh->deliverer, NULL, plat_self());
	struct turn turn = { .left = LNET_EVENTS_PER_PASS, .now_ns = event_now_ns(p->ln) };

	turn.end_ns = turn.now_ns + TURN_NS;
	events_deliver(p, &turn);
	while (mine && turn.left && !list_empty(&sh->ready)) {
		lnet_md_take_ready(p);
		events_deliver(p, &turn);
	}
	if (!mine)
		return;
	WRITE_ONCE(sh->deliverer, NULL);
	if (!list_empty(&sh->ready))
		p->ln->env->ops->kick(p->ln->env, 0);
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
