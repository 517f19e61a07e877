/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Converts replies to a document. A reply has key tables, which contain names, and values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"
#include "arena.h"

#define ALIGN4(n) (((n) + 3) & ~(size_t)3)
#define TABLE_DEPTH_MAX 8

struct reply_key {
	const char *name;	/* belongs to the document */
	uint16_t index, type, format;
	struct reply_table *child;
};

struct reply_table {
	struct reply_key *keys;
	size_t nr;
};

/* ---- attributes ---- */

struct attr {
	uint16_t type;
	const unsigned char *data;
	size_t len;
};

struct walk {
	const unsigned char *at, *end;
};

static bool walk_next(struct walk *w, struct attr *a)
{
	size_t room = (size_t)(w->end - w->at);
	uint16_t len, type;

	if (room < LNET_NL_ATTR_HDR)
		return false;
	memcpy(&len, w->at, sizeof(len));
	memcpy(&type, w->at + 2, sizeof(type));
	if (len < LNET_NL_ATTR_HDR || len > room)
		return false;
	a->type = type & LNET_NL_TYPE_MASK;
	a->data = w->at + LNET_NL_ATTR_HDR;
	a->len = len - LNET_NL_ATTR_HDR;
	w->at += ALIGN4(len) < room ? ALIGN4(len) : room;
	return true;
}

static struct walk walk_in(const struct attr *a)
{
	return (struct walk){ a->data, a->data + a->len };
}

static uint16_t attr_u16(const struct attr *a)
{
	uint16_t val = 0;

	memcpy(&val, a->data, a->len < sizeof(val) ? a->len : sizeof(val));
	return val;
}

/* Returns the length up to the NUL. The NUL may be missing. */
static size_t attr_text_len(const struct attr *a)
{
	return strnlen((const char *)a->data, a->len);
}

/* ---- tables ---- */

static void reply_table_free(struct reply_table *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->nr; i++)
		reply_table_free(t->keys[i].child);
	free(t->keys);
	free(t);
}

static int table_parse(const struct lnetctl_node *doc, struct walk w, int depth,
		       struct reply_table **res);

static int key_parse(const struct lnetctl_node *doc, struct walk w, int depth,
		     struct reply_key *key)
{
	struct attr a;
	int rc = 0;

	while (!rc && walk_next(&w, &a)) {
		switch (a.type) {
		case LNET_NLA_INDEX:
			key->index = attr_u16(&a);
			break;
		case LNET_NLA_TYPE:
			key->type = attr_u16(&a);
			break;
		case LNET_NLA_KEY_FORMAT:
			key->format = attr_u16(&a);
			break;
		case LNET_NLA_VALUE:
			key->name = arena_text(doc->arena, (const char *)a.data,
					      attr_text_len(&a));
			rc = key->name ? 0 : -ENOMEM;
			break;
		case LNET_NLA_LIST:
			reply_table_free(key->child);
			key->child = NULL;
			rc = table_parse(doc, walk_in(&a), depth + 1, &key->child);
			break;
		}
	}
	return rc;
}

static int table_parse(const struct lnetctl_node *doc, struct walk w, int depth,
		       struct reply_table **res)
{
	struct reply_table *t = calloc(1, sizeof(*t));
	struct attr a;
	int rc = t ? 0 : -ENOMEM;

	*res = t;
	if (depth > TABLE_DEPTH_MAX)
		return -EPROTO;
	while (!rc && walk_next(&w, &a)) {
		struct reply_key *keys = realloc(t->keys, (t->nr + 1) * sizeof(*keys));

		if (!keys)
			return -ENOMEM;
		t->keys = keys;
		memset(&keys[t->nr], 0, sizeof(*keys));
		rc = key_parse(doc, walk_in(&a), depth, &keys[t->nr++]);
	}
	return rc;
}

/* ---- values ---- */

static int64_t attr_signed(const struct attr *a)
{
	int64_t s64 = 0;
	int32_t s32 = 0;
	int16_t s16 = 0;

	if (a->len >= sizeof(s64)) {
		memcpy(&s64, a->data, sizeof(s64));
		return s64;
	}
	if (a->len >= sizeof(s32)) {
		memcpy(&s32, a->data, sizeof(s32));
		return s32;
	}
	memcpy(&s16, a->data, a->len < sizeof(s16) ? a->len : sizeof(s16));
	return s16;
}

/* Adds a number without snprintf(), because a large reply has half a million numbers. */
static int add_digits(struct lnetctl_node *map, const char *name, uint64_t val, bool negative)
{
	char buf[24], *end = buf + sizeof(buf), *at = end;

	do
		*--at = (char)('0' + val % 10);
	while (val /= 10);
	if (negative)
		*--at = '-';
	return node_add_text(map, name, LNETCTL_NUM, at, (size_t)(end - at)) ? 0 : -ENOMEM;
}

static int add_signed(struct lnetctl_node *map, const char *name, const struct attr *a)
{
	int64_t val = attr_signed(a);

	return add_digits(map, name, val < 0 ? -(uint64_t)val : (uint64_t)val, val < 0);
}

static int add_unsigned(struct lnetctl_node *map, const char *name, const struct attr *a)
{
	uint64_t val = 0;

	memcpy(&val, a->data, a->len < sizeof(val) ? a->len : sizeof(val));
	return add_digits(map, name, val, false);
}

static int add_string(struct lnetctl_node *map, const char *name, const struct attr *a)
{
	const char *text = (const char *)a->data;
	size_t len = attr_text_len(a);
	bool null = !len || (len == 1 && *text == '\n');

	return node_add_text(map, name, null ? LNETCTL_NULL : LNETCTL_TEXT, null ? NULL : text,
			     len) ? 0 : -ENOMEM;
}

static int add_flag(struct lnetctl_node *map, const char *name, bool there)
{
	return node_add_text(map, name, LNETCTL_BOOL, there ? "true" : "false", there ? 4 : 5) ?
	       0 : -ENOMEM;
}

static int add_elements(const struct reply_key *key, struct lnetctl_node *map, const struct attr *a,
			int depth);

/* Adds a value. Ignores a value without a name, because a mapping needs names. */
static int reply_value_add(const struct reply_key *key, struct lnetctl_node *map,
			   const struct attr *a, int depth)
{
	const char *name = key->name;

	if (key->type == LNET_NLT_NUL_STRING || !name || !*name)
		return 0;
	if (key->type == LNET_NLT_FLAG)
		return add_flag(map, name, a);
	if (!a)
		return 0;
	switch (key->type) {
	case LNET_NLT_NESTED:
		return add_elements(key, map, a, depth);
	case LNET_NLT_STRING:
		return add_string(map, name, a);
	case LNET_NLT_S16:
	case LNET_NLT_S32:
	case LNET_NLT_S64:
		return add_signed(map, name, a);
	default:
		return add_unsigned(map, name, a);
	}
}

static bool value_find(struct walk w, uint16_t index, struct attr *a)
{
	while (walk_next(&w, a))
		if (a->type == index)
			return true;
	return false;
}

/* Does each attribute have a higher number than the attribute before? */
static bool walk_ordered(struct walk w)
{
	struct attr a;
	int last = -1;

	for (; walk_next(&w, &a); last = a.type)
		if (a.type <= last)
			return false;
	return true;
}

/*
 * Finds the value with the number @index in @all. With @ordered, the values in @all have increasing
 * numbers, and the caller searches them in this order. Then only the value at *@next is compared.
 * If *@next has a higher number, the value of @index is missing. Without @ordered, searches @all.
 */
static bool value_take(struct walk all, bool ordered, uint16_t index, struct walk *next,
		       struct attr *a)
{
	struct walk at = *next;
	bool more = walk_next(&at, a);

	if (more && a->type == index) {
		*next = at;
		return true;
	}
	if (ordered && (!more || index < a->type))
		return false;
	return value_find(all, index, a);
}

/* Adds all values of a message or an element, in the order of the key table. */
static int add_values(const struct reply_table *t, struct lnetctl_node *map, struct walk w,
		      int depth)
{
	bool ordered = walk_ordered(w);
	struct walk next = w;
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->nr; i++) {
		struct attr a;
		bool there = value_take(w, ordered, t->keys[i].index, &next, &a);

		rc = reply_value_add(&t->keys[i], map, there ? &a : NULL, depth);
	}
	return rc;
}

/* Adds a nested value. Its elements become the items of a sequence, or one mapping. */
static int add_elements(const struct reply_key *key, struct lnetctl_node *map, const struct attr *a,
			int depth)
{
	bool seq = key->format & LNET_NL_SEQUENCE;
	unsigned char kind = seq ? LNETCTL_SEQ : LNETCTL_MAP;
	struct lnetctl_node *top;
	struct walk w = walk_in(a);
	struct attr elem;
	int rc = 0;

	if (depth > TABLE_DEPTH_MAX || !key->child || !key->name)
		return key->child ? -EPROTO : 0;
	top = lnetctl_find(map, key->name);
	if (top && top->kind != kind)	/* two keys have one name */
		return -EPROTO;
	if (!top)
		top = node_add_text(map, key->name, kind, NULL, 0);
	while (top && !rc && walk_next(&w, &elem)) {
		struct lnetctl_node *item = seq ? lnetctl_add_map(top, NULL) : top;

		rc = item ? add_values(key->child, item, walk_in(&elem), depth + 1) : -ENOMEM;
	}
	return top ? rc : -ENOMEM;
}

/*
 * A message with LNET_NL_F_CONT continues the last item of the reply. Adds the elements in the
 * message to the lists of this item.
 */
static int list_elements_add(const struct reply_table *t, struct lnetctl_node *item, struct walk w)
{
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < t->nr; i++) {
		struct attr a;

		if ((t->keys[i].format & LNET_NL_SEQUENCE) && t->keys[i].type == LNET_NLT_NESTED &&
		    value_find(w, t->keys[i].index, &a))
			rc = add_elements(&t->keys[i], item, &a, 1);
	}
	return rc;
}

int reply_init(struct reply *r)
{
	memset(r, 0, sizeof(*r));
	r->doc = lnetctl_add_map(NULL, NULL);
	return r->doc ? 0 : -ENOMEM;
}

static int feed_table(struct reply *r, struct walk w)
{
	const struct reply_key *head;
	struct attr a;
	int rc = 0;

	reply_table_free(r->table);
	r->table = NULL;
	while (!rc && walk_next(&w, &a))
		if (a.type == LNET_NLA_LIST && !r->table)
			rc = table_parse(r->doc, walk_in(&a), 0, &r->table);
	if (!rc && (!r->table || !r->table->nr))
		rc = -EPROTO;
	if (rc) {
		reply_table_free(r->table);
		r->table = NULL;
		return rc;
	}
	head = &r->table->keys[0];
	if (!head->name || !*head->name)
		return r->top ? 0 : -EPROTO;
	/* feed_top() creates r->top with the first value, so an empty reply prints nothing */
	r->top = NULL;
	return 0;
}

static int feed_top(struct reply *r)
{
	const struct reply_key *head = &r->table->keys[0];
	bool seq = head->format & LNET_NL_SEQUENCE;

	if (r->top)
		return 0;
	if (!head->name || !*head->name)
		return -EPROTO;
	r->top = lnetctl_find(r->doc, head->name);
	if (!r->top)
		r->top = lnetctl_add(r->doc, head->name, seq ? LNETCTL_SEQ : LNETCTL_MAP, NULL);
	return r->top ? 0 : -ENOMEM;
}

/*
 * Is this the key table of a comment? Its first key has the name "#". If the kernel has no result
 * yet, it sends a comment before the result. The library skips comments.
 */
static bool is_comment(const struct reply_table *t)
{
	const char *name = t->keys[0].name;

	return name && !strcmp(name, "#");
}

int reply_feed(struct reply *r, uint16_t flags, const void *attrs, size_t len)
{
	struct walk w = { attrs, (const unsigned char *)attrs + len };
	struct lnetctl_node *item;
	int rc;

	if (flags & LNET_NL_F_CREATE)
		return feed_table(r, w);
	if (!r->table)
		return -EPROTO;
	if (is_comment(r->table))
		return 0;
	rc = feed_top(r);
	if (rc)
		return rc;
	if (r->top->kind == LNETCTL_MAP)
		return add_values(r->table, r->top, w, 0);
	if ((flags & LNET_NL_F_CONT) && r->top->last)
		return list_elements_add(r->table, r->top->last, w);
	item = lnetctl_add_map(r->top, NULL);
	return item ? add_values(r->table, item, w, 0) : -ENOMEM;
}

struct lnetctl_node *reply_finish(struct reply *r)
{
	reply_table_free(r->table);
	r->table = NULL;
	return r->doc;
}
