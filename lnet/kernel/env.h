/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment in the kernel as its drivers see it: how a callback of a socket or a timer gets a
 * worker to enter the core, and which instance is which namespace's.
 *
 * The core is entered in process context only, by workers and by callers of the API: no shard lock
 * is ever taken in softirq or hard irq, so they are plain spin locks. What the kernel calls in
 * softirq, in hard irq, or under a lock that is not ours (sk_data_ready, sk_write_space,
 * sk_state_change, timers, device and address notifiers, which hold RTNL) notes what happened by
 * lnet_env_poll_raise() and returns; the worker does the rest. So nothing of ours waits for RTNL
 * but starting and stopping an interface, and nothing under RTNL waits for us.
 *
 * Workers run with memalloc_nofs_save(), on a workqueue with WQ_MEM_RECLAIM and WQ_HIGHPRI. One
 * that sleeps in a handler delays no other poll; one that has much to do must cond_resched() and
 * give others a turn by returning true.
 */
#ifndef LNET_KERNEL_ENV_H
#define LNET_KERNEL_ENV_H

#include "cpt.h"
#include "plat.h"
#include <linux/hrtimer.h>
#include <linux/workqueue.h>
#include <lnet/env.h>

struct lnet;
struct lnet_lnd_ops;
struct net;

/* ---- workers --------------------------------------------------------------------------------- */

/* What happened to a poll; a driver may give the bits other meanings, but for the last. */
#define LNET_POLL_READ	BIT(0)		/* sk_data_ready */
#define LNET_POLL_WRITE	BIT(1)		/* sk_write_space */
#define LNET_POLL_STATE	BIT(2)		/* sk_state_change: connected, or broken */
#define LNET_POLL_LINK	BIT(3)		/* a device or an address changed */
#define LNET_POLL_TURN	BIT(4)		/* another thread wants the reading thread to come by */
#define LNET_POLL_ALARM	BIT(5)		/* its struct lnet_alarm went off */

/*
 * Something that wants a worker: a connection, a listener, an interface. Embedded in what the
 * driver keeps of it; lnet_env_poll_init() before the first callback may come.
 *
 * @ready: in a worker, process context, no lock held; never twice at once for one poll. May begin
 * passes, run handlers at their end, sleep, and initialise, raise or delete polls, its own too.
 * @events are the bits raised since it ran last. Returns true to be called again after others had
 * their turn, with whatever was raised meanwhile or no event at all; false after it deleted itself.
 */
struct lnet_poll {
	struct work_struct work;	/* the environment's, all of it */
	bool (*ready)(struct lnet_poll *poll, unsigned long events);
	atomic_long_t events;
	struct lnet_place place;
	bool dead;
};

/*
 * @cpts: a bit for each partition on whose CPUs to run it, 0: on any; where it is raised if that is
 * one of them. Cannot fail; nothing runs before the first lnet_env_poll_raise().
 */
void lnet_env_poll_init(struct lnet_poll *poll, u64 cpts,
			bool (*ready)(struct lnet_poll *poll, unsigned long events));
/*
 * Any context, any lock held: ready() will run with these bits, soon and at least once after this
 * call. Does nothing for a deleted poll, but its memory must still be there: callbacks end first
 * (restore them under sk_callback_lock, cancel the alarm), then the poll is deleted.
 */
void lnet_env_poll_raise(struct lnet_poll *poll, unsigned long events);
/*
 * After it returned ready() does not run and will not run again, and the memory may go; called
 * inside its own ready() it does not wait, and that ready() then returns false and touches the poll
 * no more. Else: process context, no lock held that ready() takes, and not inside a ready() that
 * could be deleting a poll of the caller's. Twice is once.
 */
void lnet_env_poll_del(struct lnet_poll *poll);

/*
 * Raises LNET_POLL_ALARM of @poll at a time of ops->now_ns() (CLOCK_MONOTONIC). Setting replaces
 * the time; one that has passed goes off at once. Who sets it from several threads does so under a
 * lock of his own, or the last one wins.
 */
struct lnet_alarm {
	struct hrtimer timer;
	struct lnet_poll *poll;
};

void lnet_env_alarm_init(struct lnet_alarm *alarm, struct lnet_poll *poll);
void lnet_env_alarm_set(struct lnet_alarm *alarm, u64 when_ns);	/* any context */
/* It does not go off after this. Process context; before the poll is deleted. */
void lnet_env_alarm_del(struct lnet_alarm *alarm);

/* ---- drivers and namespaces ------------------------------------------------------------------ */

/*
 * Of a NUMA node, as of dev_to_node(): the partition that is nearest, -1 if there is no such node;
 * all that have CPUs of it, as bits. For ni->dev_cpt and ni->cpts.
 */
s32 lnet_env_cpt_of_node(int node);
u64 lnet_env_cpts_of_node(int node);

/*
 * From module_init: make a driver known to the instance of each namespace, those to come too. From
 * module_exit: none of them offers it any more; interfaces hold @ops->owner from ni_start() to the
 * end of ni_stop(), so none is left. Process context, may sleep, RTNL not held. 0, -EEXIST (another
 * has the type), -EINVAL, -ENOSPC.
 *
 * ops->ni_start and ops->ni_stop are called without RTNL and may take it. ni_stop() is also called
 * while the namespace is taken down, its devices still there: it must not wait for the peer (no
 * graceful close: abort, then sock_release()), nor call register_netdevice_notifier() and the like,
 * which wait for the namespace in turn; register_netdevice_notifier_net() is fine.
 */
int lnet_driver_register(const struct lnet_lnd_ops *ops);
void lnet_driver_unregister(const struct lnet_lnd_ops *ops);

/*
 * The namespace to make sockets in; no reference is taken or needed: interfaces are stopped before
 * it ends. Sockets must not hold one either (sock_create_kern()), or it would never end.
 */
struct net *lnet_env_net(const struct lnet_env *env);
/*
 * The instance of @net, NULL if it has none, or none any more. RTNL held (as in notifiers), which
 * keeps the instance until it is dropped; to enter the core a worker is needed all the same.
 */
struct lnet *lnet_netns_instance(const struct net *net);

#endif
