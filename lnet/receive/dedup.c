/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes tracked requests take effect once, and repeats the reply to duplicates. Also handles
 * rejections at senders.
 */
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "shard/trace.h"

#define RXS_MAX 16	/* largest number of receives in e->rxs; further duplicates are dropped */
#define ANSWERS_MAX 16	/* largest number of replies to one request in flight at a time */

/* ---- replies --------------------------------------------------------------------------------- */

static void answers_back(struct lnet_pass *p, struct lnet_entry *e, unsigned int nr)
{
	lockdep_assert_held(&e->sh->lock);
	e->nr_reply_ops -= nr;
	lnet_entry_settle(p, e);
	while (nr--)
		lnet_entry_put(p, e);
}

/*
 * A reply ended. The reply is in the shard of its peer, and its reply cache entry is in the shard
 * of the window. The two shards differ while two interfaces are not known to belong to one node. If
 * so, several replies of one entry may end before the pass processes the entry. The first of them
 * adds the entry to p->backs. lnet_pass_backs() then counts all of them.
 */
static void entry_reply_done(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_entry *e = op->entry;

	if (likely(p->sh == e->sh)) {
		answers_back(p, e, 1);
	} else if (atomic_inc_return(&e->nr_back) == 1) {
		e->next_back = p->backs;
		p->backs = e;
	}
}

void lnet_pass_backs(struct lnet_pass *p)
{
	while (p->backs) {
		struct lnet_entry *e = p->backs;

		p->backs = e->next_back;
		lnet_enter(p, e->sh);
		answers_back(p, e, (unsigned int)atomic_xchg(&e->nr_back, 0));
	}
	lnet_leave(p);
}

static struct lnet_op *reply_make(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e,
				  enum lnet_op_type type)
{
	struct lnet_op *op =
		e && e->nr_reply_ops == ANSWERS_MAX ? NULL : lnet_reply_new(p, rx, type);

	if (!op)
		return NULL;
	op->kind = LNET_KIND_REPLY;
	op->binding = LNET_BIND_FIRST;
	if (e) {
		op->entry = e;
		op->done = entry_reply_done;
		e->refs++;
		e->nr_reply_ops++;
	}
	lnet_op_defer(p, op);
	return op;
}

/* The ACK is for this request alone, even if the PUT requested no ACK. */
static void send_ack(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e, u32 mlength)
{
	struct lnet_op *op = reply_make(p, rx, e, LNET_OP_ACK);

	if (!op)
		return;
	op->mlength = mlength;
	op->wire.cookie[1] |= LNET_REQID_ALONE;
}

static enum lnet_verdict request_reject(struct lnet_pass *p, struct lnet_rx *rx,
					struct lnet_entry *e, u32 reason)
{
	send_ack(p, rx, e, LNET_REJECTED + reason);
	return LNET_SKIP;
}

static void send_reply(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	struct lnet_op *op = reply_make(p, rx, e, LNET_OP_REPLY);

	if (!op)
		return;
	op->len = e->mlength;
	if (e->sbuf) {
		op->sbuf = e->sbuf;
		lnet_sbuf_get(e->sbuf);
	} else {
		op->md = e->md;
		op->md_off = e->offset;
	}
}

static void answer_final(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	if (e->reason)
		request_reject(p, rx, e, e->reason);
	else if (e->type == LNET_OP_PUT)
		send_ack(p, rx, e, e->mlength);
	else if (e->sbuf || (e->md && !e->gone))
		send_reply(p, rx, e);
	else
		request_reject(p, rx, e, LNET_REJECTED_DISCARDED);
}

/* ---- new requests and duplicates ------------------------------------------------------------- */

static void entry_join(struct lnet_rx *rx, struct lnet_entry *e)
{
	rx->entry = e;
	e->refs++;
	list_add_tail(&rx->link, &e->rxs);
}

static enum lnet_verdict entry_receive(struct lnet_pass *p, struct lnet_rx *rx,
				       struct lnet_entry *e)
{
	rx->offset = e->offset;
	rx->mlength = e->mlength;
	rx->md = e->md;
	rx->into = lnet_md_buf(e->md, e->offset, e->mlength);
	return lnet_rx_receive(p, rx);
}

/*
 * A GET is final when it is matched, because its data is then fixed. entry_prepare() has allocated
 * rx->sbuf, which caches the data.
 */
static enum lnet_verdict get_matched(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	struct lnet_buf from = lnet_md_buf(e->md, e->offset, e->mlength);

	e->state = ENTRY_FINAL;
	if (rx->sbuf && e->mlength <= rx->sbuf->len &&
	    lnet_window_may_cache(p, e->w, rx->sbuf->len)) {
		p->sh->cache_bytes += rx->sbuf->len;
		e->w->cache_bytes += rx->sbuf->len;
		lnet_buf_read(&from, 0, rx->sbuf->data, e->mlength);
		e->sbuf = rx->sbuf;
		rx->sbuf = NULL;
	} else {	/* the entry is a held reply: the memory that the GET reads stays in use */
		e->held = 1;
		e->w->nr_held++;
		e->sh->nr_held++;
	}
	send_reply(p, rx, e);
	return LNET_SKIP;
}

static void matched(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	e->state = ENTRY_MATCHED;
	e->md = rx->md;
	e->offset = rx->offset;
	e->mlength = rx->mlength;
	e->whole = rx->mlength == rx->rlength;
	e->since_ns = p->now_ns;
	e->evt = lnet_rx_event(rx, rx->type == LNET_OP_GET ? LNET_EVENT_GET : LNET_EVENT_PUT);
}

static enum lnet_verdict first_sight(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	enum lnet_outcome why = LNET_NO_MATCH;
	enum lnet_verdict v = lnet_match(p, rx, &why);

	if (v == LNET_SKIP) {
		lnet_rx_drop(p, rx, why);
		e->state = ENTRY_FINAL;
		e->reason = why == LNET_TOO_LONG ? LNET_REJECTED_TOO_LONG : LNET_REJECTED_NO_MATCH;
		lnet_window_reject(e->w, e);
		v = request_reject(p, rx, NULL, e->reason);
		lnet_entry_put(p, e);
		return v;
	}
	if (v == LNET_LATER) {
		/* @rx is in the queue of the portal; e->rxs has only its duplicates */
		rx->entry = e;
		e->refs++;
		return lnet_rx_queue_lazy(p, rx);
	}
	matched(p, rx, e);
	if (rx->type == LNET_OP_GET)
		return get_matched(p, rx, e);
	entry_join(rx, e);
	return entry_receive(p, rx, e);
}

static enum lnet_verdict duplicate(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	/*
	 * A sender must not use a request ID for two requests, and a payload of another length
	 * would not fit the memory.
	 */
	if (e->type != rx->type || e->rlength != rx->rlength) {
		lnet_count(p->sh, errors);
		return LNET_SKIP;
	}
	if (e->state == ENTRY_FINAL) {
		lnet_count(p->sh, dup_final);
		answer_final(p, rx, e);
		return LNET_SKIP;
	}
	/*
	 * The duplicate is dropped, as if it was lost, because RXS_MAX other receives wait for a
	 * buffer or receive payload.
	 */
	if (list_count_nodes(&e->rxs) >= RXS_MAX) {
		lnet_count(p->sh, dup_denied);
		return LNET_SKIP;
	}
	lnet_count(p->sh, dup_taken);
	entry_join(rx, e);
	if (e->state == ENTRY_MATCHED)
		return entry_receive(p, rx, e);
	lnet_rx_set_state(rx, RX_WAIT_MATCH);
	return LNET_LATER;
}

/*
 * Allocates a reply cache entry, and for a GET also the REPLY. If the request is a PUT and the pool
 * of @sh has an entry, the function keeps the lock. Otherwise it releases the lock.
 *
 * The function allocates no memory for an ACK. The ACK may become part of a cumulative ACK, and a
 * duplicate of the PUT causes another ACK.
 */
static void entry_prepare(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_shard *sh)
{
	u64 max = READ_ONCE(p->ln->tun.reply_cache_max);

	if (rx->type == LNET_OP_GET)
		rx->reply_op = lnet_op_take(p->sh);
	else if (p->sh == sh)
		rx->spare = lnet_entry_take(sh);
	if (rx->spare)
		return;
	lnet_leave(p);
	rx->spare = kzalloc(sizeof(*rx->spare), GFP_NOFS);
	if (rx->type == LNET_OP_GET && rx->rlength <= max)
		rx->sbuf = lnet_sbuf_new(rx->rlength);
}

static struct lnet_entry *entry_new(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_window *w,
				    u64 seq, bool alone)
{
	struct lnet_entry *e = rx->spare;

	rx->spare = NULL;
	INIT_LIST_HEAD(&e->rxs);
	e->seq = seq;
	e->refs = 1;
	e->type = rx->type;
	e->rlength = rx->rlength;
	e->noack = rx->type == LNET_OP_PUT && !alone;
	e->sh = p->sh;
	e->w = w;
	e->since_ns = p->now_ns;
	lnet_window_place(w, seq, e);
	w->high = max(w->high, seq);
	return e;
}

/*
 * Exactly-once rule 4: true if @seq is not finished, above w->high - w->W, and below w->low + w->W.
 * A sequence up to w->high - w->W is old.
 */
static bool in_window(const struct lnet_window *w, u64 seq)
{
	return seq && seq >= w->low && seq + w->W > w->high && seq < w->low + w->W;
}

/* False: no window has the session, or @seq cannot be in the window @w. Counts the reason. */
static bool has_window(struct lnet_pass *p, const struct lnet_window *w, u64 seq)
{
	if (!w)
		lnet_count(p->sh, no_window);
	/*
	 * No correct sender sends such a sequence. If the node accepted it, w->high would rise to
	 * it, and w->high never decreases.
	 */
	else if (unlikely(seq > w->high + 2ULL * w->W))
		lnet_count(p->sh, too_far);
	else
		return true;
	return false;
}

enum lnet_verdict lnet_dedup_begin(struct lnet_pass *p, struct lnet_rx *rx)
{
	u64 session_id = rx->handle.cookie[0], seq, low;
	u32 rejected;
	struct lnet_shard *sh;
	struct lnet_window *w;
	struct lnet_entry *e;
	bool alone;

	rx->tracked = 1;
	rx->portal -= LNET_PORTAL_TRACKED;
	seq = lnet_reqid_seq(&rx->handle, &alone);
	sh = &p->ln->shard[lnet_session_shard(p->ln, session_id)];
	entry_prepare(p, rx, sh);
	lnet_enter(p, sh);
	rx->hold_shard = p->sh->ix;
	w = lnet_window_find(p->sh, session_id);
	/*
	 * Exactly-once rule 2: the node drops the request, and does not reject it. A rejection
	 * would make the sender repeat the request with another ID. But the request may already
	 * have taken effect: its source may be a NID of the opener that this node does not know.
	 */

	if (w && unlikely(lnet_window_is_foreign(w, rx))) {
		lnet_count(p->sh, not_opener);
		return LNET_SKIP;
	}
	if (!has_window(p, w, seq))
		return request_reject(p, rx, NULL, LNET_REJECTED_NO_WINDOW);
	lnet_window_heard(p, w, rx);
	if (unlikely(rx->claimed) && lnet_window_is_openers(w, rx))
		lnet_rx_proven(p, rx);
	low = min(lnet_reqid_low(&rx->handle), seq);
	w->nr_open = seq - low + 1;
	lnet_window_advance(p, w, low);
	if (in_window(w, seq) && !lnet_window_fit(p, &w, session_id, seq))
		return LNET_SKIP;
	/* checked again, because lnet_window_fit() may have released the lock */
	if (!in_window(w, seq)) {
		lnet_count(p->sh, dup_old);
		return LNET_SKIP;
	}
	if (seq <= w->high) {
		e = lnet_window_entry(w, seq);
		if (e)
			return duplicate(p, rx, e);
		/*
		 * For a rejected request, the window has only the reason, so type and length are
		 * not compared.
		 */
		rejected = lnet_window_rejected(w, seq);
		if (rejected) {
			lnet_count(p->sh, dup_final);
			return request_reject(p, rx, NULL, rejected);
		}
	}
	if (unlikely(!lnet_window_room(p, w))) {
		lnet_count(p->sh, memory_denied);
		return LNET_SKIP;
	}
	if (rx->type == LNET_OP_GET && !lnet_window_may_hold(p, w))
		return LNET_SKIP;
	if (!rx->spare || (rx->type == LNET_OP_GET && !rx->reply_op) || !lnet_rx_prealloc(p, rx)) {
		lnet_count(p->sh, rx_no_memory);	/* the sender may retransmit */
		return LNET_SKIP;
	}
	return first_sight(p, rx, entry_new(p, rx, w, seq, alone));
}

/* ---- the end of a wait on a lazy portal ------------------------------------------------------ */

/*
 * @rx was dropped while it was queued on a lazy portal: removes its entry @e, so that the sender
 * may retransmit the request.
 */
static void entry_discard(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	struct lnet_rx *other, *next;

	list_for_each_entry_safe(other, next, &e->rxs, link) {
		list_del_init(&other->link);
		other->entry = NULL;
		lnet_rx_defer(p, other, LNET_SKIP);
		lnet_entry_put(p, e);
	}
	if (e->w)
		lnet_entry_detach(p, e->w, e->seq);
	rx->entry = NULL;
	lnet_entry_put(p, e);
}

/*
 * [sh] Ends the wait of @rx, which is in no list, and of the duplicates of @rx. @v: RECEIVE or
 * SKIP.
 */
static void end_wait(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why)
{
	struct lnet_entry *e = rx->entry;
	struct lnet_rx *other;

	if (v != LNET_RECEIVE) {
		lnet_rx_drop(p, rx, why);
		entry_discard(p, rx, e);
		lnet_rx_defer(p, rx, LNET_SKIP);
		return;
	}
	matched(p, rx, e);
	list_add(&rx->link, &e->rxs);
	list_for_each_entry(other, &e->rxs, link) {
		entry_receive(p, other, e);
		lnet_rx_defer(p, other, LNET_RECEIVE);
	}
}

void lnet_dedup_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
			enum lnet_outcome why)
{
	/* Under this lock, lnet_dedup_begin() queues @rx and then sets rx->entry. */
	lnet_enter(p, &p->ln->shard[rx->hold_shard]);
	end_wait(p, rx, v, why);
	lnet_leave(p);
}

bool lnet_dedup_gone(struct lnet_pass *p, struct lnet_rx *rx)
{
	enum lnet_outcome why = LNET_NO_MATCH;
	struct lnet_entry *e;
	enum lnet_verdict v;
	struct lnet_rx *at;

	lnet_leave(p);
	lnet_enter(p, &p->ln->shard[rx->hold_shard]);
	/* read only under the lock, because another thread may have ended the wait */
	e = rx->entry;
	if (!e || rx->received) {
		lnet_leave(p);
		return false;
	}
	list_for_each_entry(at, &e->rxs, link) {
		if (at != rx)
			continue;
		list_del_init(&rx->link);	/* @rx is a duplicate of the queued receive */
		rx->entry = NULL;
		lnet_entry_put(p, e);
		lnet_rx_free(p, rx);
		lnet_leave(p);
		return true;
	}
	lnet_leave(p);
	if (!lnet_match_unpark(p->ln, rx))
		return false;
	lnet_enter(p, e->sh);
	if (list_empty(&e->rxs)) {
		entry_discard(p, rx, e);
	} else {	/* the first duplicate is matched in place of @rx */
		rx->entry = NULL;
		lnet_entry_put(p, e);
		at = list_first_entry(&e->rxs, struct lnet_rx, link);
		list_del_init(&at->link);
		v = lnet_rx_prealloc(p, at) ? lnet_match(p, at, &why) : LNET_SKIP;
		if (v != LNET_LATER)
			end_wait(p, at, v, why);
	}
	lnet_rx_free(p, rx);
	lnet_leave(p);
	return true;
}

/* ---- the end of a receive -------------------------------------------------------------------- */

static void entry_received(struct lnet_pass *p, struct lnet_rx *rx, struct lnet_entry *e)
{
	struct lnet_rx *other;

	e->state = ENTRY_FINAL;
	e->since_ns = p->now_ns;
	list_for_each_entry(other, &e->rxs, link)
		lnet_rx_want_stop(p, other);
	if (e->w && !lnet_window_is_openers(e->w, rx)) {
		e->acked = 1;	/* a separate ACK, because only the opener gets cumulative ACKs */
		send_ack(p, rx, e, e->mlength);
	} else if (e->w && (e->noack || e->whole)) {
		lnet_window_ack(p, e->w, rx, !e->noack);
	/* a separate ACK, because the payload was truncated or there is no window */
	} else if (!e->noack) {
		send_ack(p, rx, e, e->mlength);
	}
}

/*
 * Exactly-once rule 7: true if @e loses its buffer after a receive that failed. An entry without a
 * window always loses its buffer. An entry with a window loses only a buffer of a lazy portal,
 * because all peers use these buffers. It does so if the sender was too slow or its connection was
 * lost. The loopback never loses a connection.
 */
static bool gives_way(const struct lnet_rx *rx, const struct lnet_entry *e, enum lnet_outcome how)
{
	if (how == LNET_OK || e->state != ENTRY_MATCHED || !list_empty(&e->rxs))
		return false;
	return !e->w || (lnet_md_is_pooled(e->md) &&
			 (how == LNET_ABORTED || !lnet_nid_is_lo(&rx->from->nid)));
}

void lnet_dedup_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	struct lnet_entry *e = rx->entry;

	lnet_enter(p, e->sh);
	list_del_init(&rx->link);
	lockdep_assert_held(&p->ln->shard[rx->hold_shard].lock);
	rx->ni->sh[rx->hold_shard].holds--;
	if (how == LNET_OK && e->state == ENTRY_MATCHED) {
		entry_received(p, rx, e);
	} else if (e->state == ENTRY_FINAL && e->w && (how == LNET_OK || how == LNET_STOPPED)) {
		/* the duplicate asks for a reply, which is sent on the path of the duplicate */
		answer_final(p, rx, e);
	} else if (gives_way(rx, e, how)) {
		/*
		 * the request took no effect: the event reports that, and a retransmission is
		 * matched again
		 */
		e->state = ENTRY_FINAL;
		e->evt->ev.status = -EIO;
		e->evt->ev.outcome = LNET_ABORTED;
		if (e->w) {
			lnet_count(p->sh, unmatched);
			lnet_entry_detach(p, e->w, e->seq);
		}
	}
	e->since_ns = p->now_ns;
	lnet_entry_settle(p, e);
	rx->entry = NULL;
	lnet_entry_put(p, e);
	lnet_rx_free(p, rx);
}

/* ---- confirm messages ------------------------------------------------------------------------ */

enum lnet_verdict lnet_dedup_confirm(struct lnet_pass *p, struct lnet_rx *rx)
{
	u64 session_id = rx->handle.cookie[0];
	struct lnet_window *w;
	bool alone;

	lnet_enter(p, &p->ln->shard[lnet_session_shard(p->ln, session_id)]);
	w = lnet_window_find(p->sh, session_id);
	if (w && lnet_window_is_foreign(w, rx))
		lnet_count(p->sh, not_opener);
	else if (w)
		lnet_window_advance(p, w, min(lnet_reqid_seq(&rx->handle, &alone), w->high + 1));
	return LNET_SKIP;
}

/* ---- rejections at the sender ---------------------------------------------------------------- */

/*
 * Rule 11: after the rejection of a request, only a request with exactly one attempt, on a direct
 * path, gets a new request ID. Any other request fails.
 */
static void rename_or_fail(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_att *first = op->first.state != ATT_FREE ? &op->first : NULL;
	struct lnet_att *hedge = op->hedge && op->hedge->state != ATT_FREE ? op->hedge : NULL;
	struct lnet_att *att = first ? first : hedge;

	/*
	 * The delivery is unknown, because another attempt may have been delivered. A router may
	 * also have sent one attempt twice.
	 */
	if ((op->tries > 1 && (op->flags & LNET_OPF_UNKNOWN)) || (op->flags & LNET_OPF_ROUTED) ||
	    op->nr_held || (first && hedge) || !list_empty(&op->receives)) {
		op->flags |= LNET_OPF_UNKNOWN;
		lnet_op_finish(p, op, LNET_NO_WINDOW);
		return;
	}
	if (att) {
		lnet_rec_att(p, DROP, att, 0, 0);
		lnet_att_drop(p, att);
	}
	lnet_op_lose_id(p, op);
	op->flags &= ~(LNET_OPF_UNKNOWN | LNET_OPF_HEDGE);
	op->tried = 0;
	op->tries = 0;
	op->unsent = 0;
	op->hedges = 0;
	if (op->state == OP_BACKOFF)
		lnet_op_set_state(op, OP_TRY);
	lnet_op_set_state(op, OP_RESOLVE);
	/* An earlier rejection has ended the old session, and a new session is already open. */
	if (lnet_session_is_ready(p, op->peer)) {
		lnet_rec_op_anew(p, op);
		lnet_op_try(p, op, NULL);
		return;
	}
	list_add_tail(&op->link, &op->peer->resolve);
	lnet_op_arm(p, op);
	lnet_rec_op_anew(p, op);
}

void lnet_rejection_take(struct lnet_pass *p, struct lnet_op *op, u32 reason, struct lnet_path *via)
{
	static const u8 outcome[] = {
		[LNET_REJECTED_NO_MATCH] = LNET_NO_MATCH,
		[LNET_REJECTED_TOO_LONG] = LNET_TOO_LONG,
		[LNET_REJECTED_DISCARDED] = LNET_REPLY_DISCARDED,
		[LNET_REJECTED_NOT_PERMITTED] = LNET_NOT_PERMITTED,
	};

	if (reason == LNET_REJECTED_BY_ROUTER) {
		if (via)
			lnet_gateway_rejected(p, via);
		lnet_op_stopped(p, op, via);
		return;
	}
	if (via)
		lnet_path_alive(p->sh, via, p->now_ns, 0);
	lnet_rec_op(p, PIN, op, 0, 0);
	op->pins++;
	if (reason == LNET_REJECTED_NO_WINDOW) {
		lnet_session_expire(p, op->peer, op->wire.cookie[0]);
		if (op->type == LNET_OP_PUT || op->type == LNET_OP_GET)
			rename_or_fail(p, op);
	} else if (reason < ARRAY_SIZE(outcome) && outcome[reason]) {
		if (reason == LNET_REJECTED_DISCARDED)
			op->flags |= LNET_OPF_UNKNOWN;
		else
			op->flags &= ~LNET_OPF_UNKNOWN;
		lnet_op_finish(p, op, outcome[reason]);
	}
	lnet_rec_op(p, UNPIN, op, 0, 0);
	lnet_op_unpin(p, op);
}
