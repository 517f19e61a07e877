/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside lnet_selftest.ko: the services of network namespaces, and the device that leads them. */
#ifndef LNET_SELFTEST_KERNEL_H
#define LNET_SELFTEST_KERNEL_H

#include "../selftest.h"

struct net;

/* module.c */
/* The namespace has a service from then on. May sleep. 0, -ENOMEM, -ESHUTDOWN. */
int lst_net_start(struct net *net);
/* As lst_command(); -ENXIO: the namespace has no service, and no done() follows. */
int lst_net_command(struct net *net, struct lst_command *cmd);

/* door.c */
int lst_door_open(void);		/* the device is there */
void lst_door_close(void);

#endif
