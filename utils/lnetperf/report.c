/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The output of lnetperf: lines during the run, and results at the end, as text or as JSON. */
#include "perf.h"

#include <string.h>
#include <sys/resource.h>

#include "shard/shard.h"

#define RAIL_NS	(50ull * NSEC_PER_MSEC)

/* ---- latencies: 32 buckets per power of two ------------------------------------------------ */

static unsigned int hist_bucket_of(u64 ns)
{
	unsigned int top;

	if (ns < 64)
		return (unsigned int)ns;
	top = 63 - (unsigned int)__builtin_clzll(ns);
	return min((top - 4) * 32 + (unsigned int)(ns >> (top - 5) & 31),
		   PERF_HIST_BUCKETS - 1u);
}

/* The middle of a bucket. */
static u64 bucket_ns(unsigned int b)
{
	unsigned int top = b / 32 + 4;

	if (b < 64)
		return b;
	return ((u64)(32 + b % 32) << (top - 5)) + (1ull << (top - 5)) / 2;
}

void perf_figures_latency(struct perf_figures *f, u64 ns)
{
	f->lat[hist_bucket_of(ns)]++;
	f->lat_sum += ns;
	f->lat_max = max(f->lat_max, ns);
	if (f->lat_min > ns || !f->lat_min)
		f->lat_min = ns;
}

u64 perf_figures_quantile(const struct perf_figures *f, unsigned int permille)
{
	u64 want = f->ok * permille / 1000, seen = 0;
	unsigned int b;

	for (b = 0; b < PERF_HIST_BUCKETS; b++) {
		seen += f->lat[b];
		if (seen > want)
			return bucket_ns(b);
	}
	return f->lat_max;
}

/* ---- while it runs ------------------------------------------------------------------------- */

static void rail_records(struct perf_node *n, u64 now)
{
	struct perf_rails r;
	unsigned int i;

	perf_node_rails(n, &r);
	for (i = 0; i < n->opt->nr_nids; i++)
		perf_log_add(n->log, PERF_RAIL, i, 0, (u32)r.sent[i], 0);
	n->next_rail_ns = now + RAIL_NS;
}

static void line(struct perf_node *n, u64 now)
{
	double sec = (double)(now - n->last_line_ns) / 1e9;
	struct perf_rails r;
	unsigned int i;

	perf_node_rails(n, &r);
	n->line_gap_ns = max(n->line_gap_ns, now - n->fig.last_ns);
	printf("%6.2f s ", (double)(now - n->fig.start_ns) / 1e9);
	for (i = 0; i < n->opt->nr_nids; i++)
		printf(" %s %6.0f/s", n->opt->nids[i],
		       (double)(r.sent[i] - n->last.sent[i]) / sec);
	printf("  done %7.0f/s", (double)(n->fig.ok - n->line_ok) / sec);
	if (n->opt->role == PERF_CLIENT)
		printf("  gap %6.1f ms", (double)n->line_gap_ns / 1e6);
	printf("  resent %llu  hedged %llu  suppressed %llu\n",
	       (unsigned long long)lnet_stat_sum(n->ln, LNET_C_resend_count),
	       (unsigned long long)lnet_stat_sum(n->ln, LNET_C_hedges),
	       (unsigned long long)perf_node_suppressed(n));
	fflush(stdout);
	n->last = r;
	n->line_ok = n->fig.ok;
	n->line_gap_ns = 0;
}

u64 perf_report_tick(struct perf_node *n, u64 now)
{
	u64 every = n->opt->timeline_ns, due = U64_MAX;

	if (every && now >= n->last_line_ns + every) {
		if (n->fig.start_ns)
			line(n, now);
		n->last_line_ns = now;
	}
	if (n->log && now >= n->next_rail_ns)
		rail_records(n, now);
	if (every)
		due = n->last_line_ns + every;
	return n->log ? min(due, n->next_rail_ns) : due;
}

static u64 cpu_now(void)
{
	struct rusage ru;
	u64 us;

	getrusage(RUSAGE_SELF, &ru);
	us = (u64)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
	     (u64)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
	return us * NSEC_PER_USEC;
}

void perf_report_start(struct perf_node *n)
{
	u64 now = perf_now();

	memset(&n->fig, 0, sizeof(n->fig));
	n->fig.start_ns = n->fig.last_ns = n->last_line_ns = now;
	n->line_gap_ns = n->line_ok = 0;
	perf_node_rails(n, &n->base);
	n->last = n->base;
	n->fig.cpu_ns = cpu_now();
}

/* ---- at the end ---------------------------------------------------------------------------- */

static void crowd_text(const struct perf_node *n)
{
	u64 nr = n->after.sockets - n->before.sockets;

	printf("%llu idle connections to %u nodes: heap %.0f, resident %.0f bytes each\n",
	       (unsigned long long)nr, n->opt->crowd,
	       ((double)n->after.heap - (double)n->before.heap) / (double)nr,
	       ((double)n->after.resident - (double)n->before.resident) / (double)nr);
}

static void report_end_print(struct perf_node *n, const struct perf_rails *r, double sec)
{
	const struct perf_figures *f = &n->fig;
	unsigned int i;

	printf("%llu done, %llu failed, %llu perhaps done, %llu corrupted, %llu ended twice\n",
	       (unsigned long long)f->ok, (unsigned long long)f->failed,
	       (unsigned long long)f->unknown, (unsigned long long)f->corrupted,
	       (unsigned long long)f->twice);
	printf("%.3f s, %.0f/s, %.1f MB/s\n", sec, (double)f->ok / sec,
	       (double)f->bytes / sec / 1e6);
	if (n->opt->role == PERF_CLIENT && f->ok)
		printf("latency us: min %.2f p50 %.2f p90 %.2f p99 %.2f p99.9 %.2f max %.2f; "
		       "longest gap %.1f ms\n",
		       (double)f->lat_min / 1e3, (double)perf_figures_quantile(f, 500) / 1e3,
		       (double)perf_figures_quantile(f, 900) / 1e3,
		       (double)perf_figures_quantile(f, 990) / 1e3,
		       (double)perf_figures_quantile(f, 999) / 1e3, (double)f->lat_max / 1e3,
		       (double)f->gap_ns / 1e6);
	for (i = 0; i < n->opt->nr_nids; i++)
		printf("rail %s: %.0f messages/s, %.1f MB/s sent\n", n->opt->nids[i],
		       (double)(r->sent[i] - n->base.sent[i]) / sec,
		       (double)(r->bytes[i] - n->base.bytes[i]) / sec / 1e6);
	printf("resent %llu, hedged %llu, duplicates suppressed %llu\n",
	       (unsigned long long)lnet_stat_sum(n->ln, LNET_C_resend_count),
	       (unsigned long long)lnet_stat_sum(n->ln, LNET_C_hedges),
	       (unsigned long long)perf_node_suppressed(n));
	if (n->after.sockets > n->before.sockets)
		crowd_text(n);
}

static void json_counters(struct perf_node *n)
{
	const char *sep = "";
	unsigned int i;
	u64 val;

	printf("\"counters\":{");
	for (i = 0; i < LNET_NR_COUNTERS; i++) {
		val = lnet_stat_sum(n->ln, (enum lnet_counter)i);
		if (val)
			printf("%s\"%s\":%llu", sep, lnet_counter_names[i],
			       (unsigned long long)val);
		sep = val ? "," : sep;
	}
	printf("}");
}

static void json_crowd(const struct perf_node *n)
{
	printf("\"idle\":{\"nodes\":%u,\"connections\":%llu,\"heap\":%lld,\"resident\":%lld},",
	       n->opt->crowd, (unsigned long long)(n->after.sockets - n->before.sockets),
	       (long long)(n->after.heap - n->before.heap),
	       (long long)(n->after.resident - n->before.resident));
}

static void json_rails(struct perf_node *n, const struct perf_rails *r, double sec)
{
	unsigned int i;

	printf("\"rails\":[");
	for (i = 0; i < n->opt->nr_nids; i++)
		printf("%s{\"nid\":\"%s\",\"messages_per_s\":%.0f,\"mb_per_s\":%.1f}",
		       i ? "," : "", n->opt->nids[i],
		       (double)(r->sent[i] - n->base.sent[i]) / sec,
		       (double)(r->bytes[i] - n->base.bytes[i]) / sec / 1e6);
	printf("],");
}

static void end_json(struct perf_node *n, const struct perf_rails *r, double sec)
{
	static const char *const ops[] = { "", "put", "put-noack", "get" };
	const struct perf_figures *f = &n->fig;

	printf("{\"role\":\"%s\",\"op\":\"%s\",\"size\":%u,\"window\":%u,",
	       n->opt->role == PERF_CLIENT ? "client" : "server", ops[n->opt->op], n->opt->size,
	       n->opt->window);
	printf("\"seconds\":%.6f,\"done\":%llu,\"failed\":%llu,\"perhaps\":%llu,\"corrupted\":%llu,"
	       "\"twice\":%llu,\"rate\":%.1f,\"mb_per_s\":%.2f,",
	       sec, (unsigned long long)f->ok, (unsigned long long)f->failed,
	       (unsigned long long)f->unknown, (unsigned long long)f->corrupted,
	       (unsigned long long)f->twice, (double)f->ok / sec, (double)f->bytes / sec / 1e6);
	printf("\"latency_us\":{\"min\":%.3f,\"mean\":%.3f,\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,"
	       "\"max\":%.3f},\"gap_ms\":%.3f,\"suppressed\":%llu,",
	       (double)f->lat_min / 1e3, f->ok ? (double)f->lat_sum / (double)f->ok / 1e3 : 0,
	       (double)perf_figures_quantile(f, 500) / 1e3,
	       (double)perf_figures_quantile(f, 900) / 1e3,
	       (double)perf_figures_quantile(f, 990) / 1e3, (double)f->lat_max / 1e3,
	       (double)f->gap_ns / 1e6, (unsigned long long)perf_node_suppressed(n));
	printf("\"cpu_s\":%.6f,", (double)f->cpu_ns / 1e9);
	if (n->after.sockets > n->before.sockets)
		json_crowd(n);
	json_rails(n, r, sec);
	json_counters(n);
	printf("}\n");
}

void perf_report_end(struct perf_node *n)
{
	struct perf_rails r;
	double sec;

	n->fig.end_ns = perf_now();
	n->fig.cpu_ns = cpu_now() - n->fig.cpu_ns;
	sec = (double)(n->fig.end_ns - n->fig.start_ns) / 1e9;
	perf_node_rails(n, &r);
	if (n->log)
		rail_records(n, n->fig.end_ns);
	if (n->opt->json)
		end_json(n, &r, sec);
	else
		report_end_print(n, &r, sec);
	fflush(stdout);
}
