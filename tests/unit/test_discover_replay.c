/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Captured discoveries of stock nodes, replayed with the local node in the place of each end, and
 * of the router between them. The messages of the other nodes are replayed byte for byte, except
 * for the handles in their replies. The messages of the local node must be the captured ones,
 * except for its handles, its sequence and bit 30 of its features.
 */
#include "rails.h"
#include "service/service.h"
#include "router/router.h"
#include "lnd/socklnd/wire.h"

#define INFO_MAX 64			/* longest info in the captures */
#define LNET_MESSAGE 0xc1		/* type of a socklnd message that is not a NOOP */

enum { A, B, NOBODY };			/* A discovers B */

/* One discovery in a capture. */
struct row {
	const char *file;
	const char *end[2][RAILS_RAILS];
	const char *gateway[2];		/* as A and B see it; NULL: they share a net */
	unsigned int get, push, back;	/* index of the GET and push of A, of the push of B */
	int link;			/* third byte of the frames' IPv4 addresses; -1: any */
	bool large;			/* headers of 96 bytes */
	bool router;			/* B is a router */
};

static const struct row rows[] = {
	{ "03-single-discover", { { "10.77.0.2@tcp" }, { "10.77.0.3@tcp" } }, .link = -1 },
	{ "18-single-conns-per-peer-2", { { "10.77.0.2@tcp" }, { "10.77.0.3@tcp" } }, .link = -1 },
	{ "04-mr-connect-discovery-push", { { "10.77.0.2@tcp", "10.77.1.2@tcp" },
					    { "10.77.0.3@tcp", "10.77.1.3@tcp" } }, .link = -1 },
	{ "20-ipv6-large-nid-proto-v4", { { "fd77::2@tcp" }, { "fd77::3@tcp" } }, .get = 1,
	  .link = -1, .large = true },
	{ "40-routing", { { "10.77.0.2@tcp" }, { "10.77.0.4@tcp", "10.77.1.4@tcp1" } }, .get = 3,
	  .push = 2, .back = 3, .link = 0, .router = true },
	{ "40-routing", { { "10.77.1.3@tcp1" }, { "10.77.0.4@tcp", "10.77.1.4@tcp1" } }, .get = 3,
	  .push = 3, .back = 3, .link = 1, .router = true },
	{ "40-routing", { { "10.77.0.2@tcp" }, { "10.77.1.3@tcp1" } },
	  { "10.77.0.4@tcp", "10.77.1.4@tcp1" }, .get = 1, .link = 0 },
	{ "40-routing", { { "10.77.0.2@tcp" }, { "10.77.1.3@tcp1" } },
	  { "10.77.0.4@tcp", "10.77.1.4@tcp1" }, .get = 1, .link = 1 },
};

enum { NEAR_GATEWAY = 4, FAR_GATEWAY, ROUTED, ROUTED_FAR };	/* rows above */

/* Messages between the ends of a row, in the order of their frames. */
struct said {
	struct lnet_hdr hdr;
	u8 bytes[LNET_HDR_SIZE_MAX];	/* the encoded header */
	u8 data[INFO_MAX];
	unsigned int from;
};

static struct said said[64];
static unsigned int nr_said;
static const struct row *row;
static unsigned int us;			/* the end that the local node replaces */
static bool is_check;			/* a gateway check: a ping without a push */

/* ---- reading of captures --------------------------------------------------------------------- */

static unsigned int end_of(const struct lnet_nid *nid)
{
	unsigned int end, rail;
	struct lnet_nid at;

	for (end = A; end < NOBODY; end++)
		for (rail = 0; rail < RAILS_RAILS; rail++)
			if (row->end[end][rail] && !lnet_nid_parse(&at, row->end[end][rail]) &&
			    lnet_nid_same(&at, nid))
				return end;
	return NOBODY;
}

/* Reads the message at @p. Returns its length, or 0 if there is none. */
static unsigned int message_read(const u8 *p, unsigned int len)
{
	unsigned int size = lnet_hdr_size(row->large);
	struct said *s = &said[nr_said];

	if (len < LNET_KSOCK_SIZE + size || get_unaligned_le32(p) != LNET_MESSAGE)
		return 0;
	p += LNET_KSOCK_SIZE;
	CU_ASSERT_FATAL(nr_said < ARRAY_SIZE(said) && !lnet_hdr_decode(&s->hdr, p, row->large));
	memcpy(s->bytes, p, size);
	CU_ASSERT_FATAL(s->hdr.payload_len <= INFO_MAX);
	memcpy(s->data, p + size, s->hdr.payload_len);
	s->from = end_of(&s->hdr.src_nid);
	nr_said += s->from != NOBODY && end_of(&s->hdr.dest_nid) == !s->from;
	return LNET_KSOCK_SIZE + size + s->hdr.payload_len;
}

/* Each segment contains whole messages, as in these captures. */
static void frame_read(const u8 *p, unsigned int n)
{
	bool v6 = p[12] == 0x86;
	unsigned int head = v6 ? 54 : 14 + (p[14] & 15) * 4U, len;

	if (p[12] != (v6 ? 0x86 : 8) || p[13] != (v6 ? 0xdd : 0) || p[v6 ? 20 : 23] != 6)
		return;
	if (row->link >= 0 && p[28] != row->link)
		return;
	n = v6 ? 54 + (p[18] << 8 | p[19]) : 14 + (p[16] << 8 | p[17]);
	for (head += (p[head + 12] >> 4) * 4U; head < n; head += len) {
		len = message_read(p + head, n - head);
		if (!len)
			return;
	}
}

static void capture_read(const struct row *r)
{
	static const char here[] = __FILE__;
	static u8 file[65536];
	char path[512];
	size_t len, pos, n;
	FILE *in;

	row = r;
	nr_said = 0;
	snprintf(path, sizeof(path), "%.*s/../captures/%s.pcap",
		 (int)(strrchr(here, '/') - here), here, row->file);
	in = fopen(path, "rb");
	CU_ASSERT_FATAL(in != NULL);
	len = fread(file, 1, sizeof(file), in);
	fclose(in);
	for (pos = 24; pos + 16 <= len; pos += 16 + n) {
		n = get_unaligned_le32(file + pos + 8);
		CU_ASSERT_FATAL(n <= len - pos - 16);
		if (n >= 54)
			frame_read(file + pos + 16, n);
	}
}

/* The @nth message of @type from @end. */
static const struct said *captured(unsigned int end, u32 type, unsigned int nth)
{
	unsigned int i;

	for (i = 0; i < nr_said; i++)
		if (said[i].from == end && said[i].hdr.type == type && !nth--)
			return &said[i];
	UNIT_TEXT("no such message in the capture", "", row->file);
	CU_FAIL_FATAL("no such message");
	return NULL;
}

/* ---- messages to and from the local node ----------------------------------------------------- */

/*
 * Sends @s to the local node, through the gateway if there is one. @to is the header that @s
 * replies to; its addresses and handle are used.
 */
static void says(const struct said *s, const struct lnet_hdr *to)
{
	struct rails_msg m = { .from = 1, .type = RAILS_CORE, .hdr = s->hdr };

	m.data = (u8 *)s->data;
	m.len = s->hdr.payload_len;
	if (to) {
		m.hdr.src_nid = to->dest_nid;
		m.hdr.dest_nid = to->src_nid;
	}
	m.via = row->gateway[us] ? rails_nid(2, 0) : m.hdr.src_nid;
	m.at = m.hdr.dest_nid;
	if (s->hdr.type == LNET_MSG_REPLY)
		m.hdr.msg.reply.dst_wmd = to->msg.get.return_wmd;
	if (s->hdr.type == LNET_MSG_ACK)
		m.hdr.msg.ack.dst_wmd = to->msg.put.ack_wmd;
	rails_again(&m);
	rails_deliver();
	rails_run(2 * RAILS_MS);
}

/* The first delayed message of @type from the local node to the other end. */
static struct rails_msg *heard(u32 type)
{
	struct rails_msg *m;

	list_for_each_entry(m, &rails.delayed, link)
		if (m->hdr.type == type && end_of(&m->hdr.dest_nid) == !us)
			return m;
	UNIT_TEXT("our node said nothing of that type", "", row->file);
	CU_FAIL_FATAL("silence");
	return NULL;
}

static void same_info(struct rails_msg *m, const struct said *s, const char *what)
{
	u32 features = get_unaligned_le32(s->data + 4);

	UNIT_EQUAL(get_unaligned_le32(m->data + 4), features | LNET_FEAT_OPEN, "features");
	put_unaligned_le32(features, m->data + 4);
	memcpy(m->data + 24, s->data + 24, 4);	/* the sequence */
	UNIT_EQUAL(memcmp(m->data, s->data, m->len), 0, what);
}

/*
 * Checks that the local node sent the captured message, through the gateway if there is one.
 * Returns its header, which the reply needs.
 */
static struct lnet_hdr same(u32 type, unsigned int nth, const char *what)
{
	const struct said *s = captured(us, type, nth);
	struct rails_msg *m = heard(type);
	struct lnet_hdr hdr = m->hdr, h = m->hdr;
	struct lnet_nid at = row->gateway[us] ? rails_nid(2, 0) : hdr.dest_nid;
	u8 again[LNET_HDR_SIZE_MAX];

	if (type == LNET_MSG_GET)
		h.msg.get.return_wmd = s->hdr.msg.get.return_wmd;
	if (type == LNET_MSG_PUT)
		h.msg.put.ack_wmd = s->hdr.msg.put.ack_wmd;
	if (type == LNET_MSG_PUT && us == B && end_of(&h.src_nid) == us) {
		h.src_nid = s->hdr.src_nid;	/* a push back may use any two interfaces */
		h.dest_nid = s->hdr.dest_nid;
	}
	if (type == LNET_MSG_GET && is_check) {
		UNIT_EQUAL(h.msg.get.sink_length, LNET_PINGINFO_MANUAL, "all it may say");
		h.msg.get.sink_length = s->hdr.msg.get.sink_length;
	}
	lnet_hdr_encode(again, &h, row->large);
	UNIT_EQUAL(memcmp(again, s->bytes, lnet_hdr_size(row->large)), 0, what);
	UNIT_EQUAL(lnet_nid_same(&m->at, &at), true, "next hop");
	UNIT_EQUAL(m->len, s->hdr.payload_len, what);
	if (m->len == s->hdr.payload_len && m->len)
		same_info(m, s, what);
	rails_msg_free(m);
	return hdr;
}

/* ---- the local node -------------------------------------------------------------------------- */

/* A ping of a listed NID, or NULL. Its requested length differs from that of a discovery ping. */
static struct rails_msg *proof_asked(void)
{
	struct rails_msg *m;

	list_for_each_entry(m, &rails.delayed, link)
		if (m->hdr.type == LNET_MSG_GET &&
		    m->hdr.msg.get.sink_length % LNET_PINGINFO_MIN)
			return m;
	return NULL;
}

/* Replies to each ping of a listed NID with the info of @s. */
static void prove(const struct said *s)
{
	struct rails_msg *m;

	while ((m = proof_asked())) {
		struct said answer = *s;

		answer.hdr.type = LNET_MSG_REPLY;
		says(&answer, &m->hdr);
		rails_msg_free(m);
	}
}

static void told(struct lnet_disc_ask *ask, int status)
{
	UNIT_EQUAL(status, 0, "discovered");
	ask->force = true;
}

/* The local node discovers B of the row. */
static void discover(struct lnet_disc_ask *ask)
{
	struct lnet_hdr hdr;

	UNIT_EQUAL(lnet_disc_ask(rails.node[0].ln, ask), 0, "asked");
	rails_run(2 * RAILS_MS);
	hdr = same(LNET_MSG_GET, row->get, "GET");
	says(captured(B, LNET_MSG_REPLY, row->get), &hdr);
	prove(captured(B, LNET_MSG_REPLY, row->get));
	hdr = same(LNET_MSG_PUT, row->push, "push");
	says(captured(B, LNET_MSG_ACK, row->push), &hdr);
}

/* Adds a route over the gateway, and replays the gateway check. */
static void route_begin(void)
{
	const struct row *routed = row;
	unsigned int end = us;
	struct lnet_route_cfg cfg = { .hops = -1, .gateway = rails_nid(2, 0) };
	struct lnet_nid far = rails_nid(1, 0);
	struct lnet_hdr hdr;

	cfg.net = lnet_nid_net(&far);
	UNIT_EQUAL(lnet_route_add(rails.node[0].ln, &cfg), 0, "a route");
	us = A;
	is_check = true;
	capture_read(&rows[end == A ? NEAR_GATEWAY : FAR_GATEWAY]);
	rails_run(2 * RAILS_MS);
	hdr = same(LNET_MSG_GET, row->get, "check");
	says(captured(B, LNET_MSG_REPLY, row->get), &hdr);
	is_check = false;
	us = end;
	capture_read(routed);
}

static void set(const char *name, u64 value)
{
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, name, value), 0, name);
}

/*
 * The router forwards, and advertises it after 10 s in which its interfaces receive pings; times as
 * in the capture.
 */
static void router_begin(void)
{
	struct rails_msg m = { .from = 1, .type = RAILS_CORE };
	unsigned int i;

	set("alive_router_check_interval", 5 * NSEC_PER_SEC);
	set("router_ping_timeout", 5 * NSEC_PER_SEC);
	UNIT_EQUAL(lnet_router_enable(rails.node[0].ln, true), 0, "a router");
	for (i = 0; i < 8; i++) {
		rails_run(2 * NSEC_PER_SEC);
		m.hdr = captured(A, LNET_MSG_GET, row->get)->hdr;
		m.hdr.src_nid = m.via = rails_nid(3, i % 2);
		m.hdr.dest_nid = m.at = rails_nid(0, i % 2);
		rails_again(&m);
	}
	rails_run(2 * RAILS_MS);
}

/* The local node is node 0; the others exist only as NIDs. */
static void begin(const struct row *r, unsigned int end)
{
	static const char *nids[RAILS_NODES][RAILS_RAILS];
	struct rails_cfg cfg = { .nr_nodes = 1, .quiet = true, .discover = true, .strangers = true,
				 .nids = nids };
	unsigned int i;

	for (i = 0; i < RAILS_RAILS; i++) {
		nids[0][i] = r->end[end][i];
		nids[1][i] = r->end[!end][i];
		nids[2][i] = r->gateway[i == 0 ? end : !end];
		nids[3][i] = i ? "10.77.1.9@tcp1" : "10.77.0.9@tcp";
	}
	us = end;
	rails_begin(&cfg);
	capture_read(r);
	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	if (end == B && r->router)
		router_begin();
	if (r->gateway[0])
		route_begin();
}

/* Checks that the local node knows the NIDs of the other end. */
static void end(void)
{
	struct lnet_nid nid = rails_nid(1, 0);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(rails.node[0].ln, &nid);
	unsigned int i, nr = 0;

	UNIT_EQUAL(pni->peer->disc.state, DISC_DONE, row->file);
	UNIT_EQUAL(pni->peer->mr, 1, "multi-rail");
	UNIT_EQUAL(lnet_nid_same(&pni->peer->primary, &nid), true, "its first is its name");
	for (i = 0; i < RAILS_RAILS; i++)
		nr += row->end[!us][i] != NULL;
	UNIT_EQUAL(list_count_nodes(&pni->peer->pnis), nr, "its interfaces");
	lnet_peer_ni_put(pni);
	rails_clear();
	rails_end();
}

/*
 * The local node discovers the stock node: ping, REPLY, push, ACK; then the stock node's push, and
 * its ACK.
 */
static void test_asking(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lnet_disc_ask ask = { .done = told };

		begin(&rows[i], A);
		ask.nid = rails_nid(1, row->router ? (unsigned int)row->link : 0);
		discover(&ask);
		UNIT_EQUAL(ask.force, true, "told");
		says(captured(B, LNET_MSG_PUT, row->back), NULL);
		same(LNET_MSG_ACK, row->back, "ACK");
		end();
	}
}

/*
 * The stock node discovers the local node: ping, REPLY, push, ACK; then the local node's push, and
 * its ACK.
 */
static void test_asked(void)
{
	struct lnet_hdr hdr;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(&rows[i], B);
		says(captured(A, LNET_MSG_GET, row->get), NULL);
		same(LNET_MSG_REPLY, row->get, "REPLY");
		says(captured(A, LNET_MSG_PUT, row->push), NULL);
		same(LNET_MSG_ACK, row->push, "ACK");
		prove(captured(A, LNET_MSG_PUT, row->push));
		hdr = same(LNET_MSG_PUT, row->back, "the push back");
		says(captured(A, LNET_MSG_ACK, row->back), &hdr);
		end();
	}
}

/* ---- the local node as the router between both ends ------------------------------------------ */

/* The router receives @in from its sender, and forwards it to the other end as @out. */
static void passes(const struct said *in, const struct said *out)
{
	struct rails_msg m = { .from = 1, .type = RAILS_CORE, .hdr = in->hdr }, *got;
	u8 again[LNET_HDR_SIZE_MAX];
	struct lnet_nid to = rails_nid(1 + !in->from, 0);

	m.data = (u8 *)in->data;
	m.len = in->hdr.payload_len;
	m.via = in->hdr.src_nid;
	m.at = rails_nid(0, in->from);
	rails_again(&m);
	rails_deliver();
	rails_run(2 * RAILS_MS);
	list_for_each_entry(got, &rails.delayed, link)
		if (lnet_nid_same(&got->hdr.src_nid, &out->hdr.src_nid))
			break;
	CU_ASSERT_FATAL(!list_entry_is_head(got, &rails.delayed, link));
	UNIT_EQUAL(lnet_nid_same(&got->at, &to), true, "to the other end");
	lnet_hdr_encode(again, &got->hdr, false);
	UNIT_EQUAL(memcmp(again, out->bytes, lnet_hdr_size(false)), 0, "header");
	UNIT_EQUAL(got->len, out->hdr.payload_len, "length");
	UNIT_EQUAL(memcmp(got->data, out->data, got->len), 0, "payload");
	rails_msg_free(got);
}

/* Two pings and a discovery, as captured on each side of the router. */
static void test_between(void)
{
	static const char *const nids[RAILS_NODES][RAILS_RAILS] = {
		{ "10.77.0.4@tcp", "10.77.1.4@tcp1" }, { "10.77.0.2@tcp" }, { "10.77.1.3@tcp1" },
	};
	struct rails_cfg cfg = { .nr_nodes = 1, .quiet = true, .discover = true, .strangers = true,
				 .nids = nids };
	static struct said near[ARRAY_SIZE(said)];
	unsigned int i, nth[NOBODY][LNET_MSG_REPLY + 1] = { 0 };
	const struct said *far;

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_router_enable(rails.node[0].ln, true), 0, "a router");
	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	capture_read(&rows[ROUTED]);
	memcpy(near, said, sizeof(said));
	capture_read(&rows[ROUTED_FAR]);
	UNIT_EQUAL(nr_said, 10, "messages");
	for (i = 0; i < nr_said; i++) {
		far = captured(near[i].from, near[i].hdr.type,
			       nth[near[i].from][near[i].hdr.type]++);
		passes(near[i].from == A ? &near[i] : far, near[i].from == A ? far : &near[i]);
	}
	UNIT_EQUAL(rails_stat(0, LNET_C_route_count), nr_said, "all");
	rails_clear();
	rails_end();
}

UNIT_SUITE(discover_replay,
	{ "our node discovers the stock node", test_asking },
	{ "the stock node discovers ours", test_asked },
	{ "our node is the router between", test_between })
