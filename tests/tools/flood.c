/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps many connections to a node open that never complete a HELLO. A third sends nothing, a third
 * stops in the middle of its HELLO, and a third sends random bytes. If the node closes a
 * connection, flood dials again.
 *
 *	flood ADDRESS PORT NR SECONDS RATE FIRST [ADDRESSES]
 *
 * Opens NR connections from address FIRST and the ADDRESSES - 1 addresses after it, with at most
 * RATE dials per second. Prints "open" when all have been dialled, and a line of counts at the end.
 */
#include "plat.h"
#include "lnd/socklnd/wire.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOISE 40		/* bytes */

static struct sockaddr_in node, first;
static unsigned int nr, rate, nr_addresses = 1;
static struct slot {
	int fd;			/* -1: not open */
	bool up;
} *slots;
static u32 *closed;		/* slots to be dialled: a ring buffer of nr entries */
static u64 closed_from, closed_to;
static u64 nr_dials, nr_ups, nr_ends, nr_fails;
static unsigned int nr_open, most_open;
static int poller;

static u64 clock_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void end_of(unsigned int i)
{
	struct linger l = { .l_onoff = 1 };
	struct slot *s = &slots[i];

	nr_open -= s->up;
	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(s->fd);
	*s = (struct slot){ .fd = -1 };
	closed[closed_to++ % nr] = i;
}

static void dial(unsigned int i)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP, .data.u32 = i };
	struct sockaddr_in from = first;
	struct slot *s = &slots[i];
	int one = 1;

	nr_dials++;
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (s->fd < 0) {
		perror("socket");
		exit(2);
	}
	from.sin_addr.s_addr = htonl(ntohl(first.sin_addr.s_addr) + i % nr_addresses);
	setsockopt(s->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(s->fd, (struct sockaddr *)&from, sizeof(from)) ||
	    (connect(s->fd, (struct sockaddr *)&node, sizeof(node)) && errno != EINPROGRESS)) {
		nr_fails++;
		end_of(i);
		return;
	}
	epoll_ctl(poller, EPOLL_CTL_ADD, s->fd, &ev);
}

/* Sends the first part of a HELLO, or random bytes, or nothing. */
static void speak(unsigned int i)
{
	struct lnet_acr acr = { .version = 1 };
	struct lnet_hello h = { .version = 3, .src_pid = 12345, .ctype = LNET_CTYPE_CONTROL };
	u8 buf[LNET_ACR_SIZE_MAX + LNET_HELLO_SIZE_MAX + NOISE];
	unsigned int len, j;

	if (i % 3 == 0)
		return;
	if (i % 3 == 1) {
		lnet_nid_parse(&acr.nid, "127.0.0.1@tcp");
		h.src_nid = h.dst_nid = acr.nid;
		len = lnet_acr_encode(buf, &acr);
		len += lnet_hello_encode(buf + len, &h) / 2;
	} else {
		len = NOISE;
		for (j = 0; j < len; j++)
			buf[j] = (u8)rand();
	}
	send(slots[i].fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void happened(unsigned int i, u32 events)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP, .data.u32 = i };
	u8 buf[256];

	if (slots[i].fd < 0)
		return;
	if (!slots[i].up && events & EPOLLOUT && !(events & (EPOLLERR | EPOLLHUP))) {
		slots[i].up = true;
		nr_ups++;
		most_open = max(most_open, ++nr_open);
		speak(i);
		epoll_ctl(poller, EPOLL_CTL_MOD, slots[i].fd, &ev);
		return;
	}
	if (recv(slots[i].fd, buf, sizeof(buf), MSG_DONTWAIT) > 0)
		return;
	nr_ends += slots[i].up;
	nr_fails += !slots[i].up;
	end_of(i);
}

static void run(u64 end_us)
{
	u64 begin_us = clock_us(), now_us = begin_us;
	struct epoll_event ev[256];
	bool said = false;
	int i, n;

	while (now_us < end_us) {
		u64 may = (now_us - begin_us) * rate / 1000000;

		while (nr_dials < may && closed_from < closed_to)
			dial(closed[closed_from++ % nr]);
		if (!said && nr_dials >= nr) {
			printf("open\n");
			fflush(stdout);
			said = true;
		}
		n = epoll_wait(poller, ev, ARRAY_SIZE(ev), 2);
		for (i = 0; i < n; i++)
			happened(ev[i].data.u32, ev[i].events);
		now_us = clock_us();
	}
	printf("# flood: %llu dials, %llu connected, %llu ended by the node, %llu failed, %u open "
	       "at the end, %u at most\n",
	       (unsigned long long)nr_dials, (unsigned long long)nr_ups,
	       (unsigned long long)nr_ends, (unsigned long long)nr_fails, nr_open, most_open);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	unsigned int i;

	if (argc < 7)
		return 2;
	nr = (unsigned int)atoi(argv[3]);
	rate = (unsigned int)atoi(argv[5]);
	if (argc > 7)
		nr_addresses = (unsigned int)atoi(argv[7]);
	node.sin_family = first.sin_family = AF_INET;
	node.sin_port = htons((u16)atoi(argv[2]));
	if (inet_pton(AF_INET, argv[1], &node.sin_addr) != 1 ||
	    inet_pton(AF_INET, argv[6], &first.sin_addr) != 1 || !nr || !rate || !nr_addresses)
		return 2;
	files = (struct rlimit){ nr + 64, nr + 64 };
	if (setrlimit(RLIMIT_NOFILE, &files)) {
		perror("RLIMIT_NOFILE");
		return 2;
	}
	slots = calloc(nr, sizeof(*slots));
	closed = calloc(nr, sizeof(*closed));
	poller = epoll_create1(EPOLL_CLOEXEC);
	for (i = 0; i < nr; i++) {
		slots[i].fd = -1;
		closed[i] = i;
	}
	closed_to = nr;
	run(clock_us() + strtoull(argv[4], NULL, 10) * 1000000);
	return 0;
}
