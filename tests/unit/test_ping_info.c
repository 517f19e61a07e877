/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a ping info encoded and decoded as stock nodes do it, in both byte orders, and does a
 * malicious one do no harm?
 */
#include "unit.h"
#include "lnet/wire.h"
#include "wire_examples.h"

#define ORDINARY 0x1eU		/* features of a node that is no router */

static struct lnet_pinginfo_ni ni_of(const char *text, u32 status)
{
	struct lnet_pinginfo_ni ni = { .status = status };

	CU_ASSERT_EQUAL_FATAL(lnet_nid_parse(&ni.nid, text), 0);
	return ni;
}

/* Decodes from memory that ends where the ping info ends. */
static int exact_decode(struct lnet_pinginfo *out, const u8 *buf, unsigned int len,
			struct lnet_pinginfo_ni *nis, unsigned int max)
{
	u8 *exact = kmemdup(buf, len ? len : 1, GFP_KERNEL);
	struct lnet_pinginfo_ni *room = kmalloc(max * sizeof(*room) + 1, GFP_KERNEL);
	int rc = lnet_pinginfo_decode(out, exact, len, room, max);

	memcpy(nis, room, out->nr * sizeof(*nis));
	kfree(room);
	kfree(exact);
	return rc;
}

static void examples_hold(const u8 *buf, unsigned int len, const char *nid, u32 features, u32 seq)
{
	struct lnet_pinginfo_ni nis[4];
	struct lnet_pinginfo info;
	char text[LNET_NIDSTR_SIZE];
	u8 again[64];

	UNIT_EQUAL(exact_decode(&info, buf, len, nis, 4), 0, nid);
	UNIT_EQUAL(info.features, features, nid);
	UNIT_EQUAL(info.pid, LNET_PID, nid);
	UNIT_EQUAL(info.seq, seq, nid);
	UNIT_EQUAL(info.size, len, nid);
	UNIT_EQUAL(info.nr, 1, nid);
	UNIT_EQUAL(info.nr_seen, 1, nid);
	UNIT_EQUAL(info.has_primary, true, nid);
	UNIT_EQUAL(info.swapped, false, nid);
	UNIT_TEXT(lnet_nid_str(&nis[0].nid, text), nid, "primary");
	UNIT_EQUAL(nis[0].status, LNET_NI_UP, nid);
	UNIT_EQUAL(lnet_pinginfo_encode(again, sizeof(again), ORDINARY, LNET_PID, seq, nis, 1), len,
		   nid);
	UNIT_EQUAL(memcmp(again, buf, len), 0, nid);
}

static void worked_examples(void)
{
	examples_hold(e8 + 96, 48, "192.168.50.12@tcp", ORDINARY, 1);
	examples_hold(e9 + 96, 48, "192.168.50.11@tcp", ORDINARY, 1);
	examples_hold(e17, 56, "fd00::12@tcp", 0x7e, 3);
}

/*
 * Small and large NIDs, with a primary NID of either kind: decoding returns the primary NID first,
 * and encoding yields the same bytes.
 */
static void mixtures_survive(void)
{
	static const struct {
		const char *nids[4];
		u32 features;
		const char *read[4];
	} rows[] = {
		{ { "10.0.0.1@tcp", "10.0.0.2@tcp1", "10.0.0.3@o2ib" }, ORDINARY,
		  { "10.0.0.1@tcp", "10.0.0.2@tcp1", "10.0.0.3@o2ib" } },
		{ { "10.0.0.1@tcp", "fd00::1@tcp", "10.0.0.2@tcp", "fd00::2@tcp" }, ORDINARY | 0x20,
		  { "10.0.0.1@tcp", "10.0.0.2@tcp", "fd00::1@tcp", "fd00::2@tcp" } },
		{ { "fd00::1@tcp", "10.0.0.1@tcp", "fd00::2@tcp", "10.0.0.2@tcp" }, ORDINARY | 0x60,
		  { "fd00::1@tcp", "10.0.0.1@tcp", "10.0.0.2@tcp", "fd00::2@tcp" } },
	};
	struct lnet_pinginfo_ni nis[4], read[4];
	unsigned int i, j, nr;
	struct lnet_pinginfo info;
	char text[LNET_NIDSTR_SIZE];
	u8 buf[256], again[256];

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		for (nr = 0; nr < 4 && rows[i].nids[nr]; nr++)
			nis[nr] = ni_of(rows[i].nids[nr], nr ? LNET_NI_UP : LNET_NI_DOWN);
		int len = lnet_pinginfo_encode(buf, sizeof(buf), ORDINARY, 7, 9, nis, nr);

		UNIT_EQUAL(len, lnet_pinginfo_size(nis, nr), rows[i].nids[0]);
		UNIT_EQUAL(exact_decode(&info, buf, len, read, 4), 0, rows[i].nids[0]);
		UNIT_EQUAL(info.features, rows[i].features, rows[i].nids[0]);
		UNIT_EQUAL(info.nr, nr, rows[i].nids[0]);
		for (j = 0; j < nr; j++)
			UNIT_TEXT(lnet_nid_str(&read[j].nid, text), rows[i].read[j],
				  rows[i].nids[0]);
		UNIT_EQUAL(read[0].status, LNET_NI_DOWN, rows[i].nids[0]);
		UNIT_EQUAL(lnet_pinginfo_encode(again, 256, info.features, 7, 9, read, nr), len,
			   "again");
		UNIT_EQUAL(memcmp(buf, again, len), 0, rows[i].nids[0]);
	}
}

static void feature_bits(void)
{
	struct lnet_pinginfo_ni ni = ni_of("10.0.0.1@tcp", LNET_NI_UP);
	u8 buf[64];

	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 64, LNET_FEAT_OPEN | 0xe0, 1, 2, &ni, 1), 48);
	UNIT_EQUAL(get_unaligned_le32(buf + 4), LNET_FEAT_OPEN | LNET_FEAT_NI_STATUS, "features");
	UNIT_EQUAL(get_unaligned_le32(buf + 28), 0, "msg_size");
}

static void encoder_limits(void)
{
	struct lnet_pinginfo_ni nis[2] = { ni_of("10.0.0.1@tcp", 0), ni_of("fd00::1@tcp", 0) };
	u8 buf[72];

	CU_ASSERT_EQUAL(lnet_pinginfo_size(nis, 2), 72);
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 71, 0, 1, 2, nis, 2), -ENOSPC);
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 72, 0, 1, 2, nis, 2), 72);
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 72, 0, 1, 2, nis, 0), 32);
	nis[1].nid = LNET_NID_ANY;
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 72, 0, 1, 2, nis, 2), -EINVAL);
	nis[1].nid.type = LNET_LND_TCP;
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 72, 0, 1, 2, nis, 2), -EINVAL);
}

/* For a truncated ping info, decoding reports the size needed, and returns the NIDs received. */
static void truncation_is_told(void)
{
	struct lnet_pinginfo_ni nis[4] = { ni_of("fd00::1@tcp", LNET_NI_UP),
					   ni_of("1.1.1.1@tcp", LNET_NI_UP),
					   ni_of("2.2.2.2@tcp", LNET_NI_UP),
					   ni_of("fd00::2@tcp", LNET_NI_UP) },
				read[4];
	struct lnet_pinginfo info;
	u8 buf[128];
	int len = lnet_pinginfo_encode(buf, sizeof(buf), ORDINARY, 1, 2, nis, 4), cut;

	CU_ASSERT_EQUAL_FATAL(len, 112);
	for (cut = 0; cut < len; cut++) {
		int rc = exact_decode(&info, buf, cut, read, 4);
		unsigned int came = cut < 48 ? 0 : cut < 64 ? 1 : cut < 88 ? 2 : 3;

		UNIT_EQUAL(rc, cut < 32 ? -EPROTO : -EMSGSIZE, "rc");
		UNIT_EQUAL(info.size, cut < 32 ? 0 : len, "size");
		UNIT_EQUAL(info.nr, came, "NIDs that came");
		UNIT_EQUAL(info.has_primary, cut >= 88, "primary");
	}
	CU_ASSERT_EQUAL(exact_decode(&info, buf, len, read, 4), 0);
	CU_ASSERT(lnet_nid_same(&read[0].nid, &nis[0].nid));
}

static void small_array_is_told(void)
{
	struct lnet_pinginfo_ni nis[3] = { ni_of("1.1.1.1@tcp", 1), ni_of("2.2.2.2@tcp", 2),
		ni_of("3.3.3.3@tcp", 3) }, read[3];
	struct lnet_pinginfo info;
	u8 buf[128];
	int len = lnet_pinginfo_encode(buf, sizeof(buf), ORDINARY, 1, 2, nis, 3);

	CU_ASSERT_EQUAL(exact_decode(&info, buf, len, read, 2), -ENOBUFS);
	CU_ASSERT(info.nr == 2 && info.nr_seen == 3 && info.has_primary);
	CU_ASSERT_EQUAL(exact_decode(&info, buf, len, read, 0), -ENOBUFS);
	CU_ASSERT(info.nr == 0 && info.nr_seen == 3 && !info.has_primary);
}

static void swap32(u8 *p)
{
	put_unaligned_le32(swab32(get_unaligned_le32(p)), p);
}

/* Converts a ping info to that of a node with the other byte order. */
static void info_swap(u8 *buf, unsigned int len, unsigned int nnis)
{
	unsigned int i, pos = 16 + 16 * nnis;

	for (i = 0; i < 16; i += 4)
		swap32(buf + i);
	for (i = 16; i < pos; i += 16) {
		put_unaligned_le64(swab64(get_unaligned_le64(buf + i)), buf + i);
		swap32(buf + i + 8);
	}
	swap32(buf + 28);
	for (; pos < len; pos += 24)
		swap32(buf + pos);
}

static void swapped_is_read(void)
{
	struct lnet_pinginfo_ni nis[3] = { ni_of("fd00::1@tcp", LNET_NI_UP),
					   ni_of("1.2.3.4@tcp5", LNET_NI_DOWN),
					   ni_of("fd00::2@tcp", LNET_NI_DOWN) },
				read[3];
	struct lnet_pinginfo info;
	u8 buf[128];
	int len = lnet_pinginfo_encode(buf, sizeof(buf), ORDINARY, LNET_PID, 0x01020304, nis, 3);

	info_swap(buf, len, 2);
	CU_ASSERT_EQUAL(exact_decode(&info, buf, len, read, 3), 0);
	CU_ASSERT(info.swapped && info.pid == LNET_PID && info.seq == 0x01020304);
	CU_ASSERT_EQUAL(info.features, ORDINARY | LNET_FEAT_LARGE_ADDR | LNET_FEAT_PRIMARY_LARGE);
	UNIT_EQUAL(info.size, len, "size");
	CU_ASSERT_EQUAL(memcmp(read, nis, sizeof(nis)), 0);
}

/* One word of a valid ping info (E17, or that of E8) is replaced. */
static const struct {
	const char *row;
	bool large;
	unsigned int at;
	u32 value;
	int rc;
} hostile[] = {
	{ "magic", false, 0, 0x70696e66, -EPROTO },
	{ "no NI_STATUS", false, 4, 0x1c, -EPROTO },
	{ "unknown feature", false, 4, 0x8000001e, 0 },
	{ "no entries", false, 12, 0, -EPROTO },
	{ "4096 entries", false, 12, 4096, -EMSGSIZE },
	{ "4097 entries", false, 12, 4097, -EPROTO },
	{ "2^32 - 1 entries", false, 12, 0xffffffff, -EPROTO },
	{ "2^28 + 2 entries, whose size wraps", false, 12, 0x10000002, -EPROTO },
	{ "not loopback first", false, 20, 0x00020000, -EPROTO },
	{ "loopback with an address", false, 16, 1, -EPROTO },
	{ "size said where none is due", false, 28, 4000, 0 },
	{ "size less than the small entries", true, 28, 8, 0 },
	{ "size 0", true, 28, 0, 0 },
	{ "size odd", true, 28, 59, 0 },
	{ "size larger", true, 28, 60, -EMSGSIZE },
	{ "size largest", true, 28, 0xfffffffc, -EPROTO },
	{ "size beyond any", true, 28, LNET_PINGINFO_MAX + 4, -EPROTO },
	{ "NID of 21 bytes", true, 36, 0x0000020d, 0 },
	{ "NID of 263 bytes", true, 36, 0x000002ff, 0 },
	{ "NID of 8 bytes, then rubbish", true, 36, 0x00000200, 0 },
};

static void hostile_words(void)
{
	struct lnet_pinginfo_ni nis[8];
	struct lnet_pinginfo info;
	unsigned int i;
	u8 buf[56];

	for (i = 0; i < ARRAY_SIZE(hostile); i++) {
		unsigned int len = hostile[i].large ? sizeof(e17) : 48;

		memcpy(buf, hostile[i].large ? e17 : e8 + 96, len);
		put_unaligned_le32(hostile[i].value, buf + hostile[i].at);
		UNIT_EQUAL(exact_decode(&info, buf, len, nis, 8), hostile[i].rc, hostile[i].row);
		UNIT_EQUAL(info.size > LNET_PINGINFO_MAX, false, hostile[i].row);
		if (hostile[i].rc != -EPROTO)
			UNIT_EQUAL(info.size >= 32, true, hostile[i].row);
		else
			UNIT_EQUAL(info.size | info.features | info.nr, 0, hostile[i].row);
	}
}

static void impossible_large_is_skipped(void)
{
	struct lnet_pinginfo_ni nis[2];
	struct lnet_pinginfo info;
	u8 buf[112] = { 0 };

	memcpy(buf, e17, sizeof(e17));
	put_unaligned_le32(112, buf + 28);
	memmove(buf + 88, buf + 32, 24);
	memset(buf + 32, 0x77, 56);
	buf[36] = 44;			/* 4 + 44 + 8 = 56 bytes */
	CU_ASSERT_EQUAL(exact_decode(&info, buf, 112, nis, 2), 0);
	CU_ASSERT(info.nr == 1 && info.nr_seen == 1 && info.has_primary);
	CU_ASSERT_EQUAL(memcmp(&nis[0].nid, e17 + 36, 20), 0);
}

static void any_is_left_out(void)
{
	struct lnet_pinginfo_ni nis[3] = { ni_of("1.1.1.1@tcp", 1), ni_of("2.2.2.2@tcp", 2) };
	struct lnet_pinginfo info;
	u8 buf[64];

	CU_ASSERT_EQUAL(lnet_pinginfo_encode(buf, 64, ORDINARY, 1, 2, nis, 2), 64);
	buf[38] = 0xff;			/* the type of the first */
	CU_ASSERT_EQUAL(exact_decode(&info, buf, 64, nis, 3), 0);
	CU_ASSERT(info.nr == 1 && info.nr_seen == 1 && nis[0].status == 2);
}

static void no_primary_is_told(void)
{
	struct lnet_pinginfo_ni nis[2];
	struct lnet_pinginfo info;
	u8 buf[56];

	memcpy(buf, e17, 56);
	put_unaligned_le32(ORDINARY, buf + 4);
	CU_ASSERT_EQUAL(exact_decode(&info, buf, 32, nis, 2), 0);
	CU_ASSERT(!info.has_primary && info.nr == 0);
	put_unaligned_le32(ORDINARY | LNET_FEAT_LARGE_ADDR, buf + 4);
	CU_ASSERT_EQUAL(exact_decode(&info, buf, 56, nis, 2), 0);
	CU_ASSERT(!info.has_primary && info.nr == 1);
}

static void garbage_does_no_harm(void)
{
	unsigned int round, i, accepted = 0;
	u64 seed = 5;

	for (round = 0; round < 100000; round++) {
		struct lnet_pinginfo_ni nis[8];
		struct lnet_pinginfo info;
		u8 buf[160];
		unsigned int len, changes;
		int rc;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		len = (seed >> 33) % sizeof(buf);
		changes = (seed >> 50) % 6;
		memset(buf, 0, sizeof(buf));
		memcpy(buf, round & 1 ? e17 : e8 + 96, 48);
		for (i = 0; i < changes; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			buf[(seed >> 33) % sizeof(buf)] = (u8)(seed >> 56);
		}
		rc = exact_decode(&info, buf, len, nis, 1 + round % 8);
		accepted += rc != -EPROTO;
		CU_ASSERT_FATAL(info.size <= LNET_PINGINFO_MAX && info.nr <= 8);
		CU_ASSERT_FATAL(rc != 0 || info.size <= len);
	}
	CU_ASSERT(accepted > 1000);
}

UNIT_SUITE(ping_info,
	   { "the worked examples are read and written", worked_examples },
	   { "mixtures of small and large NIDs survive", mixtures_survive },
	   { "feature bits are set by what is there", feature_bits },
	   { "the encoder keeps its limits", encoder_limits },
	   { "truncation tells the size that is needed", truncation_is_told },
	   { "an array too small is told", small_array_is_told },
	   { "the other byte order is read", swapped_is_read },
	   { "hostile words are refused or contained", hostile_words },
	   { "an impossible large entry is stepped over", impossible_large_is_skipped },
	   { "an entry that is ANY is left out", any_is_left_out },
	   { "no primary is told", no_primary_is_told },
	   { "garbage does no harm", garbage_does_no_harm })
