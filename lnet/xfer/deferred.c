/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations that a pass made under a lock and starts after it has left the shard. */
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"

/* The peer may have moved since @op was made, or its interface become another's. */
static void enter_home(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_peer *peer;

	lnet_enter_pni(p, op->dst_pni);
	op->sh = p->sh;
	peer = op->dst_pni->peer;
	if (likely(op->peer == peer))
		return;
	lnet_peer_get(peer);
	lnet_peer_put(op->peer);
	op->peer = peer;
}

/* A ping of discovery, whose answer may be long. */
static bool wants_sink(const struct lnet_op *op)
{
	return op->type == LNET_OP_GET && !op->md && !op->sink;
}

/* Without memory the ping goes all the same, for what it says of the path. */
static void sink_make(struct lnet_pass *p, struct lnet_op *op)
{
	lnet_leave(p);
	op->copy = lnet_copy_new(op->len);
	op->sink = op->copy ? &op->copy->frag : &op->sh->junk_frag;
	op->len = min_t(u32, op->len, op->sink->len);
}

void lnet_pass_starts(struct lnet_pass *p)
{
	while (!list_empty(&p->defer)) {
		struct lnet_op *op = list_first_entry(&p->defer, struct lnet_op, link);

		list_del_init(&op->link);
		if (unlikely(wants_sink(op)))
			sink_make(p, op);
		enter_home(p, op);
		lnet_op_start(p, op);
	}
}
