/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETTEST at the console: prepares and starts all nodes of a group, and reads the results of node
 * 0.
 */
#include "con.h"
#include "nettest_serve.h"

#define ROWS_MAX	256U		/* read at one time */

static struct lst_msg nettest_req_make(const struct con_session *s, enum lst_nettest_opc opc,
				       u32 run)
{
	return (struct lst_msg){ .type = LST_NETTEST_REQ, .feats = s->feats,
				 .nettest_req = { .sid = s->sid, .opc = opc, .run = run } };
}

/* Sends a request to the nodes that accepted the request of the previous step. */
static int nettest_request_next(struct con_cmd *cmd, enum lst_nettest_opc opc)
{
	const struct con_rpc *r;
	int rc = 0;

	list_for_each_entry(r, &cmd->answered, link) {
		struct lst_msg req =
			nettest_req_make(con_session(cmd), opc, r->rpy.nettest_rpy.run);

		if (!con_rpc_error(r) && !rc)
			rc = con_ask(cmd, r->node, &req, NULL, 0);
	}
	return rc;
}

/* ---- nettest --------------------------------------------------------------------------------- */

/* Reads the plan from the arguments. Bit N of "patterns" is pattern N of nettest.def. */
static int plan_take(struct con_cmd *cmd, struct lst_nettest_plan *p)
{
	struct nettest_plan *plan = &p->plan;
	struct {
		const char *name;
		s64 lo;
		u32 *to;
	} words[] = { { "least", 1, &plan->least },	{ "most", 1, &plan->most },
		      { "step", 0, &plan->step },	{ "factor", 0, &plan->factor },
		      { "repeats", 1, &plan->repeats },	{ "times", 1, &plan->times },
		      { "check", 0, &plan->check },	{ "patterns", 1, &plan->patterns },
		      { "noise", 0, &plan->noise },
		      { "noise_pairs", 0, &plan->noise_pairs },
		      { "noise_depth", 0, &plan->noise_depth } };
	s64 value, matrix = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		value = *words[i].to;
		if (con_number(cmd, words[i].name, words[i].lo, U32_MAX, &value))
			return -EINVAL;
		*words[i].to = (u32)value;
	}
	if (con_number(cmd, "matrix", 0, 1, &matrix))
		return -EINVAL;
	p->matrix = matrix;
	return lst_nettest_check(plan, p->nr, p->matrix);
}

static int nettest_all_stopped(struct con_cmd *cmd)
{
	return 0;
}

static int nettest_all_started(struct con_cmd *cmd)
{
	char id[CON_ID_SIZE], nid[LNET_NIDSTR_SIZE];
	const struct con_rpc *r, *first = list_first_entry(&cmd->answered, struct con_rpc, link);

	if (con_say_errors(cmd, "nettest start")) {
		nettest_request_next(cmd, LST_NETTEST_STOP);
		return con_then(cmd, nettest_all_stopped);
	}
	con_say(cmd, "nettest: {run: %u, first: \"%s\"}\nnodes:\n", first->rpy.nettest_rpy.run,
		lnet_nid_str(&first->node->id.nid, nid));
	list_for_each_entry(r, &cmd->answered, link)
		con_say(cmd, "- \"%s\"\n", con_node_id(r->node, id));
	return 0;
}

/*
 * If a node did not reply, stops the run at the other nodes. The unresponsive node may also have
 * begun the run. At that node, the end of its session, or its next run, ends this run.
 */
static int begun(struct con_cmd *cmd)
{
	int rc;

	if (con_say_errors(cmd, "nettest")) {
		nettest_request_next(cmd, LST_NETTEST_STOP);
		return con_then(cmd, nettest_all_stopped);
	}
	rc = nettest_request_next(cmd, LST_NETTEST_START);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, nettest_all_started);
}

static int begin_node(struct con_cmd *cmd, struct con_node *node,
		      const struct lst_nettest_plan *p, u32 run, u32 rank)
{
	struct lst_msg req = nettest_req_make(con_session(cmd), LST_NETTEST_BEGIN, run);
	u32 len = lst_nettest_encode(p, NULL);
	u8 *buf = kmalloc(len, GFP_NOWAIT);

	if (!buf)
		return -ENOMEM;
	lst_nettest_encode(p, buf);
	req.nettest_req.rank = rank;
	req.nettest_req.len = len;
	return con_ask(cmd, node, &req, buf, len);
}

/*
 * Arguments: group, least, most, step, factor, repeats, times, check, patterns, matrix=1, noise,
 * noise_pairs, noise_depth.
 */
int con_nettest(struct con_cmd *cmd)
{
	struct con_group *group = con_group_find(con_session(cmd), con_text(cmd, "group"));
	struct lst_nettest_plan p = { .nr = group ? con_nr_active(group) : 0 };
	u32 i, rank = 0, run = (u32)lst_id_draw(cmd->st);
	int rc;

	if (!group)
		return -ENOENT;
	if (p.nr < 2)
		return -EDOM;
	rc = plan_take(cmd, &p);
	if (rc)
		return rc;
	p.run = con_runs_of(group, &p.nr_runs);
	if (!p.run)
		return -ENOMEM;
	for (i = 0; i < group->nr && !rc; i++)
		if (group->node[i]->state == CON_NODE_ACTIVE)
			rc = begin_node(cmd, group->node[i], &p, run, rank++);
	kfree(p.run);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, begun);
}

/* ---- nettest_read ---------------------------------------------------------------------------- */

struct reading {
	struct con_node *node;
	s64 run, from, nodes, matrix;
};

static int reading_take(struct con_cmd *cmd, struct reading *r)
{
	const char *text = con_text(cmd, "nid");
	struct lnet_nid nid;

	*r = (struct reading){ .nodes = 2 };
	if (!text || lnet_nid_parse(&nid, text) || con_number(cmd, "run", 0, U32_MAX, &r->run) ||
	    con_number(cmd, "from", 0, U32_MAX, &r->from) ||
	    con_number(cmd, "nodes", 2, NETTEST_NODES_MAX, &r->nodes) ||
	    con_number(cmd, "matrix", 0, 1, &r->matrix))
		return -EINVAL;
	if (r->matrix && r->nodes > LST_NETTEST_MATRIX)
		return -E2BIG;
	r->node = con_node_find(con_session(cmd), &nid);
	return r->node ? 0 : -ENOENT;
}

static void say_row(struct con_cmd *cmd, const u8 *row)
{
	u64 out = get_unaligned_le64(row + 16);

	con_say(cmd, "- sum_ns: %llu\n  times: %u\n  bad: %u\n",
		(unsigned long long)get_unaligned_le64(row), get_unaligned_le32(row + 8),
		get_unaligned_le32(row + 12));
	if (out)
		con_say(cmd, "  noise: {sent: %llu, received: %llu}\n", (unsigned long long)out,
			(unsigned long long)get_unaligned_le64(row + 24));
}

static void say_medians(struct con_cmd *cmd, const u8 *row, u32 nr)
{
	u32 i, k;

	con_say(cmd, "  medians:\n");
	for (i = 0; i < nr; i++) {
		con_say(cmd, "  - [");
		for (k = 0; k < nr; k++)
			con_say(cmd, "%s%llu", k ? ", " : "", (unsigned long long)
				get_unaligned_le64(row + LST_NETTEST_ROW + 8 * (i * nr + k)));
		con_say(cmd, "]\n");
	}
}

static int rows_read(struct con_cmd *cmd)
{
	const struct con_rpc *r = list_first_entry(&cmd->answered, struct con_rpc, link);
	struct reading in;
	const u8 *row = r->bulk;
	u32 i, size;

	if (con_say_errors(cmd, "nettest read") || reading_take(cmd, &in))
		return 0;
	size = lst_nettest_row((u32)in.nodes, in.matrix);
	con_say(cmd, "rows:\n");
	for (i = 0; i < min(r->rpy.nettest_rpy.nr_rows, r->rpc.bulk_len / size); i++, row += size) {
		say_row(cmd, row);
		if (in.matrix)
			say_medians(cmd, row, (u32)in.nodes);
	}
	return 0;
}

static int state_read(struct con_cmd *cmd)
{
	const struct con_rpc *r = list_first_entry(&cmd->answered, struct con_rpc, link);
	const struct lst_nettest_rpy *rpy = &r->rpy.nettest_rpy;
	struct lst_msg req = nettest_req_make(con_session(cmd), LST_NETTEST_READ, rpy->run);
	struct reading in;
	u32 row, nr;

	if (con_say_errors(cmd, "nettest read"))
		return 0;
	con_say(cmd, "nettest: {over: %u, errno: %u, done: %u}\n", rpy->over, rpy->result,
		rpy->nr_done);
	if (reading_take(cmd, &in) || in.from >= rpy->nr_done)
		return 0;
	row = lst_nettest_row((u32)in.nodes, in.matrix);
	nr = min3(rpy->nr_done - (u32)in.from, ROWS_MAX, LNET_MTU / row);
	req.nettest_req.from = (u32)in.from;
	req.nettest_req.len = nr * row;
	if (!con_ask_put(cmd, in.node, &req, nr * row))
		return -ENOMEM;
	return con_then(cmd, rows_read);
}

/*
 * Arguments: nid (of node 0), run, from. The arguments nodes and matrix are as in the command
 * nettest.
 */
int con_nettest_read(struct con_cmd *cmd)
{
	struct reading in;
	struct lst_msg req;
	int rc = reading_take(cmd, &in);

	if (rc)
		return rc;
	req = nettest_req_make(con_session(cmd), LST_NETTEST_READ, (u32)in.run);
	rc = con_ask(cmd, in.node, &req, NULL, 0);
	return rc ? rc : con_then(cmd, state_read);
}

/* ---- nettest_stop ---------------------------------------------------------------------------- */

/* Stops a run at the nodes that have it. Arguments: group, run. */
int con_nettest_stop(struct con_cmd *cmd)
{
	struct con_group *group = con_group_find(con_session(cmd), con_text(cmd, "group"));
	struct lst_msg req;
	s64 run = 0;
	u32 i;
	int rc = 0;

	if (!group)
		return -ENOENT;
	if (con_number(cmd, "run", 0, U32_MAX, &run))
		return -EINVAL;
	for (i = 0; i < group->nr && !rc; i++) {
		req = nettest_req_make(con_session(cmd), LST_NETTEST_STOP, (u32)run);
		if (group->node[i]->state == CON_NODE_ACTIVE)
			rc = con_ask(cmd, group->node[i], &req, NULL, 0);
	}
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, nettest_all_stopped);
}
