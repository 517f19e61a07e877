/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nlreplay [-n NAME] CAPTURE.pcap...: sends the stock tool's requests, byte for byte, to the
 * kernel's LNet or to the user's node NAME. The answers are compared with the stock node's: flags,
 * headers, number and lengths of values, the end, and key tables byte for byte. Interfaces and
 * addresses must be those of the captures.
 *
 * Prints the differences. Exit 0: there are none.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "uapi/lnet_nl.h"

#define MESSAGES_MAX 64

static unsigned char file[1 << 20];
static struct nl_sock *sk;
static int family, failures;
static uint32_t port;		/* of the node; 0: the kernel */
static const char *name;

/* An answer: its messages, which are stored in @room. */
struct answer {
	const struct nlmsghdr *msg[MESSAGES_MAX];
	unsigned int nr;
	unsigned char room[1 << 18];
	size_t len;
};

static void differ(const char *what, long got, long want)
{
	printf("# %s: %s: got %ld, want %ld\n", name, what, got, want);
	failures++;
}

static void same(const char *what, long got, long want)
{
	if (got != want)
		differ(what, got, want);
}

static bool is_end(const struct nlmsghdr *h)
{
	return h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE;
}

/* Collects messages of a datagram with sequence @seq. True: the answer is complete. */
static bool collect(struct answer *a, const unsigned char *data, size_t len, uint32_t seq)
{
	const struct nlmsghdr *h;
	int rest = (int)len;
	bool end = false;

	if (len > sizeof(a->room) - a->len)
		exit(2);
	memcpy(a->room + a->len, data, len);
	h = (const void *)(a->room + a->len);
	a->len += NLMSG_ALIGN(len);
	for (; NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest)) {
		if (h->nlmsg_seq != seq || h->nlmsg_type == NLMSG_NOOP || a->nr == MESSAGES_MAX)
			continue;
		a->msg[a->nr++] = h;
		end |= is_end(h);
	}
	return end;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void ask(const struct nlmsghdr *req, struct answer *a)
{
	static unsigned char buf[1 << 17];
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_pid = port };
	struct nlmsghdr *h = (void *)buf;
	int fd = nl_socket_get_fd(sk);
	ssize_t n;

	memcpy(buf, req, req->nlmsg_len);
	h->nlmsg_type = (uint16_t)family;
	h->nlmsg_pid = nl_socket_get_local_port(sk);
	sendto(fd, buf, req->nlmsg_len, 0, (void *)&to, sizeof(to));
	a->nr = 0;
	a->len = 0;
	do {
		n = recv(fd, buf, sizeof(buf), 0);
	} while (n > 0 && !collect(a, buf, (size_t)n, req->nlmsg_seq));
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool is_data(const struct nlmsghdr *h)
{
	return h->nlmsg_type >= NLMSG_MIN_TYPE;
}

static const struct nlmsghdr *data_of(const struct answer *a, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < a->nr; i++)
		if (is_data(a->msg[i]) && !nth--)
			return a->msg[i];
	return NULL;
}

static void compare_end(const struct nlmsghdr *ours, const struct nlmsghdr *theirs)
{
	int err[2];

	same("the last message's type", ours->nlmsg_type, theirs->nlmsg_type);
	same("its flags", ours->nlmsg_flags, theirs->nlmsg_flags);
	memcpy(&err[0], NLMSG_DATA(ours), sizeof(err[0]));
	memcpy(&err[1], NLMSG_DATA(theirs), sizeof(err[1]));
	same("its errno", err[0], err[1]);
}

static void compare_data(const struct nlmsghdr *ours, const struct nlmsghdr *theirs)
{
	const struct genlmsghdr *mine = NLMSG_DATA(ours), *stock = NLMSG_DATA(theirs);

	same("flags", ours->nlmsg_flags, theirs->nlmsg_flags);
	same("command", mine->cmd, stock->cmd);
	same("version", mine->version, stock->version);
	same("length", ours->nlmsg_len, theirs->nlmsg_len);
	if ((theirs->nlmsg_flags & LNET_NL_F_CREATE) && ours->nlmsg_len == theirs->nlmsg_len &&
	    memcmp(mine, stock, theirs->nlmsg_len - NLMSG_HDRLEN))
		differ("a table", 1, 0);
}

static void compare(const struct answer *ours, const struct answer *theirs)
{
	const struct nlmsghdr *mine, *stock;
	unsigned int i;

	if (!ours->nr || !theirs->nr) {
		differ("messages", ours->nr, theirs->nr);
		return;
	}
	compare_end(ours->msg[ours->nr - 1], theirs->msg[theirs->nr - 1]);
	for (i = 0; (mine = data_of(ours, i), stock = data_of(theirs, i), mine && stock); i++)
		compare_data(mine, stock);
	if (mine || stock)
		differ("as many messages", !!mine, !!stock);
}

/* ---- captures -------------------------------------------------------------------------------- */

/* Returns the netlink message of the record at @at and its length, or NULL; advances @at. */
static const struct nlmsghdr *record(size_t *at, size_t size, size_t *len)
{
	const unsigned char *rec = file + *at + 16;
	uint32_t caplen;

	memcpy(&caplen, file + *at + 8, sizeof(caplen));
	*at += 16 + caplen;
	if (*at > size || caplen < 32 || rec[15] != NETLINK_GENERIC)
		return NULL;
	*len = caplen - 16;
	return (const void *)(rec + 16);
}

/* Collects the captured answer to the request before @at. */
static void captured_answer(struct answer *a, size_t at, size_t size, uint32_t seq)
{
	a->nr = 0;
	a->len = 0;
	while (at + 16 < size) {
		size_t len;
		const struct nlmsghdr *h = record(&at, size, &len);

		if (h && h->nlmsg_type != GENL_ID_CTRL &&
		    collect(a, (const void *)h, len, seq))
			return;
	}
}

static void replay(size_t size)
{
	static struct answer ours, theirs;
	size_t at = 24, len;

	while (at + 16 < size) {
		const struct nlmsghdr *h = record(&at, size, &len);

		if (!h || h->nlmsg_type <= GENL_ID_CTRL || !(h->nlmsg_flags & NLM_F_REQUEST))
			continue;
		captured_answer(&theirs, at, size, h->nlmsg_seq);
		ask(h, &ours);
		compare(&ours, &theirs);
	}
}

/* Opens the kernel's node if @node is NULL. */
static int open_node(const char *node)
{
	int one = 1;

	sk = nl_socket_alloc();
	if (!sk || nl_connect(sk, node ? NETLINK_USERSOCK : NETLINK_GENERIC) < 0)
		return -1;
	nl_socket_set_buffer_size(sk, 1 << 20, 0);
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one));
	port = node ? lnet_nl_user_port(node, getuid()) : 0;
	family = node ? LNET_NL_USER_TYPE : genl_ctrl_resolve(sk, LNET_NL_FAMILY);
	return family;
}

int main(int argc, char **argv)
{
	bool named = argc > 2 && !strcmp(argv[1], "-n");
	int i;

	if (argc < (named ? 4 : 2) || open_node(named ? argv[2] : NULL) < 0) {
		fprintf(stderr, "nlreplay [-n NAME] CAPTURE.pcap..., and there is LNet\n");
		return 2;
	}
	for (i = named ? 3 : 1; i < argc; i++) {
		FILE *in = fopen(argv[i], "re");

		name = argv[i];
		if (!in) {
			perror(name);
			return 2;
		}
		replay(fread(file, 1, sizeof(file), in));
		fclose(in);
	}
	return failures ? 1 : 0;
}
