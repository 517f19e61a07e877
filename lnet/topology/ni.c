/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Local interfaces (NIs): state, look-up, publication and initial credits. */
#include "shard/shard.h"
#include "topology/topology.h"

static const u8 legal[LNET_NR_NI_STATES][LNET_NR_NI_STATES] = {
#define STATE(s)
#define EDGE(a, b) [a][b] = 1,
#include "model/states/ni.def"
#undef STATE
#undef EDGE
};

void lnet_ni_set_state(struct lnet_ni *ni, enum lnet_ni_state to)
{
	WARN_ON_ONCE(!legal[ni->state][to]);
	lnet_edge(ni, ni, ni->state, to);
	WRITE_ONCE(ni->state, to);
}

bool lnet_ni_mark(struct lnet_ni *ni, u32 mark, bool set)
{
	int old = atomic_read(&ni->service);
	u32 was, marks;

	do {
		was = (u32)old >> LNET_SERVICE_BITS << LNET_SERVICE_BITS;
		marks = set ? was | mark : was & ~mark;
		if (marks == was)
			return false;
	} while (!atomic_try_cmpxchg(&ni->service, &old, (int)(marks | lnet_service_of(marks))));
	return true;
}

/* ---- look-up --------------------------------------------------------------------------------- */

struct lnet_ni *lnet_ni_listed(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link)
		if (lnet_nid_same(&ni->nid, nid))
			return ni;
	return NULL;
}

struct lnet_ni *lnet_ni_by_nid(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni = lnet_ni_listed(ln, nid);

	return ni && (ni->state == NI_ACTIVE || ni->state == NI_DRAINING) ? ni : NULL;
}

bool lnet_nid_is_local(struct lnet *ln, const struct lnet_nid *nid)
{
	return lnet_ni_listed(ln, nid) != NULL;
}

struct lnet_ni *lnet_ni_find(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_ni *ni;

	spin_lock(&ln->nid_lock);
	ni = lnet_ni_by_nid(ln, nid);
	if (ni)
		lnet_ni_get(ni);
	spin_unlock(&ln->nid_lock);
	return ni;
}

bool lnet_ni_is_alone(const struct lnet_ni *ni)
{
	bool alone = true;
	struct lnet_ni *at;

	spin_lock(&ni->ln->nid_lock);
	list_for_each_entry(at, &ni->ln->nis, link)
		alone &= at == ni || at->net != ni->net;
	spin_unlock(&ni->ln->nid_lock);
	return alone;
}

struct lnet *lnet_ni_instance(const struct lnet_ni *ni)
{
	return ni->ln;
}

const struct lnet_nid *lnet_ni_nid(const struct lnet_ni *ni)
{
	return &ni->nid;
}

const char *lnet_ni_ifname(const struct lnet_ni *ni)
{
	return ni->ifname;
}

void *lnet_ni_priv(struct lnet_ni *ni)
{
	return ni->priv;
}

unsigned int lnet_ni_cpt(const struct lnet_ni *ni, unsigned int n)
{
	unsigned int nr = ni->ln->nr_shards, i;

	if (!ni->cpts)
		return n % nr;
	for (i = 0; !(ni->cpts >> i & 1) || n--; i = (i + 1) % nr)
		;
	return i;
}

u32 lnet_ni_conns_per_peer(const struct lnet_ni *ni)
{
	return max(READ_ONCE(ni->conns_per_peer), 1U);
}

/* ---- publishing ------------------------------------------------------------------------------ */

void lnet_nis_publish_begin(struct lnet *ln) __acquires(&ln->nid_lock)
{
	lnet_shards_lock_all(ln);
	spin_lock(&ln->nid_lock);
}

void lnet_nis_publish_end(struct lnet *ln) __releases(&ln->nid_lock)
{
	WRITE_ONCE(ln->cfg_gen, ln->cfg_gen + 1);
	spin_unlock(&ln->nid_lock);
	lnet_shards_unlock_all(ln);
}

void lnet_ni_publish_state(struct lnet_ni *ni, enum lnet_ni_state state)
{
	lnet_nis_publish_begin(ni->ln);
	lnet_ni_set_state(ni, state);
	lnet_nis_publish_end(ni->ln);
}

void lnet_ni_publish(struct lnet *ln, struct lnet_ni *ni)
{
	lnet_nis_publish_begin(ln);
	list_add_tail(&ni->link, &ln->nis);
	ln->nr_nis++;
	lnet_nis_publish_end(ln);
}

void lnet_ni_advertise(struct lnet_ni *ni)
{
	struct lnet *ln = ni->ln;

	WRITE_ONCE(ln->ping_stale, 1);
	WRITE_ONCE(ln->shard[0].link_work, 1);
	ln->env->ops->kick(ln->env, 0);
}

/* ---- initial credits ------------------------------------------------------------------------- */

s32 lnet_credits_ni_quota(const struct lnet_ni *ni)
{
	s32 nr = (s32)ni->ln->nr_shards;

	if (nr == 1)
		return max(ni->credits, 1);
	return max(min(max(ni->credits / nr, 8 * ni->peer_credits), ni->credits), 1);
}

void lnet_credits_ni_init(struct lnet_ni *ni)
{
	unsigned int nr = ni->ln->nr_shards, i, cls;

	for (i = 0; i < nr; i++) {
		struct lnet_ni_shard *ns = &ni->sh[i];

		ns->credits = ns->min_credits = lnet_credits_ni_quota(ni);
		for (cls = 0; cls < LNET_NR_CLASSES; cls++)
			INIT_LIST_HEAD(&ns->wait[cls]);
	}
}

/*
 * Returns the router credits of @pni: peer_buffer_credits of the NI of its first path. If that is
 * unset: the tunable peer_buffer_credits. If both are unset: peer_credits of the NI.
 */
s32 lnet_credits_rtr(const struct lnet_peer_ni *pni)
{
	u64 all = READ_ONCE(pni->ln->tun.peer_buffer_credits);
	const struct lnet_ni *ni;

	if (list_empty(&pni->paths))
		return 0;
	ni = list_first_entry(&pni->paths, struct lnet_path, link)->ni;
	if (ni->peer_buffer_credits > 0)
		return ni->peer_buffer_credits;
	return all ? (s32)all : max(ni->peer_credits, 1);
}
