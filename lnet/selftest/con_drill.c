/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adding a test of ours at the console: servers hear of it first, then clients, then both again. */
#include "con.h"

const char *con_drill_type(const struct con_test *test)
{
	if (!test->plan)
		return test->service == LST_SERVICE_PING ? "ping" : "brw";
	return test->plan->what == LST_WHAT_PING ? "ping" : "bulk";
}

/* All that was said when it was added, and what it is if nothing was. */
void con_drill_say(struct con_cmd *cmd, const struct lst_plan *plan)
{
	u32 i;

	for (i = 0; i < lst_nr_plan_words; i++)
		con_say(cmd, "%s%s: %llu", i ? ", " : "    plan: {", lst_plan_words[i].name,
			(unsigned long long)*(const u64 *)((const u8 *)plan +
							   lst_plan_words[i].at));
	con_say(cmd, "}\n");
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Words that tests of stock have as well. */
static bool is_common(const char *name)
{
	static const char *const common[] = { "loop", "concur", "dist", "span", "stop_onerr" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcmp(common[i], name))
			return true;
	return false;
}

static bool is_ours(const struct con_cmd *cmd, const char *type)
{
	u32 i;

	if (!strcmp(type, "bulk"))
		return true;
	if (strcmp(type, "ping"))
		return false;
	for (i = 0; i < lst_nr_plan_words; i++)
		if (!is_common(lst_plan_words[i].name) && con_text(cmd, lst_plan_words[i].name))
			return true;
	return false;
}

static int words_take(const struct con_cmd *cmd, struct lst_plan *p)
{
	u32 i;

	for (i = 0; i < lst_nr_plan_words; i++) {
		const struct lst_plan_word *word = &lst_plan_words[i];
		s64 value = (s64)word->usual;

		if (con_number(cmd, word->name, -1, (s64)word->most, &value))
			return -EINVAL;
		/* Endless is -1 in stock's tool. */
		if (value == -1 && !strcmp(word->name, "loop"))
			value = 0;
		if (value < (s64)word->least)
			return -EINVAL;
		*(u64 *)((u8 *)p + word->at) = (u64)value;
	}
	return 0;
}

int con_drill_take(struct con_cmd *cmd, struct con_test *test, const char *type)
{
	struct lst_plan *p;

	if (!type || !is_ours(cmd, type))
		return 0;
	p = kzalloc(sizeof(*p), GFP_NOWAIT);
	if (!p)
		return -ENOMEM;
	test->plan = p;
	test->service = LST_SERVICE_DRILL;
	p->what = strcmp(type, "ping") ? LST_WHAT_BULK : LST_WHAT_PING;
	if (words_take(cmd, p))
		return -EINVAL;
	if (p->what == LST_WHAT_BULK && !con_text(cmd, "size"))
		p->size = LNET_MTU;
	if (p->what == LST_WHAT_PING && (p->size < LST_DRILL_MIN || p->size > LST_DRILL_MAX))
		return -EINVAL;
	return 0;
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

static int tell(struct con_cmd *cmd, struct con_node *node, const struct lst_plan *p)
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

/* Each client is given its own servers, all of which it sends to. */
static int tell_listed(struct con_cmd *cmd, struct con_node *node, const struct con_map *map,
		       const struct lst_plan *plan)
{
	struct lst_plan p = *plan;
	int rc;

	p.back = 0;
	p.same = 0;
	p.run = con_map_runs(map, node, plan->back, &p);
	rc = p.run ? tell(cmd, node, &p) : -ENOMEM;
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
			   tell(cmd, group->node[i], p);
		p->self++;
	}
	return rc;
}

/* Who was taken from another session may still be asked for its tests: these have other tags. */
static u32 tag_of(const struct con_session *s, const struct con_test *test)
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
	p->tag = tag_of(s, test);
	p->nr_from = con_nr_active(p->back ? test->to : test->from);
	p->nr_to = con_nr_active(p->back ? test->from : test->to);
	p->same = test->from == test->to;
}

/* The same test the other way round, with counts of its own. */
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

static int clients_told(struct con_cmd *cmd)
{
	struct con_batch *batch;
	struct con_test *test = con_test_last(cmd, &batch);
	u32 failed = con_say_errors(cmd, "add test");

	if (!failed && test && test->plan && test->plan->ways == 2 && !test->plan->back)
		return back_add(cmd, batch, test);
	con_say(cmd, "failed: %u\n", failed);
	return 0;
}

static int servers_told(struct con_cmd *cmd)
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
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, clients_told);
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
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, servers_told);
}
