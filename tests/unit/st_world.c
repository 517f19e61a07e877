/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The nodes of the self-test's unit tests, their time, and requests that a test sends as a console.
 */
#include "st_world.h"

struct st_node st_nodes[RAILS_NODES];
const struct lst_sid st_sid = { 0x000200000a000001ULL, 4711 };
static u32 active;

static void arm(struct lst_host *host)
{
	struct st_node *n = (struct st_node *)host;

	n->nr_arms++;
	n->due_ns = 0;
}

struct lst *st_of(unsigned int node)
{
	return st_nodes[node].st;
}

void st_silence(unsigned int node)
{
	struct lst_session *s = st_of(node)->session;

	s->used_ns = lst_now(st_of(node)) - s->lease * (NSEC_PER_SEC / 4 * 3);
}

static bool work(void)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < RAILS_NODES; i++) {
		if (!st_nodes[i].st || st_nodes[i].due_ns > rails_clock(i))
			continue;
		st_nodes[i].due_ns = lst_work(st_nodes[i].st);
		any = true;
	}
	return any;
}

static void settle(void)
{
	unsigned int left = 10000;

	do
		rails_pump();
	while (work() && --left);
	CU_ASSERT(left > 0);
}

void st_run(u64 ns)
{
	u64 end = rails.now_ns + ns, next;
	unsigned int i;

	for (;;) {
		settle();
		next = end;
		for (i = 0; i < RAILS_NODES; i++)
			if (st_nodes[i].st)
				next = min(next, max(st_nodes[i].due_ns, rails_clock(i)) -
						 rails.ahead_ns[i]);
		next = min(next, rails.now_ns + 100 * RAILS_MS);
		if (rails.now_ns >= end)
			return;
		rails_run(max(next, rails.now_ns + 1) - rails.now_ns);
	}
}

void st_begin(unsigned int nr_nodes)
{
	struct rails_cfg cfg = { .nr_nodes = nr_nodes };
	unsigned int i;

	rails_begin(&cfg);
	for (i = 0; i < nr_nodes; i++) {
		struct lst_cfg st = { .ln = rails.node[i].ln, .host = &st_nodes[i].host,
				      .nr_messages = 8 };

		st_nodes[i] = (struct st_node){ .host.arm = arm };
		CU_ASSERT_EQUAL_FATAL(lst_create(&st_nodes[i].st, &st), 0);
	}
	settle();
}

void st_end(void)
{
	unsigned int i;

	for (i = 0; i < RAILS_NODES; i++)
		if (st_nodes[i].st)
			lst_stop(st_nodes[i].st);
	st_run(200 * NSEC_PER_SEC);
	for (i = 0; i < RAILS_NODES; i++) {
		if (!st_nodes[i].st)
			continue;
		CU_ASSERT(lst_stopped(st_nodes[i].st));
		CU_ASSERT_EQUAL(st_nodes[i].st->nr_calls, 0);
		lst_free(st_nodes[i].st);
		st_nodes[i].st = NULL;
	}
	rails_end();
}

/* ---- requests -------------------------------------------------------------------------------- */

struct ask {
	struct lst_rpc rpc;
	struct lst_msg *rpy;
	bool over;
	int rc;
};

static void on_answer(struct lst_rpc *rpc)
{
	struct ask *ask = container_of(rpc, struct ask, rpc);

	ask->rc = lst_rpc_result(rpc, ask->rpy);
	ask->over = true;
}

/* The list of destinations in a request that adds a test. */
static u8 dests[LST_DEST_SIZE];

static struct {
	void *mem;
	u32 len, options;
} bulk;

static void offer(struct lst_rpc *rpc, struct lst_msg *req)
{
	if (bulk.mem) {
		rpc->bulk = bulk.mem;
		rpc->bulk_len = bulk.len;
		rpc->bulk_options = bulk.options;
		req->add_req.bulkid = rpc->bulkid;	/* at this place in each request */
		return;
	}
	if (req->type != LST_TEST_REQ || !req->test_req.is_client)
		return;
	req->test_req.bulkid = rpc->bulkid;
	rpc->bulk = dests;
	rpc->bulk_len = sizeof(dests);
	rpc->bulk_options = LNET_MD_OP_GET;
}

int st_ask(unsigned int from, unsigned int to, struct lst_msg *req, struct lst_msg *rpy)
{
	struct lnet_process target = { rails_nid(to, 0), LNET_PID };
	struct ask ask = { .rpy = rpy, .rpc.done = on_answer };
	struct lst *st = st_of(from);
	u64 until = rails.now_ns + 2 * LST_RPC_TIMEOUT_NS;

	lst_enter(st);
	lst_rpc_init_locked(&ask.rpc, st, &target);
	offer(&ask.rpc, req);
	lst_rpc_post_locked(&ask.rpc, req, LST_RPC_TIMEOUT_NS);
	spin_unlock(&st->lock);
	lst_run(st);
	settle();
	while (!ask.over && rails.now_ns < until)
		st_run(RAILS_MS);
	CU_ASSERT_FATAL(ask.over);
	return ask.rc;
}

int st_ask_bulk(unsigned int from, unsigned int to, struct lst_msg *req, struct lst_msg *rpy,
		void *mem, u32 len, u32 options)
{
	int rc;

	bulk.mem = mem;
	bulk.len = len;
	bulk.options = options;
	rc = st_ask(from, to, req, rpy);
	bulk.mem = NULL;
	return rc;
}

static int status_of(unsigned int to, struct lst_msg *req, struct lst_msg *rpy)
{
	int rc = st_ask(0, to, req, rpy);

	return rc ? rc : (int)rpy->status;
}

int st_make(unsigned int to)
{
	struct lst_msg rpy, req = { .type = LST_MAKE_SESSION_REQ, .feats = LST_FEATS,
				    .make_session_req = { .sid = st_sid, .name = "lab" } };

	return status_of(to, &req, &rpy);
}

int st_remove(unsigned int to)
{
	struct lst_msg rpy, req = { .type = LST_REMOVE_SESSION_REQ, .feats = LST_FEATS,
				    .remove_session_req.sid = st_sid };

	return status_of(to, &req, &rpy);
}

int st_batch(unsigned int to, enum lst_batch_opc opc, u32 test, u32 arg)
{
	struct lst_msg rpy, req = { .type = LST_BATCH_REQ, .feats = LST_FEATS,
				    .batch_req = { .sid = st_sid, .bid = ST_BID, .opc = opc,
						   .test = test, .arg = arg } };
	int rc = status_of(to, &req, &rpy);

	active = rc < 0 ? 0 : rpy.batch_rpy.active;
	return rc;
}

u32 st_active(void)
{
	return active;
}

int st_test(unsigned int client, unsigned int server, s32 loop, u32 concur, u32 len, u32 opc,
	    u32 check)
{
	struct lnet_nid nid = rails_nid(server, 0);
	struct lst_dest dest = { lnet_nid_to_nid4(&nid), LNET_PID };
	struct lst_msg rpy, req = { .type = LST_TEST_REQ, .feats = LST_FEATS };

	lst_dest_encode(dests, 0, &dest);
	req.test_req = (struct lst_test_req){ .sid = st_sid, .bid = ST_BID, .loop = (u32)loop,
					      .concur = concur, .nr_dests = 1, .is_client = 1,
					      .stop_onerr = 1 };
	req.test_req.service = len ? LST_SERVICE_BRW : LST_SERVICE_PING;
	req.test_req.bytes_param = (struct lst_bytes_param){ .opc = (u16)opc, .flags = (u16)check,
							     .len = len };
	return status_of(client, &req, &rpy);
}

void st_stat(unsigned int node, struct lst_query_stat_rpy *stat)
{
	struct lst_msg rpy, req = { .type = LST_QUERY_STAT_REQ, .feats = LST_FEATS,
				    .query_stat_req.sid = st_sid };

	memset(&rpy, 0, sizeof(rpy));
	UNIT_EQUAL(status_of(node, &req, &rpy), 0, "QUERY_STAT");
	*stat = rpy.query_stat_rpy;
}

/* ---- tests that stock does not have ---------------------------------------------------------- */

void st_plan_init(struct lst_plan *p, enum lst_what what)
{
	u32 i;

	*p = (struct lst_plan){ .bid = ST_BID, .index = 1, .tag = 1, .what = what, .nr_from = 1,
				.nr_to = 1 };
	for (i = 0; i < lst_nr_plan_words; i++)
		*(u64 *)((u8 *)p + lst_plan_words[i].at) = lst_plan_words[i].usual;
}

static int plan_give(unsigned int to, const struct lst_plan *p)
{
	struct lst_msg rpy, req = { .type = LST_ADD_REQ, .feats = LST_FEATS,
				    .add_req = { .sid = st_sid } };
	u8 buf[2048];
	int rc;

	req.add_req.len = lst_plan_encode(p, buf);
	rc = st_ask_bulk(0, to, &req, &rpy, buf, req.add_req.len, LNET_MD_OP_GET);
	return rc ? rc : (int)rpy.status;
}

int st_drill(unsigned int client, unsigned int server, const struct lst_plan *plan)
{
	struct lst_run run = { { rails_nid(server, 0), LNET_PID }, 1 };
	struct lst_plan p = *plan;
	int rc;

	p.server = 1;
	rc = plan_give(server, &p);
	p.server = 0;
	p.run = &run;
	p.nr_runs = 1;
	return rc ? rc : plan_give(client, &p);
}

void st_tally(unsigned int node, u32 index, bool server, struct lst_tally *t, u64 numbers[13])
{
	static u8 buf[LST_TALLY_BYTES];
	struct lst_msg rpy, req = { .type = LST_TALLY_REQ, .feats = LST_FEATS,
				    .tally_req = { .sid = st_sid, .bid = ST_BID, .test = index,
						   .server = server } };
	u32 i, used;

	UNIT_EQUAL(st_ask_bulk(0, node, &req, &rpy, buf, sizeof(buf), LNET_MD_OP_PUT), 0, "asked");
	UNIT_EQUAL(rpy.status, 0, "answered");
	UNIT_EQUAL(lst_tally_decode(t, buf, LST_TALLY_WIRE, &used), 0, "a record");
	for (i = 0; i < 13; i++)
		numbers[i] = get_unaligned_le64(buf + LST_TALLY_WIRE + 8 * i);
}
