/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command lst stat with options of this project. It shows tallies of tests, once or repeatedly,
 * as text or data.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "measure.h"

static volatile sig_atomic_t interrupted;

struct seen {
	char id[80];
	int64_t at_ns;			/* 0: never */
};

static int64_t measure_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static struct seen *seen_of(struct measure *m, const char *id)
{
	struct seen *s;
	size_t i;

	for (i = 0; i < m->nr_seen; i++)
		if (!strcmp(m->seen[i].id, id))
			return &m->seen[i];
	s = realloc(m->seen, (m->nr_seen + 1) * sizeof(*s));
	if (!s)
		return NULL;
	m->seen = s;
	s += m->nr_seen++;
	snprintf(s->id, sizeof(s->id), "%s", id);
	s->at_ns = 0;
	return s;
}

static void add_missing(struct measure *m, struct lnetctl_node *list, const char *id, int err)
{
	struct lnetctl_node *n = lnetctl_add_map(list, NULL);
	const struct seen *s = seen_of(m, id);

	lnetctl_add_text(n, "nid", id);
	lnetctl_add_text(n, "why", err ? error_text(err) : "no report of the tests");
	if (s && s->at_ns)
		lnetctl_add_num(n, "age_ms", (m->time_ns - s->at_ns) / 1000000);
	else
		lnetctl_add(n, "age_ms", LNETCTL_NULL, NULL);
	m->nr_missing++;
}

static bool nid_is_listed(const struct lnetctl_node *list, const char *id)
{
	const struct lnetctl_node *n;

	for (n = list->first; n; n = n->next)
		if (!strcmp(text(n, "nid"), id))
			return true;
	return false;
}

/* Returns the NID of a node without the process ID, which is the same for all nodes. */
static const char *node_nid_text(const struct lnetctl_node *node)
{
	const char *id = text(node, "id"), *dash = strchr(id, '-');

	return dash && dash < strchr(id, '@') ? dash + 1 : id;
}

static struct lnetctl_node *measure_request(struct measure *m, const char *verb, int *rc)
{
	struct lnetctl_node *doc = NULL;
	struct request r;

	request_begin(&r, verb);
	request_add(&r, "wait", "%lld", m->wait);
	if (!strcmp(verb, "stat")) {
		if (m->target && !add_target(&r, m->target)) {
			*rc = -EINVAL;
			return NULL;
		}
	} else {
		if (m->batch)
			request_add(&r, "batch", "%s", m->batch);
		if (m->test)
			request_add(&r, "test", "%lld", m->test);
		if (m->pairs)
			request_add(&r, "pairs", "1");
		if (m->rails)
			request_add(&r, "rails", "1");
		if (!m->pairs)
			request_add(&r, "servers", "1");
	}
	*rc = request_send(&r, &doc);
	return doc;
}

/* Takes the counters of nodes from the reply. A node without counters counts as missing. */
static void take_nodes(struct measure *m, struct lnetctl_node *doc, struct lnetctl_node *missing)
{
	struct lnetctl_node *list = lnetctl_find(doc, "nodes"), *n;

	for (n = list ? list->first : NULL; n; n = n->next) {
		int err = (int)number(n, "errno");
		struct seen *s = seen_of(m, node_nid_text(n));

		m->nr_asked++;
		if (err)
			add_missing(m, missing, node_nid_text(n), err);
		else if (s)
			s->at_ns = m->time_ns;
	}
	if (list) {
		lnetctl_take(doc, list);
		lnetctl_set_key(list, "counters");
		lnetctl_adopt(m->sample, list);
	}
}

/*
 * Takes the tallies from the reply. If pairs were requested, the items are pairs, and become a
 * separate list.
 */
static void take_tallies(struct measure *m, struct lnetctl_node *doc, struct lnetctl_node *missing)
{
	struct lnetctl_node *list = lnetctl_find(doc, "tally"), *n;
	struct lnetctl_node *rails = lnetctl_find(doc, "rails");

	n = lnetctl_find(doc, "missing");
	for (n = n ? n->first : NULL; n; n = n->next)
		if (n->text && !nid_is_listed(missing, n->text) && !m->target)
			add_missing(m, missing, n->text, 0);
	if (list) {
		lnetctl_take(doc, list);
		if (m->pairs)
			lnetctl_set_key(list, "pairs");
		lnetctl_adopt(m->sample, list);
	}
	if (rails) {
		lnetctl_take(doc, rails);
		lnetctl_adopt(m->sample, rails);
	}
}

static int ask_tallies(struct measure *m, struct lnetctl_node *missing)
{
	int rc;
	struct lnetctl_node *doc = measure_request(m, "tally", &rc);

	if (!rc)
		take_tallies(m, doc, missing);
	lnetctl_doc_free(doc);
	return rc;
}

static void measure_time_add(struct lnetctl_node *map, const char *key, int64_t ns)
{
	time_t s = (time_t)(ns / 1000000000);
	char buf[48];
	struct tm tm;
	size_t len;

	gmtime_r(&s, &tm);
	len = strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(buf + len, sizeof(buf) - len, ".%03dZ", (int)(ns % 1000000000 / 1000000));
	lnetctl_add_text(map, key, buf);
}

static void add_head(struct measure *m)
{
	m->time_ns = measure_now_ns();
	measure_time_add(m->sample, "time", m->time_ns);
	lnetctl_add_num(m->sample, "time_ns", m->time_ns);
	lnetctl_add_map(m->sample, "nodes");
}

static int take_groups(struct measure *m, struct lnetctl_node *missing)
{
	bool pairs = m->pairs;
	int rc;
	struct lnetctl_node *doc = measure_request(m, "stat", &rc);

	add_head(m);
	if (!rc)
		take_nodes(m, doc, missing);
	lnetctl_doc_free(doc);
	m->pairs = false;
	if (!rc)
		rc = ask_tallies(m, missing);
	m->pairs = pairs;
	if (!rc && pairs)
		rc = ask_tallies(m, missing);
	return rc;
}

/*
 * Takes a sample of a session whose nodes form a tree: the console queries the nodes over the tree.
 * The console's reply names at most a thousand of the nodes that did not reply.
 */
static int take_tree(struct measure *m, struct lnetctl_node *missing)
{
	int rc;
	struct lnetctl_node *doc = measure_request(m, "tree_sample", &rc);
	const struct lnetctl_node *tree = lnetctl_find(doc, "tree");

	add_head(m);
	if (!rc)
		take_tallies(m, doc, missing);
	m->nr_asked = (unsigned int)number(tree, "nodes");
	m->nr_missing = (unsigned int)(number(tree, "missing") + number(tree, "refused"));
	lnetctl_doc_free(doc);
	return rc;
}

int measure_take(struct measure *m)
{
	struct lnetctl_node *missing = lnetctl_add_seq(NULL, "missing"), *nodes;
	int rc;

	lnetctl_doc_free(m->sample);
	m->sample = lnetctl_add_map(NULL, NULL);
	if (!m->sample || !missing)
		return -ENOMEM;
	m->nr_asked = m->nr_missing = 0;
	rc = m->tree ? take_tree(m, missing) : take_groups(m, missing);
	nodes = lnetctl_find(m->sample, "nodes");
	lnetctl_add_num(nodes, "asked", m->nr_asked);
	lnetctl_add_num(nodes, "missing", m->nr_missing);
	lnetctl_adopt(m->sample, missing);
	return rc ? rc : sample_add_figures(m->sample);
}

void measure_free(struct measure *m)
{
	lnetctl_doc_free(m->sample);
	m->sample = NULL;
	free(m->seen);
	m->seen = NULL;
	m->nr_seen = 0;
}

void measure_print_missing(const struct measure *m, FILE *out)
{
	const struct lnetctl_node *n = lnetctl_find(m->sample, "missing");
	char buf[24];

	for (n = n ? n->first : NULL; n; n = n->next) {
		fprintf(out, "%s: missing: %s", text(n, "nid"), text(n, "why"));
		if (*text(n, "age_ms"))
			fprintf(out, ", last sample %s s ago\n",
				thousandths(sample_count(n, "age_ms"), buf));
		else
			fprintf(out, ", no sample received so far\n");
	}
}

/* ---- printing ------------------------------------------------------------------------------ */

static void print_once(const struct measure *m)
{
	printf("nodes: %u of %u, %u missing\n", m->nr_asked - min(m->nr_missing, m->nr_asked),
	       m->nr_asked, m->nr_missing);
	sample_print(m->sample, stdout);
}

static void print_sample(struct measure *m, const struct lnetctl_node *before)
{
	if (m->yaml)
		puts("---");
	if (m->json || m->yaml)
		lnetctl_print(m->sample, m->json ? LNETCTL_JSON : LNETCTL_HAND, stdout);
	else if (m->live)
		live_screen(m, before);
	else if (m->interval)
		live_line(m, before);
	else
		print_once(m);
	if (!m->live)
		measure_print_missing(m, stderr);
	fflush(stdout);
}

/* ---- repetition ---------------------------------------------------------------------------- */

static void on_measure_signal(int sig)
{
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_measure_signal };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

/*
 * Waits for the time of the next sample. So the interval does not depend on the duration of a
 * sample.
 */
static void until(const struct timespec *next)
{
	while (!interrupted && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
		;
}

static int measure_once(struct measure *m, struct lnetctl_node **before)
{
	int rc;

	lnetctl_doc_free(*before);
	*before = m->sample;
	m->sample = NULL;
	rc = measure_take(m);
	if (rc == -EOPNOTSUPP)
		return failed("This console does not report tallies of tests");
	if (rc == -EINVAL)
		return failed("The console's figures of the tests do not add up");
	if (rc)
		return fail(rc, m->target ? m->target : m->batch ? m->batch : "batch",
			    "query statistics");
	print_sample(m, *before);
	return m->record ? history_sample(m) : 0;
}

int measure(struct measure *m)
{
	struct lnetctl_node *before = NULL;
	struct timespec next;
	long long nr = 0;
	int rc = 0;

	catch_signals();
	m->begin_ns = measure_now_ns();
	if (m->record && history_begin(m))
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &next);
	do {
		rc = measure_once(m, &before);
		next.tv_sec += m->interval;
		if (++nr == m->count || !m->interval || rc)
			break;
		until(&next);
	} while (!interrupted);
	if (m->record && m->id && history_end(m))
		rc = -1;
	rc = rc ? rc : m->nr_missing ? nodes_failed() : 0;
	lnetctl_doc_free(before);
	measure_free(m);
	return rc;
}
