/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resets all statistics of shards, interfaces, peers, fault rules and drivers. */
#include <lnet/lnd.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "fault/fault.h"
#include "manage/manage.h"

static void peer_stats_reset(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	lnet_peer_stats_reset(peer);
}

void lnet_stats_reset(struct lnet *ln)
{
	u64 values[LNET_LND_COUNTERS_MAX];
	struct lnet_pass p;
	struct lnet_ni *ni;
	unsigned int i;

	mutex_lock(&ln->cfg_mutex);
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	for (i = 0; i < ln->nr_shards; i++) {
		lnet_enter(&p, &ln->shard[i]);
		lnet_shard_stats_reset(&ln->shard[i]);
		lnet_leave(&p);
	}
	list_for_each_entry(ni, &ln->nis, link) {
		WRITE_ONCE(ni->nr_down, 0);
		WRITE_ONCE(ni->nr_up, 0);
	}
	lnet_peers_walk(&p, peer_stats_reset, NULL);
	lnet_fault_count_reset(ln);
	lnet_pass_end(&p);
	list_for_each_entry(ni, &ln->nis, link)
		if (ni->ops->counters)
			ni->ops->counters(ni, values, true);
	mutex_unlock(&ln->cfg_mutex);
}
