/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes of a session at its console. */
#include "con.h"

static const struct {
	u8 state;
	const char *text;
} states[] = {
#define UNIT(name)
#define NODE(name, number, text)	{ number, text },
#define BATCH(name, text)
#include "states.def"
#undef UNIT
#undef NODE
#undef BATCH
};

const char *con_node_id(const struct con_node *node, char buf[CON_ID_SIZE])
{
	return lnet_id_str(node->id.pid, &node->id.nid, buf);
}

const char *con_node_state_text(u8 state)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].state == state)
			return states[i].text;
	return "";
}

static char char_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

u8 con_node_state_parse(const char *text)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(states); i++)
		if (char_lower(states[i].text[0]) == text[0] &&
		    !strcmp(states[i].text + 1, text + 1))
			return states[i].state;
	return 0;
}

struct con_node *con_node_find(struct con_session *s, const struct lnet_nid *nid)
{
	struct con_node *node;

	list_for_each_entry(node, &s->nodes, link)
		if (lnet_nid_same(&node->id.nid, nid))
			return node;
	return NULL;
}

struct con_node *con_node_get(struct con_session *s, const struct lnet_process *id)
{
	struct con_node *node = con_node_find(s, &id->nid);

	if (node) {
		con_node_hold(node);
		return node;
	}
	if (s->nr_nodes == CON_NODES_MAX)
		return NULL;
	node = kzalloc(sizeof(*node), GFP_NOWAIT);
	if (!node)
		return NULL;
	node->id = *id;
	node->refs = 1;
	node->state = CON_NODE_UNKNOWN;
	list_add_tail(&node->link, &s->nodes);
	s->nr_nodes++;
	return node;
}

void con_node_hold(struct con_node *node)
{
	node->refs++;
}

/*
 * Drops a reference to @node. If @s is NULL, the session has ended, and @node is not in its list.
 */
void con_node_put(struct con_session *s, struct con_node *node)
{
	if (--node->refs)
		return;
	list_del(&node->link);
	if (s)
		s->nr_nodes--;
	kfree(node);
}

/*
 * May a name have this character? The console prints names in quotes, but nodes may report names
 * with any bytes.
 */
static bool char_is_plain(char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

bool con_name_ok(const char *name)
{
	u32 len = 0;

	if (!name || !*name)
		return false;
	for (; name[len]; len++)
		if (len == LST_NAME - 1 || !char_is_plain(name[len]))
			return false;
	return true;
}

static void owner_set(struct con_node *node, const char *name)
{
	char *c;

	strscpy(node->owner, name, LST_NAME);
	for (c = node->owner; *c; c++)
		if (!char_is_plain(*c))
			*c = '?';
}

/* Returns the state of a node, from its reply to MAKE_SESSION or DEBUG. */
static u8 state_told(const struct lst *st, const struct lst_sid *sid, u32 status)
{
	if (lst_sid_same(sid, &st->con->sid))
		return CON_NODE_ACTIVE;
	return status == EBUSY || sid->nid != LST_NO_NID ? CON_NODE_BUSY : CON_NODE_UNKNOWN;
}

static u8 owner_told(struct lst *st, struct con_node *node, const struct lst_sid *sid,
		     u32 status, const char *name)
{
	node->owner_nid = sid->nid;
	owner_set(node, name);
	return state_told(st, sid, status);
}

/* Another console has taken over the node. The reply of the node does not name the new session. */
static void node_taken_over(struct con_node *node)
{
	node->state = CON_NODE_BUSY;
	node->owner_nid = LST_NO_NID;
}

void con_node_heard(struct lst *st, struct con_node *node, const struct lst_rpc *rpc, int rc,
		    const struct lst_msg *rpy)
{
	if (rc) {
		if (rc != -ESHUTDOWN && rc != -ECANCELED)
			node->state = CON_NODE_DOWN;
		return;
	}
	node->owner[0] = 0;
	switch (rpy->type) {
	case LST_MAKE_SESSION_RPY:
		node->state = owner_told(st, node, &rpy->make_session_rpy.sid, rpy->status,
					 rpy->make_session_rpy.name);
		node->epoch = rpy->make_session_rpy.epoch;
		node->lease = rpy->make_session_rpy.timeout;
		break;
	case LST_DEBUG_RPY:
		node->state = owner_told(st, node, &rpy->debug_rpy.sid, rpy->status,
					 rpy->debug_rpy.name);
		node->epoch = rpy->debug_rpy.epoch;
		break;
	case LST_REMOVE_SESSION_RPY:
		node->state = CON_NODE_UNKNOWN;
		break;
	default:
		if (rpy->status == ESTALE)
			node_taken_over(node);
		else if (rpy->status == ESRCH)
			node->state = CON_NODE_UNKNOWN;
		else if (node->state == CON_NODE_DOWN)
			node->state = CON_NODE_ACTIVE;
	}
	if (node->state == CON_NODE_ACTIVE)
		node->heard_ns = lst_now(st);
}
