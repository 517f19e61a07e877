/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Listening in the kernel. NIs with the same namespace, address and port share a listener. The
 * acceptor request, the first message of a connection, names the NI.
 */
#include "lnd/socklnd/kernel.h"
#include <linux/delay.h>
#include <net/tcp.h>

#define ACCEPTS_MAX	16		/* per turn */
#define PAUSE_MS	10		/* pause after accepting failed for lack of resources */

/* ---- accepted connections ---- */

static void kern_accept_setup(struct sock_conn *c, void *arg)
{
	kern_conn_setup(c);
	kern_conn_attach(c, arg);
	lnet_env_poll_raise(&kern_conn(c)->poll, LNET_POLL_TURN);
}

/*
 * Takes ownership of @sock. If the connection is rejected, resets @sock, because the namespace may
 * end before a graceful close.
 */
static void kern_socket_adopt(struct lnet_pass *p, struct kern_ni *kn, struct socket *sock,
			      const struct sock_from *from)
{
	if (sock_accepted(p, &kn->sn, from, kern_accept_setup, sock))
		return;
	sock_no_linger(sock->sk);
	sock_release(sock);
}

/* Replaces the callback that @sk inherited from the listener. */
static void adopted_from(struct kern_ni *kn, struct sock *sk)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = kn->data_ready;
	sk->sk_user_data = NULL;
	write_unlock_bh(&sk->sk_callback_lock);
}

static int kern_accept_one(struct lnet_pass *p, struct kern_ni *kn)
{
	struct sock_addr addr = {};
	struct sock_from from;
	struct socket *sock;
	int err;

	err = kernel_accept(kn->listener, &sock, O_NONBLOCK);
	if (err)
		return err;
	adopted_from(kn, sock->sk);
	kern_socket_options(kn, sock);
	/* If the peer has disconnected already, sets port 0, which no peer has. */
	if (kernel_getpeername(sock, &addr.sa) < 0)
		sock_addr_of(&addr, &kn->sn.nid, 0);
	sock_from_addr(&from, &addr, &kn->sn.nid);
	kern_socket_adopt(p, kn, sock, &from);
	return 0;
}

static bool kern_is_shortage(int err)
{
	return err == -ENOMEM || err == -ENOBUFS || err == -ENFILE;
}

/* True: the worker runs again. */
static bool accept_turn(struct kern_ni *kn)
{
	struct lnet_pass p;
	unsigned int nr;
	int err = 0;

	lnet_pass_begin(&p, kn->sn.ln, LNET_PASS_DRIVER);
	for (nr = 0; nr < ACCEPTS_MAX && !err; nr++)
		err = kern_accept_one(&p, kn);
	if (kern_is_shortage(err))
		sock_accept_failed(&p, &kn->sn, err);
	lnet_pass_end(&p);
	if (kern_is_shortage(err))
		msleep(PAUSE_MS);	/* the kernel reports waiting connections only once */
	return err != -EAGAIN && err != -EINVAL;
}

/* ---- choice of the NI ---- */

/* Moves the socket from @c to @other, and closes @c. No byte of the socket was read. */
static void kern_socket_move(struct lnet_pass *p, struct sock_conn *c, struct sock_ni *other)
{
	struct kern_conn *kc = kern_conn(c);
	struct socket *sock = NULL;
	struct sock_from from;

	sock_lock(p, c->sn);
	if (c->state == CONN_WAIT_REQUEST) {
		sock_count(c->sn, handed_on);
		sock_conn_from(c, &from);
		kern_conn_detach(kc);
		sock = kc->sock;
		kc->sock = NULL;
		sock_conn_close(p, c, true);
	}
	sock_unlock(p, c->sn);
	if (sock)
		kern_socket_adopt(p, kern_ni(other), sock, &from);
}

static bool kern_sock_has_ended(const struct sock *sk)
{
	return READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN || READ_ONCE(sk->sk_err);
}

bool kern_request_ready(struct lnet_pass *p, struct sock_conn *c)
{
	struct socket *sock = kern_conn(c)->sock;
	u8 buf[LNET_ACR_SIZE_MAX];
	struct kvec vec = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = {};
	enum lnet_acr_what what;
	struct sock_ni *other;
	struct lnet_acr acr;
	unsigned int need;
	int n;

	if (c->nr_hdr)
		return false;
	n = kernel_recvmsg(sock, &msg, &vec, 1, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		return n == -EAGAIN;
	what = lnet_acr_decode(&acr, buf, (unsigned int)n, &need);
	if (what == LNET_ACR_MORE)
		return !kern_sock_has_ended(sock->sk);
	other = what == LNET_ACR_OK ? sock_ni_named(c->sn, &acr.nid) : NULL;
	if (!other)
		return false;
	kern_socket_move(p, c, other);
	lnet_pass_relax(p);
	sock_ni_adopted(other);
	return true;
}

/* ---- the listener: configuration mutex held ---- */

/* New connections inherit this callback, and have it until they are accepted. */
static void on_listener_ready(struct sock *sk)
{
	struct kern_ni *kn;

	read_lock_bh(&sk->sk_callback_lock);
	kn = sk->sk_state == TCP_LISTEN ? sk->sk_user_data : NULL;
	if (kn)
		lnet_env_poll_raise(&kn->accept, LNET_POLL_READ);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* Makes @kn the NI of @listener. If @kn is NULL, no NI has @listener. */
static void give_to(struct socket *listener, struct kern_ni *kn, void (*ready)(struct sock *sk))
{
	struct sock *sk = listener->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = kn;
	sk->sk_data_ready = ready;
	write_unlock_bh(&sk->sk_callback_lock);
}

static void kern_listener_install(struct kern_ni *kn, struct socket *listener,
				  void (*data_ready)(struct sock *sk))
{
	kn->listener = listener;
	kn->data_ready = data_ready;
	give_to(listener, kn, on_listener_ready);
	lnet_env_poll_raise(&kn->accept, LNET_POLL_READ);
}

/*
 * Returns true if a log line is permitted. The rate is limited, because unprivileged users may
 * create namespaces.
 */
static void kern_listen_report(const struct lnet_ni *ni, u16 port, int err)
{
	char nid[LNET_NIDSTR_SIZE];

	lnet_nid_str(lnet_ni_nid(ni), nid);
	if (err == -EADDRINUSE)
		pr_err_ratelimited("socklnd: %s: port %u of this address is in use: stop the other "
				   "node (lnetd, another LNet module), or set accept_port\n",
				   nid, port);
	else if (err == -EADDRNOTAVAIL)
		pr_err_ratelimited("socklnd: %s: no interface has this address\n", nid);
	else
		pr_err_ratelimited("socklnd: %s: cannot listen on port %u: error %d\n", nid, port,
				   err);
}

/*
 * Listens in a worker, because the configuring process may not be permitted to use reserved ports.
 */
static bool accept_ready(struct lnet_poll *poll, unsigned long events)
{
	struct kern_ni *kn = container_of(poll, struct kern_ni, accept);

	if (!(events & LNET_POLL_TURN))
		return READ_ONCE(kn->listener) && accept_turn(kn);
	kn->listen_err = kern_socket_listen(kn, kn->listen_port, &kn->made);
	complete(&kn->listening);
	return false;
}

/*
 * Returns another NI of this address and port, either with the listener (@listening) or without;
 * NULL: none.
 */
static struct kern_ni *kern_ni_sharer(struct kern_ni *kn, bool listens)
{
	const struct lnet_ni *mine = kn->sn.ni;
	struct lnet_ni *ni;

	list_for_each_entry(ni, &kn->sn.ln->nis, link) {
		struct kern_ni *other = lnet_ni_priv(ni);

		if (ni != mine && ni->ops == mine->ops && sock_same_address(&other->sn, &kn->sn) &&
		    other->listen_port == kn->listen_port && listens == !!other->listener)
			return other;
	}
	return NULL;
}

int kern_listener_start(struct kern_ni *kn)
{
	lnet_env_poll_init(&kn->accept, kn->sn.ni->cpts, accept_ready);
	if (!READ_ONCE(sock_tun(&kn->sn)->accept))
		return 0;
	kn->listen_port = READ_ONCE(sock_tun(&kn->sn)->accept_port);
	if (kern_ni_sharer(kn, true))
		return 0;
	init_completion(&kn->listening);
	lnet_env_poll_raise(&kn->accept, LNET_POLL_TURN);
	wait_for_completion(&kn->listening);
	if (kn->listen_err)
		kern_listen_report(kn->sn.ni, kn->listen_port, kn->listen_err);
	else
		kern_listener_install(kn, kn->made, kn->made->sk->sk_data_ready);
	return kn->listen_err;
}

/* The NI that takes over the listener also accepts the connections in the listener's queue. */
void kern_listener_stop(struct kern_ni *kn)
{
	struct socket *listener = kn->listener;
	struct kern_ni *heir;

	sock_ni_reject(&kn->sn);
	if (listener)
		give_to(listener, NULL, kn->data_ready);
	lnet_env_poll_del(&kn->accept);
	if (!listener)
		return;
	heir = kern_ni_sharer(kn, false);
	if (heir)
		kern_listener_install(heir, listener, kn->data_ready);
	else
		sock_release(listener);
	kn->listener = NULL;
}
