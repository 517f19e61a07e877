/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How an instance in user space makes progress: who polls its sockets, runs its timers and delivers
 * its events.
 */
#ifndef LNET_PROGRESS_H
#define LNET_PROGRESS_H

#include <lnet/types.h>

LNET_BEGIN_DECLS

struct lnet;
struct lnet_env;

enum lnet_progress_mode {
	/* who calls lnet_progress() polls; a service thread stands in while nobody does */
	LNET_PROGRESS_HYBRID,
	/* nothing happens outside lnet_progress() but what the calls themselves send */
	LNET_PROGRESS_MANUAL,
	/* a thread per shard does everything; costs two thread hops per round trip */
	LNET_PROGRESS_SERVICE,
};

/* All zero is the default. */
struct lnet_user_env_cfg {
	enum lnet_progress_mode mode;
	unsigned int nr_shards;		/* 1 to 64; 0: 1 */
	/* of the random numbers, for tests only: session IDs are predictable; 0: from the system */
	uint64_t seed;
	/* poll that long without traffic before sleeping; 0: 100; UINT32_MAX: never spin */
	unsigned int spin_us;
};

/*
 * Creates the environment that lnet_create() is given; it belongs to this process: in a child after
 * fork() every call fails with -EPERM. 0, -EINVAL, -ENOMEM or the error of epoll_create/eventfd.
 */
int lnet_user_env_create(struct lnet_env **envp, const struct lnet_user_env_cfg *cfg);
/*
 * Once, when @ln exists and before its first NI starts: begins to run it; starts the service
 * threads of modes that have them. 0, -EINVAL when @ln has another number of shards, -EPERM, or the
 * error of pthread_create.
 */
int lnet_user_env_start(struct lnet_env *env, struct lnet *ln);
/*
 * Before lnet_destroy(): ends the service threads, makes calls that wait return -ESHUTDOWN and
 * waits until none polls. Descriptors may still be deleted. Not from a handler.
 */
void lnet_user_env_stop(struct lnet_env *env);
void lnet_user_env_destroy(struct lnet_env *env);	/* after lnet_destroy(); NULL is fine */

/*
 * Polls, runs timers and delivers events in the calling thread, for all shards, until something was
 * done or @timeout_ns (0: one look; < 0: no limit) has passed. While another thread polls, it waits
 * for what that one gets done, or for its turn. In service mode it only waits. Number of things
 * done (polls that found something, shard visits that had work), 0 for none in time, -EDEADLK
 * inside a handler, -ESHUTDOWN, -EPERM after fork().
 */
int lnet_progress(struct lnet *ln, int64_t timeout_ns);

/*
 * lnet_progress() until done(arg), which is asked with no lock held, in the calling thread, at
 * first and after each step; once true it stays so until the call returns. Usable from several
 * threads: one polls, the others sleep; a poller that is done hands on. 0 when done, -ETIMEDOUT, or
 * -errno as above.
 */
int lnet_progress_until(struct lnet *ln, bool (*done)(void *arg), void *arg, int64_t timeout_ns);

/*
 * Makes those who wait ask done() again: for conditions that no event of @ln changes. Any thread.
 */
void lnet_progress_wake(struct lnet *ln);

LNET_END_DECLS

#endif
