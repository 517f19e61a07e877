/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The session of a console: create, show, keep alive at its nodes, end. */
#include "con.h"
#include "tree.h"

/* ---- the end --------------------------------------------------------------------------------- */

static void batches_free(struct con_session *s)
{
	struct con_batch *batch, *next;

	list_for_each_entry_safe(batch, next, &s->batches, link)
		con_batch_free(batch);
}

/* Frees the session. If requests reference a node, the last of these requests frees the node. */
void con_session_free(struct lst *st)
{
	struct con_session *s = st->con;
	struct con_group *group, *next;
	struct con_node *node, *next_node;

	if (!s)
		return;
	st->con = NULL;
	lst_tree_end_locked(st->root);
	batches_free(s);
	list_for_each_entry_safe(group, next, &s->groups, link)
		con_group_free(s, group);
	list_for_each_entry_safe(node, next_node, &s->nodes, link)
		list_del_init(&node->link);
	kfree(s);
}

/* Sends all active nodes a request to leave the session. */
static void remove_all(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	struct con_node *node;

	list_for_each_entry(node, &s->nodes, link) {
		struct lst_msg req = { .type = LST_REMOVE_SESSION_REQ, .feats = s->feats,
				       .remove_session_req.sid = s->sid };

		if (node->state == CON_NODE_ACTIVE)
			con_ask(cmd, node, &req, NULL, 0);
	}
}

static int session_ended(struct con_cmd *cmd)
{
	con_say_errors(cmd, "end session");
	con_session_free(cmd->st);
	return 0;
}

int con_end_session(struct con_cmd *cmd)
{
	remove_all(cmd);
	con_tree_end(cmd);
	return con_then(cmd, session_ended);
}

/* ---- creating -------------------------------------------------------------------------------- */

/*
 * Returns the interval of keepalive checks. A node is queried first at half of its lease. The
 * interval is short enough for a second query before the lease ends.
 */
static u64 pinger_ns(const struct con_session *s)
{
	return (u64)min(CON_PINGER, s->lease / 4) * NSEC_PER_SEC;
}

/* Returns the NID that identifies this node in session IDs: its first NID with a four-byte form. */
u64 con_own_nid(struct lst *st)
{
	struct lnet_process id;
	unsigned int i;

	for (i = 1; !lnet_get_id(st->ln, i, &id); i++)
		if (lnet_nid_is_nid4(&id.nid))
			return lnet_nid_to_nid4(&id.nid);
	return 0;
}

/* Arguments: name, key, timeout, lease, feats, force. */
static int session_create(struct con_cmd *cmd)
{
	const char *name = con_text(cmd, "name");
	s64 key = 0, timeout = CON_TIMEOUT, lease = LST_LEASE, feats = LST_FEATS, force = 0;
	struct con_session *s;

	if (!con_name_ok(name) || cmd->st->con ||
	    con_number(cmd, "key", 0, U32_MAX, &key) || con_number(cmd, "force", 0, 1, &force) ||
	    con_number(cmd, "timeout", 1, S32_MAX, &timeout) ||
	    con_number(cmd, "lease", LST_LEASE_MIN, LST_LEASE_MAX, &lease) ||
	    con_number(cmd, "feats", 0, LST_FEATS, &feats))
		return -EINVAL;
	s = kzalloc(sizeof(*s), GFP_NOWAIT);
	if (!s)
		return -ENOMEM;
	strscpy(s->name, name, LST_NAME);
	s->key = (u32)key;
	s->timeout = (u32)timeout;
	s->lease = (u32)lease;
	s->feats = (u32)feats;
	s->force = force;
	s->generation = ++cmd->st->con_generation;
	s->used_ns = lst_now(cmd->st);
	s->pinger_ns = s->used_ns + pinger_ns(s);
	s->sid = (struct lst_sid){ cmd->own_nid, div_u64(s->used_ns, NSEC_PER_MSEC) };
	INIT_LIST_HEAD(&s->nodes);
	INIT_LIST_HEAD(&s->groups);
	INIT_LIST_HEAD(&s->batches);
	if (!con_batch_new(s, "batch")) {
		kfree(s);
		return -ENOMEM;
	}
	cmd->st->con = s;
	return 0;
}

static int made_by_force(struct con_cmd *cmd)
{
	con_session_free(cmd->st);
	return session_create(cmd);
}

/* Arguments: name, key, timeout, lease, feats, force. */
int con_new_session(struct con_cmd *cmd)
{
	struct con_session *s = cmd->st->con;
	s64 force = 0;

	if (con_number(cmd, "force", 0, 1, &force))
		return -EINVAL;
	if (!cmd->own_nid)
		return -ENETDOWN;
	if (!s)
		return session_create(cmd);
	if (!force)
		return -EEXIST;
	cmd->generation = s->generation;
	remove_all(cmd);
	con_tree_end(cmd);
	return con_then(cmd, made_by_force);
}

int con_show_session(struct con_cmd *cmd)
{
	const struct con_session *s = cmd->st->con;
	char nid[LNET_NIDSTR_SIZE];
	struct lnet_nid own;

	if (!s)
		return -ESRCH;
	lnet_nid_from_nid4(&own, s->sid.nid);
	con_say(cmd, "session: {name: \"%s\", stamp: %llu, nid: \"%s\", key: %u, features: %x, "
		"timeout: %u, lease: %u, nodes: %u}\n", s->name,
		(unsigned long long)s->sid.stamp, lnet_nid_str(&own, nid), s->key, s->feats,
		s->timeout, s->lease, s->nr_nodes);
	return 0;
}

/* ---- keeping it alive ------------------------------------------------------------------------ */

static void quiet_done(struct lst_command *user)
{
	kfree(user->answer);
	kfree(user);
}

/*
 * Creates a command that the console sends itself. NULL: no memory; the console retries in the next
 * period.
 */
static struct con_cmd *own_command(struct lst *st)
{
	struct lst_command *user = kzalloc(sizeof(*user), GFP_NOWAIT);
	struct con_cmd *cmd = kzalloc(sizeof(*cmd), GFP_NOWAIT);

	if (!user || !cmd) {
		kfree(user);
		kfree(cmd);
		return NULL;
	}
	user->request = "";
	user->len = 1;
	user->done = quiet_done;
	cmd->st = st;
	cmd->user = user;
	cmd->generation = st->con->generation;
	cmd->timeout_ns = (u64)CON_WAIT * NSEC_PER_SEC;
	INIT_LIST_HEAD(&cmd->asked);
	INIT_LIST_HEAD(&cmd->answered);
	INIT_LIST_HEAD(&cmd->kept);
	list_add_tail(&cmd->link, &st->commands);
	st->nr_commands++;
	return cmd;
}

static int session_nodes_pinged(struct con_cmd *cmd)
{
	struct con_rpc *r;

	list_for_each_entry(r, &cmd->answered, link)
		r->node->pinged = false;
	return 0;
}

/*
 * Is a keepalive query of @node due? True after half of a lease without contact, or if the node's
 * owner is unknown. A node that is down is queried also, because it may respond again.
 */
static bool node_is_idle(const struct con_session *s, const struct con_node *node, u64 now)
{
	u32 lease = node->lease ? min(node->lease, s->lease) : s->lease;

	if (node->state == CON_NODE_BUSY && !node->owner[0])
		return true;
	return (node->state == CON_NODE_ACTIVE || node->state == CON_NODE_DOWN) &&
	       node->heard_ns + (u64)lease * NSEC_PER_SEC / 2 <= now;
}

static void ping_idle(struct con_cmd *cmd, u64 now)
{
	struct con_session *s = con_session(cmd);
	struct con_node *node;

	list_for_each_entry(node, &s->nodes, link) {
		struct lst_msg req = { .type = LST_DEBUG_REQ, .feats = s->feats,
				       .debug_req.sid = s->sid };

		if (!node->pinged && node_is_idle(s, node, now))
			node->pinged = !con_ask(cmd, node, &req, NULL, 0);
	}
}

u64 con_session_work(struct lst *st, u64 now)
{
	struct con_session *s = st->con;
	struct con_cmd *cmd;

	if (!s)
		return U64_MAX;
	if (s->pinger_ns > now)
		return s->pinger_ns;
	s->pinger_ns = now + pinger_ns(s);
	cmd = st->stopping ? NULL : own_command(st);
	if (!cmd)
		return s->pinger_ns;
	if (now - s->used_ns > (u64)s->timeout * NSEC_PER_SEC && st->nr_commands == 1) {
		pr_warn("selftest: session %s was idle for %u s and is ended\n", s->name,
			s->timeout);
		s->used_ns = now;
		con_end_session(cmd);
		return s->pinger_ns;
	}
	ping_idle(cmd, now);
	con_then(cmd, session_nodes_pinged);
	return s->pinger_ns;
}
