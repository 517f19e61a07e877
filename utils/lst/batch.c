/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of lst for batches: add, list, run, stop, query. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "lst.h"

#define BATCH_DEFAULT "batch"

int verb_add_batch(int argc, char **argv)
{
	struct request r;
	int rc;

	if (argc != 2)
		return misused("add_batch needs the name of one batch: add_batch NAME");
	if (!name_ok(argv[1], "batch"))
		return -1;
	request_begin(&r, "add_batch");
	request_add(&r, "name", "%s", argv[1]);
	rc = request_send(&r, NULL);
	return rc ? fail_of(rc, "batch", argv[1], "create batch") : 0;
}

/* ---- list ---------------------------------------------------------------------------------- */

static void print_side(const struct lnetctl_node *test, const char *side, const char *label)
{
	const struct lnetctl_node *s = lnetctl_find(test, side);

	printf("\t%s\t%s\t%s\t%s\t%s\t%s\n", label, text(s, "active"), text(s, "busy"),
	       text(s, "down"), text(s, "unknown"), text(s, "total"));
}

static void print_batch(const struct lnetctl_node *batch, long long index)
{
	const struct lnetctl_node *t = lnetctl_find(batch, "tests");
	unsigned int nr = 0;

	for (t = t ? t->first : NULL; t; t = t->next)
		nr++;
	if (!index)
		printf("Batch: %s Tests: %u State: %s\n", text(batch, "name"), nr,
		       text(batch, "state"));
	t = lnetctl_find(batch, "tests");
	for (t = t ? t->first : NULL; t; t = t->next) {
		if (index && number(t, "index") != index)
			continue;
		printf("\tTest %s(%s) (loop: %s, concurrency: %s)\n", text(t, "index"),
		       text(t, "type"), text(t, "loop"), text(t, "concurrency"));
		puts("\tROLE\tACTIVE\tBUSY\tDOWN\tUNKNOWN\tTOTAL");
		print_side(t, "clients", "client");
		print_side(t, "servers", "server");
	}
}

static void batch_nodes_print(const struct lnetctl_node *nodes, const char *wanted)
{
	const struct lnetctl_node *n;

	for (n = nodes ? nodes->first : NULL; n; n = n->next) {
		bool active = !strcmp(text(n, "state"), "Active");

		if (!strcmp(wanted, "all") || active == !strcmp(wanted, "active"))
			printf("\t%s: %s\n", text(n, "id"), text(n, "state"));
	}
}

/* Prints the nodes of one side of a test. These are the listed nodes, or the nodes of the group. */
static int print_members(const struct lnetctl_node *side, const char *wanted)
{
	const struct lnetctl_node *nodes = lnetctl_find(side, "nodes");
	struct lnetctl_node *doc = NULL;
	struct request r;
	int rc = 0;

	if (!nodes) {
		request_begin(&r, "list_group");
		request_add(&r, "name", "%s", text(side, "name"));
		rc = request_send(&r, &doc);
		nodes = lnetctl_find(doc, "groups");
		nodes = lnetctl_find(nodes ? nodes->first : NULL, "nodes");
	}
	if (!rc)
		batch_nodes_print(nodes, wanted);
	lnetctl_doc_free(doc);
	return rc;
}

static int print_side_nodes(const struct lnetctl_node *batch, long long index, bool server,
			    const char *wanted)
{
	const struct lnetctl_node *t = lnetctl_find(batch, "tests"), *side;
	int rc = 0;

	for (t = t ? t->first : NULL; t && !rc; t = t->next) {
		side = lnetctl_find(t, server ? "servers" : "clients");
		if (!index || number(t, "index") == index)
			rc = print_members(side, wanted);
	}
	return rc;
}

static void print_names(const struct lnetctl_node *list)
{
	const struct lnetctl_node *b;
	unsigned int nr = 0;

	for (b = list ? list->first : NULL; b; b = b->next)
		printf("%u) %s\n", ++nr, text(b, "name"));
	printf("Total %u batches\n", nr);
}

static long long nr_tests(const struct lnetctl_node *batch)
{
	const struct lnetctl_node *t = lnetctl_find(batch, "tests");
	long long nr = 0;

	for (t = t ? t->first : NULL; t; t = t->next)
		nr++;
	return nr;
}

static int no_test(const char *batch, long long index)
{
	return failed("Can't find test in current session: batch %s has no test %lld", batch,
		      index);
}

int verb_list_batch(int argc, char **argv)
{
	static const struct option options[] = { { "test", required_argument, NULL, 't' },
						 { "server", no_argument, NULL, 's' },
						 { "active", no_argument, NULL, 'a' },
						 { "invalid", no_argument, NULL, 'i' },
						 { "all", no_argument, NULL, 'l' }, { 0 } };
	const struct lnetctl_node *list;
	const char *wanted = NULL;
	struct lnetctl_node *doc;
	long long index = 0;
	bool server = false;
	struct request r;
	int c, rc;

	while ((c = option_next(argc, argv, "t:sail", options, NULL)) != -1) {
		if (c == '?' || (c == 't' && !parse_number("--test", optarg, 1, INT_MAX, &index)))
			return -1;
		server = server || c == 's';
		if (c == 'a' || c == 'i' || c == 'l')
			wanted = c == 'a' ? "active" : c == 'i' ? "invalid" : "all";
	}
	if (!words_end(argc, argv, 1))
		return -1;
	if (optind == argc && (index || server || wanted))
		return misused("list_batch: --test, --server, --active, --invalid and --all need "
			       "the name of a batch");
	request_begin(&r, "list_batch");
	if (optind < argc)
		request_add(&r, "name", "%s", argv[optind]);
	rc = request_send(&r, &doc);
	list = lnetctl_find(doc, "batches");
	if (!rc && optind == argc)
		print_names(list);
	else if (!rc && index && list && index > nr_tests(list->first))
		rc = -ENOTUNIQ;
	else if (!rc && list && list->first && !wanted)
		print_batch(list->first, index);
	else if (!rc && list && list->first)
		rc = print_side_nodes(list->first, index, server, wanted);
	lnetctl_doc_free(doc);
	if (rc == -ENOTUNIQ)
		return no_test(argv[optind], index);
	return rc ? fail_of(rc, "batch", argv[optind], "list batches") : 0;
}

/* ---- run and stop -------------------------------------------------------------------------- */

int run_failed(int rc, const char *batch)
{
	const struct lnetctl_node *list;
	struct lnetctl_node *doc = NULL;
	struct request r;
	bool empty;

	request_begin(&r, "list_batch");
	request_add(&r, "name", "%s", batch);
	empty = rc == -EINVAL && !request_send(&r, &doc);
	list = lnetctl_find(doc, "batches");
	empty = empty && !nr_tests(list ? list->first : NULL);
	lnetctl_doc_free(doc);
	if (empty)
		return failed("batch %s has no test: 'lst add_test --batch %s ...' first", batch,
			      batch);
	if (rc == -ENODEV)
		return failed("batch %s has no active client: 'lst list_batch %s' lists them",
			      batch, batch);
	return fail_of(rc, "batch", batch, "start batch");
}

int verb_run(int argc, char **argv)
{
	static const struct option options[] = { { "timeout", required_argument, NULL, 't' },
						 { "together", no_argument, NULL, 'g' },
						 { "skew", required_argument, NULL, 's' }, { 0 } };
	struct lnetctl_node *doc;
	long long timeout = 0, skew_ns = 0;
	bool together = false;
	const char *name;
	struct request r;
	int c, rc;

	while ((c = option_next(argc, argv, "t:", options, NULL)) != -1) {
		if (c == '?' || (c == 's' && !time_of(optarg, &skew_ns)))
			return -1;
		if (c == 't' && !parse_number("--timeout", optarg, 1, INT_MAX, &timeout))
			return -1;
		together |= c == 'g' || c == 's';
	}
	if (!words_end(argc, argv, 1))
		return -1;
	name = optind < argc ? argv[optind] : BATCH_DEFAULT;
	if (together)
		return start_together(name, skew_ns);
	request_begin(&r, "run");
	request_add(&r, "name", "%s", name);
	request_add(&r, "timeout", "%lld", timeout);
	rc = request_send(&r, &doc);
	if (!rc && print_errors(doc))
		rc = -1;
	else if (!rc)
		printf("%s is running now\n", name);
	else
		run_failed(rc, name);
	lnetctl_doc_free(doc);
	return rc ? -1 : 0;
}

/* Returns the number of nodes that still run the batch, or -errno. */
static int nr_running(const char *name)
{
	const struct lnetctl_node *n;
	struct lnetctl_node *doc;
	struct request r;
	int rc, nr = 0;

	request_begin(&r, "query");
	request_add(&r, "name", "%s", name);
	rc = request_send(&r, &doc);
	n = lnetctl_find(doc, "nodes");
	for (n = n ? n->first : NULL; n; n = n->next)
		nr += number(n, "active") != 0;
	lnetctl_doc_free(doc);
	return rc ? rc : nr;
}

int verb_stop(int argc, char **argv)
{
	static const struct option options[] = { { "force", no_argument, NULL, 'f' }, { 0 } };
	struct lnetctl_node *doc;
	bool force = false;
	const char *name;
	struct request r;
	int c, rc;

	while ((c = option_next(argc, argv, "f", options, NULL)) != -1) {
		if (c != 'f')
			return -1;
		force = true;
	}
	if (!words_end(argc, argv, 1))
		return -1;
	name = optind < argc ? argv[optind] : BATCH_DEFAULT;
	request_begin(&r, "stop");
	request_add(&r, "name", "%s", name);
	request_add(&r, "force", "%d", force);
	rc = request_send(&r, &doc);
	print_errors(doc);
	lnetctl_doc_free(doc);
	while (!rc && (rc = nr_running(name)) > 0) {
		printf("%d batch in stopping\n", rc);
		sleep(1);
		rc = 0;
	}
	if (rc)
		return fail_of(rc, "batch", name, "stop batch");
	puts("Batch is stopped");
	return 0;
}

/* ---- query --------------------------------------------------------------------------------- */

enum { SHOW_ACTIVE = 1, SHOW_IDLE = 2, SHOW_ERROR = 4 };

struct query {
	const char *name;
	long long test, wait, delay, loop;
	bool server;
	unsigned int show;
};

static void print_verbose(const struct lnetctl_node *nodes, unsigned int show)
{
	const struct lnetctl_node *n;

	for (n = nodes ? nodes->first : NULL; n; n = n->next) {
		int err = (int)number(n, "errno");
		bool active = number(n, "active");
		unsigned int is = err ? SHOW_ERROR : active ? SHOW_ACTIVE : SHOW_IDLE;

		if (!(show & is))
			continue;
		printf("%s [%s]: %s\n", text(n, "id"), text(n, "state"),
		       err ? error_text(err) : active ? "Running" : "Idle");
	}
}

static void print_summary(const struct query *q, const struct lnetctl_node *nodes)
{
	unsigned int running = 0, stopped = 0, failed = 0;
	const struct lnetctl_node *n;

	for (n = nodes ? nodes->first : NULL; n; n = n->next) {
		if (number(n, "errno"))
			failed++;
		else if (number(n, "active"))
			running++;
		else
			stopped++;
	}
	if (failed)
		printf("%u of %u nodes are unknown, ", failed, running + stopped + failed);
	if (!failed && !stopped && running)
		printf("%s [%lld] is running\n", q->name, q->test);
	else if (!failed && !running)
		printf("%s [%lld] is stopped\n", q->name, q->test);
	else
		printf("stopped: %u , running: %u, failed: %u\n", stopped, running, failed);
}

static int query_once(const struct query *q)
{
	struct lnetctl_node *doc;
	struct request r;
	int rc;

	request_begin(&r, "query");
	request_add(&r, "name", "%s", q->name);
	request_add(&r, "wait", "%lld", q->wait);
	if (q->test)
		request_add(&r, "test", "%lld", q->test);
	if (q->server)
		request_add(&r, "server", "1");
	rc = request_send(&r, &doc);
	if (!rc && q->show)
		print_verbose(lnetctl_find(doc, "nodes"), q->show);
	else if (!rc)
		print_summary(q, lnetctl_find(doc, "nodes"));
	lnetctl_doc_free(doc);
	return rc;
}

static bool query_option(struct query *q, int c)
{
	switch (c) {
	case 'o': return parse_number("--timeout", optarg, 1, 3600, &q->wait);
	case 'd': return parse_number("--delay", optarg, 1, 3600, &q->delay);
	case 'c': return parse_number("--loop", optarg, 1, INT_MAX, &q->loop);
	case 't': return parse_number("--test", optarg, 0, INT_MAX, &q->test);
	case 's': q->server = true; return true;
	case 'a': q->show |= SHOW_ACTIVE; return true;
	case 'i': q->show |= SHOW_IDLE; return true;
	case 'e': q->show |= SHOW_ERROR; return true;
	case 'l': q->show |= SHOW_ACTIVE | SHOW_IDLE | SHOW_ERROR; return true;
	}
	return false;
}

int verb_query(int argc, char **argv)
{
	static const struct option options[] = { { "timeout", required_argument, NULL, 'o' },
						 { "delay", required_argument, NULL, 'd' },
						 { "loop", required_argument, NULL, 'c' },
						 { "test", required_argument, NULL, 't' },
						 { "server", no_argument, NULL, 's' },
						 { "active", no_argument, NULL, 'a' },
						 { "idle", no_argument, NULL, 'i' },
						 { "error", no_argument, NULL, 'e' },
						 { "all", no_argument, NULL, 'l' }, { 0 } };
	struct query q = { .wait = 5, .delay = 5, .loop = 1 };
	int c, rc = 0;

	while ((c = option_next(argc, argv, "o:d:c:t:saiel", options, NULL)) != -1)
		if (!query_option(&q, c))
			return -1;
	if (!words_end(argc, argv, 1))
		return -1;
	q.name = optind < argc ? argv[optind] : BATCH_DEFAULT;
	while (!rc && q.loop--) {
		rc = query_once(&q);
		if (!rc && q.loop)
			sleep((unsigned int)q.delay);
	}
	if (rc == -ENOENT && is_there("list_batch", q.name))
		return no_test(q.name, q.test);
	return rc ? fail_of(rc, "batch", q.name, "query batch") : 0;
}
