/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do the TCP driver's codecs read and write the same as stock nodes, in both byte orders? */
#include "unit.h"
#include "lnd/socklnd/wire.h"
#include "wire_examples.h"

#define NID_A 0x00020000c0a8320bULL
#define NID_B 0x00020000c0a8320cULL
#define INCARNATION_A 0x17f0a1b2c3d4e5f6ULL
#define INCARNATION_B 0x17f0a1b2d0e0f001ULL

/* Decodes from memory that ends with the bytes. */
static enum lnet_acr_what acr_exact(struct lnet_acr *acr, const u8 *buf, unsigned int len,
				    unsigned int *need)
{
	u8 *exact = kmemdup(buf, len ? len : 1, GFP_KERNEL);
	enum lnet_acr_what what = lnet_acr_decode(acr, exact, len, need);

	kfree(exact);
	return what;
}

static enum lnet_hello_what hello_exact(struct lnet_hello *hello, const u8 *buf, unsigned int len,
					unsigned int *need)
{
	u8 *exact = kmemdup(buf, len ? len : 1, GFP_KERNEL);
	enum lnet_hello_what what = lnet_hello_decode(hello, exact, len, need);

	kfree(exact);
	return what;
}

/* ---- acceptor request ---- */

static void acr_example(const u8 *buf, unsigned int len, u32 version, const char *nid)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_acr acr;
	unsigned int need;
	u8 again[LNET_ACR_SIZE_MAX];

	UNIT_EQUAL(acr_exact(&acr, buf, len, &need), LNET_ACR_OK, nid);
	UNIT_EQUAL(need, len, nid);
	UNIT_EQUAL(acr.version, version, nid);
	UNIT_EQUAL(acr.swapped, false, nid);
	UNIT_TEXT(lnet_nid_str(&acr.nid, text), nid, "NID");
	UNIT_EQUAL(lnet_acr_version(&acr.nid), version, nid);
	UNIT_EQUAL(lnet_acr_encode(again, &acr), len, nid);
	UNIT_EQUAL(memcmp(again, buf, len), 0, nid);
}

static void acr_examples(void)
{
	acr_example(e1, sizeof(e1), 1, "192.168.50.12@tcp");
	acr_example(e1b, sizeof(e1b), 2, "fd00::12@tcp");
}

static void acr_swapped(void)
{
	struct lnet_acr acr = { .version = 1, .swapped = true }, got;
	u8 buf[LNET_ACR_SIZE_MAX];
	unsigned int need;

	lnet_nid_from_nid4(&acr.nid, NID_B);
	CU_ASSERT_EQUAL(lnet_acr_encode(buf, &acr), 16);
	UNIT_EQUAL(buf[0], 0xac, "magic, high byte first");
	UNIT_EQUAL(buf[7], 1, "version, low byte last");
	UNIT_EQUAL(buf[15], 0x0c, "NID, low byte last");
	CU_ASSERT_EQUAL(acr_exact(&got, buf, 16, &need), LNET_ACR_OK);
	CU_ASSERT_EQUAL(memcmp(&got, &acr, sizeof(acr)), 0);
	acr.version = 2;
	CU_ASSERT_EQUAL(lnet_acr_encode(buf, &acr), 28);
	CU_ASSERT_EQUAL(memcmp(buf + 8, &acr.nid, 20), 0);
	CU_ASSERT_EQUAL(acr_exact(&got, buf, 28, &need), LNET_ACR_OK);
	CU_ASSERT_EQUAL(memcmp(&got, &acr, sizeof(acr)), 0);
}

/* The first two words, in host byte order, and the decision when all bytes are received. */
static const struct {
	const char *row;
	u32 magic, version;
	enum lnet_acr_what what;
} acr_decisions[] = {
	{ "version 1", 0xacce7100, 1, LNET_ACR_OK },
	{ "version 2", 0xacce7100, 2, LNET_ACR_OK },
	{ "version 0", 0xacce7100, 0, LNET_ACR_REPLY },
	{ "version 3", 0xacce7100, 3, LNET_ACR_REPLY },
	{ "other order, version 1", 0x0071ceac, 0x01000000, LNET_ACR_OK },
	{ "other order, version in own order", 0x0071ceac, 1, LNET_ACR_REPLY },
	{ "query", 0x45726963, 0, LNET_ACR_REPLY },
	{ "query, other order", 0x63697245, 0, LNET_ACR_REPLY },
	{ "protocol before the acceptor", 0xeebc0ded, 1, LNET_ACR_CLOSE },
	{ "the same, other order", 0xed0dbcee, 1, LNET_ACR_CLOSE },
	{ "a web browser", 0x20544547, 1, LNET_ACR_CLOSE },
	{ "zero", 0, 0, LNET_ACR_CLOSE },
};

static void acr_table(void)
{
	struct lnet_acr acr;
	unsigned int i, need;
	u8 buf[28] = { 0 };

	for (i = 0; i < ARRAY_SIZE(acr_decisions); i++) {
		put_unaligned_le32(acr_decisions[i].magic, buf);
		put_unaligned_le32(acr_decisions[i].version, buf + 4);
		UNIT_EQUAL(acr_exact(&acr, buf, 28, &need), acr_decisions[i].what,
			   acr_decisions[i].row);
	}
	CU_ASSERT_EQUAL(lnet_acr_reply(buf), 16);
	CU_ASSERT_EQUAL(memcmp(buf, "\x00\x71\xce\xac\x01\0\0\0\0\0\0\0\0\0\0\0", 16), 0);
}

/*
 * Byte by byte: no decision is too early or too late, and the required length is always reported.
 */
static void acr_piecemeal(void)
{
	struct lnet_acr acr;
	unsigned int len, need;
	u8 query[4] = { 0x63, 0x69, 0x72, 0x45 };

	for (len = 0; len < 28; len++) {
		UNIT_EQUAL(acr_exact(&acr, e1b, len, &need), LNET_ACR_MORE, "version 2");
		UNIT_EQUAL(need, len < 4 ? 4 : len < 8 ? 8 : 28, "version 2");
	}
	for (len = 0; len < 16; len++) {
		UNIT_EQUAL(acr_exact(&acr, e1, len, &need), LNET_ACR_MORE, "version 1");
		UNIT_EQUAL(need, len < 4 ? 4 : len < 8 ? 8 : 16, "version 1");
	}
	CU_ASSERT_EQUAL(acr_exact(&acr, query, 3, &need), LNET_ACR_MORE);
	CU_ASSERT_EQUAL(acr_exact(&acr, query, 4, &need), LNET_ACR_REPLY);
}

static void acr_impossible_nid(void)
{
	struct lnet_acr acr;
	unsigned int need;
	u8 buf[28];

	memcpy(buf, e1b, 28);
	buf[8] = 13;
	CU_ASSERT_EQUAL(acr_exact(&acr, buf, 28, &need), LNET_ACR_CLOSE);
}

/* ---- HELLO ---- */

static const struct {
	const char *row;
	const u8 *buf;
	unsigned int len;
	u32 version, ctype;
	u64 src, dst, incarnation;
} hellos[] = {
	{ "E2", e2, sizeof(e2), 3, LNET_CTYPE_CONTROL, NID_A, NID_B, INCARNATION_A },
	{ "E3", e3, sizeof(e3), 3, LNET_CTYPE_CONTROL, NID_B, NID_A, INCARNATION_B },
	{ "E4", e4, sizeof(e4), 3, LNET_CTYPE_BULK_OUT, NID_A, NID_B, INCARNATION_A },
	{ "E4r", e4r, sizeof(e4r), 3, LNET_CTYPE_BULK_IN, NID_B, NID_A, INCARNATION_B },
	{ "E5", e5, sizeof(e5), 3, LNET_CTYPE_NONE, NID_B, NID_A, INCARNATION_B },
	{ "E6", e6, sizeof(e6), 4, LNET_CTYPE_CONTROL, 0, 0, INCARNATION_A },
};

static void hello_examples(void)
{
	unsigned int i, need;

	for (i = 0; i < ARRAY_SIZE(hellos); i++) {
		struct lnet_hello hello;
		u8 again[LNET_HELLO_SIZE_MAX];

		UNIT_EQUAL(hello_exact(&hello, hellos[i].buf, hellos[i].len, &need), LNET_HELLO_OK,
			   hellos[i].row);
		UNIT_EQUAL(need, hellos[i].len, hellos[i].row);
		UNIT_EQUAL(hello.version, hellos[i].version, hellos[i].row);
		UNIT_EQUAL(hello.ctype, hellos[i].ctype, hellos[i].row);
		UNIT_EQUAL(hello.src_incarnation, hellos[i].incarnation, hellos[i].row);
		UNIT_EQUAL(hello.dst_incarnation, 0, hellos[i].row);
		UNIT_EQUAL(hello.src_pid, LNET_PID, hellos[i].row);
		UNIT_EQUAL(hello.dst_pid, 0, hellos[i].row);
		if (hellos[i].src) {
			UNIT_EQUAL(lnet_nid_to_nid4(&hello.src_nid), hellos[i].src, hellos[i].row);
			UNIT_EQUAL(lnet_nid_to_nid4(&hello.dst_nid), hellos[i].dst, hellos[i].row);
		}
		UNIT_EQUAL(lnet_hello_encode(again, &hello), hellos[i].len, hellos[i].row);
		UNIT_EQUAL(memcmp(again, hellos[i].buf, hellos[i].len), 0, hellos[i].row);
	}
}

static void hello_large_nids(void)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_hello hello;
	unsigned int need;

	CU_ASSERT_EQUAL(hello_exact(&hello, e6, sizeof(e6), &need), LNET_HELLO_OK);
	UNIT_TEXT(lnet_nid_str(&hello.src_nid, text), "fd00::11@tcp", "source");
	UNIT_TEXT(lnet_nid_str(&hello.dst_nid, text), "fd00::12@tcp", "destination");
}

/* Every version, with all fields different, in the other byte order. */
static void hello_swapped(void)
{
	struct lnet_hello hello = { .version = 2,
				    .src_pid = 0x01020304,
				    .dst_pid = 0x11121314,
				    .ctype = 3,
				    .src_incarnation = INCARNATION_A,
				    .dst_incarnation = INCARNATION_B,
				    .swapped = true },
			  got;
	u8 buf[LNET_HELLO_SIZE_MAX];
	unsigned int need;

	lnet_nid_from_nid4(&hello.src_nid, NID_A);
	lnet_nid_from_nid4(&hello.dst_nid, NID_B);
	for (; hello.version <= 4; hello.version++) {
		unsigned int len = lnet_hello_encode(buf, &hello);

		UNIT_EQUAL(len, hello.version == 4 ? 80 : 56, "length");
		UNIT_EQUAL(buf[0], 0x45, "magic, high byte first");
		UNIT_EQUAL(buf[hello.version == 4 ? 48 : 24], 1, "pid, high byte first");
		memset(&got, 0, sizeof(got));
		UNIT_EQUAL(hello_exact(&got, buf, len, &need), LNET_HELLO_OK, "decode");
		UNIT_EQUAL(got.version, hello.version, "version");
		UNIT_EQUAL(got.src_pid, hello.src_pid, "src_pid");
		UNIT_EQUAL(got.dst_pid, hello.dst_pid, "dst_pid");
		UNIT_EQUAL(got.ctype, 3, "ctype");
		UNIT_EQUAL(got.src_incarnation, INCARNATION_A, "src_incarnation");
		UNIT_EQUAL(got.dst_incarnation, INCARNATION_B, "dst_incarnation");
		UNIT_EQUAL(got.swapped, true, "swapped");
		UNIT_EQUAL(lnet_nid_same(&got.src_nid, &hello.src_nid), true, "src_nid");
		UNIT_EQUAL(lnet_nid_same(&got.dst_nid, &hello.dst_nid), true, "dst_nid");
	}
}

/* One word of E2 (or of E6, version 4) is replaced. */
static const struct {
	const char *row;
	bool v4;
	unsigned int at;
	u32 value;
	enum lnet_hello_what what;
} hello_words[] = {
	{ "bad magic", false, 0, 0x45726964, LNET_HELLO_BAD_MAGIC },
	{ "acceptor's magic", false, 0, 0xacce7100, LNET_HELLO_BAD_MAGIC },
	{ "version 0", false, 4, 0, LNET_HELLO_BAD_VERSION },
	{ "version 1", false, 4, 1, LNET_HELLO_BAD_VERSION },
	{ "version 2", false, 4, 2, LNET_HELLO_OK },
	{ "version 5", false, 4, 5, LNET_HELLO_BAD_VERSION },
	{ "version in other order", false, 4, 0x03000000, LNET_HELLO_BAD_VERSION },
	{ "version 1 magic, version 3", false, 0, 0xeebc0ded, LNET_HELLO_BAD_VERSION },
	{ "version 1 magic in other order", false, 0, 0xed0dbcee, LNET_HELLO_BAD_MAGIC },
	{ "17 addresses", false, 52, 17, LNET_HELLO_BAD_FIELD },
	{ "16 addresses to come", false, 52, 16, LNET_HELLO_MORE },
	{ "2^30 addresses", false, 52, 0x40000000, LNET_HELLO_BAD_FIELD },
	{ "refusal", false, 48, 0xffffffff, LNET_HELLO_OK },
	{ "connection type 4", false, 48, 4, LNET_HELLO_OK },
	{ "any number of addresses in version 4", true, 76, 0xffffffff, LNET_HELLO_OK },
	{ "source ANY in version 4", true, 8, 0x0000ff00, LNET_HELLO_BAD_FIELD },
	{ "source of impossible size", true, 8, 0x0000020d, LNET_HELLO_BAD_FIELD },
};

static void hello_hostile_words(void)
{
	struct lnet_hello hello;
	unsigned int i, need;
	u8 buf[80];

	for (i = 0; i < ARRAY_SIZE(hello_words); i++) {
		unsigned int len = hello_words[i].v4 ? 80 : 56;

		memcpy(buf, hello_words[i].v4 ? e6 : e2, len);
		put_unaligned_le32(hello_words[i].value, buf + hello_words[i].at);
		UNIT_EQUAL(hello_exact(&hello, buf, len, &need), hello_words[i].what,
			   hello_words[i].row);
	}
	memcpy(buf, e2, 56);
	memset(buf + 8, 0xff, 8);
	CU_ASSERT_EQUAL(hello_exact(&hello, buf, 56, &need), LNET_HELLO_BAD_FIELD);
	put_unaligned_le32(LNET_HELLO_V1_MAGIC, buf);
	put_unaligned_le32(1, buf + 4);
	CU_ASSERT_EQUAL(hello_exact(&hello, buf, 56, &need), LNET_HELLO_V1);
}

static void hello_addresses(void)
{
	u8 buf[LNET_HELLO_SIZE_MAX];
	struct lnet_hello hello;
	unsigned int need, len;

	memcpy(buf, e2, 56);
	memset(buf + 56, 9, sizeof(buf) - 56);
	buf[52] = 16;
	for (len = 0; len < 120; len++) {
		UNIT_EQUAL(hello_exact(&hello, buf, len, &need), LNET_HELLO_MORE, "piecemeal");
		UNIT_EQUAL(need, len < 8 ? 8 : len < 56 ? 56 : 120, "piecemeal");
	}
	CU_ASSERT_EQUAL(hello_exact(&hello, buf, 120, &need), LNET_HELLO_OK);
	CU_ASSERT_EQUAL(need, 120);
	memset(buf + 116, 0, 4);
	CU_ASSERT_EQUAL(hello_exact(&hello, buf, 120, &need), LNET_HELLO_BAD_FIELD);
}

/* ---- connection types ---- */

static void ctypes(void)
{
	static const u32 inverse[] = { 0, 1, 3, 2 };
	u32 i;

	for (i = 0; i < 4; i++)
		UNIT_EQUAL(lnet_ctype_invert(i), inverse[i], lnet_ctype_name(i));
	UNIT_EQUAL(lnet_ctype_invert(4), LNET_CTYPE_NONE, "4");
	UNIT_EQUAL(lnet_ctype_invert(LNET_CTYPE_NONE), LNET_CTYPE_NONE, "NONE");
	UNIT_TEXT(lnet_ctype_name(LNET_CTYPE_BULK_IN), "BULK_IN", "name");
	UNIT_TEXT(lnet_ctype_name(LNET_CTYPE_NONE), "NONE", "name");
	UNIT_TEXT(lnet_ctype_name(7), "?", "name");
}

static void conns_by_speed(void)
{
	static const u32 rows[][2] = {
		{ 0, 1 },      { 100, 1 },    { 1000, 1 },	  { 2500, 1 },	{ 3999, 1 },
		{ 4000, 2 },   { 10000, 2 },  { 25000, 3 },	  { 40000, 3 }, { 100000, 4 },
		{ 200000, 4 }, { 400000, 5 }, { 0xffffffff, 12 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(lnet_sock_conns_per_peer(rows[i][0]), rows[i][1],
			   "connections for a speed");
}

/* ---- frames ---- */

static void frame_examples(void)
{
	static const struct {
		const char *row;
		const u8 *buf;
		u32 type;
		u64 c0, c1, request;
	} rows[] = {
		{ "E7", e7, 0xc1, 0, 0, 0 },   { "E11", e11, 0xc1, 2, 0, 2 },
		{ "E12", e12, 0xc0, 0, 2, 0 }, { "E13", e13, 0xc0, 5, 9, 0 },
		{ "E14", e14, 0xc0, 0, 1, 0 },
	};
	unsigned int i, swapped;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_ksock_hdr hdr, other;
		u8 again[LNET_KSOCK_SIZE];

		UNIT_EQUAL(lnet_ksock_decode(&hdr, rows[i].buf, 24, false), 0, rows[i].row);
		UNIT_EQUAL(hdr.type, rows[i].type, rows[i].row);
		UNIT_EQUAL(hdr.csum, 0, rows[i].row);
		UNIT_EQUAL(hdr.zc_cookie[0], rows[i].c0, rows[i].row);
		UNIT_EQUAL(hdr.zc_cookie[1], rows[i].c1, rows[i].row);
		UNIT_EQUAL(lnet_zcreq_cookie(&hdr), rows[i].request, rows[i].row);
		hdr.csum = 0x12345678;
		for (swapped = 0; swapped < 2; swapped++) {
			UNIT_EQUAL(lnet_ksock_encode(again, &hdr, swapped), 24, rows[i].row);
			UNIT_EQUAL(again[4], swapped ? 0x12 : 0x78, rows[i].row);
			UNIT_EQUAL(lnet_ksock_decode(&other, again, 24, swapped), 0, rows[i].row);
			UNIT_EQUAL(memcmp(&other, &hdr, sizeof(hdr)), 0, rows[i].row);
			UNIT_EQUAL(lnet_ksock_decode(&other, again, 24, !swapped), -EPROTO,
				   rows[i].row);
		}
		hdr.csum = 0;
		lnet_ksock_encode(again, &hdr, false);
		UNIT_EQUAL(memcmp(again, rows[i].buf, 24), 0, rows[i].row);
	}
}

static void frame_refused(void)
{
	struct lnet_ksock_hdr hdr;
	u8 buf[24] = { 0xc2 };

	CU_ASSERT_EQUAL(lnet_ksock_decode(&hdr, buf, 24, false), -EPROTO);
	buf[0] = 0xc1;
	CU_ASSERT_EQUAL(lnet_ksock_decode(&hdr, buf, 23, false), -EMSGSIZE);
	CU_ASSERT_EQUAL(lnet_ksock_decode(&hdr, buf, 24, false), 0);
	buf[1] = 1;
	CU_ASSERT_EQUAL(lnet_ksock_decode(&hdr, buf, 24, false), -EPROTO);
}

/* ---- zero-copy acknowledgements --- */

static const struct {
	const char *row;
	u32 type;
	u64 c0, c1;
	enum lnet_zcack_kind kind;
	u64 first, last, nr;
} zcacks[] = {
	{ "nothing in a NOOP", 0xc0, 0, 0, LNET_ZCACK_NONE, 0, 0, 0 },
	{ "first word alone", 0xc0, 7, 0, LNET_ZCACK_NONE, 0, 0, 0 },
	{ "one", 0xc0, 0, 2, LNET_ZCACK_ONE, 2, 2, 1 },
	{ "one, said twice", 0xc0, 2, 2, LNET_ZCACK_ONE, 2, 2, 1 },
	{ "two neighbours", 0xc0, 6, 5, LNET_ZCACK_TWO, 5, 6, 2 },
	{ "two apart", 0xc0, 900, 5, LNET_ZCACK_TWO, 5, 900, 2 },
	{ "range", 0xc0, 5, 9, LNET_ZCACK_RANGE, 5, 9, 5 },
	{ "range of two", 0xc0, 5, 6, LNET_ZCACK_RANGE, 5, 6, 2 },
	{ "range of nearly all", 0xc0, 2, ~0ULL, LNET_ZCACK_RANGE, 2, ~0ULL, ~0ULL - 1 },
	{ "keepalive", 0xc0, 0, 1, LNET_ZCACK_KEEPALIVE, 0, 0, 0 },
	{ "keepalive, said twice", 0xc0, 1, 1, LNET_ZCACK_KEEPALIVE, 0, 0, 0 },
	{ "keepalive and another", 0xc0, 2, 1, LNET_ZCACK_BAD, 0, 0, 0 },
	{ "range from the keepalive on", 0xc0, 1, 3, LNET_ZCACK_BAD, 0, 0, 0 },
	{ "message without answer", 0xc1, 0, 0, LNET_ZCACK_NONE, 0, 0, 0 },
	{ "message with request only", 0xc1, 9, 0, LNET_ZCACK_NONE, 0, 0, 0 },
	{ "message with answer", 0xc1, 0, 4, LNET_ZCACK_ONE, 4, 4, 1 },
	{ "message with request and answer", 0xc1, 9, 4, LNET_ZCACK_ONE, 4, 4, 1 },
	{ "message with lower request and answer", 0xc1, 2, 4, LNET_ZCACK_ONE, 4, 4, 1 },
};

static void zcacks_decode(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(zcacks); i++) {
		struct lnet_ksock_hdr hdr = { zcacks[i].type, 0, { zcacks[i].c0, zcacks[i].c1 } };
		struct lnet_zcack ack;

		lnet_zcack_decode(&ack, &hdr);
		UNIT_EQUAL(ack.kind, zcacks[i].kind, zcacks[i].row);
		UNIT_EQUAL(ack.first, zcacks[i].first, zcacks[i].row);
		UNIT_EQUAL(ack.last, zcacks[i].last, zcacks[i].row);
		UNIT_EQUAL(ack.nr, zcacks[i].nr, zcacks[i].row);
	}
}

static const struct {
	const char *row;
	u64 before[2], cookie;
	bool merged;
	u64 after[2];
} merges[] = {
	{ "into nothing", { 0, 0 }, 5, true, { 0, 5 } },
	{ "over a keepalive", { 0, 1 }, 5, true, { 0, 5 } },
	{ "cookie that is none", { 0, 0 }, 1, false, { 0, 0 } },
	{ "one and the next", { 0, 5 }, 6, true, { 6, 5 } },
	{ "one and the one before", { 0, 5 }, 4, true, { 5, 4 } },
	{ "one and a far one", { 0, 5 }, 50, true, { 50, 5 } },
	{ "one twice", { 0, 5 }, 5, false, { 0, 5 } },
	{ "two and the next", { 6, 5 }, 7, true, { 5, 7 } },
	{ "two and the one before", { 6, 5 }, 4, true, { 4, 6 } },
	{ "two and the one between", { 7, 5 }, 6, true, { 5, 7 } },
	{ "two with a gap and the next", { 7, 5 }, 8, false, { 7, 5 } },
	{ "two and a far one", { 6, 5 }, 9, false, { 6, 5 } },
	{ "two and the higher again", { 6, 5 }, 6, false, { 6, 5 } },
	{ "two and the lower again", { 6, 5 }, 5, false, { 6, 5 } },
	{ "two far and the higher again", { 50, 5 }, 50, false, { 50, 5 } },
	{ "range and the next", { 5, 9 }, 10, true, { 5, 10 } },
	{ "range and the one before", { 5, 9 }, 4, true, { 4, 9 } },
	{ "range and one within", { 5, 9 }, 7, false, { 5, 9 } },
	{ "range and its end", { 5, 9 }, 9, false, { 5, 9 } },
	{ "range and a far one", { 5, 9 }, 11, false, { 5, 9 } },
};

static void zcacks_merge(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(merges); i++) {
		u64 pair[2] = { merges[i].before[0], merges[i].before[1] };

		UNIT_EQUAL(lnet_zcack_merge(pair, merges[i].cookie), merges[i].merged,
			   merges[i].row);
		UNIT_EQUAL(pair[0], merges[i].after[0], merges[i].row);
		UNIT_EQUAL(pair[1], merges[i].after[1], merges[i].row);
	}
}

/* Returns which of the cookies 2..33 a NOOP acknowledges, as its receiver decodes it. */
static u32 acked_set(const u64 pair[2])
{
	struct lnet_ksock_hdr hdr = { LNET_KSOCK_NOOP, 0, { pair[0], pair[1] } };
	struct lnet_zcack ack;
	u32 set = 0;
	u64 c;

	lnet_zcack_decode(&ack, &hdr);
	if (ack.kind == LNET_ZCACK_ONE || ack.kind == LNET_ZCACK_TWO)
		return 1U << (ack.first - 2) | 1U << (ack.last - 2);
	CU_ASSERT_EQUAL_FATAL(ack.kind, LNET_ZCACK_RANGE);
	for (c = ack.first; c <= ack.last; c++)
		set |= 1U << (c - 2);
	return set;
}

/* Cookies in any order, merged if they fit: each is acknowledged exactly once. */
static void merged_is_what_is_decoded(void)
{
	unsigned int round, i;
	u64 seed = 6;

	for (round = 0; round < 20000; round++) {
		u64 pair[2] = { 0, 0 };
		u32 want = 0, once = 0;

		for (i = 0; i < 12; i++) {
			u64 cookie;

			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			cookie = 2 + (seed >> 33) % 32;
			if (once & 1U << (cookie - 2))
				continue;
			once |= 1U << (cookie - 2);
			if (lnet_zcack_merge(pair, cookie))
				want |= 1U << (cookie - 2);
			CU_ASSERT_EQUAL_FATAL(acked_set(pair), want);
		}
	}
}

/* ---- garbage ---- */

static void garbage_does_no_harm(void)
{
	unsigned int round, i, hellos_ok = 0, acrs_ok = 0, need;
	u64 seed = 7;

	for (round = 0; round < 100000; round++) {
		struct lnet_hello hello;
		struct lnet_acr acr;
		u8 buf[128] = { 0 };
		unsigned int len;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		len = (seed >> 33) % sizeof(buf);
		for (i = 8; i < len; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			buf[i] = (u8)(seed >> 50) & (u8)(seed >> 40);
		}
		put_unaligned_le32(round & 1 ? LNET_HELLO_MAGIC : swab32(LNET_HELLO_MAGIC), buf);
		put_unaligned_le32(round & 1 ? seed >> 62 | 2 : swab32(seed >> 62 | 2), buf + 4);
		if (round & 2)
			memset(buf + 52, 0, 4);
		hellos_ok += hello_exact(&hello, buf, len, &need) == LNET_HELLO_OK;
		CU_ASSERT_FATAL(need <= LNET_HELLO_SIZE_MAX);
		put_unaligned_le32(round & 1 ? LNET_ACR_MAGIC : swab32(LNET_ACR_MAGIC), buf);
		acrs_ok += acr_exact(&acr, buf, len, &need) == LNET_ACR_OK;
		CU_ASSERT_FATAL(need <= LNET_ACR_SIZE_MAX);
	}
	CU_ASSERT(hellos_ok > 100 && acrs_ok > 100);
}

UNIT_SUITE(sockwire,
	   { "acceptor requests are those of the worked examples", acr_examples },
	   { "acceptor requests of the other byte order", acr_swapped },
	   { "the acceptor decides by its table", acr_table },
	   { "acceptor requests come in any pieces", acr_piecemeal },
	   { "a NID of impossible size is not accepted", acr_impossible_nid },
	   { "HELLOs are those of the worked examples", hello_examples },
	   { "HELLO of version 4 holds large NIDs", hello_large_nids },
	   { "HELLOs of the other byte order", hello_swapped },
	   { "hostile words in a HELLO", hello_hostile_words },
	   { "addresses behind a HELLO are awaited and dropped", hello_addresses },
	   { "connection types invert", ctypes },
	   { "connections by link speed", conns_by_speed },
	   { "frame headers are those of the worked examples", frame_examples },
	   { "frame headers are refused", frame_refused },
	   { "zero-copy answers decode", zcacks_decode },
	   { "zero-copy answers merge", zcacks_merge },
	   { "what was merged is what is decoded", merged_is_what_is_decoded },
	   { "garbage does no harm", garbage_does_no_harm })
