/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies the configuration before a transaction, and restores it if the transaction fails. */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "router/router.h"
#include "fault/fault.h"
#include "manage/manage.h"

struct conf_peer {
	struct list_head link;
	struct lnet_nid primary;
	u64 seq;		/* position of the peer in the list of peers */
	bool mr, locked;
	unsigned int nr, room;
	struct lnet_nid nids[];
};

struct lnet_ctl_conf {
	struct lnet_tunables tun;
	struct lnet_ctl_waiting *waiting;
	struct lnet_ni_cfg *nis;
	struct lnet_ctl_marks *marks;	/* of each of nis */
	struct lnet_udsp_rule *policies;
	struct lnet_route_cfg *routes;
	struct lnet_rules_kept *faults;
	unsigned int nr_nis, nr_policies, nr_routes;
	bool routing;
	struct list_head peers;
};

void lnet_ctl_conf_free(struct lnet_ctl_conf *conf)
{
	struct lnet_ctl_waiting *w = conf ? conf->waiting : NULL, *next_w;
	struct conf_peer *peer, *next;

	if (!conf)
		return;
	list_for_each_entry_safe(peer, next, &conf->peers, link)
		kvfree(peer);
	for (; w; w = next_w) {
		next_w = w->next;
		kfree(w);
	}
	kvfree(conf->nis);
	kvfree(conf->marks);
	kvfree(conf->faults);
	kvfree(conf->policies);
	kvfree(conf->routes);
	kvfree(conf);
}

/* ---- reading --------------------------------------------------------------------------------- */

void lnet_ctl_marks_get(const struct lnet_ni *ni, struct lnet_ctl_marks *marks)
{
	marks->drained = lnet_ni_marked(ni, LNET_MARK(DRAINED));
	marks->down = lnet_ni_marked(ni, LNET_MARK(RULE_DOWN));
}

void lnet_ctl_marks_set(struct lnet *ln, const struct lnet_nid *nid,
			const struct lnet_ctl_marks *marks)
{
	struct lnet_ni *ni = lnet_ni_find(ln, nid);
	struct lnet_ctl_marks has;

	if (!ni)
		return;
	lnet_ctl_marks_get(ni, &has);
	lnet_ni_put(ni);
	if (has.drained != marks->drained)
		lnet_ni_drain(ln, nid, marks->drained);
	if (has.down != marks->down)
		lnet_fault_ni_down(ln, nid, marks->down);
}

void lnet_ctl_ni_cfg(const struct lnet_ni *ni, struct lnet_ni_cfg *cfg)
{
	lnet_ni_cfg_init(cfg);
	cfg->nid = ni->nid;
	memcpy(cfg->ifname, ni->ifname, sizeof(cfg->ifname));
	cfg->peer_timeout = ni->peer_timeout;
	cfg->peer_credits = ni->peer_credits;
	cfg->peer_buffer_credits = ni->peer_buffer_credits;
	cfg->credits = ni->credits;
	cfg->conns_per_peer = (s32)READ_ONCE(ni->conns_per_peer);
	cfg->tos = ni->tos;
	cfg->dev_cpt = ni->dev_cpt;
	cfg->cpts = ni->cpts;
}

static int nis_read(struct lnet_control *ctl, struct lnet_ctl_conf *conf)
{
	struct lnet_ctl_waiting **to = &conf->waiting;
	const struct lnet_ctl_waiting *w;
	struct lnet *ln = ctl->ln;
	struct lnet_ni *ni;
	int rc = 0;

	conf->nis = kvcalloc(LNET_MAX_NIS, sizeof(*conf->nis), GFP_KERNEL);
	conf->marks = kvcalloc(LNET_MAX_NIS, sizeof(*conf->marks), GFP_KERNEL);
	if (!conf->nis || !conf->marks)
		return -ENOMEM;
	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_nid_is_lo(&ni->nid) || conf->nr_nis == LNET_MAX_NIS)
			continue;
		lnet_ctl_marks_get(ni, &conf->marks[conf->nr_nis]);
		lnet_ctl_ni_cfg(ni, &conf->nis[conf->nr_nis]);
		if (!ni->by_name)
			conf->nis[conf->nr_nis].ifname[0] = 0;
		conf->nr_nis++;
	}
	for (w = ctl->waiting; w; w = w->next) {
		*to = kmemdup(w, sizeof(*w), GFP_KERNEL);
		if (!*to) {
			rc = -ENOMEM;
			break;
		}
		(*to)->next = NULL;
		to = &(*to)->next;
	}
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

/*
 * Peer NIs that are added after nr_pnis was read are dynamically created. They are not part of the
 * configuration.
 */
static int peer_read(struct lnet_peer *peer, struct lnet_ctl_conf *conf)
{
	unsigned int room = READ_ONCE(peer->nr_pnis);
	const struct lnet_peer_ni *pni;
	struct conf_peer *p = kvzalloc(struct_size(p, nids, room), GFP_KERNEL);

	if (!p)
		return -ENOMEM;
	p->room = room;
	list_add_tail(&p->link, &conf->peers);
	spin_lock(&peer->sh->lock);
	p->primary = peer->primary;
	p->seq = peer->seq;
	p->mr = peer->mr;
	p->locked = peer->locked;
	list_for_each_entry(pni, &peer->pnis, link)
		if (p->nr < p->room)
			p->nids[p->nr++] = pni->nid;
	spin_unlock(&peer->sh->lock);
	return 0;
}

static int peers_read(struct lnet *ln, struct lnet_ctl_conf *conf)
{
	struct lnet_peer *peer;
	int rc = 0;

	for (peer = lnet_peer_next(ln, NULL); peer && !rc; peer = lnet_peer_next(ln, peer))
		if (peer->configured && !peer->deleted)
			rc = peer_read(peer, conf);
	lnet_peer_put(peer);
	return rc;
}

static int policies_read(struct lnet *ln, struct lnet_ctl_conf *conf)
{
	conf->policies = kvcalloc(LNET_UDSP_MAX, sizeof(*conf->policies), GFP_KERNEL);
	if (!conf->policies)
		return -ENOMEM;
	while (conf->nr_policies < LNET_UDSP_MAX &&
	       !lnet_udsp_get(ln, conf->nr_policies, &conf->policies[conf->nr_policies]))
		conf->nr_policies++;
	return 0;
}

static int routes_read(struct lnet *ln, struct lnet_ctl_conf *conf)
{
	struct lnet_route_info info;
	unsigned int nr = 0;

	while (!lnet_route_get(ln, nr, &info))
		nr++;
	conf->routes = kvcalloc(nr + 1, sizeof(*conf->routes), GFP_KERNEL);
	if (!conf->routes)
		return -ENOMEM;
	while (conf->nr_routes < nr && !lnet_route_get(ln, conf->nr_routes, &info))
		conf->routes[conf->nr_routes++] = info.cfg;
	return 0;
}

int lnet_ctl_conf_read(struct lnet_control *ctl, struct lnet_ctl_conf **res)
{
	struct lnet_ctl_conf *conf = kvzalloc(sizeof(*conf), GFP_KERNEL);
	int rc;

	*res = conf;
	if (!conf)
		return -ENOMEM;
	INIT_LIST_HEAD(&conf->peers);
	conf->tun = ctl->ln->tun;
	conf->routing = lnet_router_on(ctl->ln);
	rc = nis_read(ctl, conf);
	rc = rc ? rc : peers_read(ctl->ln, conf);
	rc = rc ? rc : lnet_rules_keep(ctl->ln, &conf->faults);
	rc = rc ? rc : policies_read(ctl->ln, conf);
	rc = rc ? rc : routes_read(ctl->ln, conf);
	if (!rc)
		return 0;
	lnet_ctl_conf_free(conf);
	*res = NULL;
	return rc;
}

/* ---- restoring ------------------------------------------------------------------------------- */

/*
 * Retries, because a lack of memory may be brief. A node with parts of both configurations would be
 * worse.
 */
#define TRIES_MAX 900		/* in a restore */
#define TRIES_RUN 100		/* for one object of it */

struct restore {
	struct lnet_control *ctl;
	struct lnet *ln;
	const struct lnet_ctl_conf *now, *conf;	/* current and target configuration */
	/* number of retries in all, and for the current object */
	unsigned int tries, run;
	int rc;					/* the first error */
};

/*
 * Returns true if the caller must retry, because memory was short. Otherwise stores @rc if it is
 * the first error.
 */
static bool again(struct restore *r, int rc)
{
	if (rc == -ENOMEM && ++r->run < TRIES_RUN && ++r->tries < TRIES_MAX)
		return true;
	r->run = 0;
	r->rc = r->rc ? r->rc : rc;
	return false;
}

static bool ni_in(const struct lnet_ctl_conf *conf, const struct lnet_ni_cfg *b)
{
	const struct lnet_ni_cfg *a;

	for (a = conf->nis; a < conf->nis + conf->nr_nis; a++)
		if (lnet_nid_same(&a->nid, &b->nid) && !strcmp(a->ifname, b->ifname) &&
		    a->peer_timeout == b->peer_timeout && a->peer_credits == b->peer_credits &&
		    a->peer_buffer_credits == b->peer_buffer_credits &&
		    a->credits == b->credits && a->conns_per_peer == b->conns_per_peer &&
		    a->tos == b->tos && a->cpts == b->cpts)
			return true;
	return false;
}

static void nis_add(struct restore *r)
{
	const struct lnet_ctl_conf *conf = r->conf;
	unsigned int i;

	for (i = 0; i < conf->nr_nis; i++)
		if (!ni_in(r->now, &conf->nis[i]))
			while (again(r, lnet_ni_add(r->ln, &conf->nis[i])))
				;
	lnet_nis_order(r->ln, conf->nis, conf->nr_nis);
	for (i = 0; i < conf->nr_nis; i++)
		lnet_ctl_marks_set(r->ln, &conf->nis[i].nid, &conf->marks[i]);
}

static bool nid_in(const struct conf_peer *p, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < p->nr; i++)
		if (lnet_nid_same(&p->nids[i], nid))
			return true;
	return false;
}

static const struct conf_peer *peer_in(const struct lnet_ctl_conf *conf, const struct conf_peer *p)
{
	const struct conf_peer *other;

	list_for_each_entry(other, &conf->peers, link)
		if (lnet_nid_same(&other->primary, &p->primary) && other->mr == p->mr &&
		    other->locked == p->locked)
			return other;
	return NULL;
}

static void peers_del(struct restore *r)
{
	const struct conf_peer *p, *was;
	unsigned int i;

	list_for_each_entry(p, &r->now->peers, link) {
		was = peer_in(r->conf, p);
		if (!was)
			lnet_peer_del(r->ln, &p->primary, NULL, 0);
		for (i = 0; was && i < p->nr; i++)
			if (!nid_in(was, &p->nids[i]))
				lnet_peer_del(r->ln, &p->primary, &p->nids[i], 1);
	}
}

static void peers_add(struct restore *r)
{
	const struct conf_peer *p, *now;
	unsigned int i;

	list_for_each_entry(p, &r->conf->peers, link) {
		now = peer_in(r->now, p);
		for (i = 0; now && i < p->nr && nid_in(now, &p->nids[i]); i++)
			;
		if (now && i == p->nr)
			continue;
		while (again(r, lnet_peer_add(r->ln, &p->primary, p->nids, p->nr, p->mr)))
			;
		if (p->locked)
			lnet_peer_set_state(r->ln, &p->primary, LNET_PEER_STATE_LOCKED,
					    LNET_PEER_STATE_LOCKED);
		lnet_peer_place(r->ln, p->seq, p->nids, p->nr);
	}
}

static bool conf_has_route(const struct lnet_ctl_conf *conf, const struct lnet_route_cfg *cfg)
{
	const struct lnet_route_cfg *r;

	for (r = conf->routes; r < conf->routes + conf->nr_routes; r++)
		if (r->net == cfg->net && lnet_nid_same(&r->gateway, &cfg->gateway) &&
		    r->hops == cfg->hops && r->priority == cfg->priority)
			return true;
	return false;
}

static void tunables_make(struct lnet *ln, const struct lnet_ctl_conf *conf)
{
	unsigned int i;

	for (i = 0; i < lnet_nr_tunables; i++) {
		const struct lnet_tunable_info *info = &lnet_tunable_table[i];
		u64 value = *(const u64 *)((const u8 *)&conf->tun + info->off);

		if (lnet_tunable_get(ln, info) != value)
			lnet_tunable_set(ln, info->name, value);
	}
}

/* First deletes the new objects, because they may use resources that a restored object needs. */
static void restore(struct restore *r)
{
	const struct lnet_ctl_conf *now = r->now, *conf = r->conf;
	const struct lnet_ctl_waiting *w;
	struct lnet *ln = r->ln;
	unsigned int i;

	for (i = 0; i < now->nr_routes; i++)
		if (!conf_has_route(conf, &now->routes[i]))
			lnet_route_del(ln, now->routes[i].net, &now->routes[i].gateway);
	peers_del(r);
	for (i = 0; i < now->nr_nis; i++)
		if (!ni_in(conf, &now->nis[i]))
			lnet_ni_del(ln, &now->nis[i].nid);
	tunables_make(ln, conf);
	nis_add(r);
	lnet_ctl_wait_del(r->ctl, NULL);
	for (w = conf->waiting; w; w = w->next)
		while (again(r, lnet_ctl_wait_add(r->ctl, w)))
			;
	peers_add(r);
	while (again(r, lnet_udsp_set(ln, conf->policies, conf->nr_policies)))
		;
	while (now->routing != conf->routing && again(r, lnet_router_enable(ln, conf->routing)))
		;
	for (i = 0; i < conf->nr_routes; i++)
		if (!conf_has_route(now, &conf->routes[i]))
			while (again(r, lnet_route_restore(ln, &conf->routes[i])))
				;
	while (again(r, lnet_rules_put_back(ln, conf->faults)))
		;
}

int lnet_ctl_conf_restore(struct lnet_control *ctl, const struct lnet_ctl_conf *conf)
{
	struct restore r = { .ctl = ctl, .ln = ctl->ln, .conf = conf };
	struct lnet_ctl_conf *now;

	while (again(&r, lnet_ctl_conf_read(ctl, &now)))
		;
	if (r.rc)
		return r.rc;
	r.now = now;
	restore(&r);
	lnet_ctl_conf_free(now);
	return r.rc;
}
