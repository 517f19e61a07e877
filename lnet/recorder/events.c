/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes trace records of the inputs and decisions of the files that select paths, retry requests
 * and compute health. These files are the core of decisions.
 */
#include "recorder/record.h"
#include "path/path.h"
#include "recorder/recorder.h"

u16 lnet_rec_place(const struct lnet_peer_ni *pni)
{
	const struct lnet_peer_ni *at;
	u16 place = 0;

	list_for_each_entry(at, &pni->peer->pnis, link) {
		if (at == pni)
			return place;
		place++;
	}
	return U16_MAX;
}

static u64 note_value(struct lnet_shard *sh, u64 value)
{
	struct lnet_rec r = { .kind = LNET_RK_VALUE, .a = { value } };

	lnet_rec_put(sh, NULL, &r);
	return r.a[0];
}

static void note_op(struct lnet_shard *sh, u64 now_ns, enum lnet_rec_kind kind,
		    struct lnet_op *op, u64 a, u64 b)
{
	struct lnet_rec r = { .kind = kind, .now_ns = now_ns,
			      .a = { a, b, 0, lnet_rec_op_word(op) } };

	if (!op->rec)		/* it has not started yet */
		return;
	r.op = op->rec;
	lnet_rec_put(sh, op->peer, &r);
}

static void note_start(struct lnet_pass *p, struct lnet_op *op)
{
	struct lnet_rec r = { .kind = LNET_RK_START, .now_ns = p->now_ns };

	r.op = lnet_rec_op_id(p->sh, op);
	if (op->peer->rec.seg != lnet_rec_ring(p->sh)->seg)
		lnet_rec_peer(p->sh, op->peer);
	lnet_rec_resync(p->sh, op);
	r.a[3] = lnet_rec_op_word(op);
	lnet_rec_put(p->sh, op->peer, &r);
}

static void note_via(struct lnet_pass *p, enum lnet_rec_kind kind, struct lnet_op *op,
		     const struct lnet_path *path)
{
	struct lnet_rec r = { .kind = kind, .now_ns = p->now_ns,
			      .a = { !!path, 0, 0, lnet_rec_op_word(op) },
			      .path = path ? (u16)path->ix : U16_MAX };

	if (!op->rec)
		return;
	r.op = op->rec;
	lnet_rec_put(p->sh, path ? path->pni->peer : op->peer, &r);
}

static void note_att(struct lnet_pass *p, enum lnet_rec_kind kind, const struct lnet_att *att,
		     u64 a, u64 b)
{
	struct lnet_rec r = { .kind = kind, .now_ns = p->now_ns,
			      .a = { a, b, 0, lnet_rec_op_word(att->op) } };

	if (!att->op->rec)
		return;
	r.op = att->op->rec;
	r.att = att != &att->op->first;
	r.path = (u16)att->path->ix;
	lnet_rec_put(p->sh, att->path->pni->peer, &r);
}

static void note_path(struct lnet_shard *sh, u64 now_ns, enum lnet_rec_kind kind,
		      const struct lnet_path *path, u64 a, u64 b)
{
	struct lnet_rec r = { .kind = kind, .now_ns = now_ns, .path = (u16)path->ix,
			      .a = { a, b } };

	lnet_rec_put(sh, path->pni->peer, &r);
}

static void note_pni(struct lnet_shard *sh, enum lnet_rec_kind kind,
		     const struct lnet_peer_ni *pni, u64 a)
{
	struct lnet_rec r = { .kind = kind };

	/*
	 * The record has the NID of the interface, and not its index in the interface list of the
	 * peer. The recorder may soon write the peer again with other interfaces, and the index may
	 * then differ.
	 */
	memcpy(r.a, &pni->nid, sizeof(pni->nid));
	r.a[3] = a;
	lnet_rec_put(sh, pni->peer, &r);
}

/*
 * Writes a PROBES record: the worker selects paths for recovery pings. Before that, writes the
 * peers of the first paths in the queue if they have changed. An interface may have moved from one
 * peer to another.
 */
static void note_probes(struct lnet_pass *p)
{
	struct lnet_shard *sh = p->sh;
	struct lnet_rec r = { .kind = LNET_RK_PROBES, .now_ns = p->now_ns,
			      .a = { sh->probes.budget_ns } };
	struct lnet_path *path;
	unsigned int nr = 0;

	list_for_each_entry(path, &sh->probes.queue, probe_link) {
		struct lnet_peer *peer = path->pni->peer;

		if (nr++ == LNET_PASS_BURST)
			break;
		if (peer && (peer->rec.seg != lnet_rec_ring(sh)->seg ||
			     lnet_rec_facts(peer) != peer->rec.facts))
			lnet_rec_peer(sh, peer);
	}
	lnet_rec_put(sh, NULL, &r);
}

static void note_ni(struct lnet_shard *sh, enum lnet_rec_kind kind, const struct lnet_ni *ni,
		    u64 a)
{
	struct lnet_rec r = { .kind = kind, .op = ni->ix, .a = { a } };

	lnet_rec_put(sh, NULL, &r);
}

/* Writes ranks, eight per trace record, each clamped to 32 bits. */
static void ranks(struct lnet_shard *sh, const struct lnet_path *path, const s64 *rank)
{
	struct lnet_rec r = { .kind = LNET_RK_RANKS, .path = (u16)path->ix };
	unsigned int i;

	for (i = 0; i < LNET_NR_PATH_RANKS; i++) {
		u32 value = (u32)clamp_t(s64, rank[i], S32_MIN, S32_MAX);

		r.a[i % 8 / 2] |= (u64)value << (i % 2 * 32);
		if (i % 8 != 7 && i + 1 < LNET_NR_PATH_RANKS)
			continue;
		lnet_rec_put(sh, path->pni->peer, &r);
		memset(r.a, 0, sizeof(r.a));
		r.att++;
	}
}

static void note_select(struct lnet_shard *sh, const struct lnet_path *path, u64 how, u64 tried,
			u64 exclude, const s64 *rank)
{
	struct lnet_rec r = { .kind = LNET_RK_SELECT, .path = path ? (u16)path->ix : U16_MAX,
			      .a = { how, tried, exclude, sh->rr_pos } };

	lnet_rec_put(sh, path ? path->pni->peer : NULL, &r);
	if (path && rank)
		ranks(sh, path, rank);
}

const struct lnet_trace_ops lnet_rec_trace = {
	.visit = lnet_rec_visit, .note_value = note_value, .note_op = note_op,
	.note_start = note_start, .resync = lnet_rec_resync, .note_via = note_via,
	.note_att = note_att, .note_path = note_path, .note_pni = note_pni, .note_ni = note_ni,
	.note_select = note_select, .note_probes = note_probes,
};
