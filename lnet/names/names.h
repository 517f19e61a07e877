/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of names/: NIDs, nets, ranges and parameters as text. */
#ifndef LNET_NAMES_NAMES_H
#define LNET_NAMES_NAMES_H

#include "plat.h"
#include "model/udsp.h"
#include <lnet/nid.h>

/* ---- parts of a text ------------------------------------------------------------------------- */
struct lnet_part {
	const char *at;
	unsigned int len;
};

/* The whole of @text, at most @max bytes. */
static inline struct lnet_part lnet_part_of(const char *text, unsigned int max)
{
	return (struct lnet_part){ text, (unsigned int)strnlen(text, max) };
}

/* The offset of the first @c in @part, or the length of @part. */
static inline unsigned int lnet_part_find(const struct lnet_part *part, char c)
{
	const char *at = memchr(part->at, c, part->len);

	return at ? (unsigned int)(at - part->at) : part->len;
}

static inline bool lnet_part_has(const struct lnet_part *part, char c)
{
	return lnet_part_find(part, c) < part->len;
}

/* Removes from *@from the part before the first @c, and @c. Returns that part. */
static inline struct lnet_part lnet_part_cut(struct lnet_part *from, char c)
{
	struct lnet_part part = { from->at, lnet_part_find(from, c) };
	unsigned int skip = part.len + (part.len < from->len);

	from->at += skip;
	from->len -= skip;
	return part;
}

/* ---- nid.c ----------------------------------------------------------------------------------- */
/* As lnet_net_parse(). */
int lnet_net_parse_part(u32 *net, struct lnet_part text);
/* Reads an address to network order. Returns its size as in a NID: 0, LNET_NID_SIZE_MAX; -EINVAL */
int lnet_ip_parse(u8 ip[16], struct lnet_part text, enum lnet_addr_form form);

/* ---- nid_list.c ------------------------------------------------------------------------------ */
enum lnet_nidlist_kind {
	ITEM_ALL,		/* every address of the net */
	ITEM_MASK,		/* the first bits of the address */
	ITEM_RANGES,		/* a number, or four bytes, each in a set of ranges */
};

/* Expressions of a list: @nr from the index @first on. */
struct lnet_nidlist_run {
	u16 first, nr;
};

struct lnet_nidlist_item {
	u32 net;		/* without its number if that is a range */
	struct lnet_nidlist_run num;	/* of the net; none: @net has its number */
	u8 kind;
	u8 bits;		/* MASK: how many are compared */
	bool large;		/* MASK: of a 16-byte address */
	u8 nr_parts;		/* 4 for an IP address, else 1 */
	u8 ip[16];		/* MASK: network order */
	struct lnet_nidlist_run part[4];	/* RANGES */
};

/* lo <= v <= hi and (v - lo) % stride == 0; stride is never 0. */
struct lnet_nidlist_expr {
	u32 lo, hi, stride;
};

/* ---- net_params.c ---------------------------------------------------------------------------- */
/* The consumer of a text, called in the order of the text. A NULL sink only checks the text. */
struct lnet_net_sink {
	/* for an interface; "": the driver selects one; @cpts 0: all. Not 0 ends the walk. */
	int (*net)(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts);
	/* ip2nets, for each rule: is an address of this machine in @list, on tcp? */
	bool (*matches)(struct lnet_net_sink *s, const struct lnet_nidlist *list);
};

#define LNET_RANGE_MAX 65536

/*
 * Reads "0-3,8-30/2]", sets these bits of @bits (@nr bits; may be NULL), and moves *@at past the
 * bracket. 0, -EINVAL, -ERANGE.
 */
int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr);
/* Calls s->net() for each net of @text, in order. May sleep. 0, -errno, or the result of net(). */
int lnet_networks_walk(const char *text, struct lnet_net_sink *s);
/*
 * Checks a text like "tcp0(eth0[0],eth1),o2ib(ib0)[0,1]". The empty text is valid. May sleep. 0,
 * -EINVAL, -ENOMEM.
 */
int lnet_networks_check(const char *text);
/* As lnet_networks_walk(), for the nets of each rule for which s->matches() returns true. */
int lnet_ip2nets_walk(const char *text, struct lnet_net_sink *s);
/* As lnet_networks_check(), for "tcp(eth0) 10.0.[1-4/2].*; o2ib 10.1.*.* # comment". */
int lnet_ip2nets_check(const char *text);
/* As lnet_networks_check(), for "tcp[1-3] 2 10.0.0.1@tcp:5; ...". */
int lnet_routes_check(const char *text);

/* ---- ioctl_words.c --------------------------------------------------------------------------- */
/* Words of a rule with texts of LNET_UDSP_TEXT bytes, rounded up. */
#define LNET_UDSP_WORDS	(LNET_NR_UDSP_ENDS * (1 + LNET_NIDLIST_WORDS))

/*
 * Reads a pattern of a rule. *@is_net: it is a net alone, which means all its NIDs. May sleep. The
 * caller frees @list. 0, -EINVAL, -ENOMEM
 */
int lnet_udsp_pattern_parse(struct lnet_nidlist *list, bool *is_net, const char *text);
/* As lnet_udsp_pattern_parse(), without the list. */
int lnet_udsp_pattern_check(const char *text);
/*
 * Writes the patterns of @rule to @words, which has LNET_UDSP_WORDS. May sleep. The number of words
 * used; -EINVAL; -EOPNOTSUPP: the layout has no IPv6 addresses; -ENOMEM.
 */
int lnet_udsp_words(const struct lnet_udsp_rule *rule, u32 *words);
/* Sets the texts of @rule. 0; -EINVAL; -E2BIG: a text would exceed LNET_UDSP_TEXT. */
int lnet_udsp_unwords(struct lnet_udsp_rule *rule, const u32 *words, unsigned int nr);

#endif
