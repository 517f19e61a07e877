/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User-defined selection policies: rules about NIDs that come before NUMA and credits. */
#ifndef LNET_UDSP_H
#define LNET_UDSP_H

#include "plat.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_path;
struct lnet_peer;

#define LNET_UDSP_MAX	128	/* rules of an instance */
#define LNET_UDSP_TEXT	128	/* a pattern, with the NUL */
#define LNET_UDSP_NONE	(-1)	/* no rule gives a priority */

enum lnet_udsp_end { LNET_UDSP_SRC, LNET_UDSP_DST, LNET_UDSP_RTE, LNET_NR_UDSP_ENDS };

/*
 * A rule, of one of four kinds: a priority (0 is the best) of what @src or what @dst means; NIDs of
 * ours (@src) that are preferred to reach @dst; routers (@rte) that are preferred to reach @dst. A
 * pattern is one item of a list of NID ranges (lnet/nid.h), or a net alone ("tcp", "tcp[1-3]"),
 * which then has the priority, not its NIDs. "": not given.
 */
struct lnet_udsp_rule {
	char text[LNET_NR_UDSP_ENDS][LNET_UDSP_TEXT];
	bool has_priority;
	u32 priority;
};

struct lnet_udsp_info {			/* of an interface, ours or a peer's */
	s64 net_priority, nid_priority;	/* LNET_UDSP_NONE: none */
};

int lnet_udsp_pattern_check(const char *text);	/* may sleep; 0, -EINVAL, -ENOMEM */
/* NULL, or which combination of patterns and action is none of the four. */
const char *lnet_udsp_wrong(const struct lnet_udsp_rule *rule);
/*
 * Config; when it returns all paths are chosen by the new rules. @idx: what the rule is to be,
 * later ones move; negative or past the end: the last. A rule with the same patterns but another
 * priority takes that in its place. 0, -EINVAL, -EALREADY, -ENOSPC, -ENOMEM.
 */
int lnet_udsp_add(struct lnet *ln, int idx, const struct lnet_udsp_rule *rule);
int lnet_udsp_del(struct lnet *ln, int idx);	/* config; -1: all. 0, -ENOENT, -ENOMEM */
/* config; 0, -ENOENT past the end */
int lnet_udsp_get(struct lnet *ln, unsigned int idx, struct lnet_udsp_rule *rule);
/* config: these and no others, in this order. 0 or -errno, then nothing is changed. */
int lnet_udsp_set(struct lnet *ln, const struct lnet_udsp_rule *rules, unsigned int nr);
void lnet_udsp_fini(struct lnet *ln);

/* The rules change under cfg_mutex and all shard locks; these are called under either. */
void lnet_udsp_path(const struct lnet *ln, struct lnet_path *path);	/* sets path->policy */
void lnet_udsp_info(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		    struct lnet_udsp_info *info);
/* Does a rule prefer our NID @src to reach @dst? */
bool lnet_udsp_prefers(const struct lnet *ln, const struct lnet_nid *src,
		       const struct lnet_nid *dst);
/* Does a rule prefer the router @gw, by any of its NIDs, to reach @dst? */
bool lnet_udsp_prefers_router(const struct lnet *ln, const struct lnet_peer *gw,
			      const struct lnet_nid *dst);

#endif
