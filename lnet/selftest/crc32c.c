/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Computes CRC-32C over eight bytes per step. */
#include "crc32c.h"

#define POLYNOMIAL	0x82f63b78U

void lst_crc32c_init(struct lst_crc32c *c)
{
	u32 i, j, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (j = 0; j < 8; j++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		c->table[0][i] = crc;
	}
	for (j = 1; j < 8; j++)
		for (i = 0; i < 256; i++)
			c->table[j][i] = c->table[j - 1][i] >> 8 ^
					 c->table[0][c->table[j - 1][i] & 0xff];
}

u32 lst_crc32c(const struct lst_crc32c *c, u32 crc, const u8 *mem, u32 len)
{
	for (; len >= 8; mem += 8, len -= 8) {
		u32 lo = get_unaligned_le32(mem) ^ crc, hi = get_unaligned_le32(mem + 4);

		crc = c->table[7][lo & 0xff] ^ c->table[6][lo >> 8 & 0xff] ^
		      c->table[5][lo >> 16 & 0xff] ^ c->table[4][lo >> 24] ^
		      c->table[3][hi & 0xff] ^ c->table[2][hi >> 8 & 0xff] ^
		      c->table[1][hi >> 16 & 0xff] ^ c->table[0][hi >> 24];
	}
	for (; len; mem++, len--)
		crc = crc >> 8 ^ c->table[0][(crc ^ *mem) & 0xff];
	return crc;
}
