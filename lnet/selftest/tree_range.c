/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Nodes that ranges of NIDs define: their number, and the NID at each index. */
#include "tree.h"

/* ---- sets of bytes --------------------------------------------------------------------------- */

static bool set_has(const u8 *set, u32 value)
{
	return set[value / 8] >> value % 8 & 1;
}

static u32 set_below(const u8 *set, u32 value)
{
	u32 i, nr = 0;

	for (i = 0; i < value; i++)
		nr += set_has(set, i);
	return nr;
}

/* Returns the value in @set that is larger than exactly @nr other values in @set. */
static u32 set_at(const u8 *set, u32 nr)
{
	u32 value = 0;

	while (!set_has(set, value) || nr--)
		value++;
	return value;
}

/* ---- one range ------------------------------------------------------------------------------- */

struct words {
	const u32 *at, *end;
};

static u32 words_next(struct words *w)
{
	return w->at < w->end ? *w->at++ : 0;
}

/*
 * Reads a part of the output of lnet_nidlist_words(): the number of runs, then lo, hi and stride of
 * each run.
 */
static void part_take(struct lst_range *r, u32 part, struct words *w)
{
	u32 nr = words_next(w);

	for (; nr; nr--) {
		u32 lo = words_next(w), hi = words_next(w), stride = words_next(w);
		u64 value;

		for (value = lo; value <= hi && value < 256 && stride; value += stride)
			r->set[part][value / 8] |= (u8)(1U << value % 8);
	}
	r->count[part] = (u16)set_below(r->set[part], 256);
}

static int net_take(struct lst_range *r, struct words *w)
{
	u32 type = words_next(w), nr = words_next(w), lo = 0, hi = 0;

	if (nr) {
		lo = words_next(w);
		hi = words_next(w);
		words_next(w);
	}
	r->net = lnet_net_make(type, lo);
	return nr > 1 || lo != hi ? -EINVAL : 0;
}

static u32 range_address(const struct lst_range *r, bool last)
{
	u32 part, addr = 0;

	for (part = 0; part < 4; part++)
		addr = addr << 8 | set_at(r->set[part], last ? r->count[part] - 1U : 0);
	return addr;
}

static int range_take(struct lst_range *r, struct words *w)
{
	u64 nr = 1;
	u32 part;
	int rc;

	if (words_next(w) != 4)
		return -EINVAL;
	rc = net_take(r, w);
	for (part = 0; part < 4 && !rc; part++) {
		part_take(r, part, w);
		nr *= r->count[part];
	}
	if (rc || !nr)
		return -EINVAL;
	if (nr > LST_TREE_NODES_MAX)
		return -E2BIG;
	r->nr = (u32)nr;
	r->lo = range_address(r, false);
	r->hi = range_address(r, true);
	return 0;
}

static int tree_range_parse(struct lst_range *r, const char *text)
{
	u32 *words = kmalloc_array(LNET_NIDLIST_WORDS, sizeof(*words), GFP_KERNEL);
	struct lnet_nidlist list;
	struct words w;
	int rc;

	if (!words)
		return -ENOMEM;
	rc = lnet_nidlist_parse(&list, text);
	if (!rc) {
		rc = lnet_nidlist_words(&list, false, words, LNET_NIDLIST_WORDS);
		w = (struct words){ words, words + max(rc, 0) };
		rc = rc < 0 ? -EINVAL : range_take(r, &w);
	}
	lnet_nidlist_free(&list);
	kfree(words);
	return rc;
}

/* ---- all ranges ------------------------------------------------------------------------------ */

/* Returns the length of the first range in @text. */
static u32 range_piece_len(const char *text)
{
	bool bracket = false;
	u32 i;

	for (i = 0; text[i]; i++) {
		if (text[i] == '[' || text[i] == ']')
			bracket = text[i] == '[';
		if (!bracket && (text[i] == ',' || text[i] == ' '))
			break;
	}
	return i;
}

static bool range_is_before(const struct lst_range *a, const struct lst_range *b)
{
	return a->net < b->net || (a->net == b->net && a->lo < b->lo);
}

static void insert(struct lst_ranges *r, const struct lst_range *range)
{
	u32 at = r->nr_ranges++;

	for (; at && range_is_before(range, &r->range[at - 1]); at--)
		r->range[at] = r->range[at - 1];
	r->range[at] = *range;
}

/* Numbers the nodes. */
static int ranges_count(struct lst_ranges *r)
{
	u32 i;

	for (i = 0; i < r->nr_ranges; i++) {
		struct lst_range *range = &r->range[i], *next = range + 1;

		if (i + 1 < r->nr_ranges && range->net == next->net && next->lo <= range->hi)
			return -EINVAL;
		range->first = r->nr;
		r->nr += range->nr;
		if (r->nr > LST_TREE_NODES_MAX)
			return -E2BIG;
	}
	return r->nr ? 0 : -EINVAL;
}

static int pieces_parse(struct lst_ranges *r, const char *text, u32 max_nr)
{
	struct lst_range range;
	char *one;
	u32 len;
	int rc = 0;

	for (; *text && !rc; text += len) {
		len = range_piece_len(text);
		if (!len) {
			len = 1;
			continue;
		}
		if (r->nr_ranges == max_nr)
			return -E2BIG;
		one = kmalloc(len + 1, GFP_KERNEL);
		if (!one)
			return -ENOMEM;
		memcpy(one, text, len);
		one[len] = 0;
		memset(&range, 0, sizeof(range));
		rc = tree_range_parse(&range, one);
		kfree(one);
		if (!rc)
			insert(r, &range);
	}
	return rc;
}

static u32 pieces(const char *text)
{
	u32 nr = 0, len;

	for (; *text; text += len ? len : 1) {
		len = range_piece_len(text);
		nr += len != 0;
	}
	return nr;
}

int lst_ranges_parse(struct lst_ranges *r, const char *text)
{
	u32 nr = pieces(text);
	int rc;

	memset(r, 0, sizeof(*r));
	if (!nr || nr > LST_TREE_RANGES_MAX)
		return nr ? -E2BIG : -EINVAL;
	r->range = kvcalloc(nr, sizeof(*r->range), GFP_KERNEL);
	if (!r->range)
		return -ENOMEM;
	rc = pieces_parse(r, text, nr);
	return rc ? rc : ranges_count(r);
}

void lst_ranges_free(struct lst_ranges *r)
{
	kvfree(r->range);
	memset(r, 0, sizeof(*r));
}

u32 lst_ranges_index(const struct lst_ranges *r, const struct lnet_nid *nid)
{
	u64 nid4 = lnet_nid_to_nid4(nid);
	u32 i, part, addr = (u32)nid4, index = 0;

	if (nid->size || lnet_nid_is_any(nid))
		return U32_MAX;
	for (i = 0; i < r->nr_ranges; i++)
		if (r->range[i].net == nid4 >> 32 && addr >= r->range[i].lo &&
		    addr <= r->range[i].hi)
			break;
	if (i == r->nr_ranges)
		return U32_MAX;
	for (part = 0; part < 4; part++) {
		u32 value = addr >> (24 - 8 * part) & 0xff;

		if (!set_has(r->range[i].set[part], value))
			return U32_MAX;
		index = index * r->range[i].count[part] + set_below(r->range[i].set[part], value);
	}
	return r->range[i].first + index;
}

void lst_ranges_nid(const struct lst_ranges *r, u32 index, struct lnet_nid *nid)
{
	const struct lst_range *range = r->range;
	u32 part, addr = 0;

	while (index - range->first >= range->nr)
		range++;
	index -= range->first;
	for (part = 4; part--;) {
		u32 count = range->count[part];

		addr |= set_at(range->set[part], index % count) << (24 - 8 * part);
		index /= count;
	}
	lnet_nid_from_nid4(nid, (u64)range->net << 32 | addr);
}
