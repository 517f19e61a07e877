/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks whether other messages wait for the buffer into which a message is being received. */
#include "plat.h"
#include "memory/memory.h"
#include "shard/hooks.h"

#define WAITING_MAX	16U	/* most queued messages that one check compares */

static const struct lnet_portal *lazy_portal_of(const struct lnet_md *md)
{
	struct lnet_md_dom *dom = lnet_md_full(md)->dom;

	if (dom->ix < LNET_MD_BUCKETS || !READ_ONCE(lnet_portal_of(dom)->lazy))
		return NULL;
	return lnet_portal_of(dom);
}

bool lnet_md_is_pooled(const struct lnet_md *md)
{
	return lazy_portal_of(md);
}

/* True if messages of interfaces other than rx->from are queued on the lazy portal of @rx. */
static bool others_are_queued(const struct lnet_rx *rx)
{
	const struct lnet_md_tables *tables = rx->md->ln->md_tables;
	const struct lnet_portal *portal = lazy_portal_of(rx->md);
	const struct lnet_rx *queued;
	bool others = false;
	u32 nr = 0;

	if (!portal || !atomic_read(&tables->nr_parked))
		return false;
	spin_lock(rx->md->lock);
	list_for_each_entry(queued, &portal->parked, link) {
		others = queued->from != rx->from;
		if (others || ++nr == WAITING_MAX)
			break;
	}
	spin_unlock(rx->md->lock);
	return others;
}

bool lnet_rx_is_wanted(const struct lnet_rx *rx)
{
	if (rx->fwd)
		return rx->ni->ln->hooks->forward_rx.is_wanted(rx);
	return rx->md && others_are_queued(rx);
}
