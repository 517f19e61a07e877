/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/path/health.c: recovery and its pace, suspicion, the hedge budget. */
#define HEALTH_T(name) recovery_t_##name
#include "health.h"

/* ---- recovery -------------------------------------------------------------------------------- */

static void test_hundred(void)
{
	setup(1);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	run(SEC, MS / 4, &lively);
	UNIT_EQUAL(ni_health(0), 1000, "whole");
	UNIT_EQUAL(nr_pings, 100, "exactly 100 pings");
	UNIT_EQUAL(w->sh.c[LNET_C_recovery_pings], 100, "counted");
	UNIT_EQUAL(w->path[0].recovering, RECOVER_NOT, "over");
	UNIT_EQUAL(w->path[0].pinging, 0, "none under way");
	CU_ASSERT_TRUE(list_empty(&w->path[0].timer.link));
	run(SEC, MS, &lively);
	UNIT_EQUAL(nr_pings, 100, "and no more");
	teardown();
}

/* With a long round-trip time a few pings are in flight at once, and their number is exact. */
static void test_hundred_far(void)
{
	static const struct fate far = { always, 10 * NSEC_PER_MSEC };

	setup(1);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	run(SEC, MS / 4, &far);
	UNIT_EQUAL(ni_health(0), 1000, "whole");
	UNIT_EQUAL(nr_pings, 100, "exactly 100 pings");
	UNIT_EQUAL(most_open, PINGS_AT_ONCE, "at once");
	teardown();
}

static void test_thousand_in_a_second(void)
{
	u64 begun_ns;

	setup(1);
	lnet_health_set_ni(&w->ln, &w->ni[0]->nid, 0);
	lnet_health_set_peer(&w->ln, &w->pni[0].nid, 0);
	begun_ns = w->now_ns;
	while (!lnet_path_is_healthy(&w->path[0]) && w->now_ns < begun_ns + 10 * SEC)
		run(MS / 4, MS / 4, &lively);
	CU_ASSERT_TRUE(w->now_ns - begun_ns <= SEC);
	CU_ASSERT_TRUE(w->now_ns - begun_ns >= 400 * MS);
	CU_ASSERT_TRUE(most_open <= PINGS_AT_ONCE);
	UNIT_EQUAL(nr_pings, 1000, "a ping per point, both ends at once");
	teardown();
}

static void test_budget(void)
{
	unsigned int i;

	setup(8);
	w->ln.tun.recovery_rate = 100;
	for (i = 0; i < 8; i++)
		fail_at(i, LNET_NETWORK_TIMEOUT);
	run(2 * SEC, MS, &lively);
	CU_ASSERT_TRUE(nr_pings <= 200 + BUDGET_BURST);
	CU_ASSERT_TRUE(nr_pings >= 180);
	for (i = 0; i + 110 < nr_pings; i++)
		CU_ASSERT_TRUE(pings[i + 110].at_ns - pings[i].at_ns >= SEC);
	run(8 * SEC, MS, &lively);
	UNIT_EQUAL(nr_pings, 800, "8 ends of each kind, 100 points each");
	teardown();
}

static void earn(unsigned int nr)
{
	begin();
	while (nr--)
		lnet_peer_earn(&pass, &w->peer);
	end();
}

/* Runs for @sec seconds. The peer replies to each ping, and fails a request every 20 ms. */
static void hostile(unsigned int sec)
{
	unsigned int i;

	for (i = 0; i < sec * 50; i++) {
		fail_at(0, LNET_REMOTE_TIMEOUT);
		run(20 * MS, MS, &lively);
	}
}

static void setup_bucket(unsigned int nr_paths)
{
	setup(1);
	w->peer.nr_paths = nr_paths;
	w->ln.tun.recovery_ping_burst = 200;
}

/* If a peer replies to all pings and fails all requests, a burst and a rate bound the pings. */
static void test_peer_bucket(void)
{
	unsigned int nr;

	setup_bucket(1);
	hostile(5);
	nr = nr_pings;
	CU_ASSERT_TRUE(nr > 200 + 4 * 20 && nr <= 200 + 5 * 20);
	CU_ASSERT_TRUE(w->sh.c[LNET_C_recovery_limited] > 0);
	hostile(5);
	CU_ASSERT_TRUE(nr_pings - nr >= 4 * 20 && nr_pings - nr <= 5 * 20);
	w->ln.tun.recovery_ping_rate = 100;
	nr = nr_pings;
	hostile(5);
	CU_ASSERT_TRUE(nr_pings - nr >= 4 * 100 && nr_pings - nr <= 200 + 5 * 100);
	teardown();
}

/* Each path adds a burst to the bucket of its peer. */
static void test_bucket_paths(void)
{
	setup_bucket(3);
	hostile(5);
	CU_ASSERT_TRUE(nr_pings > 600 + 2 * 20 && nr_pings <= 600 + 5 * 20);
	teardown();
}

/* Each success of a request adds a ping, so a useful peer recovers after many outages. */
static void test_bucket_earns(void)
{
	unsigned int nr;

	setup_bucket(1);
	hostile(5);
	run(5 * SEC, MS, &lively);
	CU_ASSERT_FALSE(lnet_path_is_healthy(&w->path[0]));
	earn(1000);
	UNIT_EQUAL(w->peer.pings_paid_ns <= w->now_ns, 1, "the bucket is full");
	nr = nr_pings;
	hostile(5);
	CU_ASSERT_TRUE(nr_pings - nr > 200 && nr_pings - nr <= 200 + 5 * 20);
	while (!lnet_path_is_healthy(&w->path[0]) && nr_pings - nr < 2000) {
		earn(1);
		run(MS, MS / 4, &lively);
	}
	CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[0]));
	CU_ASSERT_TRUE(nr_pings - nr <= 200 + 1000 + 10 * 20);
	teardown();
}

/* The claimer of an unknown peer pays once per ping, even if the ping is delayed. */
static void test_claimer_pays(void)
{
	struct lnet_peer claimer = { 0 };
	u64 until_ns;

	setup_bucket(1);
	w->peer.claimer = &claimer;
	w->peer.pings_paid_ns = w->now_ns + 1000 * SEC;
	until_ns = w->now_ns + SEC;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	while (!w->sh.c[LNET_C_recovery_limited] && w->now_ns < until_ns)
		run(MS, MS, &silent);
	CU_ASSERT_TRUE(w->sh.c[LNET_C_recovery_limited] > 0);
	UNIT_EQUAL(nr_pings, 0, "pings");
	UNIT_EQUAL(claimer.claimed_pings_ns, 0, "paid for a delayed ping");
	while (!nr_pings && w->now_ns < until_ns)
		run(MS, MS, &silent);
	UNIT_EQUAL(nr_pings, 1, "pings");
	UNIT_EQUAL(claimer.claimed_pings_ns, w->now_ns + ping_gap(&w->ln), "paid for a ping");
	teardown();
}

/* A ping that the claimer cannot pay for costs the unknown peer nothing. */
static void test_claimer_cannot_pay(void)
{
	struct lnet_peer claimer = { 0 };
	u64 begun_ns;

	setup_bucket(1);
	w->peer.claimer = &claimer;
	begun_ns = w->now_ns;
	claimer.claimed_pings_ns = w->now_ns + 1000 * SEC;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(SEC, MS, &silent);
	UNIT_EQUAL(nr_pings, 0, "pings");
	CU_ASSERT_TRUE(w->sh.c[LNET_C_recovery_limited] > 0);
	CU_ASSERT_TRUE(w->peer.pings_paid_ns <= begun_ns + 2 * MS);
	teardown();
}

/* The ping rate limit is that of the node, not of each of its shards. */
static void test_budget_shards(void)
{
	unsigned int i;

	setup(8);
	w->ln.tun.recovery_rate = 100;
	for (i = 0; i < 8; i++)
		fail_at(i, LNET_NETWORK_TIMEOUT);
	w->ln.nr_shards = 4;
	run(4 * SEC, MS, &lively);
	w->ln.nr_shards = 1;
	CU_ASSERT_TRUE(nr_pings <= 100 + BUDGET_BURST);
	CU_ASSERT_TRUE(nr_pings >= 90);
	teardown();
}

/*
 * Thousands of paths may wait: the rate limit serves them in turn, those with health to lose first.
 */
static void test_line(void)
{
	unsigned int i, had[64] = { 0 };

	setup(0);
	for (i = 0; i < 8; i++)
		world_ni(w, 1)->ops = &lnd;
	for (i = 0; i < 8; i++)
		world_pni(w, 1);
	world_join(w);
	w->ln.tun.recovery_rate = 10;
	for (i = 0; i < 64; i++)
		fail_at(i, LNET_NETWORK_TIMEOUT);
	run(4 * SEC, MS, &silent);
	UNIT_EQUAL(w->sh.c[LNET_C_recovery_waits] >= 63, 1, "counted");
	begin();
	list_del_init(&w->path[63].probe_link);	/* as if it had been healthy until now */
	w->path[63].recovering = 0;
	lnet_path_suspect(&pass, &w->path[63]);
	end();
	i = nr_pings;
	run(200 * MS, MS, &silent);
	CU_ASSERT_PTR_EQUAL(pings[i].path, &w->path[63]);
	run(2 * SEC, MS, &silent);
	for (i = 0; i < nr_pings && i < 64; i++)
		had[pings[i].path - w->path]++;
	for (i = 0; i < 64; i++)
		UNIT_EQUAL(had[i], 1, "each once before one comes twice");
	teardown();
}

/* Pause after a failure: max(100 ms, quarter of the outage) +- 20 %. */
static void test_backoff(void)
{
	unsigned int i;
	u64 pause_ns, down_ns, want_ns;

	setup(1);
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(120 * SEC, MS, &silent);
	CU_ASSERT_TRUE(nr_pings > 15 && nr_pings < 40);
	down_ns = pings[0].at_ns + pings[0].timeout_ns;
	for (i = 1; i < nr_pings; i++) {
		pause_ns = pings[i].at_ns - pings[i - 1].at_ns - pings[i - 1].timeout_ns;
		want_ns = max(100 * MS, (pings[i].at_ns - pause_ns - down_ns) / 4);
		CU_ASSERT_TRUE(pause_ns + 2 * MS >= want_ns * 8 / 10);
		CU_ASSERT_TRUE(pause_ns <= want_ns * 12 / 10 + 2 * MS);
	}
	UNIT_EQUAL(most_open, 1, "one at a time");
	UNIT_EQUAL(w->pni[0].ping_count, nr_pings, "unanswered in a row");
	teardown();
}

static void test_backoff_bounds(void)
{
	unsigned int i;

	setup(2);
	w->ln.tun.max_recovery_ping_interval = 2 * SEC;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(60 * SEC, MS, &silent);
	for (i = 1; i < nr_pings; i++)
		CU_ASSERT_TRUE(pings[i].at_ns - pings[i - 1].at_ns - pings[i - 1].timeout_ns <=
			       2 * SEC + 2 * MS);
	nr_pings = 0;
	run(3 * SEC, MS, &silent);
	CU_ASSERT_TRUE(nr_pings <= 2);
	begin();
	w->path[1].liveness_ns = w->now_ns;	/* the other rail is in use */
	end();
	for (nr_pings = 0, i = 0; i < 10; i++) {
		run(SEC, MS, &silent);
		w->path[1].liveness_ns = w->now_ns;
	}
	CU_ASSERT_TRUE(nr_pings >= 14);
	teardown();
}

static bool after_cut(const struct lnet_path *path, u64 at_ns)
{
	return at_ns >= path->ni->next_ping_ns;	/* the test keeps the time of the heal there */
}

/* A rail of a peer in use is cut for 20 s: it is healthy within 2 s of the heal. */
static void test_heal(void)
{
	static const struct fate healing = { after_cut, 200000 };
	unsigned int i;
	u64 healed_ns;

	setup(2);
	healed_ns = w->now_ns + 20 * SEC;
	w->ni[0]->next_ping_ns = healed_ns;
	for (i = 0; i < 10; i++)
		fail_at(0, LNET_NETWORK_TIMEOUT);
	UNIT_EQUAL(ni_health(0) + w->pni[0].health, 0, "both ends at 0");
	while (w->now_ns < healed_ns) {
		w->path[1].liveness_ns = w->now_ns;
		run(10 * MS, MS, &healing);
	}
	CU_ASSERT_TRUE(w->path[0].down_ns != 0);
	CU_ASSERT_TRUE(nr_resets >= 10);
	CU_ASSERT_FALSE(reset_locked);
	UNIT_EQUAL(refs, 0, "nothing stays counted");
	w->path[1].liveness_ns = w->now_ns;
	run(2 * SEC, MS / 4, &healing);
	CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[0]));
	teardown();
}

static void test_outage_costs(void)
{
	setup(1);
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(60 * SEC, MS, &silent);
	UNIT_EQUAL(ni_health(0), 800, "near end: the failure, and one ping of the outage");
	UNIT_EQUAL(w->pni[0].health, 0, "far end: to 0");
	UNIT_EQUAL(w->sh.c[LNET_C_network_timeout_count], 1 + nr_pings - nr_open,
		   "each is counted");
	teardown();
}

/* Several quick pings are in flight when the path fails again: their loss counts once. */
static void test_burst_costs(void)
{
	unsigned int i, nr;

	setup(1);
	lnet_health_set_peer(&w->ln, &w->pni[0].nid, 500);
	run(100 * MS, MS / 4, &(struct fate){ always, 10 * MS });
	for (i = 0; nr_open < 2 && i < 100; i++)
		run(MS / 4, MS / 4, &(struct fate){ always, 10 * MS });
	CU_ASSERT_TRUE_FATAL(nr_open >= 2);
	nr = w->pni[0].health;
	for (i = 0; i < nr_pings; i++)
		if (pings[i].open) {
			pings[i].open = false;
			nr_open--;
			w->now_ns += SEC / 10;
			begin();
			w->path[0].liveness_ns = 0;
			lnet_path_ping_done(&pass, &w->path[0], -ETIMEDOUT, 0);
			end();
		}
	UNIT_EQUAL(w->pni[0].health, nr - 100, "once");
	UNIT_EQUAL(ni_health(0), 900, "once");
	UNIT_EQUAL(w->path[0].pinging, 0, "all ended");
	teardown();
}

/* Pings a path that gave no response for @silent_ns, with @nr_wire attempts in its driver. */
static void ping_once(int status, u64 liveness_ns, u64 silent_ns, u32 nr_wire)
{
	u64 started_ns;

	begin();
	lnet_path_suspect(&pass, &w->path[0]);
	end();
	UNIT_EQUAL(nr_pings, 1, "probe at once");
	started_ns = w->now_ns;
	w->now_ns += pings[0].timeout_ns;
	pings[0].open = false;
	begin();
	w->path[0].liveness_ns = liveness_ns ? started_ns + liveness_ns : 0;
	w->path[0].suspect_ns = silent_ns ? w->now_ns - silent_ns : 0;
	w->path[0].nr_wire = nr_wire;
	lnet_path_ping_done(&pass, &w->path[0], status, 0);
	w->path[0].nr_wire = 0;
	end();
}

static const struct {
	const char *name;
	int status;
	u64 liveness_ns;	/* after the start; 0: none */
	u64 silent_ns;
	u32 nr_wire;
	int ni, pni;		/* health that the failure costs */
	unsigned int resets;
} probes[] = {
	{ "answered", 0, 0, 2 * SEC, 0, 0, 0, 0 },
	{ "silence", -ETIMEDOUT, 0, 2 * SEC, 0, 100, 100, 1 },
	{ "slow perhaps, so shortly after it fell silent", -ETIMEDOUT, 0, SEC / 5, 0, 0, 0, 0 },
	{ "the network acknowledges, the peer does not answer", -ETIMEDOUT, 5000000, 2 * SEC, 0, 0,
	  100, 0 },
	{ "the network acknowledges what it has", -ETIMEDOUT, 5000000, 2 * SEC, 1, 0, 0, 0 },
	{ "much to send, and silence", -ETIMEDOUT, 0, 2 * SEC, 1, 100, 100, 1 },
	{ "connection lost, paid for already", -ECONNRESET, 0, 2 * SEC, 0, 0, 0, 1 },
	{ "refused", -EHOSTUNREACH, 0, 2 * SEC, 0, 0, 100, 1 },
	{ "not yet connected, for the first time", -EHOSTUNREACH, 0, SEC / 5, 0, 0, 0, 0 },
	{ "no memory", -ENOMEM, 0, 2 * SEC, 0, 0, 0, 0 },
	{ "canceled", -ECANCELED, 0, 2 * SEC, 0, 0, 0, 0 },
	{ "stopped", -ESHUTDOWN, 0, 2 * SEC, 0, 0, 0, 0 },
};

static void test_probe(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		setup(2);
		ping_once(probes[i].status, probes[i].liveness_ns, probes[i].silent_ns,
			  probes[i].nr_wire);
		UNIT_EQUAL(1000 - ni_health(0), probes[i].ni, probes[i].name);
		UNIT_EQUAL(1000 - w->pni[0].health, probes[i].pni, probes[i].name);
		UNIT_EQUAL(nr_resets, probes[i].resets, probes[i].name);
		UNIT_EQUAL(w->path[0].recovering, probes[i].status ? RECOVER_SLOW : RECOVER_NOT,
			   probes[i].name);
		UNIT_EQUAL(!list_empty(&w->path[0].timer.link), probes[i].status != 0,
			   probes[i].name);
		teardown();
	}
}

/*
 * The last message was received 10 s before the failure; no ping is sent later
 * than 300 s after that message.
 */
static void test_limit(void)
{
	u64 failed_ns;

	setup(1);
	w->ln.tun.recovery_limit = 300 * SEC;
	w->pni[0].last_rx_ns = w->now_ns - 10 * SEC;
	failed_ns = w->now_ns;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	run(500 * SEC, 20 * MS, &silent);
	UNIT_EQUAL(w->path[0].recovering, RECOVER_NOT, "given up");
	CU_ASSERT_TRUE(pings[nr_pings - 1].at_ns <= failed_ns + 290 * SEC + 20 * MS);
	CU_ASSERT_TRUE(pings[nr_pings - 1].at_ns >= failed_ns + 200 * SEC);
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 0);
	end();
	UNIT_EQUAL(w->path[0].recovering, RECOVER_SLOW, "heard of again");
	run(3 * SEC, MS, &lively);
	CU_ASSERT_TRUE(lnet_path_is_healthy(&w->path[0]));
	teardown();
}

static const struct {
	u64 T, R, srtt, var, want;
} timeouts[] = {
	{ 5 * SEC, 2, 0, 0, 120 * MS },			/* 4 x 3 x floor */
	{ 5 * SEC, 2, 100000, 10000, 100 * MS },	/* at least 100 ms */
	{ 5 * SEC, 2, 40 * MS, 5 * MS, 320 * MS },	/* 4 x 2 x srtt */
	{ 5 * SEC, 2, 40 * MS, 20 * MS, 480 * MS },	/* 4 x (srtt + 4 var) */
	{ 200 * MS, 2, 40 * MS, 20 * MS, 100 * MS },	/* T / R */
	{ 200 * MS, 0, 40 * MS, 20 * MS, 200 * MS },	/* T */
	{ 100 * MS, 5, 0, 0, 20 * MS },
};

static void test_timeout(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(timeouts); i++) {
		setup(1);
		w->ln.tun.transaction_timeout = timeouts[i].T;
		w->ln.tun.retry_count = timeouts[i].R;
		w->path[0].srtt_ns = timeouts[i].srtt;
		w->path[0].rttvar_ns = timeouts[i].var;
		begin();
		lnet_path_suspect(&pass, &w->path[0]);
		end();
		UNIT_EQUAL(pings[0].timeout_ns, timeouts[i].want, "timeout of a ping");
		teardown();
	}
}

static void test_no_pings(void)
{
	setup(2);
	lnet_ni_mark(w->ni[0], LNET_MARK(LINK_DOWN), 1);
	fail_at(0, LNET_LOCAL_ERROR);
	run(SEC, MS, &silent);
	UNIT_EQUAL(nr_pings, 0, "no link");
	lnet_ni_mark(w->ni[0], LNET_MARK(LINK_DOWN), 0);
	begin();
	lnet_path_recover(&w->sh, &w->path[0]);
	end();
	run(SEC, MS / 4, &lively);
	UNIT_EQUAL(nr_pings, 100, "link is back");
	fail_at(1, LNET_LOCAL_ERROR);
	w->ni[1]->state = NI_DRAINING;
	run(SEC, MS, &lively);
	UNIT_EQUAL(nr_pings, 100, "NI goes");
	UNIT_EQUAL(w->path[1].recovering, RECOVER_NOT, "stopped");
	teardown();
}

/* ---- suspicion ------------------------------------------------------------------------------- */

static void test_suspicion(void)
{
	setup(2);
	begin();
	lnet_path_suspect(&pass, &w->path[0]);
	lnet_path_suspect(&pass, &w->path[0]);
	end();
	UNIT_EQUAL(w->path[0].suspect_ns, w->now_ns, "since now");
	UNIT_EQUAL(w->sh.c[LNET_C_suspects], 1, "counted once");
	UNIT_EQUAL(nr_pings, 1, "one probe");
	UNIT_EQUAL(ni_health(0) + w->pni[0].health, 2000, "lnd-005: health stays");
	UNIT_EQUAL(nr_resets, 0, "connections stay");
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 0);
	end();
	UNIT_EQUAL(w->path[0].suspect_ns, 0, "cleared");
	run(SEC, MS, &lively);
	UNIT_EQUAL(nr_pings, 1, "no more probes");
	UNIT_EQUAL(w->path[0].recovering, RECOVER_NOT, "over");
	w->ln.tun.hedge = 0;
	begin();
	lnet_path_suspect(&pass, &w->path[0]);
	end();
	UNIT_EQUAL(w->path[0].suspect_ns, 0, "off with hedge=0");
	UNIT_EQUAL(nr_pings, 1, "off with hedge=0");
	teardown();
}

static void test_rtt(void)
{
	unsigned int i;

	setup(1);
	UNIT_EQUAL(lnet_path_response_timeout(&w->ln, &w->path[0]), 30 * MS, "before the first");
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 8 * MS);
	end();
	UNIT_EQUAL(w->path[0].srtt_ns, 8 * MS, "first");
	UNIT_EQUAL(w->path[0].rttvar_ns, 4 * MS, "half of the first");
	UNIT_EQUAL(lnet_path_response_timeout(&w->ln, &w->path[0]), 24 * MS, "srtt + 4 var");
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 16 * MS);
	end();
	UNIT_EQUAL(w->path[0].srtt_ns, 9 * MS, "1/8 of the way");
	UNIT_EQUAL(w->path[0].rttvar_ns, 5 * MS, "1/4 of the way");
	for (i = 0; i < 200; i++) {
		begin();
		lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 8 * MS);
		end();
	}
	UNIT_EQUAL(lnet_path_response_timeout(&w->ln, &w->path[0]) / MS, 16, "steady: 2 srtt");
	for (i = 0; i < 200; i++) {
		begin();
		lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 20000);
		end();
	}
	UNIT_EQUAL(lnet_path_response_timeout(&w->ln, &w->path[0]), 10 * MS,
		   "never below the floor");
	teardown();
}

static void test_hedge(void)
{
	unsigned int nr = 0;

	setup(1);
	while (lnet_hedge_allowed(&w->sh, &w->peer))
		nr++;
	UNIT_EQUAL(nr, 1024, "a new peer has a whole burst");
	UNIT_EQUAL(w->sh.c[LNET_C_hedges_denied], 1, "then it is denied");
	earn(4);
	CU_ASSERT_FALSE(lnet_hedge_allowed(&w->sh, &w->peer));
	earn(1);
	CU_ASSERT_TRUE(lnet_hedge_allowed(&w->sh, &w->peer));
	CU_ASSERT_FALSE(lnet_hedge_allowed(&w->sh, &w->peer));
	earn(100000);
	for (nr = 0; lnet_hedge_allowed(&w->sh, &w->peer); nr++)
		;
	UNIT_EQUAL(nr, 1024, "no more than a burst is saved");
	teardown();
}

UNIT_SUITE(recovery,
	   { "lnt-035: an NI at 900 takes exactly 100 successes", test_hundred },
	   { "lnt-035: several pings at once do not make it more", test_hundred_far },
	   { "lnt-035: a thousand points come back within a second", test_thousand_in_a_second },
	   { "lnt-035: all recovery pings of a shard share one rate", test_budget },
	   { "lnt-035: and the shards share the node's", test_budget_shards },
	   { "A26: a burst and a rate bound the recovery pings of a peer", test_peer_bucket },
	   { "A26: each path adds a burst to the bucket of its peer", test_bucket_paths },
	   { "A26: each request that succeeds adds a recovery ping", test_bucket_earns },
	   { "A26: the peer that named an unheard peer pays once per ping", test_claimer_pays },
	   { "A26: a ping that is not sent costs no peer anything", test_claimer_cannot_pay },
	   { "lnt-035: those who wait for it have their turns", test_line },
	   { "lnt-035: pauses between failing pings grow with the outage", test_backoff },
	   { "lnt-035: pauses have bounds, a shorter one for a peer in use", test_backoff_bounds },
	   { "lnt-035: a healed rail is whole within 2 s", test_heal },
	   { "lnt-020: an outage costs the near end once", test_outage_costs },
	   { "lnt-020: pings lost together cost once", test_burst_costs },
	   { "lnt-035 lnd-045: how a probe ends says who pays", test_probe },
	   { "lnt-035: recovery_limit ends recovery until the peer is heard", test_limit },
	   { "lnt-080: timeout of recovery pings", test_timeout },
	   { "lnd-010: no pings without link or on an NI that goes", test_no_pings },
	   { "lnd-005: suspicion probes at once and changes no health", test_suspicion },
	   { "lnd-005: silence is measured in round trips", test_rtt },
	   { "lnd-005: second copies keep to a budget", test_hedge })
