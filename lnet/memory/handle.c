/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * 64-bit handles of MDs and MEs. Each domain has one leaf lock, which protects the look-up and the
 * objects.
 */
#include "memory/memory.h"

#define COOKIE_DOM	0x7fU
#define COOKIE_KIND	0x80U
#define SLOT_SHIFT	8
#define SLOT_MASK	0xffffffU
#define GEN_SHIFT	32
#define FIRST_LEVEL	8U

static_assert(LNET_MD_DOMS < COOKIE_DOM, "a domain fits into its field");
static_assert((FIRST_LEVEL << LNET_HANDLE_LEVELS) <= SLOT_MASK, "a slot fits into its field");

static unsigned int cookie_slot(u64 cookie)
{
	return (u32)(cookie >> SLOT_SHIFT) & SLOT_MASK;
}

/* Returns the number of slots in the first @nr_levels levels. */
static u32 level_end(unsigned int nr_levels)
{
	return FIRST_LEVEL * ((1U << nr_levels) - 1);
}

static struct lnet_handle_slot *slot_at(const struct lnet_md_dom *dom, u32 ix)
{
	unsigned int level = ilog2(ix / FIRST_LEVEL + 1);

	return &dom->level[level][ix - level_end(level)];
}

struct lnet_md_dom *lnet_md_dom_peek(const struct lnet *ln, unsigned int ix)
{
	return smp_load_acquire(&ln->md_tables->dom[ix]);
}

static void dom_free(struct lnet_md_dom *dom)
{
	unsigned int i;

	for (i = 0; i < dom->nr_levels; i++)
		kvfree(dom->level[i]);
	if (dom->ix >= LNET_MD_BUCKETS)
		lnet_portal_fini(lnet_portal_of(dom));
	kfree(dom);
}

struct lnet_md_dom *lnet_md_dom_get(struct lnet *ln, unsigned int ix)
{
	struct lnet_md_dom *dom = lnet_md_dom_peek(ln, ix), *raced;
	bool bucket = ix < LNET_MD_BUCKETS;

	if (dom)
		return dom;
	dom = kzalloc(bucket ? sizeof(struct lnet_md_dom) : sizeof(struct lnet_portal), GFP_NOFS);
	if (!dom)
		return NULL;
	spin_lock_init(&dom->lock);
	INIT_LIST_HEAD(&dom->mds);
	dom->ix = (u8)ix;
	if (!bucket && lnet_portal_init(lnet_portal_of(dom))) {
		kfree(dom);
		return NULL;
	}
	raced = cmpxchg(&ln->md_tables->dom[ix], NULL, dom);
	if (!raced)
		return dom;
	dom_free(dom);
	return raced;
}

struct lnet_md_dom *lnet_handle_dom(const struct lnet *ln, u64 cookie, enum lnet_handle_kind kind)
{
	unsigned int ix = ((u32)cookie & COOKIE_DOM) - 1;

	if (ix >= LNET_MD_DOMS || !(cookie & COOKIE_KIND) != (kind == LNET_HANDLE_MD))
		return NULL;
	return lnet_md_dom_peek(ln, ix);
}

int lnet_md_dom_lock_slot(struct lnet_md_dom *dom) __acquires(&dom->lock)
{
	struct lnet_handle_slot *slots;
	unsigned int level;

	spin_lock(&dom->lock);
	while (!dom->free && dom->fresh >= level_end(dom->nr_levels)) {
		level = dom->nr_levels;
		if (level == LNET_HANDLE_LEVELS)
			return -ENOMEM;
		spin_unlock(&dom->lock);
		slots = kvcalloc(FIRST_LEVEL << level, sizeof(*slots), GFP_NOFS);
		spin_lock(&dom->lock);
		if (!slots)
			return -ENOMEM;
		if (dom->nr_levels == level) {
			dom->level[dom->nr_levels++] = slots;
			continue;
		}
		spin_unlock(&dom->lock);	/* another thread has added the level meanwhile */
		kvfree(slots);
		spin_lock(&dom->lock);
	}
	return 0;
}

u64 lnet_handle_add(struct lnet_md_dom *dom, enum lnet_handle_kind kind, void *obj)
{
	struct lnet_handle_slot *slot;
	u32 ix = dom->free;

	lockdep_assert_held(&dom->lock);
	if (ix) {
		slot = slot_at(dom, --ix);
		dom->free = slot->next;
	} else {
		ix = dom->fresh++;
		slot = slot_at(dom, ix);
	}
	slot->obj = obj;
	return (u64)slot->gen << GEN_SHIFT | (u64)ix << SLOT_SHIFT |
	       (kind == LNET_HANDLE_ME ? COOKIE_KIND : 0) | (dom->ix + 1U);
}

void lnet_handle_del(struct lnet_md_dom *dom, u64 cookie)
{
	u32 ix = cookie_slot(cookie);
	struct lnet_handle_slot *slot = slot_at(dom, ix);

	lockdep_assert_held(&dom->lock);
	slot->obj = NULL;
	slot->gen++;
	slot->next = dom->free;
	dom->free = ix + 1;
}

void *lnet_handle_find(const struct lnet_md_dom *dom, u64 cookie)
{
	u32 ix = cookie_slot(cookie);
	const struct lnet_handle_slot *slot;

	if (ix >= dom->fresh)
		return NULL;
	slot = slot_at(dom, ix);
	return slot->gen == (u32)(cookie >> GEN_SHIFT) ? slot->obj : NULL;
}

int lnet_md_tables_init(struct lnet *ln)
{
	ln->md_tables = kzalloc(sizeof(struct lnet_md_tables), GFP_KERNEL);
	return ln->md_tables ? 0 : -ENOMEM;
}

void lnet_md_tables_fini(struct lnet *ln)
{
	struct lnet_md_tables *t = ln->md_tables;
	struct lnet_md_full *full, *next;
	struct lnet_md_dom *dom;
	unsigned int i;

	if (!t)
		return;
	for (i = 0; i < LNET_MD_DOMS; i++) {
		dom = t->dom[i];
		if (!dom)
			continue;
		list_for_each_entry_safe(full, next, &dom->mds, all)
			lnet_md_free(&full->md);
		dom_free(dom);
	}
	kfree(t);
	ln->md_tables = NULL;
}
