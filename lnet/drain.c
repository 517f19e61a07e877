/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Taking an interface out of service by hand, and back, without losing or delaying a message.
 *
 * It is no state of the interface, which stays active: what is under way ends as it would have,
 * answers to what comes in leave, peers that know no other way are served. lnet_select() ranks it
 * behind all that are in service, what waits for its credits chooses again at once, and the ping
 * info tells peers that it is down, so that they cease to use it, too.
 */
#include "plat.h"
#include "core.h"
#include "drain.h"

static void set_drained(struct lnet_ni *ni, bool drained)
{
	struct lnet *ln = ni->ln;
	struct lnet_pass p;

	lnet_shards_lock_all(ln);
	WRITE_ONCE(ni->drained, drained);
	lnet_shards_unlock_all(ln);
	if (drained) {
		lnet_pass_begin(&p, ln, LNET_PASS_CALL);
		lnet_ops_reselect_ni(&p, ni);
		lnet_pass_end(&p);
	}
	lnet_ping_rebuild(ln);
}

int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained)
{
	struct lnet_ni *ni;
	int rc = 0;

	if (lnet_nid_is_lo(nid))
		return -EINVAL;
	mutex_lock(&ln->cfg_mutex);
	ni = lnet_ni_by_nid(ln, nid);
	if (!ni)
		rc = -ENOENT;
	else if (ni->drained != drained)
		set_drained(ni, drained);
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

bool lnet_ni_is_empty(struct lnet *ln, struct lnet_ni *ni)
{
	unsigned int i;
	u32 holds = 0;

	for (i = 0; i < ln->nr_shards; i++) {
		spin_lock(&ln->shard[i].lock);
		holds += ni->sh[i].holds;
		spin_unlock(&ln->shard[i].lock);
	}
	return !holds && lnet_paths_idle(ln, ni);
}
