/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The oracle: joins the logs that lnetperf wrote at both sides with the marks of the faults in
 * between. It reports lost, duplicated, corrupted and reordered requests, and the times without a
 * completed request.
 *
 *	oracle [--limit KIND=MEDIAN_MS,WORST_MS]... [--in-order] [--through] [--strangers]
 *	       [--marks FILE] LOG...
 *
 * Marks are lines "TIME WHAT [RAIL]", TIME in seconds since 1970. WHAT: "cut-KIND" begins a fault,
 * "heal" with the index of the client's rail ends one, "kill" and "up" enclose the time in which
 * requests may fail. With --through a fault counts until the next fault, and not until its end:
 * requests that do not use another path continue some time after the end. With --strangers the
 * oracle ignores requests that no client issued, because attackers keep no log. Exit status: 0 all
 * well, 1 a rule was broken, 2 the logs cannot be checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "utils/lnetperf/perflog.h"

#define MAX_MARKS	4096
#define MAX_KINDS	16
#define MAX_INSTANCES	4096
#define MAX_RAILS	16
#define NS		1000000000ll
#define SHARE_NS	(100 * 1000000ll)	/* a rail's share is measured over this time */
#define SHARE_MIN	0.30			/* smallest share that counts as carried */
#define GRACE_NS	(50 * 1000000ll)	/* a shell writes the marks, so times are inexact */

struct mark {
	int64_t time_ns;
	char what[32];
	int rail;
};

struct event {
	uint64_t id;
	int64_t time_ns;
	int32_t status;
	uint32_t kind, a, b;
	uint32_t instance;	/* of the writer */
};

struct instance {
	uint64_t id;
	uint32_t role;
	bool ended;
	int64_t first_ns, last_ns;
	uint64_t max_id[2];	/* server: highest number delivered, of the client seen last */
};

struct samples {
	char kind[32];
	double ms[MAX_MARKS];
	unsigned int nr;
	double limit[2];	/* median, worst; 0: none */
};

static struct event *events;
static size_t nr_events, cap_events;
static struct instance instances[MAX_INSTANCES];
static unsigned int nr_instances;
static struct mark marks[MAX_MARKS];
static unsigned int nr_marks;
static struct samples samples[MAX_KINDS];
static unsigned int nr_kinds;
static bool in_order, through, strangers;

static struct {
	unsigned long long issued, ok, failed, unknown, lost, duplicated, corrupted, ends, wrong;
	unsigned long long unexpected, reordered, landed, again, bad;
} sum;

static void die(const char *what, const char *why)
{
	fprintf(stderr, "oracle: %s: %s\n", what, why);
	exit(2);
}

/* ---- reading ------------------------------------------------------------------------------- */

static void *more(void *old, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 65536;
	old = realloc(old, *cap * size);
	if (!old)
		die("memory", strerror(ENOMEM));
	return old;
}

static void add_instance(const struct perf_rec *rec)
{
	if (nr_instances == MAX_INSTANCES)
		die("logs", "too many instances");
	instances[nr_instances++] = (struct instance){ .id = rec->id, .role = rec->a,
						       .first_ns = rec->time_ns };
}

static void add_record(const struct perf_rec *rec)
{
	if (rec->kind == PERF_START)
		add_instance(rec);
	if (!nr_instances)
		die("log", "does not begin with a start");
	instances[nr_instances - 1].last_ns = rec->time_ns;
	if (rec->kind == PERF_END)
		instances[nr_instances - 1].ended = true;
	if (nr_events == cap_events)
		events = more(events, &cap_events, sizeof(*events));
	events[nr_events++] = (struct event){ .id = rec->id, .time_ns = rec->time_ns,
					      .status = rec->status, .kind = rec->kind,
					      .a = rec->a, .b = rec->b,
					      .instance = nr_instances - 1 };
}

static void read_log(const char *path)
{
	const struct perf_rec *rec;
	struct stat st;
	size_t i, nr;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die(path, strerror(errno));
	nr = (size_t)st.st_size / sizeof(*rec);
	if (!nr)
		die(path, "is empty");
	rec = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (rec == MAP_FAILED)
		die(path, strerror(errno));
	if (rec->kind != PERF_START)
		die(path, "does not begin with a start");
	for (i = 0; i < nr && rec[i].kind; i++)
		add_record(&rec[i]);
	munmap((void *)rec, (size_t)st.st_size);
	close(fd);
}

static void read_marks(const char *path)
{
	FILE *in = fopen(path, "r");
	char line[256];
	double time;

	if (!in)
		die(path, strerror(errno));
	while (fgets(line, sizeof(line), in)) {
		struct mark *m = &marks[nr_marks];

		if (nr_marks == MAX_MARKS)
			die(path, "too many marks");
		m->rail = -1;
		if (sscanf(line, "%lf %31s %d", &time, m->what, &m->rail) < 2)
			die(path, "is not a list of marks");
		m->time_ns = (int64_t)(time * 1e6) * 1000;
		nr_marks++;
	}
	fclose(in);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* True if the node was being killed or away at some time between @from and @to. */
static bool killed_between(int64_t from, int64_t to)
{
	int64_t kill = 0;
	unsigned int i;

	for (i = 0; i < nr_marks; i++) {
		if (!strcmp(marks[i].what, "kill"))
			kill = marks[i].time_ns;
		else if (strcmp(marks[i].what, "up") || !kill)
			continue;
		else if (from <= marks[i].time_ns + GRACE_NS && to >= kill - GRACE_NS)
			return true;
		else
			kill = 0;
	}
	return kill && to >= kill - GRACE_NS;
}

static void fault(unsigned long long *count, const struct event *e, const char *what)
{
	(*count)++;
	if (sum.bad++ < 20)
		fprintf(stderr, "oracle: request %llx:%llu at %.6f: %s (status %d)\n",
			(unsigned long long)(e->id >> PERF_ID_SHIFT),
			(unsigned long long)(e->id & ((1ull << PERF_ID_SHIFT) - 1)),
			(double)e->time_ns / 1e9, what, e->status);
}

struct request {
	const struct event *issue, *final;
	unsigned int nr_issues, nr_finals, nr_delivered, nr_landed, nr_twice, nr_lives;
};

static void collect(struct request *r, const struct event *e, unsigned int nr)
{
	unsigned int i, last = ~0u;

	for (i = 0; i < nr; i++, e++) {
		switch (e->kind) {
		case PERF_ISSUE: r->issue = e, r->nr_issues++; break;
		case PERF_FINAL: r->final = e, r->nr_finals++; break;
		case PERF_LANDED: r->nr_landed++; break;
		case PERF_DELIVER:
			if (e->status)
				fault(&sum.corrupted, e, "corrupted at its target");
			/* fallthrough */
		case PERF_SERVED:
			r->nr_delivered++;
			r->nr_twice += e->instance == last;
			r->nr_lives += e->instance != last;
			last = e->instance;
			break;
		}
	}
}

static void judge_end(const struct request *r)
{
	const struct event *f = r->final;
	bool there = r->nr_delivered || r->nr_landed;

	if (!f->status) {
		sum.ok++;
		if (!there && r->issue->b != PERF_GET)
			fault(&sum.lost, f, "said to be done, never delivered");
		return;
	}
	if (f->status == -EBADMSG) {
		fault(&sum.corrupted, f, "corrupted in the answer");
		return;
	}
	sum.failed += !f->a;
	sum.unknown += f->a;
	if (!f->a && there)
		fault(&sum.wrong, f, "said to be not delivered, but is");
	if (!killed_between(r->issue->time_ns, f->time_ns))
		fault(&sum.unexpected, f, f->a ? "perhaps delivered, without need" :
						 "failed, without need");
}

static bool is_issued(const struct event *e, unsigned int nr)
{
	while (nr--)
		if (e[nr].kind == PERF_ISSUE)
			return true;
	return false;
}

static void judge(const struct event *e, unsigned int nr)
{
	struct request r = { 0 };

	if (strangers && !is_issued(e, nr))
		return;
	collect(&r, e, nr);
	sum.issued += r.nr_issues != 0;
	sum.landed += r.nr_landed && !r.nr_delivered;
	sum.again += r.nr_lives > 1;
	if (r.nr_issues != 1)
		fault(&sum.corrupted, e, r.nr_issues ? "issued twice" : "never issued");
	if (r.nr_twice)
		fault(&sum.duplicated, e, "delivered twice to the same instance");
	if (r.nr_issues == 1 && r.nr_finals != 1 &&
	    (r.nr_finals || instances[r.issue->instance].ended))
		fault(&sum.ends, r.issue, r.nr_finals ? "ended twice" : "never ended");
	if (r.nr_issues == 1 && r.nr_finals)
		judge_end(&r);
}

static bool of_request(const struct event *e)
{
	return e->kind == PERF_ISSUE || e->kind == PERF_FINAL || e->kind == PERF_DELIVER ||
	       e->kind == PERF_LANDED || e->kind == PERF_SERVED;
}

static int compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	if (x->instance != y->instance)
		return x->instance < y->instance ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void judge_requests(void)
{
	struct event *sorted = calloc(nr_events + 1, sizeof(*sorted));
	size_t i, k, nr = 0;

	if (!sorted)
		die("memory", strerror(ENOMEM));
	for (i = 0; i < nr_events; i++)
		if (of_request(&events[i]))
			sorted[nr++] = events[i];
	qsort(sorted, nr, sizeof(*sorted), compare);
	for (i = 0; i < nr; i = k) {
		for (k = i + 1; k < nr && sorted[k].id == sorted[i].id; k++)
			;
		judge(&sorted[i], (unsigned int)(k - i));
	}
	free(sorted);
}

/* Counts the deliveries of one client at one target that follow a later one. */
static void count_reordered(void)
{
	struct instance *in;
	size_t i;

	for (i = 0; i < nr_events; i++) {
		if (events[i].kind != PERF_DELIVER)
			continue;
		in = &instances[events[i].instance];
		if (in->max_id[0] >> PERF_ID_SHIFT != events[i].id >> PERF_ID_SHIFT)
			in->max_id[0] = 0;
		sum.reordered += events[i].id < in->max_id[0];
		if (events[i].id > in->max_id[0])
			in->max_id[0] = events[i].id;
	}
}

/* ---- times ----------------------------------------------------------------------------------- */

static struct samples *samples_of(const char *kind)
{
	unsigned int i;

	for (i = 0; i < nr_kinds; i++)
		if (!strcmp(samples[i].kind, kind))
			return &samples[i];
	if (nr_kinds == MAX_KINDS)
		die(kind, "too many kinds of marks");
	snprintf(samples[nr_kinds].kind, sizeof(samples[0].kind), "%s", kind);
	return &samples[nr_kinds++];
}

static void sample(const char *kind, double ms)
{
	struct samples *s = samples_of(kind);

	if (s->nr < MAX_MARKS)
		s->ms[s->nr++] = ms;
}

static bool completion(const struct event *e)
{
	return e->kind == PERF_FINAL && !e->status;
}

/* The longest time of a request that ended in @from .. @to, in ms. */
static double slowest(int64_t from, int64_t to)
{
	uint32_t us = 0;
	size_t i;

	for (i = 0; i < nr_events; i++)
		if (completion(&events[i]) && events[i].time_ns > from && events[i].time_ns <= to &&
		    events[i].b > us)
			us = events[i].b;
	return us / 1e3;
}

/* The begin of the run that contains @from: completions of an earlier run do not count. */
static int64_t run_of(int64_t from)
{
	int64_t begin = 0;
	unsigned int i;

	for (i = 0; i < nr_marks; i++)
		if (!strcmp(marks[i].what, "begin") && marks[i].time_ns < from)
			begin = marks[i].time_ns;
	return begin;
}

/*
 * The longest time without a completion that overlaps @from .. @to, in ms. It begins at @from if
 * the run has no earlier completion.
 */
static double longest_gap(int64_t from, int64_t to)
{
	int64_t begin = run_of(from), last = 0, gap = 0, t;
	bool late;
	size_t i;

	for (i = 0; i < nr_events; i++) {
		if (!completion(&events[i]))
			continue;
		late = events[i].time_ns > to;
		if (last < begin && events[i].time_ns > from)
			last = from;
		/* a completion of a later run does not end a gap of this run */
		t = late && through ? to : events[i].time_ns;
		if (t > from && last && t - last > gap)
			gap = t - last;
		last = t;
		if (late)
			break;
	}
	if (last && last < to && to - last > gap && i < nr_events)
		gap = to - last;
	return (double)gap / 1e6;
}

/* The time at which rail @rail had its share over SHARE_NS, after @from; @to if it never had. */
static int64_t share_back(int rail, int64_t from, int64_t to)
{
	struct { int64_t time_ns; uint32_t sent[MAX_RAILS]; } at[64], now = { 0 };
	unsigned int nr = 0, k, r;
	uint64_t mine, all;
	size_t i;

	for (i = 0; i < nr_events; i++) {
		const struct event *e = &events[i];

		if (e->kind != PERF_RAIL || instances[e->instance].role != PERF_CLIENT ||
		    e->id >= MAX_RAILS || e->time_ns < from || e->time_ns > to)
			continue;
		now.sent[e->id] = e->a;
		now.time_ns = e->time_ns;
		if ((int)e->id != rail)
			continue;
		for (k = nr; k-- && now.time_ns - at[k % 64].time_ns < SHARE_NS && nr - k < 60; )
			;
		if (k != ~0u) {
			for (r = 0, mine = all = 0; r < MAX_RAILS; r++)
				all += now.sent[r] - at[k % 64].sent[r];
			mine = now.sent[rail] - at[k % 64].sent[rail];
			if (all && (double)mine >= SHARE_MIN * (double)all && mine > 5)
				return now.time_ns;
		}
		memcpy(&at[nr++ % 64], &now, sizeof(now));
	}
	return to;
}

/* The end of the time in which mark @i counts. */
static int64_t end_of(unsigned int i)
{
	for (i++; i < nr_marks; i++)
		if (!through || strcmp(marks[i].what, "heal"))
			return marks[i].time_ns;
	return INT64_MAX;
}

static void take_times(void)
{
	unsigned int i, k;
	int64_t to;

	for (i = 0; i < nr_marks; i++) {
		to = end_of(i);
		if (!strncmp(marks[i].what, "cut-", 4)) {
			sample(marks[i].what + 4, longest_gap(marks[i].time_ns, to));
			sample("slowest request", slowest(marks[i].time_ns, to));
		}
		if (strcmp(marks[i].what, "heal") || marks[i].rail < 0)
			continue;
		/* Other marks, without a fault, may lie between. */
		for (k = i + 1; k < nr_marks && strncmp(marks[k].what, "cut-", 4) &&
		     strcmp(marks[k].what, "end"); k++)
			;
		to = k < nr_marks ? marks[k].time_ns : marks[i].time_ns + 10 * NS;
		sample("after the heal", longest_gap(marks[i].time_ns, to));
		sample("share-back", (double)(share_back(marks[i].rail, marks[i].time_ns, to) -
					      marks[i].time_ns) / 1e6);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool print_times(void)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < nr_kinds; i++) {
		struct samples *s = &samples[i];
		double median;

		if (!s->nr)
			continue;
		qsort(s->ms, s->nr, sizeof(s->ms[0]), by_size);
		median = (s->ms[(s->nr - 1) / 2] + s->ms[s->nr / 2]) / 2;
		printf("%s: %u times, median %.1f ms, worst %.1f ms", s->kind, s->nr, median,
		       s->ms[s->nr - 1]);
		if (s->nr >= 20)
			printf(", 99%% %.1f ms", s->ms[(s->nr * 99 - 1) / 100]);
		putchar('\n');
		if ((s->limit[0] && median > s->limit[0]) ||
		    (s->limit[1] && s->ms[s->nr - 1] > s->limit[1])) {
			printf("%s: more than %.0f and %.0f ms\n", s->kind, s->limit[0],
			       s->limit[1]);
			good = false;
		}
	}
	return good;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void set_limit(char *text)
{
	char *value = strchr(text, '=');
	struct samples *s;

	if (!value)
		die(text, "is no limit");
	*value++ = 0;
	s = samples_of(text);
	if (sscanf(value, "%lf,%lf", &s->limit[0], &s->limit[1]) != 2)
		die(text, "is no limit");
}

static bool print_sum(void)
{
	unsigned long long bad = sum.lost + sum.duplicated + sum.corrupted + sum.ends + sum.wrong +
				 sum.unexpected + (in_order ? sum.reordered : 0);

	printf("oracle: %llu issued, %llu done, %llu failed, %llu perhaps done: "
	       "%llu lost, %llu duplicated, %llu corrupted, %llu not ended once, "
	       "%llu falsely failed, %llu failed without need; %llu reordered, %llu only landed\n",
	       sum.issued, sum.ok, sum.failed, sum.unknown, sum.lost, sum.duplicated, sum.corrupted,
	       sum.ends, sum.wrong, sum.unexpected, sum.reordered, sum.landed);
	if (!sum.issued || !sum.ok)
		die("logs", "nothing to judge");
	return !bad;
}

int main(int argc, char **argv)
{
	bool good;
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--limit") && i + 1 < argc)
			set_limit(argv[++i]);
		else if (!strcmp(argv[i], "--marks") && i + 1 < argc)
			read_marks(argv[++i]);
		else if (!strcmp(argv[i], "--in-order"))
			in_order = true;
		else if (!strcmp(argv[i], "--through"))
			through = true;
		else if (!strcmp(argv[i], "--strangers"))
			strangers = true;
		else
			read_log(argv[i]);
	}
	judge_requests();
	count_reordered();
	take_times();
	good = print_times();
	return print_sum() && good ? 0 : 1;
}
