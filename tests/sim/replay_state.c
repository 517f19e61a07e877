/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rebuilds the state that a recording describes. Values that the core has computed since the last
 * snapshot are compared with the recorded ones before they are replaced.
 */
#include <stdlib.h>
#include "tests/sim/replay_state.h"
#include "base/base.h"
#include "topology/topology.h"

/* ---- look-up --------------------------------------------------------------------------------- */

struct lnet_peer *replay_peer(struct replay *rp, u32 id)
{
	struct replay_peer *at = rp->peers[id % REPLAY_HASH];

	while (at && at->peer.rec.id != id)
		at = at->next;
	return at ? &at->peer : NULL;
}

struct lnet_peer_ni *replay_pni(struct replay *rp, u32 id, u16 place)
{
	struct lnet_peer *peer = replay_peer(rp, id);
	struct lnet_peer_ni *pni;

	if (peer)
		list_for_each_entry(pni, &peer->pnis, link)
			if (!place--)
				return pni;
	return NULL;
}

struct lnet_peer_ni *replay_pni_by_nid(struct replay *rp, u32 id, const void *nid)
{
	struct lnet_peer *peer = replay_peer(rp, id);
	struct lnet_peer_ni *pni;
	struct replay_pni *at;

	if (peer)
		list_for_each_entry(pni, &peer->pnis, link)
			if (!memcmp(&pni->nid, nid, sizeof(pni->nid)))
				return pni;
	/* it belongs to another peer, and a later record will make it part of this one */
	for (at = rp->pnis; at; at = at->next)
		if (!memcmp(&at->pni.nid, nid, sizeof(at->pni.nid)) && !at->pni.deleted)
			return &at->pni;
	return NULL;
}

struct lnet_path *replay_path(struct replay *rp, u32 id, u32 ix)
{
	struct lnet_peer *peer = replay_peer(rp, id);
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	if (peer)
		list_for_each_entry(pni, &peer->pnis, link)
			list_for_each_entry(path, &pni->paths, link)
				if (path->ix == ix && !((struct replay_path *)path)->stale)
					return path;
	return NULL;
}

struct lnet_ni *replay_ni_of(struct replay *rp, const struct lnet_rec *r, u32 ix)
{
	if (ix >= ARRAY_SIZE(rp->ni) || !rp->ni[ix])
		replay_differs(rp, r, "it names an interface that was not told of");
	return rp->ni[ix];
}

struct lnet_peer *replay_peer_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer *peer = replay_peer(rp, r->peer);

	if (!peer)
		replay_differs(rp, r, "it names a peer that was not told of");
	return peer;
}

struct lnet_path *replay_path_of(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path(rp, r->peer, r->path);

	if (!path)
		replay_differs(rp, r, "it names a path that was not told of");
	return path;
}

void replay_same(struct replay *rp, const struct lnet_rec *r, const char *what, u64 told, u64 mine)
{
	if (told != mine)
		replay_differs(rp, r, "%s was %llu (0x%llx), the replay has %llu (0x%llx)", what,
			       (unsigned long long)told, (unsigned long long)told,
			       (unsigned long long)mine, (unsigned long long)mine);
}

/* ---- the shard and interfaces ---------------------------------------------------------------- */

static void begin(struct replay *rp, const struct lnet_rec *r)
{
	struct replay_shard *rs = &rp->shard[r->shard];
	struct lnet_shard *sh = shard_of(rp, r);

	if (rs->covered) {
		replay_same(rp, r, "the round-robin position", r->a[0], sh->rr_pos);
		replay_same(rp, r, "the budget of pings", r->a[1], sh->probes.budget_ns);
		return;
	}
	rs->covered = rs->fresh = true;
	sh->rr_pos = r->a[0];
	sh->probes.budget_ns = r->a[1];
	if (r->a[3])
		lnet_timer_set(&sh->wheel, &sh->probes.timer, r->a[3]);
	rp->ln->stopping = r->att;
}

static void tunables(struct replay *rp, const struct lnet_rec *r)
{
	u64 *tun = (u64 *)&rp->ln->tun;
	u32 k;

	for (k = 0; k < 4 && r->op + k < sizeof(rp->ln->tun) / sizeof(u64); k++)
		tun[r->op + k] = r->a[k];
}

static void ni_make(struct replay *rp, u32 ix)
{
	unsigned int nr = rp->ln->nr_shards, i, cls;
	struct lnet_ni *ni = must(calloc(1, sizeof(*ni) + nr * sizeof(ni->sh[0])));

	for (i = 0; i < nr; i++)
		for (cls = 0; cls < LNET_NR_CLASSES; cls++)
			INIT_LIST_HEAD(&ni->sh[i].wait[cls]);
	ni->ln = rp->ln;
	ni->ix = ix;
	atomic_set(&ni->health, -1);	/* not recorded yet */
	rp->ni[ix] = ni;
}

static void ni_set(struct replay *rp, const struct lnet_rec *r)
{
	static const struct lnet_lnd_ops ops = { .name = "replay" };
	struct lnet_ni *ni;

	if (r->op >= ARRAY_SIZE(rp->ni))
		replay_differs(rp, r, "an interface with such a number cannot be");
	if (!rp->ni[r->op])
		ni_make(rp, r->op);
	ni = rp->ni[r->op];
	memcpy(&ni->nid, r->a, sizeof(ni->nid));
	ni->ops = &ops;
	ni->net = low(r->a[3]);
	ni->dev_cpt = (s32)high(r->a[3]);
	ni->state = r->att;
	lnet_ni_mark(ni, LNET_MARK(LINK_DOWN), r->cls & 1);
	lnet_ni_mark(ni, LNET_MARK(RULE_DOWN), r->cls >> 1 & 1);
	lnet_ni_mark(ni, LNET_MARK(DRAINED), r->cls >> 2 & 1);
	lnet_ni_mark(ni, LNET_MARK(DAMPED), r->cls >> 4 & 1);
	if (r->cls & 8)
		rp->ln->lo = ni;
}

static void ni_set2(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_ni *ni = replay_ni_of(rp, r, r->op);
	struct lnet_ni_shard *ns = &ni->sh[r->shard];
	/* other shards have also changed it, and their snapshots are later */
	bool known = atomic_read(&ni->health) >= 0 && !rp->shard[r->shard].fresh;
	u64 rr_pos = rp->ln->shard[r->shard].rr_pos;

	if (known)
		replay_same(rp, r, "health of the interface", low(r->a[2]) & 0xffff,
			    (u64)atomic_read(&ni->health));
	if (known && ns->c[0]) {
		replay_same(rp, r, "the round-robin position of the interface", r->a[1],
			    ns->rr_pos);
		replay_same(rp, r, "credits of the interface", low(r->a[0]), (u32)ns->credits);
		replay_same(rp, r, "the share of the interface", high(r->a[2]),
			    ns->share_until - min(rr_pos, ns->share_until));
	}
	ns->c[0] = 1;
	ns->credits = (s32)low(r->a[0]);
	ni->credits = (s32)high(r->a[0]);
	ns->rr_pos = r->a[1];
	ns->share_until = rr_pos + high(r->a[2]);
	atomic_set(&ni->health, (int)(low(r->a[2]) & 0xffff));
	ni->degradation = (u16)(low(r->a[2]) >> 16);
	ni->peer_credits = (s32)low(r->a[3]);
	ni->link_speed = high(r->a[3]);
}

static void ni_set3(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_ni_shard *ns = &replay_ni_of(rp, r, r->op)->sh[r->shard];
	struct lnet_seen *seen = r->kind == LNET_RK_NI3 ? ns->responded : ns->failed;

	seen[0] = (struct lnet_seen){ .who = low(r->a[0]), .ns = r->a[1] };
	seen[1] = (struct lnet_seen){ .who = high(r->a[0]), .ns = r->a[2] };
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void peer_set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer *peer = replay_peer(rp, r->peer);
	struct replay_peer *at;
	struct lnet_peer_ni *pni;
	struct lnet_path *path;

	if (!peer) {
		at = must(calloc(1, sizeof(*at)));
		peer = &at->peer;
		peer->rec.id = r->peer;
		peer->ln = rp->ln;
		INIT_LIST_HEAD(&peer->pnis);
		INIT_LIST_HEAD(&peer->resolve);
		INIT_LIST_HEAD(&peer->winwait);
		INIT_LIST_HEAD(&peer->expired);
		at->next = rp->peers[r->peer % REPLAY_HASH];
		rp->peers[r->peer % REPLAY_HASH] = at;
	} else {
		replay_same(rp, r, "the budget of copies", r->a[0], (u64)peer->hedge_tokens);
		replay_same(rp, r, "the bucket of pings", r->a[2], peer->pings_paid_ns);
	}
	peer->sh = shard_of(rp, r);
	peer->mr = r->cls & 1;
	peer->deleted = r->cls >> 1 & 1;
	peer->configured = r->cls >> 2 & 1;
	peer->hedge_tokens = (s64)r->a[0];
	peer->nr_paths = high(r->a[1]);
	peer->pings_paid_ns = r->a[2];
	list_for_each_entry(pni, &peer->pnis, link) {
		((struct replay_pni *)pni)->stale = true;
		list_for_each_entry(path, &pni->paths, link)
			((struct replay_path *)path)->stale = true;
	}
}

static struct lnet_peer_ni *pni_find(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_nid nid;
	struct replay_pni *at;

	memcpy(&nid, r->a, sizeof(nid));
	for (at = rp->pnis; at; at = at->next)
		if (lnet_nid_same(&at->pni.nid, &nid) &&
		    (at->stale || at->pni.peer->rec.id == r->peer))
			return &at->pni;
	for (at = rp->pnis; at; at = at->next)
		if (lnet_nid_same(&at->pni.nid, &nid) && !at->pni.deleted)
			return &at->pni;
	return NULL;
}

static struct lnet_peer_ni *pni_make(struct replay *rp, const struct lnet_rec *r)
{
	struct replay_pni *at = must(calloc(1, sizeof(*at)));
	struct lnet_peer_ni *pni = &at->pni;
	unsigned int cls;

	at->next = rp->pnis;
	rp->pnis = at;
	INIT_LIST_HEAD(&pni->link);
	INIT_LIST_HEAD(&pni->paths);
	for (cls = 0; cls < LNET_NR_CLASSES; cls++)
		INIT_LIST_HEAD(&pni->wait[cls]);
	pni->ln = rp->ln;
	memcpy(&pni->nid, r->a, sizeof(pni->nid));
	pni->health = U16_MAX;		/* not recorded yet */
	return pni;
}

static void pni_set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer_ni *pni = pni_find(rp, r);
	u16 health = (u16)high(r->a[3]);

	pni = pni ? pni : pni_make(rp, r);
	if (pni->health != U16_MAX)
		replay_same(rp, r, "health of the peer's interface", health, pni->health);
	pni->peer = replay_peer_of(rp, r);
	pni->sh = shard_of(rp, r);
	list_move_tail(&pni->link, &pni->peer->pnis);
	((struct replay_pni *)pni)->stale = false;
	((struct replay_pni *)pni)->local = r->cls >> 1 & 1;
	pni->deleted = r->cls & 1;
	pni->status = r->att;
	pni->net = low(r->a[3]);
	pni->health = health;
}

/* Skips stale interfaces, which are first: the new records of the peer do not list them. */
static struct lnet_peer_ni *pni_at(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer *peer = replay_peer_of(rp, r);
	struct lnet_peer_ni *pni;
	u16 place = r->pni;

	list_for_each_entry(pni, &peer->pnis, link)
		if (!((struct replay_pni *)pni)->stale && !place--)
			return pni;
	replay_differs(rp, r, "it names an interface of a peer that was not told of");
}

static void pni_set2(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer_ni *pni = replay_pni(rp, r->peer, r->pni);

	pni = pni_at(rp, r);
	if (pni->max_credits) {
		replay_same(rp, r, "credits of the peer's interface", low(r->a[0]),
			    (u32)pni->credits);
		replay_same(rp, r, "its round-robin position", r->a[1], pni->rr_pos);
	}
	pni->credits = (s32)low(r->a[0]);
	pni->max_credits = high(r->a[0]);
	pni->rr_pos = r->a[1];
	pni->sticky = low(r->a[2]) ? replay_ni_of(rp, r, low(r->a[2]) - 1) : NULL;
	pni->ix = high(r->a[2]);
	pni->next_ping_ns = r->a[3];
}

static struct lnet_path *path_make(struct lnet_peer_ni *pni, struct lnet_ni *ni,
				   struct lnet_peer_ni *hop)
{
	struct replay_path *at = must(calloc(1, sizeof(*at)));
	struct lnet_path *path = &at->path;

	INIT_LIST_HEAD(&path->link);
	INIT_LIST_HEAD(&path->await_reply);
	INIT_LIST_HEAD(&path->large_queue);
	INIT_LIST_HEAD(&path->gw_paths);
	INIT_LIST_HEAD(&path->reset);
	INIT_LIST_HEAD(&path->probe_link);
	lnet_timer_init(&path->timer, LNET_TIMER_PATH);
	path->ni = ni;
	path->pni = pni;
	path->hop = hop;
	path->first_hop = hop == pni ? path : lnet_path_find(hop, ni);
	if (path->first_hop && hop != pni)
		list_add_tail(&path->gw_link, &path->first_hop->gw_paths);
	return path;
}

static void path_set(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer_ni *pni = pni_at(rp, r), *hop;
	struct lnet_ni *ni = replay_ni_of(rp, r, r->op);
	struct lnet_path *path;

	hop = r->cls & 16 ? replay_pni(rp, low(r->a[0]), (u16)high(r->a[0])) : pni;
	if (!hop)
		replay_differs(rp, r, "its router was not told of");
	path = lnet_path_via(pni, ni, hop);
	path = path ? path : path_make(pni, ni, hop);
	if (!path->first_hop)
		replay_differs(rp, r, "the path to its router was not told of");
	((struct replay_path *)path)->stale = false;
	list_move_tail(&path->link, &pni->paths);
	path->ix = r->path;
	path->gone = r->cls & 1;
	path->lost_valid = r->cls >> 1 & 1;
	path->back_measured = r->cls >> 2 & 1;
	path->recovering = r->att;
	path->policy = (s32)r->a[1];
	path->route = path->first_hop == path ? NULL : &((struct replay_path *)path)->route;
	if (path->route) {
		path->route->priority = low(r->a[2]);
		path->route->hops = (s32)high(r->a[2]);
	}
	path->lost_ns = r->a[3];
	if (r->cls & 8 && list_empty(&path->timer.link))
		lnet_timer_set(&shard_of(rp, r)->wheel, &path->timer, 0);
	else if (!(r->cls & 8))
		lnet_timer_cancel(&shard_of(rp, r)->wheel, &path->timer);
}

static void path_set2(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);

	if (((struct replay_path *)path)->known) {
		replay_same(rp, r, "the round trip", r->a[0], path->srtt_ns);
		replay_same(rp, r, "its variance", r->a[1], path->rttvar_ns);
		replay_same(rp, r, "the last sign of life", r->a[2], path->liveness_ns);
		replay_same(rp, r, "the time it is suspect since", r->a[3], path->suspect_ns);
	}
	path->srtt_ns = r->a[0];
	path->rttvar_ns = r->a[1];
	path->liveness_ns = r->a[2];
	path->suspect_ns = r->a[3];
}

static void path_set3(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);

	if (((struct replay_path *)path)->known) {
		replay_same(rp, r, "the time it is down since", r->a[0], path->down_ns);
		replay_same(rp, r, "the time it is back since", r->a[1], path->back_ns);
	}
	path->down_ns = r->a[0];
	path->back_ns = r->a[1];
	if (!list_empty(&path->timer.link))
		lnet_timer_set(&shard_of(rp, r)->wheel, &path->timer, r->a[2]);
	path->timer.when_ns = r->a[2];
}

static void path_set7(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);

	if (((struct replay_path *)path)->known) {
		replay_same(rp, r, "the time it is busy since", r->a[0], path->busy_ns);
		replay_same(rp, r, "its longest pause", r->a[1], path->gap_ns);
		replay_same(rp, r, "the time of that", r->a[2], path->gap_set_ns);
		replay_same(rp, r, "its large requests", low(r->a[3]), path->nr_large);
		replay_same(rp, r, "requests that wait for the large-request limit", high(r->a[3]),
			    path->nr_large_queue);
	}
	path->busy_ns = r->a[0];
	path->gap_ns = r->a[1];
	path->gap_set_ns = r->a[2];
	path->nr_large = low(r->a[3]);
	path->nr_large_queue = high(r->a[3]);
}

static void path_set4(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);

	if (((struct replay_path *)path)->known) {
		replay_same(rp, r, "its pings", high(r->a[0]), path->pinging);
		replay_same(rp, r, "attempts with the driver", low(r->a[1]), path->nr_wire);
		replay_same(rp, r, "its own health", high(r->a[1]), path->health);
		replay_same(rp, r, "its last failure", r->a[2], path->failed_ns);
	}
	path->lost_epoch = low(r->a[0]);
	path->pinging = (u8)high(r->a[0]);
	path->nr_wire = low(r->a[1]);
	path->health = high(r->a[1]);
	path->failed_ns = r->a[2];
	((struct replay_path *)path)->known = true;
}

static void path_set5(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);
	struct lnet_load *load;

	if (!path->stats)
		path->stats = must(calloc(1, sizeof(*path->stats)));
	load = &path->stats->load;
	load->bytes = r->a[0];
	load->mib_ns = r->a[1];
	load->end_ns = r->a[2];
	load->since_ns = r->a[3];
}

static void path_set6(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_path *path = replay_path_of(rp, r);
	struct lnet_load *load;

	if (!path->stats)
		replay_differs(rp, r, "the first half of the load was not told of");
	load = &path->stats->load;
	load->seen_ns = r->a[0];
	load->done = r->a[1];
	load->ends = low(r->a[2]);
	load->mbit = high(r->a[2]);
}

/* Removes the interfaces and paths that the new records of the peer do not list. */
static void peer_end(struct replay *rp, const struct lnet_rec *r)
{
	struct lnet_peer *peer = replay_peer_of(rp, r);
	struct lnet_peer_ni *pni, *next_pni;
	struct lnet_path *path, *next;

	list_for_each_entry_safe(pni, next_pni, &peer->pnis, link) {
		list_for_each_entry_safe(path, next, &pni->paths, link)
			if (((struct replay_path *)path)->stale) {
				list_del_init(&path->link);
				if (lnet_path_is_routed(path))
					list_del_init(&path->gw_link);
				list_del_init(&path->probe_link);
				lnet_timer_cancel(&peer->sh->wheel, &path->timer);
			}
		if (((struct replay_pni *)pni)->stale)
			list_del_init(&pni->link);
	}
}

/* ---- all records ----------------------------------------------------------------------------- */

static void end(struct replay *rp, const struct lnet_rec *r)
{
	rp->shard[r->shard].fresh = false;
}

void replay_state(struct replay *rp, const struct lnet_rec *r)
{
	static void (*const set[LNET_NR_RECS])(struct replay *rp, const struct lnet_rec *r) = {
		[LNET_RK_BEGIN] = begin, [LNET_RK_TUNABLES] = tunables, [LNET_RK_NI] = ni_set,
		[LNET_RK_NI2] = ni_set2, [LNET_RK_PEER] = peer_set, [LNET_RK_PNI] = pni_set,
		[LNET_RK_PNI2] = pni_set2, [LNET_RK_PATH] = path_set, [LNET_RK_PATH2] = path_set2,
		[LNET_RK_PATH3] = path_set3, [LNET_RK_PATH4] = path_set4,
		[LNET_RK_PATH7] = path_set7,
		[LNET_RK_PATH5] = path_set5, [LNET_RK_PATH6] = path_set6,
		[LNET_RK_NI3] = ni_set3,
		[LNET_RK_NI4] = ni_set3, [LNET_RK_PEER_END] = peer_end,
		[LNET_RK_OP] = replay_op_set,
		[LNET_RK_OP2] = replay_op_set, [LNET_RK_OP3] = replay_op_set,
		[LNET_RK_ATT] = replay_op_set, [LNET_RK_QUEUE] = replay_queue,
		[LNET_RK_END] = end,
	};

	rp->states++;
	if (set[r->kind])
		set[r->kind](rp, r);
}

void replay_state_fini(struct replay *rp)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rp->ni); i++)
		free(rp->ni[i]);
}
