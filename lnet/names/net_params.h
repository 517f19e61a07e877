/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The little languages of the module's parameters, which `net add --ip2net` takes, too. */
#ifndef LNET_NETRULES_H
#define LNET_NETRULES_H

#include "plat.h"

struct lnet_nidlist;

/* Is it one? 0, -EINVAL, -ENOMEM. The empty text is. May sleep. */
int lnet_networks_check(const char *text);	/* tcp0(eth0[0],eth1),o2ib(ib0)[0,1] */
/* tcp(eth0) 10.0.[1-4/2].*; o2ib 10.1.*.* # why */
int lnet_ip2nets_check(const char *text);
int lnet_routes_check(const char *text);	/* tcp[1-3] 2 10.0.0.1@tcp:5; ... */

/* Who is told what a text means, in its order. */
struct lnet_net_sink {
	/* an interface of a net; "" is the driver's choice; @cpts 0: all. Not 0 ends the walk. */
	int (*net)(struct lnet_net_sink *s, u32 net, const char *ifname, u64 cpts);
	/* ip2nets: has this machine an address in @list, of NIDs on tcp? Once for each rule. */
	bool (*matches)(struct lnet_net_sink *s, const struct lnet_nidlist *list);
};
/* 0, -EINVAL, -ENOMEM, or what net() gave. May sleep. */
int lnet_networks_walk(const char *text, struct lnet_net_sink *s);
int lnet_ip2nets_walk(const char *text, struct lnet_net_sink *s);

/*
 * "0-3,8-30/2]": sets these of @nr bits, @bits may be NULL, and leaves *@at behind the bracket. 0,
 * -EINVAL, -ERANGE.
 */
#define LNET_RANGE_MAX 65536
int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr);

#endif
