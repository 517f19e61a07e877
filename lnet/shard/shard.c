/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Shards: their creation and end, and their workers. A worker runs timers, periodic jobs, and
 * drivers that requested a call. It also runs handlers for events of API calls. A configuration
 * change that waits does the same work as a worker.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "shard/hooks.h"

#define WAIT_NAP_MIN_US	100U
#define WAIT_NAP_MAX_US	5000U
#define WAIT_LONG_NS	(60ULL * NSEC_PER_SEC)
/* maximum number of iterations of a wait in which the clock does not advance */
#define WAIT_STILL_MAX	1000U

int lnet_shards_init(struct lnet *ln)
{
	struct lnet_shard *sh;
	unsigned int i;

	ln->shard = kcalloc(ln->nr_shards, sizeof(*ln->shard), GFP_KERNEL);
	if (!ln->shard)
		return -ENOMEM;
	for (i = 0; i < ln->nr_shards; i++) {
		sh = &ln->shard[i];
		spin_lock_init(&sh->lock);
		sh->ln = ln;
		sh->ix = i;
		sh->next_ns = U64_MAX;
		sh->job_ns = U64_MAX;
		sh->lazy_ns = U64_MAX;
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
		ln->hooks->shard_init(sh);
	}
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
		/* sparse does not know that the loop released each lock */
		__release(&ln->shard[i].lock);
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

/* ---- the worker ------------------------------------------------------------------------------ */

/* Runs the due timers. The pass also takes the undelivered events of API calls. */
static void run_timers(struct lnet_pass *p, struct lnet_shard *sh)
{
	LIST_HEAD(due);

	lnet_enter(p, sh);
	lnet_wheel_advance(&sh->wheel, p->now_ns, &due, LNET_PASS_BURST);
	while (!list_empty(&due)) {
		struct lnet_timer *t = list_first_entry(&due, struct lnet_timer, link);

		lnet_timer_fired(&sh->wheel, t);
		p->ln->hooks->timers[t->kind](p, t);
	}
	WRITE_ONCE(sh->next_ns, lnet_wheel_next_ns(&sh->wheel));
	list_splice_tail_init(&sh->ready, &p->ready);
	lnet_leave(p);
}

/* Sets *@at to the earlier time @when_ns. False: *@at was not later than @when_ns. */
static bool deadline_lower(u64 *at, u64 when_ns)
{
	u64 old = READ_ONCE(*at), was;

	while (when_ns < old) {
		was = cmpxchg(at, old, when_ns);
		if (was == old)
			return true;
		old = was;
	}
	return false;
}

void lnet_job_schedule(struct lnet *ln, u64 *at, u64 when_ns)
{
	if (!deadline_lower(at, when_ns))
		return;
	deadline_lower(&ln->shard[0].job_ns, when_ns);
	ln->env->ops->arm(ln->env, 0);
}

void lnet_ni_kick(struct lnet_ni *ni)
{
	atomic_set(&ni->work, 1);
	atomic_set(&ni->ln->ni_work, 1);
	ni->ln->env->ops->kick(ni->ln->env, 0);
}

/* Calls the drivers that requested a call from the worker. */
static void ni_work(struct lnet_pass *p)
{
	struct lnet_ni *due[LNET_MAX_NIS];
	unsigned int nr = 0;
	struct lnet_ni *ni;

	lnet_enter(p, &p->ln->shard[0]);
	list_for_each_entry(ni, &p->ln->nis, link) {
		if (!atomic_xchg(&ni->work, 0))
			continue;
		lnet_ni_get(ni);
		due[nr++] = ni;
	}
	lnet_leave(p);
	while (nr) {
		ni = due[--nr];
		if (ni->ops->work)
			ni->ops->work(p, ni);
		lnet_pass_relax(p);
		lnet_ni_put(ni);
	}
}

/* Runs the periodic jobs; only shard 0 has them. */
static void periodic_jobs_run(struct lnet_pass *p, struct lnet_shard *sh)
{
	u64 next_ns = U64_MAX;
	unsigned int i;

	/*
	 * Reset sh->job_ns before reading the times of the jobs: another thread first lowers the
	 * time of a job, then sh->job_ns.
	 */
	xchg(&sh->job_ns, U64_MAX);
	for (i = 0; i < LNET_NR_JOBS; i++)
		p->ln->hooks->jobs[i].run(p);
	for (i = 0; i < LNET_NR_JOBS; i++)
		next_ns = min(next_ns, p->ln->hooks->jobs[i].when(p->ln));
	deadline_lower(&sh->job_ns, next_ns);
}

/*
 * True if the worker has nothing to do. That is frequent, because most timers are cancelled before
 * they are due.
 */
static bool came_for_nothing(struct lnet *ln, struct lnet_shard *sh)
{
	u64 now_ns = ln->env->ops->now_ns(ln->env), next_ns;
	bool nothing;

	if (READ_ONCE(sh->link_work) || atomic_read(&ln->doorbells) || atomic_read(&ln->ni_work) ||
	    now_ns >= READ_ONCE(sh->job_ns))
		return false;
	spin_lock(&sh->lock);
	next_ns = lnet_wheel_next_ns(&sh->wheel);
	nothing = next_ns > now_ns && list_empty(&sh->ready);
	WRITE_ONCE(sh->next_ns, next_ns);
	spin_unlock(&sh->lock);
	return nothing;
}

u64 lnet_shard_work(struct lnet *ln, unsigned int shard)
{
	struct lnet_shard *sh = &ln->shard[shard];
	struct lnet_pass p __uninitialized;

	if (came_for_nothing(ln, sh))
		return lnet_shard_next_ns(ln, shard);
	lnet_pass_begin(&p, ln, LNET_PASS_WORKER);
	if (READ_ONCE(sh->link_work)) {
		WRITE_ONCE(sh->link_work, 0);
		p.ln->hooks->link_work(&p);
	}
	if (!shard && atomic_read(&ln->ni_work) && atomic_xchg(&ln->ni_work, 0))
		ni_work(&p);
	run_timers(&p, sh);
	if (p.now_ns >= READ_ONCE(sh->job_ns))
		periodic_jobs_run(&p, sh);
	lnet_pass_end(&p);
	return lnet_shard_next_ns(ln, shard);
}

void lnet_deliver(struct lnet *ln, struct list_head *ready)
{
	struct lnet_pass p __uninitialized;

	lnet_pass_begin(&p, ln, LNET_PASS_EVENTS);
	list_splice_tail_init(ready, &p.ready);
	lnet_pass_end(&p);
}

u64 lnet_shard_next_ns(const struct lnet *ln, unsigned int shard)
{
	const struct lnet_shard *sh = &ln->shard[shard];

	return min(READ_ONCE(sh->next_ns), READ_ONCE(sh->job_ns));
}

bool lnet_cfg_wait(struct lnet *ln, bool (*done)(struct lnet *ln, void *arg), void *arg,
		   u64 limit_ns)
{
	u64 start = ln->env->ops->now_ns(ln->env), now = start, before;
	unsigned int nap_us = WAIT_NAP_MIN_US, still = 0, i;

	for (;;) {
		if (done(ln, arg))
			return true;
		for (i = 0; i < ln->nr_shards; i++)
			lnet_shard_work(ln, i);
		if (done(ln, arg))
			return true;
		if (now - start >= limit_ns)
			return false;
		WARN_ON_ONCE(now - start > WAIT_LONG_NS);
		usleep_range(nap_us, 2 * nap_us);
		nap_us = min(2 * nap_us, WAIT_NAP_MAX_US);
		before = now;
		now = ln->env->ops->now_ns(ln->env);
		if (now != before)
			continue;
		/* In the simulator, the clock does not advance here, so waiting has no effect. */
		if (limit_ns != U64_MAX)
			return false;
		nap_us = 1;
		if (WARN_ON_ONCE(++still > WAIT_STILL_MAX))
			return false;
	}
}
