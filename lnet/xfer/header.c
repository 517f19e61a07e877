/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The header and the payload of an attempt. Drivers read both. */
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "shard/hooks.h"

/* Bits of op->wire_bits. The core sets them before a driver reads the header. */
enum { WIRE_HANDLE = 1, WIRE_MARK = 2, WIRE_FORWARD = 4, WIRE_URGENT = 8, WIRE_ONCE = 16 };

/*
 * True if @op is lost for good when its connection is lost. Then this node does not retransmit @op,
 * and the peer does not retry the request to which @op replies. A peer retries a tracked request,
 * whose reply is of LNET_KIND_REPLY, and a ping, whose REPLY has @op->sbuf. So these replies are
 * not lost for good.
 */
static bool is_sent_once(const struct lnet_op *op)
{
	if (op->kind == LNET_KIND_FORWARD)
		return !op->sh->ln->hooks->forward_op.is_resendable(op);
	if (lnet_op_is_reply(op))
		return !op->sbuf && op->kind == LNET_KIND_STOCK_REPLY;
	return op->kind != LNET_KIND_RECOVERY && !lnet_op_is_repeatable(op);
}

void lnet_op_wire(struct lnet_op *op)
{
	u8 bits = 0;

	if (op->id_state != ID_NONE)
		bits |= WIRE_HANDLE;
	if (op->id_state == ID_DRAWN)
		bits |= WIRE_MARK;
	if (op->kind == LNET_KIND_FORWARD)
		bits |= WIRE_FORWARD;
	if (op->kind == LNET_KIND_URGENT)
		bits |= WIRE_URGENT;
	if (is_sent_once(op))
		bits |= WIRE_ONCE;
	if (op->wire_bits != bits)
		op->wire_bits = bits;
}

bool lnet_att_is_urgent(const struct lnet_att *att)
{
	return att->op->wire_bits & WIRE_URGENT;
}

bool lnet_att_is_sent_once(const struct lnet_att *att)
{
	return att->op->wire_bits & WIRE_ONCE;
}

static void put_fields(const struct lnet_op *op, struct lnet_hdr *hdr)
{
	if (op->wire_bits & WIRE_HANDLE)
		hdr->msg.put.ack_wmd = op->wire;
	else
		lnet_handle_set_none(&hdr->msg.put.ack_wmd);
	hdr->payload_len = op->len;
	hdr->msg.put.match_bits = op->match_bits;
	hdr->msg.put.hdr_data = op->hdr_data;
	hdr->msg.put.ptl_index = op->portal + (op->wire_bits & WIRE_MARK ? LNET_PORTAL_TRACKED : 0);
	hdr->msg.put.offset = op->offset;
}

void lnet_att_hdr(const struct lnet_att *att, struct lnet_hdr *hdr)
{
	const struct lnet_op *op = att->op;

	hdr->dest_nid = att->path->pni->nid;
	if (unlikely(op->wire_bits & WIRE_FORWARD)) {
		op->sh->ln->hooks->forward_op.hdr(op, hdr);
		return;
	}
	hdr->src_nid = att->ni->nid;
	hdr->dest_pid = op->target_pid;
	hdr->src_pid = att->ni->ln->pid;
	hdr->type = op->type;
	hdr->payload_len = 0;
	switch (op->type) {
	case LNET_OP_PUT:
		put_fields(op, hdr);
		break;
	case LNET_OP_GET:
		hdr->msg.get.return_wmd = op->wire;
		hdr->msg.get.match_bits = op->match_bits;
		hdr->msg.get.ptl_index = op->portal +
					 (op->wire_bits & WIRE_MARK ? LNET_PORTAL_TRACKED : 0);
		hdr->msg.get.src_offset = op->offset;
		hdr->msg.get.sink_length = op->len;
		break;
	case LNET_OP_ACK:
		hdr->msg.ack.dst_wmd = op->wire;
		hdr->msg.ack.match_bits = op->match_bits;
		hdr->msg.ack.mlength = op->mlength;
		break;
	default:
		hdr->msg.reply.dst_wmd = op->wire;
		hdr->payload_len = op->len;
		break;
	}
}

bool lnet_att_hdr_like(const struct lnet_att *att, const struct lnet_att *before,
		       struct lnet_hdr *hdr)
{
	const struct lnet_op *op = att->op, *was = before->op;

	if (att->path != before->path || op->type != LNET_OP_PUT || was->type != LNET_OP_PUT ||
	    op->target_pid != was->target_pid ||
	    unlikely((op->wire_bits | was->wire_bits) & WIRE_FORWARD))
		return false;
	put_fields(op, hdr);
	return true;
}

u32 lnet_att_len(const struct lnet_att *att)
{
	const struct lnet_op *op = att->op;
	struct lnet_buf buf;

	if (op->type == LNET_OP_ACK || op->type == LNET_OP_GET)
		return 0;
	if (likely(op->md))
		return op->len;
	lnet_att_payload(att, &buf);
	return buf.len;
}

void lnet_att_payload(const struct lnet_att *att, struct lnet_buf *buf)
{
	const struct lnet_op *op = att->op;

	memset(buf, 0, sizeof(*buf));
	if (op->type == LNET_OP_ACK || op->type == LNET_OP_GET || !op->len)
		return;
	if (unlikely(op->wire_bits & WIRE_FORWARD)) {
		op->sh->ln->hooks->forward_op.payload(op, buf);
	} else if (op->sbuf) {
		buf->frags = &op->sbuf->frag;
		buf->nr = 1;
		buf->offset = op->md_off;
		buf->len = op->len;
	} else if (op->md) {
		*buf = lnet_md_buf(op->md, op->md_off, op->len);
	}
}
