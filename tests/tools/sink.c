/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A plain TCP server that receives the load of an attack without any LNet code: it reads and
 * discards.
 *
 *	sink PORT
 *
 * The first 16 bytes of a connection are two numbers of 64 bits: how many bytes the client sends,
 * and how many it must receive. The server sends zeros in proportion to the bytes that it has read.
 * It drops bytes that do not fit into the socket because the client does not read.
 */
#include "plat.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (256 * 1024)

struct client {
	int fd;
	u64 got, sent;
	u64 total[2];		/* to receive, to send */
};

static u8 bytes[READ_SIZE];
static const u8 zeros[READ_SIZE];
static int poller;

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void accept_one(int listener)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
	ev.data.ptr = c;
	if (c->fd >= 0 && !epoll_ctl(poller, EPOLL_CTL_ADD, c->fd, &ev))
		return;
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

static void note_totals(struct client *c, size_t n)
{
	u8 *to = (u8 *)c->total;

	if (c->got < sizeof(c->total))
		memcpy(to + c->got, bytes, min_t(size_t, n, sizeof(c->total) - c->got));
	c->got += n;
}

static void answer(struct client *c)
{
	u64 due, n;

	if (c->got < sizeof(c->total) || !c->total[0])
		return;
	due = (u64)((double)min(c->got, c->total[0]) / c->total[0] * c->total[1]);
	while (due > c->sent) {
		n = min_t(u64, due - c->sent, sizeof(zeros));
		c->sent += n;
		if (send(c->fd, zeros, n, MSG_NOSIGNAL) < 0)
			return;
	}
}

static void serve(struct client *c)
{
	ssize_t n = read(c->fd, bytes, sizeof(bytes));

	if (n > 0) {
		note_totals(c, n);
		answer(c);
	} else if (!n || errno != EAGAIN) {
		close(c->fd);
		free(c);
	}
}

static int listen_at(int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 1024))
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	struct epoll_event ev = { .events = EPOLLIN }, came[64];
	struct rlimit files = { 65536, 65536 };
	int listener, i, nr;

	if (argc != 2)
		return fprintf(stderr, "usage: sink PORT\n"), 2;
	setrlimit(RLIMIT_NOFILE, &files);
	listener = listen_at(atoi(argv[1]));
	poller = epoll_create1(0);
	if (listener < 0 || poller < 0 || epoll_ctl(poller, EPOLL_CTL_ADD, listener, &ev))
		return fail("sink");
	puts("ready");
	fflush(stdout);
	for (;;) {
		nr = epoll_wait(poller, came, 64, -1);
		for (i = 0; i < nr; i++) {
			if (came[i].data.ptr)
				serve(came[i].data.ptr);
			else
				accept_one(listener);
		}
	}
}
