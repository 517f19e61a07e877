/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranges of NIDs as 32-bit words, the form in which ioctls have them. */
#include "names/names.h"

#define RANGE 3	/* words: lo, hi, stride */

/* ---- to words -------------------------------------------------------------------------------- */

struct out {
	u32 *words;
	unsigned int nr, max;
};

static void put(struct out *o, u32 word)
{
	if (o->nr < o->max)
		o->words[o->nr] = word;
	o->nr++;
}

static void put_range(struct out *o, u32 lo, u32 hi, u32 stride)
{
	put(o, lo);
	put(o, hi);
	put(o, stride);
}

static void put_exprs(struct out *o, const struct lnet_nidlist_expr *expr, unsigned int nr)
{
	put(o, nr);
	for (; nr; nr--, expr++)
		put_range(o, expr->lo, expr->hi, expr->stride);
}

static void put_part(struct out *o, const struct lnet_nidlist *list,
		     const struct lnet_nidlist_item *item, unsigned int part)
{
	unsigned int before = 8 * part, bits;
	u32 free;

	if (item->kind == ITEM_RANGES) {
		put_exprs(o, list->exprs + item->first[part], item->nr[part]);
		return;
	}
	put(o, 1);
	if (item->kind == ITEM_MASK) {	/* all bytes with these first bits */
		bits = item->bits > before ? item->bits - before : 0;
		free = bits < 8 ? 0xffU >> bits : 0;
		put_range(o, item->ip[part] & ~free, item->ip[part] | free, 1);
	} else {
		put_range(o, 0, item->nr_parts == 4 ? 255 : ~0U, 1);
	}
}

int lnet_nidlist_words(const struct lnet_nidlist *list, bool net_alone, u32 *words,
		       unsigned int max)
{
	const struct lnet_nidlist_item *item = list->items;
	u32 num = lnet_net_num(item->net);
	struct out o = { .words = words, .max = max };
	unsigned int part, nr;

	if (item->kind == ITEM_MASK && item->large)
		return -EOPNOTSUPP;
	nr = net_alone ? 0 : item->nr_parts;
	put(&o, nr);
	put(&o, lnet_net_type(item->net));
	if (item->nr_nets) {
		put_exprs(&o, list->exprs + item->first_net, item->nr_nets);
	} else {
		put(&o, num ? 1 : 0);
		if (num)
			put_range(&o, num, num, 1);
	}
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

static u32 take(struct in *in)
{
	if (in->at < in->nr)
		return in->words[in->at++];
	in->err = -EINVAL;
	return 0;
}

static __printf(2, 3) void say(struct in *in, const char *fmt, ...)
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
 * Writes ranges lo, lo-hi or lo-hi/stride in brackets. One number has no brackets, and a star means
 * all numbers up to @limit.
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
		say(in, "*");
		return;
	}
	alone = nr == 1 && range[0] == range[1];
	for (i = 0; i < nr; i++, range += RANGE) {
		say(in, "%s%u", i ? "," : alone ? "" : "[", range[0]);
		if (range[1] != range[0])
			say(in, "-%u", range[1]);
		if (range[1] != range[0] && range[2] != 1)
			say(in, "/%u", range[2]);
	}
	say(in, "%s", alone ? "" : "]");
}

/* The address precedes the net in the text, and follows it in words. */
int lnet_nidlist_unwords(const u32 *words, unsigned int nr, char *text, unsigned int size)
{
	struct in in = { .words = words, .nr = nr, .text = text, .size = size }, net;
	char name[LNET_NIDSTR_SIZE];
	u32 parts = take(&in), type = take(&in), nets = take(&in), i;

	if (in.err || parts > 4 || type > 0xffff || nets > (in.nr - in.at) / RANGE)
		return -EINVAL;
	net = in;
	in.at += nets * RANGE;
	for (i = 0; i < parts && !in.err; i++) {
		say(&in, "%s", i ? "." : "");
		say_ranges(&in, take(&in), parts == 1 ? U32_MAX : 255);
	}
	say(&in, "%s", parts ? "@" : "");
	net.len = in.len;
	net.err = in.err;
	lnet_net_str(type << 16, name);
	if (name[0] == '<')
		return -EINVAL;
	say(&net, "%s", name);
	if (nets)
		say_ranges(&net, nets, U64_MAX);
	return net.err ? net.err : (int)in.at;
}
