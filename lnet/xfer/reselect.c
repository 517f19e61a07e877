/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Attempts that wait for credits choose their path again; operations lose their binding. */
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "shard/trace.h"

/* Waiting costs no try. @att ends if another attempt is live; a lone hedge stays a hedge. */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	bool copy = lnet_att_is_copy(att);

	lnet_att_drop(p, att);
	if (lnet_op_over(op))
		return;
	if (lnet_att_is_live(&op->first) || lnet_att_is_live(op->hedge)) {
		op->hedges -= copy;
		return;
	}
	op->flags |= copy ? LNET_OPF_COPY : 0;
	lnet_op_try(p, op, NULL);
}

static void visit_reselect(struct lnet_pass *p, struct lnet_op *op, void *ni)
{
	struct lnet_att *att;

	lnet_rec_op(p, RESELECT, op, ((struct lnet_ni *)ni)->ix, 0);
	lnet_op_for_each_att(att, op)
		if (lnet_att_waits(att) && att->ni == ni)
			lnet_op_reselect(p, op, att);
}

void lnet_ops_reselect_ni(struct lnet_pass *p, struct lnet_ni *ni)
{
	lnet_ops_walk(p, visit_reselect, ni);
}

/*
 * True if the list of NIDs that @peer has omits @ni, or soon will. With that list, a request from
 * the NID of @ni matches no buffer of a stock peer, because the peer compares primary NIDs.
 */
static bool is_unlisted(const struct lnet_ni *ni, const struct lnet_peer *peer)
{
	return lnet_ni_marked(ni, LNET_MARK(LEAVING)) ||
	       (lnet_ni_marked(ni, LNET_MARK(DRAINED)) && !(peer->features & LNET_FEAT_OPEN));
}

/*
 * The peer drops a reply from an NI that it does not know yet. It proves new NIDs of this node by
 * pings to old ones, so the pinged NI sends these replies until it stops. A peer without the
 * extension accepts a reply from any NI.
 */
static bool is_proof(const struct lnet_op *op)
{
	return op->type == LNET_OP_REPLY && op->cls == LNET_CLS_CONTROL &&
	       op->match_bits == LNET_PING_MATCHBITS && (op->peer->features & LNET_FEAT_OPEN) &&
	       READ_ONCE(op->src_ni->state) < NI_STOPPING;
}

/* A ping tests the interface to which it is bound, so it cannot use another one. */
bool lnet_op_source_leaves(const struct lnet_op *op)
{
	if (!op->src_ni || !op->peer->mr || !is_unlisted(op->src_ni, op->peer))
		return false;
	if (lnet_op_answer(op))
		return lnet_ni_marked(op->src_ni, LNET_MARK(LEAVING)) && !is_proof(op);
	return op->kind == LNET_KIND_USER && op->portal != LNET_PORTAL_RESERVED;
}

/*
 * An untracked request with a given source stays bound, because stock nodes match it by its source.
 * A removed NI is an exception, as multi-rail peers match requests from any NI.
 */
bool lnet_op_unbind(struct lnet_op *op)
{
	if (op->binding == LNET_BIND_NONE)
		return true;
	if (op->binding == LNET_BIND_FIXED && !lnet_op_is_tracked(op) &&
	    !lnet_rec_asked(op->sh, lnet_op_source_leaves(op)))
		return false;
	op->binding = LNET_BIND_NONE;
	if (op->src_ni)
		lnet_ni_put(op->src_ni);
	op->src_ni = NULL;
	if (op->via && lnet_op_answer(op)) {
		atomic_dec(&op->via->nr_answers);
		atomic_inc(&op->dst_pni->nr_answers);
	}
	lnet_peer_ni_put(op->via);
	op->via = NULL;
	return true;
}

/* True if @chosen uses the suspect path of @att, or with @by_ni the same interface. */
static bool is_same(const struct lnet_att *att, const struct lnet_path *chosen, bool by_ni)
{
	const struct lnet_path *path = att->path;

	if (by_ni)
		return chosen->ni == path->ni;
	if (path->trunk->suspect_ns)
		path = path->trunk;
	return chosen == path || chosen->trunk == path;
}

bool lnet_op_avoid(struct lnet_pass *p, struct lnet_op *op, bool by_ni)
{
	const struct lnet_path *chosen;

	lnet_rec_op(p, AVOID, op, by_ni, 0);
	if (!lnet_op_unbind(op))
		return true;
	chosen = lnet_op_choose(p, op);
	if (chosen && is_same(&op->first, chosen, by_ni))
		return false;
	lnet_op_reselect(p, op, &op->first);
	return true;
}
