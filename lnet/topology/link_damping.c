/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Links that flap: one that goes soon after it came back is let back later, each time twice as
 * late up to a bound; one that stays up for a while has calmed down.
 *
 * Held back it is up, and tested, and used where no other is left; but lnet_select() ranks it
 * behind all that are in service, and peers are told that it is down.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"

#define HOLD_FIRST_NS	(100 * (u64)NSEC_PER_MSEC)

void lnet_flap_seen(struct lnet_ni *ni, bool down, u64 now_ns)
{
	struct lnet_flap *flap = &ni->flap;
	u64 hold_ns = 0;

	lnet_ni_mark(ni, LNET_MARK(DAMPED), false);
	if (down) {
		lnet_relapses_fail(&flap->relapses, now_ns);
		return;
	}
	lnet_relapses_recover(&flap->relapses, now_ns);
	if (flap->relapses.nr)
		hold_ns = lnet_doubled(HOLD_FIRST_NS, flap->relapses.nr - 1U,
				       READ_ONCE(ni->ln->tun.flap_hold));
	flap->until_ns = now_ns + hold_ns;
	if (!hold_ns)
		return;
	lnet_ni_mark(ni, LNET_MARK(DAMPED), true);
	lnet_look_by(ni->ln, &ni->ln->flap_ns, flap->until_ns);
}

void lnet_flaps_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	u64 next_ns = U64_MAX;
	struct lnet_ni *ni;

	if (p->now_ns < READ_ONCE(ln->flap_ns))
		return;
	spin_lock(&ln->nid_lock);
	list_for_each_entry(ni, &ln->nis, link) {
		if (!lnet_ni_marked(ni, LNET_MARK(DAMPED)))
			continue;
		if (p->now_ns < ni->flap.until_ns) {
			next_ns = min(next_ns, ni->flap.until_ns);
			continue;
		}
		lnet_ni_mark(ni, LNET_MARK(DAMPED), false);
		lnet_ni_announced(ni);
	}
	WRITE_ONCE(ln->flap_ns, next_ns);
	spin_unlock(&ln->nid_lock);
}
