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

/* Returns the whole string @text, but at most @max bytes of it. */
static inline struct lnet_part lnet_part_of(const char *text, unsigned int max)
{
	return (struct lnet_part){ text, (unsigned int)strnlen(text, max) };
}

/* Returns the offset of the first character @c in @part; if there is none, the length of @part. */
static inline unsigned int lnet_part_find(const struct lnet_part *part, char c)
{
	const char *at = memchr(part->at, c, part->len);

	return at ? (unsigned int)(at - part->at) : part->len;
}

static inline bool lnet_part_has(const struct lnet_part *part, char c)
{
	return lnet_part_find(part, c) < part->len;
}

/*
 * Returns the text in *@from before the first character @c. Removes this text and @c from *@from.
 */
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
/*
 * Reads an address to @ip in network order. Returns its size as in a NID (0 or LNET_NID_SIZE_MAX),
 * or -EINVAL.
 */
int lnet_ip_parse(u8 ip[16], struct lnet_part text, enum lnet_addr_form form);

/* ---- nid_list.c ------------------------------------------------------------------------------ */
enum lnet_nidlist_kind {
	ITEM_ALL,		/* every address of the net */
	ITEM_MASK,		/* the first @bits bits of the address equal those of @ip */
	ITEM_RANGES,	/* the address is a number, or four bytes; each is in a set of ranges */
};

/* A part of the expressions of a list: @nr expressions from index @first on. */
struct lnet_nidlist_run {
	u16 first, nr;
};

struct lnet_nidlist_item {
	u32 net;	/* the net; if @num has ranges for its number, only the type of the net */
	/* expressions for the number of the net; none: @net has the number */
	struct lnet_nidlist_run num;
	u8 kind;
	u8 bits;		/* MASK: how many are compared */
	bool large;		/* MASK: of a 16-byte address */
	u8 nr_parts;		/* number of parts of the address: 4 for an IP address, else 1 */
	u8 ip[16];		/* MASK: network order */
	struct lnet_nidlist_run part[4];	/* RANGES */
};

/* A number v is in the range if lo <= v <= hi and (v - lo) % stride == 0. @stride is never 0. */
struct lnet_nidlist_expr {
	u32 lo, hi, stride;
};

/* ---- net_params.c ---------------------------------------------------------------------------- */
/*
 * Functions that a parser calls for what it reads, in the order of the text. With a NULL sink, the
 * parser only checks the text.
 */
struct lnet_net_sink {
	/*
	 * Called for an interface. @ifname "": the driver selects one; @cpts 0: all CPTs. A result
	 * other than 0 ends the parsing.
	 */
	int (*net)(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts);
	/*
	 * Called for each rule of ip2nets. The ranges of @list are on the net tcp. Returns true if
	 * @list has an address of this machine.
	 */
	bool (*matches)(struct lnet_net_sink *s, const struct lnet_nidlist *list);
};

#define LNET_RANGE_MAX 65536

/*
 * Reads text such as "0-3,8-30/2]", and sets the bits with these numbers in @bits. @bits has @nr
 * bits, and may be NULL. Moves *@at past the bracket. Returns 0, -EINVAL or -ERANGE.
 */
int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr);
/*
 * Calls s->net() for each net of @text, in order. May sleep. Returns 0, -errno, or the result of
 * net() if that is not 0.
 */
int lnet_networks_walk(const char *text, struct lnet_net_sink *s);
/*
 * Checks a text such as "tcp0(eth0[0],eth1),o2ib(ib0)[0,1]". The empty text is valid. May sleep.
 * Returns 0, -EINVAL or -ENOMEM.
 */
int lnet_networks_check(const char *text);
/* Does lnet_networks_walk() for the nets of each rule for which s->matches() returns true. */
int lnet_ip2nets_walk(const char *text, struct lnet_net_sink *s);
/*
 * Like lnet_networks_check(), but for a text such as "tcp(eth0) 10.0.[1-4/2].*; o2ib 10.1.*.* #
 * comment".
 */
int lnet_ip2nets_check(const char *text);
/* Like lnet_networks_check(), but for a text such as "tcp[1-3] 2 10.0.0.1@tcp:5; ...". */
int lnet_routes_check(const char *text);

/* ---- ioctl_words.c --------------------------------------------------------------------------- */
/* Largest number of words that a rule needs if each of its texts has LNET_UDSP_TEXT bytes. */
#define LNET_UDSP_WORDS	(LNET_NR_UDSP_ENDS * (1 + LNET_NIDLIST_WORDS))

/*
 * Parses a pattern of a selection policy. *@is_net: the pattern is only a net, which means all NIDs
 * on it. May sleep. The caller frees @list. Returns 0, -EINVAL or -ENOMEM.
 */
int lnet_udsp_pattern_parse(struct lnet_nidlist *list, bool *is_net, const char *text);
/* As lnet_udsp_pattern_parse(), without the list. */
int lnet_udsp_pattern_check(const char *text);
/*
 * Writes the patterns of @rule to @words, which has LNET_UDSP_WORDS words. May sleep. Returns the
 * number of words used; -EINVAL; -EOPNOTSUPP: the words cannot express IPv6 addresses; -ENOMEM.
 */
int lnet_udsp_words(const struct lnet_udsp_rule *rule, u32 *words);
/*
 * Sets the texts of @rule from @words. Returns 0; -EINVAL; -E2BIG: a text would be longer than
 * LNET_UDSP_TEXT.
 */
int lnet_udsp_unwords(struct lnet_udsp_rule *rule, const u32 *words, unsigned int nr);

#endif
