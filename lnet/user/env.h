/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The user-space environment for drivers: file descriptors that the poller of a shard watches. */
#ifndef LNET_USER_ENV_H
#define LNET_USER_ENV_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/progress.h>

/*
 * A watched descriptor, embedded in a struct of the driver. The driver sets @fd and @ready, and
 * does not change them while the poll is added. The other fields belong to the environment, and are
 * zero at first.
 *
 * The poller of the shard calls @ready with no lock held, so calls of @ready for one shard never
 * overlap. @ready may begin passes, run handlers at their end, and add, modify or delete polls,
 * including its own poll. @events are EPOLL* bits. If the poll is the hot poll, the poller may call
 * @ready with EPOLLIN although the kernel reported no data. recv() may then return EAGAIN. @ready
 * returns true if it made progress, so that the poller does not sleep.
 */
struct lnet_poll {
	int fd;
	u32 events;			/* EPOLL* bits watched now */
	bool (*ready)(struct lnet_poll *poll, u32 events);
	u32 shard;
	u32 slot;
	bool added;
};

/*
 * Any thread, task context, no lock of the core held. Level-triggered: ready() is called again if
 * it does not read all bytes. Adding returns 0, -EINVAL (no such shard, or added already), -ENOMEM,
 * -EPERM (after fork()), or the error of epoll_ctl(). Modifying also returns -ENOENT. A hot poll
 * without EPOLLIN is not tried.
 */
int lnet_env_poll_add(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll, u32 events);
int lnet_env_poll_mod(struct lnet_env *env, struct lnet_poll *poll, u32 events);
/*
 * Deletes a poll, before its descriptor is closed. After the return, ready() does not run and is
 * not called again. Inside a ready() of the same shard, the call does not wait. Other callers must
 * hold no lock that ready() takes. Two shards must not delete polls of each other in ready() at the
 * same time, because both would wait forever. If the poll is not added, does nothing.
 */
void lnet_env_poll_del(struct lnet_env *env, struct lnet_poll *poll);
/*
 * Makes @poll the hot poll. The poller tries the hot poll without asking the kernel which polls are
 * ready. Normally it is the connection that last received data. Call this only inside a ready() of
 * the same shard. NULL: no hot poll.
 */
void lnet_env_poll_hot(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll);

#endif
