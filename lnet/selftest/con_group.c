/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Groups of nodes: create, fill, list, clean. */
#include "con.h"

struct con_group *con_group_find(struct con_session *s, const char *name)
{
	struct con_group *group;

	list_for_each_entry(group, &s->groups, link)
		if (name && !strcmp(group->name, name))
			return group;
	return NULL;
}

static bool group_has(const struct con_group *group, const struct con_node *node)
{
	u32 i;

	for (i = 0; i < group->nr; i++)
		if (group->node[i] == node)
			return true;
	return false;
}

int con_group_add(struct con_group *group, struct con_node *node)
{
	u32 cap = group->cap ? 2 * group->cap : 8;
	struct con_node **new;

	if (group->nr == group->cap) {
		new = krealloc(group->node, cap * sizeof(struct con_node *), GFP_NOWAIT);
		if (!new)
			return -ENOMEM;
		group->node = new;
		group->cap = cap;
	}
	con_node_hold(node);
	group->node[group->nr++] = node;
	return 0;
}

static void group_node_drop(struct con_session *s, struct con_group *group, u32 ix)
{
	struct con_node *node = group->node[ix];

	memmove(&group->node[ix], &group->node[ix + 1],
		(group->nr - ix - 1) * sizeof(struct con_node *));
	group->nr--;
	con_node_put(s, node);
}

void con_group_free(struct con_session *s, struct con_group *group)
{
	while (group->nr)
		group_node_drop(s, group, group->nr - 1);
	list_del(&group->link);
	kfree(group->node);
	kfree(group);
}

/* ---- creating and filling -------------------------------------------------------------------- */

/* name */
int con_add_group(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *name = con_text(cmd, "name");
	struct con_group *group;

	if (!con_name_ok(name))
		return -EINVAL;
	if (con_group_find(s, name))
		return -EEXIST;
	group = kzalloc(sizeof(*group), GFP_NOWAIT);
	if (!group)
		return -ENOMEM;
	strscpy(group->name, name, LST_NAME);
	list_add_tail(&group->link, &s->groups);
	return 0;
}

static int ask_to_join(struct con_cmd *cmd, struct con_node *node)
{
	struct con_session *s = con_session(cmd);
	struct lst_msg req = { .type = LST_MAKE_SESSION_REQ, .feats = s->feats,
			       .make_session_req = { .sid = s->sid, .force = s->force,
						     .lease = s->lease,
						     .epoch = node->epoch } };

	strscpy(req.make_session_req.name, s->name, LST_NAME);
	return con_ask(cmd, node, &req, NULL, 0);
}

/*
 * A node rejects a takeover that names an older session epoch. If a node has created another
 * session since its last reply, it rejects the request and reports the new epoch. Sends such a node
 * a second request, with the new epoch. So a console takes over a node only from a session that the
 * console knows.
 */
static int group_join_retry(struct con_cmd *cmd, int (*next)(struct con_cmd *cmd))
{
	struct con_session *s = con_session(cmd);
	struct con_rpc *r, *after;

	list_for_each_entry_safe(r, after, &cmd->answered, link) {
		u32 status = r->rc ? 0 : r->rpy.status;

		if ((status == ESTALE || (status == EBUSY && s->force)) && r->node->epoch &&
		    !ask_to_join(cmd, r->node)) {
			list_del(&r->link);
			con_node_put(s, r->node);
			kfree(r);
		}
	}
	list_splice_tail_init(&cmd->answered, &cmd->kept);
	return con_then(cmd, next);
}

/* Adds all nodes that received a request to the group. Prints errors, and counts active nodes. */
static int joined(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	struct con_group *group = con_group_find(s, con_text(cmd, "name"));
	struct con_rpc *r;
	u32 nr = 0;

	list_splice_tail_init(&cmd->kept, &cmd->answered);
	if (!group)
		return -ENOENT;
	con_say_errors(cmd, "create session");
	list_for_each_entry(r, &cmd->answered, link)
		if (!group_has(group, r->node) && !con_group_add(group, r->node))
			nr += r->node->state == CON_NODE_ACTIVE;
	con_say(cmd, "joined: %u\n", nr);
	return 0;
}

static int asked(struct con_cmd *cmd)
{
	return group_join_retry(cmd, joined);
}

/*
 * A node counts the join requests of a session, and leaves the session after as many removal
 * requests. So if a node has already joined through another group, the console sends it no second
 * join request.
 */
static int member(struct con_cmd *cmd, struct con_group *group, const struct lnet_process *id)
{
	struct con_node *node = con_node_get(con_session(cmd), id);
	int rc = 0;

	if (!node)
		return -ENOMEM;
	if (node->state != CON_NODE_ACTIVE)
		rc = ask_to_join(cmd, node);
	else if (!group_has(group, node))
		rc = con_group_add(group, node);
	con_node_put(con_session(cmd), node);
	return rc;
}

/* name, nid (any number) */
int con_add_nodes(struct con_cmd *cmd)
{
	struct con_group *group = con_group_find(con_session(cmd), con_text(cmd, "name"));
	struct lnet_process id = { .pid = LNET_PID };
	const char *pos = NULL, *nid;
	u32 before;
	int rc = 0;

	if (!group)
		return -ENOENT;
	before = group->nr;
	while (!rc && (nid = con_word(cmd, "nid", &pos))) {
		rc = lnet_nid_parse(&id.nid, nid);
		if (!rc)
			rc = member(cmd, group, &id);
	}
	if (group->nr != before)
		con_say(cmd, "members: %u\n", group->nr - before);
	if (rc)
		con_say(cmd, "refused: %d\n", -rc);
	if (rc && cmd->user->memory)
		cmd->user->status = rc;
	return con_then(cmd, asked);
}

/* name */
int con_del_group(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	struct con_group *group = con_group_find(s, con_text(cmd, "name"));

	if (!group)
		return -ENOENT;
	if (group->nr_tests)
		return -EBUSY;
	con_group_free(s, group);
	return 0;
}

/* ---- updating -------------------------------------------------------------------------------- */

static int refreshed(struct con_cmd *cmd)
{
	list_splice_tail_init(&cmd->kept, &cmd->answered);
	con_say_errors(cmd, "create session");
	return 0;
}

static int refresh_asked(struct con_cmd *cmd)
{
	return group_join_retry(cmd, refreshed);
}

static int refresh(struct con_cmd *cmd, const struct con_group *group)
{
	u32 i;

	for (i = 0; i < group->nr; i++)
		if (group->node[i]->state != CON_NODE_ACTIVE)
			ask_to_join(cmd, group->node[i]);
	return con_then(cmd, refresh_asked);
}

#define STATES_ALL	(CON_NODE_ACTIVE | CON_NODE_BUSY | CON_NODE_DOWN | CON_NODE_UNKNOWN)

/*
 * Removes nodes by state. The state "invalid" means all states except active. `states' is a set of
 * states as a number.
 */
static int group_clean(struct con_cmd *cmd, struct con_group *group)
{
	const char *text = con_text(cmd, "state");
	s64 states = text ? con_node_state_parse(text) : 0;
	u32 i = 0;

	if (con_number(cmd, "states", 1, STATES_ALL, &states))
		return -EINVAL;
	if (text && !strcmp(text, "invalid"))
		states = STATES_ALL & ~CON_NODE_ACTIVE;
	if (!states)
		return -EINVAL;
	while (i < group->nr)
		if (group->node[i]->state & states)
			group_node_drop(con_session(cmd), group, i);
		else
			i++;
	return 0;
}

static int take_out(struct con_cmd *cmd, struct con_group *group)
{
	const char *pos = NULL, *text;
	struct lnet_nid nid;
	u32 i;

	while ((text = con_word(cmd, "nid", &pos))) {
		if (lnet_nid_parse(&nid, text))
			return -EINVAL;
		for (i = 0; i < group->nr; i++)
			if (lnet_nid_same(&group->node[i]->id.nid, &nid))
				break;
		if (i == group->nr)
			return -ENOENT;
		group_node_drop(con_session(cmd), group, i);
	}
	return 0;
}

/* Arguments: name, op (refresh, clean, remove), state or states, nid. */
int con_update_group(struct con_cmd *cmd)
{
	struct con_group *group = con_group_find(con_session(cmd), con_text(cmd, "name"));
	const char *op = con_text(cmd, "op");

	if (!group)
		return -ENOENT;
	if (!op)
		return -EINVAL;
	if (!strcmp(op, "refresh"))
		return refresh(cmd, group);
	if (group->nr_tests)
		return -EBUSY;
	if (!strcmp(op, "clean"))
		return group_clean(cmd, group);
	return strcmp(op, "remove") ? -EINVAL : take_out(cmd, group);
}

/* ---- showing --------------------------------------------------------------------------------- */

static void group_print(struct con_cmd *cmd, const struct con_group *group)
{
	char id[CON_ID_SIZE];
	u32 i;

	con_say(cmd, "- name: \"%s\"\n  nodes:%s\n", group->name, group->nr ? "" : " []");
	for (i = 0; i < group->nr; i++)
		con_say(cmd, "  - {id: \"%s\", state: %s, owner: \"%s\"}\n",
			con_node_id(group->node[i], id),
			con_node_state_text(group->node[i]->state), group->node[i]->owner);
}

/* name (any number; none: all) */
int con_list_group(struct con_cmd *cmd)
{
	struct con_session *s = con_session(cmd);
	const char *pos = NULL, *name = con_word(cmd, "name", &pos);
	struct con_group *group;

	con_say(cmd, "groups:%s\n", list_empty(&s->groups) ? " []" : "");
	if (!name)
		list_for_each_entry(group, &s->groups, link)
			group_print(cmd, group);
	for (; name; name = con_word(cmd, "name", &pos)) {
		group = con_group_find(s, name);
		if (!group)
			return -ENOENT;
		group_print(cmd, group);
	}
	return 0;
}
