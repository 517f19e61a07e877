/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sockets in memory: see sock_fake.h. */
#include "sock_fake.h"

struct fake_world fw;

static struct fake *fake_of(struct sock_conn *c)
{
	return *(struct fake **)c->io;
}

static struct fake *fake_new(struct sock_conn *c)
{
	struct fake *f = &fw.fake[fw.nr++];

	if (fw.nr > FAKES_MAX)
		abort();
	f->c = c;
	f->in = malloc(FAKE_BUFFER);
	f->out = malloc(FAKE_BUFFER);
	f->room = FAKE_BUFFER;
	*(struct fake **)c->io = f;
	return f;
}

static int io_fake_dial(struct sock_conn *c, const struct lnet_nid *to)
{
	if (fw.dial_err)
		return fw.dial_err;
	fake_new(c)->dialled = true;
	return 0;
}

static ssize_t io_fake_write(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct fake *f = fake_of(c);
	u32 most = min(f->room, f->chunk ? f->chunk : FAKE_BUFFER), n = 0, part;
	void (*during_write)(void) = fw.during_write;

	fw.during_write = NULL;
	if (during_write)
		during_write();
	if (f->err)
		return f->err;
	for (; nr && n < most; nr--, vec++) {
		part = min_t(u32, vec->iov_len, most - n);
		memcpy(f->out + f->nr_out, vec->iov_base, part);
		f->nr_out += part;
		n += part;
	}
	f->room -= n;
	return n ? (ssize_t)n : -EAGAIN;
}

static ssize_t io_fake_read(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct fake *f = fake_of(c);
	u32 most = min(f->nr_in - f->at_in, f->chunk ? f->chunk : FAKE_BUFFER), n = 0, part;

	if (f->err)
		return f->err;
	if (!most)
		return f->eof ? 0 : -EAGAIN;
	f->nr_reads++;
	for (; nr && n < most; nr--, vec++) {
		part = min_t(u32, vec->iov_len, most - n);
		memcpy(vec->iov_base, f->in + f->at_in, part);
		f->at_in += part;
		n += part;
	}
	return n;
}

static void io_fake_want(struct sock_conn *c)
{
}

static void io_fake_shut(struct sock_conn *c, bool abort)
{
	fake_of(c)->shut = true;
	fake_of(c)->aborted = abort;
}

static void io_fake_finish(struct sock_conn *c)
{
	fake_of(c)->finished = true;
}

static u64 io_fake_unacked(struct sock_conn *c)
{
	fake_of(c)->nr_unacked++;
	return fake_of(c)->unacked;
}

static void io_fake_arm(struct sock_ni *sn, u64 when_ns)
{
}

static const struct sock_io fake_io = {
	.conn_size = sizeof(struct fake *),
	.dial = io_fake_dial, .write = io_fake_write, .read = io_fake_read, .want = io_fake_want,
	.shut = io_fake_shut, .finish = io_fake_finish, .unacked = io_fake_unacked,
	.arm = io_fake_arm,
};

static int fake_ni_start(struct lnet_ni *ni)
{
	ni->ln->tun.accept = 2;
	return sock_ni_init(sock_ni_of(ni), ni, &fake_io);
}

static void release_all(void)
{
	unsigned int i;

	for (i = 0; i < fw.nr; i++) {
		struct fake *f = &fw.fake[i];

		if (!f->c || f->c->state != CONN_CLOSED)
			continue;
		sock_conn_released(f->c);
		f->c = NULL;
	}
}

static void fake_ni_stop(struct lnet_ni *ni)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct lnet_pass p;

	lnet_pass_begin(&p, ni->ln, LNET_PASS_DRIVER);
	sock_ni_stop(&p, sn);
	lnet_pass_end(&p);
	release_all();
	sock_ni_fini(sn);
}

void fake_begin(const char *self)
{
	static struct lnet_lnd_ops ops;
	static struct contract_driver driver;

	memset(&fw, 0, sizeof(fw));
	INIT_LIST_HEAD(&fw.msgs);
	ops = contract_sock_ops;
	ops.ni_start = fake_ni_start;
	ops.ni_stop = fake_ni_stop;
	driver.ops = &ops;
	fw.pair.driver = &driver;
	fw.pair.env[0] = contract_env();
	CU_ASSERT_EQUAL(lnet_nid_parse(&fw.pair.cfg[0].nid, self), 0);
	CU_ASSERT_EQUAL(contract_node_start(&fw.pair, 0), 0);
	fw.node = &fw.pair.node[0];
	fw.sn = sock_ni_of(fw.node->ni);
	fw.sn->incarnation = strstr(self, "50.11") ? 0x17f0a1b2c3d4e5f6 : 0x17f0a1b2d0e0f001;
	fw.node->ln.tun.typed_conns = 1;
}

void fake_end(void)
{
	struct msg *msg, *next;
	unsigned int i;

	contract_node_stop(fw.node);
	sock_world_check(fw.sn);
	list_for_each_entry_safe(msg, next, &fw.msgs, link) {
		UNIT_EQUAL(msg->nr_done, msg->taken, "times given back for each time taken");
		lnet_peer_ni_put(msg->att.pni);
		free(msg->memory);
		free(msg);
	}
	contract_node_free(fw.node);
	for (i = 0; i < fw.nr; i++) {
		free(fw.fake[i].in);
		free(fw.fake[i].out);
	}
}

static u8 staging[SOCK_STAGING];

static void read_now(struct fake *f)
{
	struct lnet_pass p;
	u32 before;

	do {
		if (!f->c || f->c->state == CONN_CLOSED)
			break;
		before = f->at_in;
		lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
		sock_conn_readable(&p, f->c, staging, sizeof(staging));
		lnet_pass_end(&p);
	} while (f->at_in != before);
	release_all();
}

void fake_run(u64 ns)
{
	u64 step = 5 * NSEC_PER_MSEC, part;
	struct lnet_pass p;

	for (; ns; ns -= part) {
		part = min(ns, step);
		contract_env_run(&fw.pair, part);
		lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
		if (fw.sn->next_ns <= p.now_ns)
			sock_tick(&p, fw.sn, staging, sizeof(staging));
		lnet_pass_end(&p);
		release_all();
	}
}

static void setup(struct sock_conn *c, void *arg)
{
	*(struct fake **)arg = fake_new(c);
}

struct fake *fake_accept(bool privileged)
{
	char self[LNET_NIDSTR_SIZE];

	lnet_nid_str(&fw.sn->nid, self);
	return fake_accept_nid(privileged, strstr(self, "50.11") ? "192.168.50.12@tcp" :
								   "192.168.50.11@tcp");
}

static struct fake *accept_from(const struct sock_from *from)
{
	struct fake *f = NULL;
	struct lnet_pass p;

	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	sock_accepted(&p, fw.sn, from, setup, &f);
	lnet_pass_end(&p);
	release_all();
	return f;
}

struct fake *fake_accept_from(bool privileged, u8 host)
{
	struct sock_from from = { .addr = { 192, 168, 7, host }, .privileged = privileged };

	return accept_from(&from);
}

struct fake *fake_accept_nid(bool privileged, const char *nid)
{
	struct sock_from from = { .privileged = privileged };
	struct lnet_nid at;

	CU_ASSERT_EQUAL(lnet_nid_parse(&at, nid), 0);
	memcpy(from.addr, at.addr, at.size ? sizeof(at.addr) : sizeof(at.addr[0]));
	return accept_from(&from);
}

void fake_connected(struct fake *f, int err)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	sock_conn_connected(&p, f->c, err);
	lnet_pass_end(&p);
	release_all();
}

void fake_in(struct fake *f, const void *data, u32 len)
{
	if (f->at_in == f->nr_in)
		f->at_in = f->nr_in = 0;
	memcpy(f->in + f->nr_in, data, len);
	f->nr_in += len;
	read_now(f);
}

void fake_eof(struct fake *f)
{
	struct lnet_pass p;

	f->eof = true;
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	if (f->c->waits)
		sock_conn_broken(&p, f->c);
	else
		sock_conn_readable(&p, f->c, staging, sizeof(staging));
	lnet_pass_end(&p);
	release_all();
}

void fake_out_is(struct fake *f, const void *data, u32 len, const char *what)
{
	UNIT_EQUAL(f->nr_out, len, what);
	if (f->nr_out == len)
		UNIT_EQUAL(memcmp(f->out, data, len), 0, what);
	f->nr_out = 0;
}

void fake_out_clear(struct fake *f)
{
	f->nr_out = 0;
}

bool fake_is_open(const struct fake *f)
{
	return f && f->c && f->c->state == CONN_OPEN;
}

struct fake *fake_last(void)
{
	return fw.nr ? &fw.fake[fw.nr - 1] : NULL;
}

struct msg *fake_send(const char *nid, u32 len, u64 timeout_ns)
{
	struct msg *msg = calloc(1, sizeof(*msg));
	struct lnet_ni *ni = fw.node->ni;
	struct lnet_nid to;
	struct lnet_pass p;
	u32 pos = 0, f, i;

	if (!msg || lnet_nid_parse(&to, nid))
		abort();
	msg->node = fw.node;
	msg->len = len;
	msg->urgent = fw.urgent;
	msg->once = fw.once;
	msg->seq = (unsigned int)list_count_nodes(&fw.msgs);
	msg->att.ni = ni;
	msg->att.pni = lnet_peer_ni_get(&fw.node->ln, &to);
	msg->hdr = (struct lnet_hdr){ .src_nid = ni->nid,
				      .dest_nid = to,
				      .src_pid = LNET_PID,
				      .dest_pid = LNET_PID,
				      .type = LNET_MSG_PUT,
				      .payload_len = len };
	lnet_handle_set_none(&msg->hdr.msg.put.ack_wmd);
	msg->hdr.msg.put.hdr_data = msg->seq;
	msg->memory = contract_frags(msg->frags, len, 0);
	for (f = 0; f < 3; f++)
		for (i = 0; i < msg->frags[f].len; i++)
			((u8 *)msg->frags[f].base)[i] = contract_byte(msg->seq, pos++);
	msg->att.deadline_ns = contract_now(fw.node) + timeout_ns;
	INIT_LIST_HEAD(&msg->att.link);
	list_add_tail(&msg->link, &fw.msgs);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_CALL);
	msg->taken = !ni->ops->send(&p, ni, &msg->att);
	ni->ops->flush(&p, ni);
	lnet_pass_end(&p);
	release_all();
	return msg;
}

unsigned int fake_nr_got(void)
{
	return (unsigned int)list_count_nodes(&fw.node->rxs);
}

struct got *fake_got(unsigned int n)
{
	struct got *got;

	list_for_each_entry(got, &fw.node->rxs, link)
		if (!n--)
			return got;
	return NULL;
}

unsigned int fake_nr_lost(void)
{
	return (unsigned int)list_count_nodes(&fw.node->lost);
}

u32 fake_hello(u8 *buf, const char *nid, u32 ctype, u64 incarnation)
{
	struct lnet_hello h = { .version = 3,
				.src_pid = LNET_PID,
				.ctype = ctype,
				.dst_nid = fw.sn->nid,
				.src_incarnation = incarnation };

	CU_ASSERT_EQUAL(lnet_nid_parse(&h.src_nid, nid), 0);
	return lnet_hello_encode(buf, &h);
}

u32 fake_request(u8 *buf)
{
	struct lnet_acr acr = { .nid = fw.sn->nid, .version = 1 };

	return lnet_acr_encode(buf, &acr);
}

struct fake *fake_come(const char *nid, u32 ctype, u64 incarnation)
{
	return fake_come_from(nid, true, nid, ctype, incarnation);
}

struct fake *fake_come_from(const char *from, bool privileged, const char *nid, u32 ctype,
			    u64 incarnation)
{
	struct fake *f = fake_accept_nid(privileged, from);
	u8 buf[LNET_ACR_SIZE_MAX + LNET_HELLO_SIZE_MAX];
	u32 len = fake_request(buf);

	len += fake_hello(buf + len, nid, ctype, incarnation);
	fake_in(f, buf, len);
	return f;
}

void fake_answer(struct fake *f, const char *nid, u32 ctype, u64 incarnation)
{
	u8 buf[LNET_HELLO_SIZE_MAX];

	fake_in(f, buf, fake_hello(buf, nid, ctype, incarnation));
}

u32 fake_put(u8 *buf, const char *nid, enum plan plan, unsigned int seq, u32 len, u64 cookie)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_LNET, .zc_cookie = { cookie, 0 } };
	struct lnet_hdr hdr = { .dest_nid = fw.sn->nid, .dest_pid = LNET_PID, .src_pid = LNET_PID,
				.type = LNET_MSG_PUT, .payload_len = len };
	u32 at, i;

	CU_ASSERT_EQUAL(lnet_nid_parse(&hdr.src_nid, nid), 0);
	lnet_handle_set_none(&hdr.msg.put.ack_wmd);
	hdr.msg.put.match_bits = plan;
	hdr.msg.put.hdr_data = seq;
	at = lnet_ksock_encode(buf, &k, false);
	at += lnet_hdr_encode(buf + at, &hdr, false);
	for (i = 0; i < len; i++)
		buf[at + i] = contract_byte(seq, i);
	return at + len;
}

void fake_begin_with(const char *self, const char *peer, u64 incarnation)
{
	unsigned int i;

	fake_begin(self);
	for (i = LNET_CTYPE_CONTROL; i <= LNET_CTYPE_BULK_OUT; i++)
		fake_out_clear(fake_come(peer, i, incarnation));
}

void fake_landed(unsigned int n, u32 len, const char *what)
{
	struct got *got = fake_got(n);

	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	UNIT_EQUAL(got->nr_done, 1, what);
	UNIT_EQUAL(got->how, LNET_OK, what);
	UNIT_EQUAL(got->rx.payload_len, len, what);
	CU_ASSERT(contract_payload_ok(got));
}
