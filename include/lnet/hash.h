/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hashes that give the same value on every machine and in every build, as determinism asks. */
#ifndef LNET_HASH_H
#define LNET_HASH_H

#include "plat.h"

/* Mixes all bits of @x; a bijection. Take the bits you need from either end. */
static inline u64 lnet_hash64(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 32);
}

/* Of @len bytes at @p, read as little endian words; @seed chains pieces. */
static inline u64 lnet_hash_bytes(const void *p, size_t len, u64 seed)
{
	const u8 *at = p;
	u64 hash = seed ^ len;
	u64 tail = 0;

	for (; len >= 8; len -= 8, at += 8)
		hash = lnet_hash64(hash ^ get_unaligned_le64(at));
	while (len)
		tail = tail << 8 | at[--len];
	return lnet_hash64(hash ^ tail);
}

#endif
