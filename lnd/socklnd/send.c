/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sent messages: queued per peer, encoded when a connection can write, completed when written. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

static unsigned long att_begin(const struct lnet_att *att)
{
	return (unsigned long)att->lnd[0];
}

static unsigned long att_end(const struct lnet_att *att)
{
	return (unsigned long)att->lnd[1];
}

static bool pos_before(unsigned long a, unsigned long b)
{
	return (long)(a - b) < 0;
}

/* ---- the out buffer ---- */

static struct sock_seg *seg_at(struct sock_conn *c, u32 i)
{
	return &c->seg[(c->seg_first + i) % SOCK_SEGS];
}

static struct sock_seg *seg_add(struct sock_conn *c, struct lnet_att *att, u32 len)
{
	struct sock_seg *s = seg_at(c, c->nr_segs++);

	s->att = att;
	s->len = len;
	s->pos = 0;
	s->pin = NULL;
	s->copy = NULL;
	return s;
}

/* Accounts @len bytes that were encoded at c->tail. */
static void out_grew(struct sock_conn *c, u32 len)
{
	struct sock_seg *last = c->nr_segs ? seg_at(c, c->nr_segs - 1) : NULL;

	c->tail += len;
	c->queued += len;
	if (last && !last->att && !last->copy)
		last->len += len;
	else
		seg_add(c, NULL, len);
}

void sock_out_raw(struct sock_conn *c, const void *data, u32 len)
{
	if (!sock_out_get(c))
		return;		/* nothing is sent, so the handshake times out */
	memcpy(c->out + c->tail, data, len);
	out_grew(c, len);
}

static bool out_has_room(const struct sock_conn *c)
{
	return c->nr_segs + 2 <= SOCK_SEGS && c->tail <= c->tail_max;
}

/* ---- encoding ---- */

/*
 * Requests a zero-copy acknowledgement only for a message on a BULK_OUT connection, because the
 * peer can send the acknowledgement on this connection.
 */
static u64 cookie_for(struct sock_conn *c, struct lnet_att *att, u32 len)
{
	u64 least = READ_ONCE(sock_tun(c->sn)->zc_min_payload);
	struct sock_peer *peer = c->peer;
	struct sock_zc *zc;

	if (!least || len < least || c->type != LNET_CTYPE_BULK_OUT)
		return 0;
	zc = kzalloc(sizeof(*zc), GFP_NOFS);
	if (!zc)
		return 0;
	zc->cookie = peer->cookie++;
	zc->att = att;
	zc->deadline_ns = c->sn->now_ns +
			  max_t(u64, lnet_sock_timeout_ns(sock_tun(c->sn)), NSEC_PER_SEC);
	list_add_tail(&zc->link, &peer->zc);
	sock_peer_arm(peer, att->deadline_ns);
	sock_count(c->sn, zc_requested);
	return zc->cookie;
}

static void encode_att(struct sock_conn *c, struct lnet_att *att,
		       struct sock_before *b)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_LNET };
	unsigned long begin = c->queued;
	struct lnet_buf payload;
	u8 *to = c->out + c->tail;
	u32 len;

	lnet_att_payload(att, &payload);
	k.zc_cookie[0] = cookie_for(c, att, payload.len);
	len = lnet_ksock_encode(to, &k, false);
	len += sock_encode_hdr(c, att, to + len, b);
	if (payload.len <= c->inline_max) {
		if (payload.len)
			lnet_buf_read(&payload, 0, to + len, payload.len);
		out_grew(c, len + payload.len);
	} else {
		struct sock_seg *s;

		out_grew(c, len);
		s = seg_add(c, att, payload.len);
		s->pin = k.zc_cookie[0] ? sock_pin_new(c, att, &payload) : NULL;
		c->queued += payload.len;
	}
	if (lnet_att_is_sent_once(att))
		c->once_end = c->queued;
	att->lnd[0] = (void *)begin;
	att->lnd[1] = (void *)c->queued;
	list_add_tail(&att->link, &c->txs);
}

static void encode_noops(struct sock_conn *c)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_NOOP };
	struct sock_noop *n, *next;

	list_for_each_entry_safe(n, next, &c->noops, link) {
		if (!out_has_room(c))
			return;
		memcpy(k.zc_cookie, n->pair, sizeof(n->pair));
		out_grew(c, lnet_ksock_encode(c->out + c->tail, &k, false));
		sock_noop_free(c, n);
	}
}

static bool carries(const struct sock_conn *c, unsigned int q)
{
	const struct sock_peer *peer = c->peer;

	switch (c->type) {
	case LNET_CTYPE_CONTROL:
		return q == SOCK_SMALL || !peer->nr[LNET_CTYPE_BULK_OUT];
	case LNET_CTYPE_BULK_OUT:
		return q == SOCK_BULK || !peer->nr[LNET_CTYPE_CONTROL];
	default:
		return false;
	}
}

/* Removes and returns the message that has waited longest among the messages that @c may send. */
static struct lnet_att *next_att(struct sock_conn *c)
{
	struct sock_peer *peer = c->peer;
	struct lnet_att *att, *best = NULL;
	unsigned int q, from = 0;

	for (q = 0; q < SOCK_NR_QUEUES; q++) {
		if (!peer->nr_queue[q] || !carries(c, q))
			continue;
		att = list_first_entry(&peer->queue[q], struct lnet_att, link);
		if (best && (long)best->lnd[0] < (long)att->lnd[0])
			continue;
		best = att;
		from = q;
	}
	if (!best)
		return NULL;
	list_del_init(&best->link);
	peer->nr_queue[from]--;
	return best;
}

static bool has_work(const struct sock_conn *c)
{
	if (c->state != CONN_OPEN)
		return false;
	return !list_empty(&c->noops) ||
	       (c->peer->nr_queue[SOCK_SMALL] && carries(c, SOCK_SMALL)) ||
	       (c->peer->nr_queue[SOCK_BULK] && carries(c, SOCK_BULK));
}

/* Encodes as many messages as the out buffer has space for. */
static void conn_out_fill(struct sock_conn *c)
{
	struct sock_before before = { NULL };
	struct lnet_att *att;

	if (!has_work(c) || !sock_out_get(c))
		return;
	encode_noops(c);
	while (out_has_room(c)) {
		att = next_att(c);
		if (!att)
			return;
		encode_att(c, att, &before);
	}
}

/* ---- writing ---- */

static unsigned int seg_vec(struct sock_seg *s, struct kvec *vec, unsigned int max)
{
	struct lnet_frag frag[SOCK_VECS] __uninitialized;
	struct lnet_buf payload;
	unsigned int i, nr;

	lnet_att_payload(s->att, &payload);
	nr = lnet_buf_frags(&payload, s->pos, s->len, frag, max);
	for (i = 0; i < nr; i++) {
		vec[i].iov_base = frag[i].base;
		vec[i].iov_len = frag[i].len;
	}
	return nr;
}

/*
 * Collects the bytes of the next write in @vec. If the next bytes belong to a pinned payload,
 * collects only bytes of this payload. Otherwise stops before the first pinned payload.
 */
static unsigned int gather(struct sock_conn *c, struct kvec *vec)
{
	u32 at = c->head;
	unsigned int nr = 0, i;

	c->more = false;
	for (i = 0; i < c->nr_segs && nr < SOCK_VECS; i++) {
		struct sock_seg *s = seg_at(c, i);

		if (s->pin && i) {
			c->more = true;
			break;
		}
		if (s->pin)
			return seg_vec(s, vec, SOCK_VECS);
		if (s->att) {
			nr += seg_vec(s, vec + nr, SOCK_VECS - nr);
			if (nr == SOCK_VECS)
				break;
			continue;
		}
		vec[nr].iov_base = s->copy ? s->copy + s->pos : c->out + at;
		vec[nr++].iov_len = s->len;
		if (!s->copy)
			at += s->len;
	}
	return nr;
}

static struct sock_zc *zc_of(struct sock_peer *peer, const struct lnet_att *att)
{
	struct sock_zc *zc;

	list_for_each_entry(zc, &peer->zc, link)
		if (zc->att == att)
			return zc;
	return NULL;
}

static void finish_written(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_peer *peer = c->peer;
	struct lnet_att *att;

	while (!list_empty(&c->txs)) {
		att = list_first_entry(&c->txs, struct lnet_att, link);
		if (pos_before(c->written, att_end(att)))
			return;
		list_del_init(&att->link);
		/* if a zero-copy acknowledgement was requested, it completes the message */
		if (list_empty(&peer->zc) || !zc_of(peer, att))
			sock_att_done(p, c->sn, att, LNET_OK, c->epoch);
	}
}

static void copy_free(struct sock_conn *c, struct sock_seg *s)
{
	if (!s->copy)
		return;
	sock_unsent_return(c, s->pos + s->len);
	kfree(s->copy);
	s->copy = NULL;
}

static void wrote(struct lnet_pass *p, struct sock_conn *c, u32 n)
{
	c->written += n;
	c->total += n;
	while (n) {
		struct sock_seg *s = seg_at(c, 0);
		u32 part = min(n, s->len);

		if (!s->att && !s->copy)
			c->head += part;
		s->len -= part;
		s->pos += part;
		n -= part;
		if (s->len)
			break;
		copy_free(c, s);
		sock_seg_unpin(c, s);
		c->seg_first = (c->seg_first + 1) % SOCK_SEGS;
		c->nr_segs--;
	}
	if (c->head == c->tail)
		c->head = c->tail = 0;
	finish_written(p, c);
	if (!c->stuck_ns && c->peer) {
		c->stuck_ns = c->sn->now_ns;
		sock_peer_arm(c->peer, c->sn->now_ns + SOCK_TICK_NS);
	}
}

/* Lock held; released during the write. Returns true if the caller may write more. */
static bool write_once(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;
	struct kvec vec[SOCK_VECS] __uninitialized;
	struct sock_pin *pin;
	unsigned int nr;
	ssize_t n;

	conn_out_fill(c);
	nr = c->nr_segs ? gather(c, vec) : 0;
	if (!nr)
		return false;
	pin = seg_at(c, 0)->pin;
	mutex_unlock(&sn->lock);
	n = pin ? sn->io->write_pinned(c, pin, vec, nr) : sn->io->write(c, vec, nr);
	mutex_lock(&sn->lock);
	if (c->state == CONN_CLOSED) {
		if (n > 0)
			c->written += n;
		return false;
	}
	if (n >= 0) {
		wrote(p, c, n);
		return c->nr_segs || has_work(c);
	}
	if (n == -EAGAIN) {
		c->blocked = true;
		c->want_write = true;
		sn->io->want(c);
		return false;
	}
	sock_count(sn, reset);
	sock_conn_fail(p, c, LNET_PATH_LOST, false);
	return false;
}

/*
 * Lock held; releases and takes it. A connection has one writer, which also writes the messages
 * that other threads queue.
 */
static void conn_write(struct lnet_pass *p, struct sock_conn *c)
{
	if (c->writing || c->blocked || c->state == CONN_CLOSED)
		return;
	c->writing = true;
	atomic_inc(&c->refs);
	while (write_once(p, c))
		;
	c->writing = false;
	/* Connections of one type are used in rotation. */
	if (c->state == CONN_OPEN)
		list_move_tail(&c->set, &c->peer->conns);
	if (c->state == CONN_CLOSED) {
		sock_out_drop(p, c);
		sock_arm(c->sn, 0);	/* now it can be released */
	} else if (!c->nr_segs) {
		sock_out_put(c);
	}
	if (c->state == CONN_REFUSING && !c->nr_segs)
		sock_conn_close(p, c, false);
	sock_conn_put(c);
}

void sock_doorbell(struct sock_conn *c)
{
	if (list_empty(&c->doorbell))
		list_add_tail(&c->doorbell, &c->sn->doorbell);
}

void sock_doorbell_peer(struct sock_peer *peer)
{
	struct sock_conn *c;

	list_for_each_entry(c, &peer->conns, set)
		if (!c->blocked && !c->writing && has_work(c))
			sock_doorbell(c);
}

void sock_doorbell_flush(struct lnet_pass *p, struct sock_ni *sn)
{
	struct sock_conn *c;

	while (!list_empty(&sn->doorbell)) {
		c = list_first_entry(&sn->doorbell, struct sock_conn, doorbell);
		list_del_init(&c->doorbell);
		conn_write(p, c);
	}
}

/* ---- messages of a closed connection ---- */

static enum lnet_outcome unsent_outcome(const struct sock_conn *c, const struct lnet_att *att)
{
	if (c->sn->stopping)
		return LNET_CANCELED;
	return att->deadline_ns <= c->sn->now_ns ? LNET_LOCAL_TIMEOUT : LNET_REMOTE_DROPPED;
}

static void drop_att(struct lnet_pass *p, struct sock_conn *c, struct lnet_att *att)
{
	struct sock_peer *peer = c->peer;
	struct sock_zc *zc = zc_of(peer, att);
	unsigned int q;

	list_del_init(&att->link);
	if (zc) {
		list_del(&zc->link);
		kfree(zc);
	}
	if (pos_before(att_begin(att), c->written)) {
		sock_att_done(p, c->sn, att, c->how, c->epoch);
	} else if (c->requeue && !c->sn->stopping) {
		sock_pin_drop(c->sn, att);
		q = att_end(att) - att_begin(att) >= READ_ONCE(sock_tun(c->sn)->min_bulk)
			    ? SOCK_BULK
			    : SOCK_SMALL;
		sock_peer_queue(peer, att, q, true);
		sock_peer_arm(peer, c->sn->now_ns);
	} else {
		sock_att_done(p, c->sn, att, unsent_outcome(c, att), 0);
	}
}

void sock_out_drop(struct lnet_pass *p, struct sock_conn *c)
{
	struct lnet_att *att, *next;

	while (c->nr_segs) {
		sock_seg_unpin(c, seg_at(c, --c->nr_segs));
		copy_free(c, seg_at(c, c->nr_segs));
	}
	list_for_each_entry_safe_reverse(att, next, &c->txs, link)
		drop_att(p, c, att);
	sock_out_put(c);
}

/* ---- ops ---- */

static u32 frame_len(const struct sock_peer *peer, const struct lnet_att *att)
{
	bool nid16 = peer->version == 4 || !lnet_nid_is_nid4(&peer->nid);

	return LNET_KSOCK_SIZE + lnet_hdr_size(nid16) + lnet_att_len(att);
}

/* Lock held. Returns the peer of an attempt, and creates it if there is none. */
static struct sock_peer *peer_of(struct sock_ni *sn, const struct lnet_att *att)
{
	const struct lnet_nid *nid = lnet_peer_ni_nid(att->pni);
	struct sock_peer *peer = sock_peer_find(sn, nid);

	return peer ? peer : sock_peer_make(sn, nid, att->pni);
}

/* [lock] True if no connection is open, and the next dial is more than min_reconnect away. */
static bool is_backed_off(const struct sock_peer *peer)
{
	u64 least = READ_ONCE(sock_tun(peer->sn)->min_reconnect);

	return list_empty(&peer->conns) && !peer->dial && peer->dial_ns > peer->sn->now_ns + least;
}

/*
 * Lock held. Queues @att. If failed dials have caused a long pause, completes @att instead. 0 or
 * -errno. *@peerp: the caller sets it to the peer of the previous attempt, or NULL. If @att was
 * queued, the function sets it to the peer of @att.
 */
static int queue_att(struct lnet_pass *p, struct sock_ni *sn, struct lnet_att *att,
		     struct sock_peer **peerp)
{
	struct sock_peer *peer = *peerp && (*peerp)->pni == att->pni ? *peerp : NULL;
	unsigned int q;

	if (!peer && !sn->stopping)
		peer = peer_of(sn, att);
	if (!peer || sn->stopping) {
		att->outcome = LNET_LOCAL_DROPPED;
		return sn->stopping ? -ESHUTDOWN : -ENOMEM;
	}
	if (lnet_att_is_urgent(att) && !peer->dial)
		peer->dial_ns = min(peer->dial_ns, sn->now_ns);
	if (is_backed_off(peer)) {
		lnet_att_unconnected(p, att, peer->dial_err);
		return 0;
	}
	q = frame_len(peer, att) >= READ_ONCE(sock_tun(sn)->min_bulk) ? SOCK_BULK : SOCK_SMALL;
	sock_peer_queue(peer, att, q, false);
	sock_peer_arm(peer, att->deadline_ns);
	*peerp = peer;
	return 0;
}

/* [lock] After queueing for @peer: schedules writes, and dials if a connection is missing. */
static void queued(struct lnet_pass *p, struct sock_peer *peer)
{
	if (!peer)
		return;
	sock_doorbell_peer(peer);
	if (!peer->dial && !peer->full)
		sock_peer_dial(p, peer);
}

int sock_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct sock_peer *peer = NULL;
	int err;

	INIT_LIST_HEAD(&att->link);
	sock_lock(p, sn);
	err = queue_att(p, sn, att, &peer);
	queued(p, peer);
	sock_unlock(p, sn);
	return err;
}

void sock_send_list(struct lnet_pass *p, struct lnet_ni *ni, struct list_head *atts, bool doorbell)
{
	struct sock_peer *peer = NULL, *last = NULL;
	struct sock_ni *sn = sock_ni_of(ni);
	struct lnet_att *att, *next;

	sock_lock(p, sn);
	list_for_each_entry_safe(att, next, atts, link) {
		list_del_init(&att->link);
		if (queue_att(p, sn, att, &peer)) {
			lnet_att_done(p, att, att->outcome, 0);
			continue;
		}
		if (last != peer)
			queued(p, last);
		last = peer;
	}
	queued(p, last);
	if (doorbell)
		sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
}

void sock_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct sock_ni *sn = sock_ni_of(ni);

	sock_lock(p, sn);
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
}

/* ---- cancelling ---- */

static bool list_has(const struct list_head *head, const struct list_head *node)
{
	const struct list_head *at;

	list_for_each(at, head)
		if (at == node)
			return true;
	return false;
}

static bool cancel_queued(struct lnet_pass *p, struct sock_peer *peer, struct lnet_att *att)
{
	unsigned int q;

	for (q = 0; q < SOCK_NR_QUEUES; q++) {
		if (!list_has(&peer->queue[q], &att->link))
			continue;
		list_del_init(&att->link);
		peer->nr_queue[q]--;
		lnet_att_done(p, att, LNET_CANCELED, 0);
		return true;
	}
	return false;
}

static int seg_detach(struct sock_conn *c, struct sock_seg *s)
{
	struct lnet_buf payload;

	if (s->len > SOCK_DETACH_MAX || (s->pin && s->pos))
		return -EBUSY;
	if (!sock_unsent_take(c, s->len))
		return -ENOBUFS;
	s->copy = kmalloc(s->len, GFP_NOFS | __GFP_NOWARN);
	if (!s->copy) {
		sock_unsent_return(c, s->len);
		return -ENOMEM;
	}
	lnet_att_payload(s->att, &payload);
	lnet_buf_read(&payload, s->pos, s->copy, s->len);
	sock_seg_unpin(c, s);
	s->att = NULL;
	s->pos = 0;
	sock_count(c->sn, detached);
	return 0;
}

/*
 * Copies the unsent bytes of @att, whose payload is sent by reference. @c then sends the copy, so
 * the message in the stream is complete.
 */
static int detach(struct sock_conn *c, struct lnet_att *att)
{
	int err = 0;
	u32 i;

	for (i = 0; i < c->nr_segs && !err; i++)
		if (seg_at(c, i)->att == att)
			err = seg_detach(c, seg_at(c, i));
	return err;
}

static void forget_cookie(struct sock_peer *peer, const struct lnet_att *att)
{
	struct sock_zc *zc = zc_of(peer, att);

	if (zc)
		zc->att = NULL;
}

int sock_out_detach(struct lnet_pass *p, struct sock_conn *c, struct lnet_att *att,
		    enum lnet_outcome how)
{
	int err = detach(c, att);

	if (err)
		return err;
	forget_cookie(c->peer, att);
	list_del_init(&att->link);
	sock_att_done(p, c->sn, att, how, c->epoch);
	return 0;
}

/* Has no effect while a thread writes to @c; the core repeats the cancel. */
static void cancel_encoded(struct lnet_pass *p, struct sock_conn *c, struct lnet_att *att)
{
	if (!c->writing && sock_out_detach(p, c, att, LNET_ABORTED))
		sock_set_close(p, c->peer, LNET_ABORTED, true);
}

static void cancel_att(struct lnet_pass *p, struct sock_peer *peer, struct lnet_att *att,
		       enum lnet_cancel how)
{
	struct sock_conn *c;
	struct sock_zc *zc;

	if (cancel_queued(p, peer, att) || how == LNET_CANCEL_UNSENT)
		return;
	list_for_each_entry(c, &peer->conns, set) {
		if (list_has(&c->txs, &att->link)) {
			cancel_encoded(p, c, att);
			return;
		}
	}
	zc = zc_of(peer, att);
	if (!zc)
		return;
	if (sock_is_pinned(peer->sn, att)) {
		sock_set_close(p, peer, LNET_ABORTED, true);
		return;
	}
	zc->att = NULL;
	sock_att_done(p, peer->sn, att, LNET_OK, peer->epoch);
}

void sock_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		 enum lnet_cancel how)
{
	struct sock_ni *sn = sock_ni_of(ni);
	struct sock_peer *peer;

	sock_lock(p, sn);
	peer = sock_peer_find(sn, lnet_peer_ni_nid(att->pni));
	if (peer)
		cancel_att(p, peer, att, how);
	sock_unlock(p, sn);
}
