/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command lst tree, for a self-test session of many nodes. Ranges of NIDs name the nodes. The
 * nodes form a tree, in which each node passes requests of the console to the nodes below it.
 */
#include <string.h>
#include "lst.h"

#define BATCH_DEFAULT "batch"

/* ---- results ------------------------------------------------------------------------------- */

static void print_nids(const struct lnetctl_node *doc, const char *list, const char *why)
{
	const struct lnetctl_node *n = lnetctl_find(doc, list);

	for (n = n ? n->first : NULL; n; n = n->next)
		fprintf(stderr, "%s: %s\n", n->text ? n->text : "", why);
}

/* Prints missing and rejected nodes. The console lists at most a thousand nodes of each kind. */
unsigned int tree_print_missing(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *tree = lnetctl_find(doc, "tree");
	int64_t missing = number(tree, "missing"), refused = number(tree, "refused");

	print_nids(doc, "missing", "missing");
	print_nids(doc, "refused", "refused");
	if (refused)
		fprintf(stderr, "%lld nodes rejected the request: %s\n", (long long)refused,
			error_text((int)number(tree, "errno")));
	if (missing)
		fprintf(stderr, "%lld nodes are missing\n", (long long)missing);
	return (unsigned int)(missing + refused);
}

static int print_answer(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *tree = lnetctl_find(doc, "tree");

	printf("%s of %s nodes, %s levels of %s: %s requests, %s answers, %lld us\n",
	       text(tree, "done"), text(tree, "nodes"), text(tree, "levels"), text(tree, "k"),
	       text(tree, "asked"), text(tree, "told"), (long long)number(tree, "took_us"));
	return tree_print_missing(doc) ? nodes_failed() : 0;
}

/* Sends a request. Returns 0, or -1 after a message. */
static int tree_request(struct request *r, const char *what, const char *doing)
{
	struct lnetctl_node *doc = NULL;
	int rc = request_send(r, &doc);
	const struct lnetctl_node *start = lnetctl_find(doc, "start");

	if (rc)
		rc = fail(rc, what, doing);
	else
		rc = print_answer(doc);
	if (start)
		printf("the start is in %lld us, clocks are known to %lld us\n",
		       (long long)number(start, "in_us"),
		       (long long)number(start, "bound_ns") / 1000 + 1);
	lnetctl_doc_free(doc);
	return rc;
}

/* ---- commands ------------------------------------------------------------------------------ */

static int tree_command_join(int argc, char **argv)
{
	static const struct option options[] = { { "k", required_argument, NULL, 'k' }, { 0 } };
	char ranges[32768] = "";
	struct request r;
	size_t len = 0;
	long long k;
	int c;

	request_begin(&r, "tree_join");
	while ((c = option_next(argc, argv, "k:", options, NULL)) != -1) {
		if (c != 'k' || !parse_number("--k", optarg, 2, 64, &k))
			return -1;
		request_add(&r, "k", "%lld", k);
	}
	for (; optind < argc && len < sizeof(ranges); optind++)
		len += (size_t)snprintf(ranges + len, sizeof(ranges) - len, "%s%s",
					len ? " " : "", argv[optind]);
	if (!len || len >= sizeof(ranges))
		return misused("nodes of a tree must be ranges of NIDs, as 10.0.[0-3].[2-200]@tcp");
	request_add(&r, "ranges", "%s", ranges);
	return tree_request(&r, "A tree", "join");
}

static int tree_command_run(int argc, char **argv)
{
	struct request r;

	if (argc > 2)
		return misused("tree run [NAME]");
	request_begin(&r, "tree_run");
	request_add(&r, "batch", "%s", argc == 2 ? argv[1] : BATCH_DEFAULT);
	return tree_request(&r, "tree or batch", "start");
}

static int tree_command_stop(int argc, char **argv)
{
	static const struct option options[] = { { "force", no_argument, NULL, 'f' }, { 0 } };
	struct request r;
	int c;

	request_begin(&r, "tree_stop");
	while ((c = option_next(argc, argv, "f", options, NULL)) != -1) {
		if (c != 'f')
			return -1;
		request_add(&r, "force", "1");
	}
	if (!words_end(argc, argv, 1))
		return -1;
	request_add(&r, "batch", "%s", optind < argc ? argv[optind] : BATCH_DEFAULT);
	return tree_request(&r, "tree or batch", "stop");
}

static int leave(int argc, char **argv)
{
	struct request r;

	request_begin(&r, "tree_leave");
	return tree_request(&r, "a tree", "leave");
}

static int tree_command_show(int argc, char **argv)
{
	struct request r;

	request_begin(&r, "tree_show");
	return tree_request(&r, "a tree", "show the tree");
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	/* maximum arguments; -1: the command checks its arguments */
	int words_max;
} commands[] = { { "join", tree_command_join, -1 },
		 { "add_test", tree_test, -1 },
		 { "run", tree_command_run, 1 },
		 { "stop", tree_command_stop, -1 },
		 { "leave", leave, 0 },
		 { "show", tree_command_show, 0 },
		 { NULL } };

/* Checks the arguments of a command that has no options. */
static bool words_good(const struct command *c, int argc, char **argv)
{
	int i;

	if (c->words_max < 0)
		return true;
	for (i = 1; i < argc; i++)
		if (*argv[i] == '-' || i > c->words_max) {
			misused("tree %s: unexpected argument '%s': it accepts %s",
				c->name, argv[i],
				c->words_max ? "only the name of a batch" : "no arguments");
			return false;
		}
	return true;
}

int verb_tree(int argc, char **argv)
{
	const struct command *c = commands;

	while (c->name && (argc < 2 || strcmp(c->name, argv[1])))
		c++;
	if (!c->name)
		return misused("tree join, add_test, run, stop, leave or show");
	return words_good(c, argc - 1, argv + 1) ? c->run(argc - 1, argv + 1) : -1;
}
