/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selection policies: the calls of the library, and the section "udsp" of files. */
#include <errno.h>
#include <string.h>
#include "plan.h"

/* ---- calls ----------------------------------------------------------------------------------- */

static int udsp_do(struct lnetctl *c, const char *verb, uint16_t flags, struct lnetctl_node *body)
{
	const struct ctl_op op = { LNET_NL_UDSP, LNET_NL_VERSION, flags, 0, verb, "udsp" };

	if (body && !body->incomplete)
		return ctl_do(c, &op, body);
	lnetctl_doc_free(body);
	return ctl_fail(c, -ENOMEM, verb, "udsp", NULL);
}

static void add_end(struct lnetctl_node *item, const char *key, const char *text)
{
	if (text)
		lnetctl_add_text(item, key, text);
}

int lnetctl_udsp_add(struct lnetctl *c, const struct lnetctl_udsp *u)
{
	struct lnetctl_node *item, *body = ctl_body(&item);

	if (!body)
		return udsp_do(c, "add", 0, NULL);
	if (u->idx != LNETCTL_UNSET)
		lnetctl_add_num(item, "idx", u->idx);
	add_end(item, "src", u->src);
	add_end(item, "dst", u->dst);
	add_end(item, "rte", u->rte);
	if (u->priority != LNETCTL_UNSET)
		lnetctl_add_num(item, "priority", u->priority);
	return udsp_do(c, "add", LNET_NL_F_CREATE, body);
}

int lnetctl_udsp_del(struct lnetctl *c, int64_t idx)
{
	struct lnetctl_node *item, *body = ctl_body(&item);

	if (body)
		lnetctl_add_num(item, "idx", idx);
	return udsp_do(c, "del", 0, body);
}

int lnetctl_udsp_show(struct lnetctl *c, int64_t idx, struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_UDSP, LNET_NL_VERSION, LNET_NL_F_DUMP, 0, "show", "udsp" };
	struct lnetctl_node *item, *body = ctl_body(&item);

	*doc = NULL;
	if (!body || !lnetctl_add_num(item, "idx", idx)) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "show", "udsp", NULL);
	}
	return ctl_dump(c, &op, body, doc);
}

int ctl_udsp_all(struct lnetctl *c, struct lnetctl_node **doc)
{
	int rc = lnetctl_udsp_show(c, -1, doc);

	return rc == -EOPNOTSUPP && c->stock ? 0 : rc;
}

/* ---- import ---------------------------------------------------------------------------------- */

/*
 * Reads a policy. Its priority is under "action", or in @rule itself. The texts in @u belong to
 * @rule.
 */
static int udsp_rule_read(struct import *im, const struct lnetctl_node *rule,
			  struct lnetctl_udsp *u)
{
	const struct lnetctl_node *action = lnetctl_find(rule, "action");
	int rc;

	*u = (struct lnetctl_udsp){ .idx = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	u->src = lnetctl_text(rule, "src");
	u->dst = lnetctl_text(rule, "dst");
	u->rte = lnetctl_text(rule, "rte");
	rc = import_num(im, "udsp", rule, "idx", &u->idx);
	rc = rc ? rc : import_num(im, "udsp", rule, "priority", &u->priority);
	if (!rc && action && action->kind == LNETCTL_MAP)
		rc = import_num(im, "udsp", action, "priority", &u->priority);
	return rc;
}

static int udsp_import_show(struct import *im, const struct lnetctl_udsp *u)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_udsp_show(im->c, u->idx == LNETCTL_UNSET ? -1 : u->idx, &doc);

	return rc ? rc : import_keep(im, doc);
}

int import_udsp(struct import *im, const struct lnetctl_node *rule)
{
	struct lnetctl_udsp u;
	int rc;

	im->trans.at = rule;
	rc = udsp_rule_read(im, rule, &u);
	if (rc)
		return rc;
	if (im->how == LNETCTL_IMPORT_SHOW)
		return udsp_import_show(im, &u);
	if (im->how != LNETCTL_IMPORT_DEL)
		return lnetctl_udsp_add(im->c, &u);
	if (u.idx == LNETCTL_UNSET)
		return import_refuse(im, "udsp", rule, "'idx' is missing");
	return lnetctl_udsp_del(im->c, u.idx);
}

/* ---- plan ------------------------------------------------------------------------------------ */

static bool text_same(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

static int udsp_rule_same(struct plan *p, const struct lnetctl_node *a,
			  const struct lnetctl_node *b, bool *same)
{
	struct lnetctl_udsp x, y;
	int rc = udsp_rule_read(&p->im, a, &x);

	rc = rc ? rc : udsp_rule_read(&p->im, b, &y);
	*same = !rc && text_same(x.src, y.src) && text_same(x.dst, y.dst) &&
		text_same(x.rte, y.rte) && x.priority == y.priority;
	return rc;
}

static int udsp_rules_same(struct plan *p, const struct lnetctl_node *want,
			   const struct lnetctl_node *has, bool *same)
{
	int rc = 0;

	*same = true;
	for (; want && has && *same && !rc; want = want->next, has = has->next)
		rc = udsp_rule_same(p, want, has, same);
	*same = *same && !want == !has;
	return rc;
}

static int udsp_rule_copy(struct plan *p, const char *verb, const struct lnetctl_node *rule,
			  int64_t idx)
{
	struct lnetctl_node *seq = plan_section(p, verb, "udsp", LNETCTL_SEQ);
	struct lnetctl_node *item = seq ? lnetctl_add_map(seq, NULL) : NULL, *action = NULL;
	struct lnetctl_udsp u;
	int rc = udsp_rule_read(&p->im, rule, &u);

	if (rc || !item || !lnetctl_add_num(item, "idx", idx))
		return rc ? rc : plan_nomem(p);
	import_at(item, rule);
	add_end(item, "src", u.src);
	add_end(item, "dst", u.dst);
	add_end(item, "rte", u.rte);
	if (u.priority != LNETCTL_UNSET)
		action = lnetctl_add_map(item, "action");
	if (action)
		lnetctl_add_num(action, "priority", u.priority);
	return item->incomplete || (action && action->incomplete) ? plan_nomem(p) : 0;
}

/* The order of policies matters. So if they differ, the plan deletes and adds all policies. */
int plan_udsp(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *rules = lnetctl_find(p->policies, "udsp"), *n;
	int64_t idx = 0;
	bool same;
	int rc = udsp_rules_same(p, section ? section->first : NULL, rules ? rules->first : NULL,
				 &same);

	if (rc || same)
		return rc;
	for (n = rules ? rules->first : NULL; n && !rc; n = n->next)
		rc = udsp_rule_copy(p, "del", n, idx++);
	for (n = section ? section->first : NULL, idx = 0; n && !rc; n = n->next)
		rc = udsp_rule_copy(p, "add", n, idx++);
	return rc;
}
