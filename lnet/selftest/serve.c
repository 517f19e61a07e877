/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests of other nodes: receive buffers, dispatch, bulk transfers and replies. */
#include "drill.h"
#include "memory.h"
#include "tree.h"

/* ---- buffers --------------------------------------------------------------------------------- */

static void on_service_request(const struct lnet_event *ev);
static void on_drill(const struct lnet_event *ev);

/*
 * Called if there is no memory to post a buffer. The portal has a second buffer; @b is posted
 * later.
 */
static void lost_locked(struct lst_buffer *b)
{
	b->posted = false;
	b->st->retry_ns = lst_now(b->st) + LST_RETRY_NS;
}

static void post_run(struct lst_job *job)
{
	struct lst_buffer *b = container_of(job, struct lst_buffer, job);
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	bool drill = b->portal == LST_PORTAL_DRILL;
	struct lnet_md_cfg cfg = { .start = b->mem, .length = b->size,
				   .max_size = drill ? LST_DRILL_MAX : LST_MSG_SIZE,
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1, .user_ptr = b,
				   .options = LNET_MD_OP_PUT | LNET_MD_MAX_SIZE | LNET_MD_TRUNCATE,
				   .handler = drill ? on_drill : on_service_request };
	bool stopping;
	lnet_me_t me;
	int rc = lnet_me_attach(b->st->ln, b->portal, &any, 0, ~0ULL, LNET_UNLINK, LNET_INS_AFTER,
				&me);

	if (!rc)
		rc = lnet_md_attach(b->st->ln, me, &cfg, LNET_UNLINK, &b->md);
	spin_lock(&b->st->lock);
	if (rc)
		lost_locked(b);
	stopping = b->posted && b->st->stopping;
	spin_unlock(&b->st->lock);
	if (stopping)
		lnet_md_unlink(b->st->ln, b->md);
}

static void buffer_unlink_run(struct lst_job *job)
{
	struct lst_buffer *b = container_of(job, struct lst_buffer, job);

	lnet_md_unlink(b->st->ln, b->md);
}

static void buffer_gone_locked(struct lst_buffer *b)
{
	b->posted = !b->st->stopping;
	if (b->posted)
		lst_queue_locked(b->st, &b->job, post_run);
}

void lst_serve_retry_locked(struct lst *st, u64 now)
{
	unsigned int i;

	if (now < st->retry_ns || st->stopping)
		return;
	st->retry_ns = U64_MAX;
	for (i = 0; i < LST_BUFFERS; i++)
		if (!st->buffer[i].posted && st->buffer[i].mem)
			buffer_gone_locked(&st->buffer[i]);
}

static int buffer_make(struct lst *st, u32 ix, u32 portal, u32 size)
{
	struct lst_buffer *b = &st->buffer[ix];

	b->st = st;
	INIT_LIST_HEAD(&b->job.link);
	b->portal = portal;
	b->size = size;
	b->mem = kvmalloc(size, GFP_KERNEL);
	return b->mem ? lnet_portal_lazy(st->ln, portal, true) : -ENOMEM;
}

static void buffer_open_locked(struct lst_buffer *b)
{
	b->posted = true;
	lst_queue_locked(b->st, &b->job, post_run);
}

int lst_serve_start(struct lst *st, u32 nr_messages)
{
	static const u32 portals[] = { LST_PORTAL_TEST, LST_PORTAL_TEST, LST_PORTAL_FRAMEWORK,
				       LST_PORTAL_FRAMEWORK };
	unsigned int i;
	int rc = 0;

	for (i = 0; i < LST_SENDERS_MAX; i++)
		INIT_LIST_HEAD(&st->share[i].waits);
	st->nr_messages = nr_messages;
	for (i = 0; i < ARRAY_SIZE(portals) && !rc; i++)
		rc = buffer_make(st, i, portals[i], DIV_ROUND_UP(nr_messages, ARRAY_SIZE(portals)) *
				 LST_MSG_SIZE);
	for (i = 0; i < ARRAY_SIZE(portals) && !rc; i++) {
		spin_lock(&st->lock);
		buffer_open_locked(&st->buffer[i]);
		spin_unlock(&st->lock);
	}
	return rc;
}

int lst_serve_drills(struct lst *st)
{
	u32 size = DIV_ROUND_UP(st->nr_messages, 2) * LST_MSG_SIZE + LST_DRILL_MAX;
	bool mine;
	u32 i;
	int rc = 0;

	spin_lock(&st->lock);
	mine = !st->drills_served;
	st->drills_served = true;
	spin_unlock(&st->lock);
	for (i = LST_BUFFERS - 2; i < LST_BUFFERS && mine; i++) {
		rc = st->buffer[i].mem ? 0 : buffer_make(st, i, LST_PORTAL_DRILL, size);
		spin_lock(&st->lock);
		st->drills_served = !rc;
		if (!rc && !st->stopping)
			buffer_open_locked(&st->buffer[i]);
		spin_unlock(&st->lock);
		if (rc)
			return rc;
	}
	return 0;
}

void lst_serve_free(struct lst *st)
{
	unsigned int i;

	for (i = 0; i < LST_BUFFERS; i++)
		kvfree(st->buffer[i].mem);
	lst_spares_free(st);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* minimum bytes of memory that is cached for the next call */
#define SPARE_MIN	65536U
#define SPARES_MAX	16U

static bool bulk_is_large(u32 len)
{
	return len >= SPARE_MIN && len <= LNET_MTU;
}

/*
 * Takes large memory from the cache if possible: its allocation would cost more time than its use.
 */
static void *mem_get(struct lst *st, u32 len)
{
	struct list_head *spare = NULL;

	if (!bulk_is_large(len))
		return lst_memory(len);
	spin_lock(&st->lock);
	if (st->nr_spares) {
		spare = st->spares.next;
		list_del(spare);
		st->nr_spares--;
	}
	spin_unlock(&st->lock);
	return spare ? (void *)spare : lst_memory(LNET_MTU);
}

static void mem_put(struct lst *st, void *mem, u32 len)
{
	bool kept = false;

	if (mem && bulk_is_large(len)) {
		spin_lock(&st->lock);
		kept = st->nr_spares < SPARES_MAX && st->session;
		if (kept) {
			list_add((struct list_head *)mem, &st->spares);
			st->nr_spares++;
		}
		spin_unlock(&st->lock);
	}
	if (!kept)
		kvfree(mem);
}

void lst_spares_free(struct lst *st)
{
	struct list_head *spare, *next, list;

	INIT_LIST_HEAD(&list);
	spin_lock(&st->lock);
	list_splice_tail_init(&st->spares, &list);
	st->nr_spares = 0;
	spin_unlock(&st->lock);
	list_for_each_safe(spare, next, &list)
		kvfree(spare);
}

/* ---- shares of the senders ------------------------------------------------------------------- */

static void bulk_run(struct lst_job *job);

static u64 mem_size(u32 len)
{
	return bulk_is_large(len) ? LNET_MTU : len;
}

static bool is_unused(const struct lst_share *share)
{
	return !share->nr_calls;
}

/*
 * Returns the share of @sender, else an unused share, else the last share. All further senders use
 * the last share.
 */
static struct lst_share *share_of_locked(struct lst *st, const struct lnet_nid *sender)
{
	struct lst_share *unused = NULL;
	unsigned int i;

	for (i = 0; i < LST_SENDERS_MAX; i++) {
		struct lst_share *share = &st->share[i];

		if (!is_unused(share) && lnet_nid_same(&share->sender, sender))
			return share;
		if (!unused && is_unused(share))
			unused = share;
	}
	if (!unused)
		return &st->share[LST_SENDERS_MAX - 1];
	unused->sender = *sender;
	return unused;
}

/*
 * May the sender of @share have a further call? True if its number of calls is below LST_CALLS_FEW,
 * or below the number of calls that the node can still accept.
 */
static bool may_call(const struct lst *st, const struct lst_share *share)
{
	u32 free = st->nr_calls < LST_CALLS_MAX ? LST_CALLS_MAX - st->nr_calls : 0;

	return share->nr_calls < max(free, LST_CALLS_FEW);
}

static void call_unlink_locked(struct lst_call *call)
{
	list_del(&call->link);
	call->share->nr_calls--;
	call->st->nr_calls--;
}

/*
 * Does @share have room for @size bytes? If no other call has memory, a call of any size may start.
 */
static bool share_has_room(const struct lst *st, const struct lst_share *share, u64 size)
{
	return (!share->used || share->used + size <= LST_BULK_SHARE) &&
	       (!st->bulk_used || st->bulk_used + size <= LST_BULK_MAX);
}

static void bulk_start_locked(struct lst_call *call)
{
	call->bulk_counted = true;
	call->share->used += mem_size(call->bulk_len);
	call->st->bulk_used += mem_size(call->bulk_len);
	lst_queue_locked(call->st, &call->job, bulk_run);
}

/*
 * Starts the transfer of @call now, or queues @call until other calls have returned enough memory.
 */
static void bulk_want_locked(struct lst_call *call)
{
	struct lst *st = call->st;

	if (list_empty(&call->share->waits) &&
	    share_has_room(st, call->share, mem_size(call->bulk_len))) {
		bulk_start_locked(call);
		return;
	}
	st->c[LST_C_bulk_waits]++;
	list_add_tail(&call->job.link, &call->share->waits);
}

/*
 * Returns the memory of @call, and starts at most one waiting call of each share, round-robin. A
 * share may have further waiting calls that could start. In this case another call still has
 * memory. When that call ends, it returns its memory, and this function runs again.
 */
static void bulk_return_locked(struct lst_call *call)
{
	struct lst *st = call->st;
	u32 i, first = st->share_turn;

	call->share->used -= mem_size(call->bulk_len);
	st->bulk_used -= mem_size(call->bulk_len);
	for (i = 0; i < LST_SENDERS_MAX; i++) {
		u32 at = (first + i) % LST_SENDERS_MAX;
		struct lst_share *share = &st->share[at];
		struct lst_call *next = list_first_entry_or_null(&share->waits, struct lst_call,
								 job.link);

		if (!next || !share_has_room(st, share, mem_size(next->bulk_len)))
			continue;
		list_del_init(&next->job.link);
		bulk_start_locked(next);
		st->share_turn = at + 1;
	}
}

/* ---- replies and bulk ------------------------------------------------------------------------ */

/*
 * Drops one reference of nr_open: of a transfer, or of the function that starts a transfer. The
 * last one frees the call.
 */
static void call_put(struct lst_call *call)
{
	struct lst *st = call->st;
	bool over;

	spin_lock(&st->lock);
	over = !--call->nr_open;
	spin_unlock(&st->lock);
	if (!over)
		return;
	mem_put(st, call->bulk, call->bulk_len);
	spin_lock(&st->lock);
	if (call->bulk_counted)
		bulk_return_locked(call);
	call_unlink_locked(call);
	spin_unlock(&st->lock);
	kfree(call);
}

static void call_hold(struct lst_call *call)
{
	spin_lock(&call->st->lock);
	call->nr_open++;
	spin_unlock(&call->st->lock);
}

/* Starts a PUT or GET. If it returns 0, events follow, and the call may already have ended. */
static int transfer(struct lst_call *call, void *mem, u32 len, lnet_handler_t handler, u64 bits,
		    bool get)
{
	struct lnet_md_cfg cfg = { .start = mem, .length = len, .threshold = 1, .cpt = -1,
				   .user_ptr = call, .handler = handler };
	struct lnet *ln = call->st->ln;
	struct lnet_xfer x;
	int rc;

	lnet_xfer_init(&x);
	rc = lnet_md_bind(ln, &cfg, LNET_UNLINK, &x.md);
	if (rc)
		return rc;
	call_hold(call);
	x.self = call->self;
	x.target = call->from;
	x.portal = call->portal ? call->portal : LST_PORTAL_RDMA;
	x.match_bits = bits;
	x.flags = LNET_MORE | (get ? LNET_NO_SEND : 0);
	if (lst_bulk_start(call->st, &x, get))
		lnet_md_unlink(ln, x.md);
	return 0;
}

static void dropped(struct lst_call *call)
{
	spin_lock(&call->st->lock);
	call->st->c[LST_C_rpcs_dropped]++;
	spin_unlock(&call->st->lock);
}

/* Handles events of replies, and of PUTs that carry bulk data. */
static void on_call_sent(const struct lnet_event *ev)
{
	struct lst_call *call = ev->user_ptr;
	struct lst *st = call->st;

	if (!ev->unlinked)
		return;
	lst_enter(st);
	if (ev->status || ev->kind == LNET_EVENT_UNLINK)
		st->c[LST_C_rpc_errors]++;
	spin_unlock(&st->lock);
	call_put(call);
	lst_run(st);
}

static void reply(struct lst_call *call)
{
	u8 *mem = call->echo ? call->bulk : call->buf;

	lst_msg_encode(mem, &call->rpy);
	if (transfer(call, mem, call->rpy_len, on_call_sent, call->req.rpyid, false))
		dropped(call);
}

bool lst_call_echo_locked(struct lst_call *call)
{
	call->rpy.drill_rpy.size = call->len;
	call->rpy_len = call->len;
	if (call->len <= LST_MSG_SIZE)
		return true;
	call->bulk = kmemdup(call->raw, call->len, GFP_NOWAIT);
	call->echo = call->bulk != NULL;
	return call->echo;
}

static void reply_run(struct lst_job *job)
{
	struct lst_call *call = container_of(job, struct lst_call, job);

	reply(call);
	call_put(call);
}

void lst_reply_locked(struct lst_call *call)
{
	lst_queue_locked(call->st, &call->job, reply_run);
}

static void fetched(struct lst_call *call)
{
	struct lst *st = call->st;

	call->bulk_done(call);
	spin_lock(&st->lock);
	st->c[LST_C_bulk_get] += call->bulk_len;
	call->nr_open++;
	lst_reply_locked(call);
	spin_unlock(&st->lock);
}

static void on_fetched(const struct lnet_event *ev)
{
	struct lst_call *call = ev->user_ptr;
	struct lst *st = call->st;
	bool failed;

	lst_enter(st);
	if (ev->final)
		call->bulk_status = ev->status ? ev->status :
				    ev->mlength != call->bulk_len ? -EMSGSIZE : 0;
	failed = call->bulk_status;
	if (ev->unlinked && failed)
		st->c[LST_C_rpc_errors]++;
	spin_unlock(&st->lock);
	if (ev->unlinked && !failed)
		fetched(call);
	else if (ev->unlinked)
		dropped(call);
	if (ev->unlinked)
		call_put(call);
	lst_run(st);
}

/*
 * Puts bulk data to the client. The reply follows the put at once, because the client waits for
 * reply and data in any order. LNet may report the delivery of the put late.
 */
static int call_bulk_put(struct lst_call *call)
{
	int rc = transfer(call, call->bulk, call->bulk_len, on_call_sent, call->bulkid, false);

	if (rc)
		return rc;
	spin_lock(&call->st->lock);
	call->st->c[LST_C_bulk_put] += call->bulk_len;
	spin_unlock(&call->st->lock);
	reply(call);
	return 0;
}

static void bulk_run(struct lst_job *job)
{
	struct lst_call *call = container_of(job, struct lst_call, job);
	int rc = 0;

	call->bulk = mem_get(call->st, call->bulk_len);
	if (!call->bulk)
		rc = -ENOMEM;
	else if (call->bulk_prepare)
		rc = call->bulk_prepare(call);
	call->bulk_status = -ECANCELED;		/* status until an event reports the result */
	if (!rc && call->bulk_get)
		rc = transfer(call, call->bulk, call->bulk_len, on_fetched, call->bulkid, true);
	else if (!rc)
		rc = call_bulk_put(call);
	if (rc)
		dropped(call);
	call_put(call);
}

/* ---- dispatch -------------------------------------------------------------------------------- */

static enum lst_verdict (*serve_of(u32 service))(struct lst_call *call)
{
	switch (service) {
	case LST_SERVICE_DEBUG:
	case LST_SERVICE_MAKE_SESSION:
	case LST_SERVICE_REMOVE_SESSION:
		return lst_session_serve_locked;
	case LST_SERVICE_BATCH:
	case LST_SERVICE_TEST:
		return lst_batch_serve_locked;
	case LST_SERVICE_QUERY_STAT:
		return lst_stat_serve_locked;
	case LST_SERVICE_BRW:
		return lst_brw_serve_locked;
	case LST_SERVICE_PING:
		return lst_ping_serve_locked;
	case LST_SERVICE_ADD:
		return lst_add_serve_locked;
	case LST_SERVICE_TALLY:
		return lst_tally_serve_locked;
	case LST_SERVICE_DRILL:
		return lst_drill_serve_locked;
	case LST_SERVICE_START:
		return lst_start_serve_locked;
	case LST_SERVICE_TREE_ASK:
	case LST_SERVICE_TREE_TELL:
		return lst_tree_serve_locked;
	case LST_SERVICE_NETTEST:
		return lst_nettest_serve_locked;
	}
	return NULL;
}

/*
 * Creates a call. NULL: the service stops, there is no memory, or too many calls of the sender are
 * being served.
 */
static struct lst_call *call_new_locked(struct lst *st, const struct lnet_event *ev,
					const struct lst_msg *req, const u8 *raw)
{
	bool known = !lnet_nid_is_any(&ev->initiator.nid);
	struct lst_share *share = share_of_locked(st, known ? &ev->initiator.nid : &ev->source);
	struct lst_call *call;

	if (st->stopping || !may_call(st, share))
		return NULL;
	call = kzalloc(sizeof(*call), GFP_NOWAIT);
	if (!call)
		return NULL;
	call->st = st;
	call->share = share;
	call->nr_open = 1;
	call->len = ev->mlength;
	call->rpy_len = LST_MSG_SIZE;
	call->raw = raw;
	call->req = *req;
	call->self = ev->target.nid;
	call->from = (struct lnet_process){ ev->source, ev->initiator.pid };
	call->primary = ev->initiator.nid;
	call->rpy.version = LST_VERSION;
	call->rpy.type = lst_rpc_kind_of_req(req->type)->rpy;
	call->rpy.feats = st->session ? st->session->feats : LST_FEATS;
	list_add_tail(&call->link, &st->calls);
	share->nr_calls++;
	st->nr_calls++;
	return call;
}

/* Serves a request. @rc: 0, or -EPROTO if the request has another version. */
static void call_locked(struct lst *st, const struct lnet_event *ev, const struct lst_msg *req,
			u8 *raw, int rc)
{
	const struct lst_rpc_kind *kind = lst_rpc_kind_of_req(req->type);
	enum lst_verdict (*serve)(struct lst_call *call) = kind ? serve_of(kind->service) : NULL;
	struct lst_call *call = NULL;
	enum lst_verdict verdict = LST_REPLY;

	if (serve && ev->match_bits == kind->service && ev->portal == kind->portal)
		call = call_new_locked(st, ev, req, raw);
	if (!call) {
		st->c[LST_C_rpcs_dropped]++;
		return;
	}
	st->c[LST_C_rpcs_rcvd]++;
	call->rpy.status = rc ? EPROTO : lst_session_allows_locked(call, kind->service);
	if (!call->rpy.status)
		verdict = serve(call);
	if (verdict == LST_DROP) {
		st->c[LST_C_rpcs_dropped]++;
		call_unlink_locked(call);
		kfree(call);
		return;
	}
	if (verdict == LST_BULK)
		bulk_want_locked(call);
	else if (verdict == LST_REPLY)
		lst_reply_locked(call);
}

/*
 * Decodes a request of a drill. It accepts LST_DRILL_MIN to LST_DRILL_MAX bytes. Missing bytes are
 * zero.
 */
static int drill_decode(struct lst_msg *msg, const u8 *mem, u32 len)
{
	u8 buf[LST_MSG_SIZE] = { 0 };
	int rc;

	if (len < LST_DRILL_MIN || len > LST_DRILL_MAX)
		return -EMSGSIZE;
	memcpy(buf, mem, min(len, LST_MSG_SIZE));
	rc = lst_msg_decode(msg, buf, LST_MSG_SIZE);
	if (!rc && msg->type != LST_DRILL_REQ && msg->type != LST_DRILL_RPY)
		rc = -ENOMSG;
	return rc;
}

/* Decodes a received message. Calls @serve_locked with the message and the result of @decode. */
static void arrived(const struct lnet_event *ev, int (*decode)(struct lst_msg *, const u8 *, u32),
		    void (*serve_locked)(struct lst *, const struct lnet_event *,
					 const struct lst_msg *, u8 *, int))
{
	struct lst_buffer *b = ev->user_ptr;
	u8 *raw = b->mem + ev->offset;
	struct lst *st = b->st;
	struct lst_msg msg;
	int rc = -ENOMSG;

	if (ev->kind == LNET_EVENT_PUT && !ev->status && ev->mlength == ev->rlength)
		rc = decode(&msg, raw, ev->mlength);
	lst_enter(st);
	if (!rc || rc == -EPROTO)
		serve_locked(st, ev, &msg, raw, rc);
	else if (ev->kind == LNET_EVENT_PUT)
		st->c[LST_C_rpcs_dropped]++;
	if (ev->unlinked)
		buffer_gone_locked(b);
	spin_unlock(&st->lock);
	lst_run(st);
}

static void on_service_request(const struct lnet_event *ev)
{
	arrived(ev, lst_msg_decode, call_locked);
}

static void drilled_locked(struct lst *st, const struct lnet_event *ev, const struct lst_msg *msg,
			   u8 *raw, int rc)
{
	if (!rc && msg->type == LST_DRILL_RPY)
		lst_drill_answer_locked(st, ev, msg, raw);
	else
		call_locked(st, ev, msg, raw, rc);
}

static void on_drill(const struct lnet_event *ev)
{
	arrived(ev, drill_decode, drilled_locked);
}

/* ---- the end --------------------------------------------------------------------------------- */

/*
 * Begins to stop: unlinks the buffers for requests. This function does nothing for calls whose
 * reply is being sent, because such calls end when the reply ends.
 */
void lst_serve_stop_locked(struct lst *st)
{
	unsigned int i;

	for (i = 0; i < LST_BUFFERS; i++)
		if (st->buffer[i].posted && list_empty(&st->buffer[i].job.link))
			lst_queue_locked(st, &st->buffer[i].job, buffer_unlink_run);
}

bool lst_serve_stopped_locked(const struct lst *st)
{
	unsigned int i;

	for (i = 0; i < LST_BUFFERS; i++)
		if (st->buffer[i].posted)
			return false;
	return list_empty(&st->calls);
}
