/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user-space environment: its creation and end, its services for the core, and the descriptors
 * of drivers.
 */
#include "plat.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <lnet/hash.h>
#include "env_lane.h"

#define SEED_STEP 0x9e3779b97f4a7c15ULL
/*
 * With a configured seed, random values and secrets are from two streams. This constant makes the
 * start of the stream of secrets differ from the seed, at which the stream of random values starts.
 */
#define SECRET_SEED 0x5e551011d5ecce75ULL

/* --- services --------------------------------------------------------------------------------- */

u64 env_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

static u64 user_env_now_ns(struct lnet_env *env)
{
	return env_clock_ns();
}

/*
 * Returns the next random value of a stream. One value reveals the others, so the stream is only
 * for repeatable runs, or if getrandom() fails.
 */
static u64 stream_next(u64 *seed)
{
	return lnet_hash64(__atomic_add_fetch(seed, SEED_STEP, __ATOMIC_RELAXED));
}

static u64 system_random(void)
{
	u64 value;

	return getrandom(&value, sizeof(value), 0) == sizeof(value) ? value : 0;
}

static u64 user_env_random(struct lnet_env *base)
{
	struct user_env *env = user_env(base);
	u64 value = env->seeded ? 0 : system_random();

	return value ? value : stream_next(&env->seed);
}

static u64 user_env_secret(struct lnet_env *base)
{
	struct user_env *env = user_env(base);

	return env->seeded ? stream_next(&env->secret_seed) : system_random();
}

void env_wake(int evfd)
{
	u64 one = 1;
	ssize_t rc = write(evfd, &one, sizeof(one));

	(void)rc;		/* if the eventfd is full, its reader is woken anyway */
}

void env_wake_clear(int evfd)
{
	u64 nr;
	ssize_t rc = read(evfd, &nr, sizeof(nr));

	(void)rc;		/* empty: already cleared */
}

/*
 * Wakes the thread that must serve a kick (@when 0) or a deadline at @when. If the holder of the
 * lane's token is awake, it checks kicks and deadlines itself before it sleeps. If no thread has
 * the token, the service thread is responsible. The service thread either checks kicks and
 * deadlines in each tick, or sleeps on lane->outer, which contains lane->evfd.
 */
static void lane_wake(struct lane *lane, u64 when)
{
	if (seq_load(&lane->until) > when) {
		if (__atomic_exchange_n(&lane->until, 0, __ATOMIC_SEQ_CST))
			env_wake(lane->evfd);
	} else if (seq_load(&lane->svc_until) > when && !seq_load(&lane->token)) {
		if (__atomic_exchange_n(&lane->svc_until, 0, __ATOMIC_SEQ_CST))
			env_wake(lane->evfd);
	}
}

static void user_env_kick(struct lnet_env *base, unsigned int shard)
{
	struct user_env *env = user_env(base);

	seq_store(&env->kicked[shard], 1);
	lane_wake(lane_of(env, shard), 0);
}

static void user_env_arm(struct lnet_env *base, unsigned int shard)
{
	struct user_env *env = user_env(base);

	smp_mb();
	if (env->ln)
		lane_wake(lane_of(env, shard), lnet_shard_next_ns(env->ln, shard));
}

static const struct lnet_env_ops user_ops = {
	.now_ns = user_env_now_ns,
	.random = user_env_random,
	.secret = user_env_secret,
	.kick = user_env_kick,
	.arm = user_env_arm,
	.defer = env_defer,
	.watch = env_watch,
};

/* --- creation and end ------------------------------------------------------------------------- */

void env_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

static int epoll_add(int epfd, int fd, u32 events, u64 id)
{
	struct epoll_event ev = { .events = events, .data.u64 = id };

	return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int new_bell(int epfd, int *evfd)
{
	*evfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return *evfd < 0 ? -errno : epoll_add(epfd, *evfd, EPOLLIN, LANE_WAKE);
}

static int lane_open(struct lane *lane)
{
	int rc;

	lane->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (lane->epfd < 0)
		return -errno;
	rc = new_bell(lane->epfd, &lane->evfd);
	if (rc || lane->env->mode != LNET_PROGRESS_HYBRID)
		return rc;
	lane->outer = epoll_create1(EPOLL_CLOEXEC);
	if (lane->outer < 0)
		return -errno;
	rc = new_bell(lane->outer, &lane->svc_evfd);
	return rc ? rc : epoll_add(lane->outer, lane->epfd, EPOLLIN | EPOLLONESHOT, 0);
}

static void lane_close(struct lane *lane)
{
	int fds[] = { lane->outer, lane->svc_evfd, lane->epfd, lane->evfd };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	pthread_mutex_destroy(&lane->lock);
	pthread_cond_destroy(&lane->ran);
	kfree(lane->slots);
}

static void user_lane_init(struct lane *lane, struct user_env *env, unsigned int first,
			   unsigned int nr)
{
	lane->env = env;
	lane->first = first;
	lane->nr = nr;
	lane->epfd = lane->evfd = lane->outer = lane->svc_evfd = -1;
	pthread_mutex_init(&lane->lock, NULL);
	env_cond_init(&lane->ran);
}

static int seed_draw(u64 *seed)
{
	if (*seed)
		return 0;
	return getrandom(seed, sizeof(*seed), 0) == sizeof(*seed) ? 0 : -errno;
}

/*
 * Maps the mark by which a process detects that it is a child after fork(). A check of the mark
 * costs one load.
 */
static int mark_map(u32 **mark)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	*mark = page;
	if (madvise(page, size, MADV_WIPEONFORK))
		return -errno;
	**mark = 1;
	return 0;
}

static u64 spin_ns_of(const struct lnet_user_env_cfg *cfg)
{
	if (cfg->spin_us == U32_MAX)
		return 0;
	return (u64)(cfg->spin_us ? cfg->spin_us : SPIN_DEFAULT_US) * NSEC_PER_USEC;
}

int lnet_user_env_create(struct lnet_env **envp, const struct lnet_user_env_cfg *cfg)
{
	unsigned int nr_shards = cfg->nr_shards ? cfg->nr_shards : 1;
	unsigned int nr_lanes = cfg->mode == LNET_PROGRESS_SERVICE ? nr_shards : 1;
	struct user_env *env;
	unsigned int i;
	int rc;

	if (nr_shards > MAX_SHARDS || cfg->mode > LNET_PROGRESS_SERVICE)
		return -EINVAL;
	env = kzalloc(struct_size(env, lanes, nr_lanes), GFP_KERNEL);
	if (!env)
		return -ENOMEM;
	env->env.ops = &user_ops;
	env->mode = cfg->mode;
	env->nr_shards = nr_shards;
	env->nr_lanes = nr_lanes;
	env->seeded = cfg->seed != 0;
	env->seed = cfg->seed;
	env->secret_seed = lnet_hash64(cfg->seed ^ SECRET_SEED);
	env->spin_ns = spin_ns_of(cfg);
	pthread_mutex_init(&env->lock, NULL);
	env_cond_init(&env->changed);
	pthread_mutex_init(&env->watch_lock, NULL);
	env_cond_init(&env->watch_rang);
	env->watch_ns = U64_MAX;
	for (i = 0; i < nr_lanes; i++)
		user_lane_init(&env->lanes[i], env, i, nr_lanes == 1 ? nr_shards : 1);
	rc = mark_map(&env->mine);
	if (rc == 0)
		rc = seed_draw(&env->seed);
	for (i = 0; i < nr_lanes && rc == 0; i++)
		rc = lane_open(&env->lanes[i]);
	if (rc) {
		lnet_user_env_destroy(&env->env);
		return rc;
	}
	*envp = &env->env;
	return 0;
}

int lnet_user_env_start(struct lnet_env *base, struct lnet *ln)
{
	struct user_env *env = user_env(base);
	unsigned int i;
	int rc = 0;

	if (!*env->mine)
		return -EPERM;
	if (env->ln || lnet_nr_shards(ln) != env->nr_shards)
		return -EINVAL;
	WRITE_ONCE(env->ln, ln);
	for (i = 0; i < env->nr_lanes && rc == 0 && env->mode != LNET_PROGRESS_MANUAL; i++)
		rc = lane_thread_start(&env->lanes[i]);
	if (rc)
		lnet_user_env_stop(base);
	return rc;
}

void lnet_user_env_stop(struct lnet_env *base)
{
	struct user_env *env = user_env(base);
	unsigned int i;

	if (!*env->mine)
		return;
	seq_store(&env->stopped, 1);
	env_watch_stop(env);
	env_publish(env);
	for (i = 0; i < env->nr_lanes; i++)
		lane_thread_stop(&env->lanes[i]);
	env_publish(env);
	for (i = 0; i < env->nr_lanes; i++) {
		struct lane *lane = &env->lanes[i];

		while (!lane_token_try(lane)) {
			env_wake(lane->evfd);
			usleep(100);
		}
		lane_token_release(lane);
	}
	while (__atomic_load_n(&env->nr_lost, __ATOMIC_SEQ_CST))
		usleep(100);		/* these callers still run handlers */
}

void lnet_user_env_destroy(struct lnet_env *base)
{
	struct user_env *env = base ? user_env(base) : NULL;
	unsigned int i;

	if (!env)
		return;
	if (env->mine)
		munmap(env->mine, (size_t)sysconf(_SC_PAGESIZE));
	for (i = 0; i < env->nr_lanes; i++)
		lane_close(&env->lanes[i]);
	pthread_mutex_destroy(&env->lock);
	pthread_cond_destroy(&env->changed);
	pthread_mutex_destroy(&env->watch_lock);
	pthread_cond_destroy(&env->watch_rang);
	kfree(env);
}

/* --- descriptors ------------------------------------------------------------------------------ */

/* Under the lane's lock. */
static int slots_grow(struct lane *lane)
{
	u32 nr = max(16u, lane->nr_slots * 2);
	struct lane_slot *slots = krealloc(lane->slots, array_size(nr, sizeof(*slots)), GFP_KERNEL);
	u32 i;

	if (!slots)
		return -ENOMEM;
	for (i = lane->nr_slots; i < nr; i++)
		slots[i] = (struct lane_slot) { .next_free = i + 1 };
	lane->slots = slots;
	lane->nr_slots = nr;
	return 0;
}

static int lane_slot_take(struct lane *lane, struct lnet_poll *poll)
{
	struct lane_slot *slot;
	int rc = 0;

	pthread_mutex_lock(&lane->lock);
	if (lane->free_slot == lane->nr_slots)
		rc = slots_grow(lane);
	if (rc == 0) {
		poll->slot = lane->free_slot;
		slot = &lane->slots[poll->slot];
		lane->free_slot = slot->next_free;
		slot->poll = poll;
	}
	pthread_mutex_unlock(&lane->lock);
	return rc;
}

/* Under the lane's lock. */
static void lane_slot_release(struct lane *lane, struct lnet_poll *poll)
{
	struct lane_slot *slot = &lane->slots[poll->slot];

	slot->poll = NULL;
	/* Skips generation U32_MAX, so that no ID of a slot equals LANE_WAKE. */
	slot->gen = slot->gen == U32_MAX - 1 ? 0 : slot->gen + 1;
	slot->next_free = lane->free_slot;
	lane->free_slot = poll->slot;
}

static u64 poll_id(struct lane *lane, struct lnet_poll *poll)
{
	u64 id;

	pthread_mutex_lock(&lane->lock);
	id = (u64)lane->slots[poll->slot].gen << 32 | poll->slot;
	pthread_mutex_unlock(&lane->lock);
	return id;
}

/* After the return, no thread runs @poll, except that the caller may be the ready() of @poll. */
static void poll_forget(struct lane *lane, struct lnet_poll *poll)
{
	pthread_mutex_lock(&lane->lock);
	poll->added = false;
	if (lane->hot == poll)
		seq_store(&lane->hot, NULL);
	lane_slot_release(lane, poll);
	seq_store(&lane->nr_deleting, lane->nr_deleting + 1);
	while (seq_load(&lane->running) == poll && !lane_mine(lane))
		pthread_cond_wait(&lane->ran, &lane->lock);
	seq_store(&lane->nr_deleting, lane->nr_deleting - 1);
	pthread_mutex_unlock(&lane->lock);
}

int lnet_env_poll_add(struct lnet_env *base, unsigned int shard, struct lnet_poll *poll, u32 events)
{
	struct user_env *env = user_env(base);
	struct lane *lane;
	int rc;

	if (!*env->mine)
		return -EPERM;
	if (shard >= env->nr_shards || poll->added)
		return -EINVAL;
	lane = lane_of(env, shard);
	poll->shard = shard;
	WRITE_ONCE(poll->events, events);
	rc = lane_slot_take(lane, poll);
	if (rc)
		return rc;
	poll->added = true;
	rc = epoll_add(lane->epfd, poll->fd, events, poll_id(lane, poll));
	if (rc)
		poll_forget(lane, poll);
	return rc;
}

int lnet_env_poll_mod(struct lnet_env *base, struct lnet_poll *poll, u32 events)
{
	struct user_env *env = user_env(base);
	struct epoll_event ev = { .events = events };
	struct lane *lane;

	if (!*env->mine)
		return -EPERM;
	if (!poll->added)
		return -ENOENT;
	lane = lane_of(env, poll->shard);
	ev.data.u64 = poll_id(lane, poll);
	WRITE_ONCE(poll->events, events);
	return epoll_ctl(lane->epfd, EPOLL_CTL_MOD, poll->fd, &ev) ? -errno : 0;
}

void lnet_env_poll_del(struct lnet_env *base, struct lnet_poll *poll)
{
	struct user_env *env = user_env(base);
	struct lane *lane = lane_of(env, poll->shard);

	/*
	 * A child after fork() shares the epoll set with its parent, and must not change the set.
	 */
	if (!poll->added || !*env->mine)
		return;
	epoll_ctl(lane->epfd, EPOLL_CTL_DEL, poll->fd, NULL);
	poll_forget(lane, poll);
}

void lnet_env_poll_hot(struct lnet_env *base, unsigned int shard, struct lnet_poll *poll)
{
	struct lane *lane = lane_of(user_env(base), shard);

	pthread_mutex_lock(&lane->lock);
	/*
	 * Does not wait: another thread may be deleting @poll, and may wait for the ready() that
	 * calls this function.
	 */
	seq_store(&lane->hot, poll && poll->added ? poll : NULL);
	pthread_mutex_unlock(&lane->lock);
}
