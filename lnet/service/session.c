/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Session negotiation with a peer. A ping queries the features of the peer; a session open request
 * follows. Discovery also uses the reply to the ping. This file also sends the low-water mark.
 */
#include <lnet/wire.h>
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"

/* pause after a negotiation without a reply, before the retry; each failure doubles it */
#define CONTACT_RETRY_NS 1000000000ULL
#define CONTACT_RETRY_MAX_NS 60000000000ULL

/*
 * Releases the requests that wait for a session. With @negotiated, each request has a full
 * transaction timeout from the release on, like a request that waits for credits. Otherwise the
 * timeout of each request continues.
 */
static void session_release_waiting(struct lnet_pass *p, struct lnet_peer *peer, bool negotiated)
{
	LIST_HEAD(waiting);

	peer->tx.awaited = 0;
	while (!list_empty(&peer->resolve) && !peer->held) {
		struct lnet_op *op = list_first_entry(&peer->resolve, struct lnet_op, link);

		lnet_op_release(p, op, negotiated);
	}
	/* These requests waited for a place in the window of an expired session. */
	list_splice_init(&peer->winwait, &waiting);
	while (!list_empty(&waiting)) {
		struct lnet_op *op = list_first_entry(&waiting, struct lnet_op, link);

		lnet_op_untrack(op);
		lnet_op_release(p, op, negotiated);
	}
}

/*
 * There is no session with @peer for now. Requests follow the rules of stock LNet, and the
 * negotiation is retried later. During the retry, requests to a peer with the exactly-once
 * extension wait. The peer may have restarted since the connections to it were made.
 */
static void set_plain(struct lnet_pass *p, struct lnet_peer *peer, bool answered)
{
	u64 pause = lnet_doubled(CONTACT_RETRY_NS, peer->session_fails, CONTACT_RETRY_MAX_NS);

	lnet_session_set_state(peer, SESSION_PLAIN);
	peer->plain_before = !(peer->features & LNET_FEAT_OPEN);
	peer->held = peer->held && answered;
	peer->session_fails++;
	peer->session_next_ns = p->now_ns + (answered ? CONTACT_RETRY_MAX_NS : pause);
}

static void plain(struct lnet_pass *p, struct lnet_peer *peer, bool answered)
{
	set_plain(p, peer, answered);
	session_release_waiting(p, peer, answered);
}

/*
 * The negotiation could not start: releases the waiting requests with a full transaction timeout.
 */
static void plain_at_once(struct lnet_pass *p, struct lnet_peer *peer)
{
	set_plain(p, peer, false);
	session_release_waiting(p, peer, true);
}

static void session_request_done(struct lnet_pass *p, struct lnet_op *op);
static void session_ping_done(struct lnet_pass *p, struct lnet_op *op);

/* [sh] Creates a GET of the node itself to @peer. NULL: a pool is empty, or there is no path. */
static struct lnet_op *control_get(struct lnet_pass *p, struct lnet_peer *peer, u32 portal,
				   u64 match_bits)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_any(peer);
	struct lnet_op *op = pni ? lnet_op_control(p, pni, LNET_OP_GET, 0) : NULL;

	if (!op)
		return NULL;
	if (!list_empty(&peer->disc.waiters))
		op->kind = LNET_KIND_URGENT;
	op->portal = portal;
	op->match_bits = match_bits;
	lnet_count(p->sh, pings_sent);
	return op;
}

/*
 * [sh] Sends a ping or session open request; only one of these is in flight to a peer. False: a
 * pool is empty, or there is no path.
 */
static bool ask_ping(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op = control_get(p, peer, LNET_PORTAL_RESERVED, LNET_PING_MATCHBITS);

	if (!op)
		return false;
	op->len = lnet_disc_ping_sent(peer);
	op->done = session_ping_done;
	peer->session_busy = 1;
	lnet_op_defer(p, op);
	return true;
}

static bool session_request(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op = control_get(p, peer, LNET_PORTAL_TRACKED, LNET_OPEN_MATCHBITS);

	if (!op)
		return false;
	peer->sink_frag.base = peer->sink;
	peer->sink_frag.len = sizeof(peer->sink);
	op->sink = &peer->sink_frag;
	op->len = LNET_SESSION_REPLY_SIZE;
	op->offset = (u32)min_t(u64, U32_MAX,
				div_u64(2 * READ_ONCE(p->ln->tun.transaction_timeout),
					NSEC_PER_MSEC));
	op->done = session_request_done;
	peer->session_busy = 1;
	lnet_op_defer(p, op);
	return true;
}

/* ---- a session in doubt ---------------------------------------------------------------------- */

/*
 * Requests use the existing session. Requests that wait for a place in the window continue to wait.
 * @negotiated: see lnet_op_release().
 */
static void release_waiting(struct lnet_pass *p, struct lnet_peer *peer, bool negotiated)
{
	LIST_HEAD(waiting);

	list_splice_init(&peer->resolve, &waiting);
	while (!list_empty(&waiting))
		lnet_op_release(p, list_first_entry(&waiting, struct lnet_op, link), negotiated);
}

/* No reply was received: the session stays in doubt. A later request causes the next check. */
static void still_in_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	peer->session_next_ns = p->now_ns + READ_ONCE(p->ln->tun.min_recovery_ping_interval);
	release_waiting(p, peer, false);
}

/* ---- replies --------------------------------------------------------------------------------- */

/*
 * True if the sender needs another session although the receiver still has the window. By
 * exactly-once rule 4, the reason is either aborted requests, or no response for a transaction
 * timeout. Requests of the old session keep their IDs, and end as usual.
 */
static bool is_useless(const struct lnet_pass *p, const struct lnet_peer *peer)
{
	return lnet_window_stuck(&peer->tx) || lnet_window_is_unresponsive(p, &peer->tx);
}

/* Begins a session. @hold_ms: the hold time from the session open request. */
static void session_begin(struct lnet_pass *p, struct lnet_peer *peer, u64 session_id, u32 W,
			  u64 instance, u32 hold_ms)
{
	if (peer->tx.rx_instance && peer->tx.rx_instance != instance)
		lnet_disc_anew(peer);
	lnet_window_begin(peer, session_id, W, instance);
	peer->tx.used_ns = p->now_ns;
	peer->tx.hold_ns = (u64)hold_ms * NSEC_PER_MSEC;
	peer->session_next_ns = 0;
	lnet_session_set_state(peer, SESSION_OPEN);
	peer->plain_before = 0;
	peer->session_fails = 0;
	session_release_waiting(p, peer, true);
}

/*
 * True if the ping or session open request @op was not sent before its deadline, while requests
 * wait. Then the caller retries it, and the requests continue to wait. On a long path, connecting
 * may take longer than one attempt timeout. The waiting requests need the same connection, so their
 * release would not speed them up.
 */
static bool never_left(const struct lnet_pass *p, const struct lnet_op *op)
{
	return op->outcome != LNET_OK && !(op->flags & LNET_OPF_UNKNOWN) &&
	       p->now_ns >= op->deadline_ns && !list_empty(&op->peer->resolve) &&
	       !READ_ONCE(p->ln->stopping);
}

static void session_request_done(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	u64 instance, session_id;
	bool good;
	u32 W;

	peer->session_busy = 0;
	good = op->outcome == LNET_OK &&
	       !lnet_session_reply_decode(peer->sink, op->mlength, &W, &instance, &session_id);
	if (peer->session_state == SESSION_OPENING && good) {
		session_begin(p, peer, session_id, W, instance, op->offset);
	} else if (peer->session_state == SESSION_OPENING) {
		if (!never_left(p, op) || !session_request(p, peer)) {
			plain(p, peer, false);
			/*
			 * Later requests do not wait for the next session open request, which may
			 * take an attempt timeout: see exactly-once rule 2.
			 */
			peer->plain_before = 1;
		}
	} else if (peer->session_state == SESSION_DOUBT && good &&
		   (instance != peer->tx.rx_instance || lnet_window_stale(p, &peer->tx) ||
		    is_useless(p, peer))) {
		if (instance == peer->tx.rx_instance && !lnet_window_stale(p, &peer->tx))
			lnet_count(p->sh, sessions_renewed);
		session_begin(p, peer, session_id, W, instance, op->offset);
	} else if (peer->session_state == SESSION_DOUBT) {	/* it responds: the window exists */
		peer->session_next_ns = is_useless(p, peer) ? p->now_ns + CONTACT_RETRY_NS : 0;
		lnet_session_set_state(peer, SESSION_OPEN);
		release_waiting(p, peer, false);
	} else if (peer->session_state == SESSION_PINGING && !ask_ping(p, peer)) {
		plain(p, peer, false);
	}
	lnet_disc_step(p, peer);
}

static void session_ping_done(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	bool good, ours;

	peer->session_busy = 0;
	good = lnet_disc_ping_done(p, peer, op);
	ours = good && (peer->features & LNET_FEAT_OPEN);
	if (lnet_session_is_open(peer) && good && !ours) {
		lnet_session_expire(p, peer, peer->tx.session_id);
	} else if (peer->session_state == SESSION_OPEN && ours &&
		   lnet_window_is_unresponsive(p, &peer->tx)) {
		lnet_session_set_state(peer, SESSION_DOUBT);
		if (!session_request(p, peer))
			still_in_doubt(p, peer);
	} else if (peer->session_state == SESSION_DOUBT) {
		if (!good || !session_request(p, peer))
			still_in_doubt(p, peer);
	} else if (peer->session_state == SESSION_PINGING) {
		if (ours)
			lnet_session_set_state(peer, SESSION_OPENING);
		if (ours ? !session_request(p, peer) : !never_left(p, op) || !ask_ping(p, peer))
			plain(p, peer, good && !ours);
	}
	lnet_disc_step(p, peer);
}

bool lnet_disc_ping_send(struct lnet_pass *p, struct lnet_peer *peer)
{
	return !peer->session_busy && ask_ping(p, peer);
}

static void greet(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!(peer->features & LNET_FEAT_OPEN)) {
		plain(p, peer, true);
		return;
	}
	lnet_session_set_state(peer, SESSION_OPENING);
	if (!session_request(p, peer))
		plain_at_once(p, peer);
}

void lnet_disc_round_end(struct lnet_pass *p, struct lnet_peer *peer)
{
	peer->disc.had_round = 1;
	if (!peer->held)
		return;
	peer->held = 0;
	/* Requests that waited for discovery need not wait for session negotiation. */
	if (peer->session_state == SESSION_OPEN || peer->session_state == SESSION_PLAIN ||
	    (peer->session_state == SESSION_DOUBT && !peer->session_busy))
		release_waiting(p, peer, false);
}

void lnet_session_negotiate(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (lnet_session_is_open(peer)) {	/* the peer may have restarted */
		if (!peer->session_busy && !ask_ping(p, peer) && !peer->held)
			release_waiting(p, peer, true);
	} else if (peer->session_state == SESSION_UNKNOWN && peer->disc.known &&
		   !peer->session_busy) {
		/* the features of the peer are known, so no ping is needed */
		greet(p, peer);
	} else {
		lnet_session_set_state(peer, SESSION_PINGING);
		if (!peer->session_busy && !ask_ping(p, peer))
			plain_at_once(p, peer);
	}
}

/* ---- advertising the low-water mark: exactly-once.md rule 9 ---------------------------------- */

/*
 * If requests wait for a place in the window, checks the session. The check leads to another
 * session.
 */
static void another_session(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (list_empty(&peer->winwait) || peer->deleted || READ_ONCE(p->ln->stopping))
		return;
	if (peer->session_state == SESSION_OPEN)
		lnet_session_set_state(peer, SESSION_DOUBT);
	if (peer->session_state == SESSION_DOUBT && !peer->session_busy &&
	    (p->now_ns < peer->session_next_ns || !ask_ping(p, peer)))
		lnet_timer_set(&p->sh->wheel, &peer->timer,
			       max(peer->session_next_ns, p->now_ns + NSEC_PER_MSEC));
}

void lnet_peer_timer(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_any(peer);
	struct lnet_txwin *tx = &peer->tx;
	struct lnet_op *op;

	if (unlikely(lnet_window_stuck(tx))) {
		another_session(p, peer);
		return;
	}
	if (peer->session_state != SESSION_OPEN || tx->advertised >= tx->oldest || !pni ||
	    READ_ONCE(p->ln->stopping))
		return;
	op = lnet_op_control(p, pni, LNET_OP_PUT, 0);
	if (!op) {
		lnet_confirm_due(p, peer);
		return;
	}
	lnet_op_set_id(op, ID_GIVEN);
	op->portal = LNET_PORTAL_TRACKED;
	op->match_bits = LNET_CONFIRM_MATCHBITS;
	op->timeout_ns = 0;		/* the timeout of a request */
	op->wire.cookie[0] = tx->session_id;
	op->wire.cookie[1] = tx->oldest;
	tx->advertised = tx->oldest;
	lnet_op_defer(p, op);
}
