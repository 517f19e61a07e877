/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads commands from a terminal, with history and completion, or from a pipe. */
#include <errno.h>
#include <stdio.h>
#include <readline/history.h>
#include <readline/readline.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tool.h"

#define PROMPT "lnetctl > "
#define WORDS_MAX 1024	/* maximum words of a line; a command has at most 128 NIDs */
#define HISTORY_MAX 1000

/* Splits @line in place. Quotes protect spaces. Returns the number of words; -E2BIG: too many. */
static int split(char *line, char **words)
{
	int nr = 0;

	for (;;) {
		char end = ' ';

		line += strspn(line, " \t");
		if (!*line)
			break;
		if (nr == WORDS_MAX)
			return -E2BIG;
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

/* ---- completion ------------------------------------------------------------------------------ */

/*
 * The words that can complete the input at the cursor: commands of a group, or options of a
 * command.
 */
static const struct command *here_commands;
static const struct opt *here_options;

/*
 * Called by readline with @again 0, then 1, until the function returns NULL. readline frees the
 * names.
 */
static char *next_name(const char *text, int again)
{
	static size_t at;
	size_t len = strlen(text);
	char *name;

	if (!again)
		at = 0;
	for (; here_commands && here_commands[at].name; at++)
		if (!strncmp(here_commands[at].name, text, len))
			return strdup(here_commands[at++].name);
	for (; here_options && here_options[at].name; at++) {
		if (asprintf(&name, "--%s", here_options[at].name) < 0)
			return NULL;
		if (!strncmp(name, text, len)) {
			at++;
			return name;
		}
		free(name);
	}
	return NULL;
}

static void find_here(char *before)
{
	char *words[WORDS_MAX + 1];
	int i, nr = split(before, words);

	here_commands = lnetctl_commands;
	here_options = NULL;
	for (i = 0; i < nr && here_commands; i++) {
		const struct command *cmd = here_commands;

		while (cmd->name && strcmp(cmd->name, words[i]))
			cmd++;
		here_commands = cmd->name ? cmd->sub : NULL;
		here_options = cmd->name && !cmd->sub ? cmd->opts : NULL;
	}
}

static char **complete(const char *text, int start, int end)
{
	char *before = strndup(rl_line_buffer, (size_t)start);

	(void)end;
	if (!before)
		return NULL;
	find_here(before);
	free(before);
	/* Only arguments of import and export are completed as file names. */
	rl_attempted_completion_over = here_commands || *text == '-';
	return rl_attempted_completion_over ? rl_completion_matches(text, next_name) : NULL;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void remember(const char *line)
{
	const HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1)
						: NULL;

	if (*line && (!last || strcmp(last->line, line)))
		add_history(line);
}

/*
 * Returns the next line, which the caller frees. NULL: the input has ended. A pipe gets no prompt
 * and no echo.
 */
static char *next_line(void)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (isatty(STDIN_FILENO)) {
		line = readline(PROMPT);
		if (line)
			remember(line);
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

/* If the node has ended, closes the link to it. The next command opens a new link. */
static void forget_gone(struct tool *t, int rc)
{
	int err = rc && t->c ? lnetctl_error(t->c)->err : 0;

	if (err != -ECONNRESET && err != -ECONNREFUSED)
		return;
	lnetctl_close(t->c);
	t->c = NULL;
}

static bool ends_shell(const char *word)
{
	return tool_is_builtin(word, "quit") || tool_is_builtin(word, "exit");
}

static int run_line(struct tool *t, int (*run)(struct tool *t, int argc, char **argv), int nr,
		    char **words)
{
	int rc;

	if (nr < 0)
		return tool_usage("a line may have at most %d words", WORDS_MAX);
	rc = run(t, nr, words);
	forget_gone(t, rc);
	return rc;
}

int tool_shell(struct tool *t, int (*run)(struct tool *t, int argc, char **argv))
{
	char *words[WORDS_MAX + 1], *line;
	bool ignore = false;
	int rc = 0;

	rl_attempted_completion_function = complete;
	using_history();
	stifle_history(HISTORY_MAX);
	while ((line = next_line())) {
		int nr = split(line, words);
		bool quit = nr > 0 && ends_shell(words[0]);

		if (nr && !quit) {
			ignore |= nr > 0 && tool_is_builtin(words[0], "ignore_errors");
			rc = run_line(t, run, nr, words);
			fflush(stdout);
		}
		free(line);
		if (quit)
			break;
	}
	return ignore ? 0 : rc;
}
