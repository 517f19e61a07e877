/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets of the TCP driver in the kernel: addresses, ports and options. */
#include "lnd/socklnd/kernel.h"
#include "lnet/kernel/compat_net.h"
#include <linux/tcp.h>
#include <net/tcp.h>

#define BACKLOG	1024

/* ---- options: they improve speed or failure detection; none is required ---- */

static int set_option(struct socket *sock, int level, int name, void *value, unsigned int len)
{
	sockptr_t from = KERNEL_SOCKPTR(value);

	if (level == SOL_SOCKET)
		return sock_setsockopt(sock, level, name, from, len);
	return sock->ops->setsockopt(sock, level, name, from, len);
}

static void kern_option_set_int(struct socket *sock, int level, int name, int value)
{
	int err = set_option(sock, level, name, &value, sizeof(value));

	if (err)
		pr_debug("socklnd: cannot set socket option %d of level %d: error %d\n", name,
			 level, err);
}

static void kern_congestion_set(const struct kern_ni *kn, struct socket *sock)
{
	u64 which = READ_ONCE(sock_tun(&kn->sn)->congestion);

	if (which == 2 && !set_option(sock, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5))
		return;
	if (which && set_option(sock, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		pr_debug("socklnd: cannot set the TCP congestion control to reno (see "
			 "congestion)\n");
}

static void set_tos(const struct kern_ni *kn, struct socket *sock)
{
	int tos = kn->sn.ni->tos;

	if (tos < 0)
		return;
	if (kn->sn.nid.size == 0)
		kern_option_set_int(sock, IPPROTO_IP, IP_TOS, tos);
	else
		kern_option_set_int(sock, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

/*
 * Gives the sockets of the driver separate lock classes of lockdep. Memory reclaim takes the lock
 * of these sockets, but never the lock of a program's socket. In one common class, lockdep would
 * report a deadlock that cannot occur.
 */
static void set_lock_class(struct sock *sk)
{
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	static struct lock_class_key slock_key[2], sk_key[2];
	unsigned int i = sk->sk_family == AF_INET6;

	if (sock_allow_reclassification(sk))
		sock_lock_init_class_and_name(sk, "slock-socklnd", &slock_key[i],
					      "sk_lock-socklnd", &sk_key[i]);
#endif
}

void kern_socket_options(struct kern_ni *kn, struct socket *sock)
{
	struct sock *sk = sock->sk;

	set_lock_class(sk);
	sk->sk_allocation = GFP_NOFS;
	lnet_sock_no_task_frag(sk);
	kern_option_set_int(sock, IPPROTO_TCP, TCP_NODELAY, !sock_param(nagle));
	if (sock_param(eager_ack))
		kern_option_set_int(sock, IPPROTO_TCP, TCP_QUICKACK, 1);
	if (sock_param(tx_buffer_size))
		kern_option_set_int(sock, SOL_SOCKET, SO_SNDBUF, sock_param(tx_buffer_size));
	if (sock_param(rx_buffer_size))
		kern_option_set_int(sock, SOL_SOCKET, SO_RCVBUF, sock_param(rx_buffer_size));
	if (sock_param(keepalive_idle) > 0 && sock_param(keepalive_intvl) > 0 &&
	    sock_param(keepalive_count) > 0) {
		kern_option_set_int(sock, SOL_SOCKET, SO_KEEPALIVE, 1);
		kern_option_set_int(sock, IPPROTO_TCP, TCP_KEEPIDLE, sock_param(keepalive_idle));
		kern_option_set_int(sock, IPPROTO_TCP, TCP_KEEPINTVL, sock_param(keepalive_intvl));
		kern_option_set_int(sock, IPPROTO_TCP, TCP_KEEPCNT, sock_param(keepalive_count));
	}
	kern_congestion_set(kn, sock);
	set_tos(kn, sock);
}

/* ---- creating sockets ---- */

/* Creates a socket bound to the NI's address and @port; @port 0: any port. */
static int bound_socket(struct kern_ni *kn, u16 port, struct socket **sockp)
{
	struct sock_addr at;
	struct socket *sock;
	int err;

	sock_addr_of(&at, &kn->sn.nid, port);
	err = sock_create_kern(kn->net, at.sa.sa_family, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	kern_option_set_int(sock, SOL_SOCKET, SO_REUSEADDR, 1);
	if (at.sa.sa_family == AF_INET6)
		kern_option_set_int(sock, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	kern_socket_options(kn, sock);
	err = kernel_bind(sock, &at.sa, at.len);
	if (err)
		sock_release(sock);
	else
		*sockp = sock;
	return err;
}

/*
 * Connects from the source port @port. Returns 0 if the socket is connecting or connected.
 * -EADDRNOTAVAIL: no interface has the address of the NI. -EADDRINUSE: an NI with this address uses
 * @port, for all connections or only for one to @to.
 */
static int kern_port_connect(struct kern_ni *kn, struct sock_addr *to, u16 port,
			     struct socket **sockp)
{
	int err = bound_socket(kn, port, sockp);

	if (err)
		return err;
	err = kernel_connect(*sockp, &to->sa, to->len, O_NONBLOCK);
	if (!err || err == -EINPROGRESS)
		return 0;
	sock_no_linger((*sockp)->sk);
	sock_release(*sockp);
	return err == -EADDRNOTAVAIL ? -EADDRINUSE : err;
}

/*
 * Tries ports from 1023 downward, cyclically, so that it does not first try a port that was just
 * used.
 */
static u16 next_port(struct kern_ni *kn)
{
	unsigned int nr = LNET_PORT_RESERVED_MAX - LNET_PORT_RESERVED_MIN + 1;

	return LNET_PORT_RESERVED_MAX - ((unsigned int)atomic_inc_return(&kn->port) - 1) % nr;
}

int kern_socket_dial(struct kern_ni *kn, const struct lnet_nid *nid, struct socket **sockp)
{
	struct sock_addr to;
	unsigned int i;
	int err = -EADDRINUSE;

	sock_addr_of(&to, nid, READ_ONCE(sock_tun(&kn->sn)->accept_port));
	for (i = LNET_PORT_RESERVED_MIN; i <= LNET_PORT_RESERVED_MAX && err == -EADDRINUSE; i++)
		err = kern_port_connect(kn, &to, next_port(kn), sockp);
	return err;
}

int kern_socket_listen(struct kern_ni *kn, u16 port, struct socket **sockp)
{
	struct socket *sock;
	int err = bound_socket(kn, port, &sock);

	if (err)
		return err;
	err = kernel_listen(sock, BACKLOG);
	if (err)
		sock_release(sock);
	else
		*sockp = sock;
	return err;
}
