/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The options of lnetperf. */
#include "perf.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "utils/lib/exit_status.h"

static const char help[] =
	"usage: lnetperf server --nid NID... [--peer NID,NID...] [OPTION...]\n"
	"       lnetperf client --nid NID... --peer NID,NID... [OPTION...]\n"
	"Measures requests from a client to a server. Each of the two programs is a separate "
	"node,\n"
	"without a daemon.\n"
	"Options of both:\n"
	"  --nid NID           NID of an interface of this node; may be repeated, or a list with "
	"commas\n"
	"  --peer NID,NID      NIDs of the other node, its primary NID first\n"
	"  --route NET,NID,NID route to the remote net NET through the routers NID; may be "
	"repeated\n"
	"  --port N            TCP port on which this node and its peers listen; default 988\n"
	"  --credits N         messages in flight over each interface; default 1024\n"
	"  --peer-credits N    messages in flight to each peer interface; default 256\n"
	"  --set NAME=VALUE    set the tunable NAME, as lnetctl set does; may be repeated\n"
	"  --mode hybrid|manual|service   threads that serve sockets and timers: those of the\n"
	"                      program (manual, default), those of the library (service), or both\n"
	"  --name NAME         name of this node, for lnetctl --node NAME\n"
	"  --log FILE          append the events of each message to FILE, for the oracle of the "
	"tests\n"
	"  --timeline T        print a line of results every T\n"
	"  --json              print results as JSON\n"
	"  --crowd N,NID       N further nodes with NID and the NIDs after it: the server runs "
	"these\n"
	"                      nodes, and the client has one idle connection to each of them\n"
	"  --duration T        time to run; default for a client 5s, for a server until SIGTERM\n"
	"Options of the client:\n"
	"  --op put|put-noack|get   type of the requests: PUT with ACK (put, default), PUT without "
	"ACK, GET\n"
	"  --size N            payload of a request in bytes; default 64\n"
	"  --window N          requests in flight at the same time; default 1\n"
	"  --interval T        send one request every T, even if earlier requests have no reply\n"
	"  --count N           number of requests; default unlimited\n"
	"  --warmup N          requests before the measured ones; default 0\n"
	"  --buffers N         number of buffers, which requests use in turn; default 16\n"
	"  --timeout T         transaction timeout of each request; default: the tunable\n"
	"                      transaction_timeout\n"
	"  --verify            check the contents of every message at both nodes\n"
	"  --plant lost|dup|corrupt|reorder   plant errors of this kind, to test the oracle\n"
	"  --stay              do not end after the last request, but at SIGTERM\n"
	"T is a time: 5 (seconds), 300ms, 20us. Sizes: 64, 4K, 1M.";

/* The options and their accepted values. NULL: the option has no value. */
#define PERF_OPTIONS(OPT)                                                               \
	OPT("nid", O_NID, "a NID, or a list with commas; at most 16 NIDs in all")       \
	OPT("peer", O_PEER, "the NIDs of one peer, with commas; at most 16 peers")      \
	OPT("route", O_ROUTE, "NET,NID[,NID...]; at most 16 routes")                    \
	OPT("port", O_PORT, "1 to 65535")                                               \
	OPT("credits", O_CREDITS, "1 to 65535")                                         \
	OPT("peer-credits", O_PEER_CREDITS, "1 to 65535")                               \
	OPT("set", O_SET, "NAME=VALUE; at most 32 of them")                             \
	OPT("mode", O_MODE, "hybrid, manual or service")                                \
	OPT("name", O_NAME, "the name of this node")                                    \
	OPT("log", O_LOG, "the name of a file")                                         \
	OPT("timeline", O_TIMELINE, "a time above 0, as 5, 300ms or 20us")              \
	OPT("json", O_JSON, NULL)                                                       \
	OPT("duration", O_DURATION, "a time above 0, as 5, 300ms or 20us")              \
	OPT("op", O_OP, "put, put-noack or get")                                        \
	OPT("size", O_SIZE, "0 to 1M")                                                  \
	OPT("window", O_WINDOW, "1 to 16384")                                           \
	OPT("interval", O_INTERVAL, "a time above 0, as 5, 300ms or 20us")              \
	OPT("count", O_COUNT, "1 to 1099511627776")                                     \
	OPT("warmup", O_WARMUP, "0 to 1073741824")                                      \
	OPT("buffers", O_BUFFERS, "1 to 16384")                                         \
	OPT("timeout", O_TIMEOUT, "a time above 0, as 5, 300ms or 20us")                \
	OPT("verify", O_VERIFY, NULL)                                                   \
	OPT("plant", O_PLANT, "none, lost, dup, corrupt or reorder")                    \
	OPT("stay", O_STAY, NULL)                                                       \
	OPT("crowd", O_CROWD, "N,NID with a number N of 1 to 4096 and an IPv4 NID")     \
	OPT("help", O_HELP, NULL)                                                       \
	OPT("version", O_VERSION, NULL)

#define OPT(name, constant, accepts) constant,
enum { O_FIRST = 255, PERF_OPTIONS(OPT) };
#undef OPT

#define OPT(name, constant, accepts) \
	[constant - O_FIRST - 1] = { name, (accepts) != NULL, NULL, constant },
static const struct option options[] = { PERF_OPTIONS(OPT){ 0 } };
#undef OPT

#define OPT(name, constant, accepts) [constant - O_FIRST - 1] = accepts,
static const char *const accepted[] = { PERF_OPTIONS(OPT) };
#undef OPT

static bool parse_num(const char *text, u64 max, u64 *num)
{
	char *end;
	double val = strtod(text, &end);

	if (end == text || val < 0)
		return false;
	if (*end == 'k' || *end == 'K')
		val *= 1024, end++;
	else if (*end == 'm' || *end == 'M')
		val *= 1 << 20, end++;
	*num = (u64)val;
	return !*end && val <= (double)max;
}

static bool parse_uint(const char *text, u32 max, u32 *num)
{
	u64 val;
	bool good = parse_num(text, max, &val) && val;

	if (good)
		*num = (u32)val;
	return good;
}

static bool size_option_parse(const char *text, u32 *size)
{
	u64 val;
	bool good = parse_num(text, PERF_MAX_SIZE, &val);

	if (good)
		*size = (u32)val;
	return good;
}

static bool parse_crowd(struct perf_opt *o, char *text)
{
	char *nid = strchr(text, ',');

	if (!nid)
		return false;
	*nid++ = 0;
	return parse_uint(text, PERF_MAX_CROWD, &o->crowd) &&
	       !lnet_nid_parse(&o->crowd_first, nid) && lnet_nid_is_nid4(&o->crowd_first);
}

static bool parse_time(const char *text, u64 *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{ "", 1e9 },
		{ "s", 1e9 },
		{ "ms", 1e6 },
		{ "us", 1e3 },
	};
	char *end;
	double val = strtod(text, &end);
	unsigned int i;

	for (i = 0; end != text && val >= 0 && i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		*ns = (u64)(val * units[i].ns);
		return true;
	}
	return false;
}

/* Stores the position of @text in the list @names of @nr names. False: not found. */
static bool parse_name(const char *text, const char *const *names, unsigned int nr, int *pos)
{
	for (*pos = 0; *pos < (int)nr; (*pos)++)
		if (!strcmp(text, names[*pos]))
			return true;
	return false;
}

static bool parse_nids(struct perf_opt *o, char *list)
{
	char *save, *nid;

	for (nid = strtok_r(list, ",", &save); nid; nid = strtok_r(NULL, ",", &save)) {
		if (o->nr_nids == PERF_MAX_RAILS)
			return false;
		o->nids[o->nr_nids++] = nid;
	}
	return true;
}

static bool parse_choice(struct perf_opt *o, int c, const char *text)
{
	static const char *const modes[] = { "hybrid", "manual", "service" };
	static const char *const ops[] = { "put", "put-noack", "get" };
	static const char *const plants[] = { "none", "lost", "dup", "corrupt", "reorder" };
	int pos;
	bool good;

	switch (c) {
	case O_MODE:
		good = parse_name(text, modes, ARRAY_SIZE(modes), &pos);
		o->mode = (enum lnet_progress_mode)pos;
		return good;
	case O_OP:
		good = parse_name(text, ops, ARRAY_SIZE(ops), &pos);
		o->op = (enum perf_op)(pos + PERF_PUT);
		return good;
	default:
		good = parse_name(text, plants, ARRAY_SIZE(plants), &pos);
		o->plant = (enum perf_plant)pos;
		return good;
	}
}

static bool parse_one(struct perf_opt *o, int c, char *arg)
{
	switch (c) {
	case O_NID:
		return parse_nids(o, arg);
	case O_PEER:
		if (o->nr_peers == PERF_MAX_PEERS)
			return false;
		o->peers[o->nr_peers++] = arg;
		return true;
	case O_SET:
		if (o->nr_sets == PERF_MAX_SETS)
			return false;
		o->sets[o->nr_sets++] = arg;
		return true;
	case O_ROUTE:
		if (o->nr_routes == PERF_MAX_ROUTES)
			return false;
		o->routes[o->nr_routes++] = arg;
		return true;
	case O_PORT:
		return parse_uint(arg, 65535, &o->port);
	case O_CREDITS:
		return parse_uint(arg, 65535, &o->credits);
	case O_PEER_CREDITS:
		return parse_uint(arg, 65535, &o->peer_credits);
	case O_WINDOW:
		return parse_uint(arg, 16384, &o->window);
	case O_BUFFERS:
		return parse_uint(arg, 16384, &o->buffers);
	case O_SIZE:
		return size_option_parse(arg, &o->size);
	case O_CROWD:
		return parse_crowd(o, arg);
	case O_COUNT:
		return parse_num(arg, 1ull << PERF_ID_SHIFT, &o->count) && o->count;
	case O_WARMUP:
		return parse_num(arg, 1u << 30, &o->warmup);
	case O_INTERVAL:
		return parse_time(arg, &o->interval_ns) && o->interval_ns;
	case O_DURATION:
		return parse_time(arg, &o->duration_ns) && o->duration_ns;
	case O_TIMEOUT:
		return parse_time(arg, &o->timeout_ns) && o->timeout_ns;
	case O_TIMELINE:
		return parse_time(arg, &o->timeline_ns) && o->timeline_ns;
	case O_NAME:
		o->name = arg;
		return true;
	case O_LOG:
		o->log = arg;
		return true;
	case O_JSON:
		o->json = true;
		return true;
	case O_VERIFY:
		o->verify = true;
		return true;
	case O_STAY:
		o->stay = true;
		return true;
	case O_MODE:
	case O_OP:
	case O_PLANT:
		return parse_choice(o, c, arg);
	default:
		return false;
	}
}

static int perf_usage(const char *fmt, ...) __attribute__((__format__(printf, 1, 2)));

/* Prints a usage error. Returns the exit status. */
static int perf_usage(const char *fmt, ...)
{
	va_list args;

	fputs("lnetperf: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs("; see lnetperf --help\n", stderr);
	return EXIT_USAGE;
}

static int text_print(const char *text)
{
	puts(text);
	return EXIT_DONE;
}

/*
 * Prints the error that getopt_long() found. @c is ':' for a missing value, '?' for an unknown or
 * ambiguous option.
 */
static int perf_usage_option(int c, char **argv)
{
	const char *word = argv[optind - 1];

	if (c == ':')
		return perf_usage("%s needs a value: %s", word, accepted[optopt - O_FIRST - 1]);
	if (optopt > O_FIRST)
		return perf_usage("--%s takes no value", options[optopt - O_FIRST - 1].name);
	return perf_usage("there is no option '%s'", word);
}

static int perf_opt_check(struct perf_opt *o)
{
	if (!o->nr_nids)
		return perf_usage(
			"%s needs at least one --nid, the NID of an interface of this node",
			o->role == PERF_SERVER ? "a server" : "a client");
	if (o->role == PERF_CLIENT && o->nr_peers != 1)
		return perf_usage("a client needs exactly one --peer, the NIDs of the server");
	if (o->verify && (o->size % 8 || o->size < PERF_PAYLOAD_MIN))
		return perf_usage(
			"with --verify, --size must be a multiple of 8 and at least 32, not %u",
			o->size);
	if (o->plant && (!o->verify || o->op == PERF_GET))
		return perf_usage("--plant requires --verify and --op put or put-noack");
	if (!o->duration_ns)
		o->duration_ns = o->role == PERF_SERVER || o->count ? U64_MAX / 4 : 5000000000ull;
	return -1;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return !strcmp(word, a) || !strcmp(word, b) || (c && !strcmp(word, c));
}

static int options_parse(struct perf_opt *o, int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		char *value = optarg ? strdup(optarg) : NULL; /* the parser may modify it */
		bool good;

		if (c == 'h' || c == O_HELP)
			return text_print(help);
		if (c == O_VERSION)
			return text_print("lnetperf " LNET_VERSION);
		if (c == '?' || c == ':')
			return perf_usage_option(c, argv);
		good = parse_one(o, c, optarg);
		if (!good)
			perf_usage("--%s must be %s, not '%s'", options[c - O_FIRST - 1].name,
				   accepted[c - O_FIRST - 1], value ? value : "");
		free(value);
		if (!good)
			return EXIT_USAGE;
	}
	if (optind < argc)
		return perf_usage("unexpected argument '%s'", argv[optind]);
	return perf_opt_check(o);
}

int perf_opt_parse(struct perf_opt *o, int argc, char **argv)
{
	*o = (struct perf_opt){ .port = 988,
				.credits = 1024,
				.peer_credits = 256,
				.window = 1,
				.buffers = 16,
				.mode = LNET_PROGRESS_MANUAL,
				.op = PERF_PUT,
				.size = 64 };
	if (argc > 1 && is_one_of(argv[1], "-h", "--help", "help"))
		return text_print(help);
	if (argc > 1 && is_one_of(argv[1], "-V", "--version", "version"))
		return text_print("lnetperf " LNET_VERSION);
	if (argc < 2)
		return perf_usage("the first argument must be server or client");
	if (!is_one_of(argv[1], "server", "client", NULL))
		return perf_usage("the first argument must be server or client, not '%s'", argv[1]);
	o->role = argv[1][0] == 's' ? PERF_SERVER : PERF_CLIENT;
	return options_parse(o, argc - 1, argv + 1);
}
