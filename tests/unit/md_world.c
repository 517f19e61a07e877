/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The environment of the tests of MDs and matching: the files under test, and stubs for the
 * functions that they call.
 */
#include "md_world.h"
#include "shard/hooks.h"

#include "../../lnet/memory/event.c"
#include "../../lnet/memory/match.c"
#include "../../lnet/memory/md.c"
#include "../../lnet/memory/handle.c"
#include "../../lnet/receive/unlink.c"

struct mw *mw_of(struct lnet *ln)
{
	return container_of(ln, struct mw, ln);
}

static u64 world_now(struct lnet_env *env)
{
	return container_of(env, struct mw, env)->now_ns;
}

static void world_kick(struct lnet_env *env, unsigned int shard)
{
	__atomic_fetch_add(&container_of(env, struct mw, env)->nr_kicks, 1, __ATOMIC_RELAXED);
}

static const struct lnet_env_ops world_env = { .now_ns = world_now, .kick = world_kick };

void lnet_enter(struct lnet_pass *p, struct lnet_shard *sh)
{
	CU_ASSERT_PTR_NULL(p->sh);
	spin_lock(&sh->lock);
	p->sh = sh;
}

void lnet_leave(struct lnet_pass *p)
{
	if (p->sh) {
		lnet_md_posts(p);
		spin_unlock(&p->sh->lock);
	}
	p->sh = NULL;
}

void lnet_pass_begin(struct lnet_pass *p, struct lnet *ln, enum lnet_pass_kind kind)
{
	memset(p, 0, sizeof(*p));
	p->ln = ln;
	p->kind = kind;
	p->now_ns = mw_of(ln)->now_ns;
	INIT_LIST_HEAD(&p->posts);
	INIT_LIST_HEAD(&p->ready);
	might_sleep();
}

void lnet_pass_end(struct lnet_pass *p)
{
	lnet_leave(p);
	lnet_md_deliver(p);
	CU_ASSERT(list_empty(&p->ready));
}

static struct mw *only;		/* functions for events have no argument for the instance */

struct lnet_evt *lnet_evt_new(void)
{
	__atomic_fetch_add(&only->nr_evts, 1, __ATOMIC_RELAXED);
	return kzalloc(sizeof(struct lnet_evt), GFP_KERNEL);
}

void lnet_evt_free(struct lnet_evt *e)
{
	__atomic_fetch_sub(&only->nr_evts, 1, __ATOMIC_RELAXED);
	kfree(e);
}

void lnet_evt_recycle(struct lnet_pass *p, struct lnet_evt *e)
{
	(void)p;
	lnet_evt_free(e);
}

void lnet_rx_matched(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_verdict v,
		     enum lnet_outcome why)
{
	struct mw *w = mw_of(p->ln);

	might_sleep();
	CU_ASSERT_PTR_NULL(p->sh);
	CU_ASSERT_EQUAL(rx->lazy_queued, 0);
	w->told[w->nr_told++ % ARRAY_SIZE(w->told)] = (struct mw_told){ rx, v, why };
}

void lnet_ops_md_aborted(struct lnet_pass *p, struct lnet_md *md)
{
	struct mw *w = mw_of(p->ln);

	might_sleep();
	CU_ASSERT(lnet_md_aborted(md));
	w->nr_aborted++;
	if (w->aborted)
		w->aborted(w, p, md);
}

/* No message was received, so no reply is held. */
void lnet_windows_md_aborted(struct lnet_pass *p, struct lnet_md *md)
{
	CU_ASSERT_PTR_NOT_NULL(md);
	CU_ASSERT_PTR_NULL(p->sh);
}

static const struct lnet_hooks hooks = { .rx_matched = lnet_rx_matched };

void mw_init(struct mw *w)
{
	memset(w, 0, sizeof(*w));
	only = w;
	w->env.ops = &world_env;
	w->now_ns = 5000;
	w->ln.env = &w->env;
	w->ln.hooks = &hooks;
	w->ln.nr_shards = 1;
	w->ln.shard = &w->shard;
	w->ln.tun.transaction_timeout = MW_TIMEOUT_NS;
	spin_lock_init(&w->shard.lock);
	INIT_LIST_HEAD(&w->shard.ready);
	w->shard.ln = &w->ln;
	UNIT_EQUAL(lnet_md_tables_init(&w->ln), 0, "tables");
}

void mw_fini(struct mw *w)
{
	struct lnet_md_tables *t = w->ln.md_tables;

	UNIT_EQUAL(atomic_read(&t->nr_lazy_queued), 0, "nothing parked at the end");
	lnet_md_tables_fini(&w->ln);
	UNIT_EQUAL(w->nr_evts, 0, "no event left at the end");
}

void mw_visit(struct mw *w, enum lnet_pass_kind kind)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, &w->ln, kind);
	if (kind == LNET_PASS_WORKER) {
		lnet_enter(&p, &w->shard);
		list_splice_tail_init(&w->shard.ready, &p.ready);
	}
	lnet_pass_end(&p);
}

void mw_post(struct mw *w, enum lnet_pass_kind kind_of_pass, struct lnet_md *md, u8 kind,
	     int status, bool last)
{
	struct lnet_evt *e = lnet_evt_new();
	struct lnet_pass p;

	e->ev.kind = kind;
	e->ev.status = status;
	lnet_pass_begin(&p, &w->ln, kind_of_pass);
	lnet_enter(&p, &w->shard);
	lnet_md_post(&p, md, e, last);
	lnet_pass_end(&p);
}

static void *look_up(struct mw *w, u64 cookie, enum lnet_handle_kind kind)
{
	struct lnet_md_dom *dom = lnet_handle_dom(&w->ln, cookie, kind);
	void *obj;

	if (!dom)
		return NULL;
	spin_lock(&dom->lock);
	obj = lnet_handle_find(dom, cookie);
	spin_unlock(&dom->lock);
	return obj;
}

struct lnet_md *mw_md(struct mw *w, lnet_md_t h)
{
	return look_up(w, h.cookie, LNET_HANDLE_MD);
}

bool mw_me_exists(struct mw *w, lnet_me_t h)
{
	return look_up(w, h.cookie, LNET_HANDLE_ME) != NULL;
}
