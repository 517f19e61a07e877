/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds the interfaces that the module parameters networks and ip2nets define. */
#include "networks.h"
#include <lnet/nid.h>
#include "model/model.h"
#include "names/names.h"

struct adder {
	struct lnet_net_sink sink;
	struct lnet_netns *ns;
	struct lnet_ctl_err *e;
	struct lnet_nid *added;		/* LNET_MAX_NIS */
	unsigned int nr;
	struct lnet_nid here;		/* ip2nets: the address of this node that matched, on tcp */
	u32 *seen;			/* ip2nets: nets of the rules that have matched */
	unsigned int nr_seen, nr_before;
};

static struct adder *adder(struct lnet_net_sink *s)
{
	return container_of(s, struct adder, sink);
}

static int adder_ni_add(struct adder *a, const struct lnet_ni_cfg *cfg)
{
	char nid[LNET_NIDSTR_SIZE];
	int rc;

	if (a->nr == LNET_MAX_NIS)
		return -ENOSPC;
	rc = lnet_ni_add(a->ns->ln, cfg);
	if (rc == -EEXIST)
		return 0;
	if (rc == -ERANGE)
		return lnet_ctl_fail(a->e, rc, "cannot add %s: the CPTs of this node are 0 to %u",
				     lnet_nid_str(&cfg->nid, nid), a->ns->ln->nr_shards - 1);
	if (rc)
		return lnet_ctl_fail(a->e, rc, "cannot add %s: error %d",
				     lnet_nid_str(&cfg->nid, nid), rc);
	a->added[a->nr++] = cfg->nid;
	return 0;
}

static int add_net(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts)
{
	struct adder *a = adder(s);
	char name[LNET_NIDSTR_SIZE];
	struct lnet_ni_cfg cfg;
	int rc;

	if (lnet_net_type(net) == LNET_LND_LO)
		return 0;
	lnet_ni_cfg_init(&cfg);
	strscpy(cfg.ifname, ifname, sizeof(cfg.ifname));
	cfg.cpts = cpts;
	rc = *ifname ? lnet_kernel_control_ops.interface_nid(a->ns, ifname, net, &cfg.nid) :
		       lnet_kernel_first_nid(a->ns, net, &cfg.nid, cfg.ifname);
	if (rc)
		return lnet_ctl_fail(
			a->e, rc,
			"cannot add net %s: interface '%s' not found, or it has no address",
			lnet_net_str(net, name), ifname);
	return adder_ni_add(a, &cfg);
}

static void undo(struct adder *a)
{
	while (a->nr)
		lnet_ni_del(a->ns->ln, &a->added[--a->nr]);
}

static int networks_add(struct adder *a, int (*walk)(struct adder *a, const char *text),
			const char *text)
{
	int rc;

	a->added = kvcalloc(LNET_MAX_NIS, sizeof(*a->added), GFP_KERNEL);
	a->seen = kvcalloc(LNET_MAX_NIS, sizeof(*a->seen), GFP_KERNEL);
	rc = a->added && a->seen ? walk(a, text) : -ENOMEM;
	if (rc)
		undo(a);
	kvfree(a->added);
	kvfree(a->seen);
	return rc;
}

static int add_networks(struct adder *a, const char *text)
{
	return lnet_networks_walk(text, &a->sink);
}

int lnet_networks_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e)
{
	struct adder a = { .sink = { add_net }, .ns = ns, .e = e };

	return networks_add(&a, add_networks, text);
}

/*
 * For each net, only the first matching rule applies, with all interfaces that it lists for the
 * net.
 */
static int add_net_once(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts)
{
	struct adder *a = adder(s);
	unsigned int i;

	for (i = 0; i < a->nr_before; i++)
		if (a->seen[i] == net)
			return 0;
	if (a->nr_seen == LNET_MAX_NIS)
		return -ENOSPC;
	a->seen[a->nr_seen++] = net;
	return add_net(s, net, ifname, cpts);
}

static bool has_address(struct lnet_net_sink *s, const struct lnet_nidlist *list)
{
	struct adder *a = adder(s);

	a->nr_before = a->nr_seen;
	return lnet_kernel_address_in(a->ns, list);
}

static int add_ip2nets(struct adder *a, const char *text)
{
	return lnet_ip2nets_walk(text, &a->sink);
}

int lnet_ip2nets_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e)
{
	struct adder a = { .sink = { add_net_once, has_address }, .ns = ns, .e = e };

	return networks_add(&a, add_ip2nets, text);
}
