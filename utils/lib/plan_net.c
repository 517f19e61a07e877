/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares interfaces of a file with those of a node. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "plan.h"

static const char *ni_device_of(const struct lnetctl_node *ni)
{
	const struct lnetctl_node *intf = lnetctl_find(ni, "interfaces");

	return intf && intf->first && intf->first->text ? intf->first->text : "";
}

static bool ni_meant(const struct ni_item *item, const char *net, const struct lnetctl_node *ni)
{
	const char *nid = lnetctl_text(ni, "nid");

	if (ni->line)
		return false;		/* matches an earlier item */
	if (item->nid && nid)
		return !strcmp(item->nid, nid);
	return import_net_same(item->net, net) && !strcmp(item->name, ni_device_of(ni));
}

/* Finds the node's interface for @item, and stores its net in *@net. NULL: not found. */
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

/* Returns the credits of a peer. As in a node, these are at most the credits of the interface. */
static int64_t credits_of_peer(const struct lnetctl_net *n)
{
	bool clamped = n->credits > 0 && n->peer_credits > n->credits;

	return clamped ? n->credits : n->peer_credits;
}

/* Reads a list of CPTs as a set. @text may have quotes, as a node sends it. False: not a list. */
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

/* The differences of an interface, as text separated by commas. */
struct differences {
	char text[320];
	size_t len;
};

static void difference_add(struct differences *d, const char *key, const char *has,
			   const char *want)
{
	if (d->len < sizeof(d->text))
		d->len += (size_t)snprintf(d->text + d->len, sizeof(d->text) - d->len,
					   "%s%s: %s -> %s", d->len ? ", " : "", key, has, want);
}

/*
 * Compares a number. @want[0] is the number in the file; @want[1] is the number that selects the
 * node's default.
 */
static void number_compare(struct differences *d, const struct lnetctl_node *group,
			   const char *key, const int64_t want[2])
{
	int64_t has = LNETCTL_UNSET;
	char a[24], b[24];

	lnetctl_num(lnetctl_find(group, key), &has);
	if (want[0] == LNETCTL_UNSET || want[0] == want[1] || want[0] == has)
		return;
	snprintf(a, sizeof(a), "%lld", (long long)has);
	snprintf(b, sizeof(b), "%lld", (long long)want[0]);
	difference_add(d, key, has == LNETCTL_UNSET ? "?" : a, b);
}

static bool ni_same(const struct ni_item *item, const struct lnetctl_node *ni,
		    struct differences *d)
{
	const struct lnetctl_node *tun = lnetctl_find(ni, "tunables"),
				  *lnd = lnetctl_find(ni, "lnd tunables");
	const struct lnetctl_net *n = &item->n;
	const char *cpts = lnetctl_text(ni, "CPT");

	*d = (struct differences){ .len = 0 };
	if (*item->cpts && !cpts_same(ni, item->cpts))
		difference_add(d, "CPT", cpts ? cpts : "?", item->cpts);
	number_compare(d, tun, "peer_timeout", (int64_t[]){ n->peer_timeout, -1 });
	number_compare(d, tun, "peer_credits", (int64_t[]){ credits_of_peer(n), -1 });
	number_compare(d, tun, "peer_buffer_credits", (int64_t[]){ n->peer_buffer_credits, -1 });
	number_compare(d, tun, "credits", (int64_t[]){ n->credits, -1 });
	/* 0: the node derives the number from the link speed */
	number_compare(d, lnd, "conns_per_peer", (int64_t[]){ n->conns_per_peer, 0 });
	number_compare(d, lnd, "tos", (int64_t[]){ n->tos, LNETCTL_UNSET });
	return !d->len;
}

/* ---- marks: changed without replacing the interface ------------- */

/* Is the link set down? A node shows the key only in this case. */
static bool is_down(const struct lnetctl_node *ni)
{
	return lnetctl_find(ni, "link");
}

static bool is_drained(const struct lnetctl_node *ni)
{
	return lnetctl_find(ni, "service");
}

/*
 * Returns the NID of @ni on @net. A backup lacks the NID if the interface was added by its device
 * name.
 */
static const char *ni_nid_of(const struct plan *p, const char *net, const struct lnetctl_node *ni)
{
	const struct lnetctl_node *nets = lnetctl_find(p->addresses, "net"), *n, *nis, *other;
	const char *nid = lnetctl_text(ni, "nid");

	for (n = nid || !nets ? NULL : nets->first; n && !nid; n = n->next) {
		nis = lnetctl_find(n, "local NI(s)");
		for (other = nis ? nis->first : NULL; other && !nid; other = other->next)
			if (import_net_same(lnetctl_text(n, "net type"), net) &&
			    !strcmp(ni_device_of(other), ni_device_of(ni)))
				nid = lnetctl_text(other, "nid");
	}
	return nid && strcmp(nid, "<?>") ? nid : NULL;
}

static int mark_set(struct plan *p, const char *nid, const struct lnetctl_node *from,
		    const char *was)
{
	struct lnetctl_node line = *from;
	char key[128];

	snprintf(key, sizeof(key), "%s", nid);
	line.key = key;
	return plan_set(p, from->key, &line, was);
}

static int marks_plan(struct plan *p, const struct ni_item *item, const char *nid,
		      const struct lnetctl_node *ni)
{
	const struct lnetctl_node *at = item->at;
	int rc = 0;

	if (item->n.drained != LNETCTL_UNSET && item->n.drained != is_drained(ni))
		rc = mark_set(p, nid, lnetctl_find(at, "service"),
			      is_drained(ni) ? "drained" : "normal");
	if (!rc && item->n.link_down != LNETCTL_UNSET && item->n.link_down != is_down(ni))
		rc = mark_set(p, nid, lnetctl_find(at, "link"), is_down(ni) ? "down" : "up");
	return rc;
}

/*
 * Adds a difference of service state or link to @d. The caller then replaces the interface: the
 * plan removes it and adds it with the new state. A request that changes only the state needs the
 * NID, which an interface that waits for its device does not have.
 */
static void marks_compare(const struct ni_item *item, const struct lnetctl_node *ni,
			  struct differences *d)
{
	if (item->n.drained != LNETCTL_UNSET && item->n.drained != is_drained(ni))
		difference_add(d, "service", is_drained(ni) ? "drained" : "normal",
			       item->n.drained ? "drained" : "normal");
	if (item->n.link_down != LNETCTL_UNSET && item->n.link_down != is_down(ni))
		difference_add(d, "link", is_down(ni) ? "down" : "up",
			       item->n.link_down ? "down" : "up");
}

/* Copies service state and link of a replaced interface, unless the file sets them. */
static void marks_keep(struct ni_item *item, const struct lnetctl_node *ni)
{
	if (item->n.drained == LNETCTL_UNSET && is_drained(ni))
		item->n.drained = 1;
	if (item->n.link_down == LNETCTL_UNSET && is_down(ni))
		item->n.link_down = 1;
}

static int ni_marks_add(struct plan *p, struct lnetctl_node *ni, const struct lnetctl_net *n)
{
	if (n->drained == 1 && !lnetctl_add_text(ni, "service", "drained"))
		return plan_nomem(p);
	return n->link_down != 1 || lnetctl_add_text(ni, "link", "down") ? 0 : plan_nomem(p);
}

/* Adds an element of @net under @verb of the plan. Items of the same net have a common list. */
static struct lnetctl_node *net_element_add(struct plan *p, const char *verb, const char *net)
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

/* Copies the file positions of keys in @file to the equal keys of @ours. */
static void take_lines(const struct lnetctl_node *ours, const struct lnetctl_node *file)
{
	struct lnetctl_node *key;

	for (key = ours ? ours->first : NULL; key; key = key->next) {
		const struct lnetctl_node *given = lnetctl_find(file, key->key);

		import_at(key, given);
	}
}

static int ni_numbers_add(struct plan *p, struct lnetctl_node *ni, const struct ni_item *item)
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
	struct lnetctl_node *ni = net_element_add(p, "add", item->net), *cpts;
	int rc = ni ? identity(p, ni, item->nid, item->name) : plan_nomem(p);

	rc = rc ? rc : ni_numbers_add(p, ni, item);
	rc = rc ? rc : ni_marks_add(p, ni, &item->n);
	if (!rc && *item->cpts) {
		cpts = lnetctl_add_text(ni, "CPT", item->cpts);
		if (!cpts)
			return plan_nomem(p);
		cpts->quote = LNETCTL_DOUBLE;
	}
	if (!rc)
		import_at(ni, item->at);
	return rc;
}

static int plan_del(struct plan *p, const struct lnetctl_node *net, const struct lnetctl_node *ni)
{
	struct lnetctl_node *el = net_element_add(p, "del", lnetctl_text(net, "net type"));

	return el ? identity(p, el, lnetctl_text(ni, "nid"), ni_device_of(ni)) : plan_nomem(p);
}

int plan_net_item(struct import *im, const struct ni_item *item, void *plan)
{
	struct ni_item wanted = *item;
	struct lnetctl_node *net, *ni;
	struct differences d;
	struct plan *p = plan;
	const char *nid;
	int rc = 0;

	(void)im;
	ni = find_ni(p, item, &net);
	if (ni)
		ni->line = PLAN_KEPT;
	nid = ni ? ni_nid_of(p, lnetctl_text(net, "net type"), ni) : NULL;
	if (ni && ni_same(item, ni, &d) && nid)
		return marks_plan(p, item, nid, ni);
	if (ni)
		marks_compare(item, ni, &d);
	if (ni && !d.len)
		return 0;
	if (ni) {
		ni->line = PLAN_REPLACED;
		marks_keep(&wanted, ni);
		rc = plan_moved(p, ni, lnetctl_text(net, "net type"), d.text);
		rc = rc ? rc : plan_del(p, net, ni);
	}
	return rc ? rc : plan_add(p, &wanted);
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
