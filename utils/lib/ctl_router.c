/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands about routing: on and off, router buffers and their use. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static const char *const sizes[] = { "tiny", "small", "large" };

int lnetctl_routing_set(struct lnetctl *c, bool on)
{
	const struct ctl_op op = { LNET_NL_ROUTING, LNET_NL_VERSION, LNET_NL_F_CREATE, 0, "add",
				   "routing" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	if (!body || !lnetctl_add_num(body, "enable", on)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "add", "routing", NULL);
	}
	return ctl_do(c, &op, body);
}

int lnetctl_buffers_set(struct lnetctl *c, int64_t tiny, int64_t small, int64_t large)
{
	const struct ctl_op op = { LNET_NL_BUFFERS, LNET_NL_VERSION, LNET_NL_F_CREATE, 0, "add",
				   "buffers" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);
	const int64_t nr[] = { tiny, small, large };
	unsigned int i;

	for (i = 0; i < 3 && body; i++)
		lnetctl_add_num(body, sizes[i], nr[i]);
	if (!body || body->incomplete) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "add", "buffers", NULL);
	}
	return ctl_do(c, &op, body);
}

/*
 * Moves the pools "tiny", "small" and "large" of one CPT into a mapping that has stock's name for
 * it.
 */
static void cpt_add(struct lnetctl_node *seq, struct lnetctl_node *shown, int64_t total[3])
{
	struct lnetctl_node *item = lnetctl_add_map(seq, NULL), *cpt, *pool;
	const char *nr = lnetctl_text(shown, "cpt");
	unsigned int i;
	char name[32];
	int64_t num;

	snprintf(name, sizeof(name), "cpt[%s]", nr ? nr : "");
	cpt = item ? lnetctl_add_map(item, name) : NULL;
	for (i = 0; i < 3 && cpt; i++) {
		pool = lnetctl_find(shown, sizes[i]);
		if (!pool)
			continue;
		if (!lnetctl_num(lnetctl_find(pool, "nbuffers"), &num))
			total[i] += num;
		lnetctl_take(shown, pool);
		lnetctl_adopt(cpt, pool);
	}
}

static int routing_shape(struct lnetctl_node *from, struct lnetctl_node *doc)
{
	struct lnetctl_node *list = lnetctl_find(from, "routing"), *seq, *item, *map;
	const char *enable = NULL;
	int64_t total[3] = { 0 };
	unsigned int i;

	if (!list || !list->first)
		return 0;
	seq = lnetctl_add_seq(doc, "routing");
	for (item = list->first; seq && item; item = item->next) {
		enable = lnetctl_text(item, "enable");
		cpt_add(seq, item, total);
	}
	item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	if (item)
		lnetctl_add(item, "enable", LNETCTL_NUM, enable ? enable : "0");
	map = lnetctl_add_map(doc, "buffers");
	for (i = 0; i < 3 && map; i++)
		lnetctl_add_num(map, sizes[i], total[i]);
	return map && !doc->incomplete ? 0 : -ENOMEM;
}

int lnetctl_routing_show(struct lnetctl *c, struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_ROUTING, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show",
				   "routing" };
	struct lnetctl_node *shown;
	int rc = ctl_dump(c, &op, NULL, &shown);

	*doc = NULL;
	if (rc)
		return rc;
	*doc = lnetctl_add_map(NULL, NULL);
	rc = *doc ? routing_shape(shown, *doc) : -ENOMEM;
	lnetctl_doc_free(shown);
	if (!rc)
		return 0;
	lnetctl_doc_free(*doc);
	*doc = NULL;
	return ctl_fail(c, rc, "show", "routing", NULL);
}
