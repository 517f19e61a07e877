/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Portals and their match entries. The memory of a PUT or GET is found by searching the entries in
 * order. The first entry defines the type of a portal: exact (one NID, all match bits) or wildcard.
 * A PUT without a match is queued if the portal is lazy.
 */
#include <lnet/hash.h>
#include "shard/shard.h"
#include "memory/memory.h"
#include "shard/hooks.h"

#define WAITING_MAX	16U	/* largest number of queued messages that one check compares */
#define BUCKETS		256U	/* number of hash buckets of a portal, selected by match bits */

/* ---- portals and entries --------------------------------------------------------------------- */

int lnet_portal_init(struct lnet_portal *portal)
{
	unsigned int i;

	INIT_LIST_HEAD(&portal->ignore);
	INIT_LIST_HEAD(&portal->lazy_rx);
	portal->bucket = kmalloc_array(BUCKETS, sizeof(*portal->bucket), GFP_NOFS);
	for (i = 0; portal->bucket && i < BUCKETS; i++)
		INIT_LIST_HEAD(&portal->bucket[i]);
	return portal->bucket ? 0 : -ENOMEM;
}

void lnet_portal_fini(struct lnet_portal *portal)
{
	struct lnet_me *me, *next;
	u32 i;

	WARN_ON_ONCE(!list_empty(&portal->lazy_rx));
	list_splice_init(&portal->ignore, &portal->bucket[0]);
	for (i = 0; i < BUCKETS; i++)
		list_for_each_entry_safe(me, next, &portal->bucket[i], link)
			kfree(me);
	kfree(portal->bucket);
}

/* [lock] Returns the list of MEs for these match bits. */
static struct list_head *portal_bucket(struct lnet_portal *portal, u64 match_bits, u64 ignore_bits)
{
	if (ignore_bits)
		return &portal->ignore;
	return &portal->bucket[lnet_hash64(match_bits) % BUCKETS];
}

int lnet_me_attach(struct lnet *ln, u32 portal_ix, const struct lnet_process *match,
		   uint64_t match_bits, uint64_t ignore_bits, enum lnet_unlink unlink,
		   enum lnet_ins_pos pos, lnet_me_t *out)
{
	bool wildcard = ignore_bits || lnet_nid_is_any(&match->nid) || match->pid == LNET_PID_ANY;
	u8 type = wildcard ? LNET_PORTAL_WILDCARD : LNET_PORTAL_UNIQUE;
	struct lnet_portal *portal;
	struct list_head *bucket;
	struct lnet_md_dom *dom;
	struct lnet_me *me;
	int err;

	if (portal_ix >= LNET_PORTALS)
		return -EINVAL;
	dom = lnet_md_dom_get(ln, LNET_MD_BUCKETS + portal_ix);
	me = kzalloc(sizeof(*me), GFP_NOFS);
	if (!dom || !me) {
		kfree(me);
		return -ENOMEM;
	}
	portal = lnet_portal_of(dom);
	me->portal = portal;
	me->match = *match;
	me->match_bits = match_bits;
	me->ignore_bits = ignore_bits;
	me->unlink = unlink;
	err = lnet_md_dom_lock_slot(dom);
	if (!err && portal->type != LNET_PORTAL_UNTYPED && portal->type != type)
		err = -EPERM;
	if (!err) {
		portal->type = type;
		me->cookie = out->cookie = lnet_handle_add(dom, LNET_HANDLE_ME, me);
		bucket = portal_bucket(portal, match_bits, ignore_bits);
		if (pos == LNET_INS_BEFORE)
			list_add(&me->link, bucket);
		else
			list_add_tail(&me->link, bucket);
	}
	spin_unlock(&dom->lock);
	if (err)
		kfree(me);
	return err;
}

void lnet_me_free(struct lnet_me *me)
{
	struct lnet_md_dom *dom = &me->portal->dom;

	lockdep_assert_held(&dom->lock);
	lnet_handle_del(dom, me->cookie);
	list_del(&me->link);
	kfree(me);
}

static struct lnet_portal *portal_at(const struct lnet *ln, u32 ix)
{
	struct lnet_md_dom *dom =
		ix < LNET_PORTALS ? lnet_md_dom_peek(ln, LNET_MD_BUCKETS + ix) : NULL;

	return dom ? lnet_portal_of(dom) : NULL;
}

/* ---- one entry, one message ------------------------------------------------------------------ */

enum fit { FIT_NOT, FIT_TAKEN, FIT_TOO_LONG };

/*
 * True if @me permits the sender of @rx. If @rx is queued on a lazy portal, the function compares
 * only the NID rx->initiator. For a message that is being received, an ME for another NID of the
 * sending peer also fits. A shard is locked at that time, so the NIDs of the peer do not change.
 */
static bool nid_fits(struct lnet_me *me, const struct lnet_rx *rx)
{
	char want[LNET_NIDSTR_SIZE], got[LNET_NIDSTR_SIZE];
	const struct lnet_peer_ni *pni;
	bool fits = false;

	if (lnet_nid_is_any(&me->match.nid) || lnet_nid_same(&me->match.nid, &rx->initiator))
		return true;
	if (rx->lazy_queued)
		return false;
	list_for_each_entry(pni, &rx->src->peer->pnis, link)
		fits |= lnet_nid_same(&pni->nid, &me->match.nid);
	if (fits && !me->warned)
		pr_warn("portal %u: a buffer for %s takes what %s sent, as they are one peer\n",
			rx->portal, lnet_nid_str(&me->match.nid, want),
			lnet_nid_str(&rx->initiator, got));
	me->warned |= fits;
	return fits;
}

static bool me_fits(struct lnet_me *me, const struct lnet_rx *rx)
{
	u32 op_bit = rx->type == LNET_OP_GET ? LNET_MD_OP_GET : LNET_MD_OP_PUT;
	const struct lnet_md *md = me->md;

	if (!md || lnet_md_spent(md) || !(md->options & op_bit))
		return false;
	if ((me->match_bits ^ rx->match_bits) & ~me->ignore_bits)
		return false;
	if (me->match.pid != LNET_PID_ANY && me->match.pid != rx->src_pid)
		return false;
	return nid_fits(me, rx);
}

static enum fit try_me(struct lnet_me *me, struct lnet_rx *rx)
{
	struct lnet_md *md = me->md;
	u64 at, room;

	if (!me_fits(me, rx))
		return FIT_NOT;
	/* as in stock LNet, the limits also apply to offsets that the sender requested */
	at = (md->options & LNET_MD_MANAGE_REMOTE) ? rx->offset : md->offset;
	if (at > md->length)
		return FIT_TOO_LONG;
	room = md->length - at;
	if (md->options & LNET_MD_MAX_SIZE)
		room = min(room, (u64)md->max_size);
	if (rx->rlength > room && !(md->options & LNET_MD_TRUNCATE))
		return FIT_TOO_LONG;
	rx->offset = (u32)at;
	rx->mlength = (u32)min(room, (u64)rx->rlength);
	lnet_md_take(md);
	md->offset += rx->mlength;
	rx->md = md;
	if (md->auto_unlink && lnet_md_spent(md))
		lnet_md_detach(md);
	return FIT_TAKEN;
}

static enum fit search_bucket(struct list_head *bucket, struct lnet_rx *rx)
{
	struct lnet_me *me;
	enum fit fit;

	list_for_each_entry(me, bucket, link) {
		/* with the result FIT_TAKEN, try_me() may have freed the entry */
		fit = try_me(me, rx);
		if (fit != FIT_NOT)
			return fit;
	}
	return FIT_NOT;
}

/* ---- arrival --------------------------------------------------------------------------------- */

enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome *why)
{
	struct lnet_portal *portal = portal_at(p->ln, rx->portal);
	enum lnet_verdict verdict = LNET_SKIP;
	enum fit fit;

	lockdep_assert_held(&p->sh->lock);
	rx->md = NULL;
	rx->lazy_queued = 0;
	rx->mlength = 0;
	rx->initiator = rx->src->peer->primary;
	*why = LNET_NO_MATCH;
	if (!portal)
		return LNET_SKIP;
	spin_lock(&portal->dom.lock);
	fit = search_bucket(&portal->ignore, rx);
	if (fit == FIT_NOT)
		fit = search_bucket(portal_bucket(portal, rx->match_bits, 0), rx);
	if (fit == FIT_TAKEN) {
		verdict = LNET_RECEIVE;
	} else if (fit == FIT_TOO_LONG) {
		*why = LNET_TOO_LONG;
	} else if (portal->lazy && rx->type == LNET_OP_PUT) {
		verdict = LNET_LATER;
		rx->lazy_queued = 1;
		rx->arrived_ns = p->now_ns;
		list_add_tail(&rx->link, &portal->lazy_rx);
		atomic_inc(&p->ln->md_tables->nr_lazy_queued);
	}
	spin_unlock(&portal->dom.lock);
	return verdict;
}

/* ---- messages queued on lazy portals --------------------------------------------------------- */

/* Portal locked. Removes @rx from the portal's queue, and adds it to the end of @list. */
static void unpark(struct lnet_rx *rx, struct list_head *list)
{
	rx->lazy_queued = 0;
	list_move_tail(&rx->link, list);
}

void lnet_match_lazy(struct lnet_portal *portal, struct lnet_me *me, struct list_head *taken)
{
	struct lnet_md *md = me->md;
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &portal->lazy_rx, link) {
		if (md->dead || lnet_md_spent(md))
			return;	/* the MD accepts no request, and @me may already be freed */
		if (try_me(me, rx) != FIT_NOT)
			unpark(rx, taken);
	}
}

/* Does lnet_match_tell() in order, within the pass @p of the caller (one visit of a thread). */
static void rx_notify(struct lnet_pass *p, struct list_head *list, enum lnet_outcome why)
{
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, list, link) {
		list_del_init(&rx->link);
		atomic_dec(&p->ln->md_tables->nr_lazy_queued);
		p->ln->hooks->rx_matched(p, rx, rx->md ? LNET_RECEIVE : LNET_SKIP,
					 rx->md ? LNET_OK : why);
	}
}

void lnet_match_tell(struct lnet *ln, struct list_head *taken, enum lnet_outcome why)
{
	struct lnet_pass p;

	if (list_empty(taken))
		return;
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	rx_notify(&p, taken, why);
	lnet_pass_end(&p);
}

bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx)
{
	struct lnet_portal *portal = portal_at(ln, rx->portal);
	bool lazy_rx;

	spin_lock(&portal->dom.lock);
	lazy_rx = rx->lazy_queued;
	if (lazy_rx) {
		rx->lazy_queued = 0;
		list_del_init(&rx->link);
		atomic_dec(&ln->md_tables->nr_lazy_queued);
	}
	spin_unlock(&portal->dom.lock);
	return lazy_rx;
}

/*
 * Portal locked. Moves requests that @ni received (NULL: any NI) until @until_ns to @list, in
 * order. Returns the arrival time of the oldest request that remains; U64_MAX: none remains.
 */
static u64 unpark_all(struct lnet_portal *portal, const struct lnet_ni *ni, u64 until_ns,
		      struct list_head *list)
{
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &portal->lazy_rx, link) {
		if (rx->arrived_ns > until_ns)
			return rx->arrived_ns;
		if (!ni || rx->ni == ni)
			unpark(rx, list);
	}
	return U64_MAX;
}

/* As unpark_all(), for all portals. */
static u64 unpark_everywhere(struct lnet *ln, const struct lnet_ni *ni, u64 until_ns,
			     struct list_head *list)
{
	struct lnet_portal *portal;
	u64 next_ns = U64_MAX;
	u32 i;

	for (i = 0; i < LNET_PORTALS && atomic_read(&ln->md_tables->nr_lazy_queued); i++) {
		portal = portal_at(ln, i);
		if (!portal)
			continue;
		spin_lock(&portal->dom.lock);
		next_ns = min(next_ns, unpark_all(portal, ni, until_ns, list));
		spin_unlock(&portal->dom.lock);
	}
	return next_ns;
}

void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni)
{
	LIST_HEAD(dropped);

	unpark_everywhere(p->ln, ni, U64_MAX, &dropped);
	rx_notify(p, &dropped, LNET_NO_MATCH);
}

u64 lnet_match_expire(struct lnet_pass *p)
{
	u64 timeout_ns = READ_ONCE(p->ln->tun.transaction_timeout), oldest_ns;
	LIST_HEAD(expired);
	size_t nr;

	oldest_ns = unpark_everywhere(p->ln, NULL, p->now_ns - min(timeout_ns, p->now_ns),
				      &expired);
	nr = list_count_nodes(&expired);
	if (nr) {
		lnet_enter(p, &p->ln->shard[0]);
		lnet_count_add(p->sh, lazy_timeouts, nr);
		lnet_leave(p);
	}
	rx_notify(p, &expired, LNET_NO_MATCH);
	return oldest_ns == U64_MAX ? U64_MAX : oldest_ns + timeout_ns;
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
		unpark_all(lnet_portal_of(dom), NULL, U64_MAX, &dropped);
	spin_unlock(&dom->lock);
	lnet_match_tell(ln, &dropped, LNET_NO_MATCH);
	return 0;
}
/* ---- others that wait for a buffer ----------------------------------------------------------- */

bool lnet_md_is_pooled(const struct lnet_md *md)
{
	struct lnet_md_dom *dom = lnet_md_full(md)->dom;

	return dom->ix >= LNET_MD_BUCKETS && READ_ONCE(lnet_portal_of(dom)->lazy);
}

/*
 * True if messages from interfaces other than rx->from are queued on the portal of @rx, which is
 * lazy.
 */
bool lnet_rx_is_wanted(const struct lnet_rx *rx)
{
	const struct lnet_portal *portal;
	const struct lnet_rx *queued;
	bool others = false;
	u32 nr = 0;

	if (rx->fwd)
		return rx->ni->ln->hooks->forward_rx.is_wanted(rx);
	if (!rx->md || !lnet_md_is_pooled(rx->md) ||
	    !atomic_read(&rx->md->ln->md_tables->nr_lazy_queued))
		return false;
	portal = lnet_portal_of(lnet_md_full(rx->md)->dom);
	spin_lock(rx->md->lock);
	list_for_each_entry(queued, &portal->lazy_rx, link) {
		others = queued->from != rx->from;
		if (others || ++nr == WAITING_MAX)
			break;
	}
	spin_unlock(rx->md->lock);
	return others;
}
