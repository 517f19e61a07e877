/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands for selection policies: udsp add, del and show. Also shows the effect of policies on
 * interfaces.
 */
#include "control/command.h"
#include "names/names.h"
#include "topology/topology.h"

/* ---- reading requests ------------------------------------------------------------------------ */

/*
 * The key "priority". In files, it is inside "action". A value of -1 means that no priority is set.
 */
#define PRIORITY_FIELD										\
	LNET_FIELD_RANGE("priority", struct lnet_udsp_rule, priority, 0, S32_MAX, .stock = true, \
			 .range_err = -ERANGE, .has = offsetof(struct lnet_udsp_rule, has_priority))
#define PATTERN_FIELD(key, end)                                                \
	LNET_FIELD(TEXT, key, struct lnet_udsp_rule, text[end], .stock = true, \
		   .check = lnet_udsp_pattern_check,                           \
		   .text = "a range of NIDs or nets such as 10.0.[1-4].*@tcp or tcp[1-2]")
static const struct lnet_field action_fields[] = { PRIORITY_FIELD, { NULL } };
static const struct lnet_field rule_fields[] = {
	PRIORITY_FIELD,
	LNET_FIELD_SUB("action", action_fields),
	PATTERN_FIELD("src", LNET_UDSP_SRC),
	PATTERN_FIELD("dst", LNET_UDSP_DST),
	PATTERN_FIELD("rte", LNET_UDSP_RTE),
	{ NULL }
};

struct idx_req {
	s64 idx;			/* -1: none was given */
	bool has_idx;
};

static const struct lnet_field idx_fields[] = {
	LNET_FIELD_RANGE("idx", struct idx_req, idx, -1, S32_MAX, .stock = true,
			 .range_err = -ERANGE, .has = offsetof(struct idx_req, has_idx)),
	{ NULL }
};

/* ---- changes --------------------------------------------------------------------------------- */

static int udsp_rule_add(struct lnet *ln, int idx, const struct lnet_udsp_rule *rule,
			 struct lnet_ctl_err *e)
{
	int rc = lnet_udsp_add(ln, idx, rule);

	if (rc == -EALREADY)
		return lnet_ctl_fail(e, rc, "this UDSP rule already exists");
	if (rc == -ENOSPC)
		return lnet_ctl_fail(e, rc, "more UDSP rules than allowed (%d)", LNET_UDSP_MAX);
	return rc ? lnet_ctl_fail(e, rc, "cannot add the UDSP rule: %s", lnet_ctl_why(rc)) : 0;
}

static int udsp_rule_del(struct lnet *ln, const struct idx_req *r, struct lnet_ctl_err *e)
{
	int rc;

	if (!r->has_idx)
		return lnet_ctl_fail(e, -EINVAL, "'idx' is missing");
	rc = lnet_udsp_del(ln, (int)r->idx);
	if (rc == -ENOENT)
		return lnet_ctl_fail(e, rc, "UDSP rule with index %lld not found", r->idx);
	return rc ? lnet_ctl_fail(e, rc, "cannot delete the UDSP rule: %s", lnet_ctl_why(rc)) : 0;
}

static int udsp_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		    struct lnet_ctl_err *e)
{
	bool adds = req->flags & LNET_NL_F_CREATE, checks = req->flags & LNET_NL_F_STAGED;
	struct idx_req r = { .idx = -1 };
	struct lnet_udsp_rule *rule;
	struct lnet_req item;
	int rc;

	if (req->flags & LNET_NL_F_REPLACE)
		return lnet_ctl_fail(e, -EOPNOTSUPP,
				     "a UDSP rule cannot be changed: delete it and add a new one");
	if (!lnet_ctl_first(req, &item))
		return lnet_ctl_fail(e, -EINVAL, "the request is not a list of UDSP rules");
	rc = lnet_ctl_read(item, idx_fields, &r, e);
	if (rc || (checks && !adds))
		return rc;
	if (!adds)
		return udsp_rule_del(ctl->ln, &r, e);
	rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	if (!rule)
		return -ENOMEM;
	rc = lnet_ctl_read(item, rule_fields, rule, e);
	if (!rc && lnet_udsp_wrong(rule))
		rc = lnet_ctl_fail(e, -EINVAL, "%s", lnet_udsp_wrong(rule));
	if (!rc && !checks)
		rc = udsp_rule_add(ctl->ln, (int)r.idx, rule, e);
	kfree(rule);
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int udsp_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	struct idx_req r = { .idx = -1 };
	struct lnet_req item;
	int rc = lnet_ctl_first(req, &item) ? lnet_ctl_read(item, idx_fields, &r, e) : 0;

	d->filtered = r.idx >= 0;
	d->pos = d->filtered ? (u32)r.idx : 0;
	return rc;
}

static bool udsp_rule_emit(struct lnet_ctl_dump *d, struct lnet_sink *s,
			   const struct lnet_udsp_rule *rule)
{
	unsigned int i;

	if (!lnet_ctl_table(d, s, &lnet_table_policy))
		return false;
	lnet_ctl_item(d, s);
	s->ops->num(s, 2, LNET_NLT_U32, d->pos);
	for (i = 0; i < LNET_NR_UDSP_ENDS; i++)
		if (rule->text[i][0])
			s->ops->str(s, 3 + i, rule->text[i]);
	if (rule->has_priority) {
		s->ops->open(s, LNET_OPEN_NEST, 6);
		s->ops->open(s, LNET_OPEN_ELEM, 0);
		s->ops->num(s, 1, LNET_NLT_U32, rule->priority);
		s->ops->close(s);
		s->ops->close(s);
	}
	return lnet_ctl_item_end(d, s);
}

static int udsp_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_udsp_rule *rule = kzalloc(sizeof(*rule), GFP_KERNEL);
	int rc = rule ? 0 : -ENOMEM;

	while (!rc && !lnet_udsp_get(d->ctl->ln, d->pos, rule)) {
		if (!udsp_rule_emit(d, s, rule))
			rc = 1;
		else
			d->pos = d->filtered ? U32_MAX : d->pos + 1;
	}
	kfree(rule);
	return rc;
}

const struct lnet_ctl_cmd lnet_cmd_udsp = {
	.cmd = LNET_NL_UDSP,
	.stages = true,
	.act = udsp_act,
	.start = udsp_start,
	.next = udsp_next,
};

/* ---- interfaces ------------------------------------------------------------------------------ */

static void info_view(const struct lnet *ln, enum lnet_udsp_end end, const struct lnet_nid *nid,
		      struct lnet_view_udsp *v)
{
	struct lnet_udsp_info info;

	lnet_udsp_info(ln, end, nid, &info);
	v->net_priority = (s32)info.net_priority;
	v->nid_priority = (s32)info.nid_priority;
}

void lnet_ctl_udsp_ni(const struct lnet *ln, const struct lnet_nid *nid, struct lnet_view_udsp *v)
{
	info_view(ln, LNET_UDSP_SRC, nid, v);
}

static void pref_add(struct lnet_view_pref *v, const struct lnet_nid *nid)
{
	unsigned int i;
	char text[LNET_TEXT_MAX];

	lnet_nid_str(nid, text);
	for (i = 0; i < LNET_PREF_MAX && v->nid[i][0]; i++)
		if (!strcmp(v->nid[i], text))
			return;
	if (i < LNET_PREF_MAX)
		strscpy(v->nid[i], text, sizeof(v->nid[i]));
}

void lnet_ctl_udsp_pni(const struct lnet_peer_ni *pni, struct lnet_view_udsp *v)
{
	const struct lnet *ln = pni->ln;
	const struct lnet_path *path;

	info_view(ln, LNET_UDSP_DST, &pni->nid, v);
	list_for_each_entry(path, &pni->paths, link) {
		if (!(path->policy & 1))
			continue;
		if (path->hop == pni)
			pref_add(&v->sources, &path->ni->nid);
		else
			pref_add(&v->gateways, &path->hop->peer->primary);
	}
}
