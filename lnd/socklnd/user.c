/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver on sockets of user space, and its table of operations. */
#include "lnd/socklnd/user.h"
#include <lnet/socklnd.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * If the last bytes of a payload have not arrived, the driver waits before the next read. The wait
 * is the time in which a processor reads as many bytes from memory, at most QUIET_MAX_NS. Values
 * from 12 to 200 us make no measurable difference.
 */
#define QUIET_BYTES_PER_NS 16
#define QUIET_MAX_NS 16000ULL

struct sock_ni *sock_ni_of(struct lnet_ni *ni)
{
	struct user_ni *un = lnet_ni_priv(ni);

	return &un->sn;
}

/* ---- the sockets that conn.c drives ---- */

u32 user_events_of(const struct sock_conn *c)
{
	u32 events = c->want_read ? EPOLLIN : 0;

	if (c->state == CONN_CONNECTING)
		return EPOLLOUT;
	return c->want_write ? events | EPOLLOUT : events;
}

static int user_io_dial(struct sock_conn *c, const struct lnet_nid *to)
{
	struct user_ni *un = user_ni(c->sn);
	struct user_conn *uc = user_conn(c);
	struct sock_addr addr;
	int fd, err;

	sock_addr_of(&addr, to, READ_ONCE(sock_tun(c->sn)->accept_port));
	fd = user_socket_dial(un, &addr);
	if (fd < 0)
		return fd;
	uc->poll.fd = fd;
	uc->poll.ready = user_conn_ready;
	err = lnet_env_poll_add(un->env, un->shard, &uc->poll, user_events_of(c));
	if (err)
		close(fd);
	return err;
}

static_assert(sizeof(struct kvec) == sizeof(struct iovec) &&
	      offsetof(struct kvec, iov_len) == offsetof(struct iovec, iov_len), "kvec is iovec");

static ssize_t user_io_write(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)vec, .msg_iovlen = nr };
	const int flags = MSG_NOSIGNAL | MSG_DONTWAIT;
	int fd = user_conn(c)->poll.fd;
	ssize_t n;

	do
		n = nr == 1 ? send(fd, vec->iov_base, vec->iov_len, flags)
			    : sendmsg(fd, &msg, flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t user_socket_read(int fd, void *to, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, to, size, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static u64 user_ni_now_ns(const struct user_ni *un)
{
	return un->env->ops->now_ns(un->env);
}

/*
 * The last bytes of a payload (@vec) have not arrived: delays the next read. Each read takes the
 * socket's lock, which arriving packets also need. If sender and receiver are on one machine, the
 * sender waits for the lock.
 */
static void look_later(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct user_conn *uc = user_conn(c);
	u64 missing = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		missing += vec[i].iov_len;
	uc->quiet_ns = user_ni_now_ns(user_ni(c->sn)) +
		       min_t(u64, missing / QUIET_BYTES_PER_NS, QUIET_MAX_NS);
}

static bool user_conn_is_quiet(struct user_ni *un, struct user_conn *uc)
{
	if (!uc->quiet_ns)
		return false;
	if (user_ni_now_ns(un) < uc->quiet_ns)
		return true;
	uc->quiet_ns = 0;
	return false;
}

static ssize_t user_io_read(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct msghdr msg = { .msg_iov = (struct iovec *)vec, .msg_iovlen = nr };
	struct user_conn *uc = user_conn(c);
	ssize_t n;

	if (uc->is_ahead) {
		uc->is_ahead = false;
		return uc->ahead;
	}
	if (nr == 1)
		return user_socket_read(uc->poll.fd, vec->iov_base, vec->iov_len);
	do
		n = recvmsg(uc->poll.fd, &msg, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN) {
		look_later(c, vec, nr - 1);
		return -EAGAIN;
	}
	return n < 0 ? -errno : n;
}

/*
 * A polling thread often finds no bytes, so this function reads before the thread begins a pass.
 * Returns true if there were no bytes. Otherwise the bytes are in un->staging, into which the first
 * read of the pass would place them: see read_vec().
 */
static bool in_vain(struct user_ni *un, struct sock_conn *c)
{
	struct user_conn *uc = user_conn(c);

	if (READ_ONCE(c->state) != CONN_OPEN || READ_ONCE(c->waits) || !sock_conn_between(c))
		return false;
	uc->ahead = user_socket_read(uc->poll.fd, un->staging, sock_read_ahead(c, SOCK_STAGING));
	uc->is_ahead = uc->ahead != -EAGAIN;
	return !uc->is_ahead;
}

static void io_opened(struct sock_conn *c)
{
	if (c->type == LNET_CTYPE_CONTROL)
		user_socket_small(user_ni(c->sn), user_conn(c)->poll.fd);
}

static void user_io_want(struct sock_conn *c)
{
	lnet_env_poll_mod(user_ni(c->sn)->env, &user_conn(c)->poll, user_events_of(c));
}

static void user_io_shut(struct sock_conn *c, bool abort)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 0 };
	struct user_ni *un = user_ni(c->sn);
	int fd = user_conn(c)->poll.fd;

	if (abort)
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	if (!abort)
		shutdown(fd, SHUT_WR);
	WRITE_ONCE(un->nr_closed, un->nr_closed + 1);
	sock_arm(c->sn, 0);
}

static void user_io_finish(struct sock_conn *c)
{
	shutdown(user_conn(c)->poll.fd, SHUT_WR);
}

static u64 user_io_unacked(struct sock_conn *c)
{
	int nr = 0;

	return ioctl(user_conn(c)->poll.fd, SIOCOUTQ, &nr) || nr < 0 ? 0 : nr;
}

/* Sets the timer only to an earlier time than before; a tick that is too early does nothing. */
static void user_io_arm(struct sock_ni *sn, u64 when_ns)
{
	struct user_ni *un = user_ni(sn);
	struct itimerspec when = { .it_value = { .tv_nsec = 1 } };

	if (when_ns >= un->armed_ns)
		return;
	un->armed_ns = when_ns;
	if (when_ns) {
		when.it_value.tv_sec = when_ns / NSEC_PER_SEC;
		when.it_value.tv_nsec = when_ns % NSEC_PER_SEC;
	}
	timerfd_settime(un->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static const struct sock_io user_io = {
	.conn_size = sizeof(struct user_conn),
	.dial = user_io_dial,
	.write = user_io_write,
	.read = user_io_read,
	.opened = io_opened,
	.want = user_io_want,
	.shut = user_io_shut,
	.finish = user_io_finish,
	.unacked = user_io_unacked,
	.packets = user_packets,
	.arm = user_io_arm,
};

/* ---- turns of the poller ---- */

/* Frees the descriptor of a closed connection that the caller has claimed. */
static void user_conn_release(struct user_ni *un, struct sock_conn *c)
{
	struct user_conn *uc = user_conn(c);

	lnet_env_poll_del(un->env, &uc->poll);
	close(uc->poll.fd);
	sock_conn_released(c);
}

/*
 * Lock held. Claims a closed connection, so that no other thread releases it. Skips a connection to
 * which a thread still writes.
 */
static struct sock_conn *user_conn_claim_closed(struct user_ni *un)
{
	struct sock_conn *c;

	if (!un->nr_closed)
		return NULL;
	list_for_each_entry(c, &un->sn.conns, all) {
		if (c->state != CONN_CLOSED)
			break;		/* closed connections precede the others */
		if (c->writing || user_conn(c)->releasing)
			continue;
		user_conn(c)->releasing = true;
		WRITE_ONCE(un->nr_closed, un->nr_closed - 1);
		return c;
	}
	return NULL;
}

/*
 * This thread uses @un after it has released the last connection, so user_ni_stop() waits until
 * nr_releasing is 0.
 */
void user_release_closed(struct user_ni *un)
{
	struct sock_conn *c;

	if (!READ_ONCE(un->nr_closed))
		return;
	mutex_lock(&un->sn.lock);
	un->nr_releasing++;
	while ((c = user_conn_claim_closed(un))) {
		mutex_unlock(&un->sn.lock);
		user_conn_release(un, c);
		mutex_lock(&un->sn.lock);
	}
	un->nr_releasing--;
	mutex_unlock(&un->sn.lock);
}

static int connect_error(int fd)
{
	socklen_t len = sizeof(int);
	int err = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? -errno : -err;
}

bool user_conn_ready(struct lnet_poll *poll, u32 events)
{
	struct user_conn *uc = container_of(poll, struct user_conn, poll);
	struct sock_conn *c = container_of((u8 *)uc, struct sock_conn, io[0]);
	struct user_ni *un = user_ni(c->sn);
	struct lnet_pass p;
	bool got = false;

	if (READ_ONCE(c->state) == CONN_CLOSED) {
		user_release_closed(un);
		return true;
	}
	if (events == EPOLLIN && !READ_ONCE(un->nr_closed) &&
	    (user_conn_is_quiet(un, uc) || in_vain(un, c)))
		return false;
	lnet_pass_begin(&p, c->sn->ln, LNET_PASS_DRIVER);
	if (READ_ONCE(c->state) == CONN_CONNECTING) {
		got = true;
		sock_conn_connected(&p, c, connect_error(poll->fd));
	} else if (READ_ONCE(c->waits) && events & (EPOLLHUP | EPOLLERR)) {
		sock_conn_broken(&p, c);
	} else if (READ_ONCE(c->state) == CONN_WAIT_REQUEST && user_request_ready(&p, c)) {
		got = true;
	} else {
		if (events & ~EPOLLOUT)
			got = sock_conn_readable(&p, c, un->staging, SOCK_STAGING);
		uc->is_ahead = false;	/* closed meanwhile */
		/*
		 * A busy connection is not the hot poll, so the poller serves other ready
		 * connections before it.
		 */
		if (got && READ_ONCE(c->state) == CONN_OPEN)
			lnet_env_poll_hot(un->env, un->shard, c->busy ? NULL : poll);
		if (events & EPOLLOUT)
			sock_conn_writable(&p, c);
	}
	lnet_pass_end(&p);
	user_release_closed(un);
	return got || events & EPOLLOUT;
}

static bool timer_ready(struct lnet_poll *poll, u32 events)
{
	struct user_ni *un = container_of(poll, struct user_ni, timer);
	struct lnet_pass p;
	u64 nr;

	if (read(poll->fd, &nr, sizeof(nr)) < 0)
		return false;
	user_release_closed(un);
	lnet_pass_begin(&p, un->sn.ln, LNET_PASS_DRIVER);
	sock_lock(&p, &un->sn);
	un->armed_ns = U64_MAX;
	sock_unlock(&p, &un->sn);
	sock_tick(&p, &un->sn, un->staging, SOCK_STAGING);
	user_listener_turn(&p, un);
	lnet_pass_end(&p);
	user_release_closed(un);
	return true;
}

/* ---- an NI ---- */

static int start_timer(struct user_ni *un)
{
	un->armed_ns = U64_MAX;
	un->timer.ready = timer_ready;
	un->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (un->timer.fd < 0)
		return -errno;
	return lnet_env_poll_add(un->env, un->shard, &un->timer, EPOLLIN);
}

static void close_poll(struct user_ni *un, struct lnet_poll *poll)
{
	lnet_env_poll_del(un->env, poll);
	if (poll->fd >= 0)
		close(poll->fd);
}

static void user_ni_fini(struct user_ni *un)
{
	user_listener_stop(un);
	user_link_stop(&un->link, un);
	close_poll(un, &un->timer);
	sock_ni_fini(&un->sn);
	kfree(un->staging);
}

/*
 * Reserves some descriptors for connections that this node dials. Accepted connections cannot use
 * the reserved descriptors.
 */
static void set_caps(struct sock_ni *sn)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur / 2 > U32_MAX)
		return;
	sn->halfs_cap = max_t(u32, files.rlim_cur / 2, 16);
	sn->opens_cap = max_t(u32, files.rlim_cur / 4 * 3, 16);
}

static int user_ni_start(struct lnet_ni *ni)
{
	struct user_ni *un = lnet_ni_priv(ni);
	int err;

	un->listener.fd = un->timer.fd = un->link.poll.fd = un->link.again.fd = -1;
	un->env = lnet_env_of(lnet_ni_instance(ni));
	un->shard = lnet_ni_cpt(ni, ni->ix);
	un->port = LNET_PORT_RESERVED_MAX;
	err = sock_ni_init(&un->sn, ni, &user_io);
	set_caps(&un->sn);
	un->staging = kmalloc(SOCK_STAGING, GFP_KERNEL);
	if (!err && !un->staging)
		err = -ENOMEM;
	if (!err)
		err = start_timer(un);
	if (!err)
		err = user_listener_start(un);
	if (!err)
		err = user_link_start(&un->link, un);
	if (err)
		user_ni_fini(un);
	return err;
}

static bool is_last_released(struct user_ni *un)
{
	bool last;

	mutex_lock(&un->sn.lock);
	last = list_empty(&un->sn.conns) && !un->nr_releasing;
	mutex_unlock(&un->sn.lock);
	return last;
}

static void user_ni_stop(struct lnet_ni *ni)
{
	struct user_ni *un = lnet_ni_priv(ni);
	struct lnet_pass p;

	user_listener_stop(un);
	lnet_pass_begin(&p, un->sn.ln, LNET_PASS_DRIVER);
	sock_ni_stop(&p, &un->sn);
	lnet_pass_end(&p);
	lnet_env_poll_del(un->env, &un->timer);
	while (!is_last_released(un)) {
		user_release_closed(un);
		if (!is_last_released(un))
			usleep(100);	/* a thread still writes to a connection, or releases one */
	}
	user_ni_fini(un);
}

const struct lnet_lnd_ops lnet_socklnd_ops = {
	.name = "tcp",
	.type = LNET_LND_TCP,
	.ni_priv_size = sizeof(struct user_ni),
	.inline_max = SOCK_INLINE_MAX,
	.peer_timeout = 180,
	.peer_credits = 8,
	.peer_buffer_credits = 0,
	.credits = 256,
	.ni_start = user_ni_start,
	.ni_close = sock_ni_close,
	.ni_stop = user_ni_stop,
	.send = sock_send,
	.send_list = sock_send_list,
	.flush = sock_flush,
	.cancel = sock_cancel,
	.receive = sock_receive,
	.rx_stop = sock_rx_stop,
	.rx_address = sock_rx_address,
	.path_reset = sock_path_reset,
	.counter_names = sock_counter_names,
	.nr_counters = SOCK_NR_COUNTERS,
	.counters = sock_counters,
	.limits = sock_limits,
	.nr_limits = SOCK_NR_LIMITS,
	.peer_gone = sock_peer_gone,
};
