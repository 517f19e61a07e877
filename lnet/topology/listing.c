/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash of the NIDs of one ping info, with the secret key of the instance. */
#include "topology/topology.h"

/* The slot of @nid, or the free slot where its chain ends. */
static u16 *slot_of(const struct lnet *ln, struct lnet_listing *l, const struct lnet_nid *nid)
{
	u64 at = lnet_nid_keyed(ln, nid);
	u16 *slot;

	static_assert(LNET_LISTING_SLOTS >= 2 * LNET_LISTED_MAX);	/* some slots are free */
	do {
		slot = &l->slot[at++ % LNET_LISTING_SLOTS];
	} while (*slot && !lnet_nid_same(&l->nis[*slot - 1].nid, nid));
	return slot;
}

const struct lnet_pinginfo_ni *lnet_listing_find(const struct lnet *ln, struct lnet_listing *l,
						 const struct lnet_nid *nid)
{
	u16 slot = *slot_of(ln, l, nid);

	return slot ? &l->nis[slot - 1] : NULL;
}

void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr)
{
	unsigned int i;
	u16 *slot;

	for (i = 0; i < nr; i++) {
		slot = slot_of(ln, l, &l->nis[i].nid);
		if (!*slot)
			*slot = i + 1;
	}
}
