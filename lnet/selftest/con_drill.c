/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Adds a drill at the console: first to the servers, then to the clients. If the drill has two
 * ways, adds a second test in the opposite direction.
 */
#include "con.h"

const char *con_drill_type(const struct con_test *test)
{
	if (!test->plan)
		return test->service == LST_SERVICE_PING ? "ping" : "brw";
	return test->plan->what == LST_WHAT_PING ? "ping" : "bulk";
}

/* Writes all arguments of the test, including defaults. */
void con_drill_say(struct con_cmd *cmd, const struct lst_plan *plan)
{
	u32 i;

	for (i = 0; i < lst_nr_plan_words; i++)
		con_say(cmd, "%s%s: %llu", i ? ", " : "    plan: {", lst_plan_words[i].name,
			(unsigned long long)*(const u64 *)((const u8 *)plan +
							   lst_plan_words[i].at));
	con_say(cmd, "}\n");
}

/* ---- arguments ------------------------------------------------------------------------------- */

int con_drill_take(struct con_cmd *cmd, struct con_test *test, const char *type)
{
	struct lst_plan *p;

	if (!type || !lst_plan_is_ours(type, cmd->user->request, cmd->user->len))
		return 0;
	p = kzalloc(sizeof(*p), GFP_NOWAIT);
	if (!p)
		return -ENOMEM;
	test->plan = p;
	test->service = LST_SERVICE_DRILL;
	return lst_plan_read(p, type, cmd->user->request, cmd->user->len);
}

/* ---- requests -------------------------------------------------------------------------------- */

struct lst_run *con_runs_of(const struct con_group *group, u32 *nr)
{
	struct lst_run *run = kmalloc_array(con_nr_active(group), sizeof(*run), GFP_NOWAIT);
	u32 i;

	*nr = 0;
	for (i = 0; run && i < group->nr; i++)
		if (group->node[i]->state == CON_NODE_ACTIVE)
			lst_runs_add(run, nr, &group->node[i]->id);
	return run;
}

static int drill_plan_send(struct con_cmd *cmd, struct con_node *node, const struct lst_plan *p)
{
	const struct con_session *s = con_session(cmd);
	u32 len = lst_plan_encode(p, NULL);
	u8 *buf = len <= LNET_MTU ? kmalloc(len, GFP_NOWAIT) : NULL;
	struct lst_msg req = { .type = LST_ADD_REQ, .feats = s->feats,
			       .add_req = { .sid = s->sid, .len = len } };

	if (!buf)
		return -ENOMEM;
	lst_plan_encode(p, buf);
	return con_ask(cmd, node, &req, buf, len);
}

/* Sends a client the plan with its own servers only. The client sends to all of them. */
static int tell_listed(struct con_cmd *cmd, struct con_node *node, const struct con_map *map,
		       const struct lst_plan *plan)
{
	struct lst_plan p = *plan;
	int rc;

	p.back = 0;
	p.same = 0;
	p.run = con_map_runs(map, node, plan->back, &p);
	rc = p.run ? drill_plan_send(cmd, node, &p) : -ENOMEM;
	kfree(p.run);
	return rc;
}

static int tell_group(struct con_cmd *cmd, const struct con_group *group, struct lst_plan *p,
		      const struct con_map *map)
{
	u32 i;
	int rc = 0;

	p->self = 0;
	for (i = 0; i < group->nr && !rc; i++) {
		if (group->node[i]->state != CON_NODE_ACTIVE)
			continue;
		rc = map ? tell_listed(cmd, group->node[i], map, p) :
			   drill_plan_send(cmd, group->node[i], p);
		p->self++;
	}
	return rc;
}

/*
 * Returns the tag of a test. Tags of two sessions differ, because a node that was taken over may
 * still receive requests for tests of its old session.
 */
static u32 drill_tag_of(const struct con_session *s, const struct con_test *test)
{
	u32 first = (u32)lst_mix(s->sid.nid + lst_mix(s->sid.stamp));

	return (first + test->key) % (u32)S32_MAX + 1;
}

static void plan_of(const struct con_session *s, const struct con_batch *batch,
		    const struct con_test *test, struct lst_plan *p)
{
	*p = *test->plan;
	p->bid = batch->bid;
	p->index = test->index;
	p->tag = drill_tag_of(s, test);
	p->nr_from = con_nr_active(p->back ? test->to : test->from);
	p->nr_to = con_nr_active(p->back ? test->from : test->to);
	p->same = test->from == test->to;
}

/* Adds a second test in the opposite direction, with separate counts. */
static int back_add(struct con_cmd *cmd, struct con_batch *batch, const struct con_test *test)
{
	struct con_test *back = kmemdup(test, sizeof(*test), GFP_NOWAIT);
	int rc = -ENOMEM;

	if (!back)
		return -ENOMEM;
	back->plan = kmemdup(test->plan, sizeof(*test->plan), GFP_NOWAIT);
	if (test->map)
		back->map = kmemdup(test->map, con_map_size(test->map->nr), GFP_NOWAIT);
	if (back->plan && !test->map == !back->map) {
		back->plan->back = 1;
		rc = con_test_link(cmd, batch, back);
		if (!rc)
			return con_drill_tell(cmd);
	}
	kfree(back->map);
	kfree(back->plan);
	kfree(back);
	return rc;
}

static int drill_clients_notified(struct con_cmd *cmd)
{
	struct con_batch *batch;
	struct con_test *test = con_test_last(cmd, &batch);
	u32 failed = con_say_errors(cmd, "add test");

	if (!failed && test && test->plan && test->plan->ways == 2 && !test->plan->back)
		return back_add(cmd, batch, test);
	con_say(cmd, "failed: %u\n", failed);
	return 0;
}

static int drill_servers_notified(struct con_cmd *cmd)
{
	struct con_batch *batch;
	struct con_test *test = con_test_last(cmd, &batch);
	struct lst_plan p;
	int rc;

	if (!test || !test->plan)
		return -ENOENT;
	if (con_say_errors(cmd, "add test"))
		return 0;
	plan_of(con_session(cmd), batch, test, &p);
	p.run = con_runs_of(test->to, &p.nr_runs);
	if (!p.run)
		return -ENOMEM;
	rc = tell_group(cmd, test->from, &p, test->map);
	kfree(p.run);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, drill_clients_notified);
}

int con_drill_tell(struct con_cmd *cmd)
{
	struct con_batch *batch;
	struct con_test *test = con_test_last(cmd, &batch);
	struct lst_plan p;
	int rc;

	plan_of(con_session(cmd), batch, test, &p);
	p.server = 1;
	rc = tell_group(cmd, test->to, &p, NULL);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, drill_servers_notified);
}
