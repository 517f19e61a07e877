/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures the heap memory that an idle connection costs a node in user space, including all memory
 * for the peer of the connection.
 *
 *	idle [NR [LIMIT]]	default: 2000 connections, one peer each; at most 5120 bytes each
 *
 * The heap is measured when all peers have sent HELLO, and again when each has received the replies
 * to two pings. Sizes that were allocated at least once for every second connection are listed.
 * Exit status 0: both results are within the limit.
 */
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <lnet/socklnd.h>
#include "plat.h"
#include "lnet/wire.h"
#include "lnd/socklnd/wire.h"
#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT 10988
#define SIZES 65536
#define HELLO_REPLY 56

static struct lnet_nid node_nid;
static unsigned int nr = 2000, sizes[SIZES];

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(2);
}

/* ---- the peers: a separate process ---- */

static struct lnet_nid peer_nid(unsigned int i)
{
	struct lnet_nid nid = node_nid;

	nid.addr[0] = (__force __be32)htonl(0x7f480001 + i);
	return nid;
}

static void get(int fd, void *buf, size_t len)
{
	must(recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len, "the node's answer");
}

static int greet(unsigned int i)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct lnet_acr acr = { .nid = node_nid, .version = 1 };
	struct lnet_hello h = { .version = 3, .src_pid = 12345, .ctype = LNET_CTYPE_CONTROL,
				.src_nid = peer_nid(i), .dst_nid = node_nid,
				.src_incarnation = 0x600d };
	struct sockaddr_in from = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	u8 buf[LNET_ACR_SIZE_MAX + LNET_HELLO_SIZE_MAX];
	unsigned int len = lnet_acr_encode(buf, &acr);

	len += lnet_hello_encode(buf + len, &h);
	memcpy(&from.sin_addr, h.src_nid.addr, sizeof(from.sin_addr));
	must(fd >= 0 && !bind(fd, (struct sockaddr *)&from, sizeof(from)), "bind");
	must(!connect(fd, (struct sockaddr *)&to, sizeof(to)), "connect");
	must(send(fd, buf, len, 0) == len, "send");
	get(fd, buf, HELLO_REPLY);
	return fd;
}

static void ping(int fd, unsigned int i)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_LNET };
	struct lnet_hdr h = { .dest_nid = node_nid, .src_nid = peer_nid(i), .dest_pid = 12345,
			      .src_pid = 12345, .type = LNET_MSG_GET };
	u8 buf[LNET_KSOCK_SIZE + LNET_HDR_SIZE_MAX + 4096];
	unsigned int len = lnet_ksock_encode(buf, &k, false);

	h.msg.get.return_wmd.cookie[0] = 0x9199;
	h.msg.get.return_wmd.cookie[1] = i;
	h.msg.get.match_bits = LNET_PING_MATCHBITS;
	h.msg.get.sink_length = 272;
	len += lnet_hdr_encode(buf + len, &h, false);
	must(send(fd, buf, len, 0) == len, "send");
	do {
		get(fd, buf, LNET_KSOCK_SIZE + LNET_HDR4_SIZE);
		must(!lnet_hdr_decode(&h, buf + LNET_KSOCK_SIZE, false), "header");
		get(fd, buf, h.payload_len);
	} while (h.type != LNET_MSG_REPLY);
}

static void peers(int say, int hear)
{
	int *fd = calloc(nr, sizeof(*fd));
	unsigned int i;
	char c = 0;

	must(fd, "memory");
	for (i = 0; i < nr; i++)
		fd[i] = greet(i);
	must(write(say, &c, 1) == 1 && read(hear, &c, 1) == 1, "the node");
	/* The node allocates memory for histograms at the first message of a path. */
	for (i = 0; i < 2 * nr; i++)
		ping(fd[i % nr], i % nr);
	must(write(say, &c, 1) == 1, "the node");
	must(read(hear, &c, 1) == 0, "the node");
	_exit(0);
}

/* ---- the node ---- */

static bool tally(size_t size)
{
	sizes[min_t(size_t, size, SIZES - 1)]++;
	return false;
}

static struct lnet *node_start(struct lnet_env **env)
{
	struct lnet_user_env_cfg how = { .mode = LNET_PROGRESS_MANUAL };
	struct lnet_cfg cfg = { 0 };
	struct lnet_ni_cfg ni;
	struct lnet *ln = NULL;
	int rc = lnet_user_env_create(env, &how);

	cfg.env = *env;
	lnet_ni_cfg_init(&ni);
	ni.nid = node_nid;
	if (!rc)
		rc = lnet_create(&ln, &cfg);
	if (!rc)
		rc = lnet_user_env_start(*env, ln);
	if (!rc)
		rc = lnet_lnd_register(ln, &lnet_socklnd_ops);
	if (!rc)
		rc = lnet_tunable_set(ln, "accept", 2);
	if (!rc)
		rc = lnet_tunable_set(ln, "accept_port", PORT);
	if (!rc)
		rc = lnet_ni_add(ln, &ni);
	errno = -rc;
	must(!rc, "the node");
	return ln;
}

static size_t heap(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* The node does not poll @hear, so it is read between calls of lnet_progress(). */
static void await(struct lnet *ln, int hear)
{
	ssize_t n;
	char c;

	for (;;) {
		n = recv(hear, &c, 1, MSG_DONTWAIT);
		if (n == 1)
			return;
		must(n < 0 && errno == EAGAIN, "the peers");
		lnet_progress(ln, 5 * NSEC_PER_MSEC);
	}
}

static bool measure(struct lnet *ln, int hear, const char *what, size_t before, size_t limit)
{
	size_t each;
	unsigned int i;

	await(ln, hear);
	each = (heap() - before) / nr;
	printf("%s: %zu bytes per connection, limit %zu\n", what, each, limit);
	for (i = 0; i < SIZES; i++)
		if (sizes[i] >= nr / 2)
			printf("#   %u bytes: %u.%02u times each\n", i, sizes[i] / nr,
			       sizes[i] * 100 / nr % 100);
	return each <= limit;
}

int main(int argc, char **argv)
{
	size_t limit = argc > 2 ? strtoul(argv[2], NULL, 10) : 5120, before;
	struct rlimit files;
	struct lnet_env *env;
	struct lnet *ln;
	bool good;
	int pair[2];
	pid_t pid;

	if (argc > 1)
		nr = (unsigned int)strtoul(argv[1], NULL, 10);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	must(nr && !lnet_nid_parse(&node_nid, "127.0.0.1@tcp"), "usage");
	must(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	ln = node_start(&env);
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		close(pair[1]);
		peers(pair[0], pair[0]);
	}
	close(pair[0]);
	before = heap();
	plat_alloc_fail = tally;
	good = measure(ln, pair[1], "after HELLO", before, limit);
	must(write(pair[1], "", 1) == 1, "the peers");
	good &= measure(ln, pair[1], "after pings", before, limit);
	plat_alloc_fail = NULL;
	close(pair[1]);
	waitpid(pid, NULL, 0);
	lnet_user_env_stop(env);
	lnet_destroy(ln);
	lnet_user_env_destroy(env);
	return !good;
}
