/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session over nodes with two rails, controlled by commands to the console on node 0. Half of the
 * other nodes send pings and bulk to the other half, while a rail is cut and healed. Nothing may
 * fail, each request must be counted once at either end, and all nodes must be free in the end.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/sim/console.h"
#include "tests/sim/selftest.h"
#include "lnet/shard/shard.h"
#include "selftest/service.h"

#define RAILS		2U
#define CUT_FROM_MS	40U
#define CUT_TO_MS	140U
#define LOOK_MS		20U
#define RUN_MAX_MS	1000U
#define SETTLE_MS	3000U

struct world {
	struct sim_world w;
	struct sim_selftest *t;
	struct sim_member *m;
	struct sim_console c;
};

/* ---- commands -------------------------------------------------------------------------------- */

static u64 stat_of(struct world *x, const char *group, const char *name)
{
	sim_verb(&x->c, "stat");
	sim_word(&x->c, "group=%s", group);
	sim_ask(&x->c);
	return sim_sum(&x->c, name);
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

	sim_verb(&x->c, "add_group");
	sim_word(&x->c, "name=%s", name);
	sim_ask(&x->c);
	sim_verb(&x->c, "add_nodes");
	sim_word(&x->c, "name=%s", name);
	for (; first < end; first++) {
		sim_nid(&nid, first, 0);
		sim_word(&x->c, "nid=%s", lnet_nid_str(&nid, text));
	}
	sim_ask(&x->c);
}

static void add_test(struct world *x, const char *kind, u32 opc)
{
	sim_verb(&x->c, "add_test");
	sim_word(&x->c, "batch=batch");
	sim_word(&x->c, "from=c");
	sim_word(&x->c, "to=s");
	sim_word(&x->c, "loop=%u", x->t->loops);
	sim_word(&x->c, "concur=%u", x->t->concur);
	sim_word(&x->c, "type=%s", kind);
	if (opc) {
		sim_word(&x->c, "opc=%u", opc);
		sim_word(&x->c, "check=%u", LST_CHECK_FULL);
		sim_word(&x->c, "size=%u", x->t->bytes);
	}
	sim_ask(&x->c);
}

static void prepare(struct world *x)
{
	sim_verb(&x->c, "new_session");
	sim_word(&x->c, "name=sim");
	sim_ask(&x->c);
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

	sim_verb(&x->c, "run");
	sim_word(&x->c, "name=batch");
	sim_ask(&x->c);
	do {
		sim_run(&x->w, x->w.now_ns + LOOK_MS * SIM_MS);
		sim_verb(&x->c, "query");
		sim_word(&x->c, "name=batch");
		sim_ask(&x->c);
	} while (!x->w.failed && sim_sum(&x->c, "active") && x->w.now_ns < until);
	x->t->ran_ms = (x->w.now_ns - begin_ns) / SIM_MS;
	if (!x->w.failed && sim_sum(&x->c, "active"))
		sim_fail(&x->w, "the batch still runs after %u ms", RUN_MAX_MS);
}

/* Clients send each request once; servers receive these, MAKE_SESSION, three TESTs, QUERY_STATs. */
static void compare(struct world *x)
{
	u64 nr = nr_clients(x), each = (u64)x->t->loops * x->t->concur;
	/* each test has a list of destinations, of one entry, which the client fetches */
	u64 bytes = nr * each * x->t->bytes, lists = 3 * nr * LST_DEST_SIZE;

	/*
	 * the client learns last that its data was received: after an attempt timeout if the ACK
	 * was lost
	 */
	sim_run(&x->w, x->w.now_ns + SETTLE_MS * SIM_MS);
	sim_equal(&x->w, "requests of clients", stat_of(x, "c", "rpcs_sent"), 3 * nr * each);
	sim_equal(&x->w, "errors of clients",
		  sim_sum(&x->c, "brw_errors") + sim_sum(&x->c, "ping_errors") +
			  sim_sum(&x->c, "rpc_errors") + sim_sum(&x->c, "rpcs_expired"), 0);
	sim_equal(&x->w, "bytes that clients offered", sim_sum(&x->c, "bulk_put"), bytes);
	sim_equal(&x->w, "bytes that clients were given", sim_sum(&x->c, "bulk_get"),
		  bytes + lists);
	sim_equal(&x->w, "requests at servers", stat_of(x, "s", "rpcs_rcvd"),
		  nr * (3 * each + 1 + 3 + 1));
	sim_equal(&x->w, "errors of servers",
		  sim_sum(&x->c, "rpc_errors") + sim_sum(&x->c, "rpcs_dropped"), 0);
	sim_equal(&x->w, "bytes that servers fetched", sim_sum(&x->c, "bulk_get"), bytes);
	sim_equal(&x->w, "bytes that servers put", sim_sum(&x->c, "bulk_put"), bytes);
	x->t->pings = nr * each;
	x->t->moved = 2 * bytes;
}

static void free_in_the_end(struct world *x)
{
	u32 n;

	sim_verb(&x->c, "end_session");
	sim_ask(&x->c);
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
	x->c.m = &x->m[0];
	for (n = 0; n < x->t->nodes && !x->w.failed; n++) {
		x->m[n].ix = n;
		if (sim_core.up(&x->w, &x->m[n], 64))
			sim_fail(&x->w, "node %u does not come up", n);
	}
}

static void end(struct world *x, struct sim_result *result)
{
	u32 n;

	for (n = 0; n < x->t->nodes; n++)
		if (x->m[n].st)
			sim_core.stop(&x->m[n]);
	sim_run(&x->w, x->w.now_ns + 1000 * SIM_MS);
	for (n = 0; n < x->t->nodes; n++) {
		if (x->w.node[n].ln)
			x->t->resends += lnet_stat_sum(x->w.node[n].ln, LNET_C_resend_count) +
					 lnet_stat_sum(x->w.node[n].ln, LNET_C_hedges);
		if (x->m[n].st)
			sim_core.free(&x->m[n]);
	}
	sim_console_free(&x->c);
	if (!x->w.failed && !x->t->resends)
		sim_fail(&x->w, "the cut hit nothing");
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
