/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Routes: the calls of the library, and the section "route" of files. */
#include <errno.h>
#include <string.h>
#include "plan.h"

/* ---- calls ----------------------------------------------------------------------------------- */

/* Adds those fields of @r that are set, and @gateway, to @item. */
static bool route_fields_add(struct lnetctl_node *item, const struct lnetctl_route *r,
			     const char *gateway)
{
	return item && (!r->net || lnetctl_add_text(item, "net", r->net)) &&
	       (!gateway || lnetctl_add_text(item, "gateway", gateway)) &&
	       (r->hops == LNETCTL_UNSET || lnetctl_add_num(item, "hop", r->hops)) &&
	       (r->priority == LNETCTL_UNSET || lnetctl_add_num(item, "priority", r->priority));
}

/* Sends a separate item for each gateway. */
static int route_do(struct lnetctl *c, const char *verb, uint16_t flags,
		    const struct lnetctl_route *r)
{
	const struct ctl_op op = { LNET_NL_ROUTES, LNET_NL_VERSION, flags, 0, verb, "route" };
	struct lnetctl_node *item, *body = ctl_body(&item), *nids, *nid;
	char why[240];
	int rc = lnetctl_nids_expand(r->gateway ? r->gateway : "", &nids, why, sizeof(why));

	if (rc) {
		lnetctl_doc_free(body);
		return ctl_fail(c, rc, verb, "route", "%s", why);
	}
	rc = body && nids->first ? 0 : -ENOMEM;
	for (nid = nids->first; !rc && nid; nid = nid->next) {
		rc = route_fields_add(item, r, nid->text) ? 0 : -ENOMEM;
		if (!rc && nid->next)
			item = lnetctl_add_map(body, NULL);
	}
	lnetctl_doc_free(nids);
	if (!rc)
		return ctl_do(c, &op, body);
	lnetctl_doc_free(body);
	return ctl_fail(c, rc, verb, "route", NULL);
}

int lnetctl_route_add(struct lnetctl *c, const struct lnetctl_route *r)
{
	return route_do(c, "add", LNET_NL_F_CREATE, r);
}

int lnetctl_route_del(struct lnetctl *c, const struct lnetctl_route *r)
{
	struct lnetctl_route named = { .net = r->net, .gateway = r->gateway,
				       .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };

	return route_do(c, "del", 0, &named);
}

int lnetctl_route_show(struct lnetctl *c, const struct lnetctl_route *r, unsigned int level,
		       bool backup, struct lnetctl_node **doc)
{
	struct ctl_op op = { LNET_NL_ROUTES, (uint8_t)level,
			     LNET_NL_F_DUMP | (backup ? LNET_NL_F_FILTERED : 0), 0, "show",
			     "route" };
	struct lnetctl_node *item, *body = NULL;
	int rc;

	*doc = NULL;
	if (r->net || r->gateway || r->hops != LNETCTL_UNSET || r->priority != LNETCTL_UNSET) {
		body = ctl_body(&item);
		if (!body || !route_fields_add(item, r, r->gateway)) {
			lnetctl_doc_free(body);
			return ctl_fail(c, -ENOMEM, op.verb, op.object, NULL);
		}
	}
	rc = ctl_dump(c, &op, body, doc);
	if (rc != -ENOENT)
		return rc;
	*doc = lnetctl_add_map(NULL, NULL);	/* an empty reply shows "No routes found" */
	return *doc ? 0 : ctl_fail(c, -ENOMEM, op.verb, op.object, NULL);
}

/* ---- import ---------------------------------------------------------------------------------- */

/* Reads a route of a file. The texts in @r belong to @route. */
static int route_read(struct import *im, const struct lnetctl_node *route, struct lnetctl_route *r)
{
	int rc;

	*r = (struct lnetctl_route){ .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	r->net = lnetctl_text(route, "net");
	r->gateway = lnetctl_text(route, "gateway");
	rc = import_num(im, "route", route, "hop", &r->hops);
	return rc ? rc : import_num(im, "route", route, "priority", &r->priority);
}

int import_route(struct import *im, const struct lnetctl_node *route)
{
	struct lnetctl_route r;
	struct lnetctl_node *doc;
	int rc;

	im->trans.at = route;
	rc = route_read(im, route, &r);
	if (rc)
		return rc;
	if (im->how == LNETCTL_IMPORT_SHOW) {
		rc = lnetctl_route_show(im->c, &r, 1, false, &doc);
		return rc ? rc : import_keep(im, doc);
	}
	if (!r.net || !r.gateway)
		return import_refuse(im, "route", route,
				     r.net ? "'gateway' is missing" : "'net' is missing");
	return im->how == LNETCTL_IMPORT_DEL ? lnetctl_route_del(im->c, &r)
					     : lnetctl_route_add(im->c, &r);
}

/* ---- plan ------------------------------------------------------------------------------------ */

static int64_t or_default(int64_t num, int64_t otherwise)
{
	return num == LNETCTL_UNSET ? otherwise : num;
}

static bool route_same(const struct lnetctl_route *a, const struct lnetctl_route *b)
{
	return a->net && b->net && a->gateway && b->gateway && import_net_same(a->net, b->net) &&
	       !strcmp(a->gateway, b->gateway) &&
	       or_default(a->hops, -1) == or_default(b->hops, -1) &&
	       or_default(a->priority, 0) == or_default(b->priority, 0);
}

/* Sets *@found if the sequence @list contains @route. */
static int route_lookup(struct plan *p, const struct lnetctl_node *list,
			const struct lnetctl_node *route, bool *found)
{
	const struct lnetctl_node *n;
	struct lnetctl_route a, b;
	int rc = route_read(&p->im, route, &a);

	*found = false;
	for (n = list ? list->first : NULL; n && !rc && !*found; n = n->next) {
		rc = route_read(&p->im, n, &b);
		*found = !rc && route_same(&a, &b);
	}
	return rc;
}

static int route_copy(struct plan *p, const char *verb, const struct lnetctl_node *route)
{
	struct lnetctl_node *seq = plan_section(p, verb, "route", LNETCTL_SEQ);
	struct lnetctl_node *item = seq ? lnetctl_add_map(seq, NULL) : NULL;
	struct lnetctl_route r;
	int rc = route_read(&p->im, route, &r);

	if (rc || !route_fields_add(item, &r, r.gateway))
		return rc ? rc : plan_nomem(p);
	import_at(item, route);
	return 0;
}

static int copy_missing(struct plan *p, const char *verb, const struct lnetctl_node *from,
			const struct lnetctl_node *in)
{
	const struct lnetctl_node *n;
	bool found;
	int rc = 0;

	for (n = from ? from->first : NULL; n && !rc; n = n->next) {
		p->im.trans.at = n;
		rc = route_lookup(p, in, n, &found);
		if (!rc && !found)
			rc = route_copy(p, verb, n);
	}
	return rc;
}

int plan_routes(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *has = lnetctl_find(p->routes, "route");
	int rc = copy_missing(p, "del", has, section);

	return rc ? rc : copy_missing(p, "add", section, has);
}
