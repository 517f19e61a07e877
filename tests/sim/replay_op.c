/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rebuilds operations, their attempts, and the queues in which these and paths wait. */
#include <stdlib.h>
#include "tests/sim/replay_state.h"
#include "lnet/base/base.h"
#include "lnet/shard/shard.h"

struct lnet_op *replay_op(struct replay *rp, u32 id)
{
	struct replay_op *at = rp->ops[id % REPLAY_HASH];

	while (at && at->op.rec != id)
		at = at->next;
	return at ? &at->op : NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

static void op_over(struct lnet_pass *p, struct lnet_op *op)
{
	replay_nested(replay_of(p->ln), op->sh);
}

static struct lnet_op *op_make(struct replay *rp, u32 id)
{
	struct replay_op *at = must(calloc(1, sizeof(*at)));
	struct lnet_op *op = &at->op;

	lnet_op_init(op);
	op->rec = id;
	op->done = op_over;
	at->next = rp->ops[id % REPLAY_HASH];
	rp->ops[id % REPLAY_HASH] = at;
	return op;
}

void replay_op_gone(struct replay *rp, struct lnet_op *op)
{
	struct replay_op **at = &rp->ops[op->rec % REPLAY_HASH];

	while (*at && &(*at)->op != op)
		at = &(*at)->next;
	if (*at)
		*at = (*at)->next;
	free(op);
}

static void op_set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = replay_op(rp, r->op);
	u8 state = (u8)(high(r->a[0]) >> 8);
	bool known = op;

	op = op ? op : op_make(rp, r->op);
	if (known)
		replay_same(rp, r, "the state of the operation", state, op->state);
	op->sh = shard_of(rp, r);
	op->peer = replay_peer_of(rp, r);
	lnet_rec_op_unpack(op, low(r->a[0]));
	op->type = (u8)high(r->a[0]);
	op->state = state;
	op->outcome = (u8)(high(r->a[0]) >> 16);
	op->nr_held = (u8)(high(r->a[0]) >> 24);
	op->cls = r->cls;
	op->tries = (u16)r->a[1];
	op->unsent = (u16)(r->a[1] >> 16);
	op->hedges = (u8)(r->a[1] >> 32);
	op->pins = (u8)(r->a[1] >> 40);
	op->tried = r->a[2];
	op->suspect_ns = r->a[3];
	op->md = r->att & 4 ? &((struct replay_op *)op)->md : NULL;
	if (!known && state != OP_NEW)
		list_add_tail(&op->all, &op->sh->live);
	if (!(r->att & 2))
		lnet_timer_cancel(&op->sh->wheel, &op->timer);
	else if (list_empty(&op->timer.link))
		lnet_timer_set(&op->sh->wheel, &op->timer, 0);
}

static struct lnet_op *op_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = replay_op(rp, r->op);

	if (!op)
		replay_differs(rp, r, "it names an operation that was not told of");
	return op;
}

static void op_set2(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);

	op->deadline_ns = r->a[0];
	op->timeout_ns = r->a[1];
	op->first_wire_ns = r->a[2];
}

static void op_set3(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);
	u32 src = low(r->a[0]);

	op->src_ni = src ? replay_ni_of(rp, r, src - 1) : NULL;
	op->dst_pni = r->pni == U16_MAX ? NULL : replay_pni(rp, low(r->a[1]), r->pni);
	op->via = r->path == U16_MAX ? NULL : replay_pni(rp, high(r->a[1]), r->path);
	((struct replay_op *)op)->md.cpt = (s32)high(r->a[0]);
	if (!list_empty(&op->timer.link))
		lnet_timer_set(&op->sh->wheel, &op->timer, r->a[2]);
	op->timer.when_ns = r->a[2];
	op->len = (u32)r->a[3];
}

static void att_set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_op *op = op_of(rp, r);
	struct lnet_att *att = &op->first;
	bool known;

	if (r->att && !op->hedge) {
		op->hedge = must(calloc(1, sizeof(*op->hedge)));
		INIT_LIST_HEAD(&op->hedge->link);
		op->hedge->op = op;
	}
	att = r->att ? op->hedge : att;
	known = att->state != ATT_FREE;
	if (known)
		replay_same(rp, r, "the state of the attempt", low(r->a[0]) & 0xff, att->state);
	att->path = replay_path_of(rp, r);
	att->ni = att->path->ni;
	att->pni = att->path->hop;
	att->cls = r->cls;
	att->state = (u8)r->a[0];
	att->outcome = (u8)(r->a[0] >> 8);
	att->flags = (u8)(r->a[0] >> 16);
	att->epoch = high(r->a[0]);
	att->deadline_ns = r->a[1];
	att->posted_ns = r->a[2];
	att->load = (u32)r->a[3];
}

/* ---- queues ---------------------------------------------------------------------------------- */

static void queue_att(struct replay *rp, const struct lnet_rec *r, u32 ref, struct list_head *list,
		      u32 *nr)
{
	struct lnet_op *op = replay_op(rp, ref >> 1);
	struct lnet_att *att = op ? ref & 1 ? op->hedge : &op->first : NULL;

	if (!att)
		replay_differs(rp, r, "an attempt in a queue was not told of");
	list_move_tail(&att->link, list);
	*nr += 1;
}

static void queue_path(struct replay *rp, const struct lnet_rec *r, u32 ref)
{
	struct lnet_path *path = replay_path(rp, ref >> 8, ref & 0xff);

	if (!path)
		replay_differs(rp, r, "a path in a queue was not told of");
	if (r->att == LNET_RQ_PROBES)
		list_move_tail(&path->probe_link, &shard_of(rp, r)->probes.queue);
	else
		list_move_tail(&path->gw_link, &replay_path_of(rp, r)->gw_paths);
}

static void queue_ref(struct replay *rp, const struct lnet_rec *r, u32 ref)
{
	struct lnet_peer_ni *pni;
	struct lnet_ni *ni;
	u32 none;

	if (r->cls >= LNET_NR_CLASSES)
		replay_differs(rp, r, "there is no such class");
	switch (r->att) {
	case LNET_RQ_PEER:
		pni = replay_pni(rp, r->peer, r->pni);
		if (!pni)
			replay_differs(rp, r, "the interface of a queue was not told of");
		queue_att(rp, r, ref, &pni->wait[r->cls], &pni->nr_wait);
		break;
	case LNET_RQ_NI:
		ni = replay_ni_of(rp, r, r->op);
		queue_att(rp, r, ref, &ni->sh[r->shard].wait[r->cls], &ni->sh[r->shard].nr_wait);
		break;
	case LNET_RQ_AWAIT_REPLY:
		queue_att(rp, r, ref, &replay_path_of(rp, r)->await_reply, &none);
		break;
	case LNET_RQ_LARGE:
		queue_att(rp, r, ref, &replay_path_of(rp, r)->large_queue, &none);
		break;
	default:
		queue_path(rp, r, ref);
	}
}

void replay_queue(struct replay *rp, const struct lnet_rec *r)
{
	unsigned int i;

	if (!rp->shard[r->shard].fresh)
		return;
	for (i = 0; i < 8; i++) {
		u32 ref = i % 2 ? high(r->a[i / 2]) : low(r->a[i / 2]);

		if (ref)
			queue_ref(rp, r, ref);
	}
}

void replay_op_set(struct replay *rp, const struct lnet_rec *r)
{
	switch (r->kind) {
	case LNET_RK_OP:
		op_set(rp, r);
		break;
	case LNET_RK_OP2:
		op_set2(rp, r);
		break;
	case LNET_RK_OP3:
		op_set3(rp, r);
		break;
	default:
		att_set(rp, r);
	}
}
