/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Listening in user space. NIs with the same address and port share a listener. The acceptor
 * request, the first message of a connection, names the NI.
 */
#include "lnd/socklnd/user.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ACCEPTS_MAX 16		/* per turn */
#define PAUSE_NS 20000000ULL	/* pause after accepting failed for lack of resources */

/* ---- accepted connections ---- */

struct accepted {
	struct user_ni *un;
	int fd, err;
};

static void user_accept_setup(struct sock_conn *c, void *arg)
{
	struct user_conn *uc = user_conn(c);
	struct accepted *a = arg;

	uc->poll.fd = a->fd;
	uc->poll.ready = user_conn_ready;
	user_socket_options(a->un, a->fd);
	a->err = lnet_env_poll_add(a->un->env, a->un->shard, &uc->poll, user_events_of(c));
}

/* Takes ownership of @fd. */
static void user_socket_adopt(struct lnet_pass *p, struct user_ni *un, int fd,
			      const struct sock_from *from)
{
	struct accepted a = { .un = un, .fd = fd };
	struct sock_conn *c = sock_accepted(p, &un->sn, from, user_accept_setup, &a);

	if (!c) {
		close(fd);
	} else if (a.err) {
		sock_lock(p, &un->sn);
		sock_conn_close(p, c, true);
		sock_unlock(p, &un->sn);
	}
}

static bool user_is_shortage(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS;
}

/*
 * The poller reports a waiting connection repeatedly. If the driver cannot close another connection
 * to accept this one, the listener is not polled until user_listener_turn().
 */
static void pause_accepting(struct lnet_pass *p, struct user_ni *un, int err)
{
	if (sock_accept_failed(p, &un->sn, -err))
		return;
	lnet_env_poll_mod(un->env, &un->listener, 0);
	sock_lock(p, &un->sn);
	un->paused_ns = un->sn.now_ns + PAUSE_NS;
	sock_arm(&un->sn, un->paused_ns);
	sock_unlock(p, &un->sn);
}

void user_listener_turn(struct lnet_pass *p, struct user_ni *un)
{
	if (!un->paused_ns)
		return;
	sock_lock(p, &un->sn);
	if (un->paused_ns <= un->sn.now_ns)
		un->paused_ns = 0;
	else
		sock_arm(&un->sn, un->paused_ns);
	sock_unlock(p, &un->sn);
	if (!un->paused_ns)
		lnet_env_poll_mod(un->env, &un->listener, EPOLLIN);
}

static bool user_accept_one(struct lnet_pass *p, struct user_ni *un)
{
	struct sock_addr addr = { .len = sizeof(addr.in6) };
	int fd = accept4(un->listener.fd, &addr.sa, &addr.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct sock_from from;

	if (fd < 0 && user_is_shortage(errno))
		pause_accepting(p, un, errno);
	if (fd < 0)
		return false;
	sock_from_addr(&from, &addr, &un->sn.nid);
	user_socket_adopt(p, un, fd, &from);
	return true;
}

static bool listener_ready(struct lnet_poll *poll, u32 events)
{
	struct user_ni *un = container_of(poll, struct user_ni, listener);
	struct lnet_pass p;
	unsigned int nr = 0;

	lnet_pass_begin(&p, un->sn.ln, LNET_PASS_DRIVER);
	while (nr < ACCEPTS_MAX && user_accept_one(&p, un))
		nr++;
	lnet_pass_end(&p);
	user_release_closed(un);
	return nr;
}

/* ---- choice of the NI ---- */

/* Makes the socket readable when it has @need bytes, or at the end of the stream. */
static void await(struct user_conn *uc, int need)
{
	setsockopt(uc->poll.fd, SOL_SOCKET, SO_RCVLOWAT, &need, sizeof(need));
	uc->need = (u8)need;
}

/*
 * Moves the socket from @c to @other under a new descriptor, and closes @c. No byte of the socket
 * was read.
 */
static void user_socket_move(struct lnet_pass *p, struct sock_conn *c, struct sock_ni *other)
{
	struct linger off = { .l_onoff = 0 };
	struct sock_from from;
	bool still;
	int fd = fcntl(user_conn(c)->poll.fd, F_DUPFD_CLOEXEC, 0);

	sock_lock(p, c->sn);
	still = c->state == CONN_WAIT_REQUEST;
	if (still) {
		sock_count(c->sn, handed_on);
		sock_conn_from(c, &from);
	}
	sock_conn_close(p, c, true);
	sock_unlock(p, c->sn);
	if (fd < 0)
		return;
	if (!still) {
		close(fd);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));	/* set by the close */
	user_socket_adopt(p, user_ni(other), fd, &from);
}

bool user_request_ready(struct lnet_pass *p, struct sock_conn *c)
{
	struct user_conn *uc = user_conn(c);
	u8 buf[LNET_ACR_SIZE_MAX];
	ssize_t n = recv(uc->poll.fd, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
	enum lnet_acr_what what;
	struct sock_ni *other;
	struct lnet_acr acr;
	unsigned int need = 0;

	if (n < 0 || c->nr_hdr)
		return false;
	what = lnet_acr_decode(&acr, buf, (unsigned int)n, &need);
	if (what == LNET_ACR_MORE && need != uc->need) {
		await(uc, (int)need);
		return true;
	}
	if (uc->need)
		await(uc, 1);
	other = what == LNET_ACR_OK ? sock_ni_named(c->sn, &acr.nid) : NULL;
	if (!other)
		return false;
	user_socket_move(p, c, other);
	lnet_pass_relax(p);
	sock_ni_adopted(other);
	return true;
}

/* ---- the listener: configuration mutex held ---- */

static void user_listen_report(const struct lnet_ni *ni, u16 port, int err)
{
	char nid[LNET_NIDSTR_SIZE];

	lnet_nid_str(lnet_ni_nid(ni), nid);
	if (err == -EACCES)
		pr_err("socklnd: %s: port %u needs CAP_NET_BIND_SERVICE: grant the capability "
		       "(setcap cap_net_bind_service+ep, or AmbientCapabilities= of the unit), or "
		       "set accept_port to 1024 or more and accept to all on all nodes\n",
		       nid, port);
	else if (err == -EADDRINUSE)
		pr_err("socklnd: %s: port %u of this address is in use: stop the other node "
		       "(kernel module lnet, another daemon), or set accept_port\n",
		       nid, port);
	else if (err == -EADDRNOTAVAIL)
		pr_err("socklnd: %s: no interface has this address\n", nid);
	else
		pr_err("socklnd: %s: cannot listen on port %u: %s\n", nid, port, strerror(-err));
}

/*
 * Returns another NI of this address and port, either with the listener (@listening) or without;
 * NULL: none.
 */
static struct user_ni *user_ni_sharer(struct user_ni *un, bool listens)
{
	const struct lnet_ni *mine = un->sn.ni;
	struct lnet_ni *ni;

	list_for_each_entry(ni, &un->sn.ln->nis, link) {
		struct user_ni *other = lnet_ni_priv(ni);

		if (ni != mine && ni->ops == mine->ops && sock_same_address(&other->sn, &un->sn) &&
		    other->listen_port == un->listen_port && listens == (other->listener.fd >= 0))
			return other;
	}
	return NULL;
}

static int user_listener_install(struct user_ni *un, int fd)
{
	un->listener.fd = fd;
	un->listener.ready = listener_ready;
	return lnet_env_poll_add(un->env, un->shard, &un->listener, EPOLLIN);
}

int user_listener_start(struct user_ni *un)
{
	u16 port = READ_ONCE(sock_tun(&un->sn)->accept_port);
	int fd;

	un->listener.fd = -1;
	if (!READ_ONCE(sock_tun(&un->sn)->accept))
		return 0;
	un->listen_port = port;
	if (user_ni_sharer(un, true))
		return 0;
	fd = user_socket_listen(un, port);
	if (fd < 0) {
		user_listen_report(un->sn.ni, port, fd);
		return fd;
	}
	return user_listener_install(un, fd);
}

/* Moves the listener to @heir, with the connections in its queue. */
static void pass_listener(struct user_ni *un, struct user_ni *heir)
{
	int err = user_listener_install(heir, un->listener.fd);

	un->listener.fd = -1;
	if (!err)
		return;
	user_listen_report(heir->sn.ni, heir->listen_port, err);
	close(heir->listener.fd);
	heir->listener.fd = -1;
}

void user_listener_stop(struct user_ni *un)
{
	struct user_ni *heir;

	sock_ni_reject(&un->sn);
	lnet_env_poll_del(un->env, &un->listener);
	if (un->listener.fd < 0)
		return;
	heir = user_ni_sharer(un, false);
	if (heir)
		pass_listener(un, heir);
	else
		close(un->listener.fd);
	un->listener.fd = -1;
}
