/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bulk_server.ko: serves bulk transfers, and shows counts in /proc/bulk_server. Example: modprobe
 * bulk_server size=1M count=32
 */
#include <linux/module.h>
#include "../alone.h"

static struct lst_alone alone = { .name = "bulk_server", .server = true, .size = "1M" };

module_param_named(size, alone.size, charp, 0444);
MODULE_PARM_DESC(size, "of a transfer, 1M unless said");
module_param_named(count, alone.count, uint, 0444);
MODULE_PARM_DESC(count, "transfers at one time, 0: as many as come");

static int __init bulk_server_begin(void)
{
	return lst_alone_begin(&alone);
}

static void __exit bulk_server_end(void)
{
	lst_alone_end(&alone);
}

module_init(bulk_server_begin);
module_exit(bulk_server_end);
MODULE_DESCRIPTION("LNet: serves bulk to whoever asks");
MODULE_LICENSE("Dual BSD/GPL");
