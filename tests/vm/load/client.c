/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The requesting side: keeps a window full or follows the clock, and checks replies. */
#include "load.h"
#include <linux/vmalloc.h>

#define MAX_OPEN	1024U		/* requests in flight in an open loop */
#define MAX_MEMORY	(64U << 20)
#define SLOT_BITS	14	/* op_ptr of a request: number << SLOT_BITS | slot */
#define READY_NS	(10 * (u64)NSEC_PER_SEC)

struct request {
	u64 number;		/* 0: not in flight */
	u64 start_ns;
	u32 remote;		/* offset at the target */
};

struct load_client {
	spinlock_t lock;	/* protects @req and @idle*, of issuer and handler */
	struct request *req;
	u32 *idle;		/* slots, the longest unused first */
	u32 nr, idle_head, nr_idle;
	u8 *mem;
	u32 stride, nr_remote, per_md, nr_md;
	lnet_md_t *md;		/* each has per_md slots, as an MD has at most 1 MiB */
	atomic_t nr_bound;
	u64 next_number, to_issue, due_ns;
	struct lnet_xfer xfer;
	u32 held;		/* slot + 1 of a request that is late on purpose; 0: none */
	struct completion ponged;
	int pong;
};

/* ---- the end of a request -------------------------------------------------------------------- */

static u8 *memory_of(const struct load_client *c, u32 slot)
{
	return c->mem + (size_t)slot * c->stride;
}

static u64 id_of(const struct load *ld, u64 number)
{
	return ld->instance << PERF_ID_SHIFT | number;
}

static void slot_free(struct load *ld, u32 slot)
{
	struct load_client *c = ld->client;

	spin_lock(&c->lock);
	c->req[slot].number = 0;
	c->idle[(c->idle_head + c->nr_idle) % c->nr] = slot;
	WRITE_ONCE(c->nr_idle, c->nr_idle + 1);
	spin_unlock(&c->lock);
	wake_up(&ld->wait);
}

/* A request that has ended already is logged again, so that the oracle finds it. */
static void request_end(struct load *ld, u64 ptr, int status, bool unknown, u32 len)
{
	struct load_client *c = ld->client;
	u32 slot = ptr & ((1U << SLOT_BITS) - 1);
	u64 number = ptr >> SLOT_BITS;
	struct request *req = &c->req[slot];
	bool open = READ_ONCE(req->number) == number;
	u64 us = open ? div_u64(ktime_get_ns() - req->start_ns, 1000) : 0;

	if (open && !status && ld->o.op == PERF_GET &&
	    (len != ld->o.size || !perf_pattern_good(memory_of(c, slot), req->remote, len)))
		status = -EBADMSG;
	load_log(ld, PERF_FINAL, id_of(ld, number), status, unknown, (u32)us);
	if (open)
		slot_free(ld, slot);
}

static void on_event(const struct lnet_event *ev)
{
	struct load *ld = ev->user_ptr;

	if (ev->op_ptr && ev->final)
		request_end(ld, (u64)(uintptr_t)ev->op_ptr, ev->status, ev->delivery_unknown,
			    ev->mlength);
	if (ev->unlinked) {
		atomic_dec(&ld->client->nr_bound);
		wake_up_all(&ld->wait);
	}
}

/* ---- a request ------------------------------------------------------------------------------- */

static int hand_over(struct load *ld, u32 slot, bool planted_twin)
{
	struct load_client *c = ld->client;
	struct lnet_xfer *x = &c->xfer;
	u64 number = c->req[slot].number;

	x->md = c->md[slot / c->per_md];
	x->md_offset = slot % c->per_md * c->stride;
	x->offset = ld->o.op == PERF_GET ? c->req[slot].remote : 0;
	x->flags = ld->o.op == PERF_PUT ? LNET_ACK : 0;
	x->op_ptr = planted_twin ? NULL : (void *)(uintptr_t)(number << SLOT_BITS | slot);
	x->hdr_data = x->match_bits = id_of(ld, number);
	return ld->o.op == PERF_GET ? lnet_get(ld->user.ln, x) : lnet_put(ld->user.ln, x);
}

/* Plants a fault in the request in @slot. True: the request is not to be handed over now. */
static bool plant(struct load *ld, u32 slot, int *err)
{
	struct load_client *c = ld->client;

	switch (ld->o.plant) {
	case PLANT_LOST:
		request_end(ld, c->req[slot].number << SLOT_BITS | slot, 0, false, 0);
		return true;
	case PLANT_DUP:
		*err = hand_over(ld, slot, true);
		return false;
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

static int release_held(struct load *ld)
{
	u32 slot = ld->client->held - 1;

	if (!ld->client->held)
		return 0;
	ld->client->held = 0;
	return hand_over(ld, slot, false);
}

static u32 slot_take(struct load_client *c, u64 start_ns)
{
	struct request *req;
	u32 slot;

	spin_lock(&c->lock);
	slot = c->idle[c->idle_head];
	c->idle_head = (c->idle_head + 1) % c->nr;
	WRITE_ONCE(c->nr_idle, c->nr_idle - 1);
	req = &c->req[slot];
	req->start_ns = start_ns;
	WRITE_ONCE(req->number, c->next_number++);
	req->remote = (u32)(req->number % c->nr_remote) * c->stride;
	spin_unlock(&c->lock);
	c->to_issue--;
	return slot;
}

static int issue(struct load *ld, u64 start_ns)
{
	struct load_client *c = ld->client;
	u32 slot = slot_take(c, start_ns);
	u64 number = c->req[slot].number;
	int err = 0;

	if (ld->o.op == PERF_GET)
		memset(memory_of(c, slot), 0, ld->o.size);
	else
		perf_payload_fill(memory_of(c, slot), ld->o.size, id_of(ld, number));
	load_log(ld, PERF_ISSUE, id_of(ld, number), 0, ld->o.size, ld->o.op);
	if (number % PERF_PLANT_EVERY == PERF_PLANT_EVERY / 2 && plant(ld, slot, &err))
		return err;
	if (!err)
		err = hand_over(ld, slot, false);
	if (err)
		request_end(ld, number << SLOT_BITS | slot, err, false, 0);
	return err ? err : release_held(ld);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/*
 * Issues the requests that are due at @now, at most a window, because others become due meanwhile.
 * *@due is the time of the next call if nothing else happens.
 */
static int issue_due(struct load *ld, u64 now, u64 *due)
{
	struct load_client *c = ld->client;
	u64 interval = ld->o.interval_ns;
	u32 nr = READ_ONCE(c->nr_idle);
	int err = 0;

	for (; !err && c->to_issue && nr && c->due_ns <= now; nr--) {
		err = issue(ld, interval ? c->due_ns : ktime_get_ns());
		c->due_ns += interval;
	}
	*due = READ_ONCE(c->nr_idle) ? c->due_ns : U64_MAX;
	return err;
}

static u32 nr_open(const struct load_client *c)
{
	return c->nr - READ_ONCE(c->nr_idle);
}

/* A reason to continue other than the clock. */
static bool may_go_on(struct load *ld)
{
	const struct load_client *c = ld->client;

	if (!c->to_issue)
		return !nr_open(c);
	return READ_ONCE(ld->stop) || (!ld->o.interval_ns && READ_ONCE(c->nr_idle));
}

static void on_pong(void *arg, int status, const u8 *info, u32 len, const struct lnet_nid *primary,
		    u64 rtt_ns)
{
	struct load_client *c = arg;

	c->pong = status;
	complete(&c->ponged);
}

/* Waits until the other node replies to a ping. */
static int wait_ready(struct load *ld)
{
	struct load_client *c = ld->client;
	u64 until = ktime_get_ns() + READY_NS;
	int err;

	do {
		err = lnet_ping(ld->user.ln, &ld->o.peer[0], NULL, NSEC_PER_SEC, on_pong, c);
		if (err)
			return err;
		wait_for_completion(&c->ponged);
		if (c->pong >= 0)
			return 0;
		schedule_timeout_interruptible(HZ / 20);
	} while (ktime_get_ns() < until && !READ_ONCE(ld->stop));
	return -EHOSTUNREACH;
}

int load_client_run(struct load *ld)
{
	struct load_client *c = ld->client;
	u64 now, due = 0;
	int err = wait_ready(ld);

	c->to_issue = err ? 0 : ld->o.count;
	c->due_ns = ktime_get_ns();
	while (c->to_issue || nr_open(c)) {
		now = ktime_get_ns();
		load_log_counts(ld, now);
		if (READ_ONCE(ld->stop) || err)
			c->to_issue = 0;
		if (c->to_issue)
			err = issue_due(ld, now, &due);
		else if (!err)
			err = release_held(ld);
		load_wait(ld, c->to_issue ? due : U64_MAX, may_go_on);
	}
	/* A namespace that ends rejects further requests. */
	return err == -ESHUTDOWN && READ_ONCE(ld->gone) ? 0 : err;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static int memory_get(struct load *ld)
{
	struct load_client *c = ld->client;
	u32 i;

	c->stride = ld->o.size >= 4096 ? ALIGN(ld->o.size, 4096) : ALIGN(ld->o.size, 64);
	c->nr = ld->o.interval_ns ? min(MAX_OPEN, MAX_MEMORY / c->stride) : ld->o.window;
	c->per_md = min(c->nr, PERF_MAX_SIZE / c->stride);
	c->nr_md = DIV_ROUND_UP(c->nr, c->per_md);
	c->nr_remote = PERF_MAX_SIZE / c->stride;
	c->req = kvcalloc(c->nr, sizeof(*c->req), GFP_KERNEL);
	c->idle = kvcalloc(c->nr, sizeof(*c->idle), GFP_KERNEL);
	c->md = kvcalloc(c->nr_md, sizeof(*c->md), GFP_KERNEL);
	c->mem = vzalloc((size_t)c->nr_md * c->per_md * c->stride);
	if (!c->req || !c->idle || !c->md || !c->mem)
		return -ENOMEM;
	for (i = 0; i < c->nr; i++)
		c->idle[i] = i;
	c->nr_idle = c->nr;
	return 0;
}

static int bind(struct load *ld)
{
	struct load_client *c = ld->client;
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .cpt = -1, .user_ptr = ld,
				   .handler = on_event, .length = c->per_md * c->stride };
	u32 i;
	int err = 0;

	for (i = 0; i < c->nr_md && !err; i++) {
		cfg.start = c->mem + (size_t)i * cfg.length;
		err = lnet_md_bind(ld->user.ln, &cfg, LNET_RETAIN, &c->md[i]);
		if (!err)
			atomic_inc(&c->nr_bound);
	}
	return err;
}

int load_client_begin(struct load *ld)
{
	struct load_client *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err;

	ld->client = c;
	if (!c)
		return -ENOMEM;
	spin_lock_init(&c->lock);
	init_completion(&c->ponged);
	c->next_number = 1;
	lnet_xfer_init(&c->xfer);
	c->xfer.target.nid = ld->o.peer[0];
	c->xfer.length = ld->o.size;
	c->xfer.timeout_ns = ld->o.timeout_ns;
	c->xfer.portal = ld->o.op == PERF_GET ? PERF_PORTAL_GET : PERF_PORTAL_PUT;
	err = memory_get(ld);
	return err ? err : bind(ld);
}

void load_client_end(struct load *ld)
{
	struct load_client *c = ld->client;
	u32 i;

	for (i = 0; c->md && i < c->nr_md; i++)
		lnet_md_unlink(ld->user.ln, c->md[i]);
	wait_event(ld->wait, !atomic_read(&c->nr_bound));
}

void load_client_free(struct load *ld)
{
	struct load_client *c = ld->client;

	if (!c)
		return;
	kvfree(c->req);
	kvfree(c->idle);
	kvfree(c->md);
	vfree(c->mem);
	kfree(c);
}
