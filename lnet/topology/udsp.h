/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User-defined selection policies: rules about NIDs that come before NUMA and credits. */
#ifndef LNET_UDSP_H
#define LNET_UDSP_H

#include "model/udsp.h"
#include "plat.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_path;
struct lnet_peer;

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
