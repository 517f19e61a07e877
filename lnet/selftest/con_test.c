/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds a test at the console: to the servers, then to each client with its servers. */
#include "con.h"

static void test_group_print(struct con_cmd *cmd, const char *what, const struct con_group *group)
{
	u32 i, nr[CON_NODE_UNKNOWN + 1] = { 0 };

	for (i = 0; i < group->nr; i++)
		nr[group->node[i]->state]++;
	con_say(cmd, "    %s: {name: \"%s\", active: %u, busy: %u, down: %u, unknown: %u, "
		"total: %u}\n", what, group->name, nr[CON_NODE_ACTIVE], nr[CON_NODE_BUSY],
		nr[CON_NODE_DOWN], nr[CON_NODE_UNKNOWN], group->nr);
}

void con_test_say(struct con_cmd *cmd, const struct con_test *test)
{
	con_say(cmd, "  - index: %u\n    type: %s\n    loop: %d\n    concurrency: %u\n"
		"    distribute: \"%u:%u\"\n", test->index, con_drill_type(test), test->loop,
		test->concur, test->dist, test->span);
	if (test->plan)
		con_drill_say(cmd, test->plan);
	if (test->map)
		con_map_say(cmd, test->map);
	test_group_print(cmd, "clients", test->from);
	test_group_print(cmd, "servers", test->to);
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int take_brw(struct con_cmd *cmd, struct con_test *test)
{
	s64 opc = LST_BRW_READ, check = LST_CHECK_NONE, size = 4096, off = 0;

	if (con_number(cmd, "opc", LST_BRW_READ, LST_BRW_WRITE, &opc) ||
	    con_number(cmd, "check", LST_CHECK_NONE, LST_CHECK_DISCARD, &check) ||
	    con_number(cmd, "size", 1, LNET_MTU, &size) ||
	    con_number(cmd, "off", 0, LST_PAGE - 1, &off))
		return -EINVAL;
	test->bytes = (struct lst_bytes_param){ .opc = (u16)opc, .flags = (u16)check,
						.len = (u32)size, .offset = (u32)off };
	return 0;
}

static int test_args_read(struct con_cmd *cmd, struct con_test *test)
{
	const char *type = con_text(cmd, "type");
	s64 loop = -1, concur = 1, dist = 1, span = 1, stop = 1;
	int rc;

	if (con_number(cmd, "loop", -1, S32_MAX, &loop) || !loop ||
	    con_number(cmd, "concur", 1, LST_CONCUR_MAX, &concur) ||
	    con_number(cmd, "dist", 1, S32_MAX, &dist) ||
	    con_number(cmd, "span", 1, S32_MAX, &span) ||
	    con_number(cmd, "stop_onerr", 0, 1, &stop))
		return -EINVAL;
	test->loop = (s32)loop;
	test->concur = (u32)concur;
	test->dist = (u32)dist;
	test->span = (u32)span;
	test->stop_onerr = stop;
	rc = con_drill_take(cmd, test, type);
	if (rc || test->plan)
		return rc;
	if (span > LST_DESTS_PER_PAGE)
		return -EINVAL;
	test->service = type && !strcmp(type, "ping") ? LST_SERVICE_PING : LST_SERVICE_BRW;
	if (!type || (strcmp(type, "ping") && strcmp(type, "brw")))
		return -EINVAL;
	return test->service == LST_SERVICE_BRW ? take_brw(cmd, test) : 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void test_req_fill(struct lst_msg *req, const struct con_session *s,
			  const struct con_batch *batch, const struct con_test *test)
{
	*req = (struct lst_msg){ .type = LST_TEST_REQ, .feats = s->feats };
	req->test_req = (struct lst_test_req){ .sid = s->sid, .bid = batch->bid,
					       .service = test->service, .loop = (u32)test->loop,
					       .concur = test->concur,
					       .stop_onerr = test->stop_onerr };
	if (test->service != LST_SERVICE_BRW)
		return;
	if (s->feats & LST_FEAT_BYTES)
		req->test_req.bytes_param = test->bytes;
	else
		req->test_req.pages_param = (struct lst_pages_param){
			test->bytes.opc, DIV_ROUND_UP(test->bytes.len, LST_PAGE),
			test->bytes.flags };
}

static const struct con_node *active_at(const struct con_group *group, u32 ix)
{
	u32 i;

	for (i = 0; i < group->nr; i++)
		if (group->node[i]->state == CON_NODE_ACTIVE && !ix--)
			return group->node[i];
	return NULL;
}

u32 con_nr_active(const struct con_group *group)
{
	u32 i, nr = 0;

	for (i = 0; i < group->nr; i++)
		nr += group->node[i]->state == CON_NODE_ACTIVE;
	return nr;
}

/*
 * Builds the list of the servers to which client number @client sends. The list has test->span
 * servers. It is the same for test->dist successive clients; the next clients have the next
 * servers.
 */
static u8 *test_dests_make(const struct con_test *test, u32 client, u32 nr_servers)
{
	u32 i, first = (u32)((u64)(client / test->dist) * test->span % nr_servers);
	u8 *list = kzalloc(lst_dests_size(test->span), GFP_NOWAIT);

	for (i = 0; list && i < test->span; i++) {
		const struct con_node *node = active_at(test->to, (first + i) % nr_servers);
		struct lst_dest dest = { lnet_nid_to_nid4(&node->id.nid), node->id.pid };

		lst_dest_encode(list, i, &dest);
	}
	return list;
}

struct con_test *con_test_last(struct con_cmd *cmd, struct con_batch **batchp)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "batch"));

	*batchp = batch;
	if (!batch || list_empty(&batch->tests))
		return NULL;
	return list_last_entry(&batch->tests, struct con_test, link);
}

static int test_clients_notified(struct con_cmd *cmd)
{
	u32 failed = con_say_errors(cmd, "add test");

	con_say(cmd, "failed: %u\n", failed);
	return 0;
}

static int test_servers_notified(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	struct con_batch *batch;
	struct con_test *test = con_test_last(cmd, &batch);
	u32 i, nr, client = 0;
	struct lst_msg req;
	int rc = 0;

	if (!test)
		return -ENOENT;
	if (con_say_errors(cmd, "add test"))
		return 0;
	nr = con_nr_active(test->to);
	for (i = 0; i < test->from->nr && nr >= test->span && !rc; i++) {
		u8 *list;

		if (test->from->node[i]->state != CON_NODE_ACTIVE)
			continue;
		list = test_dests_make(test, client++, nr);
		if (!list)
			return -ENOMEM;
		test_req_fill(&req, s, batch, test);
		req.test_req.is_client = 1;
		req.test_req.nr_dests = test->span;
		rc = con_ask(cmd, test->from->node[i], &req, list, lst_dests_size(test->span));
	}
	return con_then(cmd, test_clients_notified);
}

static int tell_servers(struct con_cmd *cmd, const struct con_batch *batch,
			const struct con_test *test)
{
	struct lst_msg req;
	u32 i;
	int rc = 0;

	for (i = 0; i < test->to->nr && !rc; i++) {
		if (test->to->node[i]->state != CON_NODE_ACTIVE)
			continue;
		test_req_fill(&req, con_session(cmd), batch, test);
		req.test_req.loop = test->concur;	/* requests at one time */
		rc = con_ask(cmd, test->to->node[i], &req, NULL, 0);
	}
	return con_then(cmd, test_servers_notified);
}

int con_test_link(struct con_cmd *cmd, struct con_batch *batch, struct con_test *test)
{
	struct con_session *s = con_session(cmd);
	bool back = test->plan && test->plan->back;

	test->from = con_group_find(s, con_text(cmd, back ? "to" : "from"));
	test->to = con_group_find(s, con_text(cmd, back ? "from" : "to"));
	if (!test->from || !test->to)
		return -ENOENT;
	if (!con_nr_active(test->from) || con_nr_active(test->to) < (test->plan ? 1 : test->span))
		return -EINVAL;
	test->from->nr_tests++;
	test->to->nr_tests++;
	test->key = ++s->next_key;
	test->index = ++batch->nr_tests;
	list_add_tail(&test->link, &batch->tests);
	return 0;
}

/*
 * Arguments: batch, from, to, type (ping, brw, bulk), loop, concur, dist, span, stop_onerr. Further
 * arguments of brw: opc, check, size, off. Drills have the arguments of plan.def, and `send' as in
 * con_map.c. If some nodes reject the test, it stays in the batch, so that an operator can examine
 * it.
 */
int con_add_test(struct con_cmd *cmd)
{
	struct con_batch *batch = con_batch_find(con_session(cmd), con_text(cmd, "batch"));
	struct con_test *test;
	int rc;

	if (!batch)
		return -ENOENT;
	if (batch->state != CON_BATCH_IDLE || con_tree_has(cmd, batch))
		return -EBUSY;
	test = kzalloc(sizeof(*test), GFP_NOWAIT);
	if (!test)
		return -ENOMEM;
	rc = test_args_read(cmd, test);
	if (!rc && test->plan && test->plan->map == LST_MAP_LISTED)
		rc = con_map_take(cmd, test);
	if (!rc)
		rc = con_test_link(cmd, batch, test);
	if (rc) {
		kfree(test->map);
		kfree(test->plan);
		kfree(test);
		return rc;
	}
	return test->plan ? con_drill_tell(cmd) : tell_servers(cmd, batch, test);
}
