/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of lnetsim: a table of options with their ranges, and all usage errors. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "options.h"
#include "utils/lib/exit_status.h"

static const char help[] =
	"usage: lnetsim [--seed N | --seeds A..B] [--nodes N] [--lnd sim|sock] [--brief | "
	"--scenario FILE] [--twice] [--hashes] [--jobs N] [--verbose]\n"
	"       lnetsim --record FILE [--record-node N] [--record-size BYTES] ...\n"
	"       lnetsim --replay FILE\n"
	"       lnetsim --crowd PARTNERS [--nodes N] [--rate N] [--storm] "
	"[--seed N | --seeds A..B] [--twice]\n"
	"       lnetsim --selftest-tree [--nodes N] [--core] [--flat | --faults] [--children N] "
	"[--loops N] [--seed N | --seeds A..B] [--twice]\n"
	"       lnetsim --selftest [--nodes N] [--seed N | --seeds A..B] [--twice]\n"
	"       lnetsim --help | --version\n";

enum kind { FLAG, COUNT, NUMBER, TEXT, SEED, SEEDS, LND, SHOW };

struct row {
	const char *name;
	char letter; /* 0: only the long form */
	enum kind kind;
	size_t offset; /* in struct options */
	u64 min, max;  /* of a NUMBER */
};

#define AT(member) offsetof(struct options, member)
static const struct row rows[] = {
	{ "seed", 's', SEED },
	{ "seeds", 'S', SEEDS },
	{ "nodes", 'n', NUMBER, AT(nodes), 2, 100000 },
	{ "scenario", 'f', TEXT, AT(scenario) },
	{ "twice", '2', FLAG, AT(twice) },
	{ "hashes", 'H', FLAG, AT(hashes) },
	{ "jobs", 'j', NUMBER, AT(jobs), 1, 256 },
	{ "verbose", 'v', COUNT, AT(verbose) },
	{ "lnd", 'l', LND, AT(sock) },
	{ "crowd", 'c', NUMBER, AT(partners), 1, 99999 },
	{ "rate", 0, NUMBER, AT(rate), 1, U32_MAX },
	{ "brief", 0, FLAG, AT(brief) },
	{ "record", 0, TEXT, AT(record) },
	{ "record-node", 0, NUMBER, AT(record_node), 0, 99999 },
	{ "record-size", 0, NUMBER, AT(record_bytes), 1, 1ull << 40 },
	{ "replay", 0, TEXT, AT(replay) },
	{ "selftest", 0, FLAG, AT(selftest) },
	{ "selftest-tree", 0, FLAG, AT(tree) },
	{ "flat", 0, FLAG, AT(flat) },
	{ "core", 0, FLAG, AT(core) },
	{ "faults", 0, FLAG, AT(faults) },
	{ "children", 0, NUMBER, AT(children), 2, 64 },
	{ "loops", 0, NUMBER, AT(loops), 1, U32_MAX },
	{ "storm", 0, FLAG, AT(storm) },
	{ "help", 'h', SHOW },
	{ "version", 'V', SHOW },
};
#define NR_ROWS ARRAY_SIZE(rows)
#define LONG	256 /* getopt_long() returns LONG + row */

static int lnetsim_usage(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));

static int lnetsim_usage(const char *fmt, ...)
{
	va_list args;

	fputs("lnetsim: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("; see lnetsim --help\n", stderr);
	return EXIT_USAGE;
}

static bool takes_value(const struct row *row)
{
	return row->kind != FLAG && row->kind != COUNT && row->kind != SHOW;
}

/*
 * Parses the number at @text, which must end at @end. If @end is NULL, the number must end with the
 * text.
 */
static bool option_number_read(const char *text, const char *end, u64 *num)
{
	char *stop;

	errno = 0;
	*num = strtoull(text, &stop, 0);
	return text[0] >= '0' && text[0] <= '9' && !errno && (end ? stop == end : !*stop);
}

static bool seeds_read(struct options *o, const char *text)
{
	const char *dots = strstr(text, "..");

	return dots && option_number_read(text, dots, &o->first) &&
	       option_number_read(dots + 2, NULL, &o->last) && o->first <= o->last;
}

static int value_read(struct options *o, const struct row *row, const char *text)
{
	void *to = (char *)o + row->offset;

	switch (row->kind) {
	case NUMBER:
		if (option_number_read(text, NULL, to) && *(u64 *)to >= row->min &&
		    *(u64 *)to <= row->max)
			return 0;
		return lnetsim_usage("--%s must be %llu to %llu, not '%s'", row->name,
				     (unsigned long long)row->min, (unsigned long long)row->max,
				     text);
	case TEXT:
		*(const char **)to = text;
		return 0;
	case SEED:
		if (!option_number_read(text, NULL, &o->first))
			return lnetsim_usage("--seed must be 0 to 18446744073709551615, not '%s'",
					     text);
		o->last = o->first;
		return 0;
	case SEEDS:
		return seeds_read(o, text)
			       ? 0
			       : lnetsim_usage("--seeds must be A..B with A <= B, not '%s'", text);
	case LND:
		*(bool *)to = !strcmp(text, "sock");
		return *(bool *)to || !strcmp(text, "sim")
			       ? 0
			       : lnetsim_usage("--lnd must be sim or sock, not '%s'", text);
	case COUNT:
		++*(u64 *)to;
		return 0;
	default:
		*(bool *)to = true;
		return 0;
	}
}

static const struct row *option_row_of(int c)
{
	unsigned int i;

	if (c >= LONG)
		return &rows[c - LONG];
	for (i = 0; i < NR_ROWS; i++)
		if (c && rows[i].letter == c)
			return &rows[i];
	return NULL;
}

/*
 * Prints a usage error. @c is ':' for a missing value, or '?' for an option that is unknown or has
 * no value.
 */
static int lnetsim_usage_option(int c, char **argv)
{
	const struct row *row = option_row_of(optopt);

	if (c == ':')
		return lnetsim_usage("--%s needs a value", row->name);
	if (row && optopt >= LONG)
		return lnetsim_usage("--%s takes no value", row->name);
	return lnetsim_usage("there is no option '%s'", argv[optind - 1]);
}

static void option_table_make(struct option *longs, char *letters)
{
	unsigned int i;

	*letters++ = ':';
	for (i = 0; i < NR_ROWS; i++) {
		longs[i] =
			(struct option){ rows[i].name, takes_value(&rows[i]), NULL, LONG + (int)i };
		if (!rows[i].letter)
			continue;
		*letters++ = rows[i].letter;
		if (takes_value(&rows[i]))
			*letters++ = ':';
	}
	*letters = 0;
}

static int option_show(const struct row *row)
{
	if (row->letter == 'V')
		puts("lnetsim " LNET_VERSION);
	else
		fputs(help, stdout);
	return EXIT_DONE;
}

static int options_check(const struct options *o, int argc, char **argv)
{
	if (optind < argc)
		return lnetsim_usage("unexpected argument '%s'", argv[optind]);
	if (!!o->replay + !!o->partners + o->tree + o->selftest > 1)
		return lnetsim_usage(
			"at most one of --replay, --crowd, --selftest-tree and --selftest may "
			"be given");
	if (o->partners && o->nodes && o->nodes <= o->partners)
		return lnetsim_usage("--nodes must be above --crowd (%llu), not %llu",
				     (unsigned long long)o->partners, (unsigned long long)o->nodes);
	return OPTIONS_RUN;
}

int options_read(struct options *o, int argc, char **argv)
{
	struct option longs[NR_ROWS + 1] = { { 0 } };
	char letters[2 * NR_ROWS + 2];
	int c, rc;

	*o = (struct options){ .first = 1, .last = 1, .jobs = 1, .record_bytes = 256 << 20 };
	option_table_make(longs, letters);
	if (argc > 1 && !strcmp(argv[1], "help"))
		return option_show(option_row_of('h'));
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == '?' || c == ':')
			return lnetsim_usage_option(c, argv);
		if (option_row_of(c)->kind == SHOW)
			return option_show(option_row_of(c));
		rc = value_read(o, option_row_of(c), optarg);
		if (rc)
			return rc;
	}
	return options_check(o, argc, argv);
}
