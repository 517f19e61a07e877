/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * nlfuzz SEED SECONDS [FILE]: sends random requests to the kernel's LNet over generic netlink. The
 * kernel must not crash.
 *
 * Some requests are built from keys, numbers and lists of real requests. Others are real requests
 * that nlrecord wrote to FILE, with some attributes lost, duplicated, exchanged or nested in lists.
 * Half of all requests are then damaged. Most answers are not read. Exit 0: the node still answers.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "tests/tools/draw.h"
#include "uapi/lnet_nl.h"

#define SIZE	8192

/* ---- a request ------------------------------------------------------------------------------- */

static const char *const words[] = {
	"net type", "local NI(s)", "interfaces", "nid", "nids", "tunables", "lnd tunables", "CPT",
	"peer_credits", "credits", "peer_timeout", "peer_buffer_credits", "conns_per_peer", "tos",
	"health stats", "health value", "fatal_error", "primary nid", "Multi-Rail", "peer ni",
	"peer state", "rule_type", "fa_src", "fa_dst", "fa_local_nid", "fa_ptl_mask", "fa_msg_mask",
	"da_rate", "da_interval", "da_health_error_mask", "da_random", "da_drop_all", "la_rate",
	"la_interval", "la_latency", "queue_type", "timeout", "source", "net", "gateway", "hop",
	"priority", "ip2net", "retry_count", "transaction_timeout", "window", "discovery", "accept",
	"default", "tcp", "tcp1", "lo", "o2ib", "<255:65535>", "<?>", "*@tcp", "0@lo", "rail0",
	"rail1", "10.5.0.1@tcp", "10.6.0.1@tcp1", "10.5.0.2@tcp", "fd00::1@tcp", "nothing", "",
	"...\n", "-1", "0", "1", "5", "100", "65536", "0.3", "99999999999999999999",
	"10.5.0.2@tcp,10.5.0.3@tcp", " tcp ",
};

struct request {
	uint8_t buf[SIZE];
	uint32_t len;
	uint16_t flags;			/* of the netlink header; the next two of the generic one */
	uint8_t cmd, version;
};

static uint32_t attr_begin(struct request *r, uint16_t type)
{
	struct nlattr a = { .nla_len = sizeof(a), .nla_type = type };
	uint32_t at = r->len;

	memcpy(r->buf + r->len, &a, sizeof(a));
	r->len += sizeof(a);
	return at;
}

static void attr_end(struct request *r, uint32_t at)
{
	uint16_t len = (uint16_t)(r->len - at);

	memcpy(r->buf + at, &len, sizeof(len));
	while (r->len & 3)
		r->buf[r->len++] = 0;
}

static void put_word(struct request *r)
{
	const char *word = words[draw(sizeof(words) / sizeof(words[0]))];
	uint32_t at = attr_begin(r, LNET_NLA_VALUE);

	memcpy(r->buf + r->len, word, strlen(word) + 1);
	r->len += (uint32_t)strlen(word) + 1;
	attr_end(r, at);
}

static void put_number(struct request *r)
{
	static const int64_t nice[] = { 0, 1, -1, 5, 16, 255, 1000, 65536, 1ll << 31, INT64_MIN };
	int64_t num = draw(4) ? nice[draw(10)] : (int64_t)state;
	uint32_t at = attr_begin(r, LNET_NLA_INT_VALUE);

	memcpy(r->buf + r->len, &num, sizeof(num));
	r->len += sizeof(num);
	attr_end(r, at);
}

static void put_list(struct request *r, unsigned int depth);

static void put_some(struct request *r, unsigned int depth)
{
	unsigned int nr = draw(7);

	while (nr-- && r->len < SIZE / 2) {
		unsigned int what = draw(8);

		if (what < 4)
			put_word(r);
		else if (what < 6)
			put_number(r);
		else if (depth < 10)
			put_list(r, depth + 1);
	}
}

static void put_list(struct request *r, unsigned int depth)
{
	uint32_t at = attr_begin(r, LNET_NLA_LIST | (draw(9) ? NLA_F_NESTED : 0));

	put_some(r, depth);
	attr_end(r, at);
}

/* ---- real requests --------------------------------------------------------------------------- */

#define RECORDS 1024
#define DEEPEST 400
#define ROOM	(SIZE / 2)

static uint8_t records[1 << 18];
static const struct nlmsghdr *record[RECORDS];
static unsigned int nr_records;

static void records_load(const char *path)
{
	FILE *file = fopen(path, "re");
	int rest = file ? (int)fread(records, 1, sizeof(records), file) : 0;
	const struct nlmsghdr *h = (const void *)records;

	for (; NLMSG_OK(h, (unsigned int)rest) && nr_records < RECORDS; h = NLMSG_NEXT(h, rest))
		if (h->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN) && h->nlmsg_len < ROOM)
			record[nr_records++] = h;
	if (!nr_records) {
		fprintf(stderr, "nlfuzz: no requests in %s\n", path);
		exit(2);
	}
	fclose(file);
}

static const uint8_t *attrs_of(const struct nlmsghdr *h)
{
	return (const uint8_t *)NLMSG_DATA(h) + GENL_HDRLEN;
}

static uint32_t attrs_len(const struct nlmsghdr *h)
{
	return h->nlmsg_len - (uint32_t)NLMSG_LENGTH(GENL_HDRLEN);
}

static struct nlattr head(const uint8_t *attr)
{
	struct nlattr a;

	memcpy(&a, attr, sizeof(a));
	return a;
}

static bool attr_fits(const uint8_t *at, uint32_t len)
{
	return len >= sizeof(struct nlattr) && head(at).nla_len >= sizeof(struct nlattr) &&
	       head(at).nla_len <= len;
}

static void put_raw(struct request *r, const uint8_t *attr)
{
	struct nlattr a = head(attr);
	uint32_t at;

	if (r->len + a.nla_len > ROOM)
		return;
	at = attr_begin(r, a.nla_type);
	memcpy(r->buf + r->len, attr + sizeof(a), a.nla_len - sizeof(a));
	r->len += a.nla_len - (uint32_t)sizeof(a);
	attr_end(r, at);
}

static void bury(struct request *r, const uint8_t *attr, unsigned int depth)
{
	uint32_t at = attr_begin(r, LNET_NLA_LIST | NLA_F_NESTED);

	if (depth && r->len < ROOM)
		bury(r, attr, depth - 1);
	else
		put_raw(r, attr);
	attr_end(r, at);
}

/* Puts something in place of @attr. */
static void put_other(struct request *r, const uint8_t *attr)
{
	const struct nlmsghdr *h = record[draw(nr_records)];
	uint32_t at;

	switch (draw(8)) {
	case 0:
		return;
	case 1:
		put_raw(r, attr);
		put_raw(r, attr);
		return;
	case 2:
		put_number(r);
		return;
	case 3:
		put_list(r, 5);
		return;
	case 4:
		bury(r, attr, draw(draw(4) ? 12 : DEEPEST));
		return;
	case 5:
		if (attr_fits(attrs_of(h), attrs_len(h)))
			put_raw(r, attrs_of(h));
		return;
	case 6:
		at = r->len;
		put_raw(r, attr);
		if (r->len > at)
			r->buf[at + 2] = (uint8_t)draw(16);
		return;
	default:
		put_word(r);
	}
}

/* Puts the attributes at @at; one in @odds is replaced. */
static void put_mutated(struct request *r, const uint8_t *at, uint32_t len, unsigned int odds)
{
	while (attr_fits(at, len) && r->len < ROOM) {
		struct nlattr a = head(at);
		uint32_t step = NLA_ALIGN((uint32_t)a.nla_len), list;

		if (!draw(odds)) {
			put_other(r, at);
		} else if ((a.nla_type & NLA_TYPE_MASK) == LNET_NLA_LIST) {
			list = attr_begin(r, a.nla_type);
			put_mutated(r, at + sizeof(a), a.nla_len - (uint32_t)sizeof(a), odds);
			attr_end(r, list);
		} else {
			put_raw(r, at);
		}
		if (step >= len)
			return;
		at += step;
		len -= step;
	}
}

static void make_real(struct request *r)
{
	const struct nlmsghdr *h = record[draw(nr_records)];
	const struct genlmsghdr *g = NLMSG_DATA(h);

	r->len = 0;
	r->cmd = g->cmd;
	r->version = g->version;
	r->flags = h->nlmsg_flags;
	put_mutated(r, attrs_of(h), attrs_len(h), 4 + draw(30));
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Changes bytes, or cuts off the end. */
static void spoil(struct request *r)
{
	unsigned int nr = draw(6);

	while (nr-- && r->len)
		r->buf[draw(r->len)] = (uint8_t)draw(256);
	if (!draw(4))
		r->len -= draw(r->len + 1);
}

static const uint8_t commands[] = { 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10, 11, 12, 12, 13,
				    14, 15, 16, 64, 64, 65, 66 };
static const uint16_t flags[] = { 0, 0x300, 0x300, 0x320, 0x400, 0x400, 0x600, 0x100, 0x200,
				  0x800, 0xffff };

/* Mostly as real commands begin: a list of lists, or pairs. */
static void make_up(struct request *r)
{
	uint32_t outer;

	r->len = 0;
	r->flags = flags[draw(sizeof(flags) / sizeof(flags[0]))];
	r->cmd = commands[draw(sizeof(commands))];
	r->version = (uint8_t)(draw(8) ? draw(7) : draw(256));
	if (draw(3)) {
		outer = attr_begin(r, LNET_NLA_LIST | NLA_F_NESTED);
		put_list(r, 1);
		attr_end(r, outer);
	} else {
		put_some(r, 0);
	}
}

static void make(struct request *r)
{
	if (nr_records && draw(3))
		make_real(r);
	else
		make_up(r);
	if (!draw(50))
		r->cmd = (uint8_t)draw(256);
	if (!draw(20))
		r->flags = (uint16_t)draw(65536);
	if (draw(2))
		spoil(r);
}

/* ---- the node -------------------------------------------------------------------------------- */

static int send_one(struct nl_sock *sk, int family, const struct request *r)
{
	struct {
		struct nlmsghdr h;
		struct genlmsghdr g;
		uint8_t body[SIZE];
	} msg = { .h = { .nlmsg_type = (uint16_t)family, .nlmsg_seq = 1 } };
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	uint32_t sent;

	msg.h.nlmsg_len = (uint32_t)(NLMSG_LENGTH(GENL_HDRLEN) + r->len);
	msg.h.nlmsg_flags = NLM_F_REQUEST | (draw(2) ? NLM_F_ACK : 0) | r->flags;
	msg.g.cmd = r->cmd;
	msg.g.version = r->version;
	memcpy(msg.body, r->buf, r->len);
	sent = msg.h.nlmsg_len;
	/* a length above or below the real one */
	if (!draw(30))
		msg.h.nlmsg_len = draw(2 * msg.h.nlmsg_len);
	return (int)sendto(nl_socket_get_fd(sk), &msg, sent, MSG_DONTWAIT, (void *)&to, sizeof(to));
}

/* Reads some answers, some of them only in part; most are dropped with the socket. */
static void read_some(struct nl_sock *sk)
{
	unsigned int nr = draw(4) ? 0 : draw(12);
	uint8_t buf[4096];

	while (nr-- && recv(nl_socket_get_fd(sk), buf, 1 + draw(sizeof(buf)), MSG_DONTWAIT) > 0)
		;
}

static struct nl_sock *open_node(int *family)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (!sk || genl_connect(sk) < 0)
		exit(2);
	*family = genl_ctrl_resolve(sk, LNET_NL_FAMILY);
	if (*family < 0) {
		fprintf(stderr, "nlfuzz: the kernel has no LNet\n");
		exit(2);
	}
	return sk;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 10);
	unsigned long sent = 0;
	struct request r;
	int family;

	state = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) * 0x9e3779b97f4a7c15ull | 1;
	if (argc > 3)
		records_load(argv[3]);
	while (time(NULL) < end) {
		struct nl_sock *sk = open_node(&family);
		unsigned int nr = 1 + draw(100);

		for (; nr-- && time(NULL) < end; sent++) {
			make(&r);
			send_one(sk, family, &r);
			read_some(sk);
		}
		nl_socket_free(sk);
	}
	nl_socket_free(open_node(&family));
	printf("%lu requests\n", sent);
	return 0;
}
