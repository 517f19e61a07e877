/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Dynamically created peers expire in time, others do not, and the number of peers is bounded. */
#include "node.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"

#define SEC ((u64)NSEC_PER_SEC)
#define AGE (300 * SEC)
#define OVER (AGE + AGE / 4 + SEC)	/* by then the walk has visited it */
#define STRANGERS 2000U

static struct lnet *ln;

static void begin(unsigned int nr_shards)
{
	ln = node_begin(nr_shards);
	node_ni_add(ln, "10.0.0.1@tcp");
	ln->tun.peer_age = AGE;
}

static struct lnet_peer_ni *get(const char *text)
{
	struct lnet_nid n = nid(text);

	return lnet_peer_ni_get(ln, &n);
}

static bool known(const char *text)
{
	struct lnet_nid n = nid(text);
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, &n);

	lnet_peer_ni_put(pni);
	return pni;
}

/* Time passes; the worker runs whenever it is due. */
static void run(u64 ns)
{
	u64 end = node_env.now_ns + ns, next;
	unsigned int i;

	for (;;) {
		next = U64_MAX;
		for (i = 0; i < lnet_nr_shards(ln); i++)
			next = min(next, lnet_shard_next_ns(ln, i));
		if (next > end)
			break;
		node_env.now_ns = max(node_env.now_ns, next);
		node_work(ln);
	}
	node_env.now_ns = end;
}

static unsigned int strangers_come(u32 first, unsigned int nr)
{
	struct lnet_nid n = nid("11.0.0.0@tcp");
	unsigned int i, taken = 0;
	struct lnet_peer_ni *pni;

	for (i = 0; i < nr; i++) {
		n.addr[0] = cpu_to_be32(0x0b000000 + first + i);
		pni = lnet_peer_ni_get(ln, &n);
		taken += pni != NULL;
		lnet_peer_ni_put(pni);
	}
	return taken;
}

static void test_forgotten(void)
{
	begin(3);
	UNIT_EQUAL(strangers_come(1, STRANGERS), STRANGERS, "strangers");
	UNIT_EQUAL(ln->nr_peers, STRANGERS + 1, "peers, the loopback's included");
	run(AGE - SEC);
	UNIT_EQUAL(ln->nr_peers, STRANGERS + 1, "before their time");
	run(OVER - AGE + SEC);
	UNIT_EQUAL(ln->nr_peers, 1, "after it");
	UNIT_EQUAL(ln->nr_nids, 1, "NIDs");
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_peers_expired), STRANGERS, "counted");
	UNIT_EQUAL(fake_lnd.nr_gone, STRANGERS, "drivers told");
	run(AGE);
	UNIT_EQUAL(ln->expiry_ns, U64_MAX, "nobody left to look after");
	UNIT_EQUAL(strangers_come(1, 1), 1, "one comes again");
	CU_ASSERT(known("11.0.0.1@tcp"));
	run(OVER);
	CU_ASSERT_FALSE(known("11.0.0.1@tcp"));
	node_end(ln);
}

/* Each peer has one reason to stay, which is then removed; the peer expires one walk later. */
static void keeps_configured(bool begin)
{
	struct lnet_nid n = nid("10.0.0.2@tcp");

	if (begin)
		UNIT_EQUAL(lnet_peer_add(ln, &n, NULL, 0, true), 0, "configuring");
	else
		lnet_peer_del(ln, &n, NULL, 0);
}

static struct lnet_peer_ni *held;

static void keeps_counted(bool begin)
{
	if (begin)
		held = get("10.0.0.2@tcp");
	else
		lnet_peer_ni_put(held);
}

static void keeps_peer(bool begin)
{
	struct lnet_peer_ni *pni = get("10.0.0.2@tcp");

	if (begin)
		lnet_peer_get(pni->peer);
	else
		lnet_peer_put(pni->peer);
	lnet_peer_ni_put(pni);
}

static void keeps_waiting(bool begin)
{
	struct lnet_peer_ni *pni = get("10.0.0.2@tcp");

	pni->nr_wait = begin;
	lnet_peer_ni_put(pni);
}

static void keeps_asked(bool begin)
{
	struct lnet_peer_ni *pni = get("10.0.0.2@tcp");

	list_first_entry(&pni->paths, struct lnet_path, link)->nr_wire = begin;
	lnet_peer_ni_put(pni);
}

static void test_kept(void)
{
	static const struct {
		const char *what;
		void (*reason)(bool begin);
	} rows[] = {
		{ "configured", keeps_configured },
		{ "counted by a driver, a message or a window", keeps_counted },
		{ "counted by an operation", keeps_peer },
		{ "an attempt waits for a credit", keeps_waiting },
		{ "an attempt is with a driver", keeps_asked },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(2);
		lnet_peer_ni_put(get("10.0.0.2@tcp"));
		strangers_come(1, 300);
		rows[i].reason(true);
		run(2 * OVER);
		UNIT_EQUAL(ln->nr_peers, 2, rows[i].what);
		CU_ASSERT(known("10.0.0.2@tcp"));
		rows[i].reason(false);
		run(OVER);
		UNIT_EQUAL(ln->nr_peers, 1, "without that reason");
		node_end(ln);
	}
}

/* Received messages keep a peer, messages that only this node sends do not. */
static void test_heard(void)
{
	struct lnet_peer_ni *pni;

	begin(2);
	pni = get("10.0.0.2@tcp");
	lnet_peer_ni_put(pni);
	lnet_peer_ni_put(get("10.0.0.3@tcp"));
	run(AGE / 2);
	pni->last_rx_ns = node_env.now_ns;
	run(OVER - AGE / 2);
	CU_ASSERT(known("10.0.0.2@tcp"));
	CU_ASSERT_FALSE(known("10.0.0.3@tcp"));
	list_first_entry(&pni->paths, struct lnet_path, link)->liveness_ns = node_env.now_ns;
	run(AGE - SEC);
	CU_ASSERT(known("10.0.0.2@tcp"));
	run(OVER);
	CU_ASSERT_FALSE(known("10.0.0.2@tcp"));
	node_end(ln);
}

/* A path that fails is not pinged for ever if no operator configured its peer. */
static void test_pings_end(void)
{
	struct lnet_peer_ni *pni;
	u64 pings;

	begin(1);
	pni = get("10.0.0.2@tcp");
	spin_lock(&ln->shard[0].lock);
	lnet_health_fail(&ln->shard[0], list_first_entry(&pni->paths, struct lnet_path, link),
			 LNET_NETWORK_TIMEOUT, 0);
	spin_unlock(&ln->shard[0].lock);
	lnet_peer_ni_put(pni);
	run(OVER);
	pings = lnet_stat_sum(ln, LNET_C_recovery_pings);
	CU_ASSERT(pings > 5);
	run(OVER);
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_recovery_pings), pings, "pings since");
	CU_ASSERT_FALSE(known("10.0.0.2@tcp"));
	node_end(ln);
}

/* The oldest peers are evicted before new ones are rejected; peers in use are not evicted. */
static void test_crowd(void)
{
	struct lnet_peer_ni *pni;
	unsigned int i, taken;

	begin(2);
	ln->tun.peers_max = 1000;
	pni = get("10.0.0.2@tcp");
	for (i = 0; i < 50; i++) {
		UNIT_EQUAL(strangers_come(1 + i * 100, 100), 100, "let in");
		run(SEC);
		CU_ASSERT(ln->nr_peers <= 1000);
	}
	CU_ASSERT(known("10.0.0.2@tcp"));
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_peers_rejected), 0, "turned away");
	taken = strangers_come(100000, STRANGERS);	/* at one time */
	CU_ASSERT(taken < 1000);
	UNIT_EQUAL(ln->nr_peers, 1000, "peers");
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_peers_rejected), STRANGERS - taken, "turned away");
	CU_ASSERT(known("10.0.0.2@tcp"));
	lnet_peer_ni_put(get("10.0.0.2@tcp"));		/* a known peer is not rejected */
	run(SEC);
	UNIT_EQUAL(strangers_come(200000, 100), 100, "let in again");
	lnet_peer_ni_put(pni);
	node_end(ln);
}

static void test_never(void)
{
	begin(2);
	ln->tun.peer_age = 0;
	strangers_come(1, 10);
	run(1000 * AGE);
	UNIT_EQUAL(ln->nr_peers, 11, "peers");
	ln->tun.peer_age = AGE;
	run(60 * SEC);
	UNIT_EQUAL(ln->nr_peers, 1, "once an age is set");
	node_end(ln);
}

UNIT_SUITE(peer_expiry,
	{ "strangers are forgotten after peer_age, and drivers told", test_forgotten },
	{ "who is configured or in use is kept", test_kept },
	{ "an age begins when a peer was last heard", test_heard },
	{ "recovery of a peer that nobody configured ends", test_pings_end },
	{ "never more than peers_max; the idle make room", test_crowd },
	{ "peer_age 0: never", test_never },
)
