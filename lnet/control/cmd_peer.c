/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands about peers: add, del, set, show. */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "path/path.h"
#include "service/service.h"
#include "manage/manage.h"

#define HEALTH_UNSET (-1)
#define STATE_UNSET (-1)

struct peer_req {
	struct lnet_nid primary, nids[LNET_CTL_NIDS_MAX];
	unsigned int nr;
	bool mr, log;
	s64 health, state;		/* HEALTH_UNSET, STATE_UNSET: no change */
	struct lnet_req pnis;		/* "peer ni" */
	struct lnet_nid nid;		/* NID of the element of @pnis that was read last */
	bool has_nid;
};

/* ---- reading requests ------------------------------------------------------------------------ */

/*
 * Requests that add or delete a peer ignore "peer state" and "log", because exports may contain
 * these keys.
 */
static const struct lnet_field peer_fields[] = {
	LNET_FIELD(NID, "primary nid", struct peer_req, primary, .need = true),
	LNET_FIELD_RANGE("Multi-Rail", struct peer_req, mr, 0, 1, .text = "true or false"),
	{ .key = "log", .has = offsetof(struct peer_req, log) },
	LNET_FIELD_RANGE("peer state", struct peer_req, state, 0, U32_MAX),
	LNET_FIELD(LIST, "peer ni", struct peer_req, pnis),
	{ NULL }
};
static const struct lnet_field health_fields[] = {
	LNET_FIELD_RANGE("health value", struct peer_req, health, 0, LNET_HEALTH_MAX),
	{ NULL }
};
/* Reads { "nid": X }, { "health stats": { "health value": N } }, or a mapping with both keys. */
static const struct lnet_field pni_fields[] = {
	LNET_FIELD(NID, "nid", struct peer_req, nid, .has = offsetof(struct peer_req, has_nid)),
	LNET_FIELD_SUB("health stats", health_fields),
	{ NULL }
};

static int peer_item(struct lnet_req item, struct peer_req *r, struct lnet_ctl_err *e)
{
	struct lnet_req elem;
	int rc;

	r->nr = 0;
	r->mr = true;
	r->log = false;
	r->health = HEALTH_UNSET;
	r->state = STATE_UNSET;
	memset(&r->pnis, 0, sizeof(r->pnis));
	rc = lnet_ctl_read(item, peer_fields, r, e);
	while (!rc && lnet_req_item(&r->pnis, &elem)) {
		r->has_nid = false;
		rc = lnet_ctl_read(elem, pni_fields, r, e);
		if (rc || !r->has_nid)
			continue;
		if (r->nr == LNET_CTL_NIDS_MAX)
			return lnet_ctl_fail(e, -E2BIG, "more NIDs than allowed (%d)",
					     LNET_CTL_NIDS_MAX);
		r->nids[r->nr++] = r->nid;
	}
	return rc;
}

/* ---- add, del, set --------------------------------------------------------------------------- */

static int peer_req_check(struct lnet *ln, const struct peer_req *r, struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE];
	unsigned int i;

	for (i = 0; i <= r->nr; i++) {
		const struct lnet_nid *nid = i < r->nr ? &r->nids[i] : &r->primary;
		struct lnet_ni *ni;

		if (!lnet_nid_is_host(nid) || lnet_nid_is_lo(nid))
			return lnet_ctl_fail(e, -EINVAL,
					     "%s cannot be a peer: it is not the NID of one host",
					     lnet_nid_str(nid, buf));
		ni = lnet_ni_find(ln, nid);
		lnet_ni_put(ni);
		if (ni)
			return lnet_ctl_fail(e, -EINVAL,
					     "%s cannot be a peer: it is an interface of this node",
					     lnet_nid_str(nid, buf));
	}
	return 0;
}

/*
 * Returns a NID of the request that is on the same net as another NID of the request. A peer that
 * is not multi-rail cannot have both.
 */
static const struct lnet_nid *further_nid(const struct peer_req *r)
{
	unsigned int i, k;

	for (i = 0; i < r->nr; i++) {
		if (lnet_nid_net(&r->nids[i]) == lnet_nid_net(&r->primary) &&
		    !lnet_nid_same(&r->nids[i], &r->primary))
			return &r->nids[i];
		for (k = 0; k < i; k++)
			if (lnet_nid_net(&r->nids[i]) == lnet_nid_net(&r->nids[k]) &&
			    !lnet_nid_same(&r->nids[i], &r->nids[k]))
				return &r->nids[i];
	}
	return &r->primary;
}

static int peer_req_add(struct lnet *ln, const struct peer_req *r, struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE], nid[LNET_NIDSTR_SIZE];
	int rc = peer_req_check(ln, r, e);

	if (rc)
		return rc;
	rc = lnet_peer_add(ln, &r->primary, r->nids, r->nr, r->mr);
	if (!rc)
		return 0;
	lnet_nid_str(&r->primary, buf);
	if (rc == -EEXIST)
		return lnet_ctl_fail(
			e, rc, "cannot add peer %s: one of its NIDs belongs to another peer", buf);
	if (rc == -ENOTUNIQ)
		return lnet_ctl_fail(e, rc, "peer %s is not multi-rail (--non_mr): it cannot have "
				     "a further NID, %s", buf, lnet_nid_str(further_nid(r), nid));
	if (rc == -EPERM)
		return lnet_ctl_fail(e, rc, "peer %s already exists, %s: delete it first", buf,
				     r->mr ? "with --non_mr" : "without --non_mr");
	return lnet_ctl_fail(e, rc, "cannot add peer %s: %s", buf, lnet_ctl_why(rc));
}

/*
 * The peer is a gateway. The error text lists the remote nets of all routes through this gateway.
 */
static int gateway_refuse(struct lnet *ln, const struct peer_req *r, struct lnet_ctl_err *e)
{
	char nid[LNET_NIDSTR_SIZE], net[LNET_NIDSTR_SIZE], nets[48] = "";
	struct lnet_peer_ni *gw, *pni = lnet_peer_ni_lookup(ln, &r->primary);
	struct lnet_route_info info;
	unsigned int i, nr = 0;
	size_t len = 0;
	const char *s;

	for (i = 0; pni && !lnet_route_get(ln, i, &info); i++) {
		gw = lnet_peer_ni_lookup(ln, &info.cfg.gateway);
		if (gw && gw->peer == pni->peer)
			len += (size_t)scnprintf(nets + len, sizeof(nets) - len, "%s%s",
						 nr++ ? ", " : "", lnet_net_str(info.cfg.net, net));
		lnet_peer_ni_put(gw);
	}
	lnet_peer_ni_put(pni);
	s = nr == 1 ? "" : "s";
	return lnet_ctl_fail(e, -EBUSY, "peer %s is the gateway of %u route%s (%s): delete the "
			     "route%s first", lnet_nid_str(&r->primary, nid), nr, s, nets, s);
}

static int peer_del(struct lnet *ln, const struct peer_req *r, bool force, struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE];
	int rc = force ? lnet_peer_del(ln, &r->primary, r->nids, r->nr)
		       : lnet_peer_del_unlocked(ln, &r->primary, r->nids, r->nr);

	lnet_nid_str(&r->primary, buf);
	switch (rc) {
	case 0:
		return 0;
	case -ENOENT:
		return lnet_ctl_fail(
			e, rc,
			r->nr ? "peer %s with all these NIDs not found ('peer show' lists them)"
			      : "peer %s not found ('peer show' lists them)",
			buf);
	case -ENODEV:
		return lnet_ctl_fail(
			e, rc, "%s is not the primary NID of its peer ('peer show' lists it)", buf);
	case -EBUSY:
		return gateway_refuse(ln, r, e);
	}
	return lnet_ctl_fail(e, rc, "cannot delete peer %s: %s", buf, lnet_ctl_why(rc));
}

static int peer_log(struct lnet *ln, const struct lnet_nid *nid);

static int peer_req_set(struct lnet *ln, const struct peer_req *r, struct lnet_ctl_err *e)
{
	char buf[LNET_NIDSTR_SIZE];
	int rc = 0;

	if (r->log)
		rc = peer_log(ln, &r->primary);
	if (!rc && r->state != STATE_UNSET)
		rc = lnet_peer_set_state(ln, &r->primary, U32_MAX, (u32)r->state);
	if (!rc && r->health != HEALTH_UNSET)
		rc = lnet_health_set_peer(ln, &r->primary, (int)r->health);
	return rc ? lnet_ctl_fail(e, rc, "peer interface %s not found ('peer show' lists them)",
				  lnet_nid_str(&r->primary, buf))
		  : 0;
}

static int peer_act(struct lnet *ln, u16 flags, const struct peer_req *r, struct lnet_ctl_err *e)
{
	bool excl = flags & LNET_NL_F_EXCL;
	int rc;

	if (flags & LNET_NL_F_REPLACE)
		return peer_req_set(ln, r, e);
	if (!(flags & LNET_NL_F_CREATE))
		return peer_del(ln, r, excl, e);
	rc = peer_req_add(ln, r, e);
	return rc || !excl ? rc
			   : lnet_peer_set_state(ln, &r->primary, LNET_PEER_STATE_LOCKED,
						 LNET_PEER_STATE_LOCKED);
}

static int peers_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		     struct lnet_ctl_err *e)
{
	struct lnet_req items, item;
	struct peer_req *r;
	int rc = 0;

	if (!req->len)
		return lnet_ctl_fail(e, -ENOMSG, "the request is empty");
	if (!lnet_ctl_items(req, &items))
		return lnet_ctl_fail(e, -EINVAL, "the request is not a list of peers");
	r = kvzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	while (!rc && lnet_req_item(&items, &item)) {
		rc = peer_item(item, r, e);
		if (!rc && !(req->flags & LNET_NL_F_STAGED))
			rc = peer_act(ctl->ln, req->flags, r, e);
	}
	kvfree(r);
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int peers_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
		       struct lnet_ctl_err *e)
{
	static const struct lnet_field fields[] = {
		LNET_FIELD(NID, "primary nid", struct lnet_ctl_dump, nid,
			   .has = offsetof(struct lnet_ctl_dump, filtered)),
		{ NULL }
	};
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_peer_ni *pni;
	struct lnet_req item;
	int rc;

	if (!lnet_ctl_first(req, &item))
		return 0;
	rc = lnet_ctl_read(item, fields, d, e);
	if (rc || !d->filtered)
		return rc;
	pni = lnet_peer_ni_lookup(d->ctl->ln, &d->nid);
	if (!pni || lnet_nid_is_lo(&pni->nid)) {
		lnet_peer_ni_put(pni);
		return lnet_ctl_fail(e, -ENOENT, "peer %s not found ('peer show' lists them)",
				     lnet_nid_str(&d->nid, buf));
	}
	d->peer = lnet_peer_of(pni);
	lnet_peer_ni_put(pni);
	d->pos = 1;
	return 0;
}

#define MSGS(side)                                                                               \
	{                                                                                        \
		.put = (u32)c[LNET_PNIC_##side##_put], .get = (u32)c[LNET_PNIC_##side##_get],    \
		.reply = (u32)c[LNET_PNIC_##side##_reply], .ack = (u32)c[LNET_PNIC_##side##_ack] \
	}

/* [sh] */
static void pni_view(const struct lnet_peer_ni *pni, struct lnet_view_pni *v)
{
	const u64 *c = pni->c;
	const struct lnet_path *path;

	memset(v, 0, sizeof(*v));
	lnet_nid_str(&pni->nid, v->nid);
	strscpy(v->state, "NA", sizeof(v->state));
	lnet_ctl_udsp_pni(pni, &v->udsp);
	v->max_tx_credits = pni->max_credits;
	v->tx_credits = (u32)pni->credits;
	v->min_tx_credits = (u32)pni->min_credits;
	v->tx_queue_bytes = pni->nr_wait;
	v->rtr_credits = (u32)pni->rtr_credits;
	v->min_rtr_credits = (u32)pni->min_rtr_credits;
	v->refcount = (u32)atomic_read(&pni->refs);
	v->stat.send_count = (u32)c[LNET_PNIC_send_count];
	v->stat.recv_count = (u32)c[LNET_PNIC_recv_count];
	v->stat.drop_count = (u32)c[LNET_PNIC_drop_count];
	list_for_each_entry(path, &pni->paths, link)
		if (path->stats)
			lnet_ctl_stat_add(&v->stat, path->stats);
	v->sent = (struct lnet_view_msgs)MSGS(sent);
	v->received = (struct lnet_view_msgs)MSGS(recv);
	v->dropped = (struct lnet_view_msgs)MSGS(drop);
	v->health = (struct lnet_view_pni_health){
		.value = pni->health,
		.dropped = (u32)c[LNET_PNIC_dropped],
		.timeout = (u32)c[LNET_PNIC_timeout],
		.error = (u32)c[LNET_PNIC_error],
		.network_timeout = (u32)c[LNET_PNIC_network_timeout],
		.ping_count = pni->ping_count,
		.next_ping = (s64)div_u64(pni->next_ping_ns, NSEC_PER_SEC),
	};
	v->more.resends_remote_timeout = c[LNET_PNIC_resend_remote_timeout];
	v->more.resends_network_timeout = c[LNET_PNIC_resend_network_timeout];
}

/* ---- paths: from level LNET_LEVEL_MORE on ---------------------------------------------------- */

/*
 * Number of paths that are shown of one interface. It is bounded because an element must fit in one
 * message.
 */
#define PATHS_MAX 64

/* Fills @v with the sums of @a and @b; @h has the histogram of both. */
static void times_view(const struct lnet_times *a, const struct lnet_times *b,
		       const struct lnet_hist *h, struct lnet_view_times *v)
{
	struct lnet_times t;

	lnet_times_sum(&t, a, b);
	v->samples = t.count;
	if (!t.count)
		return;
	v->min_ns = t.min_ns;
	v->max_ns = t.max_ns;
	v->avg_ns = div64_u64(t.sum_ns, t.count);
	v->median_ns = lnet_hist_quantile(h, t.max_ns, 500);
	v->p99_ns = lnet_hist_quantile(h, t.max_ns, 990);
	v->p999_ns = lnet_hist_quantile(h, t.max_ns, 999);
}

static const char *path_state(const struct lnet_path *path)
{
	if (!lnet_ni_has_link(path->ni))
		return "no link";
	if (path->down_ns)
		return "down";
	if (path->suspect_ns)
		return "suspect";
	return path->recovering ? "recovering" : "up";
}

/* [sh] */
static void path_view(const struct lnet_path *path, struct lnet_view_path *v)
{
	const struct lnet_path_stats *s = path->stats;

	memset(v, 0, sizeof(*v));
	lnet_nid_str(&path->ni->nid, v->nid);
	strscpy(v->state, path_state(path), sizeof(v->state));
	v->rtt_ns = path->srtt_ns;
	v->rtt_var_ns = path->rttvar_ns;
	v->in_flight = path->nr_wire;
	v->health = path->health;
	if (!s)
		return;
	times_view(&s->put_egress, &s->egress, &s->sent, &v->send);
	times_view(&s->get_rtt, &s->put_ack, &s->answered, &v->trans);
}

/* Averages over all paths: the time to send to the interface, and the time until the reply. */
static void pni_averages(const struct lnet_peer_ni *pni, struct lnet_view_pni_more *v)
{
	u64 nr_send = 0, nr_trans = 0;
	const struct lnet_path *path;

	list_for_each_entry(path, &pni->paths, link) {
		const struct lnet_path_stats *s = path->stats;

		if (!s)
			continue;
		nr_send += s->put_egress.count + s->egress.count;
		nr_trans += s->get_rtt.count + s->put_ack.count;
		v->send_avg_ns += s->put_egress.sum_ns + s->egress.sum_ns;
		v->trans_avg_ns += s->get_rtt.sum_ns + s->put_ack.sum_ns;
	}
	v->send_avg_ns = nr_send ? div64_u64(v->send_avg_ns, nr_send) : 0;
	v->trans_avg_ns = nr_trans ? div64_u64(v->trans_avg_ns, nr_trans) : 0;
}

/* Finds the path @pos of the interface @pni_pos, as it is now. False: there are fewer paths. */
static bool path_at(struct lnet_peer *peer, u32 pni_pos, u32 pos, struct lnet_view_path *v)
{
	const struct lnet_peer_ni *pni;
	const struct lnet_path *path;
	bool found = false;

	spin_lock(&peer->sh->lock);
	list_for_each_entry(pni, &peer->pnis, link) {
		if (pni_pos--)
			continue;
		list_for_each_entry(path, &pni->paths, link) {
			found = !pos--;
			if (found) {
				path_view(path, v);
				break;
			}
		}
		break;
	}
	spin_unlock(&peer->sh->lock);
	return found;
}

static void paths_emit(const struct lnet_ctl_dump *d, struct lnet_sink *s)
{
	struct lnet_view_path v;
	u32 i;

	s->ops->open(s, LNET_OPEN_NEST, lnet_table_pni.nr);
	for (i = 0; i < PATHS_MAX && path_at(d->peer, d->sub, i, &v); i++) {
		s->ops->open(s, LNET_OPEN_ELEM, i);
		lnet_table_emit(s, &lnet_table_path, &v, d->level, false, NULL);
		s->ops->close(s);
	}
	s->ops->close(s);
}

/* ---- peers ----------------------------------------------------------------------------------- */

static void peer_view(struct lnet_peer *peer, struct lnet_view_peer *v)
{
	spin_lock(&peer->sh->lock);
	lnet_nid_str(&peer->primary, v->primary);
	v->multi_rail = peer->mr;
	v->state = peer->state_rest | lnet_disc_bits(peer) |
		   (peer->mr ? LNET_PEER_STATE_MULTI_RAIL : 0) |
		   (peer->configured ? LNET_PEER_STATE_CONFIGURED : 0) |
		   (peer->locked ? LNET_PEER_STATE_LOCKED : 0);
	spin_unlock(&peer->sh->lock);
}

/*
 * Copies the present state of the interface with index @pos to @v. False: there are fewer
 * interfaces.
 */
static bool pni_at(struct lnet_peer *peer, u32 pos, struct lnet_view_pni *v)
{
	const struct lnet_peer_ni *pni;
	bool found = false;

	spin_lock(&peer->sh->lock);
	list_for_each_entry(pni, &peer->pnis, link) {
		if (pos--)
			continue;
		pni_view(pni, v);
		pni_averages(pni, &v->more);
		found = true;
		break;
	}
	spin_unlock(&peer->sh->lock);
	if (found)
		lnet_ctl_stat_done(&v->stat);
	return found;
}

/* Logs the texts that stock LNet writes to its debug log. */
static int peer_log(struct lnet *ln, const struct lnet_nid *nid)
{
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, nid);
	struct lnet_view_pni *v = kzalloc(sizeof(*v), GFP_KERNEL);
	struct lnet_view_peer view = { 0 };
	int rc = !v ? -ENOMEM : pni && !lnet_nid_is_lo(&pni->nid) ? 0 : -ENOENT;
	struct lnet_peer *peer = rc ? NULL : lnet_peer_of(pni);
	u32 i;

	if (peer) {
		peer_view(peer, &view);
		pr_info("peer %s: state %u, %u references\n", view.primary, view.state,
			(u32)atomic_read(&peer->refs));
	}
	for (i = 0; peer && pni_at(peer, i, v); i++)
		pr_info("peer interface %s: health %d, credits %d, fewest credits %d, %u waiting "
			"messages\n",
			v->nid, v->health.value, (s32)v->tx_credits, (s32)v->min_tx_credits,
			v->tx_queue_bytes);
	lnet_peer_put(peer);
	lnet_peer_ni_put(pni);
	kfree(v);
	return rc;
}

/* Writes the interface number d->sub of d->peer. False: there is no such interface. */
static bool pni_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, void *arg)
{
	struct lnet_view_pni *v = arg;

	if (!pni_at(d->peer, d->sub, v))
		return false;
	s->ops->open(s, LNET_OPEN_ELEM, d->sub);
	lnet_table_emit(s, &lnet_table_pni, v, d->level, d->backup, NULL);
	if (d->level >= LNET_LEVEL_MORE && !d->backup)
		paths_emit(d, s);
	return true;
}

/* True: all of d->peer fits */
static bool peer_emit(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_view_pni *v)
{
	struct lnet_view_peer view = { 0 };

	if (!lnet_ctl_table(d, s, &lnet_table_peer))
		return false;
	peer_view(d->peer, &view);
	lnet_ctl_item(d, s);
	lnet_table_emit(s, &lnet_table_peer, &view, d->level, d->backup, NULL);
	return lnet_ctl_list(d, s, 5, pni_emit, v);
}

/*
 * Sets d->peer to the next peer, except loopback; NULL at the end. If peers are removed during the
 * dump, the dump may miss a peer.
 */
static void peer_next(struct lnet_ctl_dump *d)
{
	do {
		d->peer = lnet_peer_next(d->ctl->ln, d->peer);
		d->pos++;
	} while (d->peer && lnet_nid_is_lo(&d->peer->primary));
}

static int peers_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_view_pni *v = kzalloc(sizeof(*v), GFP_KERNEL);
	bool fits = true;

	if (!v)
		return -ENOMEM;
	mutex_lock(&d->ctl->ln->cfg_mutex);
	if (!d->peer && !d->pos)
		peer_next(d);
	while (d->peer) {
		if (!d->peer->deleted && (!d->backup || d->peer->configured))
			fits = peer_emit(d, s, v);
		if (!fits)
			break;
		d->sub = 0;
		if (d->filtered) {
			lnet_peer_put(d->peer);
			d->peer = NULL;
		} else {
			peer_next(d);
		}
	}
	mutex_unlock(&d->ctl->ln->cfg_mutex);
	kfree(v);
	return fits ? 0 : 1;
}

const struct lnet_ctl_cmd lnet_cmd_peers = {
	.cmd = LNET_NL_PEERS,
	.stages = true,
	.act = peers_act,
	.start = peers_start,
	.next = peers_next,
};
