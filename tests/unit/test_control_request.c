/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests: how YAML is encoded, which bytes pass the check, and which pairs are found. */
#include "control/command.h"
#include "utils/lib/client.h"
#include "unit.h"
#include "attr_text.h"

static void test_check(void)
{
	static const struct { const char *name, *hex; int want;
	} rows[] = {
		{ "nothing", "", 0 },
		{ "a text", "0600050061000000", 0 },
		{ "a text without its end", "0600050061620000", -EINVAL },
		{ "an empty text", "04000500", -EINVAL },
		{ "shorter than its header", "0300050061000000", -EINVAL },
		{ "longer than the message", "0900050061000000", -EINVAL },
		{ "half a header", "0600", -EINVAL },
		{ "a number", "0c0006000100000000000000", 0 },
		{ "a short number", "0800060001000000", -EINVAL },
		{ "a list", "0c0001800600050061000000", 0 },
		{ "a list that ends inside its text", "080001800600050061000000", -EINVAL },
		{ "an empty list", "04000180", 0 },
		{ "eight lists deep",
		  "20000180"
		  "1c000180"
		  "18000180"
		  "14000180"
		  "10000180"
		  "0c000180"
		  "08000180"
		  "04000180",
		  0 },
		{ "nine lists deep",
		  "24000180"
		  "20000180"
		  "1c000180"
		  "18000180"
		  "14000180"
		  "10000180"
		  "0c000180"
		  "08000180"
		  "04000180",
		  -EINVAL },
		{ "an unknown attribute", "0600630061620000", 0 },
	};
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u8 bytes[64];

		for (n = 0; rows[i].hex[2 * n]; n++) {
			unsigned int b;

			sscanf(rows[i].hex + 2 * n, "%2x", &b);
			bytes[n] = (u8)b;
		}
		UNIT_EQUAL(lnet_req_check(bytes, n), rows[i].want, rows[i].name);
	}
}

static struct request encode(const char *yaml)
{
	struct lnetctl_node *doc;
	struct request r;
	char why[100];
	FILE *in = fmemopen((void *)yaml, strlen(yaml), "r");

	UNIT_EQUAL(lnetctl_yaml_read(in, &doc, why, sizeof(why)), 0, why);
	fclose(in);
	UNIT_EQUAL(request_encode(&r, doc), 0, yaml);
	lnetctl_doc_free(doc);
	return r;
}

static void test_encode(void)
{
	static const struct { const char *yaml, *want;
	} rows[] = {
		{ "{}", "" },
		{ "a: b", "\"a\" \"b\" " },
		{ "a: -12", "\"a\" #-12 " },
		{ "a: '12'", "\"a\" \"12\" " },
		{ "a: Yes\nb: off\nc: y", "\"a\" #1 \"b\" #0 \"c\" #1 " },
		{ "a: [x, 2]", "\"a\" { \"x\" #2 } " },
		{ "a: {0: eth0}", "\"a\" { #0 \"eth0\" } " },
		{ "a:\n- b: 1\n  c: d\n- e: f",
		  "\"a\" { { \"b\" #1 \"c\" \"d\" } { \"e\" \"f\" } } " },
		{ "a: 0x10", "\"a\" \"0x10\" " },
		{ "a: 10.0.0.1@tcp", "\"a\" \"10.0.0.1@tcp\" " },
		{ "a: 99999999999999999999", "\"a\" \"99999999999999999999\" " },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct request r = encode(rows[i].yaml);
		char text[512];

		UNIT_EQUAL(lnet_req_check(r.buf, r.len), 0, rows[i].yaml);
		words(r.buf, r.len, text, sizeof(text));
		UNIT_TEXT(text, rows[i].want, rows[i].yaml);
		request_free(&r);
	}
}

static void test_pairs(void)
{
	struct request r = encode("stray: {one: 9}\n' two ': 2\nunknown: one\none: ' x '");
	struct lnet_req req;
	struct lnet_val v;
	char text[8];
	s64 num;

	lnet_req_init(&req, r.buf, r.len);
	CU_ASSERT(lnet_req_find(req, "two", &v));
	UNIT_EQUAL(lnet_val_int(&v, 0, 1, &num), -ERANGE, "range");
	UNIT_EQUAL(lnet_val_int(&v, 0, 2, &num), 0, "number");
	UNIT_EQUAL(num, 2, "number");
	/*
	 * A value that equals a key is read as the key, because unknown keys are skipped. The key
	 * "one" thus has the value "one", and " x " is a stray scalar.
	 */
	CU_ASSERT(lnet_req_find(req, "one", &v));
	UNIT_TEXT(v.text, "one", "one");
	CU_ASSERT_FALSE(lnet_req_find(req, "three", &v));
	request_free(&r);
	r = encode("a: ' x '");
	lnet_req_init(&req, r.buf, r.len);
	CU_ASSERT(lnet_req_find(req, "a", &v));
	UNIT_EQUAL(lnet_val_text(&v, text, sizeof(text)), 0, "trim");
	UNIT_TEXT(text, "x", "trim");
	UNIT_EQUAL(lnet_val_text(&v, text, 1), -ENAMETOOLONG, "no room");
	UNIT_EQUAL(lnet_val_int(&v, 0, 1, &num), -EINVAL, "not a number");
	request_free(&r);
}

struct fields {
	s64 num;
	s32 hops;
	u8 flag;
	bool has_flag;
	u32 net;
	struct lnet_nid nid;
	char word[8];
	struct lnet_req list;
};

static int word_check(const char *text)
{
	return strcmp(text, "down") ? 0 : -EINVAL;
}

static const struct lnet_field sub_fields[] = {
	LNET_FIELD_RANGE("flag", struct fields, flag, 0, 1, .text = "0 or 1",
			 .has = offsetof(struct fields, has_flag)),
	{ NULL }
};
static const struct lnet_field fields[] = {
	LNET_FIELD_RANGE("num", struct fields, num, 0, 10, .need = true, .range_err = -ERANGE),
	LNET_FIELD(NUM_DEF, "hops", struct fields, hops, .min = 1, .max = 255, .stock = true,
		   .text = "1 to 255, or -1"),
	LNET_FIELD_SUB("sub", sub_fields),
	LNET_FIELD(NETS, "net", struct fields, net, .range_err = -ENXIO),
	LNET_FIELD(NID, "nid", struct fields, nid),
	LNET_FIELD(NIDS, "nids", struct fields, nid),
	LNET_FIELD(TEXT, "word", struct fields, word, .check = word_check, .text = "up"),
	LNET_FIELD(LIST, "list", struct fields, list),
	{ NULL }
};

static void test_fields(void)
{
	static const struct { const char *yaml, *text; int want;
	} rows[] = {
		{ "num: 10", "", 0 },
		{ "num: '0x0a'", "", 0 },
		{ "num: ' 11 '", "'num' must be 0 to 10, not '11'", -ERANGE },
		{ "num: 11", "'num' must be 0 to 10, not 11", -ERANGE },
		{ "num: x", "'num' must be 0 to 10, not 'x'", -EINVAL },
		{ "num: [1]", "'num' must be 0 to 10, not a list", -EINVAL },
		{ "{}", "'num' is missing", -EINVAL },
		{ "num: 1\nhops: -1", "", 0 },
		{ "num: 1\nhops: 0", "invalid value '0' for key 'hops': it must be 1 to 255, or -1",
		  -EINVAL },
		{ "num: 1\nsub: 5", "", 0 },
		{ "num: 1\nsub: { flag: 2 }", "'flag' must be 0 or 1, not 2", -EINVAL },
		{ "num: 1\nnet: <255:65535>", "", 0 },
		{ "num: 1\nnet: bogus", "unknown net 'bogus': use a net such as tcp or o2ib1",
		  -ENXIO },
		{ "num: 1\nnid: bogus", "'bogus' is not a valid NID such as 10.0.0.1@tcp",
		  -EINVAL },
		{ "num: 1\nnid: [1]", "'nid' must be a NID such as 10.0.0.1@tcp", -EINVAL },
		{ "num: 1\nnids: 255.255.255.255@tcp", "", 0 },
		{ "num: 1\nnids: 255.255.255.255@no", "'*@no' is not a valid NID, *@net or *",
		  -EINVAL },
		{ "num: 1\nword: up", "", 0 },
		{ "num: 1\nword: down", "'word' must be up, not 'down'", -EINVAL },
		{ "num: 1\nword: upwards!", "'word' must be up, not 'upwards!'", -EINVAL },
		{ "num: 1\nlist: 5", "", 0 },
	};
	struct lnet_ctl_err e;
	struct lnet_req req;
	struct fields to;
	struct request r;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		r = encode(rows[i].yaml);
		lnet_req_init(&req, r.buf, r.len);
		e.text[0] = 0;
		UNIT_EQUAL(lnet_ctl_read(req, fields, &to, &e), rows[i].want, rows[i].yaml);
		UNIT_TEXT(e.text, rows[i].text, rows[i].yaml);
		request_free(&r);
	}
	memset(&to, 0xff, sizeof(to));
	to.has_flag = false;
	r = encode("num: 7\nhops: 9\nsub: { flag: 1 }\nnet: tcp1\nword: up\nlist: [3]");
	lnet_req_init(&req, r.buf, r.len);
	UNIT_EQUAL(lnet_ctl_read(req, fields, &to, &e), 0, "all");
	UNIT_EQUAL(to.num, 7, "eight bytes");
	UNIT_EQUAL(to.hops, 9, "four bytes");
	UNIT_EQUAL(to.flag, 1, "one byte");
	UNIT_EQUAL(to.has_flag, true, "the key is there");
	UNIT_EQUAL(to.net, LNET_LND_TCP << 16 | 1, "net");
	UNIT_TEXT(to.word, "up", "text");
	CU_ASSERT(to.list.at < to.list.end);
	request_free(&r);
	r = encode("num: 1\nhops: -1\nnet: <255:65535>\nnid: 10.0.0.1@tcp");
	lnet_req_init(&req, r.buf, r.len);
	UNIT_EQUAL(lnet_ctl_read(req, fields, &to, &e), 0, "other values");
	UNIT_EQUAL((int)to.hops, -1, "the default");
	UNIT_EQUAL(to.net, LNET_NET_ANY, "all nets");
	UNIT_EQUAL(lnet_nid_net(&to.nid), LNET_LND_TCP << 16, "a NID");
	UNIT_EQUAL(to.has_flag, true, "a key that is not there changes nothing");
	request_free(&r);
}

/* A command that sends messages to other nodes needs the right to change the node. */
static void test_rights(void)
{
	static const struct { u8 cmd; u16 flags; bool owner; } rows[] = {
		{ LNET_NL_NETS, LNET_NL_F_DUMP, false },
		{ LNET_NL_NODE, LNET_NL_F_DUMP, false },
		{ LNET_NL_STATS, LNET_NL_F_DUMP, false },
		{ LNET_NL_NETS, LNET_NL_F_CREATE, true },
		{ LNET_NL_PING, LNET_NL_F_DUMP, true },
		{ LNET_NL_PING, LNET_NL_F_CREATE, true },
		{ LNET_NL_EXPLAIN, LNET_NL_F_DUMP, true },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(lnet_control_is_for_owner(rows[i].cmd, rows[i].flags), rows[i].owner,
			   "the owner's");
}

UNIT_SUITE(control_request,
	{ "ping, discover and explain need the right to change the node", test_rights },
	{ "only well-formed attributes pass the check", test_check },
	{ "YAML becomes attributes by the rules", test_encode },
	{ "pairs are found among strays, with spaces, within range", test_pairs },
	{ "fields are checked and stored, and errors name the object", test_fields })
