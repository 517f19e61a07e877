/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks that all bytes that stock nodes sent are decoded, and encoded to the same bytes. */
#include "unit.h"
#include "lnd/socklnd/wire.h"
#include "selftest/wire.h"

#define MAX_STREAMS 64
#define MAX_SEGMENTS 8192
#define PCAP_MAGIC 0xa1b2c3d4U
#define TCP_SYN 0x02

/* One direction of a TCP connection. */
struct stream {
	u8 ends[36];			/* addresses of source and destination, then their ports */
	bool to_acceptor;
	bool whole;			/* the capture contains its beginning */
	bool started;
	u32 first;			/* sequence number of data[0] */
	unsigned int len;
	u8 *data, *came;
};

struct segment {
	unsigned int stream;
	u32 seq;
	const u8 *data;
	unsigned int len;
};

struct capture {
	u8 *file;
	unsigned int len;
	unsigned int nr_streams, nr_segments;
	struct stream stream[MAX_STREAMS];
	struct segment segment[MAX_SEGMENTS];
};

/* The counts of a capture; .decode.txt of the capture has the expected ones. */
struct facts {
	unsigned int requests, hellos, acks, puts, gets, replies, noops;
	unsigned int infos;		/* payloads that are ping infos */
	unsigned int zc_requests;
	u64 payload;			/* bytes after LNet headers */
	unsigned int selftests;		/* payloads that are messages of the network self-test */
};

static const struct {
	const char *name;
	struct facts facts;
} captures[] = {
	{ "01-single-connect-hello-ping", { 3, 6, 0, 0, 1, 1, 0, 1, 0, 48 } },
	{ "02-single-ping-again", { 0, 0, 0, 0, 2, 2, 0, 2, 0, 96 } },
	{ "03-single-discover", { 0, 0, 2, 2, 1, 1, 0, 3, 0, 144 } },
	{ "04-mr-connect-discovery-push", { 6, 12, 2, 2, 1, 1, 0, 3, 0, 192 } },
	{ "05-lst-ping-5", { 0, 0, 0, 22, 0, 0, 0, 0, 0, 3520, 22 } },
	{ "06-lst-brw-write-1M-simple-3", { 0, 0, 0, 18, 3, 3, 3, 0, 3, 3148608, 18 } },
	{ "10-lst-brw-4K-rw", { 0, 0, 0, 49, 5, 5, 0, 0, 0, 48000, 44 } },
	{ "18-single-conns-per-peer-2", { 5, 10, 2, 2, 1, 1, 0, 3, 0, 144 } },
	{ "19-acceptor-wrong-nid", { 1, 1, 0, 0, 0, 0, 0, 0, 0, 0 } },
	{ "20-ipv6-large-nid-proto-v4", { 3, 6, 2, 2, 2, 2, 0, 4, 0, 224 } },
	{ "40-routing", { 0, 0, 23, 23, 18, 18, 0, 41, 0, 2288 } },
};

static u32 be32_at(const u8 *p)
{
	return get_unaligned_be32(p);
}

static unsigned int be16_at(const u8 *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

/* ---- from the file to segments ---- */

static u8 *file_read(const char *name, unsigned int *len)
{
	static const char here[] = __FILE__;
	const char *slash = strrchr(here, '/');
	char path[512];
	u8 *bytes = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "%.*s/../captures/%s.pcap", slash ? (int)(slash - here) : 1,
		 slash ? here : ".", name);
	file = fopen(path, "rb");
	if (!file)
		return NULL;
	fseek(file, 0, SEEK_END);
	*len = (unsigned int)ftell(file);
	rewind(file);
	bytes = kmalloc(*len, GFP_KERNEL);
	if (bytes && fread(bytes, 1, *len, file) != *len) {
		kfree(bytes);
		bytes = NULL;
	}
	fclose(file);
	return bytes;
}

static unsigned int stream_find(struct capture *cap, const u8 ends[36])
{
	unsigned int i;

	for (i = 0; i < cap->nr_streams; i++)
		if (!memcmp(cap->stream[i].ends, ends, 36))
			return i;
	CU_ASSERT_FATAL(cap->nr_streams < MAX_STREAMS);
	memcpy(cap->stream[i].ends, ends, 36);
	cap->stream[i].to_acceptor = be16_at(ends + 34) == LNET_ACCEPTOR_PORT;
	return cap->nr_streams++;
}

/* @ends has the addresses. A stream begins after its SYN, or at the lowest sequence number seen. */
static void tcp_take(struct capture *cap, u8 ends[36], const u8 *tcp, unsigned int len)
{
	unsigned int head = len >= 20 ? (tcp[12] >> 4) * 4U : ~0U;
	struct segment *seg = &cap->segment[cap->nr_segments];
	struct stream *st;

	CU_ASSERT_FATAL(head >= 20 && head <= len && cap->nr_segments < MAX_SEGMENTS);
	memcpy(ends + 32, tcp, 4);
	seg->stream = stream_find(cap, ends);
	st = &cap->stream[seg->stream];
	seg->seq = be32_at(tcp + 4);
	seg->data = tcp + head;
	seg->len = len - head;
	if (tcp[13] & TCP_SYN) {
		st->whole = st->started = true;
		st->first = seg->seq + 1;
	}
	if (!seg->len)
		return;
	if (!st->started || (!st->whole && (s32)(seg->seq - st->first) < 0)) {
		st->started = true;
		st->first = seg->seq;
	}
	cap->nr_segments++;
}

/*
 * Takes an Ethernet frame, and ignores other protocols than TCP. The IP length excludes trailing
 * padding.
 */
static void frame_take(struct capture *cap, const u8 *p, unsigned int len)
{
	u8 ends[36] = { 0 };
	unsigned int head, total;

	if (len >= 34 && be16_at(p + 12) == 0x0800 && p[23] == 6) {
		head = (p[14] & 15) * 4U;
		total = be16_at(p + 16);
		memcpy(ends, p + 26, 4);
		memcpy(ends + 16, p + 30, 4);
	} else if (len >= 54 && be16_at(p + 12) == 0x86dd && p[20] == 6) {
		head = 40;
		total = head + be16_at(p + 18);
		memcpy(ends, p + 22, 32);
	} else {
		return;
	}
	CU_ASSERT_FATAL(head <= total && 14 + total <= len);
	tcp_take(cap, ends, p + 14 + head, total - head);
}

static void packets_read(struct capture *cap)
{
	unsigned int pos = 24, len;

	CU_ASSERT_FATAL(cap->len >= 24 && get_unaligned_le32(cap->file) == PCAP_MAGIC);
	CU_ASSERT_FATAL(get_unaligned_le32(cap->file + 20) == 1);
	for (; pos < cap->len; pos += 16 + len) {
		CU_ASSERT_FATAL(cap->len - pos >= 16);
		len = get_unaligned_le32(cap->file + pos + 8);
		CU_ASSERT_FATAL(len == get_unaligned_le32(cap->file + pos + 12));
		CU_ASSERT_FATAL(len <= cap->len - pos - 16);
		frame_take(cap, cap->file + pos + 16, len);
	}
}

/* Joins the segments of each stream, and checks that no byte is missing. */
static void streams_join(struct capture *cap)
{
	unsigned int i;

	for (i = 0; i < cap->nr_segments; i++) {
		struct segment *seg = &cap->segment[i];
		struct stream *st = &cap->stream[seg->stream];

		st->len = max(st->len, seg->seq - st->first + seg->len);
	}
	for (i = 0; i < cap->nr_streams; i++) {
		CU_ASSERT_FATAL(cap->stream[i].len < 16U << 20);
		cap->stream[i].data = kzalloc(cap->stream[i].len + 1, GFP_KERNEL);
		cap->stream[i].came = kzalloc(cap->stream[i].len + 1, GFP_KERNEL);
	}
	for (i = 0; i < cap->nr_segments; i++) {
		struct segment *seg = &cap->segment[i];
		struct stream *st = &cap->stream[seg->stream];
		unsigned int at = seg->seq - st->first;

		memcpy(st->data + at, seg->data, seg->len);
		memset(st->came + at, 1, seg->len);
	}
	for (i = 0; i < cap->nr_streams; i++)
		CU_ASSERT_FATAL(!memchr(cap->stream[i].came, 0, cap->stream[i].len));
}

static struct capture *capture_load(const char *name)
{
	struct capture *cap = kzalloc(sizeof(*cap), GFP_KERNEL);

	CU_ASSERT_FATAL(cap != NULL);
	cap->file = file_read(name, &cap->len);
	if (!cap->file)
		UNIT_TEXT("no such file", "", name);
	CU_ASSERT_FATAL(cap->file != NULL);
	packets_read(cap);
	streams_join(cap);
	return cap;
}

static void capture_free(struct capture *cap)
{
	unsigned int i;

	for (i = 0; i < cap->nr_streams; i++) {
		kfree(cap->stream[i].data);
		kfree(cap->stream[i].came);
	}
	kfree(cap->file);
	kfree(cap);
}

/* ---- from the stream to messages ---- */

/* A position in a stream. */
struct walk {
	const u8 *p;
	unsigned int left;
	bool nid16;
	struct facts *facts;
};

static void walk_on(struct walk *w, unsigned int len)
{
	CU_ASSERT_FATAL(len <= w->left);
	w->p += len;
	w->left -= len;
}

static void request_walk(struct walk *w)
{
	u8 again[LNET_ACR_SIZE_MAX];
	struct lnet_acr acr;
	unsigned int need;

	CU_ASSERT_EQUAL_FATAL(lnet_acr_decode(&acr, w->p, w->left, &need), LNET_ACR_OK);
	CU_ASSERT_EQUAL(lnet_acr_encode(again, &acr), need);
	CU_ASSERT_EQUAL(memcmp(again, w->p, need), 0);
	CU_ASSERT_EQUAL(acr.version, lnet_acr_version(&acr.nid));
	w->facts->requests++;
	walk_on(w, need);
}

static void hello_walk(struct walk *w)
{
	u8 again[LNET_HELLO_SIZE_MAX];
	struct lnet_hello hello;
	unsigned int need;

	CU_ASSERT_EQUAL_FATAL(lnet_hello_decode(&hello, w->p, w->left, &need), LNET_HELLO_OK);
	CU_ASSERT_EQUAL(lnet_hello_encode(again, &hello), need);
	CU_ASSERT_EQUAL(memcmp(again, w->p, need), 0);
	CU_ASSERT(lnet_ctype_is_valid(hello.ctype) && !hello.swapped && hello.src_pid == LNET_PID);
	w->nid16 = hello.version == 4;
	w->facts->hellos++;
	walk_on(w, need);
}

static void info_check(struct walk *w, unsigned int len)
{
	struct lnet_pinginfo_ni nis[16];
	struct lnet_pinginfo info;
	u8 again[512];

	if (len < 4 || get_unaligned_le32(w->p) != LNET_PING_MAGIC)
		return;
	CU_ASSERT_EQUAL_FATAL(lnet_pinginfo_decode(&info, w->p, len, nis, ARRAY_SIZE(nis)), 0);
	CU_ASSERT(info.has_primary && info.size == len && info.pid == LNET_PID);
	CU_ASSERT_EQUAL(lnet_pinginfo_encode(again, sizeof(again), info.features, info.pid,
					     info.seq, nis, info.nr),
			(int)len);
	CU_ASSERT_EQUAL(memcmp(again, w->p, len), 0);
	w->facts->infos++;
}

/* Requests use the portal and the match bits of the table, replies LST_PORTAL_RDMA. */
static void selftest_check(struct walk *w, const struct lnet_hdr *hdr)
{
	const struct lst_rpc_kind *kind;
	u8 again[LST_MSG_SIZE];
	struct lst_msg msg;

	if (hdr->type != LNET_MSG_PUT || hdr->payload_len != LST_MSG_SIZE ||
	    hdr->msg.put.ptl_index < LST_PORTAL_TEST || hdr->msg.put.ptl_index > LST_PORTAL_RDMA)
		return;
	CU_ASSERT_EQUAL_FATAL(lst_msg_decode(&msg, w->p, hdr->payload_len), 0);
	kind = lst_rpc_kind_of_req(msg.type);
	CU_ASSERT_EQUAL(hdr->msg.put.ptl_index, kind ? kind->portal : LST_PORTAL_RDMA);
	CU_ASSERT(!kind || hdr->msg.put.match_bits == kind->service);
	CU_ASSERT_EQUAL(msg.feats, LST_FEATS);
	lst_msg_encode(again, &msg);
	CU_ASSERT_EQUAL(memcmp(again, w->p, sizeof(again)), 0);
	w->facts->selftests++;
}

static void message_walk(struct walk *w)
{
	unsigned int size = lnet_hdr_size(w->nid16);
	u8 again[LNET_HDR_SIZE_MAX];
	struct lnet_hdr hdr;

	CU_ASSERT_FATAL(w->left >= size);
	CU_ASSERT_EQUAL_FATAL(lnet_hdr_decode(&hdr, w->p, w->nid16), 0);
	CU_ASSERT_EQUAL(lnet_hdr_encode(again, &hdr, w->nid16), size);
	CU_ASSERT_EQUAL(memcmp(again, w->p, size), 0);
	CU_ASSERT_FATAL(hdr.payload_len <= w->left - size);
	w->facts->acks += hdr.type == LNET_MSG_ACK;
	w->facts->puts += hdr.type == LNET_MSG_PUT;
	w->facts->gets += hdr.type == LNET_MSG_GET;
	w->facts->replies += hdr.type == LNET_MSG_REPLY;
	w->facts->payload += hdr.payload_len;
	walk_on(w, size);
	info_check(w, hdr.payload_len);
	selftest_check(w, &hdr);
	walk_on(w, hdr.payload_len);
}

static void frame_walk(struct walk *w)
{
	struct lnet_ksock_hdr hdr;
	struct lnet_zcack ack;
	u8 again[LNET_KSOCK_SIZE];

	CU_ASSERT_EQUAL_FATAL(lnet_ksock_decode(&hdr, w->p, w->left, false), 0);
	CU_ASSERT_EQUAL(lnet_ksock_encode(again, &hdr, false), LNET_KSOCK_SIZE);
	CU_ASSERT_EQUAL(memcmp(again, w->p, LNET_KSOCK_SIZE), 0);
	lnet_zcack_decode(&ack, &hdr);
	CU_ASSERT(ack.kind != LNET_ZCACK_BAD);
	walk_on(w, LNET_KSOCK_SIZE);
	w->facts->zc_requests += lnet_zcreq_cookie(&hdr) != 0;
	if (hdr.type == LNET_KSOCK_LNET) {
		message_walk(w);
	} else {
		CU_ASSERT_EQUAL(ack.kind, LNET_ZCACK_ONE);
		w->facts->noops++;
	}
}

static void stream_walk(const struct stream *st, struct facts *facts)
{
	struct walk w = { st->data, st->len, false, facts };

	if (st->whole && w.left) {
		if (st->to_acceptor)
			request_walk(&w);
		hello_walk(&w);
	}
	while (w.left)
		frame_walk(&w);
}

static void facts_compare(const struct facts *got, const struct facts *want, const char *name)
{
	UNIT_EQUAL(got->requests, want->requests, name);
	UNIT_EQUAL(got->hellos, want->hellos, name);
	UNIT_EQUAL(got->acks, want->acks, name);
	UNIT_EQUAL(got->puts, want->puts, name);
	UNIT_EQUAL(got->gets, want->gets, name);
	UNIT_EQUAL(got->replies, want->replies, name);
	UNIT_EQUAL(got->noops, want->noops, name);
	UNIT_EQUAL(got->infos, want->infos, name);
	UNIT_EQUAL(got->zc_requests, want->zc_requests, name);
	UNIT_EQUAL(got->payload, want->payload, name);
	UNIT_EQUAL(got->selftests, want->selftests, name);
}

static void all_captures(void)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(captures); i++) {
		struct capture *cap = capture_load(captures[i].name);
		struct facts facts = { 0 };

		for (j = 0; j < cap->nr_streams; j++)
			stream_walk(&cap->stream[j], &facts);
		facts_compare(&facts, &captures[i].facts, captures[i].name);
		capture_free(cap);
	}
}

UNIT_SUITE(capture,
	   { "every byte of the captures is decoded and encoded again", all_captures })
