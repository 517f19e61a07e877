/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of NIDs: how a NID in one is found. */
#include "node.h"
#include "peer.h"

/* Slots that follow each other without a free one: no search visits more. */
static unsigned int longest_run(const struct lnet_listing *l)
{
	unsigned int i, run = 0, most = 0;

	for (i = 0; i < 2 * LNET_LISTING_SLOTS; i++) {
		run = l->slot[i % LNET_LISTING_SLOTS] ? run + 1 : 0;
		most = max(most, run);
	}
	return most;
}

/* A host lists 256 addresses with equal bits in lnet_nid_hash(), which has no key. */
static void test_chosen(void)
{
	struct lnet_listing *l = kvzalloc(sizeof(*l), GFP_KERNEL);
	struct lnet *ln = node_begin(1);
	unsigned int i, nr = 0;
	struct lnet_nid n;
	char text[48];

	for (i = 0; nr < LNET_LISTED_MAX; i++) {
		snprintf(text, sizeof(text), "2001:db8::%x:%x@tcp", i >> 16, i & 0xffff);
		n = nid(text);
		if (lnet_nid_hash(&n) % LNET_LISTING_SLOTS == 7)
			l->nis[nr++].nid = n;
	}
	lnet_listing_fill(ln, l, nr);
	for (i = 0; i < nr; i++)
		CU_ASSERT(lnet_listing_find(ln, l, &l->nis[i].nid) == &l->nis[i]);
	CU_ASSERT_PTR_NULL(lnet_listing_find(ln, l, &LNET_NID_LO));
	UNIT_EQUAL(longest_run(l) <= 64, true, "the longest search is short");
	node_end(ln);
	kvfree(l);
}

UNIT_SUITE(listing,
	{ "NIDs that a host chooses are found in few steps", test_chosen })
