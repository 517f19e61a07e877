/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hashes with the same value on every machine and in every build, as determinism requires. */
#ifndef LNET_HASH_H
#define LNET_HASH_H

#include "plat.h"

/* Mixes all bits of @x; a bijection. Callers may use the high or the low bits of the result. */
static inline u64 lnet_hash64(u64 x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 32);
}

/*
 * The hash of @len bytes at @p, read as little-endian words. @seed: the hash of preceding bytes, or
 * a start value.
 */
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

static inline u64 lnet_rotl64(u64 x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static inline void lnet_sip_rounds(u64 v[4], unsigned int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[1] = lnet_rotl64(v[1], 13) ^ v[0];
		v[0] = lnet_rotl64(v[0], 32);
		v[2] += v[3];
		v[3] = lnet_rotl64(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = lnet_rotl64(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = lnet_rotl64(v[1], 17) ^ v[2];
		v[2] = lnet_rotl64(v[2], 32);
	}
}

/*
 * SipHash-2-4 of the eight bytes of @x. Without the secret @key, no node can compute a value, even
 * from many other values.
 */
static inline u64 lnet_siphash(const u64 key[2], u64 x)
{
	u64 v[4] = { key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
		     key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL };
	const u64 length = 8ULL << 56;

	v[3] ^= x;
	lnet_sip_rounds(v, 2);
	v[0] ^= x;
	v[3] ^= length;
	lnet_sip_rounds(v, 2);
	v[0] ^= length;
	v[2] ^= 0xff;
	lnet_sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
