/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Operations over the loopback of one real instance: events, replies, outcomes. */
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include "shard/shard.h"
#include "unit.h"

#define SIZE 4096

static struct node {
	struct lnet_env *env;
	struct lnet *ln;
	u32 nr[8], final, last_mlength;
	int status;
	bool unlinked;
	u8 src[SIZE], dst[SIZE];
} node;

static void handler(const struct lnet_event *ev)
{
	node.nr[ev->kind]++;
	if (ev->op_ptr) {
		node.final += ev->final;
		node.status = ev->status;
		node.last_mlength = ev->mlength;
	}
	node.unlinked |= ev->unlinked;
}

static void setup(void)
{
	struct lnet_user_env_cfg ucfg = { .mode = LNET_PROGRESS_MANUAL };
	struct lnet_cfg cfg = { 0 };
	u32 i;

	memset(&node, 0, sizeof(node));
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_create(&node.env, &ucfg), 0);
	cfg.env = node.env;
	CU_ASSERT_EQUAL_FATAL(lnet_create(&node.ln, &cfg), 0);
	CU_ASSERT_EQUAL_FATAL(lnet_user_env_start(node.env, node.ln), 0);
	for (i = 0; i < SIZE; i++)
		node.src[i] = i * 7;
}

static void teardown(void)
{
	lnet_user_env_stop(node.env);
	lnet_destroy(node.ln);
	lnet_user_env_destroy(node.env);
}

static bool ended(void *want)
{
	return node.final >= *(u32 *)want;
}

static void attach(u32 options)
{
	struct lnet_md_cfg md = {
		.start = node.dst, .length = SIZE, .threshold = LNET_THRESHOLD_INF, .cpt = -1
	};
	struct lnet_process any = { .pid = LNET_PID_ANY };
	lnet_me_t me;
	lnet_md_t h;

	memset(&any.nid, 0xff, sizeof(any.nid));
	md.options = options;
	md.handler = handler;
	CU_ASSERT_EQUAL_FATAL(
		lnet_me_attach(node.ln, 5, &any, 42, 0, LNET_RETAIN, LNET_INS_AFTER, &me), 0);
	CU_ASSERT_EQUAL_FATAL(lnet_md_attach(node.ln, me, &md, LNET_RETAIN, &h), 0);
}

static lnet_md_t bind(u32 len)
{
	struct lnet_md_cfg md = {
		.start = node.src, .length = len, .threshold = LNET_THRESHOLD_INF, .cpt = -1
	};
	lnet_md_t h;

	md.handler = handler;
	CU_ASSERT_EQUAL_FATAL(lnet_md_bind(node.ln, &md, LNET_RETAIN, &h), 0);
	return h;
}

static void xfer(struct lnet_xfer *x, lnet_md_t md, u32 flags)
{
	lnet_xfer_init(x);
	x->md = md;
	lnet_nid_from_nid4(&x->target.nid, LNET_NID4_LO);
	x->portal = 5;
	x->match_bits = 42;
	x->flags = flags;
	x->op_ptr = &node;
	x->timeout_ns = NSEC_PER_SEC;
}

static void wait_final(u32 want)
{
	CU_ASSERT_EQUAL(lnet_progress_until(node.ln, ended, &want, 3 * NSEC_PER_SEC), 0);
	CU_ASSERT_EQUAL(node.final, want);
}

static void test_put_ack(void)
{
	struct lnet_xfer x;

	setup();
	attach(LNET_MD_OP_PUT | LNET_MD_TRUNCATE);
	xfer(&x, bind(1000), LNET_ACK);
	CU_ASSERT_EQUAL(lnet_put(node.ln, &x), 0);
	wait_final(1);
	CU_ASSERT_EQUAL(node.status, 0);
	UNIT_EQUAL(node.nr[LNET_EVENT_SEND], 1, "SEND");
	UNIT_EQUAL(node.nr[LNET_EVENT_ACK], 1, "ACK");
	UNIT_EQUAL(node.nr[LNET_EVENT_PUT], 1, "PUT");
	UNIT_EQUAL(node.last_mlength, 1000, "mlength");
	CU_ASSERT_EQUAL(memcmp(node.src, node.dst, 1000), 0);
	teardown();
}

static void test_put_noack(void)
{
	struct lnet_xfer x;

	setup();
	attach(LNET_MD_OP_PUT | LNET_MD_TRUNCATE);
	xfer(&x, bind(SIZE), 0);
	CU_ASSERT_EQUAL(lnet_put(node.ln, &x), 0);
	wait_final(1);
	CU_ASSERT_EQUAL(node.status, 0);
	UNIT_EQUAL(node.nr[LNET_EVENT_SEND], 1, "SEND");
	UNIT_EQUAL(node.nr[LNET_EVENT_ACK], 0, "no ACK");
	teardown();
}

static void test_get(void)
{
	struct lnet_xfer x;

	setup();
	attach(LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE | LNET_MD_TRUNCATE);
	memset(node.dst, 0x5a, SIZE);
	xfer(&x, bind(100), 0);
	x.offset = 10;
	CU_ASSERT_EQUAL(lnet_get(node.ln, &x), 0);
	wait_final(1);
	CU_ASSERT_EQUAL(node.status, 0);
	UNIT_EQUAL(node.nr[LNET_EVENT_REPLY], 1, "REPLY");
	UNIT_EQUAL(node.nr[LNET_EVENT_GET], 1, "GET");
	CU_ASSERT_EQUAL(memcmp(node.src, node.dst, 100), 0);
	teardown();
}

static void test_no_match(void)
{
	struct lnet_xfer x;

	setup();
	xfer(&x, bind(100), LNET_ACK);
	x.timeout_ns = 200 * NSEC_PER_MSEC;
	CU_ASSERT_EQUAL(lnet_put(node.ln, &x), 0);
	wait_final(1);
	CU_ASSERT_EQUAL(node.status, -ETIMEDOUT);
	teardown();
}

static void test_many(void)
{
	struct lnet_xfer x;
	lnet_md_t md;
	u32 i;

	setup();
	attach(LNET_MD_OP_PUT | LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE);
	md = bind(64);
	for (i = 0; i < 1000; i++) {
		xfer(&x, md, LNET_ACK);
		CU_ASSERT_EQUAL(lnet_put(node.ln, &x), 0);
	}
	wait_final(1000);
	UNIT_EQUAL(node.nr[LNET_EVENT_PUT], 1000, "all taken");
	UNIT_EQUAL(lnet_stat_sum(node.ln, LNET_C_ops_ok), 1000, "all counted");
	teardown();
}

static void test_shutdown(void)
{
	struct lnet_xfer x;

	setup();
	xfer(&x, bind(100), LNET_ACK);
	CU_ASSERT_EQUAL(lnet_put(node.ln, &x), 0);
	teardown();
	UNIT_EQUAL(node.final, 1, "one final event at shutdown");
	CU_ASSERT_EQUAL(node.status, -ESHUTDOWN);
}

UNIT_SUITE(send,
	{ "PUT with ACK: SEND, ACK, PUT, bytes in place", test_put_ack },
	{ "PUT without ACK: SEND is final", test_put_noack },
	{ "GET reads at the remote offset", test_get },
	{ "a request that nobody matches ends at its deadline", test_no_match },
	{ "a thousand at once, each exactly one final event", test_many },
	{ "lnt-055: shutdown ends what is open with one final event", test_shutdown })
