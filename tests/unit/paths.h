/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A node with one shard, some NIs and one peer, built directly, under a clock that the test sets:
 * for tests of files that use paths. Such a test includes the source file and renames the functions
 * that this file calls and exports. So it does not depend on the rest of the core.
 */
#ifndef TESTS_UNIT_PATHS_H
#define TESTS_UNIT_PATHS_H

#include "unit.h"
#include "shard/shard.h"
#include "shard/hooks.h"

#define WORLD_MAX 18		/* its square is above LNET_CANDS_MAX */

struct world {
	struct lnet_env env;		/* first, because the ops cast back */
	u64 now_ns, seed;
	unsigned int kicks;
	struct lnet ln;
	struct lnet_shard sh;
	struct lnet_peer peer;
	struct lnet_ni *ni[WORLD_MAX];
	struct lnet_peer_ni pni[WORLD_MAX];
	struct lnet_path path[WORLD_MAX * WORLD_MAX];
	unsigned int nr_ni, nr_pni, nr_path;
};

static inline u64 world_now(struct lnet_env *env)
{
	return ((struct world *)env)->now_ns;
}

static inline u64 world_random(struct lnet_env *env)
{
	struct world *w = (struct world *)env;

	w->seed = w->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return w->seed ^ w->seed >> 33;
}

static inline void world_kick(struct lnet_env *env, unsigned int shard)
{
	((struct world *)env)->kicks++;
}

static inline void world_arm(struct lnet_env *env, unsigned int shard)
{
}

static const struct lnet_env_ops world_env_ops = {
	.now_ns = world_now, .random = world_random, .secret = world_random,
	.kick = world_kick, .arm = world_arm,
};

static inline struct world *world_create(void)
{
	struct world *w = calloc(1, sizeof(*w));
	u64 *tun = (u64 *)&w->ln.tun;
	unsigned int i;

	w->env.ops = &world_env_ops;
	w->now_ns = 1000000000000ULL;
	w->seed = 1;
	w->ln.env = &w->env;
	w->ln.hooks = &lnet_hooks;
	for (i = 0; i < lnet_nr_tunables; i++)
		tun[i] = lnet_tunable_table[i].def;
	w->ln.nr_shards = 1;
	w->ln.shard = &w->sh;
	INIT_LIST_HEAD(&w->ln.nis);
	INIT_LIST_HEAD(&w->ln.peers);
	mutex_init(&w->ln.cfg_mutex);
	spin_lock_init(&w->ln.nid_lock);
	spin_lock_init(&w->sh.lock);
	w->sh.ln = &w->ln;
	w->peer.ln = &w->ln;
	w->peer.sh = &w->sh;
	w->peer.mr = 1;
	INIT_LIST_HEAD(&w->peer.pnis);
	list_add_tail(&w->peer.link, &w->ln.peers);
	return w;
}

static inline void world_destroy(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->nr_ni; i++)
		free(w->ni[i]);
	free(w);
}

/* Net @net of tcp, host @host of 10.<net>.0.0/16. */
static inline void world_nid(struct lnet_nid *nid, unsigned int net, unsigned int host)
{
	lnet_nid_from_nid4(nid, (u64)lnet_net_make(LNET_LND_TCP, net) << 32 | 0x0a000000 |
					net << 16 | host);
}

static inline struct lnet_ni *world_ni(struct world *w, unsigned int net)
{
	struct lnet_ni *ni = calloc(1, sizeof(*ni) + sizeof(ni->sh[0]));

	world_nid(&ni->nid, net, w->nr_ni + 1);
	ni->ln = &w->ln;
	ni->net = lnet_nid_net(&ni->nid);
	ni->ix = w->nr_ni;
	ni->state = NI_ACTIVE;
	ni->dev_cpt = -1;
	ni->sh[0].credits = 256;
	atomic_set(&ni->health, LNET_HEALTH_MAX);
	list_add_tail(&ni->link, &w->ln.nis);
	w->ni[w->nr_ni++] = ni;
	return ni;
}

static inline struct lnet_peer_ni *world_pni(struct world *w, unsigned int net)
{
	struct lnet_peer_ni *pni = &w->pni[w->nr_pni];

	world_nid(&pni->nid, net, 100 + w->nr_pni);
	pni->ix = w->nr_pni + 1;
	pni->ln = &w->ln;
	pni->peer = &w->peer;
	pni->sh = &w->sh;
	pni->net = lnet_nid_net(&pni->nid);
	pni->health = LNET_HEALTH_MAX;
	pni->credits = 8;
	w->nr_pni++;
	INIT_LIST_HEAD(&pni->paths);
	list_add_tail(&pni->link, &w->peer.pnis);
	w->peer.nr_pnis++;
	return pni;
}

/* Joins all pairs on the same net, in the order of NIs and then of peer NIs. */
static inline void world_join(struct world *w)
{
	unsigned int n, p;

	for (n = 0; n < w->nr_ni; n++)
		for (p = 0; p < w->nr_pni; p++) {
			struct lnet_path *path = &w->path[w->nr_path];

			if (w->ni[n]->net != w->pni[p].net)
				continue;
			path->ni = w->ni[n];
			path->pni = path->hop = &w->pni[p];
			path->first_hop = path;
			INIT_LIST_HEAD(&path->gw_paths);
			path->ix = w->nr_path++;
			path->health = LNET_HEALTH_MAX;
			INIT_LIST_HEAD(&path->await_reply);
			INIT_LIST_HEAD(&path->reset);
			INIT_LIST_HEAD(&path->probe_link);
			INIT_LIST_HEAD(&path->timer.link);
			path->timer.kind = LNET_TIMER_PATH;
			list_add_tail(&path->link, &path->pni->paths);
		}
}

static inline struct lnet_path *world_path(struct world *w, unsigned int n, unsigned int p)
{
	unsigned int i;

	for (i = 0; i < w->nr_path; i++)
		if (w->path[i].ni == w->ni[n] && w->path[i].pni == &w->pni[p])
			return &w->path[i];
	return NULL;
}

#endif
