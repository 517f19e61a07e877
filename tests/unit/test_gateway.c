/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routers among themselves and as peers: messages that would loop, peer entries that turn out to be
 * one router, busy routers, routers with two interfaces here, routers that flap.
 */
#include "routes.h"
#include "node.h"
#include "service/service.h"

/* ---- loops ----------------------------------------------------------------------------------- */

/* @router loses its interface on the far net, and has a route to this net through @other. */
static void lose_far(unsigned int router, unsigned int other)
{
	struct lnet_nid nid = rails_nid(router, RAIL_FAR);
	struct lnet_route_cfg cfg = route_by(other, NEAR);

	UNIT_EQUAL(lnet_ni_del(ln_of(router), &nid), 0, "its interface goes");
	UNIT_EQUAL(lnet_route_add(ln_of(router), &cfg), 0, "the other router leads there");
}

static void test_by_two(void)
{
	u64 before;

	begin_routed(0, 9);
	lnet_tunable_set(ln_of(NEAR), "avoid_asym_router_failure", 0);
	lose_far(R1, R2);
	before = forwarded(R2);
	rails_run(2 * NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 3);
	CU_ASSERT(forwarded(R1) >= 3);		/* to the other router */
	CU_ASSERT(forwarded(R2) >= before + 3);	/* to the far end */
	rails_end();
}

static void test_to_and_fro(void)
{
	unsigned int tag;
	u64 before, sent;

	begin_routed(0, 9);
	lnet_tunable_set(ln_of(NEAR), "avoid_asym_router_failure", 0);
	lnet_tunable_set(ln_of(R1), "avoid_asym_router_failure", 0);
	lnet_tunable_set(ln_of(R2), "avoid_asym_router_failure", 0);
	puts_succeed(NEAR, FAR, 1);
	lose_far(R1, R2);
	lose_far(R2, R1);
	before = forwarded(R1) + forwarded(R2);
	sent = rails_stat(NEAR, LNET_C_send_count) + rails_stat(FAR, LNET_C_send_count);
	tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "it ended");
	CU_ASSERT(rails.req[tag].status != 0);
	sent = rails_stat(NEAR, LNET_C_send_count) + rails_stat(FAR, LNET_C_send_count) - sent;
	CU_ASSERT(sent >= 3);
	CU_ASSERT(forwarded(R1) + forwarded(R2) - before <= sent);	/* each at most once */
	CU_ASSERT(rails_stat(R2, LNET_C_forward_drops) > 0);
	rails_clear();
	rails_run(5 * NSEC_PER_SEC);	/* pings between them have replies again, or pause */
	rails_end();
}

/* ---- peer entries that are one router -------------------------------------------------------- */

#define GW_FEATURES (LNET_FEAT_NI_STATUS | LNET_FEAT_MULTI_RAIL | LNET_FEAT_DISCOVERY)

static struct lnet *node_on_two_nets(unsigned int nr_shards)
{
	struct lnet *ln = node_begin(nr_shards);

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "an interface");
	UNIT_EQUAL(node_ni_add(ln, "10.1.0.9@tcp1"), 0, "another");
	return ln;
}

static int route_to(struct lnet *ln, unsigned int tcp, const char *gateway, u32 priority)
{
	struct lnet_route_cfg cfg = { .hops = -1, .priority = priority,
				      .net = lnet_net_make(LNET_LND_TCP, tcp) };

	cfg.gateway = nid(gateway);
	return lnet_route_add(ln, &cfg);
}

static void pass_time(struct lnet *ln, u64 ns)
{
	u64 until_ns = node_env.now_ns + ns;

	while (node_env.now_ns < until_ns) {
		node_env.now_ns += 5 * RAILS_MS;
		node_work(ln);
	}
}

/* A ping info of a node with the @nr NIDs @text and no other; the caller frees it. */
static struct lnet_sbuf *info_of(const char *const *text, unsigned int nr, int *len)
{
	struct lnet_sbuf *c = lnet_sbuf_new(512);
	struct lnet_pinginfo_ni nis[2];
	unsigned int i;

	for (i = 0; i < nr; i++)
		nis[i] = (struct lnet_pinginfo_ni){ .nid = nid(text[i]), .status = LNET_NI_UP };
	*len = lnet_pinginfo_encode(c->data, 512, GW_FEATURES, LNET_PID, 1, nis, nr);
	CU_ASSERT_FATAL(*len > 0);
	return c;
}

/* The node with the NID @one advertises that it has the @nr NIDs @text, and no other. */
static void says(struct lnet *ln, const char *one, const char *const *text, unsigned int nr)
{
	struct lnet_nid to = nid(one);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &to);
	struct lnet_pass p;
	int len;
	struct lnet_sbuf *c = info_of(text, nr, &len);

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	pni->peer->disc.acked = 1000;	/* no push is due */
	UNIT_EQUAL(lnet_disc_take(&p, pni->peer, c, (u32)len, false), 0, one);
	lnet_disc_step(&p, pni->peer);
	lnet_pass_end(&p);
	node_work(ln);
	node_answer(ln, c->data, (u32)len, NULL);
	lnet_sbuf_put(c);
	lnet_peer_ni_put(pni);
	pass_time(ln, 8 * NSEC_PER_SEC);
}

/* @one advertises that it also has @two. */
static void says_it_is(struct lnet *ln, const char *one, const char *two)
{
	const char *const both[] = { one, two };

	says(ln, one, both, 2);
}

static unsigned int nr_gateways(const struct lnet *ln)
{
	const struct list_head *at;
	unsigned int nr = 0;

	list_for_each(at, &ln->routes->gateways)
		nr++;
	return nr;
}

/* The priorities of the routes to tcp7, tcp8, tcp9, as digits; 0: not exactly one route. */
static unsigned int priorities(struct lnet *ln)
{
	unsigned int digit[3] = { 0 }, nr[3] = { 0 }, i;
	struct lnet_route_info info;

	for (i = 0; !lnet_route_get(ln, i, &info); i++) {
		digit[lnet_net_num(info.cfg.net) - 7] = info.cfg.priority;
		nr[lnet_net_num(info.cfg.net) - 7]++;
	}
	for (i = 0; i < 3; i++)
		digit[i] = nr[i] == 1 ? digit[i] : 0;
	return digit[0] * 100 + digit[1] * 10 + digit[2];
}

static unsigned int ways_to(struct lnet *ln, const char *far, bool *gone)
{
	struct lnet_nid to = nid(far);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &to);
	const struct lnet_path *path;
	unsigned int nr = 0;

	list_for_each_entry(path, &pni->paths, link) {
		nr++;
		*gone |= path->gone;
	}
	lnet_peer_ni_put(pni);
	return nr;
}

#define ONE "10.0.0.1@tcp"
#define TWO "10.1.0.1@tcp1"
#define BEHIND "10.7.0.1@tcp9"

/* Two routers turn out to be one: it has the routes of both, each once, the better one of two. */
static void test_become_one(void)
{
	unsigned int i;
	bool gone = false;
	struct lnet *ln;

	for (i = 1; i <= 4; i *= 2) {
		ln = node_on_two_nets(i);
		UNIT_EQUAL(route_to(ln, 9, ONE, 2) + route_to(ln, 9, TWO, 1), 0, "both lead there");
		UNIT_EQUAL(route_to(ln, 8, ONE, 3) + route_to(ln, 7, TWO, 4), 0, "and elsewhere");
		UNIT_EQUAL(ways_to(ln, BEHIND, &gone), 2, "by each");
		UNIT_EQUAL(nr_gateways(ln), 2, "two routers");
		says_it_is(ln, ONE, TWO);
		UNIT_EQUAL(nr_gateways(ln), 1, "are one");
		UNIT_EQUAL(priorities(ln), 431, "its routes");
		CU_ASSERT_TRUE(list_empty(&ln->routes->dying));
		UNIT_EQUAL(ways_to(ln, BEHIND, &gone), 2, "by each of its interfaces");
		UNIT_EQUAL(gone, false, "none is on its way out");
		node_end(ln);
	}
}

static const struct lnet_peer_ni *taken(struct lnet *ln, const char *far)
{
	struct lnet_nid to = nid(far);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &to);
	struct lnet_select s = { .peer = pni->peer, .cpt = -1 };
	struct lnet_path *path;

	spin_lock(&pni->sh->lock);
	path = lnet_select(pni->sh, &s);
	spin_unlock(&pni->sh->lock);
	lnet_peer_ni_put(pni);
	return path->hop;
}

/* A router with an interface on each local net: both are used in turn, or the one that responds. */
static void test_two_interfaces(void)
{
	const struct lnet_peer_ni *a, *b;
	struct lnet_nid one = nid(ONE), two = nid(TWO);
	struct lnet *ln = node_on_two_nets(2);
	struct lnet_gateway *gw;
	u64 checks;

	UNIT_EQUAL(lnet_peer_add(ln, &one, &two, 1, true), 0, "one node");
	UNIT_EQUAL(route_to(ln, 9, ONE, 0), 0, "named by one NID");
	UNIT_EQUAL(route_to(ln, 9, TWO, 0), -EEXIST, "by the other it is the same");
	a = taken(ln, BEHIND);
	b = taken(ln, BEHIND);
	CU_ASSERT_PTR_NOT_EQUAL(a, b);
	CU_ASSERT_PTR_EQUAL(taken(ln, BEHIND), a);
	((struct lnet_peer_ni *)a)->gw = LNET_GW_UNRESPONSIVE;
	CU_ASSERT_PTR_EQUAL(taken(ln, BEHIND), b);
	CU_ASSERT_PTR_EQUAL(taken(ln, BEHIND), b);
	gw = lnet_gateway_of(ln, a->peer);
	checks = gw->nr_checks;
	pass_time(ln, 62 * NSEC_PER_SEC);
	CU_ASSERT_TRUE(gw->nr_checks >= checks + 2);	/* over each net in an interval */
	CU_ASSERT_TRUE(a->gw == LNET_GW_UNRESPONSIVE && b->gw == LNET_GW_UNRESPONSIVE);
	node_end(ln);
}

/* ---- a router that changes its NIDs ---------------------------------------------------------- */

#define NEW "10.0.0.3@tcp"

static struct lnet_peer_ni *known(struct lnet *ln, const char *text)
{
	struct lnet_nid at = nid(text);
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, &at);

	lnet_peer_ni_put(pni);
	return pni;
}

/* Counts the checks of @gw in 200 s that were not sent to @to. No check is answered. */
static unsigned int checks_elsewhere(struct lnet *ln, struct lnet_gateway *gw, const char *to)
{
	unsigned int i, nr = 0;
	u64 before = gw->nr_checks;

	for (i = 0; i < 2000; i++) {
		pass_time(ln, 100 * RAILS_MS);
		nr += gw->check && gw->check->dst_pni != known(ln, to);
	}
	CU_ASSERT(gw->nr_checks > before + 2);
	return nr;
}

/*
 * A NID that the router has replaced is not checked. The NID is removed, unless a route names it.
 */
static void test_renumbered(void)
{
	static const char *const both[] = { NEW, ONE };
	struct lnet *ln = node_on_two_nets(1);
	struct lnet_gateway *gw;
	bool gone = false;

	UNIT_EQUAL(route_to(ln, 9, ONE, 0), 0, "a route");
	says_it_is(ln, ONE, NEW);
	CU_ASSERT_PTR_NOT_NULL_FATAL(known(ln, NEW));
	gw = lnet_gateway_of(ln, known(ln, NEW)->peer);
	CU_ASSERT_PTR_NOT_NULL_FATAL(gw);
	UNIT_EQUAL(ways_to(ln, BEHIND, &gone), 2, "by each of its interfaces");
	says(ln, NEW, both, 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(known(ln, ONE));
	UNIT_EQUAL(known(ln, ONE)->gw, LNET_GW_DOWN, "the old interface");
	UNIT_EQUAL(checks_elsewhere(ln, gw, NEW), 0, "checks of the old interface");
	says(ln, NEW, both, 2);
	says(ln, ONE, both + 1, 1);
	CU_ASSERT_PTR_NULL(known(ln, NEW));
	UNIT_EQUAL(known(ln, ONE)->peer->nr_pnis, 1, "interfaces");
	UNIT_EQUAL(ways_to(ln, BEHIND, &gone), 1, "by the one that is left");
	UNIT_EQUAL(checks_elsewhere(ln, gw, ONE), 0, "checks of the new interface");
	node_end(ln);
}

/* A check returns the @len bytes @info from the router @gw. */
static void answers(struct lnet *ln, struct lnet_gateway *gw, const u8 *info, int len)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter(&p, &ln->shard[0]);
	lnet_gateway_update(&p, gw->pni->peer, info, (u32)len);
	lnet_pass_end(&p);
}

/* A router stops while a check of a replaced NID is unanswered: no timer is left. */
static void test_stop_replaced(void)
{
	struct lnet *ln = node_on_two_nets(1);
	const struct lnet_peer_ni *checked;
	struct lnet_gateway *gw;
	struct lnet_sbuf *c;
	const char *other;
	unsigned int i;
	int len;

	UNIT_EQUAL(route_to(ln, 9, ONE, 0), 0, "a route");
	says_it_is(ln, ONE, NEW);
	gw = lnet_gateway_of(ln, known(ln, ONE)->peer);
	for (i = 0; i < 2000 && !gw->check; i++)
		pass_time(ln, 100 * RAILS_MS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(gw->check);
	checked = gw->check->dst_pni;
	other = checked == known(ln, NEW) ? ONE : NEW;
	c = info_of(&other, 1, &len);
	answers(ln, gw, c->data, len);
	lnet_sbuf_put(c);
	UNIT_EQUAL(checked->gw, LNET_GW_DOWN, "replaced");
	CU_ASSERT_TRUE(lnet_gateway_stop(gw));
	CU_ASSERT_TRUE(list_empty(&gw->timer.link));
	node_end(ln);
}

/* After a reply that is no ping info, a router with a replaced NID is still checked. */
static void test_malformed(void)
{
	static const char *const one[] = { ONE };
	static const u8 bad[4];
	struct lnet *ln = node_on_two_nets(1);
	struct lnet_gateway *gw;
	struct lnet_sbuf *c;
	u64 before;
	int len;

	UNIT_EQUAL(route_to(ln, 9, ONE, 0), 0, "a route");
	says_it_is(ln, ONE, NEW);
	gw = lnet_gateway_of(ln, known(ln, ONE)->peer);
	c = info_of(one, 1, &len);
	answers(ln, gw, c->data, len);
	lnet_sbuf_put(c);
	answers(ln, gw, bad, sizeof(bad));
	before = gw->nr_checks;
	pass_time(ln, 200 * NSEC_PER_SEC);
	CU_ASSERT(gw->nr_checks > before + 1);
	node_end(ln);
}

/* ---- a router that is never idle ------------------------------------------------------------- */

static u64 ticking(struct lnet_env *env)
{
	(void)env;
	return node_env.now_ns += RAILS_MS;
}

/* The path to the peer always seems to have a message in flight. */
static void test_never_idle(void)
{
	struct lnet *ln = node_on_two_nets(4);
	struct lnet_env_ops ops = *node_env.env.ops;
	struct lnet_peer_ni *pni = NULL;
	struct lnet_path *path;
	char text[32];
	u64 begun_ns;
	unsigned int i;

	for (i = 1; !pni || pni->sh == &ln->shard[0]; i++) {	/* one that must move to shard 0 */
		struct lnet_nid at;

		snprintf(text, sizeof(text), "10.0.0.%u@tcp", 10 + i);
		at = nid(text);
		lnet_peer_ni_put(pni);
		pni = lnet_peer_ni_get(ln, &at);
	}
	path = list_first_entry(&pni->paths, struct lnet_path, link);
	path->nr_wire++;
	ops.now_ns = ticking;
	node_env.env.ops = &ops;
	begun_ns = node_env.now_ns;
	UNIT_EQUAL(route_to(ln, 9, text, 0), -EBUSY, "it cannot move");
	CU_ASSERT_TRUE(node_env.now_ns - begun_ns >= ln->tun.drain_time);
	CU_ASSERT_TRUE(node_env.now_ns - begun_ns <= 2 * ln->tun.drain_time);
	UNIT_EQUAL(nr_gateways(ln), 0, "nothing was made");
	UNIT_EQUAL(lnet_route_del(ln, lnet_net_make(LNET_LND_TCP, 9), &pni->nid), -ENOENT, "none");
	UNIT_EQUAL(pni->gw, 0, "it is no router");
	path->nr_wire--;
	UNIT_EQUAL(route_to(ln, 9, text, 0), 0, "idle for once");
	CU_ASSERT_PTR_EQUAL(pni->sh, &ln->shard[0]);
	lnet_peer_ni_put(pni);
	node_end(ln);
}

/* ---- flaps and false alarms ------------------------------------------------------------------ */

/* LU-18444 and similar bugs: one check is lost, or several, while messages pass. */
static void test_check_lost(void)
{
	struct lnet_gateway *gw;
	unsigned int i;

	begin_routed(0, 0);
	gw = lnet_gateway_of(ln_of(NEAR), pni_of(NEAR, R1, RAIL_NEAR)->peer);
	rails_on(R1, RAIL_NEAR, RAILS_CORE, FATE_LOSE, LNET_OK, 3);
	for (i = 0; i < 130; i++) {
		puts_succeed(NEAR, FAR, 1);
		rails_run(NSEC_PER_SEC);
		UNIT_EQUAL(is_up(NEAR, 0), true, "it carries what we send");
	}
	CU_ASSERT(gw->nr_checks >= 3);
	rails_end();
}

/* The far end fails and recovers: this is not attributed to the routers, and their routes stay. */
static void test_end_dies(void)
{
	unsigned int i, tag;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 4);
	rails_on(FAR, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 4; i++) {
		tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
		rails_run(6 * NSEC_PER_SEC);
		CU_ASSERT(rails.req[tag].status != 0);
		UNIT_EQUAL(is_up(NEAR, 0) + is_up(NEAR, 1), 2, "both routes");
	}
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->health, 1000, "a router is not to blame");
	UNIT_EQUAL(pni_of(NEAR, R2, RAIL_NEAR)->health, 1000, "nor the other");
	CU_ASSERT(pni_of(NEAR, FAR, RAIL_FAR)->health < 1000);
	CU_ASSERT(way(R1)->health < 1000 && way(R2)->health < 1000);
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 4);
	rails_end();
}

/*
 * One of two routers forwards nothing: its path loses health, and the end is reached by the other.
 */
static void test_one_way_is_bad(void)
{
	unsigned int i;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 4);
	rails_on(R1, RAIL_FAR, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 8; i++) {
		puts_succeed(NEAR, FAR, 1);
		rails_run(NSEC_PER_SEC);
	}
	CU_ASSERT(way(R1)->health < 1000);
	UNIT_EQUAL(way(R2)->health, 1000, "the other way");
	UNIT_EQUAL(pni_of(NEAR, FAR, RAIL_FAR)->health, 1000, "the end is heard the other way");
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->health, 1000, "so is the router");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(way(R1)->health, 1000, "whole again, by pings end to end");
	rails_end();
}

/* A router fails and recovers twice a second: no request is lost, and few checks are sent. */
static void test_flapping(void)
{
	struct lnet_gateway *gw;
	unsigned int i;
	u64 checks;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 4);
	gw = lnet_gateway_of(ln_of(NEAR), pni_of(NEAR, R1, RAIL_NEAR)->peer);
	checks = gw->nr_checks;
	for (i = 0; i < 40; i++) {
		if (i % 2)
			rails_clear();
		else
			mute(R1);
		puts_succeed(NEAR, FAR, 2);
		rails_run(250 * RAILS_MS);
		UNIT_EQUAL(is_up(NEAR, 1), true, "the other one");
	}
	rails_clear();
	CU_ASSERT(gw->nr_checks - checks <= 40);
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(is_up(NEAR, 0), true, "up in the end");
	puts_succeed(NEAR, FAR, 4);
	rails_end();
}

/* A request that a live router loses is overdue by round-trip times, not by many hedge_floors. */
static void overdue(u64 srtt_ns, unsigned int not_ms, unsigned int late_ms)
{
	struct lnet_pass p;
	unsigned int tag, ms;

	begin_routed(0, 5);
	puts_succeed(NEAR, FAR, 2);
	way(R1)->srtt_ns = srtt_ns;
	way(R1)->rttvar_ns = 0;
	rails_on(R1, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	for (ms = 5; ms <= late_ms; ms += 5) {
		rails_run(5 * RAILS_MS);
		lnet_pass_begin(&p, ln_of(NEAR), LNET_PASS_DRIVER);
		lnet_enter_pni(&p, way(R1)->pni);
		lnet_path_alive(p.sh, way(R1), p.now_ns, 0);
		lnet_pass_end(&p);
		if (ms <= not_ms)
			UNIT_EQUAL(rails.req[tag].nr_attempts, 1, "not yet");
	}
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "by the other router");
	UNIT_EQUAL(rails.req[tag].status, 0, "well");
	rails_end();
}

static void test_overdue(void)
{
	overdue(NSEC_PER_MSEC / 10, 5, 20);
	overdue(NSEC_PER_MSEC, 30, 40);
	overdue(5 * NSEC_PER_MSEC, 150, 170);
}

static struct lnet_peer *record_of(unsigned int router, unsigned int rail)
{
	struct lnet_nid nid = rails_nid(router, rail);
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln_of(NEAR), &nid);
	struct lnet_peer *peer = pni ? pni->peer : NULL;

	lnet_peer_ni_put(pni);
	return peer;
}

/* No program sends a request to the router. */
static void test_met(void)
{
	struct rails_cfg cfg = { .nr_nodes = 4, .quiet = true, .behind = true, .discover = true,
				 .strangers = true, .nr_shards = 1 };

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_router_enable(ln_of(R1), true), 0, "a router");
	UNIT_EQUAL(add(NEAR, R1, 0), 0, "a route");
	rails_run(2 * NSEC_PER_SEC);
	CU_ASSERT(record_of(R1, RAIL_NEAR) != NULL);
	CU_ASSERT(record_of(R1, RAIL_NEAR) == record_of(R1, RAIL_FAR));
	CU_ASSERT(record_of(R1, RAIL_NEAR) && record_of(R1, RAIL_NEAR)->mr);
	CU_ASSERT(rails_peer(R1, NEAR)->mr);
	rails_restart(R1);
	rails_run(NSEC_PER_SEC);
	rails_lost(NEAR, R1, RAIL_NEAR, LNET_PATH_LOST);
	rails_run(NSEC_PER_SEC);
	CU_ASSERT(rails_peer(R1, NEAR)->mr);
	rails_end();
}

/* ---- a route ends while many messages wait --------------------------------------------------- */

#define SLICE_ACTS 64		/* attempts that select a path again in one slice of a walk */

static unsigned int waiting_by(unsigned int router)
{
	const struct lnet_peer *peer = pni_of(NEAR, router, RAIL_NEAR)->peer;
	const struct lnet_op *op;
	unsigned int nr = 0;

	list_for_each_entry(op, &ln_of(NEAR)->shard[0].live, all)
		nr += lnet_att_waits(&op->first) && op->first.path->hop->peer == peer;
	return nr;
}

static void retire_route_by(unsigned int router)
{
	const struct lnet_peer *peer = pni_of(NEAR, router, RAIL_NEAR)->peer;
	struct lnet *ln = ln_of(NEAR);
	struct lnet_route *route;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(route, &ln->routes->list, link)
		if (route->gw->pni->peer == peer)
			break;
	lnet_route_retire(route);
	lnet_routes_sync(ln);
	mutex_unlock(&ln->cfg_mutex);
}

/* The worker moves the messages in slices, and removes the path when no message waits for it. */
static void test_many_wait(void)
{
	unsigned int first, before, i, done = 0;

	begin_routed(0, 0);
	rails_tune(NEAR, "hedge", 0);
	puts_succeed(NEAR, FAR, 2);
	puts_succeed(NEAR, R1, 2);
	rails_on(NEAR, -1, RAILS_PUT, FATE_KEEP, LNET_OK, -1);
	for (i = 0; i < 8; i++)		/* to R1 itself: they use its credits */
		rails_put(NEAR, R1, 8, LNET_ACK, 0);
	UNIT_EQUAL(way(R1)->nr_wire, 0, "messages that keep the path");
	first = rails.nr_tags + 1;
	for (i = 0; i < 400; i++)
		rails_put(NEAR, FAR, 8, LNET_ACK, 0);
	before = waiting_by(R1);
	UNIT_EQUAL(before > 2 * SLICE_ACTS, true, "half of them wait for R1");
	UNIT_EQUAL(way(R1)->nr_wire, 0, "messages that keep the path");
	retire_route_by(R1);
	UNIT_EQUAL(before - waiting_by(R1), SLICE_ACTS, "messages that one slice moves");
	CU_ASSERT_PTR_NOT_NULL(way(R1));
	rails_clear();
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(waiting_by(R1), 0, "messages that wait");
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(2 * NSEC_PER_SEC);
	CU_ASSERT_PTR_NULL(way(R1));
	CU_ASSERT_TRUE(list_empty(&ln_of(NEAR)->routes->dying));
	for (i = 0; i < 400; i++)
		done += rails_done(first + i) && !rails.req[first + i].status;
	UNIT_EQUAL(done, 400, "done");
	rails_end();
}

UNIT_SUITE(gateway,
	   { "a router passes on by another router", test_by_two },
	   { "but never back to the one that it came from", test_to_and_fro },
	   { "two routers that turn out to be one", test_become_one },
	   { "a router with an interface on each of our nets", test_two_interfaces },
	   { "a router that changes its NIDs is checked at those that it has", test_renumbered },
	   { "a router stops while a check of a replaced NID is unanswered", test_stop_replaced },
	   { "a malformed reply does not end the checks of a router", test_malformed },
	   { "a router that is never idle is refused after drain_time", test_never_idle },
	   { "checks that are lost take no route down while messages pass", test_check_lost },
	   { "an end that dies takes no route down", test_end_dies },
	   { "W20: one of two ways to the far end is bad", test_one_way_is_bad },
	   { "a router that flaps", test_flapping },
	   { "what a router loses is missed by the round trips", test_overdue },
	   { "a router's interfaces are learned, as it is asked whether it is up", test_met },
	   { "messages that wait leave the path of an ended route in slices", test_many_wait })
