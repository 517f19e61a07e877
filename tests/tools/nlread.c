/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nlread COMMAND FLAGS VERSION [source=NID] [NID...]: sends a request to the kernel's LNet. It
 * reads the reply as stock's library does: slowly, with a receive buffer of 32 KiB. A datagram
 * without a value ends the document for that library, so none may precede the end. Nothing may
 * follow the end. The library reads values as YAML, so no text may have ": ". source=NID names the
 * interface that sends a ping.
 *
 * Prints the numbers of datagrams and values, the bytes of the longest datagram, and the errno at
 * the end. Exit 0: the library would have read the whole reply.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include "uapi/lnet_nl.h"

#define BUFFER	32768
#define PAUSE_MS 5		/* before each datagram, so that the kernel fills the buffer */
#define AFTER_MS 200		/* time for which nothing may follow the end */

static struct {
	unsigned int datagrams, values, longest;
	int err;
	bool ended;
} seen;

static int failed(const char *what, int err)
{
	printf("# %s%s%s\n", what, err ? ": " : "", err ? strerror(err) : "");
	return 1;
}

static struct nl_msg *request(int family, char **argv)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *list;
	int flags = NLM_F_REQUEST | NLM_F_ACK | (int)strtoul(argv[2], NULL, 0);

	genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags,
		    (uint8_t)strtoul(argv[1], NULL, 0), (uint8_t)strtoul(argv[3], NULL, 0));
	argv += 4;
	if (*argv && !strncmp(*argv, "source=", 7)) {
		nla_put_string(msg, LNET_NLA_VALUE, "source");
		nla_put_string(msg, LNET_NLA_VALUE, *argv++ + 7);
	}
	if (!*argv)
		return msg;
	nla_put_string(msg, LNET_NLA_VALUE, "nids");
	list = nla_nest_start(msg, LNET_NLA_LIST | LNET_NL_NESTED);
	for (; *argv; argv++)
		nla_put_string(msg, LNET_NLA_VALUE, *argv);
	nla_nest_end(msg, list);
	return msg;
}

static bool has_colon(const struct nlmsghdr *h)
{
	const unsigned char *at = NLMSG_DATA(h);
	unsigned int i;

	for (i = 0; i + 4 <= NLMSG_PAYLOAD(h, 0); i++)
		if (isprint(at[i]) && at[i + 1] == ':' && at[i + 2] == ' ' && isprint(at[i + 3]))
			return true;
	return false;
}

/* False: the library would stop reading here. */
static bool datagram_read(const unsigned char *buf, int len)
{
	const struct nlmsghdr *h = (const void *)buf;
	unsigned int values = 0;

	seen.datagrams++;
	if ((unsigned int)len > seen.longest)
		seen.longest = (unsigned int)len;
	for (; NLMSG_OK(h, (unsigned int)len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
			memcpy(&seen.err, NLMSG_DATA(h), sizeof(seen.err));
			seen.ended = true;
		}
		values += h->nlmsg_type >= NLMSG_MIN_TYPE &&
			  !(h->nlmsg_flags & LNET_NL_F_CREATE);
		if (h->nlmsg_type >= NLMSG_MIN_TYPE && has_colon(h))
			return false;
	}
	seen.values += values;
	return values || seen.ended;
}

static int answer_read(int fd)
{
	static unsigned char buf[1 << 18];
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000 };
	struct pollfd more = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (!seen.ended) {
		nanosleep(&pause, NULL);
		n = recv(fd, buf, sizeof(buf), 0);
		if (n < 0)
			return failed("a message was lost", errno);
		if (!datagram_read(buf, (int)n))
			return failed("a datagram without a value, or a text with a colon", 0);
	}
	return poll(&more, 1, AFTER_MS) ? failed("a message behind the end", 0) : 0;
}

int main(int argc, char **argv)
{
	struct nl_sock *sk = nl_socket_alloc();
	int size = BUFFER, rc, family;

	if (argc < 4 || !sk || genl_connect(sk) < 0)
		return 2;
	family = genl_ctrl_resolve(sk, LNET_NL_FAMILY);
	setsockopt(nl_socket_get_fd(sk), SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	if (family < 0 || nl_send_auto(sk, request(family, argv)) < 0)
		return 2;
	rc = answer_read(nl_socket_get_fd(sk));
	printf("%u %u %u %d\n", seen.datagrams, seen.values, seen.longest, seen.err);
	nl_socket_free(sk);
	return rc;
}
