/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Initial credits of an interface, of a peer interface, and of a router's buffers. */
#include "topology/topology.h"

s32 lnet_credits_ni_quota(const struct lnet_ni *ni)
{
	s32 nr = (s32)ni->ln->nr_shards;

	if (nr == 1)
		return max(ni->credits, 1);
	return max(min(max(ni->credits / nr, 8 * ni->peer_credits), ni->credits), 1);
}

void lnet_credits_ni_init(struct lnet_ni *ni)
{
	unsigned int nr = ni->ln->nr_shards, i, cls;

	for (i = 0; i < nr; i++) {
		struct lnet_ni_shard *ns = &ni->sh[i];

		ns->credits = ns->min_credits = lnet_credits_ni_quota(ni);
		for (cls = 0; cls < LNET_NR_CLASSES; cls++)
			INIT_LIST_HEAD(&ns->wait[cls]);
	}
}

/* Those of the NI that its other credits are of. Not told: as many as messages to it. */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni)
{
	u64 all = READ_ONCE(pni->ln->tun.peer_buffer_credits);
	const struct lnet_ni *ni;

	if (list_empty(&pni->paths))
		return 0;
	ni = list_first_entry(&pni->paths, struct lnet_path, link)->ni;
	if (ni->peer_buffer_credits > 0)
		return ni->peer_buffer_credits;
	return all ? (s32)all : max(ni->peer_credits, 1);
}

/*
 * A peer interface has the credits of the first NI over which it is reached. Known before the first
 * use: one that seems to have none would never be chosen.
 */
void lnet_credits_pni_init(struct lnet_peer_ni *pni)
{
	const struct lnet_ni *ni;

	if (list_empty(&pni->paths))
		return;
	ni = list_first_entry(&pni->paths, struct lnet_path, link)->ni;
	pni->max_credits = (u32)max(ni->peer_credits, 1);
	pni->credits = pni->min_credits = (s32)pni->max_credits;
	pni->rtr_credits = pni->min_rtr_credits = lnet_credits_rtr(pni);
}
