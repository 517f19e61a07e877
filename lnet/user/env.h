/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment in user space as its drivers see it: descriptors that a shard's poller watches. */
#ifndef LNET_USER_ENV_H
#define LNET_USER_ENV_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/progress.h>

/*
 * One watched descriptor, embedded in what the driver keeps of it. All but @fd and @ready is the environment's.
 *
 * @ready: called by the thread that is the shard's poller, with no lock held, so never twice at once for one shard;
 * it may begin passes, run handlers at their end, and add, modify or delete polls, this one too. @events are EPOLL* bits;
 * a hot poll is also called with EPOLLIN just to try (recv() may then say EAGAIN). Returns true if it got something
 * done: that keeps the poller from sleeping and makes a poll that got data the next hot one if it asks so.
 */
struct lnet_poll {
	int fd;				/* the driver's; not changed while added */
	u32 events;			/* EPOLL* bits watched now */
	bool (*ready)(struct lnet_poll *poll, u32 events);
	u32 shard;
	bool added;
	bool running;
	struct list_head link;		/* of deletions that wait for ready() to return */
};

/*
 * Any thread, task context, no lock of the core held. Level-triggered, so a ready() that leaves bytes is called again.
 * lnet_env_poll_add(): fd and ready of @poll are set, the rest is zero. 0, -EINVAL, -EPERM after fork(), or the error of
 * epoll_ctl.
 */
int lnet_env_poll_add(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll, u32 events);
int lnet_env_poll_mod(struct lnet_env *env, struct lnet_poll *poll, u32 events);
/*
 * After it returned ready() does not run and will not run again; called from inside this ready(): will not run again.
 * Must be called before the descriptor is closed. Does nothing for a poll not added.
 */
void lnet_env_poll_del(struct lnet_env *env, struct lnet_poll *poll);
/*
 * This poll is the one to try without asking the kernel which is ready: typically the connection that last gave data.
 * Only from inside a ready() of the same shard. NULL for none.
 */
void lnet_env_poll_hot(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll);

#endif
