/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is the LNet header decoded and encoded correctly, and rejected if it must close a connection? */
#include "unit.h"
#include "lnet/wire.h"
#include "wire_examples.h"

#define FRAME 24		/* size of the frame header before each example */
#define NID_A 0x00020000c0a8320bULL
#define NID_B 0x00020000c0a8320cULL
#define COOKIE_A 0x17f0a1b200000001ULL

/* Decodes an example, checks the common part, and that encoding gives the same bytes. */
static void example_decode(struct lnet_hdr *hdr, const u8 *frame, u32 type, u32 payload_len,
			   u64 from, u64 to, const char *row)
{
	u8 again[LNET_HDR_SIZE_MAX];

	memset(hdr, 0x5a, sizeof(*hdr));
	UNIT_EQUAL(lnet_hdr_decode(hdr, frame + FRAME, false), 0, row);
	UNIT_EQUAL(hdr->type, type, row);
	UNIT_EQUAL(hdr->payload_len, payload_len, row);
	UNIT_EQUAL(lnet_nid_to_nid4(&hdr->src_nid), from, row);
	UNIT_EQUAL(lnet_nid_to_nid4(&hdr->dest_nid), to, row);
	UNIT_EQUAL(hdr->src_pid, LNET_PID, row);
	UNIT_EQUAL(hdr->dest_pid, LNET_PID, row);
	memset(again, 0xa5, sizeof(again));
	UNIT_EQUAL(lnet_hdr_encode(again, hdr, false), LNET_HDR4_SIZE, row);
	UNIT_EQUAL(memcmp(again, frame + FRAME, LNET_HDR4_SIZE), 0, row);
	UNIT_EQUAL(again[LNET_HDR4_SIZE], 0xa5, row);
}

static void get_and_reply(void)
{
	struct lnet_hdr get, reply;

	example_decode(&get, e7, LNET_MSG_GET, 0, NID_A, NID_B, "E7");
	UNIT_EQUAL(get.msg.get.return_wmd.cookie[0], COOKIE_A, "E7");
	UNIT_EQUAL(get.msg.get.return_wmd.cookie[1], 0x41, "E7");
	UNIT_EQUAL(get.msg.get.match_bits, LNET_PING_MATCHBITS, "E7");
	UNIT_EQUAL(get.msg.get.ptl_index, LNET_PORTAL_RESERVED, "E7");
	UNIT_EQUAL(get.msg.get.src_offset, 0, "E7");
	UNIT_EQUAL(get.msg.get.sink_length, LNET_PINGINFO_MIN, "E7");
	example_decode(&reply, e8, LNET_MSG_REPLY, 48, NID_B, NID_A, "E8");
	UNIT_EQUAL(memcmp(&reply.msg.reply.dst_wmd, &get.msg.get.return_wmd, 16), 0, "E8");
}

static void put_and_ack(void)
{
	struct lnet_hdr put, ack;

	example_decode(&put, e9, LNET_MSG_PUT, 48, NID_A, NID_B, "E9");
	UNIT_EQUAL(put.msg.put.ack_wmd.cookie[0], COOKIE_A, "E9");
	UNIT_EQUAL(put.msg.put.ack_wmd.cookie[1], 0x45, "E9");
	UNIT_EQUAL(put.msg.put.match_bits, LNET_PING_MATCHBITS, "E9");
	UNIT_EQUAL(lnet_handle_is_none(&put.msg.put.ack_wmd), false, "E9");
	example_decode(&ack, e10, LNET_MSG_ACK, 0, NID_B, NID_A, "E10");
	UNIT_EQUAL(memcmp(&ack.msg.ack.dst_wmd, &put.msg.put.ack_wmd, 16), 0, "E10");
	UNIT_EQUAL(ack.msg.ack.match_bits, LNET_PING_MATCHBITS, "E10");
	UNIT_EQUAL(ack.msg.ack.mlength, 48, "E10");
}

static void put_without_ack(void)
{
	struct lnet_hdr hdr;

	example_decode(&hdr, e11, LNET_MSG_PUT, 65536, NID_A, NID_B, "E11");
	UNIT_EQUAL(lnet_handle_is_none(&hdr.msg.put.ack_wmd), true, "E11");
	UNIT_EQUAL(hdr.msg.put.match_bits, 0x1234, "E11");
	UNIT_EQUAL(hdr.msg.put.ptl_index, 52, "E11");
	example_decode(&hdr, e15, LNET_MSG_PUT, 160, NID_A, NID_B, "E15");
	UNIT_EQUAL(hdr.msg.put.match_bits, 12, "E15");
	UNIT_EQUAL(hdr.msg.put.ptl_index, 50, "E15");
	example_decode(&hdr, e16, LNET_MSG_PUT, 160, NID_B, NID_A, "E16");
	UNIT_EQUAL(hdr.msg.put.match_bits, 0x68a0000000000001ULL, "E16");
	UNIT_EQUAL(hdr.msg.put.ptl_index, 52, "E16");
}

/*
 * Each field of each type has the offset that the tables define: set a pattern, and find it there.
 */
static void fields_stand_where_they_belong(void)
{
	struct lnet_hdr hdr = {
		.type = LNET_MSG_PUT, .payload_len = 5, .dest_pid = 6, .src_pid = 7
	};
	u8 buf[LNET_HDR_SIZE_MAX];

	hdr.msg.put.hdr_data = 0x1122334455667788ULL;
	hdr.msg.put.ptl_index = 0x99;
	hdr.msg.put.offset = 0xaabbccdd;
	CU_ASSERT_EQUAL(lnet_hdr_encode(buf, &hdr, true), LNET_HDR16_SIZE);
	UNIT_EQUAL(get_unaligned_le32(buf + 40), 6, "dest_pid");
	UNIT_EQUAL(get_unaligned_le32(buf + 44), 7, "src_pid");
	UNIT_EQUAL(get_unaligned_le32(buf + 48), 1, "type");
	UNIT_EQUAL(get_unaligned_le32(buf + 52), 5, "payload");
	UNIT_EQUAL(get_unaligned_le64(buf + 56 + 24), 0x1122334455667788ULL, "hdr_data");
	UNIT_EQUAL(get_unaligned_le32(buf + 56 + 32), 0x99, "ptl_index");
	UNIT_EQUAL(get_unaligned_le32(buf + 56 + 36), 0xaabbccdd, "offset");
	hdr.type = LNET_MSG_GET;
	hdr.msg.get.src_offset = 0x31323334;
	hdr.msg.get.sink_length = 0x41424344;
	CU_ASSERT_EQUAL(lnet_hdr_encode(buf, &hdr, false), LNET_HDR4_SIZE);
	UNIT_EQUAL(get_unaligned_le32(buf + 32 + 28), 0x31323334, "src_offset");
	UNIT_EQUAL(get_unaligned_le32(buf + 32 + 32), 0x41424344, "sink_length");
	UNIT_EQUAL(get_unaligned_le32(buf + 32 + 36), 0, "unused tail");
}

/* A header encoded like an earlier one has the same bytes as one encoded alone. */
static void put_like_another(void)
{
	u8 like[LNET_HDR_SIZE_MAX], buf[LNET_HDR_SIZE_MAX], whole[LNET_HDR_SIZE_MAX];
	struct lnet_hdr hdr;
	unsigned int nid16, size;

	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, e9 + FRAME, false), 0);
	for (nid16 = 0; nid16 < 2; nid16++) {
		hdr.type = LNET_MSG_PUT;
		hdr.payload_len = 77;
		memset(&hdr.msg.put, 0x55, sizeof(hdr.msg.put));
		lnet_hdr_encode(like, &hdr, nid16);
		hdr.payload_len = 78;
		memset(&hdr.msg.put, 0x2a, sizeof(hdr.msg.put));
		hdr.msg.put.hdr_data = 5;
		hdr.msg.put.offset = 6;
		size = lnet_hdr_encode(whole, &hdr, nid16);
		UNIT_EQUAL(lnet_hdr_encode_like(buf, like, &hdr, nid16), size, "as long");
		UNIT_EQUAL(memcmp(buf, whole, size), 0, "the same bytes");
	}
}

/* A header decoded like an earlier one equals one decoded alone, whatever differs. */
static void read_like_another(void)
{
	static const char *const nids[] = { "10.0.0.1@tcp", "10.0.0.2@tcp", "10.0.0.1@tcp9" };
	u8 like[LNET_HDR_SIZE_MAX], buf[LNET_HDR_SIZE_MAX];
	struct lnet_hdr hdr, alone, after;
	unsigned int nid16, i;

	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, e9 + FRAME, false), 0);
	for (nid16 = 0; nid16 < 2; nid16++) {
		lnet_hdr_encode(like, &hdr, nid16);
		for (i = 0; i < 2 * ARRAY_SIZE(nids); i++) {
			struct lnet_hdr other = hdr;

			lnet_nid_parse(i % 2 ? &other.src_nid : &other.dest_nid, nids[i / 2]);
			other.dest_pid++;
			other.payload_len = 5;
			other.msg.put.hdr_data = i;
			lnet_hdr_encode(buf, &other, nid16);
			CU_ASSERT_EQUAL(lnet_hdr_decode(&alone, buf, nid16), 0);
			CU_ASSERT_EQUAL(lnet_hdr_decode(&after, like, nid16), 0);
			CU_ASSERT_EQUAL(lnet_hdr_decode_like(&after, buf, like, nid16), 0);
			UNIT_EQUAL(lnet_nid_same(&alone.src_nid, &after.src_nid), true, "from");
			UNIT_EQUAL(lnet_nid_same(&alone.dest_nid, &after.dest_nid), true, "to");
			UNIT_EQUAL(after.dest_pid, other.dest_pid, "pid");
			UNIT_EQUAL(after.payload_len, 5, "length");
			UNIT_EQUAL(after.msg.put.hdr_data, i, "data");
		}
	}
}

static void large_nids_survive(void)
{
	struct lnet_hdr hdr, again;
	u8 buf[LNET_HDR_SIZE_MAX], twice[LNET_HDR_SIZE_MAX];

	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, e9 + FRAME, false), 0);
	CU_ASSERT_EQUAL(lnet_nid_parse(&hdr.dest_nid, "fd00::12@tcp7"), 0);
	CU_ASSERT_EQUAL(lnet_nid_parse(&hdr.src_nid, "fd00::11@tcp7"), 0);
	CU_ASSERT_EQUAL(lnet_hdr_encode(buf, &hdr, true), LNET_HDR16_SIZE);
	CU_ASSERT_EQUAL(memcmp(buf, &hdr.dest_nid, 20), 0);
	CU_ASSERT_EQUAL(memcmp(buf + 20, &hdr.src_nid, 20), 0);
	CU_ASSERT_EQUAL(lnet_hdr_decode(&again, buf, true), 0);
	CU_ASSERT(lnet_nid_same(&hdr.dest_nid, &again.dest_nid));
	CU_ASSERT(lnet_nid_same(&hdr.src_nid, &again.src_nid));
	CU_ASSERT_EQUAL(lnet_hdr_encode(twice, &again, true), LNET_HDR16_SIZE);
	CU_ASSERT_EQUAL(memcmp(buf, twice, LNET_HDR16_SIZE), 0);
}

/* Type, payload length, and whether the connection stays open. */
static const struct {
	const char *row;
	u32 type, payload_len;
	int rc;
} lengths[] = {
	{ "ACK without payload", 0, 0, 0 },
	{ "ACK with payload", 0, 1, -EPROTO },
	{ "PUT without payload", 1, 0, 0 },
	{ "PUT of one MTU", 1, 1048576, 0 },
	{ "PUT of more", 1, 1048577, -EPROTO },
	{ "PUT of 4 GiB - 1", 1, 0xffffffff, -EPROTO },
	{ "GET without payload", 2, 0, 0 },
	{ "GET with payload", 2, 1, -EPROTO },
	{ "GET with much payload", 2, 0x80000000, -EPROTO },
	{ "REPLY of one MTU", 3, 1048576, 0 },
	{ "REPLY of more", 3, 1048577, -EPROTO },
	{ "HELLO", 4, 0, -EPROTO },
	{ "no type", 0xffffffff, 0, -EPROTO },
};

static void lengths_are_judged(void)
{
	unsigned int i, nid16;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (nid16 = 0; nid16 < 2; nid16++) {
			u8 buf[LNET_HDR_SIZE_MAX] = { 0 };
			struct lnet_hdr hdr;

			put_unaligned_le32(lengths[i].type, buf + (nid16 ? 48 : 24));
			put_unaligned_le32(lengths[i].payload_len, buf + (nid16 ? 52 : 28));
			UNIT_EQUAL(lnet_hdr_decode(&hdr, buf, nid16), lengths[i].rc,
				   lengths[i].row);
		}
	}
}

static void impossible_nids_close(void)
{
	u8 buf[LNET_HDR_SIZE_MAX] = { 0 };
	struct lnet_hdr hdr;

	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, buf, true), 0);
	buf[0] = 13;
	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, buf, true), -EPROTO);
	buf[0] = 12;
	buf[20] = 255;
	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, buf, true), -EPROTO);
	memset(buf + 20, 0xff, 20);
	CU_ASSERT_EQUAL(lnet_hdr_decode(&hdr, buf, true), 0);
	CU_ASSERT(lnet_nid_is_any(&hdr.src_nid));
}

/*
 * Random bytes in memory of exactly the header's size: if a header decodes, it encodes to one that
 * decodes to the same.
 */
static void garbage_does_no_harm(void)
{
	unsigned int round, i, accepted = 0;
	u64 seed = 4;

	for (round = 0; round < 100000; round++) {
		bool nid16 = round & 1;
		unsigned int size = lnet_hdr_size(nid16);
		u8 *buf = kmalloc(size, GFP_KERNEL), out[LNET_HDR_SIZE_MAX],
		   twice[LNET_HDR_SIZE_MAX];
		struct lnet_hdr hdr;

		for (i = 0; i < size; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			buf[i] = (u8)(seed >> 40);
		}
		if (round & 2)
			put_unaligned_le32(seed >> 62, buf + (nid16 ? 48 : 24));
		if (round & 4)
			put_unaligned_le32(0, buf + (nid16 ? 52 : 28));
		if (round & 8)
			buf[0] = buf[20] = 12;
		if (!lnet_hdr_decode(&hdr, buf, nid16)) {
			accepted++;
			lnet_hdr_encode(out, &hdr, nid16);
			CU_ASSERT_EQUAL_FATAL(lnet_hdr_decode(&hdr, out, nid16), 0);
			lnet_hdr_encode(twice, &hdr, nid16);
			CU_ASSERT_EQUAL_FATAL(memcmp(out, twice, size), 0);
		}
		kfree(buf);
	}
	CU_ASSERT(accepted > 1000);
}

UNIT_SUITE(hdr,
	   { "GET and REPLY are those of the worked examples", get_and_reply },
	   { "PUT and ACK are those of the worked examples", put_and_ack },
	   { "PUT without ACK is that of the worked examples", put_without_ack },
	   { "fields stand where they belong", fields_stand_where_they_belong },
	   { "a PUT like another is written as one alone", put_like_another },
	   { "what is read after another is what it is alone", read_like_another },
	   { "large NIDs survive", large_nids_survive },
	   { "payload lengths are judged by type", lengths_are_judged },
	   { "NIDs of impossible size close", impossible_nids_close },
	   { "garbage does no harm", garbage_does_no_harm })
