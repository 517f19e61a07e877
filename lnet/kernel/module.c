/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lnet.ko: how the module begins and ends. */
#include "cpt.h"
#include "kernel.h"
#include <lnet/nid.h>
#include <net/net_namespace.h>

/* After the load, as drivers can be loaded only then. */
static void configure(struct work_struct *work)
{
	struct lnet_ctl_err e = { "" };
	int rc = lnet_netns_configure(&init_net, true, &e);

	if (rc)
		pr_err("lnet: config_on_load: %*pE (%d)\n", (int)strlen(e.text), e.text, rc);
}

static DECLARE_WORK(configure_work, configure);

/*
 * The parts in the order in which they need each other. The ways in are last to come and first to
 * go: who gets in finds all the rest.
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

/* Who uses the API holds the module by its symbols, drivers too, interfaces hold their driver. */
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
