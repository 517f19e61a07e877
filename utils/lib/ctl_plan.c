/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares a node with a file, section by section. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "plan.h"

/* ---- tunables -------------------------------------------------------------------------------- */

/*
 * Converts a value to the unit that nodes show: seconds, bytes, points, or 0 and 1. False: the
 * value is a word whose meaning only the node knows.
 */
static bool plan_value_parse(const char *text, double *val)
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
		{ "set", 1 },	   { "strict", 2 },   { "auto", 3 },
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
	if (!plan_value_parse(a, &x) || !plan_value_parse(b, &y))
		return false;
	return x - y < 5e-10 && y - x < 5e-10;
}

static int plan_tunable(struct plan *p, const struct lnetctl_node *n)
{
	const char *key = strcmp(n->key, "max_intf") ? n->key : "max_interfaces";
	const char *has = lnetctl_text(p->global, key);
	struct lnetctl_node want = *n;

	if (!strcmp(key, "lnd_timeout"))
		return 0;
	if (!has || !n->text)
		return ctl_fail(p->im.c, -EINVAL, "add", "import",
				has ? "no value specified for key '%s'" : "invalid key '%s'",
				n->key);
	if (value_same(has, n->text))
		return 0;
	want.key = (char *)key;
	return plan_set(p, "global", &want, has);
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
		return import_section(&p->im, n);	/* rejected, or ignored */
	return plan_tunable(p, n);
}

/* Is the section missing? An empty section also counts as missing. */
static bool lacks(const struct lnetctl_node *doc, const char *name)
{
	const struct lnetctl_node *n = lnetctl_find(doc, name);

	return !n || n->kind == LNETCTL_NULL;
}

int plan_all(struct plan *p, const struct lnetctl_node *doc)
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
