/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment in user space as its drivers see it: descriptors that a shard's poller watches.
 */
#ifndef LNET_USER_ENV_H
#define LNET_USER_ENV_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/progress.h>

/*
 * One watched descriptor, embedded in what the driver keeps of it. @fd and @ready are the driver's
 * and stay the same while added; the rest is the environment's and zero at first.
 *
 * @ready: called by the thread that is the shard's poller, with no lock held, so never twice at
 * once for one shard; it may begin passes, run handlers at their end, and add, modify or delete
 * polls, this one too. @events are EPOLL* bits; a hot poll is also called with EPOLLIN just to try
 * (recv() may then say EAGAIN). Returns true if it got something done: that keeps the poller from
 * sleeping.
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
 * Any thread, task context, no lock of the core held. Level-triggered, so a ready() that leaves
 * bytes is called again. Adding: 0, -EINVAL (no such shard), -EPERM after fork(), or the error of
 * epoll_ctl. Modifying: also -ENOENT. EPOLLIN taken away also stops the tries of a hot poll.
 */
int lnet_env_poll_add(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll, u32 events);
int lnet_env_poll_mod(struct lnet_env *env, struct lnet_poll *poll, u32 events);
/*
 * After it returned ready() does not run and will not run again; called from inside a ready() of
 * the same shard it does not wait. Else the caller must hold no lock that ready() takes, and be in
 * no ready() of another shard that could be deleting a poll of the caller's. Before the descriptor
 * is closed. Does nothing for a poll that is not added.
 */
void lnet_env_poll_del(struct lnet_env *env, struct lnet_poll *poll);
/*
 * @poll is the one to try without asking the kernel which is ready: typically the connection that
 * last gave data. Only from inside a ready() of the same shard. NULL for none.
 */
void lnet_env_poll_hot(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll);

#endif
