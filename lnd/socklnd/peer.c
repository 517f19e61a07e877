/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remote NIDs of one NI: look-up, dialling, and timers. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"
#include "lnet/base/base.h"

struct sock_peer *sock_peer_find(struct sock_ni *sn, const struct lnet_nid *nid)
{
	const struct sock_table *t = &sn->by_nid;
	struct sock_peer *peer;

	if (sn->gone)
		return NULL;
	hlist_for_each_entry(peer, sock_table_chain(t, sock_nid_hash(t, nid)), hash.link)
		if (lnet_nid_same(&peer->nid, nid))
			return peer;
	return NULL;
}

struct sock_peer *sock_peer_make(struct sock_ni *sn, const struct lnet_nid *nid,
				 struct lnet_peer_ni *pni)
{
	struct sock_peer *peer = sock_peer_find(sn, nid);

	if (peer)
		return peer;
	peer = kzalloc(sizeof(*peer), GFP_NOFS);
	if (!peer)
		return NULL;
	peer->sn = sn;
	peer->nid = *nid;
	lnet_peer_ni_hold(pni);
	peer->pni = pni;
	peer->epoch = ++sn->epochs;
	sock_peer_reincarnate(peer);
	peer->cookie = LNET_ZC_COOKIE_FIRST;
	lnet_timer_init(&peer->timer, LNET_TIMER_PEER);
	peer->alive_ns = sn->now_ns;
	INIT_LIST_HEAD(&peer->conns);
	INIT_LIST_HEAD(&peer->zc);
	INIT_LIST_HEAD(&peer->queue[SOCK_SMALL]);
	INIT_LIST_HEAD(&peer->queue[SOCK_BULK]);
	INIT_LIST_HEAD(&peer->work);
	sock_table_add(&sn->by_nid, &peer->hash, sock_nid_hash(&sn->by_nid, nid));
	list_add_tail(&peer->link, &sn->peers);
	sn->nr_peers++;
	sock_peer_arm(peer, sn->now_ns + SOCK_TICK_NS);
	return peer;
}

void sock_peer_reincarnate(struct sock_peer *peer)
{
	peer->own_incarnation = peer->sn->incarnation++;
}

void sock_peer_free(struct sock_peer *peer)
{
	sock_table_del(&peer->sn->by_nid, &peer->hash);
	list_del(&peer->link);
	list_del(&peer->work);
	lnet_timer_cancel(&peer->sn->wheel, &peer->timer);
	peer->sn->nr_peers--;
	lnet_peer_ni_put(peer->pni);
	kfree(peer);
}

void sock_peer_arm(struct sock_peer *peer, u64 when_ns)
{
	struct sock_ni *sn = peer->sn;

	if (when_ns == U64_MAX ||
	    (!list_empty(&peer->timer.link) && peer->timer.when_ns <= when_ns))
		return;
	lnet_timer_set(&sn->wheel, &peer->timer, when_ns);
	sock_arm(sn, ALIGN(when_ns, 1ULL << LNET_TICK_SHIFT));
}

bool sock_peer_usable(const struct sock_peer *peer)
{
	return peer->nr[LNET_CTYPE_CONTROL] || peer->nr[LNET_CTYPE_BULK_OUT];
}

static bool queue_is_empty(const struct sock_peer *peer)
{
	return !peer->nr_queue[SOCK_SMALL] && !peer->nr_queue[SOCK_BULK];
}

void sock_peer_queue(struct sock_peer *peer, struct lnet_att *att, unsigned int q, bool first)
{
	att->lnd[0] = (void *)(first ? --peer->seq_first : ++peer->seq_last);
	if (first)
		list_add(&att->link, &peer->queue[q]);
	else
		list_add_tail(&att->link, &peer->queue[q]);
	peer->nr_queue[q]++;
}

void sock_peer_complete(struct lnet_pass *p, struct sock_peer *peer, enum lnet_outcome how,
			int err)
{
	struct lnet_att *att, *next;
	unsigned int q;

	for (q = 0; q < SOCK_NR_QUEUES; q++) {
		list_for_each_entry_safe(att, next, &peer->queue[q], link) {
			list_del_init(&att->link);
			if (how == LNET_REMOTE_DROPPED)
				lnet_att_unconnected(p, att, err);
			else
				lnet_att_done(p, att, how, 0);
		}
		peer->nr_queue[q] = 0;
	}
}

/* ---- dialling ---- */

/*
 * Returns the type of the next connection that this node dials. NONE: the set is complete, or the
 * peer dials the missing connections.
 */
static u32 type_missing(const struct sock_peer *peer)
{
	u32 in = peer->nr[LNET_CTYPE_BULK_IN], out = peer->nr[LNET_CTYPE_BULK_OUT];
	u32 limit = lnet_ni_conns_per_peer(peer->sn->ni);

	if (!peer->nr[LNET_CTYPE_CONTROL])
		return LNET_CTYPE_CONTROL;
	if (!peer->nr_mine || peer->full || !READ_ONCE(sock_tun(peer->sn)->typed_conns))
		return LNET_CTYPE_NONE;
	if (in < limit && in <= out)
		return LNET_CTYPE_BULK_IN;
	if (out < limit)
		return LNET_CTYPE_BULK_OUT;
	return in < limit ? LNET_CTYPE_BULK_IN : LNET_CTYPE_NONE;
}

static u32 version_for(const struct sock_peer *peer)
{
	if (peer->version)
		return peer->version;
	if (peer->dial_version)
		return peer->dial_version;
	return lnet_nid_is_nid4(&peer->nid) ? 3 : 4;
}

static int dial_one(struct lnet_pass *p, struct sock_peer *peer, u32 type)
{
	struct sock_ni *sn = peer->sn;
	struct sock_conn *c = sock_conn_new(sn);
	int err;

	if (!c)
		return -ENOMEM;
	c->peer = peer;
	peer->pins++;
	c->mine = true;
	c->from = peer->nid;
	c->type = type;
	c->version = version_for(peer);
	c->deadline_ns = sn->now_ns + READ_ONCE(sock_tun(sn)->connect_timeout);
	peer->dial = c;
	peer->job = true;
	peer->dial_ns = sn->now_ns + READ_ONCE(sock_tun(sn)->min_reconnect);
	sock_count(sn, dialled);
	sock_conn_set_state(c, CONN_CONNECTING);
	err = sn->io->dial(c, &peer->nid);
	if (!err) {
		sock_peer_arm(peer, c->deadline_ns);
		return 0;
	}
	peer->dial = NULL;
	sock_conn_set_state(c, CONN_CLOSED);
	list_del_init(&c->all);
	sn->nr_conns--;
	peer->pins--;
	sock_conn_put(c);
	return err;
}

static enum lnet_outcome dial_outcome(int err)
{
	switch (err) {
	case -ENETUNREACH:
	case -ENETDOWN:
	case -EADDRNOTAVAIL:
	case -EADDRINUSE:
		return LNET_LOCAL_NO_ROUTE;
	case -ENOMEM:
	case -EMFILE:
	case -ENFILE:
	case -EACCES:
	case -EPERM:
		return LNET_LOCAL_DROPPED;
	default:
		return LNET_REMOTE_DROPPED;
	}
}

void sock_peer_dial(struct lnet_pass *p, struct sock_peer *peer)
{
	struct sock_ni *sn = peer->sn;
	u32 type;
	int err;

	if (peer->dial || sn->stopping || sn->closing)
		return;
	if (peer->dial_ns > sn->now_ns && !peer->job) {
		sock_peer_arm(peer, peer->dial_ns);
		return;
	}
	type = type_missing(peer);
	if (type == LNET_CTYPE_NONE) {
		peer->job = false;
		peer->refusals = 0;
		return;
	}
	err = dial_one(p, peer, type);
	if (err == -EMFILE || err == -ENFILE)
		sock_guests_evict(p, sn);
	if (err)
		sock_dial_failed(p, peer, err, dial_outcome(err));
}

void sock_conn_undialled(struct lnet_pass *p, struct sock_conn *c, int err)
{
	struct sock_ni *sn = c->sn;

	sock_lock(p, sn);
	if (c->state == CONN_CONNECTING) {
		sock_conn_close(p, c, true);
		sock_dial_failed(p, c->peer, err, dial_outcome(err));
	}
	sock_unlock(p, sn);
}

void sock_dial_failed(struct lnet_pass *p, struct sock_peer *peer, int err, enum lnet_outcome how)
{
	struct sock_ni *sn = peer->sn;
	const struct lnet_tunables *tun = sock_tun(sn);
	u64 least = READ_ONCE(tun->min_reconnect), most = max(least, READ_ONCE(tun->max_reconnect));

	sock_count(sn, dial_failed);
	peer->job = false;
	peer->refusals = 0;
	peer->dial_err = err;
	peer->backoff_ns = err == -ETIMEDOUT ? least : clamp(peer->backoff_ns * 2, least, most);
	peer->dial_ns = sn->now_ns + peer->backoff_ns;
	if (!sock_peer_usable(peer))
		sock_peer_complete(p, peer, how, err);
	sock_peer_arm(peer, peer->dial_ns);
}

/*
 * The peer rejects the connection for now. Either this node has lost a race, or the peer has enough
 * connections of this type, or the peer has just noticed the new incarnation.
 */
void sock_dial_refused(struct lnet_pass *p, struct sock_peer *peer)
{
	struct sock_ni *sn = peer->sn;

	sock_count(sn, rejected_by_peer);
	if (++peer->refusals < 3) {
		peer->job = false;
		peer->dial_ns = sn->now_ns + READ_ONCE(sock_tun(sn)->min_reconnect);
		sock_peer_arm(peer, peer->dial_ns);
		return;
	}
	if (peer->nr[LNET_CTYPE_CONTROL] && peer->nr[LNET_CTYPE_BULK_IN] &&
	    peer->nr[LNET_CTYPE_BULK_OUT]) {
		peer->full = true;
		peer->job = false;
		peer->refusals = 0;
		return;
	}
	sock_dial_failed(p, peer, -ECONNREFUSED, LNET_REMOTE_DROPPED);
}

/* ---- timers ---- */

static void peer_queue_expire(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns, u64 *next_ns)
{
	bool usable = sock_peer_usable(peer);
	struct lnet_att *att, *n;
	unsigned int q;

	for (q = 0; q < SOCK_NR_QUEUES; q++) {
		list_for_each_entry_safe(att, n, &peer->queue[q], link) {
			if (att->deadline_ns > now_ns) {
				*next_ns = min(*next_ns, att->deadline_ns);
				continue;
			}
			list_del_init(&att->link);
			peer->nr_queue[q]--;
			if (usable)
				lnet_att_done(p, att, LNET_LOCAL_TIMEOUT, 0);
			else
				lnet_att_unconnected(p, att, -ETIMEDOUT);
		}
	}
}

#define FIRST_DIAL_NS	(600 * (u64)NSEC_PER_MSEC)

/*
 * Returns true if the dial of @c may end before its deadline. The SYN of the dial may be lost; the
 * next dial sends a SYN again.
 *
 * A long path also delays the reply. So each dial that ends early doubles the least duration of the
 * next dial, until a dial succeeds. The doubling begins with the duration of the last successful
 * dial, because a rail that recovers must not wait longer than was ever needed.
 *
 * Before the first success, the least duration is FIRST_DIAL_NS. It is 1.5 times the time of SYN
 * and HELLO at a round-trip time of 200 ms.
 */
static bool may_redial(struct sock_conn *c, u64 now_ns)
{
	struct sock_peer *peer = c->peer;
	u64 age_ns = now_ns - c->start_ns;

	if (age_ns < max(peer->dial_least_ns, peer->dial_took_ns ? 0 : FIRST_DIAL_NS))
		return false;
	if (peer->dial_took_ns)
		age_ns = min(age_ns, max(peer->dial_least_ns, peer->dial_took_ns));
	peer->dial_least_ns = 2 * age_ns;
	return true;
}

static void dial_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns, bool waited,
		      u64 *next_ns)
{
	struct sock_conn *c = peer->dial;

	if (!c)
		return;
	/*
	 * If all messages that waited for the dial have ended, closes it, so that the next dial
	 * sends a new SYN.
	 */
	if (c->deadline_ns <= now_ns ||
	    (waited && queue_is_empty(peer) && !sock_peer_usable(peer) && may_redial(c, now_ns))) {
		sock_count(peer->sn, dial_timeout);
		sock_conn_close(p, c, true);
		sock_dial_failed(p, peer, -ETIMEDOUT, LNET_REMOTE_DROPPED);
		return;
	}
	*next_ns = min(*next_ns, c->deadline_ns);
}

/*
 * Checks the zero-copy acknowledgements that this node has requested from @peer. At the deadline of
 * a message, completes the message even without its acknowledgement. The set stays open until the
 * deadline of the acknowledgement.
 *
 * Returns false if the set must end. In this case, the deadline of an acknowledgement has passed,
 * or a socket may still read the memory of an expired message.
 */
static bool cookie_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns, u64 *next_ns)
{
	struct sock_zc *zc;

	list_for_each_entry(zc, &peer->zc, link) {
		if (zc->deadline_ns <= now_ns)
			return false;
		if (zc->att && !list_empty(&zc->att->link))
			continue;	/* not fully written: txs_tick() */
		if (zc->att && zc->att->deadline_ns <= now_ns) {
			if (sock_is_pinned(peer->sn, zc->att))
				return false;
			sock_att_done(p, peer->sn, zc->att, LNET_NETWORK_TIMEOUT, peer->epoch);
			zc->att = NULL;
		}
		*next_ns = min(*next_ns, zc->att ? zc->att->deadline_ns : zc->deadline_ns);
	}
	return true;
}

/* Returns true if a reset of the set would lose a message that neither node retransmits. */
static bool holds_once(const struct sock_peer *peer)
{
	struct sock_conn *c;

	list_for_each_entry(c, &peer->conns, set) {
		/* unacknowledged bytes may include the HELLO, which @written does not include */
		unsigned long unacked = min_t(u64, c->sn->io->unacked(c), c->written);

		if ((long)(c->once_end - (c->written - unacked)) > 0)
			return true;
	}
	return false;
}

/*
 * Returns true if the peer still receives bytes, or if only the writing thread of this node is
 * late.
 */
static bool is_moving(const struct sock_conn *c, u64 now_ns)
{
	return c->stuck_ns ? c->stuck_ns + SOCK_MOVING_NS > now_ns : !c->blocked;
}

/*
 * Handles encoded messages of @c that are not fully written at their deadline. Returns true if the
 * set must end. Otherwise the driver completes only these messages, and keeps copies of their bytes
 * in the stream.
 *
 * The set stays open in two cases:
 * 1. Bytes are still being written, however slowly, and unsent_budget permits the copy.
 * 2. The message is small, and the set holds a message that neither node retransmits.
 */
static bool txs_tick(struct lnet_pass *p, struct sock_conn *c, u64 now_ns, u64 *next_ns)
{
	bool moves = is_moving(c, now_ns), once = holds_once(c->peer);
	struct lnet_att *att, *n;
	int err;

	list_for_each_entry_safe(att, n, &c->txs, link) {
		if (att->deadline_ns > now_ns) {
			*next_ns = min(*next_ns, att->deadline_ns);
			continue;
		}
		if (!moves && !(once && lnet_att_len(att) <= SOCK_STUCK_COPY_MAX))
			return true;
		err = c->writing ? -EBUSY : sock_out_detach(p, c, att, LNET_NETWORK_TIMEOUT);
		if (err == -ENOBUFS && moves)
			return true;
		if (err)
			*next_ns = min(*next_ns, now_ns + SOCK_TICK_NS);
	}
	return false;
}

/*
 * Checks the progress of written bytes. Returns true if some bytes are outstanding, and none was
 * acknowledged since c->stuck_ns.
 */
static bool conn_is_stuck(struct sock_conn *c, u64 now_ns)
{
	struct sock_peer *peer = c->peer;
	u64 acked;

	if (!c->stuck_ns)
		return false;
	acked = c->total - min(c->sn->io->unacked(c), c->total);
	if (acked != c->acked) {
		c->acked = acked;
		c->stuck_ns = now_ns;
		peer->alive_ns = now_ns;
		peer->alive = true;
		if (list_empty(&peer->work))
			list_add_tail(&peer->work, &c->sn->work);
	}
	/*
	 * if all bytes are acknowledged and the socket has free space, only the writing thread is
	 * late
	 */
	if (acked == c->total && !(c->nr_segs && c->blocked))
		c->stuck_ns = 0;
	return c->stuck_ns && c->stuck_ns != now_ns;
}

/*
 * Reports the number of lost packets to the core. The number may decrease, because TCP detects
 * duplicates later.
 */
static void packets_tick(struct sock_conn *c, u64 now_ns)
{
	u32 sent, lost, more = 0;

	if (!c->sn->io->packets || now_ns < c->packets_ns)
		return;
	c->packets_ns = now_ns + SOCK_PACKETS_NS;
	sent = c->sent;
	lost = c->lost;
	c->sn->io->packets(c, &sent, &lost);
	if ((s32)(lost - c->lost) > 0) {
		more = lost - c->lost;
		c->lost = lost;
	}
	if (sent != c->sent)
		lnet_ni_loss(c->sn->ni, sent - c->sent, more);
	c->sent = sent;
}

/*
 * Returns the time until the next check of the progress of @c. The longer @c makes no progress, the
 * longer this time is. So even if many peers acknowledge nothing, their checks do not delay the
 * timers of other peers.
 */
static u64 check_pause_ns(const struct sock_conn *c, u64 now_ns)
{
	u64 stuck_ns = now_ns - min(now_ns, c->stuck_ns);

	return clamp(stuck_ns / 16, SOCK_TICK_NS, SOCK_CHECK_MAX_NS);
}

/* Returns false if one direction made no progress for too long, or a receive is too slow. */
static bool conn_tick(struct lnet_pass *p, struct sock_conn *c, u64 now_ns, u64 *next_ns)
{
	u64 timeout = lnet_sock_timeout_ns(sock_tun(c->sn)), last_rx_ns = READ_ONCE(c->last_rx_ns);
	bool stuck = conn_is_stuck(c, now_ns);

	if ((READ_ONCE(c->nr_hdr) || READ_ONCE(c->rx) || c->hold) && !c->waits) {
		if (last_rx_ns + timeout <= now_ns)
			return false;
		*next_ns = min(*next_ns, last_rx_ns + timeout);
	}
	if (sock_receive_is_late(c, now_ns, next_ns))
		return false;
	if (c->stuck_ns) {
		packets_tick(c, now_ns);
		*next_ns = min3(*next_ns, now_ns + check_pause_ns(c, now_ns),
				c->stuck_ns + timeout);
	}
	return !stuck || c->stuck_ns + timeout > now_ns;
}

static bool set_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns, u64 *next_ns)
{
	struct sock_conn *c;

	if (!cookie_tick(p, peer, now_ns, next_ns))
		return false;
	/* Calls conn_tick() first, because it updates c->stuck_ns, which txs_tick() uses. */
	list_for_each_entry(c, &peer->conns, set)
		if (!conn_tick(p, c, now_ns, next_ns) || txs_tick(p, c, now_ns, next_ns))
			return false;
	return true;
}

static void keepalive_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns, u64 *next_ns)
{
	u64 idle = READ_ONCE(sock_tun(peer->sn)->keepalive), due;

	if (!idle || list_empty(&peer->conns))
		return;
	due = max(peer->alive_ns + idle,
		  peer->keepalive_ns ? peer->keepalive_ns + SOCK_NOOP_KEEPALIVE_NS : 0);
	if (due <= now_ns) {
		sock_keepalive(peer, now_ns);
		due = now_ns + SOCK_NOOP_KEEPALIVE_NS;
	}
	*next_ns = min(*next_ns, due);
}

/* Without connections, the driver keeps state only for a peer that this node dialled. */
static u64 idle_until(const struct sock_peer *peer)
{
	return peer->dial_ns && !peer->gone ? peer->alive_ns + SOCK_PEER_IDLE_NS : 0;
}

static bool peer_is_idle(const struct sock_peer *peer, u64 now_ns)
{
	return list_empty(&peer->conns) && queue_is_empty(peer) && !peer->dial && !peer->pins &&
	       list_empty(&peer->work) && idle_until(peer) <= now_ns;
}

void sock_peer_tick(struct lnet_pass *p, struct sock_peer *peer, u64 now_ns)
{
	bool waited = !queue_is_empty(peer);
	u64 next_ns = U64_MAX;

	peer_queue_expire(p, peer, now_ns, &next_ns);
	dial_tick(p, peer, now_ns, waited, &next_ns);
	if (!list_empty(&peer->conns) && !set_tick(p, peer, now_ns, &next_ns)) {
		sock_count(peer->sn, stalled);
		sock_set_close(p, peer, LNET_NETWORK_TIMEOUT, false);
	}
	keepalive_tick(p, peer, now_ns, &next_ns);
	if (!queue_is_empty(peer) || peer->nr_mine)
		sock_peer_dial(p, peer);
	if (list_empty(&peer->conns))
		next_ns = min(next_ns, max(idle_until(peer), now_ns + SOCK_TICK_NS));
	if (peer_is_idle(peer, now_ns))
		sock_peer_free(peer);
	else
		sock_peer_arm(peer, next_ns);
}

/* ---- removal by the core ---- */

/*
 * The core removes @pni. The driver no longer finds its struct sock_peer by the NID. So if the same
 * NID connects later, its connection belongs to another peer entry.
 */
void sock_peer_gone(struct lnet_ni *ni, struct lnet_peer_ni *pni)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct sock_peer *peer;
	struct lnet_pass p;

	lnet_pass_begin(&p, sn->ln, LNET_PASS_CALL);
	sock_lock(&p, sn);
	peer = sock_peer_find(sn, lnet_peer_ni_nid(pni));
	if (peer && peer->pni == pni) {
		sock_table_del(&sn->by_nid, &peer->hash);
		peer->gone = true;
		peer->job = false;
		if (peer->dial)
			sock_conn_close(&p, peer->dial, true);
		sock_set_close(&p, peer, LNET_PATH_LOST, false);
		sock_peer_complete(&p, peer, LNET_REMOTE_DROPPED, 0);
		sock_peer_arm(peer, sn->now_ns);
	}
	sock_unlock(&p, sn);
	lnet_pass_end(&p);
}

/* ---- suspect paths ---- */

bool sock_set_is_stuck(struct sock_peer *peer, u64 now_ns)
{
	u64 floor = READ_ONCE(sock_tun(peer->sn)->hedge_floor);
	struct sock_conn *c;

	list_for_each_entry(c, &peer->conns, set)
		if (conn_is_stuck(c, now_ns) && c->stuck_ns + floor <= now_ns &&
		    READ_ONCE(c->last_rx_ns) + floor <= now_ns)
			return true;
	return false;
}

static void stuck_set_end(struct lnet_pass *p, struct sock_peer *peer)
{
	if (holds_once(peer)) {
		sock_count(peer->sn, resets_held_off);
		return;
	}
	sock_count(peer->sn, path_resets);
	sock_set_close(p, peer, LNET_NETWORK_TIMEOUT, false);
}

void sock_path_reset(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct sock_peer *peer;
	struct sock_conn *c;

	sock_lock(p, sn);
	peer = sock_peer_find(sn, lnet_peer_ni_nid(pni));
	c = peer ? peer->dial : NULL;
	if (c && c->start_ns + READ_ONCE(sock_tun(sn)->min_reconnect) <= sn->now_ns &&
	    may_redial(c, sn->now_ns)) {
		sock_count(sn, path_resets);
		sock_conn_close(p, c, true);
		sock_dial_failed(p, peer, -ETIMEDOUT, LNET_REMOTE_DROPPED);
	}
	if (peer && !list_empty(&peer->conns) && sock_set_is_stuck(peer, sn->now_ns))
		stuck_set_end(p, peer);
	sock_unlock(p, sn);
}
