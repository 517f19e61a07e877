/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Sockets of the simulator, which the unchanged protocol code of the TCP driver uses. They are byte
 * streams with buffers at both ends. They lose bytes, read or write fewer bytes than requested,
 * stall, and are reset between any two bytes.
 */
#include "lnd/socklnd/sim.h"
#include "lnd/simlnd/simlnd.h"
#include "lnd/socklnd/socklnd.h"

#define SEND_BUFFER	262144U
#define RECV_BUFFER	262144U
#define RTO_NS		(200 * SIM_MS)
#define RTO_MAX_NS	(1600 * SIM_MS)
#define SYN_AGAIN_NS	(1000 * SIM_MS)
#define STAGING		65536U

struct simsock_ni {
	struct sock_ni sn;		/* first; ni->priv points to it */
	struct sim_node *node;
	struct sim_world *w;
	u32 rail, life;
	u64 armed_ns;
	u8 *staging;
};

/* One end of a stream. It exists while the driver or an event references it. */
struct stream {
	struct list_head link;		/* w->streams */
	struct sim_world *w;
	/* connection of this end; NULL: the driver has released it */
	struct sock_conn *c;
	struct stream *other;		/* remote end; NULL: not connected yet, or freed */
	u32 refs, node, peer, rail;
	u8 *out;			/* accepted, not delivered */
	u32 nr_out;
	u32 nr_unacked;			/* of all accepted bytes */
	u8 *in;				/* delivered, not read */
	u32 nr_in;
	u64 rto_ns;
	u32 sent, lost;			/* transmissions */
	bool flying, polled, closed, fin, fin_seen, reset, dialing, connected;
};

struct conn_io {			/* in c->io */
	struct stream *s;
};

static struct stream *stream_of(struct sock_conn *c)
{
	return ((struct conn_io *)c->io)->s;
}

/* As in user.c, ni->priv begins with struct sock_ni. */
__attribute__((weak)) struct sock_ni *sock_ni_of(struct lnet_ni *ni)
{
	return lnet_ni_priv(ni);
}

static struct simsock_ni *sim_ni(struct sock_ni *sn)
{
	return container_of(sn, struct simsock_ni, sn);
}

/* ---- creation and release of a stream end ---------------------------------------------------- */

static struct stream *stream_new(struct sim_world *w, u32 node, u32 peer, u32 rail)
{
	struct stream *s = kzalloc(sizeof(*s), GFP_NOFS);

	if (!s)
		BUG();
	s->w = w;
	s->refs = 1;
	s->node = node;
	s->peer = peer;
	s->rail = rail;
	s->rto_ns = RTO_NS;
	s->out = kvmalloc(SEND_BUFFER, GFP_NOFS);
	s->in = kvmalloc(RECV_BUFFER, GFP_NOFS);
	if (!s->out || !s->in)
		BUG();
	list_add_tail(&s->link, &w->streams);
	return s;
}

static void stream_put(struct stream *s)
{
	if (!s || --s->refs)
		return;
	if (s->other)
		s->other->other = NULL;
	list_del(&s->link);
	kvfree(s->out);
	kvfree(s->in);
	kfree(s);
}

static void stream_at(struct stream *s, u64 after_ns, sim_event_fn fn)
{
	s->refs++;
	sim_at(s->w, s->w->now_ns + after_ns, fn, s, 0);
}

/* ---- upcalls to the driver ------------------------------------------------------------------- */

static void poll_event(struct sim_world *w, void *arg, u64 num);

static bool readable(const struct stream *s)
{
	return s->nr_in || s->fin_seen || s->reset;
}

static bool ready(const struct stream *s)
{
	const struct sock_conn *c = s->c;

	if (!c || s->dialing)
		return false;
	if (c->state == CONN_CLOSED)
		return true;
	return (c->want_read && readable(s)) ||
	       (c->want_write && (s->nr_out < SEND_BUFFER || s->reset));
}

static void stream_poll_schedule(struct stream *s)
{
	if (s->polled || !ready(s))
		return;
	s->polled = true;
	stream_at(s, 1, poll_event);
}

static void stream_release(struct stream *s)
{
	struct sock_conn *c = s->c;

	s->c = NULL;
	sock_conn_released(c);
	stream_put(s);
}

static void stream_serve(struct stream *s)
{
	struct sock_conn *c = s->c;
	struct simsock_ni *si = sim_ni(c->sn);
	struct lnet_pass p;

	lnet_pass_begin(&p, c->sn->ln, LNET_PASS_DRIVER);
	if (c->want_read && readable(s))
		sock_conn_readable(&p, c, si->staging, STAGING);
	if (c->state != CONN_CLOSED && c->want_write && (s->nr_out < SEND_BUFFER || s->reset))
		sock_conn_writable(&p, c);
	lnet_pass_end(&p);
}

static void poll_event(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg;

	(void)w;
	(void)num;
	s->polled = false;
	if (s->c && s->c->state != CONN_CLOSED)
		stream_serve(s);
	if (s->c && s->c->state == CONN_CLOSED && !s->c->writing)
		stream_release(s);
	stream_poll_schedule(s);
	stream_put(s);
}

/* ---- bytes in flight ------------------------------------------------------------------------- */

static void flight_event(struct sim_world *w, void *arg, u64 num);

static void hear_reset(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg;

	(void)w;
	(void)num;
	s->reset = true;
	s->nr_out = s->nr_unacked = 0;
	if (s->closed)
		s->nr_in = 0;
	stream_poll_schedule(s);
	stream_put(s);
}

static void send_reset(struct stream *s)
{
	if (s->other && !simlnd_cut(s->w, s->rail, s->node, s->peer))
		stream_at(s->other, simlnd_latency(s->w), hear_reset);
}

static void stream_launch(struct stream *s)
{
	struct sim_world *w = s->w;
	struct simlnd_fate fate;
	u64 after_ns, rate_mbit = simlnd_rate(w, s->rail, s->node, s->peer);

	if (s->flying || !s->connected || s->reset || (!s->nr_out && !s->fin))
		return;
	simlnd_fate(w, s->rail, s->node, s->peer, &fate);
	if (w->now_ns < w->faults_end_ns) {
		w->count.messages++;
		w->count.met += fate.met;
	}
	if (w->slow_mbit && (s->node == w->slow_node || s->peer == w->slow_node))
		rate_mbit = w->slow_mbit;
	after_ns = simlnd_latency(w) + fate.delay_ns + (u64)s->nr_out * 8000 / rate_mbit;
	s->sent++;
	s->lost += fate.lost && !simlnd_cut(w, s->rail, s->node, s->peer);
	if (fate.lost) {	/* retransmitted with exponential backoff */
		after_ns += s->rto_ns;
		s->rto_ns = min(2 * s->rto_ns, RTO_MAX_NS);
	} else {
		s->rto_ns = RTO_NS;
	}
	s->flying = true;
	stream_at(s, after_ns, flight_event);
}

static void ack_event(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg;

	if (simlnd_cut(w, s->rail, s->peer, s->node)) {
		sim_at(w, w->now_ns + RTO_NS, ack_event, s, num);
		return;
	}
	s->nr_unacked -= min_t(u64, num, s->nr_unacked);
	stream_put(s);
}

/*
 * Delivers the bytes at s->out that fit in the remote buffer. If a reset follows, flight_event()
 * delivers fewer bytes.
 */
static u32 stream_deliver(struct stream *s, struct stream *to)
{
	u32 nr = min(s->nr_out, RECV_BUFFER - to->nr_in);

	memcpy(to->in + to->nr_in, s->out, nr);
	to->nr_in += nr;
	memmove(s->out, s->out + nr, s->nr_out - nr);
	s->nr_out -= nr;
	sim_trace(s->w, (u64)s->node << 32 | s->peer, lnet_hash_bytes(to->in, to->nr_in, nr));
	s->refs++;
	sim_at(s->w, s->w->now_ns + simlnd_latency(s->w), ack_event, s, nr);
	return nr;
}

static void break_stream(struct stream *s)
{
	s->w->count.fault[SIM_RESET]++;
	s->nr_out = 0;
	send_reset(s);
	s->refs++;
	hear_reset(s->w, s, 0);
}

static void flight_event(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg, *to = s->other;
	u32 before = s->nr_out;

	(void)num;
	s->flying = false;
	if (s->reset) {
		stream_put(s);
		return;
	}
	if (simlnd_cut(w, s->rail, s->node, s->peer)) {
		stream_launch(s);
	} else if (!to || to->closed || to->reset) {
		stream_at(s, simlnd_latency(w), hear_reset);
	} else if (s->nr_out && simlnd_roll(w, SIM_BREAK, s->rail, s->node, s->peer)) {
		s->nr_out = sim_below(&w->rng, s->nr_out + 1);
		stream_deliver(s, to);
		break_stream(s);
	} else {
		stream_deliver(s, to);
		if (s->fin && !s->nr_out)
			to->fin_seen = true;
		stream_poll_schedule(to);
		if (before > s->nr_out && s->nr_out)
			stream_launch(s);
	}
	stream_poll_schedule(s);
	stream_put(s);
}

/* ---- the sockets that conn.c drives ---------------------------------------------------------- */

/* Returns the size of a read or write: @nr, or less to simulate short counts. */
static u32 some(struct stream *s, u32 nr)
{
	if (nr > 1 && simlnd_roll(s->w, SIM_SHORT, s->rail, s->node, s->peer))
		return 1 + sim_below(&s->w->rng, nr - 1);
	return nr;
}

static ssize_t simsock_io_write(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct stream *s = stream_of(c);
	u32 room = some(s, SEND_BUFFER - s->nr_out), done = 0, len;
	unsigned int i;

	if (s->reset)
		return -ECONNRESET;
	for (i = 0; i < nr && done < room; i++) {
		len = min_t(u32, vec[i].iov_len, room - done);
		memcpy(s->out + s->nr_out, vec[i].iov_base, len);
		s->nr_out += len;
		done += len;
	}
	s->nr_unacked += done;
	stream_launch(s);
	return done ? (ssize_t)done : -EAGAIN;
}

static ssize_t simsock_io_read(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct stream *s = stream_of(c);
	bool full = s->nr_in == RECV_BUFFER;
	u32 have = some(s, s->nr_in), done = 0, len;
	unsigned int i;

	if (s->reset && !s->nr_in)
		return -ECONNRESET;
	for (i = 0; i < nr && done < have; i++) {
		len = min_t(u32, vec[i].iov_len, have - done);
		memcpy(vec[i].iov_base, s->in + done, len);
		done += len;
	}
	memmove(s->in, s->in + done, s->nr_in - done);
	s->nr_in -= done;
	if (full && s->other)
		stream_launch(s->other);
	if (done)
		return done;
	return s->fin_seen ? 0 : -EAGAIN;
}

static void simsock_io_want(struct sock_conn *c)
{
	stream_poll_schedule(stream_of(c));
}

static void simsock_io_shut(struct sock_conn *c, bool abort)
{
	struct stream *s = stream_of(c);

	s->closed = true;
	s->dialing = false;
	if (abort || s->nr_in) {
		s->nr_out = 0;
		send_reset(s);
		s->reset = true;
	} else {
		s->fin = true;
		stream_launch(s);
	}
	stream_poll_schedule(s);
}

static u64 simsock_io_unacked(struct sock_conn *c)
{
	return stream_of(c)->nr_unacked;
}

static void simsock_io_packets(struct sock_conn *c, u32 *sent, u32 *lost)
{
	*sent = stream_of(c)->sent;
	*lost = stream_of(c)->lost;
}

/* ---- connecting ------------------------------------------------------------------------------ */

static void connected_event(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg;
	struct lnet_pass p;

	(void)w;
	if (s->c && s->dialing && !s->closed) {
		s->dialing = false;
		lnet_pass_begin(&p, s->c->sn->ln, LNET_PASS_DRIVER);
		sock_conn_connected(&p, s->c, -(int)num);
		lnet_pass_end(&p);
	}
	stream_poll_schedule(s);
	stream_put(s);
}

/*
 * Replies to a SYN: @err 0 accepts the connection, other values reject it. If the reply is lost,
 * the dial times out.
 */
static void answer_syn(struct stream *s, int err)
{
	struct sim_world *w = s->w;

	if (simlnd_cut(w, s->rail, s->peer, s->node))
		return;
	s->refs++;
	sim_at(w, w->now_ns + simlnd_latency(w), connected_event, s, err);
}

static void simsock_accept_setup(struct sock_conn *c, void *arg)
{
	((struct conn_io *)c->io)->s = arg;
}

static void accept_syn(struct simsock_ni *si, struct stream *s)
{
	struct stream *to = stream_new(s->w, s->peer, s->node, s->rail);
	struct sock_from from = { .privileged = true };
	struct lnet_nid nid;
	struct lnet_pass p;

	lnet_pass_begin(&p, si->sn.ln, LNET_PASS_DRIVER);
	sim_nid(&nid, s->node, s->rail);
	memcpy(from.addr, nid.addr, sizeof(nid.addr[0]));
	to->c = sock_accepted(&p, &si->sn, &from, simsock_accept_setup, to);
	lnet_pass_end(&p);
	if (!to->c) {
		stream_put(to);
		answer_syn(s, ECONNREFUSED);
		return;
	}
	to->other = s;
	s->other = to;
	to->connected = s->connected = true;
	answer_syn(s, 0);
}

static void syn_event(struct sim_world *w, void *arg, u64 num)
{
	struct stream *s = arg;
	struct simsock_ni *si;

	(void)num;
	if (s->closed || s->other) {
		stream_put(s);
		return;
	}
	if (simlnd_cut(w, s->rail, s->node, s->peer)) {
		sim_at(w, w->now_ns + SYN_AGAIN_NS, syn_event, s, 0);
		return;
	}
	si = s->peer < w->nr_nodes ? w->node[s->peer].sock[s->rail] : NULL;
	if (si)
		accept_syn(si, s);
	else
		answer_syn(s, ECONNREFUSED);
	stream_put(s);
}

static int simsock_io_dial(struct sock_conn *c, const struct lnet_nid *to)
{
	struct simsock_ni *si = sim_ni(c->sn);
	struct stream *s;
	u32 node, rail;

	if (!sim_nid_where(to, &node, &rail))
		return -EADDRNOTAVAIL;
	if (si->node->link_down & 1U << si->rail)
		return -ENETUNREACH;
	s = stream_new(si->w, si->node->ix, node, rail);
	((struct conn_io *)c->io)->s = s;
	s->c = c;
	s->dialing = true;
	stream_at(s, simlnd_latency(si->w), syn_event);
	return 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void tick_event(struct sim_world *w, void *arg, u64 num)
{
	struct sim_node *node = arg;
	struct simsock_ni *si = node->sock[num & 0xff];
	struct lnet_pass p;

	if (!si || si->life != num >> 8 || si->armed_ns > w->now_ns)
		return;
	si->armed_ns = U64_MAX;
	lnet_pass_begin(&p, si->sn.ln, LNET_PASS_DRIVER);
	sock_tick(&p, &si->sn, si->staging, STAGING);
	lnet_pass_end(&p);
}

static void simsock_io_arm(struct sock_ni *sn, u64 when_ns)
{
	struct simsock_ni *si = sim_ni(sn);

	when_ns = max(when_ns, si->w->now_ns + SIM_US);
	if (when_ns >= si->armed_ns)
		return;
	si->armed_ns = when_ns;
	sim_at(si->w, when_ns, tick_event, si->node, (u64)si->life << 8 | si->rail);
}

static const struct sock_io sim_io = {
	.conn_size = sizeof(struct conn_io),
	.dial = simsock_io_dial,
	.write = simsock_io_write,
	.read = simsock_io_read,
	.want = simsock_io_want,
	.shut = simsock_io_shut,
	.unacked = simsock_io_unacked,
	.packets = simsock_io_packets,
	.arm = simsock_io_arm,
};

/* ---- an NI ----------------------------------------------------------------------------------- */

static int simsock_ni_start(struct lnet_ni *ni)
{
	struct simsock_ni *si = lnet_ni_priv(ni);
	u32 n;

	si->node = sim_node_of(lnet_ni_instance(ni));
	si->w = si->node->w;
	si->life = si->node->life;
	if (!sim_nid_where(lnet_ni_nid(ni), &n, &si->rail) || n != si->node->ix ||
	    si->rail >= SIM_RAILS)
		return -EADDRNOTAVAIL;
	si->staging = kmalloc(STAGING, GFP_KERNEL);
	if (!si->staging)
		return -ENOMEM;
	si->armed_ns = U64_MAX;
	si->node->sock[si->rail] = si;
	si->node->lnet_ni[si->rail] = ni;
	return sock_ni_init(&si->sn, ni, &sim_io);
}

static void simsock_ni_stop(struct lnet_ni *ni)
{
	struct simsock_ni *si = lnet_ni_priv(ni);
	struct sock_conn *c, *next;
	struct lnet_pass p;

	si->node->sock[si->rail] = NULL;
	si->node->lnet_ni[si->rail] = NULL;
	lnet_pass_begin(&p, si->sn.ln, LNET_PASS_DRIVER);
	sock_ni_stop(&p, &si->sn);
	lnet_pass_end(&p);
	list_for_each_entry_safe(c, next, &si->sn.conns, all)
		stream_release(stream_of(c));
	sock_ni_fini(&si->sn);
	kfree(si->staging);
}

static int simsock_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct simsock_ni *si = lnet_ni_priv(ni);
	struct lnet_hdr hdr;

	lnet_att_hdr(att, &hdr);
	if (si->w->on_send)
		si->w->on_send(si->w, si->node, &hdr, att->op->id_state == ID_DRAWN);
	return sock_send(p, ni, att);
}

void simsock_reset_node(struct sim_world *w, u32 node, s32 rail, s32 peer)
{
	struct stream *s;

	list_for_each_entry(s, &w->streams, link)
		if (s->node == node && s->other && !s->reset &&
		    (rail < 0 || (u32)rail == s->rail) && (peer < 0 || (u32)peer == s->peer))
			break_stream(s);
}

void simsock_event_drop(sim_event_fn fn, void *arg)
{
	if (fn == poll_event || fn == flight_event || fn == hear_reset || fn == ack_event ||
	    fn == connected_event || fn == syn_event)
		stream_put(arg);
}

const struct lnet_lnd_ops simsock_ops = {
	.name = "simsock",
	.type = LNET_LND_TCP,
	.ni_priv_size = sizeof(struct simsock_ni),
	.inline_max = SOCK_INLINE_MAX,
	.peer_timeout = 180,
	.peer_credits = 8,
	.peer_buffer_credits = 0,
	.credits = 256,
	.ni_start = simsock_ni_start,
	.ni_stop = simsock_ni_stop,
	.send = simsock_send,
	.flush = sock_flush,
	.cancel = sock_cancel,
	.receive = sock_receive,
	.rx_stop = sock_rx_stop,
	.rx_address = sock_rx_address,
	.path_reset = sock_path_reset,
	.counter_names = sock_counter_names,
	.nr_counters = SOCK_NR_COUNTERS,
	.counters = sock_counters,
	.limits = sock_limits,
	.nr_limits = SOCK_NR_LIMITS,
	.peer_gone = sock_peer_gone,
};
