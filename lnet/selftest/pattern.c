/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Contents of bulk memory: one word repeated, in the byte order of the node that fills it. */
#include "service.h"

#define PATTERN	0xeeb0eeb1eeb2eeb3ULL
#define POISON	0xbeefbeefbeefbeefULL
#define WORD	8U

/* Fills memory of any length. The last word may be truncated. */
static void pattern_fill(u8 *mem, u32 len, u64 word)
{
	for (; len >= WORD; mem += WORD, len -= WORD)
		memcpy(mem, &word, WORD);
	memcpy(mem, &word, len);
}

static bool pattern_is_filled(const u8 *mem, u32 len, u64 word)
{
	for (; len >= WORD; mem += WORD, len -= WORD)
		if (memcmp(mem, &word, WORD))
			return false;
	return !memcmp(mem, &word, len);
}

/*
 * Returns the offset of the last whole word. Memory shorter than a word has only a part of one
 * word.
 */
static u32 last_word(u32 len)
{
	return len < WORD ? 0 : len / WORD * WORD - WORD;
}

/*
 * Stock nodes check the first and last word of each of their pages. Their page size may differ from
 * the page size of this node. So the function fills all of the memory.
 */
void lst_pattern_fill(u8 *mem, u32 len, enum lst_check check)
{
	if (check == LST_CHECK_SIMPLE || check == LST_CHECK_FULL)
		pattern_fill(mem, len, PATTERN);
}

void lst_pattern_poison(u8 *mem, u32 len, enum lst_check check)
{
	u32 last = last_word(len);

	if (check == LST_CHECK_FULL)
		pattern_fill(mem, len, POISON);
	if (check != LST_CHECK_SIMPLE)
		return;
	pattern_fill(mem, min(len, WORD), POISON);
	pattern_fill(mem + last, min(len, WORD), POISON);
}

bool lst_pattern_good(const u8 *mem, u32 len, enum lst_check check, bool swapped)
{
	u64 word = swapped ? swab64(PATTERN) : PATTERN;
	u32 last = last_word(len);

	if (check == LST_CHECK_FULL)
		return pattern_is_filled(mem, len, word);
	if (check == LST_CHECK_SIMPLE)
		return pattern_is_filled(mem, min(len, WORD), word) &&
		       pattern_is_filled(mem + last, min(len, WORD), word);
	return true;
}
