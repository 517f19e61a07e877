/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A receiver's window: its reply cache entries, cumulative ACKs, and timers. */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"

/* a cumulative ACK covers at least this number of PUTs, unless confirm_delay has passed */
#define NOACKS_MIN 8U
#define ENTRIES_KEPT 128U		/* most reply cache entries in the pool of a shard */
#define MARK_REASON_SHIFT 1

/* ---- places ---------------------------------------------------------------------------------- */

/* True if @place is the mark of a rejection: an odd pointer. Pointers to entries are aligned. */
static bool is_mark(const struct lnet_entry *place)
{
	return (uintptr_t)place & 1;
}

struct lnet_entry *lnet_window_entry(const struct lnet_window *w, u64 seq)
{
	struct lnet_entry *place = w->entry[seq & (w->cap - 1)];

	return is_mark(place) ? NULL : place;
}

u32 lnet_window_rejected(const struct lnet_window *w, u64 seq)
{
	const struct lnet_entry *place = w->entry[seq & (w->cap - 1)];

	return is_mark(place) ? (u32)((uintptr_t)place >> MARK_REASON_SHIFT) : 0;
}

/*
 * Moves the window to the list for its number of reply cache entries. Each list has a weight w. If
 * the number reaches 2^(w + 1), the window moves to the list of weight w + 1. If it falls below
 * 2^(w - 1), the window moves to the list of weight w - 1. So a window whose number varies around a
 * power of 2 stays in its list.
 */
static void window_weigh(struct lnet_window *w)
{
	u8 weight = w->weight;

	if (w->nr_entries >= 2U << weight && weight < LNET_WINDOW_WEIGHTS - 1)
		weight++;
	else if (weight && w->nr_entries < 1U << (weight - 1))
		weight--;
	if (likely(weight == w->weight))
		return;
	w->weight = weight;
	list_move(&w->heavy, &w->sh->heavy[weight]);
}

void lnet_window_place(struct lnet_window *w, u64 seq, struct lnet_entry *e)
{
	w->entry[seq & (w->cap - 1)] = e;
	w->nr_entries++;
	w->sh->window_bytes += sizeof(*e);
	window_weigh(w);
}

/*
 * [sh] Removes the entry of @seq from the window. Returns the entry with the window's reference, or
 * NULL.
 */
static struct lnet_entry *unplace(struct lnet_window *w, u64 seq)
{
	struct lnet_entry **place = &w->entry[seq & (w->cap - 1)], *e = *place;

	*place = NULL;
	if (!e || is_mark(e))
		return NULL;
	w->nr_entries--;
	w->sh->window_bytes -= sizeof(*e);
	window_weigh(w);
	return e;
}

void lnet_window_reject(struct lnet_window *w, struct lnet_entry *e)
{
	uintptr_t mark = (uintptr_t)e->reason << MARK_REASON_SHIFT | 1;

	unplace(w, e->seq);
	e->w = NULL;
	w->entry[e->seq & (w->cap - 1)] = (struct lnet_entry *)mark;
}

/* ---- entries --------------------------------------------------------------------------------- */

void lnet_entry_put(struct lnet_pass *p, struct lnet_entry *e)
{
	if (!e)
		return;
	lockdep_assert_held(&e->sh->lock);
	if (--e->refs)
		return;
	WARN_ON_ONCE(e->md);
	if (e->evt)
		lnet_evt_free(e->evt);
	if (e->sbuf) {
		e->sh->cache_bytes -= e->sbuf->len;
		lnet_sbuf_put(e->sbuf);
	}
	if (p->sh != e->sh || e->sh->entries.nr >= ENTRIES_KEPT) {
		kfree(e);
		return;
	}
	list_add(&e->rxs, &e->sh->entries.free);
	e->sh->entries.nr++;
}

struct lnet_entry *lnet_entry_take(struct lnet_shard *sh)
{
	struct lnet_entry *e;

	if (list_empty(&sh->entries.free))
		return NULL;
	e = list_first_entry(&sh->entries.free, struct lnet_entry, rxs);
	list_del(&e->rxs);
	sh->entries.nr--;
	memset(e, 0, sizeof(*e));
	return e;
}

static void unhold(struct lnet_entry *e)
{
	if (!e->held)
		return;
	e->held = 0;
	e->w->nr_held--;
	e->sh->nr_held--;
}

void lnet_entry_settle(struct lnet_pass *p, struct lnet_entry *e)
{
	struct lnet_md *md = e->md;
	struct lnet_evt *evt = e->evt;

	lockdep_assert_held(&e->sh->lock);
	if (!md || e->state != ENTRY_FINAL || !list_empty(&e->rxs))
		return;
	/* A large REPLY is sent from the MD's memory; an ACK and a cached REPLY are not. */
	if (e->type == LNET_OP_GET && !e->sbuf && (e->nr_reply_ops || (e->w && !e->gone)))
		return;
	unhold(e);
	e->md = NULL;
	e->evt = NULL;
	evt->ev.mlength = e->mlength;
	evt->ev.offset = e->offset;
	lnet_md_post(p, md, evt, true);
}

/*
 * Ends @e early. If no receive was complete, the event of @e reports a failure, and the reply is a
 * rejection. If the node holds the reply of @e, it discards this reply.
 */
static void entry_fail(struct lnet_pass *p, struct lnet_entry *e)
{
	if (e->state == ENTRY_MATCHED) {
		e->state = ENTRY_FINAL;
		e->reason = LNET_REJECTED_DISCARDED;
		e->evt->ev.status = -ETIMEDOUT;
		e->evt->ev.outcome = LNET_REMOTE_TIMEOUT;
	}
	e->gone = 1;
	lnet_entry_settle(p, e);
}

void lnet_entry_detach(struct lnet_pass *p, struct lnet_window *w, u64 seq)
{
	struct lnet_entry *e = unplace(w, seq);

	if (!e)
		return;
	unhold(e);
	if (e->sbuf)
		w->cache_bytes -= e->sbuf->len;
	e->w = NULL;
	if (e->state == ENTRY_MATCHED && list_empty(&e->rxs))
		entry_fail(p, e);
	else
		lnet_entry_settle(p, e);
	lnet_entry_put(p, e);
}

/* ---- room ------------------------------------------------------------------------------------ */

void lnet_window_advance(struct lnet_pass *p, struct lnet_window *w, u64 low)
{
	u64 seq, end = min(low, w->high + 1);

	for (seq = w->low; seq < end; seq++)
		lnet_entry_detach(p, w, seq);
	w->low = max(w->low, low);
}

static void ack_over(struct lnet_window *w, struct lnet_ni *ni)
{
	lnet_ni_put(w->ack_ni);
	w->ack_ni = ni;
	if (ni)
		lnet_ni_get(ni);
}

void lnet_window_from(struct lnet_window *w, struct lnet_peer_ni *pni)
{
	if (pni) {
		lnet_peer_ni_hold(pni);
		atomic_inc(&pni->nr_windows);
	}
	if (w->from) {
		atomic_dec(&w->from->nr_windows);
		lnet_peer_ni_put(w->from);
	}
	w->from = pni;
}

/* Makes later ACKs of the window use the opener's interface @from. @via: the router, or NULL. */
static void ack_to(struct lnet_window *w, struct lnet_peer_ni *from, struct lnet_peer_ni *via)
{
	lnet_window_from(w, from);
	lnet_peer_ni_put(w->via);
	w->via = via;
	if (via)
		lnet_peer_ni_hold(via);
	ack_over(w, NULL);
}

void lnet_windows_rehome(const struct lnet_peer *from, const struct lnet_peer_ni *pni)
{
	struct lnet_peer_ni *other = NULL, *at;
	struct lnet_window *w;
	unsigned int i;

	list_for_each_entry(at, &from->pnis, link)
		if (!at->deleted && !other)
			other = at;
	for (i = 0; other && i < from->ln->nr_shards && atomic_read(&pni->nr_windows); i++)
		list_for_each_entry(w, &from->ln->shard[i].windows, link)
			if (w->from == pni)
				ack_to(w, other, NULL);
}

void lnet_window_heard(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx)
{
	struct lnet_peer_ni *via = rx->src != rx->from ? rx->from : NULL;

	w->last_ns = p->now_ns;
	if (w->link.prev != &p->sh->windows)
		list_move(&w->link, &p->sh->windows);
	if (likely(w->from == rx->src && w->via == via) || !lnet_window_is_openers(w, rx))
		return;
	ack_to(w, rx->src, via);
}

bool lnet_window_fit(struct lnet_pass *p, struct lnet_window **wp, u64 session_id, u64 seq)
{
	struct lnet_shard *sh = p->sh;
	struct lnet_window *w = *wp;

	while (max(w->high, seq) - w->low >= w->cap) {
		struct lnet_entry **places;
		u32 cap = w->cap;
		u64 at;

		if (cap >= 2 * w->W)
			return false;
		while (max(w->high, seq) - w->low >= cap)
			cap *= 2;
		lnet_leave(p);
		places = kcalloc(cap, sizeof(*places), GFP_NOFS);
		lnet_enter(p, sh);
		w = *wp = lnet_window_find(sh, session_id);
		if (!w || !places) {
			kfree(places);
			return false;
		}
		if (cap > w->cap) {
			for (at = w->low; at <= w->high; at++)
				places[at & (cap - 1)] = w->entry[at & (w->cap - 1)];
			sh->window_bytes -= lnet_window_bytes(w);
			swap(w->entry, places);
			w->cap = cap;
			sh->window_bytes += lnet_window_bytes(w);
		}
		kfree(places);
	}
	return true;
}

/* ---- timers: cumulative ACKs, held replies, idle windows ------------------------------------- */

/*
 * True if a cumulative ACK may cover @e. The ACK reports that the PUT is done and, if the PUT
 * requested an ACK, that it was not truncated.
 */
static bool merges(const struct lnet_entry *e)
{
	return e->state == ENTRY_FINAL && !e->reason && (e->noack || e->whole);
}

/*
 * Returns the sequence that a cumulative ACK of @w names; 0: there is none. From the low-water
 * mark to this sequence, all requests were received, and the ACK may cover all PUTs. The sequence
 * is of the last such PUT that was not acknowledged. If the ACK named an acknowledged PUT, the
 * sender would discard the ACK as a duplicate.
 */
static u64 done_prefix(const struct lnet_window *w)
{
	u64 seq, last = 0;

	for (seq = w->low; seq <= w->high; seq++) {
		const struct lnet_entry *e = lnet_window_entry(w, seq);

		if (!e || (e->type == LNET_OP_PUT && !merges(e)))
			break;
		if (e->type == LNET_OP_PUT && !e->acked)
			last = seq;
	}
	return last;
}

static bool ack_seq(struct lnet_pass *p, struct lnet_window *w, u64 seq, bool alone)
{
	struct lnet_op *op = lnet_op_take(p->sh);

	if (!op)
		return false;
	op->type = LNET_OP_ACK;
	op->kind = LNET_KIND_REPLY;
	op->cls = LNET_CLS_CONTROL;
	op->peer = w->from->peer;
	lnet_peer_get(op->peer);
	op->sh = READ_ONCE(w->from->sh);
	op->dst_pni = w->from;
	lnet_peer_ni_hold(op->dst_pni);
	op->via = w->via;
	if (op->via)
		lnet_peer_ni_hold(op->via);
	/* Use the path of the last request, which works. Another path may have failed unnoticed. */
	op->binding = LNET_BIND_FIRST;
	if (w->ack_ni) {
		op->src_ni = w->ack_ni;
		lnet_ni_get(op->src_ni);
	}
	op->target = w->from->nid;
	op->target_pid = LNET_PID;
	op->wire.cookie[0] = w->session_id;
	op->wire.cookie[1] = seq;
	if (alone) {
		op->wire.cookie[1] |= LNET_REQID_ALONE;
		op->mlength = lnet_window_entry(w, seq)->mlength;
	} else if (w->ack_all) {
		op->wire.cookie[1] |= LNET_REQID_ALL;
	}
	lnet_op_defer(p, op);
	return true;
}

static void flush_acks(struct lnet_pass *p, struct lnet_window *w)
{
	u64 prefix = done_prefix(w), seq;
	u32 left = 0;

	list_del_init(&w->ack_due);
	if (prefix && !ack_seq(p, w, prefix, false))
		prefix = 0;
	for (seq = w->low; seq <= w->high; seq++) {
		struct lnet_entry *e = lnet_window_entry(w, seq);

		if (!e || e->type != LNET_OP_PUT || e->acked || !merges(e))
			continue;
		e->acked = seq <= prefix || ack_seq(p, w, seq, true);
		left += !e->acked;
	}
	/* PUTs for whose ACKs there was no memory; the ACKs are sent after confirm_delay */
	w->nr_unacked = left;
	w->ack_due_ns = left ? p->now_ns + READ_ONCE(p->ln->tun.confirm_delay) : 0;
	w->ack_all = left != 0;
	ack_over(w, NULL);
}

static void ack_by(struct lnet_pass *p, struct lnet_window *w, u64 when_ns)
{
	w->ack_due_ns = when_ns;
	if (list_empty(&w->timer.link) || when_ns < w->timer.when_ns)
		lnet_timer_set(&p->sh->wheel, &w->timer, when_ns);
}

void lnet_window_ack(struct lnet_pass *p, struct lnet_window *w, struct lnet_rx *rx, bool wanted)
{
	/*
	 * Number of PUTs that one ACK covers. If few requests are unfinished, the ACK does not wait
	 * for more PUTs.
	 */
	u32 enough = max(min(w->W / 4, max(w->nr_open / 2, NOACKS_MIN)), 1U);

	w->nr_unacked++;
	if (wanted) {
		w->ack_all = 1;
		lnet_window_heard(p, w, rx);
		if (w->ack_ni != rx->ni)
			ack_over(w, rx->ni);
	}
	if (wanted || w->nr_unacked >= enough) {
		if (list_empty(&w->ack_due))
			list_add_tail(&w->ack_due, &p->sh->ack_due);
		p->acks |= BIT_ULL(p->sh->ix);
	} else if (!w->ack_due_ns) {
		ack_by(p, w, p->now_ns + READ_ONCE(p->ln->tun.confirm_delay));
	}
}

void lnet_pass_acks(struct lnet_pass *p)
{
	while (p->acks) {
		unsigned int ix = __ffs64(p->acks);
		struct lnet_window *w;

		p->acks &= p->acks - 1;
		lnet_enter(p, &p->ln->shard[ix]);
		while (!list_empty(&p->sh->ack_due)) {
			w = list_first_entry(&p->sh->ack_due, struct lnet_window, ack_due);
			flush_acks(p, w);
			if (w->nr_unacked)
				ack_by(p, w, w->ack_due_ns);
		}
	}
}

void lnet_window_timer(struct lnet_pass *p, struct lnet_timer *t)
{
	struct lnet_window *w = container_of(t, struct lnet_window, timer);
	u64 next, seq;

	if (w->ack_due_ns && p->now_ns >= w->ack_due_ns)
		flush_acks(p, w);
	for (seq = w->low; seq <= w->high; seq++) {
		struct lnet_entry *e = lnet_window_entry(w, seq);

		if (e && e->md && p->now_ns - e->since_ns >= w->hold_ns && list_empty(&e->rxs))
			entry_fail(p, e);
	}
	if (p->now_ns - w->last_ns >= 2 * w->hold_ns && !lnet_window_is_busy(w)) {
		lnet_window_drop(p, w);
		return;
	}
	next = p->now_ns + max_t(u64, w->hold_ns / 4, NSEC_PER_MSEC);
	lnet_timer_set(&p->sh->wheel, t, w->ack_due_ns ? min(next, w->ack_due_ns) : next);
}

/* ---- unlink ---------------------------------------------------------------------------------- */

void lnet_window_walk_begin(struct lnet_shard *sh, struct lnet_window_walk *walk)
{
	walk->at = sh->made.next;
	list_add(&walk->link, &sh->window_walks);
}

bool lnet_window_walk_slice(struct lnet_pass *p, struct lnet_window_walk *walk, struct lnet_md *md)
{
	struct lnet_window *w;
	struct lnet_entry *e;
	u64 seq, nr = 0;

	for (; walk->at != &p->sh->made; nr += w->high - min(w->low, w->high) + 2) {
		if (nr >= LNET_WINDOW_SLICE)
			return true;
		w = list_entry(walk->at, struct lnet_window, made);
		walk->at = w->made.next;
		for (seq = w->low; seq <= w->high; seq++) {
			e = lnet_window_entry(w, seq);
			if (e && e->md &&
			    (md ? e->md == md && e->type == LNET_OP_GET : list_empty(&e->rxs)))
				entry_fail(p, e);
		}
	}
	list_del(&walk->link);
	return false;
}

void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md)
{
	struct lnet_window_walk walk;
	struct lnet_shard *sh;

	for (sh = p->ln->shard; sh < p->ln->shard + p->ln->nr_shards; sh++) {
		lnet_leave(p);
		lnet_enter(p, sh);
		lnet_window_walk_begin(sh, &walk);
		while (lnet_window_walk_slice(p, &walk, md)) {
			lnet_leave(p);
			cond_resched();
			lnet_enter(p, sh);
		}
		lnet_leave(p);
	}
}
