/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Queries of a console to nodes: their counters, and their session. */
#include "con.h"

/* ---- destinations ---------------------------------------------------------------------------- */

typedef void (*request_fn)(struct lst_msg *req, const struct con_session *s);

static int stat_node_request(struct con_cmd *cmd, struct con_node *node, request_fn make)
{
	struct lst_msg req = { .feats = con_session(cmd)->feats };

	make(&req, con_session(cmd));
	return con_ask(cmd, node, &req, NULL, 0);
}

static int stat_group_request(struct con_cmd *cmd, const struct con_group *group, request_fn make)
{
	u32 i;
	int rc = 0;

	for (i = 0; i < group->nr && !rc; i++)
		rc = stat_node_request(cmd, group->node[i], make);
	return rc;
}

static int stat_batch_request(struct con_cmd *cmd, struct con_batch *batch, request_fn make)
{
	const struct con_test *test;
	s64 server = 0;
	int rc = con_number(cmd, "server", 0, 1, &server);

	list_for_each_entry(test, &batch->tests, link)
		if (!rc)
			rc = stat_group_request(cmd, server ? test->to : test->from, make);
	return rc;
}

static void debug_request(struct lst_msg *req, const struct con_session *s)
{
	req->type = LST_DEBUG_REQ;
	req->debug_req.sid = s->sid;
}

/*
 * Queries one NID. Any node can be queried for its session; only members have counters for this
 * session.
 */
static int ask_nid(struct con_cmd *cmd, const struct lnet_nid *nid, request_fn make)
{
	struct con_session *s = con_session(cmd);
	struct lnet_process id = { .nid = *nid, .pid = LNET_PID };
	struct con_node *node = con_node_find(s, nid);
	int rc;

	if (node || make != debug_request)
		return node ? stat_node_request(cmd, node, make) : -ENOENT;
	node = con_node_get(s, &id);
	if (!node)
		return -ENOMEM;
	rc = stat_node_request(cmd, node, make);
	con_node_put(s, node);		/* the request references the node until its end */
	return rc;
}

static int ask_nids(struct con_cmd *cmd, request_fn make)
{
	const char *pos = NULL, *text;
	struct lnet_nid nid;
	int rc = 0;

	while (!rc && (text = con_word(cmd, "nid", &pos))) {
		if (lnet_nid_parse(&nid, text))
			return -EINVAL;
		rc = ask_nid(cmd, &nid, make);
	}
	return rc;
}

/*
 * Arguments: group, or batch (with server), or any number of nid. Without arguments: all nodes of
 * the session.
 */
static int ask_named(struct con_cmd *cmd, request_fn make)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "group"), *batch_name = con_text(cmd, "batch");
	struct con_group *group = con_group_find(s, name);
	struct con_batch *batch = con_batch_find(s, batch_name);
	struct con_node *node;
	int rc = 0;

	if ((name && !group) || (batch_name && !batch))
		return -ENOENT;
	if (name)
		return stat_group_request(cmd, group, make);
	if (batch)
		return stat_batch_request(cmd, batch, make);
	if (con_text(cmd, "nid"))
		return ask_nids(cmd, make);
	list_for_each_entry(node, &s->nodes, link)
		if (!rc)
			rc = stat_node_request(cmd, node, make);
	return rc;
}

/* ---- stat ------------------------------------------------------------------------------------ */

static void stat_request(struct lst_msg *req, const struct con_session *s)
{
	req->type = LST_QUERY_STAT_REQ;
	req->query_stat_req.sid = s->sid;
}

static void say_counters(struct con_cmd *cmd, const struct lst_query_stat_rpy *p)
{
	con_say(cmd, ", running_ms: %u, active_batches: %u, zombie_sessions: %u, brw_errors: %u, "
		"ping_errors: %u, rpc_errors: %u, rpcs_sent: %u, rpcs_rcvd: %u, rpcs_dropped: %u, "
		"rpcs_expired: %u, bulk_get: %llu, bulk_put: %llu", p->running_ms,
		p->active_batches, p->zombie_sessions, p->brw_errors, p->ping_errors,
		p->rpc_errors, p->rpcs_sent, p->rpcs_rcvd, p->rpcs_dropped, p->rpcs_expired,
		(unsigned long long)p->bulk_get, (unsigned long long)p->bulk_put);
	con_say(cmd, ", msgs_alloc: %u, msgs_max: %u, errors: %u, send_count: %u, recv_count: %u, "
		"route_count: %u, drop_count: %u, send_length: %llu, recv_length: %llu, "
		"route_length: %llu, drop_length: %llu", p->msgs_alloc, p->msgs_max, p->errors,
		p->send_count, p->recv_count, p->route_count, p->drop_count,
		(unsigned long long)p->send_length, (unsigned long long)p->recv_length,
		(unsigned long long)p->route_length, (unsigned long long)p->drop_length);
}

static int stat_done(struct con_cmd *cmd)
{
	char id[CON_ID_SIZE];
	const struct con_rpc *r;

	con_say(cmd, "nodes:%s\n", list_empty(&cmd->answered) ? " []" : "");
	list_for_each_entry(r, &cmd->answered, link) {
		con_say(cmd, "- {id: \"%s\", errno: %d", con_node_id(r->node, id),
			-con_rpc_error(r));
		if (!con_rpc_error(r))
			say_counters(cmd, &r->rpy.query_stat_rpy);
		con_say(cmd, "}\n");
	}
	return 0;
}

int con_stat(struct con_cmd *cmd)
{
	int rc = ask_named(cmd, stat_request);

	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, stat_done);
}

/* ---- ping ------------------------------------------------------------------------------------ */

static int node_pings_print(struct con_cmd *cmd)
{
	char id[CON_ID_SIZE], nid[LNET_NIDSTR_SIZE];
	const struct con_rpc *r;
	struct lnet_nid owner;

	con_say(cmd, "nodes:%s\n", list_empty(&cmd->answered) ? " []" : "");
	list_for_each_entry(r, &cmd->answered, link) {
		bool in = !r->rc && !r->rpy.status;

		lnet_nid_from_nid4(&owner, in ? r->rpy.debug_rpy.sid.nid : LST_NO_NID);
		con_say(cmd, "- {id: \"%s\", state: %s, errno: %d, session: \"%s\", nid: \"%s\"}\n",
			con_node_id(r->node, id), con_node_state_text(r->node->state),
			-con_rpc_error(r), in ? r->node->owner : "",
			lnet_nid_str(&owner, nid));
	}
	return 0;
}

int con_ping(struct con_cmd *cmd)
{
	int rc = ask_named(cmd, debug_request);

	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, node_pings_print);
}
