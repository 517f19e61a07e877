/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The server: memory for raw PUTs and GETs, and buffers for verified PUTs. */
#include "perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_BUFFERS	16u
#define BUFFER_BYTES	(2 * PERF_MAX_SIZE)
#define POLL_NS		(100ull * NSEC_PER_MSEC)

struct buffer {
	struct perf_node *n;
	u8 *mem;
};

struct server {
	struct perf_node *n;
	u8 *raw, *pattern, *landing;
	struct buffer buffer[NR_BUFFERS];
};

static int server_md_post(struct lnet *ln, u32 portal, const struct lnet_md_cfg *cfg,
			  enum lnet_unlink unlink)
{
	struct lnet_process any = { .pid = LNET_PID_ANY };
	lnet_me_t me;
	lnet_md_t md;
	int rc;

	memset(&any.nid, 0xff, sizeof(any.nid));
	rc = lnet_me_attach(ln, portal, &any, 0, ~0ull, unlink, LNET_INS_AFTER, &me);
	return rc ? rc : lnet_md_attach(ln, me, cfg, unlink, &md);
}

/* ---- verified PUTs ------------------------------------------------------------------------- */

static void on_server_put(const struct lnet_event *ev);

static int server_buffer_post(struct buffer *b)
{
	struct lnet_md_cfg cfg = { .start = b->mem, .length = BUFFER_BYTES,
				   .max_size = PERF_MAX_SIZE, .threshold = LNET_THRESHOLD_INF,
				   .cpt = -1, .options = LNET_MD_OP_PUT | LNET_MD_MAX_SIZE,
				   .user_ptr = b, .handler = on_server_put };

	return server_md_post(b->n->ln, PERF_PORTAL_PUT, &cfg, LNET_UNLINK);
}

/* Counts a request. In manual mode there is one thread, so the counters need no lock. */
static void server_count(struct perf_node *n, u64 *which, u32 bytes)
{
	if (n->threaded)
		pthread_mutex_lock(&n->lock);
	++*which;
	n->fig.bytes += bytes;
	if (n->threaded)
		pthread_mutex_unlock(&n->lock);
}

static void put_check(struct buffer *b, const struct lnet_event *ev)
{
	struct perf_node *n = b->n;
	bool good = ev->mlength == ev->rlength &&
		    perf_payload_good(b->mem + ev->offset, ev->mlength, ev->hdr_data);

	perf_log_add(n->log, PERF_DELIVER, ev->hdr_data, good ? 0 : -EBADMSG, ev->mlength, 0);
	server_count(n, good ? &n->fig.ok : &n->fig.corrupted, ev->mlength);
}

static void on_server_put(const struct lnet_event *ev)
{
	struct buffer *b = ev->user_ptr;

	if (ev->kind == LNET_EVENT_PUT && !ev->status)
		put_check(b, ev);
	if (ev->unlinked && ev->status != -ESHUTDOWN && server_buffer_post(b) == -ENOMEM)
		fprintf(stderr, "lnetperf: not enough memory to post a buffer again\n");
}

/* ---- GETs and raw PUTs --------------------------------------------------------------------- */

static void on_raw(const struct lnet_event *ev)
{
	struct server *s = ev->user_ptr;

	if (ev->status || (ev->kind != LNET_EVENT_PUT && ev->kind != LNET_EVENT_GET))
		return;
	if (ev->kind == LNET_EVENT_GET)
		perf_log_add(s->n->log, PERF_SERVED, ev->match_bits, 0, ev->mlength, 0);
	else
		perf_log_add(s->n->log, PERF_DELIVER, ev->hdr_data, 0, ev->mlength, 0);
	server_count(s->n, &s->n->fig.ok, ev->mlength);
}

static int post_region(struct server *s, u32 portal, void *mem, u32 len, u32 options)
{
	struct lnet_md_cfg cfg = { .start = mem, .length = len, .threshold = LNET_THRESHOLD_INF,
				   .cpt = -1, .options = options | LNET_MD_MANAGE_REMOTE,
				   .user_ptr = s, .handler = on_raw };

	return server_md_post(s->n->ln, portal, &cfg, LNET_RETAIN);
}

/* ---- start and end ------------------------------------------------------------------------- */

static int server_memory_get(struct server *s)
{
	char path[4096];
	u32 i;

	snprintf(path, sizeof(path), "%s.mem", s->n->opt->log ? s->n->opt->log : "");
	s->raw = aligned_alloc(4096, PERF_RAW_BYTES);
	s->pattern = malloc(PERF_GET_BYTES);
	s->landing = perf_log_memory(s->n->log, path, (size_t)NR_BUFFERS * BUFFER_BYTES);
	if (!s->raw || !s->pattern || !s->landing)
		return -ENOMEM;
	memset(s->raw, 0, PERF_RAW_BYTES);
	perf_pattern_fill(s->pattern, 0, PERF_GET_BYTES);
	for (i = 0; i < NR_BUFFERS; i++) {
		s->buffer[i].n = s->n;
		s->buffer[i].mem = s->landing + (size_t)i * BUFFER_BYTES;
	}
	return 0;
}

static int post_all(struct server *s)
{
	u32 i;
	int rc = lnet_portal_lazy(s->n->ln, PERF_PORTAL_PUT, true);

	for (i = 0; i < NR_BUFFERS && !rc; i++)
		rc = server_buffer_post(&s->buffer[i]);
	if (!rc)
		rc = post_region(s, PERF_PORTAL_RAW, s->raw, PERF_RAW_BYTES,
				 LNET_MD_OP_PUT | LNET_MD_OP_GET);
	if (!rc)
		rc = post_region(s, PERF_PORTAL_GET, s->pattern, PERF_GET_BYTES, LNET_MD_OP_GET);
	return rc;
}

static void server_loop(struct perf_node *n)
{
	u64 now = perf_now(), until = now + n->opt->duration_ns, due;

	while (!perf_stop && now < until) {
		due = min(perf_report_tick(n, now), now + POLL_NS);
		if (lnet_progress(n->ln, due > now ? (s64)(due - now) : 0) < 0)
			break;
		now = perf_now();
	}
}

int perf_server(struct perf_node *n)
{
	struct server s = { .n = n };
	struct perf_crowd *crowd = NULL;
	int rc = server_memory_get(&s);

	if (!rc)
		rc = post_all(&s);
	if (!rc)
		rc = perf_crowd_start(&crowd, n->opt);
	if (rc) {
		fprintf(stderr, "lnetperf: %s\n", strerror(-rc));
	} else {
		printf("ready\n");
		fflush(stdout);
		perf_report_start(n);
		server_loop(n);
		perf_report_end(n);
	}
	perf_crowd_stop(crowd);
	perf_node_stop(n);
	free(s.raw);
	free(s.pattern);
	if (!rc && n->fig.corrupted)
		rc = -EBADMSG;
	return rc;
}
