/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the reply of the console into the memory of the process that called ioctl 63. */
#include <lnet/nid.h>
#include "stock.h"

static_assert(offsetof(struct lnet_lst_result, payload) == LNET_LST_RESULT_PAYLOAD);
static_assert(sizeof(struct lnet_lst_stat) == 64);
static_assert(sizeof(struct lnet_lst_counters) == 116);
static_assert(sizeof(struct lnet_lst_node) == 24);
static_assert(sizeof(struct lnet_lst_side) == 52);
static_assert(sizeof(struct lnet_lst_test_add) == 104);
static_assert(sizeof(struct lnet_lst_debug) == 56);

static struct lnet_lst_id id_of(const struct lnet_process *id)
{
	struct lnet_lst_id out = { .nid = LST_NO_NID, .pid = id->pid ? id->pid : LNET_PID };

	if (lnet_nid_is_nid4(&id->nid))
		out.nid = lnet_nid_to_nid4(&id->nid);
	return out;
}

static struct lnet_lst_sid sid_of(const struct lst_sid *sid)
{
	return (struct lnet_lst_sid){ sid->nid, (__s64)sid->stamp };
}

static struct lnet_lst_counts counts_of(const struct lst_view_counts *c)
{
	return (struct lnet_lst_counts){ (s32)c->total, (s32)c->active, (s32)c->busy,
					 (s32)c->down, (s32)c->unknown };
}

static int caller_write(const struct lst_stock *s, u64 at, const void *data, u32 len)
{
	return s->caller->put(at, data, len);
}

/* Writes a name and a zero byte; truncates a name that does not fit. */
static int name_put(const struct lst_stock *s, u64 at, s32 room, const char *name)
{
	char out[LST_NAME];
	u32 len = min((u32)strlen(name) + 1, (u32)room);

	memcpy(out, name, len);
	out[len - 1] = 0;
	return caller_write(s, at, out, len);
}

/* ---- results of nodes ------------------------------------------------------------------------ */

static const struct lst_result *results_of(const struct lst_command *cmd)
{
	u32 len = cmd->memory->nr_results * (u32)sizeof(struct lst_result);

	return (const void *)(cmd->answer + cmd->used - len);
}

static void payload_put(struct lst_stock *s, u64 at, const struct lst_result *r)
{
	u64 payload = at + LNET_LST_RESULT_PAYLOAD;

	if (r->rc || s->rc)
		return;
	if (s->op == LNET_LST_STAT_QUERY)
		s->rc = caller_write(s, payload, &r->counters, sizeof(r->counters));
	else if (s->op == LNET_LST_DEBUG)
		s->rc = caller_write(s, payload, r->owner, LST_NAME);
}

static void result_put(struct lst_stock *s, u64 at, const struct lst_result *r)
{
	struct lnet_lst_result out;
	const u32 from = offsetof(struct lnet_lst_result, peer);

	memset(&out, 0, sizeof(out));
	out.peer = id_of(&r->id);
	out.state = (s32)r->state;
	out.rpc_errno = -r->rc;
	out.sid = sid_of(&r->sid);
	out.remote_errno = r->rc ? 0 : (s32)r->status;
	out.private_[0] = (s32)r->active;
	s->rc = caller_write(s, at + from, &out.peer, LNET_LST_RESULT_PAYLOAD - from);
	payload_put(s, at, r);
}

/*
 * Writes the results into a list that the caller has prepared at @head, with an item per expected
 * node. If the list is shorter, the results end at its last item. If the list has a loop, the
 * number of results ends the function. An invalid address fails with -EFAULT.
 */
static void results_put(struct lst_stock *s, const struct lst_command *cmd, u64 head)
{
	const struct lst_result *r = results_of(cmd);
	u64 at = 0;
	u32 i;

	if (!head)
		return;
	s->rc = s->caller->get(&at, head, sizeof(at));
	for (i = 0; i < cmd->memory->nr_results && at != head && !s->rc; i++) {
		result_put(s, at, &r[i]);
		if (!s->rc)
			s->rc = s->caller->get(&at, at, sizeof(at));
	}
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* Returns the index of the operation's counter that counts @r. */
static unsigned int counter_of(const struct lst_stock *s, const struct lst_result *r)
{
	switch (s->op) {
	case LNET_LST_DEBUG:
		return r->state == 1 ? 0 : r->state == 2 ? 1 : 2;
	case LNET_LST_BATCH_QUERY:
		return r->status ? 2 : r->active ? 1 : 0;
	default:
		return r->status ? 1 : 0;
	}
}

static void stat_add(const struct lst_stock *s, struct lnet_lst_stat *stat,
		     const struct lst_result *r)
{
	stat->rpc[0]++;
	stat->rpc[r->rc ? 2 : 1]++;
	if (r->rc) {
		stat->rpc_errno = stat->rpc_errno ? stat->rpc_errno : -r->rc;
		return;
	}
	stat->remote[counter_of(s, r)]++;
	if (!stat->remote_errno)
		stat->remote_errno = (s32)r->status;
}

static void stat_put(struct lst_stock *s, const struct lst_command *cmd, u64 at, u32 len)
{
	const struct lst_result *r = results_of(cmd);
	struct lnet_lst_stat stat;
	u32 i;

	memset(&stat, 0, sizeof(stat));
	for (i = 0; i < cmd->memory->nr_results; i++)
		stat_add(s, &stat, &r[i]);
	if (at && len && !s->rc)
		s->rc = caller_write(s, at, &stat, min(len, (u32)sizeof(stat)));
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void sid_put(struct lst_stock *s, u64 at, const struct lst_view_session *view)
{
	struct lnet_lst_sid sid = sid_of(&view->sid);

	s->rc = caller_write(s, at, &sid, sizeof(sid));
}

static void give_session_info(struct lst_stock *s, const struct lst_view_session *view)
{
	const struct lnet_lst_session_info *a = &s->args.session_info;
	struct lnet_lst_counts counts = counts_of(&view->counts);

	sid_put(s, a->sid_at, view);
	if (!s->rc)
		s->rc = caller_write(s, a->key_at, &view->key, sizeof(view->key));
	if (!s->rc)
		s->rc = caller_write(s, a->features_at, &view->feats, sizeof(view->feats));
	if (!s->rc)
		s->rc = caller_write(s, a->counts_at, &counts, sizeof(counts));
	if (!s->rc)
		s->rc = name_put(s, a->name_at, a->name_len, view->name);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Writes the name of one item of the reply. The items have @size bytes, and no nodes. */
static void give_name(struct lst_stock *s, const struct lst_command *cmd, u32 size)
{
	const struct lnet_lst_list *a = &s->args.list;
	u64 at = (u64)(u32)a->index * size;

	/* Both kinds of items begin with the name. */
	s->rc = at + size > cmd->used ? -ENOENT :
		name_put(s, a->name_at, a->name_len, cmd->answer + at);
}

/*
 * Writes nodes from index *@index_at on, as many as fit. Updates the index and the number of free
 * places.
 */
static void nodes_put(struct lst_stock *s, const struct lst_view_node *node, u32 nr, u64 index_at,
		      u64 room_at, u64 at)
{
	struct lnet_lst_node out;
	s32 index = 0, room = 0, given;

	s->rc = s->caller->get(&index, index_at, sizeof(index));
	if (!s->rc)
		s->rc = s->caller->get(&room, room_at, sizeof(room));
	if (!s->rc && (index < 0 || room <= 0 || (u32)index > nr))
		s->rc = -EINVAL;
	for (given = 0; !s->rc && given < room && (u32)index < nr; given++, index++) {
		memset(&out, 0, sizeof(out));
		out.id = id_of(&node[index].id);
		out.state = (s32)node[index].state;
		s->rc = caller_write(s, at + (u32)given * sizeof(out), &out, sizeof(out));
	}
	if (!s->rc)
		s->rc = caller_write(s, index_at, &index, sizeof(index));
	if (!s->rc)
		s->rc = caller_write(s, room_at, &given, sizeof(given));
}

static void give_group(struct lst_stock *s, const struct lst_view_group *view)
{
	const struct lnet_lst_group_info *a = &s->args.group_info;
	struct lnet_lst_counts counts = counts_of(&view->counts);

	if (a->counts_at)
		s->rc = caller_write(s, a->counts_at, &counts, sizeof(counts));
	if (!s->rc && a->nodes_at)
		nodes_put(s, (const void *)(view + 1), view->nr, a->index_at, a->room_at,
			  a->nodes_at);
}

static void give_batch(struct lst_stock *s, const struct lst_view_batch *view)
{
	const struct lnet_lst_batch_info *a = &s->args.batch_info;
	struct lnet_lst_side side;

	memset(&side, 0, sizeof(side));
	side.clients = counts_of(&view->clients);
	side.servers = counts_of(&view->servers);
	if (view->is_test) {
		side.test.type = view->is_ping ? LNET_LST_PING : LNET_LST_BULK;
		side.test.loop = view->loop;
		side.test.concurrency = (s32)view->concur;
	} else {
		side.batch.state = view->running ? LNET_LST_BATCH_RUNNING : LNET_LST_BATCH_IDLE;
		side.batch.nr_tests = (s32)view->nr_tests;
	}
	if (a->side_at)
		s->rc = caller_write(s, a->side_at, &side, sizeof(side));
	if (!s->rc && a->nodes_at)
		nodes_put(s, (const void *)(view + 1), view->nr, a->index_at, a->room_at,
			  a->nodes_at);
}

/* ---- each operation -------------------------------------------------------------------------- */

static void stock_reply_write(struct lst_stock *s, const struct lst_command *cmd)
{
	const struct lst_view_session *session = &cmd->memory->session;
	const union lst_stock_args *a = &s->args;
	const s32 zero = 0;

	switch (s->op) {
	case LNET_LST_SESSION_NEW: sid_put(s, a->session_new.sid_at, session); break;
	case LNET_LST_SESSION_INFO: give_session_info(s, session); break;
	case LNET_LST_GROUP_LIST: give_name(s, cmd, sizeof(struct lst_view_group)); break;
	case LNET_LST_BATCH_LIST: give_name(s, cmd, sizeof(struct lst_view_batch)); break;
	case LNET_LST_GROUP_INFO: give_group(s, (const void *)cmd->answer); break;
	case LNET_LST_BATCH_INFO: give_batch(s, (const void *)cmd->answer); break;
	case LNET_LST_DEBUG: results_put(s, cmd, a->debug.results_at); break;
	case LNET_LST_GROUP_UPDATE: results_put(s, cmd, a->group_update.results_at); break;
	case LNET_LST_BATCH_START:
	case LNET_LST_BATCH_STOP: results_put(s, cmd, a->batch_run.results_at); break;
	case LNET_LST_BATCH_QUERY: results_put(s, cmd, a->batch_query.results_at); break;
	case LNET_LST_STAT_QUERY: results_put(s, cmd, a->stat_query.results_at); break;
	case LNET_LST_NODES_ADD:
		if (a->nodes_add.features_at)
			s->rc = caller_write(s, a->nodes_add.features_at, &session->feats, 4);
		if (!s->rc)
			results_put(s, cmd, a->nodes_add.results_at);
		break;
	case LNET_LST_TEST_ADD:
		if (a->test_add.returned_at)
			s->rc = caller_write(s, a->test_add.returned_at, &zero, sizeof(zero));
		if (!s->rc)
			results_put(s, cmd, a->test_add.results_at);
		break;
	}
}

int lst_stock_give(struct lst_stock *s, const struct lst_command *cmd, u64 at, u32 len)
{
	s->rc = 0;
	stock_reply_write(s, cmd);
	stat_put(s, cmd, at, len);
	return s->rc;
}
