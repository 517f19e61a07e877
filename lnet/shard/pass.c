/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A pass from its begin to its end. It locks one shard at a time. When it has released the last
 * shard, it does its deferred work.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "shard/hooks.h"
#include "shard/trace.h"

/* A pass that is older than this time does not deliver events again. */
#define PASS_LONG_NS	(4 * (u64)NSEC_PER_MSEC)

void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	might_sleep();
	p->ln = ln;
	p->sh = NULL;
	p->kind = kind;
	p->more = p->nr_flush = p->busy = 0;
	p->nr = 0;
	p->now_ns = ln->env->ops->now_ns(ln->env);
	p->backs = NULL;
	p->acks = 0;
	p->nr_evts = 0;
	p->stats.nr = p->stats.nr_times = 0;
	p->stats.bytes = 0;
	INIT_LIST_HEAD(&p->send);
	INIT_LIST_HEAD(&p->receive);
	INIT_LIST_HEAD(&p->stop);
	INIT_LIST_HEAD(&p->reported);
	INIT_LIST_HEAD(&p->cancel);
	INIT_LIST_HEAD(&p->posts);
	INIT_LIST_HEAD(&p->ready);
	INIT_LIST_HEAD(&p->defer);
	INIT_LIST_HEAD(&p->resets);
	INIT_LIST_HEAD(&p->routed);
	INIT_LIST_HEAD(&p->evts);
}

/* ---- entering and leaving -------------------------------------------------------------------- */

static void take_more(struct lnet_pass *p, struct lnet_shard *sh)
{
	list_splice_tail_init(&sh->more, &p->send);
	sh->nr_more = 0;
	WRITE_ONCE(sh->more_left, 0);
}

static noinline void pass_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	lnet_leave(p);
	if (READ_ONCE(sh->ops.nr) < LNET_POOL_REFILL || READ_ONCE(sh->atts.nr) == 0 ||
	    READ_ONCE(sh->evts.nr) < LNET_POOL_REFILL)
		lnet_pool_refill(sh);
	if (unlikely(READ_ONCE(sh->ln->nr_slot_free) < LNET_SLOTS_LOW))
		sh->ln->hooks->slots_prealloc(sh->ln);
	if (unlikely(READ_ONCE(sh->stats_want)))
		lnet_stats_prealloc(sh);
	spin_lock(&sh->lock);
	/* sparse expects a release here, but lnet_leave() releases the lock */
	__release(&sh->lock);
	p->sh = sh;
	p->nr = 0;
	/*
	 * This pass may have read the clock before another pass, and entered @sh after it. Then the
	 * time of this pass is before the timestamps in @sh. No timestamp may be in the future, so
	 * this pass uses the later time.
	 */
	p->now_ns = max(p->now_ns, sh->now_ns);
	lnet_rec_note(sh, visit, p);
	if (unlikely(sh->more_left) && !p->more)
		take_more(p, sh);
}

void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	if (p->sh == sh && p->nr < LNET_PASS_BURST) {
		p->nr++;
		return;
	}
	pass_enter(p, sh);
}

void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni)
{
	struct lnet_shard *sh;

	do {
		sh = READ_ONCE(pni->sh);
		lnet_enter(p, sh);
	} while (sh != pni->sh);
}

void lnet_enter_peer(struct lnet_pass *p, const struct lnet_peer *peer)
{
	struct lnet_shard *sh;

	do {
		sh = READ_ONCE(peer->sh);
		lnet_enter(p, sh);
	} while (sh != peer->sh);
}

void lnet_leave(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	bool kick = false;
	u64 next_ns;

	if (!sh)
		return;
	if (!list_empty(&p->posts))
		p->ln->hooks->posts(p);
	/*
	 * Events of an API call wait in shard 0 for the worker. If the caller is a handler,
	 * lnet_md_deliver() of its thread delivers them.
	 */
	if (p->kind == LNET_PASS_CALL && !list_empty(&p->ready) && !sh->ix) {
		list_splice_tail_init(&p->ready, &sh->ready);
		kick = !lnet_pass_in_handler(p);
	}
	lnet_pass_stats_add(p);
	p->sh = NULL;
	sh->now_ns = p->now_ns;
	if (!list_empty(&p->evts))
		lnet_evts_keep(p, sh);
	if (unlikely(sh->wheel.soonest_ns < sh->next_ns)) {
		next_ns = lnet_wheel_next_ns(&sh->wheel);
		if (next_ns < sh->next_ns) {
			WRITE_ONCE(sh->next_ns, next_ns);
			sh->ln->env->ops->arm(sh->ln->env, sh->ix);
		}
	}
	__acquire(&sh->lock);
	spin_unlock(&sh->lock);
	if (kick)
		sh->ln->env->ops->kick(sh->ln->env, sh->ix);
}

void lnet_pass_relax(struct lnet_pass *p)
{
	lnet_leave(p);
}

/* ---- LNET_MORE ------------------------------------------------------------------------------- */

/*
 * With LNET_MORE: moves p->send to the locked shard, and releases the shard. The worker, or a later
 * pass without LNET_MORE, sends these messages. If p->send has a full burst, it is not moved.
 */
static void more_leave(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	bool first;

	if (!sh || list_empty(&p->send))
		return;
	list_splice_tail_init(&p->send, &sh->more);
	if (++sh->nr_more >= LNET_DOORBELL_BURST) {
		p->more = 0;
		take_more(p, sh);
		return;
	}
	first = !sh->more_left;
	WRITE_ONCE(sh->more_left, 1);
	lnet_leave(p);
	if (!first)
		return;
	atomic_set(&p->ln->doorbells, 1);
	if (!lnet_pass_in_handler(p))
		p->ln->env->ops->kick(p->ln->env, sh->ix);
}

/* Moves to p->send the messages that calls with LNET_MORE have added to the shards. */
static void more_collect(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	unsigned int i;

	if (p->more || !atomic_read(&ln->doorbells) || !atomic_xchg(&ln->doorbells, 0))
		return;
	for (i = 0; i < ln->nr_shards; i++)
		if (READ_ONCE(ln->shard[i].more_left))
			lnet_enter(p, &ln->shard[i]);
}

/* ---- deferred work --------------------------------------------------------------------------- */

static void ring(struct lnet_ni *ni, struct lnet_pass *p)
{
	if (ni->ops->flush)
		ni->ops->flush(p, ni);
	lnet_ni_put(ni);
}

static void ring_add(struct lnet_pass *p, struct lnet_ni *ni)
{
	unsigned int i;

	for (i = 0; i < p->nr_flush; i++)
		if (p->flush_nis[i] == ni)
			return;
	if (p->nr_flush == ARRAY_SIZE(p->flush_nis)) {
		ring(p->flush_nis[0], p);
		p->flush_nis[0] = p->flush_nis[--p->nr_flush];
	}
	lnet_ni_get(ni);
	p->flush_nis[p->nr_flush++] = ni;
}

/*
 * Gives @att to its driver. The caller holds a reference to @ni: before send() returns, another
 * thread may complete @att and drop the last reference.
 */
static void send_one(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	if (unlikely(READ_ONCE(p->ln->fault)) && p->ln->hooks->fault_send(p, ni, att))
		return;
	WRITE_ONCE(att->flags, 0);
	att->outcome = LNET_LOCAL_ERROR;
	if (ni->ops->send(p, ni, att))
		p->ln->hooks->not_taken(p, att);
	else
		ring_add(p, ni);
}

/* Gives the attempts at the head of p->send that use @ni to the driver of @ni. */
static void pass_send_run(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct list_head *end = &p->send;
	struct lnet_att *att;
	LIST_HEAD(run);
	bool last;

	list_for_each_entry(att, &p->send, link) {
		if (att->ni != ni)
			break;
		WRITE_ONCE(att->flags, 0);
		att->outcome = LNET_LOCAL_ERROR;
		end = &att->link;
	}
	list_cut_position(&run, &p->send, end);
	last = list_empty(&p->send);
	if (!last)
		ring_add(p, ni);
	ni->ops->send_list(p, ni, &run, last);
}

/* Gives the attempts of p->send to their drivers, then calls ops->flush of these drivers. */
static void leave_and_send(struct lnet_pass *p)
{
	lnet_leave(p);
	while (!list_empty(&p->send)) {
		struct lnet_att *att = list_first_entry(&p->send, struct lnet_att, link);
		struct lnet_ni *ni = att->ni;

		lnet_ni_get(ni);
		if (unlikely(READ_ONCE(p->ln->fault)) || !ni->ops->send_list) {
			list_del_init(&att->link);
			send_one(p, ni, att);
		} else {
			pass_send_run(p, ni);
		}
		lnet_ni_put(ni);
	}
	while (p->nr_flush)
		ring(p->flush_nis[--p->nr_flush], p);
}

void lnet_rx_want_stop(struct lnet_pass *p, struct lnet_rx *rx)
{
	if (rx->state != RX_RECEIVE || rx->stopping)
		return;
	rx->stopping = 1;
	list_add_tail(&rx->stop, &p->stop);
}

static bool owes(const struct lnet_pass *p)
{
	return !list_empty(&p->send) || !list_empty(&p->receive) || !list_empty(&p->stop) ||
	       !list_empty(&p->reported) || !list_empty(&p->cancel) || !list_empty(&p->defer) ||
	       !list_empty(&p->resets) || !list_empty(&p->routed) || p->backs || p->acks;
}

static void perform(struct lnet_pass *p)
{
	const struct lnet_hooks *h = p->ln->hooks;

	if (p->more)
		more_leave(p);
	while (owes(p)) {
		if (p->acks)
			h->acks(p);
		if (!list_empty(&p->defer))
			h->starts(p);
		leave_and_send(p);
		if (!list_empty(&p->cancel))
			h->cancels(p);
		if (!list_empty(&p->resets))
			h->resets(p);
		if (!list_empty(&p->receive))
			h->receives(p);
		if (!list_empty(&p->stop))
			h->stops(p);
		if (!list_empty(&p->reported))
			h->reported(p, &p->reported);
		if (unlikely(p->backs))
			h->backs(p);
		if (unlikely(!list_empty(&p->routed)))
			h->routed(p);
	}
}

void lnet_pass_flush(struct lnet_pass *p)
{
	const struct lnet_hooks *h = p->ln->hooks;

	if (p->acks)
		h->acks(p);
	if (!list_empty(&p->defer))
		h->starts(p);
	leave_and_send(p);
	/* Deliver events now, because a long pass would have too many events at its end. */
	if (!list_empty(&p->ready))
		h->deliver(p);
	lnet_evts_return(p, &p->ln->shard[0]);
	more_collect(p);
	leave_and_send(p);
}

void lnet_pass_end(struct lnet_pass *p)
{
	const struct lnet_hooks *h = p->ln->hooks;
	struct lnet_env *env = p->ln->env;
	unsigned int turns = 0;

	perform(p);
	more_collect(p);
	perform(p);
	lnet_leave(p);
	if (p->kind == LNET_PASS_CALL && list_empty(&p->ready) && list_empty(&p->evts))
		return;
	/*
	 * This pass delivers the events of API calls, so these events do not wait for the worker.
	 */
	if (p->kind != LNET_PASS_CALL && !list_empty(&p->ln->shard[0].ready))
		h->take_ready(p);
	/*
	 * more_collect() takes messages that LNET_MORE delayed, and may post events. So a pass
	 * repeats its steps until it has no work. Handlers that send to this node could create
	 * events for ever, and sockets and timers would wait. So a long pass hands further events
	 * over to the worker.
	 */
	do {
		if (turns >= LNET_PASS_ROUNDS ||
		    (turns && env->ops->now_ns(env) - p->now_ns > PASS_LONG_NS))
			h->hand_over(p);
		else if (!list_empty(&p->ready))
			h->deliver(p);
		lnet_evts_return(p, &p->ln->shard[0]);
		more_collect(p);
		do {
			perform(p);
			lnet_leave(p);
		} while (owes(p));
		turns++;
	} while (!list_empty(&p->ready));
}

void lnet_flush(struct lnet *ln)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_pass_end(&p);
}
