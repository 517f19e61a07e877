/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Documents of liblnetctl: read from YAML, printed as YAML and JSON. */
#include "utils/lib/client.h"
#include "unit.h"

static void print_equal(const struct lnetctl_node *doc, enum lnetctl_style style, const char *want,
			const char *name)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (doc)
		lnetctl_print(doc, style, out);
	fclose(out);
	if (strcmp(text, want)) {
		UNIT_TEXT(text, want, name);
	} else {
		CU_PASS("printed the same");
	}
	free(text);
}

/* A document that was read prints as the same text, in the layout of that text. */
static void test_yaml_roundtrip(void)
{
	static const struct { enum lnetctl_style style; const char *text;
	} rows[] = {
		{ LNETCTL_WIDE,
		  "net:\n-     net type: tcp\n      local NI(s):\n      -     nid: 10.0.0.1@tcp\n"
		  "            interfaces:\n                  0: eth0\n" },
		{ LNETCTL_NARROW, "manage:\n- ping:\n  errno: -113\n  nids:\n  - a\n  - b\n" },
		{ LNETCTL_HAND, "udsp:\n    - idx: 0\n      action:\n          priority: 1\n" },
		{ LNETCTL_WIDE,
		  "a: '*@tcp'\nb: 'x: y'\nc: 'it''s: '\nd: '#'\ne: <?>\nf: fd00::1@tcp\n" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		FILE *in = fmemopen((void *)rows[i].text, strlen(rows[i].text), "r");
		struct lnetctl_node *doc;
		char why[100] = "";

		UNIT_EQUAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), 0, why);
		fclose(in);
		print_equal(doc, rows[i].style, rows[i].text, "round trip");
		lnetctl_doc_free(doc);
	}
}

static void test_yaml_refused(void)
{
	static const char *const rows[] = {
		"a: &x 1\nb: *x", "- a", "a", "a: [", "a: 1\na: 2", "[a]: b", "a: *tcp", "\ta: 1",
		"a: 1\n---\nb: 2", "a: !!str 5", "a: !x {}", "a: !x []", "a: \"b\\0c\"",
		"a: [[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]",
	};
	struct lnetctl_node *doc;
	unsigned int i;
	char why[100];

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		FILE *in = fmemopen((void *)rows[i], strlen(rows[i]), "r");

		why[0] = 0;
		UNIT_EQUAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), -EINVAL, rows[i]);
		CU_ASSERT_PTR_NULL(doc);
		CU_ASSERT(why[0]);
		fclose(in);
	}
}

/* Reading stops at the nesting limit: libyaml's time grows with the square of the depth. */
static void test_yaml_deep(void)
{
	char text[4096], why[100];
	FILE *in = fmemopen(text, sizeof(text), "r");
	struct lnetctl_node *doc;

	memset(text, '[', sizeof(text));
	UNIT_EQUAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), -EINVAL, "deep");
	CU_ASSERT_STRING_EQUAL(why, "line 1 column 18: mappings and lists are nested too deeply");
	fclose(in);
}

static void test_json(void)
{
	struct lnetctl_node *doc = lnetctl_add_map(NULL, NULL), *seq = lnetctl_add_seq(doc, "a");

	lnetctl_add_num(seq, NULL, -1);
	lnetctl_add_text(seq, NULL, "\"[0,1]\"");
	lnetctl_add_text(seq, NULL, "say \"x\"\n");
	lnetctl_add(doc, "b", LNETCTL_NULL, NULL);
	lnetctl_add(doc, "c", LNETCTL_BOOL, "true");
	lnetctl_add_map(doc, "d");
	print_equal(doc, LNETCTL_JSON,
		    "{\n  \"a\": [\n    -1,\n    \"[0,1]\",\n    \"say \\\"x\\\"\\n\"\n  ],\n"
		    "  \"b\": null,\n  \"c\": true,\n  \"d\": {}\n}\n",
		    "json");
	lnetctl_doc_free(doc);
}

/* Values longer than the printer writes at once, and values with a meaning in YAML or JSON. */
static void test_words(void)
{
	static const struct {
		const char *text, *yaml, *json;
	} rows[] = {
		{ "\"[0,1]\"", "\"[0,1]\"", "\"[0,1]\"" },
		{ "\"eth0\"", "'\"eth0\"'", "\"\\\"eth0\\\"\"" },
		{ "\"[\"x]\"", "'\"[\"x]\"'", "\"\\\"[\\\"x]\\\"\"" },
		{ "it's", "it's", "\"it's\"" },
		{ "null", "'null'", "\"null\"" },
		{ "no", "'no'", "\"no\"" },
		{ "-7", "'-7'", "\"-7\"" },
		{ "0x1f", "'0x1f'", "\"0x1f\"" },
		{ "-x", "-x", "\"-x\"" },
		{ "a\tb\n\x7f", "\"a\\u0009b\\n\\u007f\"", "\"a\\u0009b\\n\\u007f\"" },
		{ "back\\slash", "back\\slash", "\"back\\\\slash\"" },
	};
	struct lnetctl_node *doc;
	char want[50200], word[50000];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		doc = lnetctl_add_map(NULL, NULL);
		lnetctl_add_text(doc, "k", rows[i].text);
		snprintf(want, sizeof(want), "k: %s\n", rows[i].yaml);
		print_equal(doc, LNETCTL_WIDE, want, rows[i].text);
		snprintf(want, sizeof(want), "{\n  \"k\": %s\n}\n", rows[i].json);
		print_equal(doc, LNETCTL_JSON, want, rows[i].text);
		lnetctl_doc_free(doc);
	}
	memset(word, 'x', sizeof(word));
	word[sizeof(word) - 1] = 0;
	doc = lnetctl_add_map(NULL, NULL);
	lnetctl_add_text(doc, "k", word);
	lnetctl_add_text(doc, "l", "");
	snprintf(want, sizeof(want), "k: %s\nl: ''\n", word);
	print_equal(doc, LNETCTL_WIDE, want, "long");
	lnetctl_doc_free(doc);
}

UNIT_SUITE(document,
	{ "words of every kind and length", test_words },
	{ "YAML prints as it was read", test_yaml_roundtrip },
	{ "YAML that would surprise is refused with a reason", test_yaml_refused },
	{ "YAML nested without end is refused at once", test_yaml_deep },
	{ "JSON is JSON", test_json })
