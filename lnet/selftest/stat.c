/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Statistics that a node reports: counters of its session, of the self-test, of LNet. */
#include "service.h"

static u64 lnet_count(const struct lst *st, const char *name)
{
	uint64_t value = 0;

	lnet_counter_get(st->ln, name, &value);
	return value;
}

static void session_stat(struct lst_query_stat_rpy *rpy, const struct lst *st)
{
	const struct lst_session *s = st->session;
	const struct lst_batch *batch;

	rpy->running_ms = (u32)div_u64(lst_now(st) - s->start_ns, NSEC_PER_MSEC);
	list_for_each_entry(batch, &s->batches, link)
		rpy->active_batches += batch->nr_active != 0;
	rpy->zombie_sessions = st->nr_zombies;
	rpy->brw_errors = s->brw_errors;
	rpy->ping_errors = s->ping_errors;
}

static void own_stat(struct lst_query_stat_rpy *rpy, const struct lst *st)
{
	rpy->rpc_errors = (u32)st->c[LST_C_rpc_errors];
	rpy->rpcs_sent = (u32)st->c[LST_C_rpcs_sent];
	rpy->rpcs_rcvd = (u32)st->c[LST_C_rpcs_rcvd];
	rpy->rpcs_dropped = (u32)st->c[LST_C_rpcs_dropped];
	rpy->rpcs_expired = (u32)st->c[LST_C_rpcs_expired];
	rpy->bulk_get = st->c[LST_C_bulk_get];
	rpy->bulk_put = st->c[LST_C_bulk_put];
}

static void lnet_stat(struct lst_query_stat_rpy *rpy, const struct lst *st)
{
	rpy->msgs_alloc = (u32)lnet_count(st, "msgs_alloc");
	rpy->msgs_max = (u32)lnet_count(st, "msgs_max");
	rpy->errors = (u32)lnet_count(st, "errors");
	rpy->send_count = (u32)lnet_count(st, "send_count");
	rpy->recv_count = (u32)lnet_count(st, "recv_count");
	rpy->route_count = (u32)lnet_count(st, "route_count");
	rpy->drop_count = (u32)lnet_count(st, "drop_count");
	rpy->send_length = lnet_count(st, "send_length");
	rpy->recv_length = lnet_count(st, "recv_length");
	rpy->route_length = lnet_count(st, "route_length");
	rpy->drop_length = lnet_count(st, "drop_length");
}

enum lst_verdict lst_stat_serve_locked(struct lst_call *call)
{
	struct lst_query_stat_rpy *rpy = &call->rpy.query_stat_rpy;

	rpy->status = lst_session_check_locked(call, &call->req.query_stat_req.sid);
	rpy->sid = lst_session_sid_locked(call->st);
	if (rpy->status)
		return LST_REPLY;
	session_stat(rpy, call->st);
	own_stat(rpy, call->st);
	lnet_stat(rpy, call->st);
	return LST_REPLY;
}
