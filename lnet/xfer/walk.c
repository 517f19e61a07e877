/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks over all operations. A walk visits a bounded number of operations each time it takes the
 * lock.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "shard/trace.h"

#define WALK_HOLD 64		/* operations per lock hold */
#define SLICE 256U		/* operations that one slice visits */
/* a slice ends after it has retried this number of operations, or chosen their paths again */
#define SLICE_ACTS 64U
#define REST_NS ((u64)NSEC_PER_MSEC)	/* pause between two walks */

/*
 * Pins @op, and writes the pin to the flight recorder, so that a replay of the recording pins @op
 * as well. @op may be NULL.
 */
static struct lnet_op *pin(struct lnet_pass *p, struct lnet_op *op)
{
	if (!op)
		return NULL;
	lnet_rec_op(p, PIN, op, 0, 0);
	op->pins++;
	return op;
}

/* [sh] Undoes pin(); may free @op. */
static void unpin(struct lnet_pass *p, struct lnet_op *op)
{
	lnet_rec_op(p, UNPIN, op, 0, 0);
	lnet_op_unpin(p, op);
}

/*
 * A pinned operation stays in the list while the walk releases the lock. New operations are added
 * to the end of the list, after the @left operations that this walk visits.
 */
void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg)
{
	struct lnet_op *op, *next;
	unsigned int i;
	u32 left;

	for (i = 0; i < p->ln->nr_shards; i++) {
		struct lnet_shard *sh = &p->ln->shard[i];

		lnet_leave(p);
		lnet_enter(p, sh);
		op = pin(p, list_first_entry_or_null(&sh->live, struct lnet_op, all));
		for (left = sh->nr_live; op; op = next) {
			visit(p, op, arg);
			if (left % WALK_HOLD == 0) {
				lnet_leave(p);
				cond_resched();
				lnet_enter(p, sh);
			}
			next = !--left || list_is_last(&op->all, &sh->live) ?
				NULL : pin(p, list_next_entry(op, all));
			unpin(p, op);
		}
	}
	lnet_leave(p);
}

/* ---- slices: a path works again, is suspect or removed; an interface has lost its link ------- */

/*
 * @nr is the number of the walk that is to serve a peer or an NI; 0: none is to. True if the walk
 * @w has this number, or has not reached it yet.
 */
static bool walk_is_due(const struct lnet_walk *w, u32 nr)
{
	return nr && (s32)(nr - w->nr) >= 0;
}

/* True if the link of the NI of @att is down, and the walk with the NI's number has not ended. */
static bool is_cut(const struct lnet_shard *sh, const struct lnet_att *att)
{
	return lnet_att_is_live(att) && !lnet_ni_has_link(att->ni) &&
	       walk_is_due(&sh->walk, att->ni->sh[sh->ix].down_walk);
}

static bool waits_for_gone(const struct lnet_shard *sh, const struct lnet_att *att)
{
	return lnet_att_waits(att) && att->path->gone && walk_is_due(&sh->walk, sh->walk.gone_walk);
}

/*
 * Visits @op. True: @op was retried, or chose a path again. @stuck remembers peers without an
 * alternative, so that the slice skips their other operations. [0]: the last peer for which no path
 * is better than a suspect path. [1]: the last peer for which no NI is better than that of a
 * suspect path.
 */
static bool walk_visit_op(struct lnet_pass *p, struct lnet_op *op, const struct lnet_peer *stuck[2])
{
	const struct lnet_att *att;
	struct lnet_ni *ni = NULL;
	bool by_ni, is_wanted;

	if (is_cut(p->sh, &op->first) || is_cut(p->sh, op->hedge)) {
		pin(p, op);
		lnet_op_for_each_att(att, op)
			if (is_cut(p->sh, att) && att->ni != ni) {
				ni = att->ni;
				lnet_op_ni_down(p, op, ni);
			}
		unpin(p, op);
		return true;
	}
	if (waits_for_gone(p->sh, &op->first) || waits_for_gone(p->sh, op->hedge)) {
		pin(p, op);
		lnet_op_leave_gone(p, op, NULL);
		unpin(p, op);
		return true;
	}
	if (walk_is_due(&p->sh->walk, op->peer->back_walk))
		return lnet_op_path_back(p, op);
	/*
	 * If the first attempt of @op waits for credits, @op may choose another path. The second,
	 * hedged attempt keeps its path.
	 */
	att = &op->first;
	if (op->state != OP_TRY || !lnet_att_waits(att))
		return false;
	/* @op waits for a suspect path, or for an NI that a suspect path also uses */
	by_ni = att->state == ATT_WAIT_NI;
	is_wanted = by_ni ? walk_is_due(&p->sh->walk, att->ni->sh[p->sh->ix].avoid_walk)
			  : att->path->suspect_ns || att->path->first_hop->suspect_ns;
	if (!is_wanted || op->peer == stuck[by_ni])
		return false;
	/*
	 * If @op has no better path, other operations to its peer have none either. This does not
	 * apply if @op was tried or is forwarded.
	 */
	if (!lnet_op_avoid(p, op, by_ni) && !op->tried && op->kind != LNET_KIND_FORWARD)
		stuck[by_ni] = op->peer;
	return true;
}

void lnet_walk_timer(struct lnet_pass *p)
{
	const struct lnet_peer *stuck[2] = { NULL, NULL };
	struct lnet_walk *w = &p->sh->walk;
	unsigned int nr, acts = 0;
	struct lnet_op *op;

	if (!w->at) {
		lnet_timer_cancel(&p->sh->wheel, &w->timer);
		w->nr++;
		w->at = p->sh->live.next;
		w->left = p->sh->nr_live;
		w->again = 0;
	}
	for (nr = 0; nr < SLICE && acts < SLICE_ACTS; nr++) {
		if (w->at == &p->sh->live || !w->left) {
			w->at = NULL;
			w->rest_ns = p->now_ns + REST_NS;
			if (w->again)
				lnet_timer_set(&p->sh->wheel, &w->timer, w->rest_ns);
			return;
		}
		op = list_entry(w->at, struct lnet_op, all);
		w->at = op->all.next;	/* lnet_walk_leave() moves it */
		w->left--;
		acts += walk_visit_op(p, op, stuck);
	}
	lnet_timer_set(&p->sh->wheel, &w->timer, p->now_ns);
}

/* Begins a walk. If a walk is in progress, another walk begins REST_NS after its end. */
static void walk_now(struct lnet_pass *p)
{
	if (p->sh->walk.at)
		p->sh->walk.again = 1;
	else
		lnet_walk_timer(p);
}

void lnet_ops_path_back(struct lnet_pass *p, struct lnet_peer *peer)
{
	if (!peer->nr_ops)
		return;
	peer->back_walk = p->sh->walk.nr + 1;
	walk_now(p);
}

void lnet_ops_link_down(struct lnet_pass *p, struct lnet_ni *ni)
{
	unsigned int i;

	for (i = 0; i < p->ln->nr_shards; i++) {
		lnet_enter(p, &p->ln->shard[i]);
		ni->sh[i].down_walk = p->sh->walk.nr + 1;
		walk_now(p);
		lnet_leave(p);
	}
}

void lnet_ops_walk_gone(struct lnet_pass *p)
{
	p->sh->walk.gone_walk = p->sh->walk.nr + 1;
	walk_now(p);
}

bool lnet_ops_wait_gone(const struct lnet_shard *sh)
{
	const struct lnet_walk *w = &sh->walk;

	return walk_is_due(w, w->gone_walk) && (w->at || w->gone_walk != w->nr);
}

/*
 * Many operations notice the same suspect path, and each calls this function. So the walks that it
 * starts have pauses of REST_NS between them.
 */
void lnet_ops_reselect_path(struct lnet_pass *p, struct lnet_path *path)
{
	struct lnet_ni_shard *ns = &path->ni->sh[p->sh->ix];
	struct lnet_walk *w = &p->sh->walk;

	if (!path->hop->nr_wait && !path->first_hop->nr_large_queue && !ns->nr_wait)
		return;
	if (ns->nr_wait)
		ns->avoid_walk = w->nr + 1;
	if (w->at)
		w->again = 1;
	else if (list_empty(&w->timer.link))
		lnet_timer_set(&p->sh->wheel, &w->timer, max(p->now_ns, w->rest_ns));
}
