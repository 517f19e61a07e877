/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lifetime of an operation: its states and timer, checks of unresponsive paths, hedges, its end
 * and events.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "shard/trace.h"

/* time from the deadline of an attempt until the core cancels it, if a driver has it */
#define ABORT_GRACE_NS 5000000ULL
#define ABORT_REPEAT_NS 10000000ULL
/*
 * Time from the hand-over to a driver to the first check of an attempt. Most attempts have ended by
 * then.
 */
#define QUEUED_NS 4000000ULL
/*
 * Number of response timeouts. On a path that responds, a reply is overdue after this time. If a
 * path gives no response for this time, the hedge budget does not limit the hedge.
 */
#define OVERDUE_TIMES 16
/*
 * Maximum number of hedges of an operation. One hedge is not enough, because the path of the hedge
 * may also fail before the reply.
 */
#define HEDGES_MAX 3
/* If a path gave no response for a time T, the next check follows after T / LATE_PART. */
#define LATE_PART 8

#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
static const u8 edges[LNET_NR_OP_STATES][LNET_NR_OP_STATES] = {
#include "model/states/op.def"
};
static const u8 id_edges[LNET_NR_ID_STATES][LNET_NR_ID_STATES] = {
#include "model/states/request_id.def"
};
#undef STATE
#undef EDGE

void lnet_op_set_state(struct lnet_op *op, enum lnet_op_state state)
{
	if (op->state == state)
		return;
	WARN_ON_ONCE(!edges[op->state][state]);
	if (lnet_recs(op->sh))
		op->sh->rec->ops->note_op(op->sh, 0, LNET_RK_STATE, op, op->state, state);
	lnet_edge(op, op, op->state, state);
	op->state = state;
}

void lnet_op_set_id(struct lnet_op *op, enum lnet_id_state state)
{
	WARN_ON_ONCE(!id_edges[op->id_state][state]);
	lnet_edge_untraced(id, op->id_state, state);
	op->id_state = state;
}

static bool with_driver(const struct lnet_att *att)
{
	return att && (att->state == ATT_WIRE || att->state == ATT_POSTED);
}

/* True if the core knows that @att was handed to the fabric. */
static bool is_awaiting_reply(const struct lnet_att *att)
{
	return att && (att->state == ATT_POSTED || att->state == ATT_AWAIT_REPLY);
}

static bool is_out(const struct lnet_att *att)
{
	return with_driver(att) || is_awaiting_reply(att);
}

/* ---- the timer ------------------------------------------------------------------------------- */

/*
 * Returns the next time at which @att needs a check. If @att awaits its reply and may not be
 * retransmitted, there is none: only op->deadline_ns applies.
 */
static u64 att_next(const struct lnet_pass *p, const struct lnet_att *att)
{
	if (!lnet_att_is_live(att))
		return U64_MAX;
	if (att->state == ATT_AWAIT_REPLY)
		return lnet_op_may_resend(p, att->op, true) ? att->deadline_ns : U64_MAX;
	return with_driver(att) ? att->deadline_ns + ABORT_GRACE_NS : U64_MAX;
}

static u64 op_next(const struct lnet_pass *p, const struct lnet_op *op)
{
	u64 next = op->deadline_ns;

	if (op->state == OP_BACKOFF)
		return min(next, op->suspect_ns);
	next = min(next, min(att_next(p, &op->first), att_next(p, op->hedge)));
	if (lnet_op_is_request(op) && (lnet_att_is_live(&op->first) || lnet_att_is_live(op->hedge)))
		next = min(next, op->suspect_ns);
	return next;
}

/*
 * Never moves the timer to a later time. If the timer expires too early, the next time is computed
 * again.
 */
void lnet_op_arm(struct lnet_pass *p, struct lnet_op *op)
{
	u64 next = op_next(p, op);

	if (list_empty(&op->timer.link) || next < op->timer.when_ns)
		lnet_timer_set(&p->sh->wheel, &op->timer, next);
}

void lnet_op_arm_later(struct lnet_pass *p, struct lnet_op *op, u64 next_ns)
{
	u64 check_ns = p->now_ns + QUEUED_NS;

	if (list_empty(&op->timer.link) && check_ns <= next_ns)
		lnet_timer_queue(&p->sh->wheel, &op->timer, check_ns);
	else
		lnet_op_arm(p, op);
}

void lnet_op_note_unknown(struct lnet_op *op)
{
	/* after these outcomes, the receiver also rejects all other attempts of the request */
	bool rejected = op->outcome == LNET_NO_MATCH || op->outcome == LNET_TOO_LONG ||
			op->outcome == LNET_NOT_PERMITTED;

	if (!lnet_op_is_over(op) || !rejected)
		op->flags |= LNET_OPF_UNKNOWN;
}

/*
 * Notes that the delivery of @op is unknown if an attempt was handed to the fabric. For an attempt
 * in ATT_WIRE, the outcome from the driver decides later.
 */
void lnet_op_note_abort(struct lnet_op *op)
{
	if (is_awaiting_reply(&op->first) || is_awaiting_reply(op->hedge))
		op->flags |= LNET_OPF_UNKNOWN;
}

/*
 * The deadline of @op has passed. If its delivery is unknown, the paths of its attempts without a
 * reply lose health.
 */
static void op_deadline(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_att *att;

	if (!(op->flags & LNET_OPF_STARTED) ||
	    (!(op->flags & LNET_OPF_UNKNOWN) && !is_out(&op->first) && !is_out(op->hedge))) {
		lnet_op_finish(p, op, LNET_LOCAL_TIMEOUT);
		return;
	}
	lnet_op_note_abort(op);
	if (op->flags & LNET_OPF_RESPONSE_COUNTED)
		lnet_count(p->sh, response_timeout_count);
	lnet_op_for_each_att(att, op)
		if (att->state == ATT_AWAIT_REPLY && op->kind != LNET_KIND_RECOVERY)
			lnet_health_no_response(p->sh, att);
	if (lnet_op_is_tracked(op))
		lnet_session_doubt(p, op->peer);
	lnet_op_finish(p, op, LNET_REMOTE_TIMEOUT);
}

static bool may_hedge(const struct lnet_pass *p, const struct lnet_op *op)
{
	return READ_ONCE(p->ln->tun.hedge) && READ_ONCE(p->ln->tun.retry_count) &&
	       op->hedges < HEDGES_MAX && op->kind != LNET_KIND_RECOVERY &&
	       (lnet_op_is_tracked(op) || lnet_op_is_idempotent(op));
}

u64 lnet_op_response_timeout(const struct lnet_pass *p, const struct lnet_op *op,
			     const struct lnet_path *path)
{
	u64 ns = lnet_path_response_timeout(p->ln, path);

	return lnet_op_is_acked_unseen(op) ? ns + READ_ONCE(p->ln->tun.confirm_delay) : ns;
}

/*
 * Returns the time without response after which a path counts as broken: OVERDUE_TIMES the response
 * timeout. On a slow path the time is shorter, so that one attempt timeout is enough for a request
 * and its hedges.
 */
static u64 dead_after(const struct lnet_pass *p, const struct lnet_op *op, u64 patience_ns)
{
	u64 tries = max_t(u64, READ_ONCE(p->ln->tun.retry_count), 1) * (HEDGES_MAX + 1);

	return max(patience_ns, min(OVERDUE_TIMES * patience_ns, div64_u64(op->timeout_ns, tries)));
}

/*
 * Returns the time after which a reply is overdue. A router may fail and lose a message although
 * the path responds. So on a routed path, the time depends on round-trip times.
 */
static u64 overdue_after(const struct lnet_pass *p, const struct lnet_op *op,
			 const struct lnet_path *path)
{
	u64 patience_ns = lnet_op_response_timeout(p, op, path);
	u64 ns = dead_after(p, op, patience_ns);

	if (!lnet_path_is_routed(path) || !path->srtt_ns)
		return ns;
	return max(patience_ns, min(ns, OVERDUE_TIMES * lnet_path_round_trip(path)));
}

/*
 * Returns the best path other than that of @att, even if it is suspect or down. NULL: there is
 * none. A peer that is not multi-rail sees one NI, so all attempts of a request to it use the same
 * NI.
 */
static struct lnet_path *other_path(struct lnet_pass *p, const struct lnet_op *op,
				    const struct lnet_att *att)
{
	struct lnet_ni *only = op->src_ni || op->peer->mr ? op->src_ni : att->path->ni;
	struct lnet_select s = {
		.peer = op->peer, .cpt = -1, .request = 1, .tried = op->tried,
		.exclude = 1ULL << att->path->ix, .ni = only,
		.pni = lnet_op_is_bound_to_dst(op) || !op->peer->mr ? op->dst_pni : NULL,
	};
	struct lnet_path *path = lnet_select(p->sh, &s);

	return path == att->path ? NULL : path;
}

/*
 * Returns a path for a hedge, or NULL. A suspect path is returned only if bytes were received or
 * acknowledged on it (@liveness_ns) later than on the path of @silent.
 */
static struct lnet_path *copy_path(struct lnet_pass *p, const struct lnet_op *op,
				   const struct lnet_att *silent)
{
	struct lnet_path *path = other_path(p, op, silent);

	if (!path || lnet_ni_marked(path->ni, LNET_MARK(DRAINED)) || !lnet_ni_has_link(path->ni) ||
	    (path->suspect_ns && path->liveness_ns <= silent->path->liveness_ns))
		return NULL;
	return path;
}

static bool lives_since(const struct lnet_path *path, const struct lnet_att *silent)
{
	return path && !path->suspect_ns && path->liveness_ns >= silent->posted_ns;
}

/*
 * Sends a hedge on @path in addition to the attempt @silent. @free: the hedge budget does not limit
 * the hedge.
 */
static void send_hedge(struct lnet_pass *p, struct lnet_att *silent, struct lnet_path *path,
		       bool free)
{
	struct lnet_op *op = silent->op;
	struct lnet_att *att = &op->first == silent ? op->hedge : &op->first;

	if (!free && !lnet_hedge_allowed(p->sh, op->peer)) {
		lnet_rec_via(p, NO_HEDGE, op, path);
		return;
	}
	if (!att)
		att = lnet_att_take(p->sh);
	if (!lnet_rec_value(p->sh, att != NULL))
		return;
	if (att != &op->first) {
		INIT_LIST_HEAD(&att->link);
		att->op = op;
		op->hedge = att;
	} else {
		op->flags |= LNET_OPF_HEDGE;
	}
	lnet_rec_via(p, HEDGE, op, path);
	op->hedges++;
	op->suspect_ns = p->now_ns + overdue_after(p, op, path);
	lnet_count(p->sh, hedges);
	silent->path->nr_resent++;
	lnet_att_enter(p, att, path);
}

/*
 * Returns the time until the next check of a path that gave no response since @since_ns. The longer
 * the path gives no response, the rarer are the checks. They are rarest if @op may not be hedged,
 * because a check can then only make the path suspect.
 */
static u64 look_again_ns(const struct lnet_pass *p, const struct lnet_op *op, u64 after_ns,
			 u64 since_ns)
{
	u64 ns = p->now_ns - min(p->now_ns, since_ns);

	return max(after_ns, may_hedge(p, op) ? ns / LATE_PART : ns);
}

/* Returns the later suspect timestamp of @path and its first-hop path; 0: neither is suspect. */
static u64 silent_ns(const struct lnet_path *path)
{
	return max(path->suspect_ns, path->first_hop->suspect_ns);
}

static bool path_is_closed(const struct lnet_path *path)
{
	return lnet_ni_marked(path->ni, LNET_MARK(DRAINED)) || !lnet_ni_has_link(path->ni) ||
	       silent_ns(path) ||
	       (lnet_path_is_routed(path) &&
		!lnet_rec_value(path->pni->sh, lnet_route_usable(path)));
}

/* True if another path to the peer became suspect after @att was handed to the fabric. */
static bool lost_elsewhere(const struct lnet_op *op, const struct lnet_att *att)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;

	list_for_each_entry(pni, &op->peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (path != att->path && silent_ns(path) >= att->posted_ns)
				return true;
	return false;
}

/*
 * The path of @att responds, but @att has no reply. If the reply is overdue, sends a hedge; this is
 * long before the attempt timeout. A reply is overdue after overdue_after(). If another path became
 * suspect since @att was handed over, the reply is overdue after only one response timeout
 * (@after). The reason is that a peer sends a cumulative ACK on the path of the last request. If
 * that path fails, the ACK is lost, and a hedge requests the ACK again.
 *
 * The hedge uses another path. If path_is_closed() is true for the other path, the hedge uses the
 * path of @att. The same applies if an idempotent request has no other path.
 */
static void look_at_overdue(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att,
			    u64 after, u64 next_ns)
{
	u64 wait_ns = lost_elsewhere(op, att) ? after : overdue_after(p, op, att->path);
	struct lnet_path *path;

	op->suspect_ns = next_ns;
	if (!is_awaiting_reply(att) || !may_hedge(p, op))
		return;
	if (p->now_ns < att->posted_ns + wait_ns) {
		op->suspect_ns = min(next_ns, att->posted_ns + wait_ns);
		return;
	}
	lnet_op_unbind(op);
	path = other_path(p, op, att);
	if (path ? path_is_closed(path) : lnet_op_is_idempotent(op))
		path = att->path;
	if (path)
		send_hedge(p, att, path, false);
}

/*
 * Returns the latest time of the hand-over of @att and liveness of its path. While a driver has
 * @att, liveness of the first-hop path also counts.
 */
static u64 progress_ns(const struct lnet_att *att)
{
	u64 ns = max(is_out(att) ? att->posted_ns : 0, att->path->liveness_ns);

	return att->state == ATT_AWAIT_REPLY ? ns : max(ns, att->path->first_hop->liveness_ns);
}

/*
 * Like progress_ns(), but if @att awaits its reply, liveness of the path does not count as progress
 * of @att.
 */
static u64 idle_since(const struct lnet_att *att)
{
	return att->state == ATT_AWAIT_REPLY ? att->posted_ns : progress_ns(att);
}

/*
 * Both attempts of @op are in flight. If the later attempt is also overdue and another path
 * responds, the function ends one attempt, so that a hedge can be sent. It ends the older one; if
 * the driver has completed only one of them, it ends that one. Returns the remaining attempt; NULL:
 * none was ended. The path is not penalized, because the reply may be in flight.
 */
static struct lnet_att *hedge_make_room(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_att *goes = &op->first, *stays = op->hedge, *later;
	u64 after, since_ns, due_ns;

	if (goes->state != ATT_AWAIT_REPLY ||
	    (stays->state == ATT_AWAIT_REPLY && goes->posted_ns > stays->posted_ns))
		swap(goes, stays);
	later = is_out(stays) && stays->posted_ns > goes->posted_ns ? stays : goes;
	after = lnet_op_response_timeout(p, op, stays->path);
	since_ns = max(idle_since(goes), idle_since(stays));
	due_ns = since_ns + overdue_after(p, op, stays->path);
	if (!may_hedge(p, op) || goes->state != ATT_AWAIT_REPLY || p->now_ns < due_ns ||
	    !lives_since(copy_path(p, op, stays), later)) {
		due_ns = max(due_ns, p->now_ns + look_again_ns(p, op, after, since_ns));
		op->suspect_ns = may_hedge(p, op) ? due_ns : U64_MAX;
		return NULL;
	}
	op->flags |= LNET_OPF_UNKNOWN;
	lnet_att_drop(p, goes);
	return stays;
}

/*
 * Checks whether the path of an attempt of @op is unresponsive, and sets the time of the next
 * check.
 */
static void look_at_silence(struct lnet_pass *p, struct lnet_op *op)
{
	bool one = lnet_att_is_live(&op->first), two = one && lnet_att_is_live(op->hedge);
	struct lnet_att *att = two ? hedge_make_room(p, op) : one ? &op->first : op->hedge;
	struct lnet_path *path, *first_hop;
	u64 after, since;

	if (!two && !is_out(att)) {
		op->suspect_ns = U64_MAX;
		return;
	}
	if (!att)
		return;
	after = lnet_op_response_timeout(p, op, att->path);
	since = progress_ns(att);
	if (p->now_ns < since + after &&
	    !(is_awaiting_reply(att) && silent_ns(att->path) > att->posted_ns)) {
		look_at_overdue(p, op, att, after, since + after);
		return;
	}
	/* mark the path as suspect; also the first-hop path, if that gave no response either */
	path = att->path;
	first_hop = path->first_hop;
	if (!path->suspect_ns)
		lnet_path_suspect(p, path);
	if (lnet_path_is_routed(path) && !first_hop->suspect_ns && first_hop->liveness_ns <= since)
		lnet_path_suspect(p, first_hop);
	if (silent_ns(path))
		lnet_ops_reselect_path(p, first_hop->suspect_ns ? first_hop : path);
	op->suspect_ns = p->now_ns + look_again_ns(p, op, after, since);
	lnet_op_unbind(op);
	path = may_hedge(p, op) ? copy_path(p, op, att) : NULL;
	/* if the path of @att counts as broken, the hedge budget does not limit the hedge */
	if (path)
		send_hedge(p, att, path, p->now_ns >= since + dead_after(p, op, after) &&
					 lives_since(path, att));
}

static void att_deadline(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	enum lnet_outcome how;

	if (lnet_op_is_over(op) || !lnet_att_is_live(att) || p->now_ns < att_next(p, att))
		return;
	if (with_driver(att)) {
		lnet_op_cancel(p, op);
		return;
	}
	how = lnet_att_late_outcome(att);
	if (op->kind != LNET_KIND_RECOVERY)
		lnet_health_no_response(p->sh, att);
	lnet_att_fail(p, att, how, false);
}

void lnet_op_timer(struct lnet_pass *p, struct lnet_op *op)
{
	u64 next;

	lnet_rec_op(p, TIMER, op, op->timer.when_ns, 0);
	if (op->state == OP_CANCEL) {
		lnet_op_cancel(p, op);
		lnet_timer_set(&p->sh->wheel, &op->timer, p->now_ns + ABORT_REPEAT_NS);
		return;
	}
	op->pins++;
	if (p->now_ns >= op->deadline_ns) {
		op_deadline(p, op);
	} else if (op->state == OP_BACKOFF) {
		if (p->now_ns >= op->suspect_ns)
			lnet_op_try(p, op, NULL);
	} else {
		att_deadline(p, op, &op->first);
		att_deadline(p, op, op->hedge);
		if (!lnet_op_is_over(op) && op->state != OP_BACKOFF && p->now_ns >= op->suspect_ns)
			look_at_silence(p, op);
	}
	if (!lnet_op_is_over(op)) {
		/*
		 * if the driver has not completed the attempt after a cancel, the timer repeats the
		 * cancel
		 */
		next = op_next(p, op);
		lnet_timer_set(&p->sh->wheel, &op->timer,
			       next > p->now_ns ? next : p->now_ns + ABORT_REPEAT_NS);
	}
	lnet_op_unpin(p, op);
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Writes all fields of the event except those that lnet_md_post() writes, because a pooled event
 * has old values.
 */
static void fill_event(const struct lnet_op *op, struct lnet_evt *e, enum lnet_event_kind kind)
{
	struct lnet_event *ev = &e->ev;

	ev->kind = kind;
	ev->final = ev->delivery_unknown = false;
	ev->status = ev->outcome = LNET_OK;
	ev->mlength = op->len;
	ev->latency_ns = 0;
	ev->portal = op->portal;
	ev->match_bits = op->match_bits;
	ev->hdr_data = op->hdr_data;
	ev->rlength = op->len;
	ev->offset = op->offset;
	ev->target.nid = op->target;
	ev->target.pid = op->target_pid;
	ev->op_ptr = op->arg;
	memset(&ev->initiator.nid, 0xff, sizeof(ev->initiator.nid));
	ev->initiator.pid = 0;
	memset(&ev->source, 0xff, sizeof(ev->source));
	memset(&ev->sender, 0xff, sizeof(ev->sender));
}

void lnet_op_sent(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_evt *e = op->evt[0];

	if ((!e && !(op->flags & LNET_OPF_NOSEND)) || (op->flags & LNET_OPF_SENT))
		return;
	op->flags |= LNET_OPF_SENT;
	if (!e)
		return;
	op->evt[0] = NULL;
	fill_event(op, e, LNET_EVENT_SEND);
	lnet_md_post(p, op->md, e, false);
}

static void final_event(struct lnet_pass *p, struct lnet_op *op)
{
	const struct lnet_outcome_info *how = &lnet_outcomes[op->outcome];
	struct lnet_evt *e = op->evt[1];
	enum lnet_event_kind kind = LNET_EVENT_SEND;

	if (!e)
		return;
	if (!how->err)
		lnet_op_sent(p, op);
	if (op->flags & LNET_OPF_SENT)
		kind = op->type == LNET_OP_GET ? LNET_EVENT_REPLY : LNET_EVENT_ACK;
	op->evt[1] = NULL;
	fill_event(op, e, kind);
	e->ev.mlength = kind == LNET_EVENT_SEND && !how->err ? op->len : op->mlength;
	e->ev.status = lnet_op_err(op);
	e->ev.outcome = op->outcome;
	e->ev.delivery_unknown = how->err && (op->flags & LNET_OPF_UNKNOWN);
	e->ev.final = true;
	e->ev.latency_ns = op->first_wire_ns ? p->now_ns - op->first_wire_ns : 0;
	lnet_md_post(p, op->md, e, true);
}

static void op_done(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_shard *sh = op->sh;
	struct lnet_att *second = op->hedge;
	bool failed = lnet_outcomes[op->outcome].err;

	lnet_op_set_state(op, OP_DONE);
	if (op->kind == LNET_KIND_USER) {
		sh->c[!failed ? LNET_C_ops_ok :
		      op->flags & LNET_OPF_UNKNOWN ? LNET_C_ops_unknown : LNET_C_ops_failed]++;
		if (op->tries > 1)
			sh->c[failed ? LNET_C_failed_resends : LNET_C_successful_resends]++;
	}
	lnet_timer_cancel(&sh->wheel, &op->timer);
	lnet_walk_leave(&sh->walk, op);
	lnet_stat_end(sh, op);
	final_event(p, op);
	if (op->done)
		op->done(p, op);
	lnet_rec_back(sh);
	if (second && sh->atts.nr < LNET_POOL_LOW) {
		list_add(&second->link, &sh->atts.free);
		lnet_pool_count(&sh->atts, 1);
	} else if (second) {
		kfree(second);
	}
	if (lnet_op_is_reply(op))
		atomic_dec(&lnet_op_hop(op)->nr_reply_ops);
	if (op->src_ni)
		lnet_ni_put(op->src_ni);
	lnet_peer_ni_put(op->via);
	lnet_peer_ni_put(op->dst_pni);
	lnet_peer_put(op->peer);
	lnet_op_recycle(sh, op);
}

void lnet_op_unpin(struct lnet_pass *p, struct lnet_op *op)
{
	op->pins--;
	/* No driver and no receive uses the memory, so buffer ownership returns to the caller. */
	if (op->state == OP_CANCEL && !op->nr_held && !op->pins &&
	    lnet_rec_value(op->sh, list_empty(&op->receives)))
		op_done(p, op);
}

void lnet_op_cancel(struct lnet_pass *p, struct lnet_op *op)
{
	if (!op->nr_held || (op->flags & LNET_OPF_CANCELLED))
		return;
	op->pins++;
	op->flags |= LNET_OPF_CANCELLED;
	list_add_tail(&op->link, &p->cancel);
}

void lnet_op_finish(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how)
{
	struct lnet_att *att;
	struct lnet_rx *rx;

	if (lnet_op_is_over(op))
		return;
	lnet_rec_op(p, FINISH, op, how, 0);
	op->pins++;
	if (!(op->flags & LNET_OPF_CANCELLED))
		list_del_init(&op->link);
	op->outcome = how;
	lnet_op_set_state(op, OP_CANCEL);
	lnet_op_for_each_att(att, op)
		if (lnet_att_is_live(att) && !with_driver(att))
			lnet_att_drop(p, att);
	lnet_op_free_id(p, op);
	lnet_rec_back(p->sh);
	list_for_each_entry(rx, &op->receives, link)
		lnet_rx_want_stop(p, rx);
	if (op->nr_held || lnet_rec_value(p->sh, !list_empty(&op->receives)))
		lnet_timer_set(&p->sh->wheel, &op->timer, p->now_ns + ABORT_REPEAT_NS);
	lnet_op_cancel(p, op);
	lnet_op_unpin(p, op);
}

void lnet_op_replied(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via)
{
	struct lnet_att *att = &op->first;

	if (lnet_op_is_over(op))
		return;
	if (att->state == ATT_FREE || att->path != via)
		att = lnet_att_is_live(op->hedge) && op->hedge->path == via ? op->hedge : NULL;
	lnet_rec_via(p, REPLIED, op, via);
	if (via) {
		/* the peer delays a cumulative ACK, so its time does not measure the path */
		bool prompt = att && op->tries == 1 && !lnet_op_is_acked_unseen(op);

		lnet_path_alive(p->sh, via, p->now_ns, prompt ? p->now_ns - att->posted_ns : 0);
		if (op->kind != LNET_KIND_RECOVERY)
			lnet_health_ok(p->sh, via, true);
		lnet_stat_reply(p, via, op);
	}
	if (att && lnet_att_is_hedge(att))
		lnet_count(p->sh, hedge_wins);
	if (op->kind == LNET_KIND_USER)
		lnet_peer_earn(p, op->peer);
	lnet_op_finish(p, op, LNET_OK);
}
