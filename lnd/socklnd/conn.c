/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Creates, opens and closes connections and their sets, and reports lost sets to the core. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"
#include "lnet/base/base.h"

const char *const sock_conn_state_names[SOCK_NR_CONN_STATES] = {
#define STATE(s) #s,
#define EDGE(a, b)
#include "lnd/socklnd/conn.def"
#undef STATE
#undef EDGE
};

const char *const sock_counter_names[SOCK_NR_COUNTERS] = {
#define SOCK_COUNTER(name, text) #name,
#include "lnd/socklnd/sock_counters.def"
#undef SOCK_COUNTER
};

static bool edge_is_legal(enum sock_conn_state from, enum sock_conn_state to)
{
	static const struct { u8 from, to; } edges[] = {
#define STATE(s)
#define EDGE(a, b) { a, b },
#include "lnd/socklnd/conn.def"
#undef STATE
#undef EDGE
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		if (edges[i].from == from && edges[i].to == to)
			return true;
	return false;
}

void sock_conn_set_state(struct sock_conn *c, enum sock_conn_state state)
{
	WARN_ON_ONCE(!edge_is_legal(c->state, state));
	lnet_trace(conn, c, c->state, state);
	WRITE_ONCE(c->state, state);
}

/* ---- the lock, and the upcalls when it is released ---- */

void sock_lock(struct lnet_pass *p, struct sock_ni *sn)
{
	if (p->sh)
		lnet_pass_relax(p);
	mutex_lock(&sn->lock);
	sn->now_ns = max(sn->now_ns, p->now_ns);
}

/* [lock] released around the upcalls. */
static void tell_peer(struct lnet_pass *p, struct sock_ni *sn, struct sock_peer *peer)
{
	struct lnet_peer_ni *pni = peer->pni;
	bool lost = peer->lost, alive = peer->alive;
	enum lnet_outcome how = peer->lost_how;
	u32 epoch = peer->lost_epoch;

	list_del_init(&peer->work);
	peer->lost = false;
	peer->alive = false;
	lnet_peer_ni_hold(pni);
	mutex_unlock(&sn->lock);
	if (lost)
		lnet_path_lost(p, sn->ni, pni, epoch, how);
	if (alive)
		lnet_path_liveness(p, sn->ni, pni, 0);
	lnet_pass_relax(p);
	lnet_peer_ni_put(pni);
	mutex_lock(&sn->lock);
}

/* Lock held; releases and takes it. */
static void tell_broken(struct lnet_pass *p, struct sock_ni *sn, struct sock_conn *c)
{
	list_del_init(&c->broken);
	mutex_unlock(&sn->lock);
	sock_rx_abandon(p, c);
	lnet_pass_relax(p);
	sock_conn_put(c);
	mutex_lock(&sn->lock);
}

void sock_unlock(struct lnet_pass *p, struct sock_ni *sn)
{
	while (!list_empty(&sn->work))
		tell_peer(p, sn, list_first_entry(&sn->work, struct sock_peer, work));
	while (!list_empty(&sn->broken))
		tell_broken(p, sn, list_first_entry(&sn->broken, struct sock_conn, broken));
	mutex_unlock(&sn->lock);
}

void sock_arm(struct sock_ni *sn, u64 when_ns)
{
	if (when_ns >= sn->next_ns || sn->stopping)
		return;
	sn->next_ns = when_ns;
	sn->io->arm(sn, when_ns);
}

/* ---- one connection ---- */

struct sock_conn *sock_conn_new(struct sock_ni *sn)
{
	struct sock_conn *c = kzalloc(sizeof(*c) + sn->io->conn_size, GFP_NOFS);

	if (!c)
		return NULL;
	c->sn = sn;
	atomic_set(&c->refs, 1);
	INIT_LIST_HEAD(&c->set);
	INIT_LIST_HEAD(&c->doorbell);
	INIT_LIST_HEAD(&c->broken);
	INIT_LIST_HEAD(&c->resume);
	INIT_LIST_HEAD(&c->noops);
	INIT_LIST_HEAD(&c->txs);
	INIT_LIST_HEAD(&c->queued_at);
	list_add_tail(&c->all, &sn->conns);
	sn->nr_conns++;
	c->start_ns = sn->now_ns;
	c->want_read = true;
	return c;
}

void sock_conn_put(struct sock_conn *c)
{
	if (!atomic_dec_and_test(&c->refs))
		return;
	kfree(c);
}

void sock_conn_released(struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;

	mutex_lock(&sn->lock);
	list_del_init(&c->all);
	list_del_init(&c->resume);
	sn->nr_conns--;
	if (c->peer)
		c->peer->pins--;
	/* a closed connection may have a claim (bytes reserved for a payload) without a message */
	sock_receive_unclaim(c);
	sock_stash_drop(c);
	sock_host_put(sn, c->host);
	mutex_unlock(&sn->lock);
	sock_conn_put(c);
}

static void drop_noops(struct sock_conn *c)
{
	struct sock_noop *n, *next;

	list_for_each_entry_safe(n, next, &c->noops, link)
		sock_noop_free(c, n);
}

/* Closes a connection; all functions that close one call this function. */
void sock_conn_shut(struct lnet_pass *p, struct sock_conn *c, bool abort)
{
	struct sock_ni *sn = c->sn;

	drop_noops(c);
	sock_conn_set_state(c, CONN_CLOSED);
	sock_half_del(&sn->halfs, &c->half);
	sock_half_del(&sn->opens, &c->guest);
	list_move(&c->all, &sn->conns);		/* closed connections precede the others */
	list_del_init(&c->set);
	list_del_init(&c->doorbell);
	sock_host_shut(c);
	if (!c->reading && (c->rx || c->hold)) {
		/*
		 * Holds a reference until tell_broken(), because another thread may release @c
		 * before that.
		 */
		atomic_inc(&c->refs);
		list_add_tail(&c->broken, &sn->broken);
	}
	if (!c->writing)
		sock_out_drop(p, c);
	sn->io->shut(c, abort);
}

/*
 * Lock held. Ends the dial of @peer. If the dial sent its HELLO and no set exists, the peer may
 * have accepted the HELLO, and may have a set with its incarnation. So the next set of this node
 * needs another incarnation.
 */
static void dial_end(struct sock_peer *peer)
{
	if (peer->dial->state == CONN_WAIT_REPLY && list_empty(&peer->conns))
		sock_peer_reincarnate(peer);
	peer->dial = NULL;
}

void sock_conn_close(struct lnet_pass *p, struct sock_conn *c, bool abort)
{
	if (c->state == CONN_CLOSED)
		return;
	if (c->peer && c->peer->dial == c)
		dial_end(c->peer);
	sock_conn_shut(p, c, abort);
}

void sock_conn_open(struct lnet_pass *p, struct sock_conn *c, struct sock_peer *peer)
{
	struct sock_ni *sn = c->sn;

	sock_half_del(&sn->halfs, &c->half);
	if (!c->peer)
		peer->pins++;
	c->peer = peer;
	sock_conn_set_state(c, CONN_OPEN);
	if (!c->mine)
		sock_guest_add(c);
	sock_host_open(c);
	if (list_empty(&peer->conns))
		peer->from = c->from;
	list_move_tail(&c->set, &peer->conns);
	c->last_rx_ns = sn->now_ns;
	c->deadline_ns = 0;
	c->epoch = peer->epoch;
	peer->nr[c->type]++;
	peer->nr_mine += c->mine;
	peer->alive_ns = sn->now_ns;
	peer->backoff_ns = 0;
	peer->dial_least_ns = 0;
	if (c->mine)
		peer->dial_took_ns = sn->now_ns - c->start_ns;
	peer->dial_version = c->version;
	sock_count(sn, opened);
	if (sn->io->opened)
		sn->io->opened(c);
	sock_peer_arm(peer, sn->now_ns + SOCK_TICK_NS);
	sock_doorbell(c);
	sock_doorbell_peer(peer);
}

static void drop_cookies(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how)
{
	struct sock_zc *zc, *next;

	list_for_each_entry_safe(zc, next, &peer->zc, link) {
		list_del(&zc->link);
		if (zc->att && list_empty(&zc->att->link))
			sock_att_done(p, peer->sn, zc->att, how, peer->epoch);
		kfree(zc);
	}
}

static void owe_lost(struct sock_peer *peer, enum lnet_outcome how)
{
	peer->lost = true;
	peer->lost_epoch = peer->epoch;
	peer->lost_how = how;
	if (list_empty(&peer->work))
		list_add_tail(&peer->work, &peer->sn->work);
}

/*
 * Lock held. Gives the next set with @peer another incarnation, by which the peer detects that the
 * old set is closed. Otherwise a peer that did not notice the end would still count the old
 * connections, and might reject those of the next set. A dial that waits for its reply has already
 * sent the old incarnation. So this function also closes the dial.
 */
static void set_reincarnate(struct lnet_pass *p, struct sock_peer *peer)
{
	if (peer->dial && peer->dial->state == CONN_WAIT_REPLY) {
		sock_conn_close(p, peer->dial, true);
		peer->job = false;
	}
	sock_peer_reincarnate(peer);
}

void sock_set_close(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
		    bool requeue)
{
	struct sock_ni *sn = peer->sn;
	struct sock_conn *c, *next;

	if (list_empty(&peer->conns))
		return;
	sock_count(sn, sets_lost);
	drop_cookies(p, peer, how);
	list_for_each_entry_safe_reverse(c, next, &peer->conns, set) {
		c->how = how;
		c->requeue = requeue;
		sock_conn_shut(p, c, true);
	}
	memset(peer->nr, 0, sizeof(peer->nr));
	peer->nr_mine = 0;
	peer->version = 0;
	peer->full = false;
	set_reincarnate(p, peer);
	owe_lost(peer, how);
	peer->epoch = ++sn->epochs;
	if (!requeue)
		sock_peer_complete(p, peer, LNET_REMOTE_DROPPED, 0);
	sock_peer_arm(peer, sn->now_ns);
}

void sock_conn_fail(struct lnet_pass *p, struct sock_conn *c, enum lnet_outcome how, bool requeue)
{
	struct sock_peer *peer = c->peer;
	bool dial = peer && peer->dial == c;

	if (c->state == CONN_CLOSED)
		return;
	if (c->state == CONN_OPEN) {
		sock_set_close(p, peer, how, requeue);
		return;
	}
	sock_conn_close(p, c, true);
	if (dial)
		sock_dial_failed(p, peer, -ECONNRESET, LNET_REMOTE_DROPPED);
}

/* ---- accepted connections ---- */

static struct sock_conn *half_conn(struct sock_half *h)
{
	return container_of(h, struct sock_conn, half);
}

static u64 most_halfs(const struct sock_ni *sn)
{
	u64 most = READ_ONCE(sock_tun(sn)->half_open_max);

	return sn->halfs_cap ? min_t(u64, most, sn->halfs_cap) : most;
}

static void nid_of_addr(const struct sock_ni *sn, const u8 *addr, struct lnet_nid *nid)
{
	*nid = sn->nid;
	memcpy(nid->addr, addr, nid->size ? sizeof(nid->addr) : sizeof(nid->addr[0]));
}

void sock_rejected(struct sock_ni *sn, const u8 *addr, const char *why)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_nid from;

	nid_of_addr(sn, addr, &from);
	lnet_nid_str(&from, text);
	text[strcspn(text, "@")] = 0;
	lnet_ni_rejected(sn->ni, text, why);
}

/*
 * Lock held. Closes up to two half-open connections: one would not suffice if an operator has
 * lowered the bounds.
 */
static void half_open_evict(struct lnet_pass *p, struct sock_ni *sn, struct sock_conn *newest)
{
	u64 per_address = READ_ONCE(sock_tun(sn)->half_open_per_address);
	struct sock_half *h;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		h = sock_half_excess(&sn->halfs, &newest->half, per_address, most_halfs(sn));
		if (!h)
			return;
		if (newest->half.source->nr > per_address)
			sock_count(sn, evicted_address);
		else
			sock_count(sn, evicted);
		sock_rejected(sn, h->source->addr,
			      "too many connections have sent no HELLO (see half_open_max, "
			      "half_open_per_address)");
		sock_conn_close(p, half_conn(h), true);
	}
}

/* [lock] NULL: no memory. */
static struct sock_conn *conn_accept(struct lnet_pass *p, struct sock_ni *sn,
				     const struct sock_from *from,
				     void (*setup)(struct sock_conn *c, void *arg), void *arg)
{
	struct sock_conn *c = sock_conn_new(sn);

	if (!c)
		return NULL;
	if (sock_half_add(&sn->halfs, &c->half, from->addr)) {
		list_del(&c->all);
		sn->nr_conns--;
		sock_conn_put(c);
		return NULL;
	}
	c->privileged = from->privileged;
	c->same_host = from->same_host;
	nid_of_addr(sn, from->addr, &c->from);
	c->deadline_ns = sn->now_ns + READ_ONCE(sock_tun(sn)->accept_timeout);
	sock_conn_set_state(c, CONN_WAIT_REQUEST);
	half_open_evict(p, sn, c);
	setup(c, arg);
	sock_arm(sn, c->deadline_ns);
	return c;
}

struct sock_conn *sock_accepted(struct lnet_pass *p, struct sock_ni *sn,
				const struct sock_from *from,
				void (*setup)(struct sock_conn *c, void *arg), void *arg)
{
	struct sock_conn *c = NULL;
	u64 accept = READ_ONCE(sock_tun(sn)->accept);

	sock_lock(p, sn);
	sock_count(sn, accepted);
	if (accept == 1 && !from->privileged) {
		sock_count(sn, accept_port);
		sock_rejected(sn, from->addr, "its source port is above 1023 (see accept)");
	} else if (accept && !sn->stopping && !sn->closing) {
		c = conn_accept(p, sn, from, setup, arg);
	}
	sock_unlock(p, sn);
	return c;
}

void sock_conn_from(const struct sock_conn *c, struct sock_from *from)
{
	memcpy(from->addr, c->half.source->addr, sizeof(from->addr));
	from->privileged = c->privileged;
	from->same_host = c->same_host;
}

bool sock_accept_failed(struct lnet_pass *p, struct sock_ni *sn, int err)
{
	char nid[LNET_NIDSTR_SIZE];
	struct sock_half *h;
	unsigned int i;
	bool made;

	sock_lock(p, sn);
	sock_count(sn, accept_failed);
	if (!sn->warned_ns || sn->now_ns - sn->warned_ns >= SOCK_WARN_NS) {
		sn->warned_ns = sn->now_ns;
		lnet_nid_str(&sn->nid, nid);
		pr_warn("socklnd: %s: no connection can be accepted: error %d; closing up to %u "
			"connections that have sent no HELLO\n",
			nid, err, min(sn->halfs.nr, SOCK_ROOM_FOR));
	}
	for (i = 0; i < SOCK_ROOM_FOR; i++) {
		h = sock_half_most(&sn->halfs);
		if (!h)
			break;
		sock_count(sn, evicted);
		sock_conn_close(p, half_conn(h), true);
	}
	made = i || sock_guests_evict(p, sn);
	sock_unlock(p, sn);
	return made;
}

void sock_conn_connected(struct lnet_pass *p, struct sock_conn *c, int err)
{
	struct sock_ni *sn = c->sn;
	struct sock_peer *peer;

	sock_lock(p, sn);
	peer = c->peer;
	if (c->state == CONN_CONNECTING && err) {
		sock_conn_close(p, c, true);
		sock_dial_failed(p, peer, err, LNET_REMOTE_DROPPED);
	} else if (c->state == CONN_CONNECTING) {
		sock_hello_dial(p, c);
		sock_doorbell_flush(p, sn);
	}
	sock_unlock(p, sn);
}

void sock_conn_writable(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;

	sock_lock(p, sn);
	if (c->state != CONN_CLOSED) {
		c->blocked = false;
		c->want_write = false;
		sn->io->want(c);
		sock_doorbell(c);
		sock_doorbell_flush(p, sn);
	}
	sock_unlock(p, sn);
}

void sock_conn_broken(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;

	sock_lock(p, sn);
	if (c->state != CONN_CLOSED) {
		sock_count(sn, reset);
		sock_conn_fail(p, c, LNET_PATH_LOST, false);
	}
	sock_unlock(p, sn);
}

/* ---- timers ---- */

/* [lock] */
static void half_tick(struct lnet_pass *p, struct sock_ni *sn, u64 now_ns)
{
	struct sock_half *h, *next;
	struct sock_conn *c;

	list_for_each_entry_safe(h, next, &sn->halfs.all, age) {
		c = half_conn(h);
		if (c->deadline_ns > now_ns) {
			sock_arm(sn, c->deadline_ns);
			return;
		}
		sock_count(sn, accept_timeout);
		sock_rejected(
			sn, c->half.source->addr,
			"no connection request and HELLO arrived in time (see accept_timeout)");
		sock_conn_close(p, c, true);
	}
}

/* Lock held; releases and takes it. */
static void resume_reading(struct lnet_pass *p, struct sock_ni *sn, u8 *staging, u32 size)
{
	struct sock_conn *c;

	while (!list_empty(&sn->resume)) {
		c = list_first_entry(&sn->resume, struct sock_conn, resume);
		list_del_init(&c->resume);
		atomic_inc(&c->refs);
		sock_unlock(p, sn);
		sock_conn_readable(p, c, staging, size);
		sock_lock(p, sn);
		sock_conn_put(c);
	}
}

/*
 * Lock held. Serves the peers whose timers are due. Serves at most SOCK_TICK_PEERS peers in each
 * period of SOCK_TICK_NS, over all calls. A peer that acknowledges nothing is due every
 * SOCK_TICK_NS.
 */
static void peers_tick(struct lnet_pass *p, struct sock_ni *sn, u64 now_ns)
{
	struct sock_peer *peer;

	if (now_ns >= sn->served_ns + SOCK_TICK_NS) {
		sn->served_ns = now_ns;
		sn->nr_served = 0;
	}
	if (list_empty(&sn->due))
		lnet_wheel_advance(&sn->wheel, now_ns, &sn->due, SOCK_TICK_PEERS - sn->nr_served);
	for (; sn->nr_served < SOCK_TICK_PEERS && !list_empty(&sn->due); sn->nr_served++) {
		peer = list_first_entry(&sn->due, struct sock_peer, timer.link);
		lnet_timer_fired(&sn->wheel, &peer->timer);
		sock_peer_tick(p, peer, now_ns);
	}
	if (sn->nr_served < SOCK_TICK_PEERS)
		sock_arm(sn, lnet_wheel_next_ns(&sn->wheel));
	else
		sock_arm(sn, sn->served_ns + SOCK_TICK_NS);
}

void sock_tick(struct lnet_pass *p, struct sock_ni *sn, u8 *staging, u32 size)
{
	u64 now_ns;

	sock_lock(p, sn);
	now_ns = sn->now_ns;
	sn->next_ns = U64_MAX;
	sock_receive_clock(sn, now_ns);
	half_tick(p, sn, now_ns);
	sock_pins_reap(p, sn);
	sock_hosts_tick(sn, now_ns);
	peers_tick(p, sn, now_ns);
	sock_doorbell_flush(p, sn);
	if (staging)
		resume_reading(p, sn, staging, size);
	sock_unlock(p, sn);
}

/* ---- an NI ---- */

int sock_ni_init(struct sock_ni *sn, struct lnet_ni *ni, const struct sock_io *io)
{
	struct lnet_env *env;

	mutex_init(&sn->lock);
	sn->ni = ni;
	sn->ln = lnet_ni_instance(ni);
	sn->io = io;
	sn->nid = *lnet_ni_nid(ni);
	env = lnet_env_of(sn->ln);
	sn->incarnation = (env->ops->random(env) & S64_MAX) | 1;
	sn->next_ns = U64_MAX;
	sn->now_ns = env->ops->now_ns(env);
	sn->ticked_ns = sn->now_ns;
	sock_table_init(&sn->by_nid, env->ops->secret(env));
	sock_table_init(&sn->hosts, env->ops->secret(env));
	INIT_LIST_HEAD(&sn->peers);
	lnet_wheel_init(&sn->wheel, sn->now_ns);
	INIT_LIST_HEAD(&sn->due);
	INIT_LIST_HEAD(&sn->conns);
	sock_halfs_init(&sn->halfs, env->ops->secret(env));
	sock_halfs_init(&sn->opens, env->ops->secret(env));
	INIT_LIST_HEAD(&sn->doorbell);
	INIT_LIST_HEAD(&sn->work);
	INIT_LIST_HEAD(&sn->broken);
	INIT_LIST_HEAD(&sn->resume);
	INIT_LIST_HEAD(&sn->holds);
	INIT_LIST_HEAD(&sn->slow);
	INIT_LIST_HEAD(&sn->newcomers);
	sn->hosts_ns = U64_MAX;
	INIT_LIST_HEAD(&sn->pins);
	return 0;
}

/* Lock held; releases and takes it. Ends a message that was read aside. */
static void drop_hold(struct lnet_pass *p, struct sock_ni *sn, struct sock_hold *h)
{
	struct lnet_rx *rx = h->rx;
	bool landed = h->landed;

	sock_hold_release(sn, h);
	if (rx)
		rx->lnd[0] = rx->lnd[1] = NULL;
	mutex_unlock(&sn->lock);
	if (rx && landed)
		lnet_rx_done(p, rx, LNET_SHUTDOWN);
	else if (rx)
		lnet_rx_gone(p, rx);
	lnet_pass_relax(p);
	kfree(h);
	mutex_lock(&sn->lock);
}

void sock_ni_stop(struct lnet_pass *p, struct sock_ni *sn)
{
	struct sock_peer *peer;
	struct sock_conn *c, *next;
	struct sock_hold *h, *nh;

	sock_lock(p, sn);
	sn->stopping = true;
	list_for_each_entry(peer, &sn->peers, link) {
		peer->job = false;
		sock_set_close(p, peer, LNET_SHUTDOWN, true);
		sock_peer_complete(p, peer, LNET_CANCELED, 0);
	}
	list_for_each_entry_safe(c, next, &sn->conns, all)
		sock_conn_close(p, c, true);
	sock_unlock(p, sn);
	sock_lock(p, sn);
	for (;;) {
		struct sock_hold *full = NULL;

		list_for_each_entry_safe(h, nh, &sn->holds, link)
			if (h->full && !full)
				full = h;
		if (!full)
			break;
		drop_hold(p, sn, full);
	}
	sock_unlock(p, sn);
}

void sock_counters(struct lnet_ni *ni, u64 *values, bool reset)
{
	struct sock_ni *sn = sock_ni_of(ni);

	mutex_lock(&sn->lock);
	memcpy(values, sn->c, sizeof(sn->c));
	if (reset)
		memset(sn->c, 0, sizeof(sn->c));
	mutex_unlock(&sn->lock);
}

void sock_ni_fini(struct sock_ni *sn)
{
	struct sock_peer *peer, *next;

	mutex_lock(&sn->lock);
	sn->gone = true;
	sock_hosts_tick(sn, U64_MAX);
	mutex_unlock(&sn->lock);
	list_for_each_entry_safe(peer, next, &sn->peers, link)
		sock_peer_free(peer);
	sock_table_fini(&sn->by_nid);
	sock_table_fini(&sn->hosts);
	sock_halfs_fini(&sn->halfs);
	sock_halfs_fini(&sn->opens);
	while (sn->nr_pool)
		kfree(sn->pool[--sn->nr_pool]);
}
