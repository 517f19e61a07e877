/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/control/cmd_ping.c: the time that a ping may take. */
#include "ctl_world.h"

/* The driver loses each ping, so it ends at its timeout, within 5 %. */
static void test_ping_timeout(void)
{
	static const u64 ms[][2] = {	/* requested, expected */
		{ 300, 300 }, { 2000, 2000 }, { 20000, 20000 }, { 0, 5000 }, { 180001, 180000 },
	};
	struct lnetctl_node *doc;
	struct world w;
	unsigned int i;
	u64 begin_ns, took_ns;

	ctl_world_begin(&w);
	UNIT_EQUAL(ctl_net_add(&w, "tcp", "eth1"), 0, "add");
	fake_lnd.loses = true;
	UNIT_EQUAL(lnet_tunable_set(w.ln, "transaction_timeout", 5 * NSEC_PER_SEC), 0, "set");
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		begin_ns = node_env.now_ns;
		UNIT_EQUAL(lnetctl_ping(w.c, "10.0.1.9@tcp", NULL, (unsigned int)ms[i][0], &doc),
			   0, "ping");
		took_ns = node_env.now_ns - begin_ns;
		CU_ASSERT_PTR_NOT_NULL(lnetctl_find(doc, "manage"));
		CU_ASSERT(took_ns * 20 >= ms[i][1] * NSEC_PER_MSEC * 19);
		CU_ASSERT(took_ns * 20 <= ms[i][1] * NSEC_PER_MSEC * 21);
		lnetctl_doc_free(doc);
	}
	ctl_world_end(&w);
}

UNIT_SUITE(cmd_ping, { "a ping ends at its timeout", test_ping_timeout })
