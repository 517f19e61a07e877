/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Replaces the functions outside the core of decisions that the core calls. In a replay they have
 * no effect, and their results are in the recording.
 */
#include <stdlib.h>
#include "lnet/shard/hooks.h"
#include "tests/sim/replay.h"
#include "lnet/shard/shard.h"
#include "lnet/topology/topology.h"
#include "lnet/memory/memory.h"
#include "lnet/xfer/xfer.h"
#include "lnet/receive/receive.h"
#include "lnet/service/service.h"
#include "lnet/recorder/recorder.h"

struct replay *replay_of(const struct lnet *ln)
{
	return (struct replay *)ln->env;
}

/* The recorded result of the current call. */
static u64 answer(struct lnet_shard *sh)
{
	const struct lnet_rec *r = replay_next(replay_of(sh->ln), sh->ix);

	return r && r->kind == LNET_RK_VALUE ? r->a[0] : 0;
}

/* ---- functions that may call the core -------------------------------------------------------- */

void lnet_op_free_id(struct lnet_pass *p, struct lnet_op *op)
{
	(void)op;
	replay_nested(replay_of(p->ln), p->sh);
}

void replay_ping(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns)
{
	(void)path;
	(void)timeout_ns;
	replay_nested(replay_of(p->ln), p->sh);
}

void lnet_session_doubt(struct lnet_pass *p, struct lnet_peer *peer)
{
	(void)p;
	(void)peer;
}

void lnet_gateway_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	(void)p;
	(void)peer;
}

void lnet_session_path_lost(struct lnet_pass *p, struct lnet_peer *peer)
{
	(void)p;
	(void)peer;
}

/* ---- functions with a result ----------------------------------------------------------------- */

bool lnet_session_is_ready(struct lnet_pass *p, struct lnet_peer *peer)
{
	(void)peer;
	replay_nested(replay_of(p->ln), p->sh);
	return false;
}

bool lnet_session_is_open(const struct lnet_peer *peer)
{
	(void)peer;
	return false;
}

static bool resendable(const struct lnet_op *op)
{
	(void)op;
	return false;
}

static bool stuck(const struct lnet_op *op, const struct lnet_path *path)
{
	(void)op;
	(void)path;
	return false;
}

static u64 avoid(const struct lnet_op *op)
{
	(void)op;
	return 0;
}

static void substitute(struct lnet_op *op)
{
	(void)op;
}

const struct lnet_hooks replay_hooks = {
	.forward_op = { .is_resendable = resendable, .is_stuck = stuck, .substitute = substitute,
			.avoid = avoid },
};

bool lnet_md_aborted(const struct lnet_md *md)
{
	(void)md;
	return false;
}

bool lnet_op_draw_id(struct lnet_pass *p, struct lnet_op *op)
{
	(void)op;
	return answer(p->sh);
}

int lnet_slot_take(struct lnet *ln, struct lnet_op *op)
{
	(void)ln;
	if (answer(op->sh))
		return -ENOMEM;
	lnet_op_set_id(op, ID_SLOT);
	return 0;
}

bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid)
{
	const struct lnet_peer_ni *pni = container_of(nid, struct lnet_peer_ni, nid);

	(void)ln;
	return ((const struct replay_pni *)pni)->local;
}

struct lnet_att *lnet_att_take(struct lnet_shard *sh)
{
	return answer(sh) ? calloc(1, sizeof(struct lnet_att)) : NULL;
}

/* ---- functions without relevance for a replay ------------------------------------------------ */

void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	p->sh = sh;
}

void lnet_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni)
{
	p->sh = pni->sh;
}

void lnet_leave(struct lnet_pass *p)
{
	(void)p;
}

void lnet_pass_end(struct lnet_pass *p)
{
	(void)p;
}

void lnet_ops_walk(struct lnet_pass *p,
		   void (*visit)(struct lnet_pass *p, struct lnet_op *op, void *arg), void *arg)
{
	visit(p, replay_of(p->ln)->visited, arg);
}

struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev)
{
	(void)ln;
	(void)prev;
	return NULL;
}

void lnet_op_recycle(struct lnet_shard *sh, struct lnet_op *op)
{
	replay_op_gone(replay_of(sh->ln), op);
}

void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last)
{
	(void)p;
	(void)md;
	(void)e;
	(void)last;
}

#define NOTHING(name, ...) void name(__VA_ARGS__) { }
NOTHING(lnet_ni_get, struct lnet_ni *ni)
NOTHING(lnet_ni_put, struct lnet_ni *ni)
NOTHING(lnet_op_wait_window, struct lnet_pass *p, struct lnet_op *op)
NOTHING(lnet_ops_reselect_path, struct lnet_pass *p, struct lnet_path *path)
NOTHING(lnet_op_wire, struct lnet_op *op)
NOTHING(lnet_peer_get, struct lnet_peer *peer)
NOTHING(lnet_peer_put, struct lnet_peer *peer)
NOTHING(lnet_peer_ni_hold, struct lnet_peer_ni *pni)
NOTHING(lnet_peer_ni_put, struct lnet_peer_ni *pni)
NOTHING(lnet_rx_want_stop, struct lnet_pass *p, struct lnet_rx *rx)
NOTHING(lnet_stat_reply, struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op)
NOTHING(lnet_stat_end, struct lnet_shard *sh, const struct lnet_op *op)
NOTHING(lnet_stat_posted, struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op,
	u64 ns)
NOTHING(lnet_stat_sent, struct lnet_pass *p, struct lnet_path *path, const struct lnet_op *op)
NOTHING(lnet_stat_start, struct lnet_shard *sh, struct lnet_op *op)

/* ---- the recorder, which compares in a replay ------------------------------------------------ */

u32 lnet_rec_op_id(struct lnet_shard *sh, struct lnet_op *op)
{
	(void)sh;
	return op->rec;
}

NOTHING(lnet_rec_peer, struct lnet_shard *sh, struct lnet_peer *peer)
NOTHING(lnet_rec_resync, struct lnet_shard *sh, struct lnet_op *op)
NOTHING(lnet_rec_visit, struct lnet_pass *p)

void lnet_rec_put(struct lnet_shard *sh, struct lnet_peer *peer, struct lnet_rec *r)
{
	r->shard = (u8)sh->ix;
	r->peer = peer ? peer->rec.id : 0;
	replay_take(replay_of(sh->ln), sh, r);
}
