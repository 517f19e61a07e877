/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Batches at the console: create, list, run, stop, query. */
#include "con.h"

static const char *const state_texts[] = {
#define UNIT(name)
#define NODE(name, number, text)
#define BATCH(name, text)	text,
#include "states.def"
#undef UNIT
#undef NODE
#undef BATCH
};

struct con_batch *con_batch_find(struct con_session *s, const char *name)
{
	struct con_batch *batch;

	list_for_each_entry(batch, &s->batches, link)
		if (name && !strcmp(batch->name, name))
			return batch;
	return NULL;
}

struct con_batch *con_batch_new(struct con_session *s, const char *name)
{
	struct con_batch *batch = kzalloc(sizeof(*batch), GFP_NOWAIT);

	if (!batch)
		return NULL;
	strscpy(batch->name, name, LST_NAME);
	batch->bid = ++s->next_bid;
	INIT_LIST_HEAD(&batch->tests);
	list_add_tail(&batch->link, &s->batches);
	return batch;
}

void con_batch_free(struct con_batch *batch)
{
	struct con_test *test, *next;

	list_for_each_entry_safe(test, next, &batch->tests, link) {
		kfree(test->plan);
		kfree(test->map);
		kfree(test);
	}
	list_del(&batch->link);
	kfree(batch);
}

/* name */
int con_add_batch(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "name");

	if (!con_name_ok(name))
		return -EINVAL;
	if (con_batch_find(s, name))
		return -EEXIST;
	return con_batch_new(s, name) ? 0 : -ENOMEM;
}

/* name (none: all) */
int con_list_batch(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "name");
	struct con_batch *batch;
	struct con_test *test;

	if (name && !con_batch_find(s, name))
		return -ENOENT;
	con_say(cmd, "batches:\n");
	list_for_each_entry(batch, &s->batches, link) {
		if (name && strcmp(batch->name, name))
			continue;
		con_say(cmd, "- name: \"%s\"\n  state: %s\n  tests:%s\n", batch->name,
			state_texts[batch->state], batch->nr_tests ? "" : " []");
		list_for_each_entry(test, &batch->tests, link)
			con_test_say(cmd, test);
	}
	return 0;
}

/* ---- requests to all nodes of a batch -------------------------------------------------------- */

static bool node_is_requested(const struct con_cmd *cmd, const struct con_node *node)
{
	const struct con_rpc *r;

	list_for_each_entry(r, &cmd->asked, link)
		if (r->node == node)
			return true;
	return false;
}

static int group_request(struct con_cmd *cmd, const struct con_group *group,
			 const struct lst_msg *req)
{
	u32 i;
	int rc = 0;

	for (i = 0; i < group->nr && !rc; i++) {
		struct lst_msg copy = *req;

		if (group->node[i]->state == CON_NODE_ACTIVE &&
		    !node_is_requested(cmd, group->node[i]))
			rc = con_ask(cmd, group->node[i], &copy, NULL, 0);
	}
	return rc;
}

int con_batch_ask(struct con_cmd *cmd, struct con_batch *batch, u32 index, bool server,
		  const struct lst_msg *req)
{
	struct con_test *test;
	int rc = 0;

	list_for_each_entry(test, &batch->tests, link)
		if (!rc && (!index || test->index == index))
			rc = group_request(cmd, server ? test->to : test->from, req);
	return rc;
}

static int batch_request(struct con_cmd *cmd, struct con_batch *batch, u32 opc, u32 index, u32 arg,
			 bool server)
{
	struct con_session *s = con_session(cmd);
	struct lst_msg req = { .type = LST_BATCH_REQ, .feats = s->feats,
			       .batch_req = { .sid = s->sid, .bid = batch->bid, .opc = opc,
					      .test = index, .arg = arg } };

	return con_batch_ask(cmd, batch, index, server, &req);
}

/* ---- run and stop ---------------------------------------------------------------------------- */

static u32 nr_good(const struct con_cmd *cmd)
{
	const struct con_rpc *r;
	u32 nr = 0;

	list_for_each_entry(r, &cmd->answered, link)
		nr += !con_rpc_error(r);
	return nr;
}

static int running(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));

	if (!batch)
		return -ENOENT;
	con_say_errors(cmd, "run batch");
	if (nr_good(cmd))
		batch->state = CON_BATCH_RUNNING;
	con_say(cmd, "running: %u\n", nr_good(cmd));
	return 0;
}

/* name, timeout (nodes ignore it) */
int con_run(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));
	s64 timeout = 0;
	int rc;

	if (!batch)
		return -ENOENT;
	if (con_number(cmd, "timeout", 0, S32_MAX, &timeout))
		return -EINVAL;
	if (!batch->nr_tests)		/* an empty batch fails, except for stock's lst */
		return cmd->user->memory ? 0 : -EINVAL;
	batch->start_ns = 0;
	rc = batch_request(cmd, batch, LST_BATCH_RUN, 0, (u32)timeout, false);
	if (list_empty(&cmd->asked))
		return rc ? rc : -ENODEV;
	return con_then(cmd, running);
}

static int stopping(struct con_cmd *cmd)
{
	con_say_errors(cmd, "stop batch");
	con_say(cmd, "stopping: %u\n", nr_good(cmd));
	return 0;
}

/* name, force */
int con_stop(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));
	s64 force = 0;
	int rc;

	if (!batch)
		return -ENOENT;
	if (con_number(cmd, "force", 0, 1, &force))
		return -EINVAL;
	rc = batch_request(cmd, batch, LST_BATCH_STOP, 0, (u32)force, false);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, stopping);
}

/* ---- query ----------------------------------------------------------------------------------- */

static void say_node(struct con_cmd *cmd, const struct con_rpc *r)
{
	char id[CON_ID_SIZE];
	int rc = con_rpc_error(r);

	con_say(cmd, "- {id: \"%s\", state: %s, errno: %d, active: %u}\n",
		con_node_id(r->node, id), con_node_state_text(r->node->state), -rc,
		rc ? 0 : r->rpy.batch_rpy.active);
}

static int queried(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));
	const struct con_rpc *r;
	bool idle = true;

	if (!batch)
		return -ENOENT;
	con_say(cmd, "nodes:%s\n", list_empty(&cmd->answered) ? " []" : "");
	list_for_each_entry(r, &cmd->answered, link) {
		say_node(cmd, r);
		idle = idle && !con_rpc_error(r) && !r->rpy.batch_rpy.active;
	}
	if (idle && !con_text(cmd, "test"))
		batch->state = CON_BATCH_IDLE;
	con_say(cmd, "batch: %s\n", state_texts[batch->state]);
	return 0;
}

/* name, test, server */
int con_query(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "name"));
	s64 test = 0, server = 0;
	int rc;

	if (!batch)
		return -ENOENT;
	if (con_number(cmd, "test", 0, S32_MAX, &test) || con_number(cmd, "server", 0, 1, &server))
		return -EINVAL;
	if (test > batch->nr_tests)
		return -ENOENT;
	rc = batch_request(cmd, batch, LST_BATCH_QUERY, (u32)test, 0, server);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, queried);
}
