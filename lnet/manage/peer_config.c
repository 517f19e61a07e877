/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configuration of peers: adds and deletes peers and their NIDs, and sets their state. */
#include "plat.h"
#include <lnet/env.h>
#include <lnet/lnd.h>
#include <lnet/lnet.h>
#include <lnet/nid.h>
#include "shard/shard.h"
#include "topology/topology.h"
#include "xfer/xfer.h"
#include "service/service.h"
#include "manage/manage.h"

/* ---- deleting -------------------------------------------------------------------------------- */

static bool pni_idle(struct lnet *ln, void *arg)
{
	struct lnet_peer_ni *pni = arg;
	bool idle;

	(void)ln;
	spin_lock(&pni->sh->lock);
	idle = lnet_peer_ni_is_idle(pni);
	spin_unlock(&pni->sh->lock);
	return idle;
}

static void peer_remove(struct lnet_peer *peer)
{
	struct lnet_pass p;

	lnet_peer_unlist(peer);
	lnet_pass_begin(&p, peer->ln, LNET_PASS_CALL);
	lnet_op_fail_all(&p, peer, LNET_NO_PATH);
	lnet_pass_end(&p);
	lnet_cfg_wait(peer->ln, lnet_peer_is_free, peer, U64_MAX);
	lnet_peer_drop(peer);
}

static void pni_remove(struct lnet_peer_ni *pni)
{
	struct lnet *ln = pni->ln;
	struct lnet_pass p;

	spin_lock(&pni->sh->lock);
	lnet_peer_ni_unlist(pni);
	spin_unlock(&pni->sh->lock);
	if (pni->gw)
		lnet_routes_leave_hop(pni);
	if (!lnet_cfg_wait(ln, pni_idle, pni, READ_ONCE(ln->tun.drain_time))) {
		lnet_pass_begin(&p, ln, LNET_PASS_CALL);
		lnet_peer_ni_lost(&p, pni);
		lnet_pass_end(&p);
		lnet_cfg_wait(ln, pni_idle, pni, U64_MAX);
	}
	lnet_peer_ni_drop(pni);
}

static int del_nids(struct lnet_peer *peer, const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr; i++) {
		pni = lnet_peer_ni_lookup(peer->ln, &nids[i]);
		if (pni && pni->peer == peer)
			pni_remove(pni);
		else
			err = -ENOENT;
		lnet_peer_ni_put(pni);
	}
	return err;
}

static bool lists(const struct lnet_nid *nids, unsigned int nr, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (lnet_nid_same(&nids[i], nid))
			return true;
	return false;
}

/*
 * True if a route names one of the interfaces of @peer that are to be removed. Such an interface
 * must stay.
 */
static bool is_routers(const struct lnet_peer *peer, const struct lnet_nid *nids, unsigned int nr)
{
	const struct lnet_route *route;

	list_for_each_entry(route, &peer->ln->routes->list, link)
		if (route->named->peer == peer &&
		    (!nr || lists(nids, nr, &peer->primary) ||
		     lists(nids, nr, &route->named->nid)))
			return true;
	return false;
}

int lnet_peer_del(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr)
{
	struct lnet_peer_ni *pni;
	int err = 0;

	if (lnet_nid_is_lo(primary))
		return -ENOENT;
	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, primary);
	if (!pni || lnet_nid_is_lo(&pni->nid))
		err = -ENOENT;
	else if (!lnet_nid_same(&pni->peer->primary, primary))
		err = -ENODEV;
	else if (is_routers(pni->peer, nids, nr))
		err = -EBUSY;
	else if (!nr || lists(nids, nr, primary))
		peer_remove(pni->peer);
	else
		err = del_nids(pni->peer, nids, nr);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}

/* ---- locked primary NIDs, and state set by an operator --------------------------------------- */

/* Deletes all NIDs of @peer except its primary NID. */
static int del_others(struct lnet_peer *peer)
{
	unsigned int max = READ_ONCE(peer->nr_pnis), nr = 0;
	struct lnet_nid *nids = kvcalloc(max, sizeof(*nids), GFP_KERNEL);
	struct lnet_peer_ni *pni;
	int err;

	if (!nids)
		return -ENOMEM;
	spin_lock(&peer->sh->lock);
	list_for_each_entry(pni, &peer->pnis, link)
		if (nr < max && !lnet_nid_same(&pni->nid, &peer->primary))
			nids[nr++] = pni->nid;
	spin_unlock(&peer->sh->lock);
	err = del_nids(peer, nids, nr);
	kvfree(nids);
	return err;
}

int lnet_peer_del_unlocked(struct lnet *ln, const struct lnet_nid *primary,
			   const struct lnet_nid *nids, unsigned int nr)
{
	struct lnet_peer_ni *pni;
	bool others = false;
	int err = 0;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, primary);
	if (pni && pni->peer->locked && lnet_nid_same(&pni->peer->primary, primary))
		others = !nr || lists(nids, nr, primary);
	if (others)
		err = del_others(pni->peer);
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return others ? err : lnet_peer_del(ln, primary, nids, nr);
}

int lnet_peer_set_state(struct lnet *ln, const struct lnet_nid *nid, u32 mask, u32 state)
{
	struct lnet_peer_ni *pni;
	struct lnet_peer *peer;

	mutex_lock(&ln->cfg_mutex);
	pni = lnet_peer_ni_lookup(ln, nid);
	peer = pni && !lnet_nid_is_lo(&pni->nid) ? pni->peer : NULL;
	if (peer) {
		lnet_shards_lock_all(ln);
		if (mask & LNET_PEER_STATE_MULTI_RAIL)
			peer->mr = !!(state & LNET_PEER_STATE_MULTI_RAIL);
		if (mask & LNET_PEER_STATE_CONFIGURED)
			peer->configured = !!(state & LNET_PEER_STATE_CONFIGURED);
		if (mask & LNET_PEER_STATE_LOCKED)
			peer->locked = !!(state & LNET_PEER_STATE_LOCKED);
		peer->state_rest &= ~mask;
		peer->state_rest |= state & mask & ~LNET_PEER_STATE_KNOWN;
		WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
		lnet_shards_unlock_all(ln);
	}
	lnet_peer_ni_put(pni);
	mutex_unlock(&ln->cfg_mutex);
	return peer ? 0 : -ENOENT;
}

/* ---- adding ---------------------------------------------------------------------------------- */

struct peer_request {
	struct lnet *ln;
	const struct lnet_nid *primary, *nids;
	unsigned int nr;
	bool mr;
};

static const struct lnet_nid *request_nid(const struct peer_request *r, unsigned int i)
{
	return i ? &r->nids[i - 1] : r->primary;
}

/*
 * Checks that @nid does not conflict with configured peers. @self: the peer that has the primary
 * NID, or NULL.
 */
static int check_nid(const struct peer_request *r, const struct lnet_nid *nid,
		     const struct lnet_peer *self)
{
	struct lnet_peer *owner;
	int err = 0;

	if (lnet_nid_is_any(nid) || !lnet_nid_is_sane(nid) || lnet_nid_is_lo(nid) ||
	    lnet_nid_is_local(r->ln, nid))
		return -EINVAL;
	owner = lnet_peer_owner(r->ln, nid);
	if (owner && owner != self && owner->configured)
		err = -EEXIST;
	lnet_peer_put(owner);
	return err;
}

/* A peer that is not multi-rail has one NID on a net. */
static int check_nets(const struct peer_request *r, const struct lnet_peer *self)
{
	struct lnet_peer_ni *pni;
	unsigned int i, k;

	for (i = 0; i <= r->nr; i++) {
		for (k = 0; k < i; k++)
			if (lnet_nid_net(request_nid(r, i)) == lnet_nid_net(request_nid(r, k)) &&
			    !lnet_nid_same(request_nid(r, i), request_nid(r, k)))
				return -ENOTUNIQ;
		if (!self)
			continue;
		list_for_each_entry(pni, &self->pnis, link)
			if (pni->net == lnet_nid_net(request_nid(r, i)) &&
			    !lnet_nid_same(&pni->nid, request_nid(r, i)))
				return -ENOTUNIQ;
	}
	return 0;
}

static int check_request(const struct peer_request *r, const struct lnet_peer *self)
{
	unsigned int i;
	int err = 0;

	if (self && self->configured && !lnet_nid_same(&self->primary, r->primary))
		return -EEXIST;
	if (self && self->configured && self->mr != r->mr)
		return -EPERM;
	for (i = 0; i <= r->nr && !err; i++)
		err = check_nid(r, request_nid(r, i), self);
	if (!err && !r->mr)
		err = check_nets(r, self);
	return err;
}

/*
 * Creates an interface for the primary NID, which no peer has yet. Creates it in the peer @found,
 * or in a new peer if @found is NULL.
 */
static int make_primary(const struct peer_request *r, struct lnet_peer *found)
{
	struct lnet_peer *peer = found ? found : lnet_peer_new(r->ln, r->primary);
	int err;

	if (!peer)
		return -ENOMEM;
	err = lnet_peer_ni_make(peer, r->primary);
	if (err && !found)
		lnet_peer_put(peer);
	return err;
}

/*
 * Returns the peer with the primary NID, with a reference; NULL: no memory, and nothing was
 * changed.
 */
static struct lnet_peer *choose_peer(const struct peer_request *r)
{
	struct lnet_peer *peer, *found;
	unsigned int i;
	int err;

	for (;;) {
		peer = lnet_peer_owner(r->ln, r->primary);
		if (peer)
			return peer;
		/* uses a dynamically created peer that has another of the NIDs, if there is one */
		for (found = NULL, i = 1; i <= r->nr && !found; i++)
			found = lnet_peer_owner(r->ln, request_nid(r, i));
		err = make_primary(r, found);
		lnet_peer_put(found);
		if (err && err != -EEXIST)	/* -EEXIST: created meanwhile */
			return NULL;
	}
}

/*
 * If a dynamically created peer has @nid, moves the interfaces of that peer to @peer. Request IDs
 * and duplicate windows belong to one peer. So the function first waits until nothing is in flight
 * to the dynamically created peer, at most drain_time. Returns -EBUSY if something is still in
 * flight then.
 */
static int peer_nid_add(struct lnet_peer *peer, const struct lnet_nid *nid)
{
	struct lnet_peer *owner;
	int err;

	do {
		owner = lnet_peer_owner(peer->ln, nid);
		if (!owner)
			err = lnet_peer_ni_make(peer, nid);
		else
			err = owner == peer ? 0 : lnet_peer_absorb(owner, peer, NULL, true);
		lnet_peer_put(owner);
	} while (err == -EEXIST);	/* just created dynamically */
	return err;
}

static int peer_configure(const struct peer_request *r)
{
	struct lnet_peer *peer = lnet_peer_owner(r->ln, r->primary);
	unsigned int i;
	int err = check_request(r, peer);

	lnet_peer_put(peer);
	if (err)
		return err;
	peer = choose_peer(r);
	if (!peer)
		return -ENOMEM;
	lnet_shards_lock_all(r->ln);
	spin_lock(&r->ln->nid_lock);
	peer->primary = *r->primary;
	spin_unlock(&r->ln->nid_lock);
	peer->configured = 1;
	peer->mr = r->mr;
	WRITE_ONCE(r->ln->cfg_gen, r->ln->cfg_gen + 1);
	lnet_shards_unlock_all(r->ln);
	/* Now the peer is configured: it is not merged, and no peer is merged into it. */
	lnet_peer_merge_into(peer, NULL);
	lnet_peer_merges_review(peer, NULL, NULL);
	for (i = 0; i <= r->nr && !err; i++)
		err = peer_nid_add(peer, request_nid(r, i));
	lnet_routes_sync(r->ln);
	lnet_peer_put(peer);
	return err;
}

int lnet_peer_add(struct lnet *ln, const struct lnet_nid *primary, const struct lnet_nid *nids,
		  unsigned int nr, bool mr)
{
	struct peer_request r = { .ln = ln, .primary = primary, .nids = nids, .nr = nr, .mr = mr };
	int err;

	mutex_lock(&ln->cfg_mutex);
	err = READ_ONCE(ln->stopping) ? -ESHUTDOWN : peer_configure(&r);
	mutex_unlock(&ln->cfg_mutex);
	return err;
}
