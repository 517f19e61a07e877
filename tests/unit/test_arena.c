/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory of documents: aligned, disjoint, of the requested size, and valid while it is in use. */
#include "unit.h"
#include "utils/lib/arena.h"
#include "utils/lib/client.h"

static void test_apart(void)
{
	static const size_t sizes[] = { 1, 8, 13, 900, 1023, 1024, 40000, 65535, 65536, 1 << 20 };
	struct lnetctl_arena *a = arena_new();
	unsigned char *at[200];
	unsigned int i;
	size_t k;

	for (i = 0; i < ARRAY_SIZE(at); i++) {
		at[i] = arena_get(a, sizes[i % ARRAY_SIZE(sizes)]);
		UNIT_EQUAL((uintptr_t)at[i] % sizeof(uint64_t), 0, "aligned");
		memset(at[i], (int)i, sizes[i % ARRAY_SIZE(sizes)]);
	}
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		for (k = 0; k < sizes[i % ARRAY_SIZE(sizes)] && at[i][k] == (unsigned char)i; k++)
			;
		UNIT_EQUAL(k, sizes[i % ARRAY_SIZE(sizes)], "nobody else writes there");
	}
	CU_ASSERT_PTR_NULL(arena_get(a, SIZE_MAX - 64));
	CU_ASSERT_STRING_EQUAL(arena_text(a, "eth0[0]", 4), "eth0");
	arena_drop(a);
}

/* A part that is taken out of a document outlives the document, also inside another one. */
static void test_taken(void)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL);
	struct lnetctl_node *other = lnetctl_add_map(NULL, NULL);
	struct lnetctl_node *part = lnetctl_add_map(doc, "part");

	lnetctl_add_text(part, "word", "text");
	lnetctl_take(doc, part);
	lnetctl_doc_free(doc);
	lnetctl_adopt(other, part);
	lnetctl_add_num(part, "number", -7);
	UNIT_EQUAL(lnetctl_set_text(lnetctl_find(part, "word"), "another"), 0, "text");
	UNIT_EQUAL(lnetctl_set_key(part, "share"), 0, "key");
	UNIT_TEXT(lnetctl_text(lnetctl_find(other, "share"), "word"), "another", "the new text");
	UNIT_TEXT(lnetctl_text(part, "number"), "-7", "what was added there");
	lnetctl_doc_free(other);
}

UNIT_SUITE(arena,
	{ "pieces of every size are aligned and apart", test_apart },
	{ "what is taken out of a document outlives it", test_taken })
