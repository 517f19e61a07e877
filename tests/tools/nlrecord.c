/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nlrecord NAME FILE: a node for lnetctl that reports success for every request and writes the
 * requests to FILE, until it is killed.
 *
 * The file has the messages as they were sent, each aligned to 4 bytes; nlfuzz reads it. A line on
 * stdout reports that the node listens.
 */
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "uapi/lnet_nl.h"

static char buf[65536];

static int listen_as(const char *name)
{
	struct sockaddr_nl at = { .nl_family = AF_NETLINK,
				  .nl_pid = lnet_nl_user_port(name, getuid()) };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);

	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) < 0) {
		perror("nlrecord");
		return -1;
	}
	puts("listening");
	fflush(stdout);
	return fd;
}

/* Answers a dump with an empty one, and any other request with success. */
static void answer(int fd, const struct nlmsghdr *h, const struct sockaddr_nl *to)
{
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} yes = { .h = { .nlmsg_len = sizeof(yes), .nlmsg_type = NLMSG_ERROR,
			 .nlmsg_seq = h->nlmsg_seq } };

	yes.e.msg = *h;
	if ((h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		yes.h.nlmsg_type = NLMSG_DONE;
		yes.h.nlmsg_len = NLMSG_LENGTH(sizeof(int));
		yes.h.nlmsg_flags = NLM_F_MULTI;
	}
	sendto(fd, &yes, yes.h.nlmsg_len, 0, (const void *)to, sizeof(*to));
}

int main(int argc, char **argv)
{
	FILE *file = argc == 3 ? fopen(argv[2], "we") : NULL;
	int fd = file ? listen_as(argv[1]) : -1;

	while (fd >= 0) {
		struct sockaddr_nl from;
		socklen_t from_len = sizeof(from);
		const struct nlmsghdr *h = (const void *)buf;
		ssize_t n;

		memset(buf, 0, sizeof(buf));
		n = recvfrom(fd, buf, sizeof(buf) - NLMSG_ALIGNTO, 0, (void *)&from, &from_len);
		if (n < (ssize_t)sizeof(*h) || h->nlmsg_type == NLMSG_NOOP)
			continue;
		fwrite(buf, NLMSG_ALIGN((size_t)n), 1, file);
		fflush(file);
		answer(fd, h, &from);
	}
	return 1;
}
