/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests between nodes of a tree: a node above requests a wave; a node below reports results. */
#include "tree.h"

/* ---- requests of a node above ---------------------------------------------------------------- */

/* Makes the wave of the request the wave of this node. */
static u32 wave_begin_locked(struct lst_call *call, struct lst_body *body)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	struct lst_tree *tree = call->st->tree;
	struct lst_wave *wave = &tree->wave;
	u64 now = lst_now(call->st);

	tree->asker = call->from;
	tree->asker_head = req->asker;
	lst_tree_record_free(&wave->rec);
	lst_tree_record_init(&wave->rec, tree->place.first, tree->place.nr);
	lst_body_put(wave->body);
	wave->body = body;
	if (body)
		body->refs++;
	wave->id = req->wave;
	wave->op = (u8)req->op;
	wave->force = req->force;
	wave->arg = req->arg;
	wave->at_ns = req->at_ns;
	wave->clock_ns = req->clock_ns;
	wave->bound_ns = wave->rec.bound_ns = req->bound_ns;
	wave->began_ns = now;
	wave->deadline_ns = now + (u64)req->budget_ms * NSEC_PER_MSEC;
	lst_wave_begin_locked(tree);
	return 0;
}

/*
 * Is the wave known? If so, returns EALREADY, and the sender of the request receives the results at
 * the end of the wave. Returns 0 if the wave is new.
 */
static u32 known_locked(struct lst_call *call)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	struct lst_tree *tree = call->st->tree;

	if (req->head != tree->place.head)
		return EINVAL;
	if (req->wave != tree->wave.id)
		return req->wave < tree->wave.id ? ESTALE : 0;
	tree->asker = call->from;
	tree->asker_head = req->asker;
	if (tree->wave.state == LST_WAVE_READY || tree->wave.state == LST_WAVE_TOLD)
		lst_wave_tell_locked(tree);
	return EALREADY;
}

static bool call_is_for_tree(const struct lst_call *call, const struct lst_tree *tree)
{
	return tree && lst_sid_same(&tree->sid, &call->req.tree_ask_req.sid);
}

/* Returns 0 if the wave is new, else the status of the reply. */
static u32 check_locked(struct lst_call *call)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	struct lst_tree *tree = call->st->tree;
	u32 status;

	if (req->op >= LST_NR_TREE_OPS || req->body_len > LST_TREE_BODY_MAX || !req->wave)
		return EINVAL;
	if (!call_is_for_tree(call, tree))
		return req->op == LST_TREE_JOIN ? 0 :
		       lst_session_fenced_locked(call->st, &req->sid) ? ESTALE : ESRCH;
	status = lst_session_check_locked(call, &req->sid);
	if (status || (req->op == LST_TREE_JOIN && req->wave > tree->wave.id))
		return status;
	return known_locked(call);
}

static void tree_reply_fill_locked(struct lst_call *call, u32 status)
{
	struct lst_tree_ask_rpy *rpy = &call->rpy.tree_ask_rpy;

	rpy->status = status;
	rpy->sid = lst_session_sid_locked(call->st);
	rpy->left_ns = lst_now(call->st);
}

/*
 * Begins the wave after its body was fetched. Checks the session again, because the session may
 * have changed meanwhile.
 */
static void body_fetched(struct lst_call *call)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	struct lst_body *body = lst_body_new(call->bulk, call->bulk_len, GFP_NOFS);
	u32 status = body ? 0 : ENOMEM;

	if (!status && req->op == LST_TREE_JOIN)
		status = lst_tree_join(call);
	spin_lock(&call->st->lock);
	if (!status)
		status = check_locked(call);
	if (!status && !call->st->tree)
		status = ESRCH;
	if (!status)
		status = wave_begin_locked(call, body);
	lst_body_put(body);
	tree_reply_fill_locked(call, status);
	spin_unlock(&call->st->lock);
}

static enum lst_verdict ask_locked(struct lst_call *call)
{
	const struct lst_tree_ask_req *req = &call->req.tree_ask_req;
	u32 status = check_locked(call);

	call->rpy.tree_ask_rpy.came_ns = lst_now(call->st);
	if (!status && req->op == LST_TREE_JOIN && !req->body_len)
		status = EINVAL;
	if (status || !req->body_len) {
		tree_reply_fill_locked(call, status ? status : wave_begin_locked(call, NULL));
		return LST_REPLY;
	}
	call->bulk_get = true;
	call->bulkid = req->bulkid;
	call->bulk_len = req->body_len;
	call->bulk_done = body_fetched;
	return LST_BULK;
}

/* ---- reports of a node below ----------------------------------------------------------------- */

/* Takes a report. Its receiver is this node, or the console on this node. */
static u32 report_take_locked(struct lst_call *call, const u8 *buf, u32 len)
{
	const struct lst_tree_tell_req *req = &call->req.tree_tell_req;
	struct lst *st = call->st;
	struct lst_tree *tree = req->asker == LST_TREE_ROOT ? st->root : st->tree;

	if (!tree || !lst_sid_same(&tree->sid, &req->sid) || tree->place.head != req->asker)
		return ESRCH;
	return lst_edge_told_locked(tree, req->head, req->wave, buf, len);
}

static void record_fetched(struct lst_call *call)
{
	spin_lock(&call->st->lock);
	call->rpy.tree_tell_rpy.status = report_take_locked(call, call->bulk, call->bulk_len);
	call->rpy.tree_tell_rpy.sid = lst_session_sid_locked(call->st);
	spin_unlock(&call->st->lock);
}

static enum lst_verdict tell_locked(struct lst_call *call)
{
	const struct lst_tree_tell_req *req = &call->req.tree_tell_req;
	struct lst_tree_tell_rpy *rpy = &call->rpy.tree_tell_rpy;

	rpy->sid = lst_session_sid_locked(call->st);
	if (req->len <= LST_TREE_INLINE || req->len > LST_TREE_SAID_MAX) {
		rpy->status = req->len > LST_TREE_SAID_MAX ? EINVAL :
			      report_take_locked(call, (const u8 *)req->record, req->len);
		return LST_REPLY;
	}
	call->bulk_get = true;
	call->bulkid = req->bulkid;
	call->bulk_len = req->len;
	call->bulk_done = record_fetched;
	return LST_BULK;
}

enum lst_verdict lst_tree_serve_locked(struct lst_call *call)
{
	return call->req.type == LST_TREE_ASK_REQ ? ask_locked(call) : tell_locked(call);
}
