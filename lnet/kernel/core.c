/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a kernel object must say of itself; nothing is loaded yet. */
#include "plat.h"

MODULE_DESCRIPTION("Multi-rail message transport: core");
MODULE_LICENSE("Dual BSD/GPL");
