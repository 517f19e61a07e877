/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Requests of this node. A request posts memory for the reply and for bulk data, and then sends its
 * message. It ends when the reply was received and the posted memory was released.
 */
#include "service.h"

static void on_rpc_event(const struct lnet_event *ev);

void lst_rpc_init_locked(struct lst_rpc *rpc, struct lst *st, const struct lnet_process *target)
{
	lockdep_assert_held(&st->lock);
	rpc->st = st;
	rpc->target = *target;
	rpc->rpyid = lst_id_draw(st);
	rpc->bulkid = rpc->rpyid + 1;
	rpc->bulk = NULL;
	rpc->session = NULL;
	rpc->nr_open = 0;
	rpc->status = 0;
	rpc->starting = rpc->unlinking = rpc->unlink = false;
	rpc->replied = rpc->moved = false;
	rpc->out = NULL;
	rpc->out_md.cookie = 0;
	memset(rpc->md, 0, sizeof(rpc->md));
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Drops one reference of nr_open. True: the request has ended, and the caller calls done() without
 * the lock.
 */
static bool rpc_put_locked(struct lst_rpc *rpc)
{
	if (--rpc->nr_open)
		return false;
	if (!rpc->status && !rpc->replied)
		rpc->status = -EIO;
	if (rpc->out)
		rpc->out->rpc = NULL;
	rpc->out = NULL;
	list_del_init(&rpc->link);
	rpc->end_ns = lst_now(rpc->st);
	return true;
}

static lnet_md_t md_of(struct lst_rpc *rpc, unsigned int kind)
{
	lnet_md_t md = { 0 };

	spin_lock(&rpc->st->lock);
	if (rpc->md[kind])
		md = rpc->md[kind]->md;
	spin_unlock(&rpc->st->lock);
	return md;
}

static void rpc_unlink_run(struct lst_job *job)
{
	struct lst_rpc *rpc = container_of(job, struct lst_rpc, job);
	struct lst *st = rpc->st;
	unsigned int i;
	bool over;

	for (i = 0; i < LST_NR_MDS; i++) {
		lnet_md_t md = md_of(rpc, i);

		if (md.cookie)
			lnet_md_unlink(st->ln, md);
	}
	if (rpc->out_md.cookie && rpc->status)
		lnet_md_unlink(st->ln, rpc->out_md);
	spin_lock(&st->lock);
	rpc->unlinking = false;
	over = rpc_put_locked(rpc);
	spin_unlock(&st->lock);
	if (over)
		rpc->done(rpc);
}

/*
 * Withdraws posted memory. While the request is being started, the starting function does so at its
 * end.
 */
static void rpc_unlink_locked(struct lst_rpc *rpc)
{
	rpc->unlink = true;
	if (rpc->starting || rpc->unlinking)
		return;
	rpc->unlinking = true;
	rpc->nr_open++;
	lst_queue_locked(rpc->st, &rpc->job, rpc_unlink_run);
}

void lst_rpc_fail_locked(struct lst_rpc *rpc, int status)
{
	lockdep_assert_held(&rpc->st->lock);
	if (!rpc->nr_open || rpc->status)
		return;
	rpc->status = status;
	list_move_tail(&rpc->link, &rpc->st->ending);
	rpc_unlink_locked(rpc);
}

static void rpc_error_locked(struct lst_rpc *rpc, int status)
{
	if (!rpc->status)
		rpc->st->c[LST_C_rpc_errors]++;
	lst_rpc_fail_locked(rpc, status);
}

/* ---- the beginning --------------------------------------------------------------------------- */

/* Detaches memory that the request does not need any more. */
static void md_close_locked(struct lst_rpc_md *md)
{
	struct lst *st = md->st;

	if (md->rpc)
		md->rpc->md[md->kind] = NULL;
	if (!md->session)
		return;
	lst_session_put_locked(st, md->session);
	kfree(md);
}

static struct lst_rpc_md *md_open(struct lst_rpc *rpc, enum lst_md_kind kind)
{
	bool fetched = kind == LST_MD_BULK && rpc->bulk_options == LNET_MD_OP_GET && rpc->session;
	struct lst_rpc_md *md = fetched ? kmalloc(sizeof(*md), GFP_NOFS) : &rpc->own_md[kind];

	if (!md)
		return NULL;
	*md = (struct lst_rpc_md){ .st = rpc->st, .rpc = rpc, .kind = kind,
				   .session = fetched ? rpc->session : NULL };
	spin_lock(&rpc->st->lock);
	rpc->md[kind] = md;
	rpc->nr_open++;
	if (fetched)
		rpc->session->nr_running++;
	spin_unlock(&rpc->st->lock);
	return md;
}

/*
 * Notes whether memory was attached. If @rc is not 0, it was not attached; the starting function
 * still holds a reference to the request.
 */
static void md_made(struct lst_rpc *rpc, enum lst_md_kind kind, lnet_md_t handle, int rc)
{
	spin_lock(&rpc->st->lock);
	if (rc) {
		md_close_locked(rpc->md[kind]);
		rpc->nr_open--;
	} else if (rpc->md[kind]) {
		rpc->md[kind]->md = handle;
	}
	spin_unlock(&rpc->st->lock);
}

static int rpc_md_post(struct lst_rpc *rpc, enum lst_md_kind kind, u64 bits, void *mem, u32 len,
		       u32 options)
{
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lst_rpc_md *md = md_open(rpc, kind);
	struct lnet_md_cfg cfg = { .start = mem, .length = len, .threshold = 1, .cpt = -1,
				   .options = options, .user_ptr = md, .handler = on_rpc_event };
	lnet_md_t handle = { 0 };
	lnet_me_t me;
	int rc;

	if (!md)
		return -ENOMEM;
	rc = lnet_me_attach(rpc->st->ln, LST_PORTAL_RDMA, &any, bits, 0, LNET_UNLINK,
			    LNET_INS_AFTER, &me);
	if (!rc)
		rc = lnet_md_attach(rpc->st->ln, me, &cfg, LNET_UNLINK, &handle);
	md_made(rpc, kind, handle, rc);
	return rc;
}

static void on_rpc_sent(const struct lnet_event *ev)
{
	struct lst_out *out = ev->user_ptr;
	struct lst *st = out->st;

	lst_enter(st);
	if (out->rpc && ev->status && !out->rpc->replied)
		rpc_error_locked(out->rpc, ev->status);
	if (ev->unlinked) {
		if (out->rpc)
			out->rpc->out = NULL;
		kfree(out);
		st->nr_outs--;
	}
	spin_unlock(&st->lock);
	lst_run(st);
}

static struct lst_out *out_new(struct lst_rpc *rpc)
{
	struct lst_out *out = kmalloc(sizeof(*out), GFP_NOFS);

	if (!out)
		return NULL;
	out->st = rpc->st;
	out->rpc = rpc;
	memcpy(out->buf, rpc->request, LST_MSG_SIZE);
	spin_lock(&rpc->st->lock);
	rpc->out = out;
	rpc->st->nr_outs++;
	spin_unlock(&rpc->st->lock);
	return out;
}

static void out_free(struct lst_rpc *rpc)
{
	spin_lock(&rpc->st->lock);
	kfree(rpc->out);
	rpc->out = NULL;
	rpc->st->nr_outs--;
	spin_unlock(&rpc->st->lock);
}

static int rpc_send(struct lst_rpc *rpc)
{
	struct lst_out *out = out_new(rpc);
	struct lnet_md_cfg cfg = { .start = out ? out->buf : NULL, .length = LST_MSG_SIZE,
				   .threshold = 1, .cpt = -1, .user_ptr = out,
				   .handler = on_rpc_sent };
	struct lnet_xfer x;
	int rc = out ? lnet_md_bind(rpc->st->ln, &cfg, LNET_UNLINK, &rpc->out_md) : -ENOMEM;

	if (rc) {
		if (out)
			out_free(rpc);
		return rc;
	}
	lnet_xfer_init(&x);
	x.md = rpc->out_md;
	x.target = rpc->target;
	x.portal = rpc->portal;
	x.match_bits = rpc->service;
	x.flags = LNET_MORE;
	return lnet_put(rpc->st->ln, &x);
}

static void start_run(struct lst_job *job)
{
	struct lst_rpc *rpc = container_of(job, struct lst_rpc, job);
	struct lst *st = rpc->st;
	int rc = READ_ONCE(rpc->status);
	bool over;

	if (!rc)
		rc = rpc_md_post(rpc, LST_MD_RPY, rpc->rpyid, rpc->reply, LST_MSG_SIZE,
				 LNET_MD_OP_PUT | LNET_MD_TRUNCATE);
	if (!rc && rpc->bulk)
		rc = rpc_md_post(rpc, LST_MD_BULK, rpc->bulkid, rpc->bulk, rpc->bulk_len,
				 rpc->bulk_options);
	if (!rc)
		rc = rpc_send(rpc);
	spin_lock(&st->lock);
	rpc->starting = false;
	if (rc)
		rpc_error_locked(rpc, rc);
	if (rpc->unlink)
		rpc_unlink_locked(rpc);
	over = rpc_put_locked(rpc);
	spin_unlock(&st->lock);
	if (over)
		rpc->done(rpc);
}

/*
 * Inserts the request by its deadline. Most deadlines are later than all earlier ones, so the
 * search begins at the end.
 */
static void insert_locked(struct lst_rpc *rpc)
{
	struct list_head *at = rpc->st->rpcs.prev;

	while (at != &rpc->st->rpcs &&
	       list_entry(at, struct lst_rpc, link)->deadline_ns > rpc->deadline_ns)
		at = at->prev;
	list_add(&rpc->link, at);
}

void lst_rpc_post_locked(struct lst_rpc *rpc, struct lst_msg *req, u64 timeout_ns)
{
	struct lst *st = rpc->st;
	const struct lst_rpc_kind *kind = lst_rpc_kind_of_req(req->type);

	lockdep_assert_held(&st->lock);
	req->rpyid = rpc->rpyid;
	req->version = LST_VERSION;
	req->swapped = false;
	lst_msg_encode(rpc->request, req);
	rpc->portal = kind->portal;
	rpc->service = kind->service;
	rpc->start_ns = lst_now(st);
	rpc->deadline_ns = rpc->start_ns + timeout_ns;
	rpc->starting = true;
	rpc->nr_open = 1;
	st->c[LST_C_rpcs_sent]++;
	insert_locked(rpc);
	lst_queue_locked(st, &rpc->job, start_run);
	if (st->stopping)
		lst_rpc_fail_locked(rpc, -ESHUTDOWN);
}

/* ---- events ---------------------------------------------------------------------------------- */

/*
 * Detaches bulk memory from the request, because the reply shows that the server has fetched the
 * data.
 */
static void rpc_md_detach_locked(struct lst_rpc *rpc)
{
	struct lst_rpc_md *md = rpc->md[LST_MD_BULK];

	if (!md || !md->session)
		return;
	md->rpc = NULL;
	rpc->md[LST_MD_BULK] = NULL;
	rpc->moved = true;
	rpc->nr_open--;
}

static void replied_locked(struct lst_rpc *rpc, const struct lnet_event *ev)
{
	struct lst_msg rpy;
	int rc = ev->rlength == LST_MSG_SIZE ? lst_msg_decode(&rpy, rpc->reply, ev->mlength) :
					       -EMSGSIZE;

	rpc->replied = true;
	if (rc)
		rpc_error_locked(rpc, rc);
	else if (rpc->bulk && rpy.status)
		rpc_unlink_locked(rpc);	/* after an error, the server does not access the memory */
	else
		rpc_md_detach_locked(rpc);
}

static void rpc_moved_locked(struct lst_rpc *rpc, const struct lnet_event *ev)
{
	rpc->moved = true;
	rpc->st->c[ev->kind == LNET_EVENT_PUT ? LST_C_bulk_get : LST_C_bulk_put] += ev->mlength;
	if (ev->mlength != rpc->bulk_len)
		rpc_error_locked(rpc, -EMSGSIZE);
}

static void event_locked(struct lst_rpc *rpc, enum lst_md_kind kind, const struct lnet_event *ev)
{
	if (ev->kind == LNET_EVENT_UNLINK)
		return;
	/* A withdrawal is no failure. */
	if (ev->status && rpc->unlink)
		return;
	if (ev->status)
		rpc_error_locked(rpc, ev->status);
	else if (kind == LST_MD_RPY)
		replied_locked(rpc, ev);
	else
		rpc_moved_locked(rpc, ev);
}

static void alone_locked(struct lst *st, const struct lnet_event *ev)
{
	if (ev->kind != LNET_EVENT_UNLINK && !ev->status)
		st->c[LST_C_bulk_put] += ev->mlength;
}

static void on_rpc_event(const struct lnet_event *ev)
{
	struct lst_rpc_md *md = ev->user_ptr;
	struct lst_rpc *rpc;
	struct lst *st = md->st;
	bool over = false;

	lst_enter(st);
	rpc = md->rpc;
	if (rpc)
		event_locked(rpc, md->kind, ev);
	else
		alone_locked(st, ev);
	if (ev->unlinked) {
		md_close_locked(md);
		over = rpc && rpc_put_locked(rpc);
	}
	spin_unlock(&st->lock);
	if (over)
		rpc->done(rpc);
	lst_run(st);
}

/* ---- result and time ------------------------------------------------------------------------- */

int lst_rpc_result(struct lst_rpc *rpc, struct lst_msg *rpy)
{
	const struct lst_rpc_kind *kind = lst_rpc_kind(rpc->service);
	int rc = rpc->status;

	if (!rc)
		rc = lst_msg_decode(rpy, rpc->reply, LST_MSG_SIZE);
	if (!rc && rpy->type != kind->rpy)
		rc = -EBADMSG;
	/* If the server reports no error, the bulk transfer must be complete. */
	if (!rc && rpc->bulk && !rpc->moved && !rpy->status)
		rc = -EIO;
	return rc;
}

u64 lst_rpcs_expire_locked(struct lst *st, u64 now)
{
	struct lst_rpc *rpc;

	while (!list_empty(&st->rpcs)) {
		rpc = list_first_entry(&st->rpcs, struct lst_rpc, link);
		if (rpc->deadline_ns > now)
			return rpc->deadline_ns;
		st->c[LST_C_rpcs_expired]++;
		lst_rpc_fail_locked(rpc, -ETIMEDOUT);
	}
	return U64_MAX;
}
