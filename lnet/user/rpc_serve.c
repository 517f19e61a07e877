/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Remote calls, server: buffers for requests, handlers, replies. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include "rpc.h"

static void rpc_on_request(const struct lnet_event *ev);

/* ---- replies --------------------------------------------------------------------------------- */

struct rpc_reply {
	struct lnet_rpc *rpc;
	uint32_t len; /* bytes after the head */
	struct rpc_reply_head head;
	uint8_t data[];
};

static void reply_free(struct rpc_reply *reply)
{
	atomic_fetch_sub(&reply->rpc->nr_replies, 1);
	free(reply);
}

/*
 * Without an ACK, the descriptor of the reply stays linked and references the reply. So this
 * function unlinks it.
 */
static void on_reply_sent(const struct lnet_event *ev)
{
	struct rpc_reply *reply = ev->user_ptr;

	if (ev->unlinked)
		reply_free(reply);
	else if (ev->final)
		lnet_md_unlink(reply->rpc->ln, ev->md);
}

static struct rpc_reply *reply_alloc(struct lnet_rpc *rpc)
{
	struct rpc_reply *reply;

	if (atomic_fetch_add(&rpc->nr_replies, 1) < RPC_REPLIES_MAX) {
		reply = malloc(sizeof(*reply) + rpc->len_max);
		if (reply) {
			reply->rpc = rpc;
			return reply;
		}
	}
	atomic_fetch_sub(&rpc->nr_replies, 1);
	return NULL;
}

/*
 * Sends @reply to the caller of @ev. The last event of the reply frees @reply. If there is no
 * event, this function frees it.
 */
static void reply_send(struct rpc_reply *reply, const struct lnet_event *ev)
{
	struct lnet_md_cfg md = { .start = &reply->head,
				  .threshold = 2,
				  .cpt = -1,
				  .length = (uint32_t)sizeof(reply->head) + reply->len,
				  .user_ptr = reply,
				  .handler = on_reply_sent };
	struct lnet_rpc *rpc = reply->rpc;
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.target = ev->initiator;
	x.portal = RPC_PORTAL_REPLY;
	x.match_bits = ev->hdr_data;
	x.flags = LNET_ACK | LNET_NO_SEND;
	if (lnet_md_bind(rpc->ln, &md, LNET_UNLINK, &x.md))
		reply_free(reply);
	else if (lnet_put(rpc->ln, &x))
		lnet_md_unlink(rpc->ln, x.md);
}

/* ---- requests -------------------------------------------------------------------------------- */

static const struct rpc_service *rpc_service_find(struct lnet_rpc *rpc, uint64_t number)
{
	unsigned int i, nr = atomic_load(&rpc->nr_services);

	for (i = 0; i < nr; i++)
		if (rpc->services[i].number == number)
			return &rpc->services[i];
	return NULL;
}

static void request_serve(struct rpc_buffer *buffer, const struct lnet_event *ev)
{
	const struct rpc_service *service = rpc_service_find(buffer->rpc, ev->match_bits);
	struct lnet_rpc_request request = { .service = ev->match_bits,
					    .from = ev->initiator.nid,
					    .data = buffer->memory + ev->offset,
					    .len = ev->mlength };
	struct rpc_reply *reply = reply_alloc(buffer->rpc);
	int rc = -ENOSYS;

	if (!reply)
		return;
	if (service)
		rc = service->handler(service->arg, &request, reply->data, buffer->rpc->len_max);
	if (rc > 0 && (uint32_t)rc > buffer->rpc->len_max)
		rc = -EMSGSIZE;
	reply->len = rc > 0 ? (uint32_t)rc : 0;
	reply->head.status = htole32(rc < 0 ? (uint32_t)rc : 0);
	reply->head.executed = htole32(service != NULL);
	reply_send(reply, ev);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* A buffer has space for at least 16 requests of the maximum length. */
static uint32_t buffer_len(const struct lnet_rpc *rpc)
{
	return 16 * rpc->len_max;
}

static int rpc_buffer_post(struct rpc_buffer *buffer)
{
	struct lnet_rpc *rpc = buffer->rpc;
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg md = { .start = buffer->memory,
				  .length = buffer_len(rpc),
				  .threshold = LNET_THRESHOLD_INF,
				  .cpt = -1,
				  .max_size = rpc->len_max,
				  .user_ptr = buffer,
				  .options = LNET_MD_OP_PUT | LNET_MD_MAX_SIZE,
				  .handler = rpc_on_request };
	lnet_me_t me;
	lnet_md_t handle;
	int rc = lnet_me_attach(rpc->ln, RPC_PORTAL_REQUEST, &anybody, 0, UINT64_MAX, LNET_UNLINK,
				LNET_INS_AFTER, &me);

	return rc ? rc : lnet_md_attach(rpc->ln, me, &md, LNET_UNLINK, &handle);
}

/* Posts each buffer that is not posted, for example after a lack of memory. */
static int buffers_post(struct lnet_rpc *rpc)
{
	unsigned int i;
	int rc = 0;

	pthread_mutex_lock(&rpc->lock);
	for (i = 0; i < RPC_BUFFERS && !rc; i++) {
		struct rpc_buffer *buffer = &rpc->buffers[i];

		buffer->rpc = rpc;
		if (!buffer->memory)
			buffer->memory = malloc(buffer_len(rpc));
		if (buffer->posted)
			continue;
		rc = buffer->memory ? rpc_buffer_post(buffer) : -ENOMEM;
		buffer->posted = !rc;
	}
	pthread_mutex_unlock(&rpc->lock);
	return rc;
}

static void rpc_on_request(const struct lnet_event *ev)
{
	struct rpc_buffer *buffer = ev->user_ptr;
	struct lnet_rpc *rpc = buffer->rpc;

	if (ev->kind == LNET_EVENT_PUT && !ev->status)
		request_serve(buffer, ev);
	if (!ev->unlinked)
		return;
	pthread_mutex_lock(&rpc->lock);
	buffer->posted = false;
	pthread_mutex_unlock(&rpc->lock);
	buffers_post(rpc);
}

int lnet_rpc_serve(struct lnet_rpc *rpc, uint64_t service, lnet_rpc_handler_t handler, void *arg)
{
	unsigned int nr;
	int rc = 0;

	pthread_mutex_lock(&rpc->lock);
	nr = atomic_load(&rpc->nr_services);
	if (rpc_service_find(rpc, service))
		rc = -EEXIST;
	else if (nr == LNET_RPC_SERVICES)
		rc = -ENOSPC;
	if (!rc) {
		rpc->services[nr] = (struct rpc_service){ service, handler, arg };
		atomic_store(&rpc->nr_services, nr + 1);
	}
	pthread_mutex_unlock(&rpc->lock);
	return rc ? rc : buffers_post(rpc);
}
