/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the module of the self-test: ioctl 63 on /dev/lnet, which stock's lst leads a console by. */
#ifndef LNET_KERNEL_LST_DOOR_H
#define LNET_KERNEL_LST_DOOR_H

#include "plat.h"

struct lnet_lst_door {
	struct module *owner;
	/*
	 * A request in the namespace of the caller, who has CAP_SYS_ADMIN there: operation,
	 * arguments at @at, @len bytes, statistics to @stat_at. Addresses are of user space and not
	 * checked. May sleep. 0 or -errno.
	 */
	int (*act)(u32 op, u64 at, u32 len, u64 stat_at, u32 stat_len);
};

/* One at a time. @door stays until _close(). 0, -EBUSY. */
int lnet_lst_door_open(const struct lnet_lst_door *door);
/* No further request begins; the module is not unloaded while one runs. */
void lnet_lst_door_close(const struct lnet_lst_door *door);

#endif
