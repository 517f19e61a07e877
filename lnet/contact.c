/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * First contact with a peer: one ping for its features, one opening for a grant; and what tells it
 * our floor.
 */
#include "core.h"

/* a peer that did not answer is asked again after this, doubling */
#define CONTACT_RETRY_NS 1000000000ULL
#define CONTACT_RETRY_MAX_NS 60000000000ULL
#define VOID_KEEP_NS 600000000000ULL	/* requests under a void grant are looked for this long */
#define PING_HEAD 16			/* bytes of a ping info that tell the features */

static const u8 edges[LNET_NR_CONTACT_STATES][LNET_NR_CONTACT_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "states/contact.def"
#undef STATE
#undef EDGE
};

static void set_state(struct lnet_peer *peer, enum lnet_contact_state state)
{
	WARN_ON_ONCE(!edges[peer->contact][state]);
	lnet_edge(contact, peer, peer->contact, state);
	peer->contact = state;
}

static bool is_loopback(const struct lnet_peer *peer)
{
	return lnet_nid_is_lo(&peer->primary);
}

static void release_all(struct lnet_pass *p, struct lnet_peer *peer)
{
	LIST_HEAD(waiting);

	while (!list_empty(&peer->resolve)) {
		struct lnet_op *op = list_first_entry(&peer->resolve, struct lnet_op, link);

		lnet_op_release(p, op);
	}
	/* What waited for room in a window that is void. */
	list_splice_init(&peer->winwait, &waiting);
	while (!list_empty(&waiting)) {
		struct lnet_op *op = list_first_entry(&waiting, struct lnet_op, link);

		op->flags &= ~(LNET_OPF_MARKED | LNET_OPF_NOACKREQ);
		lnet_op_release(p, op);
	}
}

/* No grant for now: requests go under stock rules; the peer is asked again later. */
static void plain(struct lnet_pass *p, struct lnet_peer *peer, bool answered)
{
	u64 pause = min(CONTACT_RETRY_NS << min(peer->contact_fails, 6U), CONTACT_RETRY_MAX_NS);

	set_state(peer, CONTACT_PLAIN);
	peer->plain_before = 1;
	peer->contact_fails++;
	peer->contact_next_ns = p->now_ns + (answered ? CONTACT_RETRY_MAX_NS : pause);
	release_all(p, peer);
}

static struct lnet_peer_ni *first_pni(struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && !list_empty(&pni->paths))
			return pni;
	return NULL;
}

/* A GET of the core's own to @peer, answer into its sink. [sh] NULL: no reserve or no path. */
static struct lnet_op *ask(struct lnet_pass *p, struct lnet_peer *peer, u32 portal, u64 match_bits)
{
	struct lnet_peer_ni *pni = first_pni(peer);
	struct lnet_op *op = pni ? lnet_op_take(p->sh) : NULL;

	if (!op)
		return NULL;
	if (lnet_slot_take(p->ln, op)) {
		lnet_op_free(op);
		return NULL;
	}
	op->type = LNET_OP_GET;
	op->cls = LNET_CLS_CONTROL;
	op->flags |= LNET_OPF_INTERNAL | LNET_OPF_IDEMPOTENT;
	op->peer = peer;
	lnet_peer_get(peer);
	op->sh = p->sh;
	op->dst_pni = pni;
	lnet_peer_ni_hold(pni);
	op->target = pni->nid;
	op->target_pid = LNET_PID;
	op->portal = portal;
	op->match_bits = match_bits;
	peer->sink_frag.base = peer->sink;
	peer->sink_frag.len = sizeof(peer->sink);
	op->sink = &peer->sink_frag;
	op->timeout_ns = div_u64(READ_ONCE(p->ln->tun.transaction_timeout),
				 max_t(u32, READ_ONCE(p->ln->tun.retry_count), 1));
	lnet_count(p->sh, pings_sent);
	return op;
}

static void opened(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	u64 instance, grant;
	u32 W;

	if (peer->contact != CONTACT_OPENING)
		return;
	if (op->outcome != LNET_OK ||
	    lnet_grant_decode(peer->sink, op->mlength, &W, &instance, &grant)) {
		plain(p, peer, false);
		return;
	}
	lnet_window_grant(peer, grant, W, instance);
	peer->tx.used_ns = p->now_ns;
	set_state(peer, CONTACT_OPEN);
	peer->contact_fails = 0;
	release_all(p, peer);
}

static void pinged(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	u32 magic = get_unaligned_le32(peer->sink);

	if (peer->contact != CONTACT_PINGING)
		return;
	if (op->outcome != LNET_OK || op->mlength < PING_HEAD ||
	    (magic != LNET_PING_MAGIC && swab32(magic) != LNET_PING_MAGIC)) {
		plain(p, peer, false);
		return;
	}
	peer->features = get_unaligned_le32(peer->sink + 4);
	if (magic != LNET_PING_MAGIC)
		peer->features = swab32(peer->features);
	if (!(peer->features & LNET_FEAT_OPEN)) {
		plain(p, peer, true);
		return;
	}
	set_state(peer, CONTACT_OPENING);
	op = ask(p, peer, LNET_PORTAL_MARK, LNET_OPEN_MATCHBITS);
	if (!op) {
		plain(p, peer, false);
		return;
	}
	op->len = LNET_GRANT_SIZE;
	peer->tx.hold_ns = 2 * READ_ONCE(p->ln->tun.transaction_timeout);
	op->offset = (u32)min_t(u64, div_u64(peer->tx.hold_ns, NSEC_PER_MSEC), U32_MAX);
	op->done = opened;
	lnet_op_defer(p, op);
}

void lnet_contact_need(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op;

	if (is_loopback(peer) || peer->contact == CONTACT_PINGING ||
	    peer->contact == CONTACT_OPENING)
		return;
	if (peer->contact == CONTACT_OPEN ||
	    (peer->contact == CONTACT_PLAIN && p->now_ns < peer->contact_next_ns))
		return;
	set_state(peer, CONTACT_PINGING);
	op = ask(p, peer, LNET_PORTAL_RESERVED, LNET_PING_MATCHBITS);
	if (!op) {
		plain(p, peer, false);
		return;
	}
	op->len = sizeof(peer->sink);
	op->done = pinged;
	lnet_op_defer(p, op);
}

/*
 * After twice the hold time the receiver has dropped the window. A refusal would come early enough
 * for a request that was sent once; of one that was sent twice meanwhile nobody could say whether
 * it was delivered (rule 11).
 */
static bool is_stale(const struct lnet_pass *p, const struct lnet_peer *peer)
{
	const struct lnet_txwin *tx = &peer->tx;

	return tx->hold_ns && p->now_ns - tx->used_ns > tx->hold_ns + tx->hold_ns / 2 &&
	       tx->next == tx->oldest;
}

bool lnet_contact_ready(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (unlikely(peer->contact == CONTACT_OPEN && is_stale(p, peer)))
		lnet_contact_grant_void(p, peer, peer->tx.grant);
	if (likely(peer->contact == CONTACT_OPEN) || is_loopback(peer))
		return true;
	lnet_contact_need(p, peer);
	return peer->plain_before || peer->contact == CONTACT_PLAIN;
}

void lnet_contact_grant_void(struct lnet_pass *p, struct lnet_peer *peer, u64 grant)
{
	if (peer->contact != CONTACT_OPEN || peer->tx.grant != grant)
		return;
	lnet_window_void(peer);
	peer->void_until_ns = p->now_ns + VOID_KEEP_NS;
	set_state(peer, CONTACT_PLAIN);
	peer->plain_before = 0;
	peer->contact_next_ns = 0;
	lnet_contact_need(p, peer);
	while (!list_empty(&peer->winwait)) {	/* unnamed: they wait for the new grant */
		struct lnet_op *op = list_first_entry(&peer->winwait, struct lnet_op, link);

		list_del_init(&op->link);
		op->flags &= ~(LNET_OPF_MARKED | LNET_OPF_NOACKREQ);
		lnet_op_set_state(op, OP_RESOLVE);
		list_add_tail(&op->link, &peer->resolve);
	}
}

static void doubted(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer = op->peer;
	u32 magic = get_unaligned_le32(peer->sink), features = get_unaligned_le32(peer->sink + 4);

	if (peer->contact != CONTACT_OPEN || op->outcome != LNET_OK || op->mlength < PING_HEAD)
		return;
	if (swab32(magic) == LNET_PING_MAGIC)
		features = swab32(features);
	else if (magic != LNET_PING_MAGIC)
		return;
	if (!(features & LNET_FEAT_OPEN))
		lnet_contact_grant_void(p, peer, peer->tx.grant);
}

/*
 * A stock node that has taken the place of one of ours drops what is marked without a word; its
 * answer to a ping tells. One of ours that has started anew refuses what is marked, which tells as
 * well.
 */
void lnet_contact_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_op *op;

	if (peer->contact != CONTACT_OPEN || peer->deleted || p->now_ns < peer->contact_next_ns)
		return;
	peer->contact_next_ns = p->now_ns + CONTACT_RETRY_NS;
	op = ask(p, peer, LNET_PORTAL_RESERVED, LNET_PING_MATCHBITS);
	if (!op)
		return;
	op->len = sizeof(peer->sink);
	op->done = doubted;
	lnet_op_defer(p, op);
}

/* ---- telling the receiver what is finished: exactly-once.md rule 9 --------------------------- */

void lnet_confirm_due(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!list_empty(&peer->timer.link) || peer->tx.told >= peer->tx.oldest || peer->deleted ||
	    READ_ONCE(p->ln->stopping))
		return;
	lnet_timer_set(&p->sh->wheel, &peer->timer,
		       p->now_ns + READ_ONCE(p->ln->tun.confirm_delay));
}

void lnet_peer_timer(struct lnet_pass *p, struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni = first_pni(peer);
	struct lnet_txwin *tx = &peer->tx;
	struct lnet_op *op;

	if (peer->contact != CONTACT_OPEN || tx->told >= tx->oldest || !pni ||
	    READ_ONCE(p->ln->stopping))
		return;
	op = lnet_op_take(p->sh);
	if (!op) {
		lnet_confirm_due(p, peer);
		return;
	}
	op->type = LNET_OP_PUT;
	op->cls = LNET_CLS_CONTROL;
	op->flags = LNET_OPF_INTERNAL | LNET_OPF_HANDLE | LNET_OPF_IDEMPOTENT;
	op->peer = peer;
	lnet_peer_get(peer);
	op->sh = p->sh;
	op->dst_pni = pni;
	lnet_peer_ni_hold(pni);
	op->target = pni->nid;
	op->target_pid = LNET_PID;
	op->portal = LNET_PORTAL_MARK;
	op->match_bits = LNET_CONFIRM_MATCHBITS;
	op->wire.cookie[0] = tx->grant;
	op->wire.cookie[1] = tx->oldest;
	tx->told = tx->oldest;
	lnet_op_defer(p, op);
}
