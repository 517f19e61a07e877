/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment: the services that a platform provides to one instance. */
#ifndef LNET_ENV_H
#define LNET_ENV_H

#include "plat.h"

struct lnet;
struct lnet_env;

/*
 * Every op: any thread, in the kernel also softirq and hrtimer context; a shard may be locked. It
 * must not sleep, allocate, log, or call the core except lnet_shard_next_ns(). kick() and arm() are
 * idempotent hints.
 */
struct lnet_env_ops {
	/* monotonic; read once per pass, never per message */
	u64 (*now_ns)(struct lnet_env *env);
	/* uniform over 64 bits; for values that are sent */
	u64 (*random)(struct lnet_env *env);
	/*
	 * Uniform over 64 bits, for session IDs and hash keys. It cannot be computed from values of
	 * random() or from other values of secret(). 0: no value is available now.
	 */
	u64 (*secret)(struct lnet_env *env);
	/*
	 * Requests lnet_shard_work(ln, shard) soon in a worker (task context, no lock). A request
	 * is never lost; several may be coalesced.
	 */
	void (*kick)(struct lnet_env *env, unsigned int shard);
	/*
	 * The next deadline of the shard became earlier. The env reads lnet_shard_next_ns() itself,
	 * so two racing calls cannot leave the later time armed. An early wake-up is harmless; the
	 * core does not call arm() if a deadline is cancelled.
	 */
	void (*arm)(struct lnet_env *env, unsigned int shard);
	/*
	 * Both optional. cpt_of: the CPU partition near the memory at @base; -1: unknown. distance:
	 * of two partitions, as in firmware tables, where 10 is near. A partition has the number of
	 * its shard.
	 */
	s32 (*cpt_of)(struct lnet_env *env, const void *base);
	u32 (*distance)(struct lnet_env *env, s32 a, s32 b);
	/*
	 * Optional. @ready: MDs with events for handlers. True: the env has moved them to another
	 * list. It calls lnet_deliver() with that list in the same thread, after the
	 * driver's callback or lnet_shard_work() has returned. So another thread can take over
	 * from a handler that blocks. False: the pass runs the handlers. No lock is held.
	 */
	bool (*defer)(struct lnet_env *env, struct list_head *ready);
	/*
	 * Optional. The core calls it when a handler starts and no lnet_handlers_watch() is
	 * scheduled. The env then calls lnet_handlers_watch() at @when_ns, in time of now_ns(). No
	 * lock is held.
	 */
	void (*watch)(struct lnet_env *env, u64 when_ns);
};

/* First member of the struct of an environment; the core uses only this part. */
struct lnet_env {
	const struct lnet_env_ops *ops;
};

/* Functions for environments. The environment and number of shards of an instance never change. */
struct lnet_env *lnet_env_of(const struct lnet *ln);
unsigned int lnet_nr_shards(const struct lnet *ln);

/*
 * Does the deferred work of one shard, runs its expired timers, and delivers events within the
 * budget of one pass. Worker only: task context, no lock held; not from two threads for one shard
 * at once. Returns the next deadline; U64_MAX: none; a time that has passed: work is left.
 */
u64 lnet_shard_work(struct lnet *ln, unsigned int shard);
/*
 * Runs the handlers of the MDs in @ready, which ops->defer() has taken, within the budget of one
 * pass. If events are left, it hands them over to shard 0 and kicks its worker; @ready is empty on
 * return. Task context, no lock held. Several threads may call it at once, each with its list.
 */
void lnet_deliver(struct lnet *ln, struct list_head *ready);
/*
 * Counts and logs handlers that run for longer than the tunable `handler_limit`. Called in a thread
 * that runs no handlers; task context, no lock held, one call at a time. Returns the time of the
 * next call; U64_MAX: no handler runs, and ops->watch() schedules the next call.
 */
u64 lnet_handlers_watch(struct lnet *ln);
/* The next deadline of the shard; lock-free; U64_MAX: none */
u64 lnet_shard_next_ns(const struct lnet *ln, unsigned int shard);

#endif
