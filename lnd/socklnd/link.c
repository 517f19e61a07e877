/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of an NI's interface in user space: address, link and speed, from rtnetlink. */
#include "lnd/socklnd/user.h"
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LINK_BUFFER	32768
#define LINK_READS_MAX	64
/*
 * The kernel reports carrier changes at most once a second, unless it regards a change as urgent.
 * So the driver checks the carrier more often after each change, and while the interface is down.
 */
#define LOOK_SOON_NS	50000000ULL
/* interval of checks if the interface is down and unchanged for NEWS_NS */
#define LOOK_SELDOM_NS	500000000ULL
/* interval of checks if it is up: some devices do not report changes of speed */
#define LOOK_SPEED_NS	5000000000ULL
#define NEWS_NS		2000000000ULL
/* a constant of linux/if.h, which cannot be included together with net/if.h */
#define LINK_LOWER_UP	0x10000U
#define LINK_DORMANT	0x20000U

/* ---- state of the interface ---- */

static bool same_ip(const struct sock_addr *addr, const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return addr->in.sin_addr.s_addr ==
		       ((const struct sockaddr_in *)sa)->sin_addr.s_addr;
	return !memcmp(&addr->in6.sin6_addr, &((const struct sockaddr_in6 *)sa)->sin6_addr, 16);
}

/* On a loopback interface, all addresses of the prefix are local. */
static bool in_loopback(const struct sock_addr *addr, const struct ifaddrs *ifa)
{
	const struct sockaddr_in *at = (const void *)ifa->ifa_addr,
				 *mask = (const void *)ifa->ifa_netmask;

	if (!(ifa->ifa_flags & IFF_LOOPBACK) || at->sin_family != AF_INET || !mask)
		return false;
	return !((at->sin_addr.s_addr ^ addr->in.sin_addr.s_addr) & mask->sin_addr.s_addr);
}

static const struct ifaddrs *ifaddr_find(const struct sock_addr *addr, const struct ifaddrs *all)
{
	const struct ifaddrs *ifa;

	for (ifa = all; ifa; ifa = ifa->ifa_next)
		if (ifa->ifa_addr && ifa->ifa_addr->sa_family == addr->sa.sa_family &&
		    (same_ip(addr, ifa->ifa_addr) || in_loopback(addr, ifa)))
			return ifa;
	return NULL;
}

static long read_number(const char *ifname, const char *file, long otherwise)
{
	char path[96];
	long value;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", ifname, file);
	f = fopen(path, "re");
	if (!f)
		return otherwise;
	if (fscanf(f, "%ld", &value) != 1)
		value = otherwise;
	fclose(f);
	return value;
}

/* Reads the carrier, not IFF_RUNNING, which changes only when the kernel reports the carrier. */
static bool flags_up(unsigned int flags)
{
	return flags & IFF_UP && flags & LINK_LOWER_UP && !(flags & LINK_DORMANT);
}

/*
 * Returns the reason why no interface has the address: the address was removed, or the interface
 * was.
 */
static u8 why_lost(const struct user_link *link)
{
	return if_nametoindex(link->ni->ifname) ? LNET_LINK_NO_ADDRESS : LNET_LINK_GONE;
}

static void user_link_check(const struct user_link *link, struct lnet_link *now, char ifname[16])
{
	const struct ifaddrs *ifa;
	struct ifaddrs *all;

	memset(now, 0, sizeof(*now));
	ifname[0] = 0;
	if (getifaddrs(&all)) {
		now->up = link->up;	/* unchanged */
		now->why = link->why;
		return;
	}
	ifa = ifaddr_find(&link->addr, all);
	if (ifa) {
		now->up = flags_up(ifa->ifa_flags);
		now->why = ifa->ifa_flags & IFF_UP ? LNET_LINK_NO_CARRIER :
						     LNET_LINK_SET_DOWN;
		strscpy(ifname, ifa->ifa_name, 16);
		now->speed_mbit = max(read_number(ifname, "speed", 0), 0L);
	} else {
		now->why = why_lost(link);
	}
	freeifaddrs(all);
}

/* ---- changes ---- */

static void link_report(struct user_link *link)
{
	struct lnet_link now;
	char ifname[16];

	user_link_check(link, &now, ifname);
	if (!now.speed_mbit)
		now.speed_mbit = link->mbit;	/* many devices report no speed without a link */
	if (link->known && now.up == link->up && now.speed_mbit == link->mbit &&
	    (now.up || now.why == link->why))
		return;
	link->known = true;
	link->up = now.up;
	link->why = now.why;
	link->mbit = now.speed_mbit;
	lnet_ni_link(link->ni, &now);
}

static u64 link_now_ns(const struct user_link *link)
{
	struct lnet_env *env = lnet_env_of(lnet_ni_instance(link->ni));

	return env->ops->now_ns(env);
}

static void link_check_schedule(struct user_link *link)
{
	bool soon = link_now_ns(link) - link->news_ns < NEWS_NS;
	u64 ns = soon ? LOOK_SOON_NS : link->up ? LOOK_SPEED_NS : LOOK_SELDOM_NS;
	struct itimerspec in = { .it_value = { .tv_sec = ns / NSEC_PER_SEC,
					       .tv_nsec = ns % NSEC_PER_SEC } };

	timerfd_settime(link->again.fd, 0, &in, NULL);
}

/*
 * Reads the present state of the interface and not the contents of messages, because messages may
 * be lost.
 */
static bool user_link_ready(struct lnet_poll *poll, u32 events)
{
	struct user_link *link = container_of(poll, struct user_link, poll);
	char buf[LINK_BUFFER];
	bool any = false;
	unsigned int i;

	for (i = 0; i < LINK_READS_MAX; i++) {
		ssize_t n = recv(poll->fd, buf, sizeof(buf), MSG_DONTWAIT);

		if (n < 0 && errno != ENOBUFS)
			break;
		any = true;
	}
	if (any) {
		link->news_ns = link_now_ns(link);
		link_report(link);
		link_check_schedule(link);
	}
	return any;
}

static bool again_ready(struct lnet_poll *poll, u32 events)
{
	struct user_link *link = container_of(poll, struct user_link, again);
	bool up = link->up;
	u64 nr;

	if (read(poll->fd, &nr, sizeof(nr)) < 0)
		return false;
	link_report(link);
	if (link->up != up)
		link->news_ns = link_now_ns(link);
	link_check_schedule(link);
	return true;
}

static int link_socket(void)
{
	struct sockaddr_nl at = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	close(fd);
	return -EIO;
}

/* Sets the values that the configuration does not set. */
static void user_ni_set_defaults(struct lnet_ni *ni, const struct lnet_link *now,
				 const char *ifname)
{
	if (!ni->ifname[0])
		strscpy(ni->ifname, ifname, sizeof(ni->ifname));
	ni->link_speed = now->speed_mbit;
	if (ni->dev_cpt < 0 && ifname[0])
		ni->dev_cpt = read_number(ifname, "device/numa_node", -1);
	if (!ni->conns_per_peer)
		ni->conns_per_peer = lnet_sock_conns_per_peer(now->speed_mbit);
}

int user_link_start(struct user_link *link, struct user_ni *un)
{
	struct lnet_link now;
	char ifname[16];
	int fd, err;

	link->ni = un->sn.ni;
	sock_addr_of(&link->addr, &un->sn.nid, 0);
	fd = link_socket();
	if (fd < 0) {
		pr_err("socklnd: cannot watch links and addresses of interfaces: %s\n",
		       strerror(-fd));
		return fd;
	}
	user_link_check(link, &now, ifname);
	user_ni_set_defaults(link->ni, &now, ifname);
	link->known = true;
	link->up = now.up;
	link->why = now.why;
	link->mbit = now.speed_mbit;
	if (!now.up)
		lnet_ni_link(link->ni, &now);
	link->poll.fd = fd;
	link->poll.ready = user_link_ready;
	link->again.ready = again_ready;
	link->again.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (link->again.fd < 0)
		return -errno;
	link->news_ns = link_now_ns(link);
	link_check_schedule(link);
	err = lnet_env_poll_add(un->env, un->shard, &link->again, EPOLLIN);
	return err ? err : lnet_env_poll_add(un->env, un->shard, &link->poll, EPOLLIN);
}

static void link_poll_del(struct lnet_poll *poll, struct user_ni *un)
{
	lnet_env_poll_del(un->env, poll);
	if (poll->fd >= 0)
		close(poll->fd);
	poll->fd = -1;
}

void user_link_stop(struct user_link *link, struct user_ni *un)
{
	link_poll_del(&link->poll, un);
	link_poll_del(&link->again, un);
}
