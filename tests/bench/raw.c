/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What plain TCP sockets do on this machine: the yardstick of `make bench'.
 *
 *	raw server ADDRESS PORT
 *	raw rtt|oneway|stream ADDRESS PORT SECONDS
 *
 * rtt: 64 bytes there and back, both sides polling as the library does (nonblocking, yielding,
 * asleep after 100 us of silence); prints microseconds. oneway: writes of 64 messages of 64 bytes
 * each by writev(); prints messages per second. stream: 1 MiB writes from 16 buffers in turn;
 * prints megabytes per second. The server counts what came; a rate is what it has received.
 * Congestion control is reno, as the driver's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SMALL		64
#define BATCH		64
#define LARGE		(1u << 20)
#define BUFFERS		16
#define SPIN_NS		100000ull
#define MAX_RTTS	4000000

static uint8_t *buffers;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void tune(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		die("reno");
}

/* ---- blocking ---------------------------------------------------------------------------- */

static bool read_all(int fd, void *buf, size_t len)
{
	ssize_t n;

	for (; len; buf = (uint8_t *)buf + n, len -= (size_t)n) {
		n = recv(fd, buf, len, MSG_WAITALL);
		if (n <= 0)
			return false;
	}
	return true;
}

static void write_all(int fd, const void *buf, size_t len)
{
	ssize_t n;

	for (; len; buf = (const uint8_t *)buf + n, len -= (size_t)n) {
		n = send(fd, buf, len, MSG_NOSIGNAL);
		if (n < 0)
			die("send");
	}
}

/* ---- adaptive: look, yield, and sleep only after a while --------------------------------- */

static bool read_adaptive(int fd, void *buf, size_t len)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	uint64_t until = 0;
	ssize_t n;

	while (len) {
		n = recv(fd, buf, len, MSG_DONTWAIT);
		if (n > 0) {
			buf = (uint8_t *)buf + n;
			len -= (size_t)n;
			continue;
		}
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
		if (!until)
			until = now() + SPIN_NS;
		if (now() < until)
			sched_yield();
		else
			poll(&poll_fd, 1, -1);
	}
	return true;
}

/* ---- server ------------------------------------------------------------------------------ */

static void serve_rtt(int fd)
{
	uint8_t msg[SMALL];

	while (read_adaptive(fd, msg, sizeof(msg)))
		write_all(fd, msg, sizeof(msg));
}

/* Counts until the other side ends, then says how much it was. */
static void serve_sink(int fd, size_t chunk, int flags)
{
	uint64_t total = 0;
	unsigned int i = 0;
	ssize_t n;

	do {
		n = recv(fd, buffers + (size_t)(i++ % BUFFERS) * LARGE, chunk, flags);
		total += n > 0 ? (uint64_t)n : 0;
	} while (n > 0);
	write_all(fd, &total, sizeof(total));
}

static void serve(int fd)
{
	char what;

	tune(fd);
	if (!read_all(fd, &what, 1))
		return;
	if (what == 'r')
		serve_rtt(fd);
	else if (what == 'o')
		serve_sink(fd, 256u << 10, 0);
	else
		serve_sink(fd, LARGE, MSG_WAITALL);
}

static int server(const struct sockaddr_in *at)
{
	int one = 1, fd, ear = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(ear, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(ear, (const struct sockaddr *)at, sizeof(*at)) || listen(ear, 8))
		die("bind");
	printf("ready\n");
	fflush(stdout);
	while ((fd = accept(ear, NULL, NULL)) >= 0) {
		serve(fd);
		close(fd);
	}
	return 1;
}

/* ---- client ------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double rtt(int fd, uint64_t until)
{
	uint32_t *ns = malloc(MAX_RTTS * sizeof(*ns));
	uint8_t msg[SMALL] = { 0 };
	uint64_t start, end;
	unsigned int nr = 0;
	double median;

	if (!ns)
		die("memory");
	for (end = now(); end < until && nr < MAX_RTTS; nr++) {
		start = end;
		write_all(fd, msg, sizeof(msg));
		if (!read_adaptive(fd, msg, sizeof(msg)))
			die("recv");
		end = now();
		ns[nr] = (uint32_t)(end - start);
	}
	qsort(ns, nr, sizeof(*ns), by_size);
	median = ns[nr / 2] / 1e3;
	free(ns);
	return median;
}

/* What the server received, per second from @start to the time it says so. */
static double finish(int fd, uint64_t start)
{
	uint64_t total;

	shutdown(fd, SHUT_WR);
	if (!read_all(fd, &total, sizeof(total)))
		die("recv");
	return (double)total / ((double)(now() - start) / 1e9);
}

static double oneway(int fd, uint64_t until)
{
	uint64_t start = now();
	struct iovec iov[BATCH];
	unsigned int i;
	ssize_t n;

	for (i = 0; i < BATCH; i++)
		iov[i] = (struct iovec){ buffers + i * SMALL, SMALL };
	while (now() < until) {
		n = writev(fd, iov, BATCH);
		if (n < 0)
			die("writev");
		if (n % SMALL)
			write_all(fd, buffers, (size_t)(SMALL - n % SMALL));
	}
	return finish(fd, start) / SMALL;
}

static double stream(int fd, uint64_t until)
{
	uint64_t start = now();
	unsigned int i = 0;

	while (now() < until)
		write_all(fd, buffers + (size_t)(i++ % BUFFERS) * LARGE, LARGE);
	return finish(fd, start) / 1e6;
}

static int client(const struct sockaddr_in *at, const char *what, double sec)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint64_t until = now() + (uint64_t)(sec * 1e9);

	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)))
		die("connect");
	tune(fd);
	write_all(fd, what, 1);
	if (*what == 'r')
		printf("%.3f\n", rtt(fd, until));
	else if (*what == 'o')
		printf("%.0f\n", oneway(fd, until));
	else
		printf("%.2f\n", stream(fd, until));
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };

	if (argc < 4 || !inet_aton(argv[2], &at.sin_addr) || !strchr("sro", argv[1][0])) {
		fprintf(stderr, "raw server|rtt|oneway|stream ADDRESS PORT [SECONDS]\n");
		return 2;
	}
	at.sin_port = htons((uint16_t)atoi(argv[3]));
	buffers = aligned_alloc(4096, (size_t)BUFFERS * LARGE);
	if (!buffers)
		die("memory");
	memset(buffers, 0x5a, (size_t)BUFFERS * LARGE);
	if (!strcmp(argv[1], "server"))
		return server(&at);
	return client(&at, argv[1], argc > 4 ? atof(argv[4]) : 1);
}
