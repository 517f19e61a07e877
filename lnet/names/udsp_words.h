/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selection policies in the layout of stock's ioctls: what both ends of these share. */
#ifndef LNET_UDSP_IOC_H
#define LNET_UDSP_IOC_H

#include "topology/udsp.h"

/* Of a rule whose texts have LNET_UDSP_TEXT bytes, and more than enough. */
#define LNET_UDSP_WORDS	(LNET_NR_UDSP_ENDS * (1 + LNET_NIDLIST_WORDS))

/*
 * The patterns of @rule as @words, which has room for LNET_UDSP_WORDS. May sleep. How many there
 * are; -EINVAL; -EOPNOTSUPP: the layout has no IPv6 addresses; -ENOMEM.
 */
int lnet_udsp_words(const struct lnet_udsp_rule *rule, u32 *words);
/* Sets the texts of @rule. 0; -EINVAL; -E2BIG: one would be longer than a text may be. */
int lnet_udsp_unwords(struct lnet_udsp_rule *rule, const u32 *words, unsigned int nr);

/* ---- kernel/udsp.c: the requests; @buf is a struct lnet_ioc_udsp that was copied in */
int lnet_ioc_udsp_add(struct lnet *ln, void *buf);
int lnet_ioc_udsp_del(struct lnet *ln, void *buf);
int lnet_ioc_udsp_size(struct lnet *ln, void *buf);
int lnet_ioc_udsp_get(struct lnet *ln, void *buf);

#endif
