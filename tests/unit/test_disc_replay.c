/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tests/captures/03-single-discover, in which two stock nodes discover each other, with our node in
 * the place of either: what the other one sent comes byte for byte but for addresses and handles,
 * and what ours sends then is the same but for those, its sequence and bit 30 of its features.
 */
#include "rails.h"
#include "lnd/socklnd/wire.h"

#define INFO_LEN 48			/* one interface beside the loopback */

/* LNet messages of the capture in the order of its frames. */
struct said {
	struct lnet_hdr hdr;
	u8 bytes[LNET_HDR_SIZE_MAX];	/* of the header */
	u8 data[INFO_LEN];
};

static struct said said[16];
static unsigned int nr_said;

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true,
					    .one_rail = true };

/* ---- reading --------------------------------------------------------------------------------- */

static void message_read(const u8 *p, unsigned int len)
{
	unsigned int size = lnet_hdr_size(false);
	struct said *s = &said[nr_said];

	if (len < LNET_KSOCK_SIZE + size || nr_said == ARRAY_SIZE(said))
		return;
	p += LNET_KSOCK_SIZE;
	if (lnet_hdr_decode(&s->hdr, p, false))
		return;
	memcpy(s->bytes, p, size);
	CU_ASSERT_FATAL(s->hdr.payload_len <= INFO_LEN);
	memcpy(s->data, p + size, s->hdr.payload_len);
	nr_said++;
}

/* IPv4 and TCP only, a message in a segment, as it is in this capture. */
static void capture_read(void)
{
	static const char here[] = __FILE__;
	static u8 file[65536];
	char path[512];
	size_t len, pos, n;
	FILE *in;

	nr_said = 0;
	snprintf(path, sizeof(path), "%.*s/../captures/03-single-discover.pcap",
		 (int)(strrchr(here, '/') - here), here);
	in = fopen(path, "rb");
	CU_ASSERT_FATAL(in != NULL);
	len = fread(file, 1, sizeof(file), in);
	fclose(in);
	for (pos = 24; pos + 16 <= len; pos += 16 + n) {
		const u8 *p = file + pos + 16;
		unsigned int head, tcp;

		n = get_unaligned_le32(file + pos + 8);
		CU_ASSERT_FATAL(n <= len - pos - 16);
		if (n < 54 || p[12] != 8 || p[13] || p[23] != 6)
			continue;
		head = 14 + (p[14] & 15) * 4U;
		tcp = (p[head + 12] >> 4) * 4U;
		message_read(p + head + tcp, 14 + (p[16] << 8 | p[17]) - head - tcp);
	}
}

/* The @nth message of @type. */
static const struct said *captured(u32 type, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < nr_said; i++)
		if (said[i].hdr.type == type && !nth--)
			return &said[i];
	CU_FAIL_FATAL("no such message in the capture");
	return NULL;
}

/* ---- the other node's messages to ours, and ours to it --------------------------------------- */

/* As the stock node said it, from the other's address; @reply: the handle of what it answers. */
static void says(const struct said *s, const struct lnet_hdr *to)
{
	struct rails_msg m = { .from = 1, .type = RAILS_CORE, .hdr = s->hdr };
	struct lnet_nid nid = rails_nid(1, 0);
	u8 data[INFO_LEN];

	memcpy(data, s->data, INFO_LEN);
	put_unaligned_le64(lnet_nid_to_nid4(&nid), data + 32);
	m.data = data;
	m.len = s->hdr.payload_len;
	m.hdr.src_nid = m.via = nid;
	m.hdr.dest_nid = m.at = rails_nid(0, 0);
	if (s->hdr.type == LNET_MSG_REPLY)
		m.hdr.msg.reply.dst_wmd = to->msg.get.return_wmd;
	if (s->hdr.type == LNET_MSG_ACK)
		m.hdr.msg.ack.dst_wmd = to->msg.put.ack_wmd;
	rails_again(&m);
	rails_deliver();
}

/* What ours said first of what is delayed; none other is there. */
static struct rails_msg *heard(u32 type)
{
	struct rails_msg *m;

	list_for_each_entry(m, &rails.delayed, link)
		if (m->hdr.type == type)
			return m;
	CU_FAIL_FATAL("our node said nothing of that type");
	return NULL;
}

/* The header but for addresses and handles; the info but for what is said above. */
static void same(struct rails_msg *m, const struct said *s, const char *what)
{
	u32 features = LNET_FEAT_OPEN | 0x1e;
	u8 again[LNET_HDR_SIZE_MAX];
	struct lnet_hdr hdr = m->hdr;

	hdr.src_nid = s->hdr.src_nid;
	hdr.dest_nid = s->hdr.dest_nid;
	if (hdr.type == LNET_MSG_GET)
		hdr.msg.get.return_wmd = s->hdr.msg.get.return_wmd;
	if (hdr.type == LNET_MSG_PUT)
		hdr.msg.put.ack_wmd = s->hdr.msg.put.ack_wmd;
	if (hdr.type == LNET_MSG_ACK)
		hdr.msg.ack.dst_wmd = s->hdr.msg.ack.dst_wmd;
	if (hdr.type == LNET_MSG_REPLY)
		hdr.msg.reply.dst_wmd = s->hdr.msg.reply.dst_wmd;
	lnet_hdr_encode(again, &hdr, false);
	UNIT_EQUAL(memcmp(again, s->bytes, lnet_hdr_size(false)), 0, what);
	UNIT_EQUAL(m->len, s->hdr.payload_len, what);
	if (!m->len)
		return;
	UNIT_EQUAL(get_unaligned_le32(s->data + 4), 0x1e, "stock's features");
	UNIT_EQUAL(get_unaligned_le32(m->data + 4), features, "our features");
	put_unaligned_le32(0x1e, m->data + 4);
	memcpy(m->data + 24, s->data + 24, 4);	/* the sequence */
	memcpy(m->data + 32, s->data + 32, 8);	/* the NID */
	UNIT_EQUAL(memcmp(m->data, s->data, m->len), 0, what);
}

static void begin(void)
{
	rails_begin(&strangers);
	capture_read();
	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
}

static void told(struct lnet_disc_ask *ask, int status)
{
	UNIT_EQUAL(status, 0, "discovered");
	ask->force = true;
}

/* We discover the stock node: ping, its answer, our push, its ACK; and its push, our ACK. */
static void test_asking(void)
{
	struct lnet_disc_ask ask = { .nid = rails_nid(1, 0), .done = told };
	struct rails_msg *m;

	begin();
	UNIT_EQUAL(lnet_disc_ask(rails.node[0].ln, &ask), 0, "asked");
	rails_pump();
	m = heard(LNET_MSG_GET);
	same(m, captured(LNET_MSG_GET, 0), "GET");
	says(captured(LNET_MSG_REPLY, 0), &m->hdr);
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails_peer(0, 1)->mr, 1, "multi-rail");
	m = heard(LNET_MSG_PUT);
	says(captured(LNET_MSG_ACK, 0), &m->hdr);
	same(m, captured(LNET_MSG_PUT, 0), "push");
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_DONE, "done");
	UNIT_EQUAL(ask.force, true, "told");
	says(captured(LNET_MSG_PUT, 1), NULL);
	rails_run(2 * RAILS_MS);
	same(heard(LNET_MSG_ACK), captured(LNET_MSG_ACK, 1), "ACK");
	rails_clear();
	rails_end();
}

/* The stock node discovers us: its ping, our answer, its push, our ACK; and our push, its ACK. */
static void test_asked(void)
{
	struct rails_msg *m;

	begin();
	says(captured(LNET_MSG_GET, 0), NULL);
	rails_run(2 * RAILS_MS);
	same(heard(LNET_MSG_REPLY), captured(LNET_MSG_REPLY, 0), "REPLY");
	says(captured(LNET_MSG_PUT, 0), NULL);
	rails_run(2 * RAILS_MS);
	same(heard(LNET_MSG_ACK), captured(LNET_MSG_ACK, 0), "ACK");
	m = heard(LNET_MSG_PUT);
	says(captured(LNET_MSG_ACK, 1), &m->hdr);
	same(m, captured(LNET_MSG_PUT, 1), "the push back");
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_DONE, "done");
	UNIT_EQUAL(rails_peer(0, 1)->mr, 1, "multi-rail");
	rails_clear();
	rails_end();
}

UNIT_SUITE(disc_replay,
	{ "our node discovers the stock node", test_asking },
	{ "the stock node discovers ours", test_asked })
