/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Batches of stock's self-test and their tests. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "stock.h"

#define BATCHES_MAX	65536	/* bound, in case the list of a module has no end */

/* ---- lists ----------------------------------------------------------------------------------- */

/* Reads the name of batch number @index. -ENOENT: there is no such batch. */
static int batch_name_at(struct stock_call *c, int index, char name[LNET_LST_NAME + 1])
{
	struct lnet_lst_list a = { c->key, index, LNET_LST_NAME, 0, STOCK_AT(name) };

	memset(name, 0, LNET_LST_NAME + 1);
	return index < BATCHES_MAX ? stock_ask(c, LNET_LST_BATCH_LIST, &a, sizeof(a)) : -ENOENT;
}

static int batch_nodes_show(struct lnetctl_node *seq, const struct lnet_lst_node *node, int nr)
{
	char text[LNET_IDSTR_SIZE];
	struct lnetctl_node *map;

	for (; nr; nr--, node++) {
		map = seq ? lnetctl_add_map(seq, NULL) : NULL;
		if (!map)
			return -ENOMEM;
		lnetctl_add_text(map, "id", stock_id(&node->id, text));
		lnetctl_add_text(map, "state", stock_state(node->state));
	}
	return 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

/* @test 0: the whole batch. */
static struct lnet_lst_batch_info batch_info_make(const struct stock_call *c, const char *name,
						  int test)
{
	return (struct lnet_lst_batch_info){ .key = c->key, .name_len = (int32_t)strlen(name),
					     .name_at = STOCK_AT(name), .test = test };
}

static int batch_info(struct stock_call *c, const char *name, int test, struct lnet_lst_side *side)
{
	struct lnet_lst_batch_info a = batch_info_make(c, name, test);

	memset(side, 0, sizeof(*side));
	a.side_at = STOCK_AT(side);
	return stock_ask(c, LNET_LST_BATCH_INFO, &a, sizeof(a));
}

int stock_nodes_batch(struct stock_call *c, const char *name)
{
	struct lnet_lst_side side;
	int rc = batch_info(c, name, 0, &side);

	return rc ? rc : side.clients.total + side.servers.total;
}

static int side_nodes(struct stock_call *c, struct lnetctl_node *map, struct lnet_lst_batch_info *a,
		      int32_t room)
{
	struct lnet_lst_node *nodes = calloc((size_t)room + 1, sizeof(*nodes));
	int32_t index = 0;
	int rc = nodes ? 0 : -ENOMEM;

	a->index_at = STOCK_AT(&index);
	a->room_at = STOCK_AT(&room);
	a->nodes_at = STOCK_AT(nodes);
	if (!rc && room)
		rc = stock_ask(c, LNET_LST_BATCH_INFO, a, sizeof(*a));
	if (!rc)
		rc = batch_nodes_show(lnetctl_add_seq(map, "nodes"), nodes, room);
	free(nodes);
	return rc;
}

/* Shows one side of a test. Stock reports the nodes of a side, but not the name of its group. */
static int side_show(struct stock_call *c, struct lnetctl_node *test,
		     struct lnet_lst_batch_info *a, const struct lnet_lst_counts *counts)
{
	struct lnetctl_node *map = lnetctl_add_map(test, a->server ? "servers" : "clients");

	if (!map)
		return -ENOMEM;
	lnetctl_add_num(map, "active", counts->active);
	lnetctl_add_num(map, "busy", counts->busy);
	lnetctl_add_num(map, "down", counts->down);
	lnetctl_add_num(map, "unknown", counts->unknown);
	lnetctl_add_num(map, "total", counts->total);
	return side_nodes(c, map, a, counts->total);
}

static int test_show(struct stock_call *c, struct lnetctl_node *seq, const char *name, int index)
{
	struct lnet_lst_batch_info a = batch_info_make(c, name, index);
	struct lnetctl_node *map;
	struct lnet_lst_side side;
	int rc = batch_info(c, name, index, &side);

	map = rc ? NULL : lnetctl_add_map(seq, NULL);
	if (!map)
		return rc ? rc : -ENOMEM;
	lnetctl_add_num(map, "index", index);
	lnetctl_add_text(map, "type", side.test.type == LNET_LST_PING ? "ping" : "brw");
	lnetctl_add_num(map, "loop", side.test.loop);
	lnetctl_add_num(map, "concurrency", side.test.concurrency);
	rc = side_show(c, map, &a, &side.clients);
	a = batch_info_make(c, name, index);
	a.server = 1;
	return rc ? rc : side_show(c, map, &a, &side.servers);
}

static int batch_show(struct stock_call *c, struct lnetctl_node *seq, const char *name)
{
	struct lnetctl_node *map, *tests;
	struct lnet_lst_side side;
	int rc = batch_info(c, name, 0, &side), i;

	map = rc ? NULL : lnetctl_add_map(seq, NULL);
	if (!map)
		return rc ? rc : -ENOMEM;
	lnetctl_add_text(map, "name", name);
	lnetctl_add_text(map, "state",
			 side.batch.state == LNET_LST_BATCH_RUNNING ? "Running" : "Idle");
	tests = lnetctl_add_seq(map, "tests");
	rc = tests ? 0 : -ENOMEM;
	for (i = 1; i <= side.batch.nr_tests && !rc; i++)
		rc = test_show(c, tests, name, i);
	return rc;
}

int stock_list_batch(struct stock_call *c)
{
	struct lnetctl_node *seq = lnetctl_add_seq(c->doc, "batches");
	char name[LNET_LST_NAME + 1];
	int rc = seq ? 0 : -ENOMEM, i;

	if (!rc && *stock_text(c, "name"))
		return batch_show(c, seq, stock_text(c, "name"));
	for (i = 0; !rc; i++) {
		rc = batch_name_at(c, i, name);
		if (!rc)
			rc = batch_show(c, seq, name);
	}
	return rc == -ENOENT ? 0 : rc;
}
