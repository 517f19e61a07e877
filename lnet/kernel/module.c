/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnet.ko: how the module begins and ends. */
#include "kernel.h"

static int __init lnet_module_begin(void)
{
	int rc = lnet_kernel_env_init();

	if (rc)
		return rc;
	rc = lnet_netns_init();
	if (rc)
		lnet_kernel_env_fini();
	return rc;
}

/* Who uses the API holds the module by its symbols, drivers too, interfaces hold their driver. */
static void __exit lnet_module_end(void)
{
	lnet_netns_fini();
	lnet_kernel_env_fini();
}

module_init(lnet_module_begin);
module_exit(lnet_module_end);
MODULE_DESCRIPTION("LNet: multi-rail message transport, core");
MODULE_VERSION(LNET_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
