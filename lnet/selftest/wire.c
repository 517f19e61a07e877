/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts messages of the network self-test between wire and host form, as messages.def defines
 * them.
 */
#include "wire.h"

/* A row of the table of fields: the offset of a member in wire form and in host form. */
struct field {
	u8 offset, size, nr, host;
};

enum body {
	NO_BODY,
	/* the bodies have the order of the table of layouts below */
	make_session_req, make_session_rpy, remove_session_req, remove_session_rpy, debug_req,
	debug_rpy, batch_req, batch_rpy, query_stat_req, query_stat_rpy, test_req, test_rpy,
	ping_param, pages_param, bytes_param, join_req, join_rpy, ping_req, ping_rpy, brw_req,
	brw_rpy, add_req, add_rpy, tally_req, tally_rpy, start_req, start_rpy, drill_req,
	drill_rpy,
	tree_ask_req, tree_ask_rpy, tree_tell_req, tree_tell_rpy,
	nettest_req, nettest_rpy,
	NR_BODIES
};

/* The members of the parameter bodies are inside test_req. */
#define HOST(body, member)	(offsetof(struct lst_msg, HOST_##body.member))
#define HOST_make_session_req	make_session_req
#define HOST_make_session_rpy	make_session_rpy
#define HOST_remove_session_req	remove_session_req
#define HOST_remove_session_rpy	remove_session_rpy
#define HOST_debug_req		debug_req
#define HOST_debug_rpy		debug_rpy
#define HOST_batch_req		batch_req
#define HOST_batch_rpy		batch_rpy
#define HOST_query_stat_req	query_stat_req
#define HOST_query_stat_rpy	query_stat_rpy
#define HOST_test_req		test_req
#define HOST_test_rpy		test_rpy
#define HOST_ping_param		test_req.ping_param
#define HOST_pages_param	test_req.pages_param
#define HOST_bytes_param	test_req.bytes_param
#define HOST_join_req		join_req
#define HOST_join_rpy		join_rpy
#define HOST_ping_req		ping_req
#define HOST_ping_rpy		ping_rpy
#define HOST_brw_req		brw_req
#define HOST_brw_rpy		brw_rpy
#define HOST_add_req		add_req
#define HOST_add_rpy		add_rpy
#define HOST_tally_req		tally_req
#define HOST_tally_rpy		tally_rpy
#define HOST_start_req		start_req
#define HOST_start_rpy		start_rpy
#define HOST_drill_req		drill_req
#define HOST_drill_rpy		drill_rpy
#define HOST_tree_ask_req	tree_ask_req
#define HOST_tree_ask_rpy	tree_ask_rpy
#define HOST_tree_tell_req	tree_tell_req
#define HOST_tree_tell_rpy	tree_tell_rpy
#define HOST_nettest_req	nettest_req
#define HOST_nettest_rpy	nettest_rpy

#define RPC(...)
#define FIELD(body, member, offset, size, nr)	\
	static_assert(sizeof_field(struct lst_##body, member) == (size) * (nr));	\
	static_assert((offset) + (size) * (nr) <= LST_MSG_SIZE);
#include "messages.def"
#undef FIELD

#define FIELD(body, member, offset, size, nr)	\
	{ body, { offset, size, nr, (u8)HOST(body, member) } },
static const struct {
	u8 body;
	struct field f;
} fields[] = {
#include "messages.def"
};
#undef FIELD
#undef RPC

#define FIELD(...)
#define RPC(name, id, req, rpy, portal)	{ #name, id, req, rpy, portal },
static const struct lst_rpc_kind kinds[] = {
#include "messages.def"
};
#undef RPC
#undef FIELD

static const u8 body_of_type[LST_NR_TYPES] = {
	[LST_MAKE_SESSION_REQ] = make_session_req, [LST_MAKE_SESSION_RPY] = make_session_rpy,
	[LST_REMOVE_SESSION_REQ] = remove_session_req,
	[LST_REMOVE_SESSION_RPY] = remove_session_rpy,
	[LST_DEBUG_REQ] = debug_req, [LST_DEBUG_RPY] = debug_rpy,
	[LST_BATCH_REQ] = batch_req, [LST_BATCH_RPY] = batch_rpy,
	[LST_TEST_REQ] = test_req, [LST_TEST_RPY] = test_rpy,
	[LST_QUERY_STAT_REQ] = query_stat_req, [LST_QUERY_STAT_RPY] = query_stat_rpy,
	[LST_JOIN_REQ] = join_req, [LST_JOIN_RPY] = join_rpy,
	[LST_BRW_REQ] = brw_req, [LST_BRW_RPY] = brw_rpy,
	[LST_PING_REQ] = ping_req, [LST_PING_RPY] = ping_rpy,
	[LST_ADD_REQ] = add_req, [LST_ADD_RPY] = add_rpy,
	[LST_TALLY_REQ] = tally_req, [LST_TALLY_RPY] = tally_rpy,
	[LST_START_REQ] = start_req, [LST_START_RPY] = start_rpy,
	[LST_DRILL_REQ] = drill_req, [LST_DRILL_RPY] = drill_rpy,
	[LST_TREE_ASK_REQ] = tree_ask_req, [LST_TREE_ASK_RPY] = tree_ask_rpy,
	[LST_TREE_TELL_REQ] = tree_tell_req, [LST_TREE_TELL_RPY] = tree_tell_rpy,
	[LST_NETTEST_REQ] = nettest_req, [LST_NETTEST_RPY] = nettest_rpy,
};

const struct lst_rpc_kind *lst_rpc_kind(u32 service)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].service == service)
			return &kinds[i];
	return NULL;
}

const struct lst_rpc_kind *lst_rpc_kind_of_req(u32 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].req == type)
			return &kinds[i];
	return NULL;
}

/* Copies a number of @size bytes between wire and host form. */
static void number_copy(void *to, const void *from, u32 size, bool swapped)
{
	const u8 *in = from;
	u8 *out = to;
	u32 i;

	for (i = 0; i < size; i++)
		out[i] = in[swapped ? size - 1 - i : i];
}

static void field_copy(const struct field *f, u8 *to, const u8 *from, bool swapped)
{
	u32 i;

	for (i = 0; i < f->nr; i++)
		number_copy(to + i * f->size, from + i * f->size, f->size, swapped);
}

static void body_decode(struct lst_msg *msg, const u8 *buf, enum body body)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].body == body)
			field_copy(&fields[i].f, (u8 *)msg + fields[i].f.host,
				   buf + fields[i].f.offset, msg->swapped);
}

static void body_encode(u8 *buf, const struct lst_msg *msg, enum body body)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (fields[i].body == body)
			field_copy(&fields[i].f, buf + fields[i].f.offset,
				   (const u8 *)msg + fields[i].f.host, msg->swapped);
}

/* Returns the body of the parameters that a test_req contains. */
static enum body param_of(const struct lst_msg *msg)
{
	if (msg->type != LST_TEST_REQ)
		return NO_BODY;
	if (msg->test_req.service == LST_SERVICE_PING)
		return ping_param;
	return msg->feats & LST_FEAT_BYTES ? bytes_param : pages_param;
}

static u32 msg_number_at(const struct lst_msg *msg, const u8 *buf, u32 offset)
{
	u32 v;

	number_copy(&v, buf + offset, sizeof(v), msg->swapped);
	return v;
}

/* Ends the names with a zero. On the wire, the last byte of a name may have any value. */
static void names_end(struct lst_msg *msg)
{
	switch (msg->type) {
	case LST_MAKE_SESSION_REQ:
		msg->make_session_req.name[LST_NAME - 1] = 0;
		break;
	case LST_MAKE_SESSION_RPY:
		msg->make_session_rpy.name[LST_NAME - 1] = 0;
		break;
	case LST_DEBUG_RPY:
		msg->debug_rpy.name[LST_NAME - 1] = 0;
		break;
	case LST_JOIN_REQ:
		msg->join_req.group[LST_NAME - 1] = 0;
		break;
	case LST_JOIN_RPY:
		msg->join_rpy.name[LST_NAME - 1] = 0;
		break;
	}
}

int lst_msg_decode(struct lst_msg *msg, const u8 *buf, u32 len)
{
	memset(msg, 0, sizeof(*msg));
	if (len != LST_MSG_SIZE)
		return -EMSGSIZE;
	if (msg_number_at(msg, buf, 0) != LST_MAGIC) {
		msg->swapped = true;
		if (msg_number_at(msg, buf, 0) != LST_MAGIC)
			return -EBADMSG;
	}
	msg->version = msg_number_at(msg, buf, 4);
	msg->type = msg_number_at(msg, buf, 8);
	msg->feats = msg_number_at(msg, buf, 20);
	if (msg->type >= LST_NR_TYPES || !body_of_type[msg->type])
		return -ENOMSG;
	body_decode(msg, buf, body_of_type[msg->type]);
	body_decode(msg, buf, param_of(msg));
	names_end(msg);
	return msg->version == LST_VERSION ? 0 : -EPROTO;
}

void lst_msg_encode(u8 *buf, const struct lst_msg *msg)
{
	const u32 magic = LST_MAGIC;

	memset(buf, 0, LST_MSG_SIZE);
	number_copy(buf, &magic, 4, msg->swapped);
	number_copy(buf + 4, &msg->version, 4, msg->swapped);
	number_copy(buf + 8, &msg->type, 4, msg->swapped);
	number_copy(buf + 20, &msg->feats, 4, msg->swapped);
	body_encode(buf, msg, body_of_type[msg->type]);
	body_encode(buf, msg, param_of(msg));
}

static u32 dest_offset(u32 ix)
{
	return ix / LST_DESTS_PER_PAGE * LST_PAGE + ix % LST_DESTS_PER_PAGE * LST_DEST_SIZE;
}

void lst_dest_decode(struct lst_dest *dest, const u8 *list, u32 ix, bool swapped)
{
	number_copy(&dest->nid, list + dest_offset(ix), 8, swapped);
	number_copy(&dest->pid, list + dest_offset(ix) + 8, 4, swapped);
}

void lst_dest_encode(u8 *list, u32 ix, const struct lst_dest *dest)
{
	number_copy(list + dest_offset(ix), &dest->nid, 8, false);
	number_copy(list + dest_offset(ix) + 8, &dest->pid, 4, false);
}
