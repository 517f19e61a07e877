/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internal structs and functions of the user-space environment and its lanes.
 *
 * A lane is the set of shards that one thread polls: all shards in manual and hybrid mode, one
 * shard in service mode. The thread that holds the token of a lane polls it. The core's kick and
 * arm write a flag. They wake a thread only if the threads that would see the flag sleep:
 *
 *	until		the token's holder sleeps until this time, then checks by itself (0: awake)
 *	svc_until	the same for the service thread of hybrid mode, which sleeps without token
 *
 * Each side first writes its own word, then reads that of the other side, both sequentially
 * consistent. So at least one side sees the other's write.
 */
#ifndef LNET_USER_ENV_LANE_H
#define LNET_USER_ENV_LANE_H

#include <sys/epoll.h>
#include "env.h"

#define LANE_BATCH		16
/* check the other descriptors at each 8th miss of the hot one */
#define LANE_HOT_MISSES		8
#define LANE_HOT_TRIES		32	/* and, so that they are not starved, at each 32nd try */
/*
 * and after this time without a check of them. A few large messages to the hot poll may take longer
 * than the response timeout, after which a path is suspect.
 */
#define LANE_LOOK_NS		200000
/*
 * Without traffic, a thread spins for lane->pause_ns, then yields the processor between polls. A
 * yield longer than YIELD_TAKEN_NS, in which another thread ran, sets the pause to the minimum; a
 * shorter one doubles it.
 */
#define SPIN_PAUSE_MIN_NS	1000
#define SPIN_PAUSE_MAX_NS	16000
#define YIELD_TAKEN_NS		5000
#define SPIN_DEFAULT_US		100
/* time without any poller after which the service thread polls */
#define SVC_TICK_NS		2000000
/* ticks with one token holder, after which the service thread sleeps until the release */
#define SVC_DEEP_TICKS		8
/* service threads of a lane: one, and those that replace it while its handlers block */
#define LANE_THREADS		5
#define TAKEOVER_LOOKS		2	/* checks of a delivery before the watch takes over */
#define MAX_SHARDS		64
#define LANE_WAKE		U64_MAX		/* in place of slot and generation */

struct user_env;

/* Values of a lane's token. TOKEN_HANDLERS | lane->turn: the holder runs handlers. */
#define TOKEN_FREE		0U
#define TOKEN_HELD		1U
#define TOKEN_HANDLERS		0x80000000U

/*
 * A call of lane_poll(), on the stack of its thread. Handlers may poll another environment, so
 * calls nest.
 */
struct lane_visit {
	struct lane *lane;
	struct lane_visit *outer;
	bool lost;			/* the watch has taken the token away */
	struct list_head ready;		/* MDs whose handlers are to run */
};

/* A service thread: while lane->serving is its index it polls the lane, else it waits. */
struct lane_thread {
	struct lane *lane;
	pthread_t id;
	pthread_t self;			/* @id, written by the thread itself; atomic */
	bool exists, parked;		/* [lock of the environment] */
};

/*
 * The kernel reports a watched descriptor by slot and generation, so that a report about a deleted
 * one matches no poll.
 */
struct lane_slot {
	struct lnet_poll *poll;		/* NULL: free */
	u32 gen;
	u32 next_free;
};

struct lane {
	struct user_env *env;
	int epfd;			/* the descriptors and @evfd */
	int evfd;			/* wakes the thread that sleeps on @epfd */
	/* hybrid: the service thread sleeps on @outer: @epfd (one-shot) and @svc_evfd */
	int outer, svc_evfd;
	unsigned int first, nr;		/* shards */
	u32 token;			/* see above */
	u32 turn;			/* number of the last delivery; written by the holder */
	pthread_t owner;		/* of the token */
	u32 visits;			/* how often the token was taken */
	u32 nudged;			/* the holder is to call its done() */
	u32 wanted;			/* a thread has failed to take the token */
	u64 until, svc_until;		/* see above */
	/* the service thread waits for the release of the token */
	u32 svc_deep;
	struct lane_thread threads[LANE_THREADS];
	u32 serving;			/* index of the thread that serves */
	/* Only the watch: the token at its last check, and how many checks found no change. */
	u32 seen_token, seen_looks;
	/* Only the token's holder: */
	unsigned int misses, tries;
	u64 now_ns, looked_ns;		/* of the last step; of the last check of all descriptors */
	u64 pause_ns;			/* see SPIN_PAUSE_MIN_NS */
	/* @lock: the watched polls and the running one, so that a deletion can wait for it. */
	pthread_mutex_t lock;
	pthread_cond_t ran;
	unsigned int nr_deleting;
	struct lnet_poll *running, *hot;
	struct lane_slot *slots;
	u32 nr_slots, free_slot;	/* the first free one; @nr_slots: none */
};

struct user_env {
	struct lnet_env env;
	struct lnet *ln;
	enum lnet_progress_mode mode;
	unsigned int nr_shards, nr_lanes;
	u64 spin_ns;
	u64 seed, secret_seed;		/* atomic; a value is the hash after adding a constant */
	bool seeded;			/* the caller set @seed: all values are repeatable */
	u32 stopped;
	u32 no_pwait2;			/* the kernel does not know epoll_pwait2() */
	u32 *mine;			/* 1; a page that is zero in a child after fork() */
	/* For threads that wait for progress of other threads. */
	u32 gen;			/* counts steps with progress */
	u32 nr_waiting;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u32 kicked[MAX_SHARDS];
	/* The watch is a thread that starts when the first handler runs. */
	pthread_mutex_t watch_lock;
	pthread_cond_t watch_rang;
	pthread_t watch;
	bool has_watch;			/* [watch_lock] */
	u64 watch_ns;			/* [watch_lock] next check; U64_MAX: no handler runs */
	u32 nr_lost;			/* atomic: callers whose token was taken away */
	struct lane lanes[];
};

static inline struct user_env *user_env(struct lnet_env *env)
{
	return container_of(env, struct user_env, env);
}

static inline struct lane *lane_of(struct user_env *env, unsigned int shard)
{
	return &env->lanes[env->nr_lanes == 1 ? 0 : shard];
}

#define seq_load(p)		__atomic_load_n(p, __ATOMIC_SEQ_CST)
#define seq_store(p, val)	__atomic_store_n(p, val, __ATOMIC_SEQ_CST)

u64 env_clock_ns(void);
void env_cond_init(pthread_cond_t *cond);	/* timed waits use env_clock_ns() */
int env_epoll_wait(struct user_env *env, int epfd, struct epoll_event *events, int nr,
		   u64 timeout_ns);
void env_wake(int evfd);
void env_wake_clear(int evfd);
/* Wakes all waiting threads: there was progress, or they are to check again. */
void env_publish(struct user_env *env);

bool lane_token_try(struct lane *lane);
void lane_token_release(struct lane *lane);
bool lane_mine(struct lane *lane);		/* the calling thread holds the token */
/*
 * Releases the token after lane_poll(), unless the watch has taken it. A caller must not use the
 * environment after this, because the environment may be freed once nr_lost is 0.
 */
void lane_poll_end(struct lane *lane);
/*
 * Called by the watch: takes @token, a value with TOKEN_HANDLERS, from its holder and releases it
 * to other callers and service threads. False: the delivery has ended.
 */
bool lane_take_over(struct lane *lane, u32 token);
/* lnet_env_ops.defer; false in manual mode */
bool env_defer(struct lnet_env *env, struct list_head *ready);
/* env_watch.c; env_watch() is lnet_env_ops.watch, and does nothing in manual mode */
void env_watch(struct lnet_env *env, u64 when_ns);
void env_watch_stop(struct user_env *env);
bool lane_has_kicks(struct lane *lane);
u64 lane_next_ns(struct lane *lane);
/*
 * The token's holder polls until done(arg) is true, @deadline_ns, the end of the environment, or
 * until the watch takes the token. Without @done it polls until it made progress. With @yield it
 * polls until there was no progress for env->spin_ns, or until another thread wants the token.
 * Returns the amount of progress, or -ESHUTDOWN.
 */
int lane_poll(struct lane *lane, bool (*done)(void *arg), void *arg, u64 deadline_ns, bool yield);
/* Blocks all signals in the new thread. 0 or -errno. */
int env_thread_create(pthread_t *id, void *(*main_fn)(void *arg), void *arg);
int lane_thread_start(struct lane *lane);
void lane_thread_stop(struct lane *lane);
/* True if @thread is the service thread that serves @lane. */
bool lane_is_served_by(struct lane *lane, pthread_t thread);
/*
 * Called by the watch: a waiting or new service thread replaces the one that serves @lane. If all
 * LANE_THREADS are in handlers, nothing changes.
 */
void lane_thread_replace(struct lane *lane);

#endif
