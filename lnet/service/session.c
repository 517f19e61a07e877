/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Session negotiation with a peer: a ping queries its features, then follows a session open
 * request. Discovery uses the reply to the ping too. This file also sends the low-water mark.
 */
#include "base/base.h"
#include "wire/wire.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"

/* a peer that did not answer is asked again after this, doubling */
#define CONTACT_RETRY_NS 1000000000ULL
#define CONTACT_RETRY_MAX_NS 60000000000ULL

/* @met: what waited has the time of its transaction before it, as what waits for credits. */
static void release_all(struct lnet_pass *p, struct lnet_peer *peer, bool met)
{
	LIST_HEAD(waiting);

	peer->tx.awaited = 0;
	while (!list_empty(&peer->resolve) && !peer->held) {
		struct lnet_op *op = list_first_entry(&peer->resolve, struct lnet_op, link);

		lnet_op_release(p, op, met);
	}
	/* What waited for room in a window that is void. */
	list_splice_init(&peer->winwait, &waiting);
	while (!list_empty(&waiting)) {
		struct lnet_op *op = list_first_entry(&waiting, struct lnet_op, link);

		lnet_op_untrack(op);
		lnet_op_release(p, op, met);
	}
}

/*
 * No grant for now: requests go under stock rules; the peer is asked again later. If it is one of
 * ours they wait for that, as the connections they would leave by may be those of a node that has
 * started anew since.
 */
static void set_plain(struct lnet_pass *p, struct lnet_peer *peer, bool answered)
{
	u64 pause = lnet_doubled(CONTACT_RETRY_NS, peer->contact_fails, CONTACT_RETRY_MAX_NS);

	lnet_contact_set_state(peer, CONTACT_PLAIN);
	peer->plain_before = !(peer->features & LNET_FEAT_OPEN);
	peer->held = peer->held && answered;
	peer->contact_fails++;
	peer->contact_next_ns = p->now_ns + (answered ? CONTACT_RETRY_MAX_NS : pause);
}

static void plain(struct lnet_pass *p, struct lnet_peer *peer, bool answered)
{
	set_plain(p, peer, answered);
	release_all(p, peer, answered);
}

/* Negotiation could not start: releases the waiting requests with the time of a transaction. */
static void plain_at_once(struct lnet_pass *p, struct lnet_peer *peer)
{
	set_plain(p, peer, false);
	release_all(p, peer, true);
}

static void opened(struct lnet_pass *p, struct lnet_op *op);
static void pinged(struct lnet_pass *p, struct lnet_op *op);

/* A GET of the core's own to @peer, answer into its sink. [sh] NULL: no reserve or no path. */
static struct lnet_op *ask(struct lnet_pass *p, struct lnet_peer *peer, u32 portal, u64 match_bits)
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

/* [sh] One question to a peer at a time. False: no reserve or no path. */
static bool ask_ping(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op = ask(p, peer, LNET_PORTAL_RESERVED, LNET_PING_MATCHBITS);

	if (!op)
		return false;
	op->len = lnet_disc_asked(peer);
	op->done = pinged;
	peer->contact_busy = 1;
	lnet_op_defer(p, op);
	return true;
}

static bool ask_opening(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op = ask(p, peer, LNET_PORTAL_MARK, LNET_OPEN_MATCHBITS);

	if (!op)
		return false;
	peer->sink_frag.base = peer->sink;
	peer->sink_frag.len = sizeof(peer->sink);
	op->sink = &peer->sink_frag;
	op->len = LNET_GRANT_SIZE;
	op->offset = (u32)min_t(u64, U32_MAX,
				div_u64(2 * READ_ONCE(p->ln->tun.transaction_timeout),
					NSEC_PER_MSEC));
	op->done = opened;
	peer->contact_busy = 1;
	lnet_op_defer(p, op);
	return true;
}

/* ---- a session in doubt ---------------------------------------------------------------------- */

/*
 * Requests use the existing session; those that wait for room in the window go on waiting. @met: as
 * for lnet_op_release()
 */
static void release_waiting(struct lnet_pass *p, struct lnet_peer *peer, bool met)
{
	LIST_HEAD(waiting);

	list_splice_init(&peer->resolve, &waiting);
	while (!list_empty(&waiting))
		lnet_op_release(p, list_first_entry(&waiting, struct lnet_op, link), met);
}

/* No answer: the grant is all there is. It is asked about again with a later request. */
static void still_in_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	peer->contact_next_ns = p->now_ns + READ_ONCE(p->ln->tun.min_recovery_ping_interval);
	release_waiting(p, peer, false);
}

/* ---- what the answers say -------------------------------------------------------------------- */

/*
 * The sender needs another session, even if the receiver still has the window: rule 4. Requests of
 * the old session keep their IDs, and end as usual.
 */
static bool is_useless(const struct lnet_pass *p, const struct lnet_peer *peer)
{
	return lnet_window_stuck(&peer->tx) || lnet_window_silent(p, &peer->tx);
}

/* @hold_ms: what the opening told. */
static void granted(struct lnet_pass *p, struct lnet_peer *peer, u64 grant, u32 W, u64 instance,
		    u32 hold_ms)
{
	if (peer->tx.rx_instance && peer->tx.rx_instance != instance)
		lnet_disc_anew(peer);
	lnet_window_grant(peer, grant, W, instance);
	peer->tx.used_ns = p->now_ns;
	peer->tx.hold_ns = (u64)hold_ms * NSEC_PER_MSEC;
	peer->contact_next_ns = 0;
	lnet_contact_set_state(peer, CONTACT_OPEN);
	peer->plain_before = 0;
	peer->contact_fails = 0;
	release_all(p, peer, true);
}

/*
 * No connection was made while the question had time: over a long way that takes longer than its
 * share of the time of those that wait, and what they would send could not leave either.
 */
static bool never_left(const struct lnet_pass *p, const struct lnet_op *op)
{
	return op->outcome != LNET_OK && !(op->flags & LNET_OPF_MAYBE) &&
	       p->now_ns >= op->deadline_ns && !list_empty(&op->peer->resolve) &&
	       !READ_ONCE(p->ln->stopping);
}

static void opened(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	u64 instance, grant;
	bool good;
	u32 W;

	peer->contact_busy = 0;
	good = op->outcome == LNET_OK &&
	       !lnet_grant_decode(peer->sink, op->mlength, &W, &instance, &grant);
	if (peer->contact == CONTACT_OPENING && good) {
		granted(p, peer, grant, W, instance, op->offset);
	} else if (peer->contact == CONTACT_OPENING) {
		if (!never_left(p, op) || !ask_opening(p, peer)) {
			plain(p, peer, false);
			/*
			 * Later requests do not wait for the next session open request, which may
			 * take an attempt timeout: exactly-once rule 2.
			 */
			peer->plain_before = 1;
		}
	} else if (peer->contact == CONTACT_DOUBT && good &&
		   (instance != peer->tx.rx_instance || lnet_window_stale(p, &peer->tx) ||
		    is_useless(p, peer))) {
		if (instance == peer->tx.rx_instance && !lnet_window_stale(p, &peer->tx))
			lnet_count(p->sh, sessions_renewed);
		granted(p, peer, grant, W, instance, op->offset);
	} else if (peer->contact == CONTACT_DOUBT) {	/* it answers pings: the window is there */
		peer->contact_next_ns = is_useless(p, peer) ? p->now_ns + CONTACT_RETRY_NS : 0;
		lnet_contact_set_state(peer, CONTACT_OPEN);
		release_waiting(p, peer, false);
	} else if (peer->contact == CONTACT_PINGING && !ask_ping(p, peer)) {
		plain(p, peer, false);
	}
	lnet_disc_step(p, peer);
}

static void pinged(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	bool good, ours;

	peer->contact_busy = 0;
	good = lnet_disc_answered(p, peer, op);
	ours = good && (peer->features & LNET_FEAT_OPEN);
	if (lnet_contact_granted(peer) && good && !ours) {
		lnet_contact_grant_void(p, peer, peer->tx.grant);
	} else if (peer->contact == CONTACT_OPEN && ours && lnet_window_silent(p, &peer->tx)) {
		lnet_contact_set_state(peer, CONTACT_DOUBT);
		if (!ask_opening(p, peer))
			still_in_doubt(p, peer);
	} else if (peer->contact == CONTACT_DOUBT) {
		if (!good || !ask_opening(p, peer))
			still_in_doubt(p, peer);
	} else if (peer->contact == CONTACT_PINGING) {
		if (ours)
			lnet_contact_set_state(peer, CONTACT_OPENING);
		if (ours ? !ask_opening(p, peer) : !never_left(p, op) || !ask_ping(p, peer))
			plain(p, peer, good && !ours);
	}
	lnet_disc_step(p, peer);
}

bool lnet_contact_ask(struct lnet_pass *p, struct lnet_peer *peer)
{
	return !peer->contact_busy && ask_ping(p, peer);
}

static void greet(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!(peer->features & LNET_FEAT_OPEN)) {
		plain(p, peer, true);
		return;
	}
	lnet_contact_set_state(peer, CONTACT_OPENING);
	if (!ask_opening(p, peer))
		plain_at_once(p, peer);
}

void lnet_contact_met(struct lnet_pass *p, struct lnet_peer *peer)
{
	peer->disc.met = 1;
	if (!peer->held)
		return;
	peer->held = 0;
	/* Requests that waited for discovery need not wait for session negotiation. */
	if (peer->contact == CONTACT_OPEN || peer->contact == CONTACT_PLAIN ||
	    (peer->contact == CONTACT_DOUBT && !peer->contact_busy))
		release_waiting(p, peer, false);
}

void lnet_contact_negotiate(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (lnet_contact_granted(peer)) {	/* perhaps from before a restart of the peer */
		if (!peer->contact_busy && !ask_ping(p, peer) && !peer->held)
			release_waiting(p, peer, true);
	} else if (peer->contact == CONTACT_UNKNOWN && peer->disc.known && !peer->contact_busy) {
		greet(p, peer);		/* it pushed its info to us, so it need not be asked */
	} else {
		lnet_contact_set_state(peer, CONTACT_PINGING);
		if (!peer->contact_busy && !ask_ping(p, peer))
			plain_at_once(p, peer);
	}
}

/* ---- telling the receiver what is finished: exactly-once.md rule 9 --------------------------- */

/* Requests wait until the peer has granted another session. */
static void another_session(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (list_empty(&peer->winwait) || peer->deleted || READ_ONCE(p->ln->stopping))
		return;
	if (peer->contact == CONTACT_OPEN)
		lnet_contact_set_state(peer, CONTACT_DOUBT);
	if (peer->contact == CONTACT_DOUBT && !peer->contact_busy &&
	    (p->now_ns < peer->contact_next_ns || !ask_ping(p, peer)))
		lnet_timer_set(&p->sh->wheel, &peer->timer,
			       max(peer->contact_next_ns, p->now_ns + NSEC_PER_MSEC));
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
	if (peer->contact != CONTACT_OPEN || tx->told >= tx->oldest || !pni ||
	    READ_ONCE(p->ln->stopping))
		return;
	op = lnet_op_control(p, pni, LNET_OP_PUT, 0);
	if (!op) {
		lnet_confirm_due(p, peer);
		return;
	}
	lnet_op_set_id(op, ID_GIVEN);
	op->portal = LNET_PORTAL_MARK;
	op->match_bits = LNET_CONFIRM_MATCHBITS;
	op->timeout_ns = 0;		/* that of a request */
	op->wire.cookie[0] = tx->grant;
	op->wire.cookie[1] = tx->oldest;
	tx->told = tx->oldest;
	lnet_op_defer(p, op);
}
