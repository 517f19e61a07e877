/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fault rules: add, del, reset, show. */
#include "control/command.h"
#include "fault/fault.h"

/* What a request may say of a rule. */
struct fault_req {
	u32 op;				/* LNET_NL_DROP_ADD ... */
	u32 id;				/* 0: none was given */
	u64 latency_s, latency_ms;
	struct lnet_fault_rule rule;
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
	LNET_FIELD_RANGE("fa_ptl_mask", struct fault_req, rule.portal_mask, S64_MIN, S64_MAX,
			 .text = "a number"),
	FAULT_NUM("fa_msg_mask", rule.msg_mask, 15),
	{ NULL }
};
static const struct lnet_field delay_fields[] = {
	FAULT_NUM("la_rate", rule.rate, U32_MAX),
	FAULT_NUM("la_interval", rule.interval_s, U32_MAX),
	FAULT_NUM("la_latency", latency_s, 86400),
	FAULT_NUM("la_latency_ms", latency_ms, 86400000),
	{ NULL }
};
static const struct lnet_field drop_fields[] = {
	FAULT_NUM("da_rate", rule.rate, U32_MAX),
	FAULT_NUM("da_interval", rule.interval_s, U32_MAX),
	FAULT_NUM("da_health_error_mask", rule.health_mask, U32_MAX),
	FAULT_NUM("da_random", rule.random, 1),
	FAULT_NUM("da_drop_all", rule.drop_all, 1),
	FAULT_NUM("da_when", rule.when, 2),
	{ NULL }
};

static int op_of(const struct lnet_ctl_req *req, struct fault_req *r, struct lnet_ctl_err *e)
{
	*r = (struct fault_req){ .rule = { .src = LNET_NID_ANY, .dst = LNET_NID_ANY,
					   .local = LNET_NID_ANY } };
	return lnet_ctl_read(lnet_ctl_attrs(req), op_fields, r, e);
}

static int rule_of(struct lnet_req all, bool delay, struct fault_req *r, struct lnet_ctl_err *e)
{
	int rc = lnet_ctl_read(all, nid_fields, r, e);

	rc = rc ? rc : lnet_ctl_read(all, rule_fields, r, e);
	rc = rc ? rc : lnet_ctl_read(all, delay ? delay_fields : drop_fields, r, e);
	r->rule.delay = delay;
	r->rule.latency_ns = r->latency_ms ? r->latency_ms * NSEC_PER_MSEC :
					     r->latency_s * NSEC_PER_SEC;
	if (!rc && delay && !r->rule.latency_ns)
		return lnet_ctl_fail(e, -EINVAL, "a delay rule needs a latency");
	return rc;
}

/* Returns why lnet_fault_add() rejects a rule each of whose values is valid. */
static const char *contradiction(const struct lnet_fault_rule *r)
{
	if (r->random && !r->interval_s)
		return "'random' needs an interval";
	if (r->delay && !lnet_nid_is_any(&r->local))
		return "a delay rule cannot have 'local_nid'";
	if (r->portal_mask && r->msg_mask && !(r->msg_mask & (1u << LNET_MSG_PUT |
							      1u << LNET_MSG_GET)))
		return "'portal' needs the message PUT or GET";
	return "the values of the rule exclude each other";
}

static int fault_add(struct lnet *ln, const struct lnet_fault_rule *rule, struct lnet_ctl_err *e)
{
	int rc = lnet_fault_add(ln, rule);

	if (rc == -EINVAL && !rule->rate == !rule->interval_s)
		return lnet_ctl_fail(e, rc, "a rule needs either a rate or an interval of at "
				     "least 1; rate is %u, interval %u", rule->rate,
				     rule->interval_s);
	if (rc == -EINVAL)
		return lnet_ctl_fail(e, rc, "%s", contradiction(rule));
	return rc ? lnet_ctl_fail(e, rc, "cannot add the rule: %s",
				  rc == -ENOSPC ? "too many" : lnet_ctl_why(rc))
		  : 0;
}

static int fault_del(struct lnet *ln, bool delay, const struct fault_req *r,
		     struct lnet_ctl_err *e)
{
	int nr = r->id ? lnet_fault_del_id(ln, delay, r->id)
		       : lnet_fault_del(ln, delay, &r->rule.src, &r->rule.dst);

	return nr > 0 ? 0 : lnet_ctl_fail(e, nr ? nr : -ENOENT, "no matching rule");
}

static int fault_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	struct lnet_req all = lnet_ctl_attrs(req);
	bool checks = req->flags & LNET_NL_F_STAGED, delay;
	struct fault_req r;
	int rc = op_of(req, &r, e);

	if (rc)
		return rc;
	delay = r.op >= LNET_NL_DELAY_ADD;
	switch (r.op) {
	case LNET_NL_DROP_ADD:
	case LNET_NL_DELAY_ADD:
		rc = rule_of(all, delay, &r, e);
		return rc || checks ? rc : fault_add(ctl->ln, &r.rule, e);
	case LNET_NL_DROP_DEL:
	case LNET_NL_DELAY_DEL:
		rc = lnet_ctl_read(all, nid_fields, &r, e);
		rc = rc ? rc : lnet_ctl_read(all, id_fields, &r, e);
		return rc || checks ? rc : fault_del(ctl->ln, delay, &r, e);
	case LNET_NL_DROP_RESET:
	case LNET_NL_DELAY_RESET:
		if (checks)
			return lnet_ctl_fail(e, -EINVAL, "this 'rule_type' is no change");
		lnet_fault_reset(ctl->ln, delay);
		return 0;
	}
	return lnet_ctl_fail(e, -EINVAL, "this 'rule_type' is a question");
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
			return lnet_ctl_fail(e, rc, "too many NIDs fail");
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
	d->kind = r.op >= LNET_NL_DELAY_ADD;
	/* no words: it is how stock's lists say that they are empty */
	return lnet_fault_get(d->ctl->ln, d->kind, 0, &r.rule) ? -ENOENT : 0;
}

/* Keys of control.def's fault table that only one kind of rule has. */
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

static void emit_drop(struct lnet_sink *s, const struct lnet_fault_rule *rule, bool backup)
{
	s->ops->num(s, DA_RATE, LNET_NLT_U32, rule->rate);
	s->ops->num(s, DA_INTERVAL, LNET_NLT_U32, rule->interval_s);
	if (!backup)
		s->ops->num(s, DS_DROPPED, LNET_NLT_U64, rule->nr_hit);
	s->ops->num(s, DA_MASK, LNET_NLT_U32, rule->health_mask);
	s->ops->num(s, DA_RANDOM, LNET_NLT_U32, rule->random);
	s->ops->num(s, DA_DROP_ALL, LNET_NLT_U32, rule->drop_all);
	if (rule->when)
		s->ops->num(s, DA_WHEN, LNET_NLT_U32, rule->when);
}

static void emit_delay(struct lnet_sink *s, const struct lnet_fault_rule *rule, bool backup)
{
	u64 ms = div_u64(rule->latency_ns, NSEC_PER_MSEC);

	s->ops->num(s, LA_RATE, LNET_NLT_U32, rule->rate);
	s->ops->num(s, LA_INTERVAL, LNET_NLT_U32, rule->interval_s);
	s->ops->num(s, LA_LATENCY, LNET_NLT_U32, div_u64(ms, MSEC_PER_SEC));
	if (!backup)
		s->ops->num(s, LS_DELAYED, LNET_NLT_U64, rule->nr_hit);
	if (ms - div_u64(ms, MSEC_PER_SEC) * MSEC_PER_SEC)
		s->ops->num(s, LA_LATENCY_MS, LNET_NLT_U32, ms);
}

static bool rule_emit(struct lnet_ctl_dump *d, struct lnet_sink *s,
		      const struct lnet_fault_rule *rule)
{
	struct lnet_view_fault v = {
		.portal_mask = rule->portal_mask,
		.msg_mask = rule->msg_mask ? rule->msg_mask : 15,
		.count = rule->nr_match,
		.ack = rule->nr_by_type[0],
		.put = rule->nr_by_type[1],
		.get = rule->nr_by_type[2],
		.reply = rule->nr_by_type[3],
	};

	strscpy(v.rule_type, rule->delay ? "delay" : "drop", sizeof(v.rule_type));
	lnet_nid_str(&rule->src, v.src);
	lnet_nid_str(&rule->dst, v.dst);
	lnet_nid_str(&rule->local, v.local);
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &lnet_table_fault, &v, 0, d->backup, NULL);
	if (rule->delay)
		emit_delay(s, rule, d->backup);
	else
		emit_drop(s, rule, d->backup);
	if (s->more)
		s->ops->num(s, RULE_ID, LNET_NLT_U32, rule->id);
	return lnet_ctl_item_end(d, s);
}

static int fault_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_fault_rule rule;

	while (!lnet_fault_get(d->ctl->ln, d->kind, d->pos, &rule)) {
		if (!lnet_ctl_table(d, s, &lnet_table_fault) || !rule_emit(d, s, &rule))
			return 1;
		d->pos++;
	}
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
