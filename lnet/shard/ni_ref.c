/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* References to NIs: passes, paths, operations and others keep an NI in memory. */
#include "shard/shard.h"

void lnet_ni_get(struct lnet_ni *ni)
{
	atomic_inc(&ni->refs);
}

void lnet_ni_put(struct lnet_ni *ni)
{
	if (!ni || !atomic_dec_and_test(&ni->refs))
		return;
	WARN_ON_ONCE(ni->state != NI_GONE && ni->state != NI_NEW);
	if (ni->state == NI_GONE)	/* started: until now a pass could call the driver */
		module_put(ni->ops->owner);
	kfree(ni->priv);
	atomic_dec(&ni->ln->nr_counted);
	kvfree(ni);
}
