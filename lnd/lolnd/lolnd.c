/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The loopback driver passes messages from the node to itself. The next thread that may run
 * handlers receives the messages, and copies each payload once. A caller of the API may not run
 * handlers.
 */
#include "plat.h"
#include <lnet/lnd.h>
#include <lnet/wire.h>
#include "model/model.h"

/* epoch of each message: constant, because the loopback has no connection to lose */
#define LO_EPOCH	1U
/* messages that one visit delivers at most, so that the thread can do other work */
#define LO_BURST	64U
#define LO_FRAGS	16U	/* fragments of a payload that are copied at a time */

/*
 * The private data of the NI. One thread at a time delivers messages, in the order of @queue; @busy
 * is then true. If another thread queues an attempt meanwhile, the delivering thread also delivers
 * this attempt.
 */
struct lo {
	/*
	 * leaf lock: a thread that holds it takes no further lock. It also protects att->link,
	 * att->lnd and rx->lnd of the messages in the driver.
	 */
	spinlock_t lock;
	struct list_head queue;		/* attempts in AT_QUEUE */
	struct list_head waiting;	/* attempts in AT_PARKED */
	bool busy, stopped;
	/*
	 * att->lnd[1] is the address of an element, whose index (enum lo_place) is the place of the
	 * attempt; the elements have no values
	 */
	char at[4];
};

/*
 * The place of an attempt. att->lnd[1] is the address of lo->at[place]. The core may cancel an
 * attempt that the driver does not have. Then att->lnd[1] has a value of the core, which never
 * equals an address in lo->at, so the driver ignores the cancel. From AT_HAND on, att->lnd[0] is
 * the rx of the attempt.
 */
enum lo_place {
	AT_QUEUE,
	AT_HAND,	/* a thread processes the attempt, or the attempt was completed */
	/*
	 * A thread processes the attempt, as in AT_HAND, and ops->receive was called meanwhile. The
	 * processing thread executes the verdict.
	 */
	AT_VERDICT,
	AT_PARKED,	/* waits for ops->receive */
};

/*
 * A payload that was read aside. If a received message waits for ops->receive, rx->lnd[0] is its
 * attempt. If the attempt was already completed, rx->lnd[0] is NULL and rx->lnd[1] is the copy of
 * the payload. If there was no memory for the copy, rx->lnd[1] is NULL also.
 */
struct aside {
	u32 len;
	u8 data[];
};

static struct lo *lo_of(struct lnet_ni *ni)
{
	return lnet_ni_priv(ni);
}

static bool is_at(const struct lo *lo, const struct lnet_att *att, enum lo_place place)
{
	return READ_ONCE(att->lnd[1]) == (const void *)&lo->at[place];
}

static void lo_place_set(struct lo *lo, struct lnet_att *att, enum lo_place place)
{
	WRITE_ONCE(att->lnd[1], &lo->at[place]);
}

/* ---- payload --------------------------------------------------------------------------------- */

static void copy_payload(const struct lnet_buf *into, const struct lnet_att *att, u32 len)
{
	struct lnet_frag frags[LO_FRAGS];
	struct lnet_buf from;
	unsigned int i, nr;
	u32 done = 0;

	lnet_att_payload(att, &from);
	while (done < len) {
		nr = lnet_buf_frags(&from, done, len - done, frags, LO_FRAGS);
		if (WARN_ON_ONCE(!nr))
			return;
		for (i = 0; i < nr; i++) {
			lnet_buf_write(into, done, frags[i].base, frags[i].len);
			done += frags[i].len;
		}
	}
}

static struct aside *read_aside(const struct lnet_att *att)
{
	struct aside *aside;
	struct lnet_buf from;

	lnet_att_payload(att, &from);
	aside = kvmalloc(sizeof(*aside) + from.len, GFP_NOFS);
	if (!aside)
		return NULL;
	aside->len = from.len;
	lnet_buf_read(&from, 0, aside->data, from.len);
	return aside;
}

/* Executes the final verdict on @rx, and completes its attempt with the outcome @how. */
static void land_from(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_att *att,
		      enum lnet_outcome how)
{
	if (rx->verdict == LNET_RECEIVE) {
		lnet_pass_relax(p);
		copy_payload(&rx->into, att, rx->want);
		lnet_rx_done(p, rx, LNET_OK);
	}
	lnet_att_done(p, att, how, LO_EPOCH);
}

/*
 * Makes a message (AT_HAND or AT_VERDICT) wait for ops->receive. With @give_back, the driver reads
 * the payload aside, so that the sender's memory and credits are released. This is done for small
 * messages and for aborts.
 */
static void lo_rx_enqueue(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
			  struct lnet_att *att, bool give_back, enum lnet_outcome how)
{
	struct aside *aside = give_back ? read_aside(att) : NULL;
	struct lo *lo = lo_of(ni);
	bool decided, given = false;

	spin_lock(&lo->lock);
	decided = is_at(lo, att, AT_VERDICT);
	if (!decided) {
		given = aside || how != LNET_OK;
		rx->lnd[0] = given ? NULL : att;
		rx->lnd[1] = aside;
		if (!given) {
			lo_place_set(lo, att, AT_PARKED);
			list_add_tail(&att->link, &lo->waiting);
		}
	}
	spin_unlock(&lo->lock);
	if (decided) {
		kvfree(aside);
		land_from(p, rx, att, how);
	} else if (given) {
		lnet_att_done(p, att, how, LO_EPOCH);
	}
}

static bool is_small(struct lnet_ni *ni, const struct lnet_att *att)
{
	const struct lnet_tunables *tun = lnet_tunables_of(lnet_ni_instance(ni));
	struct lnet_buf buf;

	lnet_att_payload(att, &buf);
	return buf.len <= READ_ONCE(tun->hold_max);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void lo_att_receive(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct lnet_rx *rx;
	struct lnet_hdr hdr;

	if (att->deadline_ns && p->now_ns >= att->deadline_ns) {
		lnet_att_done(p, att, LNET_LOCAL_TIMEOUT, 0);
		return;
	}
	lnet_pass_relax(p);
	rx = lnet_rx_get(p);
	if (!rx) {
		lnet_att_done(p, att, LNET_NO_MEMORY, 0);
		return;
	}
	att->lnd[0] = rx;
	/* set before lnet_rx_begin(): ops->receive may be called before that function returns */
	rx->lnd[0] = att;
	rx->lnd[1] = NULL;
	lnet_att_hdr(att, &hdr);
	switch (lnet_rx_begin(p, ni, rx, &hdr, att->pni)) {
	case LNET_RECEIVE:
		land_from(p, rx, att, LNET_OK);
		break;
	case LNET_LATER:
		lnet_pass_relax(p);
		lo_rx_enqueue(p, ni, rx, att, is_small(ni, att), LNET_OK);
		break;
	case LNET_SKIP:
		lnet_att_done(p, att, LNET_OK, LO_EPOCH);
		break;
	case LNET_CLOSE:
		lnet_att_done(p, att, LNET_REMOTE_ERROR, LO_EPOCH);
		break;
	}
}

static bool busy_begin(struct lo *lo)
{
	bool mine;

	spin_lock(&lo->lock);
	mine = !lo->busy && !lo->stopped && !list_empty(&lo->queue);
	if (mine)
		lo->busy = true;
	spin_unlock(&lo->lock);
	return mine;
}

/* Returns the next attempt. If the visit ends, returns NULL and clears @busy. */
static struct lnet_att *busy_next(struct lo *lo, unsigned int nr, bool *more)
{
	struct lnet_att *att = NULL;

	spin_lock(&lo->lock);
	*more = !list_empty(&lo->queue) && !lo->stopped;
	if (*more && nr < LO_BURST) {
		att = list_first_entry(&lo->queue, struct lnet_att, link);
		list_del_init(&att->link);
		lo_place_set(lo, att, AT_HAND);
	} else {
		lo->busy = false;
	}
	spin_unlock(&lo->lock);
	return att;
}

static void lo_ni_deliver(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct lo *lo = lo_of(ni);
	struct lnet_att *att;
	unsigned int nr = 0;
	bool more;

	if (!busy_begin(lo))
		return;
	while ((att = busy_next(lo, nr++, &more)))
		lo_att_receive(p, ni, att);
	lnet_pass_relax(p);
	if (more)
		lnet_ni_kick(ni);
}

/* ---- the driver's operations ----------------------------------------------------------------- */

static int lo_start(struct lnet_ni *ni)
{
	struct lo *lo = lo_of(ni);

	spin_lock_init(&lo->lock);
	INIT_LIST_HEAD(&lo->queue);
	INIT_LIST_HEAD(&lo->waiting);
	return 0;
}

static bool is_busy(struct lo *lo)
{
	bool busy;

	spin_lock(&lo->lock);
	busy = lo->busy;
	spin_unlock(&lo->lock);
	return busy;
}

static struct lnet_att *lo_att_take_first(struct lo *lo, struct list_head *list)
{
	struct lnet_att *att;

	spin_lock(&lo->lock);
	att = list_first_entry_or_null(list, struct lnet_att, link);
	if (att) {
		list_del_init(&att->link);
		lo_place_set(lo, att, AT_HAND);
	}
	spin_unlock(&lo->lock);
	return att;
}

static void lo_stop(struct lnet_ni *ni)
{
	struct lo *lo = lo_of(ni);
	struct lnet_att *att;
	struct lnet_pass p;

	spin_lock(&lo->lock);
	lo->stopped = true;
	spin_unlock(&lo->lock);
	while (is_busy(lo))
		usleep_range(10, 100);
	lnet_pass_begin(&p, lnet_ni_instance(ni), LNET_PASS_DRIVER);
	while ((att = lo_att_take_first(lo, &lo->queue)))
		lnet_att_done(&p, att, LNET_LOCAL_ABORTED, 0);
	while ((att = lo_att_take_first(lo, &lo->waiting)))
		lo_rx_enqueue(&p, ni, att->lnd[0], att, true, LNET_ABORTED);
	lnet_pass_end(&p);
}

static int lo_send(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att)
{
	struct lo *lo = lo_of(ni);
	bool stopped;

	spin_lock(&lo->lock);
	stopped = lo->stopped;
	if (!stopped) {
		lo_place_set(lo, att, AT_QUEUE);
		list_add_tail(&att->link, &lo->queue);
	}
	spin_unlock(&lo->lock);
	if (!stopped)
		return 0;
	att->outcome = LNET_LOCAL_DROPPED;
	return -ESHUTDOWN;
}

/* A receive may run handlers, which a caller of the API must not run. So the worker receives. */
static void lo_flush(struct lnet_pass *p, struct lnet_ni *ni)
{
	if (p->kind == LNET_PASS_CALL)
		lnet_ni_kick(ni);
	else
		lo_ni_deliver(p, ni);
}

/* Returns true if @att was in the list of @place, and removes @att from this list. */
static bool take_from(struct lo *lo, struct lnet_att *att, enum lo_place place)
{
	bool waits;

	spin_lock(&lo->lock);
	waits = is_at(lo, att, place);
	if (waits) {
		list_del_init(&att->link);
		lo_place_set(lo, att, AT_HAND);
	}
	spin_unlock(&lo->lock);
	return waits;
}

static void lo_cancel(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_att *att,
		      enum lnet_cancel how)
{
	struct lo *lo = lo_of(ni);

	if (take_from(lo, att, AT_QUEUE))
		lnet_att_done(p, att, LNET_CANCELED, 0);
	else if (how == LNET_CANCEL_ABORT && take_from(lo, att, AT_PARKED))
		lo_rx_enqueue(p, ni, att->lnd[0], att, true, LNET_ABORTED);
}

static void land_aside(struct lnet_pass *p, struct lnet_rx *rx, struct aside *aside)
{
	if (rx->verdict == LNET_RECEIVE && aside)
		lnet_buf_write(&rx->into, 0, aside->data, min(rx->want, aside->len));
	if (rx->verdict == LNET_RECEIVE)
		lnet_rx_done(p, rx, aside ? LNET_OK : LNET_LOCAL_ERROR);
	kvfree(aside);
}

static void lo_land(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	struct lo *lo = lo_of(ni);
	struct lnet_att *att;
	bool mine = true;

	spin_lock(&lo->lock);
	att = rx->lnd[0];
	if (att && is_at(lo, att, AT_PARKED)) {
		list_del_init(&att->link);
		lo_place_set(lo, att, AT_HAND);
	} else if (att) {
		lo_place_set(lo, att, AT_VERDICT);
		mine = false;
	}
	spin_unlock(&lo->lock);
	if (mine && att)
		land_from(p, rx, att, LNET_OK);
	else if (mine)
		land_aside(p, rx, rx->lnd[1]);
}

/*
 * Does nothing: the receive of a payload is one copy by one thread, which ends before it could be
 * aborted.
 */
static void lo_rx_stop(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx)
{
	(void)p;
	(void)ni;
	(void)rx;
}

const struct lnet_lnd_ops lnet_lo_ops = {
	/* no owner: this driver is in the module of the core, which needs no reference to itself */
	.name = "lolnd",     .type = LNET_LND_LO,  .ni_priv_size = sizeof(struct lo),
	.peer_timeout = 0,   .peer_credits = 1024, .peer_buffer_credits = 0,
	.credits = 1024,     .ni_start = lo_start, .ni_stop = lo_stop,
	.send = lo_send,     .flush = lo_flush,	   .work = lo_ni_deliver,
	.cancel = lo_cancel, .receive = lo_land,   .rx_stop = lo_rx_stop,
};
