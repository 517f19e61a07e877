/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The program lnetctl: finds the command in the tables, runs it, and prints its result. */
#include <errno.h>
#include <string.h>
#include "../lib/exit_status.h"
#include "../lib/output.h"
#include "tool.h"

#define NAME "lnetctl"

/* ---- results --------------------------------------------------------------------------------- */

int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style)
{
	if (rc)
		return tool_done(t, rc);
	if (doc && (doc->first || t->json))
		lnetctl_print(doc, t->json ? LNETCTL_JSON : style, stdout);
	lnetctl_doc_free(doc);
	return 0;
}

/*
 * Prints the result of a change. As with stock's tool, the exit status of almost every error is
 * that of -EINVAL.
 */
int tool_done(struct tool *t, int rc)
{
	if (!rc)
		return 0;
	tool_error_print(t);
	return tool_status(t, -EINVAL);
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *const builtins[] = { "help", "version", "list-commands",
					"quit", "exit",	   "ignore_errors" };

bool tool_is_builtin(const char *word, const char *name)
{
	if (!strcmp(word, "-h") || !strcmp(word, "-V"))
		return !strcmp(name, word[1] == 'h' ? "help" : "version");
	return !strcmp(word, name) || (!strncmp(word, "--", 2) && !strcmp(word + 2, name));
}

static const struct command *table_command_find(const struct command *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static void list_commands(const struct command *table)
{
	unsigned int nr = 0;
	size_t i;

	for (; table->name; table++)
		printf("%-20s%s", table->name, ++nr % 4 ? "" : "\n");
	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		printf("%-20s%s", builtins[i], ++nr % 4 ? "" : "\n");
	putchar('\n');
}

static void help_all(const char *path, const struct command *table)
{
	for (; table->name; table++)
		tool_help(path, table, stdout);
}

/*
 * Appends the name of the command group @cmd and a space to @path. Help and errors write @path
 * before the name of a command of the group.
 */
static void path_enter(char *path, const struct command *cmd)
{
	size_t len = strlen(path);

	snprintf(path + len, PATH_MAX_LEN - len, "%s ", cmd->name);
}

static int command_help(const char *path, const struct command *table, int argc, char **argv)
{
	const struct command *cmd = argc > 1 ? table_command_find(table, argv[1]) : NULL;
	char inside[PATH_MAX_LEN];

	if (argc > 1 && !cmd)
		return tool_unknown(argv[1]);
	snprintf(inside, sizeof(inside), "%s", path);
	if (cmd && cmd->sub) {
		path_enter(inside, cmd);
		if (argc > 2)
			return command_help(inside, cmd->sub, argc - 1, argv + 1);
		help_all(inside, cmd->sub);
	} else if (cmd) {
		tool_help(path, cmd, stdout);
	} else {
		help_all(path, table);
	}
	if (!*path && !cmd)
		puts("options before a command:\n"
		     "\t--node: name of the node that receives the command; default: the "
		     "variable LNET_NODE, else kernel, else lnetd\n"
		     "\t--wait: longest time to wait for a reply of the node, as 5 or 300ms; "
		     "default 30s\n"
		     "\t--json: print JSON instead of YAML\n"
		     "manual: lnetctl(8)");
	return 0;
}

static bool builtin_wants_json(const struct tool *t, int argc, char **argv)
{
	return t->json_always || (argc == 2 && !strcmp(argv[1], "--json"));
}

/* Runs a command that exists in every group. False: the first argument is no such command. */
static bool builtin(struct tool *t, const struct command *table, int argc, char **argv, int *rc)
{
	*rc = 0;
	if (tool_is_builtin(argv[0], "help"))
		*rc = command_help(t->path, table, argc, argv);
	else if (tool_is_builtin(argv[0], "version"))
		puts(NAME " " LNET_VERSION);
	else if (tool_is_builtin(argv[0], "list-commands") && builtin_wants_json(t, argc, argv))
		*rc = tool_dump(t->path, table);
	else if (tool_is_builtin(argv[0], "list-commands"))
		list_commands(table);
	else
		return tool_is_builtin(argv[0], "ignore_errors") ||
		       tool_is_builtin(argv[0], "quit") || tool_is_builtin(argv[0], "exit");
	return true;
}

static void on_silence(void *arg, const char *node, int pid, unsigned int ms)
{
	char process[24] = "";

	(void)arg;
	if (pid)
		snprintf(process, sizeof(process), " (pid %d)", pid);
	fflush(stdout);
	fprintf(stderr,
		NAME ": node '%s'%s has not replied for 2 s; waiting up to %g s (--wait)\n", node,
		process, ms / 1000.0);
}

static int node_open(struct tool *t)
{
	char why[480];
	int rc;

	if (t->c || t->cmd->offline)
		return 0;
	t->c = lnetctl_open(t->node, &rc, why, sizeof(why));
	if (t->c)
		lnetctl_wait_set(t->c, t->wait_ms, on_silence, NULL);
	if (t->c)
		return 0;
	return tool_no_node(why);
}

static int command_run(struct tool *t, int argc, char **argv)
{
	int rc;

	if (tool_parse(t, argc, argv, &rc) == TOOL_ENDS)
		return rc;
	rc = node_open(t);
	rc = rc ? rc : t->cmd->run(t);
	return rc && t->c && lnetctl_unconfigured(t->c) ? EXIT_NO_NODE : rc;
}

/* Handles an argument that is not a command of @group. */
static int other_run(struct tool *t, const struct command *group, int argc, char **argv)
{
	int rc;

	if (!group || !group->run)
		return tool_unknown(argv[0]);
	t->cmd = group;
	t->path[0] = 0;
	if (tool_parse(t, argc + 1, argv - 1, &rc) == TOOL_ENDS)
		return rc;
	rc = node_open(t);
	return rc ? rc : group->run(t);
}

/* Runs the command that the arguments name. If @group is NULL, they begin at the top level. */
static int command_dispatch(struct tool *t, const struct command *group, int argc, char **argv)
{
	const struct command *table = group ? group->sub : lnetctl_commands, *cmd;
	int rc;

	if (builtin(t, table, argc, argv, &rc))
		return rc;
	cmd = table_command_find(table, argv[0]);
	if (!cmd)
		return other_run(t, group, argc, argv);
	t->cmd = cmd;
	if (!cmd->sub)
		return command_run(t, argc, argv);
	path_enter(t->path, cmd);
	if (argc > 1)
		return command_dispatch(t, cmd, argc - 1, argv + 1);
	help_all(t->path, cmd->sub);
	return -EINVAL;
}

static int command_line_run(struct tool *t, int argc, char **argv)
{
	t->path[0] = 0;
	t->cmd = NULL;
	t->json = false;
	tool_errors_of(t);
	return command_dispatch(t, NULL, argc, argv);
}

/* ---- main ------------------------------------------------------------------------------------ */

enum { G_NODE, G_WAIT, G_JSON, NR_GLOBAL };

static const struct {
	const char *name, *accepted;	/* NULL: it has no value */
} global_opts[NR_GLOBAL] = {
	[G_NODE] = { "--node", "the name of a node ('lnetctl node list')" },
	[G_WAIT] = { "--wait", "a time from 1ms to 1 day, such as 5 or 300ms" },
	[G_JSON] = { "--json", NULL },
};

/* Sets a global option. @value is NULL if it is missing. Returns 0 or EXIT_USAGE. */
static int global_set(struct tool *t, unsigned int i, const char *value)
{
	const char *name = global_opts[i].name, *accepted = global_opts[i].accepted;

	if (!accepted && value)
		return tool_usage("option '%s' doesn't allow an argument: it takes no value, not "
				  "'%s'", name, value);
	if (accepted && !value)
		return tool_usage("option '%s' requires an argument: %s", name, accepted);
	if ((i == G_NODE && t->node) || (i == G_WAIT && t->wait_ms))
		return tool_usage("option '%s' is given twice; it may be given once", name);
	if (i == G_JSON)
		t->json_always = true;
	else if (i == G_NODE && *value)
		t->node = value;
	else if (i == G_NODE || lnetctl_ms_parse(value, &t->wait_ms))
		return tool_usage("%s must be %s, not '%s'", name, accepted, value);
	return 0;
}

/*
 * Reads the global option @argv[*at] and its value. Returns 0, EXIT_USAGE, or -ENOENT if the
 * argument is no global option.
 */
static int global_read(struct tool *t, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	unsigned int i;

	for (i = 0; i < NR_GLOBAL; i++)
		if (strlen(global_opts[i].name) == len && !strncmp(global_opts[i].name, word, len))
			break;
	if (i == NR_GLOBAL)
		return -ENOENT;
	if (global_opts[i].accepted && !value && *at + 1 < argc)
		value = argv[++*at];
	return global_set(t, i, value);
}

/* Is @word an option? Commands and built-in commands are not. */
static bool is_option(const char *word)
{
	size_t i;

	if (*word != '-')
		return false;
	for (i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++)
		if (tool_is_builtin(word, builtins[i]))
			return false;
	return true;
}

/*
 * Reads the options before the command. *@first becomes the index of the command. Returns 0 or
 * EXIT_USAGE.
 */
static int global_options(struct tool *t, int argc, char **argv, int *first)
{
	int rc = 0;

	for (*first = 1; *first < argc; ++*first) {
		rc = global_read(t, argc, argv, first);
		if (rc)
			break;
	}
	if (rc == -ENOENT && is_option(argv[*first]))
		return tool_usage("unrecognized option '%s': before a command, lnetctl accepts "
				  "--node, --wait and --json",
				  argv[*first]);
	return rc == -ENOENT ? 0 : rc;
}

int main(int argc, char **argv)
{
	struct tool t = { 0 };
	int first, rc;

	output_check();
	tool_errors_of(&t);
	rc = global_options(&t, argc, argv, &first);
	if (rc)
		return rc;
	if (first == argc)
		rc = tool_shell(&t, command_line_run);
	else
		rc = command_line_run(&t, argc - first, argv + first);
	lnetctl_close(t.c);
	return rc & 0xff;
}
