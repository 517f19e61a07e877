/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures plain TCP sockets on this machine: the base of the ratios of `make bench'.
 *
 *	raw server ADDRESS PORT [mptcp=yes]
 *	raw rtt|oneway|reqack|stream ADDRESS PORT [SECONDS [NAME=VALUE...]]
 *
 * rtt: round trips of one message; prints the median in microseconds.
 *	wait=adaptive	both sides poll as the library does: they yield, and sleep after 100 us
 *	wait=block	both sides sleep in recv()
 *	wait=spin	both sides only poll
 *	wait=epoll	as adaptive, but on all connections, with epoll
 *	idle=0		number of further connections, which are idle
 * oneway: batch=64 messages per writev(); prints messages received per second.
 * reqack: window=64 requests in flight. The server counts the requests of each read and sends as
 * many replies of 64 bytes in one write. The client sends as many requests as it received replies.
 * Prints requests per second.
 * stream: writes of 1 MiB from buffers=16 in turn, received into as many buffers. The server reads
 * at most 256 KiB at a time, and waits as for rtt. Prints megabytes received per second.
 *
 * All modes take size=BYTES and mptcp=yes. Congestion control is reno, as in the driver.
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
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define SMALL		64u
#define LARGE		(1u << 20)
#define READ		(256u << 10)
#define BUFFERS		16u
#define IDLE		8192u
#define SPIN_NS		100000ull
#define MAX_RTTS	4000000u
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif

enum wait { ADAPTIVE, BLOCK, SPIN, EPOLL };

/* The mode and parameters that the client requests: the first bytes on the connection. */
struct ask {
	uint32_t what;			/* letter of the mode: r, o, a (reqack), s */
	uint32_t size, batch, window, buffers, idle, wait;
};

static uint8_t *buffers;		/* BUFFERS buffers of LARGE bytes */
static bool mptcp;
static int idle_fds[IDLE];
static unsigned int nr_idle;
static int epfd = -1;

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

static uint8_t *buffer(const struct ask *ask, unsigned int i)
{
	return buffers + (size_t)(i % ask->buffers) * LARGE;
}

static int new_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, mptcp ? IPPROTO_MPTCP : 0);

	if (fd < 0)
		die("socket");
	return fd;
}

static void tune(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4))
		die("reno");
}

/* ---- reading and writing ----------------------------------------------------------------- */

static bool read_block(int fd, void *buf, size_t len)
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

/* Reads without waiting. Returns -1 with errno EAGAIN if nothing was received yet. */
static ssize_t look(int fd, void *buf, size_t len, enum wait wait)
{
	struct epoll_event ev;

	if (wait == EPOLL && epoll_wait(epfd, &ev, 1, 0) != 1) {
		errno = EAGAIN;
		return -1;
	}
	return recv(fd, buf, len, MSG_DONTWAIT);
}

static void sleep_for(int fd, enum wait wait)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	struct epoll_event ev;

	if (wait == EPOLL)
		epoll_wait(epfd, &ev, 1, -1);
	else
		poll(&poll_fd, 1, -1);
}

/* Reads at least one byte, waiting as @wait requires; 0: end of the stream, or an error. */
static size_t read_some(int fd, void *buf, size_t len, enum wait wait)
{
	uint64_t until = 0;
	ssize_t n;

	if (wait == BLOCK) {
		n = recv(fd, buf, len, 0);
		return n > 0 ? (size_t)n : 0;
	}
	while ((n = look(fd, buf, len, wait)) < 0 && (errno == EAGAIN || errno == EINTR)) {
		if (wait == SPIN)
			continue;
		if (!until)
			until = now() + SPIN_NS;
		if (now() < until)
			sched_yield();
		else
			sleep_for(fd, wait);
	}
	return n > 0 ? (size_t)n : 0;
}

static bool read_all(int fd, void *buf, size_t len, enum wait wait)
{
	size_t n;

	for (; len; buf = (uint8_t *)buf + n, len -= n) {
		n = read_some(fd, buf, len, wait);
		if (!n)
			return false;
	}
	return true;
}

/* ---- idle connections -------------------------------------------------------------------- */

static void watch(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &ev))
		die("epoll_ctl");
}

/* @next_fd(@arg) connects or accepts one connection. */
static void idle_open(const struct ask *ask, int fd, int (*next_fd)(const void *arg),
		      const void *arg)
{
	epfd = epoll_create1(0);
	if (epfd < 0)
		die("epoll_create1");
	watch(fd);
	for (nr_idle = 0; nr_idle < ask->idle && nr_idle < IDLE; nr_idle++) {
		idle_fds[nr_idle] = next_fd(arg);
		if (idle_fds[nr_idle] < 0)
			die("idle connection");
		watch(idle_fds[nr_idle]);
	}
}

static void idle_close(void)
{
	while (nr_idle)
		close(idle_fds[--nr_idle]);
	close(epfd);
}

static void files_allow(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- server ------------------------------------------------------------------------------ */

static void serve_rtt(int fd, const struct ask *ask)
{
	while (read_all(fd, buffers, ask->size, (enum wait)ask->wait))
		write_all(fd, buffers, ask->size);
}

/* Counts the received bytes until the client shuts down, then sends the client the number. */
static void serve_sink(int fd)
{
	uint64_t total = 0;
	ssize_t n;

	do {
		n = recv(fd, buffers, READ, 0);
		total += n > 0 ? (uint64_t)n : 0;
	} while (n > 0);
	write_all(fd, &total, sizeof(total));
}

/*
 * As serve_sink(), but each message is received into the next buffer. A read for a whole message
 * would sleep too often.
 */
static void serve_stream(int fd, const struct ask *ask)
{
	uint64_t total = 0;
	unsigned int i = 0;
	size_t n, at = 0;

	do {
		n = ask->size - at < READ ? ask->size - at : READ;
		n = read_some(fd, buffer(ask, i) + at, n, (enum wait)ask->wait);
		total += n;
		at += n;
		if (at == ask->size) {
			at = 0;
			i++;
		}
	} while (n);
	write_all(fd, &total, sizeof(total));
}

static void serve_reqack(int fd, const struct ask *ask)
{
	static uint8_t answers[READ];
	uint64_t total = 0, answered = 0, nr;
	bool large = ask->size > READ;
	unsigned int i = 0;
	size_t n;

	while ((n = read_some(fd, buffer(ask, large ? i++ : 0), large ? LARGE : READ,
			      (enum wait)ask->wait))) {
		total += n;
		nr = total / ask->size - answered;
		write_all(fd, answers, nr * SMALL);
		answered += nr;
	}
}

static int accept_one(const void *ear)
{
	return accept(*(const int *)ear, NULL, NULL);
}

static void serve(int fd, int ear)
{
	struct ask ask;

	tune(fd);
	if (!read_block(fd, &ask, sizeof(ask)))
		return;
	idle_open(&ask, fd, accept_one, &ear);
	write_all(fd, "", 1);
	if (ask.what == 'r')
		serve_rtt(fd, &ask);
	else if (ask.what == 'o')
		serve_sink(fd);
	else if (ask.what == 's')
		serve_stream(fd, &ask);
	else
		serve_reqack(fd, &ask);
	idle_close();
}

static int server(struct sockaddr_in at)
{
	int one = 1, fd, ear = new_socket();

	/* The client opens further subflows to the other addresses. */
	if (mptcp)
		at.sin_addr.s_addr = INADDR_ANY;
	setsockopt(ear, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(ear, (const struct sockaddr *)&at, sizeof(at)) || listen(ear, 1024))
		die("bind");
	printf("ready\n");
	fflush(stdout);
	while ((fd = accept(ear, NULL, NULL)) >= 0) {
		serve(fd, ear);
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

static double rtt(int fd, const struct ask *ask, uint64_t until)
{
	uint32_t *ns = malloc(MAX_RTTS * sizeof(*ns));
	uint64_t start, end;
	unsigned int nr = 0;
	double median;

	if (!ns)
		die("memory");
	for (end = now(); end < until && nr < MAX_RTTS; nr++) {
		start = end;
		write_all(fd, buffers, ask->size);
		if (!read_all(fd, buffers, ask->size, (enum wait)ask->wait))
			die("recv");
		end = now();
		ns[nr] = (uint32_t)(end - start);
	}
	qsort(ns, nr, sizeof(*ns), by_size);
	median = ns[nr / 2] / 1e3;
	free(ns);
	return median;
}

/* Bytes per second that the server received, from @start until its report is received. */
static double finish(int fd, uint64_t start)
{
	uint64_t total;

	shutdown(fd, SHUT_WR);
	if (!read_block(fd, &total, sizeof(total)))
		die("recv");
	return (double)total / ((double)(now() - start) / 1e9);
}

static double oneway(int fd, const struct ask *ask, uint64_t until)
{
	uint64_t start = now();
	struct iovec iov[1024];
	unsigned int i;
	size_t rest;
	ssize_t n;

	for (i = 0; i < ask->batch; i++)
		iov[i] = (struct iovec){ buffers + i * ask->size, ask->size };
	while (now() < until) {
		n = writev(fd, iov, (int)ask->batch);
		if (n < 0)
			die("writev");
		rest = (size_t)n % ask->size;
		if (rest)
			write_all(fd, buffers, ask->size - rest);
	}
	return finish(fd, start) / ask->size;
}

static void requests_send(int fd, const struct ask *ask, unsigned int nr, unsigned int *turn)
{
	unsigned int at_once = LARGE / ask->size, now_nr;

	for (; nr; nr -= now_nr) {
		now_nr = nr < at_once ? nr : at_once;
		write_all(fd, buffer(ask, (*turn)++), (size_t)now_nr * ask->size);
	}
}

static double reqack(int fd, const struct ask *ask, uint64_t until)
{
	uint64_t start = now(), bytes = 0, done = 0, sent = ask->window;
	static uint8_t answers[READ];
	unsigned int turn = 0, nr;
	size_t n;

	requests_send(fd, ask, ask->window, &turn);
	while (done < sent) {
		n = read_some(fd, answers, sizeof(answers), (enum wait)ask->wait);
		if (!n)
			die("recv");
		bytes += n;
		nr = (unsigned int)(bytes / SMALL - done);
		done += nr;
		if (now() >= until)
			continue;
		requests_send(fd, ask, nr, &turn);
		sent += nr;
	}
	return (double)done / ((double)(now() - start) / 1e9);
}

static double stream(int fd, const struct ask *ask, uint64_t until)
{
	uint64_t start = now();
	unsigned int i = 0;

	while (now() < until)
		write_all(fd, buffer(ask, i++), ask->size);
	return finish(fd, start) / 1e6;
}

static int dial(const void *at)
{
	int fd = new_socket();

	if (connect(fd, at, sizeof(struct sockaddr_in)))
		die("connect");
	return fd;
}

static int client(const struct sockaddr_in *at, const struct ask *ask, double sec)
{
	int fd = dial(at);
	uint64_t until;
	char ready;

	tune(fd);
	write_all(fd, ask, sizeof(*ask));
	idle_open(ask, fd, dial, at);
	if (!read_block(fd, &ready, 1))
		die("server");
	until = now() + (uint64_t)(sec * 1e9);
	if (ask->what == 'r')
		printf("%.3f\n", rtt(fd, ask, until));
	else if (ask->what == 'o')
		printf("%.0f\n", oneway(fd, ask, until));
	else if (ask->what == 'a')
		printf("%.0f\n", reqack(fd, ask, until));
	else
		printf("%.2f\n", stream(fd, ask, until));
	idle_close();
	close(fd);
	return 0;
}

/* ---- options ----------------------------------------------------------------------------- */

static bool wait_parse(struct ask *ask, const char *value)
{
	static const char *const names[] = { "adaptive", "block", "spin", "epoll" };

	for (ask->wait = 0; ask->wait < 4; ask->wait++)
		if (!strcmp(value, names[ask->wait]))
			return true;
	return false;
}

static bool option(struct ask *ask, const char *text)
{
	const struct { const char *name; uint32_t *value, max; } numbers[] = {
		{ "size=", &ask->size, LARGE }, { "batch=", &ask->batch, 1024 },
		{ "window=", &ask->window, 1024 }, { "buffers=", &ask->buffers, BUFFERS },
		{ "idle=", &ask->idle, IDLE },
	};
	unsigned int i;

	if (!strncmp(text, "wait=", 5))
		return wait_parse(ask, text + 5);
	if (!strcmp(text, "mptcp=yes"))
		return mptcp = true;
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		size_t len = strlen(numbers[i].name);

		if (strncmp(text, numbers[i].name, len))
			continue;
		*numbers[i].value = (uint32_t)atoi(text + len);
		return *numbers[i].value && *numbers[i].value <= numbers[i].max;
	}
	return false;
}

static int mode(const char *name)
{
	static const char *const names[] = { "server", "rtt", "oneway", "reqack", "stream" };

	for (int i = 0; i < 5; i++)
		if (!strcmp(name, names[i]))
			return "vroas"[i];
	return 0;
}

int main(int argc, char **argv)
{
	struct ask ask = { .size = SMALL, .batch = 64, .window = 64, .buffers = 16 };
	struct sockaddr_in at = { .sin_family = AF_INET };
	double sec = 1;
	int i = 4;

	ask.what = argc < 4 ? 0 : (uint32_t)mode(argv[1]);
	if (ask.what == 's')
		ask.size = LARGE;
	if (argc > i && !strchr(argv[i], '='))
		sec = atof(argv[i++]);
	while (ask.what && i < argc && option(&ask, argv[i]))
		i++;
	if (!ask.what || i < argc || !inet_aton(argv[2], &at.sin_addr)) {
		fprintf(stderr, "raw server ADDRESS PORT [mptcp=yes]\n"
				"raw rtt|oneway|reqack|stream ADDRESS PORT [SECONDS] [size=N] "
				"[wait=adaptive|block|spin|epoll] [batch=N] [window=N] [buffers=N] "
				"[idle=N] [mptcp=yes]\n");
		return 2;
	}
	at.sin_port = htons((uint16_t)atoi(argv[3]));
	buffers = aligned_alloc(4096, (size_t)BUFFERS * LARGE);
	if (!buffers)
		die("memory");
	memset(buffers, 0x5a, (size_t)BUFFERS * LARGE);
	files_allow();
	return ask.what == 'v' ? server(at) : client(&at, &ask, sec);
}
