/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The watch of the user-space environment: a thread that checks running handlers. If a handler
 * blocks, the watch makes another thread poll the lane of the blocked thread.
 */
#include "plat.h"

#include <time.h>

#include "env_lane.h"

static void lane_check_token(struct lane *lane)
{
	u32 token = seq_load(&lane->token);

	if (!(token & TOKEN_HANDLERS) || token != lane->seen_token) {
		lane->seen_token = token;
		lane->seen_looks = 0;
	} else if (++lane->seen_looks >= TAKEOVER_LOOKS) {
		lane_take_over(lane, token);
		lane->seen_token = TOKEN_FREE;
	}
}

/* env->watch_lock held; the wait releases it. */
static void watch_wait_until(struct user_env *env, u64 when_ns)
{
	struct timespec ts = { (time_t)(when_ns / NSEC_PER_SEC), (long)(when_ns % NSEC_PER_SEC) };

	if (when_ns == U64_MAX)
		pthread_cond_wait(&env->watch_rang, &env->watch_lock);
	else
		pthread_cond_timedwait(&env->watch_rang, &env->watch_lock, &ts);
}

static void handlers_check(struct user_env *env)
{
	u64 next_ns;
	unsigned int i;

	env->watch_ns = U64_MAX;
	pthread_mutex_unlock(&env->watch_lock);
	next_ns = lnet_handlers_watch(env->ln);
	for (i = 0; i < env->nr_lanes; i++)
		lane_check_token(&env->lanes[i]);
	pthread_mutex_lock(&env->watch_lock);
	env->watch_ns = min(env->watch_ns, next_ns);
}

static void *watch_main(void *arg)
{
	struct user_env *env = arg;

	pthread_mutex_lock(&env->watch_lock);
	while (!seq_load(&env->stopped)) {
		if (env->watch_ns > env_clock_ns())
			watch_wait_until(env, env->watch_ns);
		else
			handlers_check(env);
	}
	pthread_mutex_unlock(&env->watch_lock);
	return NULL;
}

void env_watch(struct lnet_env *base, u64 when_ns)
{
	struct user_env *env = user_env(base);

	if (env->mode == LNET_PROGRESS_MANUAL)
		return;
	pthread_mutex_lock(&env->watch_lock);
	env->watch_ns = min(env->watch_ns, when_ns);
	if (!env->has_watch && !seq_load(&env->stopped))
		env->has_watch = env_thread_create(&env->watch, watch_main, env) == 0;
	pthread_cond_signal(&env->watch_rang);
	pthread_mutex_unlock(&env->watch_lock);
}

void env_watch_stop(struct user_env *env)
{
	bool has_watch;

	pthread_mutex_lock(&env->watch_lock);
	has_watch = env->has_watch;
	env->has_watch = false;
	pthread_cond_signal(&env->watch_rang);
	pthread_mutex_unlock(&env->watch_lock);
	if (has_watch)
		pthread_join(env->watch, NULL);
}
