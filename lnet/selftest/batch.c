/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Batches of tests at a node: add tests, and run, stop and query them together. */
#include "drill.h"

static const struct lst_test_ops *const tests[] = { &lst_ping_ops, &lst_brw_ops };

struct lst_batch *lst_batch_find(const struct lst_session *s, u64 bid)
{
	struct lst_batch *batch;

	list_for_each_entry(batch, &s->batches, link)
		if (batch->bid == bid)
			return batch;
	return NULL;
}

static struct lst_batch *batch_get_locked(struct lst_session *s, u64 bid)
{
	struct lst_batch *batch = lst_batch_find(s, bid);

	if (batch)
		return batch;
	batch = kzalloc(sizeof(*batch), GFP_NOWAIT);
	if (!batch)
		return NULL;
	batch->bid = bid;
	INIT_LIST_HEAD(&batch->tests);
	list_add_tail(&batch->link, &s->batches);
	return batch;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void batch_stop_locked(struct lst_batch *batch, bool force)
{
	struct lst_test *test;

	batch->stopping = true;
	batch->start_ns = 0;
	list_for_each_entry(test, &batch->tests, link)
		lst_test_stop_locked(test, force);
}

void lst_batches_stop_locked(struct lst_session *s, bool force)
{
	struct lst_batch *batch;

	list_for_each_entry(batch, &s->batches, link)
		batch_stop_locked(batch, force);
}

void lst_test_free(struct lst_test *test)
{
	u32 i;

	if (!test)
		return;
	if (test->drill)
		lst_drill_free(test->drill);
	else
		kvfree(test->tally);
	for (i = 0; test->units && i < test->nr_units; i++)
		kvfree(test->units[i].mem);
	kvfree(test->units);
	kfree(test);
}

void lst_batches_free(struct lst_session *s)
{
	struct lst_batch *batch, *next_batch;
	struct lst_test *test, *next;

	list_for_each_entry_safe(batch, next_batch, &s->batches, link) {
		list_for_each_entry_safe(test, next, &batch->tests, link)
			lst_test_free(test);
		kfree(batch);
	}
	INIT_LIST_HEAD(&s->batches);
}

/* ---- adding a test --------------------------------------------------------------------------- */

static const struct lst_test_ops *ops_of(u32 service)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (tests[i]->service == service)
			return tests[i];
	return NULL;
}

static u32 test_req_check(const struct lst_test_req *req)
{
	if (req->sid.nid == LST_NO_NID || !req->loop || !req->concur ||
	    req->concur > LST_CONCUR_MAX || req->nr_dests > LST_DESTS_MAX)
		return EINVAL;
	if (req->service <= LST_SERVICE_FRAMEWORK_LAST || (req->is_client && !req->nr_dests))
		return EINVAL;
	return 0;
}

/* May the test be added? Returns the status of the reply. */
static u32 may_add_locked(struct lst_call *call)
{
	const struct lst_test_req *req = &call->req.test_req;
	const struct lst_batch *batch;
	u32 status = test_req_check(req);

	if (!status)
		status = lst_session_check_locked(call, &req->sid);
	if (status == ESRCH || (!status && !ops_of(req->service)))
		return ENOENT;
	if (status)
		return status;
	batch = lst_batch_find(call->st->session, req->bid);
	return batch && lst_batch_is_busy(batch) ? EBUSY : 0;
}

static int units_make(struct lst_test *test, struct lst *st, const struct lst_call *call)
{
	struct lst_dest dest;
	u32 i;

	if ((u64)test->nr_dests * test->concur > LST_UNITS_MAX)
		return -ENOMEM;
	test->nr_units = test->nr_dests * test->concur;
	test->units = kvcalloc(test->nr_units, sizeof(*test->units), GFP_NOFS);
	test->tally = kvzalloc(sizeof(*test->tally), GFP_NOFS);
	if (!test->units || !test->tally)
		return -ENOMEM;
	test->tally->nr_nodes = 1;
	lst_self(st, &test->self);
	for (i = 0; i < test->nr_units; i++) {
		struct lst_unit *unit = &test->units[i];

		lst_dest_decode(&dest, call->bulk, i / test->concur, call->req.swapped);
		lnet_nid_from_nid4(&unit->dest.nid, dest.nid);
		unit->dest.pid = dest.pid;
		unit->test = test;
		unit->rpc.st = st;
		INIT_LIST_HEAD(&unit->link);
	}
	return 0;
}

/*
 * Creates a test. Returns NULL and stores -errno in *@rc if there is no memory, or if the test
 * rejects the parameters.
 */
static struct lst_test *test_make(const struct lst_call *call, int *rc)
{
	const struct lst_test_req *req = &call->req.test_req;
	struct lst_test *test = kzalloc(sizeof(*test), GFP_NOFS | __GFP_NOWARN);

	*rc = -ENOMEM;
	if (!test)
		return NULL;
	test->ops = ops_of(req->service);
	test->loop = (s32)req->loop;
	test->concur = req->concur;
	test->is_client = req->is_client;
	test->stop_onerr = req->stop_onerr;
	test->nr_dests = req->is_client ? req->nr_dests : 0;
	*rc = test->ops->take(test, &call->req);
	if (!*rc && test->is_client)
		*rc = units_make(test, call->st, call);
	if (!*rc)
		return test;
	lst_test_free(test);
	return NULL;
}

u32 lst_test_link_locked(struct lst_session *s, u64 bid, u32 index, struct lst_test *test)
{
	u32 nr_parts = test->drill ? test->drill->nr_slots : test->nr_units;

	if (s->nr_tests >= LST_TESTS_MAX || nr_parts > LST_PARTS_MAX - s->nr_parts)
		return ENOMEM;
	test->batch = batch_get_locked(s, bid);
	if (!test->batch)
		return ENOMEM;
	s->nr_tests++;
	s->nr_parts += nr_parts;
	test->session = s;
	test->index = index ? index : test->batch->nr_tests + 1;
	test->batch->nr_tests = max(test->batch->nr_tests, test->index);
	list_add_tail(&test->link, &test->batch->tests);
	return 0;
}

static u32 test_link_locked(struct lst_call *call, struct lst_test *test)
{
	struct lst_session *s = call->st->session;
	u32 status = may_add_locked(call);

	if (status)
		return status;
	return lst_test_link_locked(s, call->req.test_req.bid, 0, test);
}

/*
 * Adds the test. Checks the session again, because the session may have changed while the node
 * fetched the destinations.
 */
void lst_test_add(struct lst_call *call)
{
	struct lst_test_rpy *rpy = &call->rpy.test_rpy;
	struct lst_test *test;
	int rc;

	test = test_make(call, &rc);
	spin_lock(&call->st->lock);
	rpy->status = test ? test_link_locked(call, test) : (u32)-rc;
	rpy->sid = lst_session_sid_locked(call->st);
	spin_unlock(&call->st->lock);
	if (rpy->status)
		lst_test_free(test);
}

static void add_run(struct lst_job *job)
{
	struct lst_call *call = container_of(job, struct lst_call, job);

	lst_test_add(call);
	spin_lock(&call->st->lock);
	lst_reply_locked(call);
	spin_unlock(&call->st->lock);
}

static enum lst_verdict add_locked(struct lst_call *call)
{
	const struct lst_test_req *req = &call->req.test_req;
	struct lst_test_rpy *rpy = &call->rpy.test_rpy;

	rpy->status = may_add_locked(call);
	rpy->sid = lst_session_sid_locked(call->st);
	if (rpy->status)
		return LST_REPLY;
	if (!req->is_client) {
		lst_queue_locked(call->st, &call->job, add_run);
		return LST_LATER;
	}
	call->bulk_get = true;
	call->bulkid = req->bulkid;
	call->bulk_len = lst_dests_size(req->nr_dests);
	call->bulk_done = lst_test_add;
	return LST_BULK;
}

/* ---- run, stop, query ------------------------------------------------------------------------ */

void lst_batch_run_locked(struct lst *st, struct lst_batch *batch)
{
	struct lst_test *test;

	batch->start_ns = 0;
	if (batch->nr_active)
		return;
	batch->started_ns = lst_now(st);
	batch->stopping = false;
	list_for_each_entry(test, &batch->tests, link)
		lst_test_run_locked(test);
}

static const struct lst_test *batch_test_find(const struct lst_batch *batch, u32 index)
{
	const struct lst_test *test;

	list_for_each_entry(test, &batch->tests, link)
		if (test->index == index)
			return test;
	return NULL;
}

static u32 control_locked(struct lst_call *call)
{
	const struct lst_batch_req *req = &call->req.batch_req;
	u32 status = lst_session_check_locked(call, &req->sid);
	const struct lst_test *test = NULL;
	struct lst_batch *batch;

	if (status)
		return status;
	if ((s32)req->test < 0)
		return EINVAL;
	batch = lst_batch_find(call->st->session, req->bid);
	if (batch && req->test)
		test = batch_test_find(batch, req->test);
	if (!batch || (req->test && !test))
		return ENOENT;
	if (req->opc == LST_BATCH_RUN)
		lst_batch_run_locked(call->st, batch);
	else if (req->opc == LST_BATCH_STOP)
		batch_stop_locked(batch, req->arg);
	call->rpy.batch_rpy.active = test ? test->nr_active :
				     batch->nr_active + (batch->start_ns != 0);
	return 0;
}

enum lst_verdict lst_batch_serve_locked(struct lst_call *call)
{
	struct lst_batch_rpy *rpy = &call->rpy.batch_rpy;
	u32 opc = call->req.batch_req.opc;

	if (call->req.type == LST_TEST_REQ)
		return add_locked(call);
	if (opc < LST_BATCH_RUN || opc > LST_BATCH_QUERY)
		return LST_DROP;
	rpy->status = control_locked(call);
	rpy->sid = lst_session_sid_locked(call->st);
	return LST_REPLY;
}
