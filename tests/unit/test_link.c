/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The link monitor in user space: it reports each change of its device in the callback that
 * receives it. Addresses, messages and time are the test's.
 */
#define user_link_start link_test_start
#define user_link_stop	link_test_stop
#include "lnd/socklnd/user.h"
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "unit.h"

/* The device, and the calls of the monitor. */
static struct {
	u64 now_ns;
	struct sockaddr_in at;
	struct ifaddrs ifa;
	bool has_address, exists;
	int nr_messages; /* to receive */
	int recv_errno;	 /* of the first of these; 0: none */
	u64 armed_ns;	 /* time of the next check, from now */
	unsigned int nr_reports;
	struct lnet_link seen; /* last report */
	struct lnet_ni ni;
	struct user_ni un;
} world;

static u64 link_clock(struct lnet_env *env)
{
	return world.now_ns;
}

static const struct lnet_env_ops link_env_ops = { .now_ns = link_clock };
static struct lnet_env link_env = { .ops = &link_env_ops };

static int link_getifaddrs(struct ifaddrs **all)
{
	*all = world.has_address ? &world.ifa : NULL;
	return 0;
}

static ssize_t link_recv(const void *buf)
{
	if (!world.nr_messages) {
		errno = EAGAIN;
		return -1;
	}
	world.nr_messages--;
	errno = world.recv_errno;
	world.recv_errno = 0;
	return errno ? -1 : 16;
}

static ssize_t link_read(u64 *nr)
{
	*nr = 1;
	return sizeof(*nr);
}

static int link_settime(const struct itimerspec *in)
{
	world.armed_ns = (u64)in->it_value.tv_sec * NSEC_PER_SEC + (u64)in->it_value.tv_nsec;
	return 0;
}

static void link_record(const struct lnet_link *link)
{
	world.seen = *link;
	world.nr_reports++;
}

#define getifaddrs(all)				    link_getifaddrs(all)
#define freeifaddrs(all)			    ((void)(all))
#define if_nametoindex(name)			    (world.exists)
#define recv(fd, buf, len, flags)		    link_recv(buf)
#define read(fd, buf, len)			    link_read(buf)
#define timerfd_settime(fd, flags, in, was)	    link_settime(in)
#define lnet_ni_link(ni, link)			    link_record(link)
#define lnet_ni_instance(ni)			    ((ni)->ln)
#define lnet_env_of(ln)				    (&link_env)
#define lnet_env_poll_add(env, shard, poll, events) (0)
#define lnet_env_poll_del(env, poll)		    ((void)(poll))
#include "lnd/socklnd/link.c"

static const unsigned int flags_ok = IFF_UP | LINK_LOWER_UP;

static struct user_link *world_start(void)
{
	struct user_link *link = &world.un.link;

	memset(&world, 0, sizeof(world));
	world.now_ns = NSEC_PER_SEC;
	world.at.sin_family = AF_INET;
	CU_ASSERT_EQUAL_FATAL(lnet_nid_parse(&world.un.sn.nid, "10.0.0.1@tcp"), 0);
	memcpy(&world.at.sin_addr, world.un.sn.nid.addr, 4);
	world.ifa = (struct ifaddrs){ .ifa_name = (char *)"no such device",
				      .ifa_flags = flags_ok,
				      .ifa_addr = (struct sockaddr *)&world.at };
	world.has_address = world.exists = true;
	world.un.sn.ni = &world.ni;
	world.ni.conns_per_peer = 1;
	CU_ASSERT_EQUAL_FATAL(user_link_start(link, &world.un), 0);
	UNIT_EQUAL(world.nr_reports, 0, "up from the start");
	return link;
}

static void world_end(void)
{
	user_link_stop(&world.un.link, &world.un);
}

/* The kinds of changes, and what the driver reports for each. */
static const struct {
	const char *what;
	unsigned int flags;
	bool has_address, exists;
	u8 why;
} kinds[] = {
	{ "set down", LINK_LOWER_UP, true, true, LNET_LINK_SET_DOWN },
	{ "no carrier", IFF_UP | IFF_RUNNING, true, true, LNET_LINK_NO_CARRIER },
	{ "dormant", IFF_UP | LINK_LOWER_UP | LINK_DORMANT, true, true, LNET_LINK_NO_CARRIER },
	{ "address removed", IFF_UP | LINK_LOWER_UP, false, true, LNET_LINK_NO_ADDRESS },
	{ "device deleted", 0, false, false, LNET_LINK_GONE },
};

static void becomes(unsigned int flags, bool has_address, bool exists)
{
	world.ifa.ifa_flags = flags;
	world.has_address = has_address;
	world.exists = exists;
}

/* The clock stays: the reports may not wait for any time. */
static void test_each_event(void)
{
	struct user_link *link = world_start();
	unsigned int i, nr = 0;

	for (i = 0; i < 20 * ARRAY_SIZE(kinds); i++) {
		const unsigned int k = i % ARRAY_SIZE(kinds);

		becomes(kinds[k].flags, kinds[k].has_address, kinds[k].exists);
		world.nr_messages = 1 + i % 3;
		CU_ASSERT(user_link_ready(&link->poll, EPOLLIN));
		UNIT_EQUAL(world.nr_reports, ++nr, kinds[k].what);
		UNIT_EQUAL(world.seen.up, false, kinds[k].what);
		UNIT_EQUAL(world.seen.why, kinds[k].why, kinds[k].what);
		becomes(flags_ok, true, true);
		world.nr_messages = 1;
		CU_ASSERT(user_link_ready(&link->poll, EPOLLIN));
		UNIT_EQUAL(world.nr_reports, ++nr, "up again");
		UNIT_EQUAL(world.seen.up, true, "up again");
	}
	world_end();
}

/* Messages were lost, or the kernel reports the carrier late: the driver checks the device. */
static void test_no_message(void)
{
	struct user_link *link = world_start();

	becomes(IFF_UP, true, true);
	world.nr_messages = 1;
	world.recv_errno = ENOBUFS;
	CU_ASSERT(user_link_ready(&link->poll, EPOLLIN));
	UNIT_EQUAL(world.nr_reports, 1, "lost messages");
	CU_ASSERT(world.armed_ns && world.armed_ns <= LOOK_SOON_NS);
	world.now_ns += world.armed_ns;
	becomes(flags_ok, true, true);
	CU_ASSERT(again_ready(&link->again, EPOLLIN));
	UNIT_EQUAL(world.nr_reports, 2, "no message");
	UNIT_EQUAL(world.seen.up, true, "no message");
	CU_ASSERT(world.armed_ns && world.armed_ns <= LOOK_SOON_NS);
	world_end();
}

/* Further checks of an unchanged device report nothing, and become rare. */
static void test_unchanged(void)
{
	struct user_link *link = world_start();

	world.nr_messages = 2;
	CU_ASSERT(user_link_ready(&link->poll, EPOLLIN));
	CU_ASSERT_FALSE(user_link_ready(&link->poll, EPOLLIN));
	world.now_ns += NEWS_NS;
	CU_ASSERT(again_ready(&link->again, EPOLLIN));
	UNIT_EQUAL(world.nr_reports, 0, "no change");
	UNIT_EQUAL(world.armed_ns, LOOK_SPEED_NS, "up");
	becomes(0, true, true);
	CU_ASSERT(again_ready(&link->again, EPOLLIN));
	world.now_ns += NEWS_NS;
	CU_ASSERT(again_ready(&link->again, EPOLLIN));
	UNIT_EQUAL(world.nr_reports, 1, "one change");
	UNIT_EQUAL(world.armed_ns, LOOK_SELDOM_NS, "down");
	world_end();
}

UNIT_SUITE(link,
	   { "lnd-010, lnd-015: each change is reported in the callback that receives it",
	     test_each_event },
	   { "lnd-015: a change without message is found by a check within 50 ms",
	     test_no_message },
	   { "an unchanged device is not reported, and checked rarely", test_unchanged })
