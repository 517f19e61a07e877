/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands ping and discover; the CPT and the distance of NIDs. */
#include "control/command.h"
#include "shard/hooks.h"
#include "topology/topology.h"
#include "service/service.h"

#define PING_MS_MAX	180000

/* ---- the reply to a ping: runs as a handler does --------------------------------------------- */

static int read_info(struct lnet_ctl_ask *ask, const u8 *info, u32 len)
{
	struct lnet_pinginfo_ni *nis = kcalloc(LNET_CTL_NIDS_MAX, sizeof(*nis), GFP_NOFS);
	struct lnet_pinginfo pi;
	unsigned int i;
	int rc = nis ? lnet_pinginfo_decode(&pi, info, len, nis, LNET_CTL_NIDS_MAX) : -ENOMEM;

	if (rc == -EMSGSIZE || rc == -ENOBUFS)
		rc = 0;		/* an incomplete list is no error: uses the decoded NIDs */
	if (!rc)
		ask->nids = kvcalloc(pi.nr + 1, sizeof(*ask->nids), GFP_NOFS);
	if (!rc && !ask->nids)
		rc = -ENOMEM;
	for (i = 0; !rc && i < pi.nr; i++)
		ask->nids[i] = nis[i].nid;
	if (!rc)
		ask->nr_nids = pi.nr;
	kfree(nis);
	return rc;
}

static void ping_command_done(void *arg, int status, const u8 *info, u32 len,
			      const struct lnet_nid *primary, uint64_t rtt_ns)
{
	struct lnet_ctl_ask *ask = arg;

	lnet_ctl_ask_ended(ask, status ? status : read_info(ask, info, len));
}

/* ---- sending pings --------------------------------------------------------------------------- */

struct ping_req {
	s64 timeout_ms;
	bool has_timeout;
	struct lnet_nid source;
};

static const struct lnet_field ping_fields[] = {
	LNET_FIELD_RANGE("timeout", struct ping_req, timeout_ms, S64_MIN, S64_MAX,
			 .text = "milliseconds, 1 to 180000",
			 .has = offsetof(struct ping_req, has_timeout)),
	LNET_FIELD(NID, "source", struct ping_req, source),
	{ NULL }
};

/* Each target reports an unknown source NID as a separate failure, as in stock LNet. */
static int ping(struct lnet_ctl_ask *ask)
{
	struct lnet_ctl_asks *set = ask->set;
	struct lnet *ln = set->ctl->ln;
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_ni *ni;

	if (!lnet_nid_is_any(&set->source)) {
		ni = lnet_ni_find(ln, &set->source);
		lnet_ni_put(ni);
		if (!ni) {
			scnprintf(ask->why, sizeof(ask->why), "%s is not an interface of this node",
				  lnet_nid_str(&set->source, buf));
			return -EINVAL;
		}
	}
	return ln->hooks->ping_urgent(ln, &ask->to.nid, &set->source, set->timeout_ns,
				      ping_command_done, ask);
}

static int ping_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	struct ping_req r = { .source = LNET_NID_ANY };
	int rc;
	struct lnet_ctl_asks *set = lnet_ctl_asks_new(d->ctl, req, "ping", e, &rc);

	if (!rc)
		rc = lnet_ctl_read(lnet_ctl_attrs(req), ping_fields, &r, e);
	if (rc) {
		lnet_ctl_asks_free(set);
		return rc;
	}
	/*
	 * As in stock LNet, a timeout that is out of range is replaced by the longest permitted
	 * one.
	 */
	if (r.timeout_ms < 1 || r.timeout_ms > PING_MS_MAX)
		r.timeout_ms = PING_MS_MAX;
	set->source = r.source;
	set->timeout_ns = r.has_timeout ? (u64)r.timeout_ms * NSEC_PER_MSEC :
					  READ_ONCE(d->ctl->ln->tun.transaction_timeout);
	d->priv = set;
	lnet_ctl_asks_start(set, ping);
	return 0;
}

/* ---- discover: what this node then knows of the peers ---------------------------------------- */

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

static bool discovery_cancel(struct lnet_ctl_ask *ask)
{
	return ask->disc.ln && lnet_disc_ask_cancel(&ask->disc);
}

static int reply_nids_alloc(struct lnet_ctl_ask *ask, unsigned int nr)
{
	ask->nids = kvcalloc(nr + 1, sizeof(*ask->nids), GFP_KERNEL);
	return ask->nids ? 0 : -ENOMEM;
}

/* Fills @ask with the NIDs of this node. */
static int read_own(struct lnet_ctl_ask *ask)
{
	struct lnet *ln = ask->set->ctl->ln;
	struct lnet_ni *ni;
	int rc;

	mutex_lock(&ln->cfg_mutex);
	rc = reply_nids_alloc(ask, ln->nr_nis);
	list_for_each_entry(ni, &ln->nis, link)
		if (!rc && !lnet_nid_is_lo(&ni->nid))
			ask->nids[ask->nr_nids++] = ni->nid;
	mutex_unlock(&ln->cfg_mutex);
	ask->mr = true;
	return rc;
}

/*
 * Copies the NIDs of the peer. The array was allocated before the lock was taken, so NIDs that were
 * added meanwhile are omitted.
 */
static int read_peer(struct lnet_ctl_ask *ask, struct lnet_peer *peer)
{
	unsigned int max = READ_ONCE(peer->nr_pnis);
	struct lnet_peer_ni *pni;
	int rc = reply_nids_alloc(ask, max);
	unsigned int at;

	if (rc)
		return rc;
	spin_lock(&peer->sh->lock);
	ask->mr = peer->mr;
	list_for_each_entry(pni, &peer->pnis, link) {
		if (pni->deleted || ask->nr_nids == max)
			continue;
		/* The first NID of the list is the primary NID. */
		at = lnet_nid_same(&pni->nid, &peer->primary) ? 0 : ask->nr_nids;
		ask->nids[ask->nr_nids++] = ask->nids[at];
		ask->nids[at] = pni->nid;
	}
	spin_unlock(&peer->sh->lock);
	return 0;
}

static int answer(struct lnet_ctl_ask *ask)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ask->set->ctl->ln, &ask->to.nid);
	struct lnet_peer *peer = pni ? lnet_peer_of(pni) : NULL;
	int rc = -ENOENT;		/* the peer was removed meanwhile */

	if (peer)
		rc = lnet_nid_is_lo(&peer->primary) ? read_own(ask) : read_peer(ask, peer);
	lnet_peer_put(peer);
	lnet_peer_ni_put(pni);
	return rc;
}

static int discover_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			  struct lnet_ctl_err *e)
{
	int rc;
	struct lnet_ctl_asks *set = lnet_ctl_asks_new(d->ctl, req, "discover", e, &rc);

	if (!set)
		return rc;
	set->force = req->flags & LNET_NL_F_EXCL;
	set->cancel = discovery_cancel;
	set->answer = answer;
	d->priv = set;
	lnet_ctl_asks_start(set, discover);
	return 0;
}

static int asks_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	bool is_ping = (req->flags & LNET_NL_F_DUMP) == LNET_NL_F_DUMP;

	return is_ping ? ping_start(d, req, e) : discover_start(d, req, e);
}

/* ---- cpt-of-nid ------------------------------------------------------------------------------ */

struct nid_list {
	unsigned int nr;
	struct lnet_ctl_target nids[LNET_CTL_NIDS_MAX];
};

static int nids_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	struct nid_list *list = kzalloc(sizeof(*list), GFP_KERNEL);
	int nr = list ? lnet_ctl_targets(req, list->nids, e) : -ENOMEM;

	if (nr < 0) {
		kfree(list);
		return nr;
	}
	list->nr = (unsigned int)nr;
	d->priv = list;
	return 0;
}

static int cpt_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct nid_list *list = d->priv;
	struct lnet_view_cpt v;

	for (; d->pos < list->nr; d->pos++) {
		lnet_nid_str(&list->nids[d->pos].nid, v.nid);
		v.cpt = lnet_nid_hash(&list->nids[d->pos].nid) % d->ctl->ln->nr_shards;
		if (!lnet_ctl_emit(d, s, &lnet_table_cpt, &v))
			return 1;
	}
	return 0;
}

/*
 * Finds the distance of @nid (0: this node, 1: a local net), and the position of the first NI on
 * the net of @nid. False: there is no such NI, or @nid is loopback
 */
static bool dist_find(struct lnet *ln, const struct lnet_nid *nid, struct lnet_view_dist *v)
{
	const struct lnet_ni *ni;
	u32 order = 1;
	bool found = false;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_nid_is_lo(&ni->nid))
			continue;
		order++;
		if (lnet_nid_same(&ni->nid, nid)) {
			v->distance = 0;
			v->order = 1;
			found = true;
			break;
		}
		if (!found && ni->net == lnet_nid_net(nid)) {
			v->distance = 1;
			v->order = order;
			found = true;
		}
	}
	mutex_unlock(&ln->cfg_mutex);
	return found;
}

static int dist_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	const struct nid_list *list = d->priv;
	struct lnet_view_dist v;

	for (; d->pos < list->nr; d->pos++) {
		if (!lnet_ctl_table(d, s, &lnet_table_dist))
			return 1;
		lnet_nid_str(&list->nids[d->pos].nid, v.nid);
		if (!dist_find(d->ctl->ln, &list->nids[d->pos].nid, &v))
			continue;
		if (!lnet_ctl_emit(d, s, &lnet_table_dist, &v))
			return 1;
	}
	return 0;
}

const struct lnet_ctl_cmd lnet_cmd_ping = {
	.cmd = LNET_NL_PING,
	.tells = LNET_NL_F_CREATE,
	.start = asks_start,
	.next = lnet_ctl_asks_next,
	.end = lnet_ctl_asks_end,
};

const struct lnet_ctl_cmd lnet_cmd_cpt_of_nid = {
	.cmd = LNET_NL_CPT_OF_NID, .start = nids_start, .next = cpt_next,
};

const struct lnet_ctl_cmd lnet_cmd_peer_dist = {
	.cmd = LNET_NL_PEER_DIST, .start = nids_start, .next = dist_next,
};
