/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* CRC-32C. The caller allocates the tables, so they exist only while they are needed. */
#ifndef LNET_SELFTEST_CRC32C_H
#define LNET_SELFTEST_CRC32C_H

#include "plat.h"

struct lst_crc32c {
	u32 table[8][256];
};

void lst_crc32c_init(struct lst_crc32c *c);
/* Returns @crc updated by @len bytes. The caller begins with ~0, and inverts the final value. */
u32 lst_crc32c(const struct lst_crc32c *c, u32 crc, const u8 *mem, u32 len);

#endif
