/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzer of management replies. Whatever a node replies to lnetctl's request, lnetctl returns a
 * result, and the reply becomes a document that can be printed.
 *
 * Input: a byte of modes, then datagrams. A datagram is two bytes of length and the bytes. With
 * FRAMED it is a byte of kind, flags, a length, and the payload of one message behind its headers.
 */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "fuzz.h"
#include "utils/lib/client.h"

enum { FRAMED = 1, CHANGE = 2 };	/* CHANGE: no dump was requested */

struct node {
	struct fuzz_in in;
	u8 modes;
};

/* Returns a datagram of one message; the caller frees it with free(). */
static u8 *message(struct fuzz_in *in, u32 seq, size_t *len)
{
	static const u16 types[] = { LNET_NL_USER_TYPE, NLMSG_ERROR, NLMSG_DONE, NLMSG_NOOP };
	u16 type = types[fuzz_u8(in) % ARRAY_SIZE(types)], flags = fuzz_u16(in);
	struct nlmsghdr h = { .nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = seq };
	size_t head = NLMSG_HDRLEN + (type == LNET_NL_USER_TYPE ? GENL_HDRLEN : 0);
	size_t n = fuzz_u16(in);
	u8 *bytes = fuzz_bytes(in, &n), *msg = calloc(1, head + n);

	h.nlmsg_len = (u32)(head + n);
	memcpy(msg, &h, sizeof(h));
	memcpy(msg + head, bytes, n);
	free(bytes);
	*len = head + n;
	return msg;
}

static int serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *h = msg;
	struct node *node = arg;

	while (fuzz_more(&node->in)) {
		size_t n = node->modes & FRAMED ? 0 : fuzz_u16(&node->in);
		u8 *datagram = node->modes & FRAMED ? message(&node->in, h->nlmsg_seq, &n)
						    : fuzz_bytes(&node->in, &n);

		reply(to, datagram, n);
		free(datagram);
	}
	return 0;
}

static void print(const struct lnetctl_node *doc)
{
	int style;

	for (style = LNETCTL_WIDE; style <= LNETCTL_JSON; style++)
		lnetctl_print(doc, style, fuzz_null());
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct node node = { .in = fuzz_begin(data, size) };
	struct link_call call = { .cmd = LNET_NL_NETS, .version = 1 };
	struct lnetctl_node *doc;
	struct reply r;
	struct link *l;
	int rc;

	node.modes = fuzz_u8(&node.in);
	BUG_ON(reply_init(&r) || link_open_local(&l, serve, &node));
	call.reply = node.modes & CHANGE ? NULL : &r;
	call.flags = node.modes & CHANGE ? 0 : NLM_F_DUMP;
	rc = link_talk(l, &call);
	BUG_ON(strlen(call.text) >= sizeof(call.text));
	BUG_ON(!rc && size < 2);	/* no reply is no success */
	link_close(l);
	doc = reply_finish(&r);
	print(doc);
	lnetctl_doc_free(doc);
	return 0;
}
