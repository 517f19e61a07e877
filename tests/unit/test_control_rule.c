/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/control_rule.c and utils/lib/ctl_rule.c: rules over the management protocol. */
#include "ctl_world.h"
#include "lnet/rule.h"

/* A flow mapping as a document, to free. */
static struct lnetctl_node *doc_of(const char *text)
{
	struct lnetctl_node *doc;
	char why[200];
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	CU_ASSERT_EQUAL_FATAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), 0);
	fclose(in);
	return doc;
}

static int add(struct world *w, const char *text)
{
	struct lnetctl_node *rule = doc_of(text);
	int rc = lnetctl_rule_add(w->c, rule);

	lnetctl_doc_free(rule);
	return rc;
}

static int del(struct world *w, const char *text)
{
	struct lnetctl_node *which = doc_of(text);
	int rc = lnetctl_rule_del(w->c, which);

	lnetctl_doc_free(which);
	return rc;
}

static const struct {
	const char *rule;
	int rc;
	const char *text;
} adds[] = {
	{ "kind: drop", 0, NULL },
	{ "{ kind: drop, permille: 5, name: a }", 0, NULL },
	{ "{ kind: drop, permille: 5, name: a }", -EEXIST, "a rule has the name 'a' already" },
	{ "permille: 5", -EINVAL, "'kind' is missing" },
	{ "kind: explode", -EINVAL, "'explode' is no kind of fault" },
	{ "kind: [a, b]", -EINVAL, "'a,b' is no kind of fault" },
	{ "{ kind: drop, permille: 1001 }", -EINVAL,
	  "'permille': '1001' must be a number from 0 to 1000" },
	{ "{ kind: drop, permille: }", -EINVAL,
	  "'permille': '' must be a number from 0 to 1000" },
	{ "{ kind: drop, colour: red }", -EINVAL, "'colour' is no parameter of a fault rule" },
	{ "{ kind: drop, delay: 5ms }", -EINVAL, "'delay' is no parameter of 'drop'" },
	{ "{ kind: delay }", -EINVAL, "'delay' needs 'delay'" },
	{ "{ kind: delay, delay: 5 }", -EINVAL,
	  "'delay': '5' has no unit: ns, us, ms, s, m or h" },
	{ "{ kind: partition, left: [ 10.0.0.1@tcp, '*@tcp1' ], right: '*' }", 0, NULL },
	{ "{ kind: cut, id: 77, state: over, matched: 5, hit: 3 }", 0, NULL },
};

static void test_add(void)
{
	struct lnet_rule_info info;
	struct lnet_rule r;
	struct world w;
	unsigned int i;

	ctl_world_begin(&w);
	for (i = 0; i < ARRAY_SIZE(adds); i++) {
		UNIT_EQUAL(add(&w, adds[i].rule), adds[i].rc, adds[i].rule);
		if (adds[i].text)
			CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text, adds[i].text);
	}
	UNIT_EQUAL(lnet_rule_get(w.ln, 3, &r, &info), 0, "the partition");
	UNIT_EQUAL(r.left.nr, 2, "a list");
	UNIT_EQUAL(r.right.nr, 1, "one is a list, too");
	UNIT_EQUAL(lnet_rule_get(w.ln, 4, &r, &info), 0, "the cut");
	UNIT_EQUAL(info.id, 4, "its number is its own");
	UNIT_EQUAL(info.nr_hit, 0, "and its counters");
	for (i = 4; i < LNET_RULES_MAX; i++)
		UNIT_EQUAL(add(&w, "kind: cut"), 0, "many");
	UNIT_EQUAL(add(&w, "kind: cut"), -ENOSPC, "too many");
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text,
			       "there are 256 rules, which is all there may be");
	ctl_world_end(&w);
}

static const struct {
	const char *which;
	int rc;
} dels[] = {
	{ "id: 9", -ENOENT },	{ "id: x", -EINVAL }, { "id: 0", -ERANGE },
	{ "kind: x", -EINVAL }, { "name: x", -ENOENT }, { "{ name: a, kind: cut }", -ENOENT },
	{ "{ name: a, kind: drop }", 0 }, { "id: 2", 0 }, { "kind: cut", 0 }, { "{ }", 0 },
	{ "{ }", -ENOENT },
};

static void test_del(void)
{
	struct world w;
	unsigned int i;

	ctl_world_begin(&w);
	UNIT_EQUAL(add(&w, "{ kind: drop, name: a }"), 0, "1");
	for (i = 0; i < 4; i++)
		UNIT_EQUAL(add(&w, i < 3 ? "kind: cut" : "kind: duplicate"), 0, "2 to 5");
	for (i = 0; i < ARRAY_SIZE(dels); i++)
		UNIT_EQUAL(del(&w, dels[i].which), dels[i].rc, dels[i].which);
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text, "no rule is like that");
	UNIT_EQUAL(lnet_rule_last(w.ln), 0, "none is left");
	ctl_world_end(&w);
}

/* What is exported makes the same rules again. */
static void test_export(void)
{
	static const char *const rules[] = {
		"{ kind: drop, seed: 9, permille: 5, source: 10.0.0.1@tcp, portal: '0,4' }",
		"{ kind: partition, left: 10.0.0.1@tcp, right: '*@tcp1', from: 1500ms }",
		"{ kind: slow, bandwidth: 125000000, burst: 65536 }",
		"{ kind: outcome, seed: 1, outcome: 'local_error,remote_timeout', when: posted }",
	};
	char *first = NULL, *second = NULL;
	struct lnetctl_node *doc;
	struct world w;
	size_t size;
	unsigned int i;
	FILE *out;

	ctl_world_begin(&w);
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		UNIT_EQUAL(add(&w, rules[i]), 0, rules[i]);
	UNIT_EQUAL(lnetctl_rule_show(w.c, NULL, true, &doc), 0, "export");
	out = open_memstream(&first, &size);
	lnetctl_print(doc, LNETCTL_WIDE, out);
	fclose(out);
	UNIT_EQUAL(del(&w, "{ }"), 0, "all");
	UNIT_EQUAL(lnetctl_import(w.c, doc, NULL, LNETCTL_IMPORT_ADD, NULL), 0, "import");
	lnetctl_doc_free(doc);
	UNIT_EQUAL(lnetctl_rule_show(w.c, NULL, true, &doc), 0, "export");
	out = open_memstream(&second, &size);
	lnetctl_print(doc, LNETCTL_WIDE, out);
	fclose(out);
	lnetctl_doc_free(doc);
	CU_ASSERT_STRING_EQUAL(first, second);
	CU_ASSERT_PTR_NOT_NULL(strstr(first, "bandwidth: 125000000"));
	free(first);
	free(second);
	UNIT_EQUAL(lnetctl_rule_show(w.c, "slow", false, &doc), 0, "of a kind");
	CU_ASSERT_STRING_EQUAL(lnetctl_text(lnetctl_find(doc, "faults")->first, "state"), "on");
	CU_ASSERT_PTR_NULL(lnetctl_find(doc, "faults")->first->next);
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* A file of which one rule is wrong changes nothing, and says where. */
static void test_import(void)
{
	struct lnetctl_node *doc = doc_of("faults:\n- kind: cut\n- kind: drop\n  rate: 0\n");
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(add(&w, "kind: duplicate"), 0, "there before");
	UNIT_EQUAL(lnetctl_import(w.c, doc, "f", LNETCTL_IMPORT_ADD, NULL), -EINVAL, "import");
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text,
			       "f line 4: 'rate': '0' must be a number from 1 to 4294967295");
	UNIT_EQUAL(lnet_rule_last(w.ln), 1, "nothing came");
	lnetctl_doc_free(doc);
	doc = doc_of("faults:\n- kind: cut\n- kind: drop\n  name: a\n- { kind: cut, name: a }\n");
	UNIT_EQUAL(lnetctl_import(w.c, doc, "f", LNETCTL_IMPORT_ADD, NULL), -EEXIST, "twice");
	UNIT_EQUAL(lnet_rule_last(w.ln), 1, "what came has gone again");
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

UNIT_SUITE(control_rule, { "dbg-005: rules are added, or refused in words", test_add },
	   { "dbg-005: rules are deleted by number, name and kind", test_del },
	   { "dbg-005: rules are exported as they are imported", test_export },
	   { "dbg-005: a file adds all of its rules or none", test_import })
