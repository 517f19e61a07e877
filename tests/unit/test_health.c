/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/health.c: what raises and lowers health, recovery and its pace, suspicion, hedging
 * budget.
 */
#define lnet_ni_up health_ni_up
#define lnet_path_whole health_path_whole
#define lnet_health_ok health_health_ok
#define lnet_health_fail health_health_fail
#define lnet_health_set_ni health_health_set_ni
#define lnet_health_set_peer health_health_set_peer
#define lnet_path_recover health_path_recover
#define lnet_path_timer health_path_timer
#define lnet_path_ping_done health_path_ping_done
#define lnet_path_resets health_path_resets
#define lnet_path_suspect_after health_path_suspect_after
#define lnet_path_suspect health_path_suspect
#define lnet_path_alive health_path_alive
#define lnet_hedge_allowed health_hedge_allowed
#define lnet_hedge_earn health_hedge_earn
#define lnet_peers_walk health_peers_walk
#define lnet_ping_path health_ping_path
#define lnet_pass_begin health_pass_begin
#define lnet_pass_end health_pass_end
#define lnet_enter health_enter
#define lnet_enter_pni health_enter_pni
#define lnet_leave health_leave
#define lnet_nid_is_local health_nid_is_local
#define lnet_ni_get health_ni_get
#define lnet_ni_put health_ni_put
#define lnet_peer_ni_hold health_peer_ni_hold
#define lnet_peer_ni_put health_peer_ni_put
#define lnet_peer_next health_peer_next
#include "paths.h"
#include "lnet/health.c"

#define MS ((u64)NSEC_PER_MSEC)
#define SEC ((u64)NSEC_PER_SEC)

/* ---- stand-ins for the rest of the core ------------------------------------------------------ */

#define PINGS_MAX 20000
static struct {
	u64 at_ns, timeout_ns;
	struct lnet_path *path;
	bool open;
} pings[PINGS_MAX];
static unsigned int nr_pings, nr_open, most_open;
static struct lnet_nid own_nid;
static int refs;
static unsigned int nr_resets;
static bool reset_locked;

void health_ping_path(struct lnet_pass *p, struct lnet_path *path, u64 timeout_ns)
{
	if (nr_pings == PINGS_MAX)
		abort();
	pings[nr_pings].at_ns = p->now_ns;
	pings[nr_pings].timeout_ns = timeout_ns;
	pings[nr_pings].path = path;
	pings[nr_pings++].open = true;
	most_open = max(most_open, ++nr_open);
}

void health_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->ln = ln;
	p->kind = kind;
	p->now_ns = ln->env->ops->now_ns(ln->env);
	INIT_LIST_HEAD(&p->resets);
}

void health_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	spin_lock(&sh->lock);
	p->sh = sh;
}

void health_enter_pni(struct lnet_pass *p, const struct lnet_peer_ni *pni)
{
	health_enter(p, pni->sh);
}

void health_leave(struct lnet_pass *p)
{
	if (p->sh)
		spin_unlock(&p->sh->lock);
	p->sh = NULL;
}

void health_pass_end(struct lnet_pass *p)
{
	health_leave(p);
	health_path_resets(p);
	health_leave(p);
}

bool health_nid_is_local(struct lnet *ln, const struct lnet_nid *nid)
{
	return lnet_nid_same(nid, &own_nid);
}

void health_ni_get(struct lnet_ni *ni) { refs++; }
void health_ni_put(struct lnet_ni *ni) { refs--; }
void health_peer_ni_hold(struct lnet_peer_ni *pni) { refs++; }
void health_peer_ni_put(struct lnet_peer_ni *pni) { refs--; }

struct lnet_peer *health_peer_next(struct lnet *ln, struct lnet_peer *prev)
{
	if (!prev)
		return list_first_entry(&ln->peers, struct lnet_peer, link);
	return list_is_last(&prev->link, &ln->peers) ? NULL : list_next_entry(prev, link);
}

static void path_reset(struct lnet_pass *p, struct lnet_ni *ni, struct lnet_peer_ni *pni)
{
	nr_resets++;
	reset_locked |= p->sh || refs != 2;
}

static const struct lnet_lnd_ops lnd = { .name = "unit", .path_reset = path_reset };

/* ---- a node with @nr rails to one peer ------------------------------------------------------- */

static struct world *w;
static struct lnet_pass pass;

static void setup(unsigned int nr)
{
	unsigned int i;

	w = world_create();
	for (i = 1; i <= nr; i++) {
		world_ni(w, i)->ops = &lnd;
		world_pni(w, i);
	}
	world_join(w);
	lnet_wheel_init(&w->sh.wheel, w->now_ns);
	nr_pings = nr_open = most_open = nr_resets = 0;
	refs = 0;
	reset_locked = false;
	memset(&own_nid, 0, sizeof(own_nid));
}

static void teardown(void)
{
	world_destroy(w);
}

static void begin(void)
{
	health_pass_begin(&pass, &w->ln, LNET_PASS_WORKER);
	health_enter(&pass, &w->sh);
}

static void end(void)
{
	health_pass_end(&pass);
}

static void fail_at(unsigned int i, enum lnet_outcome how)
{
	begin();
	lnet_health_fail(&w->sh, &w->path[i], how);
	end();
}

static void ok_at(unsigned int i, bool from_peer)
{
	begin();
	lnet_health_ok(&w->sh, &w->path[i], from_peer);
	end();
}

static int ni_health(unsigned int i)
{
	return atomic_read(&w->ni[i]->health);
}

/* Which pings are answered, and after how long. */
struct fate {
	bool (*answered)(const struct lnet_path *path, u64 at_ns);
	u64 rtt_ns;
};

static void pings_end(const struct fate *fate)
{
	unsigned int i;

	for (i = 0; i < nr_pings; i++) {
		bool ok = fate->answered(pings[i].path, pings[i].at_ns);

		if (!pings[i].open ||
		    w->now_ns < pings[i].at_ns + (ok ? fate->rtt_ns : pings[i].timeout_ns))
			continue;
		pings[i].open = false;
		nr_open--;
		begin();
		lnet_path_ping_done(&pass, pings[i].path, ok ? 0 : -ETIMEDOUT,
				    ok ? fate->rtt_ns : 0);
		end();
	}
}

static void timers_run(void)
{
	struct lnet_timer *t, *next;
	LIST_HEAD(due);

	begin();
	lnet_wheel_advance(&w->sh.wheel, w->now_ns, &due, 1000);
	list_for_each_entry_safe(t, next, &due, link) {
		lnet_timer_fired(&w->sh.wheel, t);
		lnet_path_timer(&pass, container_of(t, struct lnet_path, timer));
	}
	end();
}

/* Lets time pass in steps of @step_ns. */
static void run(u64 span_ns, u64 step_ns, const struct fate *fate)
{
	u64 until_ns = w->now_ns + span_ns;

	while (w->now_ns < until_ns) {
		w->now_ns += step_ns;
		pings_end(fate);
		timers_run();
	}
}

static bool always(const struct lnet_path *path, u64 at_ns) { return true; }
static bool never(const struct lnet_path *path, u64 at_ns) { return false; }
static const struct fate lively = { always, 200000 };
static const struct fate silent = { never, 0 };

/* ---- values ---------------------------------------------------------------------------------- */

static const struct {
	enum lnet_outcome how;
	int ni, pni;		/* what it costs */
} blames[] = {
	{ LNET_OK, 0, 0 },
	{ LNET_CONFIRMED, 0, 0 },
	{ LNET_LOCAL_INTERRUPT, 100, 0 },
	{ LNET_LOCAL_DROPPED, 100, 0 },
	{ LNET_LOCAL_ABORTED, 100, 0 },
	{ LNET_LOCAL_NO_ROUTE, 100, 0 },
	{ LNET_LOCAL_ERROR, 100, 0 },
	{ LNET_LOCAL_TIMEOUT, 100, 0 },
	{ LNET_REMOTE_ERROR, 0, 100 },
	{ LNET_REMOTE_DROPPED, 0, 100 },
	{ LNET_REMOTE_TIMEOUT, 0, 100 },
	{ LNET_NETWORK_TIMEOUT, 100, 100 },
	{ LNET_PATH_LOST, 0, 100 },
	{ LNET_CANCELED, 0, 0 },
	{ LNET_ABORTED, 0, 0 },
	{ LNET_SHUTDOWN, 0, 0 },
	{ LNET_NO_MEMORY, 0, 0 },
	{ LNET_NO_MATCH, 0, 0 },
	{ LNET_TOO_LONG, 0, 0 },
	{ LNET_NO_PATH, 0, 0 },
	{ LNET_UNLINKED, 0, 0 },
};

static void test_blame(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(blames); i++) {
		setup(2);
		fail_at(0, blames[i].how);
		UNIT_EQUAL(ni_health(0), 1000 - blames[i].ni, lnet_outcomes[blames[i].how].name);
		UNIT_EQUAL(w->pni[0].health, 1000 - blames[i].pni,
			   lnet_outcomes[blames[i].how].name);
		UNIT_EQUAL(ni_health(1) + w->pni[1].health, 2000, "the other rail");
		UNIT_EQUAL(w->path[0].recovering,
			   blames[i].ni + blames[i].pni ? RECOVER_SLOW : RECOVER_NOT, "recovery");
		teardown();
	}
}

static void test_counters(void)
{
	setup(1);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	fail_at(0, LNET_LOCAL_TIMEOUT);
	fail_at(0, LNET_REMOTE_TIMEOUT);
	fail_at(0, LNET_NETWORK_TIMEOUT);
	fail_at(0, LNET_REMOTE_DROPPED);
	fail_at(0, LNET_REMOTE_ERROR);
	fail_at(0, LNET_PATH_LOST);
	fail_at(0, LNET_CANCELED);
	UNIT_EQUAL(w->sh.c[LNET_C_local_timeout_count], 2, "local timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_remote_timeout_count], 1, "remote timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_network_timeout_count], 1, "network timeout");
	UNIT_EQUAL(w->sh.c[LNET_C_path_lost], 0,
		   "path lost: counted by who knows what was under way");
	UNIT_EQUAL(w->ni[0]->sh[0].c[LNET_NIC_timeouts], 2, "NI timeouts");
	UNIT_EQUAL(w->ni[0]->sh[0].c[LNET_NIC_network_timeout], 1, "NI network timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_timeout], 1, "peer NI timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_network_timeout], 1, "peer NI network timeout");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_dropped], 1, "peer NI dropped");
	UNIT_EQUAL(w->pni[0].c[LNET_PNIC_error], 1, "peer NI error");
	teardown();
}

/* behaviour.md 12.1 with a step of 1 (the document's +1) instead of the sensitivity. */
static void test_vectors(void)
{
	unsigned int i;

	setup(2);
	for (i = 0; i < 3; i++)
		fail_at(0, LNET_LOCAL_TIMEOUT);
	UNIT_EQUAL(ni_health(0), 700, "three local timeouts");
	ok_at(0, false);
	ok_at(0, true);
	UNIT_EQUAL(ni_health(0), 702, "two successes");
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 602, "local error");
	for (i = 0; i < 1000; i++)
		ok_at(0, false);
	UNIT_EQUAL(ni_health(0), 1000, "capped");
	w->pni[0].health = 50;
	fail_at(0, LNET_REMOTE_ERROR);
	UNIT_EQUAL(w->pni[0].health, 0, "never below 0");
	ok_at(0, false);
	UNIT_EQUAL(w->pni[0].health, 0, "our own hand-over is no evidence of the peer");
	ok_at(0, true);
	UNIT_EQUAL(w->pni[0].health, 1, "an answer is");
	w->ln.tun.health_sensitivity = 300;
	for (i = 0; i < 4; i++)
		fail_at(1, LNET_LOCAL_DROPPED);
	UNIT_EQUAL(ni_health(1), 0, "S = 300");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[1]));
	w->ln.tun.health_step = 300;
	for (i = 0; i < 3; i++)
		ok_at(1, false);
	UNIT_EQUAL(ni_health(1), 900, "step 300");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[1]));
	ok_at(1, false);
	UNIT_EQUAL(ni_health(1), 1000, "whole");
	CU_ASSERT_TRUE(lnet_ni_up(w->ni[1]));
	UNIT_EQUAL(w->kicks, 2, "down and up are announced");
	teardown();
}

static void test_exempt(void)
{
	setup(1);
	fail_at(0, LNET_REMOTE_DROPPED);
	UNIT_EQUAL(w->pni[0].health, 900, "the only NID of a peer is blamed, too");
	own_nid = w->pni[0].nid;
	fail_at(0, LNET_NETWORK_TIMEOUT);
	UNIT_EQUAL(w->pni[0].health, 900, "an own NID is not");
	UNIT_EQUAL(ni_health(0), 900, "but the NI is");
	w->ln.lo = w->ni[0];
	fail_at(0, LNET_NETWORK_TIMEOUT);
	UNIT_EQUAL(ni_health(0), 900, "loopback is not");
	w->ln.lo = NULL;
	w->ln.tun.health_sensitivity = 0;
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 900, "sensitivity 0 keeps it");
	w->ln.tun.health_sensitivity = 100;
	w->ln.stopping = 1;
	fail_at(0, LNET_LOCAL_ERROR);
	UNIT_EQUAL(ni_health(0), 900, "nothing falls while the node stops");
	teardown();
}

static void test_bounds(void)
{
	unsigned int round;

	setup(3);
	for (round = 0; round < 20000; round++) {
		unsigned int i = world_random(&w->env) % 3;
		u64 what = world_random(&w->env) >> 20;

		if (round % 100 == 0) {
			w->ln.tun.health_sensitivity = world_random(&w->env) % 1001;
			w->ln.tun.health_step = 1 + world_random(&w->env) % 1000;
		}
		if (what & 1)
			ok_at(i, what & 2);
		else
			fail_at(i, what / 4 % LNET_NR_OUTCOMES);
		CU_ASSERT_FATAL(ni_health(i) >= 0 && ni_health(i) <= 1000 &&
				w->pni[i].health <= 1000);
	}
	teardown();
}

static void test_by_hand(void)
{
	struct lnet_nid none;

	setup(2);
	world_nid(&none, 9, 9);
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &w->ni[0]->nid, 900), 0, "one NI");
	UNIT_EQUAL(ni_health(0), 900, "one NI");
	UNIT_EQUAL(ni_health(1), 1000, "not the other");
	UNIT_EQUAL(w->path[0].recovering, RECOVER_SLOW, "recovers");
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &LNET_NID_ANY, -5), 0, "all");
	UNIT_EQUAL(ni_health(0) + ni_health(1), 0, "clamped to 0");
	CU_ASSERT_FALSE(lnet_ni_up(w->ni[0]));
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &LNET_NID_ANY, 4000), 0, "all");
	UNIT_EQUAL(ni_health(0) + ni_health(1), 2000, "clamped to 1000");
	CU_ASSERT_TRUE(lnet_ni_up(w->ni[0]));
	UNIT_EQUAL(lnet_health_set_ni(&w->ln, &none, 1), -ENOENT, "no such NI");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &none, 1), -ENOENT, "no such peer NI");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &w->pni[1].nid, 10), 0, "one peer NI");
	UNIT_EQUAL(w->pni[1].health, 10, "one peer NI");
	UNIT_EQUAL(w->pni[0].health, 1000, "not the other");
	UNIT_EQUAL(w->path[1].recovering, RECOVER_SLOW, "recovers");
	UNIT_EQUAL(lnet_health_set_peer(&w->ln, &LNET_NID_ANY, 1001), 0, "all");
	UNIT_EQUAL(w->pni[1].health, 1000, "all, clamped");
	teardown();
}

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

/* Over a long line a few pings are under way at once, and still none too many. */
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
	while (!lnet_path_whole(&w->path[0]) && w->now_ns < begun_ns + 10 * SEC)
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
	w->path[1].evidence_ns = w->now_ns;	/* the other rail is in use */
	end();
	for (nr_pings = 0, i = 0; i < 10; i++) {
		run(SEC, MS, &silent);
		w->path[1].evidence_ns = w->now_ns;
	}
	CU_ASSERT_TRUE(nr_pings >= 14);
	teardown();
}

static bool after_cut(const struct lnet_path *path, u64 at_ns)
{
	return at_ns >= path->ni->next_ping_ns;	/* the test keeps the time of the heal there */
}

/* A rail of a peer in use, cut for 20 s: whole within 2 s of the heal. */
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
		w->path[1].evidence_ns = w->now_ns;
		run(10 * MS, MS, &healing);
	}
	CU_ASSERT_TRUE(w->path[0].down_ns != 0);
	CU_ASSERT_TRUE(nr_resets >= 10);
	CU_ASSERT_FALSE(reset_locked);
	UNIT_EQUAL(refs, 0, "nothing stays counted");
	w->path[1].evidence_ns = w->now_ns;
	run(2 * SEC, MS / 4, &healing);
	CU_ASSERT_TRUE(lnet_path_whole(&w->path[0]));
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

/* What the pings of the quick time lose at once when the path dies again counts once. */
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
			w->path[0].evidence_ns = 0;
			lnet_path_ping_done(&pass, &w->path[0], -ETIMEDOUT, 0);
			end();
		}
	UNIT_EQUAL(w->pni[0].health, nr - 100, "once");
	UNIT_EQUAL(ni_health(0), 900, "once");
	UNIT_EQUAL(w->path[0].pinging, 0, "all ended");
	teardown();
}

static void ping_once(int status, u64 evidence_ns)
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
	w->path[0].evidence_ns = evidence_ns ? started_ns + evidence_ns : 0;
	lnet_path_ping_done(&pass, &w->path[0], status, 0);
	end();
}

static const struct {
	const char *name;
	int status;
	u64 evidence_ns;	/* after the start; 0: none */
	int ni, pni;		/* what it costs */
	unsigned int resets;
} probes[] = {
	{ "answered", 0, 0, 0, 0, 0 },
	{ "silence", -ETIMEDOUT, 0, 100, 100, 1 },
	{ "the network acknowledges, the peer does not answer", -ETIMEDOUT, 5000000, 0, 100, 0 },
	{ "connection lost, paid for already", -ECONNRESET, 0, 0, 0, 1 },
	{ "refused", -EHOSTUNREACH, 0, 0, 100, 1 },
	{ "no memory", -ENOMEM, 0, 0, 0, 0 },
	{ "canceled", -ECANCELED, 0, 0, 0, 0 },
	{ "stopped", -ESHUTDOWN, 0, 0, 0, 0 },
};

static void test_probe(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		setup(2);
		ping_once(probes[i].status, probes[i].evidence_ns);
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
 * behaviour.md 12.2: the last message came 10 s before the failure; no ping later than 300 s after
 * it.
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
	CU_ASSERT_TRUE(lnet_path_whole(&w->path[0]));
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
	w->ni[0]->fatal = 1;
	fail_at(0, LNET_LOCAL_ERROR);
	run(SEC, MS, &silent);
	UNIT_EQUAL(nr_pings, 0, "no link");
	w->ni[0]->fatal = 0;
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
	UNIT_EQUAL(lnet_path_suspect_after(&w->ln, &w->path[0]), 30 * MS, "before the first");
	begin();
	lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 8 * MS);
	end();
	UNIT_EQUAL(w->path[0].srtt_ns, 8 * MS, "first");
	UNIT_EQUAL(w->path[0].rttvar_ns, 4 * MS, "half of the first");
	UNIT_EQUAL(lnet_path_suspect_after(&w->ln, &w->path[0]), 24 * MS, "srtt + 4 var");
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
	UNIT_EQUAL(lnet_path_suspect_after(&w->ln, &w->path[0]) / MS, 16, "steady: 2 srtt");
	for (i = 0; i < 200; i++) {
		begin();
		lnet_path_alive(&w->sh, &w->path[0], w->now_ns, 20000);
		end();
	}
	UNIT_EQUAL(lnet_path_suspect_after(&w->ln, &w->path[0]), 10 * MS, "never below the floor");
	teardown();
}

static void test_hedge(void)
{
	unsigned int i, nr = 0;

	setup(1);
	while (lnet_hedge_allowed(&w->sh, &w->peer))
		nr++;
	UNIT_EQUAL(nr, 256, "a new peer has a whole burst");
	UNIT_EQUAL(w->sh.c[LNET_C_hedges_denied], 1, "then it is denied");
	for (i = 0; i < 4; i++)
		lnet_hedge_earn(&w->sh, &w->peer);
	CU_ASSERT_FALSE(lnet_hedge_allowed(&w->sh, &w->peer));
	lnet_hedge_earn(&w->sh, &w->peer);
	CU_ASSERT_TRUE(lnet_hedge_allowed(&w->sh, &w->peer));
	CU_ASSERT_FALSE(lnet_hedge_allowed(&w->sh, &w->peer));
	for (i = 0; i < 100000; i++)
		lnet_hedge_earn(&w->sh, &w->peer);
	for (nr = 0; lnet_hedge_allowed(&w->sh, &w->peer); nr++)
		;
	UNIT_EQUAL(nr, 256, "no more than a burst is saved");
	teardown();
}

UNIT_SUITE(health,
	   { "lnt-020 lnt-055: each outcome costs those whom it blames", test_blame },
	   { "stt-005 stt-010 stt-015: failures are counted where they belong", test_counters },
	   { "lnt-020 lnt-025: down by the sensitivity, up by the step, capped", test_vectors },
	   { "lnt-020: who is never blamed", test_exempt },
	   { "lnt-005 lnt-010 lnt-015: never outside 0..1000", test_bounds },
	   { "lnt-015: health set by hand starts recovery", test_by_hand },
	   { "lnt-035: an NI at 900 takes exactly 100 successes", test_hundred },
	   { "lnt-035: several pings at once do not make it more", test_hundred_far },
	   { "lnt-035: a thousand points come back within a second", test_thousand_in_a_second },
	   { "lnt-035: all recovery pings of a shard share one rate", test_budget },
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
