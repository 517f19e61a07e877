/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes for tests: nodes 1 and 2 are routers between node 0 and node 3, which share no net. */
#ifndef TESTS_UNIT_ROUTES_H
#define TESTS_UNIT_ROUTES_H

#include "rails.h"
#include "path/path.h"
#include "router/router.h"

enum { NEAR, R1, R2, FAR };
enum { RAIL_NEAR, RAIL_FAR };

static __maybe_unused u32 net(unsigned int rail)
{
	struct lnet_nid nid = rails_nid(0, rail);

	return lnet_nid_net(&nid);
}

static __maybe_unused struct lnet *ln_of(unsigned int node)
{
	return rails.node[node].ln;
}

static __maybe_unused struct lnet_route_cfg route_by(unsigned int router, unsigned int from)
{
	struct lnet_route_cfg cfg = { .hops = -1 };

	cfg.net = net(from == NEAR ? RAIL_FAR : RAIL_NEAR);
	cfg.gateway = rails_nid(router, from == NEAR ? RAIL_NEAR : RAIL_FAR);
	return cfg;
}

static __maybe_unused int add(unsigned int from, unsigned int router, u32 priority)
{
	struct lnet_route_cfg cfg = route_by(router, from);

	cfg.priority = priority;
	return lnet_route_add(ln_of(from), &cfg);
}

/* Starts both ends and two routers between them, with routing on; no routes yet. */
static __maybe_unused void begin_shards(unsigned int nr_shards)
{
	struct rails_cfg cfg = { .nr_nodes = 4, .quiet = true, .behind = true, .large = true,
				 .nr_shards = nr_shards };

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_router_enable(ln_of(R1), true), 0, "a router");
	UNIT_EQUAL(lnet_router_enable(ln_of(R2), true), 0, "another");
	rails_run(115 * NSEC_PER_SEC);
}

static __maybe_unused void begin(void)
{
	begin_shards(1);
}

/* Also adds both routers to the route tables of both ends, with these priorities. */
static __maybe_unused void begin_routed(u32 prio1, u32 prio2)
{
	begin();
	UNIT_EQUAL(add(NEAR, R1, prio1), 0, "out");
	UNIT_EQUAL(add(NEAR, R2, prio2), 0, "out");
	UNIT_EQUAL(add(FAR, R1, prio1), 0, "back");
	UNIT_EQUAL(add(FAR, R2, prio2), 0, "back");
	rails_run(2 * NSEC_PER_SEC);
}

static __maybe_unused u64 forwarded(unsigned int router)
{
	return rails_stat(router, LNET_C_route_count);
}

static __maybe_unused struct lnet_peer_ni *pni_of(unsigned int node, unsigned int of,
						   unsigned int rail)
{
	struct lnet_nid nid = rails_nid(of, rail);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln_of(node), &nid);

	lnet_peer_ni_put(pni);
	return pni;
}

static __maybe_unused struct lnet_path *way(unsigned int router)
{
	return lnet_path_via(pni_of(NEAR, FAR, RAIL_FAR), rails_ni(NEAR, RAIL_NEAR),
			     pni_of(NEAR, router, RAIL_NEAR));
}

static __maybe_unused bool is_up(unsigned int node, unsigned int pos)
{
	struct lnet_route_info info;

	UNIT_EQUAL(lnet_route_get(ln_of(node), pos, &info), 0, "a route");
	return info.up;
}

/* Sends @nr PUTs one after the other; all succeed, and each takes effect once. */
static __maybe_unused void puts_succeed(unsigned int from, unsigned int to, unsigned int nr)
{
	unsigned int i, tag;

	for (i = 0; i < nr; i++) {
		tag = rails_put(from, to, 64, LNET_ACK, 0);
		rails_run(100 * RAILS_MS);
		if (!rails.req[tag].nr_final)
			rails_run(5 * NSEC_PER_SEC);
		UNIT_EQUAL(rails.req[tag].nr_final, 1, "finished");
		UNIT_EQUAL(rails.req[tag].status, 0, "arrived");
		UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
	}
}

static __maybe_unused struct lnet_path *chosen(struct lnet_select *s)
{
	struct lnet_path *path;

	s->peer = pni_of(NEAR, FAR, RAIL_FAR)->peer;
	s->cpt = -1;
	spin_lock(&ln_of(NEAR)->shard[0].lock);
	path = lnet_select(&ln_of(NEAR)->shard[0], s);
	spin_unlock(&ln_of(NEAR)->shard[0].lock);
	return path;
}

/* Loses all messages that @router sends. */
static __maybe_unused void mute(unsigned int router)
{
	rails_on(router, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
}

#endif
