/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Internals of lnet_selftest.ko: the services of network namespaces, and the programs' access to
 * them.
 */
#ifndef LNET_SELFTEST_KERNEL_H
#define LNET_SELFTEST_KERNEL_H

#include <linux/completion.h>
#include "../stock.h"

struct net;

/* module.c */
/*
 * Starts the service of the namespace, if it has none. May sleep. Returns 0, -ENOMEM or -ESHUTDOWN.
 */
int lst_net_start(struct net *net);
/* True if the namespace has a service. May sleep. */
bool lst_net_is_started(struct net *net);
/*
 * As lst_command(), for the service of the namespace. -ENXIO: the namespace has no service, and
 * done() is not called.
 */
int lst_net_command(struct net *net, struct lst_command *cmd);

/* device.c */
int lst_device_open(void);		/* the device is there */
void lst_device_close(void);

/* stock_ioctl.c */
/*
 * A command with a reply in memory. If its caller is killed, the command continues without the
 * caller.
 */
struct lst_asked {
	struct lst_command cmd;
	struct lst_memory memory;
	refcount_t refs;
	struct completion over;
	char *words;
};
/*
 * Runs the command @words and waits for its reply. The last reference frees @words by kvfree(),
 * also after an error. May sleep. Returns the reply, which the caller drops with lst_asked_put().
 * Otherwise returns an error pointer: -EINTR (the caller was killed), or the console's errno.
 */
struct lst_asked *lst_ask_wait(struct net *net, char *words, u32 len);
void lst_asked_put(struct lst_asked *q);	/* accepts NULL */
int lst_stock_ioctl_open(void);
void lst_stock_ioctl_close(void);

/* stock_netlink.c */
int lst_stock_netlink_open(void);
void lst_stock_netlink_close(void);

#endif
