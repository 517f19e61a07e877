/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Netlink requests of stock's lst: are they parsed, and do the replies have stock's bytes? */
#include "selftest/stock.h"
#include "unit.h"

static u8 bytes[4096];
static u32 len;

/* Adds an attribute of @size bytes; returns its offset. */
static u32 attr(u16 type, const void *data, u16 size)
{
	u16 total = (u16)(size + 4);
	u32 at = len;

	memcpy(bytes + len, &total, 2);
	memcpy(bytes + len + 2, &type, 2);
	if (size)
		memcpy(bytes + len + 4, data, size);
	memset(bytes + len + total, 0, 3);
	len += (total + 3u) & ~3u;
	return at;
}

static void value(const char *text) { attr(5, text, (u16)(strlen(text) + 1)); }
static void number(s64 num) { attr(6, &num, 8); }
static u32 nest(void) { return attr(0x8001, NULL, 0); }

static void nest_end(u32 at)
{
	u16 total = (u16)(len - at);

	memcpy(bytes + at, &total, 2);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void sessions(void)
{
	struct lst_stock_new req;
	u32 at, i;

	len = 0;
	at = nest();
	value("name");
	value("lab");
	value("timeout");
	number(120);
	nest_end(at);
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, len), 0, "read");
	UNIT_TEXT(req.name, "lab", "name");
	UNIT_EQUAL(req.timeout, 120, "timeout");
	for (i = 0; i < len; i++)
		UNIT_EQUAL(lst_stock_nl_new(&req, bytes, i) <= 0, true, "cut off");
	len = 0;
	value("name");
	number(12345);
	value("...\n");
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, len), 0, "without a list, a name of digits");
	UNIT_TEXT(req.name, "12345", "name");
	UNIT_EQUAL(req.timeout, 0, "none");
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, 0), -EINVAL, "nothing");
	len = 0;
	value("name");
	value("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, len), -EINVAL, "32 bytes");
	len = 0;
	value("timeout");
	number(-1);
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, len), -EINVAL, "less than none");
	for (len = 0, i = 0; i < 300; i++)
		nest();
	UNIT_EQUAL(lst_stock_nl_new(&req, bytes, len), -EINVAL, "empty lists");
}

static void status(const char *text)
{
	u32 at = nest();

	value("status");
	value(text);
	nest_end(at);
}

static void groups(void)
{
	static struct lst_stock_filter filter[LST_STOCK_FILTERS_MAX];
	u32 all, one, list, i;

	len = 0;
	all = nest();
	one = nest();
	value("c");
	list = nest();
	status("Active");
	status("Down");
	nest_end(list);
	nest_end(one);
	one = nest();
	value("s");
	nest_end(one);
	nest_end(all);
	UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, len), 2, "two groups");
	UNIT_TEXT(filter[0].name, "c", "the first");
	UNIT_EQUAL(filter[0].states, 5, "active and down");
	UNIT_TEXT(filter[1].name, "s", "the second");
	UNIT_EQUAL(filter[1].states, 0, "all");
	for (i = 0; i < len; i++)
		UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, i) <= 2, true, "cut off");
	UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, 0), 0, "all groups");
	len = 0;
	value("c");
	status("Asleep");
	UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, len), -EINVAL, "no such state");
	for (len = 0, i = 0; i <= LST_STOCK_FILTERS_MAX; i++)
		value("g");
	UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, len), -E2BIG, "too many");
}

static void garbage(void)
{
	static struct lst_stock_filter filter[LST_STOCK_FILTERS_MAX];
	struct lst_stock_new req;
	u32 seed = 3, i, k;

	for (i = 0; i < 3000; i++) {
		for (k = 0; k < 256; k++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[k] = (u8)(k % 4 ? (seed >> 28) * (seed >> 31) : seed >> 26);
		}
		UNIT_EQUAL(lst_stock_nl_new(&req, bytes, i % 256) <= 0, true, "no errno");
		UNIT_EQUAL(lst_stock_nl_groups(filter, bytes, i % 256) <= 64, true, "no count");
	}
}

/* ---- replies --------------------------------------------------------------------------------- */

static u8 out[2048];

static struct lnet_nlbuf writer(u32 size)
{
	memset(out, 0xee, sizeof(out));
	return (struct lnet_nlbuf){ .buf = out, .size = size, .type = 0x21, .seq = 7,
				      .portid = 9, .cmd = 1, .version = 1 };
}

static void expect(const struct lnet_nlbuf *w, const char *hex, const char *what)
{
	char got[2 * sizeof(out) + 1] = "";
	u32 i;

	for (i = 0; i < w->len; i++)
		snprintf(got + 2 * i, 3, "%02x", w->buf[i]);
	UNIT_TEXT(got, hex, what);
}

static void session_is_shown(void)
{
	struct lst_view_session s = { .sid = { 2ULL << 48 | 0x0a000001u, 4660 }, .key = 5,
				      .nr_nodes = 3, .name = "lab" };
	struct lnet_nlbuf w = writer(sizeof(out));

	lst_stock_nl_session(&w, &s);
	lst_stock_nl_done(&w);
	UNIT_EQUAL(w.full, false, "it fits");
	expect(&w,
	       "e4000000" "21000204" "07000000" "09000000" "01010000"
	       "d0000180"
	       "30000180" "0600020006000000" "0600030001000000" "0c00050073657373696f6e00"
	       "0600070002000000" "060004000a000000"
	       "20000280" "0600030002000000" "090005006e616d6500000000" "0600040005000000"
	       "1c000380" "0600030003000000" "080005006b657900" "0600040003000000"
	       "24000480" "0600030004000000" "0e00050074696d657374616d70000000"
	       "060004000f000000"
	       "1c000580" "0600030005000000" "080005006e696400" "0600040005000000"
	       "20000680" "0600030006000000" "0a0005006e6f646573000000" "0600040002000000"
	       "54000000" "21000200" "07000000" "09000000" "01010000"
	       "0500010000000000" "080002006c616200" "0800030005000000"
	       "0c0004003412000000000000" "11000500" "31302e302e302e314074637000000000"
	       "0600060003000000"
	       "14000000" "03000200" "07000000" "09000000" "00000000", "a session and its end");
	w = writer(200);
	lst_stock_nl_session(&w, &s);
	UNIT_EQUAL(w.full && w.len <= 200, true, "no room for the second message");
	UNIT_EQUAL(w.buf[200], 0xee, "nothing behind the end");
}

static void groups_are_shown(void)
{
	struct {
		struct lst_view_group group;
		struct lst_view_node node[2];
	} g = { .group = { .name = "c", .nr = 2 },
		.node = { { .id.pid = 12345, .state = 1 }, { .id.pid = 12345, .state = 4 } } };
	struct lnet_nlbuf w = writer(sizeof(out));
	u32 table;

	lnet_nid_parse(&g.node[0].id.nid, "10.0.0.1@tcp");
	lnet_nid_parse(&g.node[1].id.nid, "10.0.0.2@tcp");
	lst_stock_nl_group_table(&w);
	table = w.len;
	lst_stock_nl_group(&w, &g.group, g.node, 4, true);
	w.buf += table;
	w.len -= table;
	expect(&w,
	       "50000000" "21000200" "07000000" "09000000" "01010000"
	       "0500010000000000" "0600020063000000"
	       "2c000380" "28000180"
	       "17000100" "31323334352d31302e302e302e324074637000" "00"
	       "0900020044" "6f776e00000000", "one of two nodes");
	w = writer(sizeof(out));
	lst_stock_nl_group(&w, &g.group, NULL, 0, false);
	expect(&w, "1c000000" "21000200" "07000000" "09000000" "01010000" "0600020063000000",
	       "the name");
	w = writer(100);
	lst_stock_nl_group(&w, &g.group, g.node, 0, true);
	UNIT_EQUAL(w.full && !w.len && out[100] == 0xee, true, "left out as a whole");
}

UNIT_SUITE(ststocknl,
	   { "a session is asked for", sessions },
	   { "groups are asked for", groups },
	   { "garbage", garbage },
	   { "a session is shown", session_is_shown },
	   { "groups are shown", groups_are_shown })
