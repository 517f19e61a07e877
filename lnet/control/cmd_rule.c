/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for fault rules in the grammar of faults.def: add, delete, show. */
#include "control/command.h"
#include "fault/fault.h"

#define VALUE_SIZE 544		/* a list of NIDs */

/* ---- tables ---------------------------------------------------------------------------------- */

enum { R_HEAD = 1, R_ID, R_KIND, R_STATE, R_MATCHED, R_HIT, R_PARAM };

static const struct lnet_key keys[] = {
	{ .name = "faults", .type = LNET_NLT_NUL_STRING,
	  .format = LNET_NL_SEQUENCE | LNET_NL_MAPPING },
	{ .name = "id", .type = LNET_NLT_U32 },
	{ .name = "kind", .type = LNET_NLT_STRING },
	{ .name = "state", .type = LNET_NLT_STRING },
	{ .name = "matched", .type = LNET_NLT_U64 },
	{ .name = "hit", .type = LNET_NLT_U64 },
#define T_NUM LNET_NLT_U64
#define T_TIME LNET_NLT_STRING
#define T_NAME LNET_NLT_STRING
#define T_NID LNET_NLT_STRING
#define T_NIDS LNET_NLT_STRING
#define T_TYPES LNET_NLT_STRING
#define T_PORTALS LNET_NLT_STRING
#define T_OUTCOMES LNET_NLT_STRING
#define T_WORD_AT LNET_NLT_STRING
#define T_WORD_WHERE LNET_NLT_STRING
#define T_WORD_WHEN LNET_NLT_STRING
#define FAULT_PARAM(id, name_, type_, ...) { .name = name_, .type = T_##type_ },
#define FAULT_KIND(...)
#include "fault/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
};
static const struct lnet_table table = { keys, ARRAY_SIZE(keys) };

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads the next key, and its value as text. Returns 1; 0: there is no further key; -EINVAL */
static int rule_pair_read(struct lnet_req *r, char *key, size_t size, char *value,
			  struct lnet_ctl_err *e)
{
	struct lnet_val k, v;

	if (!lnet_req_next(r, &k))
		return 0;
	if (lnet_val_text(&k, key, size))
		return lnet_ctl_fail(e, -EINVAL, "a key of a fault rule must be a word");
	if (!lnet_req_next(r, &v))
		return lnet_ctl_fail(e, -EINVAL, "'%.40s' has no value", key);
	if (v.kind == LNET_VAL_LIST)
		return lnet_ctl_fail(e, -EINVAL, "'%.40s' must be one value, not a list", key);
	value[0] = 0;
	if (lnet_val_text(&v, value, VALUE_SIZE) == -ENAMETOOLONG)
		return lnet_ctl_fail(e, -EINVAL, "the value of '%.40s' is too long", key);
	return 1;
}

/* True for keys of an export that are not parameters of the rule. */
static bool key_is_report_only(const char *key)
{
	return !strcmp(key, "kind") || !strcmp(key, "id") || !strcmp(key, "state") ||
	       !strcmp(key, "matched") || !strcmp(key, "hit");
}

static int rule_kind_read(struct lnet_req item, enum lnet_rule_kind *kind, struct lnet_ctl_err *e)
{
	char text[40];
	struct lnet_val v;

	*kind = LNET_NR_RULE_KINDS;
	if (!lnet_req_find(item, "kind", &v))
		return 0;
	if (lnet_val_text(&v, text, sizeof(text)))
		return lnet_ctl_fail(e, -EINVAL,
				     "'kind' must be a kind of fault rule such as drop");
	*kind = lnet_rule_kind_find(text);
	if (*kind == LNET_NR_RULE_KINDS)
		return lnet_ctl_fail(e, -EINVAL, "'%s' is not a kind of fault rule", text);
	return 0;
}

static int params_of(struct lnet_req item, struct lnet_rule *r, char *value,
		     struct lnet_ctl_err *e)
{
	char key[40];
	int rc;

	while ((rc = rule_pair_read(&item, key, sizeof(key), value, e)) > 0) {
		if (key_is_report_only(key))
			continue;
		rc = lnet_rule_set(r, key, value, e->text);
		if (rc)
			return rc;
	}
	return rc ? rc : lnet_rule_check(r, e->text);
}

static int rule_req_read(struct lnet_req item, struct lnet_rule *r, struct lnet_ctl_err *e)
{
	const u32 selects = 1u << LNET_RULE_SOURCE | 1u << LNET_RULE_DEST | 1u << LNET_RULE_LOCAL |
			    1u << LNET_RULE_MESSAGE | 1u << LNET_RULE_PORTAL;
	enum lnet_rule_kind kind;
	int rc = rule_kind_read(item, &kind, e);
	char *value;

	BUILD_BUG_ON(sizeof(e->text) < LNET_RULE_ERR);
	if (rc)
		return rc;
	if (kind == LNET_NR_RULE_KINDS)
		return lnet_ctl_fail(e, -EINVAL, "'kind' is missing");
	value = kmalloc(VALUE_SIZE, GFP_KERNEL);
	if (!value)
		return -ENOMEM;
	lnet_rule_init(r, kind);
	rc = params_of(item, r, value, e);
	kfree(value);
	/*
	 * A rule for all messages gets the source "*", so that its text has a parameter that
	 * selects messages. A rule in a file must have such a parameter.
	 */
	if (!rc && !(r->set & selects) && lnet_rule_may(r->kind, LNET_RULE_SOURCE))
		r->set |= 1u << LNET_RULE_SOURCE;
	return rc;
}

static int which_of(struct lnet_req item, struct lnet_rule_which *which, struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD_RANGE("id", struct lnet_rule_which, id, 1, U32_MAX,
				 .text = "the id of a rule", .range_err = -ERANGE),
		LNET_FIELD(TEXT, "name", struct lnet_rule_which, name,
			   .text = "up to 31 letters, digits, . - _"),
		{ NULL }
	};
	int rc;

	memset(which, 0, sizeof(*which));
	rc = rule_kind_read(item, &which->kind, e);
	return rc ? rc : lnet_ctl_read(item, fields, which, e);
}

/* ---- changes --------------------------------------------------------------------------------- */

static int rule_req_add(struct lnet *ln, struct lnet_req item, bool checks, struct lnet_ctl_err *e)
{
	struct lnet_rule *r = kmalloc(sizeof(*r), GFP_KERNEL);
	int rc = r ? rule_req_read(item, r, e) : -ENOMEM;

	if (!rc && !checks)
		rc = lnet_rule_add(ln, r);
	if (rc == -EEXIST)
		rc = lnet_ctl_fail(e, rc, "a fault rule with the name '%s' already exists",
				   r->name);
	if (rc == -ENOSPC)
		rc = lnet_ctl_fail(e, rc, "more fault rules than allowed (%u)", LNET_RULES_MAX);
	kfree(r);
	return rc;
}

static int rule_none(const struct lnet_rule_which *which, struct lnet_ctl_err *e)
{
	const char *kind = which->kind < LNET_NR_RULE_KINDS ? lnet_rule_kind_name(which->kind) : "";

	if (which->name[0])
		return lnet_ctl_fail(e, -ENOENT,
				     "no matching rule: %s rule with name '%s' not found ('fault "
				     "%s show' lists them)",
				     kind, which->name, kind);
	if (which->id)
		return lnet_ctl_fail(e, -ENOENT,
				     "no matching rule: %s rule with id %u not found ('fault %s "
				     "show' lists them)",
				     kind, which->id, kind);
	return lnet_ctl_fail(e, -ENOENT, "no matching rule");
}

static int rule_req_del(struct lnet *ln, struct lnet_req item, bool checks, struct lnet_ctl_err *e)
{
	struct lnet_rule_which which;
	int rc = which_of(item, &which, e);

	if (rc || checks)
		return rc;
	return lnet_rule_del(ln, &which) ? 0 : rule_none(&which, e);
}

static int rules_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	bool adds = req->flags & LNET_NL_F_CREATE, checks = req->flags & LNET_NL_F_STAGED;
	struct lnet_req items, item;
	int rc;

	if (req->flags & LNET_NL_F_REPLACE)
		return lnet_ctl_fail(e, -EOPNOTSUPP,
				     "a fault rule cannot be changed: delete it and add a new one");
	if (!lnet_ctl_items(req, &items) || !lnet_req_item(&items, &item))
		return lnet_ctl_fail(e, -EINVAL, "the request has no fault rule");
	do
		rc = adds ? rule_req_add(ctl->ln, item, checks, e)
			  : rule_req_del(ctl->ln, item, checks, e);
	while (!rc && lnet_req_item(&items, &item));
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int rules_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	enum lnet_rule_kind kind;
	int rc = rule_kind_read(lnet_ctl_attrs(req), &kind, e);

	if (rc)
		return rc;
	d->kind = kind;
	d->priv = kzalloc(sizeof(struct lnet_rule) + VALUE_SIZE, GFP_KERNEL);
	return d->priv ? 0 : -ENOMEM;
}

static void params_emit(struct lnet_sink *s, const struct lnet_rule *r, char *value)
{
	unsigned long long num;
	unsigned int i;

	for (i = 0; i < LNET_NR_RULE_PARAMS; i++) {
		if (!lnet_rule_text(r, i, value, VALUE_SIZE))
			continue;
		if (keys[R_PARAM - 1 + i].type == LNET_NLT_STRING)
			s->ops->str(s, R_PARAM + i, value);
		else if (!kstrtoull(value, 10, &num))
			s->ops->num(s, R_PARAM + i, LNET_NLT_U64, num);
	}
}

static bool rule_item_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, const struct lnet_rule *r,
			   const struct lnet_rule_info *info)
{
	lnet_ctl_item(d, s);
	if (!d->backup)
		s->ops->num(s, R_ID, LNET_NLT_U32, info->id);
	s->ops->str(s, R_KIND, lnet_rule_kind_name(r->kind));
	if (!d->backup) {
		s->ops->str(s, R_STATE, lnet_rule_states[info->state]);
		s->ops->num(s, R_MATCHED, LNET_NLT_U64, info->nr_match);
		s->ops->num(s, R_HIT, LNET_NLT_U64, info->nr_hit);
	}
	params_emit(s, r, (char *)(r + 1));
	return lnet_ctl_item_end(d, s);
}

static int rules_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_rule *r = d->priv;
	struct lnet_rule_info info;

	for (; !lnet_rule_get(d->ctl->ln, d->pos + 1, r, &info); d->pos = info.id) {
		if (d->kind != LNET_NR_RULE_KINDS && d->kind != r->kind)
			continue;
		if (!lnet_ctl_table(d, s, &table) || !rule_item_emit(d, s, r, &info))
			return 1;
	}
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_rules = {
	.cmd = LNET_NL_RULES,
	.stages = true,
	.act = rules_act,
	.start = rules_start,
	.next = rules_next,
};
