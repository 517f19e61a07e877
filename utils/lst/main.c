/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The program lst: the console of network self-tests. Finds the command in the table and runs it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../lib/output.h"
#include "lst.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool needs_key;
	const char *help;
} commands[] = {
	{ "new_session", verb_new_session, true,
	  "[--timeout TIME] [--lease TIME] [--force] [NAME]" },
	{ "end_session", verb_end_session, true, "" },
	{ "show_session", verb_show_session, false, "" },
	{ "ping", verb_ping, true,
	  "[--session] [--group NAME] [--nodes IDs] [--batch NAME] [--server] [--timeout TIME]" },
	{ "add_group", verb_add_group, true, "NAME IDs [IDs]..." },
	{ "del_group", verb_del_group, true, "NAME" },
	{ "update_group", verb_update_group, true,
	  "NAME [--clean STATE] [--refresh] [--remove IDs]" },
	{ "list_group", verb_list_group, true,
	  "[--active] [--busy] [--down] [--unknown] [--all] [NAME]..." },
	{ "stat", verb_stat, true,
	  "[--bw] [--rate] [--read] [--write] [--avg] [--min] [--max] [--lnet] [--rpc] [--mbs] "
	  "[--timeout TIME] [--delay TIME] [--count N] GROUP|IDs..." },
	{ "stat", verb_stat, true,
	  "--once|--interval TIME|--live [--json|--yaml] [--count N] [--batch NAME [--test INDEX]] "
	  "[--pairs] [--rails] [--record] [--file FILE] [GROUP|IDs|all]" },
	{ "show_error", verb_show_error, true, "[--session] GROUP|IDs..." },
	{ "add_batch", verb_add_batch, true, "NAME" },
	{ "run", verb_run, true, "[--timeout TIME] [--together [--skew TIME]] [NAME]" },
	{ "stop", verb_stop, true, "[--force] [NAME]" },
	{ "list_batch", verb_list_batch, true,
	  "[NAME [--test INDEX] [--server] [--active] [--invalid] [--all]]" },
	{ "wait", verb_wait, true, "[--timeout TIME] [NAME]" },
	{ "query", verb_query, true,
	  "[--test INDEX] [--server] [--timeout TIME] [--loop N] [--delay TIME] [--active] "
	  "[--idle] [--error] [--all] [NAME]" },
	{ "add_test", verb_add_test, true,
	  "[--batch NAME] [--loop N] [--concurrency N] [--distribute D:S] --from GROUP --to GROUP "
	  "TEST..." },
	{ "pattern", verb_pattern, true,
	  "[--batch NAME] [--loop N] [--concurrency N] [--time T] [--two-way] --group GROUP "
	  "[--to GROUP] star|ring|chaos|permutation[:SEED]|incast|... [TEST...]" },
	{ "pattern", verb_pattern, true,
	  "--group NAME --topo star|chaos|ring|all [--dir uni|bi] [--unit b|K|M] [--min N] "
	  "[--max N] [--step N|--mult N] [--iter N] [--repeat N] [--print average|total|local] "
	  "[--check none|ends|full] [--output FILE] [--matrix FILE]" },
	{ "nettest", verb_nettest, true,
	  "GROUP [ARGUMENT]..., which are those of the program nettest" },
	{ "bulk_server", verb_bulk_server, false, "[-s SIZE] [-c COUNT] [WORD...]" },
	{ "bulk_write", verb_bulk_write, false,
	  "[-s SIZE] [--loop N] [--concurrency N] --target \"HOST|NID...\" [WORD...]" },
	{ "tree", verb_tree, true,
	  "join [--k K] RANGES... | add_test OPTIONS --from RANGES --to RANGES TEST | run [NAME] | "
	  "stop [--force] [NAME] | show | leave" },
	{ "plot", verb_plot, false,
	  "[--file FILE] [--output SVG] [--script] cdf|rate|matrix|delays ID" },
	{ "history", verb_history, false,
	  "[--file FILE] list | show [--json] [--all] ID | verify ID... | "
	  "purge [--age TIME] [--session NAME] [--size BYTES] [ID]..." },
	{ NULL }
};

/* @name NULL: all commands. */
static int lst_help(const char *name)
{
	const struct command *c;
	bool found = false;

	for (c = commands; c->name; c++) {
		if (name && strcmp(c->name, name))
			continue;
		printf("lst %s %s\n", c->name, c->help);
		found = true;
	}
	if (!found)
		return misused("lst: '%s' is not a command. See 'lst help'.", name);
	if (!name)
		puts("Options: --node NAME, --help, --version. The key of the session is in "
		     "LST_SESSION: export LST_SESSION=$$");
	return 0;
}

/* Writes all forms of the arguments that the command @name accepts to @buf. */
static void command_words(const char *name, char *buf, size_t size)
{
	const struct command *c;
	size_t len = 0;

	buf[0] = 0;
	for (c = commands; c->name && len < size; c++)
		if (!strcmp(c->name, name))
			len += (size_t)snprintf(buf + len, size - len, "%slst %s %s",
						len ? "; or " : "", name, c->help);
}

int option_next(int argc, char **argv, const char *letters, const struct option *options,
		int *index)
{
	char words[900];
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, letters, options, index);
	if (c != '?')
		return c;
	command_words(argv[0], words, sizeof(words));
	if (optopt && (optopt > 127 || strchr(letters, optopt)))
		misused("%s: option '%s' has no value although it needs one, or has a value "
			"although it accepts none: %s",
			argv[0], argv[optind - 1], words);
	else
		misused("%s: there is no option '%s': %s", argv[0], argv[optind - 1], words);
	return c;
}

/*
 * Checks the arguments of a command without options. Rejects a name such as --frob, which is
 * probably a mistake.
 */
static bool no_options(const struct command *c, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc && !strchr(c->help, '-'); i++)
		if (*argv[i] == '-') {
			misused("%s: there is no option '%s': lst %s %s", argv[0], argv[i], c->name,
				c->help);
			return false;
		}
	return true;
}

static bool is_any(const char *word, const char *a, const char *b, const char *c)
{
	return word && (!strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c));
}

/*
 * Does $LST_SESSION contain a session key? The key is a 32-bit number above 0, without further
 * text.
 */
static bool has_key(void)
{
	const char *key = getenv("LST_SESSION");
	char *end;
	unsigned long long num = key ? strtoull(key, &end, 0) : 0;

	return num && !*end && num <= UINT32_MAX;
}

static const struct command *lst_command_find(const char *name)
{
	const struct command *c;

	for (c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static int lst_dispatch(int argc, char **argv)
{
	const struct command *c = lst_command_find(argv[0]);

	status_of_failure = 0;
	if (is_any(argv[0], "help", "--help", "-h"))
		return lst_help(argv[1]);
	if (is_any(argv[0], "version", "--version", "-V"))
		return puts("lst " LNET_VERSION) < 0;
	if (c && is_any(argv[1], "--help", "-h", "--help"))
		return lst_help(argv[0]);
	if (!c && *argv[0] == '-')
		return misused(
			"lst: there is no option '%s'; options are --node, --help and --version",
			argv[0]);
	if (!c) {
		status_of_failure = EXIT_NO_COMMAND;
		return misused("lst: '%s' is not a command. See 'lst help'.", argv[0]);
	}
	if (c->needs_key && !has_key())
		return failed("Can't find env LST_SESSION or value is not valid: set LST_SESSION "
			      "first: export LST_SESSION=$$");
	if (!no_options(c, argc, argv))
		return -1;
	optind = 0;
	return c->run(argc, argv);
}

/* Runs the program under its further names bulk_server and bulk_write. */
static int bulk_program_run(int argc, char **argv)
{
	if (argc > 1 && is_any(argv[1], "version", "--version", "-V"))
		return printf("%s " LNET_VERSION "\n", argv[0]) < 0;
	if (argc > 1 && is_any(argv[1], "help", "--help", "-h"))
		return lst_help(argv[0]);
	return lst_dispatch(argc, argv);
}

#define WORDS_MAX 255	/* in a line */

static int status_of(int rc)
{
	if (rc && !status_of_failure)
		return EXIT_USAGE;
	return rc ? status_of_failure : EXIT_DONE;
}

/* Runs lines of commands from a terminal or a pipe. Returns the status of the last command. */
static int interactive(void)
{
	char line[4096], *argv[WORDS_MAX + 1], *save, *word;
	bool typed = isatty(0);
	int argc, rc = 0;

	for (;;) {
		if (typed) {
			fputs("lst > ", stdout);
			fflush(stdout);
		}
		if (!fgets(line, sizeof(line), stdin))
			return rc;
		argc = 0;
		for (word = strtok_r(line, " \t\n", &save); word && argc < WORDS_MAX;
		     word = strtok_r(NULL, " \t\n", &save))
			argv[argc++] = word;
		argv[argc] = NULL;
		if (!argc || argv[0][0] == '#')
			continue;
		if (word) {
			rc = misused("lst: a line has at most %d words", WORDS_MAX);
			continue;
		}
		if (!strcmp(argv[0], "quit") || !strcmp(argv[0], "exit"))
			return rc;
		rc = lst_dispatch(argc, argv);
	}
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	int at = 1;

	output_check();
	setvbuf(stdout, NULL, _IOLBF, 0);
	argv[0] = name ? argv[0] + (name + 1 - argv[0]) : argv[0];
	if (!strncmp(argv[0], "bulk_", 5))
		return status_of(bulk_program_run(argc, argv));
	if (argc > 1 && !strcmp(argv[1], "--node")) {
		if (argc == 2)
			return status_of(misused("lst: --node needs the name of a node"));
		link_node = argv[2];
		at = 3;
	}
	return status_of(at == argc ? interactive() : lst_dispatch(argc - at, argv + at));
}
