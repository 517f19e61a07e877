/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Payloads that contain an identity, a pattern and a checksum. */
#include "payload.h"

#define MAGIC 0x6c706672u

/*
 * The header of a payload. It is packed, because a payload may begin at any address. The payload
 * before it in the buffer may have an odd length, if another program sent it.
 */
struct payload {
	u32 magic, len;
	u64 id;
	u32 crc, zero;			/* crc: CRC-32C of the whole payload, with crc 0 */
	u64 pattern[];
} __packed;

/* Four tables of a CRC, so that one step processes four bytes. */
static u32 crc_table[4][256];

void perf_payload_init(void)
{
	u32 i, j, k, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
		crc_table[0][i] = crc;
	}
	for (i = 0; i < 256; i++)
		for (j = 1; j < 4; j++)
			crc_table[j][i] = crc_table[j - 1][i] >> 8 ^
					  crc_table[0][crc_table[j - 1][i] & 0xff];
}

/* Continues a CRC-32C. @len is a multiple of 4. */
static u32 payload_crc32c(u32 crc, const u8 *buf, size_t len)
{
	u32 word;

	for (; len; len -= 4, buf += 4) {
		memcpy(&word, buf, 4);
		crc ^= word;
		crc = crc_table[3][crc & 0xff] ^ crc_table[2][crc >> 8 & 0xff] ^
		      crc_table[1][crc >> 16 & 0xff] ^ crc_table[0][crc >> 24];
	}
	return crc;
}

static u64 payload_mix(u64 x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15ull;
	return x ^ x >> 29;
}

static u32 payload_crc(const struct payload *p, u32 len)
{
	struct payload head = *p;

	head.crc = 0;
	return payload_crc32c(payload_crc32c(~0u, (const u8 *)&head, sizeof(head)),
			      (const u8 *)(p + 1), len - sizeof(head));
}

void perf_payload_fill(void *buf, u32 len, u64 id)
{
	struct payload *p = buf;
	u32 i;

	*p = (struct payload){ .magic = MAGIC, .len = len, .id = id };
	for (i = 0; i < (len - sizeof(*p)) / 8; i++)
		p->pattern[i] = payload_mix(id + i);
	p->crc = payload_crc(p, len);
}

bool perf_payload_good(const void *buf, u32 len, u64 id)
{
	const struct payload *p = buf;
	u32 i;

	if (len < PERF_PAYLOAD_MIN || p->magic != MAGIC || p->len != len || p->id != id)
		return false;
	for (i = 0; i < (len - sizeof(*p)) / 8; i++)
		if (p->pattern[i] != payload_mix(id + i))
			return false;
	return p->crc == payload_crc(p, len);
}

u32 perf_payload_find(const void *buf, size_t max, u64 *id)
{
	const struct payload *p = buf;

	if (p->magic != MAGIC || p->len > max || p->len % 8 ||
	    !perf_payload_good(buf, p->len, p->id))
		return 0;
	*id = p->id;
	return p->len;
}

void perf_pattern_fill(void *buf, u32 offset, u32 len)
{
	u64 *word = buf;
	u32 i;

	for (i = 0; i < len / 8; i++)
		word[i] = payload_mix(offset / 8 + i);
}

bool perf_pattern_good(const void *buf, u32 offset, u32 len)
{
	const u64 *word = buf;
	u32 i;

	for (i = 0; i < len / 8; i++)
		if (word[i] != payload_mix(offset / 8 + i))
			return false;
	return true;
}
