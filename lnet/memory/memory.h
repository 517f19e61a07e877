/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of memory/: memory descriptors, handles, portals, matching, events. */
#ifndef LNET_MEMORY_MEMORY_H
#define LNET_MEMORY_MEMORY_H

#include "model/model.h"

struct lnet_md_dom;
struct lnet_portal;

/* ---- md.c ------------------------------------------------------------------------------------ */
/* The complete MD, from lnet_md_full(). */
struct lnet_md_full {
	struct lnet_md md;		/* first; the part for other folders */
	struct lnet_md_dom *dom;	/* [const] md.lock is its lock */
	struct list_head all;		/* [lock] in dom->mds */
	u32 pins;			/* [lock] keep this structure; not uses of the MD */
	struct lnet_evt last;		/* UNLINK event, if no completion is the last event */
};

/* Accepts NULL. */
void lnet_md_free(struct lnet_md *md);
/* Releases the lock of @md, and frees @md if it has ended. */
void lnet_md_unlock_free(struct lnet_md *md) __releases(md->lock);
/* [lock] An operation starts: takes one of the threshold, and a reference until the last post. */
void lnet_md_take(struct lnet_md *md);
/*
 * For *@nr PUTs or GETs: as lnet_md_take() for each, of an MD that is not attached. *@nr becomes
 * the number that the threshold allows. NULL: invalid handle, or exhausted MD.
 */
struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, unsigned int *nr);
/* For a received ACK or REPLY: takes threshold only. False: @md was aborted, or is exhausted. */
bool lnet_md_use_again(struct lnet_md *md);
/* [lock] Invalidates the handle, and detaches @md from its ME. Frees an ME with LNET_UNLINK. */
void lnet_md_detach(struct lnet_md *md);
/* Undoes one use of lnet_md_use_bound() if the operation was never started. */
void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md);
/* The @len bytes of @md from @offset on. */
static inline struct lnet_buf lnet_md_buf(const struct lnet_md *md, u32 offset, u32 len)
{
	return (struct lnet_buf){ md->frags, md->nr_frags, offset, len };
}

/* True after lnet_md_unlink(). No lock needed. */
bool lnet_md_aborted(const struct lnet_md *md);
/*
 * [any shard] Queues @e for the handler, in order. @last: also drops the operation's reference, and
 * sets e->ev.unlinked if it was the last one of an unlinked MD. For an aborted MD, status 0 becomes
 * -ETIMEDOUT.
 */
void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last);
/* [lock] Unlinks @md on request, and pins it until lnet_md_unpin(). */
void lnet_md_abort(struct lnet_md *md);
/* No lock held. True: the caller must abort all that uses @md. False: unused, UNLINK is queued. */
bool lnet_md_abort_close(struct lnet_pass *p, struct lnet_md *md);
/* No lock held. Drops the pin of lnet_md_abort(), and frees @md if nothing uses it. */
void lnet_md_unpin(struct lnet_md *md);

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
void lnet_md_posts(struct lnet_pass *p);		/* ln->hooks->posts() */

/* ---- handle.c -------------------------------------------------------------------------------- */
/*
 * Bits of a handle: 0..6 the domain + 1, 7 the kind, 8..31 the slot, 32..63 the generation of the
 * slot. As a handle contains its domain, one lock protects the search and the object. Bound MDs are
 * spread over the buckets; an ME and its MD are in the domain of their portal. A domain is created
 * at first use, and freed with the instance.
 */
#define LNET_MD_BUCKETS		16
#define LNET_MD_DOMS		(LNET_MD_BUCKETS + LNET_PORTALS)
#define LNET_HANDLE_LEVELS	18	/* level n: 8 << n slots; 2 million per domain */

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
	u32 fresh, free;		/* [lock] first unused slot; head of the free list + 1 */
	struct lnet_handle_slot *level[LNET_HANDLE_LEVELS];
	struct list_head mds;		/* [lock] struct lnet_md_full.all, until freed */
};

struct lnet_md_tables {
	struct lnet_md_dom *dom[LNET_MD_DOMS];	/* buckets, then portals; set once */
	atomic_t turn;			/* next bucket */
	atomic_t nr_lazy_queued;	/* requests queued on all lazy portals */
};

/* The domain with this index; NULL: not created yet. */
struct lnet_md_dom *lnet_md_dom_peek(const struct lnet *ln, unsigned int ix);
/* The domain with this index, created if necessary. May sleep. NULL: no memory. */
struct lnet_md_dom *lnet_md_dom_get(struct lnet *ln, unsigned int ix);
/* The domain of a handle. NULL: there is none yet, or the handle has another kind. */
struct lnet_md_dom *lnet_handle_dom(const struct lnet *ln, u64 cookie, enum lnet_handle_kind kind);
/* May sleep, then locks @dom in any case. 0: lnet_handle_add() has a slot; -ENOMEM: it has none. */
int lnet_md_dom_lock_slot(struct lnet_md_dom *dom) __acquires(&dom->lock);
/* Allocates a slot for @obj. Returns the handle. */
u64 lnet_handle_add(struct lnet_md_dom *dom, enum lnet_handle_kind kind, void *obj)
	__must_hold(&dom->lock);
/* Frees the slot. The handle is stale from now on. */
void lnet_handle_del(struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);
/* The object of a handle; NULL: the handle is stale. */
void *lnet_handle_find(const struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);
/* 0, -ENOMEM */
int lnet_md_tables_init(struct lnet *ln);
/* To be called after all operations have ended. Frees all MDs and MEs, without events. */
void lnet_md_tables_fini(struct lnet *ln);

/* ---- match.c --------------------------------------------------------------------------------- */
struct lnet_me {
	struct list_head link;		/* in its bucket */
	struct lnet_portal *portal;
	struct lnet_md *md;		/* NULL: matches nothing */
	u64 cookie, match_bits, ignore_bits;
	struct lnet_process match;
	u8 unlink;			/* enum lnet_unlink; LNET_UNLINK: freed with its MD */
	u8 warned;
};

enum lnet_portal_type { LNET_PORTAL_UNTYPED, LNET_PORTAL_UNIQUE, LNET_PORTAL_WILDCARD };

struct lnet_portal {			/* all [dom.lock] */
	struct lnet_md_dom dom;		/* first */
	u8 type, lazy;
	struct list_head ignore;	/* MEs with ignore bits: searched first */
	struct list_head *bucket;	/* the others, by match bits */
	struct list_head lazy_rx;	/* queued rx, in order of arrival */
};

/* Initializes an empty portal. 0, -ENOMEM */
int lnet_portal_init(struct lnet_portal *portal);
/* Frees the MEs and the buckets. */
void lnet_portal_fini(struct lnet_portal *portal);
/* [lock] Frees @me, whose MD is detached. */
void lnet_me_free(struct lnet_me *me);

static inline struct lnet_portal *lnet_portal_of(struct lnet_md_dom *dom)
{
	return container_of(dom, struct lnet_portal, dom);
}

/*
 * [any sh: the NIDs of a peer change only with all shards locked] Finds the memory of a PUT or GET.
 * Compares rx->{type,portal,match_bits,rlength,offset,src_pid}, and the primary NID of the peer,
 * which becomes rx->initiator. RECEIVE: sets rx->md (reference and threshold taken), rx->offset and
 * rx->mlength. SKIP: *@why is LNET_NO_MATCH or LNET_TOO_LONG. LATER: @rx is queued on the lazy
 * portal (rx->link).
 */
enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome *why);
/* [lock] Moves queued requests that fit @me to @taken, in order; without rx->md if too long. */
void lnet_match_lazy(struct lnet_portal *portal, struct lnet_me *me, struct list_head *taken);
/* No lock held. Passes its verdict to each request of @taken; those without MD end with @why. */
void lnet_match_tell(struct lnet *ln, struct list_head *taken, enum lnet_outcome why);
/* Removes a queued @rx from its portal. False: it was matched meanwhile. */
bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx);
/* No lock held. Drops the queued requests that @ni received (NULL: all). */
void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni);
/* No lock held. Drops requests queued for transaction_timeout. Returns when to call it again. */
u64 lnet_match_expire(struct lnet_pass *p);
/* True if the portal of @md is lazy: all peers share its buffers. */
bool lnet_md_is_pooled(const struct lnet_md *md);

/* ---- event.c --------------------------------------------------------------------------------- */
/* [lock] As lnet_md_queue(), for a list of events. */
bool lnet_md_queue_list(struct lnet_md *md, struct list_head *evts);
/* [lock] Queues @e. True: the caller adds @md to p->ready, after it has released the lock. */
bool lnet_md_queue(struct lnet_md *md, struct lnet_evt *e);
/* ln->hooks->take_ready(), deliver(), hand_over() */
void lnet_md_take_ready(struct lnet_pass *p);
void lnet_md_deliver(struct lnet_pass *p);
void lnet_md_hand_over(struct lnet_pass *p);

#endif
