/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Management of the caller's namespace over generic netlink. */
#include "kernel.h"
#include <lnet/nid.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include <uapi/lnet_nl.h>

/* Size of a datagram of a dump, if the reader's receive buffer has space for four of them. */
#define DUMP_SIZE	32768
#define DUMP_SIZE_MIN	8192

/* A dump in progress, stored at cb->args[0]. */
struct job {
	struct lnet_ctl_dump dump;
	struct lnet_ctl_err e;
	struct lnet_netns *ns;
	int err;			/* the result of the dump, if @finished */
	bool finished;			/* all is sent except the result */
	bool called;			/* on_dump() was called before, so the next call may wait */
	u32 size;			/* of a datagram, at most */
	u8 cmd;
};

static struct genl_family lnet_family __ro_after_init;

static struct lnet_ctl_req nlmsg_to_req(const struct nlmsghdr *nlh, u32 from)
{
	const struct genlmsghdr *hdr = nlmsg_data(nlh);

	return (struct lnet_ctl_req){ .cmd = hdr->cmd, .version = hdr->version,
				      .flags = nlh->nlmsg_flags, .from = from,
				      .uid = from_kuid(&init_user_ns, current_uid()),
				      .pid = task_tgid_nr(current),
				      .attrs = genlmsg_data(hdr), .len = genlmsg_len(hdr) };
}

static bool sender_is_admin(struct sk_buff *skb)
{
	return netlink_ns_capable(skb, sock_net(skb->sk)->user_ns, CAP_NET_ADMIN);
}

/*
 * Returns the instance of the namespace. Creates it only if the caller has the right to change the
 * namespace.
 */
static int instance(struct sk_buff *skb, struct lnet_netns **ns, struct lnet_ctl_err *e)
{
	struct net *net = sock_net(skb->sk);
	int rc = sender_is_admin(skb) ? lnet_netns_up(net, ns) : lnet_netns_found(net, ns);

	if (!rc)
		return 0;
	if (rc == -ENETDOWN)
		return lnet_ctl_fail(e, rc, "LNet stack down");
	return lnet_ctl_fail(e, rc,
			     rc == -ESHUTDOWN ? "this network namespace is ending"
					      : "cannot create a node in this network "
						"namespace");
}

/* ---- changes --------------------------------------------------------------------------------- */

static int netlink_execute(struct sk_buff *skb, const struct lnet_ctl_req *req,
			   struct lnet_ctl_err *e)
{
	struct lnet_netns *ns;
	int rc;

	if (lnet_control_changes(req->cmd, req->flags) && !sender_is_admin(skb))
		return lnet_ctl_fail(e, -EPERM, "CAP_NET_ADMIN is needed to change this node");
	if (req->flags & LNET_NL_F_CREATE &&
	    (req->cmd == LNET_NL_CONFIGURE || req->cmd == LNET_NL_NETS))
		lnet_driver_want(LNET_LND_TCP);
	rc = instance(skb, &ns, e);
	return rc ? rc : lnet_netns_act(ns, req, e);
}

/* ---- dump ------------------------------------------------------------------------------------ */

/* Sends the error as on_do() does, because no dump has started. Frees @job. */
static int dump_reject(struct netlink_callback *cb, struct job *job, int rc)
{
	struct netlink_ext_ack ack = { ._msg = job->e.text };

	netlink_ack(cb->skb, (struct nlmsghdr *)cb->nlh, rc, job->e.text[0] ? &ack : NULL);
	kfree(job);
	return -EINTR;
}

/*
 * Returns the size of a piece of a dump. The receive buffer of the client may be small, and a
 * message takes at least twice its size of this buffer.
 */
static u32 piece_size(const struct netlink_callback *cb)
{
	return clamp(READ_ONCE(NETLINK_CB(cb->skb).sk->sk_rcvbuf) / 4, DUMP_SIZE_MIN, DUMP_SIZE);
}

static int on_start(struct netlink_callback *cb)
{
	struct lnet_ctl_req req = nlmsg_to_req(cb->nlh, NETLINK_CB(cb->skb).portid);
	struct job *job = kzalloc(sizeof(*job), GFP_KERNEL);
	int rc;

	if (!job)
		return -ENOMEM;
	if (lnet_control_is_for_owner(req.cmd, req.flags) && !sender_is_admin(cb->skb))
		return dump_reject(cb, job,
				   lnet_ctl_fail(&job->e, -EPERM,
						 "CAP_NET_ADMIN is needed to ping, discover or "
						 "explain at this node"));
	rc = instance(cb->skb, &job->ns, &job->e);
	if (!rc)
		rc = lnet_control_dump_start(&job->ns->ctl, &req, &job->dump, &job->e);
	if (rc)
		return dump_reject(cb, job, rc);
	job->cmd = req.cmd;
	cb->args[0] = (long)job;
	job->size = piece_size(cb);
	cb->min_dump_alloc = (u16)job->size;
	return 0;
}

static int nl_dump_done(struct netlink_callback *cb)
{
	struct job *job = (struct job *)cb->args[0];

	lnet_control_dump_end(&job->dump);
	kfree(job);
	return 0;
}

static void dump_writer_init(const struct job *job, struct sk_buff *skb,
			     const struct netlink_callback *cb, struct lnet_nlw *w)
{
	lnet_nlw_init(w, skb_tail_pointer(skb), min_t(u32, skb_tailroom(skb), job->size),
		      lnet_family.id, job->cmd, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq);
}

/*
 * The first call of on_dump() runs within the request, under a lock of all families, and must not
 * wait. So the first call sends a comment, and the next call waits. An empty datagram is not
 * possible, because stock's tool treats a datagram without a value as the end of the document.
 */
static int answer_later(struct job *job, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct lnet_nlw w;

	dump_writer_init(job, skb, cb, &w);
	lnet_control_dump_comment(&job->dump, &w);
	skb_put(skb, w.b.len);
	return skb->len;
}

static int dump_fill(struct job *job, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct lnet_nlw w;
	int rc;

	dump_writer_init(job, skb, cb, &w);
	rc = lnet_control_dump_piece(&job->dump, &w, &job->e);
	skb_put(skb, w.b.len);
	return rc;
}

static int dump_next(struct job *job, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct lnet_netns *ns = job->ns;
	int rc, seen;

	for (;;) {
		seen = atomic_read(&ns->wakes);
		rc = dump_fill(job, skb, cb);
		if (rc != -EINPROGRESS || skb->len)
			return rc;
		if (!job->called)
			return answer_later(job, skb, cb);
		if (wait_event_interruptible(ns->wait, atomic_read(&ns->wakes) != seen))
			return -EINTR;
	}
}

/* First sends a datagram with data. The next call has no data and returns the result. */
static int on_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct job *job = (struct job *)cb->args[0];
	int rc;

	if (!job->finished) {
		rc = dump_next(job, skb, cb);
		job->called = true;
		if (rc <= 0 && rc != -EINPROGRESS) {
			job->finished = true;
			job->err = rc;
		}
		if (skb->len)
			return skb->len;
	}
	if (job->e.text[0] && cb->extack)
		cb->extack->_msg = job->e.text;
	return job->err;
}

/* ---- a change that is answered as a dump is -------------------------------------------------- */

/*
 * This function runs under a lock of all families, so it does not wait for other nodes; the
 * reader's later calls wait. The end of the dump contains the result. No acknowledgement follows
 * the dump, because the receive buffer of stock's tool may have no space for it.
 */
static int dump_start(struct sk_buff *skb)
{
	struct netlink_dump_control control = {
		.start = on_start,
		.dump = on_dump,
		.done = nl_dump_done,
	};

	return netlink_dump_start(skb->sk, skb, nlmsg_hdr(skb), &control);
}

/* ---- do -------------------------------------------------------------------------------------- */

/*
 * The text of an error is on the stack, so this function sends the error itself. The return value
 * -EINTR prevents netlink from sending a second error.
 */
static int on_do(struct sk_buff *skb, struct genl_info *info)
{
	struct lnet_ctl_req req = nlmsg_to_req(info->nlhdr, info->snd_portid);
	struct lnet_ctl_err e = { "" };
	struct netlink_ext_ack ack = { ._msg = e.text };
	int rc;

	if (lnet_control_tells(req.cmd, req.flags) && sender_is_admin(skb))
		return dump_start(skb);
	rc = netlink_execute(skb, &req, &e);
	if (!rc)
		return 0;
	netlink_ack(skb, nlmsg_hdr(skb), rc, e.text[0] ? &ack : NULL);
	return -EINTR;
}

/* ---- the family ------------------------------------------------------------------------------ */

#define DO	.doit = on_do
#define DUMP	.start = on_start, .dumpit = on_dump, .done = nl_dump_done
#define OP(name, ...) { .cmd = LNET_NL_##name,						\
			.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,	\
			__VA_ARGS__ }

/*
 * DO: the command accepts requests for a change. DUMP: the command accepts requests for a dump. If
 * the command does not support an accepted request, lnet/control/dispatch.c rejects the request
 * with a text.
 */
static const struct genl_ops operations[] = {
	OP(CONFIGURE, DO), OP(NETS, DO, DUMP), OP(PEERS, DO, DUMP), OP(ROUTES, DO, DUMP),
	OP(PING, DO, DUMP), OP(CPT_OF_NID, DUMP), OP(PEER_DIST, DUMP), OP(PEER_FAIL, DO),
	OP(UDSP, DO, DUMP), OP(DBG_RECOV, DUMP), OP(FAULT, DO, DUMP), OP(ROUTING, DO, DUMP),
	OP(BUFFERS, DO), OP(NUMA, DO), OP(STATS, DUMP), OP(TUNABLES, DO, DUMP),
	OP(STATS_RESET, DO), OP(NODE, DUMP), OP(TRANSACTION, DO), OP(EXPLAIN, DUMP),
	OP(RULES, DO, DUMP),
	OP(RECORD, DO, DUMP), OP(LIMITS, DUMP),
};

/*
 * The multicast groups of the family. The node sends no message to them. But stock LNet's tool
 * needs the group whose name is the top key of a document.
 */
static const struct genl_multicast_group groups[] = {
	{ .name = "ip2net" }, { .name = "net" }, { .name = "peer" }, { .name = "route" },
	{ .name = "ping" }, { .name = "discover" }, { .name = "cpt-of-nid" },
	{ .name = "dbg-recov" }, { .name = "fault" }, { .name = "routing" }, { .name = "buffers" },
	{ .name = "numa" }, { .name = "stats" },
};

static struct genl_family lnet_family __ro_after_init = {
	.name = LNET_NL_FAMILY,
	.version = LNET_NL_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = operations,
	.n_ops = ARRAY_SIZE(operations),
	/*
	 * The kernel checks flags of the commands from this number on. No command has such a
	 * number, so requests may set any flags, as in stock LNet.
	 */
	.resv_start_op = U8_MAX,
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int __init lnet_netlink_init(void)
{
	return genl_register_family(&lnet_family);
}

void lnet_netlink_fini(void)
{
	genl_unregister_family(&lnet_family);
}
