/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command lst wait: waits until a batch has ended at all nodes, and shows its progress. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "sample.h"

#define LOOK_MS		250

struct state {
	const char *name;
	unsigned int nr_nodes, nr_running, nr_unknown;
	u64 over, wanted;		/* requests; wanted 0: unlimited */
};

static int batch_state_read(struct state *s)
{
	struct lnetctl_node *doc;
	const struct lnetctl_node *n;
	struct request r;
	int rc;

	s->nr_nodes = s->nr_running = s->nr_unknown = 0;
	request_begin(&r, "query");
	request_add(&r, "name", "%s", s->name);
	request_add(&r, "wait", "5");
	rc = request_send(&r, &doc);
	n = lnetctl_find(doc, "nodes");
	for (n = n ? n->first : NULL; n; n = n->next) {
		s->nr_nodes++;
		s->nr_unknown += number(n, "errno") != 0;
		s->nr_running += number(n, "active") != 0;
	}
	lnetctl_doc_free(doc);
	return rc;
}

/*
 * Is the number of requests of the test unknown? True if the test has no end or a time limit. Also
 * true if it does not use the first map, LST_MAP_SPREAD, or sends both ways.
 */
static bool test_is_open(const struct lnetctl_node *test)
{
	const struct lnetctl_node *plan = lnetctl_find(test, "plan");

	return number(test, "loop") <= 0 || number(plan, "time") || number(plan, "map") > 1 ||
	       number(plan, "ways") > 1;
}

/*
 * Returns the number of requests of the test. Each client sends @loop requests in each of
 * @concurrency parts to each of its servers.
 */
static u64 wanted_of(const struct lnetctl_node *test)
{
	const char *colon = strchr(text(test, "distribute"), ':');
	u64 servers = 1;

	if (colon)
		servers = sample_count(test, "distribute") ? (u64)atoll(colon + 1) : 1;
	return (u64)number(test, "loop") * (u64)number(test, "concurrency") * servers *
	       (u64)number(lnetctl_find(test, "clients"), "active");
}

static void count_wanted(struct state *s)
{
	struct lnetctl_node *doc;
	const struct lnetctl_node *t;
	struct request r;

	request_begin(&r, "list_batch");
	request_add(&r, "name", "%s", s->name);
	if (!request_send(&r, &doc)) {
		t = lnetctl_find(doc, "batches");
		t = t ? lnetctl_find(t->first, "tests") : NULL;
		for (t = t ? t->first : NULL; t; t = t->next) {
			if (test_is_open(t)) {
				s->wanted = 0;
				break;
			}
			s->wanted += wanted_of(t);
		}
	}
	lnetctl_doc_free(doc);
}

static void count_over(struct state *s)
{
	struct lnetctl_node *doc;
	const struct lnetctl_node *t;
	struct request r;

	s->over = 0;
	request_begin(&r, "tally");
	request_add(&r, "batch", "%s", s->name);
	if (!request_send(&r, &doc)) {
		t = lnetctl_find(doc, "tally");
		for (t = t ? t->first : NULL; t; t = t->next)
			s->over += sample_count(t, "received") + sample_count(t, "lost");
	}
	lnetctl_doc_free(doc);
}

static void print_state(struct state *s)
{
	count_over(s);
	fprintf(stderr, "\r\033[K%s: %u of %u nodes run", s->name, s->nr_running, s->nr_nodes);
	if (s->over)
		fprintf(stderr, ", %llu requests are over", s->over);
	if (s->over && s->wanted)
		fprintf(stderr, ", %llu %%", 100 * min(s->over, s->wanted) / s->wanted);
}

static bool wait_is_over(const struct timespec *end)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return end->tv_sec && (now.tv_sec > end->tv_sec ||
			       (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec));
}

static int batch_wait(struct state *s, const struct timespec *end)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000 };
	bool shows = isatty(2);
	int rc;

	if (shows)
		count_wanted(s);
	for (rc = batch_state_read(s); !rc && s->nr_running && !wait_is_over(end);
	     rc = batch_state_read(s)) {
		if (shows)
			print_state(s);
		nanosleep(&pause, NULL);
	}
	if (shows)
		fputs("\r\033[K", stderr);
	return rc;
}

int verb_wait(int argc, char **argv)
{
	static const struct option options[] = { { "timeout", required_argument, NULL, 't' },
						 { 0 } };
	struct timespec end = { 0 };
	struct state s = { 0 };
	long long seconds;
	int c, rc;

	while ((c = option_next(argc, argv, "t:", options, NULL)) != -1) {
		if (c != 't' || !parse_number("--timeout", optarg, 1, INT_MAX, &seconds))
			return -1;
		clock_gettime(CLOCK_MONOTONIC, &end);
		end.tv_sec += seconds;
	}
	if (!words_end(argc, argv, 1))
		return -1;
	s.name = optind < argc ? argv[optind] : "batch";
	rc = batch_wait(&s, &end);
	if (rc)
		return fail_of(rc, "batch", s.name, "query batch");
	if (s.nr_running)
		return failed("%s: %u of %u nodes still run", s.name, s.nr_running, s.nr_nodes);
	if (s.nr_unknown)
		return failed("%s: %u of %u nodes are unknown", s.name, s.nr_unknown,
			       s.nr_nodes);
	printf("%s has ended\n", s.name);
	return 0;
}
