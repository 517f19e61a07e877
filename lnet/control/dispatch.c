/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Management of a node: checks each request, and calls the function of its command. */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"

static const struct lnet_ctl_cmd *const commands[] = {
	&lnet_cmd_configure, &lnet_cmd_nets, &lnet_cmd_peers, &lnet_cmd_routes, &lnet_cmd_ping,
	&lnet_cmd_cpt_of_nid, &lnet_cmd_udsp, &lnet_cmd_recovery, &lnet_cmd_fault,
	&lnet_cmd_peer_dist, &lnet_cmd_peer_fail, &lnet_cmd_routing, &lnet_cmd_buffers,
	&lnet_cmd_numa, &lnet_cmd_stats, &lnet_cmd_stats_reset, &lnet_cmd_tunables,
	&lnet_cmd_explain, &lnet_cmd_rules, &lnet_cmd_record, &lnet_cmd_limits, &lnet_cmd_node,
	&lnet_cmd_transaction,
};

static bool cmd_is_dump(u16 flags)
{
	return (flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP;
}

bool lnet_control_changes(u8 cmd, u16 flags)
{
	return !cmd_is_dump(flags);
}

bool lnet_control_is_for_owner(u8 cmd, u16 flags)
{
	return lnet_control_changes(cmd, flags) || cmd == LNET_NL_PING || cmd == LNET_NL_EXPLAIN;
}

/*
 * One quarter of questions_max is reserved for root. Another quarter is reserved for root and the
 * owner of the node.
 */
int lnet_control_may_ask(struct lnet_control *ctl, const struct lnet_ctl_questions *q,
			 struct lnet_ctl_err *e)
{
	const struct lnet_tunables *tun = &ctl->ln->tun;
	u64 most = READ_ONCE(tun->questions_max);

	if (q->nr < most && q->nr_client < READ_ONCE(tun->questions_per_client) &&
	    (q->root || q->nr < most - most / 4) &&
	    (q->owner || (q->nr_user < READ_ONCE(tun->questions_per_user) &&
			  q->nr_others < most / 2)))
		return 0;
	lnet_stat_count(ctl->ln, LNET_C_questions_denied);
	return lnet_ctl_fail(e, -EBUSY,
			     "too many questions at once: try again later (see questions_max)");
}

static bool is_commit(const struct lnet_ctl_req *req)
{
	return req->cmd == LNET_NL_TRANSACTION && req->flags & LNET_NL_F_REPLACE;
}

bool lnet_control_configures(const struct lnet_ctl_req *req)
{
	if (req->cmd == LNET_NL_TRANSACTION)
		return is_commit(req);
	return !(req->flags & LNET_NL_F_STAGED) && req->cmd != LNET_NL_FAULT &&
	       req->cmd != LNET_NL_RULES && req->cmd != LNET_NL_PEER_FAIL &&
	       req->cmd != LNET_NL_STATS_RESET &&
	       req->cmd != LNET_NL_RECORD;
}

size_t lnet_control_size(const struct lnet_control *ctl, const struct lnet_ctl_req *req)
{
	return is_commit(req) ? lnet_ctl_trans_size(ctl) : req->len;
}

static const struct lnet_ctl_cmd *ctl_command_find(u8 cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i]->cmd == cmd)
			return commands[i];
	return NULL;
}

bool lnet_control_tells(u8 cmd, u16 flags)
{
	const struct lnet_ctl_cmd *c = ctl_command_find(cmd);

	return c && !cmd_is_dump(flags) && !(flags & LNET_NL_F_STAGED) && flags & c->tells;
}

/*
 * Makes the checks that all requests need: the command is known, the attributes are complete, and
 * the node is configured.
 */
static int request_check(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 const struct lnet_ctl_cmd *c, bool dump, struct lnet_ctl_err *e)
{
	bool told = cmd_is_dump(req->flags) || lnet_control_tells(req->cmd, req->flags);

	e->text[0] = 0;
	if (!c || told != dump || (dump ? !c->next : !c->act))
		return lnet_ctl_fail(e, -EOPNOTSUPP, "this node does not support the command");
	if (lnet_req_check(req->attrs, req->len))
		return lnet_ctl_fail(e, -EINVAL, "the request is malformed");
	/* stock LNet has a separate errno for net add */
	if (!READ_ONCE(ctl->configured) && !c->down)
		return lnet_ctl_fail(e,
				     req->cmd == LNET_NL_NETS && !cmd_is_dump(req->flags) &&
						     req->flags & LNET_NL_F_CREATE
					     ? -ESHUTDOWN
					     : -ENETDOWN,
				     "LNet stack down");
	return 0;
}

static int stage(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		 const struct lnet_ctl_cmd *c, struct lnet_ctl_err *e)
{
	u16 replace = req->flags & LNET_NL_F_REPLACE;
	int rc;

	if (!c->stages || (req->cmd == LNET_NL_TUNABLES ? !replace :
							 replace && req->cmd != LNET_NL_NETS))
		return lnet_ctl_fail(e, -EOPNOTSUPP,
				     "this request cannot be part of a transaction");
	rc = c->act(ctl, req, e);
	return rc ? rc : lnet_ctl_trans_stage(ctl, req, e);
}

static int command_act(struct lnet_control *ctl, const struct lnet_ctl_cmd *c,
		     const struct lnet_ctl_req *req, struct lnet_ctl_err *e)
{
	int rc = c->act(ctl, req, e);

	if (!rc)
		lnet_ctl_log_change(ctl, req);
	return rc;
}

int lnet_control_do(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		    struct lnet_ctl_err *e)
{
	const struct lnet_ctl_cmd *c = ctl_command_find(req->cmd);
	int rc = request_check(ctl, req, c, false, e);

	if (rc)
		return rc;
	if (req->flags & LNET_NL_F_STAGED)
		return stage(ctl, req, c, e);
	lnet_ctl_log_by(ctl, req);
	rc = command_act(ctl, c, req, e);
	lnet_ctl_log_by(ctl, NULL);
	ctl->changes += !rc && req->cmd != LNET_NL_TRANSACTION && req->cmd != LNET_NL_RECORD;
	return rc;
}

int lnet_ctl_carry_out(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	const struct lnet_ctl_cmd *c = ctl_command_find(req->cmd);
	int rc = request_check(ctl, req, c, false, e);

	return rc ? rc : command_act(ctl, c, req, e);
}

void lnet_control_fini(struct lnet_control *ctl)
{
	lnet_ctl_trans_drop(ctl);
	lnet_ctl_wait_del(ctl, NULL);
}

int lnet_control_dump_start(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			    struct lnet_ctl_dump *d, struct lnet_ctl_err *e)
{
	const struct lnet_ctl_cmd *c = ctl_command_find(req->cmd);
	int rc = request_check(ctl, req, c, true, e);

	if (rc)
		return rc;
	memset(d, 0, sizeof(*d));
	d->ctl = ctl;
	d->ops = c;
	d->level = req->version;
	d->backup = req->flags & LNET_NL_F_FILTERED;
	rc = c->start ? c->start(d, req, e) : 0;
	if (rc)
		lnet_control_dump_end(d);
	return rc;
}

int lnet_control_dump_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	e->text[0] = 0;
	s->more = d->level >= LNET_LEVEL_MORE;
	return d->ops->next(d, s, e);
}

/*
 * Moves key tables at the end of @w to the next piece. That piece also has the first value for
 * them.
 */
static int tables_hold(struct lnet_ctl_dump *d, struct lnet_nlw *w)
{
	u32 len = w->b.len - w->tables_at;

	if (len) {
		d->held = kmemdup(w->b.buf + w->tables_at, len, GFP_KERNEL);
		if (!d->held)
			return -ENOMEM;
		d->held_len = len;
		w->b.len = w->tables_at;
	}
	return 0;
}

int lnet_control_dump_piece(struct lnet_ctl_dump *d, struct lnet_nlw *w, struct lnet_ctl_err *e)
{
	bool fits = !d->held || lnet_nlw_put(w, d->held, d->held_len);
	int rc;

	w->replaces = d->commented;
	kfree(d->held);
	d->held = NULL;
	if (!fits)
		return lnet_ctl_fail(e, -EMSGSIZE,
				     "an item of the reply is too long for a message");
	rc = lnet_control_dump_next(d, &w->sink, e);
	if (rc == 1 && !w->b.len)
		return lnet_ctl_fail(e, -EMSGSIZE,
				     "an item of the reply is too long for a message");
	if (rc == 1 && !w->tables_at)
		return 1;	/* no value fits behind the key tables, so they are sent alone */
	if (rc == 1 && tables_hold(d, w))
		return -ENOMEM;
	w->b.len = w->tables_at;
	return rc;
}

void lnet_control_dump_comment(struct lnet_ctl_dump *d, struct lnet_nlw *w)
{
	lnet_nlw_comment(w);
	d->commented = true;
}

void lnet_control_dump_end(struct lnet_ctl_dump *d)
{
	if (d->ops->end)
		d->ops->end(d);
	else
		kvfree(d->priv);
	lnet_peer_put(d->peer);
	kfree(d->held);
	d->held = NULL;
}
