/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The threads of the user-space environment: the poller of service mode, and the one that stands in
 * in hybrid mode.
 */
#include "plat.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "env_lane.h"

static void *service_main(void *arg)
{
	struct lane *lane = arg;

	/* Nobody else ever takes this token, but for a moment at the end. */
	while (!lane_token_try(lane))
		usleep(100);
	while (lane_poll(lane, NULL, NULL, U64_MAX, false) >= 0)
		;
	lane_token_release(lane);
	return NULL;
}

/* Ask to be woken, once, when a descriptor of the lane is ready. */
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
		if (events[nr].data.u64 == LANE_BELL)
			env_bell_clear(lane->svc_evfd);
}

/* Nobody polls: sleep until a descriptor is ready, the next deadline, a kick, or the end. */
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
 * Somebody polls, or did lately: look again each tick, at the cost of no system call to him.
 * Returns when for a whole tick nobody had the token. One that keeps the token for long is not
 * watched but asked to say when he leaves.
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

static void *hybrid_main(void *arg)
{
	struct lane *lane = arg;
	struct user_env *env = lane->env;
	u32 mine = READ_ONCE(lane->visits);

	while (!seq_load(&env->stopped)) {
		if (READ_ONCE(lane->visits) != mine || READ_ONCE(lane->wanted) ||
		    !lane_token_try(lane)) {
			svc_stand_by(lane);
			mine = READ_ONCE(lane->visits);
			continue;
		}
		mine = READ_ONCE(lane->visits);
		lane_poll(lane, NULL, NULL, U64_MAX, true);
		lane_token_release(lane);
		if (!READ_ONCE(lane->wanted))
			svc_guard(lane);
	}
	return NULL;
}

int lane_thread_start(struct lane *lane)
{
	void *(*main_fn)(void *arg) =
		lane->env->mode == LNET_PROGRESS_SERVICE ? service_main : hybrid_main;
	sigset_t all, before;
	int rc;

	/* Signals are the application's, and splice() has no way to ask for no SIGPIPE. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&lane->thread, NULL, main_fn, lane);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	lane->has_thread = rc == 0;
	return -rc;
}

void lane_thread_stop(struct lane *lane)
{
	if (!lane->has_thread)
		return;
	env_bell(lane->evfd);
	if (lane->svc_evfd >= 0)
		env_bell(lane->svc_evfd);
	pthread_join(lane->thread, NULL);
	lane->has_thread = false;
}
