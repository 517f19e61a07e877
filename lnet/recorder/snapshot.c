/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Snapshots of the state on which decisions depend: the shard, its interfaces, and each peer with
 * operations or with paths that wait for a ping. Any other peer is written before the first record
 * that names it. If code outside the core of decisions changes the facts about a peer, the peer is
 * written again.
 */
#include "recorder/record.h"
#include "topology/topology.h"
#include "recorder/recorder.h"

#define NR_TUNABLES	(sizeof(struct lnet_tunables) / sizeof(u64))

/* ---- values packed into records -------------------------------------------------------------- */

static u64 u32_pair(u64 low, u64 high)
{
	return (low & U32_MAX) | high << 32;
}

static u8 flag(bool on, unsigned int bit)
{
	return on ? 1U << bit : 0;
}

static void rec_write(struct lnet_shard *sh, struct lnet_rec r)
{
	lnet_rec_write(sh, &r);
}

static void tunables_write(struct lnet_shard *sh)
{
	struct lnet_rec r = { .kind = LNET_RK_TUNABLES };
	const u64 *tun = lnet_rec_ring(sh)->tun;
	u32 i, k;

	for (i = 0; i < NR_TUNABLES; i += 4) {
		r.op = i;
		for (k = 0; k < 4; k++)
			r.a[k] = i + k < NR_TUNABLES ? tun[i + k] : 0;
		lnet_rec_write(sh, &r);
	}
}

void lnet_rec_tunables(struct lnet_shard *sh)
{
	struct lnet_rec_ring *ring = lnet_rec_ring(sh);
	struct lnet *ln = sh->ln;

	if (unlikely(READ_ONCE(ln->stopping) != ring->stopping)) {
		ring->stopping = READ_ONCE(ln->stopping);
		rec_write(sh, (struct lnet_rec){ .kind = LNET_RK_STOPPING });
	}
	if (likely(!memcmp(ring->tun, &ln->tun, sizeof(ln->tun))))
		return;
	memcpy(ring->tun, &ln->tun, sizeof(ln->tun));
	tunables_write(sh);
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static u8 ni_flags(const struct lnet_ni *ni)
{
	return flag(lnet_ni_marked(ni, LNET_MARK(LINK_DOWN)), 0) |
	       flag(lnet_ni_marked(ni, LNET_MARK(RULE_DOWN)), 1) |
	       flag(lnet_ni_marked(ni, LNET_MARK(DRAINED)), 2) | flag(ni == ni->ln->lo, 3) |
	       flag(lnet_ni_marked(ni, LNET_MARK(DAMPED)), 4);
}

static void seen_write(struct lnet_shard *sh, u8 kind, u32 ix, const struct lnet_seen *seen)
{
	rec_write(sh, (struct lnet_rec){ .kind = kind,
					 .op = ix,
					 .a = { u32_pair(seen[0].who, seen[1].who), seen[0].ns,
						seen[1].ns } });
}

static void ni_write(struct lnet_shard *sh, const struct lnet_ni *ni)
{
	const struct lnet_ni_shard *ns = &ni->sh[sh->ix];
	u32 share_left = ns->share_until > sh->rr_pos ? (u32)(ns->share_until - sh->rr_pos) : 0;
	struct lnet_rec r = { .kind = LNET_RK_NI, .op = ni->ix, .att = ni->state,
			      .cls = ni_flags(ni) };

	static_assert(sizeof(ni->nid) == 20);
	memcpy(r.a, &ni->nid, sizeof(ni->nid));
	r.a[3] = u32_pair(ni->net, (u32)ni->dev_cpt);
	lnet_rec_write(sh, &r);
	rec_write(sh, (struct lnet_rec){
		.kind = LNET_RK_NI2, .op = ni->ix,
		.a = { u32_pair((u32)ns->credits, (u32)ni->credits), ns->rr_pos,
		       u32_pair((u32)atomic_read(&ni->health) |
				(u32)READ_ONCE(ni->degradation) << 16, share_left),
		       u32_pair((u32)ni->peer_credits, READ_ONCE(ni->link_speed)) },
	});
	seen_write(sh, LNET_RK_NI3, ni->ix, ns->responded);
	seen_write(sh, LNET_RK_NI4, ni->ix, ns->failed);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static u32 hash_mix(u32 hash, u64 value)
{
	u64 h = (hash ^ value) * 0x9e3779b97f4a7c15ULL;

	return (u32)(h ^ h >> 32);
}

static u8 peer_flags(const struct lnet_peer *peer)
{
	return flag(peer->mr, 0) | flag(peer->deleted, 1) | flag(peer->configured, 2);
}

static u32 path_facts(u32 h, const struct lnet_path *path)
{
	h = hash_mix(h, u32_pair(path->ni->ix, path->ix) + ((u64)ni_flags(path->ni) << 8) +
				((u64)path->ni->state << 56));
	h = hash_mix(h, (u64)path->policy * 4 + path->gone * 2 + !!path->stats);
	h = hash_mix(h,
		     u32_pair(READ_ONCE(path->ni->link_speed), READ_ONCE(path->ni->degradation)));
	if (likely(path->hop == path->pni))
		return h;
	h = hash_mix(h, u32_pair(path->hop->peer->rec.id, lnet_rec_place(path->hop)));
	return path->route ? hash_mix(h, u32_pair(path->route->priority, (u32)path->route->hops))
			   : h;
}

u32 lnet_rec_facts(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;
	u32 h = hash_mix(1, peer_flags(peer));

	list_for_each_entry(pni, &peer->pnis, link) {
		h = hash_mix(h, pni->deleted * 16 + pni->status);
		list_for_each_entry(path, &pni->paths, link)
			h = path_facts(h, path);
	}
	return h;
}

static void pni_write(struct lnet_shard *sh, const struct lnet_peer_ni *pni, u32 id, u16 place)
{
	u32 sticky = pni->sticky ? pni->sticky->ix + 1 : 0;
	struct lnet_rec r = { .kind = LNET_RK_PNI, .peer = id, .pni = place, .att = pni->status,
			      .cls = flag(pni->deleted, 0) |
				     flag(lnet_nid_is_local(sh->ln, &pni->nid), 1) };

	memcpy(r.a, &pni->nid, sizeof(pni->nid));
	r.a[3] = u32_pair(pni->net, pni->health);
	lnet_rec_write(sh, &r);
	rec_write(sh, (struct lnet_rec){
			      .kind = LNET_RK_PNI2,
			      .peer = id,
			      .pni = place,
			      .a = { u32_pair((u32)pni->credits, pni->max_credits), pni->rr_pos,
				     u32_pair(sticky, pni->ix), pni->next_ping_ns },
		      });
}

static u8 path_flags(const struct lnet_path *path)
{
	return flag(path->gone, 0) | flag(path->lost_valid, 1) | flag(path->back_measured, 2) |
	       flag(!list_empty(&path->timer.link), 3) | flag(path->hop != path->pni, 4);
}

/* Writes a further record about the path @ix of the peer @id. */
static void path_more(struct lnet_shard *sh, u8 kind, u32 id, u32 ix, const u64 a[4])
{
	struct lnet_rec r = { .kind = kind, .peer = id, .path = (u16)ix };

	memcpy(r.a, a, sizeof(r.a));
	lnet_rec_write(sh, &r);
}

static void path_write(struct lnet_shard *sh, const struct lnet_path *path, u32 id, u16 place)
{
	const struct lnet_load *load = path->stats ? &path->stats->load : NULL;
	const struct lnet_route *route = path->route;
	struct lnet_rec r = { .kind = LNET_RK_PATH, .peer = id, .path = (u16)path->ix,
			      .pni = place, .cls = path_flags(path), .att = path->recovering };

	r.op = path->ni->ix;
	r.a[0] = u32_pair(path->hop->peer->rec.id, lnet_rec_place(path->hop));
	r.a[1] = (u64)path->policy;
	r.a[2] = route ? u32_pair(route->priority, (u32)route->hops) : 0;
	r.a[3] = path->lost_ns;
	lnet_rec_write(sh, &r);
	path_more(sh, LNET_RK_PATH2, id, path->ix, (u64[4]){
		path->srtt_ns, path->rttvar_ns, path->liveness_ns, path->suspect_ns });
	path_more(sh, LNET_RK_PATH3, id, path->ix, (u64[4]){
		path->down_ns, path->back_ns, path->timer.when_ns });
	path_more(sh, LNET_RK_PATH7, id, path->ix,
		  (u64[4]){ path->busy_ns, path->gap_ns, path->gap_set_ns,
			    u32_pair(path->nr_large, path->nr_large_queue) });
	path_more(sh, LNET_RK_PATH4, id, path->ix,
		  (u64[4]){ u32_pair(path->lost_epoch, path->pinging),
			    u32_pair(path->nr_wire, path->health), path->failed_ns });
	if (!load)
		return;
	path_more(sh, LNET_RK_PATH5, id, path->ix, (u64[4]){
		load->bytes, load->mib_ns, load->end_ns, load->since_ns });
	path_more(sh, LNET_RK_PATH6, id, path->ix,
		  (u64[4]){ load->seen_ns, load->done, u32_pair(load->ends, load->mbit) });
}

/* Writes the routers of @peer first, because the paths of @peer refer to them. */
static void hops_write(struct lnet_shard *sh, struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	list_for_each_entry(pni, &peer->pnis, link)
		list_for_each_entry(path, &pni->paths, link)
			if (unlikely(path->hop->peer != peer) &&
			    path->hop->peer->rec.seg != lnet_rec_ring(sh)->seg)
				lnet_rec_peer(sh, path->hop->peer);
}

static void peer_write(struct lnet_shard *sh, struct lnet_peer *peer, bool changed)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;
	u32 id = peer->rec.id;
	u16 place = 0;

	rec_write(sh, (struct lnet_rec){ .kind = LNET_RK_PEER,
					 .peer = id,
					 .cls = peer_flags(peer),
					 .att = changed,
					 .a = { (u64)peer->hedge_tokens,
						u32_pair(peer->nr_pnis, peer->nr_paths),
						peer->pings_paid_ns } });
	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry(path, &pni->paths, link)
			ni_write(sh, path->ni);
		pni_write(sh, pni, id, place++);
	}
	place = 0;
	list_for_each_entry(pni, &peer->pnis, link) {
		list_for_each_entry(path, &pni->paths, link)
			path_write(sh, path, id, place);
		place++;
	}
	rec_write(sh, (struct lnet_rec){ .kind = LNET_RK_PEER_END, .peer = id });
}

/* ---- operations ------------------------------------------------------------------------------ */

static void att_write(struct lnet_shard *sh, const struct lnet_att *att, u32 id, bool second)
{
	if (!att || att->state == ATT_FREE)
		return;
	rec_write(sh, (struct lnet_rec){
			      .kind = LNET_RK_ATT,
			      .op = id,
			      .att = second,
			      .path = (u16)att->path->ix,
			      .cls = att->cls,
			      .peer = att->path->pni->peer->rec.id,
			      .a = { u32_pair(att->state | att->outcome << 8 | att->flags << 16,
					      att->epoch),
				     att->deadline_ns, att->posted_ns, att->load } });
}

static u16 pni_place(const struct lnet_peer_ni *pni)
{
	return pni ? lnet_rec_place(pni) : U16_MAX;
}

static void op_write(struct lnet_shard *sh, struct lnet_op *op)
{
	u32 id = lnet_rec_op_id(sh, op), src = op->src_ni ? op->src_ni->ix + 1 : 0;
	const struct lnet_peer_ni *dst = op->dst_pni, *via = op->via;

	rec_write(sh, (struct lnet_rec){
			      .kind = LNET_RK_OP,
			      .op = id,
			      .peer = op->peer->rec.id,
			      .cls = op->cls,
			      .att = flag(op->hedge, 0) | flag(!list_empty(&op->timer.link), 1) |
				     flag(op->md, 2),
			      .a = { u32_pair(lnet_rec_op_word(op), op->type | op->state << 8 |
									    (u32)op->outcome << 16 |
									    (u32)op->nr_held << 24),
				     op->tries | (u64)op->unsent << 16 | (u64)op->hedges << 32 |
					     (u64)op->pins << 40,
				     op->tried, op->suspect_ns } });
	rec_write(sh, (struct lnet_rec){
		.kind = LNET_RK_OP2, .op = id, .peer = op->peer->rec.id,
		.a = { op->deadline_ns, op->timeout_ns, op->first_wire_ns } });
	rec_write(sh, (struct lnet_rec){ .kind = LNET_RK_OP3,
					 .op = id,
					 .peer = op->peer->rec.id,
					 .pni = pni_place(dst),
					 .path = pni_place(via),
					 .a = { u32_pair(src, op->md ? (u32)op->md->cpt : U32_MAX),
						u32_pair(dst ? dst->peer->rec.id : 0,
							 via ? via->peer->rec.id : 0),
						op->timer.when_ns, op->len } });
	att_write(sh, &op->first, id, false);
	att_write(sh, op->hedge, id, true);
}

/* Writes the peers to which @op refers. Records name a peer by the number of its record. */
static void op_peers(struct lnet_shard *sh, struct lnet_op *op)
{
	u32 seg = lnet_rec_ring(sh)->seg;

	if (op->peer->rec.seg != seg)
		lnet_rec_peer(sh, op->peer);
	if (op->dst_pni && op->dst_pni->peer->rec.seg != seg)
		lnet_rec_peer(sh, op->dst_pni->peer);
	if (op->via && op->via->peer->rec.seg != seg)
		lnet_rec_peer(sh, op->via->peer);
}

void lnet_rec_resync(struct lnet_shard *sh, struct lnet_op *op)
{
	op_peers(sh, op);
	op_write(sh, op);
}

void lnet_rec_peer(struct lnet_shard *sh, struct lnet_peer *peer)
{
	bool changed = peer->rec.seg == lnet_rec_ring(sh)->seg;
	struct lnet_op *op;

	if (!peer->rec.id)
		peer->rec.id = (u32)atomic_inc_return(&lnet_rec_ring(sh)->owner->peers) & 0xffffff;
	peer->rec.seg = lnet_rec_ring(sh)->seg;
	hops_write(sh, peer);
	peer->rec.facts = lnet_rec_facts(peer);
	peer_write(sh, peer, changed);
	if (!changed)
		return;
	list_for_each_entry(op, &sh->live, all)
		if (op->peer == peer)
			op_write(sh, op);
}

/* ---- queues ---------------------------------------------------------------------------------- */

struct queue {			/* a queue that is being written, with eight entries per record */
	struct lnet_shard *sh;
	struct lnet_rec r;
	unsigned int nr;
};

static void queue_add(struct queue *q, u32 ref)
{
	q->r.a[q->nr / 2] |= (u64)ref << (q->nr % 2 * 32);
	if (++q->nr < 8)
		return;
	lnet_rec_write(q->sh, &q->r);
	memset(q->r.a, 0, sizeof(q->r.a));
	q->nr = 0;
}

static void queue_end(struct queue *q)
{
	if (q->nr)
		lnet_rec_write(q->sh, &q->r);
}

static void atts_write(struct lnet_shard *sh, struct lnet_rec r, const struct list_head *list)
{
	struct queue q = { .sh = sh, .r = r };
	const struct lnet_att *att;

	q.r.kind = LNET_RK_QUEUE;
	list_for_each_entry(att, list, link)
		if (att->op->rec)
			queue_add(&q, att->op->rec << 1 | (att != &att->op->first));
	queue_end(&q);
}

static u32 path_ref(const struct lnet_path *path)
{
	return path->pni->peer->rec.id << 8 | (path->ix & 0xff);
}

static void carried_write(struct lnet_shard *sh, const struct lnet_path *first_hop)
{
	struct queue q = { .sh = sh, .r = { .kind = LNET_RK_QUEUE, .att = LNET_RQ_GW_PATHS } };
	const struct lnet_path *path;

	q.r.peer = first_hop->pni->peer->rec.id;
	q.r.path = (u16)first_hop->ix;
	list_for_each_entry(path, &first_hop->gw_paths, gw_link)
		if (path->pni->peer->rec.seg == lnet_rec_ring(sh)->seg)
			queue_add(&q, path_ref(path));
	queue_end(&q);
}

static void pni_queues(struct lnet_shard *sh, const struct lnet_peer_ni *pni, u16 place)
{
	struct lnet_rec r = { .peer = pni->peer->rec.id, .pni = place };
	const struct lnet_path *path;

	for (r.cls = 0; r.cls < LNET_NR_CLASSES; r.cls++)
		atts_write(sh, r, &pni->wait[r.cls]);
	r.cls = 0;
	list_for_each_entry(path, &pni->paths, link) {
		r.path = (u16)path->ix;
		r.att = LNET_RQ_AWAIT_REPLY;
		atts_write(sh, r, &path->await_reply);
		r.att = LNET_RQ_LARGE;
		atts_write(sh, r, &path->large_queue);
		if (!lnet_path_is_routed(path))
			carried_write(sh, path);
	}
}

static void peer_queues(struct lnet_shard *sh, struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;
	u16 place = 0;

	if (peer->rec.queues == lnet_rec_ring(sh)->seg)
		return;
	peer->rec.queues = lnet_rec_ring(sh)->seg;
	list_for_each_entry(pni, &peer->pnis, link) {
		pni_queues(sh, pni, place++);
		list_for_each_entry(path, &pni->paths, link)
			if (path->hop->peer != peer)
				peer_queues(sh, path->hop->peer);
	}
}

static void queues_write(struct lnet_shard *sh)
{
	struct lnet_rec r = { .att = LNET_RQ_NI };
	struct queue q = { .sh = sh, .r = { .kind = LNET_RK_QUEUE, .att = LNET_RQ_PROBES } };
	struct lnet_path *path;
	struct lnet_op *op;
	struct lnet_ni *ni;

	list_for_each_entry(op, &sh->live, all)
		peer_queues(sh, op->peer);
	list_for_each_entry(ni, &sh->ln->nis, link) {
		r.op = ni->ix;
		for (r.cls = 0; r.cls < LNET_NR_CLASSES; r.cls++)
			atts_write(sh, r, &ni->sh[sh->ix].wait[r.cls]);
	}
	list_for_each_entry(path, &sh->probes.queue, probe_link)
		queue_add(&q, path_ref(path));
	queue_end(&q);
}

void lnet_rec_snapshot(struct lnet_shard *sh)
{
	struct lnet_rec_ring *ring = lnet_rec_ring(sh);
	struct lnet_path *path;
	struct lnet_op *op;
	struct lnet_ni *ni;

	rec_write(sh, (struct lnet_rec){
		.kind = LNET_RK_BEGIN, .op = ring->seg, .att = READ_ONCE(sh->ln->stopping),
		.a = { sh->rr_pos, sh->probes.budget_ns, sh->nr_live,
		       list_empty(&sh->probes.timer.link) ? 0 : sh->probes.timer.when_ns } });
	ring->stopping = READ_ONCE(sh->ln->stopping);
	memcpy(ring->tun, &sh->ln->tun, sizeof(sh->ln->tun));
	tunables_write(sh);
	list_for_each_entry(ni, &sh->ln->nis, link)
		ni_write(sh, ni);
	list_for_each_entry(op, &sh->live, all)
		op_peers(sh, op);
	list_for_each_entry(path, &sh->probes.queue, probe_link)
		if (path->pni->peer->rec.seg != ring->seg)
			lnet_rec_peer(sh, path->pni->peer);
	list_for_each_entry(op, &sh->live, all)
		op_write(sh, op);
	queues_write(sh);
	rec_write(sh, (struct lnet_rec){ .kind = LNET_RK_END, .op = ring->seg });
}
