/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Documents as trees: creation, look-up, release. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"
#include "arena.h"

/* Allocates a node in the arena of @parent. The first node of a document creates the arena. */
static struct lnetctl_node *node_new(struct lnetctl_node *parent, size_t extra)
{
	struct lnetctl_arena *arena = parent ? parent->arena : arena_new();
	struct lnetctl_node *n = arena ? arena_get(arena, sizeof(*n) + extra) : NULL;

	if (!n) {
		if (parent)
			parent->incomplete = true;
		else
			arena_drop(arena);
		return NULL;
	}
	*n = (struct lnetctl_node){ .arena = arena };
	if (parent) {
		arena_use(arena);
		lnetctl_adopt(parent, n);
	}
	return n;
}

struct lnetctl_node *node_add_text(struct lnetctl_node *parent, const char *key,
				   enum lnetctl_kind kind, const char *text, size_t len)
{
	struct lnetctl_node *n = node_new(parent, text ? len + 1 : 0);

	if (!n)
		return NULL;
	n->key = (char *)key;
	n->kind = kind;
	if (text) {
		n->text = (char *)(n + 1);
		memcpy(n->text, text, len);
		n->text[len] = 0;
	}
	return n;
}

struct lnetctl_node *lnetctl_add(struct lnetctl_node *parent, const char *key,
				 enum lnetctl_kind kind, const char *text)
{
	size_t text_size = text ? strlen(text) + 1 : 0, key_size = key ? strlen(key) + 1 : 0;
	struct lnetctl_node *n = node_new(parent, text_size + key_size);
	char *words;

	if (!n)
		return NULL;
	words = (char *)(n + 1);
	n->kind = kind;
	if (text)
		n->text = memcpy(words, text, text_size);
	if (key)
		n->key = memcpy(words + text_size, key, key_size);
	return n;
}

struct lnetctl_node *lnetctl_add_text(struct lnetctl_node *parent, const char *key,
				      const char *text)
{
	return lnetctl_add(parent, key, LNETCTL_TEXT, text);
}

struct lnetctl_node *lnetctl_add_num(struct lnetctl_node *parent, const char *key, int64_t num)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "%" PRId64, num);
	return lnetctl_add(parent, key, LNETCTL_NUM, buf);
}

struct lnetctl_node *lnetctl_add_map(struct lnetctl_node *parent, const char *key)
{
	return lnetctl_add(parent, key, LNETCTL_MAP, NULL);
}

struct lnetctl_node *lnetctl_add_seq(struct lnetctl_node *parent, const char *key)
{
	return lnetctl_add(parent, key, LNETCTL_SEQ, NULL);
}

void lnetctl_adopt(struct lnetctl_node *parent, struct lnetctl_node *child)
{
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
}

void lnetctl_take(struct lnetctl_node *parent, struct lnetctl_node *child)
{
	struct lnetctl_node **at = &parent->first, *before = NULL;

	while (*at != child) {
		before = *at;
		at = &before->next;
	}
	*at = child->next;
	if (parent->last == child)
		parent->last = before;
	child->next = NULL;
}

/*
 * Frees a document. Its nodes may belong to different arenas, because a document may contain parts
 * of other documents.
 */
void lnetctl_doc_free(struct lnetctl_node *doc)
{
	struct lnetctl_node *child, *next;

	if (!doc)
		return;
	for (child = doc->first; child; child = next) {
		next = child->next;
		lnetctl_doc_free(child);
	}
	arena_drop(doc->arena);
}

static int word_set(struct lnetctl_node *n, char **word, const char *text)
{
	char *copy = arena_text(n->arena, text, strlen(text));

	if (!copy)
		return -ENOMEM;
	*word = copy;
	return 0;
}

int lnetctl_set_text(struct lnetctl_node *n, const char *text)
{
	return word_set(n, &n->text, text);
}

int lnetctl_set_key(struct lnetctl_node *n, const char *key)
{
	return word_set(n, &n->key, key);
}

struct lnetctl_node *lnetctl_find(const struct lnetctl_node *map, const char *key)
{
	struct lnetctl_node *n;

	if (!map || map->kind != LNETCTL_MAP)
		return NULL;
	for (n = map->first; n; n = n->next)
		if (n->key && *n->key == *key && !strcmp(n->key, key))
			return n;
	return NULL;
}

const char *lnetctl_text(const struct lnetctl_node *map, const char *key)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);

	return n ? n->text : NULL;
}

int lnetctl_num(const struct lnetctl_node *n, int64_t *num)
{
	char *end;
	long long val;

	if (!n || !n->text || !*n->text)
		return -EINVAL;
	errno = 0;
	val = strtoll(n->text, &end, 0);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*num = val;
	return 0;
}
