/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lnetperf for a node of the kernel. It makes lnet_load.ko send or answer requests in a network
 * namespace. It writes the log of the module to a file, and prints the same lines as lnetperf.
 *
 *	kperf client|server [--netns NAME] OPTION...
 *
 * Options are those of lnetperf that tests use: --nid, --peer, --route, --set, --op, --size,
 * --window. Also --interval, --count, --timeout, --plant, --log, --timeline, --duration, --json
 * (fewer keys). --verify is always on, and --name has no effect. Existing interfaces and routes are
 * used, and are not removed. The program does not keep the namespace alive, and ends when the
 * namespace does.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "utils/lnetperf/perflog.h"

#define MAX_RAILS	16
#define NS		1000000000ll
#define DEVICE		"/dev/lnet_load"

static struct {
	const char *netns, *log;
	bool client, json;
	int64_t timeline_ns, duration_ns;
	char text[2048];		/* text for the kernel */
	char *nids[MAX_RAILS];
	unsigned int nr_nids;
} opt;

static struct {
	unsigned long long ok, failed, unknown, corrupted, suppressed;
	uint32_t resent, hedged, slowest_us;
	uint32_t sent[MAX_RAILS], base[MAX_RAILS];	/* now; in earlier lives */
	int64_t first_ns, last_ns, gap_ns, max_gap_ns;
	uint32_t *took_us;		/* of each request that succeeded */
	size_t nr_took, room;
} sum;

static volatile sig_atomic_t asked;

static void die(const char *what)
{
	fprintf(stderr, "kperf: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void on_signal(int sig)
{
	(void)sig;
	asked = 1;
}

/* ---- options --------------------------------------------------------------------------------- */

static void pass(const char *name, const char *value)
{
	size_t at = strlen(opt.text);

	if ((size_t)snprintf(opt.text + at, sizeof(opt.text) - at, "%s %s\n", name, value) >=
	    sizeof(opt.text) - at) {
		errno = E2BIG;
		die(name);
	}
}

static int64_t time_of(const char *text)
{
	char *unit;
	double num = strtod(text, &unit);

	num *= !strcmp(unit, "us") ? 1e3 : !strcmp(unit, "ms") ? 1e6 : 1e9;
	return (int64_t)num;
}

static void pass_time(const char *name, const char *value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)time_of(value));
	pass(name, text);
}

static void add_nids(char *list)
{
	char *save, *nid;

	pass("nid", list);
	for (nid = strtok_r(list, ",", &save); nid; nid = strtok_r(NULL, ",", &save))
		if (opt.nr_nids < MAX_RAILS)
			opt.nids[opt.nr_nids++] = nid;
}

static void take(const char *name, char *value)
{
	if (!strcmp(name, "netns"))
		opt.netns = value;
	else if (!strcmp(name, "log"))
		opt.log = value;
	else if (!strcmp(name, "timeline"))
		opt.timeline_ns = time_of(value);
	else if (!strcmp(name, "duration"))
		opt.duration_ns = time_of(value);
	else if (!strcmp(name, "interval") || !strcmp(name, "timeout"))
		pass_time(name, value);
	else if (!strcmp(name, "nid"))
		add_nids(value);
	else if (strcmp(name, "name"))
		pass(name, value);
}

static void options(int argc, char **argv)
{
	int i;

	errno = EINVAL;
	if (argc < 2)
		die("client or server");
	opt.client = !strcmp(argv[1], "client");
	pass("role", argv[1]);
	for (i = 2; i < argc; i++) {
		opt.json |= !strcmp(argv[i], "--json");
		if (!strcmp(argv[i], "--verify") || !strcmp(argv[i], "--json"))
			continue;
		if (strncmp(argv[i], "--", 2) || i + 1 == argc)
			die(argv[i]);
		take(argv[i] + 2, argv[i + 1]);
		i++;
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* If an interface is deleted and added again, its counters begin at 0. */
static uint32_t sent(unsigned int i)
{
	return sum.base[i] + sum.sent[i];
}

static void take_rail(const struct perf_rec *rec)
{
	if (rec->id >= MAX_RAILS)
		return;
	if (rec->a < sum.sent[rec->id])
		sum.base[rec->id] += sum.sent[rec->id];
	sum.sent[rec->id] = rec->a;
}

static void take_time(uint32_t us)
{
	if (us > sum.slowest_us)
		sum.slowest_us = us;
	if (sum.nr_took == sum.room) {
		sum.room = sum.room ? 2 * sum.room : 4096;
		sum.took_us = realloc(sum.took_us, sum.room * sizeof(*sum.took_us));
		if (!sum.took_us)
			die("memory for latencies");
	}
	sum.took_us[sum.nr_took++] = us;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Returns the quantile of the sorted times for @percent. */
static uint32_t quantile_us(unsigned int percent)
{
	return sum.nr_took ? sum.took_us[(sum.nr_took - 1) * percent / 100] : 0;
}

static void take_final(const struct perf_rec *rec)
{
	int64_t gap = rec->time_ns - sum.last_ns;

	if (rec->status) {
		sum.corrupted += rec->status == -EBADMSG;
		sum.unknown += rec->status != -EBADMSG && rec->a;
		sum.failed += rec->status != -EBADMSG && !rec->a;
		return;
	}
	sum.ok++;
	take_time(rec->b);
	if (sum.last_ns && gap > sum.gap_ns)
		sum.gap_ns = gap;
	if (sum.gap_ns > sum.max_gap_ns)
		sum.max_gap_ns = sum.gap_ns;
	sum.last_ns = rec->time_ns;
}

static void line(int64_t now_ns)
{
	static int64_t then_ns;
	static unsigned long long then_ok;
	static uint32_t then_sent[MAX_RAILS];
	double sec = (double)(now_ns - then_ns) / NS;
	unsigned int i;

	if (!opt.timeline_ns || now_ns < then_ns + opt.timeline_ns)
		return;
	if (then_ns) {
		printf("%6.2f s ", (double)(now_ns - sum.first_ns) / NS);
		for (i = 0; i < opt.nr_nids; i++)
			printf(" %s %6.0f/s", opt.nids[i], (sent(i) - then_sent[i]) / sec);
		printf("  done %7.0f/s  gap %6.1f ms  resent %u  hedged %u  suppressed %llu\n",
		       (double)(sum.ok - then_ok) / sec, (double)sum.gap_ns / 1e6, sum.resent,
		       sum.hedged, sum.suppressed);
		fflush(stdout);
	}
	for (i = 0; i < opt.nr_nids; i++)
		then_sent[i] = sent(i);
	then_ns = now_ns;
	then_ok = sum.ok;
	sum.gap_ns = 0;
}

/* Counters of the node, which may have existed before the load. */
static void take_counts(const struct perf_rec *rec)
{
	static struct perf_rec first;

	if (!first.kind)
		first = *rec;
	sum.suppressed = rec->id - first.id;
	sum.resent = rec->a - first.a;
	sum.hedged = rec->b - first.b;
}

static void take_record(const struct perf_rec *rec)
{
	switch (rec->kind) {
	case PERF_START: sum.first_ns = rec->time_ns; break;
	case PERF_RAIL: take_rail(rec); break;
	case PERF_FINAL: take_final(rec); break;
	case PERF_DELIVER:
	case PERF_SERVED:
		sum.ok += !rec->status;
		sum.corrupted += rec->status != 0;
		break;
	case PERF_COUNTS:
		take_counts(rec);
		line(rec->time_ns);
		break;
	}
}

static void end(void)
{
	if (sum.nr_took)
		qsort(sum.took_us, sum.nr_took, sizeof(*sum.took_us), by_value);
	if (opt.json)
		printf("{\"done\": %llu, \"failed\": %llu, \"perhaps\": %llu, \"corrupted\": %llu, "
		       "\"latency_us\": {\"p50\": %u, \"p99\": %u, \"max\": %u}, "
		       "\"gap_ms\": %.1f}\n",
		       sum.ok, sum.failed, sum.unknown, sum.corrupted, quantile_us(50),
		       quantile_us(99), sum.slowest_us,
		       (double)sum.max_gap_ns / 1e6);
	printf("%llu done, %llu failed, %llu perhaps done, %llu corrupted\n", sum.ok, sum.failed,
	       sum.unknown, sum.corrupted);
	if (opt.client)
		printf("slowest %.1f ms; longest gap %.1f ms\n", sum.slowest_us / 1e3,
		       (double)sum.max_gap_ns / 1e6);
	printf("resent %u, hedged %u, duplicates suppressed %llu\n", sum.resent, sum.hedged,
	       sum.suppressed);
}

/* ---- the load -------------------------------------------------------------------------------- */

/* Enters the namespace only to open the device: a process in the namespace would keep it alive. */
static int device_open(void)
{
	char path[256];
	int home = open("/proc/self/ns/net", O_RDONLY), there = -1, fd;

	if (opt.netns) {
		snprintf(path, sizeof(path), "/run/netns/%s", opt.netns);
		there = open(path, O_RDONLY);
		if (home < 0 || there < 0 || setns(there, CLONE_NEWNET))
			die(path);
		close(there);
	}
	fd = open(DEVICE, O_RDWR);
	if (fd < 0)
		die(DEVICE);
	if (opt.netns && setns(home, CLONE_NEWNET))
		die("/proc/self/ns/net");
	close(home);
	return fd;
}

static void ask_to_end(int fd)
{
	if (asked != 1)
		return;
	asked = 2;
	if (write(fd, "stop", 4) != 4)
		die("stop");
}

/* Reads records until the load has ended. Returns 0 or the errno of the load. */
static int pump(int fd, int log)
{
	struct perf_rec rec[256];
	ssize_t len, i;

	for (;;) {
		ask_to_end(fd);
		len = read(fd, rec, sizeof(rec));
		if (!len)
			return 0;
		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0)
			return errno;
		if (log >= 0 && write(log, rec, (size_t)len) != len)
			die(opt.log);
		for (i = 0; i < len / (ssize_t)sizeof(rec[0]); i++)
			take_record(&rec[i]);
	}
}

/*
 * A signal just before a read takes effect at the next record; there are twenty records per second.
 */
static void signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct itimerval alarm = { { 0, 0 }, { 0, 0 } };

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	alarm.it_value.tv_sec = opt.duration_ns / NS;
	alarm.it_value.tv_usec = opt.duration_ns % NS / 1000;
	setitimer(ITIMER_REAL, &alarm, NULL);
}

int main(int argc, char **argv)
{
	int fd, log = -1, err;

	options(argc, argv);
	fd = device_open();
	if (opt.log)
		log = open(opt.log, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (opt.log && log < 0)
		die(opt.log);
	signals();
	if (write(fd, opt.text, strlen(opt.text)) < 0)
		die("the kernel refuses that");
	if (!opt.client)
		printf("ready\n");
	fflush(stdout);
	err = pump(fd, log);
	end();
	close(fd);
	errno = err;
	if (err)
		die("the load failed");
	return (opt.client && (sum.failed || sum.unknown)) || sum.corrupted;
}
