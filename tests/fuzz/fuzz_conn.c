/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of the byte streams of connections: the protocol of the TCP driver with the real core
 * behind it, on sockets in memory. An unknown peer at their other ends connects, accepts
 * connections, and sends any bytes.
 *
 * Input: steps, each a byte and its arguments. In FEED, eight times 'G' are replaced by the session
 * ID that the node sent last. Sixteen times 'H' are replaced by the wire handle of the request that
 * it sent last.
 */
#include <stdlib.h>
#include <lnet/socklnd.h>
#include <lnet/wire.h>
#include "fuzz.h"
#include "lnd/socklnd/user.h"
#include "topology/topology.h"
#include "service/service.h"
#include "router/router.h"
#include "manage/manage.h"
#include "node.h"

enum step {
	DIAL, FEED, PICK, RUN, PUT, GET, CONNECTED, END, BUFFER, BREAK, BLOCK, ROUTE, SET, NR_STEPS
};

#define NR_NIS		3	/* the last one on a separate net, to which the node forwards */
#define SOCKS		32
#define STEPS_MAX	64
#define PORTAL		4	/* with memory */
#define LAZY		7	/* gets memory by BUFFER */
#define MEMORY		4096U

struct stream {
	struct sock_conn *c;	/* NULL: released */
	const u8 *in;
	size_t nr_in;
	bool dialling, end, blocked;
	int err;
};

static struct world {
	struct lnet *ln;
	struct lnet_ni *ni[NR_NIS];
	struct stream stream[SOCKS];
	unsigned int nr, at;	/* at: the stream that steps use */
	lnet_md_t md;
	u8 session_id[8], handle[16];	/* as the node sent them */
	u8 memory[3][MEMORY];
} w;

/* ---- sockets --------------------------------------------------------------------------------- */

static struct stream *stream_of(struct sock_conn *c)
{
	return *(struct stream **)c->io;
}

static struct stream *stream_new(struct sock_conn *c)
{
	struct stream *s = &w.stream[w.nr];

	w.at = w.nr++;
	s->c = c;
	*(struct stream **)c->io = s;
	return s;
}

static int io_dial(struct sock_conn *c, const struct lnet_nid *to)
{
	if (w.nr == SOCKS)
		return -EADDRNOTAVAIL;
	stream_new(c)->dialling = true;
	return 0;
}

/* Stores the session ID in a reply of the node, and the wire handle of its request. */
static void overhear(const u8 *at, size_t len)
{
	static const u8 frame[4] = { LNET_KSOCK_LNET }, magic[4] = "open";
	const u8 *hdr = at + LNET_KSOCK_SIZE, *end = at + len;
	u32 type;

	for (; at + LNET_SESSION_REPLY_SIZE <= end; at++)
		if (!memcmp(at, magic, sizeof(magic)))
			memcpy(w.session_id, at + 24, sizeof(w.session_id));
	if (len < LNET_KSOCK_SIZE + LNET_HDR4_SIZE || memcmp(end - len, frame, sizeof(frame)))
		return;
	type = get_unaligned_le32(hdr + 24);
	if (type == LNET_MSG_PUT || type == LNET_MSG_GET)
		memcpy(w.handle, hdr + 32, sizeof(w.handle));
}

static ssize_t io_write(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct stream *s = stream_of(c);
	ssize_t n = 0;

	if (s->err)
		return s->err;
	if (s->blocked)
		return -EAGAIN;
	for (; nr--; vec++) {
		overhear(vec->iov_base, vec->iov_len);
		n += vec->iov_len;
	}
	return n;
}

static ssize_t io_read(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct stream *s = stream_of(c);
	ssize_t n = 0;
	size_t part;

	if (s->err)
		return s->err;
	if (!s->nr_in)
		return s->end ? 0 : -EAGAIN;
	for (; nr-- && s->nr_in; vec++) {
		part = min_t(size_t, vec->iov_len, s->nr_in);
		memcpy(vec->iov_base, s->in, part);
		s->in += part;
		s->nr_in -= part;
		n += part;
	}
	return n;
}

static void io_want(struct sock_conn *c)
{
}

static void io_shut(struct sock_conn *c, bool abort)
{
	stream_of(c)->nr_in = 0;
}

static u64 io_unacked(struct sock_conn *c)
{
	return 0;
}

static void io_arm(struct sock_ni *sn, u64 when_ns)
{
}

static const struct sock_io io = {
	.conn_size = sizeof(struct stream *), .dial = io_dial, .write = io_write, .read = io_read,
	.want = io_want, .shut = io_shut, .unacked = io_unacked, .arm = io_arm,
};

/* ---- the driver on them ---------------------------------------------------------------------- */

static void release(void)
{
	unsigned int i;

	for (i = 0; i < w.nr; i++) {
		struct stream *s = &w.stream[i];

		if (!s->c || s->c->state != CONN_CLOSED)
			continue;
		sock_conn_released(s->c);
		s->c = NULL;
	}
}

static int ni_start(struct lnet_ni *ni)
{
	w.ni[ni->ix - 1] = ni;	/* loopback is the first */
	return sock_ni_init(sock_ni_of(ni), ni, &io);
}

static void ni_stop(struct lnet_ni *ni)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct lnet_pass p;

	sock_ni_reject(sn);
	lnet_pass_begin(&p, ni->ln, LNET_PASS_DRIVER);
	sock_ni_stop(&p, sn);
	lnet_pass_end(&p);
	release();
	sock_ni_fini(sn);
}

/* Does all work that is due on the NIs and in the core. */
static void work(void)
{
	u8 staging[64];
	struct lnet_pass p;
	unsigned int i;

	for (i = 0; i < NR_NIS; i++) {
		struct sock_ni *sn = sock_ni_of(w.ni[i]);

		if (sn->next_ns > node_env.now_ns)
			continue;
		lnet_pass_begin(&p, w.ln, LNET_PASS_DRIVER);
		sock_tick(&p, sn, staging, sizeof(staging));
		lnet_pass_end(&p);
		release();
	}
	for (i = 0; i < 8; i++)
		if (lnet_shard_work(w.ln, 0) > node_env.now_ns)
			break;
	release();
}

static void run(u64 ns, unsigned int steps)
{
	unsigned int i;

	for (i = 0; i < steps; i++) {
		node_env.now_ns += ns / steps;
		work();
	}
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void dialled(struct sock_conn *c, void *arg)
{
	stream_new(c);
}

static void dial(struct fuzz_in *in)
{
	u8 how = fuzz_u8(in);
	struct sock_from from = { .addr = { how >> 3 }, .privileged = !(how & 2),
				  .same_host = how & 4 };
	struct lnet_pass p;

	if (w.nr == SOCKS)
		return;
	lnet_pass_begin(&p, w.ln, LNET_PASS_DRIVER);
	sock_accepted(&p, sock_ni_of(w.ni[how & 1]), &from, dialled, NULL);
	lnet_pass_end(&p);
	release();
}

static void readable(struct stream *s)
{
	/* No larger than the received bytes, so the sanitizer detects a read beyond them. */
	size_t size = max_t(size_t, s->nr_in, 1), before;
	u8 *staging = malloc(size);
	struct lnet_pass p;

	if (!staging)
		abort();
	do {
		before = s->nr_in;
		lnet_pass_begin(&p, w.ln, LNET_PASS_DRIVER);
		if (s->c->waits && s->end)
			sock_conn_broken(&p, s->c);
		else
			sock_conn_readable(&p, s->c, staging, (u32)size);
		lnet_pass_end(&p);
		release();
	} while (s->c && s->nr_in != before);
	free(staging);
}

static void put_names(u8 *at, const u8 *end)
{
	for (; at + sizeof(w.session_id) <= end; at++) {
		if (!memcmp(at, "GGGGGGGG", sizeof(w.session_id)))
			memcpy(at, w.session_id, sizeof(w.session_id));
		if (at + sizeof(w.handle) <= end && !memcmp(at, "HHHHHHHHHHHHHHHH", 16))
			memcpy(at, w.handle, sizeof(w.handle));
	}
}

static void feed(struct fuzz_in *in, struct stream *s)
{
	size_t len = fuzz_u16(in);
	u8 *bytes = fuzz_bytes(in, &len);

	put_names(bytes, bytes + len);
	if (s->c && !s->dialling) {
		s->in = bytes;
		s->nr_in = len;
		readable(s);
		work();
		if (s->c && s->nr_in)	/* reading stopped: a buffer may become available */
			run(NSEC_PER_SEC, 4);
		if (s->c && s->nr_in)
			readable(s);
		s->nr_in = 0;
	}
	free(bytes);
}

static void connected(struct fuzz_in *in, struct stream *s)
{
	u8 how = fuzz_u8(in);
	struct lnet_pass p;

	if (!s->c || !s->dialling)
		return;
	s->dialling = false;
	lnet_pass_begin(&p, w.ln, LNET_PASS_DRIVER);
	sock_conn_connected(&p, s->c, how ? -ECONNREFUSED : 0);
	lnet_pass_end(&p);
	release();
	work();
}

static void request(struct fuzz_in *in, enum step step)
{
	static const char *const peers[] = { "10.77.0.2@tcp", "fd77::2@tcp", "10.77.0.4@tcp" };
	u8 how = fuzz_u8(in);
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.md = w.md;
	x.target.nid = nid(peers[(how >> 4) % ARRAY_SIZE(peers)]);
	x.portal = PORTAL;
	x.flags = how & 1 ? LNET_ACK : 0;
	x.length = how & 2 ? MEMORY : 16;
	if (step == PUT)
		lnet_put(w.ln, &x);
	else
		lnet_get(w.ln, &x);
	work();
}

static void ended(struct fuzz_in *in, struct stream *s, enum step step)
{
	if (!s->c || s->dialling)
		return;
	s->end = true;
	s->err = step == BREAK ? -ECONNRESET : 0;
	readable(s);
	work();
}

static void blocks(struct stream *s)
{
	struct lnet_pass p;

	s->blocked = !s->blocked;
	if (s->blocked || !s->c || s->dialling)
		return;
	lnet_pass_begin(&p, w.ln, LNET_PASS_DRIVER);
	sock_conn_writable(&p, s->c);
	lnet_pass_end(&p);
	release();
}

/*
 * Drains @ni or not, then checks, as before a deletion, whether the peers have acknowledged this.
 */
static void drain(struct lnet_ni *ni, bool drained)
{
	struct lnet_peer *behind = NULL;

	BUG_ON(lnet_ni_drain(w.ln, &ni->nid, drained));
	work();
	lnet_push_is_known(w.ln, ni, &behind);
	lnet_peer_put(behind);
}

/*
 * Acts as an operator: discovery off or on, a peer locked, credits of a router, an interface
 * drained, or two peers configured.
 */
static void configure(u8 how)
{
	struct lnet_nid two[] = { nid("10.77.0.2@tcp"), nid("10.77.0.4@tcp") };
	struct lnet_nid others[] = { nid("10.77.0.5@tcp"), nid("10.78.0.4@tcp9") };
	unsigned int which = how & 1;

	if (how & 2)
		lnet_tunable_set(w.ln, "discovery", which);
	else if (how & 4)
		lnet_peer_set_state(w.ln, &two[which], LNET_PEER_STATE_LOCKED, ~0U);
	else if (how & 8)
		lnet_tunable_set(w.ln, "peer_buffer_credits", how >> 4);
	else if (how & 16)
		drain(w.ni[which], how & 32);
	else
		lnet_peer_add(w.ln, &two[which], &others[which], 1, true);
	work();
}

/* ---- the node -------------------------------------------------------------------------------- */

static void heard(const struct lnet_event *ev)
{
}

static void attach(u32 portal, u8 *memory, int threshold)
{
	struct lnet_md_cfg md = { .start = memory, .length = MEMORY, .cpt = -1, .handler = heard,
				  .threshold = threshold, .options = LNET_MD_OP_PUT |
				  LNET_MD_OP_GET | LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE };
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	lnet_md_t out;
	lnet_me_t me;

	if (!lnet_me_attach(w.ln, portal, &any, 0, ~0ULL, LNET_UNLINK, LNET_INS_AFTER, &me))
		lnet_md_attach(w.ln, me, &md, LNET_UNLINK, &out);
}

static void add_ni(const char *text)
{
	struct lnet_ni_cfg cfg;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = nid(text);
	BUG_ON(lnet_ni_add(w.ln, &cfg));
}

static void begin(void)
{
	static struct lnet_lnd_ops ops;
	struct lnet_cfg cfg = { .env = &node_env.env, .nr_shards = 1 };
	struct lnet_md_cfg md = { .cpt = -1, .length = MEMORY, .handler = heard,
				  .threshold = LNET_THRESHOLD_INF };

	memset(&w, 0, sizeof(w));
	fake_env_init(&node_env);
	ops = lnet_socklnd_ops;
	ops.ni_start = ni_start;
	ops.ni_stop = ni_stop;
	BUG_ON(lnet_create(&w.ln, &cfg) || lnet_lnd_register(w.ln, &ops));
	/* The address is a byte of the input, so it would equal no NID of the input. */
	BUG_ON(lnet_tunable_set(w.ln, "hello_address", 0) ||
	       lnet_tunable_set(w.ln, "hold_max", 2048) ||
	       lnet_tunable_set(w.ln, "tiny_router_buffers", 2) ||
	       lnet_tunable_set(w.ln, "small_router_buffers", 2) ||
	       lnet_tunable_set(w.ln, "large_router_buffers", 1));
	add_ni("10.77.0.3@tcp");
	add_ni("fd77::3@tcp");
	add_ni("10.78.0.3@tcp9");
	attach(PORTAL, w.memory[0], LNET_THRESHOLD_INF);
	attach(LAZY, w.memory[1], 1);
	BUG_ON(lnet_portal_lazy(w.ln, LAZY, true));
	md.start = w.memory[2];
	BUG_ON(lnet_md_bind(w.ln, &md, LNET_RETAIN, &w.md));
}

static void play(struct fuzz_in *in)
{
	enum step step = fuzz_u8(in) % NR_STEPS;
	struct stream *s = &w.stream[w.at];

	switch (step) {
	case DIAL:
		dial(in);
		break;
	case FEED:
		feed(in, s);
		break;
	case PICK:
		w.at = w.nr ? fuzz_u8(in) % w.nr : 0;
		break;
	case RUN:
		run((u64)fuzz_u8(in) * 100 * NSEC_PER_MSEC, 16);
		break;
	case PUT:
	case GET:
		request(in, step);
		break;
	case CONNECTED:
		connected(in, s);
		break;
	case BUFFER:
		attach(LAZY, w.memory[1], 1);
		work();
		break;
	case BLOCK:
		blocks(s);
		break;
	case SET:
		configure(fuzz_u8(in));
		break;
	case ROUTE:
		lnet_router_enable(w.ln, fuzz_u8(in) & 1);
		work();
		break;
	default:
		ended(in, s, step);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_in in = fuzz_begin(data, size);
	unsigned int nr = 0;

	begin();
	while (fuzz_more(&in) && nr++ < STEPS_MAX)
		play(&in);
	lnet_destroy(w.ln);
	return 0;
}
