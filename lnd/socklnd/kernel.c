/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver on kernel sockets, and its table of operations. */
#include "lnd/socklnd/kernel.h"
#include <linux/sched/mm.h>
#include <linux/wait_bit.h>
#include <net/tcp.h>

#define LINGER_NS	1000000000ULL	/* time for the last bytes of a rejection */
#define LINGERS_MAX	256U		/* further closed connections are reset */
#define STAGING_SIZE	65536U
#define STAGING_KEPT	8U

struct sock_ni *sock_ni_of(struct lnet_ni *ni)
{
	struct kern_ni *kn = lnet_ni_priv(ni);

	return &kn->sn;
}

static struct sock_conn *kern_sock_conn(struct kern_conn *kc)
{
	return container_of((u8 *)kc, struct sock_conn, io[0]);
}

/* ---- memory of readers ---- */

/*
 * Staging memory for reads. Each concurrent reader uses one piece. A few pieces are cached, so that
 * most reads allocate nothing.
 */
static DEFINE_SPINLOCK(staging_lock);
static void *staging[STAGING_KEPT];
static u32 nr_staging;

static u8 *staging_get(u32 *size)
{
	void *buf = NULL;

	*size = STAGING_SIZE;
	spin_lock(&staging_lock);
	if (nr_staging)
		buf = staging[--nr_staging];
	spin_unlock(&staging_lock);
	if (!buf)
		buf = kmalloc(STAGING_SIZE, GFP_NOFS | __GFP_NOWARN | __GFP_NORETRY);
	if (buf)
		return buf;
	*size = PAGE_SIZE;
	return kmalloc(PAGE_SIZE, GFP_NOFS);
}

static void staging_put(void *buf, u32 size)
{
	spin_lock(&staging_lock);
	if (size == STAGING_SIZE && nr_staging < STAGING_KEPT) {
		staging[nr_staging++] = buf;
		buf = NULL;
	}
	spin_unlock(&staging_lock);
	kfree(buf);
}

void kern_staging_exit(void)
{
	while (nr_staging)
		kfree(staging[--nr_staging]);
}

/* ---- callbacks of a connection's socket: softirq; they only wake its worker ---- */

static void kern_sock_raise(struct sock *sk, unsigned long event)
{
	struct sock_conn *c;

	read_lock_bh(&sk->sk_callback_lock);
	c = sk->sk_user_data;
	if (c)
		lnet_env_poll_raise(&kern_conn(c)->poll, event);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void on_data_ready(struct sock *sk)
{
	kern_sock_raise(sk, LNET_POLL_READ);
}

static void on_write_space(struct sock *sk)
{
	if (!sk_stream_is_writeable(sk))
		return;
	if (sk->sk_socket)
		clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags);
	kern_sock_raise(sk, LNET_POLL_WRITE);
}

static void on_state_change(struct sock *sk)
{
	kern_sock_raise(sk, LNET_POLL_STATE);
}

void kern_conn_attach(struct sock_conn *c, struct socket *sock)
{
	struct kern_conn *kc = kern_conn(c);
	struct sock *sk = sock->sk;

	kc->sock = sock;
	write_lock_bh(&sk->sk_callback_lock);
	kc->data_ready = sk->sk_data_ready;
	kc->write_space = sk->sk_write_space;
	kc->state_change = sk->sk_state_change;
	sk->sk_user_data = c;
	sk->sk_data_ready = on_data_ready;
	sk->sk_write_space = on_write_space;
	sk->sk_state_change = on_state_change;
	write_unlock_bh(&sk->sk_callback_lock);
}

void kern_conn_detach(struct kern_conn *kc)
{
	struct sock *sk = kc->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = kc->data_ready;
	sk->sk_write_space = kc->write_space;
	sk->sk_state_change = kc->state_change;
	write_unlock_bh(&sk->sk_callback_lock);
}

/* ---- the sockets that conn.c drives ---- */

static bool conn_ready(struct lnet_poll *poll, unsigned long events);

void kern_conn_setup(struct sock_conn *c)
{
	atomic_inc(&kern_ni(c->sn)->nr_live);
	kern_conn(c)->listening = true;
	lnet_env_poll_init(&kern_conn(c)->poll, c->sn->ni->cpts, conn_ready);
}

/*
 * A worker dials, because the caller may be short of memory, or not permitted to use reserved
 * ports.
 */
static int kern_io_dial(struct sock_conn *c, const struct lnet_nid *to)
{
	kern_conn_setup(c);
	lnet_env_poll_raise(&kern_conn(c)->poll, LNET_POLL_TURN);
	return 0;
}

static ssize_t kern_io_write(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	unsigned int flags = memalloc_noreclaim_save(), i;
	size_t len = 0;
	ssize_t n;

	if (c->more)
		msg.msg_flags |= MSG_MORE;
	for (i = 0; i < nr; i++)
		len += vec[i].iov_len;
	n = kernel_sendmsg(kern_conn(c)->sock, &msg, (struct kvec *)vec, nr, len);
	memalloc_noreclaim_restore(flags);
	return n;
}

static ssize_t kern_io_read(struct sock_conn *c, const struct kvec *vec, unsigned int nr)
{
	struct msghdr msg = {};
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		len += vec[i].iov_len;
	return kernel_recvmsg(kern_conn(c)->sock, &msg, (struct kvec *)vec, nr, len,
			      MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool kern_sock_has_room(struct socket *sock)
{
	if (sk_stream_is_writeable(sock->sk))
		return true;
	set_bit(SOCK_NOSPACE, &sock->flags);
	/*
	 * TCP calls on_write_space() only if it sees SOCK_NOSPACE. If space became free before TCP
	 * saw the bit, the second check below sees the free space. So no wake-up is lost.
	 */
	smp_mb__after_atomic();
	return sk_stream_is_writeable(sock->sk);
}

/* Checks the present state of the socket, because callbacks report only changes. */
static void kern_io_want(struct sock_conn *c)
{
	struct kern_conn *kc = kern_conn(c);
	bool listening = kc->listening;

	if (!kc->sock || kc->released)
		return;
	kc->listening = c->want_read;
	if ((c->want_read && !listening) || (c->want_write && kern_sock_has_room(kc->sock)))
		lnet_env_poll_raise(&kc->poll, LNET_POLL_TURN);
}

/* The worker releases the connection. It resets the connection unless the connection may linger. */
static void kern_io_shut(struct sock_conn *c, bool abort)
{
	struct kern_conn *kc = kern_conn(c);

	if (!abort && kc->sock) {
		kernel_sock_shutdown(kc->sock, SHUT_WR);
		if (kern_ni(c->sn)->nr_closed < LINGERS_MAX)
			kc->linger_ns = c->sn->now_ns + LINGER_NS;
		sock_arm(c->sn, c->sn->now_ns + SOCK_TICK_NS);
	}
	kern_ni(c->sn)->nr_closed++;
	lnet_env_poll_raise(&kc->poll, LNET_POLL_TURN);
}

static void kern_io_finish(struct sock_conn *c)
{
	if (kern_conn(c)->sock)
		kernel_sock_shutdown(kern_conn(c)->sock, SHUT_WR);
}

static u64 kern_io_unacked(struct sock_conn *c)
{
	struct socket *sock = kern_conn(c)->sock;
	const struct tcp_sock *tp;

	if (!sock)
		return 0;
	tp = tcp_sk(sock->sk);
	return READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}

/* Does not count a retransmission as lost if the peer reports a duplicate. */
static void kern_io_packets(struct sock_conn *c, u32 *sent, u32 *lost)
{
	struct socket *sock = kern_conn(c)->sock;
	const struct tcp_sock *tp;

	if (!sock)
		return;
	tp = tcp_sk(sock->sk);
	*sent = READ_ONCE(tp->data_segs_out);
	*lost = READ_ONCE(tp->total_retrans) - READ_ONCE(tp->dsack_dups);
}

/* Sets the timer only to an earlier time than before; a tick that is too early does nothing. */
static void kern_io_arm(struct sock_ni *sn, u64 when_ns)
{
	struct kern_ni *kn = kern_ni(sn);

	if (when_ns >= kn->armed_ns)
		return;
	kn->armed_ns = when_ns;
	lnet_env_alarm_set(&kn->alarm, when_ns);
}

static const struct sock_io kern_io = {
	.conn_size = sizeof(struct kern_conn),
	.dial = kern_io_dial,
	.write = kern_io_write,
	.read = kern_io_read,
	.pin = kern_pin_new,
	.write_pinned = kern_write_pinned,
	.unpin = kern_unpin,
	.is_free = kern_pin_is_free,
	.want = kern_io_want,
	.shut = kern_io_shut,
	.finish = kern_io_finish,
	.unacked = kern_io_unacked,
	.packets = kern_io_packets,
	.arm = kern_io_arm,
};

/* ---- turns of a connection's worker ---- */

static bool fin_is_under_way(const struct socket *sock)
{
	switch (READ_ONCE(sock->sk->sk_state)) {
	case TCP_FIN_WAIT1:
	case TCP_LAST_ACK:
	case TCP_CLOSING:
		return true;
	default:
		return false;
	}
}

/*
 * Lock held. The driver closes a lingering socket later, because a closed kernel socket retransmits
 * nothing.
 */
static bool lingers(struct kern_ni *kn, struct kern_conn *kc)
{
	struct lnet_env *env = lnet_env_of(kn->sn.ln);

	return kc->linger_ns && !kn->sn.stopping && fin_is_under_way(kc->sock) &&
	       env->ops->now_ns(env) < kc->linger_ns;
}

/* Claims @c for release by the caller: @c is closed, and no thread writes to it. */
static bool kern_conn_claim_closed(struct kern_ni *kn, struct sock_conn *c)
{
	struct kern_conn *kc = kern_conn(c);
	bool mine;

	mutex_lock(&kn->sn.lock);
	mine = c->state == CONN_CLOSED && !c->writing && !lingers(kn, kc);
	if (mine) {
		kc->released = true;
		kn->nr_closed--;
	}
	mutex_unlock(&kn->sn.lock);
	return mine;
}

/*
 * Closes the socket of @c. If the peer has acknowledged all bytes (TCP_FIN_WAIT2), the connection
 * ends without a reset. In this case, the network namespace of the socket may end before the
 * connection. Otherwise resets the connection.
 */
static void kern_conn_release(struct kern_ni *kn, struct sock_conn *c)
{
	struct kern_conn *kc = kern_conn(c);

	if (kc->sock) {
		kern_conn_detach(kc);
		if (READ_ONCE(kc->sock->sk->sk_state) != TCP_FIN_WAIT2)
			sock_no_linger(kc->sock->sk);
		sock_release(kc->sock);
	}
	lnet_env_poll_del(&kc->poll);
	sock_conn_released(c);
	if (atomic_dec_and_test(&kn->nr_live))
		wake_up_var(&kn->nr_live);
}

/* Returns 0 (connected), -EINPROGRESS, or another -errno. */
static int connect_result(struct sock *sk)
{
	int err;

	switch (READ_ONCE(sk->sk_state)) {
	case TCP_SYN_SENT:
	case TCP_SYN_RECV:
		return -EINPROGRESS;
	case TCP_CLOSE:
		err = sock_error(sk);
		return err ? err : -ECONNRESET;
	default:
		return 0;
	}
}

static int dial(struct kern_ni *kn, struct sock_conn *c)
{
	struct socket *sock;
	int err = kern_socket_dial(kn, &c->peer->nid, &sock);

	if (err)
		return err;
	mutex_lock(&kn->sn.lock);
	kern_conn_attach(c, sock);
	mutex_unlock(&kn->sn.lock);
	return 0;
}

static void connect_turn(struct kern_ni *kn, struct sock_conn *c)
{
	struct kern_conn *kc = kern_conn(c);
	int begun = kc->sock ? 0 : dial(kn, c), err;
	struct lnet_pass p;

	lnet_pass_begin(&p, c->sn->ln, LNET_PASS_DRIVER);
	if (begun) {
		sock_conn_undialled(&p, c, begun);
	} else {
		err = connect_result(kc->sock->sk);
		if (err != -EINPROGRESS)
			sock_conn_connected(&p, c, err);
	}
	lnet_pass_end(&p);
}

static bool is_dead(const struct sock *sk)
{
	return READ_ONCE(sk->sk_err) || READ_ONCE(sk->sk_state) == TCP_CLOSE;
}

/*
 * Returns true if more bytes can be read from @c. For these bytes, the callbacks of the socket may
 * have run before the last read, and they do not run again. So the worker must read again.
 */
static bool has_more(const struct sock_conn *c, const struct sock *sk)
{
	return c->busy || !skb_queue_empty_lockless(&sk->sk_receive_queue) ||
	       READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN || is_dead(sk);
}

static bool read_turn(struct lnet_pass *p, struct sock_conn *c)
{
	u32 size;
	u8 *buf = staging_get(&size);
	bool got;

	if (!buf)
		return true;		/* retry later */
	got = sock_conn_readable(p, c, buf, size);
	staging_put(buf, size);
	return got;
}

/* True: the worker runs again. */
static bool conn_turn(struct sock_conn *c)
{
	struct sock *sk = kern_conn(c)->sock->sk;
	struct lnet_pass p __uninitialized;
	bool got = false;

	lnet_pass_begin(&p, c->sn->ln, LNET_PASS_DRIVER);
	if (READ_ONCE(c->state) == CONN_WAIT_REQUEST && kern_request_ready(&p, c))
		sk = NULL;
	else if (!READ_ONCE(c->waits))
		got = read_turn(&p, c);
	else if (is_dead(sk))
		sock_conn_broken(&p, c);
	if (sk && READ_ONCE(c->want_write) && sk_stream_is_writeable(sk))
		sock_conn_writable(&p, c);
	lnet_pass_end(&p);
	return sk && !READ_ONCE(c->waits) && (c->stash || (got && has_more(c, sk)));
}

static bool conn_ready(struct lnet_poll *poll, unsigned long events)
{
	struct kern_conn *kc = container_of(poll, struct kern_conn, poll);
	struct sock_conn *c = kern_sock_conn(kc);
	struct kern_ni *kn = kern_ni(c->sn);
	bool again = false;

	if (READ_ONCE(c->state) == CONN_CONNECTING)
		connect_turn(kn, c);
	else if (READ_ONCE(c->state) != CONN_CLOSED)
		again = conn_turn(c);
	if (READ_ONCE(c->state) != CONN_CLOSED)
		return again;
	if (kern_conn_claim_closed(kn, c))
		kern_conn_release(kn, c);
	return false;
}

/* ---- the timer ---- */

/* Lock held. Wakes the workers of closed connections. Returns true if there are any. */
static bool raise_closed(struct kern_ni *kn)
{
	struct sock_conn *c;

	if (!kn->nr_closed)
		return false;
	list_for_each_entry(c, &kn->sn.conns, all) {
		if (c->state != CONN_CLOSED)
			break;		/* closed connections precede the others */
		if (!kern_conn(c)->released)
			lnet_env_poll_raise(&kern_conn(c)->poll, LNET_POLL_TURN);
	}
	return true;
}

/*
 * Calls sock_tick() without staging memory, so sock_tick() reads from no connection. If reads of a
 * connection resume, kern_io_want() has already woken the worker of the connection, which reads.
 */
static bool tick_ready(struct lnet_poll *poll, unsigned long events)
{
	struct kern_ni *kn = container_of(poll, struct kern_ni, tick);
	struct lnet_pass p;

	lnet_pass_begin(&p, kn->sn.ln, LNET_PASS_DRIVER);
	sock_lock(&p, &kn->sn);
	kn->armed_ns = U64_MAX;
	sock_unlock(&p, &kn->sn);
	sock_tick(&p, &kn->sn, NULL, 0);
	sock_lock(&p, &kn->sn);
	if (raise_closed(kn))
		sock_arm(&kn->sn, kn->sn.now_ns + SOCK_TICK_NS);
	sock_unlock(&p, &kn->sn);
	lnet_pass_end(&p);
	return false;
}

/* ---- an NI ---- */

static void kern_ni_fini(struct kern_ni *kn)
{
	kern_listener_stop(kn);
	lnet_env_alarm_del(&kn->alarm);
	lnet_env_poll_del(&kn->tick);
	sock_ni_fini(&kn->sn);
}

static int kern_ni_start(struct lnet_ni *ni)
{
	struct kern_ni *kn = lnet_ni_priv(ni);
	int err;

	kn->net = lnet_env_net(lnet_env_of(lnet_ni_instance(ni)));
	kn->armed_ns = U64_MAX;
	err = sock_ni_init(&kn->sn, ni, &kern_io);
	if (err)
		return err;
	kern_link_place(kn);
	lnet_env_poll_init(&kn->tick, ni->cpts, tick_ready);
	lnet_env_alarm_init(&kn->alarm, &kn->tick);
	err = kern_listener_start(kn);
	if (err)
		kern_ni_fini(kn);
	else
		kern_link_start(kn);
	return err;
}

/* If a thread still writes to a closed connection, the connection is released after the write. */
static void kern_conns_release(struct kern_ni *kn)
{
	do {
		mutex_lock(&kn->sn.lock);
		raise_closed(kn);
		mutex_unlock(&kn->sn.lock);
	} while (!wait_var_event_timeout(&kn->nr_live, !atomic_read(&kn->nr_live), 1));
}

static void kern_ni_stop(struct lnet_ni *ni)
{
	struct kern_ni *kn = lnet_ni_priv(ni);
	struct lnet_pass p;

	kern_link_stop(kn);
	kern_listener_stop(kn);
	lnet_pass_begin(&p, kn->sn.ln, LNET_PASS_DRIVER);
	sock_ni_stop(&p, &kn->sn);
	lnet_pass_end(&p);
	kern_conns_release(kn);
	kern_pins_end(kn);
	kern_ni_fini(kn);
}

struct lnet_lnd_ops kern_socklnd_ops = {
	.owner = THIS_MODULE,
	.name = "tcp",
	.type = LNET_LND_TCP,
	.ni_priv_size = sizeof(struct kern_ni),
	.inline_max = SOCK_INLINE_MAX,
	.ni_start = kern_ni_start,
	.ni_close = sock_ni_close,
	.ni_stop = kern_ni_stop,
	.send = sock_send,
	.send_list = sock_send_list,
	.flush = sock_flush,
	.cancel = sock_cancel,
	.receive = sock_receive,
	.rx_stop = sock_rx_stop,
	.rx_address = sock_rx_address,
	.path_reset = sock_path_reset,
	.peer_gone = sock_peer_gone,
	.counter_names = sock_counter_names,
	.nr_counters = SOCK_NR_COUNTERS,
	.counters = sock_counters,
	.limits = sock_limits,
	.nr_limits = SOCK_NR_LIMITS,
};
