/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parallel parts of a test at its client: each sends one request after another. */
#include "drill.h"

static void unit_end_locked(struct lst_unit *unit)
{
	struct lst_test *test = unit->test;

	unit->state = LST_UNIT_IDLE;
	if (!--test->nr_active)
		test->batch->nr_active--;
	lst_session_put_locked(unit->rpc.st, test->session);
}

static void request_run(struct lst_job *job);

static void unit_next_locked(struct lst_unit *unit)
{
	if (unit->test->batch->stopping || !unit->loop) {
		unit_end_locked(unit);
		return;
	}
	unit->state = LST_UNIT_RUN;
	lst_queue_locked(unit->rpc.st, &unit->job, request_run);
}

static void pause_locked(struct lst_unit *unit)
{
	struct lst *st = unit->rpc.st;

	unit->state = LST_UNIT_PAUSE;
	unit->resume_ns = lst_now(st) + LST_PAUSE_NS;
	list_add_tail(&unit->link, &st->paused);
}

static void unit_tally_locked(struct lst_unit *unit, int rc)
{
	struct lst_tally *t = unit->test->tally;
	const struct lst_test *test = unit->test;

	t->c[LST_T_under_way]--;
	t->last_ns = unit->rpc.end_ns;
	if (!unit->answered) {
		t->c[LST_T_lost]++;
		return;
	}
	t->c[LST_T_received]++;
	t->c[LST_T_corrupt] += rc == -EBADMSG;
	t->c[LST_T_refused] += rc && rc != -EBADMSG;
	lst_tally_time(t, unit->rpc.end_ns - unit->rpc.start_ns, &test->self);
	if (test->ops == &lst_brw_ops && (!rc || rc == -EBADMSG))
		t->c[test->opc == LST_BRW_READ ? LST_T_bytes_in : LST_T_bytes_out] += test->len;
}

/* Counts an error. Requests that were cancelled because the test stops are no errors. */
static void count_locked(struct lst_unit *unit, int rc)
{
	struct lst_session *s = unit->test->session;

	if (!rc || rc == -ECANCELED || rc == -ESHUTDOWN)
		return;
	if (unit->test->ops == &lst_ping_ops)
		s->ping_errors++;
	else
		s->brw_errors++;
}

static void result_locked(struct lst_unit *unit, int rc)
{
	count_locked(unit, rc);
	if (unit->loop > 0)
		unit->loop--;
	if (rc && unit->test->stop_onerr)
		unit->loop = 0;
	if (rc && unit->loop && !unit->test->batch->stopping)
		pause_locked(unit);
	else
		unit_next_locked(unit);
}

static void on_unit_done(struct lst_rpc *rpc)
{
	struct lst_unit *unit = container_of(rpc, struct lst_unit, rpc);
	struct lst_msg rpy;
	int rc = lst_rpc_result(rpc, &rpy);

	unit->answered = !rc;
	if (!rc)
		rc = rpy.status ? -(int)min(rpy.status, 4095u) :
				  unit->test->ops->finish(unit, &rpy);
	spin_lock(&rpc->st->lock);
	unit_tally_locked(unit, rc);
	result_locked(unit, rc);
	spin_unlock(&rpc->st->lock);
}

static void unit_post_locked(struct lst_unit *unit, struct lst_msg *req)
{
	struct lst_tally *t = unit->test->tally;

	lst_rpc_post_locked(&unit->rpc, req, LST_RPC_TIMEOUT_NS);
	t->c[LST_T_sent]++;
	t->c[LST_T_under_way]++;
	if (!t->first_ns)
		t->first_ns = unit->rpc.start_ns;
	t->last_ns = max(t->last_ns, unit->rpc.start_ns);
}

static void request_run(struct lst_job *job)
{
	struct lst_unit *unit = container_of(job, struct lst_unit, job);
	struct lst *st = unit->rpc.st;
	struct lst_msg req = { .feats = unit->test->session->feats };
	int rc;

	spin_lock(&st->lock);
	lst_rpc_init_locked(&unit->rpc, st, &unit->dest);
	unit->rpc.done = on_unit_done;
	spin_unlock(&st->lock);
	rc = unit->test->ops->prepare(unit, &req);
	spin_lock(&st->lock);
	if (unit->test->batch->stopping)
		unit_end_locked(unit);
	else if (rc)
		result_locked(unit, rc);
	else
		unit_post_locked(unit, &req);
	spin_unlock(&st->lock);
}

void lst_test_run_locked(struct lst_test *test)
{
	u32 i;

	if (test->drill)
		lst_drill_run_locked(test->drill);
	if (!test->nr_units)
		return;
	lst_tally_init(test->tally);
	test->tally->nr_nodes = 1;
	test->batch->nr_active++;
	test->nr_active = test->nr_units;
	test->session->nr_running += test->nr_units;
	for (i = 0; i < test->nr_units; i++) {
		test->units[i].loop = test->loop;
		unit_next_locked(&test->units[i]);
	}
}

/* The batch is stopping. */
void lst_test_stop_locked(struct lst_test *test, bool force)
{
	u32 i;

	if (test->drill)
		lst_drill_stop_locked(test->drill, force);
	for (i = 0; i < test->nr_units; i++) {
		struct lst_unit *unit = &test->units[i];

		if (unit->state == LST_UNIT_PAUSE) {
			list_del_init(&unit->link);
			unit_end_locked(unit);
		} else if (unit->state == LST_UNIT_RUN && force) {
			lst_rpc_fail_locked(&unit->rpc, -ECANCELED);
		}
	}
}

void lst_units_resume_locked(struct lst *st, u64 now)
{
	struct lst_unit *unit, *next;

	list_for_each_entry_safe(unit, next, &st->paused, link) {
		if (unit->resume_ns > now)
			return;
		list_del_init(&unit->link);
		unit_next_locked(unit);
	}
}
