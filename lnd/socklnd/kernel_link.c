/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of an NI's interface in the kernel: device, link and speed, reported by notifiers. */
#include "lnd/socklnd/kernel.h"
#include <linux/ethtool.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>

/* All NIs. IPv6 calls its notifiers with soft interrupts disabled. */
static DEFINE_SPINLOCK(watched_lock);
static LIST_HEAD(watched);

/* ---- state of the interface ---- */

/* Under RCU. All addresses of a loopback interface's prefix are local. */
static struct net_device *kern_device_find(const struct kern_ni *kn)
{
	const struct lnet_nid *nid = &kn->sn.nid;
	struct in6_addr in6;

	if (nid->size == 0)
		return __ip_dev_find(kn->net, nid->addr[0], false);
	memcpy(&in6, nid->addr, sizeof(in6));
	return IS_ENABLED(CONFIG_IPV6) ? ipv6_dev_find(kn->net, &in6, NULL) : NULL;
}

/* IFF_RUNNING: operational state up or unknown. @ifname empty: no device has the address. */
static void kern_link_check(const struct kern_ni *kn, struct lnet_link *now, char ifname[IFNAMSIZ],
			    int *node)
{
	const unsigned int need = IFF_UP | IFF_RUNNING;
	struct net_device *dev;

	memset(now, 0, sizeof(*now));
	ifname[0] = 0;
	rcu_read_lock();
	dev = kern_device_find(kn);
	if (dev) {
		now->up = (dev_get_flags(dev) & need) == need;
		now->why = dev->flags & IFF_UP ? LNET_LINK_NO_CARRIER : LNET_LINK_SET_DOWN;
		strscpy(ifname, dev->name, IFNAMSIZ);
		*node = dev_to_node(&dev->dev);
	} else {
		now->why = dev_get_by_name_rcu(kn->net, lnet_ni_ifname(kn->sn.ni)) ?
			   LNET_LINK_NO_ADDRESS : LNET_LINK_GONE;
	}
	rcu_read_unlock();
}

/* The query needs the rtnl lock. */
static u32 speed_of(struct net *net, const char *ifname)
{
	struct ethtool_link_ksettings is = {};
	struct net_device *dev;
	u32 speed = 0;

	rtnl_lock();
	dev = __dev_get_by_name(net, ifname);
	if (dev && !__ethtool_get_link_ksettings(dev, &is) && is.base.speed <= INT_MAX)
		speed = is.base.speed;
	rtnl_unlock();
	return speed;
}

/* ---- changes ---- */

static bool kern_link_ready(struct lnet_poll *poll, unsigned long events)
{
	struct kern_ni *kn = container_of(poll, struct kern_ni, link);
	struct lnet_link now;
	char ifname[IFNAMSIZ];
	int node;

	kern_link_check(kn, &now, ifname, &node);
	if (now.up)
		now.speed_mbit = speed_of(kn->net, ifname);
	if (!now.speed_mbit)
		now.speed_mbit = kn->mbit;	/* without a link, many report none */
	if (now.up == kn->up && now.speed_mbit == kn->mbit && (now.up || now.why == kn->why))
		return false;
	kn->up = now.up;
	kn->why = now.why;
	kn->mbit = now.speed_mbit;
	lnet_ni_link(kn->sn.ni, &now);
	return false;
}

/* The worker determines the present state: only that counts, and the notifiers hold locks. */
static void raise_net(const struct net *net)
{
	struct kern_ni *kn;

	spin_lock_bh(&watched_lock);
	list_for_each_entry(kn, &watched, watched)
		if (net_eq(kn->net, net))
			lnet_env_poll_raise(&kn->link, LNET_POLL_LINK);
	spin_unlock_bh(&watched_lock);
}

static int on_device(struct notifier_block *nb, unsigned long event, void *arg)
{
	raise_net(dev_net(netdev_notifier_info_to_dev(arg)));
	return NOTIFY_DONE;
}

static int on_address(struct notifier_block *nb, unsigned long event, void *arg)
{
	const struct in_ifaddr *ifa = arg;

	raise_net(dev_net(ifa->ifa_dev->dev));
	return NOTIFY_DONE;
}

static int on_address6(struct notifier_block *nb, unsigned long event, void *arg)
{
	const struct inet6_ifaddr *ifa = arg;

	raise_net(dev_net(ifa->idev->dev));
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = { .notifier_call = on_device };
static struct notifier_block address_notifier = { .notifier_call = on_address };
static struct notifier_block address6_notifier = { .notifier_call = on_address6 };

int kern_link_init(void)
{
	int err = register_netdevice_notifier(&device_notifier);

	if (err)
		return err;
	register_inetaddr_notifier(&address_notifier);
	register_inet6addr_notifier(&address6_notifier);
	return 0;
}

void kern_link_exit(void)
{
	unregister_inet6addr_notifier(&address6_notifier);
	unregister_inetaddr_notifier(&address_notifier);
	unregister_netdevice_notifier(&device_notifier);
}

/* ---- start and stop ---- */

static void kern_ni_set_defaults(struct lnet_ni *ni, const struct lnet_link *now,
				 const char *ifname)
{
	if (!ni->ifname[0])
		strscpy(ni->ifname, ifname, sizeof(ni->ifname));
	ni->link_speed = now->speed_mbit;
	if (!ni->conns_per_peer)
		ni->conns_per_peer = sock_param(conns_per_peer);
	if (!ni->conns_per_peer)
		ni->conns_per_peer = lnet_sock_conns_per_peer(now->speed_mbit);
	if (ni->tos < 0)
		ni->tos = sock_param(tos);
}

void kern_link_place(struct kern_ni *kn)
{
	struct lnet_ni *ni = kn->sn.ni;
	struct lnet_link now;
	char ifname[IFNAMSIZ];
	int node = NUMA_NO_NODE;

	kern_link_check(kn, &now, ifname, &node);
	if (ni->dev_cpt < 0)
		ni->dev_cpt = lnet_env_cpt_of_node(node);
	if (!ni->cpts)
		ni->cpts = lnet_env_cpts_of_node(node);
}

/* The worker checks the link again after the NI is watched, so that no change is missed. */
void kern_link_start(struct kern_ni *kn)
{
	struct lnet_link now;
	char ifname[IFNAMSIZ];
	int node;

	kern_link_check(kn, &now, ifname, &node);
	if (ifname[0])
		now.speed_mbit = speed_of(kn->net, ifname);
	kern_ni_set_defaults(kn->sn.ni, &now, ifname);
	kn->up = now.up;
	kn->mbit = now.speed_mbit;
	if (!now.up)
		lnet_ni_link(kn->sn.ni, &now);
	lnet_env_poll_init(&kn->link, kn->sn.ni->cpts, kern_link_ready);
	spin_lock_bh(&watched_lock);
	list_add_tail(&kn->watched, &watched);
	spin_unlock_bh(&watched_lock);
	lnet_env_poll_raise(&kn->link, LNET_POLL_LINK);
}

void kern_link_stop(struct kern_ni *kn)
{
	spin_lock_bh(&watched_lock);
	list_del(&kn->watched);
	spin_unlock_bh(&watched_lock);
	lnet_env_poll_del(&kn->link);
}
