/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Are messages of the self-test coded as the wire format specifies, in both byte orders? */
#include "unit.h"
#include "selftest/wire.h"
#include "wire_examples.h"

#define FRAME 96		/* of the headers before each example's payload */

static void worked_examples(void)
{
	struct lst_msg req, rpy;
	u8 again[LST_MSG_SIZE];

	UNIT_EQUAL(lst_msg_decode(&req, e15 + FRAME, LST_MSG_SIZE), 0, "E15");
	UNIT_EQUAL(req.type, LST_PING_REQ, "E15");
	UNIT_EQUAL(req.feats, LST_FEATS, "E15");
	UNIT_EQUAL(req.swapped, false, "E15");
	UNIT_EQUAL(req.rpyid, 0x68a0000000000001ULL, "E15");
	UNIT_EQUAL(req.ping_req.magic, LST_PING_MAGIC, "E15");
	UNIT_EQUAL(req.ping_req.seq, 0, "E15");
	UNIT_EQUAL(req.ping_req.sec, 0x68a1b2c3, "E15");
	UNIT_EQUAL(req.ping_req.nsec, 500, "E15");
	lst_msg_encode(again, &req);
	UNIT_EQUAL(memcmp(again, e15 + FRAME, sizeof(again)), 0, "E15");
	UNIT_EQUAL(lst_msg_decode(&rpy, e16 + FRAME, LST_MSG_SIZE), 0, "E16");
	UNIT_EQUAL(rpy.type, LST_PING_RPY, "E16");
	UNIT_EQUAL(rpy.status, 0, "E16");
	UNIT_EQUAL(rpy.ping_rpy.magic, LST_PING_MAGIC, "E16");
	lst_msg_encode(again, &rpy);
	UNIT_EQUAL(memcmp(again, e16 + FRAME, sizeof(again)), 0, "E16");
}

/* The offsets of numbers: each field has a separate value, which is expected at its offset. */
static const struct row {
	const char *name;
	u32 type, feats, service;	/* service: of a TEST request */
	struct {
		u8 offset, size;
	} number[32];
} rows[] = {
	{ "MAKE_SESSION request", 0, 1, 0,
	  { { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 4 }, { 84, 8 }, { 92, 4 } } },
	{ "MAKE_SESSION reply", 1, 1, 0,
	  { { 24, 4 }, { 28, 8 }, { 36, 8 }, { 44, 4 }, { 80, 8 } } },
	{ "REMOVE_SESSION request", 2, 1, 0, { { 24, 8 }, { 32, 8 }, { 40, 8 } } },
	{ "REMOVE_SESSION reply", 3, 1, 0, { { 24, 4 }, { 28, 8 }, { 36, 8 } } },
	{ "BATCH request", 4, 1, 0,
	  { { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 8 }, { 56, 4 }, { 60, 4 }, { 64, 4 } } },
	{ "BATCH reply", 5, 1, 0, { { 24, 4 }, { 28, 8 }, { 36, 8 }, { 44, 4 }, { 48, 4 } } },
	{ "QUERY_STAT request", 6, 1, 0, { { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 4 } } },
	{ "QUERY_STAT reply", 7, 1, 0,
	  { { 24, 4 }, { 28, 8 }, { 36, 8 }, { 44, 4 }, { 48, 4 }, { 52, 4 }, { 56, 4 }, { 60, 4 },
	    { 64, 4 }, { 68, 4 }, { 72, 4 }, { 76, 4 }, { 80, 4 }, { 84, 8 }, { 92, 8 }, { 100, 4 },
	    { 104, 4 }, { 108, 4 }, { 112, 4 }, { 116, 4 }, { 120, 4 }, { 124, 4 }, { 128, 8 },
	    { 136, 8 }, { 144, 8 }, { 152, 8 } } },
	{ "TEST request, bytes", 8, 1, 11,
	  { { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 8 }, { 56, 8 }, { 68, 4 }, { 72, 4 }, { 76, 1 },
	    { 77, 1 }, { 78, 4 }, { 82, 2 }, { 84, 2 }, { 86, 4 }, { 90, 4 } } },
	{ "TEST request, pages", 8, 0, 11,
	  { { 24, 8 }, { 32, 8 }, { 56, 8 }, { 78, 4 }, { 82, 4 }, { 86, 4 }, { 90, 4 } } },
	{ "TEST request, ping", 8, 1, 12,
	  { { 24, 8 }, { 32, 8 }, { 56, 8 }, { 78, 4 }, { 82, 4 }, { 86, 4 } } },
	{ "TEST reply", 9, 1, 0, { { 24, 4 }, { 28, 8 }, { 36, 8 } } },
	{ "DEBUG request", 10, 1, 0, { { 24, 8 }, { 32, 8 }, { 40, 8 }, { 48, 4 } } },
	{ "DEBUG reply", 11, 1, 0,
	  { { 24, 4 }, { 28, 8 }, { 36, 8 }, { 44, 4 }, { 48, 4 }, { 84, 8 } } },
	{ "BRW request", 12, 1, 0, { { 24, 8 }, { 32, 8 }, { 40, 4 }, { 44, 4 }, { 48, 4 } } },
	{ "BRW reply", 13, 1, 0, { { 24, 4 } } },
	{ "PING request", 14, 1, 0, { { 24, 8 }, { 32, 4 }, { 36, 4 }, { 40, 8 }, { 48, 8 } } },
	{ "PING reply", 15, 1, 0, { { 24, 4 }, { 28, 4 }, { 32, 4 } } },
	{ "JOIN request", 16, 1, 0, { { 24, 8 }, { 32, 8 }, { 40, 8 } } },
	{ "JOIN reply", 17, 1, 0, { { 24, 4 }, { 28, 8 }, { 36, 8 }, { 44, 4 } } },
};

static void number_put(u8 *buf, u32 size, u64 v, bool big)
{
	u32 i;

	for (i = 0; i < size; i++)
		buf[big ? size - 1 - i : i] = (u8)(v >> 8 * i);
}

/* Writes the message of a row without the codec, in either byte order. */
static void row_bytes(const struct row *row, u8 *buf, bool big)
{
	unsigned int i;

	memset(buf, 0, LST_MSG_SIZE);
	number_put(buf, 4, 0xeeb0f00d, big);
	number_put(buf + 4, 4, 1, big);
	number_put(buf + 8, 4, row->type, big);
	number_put(buf + 20, 4, row->feats, big);
	if (row->service)
		number_put(buf + 64, 4, row->service, big);
	for (i = 0; i < 32 && row->number[i].size; i++)
		number_put(buf + row->number[i].offset, row->number[i].size,
			   0x0102030405060708ULL * (i + 1), big);
}

static void every_field_in_both_orders(void)
{
	u8 little[LST_MSG_SIZE], big[LST_MSG_SIZE], again[LST_MSG_SIZE];
	struct lst_msg one, other;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		row_bytes(&rows[i], little, false);
		row_bytes(&rows[i], big, true);
		UNIT_EQUAL(lst_msg_decode(&one, little, LST_MSG_SIZE), 0, rows[i].name);
		UNIT_EQUAL(lst_msg_decode(&other, big, LST_MSG_SIZE), 0, rows[i].name);
		UNIT_EQUAL(one.swapped != other.swapped, true, rows[i].name);
		lst_msg_encode(again, &one);
		UNIT_EQUAL(memcmp(again, little, sizeof(again)), 0, rows[i].name);
		lst_msg_encode(again, &other);
		UNIT_EQUAL(memcmp(again, big, sizeof(again)), 0, rows[i].name);
		other.swapped = one.swapped;
		UNIT_EQUAL(memcmp(&one, &other, sizeof(one)), 0, rows[i].name);
	}
}

static void what_is_refused(void)
{
	u8 buf[LST_MSG_SIZE];
	struct lst_msg msg;

	row_bytes(&rows[0], buf, false);
	UNIT_EQUAL(lst_msg_decode(&msg, buf, LST_MSG_SIZE - 1), -EMSGSIZE, "short");
	UNIT_EQUAL(lst_msg_decode(&msg, buf, 0), -EMSGSIZE, "empty");
	buf[4] = 2;
	UNIT_EQUAL(lst_msg_decode(&msg, buf, LST_MSG_SIZE), -EPROTO, "version");
	UNIT_EQUAL(msg.rpyid, 0x0102030405060708ULL, "whom to answer");
	buf[4] = 1;
	buf[8] = 18;
	UNIT_EQUAL(lst_msg_decode(&msg, buf, LST_MSG_SIZE), -ENOMSG, "type");
	buf[8] = buf[11] = 0xff;
	UNIT_EQUAL(lst_msg_decode(&msg, buf, LST_MSG_SIZE), -ENOMSG, "large type");
	buf[0] = 0;
	UNIT_EQUAL(lst_msg_decode(&msg, buf, LST_MSG_SIZE), -EBADMSG, "magic");
}

static void names(void)
{
	struct lst_msg msg = { .type = LST_MAKE_SESSION_REQ, .version = LST_VERSION };
	u8 buf[LST_MSG_SIZE];

	strscpy(msg.make_session_req.name, "lab", LST_NAME);
	lst_msg_encode(buf, &msg);
	UNIT_TEXT((char *)buf + 52, "lab", "written");
	memset(buf + 52, 'x', LST_NAME);
	UNIT_EQUAL(lst_msg_decode(&msg, buf, sizeof(buf)), 0, "name without end");
	UNIT_EQUAL(strlen(msg.make_session_req.name), LST_NAME - 1, "ends");
}

static void destinations(void)
{
	u8 list[2 * LST_PAGE] = { 0 };
	struct lst_dest in = { 0x000200000a000001ULL, 12345 }, out;

	lst_dest_encode(list, 341, &in);
	lst_dest_decode(&out, list + LST_PAGE, 0, false);
	UNIT_EQUAL(out.nid, in.nid, "the 342nd begins a page");
	UNIT_EQUAL(out.pid, in.pid, "the 342nd begins a page");
	lst_dest_decode(&out, list, 341, true);
	UNIT_EQUAL(out.nid, swab64(in.nid), "other order");
	UNIT_EQUAL(lst_dests_size(341), 4092, "a page full");
	UNIT_EQUAL(lst_dests_size(342), 4108, "and one more");
	UNIT_EQUAL(lst_dests_size(3), 36, "three");
}

static void services(void)
{
	UNIT_EQUAL(lst_rpc_kind(LST_SERVICE_BRW)->portal, LST_PORTAL_TEST, "BRW");
	UNIT_EQUAL(lst_rpc_kind(LST_SERVICE_TEST)->portal, LST_PORTAL_FRAMEWORK, "TEST");
	UNIT_EQUAL(lst_rpc_kind(7) == NULL, true, "none");
	UNIT_EQUAL(lst_rpc_kind_of_req(LST_PING_RPY) == NULL, true, "a reply");
	UNIT_EQUAL(lst_rpc_kind_of_req(LST_PING_REQ)->service, LST_SERVICE_PING, "PING");
}

UNIT_SUITE(stwire,
	   { "the worked examples", worked_examples },
	   { "each field of each message stands where it should, in both orders",
	     every_field_in_both_orders },
	   { "other lengths, magics, versions and types are refused", what_is_refused },
	   { "names have an end", names },
	   { "lists of destinations have pages", destinations },
	   { "who serves what", services })
