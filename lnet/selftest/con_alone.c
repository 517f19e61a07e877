/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A test without a console. Servers serve each client of the same test; clients send to the servers
 * that their command names. All such nodes are in one session, whose fixed ID belongs to no
 * console.
 */
#include "con.h"
#include "drill.h"

/* No console has this ID. */
static const struct lst_sid alone_sid = { 0x0009000000000000ULL, 0 };	/* 0@lo */

#define BID	1

struct alone {
	struct lst_job job;
	struct con_cmd *cmd;
	struct lst_plan plan;
	/* of a server: maximum concurrent transfers; 0: any number */
	u32 nr_hauls;
	u32 rest;
	/* seconds without a query of the counts, until the test ends; 0: endless */
	u32 lease;
};

/* ---- arguments ------------------------------------------------------------------------------- */

/*
 * Client and server compute the same tag from equal arguments. A server rejects requests with
 * another tag.
 */
static u64 alone_tag_of(const struct lst_plan *p)
{
	u64 tag = lst_mix(p->size + lst_mix(p->mode + lst_mix(p->off)));

	return (lst_mix(tag + p->verify + lst_mix(p->every + lst_mix(p->frags))) & S32_MAX) |
	       1U << 31;
}

/* Divides the requests to each server among the parallel parts of the test. */
static void share_loop(struct alone *a)
{
	struct lst_plan *p = &a->plan;
	u32 rest = 0;

	if (!p->loop)
		return;
	p->concur = min(p->concur, p->loop);
	p->loop = div_u64_rem(p->loop, (u32)p->concur, &rest);
	a->rest = rest;
}

static int take_servers(struct alone *a)
{
	struct lst_plan *p = &a->plan;
	struct lnet_process id = { .pid = LNET_PID };
	const char *pos = NULL, *nid;
	u32 nr = 0;

	while (con_word(a->cmd, "nid", &pos))
		nr++;
	if (!nr)
		return -EINVAL;
	p->run = kmalloc_array(nr, sizeof(*p->run), GFP_NOWAIT);
	if (!p->run)
		return -ENOMEM;
	for (pos = NULL; (nid = con_word(a->cmd, "nid", &pos));) {
		if (lnet_nid_parse(&id.nid, nid))
			return -EINVAL;
		lst_runs_add(p->run, &p->nr_runs, &id);
	}
	p->map = LST_MAP_SPREAD;
	p->dist = 1;
	p->nr_to = p->span = nr;
	return 0;
}

/*
 * Arguments: those of bulk tests (plan.def), server (0 or 1), count, lease, and any number of nid.
 */
static int alone_args_read(struct alone *a)
{
	struct con_test test = { 0 };
	s64 server = 0, count = 0, lease = 0;
	int rc = con_drill_take(a->cmd, &test, "bulk");

	if (test.plan)
		a->plan = *test.plan;
	kfree(test.plan);
	if (rc || con_number(a->cmd, "server", 0, 1, &server) ||
	    con_number(a->cmd, "count", 0, LST_CALLS_MAX, &count) ||
	    con_number(a->cmd, "lease", 0, LST_LEASE_MAX, &lease))
		return rc ? rc : -EINVAL;
	a->plan.server = server;
	a->plan.bid = BID;
	a->plan.index = a->plan.nr_from = a->plan.nr_to = 1;
	a->plan.tag = alone_tag_of(&a->plan);
	a->nr_hauls = (u32)count;
	a->lease = (u32)lease;
	share_loop(a);
	return server ? 0 : take_servers(a);
}

/* ---- start ----------------------------------------------------------------------------------- */

static int alone_begin_locked(struct alone *a, struct lst_test *test)
{
	struct lst *st = a->cmd->st;
	struct lst_msg msg = { .feats = LST_FEATS, .make_session_req.sid = alone_sid };
	u32 status;

	if (st->stopping)
		return -ESHUTDOWN;
	if (st->session)
		return -EBUSY;
	strscpy(msg.make_session_req.name, a->plan.server ? "bulk_server" : "bulk_write", LST_NAME);
	status = lst_session_make_locked(st, &msg);
	if (status)
		return -(int)status;
	st->session->lease = a->lease;
	test->drill->most_hauls = a->nr_hauls;
	test->drill->rest = a->rest;
	status = lst_test_link_locked(st->session, BID, 1, test);
	if (status) {
		lst_session_end_locked(st, LEASE_REMOVED);
		return -(int)status;
	}
	list_add_tail(&test->drill->link, &st->drills);
	lst_test_run_locked(test);
	return 0;
}

static void alone_begin_run(struct lst_job *job)
{
	struct alone *a = container_of(job, struct alone, job);
	struct lst_test *test = kzalloc(sizeof(*test), GFP_NOFS);
	struct lst *st = a->cmd->st;
	int rc = test ? lst_drill_make(test, st, &alone_sid, &a->plan) : -ENOMEM;

	if (!rc)
		rc = lst_serve_drills(st);
	spin_lock(&st->lock);
	if (!rc)
		rc = alone_begin_locked(a, test);
	con_finish_locked(a->cmd, rc);
	spin_unlock(&st->lock);
	if (rc)
		lst_test_free(test);
	kvfree(a->plan.run);
	kfree(a);
}

int con_alone_start(struct con_cmd *cmd)
{
	struct alone *a = kzalloc(sizeof(*a), GFP_NOWAIT);
	int rc;

	if (!a)
		return -ENOMEM;
	a->cmd = cmd;
	rc = alone_args_read(a);
	if (rc) {
		kvfree(a->plan.run);
		kfree(a);
		return rc;
	}
	lst_queue_locked(cmd->st, &a->job, alone_begin_run);
	return -EINPROGRESS;
}

/* ---- counts and end -------------------------------------------------------------------------- */

static struct lst_test *test_of(const struct lst *st)
{
	struct lst_batch *batch;

	if (!st->session || !lst_sid_same(&st->session->sid, &alone_sid))
		return NULL;
	batch = lst_batch_find(st->session, BID);
	return batch ? list_first_entry_or_null(&batch->tests, struct lst_test, link) : NULL;
}

int con_alone_stop(struct con_cmd *cmd)
{
	if (!test_of(cmd->st))
		return -ESRCH;
	lst_session_end_locked(cmd->st, LEASE_REMOVED);
	return 0;
}

static void alone_flow_print(struct con_cmd *cmd, const char *name, const struct lst_flow *flow)
{
	con_say(cmd, "  %s_bytes: %llu\n  %s_first_ns: %llu\n  %s_last_ns: %llu\n", name,
		(unsigned long long)flow->bytes, name, (unsigned long long)flow->first_ns, name,
		(unsigned long long)flow->last_ns);
}

/* Replies with the counts of the test. This query renews the lease of the session. */
int con_alone_tally(struct con_cmd *cmd)
{
	struct lst_test *test = test_of(cmd->st);
	const struct lst_drill *drill;

	if (!test)
		return -ESRCH;
	cmd->st->session->used_ns = lst_now(cmd->st);
	drill = test->drill;
	con_say(cmd, "alone:\n  role: %s\n  size: %llu\n  running: %u\n",
		test->is_client ? "client" : "server", (unsigned long long)drill->plan.size,
		test->nr_active);
	if (test->is_client) {
		con_say(cmd, "  servers: %u\n  most_at_once: %u\ntally:\n", drill->nr_dests,
			drill->max_asked);
		con_tally_say(cmd, "alone", 1, "bulk", test->tally);
		return 0;
	}
	con_say(cmd, "  served: %llu\n  busy: %u\n  waiting: %u\n  most_at_once: %u\n"
		"  found: %llu\n", (unsigned long long)drill->nr_served, drill->nr_hauls,
		drill->nr_queued, drill->max_hauls, (unsigned long long)drill->finding.nr);
	alone_flow_print(cmd, "to", &drill->to_node);
	alone_flow_print(cmd, "from", &drill->from_node);
	return 0;
}
