/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of management requests: the socket of a daemon receives datagrams of any content, and
 * lnetctl accepts its replies.
 *
 * Input: a byte of modes, then datagrams. A datagram is two bytes of length and the bytes. With
 * FRAMED it is a command, a version, flags, a length, and the attributes of one message.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>
#include "fuzz.h"
#include "control/control.h"
#include "lnet/user/netlink.h"
#include "node.h"
#include "utils/lib/client.h"

enum { FRAMED = 1, CONFIGURED = 2 };

#define DATAGRAM_MAX 65536U

struct world {
	struct lnet *ln;
	struct lnet_nl_server *srv;
	struct reply reply;	/* to the last request */
	u32 seq;
};

static char name[32];

/* ---- the walk over attributes, which the kernel does as well ---- */

static unsigned int walk(struct lnet_req r, unsigned int depth)
{
	static const char *const keys[] = { "net type", "local NI(s)", "nid" };
	struct lnet_req pairs = r;
	unsigned int nr = 0, i;
	struct lnet_val v;
	char text[16];
	s64 num;

	BUG_ON(depth > LNET_NL_DEPTH_MAX);
	while (lnet_req_next(&r, &v)) {
		nr++;
		BUG_ON(!lnet_val_text(&v, text, sizeof(text)) && strlen(text) >= sizeof(text));
		BUG_ON(!lnet_val_int(&v, -5, 5, &num) && (num < -5 || num > 5));
		if (v.kind == LNET_VAL_LIST)
			nr += walk(v.list, depth + 1);
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		nr += lnet_req_find(pairs, keys[i], &v);
	return nr;
}

static void check_walk(const u8 *attrs, size_t len)
{
	u8 *copy = kmemdup(attrs, len, GFP_KERNEL);
	struct lnet_req r;

	if (copy && !lnet_req_check(copy, len)) {
		lnet_req_init(&r, copy, len);
		BUG_ON(walk(r, 0) > len);
	}
	kfree(copy);
}

/* ---- the client ---- */

static int client(void)
{
	static int fd = -1;
	struct sockaddr_nl me = { .nl_family = AF_NETLINK };

	if (fd >= 0)
		return fd;
	snprintf(name, sizeof(name), "fuzz%d", (int)getpid());
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (fd < 0 || bind(fd, (void *)&me, sizeof(me))) {
		perror("fuzz: netlink");
		abort();
	}
	return fd;
}

static void send_datagram(const void *msg, size_t len)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK,
				  .nl_pid = lnet_nl_user_port(name, getuid()) };

	sendto(client(), msg, len, MSG_DONTWAIT, (void *)&to, sizeof(to));
}

static void reply_renew(struct world *w)
{
	lnetctl_doc_free(reply_finish(&w->reply));
	BUG_ON(reply_init(&w->reply));
}

static void take_message(struct world *w, const struct nlmsghdr *h)
{
	const u8 *attrs = (const u8 *)h + NLMSG_HDRLEN + GENL_HDRLEN;

	if (h->nlmsg_type != LNET_NL_USER_TYPE || h->nlmsg_seq != w->seq)
		return;
	BUG_ON(h->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN);
	BUG_ON(reply_feed(&w->reply, h->nlmsg_flags, attrs,
			  h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN) == -EPROTO);
}

static void take_answers(struct world *w)
{
	static u8 buf[DATAGRAM_MAX] __aligned(4);
	ssize_t n;

	while ((n = recv(client(), buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
		const struct nlmsghdr *h = (const void *)buf;
		int rest = (int)n;

		for (; rest > 0; h = NLMSG_NEXT(h, rest)) {
			BUG_ON(!NLMSG_OK(h, (u32)rest));
			take_message(w, h);
		}
	}
}

/* ---- the node ---- */

static void serve(struct world *w)
{
	BUG_ON(lnet_nl_server_step(w->srv, 0));
	node_env.now_ns += NSEC_PER_MSEC;
	node_work(w->ln);
	take_answers(w);
}

static void ask(struct world *w, u8 cmd, u8 version, u16 flags, const u8 *attrs, size_t len)
{
	static u8 msg[DATAGRAM_MAX + NLMSG_HDRLEN + GENL_HDRLEN] __aligned(4);
	struct nlmsghdr h = { .nlmsg_len = (u32)(NLMSG_HDRLEN + GENL_HDRLEN + len),
			      .nlmsg_type = LNET_NL_USER_TYPE,
			      .nlmsg_flags = flags | NLM_F_REQUEST,
			      .nlmsg_seq = ++w->seq };
	struct genlmsghdr g = { .cmd = cmd, .version = version };

	memcpy(msg, &h, sizeof(h));
	memcpy(msg + NLMSG_HDRLEN, &g, sizeof(g));
	if (len)
		memcpy(msg + NLMSG_HDRLEN + GENL_HDRLEN, attrs, len);
	reply_renew(w);
	send_datagram(msg, h.nlmsg_len);
	serve(w);
}

static void begin(struct world *w, u8 modes)
{
	struct lnet_nid primary = nid("10.0.0.2@tcp"), other = nid("10.0.0.3@tcp");
	struct lnet_nl_server_cfg cfg = { .name = name, .version = "0" };

	memset(w, 0, sizeof(*w));
	client();
	cfg.ln = w->ln = node_begin(1);
	BUG_ON(reply_init(&w->reply));
	BUG_ON(lnet_nl_server_create(&w->srv, &cfg));
	if (!(modes & CONFIGURED))
		return;
	ask(w, LNET_NL_CONFIGURE, 1, NLM_F_CREATE | NLM_F_EXCL, NULL, 0);
	BUG_ON(node_ni_add(w->ln, "10.0.0.1@tcp"));
	BUG_ON(lnet_peer_add(w->ln, &primary, &other, 1, true));
}

static void end(struct world *w)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {	/* requested pings end */
		node_env.now_ns += NSEC_PER_SEC;
		serve(w);
	}
	lnet_nl_server_destroy(w->srv);
	lnetctl_doc_free(reply_finish(&w->reply));
	node_end(w->ln);
	take_answers(w);
}

static void feed(struct world *w, struct fuzz_in *in, bool framed)
{
	u8 cmd = framed ? fuzz_u8(in) : 0, version = framed ? fuzz_u8(in) : 0;
	u16 flags = framed ? fuzz_u16(in) : 0;
	size_t len = fuzz_u16(in);
	u8 *bytes = fuzz_bytes(in, &len);

	if (framed) {
		check_walk(bytes, len);
		ask(w, cmd, version, flags, bytes, len);
	} else {
		send_datagram(bytes, len);
		serve(w);
	}
	free(bytes);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_begin(data, size);
	u8 modes = fuzz_u8(&in);
	unsigned int nr = 0;
	struct world w;

	begin(&w, modes);
	while (fuzz_more(&in) && nr++ < 32)
		feed(&w, &in, modes & FRAMED);
	end(&w);
	return 0;
}
