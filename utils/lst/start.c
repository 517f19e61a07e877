/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command lst run --together. It starts all clients at one time, and measures the differences.
 */
#include <string.h>
#include <time.h>
#include "lst.h"

#define LATE_NS		50000000	/* pause after the start time, and between two queries */
#define TRIES		40
#define BUCKETS		21		/* rows for delays below 1 us, 2 us, ... 1 s, and above */

static void wait_ns(int64_t ns)
{
	struct timespec time = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&time, &time))
		;
}

/*
 * Prints how many nodes have which deviation from the start time. The bound doubles with each row.
 */
static void print_histogram(const struct lnetctl_node *nodes)
{
	unsigned int nr[BUCKETS + 1] = { 0 }, i;
	const struct lnetctl_node *n;

	for (n = nodes ? nodes->first : NULL; n; n = n->next) {
		int64_t late = number(n, "late_ns");

		if (!lnetctl_find(n, "late_ns"))
			continue;
		late = (late < 0 ? -late : late) / 1000;
		for (i = 0; i < BUCKETS && late >= 1 << i; i++)
			;
		nr[i]++;
	}
	for (i = 0; i < BUCKETS; i++)
		if (nr[i])
			printf("\tless than %u us off: %u\n", 1U << i, nr[i]);
	if (nr[BUCKETS])
		printf("\tmore: %u\n", nr[BUCKETS]);
}

static unsigned int print_steps(const struct lnetctl_node *nodes)
{
	const struct lnetctl_node *n;
	unsigned int nr = 0;

	for (n = nodes ? nodes->first : NULL; n; n = n->next)
		if (number(n, "steps")) {
			fprintf(stderr, "%s: the clock of this node has jumped\n", text(n, "id"));
			nr++;
		}
	return nr;
}

static int print_started(const struct lnetctl_node *doc, long long skew_ns)
{
	const struct lnetctl_node *nodes = lnetctl_find(doc, "nodes");
	int64_t skew = number(doc, "skew_ns"), error = number(doc, "clock_error_ns");

	printf("%lld nodes began within %lld us, their clocks are known to %lld us\n",
	       (long long)number(doc, "started"), (long long)(skew + 999) / 1000,
	       (long long)(error + 999) / 1000);
	print_histogram(nodes);
	if (print_steps(nodes))
		return -1;
	if (number(doc, "waiting"))
		return failed("%s nodes have not started the tests", text(doc, "waiting"));
	if (skew_ns && skew > skew_ns)
		return failed("The clients did not start within %lld us", skew_ns / 1000);
	return 0;
}

static int ask_started(const char *name, struct lnetctl_node **doc)
{
	struct request r;

	request_begin(&r, "started");
	request_add(&r, "name", "%s", name);
	return request_send(&r, doc);
}

static int start_report(const char *name, long long skew_ns)
{
	struct lnetctl_node *doc = NULL;
	unsigned int left = TRIES;
	int rc = ask_started(name, &doc);

	while (!rc && number(doc, "waiting") && left--) {
		lnetctl_doc_free(doc);
		wait_ns(LATE_NS);
		doc = NULL;
		rc = ask_started(name, &doc);
	}
	rc = rc ? fail(rc, "batch", "request the start times") : print_started(doc, skew_ns);
	lnetctl_doc_free(doc);
	return rc;
}

int start_together(const char *name, long long skew_ns)
{
	struct lnetctl_node *doc = NULL;
	int64_t in_ns = 0;
	struct request r;
	int rc;

	request_begin(&r, "start");
	request_add(&r, "name", "%s", name);
	if (skew_ns)
		request_add(&r, "skew", "%lld", skew_ns);
	rc = request_send(&r, &doc);
	if (rc)
		run_failed(rc, name);
	else if (print_errors(doc))
		rc = -1;
	else if (!number(doc, "running"))
		rc = failed("Nothing was started: the clocks are known only to %lld us",
			     (long long)number(doc, "clock_error_ns") / 1000);
	else
		in_ns = number(doc, "in_ns");
	lnetctl_doc_free(doc);
	if (rc)
		return -1;
	printf("%s is running now\n", name);
	wait_ns(in_ns + LATE_NS);
	return start_report(name, skew_ns);
}
