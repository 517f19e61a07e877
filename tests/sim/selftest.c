/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session over nodes with two rails, led by commands to the console on node 0: half of the others
 * send pings and bulk to the other half, while a rail is cut and healed. Nothing may fail, each
 * request be counted once at either end, and all be free in the end.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/sim/selftest.h"
#include "lnet/core.h"
#include "selftest/service.h"

#define RAILS		2U
#define CUT_FROM_MS	400U
#define CUT_TO_MS	1400U
#define LOOK_MS		20U
#define RUN_MAX_MS	60000U
#define SETTLE_MS	1000U
#define COMMAND_MAX_MS	70000U

struct member {
	struct lst_host host;		/* first */
	struct world *w;
	struct lst *st;
	u64 due_ns;			/* of the event that is to come; 0: none */
};

struct world {
	struct sim_world w;
	struct sim_selftest *t;
	struct member *m;
	struct lst_command cmd;
	char request[65536];
	u32 len;
	bool done;
};

/* ---- time ------------------------------------------------------------------------------------ */

static void tick(struct sim_world *w, void *arg, u64 due_ns)
{
	struct member *m = arg;
	u64 due;

	if (m->due_ns != due_ns)
		return;			/* an earlier one came in between */
	due = lst_work(m->st);
	m->due_ns = due == U64_MAX ? 0 : max(due, w->now_ns + 1);
	if (m->due_ns)
		sim_at(w, m->due_ns, tick, m, m->due_ns);
}

static void arm(struct lst_host *host)
{
	struct member *m = (struct member *)host;
	struct sim_world *w = &m->w->w;

	m->due_ns = w->now_ns + 1;
	sim_at(w, m->due_ns, tick, m, m->due_ns);
}

/* ---- commands -------------------------------------------------------------------------------- */

static void word(struct world *x, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	x->len += (u32)vsnprintf(x->request + x->len, sizeof(x->request) - x->len, fmt, args) + 1;
	va_end(args);
}

static void begin_command(struct world *x, const char *verb)
{
	x->len = 0;
	word(x, "%s", verb);
	word(x, "key=1");
}

static void on_done(struct lst_command *cmd)
{
	container_of(cmd, struct world, cmd)->done = true;
}

/* The answer stays until the next one. */
static void command(struct world *x)
{
	u64 until = x->w.now_ns + COMMAND_MAX_MS * SIM_MS;

	kfree(x->cmd.answer);
	x->cmd = (struct lst_command){ .request = x->request, .len = x->len, .done = on_done };
	x->done = false;
	lst_command(x->m[0].st, &x->cmd);
	while (!x->done && x->w.now_ns < until && !x->w.failed)
		sim_run(&x->w, x->w.now_ns + SIM_MS);
	if (!x->done || x->cmd.status)
		sim_fail(&x->w, "%s: %s %d", x->request, x->done ? "status" : "no end",
			 x->cmd.status);
	if (x->cmd.answer && strstr(x->cmd.answer, "errors:\n"))
		sim_fail(&x->w, "%s: %s", x->request, x->cmd.answer);
}

/* Sum of a number over the nodes of the answer. */
static u64 sum_of(const struct world *x, const char *name)
{
	const char *at = x->cmd.answer;
	size_t len = strlen(name);
	u64 sum = 0;

	while (at && (at = strstr(at, name))) {
		at += len;
		if (at[0] == ':')
			sum += strtoull(at + 1, NULL, 10);
	}
	return sum;
}

static u64 stat_of(struct world *x, const char *group, const char *name)
{
	begin_command(x, "stat");
	word(x, "group=%s", group);
	command(x);
	return sum_of(x, name);
}

/* ---- the session ----------------------------------------------------------------------------- */

static u32 nr_clients(const struct world *x)
{
	return (x->t->nodes - 1) / 2;
}

static void group(struct world *x, const char *name, u32 first, u32 end)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_nid nid;

	begin_command(x, "add_group");
	word(x, "name=%s", name);
	command(x);
	begin_command(x, "add_nodes");
	word(x, "name=%s", name);
	for (; first < end; first++) {
		sim_nid(&nid, first, 0);
		word(x, "nid=%s", lnet_nid_str(&nid, text));
	}
	command(x);
}

static void add_test(struct world *x, const char *kind, u32 opc)
{
	begin_command(x, "add_test");
	word(x, "batch=batch");
	word(x, "from=c");
	word(x, "to=s");
	word(x, "loop=%u", x->t->loops);
	word(x, "concur=%u", x->t->concur);
	word(x, "type=%s", kind);
	if (opc) {
		word(x, "opc=%u", opc);
		word(x, "check=%u", LST_CHECK_FULL);
		word(x, "size=%u", x->t->bytes);
	}
	command(x);
}

static void prepare(struct world *x)
{
	begin_command(x, "new_session");
	word(x, "name=sim");
	command(x);
	group(x, "c", 1, 1 + nr_clients(x));
	group(x, "s", 1 + nr_clients(x), 1 + 2 * nr_clients(x));
	add_test(x, "ping", 0);
	add_test(x, "brw", LST_BRW_WRITE);
	add_test(x, "brw", LST_BRW_READ);
}

static void cut(struct world *x)
{
	u64 now = x->w.now_ns - SIM_START_NS;

	x->w.fault[x->w.nr_faults++] = (struct sim_fault){
		.kind = SIM_CUT, .rail = 1, .node = -1, .peer = -1,
		.from_ns = now + CUT_FROM_MS * SIM_MS, .to_ns = now + CUT_TO_MS * SIM_MS };
}

static void run(struct world *x)
{
	u64 begin_ns = x->w.now_ns, until = begin_ns + RUN_MAX_MS * SIM_MS;

	begin_command(x, "run");
	word(x, "name=batch");
	command(x);
	do {
		sim_run(&x->w, x->w.now_ns + LOOK_MS * SIM_MS);
		begin_command(x, "query");
		word(x, "name=batch");
		command(x);
	} while (!x->w.failed && sum_of(x, "active") && x->w.now_ns < until);
	x->t->ran_ms = (x->w.now_ns - begin_ns) / SIM_MS;
	if (!x->w.failed && sum_of(x, "active"))
		sim_fail(&x->w, "the batch still runs after %u ms", RUN_MAX_MS);
}

static void equal(struct world *x, const char *what, u64 got, u64 want)
{
	if (got != want && !x->w.failed)
		sim_fail(&x->w, "%s: %llu, not %llu", what, (unsigned long long)got,
			 (unsigned long long)want);
}

/* Clients send each request once; servers take these, MAKE_SESSION, three TESTs, QUERY_STATs. */
static void compare(struct world *x)
{
	u64 nr = nr_clients(x), each = (u64)x->t->loops * x->t->concur;
	/* each brw test has its list of destinations fetched, of one */
	u64 bytes = nr * each * x->t->bytes, lists = 3 * nr * LST_DEST_SIZE;

	/* that the last data arrived a client may hear after the answer */
	sim_run(&x->w, x->w.now_ns + SETTLE_MS * SIM_MS);
	equal(x, "requests of clients", stat_of(x, "c", "rpcs_sent"), 3 * nr * each);
	equal(x, "errors of clients", sum_of(x, "brw_errors") + sum_of(x, "ping_errors") +
	      sum_of(x, "rpc_errors") + sum_of(x, "rpcs_expired"), 0);
	equal(x, "bytes that clients offered", sum_of(x, "bulk_put"), bytes);
	equal(x, "bytes that clients were given", sum_of(x, "bulk_get"), bytes + lists);
	equal(x, "requests at servers", stat_of(x, "s", "rpcs_rcvd"), nr * (3 * each + 1 + 3 + 1));
	equal(x, "errors of servers", sum_of(x, "rpc_errors") + sum_of(x, "rpcs_dropped"), 0);
	equal(x, "bytes that servers fetched", sum_of(x, "bulk_get"), bytes);
	equal(x, "bytes that servers put", sum_of(x, "bulk_put"), bytes);
	x->t->pings = nr * each;
	x->t->moved = 2 * bytes;
}

static void free_in_the_end(struct world *x)
{
	u32 n;

	begin_command(x, "end_session");
	command(x);
	sim_run(&x->w, x->w.now_ns + 1000 * SIM_MS);
	for (n = 0; n < x->t->nodes && !x->w.failed; n++) {
		const struct lst *st = x->m[n].st;

		if (st->session || st->con || st->nr_zombies || st->nr_calls || st->nr_outs ||
		    !list_empty(&st->rpcs))
			sim_fail(&x->w, "node %u is not free", n);
	}
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void begin(struct world *x, u64 seed)
{
	u32 n;

	x->m = calloc(x->t->nodes, sizeof(*x->m));
	if (!x->m || sim_world_init(&x->w, seed, x->t->nodes))
		abort();
	x->w.nr_rails = RAILS;
	for (n = 0; n < x->t->nodes && !x->w.failed; n++) {
		struct lst_cfg cfg = { .host = &x->m[n].host, .nr_messages = 64 };

		x->m[n].host.arm = arm;
		x->m[n].w = x;
		if (sim_node_up(&x->w, n))
			sim_fail(&x->w, "node %u does not come up", n);
		cfg.ln = x->w.node[n].ln;
		if (!x->w.failed && lst_create(&x->m[n].st, &cfg))
			sim_fail(&x->w, "node %u does not serve", n);
	}
}

static void end(struct world *x, struct sim_result *result)
{
	u32 n;

	for (n = 0; n < x->t->nodes; n++)
		if (x->m[n].st)
			lst_stop(x->m[n].st);
	sim_run(&x->w, x->w.now_ns + 1000 * SIM_MS);
	for (n = 0; n < x->t->nodes; n++) {
		if (x->w.node[n].ln)
			x->t->resends += lnet_stat_sum(x->w.node[n].ln, LNET_C_resend_count);
		sim_node_down(&x->w, n);
		if (x->m[n].st && !lst_stopped(x->m[n].st))
			sim_fail(&x->w, "node %u did not stop", n);
		x->m[n].due_ns = 0;
		lst_free(x->m[n].st);
	}
	kfree(x->cmd.answer);
	result->failed = x->w.failed;
	memcpy(result->why, x->w.why, sizeof(result->why));
	result->hash = x->w.hash;
	result->count = x->w.count;
	sim_world_fini(&x->w);
	free(x->m);
}

void sim_selftest_run(struct sim_selftest *t, u64 seed, struct sim_result *result)
{
	static void (*const phases[])(struct world *x) = { prepare, cut, run, compare,
							   free_in_the_end };
	struct world *x = calloc(1, sizeof(*x));
	unsigned int i;

	if (!x)
		abort();
	x->t = t;
	begin(x, seed);
	for (i = 0; i < ARRAY_SIZE(phases) && !x->w.failed; i++)
		phases[i](x);
	end(x, result);
	free(x);
}
