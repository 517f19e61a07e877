/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Steps of a pass in which drivers write payloads to their places, or abort receives. */
#include "shard/shard.h"
#include "topology/topology.h"
#include "receive/receive.h"
#include "shard/hooks.h"

/*
 * Holds a reference to the NI during land(). Another thread may complete the message meanwhile, and
 * drop the last other reference.
 */
void lnet_pass_lands(struct lnet_pass *p)
{
	while (!list_empty(&p->land)) {
		struct lnet_rx *rx = list_first_entry(&p->land, struct lnet_rx, owed);
		struct lnet_ni *ni = rx->ni;
		bool skip;

		lnet_ni_get(ni);
		list_del_init(&rx->owed);
		if (unlikely(rx->fwd))
			p->ln->hooks->forward_rx.land(p, rx);
		skip = rx->verdict == LNET_SKIP;
		ni->ops->land(p, ni, rx);
		if (skip)
			lnet_rx_free(p, rx);
		lnet_leave(p);
		lnet_ni_put(ni);
	}
}

void lnet_pass_stops(struct lnet_pass *p)
{
	while (!list_empty(&p->stop)) {
		struct lnet_rx *rx = list_first_entry(&p->stop, struct lnet_rx, stop);
		struct lnet_shard *sh = &p->ln->shard[rx->hold_shard];
		struct lnet_ni *ni;

		list_del_init(&rx->stop);
		lnet_enter(p, sh);
		ni = rx->dead ? NULL : rx->ni;	/* NULL: the receive has ended */
		if (ni)
			lnet_ni_get(ni);
		lnet_leave(p);
		if (ni)
			ni->ops->rx_stop(p, ni, rx);
		lnet_enter(p, sh);
		rx->stopping = 0;
		if (rx->dead)
			lnet_rx_free(p, rx);
		lnet_leave(p);
		lnet_ni_put(ni);
	}
}
