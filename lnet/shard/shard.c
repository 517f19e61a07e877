/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shards and passes: who visits the core locks a shard, decides, leaves, and then performs what it
 * owes.
 */
#include "model/core.h"
#include "recorder/record_hook.h"
#include "router/router.h"
#include "fault/rule.h"

/* A pass that is older than this does not deliver events again. */
#define PASS_LONG_NS	(4 * (u64)NSEC_PER_MSEC)

/* ---- entering and leaving -------------------------------------------------------------------- */

static void take_more(struct lnet_pass *p, struct lnet_shard *sh)
{
	list_splice_tail_init(&sh->more, &p->send);
	sh->nr_more = 0;
	WRITE_ONCE(sh->more_left, 0);
}

static noinline void enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	lnet_leave(p);
	if (lnet_pool_low(sh))
		lnet_pool_refill(sh);
	if (unlikely(READ_ONCE(sh->ln->nr_slot_free) < LNET_SLOTS_LOW))
		lnet_slots_reserve(sh->ln);
	if (unlikely(READ_ONCE(sh->stats_want)))
		lnet_stats_reserve(sh);
	spin_lock(&sh->lock);
	__release(&sh->lock);		/* the pass has it, and gives it back in lnet_leave() */
	p->sh = sh;
	p->nr = 0;
	/* Another pass, begun later, was here first: what it stamped is not in the future. */
	p->now_ns = max(p->now_ns, sh->now_ns);
	if (lnet_recs(sh))
		lnet_rec_visit(p);
	if (unlikely(sh->more_left) && !p->more)
		take_more(p, sh);
}

void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	if (p->sh == sh && p->nr < LNET_PASS_BURST) {
		p->nr++;
		return;
	}
	enter(p, sh);
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

/* A time was set before the one that the env knows. */
static void publish_next(struct lnet_shard *sh)
{
	u64 next = lnet_wheel_next_ns(&sh->wheel);

	if (next >= sh->next_ns)
		return;
	WRITE_ONCE(sh->next_ns, next);
	sh->ln->env->ops->arm(sh->ln->env, sh->ix);
}

/* What a call posted waits in shard 0, if that is held anyway. True: its worker is to be kicked. */
static bool leave_ready(struct lnet_pass *p)
{
	if (p->kind != LNET_PASS_CALL || list_empty(&p->ready) || p->sh->ix)
		return false;		/* lnet_md_deliver() comes to it */
	list_splice_tail_init(&p->ready, &p->sh->ready);
	return !lnet_pass_in_handler(p);
}

void lnet_leave(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	bool kick;

	if (!sh)
		return;
	if (!list_empty(&p->posts))
		lnet_md_posts(p);
	kick = leave_ready(p);
	lnet_books_close(p);
	p->sh = NULL;
	sh->now_ns = p->now_ns;
	if (!list_empty(&p->evts))
		lnet_evts_keep(p, sh);
	if (unlikely(sh->wheel.soonest_ns < sh->next_ns))
		publish_next(sh);
	__acquire(&sh->lock);
	spin_unlock(&sh->lock);
	if (kick)
		sh->ln->env->ops->kick(sh->ln->env, sh->ix);
}

void lnet_pass_relax(struct lnet_pass *p)
{
	lnet_leave(p);
}

void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	might_sleep();
	p->ln = ln;
	p->sh = NULL;
	p->kind = kind;
	p->more = p->nr_ring = p->busy = 0;
	p->nr = 0;
	p->now_ns = ln->env->ops->now_ns(ln->env);
	p->backs = NULL;
	p->acks = 0;
	p->nr_evts = 0;
	p->books.nr = p->books.nr_times = 0;
	p->books.bytes = 0;
	INIT_LIST_HEAD(&p->send);
	INIT_LIST_HEAD(&p->land);
	INIT_LIST_HEAD(&p->stop);
	INIT_LIST_HEAD(&p->given);
	INIT_LIST_HEAD(&p->cancel);
	INIT_LIST_HEAD(&p->posts);
	INIT_LIST_HEAD(&p->ready);
	INIT_LIST_HEAD(&p->defer);
	INIT_LIST_HEAD(&p->resets);
	INIT_LIST_HEAD(&p->routed);
	INIT_LIST_HEAD(&p->evts);
}

/* ---- what a pass owes ------------------------------------------------------------------------ */

static void ring(struct lnet_ni *ni, struct lnet_pass *p)
{
	if (ni->ops->flush)
		ni->ops->flush(p, ni);
	lnet_ni_put(ni);
}

static void ring_add(struct lnet_pass *p, struct lnet_ni *ni)
{
	unsigned int i;

	for (i = 0; i < p->nr_ring; i++)
		if (p->ring[i] == ni)
			return;
	if (p->nr_ring == ARRAY_SIZE(p->ring)) {
		ring(p->ring[0], p);
		p->ring[0] = p->ring[--p->nr_ring];
	}
	lnet_ni_get(ni);
	p->ring[p->nr_ring++] = ni;
}

static void ring_all(struct lnet_pass *p)
{
	while (p->nr_ring)
		ring(p->ring[--p->nr_ring], p);
}

/*
 * LNET_MORE: what this pass sends waits in the shard for the next pass without it, or the worker;
 * what a handler sends, for the pass that called it. After a burst it goes all the same.
 */
static void leave_more(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	bool first;

	if (!sh || list_empty(&p->send))
		return;
	list_splice_tail_init(&p->send, &sh->more);
	if (++sh->nr_more >= LNET_BELL_BURST) {
		p->more = 0;
		take_more(p, sh);
		return;
	}
	first = !sh->more_left;
	WRITE_ONCE(sh->more_left, 1);
	lnet_leave(p);
	if (!first)
		return;
	atomic_set(&p->ln->bells, 1);
	if (!lnet_pass_in_handler(p))
		p->ln->env->ops->kick(p->ln->env, sh->ix);
}

/* What calls with LNET_MORE left leaves with this pass. */
static void collect_more(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	unsigned int i;

	if (p->more || !atomic_read(&ln->bells) || !atomic_xchg(&ln->bells, 0))
		return;
	for (i = 0; i < ln->nr_shards; i++)
		if (READ_ONCE(ln->shard[i].more_left))
			lnet_enter(p, &ln->shard[i]);
}

static void send_one(struct lnet_pass *p, struct lnet_att *att)
{
	struct lnet_ni *ni = att->ni;

	if (unlikely(READ_ONCE(p->ln->fault)) && lnet_fault_seam(p, ni, att))
		return;
	WRITE_ONCE(att->flags, 0);
	att->outcome = LNET_LOCAL_ERROR;
	if (ni->ops->send(p, ni, att))
		lnet_att_done(p, att, att->outcome, 0);
	else
		ring_add(p, ni);
}

/* Takes those that follow each other to @ni off p->send. */
static void run_of(struct lnet_pass *p, const struct lnet_ni *ni, struct list_head *run)
{
	struct list_head *last = &p->send;
	struct lnet_att *att;

	list_for_each_entry(att, &p->send, link) {
		if (att->ni != ni)
			break;
		WRITE_ONCE(att->flags, 0);
		att->outcome = LNET_LOCAL_ERROR;
		last = &att->link;
	}
	list_cut_position(run, &p->send, last);
}

static void send_all(struct lnet_pass *p)
{
	while (!list_empty(&p->send)) {
		struct lnet_att *att = list_first_entry(&p->send, struct lnet_att, link);
		struct lnet_ni *ni = att->ni;
		LIST_HEAD(run);
		bool last;

		if (unlikely(READ_ONCE(p->ln->fault)) || !ni->ops->send_list) {
			list_del_init(&att->link);
			send_one(p, att);
			continue;
		}
		run_of(p, ni, &run);
		last = list_empty(&p->send);
		if (!last)
			ring_add(p, ni);
		lnet_ni_get(ni);
		ni->ops->send_list(p, ni, &run, last);
		lnet_ni_put(ni);
	}
}

static void land_all(struct lnet_pass *p)
{
	while (!list_empty(&p->land)) {
		struct lnet_rx *rx = list_first_entry(&p->land, struct lnet_rx, owed);
		bool skip;

		list_del_init(&rx->owed);
		if (unlikely(rx->fwd))
			lnet_forward_land(p, rx);
		skip = rx->verdict == LNET_SKIP;
		rx->ni->ops->land(p, rx->ni, rx);
		if (skip)
			lnet_rx_free(p, rx);
	}
}

void lnet_op_defer(struct lnet_pass *p, struct lnet_op *op)
{
	list_add_tail(&op->link, &p->defer);
}

/* The peer may have moved since @op was made, or its interface become another's. */
static void enter_home(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer;

	lnet_enter_pni(p, op->dst_pni);
	op->sh = p->sh;
	peer = op->dst_pni->peer;
	if (likely(op->peer == peer))
		return;
	lnet_peer_get(peer);
	lnet_peer_put(op->peer);
	op->peer = peer;
}

/* A ping of discovery, whose answer may be long. */
static bool wants_sink(const struct lnet_op *op)
{
	return op->type == LNET_OP_GET && !op->md && !op->sink;
}

/* Without memory the ping goes all the same, for what it says of the path. */
static void sink_make(struct lnet_pass *p, struct lnet_op *op)
{
	lnet_leave(p);
	op->copy = lnet_copy_new(op->len);
	op->sink = op->copy ? &op->copy->frag : &op->sh->junk_frag;
	op->len = min_t(u32, op->len, op->sink->len);
}

static void defer_all(struct lnet_pass *p)
{
	while (!list_empty(&p->defer)) {
		struct lnet_op *op = list_first_entry(&p->defer, struct lnet_op, link);

		list_del_init(&op->link);
		if (unlikely(wants_sink(op)))
			sink_make(p, op);
		enter_home(p, op);
		lnet_op_start(p, op);
	}
}

/* What is to be sent, and then the bells of their drivers. */
static void leave_and_send(struct lnet_pass *p)
{
	lnet_leave(p);
	send_all(p);
	ring_all(p);
}

static bool owes(const struct lnet_pass *p)
{
	return !list_empty(&p->send) || !list_empty(&p->land) || !list_empty(&p->stop) ||
	       !list_empty(&p->given) || !list_empty(&p->cancel) || !list_empty(&p->defer) ||
	       !list_empty(&p->resets) || !list_empty(&p->routed) || p->backs || p->acks;
}

static void perform(struct lnet_pass *p)
{
	if (p->more)
		leave_more(p);
	while (owes(p)) {
		lnet_pass_acks(p);
		defer_all(p);
		leave_and_send(p);
		lnet_pass_cancels(p);
		if (!list_empty(&p->resets))
			lnet_path_resets(p);
		land_all(p);
		lnet_pass_stops(p);
		if (!list_empty(&p->given))
			lnet_att_given(p, &p->given);
		if (unlikely(p->backs))
			lnet_pass_backs(p);
		if (unlikely(!list_empty(&p->routed)))
			lnet_pass_routed(p);
	}
}

void lnet_pass_flush(struct lnet_pass *p)
{
	lnet_pass_acks(p);
	defer_all(p);
	leave_and_send(p);
	/* Handlers keep up with what is read: at the end of a long pass it would be too much. */
	lnet_md_deliver(p);
	lnet_evts_return(p, &p->ln->shard[0]);
	collect_more(p);
	leave_and_send(p);
}

/* True: the pass has delivered events for long enough, and sockets and timers wait for it. */
static bool is_long(const struct lnet_pass *p, unsigned int turns)
{
	struct lnet_env *env = p->ln->env;

	return turns >= LNET_PASS_TURNS ||
	       (turns && env->ops->now_ns(env) - p->now_ns > PASS_LONG_NS);
}

void lnet_pass_end(struct lnet_pass *p)
{
	unsigned int turns = 0;

	perform(p);
	collect_more(p);
	perform(p);
	lnet_leave(p);
	if (p->kind == LNET_PASS_CALL && list_empty(&p->ready) && list_empty(&p->evts))
		return;
	/* Events that calls left behind need not wait for the worker if a reader is here. */
	if (p->kind != LNET_PASS_CALL)
		lnet_md_take_ready(p);
	/*
	 * Entering takes what LNET_MORE left there, and that may post events: a pass ends when
	 * nothing is left in hand. Handlers that send to this node could create events for
	 * ever. So a long pass runs no more handlers, and leaves their events to the worker.
	 */
	do {
		if (is_long(p, turns++))
			lnet_md_hand_over(p);
		else
			lnet_md_deliver(p);
		lnet_evts_return(p, &p->ln->shard[0]);
		collect_more(p);
		do {
			perform(p);
			lnet_leave(p);
		} while (owes(p));
	} while (!list_empty(&p->ready));
}

void lnet_flush(struct lnet *ln)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_pass_end(&p);
}

/* ---- making and ending ----------------------------------------------------------------------- */

static void shard_init(struct lnet *ln, struct lnet_shard *sh, unsigned int ix)
{
	spin_lock_init(&sh->lock);
	sh->ln = ln;
	sh->ix = ix;
	sh->next_ns = U64_MAX;
	sh->look_ns = U64_MAX;
	sh->park_ns = U64_MAX;
	lnet_wheel_init(&sh->wheel, ln->env->ops->now_ns(ln->env));
	INIT_LIST_HEAD(&sh->ops.free);
	INIT_LIST_HEAD(&sh->atts.free);
	INIT_LIST_HEAD(&sh->evts.free);
	INIT_LIST_HEAD(&sh->rxs.free);
	INIT_LIST_HEAD(&sh->entries.free);
	INIT_LIST_HEAD(&sh->stats_free);
	INIT_LIST_HEAD(&sh->ready);
	INIT_LIST_HEAD(&sh->live);
	lnet_windows_init(sh);
	INIT_LIST_HEAD(&sh->delayed);
	INIT_LIST_HEAD(&sh->more);
	sh->junk_frag.base = sh->junk;
	sh->junk_frag.len = sizeof(sh->junk);
	lnet_timer_init(&sh->delay_timer, LNET_TIMER_DELAY);
	lnet_timer_init(&sh->walk.timer, LNET_TIMER_WALK);
	lnet_probes_init(&sh->probes);
}

int lnet_shards_init(struct lnet *ln)
{
	unsigned int i;

	ln->shard = kcalloc(ln->nr_shards, sizeof(*ln->shard), GFP_KERNEL);
	if (!ln->shard)
		return -ENOMEM;
	for (i = 0; i < ln->nr_shards; i++)
		shard_init(ln, &ln->shard[i], i);
	return 0;
}

void lnet_shards_fini(struct lnet *ln)
{
	unsigned int i;

	if (!ln->shard)
		return;
	for (i = 0; i < ln->nr_shards; i++) {
		struct lnet_shard *sh = &ln->shard[i];
		struct lnet_op *op, *next;
		struct lnet_att *att, *more;
		struct lnet_evt *e, *after;

		WARN_ON_ONCE(sh->wheel.nr > !list_empty(&sh->probes.timer.link) +
				!list_empty(&sh->delay_timer.link) +
				!list_empty(&sh->walk.timer.link)); /* of what is freed */
		list_for_each_entry_safe(op, next, &sh->ops.free, link)
			lnet_op_free(op);
		list_for_each_entry_safe(att, more, &sh->atts.free, link)
			kfree(att);
		list_for_each_entry_safe(e, after, &sh->evts.free, link)
			kfree(e);
		lnet_evts_free(sh);
		lnet_rx_pool_fini(sh);
		lnet_stats_pool_fini(sh);
	}
	kfree(ln->shard);
	ln->shard = NULL;
}

void lnet_shards_lock_all(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock_nest_lock(&ln->shard[i].lock, &ln->cfg_mutex);
		__release(&ln->shard[i].lock);	/* a checker cannot count the turns of a loop */
	}
}

void lnet_shards_unlock_all(struct lnet *ln)
{
	unsigned int i;

	for (i = ln->nr_shards; i > 0; i--) {
		__acquire(&ln->shard[i - 1].lock);
		spin_unlock(&ln->shard[i - 1].lock);
	}
}
