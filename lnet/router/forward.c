/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Forwards messages for other nodes. A router receives each message in full, then a separate
 * operation forwards it unchanged. After the end of that operation, with any outcome, the credit
 * and the buffer are returned.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "receive/receive.h"
#include "router/router.h"

/* No lock held. @claimer: the peer that sent the message. */
static struct lnet_fwd *fwd_new(struct lnet *ln, struct lnet_rx *rx, const struct lnet_hdr *hdr,
				struct lnet_peer *claimer)
{
	struct lnet_fwd *fwd = kzalloc(sizeof(*fwd), GFP_NOFS);
	struct lnet_peer_ni *src;

	if (!fwd)
		return NULL;
	if (!rx->reply_op)
		rx->reply_op = lnet_op_new();
	if (rx->reply_op)
		fwd->dst = lnet_peer_ni_claimed(ln, &hdr->dest_nid, claimer);
	if (!fwd->dst) {
		kfree(fwd);
		return NULL;
	}
	INIT_LIST_HEAD(&fwd->wait);
	INIT_LIST_HEAD(&fwd->all);
	INIT_LIST_HEAD(&fwd->held);
	INIT_LIST_HEAD(&fwd->lead);
	INIT_LIST_HEAD(&fwd->behind);
	fwd->hdr = *hdr;
	fwd->rx = rx;
	fwd->cls = lnet_rtr_class(hdr->payload_len);
	src = lnet_peer_ni_lookup(ln, &hdr->src_nid);
	fwd->src_mr = src && READ_ONCE(src->peer->mr);
	lnet_peer_ni_put(src);
	rx->fwd = fwd;
	return fwd;
}

/*
 * No lock held. Writes to @sender the NID of the peer whose share of the buffers @rx uses. A peer
 * may claim NIDs of other hosts, so the network address of the sender decides. The driver converts
 * this address to a NID.
 *
 * If this NID is that of rx->from, @sender is this NID. If a peer has this NID, @sender is the
 * primary NID of the peer. Otherwise @sender is the NID of the address.
 */
static void sender_of(struct lnet_pass *p, const struct lnet_rx *rx, struct lnet_nid *sender)
{
	struct lnet_peer_ni *pni;

	*sender = rx->from->nid;
	if (rx->ni->ops->rx_address)
		rx->ni->ops->rx_address(rx->ni, rx, sender);
	if (likely(lnet_nid_same(sender, &rx->from->nid)))
		return;
	pni = lnet_peer_ni_lookup(p->ln, sender);
	if (!pni)
		return;
	lnet_enter_pni(p, pni);
	*sender = pni->peer->primary;
	lnet_leave(p);
	lnet_peer_ni_put(pni);
}

/* Releases and takes the shard lock. False: no memory, or too many unknown peers. */
static bool fwd_prepare(struct lnet_pass *p, struct lnet_rx *rx, const struct lnet_hdr *hdr)
{
	struct lnet_rtr_shard *rs = &p->ln->router->sh[p->sh->ix];
	struct lnet_rtr_spare spare = rs->spare;
	struct lnet_peer *claimer = rx->from->peer;
	struct lnet_nid dst, sender;
	struct lnet_fwd *fwd;

	rs->spare = (struct lnet_rtr_spare){ 0 };
	rx->reply_op = lnet_op_take(p->sh);
	lnet_peer_get(claimer);
	lnet_leave(p);
	fwd = fwd_new(p->ln, rx, hdr, claimer);
	lnet_peer_put(claimer);
	lnet_rtr_spare_fill(&spare);
	sender_of(p, rx, &sender);
	if (fwd) {
		lnet_enter_pni(p, fwd->dst);
		dst = fwd->dst->peer->primary;
	}
	lnet_enter_pni(p, rx->from);
	rs = &p->ln->router->sh[p->sh->ix];
	if (lnet_nid_same(&sender, &rx->from->nid))
		sender = rx->from->peer->primary;
	if (fwd) {
		fwd->rs = rs;
		fwd->flow = lnet_rtr_flow_get(rs, &sender, &dst, &spare);
	}
	lnet_rtr_spare_keep(rs, &spare);
	return fwd && fwd->flow;
}

static void fwd_count_drop(struct lnet_pass *p, const struct lnet_rx *rx)
{
	lnet_count(p->sh, drop_count);
	lnet_count_add(p->sh, drop_length, rx->payload_len);
	lnet_count(p->sh, forward_drops);
}

enum lnet_verdict lnet_forward_begin(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr)
{
	struct lnet_fwd *fwd;

	if (!fwd_prepare(p, rx, hdr)) {
		lnet_count(p->sh, rx_no_memory);
		fwd_count_drop(p, rx);
		return LNET_SKIP;
	}
	fwd = rx->fwd;
	/* The sender or the interface may have been removed while no lock was held. */
	if (READ_ONCE(p->ln->stopping) || rx->from->deleted ||
	    READ_ONCE(rx->ni->state) >= NI_STOPPING) {
		lnet_rtr_return(p, fwd);
		return LNET_CLOSE;
	}
	if (!lnet_router_forwards(p->ln)) {
		lnet_rtr_return(p, fwd);
		fwd_count_drop(p, rx);
		return LNET_SKIP;
	}
	if (!lnet_rtr_request(p, fwd)) {
		lnet_count(p->sh, forward_waits);
		return LNET_LATER;
	}
	if (lnet_rtr_fill(p, fwd))
		return LNET_RECEIVE;
	fwd_count_drop(p, rx);
	return LNET_SKIP;
}

void lnet_forward_receive(struct lnet_pass *p, struct lnet_rx *rx)
{
	if (rx->verdict != LNET_RECEIVE)
		return;
	lnet_enter(p, rx->fwd->rs->sh);
	if (!lnet_rtr_fill(p, rx->fwd)) {
		fwd_count_drop(p, rx);
		rx->verdict = LNET_SKIP;
	}
	lnet_leave(p);
}

void lnet_forward_free(struct lnet_rx *rx)
{
	struct lnet_fwd *fwd = rx->fwd;

	WARN_ON_ONCE(fwd->flow || fwd->buf);
	lnet_peer_ni_put(fwd->dst);
	kfree(fwd);
}

bool lnet_forward_is_wanted(const struct lnet_rx *rx)
{
	const struct lnet_fwd *fwd = rx->fwd;
	const struct lnet_rtr_pool *pool = &fwd->rs->pool[fwd->cls];
	const struct lnet_rtr_flow *flow = fwd->flow;
	u32 nr = READ_ONCE(pool->nr), used = READ_ONCE(pool->used);

	if (READ_ONCE(flow->dst->nr_wait[fwd->cls]) > READ_ONCE(flow->nr_wait[fwd->cls]))
		return true;
	return READ_ONCE(pool->nr_wait) > READ_ONCE(flow->sender->nr_wait[fwd->cls]) &&
	       nr - min(used, nr) < nr / 2;
}

/* ---- forwarding ------------------------------------------------------------------------------ */

static void forwarded(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_rx *rx = op->arg;

	if (rx->fwd->replying) {
		/* the router-generated reply has ended, so nothing is to be done */
	} else if (lnet_outcomes[op->outcome].err) {
		/*
		 * A request gets a router-generated reply only if it is tracked and was not
		 * delivered.
		 */
		rx->fwd->tell = lnet_forward_resendable(op) && !(op->flags & LNET_OPF_UNKNOWN) &&
				lnet_outcomes[op->outcome].delivery == LNET_DELIVERY_NOT &&
				!READ_ONCE(rx->from->ln->stopping);
		fwd_count_drop(p, rx);
	} else {
		lnet_count(p->sh, route_count);
		lnet_count_add(p->sh, route_length, rx->payload_len);
	}
	list_add_tail(&rx->deferred, &p->routed);
}

void lnet_forward_substitute(struct lnet_op *op)
{
	const struct lnet_rx *rx = op->arg;

	if (rx->fwd->src_mr && op->peer->mr && op->dst_pni->health < LNET_HEALTH_MAX)
		op->binding = LNET_BIND_NONE;
}

/*
 * Ends a loop: two routers that each route to the destination through the other would forward @op
 * forever.
 */
u64 lnet_forward_avoid(const struct lnet_op *op)
{
	const struct lnet_peer_ni *from = ((const struct lnet_rx *)op->arg)->from, *pni;
	const struct lnet_path *path;
	u64 avoid = 0;

	if (likely(!READ_ONCE(from->gw)))
		return 0;
	list_for_each_entry(pni, &op->peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (lnet_path_is_routed(path) && path->hop->peer == from->peer)
				avoid |= BIT_ULL(path->ix % LNET_MAX_PATHS);
	return avoid;
}

static void fwd_op_start(struct lnet_pass *p, struct lnet_fwd *fwd)
{
	struct lnet_op *op = fwd->rx->reply_op;
	u32 type = fwd->hdr.type;

	fwd->rx->reply_op = NULL;
	op->type = type;
	op->cls = type == LNET_MSG_ACK ? LNET_CLS_CONTROL :
		  type == LNET_MSG_REPLY ? LNET_CLS_REPLY : LNET_CLS_DATA;
	op->kind = LNET_KIND_FORWARD;
	op->binding = LNET_BIND_FIXED;
	op->portal = type == LNET_MSG_PUT ? fwd->hdr.msg.put.ptl_index :
		     type == LNET_MSG_GET ? fwd->hdr.msg.get.ptl_index : 0;
	op->len = fwd->hdr.payload_len;
	op->target = fwd->hdr.dest_nid;
	op->target_pid = fwd->hdr.dest_pid;
	op->done = forwarded;
	op->arg = fwd->rx;
	op->dst_pni = fwd->dst;
	lnet_peer_ni_hold(op->dst_pni);
	lnet_enter_pni(p, fwd->dst);
	op->peer = fwd->dst->peer;
	lnet_peer_get(op->peer);
	op->sh = p->sh;
	lnet_forward_substitute(op);
	lnet_op_start(p, op);
}

void lnet_forward_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	lnet_enter(p, &p->ln->shard[rx->hold_shard]);
	rx->ni->sh[rx->hold_shard].holds--;
	if (how == LNET_OK) {
		lnet_rx_set_state(rx, RX_FORWARD);
		fwd_op_start(p, rx->fwd);
		return;
	}
	fwd_count_drop(p, rx);
	list_add_tail(&rx->deferred, &p->routed);
}

void lnet_forward_hdr(const struct lnet_op *op, struct lnet_hdr *hdr)
{
	const struct lnet_rx *rx = op->arg;
	struct lnet_nid dest_nid = hdr->dest_nid;

	*hdr = rx->fwd->hdr;
	hdr->dest_nid = dest_nid;
}

void lnet_forward_payload(const struct lnet_op *op, struct lnet_buf *buf)
{
	const struct lnet_rx *rx = op->arg;

	*buf = rx->into;
}

bool lnet_forward_resendable(const struct lnet_op *op)
{
	return op->portal >= LNET_PORTAL_TRACKED;
}

/*
 * A tracked request need not wait here, because its originator can use other paths. An originator
 * with stock LNet detects the failure only by its timeout, so its messages wait as long as
 * permitted.
 */
bool lnet_forward_stuck(const struct lnet_op *op, const struct lnet_path *path)
{
	return lnet_forward_resendable(op) && !(op->flags & LNET_OPF_UNKNOWN) &&
	       (!path || !lnet_ni_has_link(path->ni));
}

/* ---- the end of a message -------------------------------------------------------------------- */

/* Changes the request header @hdr to the header of a rejection that the destination would send. */
static void router_reject(struct lnet_hdr *hdr)
{
	struct lnet_handle handle = hdr->msg.get.return_wmd;
	u64 bits = hdr->msg.get.match_bits;

	if (hdr->type == LNET_MSG_PUT) {
		handle = hdr->msg.put.ack_wmd;
		bits = hdr->msg.put.match_bits;
	}
	swap(hdr->src_nid, hdr->dest_nid);
	swap(hdr->src_pid, hdr->dest_pid);
	hdr->type = LNET_MSG_ACK;
	hdr->payload_len = 0;
	memset(&hdr->msg, 0, sizeof(hdr->msg));
	hdr->msg.ack.dst_wmd = handle;
	hdr->msg.ack.match_bits = bits;
	hdr->msg.ack.mlength = LNET_REJECTED + LNET_REJECTED_BY_ROUTER;
}

/*
 * Sends a router-generated reply instead of forwarding the request. False: not possible, so the
 * request times out.
 */
static bool fwd_reject(struct lnet_pass *p, struct lnet_rx *rx)
{
	struct lnet_fwd *fwd = rx->fwd;
	struct lnet_peer_ni *src;

	fwd->tell = 0;
	lnet_leave(p);
	src = lnet_peer_ni_lookup(p->ln, &fwd->hdr.src_nid);
	rx->reply_op = src ? lnet_op_new() : NULL;
	if (!rx->reply_op) {
		lnet_peer_ni_put(src);
		return false;
	}
	router_reject(&fwd->hdr);
	lnet_peer_ni_put(fwd->dst);
	fwd->dst = src;
	fwd->replying = 1;
	fwd_op_start(p, fwd);
	return true;
}

void lnet_pass_routed(struct lnet_pass *p)
{
	while (!list_empty(&p->routed)) {
		struct lnet_rx *rx = list_first_entry(&p->routed, struct lnet_rx, deferred);
		struct lnet_rtr_buf *surplus;

		list_del_init(&rx->deferred);
		if (rx->fwd->tell && fwd_reject(p, rx))
			continue;
		lnet_enter(p, rx->fwd->rs->sh);
		surplus = lnet_rtr_return(p, rx->fwd);
		if (surplus) {
			lnet_leave(p);
			kvfree(surplus);
		}
		lnet_rx_free(p, rx);
	}
}

/* [sh] Drops the message, which is waiting for a credit or a buffer. */
static void give_up(struct lnet_pass *p, struct lnet_rx *rx)
{
	fwd_count_drop(p, rx);
	lnet_rtr_return(p, rx->fwd);
	rx->verdict = LNET_SKIP;
}

bool lnet_forward_gone(struct lnet_pass *p, struct lnet_rx *rx)
{
	lnet_enter(p, rx->fwd->rs->sh);
	if (rx->received)
		return false;
	give_up(p, rx);
	lnet_rx_free(p, rx);
	return true;
}

static void expire(struct lnet_pass *p, struct lnet_rtr_shard *rs, u64 before_ns)
{
	while (!list_empty(&rs->waiting)) {
		struct lnet_rx *rx = list_first_entry(&rs->waiting, struct lnet_fwd, all)->rx;

		if (rx->arrived_ns > before_ns)
			return;
		give_up(p, rx);
		rx->received = 1;
		list_add_tail(&rx->deferred, &p->receive);
	}
}

void lnet_router_timer(struct lnet_pass *p, struct lnet_timer *t)
{
	struct lnet_rtr_shard *rs = container_of(t, struct lnet_rtr_shard, timer);

	expire(p, rs, p->now_ns - READ_ONCE(p->ln->tun.transaction_timeout));
	lnet_rtr_scan(p, rs);
	lnet_rtr_arm(rs);
}

void lnet_router_drop_waiting(struct lnet_pass *p, struct lnet_rtr_shard *rs)
{
	expire(p, rs, U64_MAX);
}
