/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pings: which are answered, which result a user gets, and when. */
#include "rails.h"
#include "shard/hooks.h"

static struct {
	unsigned int nr;
	int status;
	u32 len;
	u64 at_ns;
} got;

static void done(void *arg, int status, const u8 *info, u32 len, const struct lnet_nid *primary,
		 uint64_t rtt_ns)
{
	got.nr++;
	got.status = status;
	got.len = len;
	got.at_ns = rails.now_ns;
}

static u64 ping(u64 timeout_ns)
{
	struct lnet_nid nid = rails_nid(1, 0);

	memset(&got, 0, sizeof(got));
	UNIT_EQUAL(lnet_ping(rails.node[0].ln, &nid, NULL, timeout_ns, done, NULL), 0, "a ping");
	return rails.now_ns;
}

static void test_answered(void)
{
	rails_begin(NULL);
	ping(0);
	rails_pump();
	UNIT_EQUAL(got.nr, 1, "told once");
	UNIT_EQUAL(got.status, 0, "answered");
	CU_ASSERT(got.len >= 32);
	rails_end();
	UNIT_EQUAL(got.nr, 1, "told once");
}

static void test_timeout(void)
{
	static const u64 times[] = { 300 * RAILS_MS, 1000 * RAILS_MS, 0 };
	u64 start, want;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		rails_begin(NULL);
		want = times[i] ? times[i] : 5 * NSEC_PER_SEC;
		rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
		start = ping(times[i]);
		rails_run(8 * NSEC_PER_SEC);
		UNIT_EQUAL(got.nr, 1, "told once");
		UNIT_EQUAL(got.status, -ETIMEDOUT, "no answer");
		CU_ASSERT(got.at_ns - start >= want && got.at_ns - start <= want + want / 20);
		rails_end();
	}
}

static void test_unsent(void)
{
	u64 start;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_CORE, FATE_KEEP, LNET_OK, -1);
	start = ping(300 * RAILS_MS);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(got.nr, 1, "told once");
	CU_ASSERT(got.at_ns - start >= 300 * RAILS_MS && got.at_ns - start <= 315 * RAILS_MS);
	rails_end();
}

/* With a timeout of 150 s, a request would be retried only after half of that time. */
static u64 urgent(const struct lnet_nid *nid)
{
	memset(&got, 0, sizeof(got));
	UNIT_EQUAL(lnet_ping_urgent(rails.node[0].ln, nid, NULL, 150 * NSEC_PER_SEC, done, NULL), 0,
		   "a ping");
	return rails.now_ns;
}

static void test_rejected(void)
{
	struct lnet_nid nid = rails_nid(1, 0);
	u64 start;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_CORE, FATE_REJECT, LNET_OK, -1);
	start = urgent(&nid);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(got.nr, 1, "told once");
	UNIT_EQUAL(got.status, -ECONNRESET, "rejected");
	CU_ASSERT(got.at_ns - start <= 10 * RAILS_MS);
	rails_clear();
	rails_on(0, 0, RAILS_CORE, FATE_REJECT, LNET_OK, 1);
	urgent(&nid);
	rails_pump();
	UNIT_EQUAL(got.nr, 1, "told once");
	UNIT_EQUAL(got.status, 0, "another path is tried");
	rails_end();
}

static void test_unconnected(void)
{
	static const struct {
		int fate, err;
	} rows[] = { { FATE_FAIL, -EHOSTUNREACH }, { FATE_CUT, -ETIMEDOUT } };
	struct lnet_nid nid = rails_nid(1, 0);
	unsigned int i;
	u64 start;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		rails_begin(NULL);
		rails_on(0, -1, RAILS_CORE, rows[i].fate, LNET_REMOTE_DROPPED, -1);
		start = urgent(&nid);
		rails_run(10 * NSEC_PER_SEC);
		UNIT_EQUAL(got.nr, 1, "told once");
		UNIT_EQUAL(got.status, rows[i].err, "not connected");
		CU_ASSERT(got.at_ns - start >= NSEC_PER_SEC);
		CU_ASSERT(got.at_ns - start <= 5 * NSEC_PER_SEC);
		rails_end();
	}
}

static void test_at_shutdown(void)
{
	rails_begin(NULL);
	rails_on(0, -1, RAILS_CORE, FATE_KEEP, LNET_OK, -1);
	ping(0);
	rails_node_stop(0);
	UNIT_EQUAL(got.nr, 1, "told once");
	CU_ASSERT(got.status < 0);
	rails_end();
}

UNIT_SUITE(ping,
	{ "answered, told once", test_answered },
	{ "lnt-100, lnd-030: ends at its own time", test_timeout },
	{ "lnd-030: also when the driver never sent it", test_unsent },
	{ "told when the node ends", test_at_shutdown },
	{ "an operator's: a rejection by the last path ends it", test_rejected },
	{ "an operator's: pauses are short", test_unconnected })
