/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a list of NID ranges is made of. */
#ifndef LNET_NIDLIST_H
#define LNET_NIDLIST_H

#include "plat.h"
#include <lnet/nid.h>

enum lnet_nidlist_kind {
	ITEM_ALL,		/* every address of the net */
	ITEM_MASK,		/* the first bits of the address */
	ITEM_RANGES,		/* a number, or four bytes, each out of a set */
};

struct lnet_nidlist_item {
	u32 net;		/* without its number if that is a range */
	u16 first_net, nr_nets;	/* expressions of the number; none: it stands in @net */
	u8 kind;
	u8 bits;		/* MASK: how many are compared */
	bool large;		/* MASK: of a 16-byte address */
	u8 nr_parts;		/* RANGES: 1 or 4 */
	u8 ip[16];		/* MASK: network order */
	u16 first[4], nr[4];	/* RANGES: expressions of each part */
};

/* lo <= v <= hi and (v - lo) % stride == 0; stride is never 0. */
struct lnet_nidlist_expr {
	u32 lo, hi, stride;
};

#endif
