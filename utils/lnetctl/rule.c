/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fault KIND: rules in the grammar of lnet/faults.def. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

/* The group that led here, "fault cut ": its last word. */
static void kind_of(const struct tool *t, char *kind, size_t size)
{
	const char *at = t->path;
	size_t len = strlen(at);

	while (len && at[len - 1] == ' ')
		len--;
	while (strchr(at, ' ') && strchr(at, ' ') < t->path + len)
		at = strchr(at, ' ') + 1;
	snprintf(kind, size, "%.*s", (int)(t->path + len - at), at);
}

/* Several of one option are a list. */
bool rule_option(struct lnetctl_node *rule, const struct tool *t, const char *name)
{
	char text[600];
	const char *one;
	unsigned int i;
	size_t len = 0;

	text[0] = 0;
	for (i = 0; (one = tool_opt_nth(t, name, i)) && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "," : "", one);
	return !i || lnetctl_add_text(rule, name, text);
}

/* The options that are parameters of a rule, with its kind; NULL: no memory. */
static struct lnetctl_node *rule_of(const struct tool *t)
{
	struct lnetctl_node *rule = lnetctl_add_map(NULL, NULL);
	const struct opt *o;
	char kind[32];
	bool ok;

	kind_of(t, kind, sizeof(kind));
	ok = rule && lnetctl_add_text(rule, "kind", kind);
	for (o = t->cmd->opts; ok && o->name; o++)
		if (strcmp(o->name, "all"))
			ok = rule_option(rule, t, o->name);
	if (ok)
		return rule;
	lnetctl_doc_free(rule);
	return NULL;
}

static int change(struct tool *t, int (*fn)(struct lnetctl *c, const struct lnetctl_node *rule))
{
	struct lnetctl_node *rule = rule_of(t);
	int rc;

	if (!rule)
		return -ENOMEM;
	rc = tool_done(t, fn(t->c, rule));
	lnetctl_doc_free(rule);
	return rc;
}

static int run_rule_add(struct tool *t)
{
	if (t->nr_rest)
		return tool_unknown(t->rest[0]);
	return change(t, lnetctl_rule_add);
}

int run_rule_del(struct tool *t)
{
	if (!tool_opt(t, "all") && !tool_opt(t, "id") && !tool_opt(t, "name"))
		return tool_missing("missing mandatory parameters: 'id', 'name' or 'all'");
	return change(t, lnetctl_rule_del);
}

static int run_rule_show(struct tool *t)
{
	struct lnetctl_node *doc;
	char kind[32];
	int rc;

	kind_of(t, kind, sizeof(kind));
	rc = lnetctl_rule_show(t->c, kind, false, &doc);
	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

int run_rules_show(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_rule_show(t->c, NULL, false, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

int run_rules_export(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_rule_show(t->c, NULL, true, &doc);

	return tool_show(t, rc, doc, LNETCTL_WIDE);
}

static const struct opt rule_opts[] = {
#define FAULT_PARAM(id, name, type, member, min, max, text) { name, 0, ARG_NEEDED, text },
#define FAULT_KIND(...)
#include "lnet/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
	{ .name = NULL }
};
static const struct opt rule_del_opts[] = {
	{ "all", 'a', ARG_NONE, "all of this kind" },
	{ "id", 'i', ARG_NEEDED, "the one of this number" },
	{ "name", 'n', ARG_NEEDED, "the one of this name" },
	{ .name = NULL }
};
const struct command rule_commands[] = {
	{ "add", "add a rule of this kind", run_rule_add, rule_opts },
	{ "del", "delete rules of this kind", run_rule_del, rule_del_opts },
	{ "show", "show those of this kind", run_rule_show },
	{ .name = NULL }
};
