/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * User-defined selection policies: rules about NIDs. In path selection they precede NUMA distance
 * and credits.
 */
#ifndef LNET_MODEL_UDSP_H
#define LNET_MODEL_UDSP_H

#include "plat.h"

#define LNET_UDSP_MAX	128	/* rules of an instance */
#define LNET_UDSP_TEXT	128	/* a pattern, with the NUL */
#define LNET_UDSP_NONE	(-1)	/* no rule gives a priority */

enum lnet_udsp_end { LNET_UDSP_SRC, LNET_UDSP_DST, LNET_UDSP_RTE, LNET_NR_UDSP_ENDS };

/*
 * A rule is of one of four kinds:
 *	a priority of @src; 0 is the best priority;
 *	a priority of @dst;
 *	local NIDs (@src) that are preferred to reach @dst;
 *	routers (@rte) that are preferred to reach @dst.
 * A pattern is one item of a list of NID ranges (lnet/nid.h), or only a net ("tcp", "tcp[1-3]"). If
 * the pattern is only a net, the rule gives the priority to the net, and not to NIDs on it. The
 * pattern "" means: not given.
 */
struct lnet_udsp_rule {
	char text[LNET_NR_UDSP_ENDS][LNET_UDSP_TEXT];
	bool has_priority;
	u32 priority;
};

struct lnet_udsp_info {			/* policy priorities of a local NI or a peer NI */
	s64 net_priority, nid_priority;	/* LNET_UDSP_NONE: none */
};

#endif
