/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The invariants: at any time, of each request (lnt-075), and when nothing is in flight. */
#include "tests/sim/scenario.h"
#include "lnet/xfer/xfer.h"
#include "lnet/receive/receive.h"

/* ---- credits --------------------------------------------------------------------------------- */

struct tally {			/* of one node */
	s64 peer_taken, peer_held;	/* credits in use; attempts that hold one */
	s64 ni_taken, ni_held;
	s64 holds, with_driver;
	u64 live;
};

static void tally_att(struct tally *t, const struct lnet_att *att)
{
	if (!att)
		return;
	t->peer_held += att->state == ATT_WAIT_NI || att->state == ATT_WIRE;
	t->ni_held += att->state == ATT_WIRE;
	t->with_driver += att->state == ATT_WIRE || att->state == ATT_POSTED;
}

static void tally_ni(struct tally *t, const struct lnet_ni *ni, u32 nr_shards)
{
	s32 quota = nr_shards == 1 ? ni->credits :
		    min(max(ni->credits / (s32)nr_shards, 8 * ni->peer_credits), ni->credits);
	u32 i;

	for (i = 0; i < nr_shards; i++) {
		t->ni_taken += max(quota, 1) - ni->sh[i].credits;
		t->holds += ni->sh[i].holds;
	}
}

static void tally_node(struct tally *t, struct lnet *ln)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_op *op;
	struct lnet_ni *ni;
	u32 i;

	memset(t, 0, sizeof(*t));
	list_for_each_entry(ni, &ln->nis, link)
		tally_ni(t, ni, ln->nr_shards);
	list_for_each_entry(peer, &ln->peers, link)
		list_for_each_entry(pni, &peer->pnis, link)
			t->peer_taken += (s64)pni->max_credits - pni->credits;
	for (i = 0; i < ln->nr_shards; i++) {
		t->live += ln->shard[i].nr_live;
		list_for_each_entry(op, &ln->shard[i].live, all) {
			tally_att(t, &op->first);
			tally_att(t, op->hedge);
		}
	}
}

static void check_credits(struct sim_world *w, u32 n)
{
	struct tally t;

	tally_node(&t, w->node[n].ln);
	if (t.peer_taken != t.peer_held)
		sim_fail(w, "node %u: %lld peer credits are taken, attempts hold %lld", n,
			 (long long)t.peer_taken, (long long)t.peer_held);
	if (t.ni_taken != t.ni_held)
		sim_fail(w, "node %u: %lld NI credits are taken, attempts hold %lld", n,
			 (long long)t.ni_taken, (long long)t.ni_held);
	if (t.holds < t.with_driver)
		sim_fail(w, "node %u: %lld holds, the driver has %lld attempts", n,
			 (long long)t.holds, (long long)t.with_driver);
}

/* ---- windows --------------------------------------------------------------------------------- */

static void check_window(struct sim_world *w, u32 n, const struct lnet_peer *peer)
{
	const struct lnet_txwin *tx = &peer->tx;
	struct lnet_window *win;
	u32 node, rail;
	struct lnet *rx;

	if (!tx->session_id || !sim_nid_where(&peer->primary, &node, &rail) || node >= w->nr_nodes)
		return;
	if (tx->next - tx->oldest > tx->W)
		sim_fail(w, "node %u has %llu requests unfinished at node %u, granted are %u", n,
			 (unsigned long long)(tx->next - tx->oldest), node, tx->W);
	rx = w->node[node].ln;
	win = rx ? lnet_window_find(&rx->shard[lnet_session_shard(rx, tx->session_id)],
				    tx->session_id)
		 : NULL;
	if (!win)
		return;
	if (win->low > tx->oldest || win->high >= tx->next)
		sim_fail(w,
			 "node %u has unfinished requests from %llu to %llu, the window of node %u "
			 "is %llu to %llu",
			 n, (unsigned long long)tx->oldest, (unsigned long long)tx->next, node,
			 (unsigned long long)win->low, (unsigned long long)win->high);
}

/* Is there a fault between only these two nodes? */
static bool is_cut_off(const struct sim_world *w, u32 a, u32 b)
{
	u32 i;

	for (i = 0; i < w->nr_faults; i++) {
		const struct sim_fault *f = &w->fault[i];

		if (((u32)f->node == a && (u32)f->peer == b) ||
		    ((u32)f->node == b && (u32)f->peer == a))
			return true;
	}
	return false;
}

static void check_paths_whole(struct sim_world *w, u32 n, const struct lnet_peer_ni *pni)
{
	const struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link)
		if (path->health < LNET_HEALTH_MAX)
			sim_fail(w, "node %u: its path from interface %u is at %u", n,
				 path->ni->ix, path->health);
}

/* No interface of a node has lost health, nor any of the peers that the node can reach. */
static void check_ends_whole(struct sim_world *w, u32 n)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;
	struct lnet_ni *ni;
	u32 node, rail;

	list_for_each_entry(ni, &w->node[n].ln->nis, link)
		if (atomic_read(&ni->health) < LNET_HEALTH_MAX)
			sim_fail(w, "node %u: its interface %u is at %d", n, ni->ix,
				 atomic_read(&ni->health));
	list_for_each_entry(peer, &w->node[n].ln->peers, link)
		list_for_each_entry(pni, &peer->pnis, link) {
			if (!sim_nid_where(&pni->nid, &node, &rail) || is_cut_off(w, n, node))
				continue;
			if (pni->health < LNET_HEALTH_MAX)
				sim_fail(w, "node %u: interface %u of node %u is at %u", n, rail,
					 node, pni->health);
			check_paths_whole(w, n, pni);
		}
}

void sim_check_now(struct sim_world *w)
{
	struct lnet_peer *peer;
	struct sim_req *req;
	u32 n;

	for (n = 0; n < w->nr_nodes; n++) {
		if (!w->node[n].ln)
			continue;
		check_credits(w, n);
		/* at first, connections of both sides may cross */
		if (w->scenario->ends_whole && w->now_ns >= SIM_START_NS + w->fault[0].from_ns)
			check_ends_whole(w, n);
		list_for_each_entry(peer, &w->node[n].ln->peers, link)
			check_window(w, n, peer);
	}
	list_for_each_entry(req, &w->load->open, link)
		if (w->now_ns > req->limit_ns)
			sim_fail(w,
				 "request %llx of %u bytes, kind %u, from node %u to %u waits past "
				 "its deadline",
				 (unsigned long long)req->id, req->len, req->kind, req->src,
				 req->dst);
}

bool sim_idle(struct sim_world *w)
{
	u32 n;

	for (n = 0; n < w->nr_nodes; n++)
		if (w->node[n].ln && !lnet_ops_idle(w->node[n].ln))
			return false;
	return true;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void check_peer_quiet(struct sim_world *w, u32 n, struct lnet_peer *peer)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	if (!list_empty(&peer->resolve) || !list_empty(&peer->winwait))
		sim_fail(w, "node %u: requests wait at a peer though none is unfinished", n);
	if (peer->tx.session_id && peer->tx.oldest != peer->tx.next)
		sim_fail(w, "node %u: its window holds requests though none is unfinished", n);
	list_for_each_entry(pni, &peer->pnis, link) {
		if (pni->nr_wait || pni->credits != (s32)pni->max_credits)
			sim_fail(w, "node %u: a peer interface has %d of %u credits, %u wait", n,
				 pni->credits, pni->max_credits, pni->nr_wait);
		list_for_each_entry(path, &pni->paths, link)
			if (path->nr_wire || !list_empty(&path->await_reply) ||
			    !list_empty(&path->large_queue) || path->nr_large)
				sim_fail(w, "node %u: a path is in use though nothing is under way",
					 n);
	}
}

static void check_windows_quiet(struct sim_world *w, u32 n, struct lnet_shard *sh)
{
	struct lnet_window *win;
	u64 seq;

	list_for_each_entry(win, &sh->windows, link)
		for (seq = win->low; seq <= win->high; seq++) {
			const struct lnet_entry *e = lnet_window_entry(win, seq);

			if (e && (e->md || e->nr_reply_ops || !list_empty(&e->rxs)))
				sim_fail(w,
					 "node %u: the entry of a finished request (state %u) "
					 "holds memory",
					 n, e->state);
		}
}

void sim_check_end(struct sim_world *w)
{
	struct lnet_peer *peer;
	struct tally t;
	u32 n, i;

	for (n = 0; n < w->nr_nodes; n++) {
		struct lnet *ln = w->node[n].ln;

		if (!ln)
			continue;
		tally_node(&t, ln);
		if (t.live || t.peer_taken || t.ni_taken || t.holds)
			sim_fail(w,
				 "node %u at rest: %llu operations, %lld peer and %lld NI credits "
				 "taken, %lld holds",
				 n, (unsigned long long)t.live, (long long)t.peer_taken,
				 (long long)t.ni_taken, (long long)t.holds);
		list_for_each_entry(peer, &ln->peers, link)
			check_peer_quiet(w, n, peer);
		for (i = 0; i < ln->nr_shards; i++)
			check_windows_quiet(w, n, &ln->shard[i]);
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool harmless(u8 kind)
{
	return kind == SIM_DUP || kind == SIM_REORDER || kind == SIM_DELAY || kind == SIM_SHORT ||
	       kind == SIM_UNLINK || kind == SIM_DRAIN;
}

static bool touches(const struct sim_fault *f, const struct sim_req *req, u32 rail, u64 from_ns,
		    u64 to_ns)
{
	if (harmless(f->kind) || SIM_START_NS + f->from_ns > to_ns ||
	    SIM_START_NS + f->to_ns <= from_ns)
		return false;
	if (f->kind == SIM_RESTART)
		return f->node < 0 || (u32)f->node == req->src || (u32)f->node == req->dst;
	if (f->rail >= 0 && (u32)f->rail != rail)
		return false;
	return f->node < 0 || (u32)f->node == req->src || (u32)f->node == req->dst;
}

/* Is there a rail without any fault, from shortly before the request until its end? */
static bool had_whole_rail(const struct sim_world *w, const struct sim_req *req)
{
	u64 from = req->start_ns - min(req->start_ns, 2000 * SIM_MS);
	u32 rail, i;

	for (rail = 0; rail < w->nr_rails; rail++) {
		for (i = 0; i < w->nr_faults; i++)
			if (touches(&w->fault[i], req, rail, from, req->end_ns))
				break;
		if (i == w->nr_faults)
			return true;
	}
	return false;
}

static bool touches_way(const struct sim_world *w, const struct sim_fault *f,
			const struct sim_req *req, u32 router, u64 from_ns)
{
	u32 rail;

	if (harmless(f->kind) || SIM_START_NS + f->from_ns > req->end_ns ||
	    SIM_START_NS + f->to_ns <= from_ns)
		return false;
	if (f->node >= 0 && (u32)f->node != req->src && (u32)f->node != req->dst &&
	    (u32)f->node != router)
		return false;
	for (rail = 0; rail < w->nr_rails; rail++)
		if ((f->rail < 0 || (u32)f->rail == rail) &&
		    (sim_is_on(w, req->src, rail) || sim_is_on(w, req->dst, rail)))
			return true;
	return false;
}

/* Is there a router without any fault, with rails of both ends without any fault? */
static bool had_whole_router(const struct sim_world *w, const struct sim_req *req)
{
	u64 from = req->start_ns - min(req->start_ns, 2000 * SIM_MS);
	u32 router, i;

	for (router = sim_nr_ends(w); router < w->nr_nodes; router++) {
		for (i = 0; i < w->nr_faults; i++)
			if (touches_way(w, &w->fault[i], req, router, from))
				break;
		if (i == w->nr_faults)
			return true;
	}
	return false;
}

/*
 * A retransmitted request may end with delivery unknown if its window no longer exists. The
 * receiver dropped it early, or restarted without the sender's knowledge.
 */
static bool excused(const struct sim_world *w, const struct sim_req *req)
{
	return req->status == -ESTALE && req->unknown &&
	       (w->scenario->windows_max || w->scenario->hold_ns || req->dst_life > 1);
}

/*
 * The first requests wait for session negotiation. The last ones have no limit either, because a
 * PUT without ACK is confirmed late.
 */
static u64 limit_of(const struct sim_scenario *s, const struct sim_req *req)
{
	u64 from_ns = s->end_by_from_ns;

	if (!s->end_by_ns || (from_ns && (req->probe || req->start_ns < SIM_START_NS + from_ns)))
		return U64_MAX;
	return s->end_by_ns;
}

void sim_check_req(struct sim_world *w, const struct sim_req *req)
{
	unsigned long long id = req->id;
	/* success implies that the request took effect */
	bool sure = !req->plain || req->kind != SIM_PUT;

	/*
	 * A GET whose reply was never confirmed may fail at the target, because its buffer was
	 * unlinked.
	 */
	if (!req->status && sure && !(req->kind == SIM_GET ? req->matches : req->effects) &&
	    !req->sides_lost)
		sim_fail(w, "request %llx, kind %u, succeeded without effect", id, req->kind);
	if (req->status && !req->unknown && req->effects)
		sim_fail(w,
			 "request %llx, kind %u, took effect and was reported as certainly failed "
			 "(%d)",
			 id, req->kind, req->status);
	if (req->status && !req->unlinked && !req->plain && !excused(w, req) &&
	    (w->nr_routers ? had_whole_router(w, req) : had_whole_rail(w, req)))
		sim_fail(w,
			 "request %llx, kind %u, %u bytes, %u -> %u failed (%d) though a rail was "
			 "whole",
			 id, req->kind, req->len, req->src, req->dst, req->status);
	if (req->probe && req->status && !excused(w, req))
		sim_fail(w,
			 "request %llx, kind %u, %u -> %u failed (%d) though all faults were over",
			 id, req->kind, req->src, req->dst, req->status);
	if (req->end_ns - req->start_ns > limit_of(w->scenario, req))
		sim_fail(w, "request %llx, kind %u, %u -> %u took %llu us", id, req->kind, req->src,
			 req->dst, (unsigned long long)(req->end_ns - req->start_ns) / SIM_US);
	if (req->nr_sides)
		sim_fail(w, "request %llx: an MD was not given back", id);
}
