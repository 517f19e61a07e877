/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands lst stat and lst show_error: rates from counters of nodes, and nodes with errors. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include "measure.h"

#define TARGETS_MAX 64

enum { AVG = 1, MIN = 2, MAX = 4, READ = 1, WRITE = 2, RATE = 1, BW = 2 };

struct stat_opt {
	unsigned int what, dirs, sums;	/* bits of the enum above */
	bool lnet, rpc, mbs;
	long long wait, delay, count;
	bool beyond;			/* show tallies of tests, which stock does not have */
	struct measure m;
};

/* Sum, minimum and maximum over the nodes of a target. */
struct sum {
	double all, min, max;
	unsigned int nr;
};

static const char *target_kind(const char *target)
{
	return strchr(target, '@') ? "node" : "group";
}

static int target_stat_request(const char *target, long long wait, struct lnetctl_node **doc)
{
	struct request r;

	*doc = NULL;
	request_begin(&r, "stat");
	request_add(&r, "wait", "%lld", wait);
	if (!add_target(&r, target))
		return -EINVAL;
	return request_send(&r, doc);
}

static const struct lnetctl_node *stat_node_find(const struct lnetctl_node *doc, const char *id)
{
	const struct lnetctl_node *n = lnetctl_find(doc, "nodes");

	for (n = n ? n->first : NULL; n; n = n->next)
		if (!strcmp(text(n, "id"), id))
			return n;
	return NULL;
}

static void sum_add(struct sum *s, double value)
{
	s->min = !s->nr || value < s->min ? value : s->min;
	s->max = !s->nr || value > s->max ? value : s->max;
	s->all += value;
	s->nr++;
}

/* Returns the increase of a counter. Counters of LNet messages are 32-bit numbers and may wrap. */
static double delta(const struct lnetctl_node *now, const struct lnetctl_node *before,
		    const char *name, bool narrow)
{
	uint64_t diff = (uint64_t)number(now, name) - (uint64_t)number(before, name);

	return narrow ? (double)(uint32_t)diff : (double)diff;
}

/*
 * Computes the rate per second of the counter @name at each node. Returns the sum, the minimum and
 * the maximum of these rates. Each node measures the time between the two samples by its own clock
 * (running_ms).
 */
static struct sum node_rates_sum(const struct lnetctl_node *now, const struct lnetctl_node *before,
				 const char *name, bool narrow)
{
	const struct lnetctl_node *n = lnetctl_find(now, "nodes"), *old;
	struct sum s = { 0 };

	for (n = n ? n->first : NULL; n; n = n->next) {
		double ms;

		old = stat_node_find(before, text(n, "id"));
		if (!old || number(n, "errno") || number(old, "errno"))
			continue;
		ms = delta(n, old, "running_ms", true);
		if (ms > 0)
			sum_add(&s, delta(n, old, name, narrow) * 1000 / ms);
	}
	return s;
}

static void print_sum(const struct stat_opt *o, char dir, const struct sum *s, int digits,
		      double scale, const char *unit, const char *end)
{
	static const char *const names[] = { "Avg", "Min", "Max" };
	double value[] = { s->nr ? s->all / s->nr : 0, s->min, s->max };
	const char *gap = "";
	int i;

	printf("[%c] ", dir);
	for (i = 0; i < 3; i++) {
		if (!(o->sums & 1u << i))
			continue;
		printf("%s%s: %-8.*f %s", gap, names[i], digits, value[i] / scale, unit);
		gap = " ";
	}
	printf("%s\n", end);
}

static void print_rates(const struct stat_opt *o, const struct lnetctl_node *now,
			const struct lnetctl_node *before, const char *in, const char *out)
{
	struct sum s;

	s = node_rates_sum(now, before, in, true);
	if (o->dirs & READ)
		print_sum(o, 'R', &s, 0, 1, "RPC/s", "");
	s = node_rates_sum(now, before, out, true);
	if (o->dirs & WRITE)
		print_sum(o, 'W', &s, 0, 1, "RPC/s", "");
}

static void print_bandwidth(const struct stat_opt *o, const struct lnetctl_node *now,
			    const struct lnetctl_node *before)
{
	double scale = o->mbs ? 1e6 : 1048576;
	const char *unit = o->mbs ? "MB/s " : "MiB/s";	/* stock's columns */
	struct sum s;

	s = node_rates_sum(now, before, "recv_length", false);
	if (o->dirs & READ)
		print_sum(o, 'R', &s, 2, scale, unit, " ");
	s = node_rates_sum(now, before, "send_length", false);
	if (o->dirs & WRITE)
		print_sum(o, 'W', &s, 2, scale, unit, " ");
}

static void print_target(const struct stat_opt *o, const char *name,
			 const struct lnetctl_node *now, const struct lnetctl_node *before)
{
	if (o->lnet && o->what & RATE) {
		printf("[LNet Rates of %s]\n", name);
		print_rates(o, now, before, "recv_count", "send_count");
	}
	if (o->lnet && o->what & BW) {
		printf("[LNet Bandwidth of %s]\n", name);
		print_bandwidth(o, now, before);
	}
	if (o->rpc) {
		printf("[RPC Rates of %s]\n", name);
		print_rates(o, now, before, "rpcs_rcvd", "rpcs_sent");
	}
}

static unsigned int print_missing(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n = lnetctl_find(doc, "nodes");
	unsigned int nr = 0;

	for (n = n ? n->first : NULL; n; n = n->next) {
		if (!number(n, "errno"))
			continue;
		fprintf(stderr, "%s: cannot read the counters of this node: %s\n", text(n, "id"),
			error_text((int)number(n, "errno")));
		nr++;
	}
	return nr;
}

static int stat_watch(const struct stat_opt *o, char **names, int nr)
{
	struct lnetctl_node *before[TARGETS_MAX] = { NULL }, *now;
	long long round;
	int i, rc = 0;

	for (round = 0; !rc && (o->count < 0 || round <= o->count); round++) {
		if (round)
			sleep((unsigned int)o->delay);
		for (i = 0; i < nr && !rc; i++) {
			rc = target_stat_request(names[i], o->wait, &now);
			if (rc) {
				lnetctl_doc_free(now);
				fail_of(rc, target_kind(names[i]), names[i], "query statistics");
				break;
			}
			print_missing(now);
			if (round)
				print_target(o, names[i], now, before[i]);
			lnetctl_doc_free(before[i]);
			before[i] = now;
		}
	}
	for (i = 0; i < nr; i++)
		lnetctl_doc_free(before[i]);
	return rc ? -1 : 0;
}

enum { ONCE = 256, INTERVAL, JSON, YAML, LIVE, PAIRS, RAILS, RECORD, HISTORY, BATCH, TEST, TREE };

static bool option_beyond(struct stat_opt *o, int c)
{
	o->beyond = true;
	switch (c) {
	case ONCE: o->m.count = 1; return true;
	case INTERVAL: return parse_number("--interval", optarg, 1, 3600, &o->m.interval);
	case JSON: return o->m.json = true;
	case YAML: return o->m.yaml = true;
	case LIVE: return o->m.live = true;
	case PAIRS: return o->m.pairs = true;
	case RAILS: return o->m.rails = true;
	case RECORD: return o->m.record = true;
	case TREE: return o->m.tree = true;
	case HISTORY: o->m.file = optarg; return true;
	case BATCH: o->m.batch = optarg; return true;
	case TEST: return parse_number("--test", optarg, 1, INT_MAX, &o->m.test);
	}
	return false;
}

static bool stat_option(struct stat_opt *o, int c)
{
	switch (c) {
	case 'b': o->what |= BW; return true;
	case 'a': o->what |= RATE; return true;
	case 'r': o->dirs |= READ; return true;
	case 'w': o->dirs |= WRITE; return true;
	case 'g': o->sums |= AVG; return true;
	case 'n': o->sums |= MIN; return true;
	case 'x': o->sums |= MAX; return true;
	case 'l': o->lnet = true; return true;
	case 'c': o->rpc = true; return true;
	case 'm': o->mbs = true; return true;
	case 't': return parse_number("--timeout", optarg, 1, 3600, &o->wait);
	case 'd': return parse_number("--delay", optarg, 1, 3600, &o->delay);
	case 'o': return parse_number("--count", optarg, -1, INT_MAX, &o->count);
	}
	return option_beyond(o, c);
}

/* Runs lst stat with options of this project. By default, it takes one sample of all nodes. */
static int beyond(struct stat_opt *o, int nr, char **targets)
{
	struct measure *m = &o->m;

	if (nr > 1 || (m->json && m->yaml) || (m->test && !m->batch))
		return misused("stat accepts one group or list of nodes, one of --json and --yaml, "
			       "and --test only with --batch");
	if (m->tree && (nr || m->batch || m->pairs || m->rails))
		return misused("stat of a tree has only the sum over all tests and nodes: it "
			       "accepts no --pairs, --rails, --batch or nodes");
	m->target = nr && strcmp(targets[0], "all") ? targets[0] : NULL;
	m->wait = o->wait;
	m->rails = m->rails || (m->live && !m->tree);
	if (!m->interval && (m->live || (!m->count && o->count >= 0)))
		m->interval = 1;
	m->count = m->count == 1 ? 1 : o->count;
	if (m->count == 1)
		m->interval = 0;
	m->record = m->record || m->file;
	return measure(m);
}

int verb_stat(int argc, char **argv)
{
	static const struct option options[] = {
		{ "bw", no_argument, NULL, 'b' }, { "rate", no_argument, NULL, 'a' },
		{ "read", no_argument, NULL, 'r' }, { "write", no_argument, NULL, 'w' },
		{ "avg", no_argument, NULL, 'g' }, { "min", no_argument, NULL, 'n' },
		{ "max", no_argument, NULL, 'x' }, { "lnet", no_argument, NULL, 'l' },
		{ "rpc", no_argument, NULL, 'c' }, { "mbs", no_argument, NULL, 'm' },
		{ "timeout", required_argument, NULL, 't' },
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'o' },
		{ "once", no_argument, NULL, ONCE },
		{ "interval", required_argument, NULL, INTERVAL },
		{ "json", no_argument, NULL, JSON }, { "yaml", no_argument, NULL, YAML },
		{ "live", no_argument, NULL, LIVE }, { "pairs", no_argument, NULL, PAIRS },
		{ "rails", no_argument, NULL, RAILS }, { "record", no_argument, NULL, RECORD },
		{ "file", required_argument, NULL, HISTORY },
		{ "tree", no_argument, NULL, TREE },
		{ "batch", required_argument, NULL, BATCH },
		{ "test", required_argument, NULL, TEST }, { 0 }
	};
	struct stat_opt o = { .wait = 5, .delay = 5, .count = -1 };
	int c;

	while ((c = option_next(argc, argv, "barwgnxlcmt:d:o:", options, NULL)) != -1)
		if (!stat_option(&o, c))
			return -1;
	if (o.beyond)
		return beyond(&o, argc - optind, argv + optind);
	if (optind == argc || argc - optind > TARGETS_MAX)
		return misused("stat needs groups or nodes, at most %d", TARGETS_MAX);
	o.what = o.what ? o.what : RATE | BW;
	o.dirs = o.dirs ? o.dirs : READ | WRITE;
	o.sums = o.sums ? o.sums : AVG | MIN | MAX;
	o.lnet = o.lnet || !o.rpc;
	return stat_watch(&o, argv + optind, argc - optind);
}

/* ---- show_error ---------------------------------------------------------------------------- */

static bool print_node_errors(const struct lnetctl_node *n, bool session)
{
	bool bad = number(n, "brw_errors") || number(n, "ping_errors");

	if (number(n, "errno")) {
		fprintf(stderr, "%s: %s\n", text(n, "id"), error_text((int)number(n, "errno")));
		return true;
	}
	if (!session)
		bad = bad || number(n, "rpc_errors") || number(n, "rpcs_dropped") ||
		      number(n, "rpcs_expired");
	if (!bad)
		return false;
	fprintf(stderr, "%s: [Session %s brw errors, %s ping errors]%s", text(n, "id"),
		text(n, "brw_errors"), text(n, "ping_errors"), session ? "\n" : " ");
	if (!session)
		fprintf(stderr, "[RPC: %s errors, %s dropped, %s expired]\n",
			text(n, "rpc_errors"), text(n, "rpcs_dropped"), text(n, "rpcs_expired"));
	return true;
}

static int show_error(const char *target, bool session)
{
	const struct lnetctl_node *n;
	struct lnetctl_node *doc;
	unsigned int nr = 0;
	int rc = target_stat_request(target, 30, &doc);

	if (!rc) {
		printf("%s:\n", target);
		n = lnetctl_find(doc, "nodes");
		for (n = n ? n->first : NULL; n; n = n->next)
			nr += print_node_errors(n, session);
		printf("Total %u error nodes in %s\n", nr, target);
	}
	lnetctl_doc_free(doc);
	return rc ? fail_of(rc, target_kind(target), target, "query statistics") : 0;
}

int verb_show_error(int argc, char **argv)
{
	static const struct option options[] = { { "session", no_argument, NULL, 's' }, { 0 } };
	bool session = false;
	int c, rc = 0;

	while ((c = option_next(argc, argv, "s", options, NULL)) != -1) {
		if (c != 's')
			return -1;
		session = true;
	}
	if (optind == argc)
		return misused("show_error needs groups or nodes");
	for (; optind < argc; optind++)
		rc |= show_error(argv[optind], session);
	return rc;
}
