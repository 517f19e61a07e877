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
	struct lnet_md md;		/* first member; other folders use only this part */
	struct lnet_md_dom *dom;	/* [const] md.lock is its lock */
	struct list_head all;		/* [lock] in dom->mds */
	/*
	 * [lock] number of pins, which keep this structure in memory; they are not uses of the MD
	 */
	u32 pins;
	/* UNLINK event, used if no completion is the last event of the MD */
	struct lnet_evt last;
};

/* Accepts NULL. */
void lnet_md_free(struct lnet_md *md);
/* Unlocks @md, and frees it if it has ended. */
void lnet_md_unlock_free(struct lnet_md *md) __releases(md->lock);
/*
 * [lock] An operation with @md starts: takes 1 from the threshold, and a reference that the last
 * event of the operation drops.
 */
void lnet_md_take(struct lnet_md *md);
/*
 * Does lnet_md_take() for each of *@nr PUTs or GETs of this node. The MD must not be attached. *@nr
 * becomes the number that the threshold allows. NULL: the handle is invalid, or the MD is
 * exhausted.
 */
struct lnet_md *lnet_md_use_bound(struct lnet *ln, lnet_md_t h, unsigned int *nr);
/*
 * Takes 1 from the threshold for a received ACK or REPLY. False: @md was aborted, or is exhausted.
 */
bool lnet_md_use_again(struct lnet_md *md);
/*
 * [lock] Invalidates the handle of @md, and detaches @md from its ME. Frees the ME if it has
 * LNET_UNLINK.
 */
void lnet_md_detach(struct lnet_md *md);
/* Undoes one use of lnet_md_use_bound(), for an operation that was never started. */
void lnet_md_unuse(struct lnet_pass *p, struct lnet_md *md);
/* Returns a buffer for @len bytes of @md from byte @offset on. */
static inline struct lnet_buf lnet_md_buf(const struct lnet_md *md, u32 offset, u32 len)
{
	return (struct lnet_buf){ md->frags, md->nr_frags, offset, len };
}

/* True if lnet_md_unlink() was called for @md. No lock needed. */
bool lnet_md_aborted(const struct lnet_md *md);
/*
 * [any shard] Queues @e for the handler, in order. @last: also drops the operation's reference to
 * the MD. If that was the last reference to an unlinked MD, sets e->ev.unlinked. If the MD was
 * aborted, status 0 becomes -ETIMEDOUT.
 */
void lnet_md_post(struct lnet_pass *p, struct lnet_md *md, struct lnet_evt *e, bool last);
/* [lock] Unlinks @md because the program requests it, and pins it until lnet_md_unpin(). */
void lnet_md_abort(struct lnet_md *md);
/*
 * True: the caller must abort everything that uses @md. False: nothing uses @md, and its UNLINK
 * event is queued. No lock held.
 */
bool lnet_md_abort_close(struct lnet_pass *p, struct lnet_md *md);
/* Drops the pin of lnet_md_abort(), and frees @md if nothing uses it. No lock held. */
void lnet_md_unpin(struct lnet_md *md);

static inline struct lnet_md_full *lnet_md_full(const struct lnet_md *md)
{
	return container_of(md, struct lnet_md_full, md);
}

/* [lock] True if @md is exhausted and accepts no further operation. */
static inline bool lnet_md_spent(const struct lnet_md *md)
{
	return md->threshold == 0 ||
	       ((md->options & LNET_MD_MAX_SIZE) && md->offset + md->max_size > md->length);
}
void lnet_md_posts(struct lnet_pass *p);		/* ln->hooks->posts() */

/* ---- handle.c -------------------------------------------------------------------------------- */
/*
 * Bits of a handle: 0..6 the domain + 1, 7 the kind, 8..31 the slot, 32..63 the generation of the
 * slot. A domain is a set of objects with one lock. Its objects are either the MEs of a portal with
 * their MDs, or a part of the bound MDs. The bound MDs are distributed among LNET_MD_BUCKETS
 * domains, called buckets. A handle contains its domain, so one lock protects both the look-up and
 * the object. A domain is created at its first use, and freed with the instance.
 */
#define LNET_MD_BUCKETS		16
#define LNET_MD_DOMS		(LNET_MD_BUCKETS + LNET_PORTALS)
/* slots in levels: level n has 8 << n slots; a domain has up to 2 million */
#define LNET_HANDLE_LEVELS	18

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
	/* [lock] @fresh: first slot that was never used; @free: index of the first free slot + 1 */
	u32 fresh, free;
	struct lnet_handle_slot *level[LNET_HANDLE_LEVELS];
	struct list_head mds;		/* [lock] struct lnet_md_full.all, until freed */
};

struct lnet_md_tables {
	struct lnet_md_dom *dom[LNET_MD_DOMS];	/* buckets, then portals; set once */
	atomic_t turn;			/* next bucket */
	atomic_t nr_lazy_queued;	/* number of requests that are queued on all lazy portals */
};

/* Returns the domain with this index; NULL: not created yet. */
struct lnet_md_dom *lnet_md_dom_peek(const struct lnet *ln, unsigned int ix);
/* Returns the domain with this index, and creates it if necessary. May sleep. NULL: no memory. */
struct lnet_md_dom *lnet_md_dom_get(struct lnet *ln, unsigned int ix);
/*
 * Returns the domain of a handle. NULL: the domain does not exist yet, or the handle has another
 * kind.
 */
struct lnet_md_dom *lnet_handle_dom(const struct lnet *ln, u64 cookie, enum lnet_handle_kind kind);
/*
 * Locks @dom in any case, and allocates a slot for lnet_handle_add(). May sleep before it locks.
 * Returns 0, or -ENOMEM: there is no slot.
 */
int lnet_md_dom_lock_slot(struct lnet_md_dom *dom) __acquires(&dom->lock);
/* Uses a slot for @obj, and returns the handle. */
u64 lnet_handle_add(struct lnet_md_dom *dom, enum lnet_handle_kind kind, void *obj)
	__must_hold(&dom->lock);
/* Frees the slot of a handle. The handle is stale from now on. */
void lnet_handle_del(struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);
/* Returns the object of a handle; NULL: the handle is stale. */
void *lnet_handle_find(const struct lnet_md_dom *dom, u64 cookie) __must_hold(&dom->lock);
/* 0, -ENOMEM */
int lnet_md_tables_init(struct lnet *ln);
/* Frees all MDs and MEs, without events. All operations have ended. */
void lnet_md_tables_fini(struct lnet *ln);

/* ---- match.c --------------------------------------------------------------------------------- */
struct lnet_me {
	struct list_head link;		/* in its bucket */
	struct lnet_portal *portal;
	struct lnet_md *md;		/* NULL: matches nothing */
	u64 cookie, match_bits, ignore_bits;
	struct lnet_process match;
	u8 unlink;	/* enum lnet_unlink; LNET_UNLINK: the ME is freed together with its MD */
	u8 warned;
};

enum lnet_portal_type { LNET_PORTAL_UNTYPED, LNET_PORTAL_UNIQUE, LNET_PORTAL_WILDCARD };

struct lnet_portal {			/* all [dom.lock] */
	struct lnet_md_dom dom;		/* first */
	u8 type, lazy;
	/* MEs with ignore bits; each message is compared with these before the others */
	struct list_head ignore;
	struct list_head *bucket;	/* the others, by match bits */
	/* messages (rx) queued on the lazy portal, in order of arrival */
	struct list_head lazy_rx;
};

/* Initializes an empty portal. Returns 0 or -ENOMEM. */
int lnet_portal_init(struct lnet_portal *portal);
/* Frees the MEs and the hash buckets of a portal. */
void lnet_portal_fini(struct lnet_portal *portal);
/* [lock] Frees @me, whose MD is detached. */
void lnet_me_free(struct lnet_me *me);

static inline struct lnet_portal *lnet_portal_of(struct lnet_md_dom *dom)
{
	return container_of(dom, struct lnet_portal, dom);
}

/*
 * [any shard, because the NIDs of a peer change only with all shards locked] Finds the memory of
 * the PUT or GET @rx among the match entries of its portal. Sets rx->initiator to the primary NID
 * of the sending peer. The match depends on rx->initiator and
 * rx->{type,portal,match_bits,rlength,offset,src_pid}.
 *
 * LNET_RECEIVE: an entry matches. The function has set rx->md (reference and threshold taken),
 * rx->offset and rx->mlength.
 *
 * LNET_SKIP: no entry accepts @rx. The function has set *@why to LNET_NO_MATCH or LNET_TOO_LONG.
 *
 * LNET_LATER: the function has queued @rx on the lazy portal (rx->link).
 */
enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome *why);
/*
 * [lock] Moves queued requests that fit @me to @taken, in order. If a request is too long, its
 * rx->md is not set.
 */
void lnet_match_lazy(struct lnet_portal *portal, struct lnet_me *me, struct list_head *taken);
/*
 * No lock held. Passes a verdict for each request of @taken to lnet/receive/: LNET_RECEIVE if
 * rx->md is set, else LNET_SKIP. Requests without rx->md end with the outcome @why.
 */
void lnet_match_tell(struct lnet *ln, struct list_head *taken, enum lnet_outcome why);
/*
 * Removes the queued message @rx from its portal. False: another thread has matched @rx meanwhile.
 */
bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx);
/* Drops the queued requests that @ni received; NULL: those of all NIs. No lock held. */
void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni);
/*
 * No lock held. Drops each request that has been queued on a lazy portal for at least the time
 * transaction_timeout. Returns the time of the next call.
 */
u64 lnet_match_expire(struct lnet_pass *p);
/* True if the portal of @md is lazy, so that messages of all peers use its buffers. */
bool lnet_md_is_pooled(const struct lnet_md *md);

/* ---- event.c --------------------------------------------------------------------------------- */
/* [lock] Does lnet_md_queue() for a list of events. */
bool lnet_md_queue_list(struct lnet_md *md, struct list_head *evts);
/* [lock] Queues the event @e. True: the caller unlocks @md and then adds it to p->ready. */
bool lnet_md_queue(struct lnet_md *md, struct lnet_evt *e);
/* ln->hooks->take_ready(), deliver(), hand_over() */
void lnet_md_take_ready(struct lnet_pass *p);
void lnet_md_deliver(struct lnet_pass *p);
void lnet_md_hand_over(struct lnet_pass *p);

#endif
