/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Received ACKs and REPLYs: finds the requests of this node, completes them, and receives the
 * payload.
 */
#include "shard/shard.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "shard/trace.h"

/* True if rx->src and the source NID in the header both belong to @peer. */
static bool is_from(const struct lnet_rx *rx, const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;

	if (unlikely(rx->src->peer != peer))
		return false;
	if (likely(lnet_nid_same(&rx->src_nid, &rx->src->nid)))
		return true;
	list_for_each_entry(pni, &peer->pnis, link)
		if (lnet_nid_same(&rx->src_nid, &pni->nid))
			return true;
	return false;
}

/*
 * Returns the operation that awaits the reply @rx. NULL: no operation awaits it, or the request was
 * sent to another node.
 */
static struct lnet_op *reply_op_find(struct lnet_pass *p, struct lnet_rx *rx,
				     enum lnet_op_type type)
{
	struct lnet_peer *peer = rx->src->peer;
	struct lnet_op *op;

	if (rx->handle.cookie[0] == p->ln->instance)
		op = lnet_slot_find(p->ln, p->sh, &rx->handle);
	else
		op = lnet_op_by_id(peer, &rx->handle);
	if (!op || (op->type != type && !(type == LNET_OP_PUT && rx->mlength >= LNET_REJECTED)) ||
	    lnet_op_is_over(op)) {
		lnet_count(p->sh, dup_reply);
		/*
		 * The node sends a confirm message, but not after a rejection. The receiver uses no
		 * memory for a rejected request, so nothing is to be released there. The rejected
		 * request may also be a confirm message itself.
		 */
		if (rx->handle.cookie[0] == peer->tx.session_id && rx->mlength < LNET_REJECTED)
			lnet_confirm_again(p, peer);
		return NULL;
	}
	/*
	 * Only the target of the request may reply. A node replies with the PID LNET_PID, whichever
	 * process was the target. Requests of the core have no process as target.
	 */
	if (unlikely(!is_from(rx, op->peer) ||
		     (rx->src_pid != LNET_PID && rx->src_pid != op->target_pid &&
		      op->kind == LNET_KIND_USER))) {
		lnet_count(p->sh, unexpected_reply);
		return NULL;
	}
	lnet_rx_proven(p, rx);
	return op;
}

static bool use_md(struct lnet_op *op)
{
	if (!op->md || (op->flags & LNET_OPF_REPLIED))
		return true;
	/*
	 * The reply may use an exhausted MD, because the MD belongs to the operation. It may not
	 * use an unlinked MD.
	 */
	if (!lnet_md_use_again(op->md) && lnet_md_aborted(op->md))
		return false;
	op->flags |= LNET_OPF_REPLIED;
	return true;
}

/*
 * Called for each request @op up to the sequence of the cumulative ACK @rx. Ends @op if @op is a
 * PUT that requested no ACK. If @rx has LNET_REQID_ALL, also ends a PUT that requested an ACK.
 * Returns false if @op did not end.
 */
static bool merged_one(struct lnet_pass *p, struct lnet_op *op, const struct lnet_rx *rx)
{
	bool all = rx->handle.cookie[1] & LNET_REQID_ALL;

	if (!lnet_op_is_acked_unseen(op) && !(all && (op->flags & LNET_OPF_ACK)))
		return false;
	if (lnet_op_is_over(op) || ((op->flags & LNET_OPF_ACK) && !use_md(op)))
		return false;
	op->mlength = op->len;
	lnet_op_replied(p, op, rx->path);
	return true;
}

/* Does the work of merged_ack() for requests of an expired session, which are in peer->expired. */
static void merged_slow(struct lnet_pass *p, struct lnet_rx *rx, u64 last)
{
	struct lnet_peer *peer = rx->src->peer;
	struct lnet_op *op;

again:
	list_for_each_entry(op, &peer->expired, expired)
		if (lnet_op_seq(op) <= last && op->wire.cookie[0] == rx->handle.cookie[0] &&
		    merged_one(p, op, rx))
			/* start again, because the end of one request may start or end others */
			goto again;
}

/*
 * Processes a cumulative ACK. If this node has not yet used the sequence of the ACK for a request,
 * drops the ACK. So the loop visits only sequences that this node has used.
 */
static void merged_ack(struct lnet_pass *p, struct lnet_rx *rx)
{
	struct lnet_peer *peer = rx->src->peer;
	struct lnet_txwin *tx = &peer->tx;
	bool alone;
	u64 last = lnet_reqid_seq(&rx->handle, &alone), seq;

	if (!is_from(rx, peer)) {
		lnet_count(p->sh, unexpected_reply);
		return;
	}
	if (!tx->session_id || rx->handle.cookie[0] != tx->session_id) {
		if (!list_empty(&peer->expired))
			merged_slow(p, rx, last);
		else
			lnet_count(p->sh, bad_handle);
		return;
	}
	if (last >= tx->next) {
		lnet_count(p->sh, long_reply);
		return;
	}
	lnet_rx_proven(p, rx);
	for (seq = tx->oldest; seq <= last; seq++) {
		struct lnet_op *op = tx->op[seq & (tx->cap - 1)];

		/* A later request may be at the same index as a finished one. */
		if (op && lnet_op_seq(op) == seq)
			merged_one(p, op, rx);
	}
}

enum lnet_verdict lnet_ack_take(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr)
{
	bool alone = true;
	struct lnet_op *op;

	rx->handle = hdr->msg.ack.dst_wmd;
	rx->mlength = hdr->msg.ack.mlength;
	if (rx->handle.cookie[0] != p->ln->instance && rx->mlength < LNET_REJECTED)
		lnet_reqid_seq(&rx->handle, &alone);
	if (!alone) {
		merged_ack(p, rx);
		return LNET_SKIP;
	}
	op = reply_op_find(p, rx, LNET_OP_PUT);
	if (!op)
		return LNET_SKIP;
	if (rx->mlength >= LNET_REJECTED && op->id_state == ID_DRAWN) {
		lnet_rejection_take(p, op, rx->mlength - LNET_REJECTED, rx->path);
	} else if (unlikely(rx->mlength > op->len)) {	/* more than was sent */
		lnet_count(p->sh, long_reply);
	} else if (!(op->flags & LNET_OPF_ACK) || use_md(op)) {
		op->mlength = rx->mlength;
		lnet_op_replied(p, op, rx->path);
	}
	return LNET_SKIP;
}

enum lnet_verdict lnet_reply_take(struct lnet_pass *p, struct lnet_rx *rx,
				  const struct lnet_hdr *hdr)
{
	u32 want = rx->payload_len;
	struct lnet_op *op;

	rx->handle = hdr->msg.reply.dst_wmd;
	op = reply_op_find(p, rx, LNET_OP_GET);
	if (!op)
		return LNET_SKIP;
	if (want > op->len) {
		lnet_count(p->sh, long_reply);
		if (op->md && !(op->md->options & LNET_MD_TRUNCATE))
			return lnet_rx_drop(p, rx, LNET_TOO_LONG);
		want = op->len;
	}
	if (!use_md(op))
		return LNET_SKIP;
	rx->get = op;
	list_add_tail(&rx->link, &op->receives);
	if (op->md)
		rx->into = lnet_md_buf(op->md, op->md_off, want);
	else
		rx->into = (struct lnet_buf){ .frags = op->sink, .nr = 1, .len = want };
	return lnet_rx_receive(p, rx);
}

void lnet_reply_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	struct lnet_op *op = rx->get;

	lnet_enter(p, op->sh);
	lnet_rec_op(p, PIN, op, 0, 0);
	op->pins++;
	list_del_init(&rx->link);
	lockdep_assert_held(&p->ln->shard[rx->hold_shard].lock);
	rx->ni->sh[rx->hold_shard].holds--;
	if (how == LNET_OK && !lnet_op_is_over(op)) {
		op->mlength = rx->want;
		lnet_op_replied(p, op, lnet_rx_path(rx));
	}
	lnet_rec_op(p, UNPIN, op, 0, 0);
	lnet_op_unpin(p, op);
	lnet_rx_free(p, rx);
}
