/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Internals of lnetperf: options, the node, the log, and the results. */
#ifndef PERF_H
#define PERF_H

#include "plat.h"
#include <lnet/lnet.h>
#include <lnet/progress.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "payload.h"
#include "perflog.h"

#define PERF_MAX_RAILS	16
#define PERF_MAX_PEERS	16
#define PERF_MAX_SETS	32
#define PERF_MAX_CROWD	4096
#define PERF_PORTAL_RAW	10	/* PUTs and GETs with any contents */
#define PERF_MAX_ROUTES	16
#define PERF_RAW_BYTES	(16u << 20)

/* ---- opt.c --------------------------------------------------------------------------------- */

struct perf_opt {
	enum perf_role role;
	const char *nids[PERF_MAX_RAILS];
	unsigned int nr_nids;
	const char *peers[PERF_MAX_PEERS];	/* "nid,nid": NIDs of one peer, primary NID first */
	unsigned int nr_peers;
	const char *sets[PERF_MAX_SETS];	/* "tunable=value" */
	unsigned int nr_sets;
	const char *routes[PERF_MAX_ROUTES];	/* "net,nid,nid": the routers to the net */
	unsigned int nr_routes;
	unsigned int port, credits, peer_credits, window, buffers;
	enum lnet_progress_mode mode;
	enum perf_op op;
	u32 size;
	u64 interval_ns, duration_ns, count, timeout_ns, timeline_ns, warmup;
	bool verify, json, stay;
	enum perf_plant plant;
	const char *log, *name;
	u32 crowd;			/* further nodes */
	struct lnet_nid crowd_first;
};
/* Parses the arguments. Returns -1 to continue, or else the exit status. */
int perf_opt_parse(struct perf_opt *o, int argc, char **argv);

/* ---- log.c; with a NULL log the functions record nothing ----------------------------------- */

struct perf_log;
/* Opens a log, and appends to an existing file. Returns 0 or -errno. */
int perf_log_open(struct perf_log **logp, const char *path, enum perf_role role, u64 *instance);
void perf_log_add(struct perf_log *log, enum perf_kind kind, u64 id, int status, u32 a, u32 b);
void perf_log_close(struct perf_log *log);
/*
 * Returns @len bytes for received payloads, in a file @path that outlives the process. If an
 * earlier instance left intact payloads in the file, logs each of them as PERF_LANDED. Then zeroes
 * the memory. Without @log or @path, allocates other memory. NULL: no memory, or the file cannot be
 * opened.
 */
void *perf_log_memory(struct perf_log *log, const char *path, size_t len);

/* ---- results: report.c --------------------------------------------------------------------- */

#define PERF_HIST_BUCKETS	(48 * 32)
struct perf_figures {
	u64 issued, ok, failed, unknown, corrupted, twice, bytes;
	u64 cpu_ns;			/* CPU time of the process during the measurement */
	u64 start_ns, end_ns, last_ns, gap_ns, gap_at_ns;	/* gap: longest one */
	u64 lat_sum, lat_min, lat_max;
	u32 lat[PERF_HIST_BUCKETS];
};
void perf_figures_latency(struct perf_figures *f, u64 ns);
u64 perf_figures_quantile(const struct perf_figures *f, unsigned int permille);

struct perf_node {
	const struct perf_opt *opt;
	struct lnet_env *env;
	struct lnet *ln;
	struct perf_log *log;
	u64 instance;
	pthread_t ctl_thread;
	struct lnet_nl_server *ctl;
	bool ctl_stop, threaded;
	pthread_mutex_t lock;		/* protects data of handlers and of the main thread */
	struct perf_figures fig;
	struct perf_rails {
		u64 sent[PERF_MAX_RAILS], bytes[PERF_MAX_RAILS];
	} base, last;			/* values at the start; values at the last line */
	struct perf_rails sum, seen;	/* of perf_node_rails() */
	/* Memory of the process, without and with the idle connections. */
	struct perf_memory {
		u64 heap, resident;	/* bytes */
		u64 sockets;
	} before, after;
	u64 last_line_ns, line_ok, line_gap_ns, next_rail_ns;
};

u64 perf_now(void);
extern volatile int perf_stop;		/* a signal requested the end */

/* node.c: these functions return 0, or -errno after a message. */
int perf_node_start(struct perf_node *n, const struct perf_opt *opt);
void perf_node_stop(struct perf_node *n);
void perf_node_rails(struct perf_node *n, struct perf_rails *r);
u64 perf_node_suppressed(const struct perf_node *n);	/* duplicates of all kinds */

/*
 * report.c. If a line of figures is due at @now_ns, prints it. If a PERF_RAIL record is due for
 * each interface, writes these records to the log. Returns the next time at which one is due.
 */
u64 perf_report_tick(struct perf_node *n, u64 now_ns);
void perf_report_start(struct perf_node *n);
void perf_report_end(struct perf_node *n);

/*
 * crowd.c. perf_crowd_start() creates the server's further nodes, and returns 0 or -errno. Call
 * perf_crowd_stop() in any case; it accepts NULL. perf_crowd_meet() connects the client to these
 * nodes, leaves the connections idle, and measures their memory.
 */
struct perf_crowd;
int perf_crowd_start(struct perf_crowd **crowdp, const struct perf_opt *opt);
void perf_crowd_stop(struct perf_crowd *crowd);
int perf_crowd_meet(struct perf_node *n);

/* client.c, server.c: 0 or -errno */
int perf_client(struct perf_node *n);
int perf_server(struct perf_node *n);

#endif
