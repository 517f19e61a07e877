/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Polling in user space: takes the token, polls in steps, spins before it sleeps, and waits for a
 * thread that polls.
 */
#include "plat.h"

#include <sched.h>
#include <sys/epoll.h>
#include <time.h>

#include "env_lane.h"

/* --- token ------------------------------------------------------------------------------------ */

static bool token_change(struct lane *lane, u32 from, u32 to)
{
	return __atomic_compare_exchange_n(&lane->token, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

bool lane_token_try(struct lane *lane)
{
	if (READ_ONCE(lane->token) || !token_change(lane, TOKEN_FREE, TOKEN_HELD)) {
		WRITE_ONCE(lane->wanted, 1);
		return false;
	}
	__atomic_store_n(&lane->owner, pthread_self(), __ATOMIC_RELAXED);
	WRITE_ONCE(lane->visits, lane->visits + 1);
	return true;
}

bool lane_mine(struct lane *lane)
{
	return READ_ONCE(lane->token) &&
	       pthread_equal(__atomic_load_n(&lane->owner, __ATOMIC_RELAXED), pthread_self());
}

bool lane_has_kicks(struct lane *lane)
{
	unsigned int i;

	for (i = lane->first; i < lane->first + lane->nr; i++)
		if (seq_load(&lane->env->kicked[i]))
			return true;
	return false;
}

u64 lane_next_ns(struct lane *lane)
{
	u64 next = U64_MAX;
	unsigned int i;

	for (i = lane->first; i < lane->first + lane->nr; i++)
		next = min(next, lnet_shard_next_ns(lane->env->ln, i));
	return next;
}

static void wake_waiting(struct user_env *env)
{
	if (!seq_load(&env->nr_waiting))
		return;
	pthread_mutex_lock(&env->lock);
	pthread_cond_broadcast(&env->changed);
	pthread_mutex_unlock(&env->lock);
}

/*
 * If the service thread sleeps, wakes it. Kicks and deadlines may have been set while this thread
 * still seemed to poll.
 */
void lane_token_release(struct lane *lane)
{
	u64 svc_until;

	__atomic_store_n(&lane->owner, (pthread_t)0, __ATOMIC_RELAXED);
	seq_store(&lane->token, TOKEN_FREE);
	wake_waiting(lane->env);
	if (seq_load(&lane->svc_deep) && __atomic_exchange_n(&lane->svc_deep, 0, __ATOMIC_SEQ_CST))
		env_wake(lane->svc_evfd);
	svc_until = seq_load(&lane->svc_until);
	if (svc_until && (lane_has_kicks(lane) || lane_next_ns(lane) < svc_until))
		env_wake(lane->evfd);
}

void lane_poll_end(struct lane *lane)
{
	if (lane_mine(lane))
		lane_token_release(lane);
	else
		__atomic_sub_fetch(&lane->env->nr_lost, 1, __ATOMIC_SEQ_CST);
}

void env_publish(struct user_env *env)
{
	__atomic_add_fetch(&env->gen, 1, __ATOMIC_SEQ_CST);
	wake_waiting(env);
}

/* --- handlers --------------------------------------------------------------------------------- */

/* Returns the innermost call of lane_poll() of this thread. */
static __thread struct lane_visit *visiting;

static bool visit_is_lost(void)
{
	return visiting->lost;
}

bool env_defer(struct lnet_env *base, struct list_head *ready)
{
	if (!visiting || visiting->lane->env != user_env(base) ||
	    visiting->lane->env->mode == LNET_PROGRESS_MANUAL)
		return false;
	list_splice_tail_init(ready, &visiting->ready);
	return true;
}

bool lane_take_over(struct lane *lane, u32 token)
{
	if (!token_change(lane, token, TOKEN_HELD))
		return false;
	if (lane_is_served_by(lane, __atomic_load_n(&lane->owner, __ATOMIC_RELAXED)))
		lane_thread_replace(lane);
	__atomic_add_fetch(&lane->env->nr_lost, 1, __ATOMIC_SEQ_CST);
	lane_token_release(lane);
	return true;
}

/*
 * Runs the handlers that the passes of a callback deferred. Meanwhile this thread uses nothing of
 * the lane, so the watch can take its token.
 */
static void run_handlers(struct lane *lane)
{
	u32 token;

	if (list_empty(&visiting->ready))
		return;
	token = TOKEN_HANDLERS | ++lane->turn;
	seq_store(&lane->token, token);
	lnet_deliver(lane->env->ln, &visiting->ready);
	visiting->lost = !token_change(lane, token, TOKEN_HELD);
	/*
	 * lane_take_over() first changes the token and then clears the owner: waits until the owner
	 * is cleared.
	 */
	while (visiting->lost && lane_mine(lane))
		sched_yield();
}

/* --- one step --------------------------------------------------------------------------------- */

/*
 * Waits for events of descriptors. @timeout_ns U64_MAX: no limit. Returns the number of events; 0
 * also after a signal.
 */
int env_epoll_wait(struct user_env *env, int epfd, struct epoll_event *events, int nr,
		   u64 timeout_ns)
{
	struct timespec ts = { (time_t)(timeout_ns / NSEC_PER_SEC),
			       (long)(timeout_ns % NSEC_PER_SEC) };
	u64 ms;
	int rc;

	if (timeout_ns == 0)
		return max(epoll_wait(epfd, events, nr, 0), 0);
	if (!READ_ONCE(env->no_pwait2)) {
		rc = epoll_pwait2(epfd, events, nr, timeout_ns == U64_MAX ? NULL : &ts, NULL);
		if (rc >= 0 || errno != ENOSYS)
			return max(rc, 0);
		WRITE_ONCE(env->no_pwait2, 1);
	}
	ms = timeout_ns == U64_MAX ? U64_MAX : DIV_ROUND_UP(timeout_ns, NSEC_PER_MSEC);
	return max(epoll_wait(epfd, events, nr, ms > INT_MAX ? -1 : (int)ms), 0);
}

/*
 * [lock of the lane] Returns the poll with the event ID @id; NULL if the poll was deleted
 * meanwhile.
 */
static struct lnet_poll *poll_by_id(struct lane *lane, u64 id)
{
	struct lane_slot *slot = &lane->slots[(u32)id];

	return slot->gen == id >> 32 ? slot->poll : NULL;
}

static bool run_claimed(struct lane *lane, struct lnet_poll *poll, u32 events)
{
	bool got = poll && poll->ready(poll, events);

	seq_store(&lane->running, NULL);
	if (seq_load(&lane->nr_deleting)) {
		pthread_mutex_lock(&lane->lock);
		pthread_cond_broadcast(&lane->ran);
		pthread_mutex_unlock(&lane->lock);
	}
	run_handlers(lane);
	return got;
}

static bool run_poll(struct lane *lane, u64 id, u32 events)
{
	struct lnet_poll *poll;

	pthread_mutex_lock(&lane->lock);
	poll = poll_by_id(lane, id);
	seq_store(&lane->running, poll);
	pthread_mutex_unlock(&lane->lock);
	return run_claimed(lane, poll, events);
}

/*
 * Tries the hot poll. Takes no lock, because a lock would cost more than a miss. A deletion first
 * clears @hot and then reads @running. This function first writes @running and then checks that
 * @hot is unchanged. So one of the two sees the other.
 */
static bool try_hot(struct lane *lane)
{
	struct lnet_poll *poll = seq_load(&lane->hot);

	seq_store(&lane->running, poll);
	if (seq_load(&lane->hot) != poll || (poll && !(READ_ONCE(poll->events) & EPOLLIN)))
		poll = NULL;
	return run_claimed(lane, poll, EPOLLIN);
}

/* Waits for descriptors, and calls ready() of those that are ready. */
static int lane_poll_wait(struct lane *lane, u64 timeout_ns)
{
	struct epoll_event events[LANE_BATCH];
	int nr, i, got = 0;

	nr = env_epoll_wait(lane->env, lane->epfd, events, LANE_BATCH, timeout_ns);
	for (i = 0; i < nr && !visit_is_lost(); i++) {
		if (events[i].data.u64 == LANE_WAKE)
			env_wake_clear(lane->evfd);
		else
			got += run_poll(lane, events[i].data.u64, events[i].events);
	}
	return got;
}

static bool looked_lately(const struct lane *lane)
{
	return lane->now_ns - lane->looked_ns < LANE_LOOK_NS;
}

static int lane_check(struct lane *lane)
{
	lane->looked_ns = lane->now_ns;
	return lane_poll_wait(lane, 0);
}

static int poll_descriptors(struct lane *lane)
{
	lane->tries++;
	if (READ_ONCE(lane->hot)) {
		bool got = try_hot(lane);

		if (visit_is_lost())
			return got;
		if (got) {
			lane->misses = 0;
			return lane->tries % LANE_HOT_TRIES && looked_lately(lane)
				       ? 1
				       : 1 + lane_check(lane);
		}
		if (++lane->misses % LANE_HOT_MISSES)
			return 0;
	}
	return lane_check(lane);
}

/*
 * If timers are due, first receives messages that arrived while this thread had no processor, or
 * was busy with one connection. Otherwise a local delay would be attributed to peers.
 */
static int look_before_timers(struct lane *lane)
{
	if (looked_lately(lane) || lane->now_ns < lane_next_ns(lane))
		return 0;
	return lane_check(lane);
}

static int run_shards(struct lane *lane, u64 now)
{
	struct user_env *env = lane->env;
	unsigned int i;
	int nr = 0;

	for (i = lane->first; i < lane->first + lane->nr && !visit_is_lost(); i++) {
		u64 next = lnet_shard_next_ns(env->ln, i);

		if (!READ_ONCE(env->kicked[i]) && now < next)
			continue;
		__atomic_exchange_n(&env->kicked[i], 0, __ATOMIC_SEQ_CST);
		next = lnet_shard_work(env->ln, i);
		nr++;
		/* The shard has more work: visits it in the next step, whatever its deadline is. */
		if (next != U64_MAX && next <= env_clock_ns())
			WRITE_ONCE(env->kicked[i], 1);
		run_handlers(lane);
	}
	return nr;
}

static int lane_step(struct lane *lane, u64 *now)
{
	int got;

	WRITE_ONCE(lane->nudged, 0);
	got = poll_descriptors(lane);
	*now = env_clock_ns();
	if (visit_is_lost())
		return got;
	lane->now_ns = *now;
	got += look_before_timers(lane);
	return visit_is_lost() ? got : got + run_shards(lane, *now);
}

/* --- spinning and sleeping -------------------------------------------------------------------- */

static int lane_sleep_until(struct lane *lane, u64 now, u64 until)
{
	struct user_env *env = lane->env;
	u64 next;
	int got = 0;

	seq_store(&lane->until, U64_MAX);
	next = lane_next_ns(lane);
	until = min(until, next);
	seq_store(&lane->until, until);
	if (until > now && !lane_has_kicks(lane) && !seq_load(&lane->nudged) &&
	    !seq_load(&env->stopped))
		got = lane_poll_wait(lane, until == U64_MAX ? U64_MAX : until - now);
	if (!visit_is_lost())
		seq_store(&lane->until, 0);
	return got;
}

static void yield(struct lane *lane, u64 now)
{
	bool taken;

	sched_yield();
	taken = env_clock_ns() - now > YIELD_TAKEN_NS;
	lane->pause_ns = taken ? 0 : min_t(u64, 2 * lane->pause_ns, SPIN_PAUSE_MAX_NS);
	lane->pause_ns = max_t(u64, lane->pause_ns, SPIN_PAUSE_MIN_NS);
}

/*
 * There was no traffic since @idle_ns: spins for pause_ns, yields until env->spin_ns, then sleeps.
 */
static int lane_idle(struct lane *lane, u64 idle_ns, u64 now, u64 until)
{
	if (now - idle_ns >= lane->env->spin_ns)
		return lane_sleep_until(lane, now, until);
	if (now - idle_ns < lane->pause_ns)
		cpu_relax();
	else
		yield(lane, now);
	return 0;
}

static int poll_until(struct lane *lane, bool (*done)(void *arg), void *arg, u64 deadline_ns,
		      bool yield)
{
	struct user_env *env = lane->env;
	u64 idle_ns = 0, now = 0;
	int nr = 0, got = 0;

	for (;;) {
		if (seq_load(&env->stopped))
			return -ESHUTDOWN;
		if (!visit_is_lost())
			got += lane_step(lane, &now);
		if (got) {
			nr += got;
			idle_ns = 0;
			env_publish(env);
		}
		if (visit_is_lost())
			return max(nr, 1);
		if (done ? done(arg) : nr != 0 && !yield)
			return max(nr, 1);
		if (yield && READ_ONCE(lane->wanted))
			return nr;
		if (now >= deadline_ns)
			return nr;
		if (got || !idle_ns)
			idle_ns = now;
		if (yield && now - idle_ns >= env->spin_ns && !got)
			return nr;
		got = got ? 0 : lane_idle(lane, idle_ns, now, deadline_ns);
	}
}

int lane_poll(struct lane *lane, bool (*done)(void *arg), void *arg, u64 deadline_ns, bool yield)
{
	struct lane_visit visit = { .lane = lane, .outer = visiting };
	int nr;

	INIT_LIST_HEAD(&visit.ready);
	visiting = &visit;
	nr = poll_until(lane, done, arg, deadline_ns, yield);
	visiting = visit.outer;
	return nr;
}

/* --- functions for programs ------------------------------------------------------------------- */

/*
 * Waits until other threads have made progress since @gen, the token of @lane (or NULL) is free, or
 * the environment ends. False: @deadline_ns has passed.
 */
static bool wait_change(struct user_env *env, struct lane *lane, u32 gen, u64 deadline_ns)
{
	struct timespec ts = { (time_t)(deadline_ns / NSEC_PER_SEC),
			       (long)(deadline_ns % NSEC_PER_SEC) };
	int rc = 0;

	pthread_mutex_lock(&env->lock);
	__atomic_add_fetch(&env->nr_waiting, 1, __ATOMIC_SEQ_CST);
	while (rc == 0 && seq_load(&env->gen) == gen && !seq_load(&env->stopped) &&
	       (!lane || seq_load(&lane->token))) {
		if (deadline_ns == U64_MAX)
			rc = pthread_cond_wait(&env->changed, &env->lock);
		else
			rc = pthread_cond_timedwait(&env->changed, &env->lock, &ts);
	}
	__atomic_sub_fetch(&env->nr_waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&env->lock);
	return rc == 0;
}

/* Returns the lane that a caller may poll; NULL in service mode. */
static struct lane *callers_lane(struct user_env *env)
{
	return env->mode == LNET_PROGRESS_SERVICE ? NULL : &env->lanes[0];
}

static int may_wait(struct user_env *env)
{
	const struct lane_visit *visit;

	if (!*env->mine)
		return -EPERM;
	if (!READ_ONCE(env->ln) || seq_load(&env->stopped))
		return -ESHUTDOWN;
	for (visit = visiting; visit; visit = visit->outer)
		if (visit->lane->env == env)
			return -EDEADLK;
	return 0;
}

static u64 deadline_after(s64 timeout_ns)
{
	u64 now;

	if (timeout_ns < 0)
		return U64_MAX;
	now = env_clock_ns();
	return (u64)timeout_ns > (u64)S64_MAX - now ? U64_MAX : now + (u64)timeout_ns;
}

int lnet_progress(struct lnet *ln, int64_t timeout_ns)
{
	struct user_env *env = user_env(lnet_env_of(ln));
	struct lane *lane = callers_lane(env);
	u64 deadline_ns = timeout_ns == 0 ? 0 : deadline_after(timeout_ns);
	u32 gen = seq_load(&env->gen);
	int rc = may_wait(env);

	while (rc == 0) {
		if (lane && lane_token_try(lane)) {
			rc = lane_poll(lane, NULL, NULL, deadline_ns, false);
			lane_poll_end(lane);
			return rc;
		}
		if (!wait_change(env, lane, gen, deadline_ns))
			return 0;
		if (seq_load(&env->gen) != gen)
			return 1;
		rc = may_wait(env);
	}
	return rc;
}

int lnet_progress_until(struct lnet *ln, bool (*done)(void *arg), void *arg, int64_t timeout_ns)
{
	struct user_env *env = user_env(lnet_env_of(ln));
	struct lane *lane = callers_lane(env);
	u64 deadline_ns = deadline_after(timeout_ns);
	bool in_time = true;
	int rc;

	for (;;) {
		u32 gen = seq_load(&env->gen);

		if (done(arg))
			return 0;
		rc = may_wait(env);
		if (rc)
			return rc;
		if (!in_time)
			return -ETIMEDOUT;
		if (!lane || !lane_token_try(lane)) {
			in_time = wait_change(env, lane, gen, deadline_ns);
			continue;
		}
		rc = lane_poll(lane, done, arg, deadline_ns, false);
		lane_poll_end(lane);
		if (rc < 0)
			return rc;
		in_time = env_clock_ns() < deadline_ns;
	}
}

void lnet_progress_wake(struct lnet *ln)
{
	struct user_env *env = user_env(lnet_env_of(ln));
	unsigned int i;

	if (!*env->mine)
		return;
	for (i = 0; i < env->nr_lanes; i++) {
		struct lane *lane = &env->lanes[i];

		seq_store(&lane->nudged, 1);
		if (__atomic_exchange_n(&lane->until, 0, __ATOMIC_SEQ_CST))
			env_wake(lane->evfd);
	}
	env_publish(env);
}
