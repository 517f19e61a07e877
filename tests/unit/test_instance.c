/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node has its loopback from the start, survives memory shortage and leaves nothing behind. */
#include "node.h"
#include "shard/shard.h"
#include "topology/topology.h"

static void test_create(void)
{
	struct lnet *ln = node_begin(3);

	UNIT_EQUAL(lnet_pid(ln), LNET_PID, "pid");
	UNIT_EQUAL(lnet_nr_shards(ln), 3, "shards");
	CU_ASSERT_PTR_EQUAL(lnet_env_of(ln), &node_env.env);
	CU_ASSERT(ln->instance != 0);
	UNIT_EQUAL(lnet_tunables_of(ln)->retry_count, 2, "a tunable's default");
	UNIT_EQUAL(ln->nr_nis, 1, "NIs");
	CU_ASSERT_PTR_NOT_NULL_FATAL(ln->lo);
	CU_ASSERT(lnet_nid_is_lo(&ln->lo->nid) && lnet_ni_usable(ln->lo));
	node_end(ln);
	lnet_destroy(NULL);
}

static void test_refusals(void)
{
	struct lnet_cfg cfg = { .env = NULL };
	struct lnet *ln = (struct lnet *)1;

	fake_env_init(&node_env);
	UNIT_EQUAL(lnet_create(&ln, &cfg), -EINVAL, "without environment");
	CU_ASSERT_PTR_NULL(ln);
	cfg.env = &node_env.env;
	cfg.nr_shards = LNET_MAX_SHARDS + 1;
	UNIT_EQUAL(lnet_create(&ln, &cfg), -EINVAL, "too many shards");
}

static void test_given(void)
{
	struct lnet_cfg cfg = { .env = &node_env.env, .pid = 7, .nr_shards = 1, .instance = 99 };
	struct lnet *ln = NULL;

	fake_env_init(&node_env);
	UNIT_EQUAL(lnet_create(&ln, &cfg), 0, "creating");
	UNIT_EQUAL(lnet_pid(ln), 7, "pid given");
	UNIT_EQUAL(ln->instance, 99, "instance given");
	lnet_destroy(ln);
}

static void test_no_memory(void)
{
	struct lnet_cfg cfg = { .env = &node_env.env };
	struct lnet *ln = NULL;
	unsigned int nth = 0;
	int err;

	fake_env_init(&node_env);
	do {
		unit_fail_alloc(++nth);
		err = lnet_create(&ln, &cfg);
		unit_fail_alloc(0);
		if (err)
			UNIT_EQUAL(err, -ENOMEM, "with an allocation failing");
	} while (err && nth < 1000);
	CU_ASSERT(nth > 5);
	lnet_destroy(ln);
}

static void test_register(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_lnd_ops ops = fake_tcp_ops, more[LNET_MAX_LNDS];
	unsigned int i;

	UNIT_EQUAL(lnet_lnd_register(ln, &fake_tcp_ops), -EEXIST, "the same type again");
	ops.type = LNET_LND_LO;
	UNIT_EQUAL(lnet_lnd_register(ln, &ops), -EEXIST, "the loopback's type");
	ops.type = LNET_LND_O2IB;
	ops.ni_stop = NULL;
	UNIT_EQUAL(lnet_lnd_register(ln, &ops), -EINVAL, "an op missing");
	for (i = 2; i < LNET_MAX_LNDS; i++) {
		more[i] = fake_tcp_ops;
		more[i].type = (u8)(20 + i);
		UNIT_EQUAL(lnet_lnd_register(ln, &more[i]), 0, "another type");
	}
	ops = fake_tcp_ops;
	ops.type = 40;
	UNIT_EQUAL(lnet_lnd_register(ln, &ops), -EINVAL, "no room");
	lnet_lnd_unregister(ln, &ops);
	UNIT_EQUAL(lnet_lnd_register(ln, &ops), -EINVAL, "no room: it was not there");
	lnet_lnd_unregister(ln, &more[2]);
	UNIT_EQUAL(lnet_lnd_register(ln, &ops), 0, "the room that another left");
	node_end(ln);
}

static bool never(struct lnet *ln, void *arg)
{
	(*(unsigned int *)arg)++;
	return false;
}

static bool third_time(struct lnet *ln, void *arg)
{
	return ++*(unsigned int *)arg >= 3;
}

static void test_wait(void)
{
	struct lnet *ln = node_begin(1);
	unsigned int asked = 0;

	CU_ASSERT_FALSE(lnet_cfg_wait(ln, never, &asked, NSEC_PER_SEC));
	CU_ASSERT(asked >= 2 && asked <= 4);	/* the clock is still, so the wait ends */
	asked = 0;
	CU_ASSERT_TRUE(lnet_cfg_wait(ln, third_time, &asked, U64_MAX));
	node_end(ln);
}

/* The count that lnet_destroy() checks: each NI, peer and peer NI is counted until it is freed. */
static void test_counted(void)
{
	struct lnet_nid here = nid("10.0.0.9@tcp"), there = nid("10.0.0.1@tcp"),
			also = nid("10.1.0.1@tcp1");
	struct lnet *ln = node_begin(2);
	int begun = atomic_read(&ln->nr_counted);
	struct lnet_peer_ni *pni;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	UNIT_EQUAL(atomic_read(&ln->nr_counted), begun + 1, "it");
	UNIT_EQUAL(lnet_peer_add(ln, &there, &also, 1, true), 0, "peer");
	UNIT_EQUAL(atomic_read(&ln->nr_counted), begun + 4, "it, and its interfaces");
	pni = lnet_peer_ni_get(ln, &there);
	UNIT_EQUAL(lnet_peer_del(ln, &there, NULL, 0), 0, "it goes");
	UNIT_EQUAL(atomic_read(&ln->nr_counted), begun + 3, "one is held, and so is the peer");
	lnet_peer_ni_put(pni);
	UNIT_EQUAL(atomic_read(&ln->nr_counted), begun + 1, "gone");
	UNIT_EQUAL(lnet_ni_del(ln, &here), 0, "interface");
	UNIT_EQUAL(atomic_read(&ln->nr_counted), begun, "gone");
	node_end(ln);
}

UNIT_SUITE(instance,
	{ "counts what is counted, and ends with none", test_counted },
	{ "has a loopback, a pid, shards, tunables", test_create },
	{ "refuses what makes no node", test_refusals },
	{ "takes pid and instance as given", test_given },
	{ "is not made without memory, and nothing is left", test_no_memory },
	{ "knows a driver per type", test_register },
	{ "waits for configuration, but not for a clock that stands", test_wait },
)
