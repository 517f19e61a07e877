/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Batches that start at a scheduled time on this node's clock. The console has measured this clock.
 */
#include "service.h"

#define AHEAD_MAX_NS	(3600ULL * NSEC_PER_SEC)

static u64 batch_work_locked(struct lst *st, struct lst_batch *batch, u64 now)
{
	if (!batch->start_ns)
		return U64_MAX;
	if (batch->start_ns > now)
		return batch->start_ns;
	lst_batch_run_locked(st, batch);
	return U64_MAX;
}

u64 lst_starts_work_locked(struct lst *st, u64 now)
{
	struct lst_batch *batch;

	if (now < st->start_ns)
		return st->start_ns;
	st->start_ns = U64_MAX;
	if (!st->session)
		return U64_MAX;
	list_for_each_entry(batch, &st->session->batches, link)
		st->start_ns = min(st->start_ns, batch_work_locked(st, batch, now));
	return st->start_ns;
}

/* Schedules the start of a batch. Returns the status of the reply. */
static u32 schedule_locked(struct lst *st, struct lst_batch *batch, u64 at, u64 now)
{
	if (lst_batch_is_busy(batch))
		return EBUSY;
	if (at <= now)
		return ETIME;
	if (at - now > AHEAD_MAX_NS)
		return EINVAL;
	batch->start_ns = at;
	batch->started_ns = 0;
	st->start_ns = min(st->start_ns, at);
	return 0;
}

enum lst_verdict lst_start_serve_locked(struct lst_call *call)
{
	const struct lst_start_req *req = &call->req.start_req;
	struct lst_start_rpy *rpy = &call->rpy.start_rpy;
	struct lst *st = call->st;
	struct lst_batch *batch = NULL;

	rpy->got_ns = lst_now(st);
	rpy->status = lst_session_check_locked(call, &req->sid);
	if (!rpy->status && req->bid)
		batch = lst_batch_find(st->session, req->bid);
	if (!rpy->status && (req->bid || req->at_ns) && !batch)
		rpy->status = ENOENT;
	if (!rpy->status && req->at_ns)
		rpy->status = schedule_locked(st, batch, req->at_ns, rpy->got_ns);
	if (batch)
		rpy->started_ns = batch->started_ns;
	rpy->sid = lst_session_sid_locked(st);
	return LST_REPLY;
}
