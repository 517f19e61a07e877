/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the tables of commands and options as JSON, for completion and for tests. */
#include <errno.h>
#include "tool.h"

static const char *const arg_names[] = {
	[ARG_NONE] = "flag",   [ARG_LEVEL] = "level", [ARG_TEXT] = "text",   [ARG_NID] = "nid",
	[ARG_NIDS] = "nids",   [ARG_NET] = "net",     [ARG_FILE] = "file",   [ARG_NUM] = "number",
	[ARG_TIME] = "time",   [ARG_SPAN] = "span",   [ARG_MATCH] = "match", [ARG_WORD] = "word",
	[ARG_WAIT] = "wait",
};

static bool option_dump(struct lnetctl_node *list, const struct opt *o)
{
	struct lnetctl_node *map = lnetctl_add_map(list, NULL);
	char letter[2] = { o->letter, 0 }, accepted[200];

	tool_value_accepted(o, accepted, sizeof(accepted));
	return map && lnetctl_add_text(map, "name", o->name) &&
	       lnetctl_add_text(map, "letter", letter) &&
	       lnetctl_add_text(map, "value", arg_names[o->arg]) &&
	       lnetctl_add_text(map, "accepted", accepted) &&
	       lnetctl_add(map, "repeatable", LNETCTL_BOOL, o->many ? "true" : "false") &&
	       lnetctl_add_text(map, "help", o->help);
}

static bool command_dump(struct lnetctl_node *list, const char *path, const struct command *cmd)
{
	struct lnetctl_node *map = lnetctl_add_map(list, NULL), *opts;
	const struct opt *o;
	char name[PATH_MAX_LEN];
	bool ok;

	snprintf(name, sizeof(name), "%s%s", path, cmd->name);
	ok = map && lnetctl_add_text(map, "name", name) &&
	     lnetctl_add_text(map, "help", cmd->help) &&
	     lnetctl_add_text(map, "word", cmd->word ? cmd->word : "") &&
	     lnetctl_add_text(map, "word_value", cmd->word_arg ? arg_names[cmd->word_arg] : "") &&
	     lnetctl_add_num(map, "words_min", cmd->words_min) &&
	     lnetctl_add_num(map, "words_max", cmd->words_max == WORDS_ANY ? -1 : cmd->words_max) &&
	     lnetctl_add(map, "raw", LNETCTL_BOOL, cmd->raw ? "true" : "false") &&
	     lnetctl_add_text(map, "clash", cmd->clash ? cmd->clash : "") &&
	     lnetctl_add_text(map, "need", cmd->need ? cmd->need : "");
	opts = ok && cmd->opts ? lnetctl_add_seq(map, "options") : NULL;
	for (o = cmd->opts; ok && o && o->name; o++)
		ok = opts && option_dump(opts, o);
	return ok;
}

static bool table_dump(struct lnetctl_node *list, const char *path, const struct command *cmd)
{
	char inside[PATH_MAX_LEN];
	bool ok = true;

	for (; ok && cmd->name; cmd++) {
		snprintf(inside, sizeof(inside), "%s%s ", path, cmd->name);
		ok = cmd->sub ? table_dump(list, inside, cmd->sub) : command_dump(list, path, cmd);
	}
	return ok;
}

int tool_dump(const char *path, const struct command *table)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL);
	struct lnetctl_node *list = doc ? lnetctl_add_seq(doc, "commands") : NULL;
	bool ok = list && table_dump(list, path, table);

	if (ok)
		lnetctl_print(doc, LNETCTL_JSON, stdout);
	lnetctl_doc_free(doc);
	return ok ? 0 : -ENOMEM;
}
