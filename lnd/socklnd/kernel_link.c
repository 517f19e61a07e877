/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of an NI's interface in the kernel: device, link and speed, reported by notifiers. */
#include "lnd/socklnd/kernel.h"
#include <linux/ethtool.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/net_namespace.h>

/*
 * The kernel reports carrier changes at most once a second, unless it regards them as urgent. It
 * reports the first one at once, and the next ones up to a second late. So for NEWS_NS after each
 * event, the driver checks the device itself.
 */
#define LOOK_SOON_NS	50000000ULL
#define NEWS_NS		2000000000ULL

/*
 * The list of all NIs, and its lock. IPv6 calls its notifiers with soft interrupts disabled. So
 * each thread takes the lock with soft interrupts disabled.
 */
static DEFINE_SPINLOCK(watched_lock);
static LIST_HEAD(watched);

/* ---- state of the interface ---- */

/* Under RCU. On a loopback interface, all addresses of the prefix are local. */
static struct net_device *kern_device_find(const struct kern_ni *kn)
{
	const struct lnet_nid *nid = &kn->sn.nid;
	struct in6_addr in6;

	if (nid->size == 0)
		return __ip_dev_find(kn->net, nid->addr[0], false);
	memcpy(&in6, nid->addr, sizeof(in6));
	return IS_ENABLED(CONFIG_IPV6) ? ipv6_dev_find(kn->net, &in6, NULL) : NULL;
}

/*
 * Returns true if the device is up and has a carrier. Does not use IFF_RUNNING, because this flag
 * changes only when the kernel reports the carrier.
 */
static bool kern_device_is_up(const struct net_device *dev)
{
	return dev->flags & IFF_UP && netif_running(dev) && netif_carrier_ok(dev) &&
	       !netif_dormant(dev);
}

/*
 * Reads the present state of the NI's device. If no device has the address of the NI, @ifname is
 * empty afterwards.
 */
static void kern_link_check(const struct kern_ni *kn, struct lnet_link *now, char ifname[IFNAMSIZ],
			    int *node)
{
	struct net_device *dev;

	memset(now, 0, sizeof(*now));
	ifname[0] = 0;
	rcu_read_lock();
	dev = kern_device_find(kn);
	if (dev) {
		now->up = kern_device_is_up(dev);
		now->why = dev->flags & IFF_UP ? LNET_LINK_NO_CARRIER : LNET_LINK_SET_DOWN;
		strscpy(ifname, dev->name, IFNAMSIZ);
		*node = dev_to_node(&dev->dev);
	} else {
		now->why = dev_get_by_name_rcu(kn->net, lnet_ni_ifname(kn->sn.ni)) ?
			   LNET_LINK_NO_ADDRESS : LNET_LINK_GONE;
	}
	rcu_read_unlock();
}

/* The query of the speed needs the rtnl lock. */
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

static void kern_link_report(struct kern_ni *kn, u64 now_ns)
{
	struct lnet_link now;
	char ifname[IFNAMSIZ];
	int node;

	kern_link_check(kn, &now, ifname, &node);
	if (now.up)
		now.speed_mbit = speed_of(kn->net, ifname);
	if (!now.speed_mbit)
		now.speed_mbit = kn->mbit;	/* many devices report no speed without a link */
	if (now.up == kn->up && now.speed_mbit == kn->mbit && (now.up || now.why == kn->why))
		return;
	kn->news_ns = now_ns;
	kn->up = now.up;
	kn->why = now.why;
	kn->mbit = now.speed_mbit;
	lnet_ni_link(kn->sn.ni, &now);
}

static bool kern_link_ready(struct lnet_poll *poll, unsigned long events)
{
	struct kern_ni *kn = container_of(poll, struct kern_ni, link);
	struct lnet_env *env = lnet_env_of(lnet_ni_instance(kn->sn.ni));
	u64 now_ns = env->ops->now_ns(env);

	if (events & LNET_POLL_LINK)
		kn->news_ns = now_ns;
	kern_link_report(kn, now_ns);
	if (now_ns - kn->news_ns >= NEWS_NS)
		return false;
	spin_lock_bh(&watched_lock);
	if (!list_empty(&kn->watched))
		lnet_env_alarm_set(&kn->again, now_ns + LOOK_SOON_NS);
	spin_unlock_bh(&watched_lock);
	return false;
}

/*
 * The notifiers hold locks, so the worker reads the state of the device. Only the present state
 * counts.
 */
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

/*
 * After the NI was added to the list, the worker checks the link again, so that no change is
 * missed.
 */
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
	lnet_env_alarm_init(&kn->again, &kn->link);
	spin_lock_bh(&watched_lock);
	list_add_tail(&kn->watched, &watched);
	spin_unlock_bh(&watched_lock);
	lnet_env_poll_raise(&kn->link, LNET_POLL_LINK);
}

void kern_link_stop(struct kern_ni *kn)
{
	spin_lock_bh(&watched_lock);
	list_del_init(&kn->watched);
	spin_unlock_bh(&watched_lock);
	lnet_env_alarm_del(&kn->again);
	lnet_env_poll_del(&kn->link);
}
