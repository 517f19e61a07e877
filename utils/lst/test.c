/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command lst add_test: kind, clients, servers and number of requests of a test. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "lst.h"

#define MTU 1048576

/* Returns the value if @word is "NAME=VALUE" with the name @name or @letter, else NULL. */
static const char *test_word_value(const char *word, const char *name, const char *letter)
{
	size_t len = strcspn(word, "=");

	if (word[len] != '=')
		return NULL;
	if ((strlen(name) == len && !strncmp(word, name, len)) ||
	    (strlen(letter) == len && !strncmp(word, letter, len)))
		return word + len + 1;
	return NULL;
}

static bool test_size_parse(const char *in, long long *size)
{
	char *end;

	*size = strtoll(in, &end, 0);
	if (*end == 'k' || *end == 'K')
		*size *= 1024;
	else if (*end == 'm' || *end == 'M')
		*size *= 1048576;
	else if (*end)
		*size = 0;
	if (end != in && *size > 0 && *size <= MTU && (!*end || !end[1]))
		return true;
	misused("size must be 1 to %d bytes, as 4096, 4K or 1M, not '%s'", MTU, in);
	return false;
}

/*
 * Converts the name of a check of the messages' contents to its number in the request: the position
 * of the name in checks[], from 1. Returns 0 if the name is unknown.
 */
static int check_parse(const char *name)
{
	static const char *const checks[] = { "none", "simple", "full", "discard" };
	int i;

	for (i = 0; i < 4; i++)
		if (!strcmp(checks[i], name))
			return i + 1;
	misused("check must be none, simple, full or discard, not '%s'", name);
	return 0;
}

struct brw {
	int opc, check;
	bool skip;
	long long size, off;
};

static bool brw_word(struct brw *b, const char *word)
{
	const char *value;

	if (!strcmp(word, "read") || !strcmp(word, "r"))
		b->opc = 1;
	else if (!strcmp(word, "write") || !strcmp(word, "w"))
		b->opc = 2;
	else if (!strcmp(word, "skip_rx_copy") || !strcmp(word, "skip-rx-copy"))
		b->skip = true;
	else if ((value = test_word_value(word, "check", "c")))
		return (b->check = check_parse(value)) != 0;
	else if ((value = test_word_value(word, "size", "s")))
		return test_size_parse(value, &b->size);
	else if ((value = test_word_value(word, "off", "o")))
		return parse_number("off", value, 0, 4095, &b->off);
	else
		return misused("brw takes read, write, check=, size=, off= and skip_rx_copy, "
			       "not '%s'", word), false;
	return true;
}

static bool add_brw(struct request *r, char **words)
{
	struct brw b = { .opc = 1, .size = 4096 };

	for (; *words; words++)
		if (!brw_word(&b, *words))
			return false;
	if (b.off % 8)
		return misused("off must be a multiple of 8, not %lld", b.off), false;
	if (b.skip && b.check && b.check != 4)
		return misused("skip_rx_copy excludes check="), false;
	request_add(r, "type", "brw");
	request_add(r, "opc", "%d", b.opc);
	request_add(r, "check", "%d", b.skip ? 4 : b.check ? b.check : 1);
	request_add(r, "size", "%lld", b.size);
	request_add(r, "off", "%lld", b.off);
	return true;
}

static bool add_kind(struct request *r, char **words)
{
	if (!*words)
		return misused("add_test needs a test: ping, brw or bulk"), false;
	if (!strcmp(words[0], "brw"))
		return add_brw(r, words + 1);
	if (strcmp(words[0], "ping") && strcmp(words[0], "bulk"))
		return misused("the test must be ping, brw or bulk, not '%s'", words[0]), false;
	request_add(r, "type", "%s", words[0]);
	for (words++; *words; words++)
		if (!plan_add_word(r, *words))
			return false;
	return true;
}

static bool add_distribution(struct request *r, const char *in)
{
	unsigned int dist, span;
	char rest;

	if (sscanf(in, "%u:%u%c", &dist, &span, &rest) != 2 || !dist || !span)
		return misused("--distribute must be D:S, two numbers above 0, not '%s'", in),
		       false;
	request_add(r, "dist", "%u", dist);
	request_add(r, "span", "%u", span);
	return true;
}

struct test {
	const char *batch, *from, *to;
	bool tree;
};

static bool test_option(struct test *t, struct request *r, int c)
{
	long long num;

	switch (c) {
	case 'b': t->batch = optarg; return true;
	case 'f': t->from = optarg; return true;
	case 't': t->to = optarg; return true;
	case 'd': return add_distribution(r, optarg);
	case 'l':
		if (!parse_number("--loop", optarg, -1, INT_MAX, &num))
			return false;
		request_add(r, "loop", "%lld", num);
		return num || (misused("--loop must be -1 (endless) or 1 to %d, not 0", INT_MAX),
			       false);
	case 'c':
		if (!parse_number("--concurrency", optarg, 1, 1024, &num))
			return false;
		request_add(r, "concur", "%lld", num);
		return true;
	case 's':
		if (!t->tree)
			return misused("--seed is only for trees; use permutation:SEED instead"),
			       false;
		if (!parse_number("--seed", optarg, 0, INT_MAX, &num))
			return false;
		request_add(r, "seed", "%lld", num);
		return true;
	}
	return false;
}

/* Prints an error that names the unknown or unsuitable object. */
static void add_failed(int rc, const struct test *t)
{
	if (rc == -ENOENT && !is_there("list_batch", t->batch))
		fail_of(rc, "batch", t->batch, "add test");
	else if (rc == -ENOENT && !t->tree)
		fail_of(rc, "group", is_there("list_group", t->from) ? t->to : t->from, "add test");
	else if (rc == -EBUSY)
		failed("Failed to add test: %s: batch %s runs, 'lst stop %s' first",
		       strerror(EBUSY), t->batch, t->batch);
	else if (rc == -EINVAL && !t->tree)
		failed("Invalid parameters list in command line: group %s has %u active nodes, "
		       "group %s has %u; --distribute D:S needs S", t->from, nr_active(t->from),
		       t->to, nr_active(t->to));
	else
		fail(rc, "batch or group", "add test");
}

static int send_test(struct request *r, const struct test *t)
{
	struct lnetctl_node *doc = NULL;
	int rc;

	if (t->tree && map_is_listed(r))
		return misused("a tree does not accept a map from a file");
	request_add(r, "batch", "%s", t->batch);
	request_add(r, "from", "%s", t->from);
	request_add(r, "to", "%s", t->to);
	rc = request_send(r, &doc);
	if (!rc && (print_errors(doc) || tree_print_missing(doc)))
		rc = -1;
	else if (!rc)
		puts("Test was added successfully");
	else if (!map_print_bad(r, doc))
		add_failed(rc, t);
	lnetctl_doc_free(doc);
	return rc ? -1 : 0;
}

/* The options that only tests of this project have. */
#define OWN_OPTIONS \
	{ "time", required_argument, NULL, 0 }, { "warmup", required_argument, NULL, 0 }, \
	{ "rate", required_argument, NULL, 0 }, { "lost-after", required_argument, NULL, 0 }, \
	{ "two-way", no_argument, NULL, 0 }

/*
 * Reads options up to the first argument that is no option. *@own counts the options that stock
 * does not have.
 */
static bool take_options(struct test *t, struct request *r, int argc, char **argv,
			 const struct option *options, unsigned int *own)
{
	int c, ix;

	*own = 0;
	while ((c = option_next(argc, argv, "+b:c:d:f:l:n:t:", options, &ix)) != -1) {
		*own += !c;
		if (c ? !test_option(t, r, c == 'n' ? 'l' : c) :
			!plan_add(r, options[ix].name, strlen(options[ix].name), optarg))
			return false;
	}
	return true;
}

/* Adds a test. @verb is the request to the console. */
static int test_command_add(const char *verb, int argc, char **argv)
{
	static const struct option options[] = { { "batch", required_argument, NULL, 'b' },
						 { "concurrency", required_argument, NULL, 'c' },
						 { "distribute", required_argument, NULL, 'd' },
						 { "from", required_argument, NULL, 'f' },
						 { "to", required_argument, NULL, 't' },
						 { "loop", required_argument, NULL, 'l' },
						 { "map", required_argument, NULL, 0 },
						 { "seed", required_argument, NULL, 's' },
						 OWN_OPTIONS, { 0 } };
	struct test t = { .batch = "batch", .tree = !strcmp(verb, "tree_test") };
	struct request r;
	unsigned int own;

	request_begin(&r, verb);
	if (!take_options(&t, &r, argc, argv, options, &own))
		return -1;
	if (own && argv[optind] && !strcmp(argv[optind], "brw"))
		return misused("brw accepts no time, rate, warmup or map: use bulk");
	if (!t.from || !t.to)
		return misused("add_test needs both --from GROUP and --to GROUP");
	return add_kind(&r, argv + optind) ? send_test(&r, &t) : -1;
}

int verb_add_test(int argc, char **argv)
{
	return test_command_add("add_test", argc, argv);
}

int tree_test(int argc, char **argv)
{
	return test_command_add("tree_test", argc, argv);
}

/*
 * Adds a test with a named pattern. It sends between the nodes of one group, or from these to
 * another group.
 */
int verb_pattern(int argc, char **argv)
{
	static const struct option options[] = { { "batch", required_argument, NULL, 'b' },
						 { "concurrency", required_argument, NULL, 'c' },
						 { "group", required_argument, NULL, 'f' },
						 { "to", required_argument, NULL, 't' },
						 { "loop", required_argument, NULL, 'l' },
						 OWN_OPTIONS, { 0 } };
	static const char *const usual[] = { "bulk", NULL };
	struct test t = { .batch = "batch" };
	struct request r;
	unsigned int own;

	if (topo_asked(argv))
		return verb_topo(argc, argv);
	request_begin(&r, "add_test");
	if (!take_options(&t, &r, argc, argv, options, &own))
		return -1;
	if (!t.from || !argv[optind])
		return misused("pattern --group G [--to G] [--two-way] star, ring, chaos, "
			       "permutation:SEED, incast, one-to-one, one-to-all, all-to-all or "
			       "file:PATH [TEST]");
	t.to = t.to ? t.to : t.from;
	if (!plan_add(&r, "map", 3, argv[optind]))
		return -1;
	argv += optind + 1;
	if (argv[0] && !strcmp(argv[0], "brw"))
		return misused("brw accepts no patterns: use bulk");
	return add_kind(&r, argv[0] ? argv : (char **)usual) ? send_test(&r, &t) : -1;
}
