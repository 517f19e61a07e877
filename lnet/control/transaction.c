/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Transactions: stores requests of one sender, and executes them together or not at all. Nothing
 * changes until the commit, so the node need not detect that a sender has died. The next begin
 * discards the stored requests; so does a minute without a request. If a request fails during the
 * commit, the node restores the previous configuration.
 */
#include "control/command.h"
#include "shard/shard.h"

#define IDLE_S 60		/* seconds without a request after which a transaction expires */
/* maximum bytes of requests in a transaction: enough for over 100,000 peers */
#define BYTES_MAX (16u << 20)

struct staged {
	struct list_head link;
	u8 cmd, version;
	u16 flags;
	size_t len;
	u8 attrs[];
};

struct lnet_ctl_trans {
	struct list_head staged;
	size_t bytes;
	u64 heard_ns;		/* time at which the sender last added a request */
	u32 from;
	bool alone;		/* the commit fails if ctl->changes is not @changes any more */
	u32 changes;
};

void lnet_ctl_trans_drop(struct lnet_control *ctl)
{
	struct lnet_ctl_trans *t = ctl->trans;
	struct staged *s, *next;

	if (!t)
		return;
	ctl->trans = NULL;
	list_for_each_entry_safe(s, next, &t->staged, link)
		kvfree(s);
	kfree(t);
}

static u64 ctl_now_ns(const struct lnet_control *ctl)
{
	return ctl->ln->env->ops->now_ns(ctl->ln->env);
}

void lnet_control_expire(struct lnet_control *ctl)
{
	if (ctl->trans && ctl_now_ns(ctl) - ctl->trans->heard_ns >= IDLE_S * (u64)NSEC_PER_SEC)
		lnet_ctl_trans_drop(ctl);
}

size_t lnet_ctl_trans_size(const struct lnet_control *ctl)
{
	return ctl->trans ? ctl->trans->bytes : 0;
}

static int check_sender(const struct lnet_control *ctl, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	if (ctl->trans && ctl->trans->from == req->from)
		return 0;
	return lnet_ctl_fail(e, -ESTALE,
			     "the transaction has ended: another client began one, or the node "
			     "received no request of it for %u s",
			     IDLE_S);
}

int lnet_ctl_trans_stage(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e)
{
	struct lnet_ctl_trans *t = ctl->trans;
	size_t size = sizeof(struct staged) + req->len;
	int rc = check_sender(ctl, req, e);
	struct staged *s;

	if (rc)
		return rc;
	if (size > BYTES_MAX - t->bytes)
		return lnet_ctl_fail(
			e, -E2BIG,
			"the requests of a transaction are larger than allowed (%u bytes)",
			BYTES_MAX);
	s = kvmalloc(size, GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	s->cmd = req->cmd;
	s->version = req->version;
	s->flags = req->flags & ~LNET_NL_F_STAGED;
	s->len = req->len;
	if (req->len)
		memcpy(s->attrs, req->attrs, req->len);
	list_add_tail(&s->link, &t->staged);
	t->bytes += size;
	t->heard_ns = ctl_now_ns(ctl);
	return 0;
}

static int transaction_begin(struct lnet_control *ctl, const struct lnet_ctl_req *req)
{
	struct lnet_ctl_trans *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return -ENOMEM;
	lnet_ctl_trans_drop(ctl);
	INIT_LIST_HEAD(&t->staged);
	t->from = req->from;
	t->alone = req->flags & LNET_NL_F_EXCL;
	t->changes = ctl->changes;
	t->heard_ns = ctl_now_ns(ctl);
	ctl->trans = t;
	return 0;
}

/* Executes the stored requests. *@nr: the number of requests that were executed. */
static int transaction_execute(struct lnet_control *ctl, const struct lnet_ctl_trans *t,
			       unsigned int *nr, struct lnet_ctl_err *e)
{
	struct lnet_ctl_err why;
	const struct staged *s;
	int rc = 0;

	list_for_each_entry(s, &t->staged, link) {
		struct lnet_ctl_req req = { .cmd = s->cmd, .version = s->version,
					    .flags = s->flags, .from = t->from,
					    .attrs = s->attrs, .len = s->len, .restores = true };

		rc = lnet_ctl_carry_out(ctl, &req, e);
		if (rc) {
			why = *e;	/* the error text begins with the number of the request */
			scnprintf(e->text, sizeof(e->text), "request %u: %s", *nr,
				  why.text[0] ? why.text : lnet_ctl_why(rc));
			break;
		}
		++*nr;
	}
	return rc;
}

static int transaction_commit(struct lnet_control *ctl, const struct lnet_ctl_trans *t,
			      struct lnet_ctl_err *e)
{
	struct lnet_ctl_conf *before;
	unsigned int nr = 0;
	int rc, bad;

	if (t->alone && t->changes != ctl->changes)
		return lnet_ctl_fail(e, -ESTALE, "another client has changed the configuration");
	rc = lnet_ctl_conf_read(ctl, &before);
	if (rc)
		return lnet_ctl_fail(e, rc, "nothing was changed: %s", lnet_ctl_why(rc));
	rc = transaction_execute(ctl, t, &nr, e);
	ctl->changes++;
	bad = rc ? lnet_ctl_conf_restore(ctl, before) : 0;
	if (rc)
		lnet_log_undone(ctl->ln, e->text);
	else
		lnet_log_committed(ctl->ln, nr);
	if (bad)
		pr_err("lnet: a transaction failed (%s) and could not be undone: error %d\n",
		       e->text, bad);
	lnet_ctl_conf_free(before);
	return rc;
}

static int trans_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	int rc;

	if (req->flags & LNET_NL_F_CREATE)
		return transaction_begin(ctl, req);
	rc = check_sender(ctl, req, e);
	if (rc)
		return rc;
	if (req->flags & LNET_NL_F_REPLACE)
		rc = transaction_commit(ctl, ctl->trans, e);
	lnet_ctl_trans_drop(ctl);
	return rc;
}

const struct lnet_ctl_cmd lnet_cmd_transaction = {
	.cmd = LNET_NL_TRANSACTION, .down = true, .act = trans_act,
};
