/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Request IDs, and the states of sessions. A request ID is (session ID, sequence) with a session,
 * else (instance number, slot).
 */
#include <lnet/hash.h>
#include "base/base.h"
#include "shard/shard.h"
#include "shard/hooks.h"
#include "topology/topology.h"
#include "xfer/xfer.h"

#define SEQ_MASK LNET_OP_SEQ_MASK
#define DIST_SHIFT 48
#define DIST_MASK 0x3fffULL
#define SLOT_BITS 24
#define TAG_BITS (62 - SLOT_BITS)
#define SLOT_FIRST 16U
#define COOKIE_MD 1ULL	/* low two bits of an object cookie; other nodes use the same value */

/* ---- tracked requests: exactly-once.md rules 3 and 4 ----------------------------------------- */

/*
 * Rule 4: the sender keeps newest - highest replied < 2 W. The receiver rejects a sequence above H
 * + 2 W, where H is the highest sequence that it has received. H is at least the highest replied
 * sequence. If the sender reaches the bound with fewer than W unfinished requests, the other
 * requests were aborted.
 */
bool lnet_window_stuck(const struct lnet_txwin *tx)
{
	return unlikely(tx->next - tx->seen >= 2ULL * tx->W) && tx->session_id &&
	       tx->next - tx->oldest < tx->W;
}

static bool window_full(const struct lnet_txwin *tx)
{
	return tx->next - tx->oldest >= min(tx->W, tx->cap) || tx->next > SEQ_MASK ||
	       lnet_window_stuck(tx);
}

bool lnet_window_spent(const struct lnet_txwin *tx)
{
	return tx->next > SEQ_MASK && tx->next == tx->oldest;
}

bool lnet_window_is_unresponsive(const struct lnet_pass *p, const struct lnet_txwin *tx)
{
	return tx->session_id && tx->seen + 1 < tx->next &&
	       p->now_ns - tx->heard_ns >= READ_ONCE(p->ln->tun.transaction_timeout);
}

/*
 * A receiver drops an idle window after twice the hold time (rule 13), and then rejects requests of
 * the session. If a request was retransmitted before its rejection was received, its delivery is
 * unknown (rule 11). To avoid this, the sender ends the session after 1.5 times the hold time.
 */
bool lnet_window_stale(const struct lnet_pass *p, const struct lnet_txwin *tx)
{
	return tx->hold_ns && p->now_ns - tx->used_ns > tx->hold_ns + tx->hold_ns / 2 &&
	       tx->next == tx->oldest;
}

bool lnet_op_draw_id(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_txwin *tx = &op->peer->tx;
	u64 seq, cookie;

	if (op->id_state != ID_DUE)
		return true;
	if (!tx->session_id || window_full(tx))
		return false;
	if (tx->next == tx->oldest)
		tx->heard_ns = p->now_ns;
	seq = tx->next++;
	tx->used_ns = p->now_ns;
	cookie = seq | min_t(u64, seq - tx->oldest, DIST_MASK) << DIST_SHIFT;
	if (!lnet_op_is_acked_unseen(op))
		cookie |= LNET_REQID_ALONE;
	op->wire.cookie[0] = tx->session_id;
	op->wire.cookie[1] = cookie;
	tx->op[seq & (tx->cap - 1)] = op;
	tx->advertised = max(tx->advertised, tx->oldest);
	lnet_op_set_id(op, ID_DRAWN);
	return true;
}

/*
 * If requests wait for room that the window cannot provide, they need another session, which
 * session.c opens.
 */
static void check_stuck(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (unlikely(lnet_window_stuck(&peer->tx)) && !list_empty(&peer->winwait) &&
	    !peer->deleted && !READ_ONCE(p->ln->stopping))
		lnet_timer_set(&p->sh->wheel, &peer->timer, p->now_ns);
}

void lnet_op_wait_window(struct lnet_pass *p, struct lnet_op *op)
{
	list_add_tail(&op->link, &op->peer->winwait);
	check_stuck(p, op->peer);
}

u64 lnet_reqid_seq(const struct lnet_handle *h, bool *alone)
{
	*alone = h->cookie[1] & LNET_REQID_ALONE;
	return h->cookie[1] & SEQ_MASK;
}

u64 lnet_reqid_low(const struct lnet_handle *h)
{
	u64 seq = h->cookie[1] & SEQ_MASK, dist = h->cookie[1] >> DIST_SHIFT & DIST_MASK;

	return seq > dist ? seq - dist : 1;
}

struct lnet_op *lnet_op_by_id(struct lnet_peer *peer, const struct lnet_handle *h)
{
	struct lnet_txwin *tx = &peer->tx;
	u64 seq = h->cookie[1] & SEQ_MASK;
	struct lnet_op *op;

	if (likely(h->cookie[0] == tx->session_id && tx->session_id))
		return seq < tx->oldest || seq >= tx->next ? NULL : tx->op[seq & (tx->cap - 1)];
	/* requests of an expired session; only those to @peer are compared */
	list_for_each_entry(op, &peer->expired, expired)
		if (op->wire.cookie[0] == h->cookie[0] && lnet_op_seq(op) == seq)
			return op;
	return NULL;
}

void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!list_empty(&peer->timer.link) || peer->tx.advertised >= peer->tx.oldest ||
	    peer->deleted || READ_ONCE(p->ln->stopping))
		return;
	lnet_timer_set(&p->sh->wheel, &peer->timer,
		       p->now_ns + READ_ONCE(p->ln->tun.confirm_delay));
}

void lnet_confirm_again(struct lnet_pass *p, struct lnet_peer *peer)
{
	peer->tx.advertised = 0;
	if (!peer->deleted && !READ_ONCE(p->ln->stopping))
		lnet_timer_set(&p->sh->wheel, &peer->timer, p->now_ns);
}

/*
 * @op has finished. Its sequence is never used again, and requests that wait for room may get IDs.
 */
static void window_finish(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	struct lnet_txwin *tx = &peer->tx;

	if (op->wire.cookie[0] != tx->session_id || !tx->session_id)
		return;
	/* these outcomes show that the receiver has received the sequence */
	if (likely(op->outcome == LNET_OK) || op->outcome == LNET_NO_MATCH ||
	    op->outcome == LNET_TOO_LONG || op->outcome == LNET_NOT_PERMITTED ||
	    op->outcome == LNET_REPLY_DISCARDED) {
		tx->seen = max(tx->seen, lnet_op_seq(op));
		tx->heard_ns = p->now_ns;
	}
	tx->op[lnet_op_seq(op) & (tx->cap - 1)] = NULL;
	while (tx->oldest < tx->next && !tx->op[tx->oldest & (tx->cap - 1)])
		tx->oldest++;
	lnet_confirm_due(p, peer);
	if (unlikely(lnet_window_spent(tx)))
		lnet_session_expire(p, peer, tx->session_id);
	while (!list_empty(&peer->winwait) && !window_full(tx)) {
		struct lnet_op *next = list_first_entry(&peer->winwait, struct lnet_op, link);

		list_del_init(&next->link);
		lnet_op_try(p, next, NULL);
	}
	check_stuck(p, peer);
}

/*
 * maximum number of requests for which the sender's window has room before a session states its
 * size
 */
#define AWAITED_MAX 1024U

/*
 * True if @tx lacks room for @nr + 1 requests. Without a session, room is needed for all requests
 * that wait, because all are sent when the session begins.
 */
static bool short_of_room(const struct lnet_txwin *tx, unsigned int nr)
{
	if (!tx->session_id)
		return tx->cap < AWAITED_MAX && tx->awaited + nr >= tx->cap;
	return tx->cap < tx->W && tx->next - tx->oldest + nr >= tx->cap - 1;
}

void lnet_window_grow(struct lnet_pass *p, struct lnet_peer_ni *pni, unsigned int nr)
{
	struct lnet_op **table;
	struct lnet_txwin *tx;
	u32 cap;
	u64 seq;

	lnet_enter_pni(p, pni);
	tx = &pni->peer->tx;
	while (short_of_room(tx, nr)) {
		cap = tx->cap * 2;
		lnet_leave(p);
		table = kcalloc(cap, sizeof(*table), GFP_NOFS);
		lnet_enter_pni(p, pni);
		if (!table)
			return;
		tx = &pni->peer->tx;	/* @pni may belong to another peer now */
		if (tx->cap * 2 == cap) {
			for (seq = tx->oldest; seq < tx->next; seq++)
				table[seq & (cap - 1)] = tx->op[seq & (tx->cap - 1)];
			swap(tx->op, table);
			tx->cap = cap;
		}
		if (table != tx->few)
			kfree(table);
	}
}

void lnet_window_expire(struct lnet_peer *peer)
{
	struct lnet_txwin *tx = &peer->tx;
	struct lnet_op *op;
	u64 seq;

	/* requests in flight keep their request IDs, so that late replies find them */
	for (seq = tx->oldest; seq < tx->next; seq++) {
		op = tx->op[seq & (tx->cap - 1)];
		if (op)
			list_add_tail(&op->expired, &peer->expired);
	}
	memset(tx->op, 0, tx->cap * sizeof(*tx->op));
	tx->session_id = 0;
	tx->seen = 0;
	tx->next = tx->oldest = tx->advertised = 1;
}

void lnet_window_begin(struct lnet_peer *peer, u64 session_id, u32 W, u64 instance)
{
	struct lnet_txwin *tx = &peer->tx;

	lnet_window_expire(peer);
	tx->session_id = session_id;
	tx->W = W;
	tx->rx_instance = instance;
}

/* ---- untracked requests ---------------------------------------------------------------------- */

int lnet_ops_init(struct lnet *ln)
{
	spin_lock_init(&ln->slot_lock);
	ln->slot_key[0] = ln->env->ops->secret(ln->env);
	ln->slot_key[1] = ln->env->ops->secret(ln->env);
	return lnet_slots_prealloc(ln);
}

void lnet_ops_fini(struct lnet *ln)
{
	kvfree(ln->slots);
	ln->slots = NULL;
	ln->nr_slots = 0;
}

int lnet_slots_prealloc(struct lnet *ln)
{
	u32 seen = READ_ONCE(ln->nr_slots), nr = seen ? seen * 2 : SLOT_FIRST, i;
	struct lnet_slot *table;

	if (READ_ONCE(ln->nr_slot_free) >= LNET_SLOTS_LOW)
		return 0;
	if (nr > 1U << SLOT_BITS)
		return -ENOSPC;
	table = kvzalloc(nr * sizeof(*table), GFP_NOFS);
	if (!table)
		return -ENOMEM;
	spin_lock(&ln->slot_lock);
	if (ln->nr_slots == seen) {	/* no other thread has replaced the table of slots */
		if (seen)
			memcpy(table, ln->slots, seen * sizeof(*table));
		/* each free slot has the index of the next free slot, plus 1 */
		for (i = seen; i < nr; i++)
			table[i].next = i + 1 < nr ? i + 2 : ln->slot_free;
		swap(ln->slots, table);
		WRITE_ONCE(ln->nr_slots, nr);
		ln->slot_free = seen + 1;
		WRITE_ONCE(ln->nr_slot_free, ln->nr_slot_free + nr - seen);
	}
	spin_unlock(&ln->slot_lock);
	kvfree(table);
	return 0;
}

/*
 * Returns the tag in the wire handle of an untracked request. Only the target of the request and
 * the routers on the path know the tag. So no other node can send a reply in the name of the
 * target. The tag is the number of uses of the slot, permuted by a Feistel network of three rounds
 * with a secret key. So no handle is used twice.
 */
static u64 handle_tag(const struct lnet *ln, u32 slot, u64 gen)
{
	const u64 mask = (1ULL << TAG_BITS / 2) - 1;
	u64 left = gen >> TAG_BITS / 2 & mask, right = gen & mask, round;

	for (round = 0; round < 3; round++) {
		u64 mix = lnet_siphash(ln->slot_key, round << 60 | (u64)slot << 32 | right) & mask;

		swap(left, right);
		right ^= mix;
	}
	return left << TAG_BITS / 2 | right;
}

int lnet_slot_take(struct lnet *ln, struct lnet_op *op)
{
	struct lnet_slot *s;

	spin_lock(&ln->slot_lock);
	op->slot = ln->slot_free;
	if (op->slot) {
		s = &ln->slots[op->slot - 1];
		ln->slot_free = s->next;
		WRITE_ONCE(ln->nr_slot_free, ln->nr_slot_free - 1);
		s->op = op;
		s->gen++;
		s->tag = handle_tag(ln, op->slot - 1, s->gen);
		lnet_op_set_id(op, ID_SLOT);
		op->wire.cookie[0] = ln->instance;
		op->wire.cookie[1] = (s->tag << SLOT_BITS | (op->slot - 1)) << 2 | COOKIE_MD;
	}
	spin_unlock(&ln->slot_lock);
	return op->slot ? 0 : -ENOMEM;
}

struct lnet_op *lnet_slot_find(struct lnet *ln, const struct lnet_shard *sh,
			       const struct lnet_handle *h)
{
	u64 object = h->cookie[1] >> 2;
	u32 ix = object & ((1U << SLOT_BITS) - 1);
	struct lnet_op *op = NULL;

	if (h->cookie[0] != ln->instance || (h->cookie[1] & 3) != COOKIE_MD)
		return NULL;
	spin_lock(&ln->slot_lock);
	if (ix < ln->nr_slots && ln->slots[ix].op && ln->slots[ix].tag == object >> SLOT_BITS)
		op = ln->slots[ix].op;
	if (op && op->sh != sh)
		op = NULL;
	spin_unlock(&ln->slot_lock);
	return op;
}

void lnet_op_free_id(struct lnet_pass *p, struct lnet_op *op)
{
	if (op->slot) {
		struct lnet *ln = p->ln;
		struct lnet_slot *s;

		spin_lock(&ln->slot_lock);
		s = &ln->slots[op->slot - 1];
		s->op = NULL;
		s->next = ln->slot_free;
		ln->slot_free = op->slot;
		op->slot = 0;
		WRITE_ONCE(ln->nr_slot_free, ln->nr_slot_free + 1);
		spin_unlock(&ln->slot_lock);
		if (op->id_state == ID_SLOT)
			lnet_op_set_id(op, ID_NONE);
	}
	list_del_init(&op->expired);
	if (op->id_state == ID_DRAWN)
		window_finish(p, op);
}

/* ---- the state of a session; service/session.c sends pings and session open requests --------- */

/*
 * minimum time between two pings of lnet_session_doubt(), which tracked requests without a reply
 * cause
 */
#define DOUBT_PAUSE_NS 1000000000ULL

static const u8 edges[LNET_NR_SESSION_STATES][LNET_NR_SESSION_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/session.def"
#undef STATE
#undef EDGE
};

void lnet_session_set_state(struct lnet_peer *peer, enum lnet_session_state state)
{
	WARN_ON_ONCE(!edges[peer->session_state][state]);
	lnet_edge(session, peer, peer->session_state, state);
	peer->session_state = state;
}

bool lnet_session_is_open(const struct lnet_peer *peer)
{
	return peer->session_state == SESSION_OPEN || peer->session_state == SESSION_DOUBT;
}

/*
 * Starts session negotiation. If discovery_wait is set, requests to a peer that was never
 * discovered wait for discovery.
 */
static void negotiate_anew(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!peer->disc.had_round && READ_ONCE(p->ln->tun.discovery_wait))
		peer->held = 1;
	p->ln->hooks->negotiate(p, peer);
}

bool lnet_session_is_ready(struct lnet_pass *p, struct lnet_peer *peer)
{
	const struct lnet_txwin *tx = &peer->tx;

	if (likely(peer->session_state == SESSION_OPEN)) {
		/* if a session can have no further requests, it ends, or is in doubt */
		if (unlikely(lnet_window_stale(p, tx) || lnet_window_spent(tx)))
			lnet_session_expire(p, peer, tx->session_id);
		else if (unlikely(lnet_window_stuck(tx)))
			lnet_session_set_state(peer, SESSION_DOUBT);
	}
	if (likely(peer->session_state == SESSION_OPEN))
		return !peer->held;
	if (lnet_nid_is_lo(&peer->primary))
		return true;
	if (peer->session_state == SESSION_DOUBT) {
		if (!peer->session_busy && p->now_ns >= peer->session_next_ns)
			p->ln->hooks->negotiate(p, peer);
		return !peer->session_busy && !peer->held;	/* busy: a ping checks it */
	}
	if (peer->session_state == SESSION_PLAIN && p->now_ns < peer->session_next_ns)
		return !peer->held;
	if (peer->session_state == SESSION_UNKNOWN || peer->session_state == SESSION_PLAIN)
		negotiate_anew(p, peer);
	return !peer->held && (peer->plain_before || peer->session_state == SESSION_PLAIN);
}

void lnet_session_expire(struct lnet_pass *p, struct lnet_peer *peer, u64 session_id)
{
	if (!lnet_session_is_open(peer) || peer->tx.session_id != session_id)
		return;
	lnet_window_expire(peer);
	lnet_session_set_state(peer, SESSION_PLAIN);
	peer->plain_before = 0;
	peer->session_next_ns = 0;
	negotiate_anew(p, peer);
	/* operations in @winwait have no request ID, so they wait for a new session */
	while (!list_empty(&peer->winwait)) {
		struct lnet_op *op = list_first_entry(&peer->winwait, struct lnet_op, link);

		list_del_init(&op->link);
		lnet_op_untrack(op);
		lnet_op_set_state(op, OP_RESOLVE);
		list_add_tail(&op->link, &peer->resolve);
	}
}

/* ---- doubt: has the peer restarted? ---------------------------------------------------------- */

/*
 * A path of @peer lost its connections. If the peer has restarted, it rejects a request of its
 * earlier session. If that request was retransmitted before, its delivery is unknown (exactly-once
 * rule 11). So new requests wait for a ping and a session open request. The ping shows whether the
 * peer is a stock node now; the session open request returns the instance number.
 */
void lnet_session_path_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	if (peer->session_state != SESSION_OPEN || peer->deleted)
		return;
	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (!pni->deleted && path->liveness_ns > path->lost_ns &&
			    lnet_ni_has_link(path->ni))
				return;
	lnet_session_set_state(peer, SESSION_DOUBT);
	peer->session_next_ns = p->now_ns;
}

/*
 * The ping finds out whether a stock node has replaced @peer, which had the exactly-once extension.
 * A stock node replies to a ping, but drops tracked requests without a reply. A restarted peer with
 * the extension is found without a ping, because it rejects tracked requests.
 */
void lnet_session_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (peer->session_state != SESSION_OPEN || peer->deleted || peer->session_busy ||
	    p->now_ns < peer->session_next_ns)
		return;
	peer->session_next_ns = p->now_ns + DOUBT_PAUSE_NS;
	p->ln->hooks->negotiate(p, peer);
}
