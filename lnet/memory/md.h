/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What md.c, handle.c, event.c, portal.c and match.c share: handles, portals, match entries, and
 * the core's own descriptors.
 */
#ifndef LNET_MD_H
#define LNET_MD_H

#include "model/core.h"

/* ---- for the core: descriptors whose events go to the core itself ---------------------------- */

/*
 * Runs where a user's handler would: no lock held, the sends of @p already performed. It may post
 * events in @p and enter a shard, which is left for it; what it starts or sends goes in a pass of
 * its own. @arg is the MD's user_ptr.
 */
typedef void (*lnet_core_handler_t)(struct lnet_pass *p, void *arg, const struct lnet_event *ev);
/*
 * As lnet_md_bind() without auto-unlink and lnet_md_attach(); cfg->handler and cfg->user_ptr are
 * ignored.
 */
int lnet_md_bind_core(struct lnet *ln, const struct lnet_md_cfg *cfg, lnet_core_handler_t handler,
		      void *arg, lnet_md_t *out);
int lnet_md_attach_core(struct lnet *ln, lnet_me_t me, const struct lnet_md_cfg *cfg,
			enum lnet_unlink unlink, lnet_core_handler_t handler, void *arg,
			lnet_md_t *out);

/* ---- watch.c: handlers that run for too long ------------------------------------------------- */

/*
 * No lock held. The calling thread starts to run handlers of @md. NULL: it is not watched, because
 * handler_limit is 0 or LNET_WATCHES threads are watched. The functions below accept NULL.
 */
struct lnet_watch *lnet_watch_begin(struct lnet_md *md, u64 now_ns);
static inline void lnet_watch_event(struct lnet_watch *w, const struct lnet_event *ev)
{
	if (w)
		WRITE_ONCE(w->what, (u32)ev->portal << 8 | ev->kind);
}

/*
 * No lock held. A batch of @nr handlers ended at @now_ns, and the next may start. If the batch took
 * handler_limit or longer, it is logged, and counted once.
 */
void lnet_watch_batch(struct lnet *ln, struct lnet_watch *w, unsigned int nr, u64 now_ns);
void lnet_watch_end(struct lnet_watch *w);

/* ---- domains: a leaf lock and the handles of what it protects -------------------------------- */

/*
 * A handle is bits 0..6 the domain + 1, bit 7 the kind, bits 8..31 the slot, bits 32..63 the slot's
 * generation. It names its domain, so one lock finds the object and protects it. Bound MDs are
 * spread over the buckets; an ME and its MD are in the domain of their portal. Domains are made at
 * first use and live as long as the instance.
 */
#define LNET_MD_BUCKETS		16
#define LNET_MD_DOMS		(LNET_MD_BUCKETS + LNET_PORTALS)
#define LNET_HANDLE_LEVELS	18	/* level n: 8 << n slots; together 2 million per domain */

enum lnet_handle_kind { LNET_HANDLE_MD, LNET_HANDLE_ME };

struct lnet_handle_slot {
	void *obj;			/* NULL: free */
	u32 gen;
	u32 next;			/* free list: index + 1 */
};

struct lnet_md_dom {
	spinlock_t lock;
	u8 ix;				/* [const] */
	u8 nr_levels;			/* [lock] */
	/* [lock] slots in use; first never used; head of the free list + 1 */
	u32 nr_used, fresh, free;
	struct lnet_handle_slot *level[LNET_HANDLE_LEVELS];
	/* [lock] all descriptors not yet freed, struct lnet_md_full.all */
	struct list_head mds;
};

struct lnet_md_tables {
	struct lnet_md_dom *dom[LNET_MD_DOMS];	/* buckets, then portals; set once */
	atomic_t turn;			/* next bucket */
	atomic_t nr_parked;		/* over all portals */
};

/* handle.c. NULL: no such domain (yet), or the kind differs. */
struct lnet_md_dom *lnet_handle_dom(const struct lnet *ln, u64 cookie, enum lnet_handle_kind kind);
/* makes it; may sleep; NULL: no memory */
struct lnet_md_dom *lnet_md_dom_get(struct lnet *ln, unsigned int ix);
struct lnet_md_dom *lnet_md_dom_peek(const struct lnet *ln, unsigned int ix);	/* NULL: not made */
/* Locks @dom, in any case; may sleep before. 0: there is a slot to take. -ENOMEM */
int lnet_md_dom_lock_slot(struct lnet_md_dom *dom) __acquires(&dom->lock);
u64 lnet_handle_add(struct lnet_md_dom *dom, enum lnet_handle_kind kind, void *obj)
	__must_hold(&dom->lock);
void lnet_handle_del(struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);
/* NULL: stale */
void *lnet_handle_find(const struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);

/* ---- the whole of a descriptor --------------------------------------------------------------- */

struct lnet_md_full {
	struct lnet_md md;		/* first: what the rest of the core sees */
	struct lnet_md_dom *dom;	/* [const] md.lock is its lock */
	struct list_head all;		/* [lock] in dom->mds */
	u32 pins;			/* [lock] keep the memory, say nothing about use */
	struct lnet_evt last;		/* the UNLINK event, when no completion carries the end */
};

static inline struct lnet_md_full *lnet_md_full(const struct lnet_md *md)
{
	return container_of(md, struct lnet_md_full, md);
}

/* [lock] exhausted: takes no further operation */
static inline bool lnet_md_spent(const struct lnet_md *md)
{
	return md->threshold == 0 ||
	       ((md->options & LNET_MD_MAX_SIZE) && md->offset + md->max_size > md->length);
}

/* md.c. Lock held. One operation starts: threshold and ref. */
void lnet_md_take(struct lnet_md *md);
/* Lock held. The handle is void from now on, the ME lets go (and is freed if it was made so). */
void lnet_md_detach(struct lnet_md *md);
/*
 * Lock held. Unlinks by request; true: lnet_md_end() owes the UNLINK event or the operations must
 * be told.
 */
void lnet_md_abort(struct lnet_md *md);
/*
 * After lnet_md_abort() pinned it, no lock held: tells the operations, or sends the UNLINK event;
 * lets the pin go.
 */
void lnet_md_aborted_finish(struct lnet *ln, struct lnet_md *md);
/*
 * Lock held: queues @e. True: the caller now has the right to deliver, and passes it on by
 * lnet_md_wake() after unlocking.
 */
bool lnet_md_queue(struct lnet_md *md, struct lnet_evt *e);
bool lnet_md_queue_list(struct lnet_md *md, struct list_head *evts);	/* the same of many */
/* @p delivers @md's events at its end */
void lnet_md_wake(struct lnet_pass *p, struct lnet_md *md);
/* Lock held: true if all is over and the caller, after unlocking, calls lnet_md_free(). */
bool lnet_md_gone(struct lnet_md *md);
void lnet_md_free(struct lnet_md *md);		/* NULL is fine */

/* ---- portals --------------------------------------------------------------------------------- */

struct lnet_me {
	struct list_head link;		/* in its bucket */
	struct lnet_portal *portal;
	struct lnet_md *md;		/* NULL: matches nothing */
	u64 cookie, match_bits, ignore_bits;
	struct lnet_process match;
	u8 unlink;			/* enum lnet_unlink: goes with its MD */
	u8 warned;
};

enum lnet_portal_type { LNET_PORTAL_UNTYPED, LNET_PORTAL_UNIQUE, LNET_PORTAL_WILDCARD };

#define LNET_PORTAL_FEW		4	/* buckets of a portal with few MEs */
#define LNET_PORTAL_MANY	256
struct lnet_portal {			/* all [dom.lock] */
	struct lnet_md_dom dom;		/* first */
	u8 type, lazy;
	u32 nr_me, nr_buckets;
	struct list_head ignore;	/* MEs with ignore bits: searched first */
	struct list_head few[LNET_PORTAL_FEW];
	struct list_head *bucket;	/* by match bits: few, or an allocation */
	struct list_head parked;	/* rx in order of arrival */
};

static inline struct lnet_portal *lnet_portal_of(struct lnet_md_dom *dom)
{
	return container_of(dom, struct lnet_portal, dom);
}

/* portal.c */
void lnet_portal_init(struct lnet_portal *portal);
void lnet_portal_fini(struct lnet_portal *portal);	/* frees the MEs */
struct list_head *lnet_portal_bucket(struct lnet_portal *portal, u64 match_bits, u64 ignore_bits);
void lnet_me_free(struct lnet_me *me);			/* [lock] its MD is detached */
/*
 * match.c. Lock held: a fresh MD takes what is parked for it; taken rx go to @taken in order
 * (rx->md NULL: too long).
 */
void lnet_match_parked(struct lnet_portal *portal, struct lnet_me *me, struct list_head *taken);
/* Lock held: takes off what came over @ni (NULL: all), in order. */
void lnet_match_unpark_all(struct lnet_portal *portal, const struct lnet_ni *ni,
			   struct list_head *list);
/* No lock held: gives each of @taken its verdict; those without MD end with @why. */
void lnet_match_tell(struct lnet *ln, struct list_head *taken, enum lnet_outcome why);

#endif
