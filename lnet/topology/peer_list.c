/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The list of all peers, and walks over it that permit changes of the list meanwhile. Also the NIDs
 * of a ping info.
 */
#include "base/base.h"
#include "shard/shard.h"
#include "topology/topology.h"

/*
 * maximum number of peers that a walk visits while it has the lock; a low number hardly delays
 * messages
 */
#define PEERS_PER_HOLD	16U

/* [nid_lock] Returns the first peer whose @seq is above the parameter @seq; NULL: none. */
static struct lnet_peer *first_after(struct lnet *ln, u64 seq)
{
	struct lnet_peer *peer;

	list_for_each_entry(peer, &ln->peers, link)
		if (peer->seq > seq)
			return peer;
	return NULL;
}

/* [nid_lock] Returns the peer after @prev; @prev NULL: the first peer. NULL: no further peer. */
static struct lnet_peer *next_of(struct lnet *ln, struct lnet_peer *prev)
{
	if (!prev || list_empty(&prev->link))
		return first_after(ln, prev ? prev->seq : 0);
	return list_is_last(&prev->link, &ln->peers) ? NULL : list_next_entry(prev, link);
}

struct lnet_peer *lnet_peer_next(struct lnet *ln, struct lnet_peer *prev)
{
	struct lnet_peer *next;

	spin_lock(&ln->nid_lock);
	next = next_of(ln, prev);
	if (next)
		lnet_peer_get(next);
	spin_unlock(&ln->nid_lock);
	lnet_peer_put(prev);
	return next;
}

/*
 * Takes references to the next peers after @prev, and stores them in @batch. Returns their number.
 */
static unsigned int batch_get(struct lnet *ln, struct lnet_peer *prev,
			      struct lnet_peer *batch[PEERS_PER_HOLD])
{
	struct lnet_peer *peer;
	unsigned int nr = 0;

	spin_lock(&ln->nid_lock);
	for (peer = next_of(ln, prev); peer && nr < PEERS_PER_HOLD; peer = next_of(ln, peer)) {
		lnet_peer_get(peer);
		batch[nr++] = peer;
	}
	spin_unlock(&ln->nid_lock);
	return nr;
}

struct lnet_peer *lnet_peer_find(struct lnet *ln, struct lnet_peer *prev,
				 bool (*is)(struct lnet_peer *peer, void *arg), void *arg)
{
	struct lnet_peer *batch[PEERS_PER_HOLD], *found = NULL;
	struct lnet_shard *sh;
	unsigned int nr, i;

	while (!found && (nr = batch_get(ln, prev, batch))) {
		lnet_peer_put(prev);
		/* Adjacent peers of one shard are visited without releasing its lock. */
		for (i = 0; i < nr && !found;) {
			sh = batch[i]->sh;
			spin_lock(&sh->lock);
			for (; i < nr && batch[i]->sh == sh && !found; i++)
				found = is(batch[i], arg) ? batch[i] : NULL;
			spin_unlock(&sh->lock);
		}
		prev = found ? NULL : batch[nr - 1];
		for (i = 0; i < nr; i++)
			if (batch[i] != found && batch[i] != prev)
				lnet_peer_put(batch[i]);
	}
	lnet_peer_put(prev);
	return found;
}

void lnet_peers_walk(struct lnet_pass *p,
		     void (*fn)(struct lnet_pass *p, struct lnet_peer *peer, void *arg), void *arg)
{
	struct lnet_peer *peer;

	for (peer = lnet_peer_next(p->ln, NULL); peer; peer = lnet_peer_next(p->ln, peer)) {
		lnet_enter(p, peer->sh);
		fn(p, peer, arg);
		lnet_leave(p);
	}
}

void lnet_peer_place(struct lnet *ln, u64 seq, const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer *peer, *next;
	struct lnet_peer_ni *pni;
	unsigned int i;

	mutex_lock(&ln->cfg_mutex);
	peer = nr ? lnet_peer_owner(ln, &nids[0]) : NULL;
	if (!peer)
		goto unlock;
	spin_lock(&peer->sh->lock);
	for (i = 0; i < nr; i++)
		list_for_each_entry(pni, &peer->pnis, link)
			if (lnet_nid_same(&pni->nid, &nids[i])) {
				list_move_tail(&pni->link, &peer->pnis);
				break;
			}
	spin_unlock(&peer->sh->lock);
	spin_lock(&ln->nid_lock);
	/*
	 * The list must stay sorted by @seq: if the current peer of a walk is unlisted, the walk
	 * continues by its @seq.
	 */
	next = first_after(ln, seq - 1);
	if (!list_empty(&peer->link) && next && next->seq != seq) {
		peer->seq = seq;
		if (next != peer)
			list_move_tail(&peer->link, &next->link);
	}
	spin_unlock(&ln->nid_lock);
	lnet_peer_put(peer);
unlock:
	mutex_unlock(&ln->cfg_mutex);
}

/* ---- the NIDs of a ping info, in a hash with the secret key ---------------------------------- */

/* Returns the slot of @nid in the hash table, or the free slot at the end of its chain. */
static u16 *listing_slot(const struct lnet *ln, struct lnet_listing *l, const struct lnet_nid *nid)
{
	u64 at = lnet_nid_keyed(ln, nid);
	u16 *slot;

	static_assert(LNET_LISTING_SLOTS >= 2 * LNET_LISTED_MAX);	/* some slots are free */
	do {
		slot = &l->slot[at++ % LNET_LISTING_SLOTS];
	} while (*slot && !lnet_nid_same(&l->nis[*slot - 1].nid, nid));
	return slot;
}

const struct lnet_pinginfo_ni *lnet_listing_find(const struct lnet *ln, struct lnet_listing *l,
						 const struct lnet_nid *nid)
{
	u16 slot = *listing_slot(ln, l, nid);

	return slot ? &l->nis[slot - 1] : NULL;
}

void lnet_listing_fill(const struct lnet *ln, struct lnet_listing *l, unsigned int nr)
{
	unsigned int i;
	u16 *slot;

	for (i = 0; i < nr; i++) {
		slot = listing_slot(ln, l, &l->nis[i].nid);
		if (!*slot)
			*slot = i + 1;
	}
}
