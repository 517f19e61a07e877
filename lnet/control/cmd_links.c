/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks whether a target can be reached: an interface that reaches it must have its link up. */
#include "control/query.h"
#include "topology/topology.h"

#define NETS_MAX 4			/* nets that a message lists */

/* State of the check. */
struct links {
	const struct lnet_nid *source;	/* check only this interface; ANY: all */
	u32 net[NETS_MAX];
	unsigned int nr;		/* nets without a link; only NETS_MAX are kept */
	bool any;			/* the link of an interface is up */
};

static void note(struct links *l, const struct lnet_ni *ni)
{
	unsigned int i;

	if (READ_ONCE(ni->state) != NI_ACTIVE ||
	    (!lnet_nid_is_any(l->source) && !lnet_nid_same(l->source, &ni->nid)))
		return;
	l->any |= lnet_ni_has_link(ni);
	for (i = 0; i < min(l->nr, NETS_MAX); i++)
		if (l->net[i] == ni->net)
			return;
	if (l->nr < NETS_MAX)
		l->net[l->nr] = ni->net;
	l->nr++;
}

/* A known peer: the interfaces of all its paths. */
static bool peer_noted(struct lnet *ln, const struct lnet_nid *nid, struct links *l)
{
	struct lnet_peer_ni *asked = lnet_peer_ni_lookup(ln, nid), *pni;
	struct lnet_peer *peer = asked ? lnet_peer_of(asked) : NULL;
	struct lnet_path *path;

	if (peer) {
		spin_lock(&peer->sh->lock);
		list_for_each_entry(pni, &peer->pnis, link)
			list_for_each_entry(path, &pni->paths, link)
				note(l, path->ni);
		spin_unlock(&peer->sh->lock);
	}
	lnet_peer_put(peer);
	lnet_peer_ni_put(asked);
	return peer;
}

/* An unknown peer: the interfaces on its net; all interfaces if a route reaches the net. */
static void stranger_noted(struct lnet *ln, const struct lnet_nid *nid, struct links *l)
{
	u32 net = lnet_nid_net(nid);
	const struct lnet_ni *ni;
	bool routed;

	spin_lock(&ln->shard[0].lock);
	routed = lnet_routes_have(ln, net);
	list_for_each_entry(ni, &ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid) && (routed || ni->net == net))
			note(l, ni);
	spin_unlock(&ln->shard[0].lock);
}

static void nets_write(const struct links *l, char *to, u32 size)
{
	char net[LNET_NIDSTR_SIZE];
	unsigned int i;
	u32 len = scnprintf(to, size, "no interface of this node is up on ");

	for (i = 0; i < min(l->nr, NETS_MAX); i++)
		len += scnprintf(to + len, size - len, "%s%s", i ? ", " : "",
				 lnet_net_str(l->net[i], net));
	if (l->nr > NETS_MAX)
		scnprintf(to + len, size - len, ", ...");
}

int lnet_ctl_ask_links(struct lnet_ctl_ask *ask)
{
	struct links l = { .source = &ask->set->source };
	struct lnet *ln = ask->set->ctl->ln;
	bool own;

	spin_lock(&ln->nid_lock);
	own = lnet_nid_is_lo(&ask->to.nid) || lnet_nid_is_local(ln, &ask->to.nid);
	spin_unlock(&ln->nid_lock);
	if (own)
		return 0;
	if (!peer_noted(ln, &ask->to.nid, &l))
		stranger_noted(ln, &ask->to.nid, &l);
	if (l.any || !l.nr)
		return 0;
	nets_write(&l, ask->why, sizeof(ask->why));
	return -EHOSTUNREACH;
}
