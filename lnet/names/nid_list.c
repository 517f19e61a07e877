/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lists of NID ranges: what configuration writes to mean many NIDs. */
#include "plat.h"
#include "lnet/nid.h"
#include "names/names.h"

/* A piece of the text, and the list as far as it is built. */
struct parse {
	const char *text;
	unsigned int len;
	struct lnet_nidlist *list;
	unsigned int *nr_exprs;
};

static unsigned int count(const char *text, unsigned int len, char c)
{
	unsigned int i, nr = 0;

	for (i = 0; i < len; i++)
		nr += text[i] == c;
	return nr;
}

static unsigned int find(const char *text, unsigned int len, char c)
{
	unsigned int i = 0;

	while (i < len && text[i] != c)
		i++;
	return i;
}

/* Cuts off what stands before the first @c, and @c itself. */
static struct parse cut(struct parse *from, char c)
{
	struct parse part = *from;
	unsigned int skip;

	part.len = find(from->text, from->len, c);
	skip = part.len + (part.len < from->len);
	from->text += skip;
	from->len -= skip;
	return part;
}

static bool is_star(const struct parse *p)
{
	return p->len == 1 && p->text[0] == '*';
}

/* number | '*' | number '-' number [ '/' stride ] */
static int expr_parse(struct parse p, u32 limit)
{
	struct lnet_nidlist_expr *expr = &p.list->exprs[(*p.nr_exprs)++];
	struct parse range, lo;
	bool strided, ranged;

	expr->lo = 0;
	expr->hi = limit;
	expr->stride = 1;
	if (is_star(&p))
		return 0;
	strided = find(p.text, p.len, '/') < p.len;
	range = cut(&p, '/');
	ranged = find(range.text, range.len, '-') < range.len;
	lo = cut(&range, '-');
	if (lnet_num_parse(&expr->lo, lo.text, lo.len, limit))
		return -EINVAL;
	expr->hi = expr->lo;
	if (ranged && lnet_num_parse(&expr->hi, range.text, range.len, limit))
		return -EINVAL;
	if (strided && (!ranged || lnet_num_parse(&expr->stride, p.text, p.len, ~0U)))
		return -EINVAL;
	return expr->lo <= expr->hi && expr->stride ? 0 : -EINVAL;
}

/* One expression, or several in brackets. */
static int numrange_parse(struct lnet_nidlist_item *item, unsigned int part, struct parse p,
			  u32 limit)
{
	bool more;

	item->first[part] = (u16)*p.nr_exprs;
	if (!p.len || p.text[0] != '[') {
		if (find(p.text, p.len, '-') < p.len)
			return -EINVAL;
		item->nr[part] = 1;
		return expr_parse(p, limit);
	}
	if (p.text[p.len - 1] != ']')
		return -EINVAL;
	p.text++;
	p.len -= 2;
	do {
		more = find(p.text, p.len, ',') < p.len;
		if (expr_parse(cut(&p, ','), limit))
			return -EINVAL;
		item->nr[part]++;
	} while (more);
	return 0;
}

static int ip4range_parse(struct lnet_nidlist_item *item, struct parse p)
{
	unsigned int part;

	if (count(p.text, p.len, '.') != 3)
		return -EINVAL;
	item->nr_parts = 4;
	for (part = 0; part < 4; part++)
		if (numrange_parse(item, part, cut(&p, '.'), 255))
			return -EINVAL;
	return 0;
}

static int mask_parse(struct lnet_nidlist_item *item, struct parse p, enum lnet_addr_form form)
{
	bool has_bits = find(p.text, p.len, '/') < p.len;
	struct parse addr = cut(&p, '/');
	u32 ip, bits, limit = 32;

	item->kind = ITEM_MASK;
	if (form != LNET_ADDR_IP && form != LNET_ADDR_IP4)
		return -EINVAL;
	if (!lnet_ip4_parse(&ip, addr.text, addr.len)) {
		put_unaligned_be32(ip, item->ip);
	} else {
		if (form != LNET_ADDR_IP || lnet_ip6_parse(item->ip, addr.text, addr.len))
			return -EINVAL;
		item->large = true;
		limit = 128;
	}
	bits = limit;
	if (has_bits && lnet_num_parse(&bits, p.text, p.len, limit))
		return -EINVAL;
	item->bits = (u8)bits;
	return bits ? 0 : -EINVAL;
}

static int addr_parse(struct lnet_nidlist_item *item, struct parse p, enum lnet_addr_form form)
{
	unsigned int bracket = find(p.text, p.len, '[');

	if (is_star(&p)) {
		item->kind = ITEM_ALL;
		return 0;
	}
	if (find(p.text, bracket, '/') < bracket || find(p.text, p.len, ':') < p.len)
		return mask_parse(item, p, form);
	item->kind = ITEM_RANGES;
	if (form == LNET_ADDR_IP || form == LNET_ADDR_IP4)
		return ip4range_parse(item, p);
	item->nr_parts = 1;
	return numrange_parse(item, 0, p, ~0U);
}

/* "tcp1", or "tcp[1-3]": the type, and expressions of its number. */
static int net_parse(struct lnet_nidlist_item *item, struct parse p)
{
	unsigned int bracket = find(p.text, p.len, '[');
	struct parse nums = p;
	char net[LNET_NIDSTR_SIZE];
	u16 first;

	if (!bracket || bracket >= sizeof(net) || (p.text[0] >= '0' && p.text[0] <= '9'))
		return -EINVAL;
	memcpy(net, p.text, bracket);
	net[bracket] = '\0';
	if (lnet_net_parse(&item->net, net))
		return -EINVAL;
	if (bracket == p.len)
		return 0;
	if (lnet_net_num(item->net) || item->net == lnet_nid_net(&LNET_NID_LO))
		return -EINVAL;
	first = item->first[0];
	nums.text += bracket;
	nums.len -= bracket;
	if (numrange_parse(item, 0, nums, 0xffff))
		return -EINVAL;
	item->first_net = item->first[0];
	item->nr_nets = item->nr[0];
	item->first[0] = first;
	item->nr[0] = 0;
	return 0;
}

static int item_parse(struct lnet_nidlist_item *item, struct parse p)
{
	struct parse addr = cut(&p, '@');

	if (net_parse(item, p))
		return -EINVAL;
	return addr_parse(item, addr, lnet_net_addr_form(item->net));
}

static int items_parse(struct parse p)
{
	while (p.len) {
		struct parse item = cut(&p, ' ');

		if (item.len && item_parse(&p.list->items[p.list->nr++], item))
			return -EINVAL;
	}
	return p.list->nr ? 0 : -EINVAL;
}

/*
 * Each item has a separator before it, each expression one of its own, its bracket or its item's:
 * so many are enough.
 */
static int room_alloc(struct lnet_nidlist *list, const char *text, unsigned int len)
{
	unsigned int nr_items = count(text, len, ' ') + 1;
	unsigned int nr_exprs = nr_items + count(text, len, '.') + count(text, len, ',') +
				count(text, len, '[');

	list->items = kvzalloc(nr_items * sizeof(*list->items) + nr_exprs * sizeof(*list->exprs),
			      GFP_NOFS);
	if (!list->items)
		return -ENOMEM;
	list->exprs = (struct lnet_nidlist_expr *)(list->items + nr_items);
	return 0;
}

int lnet_nidlist_parse(struct lnet_nidlist *list, const char *text)
{
	unsigned int nr_exprs = 0;
	struct parse p = { .text = text, .list = list, .nr_exprs = &nr_exprs };
	int rc;

	memset(list, 0, sizeof(*list));
	while (p.len <= LNET_NIDLIST_TEXT_MAX && text[p.len])
		p.len++;
	if (p.len > LNET_NIDLIST_TEXT_MAX)
		return -EINVAL;
	rc = room_alloc(list, p.text, p.len);
	if (!rc)
		rc = items_parse(p);
	list->nr_exprs = nr_exprs;
	if (rc)
		lnet_nidlist_free(list);
	return rc;
}

void lnet_nidlist_free(struct lnet_nidlist *list)
{
	kvfree(list->items);
	memset(list, 0, sizeof(*list));
}

static bool exprs_match(const struct lnet_nidlist_expr *expr, unsigned int nr, u32 value)
{
	for (; nr; nr--, expr++)
		if (value >= expr->lo && value <= expr->hi &&
		    (value - expr->lo) % expr->stride == 0)
			return true;
	return false;
}

static bool ranges_match(const struct lnet_nidlist *list, const struct lnet_nidlist_item *item,
			 const struct lnet_nid *nid)
{
	u32 addr = be32_to_cpu(nid->addr[0]);
	unsigned int part;

	if (nid->size)
		return false;
	if (item->nr_parts == 1)
		return exprs_match(list->exprs + item->first[0], item->nr[0], addr);
	for (part = 0; part < 4; part++)
		if (!exprs_match(list->exprs + item->first[part], item->nr[part],
				 (addr >> (24 - 8 * part)) & 0xff))
			return false;
	return true;
}

static bool mask_match(const struct lnet_nidlist_item *item, const struct lnet_nid *nid)
{
	const u8 *ip = (const u8 *)nid->addr;
	unsigned int whole = item->bits / 8, rest = item->bits % 8;

	if (nid->size != (item->large ? LNET_NID_SIZE_MAX : 0) || memcmp(ip, item->ip, whole))
		return false;
	return !rest || !((ip[whole] ^ item->ip[whole]) >> (8 - rest));
}

static bool item_match(const struct lnet_nidlist *list, const struct lnet_nidlist_item *item,
		       const struct lnet_nid *nid)
{
	switch (item->kind) {
	case ITEM_ALL:
		return true;
	case ITEM_MASK:
		return mask_match(item, nid);
	default:
		return ranges_match(list, item, nid);
	}
}

static bool net_match(const struct lnet_nidlist *list, const struct lnet_nidlist_item *item,
		      u32 net)
{
	if (!item->nr_nets)
		return item->net == net;
	return lnet_net_type(item->net) == lnet_net_type(net) &&
	       exprs_match(list->exprs + item->first_net, item->nr_nets, lnet_net_num(net));
}

bool lnet_nidlist_match(const struct lnet_nidlist *list, const struct lnet_nid *nid)
{
	const struct lnet_nidlist_item *item = list->items;
	u32 net = lnet_nid_net(nid);
	unsigned int i;

	if (lnet_nid_is_any(nid))
		return false;
	for (i = 0; i < list->nr; i++, item++)
		if (net_match(list, item, net) && item_match(list, item, nid))
			return true;
	return false;
}

bool lnet_nidlist_same(const struct lnet_nidlist *a, const struct lnet_nidlist *b)
{
	if (a->nr != b->nr || a->nr_exprs != b->nr_exprs)
		return false;
	return !a->nr || (!memcmp(a->items, b->items, a->nr * sizeof(*a->items)) &&
			  !memcmp(a->exprs, b->exprs, a->nr_exprs * sizeof(*a->exprs)));
}
