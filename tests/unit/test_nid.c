/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do NIDs and nets read, print, compare and hash as they should? */
#include <lnet/hash.h>
#include "unit.h"
#include "lnet/nid.h"

/* NIDs that are parsed, and how they are printed. */
static const struct {
	const char *text, *printed;
} good_nids[] = {
	{ "192.168.50.12@tcp", "192.168.50.12@tcp" },
	{ "192.168.50.12", "192.168.50.12@tcp" },
	{ "10.0.0.1@tcp0", "10.0.0.1@tcp" },
	{ "10.0.0.1@tcp1", "10.0.0.1@tcp1" },
	{ "10.0.0.1@tcp65535", "10.0.0.1@tcp65535" },
	{ "10.0.0.1@o2ib7", "10.0.0.1@o2ib7" },
	{ "0.0.0.0@tcp", "0.0.0.0@tcp" },
	{ "255.255.255.255@tcp", "255.255.255.255@tcp" },
	{ "010.000.00.9@tcp", "10.0.0.9@tcp" },
	{ "1.2.3.4@gip2", "1.2.3.4@gip2" },
	{ "1.2.3.4@0x20005", "1.2.3.4@tcp5" },
	{ "1.2.3.4@131072", "1.2.3.4@tcp" },
	{ "0@lo", "0@lo" },
	{ "anything@lo", "0@lo" },
	{ "@lo", "0@lo" },
	{ "17@gni", "17@gni" },
	{ "0x11@gni3", "17@gni3" },
	{ "4294967295@ptlf", "4294967295@ptlf" },
	{ "0@kfi", "0@kfi" },
	{ "7@bxi3f2", "7@bxi3f2" },
	{ "fd00::12@tcp", "fd00::12@tcp" },
	{ "FD00:0:0:0:0:0:0:12@tcp", "fd00::12@tcp" },
	{ "2001:db8::1@tcp", "2001:db8::1@tcp" },
	{ "2001:db8::1", "2001:db8::1@tcp" },
	{ "2001:db8:0:1:1:1:1:1@efa", "2001:db8:0:1:1:1:1:1@efa" },
	{ "2001:0:0:1:0:0:0:1@o2ib", "2001:0:0:1::1@o2ib" },
	{ "2001:db8:0:0:1:0:0:1@tcp", "2001:db8::1:0:0:1@tcp" },
	{ "1:2:3:4:5:6:7:8@tcp", "1:2:3:4:5:6:7:8@tcp" },
	{ "1:2:3:4:5:6:7::@tcp", "1:2:3:4:5:6:7:0@tcp" },
	{ "::2:3:4:5:6:7:8@tcp", "0:2:3:4:5:6:7:8@tcp" },
	{ "1::@tcp", "1::@tcp" },
	{ "::1@tcp", "::1@tcp" },
	{ "::@tcp", "::@tcp" },
	{ "::ffff:1.2.3.4@tcp", "::ffff:1.2.3.4@tcp" },
	{ "1:2:3:4:5:6:1.2.3.4@tcp", "1:2:3:4:5:6:102:304@tcp" },
	{ "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff@o2ib65535",
	  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff@o2ib65535" },
	{ "<?>", "<?>" },
};

static const char *const bad_nids[] = {
	"", "@", "@tcp", "tcp", "*", "1@lo0", "1@lo1", "0@lo ",
	"1.2.3@tcp", "1.2.3.4.5@tcp", "1.2.3.4.@tcp", ".1.2.3@tcp", "1..2.3@tcp", "256.1.1.1@tcp",
	"1.2.3.4 @tcp", " 1.2.3.4@tcp", "1.2.3.4@tcp ", "+1.2.3.4@tcp", "-1.2.3.4@tcp",
	"1.2.3.0x4@tcp", "0001.2.3.4@tcp", "1.2.3.4@", "1.2.3.4@@tcp", "1.2.3.4@tcp@tcp",
	"1.2.3.4@tcp65536", "1.2.3.4@tcp99999999999", "1.2.3.4@tcp-1", "1.2.3.4@tcp+1",
	"1.2.3.4@tcp1x", "1.2.3.4@tc", "1.2.3.4@TCP", "1.2.3.4@xyz", "1.2.3.4@4294967295",
	"1.2.3.4@0x1000000", "1.2.3.4@0x10000", "0@0x90001", "1.2.3.4@5",
	"1.2.3.4@gni", "x@gni", "@gni", "4294967296@gni", "0x@gni", "0x100000000@gni", "-1@gni",
	"fd00::1@gip", "[fd00::1]@tcp", "fe80::1@tcp", "febf::1@tcp", "fd00::1%eth0@tcp",
	":@tcp", ":::@tcp", ":1::@tcp", "1::2::3@tcp", "::1::@tcp", "1:@tcp", "1:2:3:4:5:6:7@tcp",
	"1:2:3:4:5:6:7:8:9@tcp", "1:2:3:4:5:6:7:8:@tcp", "1:2:3:4:5:6:7:8::@tcp",
	"::1:2:3:4:5:6:7:8@tcp", "12345::@tcp", "g::@tcp", "::1.2.3@tcp", "::1.2.3.4:5@tcp",
	"1.2.3.4::@tcp", "1:2:3:4:5:6:7:1.2.3.4@tcp", "::256.2.3.4@tcp",
	"000000000000000000000000000000000000000000000000000000000000001@gni1",
};

static void good_nids_read(void)
{
	char buf[LNET_NIDSTR_SIZE];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(good_nids); i++) {
		struct lnet_nid nid, again;

		memset(&nid, 0xa5, sizeof(nid));
		UNIT_EQUAL(lnet_nid_parse(&nid, good_nids[i].text), 0, good_nids[i].text);
		UNIT_TEXT(lnet_nid_str(&nid, buf), good_nids[i].printed, good_nids[i].text);
		UNIT_EQUAL(lnet_nid_parse(&again, buf), 0, buf);
		UNIT_EQUAL(lnet_nid_same(&nid, &again), true, good_nids[i].text);
	}
}

static void bad_nids_refused(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_nids); i++) {
		struct lnet_nid nid = LNET_NID_LO;

		UNIT_EQUAL(lnet_nid_parse(&nid, bad_nids[i]), -EINVAL, bad_nids[i]);
		UNIT_EQUAL(lnet_nid_same(&nid, &LNET_NID_LO), true, bad_nids[i]);
	}
}

static void star_is_any_where_asked(void)
{
	struct lnet_nid nid;

	CU_ASSERT_EQUAL(lnet_nid_parse_any(&nid, "*"), 0);
	CU_ASSERT(lnet_nid_is_any(&nid));
	CU_ASSERT_EQUAL(lnet_nid_parse_any(&nid, "10.0.0.1@tcp"), 0);
	CU_ASSERT(!lnet_nid_is_any(&nid));
	CU_ASSERT_EQUAL(lnet_nid_parse_any(&nid, "**"), -EINVAL);
	CU_ASSERT_EQUAL(lnet_nid_parse_any(&nid, "*@tcp"), -EINVAL);
}

static const struct {
	const char *text;
	int rc;
	u32 net;
	const char *printed;
} nets[] = {
	{ "tcp", 0, 0x20000, "tcp" },
	{ "tcp0", 0, 0x20000, "tcp" },
	{ "tcp1", 0, 0x20001, "tcp1" },
	{ "tcp007", 0, 0x20007, "tcp7" },
	{ "o2ib65535", 0, 0x5ffff, "o2ib65535" },
	{ "lo", 0, 0x90000, "lo" },
	{ "gni", 0, 0xd0000, "gni" },
	{ "gip", 0, 0xe0000, "gip" },
	{ "ptlf", 0, 0xf0000, "ptlf" },
	{ "kfi2", 0, 0x100002, "kfi2" },
	{ "efa", 0, 0x120000, "efa" },
	{ "bxi3f1", 0, 0x130001, "bxi3f1" },
	{ "0x20003", 0, 0x20003, "tcp3" },
	{ "131075", 0, 0x20003, "tcp3" },
	{ "0x110001", 0, 0x110001, "<17:1>" },
	{ "4294967295", 0, LNET_NET_ANY, "<255:65535>" },
	{ "lo1", -EINVAL, 0, NULL },
	{ "tcp65536", -EINVAL, 0, NULL },
	{ "tcp ", -EINVAL, 0, NULL },
	{ "tcpx", -EINVAL, 0, NULL },
	{ "", -EINVAL, 0, NULL },
	{ "0x", -EINVAL, 0, NULL },
	{ "0x1000000", -EINVAL, 0, NULL },
	{ "4294967296", -EINVAL, 0, NULL },
};

static void nets_read(void)
{
	char buf[LNET_NIDSTR_SIZE];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(nets); i++) {
		u32 net = 77;

		UNIT_EQUAL(lnet_net_parse(&net, nets[i].text), nets[i].rc, nets[i].text);
		UNIT_EQUAL(net, nets[i].rc ? 77 : nets[i].net, nets[i].text);
		if (!nets[i].rc)
			UNIT_TEXT(lnet_net_str(net, buf), nets[i].printed, nets[i].text);
	}
}

static void bytes_are_those_of_the_wire(void)
{
	static const u8 v4[20] = { 0, 2, 0, 3, 192, 168, 50, 12 };
	static const u8 v6[20] = { 12, 2, 0, 0, 0xfd, [19] = 0x12 };
	struct lnet_nid nid;

	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "192.168.50.12@tcp3"), 0);
	CU_ASSERT_EQUAL(memcmp(&nid, v4, 20), 0);
	CU_ASSERT_EQUAL(lnet_nid_to_nid4(&nid), 0x00020003c0a8320cULL);
	CU_ASSERT_EQUAL(lnet_nid_net(&nid), 0x20003);
	CU_ASSERT(lnet_nid_is_nid4(&nid));
	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "fd00::12@tcp"), 0);
	CU_ASSERT_EQUAL(memcmp(&nid, v6, 20), 0);
	CU_ASSERT(!lnet_nid_is_nid4(&nid));
	lnet_nid_from_nid4(&nid, 0x00020003c0a8320cULL);
	CU_ASSERT_EQUAL(memcmp(&nid, v4, 20), 0);
}

static void any_and_lo(void)
{
	struct lnet_nid nid;

	lnet_nid_from_nid4(&nid, LNET_NID4_ANY);
	CU_ASSERT(lnet_nid_same(&nid, &LNET_NID_ANY));
	CU_ASSERT(lnet_nid_is_any(&nid) && lnet_nid_is_nid4(&nid) && lnet_nid_is_sane(&nid));
	CU_ASSERT_EQUAL(lnet_nid_to_nid4(&nid), LNET_NID4_ANY);
	CU_ASSERT_EQUAL(lnet_nid_net(&nid), LNET_NET_ANY);
	lnet_nid_from_nid4(&nid, 0x00ff000000000000ULL);
	CU_ASSERT(lnet_nid_same(&nid, &LNET_NID_ANY));
	lnet_nid_from_nid4(&nid, 0x0100000000000000ULL | LNET_NID4_LO);
	CU_ASSERT(lnet_nid_same(&nid, &LNET_NID_LO));
	lnet_nid_from_nid4(&nid, LNET_NID4_LO);
	CU_ASSERT(lnet_nid_same(&nid, &LNET_NID_LO) && lnet_nid_is_lo(&nid));
	nid.size = 13;
	CU_ASSERT(!lnet_nid_is_sane(&nid));
}

/* The order of NIDs in the connection race: size, type, instance, address, each as a number. */
static void order_is_bytewise(void)
{
	static const char *const up_pending[] = {
		"1.2.3.4@tcp", "1.2.3.5@tcp", "1.3.0.0@tcp", "200.0.0.0@tcp", "0.0.0.1@tcp1",
		"0.0.0.0@tcp256", "0.0.0.1@o2ib", "::1@tcp", "ff00::@tcp", "<?>",
	};
	struct lnet_nid a, b;
	unsigned int i;

	for (i = 1; i < ARRAY_SIZE(up_pending); i++) {
		CU_ASSERT_EQUAL(lnet_nid_parse(&a, up_pending[i - 1]), 0);
		CU_ASSERT_EQUAL(lnet_nid_parse(&b, up_pending[i]), 0);
		UNIT_EQUAL(lnet_nid_cmp(&a, &b) < 0, true, up_pending[i]);
		UNIT_EQUAL(lnet_nid_cmp(&b, &a) > 0, true, up_pending[i]);
		UNIT_EQUAL(lnet_nid_cmp(&b, &b), 0, up_pending[i]);
	}
}

static void unknown_types_print(void)
{
	struct lnet_nid nid = { .type = 99, .num = cpu_to_be16(7) };
	char buf[LNET_NIDSTR_SIZE];

	nid.addr[0] = cpu_to_be32(0xabc);
	UNIT_TEXT(lnet_nid_str(&nid, buf), "abc@<99:7>", "small");
	nid.size = 12;
	nid.addr[3] = cpu_to_be32(0x12345678);
	UNIT_TEXT(lnet_nid_str(&nid, buf), "abc:0:0:12345678@<99:7>", "large");
	nid.size = 254;
	UNIT_TEXT(lnet_nid_str(&nid, buf), "abc:0:0:12345678@<99:7>", "impossible size");
}

static void ids_print(void)
{
	struct lnet_nid nid;
	char buf[LNET_IDSTR_SIZE];

	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "10.0.0.1@tcp"), 0);
	UNIT_TEXT(lnet_id_str(LNET_PID, &nid, buf), "12345-10.0.0.1@tcp", "kernel");
	UNIT_TEXT(lnet_id_str(LNET_PID_USERFLAG | 5, &nid, buf), "U5-10.0.0.1@tcp", "user");
	UNIT_TEXT(lnet_id_str(LNET_PID_ANY, &nid, buf), "LNET_PID_ANY-10.0.0.1@tcp", "any");
}

static u32 hash_of(const char *text)
{
	struct lnet_nid nid;

	CU_ASSERT_EQUAL_FATAL(lnet_nid_parse(&nid, text), 0);
	return lnet_nid_hash(&nid);
}

/* The values are constants, so that a hash that differs on one host, build or day is detected. */
static void hash_is_the_same_everywhere(void)
{
	UNIT_EQUAL(hash_of("10.0.0.1@tcp"), 0x4d7bb18f, "10.0.0.1@tcp");
	UNIT_EQUAL(hash_of("10.0.0.2@tcp"), 0xaefdbf79, "10.0.0.2@tcp");
	UNIT_EQUAL(hash_of("fd00::12@tcp"), 0x2560cd65, "fd00::12@tcp");
}

/* The authors of SipHash published this value for the key 00 01 .. 0f and the bytes 00 .. 07. */
static void siphash_is_the_published_one(void)
{
	static const u64 key[2] = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL };

	UNIT_EQUAL(lnet_siphash(key, 0x0706050403020100ULL), 0x93f5f5799a932462ULL, "8 bytes");
}

/* Neighbouring addresses and nets spread over 16 buckets: none gets three times its share. */
static void hash_spreads(void)
{
	unsigned int bucket[16] = { 0 }, i, max = 0;
	struct lnet_nid nid;

	for (i = 0; i < 4096; i++) {
		lnet_nid_from_nid4(&nid, (0x20000ULL + i % 4) << 32 | (0x0a000000 + i / 4));
		bucket[lnet_nid_hash(&nid) % 16]++;
	}
	for (i = 0; i < 16; i++)
		max = max(max, bucket[i]);
	CU_ASSERT(max < 3 * 4096 / 16);
}

static u64 draw(u64 *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

/*
 * Random text of the characters that matter: parsing never crashes, and a NID that is accepted is
 * printed and parsed as the same NID.
 */
static void garbage_does_no_harm(void)
{
	static const char letters[] = "0123456789abcdefx.:@@tcplo2ibgn<?>*- ";
	unsigned int round, i, accepted = 0;
	char text[80], buf[LNET_NIDSTR_SIZE];
	u64 seed = 1;

	for (round = 0; round < 200000; round++) {
		unsigned int len = draw(&seed) % 24;
		struct lnet_nid nid, again;
		char *exact;

		for (i = 0; i < len; i++)
			text[i] = letters[draw(&seed) % (sizeof(letters) - 1)];
		text[len] = '\0';
		exact = kstrdup(text, GFP_KERNEL);
		if (!lnet_nid_parse(&nid, exact)) {
			accepted++;
			UNIT_EQUAL(lnet_nid_parse(&again, lnet_nid_str(&nid, buf)), 0, text);
			UNIT_EQUAL(lnet_nid_same(&nid, &again), true, text);
		}
		kfree(exact);
	}
	CU_ASSERT(accepted > 0);
}

/* Any 20 bytes print within the buffer. */
static void any_bytes_print(void)
{
	unsigned int round, i;
	u64 seed = 2;

	for (round = 0; round < 100000; round++) {
		char *buf = kmalloc(LNET_NIDSTR_SIZE, GFP_KERNEL);
		u8 bytes[20];

		for (i = 0; i < 20; i++)
			bytes[i] = (u8)draw(&seed);
		if (round & 1)
			bytes[1] = 2 + bytes[1] % 20;
		if (round & 2)
			bytes[0] = 12;
		lnet_nid_str((const struct lnet_nid *)bytes, buf);
		CU_ASSERT_FATAL(strlen(buf) < LNET_NIDSTR_SIZE);
		kfree(buf);
	}
}

UNIT_SUITE(nid,
	   { "good NIDs are read and printed in canonical form", good_nids_read },
	   { "bad NIDs are refused and leave the result alone", bad_nids_refused },
	   { "a star is ANY only where asked", star_is_any_where_asked },
	   { "nets are read and printed", nets_read },
	   { "the bytes are those of the wire", bytes_are_those_of_the_wire },
	   { "ANY and loopback are recognised", any_and_lo },
	   { "the order is bytewise", order_is_bytewise },
	   { "types without a name are printed", unknown_types_print },
	   { "process ids are printed", ids_print },
	   { "the hash is the same everywhere", hash_is_the_same_everywhere },
	   { "SipHash gives the published value", siphash_is_the_published_one },
	   { "the hash spreads neighbours", hash_spreads },
	   { "garbage does no harm", garbage_does_no_harm },
	   { "any bytes print", any_bytes_print })
