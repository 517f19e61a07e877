/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A configuration as a whole: read before a transaction, and made again when that fails. */
#include "control/command.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "router/router.h"
#include "fault/fault.h"
#include "manage/manage.h"

/* Memory may be short for a moment; a node that is neither old nor new would be worse. */
#define TRIES_MAX 100

struct conf_peer {
	struct list_head link;
	struct lnet_nid primary;
	u64 seq;		/* where it stands */
	bool mr, locked;
	unsigned int nr, room;
	struct lnet_nid nids[];
};

struct lnet_ctl_conf {
	struct lnet_tunables tun;
	struct lnet_ctl_waiting *waiting;
	struct lnet_ni_cfg *nis;
	struct lnet_ctl_marks *marks;	/* of each of nis */
	struct lnet_fault_rule *rules[2];
	struct lnet_udsp_rule *policies;
	struct lnet_route_cfg *routes;
	struct lnet_rules_kept *faults;	/* of the grammar of faults.def */
	unsigned int nr_nis, nr_rules[2], nr_policies, nr_routes;
	bool routing;
	struct list_head peers;
};

static void waiting_free(struct lnet_ctl_waiting *w)
{
	while (w) {
		struct lnet_ctl_waiting *next = w->next;

		kfree(w);
		w = next;
	}
}

void lnet_ctl_conf_free(struct lnet_ctl_conf *conf)
{
	struct conf_peer *peer, *next;

	if (!conf)
		return;
	list_for_each_entry_safe(peer, next, &conf->peers, link)
		kvfree(peer);
	waiting_free(conf->waiting);
	kvfree(conf->nis);
	kvfree(conf->marks);
	kvfree(conf->rules[0]);
	kvfree(conf->rules[1]);
	kvfree(conf->faults);
	kvfree(conf->policies);
	kvfree(conf->routes);
	kvfree(conf);
}

/* ---- reading --------------------------------------------------------------------------------- */

static void ni_read(const struct lnet_ni *ni, struct lnet_ni_cfg *cfg)
{
	lnet_ni_cfg_init(cfg);
	cfg->nid = ni->nid;
	if (ni->by_name)
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

static int waiting_copy(struct lnet_ctl_waiting **to, const struct lnet_ctl_waiting *from)
{
	for (; from; from = from->next) {
		*to = kzalloc(sizeof(**to), GFP_KERNEL);
		if (!*to)
			return -ENOMEM;
		**to = *from;
		(*to)->next = NULL;
		to = &(*to)->next;
	}
	return 0;
}

static int nis_read(struct lnet_control *ctl, struct lnet_ctl_conf *conf)
{
	struct lnet *ln = ctl->ln;
	struct lnet_ni *ni;
	int rc;

	conf->nis = kvcalloc(LNET_MAX_NIS, sizeof(*conf->nis), GFP_KERNEL);
	conf->marks = kvcalloc(LNET_MAX_NIS, sizeof(*conf->marks), GFP_KERNEL);
	if (!conf->nis || !conf->marks)
		return -ENOMEM;
	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link) {
		if (lnet_nid_is_lo(&ni->nid) || conf->nr_nis == LNET_MAX_NIS)
			continue;
		lnet_ctl_marks_get(ni, &conf->marks[conf->nr_nis]);
		ni_read(ni, &conf->nis[conf->nr_nis++]);
	}
	rc = waiting_copy(&conf->waiting, ctl->waiting);
	mutex_unlock(&ln->cfg_mutex);
	return rc;
}

/* Interfaces that come after their number was read are traffic's, and no configuration. */
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

static int rules_read(struct lnet *ln, bool delay, struct lnet_ctl_conf *conf)
{
	struct lnet_fault_rule rule;
	unsigned int nr = 0, i;

	while (!lnet_fault_get(ln, delay, nr, &rule))
		nr++;
	if (!nr)
		return 0;
	conf->rules[delay] = kvcalloc(nr, sizeof(rule), GFP_KERNEL);
	if (!conf->rules[delay])
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (!lnet_fault_get(ln, delay, i, &conf->rules[delay][i]))
			conf->nr_rules[delay]++;
	return 0;
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
	rc = rc ? rc : rules_read(ctl->ln, false, conf);
	rc = rc ? rc : rules_read(ctl->ln, true, conf);
	rc = rc ? rc : lnet_rules_keep(ctl->ln, &conf->faults);
	rc = rc ? rc : policies_read(ctl->ln, conf);
	rc = rc ? rc : routes_read(ctl->ln, conf);
	if (!rc)
		return 0;
	lnet_ctl_conf_free(conf);
	*res = NULL;
	return rc;
}

/* ---- making it so ---------------------------------------------------------------------------- */

/* Only memory is worth another try. */
static bool again(int rc, unsigned int *tries)
{
	return rc == -ENOMEM && ++*tries < TRIES_MAX;
}

static bool ni_same(const struct lnet_ni_cfg *a, const struct lnet_ni_cfg *b)
{
	return lnet_nid_same(&a->nid, &b->nid) && !strcmp(a->ifname, b->ifname) &&
	       a->peer_timeout == b->peer_timeout && a->peer_credits == b->peer_credits &&
	       a->peer_buffer_credits == b->peer_buffer_credits && a->credits == b->credits &&
	       a->conns_per_peer == b->conns_per_peer && a->tos == b->tos && a->cpts == b->cpts;
}

static bool ni_in(const struct lnet_ctl_conf *conf, const struct lnet_ni_cfg *ni)
{
	unsigned int i;

	for (i = 0; i < conf->nr_nis; i++)
		if (ni_same(&conf->nis[i], ni))
			return true;
	return false;
}

static void nis_del(struct lnet *ln, const struct lnet_ctl_conf *now,
		    const struct lnet_ctl_conf *conf)
{
	unsigned int i;

	for (i = 0; i < now->nr_nis; i++)
		if (!ni_in(conf, &now->nis[i]))
			lnet_ni_del(ln, &now->nis[i].nid);
}

static int nis_add(struct lnet *ln, const struct lnet_ctl_conf *now,
		   const struct lnet_ctl_conf *conf)
{
	unsigned int i, tries = 0;
	int rc = 0, one;

	for (i = 0; i < conf->nr_nis; i++) {
		if (ni_in(now, &conf->nis[i]))
			continue;
		do
			one = lnet_ni_add(ln, &conf->nis[i]);
		while (again(one, &tries));
		rc = rc ? rc : one;
	}
	lnet_nis_order(ln, conf->nis, conf->nr_nis);
	for (i = 0; i < conf->nr_nis; i++)
		lnet_ctl_marks_set(ln, &conf->nis[i].nid, &conf->marks[i]);
	return rc;
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

static void nids_del(struct lnet *ln, const struct conf_peer *now, const struct conf_peer *was)
{
	unsigned int i;

	for (i = 0; i < now->nr; i++)
		if (!nid_in(was, &now->nids[i]))
			lnet_peer_del(ln, &now->primary, &now->nids[i], 1);
}

static void peers_del(struct lnet *ln, const struct lnet_ctl_conf *now,
		      const struct lnet_ctl_conf *conf)
{
	const struct conf_peer *p, *was;

	list_for_each_entry(p, &now->peers, link) {
		was = peer_in(conf, p);
		if (was)
			nids_del(ln, p, was);
		else
			lnet_peer_del(ln, &p->primary, NULL, 0);
	}
}

static bool peer_has(const struct conf_peer *now, const struct conf_peer *was)
{
	unsigned int i;

	for (i = 0; now && i < was->nr; i++)
		if (!nid_in(now, &was->nids[i]))
			return false;
	return now;
}

static int peers_add(struct lnet *ln, const struct lnet_ctl_conf *now,
		     const struct lnet_ctl_conf *conf)
{
	const struct conf_peer *p;
	unsigned int tries = 0;
	int rc = 0, one;

	list_for_each_entry(p, &conf->peers, link) {
		if (peer_has(peer_in(now, p), p))
			continue;
		do
			one = lnet_peer_add(ln, &p->primary, p->nids, p->nr, p->mr);
		while (again(one, &tries));
		if (p->locked)
			lnet_peer_set_state(ln, &p->primary, LNET_PEER_STATE_LOCKED,
					    LNET_PEER_STATE_LOCKED);
		lnet_peer_place(ln, p->seq, p->nids, p->nr);
		rc = rc ? rc : one;
	}
	return rc;
}

static bool rule_same(const struct lnet_fault_rule *a, const struct lnet_fault_rule *b)
{
	return lnet_nid_same(&a->src, &b->src) && lnet_nid_same(&a->dst, &b->dst) &&
	       lnet_nid_same(&a->local, &b->local) && a->portal_mask == b->portal_mask &&
	       a->msg_mask == b->msg_mask && a->rate == b->rate &&
	       a->interval_s == b->interval_s && a->latency_ns == b->latency_ns &&
	       a->health_mask == b->health_mask && a->random == b->random &&
	       a->drop_all == b->drop_all && a->when == b->when;
}

static bool rules_same(const struct lnet_ctl_conf *a, const struct lnet_ctl_conf *b, bool delay)
{
	unsigned int i;

	if (a->nr_rules[delay] != b->nr_rules[delay])
		return false;
	for (i = 0; i < a->nr_rules[delay]; i++)
		if (!rule_same(&a->rules[delay][i], &b->rules[delay][i]))
			return false;
	return true;
}

/* The newest stands first. */
static int rules_make(struct lnet *ln, const struct lnet_ctl_conf *now,
		      const struct lnet_ctl_conf *conf, bool delay)
{
	unsigned int i = conf->nr_rules[delay], tries = 0;
	int rc = 0;

	if (rules_same(now, conf, delay))
		return 0;
	lnet_fault_del(ln, delay, &LNET_NID_ANY, &LNET_NID_ANY);
	while (i-- && !rc)
		do
			rc = lnet_fault_add(ln, &conf->rules[delay][i]);
		while (again(rc, &tries));
	return rc;
}

static int faults_make(struct lnet *ln, const struct lnet_ctl_conf *conf)
{
	unsigned int tries = 0;
	int rc;

	do
		rc = lnet_rules_put_back(ln, conf->faults);
	while (again(rc, &tries));
	return rc;
}

static int policies_make(struct lnet *ln, const struct lnet_ctl_conf *conf)
{
	unsigned int tries = 0;
	int rc;

	do
		rc = lnet_udsp_set(ln, conf->policies, conf->nr_policies);
	while (again(rc, &tries));
	return rc;
}

static bool route_in(const struct lnet_ctl_conf *conf, const struct lnet_route_cfg *cfg)
{
	const struct lnet_route_cfg *r;
	unsigned int i;

	for (i = 0; i < conf->nr_routes; i++) {
		r = &conf->routes[i];
		if (r->net == cfg->net && lnet_nid_same(&r->gateway, &cfg->gateway) &&
		    r->hops == cfg->hops && r->priority == cfg->priority)
			return true;
	}
	return false;
}

static void routes_del(struct lnet *ln, const struct lnet_ctl_conf *now,
		       const struct lnet_ctl_conf *conf)
{
	unsigned int i;

	for (i = 0; i < now->nr_routes; i++)
		if (!route_in(conf, &now->routes[i]))
			lnet_route_del(ln, now->routes[i].net, &now->routes[i].gateway);
}

static int routes_add(struct lnet *ln, const struct lnet_ctl_conf *now,
		      const struct lnet_ctl_conf *conf)
{
	unsigned int i, tries = 0;
	int rc = 0, one;

	for (i = 0; i < conf->nr_routes; i++) {
		if (route_in(now, &conf->routes[i]))
			continue;
		do
			one = lnet_route_restore(ln, &conf->routes[i]);
		while (again(one, &tries));
		rc = rc ? rc : one;
	}
	return rc;
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

static int waiting_make(struct lnet_control *ctl, const struct lnet_ctl_conf *conf)
{
	const struct lnet_ctl_waiting *w;
	unsigned int tries = 0;
	int rc = 0;

	lnet_ctl_wait_del(ctl, NULL);
	for (w = conf->waiting; w && !rc; w = w->next)
		do
			rc = lnet_ctl_wait_add(ctl, w);
		while (again(rc, &tries));
	return rc;
}

/* What is there and was not goes first: it may have what is to come back. */
static int restore(struct lnet_control *ctl, const struct lnet_ctl_conf *now,
		   const struct lnet_ctl_conf *conf)
{
	struct lnet *ln = ctl->ln;
	int rc[9];

	routes_del(ln, now, conf);
	peers_del(ln, now, conf);
	nis_del(ln, now, conf);
	tunables_make(ln, conf);
	rc[0] = nis_add(ln, now, conf);
	rc[1] = waiting_make(ctl, conf);
	rc[2] = peers_add(ln, now, conf);
	rc[3] = rules_make(ln, now, conf, false);
	rc[4] = rules_make(ln, now, conf, true);
	rc[5] = policies_make(ln, conf);
	rc[6] = now->routing == conf->routing ? 0 : lnet_router_enable(ln, conf->routing);
	rc[7] = routes_add(ln, now, conf);
	rc[8] = faults_make(ln, conf);
	return rc[0] ?: rc[1] ?: rc[2] ?: rc[3] ?: rc[4] ?: rc[5] ?: rc[6] ?: rc[7] ?: rc[8];
}

int lnet_ctl_conf_restore(struct lnet_control *ctl, const struct lnet_ctl_conf *conf)
{
	struct lnet_ctl_conf *now;
	unsigned int tries = 0;
	int rc;

	do
		rc = lnet_ctl_conf_read(ctl, &now);
	while (again(rc, &tries));
	if (rc)
		return rc;
	rc = restore(ctl, now, conf);
	lnet_ctl_conf_free(now);
	return rc;
}
