/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment: the services that a platform provides to one instance. */
#ifndef LNET_ENV_H
#define LNET_ENV_H

#include "plat.h"

struct lnet;
struct lnet_env;

/*
 * The core may call each function in any thread, and while it holds the lock of a shard. In the
 * kernel, it may also call in softirq and hrtimer context. A function must not sleep, allocate,
 * log, or call the core; only calls of lnet_shard_next_ns() are permitted. A repeated call of
 * kick() or arm() has no further effect.
 */
struct lnet_env_ops {
	/*
	 * Monotonic clock in ns. A pass is one visit of a thread to the core. The core reads the
	 * clock once per pass, never per message.
	 */
	u64 (*now_ns)(struct lnet_env *env);
	/* random number, uniform over 64 bits, for numbers that are sent to peers */
	u64 (*random)(struct lnet_env *env);
	/*
	 * Secret random number, uniform over 64 bits, for session IDs and hash keys. No node can
	 * compute it from values of random() or from other values of secret(). 0: no value is
	 * available now.
	 */
	u64 (*secret)(struct lnet_env *env);
	/*
	 * Requests a call of lnet_shard_work(ln, shard) soon in a worker (task context, no lock).
	 * The env loses no request, but may coalesce several requests into one call.
	 */
	void (*kick)(struct lnet_env *env, unsigned int shard);
	/*
	 * Reports that the next deadline of the shard became earlier. The env reads the deadline by
	 * lnet_shard_next_ns(), because arm() does not pass it. So if two calls of arm() race, no
	 * call can set an outdated, later deadline. An early wake-up is harmless. The core does not
	 * call arm() if a deadline is cancelled.
	 */
	void (*arm)(struct lnet_env *env, unsigned int shard);
	/*
	 * cpt_of() and distance() are optional. cpt_of: the CPU partition near the memory at @base;
	 * -1: unknown. distance: the distance of two partitions, as in firmware tables, where 10 is
	 * near. A CPU partition has the number of its shard.
	 */
	s32 (*cpt_of)(struct lnet_env *env, const void *base);
	u32 (*distance)(struct lnet_env *env, s32 a, s32 b);
	/*
	 * Optional. Defers the handlers of the MDs in @ready, which have events. True: the env has
	 * moved the MDs to its own list. After the driver's callback or lnet_shard_work() has
	 * returned, the same thread calls lnet_deliver() with that list. If a handler then blocks,
	 * another thread can serve the sockets and timers in place of this thread. False: the pass
	 * runs the handlers. No lock is held.
	 */
	bool (*defer)(struct lnet_env *env, struct list_head *ready);
	/*
	 * Optional. The core calls watch() when a handler starts and no call of
	 * lnet_handlers_watch() is scheduled. The env then calls lnet_handlers_watch() at @when_ns,
	 * a time of now_ns(). No lock is held.
	 */
	void (*watch)(struct lnet_env *env, u64 when_ns);
};

/* First member of an environment's own struct. The core uses only this member. */
struct lnet_env {
	const struct lnet_env_ops *ops;
};

/* Functions for environments. The environment and number of shards of an instance never change. */
struct lnet_env *lnet_env_of(const struct lnet *ln);
unsigned int lnet_nr_shards(const struct lnet *ln);

/*
 * Does the deferred work of one shard, runs its expired timers, and delivers events within the
 * budget of one pass. Only a worker calls it: task context, no lock held, one thread at a time for
 * each shard. Returns the next deadline. U64_MAX: no deadline; a past time: more work is to be
 * done.
 */
u64 lnet_shard_work(struct lnet *ln, unsigned int shard);
/*
 * Runs the handlers of the MDs in @ready, a list that ops->defer() has filled, within the budget of
 * one pass. If undelivered events remain, the function hands them over to shard 0 and kicks its
 * worker. @ready is empty on return. Task context, no lock held. Several threads may call it at
 * once, each with a separate list.
 */
void lnet_deliver(struct lnet *ln, struct list_head *ready);
/*
 * Counts and logs handlers that run for longer than the tunable `handler_limit`. Called in a thread
 * that runs no handlers; task context, no lock held, one call at a time. Returns the time of the
 * next call; U64_MAX: no handler runs, and ops->watch() schedules the next call.
 */
u64 lnet_handlers_watch(struct lnet *ln);
/* Returns the next deadline of the shard; takes no lock; U64_MAX: no deadline */
u64 lnet_shard_next_ns(const struct lnet *ln, unsigned int shard);

#endif
