/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shards: how a pass locks and releases them, their creation and end. */
#include "base/base.h"
#include "shard/shard.h"
#include "shard/hooks.h"
#include "shard/trace.h"

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
	if (READ_ONCE(sh->ops.nr) < LNET_RESERVE_LOW || READ_ONCE(sh->atts.nr) == 0 ||
	    READ_ONCE(sh->evts.nr) < LNET_RESERVE_LOW)
		lnet_pool_refill(sh);
	if (unlikely(READ_ONCE(sh->ln->nr_slot_free) < LNET_SLOTS_LOW))
		sh->ln->hooks->slots_reserve(sh->ln);
	if (unlikely(READ_ONCE(sh->stats_want)))
		lnet_stats_reserve(sh);
	spin_lock(&sh->lock);
	__release(&sh->lock);		/* the pass holds it until lnet_leave() */
	p->sh = sh;
	p->nr = 0;
	/* A pass that began later may have held @sh: its timestamps must not be in the future. */
	p->now_ns = max(p->now_ns, sh->now_ns);
	if (lnet_recs(sh))
		sh->rec->ops->visit(p);
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

void lnet_leave(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	bool kick = false;
	u64 next_ns;

	if (!sh)
		return;
	if (!list_empty(&p->posts))
		p->ln->hooks->posts(p);
	/* Events of an API call wait in shard 0, or lnet_md_deliver() handles them. */
	if (p->kind == LNET_PASS_CALL && !list_empty(&p->ready) && !sh->ix) {
		list_splice_tail_init(&p->ready, &sh->ready);
		kick = !lnet_pass_in_handler(p);
	}
	lnet_books_close(p);
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

void lnet_more_leave(struct lnet_pass *p)
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

void lnet_more_collect(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	unsigned int i;

	if (p->more || !atomic_read(&ln->bells) || !atomic_xchg(&ln->bells, 0))
		return;
	for (i = 0; i < ln->nr_shards; i++)
		if (READ_ONCE(ln->shard[i].more_left))
			lnet_enter(p, &ln->shard[i]);
}

/* ---- creation and end ------------------------------------------------------------------------ */

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
	INIT_LIST_HEAD(&sh->delayed);
	INIT_LIST_HEAD(&sh->more);
	sh->junk_frag.base = sh->junk;
	sh->junk_frag.len = sizeof(sh->junk);
	lnet_timer_init(&sh->delay_timer, LNET_TIMER_DELAY);
	lnet_timer_init(&sh->walk.timer, LNET_TIMER_WALK);
	sh->ln->hooks->shard_init(sh);
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

		WARN_ON_ONCE(sh->wheel.nr > !list_empty(&sh->probes.timer.link) +
				!list_empty(&sh->delay_timer.link) +
				!list_empty(&sh->walk.timer.link)); /* of objects freed here */
		lnet_pools_free(sh);
		sh->ln->hooks->shard_fini(sh);
	}
	kfree(ln->shard);
	ln->shard = NULL;
}

void lnet_shards_lock_all(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock_nest_lock(&ln->shard[i].lock, &ln->cfg_mutex);
		__release(&ln->shard[i].lock);	/* sparse cannot count iterations of a loop */
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
