/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces of a file beside those of a node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

static const char *device_of(const struct lnetctl_node *ni)
{
	const struct lnetctl_node *intf = lnetctl_find(ni, "interfaces");

	return intf && intf->first && intf->first->text ? intf->first->text : "";
}

static bool ni_meant(const struct ni_item *item, const char *net, const struct lnetctl_node *ni)
{
	const char *nid = lnetctl_text(ni, "nid");

	if (ni->line)
		return false;		/* another item's */
	if (item->nid && nid)
		return !strcmp(item->nid, nid);
	return import_net_same(item->net, net) && !strcmp(item->name, device_of(ni));
}

/* The node's interface that @item is, with its net; NULL. */
static struct lnetctl_node *find_ni(const struct plan *p, const struct ni_item *item,
				    struct lnetctl_node **net)
{
	struct lnetctl_node *nets = lnetctl_find(p->nets, "net"), *nis, *ni;

	for (*net = nets ? nets->first : NULL; *net; *net = (*net)->next) {
		nis = lnetctl_find(*net, "local NI(s)");
		for (ni = nis ? nis->first : NULL; ni; ni = ni->next)
			if (ni_meant(item, lnetctl_text(*net, "net type"), ni))
				return ni;
	}
	return NULL;
}

static int64_t number_in(const struct lnetctl_node *ni, const char *group, const char *key)
{
	int64_t val = LNETCTL_UNSET;

	lnetctl_num(lnetctl_find(lnetctl_find(ni, group), key), &val);
	return val;
}

/* What is not named or left to the node is as it is. */
static bool number_same(const struct lnetctl_node *ni, const char *group, const char *key,
			int64_t want, int64_t unset)
{
	return want == LNETCTL_UNSET || want == unset || want == number_in(ni, group, key);
}

/* As a node does: no more under way to one peer than over the interface. */
static int64_t credits_of_peer(const struct lnetctl_net *n)
{
	bool clamped = n->credits > 0 && n->peer_credits > n->credits;

	return clamped ? n->credits : n->peer_credits;
}

/* A list as a set. @text may have the quotes that a node's answer has. False: not a list. */
static bool cpts_set(const char *text, unsigned char set[1024])
{
	struct lnetctl_node *map = lnetctl_add_map(NULL, NULL), *n;
	char list[128];
	int64_t cpt;
	bool good;

	memset(set, 0, 1024);
	text += *text == '"';
	snprintf(list, sizeof(list), "%.*s", (int)strcspn(text, "\""), text);
	good = map && !ctl_cpts_add(map, list);
	for (n = good ? map->first->first : NULL; n; n = n->next)
		if (!lnetctl_num(n, &cpt) && cpt >= 0 && cpt < 1024)
			set[cpt] = 1;
	lnetctl_doc_free(map);
	return good;
}

static bool cpts_same(const struct lnetctl_node *ni, const char *cpts)
{
	const char *has = lnetctl_text(ni, "CPT");
	unsigned char a[1024], b[1024];

	return has && cpts_set(cpts, a) && cpts_set(has, b) && !memcmp(a, b, sizeof(a));
}

static bool ni_same(const struct ni_item *item, const struct lnetctl_node *ni)
{
	const struct lnetctl_net *n = &item->n;

	if (*item->cpts && !cpts_same(ni, item->cpts))
		return false;
	return number_same(ni, "tunables", "peer_timeout", n->peer_timeout, -1) &&
	       number_same(ni, "tunables", "peer_credits", credits_of_peer(n), -1) &&
	       number_same(ni, "tunables", "peer_buffer_credits", n->peer_buffer_credits, -1) &&
	       number_same(ni, "tunables", "credits", n->credits, -1) &&
	       /* 0: as the link is fast */
	       number_same(ni, "lnd tunables", "conns_per_peer", n->conns_per_peer, 0) &&
	       number_same(ni, "lnd tunables", "tos", n->tos, LNETCTL_UNSET);
}

/* A new element of @net in a part of the plan; items of one net share their list. */
static struct lnetctl_node *element(struct plan *p, const char *verb, const char *net)
{
	struct lnetctl_node *nets = plan_section(p, verb, "net", LNETCTL_SEQ), *item, *nis;

	item = nets ? nets->last : NULL;
	if (nets && (!item || strcmp(lnetctl_text(item, "net type"), net))) {
		item = lnetctl_add_map(nets, NULL);
		if (!item || !lnetctl_add_text(item, "net type", net) ||
		    !lnetctl_add_seq(item, "local NI(s)"))
			return NULL;
	}
	nis = item ? lnetctl_find(item, "local NI(s)") : NULL;
	return nis ? lnetctl_add_map(nis, NULL) : NULL;
}

static int identity(struct plan *p, struct lnetctl_node *ni, const char *nid, const char *name)
{
	struct lnetctl_node *intf;

	if (nid && !lnetctl_add_text(ni, "nid", nid))
		return plan_nomem(p);
	if (!*name)
		return 0;
	intf = lnetctl_add_map(ni, "interfaces");
	return intf && lnetctl_add_text(intf, "0", name) ? 0 : plan_nomem(p);
}

/* The lines of @ours are those of what the file has by the same keys. */
static void take_lines(const struct lnetctl_node *ours, const struct lnetctl_node *file)
{
	struct lnetctl_node *key;

	for (key = ours ? ours->first : NULL; key; key = key->next) {
		const struct lnetctl_node *given = lnetctl_find(file, key->key);

		key->line = given ? given->line : 0;
	}
}

static int numbers(struct plan *p, struct lnetctl_node *ni, const struct ni_item *item)
{
	static const char *const groups[] = { "tunables", "lnd tunables" };
	unsigned int i;

	if (ctl_net_numbers(ni, &item->n))
		return plan_nomem(p);
	for (i = 0; i < 2; i++)
		take_lines(lnetctl_find(ni, groups[i]), lnetctl_find(item->at, groups[i]));
	return 0;
}

static int plan_add(struct plan *p, const struct ni_item *item)
{
	struct lnetctl_node *ni = element(p, "add", item->net), *cpts;
	int rc = ni ? identity(p, ni, item->nid, item->name) : plan_nomem(p);

	rc = rc ? rc : numbers(p, ni, item);
	if (!rc && *item->cpts) {
		cpts = lnetctl_add_text(ni, "CPT", item->cpts);
		if (!cpts)
			return plan_nomem(p);
		cpts->quote = LNETCTL_DOUBLE;
	}
	if (!rc)
		ni->line = item->at->line;
	return rc;
}

static int plan_del(struct plan *p, const struct lnetctl_node *net, const struct lnetctl_node *ni)
{
	struct lnetctl_node *el = element(p, "del", lnetctl_text(net, "net type"));

	return el ? identity(p, el, lnetctl_text(ni, "nid"), device_of(ni)) : plan_nomem(p);
}

int plan_net_item(struct import *im, const struct ni_item *item, void *plan)
{
	struct lnetctl_node *net, *ni;
	struct plan *p = plan;
	int rc = 0;

	(void)im;
	ni = find_ni(p, item, &net);
	if (ni)
		ni->line = 1;
	if (ni && ni_same(item, ni))
		return 0;
	if (ni)
		rc = plan_del(p, net, ni);
	return rc ? rc : plan_add(p, item);
}

int plan_nets_del(struct plan *p)
{
	const struct lnetctl_node *nets = lnetctl_find(p->nets, "net"), *net, *nis, *ni;
	int rc = 0;

	for (net = nets ? nets->first : NULL; net; net = net->next) {
		nis = lnetctl_find(net, "local NI(s)");
		for (ni = nis ? nis->first : NULL; ni && !rc; ni = ni->next)
			if (!ni->line)
				rc = plan_del(p, net, ni);
	}
	return rc;
}
