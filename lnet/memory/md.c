/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory descriptors: their creation, use and unlinking. An MD is freed with its last event. */
#include "shard/shard.h"
#include "memory/memory.h"

/* ---- creation -------------------------------------------------------------------------------- */

/*
 * Checks @cfg as stock LNet does. Stock LNet's rule on pages does not apply, because the fragments
 * of @cfg are address ranges and not pages.
 */
static int md_cfg_check(const struct lnet_md_cfg *cfg, bool attach, u64 *length)
{
	bool list = cfg->frags || cfg->nr_frags || (cfg->options & LNET_MD_KIOV);
	bool op_bits = cfg->options & (LNET_MD_OP_PUT | LNET_MD_OP_GET);
	u32 i;

	if (list && (!cfg->frags || cfg->nr_frags > LNET_MD_FRAGS_MAX))
		return -EINVAL;
	if (!list && !cfg->start && cfg->length)
		return -EINVAL;
	*length = list ? 0 : cfg->length;
	for (i = 0; list && i < cfg->nr_frags; i++) {
		if (!cfg->frags[i].base && cfg->frags[i].len)
			return -EINVAL;
		*length += cfg->frags[i].len;
	}
	if (*length > U32_MAX)
		return -EINVAL;
	if ((cfg->options & LNET_MD_MAX_SIZE) && cfg->max_size > *length)
		return -EINVAL;
	if (cfg->threshold < LNET_THRESHOLD_INF || op_bits != attach)
		return -EINVAL;
	return !attach && *length > LNET_MTU ? -EINVAL : 0;
}

/*
 * Returns the CPT of an MD: that of the MD cfg->bulk, if LNET_MD_BULK_HANDLE is set and this MD
 * exists. Otherwise cfg->cpt or, if that is negative, the CPT of the first page of the memory.
 */
static s32 md_cpt(struct lnet *ln, const struct lnet_md_cfg *cfg)
{
	const void *base = cfg->frags && cfg->nr_frags ? cfg->frags[0].base : cfg->start;
	struct lnet_md_dom *dom = NULL;
	struct lnet_md *bulk;
	s32 cpt = cfg->cpt;

	if (cpt < 0)
		cpt = base && ln->env->ops->cpt_of ? ln->env->ops->cpt_of(ln->env, base) : -1;
	if (cfg->options & LNET_MD_BULK_HANDLE)
		dom = lnet_handle_dom(ln, cfg->bulk.cookie, LNET_HANDLE_MD);
	if (!dom)
		return cpt;
	spin_lock(&dom->lock);
	bulk = lnet_handle_find(dom, cfg->bulk.cookie);
	if (bulk)
		cpt = bulk->cpt;
	spin_unlock(&dom->lock);
	return cpt;
}

static int md_alloc(struct lnet *ln, const struct lnet_md_cfg *cfg, bool attach,
		    struct lnet_md **mdp)
{
	struct lnet_md_full *full;
	struct lnet_md *md;
	u64 length;
	int err = md_cfg_check(cfg, attach, &length);

	if (err)
		return err;
	full = kzalloc(sizeof(*full), GFP_NOFS);
	if (!full)
		return -ENOMEM;
	md = &full->md;
	md->frags = &md->one;
	md->nr_frags = cfg->frags ? cfg->nr_frags : 1;
	if (!cfg->frags)
		md->one = (struct lnet_frag){ .base = cfg->start, .len = cfg->length };
	else if (cfg->nr_frags == 1)
		md->one = cfg->frags[0];
	else if (cfg->nr_frags)
		md->frags = kmemdup(cfg->frags, cfg->nr_frags * sizeof(*cfg->frags), GFP_NOFS);
	if (!md->frags) {
		kfree(full);
		return -ENOMEM;
	}
	INIT_LIST_HEAD(&md->done);
	INIT_LIST_HEAD(&md->ready);
	INIT_LIST_HEAD(&full->all);
	md->ln = ln;
	md->threshold = cfg->threshold;
	md->unlimited = cfg->threshold == LNET_THRESHOLD_INF;
	md->length = (u32)length;
	md->max_size = cfg->max_size;
	md->options = cfg->options;
	md->cpt = md_cpt(ln, cfg);
	md->user_ptr = cfg->user_ptr;
	md->handler = cfg->handler;
	*mdp = md;
	return 0;
}

void lnet_md_free(struct lnet_md *md)
{
	struct lnet_evt *e, *next;

	if (!md)
		return;
	list_for_each_entry_safe(e, next, &md->done, link)
		if (e != &lnet_md_full(md)->last)
			lnet_evt_free(e);
	if (md->frags != &md->one)
		kfree(md->frags);
	kfree(lnet_md_full(md));
}

void lnet_md_unlock_free(struct lnet_md *md) __releases(md->lock)
{
	struct lnet_md_full *full = lnet_md_full(md);
	bool ended = md->gone_sent && !md->delivering && !full->pins;

	lockdep_assert_held(md->lock);
	if (ended)
		list_del_init(&full->all);
	spin_unlock(md->lock);
	if (ended)
		lnet_md_free(md);
}

/* Makes @md visible to other threads. The domain is locked and has a free slot. */
static void md_publish(struct lnet_md *md, struct lnet_md_dom *dom, enum lnet_unlink unlink,
		       lnet_md_t *out)
{
	struct lnet_md_full *full = lnet_md_full(md);

	full->dom = dom;
	md->lock = &dom->lock;
	md->auto_unlink = unlink == LNET_UNLINK;
	md->cookie = out->cookie = lnet_handle_add(dom, LNET_HANDLE_MD, md);
	list_add_tail(&full->all, &dom->mds);
}

int lnet_md_bind(struct lnet *ln, const struct lnet_md_cfg *cfg, enum lnet_unlink unlink,
		 lnet_md_t *out)
{
	struct lnet_md_dom *dom;
	unsigned int turn;
	struct lnet_md *md;
	int err = md_alloc(ln, cfg, false, &md);

	if (err)
		return err;
	turn = (unsigned int)atomic_inc_return(&ln->md_tables->turn);
	dom = lnet_md_dom_get(ln, turn % LNET_MD_BUCKETS);
	err = -ENOMEM;
	if (dom) {
		err = lnet_md_dom_lock_slot(dom);
		if (!err)
			md_publish(md, dom, unlink, out);
		spin_unlock(&dom->lock);
	}
	if (err)
		lnet_md_free(md);
	return err;
}

int lnet_md_attach(struct lnet *ln, lnet_me_t h, const struct lnet_md_cfg *cfg,
		   enum lnet_unlink unlink, lnet_md_t *out)
{
	struct lnet_md_dom *dom = lnet_handle_dom(ln, h.cookie, LNET_HANDLE_ME);
	struct lnet_md *md = NULL;
	struct lnet_me *me;
	LIST_HEAD(taken);
	int err;

	if (!dom)
		return -ENOENT;
	err = md_alloc(ln, cfg, true, &md);
	if (err)
		spin_lock(&dom->lock);
	else
		err = lnet_md_dom_lock_slot(dom);
	me = lnet_handle_find(dom, h.cookie);
	if (!err && (!me || me->md))
		err = me ? -EBUSY : -ENOENT;
	if (!err) {
		md_publish(md, dom, unlink, out);
		md->me = me;
		me->md = md;
		lnet_match_lazy(me->portal, me, &taken);
	} else if (me && !me->md) {	/* if the attach fails, an ME without MD is also freed */
		lnet_me_free(me);
	}
	spin_unlock(&dom->lock);
	if (err)
		lnet_md_free(md);
	else
		lnet_match_tell(ln, &taken, LNET_TOO_LONG);
	return err;
}

/* ---- use by operations ----------------------------------------------------------------------- */

void lnet_md_take(struct lnet_md *md)
{
	lockdep_assert_held(md->lock);
	if (md->threshold > 0)
		md->threshold--;
	md->refs++;
}

struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, unsigned int *nr)
{
	struct lnet_md_dom *dom = lnet_handle_dom(ln, h.cookie, LNET_HANDLE_MD);
	struct lnet_md *md;

	if (!dom || dom->ix >= LNET_MD_BUCKETS)
		return NULL;
	spin_lock(&dom->lock);
	md = lnet_handle_find(dom, h.cookie);
	if (md && lnet_md_spent(md))
		md = NULL;
	if (md) {
		if (md->threshold > 0) {
			*nr = min_t(unsigned int, *nr, (unsigned int)md->threshold);
			md->threshold -= (int)*nr;
		}
		md->refs += *nr;
	}
	spin_unlock(&dom->lock);
	return md;
}

bool lnet_md_use_again(struct lnet_md *md)
{
	bool ok;

	if (md->unlimited)
		return !lnet_md_aborted(md);
	spin_lock(md->lock);
	ok = !md->aborted && md->threshold != 0;
	if (ok && md->threshold > 0)
		md->threshold--;
	spin_unlock(md->lock);
	return ok;
}

void lnet_md_detach(struct lnet_md *md)
{
	struct lnet_me *me = md->me;

	lockdep_assert_held(md->lock);
	if (md->dead)
		return;
	md->dead = 1;
	lnet_handle_del(lnet_md_full(md)->dom, md->cookie);
	if (!me)
		return;
	md->me = NULL;
	me->md = NULL;
	if (me->unlink == LNET_UNLINK)
		lnet_me_free(me);
}

/*
 * Lock held. True if nothing uses @md or can use it later; the caller then queues its last event.
 * Returns true only once.
 */
static bool md_close(struct lnet_md *md)
{
	if (md->refs || md->gone_sent)
		return false;
	if (!md->dead && !(md->auto_unlink && lnet_md_spent(md)))
		return false;
	lnet_md_detach(md);
	md->gone_sent = 1;
	return true;
}

/*
 * Unlocks @md. @wake: then adds @md to p->ready. The pass @p delivers the events of @md when @p
 * ends.
 */
static void md_unlock_wake(struct lnet_pass *p, struct lnet_md *md, bool wake)
	__releases(md->lock)
{
	spin_unlock(md->lock);
	if (wake)
		list_add_tail(&md->ready, &p->ready);
}

/*
 * If @md has ended, and no event of an operation has reported this end, queues the UNLINK event.
 * Then unlocks @md.
 */
static void md_unlock_end(struct lnet_pass *p, struct lnet_md *md) __releases(md->lock)
{
	struct lnet_evt *e = &lnet_md_full(md)->last;
	bool wake = false;

	if (md_close(md)) {
		e->ev.kind = LNET_EVENT_UNLINK;
		e->ev.unlinked = true;
		e->ev.initiator.nid = e->ev.target.nid = e->ev.source = e->ev.sender = LNET_NID_ANY;
		e->ev.md.cookie = md->cookie;
		e->ev.user_ptr = md->user_ptr;
		wake = lnet_md_queue(md, e);
	}
	md_unlock_wake(p, md, wake);
}

void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md)
{
	spin_lock(md->lock);
	if (md->threshold >= 0)
		md->threshold++;
	md->refs--;
	md_unlock_end(p, md);
}

bool lnet_md_aborted(const struct lnet_md *md)
{
	return READ_ONCE(md->aborted);
}

/* Lock held. Sets those fields of @e that depend on @md. */
static void event_fill(struct lnet_md *md, struct lnet_evt *e, bool last)
{
	WARN_ON_ONCE(!md->refs || md->gone_sent);
	e->ev.md.cookie = md->cookie;
	e->ev.user_ptr = md->user_ptr;
	if (md->aborted && !e->ev.status) {
		e->ev.status = -ETIMEDOUT;
		e->ev.outcome = LNET_UNLINKED;
		/* the peer may have executed a request of this node, so delivery is unknown */
		e->ev.delivery_unknown =
			e->ev.kind >= LNET_EVENT_REPLY && e->ev.kind <= LNET_EVENT_SEND;
	}
	if (last)
		md->refs--;
	e->ev.unlinked = last && md_close(md);
}

void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last)
{
	if (p->sh) {
		e->md = md;
		e->last = last;
		list_add_tail(&e->link, &p->posts);
		return;
	}
	spin_lock(md->lock);
	event_fill(md, e, last);
	md_unlock_wake(p, md, lnet_md_queue(md, e));
}

void lnet_md_posts(struct lnet_pass *p)
{
	while (!list_empty(&p->posts)) {
		struct lnet_md *md = list_first_entry(&p->posts, struct lnet_evt, link)->md;
		struct list_head *last = &p->posts;
		struct lnet_evt *e;
		LIST_HEAD(run);		/* consecutive events of @md */

		spin_lock(md->lock);
		list_for_each_entry(e, &p->posts, link) {
			if (e->md != md)
				break;
			event_fill(md, e, e->last);
			last = &e->link;
		}
		list_cut_position(&run, &p->posts, last);
		md_unlock_wake(p, md, lnet_md_queue_list(md, &run));
	}
}

/* ---- unlinking ------------------------------------------------------------------------------- */

void lnet_md_abort(struct lnet_md *md)
{
	lockdep_assert_held(md->lock);
	WRITE_ONCE(md->aborted, 1);
	lnet_md_detach(md);
	lnet_md_full(md)->pins++;
}

bool lnet_md_abort_close(struct lnet_pass *p, struct lnet_md *md)
{
	bool busy;

	spin_lock(md->lock);
	busy = md->refs != 0;
	md_unlock_end(p, md);
	return busy;
}

void lnet_md_unpin(struct lnet_md *md)
{
	spin_lock(md->lock);
	lnet_md_full(md)->pins--;
	lnet_md_unlock_free(md);
}
