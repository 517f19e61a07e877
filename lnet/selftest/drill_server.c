/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The server of a drill. It echoes pings. For bulk, it fetches data from the client's memory and
 * checks the data, and puts data into the client's memory.
 */
#include "drill.h"

/* ---- salts ----------------------------------------------------------------------------------- */

u64 lst_drill_salt(const struct lst_drill *drill, u64 cookie, u32 slot, u32 round, bool in)
{
	u64 number = (u64)slot << 32 | round;

	return lst_mix(drill->session_salt + lst_mix(cookie + lst_mix(number * 2 + in)));
}

struct lst_store lst_ping_store(struct lnet_frag *frag, u8 *mem, u32 len)
{
	*frag = (struct lnet_frag){ mem + min(len, LST_MSG_SIZE),
				    len > LST_MSG_SIZE ? len - LST_MSG_SIZE : 0 };
	return (struct lst_store){ .len = frag->len, .nr_parts = frag->len != 0, .nr_frags = 1,
				   .per_part = 1, .frag = frag };
}

void lst_drill_found(struct lst_drill *drill, const struct lst_bad *bad, u64 seq,
		     const struct lnet_nid *from, const struct lnet_nid *to)
{
	struct lst_finding *f = &drill->finding;

	spin_lock(&drill->st->lock);
	if (!f->nr++) {
		f->bad = *bad;
		f->seq = seq;
		f->from = *from;
		f->to = *to;
	}
	spin_unlock(&drill->st->lock);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void haul_free(struct lst_haul *h)
{
	lst_store_free(&h->in);
	lst_store_free(&h->out);
	kfree(h);
}

void lst_hauls_free(struct lst_drill *drill)
{
	struct lst_haul *h, *next;

	list_for_each_entry_safe(h, next, &drill->hauls, link)
		haul_free(h);
	INIT_LIST_HEAD(&drill->hauls);
}

/* Returns the data to put. In mode BACK, the server puts the data that it has fetched. */
static struct lst_store *out_of(struct lst_haul *h)
{
	return h->drill->plan.mode == LST_MODE_BACK ? &h->in : &h->out;
}

static int haul_memory_get(struct lst_haul *h)
{
	const struct lst_plan *p = &h->drill->plan;

	if (lst_plan_goes_out(p) && !h->in.mem && lst_store_make(&h->in, p))
		return -ENOMEM;
	if (lst_plan_comes_in(p) && !out_of(h)->mem && lst_store_make(&h->out, p))
		return -ENOMEM;
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void flow_locked(struct lst_flow *flow, u64 now, u32 bytes)
{
	if (!flow->first_ns)
		flow->first_ns = now;
	flow->last_ns = now;
	flow->bytes += bytes;
}

static void haul_reply_locked(struct lst_haul *h, u32 status)
{
	h->call->rpy.drill_rpy.status = status;
	h->drill->nr_served++;
	lst_reply_locked(h->call);
	h->call = NULL;
}

static void haul_start_locked(struct lst_haul *h);

static void haul_call_set_locked(struct lst_haul *h, struct lst_call *call)
{
	h->call = call;
	h->req = call->req.drill_req;
	h->from = call->from;
	h->self = call->self;
}

/* Passes the memory of an ended transfer to a queued transfer. False: no transfer is queued. */
static bool haul_next_locked(struct lst_haul *h)
{
	struct lst_drill *drill = h->drill;
	struct lst_haul *next = list_first_entry_or_null(&drill->queued, struct lst_haul, link);

	if (!next)
		return false;
	list_del(&next->link);
	drill->nr_queued--;
	haul_call_set_locked(h, next->call);
	kfree(next);
	haul_start_locked(h);
	return true;
}

static void haul_put_locked(struct lst_haul *h)
{
	struct lst_drill *drill = h->drill;

	if (--h->nr_open)
		return;
	if (!haul_next_locked(h)) {
		drill->nr_hauls--;
		list_add(&h->link, &drill->hauls);
	}
	lst_session_put_locked(drill->st, drill->test->session);
}

void lst_hauls_stop_locked(struct lst_drill *drill)
{
	struct lst_haul *h, *next;

	list_for_each_entry_safe(h, next, &drill->queued, link) {
		list_del(&h->link);
		drill->nr_queued--;
		h->call->rpy.drill_rpy.status = ESRCH;
		lst_reply_locked(h->call);
		kfree(h);
		lst_session_put_locked(drill->st, drill->test->session);
	}
}

static void fetched_run(struct lst_job *job);

/*
 * Counts down the fetches in progress. When all data is fetched, queues the job that checks the
 * data.
 */
static void get_put_locked(struct lst_haul *h)
{
	if (--h->nr_get)
		return;
	h->nr_open++;
	lst_queue_locked(h->drill->st, &h->job, fetched_run);
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void haul_part_locked(struct lst_haul *h, const struct lnet_event *ev, bool get)
{
	struct lst *st = h->drill->st;

	if (ev->status || ev->kind == LNET_EVENT_UNLINK) {
		st->c[LST_C_rpc_errors] += !h->failed;
		h->failed = true;
	} else if (ev->final) {
		st->c[get ? LST_C_bulk_get : LST_C_bulk_put] += ev->mlength;
		flow_locked(get ? &h->drill->to_node : &h->drill->from_node, lst_now(st),
			    ev->mlength);
	}
}

static void on_got(const struct lnet_event *ev)
{
	struct lst_haul *h = ev->user_ptr;
	struct lst *st = h->drill->st;

	lst_enter(st);
	haul_part_locked(h, ev, true);
	h->got += ev->status ? 0 : ev->mlength;
	if (ev->unlinked) {
		get_put_locked(h);
		haul_put_locked(h);
	}
	spin_unlock(&st->lock);
	lst_run(st);
}

static void on_haul_put(const struct lnet_event *ev)
{
	struct lst_haul *h = ev->user_ptr;
	struct lst *st = h->drill->st;

	lst_enter(st);
	haul_part_locked(h, ev, false);
	if (ev->unlinked)
		haul_put_locked(h);
	spin_unlock(&st->lock);
	lst_run(st);
}

static int part_move(struct lst_haul *h, struct lst_store *store, u32 part, u64 bits, bool get)
{
	struct lnet_md_cfg cfg = { .threshold = 1, .cpt = -1, .user_ptr = h,
				   .handler = get ? on_got : on_haul_put };
	struct lst *st = h->drill->st;
	struct lnet_xfer x;
	int rc;

	cfg.frags = lst_store_part(store, part, &cfg.nr_frags);
	lnet_xfer_init(&x);
	rc = lnet_md_bind(st->ln, &cfg, LNET_UNLINK, &x.md);
	if (rc)
		return rc;
	spin_lock(&st->lock);
	h->nr_open++;
	h->nr_get += get;
	spin_unlock(&st->lock);
	x.self = h->self;
	x.target = h->from;
	x.portal = LST_PORTAL_RDMA;
	x.match_bits = bits;
	x.flags = LNET_MORE | (get ? LNET_NO_SEND : 0);
	if (lst_bulk_start(st, &x, get))
		lnet_md_unlink(st->ln, x.md);
	return 0;
}

static void haul_move(struct lst_haul *h, struct lst_store *store, bool get)
{
	const struct lst_plan *p = &h->drill->plan;
	u64 bits = h->req.bulkid + (!get && lst_plan_goes_out(p) ? store->nr_parts : 0);
	struct lst *st = h->drill->st;
	u32 i;
	int rc = 0;

	for (i = 0; i < store->nr_parts && !rc; i++)
		rc = part_move(h, store, i, bits + i, get);
	if (!rc)
		return;
	spin_lock(&st->lock);
	h->failed = true;
	spin_unlock(&st->lock);
}

static u64 salt_of(const struct lst_haul *h, bool in)
{
	return lst_drill_salt(h->drill, h->req.rpyid, h->req.slot, h->req.round, in);
}

static void flow_begin_locked(struct lst_flow *flow, u64 now)
{
	if (!flow->first_ns)
		flow->first_ns = now;
}

static void haul_data_send(struct lst_haul *h)
{
	struct lst_drill *drill = h->drill;
	bool back = drill->plan.mode == LST_MODE_BACK;

	h->call->rpy.drill_rpy.crc = h->req.crc;
	if (!back)
		h->call->rpy.drill_rpy.crc = lst_verify_fill(&drill->verifier, &h->out,
							     salt_of(h, true));
	spin_lock(&drill->st->lock);
	flow_begin_locked(&drill->from_node, lst_now(drill->st));
	spin_unlock(&drill->st->lock);
	h->put = true;
	haul_move(h, out_of(h), false);
}

/* Checks fetched data. Returns a status, which is 0 also if the plan has no fetches. */
static u32 haul_check(struct lst_haul *h)
{
	struct lst_drill *drill = h->drill;
	struct lst_drill_rpy *rpy = &h->call->rpy.drill_rpy;
	struct lst_bad bad;

	if (!lst_plan_goes_out(&drill->plan))
		return 0;
	if (h->got == h->in.len &&
	    lst_verify_good(&drill->verifier, &h->in, salt_of(h, false), h->req.crc, &bad))
		return 0;
	if (h->got != h->in.len)
		bad = (struct lst_bad){ h->got, h->in.len - h->got };
	/* LNet does not report the interfaces of a fetch. */
	lst_drill_found(drill, &bad, h->req.seq, &LNET_NID_ANY, &LNET_NID_ANY);
	rpy->bad_off = bad.off;
	rpy->bad_len = bad.len;
	return EBADMSG;
}

/*
 * Runs when all data is fetched. The server sends the reply directly after the put, because the
 * client waits for reply and data in any order.
 */
static void fetched_run(struct lst_job *job)
{
	struct lst_haul *h = container_of(job, struct lst_haul, job);
	struct lst *st = h->drill->st;
	u32 status = READ_ONCE(h->failed) ? EIO : haul_check(h);

	if (!status && lst_plan_comes_in(&h->drill->plan) && !h->put)
		haul_data_send(h);
	spin_lock(&st->lock);
	haul_reply_locked(h, h->failed ? EIO : status);
	haul_put_locked(h);
	spin_unlock(&st->lock);
}

static void haul_run(struct lst_job *job)
{
	struct lst_haul *h = container_of(job, struct lst_haul, job);
	const struct lst_plan *p = &h->drill->plan;
	struct lst *st = h->drill->st;
	int rc = haul_memory_get(h);

	if (!rc && lst_plan_goes_out(p))
		lst_verify_spoil(&h->drill->verifier, &h->in);
	if (!rc && p->mode == LST_MODE_BOTH)
		haul_data_send(h);
	if (!rc && lst_plan_goes_out(p))
		haul_move(h, &h->in, true);
	spin_lock(&st->lock);
	h->failed |= rc != 0;
	get_put_locked(h);
	haul_put_locked(h);
	spin_unlock(&st->lock);
}

/* ---- requests -------------------------------------------------------------------------------- */

static struct lst_drill *server_find(const struct lst *st, u32 tag)
{
	struct lst_drill *drill;

	list_for_each_entry(drill, &st->drills, link)
		if (drill->plan.server && drill->plan.tag == tag &&
		    drill->test->session == st->session)
			return drill;
	return NULL;
}

static struct lst_haul *haul_get(struct lst_drill *drill)
{
	struct lst_haul *h = list_first_entry_or_null(&drill->hauls, struct lst_haul, link);

	if (h)
		list_del(&h->link);
	else
		h = kzalloc(sizeof(*h), GFP_NOWAIT);
	return h;
}

static void haul_start_locked(struct lst_haul *h)
{
	struct lst_drill *drill = h->drill;

	h->failed = h->put = false;
	h->got = 0;
	h->nr_open = h->nr_get = 1;
	if (lst_plan_goes_out(&drill->plan))
		flow_begin_locked(&drill->to_node, lst_now(drill->st));
	lst_queue_locked(drill->st, &h->job, haul_run);
}

static enum lst_verdict haul_begin_locked(struct lst_call *call, struct lst_drill *drill)
{
	bool waits = drill->most_hauls && drill->nr_hauls == drill->most_hauls;
	struct lst_haul *h = waits ? kzalloc(sizeof(*h), GFP_NOWAIT) : haul_get(drill);

	if (!h) {
		call->rpy.drill_rpy.status = ENOMEM;
		return LST_REPLY;
	}
	h->drill = drill;
	haul_call_set_locked(h, call);
	drill->test->session->nr_running++;
	if (waits) {
		list_add_tail(&h->link, &drill->queued);
		drill->nr_queued++;
		return LST_LATER;
	}
	drill->max_hauls = max(drill->max_hauls, ++drill->nr_hauls);
	haul_start_locked(h);
	return LST_LATER;
}

enum lst_verdict lst_drill_serve_locked(struct lst_call *call)
{
	const struct lst_drill_req *req = &call->req.drill_req;
	struct lst_drill *drill = server_find(call->st, req->tag);
	u64 now = lst_now(call->st);

	call->portal = LST_PORTAL_DRILL;
	call->rpy.drill_rpy = (struct lst_drill_rpy){ .slot = req->slot, .round = req->round,
						      .seq = req->seq, .stamp = req->stamp,
						      .got_ns = now };
	if (drill)
		lst_rails_met_locked(drill, &call->from.nid);
	if (!drill)
		call->rpy.drill_rpy.status = ENOENT;
	else if (drill->plan.what == LST_WHAT_BULK)
		return haul_begin_locked(call, drill);
	else if (req->size != drill->plan.size || req->size != call->len)
		call->rpy.drill_rpy.status = EINVAL;
	else if (!lst_call_echo_locked(call))
		call->rpy.drill_rpy.status = ENOMEM;
	if (call->rpy.drill_rpy.status)
		return LST_REPLY;
	drill->nr_served++;
	flow_locked(&drill->to_node, now, call->len);
	flow_locked(&drill->from_node, now, call->len);
	return LST_REPLY;
}
