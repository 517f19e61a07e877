/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for fault rules: add, del, reset, show. */
#include "control/command.h"
#include "fault/fault.h"

/* A decoded request about a fault rule. */
struct fault_req {
	u32 op;				/* LNET_NL_DROP_ADD ... */
	u32 id;				/* 0: none was given */
	u32 interval_s;
	u64 latency_s, latency_ms;
	struct lnet_rule rule;
};

#define FAULT_NUM(key, member, max)								\
	LNET_FIELD_RANGE(key, struct fault_req, member, 0, max, .stock = true)

static const struct lnet_field op_fields[] = {
	LNET_FIELD_RANGE("rule_type", struct fault_req, op, 0, LNET_NL_DELAY_LIST, .stock = true,
			 .need = true),
	{ NULL }
};
static const struct lnet_field nid_fields[] = {
	LNET_FIELD(NIDS, "fa_src", struct fault_req, rule.src),
	LNET_FIELD(NIDS, "fa_dst", struct fault_req, rule.dst),
	LNET_FIELD(NIDS, "fa_local_nid", struct fault_req, rule.local),
	{ NULL }
};
static const struct lnet_field id_fields[] = { FAULT_NUM("id", id, U32_MAX), { NULL } };
static const struct lnet_field rule_fields[] = {
	LNET_FIELD_RANGE("fa_ptl_mask", struct fault_req, rule.portals, S64_MIN, S64_MAX,
			 .text = "a number"),
	FAULT_NUM("fa_msg_mask", rule.types, 15),
	{ NULL }
};
static const struct lnet_field delay_fields[] = {
	FAULT_NUM("la_rate", rule.rate, U32_MAX),
	FAULT_NUM("la_interval", interval_s, U32_MAX),
	FAULT_NUM("la_latency", latency_s, 86400),
	FAULT_NUM("la_latency_ms", latency_ms, 86400000),
	{ NULL }
};
static const struct lnet_field drop_fields[] = {
	FAULT_NUM("da_rate", rule.rate, U32_MAX),
	FAULT_NUM("da_interval", interval_s, U32_MAX),
	FAULT_NUM("da_health_error_mask", rule.outcomes, U32_MAX),
	FAULT_NUM("da_random", rule.random, 1),
	FAULT_NUM("da_drop_all", rule.drop_all, 1),
	FAULT_NUM("da_when", rule.when, 2),
	{ NULL }
};

/* Reads the operation of the request, and makes r->rule an empty rule of its kind. */
static int op_of(const struct lnet_ctl_req *req, struct fault_req *r, struct lnet_ctl_err *e)
{
	int rc;

	*r = (struct fault_req){ .op = 0 };
	rc = lnet_ctl_read(lnet_ctl_attrs(req), op_fields, r, e);
	lnet_rule_init(&r->rule, r->op >= LNET_NL_DELAY_ADD ? LNET_RULE_K_STOCK_DELAY :
							     LNET_RULE_K_STOCK_DROP);
	return rc;
}

static int fault_rule_read(struct lnet_req all, struct fault_req *r, struct lnet_ctl_err *e)
{
	bool delay = r->rule.kind == LNET_RULE_K_STOCK_DELAY;
	int rc = lnet_ctl_read(all, nid_fields, r, e);

	BUILD_BUG_ON(sizeof(e->text) < LNET_RULE_ERR);
	rc = rc ? rc : lnet_ctl_read(all, rule_fields, r, e);
	rc = rc ? rc : lnet_ctl_read(all, delay ? delay_fields : drop_fields, r, e);
	r->rule.interval_ns = r->interval_s * (u64)NSEC_PER_SEC;
	r->rule.delay_ns = r->latency_ms ? r->latency_ms * NSEC_PER_MSEC :
					   r->latency_s * NSEC_PER_SEC;
	return rc ? rc : lnet_rule_check(&r->rule, e->text);
}

static int fault_add(struct lnet *ln, const struct lnet_rule *rule, struct lnet_ctl_err *e)
{
	int rc = lnet_rule_add(ln, rule);

	return rc ? lnet_ctl_fail(e, rc, "cannot add the fault rule: %s",
				  rc == -ENOSPC ? "more rules than allowed" : lnet_ctl_why(rc))
		  : 0;
}

static int fault_del(struct lnet *ln, const struct fault_req *r, struct lnet_ctl_err *e)
{
	const struct lnet_rule_which which = { .kind = r->rule.kind, .id = r->id,
					       .src = r->rule.src, .dst = r->rule.dst };

	return lnet_rule_del(ln, &which) ? 0 : lnet_ctl_fail(e, -ENOENT, "no matching rule");
}

static int fault_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	struct lnet_req all = lnet_ctl_attrs(req);
	bool checks = req->flags & LNET_NL_F_STAGED;
	struct fault_req r;
	int rc = op_of(req, &r, e);

	if (rc)
		return rc;
	switch (r.op) {
	case LNET_NL_DROP_ADD:
	case LNET_NL_DELAY_ADD:
		rc = fault_rule_read(all, &r, e);
		return rc || checks ? rc : fault_add(ctl->ln, &r.rule, e);
	case LNET_NL_DROP_DEL:
	case LNET_NL_DELAY_DEL:
		rc = lnet_ctl_read(all, nid_fields, &r, e);
		rc = rc ? rc : lnet_ctl_read(all, id_fields, &r, e);
		return rc || checks ? rc : fault_del(ctl->ln, &r, e);
	case LNET_NL_DROP_RESET:
	case LNET_NL_DELAY_RESET:
		if (checks)
			return lnet_ctl_fail(e, -EINVAL,
					     "this 'rule_type' cannot be part of a transaction");
		lnet_rules_reset(ctl->ln, r.rule.kind);
		return 0;
	}
	return lnet_ctl_fail(e, -EINVAL, "this 'rule_type' only lists rules and changes nothing");
}

/* ---- NIDs that fail -------------------------------------------------------------------------- */

struct fail_req {
	struct lnet_nid nid;
	s32 count;
};

static const struct lnet_field fail_fields[] = {
	LNET_FIELD(NID, "nid", struct fail_req, nid, .need = true),
	LNET_FIELD_RANGE("threshold", struct fail_req, count, -1, S32_MAX, .need = true,
			 .text = "-1 (always) to 2147483647", .range_err = -ERANGE),
	{ NULL }
};

static int peer_fail_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e)
{
	struct lnet_req items, item;
	struct fail_req r;
	int rc;

	if (!lnet_ctl_items(req, &items) || !lnet_req_item(&items, &item))
		return lnet_ctl_fail(e, req->len ? -EINVAL : -ENOMSG, "no NID is given");
	do {
		rc = lnet_ctl_read(item, fail_fields, &r, e);
		if (rc)
			return rc;
		rc = lnet_fault_peer(ctl->ln, &r.nid, r.count);
		if (rc == -ENOSPC)
			return lnet_ctl_fail(e, rc, "more failing NIDs than allowed");
	} while (!rc && lnet_req_item(&items, &item));
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int fault_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	struct fault_req r;
	int rc = op_of(req, &r, e);

	if (rc)
		return rc;
	d->kind = r.rule.kind;
	/*
	 * If no rule exists, returns -ENOENT without a text, because stock LNet's lists report in
	 * this way that they are empty.
	 */
	return lnet_rule_at(d->ctl->ln, d->kind, 0, NULL);
}

/* Keys of the fault table of control.def that only one kind of rule has. */
enum {
	DA_RATE = 7,
	DA_INTERVAL,
	DS_DROPPED,
	LA_RATE,
	LA_INTERVAL,
	LA_LATENCY,
	LS_DELAYED,
	DA_MASK = 20,
	DA_RANDOM,
	DA_DROP_ALL,
	DA_WHEN,
	LA_LATENCY_MS,
	RULE_ID
};

static void emit_drop(struct lnet_sink *s, const struct lnet_rule_live *rule, bool backup)
{
	const struct lnet_rule *r = &rule->r;

	s->ops->num(s, DA_RATE, LNET_NLT_U32, r->rate);
	s->ops->num(s, DA_INTERVAL, LNET_NLT_U32, div_u64(r->interval_ns, NSEC_PER_SEC));
	if (!backup)
		s->ops->num(s, DS_DROPPED, LNET_NLT_U64, rule->info.nr_hit);
	s->ops->num(s, DA_MASK, LNET_NLT_U32, r->outcomes);
	s->ops->num(s, DA_RANDOM, LNET_NLT_U32, r->random);
	s->ops->num(s, DA_DROP_ALL, LNET_NLT_U32, r->drop_all);
	if (r->when)
		s->ops->num(s, DA_WHEN, LNET_NLT_U32, r->when);
}

static void emit_delay(struct lnet_sink *s, const struct lnet_rule_live *rule, bool backup)
{
	const struct lnet_rule *r = &rule->r;
	u64 ms = div_u64(r->delay_ns, NSEC_PER_MSEC);

	s->ops->num(s, LA_RATE, LNET_NLT_U32, r->rate);
	s->ops->num(s, LA_INTERVAL, LNET_NLT_U32, div_u64(r->interval_ns, NSEC_PER_SEC));
	s->ops->num(s, LA_LATENCY, LNET_NLT_U32, div_u64(ms, MSEC_PER_SEC));
	if (!backup)
		s->ops->num(s, LS_DELAYED, LNET_NLT_U64, rule->info.nr_hit);
	if (ms - div_u64(ms, MSEC_PER_SEC) * MSEC_PER_SEC)
		s->ops->num(s, LA_LATENCY_MS, LNET_NLT_U32, ms);
}

static bool fault_rule_emit(struct lnet_ctl_dump *d, struct lnet_sink *s,
			    const struct lnet_rule_live *rule)
{
	const struct lnet_rule *r = &rule->r;
	struct lnet_view_fault v = {
		.portal_mask = r->portals,
		.msg_mask = r->types ? r->types : 15,
		.count = rule->info.nr_match,
		.ack = rule->info.nr_by_type[LNET_MSG_ACK],
		.put = rule->info.nr_by_type[LNET_MSG_PUT],
		.get = rule->info.nr_by_type[LNET_MSG_GET],
		.reply = rule->info.nr_by_type[LNET_MSG_REPLY],
	};

	strscpy(v.rule_type, lnet_rule_kind_name(r->kind), sizeof(v.rule_type));
	lnet_nid_str(&r->src, v.src);
	lnet_nid_str(&r->dst, v.dst);
	lnet_nid_str(&r->local, v.local);
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &lnet_table_fault, &v, 0, d->backup, NULL);
	if (r->kind == LNET_RULE_K_STOCK_DELAY)
		emit_delay(s, rule, d->backup);
	else
		emit_drop(s, rule, d->backup);
	if (s->more)
		s->ops->num(s, RULE_ID, LNET_NLT_U32, rule->info.id);
	return lnet_ctl_item_end(d, s);
}

static int fault_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_rule_live rule;

	for (; !lnet_rule_at(d->ctl->ln, d->kind, d->pos, &rule); d->pos++)
		if (!lnet_ctl_table(d, s, &lnet_table_fault) || !fault_rule_emit(d, s, &rule))
			return 1;
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_fault = {
	.cmd = LNET_NL_FAULT,
	.stages = true,
	.act = fault_act,
	.start = fault_start,
	.next = fault_next,
};

const struct lnet_ctl_cmd lnet_cmd_peer_fail = { .cmd = LNET_NL_PEER_FAIL, .act = peer_fail_act };
