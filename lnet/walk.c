/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks over all operations that keep nobody from a shard for long. */
#include "plat.h"
#include "core.h"
#include "record_hook.h"

#define WALK_HOLD 64		/* operations per lock hold */

/* [sh] The one behind @op, pinned; NULL: there is none, or @left are seen. */
static struct lnet_op *next_pinned(struct lnet_pass *p, struct lnet_op *op, u32 left)
{
	struct lnet_op *next;

	if (!left || list_is_last(&op->all, &op->sh->live))
		return NULL;
	next = list_next_entry(op, all);
	lnet_rec_op(p, PIN, next, 0, 0);
	next->pins++;
	return next;
}

/*
 * What is pinned stays in the list, also while the lock is not held. Operations that are made
 * meanwhile stand behind those that are meant.
 */
static void walk_shard(struct lnet_pass *p, struct lnet_shard *sh,
		       void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg)
{
	struct lnet_op *op, *next;
	u32 left;

	lnet_enter(p, sh);
	op = list_first_entry_or_null(&sh->live, struct lnet_op, all);
	if (op) {
		lnet_rec_op(p, PIN, op, 0, 0);
		op->pins++;
	}
	for (left = sh->nr_live; op; op = next) {
		visit(p, op, arg);
		if (left % WALK_HOLD == 0) {
			lnet_leave(p);
			cond_resched();
			lnet_enter(p, sh);
		}
		next = next_pinned(p, op, --left);
		lnet_rec_op(p, UNPIN, op, 0, 0);
		lnet_op_unpin(p, op);
	}
	lnet_leave(p);
}

void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; i < p->ln->nr_shards; i++) {
		lnet_leave(p);
		walk_shard(p, &p->ln->shard[i], visit, arg);
	}
}
