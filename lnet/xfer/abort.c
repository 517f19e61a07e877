/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Aborts operations: all to a peer, all of a memory descriptor, or all of the node. */
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
	if (f->md && (op->md != f->md || !lnet_op_request(op)))
		return;
	lnet_rec_op(p, GIVE_UP, op, f->how, 0);
	if (!lnet_op_over(op))
		lnet_op_given_up(op);
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
