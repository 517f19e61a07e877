/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The data calls of the API, and pings that a user requests. */
#include "shard/shard.h"
#include "topology/topology.h"
#include "memory/memory.h"
#include "xfer/xfer.h"
#include "fault/fault.h"
#include "shard/hooks.h"

void lnet_xfer_init(struct lnet_xfer *x)
{
	memset(x, 0, sizeof(*x));
	memset(&x->self, 0xff, sizeof(x->self));
	x->target.pid = LNET_PID;
}

/* ---- requests -------------------------------------------------------------------------------- */

static int xfer_check(const struct lnet_xfer *x, bool core)
{
	if (x->portal >= LNET_PORTALS || lnet_nid_is_any(&x->target.nid) ||
	    !lnet_nid_is_sane(&x->target.nid))
		return -EINVAL;
	if (x->portal == LNET_PORTAL_RESERVED && !core)
		return -EINVAL;
	return 0;
}

static int set_memory(struct lnet_op *op, struct lnet_md *md, const struct lnet_xfer *x)
{
	if (x->md_offset > md->length || x->length > md->length - x->md_offset)
		return -EINVAL;
	op->md = md;
	op->md_off = x->md_offset;
	op->len = x->length ? x->length : md->length - x->md_offset;
	return op->len > LNET_MTU ? -EINVAL : 0;
}

static int set_source(struct lnet *ln, struct lnet_op *op, const struct lnet_nid *self)
{
	if (lnet_nid_is_any(self))
		return 0;
	op->src_ni = lnet_ni_find(ln, self);
	if (!op->src_ni)
		return -EINVAL;
	op->binding = LNET_BIND_FIXED;
	return 0;
}

/*
 * Returns the peer interface of @nid, with a reference. For a local NID, returns the interface of
 * the loopback. If @nid was not local, pni->not_own_gen prevents a second comparison with local
 * NIDs until the configuration changes. If the peer is to be merged and @pinned is false, returns
 * an interface of the merge target.
 */
static struct lnet_peer_ni *target_of(struct lnet *ln, const struct lnet_nid *nid, bool pinned)
{
	u32 gen = READ_ONCE(ln->cfg_gen);
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid), *to;
	struct lnet_ni *own;
	struct lnet_nid lo;

	if (pni && READ_ONCE(pni->not_own_gen) == gen)
		return pni;
	own = lnet_ni_find(ln, nid);
	if (!own) {
		if (!pni)
			pni = lnet_peer_ni_want(ln, nid, NULL);
		to = pni ? lnet_peer_ni_target(pni) : NULL;
		if (pni && !to)
			WRITE_ONCE(pni->not_own_gen, gen);
		if (to && !pinned)
			swap(pni, to);
		lnet_peer_ni_put(to);
		return pni;
	}
	if (pni)
		lnet_peer_ni_put(pni);
	lnet_ni_put(own);
	lnet_nid_from_nid4(&lo, LNET_NID4_LO);
	return lnet_peer_ni_want(ln, &lo, NULL);
}

static int request_prepare(struct lnet *ln, struct lnet_op *op, struct lnet_md *md,
			   const struct lnet_xfer *x)
{
	int err = set_memory(op, md, x);

	if (err)
		return err;
	op->target = x->target.nid;
	op->target_pid = x->target.pid ? x->target.pid : LNET_PID;
	op->portal = x->portal;
	op->offset = x->offset;
	op->match_bits = x->match_bits;
	op->hdr_data = x->hdr_data;
	op->timeout_ns = min_t(u64, x->timeout_ns, LNET_TIMEOUT_MAX_NS);
	op->arg = x->op_ptr;
	return set_source(ln, op, &x->self);
}

/*
 * Like op_get(), but allocates the operation, because other threads have emptied the pool. Releases
 * and takes the lock.
 */
static struct lnet_op *op_make(struct lnet_pass *p, struct lnet_peer_ni *pni, bool two_events)
{
	struct lnet_op *op;

	lnet_leave(p);
	op = lnet_op_new();
	if (op) {
		op->evt[1] = lnet_evt_new();
		op->evt[0] = two_events ? lnet_evt_new() : NULL;
	}
	lnet_enter_pni(p, pni);
	if (!op || (op->evt[1] && (op->evt[0] || !two_events)))
		return op;
	lnet_op_recycle(p->sh, op);
	return NULL;
}

/*
 * Returns an operation with its events from the pool of the target's shard. This shard stays
 * locked.
 */
static struct lnet_op *op_get(struct lnet_pass *p, struct lnet_peer_ni *pni, bool two_events)
{
	struct lnet_op *op;

	lnet_enter_pni(p, pni);
	op = lnet_op_take(p->sh);
	if (!op)
		return op_make(p, pni, two_events);
	op->evt[1] = lnet_evt_take(p->sh);
	if (two_events)
		op->evt[0] = lnet_evt_take(p->sh);
	if (op->evt[1] && (op->evt[0] || !two_events))
		return op;
	lnet_op_recycle(p->sh, op);
	return op_make(p, pni, two_events);
}

/*
 * Returns 0, or -EAGAIN if too many requests are unfinished. Each request that waits for a path, a
 * session or credits takes memory.
 */
static int request_may_start(struct lnet_shard *sh)
{
	lockdep_assert_held(&sh->lock);
	if (likely(sh->nr_live < READ_ONCE(sh->ln->tun.requests_max)))
		return 0;
	lnet_count(sh, requests_denied);
	return -EAGAIN;
}

static u32 flags_of(const struct lnet_xfer *x, enum lnet_op_type type)
{
	if (type == LNET_OP_PUT && !(x->flags & LNET_ACK))
		return 0;
	return (type == LNET_OP_PUT ? LNET_OPF_ACK : 0) |
	       (x->flags & LNET_NO_SEND ? LNET_OPF_NOSEND : 0);
}

static int request_start(struct lnet_pass *p, const struct lnet_xfer *x, struct lnet_peer_ni *pni,
			 struct lnet_md *md, enum lnet_op_type type, enum lnet_kind kind)
{
	u32 flags = flags_of(x, type);
	bool answer = type == LNET_OP_GET || (flags & LNET_OPF_ACK);
	struct lnet_op *op = op_get(p, pni, answer && !(flags & LNET_OPF_NOSEND));
	int err;

	if (!op)
		return -ENOMEM;
	op->type = type;
	op->kind = kind;
	op->flags = flags;
	err = request_may_start(p->sh);
	if (!err && unlikely(READ_ONCE(p->ln->fault)) &&
	    lnet_fault_peer_fails(p->ln, &x->target.nid))
		err = -EIO;
	if (!err)
		err = request_prepare(p->ln, op, md, x);
	if (!err)
		err = lnet_op_submit(p, op, pni);
	if (!err)
		return 0;
	if (op->src_ni)
		lnet_ni_put(op->src_ni);
	op->md = NULL;
	lnet_op_recycle(p->sh, op);
	return err;
}

/*
 * A run: successive requests that use one memory descriptor (MD) and one NID, at most as many as
 * the MD permits. One look-up of the MD and of the peer interface serves all of them.
 */
struct run {
	struct lnet_peer_ni *pni;	/* referenced */
	/* pinned @left times, once for each request that is not started */
	struct lnet_md *md;
	unsigned int left;
};

static bool same_ends(const struct lnet_xfer *a, const struct lnet_xfer *b)
{
	return a->md.cookie == b->md.cookie && lnet_nid_same(&a->target.nid, &b->target.nid);
}

/*
 * No shard locked. Prepares the run that begins with the first of @nr requests at @x. 0 or -errno
 */
static int run_begin(struct lnet *ln, struct run *run, const struct lnet_xfer *x, unsigned int nr,
		     bool core)
{
	int err = xfer_check(x, core);

	if (READ_ONCE(ln->stopping))
		return -ESHUTDOWN;
	if (err)
		return err;
	run->left = 1;
	while (run->left < nr && same_ends(x, x + run->left) && !xfer_check(x + run->left, core))
		run->left++;
	run->pni = target_of(ln, &x->target.nid, !lnet_nid_is_any(&x->self));
	if (!run->pni)
		return READ_ONCE(ln->stopping) ? -ESHUTDOWN : -ENOMEM;
	run->md = lnet_md_use_bound(ln, x->md, &run->left);
	if (run->md)
		return 0;
	lnet_peer_ni_put(run->pni);
	return -ENOENT;
}

/*
 * Starts the run of requests at @x. Returns the number of started requests, or the error of the
 * first request.
 */
static int run_start(struct lnet *ln, struct lnet_pass *p, const struct lnet_xfer *x,
		     unsigned int nr, enum lnet_op_type type, enum lnet_kind kind)
{
	unsigned int done = 0;
	struct run run;
	int err;

	lnet_leave(p);
	err = run_begin(ln, &run, x, nr, kind != LNET_KIND_USER);
	if (err)
		return err;
	lnet_window_grow(p, run.pni, run.left);
	for (; run.left; run.left--, done++) {
		if (run.left > 1)	/* the last request takes over the reference of @run */
			lnet_peer_ni_hold(run.pni);
		err = request_start(p, x + done, run.pni, run.md, type, kind);
		if (err)
			break;
	}
	if (!run.left)
		return (int)done;
	if (run.left > 1)
		lnet_peer_ni_put(run.pni);
	lnet_leave(p);
	for (; run.left; run.left--)
		lnet_md_unuse(p, run.md);
	lnet_peer_ni_put(run.pni);
	return done ? (int)done : err;
}

/*
 * Returns how many of @left requests are sent with one doorbell. The number grows with the requests
 * in flight, because these keep both nodes busy until the doorbell. If only a few requests would
 * remain, returns @left, because a send costs as much as making some forty requests.
 */
static unsigned int doorbell_burst(const struct lnet *ln, unsigned int left)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ln->nr_shards; i++)
		nr += READ_ONCE(ln->shard[i].nr_live);
	nr = clamp(nr / 2, LNET_DOORBELL_BURST, LNET_DOORBELL_BURST_MAX);
	return left < nr + nr / 2 ? left : nr;
}

/*
 * Returns the number of started requests, or the error of the first. Requests that are started in
 * one pass (struct lnet_pass) are sent with one doorbell. If the last of these requests has
 * LNET_MORE, the doorbell is delayed.
 */
static int submit(struct lnet *ln, const struct lnet_xfer *x, unsigned int nr,
		  enum lnet_op_type type, enum lnet_kind kind)
{
	struct lnet_pass p __uninitialized;
	unsigned int done = 0, end;
	int rc = 0;

	if (nr > INT_MAX)
		return -EINVAL;
	while (done < nr && rc >= 0) {
		end = done + doorbell_burst(ln, nr - done);
		lnet_pass_begin(&p, ln, LNET_PASS_CALL);
		p.more = !!(x[end - 1].flags & LNET_MORE);
		while (done < end && rc >= 0) {
			rc = run_start(ln, &p, x + done, end - done, type, kind);
			done += rc > 0 ? rc : 0;
		}
		lnet_pass_end(&p);
	}
	return done ? (int)done : rc;
}

static int submit_result(int rc)
{
	return rc > 0 ? 0 : rc;
}

int lnet_put(struct lnet *ln, const struct lnet_xfer *x)
{
	return submit_result(submit(ln, x, 1, LNET_OP_PUT, LNET_KIND_USER));
}

int lnet_get(struct lnet *ln, const struct lnet_xfer *x)
{
	return submit_result(submit(ln, x, 1, LNET_OP_GET, LNET_KIND_USER));
}

int lnet_put_list(struct lnet *ln, const struct lnet_xfer *x, unsigned int nr)
{
	return submit(ln, x, nr, LNET_OP_PUT, LNET_KIND_USER);
}

int lnet_get_list(struct lnet *ln, const struct lnet_xfer *x, unsigned int nr)
{
	return submit(ln, x, nr, LNET_OP_GET, LNET_KIND_USER);
}

/* ---- local IDs and distance ------------------------------------------------------------------ */

int lnet_get_id(struct lnet *ln, unsigned int index, struct lnet_process *id)
{
	struct lnet_pass p;
	struct lnet_ni *ni;
	int err = -ENOENT;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	list_for_each_entry(ni, &ln->nis, link) {
		if (index--)
			continue;
		id->nid = ni->nid;
		id->pid = ln->pid;
		err = 0;
		break;
	}
	lnet_leave(&p);
	lnet_pass_end(&p);
	return err;
}

int lnet_dist(struct lnet *ln, const struct lnet_nid *dst)
{
	u32 net = lnet_nid_net(dst);
	int dist = -EHOSTUNREACH;
	unsigned int hops;
	struct lnet_pass p;
	struct lnet_ni *ni;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_nid_same(&ni->nid, dst))
			dist = 0;
		else if (ni->net == net && dist < 0)
			dist = 1;
	}
	hops = dist < 0 ? lnet_routes_hops(ln, net) : 0;
	lnet_leave(&p);
	lnet_pass_end(&p);
	return hops ? (int)hops + 1 : dist;
}

/* ---- pings that a user requests -------------------------------------------------------------- */

struct user_ping {
	struct lnet *ln;
	lnet_ping_done_t done;
	void *arg;
	struct lnet_nid target;
	u8 info[LNET_PINGINFO_MANUAL];
};

static void user_pinged(const struct lnet_event *ev)
{
	struct user_ping *u = ev->user_ptr;

	if (ev->final)
		u->done(u->arg, ev->status, u->info, ev->status ? 0 : ev->mlength, &u->target,
			ev->latency_ns);
	if (ev->unlinked)
		kfree(u);
	else if (ev->final)	/* the request failed, so its MD still accepts a reply */
		lnet_md_unlink(u->ln, ev->md);
}

/*
 * Sends a ping, with @u for its result; takes ownership of @u. The GET may use portal 0, because it
 * is a request of the core. The GET does not wait for session negotiation.
 */
static int user_ping(struct user_ping *u, const struct lnet_nid *source, u64 timeout_ns,
		     enum lnet_kind kind)
{
	struct lnet_md_cfg cfg = { .start = u->info,
				   .length = LNET_PINGINFO_MANUAL,
				   .threshold = 2,
				   .cpt = -1,
				   .options = LNET_MD_TRUNCATE,
				   .handler = user_pinged,
				   .user_ptr = u };
	struct lnet *ln = u->ln;
	struct lnet_xfer x;
	lnet_md_t md;
	int err;

	err = lnet_md_bind(ln, &cfg, LNET_RETAIN, &md);
	if (err) {
		kfree(u);
		return err;
	}
	lnet_xfer_init(&x);
	x.md = md;
	x.target.nid = u->target;
	if (source)
		x.self = *source;
	x.portal = LNET_PORTAL_RESERVED;
	x.match_bits = LNET_PING_MATCHBITS;
	x.timeout_ns = timeout_ns;
	err = submit_result(submit(ln, &x, 1, LNET_OP_GET, kind));
	if (err)
		lnet_md_unlink(ln, md);	/* the last event frees @u, and does not call u->done() */
	return err;
}

static struct user_ping *user_ping_new(struct lnet *ln, const struct lnet_nid *nid,
				       lnet_ping_done_t done, void *arg)
{
	struct user_ping *u = kzalloc(sizeof(*u), GFP_KERNEL);

	if (!u)
		return NULL;
	u->ln = ln;
	u->done = done;
	u->arg = arg;
	u->target = *nid;
	return u;
}

int lnet_ping(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
	      uint64_t timeout_ns, lnet_ping_done_t done, void *arg)
{
	struct user_ping *u = user_ping_new(ln, nid, done, arg);

	return u ? user_ping(u, source, timeout_ns, LNET_KIND_CONTROL) : -ENOMEM;
}

int lnet_ping_urgent(struct lnet *ln, const struct lnet_nid *nid, const struct lnet_nid *source,
		     u64 timeout_ns, lnet_ping_done_t done, void *arg)
{
	struct user_ping *u = user_ping_new(ln, nid, done, arg);

	return u ? user_ping(u, source, timeout_ns, LNET_KIND_URGENT) : -ENOMEM;
}
