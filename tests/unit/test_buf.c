/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/base/buf.c: copies into, out of and pieces of fragmented buffers. */
#include "unit.h"
#include <lnet/lnd.h>

static u8 store[64];
/* Fragments of length 0 first, inside and last; not in order of address. */
static const struct lnet_frag frags[] = { { store, 0 },	     { store + 40, 5 }, { store, 0 },
					  { store + 10, 7 }, { store + 30, 3 }, { store, 0 } };

static const struct {
	const char *name;
	u32 offset, pos, len;
	const char *pieces;		/* offset in store : length */
} rows[] = {
	{ "all", 0, 0, 15, "40:5 10:7 30:3 " },
	{ "nothing", 0, 3, 0, "" },
	{ "inside one", 0, 6, 3, "11:3 " },
	{ "over a border", 0, 4, 2, "44:1 10:1 " },
	{ "ends at a border", 0, 1, 4, "41:4 " },
	{ "starts at a border", 0, 5, 7, "10:7 " },
	{ "offset and position", 3, 3, 8, "11:6 30:2 " },
	{ "the last byte", 14, 0, 1, "32:1 " },
	{ "at the end", 15, 0, 0, "" },
};

static void test_pieces(void)
{
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_buf buf = { frags, ARRAY_SIZE(frags), rows[i].offset,
					15 - rows[i].offset };
		struct lnet_frag out[6];
		char text[64] = "";
		u32 nr = lnet_buf_frags(&buf, rows[i].pos, rows[i].len, out, 6);

		for (j = 0; j < nr; j++)
			sprintf(text + strlen(text), "%d:%u ", (int)((u8 *)out[j].base - store),
				out[j].len);
		UNIT_TEXT(text, rows[i].pieces, rows[i].name);
	}
}

static void test_room(void)
{
	struct lnet_buf buf = { frags, ARRAY_SIZE(frags), 0, 15 };
	struct lnet_frag out[2];

	UNIT_EQUAL(lnet_buf_frags(&buf, 0, 15, out, 2), 2, "no more than there is room for");
	UNIT_EQUAL(lnet_buf_frags(&buf, 0, 15, out, 0), 0, "none");
}

static void test_copies(void)
{
	static const char text[] = "abcdefghijklmno";
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_buf buf = { frags, ARRAY_SIZE(frags), rows[i].offset,
					15 - rows[i].offset };
		struct lnet_buf whole = { frags, ARRAY_SIZE(frags), 0, 15 };
		u32 at = rows[i].offset + rows[i].pos;
		char back[16] = "", want[16] = "...............", all[16] = "";

		memset(store, '.', sizeof(store));
		lnet_buf_write(&buf, rows[i].pos, text, rows[i].len);
		lnet_buf_read(&buf, rows[i].pos, back, rows[i].len);
		UNIT_EQUAL(memcmp(back, text, rows[i].len), 0, rows[i].name);
		memcpy(want + at, text, rows[i].len);
		lnet_buf_read(&whole, 0, all, 15);
		UNIT_TEXT(all, want, rows[i].name);
	}
}

UNIT_SUITE(buf,
	{ "pieces", test_pieces },
	{ "room for few pieces", test_room },
	{ "copies there and back, and nowhere else", test_copies })
