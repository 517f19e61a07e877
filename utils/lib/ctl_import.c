/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Configuration files: sections into requests, and back. */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "client.h"

struct import {
	struct lnetctl *c;
	enum lnetctl_import how;
	struct lnetctl_node *shown;	/* NULL: nobody wants to see */
};

static const char *verb_of(enum lnetctl_import how)
{
	static const char *const verbs[] = { "add", "del", "show", "manage" };

	return verbs[how];
}

static int refuse(struct import *im, const char *object, const struct lnetctl_node *n,
		  const char *what)
{
	return ctl_fail(im->c, -EINVAL, verb_of(im->how), object, "line %u: %s", n->line, what);
}

/* The sections of @doc, which is freed, into what is shown. */
static int keep_shown(struct import *im, struct lnetctl_node *doc)
{
	while (im->shown && doc && doc->first) {
		struct lnetctl_node *section = doc->first,
				    *there = lnetctl_find(im->shown, section->key);

		lnetctl_take(doc, section);
		if (!there) {
			lnetctl_adopt(im->shown, section);
			continue;
		}
		while (section->first) {
			struct lnetctl_node *item = section->first;

			lnetctl_take(section, item);
			lnetctl_adopt(there, item);
		}
		lnetctl_doc_free(section);
	}
	lnetctl_doc_free(doc);
	return 0;
}

/* ---- net ---- */

static bool first_interface(char *name, size_t size)
{
	struct ifaddrs *all, *ifa;
	bool found = false;

	if (getifaddrs(&all))
		return false;
	for (ifa = all; ifa && !found; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_INET ||
		    !(ifa->ifa_flags & IFF_UP) || (ifa->ifa_flags & IFF_LOOPBACK))
			continue;
		snprintf(name, size, "%s", ifa->ifa_name);
		found = true;
	}
	freeifaddrs(all);
	return found;
}

static int num_in(struct import *im, const struct lnetctl_node *map, const char *key, int64_t *val)
{
	const struct lnetctl_node *n = lnetctl_find(map, key);

	if (n && lnetctl_num(n, val))
		return refuse(im, "net", n, "not a number");
	return 0;
}

static int read_tunables(struct import *im, const struct lnetctl_node *map, struct lnetctl_net *n)
{
	const struct lnetctl_node *tun = lnetctl_find(map, "tunables"),
				  *lnd = lnetctl_find(map, "lnd tunables");
	int rc = num_in(im, tun, "peer_timeout", &n->peer_timeout);

	rc = rc ? rc : num_in(im, tun, "peer_credits", &n->peer_credits);
	rc = rc ? rc : num_in(im, tun, "peer_buffer_credits", &n->peer_buffer_credits);
	rc = rc ? rc : num_in(im, tun, "credits", &n->credits);
	rc = rc ? rc : num_in(im, lnd, "conns_per_peer", &n->conns_per_peer);
	return rc ? rc : num_in(im, lnd, "tos", &n->tos);
}

/* "CPT" is a text with or without brackets, or a sequence: as a text in brackets. */
static void read_cpts(const struct lnetctl_node *map, char *buf, size_t size)
{
	const struct lnetctl_node *cpt = lnetctl_find(map, "CPT"), *n;
	size_t len = 0;

	buf[0] = 0;
	if (!cpt)
		return;
	if (cpt->kind != LNETCTL_SEQ) {
		const char *text = cpt->text ? cpt->text : "";

		snprintf(buf, size, *text == '[' ? "%s" : "[%s]", text);
		return;
	}
	for (n = cpt->first; n && len + 1 < size; n = n->next)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "[",
					n->text ? n->text : "");
	if (len + 2 < size)
		strcat(buf, "]");
}

/* One request per interface or NID, so that an error names it. */
static int net_do(struct import *im, const struct lnetctl_net *n)
{
	if (im->how == LNETCTL_IMPORT_DEL)
		return lnetctl_net_del(im->c, n);
	return lnetctl_net_add(im->c, n);
}

static int interfaces_do(struct import *im, struct lnetctl_net *n, const struct lnetctl_node *intf,
			 const char *cpts)
{
	int rc = 0;

	for (; intf && !rc; intf = intf->next) {
		n->interfaces = intf->text;
		n->cpts = cpts;
		if (!intf->text)
			rc = refuse(im, "net", intf, "an interface must have a name");
		else
			rc = net_do(im, n);
	}
	return rc;
}

static int import_ni(struct import *im, const struct lnetctl_node *net,
		     const struct lnetctl_node *ni)
{
	const struct lnetctl_node *intf = lnetctl_find(ni, "interfaces");
	const char *nid = lnetctl_text(ni, "nid"), *type = lnetctl_text(net, "net type");
	char cpts[128], name[IFNAMSIZ];
	struct lnetctl_net n;
	int rc;

	lnetctl_net_init(&n);
	rc = read_tunables(im, net, &n);
	rc = rc ? rc : read_tunables(im, ni, &n);
	if (rc)
		return rc;
	read_cpts(ni, cpts, sizeof(cpts));
	if (nid) {
		n.nids = nid;
		n.cpts = cpts;
		return net_do(im, &n);
	}
	n.net = type;
	if (intf && intf->first)
		return interfaces_do(im, &n, intf->first, cpts);
	if (!first_interface(name, sizeof(name)))
		return refuse(im, "net", net, "no interface is named, and none is up");
	n.interfaces = name;
	n.cpts = cpts;
	return net_do(im, &n);
}

static int net_show(struct import *im, const char *type)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_net_show(im->c, type, 0, false, &doc);

	return rc ? rc : keep_shown(im, doc);
}

static int import_net(struct import *im, const struct lnetctl_node *net)
{
	const char *type = lnetctl_text(net, "net type");
	const struct lnetctl_node *nis = lnetctl_find(net, "local NI(s)"), *ni;
	int rc = 0;

	if (!type)
		return refuse(im, "net", net, "a net must begin with its 'net type'");
	if (im->how == LNETCTL_IMPORT_SHOW)
		return net_show(im, type);
	if (!strcmp(type, "lo"))
		return 0;
	if (!nis)
		return import_ni(im, net, net);
	for (ni = nis->first; ni && !rc; ni = ni->next)
		rc = import_ni(im, net, ni);
	return rc;
}

/* ---- peer ---- */

static bool is_bool(const struct lnetctl_node *n, bool *val)
{
	if (n->kind != LNETCTL_BOOL)
		return false;
	*val = strchr("yYtT", n->text[0]) || !strcasecmp(n->text, "on");
	return true;
}

static int peer_show(struct import *im, const char *primary)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_peer_show(im->c, primary, 0, false, &doc);

	return rc ? rc : keep_shown(im, doc);
}

/* The NIDs under "peer ni" as a list with commas; NULL: out of memory. */
static char *nids_join(const struct lnetctl_node *pnis)
{
	const struct lnetctl_node *pni;
	char *list = strdup("");

	for (pni = pnis ? pnis->first : NULL; pni && list; pni = pni->next) {
		const char *nid = lnetctl_text(pni, "nid");
		char *longer = NULL;

		if (nid && asprintf(&longer, "%s%s%s", list, *list ? "," : "", nid) < 0)
			longer = NULL;
		if (nid) {
			free(list);
			list = longer;
		}
	}
	return list;
}

static int import_peer(struct import *im, const struct lnetctl_node *peer)
{
	const char *primary = lnetctl_text(peer, "primary nid");
	const struct lnetctl_node *flag = lnetctl_find(peer, "Multi-Rail");
	bool mr = true;
	char *nids;
	int rc;

	if (im->how == LNETCTL_IMPORT_EXEC)
		return refuse(im, "import", peer, "invalid key 'peer'");
	if (!primary)
		return refuse(im, "peer", peer, "a peer must have its 'primary nid'");
	if (im->how == LNETCTL_IMPORT_SHOW)
		return peer_show(im, primary);
	if (flag && !is_bool(flag, &mr))
		return refuse(im, "peer", flag, "'Multi-Rail' must be true or false");
	nids = nids_join(lnetctl_find(peer, "peer ni"));
	if (!nids)
		return ctl_fail(im->c, -ENOMEM, verb_of(im->how), "peer", NULL);
	if (im->how == LNETCTL_IMPORT_DEL)
		rc = lnetctl_peer_del(im->c, primary, *nids ? nids : NULL, 0);
	else
		rc = lnetctl_peer_add(im->c, primary, *nids ? nids : NULL,
				      mr ? 0 : LNETCTL_PEER_NON_MR);
	free(nids);
	return rc;
}

/* ---- fault ---- */

static unsigned int rule_num(const struct lnetctl_node *rule, const char *key)
{
	int64_t val = 0;

	lnetctl_num(lnetctl_find(rule, key), &val);
	return (unsigned int)val;
}

static int import_fault(struct import *im, const struct lnetctl_node *rule)
{
	const char *type = lnetctl_text(rule, "rule_type");
	struct lnetctl_fault f = { 0 };
	int64_t portals = 0;

	if (!type || (strcmp(type, "drop") && strcmp(type, "delay")))
		return refuse(im, "fault", rule, "'rule_type' must be drop or delay");
	f.delay = !strcmp(type, "delay");
	f.source = lnetctl_text(rule, "fa_src");
	f.dest = lnetctl_text(rule, "fa_dst");
	f.local = lnetctl_text(rule, "fa_local_nid");
	lnetctl_num(lnetctl_find(rule, "fa_ptl_mask"), &portals);
	f.portals = (uint64_t)portals;
	f.messages = rule_num(rule, "fa_msg_mask");
	f.rate = rule_num(rule, f.delay ? "la_rate" : "da_rate");
	f.interval = rule_num(rule, f.delay ? "la_interval" : "da_interval");
	f.latency_ms = rule_num(rule, "la_latency_ms");
	if (!f.latency_ms)
		f.latency_ms = rule_num(rule, "la_latency") * 1000;
	f.when = rule_num(rule, "da_when");
	f.health_errors = rule_num(rule, "da_health_error_mask");
	f.random = rule_num(rule, "da_random");
	f.drop_all = rule_num(rule, "da_drop_all");
	if (im->how == LNETCTL_IMPORT_DEL)
		return lnetctl_fault_del(im->c, &f);
	return im->how == LNETCTL_IMPORT_SHOW ? 0 : lnetctl_fault_add(im->c, &f);
}

/* ---- global ---- */

/* Deleting the section puts back what stock's tool puts back. */
static int reset_globals(struct import *im, const struct lnetctl_node *section)
{
	static const char *const names[] = { "numa_range", "max_interfaces", "discovery" };
	size_t i;
	int rc = 0;

	for (i = 0; i < sizeof(names) / sizeof(names[0]) && !rc; i++)
		if (lnetctl_find(section, names[i]))
			rc = lnetctl_set(im->c, names[i], "default");
	return rc;
}

static int import_global(struct import *im, const struct lnetctl_node *section)
{
	struct lnetctl_node *doc;
	int rc;

	switch (im->how) {
	case LNETCTL_IMPORT_ADD:
		return lnetctl_set_many(im->c, section);
	case LNETCTL_IMPORT_DEL:
		return reset_globals(im, section);
	case LNETCTL_IMPORT_SHOW:
		rc = lnetctl_global_show(im->c, &doc);
		return rc ? rc : keep_shown(im, doc);
	default:
		return 0;
	}
}

/* ---- ping ---- */

static int import_ping(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *nids = lnetctl_find(section, "nids"), *n;
	struct lnetctl_node *doc;
	int64_t timeout = 0;
	int rc = 0;

	if (im->how != LNETCTL_IMPORT_EXEC)
		return refuse(im, "import", section, "invalid key 'ping'");
	lnetctl_num(lnetctl_find(section, "timeout"), &timeout);
	for (n = nids ? nids->first : NULL; n && !rc; n = n->next) {
		rc = lnetctl_ping(im->c, n->text ? n->text : "", lnetctl_text(section, "source"),
				  (unsigned int)timeout, &doc);
		if (!rc)
			keep_shown(im, doc);
	}
	return rc;
}

/* ---- files ---- */

typedef int (*item_fn)(struct import *im, const struct lnetctl_node *item);

static const struct section {
	const char *name;
	item_fn item;
	int (*whole)(struct import *im, const struct lnetctl_node *section);
} sections[] = {
	{ "net", import_net, NULL }, { "peer", import_peer, NULL }, { "fault", import_fault, NULL },
	{ "global", NULL, import_global }, { "ping", NULL, import_ping },
};

/* A scalar at the top is a tunable. */
static int import_scalar(struct import *im, const struct lnetctl_node *n)
{
	int rc;

	if (im->how != LNETCTL_IMPORT_ADD)
		return 0;
	if (n->kind == LNETCTL_NULL)
		return ctl_fail(im->c, -EINVAL, "add", "import", "no value specified for key '%s'",
				n->key);
	rc = lnetctl_set(im->c, n->key, n->text);
	if (rc == -ENOENT)
		return ctl_fail(im->c, -EINVAL, "add", "import", "invalid key '%s'", n->key);
	if (rc == -EINVAL || rc == -ERANGE)
		return ctl_fail(im->c, rc, "add", "import", "invalid value '%s' for key '%s'",
				n->text, n->key);
	return rc;
}

static int import_forward(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	const struct lnetctl_node *item;
	int rc = 0;

	for (item = n->first; item && !rc; item = item->next)
		rc = fn(im, item);
	return rc;
}

static int import_backward(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	const struct lnetctl_node *item, *end = NULL;
	int rc = 0;

	while (end != n->first && !rc) {
		for (item = n->first; item->next != end; item = item->next)
			;
		rc = fn(im, item);
		end = item;
	}
	return rc;
}

/* Of rules the newest is shown first: who adds them in turn begins with the last. */
static int import_items(struct import *im, const struct lnetctl_node *n, item_fn fn)
{
	if (fn == import_fault && im->how == LNETCTL_IMPORT_ADD)
		return import_backward(im, n, fn);
	return import_forward(im, n, fn);
}

static int import_section(struct import *im, const struct lnetctl_node *n)
{
	size_t i;

	for (i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (strcmp(n->key, sections[i].name))
			continue;
		if (n->kind == LNETCTL_NULL)
			return 0;
		if (sections[i].whole)
			return n->kind == LNETCTL_MAP ? sections[i].whole(im, n)
						      : refuse(im, n->key, n, "must be a mapping");
		if (n->kind != LNETCTL_SEQ)
			return refuse(im, n->key, n, "must be a sequence");
		return import_items(im, n, sections[i].item);
	}
	if (n->kind == LNETCTL_MAP || n->kind == LNETCTL_SEQ)
		return ctl_fail(im->c, -EINVAL, verb_of(im->how), "import", "invalid key '%s'",
				n->key);
	return import_scalar(im, n);
}

/* Tunables first: an interface that is added uses them. */
static bool goes_first(const struct import *im, const struct lnetctl_node *n)
{
	return im->how == LNETCTL_IMPORT_ADD &&
	       (!strcmp(n->key, "global") || (n->kind != LNETCTL_MAP && n->kind != LNETCTL_SEQ));
}

int lnetctl_import(struct lnetctl *c, const struct lnetctl_node *doc, enum lnetctl_import how,
		   struct lnetctl_node **shown)
{
	struct import im = { .c = c, .how = how };
	const struct lnetctl_node *n;
	int rc = 0;

	if (shown && !*shown)
		*shown = lnetctl_add_map(NULL, NULL);
	if (shown)
		im.shown = *shown;
	for (n = doc->first; n && !rc; n = n->next)
		if (goes_first(&im, n))
			rc = import_section(&im, n);
	for (n = doc->first; n && !rc; n = n->next)
		if (!goes_first(&im, n))
			rc = import_section(&im, n);
	return rc;
}

static int export_part(struct lnetctl_node *doc, int rc, enum lnetctl_style style, FILE *out)
{
	if (!rc)
		lnetctl_print(doc, style, out);
	lnetctl_doc_free(doc);
	return rc;
}

static int export_faults(struct lnetctl *c, FILE *out)
{
	struct import faults = { .c = c };
	struct lnetctl_node *delays;
	int rc = lnetctl_fault_show(c, false, &faults.shown);

	if (rc)
		return rc;
	rc = lnetctl_fault_show(c, true, &delays);
	if (!rc)
		keep_shown(&faults, delays);
	return export_part(faults.shown, rc, LNETCTL_WIDE, out);
}

int lnetctl_export(struct lnetctl *c, unsigned int flags, FILE *out)
{
	bool backup = flags & LNETCTL_EXPORT_BACKUP;
	struct lnetctl_node *doc;
	int rc;

	rc = lnetctl_net_show(c, NULL, backup ? 1 : 2, backup, &doc);
	rc = export_part(doc, rc, LNETCTL_WIDE, out);
	if (rc)
		return rc;
	rc = lnetctl_peer_show(c, NULL, backup ? 0 : 3, backup, &doc);
	rc = export_part(doc, rc, LNETCTL_WIDE, out);
	if (rc)
		return rc;
	rc = lnetctl_global_show(c, &doc);
	rc = export_part(doc, rc, LNETCTL_HAND, out);
	if (rc || flags & LNETCTL_EXPORT_NO_FAULT)
		return rc;
	return export_faults(c, out);
}
