/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of the user-space environment: the pollers of service mode, and the service thread of
 * hybrid mode.
 */
#include "plat.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "env_lane.h"

static bool serves(const struct lane_thread *thread)
{
	const struct lane *lane = thread->lane;

	return &lane->threads[seq_load(&lane->serving)] == thread &&
	       !seq_load(&lane->env->stopped);
}

/*
 * Service mode: waits for the token. Other threads hold the token of this lane only for a moment:
 * at the end of the environment, or while the watch takes over the lane.
 */
static void service_turn(struct lane_thread *thread)
{
	struct lane *lane = thread->lane;

	while (!lane_token_try(lane))
		usleep(100);
	while (lane_poll(lane, NULL, NULL, U64_MAX, false) >= 0 && lane_mine(lane))
		;
	lane_poll_end(lane);
}

/* Makes lane->outer report once when a descriptor of the lane is ready. */
static void watch_lane(struct lane *lane)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.u64 = 0 };

	epoll_ctl(lane->outer, EPOLL_CTL_MOD, lane->epfd, &ev);
}

static void svc_wait(struct lane *lane, u64 timeout_ns)
{
	struct epoll_event events[2];
	int nr = env_epoll_wait(lane->env, lane->outer, events, 2, timeout_ns);

	while (nr-- > 0)
		if (events[nr].data.u64 == LANE_WAKE)
			env_wake_clear(lane->svc_evfd);
}

/*
 * If no thread polls: sleeps until a descriptor is ready, or until the next deadline, a kick, or
 * the end.
 */
static void svc_guard(struct lane *lane)
{
	u64 until, now;

	seq_store(&lane->svc_until, U64_MAX);
	until = lane_next_ns(lane);
	seq_store(&lane->svc_until, until);
	now = env_clock_ns();
	if (until > now && !lane_has_kicks(lane) && !seq_load(&lane->env->stopped)) {
		watch_lane(lane);
		svc_wait(lane, until == U64_MAX ? U64_MAX : until - now);
	}
	seq_store(&lane->svc_until, 0);
}

/*
 * While another thread polls, or polled recently: checks at each tick, which costs the other thread
 * no system call. Returns if no thread had the token for a whole tick. If one thread keeps the
 * token for SVC_DEEP_TICKS, sleeps until that thread releases it.
 */
static void svc_stand_by(struct lane *lane)
{
	unsigned int held = 0;
	u32 seen;

	WRITE_ONCE(lane->wanted, 0);
	do {
		seen = READ_ONCE(lane->visits);
		if (held >= SVC_DEEP_TICKS) {
			seq_store(&lane->svc_deep, 1);
			if (seq_load(&lane->token) && !seq_load(&lane->env->stopped))
				svc_wait(lane, U64_MAX);
			seq_store(&lane->svc_deep, 0);
			held = 0;
		}
		svc_wait(lane, SVC_TICK_NS);
		held = READ_ONCE(lane->token) && READ_ONCE(lane->visits) == seen ? held + 1 : 0;
	} while (!seq_load(&lane->env->stopped) &&
		 (READ_ONCE(lane->token) || READ_ONCE(lane->visits) != seen));
}

static void hybrid_turn(struct lane_thread *thread)
{
	struct lane *lane = thread->lane;
	u32 mine = READ_ONCE(lane->visits);

	while (serves(thread)) {
		if (READ_ONCE(lane->visits) != mine || READ_ONCE(lane->wanted) ||
		    !lane_token_try(lane)) {
			svc_stand_by(lane);
			mine = READ_ONCE(lane->visits);
			continue;
		}
		mine = READ_ONCE(lane->visits);
		lane_poll(lane, NULL, NULL, U64_MAX, true);
		lane_poll_end(lane);
		if (serves(thread) && !READ_ONCE(lane->wanted))
			svc_guard(lane);
	}
}

/* ---- threads --------------------------------------------------------------------------------- */

/* Returns when this thread must poll the lane again, or at the end of the environment. */
static void thread_park(struct lane_thread *thread)
{
	struct user_env *env = thread->lane->env;

	pthread_mutex_lock(&env->lock);
	__atomic_add_fetch(&env->nr_waiting, 1, __ATOMIC_SEQ_CST);
	thread->parked = true;
	while (!serves(thread) && !seq_load(&env->stopped))
		pthread_cond_wait(&env->changed, &env->lock);
	thread->parked = false;
	__atomic_sub_fetch(&env->nr_waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&env->lock);
}

static void *thread_main(void *arg)
{
	struct lane_thread *thread = arg;
	struct user_env *env = thread->lane->env;

	__atomic_store_n(&thread->self, pthread_self(), __ATOMIC_RELAXED);
	while (!seq_load(&env->stopped)) {
		if (!serves(thread))
			thread_park(thread);
		else if (env->mode == LNET_PROGRESS_SERVICE)
			service_turn(thread);
		else
			hybrid_turn(thread);
	}
	return NULL;
}

int env_thread_create(pthread_t *id, void *(*main_fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int rc;

	/*
	 * Blocks all signals: they are for threads of the application, and splice() has no flag
	 * that avoids SIGPIPE.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(id, NULL, main_fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

/* The caller holds the lock of the environment, or no thread exists yet. */
static int thread_create(struct lane *lane, unsigned int nr)
{
	struct lane_thread *thread = &lane->threads[nr];
	int rc;

	thread->lane = lane;
	rc = env_thread_create(&thread->id, thread_main, thread);
	thread->exists = rc == 0;
	return rc;
}

int lane_thread_start(struct lane *lane)
{
	return thread_create(lane, 0);
}

bool lane_is_served_by(struct lane *lane, pthread_t thread)
{
	const struct lane_thread *serving = &lane->threads[seq_load(&lane->serving)];

	return pthread_equal(__atomic_load_n(&serving->self, __ATOMIC_RELAXED), thread);
}

void lane_thread_replace(struct lane *lane)
{
	struct user_env *env = lane->env;
	u32 before = lane->serving, nr;

	pthread_mutex_lock(&env->lock);
	for (nr = 0; nr < LANE_THREADS; nr++)
		if (lane->threads[nr].parked || !lane->threads[nr].exists)
			break;
	if (nr < LANE_THREADS) {
		seq_store(&lane->serving, nr);
		if (!lane->threads[nr].exists && thread_create(lane, nr))
			seq_store(&lane->serving, before);
		pthread_cond_broadcast(&env->changed);
	}
	pthread_mutex_unlock(&env->lock);
}

void lane_thread_stop(struct lane *lane)
{
	unsigned int i;

	if (!lane->threads[0].exists)
		return;
	env_wake(lane->evfd);
	if (lane->svc_evfd >= 0)
		env_wake(lane->svc_evfd);
	for (i = 0; i < LANE_THREADS; i++) {
		if (lane->threads[i].exists)
			pthread_join(lane->threads[i].id, NULL);
		lane->threads[i].exists = false;
	}
}
