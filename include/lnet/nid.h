/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NIDs, the addresses of interfaces: their form, their text, their comparison, and lists that match
 * them.
 */
#ifndef LNET_NID_H
#define LNET_NID_H

#include <lnet/types.h>

LNET_BEGIN_DECLS

/*
 * A NID: 20 bytes, which are the same in memory and on the wire, and are never swapped. Comparisons
 * use all 20 bytes, so the unused end of the address must be zero. The struct needs no alignment.
 */
struct lnet_nid {
	/* number of address bytes minus 4: 0: 4-byte address; 12: 16-byte address */
	uint8_t size;
	uint8_t type;		/* enum lnet_lnd_type */
	__be16 num;		/* net instance: 3 in tcp3 */
	__be32 addr[4];		/* left-aligned */
} __attribute__((packed));

#define LNET_NIDSTR_SIZE 64	/* bytes for the text of any NID or net, with its final 0 */
#define LNET_IDSTR_SIZE 80	/* the same for PID-NID */
#define LNET_NID_SIZE_MAX 12	/* largest struct lnet_nid.size */
#define LNET_NET_ANY 0xffffffffU
#define LNET_NID4_ANY 0xffffffffffffffffULL
#define LNET_NID4_LO 0x0009000000000000ULL

#define LNET_PID 12345U		/* PID of all kernel nodes and of all nodes of this project */
#define LNET_PID_USERFLAG 0x80000000U
#define LNET_PID_RESERVED 0xf0000000U
#define LNET_PID_ANY 0xffffffffU

/* LND types: bits 23..16 of a net. Missing numbers were used by drivers that no longer exist. */
enum lnet_lnd_type {
	LNET_LND_TCP = 2,
	LNET_LND_O2IB = 5,
	LNET_LND_LO = 9,
	LNET_LND_GNI = 13,
	LNET_LND_GIP = 14,
	LNET_LND_PTLF = 15,
	LNET_LND_KFI = 16,
	LNET_LND_TOFU = 17,
	LNET_LND_EFA = 18,
	LNET_LND_BXI3F = 19,
	LNET_LND_ANY = 255,
};

extern const struct lnet_nid LNET_NID_ANY;	/* all bytes 0xff */
extern const struct lnet_nid LNET_NID_LO;	/* 0@lo */

static inline uint32_t lnet_net_make(unsigned int type, unsigned int num)
{
	return (uint32_t)type << 16 | (num & 0xffff);
}

static inline unsigned int lnet_net_type(uint32_t net)
{
	return (net >> 16) & 0xff;
}

static inline unsigned int lnet_net_num(uint32_t net)
{
	return net & 0xffff;
}

static inline bool lnet_nid_same(const struct lnet_nid *a, const struct lnet_nid *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/*
 * Compares the 20 bytes of two NIDs. Returns < 0, 0 or > 0. If two nodes dial each other at the
 * same time, the socket driver decides by the same order which connection it rejects.
 */
static inline int lnet_nid_cmp(const struct lnet_nid *a, const struct lnet_nid *b)
{
	return memcmp(a, b, sizeof(*a));
}

static inline bool lnet_nid_is_any(const struct lnet_nid *nid)
{
	return nid->type == LNET_LND_ANY;
}

static inline bool lnet_nid_is_lo(const struct lnet_nid *nid)
{
	return nid->type == LNET_LND_LO;
}

/*
 * True if @nid has a 4-byte address or is LNET_NID_ANY, so that the 64 bits of lnet_nid_to_nid4()
 * contain all of it.
 */
static inline bool lnet_nid_is_nid4(const struct lnet_nid *nid)
{
	return nid->size == 0 || lnet_nid_is_any(nid);
}

/* True if a NID can have this size. The caller checks each NID that it receives as 20 bytes. */
static inline bool lnet_nid_is_sane(const struct lnet_nid *nid)
{
	return nid->size <= LNET_NID_SIZE_MAX || lnet_nid_is_any(nid);
}

/* Number of the net, for example 3 in tcp3. */
static inline unsigned int lnet_nid_num(const struct lnet_nid *nid)
{
	const uint8_t *num = (const uint8_t *)&nid->num;

	return (unsigned int)num[0] << 8 | num[1];
}

/* The net of the NID; LNET_NET_ANY for ANY. */
static inline uint32_t lnet_nid_net(const struct lnet_nid *nid)
{
	if (lnet_nid_is_any(nid))
		return LNET_NET_ANY;
	return lnet_net_make(nid->type, lnet_nid_num(nid));
}

/* Returns (net << 32) | address. If the address is longer than 4 bytes, only the first 4 count. */
static inline uint64_t lnet_nid_to_nid4(const struct lnet_nid *nid)
{
	const uint8_t *addr = (const uint8_t *)nid->addr;

	if (lnet_nid_is_any(nid))
		return LNET_NID4_ANY;
	return (uint64_t)lnet_nid_net(nid) << 32 | (uint32_t)addr[0] << 24 |
	       (uint32_t)addr[1] << 16 | (uint32_t)addr[2] << 8 | addr[3];
}

/*
 * Reads a 64-bit NID. Type 255 gives ANY, whatever the other bits. Bits 63..56, which no valid NID
 * has, are ignored.
 */
static inline void lnet_nid_from_nid4(struct lnet_nid *nid, uint64_t nid4)
{
	uint8_t *num = (uint8_t *)&nid->num, *addr = (uint8_t *)nid->addr;

	if (((nid4 >> 48) & 0xff) == LNET_LND_ANY) {
		memset(nid, 0xff, sizeof(*nid));
		return;
	}
	memset(nid, 0, sizeof(*nid));
	nid->type = (nid4 >> 48) & 0xff;
	num[0] = (nid4 >> 40) & 0xff;
	num[1] = (nid4 >> 32) & 0xff;
	addr[0] = (nid4 >> 24) & 0xff;
	addr[1] = (nid4 >> 16) & 0xff;
	addr[2] = (nid4 >> 8) & 0xff;
	addr[3] = nid4 & 0xff;
}

/*
 * True if @nid may be the NID of one host. The network type must be known and not the loopback, and
 * the unused bytes must be 0. An IP address must not be unspecified, broadcast or multicast. The
 * node makes this check for each NID that another node claims to have.
 */
bool lnet_nid_is_host(const struct lnet_nid *nid);
/* True for 127.0.0.0/8 and ::1, because every host has these addresses. */
bool lnet_nid_is_own_host(const struct lnet_nid *nid);

/* A hash: the same number on every host, build and run. All 32 bits are well mixed. */
uint32_t lnet_nid_hash(const struct lnet_nid *nid);

/*
 * Writes a NID, net or ID as text. @buf has LNET_NIDSTR_SIZE bytes (lnet_id_str: LNET_IDSTR_SIZE)
 * and is returned. The functions accept any content of @nid. The text is canonical: "tcp" for tcp0;
 * IPv6 compressed in lower case; "<?>" for ANY; "%x@<T:N>" for a type without a name.
 */
char *lnet_nid_str(const struct lnet_nid *nid, char *buf);
char *lnet_net_str(uint32_t net, char *buf);
char *lnet_id_str(uint32_t pid, const struct lnet_nid *nid, char *buf);

/*
 * Both functions parse @text, which must be exactly one NID or one net. Otherwise they return
 * -EINVAL and do not write to their result. "ADDR" without a net is on tcp; "<?>" is ANY. An IPv6
 * address has no brackets or scope, and is not link-local. The number of a net is 0..65535. A net
 * may also be a 32-bit number.
 */
int lnet_nid_parse(struct lnet_nid *nid, const char *text);
int lnet_net_parse(uint32_t *net, const char *text);

/* Like lnet_nid_parse(), but also accepts the wildcard "*", which is ANY. */
int lnet_nid_parse_any(struct lnet_nid *nid, const char *text);

/* How the addresses of a net are written as text. */
enum lnet_addr_form {
	LNET_ADDR_UNKNOWN,	/* a type without text form */
	LNET_ADDR_NONE,		/* loopback: always 0 */
	LNET_ADDR_IP,		/* IPv4 or IPv6 */
	LNET_ADDR_IP4,
	LNET_ADDR_NUM,		/* one number, decimal or 0x */
};
enum lnet_addr_form lnet_net_addr_form(uint32_t net);

/*
 * Parses an address without its net, for lists and configuration. IPv4 gives a number in host
 * order, IPv6 gives 16 bytes in network order. [text, text + len) must be exactly one address;
 * otherwise returns -EINVAL.
 */
int lnet_ip4_parse(uint32_t *ip, const char *text, unsigned int len);
int lnet_ip6_parse(uint8_t ip[16], const char *text, unsigned int len);
/* Parses a number: decimal, or hexadecimal with 0x; at most @limit. */
int lnet_num_parse(uint32_t *value, const char *text, unsigned int len, uint32_t limit);

/*
 * A list of NID ranges: "10.0.[1-4/2].*@tcp1 192.168.0.0/16@tcp fd00::/64@tcp *@o2ib[1,3-5]". If
 * the address of a range has brackets, the range matches only NIDs with a 4-byte address. It
 * compares all 32 bits of this address. Masks and "*" also match longer addresses.
 */
#define LNET_NIDLIST_TEXT_MAX 4096	/* longest text accepted, bytes */
struct lnet_nidlist_item;
struct lnet_nidlist_expr;
struct lnet_nidlist {
	unsigned int nr;
	struct lnet_nidlist_item *items;	/* one allocation, with exprs behind */
	struct lnet_nidlist_expr *exprs;
	unsigned int nr_exprs;
};

/*
 * Parses a list. May sleep, because it allocates. -EINVAL, -ENOMEM: @list is then empty. The owner
 * calls lnet_nidlist_free(), also for an empty list.
 */
int lnet_nidlist_parse(struct lnet_nidlist *list, const char *text);
void lnet_nidlist_free(struct lnet_nidlist *list);
/*
 * True if the list contains @nid; an empty list contains nothing. Any context; the time is O(length
 * of the list's text).
 */
bool lnet_nidlist_match(const struct lnet_nidlist *list, const struct lnet_nid *nid);
/* True if both lists have the same ranges in the same order. "tcp0" equals "tcp". */
bool lnet_nidlist_same(const struct lnet_nidlist *a, const struct lnet_nidlist *b);

/*
 * Conversion of the first range of a list to and from the 32-bit words that stock LNet's tools and
 * module exchange. The words are, in this order:
 * 1. the number of address expressions;
 * 2. the net type;
 * 3. the number of ranges of the net number (0 for net number 0), then these ranges;
 * 4. for each address expression, the number of its ranges, then these ranges.
 * A range is {lo, hi, stride}. An IPv4 address has four expressions, any other address has one, and
 * a net without address has none.
 */
#define LNET_NIDLIST_WORDS	512	/* number of words; no text of 128 bytes needs more */
/*
 * Writes the first range of a list to words. Returns their number; -E2BIG: more than @max;
 * -EOPNOTSUPP: the range is an IPv6 address.
 */
int lnet_nidlist_words(const struct lnet_nidlist *list, bool net_alone, uint32_t *words,
		       unsigned int max);
/*
 * Writes the range to @text. Returns how many of the @nr words it has read; -EINVAL; -E2BIG: @size
 * is too small.
 */
int lnet_nidlist_unwords(const uint32_t *words, unsigned int nr, char *text, unsigned int size);

LNET_END_DECLS

#endif
