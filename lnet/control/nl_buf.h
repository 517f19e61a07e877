/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Netlink messages in a flat buffer: headers, attributes and nests, each aligned to 4 bytes. */
#ifndef LNET_NL_BUF_H
#define LNET_NL_BUF_H

#include "plat.h"
#include <uapi/lnet_nl.h>

#define LNET_NLMSG_HDR	 16u /* struct nlmsghdr */
#define LNET_GENL_HDR	 4u  /* struct genlmsghdr */
#define LNET_NL_ALIGN(n) (((n) + 3u) & ~3u)

struct lnet_nlbuf {
	u8 *buf;	 /* aligned to at least 4 bytes, owned by the caller */
	u32 len, size;	 /* bytes used, bytes available */
	u32 seq, portid; /* @seq, @portid and the next three fields are written into each header */
	u16 type;	 /* ID of the family */
	u8 cmd, version;
	bool full; /* an item did not fit, so it is missing */
};

/* Appends @len zeroed bytes and padding. If there is no space, returns NULL and sets @full. */
static inline u8 *lnet_nlbuf_put(struct lnet_nlbuf *b, u32 len)
{
	u8 *at = b->buf + b->len;

	if (b->full || LNET_NL_ALIGN(len) > b->size - b->len) {
		b->full = true;
		return NULL;
	}
	memset(at, 0, LNET_NL_ALIGN(len));
	b->len += LNET_NL_ALIGN(len);
	return at;
}

/* @len: at most 64 KiB - 5. */
static inline void lnet_nlbuf_attr(struct lnet_nlbuf *b, u16 type, const void *data, u32 len)
{
	u16 total = (u16)(len + LNET_NL_ATTR_HDR);
	u8 *at = lnet_nlbuf_put(b, total);

	if (!at)
		return;
	memcpy(at, &total, 2);
	memcpy(at + 2, &type, 2);
	if (len)
		memcpy(at + LNET_NL_ATTR_HDR, data, len);
}

static inline void lnet_nlbuf_u16(struct lnet_nlbuf *b, u16 type, u16 val)
{
	lnet_nlbuf_attr(b, type, &val, sizeof(val));
}

static inline void lnet_nlbuf_text(struct lnet_nlbuf *b, u16 type, const char *text)
{
	lnet_nlbuf_attr(b, type, text, (u32)strlen(text) + 1);
}

/* Opens a nest. Returns the offset that lnet_nlbuf_unnest() takes. */
static inline u32 lnet_nlbuf_nest(struct lnet_nlbuf *b, u16 type)
{
	u32 at = b->len;

	lnet_nlbuf_attr(b, (u16)(type | LNET_NL_NESTED), NULL, 0);
	return at;
}

/* Closes a nest. If the nest is longer than its 16-bit length field can express, sets @full. */
static inline void lnet_nlbuf_unnest(struct lnet_nlbuf *b, u32 at)
{
	u16 len = (u16)(b->len - at);

	if (b->len - at > 0xfffc)
		b->full = true;
	if (!b->full)
		memcpy(b->buf + at, &len, 2);
}

/* Begins a message with both headers. Returns its offset. @type: the family's ID, or NLMSG_DONE. */
static inline u32 lnet_nlbuf_begin(struct lnet_nlbuf *b, u16 type, u16 flags)
{
	u32 at = b->len;
	u8 *hdr = lnet_nlbuf_put(b, LNET_NLMSG_HDR + LNET_GENL_HDR);

	if (!hdr)
		return at;
	memcpy(hdr + 4, &type, 2);
	memcpy(hdr + 6, &flags, 2);
	memcpy(hdr + 8, &b->seq, 4);
	memcpy(hdr + 12, &b->portid, 4);
	hdr[16] = b->cmd;
	hdr[17] = b->version;
	return at;
}

/* Ends the message at @at. If the buffer is full, removes the message; @full stays set. */
static inline void lnet_nlbuf_end(struct lnet_nlbuf *b, u32 at)
{
	u32 len = b->len - at;

	if (b->full)
		b->len = at;
	else
		memcpy(b->buf + at, &len, 4);
}

#endif
