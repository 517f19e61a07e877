/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Switches routing on and off. After each switch, a settling time passes, in which other nodes
 * detect the change. Resizes the buffers. If no node pings the interfaces on a net, reports these
 * interfaces as down.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"
#include "router/router.h"

#define LOOK_NS		NSEC_PER_SEC	/* between two periodic checks */
#define SOON_NS		NSEC_PER_MSEC	/* pause if cfg_mutex is held */
#define TRIM_NS		(NSEC_PER_SEC / 2)	/* least time between two trims */
/* maximum bytes of buffers of one size that one call of trim() releases */
#define TRIM_BYTES	(128U << 20)
/* number of settling times after which routing ends in any case */
#define STOP_TIMES	3

static const u8 edges[LNET_NR_ROUTER_STATES][LNET_NR_ROUTER_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/router.def"
#undef STATE
#undef EDGE
};

/* cfg_mutex held */
static void router_set_state(struct lnet *ln, enum lnet_router_state to)
{
	struct lnet_router *r = ln->router;

	WARN_ON_ONCE(!edges[r->state][to]);
	lnet_edge(router, ln, r->state, to);
	WRITE_ONCE(r->state, to);
	r->since_ns = ln->env->ops->now_ns(ln->env);
	lnet_ping_advertise(ln);
	/* notifies other nodes now, before their next periodic check of this node */
	lnet_push_all(ln, true);
}

/*
 * Returns the settling time. In this time, each node that uses this router sends a check, and
 * detects a missing reply.
 */
static u64 settle_ns(const struct lnet *ln)
{
	return READ_ONCE(ln->tun.alive_router_check_interval) +
	       READ_ONCE(ln->tun.router_ping_timeout);
}

/* ---- the buffers ----------------------------------------------------------------------------- */

/* No lock held. */
static void free_all(struct list_head *bufs)
{
	while (!list_empty(bufs)) {
		struct lnet_rtr_buf *buf = list_first_entry(bufs, struct lnet_rtr_buf, link);

		list_del(&buf->link);
		kvfree(buf);
	}
}

/* [sh] Moves @nr free buffers to @gone, the least recently used ones first. */
static void pool_release(struct lnet_rtr_pool *pool, u32 nr, struct list_head *gone)
{
	pool->made -= nr;
	pool->nr_free -= nr;
	pool->nr_idle = min(pool->nr_idle, pool->nr_free);
	while (nr--)
		list_move(pool->free.prev, gone);
}

static void shard_resize(struct lnet_pass *p, struct lnet_rtr_shard *rs, bool on)
{
	struct lnet_rtr_pool *pool;
	LIST_HEAD(gone);
	unsigned int cls;
	u32 nr;

	lnet_enter(p, rs->sh);
	for (cls = 0; cls < LNET_NR_RTR; cls++) {
		pool = &rs->pool[cls];
		nr = on ? lnet_rtr_share(p->ln, cls) : 0;
		pool->nr = nr;
		pool->sender_most = lnet_rtr_sender_most(p->ln, nr);
		pool->min_credits = (s32)(nr - pool->used - pool->nr_wait);
		/* Buffers in use above the new number are freed when their messages return them. */
		pool_release(pool, min(pool->nr_free, pool->made - min(nr, pool->made)), &gone);
	}
	if (on)
		lnet_rtr_wake(p, rs);
	else
		lnet_router_drop_waiting(p, rs);
	lnet_leave(p);
	free_all(&gone);
}

static void resize(struct lnet *ln, bool on)
{
	struct lnet_pass p;
	unsigned int i;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	for (i = 0; i < ln->nr_shards; i++)
		shard_resize(&p, &ln->router->sh[i], on);
	lnet_pass_end(&p);
}

void lnet_router_resize(struct lnet *ln)
{
	unsigned int cls;

	for (cls = 0; lnet_router_forwards(ln) && cls < LNET_NR_RTR; cls++) {
		const struct lnet_rtr_pool *pool = &ln->router->sh[0].pool[cls];
		u32 nr = lnet_rtr_share(ln, cls);

		if (pool->nr != nr || pool->sender_most != lnet_rtr_sender_most(ln, nr)) {
			resize(ln, true);
			return;
		}
	}
}

/* [sh] Moves to @gone free buffers that no message has used since the last call, at most @bytes. */
static void pool_trim(struct lnet_rtr_pool *pool, u32 bytes, struct list_head *gone)
{
	if (pool->nr_idle) {
		u32 size = list_last_entry(&pool->free, struct lnet_rtr_buf, link)->frag.len;

		pool_release(pool, min(pool->nr_idle, max(bytes / size, 1U)), gone);
	}
	pool->nr_idle = pool->nr_free;
}

/*
 * Releases buffers that were not used since the last trim: an attack or a burst may have needed all
 * of them.
 */
static void trim(struct lnet_pass *p)
{
	struct lnet_router *r = p->ln->router;
	unsigned int i, cls;
	LIST_HEAD(gone);

	for (i = 0; i < p->ln->nr_shards; i++) {
		lnet_enter(p, r->sh[i].sh);
		for (cls = 0; cls < LNET_NR_RTR; cls++)
			pool_trim(&r->sh[i].pool[cls], TRIM_BYTES / p->ln->nr_shards, &gone);
		lnet_leave(p);
	}
	free_all(&gone);
	r->trim_ns = p->now_ns + TRIM_NS;
}

static void peer_credits_set(struct lnet_pass *p, struct lnet_peer *peer, void *arg)
{
	struct lnet_peer_ni *pni;

	(void)arg;
	list_for_each_entry(pni, &peer->pnis, link)
		lnet_rtr_credits_set(p, pni);
}

void lnet_router_credits(struct lnet *ln)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_peers_walk(&p, peer_credits_set, NULL);
	lnet_pass_end(&p);
}

static bool router_is_idle(struct lnet *ln)
{
	unsigned int i, cls;

	for (i = 0; i < ln->nr_shards; i++)
		for (cls = 0; cls < LNET_NR_RTR; cls++)
			if (READ_ONCE(ln->router->sh[i].pool[cls].used) ||
			    READ_ONCE(ln->router->sh[i].pool[cls].nr_wait))
				return false;
	return true;
}

static void rtr_shard_init(struct lnet_rtr_shard *rs, struct lnet_shard *sh)
{
	unsigned int i;

	rs->sh = sh;
	INIT_LIST_HEAD(&rs->waiting);
	lnet_timer_init(&rs->timer, LNET_TIMER_ROUTER);
	for (i = 0; i < LNET_RTR_HASH; i++) {
		INIT_LIST_HEAD(&rs->dsts[i]);
		INIT_LIST_HEAD(&rs->senders[i]);
		INIT_LIST_HEAD(&rs->flows[i]);
	}
	for (i = 0; i < LNET_NR_RTR; i++) {
		INIT_LIST_HEAD(&rs->pool[i].free);
		INIT_LIST_HEAD(&rs->pool[i].turn);
		INIT_LIST_HEAD(&rs->pool[i].checked);
	}
}

static int router_create(struct lnet *ln)
{
	struct lnet_router *r;
	unsigned int i;

	if (ln->router)
		return 0;
	r = kvzalloc(struct_size(r, sh, ln->nr_shards), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	r->job_ns = U64_MAX;
	for (i = 0; i < ln->nr_shards; i++)
		rtr_shard_init(&r->sh[i], &ln->shard[i]);
	smp_store_release(&ln->router, r);
	return 0;
}

void lnet_router_fini(struct lnet *ln)
{
	struct lnet_router *r = ln->router;
	unsigned int i, cls;

	for (i = 0; r && i < ln->nr_shards; i++) {
		WARN_ON_ONCE(!list_empty(&r->sh[i].waiting));
		lnet_timer_cancel(&ln->shard[i].wheel, &r->sh[i].timer);
		lnet_rtr_spare_free(&r->sh[i].spare);
		for (cls = 0; cls < LNET_NR_RTR; cls++) {
			WARN_ON_ONCE(r->sh[i].pool[cls].used);
			free_all(&r->sh[i].pool[cls].free);
		}
	}
	kvfree(r);
	ln->router = NULL;
}

enum lnet_router_state lnet_router_state(const struct lnet *ln)
{
	const struct lnet_router *r = READ_ONCE(ln->router);

	return r ? READ_ONCE(r->state) : ROUTER_DISABLED;
}

u32 lnet_router_state_nr(const struct lnet *ln)
{
	static const u8 nr[LNET_NR_ROUTER_STATES] = {
		[ROUTER_DISABLED] = 0, [ROUTER_ENABLED] = 1, [ROUTER_STOPPING] = 2,
		[ROUTER_STARTING] = 3,
	};

	return nr[lnet_router_state(ln)];
}

/* If routing is disabled, reports the configured numbers. */
int lnet_router_view(struct lnet *ln, unsigned int shard, struct lnet_rtr_view v[LNET_NR_RTR])
{
	static const u32 pages[LNET_NR_RTR] = {
#define POOL(name, size, nr, least) [LNET_RTR_##name] = (size) / 4096,
		LNET_RTR_POOLS(POOL)
#undef POOL
	};
	struct lnet_router *r = smp_load_acquire(&ln->router);
	unsigned int cls;

	if (!r || shard >= ln->nr_shards)
		return -ENOENT;
	spin_lock(&ln->shard[shard].lock);
	for (cls = 0; cls < LNET_NR_RTR; cls++) {
		const struct lnet_rtr_pool *pool = &r->sh[shard].pool[cls];
		u32 nr = pool->nr ? pool->nr : lnet_rtr_share(ln, cls);

		v[cls] = (struct lnet_rtr_view){ .pages = pages[cls], .nr = nr };
		v[cls].credits = (s32)(nr - pool->used - pool->nr_wait);
		v[cls].min_credits = pool->nr ? pool->min_credits : v[cls].credits;
	}
	spin_unlock(&ln->shard[shard].lock);
	return 0;
}

/* ---- on and off ------------------------------------------------------------------------------ */

static void look_soon(struct lnet *ln, u64 ns)
{
	lnet_job_schedule(ln, &ln->router->job_ns, ln->env->ops->now_ns(ln->env) + ns);
}

static int enable(struct lnet *ln)
{
	u64 now_ns = ln->env->ops->now_ns(ln->env);
	struct lnet_ni *ni;
	int err = router_create(ln);

	if (err)
		return err;
	if (ln->router->state == ROUTER_STOPPING)
		return -EBUSY;
	if (ln->router->state != ROUTER_DISABLED)
		return 0;
	resize(ln, true);
	list_for_each_entry(ni, &ln->nis, link)
		WRITE_ONCE(ni->pinged_ns, now_ns);
	router_set_state(ln, ROUTER_STARTING);
	look_soon(ln, min(settle_ns(ln), LOOK_NS));
	return 0;
}

int lnet_router_enable(struct lnet *ln, bool on)
{
	int err = 0;

	mutex_lock(&ln->cfg_mutex);
	if (READ_ONCE(ln->stopping)) {
		err = -ESHUTDOWN;
	} else if (on) {
		err = enable(ln);
	} else if (lnet_router_forwards(ln) && ln->router->state != ROUTER_STOPPING) {
		router_set_state(ln, ROUTER_STOPPING);
		look_soon(ln, min(settle_ns(ln), LOOK_NS));
	}
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- interfaces without pings ---------------------------------------------------------------- */

static u64 last_ping_ns(struct lnet *ln, u32 net)
{
	struct lnet_ni *ni;
	u64 last_ns = 0;

	list_for_each_entry(ni, &ln->nis, link)
		if (ni->net == net)
			last_ns = max(last_ns, READ_ONCE(ni->pinged_ns));
	return last_ns;
}

/*
 * cfg_mutex held. If no interface on a net has been pinged for the settling time, reports the
 * interfaces on this net as down, as stock LNet does.
 */
static void look_at_nis(struct lnet *ln, u64 now_ns)
{
	struct lnet_ni *ni;
	bool changed = false;

	list_for_each_entry(ni, &ln->nis, link) {
		if (ni == ln->lo || lnet_ni_marked(ni, LNET_MARK(UNPINGED)) ||
		    now_ns < last_ping_ns(ln, ni->net) + settle_ns(ln))
			continue;
		lnet_ni_mark(ni, LNET_MARK(UNPINGED), true);
		changed = true;
	}
	if (!changed)
		return;
	lnet_ping_advertise(ln);
	lnet_push_all(ln, true);
}

/* ---- periodic checks ------------------------------------------------------------------------- */

/* cfg_mutex held. */
static void pings_check(struct lnet *ln, u64 now_ns)
{
	const struct lnet_router *r = ln->router;
	u64 for_ns = now_ns - r->since_ns, settle = settle_ns(ln);
	struct lnet_ni *ni;

	if (r->state == ROUTER_STARTING && for_ns >= settle) {
		router_set_state(ln, ROUTER_ENABLED);
	} else if (r->state == ROUTER_STOPPING && for_ns >= settle &&
		   (router_is_idle(ln) || for_ns >= STOP_TIMES * settle)) {
		list_for_each_entry(ni, &ln->nis, link)
			lnet_ni_mark(ni, LNET_MARK(UNPINGED), false);
		router_set_state(ln, ROUTER_DISABLED);
		resize(ln, false);
	}
	if (r->state != ROUTER_DISABLED)
		look_at_nis(ln, now_ns);
}

/* Only tries to lock the mutex, for the reason that lnet_expiry_work() states. */
void lnet_router_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	struct lnet_router *r = READ_ONCE(ln->router);
	u64 next_ns = SOON_NS;

	if (likely(!r) || p->now_ns < READ_ONCE(r->job_ns))
		return;
	WRITE_ONCE(r->job_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (p->now_ns >= r->trim_ns)
		trim(p);
	if (mutex_trylock(&ln->cfg_mutex)) {
		pings_check(ln, p->now_ns);
		next_ns = min(LOOK_NS, max(settle_ns(ln) / 4, SOON_NS));
		mutex_unlock(&ln->cfg_mutex);
	}
	if (r->state != ROUTER_DISABLED)
		look_soon(ln, next_ns);
}
