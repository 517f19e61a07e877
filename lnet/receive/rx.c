/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Received messages: checks of source and target, dispatch by type, and requests without a request
 * ID (untracked requests). Also two steps of the deferred work of a pass: one makes drivers receive
 * payloads, the other aborts receives.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "receive/receive.h"
#include "shard/hooks.h"

static const u8 edges[LNET_NR_RX_STATES][LNET_NR_RX_STATES] = {
#define STATE(s, pc, buf)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/rx.def"
#undef STATE
#undef EDGE
};

void lnet_rx_set_state(struct lnet_rx *rx, enum lnet_rx_state state)
{
	if (rx->state == state)
		return;
	WARN_ON_ONCE(!edges[rx->state][state]);
	lnet_edge(rx, rx, rx->state, state);
	rx->state = state;
}

#define RX_KEEP 128	/* most unused messages (rx) in the pool of a shard */
#define RX_NEEDS 2	/* largest number of operations and events that one receive takes */

static struct lnet_rx *rx_pop(struct lnet_shard *sh)
{
	struct lnet_rx *rx;

	if (list_empty(&sh->rxs.free))
		return NULL;
	rx = list_first_entry(&sh->rxs.free, struct lnet_rx, link);
	list_del_init(&rx->link);
	sh->rxs.nr--;
	return rx;
}

struct lnet_rx *lnet_rx_get(struct lnet_pass *p)
{
	struct lnet_rx *rx;

	lnet_enter(p, p->sh ? p->sh : &p->ln->shard[0]);
	rx = rx_pop(p->sh);
	if (!rx || p->sh->ops.nr < RX_NEEDS || p->sh->evts.nr < RX_NEEDS)
		lnet_leave(p);		/* lnet_enter() refills the pools */
	if (!rx)
		rx = kzalloc(sizeof(*rx), GFP_NOFS);
	if (!rx) {
		lnet_enter(p, &p->ln->shard[0]);
		lnet_count(p->sh, rx_no_memory);
		return NULL;
	}
	INIT_LIST_HEAD(&rx->link);
	INIT_LIST_HEAD(&rx->stop);
	INIT_LIST_HEAD(&rx->deferred);
	return rx;
}

void lnet_rx_free(struct lnet_pass *p, struct lnet_rx *rx)
{
	struct lnet_ni *ni = rx->keeps_ni ? rx->ni : NULL;
	struct lnet_shard *sh = p->sh;

	lnet_rx_set_state(rx, RX_DONE);
	if (rx->stopping) {	/* lnet_pass_stops() still uses it */
		WRITE_ONCE(rx->dead, 1);
		return;
	}
	if (rx->evt)
		lnet_evt_free(rx->evt);
	if (rx->reply_op && sh)
		lnet_op_recycle(sh, rx->reply_op);
	else if (rx->reply_op)
		lnet_op_free(rx->reply_op);
	if (rx->sbuf)
		lnet_sbuf_put(rx->sbuf);
	if (rx->spare)
		kfree(rx->spare);
	if (rx->fwd)
		p->ln->hooks->forward_rx.free(rx);
	if (unlikely(rx->src != rx->from))
		lnet_peer_ni_put(rx->src);
	if (rx->from)
		lnet_peer_ni_put(rx->from);
	if (unlikely(ni))
		lnet_ni_put(ni);
	if (!sh || sh->rxs.nr >= RX_KEEP) {
		kfree(rx);
		return;
	}
	memset(rx, 0, sizeof(*rx));
	list_add(&rx->link, &sh->rxs.free);
	sh->rxs.nr++;
}

void lnet_rx_pool_fini(struct lnet_shard *sh)
{
	struct lnet_rx *rx;

	while ((rx = rx_pop(sh)))
		kfree(rx);
}

enum lnet_verdict lnet_rx_drop(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome why)
{
	lnet_stat_drop(p->sh, rx->ni, rx->from, rx->type, rx->payload_len);
	if (why == LNET_NO_MATCH)
		lnet_count(p->sh, no_match);
	else if (why == LNET_TOO_LONG)
		lnet_count(p->sh, too_long);
	else if (why == LNET_NO_MEMORY)
		lnet_count(p->sh, rx_no_memory);
	return LNET_SKIP;
}

/* ---- helpers shared with dedup.c and reply.c ------------------------------------------------- */

enum lnet_verdict lnet_rx_receive(struct lnet_pass *p, struct lnet_rx *rx)
{
	WARN_ON_ONCE(rx->into.len > rx->payload_len);
	rx->want = min(rx->into.len, rx->payload_len);	/* no more was sent */
	rx->verdict = LNET_RECEIVE;
	lnet_rx_set_state(rx, RX_RECEIVE);
	rx->ni->sh[p->sh->ix].holds++;
	rx->hold_shard = p->sh->ix;
	return LNET_RECEIVE;
}

enum lnet_verdict lnet_rx_queue_lazy(struct lnet_pass *p, struct lnet_rx *rx)
{
	lnet_count(p->sh, lazy_waits);
	lnet_rx_set_state(rx, RX_WAIT_MATCH);
	lnet_job_schedule(p->ln, &p->ln->shard[0].lazy_ns,
			  p->now_ns + READ_ONCE(p->ln->tun.transaction_timeout));
	return LNET_LATER;
}

void lnet_rx_defer(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v)
{
	rx->verdict = v;
	rx->received = 1;
	list_add_tail(&rx->deferred, &p->receive);
}

void lnet_rx_proven(const struct lnet_pass *p, const struct lnet_rx *rx)
{
	if (unlikely(rx->claimed))
		WRITE_ONCE(rx->src->last_rx_ns, p->now_ns);
}

struct lnet_path *lnet_rx_path(const struct lnet_rx *rx)
{
	return lnet_path_via(rx->src, rx->ni, rx->from);
}

struct lnet_evt *lnet_rx_event(struct lnet_rx *rx, enum lnet_event_kind kind)
{
	struct lnet_evt *e = rx->evt;
	struct lnet_event *ev = &e->ev;

	rx->evt = NULL;
	/* the following code sets all fields of the event but those that lnet_md_post() sets */
	ev->kind = kind;
	ev->final = true;
	ev->delivery_unknown = false;
	ev->status = 0;
	ev->outcome = LNET_OK;
	ev->op_ptr = NULL;
	ev->latency_ns = 0;
	ev->portal = rx->portal;
	ev->match_bits = rx->match_bits;
	ev->hdr_data = rx->hdr_data;
	ev->rlength = rx->rlength;
	ev->mlength = rx->mlength;
	ev->offset = rx->offset;
	ev->source = rx->src_nid;
	ev->sender = rx->from->nid;
	ev->target.nid = rx->dest_nid;
	ev->target.pid = rx->ni->ln->pid;
	ev->initiator.pid = rx->src_pid;
	ev->initiator.nid = rx->src->peer->primary;
	return e;
}

struct lnet_op *lnet_reply_new(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_op_type type)
{
	struct lnet_op *op = rx->reply_op ? rx->reply_op : lnet_op_take(p->sh);

	rx->reply_op = NULL;
	if (!op)
		return NULL;
	op->type = type;
	op->cls = type == LNET_OP_ACK ? LNET_CLS_CONTROL : LNET_CLS_REPLY;
	op->peer = rx->src->peer;
	lnet_peer_get(op->peer);
	op->sh = READ_ONCE(rx->src->sh);
	op->dst_pni = rx->src;
	lnet_peer_ni_hold(op->dst_pni);
	if (unlikely(rx->src != rx->from)) {
		op->via = rx->from;
		lnet_peer_ni_hold(op->via);
	}
	op->src_ni = rx->ni;
	lnet_ni_get(op->src_ni);
	op->kind = LNET_KIND_STOCK_REPLY;
	op->binding = LNET_BIND_FIXED;
	op->target = rx->src_nid;
	op->target_pid = rx->src_pid;
	op->wire = rx->handle;
	op->match_bits = rx->match_bits;
	return op;
}

/* ---- requests under stock rules -------------------------------------------------------------- */

static void get_replied(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_evt *e = op->arg;
	int err = lnet_outcomes[op->outcome].err;

	e->ev.status = err;
	e->ev.outcome = op->outcome;
	e->ev.delivery_unknown = err && (op->flags & LNET_OPF_UNKNOWN);
	lnet_md_post(p, op->md, e, true);
}

bool lnet_rx_prealloc(struct lnet_pass *p, struct lnet_rx *rx)
{
	if (!rx->evt)
		rx->evt = lnet_evt_take(p->sh);
	return rx->evt;
}

static enum lnet_verdict plain_begin(struct lnet_pass *p, struct lnet_rx *rx)
{
	enum lnet_outcome why = LNET_NO_MATCH;
	enum lnet_verdict v;
	struct lnet_op *op;

	if (!lnet_rx_prealloc(p, rx))
		return lnet_rx_drop(p, rx, LNET_NO_MEMORY);
	if (rx->type == LNET_OP_GET || rx->wants_ack) {
		rx->reply_op = lnet_op_take(p->sh);
		if (!rx->reply_op)
			return lnet_rx_drop(p, rx, LNET_NO_MEMORY);
	}
	v = lnet_match(p, rx, &why);
	if (v == LNET_SKIP)
		return lnet_rx_drop(p, rx, why);
	if (v == LNET_LATER)
		return lnet_rx_queue_lazy(p, rx);
	if (rx->type == LNET_OP_PUT) {
		rx->into = lnet_md_buf(rx->md, rx->offset, rx->mlength);
		return lnet_rx_receive(p, rx);
	}
	op = lnet_reply_new(p, rx, LNET_OP_REPLY);
	op->md = rx->md;
	op->md_off = rx->offset;
	op->len = rx->mlength;
	op->arg = lnet_rx_event(rx, LNET_EVENT_GET);
	op->done = get_replied;
	lnet_op_defer(p, op);
	return LNET_SKIP;
}

/*
 * The receive of the payload of @rx ended. @rx is an untracked PUT of a program, or a push: a PUT
 * of a peer's ping info.
 */
static void plain_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	struct lnet_md *md = rx->md;	/* NULL: a push */
	struct lnet_evt *e;

	lnet_enter(p, &p->ln->shard[rx->hold_shard]);
	rx->ni->sh[rx->hold_shard].holds--;
	if (how == LNET_OK && rx->wants_ack && !(md && md->options & LNET_MD_ACK_DISABLE)) {
		struct lnet_op *op = lnet_reply_new(p, rx, LNET_OP_ACK);

		op->mlength = rx->mlength;
		lnet_op_defer(p, op);
	}
	if (md) {
		e = lnet_rx_event(rx, LNET_EVENT_PUT);
		e->ev.status = how == LNET_OK ? 0 : -EIO;
		e->ev.outcome = how;
		lnet_md_post(p, md, e, true);
	} else if (how == LNET_OK) {
		lnet_enter_pni(p, rx->src);
		p->ln->hooks->push_taken(p, rx);
	}
	lnet_rx_free(p, rx);
}

/* ---- the reserved portal: pushes, into small buffers ----------------------------------------- */

static enum lnet_verdict push_begin(struct lnet_pass *p, struct lnet_rx *rx)
{
	u32 len = min(rx->payload_len, READ_ONCE(p->ln->disc.push_len));

	rx->reply_op = rx->wants_ack ? lnet_op_take(p->sh) : NULL;
	lnet_leave(p);
	rx->sbuf = lnet_sbuf_new(len);
	if (rx->wants_ack && !rx->reply_op)
		rx->reply_op = lnet_op_new();
	lnet_enter_pni(p, rx->src);
	if (!rx->sbuf || (rx->wants_ack && !rx->reply_op))
		return lnet_rx_drop(p, rx, LNET_NO_MEMORY);
	rx->mlength = len;
	rx->into = (struct lnet_buf){ .frags = &rx->sbuf->frag, .nr = 1, .len = len };
	return lnet_rx_receive(p, rx);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static enum lnet_verdict take_request(struct lnet_pass *p, struct lnet_rx *rx,
				      const struct lnet_hdr *hdr)
{
	if (rx->type == LNET_OP_PUT) {
		rx->handle = hdr->msg.put.ack_wmd;
		rx->match_bits = hdr->msg.put.match_bits;
		rx->hdr_data = hdr->msg.put.hdr_data;
		rx->portal = hdr->msg.put.ptl_index;
		rx->offset = hdr->msg.put.offset;
		rx->rlength = rx->payload_len;
		rx->wants_ack = !lnet_handle_is_none(&rx->handle);
	} else {
		rx->handle = hdr->msg.get.return_wmd;
		rx->match_bits = hdr->msg.get.match_bits;
		rx->portal = hdr->msg.get.ptl_index;
		rx->offset = hdr->msg.get.src_offset;
		rx->rlength = hdr->msg.get.sink_length;
	}
	if (unlikely(lnet_replies_full(p, rx->from)))
		return lnet_rx_drop(p, rx, LNET_CANCELED);
	if (rx->portal >= 2 * LNET_PORTAL_TRACKED)
		return lnet_rx_drop(p, rx, LNET_NO_MATCH);
	if (rx->portal == LNET_PORTAL_TRACKED && rx->match_bits == LNET_OPEN_MATCHBITS &&
	    rx->type == LNET_OP_GET)
		return lnet_session_open(p, rx, hdr);
	if (rx->portal == LNET_PORTAL_TRACKED && rx->match_bits == LNET_CONFIRM_MATCHBITS &&
	    rx->type == LNET_OP_PUT)
		return lnet_dedup_confirm(p, rx);
	if (rx->portal >= LNET_PORTAL_TRACKED)
		return lnet_dedup_begin(p, rx);
	if (rx->portal == LNET_PORTAL_RESERVED && rx->match_bits == LNET_PING_MATCHBITS)
		return rx->type == LNET_OP_GET ? p->ln->hooks->ping_reply(p, rx, hdr)
					       : push_begin(p, rx);
	return plain_begin(p, rx);
}

#define FORWARD 1	/* not a verdict */

/* Returns 0 if the message is for this node, FORWARD if it is to be forwarded, else the verdict. */
static int rx_check_address(struct lnet_pass *p, const struct lnet_ni *ni,
			    const struct lnet_hdr *hdr)
{
	if (likely(lnet_nid_same(&hdr->dest_nid, &ni->nid)) || ni == p->ln->lo)
		return 0;
	if (lnet_nid_net(&hdr->dest_nid) == ni->net || lnet_nid_is_local(p->ln, &hdr->dest_nid)) {
		lnet_count(p->sh, bad_header);
		return LNET_CLOSE;
	}
	if (p->ln->hooks->forward_rx.is_accepted(p->ln))
		return FORWARD;
	lnet_count(p->sh, not_for_me);
	return LNET_SKIP;
}

/*
 * True if a router generated the reply @hdr. In this case, @hdr has the source NID of another node,
 * which did not send the reply.
 */
static bool is_routers_word(const struct lnet_hdr *hdr)
{
	return hdr->type == LNET_MSG_ACK &&
	       hdr->msg.ack.mlength == LNET_REJECTED + LNET_REJECTED_BY_ROUTER;
}

/*
 * [sh] Decides about @rx if the sender's NID is not the source NID. Drops @rx and returns true if
 * the source NID may be forged. @rx is not dropped if another NID of the source node sent it, or if
 * a gateway of the route table sent it.
 *
 * Routes may be asymmetric, so any peer may send a message for this node whose source is on a
 * remote net. The node accepts such a message. Messages to @forward are always checked, because the
 * next hop trusts this node.
 *
 * If no gateway sent @rx, sets rx->claimed: the sender only claims the source NID. May release the
 * lock and take it again.
 */
static bool drop_forged(struct lnet_pass *p, struct lnet_rx *rx, bool forward)
{
	struct lnet_peer_ni *src;
	bool same;

	if (lnet_gateway_sent(p, rx))
		return false;
	rx->claimed = 1;
	if (!forward && !lnet_net_is_local(p->ln, lnet_nid_net(&rx->src_nid)))
		return false;
	src = lnet_peer_ni_lookup(p->ln, &rx->src_nid);
	same = src && READ_ONCE(src->peer) == rx->from->peer;
	lnet_peer_ni_put(src);
	if (same)
		return false;
	if (rx->type == LNET_MSG_ACK || rx->type == LNET_MSG_REPLY)
		lnet_count(p->sh, unexpected_reply);
	else
		lnet_count(p->sh, forged_source);
	lnet_rx_drop(p, rx, LNET_CANCELED);
	return true;
}

/*
 * Handles a message whose source NID is not that of rx->from: locks the shard of the source. False:
 * @rx was dropped.
 */
static bool came_routed(struct lnet_pass *p, struct lnet_rx *rx, bool routers_word)
{
	struct lnet_peer *claimer;
	struct lnet_peer_ni *src;

	if (drop_forged(p, rx, false))
		return false;
	/* read again, because drop_forged() may have released the lock */
	claimer = rx->from->peer;
	lnet_peer_get(claimer);
	lnet_leave(p);
	src = lnet_peer_ni_claimed(p->ln, &rx->src_nid, claimer);
	lnet_peer_put(claimer);
	lnet_enter_pni(p, src ? src : rx->from);
	if (!src || lnet_nid_is_lo(&src->nid)) {	/* no other node can have the NID 0@lo */
		lnet_peer_ni_put(src);
		lnet_rx_drop(p, rx, LNET_CANCELED);
		return false;
	}
	if (src->peer == rx->from->peer) {	/* another NID of the sender */
		rx->claimed = 0;
		lnet_peer_ni_put(src);
		rx->path = lnet_rx_path(rx);
		return true;
	}
	rx->src = src;
	rx->path = lnet_rx_path(rx);
	if (rx->path && !routers_word)
		lnet_path_alive(p->sh, rx->path, p->now_ns, 0);
	if (!routers_word && !rx->claimed)
		src->last_rx_ns = p->now_ns;
	if (rx->path || !READ_ONCE(p->ln->tun.drop_asym_route) ||
	    lnet_route_find(p->ln, lnet_nid_net(&rx->src_nid), rx->from->peer))
		return true;
	lnet_count(p->sh, asym_drops);
	lnet_rx_drop(p, rx, LNET_CANCELED);
	return false;
}

/*
 * [sh] Called if the source NID of @rx is not the NID of the connection. True if the sender cannot
 * have the source NID: no host can have the NID, or the NID is of this node. Only the loopback
 * driver receives messages of this node, so its messages are not checked.
 */
static bool has_false_source(struct lnet_pass *p, const struct lnet_rx *rx)
{
	const struct lnet_nid *src = &rx->src_nid;
	bool is_false = rx->ni != p->ln->lo &&
			(!lnet_nid_is_host(src) || lnet_nid_is_local(p->ln, src) ||
			 (lnet_nid_is_own_host(src) && !lnet_nid_is_own_host(&rx->from->nid)));

	if (is_false)
		lnet_count(p->sh, false_source);
	return is_false;
}

static enum lnet_verdict rx_dispatch(struct lnet_pass *p, struct lnet_rx *rx,
				     const struct lnet_hdr *hdr)
{
	bool is_sender = lnet_nid_same(&rx->src_nid, &rx->from->nid);
	int v = rx_check_address(p, rx->ni, hdr);

	if (v && v != FORWARD) {
		lnet_stat_drop(p->sh, rx->ni, rx->from, hdr->type, hdr->payload_len);
		return v;
	}
	if (unlikely(!is_sender) && has_false_source(p, rx))
		return lnet_rx_drop(p, rx, LNET_CANCELED);
	/* A router creates no peer entry for a destination NID that no host can have. */
	if (unlikely(v == FORWARD) && (!lnet_nid_is_host(&hdr->dest_nid) ||
				       lnet_nid_is_own_host(&hdr->dest_nid))) {
		lnet_count(p->sh, false_target);
		return lnet_rx_drop(p, rx, LNET_CANCELED);
	}
	if (unlikely(READ_ONCE(p->ln->fault)) && p->ln->hooks->fault_drops(p, rx, hdr)) {
		lnet_count(p->sh, fault_drops);
		return lnet_rx_drop(p, rx, LNET_FAULT);
	}
	rx->path = lnet_path_find(rx->from, rx->ni);
	if (rx->path)
		lnet_path_alive(p->sh, rx->path, p->now_ns, 0);
	rx->from->last_rx_ns = p->now_ns;
	lnet_stat_recv(p->sh, rx->ni, rx->from, rx->type, rx->payload_len);
	if (READ_ONCE(p->ln->stopping) || rx->from->deleted ||
	    READ_ONCE(rx->ni->state) >= NI_STOPPING)
		return LNET_CLOSE;
	if (unlikely(rx->from->gw))
		lnet_gateway_alive(p, rx, is_routers_word(hdr));
	if (v == FORWARD && unlikely(!is_sender) && drop_forged(p, rx, true))
		return LNET_SKIP;
	if (v == FORWARD)
		return p->ln->hooks->forward_rx.begin(p, rx, hdr);
	if (unlikely(!is_sender) && !came_routed(p, rx, is_routers_word(hdr)))
		return LNET_SKIP;
	switch (hdr->type) {
	case LNET_MSG_ACK:
		return lnet_ack_take(p, rx, hdr);
	case LNET_MSG_REPLY:
		return lnet_reply_take(p, rx, hdr);
	case LNET_MSG_PUT:
	case LNET_MSG_GET:
		return take_request(p, rx, hdr);
	default:
		return LNET_CLOSE;
	}
}

static void read_header(struct lnet_rx *rx, struct lnet_ni *ni, const struct lnet_hdr *hdr,
			struct lnet_peer_ni *from)
{
	rx->ni = ni;
	rx->from = rx->src = from;
	rx->type = hdr->type;
	rx->payload_len = hdr->payload_len;
	rx->src_nid = hdr->src_nid;
	rx->dest_nid = hdr->dest_nid;
	rx->src_pid = hdr->src_pid;
	rx->claimed = 0;
}

bool lnet_rx_needed(const struct lnet_ni *ni, const struct lnet_hdr *hdr)
{
	return hdr->type != LNET_MSG_ACK || !lnet_nid_same(&hdr->dest_nid, &ni->nid);
}

/*
 * Processes an ACK. @rx is on the stack, because the node does not keep an ACK. Fields of @rx that
 * nobody has written are not read.
 */
static noinline enum lnet_verdict ack_begin(struct lnet_pass *p, struct lnet_ni *ni,
					    const struct lnet_hdr *hdr, struct lnet_peer_ni *from)
{
	struct lnet_rx rx __uninitialized;
	enum lnet_verdict v;

	if (WARN_ON_ONCE(lnet_rx_needed(ni, hdr)))
		return LNET_SKIP;
	lnet_enter_pni(p, from);
	read_header(&rx, ni, hdr, from);
	v = rx_dispatch(p, &rx, hdr);
	if (unlikely(rx.src != from))
		lnet_peer_ni_put(rx.src);
	return v;
}

enum lnet_verdict lnet_rx_begin(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_rx *rx,
				const struct lnet_hdr *hdr, struct lnet_peer_ni *from)
{
	enum lnet_verdict v;

	if (!rx)
		return ack_begin(p, ni, hdr, from);
	lnet_enter_pni(p, from);
	lnet_peer_ni_hold(from);
	read_header(rx, ni, hdr, from);
	rx->arrived_ns = p->now_ns;
	rx->verdict = LNET_LATER;
	v = rx_dispatch(p, rx, hdr);
	if (v == LNET_SKIP || v == LNET_CLOSE) {
		lnet_rx_free(p, rx);
		return v;
	}
	if (v == LNET_LATER) {
		/*
		 * @rx waits for memory, a router credit or a router buffer. Another thread ends
		 * this wait, perhaps after the NI was deleted, so @rx takes a reference to the NI.
		 */
		rx->keeps_ni = 1;	/* lnet_rx_free() drops the reference */
		lnet_ni_get(ni);
	}
	rx->verdict = v;
	return v;
}

void lnet_rx_done(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome how)
{
	if (unlikely(rx->spoil) && how == LNET_OK)
		p->ln->hooks->fault_spoil(rx);
	if (unlikely(rx->fwd))
		p->ln->hooks->forward_rx.done(p, rx, how);
	else if (rx->get)
		lnet_reply_done(p, rx, how);
	else if (rx->tracked)
		lnet_dedup_done(p, rx, how);
	else
		plain_done(p, rx, how);
}

void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why)
{
	if (rx->tracked) {
		lnet_dedup_matched(p, rx, v, why);
		return;
	}
	lnet_enter_pni(p, rx->from);
	if (v == LNET_RECEIVE) {
		rx->into = lnet_md_buf(rx->md, rx->offset, rx->mlength);
		lnet_rx_receive(p, rx);
	} else {
		lnet_rx_drop(p, rx, why);
	}
	lnet_rx_defer(p, rx, v);
	lnet_leave(p);
}

bool lnet_rx_gone(struct lnet_pass *p, struct lnet_rx *rx)
{
	if (rx->fwd)
		return p->ln->hooks->forward_rx.gone(p, rx);
	if (rx->tracked)
		return lnet_dedup_gone(p, rx);
	lnet_leave(p);
	if (!lnet_match_unpark(p->ln, rx))
		return false;
	lnet_enter_pni(p, rx->from);
	lnet_rx_drop(p, rx, LNET_PATH_LOST);
	lnet_rx_free(p, rx);
	return true;
}

/* ---- steps of a pass ------------------------------------------------------------------------- */

/*
 * Calls receive() of the drivers. The pass has a reference to the NI, because another thread may
 * complete the message during receive().
 */
void lnet_pass_receives(struct lnet_pass *p)
{
	while (!list_empty(&p->receive)) {
		struct lnet_rx *rx = list_first_entry(&p->receive, struct lnet_rx, deferred);
		struct lnet_ni *ni = rx->ni;
		bool skip;

		lnet_ni_get(ni);
		list_del_init(&rx->deferred);
		if (unlikely(rx->fwd))
			p->ln->hooks->forward_rx.receive(p, rx);
		skip = rx->verdict == LNET_SKIP;
		ni->ops->receive(p, ni, rx);
		if (skip)
			lnet_rx_free(p, rx);
		lnet_leave(p);
		lnet_ni_put(ni);
	}
}

void lnet_pass_stops(struct lnet_pass *p)
{
	while (!list_empty(&p->stop)) {
		struct lnet_rx *rx = list_first_entry(&p->stop, struct lnet_rx, stop);
		struct lnet_shard *sh = &p->ln->shard[rx->hold_shard];
		struct lnet_ni *ni;

		list_del_init(&rx->stop);
		lnet_enter(p, sh);
		ni = rx->dead ? NULL : rx->ni;	/* NULL: the receive has ended */
		if (ni)
			lnet_ni_get(ni);
		lnet_leave(p);
		if (ni)
			ni->ops->rx_stop(p, ni, rx);
		lnet_enter(p, sh);
		rx->stopping = 0;
		if (rx->dead)
			lnet_rx_free(p, rx);
		lnet_leave(p);
		lnet_ni_put(ni);
	}
}
