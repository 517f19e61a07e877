/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Starts the clients of a batch at one time. Measures their clocks, sends each client the start
 * time on the client's clock, and queries the actual start times later.
 */
#include "con.h"

#define ROUNDS		8U
#define AHEAD_MIN_NS	(20ULL * NSEC_PER_MSEC)
#define DRIFT		5000U		/* maximum drift of two clocks: one part in DRIFT */

/* ---- clocks ---------------------------------------------------------------------------------- */

static u64 clock_distance(s64 a, s64 b)
{
	return a < b ? (u64)b - (u64)a : (u64)a - (u64)b;
}

/*
 * The node read its clock between @asked_ns and @heard_ns, so half of their difference is the
 * error.
 */
void con_clock_heard(struct con_clock *clock, u64 asked_ns, u64 told_ns, u64 heard_ns)
{
	u64 half = (heard_ns - asked_ns) / 2, error = half + 1;
	s64 off = (s64)(told_ns - asked_ns - half);
	u64 aged = clock->error_ns + div_u64(heard_ns - clock->at_ns, DRIFT);
	bool stepped = clock->known && clock_distance(off, clock->off_ns) > error + aged;

	if (clock->known && !stepped && error >= aged)
		return;
	clock->known = true;
	clock->off_ns = off;
	clock->error_ns = error;
	clock->at_ns = heard_ns;
	clock->steps += stepped;
}

static void start_clocks_update(struct con_cmd *cmd)
{
	struct con_rpc *r;

	list_for_each_entry(r, &cmd->answered, link)
		if (!r->rc && r->rpy.type == LST_START_RPY)
			con_clock_heard(&r->node->clock, r->rpc.start_ns, r->rpy.start_rpy.got_ns,
					r->rpc.end_ns);
}

static u64 worst_error(const struct con_cmd *cmd)
{
	const struct con_rpc *r;
	u64 worst = 0;

	list_for_each_entry(r, &cmd->answered, link)
		if (!con_rpc_error(r))
			worst = max(worst, r->node->clock.error_ns);
	return worst;
}

/* ---- starting -------------------------------------------------------------------------------- */

static struct con_batch *start_batch_find(const struct con_cmd *cmd)
{
	return con_batch_find(con_session(cmd), con_text(cmd, "name"));
}

static struct lst_msg start_req_make(const struct con_cmd *cmd, u64 bid, u64 at_ns)
{
	const struct con_session *s = con_session(cmd);

	return (struct lst_msg){ .type = LST_START_REQ, .feats = s->feats,
				 .start_req = { .sid = s->sid, .bid = bid, .at_ns = at_ns } };
}

static int called_off(struct con_cmd *cmd)
{
	con_say(cmd, "running: 0\n");
	return 0;
}

/* Cancels the scheduled start at the nodes. */
static int call_off(struct con_cmd *cmd, struct con_batch *batch)
{
	const struct con_session *s = con_session(cmd);
	struct lst_msg req = { .type = LST_BATCH_REQ, .feats = s->feats,
			       .batch_req = { .sid = s->sid, .bid = batch->bid,
					      .opc = LST_BATCH_STOP, .arg = 1 } };

	con_batch_ask(cmd, batch, 0, false, &req);
	return con_then(cmd, called_off);
}

static int start_all_notified(struct con_cmd *cmd)
{
	struct con_batch *batch = start_batch_find(cmd);
	u64 now = lst_now(cmd->st);

	if (!batch)
		return -ENOENT;
	if (con_say_errors(cmd, "start batch"))
		return call_off(cmd, batch);
	batch->state = CON_BATCH_RUNNING;
	con_say(cmd, "running: 1\nin_ns: %llu\nclock_error_ns: %llu\n",
		(unsigned long long)(batch->start_ns > now ? batch->start_ns - now : 0),
		(unsigned long long)worst_error(cmd));
	return 0;
}

/*
 * Sends the start time to all nodes, after their clocks were measured. The time is so late that all
 * nodes receive the request before.
 */
static int tell_all(struct con_cmd *cmd, struct con_batch *batch)
{
	u64 worst = worst_error(cmd);
	struct con_rpc *r;
	int rc = 0;

	batch->start_ns = lst_now(cmd->st) + worst + max(4 * cmd->slowest_ns, AHEAD_MIN_NS);
	list_for_each_entry(r, &cmd->answered, link) {
		struct lst_msg req = start_req_make(cmd, batch->bid,
						    batch->start_ns + (u64)r->node->clock.off_ns);

		if (!rc)
			rc = con_ask(cmd, r->node, &req, NULL, 0);
	}
	return rc ? call_off(cmd, batch) : con_then(cmd, start_all_notified);
}

static int clocks_told(struct con_cmd *cmd);

static int ask_clocks(struct con_cmd *cmd, struct con_batch *batch)
{
	struct lst_msg req = start_req_make(cmd, 0, 0);
	int rc = con_batch_ask(cmd, batch, 0, false, &req);

	if (list_empty(&cmd->asked))
		return rc ? rc : -ENODEV;
	cmd->step_ns = lst_now(cmd->st);
	return con_then(cmd, clocks_told);
}

static int clocks_told(struct con_cmd *cmd)
{
	struct con_batch *batch = start_batch_find(cmd);
	s64 most = S64_MAX;

	if (!batch)
		return -ENOENT;
	if (con_say_errors(cmd, "clock")) {
		con_say(cmd, "running: 0\n");
		return 0;
	}
	start_clocks_update(cmd);
	cmd->slowest_ns = max(cmd->slowest_ns, lst_now(cmd->st) - cmd->step_ns);
	if (++cmd->round < ROUNDS)
		return ask_clocks(cmd, batch);
	con_number(cmd, "skew", 1, S64_MAX, &most);
	if (2 * worst_error(cmd) <= (u64)most)
		return tell_all(cmd, batch);
	con_say(cmd, "running: 0\nclock_error_ns: %llu\n", (unsigned long long)worst_error(cmd));
	return 0;
}

/*
 * Arguments: name, skew in ns. If the errors of the clocks do not guarantee this skew, nothing
 * starts.
 */
int con_start(struct con_cmd *cmd)
{
	struct con_batch *batch = start_batch_find(cmd);
	s64 most = S64_MAX;

	if (!batch)
		return -ENOENT;
	if (con_number(cmd, "skew", 1, S64_MAX, &most) || !batch->nr_tests)
		return -EINVAL;
	batch->start_ns = 0;
	return ask_clocks(cmd, batch);
}

/* ---- actual starts --------------------------------------------------------------------------- */

struct span {
	s64 least, most;
	u32 nr, waiting;
};

static void say_start(struct con_cmd *cmd, const struct con_rpc *r, u64 start_ns, struct span *span)
{
	const struct con_clock *clock = &r->node->clock;
	u64 began = r->rpy.start_rpy.started_ns;
	char id[CON_ID_SIZE];
	s64 late;

	if (con_rpc_error(r) || !began) {
		span->waiting += !con_rpc_error(r);
		con_say(cmd, "- {id: \"%s\", errno: %d}\n", con_node_id(r->node, id),
			-con_rpc_error(r));
		return;
	}
	late = (s64)(con_clock_here(clock, began) - start_ns);
	span->least = span->nr ? min(span->least, late) : late;
	span->most = span->nr ? max(span->most, late) : late;
	span->nr++;
	con_say(cmd, "- {id: \"%s\", errno: 0, late_ns: %lld, clock_ns: %lld, error_ns: %llu, "
		"steps: %u}\n", con_node_id(r->node, id), (long long)late,
		(long long)clock->off_ns, (unsigned long long)clock->error_ns, clock->steps);
}

static int starts_told(struct con_cmd *cmd)
{
	struct con_batch *batch = start_batch_find(cmd);
	struct span span = { 0 };
	const struct con_rpc *r;

	if (!batch)
		return -ENOENT;
	start_clocks_update(cmd);
	con_say(cmd, "nodes:%s\n", list_empty(&cmd->answered) ? " []" : "");
	list_for_each_entry(r, &cmd->answered, link)
		say_start(cmd, r, batch->start_ns, &span);
	con_say(cmd, "started: %u\nwaiting: %u\nskew_ns: %llu\nclock_error_ns: %llu\n", span.nr,
		span.waiting, (unsigned long long)clock_distance(span.most, span.least),
		(unsigned long long)worst_error(cmd));
	return 0;
}

/* Argument: name of a batch that the verb start has started. */
int con_started(struct con_cmd *cmd)
{
	struct con_batch *batch = start_batch_find(cmd);
	struct lst_msg req;
	int rc;

	if (!batch)
		return -ENOENT;
	if (!batch->start_ns)
		return -EINVAL;
	req = start_req_make(cmd, batch->bid, 0);
	rc = con_batch_ask(cmd, batch, 0, false, &req);
	return rc && list_empty(&cmd->asked) ? rc : con_then(cmd, starts_told);
}
