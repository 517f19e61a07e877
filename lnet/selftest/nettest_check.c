/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contents of NETTEST messages: words that depend on sender, target, iteration and position. */
#include "nettest_run.h"

#define ENDS	8U

static u64 check_word_at(u64 key, u32 nth)
{
	u64 x = key + nth * 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	return x ^ (x >> 29);
}

u64 nettest_key(u64 seq, u32 from, u32 to)
{
	return check_word_at(seq << 24 | from << 12 | to, 1);
}

static void words_fill(u8 *mem, u32 begin, u32 end, u64 key)
{
	u32 at = begin;

	for (; at < end && (at & 7 || end - at < 8); at++)
		mem[at] = (u8)(check_word_at(key, at >> 3) >> (8 * (at & 7)));
	for (; end - at >= 8; at += 8)
		put_unaligned_le64(check_word_at(key, at >> 3), mem + at);
	for (; at < end; at++)
		mem[at] = (u8)(check_word_at(key, at >> 3) >> (8 * (at & 7)));
}

/* Returns the offset of the first wrong byte, or @end if no byte is wrong. */
static u32 compare(const u8 *mem, u32 begin, u32 end, u64 key)
{
	u32 at = begin;

	while (at < end) {
		u64 word = check_word_at(key, at >> 3);

		if (!(at & 7) && end - at >= 8 && get_unaligned_le64(mem + at) == word)
			at += 8;
		else if (mem[at] == (u8)(word >> (8 * (at & 7))))
			at++;
		else
			break;
	}
	return at;
}

void nettest_fill(u8 *mem, u32 len, u64 key, enum nettest_check check)
{
	if (check == NETTEST_CHECK_NONE)
		return;
	if (check == NETTEST_CHECK_FULL || len <= 2 * ENDS) {
		words_fill(mem, 0, len, key);
		return;
	}
	words_fill(mem, 0, ENDS, key);
	words_fill(mem, len - ENDS, len, key);
}

u32 nettest_first_bad(const u8 *mem, u32 len, u64 key, enum nettest_check check)
{
	u32 at;

	if (check == NETTEST_CHECK_NONE)
		return len;
	if (check == NETTEST_CHECK_FULL || len <= 2 * ENDS)
		return compare(mem, 0, len, key);
	at = compare(mem, 0, ENDS, key);
	return at < ENDS ? at : compare(mem, len - ENDS, len, key);
}
