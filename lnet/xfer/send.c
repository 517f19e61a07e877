/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sends operations: their start, the choice of a path, the results of attempts, retransmission. */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "shard/hooks.h"
#include "shard/trace.h"

/*
 * number of times that a request tries to allocate a slot before it fails; other threads may take
 * the new slots
 */
#define SLOT_TRIES 16

/* ---- start ----------------------------------------------------------------------------------- */

static bool expects_reply(const struct lnet_op *op)
{
	return lnet_op_is_request(op) && (op->type == LNET_OP_GET || (op->flags & LNET_OPF_ACK) ||
					  lnet_op_is_tracked(op));
}

static bool resendable(const struct lnet_pass *p, const struct lnet_op *op)
{
	if (op->kind == LNET_KIND_RECOVERY)
		return false;
	if (unlikely(op->kind == LNET_KIND_FORWARD))
		return lnet_rec_value(p->sh, p->ln->hooks->forward_op.is_resendable(op));
	return lnet_op_is_repeatable(op);
}

static bool op_is_stuck(const struct lnet_pass *p, const struct lnet_op *op,
			const struct lnet_path *path)
{
	return unlikely(op->kind == LNET_KIND_FORWARD) &&
	       lnet_rec_value(p->sh, p->ln->hooks->forward_op.is_stuck(op, path));
}

void lnet_op_try(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path)
{
	if (!path)
		lnet_rec_op(p, TRY, op, 0, 0);
	lnet_op_set_state(op, OP_TRY);
	/*
	 * If there is a session, the request becomes tracked. If the delivery of an earlier
	 * untracked attempt is unknown, the request remains untracked.
	 */
	if (op->kind == LNET_KIND_USER && !lnet_op_is_tracked(op) &&
	    !(op->flags & LNET_OPF_UNKNOWN) &&
	    lnet_rec_value(op->sh, lnet_session_is_open(op->peer)))
		lnet_op_set_id(op, ID_DUE);
	/*
	 * If no slot is free, the operation tries again in 1 ms: the next lnet_enter() allocates
	 * slots.
	 */
	if (op->id_state == ID_NONE && expects_reply(op) &&
	    lnet_rec_value(p->sh, lnet_slot_take(p->ln, op))) {
		lnet_op_set_state(op, OP_BACKOFF);
		op->suspect_ns = p->now_ns + NSEC_PER_MSEC;
		lnet_op_arm(p, op);
		return;
	}
	if (unlikely(op->src_ni) &&
	    lnet_rec_value(p->sh, lnet_op_source_leaves(op)) && lnet_op_unbind(op))
		path = NULL;
	path = path ? path : lnet_op_choose(p, op);
	if (!path || op_is_stuck(p, op, path)) {
		lnet_op_finish(p, op, LNET_NO_PATH);
		return;
	}
	lnet_att_enter(p, &op->first, path);
	/* if the attempt is in ATT_WIRE, to_wire() has set the timer */
	if (op->state == OP_TRY && op->first.state != ATT_WIRE)
		lnet_op_arm(p, op);
}

void lnet_op_start(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_shard *sh = p->sh;

	if (lnet_recs(sh))
		p->sh->rec->ops->note_start(p, op);
	list_add_tail(&op->all, &sh->live);
	lnet_stat_start(sh, op);
	if (lnet_op_is_reply(op))
		atomic_inc(&lnet_op_hop(op)->nr_reply_ops);
	if (!op->timeout_ns)
		op->timeout_ns = READ_ONCE(p->ln->tun.transaction_timeout);
	op->deadline_ns = p->now_ns + op->timeout_ns;
	op->suspect_ns = U64_MAX;
	if (READ_ONCE(p->ln->stopping) || op->peer->deleted) {
		lnet_op_finish(p, op, READ_ONCE(p->ln->stopping) ? LNET_SHUTDOWN : LNET_NO_PATH);
		return;
	}
	if (op->md && lnet_op_is_request(op) && lnet_rec_value(sh, lnet_md_aborted(op->md))) {
		/* the walk of lnet_ops_md_aborted() may have been before @op was in the list */
		lnet_op_finish(p, op, LNET_UNLINKED);
		return;
	}
	if (op->kind != LNET_KIND_USER || lnet_rec_value(sh, lnet_session_is_ready(p, op->peer))) {
		lnet_op_try(p, op, NULL);
		return;
	}
	lnet_op_set_state(op, OP_RESOLVE);
	op->flags |= LNET_OPF_RESOLVED;
	list_add_tail(&op->link, &op->peer->resolve);
	op->peer->tx.awaited++;
	lnet_op_arm(p, op);
}

/*
 * Starts the operations in p->defer, which the pass @p has created while it held a shard lock. @p
 * holds no lock now, so this function enters the shard of each operation.
 */
void lnet_pass_starts(struct lnet_pass *p)
{
	while (!list_empty(&p->defer)) {
		struct lnet_op *op = list_first_entry(&p->defer, struct lnet_op, link);
		struct lnet_peer *peer;

		list_del_init(&op->link);
		/*
		 * A discovery ping has a long reply. Without memory for the reply, the ping still
		 * tests the path.
		 */
		if (unlikely(op->type == LNET_OP_GET && !op->md && !op->sink)) {
			lnet_leave(p);
			op->sbuf = lnet_sbuf_new(op->len);
			op->sink = op->sbuf ? &op->sbuf->frag : &op->sh->junk_frag;
			op->len = min_t(u32, op->len, op->sink->len);
		}
		/* @dst_pni may have another shard or peer than when @op was created. */
		lnet_enter_pni(p, op->dst_pni);
		op->sh = p->sh;
		peer = op->dst_pni->peer;
		if (unlikely(op->peer != peer)) {
			lnet_peer_get(peer);
			lnet_peer_put(op->peer);
			op->peer = peer;
		}
		lnet_op_start(p, op);
	}
}

void lnet_op_release(struct lnet_pass *p, struct lnet_op *op, bool negotiated)
{
	lnet_rec_op(p, RELEASE, op, negotiated, 0);
	if (negotiated)
		op->flags &= ~LNET_OPF_RESOLVED;
	list_del_init(&op->link);
	lnet_op_try(p, op, NULL);
}

struct lnet_op *lnet_op_control(struct lnet_pass *p, struct lnet_peer_ni *pni,
				enum lnet_op_type type, u32 flags)
{
	struct lnet_op *op = lnet_op_take(p->sh);

	if (!op)
		return NULL;
	op->type = type;
	op->flags = flags;
	op->cls = LNET_CLS_CONTROL;
	op->kind = LNET_KIND_CONTROL;
	op->peer = pni->peer;
	lnet_peer_get(op->peer);
	op->sh = p->sh;
	op->dst_pni = pni;
	lnet_peer_ni_hold(pni);
	op->target = pni->nid;
	op->target_pid = LNET_PID;
	op->portal = LNET_PORTAL_RESERVED;
	op->match_bits = LNET_PING_MATCHBITS;
	op->timeout_ns = lnet_lnd_timeout_ns(&p->ln->tun);
	if (!expects_reply(op) || !lnet_slot_take(p->ln, op))
		return op;
	lnet_peer_ni_put(pni);
	lnet_peer_put(op->peer);
	lnet_op_recycle(p->sh, op);
	return NULL;
}

int lnet_op_submit(struct lnet_pass *p, struct lnet_op *op, struct lnet_peer_ni *pni)
{
	unsigned int tries = SLOT_TRIES;
	int err;

	/* If there is a session, the request gets its ID from the session, and needs no slot. */
	while ((op->kind != LNET_KIND_USER || !lnet_session_is_open(pni->peer)) &&
	       expects_reply(op) && lnet_slot_take(p->ln, op)) {
		lnet_leave(p);
		err = lnet_slots_prealloc(p->ln);
		lnet_enter_pni(p, pni);
		if (err == -ENOSPC || !tries--)
			return err ? err : -ENOMEM;
	}
	op->dst_pni = pni;
	op->peer = pni->peer;
	lnet_peer_get(op->peer);
	op->sh = p->sh;
	op->cls = op->kind == LNET_KIND_USER ? LNET_CLS_DATA : LNET_CLS_CONTROL;
	lnet_op_start(p, op);
	return 0;
}

/* ---- retries --------------------------------------------------------------------------------- */

static unsigned int op_nr_resends(const struct lnet_op *op)
{
	unsigned int free = op->hedges + op->unsent + 1;

	return op->tries > free ? op->tries - free : 0;
}

/*
 * Retries @op. If there is an untried path, retries at once. Otherwise @op pauses first, and the
 * pauses divide the remaining time equally among the remaining tries. In two cases the pause is at
 * most min_recovery_ping_interval: @op is an urgent request, or @unsent, so the last attempt cost
 * no try.
 */
static void send_again(struct lnet_pass *p, struct lnet_op *op, enum lnet_outcome how,
		       bool unsent)
{
	u32 most = (u32)READ_ONCE(p->ln->tun.retry_count),
	    left = most - min(most, op_nr_resends(op));
	struct lnet_path *path = lnet_op_choose(p, op);
	u64 pause_ns = div_u64(op->deadline_ns - p->now_ns, left + 1);

	op->flags &= ~LNET_OPF_HEDGE;
	lnet_rec_via(p, RESEND, op, path);
	if (path && !(op->tried & 1ULL << path->ix)) {
		/* use @path: if lnet_op_try() selected again, it might choose a tried path */
		lnet_op_try(p, op, path);
		return;
	}
	/*
	 * A program such as lnetctl waits for the result of an urgent request. So the urgent
	 * request ends at once if the peer rejects it on the last path, or if there is no route.
	 */
	if (op_is_stuck(p, op, NULL) || (op->kind == LNET_KIND_URGENT &&
				      (op->unconnected & LNET_ATTF_REJECTED ||
				       how == LNET_LOCAL_NO_ROUTE))) {
		lnet_op_finish(p, op, how);
		return;
	}
	if (unsent || op->kind == LNET_KIND_URGENT)
		pause_ns = min(pause_ns, READ_ONCE(p->ln->tun.min_recovery_ping_interval));
	lnet_op_set_state(op, OP_BACKOFF);
	op->suspect_ns = p->now_ns + pause_ns;
	op->tried = 0;
	lnet_op_arm(p, op);
}

bool lnet_op_may_resend(const struct lnet_pass *p, const struct lnet_op *op, bool unknown)
{
	return op->kind != LNET_KIND_RECOVERY && (!unknown || resendable(p, op)) &&
	       op_nr_resends(op) < READ_ONCE(p->ln->tun.retry_count);
}

/*
 * An attempt of @op on @path ended with @how, and is FREE now. If no other attempt is live, retries
 * or ends @op. @unsent: the attempt costs no try.
 */
static void attempt_failed(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *path,
			   enum lnet_outcome how, bool unsent)
{
	u64 *ni, *pni;
	bool unknown = lnet_outcomes[how].delivery != LNET_DELIVERY_NOT;

	lnet_rec_op(p, FAILED, op, how, unsent);
	if (unknown)
		lnet_op_note_unknown(op);
	if (lnet_op_is_over(op) || lnet_att_is_live(&op->first) || lnet_att_is_live(op->hedge))
		return;
	/* if only one NI stops, its operations continue on other NIs */
	if ((how == LNET_SHUTDOWN && (!path || path->ni->state != NI_STOPPING)) ||
	    how == LNET_NO_MEMORY || READ_ONCE(p->ln->stopping) ||
	    (op->md && lnet_op_is_request(op) &&
	     lnet_rec_value(p->sh, lnet_md_aborted(op->md))) ||
	    !lnet_op_may_resend(p, op, unknown) || p->now_ns >= op->deadline_ns) {
		lnet_op_finish(p, op, how);
		return;
	}
	lnet_op_unbind(op);
	if (unlikely(op->kind == LNET_KIND_FORWARD)) {
		p->ln->hooks->forward_op.substitute(op);
		op->binding = (u8)lnet_rec_value(p->sh, op->binding);
	}
	if (op->state != OP_TRY && op->state != OP_AWAIT_REPLY)
		return;
	lnet_count(p->sh, resend_count);
	path->nr_resent++;
	ni = path->ni->sh[p->sh->ix].c;
	pni = path->hop->c;
	ni[LNET_NIC_resend_local_timeout] += how == LNET_LOCAL_TIMEOUT;
	pni[LNET_PNIC_resend_remote_timeout] += how == LNET_REMOTE_TIMEOUT;
	ni[LNET_NIC_resend_network_timeout] += how == LNET_NETWORK_TIMEOUT;
	pni[LNET_PNIC_resend_network_timeout] += how == LNET_NETWORK_TIMEOUT;
	send_again(p, op, how, unsent);
}

void lnet_att_fail(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, bool unsent)
{
	struct lnet_path *path = att->path;
	struct lnet_op *op = att->op;

	op->unsent += unsent && !lnet_att_is_hedge(att);
	lnet_att_drop(p, att);
	attempt_failed(p, op, path, how, unsent);
}

/* ---- attempts that were handed to the fabric or completed ------------------------------------ */

/* Adds a report of the driver on @att to the pass. @what: LNET_REPORT_x bits. No lock needed. */
static void reported(struct lnet_pass *p, struct lnet_att *att, int what)
{
	int before = atomic_fetch_or(what, &att->reports);

	if (!before) {
		list_add_tail(&att->link, &p->reported);
		return;
	}
	/*
	 * If a fault rule makes the driver send @att twice, POSTED is reported after the second
	 * send.
	 */
	if (!(before & LNET_REPORT_TWICE) || !(what & LNET_REPORT_DONE))
		return;
	if (lnet_outcomes[att->outcome].delivery != LNET_DELIVERY_YES) {
		atomic_set(&att->reports, LNET_REPORT_DONE | (before & LNET_REPORT_POSTED));
		list_add_tail(&att->link, &p->reported);
		return;
	}
	atomic_set(&att->reports, 0);
	WRITE_ONCE(att->flags, LNET_ATTF_RELEASED);
	list_add_tail(&att->link, &p->send);
}

void lnet_att_posted(struct lnet_pass *p, struct lnet_att *att, u32 epoch)
{
	att->epoch = epoch;
	reported(p, att, LNET_REPORT_POSTED);
}

void lnet_att_done(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how, u32 epoch)
{
	att->outcome = how;
	if (lnet_outcomes[how].delivery == LNET_DELIVERY_YES && epoch)
		att->epoch = epoch;
	reported(p, att, LNET_REPORT_DONE);
}

void lnet_att_unconnected(struct lnet_pass *p, struct lnet_att *att, int err)
{
	if (err == -ECONNREFUSED)
		att->flags |= LNET_ATTF_REFUSED;
	else if (err == -ECONNRESET)
		att->flags |= LNET_ATTF_RESET;
	else if (err == -EHOSTUNREACH)
		att->flags |= LNET_ATTF_UNREACHED;
	else if (err == -ETIMEDOUT)
		att->flags |= LNET_ATTF_UNANSWERED;
	lnet_att_done(p, att, LNET_REMOTE_DROPPED, 0);
}

/*
 * The connection of @att was lost. For a tracked request, this costs no try while the peer
 * responds: see back_failed().
 */
static void lost(struct lnet_pass *p, struct lnet_att *att, enum lnet_outcome how)
{
	lnet_att_fail(p, att, how, lnet_op_is_tracked(att->op) &&
				   lnet_peer_is_responsive(att->op->peer, NULL, p->now_ns));
}

/*
 * Ends the attempt @att, which got no reply in time. While the peer responds, this costs no try, as
 * with a rejected connection.
 */
static void attempt_stopped(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	bool unsent = lnet_peer_is_responsive(op->peer, NULL, p->now_ns);
	struct lnet_path *path = att->path;

	op->unsent += unsent && !lnet_att_is_hedge(att);
	lnet_att_drop(p, att);
	if (!path->suspect_ns) {
		lnet_path_suspect(p, path);
		/*
		 * Replies to other attempts on @path are probably also lost, so these attempts are
		 * checked now.
		 */
		list_for_each_entry(att, &path->await_reply, link) {
			att->op->suspect_ns = min(att->op->suspect_ns, p->now_ns);
			lnet_op_arm(p, att->op);
		}
	}
	attempt_failed(p, op, path, LNET_PATH_LOST, unsent);
}

void lnet_op_stopped(struct lnet_pass *p, struct lnet_op *op, struct lnet_path *via)
{
	struct lnet_att *att;

	lnet_rec_via(p, STOPPED, op, via);
	op->pins++;
	lnet_op_for_each_att(att, op)
		if (via && !lnet_op_is_over(op) && att->state == ATT_AWAIT_REPLY &&
		    att->path == via)
			attempt_stopped(p, op, att);
	lnet_op_unpin(p, op);
}

/* The driver has sent all bytes of @att and completed it, so @att now awaits the reply. */
static void back_sent(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	struct lnet_path *path = att->path, *first_hop;

	lnet_stat_sent(p, path, op);
	/* lnet_path_ping_done() evaluates a recovery ping */
	if (op->kind != LNET_KIND_RECOVERY)
		lnet_health_ok(p->sh, path, false);
	if (lnet_op_is_over(op) || !expects_reply(op)) {
		if (lnet_op_is_over(op))	/* aborted meanwhile, but sent */
			lnet_op_note_unknown(op);
		lnet_att_move(p, att, ATT_FREE);
		lnet_op_finish(p, op, LNET_OK);
		return;
	}
	lnet_op_sent(p, op);
	lnet_att_move(p, att, ATT_AWAIT_REPLY);
	list_add_tail(&att->link, &path->await_reply);
	first_hop = path->first_hop;
	/* the connections on which @att was sent were lost after its hand-over */
	if (first_hop->lost_valid && (s32)(att->epoch - first_hop->lost_epoch) <= 0 &&
	    resendable(p, op))
		lost(p, att, LNET_PATH_LOST);
	/*
	 * While a driver had @att, the timer of @op was due ABORT_GRACE_NS after the deadline of
	 * @att. While @att awaits the reply, the timer is due at this deadline, which is earlier.
	 * All other times are unchanged.
	 */
	else if (att->deadline_ns < op->timer.when_ns)
		lnet_op_arm(p, op);
}

static void back_failed(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	/*
	 * If no connection accepted the attempt, it costs no try while the peer responds. Otherwise
	 * paths that fail one after the other would use up all tries. If a fault rule dropped the
	 * attempt, it costs a try, as with stock nodes.
	 */
	bool unsent = att->outcome == LNET_REMOTE_DROPPED && att->state == ATT_WIRE &&
		      !(att->flags & LNET_ATTF_FAULT) &&
		      lnet_peer_is_responsive(op->peer, NULL, p->now_ns);
	enum lnet_outcome how = att->outcome;
	struct lnet_path *path = att->path;

	/* An outcome that a driver reports concerns the first-hop path. */
	if ((op->kind != LNET_KIND_RECOVERY || lnet_path_is_routed(path)) && !lnet_att_slow(p, att))
		lnet_health_fail(p->sh, path->first_hop, how, att->posted_ns);
	if (att->state == ATT_POSTED && lnet_outcomes[how].delivery == LNET_DELIVERY_NOT)
		/* the attempt was handed to the fabric, so its delivery is unknown */
		how = LNET_NETWORK_TIMEOUT;
	op->unconnected = att->flags & LNET_ATTF_UNCONNECTED;
	lnet_att_move(p, att, ATT_FREE);
	op->unsent += unsent && !lnet_att_is_hedge(att);
	attempt_failed(p, op, path, how, unsent);
}

static void att_process_reports(struct lnet_pass *p, struct lnet_att *att)
{
	struct lnet_op *op = att->op;
	int what = atomic_xchg(&att->reports, 0);
	bool sent = (what & LNET_REPORT_DONE) &&
		    lnet_outcomes[att->outcome].delivery == LNET_DELIVERY_YES;

	lnet_rec_att(p, COMPLETED, att, (u64)what | att->outcome << 8 | att->flags << 16,
		     att->epoch);
	op->pins++;
	if (((what & LNET_REPORT_POSTED) || sent) && att->state == ATT_WIRE) {
		lnet_stat_posted(p, att->path, op, p->now_ns - att->posted_ns);
		att->posted_ns = p->now_ns;
		if (op->state == OP_TRY)
			lnet_op_set_state(op, OP_AWAIT_REPLY);
	}
	if (what & LNET_REPORT_DONE) {
		if (sent)
			back_sent(p, op, att);
		else
			back_failed(p, op, att);
	} else if (att->state == ATT_WIRE) {
		lnet_att_move(p, att, ATT_POSTED);
	}
	lnet_op_unpin(p, op);
}

void lnet_atts_reported(struct lnet_pass *p, struct list_head *list)
{
	/* The pass reads the clock again, to measure the time of the hand-over to the driver. */
	p->now_ns = p->ln->env->ops->now_ns(p->ln->env);
	while (!list_empty(list)) {
		struct lnet_att *att = list_first_entry(list, struct lnet_att, link);

		list_del_init(&att->link);
		lnet_enter(p, att->op->sh);
		att_process_reports(p, att);
	}
}

/* ---- lost paths ------------------------------------------------------------------------------ */

/*
 * True if @att was handed to the fabric in @epoch or before. Epochs wrap around; U32_MAX means all
 * epochs.
 */
static bool posted_until(const struct lnet_att *att, u32 epoch)
{
	return epoch == U32_MAX || (s32)(att->epoch - epoch) <= 0;
}

static unsigned int path_nr_unanswered(const struct lnet_path *path, u32 epoch)
{
	const struct lnet_att *att;
	unsigned int nr = 0;

	list_for_each_entry(att, &path->await_reply, link)
		nr += posted_until(att, epoch);
	return nr;
}

/*
 * Retransmits the requests that were handed to the fabric on @path up to @epoch, if their kind
 * permits retransmission.
 */
static void path_ambiguous(struct lnet_pass *p, struct lnet_path *path, u32 epoch,
			   enum lnet_outcome how)
{
	struct lnet_att *att, *next;
	LIST_HEAD(due);

	list_for_each_entry_safe(att, next, &path->await_reply, link)
		if (posted_until(att, epoch) && resendable(p, att->op))
			list_move_tail(&att->link, &due);
	while (!list_empty(&due)) {
		struct lnet_op *op;

		att = list_first_entry(&due, struct lnet_att, link);
		op = att->op;
		op->pins++;
		lost(p, att, how);
		lnet_op_unpin(p, op);
	}
}

void lnet_path_lost(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to, u32 epoch,
		    enum lnet_outcome how)
{
	struct lnet_path *path, *carried;
	unsigned int nr, own;

	lnet_enter_pni(p, to);
	path = lnet_path_find(to, ni);
	if (!path)
		return;
	lnet_rec_path(p->sh, p->now_ns, LOST, path, epoch, how);
	path->lost_epoch = epoch;
	path->lost_valid = 1;
	path->lost_ns = p->now_ns;
	lnet_session_path_lost(p, to->peer);
	if (unlikely(to->gw))
		lnet_gateway_lost(p, to->peer);
	nr = own = path_nr_unanswered(path, epoch);
	/*
	 * Requests on paths through the gateway also use the lost connections. Their attempts that
	 * the driver still has are also counted.
	 */
	list_for_each_entry(carried, &path->gw_paths, gw_link)
		nr += path_nr_unanswered(carried, epoch) + carried->nr_wire;
	/* If the lost connections were idle, the loss costs no health. */
	if (nr || path->nr_wire || how != LNET_PATH_LOST)
		lnet_health_fail(p->sh, path, how, path->liveness_ns);
	if (!nr)
		return;
	lnet_count(p->sh, path_lost);
	if (own)
		lnet_session_doubt(p, to->peer);
	path_ambiguous(p, path, epoch, how);
	list_for_each_entry(carried, &path->gw_paths, gw_link)
		path_ambiguous(p, carried, epoch, how);
}

void lnet_path_liveness(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *to,
			u64 rtt_ns)
{
	struct lnet_path *path;

	lnet_enter_pni(p, to);
	path = lnet_path_find(to, ni);
	if (path)
		lnet_path_alive(p->sh, path, p->now_ns, rtt_ns);
}

/* ---- walks over all operations --------------------------------------------------------------- */

/*
 * Takes @att off its path. If @att waits for credits, @op chooses a path again. Attempts in flight
 * leave their path only with @force. If a driver has @att, the attempt is cancelled. If @att awaits
 * a reply, it fails if @op may be retried, or if its NI stops: a stopped NI cannot receive the
 * reply.
 */
static void leave_path(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att, bool force)
{
	if (lnet_att_waits(att))
		lnet_op_reselect(p, op, att);
	else if (!force)
		return;
	else if (att->state == ATT_WIRE || att->state == ATT_POSTED)
		lnet_op_cancel(p, op);
	else if (resendable(p, op) || att->ni->state == NI_STOPPING)
		lost(p, att, LNET_PATH_LOST);
}

void lnet_op_ni_down(struct lnet_pass *p, struct lnet_op *op, void *ni)
{
	struct lnet_att *att;

	lnet_rec_op(p, NI_DOWN, op, ((struct lnet_ni *)ni)->ix, 0);
	lnet_op_for_each_att(att, op)
		if (lnet_att_is_live(att) && att->ni == ni && !lnet_op_is_over(op))
			leave_path(p, op, att, true);
}

void lnet_op_leave_gone(struct lnet_pass *p, struct lnet_op *op, void *force)
{
	struct lnet_att *att;

	lnet_rec_op(p, GONE, op, !!force, 0);
	lnet_op_for_each_att(att, op)
		if (lnet_att_is_live(att) && att->path->gone && !lnet_op_is_over(op))
			leave_path(p, op, att, force);
}

void lnet_ops_leave_gone(struct lnet_pass *p, bool force)
{
	lnet_ops_walk(p, lnet_op_leave_gone, force ? p : NULL);
}

bool lnet_op_path_back(struct lnet_pass *p, struct lnet_op *op)
{
	if (op->state != OP_BACKOFF && (lnet_op_is_over(op) || list_empty(&op->timer.link)))
		return false;
	lnet_rec_op(p, PATH_BACK, op, 0, 0);
	if (op->state != OP_BACKOFF) {
		op->suspect_ns = min(op->suspect_ns, p->now_ns);
		lnet_op_arm(p, op);
		return true;
	}
	op->pins++;
	lnet_op_try(p, op, NULL);
	lnet_op_unpin(p, op);
	return true;
}
