/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The self-test of a node: start, stop, timers, and jobs that call the API. */
#include "con.h"
#include "drill.h"
#include "tree.h"

#define MESSAGES_MIN	8U
#define MESSAGES	512U

/* ---- jobs ------------------------------------------------------------------------------------ */

void lst_queue_locked(struct lst *st, struct lst_job *job, void (*run)(struct lst_job *job))
{
	lockdep_assert_held(&st->lock);
	job->run = run;
	list_add_tail(&job->link, &st->jobs);
}

static u64 next_ns_locked(struct lst *st)
{
	u64 next = min3(lst_session_expire_locked(st, 0), con_session_work(st, 0), st->retry_ns);

	next = min(next, st->start_ns);
	next = min(next, lst_tree_next_locked(st));
	if (!list_empty(&st->rpcs))
		next = min(next, list_first_entry(&st->rpcs, struct lst_rpc, link)->deadline_ns);
	if (!list_empty(&st->paused))
		next = min(next, list_first_entry(&st->paused, struct lst_unit, link)->resume_ns);
	next = min(next, lst_nettests_work_locked(st, 0));
	return min(next, lst_drills_work_locked(st, 0));
}

/* Runs the queued jobs. Called with the lock; drops the lock meanwhile. */
static void run_jobs(struct lst *st)
{
	struct lst_job *job;

	while (!list_empty(&st->jobs)) {
		job = list_first_entry(&st->jobs, struct lst_job, link);
		list_del_init(&job->link);
		spin_unlock(&st->lock);
		job->run(job);
		spin_lock(&st->lock);
	}
}

void lst_run(struct lst *st)
{
	bool earlier;
	u64 next;

	spin_lock(&st->lock);
	run_jobs(st);
	next = next_ns_locked(st);
	earlier = next < st->armed_ns;
	if (earlier) {
		st->armed_ns = next;
		spin_unlock(&st->lock);
		st->host->arm(st->host);
		spin_lock(&st->lock);
	}
	st->nr_inside--;
	spin_unlock(&st->lock);
}

u64 lst_work(struct lst *st)
{
	u64 now = lst_now(st), next;

	spin_lock(&st->lock);
	lst_starts_work_locked(st, now);
	lst_rpcs_expire_locked(st, now);
	lst_units_resume_locked(st, now);
	lst_drills_work_locked(st, now);
	lst_nettests_work_locked(st, now);
	lst_session_expire_locked(st, now);
	lst_serve_retry_locked(st, now);
	con_session_work(st, now);
	lst_tree_work_locked(st, now);
	run_jobs(st);
	next = next_ns_locked(st);
	st->armed_ns = next;
	spin_unlock(&st->lock);
	return next;
}

void lst_self(struct lst *st, struct lnet_process *id)
{
	if (lnet_get_id(st->ln, 1, id) && lnet_get_id(st->ln, 0, id))
		*id = (struct lnet_process){ LNET_NID_LO, LNET_PID };
}

int lst_bulk_start(struct lst *st, struct lnet_xfer *x, bool get)
{
	int rc = get ? lnet_get(st->ln, x) : lnet_put(st->ln, x);

	if (rc != -EINVAL || lnet_nid_is_any(&x->self))
		return rc;
	x->self = LNET_NID_ANY;
	return get ? lnet_get(st->ln, x) : lnet_put(st->ln, x);
}

/* ---- start and stop -------------------------------------------------------------------------- */

int lst_create(struct lst **stp, const struct lst_cfg *cfg)
{
	struct lst *st = kzalloc(sizeof(*st), GFP_KERNEL);
	struct lnet_env *env = lnet_env_of(cfg->ln);
	int rc;

	*stp = NULL;
	if (!st)
		return -ENOMEM;
	st->ln = cfg->ln;
	st->host = cfg->host;
	st->consoles = cfg->consoles;
	spin_lock_init(&st->lock);
	INIT_LIST_HEAD(&st->jobs);
	INIT_LIST_HEAD(&st->rpcs);
	INIT_LIST_HEAD(&st->ending);
	INIT_LIST_HEAD(&st->calls);
	INIT_LIST_HEAD(&st->paused);
	INIT_LIST_HEAD(&st->zombies);
	INIT_LIST_HEAD(&st->commands);
	INIT_LIST_HEAD(&st->drills);
	INIT_LIST_HEAD(&st->nettests);
	INIT_LIST_HEAD(&st->spares);
	st->epoch = env->ops->random(env) >> 32 | 1;
	st->armed_ns = st->retry_ns = st->start_ns = U64_MAX;
	rc = lst_serve_start(st, max(cfg->nr_messages ? cfg->nr_messages : MESSAGES, MESSAGES_MIN));
	if (rc) {
		lst_serve_free(st);
		kfree(st);
		return rc;
	}
	lst_enter(st);
	spin_unlock(&st->lock);
	lst_run(st);
	*stp = st;
	return 0;
}

void lst_stop(struct lst *st)
{
	struct lst_rpc *rpc, *next;

	lst_enter(st);
	st->stopping = true;
	lst_session_end_locked(st, LEASE_REMOVED);
	con_session_free(st);
	list_for_each_entry_safe(rpc, next, &st->rpcs, link)
		lst_rpc_fail_locked(rpc, -ESHUTDOWN);
	lst_serve_stop_locked(st);
	spin_unlock(&st->lock);
	lst_run(st);
}

bool lst_stopped(struct lst *st)
{
	bool stopped;

	spin_lock(&st->lock);
	stopped = st->stopping && !st->nr_commands && !st->nr_outs && !st->nr_inside &&
		  !st->nr_trees && list_empty(&st->jobs) && list_empty(&st->rpcs) &&
		  list_empty(&st->ending) && list_empty(&st->zombies) &&
		  list_empty(&st->nettests) &&
		  lst_serve_stopped_locked(st);
	spin_unlock(&st->lock);
	return stopped;
}

void lst_free(struct lst *st)
{
	if (!st)
		return;
	WARN_ON_ONCE(!lst_stopped(st));
	lst_serve_free(st);
	kfree(st);
}
