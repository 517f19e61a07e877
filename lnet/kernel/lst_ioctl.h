/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interface to the module of the self-test: ioctl 63 on /dev/lnet. By this ioctl, stock LNet's
 * command lst uses the self-test console of a node.
 */
#ifndef LNET_KERNEL_LST_IOCTL_H
#define LNET_KERNEL_LST_IOCTL_H

#include "plat.h"

struct lnet_lst_ioctl {
	struct module *owner;
	/*
	 * Carries out the operation @op in the caller's namespace, in which the caller has
	 * CAP_SYS_ADMIN. The @len bytes at @at are arguments. Statistics are written to @stat_at.
	 * All addresses are user-space addresses and not checked. May sleep. 0 or -errno.
	 */
	int (*act)(u32 op, u64 at, u32 len, u64 stat_at, u32 stat_len);
};

/*
 * Registers @handler, which must stay valid until the call of the function with the suffix
 * _close(). 0; -EBUSY: another handler is registered.
 */
int lnet_lst_ioctl_open(const struct lnet_lst_ioctl *handler);
/* Rejects further requests from now on. The module is not unloaded while a request runs. */
void lnet_lst_ioctl_close(const struct lnet_lst_ioctl *handler);

#endif
