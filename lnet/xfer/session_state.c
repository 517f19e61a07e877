/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The state of the session with a peer decides whether requests may be sent, and are tracked.
 * service/session.c sends the pings and session open requests that are due.
 */
#include "shard/shard.h"
#include "shard/hooks.h"
#include "topology/topology.h"
#include "xfer/xfer.h"

/* requests that get no reply cause at most one ping in this time */
#define DOUBT_PAUSE_NS 1000000000ULL

static const u8 edges[LNET_NR_CONTACT_STATES][LNET_NR_CONTACT_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/contact.def"
#undef STATE
#undef EDGE
};

void lnet_contact_set_state(struct lnet_peer *peer, enum lnet_contact_state state)
{
	WARN_ON_ONCE(!edges[peer->contact][state]);
	lnet_edge(contact, peer, peer->contact, state);
	peer->contact = state;
}

bool lnet_contact_granted(const struct lnet_peer *peer)
{
	return peer->contact == CONTACT_OPEN || peer->contact == CONTACT_DOUBT;
}

/* If discovery_wait is set, requests to a peer that was never discovered wait for discovery. */
static void negotiate_anew(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!peer->disc.met && READ_ONCE(p->ln->tun.discovery_wait))
		peer->held = 1;
	p->ln->hooks->negotiate(p, peer);
}

bool lnet_contact_ready(struct lnet_pass *p, struct lnet_peer *peer)
{
	const struct lnet_txwin *tx = &peer->tx;

	if (likely(peer->contact == CONTACT_OPEN)) {
		/* a session that can carry no further requests ends, or is in doubt */
		if (unlikely(lnet_window_stale(p, tx) || lnet_window_spent(tx)))
			lnet_contact_grant_void(p, peer, tx->grant);
		else if (unlikely(lnet_window_stuck(tx)))
			lnet_contact_set_state(peer, CONTACT_DOUBT);
	}
	if (likely(peer->contact == CONTACT_OPEN))
		return !peer->held;
	if (lnet_nid_is_lo(&peer->primary))
		return true;
	if (peer->contact == CONTACT_DOUBT) {
		if (!peer->contact_busy && p->now_ns >= peer->contact_next_ns)
			p->ln->hooks->negotiate(p, peer);
		return !peer->contact_busy && !peer->held;	/* busy: a ping checks it */
	}
	if (peer->contact == CONTACT_PLAIN && p->now_ns < peer->contact_next_ns)
		return !peer->held;
	if (peer->contact == CONTACT_UNKNOWN || peer->contact == CONTACT_PLAIN)
		negotiate_anew(p, peer);
	return !peer->held && (peer->plain_before || peer->contact == CONTACT_PLAIN);
}

void lnet_contact_grant_void(struct lnet_pass *p, struct lnet_peer *peer, u64 grant)
{
	if (!lnet_contact_granted(peer) || peer->tx.grant != grant)
		return;
	lnet_window_void(peer);
	lnet_contact_set_state(peer, CONTACT_PLAIN);
	peer->plain_before = 0;
	peer->contact_next_ns = 0;
	negotiate_anew(p, peer);
	while (!list_empty(&peer->winwait)) {	/* without request ID: they await a session */
		struct lnet_op *op = list_first_entry(&peer->winwait, struct lnet_op, link);

		list_del_init(&op->link);
		lnet_op_untrack(op);
		lnet_op_set_state(op, OP_RESOLVE);
		list_add_tail(&op->link, &peer->resolve);
	}
}

/* ---- doubt: has the peer restarted? ---------------------------------------------------------- */

static bool has_live_path(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (!pni->deleted && path->evidence_ns > path->lost_ns &&
			    lnet_ni_has_link(path->ni))
				return true;
	return false;
}

/*
 * A peer that has restarted rejects a request of its earlier session. If the request was
 * retransmitted before, its delivery is unknown (exactly-once rule 11). So requests wait for a
 * ping, which shows whether the peer is a stock node, and for a session open request, which returns
 * the instance.
 */
void lnet_contact_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (peer->contact != CONTACT_OPEN || peer->deleted || has_live_path(peer))
		return;
	lnet_contact_set_state(peer, CONTACT_DOUBT);
	peer->contact_next_ns = p->now_ns;
}

/*
 * A stock node that has taken the place of a peer with the extension drops tracked requests without
 * a reply, but replies to a ping. A restarted peer with the extension rejects them.
 */
void lnet_contact_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (peer->contact != CONTACT_OPEN || peer->deleted || peer->contact_busy ||
	    p->now_ns < peer->contact_next_ns)
		return;
	peer->contact_next_ns = p->now_ns + DOUBT_PAUSE_NS;
	p->ln->hooks->negotiate(p, peer);
}
