/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands lst nettest and lst pattern --topo. They run exchanges among all nodes of a group in
 * several topologies. Node 0 measures. lst reads the results of node 0 during the run, and prints
 * them as the program nettest does.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "lst.h"
#include "utils/lib/nt.h"

#define PAUSE_MS	250
#define LOST_MAX	3	/* maximum consecutive reads without a reply of node 0 */
#define WAIT_S		10	/* seconds to wait for the reply of a node */

struct tour {
	struct nt_words words;
	const char *group;
	struct nt_report report;
	FILE *matrix;
	char **node;		/* names of the nodes */
	char first[LNET_NIDSTR_SIZE];	/* NID of node 0 */
	uint32_t run, nr_done, nr_printed;
	unsigned int nr_lost;
	bool over;
	int status;
};

static volatile sig_atomic_t interrupted;

static void on_tour_signal(int sig)
{
	interrupted = sig;
}

static double tour_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int tour_rejected(const struct tour *t, int rc)
{
	switch (-rc) {
	case EDOM:
		return failed("lst: %s: nettest needs two active nodes, and two more for each pair "
			      "that sends noise",
			      t->group);
	case E2BIG:
		return failed("lst: the test is too large: the limits are 1 GiB of messages per "
			      "node, 64 MiB of results, and 256 nodes with a matrix");
	}
	return fail(rc, t->group, "begin nettest");
}

static bool nodes_take(struct tour *t, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *list = lnetctl_find(doc, "nodes"), *n;
	uint32_t i = 0;

	for (n = list ? list->first : NULL; n; n = n->next)
		t->report.nr++;
	t->node = calloc(t->report.nr + 1, sizeof(*t->node));
	for (n = list ? list->first : NULL; n && t->node; n = n->next)
		t->node[i++] = strdup(n->text);
	t->report.cell = calloc(nettest_plan_nr(&t->words.plan), sizeof(*t->report.cell));
	return t->node && t->report.cell;
}

static int tour_begin(struct tour *t)
{
	const struct nettest_plan *plan = &t->words.plan;
	const struct lnetctl_node *map;
	struct lnetctl_node *doc;
	struct request r;
	int rc;

	request_begin(&r, "nettest");
	request_add(&r, "group", "%s", t->group);
	request_add(&r, "wait", "%d", WAIT_S);
	request_add(&r, "least", "%u", plan->least);
	request_add(&r, "most", "%u", plan->most);
	request_add(&r, "step", "%u", plan->step);
	request_add(&r, "factor", "%u", plan->factor);
	request_add(&r, "repeats", "%u", plan->repeats);
	request_add(&r, "times", "%u", plan->times);
	request_add(&r, "check", "%u", plan->check);
	request_add(&r, "patterns", "%u", plan->patterns);
	request_add(&r, "matrix", "%d", t->words.matrix != NULL);
	request_add(&r, "noise", "%u", plan->noise);
	request_add(&r, "noise_pairs", "%u", plan->noise_pairs);
	request_add(&r, "noise_depth", "%u", plan->noise_depth);
	rc = request_send(&r, &doc);
	map = lnetctl_find(doc, "nettest");
	if (rc)
		rc = tour_rejected(t, rc);
	else if (print_errors(doc) || !map)
		rc = -1;
	else
		rc = nodes_take(t, doc) ? 0 : -1;
	t->run = (uint32_t)number(map, "run");
	snprintf(t->first, sizeof(t->first), "%s", text(map, "first"));
	lnetctl_doc_free(doc);
	return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void matrix_take(struct tour *t, const struct lnetctl_node *row, uint32_t index)
{
	const struct lnetctl_node *lines = lnetctl_find(row, "medians"), *line, *n;
	u64 *median = calloc((size_t)t->report.nr * t->report.nr, sizeof(*median));
	struct nettest_measure m;
	uint32_t i = 0;
	int64_t ns;

	for (line = lines && median ? lines->first : NULL; line; line = line->next)
		for (n = line->first; n && i < t->report.nr * t->report.nr; n = n->next)
			median[i++] = lnetctl_num(n, &ns) ? 0 : (u64)ns;
	if (median && nettest_plan_at(&t->words.plan, index, &m) && m.pattern)
		nt_print_matrix(t->matrix, &t->words, &m, t->report.nr, median);
	free(median);
}

static void rows_take(struct tour *t, const struct lnetctl_node *rows)
{
	const struct lnetctl_node *row;

	for (row = rows ? rows->first : NULL; row; row = row->next) {
		struct nt_cell *cell = &t->report.cell[t->nr_done];

		if (t->nr_done == nettest_plan_nr(&t->words.plan))
			break;
		cell->sum_ns = (uint64_t)number(row, "sum_ns");
		cell->nr = (uint32_t)number(row, "times");
		t->report.errors += (uint64_t)number(row, "bad");
		cell->noise_out = (uint64_t)number(lnetctl_find(row, "noise"), "sent");
		cell->noise_in = (uint64_t)number(lnetctl_find(row, "noise"), "received");
		if (t->matrix)
			matrix_take(t, row, t->nr_done);
		t->nr_done++;
	}
	t->nr_printed = nt_print_rows(&t->report, t->nr_printed, t->nr_done);
}

/* 0: node 0 replied. */
static int tour_read(struct tour *t)
{
	const struct lnetctl_node *map;
	struct lnetctl_node *doc;
	struct request r;
	int rc;

	request_begin(&r, "nettest_read");
	request_add(&r, "nid", "%s", t->first);
	request_add(&r, "run", "%u", t->run);
	request_add(&r, "from", "%u", t->nr_done);
	request_add(&r, "nodes", "%u", t->report.nr);
	request_add(&r, "matrix", "%d", t->matrix != NULL);
	request_add(&r, "wait", "%d", WAIT_S);
	rc = request_send(&r, &doc);
	map = lnetctl_find(doc, "nettest");
	if (rc) {
		fail(rc, "nettest", "read the results of nettest");
	} else if (print_errors(doc) || !map) {
		rc = -EAGAIN;
	} else {
		rows_take(t, lnetctl_find(doc, "rows"));
		t->over = number(map, "over") && t->nr_done == number(map, "done");
		t->status = (int)number(map, "errno");
	}
	lnetctl_doc_free(doc);
	return rc;
}

static void tour_stop(const struct tour *t)
{
	struct request r;

	request_begin(&r, "nettest_stop");
	request_add(&r, "group", "%s", t->group);
	request_add(&r, "run", "%u", t->run);
	request_add(&r, "wait", "%d", WAIT_S);
	request_send(&r, NULL);
}

static int follow(struct tour *t)
{
	struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
	int rc;

	while (!t->over && !interrupted) {
		rc = tour_read(t);
		t->nr_lost = rc == -EAGAIN ? t->nr_lost + 1 : 0;
		if ((rc && rc != -EAGAIN) || t->nr_lost == LOST_MAX)
			return -1;
		if (!t->over && !rc)
			nanosleep(&pause, NULL);
	}
	if (interrupted)
		return failed("lst: interrupted");
	if (t->status)
		return failed("lst: nettest: %s", strerror(t->status));
	return 0;
}

static int tour_measure(struct tour *t)
{
	struct sigaction act = { .sa_handler = on_tour_signal };
	double begun = tour_now();
	int rc;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	rc = tour_begin(t);
	if (rc)
		return rc;
	nt_print_head(&t->report, "nodes of a session", (const char *const *)t->node);
	rc = follow(t);
	if (!rc)
		nt_print_end(&t->report, tour_now() - begun);
	tour_stop(t);
	return rc;
}

static int tour_run(struct tour *t)
{
	uint32_t i;
	int rc;

	t->report.words = &t->words;
	rc = nt_files_open(&t->words, &t->report.out, &t->matrix);
	if (!rc)
		rc = tour_measure(t);
	if (nt_files_close(&t->words, t->report.out, t->matrix))
		rc = -1;
	for (i = 0; t->node && i < t->report.nr; i++)
		free(t->node[i]);
	free(t->node);
	free(t->report.cell);
	return rc;
}

static int tour_words_check(struct tour *t)
{
	char why[256];

	if (t->words.nr_lists || t->words.port)
		return misused("lst: the arguments n and p are only for the program nettest: in a "
			       "session, the nodes are those of the group");
	if (nt_words_end(&t->words, why, sizeof(why)))
		return misused("lst: %s", why);
	return 0;
}

/* ---- nettest --------------------------------------------------------------------------------- */

int verb_nettest(int argc, char **argv)
{
	struct tour t = { 0 };
	char why[256];
	int i;

	if (argc < 2)
		return misused("nettest needs the name of a group, then arguments of nettest: lst "
			       "nettest GROUP uK m1 M16 K2 R2 T1000 Ptotal");
	nt_words_init(&t.words);
	t.group = argv[1];
	for (i = 2; i < argc; i++)
		if (nt_word(&t.words, argv[i], why, sizeof(why)))
			return misused("lst: %s", why);
	return tour_words_check(&t) ? -1 : tour_run(&t);
}

/* ---- pattern --topo -------------------------------------------------------------------------- */

/* Options for the arguments of nettest, and for the selection of patterns. */
static const struct option options[] = {
	{ "group", required_argument, NULL, 'g' }, { "topo", required_argument, NULL, 't' },
	{ "dir", required_argument, NULL, 'd' },   { "unit", required_argument, NULL, 'u' },
	{ "min", required_argument, NULL, 'm' },   { "max", required_argument, NULL, 'M' },
	{ "step", required_argument, NULL, 's' },  { "mult", required_argument, NULL, 'K' },
	{ "iter", required_argument, NULL, 'T' },  { "repeat", required_argument, NULL, 'R' },
	{ "print", required_argument, NULL, 'P' }, { "check", required_argument, NULL, 'v' },
	{ "output", required_argument, NULL, 'o' },
	{ "noise", required_argument, NULL, 'N' },
	{ "noise-pairs", required_argument, NULL, 'B' },
	{ "noise-depth", required_argument, NULL, 'D' },
	{ "matrix", required_argument, NULL, 'x' }, { 0 }
};

static bool topo_parse(const char *name, uint32_t *patterns)
{
	static const char *const names[] = { "", "star", "chaos", "ring" };
	uint32_t topo, p, found = 0;

	*patterns = NETTEST_ALL;
	if (!strcmp(name, "all"))
		return true;
	for (topo = 1; topo < 4 && strcmp(name, names[topo]); topo++)
		;
	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		found |= nettest_topo_of(p) == (enum nettest_topo)topo ? BIT(p) : 0;
	*patterns = found;
	return found || (misused("--topo must be star, chaos, ring or all, not '%s'", name), false);
}

static bool dir_parse(const char *name, uint32_t *patterns)
{
	uint32_t p, found = 0;

	if (strcmp(name, "uni") && strcmp(name, "bi"))
		return misused("--dir must be uni or bi, not '%s'", name), false;
	for (p = 1; p < NETTEST_NR_PATTERNS; p++)
		found |= nettest_two_way(p) == !strcmp(name, "bi") ? BIT(p) : 0;
	*patterns = found;
	return true;
}

static bool word_add(struct tour *t, char letter, const char *value)
{
	char why[256], *word;

	if (letter == 'o' || letter == 'x') {
		*(letter == 'o' ? &t->words.output : &t->words.matrix) = value;
		return true;
	}
	if (asprintf(&word, "%c%s", letter, value) < 0)
		return false;
	if (nt_word(&t->words, word, why, sizeof(why))) {
		misused("lst: %s", why);
		free(word);
		return false;
	}
	free(word);
	return true;
}

bool topo_asked(char **argv)
{
	for (; *argv; argv++)
		if (!strncmp(*argv, "--topo", 6))
			return true;
	return false;
}

int verb_topo(int argc, char **argv)
{
	uint32_t topo = NETTEST_ALL, dir = NETTEST_ALL;
	struct tour t = { 0 };
	bool ok = true;
	int c;

	nt_words_init(&t.words);
	while (ok && (c = option_next(argc, argv, "g:o:", options, NULL)) != -1) {
		if (c == '?')
			ok = false;
		else if (c == 'g')
			t.group = optarg;
		else if (c == 't')
			ok = topo_parse(optarg, &topo);
		else if (c == 'd')
			ok = dir_parse(optarg, &dir);
		else
			ok = word_add(&t, (char)c, optarg);
	}
	if (!ok)
		return -1;
	if (!t.group || argv[optind])
		return misused("pattern with --topo needs --group, and accepts only options");
	t.words.plan.patterns = topo & dir;
	return tour_words_check(&t) ? -1 : tour_run(&t);
}
