/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What lnetperf is asked to do. */
#include "perf.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
	"lnetperf server --nid NID... [--peer NID,NID...] [OPTION...]\n"
	"lnetperf client --nid NID... --peer NID,NID... [OPTION...]\n"
	"Both are nodes of their own, without a daemon.\n"
	"  --nid NID           an interface (rail) of this node; several times, or a list\n"
	"  --peer NID,NID      all interfaces of the other node, its primary one first\n"
	"  --route NET,NID,NID routers that lead to NET; several times\n"
	"  --port N            TCP port to listen on and to dial; 988\n"
	"  --credits N, --peer-credits N   of each interface; 1024, 256\n"
	"  --set NAME=VALUE    set a tunable, as lnetctl set does\n"
	"  --mode hybrid|manual|service    who makes progress; manual: the program itself\n"
	"  --name NAME         lnetctl --node NAME manages this node\n"
	"  --log FILE          append what happens to FILE, for the oracle\n"
	"  --timeline T        a line of figures every T\n"
	"  --json              figures as JSON\n"
	"  --crowd N,NID       N further nodes, at NID and the addresses after it: the server has\n"
	"                      them in its process, the client an idle connection to each\n"
	"  --duration T        how long; client: 5s, server: until SIGTERM\n"
	"of the client:\n"
	"  --op put|put-noack|get   what to request; put (with ACK)\n"
	"  --size N            bytes; 64\n"
	"  --window N          requests under way at once; 1\n"
	"  --interval T        open loop: one request every T, whatever becomes of the others\n"
	"  --count N           how many requests; unlimited\n"
	"  --warmup N          requests before those that count; 0\n"
	"  --buffers N         buffers used in turn; 16\n"
	"  --timeout T         of each request; the tunable transaction_timeout\n"
	"  --verify            check the content of every message, at both sides\n"
	"  --plant lost|dup|corrupt|reorder   do wrong now and then: the oracle must see it\n"
	"  --stay              when done, do not end before a SIGTERM\n"
	"Times: 5 (seconds), 300ms, 20us. Sizes: 64, 4K, 1M.\n";

enum { O_NID = 256, O_PEER, O_PORT, O_CREDITS, O_PEER_CREDITS, O_SET, O_MODE, O_NAME, O_LOG,
       O_TIMELINE, O_JSON, O_DURATION, O_OP, O_SIZE, O_WINDOW, O_INTERVAL, O_COUNT, O_WARMUP,
       O_BUFFERS, O_TIMEOUT, O_VERIFY, O_PLANT, O_STAY, O_CROWD, O_ROUTE, O_HELP };

static const struct option options[] = {
	{ "nid", 1, NULL, O_NID }, { "peer", 1, NULL, O_PEER },
	{ "route", 1, NULL, O_ROUTE }, { "port", 1, NULL, O_PORT },
	{ "credits", 1, NULL, O_CREDITS }, { "peer-credits", 1, NULL, O_PEER_CREDITS },
	{ "set", 1, NULL, O_SET }, { "mode", 1, NULL, O_MODE }, { "name", 1, NULL, O_NAME },
	{ "log", 1, NULL, O_LOG }, { "timeline", 1, NULL, O_TIMELINE }, { "json", 0, NULL, O_JSON },
	{ "duration", 1, NULL, O_DURATION }, { "op", 1, NULL, O_OP }, { "size", 1, NULL, O_SIZE },
	{ "window", 1, NULL, O_WINDOW }, { "interval", 1, NULL, O_INTERVAL },
	{ "count", 1, NULL, O_COUNT }, { "warmup", 1, NULL, O_WARMUP },
	{ "buffers", 1, NULL, O_BUFFERS }, { "timeout", 1, NULL, O_TIMEOUT },
	{ "verify", 0, NULL, O_VERIFY }, { "plant", 1, NULL, O_PLANT }, { "stay", 0, NULL, O_STAY },
	{ "crowd", 1, NULL, O_CROWD }, { "help", 0, NULL, O_HELP }, { 0 }
};

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

static bool parse_size(const char *text, u32 *size)
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
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
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

/* The position of @text among @nr @names. */
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
	case O_NID: return parse_nids(o, arg);
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
	case O_PORT: return parse_uint(arg, 65535, &o->port);
	case O_CREDITS: return parse_uint(arg, 65535, &o->credits);
	case O_PEER_CREDITS: return parse_uint(arg, 65535, &o->peer_credits);
	case O_WINDOW: return parse_uint(arg, 16384, &o->window);
	case O_BUFFERS: return parse_uint(arg, 16384, &o->buffers);
	case O_SIZE: return parse_size(arg, &o->size);
	case O_CROWD: return parse_crowd(o, arg);
	case O_COUNT: return parse_num(arg, 1ull << PERF_ID_SHIFT, &o->count) && o->count;
	case O_WARMUP: return parse_num(arg, 1u << 30, &o->warmup);
	case O_INTERVAL: return parse_time(arg, &o->interval_ns) && o->interval_ns;
	case O_DURATION: return parse_time(arg, &o->duration_ns) && o->duration_ns;
	case O_TIMEOUT: return parse_time(arg, &o->timeout_ns) && o->timeout_ns;
	case O_TIMELINE: return parse_time(arg, &o->timeline_ns) && o->timeline_ns;
	case O_NAME: o->name = arg; return true;
	case O_LOG: o->log = arg; return true;
	case O_JSON: o->json = true; return true;
	case O_VERIFY: o->verify = true; return true;
	case O_STAY: o->stay = true; return true;
	case O_MODE: case O_OP: case O_PLANT: return parse_choice(o, c, arg);
	default: return false;
	}
}

static int usage(const char *why)
{
	fprintf(why ? stderr : stdout, "%s%s%s", why ? "lnetperf: " : "", why ? why : help,
		why ? "; see lnetperf --help\n" : "");
	return why ? 2 : 0;
}

static int check(struct perf_opt *o)
{
	if (!o->nr_nids)
		return usage("a node needs at least one --nid");
	if (o->role == PERF_CLIENT && o->nr_peers != 1)
		return usage("a client needs one --peer");
	if (o->verify && (o->size % 8 || o->size < PERF_PAYLOAD_MIN))
		return usage("--verify takes sizes of at least 32, multiples of 8");
	if (o->plant && (!o->verify || o->op == PERF_GET))
		return usage("--plant goes with --verify and a PUT");
	if (!o->duration_ns)
		o->duration_ns = o->role == PERF_SERVER || o->count ? U64_MAX / 4 : 5000000000ull;
	return -1;
}

int perf_opt_parse(struct perf_opt *o, int argc, char **argv)
{
	int c;

	*o = (struct perf_opt){ .port = 988, .credits = 1024, .peer_credits = 256, .window = 1,
				.buffers = 16, .mode = LNET_PROGRESS_MANUAL, .op = PERF_PUT,
				.size = 64 };
	if (argc > 1 && !strcmp(argv[1], "--help"))
		return usage(NULL);
	if (argc < 2 || (strcmp(argv[1], "server") && strcmp(argv[1], "client")))
		return usage("server or client");
	o->role = argv[1][0] == 's' ? PERF_SERVER : PERF_CLIENT;
	while ((c = getopt_long(argc - 1, argv + 1, "", options, NULL)) != -1) {
		if (c == O_HELP)
			return usage(NULL);
		if (c == '?')
			return usage("unknown option");
		if (!parse_one(o, c, optarg)) {
			fprintf(stderr, "lnetperf: '%s' is not possible there\n", optarg);
			return 2;
		}
	}
	return optind == argc - 1 ? check(o) : usage("too many words");
}
