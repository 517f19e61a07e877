/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internal structs and functions of the user-space environment and its lanes.
 *
 * A lane is the set of shards that one thread polls: all shards in manual and hybrid mode, one
 * shard in service mode. The thread that holds the token of a lane polls it.
 *
 * The core calls kick() and arm() of the environment. kick() writes a flag; arm() reports a new
 * deadline. Both wake a thread only if the thread that would see the flag or the deadline sleeps.
 * Two times in struct lane show which thread sleeps:
 *
 *	until		time until which the token's holder sleeps, before it checks flags and
 *			deadlines; 0: it is awake
 *	svc_until	the same for the service thread of hybrid mode, which sleeps without the
 *			token
 *
 * The core's side writes the flag or deadline, and then reads the time. The sleeping side writes
 * the time, and then reads the flag and deadline. All these accesses are sequentially consistent,
 * so at least one side sees the other's write.
 */
#ifndef LNET_USER_ENV_LANE_H
#define LNET_USER_ENV_LANE_H

#include <sys/epoll.h>
#include "env.h"

#define LANE_BATCH		16
/* the poller checks the other descriptors at each 8th miss of the hot poll */
#define LANE_HOT_MISSES		8
/* at each 32nd try of the hot poll, it also checks the others */
#define LANE_HOT_TRIES		32
/*
 * The poller also checks the other descriptors if it has not checked them for this time. A few
 * large messages to the hot poll may take longer than the response timeout, after which a path is
 * suspect.
 */
#define LANE_LOOK_NS		200000
/*
 * Without traffic, a thread spins for lane->pause_ns, then yields the processor between polls. If a
 * yield takes longer than YIELD_TAKEN_NS, another thread ran, and the pause becomes the minimum. A
 * shorter yield doubles the pause.
 */
#define SPIN_PAUSE_MIN_NS	1000
#define SPIN_PAUSE_MAX_NS	16000
#define YIELD_TAKEN_NS		5000
#define SPIN_DEFAULT_US		100
/* if no thread has polled for this time, the service thread polls */
#define SVC_TICK_NS		2000000
/*
 * If one thread holds the token for this number of ticks, the service thread sleeps until the token
 * is released.
 */
#define SVC_DEEP_TICKS		8
/*
 * maximum number of service threads of a lane: one, and those that replace it while handlers block
 */
#define LANE_THREADS		5
/*
 * the watch takes the token if one delivery of events still runs at this number of checks after the
 * check that first saw it
 */
#define TAKEOVER_LOOKS		2
#define MAX_SHARDS		64
/* event ID of the wake-up; other IDs have slot and generation */
#define LANE_WAKE		U64_MAX

struct user_env;

/* Values of a lane's token. TOKEN_HANDLERS | lane->turn: the holder of the token runs handlers. */
#define TOKEN_FREE		0U
#define TOKEN_HELD		1U
#define TOKEN_HANDLERS		0x80000000U

/*
 * A call of lane_poll(), stored on the stack of its thread. Handlers may poll another environment,
 * so calls nest.
 */
struct lane_visit {
	struct lane *lane;
	struct lane_visit *outer;
	bool lost;			/* the watch has taken the token from this call */
	struct list_head ready;		/* MDs whose handlers are to run */
};

/* A service thread. While lane->serving is its index, it polls the lane; otherwise it waits. */
struct lane_thread {
	struct lane *lane;
	pthread_t id;
	/* the value of @id, which the thread itself writes at its start; atomic */
	pthread_t self;
	bool exists, parked;		/* [lock of the environment] */
};

/*
 * A slot of a watched descriptor. The kernel reports the descriptor by slot and generation, so a
 * report about a deleted descriptor matches no poll.
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
	/*
	 * Hybrid mode: the service thread sleeps on @outer, which contains @epfd (one-shot) and
	 * @svc_evfd.
	 */
	int outer, svc_evfd;
	unsigned int first, nr;		/* shards */
	u32 token;			/* see above */
	/* number of the last delivery; the token's holder writes it */
	u32 turn;
	pthread_t owner;		/* of the token */
	u32 visits;			/* number of times that a thread took the token */
	/*
	 * lnet_progress_wake() was called: the token's holder must check the condition that it
	 * awaits, done() of lnet_progress_until()
	 */
	u32 nudged;
	u32 wanted;			/* a thread has failed to take the token */
	u64 until, svc_until;		/* see above */
	/* the service thread waits for the release of the token */
	u32 svc_deep;
	struct lane_thread threads[LANE_THREADS];
	u32 serving;			/* index of the service thread that polls the lane */
	/*
	 * Only the watch uses these: the token at its last check, and the number of checks without
	 * a change.
	 */
	u32 seen_token, seen_looks;
	/* Only the token's holder: */
	unsigned int misses, tries;
	/* time of the last step; time of the last check of all descriptors */
	u64 now_ns, looked_ns;
	u64 pause_ns;			/* see SPIN_PAUSE_MIN_NS */
	/*
	 * [lock] the watched polls and the running poll, so that a deletion can wait for the
	 * running poll
	 */
	pthread_mutex_t lock;
	pthread_cond_t ran;
	unsigned int nr_deleting;
	struct lnet_poll *running, *hot;
	struct lane_slot *slots;
	u32 nr_slots, free_slot;	/* first free slot; @nr_slots: there is none */
};

struct user_env {
	struct lnet_env env;
	struct lnet *ln;
	enum lnet_progress_mode mode;
	unsigned int nr_shards, nr_lanes;
	u64 spin_ns;
	/* atomic; each value adds a constant to the seed and hashes it */
	u64 seed, secret_seed;
	bool seeded;			/* the caller has set @seed, so all values are repeatable */
	u32 stopped;
	u32 no_pwait2;			/* the kernel does not know epoll_pwait2() */
	u32 *mine;			/* *@mine is 1; in a child after fork() the page is zero */
	/* For threads that wait until other threads make progress. */
	u32 gen;			/* counts steps with progress */
	u32 nr_waiting;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u32 kicked[MAX_SHARDS];
	/* The watch is a thread. It starts when the first handler runs. */
	pthread_mutex_t watch_lock;
	pthread_cond_t watch_rang;
	pthread_t watch;
	bool has_watch;			/* [watch_lock] */
	/* [watch_lock] time of the next check; U64_MAX: no handler runs */
	u64 watch_ns;
	/* atomic: number of callers whose token the watch has taken */
	u32 nr_lost;
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
/*
 * Wakes all waiting threads, because there was progress, or because the threads must check again.
 */
void env_publish(struct user_env *env);

bool lane_token_try(struct lane *lane);
void lane_token_release(struct lane *lane);
bool lane_mine(struct lane *lane);		/* true if the calling thread holds the token */
/*
 * Releases the token after lane_poll(), unless the watch has taken it. After this, the caller must
 * not use the environment, because it may be freed once nr_lost is 0.
 */
void lane_poll_end(struct lane *lane);
/*
 * Called by the watch. Takes @token, a value with TOKEN_HANDLERS, from its holder, and releases it,
 * so that other callers and service threads can take it. False: the delivery has ended.
 */
bool lane_take_over(struct lane *lane, u32 token);
/* lnet_env_ops.defer; false in manual mode */
bool env_defer(struct lnet_env *env, struct list_head *ready);
/* env_watch.c. env_watch() is lnet_env_ops.watch, and does nothing in manual mode. */
void env_watch(struct lnet_env *env, u64 when_ns);
void env_watch_stop(struct user_env *env);
bool lane_has_kicks(struct lane *lane);
u64 lane_next_ns(struct lane *lane);
/*
 * The token's holder polls the lane. It returns when done(arg) is true, at @deadline_ns, at the end
 * of the environment, or when the watch takes the token. Without @done, it also returns after
 * progress. With @yield, it also returns after env->spin_ns without progress, or if another thread
 * wants the token. Returns the amount of progress, or -ESHUTDOWN.
 */
int lane_poll(struct lane *lane, bool (*done)(void *arg), void *arg, u64 deadline_ns, bool yield);
/* Starts a thread in which all signals are blocked. 0 or -errno. */
int env_thread_create(pthread_t *id, void *(*main_fn)(void *arg), void *arg);
int lane_thread_start(struct lane *lane);
void lane_thread_stop(struct lane *lane);
/* True if @thread is the service thread that serves @lane. */
bool lane_is_served_by(struct lane *lane, pthread_t thread);
/*
 * Called by the watch. A waiting or new service thread replaces the one that serves @lane. If all
 * LANE_THREADS threads are in handlers, nothing changes.
 */
void lane_thread_replace(struct lane *lane);

#endif
