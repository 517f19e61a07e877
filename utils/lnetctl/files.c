/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* import, export, plan and apply. */
#include <errno.h>
#include <string.h>
#include "tool.h"

const struct opt import_opts[] = {
	{ "add", 'a', ARG_NONE, "add what the file describes; the default" },
	{ "del", 'd', ARG_NONE, "delete it" },
	{ "show", 's', ARG_NONE, "show it as it is" },
	{ "exec", 'e', ARG_NONE, "carry out what is a command (ping)" },
	{ "old-api", 'o', ARG_NONE, "accepted" },
	{ .name = NULL }
};

const struct opt export_opts[] = {
	{ "backup", 'b', ARG_NONE, "only what builds the same configuration again" },
	{ .name = NULL }
};

static enum lnetctl_import import_how(const struct tool *t)
{
	if (tool_opt(t, "del"))
		return LNETCTL_IMPORT_DEL;
	if (tool_opt(t, "show"))
		return LNETCTL_IMPORT_SHOW;
	return tool_opt(t, "exec") ? LNETCTL_IMPORT_EXEC : LNETCTL_IMPORT_ADD;
}

static const char *file_name(const struct tool *t)
{
	return t->nr_rest ? t->rest[0] : NULL;
}

static int read_file(const char *name, struct lnetctl_node **doc)
{
	FILE *in = name ? fopen(name, "re") : stdin;
	char why[200];
	int rc;

	if (!in)
		return tool_refuse("yaml", "builder", -1, "cannot open '%s': %s", name,
				   strerror(errno));
	rc = lnetctl_yaml_read(in, doc, why, sizeof(why));
	if (name)
		fclose(in);
	if (rc)
		return tool_refuse("yaml", "builder", rc, "%s%s%s", name ? name : "",
				   name ? " " : "", why);
	return 0;
}

int run_import(struct tool *t)
{
	enum lnetctl_import how = import_how(t);
	struct lnetctl_node *doc, *shown = NULL;
	int rc = read_file(t->nr_rest ? t->rest[0] : NULL, &doc);

	if (rc)
		return rc;
	rc = lnetctl_import(t->c, doc, file_name(t), how,
			    how == LNETCTL_IMPORT_SHOW ? &shown : NULL);
	lnetctl_doc_free(doc);
	if (shown && shown->first)
		lnetctl_print(shown, t->json ? LNETCTL_JSON : LNETCTL_WIDE, stdout);
	lnetctl_doc_free(shown);
	return tool_done(t, rc);
}

int run_export(struct tool *t)
{
	FILE *out = t->nr_rest ? fopen(t->rest[0], "we") : stdout;
	int rc;

	if (!out)
		return tool_refuse("yaml", "builder", -1, "cannot open '%s': %s", t->rest[0],
				   strerror(errno));
	rc = lnetctl_export(t->c, tool_opt(t, "backup") ? LNETCTL_EXPORT_BACKUP : 0, out);
	if (t->nr_rest && fclose(out) && !rc)
		return tool_refuse("yaml", "builder", -1, "cannot write '%s': %s", t->rest[0],
				   strerror(errno));
	return tool_done(t, rc);
}

int run_plan(struct tool *t)
{
	struct lnetctl_node *doc, *plan;
	int rc = read_file(file_name(t), &doc);

	if (rc)
		return rc;
	rc = lnetctl_plan(t->c, doc, file_name(t), &plan);
	lnetctl_doc_free(doc);
	return tool_show(t, rc, plan, LNETCTL_WIDE);
}

int run_apply(struct tool *t)
{
	struct lnetctl_node *doc;
	int rc = read_file(file_name(t), &doc);

	if (rc)
		return rc;
	rc = lnetctl_apply(t->c, doc, file_name(t), NULL);
	lnetctl_doc_free(doc);
	return tool_done(t, rc);
}
