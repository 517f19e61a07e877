/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the memory of a PUT or GET, queues PUTs on lazy portals, and checks whether others wait for
 * the buffer of a message that is being received.
 */
#include "shard/shard.h"
#include "memory/memory.h"
#include "shard/hooks.h"

#define WAITING_MAX	16U	/* most queued messages that one check compares */

static struct lnet_portal *portal_at(const struct lnet *ln, u32 ix)
{
	struct lnet_md_dom *dom =
		ix < LNET_PORTALS ? lnet_md_dom_peek(ln, LNET_MD_BUCKETS + ix) : NULL;

	return dom ? lnet_portal_of(dom) : NULL;
}

/* ---- one entry, one message ------------------------------------------------------------------ */

enum fit { FIT_NOT, FIT_TAKEN, FIT_TOO_LONG };

/*
 * An ME for another NID of the same peer also matches, but only on arrival of the message: then a
 * shard is locked, so the NIDs of the peer do not change. A queued message has only rx->initiator.
 */
static bool nid_fits(struct lnet_me *me, const struct lnet_rx *rx)
{
	char want[LNET_NIDSTR_SIZE], got[LNET_NIDSTR_SIZE];
	const struct lnet_peer_ni *pni;
	bool fits = false;

	if (lnet_nid_is_any(&me->match.nid) || lnet_nid_same(&me->match.nid, &rx->initiator))
		return true;
	if (rx->parked)
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

/*
 * Computes the offset in @md and the length of the part to receive; behaviour.md 1.8 step 5. The
 * limits also apply to remote offsets. False: the message is too long.
 */
static bool place(const struct lnet_md *md, const struct lnet_rx *rx, u32 *offset, u32 *len)
{
	u64 at = (md->options & LNET_MD_MANAGE_REMOTE) ? rx->offset : md->offset;
	u64 room;

	if (at > md->length)
		return false;
	room = md->length - at;
	if (md->options & LNET_MD_MAX_SIZE)
		room = min(room, (u64)md->max_size);
	if (rx->rlength > room && !(md->options & LNET_MD_TRUNCATE))
		return false;
	*offset = (u32)at;
	*len = (u32)min(room, (u64)rx->rlength);
	return true;
}

static enum fit try_me(struct lnet_me *me, struct lnet_rx *rx)
{
	struct lnet_md *md = me->md;

	if (!me_fits(me, rx))
		return FIT_NOT;
	if (!place(md, rx, &rx->offset, &rx->mlength))
		return FIT_TOO_LONG;
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
		fit = try_me(me, rx);		/* FIT_TAKEN may have freed the entry */
		if (fit != FIT_NOT)
			return fit;
	}
	return FIT_NOT;
}

/* ---- arrival --------------------------------------------------------------------------------- */

/* Portal locked. */
static enum lnet_verdict decide(struct lnet_pass *p, struct lnet_portal *portal, struct lnet_rx *rx,
				enum lnet_outcome *why)
{
	enum fit fit = search_bucket(&portal->ignore, rx);

	if (fit == FIT_NOT)
		fit = search_bucket(lnet_portal_bucket(portal, rx->match_bits, 0), rx);
	if (fit == FIT_TAKEN)
		return LNET_LAND;
	if (fit == FIT_NOT && portal->lazy && rx->type == LNET_OP_PUT) {
		rx->parked = 1;
		rx->arrived_ns = p->now_ns;
		list_add_tail(&rx->link, &portal->parked);
		atomic_inc(&p->ln->md_tables->nr_parked);
		return LNET_LATER;
	}
	*why = fit == FIT_TOO_LONG ? LNET_TOO_LONG : LNET_NO_MATCH;
	return LNET_SKIP;
}

enum lnet_verdict lnet_match(struct lnet_pass *p, struct lnet_rx *rx, enum lnet_outcome *why)
{
	struct lnet_portal *portal = portal_at(p->ln, rx->portal);
	enum lnet_verdict verdict = LNET_SKIP;

	lockdep_assert_held(&p->sh->lock);
	rx->md = NULL;
	rx->parked = 0;
	rx->mlength = 0;
	rx->initiator = rx->src->peer->primary;
	*why = LNET_NO_MATCH;
	if (portal) {
		spin_lock(&portal->dom.lock);
		verdict = decide(p, portal, rx, why);
		spin_unlock(&portal->dom.lock);
	}
	return verdict;
}

/* ---- messages queued on lazy portals --------------------------------------------------------- */

/* Portal locked. Moves @rx from the portal to the end of @list. */
static void unpark(struct lnet_rx *rx, struct list_head *list)
{
	rx->parked = 0;
	list_move_tail(&rx->link, list);
}

void lnet_match_parked(struct lnet_portal *portal, struct lnet_me *me, struct list_head *taken)
{
	struct lnet_md *md = me->md;
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &portal->parked, link) {
		if (md->dead || lnet_md_spent(md))
			return;		/* and @me may be freed */
		if (try_me(me, rx) != FIT_NOT)
			unpark(rx, taken);
	}
}

void lnet_match_unpark_all(struct lnet_portal *portal, const struct lnet_ni *ni,
			   struct list_head *list)
{
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, &portal->parked, link)
		if (!ni || rx->ni == ni)
			unpark(rx, list);
}

/* As lnet_match_tell(), in an existing pass, and in order. */
static void tell(struct lnet_pass *p, struct list_head *list, enum lnet_outcome why)
{
	struct lnet_rx *rx, *next;

	list_for_each_entry_safe(rx, next, list, link) {
		list_del_init(&rx->link);
		atomic_dec(&p->ln->md_tables->nr_parked);
		p->ln->hooks->rx_matched(p, rx, rx->md ? LNET_LAND : LNET_SKIP,
					 rx->md ? LNET_OK : why);
	}
}

void lnet_match_tell(struct lnet *ln, struct list_head *taken, enum lnet_outcome why)
{
	struct lnet_pass p;

	if (list_empty(taken))
		return;
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	tell(&p, taken, why);
	lnet_pass_end(&p);
}

bool lnet_match_unpark(struct lnet *ln, struct lnet_rx *rx)
{
	struct lnet_portal *portal = portal_at(ln, rx->portal);
	bool parked;

	if (!portal)
		return false;
	spin_lock(&portal->dom.lock);
	parked = rx->parked;
	if (parked) {
		rx->parked = 0;
		list_del_init(&rx->link);
		atomic_dec(&ln->md_tables->nr_parked);
	}
	spin_unlock(&portal->dom.lock);
	return parked;
}

void lnet_match_drop_ni(struct lnet_pass *p, struct lnet_ni *ni)
{
	struct lnet_portal *portal;
	LIST_HEAD(dropped);
	u32 i;

	for (i = 0; i < LNET_PORTALS && atomic_read(&p->ln->md_tables->nr_parked); i++) {
		portal = portal_at(p->ln, i);
		if (!portal)
			continue;
		spin_lock(&portal->dom.lock);
		lnet_match_unpark_all(portal, ni, &dropped);
		spin_unlock(&portal->dom.lock);
		tell(p, &dropped, LNET_NO_MATCH);
	}
}

/* Moves those that waited for @timeout_ns or longer to @expired; returns when the next is due. */
static u64 portal_expire(struct lnet_portal *portal, u64 now_ns, u64 timeout_ns,
			 struct list_head *expired)
{
	u64 next_ns = U64_MAX;
	struct lnet_rx *rx, *n;

	spin_lock(&portal->dom.lock);
	list_for_each_entry_safe(rx, n, &portal->parked, link) {
		if (rx->arrived_ns + timeout_ns > now_ns) {
			next_ns = rx->arrived_ns + timeout_ns;
			break;
		}
		unpark(rx, expired);
	}
	spin_unlock(&portal->dom.lock);
	return next_ns;
}

u64 lnet_match_expire(struct lnet_pass *p)
{
	u64 timeout_ns = READ_ONCE(p->ln->tun.transaction_timeout);
	struct lnet_portal *portal;
	u64 next_ns = U64_MAX;
	LIST_HEAD(expired);
	size_t nr;
	u32 i;

	for (i = 0; i < LNET_PORTALS && atomic_read(&p->ln->md_tables->nr_parked); i++) {
		portal = portal_at(p->ln, i);
		if (!portal)
			continue;
		next_ns = min(next_ns, portal_expire(portal, p->now_ns, timeout_ns, &expired));
		nr = list_count_nodes(&expired);
		if (nr) {
			lnet_enter(p, &p->ln->shard[0]);
			lnet_count_add(p->sh, park_timeouts, nr);
			lnet_leave(p);
		}
		tell(p, &expired, LNET_NO_MATCH);
	}
	return next_ns;
}

/* ---- others that wait for a buffer ----------------------------------------------------------- */

static const struct lnet_portal *lazy_portal_of(const struct lnet_md *md)
{
	struct lnet_md_dom *dom = lnet_md_full(md)->dom;

	if (dom->ix < LNET_MD_BUCKETS || !READ_ONCE(lnet_portal_of(dom)->lazy))
		return NULL;
	return lnet_portal_of(dom);
}

bool lnet_md_is_pooled(const struct lnet_md *md)
{
	return lazy_portal_of(md);
}

/* True if messages from interfaces other than rx->from are queued on the lazy portal of @rx. */
bool lnet_rx_is_wanted(const struct lnet_rx *rx)
{
	const struct lnet_portal *portal = rx->md ? lazy_portal_of(rx->md) : NULL;
	const struct lnet_rx *queued;
	bool others = false;
	u32 nr = 0;

	if (rx->fwd)
		return rx->ni->ln->hooks->forward_rx.is_wanted(rx);
	if (!portal || !atomic_read(&rx->md->ln->md_tables->nr_parked))
		return false;
	spin_lock(rx->md->lock);
	list_for_each_entry(queued, &portal->parked, link) {
		others = queued->from != rx->from;
		if (others || ++nr == WAITING_MAX)
			break;
	}
	spin_unlock(rx->md->lock);
	return others;
}
