/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The handle of the library: it sends one request at a time, and stores the error of the last
 * request.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static struct lnetctl *handle_new(int *err)
{
	struct lnetctl *c = calloc(1, sizeof(*c));

	*err = c ? 0 : -ENOMEM;
	return c;
}

struct lnetctl *lnetctl_open(const char *node, int *err, char *why, size_t why_size)
{
	struct lnetctl *c = handle_new(err);

	snprintf(why, why_size, "out of memory");
	if (!c)
		return NULL;
	*err = link_open(&c->link, node, why, why_size);
	if (!*err && link_is_kernel(c->link))
		c->stock = &stock_kernel;
	if (!*err)
		return c;
	free(c);
	return NULL;
}

void lnetctl_wait_set(struct lnetctl *c, unsigned int wait_ms, lnetctl_unresponsive_fn unresponsive,
		      void *arg)
{
	link_wait_set(c->link, wait_ms, unresponsive, arg);
}

struct lnetctl *lnetctl_open_local(lnetctl_serve_fn serve, void *arg)
{
	int err;
	struct lnetctl *c = handle_new(&err);

	if (c && !link_open_local(&c->link, serve, arg))
		return c;
	free(c);
	return NULL;
}

void lnetctl_close(struct lnetctl *c)
{
	if (!c)
		return;
	link_close(c->link);
	free(c);
}

int ctl_fail(struct lnetctl *c, int err, const char *verb, const char *object, const char *fmt, ...)
{
	va_list args;

	snprintf(c->object, sizeof(c->object), "%s", object);
	c->error = (struct lnetctl_error){
		.err = err, .verb = verb, .object = c->object, .text = c->text
	};
	va_start(args, fmt);
	if (fmt)
		vsnprintf(c->text, sizeof(c->text), fmt, args);
	else
		snprintf(c->text, sizeof(c->text), "%s", strerror(-err));
	va_end(args);
	return err;
}

const struct lnetctl_error *lnetctl_error(const struct lnetctl *c)
{
	return &c->error;
}

void lnetctl_error_print(const struct lnetctl *c, FILE *out)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL);
	struct lnetctl_node *seq = doc ? lnetctl_add_seq(doc, c->error.verb) : NULL;
	struct lnetctl_node *item = seq ? lnetctl_add_map(seq, NULL) : NULL, *descr;

	if (item) {
		lnetctl_add(item, c->error.object, LNETCTL_NULL, NULL);
		lnetctl_add_num(item, "errno", c->error.err);
		descr = lnetctl_add_text(item, "descr", c->error.text);
		if (descr)
			descr->quote = LNETCTL_TAG_DOUBLE;
		fputs("---\n", out);
		lnetctl_print(doc, LNETCTL_WIDE, out);
		fputs("...\n", out);
	}
	lnetctl_doc_free(doc);
}

/*
 * If a node is not configured, it rejects requests with the text STACK_DOWN, as a stock node does.
 * The library appends REMEDY to this text.
 */
#define STACK_DOWN "LNet stack down"
#define REMEDY "this node is not configured: run 'lnetctl lnet configure' first"

bool lnetctl_unconfigured(const struct lnetctl *c)
{
	return c->error.err && strstr(c->text, REMEDY);
}

bool ctl_is_stock(struct lnetctl *c)
{
	struct lnetctl_node *doc = NULL;
	int rc = c->stock ? lnetctl_node_show(c, &doc) : 0;

	lnetctl_doc_free(doc);
	c->error.err = 0;
	return rc == -EOPNOTSUPP;
}

/* Stores the error of a node. @text may be empty. Returns @rc. */
static int node_refuses(struct lnetctl *c, const struct ctl_op *op, int rc, const char *text)
{
	if (!strcmp(text, STACK_DOWN))
		return ctl_fail(c, rc, op->verb, op->object, "%s (%s)", text, REMEDY);
	if (!text[0] || !strcmp(text, "Unspecific failure"))
		return ctl_fail(c, rc, op->verb, op->object, NULL);
	return ctl_fail(c, rc, op->verb, op->object, "%s", text);
}

static int op_talk(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
		   struct reply *reply)
{
	struct link_call call = { .cmd = op->cmd,
				  .version = op->version,
				  .flags = op->flags,
				  .timeout_ms = op->timeout_ms,
				  .reply = reply };
	struct request req;
	int rc = request_encode(&req, body);

	if (rc == -E2BIG)
		snprintf(call.text, sizeof(call.text), "the request is longer than 64 KiB");
	call.attrs = req.buf;
	call.len = req.len;
	if (!rc && c->trans && !reply)
		rc = ctl_trans_stage(c, op, &call.flags);
	if (!rc)
		rc = link_talk(c->link, &call);
	if (rc == -EOPNOTSUPP && c->stock)
		rc = stock_talk(c->stock, op, body, reply, call.text, sizeof(call.text));
	request_free(&req);
	lnetctl_doc_free(body);
	return rc ? node_refuses(c, op, rc, call.text) : 0;
}

int ctl_do(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body)
{
	return op_talk(c, op, body, NULL);
}

int ctl_dump(struct lnetctl *c, const struct ctl_op *op, struct lnetctl_node *body,
	     struct lnetctl_node **doc)
{
	struct reply reply;
	int rc = reply_init(&reply);

	*doc = NULL;
	if (rc) {
		lnetctl_doc_free(body);
		return ctl_fail(c, rc, op->verb, op->object, NULL);
	}
	rc = op_talk(c, op, body, &reply);
	*doc = reply_finish(&reply);
	if (!rc)
		return 0;
	lnetctl_doc_free(*doc);
	*doc = NULL;
	return rc;
}

struct lnetctl_node *ctl_body(struct lnetctl_node **item)
{
	struct lnetctl_node *seq = lnetctl_add_seq(NULL, NULL);

	*item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	if (*item)
		return seq;
	lnetctl_doc_free(seq);
	return NULL;
}
