/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The wire format: layouts, constants, and the host forms that the codecs read and write. */
#ifndef LNET_WIRE_H
#define LNET_WIRE_H

#include "plat.h"
#include <lnet/lnet.h>
#include <lnet/nid.h>

#define LNET_WIRE_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), "wire layout")
#define LNET_WIRE_AT(type, field, off) static_assert(offsetof(type, field) == (off), "wire layout")

/* ---- limits and well-known numbers ---- */

#define LNET_MAX_FRAGS 256U		/* most fragments of one buffer; the number is not sent */
#define LNET_PORTAL_RESERVED 0U		/* ping and push */
/* a tracked request is sent to the portal number plus this number */
#define LNET_PORTAL_TRACKED 64U

/* match bits of a ping (GET) or a push (PUT) to portal 0 */
#define LNET_PING_MATCHBITS 0x8000000000000000ULL
/*
 * Match bits of requests to portal 0 + LNET_PORTAL_TRACKED. LNET_OPEN_MATCHBITS: the request is a
 * GET that opens a session (session open request). LNET_CONFIRM_MATCHBITS: the request is a PUT
 * that advertises the requests of a session which the sender has finished (confirm message).
 */
#define LNET_OPEN_MATCHBITS 0x8000000000000002ULL
#define LNET_CONFIRM_MATCHBITS 0x8000000000000003ULL

/*
 * If an ACK to a tracked request has this mlength, it is a rejection. The low byte is the reason.
 */
#define LNET_REJECTED 0xffffff00U
enum lnet_rejection {
	LNET_REJECTED_NO_WINDOW = 1,
	LNET_REJECTED_NO_MATCH = 2,
	LNET_REJECTED_TOO_LONG = 3,
	LNET_REJECTED_DISCARDED = 4,
	LNET_REJECTED_NOT_PERMITTED = 5,
	/* a router sent the rejection, because it did not forward this attempt */
	LNET_REJECTED_BY_ROUTER = 6,
};

enum lnet_msg_type {
	LNET_MSG_ACK = 0,
	LNET_MSG_PUT = 1,
	LNET_MSG_GET = 2,
	LNET_MSG_REPLY = 3,
	LNET_MSG_HELLO = 4,	/* message type inside a HELLO of version 1, and nowhere else */
};

/* Sixteen bytes that only the node that made them interprets; all other nodes copy them. */
struct lnet_handle {
	u64 cookie[2];
};
LNET_WIRE_SIZE(struct lnet_handle, 16);

/* True if all bytes are 0xff: the sender requests no reply. */
static inline bool lnet_handle_is_none(const struct lnet_handle *h)
{
	return h->cookie[0] == ~0ULL && h->cookie[1] == ~0ULL;
}

static inline void lnet_handle_set_none(struct lnet_handle *h)
{
	h->cookie[0] = ~0ULL;
	h->cookie[1] = ~0ULL;
}

/* ---- LNet header ---- */

struct lnet_wire_ack {
	struct lnet_handle dst_wmd;
	__le64 match_bits;
	__le32 mlength;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_ack, 28);

struct lnet_wire_put {
	struct lnet_handle ack_wmd;
	__le64 match_bits;
	__le64 hdr_data;
	__le32 ptl_index;
	__le32 offset;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_put, 40);

struct lnet_wire_get {
	struct lnet_handle return_wmd;
	__le64 match_bits;
	__le32 ptl_index;
	__le32 src_offset;
	__le32 sink_length;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_get, 36);

struct lnet_wire_reply {
	struct lnet_handle dst_wmd;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_reply, 16);

/*
 * The part of the header that depends on the message type. Bytes that a type does not use are sent
 * as zero.
 */
union lnet_wire_msg {
	struct lnet_wire_ack ack;
	struct lnet_wire_put put;
	struct lnet_wire_get get;
	struct lnet_wire_reply reply;
} __packed;
LNET_WIRE_SIZE(union lnet_wire_msg, 40);

/* The header fields after the NIDs. They are the same with 8-byte and with 20-byte NIDs. */
struct lnet_wire_hdr_rest {
	__le32 dest_pid;
	__le32 src_pid;
	__le32 type;
	__le32 payload_len;
	union lnet_wire_msg msg;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_hdr_rest, 56);
LNET_WIRE_AT(struct lnet_wire_hdr_rest, payload_len, 12);
LNET_WIRE_AT(struct lnet_wire_hdr_rest, msg, 16);

/* The header in versions 2 and 3 of the TCP protocol, with 8-byte NIDs. */
struct lnet_wire_hdr4 {
	__le64 dest_nid;
	__le64 src_nid;
	struct lnet_wire_hdr_rest rest;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_hdr4, 72);

/* Version 4. */
struct lnet_wire_hdr16 {
	struct lnet_nid dest_nid;
	struct lnet_nid src_nid;
	struct lnet_wire_hdr_rest rest;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_hdr16, 96);

#define LNET_HDR4_SIZE 72U
#define LNET_HDR16_SIZE 96U
#define LNET_HDR_SIZE_MAX LNET_HDR16_SIZE

static inline unsigned int lnet_hdr_size(bool nid16)
{
	return nid16 ? LNET_HDR16_SIZE : LNET_HDR4_SIZE;
}

/* A header in host form. Only the member of @msg that belongs to @type is valid. */
struct lnet_hdr {
	struct lnet_nid dest_nid, src_nid;
	u32 dest_pid, src_pid;
	u32 type;			/* enum lnet_msg_type, ACK..REPLY */
	u32 payload_len;		/* bytes after the header */
	union {
		struct {
			struct lnet_handle dst_wmd;
			u64 match_bits;
			u32 mlength;
		} ack;
		struct {
			struct lnet_handle ack_wmd;
			u64 match_bits, hdr_data;
			u32 ptl_index, offset;
		} put;
		struct {
			struct lnet_handle return_wmd;
			u64 match_bits;
			u32 ptl_index, src_offset, sink_length;
		} get;
		struct {
			struct lnet_handle dst_wmd;
		} reply;
	} msg;
};

/*
 * Writes a header of lnet_hdr_size(nid16) bytes to @buf and returns that number. @buf may be
 * unaligned. Without @nid16, a NID with a long address is truncated, so the caller sends such NIDs
 * only on connections of version 4. Any context.
 */
unsigned int lnet_hdr_encode(u8 *buf, const struct lnet_hdr *hdr, bool nid16);

/*
 * Like lnet_hdr_encode(), but for a PUT whose header mostly equals @like, the encoded header of
 * another PUT. Reads only payload_len and msg.put of @hdr, because all other fields are equal. Any
 * context.
 */
unsigned int lnet_hdr_encode_like(u8 *buf, const u8 *like, const struct lnet_hdr *hdr, bool nid16);

/*
 * Decodes a header from the lnet_hdr_size(nid16) bytes at @buf. Returns 0, or -EPROTO if the driver
 * must close the connection. Reasons for -EPROTO: the type is unknown, a NID has an impossible
 * size, an ACK or GET has a payload, or a PUT or REPLY has more than LNET_MTU. The caller checks
 * the destination and all indices and offsets. Any context.
 */
int lnet_hdr_decode(struct lnet_hdr *hdr, const u8 *buf, bool nid16);
/*
 * Like lnet_hdr_decode(). On entry, @hdr has the content of the valid header @like. The function
 * decodes the NIDs only if they differ from those of @like. Any context.
 */
int lnet_hdr_decode_like(struct lnet_hdr *hdr, const u8 *buf, const u8 *like, bool nid16);

/* ---- ping info: byte order of its creator, shown by the magic; large NIDs big-endian ---- */

#define LNET_PING_MAGIC 0x70696e67U
/* bytes of the smallest buffer for the ping info of another node: 16 + 16 * 16 */
#define LNET_PINGINFO_MIN 272U
#define LNET_PINGINFO_MANUAL 3960U	/* bytes of ping info that lnetctl ping requests at most */
#define LNET_PINGINFO_NIDS_MAX 4096U	/* entries of each kind */
#define LNET_PINGINFO_MAX (16U + LNET_PINGINFO_NIDS_MAX * (16U + 24U))

#define LNET_FEAT_BASE 0x01U
#define LNET_FEAT_NI_STATUS 0x02U	/* mandatory */
#define LNET_FEAT_RTE_DISABLED 0x04U	/* set: not a router */
#define LNET_FEAT_MULTI_RAIL 0x08U
#define LNET_FEAT_DISCOVERY 0x10U
#define LNET_FEAT_LARGE_ADDR 0x20U
#define LNET_FEAT_PRIMARY_LARGE 0x40U
#define LNET_FEAT_METADATA 0x80U
/* exactly-once extension: the node accepts session open requests */
#define LNET_FEAT_OPEN 0x40000000U

#define LNET_NI_UP 0x15aac0deU
#define LNET_NI_DOWN 0xdeadfaceU
#define LNET_NI_INVALID 0U

struct lnet_wire_ping {
	u32 magic;
	u32 features;
	u32 pid;
	u32 nnis;		/* number of 16-byte entries that follow; the first is 0@lo */
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_ping, 16);

struct lnet_wire_ping_ni {
	u64 nid;
	u32 status;			/* in entry 0: sequence number of the ping info */
	u32 msg_size;		/* in entry 0, if large entries exist: bytes of the ping info */
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_ping_ni, 16);

/*
 * A large entry; these follow the small ones. The sender sends only nid.size + 8 bytes of @nid,
 * rounded up to 4.
 */
struct lnet_wire_ping_large {
	u32 status;
	struct lnet_nid nid;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_ping_large, 24);

struct lnet_pinginfo_ni {
	struct lnet_nid nid;
	u32 status;		/* LNET_NI_UP, LNET_NI_DOWN, or any other value that a peer sent */
};

/* The content of a received ping info, except its NIDs. */
struct lnet_pinginfo {
	u32 features, pid, seq;
	/* bytes of the whole ping info, at most LNET_PINGINFO_MAX: the length to request */
	unsigned int size;
	unsigned int nr;		/* number of NIDs that were stored in the caller's array */
	unsigned int nr_seen;	/* number of valid NIDs in the received bytes, without 0@lo */
	bool has_primary;		/* nis[0] is the primary NID */
	bool swapped;		/* the node that made the ping info has the other byte order */
};

/* Returns the number of bytes that lnet_pinginfo_encode() needs for @nis. */
unsigned int lnet_pinginfo_size(const struct lnet_pinginfo_ni *nis, unsigned int nr);

/*
 * Encodes the ping info of this node in host byte order. @nis: the NIDs without 0@lo: the primary
 * NID first, then by net as configured; short and long addresses in any order. Sets or clears
 * NI_STATUS, LARGE_ADDR and PRIMARY_LARGE as needed, whatever @features has; clears METADATA.
 * Returns the total length. -ENOSPC: @size is too small. -EINVAL: more than LNET_PINGINFO_NIDS_MAX
 * - 1 NIDs, an invalid NID, or ANY. Any context.
 */
int lnet_pinginfo_encode(u8 *buf, unsigned int size, u32 features, u32 pid, u32 seq,
			 const struct lnet_pinginfo_ni *nis, unsigned int nr);

/*
 * Decodes a ping info of either byte order from @len received bytes. Stores up to @max NIDs in
 * @nis, the primary NID first, without 0@lo. The return values are:
 *
 *   0		complete
 *   -EMSGSIZE	truncated: out->size bytes are needed; @out and the received NIDs are written
 *   -ENOBUFS	complete, but @max is smaller than out->nr_seen
 *   -EPROTO	corrupt: @out is zero
 *
 * Checks no feature but NI_STATUS; a caller that accepts pushes checks MULTI_RAIL. Any context.
 */
int lnet_pinginfo_decode(struct lnet_pinginfo *out, const u8 *buf, unsigned int len,
			 struct lnet_pinginfo_ni *nis, unsigned int max);

/* ---- REPLY to a session open request ---- */

#define LNET_SESSION_REPLY_SIZE 32

/* Writes the REPLY to a session open request, LNET_SESSION_REPLY_SIZE bytes. */
void lnet_session_reply_encode(u8 *buf, u32 W, u64 instance, u64 grant);
/* Reads the REPLY to a session open request. Return: 0, or -EPROTO. */
int lnet_session_reply_decode(const u8 *buf, u32 len, u32 *W, u64 *instance, u64 *grant);

/* ---- TCP: acceptor request, HELLO, frame header (codecs: lnd/socklnd/wire.h) ---- */

#define LNET_ACCEPTOR_PORT 988U
#define LNET_PORT_RESERVED_MIN 512U
#define LNET_PORT_RESERVED_MAX 1023U

#define LNET_ACR_MAGIC 0xacce7100U
struct lnet_wire_acr1 {
	u32 magic;
	u32 version;
	u64 nid;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_acr1, 16);

struct lnet_wire_acr2 {
	u32 magic;
	u32 version;
	struct lnet_nid nid;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_acr2, 28);

#define LNET_HELLO_MAGIC 0x45726963U
#define LNET_HELLO_V1_MAGIC 0xeebc0dedU	/* always little-endian */
#define LNET_HELLO_NIPS_MAX 16U
#define LNET_HELLO_SIZE_MAX (56U + 4U * LNET_HELLO_NIPS_MAX)

/* HELLO of versions 2 and 3; @nips addresses of 4 bytes follow it. */
struct lnet_wire_hello3 {
	u32 magic;
	u32 version;
	u64 src_nid;
	u64 dst_nid;
	u32 src_pid;
	u32 dst_pid;
	u64 src_incarnation;
	u64 dst_incarnation;
	u32 ctype;
	u32 nips;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_hello3, 56);
LNET_WIRE_AT(struct lnet_wire_hello3, ctype, 48);

struct lnet_wire_hello4 {
	u32 magic;
	u32 version;
	struct lnet_nid src_nid;
	struct lnet_nid dst_nid;
	u32 src_pid;
	u32 dst_pid;
	u64 src_incarnation;
	u64 dst_incarnation;
	u32 ctype;
	u32 nips;
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_hello4, 80);
LNET_WIRE_AT(struct lnet_wire_hello4, ctype, 72);

#define LNET_KSOCK_NOOP 0xc0U
#define LNET_KSOCK_LNET 0xc1U
#define LNET_ZC_COOKIE_KEEPALIVE 1ULL
#define LNET_ZC_COOKIE_FIRST 2ULL	/* first cookie for a peer */
struct lnet_wire_ksock {
	u32 type;
	u32 csum;
	u64 zc_cookie[2];
} __packed;
LNET_WIRE_SIZE(struct lnet_wire_ksock, 24);

#endif
