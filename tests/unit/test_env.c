/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/user/env*.c, over a stub of the core: polling, wake-ups, timers, deletions. */

/* The environment under other names, so that it calls the stub instead of the core. */
#define lnet_env_of		t_env_of
#define lnet_nr_shards		t_nr_shards
#define lnet_shard_work		t_shard_work
#define lnet_shard_next_ns	t_shard_next_ns
#define lnet_user_env_create	t_user_env_create
#define lnet_user_env_start	t_user_env_start
#define lnet_user_env_stop	t_user_env_stop
#define lnet_user_env_destroy	t_user_env_destroy
#define lnet_progress		t_progress
#define lnet_progress_until	t_progress_until
#define lnet_progress_wake	t_progress_wake
#define lnet_env_poll_add	t_env_poll_add
#define lnet_env_poll_mod	t_env_poll_mod
#define lnet_env_poll_del	t_env_poll_del
#define lnet_env_poll_hot	t_env_poll_hot
#define env_clock_ns		t_env_clock_ns
#define env_cond_init		t_env_cond_init
#define env_epoll_wait		t_env_epoll_wait
#define env_wake		t_env_wake
#define env_wake_clear		t_env_wake_clear
#define env_publish		t_env_publish
#define lane_token_try		t_lane_token_try
#define lane_token_release	t_lane_token_release
#define lane_mine		t_lane_mine
#define lane_has_kicks		t_lane_has_kicks
#define lane_next_ns		t_lane_next_ns
#define lane_poll		t_lane_poll
#define lane_thread_start	t_lane_thread_start
#define lane_thread_stop	t_lane_thread_stop
#define lnet_deliver		t_deliver
#define lnet_handlers_watch	t_handlers_watch
#define lane_poll_end		t_lane_poll_end
#define lane_take_over		t_lane_take_over
#define lane_is_served_by	t_lane_is_served_by
#define lane_thread_replace	t_lane_thread_replace
#define env_thread_create	t_env_thread_create
#define env_defer		t_env_defer
#define env_watch		t_env_watch
#define env_watch_stop		t_env_watch_stop

#include "unit.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "../../lnet/user/env.c"
#include "../../lnet/user/env_poll.c"
#include "../../lnet/user/env_service.c"
#define look_at			watch_look_at
#define look			watch_look
#define sleep_until		watch_sleep_until
#include "../../lnet/user/env_watch.c"

#define MS NSEC_PER_MSEC
/* far above all times here; reached only if a test fails */
#define LONG (2000 * MS)

struct lnet {
	struct lnet_env *env;
	unsigned int nr_shards;
	u64 next_ns[2];
	u32 worked[2];
};

struct lnet_env *lnet_env_of(const struct lnet *ln)
{
	return ln->env;
}

unsigned int lnet_nr_shards(const struct lnet *ln)
{
	return ln->nr_shards;
}

u64 lnet_shard_work(struct lnet *ln, unsigned int shard)
{
	u64 next = seq_load(&ln->next_ns[shard]);

	if (next <= env_clock_ns())
		seq_store(&ln->next_ns[shard], U64_MAX);
	__atomic_add_fetch(&ln->worked[shard], 1, __ATOMIC_SEQ_CST);
	return seq_load(&ln->next_ns[shard]);
}

void lnet_deliver(struct lnet *ln, struct list_head *ready)
{
	INIT_LIST_HEAD(ready);		/* never called: no test here has handlers */
}

u64 lnet_handlers_watch(struct lnet *ln)
{
	return U64_MAX;
}

u64 lnet_shard_next_ns(const struct lnet *ln, unsigned int shard)
{
	return seq_load(&ln->next_ns[shard]);
}

static void node_up(struct lnet *ln, enum lnet_progress_mode mode, unsigned int nr_shards)
{
	struct lnet_user_env_cfg cfg = { .mode = mode, .nr_shards = nr_shards, .seed = 7 };

	*ln = (struct lnet) { .nr_shards = nr_shards, .next_ns = { U64_MAX, U64_MAX } };
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_create(&ln->env, &cfg), 0);
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_start(ln->env, ln), 0);
}

static void node_down(struct lnet *ln)
{
	lnet_user_env_stop(ln->env);
	lnet_user_env_destroy(ln->env);
}

/* One end of a socket pair, which counts the bytes that it reads. */
struct end {
	struct lnet_poll poll;
	struct lnet *ln;
	int other;
	u32 got, tries;
	bool hot, del_self, nested;
	int nested_rc;
	u32 delay_us;
};

static bool end_ready(struct lnet_poll *poll, u32 events)
{
	struct end *end = container_of(poll, struct end, poll);
	char byte;

	end->tries++;
	if (end->delay_us)
		usleep(end->delay_us);
	if (recv(poll->fd, &byte, 1, MSG_DONTWAIT) != 1)
		return false;
	if (end->hot)
		lnet_env_poll_hot(end->ln->env, poll->shard, poll);
	if (end->del_self)
		lnet_env_poll_del(end->ln->env, poll);
	if (end->nested)
		end->nested_rc = lnet_progress(end->ln, 0);
	__atomic_add_fetch(&end->got, 1, __ATOMIC_SEQ_CST);
	return true;
}

static void end_up_slow(struct end *end, struct lnet *ln, unsigned int shard, u32 delay_us,
			bool hot)
{
	int fds[2];

	*end = (struct end) { .ln = ln, .delay_us = delay_us, .hot = hot };
	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	end->other = fds[1];
	end->poll.fd = fds[0];
	end->poll.ready = end_ready;
	CU_ASSERT_EQUAL_FATAL(lnet_env_poll_add(ln->env, shard, &end->poll, EPOLLIN), 0);
}

static void end_up(struct end *end, struct lnet *ln, unsigned int shard)
{
	end_up_slow(end, ln, shard, 0, false);
}

static void end_down(struct end *end)
{
	lnet_env_poll_del(end->ln->env, &end->poll);
	close(end->poll.fd);
	close(end->other);
}

static void send_byte(struct end *end)
{
	CU_ASSERT_EQUAL(write(end->other, "x", 1), 1);
}

static bool end_has_got(void *arg)
{
	struct end *end = arg;

	return seq_load(&end->got) != 0;
}

static bool has_worked(void *arg)
{
	struct lnet *ln = arg;

	return seq_load(&ln->worked[0]) != 0;
}

static bool never(void *arg)
{
	return false;
}

static bool wait_for(bool (*done)(void *arg), void *arg)
{
	u64 end = env_clock_ns() + LONG;

	while (!done(arg) && env_clock_ns() < end)
		usleep(200);
	return done(arg);
}

static void test_cfg(void)
{
	struct lnet_user_env_cfg cfg = { .nr_shards = MAX_SHARDS + 1 };
	struct lnet ln = { .nr_shards = 3, .next_ns = { U64_MAX, U64_MAX } };
	struct lnet_env *env;
	int i;

	UNIT_EQUAL(lnet_user_env_create(&env, &cfg), -EINVAL, "too many shards");
	cfg = (struct lnet_user_env_cfg) { .mode = 3 };
	UNIT_EQUAL(lnet_user_env_create(&env, &cfg), -EINVAL, "unknown mode");
	cfg.mode = LNET_PROGRESS_HYBRID;
	unit_fail_alloc(1);
	UNIT_EQUAL(lnet_user_env_create(&env, &cfg), -ENOMEM, "no memory");
	unit_fail_alloc(0);
	for (i = 0; i < 2; i++) {
		UNIT_EQUAL(lnet_user_env_create(&env, &cfg), 0, "created");
		UNIT_EQUAL(lnet_user_env_start(env, &ln), -EINVAL, "another number of shards");
		CU_ASSERT(fcntl(user_env(env)->lanes[0].epfd, F_GETFD) & FD_CLOEXEC);
		CU_ASSERT(fcntl(user_env(env)->lanes[0].evfd, F_GETFD) & FD_CLOEXEC);
		lnet_user_env_destroy(env);
	}
	lnet_user_env_destroy(NULL);
}

/* Without a seed no value repeats, and no value follows from the counter alone. */
static void test_secrets(void)
{
	struct lnet_user_env_cfg cfg = { .mode = LNET_PROGRESS_MANUAL, .nr_shards = 1 };
	struct lnet_env *env;
	u64 value[64];
	unsigned int i, k;

	CU_ASSERT_EQUAL_FATAL(lnet_user_env_create(&env, &cfg), 0);
	for (i = 0; i < ARRAY_SIZE(value); i++)
		value[i] = i & 1 ? env->ops->secret(env) : env->ops->random(env);
	for (i = 0; i < ARRAY_SIZE(value); i++)
		for (k = 0; k < i; k++)
			CU_ASSERT(value[i] != value[k]);
	user_env(env)->seed = 7;
	value[0] = env->ops->random(env);
	user_env(env)->seed = 7;
	CU_ASSERT(value[0] != env->ops->random(env));
	lnet_user_env_destroy(env);
}

static void test_services(void)
{
	struct lnet a, b;
	u64 first, now;

	node_up(&a, LNET_PROGRESS_MANUAL, 1);
	node_up(&b, LNET_PROGRESS_MANUAL, 1);
	first = a.env->ops->random(a.env);
	UNIT_EQUAL(first, b.env->ops->random(b.env), "same seed");
	CU_ASSERT(first != a.env->ops->random(a.env));
	first = a.env->ops->secret(a.env);
	UNIT_EQUAL(first, b.env->ops->secret(b.env), "same seed, other stream");
	UNIT_EQUAL(a.env->ops->random(a.env) == b.env->ops->random(b.env), false, "one ahead");
	CU_ASSERT(first != a.env->ops->secret(a.env));
	now = a.env->ops->now_ns(a.env);
	usleep(1000);
	CU_ASSERT(a.env->ops->now_ns(a.env) - now >= MS && a.env->ops->now_ns(a.env) - now < LONG);
	node_down(&a);
	node_down(&b);
}

static void test_manual(void)
{
	struct lnet ln;
	struct end end;
	u64 before;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	end_up(&end, &ln, 0);
	UNIT_EQUAL(lnet_progress(&ln, 0), 0, "nothing there");
	send_byte(&end);
	usleep(3000);
	UNIT_EQUAL(end.got, 0, "nobody polls by himself");
	UNIT_EQUAL(lnet_progress(&ln, 0), 1, "one look");
	UNIT_EQUAL(end.got, 1, "read");
	before = env_clock_ns();
	UNIT_EQUAL(lnet_progress(&ln, 3 * MS), 0, "timeout");
	CU_ASSERT(env_clock_ns() - before >= 3 * MS && env_clock_ns() - before < LONG);
	ln.env->ops->kick(ln.env, 0);
	UNIT_EQUAL(lnet_progress(&ln, -1), 1, "a kick is not lost");
	UNIT_EQUAL(ln.worked[0], 1, "worked once");
	UNIT_EQUAL(lnet_progress_until(&ln, never, NULL, MS), -ETIMEDOUT, "until, timeout");
	end_down(&end);
	node_down(&ln);
}

static void test_timer(void)
{
	struct lnet ln;
	u64 before = env_clock_ns();

	node_up(&ln, LNET_PROGRESS_MANUAL, 2);
	seq_store(&ln.next_ns[1], before + 2 * MS);
	UNIT_EQUAL(lnet_progress(&ln, LONG), 1, "the timer ends the wait");
	CU_ASSERT(env_clock_ns() - before >= 2 * MS && env_clock_ns() - before < LONG);
	UNIT_EQUAL(ln.worked[0] * 10 + ln.worked[1], 1, "only its shard");
	node_down(&ln);
}

static void test_hot(void)
{
	struct lnet ln;
	struct end hot, cold;
	int i, rounds = 0;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	end_up(&hot, &ln, 0);
	end_up(&cold, &ln, 0);
	hot.hot = true;
	send_byte(&hot);
	lnet_progress(&ln, LONG);
	i = (int)hot.tries;
	lnet_progress(&ln, 0);
	UNIT_EQUAL(hot.tries, i + 1, "tried without an event");
	/* The hot descriptor always has data; the other one must still be served. */
	send_byte(&cold);
	for (; !cold.got && rounds < 2 * LANE_HOT_TRIES; rounds++) {
		send_byte(&hot);
		lnet_progress(&ln, 0);
	}
	CU_ASSERT(cold.got == 1 && rounds <= LANE_HOT_TRIES + 1);
	/* The other one is served sooner if the hot one is slow. */
	send_byte(&cold);
	for (rounds = 0; cold.got < 2 && rounds < LANE_HOT_TRIES; rounds++) {
		send_byte(&hot);
		usleep(LANE_LOOK_NS / 1000);
		lnet_progress(&ln, 0);
	}
	CU_ASSERT(cold.got == 2 && rounds <= 2);
	/* The other one is served within LANE_HOT_MISSES polls if the hot one has no data. */
	while (lnet_progress(&ln, 0))
		;
	send_byte(&cold);
	for (rounds = 0; cold.got < 3 && rounds < 10; rounds++)
		lnet_progress(&ln, 0);
	CU_ASSERT(rounds <= LANE_HOT_MISSES);
	/* A poll that does not want input is not tried. */
	UNIT_EQUAL(lnet_env_poll_mod(ln.env, &hot.poll, 0), 0, "mod");
	send_byte(&hot);
	i = (int)hot.tries;
	for (rounds = 0; rounds < 8; rounds++)
		lnet_progress(&ln, 0);
	UNIT_EQUAL(hot.tries, i, "left alone");
	end_down(&hot);
	end_down(&cold);
	node_down(&ln);
}

/* A timer is due: input that arrived before, but was not polled yet, is read first. */
static void test_before_timers(void)
{
	struct lnet ln;
	struct end hot, cold;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	end_up(&hot, &ln, 0);
	end_up(&cold, &ln, 0);
	hot.hot = true;
	send_byte(&hot);
	lnet_progress(&ln, LONG);
	send_byte(&cold);
	usleep(2 * LANE_LOOK_NS / 1000);
	seq_store(&ln.next_ns[0], env_clock_ns());
	lnet_progress(&ln, 0);
	UNIT_EQUAL(cold.got, 1, "seen");
	UNIT_EQUAL(ln.worked[0], 1, "after that the timer ran");
	end_down(&hot);
	end_down(&cold);
	node_down(&ln);
}

static void test_nested(void)
{
	struct lnet ln;
	struct end end;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	end_up(&end, &ln, 0);
	end.nested = end.del_self = true;
	send_byte(&end);
	send_byte(&end);
	UNIT_EQUAL(lnet_progress(&ln, LONG), 1, "runs");
	UNIT_EQUAL(end.nested_rc, -EDEADLK, "no progress inside");
	UNIT_EQUAL(lnet_progress(&ln, MS), 0, "deleted itself");
	UNIT_EQUAL(end.got, 1, "ran once");
	UNIT_EQUAL(lnet_env_poll_mod(ln.env, &end.poll, EPOLLIN), -ENOENT, "not there");
	end.del_self = false;
	UNIT_EQUAL(lnet_env_poll_add(ln.env, 0, &end.poll, EPOLLIN), 0, "again");
	UNIT_EQUAL(lnet_env_poll_add(ln.env, 0, &end.poll, EPOLLIN), -EINVAL, "twice");
	UNIT_EQUAL(lnet_progress(&ln, LONG), 1, "runs again");
	end_down(&end);
	node_down(&ln);
}

/* Two polls are ready in one result of the kernel; the first to run deletes the other. */
struct pair {
	struct end ends[2];
};

static bool pair_ready(struct lnet_poll *poll, u32 events)
{
	struct end *end = container_of(poll, struct end, poll);
	struct end *other = end + (end->nested ? -1 : 1);

	end->got++;
	lnet_env_poll_del(end->ln->env, &other->poll);
	return true;
}

static void test_del_in_batch(void)
{
	struct lnet ln;
	struct pair pair;
	int i;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	for (i = 0; i < 2; i++) {
		end_up(&pair.ends[i], &ln, 0);
		pair.ends[i].nested = i;
		pair.ends[i].poll.ready = pair_ready;
		send_byte(&pair.ends[i]);
	}
	lnet_progress(&ln, LONG);
	UNIT_EQUAL(pair.ends[0].got + pair.ends[1].got, 1, "the deleted one does not run");
	for (i = 0; i < 2; i++)
		end_down(&pair.ends[i]);
	node_down(&ln);
}

static void test_service(void)
{
	struct lnet ln;
	struct end end[2];
	int i;

	node_up(&ln, LNET_PROGRESS_SERVICE, 2);
	for (i = 0; i < 2; i++) {
		end_up(&end[i], &ln, (unsigned int)i);
		send_byte(&end[i]);
		UNIT_EQUAL(lnet_progress_until(&ln, end_has_got, &end[i], LONG), 0,
			   "read by its thread");
	}
	usleep(2000);	/* let the threads sleep */
	ln.env->ops->kick(ln.env, 0);
	UNIT_EQUAL(lnet_progress_until(&ln, has_worked, &ln, LONG), 0, "kicked out of sleep");
	seq_store(&ln.next_ns[1], env_clock_ns() + MS);
	ln.env->ops->arm(ln.env, 1);
	for (i = 0; i < 2000 && !seq_load(&ln.worked[1]); i++)
		usleep(1000);
	CU_ASSERT(seq_load(&ln.worked[1]) != 0);
	UNIT_EQUAL(lnet_progress(&ln, MS), 0, "callers only wait");
	end_down(&end[0]);
	end_down(&end[1]);
	node_down(&ln);
}

/* No caller polls: the service thread serves sockets, kicks and timers, also after a caller did. */
static void test_hybrid(void)
{
	struct lnet ln;
	struct end end;
	int round;

	node_up(&ln, LNET_PROGRESS_HYBRID, 1);
	end_up(&end, &ln, 0);
	for (round = 0; round < 4; round++) {
		seq_store(&end.got, 0);
		send_byte(&end);
		CU_ASSERT(wait_for(end_has_got, &end));
		usleep(1000 * (unsigned int)round);
		seq_store(&ln.worked[0], 0);
		ln.env->ops->kick(ln.env, 0);
		CU_ASSERT(wait_for(has_worked, &ln));
		seq_store(&ln.worked[0], 0);
		seq_store(&ln.next_ns[0], env_clock_ns() + 3 * MS);
		ln.env->ops->arm(ln.env, 0);
		CU_ASSERT(wait_for(has_worked, &ln));
		seq_store(&end.got, 0);
		send_byte(&end);
		UNIT_EQUAL(lnet_progress_until(&ln, end_has_got, &end, LONG), 0,
			   "polled by the caller");
		/* Holds the token for long: the service thread sleeps deeply, and must wake up. */
		UNIT_EQUAL(lnet_progress_until(&ln, never, NULL, 40 * MS * (round == 2)),
			   -ETIMEDOUT, "held");
	}
	end_down(&end);
	node_down(&ln);
}

struct waiter {
	pthread_t thread;
	struct lnet *ln;
	struct end *end;
	int rc;
};

static void *waiter_main(void *arg)
{
	struct waiter *w = arg;

	w->rc = lnet_progress_until(w->ln, end_has_got, w->end, LONG);
	return NULL;
}

/*
 * Each thread waits for another event. The thread that polls also finds the events of the others,
 * and passes the token on when it is done.
 */
static void run_waiters(enum lnet_progress_mode mode)
{
	struct waiter w[4];
	struct end end[4];
	struct lnet ln;
	int i;

	node_up(&ln, mode, 1);
	for (i = 0; i < 4; i++) {
		end_up(&end[i], &ln, 0);
		w[i] = (struct waiter) { .ln = &ln, .end = &end[i] };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&w[i].thread, NULL, waiter_main, &w[i]), 0);
	}
	for (i = 3; i >= 0; i--) {
		usleep(500);
		send_byte(&end[i]);
		pthread_join(w[i].thread, NULL);
		UNIT_EQUAL(w[i].rc, 0, "waited");
	}
	for (i = 0; i < 4; i++)
		end_down(&end[i]);
	node_down(&ln);
}

static void test_waiters(void)
{
	run_waiters(LNET_PROGRESS_MANUAL);
	run_waiters(LNET_PROGRESS_HYBRID);
	run_waiters(LNET_PROGRESS_SERVICE);
}

/* Another thread deletes a poll while ready() runs: the deletion waits until ready() returns. */
static void test_del_waits(void)
{
	struct lnet ln;
	struct end end;
	int i;

	node_up(&ln, LNET_PROGRESS_SERVICE, 1);
	for (i = 0; i < 20; i++) {
		end_up_slow(&end, &ln, 0, 300, i % 2);
		send_byte(&end);
		usleep(100 * (unsigned int)(i % 4));
		lnet_env_poll_del(ln.env, &end.poll);
		/* A hot poll is also tried when it has no data. */
		CU_ASSERT(end.hot || end.tries == end.got);
		/* ThreadSanitizer and AddressSanitizer report ready() if it still runs. */
		memset(&end.poll.ready, 0, sizeof(end.poll.ready));
		end_down(&end);
	}
	node_down(&ln);
}

static void *stopper_main(void *arg)
{
	struct lnet *ln = arg;

	usleep(3000);
	lnet_user_env_stop(ln->env);
	return NULL;
}

static void test_stop(void)
{
	enum lnet_progress_mode modes[] = {LNET_PROGRESS_MANUAL, LNET_PROGRESS_HYBRID,
					   LNET_PROGRESS_SERVICE};
	struct lnet ln;
	pthread_t stopper;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		node_up(&ln, modes[i], 1);
		pthread_create(&stopper, NULL, stopper_main, &ln);
		UNIT_EQUAL(lnet_progress_until(&ln, never, NULL, -1), -ESHUTDOWN, "woken");
		pthread_join(stopper, NULL);
		UNIT_EQUAL(lnet_progress(&ln, -1), -ESHUTDOWN, "refused");
		lnet_user_env_destroy(ln.env);
	}
}

static bool flag_set(void *arg)
{
	return seq_load((u32 *)arg) != 0;
}

static void *waker_main(void *arg)
{
	struct waiter *w = arg;

	usleep(3000);
	seq_store(&w->end->got, 1);
	lnet_progress_wake(w->ln);
	return NULL;
}

static void test_wake(void)
{
	struct lnet ln;
	struct end end = { .got = 0 };
	struct waiter w = { .ln = &ln, .end = &end };

	node_up(&ln, LNET_PROGRESS_HYBRID, 1);
	pthread_create(&w.thread, NULL, waker_main, &w);
	UNIT_EQUAL(lnet_progress_until(&ln, flag_set, &end.got, -1), 0, "asked again");
	pthread_join(w.thread, NULL);
	node_down(&ln);
}

static void test_fork(void)
{
	struct lnet_poll poll = { .fd = 0, .ready = end_ready };
	struct lnet ln;
	struct end end;
	int status = 0;
	pid_t pid;

	node_up(&ln, LNET_PROGRESS_MANUAL, 1);
	end_up(&end, &ln, 0);
	pid = fork();
	if (pid == 0) {
		int bad = lnet_progress(&ln, -1) != -EPERM;

		bad += lnet_progress_until(&ln, never, NULL, -1) != -EPERM;
		bad += lnet_env_poll_add(ln.env, 0, &poll, EPOLLIN) != -EPERM;
		lnet_env_poll_del(ln.env, &end.poll);
		lnet_user_env_stop(ln.env);
		lnet_user_env_destroy(ln.env);
		_exit(bad);
	}
	CU_ASSERT(pid > 0 && waitpid(pid, &status, 0) == pid);
	UNIT_EQUAL(status, 0, "all calls of the child refused");
	send_byte(&end);
	UNIT_EQUAL(lnet_progress(&ln, LONG), 1, "the parent's set is untouched");
	end_down(&end);
	node_down(&ln);
}

UNIT_SUITE(env,
	{ "configuration is checked, nothing leaks", test_cfg },
	{ "clock runs, random numbers follow the seed", test_services },
	{ "without a seed no value says anything about another one", test_secrets },
	{ "manual: everything in lnet_progress(), nothing outside", test_manual },
	{ "a deadline ends the wait", test_timer },
	{ "the hot descriptor is tried, the others get their turn", test_hot },
	{ "before a timer runs, all that came is seen", test_before_timers },
	{ "no progress inside a handler; a poll may delete itself", test_nested },
	{ "a poll deleted within a batch does not run", test_del_in_batch },
	{ "service: threads read, kick and arm wake them", test_service },
	{ "hybrid: the service thread stands in for who left", test_hybrid },
	{ "several threads wait, one polls and hands on", test_waiters },
	{ "deleting waits for ready() to return", test_del_waits },
	{ "stop wakes all who wait", test_stop },
	{ "wake makes them ask again", test_wake },
	{ "a child may do nothing and harms nothing", test_fork })
