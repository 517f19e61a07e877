/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads and unloads lnet.ko. */
#include "cpt.h"
#include "kernel.h"
#include <lnet/nid.h>
#include <net/net_namespace.h>

/* Runs after the module is loaded, because only then can the kernel load a driver. */
static void module_configure(struct work_struct *work)
{
	struct lnet_ctl_err e = { "" };
	int rc = lnet_netns_configure(&init_net, true, &e);

	if (rc)
		pr_err("lnet: config_on_load failed: %*pE (error %d)\n", (int)strlen(e.text),
		       e.text, rc);
}

static DECLARE_WORK(configure_work, module_configure);

/*
 * Each part starts after the parts that it uses. Parts that accept requests start last and end
 * first, so a request always finds all other parts.
 */
static int __init lnet_module_begin(void)
{
	int rc = lnet_params_check();

	if (!rc)
		rc = lnet_params_cpts();
	if (rc)
		return rc;
	rc = lnet_kernel_env_init();
	if (rc)
		goto no_env;
	rc = lnet_netns_init();
	if (rc)
		goto no_netns;
	rc = lnet_netlink_init();
	if (rc)
		goto no_netlink;
	rc = lnet_ioctl_init();
	if (rc)
		goto no_ioctl;
	lnet_debugfs_init();
	lnet_params_live(true);
	if (lnet_params_config_on_load())
		schedule_work(&configure_work);
	pr_info("lnet: lnet.ko %s is loaded\n", LNET_VERSION);
	return 0;
no_ioctl:
	lnet_netlink_fini();
no_netlink:
	lnet_netns_fini();
no_netns:
	lnet_kernel_env_fini();
no_env:
	lnet_cpts_fini();
	return rc;
}

/*
 * No user of this module is left. API users and drivers hold this module by its symbols, and NIs
 * hold the module of their driver.
 */
static void __exit lnet_module_end(void)
{
	cancel_work_sync(&configure_work);
	lnet_params_live(false);
	lnet_debugfs_fini();
	lnet_ioctl_fini();
	lnet_netlink_fini();
	lnet_netns_fini();
	lnet_kernel_env_fini();
	lnet_cpts_fini();
	pr_info("lnet: lnet.ko %s is unloaded\n", LNET_VERSION);
}

module_init(lnet_module_begin);
module_exit(lnet_module_end);
MODULE_DESCRIPTION("LNet: multi-rail message transport, core");
MODULE_VERSION(LNET_VERSION);
MODULE_LICENSE("Dual BSD/GPL");
