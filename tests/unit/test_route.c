/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Routes: which ones the table accepts, which path a message takes, and how messages end if routers
 * or paths fail. Nodes 1 and 2 are routers between node 0 and node 3, which share no net.
 */
#include "routes.h"
#include "service/service.h"

/* ---- the table ------------------------------------------------------------------------------- */

static const struct {
	const char *name, *net, *gateway;
	s32 hops;
	int err;
} refused[] = {
	{ "any gateway", "tcp9", "*", -1, -EINVAL },
	{ "loopback gateway", "tcp9", "0@lo", -1, -EINVAL },
	{ "loopback net", "lo", "10.0.0.2@tcp", -1, -EINVAL },
	{ "the gateway's own net", "tcp7", "10.0.0.2@tcp7", -1, -EINVAL },
	{ "no hops", "tcp9", "10.0.0.2@tcp", 0, -EINVAL },
	{ "too many hops", "tcp9", "10.0.0.2@tcp", 256, -EINVAL },
	{ "hops below", "tcp9", "10.0.0.2@tcp", -2, -EINVAL },
	{ "a net of ours", "tcp", "10.1.0.2@tcp1", -1, -EEXIST },
	{ "a gateway on no net of ours", "tcp9", "10.1.0.2@tcp8", -1, -EHOSTUNREACH },
	{ "ourselves", "tcp9", "10.0.0.1@tcp", -1, -EINVAL },
	{ "the first hop", "tcp9", "10.0.0.2@tcp", 1, 0 },
	{ "the same again", "tcp9", "10.0.0.2@tcp", 1, -EEXIST },
	{ "most hops", "tcp10", "10.0.0.2@tcp", 255, 0 },
	{ "another router", "tcp9", "10.0.0.3@tcp", -1, 0 },
};

static struct lnet_route_cfg cfg_of(const char *to, const char *gateway)
{
	struct lnet_route_cfg cfg = { .hops = -1 };

	CU_ASSERT_FATAL(!lnet_net_parse(&cfg.net, to));
	if (!strcmp(gateway, "*"))
		cfg.gateway = LNET_NID_ANY;
	else
		CU_ASSERT_FATAL(!lnet_nid_parse(&cfg.gateway, gateway));
	return cfg;
}

static void test_table(void)
{
	struct lnet_route_info info;
	struct lnet_route_cfg cfg;
	unsigned int i, nr = 0;

	begin();
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		cfg = cfg_of(refused[i].net, refused[i].gateway);
		cfg.hops = refused[i].hops;
		UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), refused[i].err, refused[i].name);
		nr += !refused[i].err;
		UNIT_EQUAL(lnet_route_get(ln_of(NEAR), nr, &info), -ENOENT, refused[i].name);
	}
	UNIT_EQUAL(lnet_route_get(ln_of(NEAR), 1, &info), 0, "in the order of configuration");
	UNIT_EQUAL(info.cfg.hops, 255, "as told");
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), cfg.net, &LNET_NID_LO), -ENOENT, "no router");
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), net(RAIL_FAR), &cfg.gateway), -ENOENT, "no net");
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), cfg.net, &cfg.gateway), 0, "taken away");
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), cfg.net, &cfg.gateway), -ENOENT, "once");
	UNIT_EQUAL(pni_of(NEAR, R2, RAIL_NEAR)->gw, 0, "and it is a router no more");
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->gw, LNET_GW_UP, "the other one is");
	rails_end();
}

static void test_neighbours(void)
{
	struct lnet_nid gateway = rails_nid(R1, RAIL_NEAR), far = rails_nid(FAR, RAIL_FAR);
	struct lnet_route_cfg cfg = route_by(R1, NEAR);
	struct lnet_ni_cfg ni;

	begin();
	UNIT_EQUAL(lnet_dist(ln_of(NEAR), &far), -EHOSTUNREACH, "no way yet");
	cfg.hops = 3;
	UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), 0, "three hops");
	UNIT_EQUAL(lnet_dist(ln_of(NEAR), &far), 4, "that far");
	UNIT_EQUAL(add(NEAR, R2, 0), 0, "hops not told");
	UNIT_EQUAL(lnet_dist(ln_of(NEAR), &far), 2, "count as one");
	lnet_ni_cfg_init(&ni);
	ni.nid = rails_nid(NEAR, RAIL_FAR);
	UNIT_EQUAL(lnet_ni_add(ln_of(NEAR), &ni), -EUSERS, "routes lead there");
	ni.nid = gateway;
	UNIT_EQUAL(lnet_ni_add(ln_of(NEAR), &ni), -EUSERS, "the NID of a gateway");
	UNIT_EQUAL(lnet_peer_del(ln_of(NEAR), &gateway, NULL, 0), -EBUSY, "a router is kept");
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), cfg.net, &gateway), 0, "until no route names it");
	UNIT_EQUAL(lnet_peer_del(ln_of(NEAR), &gateway, NULL, 0), 0, "then it may go");
	rails_end();
}

/* ---- requests and replies -------------------------------------------------------------------- */

static void test_there_and_back(void)
{
	unsigned int tag;

	begin();
	tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status, -EHOSTUNREACH, "without a route");
	UNIT_EQUAL(add(NEAR, R1, 0) + add(FAR, R1, 0), 0, "routes");
	rails_run(NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 3);
	UNIT_EQUAL(lnet_nid_num(&rails.last.hdr.dest_nid), 1, "addressed to the end");
	UNIT_EQUAL(rails.req[rails.nr_tags].nr_plain, 0, "opened through the router: marked");
	tag = rails_get(NEAR, FAR, 6000, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status, 0, "a large answer");
	UNIT_EQUAL(rails.req[tag].mlength, 6000, "whole");
	puts_succeed(FAR, NEAR, 3);
	UNIT_EQUAL(forwarded(R2), 0, "by the router that routes name");
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->c[LNET_PNIC_sent_put] > 0, true,
		   "counted where it was given to");
	rails_end();
}

/* The reply takes the router of the request, whatever the routes prefer. */
static void test_same_way(void)
{
	u64 before;

	begin();
	UNIT_EQUAL(add(NEAR, R1, 0) + add(NEAR, R2, 9), 0, "routes");
	UNIT_EQUAL(add(FAR, R1, 9) + add(FAR, R2, 0), 0, "and back");
	rails_run(NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 4);
	UNIT_EQUAL(forwarded(R2), 0, "ACKs came by the way of the requests");
	before = forwarded(R2);		/* its own requests use the preferred router */
	puts_succeed(FAR, NEAR, 1);
	CU_ASSERT(forwarded(R2) > before);
	rails_end();
}

/* The far end does not use the router of the request: its replies take the router that it uses. */
static void test_asymmetric(void)
{
	unsigned int tag;

	begin();
	UNIT_EQUAL(add(NEAR, R1, 0) + add(FAR, R2, 0), 0, "routes");
	rails_run(NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 3);
	CU_ASSERT(forwarded(R1) > 0 && forwarded(R2) > 0);
	UNIT_EQUAL(lnet_tunable_set(ln_of(FAR), "drop_asym_route", 1), 0, "not any more");
	tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "dropped");
	CU_ASSERT(rails.req[tag].status != 0);
	CU_ASSERT(rails_stat(FAR, LNET_C_asym_drops) > 0);
	/* the ping that the failed request caused is answered */
	UNIT_EQUAL(lnet_tunable_set(ln_of(FAR), "drop_asym_route", 0), 0, "again");
	rails_run(5 * NSEC_PER_SEC);
	rails_end();
}

/* ---- selection ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	u32 prio1, prio2;
	s32 hops1, hops2;
	unsigned int by, rank;
} choices[] = {
	{ "priority", 1, 0, 1, 9, R2, LNET_RANK_gw_priority },
	{ "hops", 0, 0, 2, 1, R2, LNET_RANK_hops },
	{ "hops not told are one", 0, 0, 2, -1, R2, LNET_RANK_hops },
	{ "hops the other way", 0, 0, -1, 2, R1, LNET_RANK_hops },
};

static void test_choice(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		struct lnet_route_cfg cfg = route_by(R1, NEAR);
		struct lnet_select s = { 0 };

		begin();
		lnet_tunable_set(ln_of(NEAR), "avoid_asym_router_failure", 0);
		cfg.priority = choices[i].prio1;
		cfg.hops = choices[i].hops1;
		UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), 0, choices[i].name);
		cfg = route_by(R2, NEAR);
		cfg.priority = choices[i].prio2;
		cfg.hops = choices[i].hops2;
		UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), 0, choices[i].name);
		rails_run(NSEC_PER_SEC);
		CU_ASSERT_PTR_EQUAL(chosen(&s), way(choices[i].by));
		UNIT_EQUAL(s.decided_by, choices[i].rank, choices[i].name);
		UNIT_EQUAL(s.nr_cand, 2, choices[i].name);
		rails_end();
	}
}

static void test_health_of_router(void)
{
	struct lnet_select s = { 0 };

	begin_routed(0, 0);
	rails_run(NSEC_PER_SEC);
	pni_of(NEAR, R1, RAIL_NEAR)->health = 900;
	CU_ASSERT_PTR_EQUAL(chosen(&s), way(R2));
	UNIT_EQUAL(s.decided_by, LNET_RANK_gw_health, "the healthier router");
	pni_of(NEAR, R1, RAIL_NEAR)->health = 1000;
	pni_of(NEAR, R2, RAIL_NEAR)->credits -= 2;
	s = (struct lnet_select){ 0 };
	CU_ASSERT_PTR_EQUAL(chosen(&s), way(R1));
	UNIT_EQUAL(s.decided_by, LNET_RANK_credits, "who has credits");
	pni_of(NEAR, R2, RAIL_NEAR)->credits += 2;
	way(R1)->suspect_ns = 1;
	s = (struct lnet_select){ 0 };
	CU_ASSERT_PTR_EQUAL(chosen(&s), way(R2));
	UNIT_EQUAL(s.decided_by, LNET_RANK_responsive, "who answers");
	way(R1)->suspect_ns = 0;
	pni_of(NEAR, R2, RAIL_NEAR)->gw = LNET_GW_UNRESPONSIVE;
	s = (struct lnet_select){ 0 };
	CU_ASSERT_PTR_EQUAL(chosen(&s), way(R1));
	UNIT_EQUAL(s.decided_by, LNET_RANK_route_up, "who is up");
	pni_of(NEAR, R1, RAIL_NEAR)->gw = LNET_GW_UNRESPONSIVE;
	CU_ASSERT_PTR_NOT_NULL(chosen(&s));	/* no better one exists */
	rails_end();
}

static void test_turns(void)
{
	begin_routed(0, 0);
	rails_run(NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 10);
	CU_ASSERT(forwarded(R1) >= 10 && forwarded(R2) >= 10);
	rails_end();
}

/* ---- routers that fail and recover ----------------------------------------------------------- */

static void test_dead_router(void)
{
	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 4);
	mute(R1);
	puts_succeed(NEAR, FAR, 10);
	rails_run(NSEC_PER_SEC / 2);
	UNIT_EQUAL(lnet_route_usable(way(R1)), false, "found out without a check");
	UNIT_EQUAL(lnet_route_usable(way(R2)), true, "the other one is well");
	UNIT_EQUAL(pni_of(NEAR, FAR, RAIL_FAR)->health, 1000, "the end is not to blame");
	UNIT_EQUAL(rails_ni(NEAR, RAIL_NEAR)->state, NI_ACTIVE, "nor is the interface");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(lnet_route_usable(way(R1)), true, "back");
	puts_succeed(NEAR, FAR, 4);
	rails_end();
}

static void test_checks(void)
{
	struct lnet_gateway *gw;
	u64 nr;

	begin_routed(0, 0);
	gw = lnet_gateway_of(ln_of(NEAR), pni_of(NEAR, R1, RAIL_NEAR)->peer);
	CU_ASSERT(gw->nr_checks >= 1);
	UNIT_EQUAL(gw->known, 1, "and it answered");
	nr = gw->nr_checks;
	rails_run(181 * NSEC_PER_SEC);
	CU_ASSERT(gw->nr_checks - nr >= 3 && gw->nr_checks - nr <= 4);	/* each minute */
	UNIT_EQUAL(gw->nr_failed, 0, "all answered");
	rails_on(NEAR, -1, RAILS_ANY, FATE_REFUSE, LNET_REMOTE_DROPPED, -1);
	rails_run(70 * NSEC_PER_SEC);
	UNIT_EQUAL(gw->nr_failed, 1, "no answer");
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->gw, LNET_GW_UNRESPONSIVE, "silent");
	UNIT_EQUAL(is_up(NEAR, 0) + is_up(NEAR, 1), 0, "both");
	rails_clear();
	rails_run(60 * NSEC_PER_SEC);
	UNIT_EQUAL(is_up(NEAR, 0) + is_up(NEAR, 1), 2, "and back");
	lnet_tunable_set(ln_of(NEAR), "alive_router_check_interval", 0);
	rails_run(70 * NSEC_PER_SEC);
	nr = gw->nr_checks;
	rails_run(200 * NSEC_PER_SEC);
	UNIT_EQUAL(gw->nr_checks, nr, "not if they are off");
	rails_end();
}

/* The ping infos of a router. */
static const struct {
	const char *name;
	u32 features;
	u32 near, far;		/* status of its interfaces; 0: not listed */
	s32 hops;
	bool avoid, up;
	u8 gw;
} said[] = {
	{ "all is well", 0, LNET_NI_UP, LNET_NI_UP, -1, true, true, LNET_GW_UP },
	{ "routing off", LNET_FEAT_RTE_DISABLED, LNET_NI_UP, LNET_NI_UP, -1, true, false,
	  LNET_GW_UP },
	{ "far side down", 0, LNET_NI_UP, LNET_NI_DOWN, -1, true, false, LNET_GW_UP },
	{ "far side down, do not care", 0, LNET_NI_UP, LNET_NI_DOWN, -1, false, true, LNET_GW_UP },
	{ "near side down", 0, LNET_NI_DOWN, LNET_NI_UP, -1, true, true, LNET_GW_DOWN },
	{ "more routers between", 0, LNET_NI_UP, 0, -1, true, true, LNET_GW_UP },
	{ "more routers between, told", 0, LNET_NI_UP, 0, 2, true, true, LNET_GW_UP },
	{ "it should be the last", 0, LNET_NI_UP, 0, 1, true, false, LNET_GW_UP },
};

static void say(unsigned int i)
{
	struct lnet_peer_ni *pni = pni_of(NEAR, R1, RAIL_NEAR);
	struct lnet_pinginfo_ni nis[2];
	unsigned int nr = 0;
	struct lnet_pass p;
	u8 buf[256];
	int len;

	nis[nr].nid = rails_nid(R1, RAIL_NEAR);
	nis[nr++].status = said[i].near;
	nis[nr].nid = rails_nid(R1, RAIL_FAR);
	nis[nr].status = said[i].far;
	nr += said[i].far != 0;
	len = lnet_pinginfo_encode(buf, sizeof(buf), LNET_FEAT_NI_STATUS | said[i].features,
				   LNET_PID, 5, nis, nr);
	CU_ASSERT_FATAL(len > 0);
	lnet_pass_begin(&p, ln_of(NEAR), LNET_PASS_CALL);
	lnet_enter_pni(&p, pni);
	lnet_gateway_update(&p, pni->peer, buf, len);
	lnet_leave(&p);
	lnet_pass_end(&p);
}

static void test_said(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(said); i++) {
		struct lnet_route_cfg cfg = route_by(R1, NEAR);

		begin();
		lnet_tunable_set(ln_of(NEAR), "avoid_asym_router_failure", said[i].avoid);
		cfg.hops = said[i].hops;
		UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), 0, said[i].name);
		rails_run(NSEC_PER_SEC);
		say(i);
		UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->gw, said[i].gw, said[i].name);
		UNIT_EQUAL(is_up(NEAR, 0), said[i].up && said[i].gw == LNET_GW_UP, said[i].name);
		rails_end();
	}
}

/* A message through a router proves more than the router's ping info. */
static void test_revival(void)
{
	begin_routed(0, 0);
	puts_succeed(FAR, NEAR, 2);
	say(2);
	UNIT_EQUAL(is_up(NEAR, 0), false, "far side down, it says");
	puts_succeed(FAR, NEAR, 2);
	UNIT_EQUAL(is_up(NEAR, 0), true, "but something came through it");
	rails_end();
}

/* A notification about a router counts until its next report; an older one does not count. */
static void test_notify(void)
{
	struct lnet_nid r1 = rails_nid(R1, RAIL_NEAR), far = rails_nid(R1, RAIL_FAR);
	struct lnet_nid end = rails_nid(FAR, RAIL_NEAR);
	struct lnet_select s = { 0 };

	begin_routed(0, 0);
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &far, false, 5), -EINVAL, "of no net of ours");
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &end, false, 5), 0, "of no router");
	UNIT_EQUAL(is_up(NEAR, 0), true, "nothing happens");
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &r1, false, 5), 0, "down");
	UNIT_EQUAL(is_up(NEAR, 0), false, "down");
	UNIT_EQUAL(is_up(NEAR, 1), true, "not the other router");
	CU_ASSERT_PTR_EQUAL(chosen(&s), way(R2));
	UNIT_EQUAL(s.decided_by, LNET_RANK_route_up, "the other router is taken");
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &r1, true, 4), 0, "an older word");
	UNIT_EQUAL(is_up(NEAR, 0), false, "counts for nothing");
	lnet_health_set_peer(ln_of(NEAR), &r1, 300);
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &r1, true, 5), 0, "up");
	UNIT_EQUAL(is_up(NEAR, 0), true, "up");
	UNIT_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->health, LNET_HEALTH_MAX, "and healthy");
	UNIT_EQUAL(lnet_route_notify(ln_of(NEAR), &r1, false, 6), 0, "down again");
	rails_run(70 * NSEC_PER_SEC);
	UNIT_EQUAL(is_up(NEAR, 0), true, "until it is asked");
	rails_end();
}

static void test_before_use(void)
{
	unsigned int i;

	begin();
	lnet_tunable_set(ln_of(NEAR), "check_routers_before_use", 1);
	lnet_tunable_set(ln_of(NEAR), "avoid_asym_router_failure", 0);
	rails_on(R1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	UNIT_EQUAL(add(NEAR, R1, 0), 0, "a route");
	rails_pump();
	UNIT_EQUAL(is_up(NEAR, 0), false, "not before it has answered");
	for (i = 0; i < 2; i++) {
		rails_release();
		rails_run(2 * NSEC_PER_SEC);
	}
	UNIT_EQUAL(is_up(NEAR, 0), true, "then it is");
	rails_end();
}

/*
 * A router whose routing is switched off notifies its peers by a push. Discovery finds its other
 * NIDs, and no path to these leads through the router itself.
 */
static void test_discovered(void)
{
	struct lnet_nid nid = rails_nid(R1, RAIL_FAR);
	struct lnet_peer_ni *pni;
	struct lnet_path *path;
	unsigned int tag;

	begin_routed(0, 0);
	lnet_tunable_set(ln_of(NEAR), "discovery", 1);
	lnet_tunable_set(ln_of(R1), "discovery", 1);
	pni = lnet_peer_ni_get(ln_of(NEAR), &nid);
	tag = rails_get(NEAR, R1, 64, 0);
	rails_run(3 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status, 0, "spoken to, so it is discovered");
	lnet_peer_ni_put(pni);
	pni = lnet_peer_ni_get(ln_of(NEAR), &nid);
	CU_ASSERT_PTR_EQUAL(pni->peer, pni_of(NEAR, R1, RAIL_NEAR)->peer);
	list_for_each_entry(path, &pni->paths, link)
		CU_ASSERT(path->gone || path->hop->peer != pni->peer);
	lnet_peer_ni_put(pni);
	puts_succeed(NEAR, FAR, 2);
	UNIT_EQUAL(lnet_router_enable(ln_of(R1), false), 0, "it stops");
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(is_up(NEAR, 0), false, "and has said so, long before the next check");
	UNIT_EQUAL(is_up(NEAR, 1), true, "the other one goes on");
	puts_succeed(NEAR, FAR, 2);
	rails_end();
}

/* ---- changes under traffic ------------------------------------------------------------------- */

static void test_del_under_traffic(void)
{
	struct lnet_nid gateway = rails_nid(R1, RAIL_NEAR);
	unsigned int i, first;

	begin_routed(0, 5);
	puts_succeed(NEAR, FAR, 2);
	first = rails.nr_tags + 1;
	rails_on(NEAR, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 3);
	rails_on(R1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 3);
	for (i = 0; i < 40; i++)
		rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(lnet_route_del(ln_of(NEAR), net(RAIL_FAR), &gateway), 0, "waits, and ends");
	CU_ASSERT_PTR_NULL(way(R1));
	rails_run(6 * NSEC_PER_SEC);
	for (i = first; i <= rails.nr_tags; i++) {
		UNIT_EQUAL(rails.req[i].status, 0, "all arrived");
		UNIT_EQUAL(rails.req[i].nr_effects, 1, "once");
	}
	rails_end();
}

static void test_ni_goes(void)
{
	struct lnet_nid nid = rails_nid(NEAR, RAIL_NEAR);
	struct lnet_ni_cfg ni;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 2);
	UNIT_EQUAL(lnet_ni_del(ln_of(NEAR), &nid), 0, "the only interface goes");
	CU_ASSERT_PTR_NULL(way(R1));
	UNIT_EQUAL(is_up(NEAR, 0), false, "no way");
	lnet_ni_cfg_init(&ni);
	ni.nid = nid;
	UNIT_EQUAL(lnet_ni_add(ln_of(NEAR), &ni), 0, "and comes back");
	CU_ASSERT_PTR_NOT_NULL(way(R1));
	rails_run(NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 2);
	rails_end();
}

/* Rule 11: behind a router, no node knows how many copies of a request exist. */
static void test_far_restarts(void)
{
	unsigned int tag;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 2);
	rails_restart(FAR);
	UNIT_EQUAL(add(FAR, R1, 0) + add(FAR, R2, 0), 0, "back");
	rails_run(10 * RAILS_MS);
	tag = rails_put(NEAR, FAR, 64, LNET_ACK, 0);
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status, -ESTALE, "refused: no window");
	UNIT_EQUAL(rails.req[tag].unknown, true, "perhaps delivered");
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "it was not");
	puts_succeed(NEAR, FAR, 2);
	rails_end();
}

/* ---- shards ---------------------------------------------------------------------------------- */

static void test_shards(void)
{
	struct lnet_shard *first;
	unsigned int i;

	for (i = 2; i <= 8; i *= 2) {
		begin_shards(i);
		first = &ln_of(NEAR)->shard[0];
		/* known before, in whichever shard */
		puts_succeed(NEAR, R1, 2);
		puts_succeed(NEAR, R2, 2);
		UNIT_EQUAL(add(NEAR, R1, 0) + add(NEAR, R2, 0) + add(FAR, R1, 0) + add(FAR, R2, 0),
			   0, "routes");
		CU_ASSERT_PTR_EQUAL(pni_of(NEAR, R1, RAIL_NEAR)->sh, first);
		CU_ASSERT_PTR_EQUAL(pni_of(NEAR, R2, RAIL_NEAR)->sh, first);
		CU_ASSERT_PTR_EQUAL(pni_of(NEAR, FAR, RAIL_FAR)->sh, first);
		rails_run(NSEC_PER_SEC);
		puts_succeed(NEAR, FAR, 6);
		puts_succeed(FAR, NEAR, 6);
		puts_succeed(NEAR, R1, 2);
		rails_end();
	}
}

/* A router in doubt is checked after 1, 2, 4 s, and from 1 s again when its ping info changes. */
static void test_doubted(void)
{
	enum { UP, OFF, DOWN };	/* in said[] */
	static const struct {
		unsigned int says;
		u32 doubts;
	} rows[] = {
		{ UP, 0 }, { DOWN, 1 }, { DOWN, 2 }, { DOWN, 3 }, { OFF, 1 }, { OFF, 2 }, { UP, 0 },
		{ DOWN, 1 },
	};
	struct lnet_route_cfg cfg = route_by(R1, NEAR);
	struct lnet_gateway *gw;
	unsigned int i;

	begin();
	UNIT_EQUAL(lnet_route_add(ln_of(NEAR), &cfg), 0, "a route");
	rails_run(NSEC_PER_SEC);
	gw = lnet_gateway_of(ln_of(NEAR), pni_of(NEAR, R1, RAIL_NEAR)->peer);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		say(rows[i].says);
		UNIT_EQUAL(gw->doubts, rows[i].doubts, said[rows[i].says].name);
	}
	rails_end();
}

/* The reply to the next ping makes the route usable again; the first ping may be lost. */
static void test_refused(void)
{
	unsigned int i, ms;

	for (i = 0; i < 2; i++) {
		struct lnet_gateway *gw;
		struct lnet_path *by_r1;
		struct lnet_pass p;

		begin_routed(0, 0);
		by_r1 = way(R1);
		gw = by_r1->route->gw;
		UNIT_EQUAL(lnet_tunable_set(ln_of(NEAR), "alive_router_check_interval",
					    i ? 0 : 60 * NSEC_PER_SEC), 0, "checks on, off");
		rails_run(70 * NSEC_PER_SEC);
		lnet_pass_begin(&p, ln_of(NEAR), LNET_PASS_CALL);
		lnet_enter(&p, &ln_of(NEAR)->shard[0]);
		lnet_gateway_rejected(&p, by_r1);
		lnet_leave(&p);
		lnet_pass_end(&p);
		UNIT_EQUAL(lnet_route_usable(by_r1), false, "not by it");
		rails_on(NEAR, -1, RAILS_ANY, FATE_REFUSE, LNET_REMOTE_DROPPED, -1);
		for (ms = 0; ms < 20000 && !gw->nr_failed; ms += 100)
			rails_run(100 * RAILS_MS);
		UNIT_EQUAL(gw->nr_failed, 1, "asked in vain");
		rails_clear();
		rails_run(1500 * RAILS_MS);
		UNIT_EQUAL(lnet_route_usable(by_r1), true, "asked again: it does lead there");
		rails_end();
	}
}

/* A burst may have taken all preallocated operations. */
static void test_no_reserve(void)
{
	struct lnet_gateway *gw;
	struct lnet_shard *sh;
	LIST_HEAD(taken);
	u64 nr;

	begin_routed(0, 0);
	sh = &ln_of(NEAR)->shard[0];
	gw = way(R1)->route->gw;
	nr = gw->nr_checks;
	list_splice_init(&sh->ops.free, &taken);
	rails_run(61 * NSEC_PER_SEC);
	UNIT_EQUAL(gw->nr_checks, nr, "not asked");
	list_splice_init(&taken, &sh->ops.free);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(gw->nr_checks, nr + 1, "but as soon as it can be");
	rails_end();
}

UNIT_SUITE(route,
	   { "the table takes what stock's does, and refuses the rest", test_table },
	   { "what routes mean for interfaces, peers and distances", test_neighbours },
	   { "a message goes through a router, its answer comes back", test_there_and_back },
	   { "answers take the router that requests came by", test_same_way },
	   { "or another, unless asymmetric routes are to be dropped", test_asymmetric },
	   { "priority, then hops decide", test_choice },
	   { "then health and credits of the router; those who are silent are the last",
	     test_health_of_router },
	   { "equal routers take turns", test_turns },
	   { "a router dies: nothing is lost, nobody else is blamed", test_dead_router },
	   { "routers are asked each minute whether they live", test_checks },
	   { "what a router says of itself counts", test_said },
	   { "one that refuses something is asked until it answers", test_refused },
	   { "what could not be asked for want of memory is asked soon", test_no_reserve },
	   { "it is asked less and less often while it says the same", test_doubted },
	   { "what comes through it counts more", test_revival },
	   { "what another noticed of it counts until it is asked", test_notify },
	   { "routers may have to answer before they are used", test_before_use },
	   { "what discovery finds out of routers counts", test_discovered },
	   { "a route goes under traffic, nothing is lost", test_del_under_traffic },
	   { "paths through routers follow the interfaces", test_ni_goes },
	   { "rule 11: no new name behind a router", test_far_restarts },
	   { "routers and those behind them live in one shard", test_shards })
