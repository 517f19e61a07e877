/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The serving side: buffers for PUTs whose content is checked, and a pattern for GETs. */
#include "load.h"
#include <linux/vmalloc.h>

#define BUFFER_BYTES	(2 * PERF_MAX_SIZE)

/* Posted again and again; nr_posted counts buffers that are posted and not yet unlinked. */
struct buffer {
	struct load *ld;
	u8 *mem;
	lnet_md_t md;
};

struct load_server {
	u8 *pattern;
	struct buffer buffer[LOAD_BUFFERS], get;
	atomic_t nr_posted;
	bool closing;
};

static int post(struct buffer *b, u32 portal, const struct lnet_md_cfg *cfg, enum lnet_unlink how)
{
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct lnet *ln = b->ld->user.ln;
	lnet_me_t me;
	int err;

	err = lnet_me_attach(ln, portal, &any, 0, ~0ULL, how, LNET_INS_AFTER, &me);
	if (err)
		return err;
	atomic_inc(&b->ld->server->nr_posted);
	err = lnet_md_attach(ln, me, cfg, how, &b->md);
	if (err)
		atomic_dec(&b->ld->server->nr_posted);
	return err;
}

static void unlinked(struct load *ld)
{
	atomic_dec(&ld->server->nr_posted);
	wake_up_all(&ld->wait);
}

/* ---- PUTs ------------------------------------------------------------------------------------ */

static void on_put(const struct lnet_event *ev);

static int buffer_post(struct buffer *b)
{
	struct lnet_md_cfg cfg = { .start = b->mem, .length = BUFFER_BYTES,
				   .max_size = PERF_MAX_SIZE, .threshold = LNET_THRESHOLD_INF,
				   .cpt = -1, .options = LNET_MD_OP_PUT | LNET_MD_MAX_SIZE,
				   .user_ptr = b, .handler = on_put };

	return post(b, PERF_PORTAL_PUT, &cfg, LNET_UNLINK);
}

static void on_put(const struct lnet_event *ev)
{
	struct buffer *b = ev->user_ptr;
	bool good;

	if (ev->kind == LNET_EVENT_PUT && !ev->status) {
		good = ev->mlength == ev->rlength &&
		       perf_payload_good(b->mem + ev->offset, ev->mlength, ev->hdr_data);
		load_log(b->ld, PERF_DELIVER, ev->hdr_data, good ? 0 : -EBADMSG, ev->mlength, 0);
	}
	if (!ev->unlinked)
		return;
	if (!READ_ONCE(b->ld->server->closing) && buffer_post(b))
		pr_info("lnet_load: a buffer cannot be posted again\n");
	unlinked(b->ld);
}

/* ---- GETs ------------------------------------------------------------------------------------ */

static void on_get(const struct lnet_event *ev)
{
	struct buffer *b = ev->user_ptr;

	if (ev->kind == LNET_EVENT_GET && !ev->status)
		load_log(b->ld, PERF_SERVED, ev->match_bits, 0, ev->mlength, 0);
	if (ev->unlinked)
		unlinked(b->ld);
}

static int pattern_post(struct load *ld)
{
	struct load_server *s = ld->server;
	struct lnet_md_cfg cfg = { .start = s->pattern, .length = PERF_GET_BYTES,
				   .threshold = LNET_THRESHOLD_INF, .cpt = -1,
				   .options = LNET_MD_OP_GET | LNET_MD_MANAGE_REMOTE,
				   .user_ptr = &s->get, .handler = on_get };

	perf_pattern_fill(s->pattern, 0, PERF_GET_BYTES);
	s->get.ld = ld;
	return post(&s->get, PERF_PORTAL_GET, &cfg, LNET_RETAIN);
}

/* ---- begin and end --------------------------------------------------------------------------- */

int load_server_begin(struct load *ld)
{
	struct load_server *s = kzalloc(sizeof(*s), GFP_KERNEL);
	u32 i;
	int err;

	ld->server = s;
	if (!s)
		return -ENOMEM;
	s->pattern = vmalloc(PERF_GET_BYTES);
	err = s->pattern ? pattern_post(ld) : -ENOMEM;
	if (!err)
		err = lnet_portal_lazy(ld->user.ln, PERF_PORTAL_PUT, true);
	for (i = 0; i < LOAD_BUFFERS && !err; i++) {
		s->buffer[i].ld = ld;
		s->buffer[i].mem = vmalloc(BUFFER_BYTES);
		err = s->buffer[i].mem ? buffer_post(&s->buffer[i]) : -ENOMEM;
	}
	return err;
}

static bool asked_to_end(struct load *ld)
{
	return READ_ONCE(ld->stop);
}

int load_server_run(struct load *ld)
{
	while (!READ_ONCE(ld->stop) && !kthread_should_stop()) {
		load_log_counts(ld, ktime_get_ns());
		load_wait(ld, U64_MAX, asked_to_end);
	}
	return 0;
}

/* A buffer may be posted again at the same time; then the next iteration unlinks it. */
void load_server_end(struct load *ld)
{
	struct load_server *s = ld->server;
	u32 i;

	WRITE_ONCE(s->closing, true);
	do {
		for (i = 0; i < LOAD_BUFFERS; i++)
			if (s->buffer[i].ld)
				lnet_md_unlink(ld->user.ln, s->buffer[i].md);
		if (s->get.ld)
			lnet_md_unlink(ld->user.ln, s->get.md);
	} while (!wait_event_timeout(ld->wait, !atomic_read(&s->nr_posted), HZ / 10));
}

void load_server_free(struct load *ld)
{
	struct load_server *s = ld->server;
	u32 i;

	if (!s)
		return;
	vfree(s->pattern);
	for (i = 0; i < LOAD_BUFFERS; i++)
		vfree(s->buffer[i].mem);
	kfree(s);
}
