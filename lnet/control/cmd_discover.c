/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* discover: peers are asked what they have, and what this node knows of them then is told. */
#include "control/query.h"
#include "topology/topology.h"
#include "service/service.h"

/* ---- asking ---------------------------------------------------------------------------------- */

static void discovered(struct lnet_disc_ask *disc, int status)
{
	lnet_ctl_ask_ended(container_of(disc, struct lnet_ctl_ask, disc), status);
}

static int discover(struct lnet_ctl_ask *ask)
{
	ask->disc.nid = ask->to.nid;
	ask->disc.force = ask->set->force;
	ask->disc.done = discovered;
	return lnet_disc_ask(ask->set->ctl->ln, &ask->disc);
}

static bool cancel(struct lnet_ctl_ask *ask)
{
	return ask->disc.ln && lnet_disc_ask_cancel(&ask->disc);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static int room_for(struct lnet_ctl_ask *ask, unsigned int nr)
{
	ask->nids = kvcalloc(nr + 1, sizeof(*ask->nids), GFP_KERNEL);
	return ask->nids ? 0 : -ENOMEM;
}

/* Of the node itself. */
static int read_own(struct lnet_ctl_ask *ask)
{
	struct lnet *ln = ask->set->ctl->ln;
	struct lnet_ni *ni;
	int rc;

	mutex_lock(&ln->cfg_mutex);
	rc = room_for(ask, ln->nr_nis);
	list_for_each_entry(ni, &ln->nis, link)
		if (!rc && !lnet_nid_is_lo(&ni->nid))
			ask->nids[ask->nr_nids++] = ni->nid;
	mutex_unlock(&ln->cfg_mutex);
	ask->mr = true;
	return rc;
}

/* [sh] The primary one is the first. */
static void nid_add(struct lnet_ctl_ask *ask, const struct lnet_nid *nid, bool first)
{
	unsigned int at = first ? 0 : ask->nr_nids;

	ask->nids[ask->nr_nids++] = ask->nids[at];
	ask->nids[at] = *nid;
}

/* No more than there was room for: more may have come. */
static int read_peer(struct lnet_ctl_ask *ask, struct lnet_peer *peer)
{
	unsigned int max = READ_ONCE(peer->nr_pnis);
	struct lnet_peer_ni *pni;
	int rc = room_for(ask, max);

	if (rc)
		return rc;
	spin_lock(&peer->sh->lock);
	ask->mr = peer->mr;
	list_for_each_entry(pni, &peer->pnis, link)
		if (!pni->deleted && ask->nr_nids < max)
			nid_add(ask, &pni->nid, lnet_nid_same(&pni->nid, &peer->primary));
	spin_unlock(&peer->sh->lock);
	return 0;
}

static int answer(struct lnet_ctl_ask *ask)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ask->set->ctl->ln, &ask->to.nid);
	struct lnet_peer *peer = pni ? lnet_peer_of(pni) : NULL;
	int rc = -ENOENT;		/* it has gone meanwhile */

	if (peer)
		rc = lnet_nid_is_lo(&peer->primary) ? read_own(ask) : read_peer(ask, peer);
	lnet_peer_put(peer);
	lnet_peer_ni_put(pni);
	return rc;
}

int lnet_ctl_discover_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			    struct lnet_ctl_err *e)
{
	int rc;
	struct lnet_ctl_asks *set = lnet_ctl_asks_new(d->ctl, req, "discover", e, &rc);

	if (!set)
		return rc;
	set->force = req->flags & LNET_NL_F_EXCL;
	set->cancel = cancel;
	set->answer = answer;
	d->priv = set;
	lnet_ctl_asks_start(set, discover);
	return 0;
}
