/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnetctl: find the command in the tables, run it, say how it went. */
#include <errno.h>
#include <stdarg.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

#define NAME "lnetctl"
#define WORDS_MAX 64

/* ---- answers --------------------------------------------------------------------------------- */

int tool_show(struct tool *t, int rc, struct lnetctl_node *doc, enum lnetctl_style style)
{
	if (rc)
		return tool_done(t, rc);
	if (doc && (doc->first || t->json))
		lnetctl_print(doc, t->json ? LNETCTL_JSON : style, stdout);
	lnetctl_doc_free(doc);
	return 0;
}

/* As stock's tool: whatever the node said, the exit status is that of -EINVAL. */
int tool_done(struct tool *t, int rc)
{
	if (rc)
		lnetctl_error_print(t->c, stderr);
	return rc ? -EINVAL : 0;
}

int tool_refuse(const char *verb, const char *object, int err, const char *fmt, ...)
{
	char text[320];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fprintf(stderr, "%s:\n    - %s:\n          errno: %d\n          descr: %s\n", verb, object,
		err, text);
	return err;
}

int tool_missing(const char *what)
{
	puts(what);
	return -EINVAL;
}

/* ---- commands -------------------------------------------------------------------------------- */

static const char *const builtins[] = { "help", "version", "list-commands",
					"quit", "exit",	   "ignore_errors" };

static bool is_builtin(const char *word, const char *name)
{
	return !strcmp(word, name) || (!strncmp(word, "--", 2) && !strcmp(word + 2, name));
}

static const struct command *command_find(const struct command *table, const char *name)
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

static void help_all(const struct command *table)
{
	for (; table->name; table++)
		tool_help(table, stdout);
}

static int help(const struct command *table, int argc, char **argv)
{
	const struct command *cmd = argc > 1 ? command_find(table, argv[1]) : NULL;

	if (argc > 1 && !cmd) {
		fprintf(stderr, NAME ": '%s' is not a valid command.\n", argv[1]);
		return -1;
	}
	if (cmd && cmd->sub)
		help_all(cmd->sub);
	else if (cmd)
		tool_help(cmd, stdout);
	else
		help_all(table);
	return 0;
}

/* True: @word is one that every level has. */
static bool builtin(const struct command *table, int argc, char **argv, int *rc)
{
	*rc = 0;
	if (is_builtin(argv[0], "help"))
		*rc = help(table, argc, argv);
	else if (is_builtin(argv[0], "version"))
		puts(NAME " " LNET_VERSION);
	else if (is_builtin(argv[0], "list-commands"))
		list_commands(table);
	else
		return is_builtin(argv[0], "ignore_errors") || is_builtin(argv[0], "quit") ||
		       is_builtin(argv[0], "exit");
	return true;
}

static int node_open(struct tool *t)
{
	char why[200];
	int rc;

	if (t->c || t->cmd->offline)
		return 0;
	t->c = lnetctl_open(t->node, &rc, why, sizeof(why));
	if (t->c)
		return 0;
	fprintf(stderr, NAME ": %s\n", why);
	return rc;
}

static int command_run(struct tool *t, int argc, char **argv)
{
	int rc;

	if (tool_parse(t, argc, argv, &rc) == TOOL_HELPED)
		return rc;
	rc = node_open(t);
	return rc ? rc : t->cmd->run(t);
}

static int dispatch(struct tool *t, const struct command *table, int argc, char **argv)
{
	const struct command *cmd;
	int rc;

	if (builtin(table, argc, argv, &rc))
		return rc;
	cmd = command_find(table, argv[0]);
	if (!cmd) {
		fprintf(stderr,
			NAME ": '%s' is not a valid command. See '" NAME " --list-commands'.\n",
			argv[0]);
		return -1;
	}
	t->cmd = cmd;
	if (!cmd->sub)
		return command_run(t, argc, argv);
	if (argc > 1)
		return dispatch(t, cmd->sub, argc - 1, argv + 1);
	help_all(cmd->sub);
	return -EINVAL;
}

/* ---- the shell ------------------------------------------------------------------------------- */

/* Words of @line, in place; quotes keep spaces. */
static int split(char *line, char **words)
{
	int nr = 0;

	while (nr < WORDS_MAX) {
		char end = ' ';

		line += strspn(line, " \t");
		if (!*line)
			break;
		if (*line == '"' || *line == '\'')
			end = *line++;
		words[nr++] = line;
		while (*line && *line != end && !(end == ' ' && *line == '\t'))
			line++;
		if (!*line)
			break;
		*line++ = 0;
	}
	words[nr] = NULL;
	return nr;
}

/* A line to free(), or NULL at the end. A pipe gets neither prompt nor echo. */
static char *next_line(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (isatty(STDIN_FILENO)) {
		line = readline(NAME " > ");
		if (line && *line)
			add_history(line);
		return line;
	}
	len = getline(&line, &size, stdin);
	if (len < 0) {
		free(line);
		return NULL;
	}
	if (len && line[len - 1] == '\n')
		line[len - 1] = 0;
	return line;
}

/* A node that has gone was told of once; the next command looks for one again. */
static void forget_gone(struct tool *t, int rc)
{
	int err = rc && t->c ? lnetctl_error(t->c)->err : 0;

	if (err != -ECONNRESET && err != -ECONNREFUSED)
		return;
	lnetctl_close(t->c);
	t->c = NULL;
}

static int shell(struct tool *t)
{
	char *words[WORDS_MAX + 1], *line;
	bool ignore = false;
	int rc = 0;

	while ((line = next_line())) {
		int nr = split(line, words);
		bool quit = nr && (is_builtin(words[0], "quit") || is_builtin(words[0], "exit"));

		if (nr && !quit) {
			ignore |= is_builtin(words[0], "ignore_errors");
			rc = dispatch(t, lnetctl_commands, nr, words);
			forget_gone(t, rc);
			fflush(stdout);
		}
		free(line);
		if (quit)
			break;
	}
	return ignore ? 0 : rc;
}

/* ---- main ------------------------------------------------------------------------------------ */

/* --node NAME, --json, before the command. Number of words taken, -1: wrong. */
static int global_options(struct tool *t, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			t->json = true;
		else if (!strncmp(argv[i], "--node=", 7))
			t->node = argv[i] + 7;
		else if (!strcmp(argv[i], "--node") && i + 1 < argc)
			t->node = argv[++i];
		else
			break;
	}
	return i;
}

int main(int argc, char **argv)
{
	struct tool t = { 0 };
	int first = global_options(&t, argc, argv), rc;

	if (first == argc)
		rc = shell(&t);
	else
		rc = dispatch(&t, lnetctl_commands, argc - first, argv + first);
	lnetctl_close(t.c);
	if (fflush(stdout) && !rc)
		rc = -EIO;
	return rc & 0xff;
}
