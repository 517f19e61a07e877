/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Encodes and decodes message headers. Successive messages to or from one peer have similar
 * headers, which makes both cheaper.
 */
#include "plat.h"
#include "lnd/socklnd/socklnd.h"

u32 sock_encode_hdr(const struct sock_conn *c, const struct lnet_att *att, u8 *to,
		    struct sock_before *b)
{
	const struct lnet_att *before = b->att;
	const u8 *like = b->hdr;
	struct lnet_hdr hdr __uninitialized;

	b->att = att;
	b->hdr = to;
	if (before && lnet_att_hdr_like(att, before, &hdr))
		return lnet_hdr_encode_like(to, like, &hdr, c->version == 4);
	lnet_att_hdr(att, &hdr);
	return lnet_hdr_encode(to, &hdr, c->version == 4);
}

int sock_decode_hdr(const struct sock_conn *c, const u8 *from, struct sock_came *in)
{
	const u8 *like = in->like;
	bool nid16 = c->version == 4;

	/* A header in c->hdr cannot be referenced: the next header overwrites it. */
	in->like = c->nr_hdr ? NULL : from;
	return like ? lnet_hdr_decode_like(&in->hdr, from, like, nid16)
		    : lnet_hdr_decode(&in->hdr, from, nid16);
}
