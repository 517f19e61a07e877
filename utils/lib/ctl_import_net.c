/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the sections net and ip2nets of a configuration as a list of interfaces. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "import.h"

/* ---- values ---------------------------------------------------------------------------------- */

static int net_tunables_read(struct import *im, const struct lnetctl_node *map,
			     struct lnetctl_net *n)
{
	const struct lnetctl_node *tun, *lnd;
	int rc = import_part(im, "net", map, "tunables", IMPORT_MAP, &tun);

	rc = rc ? rc : import_part(im, "net", map, "lnd tunables", IMPORT_MAP, &lnd);
	if (rc)
		return rc;
	rc = import_num(im, "net", tun, "peer_timeout", &n->peer_timeout);
	rc = rc ? rc : import_num(im, "net", tun, "peer_credits", &n->peer_credits);
	rc = rc ? rc : import_num(im, "net", tun, "peer_buffer_credits", &n->peer_buffer_credits);
	rc = rc ? rc : import_num(im, "net", tun, "credits", &n->credits);
	rc = rc ? rc : import_num(im, "net", lnd, "conns_per_peer", &n->conns_per_peer);
	rc = rc ? rc : import_num(im, "net", lnd, "tos", &n->tos);
	return rc;
}

/*
 * Reads a key with two values. @words: the key, the word for 1, the word for 0. If the key is
 * missing, *@val is unchanged.
 */
static int read_switch(struct import *im, const struct lnetctl_node *ni, const char *const words[3],
		       int64_t *val)
{
	const char *word;
	char text[120];
	int rc = import_text(im, "net", ni, words[0], &word);

	if (rc || !word)
		return rc;
	*val = !strcmp(word, words[1]);
	if (*val || !strcmp(word, words[2]))
		return 0;
	snprintf(text, sizeof(text), "'%s' must be %s or %s, not '%.40s'", words[0], words[1],
		 words[2], word);
	return import_refuse(im, "net", lnetctl_find(ni, words[0]), text);
}

/* Reads keys that only this project has. Stock's import ignores them. */
static int read_marks(struct import *im, const struct lnetctl_node *ni, struct lnetctl_net *n)
{
	static const char *const service[] = { "service", "drained", "normal" };
	static const char *const link[] = { "link", "down", "up" };
	int rc = read_switch(im, ni, service, &n->drained);

	return rc ? rc : read_switch(im, ni, link, &n->link_down);
}

/*
 * Reads "CPT" as a text in brackets. In the file it is a sequence, or a text with or without
 * brackets.
 */
static int read_cpts(struct import *im, const struct lnetctl_node *map, char *buf, size_t size)
{
	const struct lnetctl_node *cpt = lnetctl_find(map, "CPT"), *n;
	size_t len = 0;

	if (!cpt || cpt->kind == LNETCTL_NULL)
		return 0;
	if (cpt->kind != LNETCTL_SEQ) {
		len = (size_t)snprintf(buf, size, cpt->text && *cpt->text == '[' ? "%s" : "[%s]",
				       cpt->text ? cpt->text : "");
		return len < size ? 0
				  : import_refuse(im, "net", cpt,
						  "'CPT' must be a list of CPTs such as [0,1]");
	}
	for (n = cpt->first; n && len + 2 < size; n = n->next)
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? "," : "[",
					n->text ? n->text : "");
	if (!len || len + 2 > size)
		return import_refuse(im, "net", cpt, "'CPT' must be a list of CPTs such as [0,1]");
	strcpy(buf + len, "]");
	return 0;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int first_interface(struct import *im, struct ni_item *item)
{
	struct local_address *all;
	int nr = local_addresses(&all), i;

	if (nr < 0)
		return ctl_fail(im->c, nr, import_verb(im), "net", NULL);
	for (i = 0; i < nr; i++)
		if (all[i].family == 2 && !all[i].loopback)
			break;
	if (i < nr)
		snprintf(item->name, sizeof(item->name), "%s", all[i].name);
	free(all);
	return i < nr ? 0
		      : import_refuse(im, "net", item->at,
				      "the rule names no interface, and no interface of the system "
				      "is up");
}

/*
 * Reads an interface such as "eth0" or "eth0[0,1]". The CPTs after the name replace those of the
 * item.
 */
static int read_name(struct import *im, const struct lnetctl_node *intf, struct ni_item *item)
{
	const char *text = intf->text;
	char cpts[sizeof(item->cpts)];

	if (!text || !*text)
		return import_refuse(
			im, "net", intf,
			"each item of 'interfaces' must have the name of an interface");
	if (ctl_interface_next(&text, item->name, sizeof(item->name), cpts, sizeof(cpts)) != 1 ||
	    *text)
		return import_refuse(im, "net", intf, "bad name of an interface");
	if (*cpts)
		memcpy(item->cpts, cpts, sizeof(cpts));
	return 0;
}

static int each_name(struct import *im, const struct ni_item *item,
		     const struct lnetctl_node *intf, ni_item_fn fn, void *arg)
{
	int rc = 0;

	for (; intf && !rc; intf = intf->next) {
		struct ni_item one = *item;

		rc = read_name(im, intf, &one);
		rc = rc ? rc : fn(im, &one, arg);
	}
	return rc;
}

bool import_net_same(const char *a, const char *b)
{
	size_t na = strcspn(a, "0123456789"), nb = strcspn(b, "0123456789");

	if (!strncmp(a, "o2ib", 4) && !strncmp(b, "o2ib", 4))
		na = nb = 4;
	return na == nb && !strncmp(a, b, na) && atoi(a + na) == atoi(b + nb);
}

static const char *nid_net_text(const char *nid)
{
	const char *at = strrchr(nid, '@');

	return at ? at + 1 : "tcp";
}

/*
 * Reads the NID of an interface. If an interface waits for its address, a full export shows "" or
 * "<?>"; *@nid is then NULL.
 */
static int ni_nid_read(struct import *im, const struct lnetctl_node *ni, const char **nid)
{
	int rc = import_text(im, "net", ni, "nid", nid);

	if (!rc && *nid && (!**nid || !strcmp(*nid, "<?>")))
		*nid = NULL;
	return rc;
}

/*
 * A full export contains the current address even if the interface was added by its name. So if
 * @nid is the first address of the interface, the import adds the interface by its name.
 */
static bool has_by_name(const struct lnetctl_node *intf, const char *nid)
{
	const char *name = intf && intf->first ? intf->first->text : NULL;
	struct local_address *all;
	int nr = name ? local_addresses(&all) : 0, i, best = -1;
	char text[64];

	for (i = 0; i < nr; i++)
		if (!strcmp(all[i].name, name) && (best < 0 || all[i].family < all[best].family))
			best = i;
	if (best >= 0)
		inet_ntop(all[best].family, all[best].bytes, text, sizeof(text));
	if (name && nr >= 0)
		free(all);
	return best >= 0 && !strncmp(text, nid, strlen(text)) && nid[strlen(text)] == '@';
}

/*
 * Calls @fn for the interfaces that @ni describes, an element of "local NI(s)" of @net. If @net has
 * no "local NI(s)", the keys of the interface are in @net, and @ni is equal to @net.
 */
static int ni_items(struct import *im, const struct lnetctl_node *net,
		    const struct lnetctl_node *ni, ni_item_fn fn, void *arg)
{
	struct ni_item item = { .at = ni, .net = lnetctl_text(net, "net type") };
	const struct lnetctl_node *intf;
	int rc;

	im->trans.at = ni;
	if (ni->kind != LNETCTL_MAP)
		return import_refuse(im, "net", ni,
				     "each item of 'local NI(s)' must be a mapping, such as '- "
				     "nid: 10.0.0.1@tcp'");
	lnetctl_net_init(&item.n);
	rc = import_part(im, "net", ni, "interfaces", IMPORT_MAP | IMPORT_SEQ, &intf);
	rc = rc ? rc : ni_nid_read(im, ni, &item.nid);
	rc = rc ? rc : net_tunables_read(im, net, &item.n);
	rc = rc || ni == net ? rc : net_tunables_read(im, ni, &item.n);
	rc = rc ? rc : read_marks(im, ni, &item.n);
	rc = rc ? rc : read_cpts(im, net, item.cpts, sizeof(item.cpts));
	rc = rc ? rc : read_cpts(im, ni, item.cpts, sizeof(item.cpts));
	if (rc)
		return rc;
	if (item.nid && !import_net_same(nid_net_text(item.nid), item.net))
		return import_refuse(im, "net", lnetctl_find(ni, "nid"),
				     "the net of 'nid' must be that of its 'net type'");
	if (item.nid && lnetctl_find(ni, "status") && has_by_name(intf, item.nid))
		item.nid = NULL;
	if (item.nid) {
		if (intf && intf->first)
			rc = read_name(im, intf->first, &item);
		return rc ? rc : fn(im, &item, arg);
	}
	if (intf && intf->first)
		return each_name(im, &item, intf->first, fn, arg);
	rc = first_interface(im, &item);
	return rc ? rc : fn(im, &item, arg);
}

int import_net_item(struct import *im, const struct lnetctl_node *net, ni_item_fn fn, void *arg)
{
	const char *type = lnetctl_text(net, "net type");
	const struct lnetctl_node *nis, *ni;
	int rc;

	im->trans.at = net;
	if (!type)
		return import_refuse(im, "net", net, "each item of 'net' must have a 'net type'");
	if (!strcmp(type, "lo"))
		return 0;
	rc = import_part(im, "net", net, "local NI(s)", IMPORT_SEQ, &nis);
	if (rc || !nis)
		return rc ? rc : ni_items(im, net, net, fn, arg);
	for (ni = nis->first; ni && !rc; ni = ni->next)
		rc = ni_items(im, net, ni, fn, arg);
	return rc;
}

/* Sends a separate request for each interface or NID, so that an error names it. */
static int send_item(struct import *im, const struct ni_item *item, void *arg)
{
	struct lnetctl_net n = item->n;

	(void)arg;
	n.cpts = item->cpts;
	n.interfaces = *item->name ? item->name : NULL;
	if (item->nid)
		n.nids = item->nid;
	else
		n.net = item->net;
	if (im->how == LNETCTL_IMPORT_DEL)
		return lnetctl_net_del(im->c, &n);
	return lnetctl_net_add(im->c, &n);
}

static int net_show(struct import *im, const char *type)
{
	struct lnetctl_node *doc;
	int rc = lnetctl_net_show(im->c, type, 0, false, &doc);

	return rc ? rc : import_keep(im, doc);
}

int import_net(struct import *im, const struct lnetctl_node *net)
{
	const char *type = lnetctl_text(net, "net type");

	im->trans.at = net;
	if (type && im->how == LNETCTL_IMPORT_SHOW)
		return net_show(im, type);
	return import_net_item(im, net, send_item, NULL);
}

/* ---- ip2nets --------------------------------------------------------------------------------- */

struct rules {
	struct local_address *all;
	int nr;
	struct lnetctl_node *applied;	/* nets to which a rule applied */
	ni_item_fn fn;
	void *arg;
};

/* Does @a match any of @ranges? True if there are no ranges. -EINVAL: a range is not a pattern. */
static int in_ranges(struct import *im, const struct local_address *a,
		     const struct lnetctl_node *ranges)
{
	const struct lnetctl_node *n = ranges ? ranges->first : NULL;
	int rc, found = !n;

	for (; n; n = n->next) {
		rc = address_matches(a, n->text ? n->text : "");
		if (rc < 0)
			return import_refuse(im, "ip2nets", n,
					     "not a valid pattern of IP addresses");
		found |= rc;
	}
	return found;
}

/* Returns 1 if the interface @name is up and has a matching address, else 0 or -errno. */
static int name_matches(struct import *im, const struct rules *r, const char *name,
			const struct lnetctl_node *ranges)
{
	int i, rc = 0;

	for (i = 0; i < r->nr && !rc; i++)
		if (!strcmp(r->all[i].name, name))
			rc = in_ranges(im, &r->all[i], ranges);
	return rc;
}

/* Returns 1 if all named interfaces match. */
static int named_match(struct import *im, const struct rules *r, const struct ni_item *item,
		       const struct lnetctl_node *intf, const struct lnetctl_node *ranges)
{
	int rc = 1;

	for (; intf && rc > 0; intf = intf->next) {
		struct ni_item one = *item;

		rc = read_name(im, intf, &one);
		rc = rc ? rc : name_matches(im, r, one.name, ranges);
	}
	return rc;
}

static bool seen_before(const struct rules *r, int i)
{
	int k;

	for (k = 0; k < i; k++)
		if (!strcmp(r->all[k].name, r->all[i].name))
			return true;
	return false;
}

/*
 * Calls r->fn for each interface that matches. Without ranges, calls it for the first interface.
 * Returns 1 if an interface matched.
 */
static int found_by_range(struct import *im, const struct rules *r, const struct ni_item *item,
			  const struct lnetctl_node *ranges)
{
	bool any = ranges && ranges->first;
	int i, rc, found = 0;

	for (i = 0; i < r->nr; i++) {
		const struct local_address *a = &r->all[i];
		struct ni_item one = *item;

		if (seen_before(r, i) || (!any && (a->loopback || a->family != 2 || found)))
			continue;
		rc = name_matches(im, r, a->name, ranges);
		if (!rc)
			continue;
		snprintf(one.name, sizeof(one.name), "%s", a->name);
		rc = rc < 0 ? rc : r->fn(im, &one, r->arg);
		if (rc)
			return rc;
		found = 1;
	}
	return found;
}

/* Returns 1 if the rule applied, 0 if it does not match, or -errno. */
static int rule_apply(struct import *im, const struct rules *r, const struct lnetctl_node *rule,
		      struct ni_item *item)
{
	const struct lnetctl_node *intf, *ranges;
	int rc = net_tunables_read(im, rule, &item->n);

	rc = rc ? rc : import_part(im, "ip2nets", rule, "interfaces", IMPORT_MAP | IMPORT_SEQ,
				   &intf);
	rc = rc ? rc : import_part(im, "ip2nets", rule, "ip-range", IMPORT_MAP | IMPORT_SEQ,
				   &ranges);
	rc = rc ? rc : read_cpts(im, rule, item->cpts, sizeof(item->cpts));
	if (rc)
		return rc;
	if (!intf || !intf->first)
		return found_by_range(im, r, item, ranges);
	rc = named_match(im, r, item, intf->first, ranges);
	if (rc <= 0)
		return rc;
	rc = each_name(im, item, intf->first, r->fn, r->arg);
	return rc ? rc : 1;
}

static int one_rule(struct import *im, struct rules *r, const struct lnetctl_node *rule)
{
	struct ni_item item = { .at = rule, .net = lnetctl_text(rule, "net-spec") };
	int rc;

	im->trans.at = rule;
	if (!item.net)
		return import_refuse(im, "ip2nets", rule,
				     "each item of 'ip2nets' must have a 'net-spec'");
	if (lnetctl_find(r->applied, item.net))
		return 0;
	lnetctl_net_init(&item.n);
	rc = rule_apply(im, r, rule, &item);
	if (rc <= 0)
		return rc;
	return lnetctl_add_text(r->applied, item.net, "") ? 0 : -ENOMEM;
}

int import_ip2nets(struct import *im, const struct lnetctl_node *section, ni_item_fn fn,
		   void *arg)
{
	struct rules r = { .applied = lnetctl_add_map(NULL, NULL), .fn = fn, .arg = arg };
	const struct lnetctl_node *rule;
	int rc = 0;

	r.nr = local_addresses(&r.all);
	if (r.nr < 0 || !r.applied)
		rc = ctl_fail(im->c, r.applied ? r.nr : -ENOMEM, import_verb(im), "ip2nets", NULL);
	for (rule = section->first; rule && !rc; rule = rule->next)
		rc = one_rule(im, &r, rule);
	if (!rc && section->first && !r.applied->first)
		rc = import_refuse(im, "ip2nets", section, "No ip2nets rules applied");
	free(r.all);
	lnetctl_doc_free(r.applied);
	return rc;
}

int import_ip2nets_section(struct import *im, const struct lnetctl_node *section)
{
	const struct lnetctl_node *rule;
	int rc = 0;

	if (im->how != LNETCTL_IMPORT_SHOW)
		return import_ip2nets(im, section, send_item, NULL);
	for (rule = section->first; rule && !rc; rule = rule->next)
		if (lnetctl_text(rule, "net-spec"))
			rc = net_show(im, lnetctl_text(rule, "net-spec"));
	return rc;
}
