/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What waits for credits of a path or an interface that is no good any more chooses again. */
#include "core.h"
#include "record_hook.h"

static bool waits(const struct lnet_att *att)
{
	return att && lnet_att_waits(att);
}

static bool is_free(const struct lnet_att *att)
{
	return !att || att->state == ATT_FREE;
}

/* Waiting costs no try. A copy beside another attempt is not needed any more, one alone goes on. */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	bool copy = lnet_att_is_copy(att);

	lnet_att_drop(p, att);
	if (lnet_op_over(op))
		return;
	if (!is_free(&op->first) || !is_free(op->hedge)) {
		op->hedges -= copy;
		return;
	}
	op->flags |= copy ? LNET_OPF_COPY : 0;
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

/*
 * True if the list of NIDs that @peer has omits @ni, or soon will. With that list, a request from
 * the NID of @ni matches no buffer of a stock peer, because the peer compares primary NIDs.
 */
static bool is_unlisted(const struct lnet_ni *ni, const struct lnet_peer *peer)
{
	return READ_ONCE(ni->leaving) ||
	       (READ_ONCE(ni->drained) && !(peer->features & LNET_FEAT_OPEN));
}

/* A ping tests the interface to which it is bound, so it cannot use another one. */
bool lnet_op_source_leaves(const struct lnet_op *op)
{
	if (!op->src_ni || !op->peer->mr || !is_unlisted(op->src_ni, op->peer))
		return false;
	if (lnet_op_answer(op))
		return READ_ONCE(op->src_ni->leaving);
	return !(op->flags & LNET_OPF_INTERNAL) && op->portal != LNET_PORTAL_RESERVED;
}

/*
 * A request without a name, whose source was given, goes by that way or not at all: stock nodes
 * match it by its source. Multi-rail peers match all that a node sends.
 */
bool lnet_op_unbind(struct lnet_op *op)
{
	u32 pins = op->flags & (LNET_OPF_PINNED_DST | LNET_OPF_PINNED_NI);

	if (pins && !(op->flags & (LNET_OPF_ANY_PATH | LNET_OPF_MARKED)) &&
	    !lnet_op_source_leaves(op))
		return false;
	if (!pins)
		return true;
	op->flags &= ~pins;
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

/* Attempts that wait by @path, or whoever their peer is by its interface, and are to leave it. */
struct leave {
	const struct lnet_path *path;
	bool ni;
	struct list_head *wait;		/* of each class */
	struct list_head *turns;	/* not NULL: the only list */
};

static bool is_by(const struct leave *l, const struct lnet_path *path)
{
	return l->ni ? path->ni == l->path->ni : path == l->path || path->trunk == l->path;
}

/* A copy stays where it is. */
static bool is_movable(const struct lnet_att *att)
{
	return att == &att->op->first && att->op->state == OP_TRY;
}

static void take_from(const struct leave *l, struct list_head *list, struct list_head *due)
{
	struct lnet_att *att, *next;

	list_for_each_entry_safe(att, next, list, link)
		if (is_by(l, att->path) && is_movable(att) && lnet_op_unbind(att->op))
			list_move_tail(&att->link, due);
}

static void take(const struct leave *l, struct list_head *due)
{
	unsigned int cls;

	if (l->turns)
		take_from(l, l->turns, due);
	for (cls = LNET_CLS_REPLY; !l->turns && cls < LNET_NR_CLASSES; cls++)
		take_from(l, &l->wait[cls], due);
}

/* Back to the head, in their order. */
static void put_back(const struct leave *l, struct list_head *stay)
{
	struct lnet_att *att;

	while (!list_empty(stay)) {
		att = list_last_entry(stay, struct lnet_att, link);
		list_move(&att->link, l->turns ? l->turns : &l->wait[att->cls]);
	}
}

/* No better way for one without wishes of its own: there is none for the others to its peer. */
static bool speaks_for_all(const struct lnet_op *op)
{
	return !op->tried && !(op->flags & LNET_OPF_FORWARD);
}

static void leave(struct lnet_pass *p, const struct leave *l)
{
	const struct lnet_peer *stuck = NULL;
	const struct lnet_path *chosen;
	struct lnet_att *att;
	LIST_HEAD(stay);
	LIST_HEAD(due);

	take(l, &due);
	while (!list_empty(&due)) {
		att = list_first_entry(&due, struct lnet_att, link);
		if (att->op->peer != stuck) {
			chosen = lnet_op_choose(p, att->op);
			if (!chosen || !is_by(l, chosen)) {
				lnet_op_reselect(p, att->op, att);
				continue;
			}
			stuck = speaks_for_all(att->op) ? att->op->peer : stuck;
		}
		list_move_tail(&att->link, &stay);
	}
	put_back(l, &stay);
}

/*
 * Those that wait for a credit of the peer's interface, or the router's, to go by @path, or for
 * their turn; and for a credit of our interface, as what holds those is silent.
 */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path)
{
	struct lnet_ni_shard *ns = &path->ni->sh[p->sh->ix];
	struct lnet_path *behind;

	if (path->trunk->nr_turns)
		leave(p, &(struct leave){ .path = path, .turns = &path->turns });
	if (!lnet_path_routed(path) && path->nr_turns)
		list_for_each_entry(behind, &path->carried, carry)
			leave(p, &(struct leave){ .path = path, .turns = &behind->turns });
	leave(p, &(struct leave){ .path = path, .wait = path->hop->wait });
	if (ns->nr_wait)
		leave(p, &(struct leave){ .path = path, .ni = true, .wait = ns->wait });
}
