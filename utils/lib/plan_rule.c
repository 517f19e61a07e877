/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares fault rules of a file with those of a node, in the grammar of lnet/fault/faults.def. */
#include <errno.h>
#include <string.h>
#include "lnet/fault/fault.h"
#include "plan.h"

#define WORDS_SIZE 2048		/* bytes of two lists of NIDs and all other parameters */

/* True for the keys of an exported fault rule that do not set a parameter of the rule. */
static bool key_is_no_param(const char *key)
{
	return !strcmp(key, "kind") || !strcmp(key, "id") || !strcmp(key, "state") ||
	       !strcmp(key, "matched") || !strcmp(key, "hit");
}

static int rule_param_read(struct plan *p, const struct lnetctl_node *n, struct lnet_rule *r)
{
	char text[LNETCTL_RULE_LIST], err[LNET_RULE_ERR];
	const char *value = n->text ? n->text : "";

	if (n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ) {
		value = text;
		snprintf(err, sizeof(err), "the value of '%.40s' must be one value or a short list",
			 n->key);
		if (n->kind == LNETCTL_MAP || !import_rule_list(n, text, sizeof(text)))
			return import_refuse(&p->im, "faults", n, err);
	}
	return lnet_rule_set(r, n->key, value, err) ? import_refuse(&p->im, "faults", n, err) : 0;
}

static int plan_rule_read(struct plan *p, const struct lnetctl_node *rule, struct lnet_rule *r)
{
	const char *kind = rule->kind == LNETCTL_MAP ? lnetctl_text(rule, "kind") : NULL;
	const struct lnetctl_node *n;
	char err[LNET_RULE_ERR];
	int rc = 0;

	p->im.trans.at = rule;
	if (rule->kind != LNETCTL_MAP)
		return import_refuse(&p->im, "faults", rule, "each fault rule must be a mapping");
	if (!kind)
		return import_refuse(&p->im, "faults", rule, "'kind' is missing");
	lnet_rule_init(r, lnet_rule_kind_find(kind));
	if (r->kind == LNET_NR_RULE_KINDS) {
		snprintf(err, sizeof(err), "'%.40s' is not a kind of fault rule", kind);
		return import_refuse(&p->im, "faults", lnetctl_find(rule, "kind"), err);
	}
	for (n = rule->first; n && !rc; n = n->next)
		if (!key_is_no_param(n->key))
			rc = rule_param_read(p, n, r);
	if (!rc && lnet_rule_check(r, err))
		return import_refuse(&p->im, "faults", rule, err);
	return rc;
}

/* Writes a rule without its seed. The text does not depend on units and order in the file. */
static void rule_text_write(const struct lnet_rule *r, char *words, size_t size)
{
	char value[LNETCTL_RULE_LIST];
	unsigned int i;
	size_t len = (size_t)snprintf(words, size, "%s", lnet_rule_kind_name(r->kind));

	for (i = 0; i < LNET_NR_RULE_PARAMS; i++)
		if (i != LNET_RULE_SEED && lnet_rule_text(r, i, value, sizeof(value)) && len < size)
			len += (size_t)snprintf(words + len, size - len, " %s=%s",
						lnet_rule_param_name(i), value);
}

/* Are the rules equal? If the file has no seed, any seed that the node drew is accepted. */
static bool plan_rule_same(const struct lnet_rule *want, const struct lnet_rule *has)
{
	char a[WORDS_SIZE], b[WORDS_SIZE];

	if (want->set & 1u << LNET_RULE_SEED && want->seed != has->seed)
		return false;
	rule_text_write(want, a, sizeof(a));
	rule_text_write(has, b, sizeof(b));
	return !strcmp(a, b);
}

/*
 * Finds a rule of the node that equals @want, and that equals no earlier rule of the file. Marks
 * the found rule as kept, by its field `line'.
 */
static int find_same(struct plan *p, const struct lnet_rule *want, bool *found)
{
	const struct lnetctl_node *rules = lnetctl_find(p->faults, "faults");
	struct lnetctl_node *n;
	struct lnet_rule has;
	int rc;

	*found = false;
	for (n = rules ? rules->first : NULL; n && !*found; n = n->next) {
		if (n->line)
			continue;
		rc = plan_rule_read(p, n, &has);
		if (rc)
			return rc;
		*found = plan_rule_same(want, &has);
		n->line = *found;
	}
	return 0;
}

static bool text_is_digits(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static int add_rule(struct plan *p, const char *verb, const struct lnet_rule *r,
		    const struct lnetctl_node *from)
{
	struct lnetctl_node *seq = plan_section(p, verb, "faults", LNETCTL_SEQ), *item;
	const char *id = lnetctl_text(from, "id");
	char value[LNETCTL_RULE_LIST];
	unsigned int i;
	bool ok;

	item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	ok = item && (strcmp(verb, "del") || !id || lnetctl_add(item, "id", LNETCTL_NUM, id)) &&
	     lnetctl_add_text(item, "kind", lnet_rule_kind_name(r->kind));
	for (i = 0; i < LNET_NR_RULE_PARAMS && ok; i++)
		if (lnet_rule_text(r, i, value, sizeof(value)))
			ok = lnetctl_add(item, lnet_rule_param_name(i),
					 text_is_digits(value) ? LNETCTL_NUM : LNETCTL_TEXT, value);
	if (item)
		import_at(item, from);
	return ok ? 0 : plan_nomem(p);
}

/* Adds the rules that only the file has. */
static int rules_add(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *n;
	struct lnet_rule want;
	bool found;
	int rc = 0;

	for (n = section ? section->first : NULL; n && !rc; n = n->next) {
		rc = plan_rule_read(p, n, &want);
		rc = rc ? rc : import_rule_selects(&p->im, n);
		rc = rc ? rc : find_same(p, &want, &found);
		p->im.trans.at = n;
		rc = rc || found ? rc : add_rule(p, "add", &want, n);
	}
	return rc;
}

int plan_rules(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *rules, *n;
	struct lnet_rule has;
	int rc = rules_add(p, section);

	rules = lnetctl_find(p->faults, "faults");
	for (n = rules ? rules->first : NULL; n && !rc; n = n->next) {
		if (n->line)
			continue;
		rc = plan_rule_read(p, n, &has);
		rc = rc ? rc : add_rule(p, "del", &has, n);
	}
	return rc;
}
