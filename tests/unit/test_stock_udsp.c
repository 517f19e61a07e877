/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selection policies by ioctl: the words of their patterns, and the requests of our tool to a stock
 * module. Here the module is a table that stores policies.
 */
#include <linux/netlink.h>
#include <uapi/lnet_ioctl.h>
#include "names/names.h"
#include "utils/lib/client.h"
#include "unit.h"
#include "no_family.h"

#define SRC 0x00435253u	/* in their order in memory */
#define DST 0x00545344u
#define RTE 0x00455452u

/* ---- words ----------------------------------------------------------------------------------- */

static const struct {
	const char *text[LNET_NR_UDSP_ENDS];
	u32 words[40];
	unsigned int nr;
	const char *again;	/* text[0] as it is returned, if different */
} rows[] = {
	{ { "tcp", "", "" }, { SRC, 0, 2, 0, DST, 0, 0, 0, RTE, 0, 0, 0 }, 12, NULL },
	{ { "tcp[1-3/2,9]", "", "" },
	  { SRC, 0, 2, 2, 1, 3, 2, 9, 9, 1, DST, 0, 0, 0, RTE, 0, 0, 0 }, 18, NULL },
	{ { "10.5.*.[1-9]@tcp7", "", "" },
	  { SRC, 4, 2, 1, 7, 7, 1, 1, 10, 10, 1, 1, 5, 5, 1, 1, 0, 255, 1, 1, 1, 9, 1,
	    DST, 0, 0, 0, RTE, 0, 0, 0 }, 31, NULL },
	{ { "10.16.0.0/12@tcp", "", "" },
	  { SRC, 4, 2, 0, 1, 10, 10, 1, 1, 16, 31, 1, 1, 0, 255, 1, 1, 0, 255, 1,
	    DST, 0, 0, 0, RTE, 0, 0, 0 }, 28, "10.[16-31].*.*@tcp" },
	{ { "*@tcp", "", "" },
	  { SRC, 4, 2, 0, 1, 0, 255, 1, 1, 0, 255, 1, 1, 0, 255, 1, 1, 0, 255, 1,
	    DST, 0, 0, 0, RTE, 0, 0, 0 }, 28, "*.*.*.*@tcp" },
	{ { "", "[4-7]@gni", "9@gni1" },
	  { SRC, 0, 0, 0, DST, 1, 13, 0, 1, 4, 7, 1, RTE, 1, 13, 1, 1, 1, 1, 1, 9, 9, 1 }, 23,
	  NULL },
};

static void test_words(void)
{
	u32 words[LNET_UDSP_WORDS];
	unsigned int i, e;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_udsp_rule rule = { .priority = 0 }, back = rule;
		const char *name = rows[i].text[0][0] ? rows[i].text[0] : rows[i].text[1];

		for (e = 0; e < LNET_NR_UDSP_ENDS; e++)
			strcpy(rule.text[e], rows[i].text[e]);
		UNIT_EQUAL(lnet_udsp_words(&rule, words), rows[i].nr, name);
		UNIT_EQUAL(memcmp(words, rows[i].words, rows[i].nr * sizeof(u32)), 0, name);
		UNIT_EQUAL(lnet_udsp_unwords(&back, rows[i].words, rows[i].nr), 0, name);
		UNIT_TEXT(back.text[0], rows[i].again ? rows[i].again : rows[i].text[0], name);
		UNIT_TEXT(back.text[1], rows[i].text[1], name);
		UNIT_TEXT(back.text[2], rows[i].text[2], name);
		for (e = 0; e < rows[i].nr; e++)
			UNIT_EQUAL(lnet_udsp_unwords(&back, rows[i].words, e), -EINVAL, name);
	}
}

static void test_none(void)
{
	struct lnet_udsp_rule rule = { .text = { "2001:db8::/32@tcp" } };
	u32 words[LNET_UDSP_WORDS], i;

	UNIT_EQUAL(lnet_udsp_words(&rule, words), -EOPNOTSUPP, "IPv6 has no words");
	strcpy(rule.text[0], "10.5@tcp");
	UNIT_EQUAL(lnet_udsp_words(&rule, words), -EINVAL, "no pattern");
	memcpy(words, rows[2].words, rows[2].nr * sizeof(u32));
	words[1] = 5;
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, rows[2].nr), -EINVAL, "five expressions");
	words[1] = 4;
	words[2] = 77;
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, rows[2].nr), -EINVAL, "no such net");
	words[2] = 2;
	words[3] = ~0U;
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, rows[2].nr), -EINVAL, "ranges without end");
	words[3] = 1;
	words[7] = 0;
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, rows[2].nr), -EINVAL, "an empty expression");
	words[0] = DST;
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, rows[2].nr), -EINVAL, "another end");
	memcpy(words, (const u32 []){ SRC, 0, 2, 50 }, 4 * sizeof(u32));
	for (i = 0; i < 50; i++)
		memcpy(words + 4 + 3 * i, (const u32 []){ 100 + i, 200, 3 }, 3 * sizeof(u32));
	UNIT_EQUAL(lnet_udsp_unwords(&rule, words, 154), -E2BIG, "longer than a text may be");
}

/* ---- a stock module -------------------------------------------------------------------------- */

static struct {
	struct stock stock;
	struct {
		struct lnet_ioc_udsp u;
		u8 bulk[512];
	} rule[4];
	int nr, err;
	unsigned long code;
	struct lnet_ioc_udsp asked;
} module;

static int module_get(struct lnet_ioc_udsp *u, bool size_only)
{
	int idx = u->idx;

	if (idx < 0 || idx >= module.nr)
		return -ENOENT;
	if (size_only) {
		u->idx = (s32)(sizeof(*u) + module.rule[idx].u.bulk_size);
		return 0;
	}
	if (u->bulk_size != module.rule[idx].u.bulk_size)
		return -ENOSPC;
	memcpy((void *)(uintptr_t)u->bulk, module.rule[idx].bulk, module.rule[idx].u.bulk_size);
	u->action = module.rule[idx].u.action;
	u->priority = module.rule[idx].u.priority;
	return 0;
}

static int module_ask(void *arg, unsigned long code, void *buf)
{
	struct lnet_ioc_udsp *u = buf;

	module.code = code;
	module.asked = *u;
	if (module.err)
		return module.err;
	switch (code & 0xff) {
	case 105:
		if (u->hdr.len != sizeof(*u) + u->bulk_size || u->bulk != (uintptr_t)(u + 1))
			return -EINVAL;
		CU_ASSERT_FATAL(module.nr < 4 && u->bulk_size <= sizeof(module.rule[0].bulk));
		module.rule[module.nr].u = *u;
		memcpy(module.rule[module.nr++].bulk, (void *)(uintptr_t)u->bulk, u->bulk_size);
		return 0;
	case 106:
		module.nr = u->idx < 0 ? 0 : module.nr;
		return u->idx < module.nr ? 0 : -ENOENT;
	case 107:
		return module_get(u, true);
	default:
		return module_get(u, false);
	}
}

static struct lnetctl *module_open(void)
{
	struct lnetctl *c = lnetctl_open_local(no_family_ask, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	memset(&module, 0, sizeof(module));
	module.stock.ask = module_ask;
	c->stock = &module.stock;
	return c;
}

static void shows(struct lnetctl *c, int64_t idx, const char *want, const char *what)
{
	struct lnetctl_node *doc;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	CU_ASSERT_EQUAL_FATAL(lnetctl_udsp_show(c, idx, &doc), 0);
	lnetctl_print(doc, LNETCTL_HAND, out);
	fclose(out);
	UNIT_TEXT(text, want, what);
	free(text);
	lnetctl_doc_free(doc);
}

static void test_add(void)
{
	static const struct lnetctl_udsp rules[] = {
		{ .idx = LNETCTL_UNSET, .src = "10.5.*.[1-9]@tcp7", .priority = 3 },
		{ .idx = 0, .src = "tcp", .dst = "10.5.0.7@tcp", .priority = LNETCTL_UNSET },
		{ .idx = LNETCTL_UNSET, .dst = "tcp", .priority = LNETCTL_UNSET },
		{ .idx = LNETCTL_UNSET, .dst = "tcp", .rte = "tcp1", .priority = LNETCTL_UNSET },
	};
	struct lnetctl *c = module_open();

	UNIT_EQUAL(lnetctl_udsp_add(c, &rules[0]), 0, "a priority");
	UNIT_EQUAL(module.code, 0xc0b86569, "105");
	UNIT_EQUAL(module.asked.hdr.len, 32 + rows[2].nr * 4, "length, with the words");
	UNIT_EQUAL(module.asked.hdr.version, 0x0001000b, "version");
	UNIT_EQUAL(module.asked.idx, -1, "the last");
	UNIT_EQUAL(module.asked.action, 1, "a priority");
	UNIT_EQUAL(module.asked.priority, 3, "a priority");
	UNIT_EQUAL(module.asked.bulk_size, rows[2].nr * 4, "bytes");
	UNIT_EQUAL(memcmp(module.rule[0].bulk, rows[2].words, rows[2].nr * 4), 0, "words");
	UNIT_EQUAL(lnetctl_udsp_add(c, &rules[1]), 0, "a preference");
	UNIT_EQUAL(module.asked.idx, 0, "the first");
	UNIT_EQUAL(module.asked.action, 2, "a preference");
	UNIT_EQUAL(module.asked.hdr.len, 32 + 28 * 4, "length, with the words");
	shows(c, -1, "udsp:\n    - idx: 0\n      src: 10.5.*.[1-9]@tcp7\n      action:\n"
	      "          priority: 3\n    - idx: 1\n      src: tcp\n      dst: 10.5.0.7@tcp\n",
	      "all of them");
	shows(c, 1, "udsp:\n    - idx: 1\n      src: tcp\n      dst: 10.5.0.7@tcp\n", "one");
	UNIT_EQUAL(lnetctl_udsp_add(c, &rules[2]), 0, "one end without a priority");
	UNIT_EQUAL(module.asked.action, 1, "has the best one, as by stock's tool");
	UNIT_EQUAL(module.asked.priority, 0, "has the best one, as by stock's tool");
	UNIT_EQUAL(lnetctl_udsp_add(c, &rules[3]), 0, "routers");
	UNIT_EQUAL(module.asked.action, 2, "are a preference");
	UNIT_EQUAL(lnetctl_udsp_del(c, 7), -ENOENT, "one that is not there");
	UNIT_TEXT(lnetctl_error(c)->text, "there is no rule with the index 7", "words");
	UNIT_EQUAL(lnetctl_udsp_del(c, -1), 0, "all go");
	UNIT_EQUAL(module.code, 0xc0b8656a, "106");
	shows(c, -1, "", "nothing");
	lnetctl_close(c);
}

static void test_refused(void)
{
	static const struct {
		struct lnetctl_udsp rule;
		int err;
		const char *text;
	} bad[] = {
		{ { .src = "10.5@tcp" }, -EINVAL, "invalid value '10.5@tcp' for key 'src'" },
		{ { .dst = "1.2.3.4@tcp 1.2.3.5@tcp" }, -EINVAL,
		  "invalid value '1.2.3.4@tcp 1.2.3.5@tcp' for key 'dst'" },
		{ { .src = "2001:db8::/32@tcp" }, -EOPNOTSUPP,
		  "stock LNet does not support selection policies for '2001:db8::/32@tcp'" },
		{ { .src = "tcp", .rte = "tcp1", .priority = LNETCTL_UNSET }, -EINVAL,
		  "src and rte cannot be combined" },
		{ { .src = "tcp", .dst = "o2ib", .rte = "gni", .priority = LNETCTL_UNSET }, -EINVAL,
		  "src and rte cannot be combined" },
	};
	struct lnetctl *c = module_open();
	struct lnetctl_node *doc;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		UNIT_EQUAL(lnetctl_udsp_add(c, &bad[i].rule), bad[i].err, "refused");
		UNIT_TEXT(lnetctl_error(c)->text, bad[i].text, "words");
	}
	UNIT_EQUAL(module.code, 0, "before the module is asked");
	UNIT_EQUAL(lnetctl_udsp_add(c, &(struct lnetctl_udsp){ .src = "tcp" }), 0, "one");
	UNIT_EQUAL(module.asked.hdr.len, 80, "length of a policy for one net");
	UNIT_EQUAL(module.asked.bulk_size, 48, "and of its words");
	module.rule[0].bulk[0] = 'X';
	UNIT_EQUAL(lnetctl_udsp_show(c, -1, &doc), -EPROTO, "an end that is none");
	module.rule[0].bulk[0] = 'S';
	module.rule[0].u.bulk_size = 4;
	UNIT_EQUAL(lnetctl_udsp_show(c, -1, &doc), -EPROTO, "cut off");
	module.err = -EACCES;
	UNIT_EQUAL(lnetctl_udsp_show(c, -1, &doc), -EACCES, "not root");
	module.err = -EALREADY;
	UNIT_EQUAL(lnetctl_udsp_add(c, &(struct lnetctl_udsp){ .src = "tcp" }), -EALREADY, "twice");
	UNIT_TEXT(lnetctl_error(c)->text, "this rule is there already", "words");
	lnetctl_close(c);
}

UNIT_SUITE(stock_udsp, { "patterns as words, and back", test_words },
	   { "what has no words, and words that are none", test_none },
	   { "rules are added, shown and deleted", test_add },
	   { "what is refused, and what a module says wrongly", test_refused })
