/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks over the unfinished operations; included by core.h. */
#ifndef LNET_WALK_H
#define LNET_WALK_H

#include "model/op.h"

struct lnet_ni;
struct lnet_pass;
struct lnet_path;
struct lnet_peer;

/*
 * No lock held. Calls @visit, [sh], for each unfinished op of each shard; ops may end during the
 * walk. Releases the lock after a bounded number of ops.
 */
void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg);
/*
 * [sh] A path to @peer works again: calls lnet_op_path_back() for the operations of @peer. The
 * function does the first slice of the walk; the others are in the next ticks.
 */
void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] @path is suspect: in the next ticks, a walk calls lnet_op_avoid() for the operations that
 * wait for a suspect path, and for those that wait for the interface of @path.
 */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path);
/*
 * No lock held. @ni has no link: calls lnet_op_ni_down() for the operations of all shards. The
 * function does the first slice of each shard; the others are in the next ticks.
 */
void lnet_ops_link_down(struct lnet_pass *p, struct lnet_ni *ni);
void lnet_walk_timer(struct lnet_pass *p);	/* [sh] the next slice */
/* [sh] takes @op off sh->live */
static inline void lnet_walk_leave(struct lnet_walk *walk, struct lnet_op *op)
{
	if (unlikely(walk->at == &op->all))
		walk->at = op->all.next;
	list_del_init(&op->all);
}

#endif
