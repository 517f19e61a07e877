/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment in the kernel: the clock, the workers of shards, the workers that run the polls
 * (work items) of drivers, and the timers of workers.
 */
#include "kernel.h"
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <net/net_namespace.h>

/*
 * Half a tick of the timer wheel. So timers that are due at about the same time cause one wake-up.
 */
#define LANE_SLACK_NS		65536

/* One shard's worker. */
struct lane {
	struct work_struct work;
	struct hrtimer timer;
	spinlock_t lock;		/* serializes kernel_env_arm(); any context */
	/* time of the timer; U64_MAX: not armed, or expiring; READ_ONCE */
	u64 armed_ns;
	struct kernel_env *env;
	struct lnet_place place;	/* the CPU partition with the number of the shard */
	unsigned int shard;
};

struct kernel_env {
	struct lnet_env env;
	struct lnet *ln;		/* NULL before the start and after the end */
	struct net *net;
	/*
	 * finds handlers that run too long; not bound to a CPU, because a handler may block its CPU
	 */
	struct delayed_work watch;
	unsigned int nr_shards;
	struct lane lanes[];
};

/* Workqueues that all namespaces share, so that a namespace needs no threads. */
static struct workqueue_struct *workers;

static struct kernel_env *kernel_env(struct lnet_env *env)
{
	return container_of(env, struct kernel_env, env);
}

/* ---- services -------------------------------------------------------------------------------- */

static u64 kernel_env_now_ns(struct lnet_env *env)
{
	return ktime_get_ns();
}

static u64 kernel_env_random(struct lnet_env *env)
{
	return get_random_u64();
}

static u64 kernel_env_secret(struct lnet_env *env)
{
	u64 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}

static void lane_queue(struct lane *lane)
{
	queue_work_on(lnet_place_cpu(&lane->place), workers, &lane->work);
}

static void kernel_env_kick(struct lnet_env *base, unsigned int shard)
{
	struct kernel_env *env = kernel_env(base);

	/*
	 * No wake-up before the start is lost, because the start runs the workers of all shards
	 * once.
	 */
	if (READ_ONCE(env->ln))
		lane_queue(&env->lanes[shard]);
}

static void kernel_env_arm(struct lnet_env *base, unsigned int shard)
{
	struct kernel_env *env = kernel_env(base);
	struct lane *lane = &env->lanes[shard];
	struct lnet *ln = READ_ONCE(env->ln);
	unsigned long flags;
	u64 next;

	if (!ln)
		return;
	spin_lock_irqsave(&lane->lock, flags);
	/*
	 * Reads the deadline under the lock. So the later of two callers knows the deadlines of
	 * both calls.
	 */
	next = lnet_shard_next_ns(ln, shard);
	if (next < READ_ONCE(lane->armed_ns)) {
		WRITE_ONCE(lane->armed_ns, next);
		hrtimer_start_range_ns(&lane->timer, ns_to_ktime(next), LANE_SLACK_NS,
				       HRTIMER_MODE_ABS);
	}
	spin_unlock_irqrestore(&lane->lock, flags);
}

static s32 op_cpt_of(struct lnet_env *env, const void *base)
{
	return lnet_cpt_of_memory(base);
}

static u32 op_distance(struct lnet_env *env, s32 a, s32 b)
{
	return lnet_cpt_distance(a, b);
}

static void watch_at(struct kernel_env *env, u64 when_ns)
{
	u64 now_ns = ktime_get_ns();

	queue_delayed_work(system_unbound_wq, &env->watch,
			   when_ns > now_ns ? nsecs_to_jiffies(when_ns - now_ns) + 1 : 0);
}

static void op_watch(struct lnet_env *base, u64 when_ns)
{
	struct kernel_env *env = kernel_env(base);

	if (READ_ONCE(env->ln))
		watch_at(env, when_ns);
}

static void watch_work(struct work_struct *work)
{
	struct kernel_env *env = container_of(to_delayed_work(work), struct kernel_env, watch);
	struct lnet *ln = READ_ONCE(env->ln);
	u64 next_ns = ln ? lnet_handlers_watch(ln) : U64_MAX;

	if (next_ns != U64_MAX)
		watch_at(env, next_ns);
}

static const struct lnet_env_ops kernel_ops = {
	.now_ns = kernel_env_now_ns,
	.random = kernel_env_random,
	.secret = kernel_env_secret,
	.kick = kernel_env_kick,
	.arm = kernel_env_arm,
	.cpt_of = op_cpt_of,
	.distance = op_distance,
	.watch = op_watch,
};

/* ---- the shards' workers --------------------------------------------------------------------- */

/*
 * The timer of a shard's worker has expired. kernel_env_arm() may have set armed_ns meanwhile, and
 * this function overwrites the value. So the worker reads the shard's deadline again, and arms the
 * timer.
 */
static enum hrtimer_restart lane_due(struct hrtimer *timer)
{
	struct lane *lane = container_of(timer, struct lane, timer);

	WRITE_ONCE(lane->armed_ns, U64_MAX);
	lane_queue(lane);
	return HRTIMER_NORESTART;
}

static void lane_work(struct work_struct *work)
{
	struct lane *lane = container_of(work, struct lane, work);
	struct kernel_env *env = lane->env;
	struct lnet *ln = READ_ONCE(env->ln);
	unsigned int flags;
	u64 next;

	if (!ln)
		return;
	flags = memalloc_nofs_save();
	next = lnet_shard_work(ln, lane->shard);
	memalloc_nofs_restore(flags);
	if (next <= ktime_get_ns())
		lane_queue(lane);
	else
		kernel_env_arm(&env->env, lane->shard);
}

static void kernel_lane_init(struct lane *lane, struct kernel_env *env, unsigned int shard)
{
	lane->env = env;
	lane->shard = shard;
	lane->armed_ns = U64_MAX;
	lnet_place_init(&lane->place, BIT_ULL(shard));
	spin_lock_init(&lane->lock);
	INIT_WORK(&lane->work, lane_work);
	lnet_hrtimer_setup(&lane->timer, lane_due);
}

int lnet_kernel_env_create(struct lnet_env **envp, struct net *net, unsigned int nr_shards)
{
	struct kernel_env *env = kzalloc(struct_size(env, lanes, nr_shards), GFP_KERNEL);
	unsigned int i;

	if (!env)
		return -ENOMEM;
	env->env.ops = &kernel_ops;
	env->net = net;
	env->nr_shards = nr_shards;
	INIT_DELAYED_WORK(&env->watch, watch_work);
	for (i = 0; i < nr_shards; i++)
		kernel_lane_init(&env->lanes[i], env, i);
	*envp = &env->env;
	return 0;
}

void lnet_kernel_env_start(struct lnet_env *base, struct lnet *ln)
{
	struct kernel_env *env = kernel_env(base);
	unsigned int i;

	WRITE_ONCE(env->ln, ln);
	for (i = 0; i < env->nr_shards; i++)
		lane_queue(&env->lanes[i]);
}

/*
 * A running worker may arm its timer, and the timer queues its worker. If a worker finds no
 * instance, it arms nothing. So cancelling the worker, the timer and again the worker ends both.
 */
void lnet_kernel_env_stop(struct lnet_env *base)
{
	struct kernel_env *env = kernel_env(base);
	unsigned int i;

	WRITE_ONCE(env->ln, NULL);
	for (i = 0; i < env->nr_shards; i++) {
		cancel_work_sync(&env->lanes[i].work);
		hrtimer_cancel(&env->lanes[i].timer);
		cancel_work_sync(&env->lanes[i].work);
	}
	cancel_delayed_work_sync(&env->watch);
}

/*
 * Stops the workers a second time. A driver's worker may have read env->ln before the first stop,
 * and kicked a shard after it.
 */
void lnet_kernel_env_destroy(struct lnet_env *env)
{
	if (!env)
		return;
	lnet_kernel_env_stop(env);
	kfree(kernel_env(env));
}

struct net *lnet_env_net(const struct lnet_env *env)
{
	return container_of(env, const struct kernel_env, env)->net;
}

int lnet_kernel_env_init(void)
{
	workers = alloc_workqueue("lnet", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0);
	return workers ? 0 : -ENOMEM;
}

void lnet_kernel_env_fini(void)
{
	destroy_workqueue(workers);
}

void lnet_kernel_env_flush(void)
{
	flush_workqueue(workers);
}

/* ---- the polls of drivers -------------------------------------------------------------------- */

static void poll_queue(struct lnet_poll *poll)
{
	queue_work_on(lnet_place_cpu(&poll->place), workers, &poll->work);
}

/* The memory of the poll may be freed already if ready() has returned false. */
static void poll_work(struct work_struct *work)
{
	struct lnet_poll *poll = container_of(work, struct lnet_poll, work);
	unsigned long events = atomic_long_xchg(&poll->events, 0);
	unsigned int flags = memalloc_nofs_save();

	if (!READ_ONCE(poll->dead) && poll->ready(poll, events))
		poll_queue(poll);
	memalloc_nofs_restore(flags);
}

void lnet_env_poll_init(struct lnet_poll *poll, u64 cpts,
			bool (*ready)(struct lnet_poll *poll, unsigned long events))
{
	INIT_WORK(&poll->work, poll_work);
	poll->ready = ready;
	atomic_long_set(&poll->events, 0);
	lnet_place_init(&poll->place, cpts);
	poll->dead = false;
}

void lnet_env_poll_raise(struct lnet_poll *poll, unsigned long events)
{
	if (READ_ONCE(poll->dead))
		return;
	atomic_long_or(events, &poll->events);
	poll_queue(poll);
}

void lnet_env_poll_del(struct lnet_poll *poll)
{
	WRITE_ONCE(poll->dead, true);
	if (current_work() == &poll->work)
		cancel_work(&poll->work);
	else
		cancel_work_sync(&poll->work);
}

static enum hrtimer_restart alarm_due(struct hrtimer *timer)
{
	lnet_env_poll_raise(container_of(timer, struct lnet_alarm, timer)->poll, LNET_POLL_ALARM);
	return HRTIMER_NORESTART;
}

void lnet_env_alarm_init(struct lnet_alarm *alarm, struct lnet_poll *poll)
{
	alarm->poll = poll;
	lnet_hrtimer_setup(&alarm->timer, alarm_due);
}

void lnet_env_alarm_set(struct lnet_alarm *alarm, u64 when_ns)
{
	hrtimer_start(&alarm->timer, ns_to_ktime(min_t(u64, when_ns, KTIME_MAX)),
		      HRTIMER_MODE_ABS);
}

void lnet_env_alarm_del(struct lnet_alarm *alarm)
{
	hrtimer_cancel(&alarm->timer);
}
