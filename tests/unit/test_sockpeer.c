/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does the TCP driver close or keep a connection set whose peer is unresponsive? */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)

/* A has connected: CONTROL is fake[0], BULK_OUT of this node fake[1]. */
static void open_set(void)
{
	fake_begin(B);
	fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	fake_come(A, LNET_CTYPE_BULK_IN, INC_A);
	fake_come(A, LNET_CTYPE_BULK_OUT, INC_A);
	fake_run(50 * MS);
}

static void long_write(void)
{
	fake_run(600 * MS);
}

/* The writing thread runs only after the message's deadline: the peer is not at fault. */
static void test_slow_writer(void)
{
	struct msg *msg;

	open_set();
	fw.during_write = long_write;
	msg = fake_send(A, 10, 500 * MS);
	UNIT_EQUAL(msg->how, LNET_OK, "sent");
	CU_ASSERT(fake_is_open(&fw.fake[0]) && fake_is_open(&fw.fake[1]));
	fake_end();
}

/*
 * A stuck set stays while it holds a message that is sent once. A message that is too large to copy
 * ends the set at its deadline.
 */
static void test_stalled_once(void)
{
	struct msg *once, *half;

	open_set();
	fw.fake[1].room = 5100;
	fw.fake[1].unacked = 5100;
	fw.once = true;
	once = fake_send(A, 4096, 500 * MS);
	fw.once = false;
	half = fake_send(A, 65536, 500 * MS);
	fake_run(510 * MS);
	UNIT_EQUAL(once->how, LNET_OK, "written, not acknowledged");
	UNIT_EQUAL(half->how, LNET_NETWORK_TIMEOUT, "half written");
	CU_ASSERT(fake_is_open(&fw.fake[0]) && fake_is_open(&fw.fake[1]));
	half = fake_send(A, 65537, 500 * MS);
	fw.fake[1].room = 66000;
	fake_run(510 * MS);
	CU_ASSERT(half->how != LNET_OK);
	fake_run(50 * SEC);
	CU_ASSERT(fw.fake[1].shut);
	fake_end();
}

static void send_and_reset(void)
{
	struct lnet_ni *ni = fw.node->ni;
	struct lnet_pass p;
	struct msg *msg = fake_send(A, 10, 60 * SEC);

	fake_run(100 * MS);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
	ni->ops->path_reset(&p, ni, msg->att.pni);
	lnet_pass_end(&p);
}

static void test_path_reset(void)
{
	open_set();
	send_and_reset();
	/* all bytes are acknowledged, so the set stays */
	CU_ASSERT(fake_is_open(&fw.fake[0]));
	fw.fake[0].unacked = 106;
	send_and_reset();
	CU_ASSERT(fw.fake[0].shut && fw.fake[0].aborted);
	UNIT_EQUAL(fake_nr_lost(), 1, "reports");
	fake_end();
}

/* An unacknowledged message that is sent once keeps the set. An acknowledged one does not. */
static void test_path_reset_once(void)
{
	open_set();
	fw.once = true;
	fw.fake[0].unacked = 106;
	send_and_reset();
	CU_ASSERT(fake_is_open(&fw.fake[0]));
	UNIT_EQUAL(fw.sn->c[SOCK_C_resets_held_off], 1, "resets held off");
	fw.once = false;
	send_and_reset();
	CU_ASSERT(fw.fake[0].shut && fw.fake[0].aborted);
	UNIT_EQUAL(fake_nr_lost(), 1, "reports");
	fake_end();
}

/* How often the driver asks for unacknowledged bytes in a second: several times per check. */
static unsigned int checks_per_s(void)
{
	u32 before = fw.fake[0].nr_unacked;

	fake_run(SEC);
	return fw.fake[0].nr_unacked - before;
}

/*
 * The longer a peer acknowledges nothing, the less often the driver checks it. It notices progress
 * soon, and closes the set in time.
 */
static void test_check_pause(void)
{
	struct sock_peer *peer;
	u64 stuck_ns;

	open_set();
	peer = fw.fake[0].c->peer;
	fw.fake[0].unacked = 106;
	fake_send(A, 10, 500 * MS);
	CU_ASSERT(checks_per_s() >= 100);
	fake_run(9 * SEC);
	CU_ASSERT(checks_per_s() <= 10);
	fw.fake[0].unacked = 53;
	stuck_ns = contract_now(fw.node);
	fake_run(500 * MS);
	CU_ASSERT(peer->alive_ns > stuck_ns);
	CU_ASSERT(checks_per_s() >= 100);
	fake_run(peer->alive_ns + lnet_sock_timeout_ns(&fw.node->ln.tun) -
		 contract_now(fw.node) - 20 * MS);
	CU_ASSERT(fake_is_open(&fw.fake[0]));
	fake_run(40 * MS);
	CU_ASSERT(fw.fake[0].shut);
	fake_end();
}

#define MANY 1800

/* Peers without connections: the driver frees a peer as soon as it serves the peer. */
static void make_peers(unsigned int nr, void (*choose)(struct lnet_nid *nid))
{
	struct lnet_peer_ni *pni;
	struct lnet_nid nid;
	unsigned int i;

	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "10.1.0.0@tcp"), 0);
	for (i = 0; i < nr; i++) {
		choose(&nid);
		pni = lnet_peer_ni_get(&fw.node->ln, &nid);
		CU_ASSERT_PTR_NOT_NULL_FATAL(sock_peer_make(fw.sn, &nid, pni));
		lnet_peer_ni_put(pni);
	}
}

static void choose_next(struct lnet_nid *nid)
{
	nid->addr[0] = cpu_to_be32(be32_to_cpu(nid->addr[0]) + 1);
}

/* The former hash of the driver would put all these NIDs into one chain. */
static void choose_same(struct lnet_nid *nid)
{
	do
		choose_next(nid);
	while (lnet_nid_hash(nid) & 63);
}

static void tick(void)
{
	static u8 staging[4096];
	struct lnet_pass p;

	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	sock_tick(&p, fw.sn, staging, sizeof(staging));
	lnet_pass_end(&p);
}

/* In 10 ms the driver serves a bounded number of peers, in any number of ticks. */
static void test_many_due(void)
{
	unsigned int i;

	fake_begin(B);
	make_peers(MANY, choose_next);
	contract_env_run(&fw.pair, 20 * MS);
	for (i = 0; i < 10; i++) {
		sock_arm(fw.sn, 0);
		tick();
	}
	UNIT_EQUAL(fw.sn->nr_peers, MANY - SOCK_TICK_PEERS, "left at once");
	contract_env_run(&fw.pair, 5 * MS);
	tick();
	UNIT_EQUAL(fw.sn->nr_peers, MANY - SOCK_TICK_PEERS, "left after 5 ms");
	fake_run(10 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, MANY - 2 * SOCK_TICK_PEERS, "left after 15 ms");
	fake_run(30 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, 0, "left after 45 ms");
	fake_end();
}

static void test_chains(void)
{
	struct sock_table *t;
	struct sock_peer *peer;
	unsigned int i, nr, most = 0;

	fake_begin(B);
	t = &fw.sn->by_nid;
	make_peers(MANY, choose_same);
	for (i = 0; i < 1U << t->bits; i++) {
		nr = 0;
		hlist_for_each_entry(peer, &t->heads[i], hash.link)
			nr++;
		most = max(most, nr);
	}
	UNIT_EQUAL(t->nr, MANY, "peers");
	CU_ASSERT(most < 12);
	fake_end();
}

UNIT_SUITE(sockpeer,
	   { "a tick serves a bounded number of peers", test_many_due },
	   { "a peer is checked less often the longer it is stuck", test_check_pause },
	   { "nobody can choose NIDs of the same chain", test_chains },
	   { "a late writing thread does not end a set", test_slow_writer },
	   { "a stuck set stays while it holds a message that is sent once", test_stalled_once },
	   { "a suspect path loses only connections without progress", test_path_reset },
	   { "a suspect path keeps an unacknowledged message that is sent once",
	     test_path_reset_once },
)
