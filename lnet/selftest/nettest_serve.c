/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node's part in a NETTEST run of a session. The console creates, starts, stops and reads the
 * run.
 */
#include "nettest_serve.h"

struct lst_nettest {
	struct lst *st;
	struct list_head link;		/* st->nettests */
	struct lst_job job;
	struct nettest *nt;		/* NULL: creation failed */
	struct nettest_cfg cfg;
	struct lnet_process *node;	/* all, by number */
	bool started;			/* START was received */
	bool start, stop;		/* for the job */
	bool over, gone;		/* the engine reported it */
	u32 busy;			/* threads that use @nt without the lock */
	int status;
	u64 next_ns;
	/* at node 0: results, with a row for each completed measure */
	u32 nr_done, row_size;
	bool matrix;
	u8 *rows;
	u64 *median;
	struct lst_tally tally;
};

/* ---- the plan -------------------------------------------------------------------------------- */

#define VERSION		2U
#define NUMBERS		14U
#define HEAD_SIZE	(4U * NUMBERS)
#define RUN_SIZE	28U

u32 lst_nettest_encode(const struct lst_nettest_plan *p, u8 *buf)
{
	const struct nettest_plan *plan = &p->plan;
	const u32 numbers[NUMBERS] = { VERSION, p->nr_runs, p->nr, plan->least, plan->most,
				       plan->step, plan->factor, plan->repeats, plan->times,
				       plan->check | (u32)p->matrix << 8, plan->patterns,
				       plan->noise, plan->noise_pairs, plan->noise_depth };
	u32 i;

	if (!buf)
		return HEAD_SIZE + p->nr_runs * RUN_SIZE;
	for (i = 0; i < NUMBERS; i++, buf += 4)
		put_unaligned_le32(numbers[i], buf);
	for (i = 0; i < p->nr_runs; i++, buf += RUN_SIZE) {
		memcpy(buf, &p->run[i].first.nid, sizeof(struct lnet_nid));
		put_unaligned_le32(p->run[i].first.pid, buf + 20);
		put_unaligned_le32(p->run[i].nr, buf + 24);
	}
	return HEAD_SIZE + p->nr_runs * RUN_SIZE;
}

/*
 * Decodes the list of nodes, by number. The caller frees it with kvfree(). If there are not exactly
 * @nr nodes, returns NULL, and stores -errno in *@rcp.
 */
static struct lnet_process *nodes_decode(const u8 *buf, u32 nr_runs, u32 nr, int *rcp)
{
	struct lnet_process *node = kvcalloc(nr, sizeof(*node), GFP_NOFS);
	u32 i, k, at = 0;

	*rcp = node ? 0 : -ENOMEM;
	for (i = 0; i < nr_runs && !*rcp; i++, buf += RUN_SIZE) {
		struct lst_run run = { .nr = get_unaligned_le32(buf + 24) };

		memcpy(&run.first.nid, buf, sizeof(struct lnet_nid));
		run.first.pid = get_unaligned_le32(buf + 20);
		if (!lnet_nid_is_sane(&run.first.nid) || lnet_nid_is_any(&run.first.nid) ||
		    !run.nr || run.nr > nr - at)
			*rcp = -EINVAL;
		for (k = 0; k < run.nr && !*rcp; k++)
			lst_runs_at(&run, 1, k, &node[at++]);
	}
	if (!*rcp && at != nr)
		*rcp = -EINVAL;
	if (!*rcp)
		return node;
	kvfree(node);
	return NULL;
}

static int nettest_plan_decode(struct lst_nettest *n, const u8 *buf, u32 len)
{
	struct nettest_plan *plan = &n->cfg.plan;
	u32 x[NUMBERS], i;
	int rc;

	if (len < HEAD_SIZE)
		return -EINVAL;
	for (i = 0; i < NUMBERS; i++)
		x[i] = get_unaligned_le32(buf + 4 * i);
	if (x[0] != VERSION || x[1] > NETTEST_NODES_MAX || len != HEAD_SIZE + x[1] * RUN_SIZE ||
	    x[2] < 2 || x[2] > NETTEST_NODES_MAX || x[9] >> 9)
		return -EINVAL;
	*plan = (struct nettest_plan){ .least = x[3], .most = x[4], .step = x[5], .factor = x[6],
				       .repeats = x[7], .times = x[8], .check = x[9] & 0xff,
				       .patterns = x[10], .noise = x[11], .noise_pairs = x[12],
				       .noise_depth = x[13] };
	n->cfg.nr = x[2];
	n->matrix = x[9] >> 8;
	rc = lst_nettest_check(plan, n->cfg.nr, n->matrix);
	if (!rc)
		n->node = nodes_decode(buf + HEAD_SIZE, x[1], n->cfg.nr, &rc);
	return rc;
}

u32 lst_nettest_row(u32 nr, bool matrix)
{
	return LST_NETTEST_ROW + (matrix ? 8 * nr * nr : 0);
}

/* Returns the number of channels of the node with most neighbours. */
static u32 degree_max(const struct nettest_plan *plan, u32 nr)
{
	u32 p, most = 0;

	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		if (plan->patterns & BIT(p))
			most = max(most, nettest_degree(nettest_topo_of(p), nr, 0));
	return most;
}

int lst_nettest_check(const struct nettest_plan *plan, u32 nr, bool matrix)
{
	u32 nr_measured = nettest_plan_measured(plan, nr);
	int rc = nr > NETTEST_NODES_MAX ? -EINVAL : nettest_plan_check(plan);

	if (rc || nr_measured < 2)
		return rc ? rc : -EDOM;
	if (2ULL * plan->most * degree_max(plan, nr_measured) > LST_NETTEST_MEMORY)
		return -E2BIG;
	if (matrix && nr > LST_NETTEST_MATRIX)
		return -E2BIG;
	return (u64)lst_nettest_row(nr, matrix) * nettest_plan_nr(plan) > LST_NETTEST_ROWS ?
		-E2BIG : 0;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void mem_free(struct lst_nettest *n)
{
	nettest_free(n->nt);
	kvfree(n->node);
	kvfree(n->rows);
	kvfree(n->median);
	kvfree(n);
}

static void nettest_free_run(struct lst_job *job)
{
	mem_free(container_of(job, struct lst_nettest, job));
}

static void act_run(struct lst_job *job);

/* Queues the job, which does all pending work. */
static void kick_locked(struct lst_nettest *n)
{
	if (list_empty(&n->job.link))
		lst_queue_locked(n->st, &n->job, act_run);
}

/*
 * If no thread or job uses the run, removes the run from all lists, and queues a job that frees it.
 * True: the job was queued.
 */
static bool nettest_remove_locked(struct lst_nettest *n)
{
	struct lst_session *s = n->st->session;

	if (!n->gone || n->busy || !list_empty(&n->job.link))
		return false;
	if (s && s->nettest == n)
		s->nettest = NULL;
	list_del(&n->link);
	lst_queue_locked(n->st, &n->job, nettest_free_run);
	return true;
}

static void act_run(struct lst_job *job)
{
	struct lst_nettest *n = container_of(job, struct lst_nettest, job);
	struct lst *st = n->st;
	bool start, stop;
	u64 next;

	spin_lock(&st->lock);
	start = n->start;
	stop = n->stop;
	n->start = n->stop = false;
	n->next_ns = U64_MAX;
	n->busy++;
	spin_unlock(&st->lock);
	if (start)
		nettest_start(n->nt, n->node);
	if (stop)
		nettest_stop(n->nt, -ECANCELED);
	next = nettest_work(n->nt);
	spin_lock(&st->lock);
	n->next_ns = min(n->next_ns, next);
	n->busy--;
	nettest_remove_locked(n);
	spin_unlock(&st->lock);
}

u64 lst_nettests_work_locked(struct lst *st, u64 now)
{
	struct lst_nettest *n;
	u64 next = U64_MAX;

	list_for_each_entry(n, &st->nettests, link) {
		if (n->next_ns <= now)
			kick_locked(n);
		next = min(next, n->next_ns);
	}
	return next;
}

void lst_nettest_end_locked(struct lst_session *s)
{
	struct lst_nettest *n = s->nettest;

	s->nettest = NULL;
	if (!n)
		return;
	n->stop = true;
	kick_locked(n);
}

/* ---- callbacks of the engine ----------------------------------------------------------------- */

/* The engine may call this function in any context. So lst_work() does the work. */
static void on_arm(struct nettest *nt)
{
	struct lst_nettest *n = nettest_user(nt);
	struct lst *st = n->st;
	bool earlier;

	spin_lock(&st->lock);
	n->next_ns = 0;
	earlier = st->armed_ns > 0;
	st->armed_ns = 0;
	spin_unlock(&st->lock);
	if (earlier)
		st->host->arm(st->host);
}

static void on_ended(struct nettest *nt, int status)
{
	struct lst_nettest *n = nettest_user(nt);

	spin_lock(&n->st->lock);
	n->over = true;
	n->status = status;
	spin_unlock(&n->st->lock);
}

/*
 * The engine calls this function when the run has stopped. If act_run() called the engine,
 * act_run() causes the run to be freed after the engine has returned. Otherwise this function does.
 */
static void on_nettest_gone(struct nettest *nt)
{
	struct lst_nettest *n = nettest_user(nt);
	struct lst *st = n->st;
	bool mine;

	lst_enter(st);
	n->gone = true;
	mine = nettest_remove_locked(n);
	if (!mine)
		st->nr_inside--;
	spin_unlock(&st->lock);
	if (mine)
		lst_run(st);
}

struct sum {
	u64 ns;				/* maximum over the nodes */
	u32 nr, nr_bad;
	u64 noise_out, noise_in;
};

static void add_record(struct lst_nettest *n, struct nettest *nt, u32 rank, struct sum *sum)
{
	u64 *median = n->median ? n->median + (size_t)rank * n->cfg.nr : NULL;
	u32 len;
	const u8 *buf = nettest_record(nt, rank, &len);

	if (nettest_record_decode(buf, len, n->cfg.nr, &n->tally, median)) {
		sum->nr_bad++;
		return;
	}
	sum->nr_bad += (u32)n->tally.c[LST_T_corrupt];
	if (rank >= nettest_plan_measured(&n->cfg.plan, n->cfg.nr)) {
		sum->noise_out += n->tally.c[LST_T_bytes_out];
		sum->noise_in += n->tally.c[LST_T_bytes_in];
		return;
	}
	sum->ns = max(sum->ns, n->tally.sum_ns.lo);
	sum->nr = (u32)n->tally.nr_times;
}

static void on_measured(struct nettest *nt, u32 index)
{
	struct lst_nettest *n = nettest_user(nt);
	struct sum sum = { 0 };
	u32 i;
	u8 *row;

	if (!n->rows)
		return;
	for (i = 0; i < n->cfg.nr; i++)
		add_record(n, nt, i, &sum);
	row = n->rows + (size_t)index * n->row_size;
	put_unaligned_le64(sum.ns, row);
	put_unaligned_le32(sum.nr, row + 8);
	put_unaligned_le32(sum.nr_bad, row + 12);
	put_unaligned_le64(sum.noise_out, row + 16);
	put_unaligned_le64(sum.noise_in, row + 24);
	for (i = 0; n->median && i < n->cfg.nr * n->cfg.nr; i++)
		put_unaligned_le64(n->median[i], row + LST_NETTEST_ROW + 8 * i);
	spin_lock(&n->st->lock);
	n->nr_done = index + 1;
	spin_unlock(&n->st->lock);
}

/* ---- BEGIN ----------------------------------------------------------------------------------- */

static int rows_make(struct lst_nettest *n)
{
	u32 nr = n->cfg.nr;

	if (n->cfg.rank)
		return 0;
	n->row_size = lst_nettest_row(nr, n->matrix);
	n->rows = kvcalloc(nettest_plan_nr(&n->cfg.plan), n->row_size, GFP_NOFS);
	n->median = n->matrix ? kvcalloc((size_t)nr * nr, sizeof(u64), GFP_NOFS) : NULL;
	return n->rows && !n->median == !n->matrix ? 0 : -ENOMEM;
}

/*
 * Makes @n the run of the session. Checks the session again, because it may have changed meanwhile.
 * A run that has ended is replaced.
 */
static u32 nettest_join_locked(struct lst_call *call, struct lst_nettest *n)
{
	u32 status = lst_session_check_locked(call, &call->req.nettest_req.sid);
	struct lst_session *s = call->st->session;

	if (!status && s->nettest && !s->nettest->over)
		status = EBUSY;
	if (status)
		return status;
	lst_nettest_end_locked(s);
	s->nettest = n;
	return 0;
}

static int nettest_run_make(struct lst_nettest *n, struct lst_call *call)
{
	const struct lst_nettest_req *req = &call->req.nettest_req;
	int rc;

	n->cfg = (struct nettest_cfg){ .ln = n->st->ln, .rank = req->rank, .run = req->run,
				       .gather = true, .user = n, .measured = on_measured,
				       .ended = on_ended, .arm = on_arm, .gone = on_nettest_gone };
	rc = nettest_plan_decode(n, call->bulk, call->bulk_len);
	if (!rc)
		rc = rows_make(n);
	return rc ? rc : nettest_create(&n->nt, &n->cfg);
}

static u32 nettest_run_begin(struct lst_call *call)
{
	struct lst_nettest *n = kvzalloc(sizeof(*n), GFP_NOFS);
	struct lst *st = call->st;
	u32 status;
	int rc;

	if (!n)
		return ENOMEM;
	n->st = st;
	n->next_ns = U64_MAX;
	n->busy = 1;
	INIT_LIST_HEAD(&n->job.link);
	spin_lock(&st->lock);
	list_add_tail(&n->link, &st->nettests);
	spin_unlock(&st->lock);
	rc = nettest_run_make(n, call);
	spin_lock(&st->lock);
	status = rc ? (u32)-rc : nettest_join_locked(call, n);
	n->busy = 0;
	n->gone = n->gone || !n->nt;
	n->stop = status;
	if (status && !nettest_remove_locked(n))
		kick_locked(n);
	spin_unlock(&st->lock);
	return status;
}

static void begin_done(struct lst_call *call)
{
	call->rpy.nettest_rpy.status = nettest_run_begin(call);
}

/* ---- requests -------------------------------------------------------------------------------- */

static u32 rows_of(const struct lst_nettest *n, const struct lst_nettest_req *req)
{
	if (!n->row_size || req->from >= n->nr_done)
		return 0;
	return min(n->nr_done - req->from, req->len / n->row_size);
}

static int rows_write(struct lst_call *call)
{
	const struct lst_nettest_req *req = &call->req.nettest_req;
	struct lst *st = call->st;
	const struct lst_nettest *n;

	memset(call->bulk, 0, call->bulk_len);
	spin_lock(&st->lock);
	n = st->session ? st->session->nettest : NULL;
	if (n && n->cfg.run == req->run && req->len == call->bulk_len)
		memcpy(call->bulk, n->rows + (size_t)req->from * n->row_size,
		       (size_t)rows_of(n, req) * n->row_size);
	spin_unlock(&st->lock);
	return 0;
}

static enum lst_verdict do_locked(struct lst_call *call, struct lst_nettest *n)
{
	const struct lst_nettest_req *req = &call->req.nettest_req;
	struct lst_nettest_rpy *rpy = &call->rpy.nettest_rpy;

	if (req->opc == LST_NETTEST_STOP) {
		lst_nettest_end_locked(call->st->session);
		return LST_REPLY;
	}
	if (req->opc == LST_NETTEST_START) {
		rpy->status = n->started ? EALREADY : 0;
		n->start = !n->started;
		n->started = true;
		kick_locked(n);
		return LST_REPLY;
	}
	rpy->over = n->over;
	rpy->result = (u32)-n->status;
	rpy->nr_done = n->nr_done;
	if (!req->len)
		return LST_REPLY;
	rpy->nr_rows = rows_of(n, req);
	if (!rpy->nr_rows) {
		rpy->status = ENOENT;
		return LST_REPLY;
	}
	call->bulkid = req->bulkid;
	call->bulk_len = req->len;
	call->bulk_prepare = rows_write;
	return LST_BULK;
}

static enum lst_verdict nettest_begin_locked(struct lst_call *call)
{
	const struct lst_nettest_req *req = &call->req.nettest_req;

	if (!req->len || req->len > LNET_MTU) {
		call->rpy.nettest_rpy.status = EINVAL;
		return LST_REPLY;
	}
	call->bulk_get = true;
	call->bulkid = req->bulkid;
	call->bulk_len = req->len;
	call->bulk_done = begin_done;
	return LST_BULK;
}

enum lst_verdict lst_nettest_serve_locked(struct lst_call *call)
{
	const struct lst_nettest_req *req = &call->req.nettest_req;
	struct lst_nettest_rpy *rpy = &call->rpy.nettest_rpy;
	struct lst_nettest *n;

	rpy->status = lst_session_check_locked(call, &req->sid);
	rpy->sid = lst_session_sid_locked(call->st);
	rpy->run = req->run;
	if (rpy->status)
		return LST_REPLY;
	if (req->opc == LST_NETTEST_BEGIN)
		return nettest_begin_locked(call);
	n = call->st->session->nettest;
	if (req->opc < LST_NETTEST_BEGIN || req->opc > LST_NETTEST_STOP)
		rpy->status = EINVAL;
	else if (!n || n->cfg.run != req->run)
		rpy->status = ENOENT;
	else if (req->len > LNET_MTU)
		rpy->status = EINVAL;
	return rpy->status ? LST_REPLY : do_locked(call, n);
}
