/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The simulator's driver fulfils the contract of drivers; virtual time is the same in each run. */
#include "contract_rename.h"
#define simlnd_ops contract_sim_ops
#include "lnd/simlnd/link.c"
#include "lnd/simlnd/conn.c"
#include "lnd/simlnd/msg.c"
#include "lnd/simlnd/simlnd.c"
#include "contract.h"
#undef simlnd_ops

/* The world starts nodes with this driver; here the suite does it. */
extern const struct lnet_lnd_ops simlnd_ops;
const struct lnet_lnd_ops simlnd_ops = { .name = "none" };

static struct sim_world *world_of(struct contract_pair *pair)
{
	return pair->world;
}

static int make_pair(struct contract_pair *pair)
{
	struct sim_world *w = kzalloc(sizeof(*w), GFP_KERNEL);
	unsigned int i;

	if (!w || sim_world_init(w, 1, 2))
		return -ENOMEM;
	pair->world = w;
	for (i = 0; i < 2; i++) {
		pair->env[i] = &w->node[i].env;
		sim_nid(&pair->cfg[i].nid, i, 0);
	}
	return 0;
}

static void run(struct contract_pair *pair, u64 ns)
{
	struct sim_world *w = world_of(pair);
	u64 until_ns = w->now_ns + ns;

	sim_run(w, until_ns);
	CU_ASSERT_FALSE(w->failed);
	w->now_ns = max(w->now_ns, until_ns);
}

static void cut(struct contract_pair *pair, bool silent)
{
	struct sim_world *w = world_of(pair);

	if (!silent) {
		simlnd_reset_node(w, 1, -1, -1);
		return;
	}
	w->fault[w->nr_faults++] = (struct sim_fault){
		.kind = SIM_CUT, .to_ns = U64_MAX, .rail = -1, .node = -1, .peer = -1,
	};
}

static void unmake_pair(struct contract_pair *pair)
{
	sim_world_fini(world_of(pair));
	kfree(pair->world);
}

static const struct contract_driver driver = {
	.ops = &contract_sim_ops,
	.make = make_pair,
	.run = run,
	.cut = cut,
	.unmake = unmake_pair,
};

static void test_contract(void)
{
	contract_run(&driver);
}

/* ---- the world ---- */

static u64 seen[4];
static unsigned int nr_seen;

static void see(struct sim_world *w, void *arg, u64 num)
{
	if (nr_seen < ARRAY_SIZE(seen))
		seen[nr_seen++] = num;
}

static void test_order(void)
{
	struct sim_world w;

	UNIT_EQUAL(sim_world_init(&w, 7, 1), 0, "init");
	nr_seen = 0;
	sim_at(&w, SIM_START_NS + 20, see, NULL, 3);
	sim_at(&w, SIM_START_NS + 10, see, NULL, 1);
	sim_at(&w, SIM_START_NS + 10, see, NULL, 2);
	CU_ASSERT_FALSE(sim_run(&w, SIM_START_NS + 100));
	UNIT_EQUAL(nr_seen, 3, "events");
	UNIT_EQUAL(seen[0] * 100 + seen[1] * 10 + seen[2], 123, "by time, then by making");
	sim_world_fini(&w);
}

static void test_faults(void)
{
	struct sim_fault cut_out = {
		.kind = SIM_CUT_OUT, .from_ns = 100, .to_ns = 200, .rail = 1, .node = 0, .peer = -1
	};
	struct sim_fault flap = {
		.kind = SIM_CUT, .to_ns = 1000, .period_ns = 100, .rail = -1, .node = -1, .peer = -1
	};
	struct sim_world w;

	UNIT_EQUAL(sim_world_init(&w, 7, 2), 0, "init");
	w.fault[w.nr_faults++] = cut_out;
	w.now_ns = SIM_START_NS + 99;
	CU_ASSERT_FALSE(simlnd_cut(&w, 1, 0, 1));
	w.now_ns = SIM_START_NS + 100;
	CU_ASSERT(simlnd_cut(&w, 1, 0, 1));
	CU_ASSERT_FALSE(simlnd_cut(&w, 1, 1, 0));
	CU_ASSERT_FALSE(simlnd_cut(&w, 0, 0, 1));
	w.fault[0] = flap;
	w.now_ns = SIM_START_NS + 49;
	CU_ASSERT(simlnd_cut(&w, 0, 1, 0));
	w.now_ns = SIM_START_NS + 50;
	CU_ASSERT_FALSE(simlnd_cut(&w, 0, 1, 0));
	sim_world_fini(&w);
}

UNIT_SUITE(simlnd,
	{ "keeps the contract", test_contract },
	{ "runs events by time, then by order of making", test_order },
	{ "cuts one way, on one rail, for a time, or on and off", test_faults },
)
