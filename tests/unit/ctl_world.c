/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node and its client in one process: requests are answered before the call returns. */
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include "ctl_world.h"

static int interface_nid(void *arg, const char *ifname, u32 net, struct lnet_nid *res)
{
	const struct world *w = arg;
	char text[64], buf[LNET_NIDSTR_SIZE];

	if (!strcmp(ifname, "late") && w->late)
		ifname = "eth99";
	if (strncmp(ifname, "eth", 3))
		return -ENODEV;
	snprintf(text, sizeof(text), "10.0.%s.1@%s", ifname + 3, lnet_net_str(net, buf));
	return lnet_nid_parse(res, text) ? -EADDRNOTAVAIL : 0;
}

static void wake(void *arg)
{
	((struct world *)arg)->nr_wakes++;
}

/* This machine has only eth1, with 10.0.1.1. */
static int first_nid(void *arg, u32 net, struct lnet_nid *nid, char ifname[16])
{
	strscpy(ifname, "eth1", 16);
	return interface_nid(arg, ifname, net, nid);
}

static bool address_in(void *arg, const struct lnet_nidlist *list)
{
	struct lnet_nid nid;

	return !interface_nid(arg, "eth1", LNET_LND_TCP << 16, &nid) &&
	       lnet_nidlist_match(list, &nid);
}

static const struct lnet_control_ops ops = {
	.interface_nid = interface_nid,
	.first_nid = first_nid,
	.address_in = address_in,
	.wake = wake,
};

static void put_verdict(void *at, size_t size, const struct nlmsghdr *req, int err,
			const char *text)
{
	size_t len = *text ? strlen(text) + 1 : 0;
	struct nlattr a = { .nla_type = NLMSGERR_ATTR_MSG, .nla_len = (u16)(sizeof(a) + len) };
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
	} ack = {
		.h = { .nlmsg_len = sizeof(ack) + (len ? NLA_ALIGN(a.nla_len) : 0),
		       .nlmsg_type = NLMSG_ERROR,
		       .nlmsg_seq = req->nlmsg_seq,
		       .nlmsg_flags = NLM_F_CAPPED | (len ? NLM_F_ACK_TLVS : 0) },
		.e = { .error = err },
	};

	memset(at, 0, size);
	memcpy(at, &ack, sizeof(ack));
	if (!len)
		return;
	memcpy((u8 *)at + sizeof(ack), &a, sizeof(a));
	memcpy((u8 *)at + sizeof(ack) + sizeof(a), text, len);
}

/* True if the piece ends with a key table. Without a value, stock's tool prints nothing for it. */
static bool piece_is_dull(const u32 *buf, u32 len)
{
	const struct nlmsghdr *h = (const void *)buf;
	bool dull = false;
	int rest;

	for (rest = (int)len; NLMSG_OK(h, (unsigned int)rest); h = NLMSG_NEXT(h, rest))
		dull = h->nlmsg_flags & LNET_NL_F_CREATE;
	return dull;
}

static int dump(struct world *w, const struct nlmsghdr *h, const struct lnet_ctl_req *req,
		lnetctl_reply_fn reply, void *to, struct lnet_ctl_err *e)
{
	static u32 buf[65536 / sizeof(u32)];
	struct lnet_ctl_dump d;
	int rc = lnet_control_dump_start(&w->ctl, req, &d, e);

	if (rc)
		return rc;
	do {
		struct lnet_nlw nlw;

		lnet_nlw_init(&nlw, buf, w->size, h->nlmsg_type, req->cmd, 0, h->nlmsg_seq);
		rc = lnet_control_dump_piece(&d, &nlw, e);
		if (++w->nr_pieces == w->piece_at)
			w->piece(w);
		if (rc == -EINPROGRESS && w->comments && !d.commented)
			lnet_control_dump_comment(&d, &nlw);
		w->nr_dull += piece_is_dull(buf, nlw.b.len);
		if (nlw.b.len)
			reply(to, buf, nlw.b.len);
		if (rc == -EINPROGRESS) {
			node_work(w->ln);
			node_env.now_ns += NSEC_PER_MSEC;
		}
	} while (rc == 1 || rc == -EINPROGRESS);
	lnet_control_dump_end(&d);
	return rc;
}

int ctl_world_serve(void *arg, const void *msg, size_t len, lnetctl_reply_fn reply, void *to)
{
	const struct nlmsghdr *h = msg;
	const struct genlmsghdr *g = NLMSG_DATA(h);
	struct lnet_ctl_req req = { .cmd = g->cmd,
				    .version = g->version,
				    .flags = h->nlmsg_flags,
				    .attrs = g + 1,
				    .len = h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN };
	struct world *w = arg;
	struct lnet_ctl_err e = { "" };
	u32 ack[512 / sizeof(u32)];
	int rc;

	if (lnet_control_changes(req.cmd, req.flags) &&
	    !lnet_control_tells(req.cmd, req.flags))
		rc = lnet_control_do(&w->ctl, &req, &e);
	else
		rc = dump(w, h, &req, reply, to, &e);
	put_verdict(ack, sizeof(ack), h, rc, e.text);
	return reply(to, ack, ack[0]);
}

struct lnetctl *ctl_world_client(struct world *w)
{
	return lnetctl_open_local(ctl_world_serve, w);
}

void ctl_world_begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->ln = node_begin(2);
	w->size = 65536;
	w->ctl = (struct lnet_control){ .ln = w->ln, .ops = &ops, .arg = w, .name = "unit",
					.version = "0" };
	w->c = ctl_world_client(w);
	UNIT_EQUAL(lnetctl_configure(w->c, 0), 0, "configure");
}

void ctl_world_end(struct world *w)
{
	lnetctl_close(w->c);
	lnet_control_fini(&w->ctl);
	node_end(w->ln);
}

int ctl_net_add(struct world *w, const char *net, const char *interfaces)
{
	struct lnetctl_net n;

	lnetctl_net_init(&n);
	n.net = net;
	n.interfaces = interfaces;
	return lnetctl_net_add(w->c, &n);
}
