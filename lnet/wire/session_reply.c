/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The REPLY to a session open request, 32 bytes, little-endian: magic, version, window, 0, instance
 * number of the receiver, session ID.
 */
#include "wire/wire.h"

#define GRANT_MAGIC 0x6e65706fU	/* "open" */
#define GRANT_VERSION 1

void lnet_grant_encode(u8 *buf, u32 W, u64 instance, u64 grant)
{
	put_unaligned_le32(GRANT_MAGIC, buf);
	put_unaligned_le32(GRANT_VERSION, buf + 4);
	put_unaligned_le32(W, buf + 8);
	put_unaligned_le32(0, buf + 12);
	put_unaligned_le64(instance, buf + 16);
	put_unaligned_le64(grant, buf + 24);
}

int lnet_grant_decode(const u8 *buf, u32 len, u32 *W, u64 *instance, u64 *grant)
{
	if (len < LNET_GRANT_SIZE || get_unaligned_le32(buf) != GRANT_MAGIC ||
	    get_unaligned_le32(buf + 4) != GRANT_VERSION)
		return -EPROTO;
	*W = get_unaligned_le32(buf + 8);
	*instance = get_unaligned_le64(buf + 16);
	*grant = get_unaligned_le64(buf + 24);
	if (*W < 1 || *W > 16383 || *grant == 0 || *grant == ~0ULL)
		return -EPROTO;
	return 0;
}
