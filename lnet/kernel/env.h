/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The interface of the kernel environment to drivers. A callback of a socket or a timer uses it to
 * wake a worker that enters the core, and to find the instance of a namespace.
 *
 * Only workers and callers of the API enter the core, in process context. No shard lock is ever
 * taken in softirq or hard irq, so these locks are plain spin locks. Some callbacks run in softirq,
 * in hard irq or under a foreign lock: sk_data_ready, sk_write_space, sk_state_change, timers, and
 * the notifiers of devices and addresses, which hold RTNL. They report what happened by
 * lnet_env_poll_raise() and return; the worker does the rest. So the module waits for RTNL only to
 * start or stop an interface, and nothing under RTNL waits for the module.
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

/* Events of a poll. A driver may define other meanings, except for LNET_POLL_ALARM. */
#define LNET_POLL_READ	BIT(0)		/* sk_data_ready */
#define LNET_POLL_WRITE	BIT(1)		/* sk_write_space */
#define LNET_POLL_STATE	BIT(2)		/* sk_state_change: connected, or broken */
#define LNET_POLL_LINK	BIT(3)		/* a device or an address changed */
#define LNET_POLL_TURN	BIT(4)		/* the driver requests a run, for another reason */
#define LNET_POLL_ALARM	BIT(5)		/* its struct lnet_alarm expired */

/*
 * A work item of a driver, embedded in its connection, listener or interface. The driver calls
 * lnet_env_poll_init() before the first callback can run.
 *
 * @ready: in a worker, process context, no lock held; never twice at once for one poll. It may
 * begin passes, run handlers at their end, sleep, and initialise, raise or delete polls, including
 * its own. @events are the bits raised since the last call. Returns true to be called again after
 * other polls, even without a new event. Must return false after it deleted its own poll.
 */
struct lnet_poll {
	struct work_struct work;	/* all fields are private to the environment */
	bool (*ready)(struct lnet_poll *poll, unsigned long events);
	atomic_long_t events;
	struct lnet_place place;
	bool dead;
};

/*
 * @cpts: a bit for each partition on whose CPUs ready() may run, 0: on any. If the CPU that raises
 * the event is one of them, ready() runs there. Cannot fail; runs nothing before the first event.
 */
void lnet_env_poll_init(struct lnet_poll *poll, u64 cpts,
			bool (*ready)(struct lnet_poll *poll, unsigned long events));
/*
 * Any context, any lock held. ready() will run with these bits soon, and at least once after this
 * call. Does nothing for a deleted poll, but the memory must still exist. So the driver first ends
 * the callbacks (restores them under sk_callback_lock, cancels the alarm), then deletes the poll.
 */
void lnet_env_poll_raise(struct lnet_poll *poll, unsigned long events);
/*
 * After the return ready() does not run any more, and the memory may be freed. A call inside the
 * poll's own ready() does not wait; that ready() must then return false and not use the poll. Other
 * calls: process context, no lock held that ready() takes, and not inside a ready() of a poll that
 * could be deleting a poll of the caller. A second call has no effect.
 */
void lnet_env_poll_del(struct lnet_poll *poll);

/*
 * Raises LNET_POLL_ALARM of @poll at a time of ops->now_ns() (CLOCK_MONOTONIC), at once if it has
 * passed. A new time replaces the old one. If several threads set the alarm without a lock of the
 * driver, the last call decides.
 */
struct lnet_alarm {
	struct hrtimer timer;
	struct lnet_poll *poll;
};

void lnet_env_alarm_init(struct lnet_alarm *alarm, struct lnet_poll *poll);
void lnet_env_alarm_set(struct lnet_alarm *alarm, u64 when_ns);	/* any context */
/* The alarm does not expire after this. Process context; before the poll is deleted. */
void lnet_env_alarm_del(struct lnet_alarm *alarm);

/* ---- drivers and namespaces ------------------------------------------------------------------ */

/*
 * For a NUMA node, as returned by dev_to_node(): the nearest partition, -1 if the node does not
 * exist; the partitions with CPUs of the node, as bits. For ni->dev_cpt and ni->cpts.
 */
s32 lnet_env_cpt_of_node(int node);
u64 lnet_env_cpts_of_node(int node);

/*
 * From module_init: registers a driver with the instances of all present and later namespaces. From
 * module_exit: removes it from them. No interface is left then, because an interface holds
 * @ops->owner from ni_start() to the end of ni_stop(). Process context, may sleep, RTNL not held.
 * 0, -EEXIST (another driver has the type), -EINVAL, -ENOSPC.
 *
 * ops->ni_start and ops->ni_stop are called without RTNL and may take it. ni_stop() is also called
 * while the namespace is removed, when its devices still exist. It must not wait for the peer (no
 * graceful close: abort, then sock_release()). Nor must it call functions that wait for the
 * namespace, such as register_netdevice_notifier(); register_netdevice_notifier_net() is permitted.
 */
int lnet_driver_register(const struct lnet_lnd_ops *ops);
void lnet_driver_unregister(const struct lnet_lnd_ops *ops);

/*
 * The namespace for sockets. Takes no reference: interfaces are stopped before the namespace ends.
 * Sockets must not hold a reference either (sock_create_kern()), or the namespace would never end.
 */
struct net *lnet_env_net(const struct lnet_env *env);
/*
 * The instance of @net, or NULL. RTNL held (as in notifiers): the instance exists until the caller
 * releases RTNL. A worker is still needed to enter the core.
 */
struct lnet *lnet_netns_instance(const struct net *net);

#endif
