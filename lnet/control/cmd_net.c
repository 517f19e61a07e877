/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that change the local interfaces: configure, net add, del and set. */
#include "control/command.h"
#include "names/names.h"
#include "topology/topology.h"
#include "path/path.h"
#include "fault/fault.h"
#include "manage/manage.h"

#define HEALTH_UNSET	(-1)

/* One interface that a request names. */
struct ni_req {
	struct lnet_ni_cfg cfg;
	u32 net;		/* LNET_NET_ANY: all */
	bool by_name, all, whole_net;	/* @whole_net: a del request names a net without a list */
	bool waits;		/* add: the device or address of the interface is missing */
	s64 health, fatal, drained;	/* HEALTH_UNSET: no change */
};

struct ni_list {
	struct ni_req *req;	/* LNET_MAX_NIS */
	unsigned int nr;
	struct lnet_control *ctl;
	struct lnet_ctl_err *e;
};

/* ---- reading requests ------------------------------------------------------------------------ */

/* The configuration of an interface in a request. A number of -1 stands for the default. */
#define NI_NUMBER(table, name, min_, max_)							\
	NI_##table(LNET_FIELD(NUM_DEF, #name, struct ni_req, cfg.name, .stock = true,		\
			      .min = min_, .max = max_),)
static const struct lnet_field tunables_fields[] = {
#define NI_net(...) __VA_ARGS__
#define NI_lnd(...)
#include "model/ni_numbers.def"
#undef NI_net
#undef NI_lnd
	{ NULL }
};
static const struct lnet_field lnd_fields[] = {
#define NI_net(...)
#define NI_lnd(...) __VA_ARGS__
#include "model/ni_numbers.def"
#undef NI_net
#undef NI_lnd
	{ NULL }
};
#undef NI_NUMBER
static const struct lnet_field health_fields[] = {
	LNET_FIELD_RANGE("health value", struct ni_req, health, 0, LNET_HEALTH_MAX),
	LNET_FIELD_RANGE("fatal_error", struct ni_req, fatal, 0, 1, .text = "0 or 1"),
	LNET_FIELD_RANGE("drained", struct ni_req, drained, 0, 1, .text = "0 or 1"),
	{ NULL }
};
/* The keys of one list entry of a request, except the keys that name the interface. */
static const struct lnet_field element_fields[] = {
	LNET_FIELD_SUB("tunables", tunables_fields),
	LNET_FIELD_SUB("lnd tunables", lnd_fields),
	LNET_FIELD_SUB("health stats", health_fields),
	{ NULL }
};
static const struct lnet_field net_fields[] = {
	{ .key = "net type", .kind = LNET_FIELD_NETS, .need = true, .range_err = -ENOENT },
	{ NULL }
};

static int cpts(const struct lnet_val *v, struct ni_req *r, const struct lnet *ln,
		struct lnet_ctl_err *e)
{
	struct lnet_req list = v->list;
	char text[LNET_TEXT_MAX];
	struct lnet_val val;
	s64 cpt;

	if (v->kind != LNET_VAL_LIST)
		return 0;
	while (lnet_req_next(&list, &val)) {
		if (val.kind == LNET_VAL_TEXT && val.text[0] == '.')
			continue;
		if (lnet_val_int(&val, 0, ln->nr_shards - 1, &cpt)) {
			if (lnet_val_text(&val, text, sizeof(text)))
				text[0] = 0;
			return lnet_ctl_fail(
				e, -ERANGE,
				"invalid value '%s' for key 'CPT': CPTs of this node are 0 to %u",
				text, ln->nr_shards - 1);
		}
		r->cfg.cpts |= BIT_ULL(cpt);
	}
	return r->cfg.cpts ? 0 : lnet_ctl_fail(e, -EINVAL, "invalid value for key 'CPT': the list "
					       "is empty");
}

static struct ni_req *req_new(struct ni_list *l, u32 net)
{
	struct ni_req *r = &l->req[l->nr];

	if (l->nr == LNET_MAX_NIS)
		return NULL;
	l->nr++;
	lnet_ni_cfg_init(&r->cfg);
	r->net = net;
	r->by_name = r->all = r->whole_net = r->waits = false;
	r->health = r->fatal = r->drained = HEALTH_UNSET;
	return r;
}

/* Reads all values of an element, except the keys that name the interface. */
static int element_values(struct ni_list *l, struct lnet_req elem, struct ni_req *r)
{
	struct lnet_val v;
	int rc = lnet_ctl_read(elem, element_fields, r, l->e);

	return rc || !lnet_req_find(elem, "CPT", &v) ? rc : cpts(&v, r, l->ctl->ln, l->e);
}

/* Reads { 0: eth0, 1: eth1 } as a separate request for each interface. */
static int element_interfaces(struct ni_list *l, u32 net, struct lnet_req elem,
			      struct lnet_req names)
{
	struct lnet_val key, name;

	while (lnet_req_next(&names, &key) && lnet_req_next(&names, &name)) {
		struct ni_req *r = req_new(l, net);
		int rc;

		if (!r)
			return lnet_ctl_fail(l->e, -ENOSPC, "more interfaces than allowed (%d)",
					     LNET_MAX_NIS);
		rc = lnet_val_text(&name, r->cfg.ifname, sizeof(r->cfg.ifname));
		if (rc)
			return lnet_ctl_fail(l->e, rc, "bad name of an interface");
		r->by_name = true;
		rc = element_values(l, elem, r);
		if (rc)
			return rc;
	}
	return 0;
}

static int net_element_read(struct ni_list *l, u32 net, struct lnet_req elem)
{
	static const struct lnet_field nid_fields[] = {
		LNET_FIELD(NID, "nid", struct ni_req, cfg.nid), { NULL }
	};
	struct lnet_val nid, names, key, name;
	struct ni_req *r;
	int rc;

	if (!lnet_req_find(elem, "nid", &nid)) {
		if (lnet_req_find(elem, "interfaces", &names) && names.kind == LNET_VAL_LIST)
			return element_interfaces(l, net, elem, names.list);
		return lnet_ctl_fail(
			l->e, -EINVAL,
			"an entry of 'local NI(s)' must have the key 'interfaces' or 'nid'");
	}
	r = req_new(l, net);
	if (!r)
		return lnet_ctl_fail(l->e, -ENOSPC, "more interfaces than allowed (%d)",
				     LNET_MAX_NIS);
	rc = lnet_ctl_read(elem, nid_fields, r, l->e);
	if (rc)
		return rc;
	r->all = lnet_nid_is_any(&r->cfg.nid);
	/*
	 * Reads the name of the device. If the address @nid does not exist yet, the node awaits the
	 * address on this device.
	 */
	if (lnet_req_find(elem, "interfaces", &names) && lnet_req_next(&names.list, &key) &&
	    lnet_req_next(&names.list, &name) &&
	    lnet_val_text(&name, r->cfg.ifname, sizeof(r->cfg.ifname)))
		r->cfg.ifname[0] = 0;
	if (!r->all && net != LNET_NET_ANY && lnet_nid_net(&r->cfg.nid) != net)
		return lnet_ctl_fail(l->e, -EINVAL,
				     "the NID is not on the net that it is listed under");
	return element_values(l, elem, r);
}

/* Rules of ip2nets. For each net, only the first matching rule applies, with all its interfaces. */
struct rules {
	struct lnet_net_sink sink;
	struct ni_list *l;
	/* number of interfaces before all rules, and before this rule */
	unsigned int first, before;
};

static int rules_net(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts)
{
	struct rules *rules = container_of(s, struct rules, sink);
	struct ni_list *l = rules->l;
	struct ni_req *r;
	unsigned int i;

	for (i = rules->first; i < rules->before; i++)
		if (l->req[i].net == net)
			return 0;
	if (lnet_net_type(net) == LNET_LND_LO)
		return 0;
	r = req_new(l, net);
	if (!r)
		return -ENOSPC;
	r->by_name = true;
	r->cfg.cpts = cpts;
	strscpy(r->cfg.ifname, ifname, sizeof(r->cfg.ifname));
	return *ifname ? 0 : l->ctl->ops->first_nid(l->ctl->arg, net, &r->cfg.nid, r->cfg.ifname);
}

static bool rules_match(struct lnet_net_sink *s, const struct lnet_nidlist *list)
{
	struct rules *rules = container_of(s, struct rules, sink);

	rules->before = rules->l->nr;
	return rules->l->ctl->ops->address_in(rules->l->ctl->arg, list);
}

static int rules(struct ni_list *l, const struct lnet_val *v)
{
	struct rules rules = { { rules_net, rules_match }, l, l->nr, l->nr };
	const char *text = v->kind == LNET_VAL_TEXT ? v->text : "";
	int rc = lnet_ip2nets_walk(text, &rules.sink);

	if (rc == -EINVAL)	/* stock's errno */
		return lnet_ctl_fail(l->e, -ENOENT,
				     "'ip2net' must be rules such as tcp(eth0) 10.0.*.*; tcp1 "
				     "10.1.*.*, not '%.80s'",
				     text);
	if (rc)
		return lnet_ctl_fail(l->e, rc, "an interface of 'ip2net' not found: %s",
				     lnet_ctl_why(rc));
	return l->nr > rules.first
		       ? 0
		       : lnet_ctl_fail(
				 l->e, -ENOENT,
				 "no matching rule: no address of this node matches 'ip2net'");
}

static int net_item(struct ni_list *l, struct lnet_req item)
{
	struct lnet_req list, elem;
	struct lnet_val v;
	struct ni_req *r;
	u32 net;
	int rc;

	if (lnet_req_find(item, "ip2net", &v))
		return rules(l, &v);
	rc = lnet_ctl_read(item, net_fields, &net, l->e);
	if (rc)
		return rc;
	if (!lnet_req_find(item, "local NI(s)", &v)) {
		r = req_new(l, net);
		if (r)
			r->whole_net = true;
		return r ? 0 : -ENOSPC;
	}
	list = v.list;
	while (!rc && v.kind == LNET_VAL_LIST && lnet_req_item(&list, &elem))
		rc = net_element_read(l, net, elem);
	return rc;
}

/* ---- add ------------------------------------------------------------------------------------- */

const struct lnet_lnd_ops *lnet_ctl_driver(const struct lnet *ln, u32 net)
{
	unsigned int i;

	for (i = 0; i < LNET_MAX_LNDS; i++)
		if (ln->lnds[i] && ln->lnds[i]->type == lnet_net_type(net))
			return ln->lnds[i];
	return NULL;
}

/* Makes the checks of a request that are possible before its execution. */
static int add_check_early(struct ni_list *l, const struct ni_req *r)
{
	char buf[LNET_NIDSTR_SIZE];

	if (r->whole_net || r->all || r->net == LNET_NET_ANY)
		return lnet_ctl_fail(l->e, -EINVAL, "at least one interface is needed");
	if (!lnet_ctl_driver(l->ctl->ln, r->net) || lnet_net_type(r->net) == LNET_LND_LO)
		return lnet_ctl_fail(l->e, -EINVAL, "LND type not supported: no driver for net "
				     "'%s'", lnet_net_str(r->net, buf));
	return 0;
}

static int is_waiting(struct ni_list *l, const struct ni_req *r)
{
	const struct lnet_ctl_waiting *w;

	for (w = l->ctl->waiting; w; w = w->next)
		if (w->net == r->net && !strcmp(w->cfg.ifname, r->cfg.ifname) &&
		    lnet_nid_same(&w->cfg.nid, &r->cfg.nid))
			return lnet_ctl_fail(
				l->e, -EEXIST,
				"interface '%s' already exists: the node waits for its address",
				r->cfg.ifname);
	return 0;
}

/*
 * Finds the address of an interface by its name. Also returns 0 if the node will await the address.
 */
static int find_address(struct ni_list *l, struct ni_req *r, bool may_wait)
{
	int rc = l->ctl->ops->interface_nid(l->ctl->arg, r->cfg.ifname, r->net, &r->cfg.nid);
	const char *why;

	if (!rc)
		return 0;
	r->waits = may_wait && lnet_ctl_wait_helps(rc);
	if (r->waits)
		return is_waiting(l, r);
	why = rc == -EADDRNOTAVAIL ? "it has no address" : lnet_ctl_why(rc);
	/* the errno equals that of stock LNet, the text does not */
	return lnet_ctl_fail(l->e, rc == -ENODEV ? -ENETDOWN : rc, "interface '%s': %s",
			     r->cfg.ifname, why);
}

static int add_check_one(struct ni_list *l, unsigned int i, bool may_wait)
{
	struct ni_req *r = &l->req[i];
	struct lnet *ln = l->ctl->ln;
	char buf[LNET_NIDSTR_SIZE];
	struct lnet_ni *ni;
	unsigned int j;
	int rc = add_check_early(l, r);

	if (!rc && r->by_name)
		rc = find_address(l, r, may_wait);
	if (rc || r->waits)
		return rc;
	for (j = 0; j < i; j++)
		if (lnet_nid_same(&l->req[j].cfg.nid, &r->cfg.nid))
			return lnet_ctl_fail(l->e, -EEXIST, "interface %s is given twice",
					     lnet_nid_str(&r->cfg.nid, buf));
	ni = lnet_ni_find(ln, &r->cfg.nid);
	lnet_ni_put(ni);
	if (ni)
		return lnet_ctl_fail(l->e, -EEXIST, "interface %s already exists",
				     lnet_nid_str(&r->cfg.nid, buf));
	return 0;
}

/*
 * True if the add failed because the device or its first address is missing. A request for a NID
 * may name the device on which the NID will appear.
 */
static bool has_to_come(struct ni_list *l, const struct ni_req *r, int err)
{
	struct lnet_nid nid;

	if (!r->cfg.ifname[0] || !lnet_ctl_wait_helps(err))
		return false;
	return lnet_ctl_wait_helps(l->ctl->ops->interface_nid(l->ctl->arg, r->cfg.ifname, r->net,
							      &nid));
}

static int ni_req_add(struct ni_list *l, struct ni_req *r, bool may_wait)
{
	struct lnet_ctl_waiting w = { .cfg = r->cfg, .net = r->net,
				      .marks = { r->drained == 1, r->fatal == 1 } };
	struct lnet_ni_cfg cfg = r->cfg;
	int rc;

	if (!r->by_name)
		cfg.ifname[0] = 0;	/* no device is named: the driver finds it by the address */
	rc = r->waits ? -EADDRNOTAVAIL : lnet_ni_add(l->ctl->ln, &cfg);
	if (!rc)
		lnet_ctl_marks_set(l->ctl->ln, &cfg.nid, &w.marks);
	if (!rc || !may_wait || !has_to_come(l, r, rc))
		return rc;
	if (r->by_name)
		w.cfg.nid = r->cfg.nid = LNET_NID_ANY;
	rc = r->waits ? 0 : is_waiting(l, r);
	return rc ? rc : lnet_ctl_wait_add(l->ctl, &w);
}

static int nets_add(struct ni_list *l, bool may_wait)
{
	struct lnet *ln = l->ctl->ln;
	char buf[LNET_NIDSTR_SIZE];
	unsigned int i;
	int rc;

	for (i = 0; i < l->nr; i++) {
		rc = add_check_one(l, i, may_wait);
		if (rc)
			return rc;
	}
	for (i = 0; i < l->nr; i++) {
		rc = ni_req_add(l, &l->req[i], may_wait);
		if (!rc)
			continue;
		rc = lnet_ctl_fail(l->e, rc, "cannot add interface %s: %s",
				   lnet_nid_str(&l->req[i].cfg.nid, buf), lnet_ctl_why(rc));
		while (!may_wait && i--)	/* else the transaction undoes it */
			lnet_ni_del(ln, &l->req[i].cfg.nid);
		return rc;
	}
	return 0;
}

/* ---- finding interfaces ---------------------------------------------------------------------- */

/* True if @r selects this interface, which exists or which the node awaits. */
static bool req_means(const struct ni_req *r, u32 net, const char *ifname,
		      const struct lnet_nid *nid)
{
	if (r->net != LNET_NET_ANY && r->net != net)
		return false;
	if (r->whole_net || r->all)
		return true;
	return r->by_name ? !strcmp(r->cfg.ifname, ifname) : lnet_nid_same(&r->cfg.nid, nid);
}

/* Finds the NIDs that @r selects, except loopback. Returns how many, at most LNET_MAX_NIS. */
static unsigned int nids_meant(struct lnet *ln, const struct ni_req *r, struct lnet_nid *nids)
{
	struct lnet_ni *ni;
	unsigned int nr = 0;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid) && nr < LNET_MAX_NIS &&
		    req_means(r, ni->net, ni->ifname, &ni->nid))
			nids[nr++] = ni->nid;
	mutex_unlock(&ln->cfg_mutex);
	return nr;
}

/* Returns the first awaited interface that @r selects, beginning with @w; NULL: none. */
static const struct lnet_ctl_waiting *waiting_meant(const struct ni_req *r,
						    const struct lnet_ctl_waiting *w)
{
	while (w && !req_means(r, w->net, w->cfg.ifname, &w->cfg.nid))
		w = w->next;
	return w;
}

static int none_meant(struct ni_list *l, const struct ni_req *r)
{
	char net[LNET_NIDSTR_SIZE], nid[LNET_NIDSTR_SIZE];

	if (lnet_net_type(r->net) == LNET_LND_LO)
		return lnet_ctl_fail(l->e, -ENODEV, "the loopback interface cannot be changed");
	lnet_net_str(r->net, net);
	if (r->by_name)
		return lnet_ctl_fail(l->e, -ENODEV,
				     "interface '%s' not found on net '%s' ('net show' lists them)",
				     r->cfg.ifname, net);
	if (r->whole_net || r->all)
		return lnet_ctl_fail(l->e, -EINVAL, "net '%s' not found ('net show' lists them)",
				     net);
	return lnet_ctl_fail(l->e, -ENOENT, "interface %s not found ('net show' lists them)",
			     lnet_nid_str(&r->cfg.nid, nid));
}

/*
 * Calls @fn for every NID that the list selects. If some entry of the list selects no NID, makes no
 * call at all.
 */
static int for_meant(struct ni_list *l, int (*fn)(struct ni_list *l, const struct ni_req *r,
						  const struct lnet_nid *nid))
{
	struct lnet *ln = l->ctl->ln;
	struct lnet_nid *nids = kvcalloc(LNET_MAX_NIS, sizeof(*nids), GFP_KERNEL);
	const struct ni_req *r;
	unsigned int j, nr;
	int rc = nids ? 0 : -ENOMEM;

	for (r = l->req; r < l->req + l->nr && !rc; r++)
		if (!nids_meant(ln, r, nids) && !waiting_meant(r, l->ctl->waiting) &&
		    !(r->all && r->net == LNET_NET_ANY))	/* "all" may select none */
			rc = none_meant(l, r);
	for (r = l->req; r < l->req + l->nr && !rc; r++) {
		nr = nids_meant(ln, r, nids);
		for (j = 0; j < nr && !rc; j++)
			rc = fn(l, r, &nids[j]);
	}
	kvfree(nids);
	return rc;
}

/* ---- del, set -------------------------------------------------------------------------------- */

static int del_one(struct ni_list *l, const struct ni_req *r, const struct lnet_nid *nid)
{
	char buf[LNET_NIDSTR_SIZE];
	int rc = lnet_ni_del(l->ctl->ln, nid);

	if (!rc || rc == -ENOENT)
		return 0;
	return lnet_ctl_fail(l->e, rc, "cannot delete interface %s: %s", lnet_nid_str(nid, buf),
			     lnet_ctl_why(rc));
}

static int nets_del(struct ni_list *l)
{
	int rc = for_meant(l, del_one);
	const struct lnet_ctl_waiting *w;
	const struct ni_req *r;

	for (r = l->req; r < l->req + l->nr && !rc; r++)
		while ((w = waiting_meant(r, l->ctl->waiting)))
			lnet_ctl_wait_del(l->ctl, w);
	return rc;
}

static int set_one(struct ni_list *l, const struct ni_req *r, const struct lnet_nid *nid)
{
	struct lnet *ln = l->ctl->ln;
	struct lnet_ni *ni;
	int rc = 0;

	if (r->health != HEALTH_UNSET)
		rc = lnet_health_set_ni(ln, nid, (int)r->health);
	if (!rc && r->fatal != HEALTH_UNSET)
		rc = lnet_fault_ni_down(ln, nid, r->fatal);
	if (!rc && r->drained != HEALTH_UNSET)
		rc = lnet_ni_drain(ln, nid, r->drained);
	if (rc || r->cfg.conns_per_peer < 0)
		return rc;
	ni = lnet_ni_find(ln, nid);
	if (ni)
		WRITE_ONCE(ni->conns_per_peer, (u32)r->cfg.conns_per_peer);
	lnet_ni_put(ni);
	return 0;
}

static int nets_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		    struct lnet_ctl_err *e)
{
	bool adds = req->flags & LNET_NL_F_CREATE, staged = req->flags & LNET_NL_F_STAGED;
	struct ni_list l = { .ctl = ctl, .e = e };
	struct lnet_req items, item;
	unsigned int i;
	int rc = 0;

	if (!req->len)
		return lnet_ctl_fail(e, -ENOMSG, "the request is empty");
	if (!lnet_ctl_items(req, &items))
		return lnet_ctl_fail(e, -EINVAL, "the request is not a list of nets");
	l.req = kvcalloc(LNET_MAX_NIS, sizeof(*l.req), GFP_KERNEL);
	if (!l.req)
		return -ENOMEM;
	while (!rc && lnet_req_item(&items, &item))
		rc = net_item(&l, item);
	for (i = 0; i < l.nr && !rc && staged && adds; i++)
		rc = add_check_early(&l, &l.req[i]);
	if (!rc && !staged) {
		if (adds)
			rc = nets_add(&l, req->flags & LNET_NL_F_APPEND);
		else if (req->flags & LNET_NL_F_REPLACE)
			rc = for_meant(&l, set_one);
		else
			rc = nets_del(&l);
	}
	kvfree(l.req);
	return rc;
}

const struct lnet_ctl_cmd lnet_cmd_nets = {
	.cmd = LNET_NL_NETS,
	.stages = true,
	.act = nets_act,
	.start = lnet_ctl_nets_start,
	.next = lnet_ctl_nets_next,
};

/* ---- configure ------------------------------------------------------------------------------- */

static bool first_ni(struct lnet *ln, struct lnet_nid *nid)
{
	struct lnet_ni *ni;
	bool found = false;

	mutex_lock(&ln->cfg_mutex);
	list_for_each_entry(ni, &ln->nis, link)
		if (!lnet_nid_is_lo(&ni->nid)) {
			*nid = ni->nid;
			found = true;
			break;
		}
	mutex_unlock(&ln->cfg_mutex);
	return found;
}

static bool first_peer(struct lnet *ln, struct lnet_nid *nid)
{
	struct lnet_peer *peer = lnet_peer_next(ln, NULL);

	while (peer && lnet_nid_is_lo(&peer->primary))
		peer = lnet_peer_next(ln, peer);
	if (!peer)
		return false;
	*nid = peer->primary;
	lnet_peer_put(peer);
	return true;
}

/*
 * Removes all interfaces except the loopback. Removes NIs before peers, so that no message adds a
 * peer meanwhile.
 */
static int node_unconfigure(struct lnet_control *ctl)
{
	struct lnet_route_info route;
	struct lnet_nid nid;
	int rc = 0;

	while (!rc && !lnet_route_get(ctl->ln, 0, &route))
		rc = lnet_route_del(ctl->ln, route.cfg.net, &route.cfg.gateway);
	while (!rc && first_ni(ctl->ln, &nid))
		rc = lnet_ni_del(ctl->ln, &nid);
	while (!rc && first_peer(ctl->ln, &nid))
		rc = lnet_peer_del(ctl->ln, &nid, NULL, 0);
	lnet_ctl_wait_del(ctl, NULL);
	lnet_ctl_trans_drop(ctl);
	lnet_rule_del(ctl->ln, &(struct lnet_rule_which){ .kind = LNET_RULE_K_ANY });
	lnet_udsp_del(ctl->ln, -1);
	if (!rc)
		WRITE_ONCE(ctl->configured, false);
	return rc;
}

static int node_configure(struct lnet_control *ctl, const struct lnet_ctl_req *req,
			  struct lnet_ctl_err *e)
{
	int rc = 0;

	if (req->flags & LNET_NL_F_CREATE)
		WRITE_ONCE(ctl->configured, true);
	else
		rc = node_unconfigure(ctl);
	return rc ? lnet_ctl_fail(e, rc, "cannot unconfigure LNet: %s", lnet_ctl_why(rc)) : 0;
}

const struct lnet_ctl_cmd lnet_cmd_configure = {
	.cmd = LNET_NL_CONFIGURE,
	.down = true,
	.act = node_configure,
};
