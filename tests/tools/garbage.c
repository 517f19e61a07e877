/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sends invalid data to a live node: garbage, truncated and hostile frames, floods, and messages
 * that never end.
 *
 *	garbage ADDRESS PORT MODE [COUNT]	modes: see the table at the end
 *
 * Exit status 0: the node handled all of it as manual/internals/wire.md defines. The NID of the
 * node must be ADDRESS@tcp.
 */
#include "plat.h"
#include "lnet/wire.h"
#include "lnd/socklnd/wire.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REPLY_MS 3000
#define FLOOD_SECONDS 15
#define ALIVE_TRIES 8
#define FRAME_MAX (LNET_KSOCK_SIZE + LNET_HDR_SIZE_MAX)

static struct sockaddr_in node;
static struct lnet_nid node_nid, own_nid;
static int bad;
static u64 seed = 88172645463325252ULL;

static u64 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static s64 clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static void judge(const char *what, bool good)
{
	if (good)
		return;
	printf("# %s: not as it should be\n", what);
	bad++;
}

/* ---- connections ---- */

/* The source address is that of the NID in the HELLO. */
static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	struct sockaddr_in from = { .sin_family = AF_INET };

	memcpy(&from.sin_addr, own_nid.addr, sizeof(from.sin_addr));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(fd, (struct sockaddr *)&node, sizeof(node))) {
		perror("connect");
		exit(2);
	}
	return fd;
}

static void put(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) < 0)
		return;		/* closed: the next read notices it */
}

static unsigned int greeting(u8 *buf, const struct lnet_hello *h)
{
	struct lnet_acr acr = { .nid = node_nid, .version = 1 };
	unsigned int len = lnet_acr_encode(buf, &acr);

	return len + lnet_hello_encode(buf + len, h);
}

static struct lnet_hello good_hello(void)
{
	return (struct lnet_hello){ .version = 3, .src_pid = 12345, .ctype = LNET_CTYPE_CONTROL,
				    .src_nid = own_nid, .dst_nid = node_nid,
				    .src_incarnation = 0x600d };
}

/* Reads @len bytes until @end_ms. 0: connection closed; -1: timeout. */
static int get(int fd, void *buf, size_t len, s64 end_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t have = 0;

	while (have < len) {
		s64 left_ms = end_ms - clock_ms();
		ssize_t n;

		if (left_ms <= 0 || poll(&p, 1, (int)left_ms) <= 0)
			return -1;
		n = recv(fd, (u8 *)buf + have, len - have, 0);
		if (n <= 0)
			return 0;
		have += (size_t)n;
	}
	return (int)have;
}

static void reset(int fd)
{
	struct linger l = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
	close(fd);
}

/* Opens a connection; retries, because the node rejects one while it closes an earlier set. */
static int open_conn(void)
{
	struct lnet_hello h = good_hello();
	u8 buf[128], answer[56];
	unsigned int len = greeting(buf, &h), i;
	u32 ctype;

	for (i = 0; i < 50; i++) {
		int fd = dial();

		put(fd, buf, len);
		if (get(fd, answer, sizeof(answer), clock_ms() + REPLY_MS) > 0) {
			memcpy(&ctype, answer + 48, 4);
			if (ctype == LNET_CTYPE_CONTROL)
				return fd;
		}
		close(fd);
		usleep(20000);
	}
	fprintf(stderr, "no connection\n");
	exit(2);
}

static unsigned int frame(u8 *buf, const struct lnet_hdr *hdr, u64 c0, u64 c1)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_LNET, .zc_cookie = { c0, c1 } };
	unsigned int len = lnet_ksock_encode(buf, &k, false);

	return len + lnet_hdr_encode(buf + len, hdr, false);
}

static struct lnet_hdr request(u32 type)
{
	return (struct lnet_hdr){ .dest_nid = node_nid, .src_nid = own_nid, .dest_pid = 12345,
				  .src_pid = 12345, .type = type };
}

static struct lnet_hdr ping(u64 id)
{
	struct lnet_hdr h = request(LNET_MSG_GET);

	h.msg.get.return_wmd.cookie[0] = 0x9199;
	h.msg.get.return_wmd.cookie[1] = id;
	h.msg.get.match_bits = LNET_PING_MATCHBITS;
	h.msg.get.sink_length = 272;
	return h;
}

/*
 * Is a ping answered in time? Other messages may be first, without limit: the node pings a peer
 * that did not read the messages sent to it.
 */
static bool answers(int fd)
{
	s64 end_ms = clock_ms() + REPLY_MS;
	static u8 payload[LNET_MTU];
	struct lnet_hdr h = ping(rnd());
	u8 buf[FRAME_MAX];

	put(fd, buf, frame(buf, &h, 0, 0));
	for (;;) {
		struct lnet_hdr in;
		u32 type;

		if (get(fd, buf, LNET_KSOCK_SIZE, end_ms) <= 0)
			return false;
		memcpy(&type, buf, 4);
		if (type == LNET_KSOCK_NOOP)
			continue;
		if (get(fd, buf, LNET_HDR4_SIZE, end_ms) <= 0 ||
		    lnet_hdr_decode(&in, buf, false))
			return false;
		if (in.payload_len && get(fd, payload, in.payload_len, end_ms) <= 0)
			return false;
		if (in.type == LNET_MSG_REPLY &&
		    in.msg.reply.dst_wmd.cookie[1] == h.msg.get.return_wmd.cookie[1])
			return true;
	}
}

/*
 * Checks that the node still answers a HELLO and a ping. Until its replies to a flood have ended,
 * at the latest after twice the transaction timeout, it drops pings.
 */
static void alive(const char *what)
{
	unsigned int i;
	int fd;

	for (i = 0; i < ALIVE_TRIES; i++) {
		fd = open_conn();
		if (answers(fd)) {
			close(fd);
			printf("# %s: answered at try %u\n", what, i + 1);
			return;
		}
		close(fd);
	}
	judge(what, false);
}

/* ---- handshakes ---- */

static void random_bytes(unsigned int nr)
{
	u8 buf[4096];
	unsigned int i, j;

	while (nr--) {
		int fd = dial();

		for (i = 0; i < sizeof(buf); i += 8) {
			u64 r = rnd();

			memcpy(buf + i, &r, 8);
		}
		j = nr % 3 == 1 ? LNET_ACR1_SIZE : 0;
		if (nr % 3) {
			struct lnet_hello h = good_hello();

			greeting(buf, &h);
		}
		put(fd, buf, j ? sizeof(buf) : 1 + rnd() % sizeof(buf));
		if (nr % 2)
			reset(fd);
		else
			close(fd);
	}
	alive("random bytes");
}

/* Each length of acceptor request and HELLO, ended by FIN or RST. */
static void truncated(unsigned int nr)
{
	struct lnet_hello h = good_hello();
	u8 buf[128];
	unsigned int len = greeting(buf, &h), i;

	(void)nr;
	for (i = 0; i < len; i++) {
		int fd = dial();

		put(fd, buf, i);
		if (i % 2)
			reset(fd);
		else
			close(fd);
	}
	alive("truncated greetings");
}

enum expect { CLOSED, REFUSED, TAKEN };

static enum expect greet(const u8 *buf, unsigned int len)
{
	u8 answer[80];
	u32 ctype;
	int fd = dial(), n;

	put(fd, buf, len);
	n = get(fd, answer, 56, clock_ms() + REPLY_MS);
	close(fd);
	if (n <= 0)
		return CLOSED;
	memcpy(&ctype, answer + 48, 4);
	return ctype == LNET_CTYPE_NONE ? REFUSED : TAKEN;
}

static void hellos(unsigned int nr)
{
	static const struct {
		const char *name;
		unsigned int at;	/* offset in the HELLO */
		u32 value;
		enum expect expect;
	} rows[] = {
		{ "magic", 0, 0x45726964, CLOSED }, { "version 0", 4, 0, REFUSED },
		{ "version 5", 4, 5, REFUSED }, { "version -1", 4, 0xffffffff, REFUSED },
		{ "type 4", 48, 4, CLOSED }, { "type NONE", 48, 0xffffffff, CLOSED },
		{ "17 addresses", 52, 17, CLOSED }, { "many addresses", 52, 0xffffffff, CLOSED },
		{ "source of another net", 12, 0x00020001, CLOSED },
	};
	struct lnet_hello h = good_hello();
	u8 buf[256];
	unsigned int len = greeting(buf, &h), i;

	(void)nr;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(buf, 0, sizeof(buf));
		greeting(buf, &h);
		memcpy(buf + LNET_ACR1_SIZE + rows[i].at, &rows[i].value, 4);
		judge(rows[i].name, greet(buf, len) == rows[i].expect);
	}
	memset(buf, 0, sizeof(buf));
	greeting(buf, &h);
	buf[LNET_ACR1_SIZE + 52] = 1;
	judge("address zero", greet(buf, len + 4) == CLOSED);
	memset(&h.src_nid, 0xff, sizeof(h.src_nid));
	judge("source ANY", greet(buf, greeting(buf, &h)) == CLOSED);
	h = good_hello();
	h.src_nid = node_nid;
	greet(buf, greeting(buf, &h));
	alive("bad HELLOs");
}

/* ---- frames ---- */

/*
 * Sends a frame on an open connection. The node must drop the message and keep the connection if
 * @keeps, else close the connection.
 */
static void send_bad(const char *name, const struct lnet_hdr *h, u64 c0, u64 c1, bool keeps)
{
	static u8 zero[LNET_MTU];
	u8 buf[FRAME_MAX];
	int fd = open_conn();

	put(fd, buf, frame(buf, h, c0, c1));
	if (h->payload_len && h->payload_len <= LNET_MTU)
		put(fd, zero, h->payload_len);
	judge(name, answers(fd) == keeps);
	close(fd);
}

static void headers(unsigned int nr)
{
	static const struct {
		const char *name;
		u32 type, payload_len, portal;
		bool keeps;
	} rows[] = {
		{ "ACK with payload", LNET_MSG_ACK, 1, 0, false },
		{ "GET with payload", LNET_MSG_GET, 1, 0, false },
		{ "PUT too long", LNET_MSG_PUT, LNET_MTU + 1, 0, false },
		{ "PUT of 4 GiB", LNET_MSG_PUT, 0xffffffff, 0, false },
		{ "REPLY too long", LNET_MSG_REPLY, LNET_MTU + 1, 0, false },
		{ "type 4", 4, 0, 0, false }, { "type 7", 7, 0, 0, false },
		{ "type -1", 0xffffffff, 0, 0, false },
		{ "PUT to portal 63", LNET_MSG_PUT, 100, 63, true },
		{ "PUT to portal 64", LNET_MSG_PUT, 100, 64, true },
		{ "PUT to portal 127", LNET_MSG_PUT, LNET_MTU, 127, true },
		{ "PUT to portal 128", LNET_MSG_PUT, 4096, 128, true },
		{ "PUT to portal -1", LNET_MSG_PUT, 1, 0xffffffff, true },
		{ "GET of portal 64", LNET_MSG_GET, 0, 64, true },
		{ "GET of portal -1", LNET_MSG_GET, 0, 0xffffffff, true },
		{ "forged ACK", LNET_MSG_ACK, 0, 0, true },
		{ "forged REPLY", LNET_MSG_REPLY, 65536, 0, true },
	};
	struct lnet_hdr h;
	unsigned int i;

	(void)nr;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		h = request(rows[i].type);
		h.payload_len = rows[i].payload_len;
		if (h.type == LNET_MSG_PUT)
			h.msg.put.ptl_index = rows[i].portal;
		if (h.type == LNET_MSG_GET)
			h.msg.get.ptl_index = rows[i].portal;
		send_bad(rows[i].name, &h, 0, 0, rows[i].keeps);
	}
	h = ping(1);
	h.dest_nid.addr[0] ^= (__force __be32)htonl(1 << 8);
	send_bad("for another node of this net", &h, 0, 0, false);
	h = ping(1);
	h.dest_nid.num = (__force __be16)htons(77);
	send_bad("for another net", &h, 0, 0, true);
	h = ping(1);
	memset(&h.dest_nid, 0xff, sizeof(h.dest_nid));
	send_bad("for ANY", &h, 0, 0, true);
	h = ping(1);
	send_bad("answer for cookie 2", &h, 0, 2, false);
	send_bad("answer for the last cookie", &h, 0, ~0ULL, false);
	send_bad("cookie 1", &h, 1, 0, false);
	send_bad("the same cookie again", &h, 77, 0, true);
	send_bad("keepalive", &h, 0, 1, true);
}

/* NOOPs, with their two cookies. */
static void noops(unsigned int nr)
{
	static const struct { u64 c0, c1; bool keeps; } rows[] = {
		{ 0, 1, true }, { 1, 1, true }, { 0, 0, true }, { 0, 2, false }, { 2, 1, false },
		{ 1, 2, false }, { 2, ~0ULL, false }, { ~0ULL, 2, false }, { 1, ~0ULL, false },
		{ 2, 3, false }, { ~0ULL, ~0ULL, false },
	};
	u8 buf[LNET_KSOCK_SIZE];
	char name[64];
	unsigned int i;

	(void)nr;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_ksock_hdr k = { .type = LNET_KSOCK_NOOP,
					    .zc_cookie = { rows[i].c0, rows[i].c1 } };
		int fd = open_conn();

		put(fd, buf, lnet_ksock_encode(buf, &k, false));
		snprintf(name, sizeof(name), "NOOP %llx %llx", (unsigned long long)rows[i].c0,
			 (unsigned long long)rows[i].c1);
		judge(name, answers(fd) == rows[i].keeps);
		close(fd);
	}
}

/* Returns a boundary value, or a random one. */
static u64 edge_value(void)
{
	static const u64 values[] = { 0, 1, 2, 63, 64, 65, 127, 128, 4096, LNET_MTU, LNET_MTU + 1,
				      0x7fffffff, 0x80000000, 0xffffff01, 0xffffffff, ~0ULL,
				      LNET_PING_MATCHBITS, LNET_OPEN_MATCHBITS,
				      LNET_CONFIRM_MATCHBITS };
	u64 r = rnd();

	return r & 1 ? values[(r >> 8) % ARRAY_SIZE(values)] : rnd();
}

static struct lnet_hdr any_header(void)
{
	struct lnet_hdr h = request((u32)(rnd() % 4));

	if (rnd() % 2)
		h.payload_len = (u32)(rnd() % 3000);
	if (h.type == LNET_MSG_ACK || h.type == LNET_MSG_GET)
		h.payload_len = 0;
	h.msg.put.ack_wmd.cookie[0] = edge_value();
	h.msg.put.ack_wmd.cookie[1] = edge_value();
	h.src_pid = (u32)edge_value();
	if (rnd() % 8 == 0)
		h.src_nid.addr[0] = (__force __be32)rnd();
	if (h.type == LNET_MSG_PUT) {
		h.msg.put.match_bits = edge_value();
		h.msg.put.ptl_index = (u32)edge_value() % (rnd() % 2 ? 130 : 0xffffffff);
		h.msg.put.offset = (u32)edge_value();
	} else if (h.type == LNET_MSG_GET) {
		h.msg.get.match_bits = edge_value();
		h.msg.get.ptl_index = (u32)edge_value() % (rnd() % 2 ? 130 : 0xffffffff);
		h.msg.get.src_offset = (u32)edge_value();
		h.msg.get.sink_length = (u32)edge_value();
	} else if (h.type == LNET_MSG_ACK) {
		h.msg.ack.mlength = (u32)edge_value();
	}
	return h;
}

/* Legal frames with random content, some of them incomplete. All answers are read. */
static void anything(unsigned int nr)
{
	static u8 zero[4096], sink[65536];
	u8 buf[FRAME_MAX];
	int fd = open_conn();

	while (nr--) {
		struct lnet_hdr h = any_header();
		unsigned int len = frame(buf, &h, rnd() % 4 ? 0 : 2 + rnd() % 99, 0);

		if (rnd() % 256 == 0) {
			put(fd, buf, rnd() % len);
			if (nr % 2)
				reset(fd);
			else
				close(fd);
			fd = open_conn();
			continue;
		}
		put(fd, buf, len);
		put(fd, zero, h.payload_len);
		while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
			;
	}
	close(fd);
	alive("any frames");
}

/* ---- floods ---- */

/*
 * Sends @nr requests as fast as possible, for at most FLOOD_SECONDS; reads nothing if @deaf. Ends
 * early if the node closes the connection or stops reading.
 */
static void flood(unsigned int nr, bool deaf, bool cookies, struct lnet_hdr (*next)(u64 id))
{
	static u8 sink[65536], buf[64 * FRAME_MAX];
	struct timeval patience = { .tv_sec = 10 };
	time_t end = time(NULL) + FLOOD_SECONDS;
	int fd = open_conn();
	u64 id = 2;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (id < nr && time(NULL) < end) {
		unsigned int len = 0, i;

		for (i = 0; i < 64; i++, id++) {
			struct lnet_hdr h = next(id);

			len += frame(buf + len, &h, cookies ? 2 + id * 3 : 0, 0);
		}
		if (send(fd, buf, len, MSG_NOSIGNAL) < (ssize_t)len)
			break;		/* the node reads no more, which is correct */
		while (!deaf && recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
			;
	}
	printf("# %llu sent\n", (unsigned long long)id);
	reset(fd);
	alive("after a flood");
}

static struct lnet_hdr unknown_grant(u64 id)
{
	struct lnet_hdr h = request(LNET_MSG_PUT);

	h.msg.put.ack_wmd.cookie[0] = rnd();
	h.msg.put.ack_wmd.cookie[1] = id | 1ULL << 62;
	h.msg.put.ptl_index = 64 + 10;
	return h;
}

static struct lnet_hdr opening(u64 id)
{
	struct lnet_hdr h = ping(id);

	h.msg.get.return_wmd.cookie[0] = 0xabcdef;
	h.msg.get.ptl_index = 64;
	h.msg.get.match_bits = LNET_OPEN_MATCHBITS;
	h.msg.get.src_offset = 0xffffffff;
	return h;
}

static struct lnet_hdr nobodys_put(u64 id)
{
	struct lnet_hdr h = request(LNET_MSG_PUT);

	h.msg.put.ack_wmd.cookie[0] = id;
	h.msg.put.ptl_index = 63;
	return h;
}

static void grants(unsigned int nr)
{
	flood(nr, false, false, unknown_grant);
}

static void openings(unsigned int nr)
{
	flood(nr, false, false, opening);
}

static void deaf_pings(unsigned int nr)
{
	flood(nr, true, false, ping);
}

static void deaf_grants(unsigned int nr)
{
	flood(nr, true, false, unknown_grant);
}

static void deaf_cookies(unsigned int nr)
{
	flood(nr, true, true, nobodys_put);
}

/* HELLOs from many NIDs; each connection is closed at once. */
static void names(unsigned int nr)
{
	struct lnet_nid mine = own_nid;
	u32 i;

	for (i = 0; i < nr; i++) {
		struct lnet_hello h;
		u8 buf[128];

		own_nid.addr[0] = (__force __be32)htonl(0x7f470001 + i);
		h = good_hello();
		judge("a stranger is greeted", greet(buf, greeting(buf, &h)) == TAKEN);
	}
	own_nid = mine;
	alive("many names");
}

/* ---- incomplete messages ---- */

/*
 * Connections without any data, with the first part of a greeting, or with an incomplete message.
 */
static void silent(unsigned int nr)
{
	struct lnet_hello h = good_hello();
	struct lnet_hdr put_hdr = request(LNET_MSG_PUT);
	u8 buf[256];
	unsigned int len = greeting(buf, &h), i;
	int half = open_conn();

	for (i = 0; i < nr; i++) {
		int fd = dial();

		put(fd, buf, i % len);
	}
	put_hdr.payload_len = 65536;
	put_hdr.msg.put.ptl_index = 63;
	put(half, buf, frame(buf, &put_hdr, 0, 0));
	printf("# silent\n");
	fflush(stdout);
	pause();
}

static const struct {
	const char *name;
	void (*run)(unsigned int nr);
} modes[] = {
	{ "random", random_bytes }, { "truncated", truncated }, { "hellos", hellos },
	{ "headers", headers }, { "noops", noops }, { "anything", anything }, { "grants", grants },
	{ "session_opens", openings }, { "deaf-pings", deaf_pings }, { "deaf-grants", deaf_grants },
	{ "deaf-cookies", deaf_cookies }, { "names", names }, { "silent", silent },
};

int main(int argc, char **argv)
{
	struct rlimit files = { 4096, 4096 };
	char text[64];
	unsigned int i;

	if (argc < 4)
		return 2;
	setrlimit(RLIMIT_NOFILE, &files);
	node.sin_family = AF_INET;
	node.sin_port = htons((u16)atoi(argv[2]));
	snprintf(text, sizeof(text), "%s@tcp", argv[1]);
	if (inet_pton(AF_INET, argv[1], &node.sin_addr) != 1 || lnet_nid_parse(&node_nid, text))
		return 2;
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(argv[3], modes[i].name))
			continue;
		snprintf(text, sizeof(text), "127.66.0.%u@tcp", i + 1);
		lnet_nid_parse(&own_nid, text);
		modes[i].run(argc > 4 ? (unsigned int)atoi(argv[4]) : 1000);
		return bad != 0;
	}
	return 2;
}
