/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks the arguments of ioctl 63 and converts them to a command to the console. */
#include <lnet/nid.h>
#include "stock.h"

#define WORDS_MIN	256U
#define WORD_ID		(LNET_NIDSTR_SIZE + 8U)

/* ---- words ----------------------------------------------------------------------------------- */

static bool words_fit(struct lst_stock *s, u32 more)
{
	u32 size = max(2 * s->size, WORDS_MIN);
	char *words;

	if (s->used + more <= s->size)
		return true;
	while (size < s->used + more)
		size *= 2;
	words = kvzalloc(size, GFP_KERNEL);
	if (!words) {
		s->rc = -ENOMEM;
		return false;
	}
	if (s->used)
		memcpy(words, s->words, s->used);
	kvfree(s->words);
	s->words = words;
	s->size = size;
	return true;
}

void lst_stock_verb(struct lst_stock *s, const char *name)
{
	u32 len = (u32)strlen(name) + 1;

	if (!words_fit(s, len))
		return;
	memcpy(s->words, name, len);
	s->used = len;
}

void lst_stock_word(struct lst_stock *s, const char *name, const char *fmt, ...)
{
	char line[128];
	va_list args;
	u32 len;

	if (s->rc)
		return;
	len = (u32)scnprintf(line, sizeof(line), "%s=", name);
	va_start(args, fmt);
	len += (u32)vscnprintf(line + len, sizeof(line) - len, fmt, args);
	va_end(args);
	if (!words_fit(s, len + 1))
		return;
	memcpy(s->words + s->used, line, len + 1);
	s->used += len + 1;
}

/* Adds a name from the caller's memory to the command. @len may include the final zero. */
static void name_word(struct lst_stock *s, const char *word, u64 at, s32 len)
{
	char name[LST_NAME + 1] = "";

	if (s->rc)
		return;
	if (!at || len <= 0 || len > LST_NAME) {
		s->rc = -EINVAL;
		return;
	}
	s->rc = s->caller->get(name, at, (u32)len);
	if (!s->rc && (!name[0] || strlen(name) >= LST_NAME))
		s->rc = -EINVAL;
	lst_stock_word(s, word, "%s", name);
}

static void id_word(struct lst_stock *s, u64 at)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_lst_id id;
	struct lnet_nid nid;

	s->rc = s->caller->get(&id, at, sizeof(id));
	lnet_nid_from_nid4(&nid, id.nid);
	lst_stock_word(s, "nid", "%s", lnet_nid_str(&nid, text));
}

/* Adds a word to the command for each node ID in the caller's memory. */
static void ids_words(struct lst_stock *s, u64 at, s32 count)
{
	s32 i;

	if (s->rc)
		return;
	if (!at || count <= 0 || count > (s32)LST_STOCK_IDS_MAX || at > U64_MAX / 2 ||
	    !words_fit(s, (u32)count * WORD_ID)) {
		s->rc = s->rc ? s->rc : -EINVAL;
		return;
	}
	for (i = 0; i < count && !s->rc; i++)
		id_word(s, at + (u32)i * sizeof(struct lnet_lst_id));
}

static void wait_word(struct lst_stock *s, s32 seconds)
{
	if (seconds > 0)
		lst_stock_word(s, "wait", "%d", min(seconds, 3600));
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void take_session_new(struct lst_stock *s)
{
	const struct lnet_lst_session_new *a = &s->args.session_new;

	if (!a->sid_at)
		s->rc = -EINVAL;
	lst_stock_word(s, "force", "%d", a->force != 0);
	lst_stock_word(s, "timeout", "%d", a->timeout);
	lst_stock_word(s, "feats", "%u", a->features);
	name_word(s, "name", a->name_at, a->name_len);
}

static void take_session_info(struct lst_stock *s)
{
	const struct lnet_lst_session_info *a = &s->args.session_info;

	if (!a->sid_at || !a->key_at || !a->features_at || !a->counts_at || !a->name_at ||
	    a->name_len <= 0)
		s->rc = -EINVAL;
}

static void take_nothing(struct lst_stock *s)
{
}

static void take_debug(struct lst_stock *s)
{
	const struct lnet_lst_debug *a = &s->args.debug;

	wait_word(s, a->timeout);
	switch (a->type) {
	case LNET_LST_OF_SESSION:
		break;
	case LNET_LST_OF_GROUP:
		name_word(s, "group", a->name_at, a->name_len);
		break;
	case LNET_LST_OF_NODES:
		ids_words(s, a->ids_at, a->count);
		break;
	case LNET_LST_OF_CLIENTS:
	case LNET_LST_OF_SERVERS:
		name_word(s, "batch", a->name_at, a->name_len);
		lst_stock_word(s, "server", "%d", a->type == LNET_LST_OF_SERVERS);
		break;
	default:
		s->rc = -EINVAL;
	}
}

/* ---- groups ---------------------------------------------------------------------------------- */

static void take_named(struct lst_stock *s)
{
	name_word(s, "name", s->args.named.name_at, s->args.named.name_len);
}

static void take_nodes_add(struct lst_stock *s)
{
	const struct lnet_lst_nodes_add *a = &s->args.nodes_add;

	name_word(s, "name", a->name_at, a->name_len);
	ids_words(s, a->ids_at, a->count);
}

static void take_group_update(struct lst_stock *s)
{
	const struct lnet_lst_group_update *a = &s->args.group_update;

	name_word(s, "name", a->name_at, a->name_len);
	switch (a->what) {
	case LNET_LST_CLEAN:
		lst_stock_word(s, "op", "clean");
		lst_stock_word(s, "states", "%d", a->states);
		break;
	case LNET_LST_REFRESH:
		lst_stock_word(s, "op", "refresh");
		break;
	case LNET_LST_REMOVE:
		lst_stock_word(s, "op", "remove");
		ids_words(s, a->ids_at, a->count);
		break;
	default:
		s->rc = -EINVAL;
	}
}

static void take_list(struct lst_stock *s)
{
	const struct lnet_lst_list *a = &s->args.list;

	if (a->index < 0 || a->name_len <= 0 || !a->name_at)
		s->rc = -EINVAL;
}

/*
 * If a request asks for a list of nodes (@nodes_at is not 0), the addresses @index_at and @room_at
 * must also be set.
 */
static void check_nodes(struct lst_stock *s, u64 index_at, u64 room_at, u64 nodes_at)
{
	if (!s->rc && nodes_at && (!index_at || !room_at))
		s->rc = -EINVAL;
}

static void take_group_info(struct lst_stock *s)
{
	const struct lnet_lst_group_info *a = &s->args.group_info;

	name_word(s, "name", a->name_at, a->name_len);
	check_nodes(s, a->index_at, a->room_at, a->nodes_at);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void take_batch_start(struct lst_stock *s)
{
	const struct lnet_lst_batch_run *a = &s->args.batch_run;

	name_word(s, "name", a->name_at, a->name_len);
	lst_stock_word(s, "timeout", "%d", max(a->timeout_or_force, 0));
}

static void take_batch_stop(struct lst_stock *s)
{
	const struct lnet_lst_batch_run *a = &s->args.batch_run;

	name_word(s, "name", a->name_at, a->name_len);
	lst_stock_word(s, "force", "%d", a->timeout_or_force != 0);
}

static void take_batch_query(struct lst_stock *s)
{
	const struct lnet_lst_batch_query *a = &s->args.batch_query;

	name_word(s, "name", a->name_at, a->name_len);
	lst_stock_word(s, "test", "%d", a->test);
	lst_stock_word(s, "server", "%d", !a->client);
	wait_word(s, a->timeout);
}

static void take_batch_info(struct lst_stock *s)
{
	const struct lnet_lst_batch_info *a = &s->args.batch_info;

	name_word(s, "name", a->name_at, a->name_len);
	lst_stock_word(s, "test", "%d", a->test);
	lst_stock_word(s, "server", "%d", a->server != 0);
	check_nodes(s, a->index_at, a->room_at, a->nodes_at);
}

static void take_stat_query(struct lst_stock *s)
{
	const struct lnet_lst_stat_query *a = &s->args.stat_query;

	wait_word(s, a->timeout);
	if (a->name_at)
		name_word(s, "group", a->name_at, a->name_len);
	else
		ids_words(s, a->ids_at, a->count);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void take_bulk(struct lst_stock *s, u64 at, s32 len)
{
	struct lnet_lst_bulk_param p;

	if (s->rc)
		return;
	if (!at || len < (s32)sizeof(p)) {
		s->rc = -EINVAL;
		return;
	}
	s->rc = s->caller->get(&p, at, sizeof(p));
	lst_stock_word(s, "type", "brw");
	lst_stock_word(s, "opc", "%d", p.opc);
	lst_stock_word(s, "check", "%d", p.check);
	lst_stock_word(s, "size", "%d", p.size);
	lst_stock_word(s, "off", "%d", p.client_offset);
}

static void take_test_add(struct lst_stock *s)
{
	const struct lnet_lst_test_add *a = &s->args.test_add;

	name_word(s, "batch", a->batch_at, a->batch_len);
	name_word(s, "from", a->from_at, a->from_len);
	name_word(s, "to", a->to_at, a->to_len);
	lst_stock_word(s, "loop", "%d", a->loop);
	lst_stock_word(s, "concur", "%d", a->concurrency);
	lst_stock_word(s, "dist", "%d", a->distance);
	lst_stock_word(s, "span", "%d", a->span);
	if (a->type == LNET_LST_BULK)
		take_bulk(s, a->param_at, a->param_len);
	else if (a->type == LNET_LST_PING)
		lst_stock_word(s, "type", "ping");
	else
		s->rc = -EINVAL;
}

/* ---- the operations -------------------------------------------------------------------------- */

static const struct operation {
	u32 op, len;
	const char *verb;
	void (*take)(struct lst_stock *s);
} operations[] = {
#define OP(name, member, verb, take) \
	{ LNET_LST_##name, sizeof(((union lst_stock_args *)0)->member), verb, take }
	OP(DEBUG, debug, "ping", take_debug),
	OP(SESSION_NEW, session_new, "new_session", take_session_new),
	OP(SESSION_END, session_end, "end_session", take_nothing),
	OP(SESSION_INFO, session_info, "show_session", take_session_info),
	OP(GROUP_ADD, named, "add_group", take_named),
	OP(GROUP_DEL, named, "del_group", take_named),
	OP(GROUP_LIST, list, "stock_groups", take_list),
	OP(GROUP_INFO, group_info, "stock_groups", take_group_info),
	OP(GROUP_UPDATE, group_update, "update_group", take_group_update),
	OP(NODES_ADD, nodes_add, "add_nodes", take_nodes_add),
	OP(BATCH_ADD, named, "add_batch", take_named),
	OP(BATCH_DEL, named, "del_batch", take_named),
	OP(BATCH_START, batch_run, "run", take_batch_start),
	OP(BATCH_STOP, batch_run, "stop", take_batch_stop),
	OP(BATCH_LIST, list, "stock_batches", take_list),
	OP(BATCH_INFO, batch_info, "stock_batches", take_batch_info),
	OP(BATCH_QUERY, batch_query, "query", take_batch_query),
	OP(TEST_ADD, test_add, "add_test", take_test_add),
	OP(STAT_QUERY, stat_query, "stat", take_stat_query),
#undef OP
};

static const struct operation *operation_find(u32 op)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (operations[i].op == op)
			return &operations[i];
	return NULL;
}

int lst_stock_take(struct lst_stock *s, const struct lst_stock_caller *caller, u32 op, u64 at,
		   u32 len)
{
	const struct operation *o = operation_find(op);

	memset(s, 0, sizeof(*s));
	s->caller = caller;
	s->op = op;
	if (!o)
		return -EOPNOTSUPP;
	if (!at || len < o->len)
		return -EINVAL;
	s->rc = caller->get(&s->args, at, o->len);
	if (s->rc)
		return s->rc;
	lst_stock_verb(s, o->verb);
	/*
	 * except for SESSION_INFO, the arguments of the command begin with the key of the session
	 */
	if (op != LNET_LST_SESSION_INFO)
		lst_stock_word(s, "key", "%u", (u32)s->args.session_end.key);
	o->take(s);
	return s->rc;
}

void lst_stock_end(struct lst_stock *s)
{
	kvfree(s->words);
	s->words = NULL;
}
