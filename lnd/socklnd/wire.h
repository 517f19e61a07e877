/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The TCP driver's codecs: they decode bytes and have no connection and no state. */
#ifndef SOCKLND_WIRE_H
#define SOCKLND_WIRE_H

#include "plat.h"
#include "lnet/wire.h"

/*
 * All functions work in any context, without allocation, on unaligned buffers, and read no byte at
 * or beyond buf + len. @swapped: a magic shows that the other end has the other byte order.
 */

/* ---- acceptor request ---- */

struct lnet_acr {
	struct lnet_nid nid;	/* the NID the initiator wants to reach */
	u32 version;		/* 1 or 2 */
	bool swapped;
};

#define LNET_ACR1_SIZE 16U
#define LNET_ACR2_SIZE 28U
#define LNET_ACR_SIZE_MAX LNET_ACR2_SIZE
#define LNET_ACR_REPLY_SIZE LNET_ACR1_SIZE

enum lnet_acr_what {
	LNET_ACR_OK,		/* @acr is set; if its NID is not served here: close */
	LNET_ACR_MORE,		/* *need bytes from the start of the request are needed */
	LNET_ACR_REPLY,		/* send lnet_acr_reply(), then close */
	LNET_ACR_CLOSE,		/* close without a reply */
};

/* The version an initiator uses for a NID. */
static inline u32 lnet_acr_version(const struct lnet_nid *nid)
{
	return lnet_nid_is_nid4(nid) ? 1 : 2;
}

/* Writes 16 or 28 bytes, depending on acr->version, and returns the number. */
unsigned int lnet_acr_encode(u8 *buf, const struct lnet_acr *acr);
/*
 * Decides what the acceptor does, if the bytes suffice. OK: *need is the size of the request, and
 * the HELLO follows.
 */
enum lnet_acr_what lnet_acr_decode(struct lnet_acr *acr, const u8 *buf, unsigned int len,
				   unsigned int *need);
/* Writes the reply to a version query or an unknown version; returns LNET_ACR_REPLY_SIZE. */
unsigned int lnet_acr_reply(u8 *buf);

/* ---- HELLO ---- */

enum lnet_ctype {
	LNET_CTYPE_ANY = 0,
	LNET_CTYPE_CONTROL = 1,
	LNET_CTYPE_BULK_IN = 2,
	LNET_CTYPE_BULK_OUT = 3,
};
#define LNET_CTYPE_NONE 0xffffffffU	/* rejection: lost race, duplicate, stale; retry later */

struct lnet_hello {
	u32 version;		/* 2, 3 or 4 */
	u32 src_pid, dst_pid;
	u32 ctype;		/* the sender's view; any 32 bits after decoding */
	struct lnet_nid src_nid, dst_nid;
	u64 src_incarnation, dst_incarnation;
	bool swapped;
};

enum lnet_hello_what {
	LNET_HELLO_OK,
	LNET_HELLO_MORE,	/* *need bytes from the start of the HELLO are needed */
	LNET_HELLO_BAD_MAGIC,	/* close without a reply */
	/* Passive: reply LNET_CTYPE_NONE in the own default version, and close. Active: close. */
	LNET_HELLO_BAD_VERSION,
	LNET_HELLO_V1,		/* version 1.0, not supported: as BAD_VERSION */
	LNET_HELLO_BAD_FIELD,	/* source ANY or invalid, no address or more than allowed: close */
};

/* Writes 56 (version 2, 3) or 80 (4) bytes without addresses and returns the number. */
unsigned int lnet_hello_encode(u8 *buf, const struct lnet_hello *hello);
/*
 * OK: *need is the size of the HELLO with its addresses, which are ignored; frames follow.
 * BAD_VERSION and later: hello->swapped is set, and hello->version if it was read. The caller
 * checks the connection type with lnet_ctype_is_valid(). LNET_CTYPE_NONE rejects an initiator, and
 * is invalid for an acceptor.
 */
enum lnet_hello_what lnet_hello_decode(struct lnet_hello *hello, const u8 *buf, unsigned int len,
				       unsigned int *need);

static inline bool lnet_ctype_is_valid(u32 ctype)
{
	return ctype <= LNET_CTYPE_BULK_OUT;
}

/* The other end's view of a type; LNET_CTYPE_NONE if it is not 0..3. */
u32 lnet_ctype_invert(u32 ctype);
const char *lnet_ctype_name(u32 ctype);

/* ---- frame header ---- */

#define LNET_KSOCK_SIZE 24U

struct lnet_ksock_hdr {
	u32 type;		/* LNET_KSOCK_NOOP or LNET_KSOCK_LNET */
	u32 csum;		/* 0: none */
	u64 zc_cookie[2];
};

/* Writes LNET_KSOCK_SIZE bytes and returns the number. */
unsigned int lnet_ksock_encode(u8 *buf, const struct lnet_ksock_hdr *hdr, bool swapped);
/* 0; -EMSGSIZE if @len is less than the header; -EPROTO for an unknown type: close. */
int lnet_ksock_decode(struct lnet_ksock_hdr *hdr, const u8 *buf, unsigned int len, bool swapped);

/* ---- zero-copy requests and acknowledgements ---- */

enum lnet_zcack_kind {
	LNET_ZCACK_NONE,	/* nothing acknowledged */
	LNET_ZCACK_ONE,		/* first */
	LNET_ZCACK_TWO,		/* first and last, first < last */
	LNET_ZCACK_RANGE,	/* first to last, all of them */
	LNET_ZCACK_KEEPALIVE,	/* ignore */
	LNET_ZCACK_BAD,		/* close */
};

struct lnet_zcack {
	enum lnet_zcack_kind kind;
	u64 first, last;
	u64 nr;			/* acknowledged cookies; if one is not outstanding: close */
};

/* The cookie that this message requests to acknowledge; 0 if none. */
static inline u64 lnet_zcreq_cookie(const struct lnet_ksock_hdr *hdr)
{
	return hdr->type == LNET_KSOCK_LNET ? hdr->zc_cookie[0] : 0;
}

/* Decodes the acknowledgement in a frame header (version 3 or 4). */
void lnet_zcack_decode(struct lnet_zcack *ack, const struct lnet_ksock_hdr *hdr);

/*
 * Adds an acknowledgement of @cookie (>= LNET_ZC_COOKIE_FIRST) to a queued NOOP. @pair is its
 * zc_cookie[]: {0, 0} if empty; {0, 1}, a keepalive, is overwritten. False: it does not fit, or
 * @pair has it already. Then @pair is unchanged, and the caller starts another NOOP.
 */
bool lnet_zcack_merge(u64 pair[2], u64 cookie);

/* ---- how many connections ---- */

/* Connections of each bulk type for a link speed in Mb/s; 1 for 0, unknown. */
unsigned int lnet_sock_conns_per_peer(u32 speed_mbps);

#endif
