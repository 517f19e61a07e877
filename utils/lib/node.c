/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Documents as trees: building, looking up, freeing. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <lnet/lnetctl.h>

static struct lnetctl_node *node_new(const char *key, enum lnetctl_kind kind, const char *text)
{
	struct lnetctl_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->kind = kind;
	n->key = key ? strdup(key) : NULL;
	n->text = text ? strdup(text) : NULL;
	if ((!key || n->key) && (!text || n->text))
		return n;
	lnetctl_doc_free(n);
	return NULL;
}

struct lnetctl_node *lnetctl_add(struct lnetctl_node *parent, const char *key,
				 enum lnetctl_kind kind, const char *text)
{
	struct lnetctl_node *n = node_new(key, kind, text);

	if (parent && n)
		lnetctl_adopt(parent, n);
	else if (parent)
		parent->incomplete = true;
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

void lnetctl_doc_free(struct lnetctl_node *doc)
{
	if (!doc)
		return;
	while (doc->first) {
		struct lnetctl_node *child = doc->first;

		doc->first = child->next;
		lnetctl_doc_free(child);
	}
	free(doc->key);
	free(doc->text);
	free(doc);
}

struct lnetctl_node *lnetctl_find(const struct lnetctl_node *map, const char *key)
{
	struct lnetctl_node *n;

	if (!map || map->kind != LNETCTL_MAP)
		return NULL;
	for (n = map->first; n; n = n->next)
		if (n->key && !strcmp(n->key, key))
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
