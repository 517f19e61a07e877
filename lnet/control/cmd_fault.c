/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fault rules: add, del, reset, show. */
#include "control/command.h"
#include "fault/fault.h"

static int find_num(struct lnet_req r, const char *key, s64 max, u64 *num, struct lnet_ctl_err *e)
{
	struct lnet_val v;
	s64 val;

	*num = 0;
	if (!lnet_req_find(r, key, &v))
		return 0;
	if (lnet_val_int(&v, S64_MIN, S64_MAX, &val))
		return lnet_ctl_must(&v, key, "a number", e);
	if (max >= 0 && (val < 0 || val > max))
		return lnet_ctl_fail(e, -EINVAL, "invalid value '%lld' for key '%s': it must be 0 "
				     "to %lld", val, key, max);
	*num = (u64)val;
	return 0;
}

/*
 * Absent: any. 255.255.255.255@net, which is how clients send *@net, is what the rules take for
 * "any on the net".
 */
static int find_nid(struct lnet_req r, const char *key, struct lnet_nid *nid,
		    struct lnet_ctl_err *e)
{
	char text[LNET_NIDSTR_SIZE] = "";
	unsigned int every;
	struct lnet_val v;

	*nid = LNET_NID_ANY;
	if (!lnet_req_find(r, key, &v))
		return 0;
	if (!lnet_val_text(&v, text, sizeof(text)) && !lnet_nid_parse(nid, text))
		return 0;
	every = strncmp(text, "255.255.255.255@", 16) ? 0 : 15;
	return lnet_ctl_fail(e, -EINVAL, "'%s%s' is no NID, *@net or *", every ? "*" : "",
			     text + every);
}

static int op_of(const struct lnet_ctl_req *req, struct lnet_req *all, u64 *op,
		 struct lnet_ctl_err *e)
{
	struct lnet_val v;

	lnet_req_init(all, req->attrs, req->len);
	if (!lnet_req_find(*all, "rule_type", &v))
		return lnet_ctl_fail(e, -EINVAL, "'rule_type' is missing");
	return find_num(*all, "rule_type", LNET_NL_DELAY_LIST, op, e);
}

static int nids_of(struct lnet_req all, struct lnet_fault_rule *rule, struct lnet_ctl_err *e)
{
	int rc = find_nid(all, "fa_src", &rule->src, e);

	rc = rc ? rc : find_nid(all, "fa_dst", &rule->dst, e);
	return rc ? rc : find_nid(all, "fa_local_nid", &rule->local, e);
}

static int delay_of(struct lnet_req all, struct lnet_fault_rule *rule, struct lnet_ctl_err *e)
{
	u64 rate = 0, interval = 0, s = 0, ms = 0;
	int rc = find_num(all, "la_rate", U32_MAX, &rate, e);

	rc = rc ? rc : find_num(all, "la_interval", U32_MAX, &interval, e);
	rc = rc ? rc : find_num(all, "la_latency", 86400, &s, e);
	rc = rc ? rc : find_num(all, "la_latency_ms", 86400000, &ms, e);
	rule->rate = (u32)rate;
	rule->interval_s = (u32)interval;
	rule->latency_ns = ms ? ms * NSEC_PER_MSEC : s * NSEC_PER_SEC;
	if (!rc && !rule->latency_ns)
		return lnet_ctl_fail(e, -EINVAL, "a delay rule needs a latency");
	return rc;
}

static int drop_of(struct lnet_req all, struct lnet_fault_rule *rule, struct lnet_ctl_err *e)
{
	u64 rate = 0, interval = 0, mask = 0, random = 0, all_of_them = 0, when = 0;
	int rc = find_num(all, "da_rate", U32_MAX, &rate, e);

	rc = rc ? rc : find_num(all, "da_interval", U32_MAX, &interval, e);
	rc = rc ? rc : find_num(all, "da_health_error_mask", U32_MAX, &mask, e);
	rc = rc ? rc : find_num(all, "da_random", 1, &random, e);
	rc = rc ? rc : find_num(all, "da_drop_all", 1, &all_of_them, e);
	rc = rc ? rc : find_num(all, "da_when", 2, &when, e);
	rule->rate = (u32)rate;
	rule->interval_s = (u32)interval;
	rule->health_mask = (u32)mask;
	rule->random = random;
	rule->drop_all = all_of_them;
	rule->when = (u8)when;
	return rc;
}

static int rule_of(struct lnet_req all, bool delay, struct lnet_fault_rule *rule,
		   struct lnet_ctl_err *e)
{
	u64 portals = 0, types = 0;
	int rc;

	memset(rule, 0, sizeof(*rule));
	rule->delay = delay;
	rc = nids_of(all, rule, e);
	rc = rc ? rc : find_num(all, "fa_ptl_mask", -1, &portals, e);
	rc = rc ? rc : find_num(all, "fa_msg_mask", 15, &types, e);
	rule->portal_mask = portals;
	rule->msg_mask = (u32)types;
	if (!rc)
		rc = delay ? delay_of(all, rule, e) : drop_of(all, rule, e);
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

static int fault_add(struct lnet *ln, struct lnet_req all, bool delay, bool checks,
		     struct lnet_ctl_err *e)
{
	struct lnet_fault_rule rule;
	int rc = rule_of(all, delay, &rule, e);

	if (rc || checks)
		return rc;
	rc = lnet_fault_add(ln, &rule);
	if (rc == -EINVAL && !rule.rate == !rule.interval_s)
		return lnet_ctl_fail(e, rc, "a rule needs either a rate or an interval of at "
				     "least 1; rate is %u, interval %u", rule.rate,
				     rule.interval_s);
	if (rc == -EINVAL)
		return lnet_ctl_fail(e, rc, "%s", contradiction(&rule));
	return rc ? lnet_ctl_fail(e, rc, "cannot add the rule: %s",
				  rc == -ENOSPC ? "too many" : lnet_ctl_why(rc))
		  : 0;
}

static int fault_del(struct lnet *ln, struct lnet_req all, bool delay, bool checks,
		     struct lnet_ctl_err *e)
{
	struct lnet_fault_rule rule;
	u64 id = 0;
	int rc = nids_of(all, &rule, e);

	rc = rc ? rc : find_num(all, "id", U32_MAX, &id, e);
	if (rc || checks)
		return rc;
	rc = id ? lnet_fault_del_id(ln, delay, (u32)id)
		: lnet_fault_del(ln, delay, &rule.src, &rule.dst);
	return rc > 0 ? 0 : lnet_ctl_fail(e, rc ? rc : -ENOENT, "no matching rule");
}

static int fault_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	struct lnet_req all;
	u64 op = 0;
	int rc = op_of(req, &all, &op, e);
	bool delay = op >= LNET_NL_DELAY_ADD;
	bool checks = req->flags & LNET_NL_F_STAGED;

	if (rc)
		return rc;
	switch (op) {
	case LNET_NL_DROP_ADD:
	case LNET_NL_DELAY_ADD:
		return fault_add(ctl->ln, all, delay, checks, e);
	case LNET_NL_DROP_DEL:
	case LNET_NL_DELAY_DEL:
		return fault_del(ctl->ln, all, delay, checks, e);
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

static int peer_fail(struct lnet *ln, struct lnet_req item, struct lnet_ctl_err *e)
{
	struct lnet_nid nid;
	struct lnet_val v;
	s64 count;
	int rc;

	if (!lnet_req_find(item, "nid", &v))
		return lnet_ctl_fail(e, -EINVAL, "'nid' is missing");
	rc = lnet_ctl_nid(&v, "nid", &nid, e);
	if (rc)
		return rc;
	if (!lnet_req_find(item, "threshold", &v))
		return lnet_ctl_fail(e, -EINVAL, "'threshold' is missing");
	rc = lnet_val_int(&v, -1, S32_MAX, &count);
	if (rc)
		return lnet_ctl_fail(e, rc, "'threshold' must be a number from -1 (always) to %d",
				     S32_MAX);
	rc = lnet_fault_peer(ln, &nid, (s32)count);
	return rc == -ENOSPC ? lnet_ctl_fail(e, rc, "too many NIDs fail") : rc;
}

static int peer_fail_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			 struct lnet_ctl_err *e)
{
	struct lnet_req items, item;
	int rc = 0;

	if (!lnet_ctl_items(req, &items) || !lnet_req_item(&items, &item))
		return lnet_ctl_fail(e, req->len ? -EINVAL : -ENOMSG, "no NID is given");
	do
		rc = peer_fail(ctl->ln, item, e);
	while (!rc && lnet_req_item(&items, &item));
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int fault_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	struct lnet_fault_rule rule;
	struct lnet_req all;
	u64 op = 0;
	int rc = op_of(req, &all, &op, e);

	d->sub = op >= LNET_NL_DELAY_ADD;
	if (rc)
		return rc;
	/* no words: it is how stock's lists say that they are empty */
	return lnet_fault_get(d->ctl->ln, d->sub, 0, &rule) ? -ENOENT : 0;
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

	while (!lnet_fault_get(d->ctl->ln, d->sub, d->pos, &rule)) {
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
