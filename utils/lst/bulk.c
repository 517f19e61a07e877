/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs bulk_server and bulk_write: bulk tests between nodes without a console. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "sample.h"

#define LEASE		10	/* seconds until the node stops, if this program is killed */
#define CONCURRENCY	"8"
#define SERVERS_MAX	1024

static volatile sig_atomic_t interrupted;

struct bulk {
	struct request r;
	const char *size, *concurrency;
	bool server;
	unsigned int nr_servers;
	struct lnetctl_node *now, *before;
	uint64_t begun_ns, now_ns, before_ns;	/* of the samples */
};

static void on_bulk_signal(int sig)
{
	interrupted = 1;
}

static int bulk_failed(int rc)
{
	switch (-rc) {
	case EHOSTDOWN:
		return fail(rc, "node", "ask");
	case EBUSY:
		return failed("The node belongs to a session of a console, bulk_server or "
			      "bulk_write");
	case ESRCH:
		return failed("A console has taken the node over, or has ordered it to stop");
	default:
		return failed("%s", strerror(-rc));
	}
}

/* ---- arguments ----------------------------------------------------------------------------- */

/* Adds a server by its host name, which stands for its first IPv4 address on net tcp. */
static bool add_host(struct bulk *b, const char *name)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
	char address[INET_ADDRSTRLEN];
	int rc;

	b->nr_servers++;
	if (strchr(name, '@'))
		return add_ids(&b->r, name);
	rc = getaddrinfo(name, NULL, &hints, &found);
	if (rc)
		return failed("%s: %s", name, gai_strerror(rc)), false;
	inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, address,
		  sizeof(address));
	freeaddrinfo(found);
	request_add(&b->r, "nid", "%s@tcp", address);
	return true;
}

static bool add_hosts(struct bulk *b, char *names)
{
	char *save, *name;

	for (name = strtok_r(names, " ,\t\n", &save); name; name = strtok_r(NULL, " ,\t\n", &save))
		if (!add_host(b, name))
			return false;
	return true;
}

static bool bulk_option(struct bulk *b, int c)
{
	long long count;

	switch (c) {
	case 's': b->size = optarg; return true;
	case 'l': return plan_add(&b->r, "loop", 4, optarg);
	case 'n': b->concurrency = optarg; return true;
	case 't': return add_hosts(b, optarg);
	case 'c':
		if (!parse_number("--count", optarg, 1, 4096, &count))
			return false;
		request_add(&b->r, "count", "%lld", count);
		return true;
	}
	return false;
}

/* Adds an argument. After --target, it is a further target or an argument of the test. */
static bool bulk_arg_add(struct bulk *b, char *arg)
{
	if (b->nr_servers && !strchr(arg, '=') && strcmp(arg, "read") && strcmp(arg, "write") &&
	    strcmp(arg, "back") && strcmp(arg, "both"))
		return add_hosts(b, arg);
	return plan_add_word(&b->r, arg);
}

static bool bulk_args_read(struct bulk *b, int argc, char **argv)
{
	static const struct option server[] = {
		{ "size", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' }, { 0 }
	}, client[] = {
		{ "size", required_argument, NULL, 's' }, { "loop", required_argument, NULL, 'l' },
		{ "concurrency", required_argument, NULL, 'n' },
		{ "target", required_argument, NULL, 't' }, { 0 }
	};
	int c;

	request_begin(&b->r, "alone_start");
	request_add(&b->r, "server", "%d", b->server);
	request_add(&b->r, "lease", "%d", LEASE);
	while ((c = option_next(argc, argv, b->server ? "s:c:" : "s:l:t:",
				b->server ? server : client, NULL)) != -1)
		if (!bulk_option(b, c))
			return false;
	for (; optind < argc; optind++)
		if (!bulk_arg_add(b, argv[optind]))
			return false;
	if (!b->server && !b->nr_servers)
		return misused("--target is missing: it must name the nodes that receive the data"),
		       false;
	return plan_add(&b->r, "size", 4, b->size) &&
	       (b->server || plan_add(&b->r, "concurrency", 11, b->concurrency));
}

/* ---- counters ------------------------------------------------------------------------------ */

static uint64_t bulk_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int bulk_tally_read(struct bulk *b)
{
	static struct request r;
	int rc;

	lnetctl_doc_free(b->before);
	b->before = b->now;
	b->before_ns = b->now_ns;
	request_begin(&r, "alone_tally");
	rc = request_send(&r, &b->now);
	b->now_ns = bulk_clock_ns();
	return rc;
}

static const struct lnetctl_node *alone_map(const struct lnetctl_node *doc)
{
	return lnetctl_find(doc, "alone");
}

static const struct lnetctl_node *item(const struct lnetctl_node *doc)
{
	const struct lnetctl_node *list = lnetctl_find(doc, "tally");

	return list ? list->first : NULL;
}

static void print_time(const struct bulk *b)
{
	char buf[24];

	printf("%8s s: ", thousandths((b->now_ns - b->begun_ns) / 1000000, buf));
}

/* Writes a rate as MB/s with three decimals. */
static const char *rate(u64 bytes, u64 ns, char buf[24])
{
	return thousandths(ns ? (u64)((unsigned __int128)bytes * 1000000 / ns) : 0, buf);
}

/* Prints rates and times of a client since the previous line. */
static void print_client(const struct bulk *b)
{
	struct lst_tally all, t, old;
	struct figures f;
	char m[4][24];

	if (!tally_read(item(b->now), &all) || !tally_read(item(b->before), &old))
		return;
	t = all;
	if (!tally_minus(&t, &old))
		return;
	t.first_ns = b->before_ns;
	t.last_ns = b->now_ns;
	tally_figures(&t, &f);
	print_time(b);
	printf("%llu sent, %llu received, %llu lost, %llu errors; out %s MB/s, in %s MB/s, "
	       "p50 %s us, p99 %s us\n", all.c[LST_T_sent], all.c[LST_T_received],
	       all.c[LST_T_lost], all.c[LST_T_corrupt] + all.c[LST_T_refused],
	       thousandths(f.out_per_s / 1000, m[0]), thousandths(f.in_per_s / 1000, m[1]),
	       thousandths(f.p50_ns, m[2]), thousandths(f.p99_ns, m[3]));
}

static u64 more(const struct bulk *b, const char *key)
{
	return sample_count(alone_map(b->now), key) - sample_count(alone_map(b->before), key);
}

static void print_server(const struct bulk *b)
{
	const struct lnetctl_node *n = alone_map(b->now);
	u64 ns = b->now_ns - b->before_ns;
	char m[2][24];

	if (!more(b, "served"))
		return;
	print_time(b);
	printf("%llu served, %llu move, %llu wait, %llu bad; in %s MB/s, out %s MB/s\n",
	       sample_count(n, "served"), sample_count(n, "busy"), sample_count(n, "waiting"),
	       sample_count(n, "found"), rate(more(b, "to_bytes"), ns, m[0]),
	       rate(more(b, "from_bytes"), ns, m[1]));
}

static void print_flow(const struct lnetctl_node *n, const char *name, const char *what)
{
	char key[32], buf[24];
	u64 ns;

	snprintf(key, sizeof(key), "%s_first_ns", name);
	ns = sample_count(n, key);
	snprintf(key, sizeof(key), "%s_last_ns", name);
	ns = sample_count(n, key) - ns;
	snprintf(key, sizeof(key), "%s_bytes", name);
	printf(", %s %llu bytes, %s MB/s", what, sample_count(n, key),
	       rate(sample_count(n, key), ns, buf));
}

/* Prints totals. The time of a client is from its first request to the last reply. */
static int print_total(const struct bulk *b)
{
	struct lst_tally t;
	u64 wrong;
	char m[2][24];

	if (b->server) {
		printf("total: %llu served, at most %llu at the same time",
		       sample_count(alone_map(b->now), "served"),
		       sample_count(alone_map(b->now), "most_at_once"));
		print_flow(alone_map(b->now), "to", "in");
		print_flow(alone_map(b->now), "from", "out");
		putchar('\n');
		return 0;
	}
	if (!tally_read(item(b->now), &t))
		return -1;
	wrong = t.c[LST_T_lost] + t.c[LST_T_corrupt] + t.c[LST_T_refused];
	printf("total: %llu sent, %llu received, %llu lost, %llu errors, out %llu bytes, %s MB/s, "
	       "in %llu bytes, %s MB/s\n", t.c[LST_T_sent], t.c[LST_T_received], t.c[LST_T_lost],
	       wrong - t.c[LST_T_lost], t.c[LST_T_bytes_out],
	       rate(t.c[LST_T_bytes_out], t.last_ns - t.first_ns, m[0]), t.c[LST_T_bytes_in],
	       rate(t.c[LST_T_bytes_in], t.last_ns - t.first_ns, m[1]));
	return wrong ? nodes_failed() : 0;
}

/* ---- watching ------------------------------------------------------------------------------ */

static bool bulk_is_over(const struct bulk *b)
{
	return interrupted || (!b->server && !number(alone_map(b->now), "running"));
}

/* Prints a line each second. Checks more often whether the client has ended. */
static int bulk_watch(struct bulk *b)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	int rc, ticks;

	while (!(rc = bulk_tally_read(b)) && !bulk_is_over(b)) {
		if (b->before && b->server)
			print_server(b);
		else if (b->before)
			print_client(b);
		for (ticks = 0; ticks < 10 && !interrupted; ticks++)
			nanosleep(&pause, NULL);
	}
	return rc;
}

static int bulk_measure(struct bulk *b)
{
	struct sigaction act = { .sa_handler = on_bulk_signal };
	static struct request r;
	int rc;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	b->begun_ns = bulk_clock_ns();
	rc = request_send(&b->r, NULL);
	if (!rc)
		rc = bulk_watch(b);
	if (rc)
		return bulk_failed(rc);
	rc = print_total(b);
	request_begin(&r, "alone_stop");
	request_send(&r, NULL);
	return rc;
}

static int bulk_command(int argc, char **argv, bool server)
{
	static struct bulk b;
	int rc;

	b = (struct bulk){ .server = server, .size = "1M", .concurrency = CONCURRENCY };
	rc = bulk_args_read(&b, argc, argv) ? bulk_measure(&b) : -1;
	lnetctl_doc_free(b.now);
	lnetctl_doc_free(b.before);
	return rc;
}

int verb_bulk_server(int argc, char **argv)
{
	return bulk_command(argc, argv, true);
}

int verb_bulk_write(int argc, char **argv)
{
	return bulk_command(argc, argv, false);
}
