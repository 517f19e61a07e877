/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The little languages of the module's parameters: networks, ip2nets, routes. */
#ifndef LNET_KERNEL_NETWORKS_H
#define LNET_KERNEL_NETWORKS_H

#include "kernel.h"

/* Is it one? 0, -EINVAL, -ENOMEM. The empty text is. May sleep. */
int lnet_networks_check(const char *text);	/* tcp0(eth0[0],eth1),o2ib(ib0)[0,1] */
/* tcp(eth0) 10.0.[1-4/2].*; o2ib 10.1.*.* # why */
int lnet_ip2nets_check(const char *text);
int lnet_routes_check(const char *text);	/* tcp[1-3] 2 10.0.0.1@tcp:5; ... */

/*
 * "0-3,8-30/2]": sets these of @nr bits, @bits may be NULL, and leaves *@at behind the bracket. 0,
 * -EINVAL, -ERANGE.
 */
#define LNET_RANGE_MAX 65536
int lnet_ranges_take(const char **at, unsigned long *bits, unsigned int nr);

/*
 * Adds the interfaces that are meant, those that are there already left out. What fails is undone.
 * cfg_lock held. 0 or -errno with @e.
 */
int lnet_networks_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e);
int lnet_ip2nets_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e);

#endif
