/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the module of the self-test: ioctl 63 on /dev/lnet, by which stock's lst uses a console. */
#ifndef LNET_KERNEL_LST_IOCTL_H
#define LNET_KERNEL_LST_IOCTL_H

#include "plat.h"

struct lnet_lst_ioctl {
	struct module *owner;
	/*
	 * Carry out operation @op in the caller's namespace; the caller has CAP_SYS_ADMIN there.
	 * Arguments are at @at, @len bytes; statistics are written to @stat_at. All addresses are
	 * user-space addresses and not checked. May sleep. 0 or -errno.
	 */
	int (*act)(u32 op, u64 at, u32 len, u64 stat_at, u32 stat_len);
};

/*
 * Registers @handler, which must stay valid until _close(). 0; -EBUSY: another one is registered.
 */
int lnet_lst_ioctl_open(const struct lnet_lst_ioctl *handler);
/* Rejects further requests. The module is not unloaded while a request runs. */
void lnet_lst_ioctl_close(const struct lnet_lst_ioctl *handler);

#endif
