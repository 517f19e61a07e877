/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Moves attempts through the queues for credits. An attempt takes a peer credit, then an NI credit,
 * and returns them as its state changes. Attempts that wait are queued by class, and may choose
 * their path again. Large requests on routed paths first wait for the large-request limit.
 */
#include "topology/topology.h"
#include "path/path.h"
#include "xfer/xfer.h"
#include "shard/trace.h"

/*
 * number of additional credits that only control messages (pings, session messages, ACKs) may use
 */
#define CONTROL_EXTRA 2

/* For each state of an attempt: its credits, and whether the driver has the attempt. */
enum {
#define ASTATE(s, pc, nc, drv, mem) s##_PEER = pc, s##_NI = nc, s##_DRIVER = drv,
#define AEDGE(a, b)
#include "model/states/att.def"
#undef ASTATE
#undef AEDGE
};
/*
 * A change of state: @peer, @ni: credits that it returns (> 0) or takes (< 0). @driver: 1: the
 * driver receives the attempt; -1: the driver has completed it.
 */
struct edge {
	u8 legal;
	s8 peer, ni, driver;
};
static const struct edge edges[LNET_NR_ATT_STATES][LNET_NR_ATT_STATES] = {
#define ASTATE(s, pc, nc, drv, mem)
#define AEDGE(a, b) [a][b] = { 1, a##_PEER - b##_PEER, a##_NI - b##_NI, b##_DRIVER - a##_DRIVER },
#include "model/states/att.def"
#undef ASTATE
#undef AEDGE
};

static struct lnet_ni_shard *ni_shard(const struct lnet_att *att)
{
	return &att->ni->sh[att->op->sh->ix];
}

static bool credit_is_available(s32 credits, u8 cls)
{
	return credits > (cls == LNET_CLS_CONTROL ? -CONTROL_EXTRA : 0);
}

/*
 * True if the large-request limit applies to @att. A router stores messages that it cannot forward,
 * up to the router credits of their sender. Then it reads nothing more from that sender. A driver
 * completes a message long before the router forwards it; only the reply proves that it was
 * forwarded.
 */
static bool takes_turns(const struct lnet_att *att)
{
	return unlikely(lnet_path_is_routed(att->path)) && att->op->len > LNET_LARGE &&
	       lnet_op_is_request(att->op);
}

static bool is_turn(const struct lnet_pass *p, const struct lnet_path *path)
{
	u64 most = READ_ONCE(p->ln->tun.routed_large);

	return !most || path->nr_large < most;
}

/*
 * Takes or returns the credits of a change of state, and wakes no attempt. If both states are
 * constant, the compiler evaluates the table.
 */
static __always_inline void att_account(struct lnet_att *att, enum lnet_att_state from,
					enum lnet_att_state to)
{
	const struct edge *e = &edges[from][to];
	struct lnet_peer_ni *pni = att->pni;
	struct lnet_path *path = att->path;

	WARN_ON_ONCE(!e->legal || att->state != from);
	lnet_edge(att, att, from, to);
	att->state = to;
	if ((from <= ATT_WAIT_LARGE || to == ATT_FREE) && takes_turns(att)) {
		path->nr_large += (to > ATT_WAIT_LARGE) - (from > ATT_WAIT_LARGE);
		path->first_hop->nr_large_queue +=
			(to == ATT_WAIT_LARGE) - (from == ATT_WAIT_LARGE);
	}
	if (e->peer) {
		pni->credits += e->peer;
		pni->min_credits = min(pni->min_credits, pni->credits);
	}
	if (e->ni || e->driver) {
		struct lnet_ni_shard *ns = ni_shard(att);

		ns->credits += e->ni;
		ns->min_credits = min(ns->min_credits, ns->credits);
		att->op->nr_held += e->driver;
		path->nr_wire += e->driver;
		ns->holds += e->driver;
	}
	if (to == ATT_FREE && unlikely(att->load))
		lnet_load_sub(path, att, from >= ATT_WIRE);
}

/*
 * Drops the reference of @att to its next hop. If the operation has a reference to the next hop,
 * the attempt has none.
 */
static void next_hop_put(const struct lnet_att *att)
{
	if (att->pni != att->op->dst_pni)
		lnet_peer_ni_put(att->pni);
}

/*
 * Prepares @att for the driver: draws the request ID, and starts the timeouts. False: @att is FREE
 * now. If the deadline has passed, the request is not sent, and the timer of the operation ends it.
 * If the window is full, the request waits for room.
 */
static bool to_wire(struct lnet_pass *p, struct lnet_att *att)
{
	struct lnet_op *op = att->op;
	bool in_time = p->now_ns < op->deadline_ns;
	u64 slice;

	if (unlikely(!in_time || !lnet_rec_value(p->sh, lnet_op_draw_id(p, op)))) {
		att_account(att, ATT_WAIT_NI, ATT_FREE);
		if (in_time)
			lnet_op_wait_window(p, op);
		return false;
	}
	att_account(att, ATT_WAIT_NI, ATT_WIRE);
	if (att->path->nr_wire == 1 && list_empty(&att->path->await_reply))
		att->path->busy_ns = p->now_ns;
	lnet_op_wire(op);
	/*
	 * The path counts as tried only now: an attempt that waited for credits of a path and did
	 * not get them did not try the path.
	 */
	op->tried |= 1ULL << att->path->ix;
	if (unlikely(lnet_path_is_routed(att->path)))
		op->flags |= LNET_OPF_ROUTED;
	if (!(op->flags & LNET_OPF_STARTED)) {
		op->flags |= LNET_OPF_STARTED;
		op->first_wire_ns = p->now_ns;
		if (!(op->flags & LNET_OPF_RESOLVED))
			op->deadline_ns = p->now_ns + op->timeout_ns;
	}
	slice = div_u64(op->timeout_ns, max_t(u32, READ_ONCE(p->ln->tun.retry_count), 1));
	att->deadline_ns = min(op->deadline_ns, p->now_ns + slice);
	att->posted_ns = p->now_ns;
	att->outcome = LNET_OK;
	atomic_set(&att->reports, 0);
	op->tries++;
	op->suspect_ns = p->now_ns + lnet_op_response_timeout(p, op, att->path);
	list_add_tail(&att->link, &p->send);
	lnet_op_arm_later(p, op, min(att->deadline_ns, op->suspect_ns));
	lnet_rec_att(p, WIRE, att, att->deadline_ns, op->suspect_ns);
	return true;
}

static void wake_turns(struct lnet_pass *p, struct lnet_path *path);

/*
 * Moves @att towards the driver. @from is FREE, or the state of the queue that @att has left. @att
 * passes the large-request limit, takes a peer credit and an NI credit, and is added to p->send. If
 * one of these is not available, @att waits in the queue for it.
 */
static void advance(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state from)
{
	struct lnet_ni_shard *ns = ni_shard(att);
	struct lnet_peer_ni *pni = att->pni;
	struct lnet_path *path = att->path;

	if (from == ATT_FREE && takes_turns(att) &&
	    (!is_turn(p, path) || !list_empty(&path->large_queue))) {
		att_account(att, ATT_FREE, ATT_WAIT_LARGE);
		list_add_tail(&att->link, &path->large_queue);
		lnet_rec_att(p, QUEUED, att, 2, path->nr_large);
		return;
	}
	if (from == ATT_FREE)
		att_account(att, ATT_FREE, ATT_WAIT_PEER);
	else if (from == ATT_WAIT_LARGE)
		att_account(att, ATT_WAIT_LARGE, ATT_WAIT_PEER);
	if (from != ATT_WAIT_PEER &&
	    (!credit_is_available(pni->credits, att->cls) || !list_empty(&pni->wait[att->cls]))) {
		list_add_tail(&att->link, &pni->wait[att->cls]);
		pni->nr_wait++;
		lnet_rec_att(p, QUEUED, att, 0, (u32)pni->credits);
		return;
	}
	att_account(att, ATT_WAIT_PEER, ATT_WAIT_NI);
	if (!credit_is_available(ns->credits, att->cls) || !list_empty(&ns->wait[att->cls])) {
		list_add_tail(&att->link, &ns->wait[att->cls]);
		ns->nr_wait++;
		lnet_rec_att(p, QUEUED, att, 1, (u32)ns->credits);
	} else if (!to_wire(p, att)) {
		/*
		 * @att ended without a driver. The loop that called advance() gives the peer
		 * credit, which @att has returned, to the next attempt.
		 */
		next_hop_put(att);
		wake_turns(p, path);
	}
}

/*
 * Lets large requests pass the limit. If an attempt ends in advance(), this loop continues with the
 * next one, so wake_turns() does not recurse.
 */
static void serve_turns(struct lnet_pass *p, struct lnet_path *path)
{
	struct lnet_att *att;

	path->large_sending = true;
	while (!list_empty(&path->large_queue) && is_turn(p, path)) {
		att = list_first_entry(&path->large_queue, struct lnet_att, link);
		list_del_init(&att->link);
		advance(p, att, ATT_WAIT_LARGE);
	}
	path->large_sending = false;
}

static void wake_turns(struct lnet_pass *p, struct lnet_path *path)
{
	if (unlikely(!list_empty(&path->large_queue)) && !path->large_sending)
		serve_turns(p, path);
}

static void wake_peer(struct lnet_pass *p, struct lnet_peer_ni *pni)
{
	struct lnet_att *att;
	unsigned int cls;

	for (cls = 0; cls < LNET_NR_CLASSES; cls++) {
		while (!list_empty(&pni->wait[cls]) && credit_is_available(pni->credits, cls)) {
			att = list_first_entry(&pni->wait[cls], struct lnet_att, link);
			list_del_init(&att->link);
			pni->nr_wait--;
			advance(p, att, ATT_WAIT_PEER);
		}
	}
}

static void wake_ni(struct lnet_pass *p, struct lnet_ni_shard *ns)
{
	struct lnet_peer_ni *pni;
	struct lnet_path *path;
	struct lnet_att *att;
	unsigned int cls;

	for (cls = 0; cls < LNET_NR_CLASSES; cls++) {
		while (!list_empty(&ns->wait[cls]) && credit_is_available(ns->credits, cls)) {
			att = list_first_entry(&ns->wait[cls], struct lnet_att, link);
			pni = att->pni;
			path = att->path;
			list_del_init(&att->link);
			ns->nr_wait--;
			if (to_wire(p, att))
				continue;
			lnet_peer_ni_hold(pni);
			next_hop_put(att);
			wake_turns(p, path);
			wake_peer(p, pni);
			lnet_peer_ni_put(pni);
		}
	}
}

static __always_inline void att_move(struct lnet_pass *p, struct lnet_att *att,
				     enum lnet_att_state from, enum lnet_att_state to)
{
	const struct edge *e = &edges[from][to];
	struct lnet_peer_ni *pni = att->pni;

	att_account(att, from, to);
	if (e->ni > 0) {
		struct lnet_ni_shard *ns = ni_shard(att);

		if (unlikely(ns->nr_wait))
			wake_ni(p, ns);
	}
	if (e->peer > 0 && unlikely(pni->nr_wait))
		wake_peer(p, pni);
	if (to == ATT_FREE) {
		wake_turns(p, att->path);
		next_hop_put(att);
		/* @ni and @pni do not change, because a driver may read them: see cancel_one() */
		att->path = NULL;
	}
}

/*
 * Changes the state of @att to @to. Each request changes from WIRE to AWAIT_REPLY, and from
 * AWAIT_REPLY to FREE. These two changes have separate calls with constant states, so that the
 * compiler can simplify att_move().
 */
void lnet_att_move(struct lnet_pass *p, struct lnet_att *att, enum lnet_att_state to)
{
	if (att->state == ATT_WIRE && to == ATT_AWAIT_REPLY)
		att_move(p, att, ATT_WIRE, ATT_AWAIT_REPLY);
	else if (att->state == ATT_AWAIT_REPLY && to == ATT_FREE)
		att_move(p, att, ATT_AWAIT_REPLY, ATT_FREE);
	else
		att_move(p, att, att->state, to);
}

void lnet_att_drop(struct lnet_pass *p, struct lnet_att *att)
{
	WARN_ON_ONCE(att->state == ATT_WIRE || att->state == ATT_POSTED);
	if (att->state == ATT_WAIT_PEER)
		att->pni->nr_wait--;
	if (att->state == ATT_WAIT_NI)
		ni_shard(att)->nr_wait--;
	list_del_init(&att->link);
	lnet_att_move(p, att, ATT_FREE);
}

void lnet_att_enter(struct lnet_pass *p, struct lnet_att *att, struct lnet_path *path)
{
	att->path = path;
	att->ni = path->ni;
	att->pni = path->hop;
	att->cls = att->op->cls;
	att->deadline_ns = U64_MAX;
	if (att->pni != att->op->dst_pni)
		lnet_peer_ni_hold(att->pni);
	if (unlikely(READ_ONCE(p->ln->tun.selection)))
		lnet_load_add(path, att, p->now_ns);
	advance(p, att, ATT_FREE);
}

/* ---- another path for attempts that wait; operations lose their binding --------------------- */

/*
 * @att waits for credits. Removes @att from its queue. If another attempt of @op is live, @att
 * ends. Otherwise an attempt on a path that is chosen again replaces @att, which does not count in
 * op->tries. If @att is a hedge, the attempt that replaces it is also a hedge.
 */
void lnet_op_reselect(struct lnet_pass *p, struct lnet_op *op, struct lnet_att *att)
{
	bool copy = lnet_att_is_hedge(att);

	lnet_att_drop(p, att);
	if (lnet_op_is_over(op))
		return;
	if (lnet_att_is_live(&op->first) || lnet_att_is_live(op->hedge)) {
		op->hedges -= copy;
		return;
	}
	op->flags |= copy ? LNET_OPF_HEDGE : 0;
	lnet_op_try(p, op, NULL);
}

void lnet_op_reselect_ni(struct lnet_pass *p, struct lnet_op *op, void *ni)
{
	struct lnet_att *att;

	lnet_rec_op(p, RESELECT, op, ((struct lnet_ni *)ni)->ix, 0);
	lnet_op_for_each_att(att, op)
		if (lnet_att_waits(att) && att->ni == ni)
			lnet_op_reselect(p, op, att);
}

/*
 * True if @op is the REPLY to a ping, and the peer may need the REPLY to prove a NID of this node.
 * A peer with the exactly-once extension proves a new NID of this node by a ping to an NI that it
 * knows. The peer drops the REPLY if an NI sends it that the peer does not know yet. So the pinged
 * NI sends the REPLY until this NI stops, even while it is being removed. A peer without the
 * extension accepts a REPLY from any NI.
 */
static bool is_proof(const struct lnet_op *op)
{
	return op->type == LNET_OP_REPLY && op->cls == LNET_CLS_CONTROL &&
	       op->match_bits == LNET_PING_MATCHBITS && (op->peer->features & LNET_FEAT_OPEN) &&
	       READ_ONCE(op->src_ni->state) < NI_STOPPING;
}

/*
 * True if @op must use another NI than its source NI. This is so if the ping info for the peer
 * omits the source NI: a removed NI, or for a stock peer a drained NI. A stock peer compares
 * primary NIDs, so a request from an omitted NI matches no buffer there. A ping is excluded,
 * because it tests the interface to which it is bound.
 */
bool lnet_op_source_leaves(const struct lnet_op *op)
{
	const struct lnet_ni *ni = op->src_ni;

	if (!ni || !op->peer->mr)
		return false;
	if (lnet_op_is_reply(op))
		return lnet_ni_marked(ni, LNET_MARK(LEAVING)) && !is_proof(op);
	return op->kind == LNET_KIND_USER && op->portal != LNET_PORTAL_RESERVED &&
	       (lnet_ni_marked(ni, LNET_MARK(LEAVING)) ||
		(lnet_ni_marked(ni, LNET_MARK(DRAINED)) && !(op->peer->features & LNET_FEAT_OPEN)));
}

/*
 * If a program has bound an untracked request to a source NI, the binding normally stays. The
 * reason is that stock nodes match the request by its source NID. If the source NI was removed, the
 * binding ends, because multi-rail peers match requests from any NI.
 */
bool lnet_op_unbind(struct lnet_op *op)
{
	if (op->binding == LNET_BIND_NONE)
		return true;
	if (op->binding == LNET_BIND_FIXED && !lnet_op_is_tracked(op) &&
	    !lnet_rec_value(op->sh, lnet_op_source_leaves(op)))
		return false;
	op->binding = LNET_BIND_NONE;
	if (op->src_ni)
		lnet_ni_put(op->src_ni);
	op->src_ni = NULL;
	if (op->via && lnet_op_is_reply(op)) {
		atomic_dec(&op->via->nr_reply_ops);
		atomic_inc(&op->dst_pni->nr_reply_ops);
	}
	lnet_peer_ni_put(op->via);
	op->via = NULL;
	return true;
}

bool lnet_op_avoid(struct lnet_pass *p, struct lnet_op *op, bool by_ni)
{
	const struct lnet_path *path = op->first.path, *chosen;

	lnet_rec_op(p, AVOID, op, by_ni, 0);
	if (!lnet_op_unbind(op))
		return true;
	if (path->first_hop->suspect_ns)
		path = path->first_hop;
	chosen = lnet_op_choose(p, op);
	/* a path is better if it uses another NI, or does not use the suspect path */
	if (chosen &&
	    (by_ni ? chosen->ni == path->ni : chosen == path || chosen->first_hop == path))
		return false;
	lnet_op_reselect(p, op, &op->first);
	return true;
}
