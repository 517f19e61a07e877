/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The session of a node. A node is in one session at a time. The session lasts until its console
 * ends it, its lease expires, or another console takes over the node by force.
 *
 * Each session that this node creates has a number, the epoch, which replies report. A console that
 * supports epochs sends the epoch that it knows, if it takes over a node from another session or
 * has lost the node. If the node has created another session since then, the node rejects the
 * request as late. Stock's consoles do not support epochs, and their requests need none.
 */
#include "tree.h"

static const u8 legal[LST_NR_LEASES][LST_NR_LEASES] = {
#define STATE(name)
#define EDGE(from, to) [from][to] = 1,
#include "lease.def"
#undef STATE
#undef EDGE
};

static void session_state_set(struct lst_session *s, enum lst_lease to)
{
	WARN_ON_ONCE(!legal[s->state][to]);
	s->state = to;
}

struct lst_sid lst_session_sid_locked(const struct lst *st)
{
	return st->session ? st->session->sid : LST_NO_SID;
}

static u64 deadline(const struct lst_session *s)
{
	return s->lease ? s->used_ns + (u64)s->lease * NSEC_PER_SEC : U64_MAX;
}

bool lst_session_fenced_locked(const struct lst *st, const struct lst_sid *sid)
{
	u32 i;

	for (i = 0; i < min(st->nr_fenced, LST_FENCED_MAX); i++)
		if (lst_sid_same(&st->fenced[i], sid))
			return true;
	return false;
}

/*
 * Records a session that ended by a takeover. Sessions of stock's consoles are not recorded, so
 * their requests fail with ESRCH or EBUSY, and not with ESTALE.
 */
static void session_fence(struct lst *st, const struct lst_session *s)
{
	if (s->ours && !lst_session_fenced_locked(st, &s->sid))
		st->fenced[st->nr_fenced++ % LST_FENCED_MAX] = s->sid;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void session_free_run(struct lst_job *job)
{
	struct lst_session *s = container_of(job, struct lst_session, job);
	struct lst *st = s->st;

	lst_batches_free(s);
	lst_spares_free(st);
	spin_lock(&st->lock);
	list_del(&s->link);
	st->nr_zombies--;
	spin_unlock(&st->lock);
	kfree(s);
}

void lst_session_end_locked(struct lst *st, enum lst_lease how)
{
	struct lst_session *s = st->session;

	if (!s)
		return;
	session_state_set(s, how);
	if (how == LEASE_FENCED)
		session_fence(st, s);
	st->session = NULL;
	lst_tree_end_locked(st->tree);
	list_add_tail(&s->link, &st->zombies);
	st->nr_zombies++;
	s->nr_running++;
	lst_batches_stop_locked(s, true);
	lst_nettest_end_locked(s);
	lst_session_put_locked(st, s);
}

/*
 * Drops a user of the session. After the last user, a job frees the session without the lock, and
 * no look-up finds the session.
 */
void lst_session_put_locked(struct lst *st, struct lst_session *s)
{
	if (--s->nr_running || s == st->session)
		return;
	session_state_set(s, LEASE_GONE);
	lst_queue_locked(st, &s->job, session_free_run);
}

/* Ends the session if it has expired. @now 0: only returns the deadline. */
u64 lst_session_expire_locked(struct lst *st, u64 now)
{
	if (!st->session)
		return U64_MAX;
	if (deadline(st->session) > now)
		return deadline(st->session);
	pr_warn("selftest: session %s: its console was not heard of for %u s\n", st->session->name,
		st->session->lease);
	lst_session_end_locked(st, LEASE_EXPIRED);
	return U64_MAX;
}

/* ---- requests -------------------------------------------------------------------------------- */

u32 lst_session_check_locked(struct lst_call *call, const struct lst_sid *sid)
{
	struct lst_session *s = call->st->session;

	if (sid->nid == LST_NO_NID)
		return EINVAL;
	if (!s || !lst_sid_same(&s->sid, sid))
		return lst_session_fenced_locked(call->st, sid) ? ESTALE : ESRCH;
	if (call->req.feats != s->feats)
		return EPROTO;
	s->used_ns = lst_now(call->st);
	return 0;
}

u32 lst_session_make_locked(struct lst *st, const struct lst_msg *msg)
{
	const struct lst_make_session_req *req = &msg->make_session_req;
	struct lst_session *s = kzalloc(sizeof(*s), GFP_NOWAIT);

	if (!s)
		return ENOMEM;
	lst_session_end_locked(st, LEASE_FENCED);
	if (!++st->epoch)
		st->epoch = 1;		/* 0 means stock */
	session_state_set(s, LEASE_HELD);
	s->st = st;
	s->sid = req->sid;
	strscpy(s->name, req->name, LST_NAME);
	s->feats = msg->feats;
	s->ours = req->lease;
	s->lease = s->ours ? min(max(req->lease, LST_LEASE_MIN), LST_LEASE_MAX) : LST_LEASE;
	s->refs = 1;
	s->console = s->primary = LNET_NID_ANY;
	s->start_ns = s->used_ns = lst_now(st);
	INIT_LIST_HEAD(&s->batches);
	st->session = s;
	return 0;
}

static bool is_from_here(const struct lst_call *call)
{
	return lnet_nid_same(&call->from.nid, &call->self) ||
	       lnet_nid_same(&call->from.nid, &LNET_NID_LO);
}

/*
 * Did the console of session @s, or this node itself, send @call? In a tree, other nodes forward
 * the requests of a console. For a tree, the function therefore compares the NIDs in the session
 * IDs.
 */
static bool is_from_console(const struct lst_session *s, const struct lst_call *call)
{
	if (is_from_here(call))
		return true;
	if (lnet_nid_is_any(&s->console))
		return s->sid.nid == call->req.make_session_req.sid.nid;
	return lnet_nid_same(&s->console, &call->from.nid) ||
	       lnet_nid_same(&s->primary, &call->primary);
}

/*
 * Is the console unresponsive? A live console sends a request before three quarters of its lease
 * have passed.
 */
static bool is_silent(const struct lst_session *s)
{
	return s->lease && lst_now(s->st) - s->used_ns >= s->lease * (NSEC_PER_SEC / 4 * 3);
}

/*
 * May @call create a session, and replace the node's session if there is one? Returns 0, or the
 * status of the reply.
 */
static u32 may_make(const struct lst_call *call)
{
	const struct lst_make_session_req *req = &call->req.make_session_req;
	const struct lst *st = call->st;
	const struct lst_session *s = st->session;
	bool seen = !req->lease || req->epoch == st->epoch;

	if (!seen && lst_session_fenced_locked(st, &req->sid))
		return ESTALE;
	if (!s)
		return 0;
	return req->force && seen && (is_from_console(s, call) || is_silent(s)) ? 0 : EBUSY;
}

static void session_make_locked(struct lst_call *call)
{
	const struct lst_make_session_req *req = &call->req.make_session_req;
	struct lst_make_session_rpy *rpy = &call->rpy.make_session_rpy;
	struct lst *st = call->st;

	if (call->req.feats & ~LST_FEATS) {
		rpy->status = EPROTO;
		return;
	}
	if (req->sid.nid == LST_NO_NID) {
		rpy->status = EINVAL;
	} else if (st->session && lst_sid_same(&st->session->sid, &req->sid)) {
		st->session->refs++;
		st->session->used_ns = lst_now(st);
	} else {
		rpy->status = may_make(call);
		if (!rpy->status)
			rpy->status = lst_session_make_locked(st, &call->req);
		if (!rpy->status) {
			st->session->console = call->from.nid;
			st->session->primary = call->primary;
		}
	}
	rpy->sid = lst_session_sid_locked(st);
	rpy->epoch = st->epoch;
	if (!st->session)
		return;
	rpy->timeout = st->session->lease;
	strscpy(rpy->name, st->session->name, LST_NAME);
	if (!rpy->status)
		call->rpy.feats = st->session->feats;
}

static void remove_session_locked(struct lst_call *call)
{
	const struct lst_sid *sid = &call->req.remove_session_req.sid;
	struct lst_remove_session_rpy *rpy = &call->rpy.remove_session_rpy;
	struct lst *st = call->st;

	if (sid->nid == LST_NO_NID)
		rpy->status = EINVAL;
	else if (!st->session)
		rpy->status = lst_session_fenced_locked(st, sid) ? ESTALE : ESRCH;
	else if (!lst_sid_same(&st->session->sid, sid))
		rpy->status = lst_session_fenced_locked(st, sid) ? ESTALE : EBUSY;
	else if (call->req.feats != st->session->feats)
		rpy->status = EPROTO;
	else if (!--st->session->refs)
		lst_session_end_locked(st, LEASE_REMOVED);
	rpy->sid = lst_session_sid_locked(st);
}

/*
 * Serves a DEBUG query. Any console may send it. A query of the session's console renews the lease.
 */
static void debug_locked(struct lst_call *call)
{
	struct lst_debug_rpy *rpy = &call->rpy.debug_rpy;
	struct lst_session *s = call->st->session;

	rpy->sid = lst_session_sid_locked(call->st);
	rpy->epoch = call->st->epoch;
	rpy->status = s ? 0 : ESRCH;
	if (!s)
		return;
	if (lst_sid_same(&s->sid, &call->req.debug_req.sid))
		s->used_ns = lst_now(call->st);
	rpy->timeout = s->lease;
	strscpy(rpy->name, s->name, LST_NAME);
}

enum lst_verdict lst_session_serve_locked(struct lst_call *call)
{
	if (call->req.type == LST_MAKE_SESSION_REQ)
		session_make_locked(call);
	else if (call->req.type == LST_REMOVE_SESSION_REQ)
		remove_session_locked(call);
	else
		debug_locked(call);
	return LST_REPLY;
}

/* ---- permission of requests ------------------------------------------------------------------ */

static bool is_test_traffic(u32 service)
{
	return service == LST_SERVICE_PING || service == LST_SERVICE_BRW ||
	       service == LST_SERVICE_DRILL || service == LST_SERVICE_TREE_TELL;
}

static bool may_lead(const struct lst_call *call)
{
	const struct lst *st = call->st;

	return !st->consoles || is_from_here(call) ||
	       lnet_nidlist_match(st->consoles, &call->from.nid) ||
	       lnet_nidlist_match(st->consoles, &call->primary);
}

static void refused_log(const struct lst_call *call)
{
	char nid[LNET_NIDSTR_SIZE];
	struct lst *st = call->st;
	u64 now = lst_now(st);

	if (now < st->refused_log_ns)
		return;
	st->refused_log_ns = now + LST_REFUSED_LOG_NS;
	pr_warn("selftest: %s may not lead this node: it is not in the list of consoles; %llu "
		"requests were rejected so far\n", lnet_nid_str(&call->from.nid, nid),
		(unsigned long long)st->c[LST_C_rpcs_rejected]);
}

/*
 * Nodes of a session send test traffic to each other, although they are not in the list of
 * consoles. So if this node has a session or no list of consoles, it accepts test traffic of any
 * sender. It accepts other requests only from consoles. A reply that rejects a request has no
 * session ID.
 */
u32 lst_session_allows_locked(struct lst_call *call, u32 service)
{
	struct lst *st = call->st;

	if (is_test_traffic(service) ? !st->consoles || st->session : may_lead(call))
		return 0;
	st->c[LST_C_rpcs_rejected]++;
	refused_log(call);
	if (service == LST_SERVICE_MAKE_SESSION)
		call->rpy.make_session_rpy.sid = LST_NO_SID;
	else if (service == LST_SERVICE_DEBUG)
		call->rpy.debug_rpy.sid = LST_NO_SID;
	return EACCES;
}
