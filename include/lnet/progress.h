/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Progress of an instance in user space: the threads that poll its sockets, run its timers and
 * deliver its events.
 */
#ifndef LNET_PROGRESS_H
#define LNET_PROGRESS_H

#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet;
struct lnet_env;

enum lnet_progress_mode {
	/*
	 * threads that call lnet_progress() poll; a service thread polls while no thread calls it
	 */
	LNET_PROGRESS_HYBRID,
	/*
	 * only lnet_progress() polls; another call, such as lnet_put(), only sends its own message
	 */
	LNET_PROGRESS_MANUAL,
	/*
	 * one service thread per shard does all work; this costs two thread switches per round trip
	 */
	LNET_PROGRESS_SERVICE,
};

/* All zero is the default. */
struct lnet_user_env_cfg {
	enum lnet_progress_mode mode;
	unsigned int nr_shards;		/* 1 to 64; 0: 1 */
	/*
	 * seed of random numbers, only for tests, because it makes session IDs predictable; 0: from
	 * the system
	 */
	uint64_t seed;
	/*
	 * microseconds for which a thread polls without traffic before it sleeps; 0: 100;
	 * UINT32_MAX: it does not poll
	 */
	unsigned int spin_us;
};

/*
 * Creates the environment for lnet_create(). The environment belongs to this process: in a child
 * after fork(), every call fails with -EPERM. Return: 0, -EINVAL, -ENOMEM or the error of
 * epoll_create/eventfd.
 */
int lnet_user_env_create(struct lnet_env **envp, const struct lnet_user_env_cfg *cfg);
/*
 * Starts the progress of @ln, with the service threads of the mode. Called once, after
 * lnet_create() and before the first NI starts. Return: 0, -EINVAL (called before, or @ln has
 * another number of shards), -EPERM, or the error of pthread_create.
 */
int lnet_user_env_start(struct lnet_env *env, struct lnet *ln);
/*
 * Ends the progress before lnet_destroy(); not to be called from a handler. Ends the service
 * threads, makes waiting calls return -ESHUTDOWN, and waits until no thread polls. Afterwards
 * drivers may still remove their sockets from the environment.
 */
void lnet_user_env_stop(struct lnet_env *env);
void lnet_user_env_destroy(struct lnet_env *env);	/* after lnet_destroy(); NULL is fine */

/*
 * Polls, runs timers and delivers events in this thread, for all shards, until something was done
 * or @timeout_ns has passed. @timeout_ns 0: checks once; below 0: no limit. While another thread
 * polls, the call waits until that thread has done something, or until it may poll itself. In
 * service mode the call only waits. Return: the number of things done (polls with events, shard
 * visits with work), 0 after the timeout, -EDEADLK in a handler, -ESHUTDOWN, -EPERM after fork().
 */
int lnet_progress(struct lnet *ln, int64_t timeout_ns);

/*
 * Calls lnet_progress() until done(arg) is true. The call runs done() in this thread with no lock
 * held, first and after each step. Once done() has returned true, it must stay true until the call
 * returns. Several threads may call it: one thread polls, the others sleep. When the polling thread
 * is done, another one polls. Return: 0 when done, -ETIMEDOUT, or an error of lnet_progress().
 */
int lnet_progress_until(struct lnet *ln, bool (*done)(void *arg), void *arg, int64_t timeout_ns);

/*
 * Makes waiting threads call done() again. Needed after a change of a condition that no event of
 * @ln reports. Any thread.
 */
void lnet_progress_wake(struct lnet *ln);

LNET_END_DECLS

#endif
