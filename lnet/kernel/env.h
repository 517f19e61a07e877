/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface of the kernel environment to drivers. A callback of a socket or a timer uses it to
 * wake a worker that enters the core, and to find the instance of a namespace.
 *
 * Only workers and callers of the API enter the core, in process context. No shard lock is ever
 * taken in softirq or hard irq, so these locks are plain spin locks. Some callbacks run in softirq,
 * in hard irq or under a lock of the kernel: sk_data_ready, sk_write_space, sk_state_change,
 * timers, and the notifiers of devices and addresses, which hold RTNL. They report the event by
 * lnet_env_poll_raise() and return; the worker then processes the event. So the module waits for
 * RTNL only to start or stop an interface, and no code that holds RTNL waits for the module.
 *
 * Workers run with memalloc_nofs_save(), on a workqueue with WQ_MEM_RECLAIM and WQ_HIGHPRI. A
 * worker that sleeps in a handler delays no other poll. A worker with much work must call
 * cond_resched(), and return true so that others can run.
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

/* Events of a poll. A driver may give them other meanings, except for LNET_POLL_ALARM. */
#define LNET_POLL_READ	BIT(0)		/* sk_data_ready */
#define LNET_POLL_WRITE	BIT(1)		/* sk_write_space */
#define LNET_POLL_STATE	BIT(2)		/* sk_state_change: connected, or broken */
#define LNET_POLL_LINK	BIT(3)		/* a device or an address changed */
/* the driver requests a run of ready(), for another reason */
#define LNET_POLL_TURN	BIT(4)
#define LNET_POLL_ALARM	BIT(5)		/* its struct lnet_alarm expired */

/*
 * A work item of a driver, embedded in its connection, listener or interface. The driver calls
 * lnet_env_poll_init() before the first callback can run.
 *
 * @ready runs in a worker, in process context, with no lock held, and never twice at once for one
 * poll. It may begin a pass (struct lnet_pass), run handlers at the end of the pass, and sleep. It
 * may initialise, raise or delete polls, including its own poll. @events are the bits that were
 * raised since the last call. If it returns true, it is called again after other polls, even
 * without a new event. After it has deleted its own poll, it must return false.
 */
struct lnet_poll {
	struct work_struct work;	/* all fields are private to the environment */
	bool (*ready)(struct lnet_poll *poll, unsigned long events);
	atomic_long_t events;
	struct lnet_place place;
	bool dead;
};

/*
 * @cpts: a bit for each partition on whose CPUs ready() may run; 0: on any CPU. If the CPU that
 * raises the event is in these partitions, ready() runs on that CPU. Cannot fail; runs nothing
 * before the first event.
 */
void lnet_env_poll_init(struct lnet_poll *poll, u64 cpts,
			bool (*ready)(struct lnet_poll *poll, unsigned long events));
/*
 * Any context, any lock held. ready() will run with these bits soon, and at least once after this
 * call. Has no effect on a deleted poll, but the memory of the poll must still exist. So the driver
 * first ends the callbacks (restores them under sk_callback_lock, cancels the alarm), then deletes
 * the poll.
 */
void lnet_env_poll_raise(struct lnet_poll *poll, unsigned long events);
/*
 * Deletes a poll. After the return, ready() does not run any more, and the memory may be freed. A
 * second call has no effect.
 *
 * A call inside the poll's own ready() does not wait. That ready() must then return false and not
 * use the poll. Other calls need process context, and hold no lock that ready() takes. If two polls
 * may delete each other at the same time, neither may do so inside its ready().
 */
void lnet_env_poll_del(struct lnet_poll *poll);

/*
 * Raises LNET_POLL_ALARM of @poll at @when_ns, a time of ops->now_ns() (CLOCK_MONOTONIC). If this
 * time has passed, raises it at once. A new time replaces the old one. If several threads set the
 * alarm without a lock of the driver, the last call decides.
 */
struct lnet_alarm {
	struct hrtimer timer;
	struct lnet_poll *poll;
};

void lnet_env_alarm_init(struct lnet_alarm *alarm, struct lnet_poll *poll);
void lnet_env_alarm_set(struct lnet_alarm *alarm, u64 when_ns);	/* any context */
/*
 * Cancels the alarm: it does not expire after the return. Process context; called before the poll
 * is deleted.
 */
void lnet_env_alarm_del(struct lnet_alarm *alarm);

/* ---- drivers and namespaces ------------------------------------------------------------------ */

/*
 * @node: a NUMA node as returned by dev_to_node(). The first function returns the nearest
 * partition, for ni->dev_cpt; -1: the node does not exist. The second function returns bits of
 * the partitions that have CPUs of the node, for ni->cpts.
 */
s32 lnet_env_cpt_of_node(int node);
u64 lnet_env_cpts_of_node(int node);

/*
 * From module_init: registers a driver with the instances of all present and later namespaces. From
 * module_exit: removes the driver from them. No interface is left then, because an interface holds
 * @ops->owner from ni_start() to the end of ni_stop(). Process context, may sleep, RTNL not held.
 * 0, -EEXIST (another driver has the type), -EINVAL, -ENOSPC.
 *
 * ops->ni_start and ops->ni_stop are called without RTNL and may take it. ni_stop() is also called
 * while the namespace is removed, when its devices still exist. It must not wait for the peer: it
 * aborts connections, then calls sock_release(). It must not call functions that wait for the
 * namespace, such as register_netdevice_notifier(); register_netdevice_notifier_net() is permitted.
 */
int lnet_driver_register(const struct lnet_lnd_ops *ops);
void lnet_driver_unregister(const struct lnet_lnd_ops *ops);

/*
 * Returns the namespace for sockets. Takes no reference, because interfaces are stopped before the
 * namespace ends. Sockets must hold no reference to the namespace (sock_create_kern()), or the
 * namespace would never end.
 */
struct net *lnet_env_net(const struct lnet_env *env);
/*
 * Returns the instance of @net, or NULL. RTNL is held, as in notifiers, so the instance exists
 * until the caller releases RTNL. The caller still needs a worker to enter the core.
 */
struct lnet *lnet_netns_instance(const struct net *net);

#endif
