/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the addresses of the devices of a namespace, for interfaces that are configured by name. */
#include "kernel.h"
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>

/* A name may also be an address label ("eth0:1"). It selects the address that has this label. */
struct wanted {
	const char *label;
	char device[IFNAMSIZ];
	u32 net;
};

static int nid_make(const struct wanted *want, struct lnet_nid *nid, const char *fmt,
		    const void *addr)
{
	char text[LNET_NIDSTR_SIZE + 48], net[LNET_NIDSTR_SIZE];

	snprintf(text, sizeof(text), fmt, addr, lnet_net_str(want->net, net));
	return lnet_nid_parse(nid, text);
}

/* RCU read lock held. */
static int nid_ip4(const struct wanted *want, const struct net_device *dev, struct lnet_nid *nid)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return -EADDRNOTAVAIL;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (!strcmp(ifa->ifa_label, want->label))
			return nid_make(want, nid, "%pI4@%s", &ifa->ifa_local);
	return -EADDRNOTAVAIL;
}

#if IS_ENABLED(CONFIG_IPV6)
/* A socket cannot listen on a tentative address, because another node may have the same address. */
static bool is_usable(const struct inet6_ifaddr *ifa)
{
	bool unsure = ifa->flags & IFA_F_TENTATIVE && !(ifa->flags & IFA_F_OPTIMISTIC);

	return !unsure && !(ipv6_addr_type(&ifa->addr) & IPV6_ADDR_LINKLOCAL);
}

static int nid_ip6(const struct wanted *want, const struct net_device *dev, struct lnet_nid *nid)
{
	const struct inet6_dev *in6_dev = __in6_dev_get(dev);
	const struct inet6_ifaddr *ifa;

	if (!in6_dev || strcmp(dev->name, want->label))
		return -EADDRNOTAVAIL;
	list_for_each_entry_rcu(ifa, &in6_dev->addr_list, if_list)
		if (is_usable(ifa))
			return nid_make(want, nid, "%pI6c@%s", &ifa->addr);
	return -EADDRNOTAVAIL;
}
#else
static int nid_ip6(const struct wanted *want, const struct net_device *dev, struct lnet_nid *nid)
{
	return -EADDRNOTAVAIL;
}
#endif

/* Prefers an IPv4 address to an IPv6 address. */
static int netns_interface_nid(void *arg, const char *ifname, u32 net, struct lnet_nid *nid)
{
	struct lnet_netns *ns = arg;
	struct wanted want = { .label = ifname, .net = net };
	const struct net_device *dev;
	int rc = -ENODEV;

	strscpy(want.device, ifname, sizeof(want.device));
	strreplace(want.device, ':', 0);
	rcu_read_lock();
	dev = dev_get_by_name_rcu(ns->net, want.device);
	if (dev)
		rc = nid_ip4(&want, dev, nid);
	if (dev && rc == -EADDRNOTAVAIL)
		rc = nid_ip6(&want, dev, nid);
	rcu_read_unlock();
	return rc;
}

int lnet_kernel_first_nid(struct lnet_netns *ns, u32 net, struct lnet_nid *nid, char ifname[16])
{
	struct wanted want = { .net = net };
	const struct net_device *dev;
	int rc = -ENODEV;

	rcu_read_lock();
	for_each_netdev_rcu(ns->net, dev) {
		if (!(dev->flags & IFF_UP) || dev->flags & IFF_LOOPBACK)
			continue;
		want.label = dev->name;
		if (nid_ip4(&want, dev, nid) && nid_ip6(&want, dev, nid))
			continue;
		strscpy(ifname, dev->name, 16);
		rc = 0;
		break;
	}
	rcu_read_unlock();
	return rc;
}

static bool device_in(const struct net_device *dev, const struct lnet_nidlist *list)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;
	struct lnet_nid nid = { .type = LNET_LND_TCP };

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev) {
		nid.addr[0] = ifa->ifa_local;
		if (lnet_nidlist_match(list, &nid))
			return true;
	}
	return false;
}

bool lnet_kernel_address_in(struct lnet_netns *ns, const struct lnet_nidlist *list)
{
	const struct net_device *dev;
	bool found = false;

	rcu_read_lock();
	for_each_netdev_rcu(ns->net, dev)
		found = found || (dev->flags & IFF_UP && device_in(dev, list));
	rcu_read_unlock();
	return found;
}

static void netns_wake(void *arg)
{
	struct lnet_netns *ns = arg;

	atomic_inc(&ns->wakes);
	wake_up_all(&ns->wait);
}

static int netns_first_nid(void *arg, u32 net, struct lnet_nid *nid, char ifname[16])
{
	return lnet_kernel_first_nid(arg, net, nid, ifname);
}

static bool netns_address_in(void *arg, const struct lnet_nidlist *list)
{
	return lnet_kernel_address_in(arg, list);
}

const struct lnet_control_ops lnet_kernel_control_ops = {
	.interface_nid = netns_interface_nid,
	.first_nid = netns_first_nid,
	.address_in = netns_address_in,
	.wake = netns_wake,
};
