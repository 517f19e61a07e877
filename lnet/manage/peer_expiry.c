/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Expires dynamically created peers that are not in use. Such a peer expires if nothing was
 * received from it for peer_age. If the node is near peers_max, any such peer expires.
 */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"
#include "manage/manage.h"

#define SLICE		128U		/* peers that the worker visits in one slice */
#define PAUSE_NS	((u64)NSEC_PER_MSEC)		/* pause between two slices of a walk */
#define SOON_NS		(100 * (u64)NSEC_PER_MSEC)
/* longest interval between two walks, and so the longest delay until a changed peer_age applies */
#define PERIOD_MAX_NS	(60 * (u64)NSEC_PER_SEC)

/* Returns the interval of walks over all peers. */
static u64 period_ns(const struct lnet *ln)
{
	u64 age_ns = READ_ONCE(ln->tun.peer_age);

	return age_ns ? clamp(age_ns / 4, SOON_NS, PERIOD_MAX_NS) : PERIOD_MAX_NS;
}

/*
 * True if the node has more than 7/8 of peers_max. Peers then expire early, so that new peers need
 * not be rejected.
 */
static bool is_crowded(const struct lnet *ln)
{
	u64 most = READ_ONCE(ln->tun.peers_max);

	return READ_ONCE(ln->nr_peers) > most - most / 8;
}

static bool made_by_traffic(const struct lnet_peer *peer)
{
	return !peer->configured && !lnet_nid_is_lo(&peer->primary);
}

/*
 * [sh] Returns the latest of three times: the last message from @peer, the last progress on its
 * paths, and the creation of @peer.
 */
static u64 heard_ns(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;
	u64 ns = peer->made_ns;

	list_for_each_entry(pni, &peer->pnis, link) {
		ns = max(ns, pni->last_rx_ns);
		list_for_each_entry(path, &pni->paths, link)
			ns = max(ns, path->liveness_ns);
	}
	return ns;
}

/*
 * cfg_mutex held; @peer is referenced. Expires @peer if it is due. Otherwise the function pings
 * @peer if a bound excluded NIDs of its ping info, and the bound now permits them.
 */
static void peer_check_expiry(struct lnet_pass *p, struct lnet_peer *peer)
{
	u64 age_ns = READ_ONCE(p->ln->tun.peer_age);
	bool gone = false;

	lnet_enter(p, peer->sh);
	if (is_crowded(p->ln) || (age_ns && p->now_ns >= heard_ns(peer) + age_ns)) {
		gone = lnet_peer_unlist_unused(peer, 1);
		if (gone)
			lnet_count(p->sh, peers_expired);
	}
	if (!gone && peer->disc.full && lnet_merge_has_room(peer)) {
		lnet_disc_doubt(p, &peer->disc);
		lnet_disc_step(p, peer);
	}
	lnet_leave(p);
	if (gone)
		lnet_peer_drop(peer);
}

/*
 * cfg_mutex held. Visits one slice of the peers. Returns when to continue; U64_MAX: the walk is
 * complete.
 */
static u64 expiry_walk(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	struct lnet_peer *peer = ln->expiry_at ? ln->expiry_at : lnet_peer_next(ln, NULL), *next;
	unsigned int nr = 0;

	for (; peer && nr < SLICE; peer = next, nr++) {
		lnet_peer_get(peer);
		next = lnet_peer_next(ln, peer);
		if (made_by_traffic(peer)) {
			ln->expiry_left = 1;
			peer_check_expiry(p, peer);
		}
		lnet_peer_put(peer);
	}
	ln->expiry_at = peer;
	if (peer)
		return p->now_ns + PAUSE_NS;
	if (!ln->expiry_left)
		return U64_MAX;
	ln->expiry_left = 0;
	return p->now_ns + (is_crowded(ln) ? SOON_NS : period_ns(ln));
}

/*
 * Only tries to lock cfg_mutex. The holder of the mutex may be a caller of this function, or may be
 * waiting for the worker.
 */
void lnet_expiry_work(struct lnet_pass *p)
{
	struct lnet *ln = p->ln;
	u64 next_ns = p->now_ns + SOON_NS;

	if (p->now_ns < READ_ONCE(ln->expiry_ns))
		return;
	WRITE_ONCE(ln->expiry_ns, U64_MAX);
	if (READ_ONCE(ln->stopping))
		return;
	if (mutex_trylock(&ln->cfg_mutex)) {
		next_ns = expiry_walk(p);
		mutex_unlock(&ln->cfg_mutex);
	}
	if (next_ns != U64_MAX)
		lnet_job_schedule(ln, &ln->expiry_ns, next_ns);
}

void lnet_expiry_peer_made(struct lnet *ln)
{
	u64 now_ns = ln->env->ops->now_ns(ln->env);

	lnet_job_schedule(ln, &ln->expiry_ns, now_ns + (is_crowded(ln) ? 0 : period_ns(ln)));
}

/*
 * [sh] True if nothing was ever received from @peer. A ping of a mistyped NID creates such a peer.
 */
static bool is_unheard(const struct lnet_peer *peer)
{
	const struct lnet_peer_ni *pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (pni->last_rx_ns)
			return false;
	return true;
}

/* [sh] True if a program or an operator waits for @peer. Requests of the core do not count. */
static bool peer_is_awaited(const struct lnet_peer *peer)
{
	const struct lnet_op *op;

	if (peer->nr_ops) {
		list_for_each_entry(op, &peer->sh->live, all)
			if (op->peer == peer && (op->md || op->kind == LNET_KIND_USER))
				return true;
	}
	return !list_empty(&peer->resolve) || !list_empty(&peer->winwait) ||
	       !list_empty(&peer->disc.waiters);
}

bool lnet_expiry_unanswered(struct lnet *ln, const struct lnet_nid *nid, struct lnet_nid *primary)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);
	struct lnet_peer *peer = pni ? lnet_peer_of(pni) : NULL;
	bool useless;

	lnet_peer_ni_put(pni);
	if (!peer)
		return false;
	mutex_lock(&ln->cfg_mutex);
	spin_lock(&peer->sh->lock);
	*primary = peer->primary;
	useless = made_by_traffic(peer) && is_unheard(peer) && !peer_is_awaited(peer);
	spin_unlock(&peer->sh->lock);
	mutex_unlock(&ln->cfg_mutex);
	lnet_peer_put(peer);
	return useless;
}
