/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads options and arguments by getopt_long(), checks them against the tables, and prints help. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "tool.h"

#define OPT_JSON 255	/* every command has it */
#define OPT_HELP 254

void tool_help(const char *path, const struct command *cmd, FILE *out)
{
	const struct opt *o;

	fprintf(out, "%s%s: %s\n", path, cmd->name, cmd->help);
	for (o = cmd->opts; o && o->name; o++)
		fprintf(out, "\t--%s: %s\n", o->name, o->help);
}

static bool may_lack_value(enum arg arg)
{
	return arg == ARG_LEVEL || arg == ARG_WAIT;
}

static int getopt_arg(enum arg arg)
{
	if (arg == ARG_NONE)
		return no_argument;
	return may_lack_value(arg) ? optional_argument : required_argument;
}

/*
 * Converts options for getopt_long(). @letters begins with ':', so that getopt_long() returns ':'
 * for a missing value.
 */
static void getopt_table_make(const struct opt *opts, struct option *lopts, char *letters)
{
	int i;

	*letters++ = ':';
	for (i = 0; opts && opts[i].name; i++) {
		lopts[i] = (struct option){ opts[i].name, getopt_arg(opts[i].arg), NULL, 256 + i };
		if (!opts[i].letter)
			continue;
		*letters++ = opts[i].letter;
		if (opts[i].arg != ARG_NONE)
			*letters++ = ':';
		if (may_lack_value(opts[i].arg))
			*letters++ = ':';
	}
	lopts[i] = (struct option){ "json", no_argument, NULL, OPT_JSON };
	lopts[i + 1] = (struct option){ "help", no_argument, NULL, OPT_HELP };
	lopts[i + 2] = (struct option){ 0 };
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

/* ---- errors of the command line -------------------------------------------------------------- */

/* Lists the options that begin with @prefix, as "--net, --if". Returns their number. */
static unsigned int options_list(const struct opt *opts, const char *prefix, char *buf, size_t size)
{
	unsigned int nr = 0;
	size_t len = 0;

	buf[0] = 0;
	for (; opts && opts->name; opts++) {
		if (strncmp(opts->name, prefix, strlen(prefix)) || len >= size)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s--%s", nr++ ? ", " : "",
					opts->name);
	}
	return nr;
}

static int option_unknown(const struct tool *t, const char *word)
{
	size_t len = strcspn(word, "=");
	char list[700], name[80] = "";

	if (!strncmp(word, "--", 2))
		snprintf(name, sizeof(name), "%.*s", (int)(len - 2), word + 2);
	if (*name && options_list(t->cmd->opts, name, list, sizeof(list)) > 1)
		return tool_usage("option '--%s' is ambiguous: %s", name, list);
	if (!options_list(t->cmd->opts, "", list, sizeof(list)))
		return tool_usage("unrecognized option '%s': %s%s accepts no options", word,
				  t->path, t->cmd->name);
	return tool_usage("unrecognized option '%s': %s%s accepts %s", word, t->path, t->cmd->name,
			  list);
}

static int value_missing(const struct opt *o)
{
	char accepted[200];

	tool_value_accepted(o, accepted, sizeof(accepted));
	return tool_usage("option '--%s' requires an argument: %s", o->name, accepted);
}

/* Prints the error for @c, the value '?' or ':' that getopt_long() returned. */
static int option_wrong(const struct tool *t, int c, char **argv)
{
	const struct opt *o = optopt ? opt_of(t->cmd->opts, optopt) : NULL;
	char word[3] = { '-', (char)optopt, 0 };

	if (c == ':' && o)
		return value_missing(o);
	if (o)
		return tool_usage("option '--%s' doesn't allow an argument: it takes no value, "
				  "not '%s'", o->name, argv[optind - 1]);
	return option_unknown(t, optopt && optopt < 128 ? word : argv[optind - 1]);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_digits(const char *text)
{
	if (!text || !*text)
		return false;
	for (; *text; text++)
		if (!isdigit((unsigned char)*text))
			return false;
	return true;
}

static int given_twice(const struct opt *o, const char *first, const char *val)
{
	if (o->arg == ARG_NONE)
		return tool_usage("option '--%s' is given twice; it may be given once", o->name);
	return tool_usage("option '--%s' is given twice, as '%.100s' and '%.100s'; it may be given "
			  "once", o->name, first, val);
}

static int option_add(struct tool *t, const struct opt *o, const char *val)
{
	char why[400];

	if (!o->many && tool_opt(t, o->name))
		return given_twice(o, tool_opt(t, o->name), val);
	if (t->nr_found == FOUND_MAX)
		return tool_usage("more than %d options in one command", FOUND_MAX);
	if (o->arg != ARG_NONE && !may_lack_value(o->arg) && !strncmp(val, "--", 2))
		return value_missing(o);
	if (!tool_value_check(o, &val, why, sizeof(why)))
		return tool_usage("%s", why);
	t->found[t->nr_found].opt = o;
	t->found[t->nr_found++].val = val ? val : "";
	return 0;
}

/*
 * Returns the value of an option. As in stock's tool, an optional value may be a separate argument:
 * -v 2.
 */
static const char *opt_value(const struct opt *o, int argc, char **argv)
{
	const char *next = optind < argc ? argv[optind] : NULL;
	char why[400];

	if (!may_lack_value(o->arg) || optarg)
		return optarg;
	if (next && (o->arg == ARG_WAIT ? tool_value_check(o, &next, why, sizeof(why)) :
					  is_digits(next)))
		return argv[optind++];
	return o->arg == ARG_WAIT ? WAIT_DEFAULT : "1";
}

static int args_options_read(struct tool *t, int argc, char **argv)
{
	struct option lopts[OPTS_MAX + 3];
	char letters[3 * OPTS_MAX + 2];
	int c, rc = 0;

	getopt_table_make(t->cmd->opts, lopts, letters);
	optind = 0;
	opterr = 0;
	while (!rc && (c = getopt_long(argc, argv, letters, lopts, NULL)) != -1) {
		const struct opt *o;

		if (c == OPT_JSON)
			continue;	/* tool_parse() has read it */
		if (c == OPT_HELP)
			return tool_usage("--help must be the only argument of a command");
		o = c == '?' || c == ':' ? NULL : opt_of(t->cmd->opts, c);
		rc = o ? option_add(t, o, opt_value(o, argc, argv)) : option_wrong(t, c, argv);
	}
	t->nr_rest = argc - optind;
	t->rest = argv + optind;
	return rc;
}

/*
 * Reads the arguments of a command without options. Removes --json, and keeps all other arguments.
 */
static void args_words_read(struct tool *t, int argc, char **argv)
{
	int i, nr = 0;

	for (i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json"))
			argv[1 + nr++] = argv[i];
	t->nr_rest = nr;
	t->rest = argv + 1;
}

/* ---- sets of options ------------------------------------------------------------------------- */

/*
 * Reads the next set of options at *@sets into @names. *@sets is a text such as "net nid;if nid",
 * which has the sets "net nid" and "if nid". The list @names ends with NULL, and points into @buf.
 * False: there is no further set.
 */
#define SET_MAX 12

static bool set_next(const char **sets, char *buf, size_t size, const char **names)
{
	unsigned int nr = 0;
	char *save = NULL, *name;
	size_t len;

	if (!*sets || !**sets)
		return false;
	len = strcspn(*sets, ";");
	snprintf(buf, size, "%.*s", (int)len, *sets);
	*sets += len + ((*sets)[len] == ';');
	for (name = strtok_r(buf, " ", &save); name && nr < SET_MAX;
	     name = strtok_r(NULL, " ", &save))
		names[nr++] = name;
	names[nr] = NULL;
	return true;
}

static int clash_check(const struct tool *t)
{
	const char *sets = t->cmd->clash, *names[SET_MAX + 1], **name;
	char buf[200];

	while (set_next(&sets, buf, sizeof(buf), names)) {
		const char *first = NULL;

		for (name = names; *name; name++) {
			if (!tool_opt(t, *name))
				continue;
			if (first)	/* stock's text */
				return tool_usage("--%s is invalid with --%s option", first, *name);
			first = *name;
		}
	}
	return 0;
}

static int need_check(const struct tool *t)
{
	const char *sets = t->cmd->need, *names[SET_MAX + 1], **name;
	char buf[200], list[300];
	size_t len;

	while (set_next(&sets, buf, sizeof(buf), names)) {
		for (name = names, len = 0; *name && !tool_opt(t, *name); name++)
			if (len < sizeof(list))
				len += (size_t)snprintf(list + len, sizeof(list) - len, "%s'%s'",
							!len ? "" : name[1] ? ", " : " or ",
							*name);
		if (!*name)	/* stock's text */
			return tool_usage("missing mandatory parameters: %s", list);
	}
	return 0;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int args_words_check(const struct tool *t)
{
	const struct command *cmd = t->cmd;
	char word[40];
	size_t i;

	if (t->nr_rest > cmd->words_max && !cmd->words_max)
		return tool_usage("unexpected argument '%s': %s%s accepts no arguments", t->rest[0],
				  t->path, cmd->name);
	if (t->nr_rest > cmd->words_max && cmd->words_max != WORDS_ANY)
		return tool_usage("unexpected argument '%s': %s%s accepts at most %d: %s",
				  t->rest[cmd->words_max], t->path, cmd->name, cmd->words_max,
				  cmd->word);
	if (t->nr_rest >= cmd->words_min)
		return 0;
	for (i = 0; cmd->word[i] && i + 1 < sizeof(word); i++)
		word[i] = (char)tolower((unsigned char)cmd->word[i]);
	word[i] = 0;
	if (!strncmp(cmd->help, cmd->name, strlen(cmd->name)))
		return tool_usage("Missing %s argument: %s%s", word, t->path, cmd->help);
	return tool_usage("Missing %s argument: %s%s %s (%s)", word, t->path, cmd->name, cmd->word,
			  cmd->help);
}

static bool asks_for_help(int argc, char **argv)
{
	return argc == 2 && (!strcmp(argv[1], "-h") || !strcmp(argv[1], "--help"));
}

static bool args_want_json(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "--json"))
			return true;
	return false;
}

int tool_parse(struct tool *t, int argc, char **argv, int *rc)
{
	t->nr_found = 0;
	t->json = t->json_always || args_want_json(argc, argv);
	*rc = 0;
	if (asks_for_help(argc, argv)) {
		tool_help(t->path, t->cmd, stdout);
		return TOOL_ENDS;
	}
	if (t->cmd->raw)
		args_words_read(t, argc, argv);
	else
		*rc = args_options_read(t, argc, argv);
	*rc = *rc ? *rc : args_words_check(t);
	*rc = *rc ? *rc : clash_check(t);
	*rc = *rc ? *rc : need_check(t);
	return *rc ? TOOL_ENDS : 0;
}

/* ---- what was read --------------------------------------------------------------------------- */

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
	return tool_opt_nth(t, name, 0);
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
