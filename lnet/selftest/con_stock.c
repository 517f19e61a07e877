/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replies of the console in memory, with the layouts of stock.h, instead of replies as text. */
#include "con.h"
#include "stock.h"

static void counts_add(struct lst_view_counts *c, u8 state)
{
	c->total++;
	c->active += state == CON_NODE_ACTIVE;
	c->busy += state == CON_NODE_BUSY;
	c->down += state == CON_NODE_DOWN;
	c->unknown += state == CON_NODE_UNKNOWN;
}

static void node_view_append(struct con_cmd *cmd, const struct con_node *node)
{
	struct lst_view_node view;

	memset(&view, 0, sizeof(view));
	view.id = node->id;
	view.state = node->state;
	con_put(cmd, &view, sizeof(view));
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void group_view_append(struct con_cmd *cmd, const struct con_group *group, bool names)
{
	struct lst_view_group view;
	u32 i;

	memset(&view, 0, sizeof(view));
	strscpy(view.name, group->name, LST_NAME);
	for (i = 0; i < group->nr; i++)
		counts_add(&view.counts, group->node[i]->state);
	view.nr = names ? 0 : group->nr;
	con_put(cmd, &view, sizeof(view));
	for (i = 0; i < view.nr; i++)
		node_view_append(cmd, group->node[i]);
}

/* Arguments: any number of name. Without a name: all groups, without their nodes. */
int con_stock_groups(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *pos = NULL, *name = con_word(cmd, "name", &pos);
	struct con_group *group;

	if (!name)
		list_for_each_entry(group, &s->groups, link)
			group_view_append(cmd, group, true);
	for (; name; name = con_word(cmd, "name", &pos)) {
		group = con_group_find(s, name);
		if (!group)
			return -ENOENT;
		group_view_append(cmd, group, false);
	}
	return 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

struct side {
	struct con_node **node;		/* without duplicates */
	u32 nr;
};

static void side_add(struct side *side, const struct con_group *group, u32 mark)
{
	u32 i;

	for (i = 0; i < group->nr; i++) {
		if (group->node[i]->mark == mark)
			continue;
		group->node[i]->mark = mark;
		side->node[side->nr++] = group->node[i];
	}
}

/*
 * Collects the nodes of one side of a test: the servers if @server is set, else the clients. @index
 * 0: of all tests of the batch. The caller frees side->node with kfree(), also after -ENOMEM.
 */
static int side_make(struct side *side, struct con_session *s, const struct con_batch *batch,
		     u32 index, bool server)
{
	const struct con_test *test;
	u32 nr = 1, mark = ++s->next_mark;

	list_for_each_entry(test, &batch->tests, link)
		nr += server ? test->to->nr : test->from->nr;
	side->node = kmalloc_array(nr, sizeof(struct con_node *), GFP_NOWAIT);
	if (!side->node)
		return -ENOMEM;
	list_for_each_entry(test, &batch->tests, link)
		if (!index || test->index == index)
			side_add(side, server ? test->to : test->from, mark);
	return 0;
}

static void side_count(struct lst_view_counts *c, const struct side *side)
{
	u32 i;

	for (i = 0; i < side->nr; i++)
		counts_add(c, side->node[i]->state);
}

static const struct con_test *stock_test_find(const struct con_batch *batch, u32 index)
{
	const struct con_test *test;

	list_for_each_entry(test, &batch->tests, link)
		if (test->index == index)
			return test;
	return NULL;
}

static void view_fill(struct lst_view_batch *view, const struct con_batch *batch,
		      const struct con_test *test)
{
	memset(view, 0, sizeof(*view));
	strscpy(view->name, batch->name, LST_NAME);
	view->running = batch->state == CON_BATCH_RUNNING;
	view->nr_tests = batch->nr_tests;
	if (!test)
		return;
	view->is_test = true;
	view->is_ping = !strcmp(con_drill_type(test), "ping");
	view->loop = test->loop;
	view->concur = test->concur;
}

static int batch_put(struct con_cmd *cmd, const struct con_batch *batch, u32 index, bool server)
{
	const struct con_test *test = stock_test_find(batch, index);
	struct side clients = { NULL }, servers = { NULL };
	const struct side *wanted = server ? &servers : &clients;
	struct lst_view_batch view;
	int rc = side_make(&clients, con_session(cmd), batch, index, false);
	u32 i;

	if (!rc)
		rc = side_make(&servers, con_session(cmd), batch, index, true);
	if (!rc) {
		view_fill(&view, batch, test);
		side_count(&view.clients, &clients);
		side_count(&view.servers, &servers);
		view.nr = wanted->nr;
		con_put(cmd, &view, sizeof(view));
		for (i = 0; i < view.nr; i++)
			node_view_append(cmd, wanted->node[i]);
	}
	kfree(clients.node);
	kfree(servers.node);
	return rc;
}

/*
 * Arguments: name, test, server. Without a name: all batches, without their nodes. Test 0 is the
 * whole batch. The reply lists the servers if server is 1, else the clients.
 */
int con_stock_batches(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "name");
	struct con_batch *batch = con_batch_find(s, name);
	s64 test = 0, server = 0;
	struct lst_view_batch view;

	if (con_number(cmd, "test", 0, S32_MAX, &test) || con_number(cmd, "server", 0, 1, &server))
		return -EINVAL;
	if (name) {
		if (!batch || (test && !stock_test_find(batch, (u32)test)))
			return -ENOENT;
		return batch_put(cmd, batch, (u32)test, server);
	}
	list_for_each_entry(batch, &s->batches, link) {
		view_fill(&view, batch, NULL);
		con_put(cmd, &view, sizeof(view));
	}
	return 0;
}

/* Argument: name. A batch with tests is not deleted, because nodes also have the batch. */
int con_del_batch(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));

	if (!batch)
		return -ENOENT;
	if (batch->state != CON_BATCH_IDLE || batch->nr_tests)
		return -EBUSY;
	con_batch_free(batch);
	return 0;
}

/* ---- the end of a reply ---------------------------------------------------------------------- */

static void session_view(struct lst_view_session *view, const struct con_session *s)
{
	const struct con_node *node;

	view->sid = s->sid;
	view->key = s->key;
	view->feats = s->feats;
	view->nr_nodes = s->nr_nodes;
	strscpy(view->name, s->name, LST_NAME);
	list_for_each_entry(node, &s->nodes, link)
		counts_add(&view->counts, node->state);
}

static void counters_fill(struct lnet_lst_counters *c, const struct lst_query_stat_rpy *p)
{
	*c = (struct lnet_lst_counters){
		.running_ms = p->running_ms, .active_batches = p->active_batches,
		.zombie_sessions = p->zombie_sessions, .brw_errors = p->brw_errors,
		.ping_errors = p->ping_errors, .rpc_errors = p->rpc_errors,
		.rpcs_sent = p->rpcs_sent, .rpcs_rcvd = p->rpcs_rcvd,
		.rpcs_dropped = p->rpcs_dropped, .rpcs_expired = p->rpcs_expired,
		.bulk_get = p->bulk_get, .bulk_put = p->bulk_put, .msgs_alloc = p->msgs_alloc,
		.msgs_max = p->msgs_max, .errors = p->errors, .send_count = p->send_count,
		.recv_count = p->recv_count, .route_count = p->route_count,
		.drop_count = p->drop_count, .send_length = p->send_length,
		.recv_length = p->recv_length, .route_length = p->route_length,
		.drop_length = p->drop_length };
}

static void body_fill(struct lst_result *out, const struct lst_msg *rpy)
{
	switch (rpy->type) {
	case LST_MAKE_SESSION_RPY:
		out->sid = rpy->make_session_rpy.sid;
		break;
	case LST_DEBUG_RPY:
		out->sid = rpy->debug_rpy.sid;
		break;
	case LST_BATCH_RPY:
		out->sid = rpy->batch_rpy.sid;
		out->active = rpy->batch_rpy.active;
		break;
	case LST_QUERY_STAT_RPY:
		out->sid = rpy->query_stat_rpy.sid;
		counters_fill(&out->counters, &rpy->query_stat_rpy);
		break;
	case LST_TEST_RPY:
		out->sid = rpy->test_rpy.sid;
		break;
	}
}

void con_stock_end(struct con_cmd *cmd)
{
	struct lst_memory *memory = cmd->user->memory;
	struct lst_result out;
	const struct con_rpc *r;

	if (!memory)
		return;
	if (cmd->st->con) {
		memory->has_session = true;
		session_view(&memory->session, cmd->st->con);
	}
	list_for_each_entry(r, &cmd->answered, link) {
		memset(&out, 0, sizeof(out));
		out.id = r->node->id;
		out.state = r->node->state;
		out.rc = r->rc;
		out.sid = LST_NO_SID;
		if (!r->rc) {
			out.status = r->rpy.status;
			strscpy(out.owner, r->node->owner, LST_NAME);
			body_fill(&out, &r->rpy);
		}
		con_put(cmd, &out, sizeof(out));
		memory->nr_results++;
	}
}
