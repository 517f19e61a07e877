/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Aborts the operations of a peer, of an MD or of the node, and cancels attempts that drivers have.
 */
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "shard/trace.h"

struct fail_all {
	struct lnet_peer *peer;
	struct lnet_md *md;
	enum lnet_outcome how;
};

static void visit_fail(struct lnet_pass *p, struct lnet_op *op, void *arg)
{
	const struct fail_all *f = arg;

	if (f->peer && op->peer != f->peer)
		return;
	if (f->md && (op->md != f->md || !lnet_op_is_request(op)))
		return;
	lnet_rec_op(p, ABORT, op, f->how, 0);
	if (!lnet_op_is_over(op))
		lnet_op_note_abort(op);
	lnet_op_finish(p, op, f->how);
}

void lnet_op_fail_all(struct lnet_pass *p, struct lnet_peer *peer, enum lnet_outcome how)
{
	struct fail_all f = { .peer = peer, .how = how };

	lnet_ops_walk(p, visit_fail, &f);
}

void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md)
{
	struct fail_all f = { .md = md, .how = LNET_UNLINKED };

	lnet_ops_walk(p, visit_fail, &f);
}

bool lnet_ops_idle(struct lnet *ln)
{
	unsigned int i;

	for (i = 0; i < ln->nr_shards; i++)
		if (READ_ONCE(ln->shard[i].nr_live))
			return false;
	return true;
}

/* ---- attempts that drivers have -------------------------------------------------------------- */

static void cancel_one(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	struct lnet_peer_ni *pni;
	struct lnet_ni *ni;
	bool take, delayed;
	int reported;

	lnet_enter(p, op->sh);
	reported = atomic_read(&att->reports);
	/* if a fault rule sends @att twice, the first send may have set POSTED */
	if (reported & LNET_REPORT_TWICE)
		reported &= LNET_REPORT_DONE;
	take = (att->state == ATT_WIRE || att->state == ATT_POSTED) && !reported &&
	       (lnet_op_is_over(op) || p->now_ns >= att->deadline_ns || !lnet_ni_usable(att->ni) ||
		!lnet_ni_has_link(att->ni) || att->path->gone);
	if (!take) {
		lnet_leave(p);
		return;
	}
	delayed = READ_ONCE(att->flags) & LNET_ATTF_DELAYED;
	if (delayed) {	/* a delay rule has @att, not the driver */
		att->lnd[0] = att->lnd[1] = NULL;
		WRITE_ONCE(att->flags, 0);
		list_del_init(&att->link);
	}
	ni = att->ni;
	pni = att->pni;
	lnet_ni_get(ni);	/* another thread may complete @att while the driver cancels it */
	lnet_peer_ni_hold(pni);
	lnet_leave(p);
	if (delayed)
		lnet_att_done(p, att, LNET_CANCELED, 0);
	else
		ni->ops->cancel(p, ni, att, LNET_CANCEL_ABORT);
	lnet_peer_ni_put(pni);
	lnet_ni_put(ni);
}

void lnet_pass_cancels(struct lnet_pass *p)
{
	while (!list_empty(&p->cancel)) {
		struct lnet_op *op = list_first_entry(&p->cancel, struct lnet_op, link);
		struct lnet_att *att;

		list_del_init(&op->link);
		lnet_op_for_each_att(att, op)
			cancel_one(p, op, att);
		lnet_enter(p, op->sh);
		op->flags &= ~LNET_OPF_CANCELLED;
		lnet_rec_op(p, UNPIN, op, 0, 0);
		lnet_op_unpin(p, op);
		lnet_leave(p);
	}
}
