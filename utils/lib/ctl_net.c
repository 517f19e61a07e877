/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands that configure a node, and that show and change its interfaces. */
#include <errno.h>
#include <lnet/nid.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

static const struct ctl_op configure_op = { LNET_NL_CONFIGURE, LNET_NL_VERSION, LNET_NL_F_CREATE, 0,
					    "configure",       "lnet" };
static const struct ctl_op unconfigure_op = { LNET_NL_CONFIGURE, LNET_NL_VERSION, 0, 0,
					      "configure",	 "lnet" };
static const struct ctl_op add_op = { LNET_NL_NETS, LNET_NL_VERSION, LNET_NL_F_CREATE,
				      60000,	    "add",	     "net" };
static const struct ctl_op del_op = { LNET_NL_NETS, LNET_NL_VERSION, 0, 60000, "del", "net" };
static const struct ctl_op set_op = { LNET_NL_NETS, LNET_NL_VERSION, LNET_NL_F_REPLACE, 0, "set",
				      "net" };

/* Adds the tool's prefix to the node's error text, for the commands configure and unconfigure. */
static int configured(struct lnetctl *c, int rc)
{
	char text[sizeof(c->text)];

	if (!rc)
		return 0;
	snprintf(text, sizeof(text), "%s", c->text);
	return ctl_fail(c, rc, "configure", "lnet", "LNet configure error: %s", text);
}

int lnetctl_configure(struct lnetctl *c, unsigned int flags)
{
	struct ctl_op op = configure_op;

	if (!(flags & LNETCTL_CONF_ALL))
		op.flags |= LNET_NL_F_EXCL;
	if (flags & LNETCTL_CONF_LARGE)
		op.flags |= LNET_NL_F_APPEND;
	return configured(c, ctl_do(c, &op, NULL));
}

int lnetctl_unconfigure(struct lnetctl *c)
{
	return configured(c, ctl_do(c, &unconfigure_op, NULL));
}

void lnetctl_net_init(struct lnetctl_net *n)
{
	memset(n, 0, sizeof(*n));
	n->peer_timeout = n->peer_credits = n->peer_buffer_credits = n->credits = LNETCTL_UNSET;
	n->conns_per_peer = n->tos = n->drained = n->link_down = LNETCTL_UNSET;
}

int ctl_net_numbers(struct lnetctl_node *ni, const struct lnetctl_net *n)
{
	const struct { const char *group, *name; int64_t val;
	} all[] = {
		{ "tunables", "peer_timeout", n->peer_timeout },
		{ "tunables", "peer_credits", n->peer_credits },
		{ "tunables", "peer_buffer_credits", n->peer_buffer_credits },
		{ "tunables", "credits", n->credits },
		{ "lnd tunables", "conns_per_peer", n->conns_per_peer },
		{ "lnd tunables", "tos", n->tos },
	};
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct lnetctl_node *group = lnetctl_find(ni, all[i].group);

		if (all[i].val == LNETCTL_UNSET)
			continue;
		if (!group)
			group = lnetctl_add_map(ni, all[i].group);
		if (!group || !lnetctl_add_num(group, all[i].name, all[i].val))
			return -ENOMEM;
	}
	return 0;
}

/* Adds the keys for service state and link. A stock module ignores them in an addition. */
static int add_marks(struct lnetctl_node *ni, const struct lnetctl_net *n)
{
	struct lnetctl_node *group;

	if (n->drained == LNETCTL_UNSET && n->link_down == LNETCTL_UNSET)
		return 0;
	group = lnetctl_add_map(ni, "health stats");
	if (group && n->drained != LNETCTL_UNSET)
		lnetctl_add_num(group, "drained", n->drained);
	if (group && n->link_down != LNETCTL_UNSET)
		lnetctl_add_num(group, "fatal_error", n->link_down);
	return group && !group->incomplete ? 0 : -ENOMEM;
}

/* Adds the keys that follow the name of an interface in its element. */
static int ni_keys_add(struct lnetctl_node *ni, const struct lnetctl_net *n, const char *cpts)
{
	int rc = ctl_net_numbers(ni, n);

	rc = rc ? rc : add_marks(ni, n);
	if (!rc && cpts && *cpts)
		rc = ctl_cpts_add(ni, cpts);
	return rc;
}

static int add_interfaces(struct lnetctl_node *seq, const struct lnetctl_net *n)
{
	const char *at = n->interfaces;
	char name[128], cpts[128];
	int rc;

	while ((rc = ctl_interface_next(&at, name, sizeof(name), cpts, sizeof(cpts))) > 0) {
		struct lnetctl_node *ni = lnetctl_add_map(seq, NULL);
		struct lnetctl_node *intf = ni ? lnetctl_add_map(ni, "interfaces") : NULL;

		if (!intf || !lnetctl_add_text(intf, "0", name))
			return -ENOMEM;
		rc = ni_keys_add(ni, n, *cpts ? cpts : n->cpts);
		if (rc)
			return rc;
	}
	return rc;
}

/* Adds to a NID the name of the interface that has the NID, or will have it. */
static int add_device(struct lnetctl_node *ni, const struct lnetctl_net *n)
{
	struct lnetctl_node *intf = n->interfaces ? lnetctl_add_map(ni, "interfaces") : NULL;

	if (!n->interfaces)
		return 0;
	return intf && lnetctl_add_text(intf, "0", n->interfaces) ? 0 : -ENOMEM;
}

/* Adds an item for each net of the NID list, in the order of the list. */
static int net_nids_add(struct lnetctl_node *body, const struct lnetctl_net *n,
			const struct lnetctl_node *nids)
{
	const struct lnetctl_node *nid;
	int rc = 0;

	for (nid = nids->first; nid && !rc; nid = nid->next) {
		const char *net = strchr(nid->text, '@') + 1;
		struct lnetctl_node *item = body->last, *seq, *ni;

		if (!item || strcmp(lnetctl_text(item, "net type"), net)) {
			item = lnetctl_add_map(body, NULL);
			if (!item || !lnetctl_add_text(item, "net type", net) ||
			    !lnetctl_add_seq(item, "local NI(s)"))
				return -ENOMEM;
		}
		seq = lnetctl_find(item, "local NI(s)");
		ni = lnetctl_add_map(seq, NULL);
		if (!ni || !lnetctl_add_text(ni, "nid", nid->text) || add_device(ni, n))
			return -ENOMEM;
		rc = ni_keys_add(ni, n, n->cpts);
	}
	return rc;
}

static bool cpts_good(const char *cpts)
{
	struct lnetctl_node *map = lnetctl_add_map(NULL, NULL);
	bool good = map && !ctl_cpts_add(map, cpts);

	lnetctl_doc_free(map);
	return good;
}

/*
 * Writes the CPTs of the loopback interface as "[0,1]". This interface is bound to every CPT of the
 * node.
 */
static void cpts_here(struct lnetctl *c, char *buf, size_t size)
{
	const struct lnetctl_node *net, *ni;
	struct lnetctl_node *doc = NULL;
	const char *text = NULL;

	if (!lnetctl_net_show(c, "lo", 1, false, &doc)) {
		net = lnetctl_find(doc, "net");
		ni = net && net->first ? lnetctl_find(net->first, "local NI(s)") : NULL;
		text = ni && ni->first ? lnetctl_text(ni->first, "CPT") : NULL;
	}
	text = text ? text + strspn(text, "\"[") : "";
	snprintf(buf, size, "CPT %.*s", (int)strcspn(text, "]"), text);
	lnetctl_doc_free(doc);
}

static int cpts_refuse(struct lnetctl *c, const struct ctl_op *op, const char *cpts)
{
	char here[64];

	cpts_here(c, here, sizeof(here));
	return ctl_fail(c, -EINVAL, op->verb, op->object,
			"--cpt '%s': expected a list such as [0,1] or 0-3; this node has %s", cpts,
			here);
}

static int body_of_nids(struct lnetctl *c, const struct ctl_op *op, const struct lnetctl_net *n,
			struct lnetctl_node *body)
{
	struct lnetctl_node *nids;
	char why[240];
	int rc = lnetctl_nids_expand(n->nids, &nids, why, sizeof(why));

	if (rc)
		return ctl_fail(c, rc, op->verb, op->object, "%s", why);
	rc = net_nids_add(body, n, nids);
	lnetctl_doc_free(nids);
	if (rc == -EINVAL)
		return cpts_refuse(c, op, n->cpts);
	return rc ? ctl_fail(c, rc, op->verb, op->object, NULL) : 0;
}

static int body_of_net(struct lnetctl *c, const struct ctl_op *op, const struct lnetctl_net *n,
		       struct lnetctl_node *body)
{
	struct lnetctl_node *item = lnetctl_add_map(body, NULL), *seq;
	int rc;

	if (!item || !lnetctl_add_text(item, "net type", n->net))
		return ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
	if (!n->interfaces)
		return 0;
	if (n->cpts && *n->cpts && !cpts_good(n->cpts))
		return cpts_refuse(c, op, n->cpts);
	seq = lnetctl_add_seq(item, "local NI(s)");
	rc = seq ? add_interfaces(seq, n) : -ENOMEM;
	if (!rc && !seq->first)
		rc = -EINVAL;
	if (rc)
		return ctl_fail(c, rc, op->verb, op->object, "--if '%s': expected interfaces such "
				"as eth0,eth1[0,1]", n->interfaces);
	return 0;
}

/* Sends the rules as text. The node parses the rules, because it knows its addresses. */
static int body_of_rules(struct lnetctl *c, const struct ctl_op *op, const struct lnetctl_net *n,
			 struct lnetctl_node *body)
{
	struct lnetctl_node *item = lnetctl_add_map(body, NULL);

	if (item && lnetctl_add_text(item, "ip2net", n->ip2net))
		return 0;
	return ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
}

static int net_do(struct lnetctl *c, const struct ctl_op *op, const struct lnetctl_net *n)
{
	struct lnetctl_node *body;
	int rc;

	if (!n->net + !n->nids + !n->ip2net != 2)
		return ctl_fail(c, -EINVAL, op->verb, op->object,
				"exactly one of a net, a list of NIDs and ip2nets rules is needed");
	body = lnetctl_add_seq(NULL, NULL);
	if (!body)
		return ctl_fail(c, -ENOMEM, op->verb, op->object, NULL);
	if (n->ip2net)
		rc = body_of_rules(c, op, n, body);
	else
		rc = n->nids ? body_of_nids(c, op, n, body) : body_of_net(c, op, n, body);
	if (!rc)
		return ctl_do(c, op, body);
	lnetctl_doc_free(body);
	return rc;
}

/*
 * Handles the result @rc of net add, and returns it. If an interface does not exist, the error
 * lists the interfaces of this host.
 */
static int interface_missing(struct lnetctl *c, const struct lnetctl_net *n, int rc)
{
	struct if_nameindex *all, *one;
	char list[200] = "", name[IF_NAMESIZE + 112], cpts[64];
	const char *rest = n->interfaces;
	size_t len = 0;

	if (rc != -ENETDOWN || !rest || !strstr(c->text, "no such interface"))
		return rc;
	while (ctl_interface_next(&rest, name, sizeof(name), cpts, sizeof(cpts)) == 1)
		if (!if_nametoindex(name))
			break;
	all = if_nameindex();
	for (one = all; one && one->if_index && len < sizeof(list); one++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
					one->if_name);
	if (all)
		if_freenameindex(all);
	return ctl_fail(c, rc, "add", "net", "there is no interface '%s' (%s are here)", name,
			list);
}

int lnetctl_net_add(struct lnetctl *c, const struct lnetctl_net *n)
{
	if (n->net && !n->interfaces)
		return ctl_fail(c, -EINVAL, "add", "net", "at least one interface is needed");
	return interface_missing(c, n, net_do(c, &add_op, n));
}

int lnetctl_net_del(struct lnetctl *c, const struct lnetctl_net *n)
{
	return net_do(c, &del_op, n);
}

/* Sets the values of the interface @nid on @net, or of all interfaces on @net. */
static int net_set(struct lnetctl *c, const char *net, const char *nid, int64_t health,
		   int64_t conns_per_peer)
{
	struct lnetctl_node *item, *body = ctl_body(&item), *seq, *ni, *group;

	if (!body)
		return ctl_fail(c, -ENOMEM, "set", "net", NULL);
	lnetctl_add_text(item, "net type", net);
	seq = lnetctl_add_seq(item, "local NI(s)");
	ni = seq ? lnetctl_add_map(seq, NULL) : NULL;
	if (ni)
		lnetctl_add_text(ni, "nid", nid ? nid : "<?>");
	if (ni && health != LNETCTL_UNSET) {
		group = lnetctl_add_map(ni, "health stats");
		if (group)
			lnetctl_add_num(group, "health value", health);
	}
	if (ni && conns_per_peer != LNETCTL_UNSET) {
		group = lnetctl_add_map(ni, "lnd tunables");
		if (group)
			lnetctl_add_num(group, "conns_per_peer", conns_per_peer);
	}
	return ctl_do(c, &set_op, body);
}

static bool nid_is_selected(const char *text, const char *only)
{
	struct lnet_nid nid, wanted;

	return !only || (!lnet_nid_parse(&nid, text) && !lnet_nid_parse(&wanted, only) &&
			 lnet_nid_same(&nid, &wanted));
}

#define ALL_NETS "<255:65535>"

/*
 * Sets the health of the interface @only, or of all interfaces if @only is NULL, in the list @nets.
 * Returns the number of interfaces that match, or -errno.
 */
static int health_each(struct lnetctl *c, const struct lnetctl_node *nets, const char *only,
		       int64_t health)
{
	const struct lnetctl_node *item = lnetctl_find(nets, "net"), *ni;
	int rc = 0, nr = 0;

	for (item = item ? item->first : NULL; item; item = item->next) {
		ni = lnetctl_find(item, "local NI(s)");
		for (ni = ni ? ni->first : NULL; ni && !rc; ni = ni->next) {
			const char *nid = lnetctl_text(ni, "nid");

			if (!nid || !nid_is_selected(nid, only))
				continue;
			nr++;
			if (health != LNETCTL_UNSET)
				rc = net_set(c, lnetctl_text(item, "net type"), nid, health,
					     LNETCTL_UNSET);
		}
	}
	return rc ? rc : nr;
}

/*
 * Sets values on a stock module. The module ignores an unknown NID. The module applies a health
 * value for all NIDs of one net to all nets. So this function sends a separate request for each
 * NID, after it has found the NIDs. The module ignores @conns_per_peer, except in a request for all
 * nets. So this function sends such a request if the caller names a net, as stock's tool does. If
 * the caller names a NID, this function rejects @conns_per_peer; stock's tool sends a request
 * without effect.
 */
static int net_set_stock(struct lnetctl *c, const char *net, const char *nid, int64_t health,
			 int64_t conns_per_peer)
{
	struct lnetctl_node *doc;
	int rc;

	if (nid && conns_per_peer != LNETCTL_UNSET)
		return ctl_fail(c, -EOPNOTSUPP, "set", "net",
				"stock LNet cannot set conns-per-peer of %s alone, only of all "
				"interfaces: use 'net set --all'",
				nid);
	rc = lnetctl_net_show(c, net, 0, false, &doc);
	if (!rc)
		rc = health_each(c, doc, nid, health);
	lnetctl_doc_free(doc);
	if (rc > 0)
		return conns_per_peer == LNETCTL_UNSET ? 0 :
			net_set(c, ALL_NETS, NULL, LNETCTL_UNSET, conns_per_peer);
	if (rc && rc != -ENOENT && rc != -ESRCH)
		return rc;
	return nid ? ctl_fail(c, -ENOENT, "set", "net", "there is no interface %s", nid) :
		     ctl_fail(c, -EINVAL, "set", "net", "there is no net '%s'", net);
}

int lnetctl_net_set(struct lnetctl *c, const char *nid, int64_t health, int64_t conns_per_peer)
{
	const char *net = nid ? strchr(nid, '@') : NULL;

	if (nid && ctl_is_stock(c))
		return net_set_stock(c, NULL, nid, health, conns_per_peer);
	return net_set(c, net ? net + 1 : nid ? "tcp" : ALL_NETS, nid, health,
		       conns_per_peer);
}

int lnetctl_net_set_on(struct lnetctl *c, const char *net, int64_t health, int64_t conns_per_peer)
{
	if (ctl_is_stock(c))
		return net_set_stock(c, net, NULL, health, conns_per_peer);
	return net_set(c, net, NULL, health, conns_per_peer);
}

/* Sets the timeout of a driver. The node stores a timeout for tcp, and none for other drivers. */
int lnetctl_lnd_timeout(struct lnetctl *c, const char *net, int64_t seconds)
{
	char text[24];
	uint32_t id;
	int rc;

	if (lnet_net_parse(&id, net) || lnet_net_type(id) != LNET_LND_TCP)
		return ctl_fail(c, -EINVAL, "set", "net",
				"net '%s' has no lnd_timeout; only TCP nets such as tcp1 have it",
				net);
	if (seconds < 0)
		return ctl_fail(c, -EINVAL, "set", "net", "lnd_timeout must be 0 or more");
	snprintf(text, sizeof(text), "%lld", (long long)seconds);
	rc = lnetctl_set(c, "sock_timeout", text);
	if (!rc)
		return 0;
	c->error.verb = "set";
	snprintf(c->object, sizeof(c->object), "net");
	return rc;
}

/* Sets a switch of the interface @nid. If @nid is NULL, sets the switch of all interfaces. */
static int net_switch(struct lnetctl *c, const char *nid, const char *key, bool on)
{
	struct lnetctl_node *item, *body = ctl_body(&item), *seq, *ni, *group;
	const char *net = nid ? strchr(nid, '@') : NULL;

	if (!body)
		return ctl_fail(c, -ENOMEM, "set", "net", NULL);
	lnetctl_add_text(item, "net type", net ? net + 1 : nid ? "tcp" : "<255:65535>");
	seq = lnetctl_add_seq(item, "local NI(s)");
	ni = seq ? lnetctl_add_map(seq, NULL) : NULL;
	group = ni && lnetctl_add_text(ni, "nid", nid ? nid : "<?>") ?
			lnetctl_add_map(ni, "health stats") : NULL;
	if (group)
		lnetctl_add_num(group, key, on);
	return ctl_do(c, &set_op, body);
}

int lnetctl_net_link(struct lnetctl *c, const char *nid, bool up)
{
	return net_switch(c, nid, "fatal_error", !up);
}

int lnetctl_net_drain(struct lnetctl *c, const char *nid, bool drained)
{
	return net_switch(c, nid, "drained", drained);
}

int lnetctl_net_show(struct lnetctl *c, const char *net, unsigned int level, bool backup,
		     struct lnetctl_node **doc)
{
	struct ctl_op op = {
		LNET_NL_NETS, (uint8_t)level, LNET_NL_F_DUMP | (backup ? LNET_NL_F_FILTERED : 0), 0,
		"show",	      "net"
	};
	struct lnetctl_node *item, *body = NULL;

	*doc = NULL;
	if (net) {
		body = ctl_body(&item);
		if (!body || !lnetctl_add_text(item, "net type", net))
			return ctl_fail(c, -ENOMEM, op.verb, op.object, NULL);
	}
	return ctl_dump(c, &op, body, doc);
}
