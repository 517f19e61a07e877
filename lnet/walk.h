/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Walks over the unfinished operations; included by core.h. */
#ifndef LNET_WALK_H
#define LNET_WALK_H

struct lnet_pass;
struct lnet_path;
struct lnet_peer;

/*
 * [sh] A walk in slices, for all peers with a path that works again and all interfaces with a
 * suspect path. These have the number of the walk that serves them.
 */
struct lnet_walk {
	struct list_head *at;		/* in sh->live: next to visit; NULL: no walk */
	u32 left;			/* operations to visit */
	u32 nr;				/* number of this walk, or of the last one */
	u8 again;			/* another walk is wanted */
	u64 rest_ns;			/* no other walk before, after the last one */
	struct lnet_timer timer;
};

/*
 * No lock held: @visit, [sh], for each unfinished op of each shard; ops may end during the walk.
 * The lock is given up from time to time.
 */
void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg);
/*
 * [sh] A path to @peer works again: lnet_op_path_back() for its operations. The first slice of the
 * walk is at once, the others are in the next ticks.
 */
void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer);
/*
 * [sh] @path is suspect: within the next ticks, lnet_op_avoid() for the operations that wait to use
 * a suspect path, and for those that wait for the interface of @path.
 */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path);
void lnet_walk_timer(struct lnet_pass *p);	/* [sh] the next slice */
/* [sh] takes @op off sh->live */
static inline void lnet_walk_leave(struct lnet_walk *walk, struct lnet_op *op)
{
	if (unlikely(walk->at == &op->all))
		walk->at = op->all.next;
	list_del_init(&op->all);
}

#endif
