/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The interfaces that the module parameters networks and ip2nets define. */
#ifndef LNET_KERNEL_NETWORKS_H
#define LNET_KERNEL_NETWORKS_H

#include "kernel.h"

/*
 * Adds the interfaces of @text that do not exist yet. On an error, removes the interfaces that it
 * has added. cfg_lock held. 0 or -errno with @e.
 */
int lnet_networks_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e);
int lnet_ip2nets_add(struct lnet_netns *ns, const char *text, struct lnet_ctl_err *e);

#endif
