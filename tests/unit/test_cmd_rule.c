/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/control/cmd_rule.c and utils/lib/ctl_rule.c: rules over the management protocol. */
#include "ctl_world.h"
#include "lnet/fault/fault.h"

/* Reads a flow mapping as a document, which the caller frees. */
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
	{ "{ kind: drop, permille: 5, name: a }", -EEXIST,
	  "a fault rule with the name 'a' already exists" },
	{ "permille: 5", -EINVAL, "'kind' is missing" },
	{ "kind: explode", -EINVAL, "'explode' is not a kind of fault rule" },
	{ "kind: [a, b]", -EINVAL, "'a,b' is not a kind of fault rule" },
	{ "{ kind: drop, permille: 1001 }", -EINVAL, "'permille' must be 0 to 1000, not '1001'" },
	{ "{ kind: drop, permille: }", -EINVAL, "'permille' must be 0 to 1000, not ''" },
	{ "{ kind: drop, colour: red }", -EINVAL, "'colour' is not a parameter of a fault rule" },
	{ "{ kind: drop, delay: 5ms }", -EINVAL,
	  "'delay' is not a parameter of 'drop', which has name source dest local_nid message "
	  "portal "
	  "at rate interval permille count seed from to period duty" },
	{ "{ kind: delay }", -EINVAL, "a rule of kind 'delay' needs 'delay'" },
	{ "{ kind: delay, delay: 5 }", -EINVAL,
	  "'delay' must be 1ns to 24h, with a unit (ns, us, ms, s, m or h), not '5'" },
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
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text, "more fault rules than allowed (256)");
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
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text, "no matching rule");
	UNIT_EQUAL(lnet_rule_last(w.ln), 0, "none is left");
	ctl_world_end(&w);
}

/* Exported rules that are imported again are the same rules. */
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
	UNIT_EQUAL(lnetctl_import(w.c, FILE_OF(doc, NULL), LNETCTL_IMPORT_ADD, NULL), 0, "import");
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

/* If one rule of a file is wrong, nothing changes, and the error contains line and column. */
static void test_import(void)
{
	struct lnetctl_node *doc = doc_of("faults:\n- { kind: cut, source: '*' }\n- kind: drop\n"
					  "  rate: 0\n");
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(add(&w, "kind: duplicate"), 0, "there before");
	UNIT_EQUAL(lnetctl_import(w.c, FILE_OF(doc, "f"), LNETCTL_IMPORT_ADD, NULL),
		   -EINVAL, "import");
	CU_ASSERT_STRING_EQUAL(lnetctl_error(w.c)->text, "f line 4 column 3: "
							 "'rate' must be 1 to 4294967295, not '0'");
	UNIT_EQUAL(lnet_rule_last(w.ln), 1, "nothing came");
	lnetctl_doc_free(doc);
	doc = doc_of("faults:\n- { kind: cut, dest: '*' }\n- { kind: drop, source: '*', name: a }\n"
		     "- { kind: cut, source: '*', name: a }\n");
	UNIT_EQUAL(lnetctl_import(w.c, FILE_OF(doc, "f"), LNETCTL_IMPORT_ADD, NULL),
		   -EEXIST, "twice");
	UNIT_EQUAL(lnet_rule_last(w.ln), 1, "what came has gone again");
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Returns the text of a plan, or the error, for free(). Checks that the plan changes nothing. */
static char *plan(struct world *w, const char *text)
{
	struct lnetctl_node *doc = doc_of(text), *todo;
	u32 last = lnet_rule_last(w->ln);
	char *said = NULL;
	size_t size;
	FILE *out = open_memstream(&said, &size);

	if (lnetctl_plan(w->c, FILE_OF(doc, "f"), &todo))
		fputs(lnetctl_error(w->c)->text, out);
	else
		lnetctl_print(todo, LNETCTL_HAND, out);
	fclose(out);
	UNIT_EQUAL(lnet_rule_last(w->ln), last, "a plan changes nothing");
	lnetctl_doc_free(todo);
	lnetctl_doc_free(doc);
	return said;
}

#define HAS	"faults:\n- { kind: cut, source: 10.0.0.1, to: 3600s, seed: 1 }\n"	\
		"- { kind: partition, left: [ 10.0.0.1@tcp, '*@tcp1' ], right: '*', name: p }\n"
#define DROP	"        - kind: drop\n          source: '*'\n          rate: 5\n"	\
		"          seed: 7\n"

static const struct {
	const char *file, *said;
} plans[] = {
	{ HAS, "" },
	{ "faults:\n- { name: p, kind: partition, right: '*', left: '10.0.0.1@tcp,*@tcp1' }\n"
	  "- { kind: cut, id: 9, state: over, seed: 01, to: 60m, source: 10.0.0.1@tcp }\n",
	  "" },
	{ HAS "- { kind: drop, source: '*', rate: 05, seed: 7 }\n", "add:\n    faults:\n" DROP },
	{ "faults:\n- { kind: partition, left: '10.0.0.1@tcp,*@tcp1', right: '*', name: p }\n"
	  "- { kind: drop, source: '*', rate: 5, seed: 7 }\n",
	  "del:\n    faults:\n        - id: 1\n          kind: cut\n"
	  "          source: 10.0.0.1@tcp\n          seed: 1\n          to: 1h\n"
	  "add:\n    faults:\n" DROP },
	{ "faults:\n- 5\n", "f line 2 column 3: each fault rule must be a mapping" },
	{ "faults: 5\n", "f line 1 column 1: 'faults' must be a sequence" },
	{ "faults:\n- rate: 5\n", "f line 2 column 3: 'kind' is missing" },
	{ "faults:\n- { kind: cut, source: '*' }\n- kind: explode\n",
	  "f line 3 column 3: 'explode' is not a kind of fault rule" },
	{ "faults:\n- kind: cut\n  rate: 0\n",
	  "f line 3 column 3: 'rate' must be 1 to 4294967295, not '0'" },
	{ "faults:\n- kind: cut\n  rate: { a: 1 }\n",
	  "f line 3 column 3: the value of 'rate' must be one value or a short list" },
	{ "faults:\n- kind: delay\n  rate: 5\n",
	  "f line 2 column 3: a rule of kind 'delay' needs 'delay'" },
};

static void test_plan(void)
{
	struct lnetctl_node *doc = doc_of(HAS);
	struct world w;
	unsigned int i;
	char *said;

	ctl_world_begin(&w);
	UNIT_EQUAL(lnetctl_import(w.c, FILE_OF(doc, "f"), LNETCTL_IMPORT_ADD, NULL),
		   0, "what there is");
	for (i = 0; i < ARRAY_SIZE(plans); i++) {
		said = plan(&w, plans[i].file);
		UNIT_TEXT(said, plans[i].said, plans[i].file);
		free(said);
	}
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

/* Rules that stay keep their number and counters; a failed apply restores the rules it deleted. */
static void test_apply(void)
{
	static const char new[] = "faults:\n- { kind: duplicate, source: '*', count: 3 }\n"
				  "- { kind: cut, source: '*', seed: 9, permille: 10 }\n";
	static const char bad[] = "faults:\n- { kind: duplicate, source: '*', count: 3 }\n"
				  "- { kind: cut, source: '*', name: a }\n"
				  "- { kind: cut, source: '*', name: a }\n";
	struct lnetctl_node *doc = doc_of(new), *wrong = doc_of(bad), *none = doc_of("faults:\n");
	struct lnetctl_file empty = { .flags = LNETCTL_FILE_EMPTY };
	struct lnet_rule_info info;
	struct lnet_rule r;
	struct world w;

	ctl_world_begin(&w);
	UNIT_EQUAL(add(&w, "{ kind: reorder, delay: 5ms }"), 0, "1: goes");
	UNIT_EQUAL(add(&w, "{ kind: duplicate, count: 3 }"), 0, "2: stays");
	UNIT_EQUAL(lnetctl_apply(w.c, FILE_OF(wrong, "f"), NULL),
		   -EEXIST, "the name is there twice");
	UNIT_EQUAL(lnet_rule_get(w.ln, 1, &r, &info), 0, "it is back");
	UNIT_EQUAL(info.id, 1, "with its number");
	UNIT_EQUAL(r.kind, LNET_RULE_K_REORDER, "as it was");
	UNIT_EQUAL(lnet_rule_last(w.ln), 2, "and what came is gone");
	UNIT_EQUAL(lnetctl_apply(w.c, FILE_OF(doc, "f"), NULL), 0, "it is so");
	UNIT_EQUAL(lnet_rule_get(w.ln, 1, &r, &info), 0, "what stays");
	UNIT_EQUAL(info.id, 2, "has its number");
	UNIT_EQUAL(lnet_rule_get(w.ln, 3, &r, &info), 0, "what is new");
	UNIT_EQUAL(r.permille, 10, "is as the file says");
	UNIT_EQUAL(lnetctl_import(w.c, FILE_OF(doc, "f"), LNETCTL_IMPORT_DEL, NULL),
		   -EINVAL, "no name");
	UNIT_TEXT(
		lnetctl_error(w.c)->text,
		"f line 2 column 3: to delete a fault rule, the file must have its 'name' or 'id'",
		"it says so");
	UNIT_EQUAL(lnetctl_apply(w.c, FILE_OF(none, "f"), NULL), -ENODATA, "an empty section");
	UNIT_TEXT(lnetctl_error(w.c)->text, "f: the file has no sections; with --empty, "
		  "it deletes all interfaces, peers and routes", "it names the remedy");
	UNIT_EQUAL(lnet_rule_last(w.ln), 4, "and deletes nothing");
	empty.doc = none;
	UNIT_EQUAL(lnetctl_apply(w.c, &empty, NULL), 0, "one that is meant");
	UNIT_EQUAL(lnet_rule_last(w.ln), 0, "is none");
	lnetctl_doc_free(none);
	lnetctl_doc_free(wrong);
	lnetctl_doc_free(doc);
	ctl_world_end(&w);
}

UNIT_SUITE(cmd_rule, { "dbg-005: rules are added, or refused in words", test_add },
	   { "dbg-005: rules are deleted by number, name and kind", test_del },
	   { "dbg-005: rules are exported as they are imported", test_export },
	   { "dbg-005: a file adds all of its rules or none", test_import },
	   { "dbg-005: a plan names the rules that differ, in whatever words", test_plan },
	   { "dbg-005: an apply makes the rules be as the file says, or undoes it", test_apply })
