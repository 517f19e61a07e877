/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fault rules in the grammar of lnet/fault/faults.def: calls of the library, and items of "faults"
 * in files.
 */
#include <errno.h>
#include <string.h>
#include "import.h"

static const struct ctl_op op_add = { LNET_NL_RULES, LNET_NL_VERSION, LNET_NL_F_CREATE, 0, "add",
				      "faults" };
static const struct ctl_op op_del = { LNET_NL_RULES, LNET_NL_VERSION, 0, 0, "del", "faults" };

static bool is_counter(const char *key)
{
	return !strcmp(key, "state") || !strcmp(key, "matched") || !strcmp(key, "hit");
}

bool import_rule_list(const struct lnetctl_node *seq, char *text, size_t size)
{
	const struct lnetctl_node *n;
	size_t len = 0;

	text[0] = 0;
	for (n = seq->first; n; n = n->next) {
		int more = snprintf(text + len, size - len, "%s%s", len ? "," : "",
				    n->text ? n->text : "");

		if (more < 0 || len + (size_t)more >= size)
			return false;
		len += (size_t)more;
	}
	return true;
}

/*
 * Adds a list as text. Text that does not fit into LNETCTL_RULE_LIST is truncated. The truncated
 * text is still longer than the 512 bytes that a node accepts, so the node rejects the list.
 */
static bool add_list(struct lnetctl_node *item, const struct lnetctl_node *seq)
{
	char text[LNETCTL_RULE_LIST];

	import_rule_list(seq, text, sizeof(text));
	return lnetctl_add_text(item, seq->key, text);
}

/* Adds every value as text, because the node checks the value. */
static bool add_param(struct lnetctl_node *item, const struct lnetctl_node *n)
{
	if (n->kind == LNETCTL_SEQ)
		return add_list(item, n);
	return lnetctl_add_text(item, n->key, n->text ? n->text : "");
}

static int rule_request(struct lnetctl *c, const struct ctl_op *op, const struct lnetctl_node *rule)
{
	struct lnetctl_node *item, *body = ctl_body(&item);
	const struct lnetctl_node *n;
	bool ok = body;

	for (n = rule->first; n && ok; n = n->next)
		if (!is_counter(n->key))
			ok = add_param(item, n);
	if (ok)
		return ctl_do(c, op, body);
	lnetctl_doc_free(body);
	return ctl_fail(c, -ENOMEM, op->verb, "faults", NULL);
}

int lnetctl_rule_add(struct lnetctl *c, const struct lnetctl_node *rule)
{
	return rule_request(c, &op_add, rule);
}

int lnetctl_rule_del(struct lnetctl *c, const struct lnetctl_node *which)
{
	return rule_request(c, &op_del, which);
}

int lnetctl_rule_show(struct lnetctl *c, const char *kind, bool backup, struct lnetctl_node **doc)
{
	const struct ctl_op op = { LNET_NL_RULES, LNET_NL_VERSION,
				   LNET_NL_F_DUMP | (backup ? LNET_NL_F_FILTERED : 0), 0, "show",
				   "faults" };
	struct lnetctl_node *body = lnetctl_add_map(NULL, NULL);

	*doc = NULL;
	if (!body || (kind && !lnetctl_add_text(body, "kind", kind))) {
		lnetctl_doc_free(body);
		return ctl_fail(c, -ENOMEM, "show", "faults", NULL);
	}
	return ctl_dump(c, &op, body, doc);
}

/* ---- files ----------------------------------------------------------------------------------- */

static const char *same(const struct lnetctl_node *a, const struct lnetctl_node *b,
			const char *key)
{
	const char *x = lnetctl_text(a, key), *y = lnetctl_text(b, key);

	return x && y && !strcmp(x, y) ? x : NULL;
}

static int del_by(struct import *im, const char *key, const char *text)
{
	struct lnetctl_node *which = lnetctl_add_map(NULL, NULL);
	int rc;

	if (!which || !lnetctl_add_text(which, key, text)) {
		lnetctl_doc_free(which);
		return ctl_fail(im->c, -ENOMEM, "del", "faults", NULL);
	}
	rc = lnetctl_rule_del(im->c, which);
	lnetctl_doc_free(which);
	return rc;
}

/*
 * Deletes a rule by its name. If it has no name, deletes it by its ID, which full exports contain.
 */
static int rule_import_del(struct import *im, const struct lnetctl_node *rule)
{
	const char *name = lnetctl_text(rule, "name"), *id = lnetctl_text(rule, "id");

	if (!name && !id)
		return import_refuse(
			im, "faults", rule,
			"to delete a fault rule, the file must have its 'name' or 'id'");
	return del_by(im, name ? "name" : "id", name ? name : id);
}

/* Shows the rules that have the same name or ID as @rule. */
static int rule_import_show(struct import *im, const struct lnetctl_node *rule)
{
	struct lnetctl_node *doc, *rules, *n, *next;
	int rc = lnetctl_rule_show(im->c, lnetctl_text(rule, "kind"), false, &doc);

	if (rc)
		return rc;
	rules = lnetctl_find(doc, "faults");
	for (n = rules ? rules->first : NULL; n; n = next) {
		next = n->next;
		if (same(n, rule, "name") || same(n, rule, "id"))
			continue;
		lnetctl_take(rules, n);
		lnetctl_doc_free(n);
	}
	if (rules && rules->first)
		return import_keep(im, doc);
	lnetctl_doc_free(doc);
	return 0;
}

int import_rule_selects(struct import *im, const struct lnetctl_node *rule)
{
	static const char *const keys[] = { "source", "dest", "local_nid", "message", "portal",
					    "left", "right" };
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (lnetctl_find(rule, keys[i]))
			return 0;
	return import_refuse(im, "faults", rule,
			     "a fault rule must have a key that selects messages: source, dest, "
			     "local_nid, message or portal; source '*' selects all");
}

int import_rule(struct import *im, const struct lnetctl_node *rule)
{
	int rc;

	im->trans.at = rule;
	if (rule->kind != LNETCTL_MAP)
		return import_refuse(im, "faults", rule, "each fault rule must be a mapping");
	switch (im->how) {
	case LNETCTL_IMPORT_ADD:
		rc = lnetctl_rule_add(im->c, rule);
		return rc ? rc : import_rule_selects(im, rule);	/* an error ends the transaction */
	case LNETCTL_IMPORT_DEL:
		return rule_import_del(im, rule);
	case LNETCTL_IMPORT_SHOW:
		return rule_import_show(im, rule);
	default:
		return 0;
	}
}
