/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Issues requests between simulated nodes, takes their events, and checks contents. */
#include <stdlib.h>
#include "tests/sim/load.h"
#include "lnd/simlnd/simlnd.h"
#include "lnet/model/model.h"

#define PORTAL 10U
#define GRACE_NS (200 * SIM_MS)

static void on_event(const struct lnet_event *ev);

/* ---- contents: a function of the request's ID ------------------------------------------------ */

static void fill(u8 *buf, u32 len, u64 id)
{
	u64 x = lnet_hash64(id);
	u32 i;

	for (i = 0; i + 8 <= len; i += 8, x = x * 6364136223846793005ULL + 1442695040888963407ULL)
		put_unaligned_le64(x, buf + i);
	for (; i < len; i++)
		buf[i] = (u8)(id + i);
}

static bool filled(const u8 *buf, u32 len, u64 id)
{
	u64 x = lnet_hash64(id);
	u32 i;

	for (i = 0; i + 8 <= len; i += 8, x = x * 6364136223846793005ULL + 1442695040888963407ULL)
		if (get_unaligned_le64(buf + i) != x)
			return false;
	for (; i < len; i++)
		if (buf[i] != (u8)(id + i))
			return false;
	return true;
}

static bool untouched(const struct sim_side *s)
{
	/* each byte equals the one before it */
	return !s->len || (s->buf[0] == 0xee && !memcmp(s->buf, s->buf + 1, s->len - 1));
}

/* The program owns the memory. Later writes to it, or sends from it, are detected. */
static void reclaim(struct sim_side *s)
{
	memset(s->buf, 0xee, s->len);
	s->mine = true;
}

/* ---- sides ----------------------------------------------------------------------------------- */

static void side_gone(struct sim_side *s)
{
	struct sim_world *w = s->req->w;

	if (s->mine && !untouched(s))
		sim_fail(w, "request %llx: memory of its %s was written after it was given back",
			 (unsigned long long)s->req->id, s->target ? "target" : "source");
	s->unlinked = true;
	s->req->nr_sides--;
	list_del_init(&s->link);
	list_del_init(&s->of_req);
	free(s->buf);
	s->buf = NULL;
	if (s->target)
		free(s);
}

static void md_cfg(struct lnet_md_cfg *cfg, struct sim_side *s, u32 options, s32 threshold)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->start = s->buf;
	cfg->length = s->len;
	cfg->threshold = threshold;
	cfg->options = options;
	cfg->cpt = -1;
	cfg->user_ptr = s;
	cfg->handler = on_event;
}

static void side_init(struct sim_side *s, struct sim_req *req, u32 node, bool target)
{
	s->req = req;
	s->node = node;
	s->life = req->w->node[node].life;
	s->len = req->len;
	s->target = target;
	s->buf = malloc(req->len ? req->len : 1);
	if (!s->buf)
		abort();
	INIT_LIST_HEAD(&s->of_req);
	if (target) {
		list_add(&s->link, &req->w->load->side[node]);
		list_add_tail(&s->of_req, &req->targets);
	} else {	/* on_send() searches for these, from the end */
		list_add_tail(&s->link, &req->w->load->side[node]);
	}
	req->nr_sides++;
}

/* Adds the buffer that the request will match at its target, in the current life of the target. */
static void target_add(struct sim_req *req)
{
	struct lnet *ln = req->w->node[req->dst].ln;
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct sim_side *s = calloc(1, sizeof(*s));
	struct lnet_md_cfg cfg;
	int err;

	if (!s)
		abort();
	side_init(s, req, req->dst, true);
	if (req->kind == SIM_GET)
		fill(s->buf, s->len, req->id);
	md_cfg(&cfg, s, req->kind == SIM_GET ? LNET_MD_OP_GET : LNET_MD_OP_PUT, LNET_THRESHOLD_INF);
	cfg.options |= LNET_MD_MANAGE_REMOTE;
	err = lnet_me_attach(ln, PORTAL, &any, req->id, 0, LNET_UNLINK, LNET_INS_AFTER, &s->me);
	if (!err)
		err = lnet_md_attach(ln, s->me, &cfg, LNET_UNLINK, &s->md);
	if (err)
		sim_fail(req->w, "a buffer could not be attached: %d", err);
}

static void teardown(struct sim_world *w, void *arg, u64 num)
{
	struct sim_req *req = arg;
	struct sim_side *s, *next;

	(void)num;
	list_for_each_entry_safe(s, next, &req->targets, of_req)
		if (w->node[s->node].life == s->life)
			lnet_me_unlink(w->node[s->node].ln, s->me);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void final(struct sim_world *w, struct sim_req *req, const struct lnet_event *ev)
{
	struct sim_load *load = w->load;

	if (++req->finals > 1)
		sim_fail(w, "request %llx: %u final events", (unsigned long long)req->id,
			 req->finals);
	req->status = ev->status;
	req->unknown = ev->delivery_unknown;
	req->end_ns = w->now_ns;
	load->nr_open--;
	list_move_tail(&req->link, &load->ended);
	sim_trace(w, req->id, (u64)(u32)ev->status);
	w->count.requests++;
	if (!ev->status)
		w->count.ok++;
	else if (ev->delivery_unknown)
		w->count.unknown++;
	else
		w->count.failed++;
	if (!ev->status && w->now_ns < w->load->until_ns && w->slow_mbit &&
	    req->src != w->slow_node && req->dst != w->slow_node)
		w->count.others++;
	if (ev->status)
		w->count.outcome[-ev->status % 32]++;
	w->count.stall_max_ns =
		max(w->count.stall_max_ns, req->status ? 0 : req->end_ns - req->start_ns);
	if (!ev->status && req->kind == SIM_GET &&
	    (ev->mlength != req->len || !filled(req->source.buf, req->len, req->id)))
		sim_fail(w, "request %llx: GET of %u bytes brought %u, not what the target had",
			 (unsigned long long)req->id, req->len, ev->mlength);
	if (ev->status || w->verbose > 1)
		sim_say(w, "request %llx kind %u %u -> %u: %d%s after %llu us%s",
			(unsigned long long)req->id, req->kind, req->src, req->dst, ev->status,
			ev->delivery_unknown ? " perhaps" : "",
			(unsigned long long)(req->end_ns - req->start_ns) / 1000,
			req->marked ? "" : " unmarked");
	sim_at(w, w->now_ns + load->linger_ns, teardown, req, 0);
}

static void at_source(struct sim_world *w, struct sim_side *s, const struct lnet_event *ev)
{
	if (ev->final) {
		final(w, s->req, ev);
		if (!ev->unlinked)
			lnet_md_unlink(w->node[s->node].ln, s->md);
		reclaim(s);
	}
	if (ev->unlinked)
		side_gone(s);
}

static void at_target(struct sim_world *w, struct sim_side *s, const struct lnet_event *ev)
{
	struct sim_req *req = s->req;

	if (ev->kind == LNET_EVENT_PUT || ev->kind == LNET_EVENT_GET) {
		sim_trace(w, req->id, ev->kind);
		if (w->verbose > 1)
			sim_say(w, "request %llx: event %u at its target, status %d",
				(unsigned long long)req->id, ev->kind, ev->status);
		req->matches++;
		if (!ev->status) {
			req->effects++;
			w->count.effects++;
		}
		if (req->matches > 1 || req->effects > 1)
			sim_fail(w, "request %llx: %u matches, %u effects",
				 (unsigned long long)req->id, req->matches, req->effects);
		if (!ev->status && req->kind != SIM_GET &&
		    (ev->mlength != req->len || !filled(s->buf, s->len, req->id)))
			sim_fail(w, "request %llx: the PUT of %u bytes landed wrong",
				 (unsigned long long)req->id, req->len);
		reclaim(s);
	}
	if (ev->unlinked)
		side_gone(s);
}

static void on_event(const struct lnet_event *ev)
{
	struct sim_side *s = ev->user_ptr;
	struct sim_world *w = s->req->w;

	if (s->unlinked)
		sim_fail(w, "an event after the last one");
	else if (s->target)
		at_target(w, s, ev);
	else
		at_source(w, s, ev);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool test_and_set(u8 *map, u64 bit)
{
	bool was = map[bit / 8] & 1U << bit % 8;

	map[bit / 8] |= 1U << bit % 8;
	return was;
}

/*
 * Returns false if the peer is busy under another NID, so that the two could not be joined. The
 * next request tries again.
 */
static bool know(struct sim_load *load, u32 who, u32 whom)
{
	struct sim_world *w = load->w;
	struct lnet_nid nid[SIM_RAILS];
	u32 rail, nr = 0;
	int err;

	if (test_and_set(load->known, (u64)who * w->nr_nodes + whom))
		return true;
	for (rail = 0; rail < w->nr_rails; rail++)
		if (sim_is_on(w, whom, rail))
			sim_nid(&nid[nr++], whom, rail);
	err = lnet_peer_add(w->node[who].ln, nid, nid + 1, nr - 1, true);
	if (err == -EBUSY)
		load->known[((u64)who * w->nr_nodes + whom) / 8] &=
			~(1U << ((u64)who * w->nr_nodes + whom) % 8);
	else if (err)
		sim_fail(w, "node %u could not add node %u as its peer: %d", who, whom, err);
	return !err;
}

static void give_up(struct sim_world *w, void *arg, u64 num)
{
	struct sim_req *req = arg;

	(void)num;
	if (req->finals || w->node[req->src].life != req->src_life)
		return;
	req->unlinked = true;
	w->count.fault[SIM_UNLINK]++;
	lnet_md_unlink(w->node[req->src].ln, req->source.md);
}

static int submit(struct sim_req *req)
{
	struct sim_world *w = req->w;
	struct lnet *ln = w->node[req->src].ln;
	bool answered = req->kind != SIM_PUT;
	struct lnet_md_cfg cfg;
	struct lnet_xfer x;
	int err;

	side_init(&req->source, req, req->src, false);
	if (req->kind != SIM_GET)
		fill(req->source.buf, req->len, req->id);
	md_cfg(&cfg, &req->source, 0,
	       sim_chance(&w->load->rng, 500) ? LNET_THRESHOLD_INF
	       : answered		      ? 2
					      : 1);
	err = lnet_md_bind(ln, &cfg, LNET_UNLINK, &req->source.md);
	if (err)
		return err;
	lnet_xfer_init(&x);
	x.md = req->source.md;
	sim_nid(&x.target.nid, req->dst,
		w->nr_routers ? req->dst % w->nr_rails : sim_below(&w->load->rng, w->nr_rails));
	x.portal = PORTAL;
	x.match_bits = req->id;
	x.hdr_data = req->id;
	x.flags = req->kind == SIM_PUT_ACK ? LNET_ACK : 0;
	return req->kind == SIM_GET ? lnet_get(ln, &x) : lnet_put(ln, &x);
}

struct sim_req *sim_request(struct sim_load *load, u32 src, u32 dst, u8 kind, u32 len)
{
	struct sim_world *w = load->w;
	struct sim_req *req;
	int err;

	if (!w->node[src].ln || !w->node[dst].ln)
		return NULL;
	req = calloc(1, sizeof(*req));
	if (!req)
		abort();
	*req = (struct sim_req){ .w = w,
				 .id = ++load->next_id,
				 .start_ns = w->now_ns,
				 .src = src,
				 .dst = dst,
				 .kind = kind,
				 .len = len,
				 .src_life = w->node[src].life,
				 .dst_life = w->node[dst].life,
				 .limit_ns = w->now_ns + 2 * load->timeout_ns + GRACE_NS };
	INIT_LIST_HEAD(&req->targets);
	req->plain = !know(load, src, dst);
	if (load->symmetric)
		know(load, dst, src);
	target_add(req);
	list_add_tail(&req->link, &load->open);
	load->nr_open++;
	load->nr_all++;
	err = submit(req);
	if (err)
		sim_fail(w, "request %llx was refused: %d", (unsigned long long)req->id, err);
	if (!err && simlnd_roll(w, SIM_UNLINK, 0, src, dst))
		sim_at(w, w->now_ns + sim_below(&load->rng, 2 * SIM_MS), give_up, req, 0);
	return req;
}

static u32 draw_len(struct sim_load *load)
{
	u64 pick = sim_below(&load->rng, 1000);
	u32 most = pick < 600 ? 256 : pick < 900 ? 8192 : pick < 990 ? 65536 : 1048576;

	if (load->min_len)
		return load->min_len +
		       sim_below(&load->rng, load->max_len - min(load->min_len, load->max_len) + 1);
	if (pick < 20)
		return 0;
	return sim_below(&load->rng, min(most, load->max_len) + 1);
}

static u8 draw_kind(struct sim_load *load)
{
	u64 pick = sim_below(&load->rng, 1000);
	u8 kind;

	for (kind = 0; kind + 1 < SIM_NR_REQ_KINDS; kind++) {
		if (pick < load->kind_permille[kind])
			return kind;
		pick -= load->kind_permille[kind];
	}
	return kind;
}

static u32 draw_partner(struct sim_load *load, u32 n)
{
	u32 others = sim_nr_ends(load->w) - 1;
	u32 nr = load->partners && load->partners < others ? load->partners : others;

	return (n + 1 + sim_below(&load->rng, nr)) % (others + 1);
}

static bool is_busy(const struct sim_load *load, u32 src, u32 dst)
{
	const struct sim_req *req;
	u32 nr = 0;

	if (!load->pair_open)
		return false;
	list_for_each_entry(req, &load->open, link)
		nr += !req->finals && req->src == src && req->dst == dst;
	return nr >= load->pair_open;
}

static void issue(struct sim_world *w, void *arg, u64 num)
{
	struct sim_load *load = w->load;
	u32 n = num, dst, len;
	u8 kind;

	(void)arg;
	if (w->now_ns >= load->until_ns)
		return;
	if (load->nr_open < load->nr_max_open) {
		dst = draw_partner(load, n);	/* this order, for every compiler */
		kind = draw_kind(load);
		len = draw_len(load);
		if (!is_busy(load, n, dst))
			sim_request(load, n, dst, kind, len);
	}
	sim_at(w, w->now_ns + 1 + sim_below(&load->rng, 2 * load->gap_ns), issue, NULL, n);
}

/* ---- lives of nodes -------------------------------------------------------------------------- */

/* A life has ended: sides without a last event will have none. */
static void on_down(struct sim_world *w, u32 node)
{
	struct sim_load *load = w->load;
	struct sim_side *s, *next;

	list_for_each_entry_safe(s, next, &load->side[node], link) {
		if (!s->target && !s->req->finals)
			sim_fail(w, "request %llx: no final event before its node was gone",
				 (unsigned long long)s->req->id);
		if (s->target)
			s->req->sides_lost++;
		side_gone(s);
	}
	memset(load->known + (u64)node * w->nr_nodes / 8, 0, w->nr_nodes / 8 + 2);
}

static void on_restart(struct sim_world *w, u32 node)
{
	struct sim_req *req;

	list_for_each_entry(req, &w->load->open, link)
		if (req->dst == node)
			target_add(req);
}

static void on_send(struct sim_world *w, struct sim_node *node, const struct lnet_hdr *hdr,
		    bool marked)
{
	/* The sender's sides are searched for the ID; there are few open requests. */
	u64 id = hdr->type == LNET_MSG_PUT ? hdr->msg.put.match_bits : hdr->msg.get.match_bits;
	struct sim_side *s;

	if (hdr->type != LNET_MSG_PUT && hdr->type != LNET_MSG_GET)
		return;
	list_for_each_entry_reverse(s, &w->load->side[node->ix], link) {
		if (s->target || s->req->id != id)
			continue;
		s->req->marked |= marked;
		s->req->plain |= !marked;
		return;
	}
}

/* ---- begin and end --------------------------------------------------------------------------- */

int sim_load_init(struct sim_load *load, struct sim_world *w)
{
	u32 i;

	memset(load, 0, sizeof(*load));
	load->w = w;
	load->rng.state = lnet_hash64(w->seed ^ 0x6c6f6164);
	INIT_LIST_HEAD(&load->open);
	INIT_LIST_HEAD(&load->ended);
	load->side = calloc(w->nr_nodes, sizeof(*load->side));
	load->known = calloc(1, (u64)w->nr_nodes * w->nr_nodes / 8 + w->nr_nodes + 16);
	if (!load->side || !load->known)
		return -ENOMEM;
	for (i = 0; i < w->nr_nodes; i++)
		INIT_LIST_HEAD(&load->side[i]);
	load->kind_permille[SIM_PUT_ACK] = 500;
	load->kind_permille[SIM_PUT] = 200;
	load->kind_permille[SIM_GET] = 300;
	load->max_len = 1048576;
	load->nr_max_open = 400;
	load->linger_ns = 500 * SIM_MS;
	load->timeout_ns = 5000 * SIM_MS;
	w->load = load;
	w->on_down = on_down;
	w->on_restart = on_restart;
	w->on_send = on_send;
	return 0;
}

void sim_load_start(struct sim_load *load)
{
	u32 n;

	for (n = 0; n < sim_nr_ends(load->w); n++)
		sim_at(load->w, load->w->now_ns + sim_below(&load->rng, 2 * load->gap_ns), issue,
		       NULL, n);
}

void sim_load_fini(struct sim_load *load)
{
	struct sim_req *req, *next;

	list_splice_tail_init(&load->open, &load->ended);
	list_for_each_entry_safe(req, next, &load->ended, link)
		free(req);
	free(load->side);
	free(load->known);
}
