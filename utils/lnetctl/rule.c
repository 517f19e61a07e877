/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands fault KIND, for rules in the grammar of lnet/fault/faults.def. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

/* Reads the kind, which is the last word of the group's path, for example of "fault cut ". */
static void path_kind(const struct tool *t, char *kind, size_t size)
{
	const char *at = t->path;
	size_t len = strlen(at);

	while (len && at[len - 1] == ' ')
		len--;
	while (strchr(at, ' ') && strchr(at, ' ') < t->path + len)
		at = strchr(at, ' ') + 1;
	snprintf(kind, size, "%.*s", (int)(t->path + len - at), at);
}

/* If an option is repeated, its values form a list. */
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

/* Creates a rule from the kind and the options that are parameters; NULL: no memory. */
static struct lnetctl_node *rule_from_options(const struct tool *t)
{
	struct lnetctl_node *rule = lnetctl_add_map(NULL, NULL);
	const struct opt *o;
	char kind[32];
	bool ok;

	path_kind(t, kind, sizeof(kind));
	ok = rule && lnetctl_add_text(rule, "kind", kind);
	for (o = t->cmd->opts; ok && o->name; o++)
		if (strcmp(o->name, "all"))
			ok = rule_option(rule, t, o->name);
	if (ok)
		return rule;
	lnetctl_doc_free(rule);
	return NULL;
}

static int rule_command_run(struct tool *t,
			    int (*fn)(struct lnetctl *c, const struct lnetctl_node *rule))
{
	struct lnetctl_node *rule = rule_from_options(t);
	int rc;

	if (!rule)
		return -ENOMEM;
	rc = tool_done(t, fn(t->c, rule));
	lnetctl_doc_free(rule);
	return rc;
}

int tool_selects(struct tool *t)
{
	static const char *const names[] = { "source", "dest", "local_nid", "message", "portal",
					     "left", "right", NULL };
	const char *const *name;

	for (name = names; *name; name++)
		if (tool_opt(t, *name))
			return tool_local_check(t);
	return tool_usage("'%s%s' needs an option that selects messages: --source, --dest, "
			  "--local_nid, --message or --portal; --source '*' selects all", t->path,
			  t->cmd->name);
}

int tool_rule_print(struct tool *t, const char *kind)
{
	struct lnetctl_node *all, *doc = lnetctl_add_map(NULL, NULL), *item = NULL;
	const struct lnetctl_node *list;

	if (lnetctl_rule_show(t->c, kind, false, &all)) {
		lnetctl_doc_free(doc);
		return 0;
	}
	list = lnetctl_find(all, "faults");
	if (doc && list && list->last)
		item = lnetctl_add_map(lnetctl_add_seq(doc, "faults"), NULL);
	if (item) {
		lnetctl_add(item, "id", LNETCTL_NUM, lnetctl_text(list->last, "id"));
		lnetctl_add_text(item, "kind", kind);
	}
	lnetctl_doc_free(all);
	return tool_show(t, 0, doc, LNETCTL_WIDE);
}

static int run_rule_add(struct tool *t)
{
	char kind[32];
	int rc = tool_selects(t);

	rc = rc ? rc : rule_command_run(t, lnetctl_rule_add);
	if (rc)
		return rc;
	path_kind(t, kind, sizeof(kind));
	return tool_rule_print(t, kind);
}

int run_rule_del(struct tool *t)
{
	return rule_command_run(t, lnetctl_rule_del);
}

static int run_rule_show(struct tool *t)
{
	struct lnetctl_node *doc;
	char kind[32];
	int rc;

	path_kind(t, kind, sizeof(kind));
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

#define U32_MAX UINT32_MAX
#define U64_MAX UINT64_MAX
static const char *const words_at[] = { "any", "send", "receive", NULL };
static const char *const words_where[] = { "bit", "pages", NULL };
static const char *const words_when[] = { "before", "posted", "completed", NULL };

/* Defines how lnetctl reads options of each type in faults.def. The node parses texts and lists. */
#define LIST(text, accepted)		ARG_TEXT, text, .many = true, .form = accepted
#define OPT_NAME(text, min, max)	ARG_TEXT, text, .form = RULE_NAME_FORM
#define OPT_NID(text, min, max)		ARG_MATCH, text
#define OPT_NIDS(text, min, max)	ARG_MATCH, text, .many = true
#define OPT_TYPES(text, min, max)	LIST(text, "PUT, ACK, GET or REPLY")
#define OPT_PORTALS(text, min, max)	LIST(text, "a portal from 0 to 63")
#define OPT_OUTCOMES(text, min, max)							\
	LIST(text, "local_interrupt, local_dropped, local_aborted, local_no_route, "	\
	     "local_error, local_timeout, remote_error, remote_dropped, remote_timeout "	\
	     "or network_timeout")
#define OPT_NUM(text, min, max)		ARG_NUM, text, min, max
#define OPT_TIME(text, min, max)	ARG_SPAN, text, min, max
#define OPT_WORD_AT(text, min, max)	ARG_WORD, text, .words = words_at
#define OPT_WORD_WHERE(text, min, max)	ARG_WORD, text, .words = words_where
#define OPT_WORD_WHEN(text, min, max)	ARG_WORD, text, .words = words_when
static const struct opt rule_opts[] = {
#define FAULT_PARAM(id, name, type, member, min, max, text)					\
	{ name, 0, OPT_##type(text, min, max) },
#define FAULT_KIND(...)
#include "lnet/fault/faults.def"
#undef FAULT_PARAM
#undef FAULT_KIND
	{ .name = NULL }
};
static const struct opt rule_del_opts[] = {
	{ "all", 'a', ARG_NONE, "all rules of this kind" },
	{ "id", 'i', ARG_NUM, "only the rule with this ID, which `fault show' prints", 1,
	  UINT32_MAX },
	{ "name", 'n', ARG_TEXT, "only the rule with this name", .form = RULE_NAME_FORM },
	{ .name = NULL }
};
const struct command rule_commands[] = {
	{ "add", "add a rule of this kind", run_rule_add, rule_opts },
	{ "del", "delete rules of this kind", run_rule_del, rule_del_opts,
	  .clash = "all id name", .need = "id name all" },
	{ "show", "show rules of this kind", run_rule_show },
	{ .name = NULL }
};
