/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands for routes: route add, del and show. */
#include "control/command.h"
#include "topology/topology.h"
#include "service/service.h"
#include "manage/manage.h"

/* The keys of an item. */
struct route_req {
	struct lnet_route_cfg cfg;
	bool has_net, has_gateway, has_hops, has_priority;
};

/* ---- reading requests ------------------------------------------------------------------------ */

static const struct lnet_field route_fields[] = {
	LNET_FIELD(NET, "net", struct route_req, cfg.net, .range_err = -ENXIO,	/* stock's errno */
		   .has = offsetof(struct route_req, has_net)),
	LNET_FIELD(NID, "gateway", struct route_req, cfg.gateway,
		   .has = offsetof(struct route_req, has_gateway)),
	LNET_FIELD(NUM_DEF, "hop", struct route_req, cfg.hops, .min = 1, .max = 255,
		   .text = "1 to 255, or -1", .has = offsetof(struct route_req, has_hops)),
	LNET_FIELD_RANGE("priority", struct route_req, cfg.priority, 0, U32_MAX,
			 .has = offsetof(struct route_req, has_priority)),
	{ NULL }
};

static int item_read(struct lnet_req item, struct route_req *r, struct lnet_ctl_err *e)
{
	*r = (struct route_req){ .cfg = { .gateway = LNET_NID_ANY, .hops = -1 } };
	return lnet_ctl_read(item, route_fields, r, e);
}

/* ---- changes --------------------------------------------------------------------------------- */

static const char *bad_gateway(const struct lnet_route_cfg *cfg)
{
	if (lnet_net_type(cfg->net) == LNET_LND_LO)
		return "no route reaches a loopback interface";
	if (cfg->net == lnet_nid_net(&cfg->gateway))
		return "the gateway is on that net";
	if (lnet_nid_is_lo(&cfg->gateway) || !lnet_nid_is_host(&cfg->gateway))
		return "it is not the NID of one interface";
	return "it is an interface of this node";
}

/* Stock's error text names two possible reasons. The node appends the reason that applies. */
static int route_exists(struct lnet *ln, const struct lnet_route_cfg *cfg, struct lnet_ctl_err *e)
{
	char nid[LNET_NIDSTR_SIZE], net[LNET_NIDSTR_SIZE];
	bool local;

	mutex_lock(&ln->cfg_mutex);
	local = lnet_net_is_local(ln, cfg->net);
	mutex_unlock(&ln->cfg_mutex);
	return lnet_ctl_fail(e, -EEXIST, "Route already exists or the specified network is local: "
			     "%s %s%s", lnet_net_str(cfg->net, net),
			     local ? "is local" : "has a route by ",
			     local ? "" : lnet_nid_str(&cfg->gateway, nid));
}

static int route_req_add(struct lnet *ln, const struct route_req *r, bool restores,
			 struct lnet_ctl_err *e)
{
	char nid[LNET_NIDSTR_SIZE], net[LNET_NIDSTR_SIZE];
	int rc = lnet_nid_is_host(&r->cfg.gateway) ? 0 : -EINVAL;

	if (!rc)
		rc = restores ? lnet_route_restore(ln, &r->cfg) : lnet_route_add(ln, &r->cfg);
	lnet_nid_str(&r->cfg.gateway, nid);
	switch (rc) {
	case 0:
		return 0;
	case -EEXIST:
		return route_exists(ln, &r->cfg, e);
	case -EHOSTUNREACH:
		return lnet_ctl_fail(e, rc, "no interface of this node is on the net of gateway %s",
				     nid);
	case -EINVAL:
		return lnet_ctl_fail(e, rc, "%s cannot be the gateway to %s: %s", nid,
				     lnet_net_str(r->cfg.net, net), bad_gateway(&r->cfg));
	case -EBUSY:
		return lnet_ctl_fail(e, rc, "gateway %s is busy with requests: try again later",
				     nid);
	default:
		return lnet_ctl_fail(e, rc, "cannot add the route: %s", lnet_ctl_why(rc));
	}
}

static int route_req_del(struct lnet *ln, const struct route_req *r, struct lnet_ctl_err *e)
{
	char nid[LNET_NIDSTR_SIZE], net[LNET_NIDSTR_SIZE];
	int rc = lnet_route_del(ln, r->cfg.net, &r->cfg.gateway);

	if (rc)
		return lnet_ctl_fail(
			e, rc,
			"route to %s by gateway %s not found ('lnetctl route show' lists them)",
			lnet_net_str(r->cfg.net, net), lnet_nid_str(&r->cfg.gateway, nid));
	return 0;
}

struct notify_req {
	s64 when_s;
	char state[8];
};

static int state_check(const char *text)
{
	return strcmp(text, "up") && strcmp(text, "down") ? -EINVAL : 0;
}

static const struct lnet_field notify_fields[] = {
	LNET_FIELD_RANGE("notify_time", struct notify_req, when_s, 0, S64_MAX),
	LNET_FIELD(TEXT, "state", struct notify_req, state, .need = true, .check = state_check,
		   .text = "up or down"),
	{ NULL }
};

/*
 * A report by stock's lctl: the "state" of a router, and when lctl noticed this state. The net in
 * the report is ignored.
 */
static int route_req_notify(struct lnet *ln, struct lnet_req item, const struct route_req *r,
			    bool checks, struct lnet_ctl_err *e)
{
	struct notify_req n = { .when_s = 0 };
	char nid[LNET_NIDSTR_SIZE];
	int rc = lnet_ctl_read(item, notify_fields, &n, e);

	if (rc || checks)
		return rc;
	rc = lnet_route_notify(ln, &r->cfg.gateway, !strcmp(n.state, "up"), n.when_s);
	return rc ? lnet_ctl_fail(e, rc, "no interface of this node is on the net of gateway %s",
				  lnet_nid_str(&r->cfg.gateway, nid))
		  : 0;
}

static int routes_act(struct lnet_control *ctl, const struct lnet_ctl_req *req,
		      struct lnet_ctl_err *e)
{
	bool adds = req->flags & LNET_NL_F_CREATE, checks = req->flags & LNET_NL_F_STAGED;
	struct lnet_req items, item;
	struct route_req r;
	int rc = 0;

	if (!lnet_ctl_items(req, &items))
		return lnet_ctl_fail(e, -EINVAL, "the request is not a list of routes");
	while (!rc && lnet_req_item(&items, &item)) {
		rc = item_read(item, &r, e);
		if (!rc && (!r.has_net || !r.has_gateway))
			rc = lnet_ctl_fail(e, -EINVAL, "'%s' is missing",
					   r.has_net ? "gateway" : "net");
		if (!rc && req->flags & LNET_NL_F_REPLACE)
			rc = route_req_notify(ctl->ln, item, &r, checks, e);
		else if (!rc && !checks)
			rc = adds ? route_req_add(ctl->ln, &r, req->restores, e)
				  : route_req_del(ctl->ln, &r, e);
	}
	return rc;
}

/* ---- show ------------------------------------------------------------------------------------ */

static int routes_start(struct lnet_ctl_dump *d, const struct lnet_ctl_req *req,
			struct lnet_ctl_err *e)
{
	struct route_req *r;
	struct lnet_req item;

	if (!lnet_ctl_first(req, &item))
		return 0;
	r = kzalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	d->priv = r;
	return item_read(item, r, e);
}

static bool is_asked_for(const struct route_req *r, const struct lnet_route_cfg *cfg)
{
	return !r || ((!r->has_net || r->cfg.net == cfg->net) &&
		      (!r->has_gateway || lnet_nid_same(&r->cfg.gateway, &cfg->gateway)) &&
		      (!r->has_hops || r->cfg.hops == cfg->hops) &&
		      (!r->has_priority || r->cfg.priority == cfg->priority));
}

static int routes_next(struct lnet_ctl_dump *d, struct lnet_sink *s, struct lnet_ctl_err *e)
{
	struct lnet_route_info info;
	struct lnet_view_route v;

	for (; !lnet_route_get(d->ctl->ln, d->pos, &info); d->pos++) {
		if (!is_asked_for(d->priv, &info.cfg))
			continue;
		v = (struct lnet_view_route){ .hop = info.cfg.hops, .priority = info.cfg.priority };
		lnet_net_str(info.cfg.net, v.net);
		lnet_nid_str(&info.cfg.gateway, v.gateway);
		strscpy(v.state, info.up ? "up" : "down", sizeof(v.state));
		strscpy(v.type, info.multi_hop ? "multi-hop" : "single-hop", sizeof(v.type));
		if (!lnet_ctl_emit(d, s, &lnet_table_route, &v))
			return 1;
	}
	/* Stock's tool recognizes this error text, and regards the error as success. */
	return d->head ? 0 : lnet_ctl_fail(e, 0, "No routes found");
}

const struct lnet_ctl_cmd lnet_cmd_routes = {
	.cmd = LNET_NL_ROUTES,
	.stages = true,
	.act = routes_act,
	.start = routes_start,
	.next = routes_next,
};
