/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bulk_write.ko: sends bulk data to bulk_server, and shows counts in /proc/bulk_write. Example:
 * modprobe bulk_write size=1M loop=4096 target="10.0.0.2 10.0.0.3"
 */
#include <linux/module.h>
#include "../alone.h"

static struct lst_alone alone = { .name = "bulk_write", .size = "1M" };

module_param_named(size, alone.size, charp, 0444);
MODULE_PARM_DESC(size, "of a transfer, 1M unless said");
module_param_named(loop, alone.loop, uint, 0444);
MODULE_PARM_DESC(loop, "transfers to each target, 0: until it is unloaded");
module_param_named(target, alone.target, charp, 0444);
MODULE_PARM_DESC(target, "NIDs, or IPv4 addresses on net tcp, with blanks between them");

static int __init bulk_write_begin(void)
{
	return lst_alone_begin(&alone);
}

static void __exit bulk_write_end(void)
{
	lst_alone_end(&alone);
}

module_init(bulk_write_begin);
module_exit(bulk_write_end);
MODULE_DESCRIPTION("LNet: sends bulk to servers");
MODULE_LICENSE("Dual BSD/GPL");
