/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets of the TCP driver in user space: addresses, ports and options. */
#include "lnd/socklnd/user.h"
#include <netinet/tcp.h>
#include <unistd.h>

/* a long queue of waiting connections, so that none is delayed; the system may limit it */
#define BACKLOG 1024

static void user_option_set_int(int fd, int level, int name, int value)
{
	/*
	 * Sets socket options. They improve speed or failure detection, and none of them is
	 * required.
	 */
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		pr_debug("socklnd: cannot set socket option %d of level %d: %s\n", name, level,
			 strerror(errno));
}

static void user_congestion_set(const struct user_ni *un, int fd)
{
	u64 which = READ_ONCE(sock_tun(&un->sn)->congestion);

	if (which == 2 && !setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "cubic", 5))
		return;
	if (which && setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		pr_debug("socklnd: cannot set the TCP congestion control (see congestion): %s\n",
			 strerror(errno));
}

void user_socket_options(struct user_ni *un, int fd)
{
	user_option_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	user_option_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	user_option_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30);
	user_option_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
	user_option_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, 5);
	user_congestion_set(un, fd);
	if (un->sn.ni->tos >= 0 && un->sn.nid.size == 0)
		user_option_set_int(fd, IPPROTO_IP, IP_TOS, un->sn.ni->tos);
}

/*
 * Sets a fixed size of the receive buffer. While a receive buffer may grow, TCP acknowledges each
 * burst at once, on the sender's processor and within the sender's call. If the size is fixed and
 * the buffer is full, TCP cannot enlarge the window until the buffer is read. Then the reading
 * thread sends the acknowledgement.
 */
void user_socket_small(struct user_ni *un, int fd)
{
	u64 bytes = READ_ONCE(sock_tun(&un->sn)->small_rx_buffer);

	if (bytes)
		user_option_set_int(fd, SOL_SOCKET, SO_RCVBUF, (int)bytes);
}

static int socket_new(const struct sock_addr *addr)
{
	int fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	user_option_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (addr->sa.sa_family == AF_INET6)
		user_option_set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	return fd;
}

static int bind_port(const struct user_ni *un, int fd, u16 port)
{
	struct sock_addr from;

	sock_addr_of(&from, &un->sn.nid, port);
	return bind(fd, &from.sa, from.len) ? -errno : 0;
}

/*
 * Returns a connecting socket. -EADDRNOTAVAIL: no interface has the address. -EADDRINUSE: an NI of
 * this address uses the port, perhaps only for connections to @to.
 */
static int user_port_connect(struct user_ni *un, const struct sock_addr *to, u16 port)
{
	int fd = socket_new(to), err;

	if (fd < 0)
		return fd;
	if (!port)
		user_option_set_int(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
	user_socket_options(un, fd);
	err = bind_port(un, fd, port);
	if (!err && connect(fd, &to->sa, to->len) && errno != EINPROGRESS)
		err = errno == EADDRNOTAVAIL ? -EADDRINUSE : -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/*
 * Tries reserved ports from 1023 downward, cyclically, so that it does not first try a port that
 * was just used.
 */
static int dial_reserved(struct user_ni *un, const struct sock_addr *to)
{
	unsigned int i;
	int fd;

	for (i = LNET_PORT_RESERVED_MIN; i <= LNET_PORT_RESERVED_MAX; i++) {
		u16 port = un->port;

		un->port = port > LNET_PORT_RESERVED_MIN ? port - 1 : LNET_PORT_RESERVED_MAX;
		fd = user_port_connect(un, to, port);
		if (fd != -EADDRINUSE)
			return fd;
	}
	return -EADDRINUSE;
}

int user_socket_dial(struct user_ni *un, const struct sock_addr *to)
{
	int fd = -EACCES;

	if (un->port)
		fd = dial_reserved(un, to);
	if (fd != -EACCES && fd != -EPERM)
		return fd;
	un->port = 0;
	return user_port_connect(un, to, 0);
}

int user_socket_listen(struct user_ni *un, u16 port)
{
	struct sock_addr at;
	int fd, err;

	sock_addr_of(&at, &un->sn.nid, port);
	fd = socket_new(&at);
	if (fd < 0)
		return fd;
	user_congestion_set(un, fd);
	if (!bind(fd, &at.sa, at.len) && !listen(fd, BACKLOG))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
