/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command drill. It cuts a rail by a fault rule while it sends requests. It measures when the
 * node detected the cut, when the longest delayed request used another path, and when the rail had
 * its share of messages again.
 *
 * The fault rule has an end, so the cut ends even if this program is killed. All drills use the
 * same rule name, so a node permits one drill at a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tool.h"

#define BEFORE_MS 1000		/* duration of the requests before the cut, for comparison */
#define BACK_MAX_MS 30000	/* maximum wait until the rail has its share of messages */
#define WINDOW 20		/* requests over which the share of a rail is measured */
#define TIMEOUT_MS 5000		/* of a request */
#define SAMPLES 1000
#define RULE "drill"

static volatile sig_atomic_t stopped;	/* by a signal */

struct drill {
	struct tool *t;
	const char *peer;
	char rail[96];
	int err;			/* set if the node does not reply, or rejected a call */
	char why[200];			/* the error text */
	int64_t rate, cut_ms, cuts;
	/* Results of the current cut: times in ms since its begin. -1: did not happen. */
	double detected, failover, stall, back;
	/* of all cuts */
	double usual;			/* median duration of requests before the cut */
	unsigned long requests, lost;
	int64_t share;			/* messages sent over the rail, in 1/1000 of all */
};

static double drill_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static int64_t key_number(const struct lnetctl_node *map, const char *key)
{
	const struct lnetctl_node *n = map ? lnetctl_find(map, key) : NULL;
	int64_t num;

	return n && !lnetctl_num(n, &num) ? num : 0;
}

/* Checks the result of a call to the node. An error ends the drill. */
static int call_check(struct drill *d, int rc)
{
	if (rc && !d->err) {
		d->err = rc;
		snprintf(d->why, sizeof(d->why), "%s", lnetctl_error(d->t->c)->text);
	}
	return rc;
}

static bool drill_is_over(const struct drill *d)
{
	return d->err || stopped;
}

static int64_t statistic(struct drill *d, const char *name)
{
	struct lnetctl_node *doc;
	int64_t num;

	if (call_check(d, lnetctl_stats_show(d->t->c, &doc)))
		return 0;
	num = key_number(lnetctl_find(doc, "statistics"), name);
	lnetctl_doc_free(doc);
	return num;
}

/* Reads the number of messages sent over the rail, and over all interfaces. */
static void sent(struct drill *d, int64_t *rail, int64_t *all)
{
	const struct lnetctl_node *net, *ni, *nis;
	struct lnetctl_node *doc;

	*rail = *all = 0;
	if (call_check(d, lnetctl_net_show(d->t->c, NULL, 1, false, &doc)))
		return;
	net = lnetctl_find(doc, "net");
	for (net = net ? net->first : NULL; net; net = net->next) {
		nis = lnetctl_find(net, "local NI(s)");
		for (ni = nis ? nis->first : NULL; ni; ni = ni->next) {
			const char *nid = lnetctl_text(ni, "nid");
			int64_t nr = key_number(lnetctl_find(ni, "statistics"), "send_count");

			if (!nid || !strcmp(nid, "0@lo"))
				continue;
			*all += nr;
			if (!strcmp(nid, d->rail))
				*rail += nr;
		}
	}
	lnetctl_doc_free(doc);
}

/*
 * Sends one request, and waits for the rest of its interval. Returns the duration of the request;
 * -1: it is lost.
 */
static double drill_request(struct drill *d)
{
	double start = drill_now_ms(), took, pause = 1e3 / (double)d->rate;
	struct lnetctl_node *doc = NULL;
	int rc = call_check(d, lnetctl_ping(d->t->c, d->peer, NULL, TIMEOUT_MS, &doc));
	bool failed = rc || lnetctl_find(doc, "manage");

	lnetctl_doc_free(doc);
	took = drill_now_ms() - start;
	d->requests++;
	d->lost += failed;
	if (took < pause)
		usleep((useconds_t)((pause - took) * 1e3));
	return failed ? -1 : took;
}

/* Returns the share of the rail in the messages of the next WINDOW requests, in 1/1000. */
static int64_t share(struct drill *d)
{
	int64_t rail[2], all[2];
	unsigned int i;

	sent(d, &rail[0], &all[0]);
	for (i = 0; i < WINDOW && !drill_is_over(d); i++)
		drill_request(d);
	sent(d, &rail[1], &all[1]);
	return all[1] > all[0] ? 1000 * (rail[1] - rail[0]) / (all[1] - all[0]) : 0;
}

/* ---- the rule -------------------------------------------------------------------------------- */

static int cut_rule_set(struct drill *d, bool on)
{
	struct lnetctl_node *rule = lnetctl_add_map(NULL, NULL);
	char to[32];
	int rc = -ENOMEM;

	snprintf(to, sizeof(to), "%" PRId64 "ms", d->cut_ms);
	if (rule && lnetctl_add_text(rule, "kind", "cut") &&
	    lnetctl_add_text(rule, "name", RULE) &&
	    (!on || (lnetctl_add_text(rule, "local_nid", d->rail) &&
		     lnetctl_add_text(rule, "to", to))))
		rc = on ? lnetctl_rule_add(d->t->c, rule) : lnetctl_rule_del(d->t->c, rule);
	lnetctl_doc_free(rule);
	return rc;
}

/*
 * Returns the state of a rule that another drill has, or that a killed drill left. NULL: no such
 * rule.
 */
static const char *rule_there(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *list = doc ? lnetctl_find(doc, "faults") : NULL, *n;
	const char *name;

	for (n = list ? list->first : NULL; n; n = n->next) {
		name = lnetctl_text(n, "name");
		if (name && !strcmp(name, RULE))
			return lnetctl_text(n, "state");
	}
	return NULL;
}

/* Removes the rule of an earlier drill, if the rule has ended. */
static int old_rule_remove(struct drill *d)
{
	struct lnetctl_node *doc;
	const char *state;
	bool old, busy;

	if (call_check(d, lnetctl_rule_show(d->t->c, "cut", false, &doc)))
		return tool_done(d->t, d->err);
	state = rule_there(doc);
	old = state && !strcmp(state, "over");
	busy = state && !old;
	lnetctl_doc_free(doc);
	if (busy)
		return tool_refuse("drill", "rail", -EBUSY,
				   "another drill is in progress: its fault rule '%s' exists",
				   RULE);
	return old ? tool_done(d->t, cut_rule_set(d, false)) : 0;
}

/* ---- the course ------------------------------------------------------------------------------ */

static int is_more(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int baseline_measure(struct drill *d)
{
	double end = drill_now_ms() + BEFORE_MS, took[SAMPLES];
	unsigned int nr = 0;

	do {
		took[nr] = drill_request(d);
		if (drill_is_over(d))
			return 0;
		if (took[nr] < 0)
			return tool_refuse("drill", "peer", -EHOSTUNREACH,
					   "peer %s does not reply, although no rail is cut",
					   d->peer);
	} while (++nr < SAMPLES && drill_now_ms() < end);
	qsort(took, nr, sizeof(took[0]), is_more);
	d->usual = took[nr / 2];
	d->share = share(d);
	if (d->share || drill_is_over(d))
		return 0;
	return tool_refuse("drill", "rail", -EINVAL, "requests to %s do not use the rail %s",
			   d->peer, d->rail);
}

static int rail_cut(struct drill *d)
{
	int64_t suspects = statistic(d, "suspects");
	double begin;
	int rc = cut_rule_set(d, true);

	begin = drill_now_ms();
	if (rc)
		return tool_done(d->t, rc);
	while (drill_now_ms() - begin < (double)d->cut_ms && !drill_is_over(d)) {
		double start = drill_now_ms() - begin, took = drill_request(d), waited;

		waited = took < 0 ? TIMEOUT_MS : took;
		if (waited > d->stall) {
			d->stall = waited;
			d->failover = start + waited;
		}
		if (d->detected < 0 && statistic(d, "suspects") > suspects)
			d->detected = drill_now_ms() - begin;
	}
	rc = cut_rule_set(d, false);
	if (rc == -ENOENT && !drill_is_over(d))
		return tool_refuse("drill", "rail", rc,
				   "the fault rule was deleted, or the node was restarted, before "
				   "the end of the cut");
	call_check(d, rc == -ENOENT ? 0 : rc);
	return 0;
}

/* Measures until the rail has at least half of the share that it had before the cut. */
static void back(struct drill *d)
{
	double begin = drill_now_ms();

	while (d->back < 0 && drill_now_ms() - begin < BACK_MAX_MS && !drill_is_over(d))
		if (share(d) * 2 >= d->share)
			d->back = drill_now_ms() - begin;
}

static void ms_add(struct lnetctl_node *map, const char *key, double ms)
{
	char text[32];

	if (ms < 0)
		lnetctl_add(map, key, LNETCTL_NULL, NULL);
	else if (snprintf(text, sizeof(text), "%.1f", ms) > 0)
		lnetctl_add(map, key, LNETCTL_NUM, text);
}

static int once(struct drill *d, struct lnetctl_node *list)
{
	struct lnetctl_node *item;
	int rc;

	d->detected = d->back = -1;
	d->failover = d->stall = 0;
	rc = old_rule_remove(d);
	rc = rc ? rc : rail_cut(d);
	if (rc || drill_is_over(d))
		return rc;
	back(d);
	item = lnetctl_add_map(list, NULL);
	if (!item)
		return -ENOMEM;
	ms_add(item, "detection_ms", d->detected);
	ms_add(item, "failover_ms", d->failover);
	ms_add(item, "longest_request_ms", d->stall);
	ms_add(item, "failback_ms", d->back);
	return 0;
}

static int drill_result_print(struct drill *d, struct lnetctl_node *doc, int64_t doubled)
{
	struct lnetctl_node *map = lnetctl_find(doc, "drill");

	lnetctl_add_num(map, "share_before_permille", d->share);
	ms_add(map, "usual_request_ms", d->usual);
	lnetctl_add_num(map, "requests", (int64_t)d->requests);
	lnetctl_add_num(map, "lost", (int64_t)d->lost);
	lnetctl_add_num(map, "duplicated", doubled);
	return tool_show(d->t, 0, doc, LNETCTL_HAND);
}

static int course(struct drill *d)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL), *map, *list;
	int64_t i, doubled = statistic(d, "dup_final");
	int rc = old_rule_remove(d);

	rc = rc ? rc : baseline_measure(d);
	map = doc ? lnetctl_add_map(doc, "drill") : NULL;
	list = map && lnetctl_add_text(map, "rail", d->rail) &&
	       lnetctl_add_text(map, "peer", d->peer) ? lnetctl_add_seq(map, "cuts") : NULL;
	if (!rc && !list)
		rc = -ENOMEM;
	for (i = 0; i < d->cuts && !rc && !drill_is_over(d); i++)
		rc = once(d, list);
	doubled = statistic(d, "dup_final") - doubled;
	if (!rc && !drill_is_over(d))
		return drill_result_print(d, doc, doubled);
	lnetctl_doc_free(doc);
	if (rc)
		return rc;
	if (d->err)
		return tool_refuse("drill", "rail", d->err, "the node no longer replies: %s",
				   d->why);
	return tool_refuse("drill", "rail", -EINTR,
			   "stopped by a signal; the rail is no longer cut");
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Finds the interface that the next request would use. */
static bool rail_find(struct drill *d)
{
	const struct lnetctl_node *list;
	struct lnetctl_node *doc;
	const char *nid;

	if (lnetctl_explain(d->t->c, d->peer, &doc))
		return false;
	list = lnetctl_find(doc, "explain");
	nid = list && list->first ? lnetctl_text(list->first, "source") : NULL;
	snprintf(d->rail, sizeof(d->rail), "%s", nid ? nid : "");
	lnetctl_doc_free(doc);
	return nid;
}

static void drill_options_read(struct drill *d)
{
	unsigned int ms;

	if (tool_opt(d->t, "count"))
		d->cuts = tool_num(d->t, "count");
	if (tool_opt(d->t, "rate"))
		d->rate = tool_num(d->t, "rate");
	if (tool_opt(d->t, "duration") && !lnetctl_ms_parse(tool_opt(d->t, "duration"), &ms))
		d->cut_ms = ms;
}

static void on_drill_signal(int nr)
{
	(void)nr;
	stopped = 1;
}

/* Runs the drill. A signal ends the drill and its cut. */
static int guarded(struct drill *d)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction stop = { .sa_handler = on_drill_signal }, before[3];
	unsigned int i;
	int rc;

	stopped = 0;
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &stop, &before[i]);
	rc = course(d);
	for (i = 0; i < 3; i++)
		sigaction(signals[i], &before[i], NULL);
	return rc;
}

/* Checks that the rail exists. Returns 0, EXIT_USAGE, or the status of the node's error. */
static int rail_check(struct tool *t, const char *rail)
{
	struct lnetctl_node *doc;
	int rc = rail ? lnetctl_net_show(t->c, NULL, 0, false, &doc) : 0;
	bool known;

	if (!rail || rc)
		return tool_done(t, rc);
	known = tool_is_ni(doc, rail);
	lnetctl_doc_free(doc);
	return known ? 0
		     : tool_usage("--rail must be an interface of this node ('lnetctl net show' "
				  "lists them), not %s",
				  rail);
}

int run_drill(struct tool *t)
{
	struct drill d = { .t = t, .peer = tool_opt(t, "peer"), .rate = 100, .cut_ms = 2000,
			   .cuts = 1 };
	const char *rail = tool_opt(t, "rail");
	struct lnetctl_node *doc = NULL;
	int rc;

	drill_options_read(&d);
	rc = rail_check(t, rail);
	if (rc)
		return rc;
	rc = lnetctl_ping(t->c, d.peer, NULL, TIMEOUT_MS, &doc);	/* creates the peer entry */
	lnetctl_doc_free(doc);
	if (rc)
		return tool_done(t, rc);
	if (rail)
		snprintf(d.rail, sizeof(d.rail), "%s", rail);
	else if (!rail_find(&d))
		return tool_refuse("drill", "peer", -EHOSTUNREACH, "no path to %s",
				   d.peer);
	return guarded(&d);
}

const struct opt drill_opts[] = {
	{ "rail", 'r', ARG_NID,
	  "interface of this node whose rail is cut, as a NID; default: the one that the next "
	  "request would use" },
	{ "peer", 'p', ARG_NID, "NID of the peer that receives the requests" },
	{ "count", 'c', ARG_NUM, "number of cuts of the rail, 1 to 1000; default 1", 1, 1000 },
	{ "rate", 0, ARG_NUM, "requests to the peer per second, 1 to 1000; default 100", 1, 1000 },
	{ "duration", 'd', ARG_TIME, "length of a cut, 100ms to 600s; default 2s", 100 * TIME_MS,
	  600 * TIME_S },
	{ .name = NULL }
};
