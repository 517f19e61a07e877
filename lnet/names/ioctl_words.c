/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Conversion of NID ranges, and of the patterns of selection policies, to the 32-bit words of
 * ioctls, and back.
 */
#include <uapi/lnet_ioctl.h>
#include "names/names.h"

#define RANGE 3	/* words: lo, hi, stride */

/* ---- to words -------------------------------------------------------------------------------- */

struct out {
	u32 *words;
	unsigned int nr, max;
};

static void word_append(struct out *o, u32 word)
{
	if (o->nr < o->max)
		o->words[o->nr] = word;
	o->nr++;
}

/* Writes the number of ranges, and then the ranges. */
static void put_ranges(struct out *o, const struct lnet_nidlist_expr *range, unsigned int nr)
{
	word_append(o, nr);
	for (; nr; nr--, range++) {
		word_append(o, range->lo);
		word_append(o, range->hi);
		word_append(o, range->stride);
	}
}

static void put_part(struct out *o, const struct lnet_nidlist *list,
		     const struct lnet_nidlist_item *item, unsigned int part)
{
	struct lnet_nidlist_expr range = { 0, item->nr_parts == 4 ? 255 : ~0U, 1 };
	unsigned int before = 8 * part, bits = item->bits > before ? item->bits - before : 0;
	u32 free = bits < 8 ? 0xffU >> bits : 0;

	if (item->kind == ITEM_RANGES) {
		put_ranges(o, list->exprs + item->part[part].first, item->part[part].nr);
		return;
	}
	/* all values of this byte of the address whose first bits equal those of the mask */
	if (item->kind == ITEM_MASK) {
		range.lo = item->ip[part] & ~free;
		range.hi = item->ip[part] | free;
	}
	put_ranges(o, &range, 1);
}

int lnet_nidlist_words(const struct lnet_nidlist *list, bool net_alone, u32 *words,
		       unsigned int max)
{
	const struct lnet_nidlist_item *item = list->items;
	struct lnet_nidlist_expr num = { lnet_net_num(item->net), lnet_net_num(item->net), 1 };
	struct out o = { .words = words, .max = max };
	unsigned int part, nr = net_alone ? 0 : item->nr_parts;

	if (item->kind == ITEM_MASK && item->large)
		return -EOPNOTSUPP;
	word_append(&o, nr);
	word_append(&o, lnet_net_type(item->net));
	if (item->num.nr)
		put_ranges(&o, list->exprs + item->num.first, item->num.nr);
	else
		put_ranges(&o, &num, num.lo ? 1 : 0);
	for (part = 0; part < nr; part++)
		put_part(&o, list, item, part);
	return o.nr <= max ? (int)o.nr : -E2BIG;
}

/* ---- from words ------------------------------------------------------------------------------ */

struct in {
	const u32 *words;
	unsigned int nr, at;
	char *text;
	unsigned int size, len;
	int err;
};

static u32 word_take(struct in *in)
{
	if (in->at < in->nr)
		return in->words[in->at++];
	in->err = -EINVAL;
	return 0;
}

static __printf(2, 3) void text_append(struct in *in, const char *fmt, ...)
{
	unsigned int room = in->size - in->len;
	va_list args;

	va_start(args, fmt);
	in->len += (unsigned int)vsnprintf(in->text + in->len, room, fmt, args);
	va_end(args);
	if (in->len < in->size)
		return;
	in->len = in->size - 1;
	in->err = in->err ? in->err : -E2BIG;
}

/*
 * Writes ranges as text: lo, lo-hi or lo-hi/stride, in brackets. A single number has no brackets. A
 * star means all numbers up to @limit.
 */
static void say_ranges(struct in *in, u32 nr, u64 limit)
{
	const u32 *range = in->words + in->at;
	bool alone;
	u32 i;

	if (!nr || nr > (in->nr - in->at) / RANGE) {
		in->err = -EINVAL;
		return;
	}
	in->at += nr * RANGE;
	if (nr == 1 && !range[0] && range[1] == limit && range[2] == 1) {
		text_append(in, "*");
		return;
	}
	alone = nr == 1 && range[0] == range[1];
	for (i = 0; i < nr; i++, range += RANGE) {
		text_append(in, "%s%u", i ? "," : alone ? "" : "[", range[0]);
		if (range[1] != range[0])
			text_append(in, "-%u", range[1]);
		if (range[1] != range[0] && range[2] != 1)
			text_append(in, "/%u", range[2]);
	}
	text_append(in, "%s", alone ? "" : "]");
}

/* In the text, the address precedes the net; in the words of an ioctl, it follows the net. */
int lnet_nidlist_unwords(const u32 *words, unsigned int nr, char *text, unsigned int size)
{
	struct in in = { .words = words, .nr = nr, .text = text, .size = size }, net;
	char name[LNET_NIDSTR_SIZE];
	u32 parts = word_take(&in), type = word_take(&in), nets = word_take(&in), i;

	if (in.err || parts > 4 || type > 0xffff || nets > (in.nr - in.at) / RANGE)
		return -EINVAL;
	net = in;
	in.at += nets * RANGE;
	for (i = 0; i < parts && !in.err; i++) {
		text_append(&in, "%s", i ? "." : "");
		say_ranges(&in, word_take(&in), parts == 1 ? U32_MAX : 255);
	}
	text_append(&in, "%s", parts ? "@" : "");
	net.len = in.len;
	net.err = in.err;
	lnet_net_str(type << 16, name);
	if (name[0] == '<')
		return -EINVAL;
	text_append(&net, "%s", name);
	if (nets)
		say_ranges(&net, nets, U64_MAX);
	return net.err ? net.err : (int)in.at;
}

/* ---- selection policies ---------------------------------------------------------------------- */

int lnet_udsp_pattern_parse(struct lnet_nidlist *list, bool *is_net, const char *text)
{
	char all[LNET_UDSP_TEXT + 2];

	*is_net = !strchr(text, '@');
	if (strchr(text, ' '))
		return -EINVAL;
	scnprintf(all, sizeof(all), "%s%s", *is_net ? "*@" : "", text);
	return lnet_nidlist_parse(list, all);
}

int lnet_udsp_pattern_check(const char *text)
{
	struct lnet_nidlist list;
	bool is_net;
	int rc = lnet_udsp_pattern_parse(&list, &is_net, text);

	if (!rc)
		lnet_nidlist_free(&list);
	return rc;
}

/* For each end (source, destination, router): the word that precedes the words of its pattern. */
static const char tags[LNET_NR_UDSP_ENDS][4] = LNET_IOC_UDSP_ENDS;

/* words for an end without a pattern: no expressions, no net, no ranges */
#define NOTHING 3

int lnet_udsp_words(const struct lnet_udsp_rule *rule, u32 *words)
{
	struct lnet_nidlist list;
	unsigned int i, nr = 0;
	bool net_alone;
	int rc;

	for (i = 0; i < LNET_NR_UDSP_ENDS; i++) {
		memcpy(&words[nr++], tags[i], sizeof(words[0]));
		if (!rule->text[i][0]) {
			memset(words + nr, 0, NOTHING * sizeof(words[0]));
			nr += NOTHING;
			continue;
		}
		rc = lnet_udsp_pattern_parse(&list, &net_alone, rule->text[i]);
		if (rc)
			return rc;
		rc = lnet_nidlist_words(&list, net_alone, words + nr, LNET_NIDLIST_WORDS);
		lnet_nidlist_free(&list);
		if (rc < 0)
			return rc;
		nr += (unsigned int)rc;
	}
	return (int)nr;
}

int lnet_udsp_unwords(struct lnet_udsp_rule *rule, const u32 *words, unsigned int nr)
{
	unsigned int i, at = 0;
	int rc;

	for (i = 0; i < LNET_NR_UDSP_ENDS; i++) {
		if (at >= nr || memcmp(&words[at], tags[i], sizeof(words[0])))
			return -EINVAL;
		at++;
		rule->text[i][0] = 0;
		rc = NOTHING;
		if (nr - at < NOTHING || words[at] || words[at + 1] || words[at + 2])
			rc = lnet_nidlist_unwords(words + at, nr - at, rule->text[i],
						  LNET_UDSP_TEXT);
		if (rc < 0)
			return rc;
		at += (unsigned int)rc;
	}
	return 0;
}
