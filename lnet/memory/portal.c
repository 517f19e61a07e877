/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Portals and their match entries, which are searched in order. The first entry defines the type of
 * a portal: exact (one NID, all match bits) or wildcard. A portal may be lazy.
 */
#include <lnet/hash.h>
#include "memory/memory.h"

#define GROW_AT		16U	/* number of MEs that needs LNET_PORTAL_MANY buckets */

void lnet_portal_init(struct lnet_portal *portal)
{
	unsigned int i;

	INIT_LIST_HEAD(&portal->ignore);
	INIT_LIST_HEAD(&portal->parked);
	for (i = 0; i < LNET_PORTAL_FEW; i++)
		INIT_LIST_HEAD(&portal->few[i]);
	portal->bucket = portal->few;
	portal->nr_buckets = LNET_PORTAL_FEW;
}

static void free_list(struct list_head *bucket)
{
	struct lnet_me *me, *next;

	list_for_each_entry_safe(me, next, bucket, link)
		kfree(me);
}

void lnet_portal_fini(struct lnet_portal *portal)
{
	u32 i;

	WARN_ON_ONCE(!list_empty(&portal->parked));
	free_list(&portal->ignore);
	for (i = 0; i < portal->nr_buckets; i++)
		free_list(&portal->bucket[i]);
	if (portal->bucket != portal->few)
		kfree(portal->bucket);
}

struct list_head *lnet_portal_bucket(struct lnet_portal *portal, u64 match_bits, u64 ignore_bits)
{
	if (ignore_bits)
		return &portal->ignore;
	return &portal->bucket[lnet_hash64(match_bits) & (portal->nr_buckets - 1)];
}

static bool wants_many(const struct lnet_portal *portal)
{
	return portal->nr_me >= GROW_AT && portal->nr_buckets == LNET_PORTAL_FEW;
}

/*
 * Spreads the MEs over LNET_PORTAL_MANY buckets. The MEs of each new bucket are from one old bucket
 * and keep their order. Without memory, the portal keeps its few buckets.
 */
static void portal_grow(struct lnet_portal *portal)
{
	struct lnet_me *me, *next;
	struct list_head *many;
	unsigned int i;

	many = kmalloc_array(LNET_PORTAL_MANY, sizeof(*many), GFP_NOFS);
	if (!many)
		return;
	for (i = 0; i < LNET_PORTAL_MANY; i++)
		INIT_LIST_HEAD(&many[i]);
	spin_lock(&portal->dom.lock);
	if (!wants_many(portal)) {
		spin_unlock(&portal->dom.lock);
		kfree(many);
		return;
	}
	portal->bucket = many;
	portal->nr_buckets = LNET_PORTAL_MANY;
	for (i = 0; i < LNET_PORTAL_FEW; i++)
		list_for_each_entry_safe(me, next, &portal->few[i], link)
			list_move_tail(&me->link, lnet_portal_bucket(portal, me->match_bits, 0));
	spin_unlock(&portal->dom.lock);
}

/* Portal locked, with a free slot. Returns 0, or -EPERM if the type of the portal differs. */
static int me_insert(struct lnet_portal *portal, struct lnet_me *me, enum lnet_ins_pos pos)
{
	bool wildcard = me->ignore_bits || lnet_nid_is_any(&me->match.nid) ||
			me->match.pid == LNET_PID_ANY;
	u8 type = wildcard ? LNET_PORTAL_WILDCARD : LNET_PORTAL_UNIQUE;
	struct list_head *bucket;

	if (portal->type != LNET_PORTAL_UNTYPED && portal->type != type)
		return -EPERM;
	portal->type = type;
	me->portal = portal;
	me->cookie = lnet_handle_add(&portal->dom, LNET_HANDLE_ME, me);
	bucket = lnet_portal_bucket(portal, me->match_bits, me->ignore_bits);
	if (pos == LNET_INS_BEFORE)
		list_add(&me->link, bucket);
	else
		list_add_tail(&me->link, bucket);
	portal->nr_me++;
	return 0;
}

int lnet_me_attach(struct lnet *ln, u32 portal_ix, const struct lnet_process *match,
		   uint64_t match_bits, uint64_t ignore_bits, enum lnet_unlink unlink,
		   enum lnet_ins_pos pos, lnet_me_t *out)
{
	struct lnet_md_dom *dom;
	struct lnet_me *me;
	bool grow = false;
	int err;

	if (portal_ix >= LNET_PORTALS)
		return -EINVAL;
	dom = lnet_md_dom_get(ln, LNET_MD_BUCKETS + portal_ix);
	me = kzalloc(sizeof(*me), GFP_NOFS);
	if (!dom || !me) {
		kfree(me);
		return -ENOMEM;
	}
	me->match = *match;
	me->match_bits = match_bits;
	me->ignore_bits = ignore_bits;
	me->unlink = unlink;
	err = lnet_md_dom_lock_slot(dom);
	if (!err)
		err = me_insert(lnet_portal_of(dom), me, pos);
	if (!err) {
		out->cookie = me->cookie;
		grow = wants_many(lnet_portal_of(dom));
	}
	spin_unlock(&dom->lock);
	if (err)
		kfree(me);
	if (grow)
		portal_grow(lnet_portal_of(dom));
	return err;
}

void lnet_me_free(struct lnet_me *me)
{
	struct lnet_portal *portal = me->portal;

	lockdep_assert_held(&portal->dom.lock);
	lnet_handle_del(&portal->dom, me->cookie);
	list_del(&me->link);
	portal->nr_me--;
	kfree(me);
}

int lnet_portal_lazy(struct lnet *ln, u32 portal_ix, bool lazy)
{
	struct lnet_md_dom *dom;
	LIST_HEAD(dropped);

	if (portal_ix >= LNET_PORTALS)
		return -EINVAL;
	dom = lazy ? lnet_md_dom_get(ln, LNET_MD_BUCKETS + portal_ix)
		   : lnet_md_dom_peek(ln, LNET_MD_BUCKETS + portal_ix);
	if (!dom)
		return lazy ? -ENOMEM : 0;
	spin_lock(&dom->lock);
	lnet_portal_of(dom)->lazy = lazy;
	if (!lazy)
		lnet_match_unpark_all(lnet_portal_of(dom), NULL, &dropped);
	spin_unlock(&dom->lock);
	lnet_match_tell(ln, &dropped, LNET_NO_MATCH);
	return 0;
}
