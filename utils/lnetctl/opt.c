/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options from their tables: by getopt_long, and help. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define OPT_JSON 255	/* every command has it */

void tool_help(const char *path, const struct command *cmd, FILE *out)
{
	const struct opt *o;

	fprintf(out, "%s%s: %s\n", path, cmd->name, cmd->help);
	for (o = cmd->opts; o && o->name; o++)
		fprintf(out, "\t--%s: %s\n", o->name, o->help);
}

static void table_for_getopt(const struct opt *opts, struct option *lopts, char *letters)
{
	static const int has_arg[] = { no_argument, required_argument, optional_argument };
	int i;

	for (i = 0; opts && opts[i].name; i++) {
		lopts[i] = (struct option){ opts[i].name, has_arg[opts[i].arg], NULL, 256 + i };
		if (!opts[i].letter)
			continue;
		*letters++ = opts[i].letter;
		if (opts[i].arg != ARG_NONE)
			*letters++ = ':';
		if (opts[i].arg == ARG_LEVEL)
			*letters++ = ':';
	}
	lopts[i] = (struct option){ "json", no_argument, NULL, OPT_JSON };
	lopts[i + 1] = (struct option){ 0 };
	*letters = 0;
}

static const struct opt *opt_of(const struct opt *opts, int c)
{
	if (c >= 256)
		return &opts[c - 256];
	for (; opts && opts->name; opts++)
		if (opts->letter == c)
			return opts;
	return NULL;
}

static bool is_digits(const char *text)
{
	if (!text || !*text)
		return false;
	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			return false;
	return true;
}

static void found_add(struct tool *t, const struct opt *o, const char *val, int argc, char **argv)
{
	if (t->nr_found == FOUND_MAX)
		return;
	if (o->arg == ARG_LEVEL && !val && optind < argc && is_digits(argv[optind]))
		val = argv[optind++];
	if (o->arg == ARG_LEVEL && !val)
		val = "1";
	t->found[t->nr_found].opt = o;
	t->found[t->nr_found++].val = val ? val : "";
}

/* 0, or TOOL_HELPED after what getopt has complained about. */
static int parse_options(struct tool *t, int argc, char **argv)
{
	struct option lopts[OPTS_MAX + 2];
	char letters[3 * OPTS_MAX + 1];
	int c;

	table_for_getopt(t->cmd->opts, lopts, letters);
	optind = 0;
	while ((c = getopt_long(argc, argv, letters, lopts, NULL)) != -1) {
		const struct opt *o = c == '?' ? NULL : opt_of(t->cmd->opts, c);

		if (c == OPT_JSON)
			t->json = true;
		else if (o)
			found_add(t, o, optarg, argc, argv);
		else
			return TOOL_HELPED;
	}
	t->nr_rest = argc - optind;
	t->rest = argv + optind;
	return 0;
}

static bool asks_for_help(int argc, char **argv)
{
	return argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));
}

int tool_parse(struct tool *t, int argc, char **argv, int *rc)
{
	t->nr_found = 0;
	t->json = t->json_always;
	t->nr_rest = argc - 1;
	t->rest = argv + 1;
	if (asks_for_help(argc, argv))
		*rc = 1;
	else if (argc - 1 < t->cmd->at_least)
		*rc = -EINVAL;
	else if (!t->cmd->words && parse_options(t, argc, argv))
		*rc = 0;
	else
		return 0;
	tool_help(t->path, t->cmd, stdout);
	return TOOL_HELPED;
}

const char *tool_opt_nth(const struct tool *t, const char *name, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < t->nr_found; i++)
		if (!strcmp(t->found[i].opt->name, name) && !nth--)
			return t->found[i].val;
	return NULL;
}

const char *tool_opt(const struct tool *t, const char *name)
{
	const char *val = NULL;
	unsigned int i;

	for (i = 0; i < t->nr_found; i++)
		if (!strcmp(t->found[i].opt->name, name))
			val = t->found[i].val;
	return val;
}

int64_t tool_num(const struct tool *t, const char *name)
{
	struct lnetctl_node n = { .text = (char *)tool_opt(t, name) };
	int64_t val;

	return lnetctl_num(&n, &val) ? LNETCTL_UNSET : val;
}

unsigned int tool_level(const struct tool *t)
{
	int64_t val = tool_num(t, "verbose");

	return val == LNETCTL_UNSET ? 0 : (unsigned int)val & 0xff;
}

char *tool_words(const struct tool *t)
{
	char *list = NULL, *longer;
	int i;

	for (i = 0; i < t->nr_rest; i++) {
		int len = asprintf(&longer, "%s%s%s", list ? list : "", list ? "," : "",
				   t->rest[i]);

		free(list);
		if (len < 0)
			return NULL;
		list = longer;
	}
	return list;
}
