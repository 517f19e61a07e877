/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of NID ranges. With such a list, a configuration names many NIDs. */
#include "names/names.h"

static bool is_star(struct lnet_part p)
{
	return p.len == 1 && p.at[0] == '*';
}

/* Parses an expression: number | '*' | number '-' number [ '/' stride ] */
static int expr_parse(struct lnet_nidlist *list, struct lnet_part p, u32 limit)
{
	struct lnet_nidlist_expr *expr = &list->exprs[list->nr_exprs++];
	bool ranged, strided = lnet_part_has(&p, '/');
	struct lnet_part range, lo;

	*expr = (struct lnet_nidlist_expr){ .hi = limit, .stride = 1 };
	if (is_star(p))
		return 0;
	range = lnet_part_cut(&p, '/');
	ranged = lnet_part_has(&range, '-');
	lo = lnet_part_cut(&range, '-');
	if (lnet_num_parse(&expr->lo, lo.at, lo.len, limit))
		return -EINVAL;
	expr->hi = expr->lo;
	if (ranged && lnet_num_parse(&expr->hi, range.at, range.len, limit))
		return -EINVAL;
	if (strided && (!ranged || lnet_num_parse(&expr->stride, p.at, p.len, ~0U)))
		return -EINVAL;
	return expr->lo <= expr->hi && expr->stride ? 0 : -EINVAL;
}

/* Parses one expression, or several expressions in brackets. */
static int exprs_parse(struct lnet_nidlist *list, struct lnet_part p, u32 limit,
		       struct lnet_nidlist_run *run)
{
	bool more;

	run->first = (u16)list->nr_exprs;
	if (!p.len || p.at[0] != '[') {
		if (lnet_part_has(&p, '-'))
			return -EINVAL;
		run->nr = 1;
		return expr_parse(list, p, limit);
	}
	if (p.at[p.len - 1] != ']')
		return -EINVAL;
	p.at++;
	p.len -= 2;
	do {
		more = lnet_part_has(&p, ',');
		if (expr_parse(list, lnet_part_cut(&p, ','), limit))
			return -EINVAL;
		run->nr++;
	} while (more);
	return 0;
}

static int mask_parse(struct lnet_nidlist_item *item, struct lnet_part p, enum lnet_addr_form form)
{
	bool has_bits = lnet_part_has(&p, '/');
	int size = lnet_ip_parse(item->ip, lnet_part_cut(&p, '/'), form);
	u32 limit = size ? 128 : 32, bits = limit;

	if (size < 0 || (has_bits && lnet_num_parse(&bits, p.at, p.len, limit)))
		return -EINVAL;
	item->kind = ITEM_MASK;
	item->large = size;
	item->bits = (u8)bits;
	return bits ? 0 : -EINVAL;
}

static int item_addr_parse(struct lnet_nidlist *list, struct lnet_nidlist_item *item,
			   struct lnet_part p)
{
	enum lnet_addr_form form = lnet_net_addr_form(item->net);
	bool is_ip = form == LNET_ADDR_IP || form == LNET_ADDR_IP4;
	struct lnet_part rest = p, plain = lnet_part_cut(&rest, '[');
	unsigned int i;

	item->nr_parts = is_ip ? 4 : 1;
	if (is_star(p)) {
		item->kind = ITEM_ALL;
		return 0;
	}
	if (lnet_part_has(&plain, '/') || lnet_part_has(&p, ':'))
		return mask_parse(item, p, form);
	item->kind = ITEM_RANGES;
	for (i = 0; i < item->nr_parts; i++)
		if (exprs_parse(list, i < item->nr_parts - 1U ? lnet_part_cut(&p, '.') : p,
				is_ip ? 255 : ~0U, &item->part[i]))
			return -EINVAL;
	return 0;
}

/* Parses a net such as "tcp1" or "tcp[1-3]": its type, and expressions for its number. */
static int net_parse(struct lnet_nidlist *list, struct lnet_nidlist_item *item,
		     struct lnet_part p)
{
	struct lnet_part nums = p, net = { p.at, lnet_part_find(&p, '[') };

	if (!net.len || net.len >= LNET_NIDSTR_SIZE || (p.at[0] >= '0' && p.at[0] <= '9') ||
	    lnet_net_parse_part(&item->net, net))
		return -EINVAL;
	if (net.len == p.len)
		return 0;
	if (lnet_net_num(item->net) || item->net == lnet_nid_net(&LNET_NID_LO))
		return -EINVAL;
	nums.at += net.len;
	nums.len -= net.len;
	return exprs_parse(list, nums, 0xffff, &item->num);
}

int lnet_nidlist_parse(struct lnet_nidlist *list, const char *text)
{
	struct lnet_part all = lnet_part_of(text, LNET_NIDLIST_TEXT_MAX + 1), net, addr;
	/*
	 * Upper limit for the number of items, and of expressions. Each has at least one character
	 * and a separator. Empty items are skipped, and an empty expression ends the parsing.
	 */
	unsigned int max = all.len / 2 + 2;
	struct lnet_nidlist_item *item;

	memset(list, 0, sizeof(*list));
	if (all.len > LNET_NIDLIST_TEXT_MAX)
		return -EINVAL;
	list->items = kvzalloc(max * (sizeof(*list->items) + sizeof(*list->exprs)), GFP_NOFS);
	if (!list->items)
		return -ENOMEM;
	list->exprs = (struct lnet_nidlist_expr *)(list->items + max);
	while (all.len) {
		net = lnet_part_cut(&all, ' ');
		if (!net.len)
			continue;
		item = &list->items[list->nr++];
		addr = lnet_part_cut(&net, '@');
		if (net_parse(list, item, net) || item_addr_parse(list, item, addr))
			goto invalid;
	}
	if (list->nr)
		return 0;
invalid:
	lnet_nidlist_free(list);
	return -EINVAL;
}

void lnet_nidlist_free(struct lnet_nidlist *list)
{
	kvfree(list->items);
	memset(list, 0, sizeof(*list));
}

static bool exprs_match(const struct lnet_nidlist *list, struct lnet_nidlist_run run, u32 value)
{
	const struct lnet_nidlist_expr *expr = list->exprs + run.first;

	for (; run.nr; run.nr--, expr++)
		if (value >= expr->lo && value <= expr->hi &&
		    (value - expr->lo) % expr->stride == 0)
			return true;
	return false;
}

static bool item_match(const struct lnet_nidlist *list, const struct lnet_nidlist_item *item,
		       const struct lnet_nid *nid)
{
	u32 net = lnet_nid_net(nid), addr = be32_to_cpu(nid->addr[0]);
	unsigned int whole = item->bits / 8, rest = item->bits % 8, i;
	const u8 *ip = (const u8 *)nid->addr;

	if (!item->num.nr && item->net != net)
		return false;
	if (item->num.nr && (lnet_net_type(item->net) != lnet_net_type(net) ||
			     !exprs_match(list, item->num, lnet_net_num(net))))
		return false;
	if (item->kind == ITEM_MASK)
		return nid->size == (item->large ? LNET_NID_SIZE_MAX : 0) &&
		       !memcmp(ip, item->ip, whole) &&
		       (!rest || !((ip[whole] ^ item->ip[whole]) >> (8 - rest)));
	if (item->kind == ITEM_ALL)
		return true;
	if (nid->size)
		return false;
	if (item->nr_parts == 1)
		return exprs_match(list, item->part[0], addr);
	for (i = 0; i < 4; i++)
		if (!exprs_match(list, item->part[i], addr >> (24 - 8 * i) & 0xff))
			return false;
	return true;
}

bool lnet_nidlist_match(const struct lnet_nidlist *list, const struct lnet_nid *nid)
{
	unsigned int i;

	for (i = 0; i < list->nr && !lnet_nid_is_any(nid); i++)
		if (item_match(list, &list->items[i], nid))
			return true;
	return false;
}

bool lnet_nidlist_same(const struct lnet_nidlist *a, const struct lnet_nidlist *b)
{
	return a->nr == b->nr && a->nr_exprs == b->nr_exprs &&
	       (!a->nr || (!memcmp(a->items, b->items, a->nr * sizeof(*a->items)) &&
			   !memcmp(a->exprs, b->exprs, a->nr_exprs * sizeof(*a->exprs))));
}
