/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Measures for how long a change of interfaces stops the traffic of a node with many peers.
 *
 *	stall [PEERS [ROUNDS]]		default: 5000 peers of two and three interfaces, 7 rounds
 *
 * One driver represents all peers and answers as they would: an ACK to a PUT, a ping info to a
 * ping. One thread repeatedly sends a request to the next peer and works. Another thread adds an
 * interface, sets its link down and up, and deletes it. Discovery is on: all peers are notified of
 * each change.
 *
 * A turn is a request and a visit of the worker. For each kind of change the program prints the
 * median and the maximum of the longest turns of the rounds, by two clocks. One is wall time. The
 * other is independent of other programs. It excludes the time in which the sender waited for a
 * processor, and is at most the CPU time of the two threads. Exit status 0: all requests succeeded,
 * and no turn computed for more than 10 ms. The last column reports the limit of 1 ms, which a test
 * that runs together with others does not require.
 */
#include <lnet/lnd.h>
#include <lnet/nid.h>
#include <lnet/progress.h>
#include "lnet/shard/shard.h"
#include "lnet/topology/topology.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PORTAL		4
#define RAILS		3
#define ROUNDS_MAX	100
#define LIMIT_US	1000.0
#define FAIL_US		10000.0
#define CHANGED		"10.250.0.2@tcp1"
#define KNOWN_S		60	/* s: maximum until all peers are discovered */
#define SETTLE_MAX	40	/* times 50 ms */
#define SECOND		1000000000ULL

enum kind { NONE, ADD, DOWN, UP, DEL, KINDS };

static const char *const names[KINDS] = {
	"no change", "an NI is added", "its link goes", "its link comes back", "it is deleted",
};

static struct node {
	struct lnet_env *env;
	struct lnet *ln;
	lnet_md_t md;
	atomic_t stopping, nr_failed, nr_ended;
	atomic_t measured;	/* 1 while turns are measured */
	int schedstat;
	clockid_t changer;	/* CPU time of the thread that makes the changes */
	spinlock_t lock;
	double wall_us, used_us;	/* [lock] the longest turn */
	unsigned long nr_sent;
} node;

static unsigned int nr_peers = 5000, nr_rounds = 7;

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "stall: %s: %s\n", what, strerror(-rc));
	exit(2);
}

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

/* ---- the peers: a driver that answers ---- */

struct echo {
	spinlock_t lock;
	struct list_head queue;		/* attempts, by att->link */
	bool stopped;
};

static struct echo *echo_of(struct lnet_ni *ni)
{
	return lnet_ni_priv(ni);
}

static struct lnet_nid peer_nid(unsigned int peer, unsigned int rail)
{
	struct lnet_nid nid;
	char text[40];

	snprintf(text, sizeof(text), "10.%u.%u.%u@tcp%u", peer / 40000 + 1, peer / 200 % 200,
		 peer % 200 + 1, rail);
	must(lnet_nid_parse(&nid, text), text);
	return nid;
}

/* Peers with an odd number have three interfaces. */
static unsigned int rails_of(unsigned int peer)
{
	return peer % 2 ? 3 : 2;
}

/* Writes the ping info of the peer with @nid. */
static u32 info_of(const struct lnet_nid *nid, u8 *buf, u32 size)
{
	const u8 *addr = (const u8 *)nid->addr;
	unsigned int peer = (addr[1] - 1) * 40000 + addr[2] * 200 + addr[3] - 1, i;
	struct lnet_pinginfo_ni nis[RAILS];
	int len;

	for (i = 0; i < rails_of(peer); i++) {
		nis[i].nid = peer_nid(peer, i);
		nis[i].status = LNET_NI_UP;
	}
	len = lnet_pinginfo_encode(buf, size, LNET_FEAT_BASE | LNET_FEAT_MULTI_RAIL |
				   LNET_FEAT_DISCOVERY, LNET_PID, 1, nis, i);
	must(len, "ping info");
	return len;
}

static void receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *from,
		    const struct lnet_hdr *hdr, const u8 *data)
{
	struct lnet_rx *rx = lnet_rx_get(p);

	if (!rx)
		must(-ENOMEM, "rx");
	switch (lnet_rx_begin(p, ni, rx, hdr, from)) {
	case LNET_RECEIVE:
		lnet_buf_write(&rx->into, 0, data, rx->want);
		lnet_rx_done(p, rx, LNET_OK);
		break;
	case LNET_SKIP:
		break;
	default:
		must(-EPROTO, "an answer");
	}
}

/* Makes the peer's reply to @asked: header and payload. False: no reply. */
static bool answer(const struct lnet_hdr *asked, struct lnet_hdr *hdr, u8 *data, u32 size)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->dest_nid = asked->src_nid;
	hdr->src_nid = asked->dest_nid;
	hdr->dest_pid = asked->src_pid;
	hdr->src_pid = asked->dest_pid;
	if (asked->type == LNET_MSG_PUT && !lnet_handle_is_none(&asked->msg.put.ack_wmd)) {
		hdr->type = LNET_MSG_ACK;
		hdr->msg.ack.dst_wmd = asked->msg.put.ack_wmd;
		hdr->msg.ack.match_bits = asked->msg.put.match_bits;
		hdr->msg.ack.mlength = asked->payload_len;
		return true;
	}
	if (asked->type != LNET_MSG_GET)
		return false;
	hdr->type = LNET_MSG_REPLY;
	hdr->msg.reply.dst_wmd = asked->msg.get.return_wmd;
	hdr->payload_len = min(info_of(&asked->dest_nid, data, size), asked->msg.get.sink_length);
	return true;
}

static struct lnet_att *take_first(struct echo *echo)
{
	struct lnet_att *att;

	spin_lock(&echo->lock);
	att = list_first_entry_or_null(&echo->queue, struct lnet_att, link);
	if (att)
		list_del_init(&att->link);
	spin_unlock(&echo->lock);
	return att;
}

static void echo_work(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct lnet_hdr asked, hdr;
	struct lnet_peer_ni *from;
	struct lnet_att *att;
	u8 data[256];

	while ((att = take_first(echo_of(ni)))) {
		lnet_att_hdr(att, &asked);
		from = att->pni;
		lnet_peer_ni_hold(from);
		lnet_att_done(p, att, LNET_OK, 1);
		lnet_path_liveness(p, ni, from, 0);
		if (answer(&asked, &hdr, data, sizeof(data)))
			receive(p, ni, from, &hdr, data);
		lnet_pass_relax(p);
		lnet_peer_ni_put(from);
	}
}

static void echo_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	(void)p;
	lnet_ni_kick(ni);
}

static int echo_start(struct lnet_ni *ni)
{
	spin_lock_init(&echo_of(ni)->lock);
	INIT_LIST_HEAD(&echo_of(ni)->queue);
	return 0;
}

static void echo_stop(struct lnet_ni *ni)
{
	struct echo *echo = echo_of(ni);
	struct lnet_att *att;
	struct lnet_pass p;

	spin_lock(&echo->lock);
	echo->stopped = true;
	spin_unlock(&echo->lock);
	lnet_pass_begin(&p, lnet_ni_instance(ni), LNET_PASS_DRIVER);
	while ((att = take_first(echo)))
		lnet_att_done(&p, att, LNET_LOCAL_ABORTED, 0);
	lnet_pass_end(&p);
}

static int echo_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct echo *echo = echo_of(ni);
	bool stopped;

	(void)p;
	spin_lock(&echo->lock);
	stopped = echo->stopped;
	if (!stopped)
		list_add_tail(&att->link, &echo->queue);
	spin_unlock(&echo->lock);
	if (!stopped)
		return 0;
	att->outcome = LNET_LOCAL_DROPPED;
	return -ESHUTDOWN;
}

/* Each attempt is completed at once, so a cancel is always too late. */
static void echo_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
			enum lnet_cancel how)
{
	(void)p;
	(void)ni;
	(void)att;
	(void)how;
}

static void echo_rx(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	(void)p;
	(void)ni;
	(void)rx;
}

static const struct lnet_lnd_ops echo_ops = {
	.name = "echo",
	.type = LNET_LND_TCP,
	.ni_priv_size = sizeof(struct echo),
	.peer_timeout = 180,
	.peer_credits = 64,
	.credits = 1024,
	.ni_start = echo_start,
	.ni_stop = echo_stop,
	.send = echo_send,
	.flush = echo_flush,
	.work = echo_work,
	.cancel = echo_cancel,
	.receive = echo_rx,
	.rx_stop = echo_rx,
};

/* ---- traffic ---- */

static void on_event(const struct lnet_event *ev)
{
	if (!ev->final)
		return;
	atomic_inc(&node.nr_ended);
	if (ev->status && atomic_inc_return(&node.nr_failed) == 1)
		fprintf(stderr, "stall: a request failed: %s\n", strerror(-ev->status));
}

static void turn(void)
{
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.md = node.md;
	x.target.nid = peer_nid(node.nr_sent++ % nr_peers, 0);
	x.portal = PORTAL;
	x.flags = LNET_ACK;
	must(lnet_put(node.ln, &x), "a request");
	must(lnet_progress(node.ln, 0), "progress");
}

/* Returns the time for which this thread has waited for a processor. */
static double unserved_us(void)
{
	char text[100] = "";
	unsigned long long ran, waited = 0;

	if (pread(node.schedstat, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &ran, &waited) != 2)
		must(-EIO, "schedstat");
	return waited / 1e3;
}

static void measured_turn(void)
{
	double unserved = unserved_us(), wall = now_us(CLOCK_MONOTONIC), used;
	double own = now_us(CLOCK_THREAD_CPUTIME_ID), changer = now_us(node.changer);

	turn();
	changer = now_us(node.changer) - changer;
	own = now_us(CLOCK_THREAD_CPUTIME_ID) - own;
	wall = now_us(CLOCK_MONOTONIC) - wall;
	used = wall - (unserved_us() - unserved);
	if (atomic_read(&node.measured) != 1)
		return;
	used = used < own + changer ? used : own + changer;
	spin_lock(&node.lock);
	node.wall_us = wall > node.wall_us ? wall : node.wall_us;
	node.used_us = used > node.used_us ? used : node.used_us;
	spin_unlock(&node.lock);
}

static void *traffic(void *arg)
{
	(void)arg;
	node.schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
	while (!atomic_read(&node.stopping))
		measured_turn();
	return NULL;
}

/* ---- the node ---- */

static void ni_add(const char *text)
{
	struct lnet_ni_cfg ni;

	lnet_ni_cfg_init(&ni);
	must(lnet_nid_parse(&ni.nid, text), text);
	must(lnet_ni_add(node.ln, &ni), text);
}

static void peers_add(void)
{
	struct lnet_nid nid[RAILS];
	unsigned int i, k;

	for (i = 0; i < nr_peers; i++) {
		for (k = 0; k < RAILS; k++)
			nid[k] = peer_nid(i, k);
		must(lnet_peer_add(node.ln, &nid[0], &nid[1], rails_of(i) - 1, true), "a peer");
	}
}

static void node_up(void)
{
	struct lnet_user_env_cfg env = { .mode = LNET_PROGRESS_MANUAL };
	static u8 byte;
	struct lnet_md_cfg md = { .start = &byte, .length = 1, .cpt = -1, .handler = on_event,
				  .threshold = LNET_THRESHOLD_INF };
	struct lnet_cfg cfg = { 0 };

	must(lnet_user_env_create(&node.env, &env), "environment");
	cfg.env = node.env;
	must(lnet_create(&node.ln, &cfg), "node");
	must(lnet_user_env_start(node.env, node.ln), "start");
	must(lnet_lnd_register(node.ln, &echo_ops), "driver");
	/* so that all peers are notified within a round */
	must(lnet_tunable_set(node.ln, "push_rate", 50000), "push_rate");
	must(lnet_tunable_set(node.ln, "push_delay", SECOND / 100), "push_delay");
	must(lnet_tunable_set(node.ln, "peers_max", 2 * nr_peers), "peers_max");
	ni_add("10.250.0.1@tcp");
	ni_add("10.250.0.1@tcp1");
	ni_add("10.250.0.1@tcp2");
	peers_add();
	must(lnet_md_bind(node.ln, &md, LNET_RETAIN, &node.md), "memory");
}

static bool is_known(const struct lnet_peer *peer)
{
	return lnet_nid_is_lo(&peer->primary) || (peer->disc.known && peer->nr_pnis > 1);
}

/* Sends requests until all peers have been discovered. */
static void meet(void)
{
	double end_us = now_us(CLOCK_MONOTONIC) + KNOWN_S * 1e6;
	unsigned int nr_known = 0, i;

	while (nr_known < nr_peers && now_us(CLOCK_MONOTONIC) < end_us) {
		struct lnet_peer *peer = NULL;

		for (i = 0; i < nr_peers; i++)
			turn();
		for (nr_known = 0; (peer = lnet_peer_next(node.ln, peer));)
			nr_known += !lnet_nid_is_lo(&peer->primary) && is_known(peer);
	}
	printf("# %u of %u peers are known\n", nr_known, nr_peers);
	must(nr_known < nr_peers ? -ETIMEDOUT : 0, "discovery");
}

/* ---- changes ---- */

static void link_set(bool up)
{
	struct lnet_link link = { .up = up };
	struct lnet_nid nid;
	struct lnet_ni *ni;

	must(lnet_nid_parse(&nid, CHANGED), CHANGED);
	ni = lnet_ni_find(node.ln, &nid);
	must(ni ? 0 : -ENOENT, CHANGED);
	lnet_ni_link(ni, &link);
	lnet_ni_put(ni);
}

static void change(enum kind kind)
{
	struct lnet_nid nid;

	switch (kind) {
	case ADD:
		ni_add(CHANGED);
		break;
	case DOWN:
	case UP:
		link_set(kind == UP);
		break;
	case DEL:
		must(lnet_nid_parse(&nid, CHANGED), CHANGED);
		must(lnet_ni_del(node.ln, &nid), CHANGED);
		break;
	default:
		break;
	}
}

struct found {
	double wall_us[ROUNDS_MAX], used_us[ROUNDS_MAX], call_us;
	u64 nr_pushes;
};

/* Waits until all pushes of a change have been sent. */
static void settle(enum kind kind)
{
	u64 before, now = lnet_stat_sum(node.ln, LNET_C_pushes_sent);
	unsigned int i;

	usleep(kind == NONE ? 100000 : 150000);
	for (i = 0, before = 0; i < SETTLE_MAX && now != before; i++) {
		before = now;
		usleep(50000);
		now = lnet_stat_sum(node.ln, LNET_C_pushes_sent);
	}
}

static void measure(enum kind kind, unsigned int round, struct found *f)
{
	u64 pushes = lnet_stat_sum(node.ln, LNET_C_pushes_sent);
	double call_us;

	spin_lock(&node.lock);
	node.wall_us = node.used_us = 0;
	spin_unlock(&node.lock);
	atomic_set(&node.measured, 1);
	call_us = now_us(CLOCK_MONOTONIC);
	change(kind);
	call_us = now_us(CLOCK_MONOTONIC) - call_us;
	settle(kind);
	atomic_set(&node.measured, 0);
	usleep(20000);			/* until the current turn has ended */
	spin_lock(&node.lock);
	f->wall_us[round] = node.wall_us;
	f->used_us[round] = node.used_us;
	spin_unlock(&node.lock);
	f->call_us = call_us > f->call_us ? call_us : f->call_us;
	f->nr_pushes += lnet_stat_sum(node.ln, LNET_C_pushes_sent) - pushes;
}

static int by_size(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

static double report(enum kind kind, struct found *f)
{
	double worst;

	qsort(f->wall_us, nr_rounds, sizeof(double), by_size);
	qsort(f->used_us, nr_rounds, sizeof(double), by_size);
	worst = f->used_us[nr_rounds - 1];
	printf("| %s | %.0f | %.0f | %.0f | %.0f | %.1f | %llu | %s |\n", names[kind],
	       f->used_us[nr_rounds / 2], worst, f->wall_us[nr_rounds / 2],
	       f->wall_us[nr_rounds - 1], f->call_us / 1e3,
	       (unsigned long long)(f->nr_pushes / nr_rounds),
	       kind == NONE ? "" : worst <= LIMIT_US ? "yes" : "**no**");
	return worst;
}

int main(int argc, char **argv)
{
	static struct found found[KINDS];
	unsigned int kind, round;
	bool failed = false;
	pthread_t thread;

	nr_peers = argc > 1 ? strtoul(argv[1], NULL, 10) : nr_peers;
	nr_rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : nr_rounds;
	if (!nr_peers || nr_peers > 40000 || !nr_rounds || nr_rounds > ROUNDS_MAX) {
		fprintf(stderr, "stall [PEERS [ROUNDS]]\n");
		return 2;
	}
	setbuf(stdout, NULL);
	spin_lock_init(&node.lock);
	node_up();
	meet();
	must(-pthread_getcpuclockid(pthread_self(), &node.changer), "clock");
	must(-pthread_create(&thread, NULL, traffic, NULL), "thread");
	for (round = 0; round < nr_rounds; round++)
		for (kind = 0; kind < KINDS; kind++)
			measure(kind, round, &found[kind]);
	atomic_set(&node.stopping, 1);
	pthread_join(thread, NULL);
	printf("| change | computed, us | worst | wall, us | worst | call, ms | pushes |"
	       " worst <= 1 ms |\n");
	printf("|---|---|---|---|---|---|---|---|\n");
	for (kind = 0; kind < KINDS; kind++)
		failed |= report(kind, &found[kind]) > FAIL_US;
	printf("# %d requests ended, %d failed\n", atomic_read(&node.nr_ended),
	       atomic_read(&node.nr_failed));
	lnet_user_env_stop(node.env);
	lnet_destroy(node.ln);
	lnet_user_env_destroy(node.env);
	return failed || atomic_read(&node.nr_failed);
}
