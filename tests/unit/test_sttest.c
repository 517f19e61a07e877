/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do tests run as often as configured, transfer the configured data, and detect errors? */
#include "st_world.h"

static void begin(void)
{
	st_begin(3);
	UNIT_EQUAL(st_make(1), 0, "client");
	UNIT_EQUAL(st_make(2), 0, "server");
}

/* Both ends count all requests; @client: the other counts of the client. */
static void run_pings(u32 loop, u32 concur, struct lst_query_stat_rpy *client)
{
	struct lst_query_stat_rpy server;

	begin();
	UNIT_EQUAL(st_test(1, 2, (s32)loop, concur, 0, 0, 0), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, "query");
	UNIT_EQUAL(st_active(), 0, "ended by itself");
	st_stat(1, client);
	st_stat(2, &server);
	UNIT_EQUAL(client->active_batches, 0, "ended by itself");
	UNIT_EQUAL(client->rpcs_sent, loop * concur, "as often as asked");
	UNIT_EQUAL(server.rpcs_rcvd, loop * concur + 2, "and MAKE_SESSION, QUERY_STAT");
}

static void pings(void)
{
	struct lst_query_stat_rpy client;

	run_pings(25, 4, &client);
	UNIT_EQUAL(client.ping_errors + client.rpc_errors + client.rpcs_expired, 0, "no error");
	UNIT_EQUAL(client.send_count >= 100, true, "LNet's own count");
	st_end();
}

/* Changes one field of each reply to a ping. */
static enum { REPLY_SEQ, REPLY_OLD_SEQ, REPLY_MAGIC, NR_REPLIES } spoiled;

static void spoil_reply(struct rails_msg *m)
{
	struct lst_msg msg;

	if (m->type != RAILS_PUT || m->len != LST_MSG_SIZE ||
	    lst_msg_decode(&msg, m->data, m->len) || msg.type != LST_PING_RPY)
		return;
	msg.ping_rpy.seq += spoiled == REPLY_SEQ;
	msg.ping_rpy.seq -= spoiled == REPLY_OLD_SEQ;
	msg.ping_rpy.magic ^= spoiled == REPLY_MAGIC;
	lst_msg_encode(m->data, &msg);
}

/* An error stops each of the two parts of the test. */
static void wrong_replies(void)
{
	static const char *const names[NR_REPLIES] = { "next", "last", "magic" };
	struct lst_query_stat_rpy client;

	for (spoiled = 0; spoiled < NR_REPLIES; spoiled++) {
		begin();
		UNIT_EQUAL(st_test(1, 2, 5, 2, 0, 0, 0), 0, "added");
		rails.on_carry = spoil_reply;
		UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
		st_run(60 * NSEC_PER_SEC);
		rails.on_carry = NULL;
		UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, "query");
		UNIT_EQUAL(st_active(), 0, "ended by itself");
		st_stat(1, &client);
		UNIT_EQUAL(client.ping_errors, 2, names[spoiled]);
		UNIT_EQUAL(client.rpc_errors + client.rpcs_expired, 0, names[spoiled]);
		st_end();
	}
}

static void exactly(void)
{
	struct lst_query_stat_rpy client;

	run_pings(12000, 1, &client);
	st_end();
}

static const struct {
	const char *name;
	u32 len, opc, check;
} brws[] = {
	{ "read", 4096, LST_BRW_READ, LST_CHECK_NONE },
	{ "write", 4096, LST_BRW_WRITE, LST_CHECK_NONE },
	{ "read simple", 1048576, LST_BRW_READ, LST_CHECK_SIMPLE },
	{ "write simple", 1048576, LST_BRW_WRITE, LST_CHECK_SIMPLE },
	{ "read full", 12288, LST_BRW_READ, LST_CHECK_FULL },
	{ "write full", 12288, LST_BRW_WRITE, LST_CHECK_FULL },
	{ "read discard", 4096, LST_BRW_READ, LST_CHECK_DISCARD },
	{ "one byte", 1, LST_BRW_WRITE, LST_CHECK_FULL },
	{ "seven bytes", 7, LST_BRW_READ, LST_CHECK_SIMPLE },
	{ "4097 bytes", 4097, LST_BRW_WRITE, LST_CHECK_FULL },
};

static void bulk(void)
{
	struct lst_query_stat_rpy client, server;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(brws); i++) {
		bool read = brws[i].opc == LST_BRW_READ;

		begin();
		UNIT_EQUAL(st_test(1, 2, 3, 2, brws[i].len, brws[i].opc, brws[i].check), 0,
			   brws[i].name);
		UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, brws[i].name);
		st_run(NSEC_PER_SEC);
		UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 1, 0), 0, brws[i].name);
		UNIT_EQUAL(st_active(), 0, brws[i].name);
		st_stat(1, &client);
		st_stat(2, &server);
		UNIT_EQUAL(client.brw_errors + server.brw_errors, 0, brws[i].name);
		UNIT_EQUAL(client.rpc_errors + server.rpc_errors, 0, brws[i].name);
		UNIT_EQUAL(read ? server.bulk_put : server.bulk_get, 6ULL * brws[i].len,
			   brws[i].name);
		UNIT_EQUAL(read ? server.bulk_get : server.bulk_put, 0, brws[i].name);
		/* The list of destinations is 12 bytes. */
		UNIT_EQUAL(read ? client.bulk_get : client.bulk_put,
			   6ULL * brws[i].len + (read ? 12 : 0), brws[i].name);
		st_end();
	}
}

/* One sender gets 64 MiB of bulk memory. Its further requests wait, and all are served. */
static void share(void)
{
	struct lst_query_stat_rpy client, server;
	struct lst *st;

	begin();
	st = st_of(2);
	UNIT_EQUAL(st_test(1, 2, 1, 100, 1048576, LST_BRW_WRITE, LST_CHECK_SIMPLE), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(st->c[LST_C_bulk_waits], 36, "waited");
	UNIT_EQUAL(st->bulk_used, 0, "all memory is returned");
	st_stat(1, &client);
	st_stat(2, &server);
	UNIT_EQUAL(client.brw_errors + server.brw_errors, 0, "no error");
	UNIT_EQUAL(client.rpc_errors + server.rpc_errors, 0, "no error");
	UNIT_EQUAL(server.bulk_get, 100ULL << 20, "all were served");
	st_end();
}

/* The share of node @from; NULL: the node has none. */
static struct lst_share *share_of(struct lst *st, unsigned int from)
{
	struct lnet_nid nid = rails_nid(from, 0);
	unsigned int i;

	for (i = 0; i < LST_SENDERS_MAX; i++)
		if (lnet_nid_same(&st->share[i].sender, &nid))
			return &st->share[i];
	return NULL;
}

/* A sender gets a further call only while more are free than it has; others are served. */
static void calls(void)
{
	struct lst_query_stat_rpy console;
	struct lst_share *share;
	struct lst *st;
	u64 dropped;

	begin();
	st = st_of(2);
	UNIT_EQUAL(st_test(1, 2, 1, 1, 4096, LST_BRW_WRITE, LST_CHECK_SIMPLE), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(NSEC_PER_SEC);
	share = share_of(st, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(share);
	UNIT_EQUAL(st->nr_calls + share->nr_calls, 0, "all calls have ended");
	/* As if the node served this many calls of the client, which is its only sender. */
	share->nr_calls += LST_CALLS_MAX / 2;
	st->nr_calls += LST_CALLS_MAX / 2;
	dropped = st->c[LST_C_rpcs_dropped];
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run again");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(st->c[LST_C_rpcs_dropped] > dropped, true, "no call beyond the share");
	dropped = st->c[LST_C_rpcs_dropped];
	st->nr_calls += LST_CALLS_MAX / 2;
	st_stat(2, &console);
	UNIT_EQUAL(console.rpcs_dropped, dropped, "another sender is served");
	st_run(NSEC_PER_SEC);
	share->nr_calls -= LST_CALLS_MAX / 2;
	st->nr_calls -= LST_CALLS_MAX;
	st_end();
}

/* LNet may report late that fetched data has arrived: the reply does not wait for this. */
static void answered(void)
{
	static struct lst_tally t;
	u64 numbers[13];

	begin();
	UNIT_EQUAL(st_test(1, 2, 50, 2, 65536, LST_BRW_WRITE, LST_CHECK_FULL), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(2 * NSEC_PER_SEC);
	st_tally(1, 1, false, &t, numbers);
	UNIT_EQUAL(t.c[LST_T_received], 100, "all");
	UNIT_EQUAL(t.c[LST_T_corrupt] + t.c[LST_T_lost], 0, "well");
	UNIT_EQUAL(t.max_ns < NSEC_PER_MSEC / 10, true, "over with the answer");
	/* The node leaves the session while requests of the test are in flight. */
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "again");
	UNIT_EQUAL(st_remove(1), 0, "left");
	st_end();
}

static void refusals(void)
{
	begin();
	UNIT_EQUAL(st_test(1, 2, 0, 1, 0, 0, 0), EINVAL, "no loop");
	UNIT_EQUAL(st_test(1, 2, 1, 0, 0, 0, 0), EINVAL, "no unit");
	UNIT_EQUAL(st_test(1, 2, 1, 1025, 0, 0, 0), EINVAL, "too many units");
	UNIT_EQUAL(st_test(1, 2, 1, 1, 4096, 3, LST_CHECK_NONE), EINVAL, "neither read nor write");
	UNIT_EQUAL(st_test(1, 2, 1, 1, 4096, LST_BRW_READ, 5), EINVAL, "no such check");
	UNIT_EQUAL(st_test(1, 2, 1, 1, LNET_MTU + 1, LST_BRW_READ, 1), EINVAL, "too long");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), ENOENT, "no such batch");
	UNIT_EQUAL(st_test(1, 2, -1, 1, 0, 0, 0), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 2, 0), ENOENT, "no such test");
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, ~0U, 0), EINVAL, "negative");
	UNIT_EQUAL(st_batch(1, 4, 0, 0), -ETIMEDOUT, "no such operation");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "it runs");
	UNIT_EQUAL(st_nodes[1].st->session->nr_running, 1, "once");
	UNIT_EQUAL(st_test(1, 2, 1, 1, 0, 0, 0), EBUSY, "while it runs");
	UNIT_EQUAL(st_remove(1), 0, "removed");
	UNIT_EQUAL(st_test(1, 2, 1, 1, 0, 0, 0), ENOENT, "no session");
	st_end();
}

/* Endless tests end when they are stopped, with and without force. */
static void stops(void)
{
	u32 force;

	for (force = 0; force < 2; force++) {
		begin();
		st_test(1, 2, -1, 3, 0, 0, 0);
		st_test(1, 2, -1, 2, 4096, LST_BRW_WRITE, LST_CHECK_FULL);
		UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
		UNIT_EQUAL(st_active(), 2, "tests");
		UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 1, 0), 0, "query");
		UNIT_EQUAL(st_active(), 3, "units");
		UNIT_EQUAL(st_batch(1, LST_BATCH_STOP, 0, force), 0, "stop");
		st_run(NSEC_PER_SEC);
		UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, "query");
		UNIT_EQUAL(st_active(), 0, "stopped");
		UNIT_EQUAL(st_nodes[1].st->session->ping_errors, 0, "no error");
		UNIT_EQUAL(st_nodes[1].st->session->brw_errors, 0, "no error");
		UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run again");
		UNIT_EQUAL(st_active(), 2, "tests");
		st_end();
	}
}

/* The server has ended: each part stops at its first error. */
static void errors_stop_a_unit(void)
{
	begin();
	st_test(1, 2, 10, 2, 0, 0, 0);
	rails_on(1, -1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_DROPPED, 40);
	rails_on(2, -1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_DROPPED, 40);
	lst_stop(st_nodes[2].st);
	rails_clear();
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(70 * NSEC_PER_SEC);
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), 0, "query");
	UNIT_EQUAL(st_active(), 0, "over");
	UNIT_EQUAL(st_nodes[1].st->session->ping_errors, 2, "one each");
	UNIT_EQUAL(st_nodes[1].st->c[LST_C_rpcs_expired] + st_nodes[1].st->c[LST_C_rpc_errors], 2,
		   "counted");
	st_end();
}

static void patterns(void)
{
	u8 mem[64];
	u32 len, i;

	for (len = 1; len <= 40; len++) {
		lst_pattern_fill(mem, len, LST_CHECK_FULL);
		UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_FULL, false), true, "full");
		UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_SIMPLE, false), true, "simple");
		UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_FULL, true), false, "swapped");
		for (i = 0; i < len; i++) {
			mem[i] ^= 1;
			UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_FULL, false), false,
				   "a bit");
			UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_NONE, false), true, "none");
			mem[i] ^= 1;
		}
		lst_pattern_poison(mem, len, LST_CHECK_SIMPLE);
		UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_SIMPLE, false), false, "poison");
		lst_pattern_poison(mem, len, LST_CHECK_FULL);
		UNIT_EQUAL(lst_pattern_good(mem, len, LST_CHECK_FULL, false), false, "poison");
	}
}

/* LST_TESTS_MAX and LST_PARTS_MAX bound a session with all its batches. */
static void bounds(void)
{
	struct lst_session s = { .batches = LIST_HEAD_INIT(s.batches) };
	struct lst_test *test;
	u32 i, nr_ok = 0;

	for (i = 0; i < LST_TESTS_MAX + 5; i++) {
		test = kzalloc(sizeof(*test), GFP_KERNEL);
		if (!lst_test_link_locked(&s, i / 2, 0, test))
			nr_ok++;
		else
			lst_test_free(test);
	}
	UNIT_EQUAL(nr_ok, LST_TESTS_MAX, "tests");
	lst_batches_free(&s);
	s.nr_tests = nr_ok = 0;
	for (i = 0; i < 6; i++) {
		test = kzalloc(sizeof(*test), GFP_KERNEL);
		test->nr_units = LST_UNITS_MAX;
		if (!lst_test_link_locked(&s, i, 0, test))
			nr_ok++;
		else
			lst_test_free(test);
	}
	UNIT_EQUAL(nr_ok, LST_PARTS_MAX / LST_UNITS_MAX, "tests with the most units");
	lst_batches_free(&s);
}

/* The IDs of requests of node 1 are not consecutive. */
static void ids(void)
{
	struct lnet_process to = { .pid = LNET_PID };
	struct lst_rpc rpc[3];
	unsigned int i;

	begin();
	spin_lock(&st_of(1)->lock);
	for (i = 0; i < ARRAY_SIZE(rpc); i++)
		lst_rpc_init_locked(&rpc[i], st_of(1), &to);
	spin_unlock(&st_of(1)->lock);
	for (i = 1; i < ARRAY_SIZE(rpc); i++)
		CU_ASSERT(abs_diff(rpc[i].rpyid, rpc[i - 1].rpyid) > U32_MAX);
	st_end();
}

UNIT_SUITE(sttest,
	   { "a session has a bounded number of tests and parts", bounds },
	   { "the ID of a request cannot be computed from another ID", ids },
	   { "pings are sent as often as asked", pings },
	   { "a reply with another sequence number or magic is an error", wrong_replies },
	   { "r.c2.net.self-test.test.duration.simple: 12000 loops are 12000 pings", exactly },
	   { "r.c2.net.self-test.test.bulk: moved the right way, whatever its length", bulk },
	   { "one sender has a share of the memory for bulk", share },
	   { "one sender leaves calls for others", calls },
	   { "a write is over when it is answered", answered },
	   { "what a node refuses", refusals },
	   { "a batch stops and runs again", stops },
	   { "an error stops a unit", errors_stop_a_unit },
	   { "patterns are recognised", patterns })
