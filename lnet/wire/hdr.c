/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Conversion of the LNet header, and of session replies, between bytes and host form. */
#include "lnet/wire.h"

static void put_encode(struct lnet_wire_put *w, const struct lnet_hdr *hdr)
{
	w->ack_wmd = hdr->msg.put.ack_wmd;
	w->match_bits = cpu_to_le64(hdr->msg.put.match_bits);
	w->hdr_data = cpu_to_le64(hdr->msg.put.hdr_data);
	w->ptl_index = cpu_to_le32(hdr->msg.put.ptl_index);
	w->offset = cpu_to_le32(hdr->msg.put.offset);
}

static struct lnet_wire_hdr_rest *rest_of(const u8 *buf, bool nid16)
{
	return nid16 ? &((struct lnet_wire_hdr16 *)buf)->rest :
		       &((struct lnet_wire_hdr4 *)buf)->rest;
}

unsigned int lnet_hdr_encode(u8 *buf, const struct lnet_hdr *hdr, bool nid16)
{
	struct lnet_wire_hdr16 *w16 = (struct lnet_wire_hdr16 *)buf;
	struct lnet_wire_hdr4 *w4 = (struct lnet_wire_hdr4 *)buf;
	struct lnet_wire_hdr_rest *rest = rest_of(buf, nid16);
	union lnet_wire_msg *w = &rest->msg;

	if (nid16) {
		w16->dest_nid = hdr->dest_nid;
		w16->src_nid = hdr->src_nid;
	} else {
		w4->dest_nid = cpu_to_le64(lnet_nid_to_nid4(&hdr->dest_nid));
		w4->src_nid = cpu_to_le64(lnet_nid_to_nid4(&hdr->src_nid));
	}
	rest->dest_pid = cpu_to_le32(hdr->dest_pid);
	rest->src_pid = cpu_to_le32(hdr->src_pid);
	rest->type = cpu_to_le32(hdr->type);
	rest->payload_len = cpu_to_le32(hdr->payload_len);
	memset(w, 0, sizeof(*w));
	switch (hdr->type) {
	case LNET_MSG_ACK:
		w->ack.dst_wmd = hdr->msg.ack.dst_wmd;
		w->ack.match_bits = cpu_to_le64(hdr->msg.ack.match_bits);
		w->ack.mlength = cpu_to_le32(hdr->msg.ack.mlength);
		break;
	case LNET_MSG_PUT:
		put_encode(&w->put, hdr);
		break;
	case LNET_MSG_GET:
		w->get.return_wmd = hdr->msg.get.return_wmd;
		w->get.match_bits = cpu_to_le64(hdr->msg.get.match_bits);
		w->get.ptl_index = cpu_to_le32(hdr->msg.get.ptl_index);
		w->get.src_offset = cpu_to_le32(hdr->msg.get.src_offset);
		w->get.sink_length = cpu_to_le32(hdr->msg.get.sink_length);
		break;
	case LNET_MSG_REPLY:
		w->reply.dst_wmd = hdr->msg.reply.dst_wmd;
		break;
	}
	return lnet_hdr_size(nid16);
}

unsigned int lnet_hdr_encode_like(u8 *buf, const u8 *like, const struct lnet_hdr *hdr, bool nid16)
{
	struct lnet_wire_hdr_rest *rest = rest_of(buf, nid16);

	if (nid16)
		memcpy(buf, like, LNET_HDR16_SIZE);
	else
		memcpy(buf, like, LNET_HDR4_SIZE);
	rest->payload_len = cpu_to_le32(hdr->payload_len);
	put_encode(&rest->msg.put, hdr);
	return lnet_hdr_size(nid16);
}

static int rest_decode(struct lnet_hdr *hdr, const struct lnet_wire_hdr_rest *rest)
{
	const union lnet_wire_msg *w = &rest->msg;
	u32 limit = 0;

	hdr->dest_pid = le32_to_cpu(rest->dest_pid);
	hdr->src_pid = le32_to_cpu(rest->src_pid);
	hdr->type = le32_to_cpu(rest->type);
	hdr->payload_len = le32_to_cpu(rest->payload_len);
	switch (hdr->type) {
	case LNET_MSG_ACK:
		hdr->msg.ack.dst_wmd = w->ack.dst_wmd;
		hdr->msg.ack.match_bits = le64_to_cpu(w->ack.match_bits);
		hdr->msg.ack.mlength = le32_to_cpu(w->ack.mlength);
		break;
	case LNET_MSG_PUT:
		hdr->msg.put.ack_wmd = w->put.ack_wmd;
		hdr->msg.put.match_bits = le64_to_cpu(w->put.match_bits);
		hdr->msg.put.hdr_data = le64_to_cpu(w->put.hdr_data);
		hdr->msg.put.ptl_index = le32_to_cpu(w->put.ptl_index);
		hdr->msg.put.offset = le32_to_cpu(w->put.offset);
		limit = LNET_MTU;
		break;
	case LNET_MSG_GET:
		hdr->msg.get.return_wmd = w->get.return_wmd;
		hdr->msg.get.match_bits = le64_to_cpu(w->get.match_bits);
		hdr->msg.get.ptl_index = le32_to_cpu(w->get.ptl_index);
		hdr->msg.get.src_offset = le32_to_cpu(w->get.src_offset);
		hdr->msg.get.sink_length = le32_to_cpu(w->get.sink_length);
		break;
	case LNET_MSG_REPLY:
		hdr->msg.reply.dst_wmd = w->reply.dst_wmd;
		limit = LNET_MTU;
		break;
	default:
		return -EPROTO;
	}
	return hdr->payload_len <= limit ? 0 : -EPROTO;
}

int lnet_hdr_decode(struct lnet_hdr *hdr, const u8 *buf, bool nid16)
{
	const struct lnet_wire_hdr16 *w16 = (const struct lnet_wire_hdr16 *)buf;
	const struct lnet_wire_hdr4 *w4 = (const struct lnet_wire_hdr4 *)buf;

	if (nid16) {
		hdr->dest_nid = w16->dest_nid;
		hdr->src_nid = w16->src_nid;
		if (!lnet_nid_is_sane(&hdr->dest_nid) || !lnet_nid_is_sane(&hdr->src_nid))
			return -EPROTO;
	} else {
		lnet_nid_from_nid4(&hdr->dest_nid, le64_to_cpu(w4->dest_nid));
		lnet_nid_from_nid4(&hdr->src_nid, le64_to_cpu(w4->src_nid));
	}
	return rest_decode(hdr, rest_of(buf, nid16));
}

int lnet_hdr_decode_like(struct lnet_hdr *hdr, const u8 *buf, const u8 *like, bool nid16)
{
	bool same = nid16 ? !memcmp(buf, like, offsetof(struct lnet_wire_hdr16, rest))
			  : !memcmp(buf, like, offsetof(struct lnet_wire_hdr4, rest));

	return same ? rest_decode(hdr, rest_of(buf, nid16)) : lnet_hdr_decode(hdr, buf, nid16);
}

/* ---- session replies ------------------------------------------------------------------------- */

/*
 * Format of the REPLY to a session open request: 32 bytes, little-endian: magic, version, size of
 * the window, 0, instance number of the receiver, session ID.
 */
#define GRANT_MAGIC 0x6e65706fU	/* "open" */
#define GRANT_VERSION 1

void lnet_session_reply_encode(u8 *buf, u32 W, u64 instance, u64 session_id)
{
	put_unaligned_le32(GRANT_MAGIC, buf);
	put_unaligned_le32(GRANT_VERSION, buf + 4);
	put_unaligned_le32(W, buf + 8);
	put_unaligned_le32(0, buf + 12);
	put_unaligned_le64(instance, buf + 16);
	put_unaligned_le64(session_id, buf + 24);
}

int lnet_session_reply_decode(const u8 *buf, u32 len, u32 *W, u64 *instance, u64 *session_id)
{
	if (len < LNET_SESSION_REPLY_SIZE || get_unaligned_le32(buf) != GRANT_MAGIC ||
	    get_unaligned_le32(buf + 4) != GRANT_VERSION)
		return -EPROTO;
	*W = get_unaligned_le32(buf + 8);
	*instance = get_unaligned_le64(buf + 16);
	*session_id = get_unaligned_le64(buf + 24);
	if (*W < 1 || *W > 16383 || *session_id == 0 || *session_id == ~0ULL)
		return -EPROTO;
	return 0;
}
