/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a node must do to be as a file says, and doing it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "plan.h"

int plan_nomem(struct plan *p)
{
	return ctl_fail(p->im.c, -ENOMEM, "show", "plan", NULL);
}

struct lnetctl_node *plan_section(struct plan *p, const char *verb, const char *name,
				  enum lnetctl_kind kind)
{
	struct lnetctl_node *part = lnetctl_find(p->doc, verb), *section;

	section = part ? lnetctl_find(part, name) : NULL;
	return section ? section : part ? lnetctl_add(part, name, kind, NULL) : NULL;
}

/* ---- tunables -------------------------------------------------------------------------------- */

/*
 * A value in the unit that nodes show: seconds, bytes, points, 0 and 1. False: a word that only the
 * node knows.
 */
static bool value_of(const char *text, double *val)
{
	static const struct { const char *text; double scale;
	} suffixes[] = {
		{ "", 1 },	 { "s", 1 },		{ "ms", 1e-3 },	   { "us", 1e-6 },
		{ "ns", 1e-9 },	 { "m", 60 },		{ "h", 3600 },	   { "k", 1 << 10 },
		{ "K", 1 << 10 }, { "M", 1 << 20 },	{ "G", 1 << 30 },  { "%", 10 },
		{ NULL, 0 },
	};
	static const struct { const char *text; double val;
	} words[] = {
		{ "off", 0 },	   { "on", 1 },	      { "no", 0 },     { "yes", 1 },
		{ "false", 0 },	   { "true", 1 },     { "disabled", 0 }, { "enabled", 1 },
		{ "none", 0 },	   { "secure", 1 },   { "all", 2 },    { "certain", 0 },
		{ "always", 1 },   { "system", 0 },   { "reno", 1 },   { "cubic", 2 },
	};
	char *end;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(words[i].text, text)) {
			*val = words[i].val;
			return true;
		}
	*val = strtod(text, &end);
	for (i = 0; end != text && suffixes[i].text; i++)
		if (!strcmp(suffixes[i].text, end)) {
			*val *= suffixes[i].scale;
			return true;
		}
	return false;
}

/* Nodes show nanoseconds. */
static bool value_same(const char *a, const char *b)
{
	double x, y;

	if (!strcmp(a, b))
		return true;
	if (!value_of(a, &x) || !value_of(b, &y))
		return false;
	return x - y < 5e-10 && y - x < 5e-10;
}

static int plan_tunable(struct plan *p, const struct lnetctl_node *n)
{
	const char *key = strcmp(n->key, "max_intf") ? n->key : "max_interfaces";
	const char *has = lnetctl_text(p->global, key);
	struct lnetctl_node *set, *line;

	if (!strcmp(key, "lnd_timeout"))
		return 0;
	if (!has || !n->text)
		return ctl_fail(p->im.c, -EINVAL, "add", "import",
				has ? "no value specified for key '%s'" : "invalid key '%s'",
				n->key);
	if (value_same(has, n->text))
		return 0;
	set = plan_section(p, "set", "global", LNETCTL_MAP);
	line = set ? lnetctl_add(set, key, (enum lnetctl_kind)n->kind, n->text) : NULL;
	if (!line)
		return plan_nomem(p);
	line->line = n->line;
	return 0;
}

static int plan_global(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = section->first; n && !rc; n = n->next) {
		p->im.trans.at = n;
		rc = plan_tunable(p, n);
	}
	return rc;
}

static int plan_numa(struct plan *p, const struct lnetctl_node *section)
{
	const struct lnetctl_node *range = lnetctl_find(section, "range");
	struct lnetctl_node n = { 0 };
	char key[] = "numa_range";

	if (!range)
		return 0;
	p->im.trans.at = range;
	n = *range;
	n.key = key;
	return plan_tunable(p, &n);
}

/* ---- sections -------------------------------------------------------------------------------- */

static int each(struct plan *p, const struct lnetctl_node *section,
		int (*fn)(struct plan *p, const struct lnetctl_node *item))
{
	const struct lnetctl_node *item;
	int rc = 0;

	for (item = section->first; item && !rc; item = item->next)
		rc = fn(p, item);
	return rc;
}

static int plan_net(struct plan *p, const struct lnetctl_node *net)
{
	return import_net_item(&p->im, net, plan_net_item, p);
}

static int plan_nets(struct plan *p, const struct lnetctl_node *section)
{
	return each(p, section, plan_net);
}

static int plan_ip2nets(struct plan *p, const struct lnetctl_node *section)
{
	return import_ip2nets(&p->im, section, plan_net_item, p);
}

static int plan_peers(struct plan *p, const struct lnetctl_node *section)
{
	return each(p, section, plan_peer);
}

static const struct {
	const char *name;
	enum lnetctl_kind kind;
	int (*fn)(struct plan *p, const struct lnetctl_node *section);
} sections[] = {
	{ "net", LNETCTL_SEQ, plan_nets },     { "ip2nets", LNETCTL_SEQ, plan_ip2nets },
	{ "peer", LNETCTL_SEQ, plan_peers },   { "fault", LNETCTL_SEQ, plan_faults },
	{ "faults", LNETCTL_SEQ, plan_rules },
	{ "global", LNETCTL_MAP, plan_global }, { "numa", LNETCTL_MAP, plan_numa },
	{ "udsp", LNETCTL_SEQ, plan_udsp },    { "route", LNETCTL_SEQ, plan_routes },
	{ "buffers", LNETCTL_MAP, plan_buffers },
};

static int plan_section_of(struct plan *p, const struct lnetctl_node *n)
{
	size_t i;

	p->im.trans.at = n;
	if (!strcmp(n->key, "routing"))
		return plan_routing(p, n);
	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(n->key, sections[i].name))
			continue;
		if (n->kind == LNETCTL_NULL)
			return 0;
		if (n->kind == sections[i].kind)
			return sections[i].fn(p, n);
		return import_not_a(&p->im, n, sections[i].kind == LNETCTL_SEQ ? "sequence" :
										"mapping");
	}
	if (n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ || n->kind == LNETCTL_NULL)
		return import_section(&p->im, n);	/* refused, or passed over */
	return plan_tunable(p, n);
}

/* An empty section is none. */
static bool lacks(const struct lnetctl_node *doc, const char *name)
{
	const struct lnetctl_node *n = lnetctl_find(doc, name);

	return !n || n->kind == LNETCTL_NULL;
}

static int plan_all(struct plan *p, const struct lnetctl_node *doc)
{
	const struct lnetctl_node *n;
	int rc = 0;

	for (n = doc->first; n && !rc; n = n->next)
		rc = plan_section_of(p, n);
	if (!rc && lacks(doc, "fault"))
		rc = plan_faults(p, NULL);
	if (!rc && lacks(doc, "faults"))
		rc = plan_rules(p, NULL);
	if (!rc && lacks(doc, "udsp"))
		rc = plan_udsp(p, NULL);
	if (!rc && lacks(doc, "route"))
		rc = plan_routes(p, NULL);
	rc = rc ? rc : plan_peers_del(p);
	return rc ? rc : plan_nets_del(p);
}

/* ---- the node -------------------------------------------------------------------------------- */

/* As of an export, a stock module has none. */
static int faults_read(struct plan *p)
{
	int rc = lnetctl_rule_show(p->im.c, NULL, false, &p->faults);

	if (rc != -EOPNOTSUPP)
		return rc;
	p->faults = lnetctl_add_map(NULL, NULL);
	return p->faults ? 0 : plan_nomem(p);
}

static int node_read(struct plan *p)
{
	struct lnetctl_node *shown;
	const struct lnetctl_route all = { .hops = LNETCTL_UNSET, .priority = LNETCTL_UNSET };
	struct lnetctl *c = p->im.c;
	int rc = lnetctl_net_show(c, NULL, 1, true, &p->nets);

	rc = rc ? rc : lnetctl_peer_show(c, NULL, 0, true, &p->peers);
	rc = rc ? rc : lnetctl_fault_show(c, false, &p->rules[0]);
	rc = rc ? rc : lnetctl_fault_show(c, true, &p->rules[1]);
	rc = rc ? rc : faults_read(p);
	rc = rc ? rc : ctl_udsp_all(c, &p->policies);
	rc = rc ? rc : lnetctl_route_show(c, &all, 1, true, &p->routes);
	rc = rc ? rc : lnetctl_global_show(c, &shown);
	if (rc)
		return rc;
	p->global = lnetctl_find(shown, "global");
	if (p->global)
		lnetctl_take(shown, p->global);
	lnetctl_doc_free(shown);
	return p->global ? 0 : plan_nomem(p);
}

/* The parts are there from the begin, so that they have their order; empty ones go in the end. */
static int doc_begin(struct plan *p)
{
	p->doc = lnetctl_add_map(NULL, NULL);
	return p->doc && lnetctl_add_map(p->doc, "del") && lnetctl_add_map(p->doc, "set") &&
			       lnetctl_add_map(p->doc, "add")
		       ? 0 : plan_nomem(p);
}

static void doc_end(struct plan *p)
{
	struct lnetctl_node *part, *next;

	for (part = p->doc->first; part; part = next) {
		next = part->next;
		if (part->first)
			continue;
		lnetctl_take(p->doc, part);
		lnetctl_doc_free(part);
	}
}

int lnetctl_plan(struct lnetctl *c, const struct lnetctl_node *doc, const char *name,
		 struct lnetctl_node **plan)
{
	struct plan p = { .im = { .c = c, .how = LNETCTL_IMPORT_ADD } };
	int rc = doc_begin(&p);

	*plan = NULL;
	rc = rc ? rc : node_read(&p);
	rc = rc ? rc : plan_all(&p, doc);
	rc = import_place(&p.im, name, rc);
	lnetctl_doc_free(p.nets);
	lnetctl_doc_free(p.peers);
	lnetctl_doc_free(p.rules[0]);
	lnetctl_doc_free(p.rules[1]);
	lnetctl_doc_free(p.faults);
	lnetctl_doc_free(p.policies);
	lnetctl_doc_free(p.routes);
	lnetctl_doc_free(p.global);
	if (rc) {
		lnetctl_doc_free(p.doc);
		return rc;
	}
	doc_end(&p);
	*plan = p.doc;
	return 0;
}

/* ---- doing it -------------------------------------------------------------------------------- */

/* Rules, routes and peers go before the interfaces that they are about, and come after them. */
static int carry_out(struct import *im, const struct lnetctl_node *part, bool add)
{
	static const char *const order[] = { "udsp", "fault", "faults", "route", "peer",
					     "routing", "net", "buffers", "global" };
	const struct lnetctl_node *n;
	int i, last = sizeof(order) / sizeof(order[0]) - 1, rc = 0;

	im->how = add ? LNETCTL_IMPORT_ADD : LNETCTL_IMPORT_DEL;
	for (i = 0; i <= last && !rc; i++) {
		n = lnetctl_find(part, order[add ? last - i : i]);
		rc = n ? import_section(im, n) : 0;
	}
	return rc;
}

static int plan_do(struct import *im, const struct lnetctl_node *plan)
{
	int rc = carry_out(im, lnetctl_find(plan, "del"), false);

	rc = rc ? rc : carry_out(im, lnetctl_find(plan, "set"), true);
	return rc ? rc : carry_out(im, lnetctl_find(plan, "add"), true);
}

/* The transaction begins before the node is read: what is planned is for what was read. */
static int apply_once(struct lnetctl *c, const struct lnetctl_node *doc, const char *name,
		      struct lnetctl_node **plan)
{
	struct import im = { .c = c };
	int rc = ctl_trans_begin(c, &im.trans, true), planned;

	if (rc == -EOPNOTSUPP)
		return ctl_fail(c, rc, "set", "apply",
				"this node cannot change a configuration as a whole");
	if (rc)
		return rc;
	planned = rc = lnetctl_plan(c, doc, name, plan);
	rc = rc ? rc : plan_do(&im, *plan);
	if (!rc && !(*plan)->first) {
		ctl_trans_end(c, &im.trans, -ECANCELED);	/* nothing to do */
		return 0;
	}
	rc = ctl_trans_end(c, &im.trans, rc);
	return planned ? rc : import_place(&im, name, rc);
}

int lnetctl_apply(struct lnetctl *c, const struct lnetctl_node *doc, const char *name,
		  struct lnetctl_node **plan)
{
	struct lnetctl_node *todo;
	unsigned int tries = 0;
	int rc;

	do {
		todo = NULL;
		rc = apply_once(c, doc, name, &todo);
		if (rc || !plan)
			lnetctl_doc_free(todo);
	} while (ctl_trans_again(rc, &tries));
	if (plan)
		*plan = rc ? NULL : todo;
	return rc;
}
