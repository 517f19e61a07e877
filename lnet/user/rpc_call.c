/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Remote calls, caller: sends a request, receives its reply, and reports whether the handler ran.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "rpc.h"

#define RPC_TIMEOUT_NS 5000000000ULL

/*
 * One call. The caller and both memory descriptors hold a reference, because a late reply may be
 * received after the caller has returned. lnet_rpc.lock protects all fields.
 */
struct rpc_state {
	struct lnet_rpc *rpc;
	struct rpc_state *next, **link;
	unsigned int refs;
	bool replied, failed, unknown;
	int status;	    /* errno of the request, if it failed */
	/* lengths of the reply with its head: @len as received, @rlen as sent */
	uint32_t len, rlen;
	uint64_t id;
	uint8_t *request, *reply; /* memory after this struct */
};

static struct rpc_state *state_alloc(struct lnet_rpc *rpc, const struct lnet_rpc_call *call)
{
	size_t reply_size = sizeof(struct rpc_reply_head) + call->max;
	struct rpc_state *s = malloc(sizeof(*s) + reply_size + call->len);

	if (!s)
		return NULL;
	*s = (struct rpc_state){ .rpc = rpc, .refs = 1, .reply = (uint8_t *)(s + 1) };
	s->request = s->reply + reply_size;
	if (call->len)
		memcpy(s->request, call->data, call->len);
	if (getrandom(&s->id, sizeof(s->id), 0) != sizeof(s->id)) {
		free(s);
		return NULL;
	}
	pthread_mutex_lock(&rpc->lock);
	s->next = rpc->calls;
	s->link = &rpc->calls;
	if (s->next)
		s->next->link = &s->next;
	rpc->calls = s;
	pthread_mutex_unlock(&rpc->lock);
	return s;
}

/* Drops a reference. The lock is held. */
static void state_drop(struct rpc_state *s)
{
	if (--s->refs)
		return;
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	free(s);
}

void rpc_calls_free(struct lnet_rpc *rpc)
{
	struct rpc_state *s;

	while ((s = rpc->calls)) {
		rpc->calls = s->next;
		free(s);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

static void on_reply(const struct lnet_event *ev)
{
	struct rpc_state *s = ev->user_ptr;
	struct lnet_rpc *rpc = s->rpc;

	pthread_mutex_lock(&rpc->lock);
	if (ev->kind == LNET_EVENT_PUT && !ev->status) {
		s->replied = true;
		s->len = ev->mlength;
		s->rlen = ev->rlength;
	}
	if (ev->unlinked)
		state_drop(s);
	pthread_mutex_unlock(&rpc->lock);
}

static void on_request_end(const struct lnet_event *ev)
{
	struct rpc_state *s = ev->user_ptr;
	struct lnet_rpc *rpc = s->rpc;
	bool unlink = ev->final && !ev->unlinked;

	pthread_mutex_lock(&rpc->lock);
	if (ev->final && ev->status) {
		s->failed = true;
		s->status = ev->status;
		s->unknown = ev->delivery_unknown;
	}
	if (ev->unlinked)
		state_drop(s);
	pthread_mutex_unlock(&rpc->lock);
	if (unlink)
		lnet_md_unlink(rpc->ln, ev->md);
}

static bool call_has_ended(void *arg)
{
	struct rpc_state *s = arg;
	bool ended;

	pthread_mutex_lock(&s->rpc->lock);
	ended = s->replied || s->failed;
	pthread_mutex_unlock(&s->rpc->lock);
	return ended;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void state_hold(struct rpc_state *s)
{
	pthread_mutex_lock(&s->rpc->lock);
	s->refs++;
	pthread_mutex_unlock(&s->rpc->lock);
}

static void state_put(struct rpc_state *s)
{
	struct lnet_rpc *rpc = s->rpc;

	pthread_mutex_lock(&rpc->lock);
	state_drop(s);
	pthread_mutex_unlock(&rpc->lock);
}

/*
 * Posts the buffer for the reply. Call this before the request is sent, because the reply may be
 * received at once.
 */
static int reply_post(struct rpc_state *s, uint32_t max, lnet_md_t *md)
{
	struct lnet_process anybody = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet_md_cfg cfg = { .start = s->reply,
				   .threshold = 1,
				   .cpt = -1,
				   .user_ptr = s,
				   .length = (uint32_t)sizeof(struct rpc_reply_head) + max,
				   .options = LNET_MD_OP_PUT | LNET_MD_TRUNCATE |
					      LNET_MD_MANAGE_REMOTE,
				   .handler = on_reply };
	lnet_me_t me;
	int rc = lnet_me_attach(s->rpc->ln, RPC_PORTAL_REPLY, &anybody, s->id, 0, LNET_UNLINK,
				LNET_INS_AFTER, &me);

	state_hold(s);
	if (!rc)
		rc = lnet_md_attach(s->rpc->ln, me, &cfg, LNET_UNLINK, md);
	if (rc)
		state_put(s);
	return rc;
}

static int request_send(struct rpc_state *s, const struct lnet_rpc_call *call,
			const struct lnet_nid *to)
{
	struct lnet_md_cfg cfg = { .start = s->request,
				   .length = call->len,
				   .threshold = 2,
				   .cpt = -1,
				   .user_ptr = s,
				   .handler = on_request_end };
	struct lnet_xfer x;
	int rc;

	lnet_xfer_init(&x);
	x.target.nid = *to;
	x.portal = RPC_PORTAL_REQUEST;
	x.match_bits = call->service;
	x.hdr_data = s->id;
	x.flags = LNET_ACK | LNET_NO_SEND;
	x.timeout_ns = call->timeout_ns ? call->timeout_ns : RPC_TIMEOUT_NS;
	state_hold(s);
	rc = lnet_md_bind(s->rpc->ln, &cfg, LNET_UNLINK, &x.md);
	if (rc) {
		state_put(s);
		return rc;
	}
	rc = lnet_put(s->rpc->ln, &x);
	if (rc)
		lnet_md_unlink(s->rpc->ln, x.md);
	return rc;
}

/* Reads the reply. Returns the length of its data, or -errno. */
static int reply_read(const struct rpc_state *s, const struct lnet_rpc_call *call,
		      enum lnet_rpc_executed *executed)
{
	struct rpc_reply_head head;
	uint32_t len = s->rlen - (uint32_t)sizeof(head);
	int status;

	if (s->len < sizeof(head))
		return -EPROTO;
	memcpy(&head, s->reply, sizeof(head));
	status = (int)le32toh(head.status);
	if (status > 0 || status < -4095 || le32toh(head.executed) > 1)
		return -EPROTO;
	*executed = head.executed ? LNET_RPC_EXECUTED : LNET_RPC_NOT_EXECUTED;
	if (status)
		return status;
	if (len > call->max)
		return -EMSGSIZE;
	if (len)
		memcpy(call->reply, s->reply + sizeof(head), len);
	return (int)len;
}

/*
 * Returns the result of a call. @waited: return value of the wait, used if neither request nor
 * reply has ended.
 */
static int call_result(struct rpc_state *s, const struct lnet_rpc_call *call, int waited,
		       enum lnet_rpc_executed *executed)
{
	int rc = waited;

	pthread_mutex_lock(&s->rpc->lock);
	*executed = LNET_RPC_UNKNOWN;
	if (s->replied) {
		rc = reply_read(s, call, executed);
	} else if (s->failed) {
		rc = s->status;
		if (!s->unknown)
			*executed = LNET_RPC_NOT_EXECUTED;
	}
	pthread_mutex_unlock(&s->rpc->lock);
	return rc;
}

static int call_run(struct rpc_state *s, const struct lnet_rpc_call *call,
		    const struct lnet_nid *to, enum lnet_rpc_executed *executed)
{
	uint64_t timeout = call->timeout_ns ? call->timeout_ns : RPC_TIMEOUT_NS;
	lnet_md_t reply_md;
	int rc = reply_post(s, call->max, &reply_md);

	if (rc)
		return rc;
	rc = request_send(s, call, to);
	if (!rc) {
		rc = lnet_progress_until(s->rpc->ln, call_has_ended, s, (int64_t)timeout);
		rc = call_result(s, call, rc, executed);
	}
	/* -ENOENT if a reply was received, because its event has unlinked the descriptor */
	lnet_md_unlink(s->rpc->ln, reply_md);
	return rc;
}

int lnet_rpc_call(struct lnet_rpc *rpc, const struct lnet_rpc_call *call,
		  enum lnet_rpc_executed *executed)
{
	enum lnet_rpc_executed unread;
	struct rpc_state *s;
	struct lnet_nid to;
	int rc = call->to ? lnet_nid_parse(&to, call->to) : -EINVAL;

	executed = executed ? executed : &unread;
	*executed = LNET_RPC_NOT_EXECUTED;
	if (rc || call->len > rpc->len_max || call->max > rpc->len_max ||
	    call->timeout_ns > LNET_TIMEOUT_MAX_NS)
		return -EINVAL;
	s = state_alloc(rpc, call);
	if (!s)
		return -ENOMEM;
	rc = call_run(s, call, &to, executed);
	state_put(s);
	return rc;
}
