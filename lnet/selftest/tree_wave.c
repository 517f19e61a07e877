/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A wave at a node. The node sends requests to the nodes below, and repeats them. It adds up the
 * records that these nodes report, and reports the sum to the requester. No request waits for the
 * work of nodes: a node replies at once, and sends its results in a separate request.
 */
#include "tree.h"

#define OP(name, text)
#define WAVE(name)
#define EDGE(name)
#define WAVE_TO(from, to)
#define EDGE_TO(from, to)	[LST_EDGE_##from][LST_EDGE_##to] = true,
static const bool edge_legal[LST_NR_EDGE_STATES][LST_NR_EDGE_STATES] = {
#include "tree.def"
};
#undef EDGE_TO
#undef WAVE_TO
#define EDGE_TO(from, to)
#define WAVE_TO(from, to)	[LST_WAVE_##from][LST_WAVE_##to] = true,
static const bool wave_legal[LST_NR_WAVE_STATES][LST_NR_WAVE_STATES] = {
#include "tree.def"
};
#undef OP
#undef WAVE
#undef EDGE
#undef WAVE_TO
#undef EDGE_TO

static void edge_set(struct lst_edge *edge, enum lst_edge_state state)
{
	WARN_ON_ONCE(!edge_legal[edge->state][state]);
	edge->state = state;
}

static void wave_set(struct lst_wave *wave, enum lst_wave_state state)
{
	WARN_ON_ONCE(!wave_legal[wave->state][state]);
	wave->state = state;
}

static void due(struct lst_tree *tree, u64 when_ns)
{
	tree->next_ns = min(tree->next_ns, when_ns);
}

static bool edge_is_requested(const struct lst_edge *edge)
{
	return edge->state == LST_EDGE_ASK || edge->state == LST_EDGE_WAIT;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static u64 error_now(const struct lst_edge *edge, u64 now)
{
	if (!edge->sampled_ns)
		return LST_TREE_TRY_NS;
	return edge->error_ns + ((now - edge->sampled_ns) >> LST_TREE_DRIFT_SHIFT);
}

/*
 * Computes the clock offset from four timestamps. This node sent and received on its own clock; the
 * other node received and sent on its clock.
 */
static void clock_take(struct lst_edge *edge, u64 heard_ns, const struct lst_tree_ask_rpy *rpy)
{
	u64 came_ns = rpy->came_ns, left_ns = rpy->left_ns;
	u64 away_ns = heard_ns - edge->sent_ns, there_ns = left_ns - came_ns;
	u64 error_ns = (away_ns - there_ns) / 2;

	if (!came_ns || there_ns > away_ns ||
	    (edge->sampled_ns && error_ns > error_now(edge, heard_ns)))
		return;
	edge->offset_ns = ((s64)(came_ns - edge->sent_ns) + (s64)(left_ns - heard_ns)) / 2;
	edge->error_ns = error_ns;
	edge->sampled_ns = heard_ns;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void edge_req_fill(const struct lst_edge *edge, struct lst_msg *req, u64 now)
{
	const struct lst_tree *tree = edge->tree;
	const struct lst_wave *wave = &tree->wave;
	u64 left_ns = wave->deadline_ns > now + LST_TREE_TRY_NS ?
		      wave->deadline_ns - now - LST_TREE_TRY_NS : 0;

	*req = (struct lst_msg){ .type = LST_TREE_ASK_REQ, .feats = tree->feats };
	req->tree_ask_req = (struct lst_tree_ask_req){
		.bulkid = edge->rpc.bulkid, .sid = tree->sid, .wave = wave->id, .op = wave->op,
		.head = edge->place.head, .asker = tree->place.head, .arg = wave->arg,
		.force = wave->force, .sent_ns = now,
		.bound_ns = wave->bound_ns + error_now(edge, now),
		.budget_ms = (u32)min_t(u64, div_u64(left_ns, NSEC_PER_MSEC), U32_MAX),
		.body_len = edge->body ? edge->body->len : 0 };
	req->tree_ask_req.clock_ns = wave->clock_ns + (u64)edge->offset_ns;
	if (wave->op == LST_TREE_START && edge->sampled_ns)
		req->tree_ask_req.at_ns = wave->at_ns + (u64)edge->offset_ns;
}

/* Handles the reply of a child: the child knows the wave, or reports why it rejects the wave. */
static void answered_locked(struct lst_edge *edge, const struct lst_msg *rpy)
{
	const struct lst_tree_ask_rpy *answer = &rpy->tree_ask_rpy;
	u64 now = lst_now(edge->tree->st);

	if (answer->status && answer->status != EALREADY) {
		lst_edge_lose_locked(edge, answer->status);
		return;
	}
	edge->tries = 0;
	edge->next_ns = now + LST_TREE_TRY_NS;
	due(edge->tree, edge->next_ns);
	if (edge->state == LST_EDGE_ASK)
		edge_set(edge, LST_EDGE_WAIT);
}

static void failed_locked(struct lst_edge *edge)
{
	if (++edge->tries == LST_TREE_TRIES) {
		lst_edge_lose_locked(edge, 0);
		return;
	}
	edge->next_ns = edge->sent_ns + LST_TREE_TRY_NS;
	due(edge->tree, edge->next_ns);
}

static void on_edge_reply(struct lst_rpc *rpc)
{
	struct lst_edge *edge = container_of(rpc, struct lst_edge, rpc);
	struct lst_tree *tree = edge->tree;
	struct lst *st = tree->st;
	struct lst_msg rpy;
	int rc = lst_rpc_result(rpc, &rpy);

	spin_lock(&st->lock);
	edge->busy = false;
	lst_body_put(edge->body);
	edge->body = NULL;
	if (!rc)
		clock_take(edge, lst_now(st), &rpy.tree_ask_rpy);
	if (!tree->ending && edge_is_requested(edge)) {
		if (edge->wave != tree->wave.id)
			lst_edge_ask_locked(edge);
		else if (rc)
			failed_locked(edge);
		else
			answered_locked(edge, &rpy);
	}
	lst_tree_close_locked(tree);
	spin_unlock(&st->lock);
}

/* Sends the wave to a child. The request offers the body until the child knows the wave. */
void lst_edge_ask_locked(struct lst_edge *edge)
{
	struct lst_tree *tree = edge->tree;
	struct lnet_process target = { .pid = LNET_PID };
	u64 now = lst_now(tree->st);
	struct lst_msg req;

	lockdep_assert_held(&tree->st->lock);
	if (edge->busy) {
		if (edge->wave != tree->wave.id)
			lst_rpc_fail_locked(&edge->rpc, -ECANCELED);
		return;
	}
	lst_ranges_nid(&tree->ranges, edge->place.head, &target.nid);
	lst_rpc_init_locked(&edge->rpc, tree->st, &target);
	edge->rpc.done = on_edge_reply;
	edge->busy = true;
	edge->wave = tree->wave.id;
	edge->sent_ns = now;
	tree->nr_open++;
	tree->counts.asked++;
	tree->counts.bytes += 2 * LST_MSG_SIZE;
	if (tree->wave.body && edge->state == LST_EDGE_ASK) {
		edge->body = tree->wave.body;
		edge->body->refs++;
		edge->rpc.bulk = edge->body->text;
		edge->rpc.bulk_len = edge->body->len;
		edge->rpc.bulk_options = LNET_MD_OP_GET;
		tree->counts.bytes += edge->body->len;
	}
	edge_req_fill(edge, &req, now);
	lst_rpc_post_locked(&edge->rpc, &req, LST_TREE_TRY_NS);
}

static void begin_edge_locked(struct lst_edge *edge)
{
	edge_set(edge, LST_EDGE_ASK);
	edge->tries = 0;
	lst_edge_ask_locked(edge);
}

/*
 * Adds nodes to the missing nodes in the record of the wave. If there is no memory, the record's
 * counts do not add up to its number of nodes. Then the node above rejects the record, and counts
 * all nodes of the record as missing.
 */
static void miss(struct lst_tree *tree, u32 first, u32 nr)
{
	if (lst_set_add(&tree->wave.rec.missing, first, nr))
		pr_warn("selftest: no memory for who is missing\n");
}

/*
 * Accounts for a lost node. If the wave is LEAVE, a node that has left the session counts as done.
 */
static void account_lost(struct lst_tree *tree, u32 head, u32 status)
{
	struct lst_tree_record *rec = &tree->wave.rec;

	if ((status == ESRCH || status == ESTALE) && tree->wave.op == LST_TREE_LEAVE) {
		rec->nr_done++;
	} else if (status && !lst_set_add(&rec->refused, head, 1)) {
		rec->nr_refused++;
		rec->status = max(rec->status, status);
	} else {
		miss(tree, head, 1);
	}
}

/* Marks a child as lost. From now on the nodes below the child receive requests from this node. */
void lst_edge_lose_locked(struct lst_edge *edge, u32 status)
{
	struct lst_tree *tree = edge->tree;
	struct lst_edge *child = list_last_entry(&tree->edges, struct lst_edge, link);

	edge_set(edge, LST_EDGE_LOST);
	account_lost(tree, edge->place.head, status);
	if (lst_tree_edges_locked(tree, &edge->place))
		pr_warn("selftest: no memory for nodes below one that is lost\n");
	list_for_each_entry_continue(child, &tree->edges, link) {
		tree->wave.nr_left++;
		begin_edge_locked(child);
	}
	lst_wave_part_locked(tree);
}

/* ---- a wave ---------------------------------------------------------------------------------- */

void lst_wave_begin_locked(struct lst_tree *tree)
{
	struct lst_wave *wave = &tree->wave;
	struct lst_edge *edge;

	wave_set(wave, LST_WAVE_RELAY);
	wave->nr_left = 1;
	tree->counts = (struct lst_tree_counts){ 0 };
	list_for_each_entry(edge, &tree->edges, link)
		wave->nr_left += edge->state != LST_EDGE_LOST;
	list_for_each_entry(edge, &tree->edges, link) {
		if (edge->state == LST_EDGE_LOST)
			miss(tree, edge->place.head, 1);
		else
			begin_edge_locked(edge);
	}
	due(tree, wave->deadline_ns);
	if (tree->owning)
		return;			/* the running job checks again at its end */
	tree->owning = true;
	tree->nr_open++;
	lst_queue_locked(tree->st, &tree->own, lst_tree_own_run);
}

/*
 * Encodes the record, which the requester may fetch until the next wave. If there is no memory,
 * keeps the record as it is, and a later call encodes it.
 */
static void say_locked(struct lst_tree *tree)
{
	u32 size = lst_tree_record_size(&tree->wave.rec);
	u8 *said = size <= LST_TREE_SAID_MAX ? kvmalloc(size, GFP_NOWAIT) : NULL;
	u8 *fit;

	kvfree(tree->said);
	tree->said = said;
	if (!said)
		return;
	tree->said_wave = tree->wave.id;
	tree->said_len = lst_tree_record_encode(&tree->wave.rec, said);
	lst_tree_record_free(&tree->wave.rec);
	fit = kmemdup(said, tree->said_len, GFP_NOWAIT);
	if (!fit)
		return;
	kvfree(said);
	tree->said = fit;
}

static void over_locked(struct lst_tree *tree)
{
	wave_set(&tree->wave, LST_WAVE_READY);
	lst_body_put(tree->wave.body);
	tree->wave.body = NULL;
	if (tree->place.head == LST_TREE_ROOT) {
		if (tree->over)
			tree->over(tree);
		return;
	}
	lst_wave_tell_locked(tree);
}

void lst_wave_part_locked(struct lst_tree *tree)
{
	if (!--tree->wave.nr_left)
		over_locked(tree);
}

static void deadline_locked(struct lst_tree *tree)
{
	struct lst_edge *edge;

	list_for_each_entry(edge, &tree->edges, link) {
		if (!edge_is_requested(edge))
			continue;
		edge_set(edge, LST_EDGE_IDLE);
		miss(tree, edge->place.first, edge->place.nr);
		lst_wave_part_locked(tree);
	}
}

u32 lst_edge_told_locked(struct lst_tree *tree, u32 head, u64 wave, const u8 *buf, u32 len)
{
	struct lst_edge *edge;
	int rc;

	if (wave != tree->wave.id || tree->wave.state != LST_WAVE_RELAY)
		return ESTALE;
	list_for_each_entry(edge, &tree->edges, link)
		if (edge->place.head == head)
			break;
	if (list_entry_is_head(edge, &tree->edges, link))
		return ENOENT;
	if (edge->state == LST_EDGE_DONE)
		return EALREADY;
	if (!edge_is_requested(edge))
		return ESTALE;
	rc = lst_tree_record_merge(&tree->wave.rec, edge->place.first, edge->place.nr, buf, len);
	if (rc)
		return (u32)-rc;
	tree->counts.told++;
	tree->counts.bytes += 2 * LST_MSG_SIZE + (len > LST_TREE_INLINE ? len : 0);
	edge_set(edge, LST_EDGE_DONE);
	lst_wave_part_locked(tree);
	return 0;
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Ends the report: the requester has the record, rejected it, or does not exist any more. */
static void told_locked(struct lst_tree *tree)
{
	if (tree->wave.state == LST_WAVE_READY)
		wave_set(&tree->wave, LST_WAVE_TOLD);
	if (tree->wave.op == LST_TREE_LEAVE)
		lst_tree_leave_locked(tree);
}

static void on_told(struct lst_rpc *rpc)
{
	struct lst_tree *tree = container_of(rpc, struct lst_tree, tell);
	struct lst *st = tree->st;
	struct lst_msg rpy;
	int rc = lst_rpc_result(rpc, &rpy);

	spin_lock(&st->lock);
	tree->telling = false;
	if (tree->ending || tree->wave.state != LST_WAVE_READY) {
		;	/* no report of this wave is needed any more */
	} else if (tree->again) {
		lst_wave_tell_locked(tree);
	} else if (!rc && rpy.status != ENOMEM) {
		told_locked(tree);
	} else if (++tree->tell_tries == LST_TREE_TRIES) {
		told_locked(tree);
	} else {
		tree->tell_ns = rpc->start_ns + LST_TREE_TRY_NS;
		due(tree, tree->tell_ns);
	}
	lst_tree_close_locked(tree);
	spin_unlock(&st->lock);
}

static void report_post_locked(struct lst_tree *tree)
{
	struct lst_msg req = { .type = LST_TREE_TELL_REQ, .feats = tree->feats };
	struct lst_tree_tell_req *tell = &req.tree_tell_req;

	lst_rpc_init_locked(&tree->tell, tree->st, &tree->asker);
	tree->tell.done = on_told;
	*tell = (struct lst_tree_tell_req){ .bulkid = tree->tell.bulkid, .sid = tree->sid,
					    .wave = tree->wave.id, .head = tree->place.head,
					    .asker = tree->asker_head, .len = tree->said_len };
	if (tree->said_len <= LST_TREE_INLINE) {
		memcpy(tell->record, tree->said, tree->said_len);
	} else {
		tree->tell.bulk = tree->said;
		tree->tell.bulk_len = tree->said_len;
		tree->tell.bulk_options = LNET_MD_OP_GET;
	}
	tree->telling = true;
	tree->nr_open++;
	lst_rpc_post_locked(&tree->tell, &req, LST_TREE_TRY_NS);
}

/*
 * Reports the record to the requester. If an earlier report is still in flight, on_told() retries
 * when that report has ended. If there is no memory now, the requester repeats its request.
 */
void lst_wave_tell_locked(struct lst_tree *tree)
{
	tree->again = tree->telling;
	tree->tell_ns = U64_MAX;
	tree->tell_tries = 0;
	if (tree->telling) {
		lst_rpc_fail_locked(&tree->tell, -ECANCELED);
		return;
	}
	if (tree->wave.state == LST_WAVE_TOLD)
		wave_set(&tree->wave, LST_WAVE_READY);
	if (tree->said_wave != tree->wave.id)
		say_locked(tree);
	if (tree->said)
		report_post_locked(tree);
}

/* ---- time ------------------------------------------------------------------------------------ */

u64 lst_wave_work_locked(struct lst_tree *tree, u64 now)
{
	struct lst_edge *edge;
	u64 next = U64_MAX;

	if (tree->wave.state == LST_WAVE_READY && !tree->telling && tree->tell_ns <= now)
		report_post_locked(tree);
	if (tree->wave.state == LST_WAVE_READY && !tree->telling)
		next = tree->tell_ns;
	if (tree->wave.state != LST_WAVE_RELAY)
		return next;
	if (tree->wave.deadline_ns <= now) {
		deadline_locked(tree);
		return U64_MAX;
	}
	list_for_each_entry(edge, &tree->edges, link) {
		if (!edge_is_requested(edge) || edge->busy)
			continue;
		if (edge->next_ns <= now)
			lst_edge_ask_locked(edge);
		else
			next = min(next, edge->next_ns);
	}
	return min(next, tree->wave.deadline_ns);
}
