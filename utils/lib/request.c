/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Encodes the body of a document as the attributes that stock's tools send. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "client.h"

#define ALIGN4(n) (((n) + 3) & ~(size_t)3)

static unsigned char *request_reserve(struct request *r, size_t len)
{
	size_t need = r->len + ALIGN4(len);
	unsigned char *at;

	if (need > r->size) {
		size_t size = need * 2 + 256;
		unsigned char *buf = realloc(r->buf, size);

		if (!buf) {
			r->err = -ENOMEM;
			return NULL;
		}
		r->buf = buf;
		r->size = size;
	}
	at = r->buf + r->len;
	memset(at, 0, ALIGN4(len));
	r->len = need;
	return at;
}

static void put_attr(struct request *r, uint16_t type, const void *data, size_t len)
{
	uint16_t total = (uint16_t)(len + LNET_NL_ATTR_HDR);
	unsigned char *at;

	if (!r->err && len + LNET_NL_ATTR_HDR > UINT16_MAX)
		r->err = -E2BIG;
	if (r->err)
		return;
	at = request_reserve(r, total);
	if (!at)
		return;
	memcpy(at, &total, sizeof(total));
	memcpy(at + 2, &type, sizeof(type));
	if (len)
		memcpy(at + LNET_NL_ATTR_HDR, data, len);
}

static void text_attr_put(struct request *r, const char *text)
{
	put_attr(r, LNET_NLA_VALUE, text, strlen(text) + 1);
}

static void put_int(struct request *r, int64_t num)
{
	put_attr(r, LNET_NLA_INT_VALUE, &num, sizeof(num));
}

static bool is_true(const char *word)
{
	return !strcasecmp(word, "yes") || !strcasecmp(word, "true") || !strcasecmp(word, "on") ||
	       !strcasecmp(word, "y");
}

static bool text_is_integer(const char *text)
{
	text += *text == '-';
	if (!*text)
		return false;
	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			return false;
	return true;
}

static void put_key(struct request *r, const char *key)
{
	if (text_is_integer(key))
		put_int(r, strtoll(key, NULL, 10));
	else
		text_attr_put(r, key);
}

static void put_list(struct request *r, const struct lnetctl_node *n);

static void put_value(struct request *r, const struct lnetctl_node *n)
{
	int64_t num;

	switch (n->kind) {
	case LNETCTL_MAP:
	case LNETCTL_SEQ:
		put_list(r, n);
		break;
	case LNETCTL_NUM:
		if (lnetctl_num(n, &num))
			text_attr_put(r, n->text);
		else
			put_int(r, num);
		break;
	case LNETCTL_BOOL:
		put_int(r, is_true(n->text));
		break;
	default:
		text_attr_put(r, n->text ? n->text : "");
	}
}

static void put_children(struct request *r, const struct lnetctl_node *n)
{
	const struct lnetctl_node *child;

	/*
	 * If memory was missing for a part of @n, rejects the request, because without this part it
	 * could have another meaning.
	 */
	if (n->incomplete)
		r->err = -ENOMEM;
	for (child = n->first; child && !r->err; child = child->next) {
		if (n->kind == LNETCTL_MAP)
			put_key(r, child->key);
		put_value(r, child);
	}
}

static void put_list(struct request *r, const struct lnetctl_node *n)
{
	size_t at = r->len, len;
	uint16_t len16;

	put_attr(r, LNET_NLA_LIST | LNET_NL_NESTED, NULL, 0);
	put_children(r, n);
	len = r->len - at;
	if (!r->err && len > UINT16_MAX)
		r->err = -E2BIG;
	if (r->err)
		return;
	len16 = (uint16_t)len;
	memcpy(r->buf + at, &len16, sizeof(len16));
}

int request_encode(struct request *r, const struct lnetctl_node *body)
{
	memset(r, 0, sizeof(*r));
	if (!body)
		return 0;
	if (body->kind == LNETCTL_SEQ)
		put_list(r, body);
	else
		put_children(r, body);
	return r->err;
}

void request_free(struct request *r)
{
	free(r->buf);
}
