/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver fulfils the contract of drivers, over real sockets of this host. */
#include "sock_world.h"
#include <lnet/socklnd.h>
#include <pthread.h>

/* ---- a stand-in for the environment: poll(2) ---- */

#define POLLS_MAX 4096

static struct lnet_poll *polls[POLLS_MAX];
static unsigned int nr_polls;
static bool cut_silent;

/*
 * Only run() advances the time, and not while a descriptor is ready. So a driver is late only by
 * what it requested of its timer, however busy the machine is.
 */
static u64 clock_ns = NSEC_PER_SEC;

static u64 still_now(struct lnet_env *env)
{
	return clock_ns;
}

static u64 some_random(struct lnet_env *env)
{
	static u64 random;

	return random += 0x9e3779b97f4a7c15ULL;
}

static void no_hint(struct lnet_env *env, unsigned int shard)
{
}

static const struct lnet_env_ops env_ops = {
	.now_ns = still_now, .random = some_random, .secret = some_random,
	.kick = no_hint, .arm = no_hint
};
static struct lnet_env the_env = { .ops = &env_ops };

int lnet_env_poll_add(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll, u32 events)
{
	if (nr_polls == POLLS_MAX)
		return -ENOSPC;
	poll->events = events;
	poll->added = true;
	polls[nr_polls++] = poll;
	return 0;
}

int lnet_env_poll_mod(struct lnet_env *env, struct lnet_poll *poll, u32 events)
{
	poll->events = events;
	return 0;
}

void lnet_env_poll_del(struct lnet_env *env, struct lnet_poll *poll)
{
	unsigned int i;

	poll->added = false;
	for (i = 0; i < nr_polls; i++)
		if (polls[i] == poll)
			polls[i] = polls[--nr_polls];
}

void lnet_env_poll_hot(struct lnet_env *env, unsigned int shard, struct lnet_poll *poll)
{
}

static bool is_added(const struct lnet_poll *poll)
{
	unsigned int i;

	for (i = 0; i < nr_polls; i++)
		if (polls[i] == poll)
			return true;
	return false;
}

/* Polls all descriptors once; false: nothing was ready. */
static bool poll_once(int timeout_ms)
{
	static struct pollfd fds[POLLS_MAX];
	static struct lnet_poll *which[POLLS_MAX];
	unsigned int i, nr = nr_polls;

	for (i = 0; i < nr; i++) {
		which[i] = polls[i];
		fds[i].fd = polls[i]->fd;
		/* EPOLLIN, EPOLLOUT are POLLIN, POLLOUT */
		fds[i].events = (short)polls[i]->events;
	}
	if (poll(fds, nr, timeout_ms) <= 0)
		return false;
	for (i = 0; i < nr; i++)
		if (fds[i].revents && is_added(which[i]))
			which[i]->ready(which[i], (u32)(u16)fds[i].revents);
	return true;
}

/* ---- timers: they expire by the clock above ------------ */

static struct {
	int fd;
	u64 when_ns;
} timers[8];
static unsigned int nr_timers;

int test_timerfd_settime(int fd, int flags, const struct itimerspec *when, struct itimerspec *was)
{
	unsigned int i;

	CU_ASSERT_EQUAL(flags, TFD_TIMER_ABSTIME);
	for (i = 0; i < nr_timers && timers[i].fd != fd; i++)
		;
	if (i == nr_timers)
		CU_ASSERT_FATAL(nr_timers++ < ARRAY_SIZE(timers));
	timers[i].fd = fd;
	timers[i].when_ns =
		when->it_value.tv_sec * (u64)NSEC_PER_SEC + (u64)when->it_value.tv_nsec;
	return 0;
}

static unsigned int soonest(void)
{
	unsigned int i, best = 0;

	for (i = 1; i < nr_timers; i++)
		if (timers[i].when_ns < timers[best].when_ns)
			best = i;
	return best;
}

static void ring(unsigned int i)
{
	struct itimerspec now = { .it_value = { .tv_nsec = 1 } };
	struct pollfd p = { .fd = timers[i].fd, .events = POLLIN };

	timers[i].when_ns = U64_MAX;
	timerfd_settime(p.fd, 0, &now, NULL);
	poll(&p, 1, 1000);
}

/* Runs until nothing has been ready for a millisecond: then only bytes in transit may be left. */
static void settle(void)
{
	/* a descriptor that cannot be read stays ready */
	unsigned int i, most = cut_silent ? 4 : 200;

	for (i = 0; i < most && poll_once(0); i++)
		;
	for (; i < most && poll_once(1); i++)
		;
}

static void run(struct contract_pair *pair, u64 ns)
{
	u64 end_ns = clock_ns + ns;
	unsigned int i, n;

	settle();
	for (n = 0; n < 1000 && nr_timers; n++) {
		i = soonest();
		if (timers[i].when_ns > end_ns)
			break;
		clock_ns = max(clock_ns, timers[i].when_ns);
		ring(i);
		settle();
	}
	clock_ns = end_ns;
}

/* ---- a broken network ---- */

ssize_t test_sendmsg(int fd, const struct msghdr *msg, int flags)
{
	if (cut_silent)
		return errno = EAGAIN, -1;
	return sendmsg(fd, msg, flags);
}

ssize_t test_recvmsg(int fd, struct msghdr *msg, int flags)
{
	if (cut_silent)
		return errno = EAGAIN, -1;
	return recvmsg(fd, msg, flags);
}

ssize_t test_send(int fd, const void *buf, size_t len, int flags)
{
	struct iovec vec = { (void *)buf, len };
	struct msghdr msg = { .msg_iov = &vec, .msg_iovlen = 1 };

	return test_sendmsg(fd, &msg, flags);
}

ssize_t test_recv(int fd, void *buf, size_t len, int flags)
{
	if (cut_silent)
		return errno = EAGAIN, -1;
	return recv(fd, buf, len, flags);
}

static void cut(struct contract_pair *pair, bool silent)
{
	struct contract_node *node = &pair->node[1];
	struct sock_ni *sn = node->ni->priv;
	struct sock_peer *peer;
	struct lnet_pass p;

	cut_silent = silent;
	if (silent)
		return;
	lnet_pass_begin(&p, &node->ln, LNET_PASS_DRIVER);
	sock_lock(&p, sn);
	list_for_each_entry(peer, &sn->peers, link)
		sock_set_close(&p, peer, LNET_PATH_LOST, false);
	sock_unlock(&p, sn);
	lnet_pass_end(&p);
}

/* ---- the pair ---- */

static unsigned int port;
static bool typed;

static int make_pair(struct contract_pair *pair)
{
	cut_silent = false;
	nr_timers = 0;
	port = 20000 + (unsigned int)getpid() % 30000;
	pair->env[0] = pair->env[1] = &the_env;
	CU_ASSERT_EQUAL(lnet_nid_parse(&pair->cfg[0].nid, "127.0.0.2@tcp"), 0);
	CU_ASSERT_EQUAL(lnet_nid_parse(&pair->cfg[1].nid, "127.0.0.3@tcp"), 0);
	return 0;
}

static int ni_start_here(struct lnet_ni *ni)
{
	ni->ln->tun.accept = 2;
	ni->ln->tun.accept_port = port;
	ni->ln->tun.typed_conns = typed;
	return contract_sock_ops.ni_start(ni);
}

static bool releaser_left;

/* A thread that is still in user_release_closed() for a moment. */
static void *releaser(void *arg)
{
	struct user_ni *un = arg;

	usleep(5000);
	mutex_lock(&un->sn.lock);
	releaser_left = true;
	un->nr_releasing--;
	mutex_unlock(&un->sn.lock);
	return NULL;
}

static void ni_stop_here(struct lnet_ni *ni)
{
	struct user_ni *un = ni->priv;
	pthread_t thread;

	releaser_left = false;
	un->nr_releasing++;
	pthread_create(&thread, NULL, releaser, un);
	contract_sock_ops.ni_stop(ni);
	CU_ASSERT(releaser_left);
	pthread_join(thread, NULL);
}

static void unmake_pair(struct contract_pair *pair)
{
	unsigned int i;

	UNIT_EQUAL(nr_polls, 0, "polls left behind");
	for (i = 0; i < 2; i++)
		sock_world_check(pair->node[i].ni->priv);
}

static struct contract_driver driver = {
	.make = make_pair,
	.run = run,
	.cut = cut,
	.unmake = unmake_pair,
};

/* Stock's rule selects by size, so order within a class holds on one connection only. */
static void test_contract(void)
{
	static struct lnet_lnd_ops ops;

	ops = contract_sock_ops;
	ops.ni_start = ni_start_here;
	ops.ni_stop = ni_stop_here;
	driver.ops = &ops;
	typed = false;
	contract_run(&driver);
}

static int receive_buffer(int fd)
{
	socklen_t len = sizeof(int);
	int bytes = 0;

	CU_ASSERT_EQUAL(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &len), 0);
	return bytes;
}

/* The system doubles the requested size. */
static void test_small_buffer(void)
{
	static struct lnet ln;
	static struct user_ni un = { .sn.ln = &ln };
	int fd = socket(AF_INET, SOCK_STREAM, 0), before;

	CU_ASSERT_FATAL(fd >= 0);
	before = receive_buffer(fd);
	user_socket_small(&un, fd);
	UNIT_EQUAL(receive_buffer(fd), before, "0: the system's");
	ln.tun.small_rx_buffer = 70000;
	user_socket_small(&un, fd);
	UNIT_EQUAL(receive_buffer(fd), 140000, "as large as is said");
	close(fd);
}

UNIT_SUITE(socklnd,
	{ "keeps the contract", test_contract },
	{ "the receive buffer of small messages has a size", test_small_buffer },
)
