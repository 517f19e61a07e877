/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The formats of the TCP driver's messages: functions that encode and decode bytes, without
 * connections and without state.
 */
#ifndef SOCKLND_WIRE_H
#define SOCKLND_WIRE_H

#include "plat.h"
#include "lnet/wire.h"

/*
 * All functions work in any context, without allocation, and on unaligned buffers. They read no
 * byte at or beyond buf + len. @swapped: the magic shows that the remote node has the other byte
 * order.
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
	/*
	 * @acr is set. If this node does not serve the NID in @acr, the caller closes the
	 * connection.
	 */
	LNET_ACR_OK,
	LNET_ACR_MORE,		/* the request is incomplete: its first *need bytes are needed */
	LNET_ACR_REPLY,		/* send lnet_acr_reply(), then close */
	LNET_ACR_CLOSE,		/* close without a reply */
};

/* Returns the version that an initiator uses for a NID. */
static inline u32 lnet_acr_version(const struct lnet_nid *nid)
{
	return lnet_nid_is_nid4(nid) ? 1 : 2;
}

/* Writes 16 or 28 bytes, depending on acr->version, and returns the number. */
unsigned int lnet_acr_encode(u8 *buf, const struct lnet_acr *acr);
/*
 * Decides what the acceptor does, if there are enough bytes. OK: *need is the size of the request,
 * and the HELLO follows.
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
/* the type in a rejection: lost race, duplicate or stale HELLO; the initiator retries later */
#define LNET_CTYPE_NONE 0xffffffffU

struct lnet_hello {
	u32 version;		/* 2, 3 or 4 */
	u32 src_pid, dst_pid;
	/* connection type as the sender sees it; after decoding, any 32 bits */
	u32 ctype;
	struct lnet_nid src_nid, dst_nid;
	u64 src_incarnation, dst_incarnation;
	bool swapped;
};

enum lnet_hello_what {
	LNET_HELLO_OK,
	LNET_HELLO_MORE,	/* the HELLO is incomplete: its first *need bytes are needed */
	LNET_HELLO_BAD_MAGIC,	/* close without a reply */
	/*
	 * The version is unknown. If the reader is the acceptor, it replies LNET_CTYPE_NONE in its
	 * own default version, and closes. If the reader is the initiator, it closes without a
	 * reply.
	 */
	LNET_HELLO_BAD_VERSION,
	LNET_HELLO_V1,		/* version 1.0 is not supported: handled as BAD_VERSION */
	/* The source is ANY or invalid, or the number of addresses is 0 or too large: close. */
	LNET_HELLO_BAD_FIELD,
};

/*
 * Writes the HELLO without addresses: 56 bytes (version 2, 3) or 80 bytes (version 4). Returns the
 * number of bytes.
 */
unsigned int lnet_hello_encode(u8 *buf, const struct lnet_hello *hello);
/*
 * OK: *need is the size of the HELLO with its addresses, which are ignored; frames follow.
 * BAD_VERSION, V1, BAD_FIELD: hello->swapped is set, and hello->version if it was read. The caller
 * checks hello->ctype with lnet_ctype_is_valid(). If an initiator receives LNET_CTYPE_NONE, the
 * acceptor has rejected it. If an acceptor receives LNET_CTYPE_NONE, the HELLO is invalid.
 */
enum lnet_hello_what lnet_hello_decode(struct lnet_hello *hello, const u8 *buf, unsigned int len,
				       unsigned int *need);

static inline bool lnet_ctype_is_valid(u32 ctype)
{
	return ctype <= LNET_CTYPE_BULK_OUT;
}

/*
 * Returns the connection type as the remote node sees it; LNET_CTYPE_NONE if @ctype is not 0 to 3.
 */
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
/*
 * 0; -EMSGSIZE if @len is less than the header; -EPROTO for an unknown type, then the caller
 * closes.
 */
int lnet_ksock_decode(struct lnet_ksock_hdr *hdr, const u8 *buf, unsigned int len, bool swapped);

/* ---- zero-copy requests and acknowledgements ---- */

enum lnet_zcack_kind {
	LNET_ZCACK_NONE,	/* nothing acknowledged */
	LNET_ZCACK_ONE,		/* first */
	LNET_ZCACK_TWO,		/* two cookies: first and last, first < last */
	LNET_ZCACK_RANGE,	/* all cookies from first to last */
	LNET_ZCACK_KEEPALIVE,	/* ignore */
	LNET_ZCACK_BAD,		/* close */
};

struct lnet_zcack {
	enum lnet_zcack_kind kind;
	u64 first, last;
	/* number of acknowledged cookies; if one of them is not outstanding: close */
	u64 nr;
};

/* Returns the cookie whose acknowledgement this message requests; 0: none. */
static inline u64 lnet_zcreq_cookie(const struct lnet_ksock_hdr *hdr)
{
	return hdr->type == LNET_KSOCK_LNET ? hdr->zc_cookie[0] : 0;
}

/* Decodes the acknowledgement in a frame header (version 3 or 4). */
void lnet_zcack_decode(struct lnet_zcack *ack, const struct lnet_ksock_hdr *hdr);

/*
 * Adds an acknowledgement of @cookie (>= LNET_ZC_COOKIE_FIRST) to a queued NOOP. @pair is the
 * zc_cookie[] of the NOOP. {0, 0} is empty; {0, 1} is a keepalive and is overwritten. False:
 * @cookie does not fit, or @pair has it already. Then @pair is unchanged, and the caller starts
 * another NOOP.
 */
bool lnet_zcack_merge(u64 pair[2], u64 cookie);

/* ---- how many connections ---- */

/*
 * Returns the number of connections of each bulk type for a link speed in Mb/s; 1 for a speed of 0
 * (unknown).
 */
unsigned int lnet_sock_conns_per_peer(u32 speed_mbps);

#endif
