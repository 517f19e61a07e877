/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Received messages: parses frames, passes headers to the core, and places payloads. */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

/* messages of a batch: the node sends their replies before it processes further messages */
#define BATCH_MAX	32U
/* if less of a payload is missing, the driver reads it through the staging memory */
#define DIRECT_MIN	2048U
#define LARGE_MIN	65536U
#define READS_MAX	16	/* most reads per turn after a large message */
/*
 * Most reads per turn after other messages. One read can contain thousands of small messages, and
 * other connections wait meanwhile.
 */
#define READS_SMALL	2

enum { RX_LANDED = 1 };		/* in rx->lnd_flags: receive() was called before later() */

/*
 * Small messages whose payloads are in the staging memory. One visit to the shard begins all of
 * them, and another visit completes them.
 */
struct batch {
	unsigned int nr, nr_cookies;
	struct { struct lnet_rx *rx; const u8 *data; } msg[BATCH_MAX];
	u64 cookie[BATCH_MAX];
};

static void batch_flush(struct lnet_pass *p, struct sock_conn *c, struct batch *b)
{
	unsigned int i;

	if (b->nr)
		lnet_pass_relax(p);
	for (i = 0; i < b->nr; i++)
		if (b->msg[i].rx->want)
			lnet_buf_write(&b->msg[i].rx->into, 0, b->msg[i].data, b->msg[i].rx->want);
	for (i = 0; i < b->nr; i++)
		lnet_rx_done(p, b->msg[i].rx, LNET_OK);
	if (b->nr == BATCH_MAX)
		lnet_pass_flush(p);
	b->nr = 0;
	if (!b->nr_cookies)
		return;
	sock_lock(p, c->sn);
	for (i = 0; i < b->nr_cookies && c->state == CONN_OPEN; i++)
		sock_zc_ack_send(p, c->peer, c, b->cookie[i]);
	sock_unlock(p, c->sn);
	b->nr_cookies = 0;
}

static void batch_cookie(struct lnet_pass *p, struct sock_conn *c, struct batch *b, u64 cookie)
{
	if (!cookie)
		return;
	b->cookie[b->nr_cookies++] = cookie;
	if (b->nr_cookies == BATCH_MAX)
		batch_flush(p, c, b);
}

static void batch_add(struct lnet_pass *p, struct sock_conn *c, struct batch *b, struct lnet_rx *rx,
		      const u8 *data)
{
	b->msg[b->nr].rx = rx;
	b->msg[b->nr++].data = data;
	if (b->nr == BATCH_MAX)
		batch_flush(p, c, b);
}

/* ---- messages read aside ---- */

/*
 * Lock held; releases and takes it. @h has all bytes of the message and its verdict: places the
 * payload and frees @h.
 */
static void hold_finish(struct lnet_pass *p, struct sock_ni *sn, struct sock_hold *h)
{
	struct sock_peer *peer = h->peer;
	struct lnet_rx *rx = h->rx;

	list_del_init(&h->link);
	mutex_unlock(&sn->lock);
	if (rx) {
		if (rx->want)
			lnet_buf_write(&rx->into, 0, h->data, min(rx->want, h->len));
		lnet_rx_done(p, rx, LNET_OK);
	}
	lnet_pass_relax(p);
	mutex_lock(&sn->lock);
	if (h->cookie && h->epoch == peer->epoch)
		sock_zc_ack_send(p, peer, NULL, h->cookie);
	sock_hold_free(sn, h);
}

/* ---- the message being received ---- */

static void land_begin(struct sock_conn *c, struct lnet_rx *rx, u32 payload_len)
{
	WRITE_ONCE(c->rx, rx);
	WRITE_ONCE(c->nr_receives, c->nr_receives + 1);
	c->into = rx->into;
	c->pos = 0;
	WRITE_ONCE(c->want, min(rx->want, payload_len));
	c->skip = payload_len - c->want;
}

static void hold_begin(struct sock_conn *c, struct sock_hold *h)
{
	c->hold = h;
	WRITE_ONCE(c->nr_receives, c->nr_receives + 1);
	c->hold_frag.base = h->data;
	c->hold_frag.len = h->len;
	c->into = (struct lnet_buf){ .frags = &c->hold_frag, .nr = 1, .len = h->len };
	c->pos = 0;
	c->want = h->len;
	c->skip = 0;
}

static bool is_landing(const struct sock_conn *c)
{
	return c->rx || c->hold;
}

/* All bytes of the message that @c receives were read. */
static void land_end(struct lnet_pass *p, struct sock_conn *c, struct batch *b)
{
	struct sock_hold *h = c->hold;
	struct lnet_rx *rx = c->rx;
	bool stop;

	sock_lock(p, c->sn);
	stop = c->stop;
	c->stop = false;
	c->rx = NULL;
	c->hold = NULL;
	sock_receive_done(c);
	if (h) {
		h->full = true;
		if (h->landed || !h->rx)
			hold_finish(p, c->sn, h);
	}
	sock_unlock(p, c->sn);
	if (h)
		return;
	lnet_rx_done(p, rx, stop ? LNET_STOPPED : LNET_OK);
	batch_cookie(p, c, b, c->cookie);
}

/* If the core has aborted the receive, discards the remaining bytes of the message. */
static void land_stopped(struct lnet_pass *p, struct sock_conn *c)
{
	struct lnet_rx *rx;

	sock_lock(p, c->sn);
	rx = c->stop ? c->rx : NULL;
	if (rx) {
		c->stop = false;
		c->rx = NULL;
		c->skip += c->want - c->pos;
		sock_receive_unclaim(c);
	}
	sock_unlock(p, c->sn);
	if (rx)
		lnet_rx_done(p, rx, LNET_STOPPED);
}

/*
 * The verdict is LATER. Reads the message aside, or stops reading until receive(). Returns true if
 * reading stops.
 */
static bool later(struct lnet_pass *p, struct sock_conn *c, struct lnet_rx *rx, u32 payload_len)
{
	struct sock_ni *sn = c->sn;
	struct sock_hold *h;
	bool stops = false;

	sock_lock(p, sn);
	if (rx->lnd_flags & RX_LANDED) {
		if (rx->verdict == LNET_RECEIVE) {
			land_begin(c, rx, payload_len);
		} else {
			c->skip = payload_len;
			rx->lnd[0] = NULL;
			sock_receive_unclaim(c);
		}
	} else {
		sock_receive_unclaim(c);
		h = sock_hold_new(c, rx, payload_len);
		if (h) {
			hold_begin(c, h);
		} else {
			c->rx = rx;
			c->want = 0;
			c->pos = 0;
			c->skip = payload_len;
			stops = true;
			WRITE_ONCE(c->waits, true);
			sock_count(sn, stopped);
		}
	}
	sock_unlock(p, sn);
	return stops;
}

/* ---- frames ---- */

static int frame_error(struct lnet_pass *p, struct sock_conn *c, enum sock_counter why)
{
	sock_lock(p, c->sn);
	c->sn->c[why]++;
	sock_unlock(p, c->sn);
	return -EPROTO;
}

static int take_zcack(struct lnet_pass *p, struct sock_conn *c, const struct lnet_ksock_hdr *k)
{
	struct lnet_zcack ack;
	bool good = true;

	lnet_zcack_decode(&ack, k);
	if (ack.kind == LNET_ZCACK_NONE || ack.kind == LNET_ZCACK_KEEPALIVE)
		return 0;
	if (ack.kind == LNET_ZCACK_BAD)
		return frame_error(p, c, SOCK_C_bad_zcack);
	sock_lock(p, c->sn);
	if (c->state == CONN_OPEN)
		good = sock_zc_ack(p, c->peer, &ack);
	sock_unlock(p, c->sn);
	return good ? 0 : frame_error(p, c, SOCK_C_bad_zcack);
}

struct stage {
	const u8 *data;
	u32 len;
	struct sock_came came;
};

/* Returns true if the payload of the message may be received now. @s still contains the header. */
static bool claim(struct lnet_pass *p, struct sock_conn *c, const struct stage *s, u32 size)
{
	u32 payload_len = s->came.hdr.payload_len;
	bool fits;

	if (payload_len <= SOCK_INLINE_MAX && payload_len + (c->nr_hdr ? 0 : size) <= s->len)
		return true;
	sock_lock(p, c->sn);
	fits = sock_receive_claim(c, payload_len, false);
	sock_unlock(p, c->sn);
	return fits;
}

/*
 * Releases the claim of @c: the bytes that are reserved for its payload. Called if @c does not
 * receive the payload, or needs no reservation for it.
 */
static void unclaim(struct lnet_pass *p, struct sock_conn *c)
{
	if (!READ_ONCE(c->claim))
		return;
	sock_lock(p, c->sn);
	sock_receive_unclaim(c);
	sock_unlock(p, c->sn);
}

/*
 * Requests the verdict on a message and follows it. @s begins behind the header. Returns 0, 1 (stop
 * reading) or -errno.
 */
static int conn_message_begin(struct lnet_pass *p, struct sock_conn *c, struct batch *b,
			      struct stage *s, const struct lnet_hdr *hdr, u64 cookie)
{
	struct lnet_rx *rx = lnet_rx_needed(c->sn->ni, hdr) ? lnet_rx_get(p) : NULL;
	enum lnet_verdict v = LNET_SKIP;

	c->cookie = cookie;
	c->large = hdr->payload_len >= LARGE_MIN;
	if (rx)
		rx->lnd[0] = c;
	if (rx || !lnet_rx_needed(c->sn->ni, hdr))
		v = lnet_rx_begin(p, c->sn->ni, rx, hdr, c->peer->pni);
	switch (v) {
	case LNET_RECEIVE:
		if (hdr->payload_len <= s->len && hdr->payload_len <= SOCK_INLINE_MAX) {
			const u8 *data = s->data;

			s->data += hdr->payload_len;
			s->len -= hdr->payload_len;
			batch_add(p, c, b, rx, data);
			batch_cookie(p, c, b, cookie);
			return 0;
		}
		batch_flush(p, c, b);
		land_begin(c, rx, hdr->payload_len);
		return 0;
	case LNET_LATER:
		batch_flush(p, c, b);
		return later(p, c, rx, hdr->payload_len);
	case LNET_CLOSE:
		batch_flush(p, c, b);
		unclaim(p, c);
		return frame_error(p, c, SOCK_C_bad_header);
	default:
		unclaim(p, c);
		c->skip = hdr->payload_len;
		batch_cookie(p, c, b, cookie);
		return 0;
	}
}

static const u8 *collect_header(struct sock_conn *c, struct stage *s, u32 size)
{
	u32 n;

	n = min(size - min(c->nr_hdr, size), s->len);
	memcpy(c->hdr + c->nr_hdr, s->data, n);
	WRITE_ONCE(c->nr_hdr, c->nr_hdr + n);
	s->data += n;
	s->len -= n;
	return c->nr_hdr < size ? NULL : c->hdr;
}

/*
 * Returns the current header, in the bytes that were read or collected in c->hdr. NULL: more bytes
 * are needed.
 */
static const u8 *header(struct sock_conn *c, struct stage *s, u32 size)
{
	if (likely(!c->nr_hdr && s->len >= size))
		return s->data;
	return collect_header(c, s, size);
}

static void header_done(struct sock_conn *c, struct stage *s, u32 size)
{
	if (c->nr_hdr) {
		WRITE_ONCE(c->nr_hdr, 0);
		return;
	}
	s->data += size;
	s->len -= size;
}

static int frame(struct lnet_pass *p, struct sock_conn *c, struct batch *b, struct stage *s)
{
	u32 size = LNET_KSOCK_SIZE + lnet_hdr_size(c->version == 4);
	struct lnet_ksock_hdr k;
	const u8 *at = header(c, s, LNET_KSOCK_SIZE);
	u64 cookie;
	int err;

	if (!at)
		return 0;
	if (lnet_ksock_decode(&k, at, LNET_KSOCK_SIZE, c->swapped))
		return frame_error(p, c, SOCK_C_bad_frame);
	if (k.type == LNET_KSOCK_NOOP) {
		header_done(c, s, LNET_KSOCK_SIZE);
		return take_zcack(p, c, &k);
	}
	at = header(c, s, size);
	if (!at)
		return 0;
	err = sock_decode_hdr(c, at + LNET_KSOCK_SIZE, &s->came);
	if (!err && !claim(p, c, s, size))
		return 1;
	header_done(c, s, size);
	if (err)
		return frame_error(p, c, SOCK_C_bad_header);
	cookie = lnet_zcreq_cookie(&k);
	if (cookie && cookie < LNET_ZC_COOKIE_FIRST)
		return frame_error(p, c, SOCK_C_bad_frame);
	err = k.zc_cookie[1] ? take_zcack(p, c, &k) : 0;
	return err ? err : conn_message_begin(p, c, b, s, &s->came.hdr, cookie);
}

static void take_payload(struct lnet_pass *p, struct sock_conn *c, struct batch *b, struct stage *s)
{
	u32 n = min(c->want - c->pos, s->len);

	if (n > SOCK_INLINE_MAX)
		lnet_pass_relax(p);
	if (n)
		lnet_buf_write(&c->into, c->pos, s->data, n);
	c->pos += n;
	s->data += n;
	s->len -= n;
	if (c->pos == c->want)
		land_end(p, c, b);
}

int sock_frames_feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len)
{
	struct stage s = { .data = data, .len = len };
	struct batch b __uninitialized;
	int err = 0;
	u32 n;

	b.nr = 0;
	b.nr_cookies = 0;
	while (!err && (s.len || (is_landing(c) && c->pos == c->want)) &&
	       READ_ONCE(c->state) == CONN_OPEN) {
		if (is_landing(c)) {
			take_payload(p, c, &b, &s);
		} else if (c->skip) {
			n = min(c->skip, s.len);
			c->skip -= n;
			s.data += n;
			s.len -= n;
		} else {
			err = frame(p, c, &b, &s);
		}
	}
	batch_flush(p, c, &b);
	return err == 1 ? sock_stash_put(p, c, s.data, s.len) : err;
}

/* ---- reading ---- */

/* Sets the memory to read into: first that of the current payload, then the staging memory. */
static unsigned int read_vec(struct sock_conn *c, struct kvec *vec, u8 *staging, u32 size,
			     u32 *direct)
{
	struct lnet_frag frag[SOCK_VECS - 1] __uninitialized;
	unsigned int i, nr = 0;

	*direct = 0;
	if (is_landing(c) && c->want - c->pos >= DIRECT_MIN) {
		nr = lnet_buf_frags(&c->into, c->pos, c->want - c->pos, frag, ARRAY_SIZE(frag));
		for (i = 0; i < nr; i++) {
			vec[i].iov_base = frag[i].base;
			vec[i].iov_len = frag[i].len;
			*direct += frag[i].len;
		}
		if (*direct < c->want - c->pos)
			return nr;
	}
	vec[nr].iov_base = staging;
	vec[nr].iov_len = min(size, c->skip + sock_read_ahead(c, size));
	return nr + 1;
}

static int feed(struct lnet_pass *p, struct sock_conn *c, const u8 *data, u32 len)
{
	int used;

	if (READ_ONCE(c->state) == CONN_REFUSING)
		return 0;
	if (READ_ONCE(c->state) == CONN_OPEN)
		return sock_frames_feed(p, c, data, len);
	used = sock_hello_feed(p, c, data, len);
	if (used < 0)
		return used;
	if (used < len && READ_ONCE(c->state) == CONN_OPEN)
		return sock_frames_feed(p, c, data + used, len - used);
	return 0;
}

/* Processes the bytes that @c had read before reading stopped. */
static int feed_stash(struct lnet_pass *p, struct sock_conn *c)
{
	u32 len = c->stash_len;
	u8 *old = sock_stash_take(p, c);
	int err = feed(p, c, old, len);

	kfree(old);
	return err;
}

/*
 * Returns 1 (continue), 0 (no more bytes for now) or -errno (the connection broke). Sets *got
 * unless the read found nothing.
 */
static int read_once(struct lnet_pass *p, struct sock_conn *c, u8 *staging, u32 size, bool *got)
{
	struct kvec vec[SOCK_VECS] __uninitialized;
	u32 direct, part, room = 0;
	unsigned int nr, i;
	ssize_t n;
	int err;

	if (READ_ONCE(c->stop))
		land_stopped(p, c);
	if (c->stash) {
		err = feed_stash(p, c);
		return err ? err : 1;
	}
	nr = read_vec(c, vec, staging, size, &direct);
	for (i = 0; i < nr; i++)
		room += vec[i].iov_len;
	lnet_pass_relax(p);
	n = c->sn->io->read(c, vec, nr);
	if (n == -EAGAIN)
		return 0;
	*got = true;
	if (n <= 0)
		return n ? n : -ENODATA;
	WRITE_ONCE(c->last_rx_ns, p->now_ns);
	if (READ_ONCE(c->state) == CONN_OPEN)
		lnet_path_liveness(p, c->sn->ni, c->peer->pni, 0);
	part = min_t(u32, n, direct);
	c->pos += part;
	err = feed(p, c, staging, n - part);
	return err ? err : n == room;
}

static bool may_read(const struct sock_conn *c)
{
	return READ_ONCE(c->state) != CONN_CLOSED && READ_ONCE(c->state) != CONN_CONNECTING &&
	       !READ_ONCE(c->waits);
}

/* Lock held. The stream has ended or the connection broke. */
static void read_failed(struct lnet_pass *p, struct sock_conn *c, int err)
{
	struct sock_ni *sn = c->sn;
	bool between = !c->nr_hdr && !is_landing(c) && !c->skip;

	if (err == -ENODATA)
		sock_count(sn, eof);
	else if (err != -EPROTO)
		sock_count(sn, reset);
	sock_conn_ended(p, c, err == -ENODATA && between);
}

/* Ends a turn of reading. Reading resumes when bytes arrive, unless c->waits is set. */
static void read_end(struct lnet_pass *p, struct sock_conn *c, int err)
{
	struct sock_ni *sn = c->sn;
	bool abandon;

	sock_lock(p, sn);
	if (err < 0)
		read_failed(p, c, err);
	c->reading = false;
	if (c->peer)
		c->peer->alive_ns = sn->now_ns;
	if (c->state != CONN_CLOSED && c->want_read == c->waits) {
		c->want_read = !c->waits;
		sn->io->want(c);
	}
	if (c->stash && !c->waits && c->state != CONN_CLOSED)
		sock_conn_resume(c);	/* receive() was called while this thread was reading */
	sock_receive_watch(c);
	abandon = c->state == CONN_CLOSED && is_landing(c);
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
	if (abandon)
		sock_rx_abandon(p, c);
}

bool sock_conn_readable(struct lnet_pass *p, struct sock_conn *c, u8 *staging, u32 size)
{
	struct sock_ni *sn = c->sn;
	bool got = false, may;
	int err = 0, i;

	sock_lock(p, sn);
	may = may_read(c) && !c->reading;
	if (may)
		c->reading = true;
	list_del_init(&c->resume);
	sock_unlock(p, sn);
	if (!may)
		return false;
	for (i = 0; !err && i < (c->large ? READS_MAX : READS_SMALL) && may_read(c); i++) {
		err = read_once(p, c, staging, size, &got);
		if (err != 1)
			break;
		err = 0;
	}
	c->busy = i;
	lnet_pass_flush(p);
	read_end(p, c, err);
	return got;
}

void sock_rx_abandon(struct lnet_pass *p, struct sock_conn *c)
{
	struct sock_ni *sn = c->sn;
	struct lnet_rx *rx;
	struct sock_hold *h;
	bool waited, slow;

	sock_lock(p, sn);
	rx = c->rx;
	h = c->hold;
	waited = c->waits;
	slow = c->slow;
	WRITE_ONCE(c->waits, false);
	WRITE_ONCE(c->rx, NULL);
	WRITE_ONCE(c->hold, NULL);
	sock_receive_unclaim(c);
	if (h) {
		rx = h->rx;
		waited = !h->landed;
		sock_hold_free(sn, h);
	}
	if (rx)
		rx->lnd[0] = rx->lnd[1] = NULL;
	sock_unlock(p, sn);
	if (rx && waited)
		lnet_rx_gone(p, rx);
	else if (rx)
		lnet_rx_done(p, rx, slow ? LNET_ABORTED : LNET_PATH_LOST);
}

/* ---- ops ---- */

/*
 * Lock held. Returns true if the connection is lost; the caller then calls lnet_rx_done(PATH_LOST).
 */
static bool conn_payload_receive(struct lnet_pass *p, struct sock_ni *sn, struct lnet_rx *rx,
				 bool skip)
{
	struct sock_conn *c = rx->lnd[0];
	struct sock_hold *h = rx->lnd[1];

	if (!c)
		return !skip;
	if (h) {
		h->landed = true;
		if (skip)
			h->rx = NULL;
		if (h->full)
			hold_finish(p, sn, h);
		return false;
	}
	if (c->rx != rx || !c->waits) {
		rx->lnd_flags |= RX_LANDED;
		return false;
	}
	if (skip) {
		WRITE_ONCE(c->rx, NULL);
	} else {
		land_begin(c, rx, c->skip);
		sock_receive_claim(c, c->want, true);
	}
	sock_conn_resume(c);
	return false;
}

void sock_receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct sock_ni *sn = sock_ni_of(ni);
	bool lost;

	sock_lock(p, sn);
	lost = conn_payload_receive(p, sn, rx, rx->verdict != LNET_RECEIVE);
	sock_doorbell_flush(p, sn);
	sock_unlock(p, sn);
	if (lost)
		lnet_rx_done(p, rx, LNET_PATH_LOST);
}

/*
 * Lock held. Finds the receive of @rx without reading @rx, which may be freed. Returns true if it
 * ended the receive.
 */
static bool conn_receive_stop(struct sock_ni *sn, const struct lnet_rx *rx)
{
	struct sock_conn *c;
	struct sock_hold *h;

	list_for_each_entry(c, &sn->conns, all) {
		if (READ_ONCE(c->rx) != rx || c->waits)
			continue;
		if (c->reading) {
			c->stop = true;
			return false;
		}
		WRITE_ONCE(c->rx, NULL);
		c->skip += c->want - c->pos;
		sock_receive_unclaim(c);
		return true;
	}
	list_for_each_entry(h, &sn->holds, link) {
		if (h->rx != rx || !h->landed)
			continue;
		h->rx = NULL;
		return true;
	}
	return false;
}

void sock_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct sock_ni *sn = sock_ni_of(ni);
	bool taken;

	sock_lock(p, sn);
	taken = conn_receive_stop(sn, rx);
	sock_unlock(p, sn);
	if (taken)
		lnet_rx_done(p, rx, LNET_STOPPED);
}
