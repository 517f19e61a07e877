/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits for credits of a path or an interface that is no good any more chooses again. */
#include "core.h"
#include "record_hook.h"

static bool waits(const struct lnet_att *att)
{
	return att && (att->state == ATT_WAIT_PEER || att->state == ATT_WAIT_NI);
}

static bool is_free(const struct lnet_att *att)
{
	return !att || att->state == ATT_FREE;
}

/* Waiting costs no try. */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	lnet_att_drop(p, att);
	if (!lnet_op_over(op) && is_free(&op->first) && is_free(op->hedge))
		lnet_op_try(p, op);
}

static void visit_reselect(struct lnet_pass *p, struct lnet_op *op, void *ni)
{
	lnet_rec_op(p, RESELECT, op, ((struct lnet_ni *)ni)->ix, 0);
	if (waits(&op->first) && op->first.ni == ni)
		lnet_op_reselect(p, op, &op->first);
	if (waits(op->hedge) && op->hedge->ni == ni)
		lnet_op_reselect(p, op, op->hedge);
}

void lnet_ops_reselect_ni(struct lnet_pass *p, struct lnet_ni *ni)
{
	lnet_ops_walk(p, visit_reselect, ni);
}

static bool is_over(const struct lnet_path *chosen, const struct lnet_path *path)
{
	return chosen && (chosen == path || chosen->trunk == path);
}

/* Only what may go another way. */
static bool is_movable(const struct lnet_att *att)
{
	return att == &att->op->first && att->op->state == OP_TRY &&
	       !(att->op->flags & LNET_OPF_PINNED_DST);
}

/* Back to the head, in their order. */
static void put_back(struct list_head *due, struct list_head *wait)
{
	struct lnet_att *att;

	while (!list_empty(due)) {
		att = list_last_entry(due, struct lnet_att, link);
		list_move(&att->link, &wait[att->cls]);
	}
}

/* Those that wait for a credit of the peer's interface, or the router's, to go by @path. */
static void leave_peer(struct lnet_pass *p, struct lnet_path *path)
{
	struct list_head *wait = path->hop->wait;
	struct lnet_att *att, *next;
	LIST_HEAD(due);
	unsigned int cls;

	for (cls = LNET_CLS_REPLY; cls < LNET_NR_CLASSES; cls++)
		list_for_each_entry_safe(att, next, &wait[cls], link)
			if (is_over(att->path, path) && is_movable(att))
				list_move_tail(&att->link, &due);
	while (!list_empty(&due)) {
		att = list_first_entry(&due, struct lnet_att, link);
		if (is_over(lnet_op_choose(p, att->op), path))
			break;		/* nor is there a better one for the others */
		lnet_op_reselect(p, att->op, att);
	}
	put_back(&due, wait);
}

/*
 * And for one of our interface, whoever their peer is: what holds its credits is silent. They may
 * have another interface whose credits are free.
 */
static void leave_ni(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct list_head *wait = ni->sh[p->sh->ix].wait;
	const struct lnet_path *chosen;
	struct lnet_att *att, *next;
	LIST_HEAD(due);
	unsigned int cls;

	for (cls = LNET_CLS_REPLY; cls < LNET_NR_CLASSES; cls++)
		list_for_each_entry_safe(att, next, &wait[cls], link)
			if (is_movable(att))
				list_move_tail(&att->link, &due);
	while (!list_empty(&due)) {
		att = list_first_entry(&due, struct lnet_att, link);
		chosen = lnet_op_choose(p, att->op);
		if (chosen && chosen->ni == ni)
			break;
		lnet_op_reselect(p, att->op, att);
	}
	put_back(&due, wait);
}

void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path)
{
	leave_peer(p, path);
	if (path->ni->sh[p->sh->ix].nr_wait)
		leave_ni(p, path->ni);
}
