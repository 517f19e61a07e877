/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The generic netlink family of stock's lst. It creates, shows and ends sessions, and shows groups.
 * The netlink port of the caller becomes the key of the session. The version number in the request
 * becomes the features of the session.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>
#include "../stock.h"
#include "kernel.h"

#define REPLY_SIZE	2048U
#define DUMP_MIN	2048U
#define DUMP_MAX	65535U

static bool sender_may_change(const struct sk_buff *skb)
{
	return netlink_ns_capable(skb, sock_net(skb->sk)->user_ns, CAP_NET_ADMIN);
}

static struct lnet_nlbuf reply_writer_make(const struct nlmsghdr *nlh, u32 portid, u8 *buf,
					   u32 size)
{
	const struct genlmsghdr *hdr = nlmsg_data(nlh);

	return (struct lnet_nlbuf){ .buf = buf, .size = size, .type = nlh->nlmsg_type,
				      .seq = nlh->nlmsg_seq, .portid = portid, .cmd = hdr->cmd,
				      .version = LNET_LST_FAMILY_VERSION };
}

/* Runs the command in @s, and takes over the memory of its words. */
static struct lst_asked *stock_command_run(struct sk_buff *skb, struct lst_stock *s)
{
	struct lst_asked *q;

	if (s->rc) {
		lst_stock_end(s);
		return ERR_PTR(s->rc);
	}
	q = lst_ask_wait(sock_net(skb->sk), s->words, s->used);
	s->words = NULL;
	return q;
}

static struct lst_asked *session_ask(struct sk_buff *skb)
{
	struct lst_stock s = { .rc = 0 };

	lst_stock_verb(&s, "show_session");
	return stock_command_run(skb, &s);
}

/* ---- a session is made or ended -------------------------------------------------------------- */

static int session_reply(struct genl_info *info, const struct lst_view_session *session)
{
	struct sk_buff *skb = nlmsg_new(REPLY_SIZE, GFP_KERNEL);
	struct lnet_nlbuf w;

	if (!skb)
		return -ENOMEM;
	w = reply_writer_make(info->nlhdr, info->snd_portid, skb_tail_pointer(skb),
			      skb_tailroom(skb));
	w.version = (u8)session->feats;
	lst_stock_nl_session(&w, session);
	lst_stock_nl_done(&w);
	skb_put(skb, w.len);
	return genlmsg_reply(skb, info);
}

static int session_new(struct sk_buff *skb, struct genl_info *info)
{
	struct lst_stock s = { .rc = 0 };
	struct lst_stock_new req;
	struct lst_asked *q;
	int rc = lst_stock_nl_new(&req, genlmsg_data(info->genlhdr), genlmsg_len(info->genlhdr));

	if (rc)
		return rc;
	lst_stock_verb(&s, "new_session");
	lst_stock_word(&s, "name", "%s", req.name);
	lst_stock_word(&s, "key", "%u", info->snd_portid);
	lst_stock_word(&s, "feats", "%u", info->genlhdr->version);
	lst_stock_word(&s, "force", "%d", !!(info->nlhdr->nlmsg_flags & NLM_F_REPLACE));
	if (req.timeout)
		lst_stock_word(&s, "timeout", "%lld", req.timeout);
	q = stock_command_run(skb, &s);
	if (IS_ERR(q))
		return PTR_ERR(q);
	rc = session_reply(info, &q->memory.session);
	lst_asked_put(q);
	return rc;
}

static int session_end(struct sk_buff *skb, struct genl_info *info)
{
	struct lst_stock s = { .rc = 0 };
	struct lst_asked *q;

	lst_stock_verb(&s, "end_session");
	lst_stock_word(&s, "key", "%u", info->snd_portid);
	q = stock_command_run(skb, &s);
	if (IS_ERR(q))
		return PTR_ERR(q);
	lst_asked_put(q);
	return 0;
}

static int on_session(struct sk_buff *skb, struct genl_info *info)
{
	if (!sender_may_change(skb))
		return -EPERM;
	return info->nlhdr->nlmsg_flags & NLM_F_CREATE ? session_new(skb, info) :
							  session_end(skb, info);
}

/* ---- dumps ----------------------------------------------------------------------------------- */

/* At cb->args[0]. */
struct dump {
	struct lst_asked *q;
	struct lst_stock_filter *filter;	/* NULL: only names */
	/* next, at: where to continue; begun: the table was sent */
	u32 nr_filters, next;
	u32 at;
	bool begun;
};

static int on_dump_done(struct netlink_callback *cb)
{
	struct dump *d = (struct dump *)cb->args[0];

	if (!d)
		return 0;
	lst_asked_put(d->q);
	kfree(d->filter);
	kfree(d);
	cb->args[0] = 0;
	return 0;
}

static int dump_begin(struct netlink_callback *cb, struct lst_asked *q, struct dump **dp)
{
	struct dump *d = IS_ERR(q) ? NULL : kzalloc(sizeof(*d), GFP_KERNEL);

	if (!d) {
		if (IS_ERR(q))
			return PTR_ERR(q);
		lst_asked_put(q);
		return -ENOMEM;
	}
	d->q = q;
	cb->args[0] = (long)d;
	/*
	 * Each group is sent as one message. Its nodes need about as many bytes in the message as
	 * in memory.
	 */
	cb->min_dump_alloc = clamp_t(u32, 2 * q->cmd.used, DUMP_MIN, DUMP_MAX);
	*dp = d;
	return 0;
}

static int on_sessions_start(struct netlink_callback *cb)
{
	struct dump *d;
	int rc = dump_begin(cb, session_ask(cb->skb), &d);

	if (rc == -ESRCH)
		NL_SET_ERR_MSG(cb->extack, "session is not active");
	return rc;
}

static int on_sessions(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump *d = (struct dump *)cb->args[0];
	struct lnet_nlbuf w;

	if (d->begun)
		return 0;
	d->begun = true;
	w = reply_writer_make(cb->nlh, NETLINK_CB(cb->skb).portid, skb_tail_pointer(skb),
			      skb_tailroom(skb));
	w.version = (u8)d->q->memory.session.feats;
	lst_stock_nl_session(&w, &d->q->memory.session);
	if (w.full)
		return -EMSGSIZE;
	skb_put(skb, w.len);
	return skb->len;
}

/* Shows the groups of the current session to any caller. */
static struct lst_asked *groups_ask(struct sk_buff *skb, const struct lst_stock_filter *filter,
				    u32 nr)
{
	struct lst_asked *session = session_ask(skb);
	struct lst_stock s = { .rc = 0 };
	u32 i;

	if (IS_ERR(session))
		return session;
	lst_stock_verb(&s, "stock_groups");
	lst_stock_word(&s, "key", "%u", session->memory.session.key);
	for (i = 0; i < nr; i++)
		lst_stock_word(&s, "name", "%s", filter[i].name);
	lst_asked_put(session);
	return stock_command_run(skb, &s);
}

static int on_groups_start(struct netlink_callback *cb)
{
	const struct genlmsghdr *hdr = nlmsg_data(cb->nlh);
	struct lst_stock_filter *filter = kcalloc(LST_STOCK_FILTERS_MAX, sizeof(*filter),
						  GFP_KERNEL);
	int nr, rc;
	struct dump *d;

	if (!filter)
		return -ENOMEM;
	nr = lst_stock_nl_groups(filter, genlmsg_data(hdr), genlmsg_len(hdr));
	rc = nr < 0 ? nr : dump_begin(cb, groups_ask(cb->skb, filter, (u32)nr), &d);
	if (!rc && !d->q->cmd.used) {
		rc = -ENOENT;
		on_dump_done(cb);
	}
	if (rc || !nr)
		kfree(filter);
	/* stock reports -ESRCH as well as -ENOENT as "no groups" */
	if (rc == -ESRCH || rc == -ENOENT) {
		NL_SET_ERR_MSG(cb->extack, "No groups found");
		rc = -ENOENT;
	}
	if (rc)
		return rc;
	d->filter = nr ? filter : NULL;
	d->nr_filters = (u32)nr;
	return 0;
}

/* Writes one group. False: the message has not enough space, and is unchanged. */
static bool group_write(struct lnet_nlbuf *w, struct dump *d, const struct lst_view_group *view)
{
	u32 before = w->len;

	if (!d->begun)
		lst_stock_nl_group_table(w);
	lst_stock_nl_group(w, view, d->filter ? (const void *)(view + 1) : NULL,
			   d->filter ? d->filter[d->next].states : 0, !d->begun);
	if (w->full)
		w->len = before;
	return !w->full;
}

static int on_groups(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct dump *d = (struct dump *)cb->args[0];
	const struct lst_view_group *view;
	struct lnet_nlbuf w;

	w = reply_writer_make(cb->nlh, NETLINK_CB(cb->skb).portid, skb_tail_pointer(skb),
			      skb_tailroom(skb));
	while (d->at < d->q->cmd.used) {
		view = (const void *)(d->q->cmd.answer + d->at);
		if (!group_write(&w, d, view))
			break;
		d->begun = true;
		d->next++;
		d->at += (u32)(sizeof(*view) + view->nr * sizeof(struct lst_view_node));
	}
	skb_put(skb, w.len);
	return w.len ? skb->len : w.full ? -EMSGSIZE : 0;
}

/* ---- the family ------------------------------------------------------------------------------ */

#define UNCHECKED	(GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP)

static const struct genl_ops operations[] = {
	{ .cmd = LNET_LST_CMD_SESSIONS, .validate = UNCHECKED, .doit = on_session,
	  .start = on_sessions_start, .dumpit = on_sessions, .done = on_dump_done },
	{ .cmd = LNET_LST_CMD_GROUPS, .validate = UNCHECKED, .start = on_groups_start,
	  .dumpit = on_groups, .done = on_dump_done },
};

/*
 * Multicast groups to which no messages are sent. Stock's tool sends YAML documents. For the top
 * key of a document, the tool searches for a multicast group with this name.
 */
static const struct genl_multicast_group groups[] = {
	{ .name = "sessions" }, { .name = "groups" },
};

static struct genl_family family __ro_after_init = {
	.name = LNET_LST_FAMILY,
	.version = LNET_LST_FAMILY_VERSION,
	.netnsok = true,
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = operations,
	.n_ops = ARRAY_SIZE(operations),
	.resv_start_op = U8_MAX,	/* requests use flags freely */
	.mcgrps = groups,
	.n_mcgrps = ARRAY_SIZE(groups),
};

int lst_stock_netlink_open(void)
{
	return genl_register_family(&family);
}

void lst_stock_netlink_close(void)
{
	genl_unregister_family(&family);
}
