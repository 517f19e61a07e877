/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The client: sends requests with a full window or at a fixed rate, and checks the results. */
#include "perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OPEN	8192u		/* maximum requests in flight in an open loop */
#define MAX_MEMORY	(256u << 20)
#define SLOT_BITS	14	/* op_ptr: number << SLOT_BITS | slot */
#define READY_NS	(10ull * NSEC_PER_SEC)
#define POLL_NS		(100ull * NSEC_PER_MSEC)
#define BURST		128u	/* requests per call */

struct memory {
	lnet_md_t md;
	u32 offset;		/* in @md */
};

struct request {
	u64 number;		/* 0: not in flight */
	u64 start_ns;
	u32 memory;		/* index of the memory */
	u32 remote;		/* offset at the target */
};

struct client {
	struct perf_node *n;
	struct request *req;
	u32 *idle;		/* slots, the longest unused first */
	u32 nr, idle_head, nr_idle;
	u8 *mem;
	/* nr_mem buffers: with --verify, one for each slot; otherwise the requests take turns */
	struct memory *memory;
	u32 stride, nr_mem, next_mem, remote_mem, next_remote;
	u64 next_number, to_issue, due_ns;
	struct lnet_xfer xfer[BURST];
	lnet_md_t *md;		/* MDs of per_md buffers each, as an MD has at most 1 MiB */
	u32 per_md;
	u32 held;		/* slot + 1 of the request that --plant delays; 0: none */
};

/* ---- the end of a request ------------------------------------------------------------------ */

static u8 *memory_of(const struct client *c, u32 slot)
{
	return c->mem + (size_t)(slot % c->nr_mem) * c->stride;
}

static int content_check(const struct client *c, u32 slot, int status, u32 len)
{
	const struct perf_opt *o = c->n->opt;

	if (status || !o->verify || o->op != PERF_GET)
		return status;
	return len == o->size && perf_pattern_good(memory_of(c, slot), c->req[slot].remote, len) ?
	       0 : -EBADMSG;
}

static void count_gap(struct perf_node *n, u64 now)
{
	struct perf_figures *f = &n->fig;
	u64 gap = now - f->last_ns;

	if (gap > f->gap_ns) {
		f->gap_ns = gap;
		f->gap_at_ns = f->last_ns;
	}
	n->line_gap_ns = max(n->line_gap_ns, gap);
	f->last_ns = now;
}

static void count_end(struct perf_node *n, u64 start_ns, u64 now, int status, bool unknown)
{
	struct perf_figures *f = &n->fig;
	if (!status) {
		f->ok++;
		f->bytes += n->opt->size;
		count_gap(n, now);
		perf_figures_latency(f, now - start_ns);
	} else if (status == -EBADMSG) {
		f->corrupted++;
	} else if (unknown) {
		f->unknown++;
	} else {
		f->failed++;
	}
}

/* State of a thread that calls lnet_progress(). All events of one call have the same time. */
static __thread struct {
	bool on;	/* the thread is in lnet_progress() */
	u64 ns;		/* time of the first event of this call; 0: no event yet */
} burst;

/*
 * Returns the time of an event. All events of one lnet_progress() have the same time. A service
 * thread reads the clock for each event.
 */
static u64 time_of_end(void)
{
	if (!burst.on)
		return perf_now();
	if (!burst.ns)
		burst.ns = perf_now();
	return burst.ns;
}

static int progress(struct client *c, s64 timeout_ns)
{
	int rc;

	burst.ns = 0;
	burst.on = true;
	rc = lnet_progress(c->n->ln, timeout_ns);
	burst.on = false;
	return rc;
}

/* Returns @at modulo c->nr without a division. @at must be less than 2 * c->nr. */
static u32 idle_index(const struct client *c, u32 at)
{
	return at < c->nr ? at : at - c->nr;
}

static void idle_slot_return(struct client *c, u32 slot)
{
	c->idle[idle_index(c, c->idle_head + c->nr_idle++)] = slot;
}

static u32 idle_slot_take(struct client *c)
{
	u32 slot = c->idle[c->idle_head];

	c->idle_head = idle_index(c, c->idle_head + 1);
	c->nr_idle--;
	return slot;
}

static void request_end(struct client *c, u64 ptr, int status, bool unknown, u32 len)
{
	u32 slot = ptr & ((1u << SLOT_BITS) - 1);
	u64 number = ptr >> SLOT_BITS;
	struct perf_node *n = c->n;
	struct request *req = &c->req[slot];
	u64 now = time_of_end();

	if (req->number != number) {
		n->fig.twice++;
		perf_log_add(n->log, PERF_FINAL, n->instance << PERF_ID_SHIFT | number, status,
			     unknown, 0);
		return;
	}
	status = content_check(c, slot, status, len);
	perf_log_add(n->log, PERF_FINAL, n->instance << PERF_ID_SHIFT | number, status, unknown,
		     (u32)((now - req->start_ns) / 1000));
	count_end(n, req->start_ns, now, status, unknown);
	req->number = 0;
	idle_slot_return(c, slot);
}

static void on_client_event(const struct lnet_event *ev)
{
	struct client *c = ev->user_ptr;

	if (!ev->op_ptr || !ev->final)
		return;
	if (c->n->threaded)
		pthread_mutex_lock(&c->n->lock);
	request_end(c, (u64)(uintptr_t)ev->op_ptr, ev->status, ev->delivery_unknown, ev->mlength);
	if (c->n->threaded)
		pthread_mutex_unlock(&c->n->lock);
}

/* ---- a request ----------------------------------------------------------------------------- */

/*
 * Sends a list of requests. The library does not return -EAGAIN here: if it rejects a request, this
 * program has an error.
 */
static int hand_list(struct client *c, struct lnet_xfer *x, unsigned int nr)
{
	int rc = c->n->opt->op == PERF_GET ? lnet_get_list(c->n->ln, x, nr) :
					     lnet_put_list(c->n->ln, x, nr);

	/*
	 * The node has accepted only the first @rc requests. A second call with the others sends
	 * them, or returns the reason why the node rejected the first of them.
	 */
	if (rc >= 0 && rc < (int)nr)
		rc = hand_list(c, x + rc, nr - (unsigned int)rc);
	return min(rc, 0);
}

static void describe(struct client *c, struct lnet_xfer *x, u32 slot, u64 ptr)
{
	const struct perf_opt *o = c->n->opt;
	const struct request *req = &c->req[slot];
	const struct memory *memory = &c->memory[req->memory];
	u64 id = c->n->instance << PERF_ID_SHIFT | ptr >> SLOT_BITS;

	x->md = memory->md;
	x->md_offset = memory->offset;
	x->offset = o->verify && o->op != PERF_GET ? 0 : req->remote;
	x->op_ptr = (void *)(uintptr_t)ptr;
	x->hdr_data = id;
	x->match_bits = id;
}

static int hand_over(struct client *c, u32 slot, u64 ptr)
{
	describe(c, c->xfer, slot, ptr);
	return hand_list(c, c->xfer, 1);
}

static u64 pointer_of(const struct client *c, u32 slot)
{
	return c->req[slot].number << SLOT_BITS | slot;
}

/* Applies --plant to the request in @slot. Returns true if the request must not be sent now. */
static bool plant(struct client *c, u32 slot, int *rc)
{
	*rc = 0;
	switch (c->n->opt->plant) {
	case PLANT_LOST:
		request_end(c, pointer_of(c, slot), 0, false, 0);
		return true;
	case PLANT_DUP:
		*rc = hand_over(c, slot, pointer_of(c, slot));
		c->xfer->op_ptr = NULL;
		if (!*rc)
			*rc = lnet_put(c->n->ln, c->xfer);
		return true;
	case PLANT_CORRUPT:
		memory_of(c, slot)[PERF_PAYLOAD_MIN - 1] ^= 0x10;
		return false;
	case PLANT_REORDER:
		if (c->held)
			return false;
		c->held = slot + 1;
		return true;
	default:
		return false;
	}
}

static int release_held(struct client *c)
{
	u32 slot = c->held - 1;

	if (!c->held)
		return 0;
	c->held = 0;
	return hand_over(c, slot, pointer_of(c, slot));
}

static void request_make(struct client *c, u32 slot, u64 start_ns)
{
	struct perf_node *n = c->n;
	struct request *req = &c->req[slot];

	req->number = c->next_number++;
	req->start_ns = start_ns;
	if (!n->opt->verify) {
		req->memory = c->next_mem;
		c->next_mem = c->next_mem + 1 < c->nr_mem ? c->next_mem + 1 : 0;
	}
	req->remote = c->next_remote * c->stride;
	c->next_remote = c->next_remote + 1 < c->remote_mem ? c->next_remote + 1 : 0;
	if (n->opt->verify && n->opt->op == PERF_GET)
		memset(memory_of(c, slot), 0, n->opt->size);
	else if (n->opt->verify)
		perf_payload_fill(memory_of(c, slot), n->opt->size,
				  n->instance << PERF_ID_SHIFT | req->number);
	perf_log_add(n->log, PERF_ISSUE, n->instance << PERF_ID_SHIFT | req->number, 0,
		     n->opt->size, n->opt->op);
	n->fig.issued++;
	c->to_issue--;
}

static u32 next_request(struct client *c, u64 start_ns)
{
	u32 slot;

	if (c->n->threaded)
		pthread_mutex_lock(&c->n->lock);
	slot = idle_slot_take(c);
	request_make(c, slot, start_ns);
	if (c->n->threaded)
		pthread_mutex_unlock(&c->n->lock);
	return slot;
}

static int issue(struct client *c, u64 start_ns)
{
	u32 slot = next_request(c, start_ns);
	int rc;

	if (c->n->opt->plant && c->req[slot].number % PERF_PLANT_EVERY == PERF_PLANT_EVERY / 2 &&
	    plant(c, slot, &rc))
		return rc;
	rc = hand_over(c, slot, pointer_of(c, slot));
	return rc ? rc : release_held(c);
}

/* Sends at most BURST requests with one call. */
static int issue_burst(struct client *c, u64 start_ns, unsigned int nr)
{
	unsigned int i;
	u32 slot;

	if (c->n->opt->plant)
		return issue(c, start_ns);
	for (i = 0; i < nr; i++) {
		slot = next_request(c, start_ns);
		describe(c, &c->xfer[i], slot, pointer_of(c, slot));
	}
	return hand_list(c, c->xfer, nr);
}

/* ---- the loop ------------------------------------------------------------------------------ */

/*
 * Sends the requests that are due at @now. If no event occurs before, the next call is due at
 * *@due.
 */
static int issue_due(struct client *c, u64 now, u64 *due)
{
	u64 interval = c->n->opt->interval_ns, nr;
	int rc = 0;

	if (!interval) {
		while (!rc && (nr = min((u64)c->nr_idle, c->to_issue)))
			rc = issue_burst(c, now, (unsigned int)min_t(u64, nr, BURST));
		return rc;
	}
	for (; !rc && c->due_ns <= now && c->to_issue && c->nr_idle; c->due_ns += interval)
		rc = issue(c, c->due_ns);
	*due = min(*due, c->to_issue ? max(c->due_ns, now + (c->nr_idle ? 0 : NSEC_PER_MSEC)) :
				       U64_MAX);
	return rc;
}

static u32 client_nr_open(struct client *c)
{
	return c->nr - READ_ONCE(c->nr_idle);
}

/* Sends @nr requests, but none after @until. Waits until all requests have ended. */
static int client_run(struct client *c, u64 nr, u64 until)
{
	u64 now = perf_now(), due;
	int rc = 0;

	c->to_issue = nr;
	c->due_ns = now;
	while (rc >= 0) {
		now = perf_now();
		if (now >= until || perf_stop)
			c->to_issue = 0;
		due = min(perf_report_tick(c->n, now), now + POLL_NS);
		rc = c->to_issue ? issue_due(c, now, &due) : release_held(c);
		if (rc)
			return rc;
		if (!c->to_issue && !client_nr_open(c))
			return 0;
		if (!c->to_issue && perf_stop > 1)
			return -EINTR;
		rc = progress(c, due > now ? (s64)(due - now) : 0);
	}
	return rc;
}

/* ---- start --------------------------------------------------------------------------------- */

static int sizes_set(struct client *c)
{
	const struct perf_opt *o = c->n->opt;
	bool get = o->verify && o->op == PERF_GET;

	c->stride = o->size >= 4096 ? ALIGN(o->size, 4096) : ALIGN(max(o->size, 1u), 64);
	c->nr = o->interval_ns ? min(MAX_OPEN, MAX_MEMORY / c->stride) : o->window;
	c->nr_mem = o->verify ? c->nr : o->buffers;
	c->remote_mem = get ? PERF_MAX_SIZE / c->stride : PERF_RAW_BYTES / c->stride;
	if (!o->verify)
		c->remote_mem = min(c->remote_mem, o->buffers);
	return (u64)c->nr_mem * c->stride > 4 * (u64)MAX_MEMORY ? -E2BIG : 0;
}

static int client_memory_get(struct client *c)
{
	u32 i;

	c->req = calloc(c->nr, sizeof(*c->req));
	c->idle = calloc(c->nr, sizeof(*c->idle));
	if (!c->req || !c->idle)
		return -ENOMEM;
	if (posix_memalign((void **)&c->mem, 4096, (size_t)c->nr_mem * c->stride))
		return -ENOMEM;
	memset(c->mem, 0x5a, (size_t)c->nr_mem * c->stride);
	for (i = 0; i < c->nr; i++)
		c->idle[i] = i;
	c->nr_idle = c->nr;
	return 0;
}

static void xfer_set(struct client *c)
{
	const struct perf_opt *o = c->n->opt;
	struct lnet_xfer *x = c->xfer;
	char primary[128];
	u32 i;

	lnet_xfer_init(x);
	snprintf(primary, sizeof(primary), "%.*s", (int)strcspn(o->peers[0], ","), o->peers[0]);
	lnet_nid_parse(&x->target.nid, primary);
	x->flags = LNET_NO_SEND | (o->op == PERF_PUT ? LNET_ACK : 0);
	x->length = o->size;
	x->timeout_ns = o->timeout_ns;
	x->portal = !o->verify ? PERF_PORTAL_RAW :
			 o->op == PERF_GET ? PERF_PORTAL_GET : PERF_PORTAL_PUT;
	for (i = 1; i < BURST; i++)
		c->xfer[i] = *x;
}

static int memory_table(struct client *c)
{
	u32 i;

	c->memory = calloc(c->nr_mem, sizeof(*c->memory));
	if (!c->memory)
		return -ENOMEM;
	for (i = 0; i < c->nr_mem; i++) {
		c->memory[i].md = c->md[i / c->per_md];
		c->memory[i].offset = c->n->opt->size ? i % c->per_md * c->stride : 0;
	}
	for (i = 0; i < c->nr; i++)
		c->req[i].memory = i % c->nr_mem;
	return 0;
}

static int bind(struct client *c)
{
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .cpt = -1, .user_ptr = c,
				   .handler = on_client_event };
	u32 i, nr;
	int rc = 0;

	c->per_md = PERF_MAX_SIZE / c->stride;
	nr = DIV_ROUND_UP(c->nr_mem, c->per_md);
	c->md = calloc(nr, sizeof(*c->md));
	if (!c->md)
		return -ENOMEM;
	/*
	 * Length 0 in a request stands for all memory of the MD. So for size 0 the memory of the MD
	 * is empty.
	 */
	cfg.length = c->n->opt->size ? c->per_md * c->stride : 0;
	for (i = 0; i < nr && !rc; i++) {
		cfg.start = c->mem + (size_t)i * cfg.length;
		cfg.length = min(cfg.length, (c->nr_mem - i * c->per_md) * c->stride);
		rc = lnet_md_bind(c->n->ln, &cfg, LNET_RETAIN, &c->md[i]);
	}
	return rc ? rc : memory_table(c);
}

static void on_client_pong(void *arg, int status, const u8 *info, u32 len,
			   const struct lnet_nid *primary, uint64_t rtt_ns)
{
	__atomic_store_n((int *)arg, status ? status : 1, __ATOMIC_RELEASE);
}

static bool ponged(void *arg)
{
	return __atomic_load_n((int *)arg, __ATOMIC_ACQUIRE) != 0;
}

/* Waits until the other node replies. */
static int wait_ready(struct client *c)
{
	u64 until = perf_now() + READY_NS;
	int state, rc;

	do {
		state = 0;
		rc = lnet_ping(c->n->ln, &c->xfer->target.nid, NULL, NSEC_PER_SEC, on_client_pong,
			       &state);
		if (!rc)
			rc = lnet_progress_until(c->n->ln, ponged, &state, -1);
		if (!rc && state < 0)
			lnet_progress(c->n->ln, 50 * NSEC_PER_MSEC);
	} while (!rc && state != 1 && perf_now() < until && !perf_stop);
	if (!rc && state != 1)
		rc = -EHOSTUNREACH;
	if (rc)
		fprintf(stderr, "lnetperf: no reply from the peer: %s\n", strerror(-rc));
	return rc;
}

static void stay(struct client *c)
{
	int seen = perf_stop;

	while (c->n->opt->stay && perf_stop == seen)
		lnet_progress(c->n->ln, POLL_NS);
}

static int client_measure(struct client *c)
{
	const struct perf_opt *o = c->n->opt;
	int rc = o->warmup ? client_run(c, o->warmup, U64_MAX) : 0;

	if (rc)
		return rc;
	perf_report_start(c->n);
	rc = client_run(c, o->count ? o->count : U64_MAX, perf_now() + o->duration_ns);
	perf_report_end(c->n);
	if (rc)
		fprintf(stderr, "lnetperf: %s\n", strerror(-rc));
	stay(c);
	return rc;
}

int perf_client(struct perf_node *n)
{
	struct client c = { .n = n, .next_number = 1 };
	int rc = sizes_set(&c);

	if (!rc)
		rc = client_memory_get(&c);
	xfer_set(&c);
	if (!rc)
		rc = bind(&c);
	if (rc)
		fprintf(stderr, "lnetperf: %s\n", strerror(-rc));
	if (!rc)
		rc = wait_ready(&c);
	if (!rc)
		rc = perf_crowd_meet(n);
	if (!rc)
		rc = client_measure(&c);
	/* The node uses the handler and its memory until the node has stopped. */
	perf_node_stop(n);
	free(c.memory);
	free(c.md);
	free(c.mem);
	free(c.idle);
	free(c.req);
	if (!rc && (n->fig.failed || n->fig.unknown || n->fig.corrupted || n->fig.twice))
		rc = -EIO;
	return rc;
}
