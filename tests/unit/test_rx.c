/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Received messages: owner, placement of the payload, effect on unsent attempts. */
#include "rails.h"

static const struct rails_cfg stock = { .quiet = true };

/* @node receives @hdr over the connection of @via. */
static enum lnet_verdict receive_from(unsigned int node, const struct lnet_nid *via,
				      const struct lnet_hdr *hdr)
{
	struct lnet_peer_ni *from = lnet_peer_ni_get(rails.node[node].ln, via);
	enum lnet_verdict v;
	struct lnet_pass p;

	lnet_pass_begin(&p, rails.node[node].ln, LNET_PASS_DRIVER);
	v = lnet_rx_begin(&p, rails_ni(node, 0), lnet_rx_get(&p), hdr, from);
	lnet_pass_end(&p);
	lnet_peer_ni_put(from);
	return v;
}

static enum lnet_verdict receive(const struct lnet_hdr *hdr)
{
	return receive_from(1, &hdr->src_nid, hdr);
}

static void hdr_init(struct lnet_hdr *hdr, u32 type)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->type = type;
	hdr->src_nid = rails_nid(0, 0);
	hdr->dest_nid = rails_nid(1, 0);
}

static void test_address(void)
{
	struct lnet_hdr hdr;

	rails_begin(NULL);
	hdr_init(&hdr, LNET_MSG_ACK);
	UNIT_EQUAL(receive(&hdr), LNET_SKIP, "an ACK for nobody");
	UNIT_EQUAL(rails_stat(1, LNET_C_dup_reply) + rails_stat(1, LNET_C_bad_handle), 1,
		   "counted");
	hdr.dest_nid = rails_nid(2, 0);
	UNIT_EQUAL(receive(&hdr), LNET_CLOSE, "another node of the net: the peer is confused");
	hdr.dest_nid = rails_nid(1, 1);
	UNIT_EQUAL(receive(&hdr), LNET_CLOSE, "our other interface: as stock");
	UNIT_EQUAL(rails_stat(1, LNET_C_bad_header), 2, "counted");
	CU_ASSERT(!lnet_nid_parse(&hdr.dest_nid, "9.9.9.9@tcp7"));
	UNIT_EQUAL(receive(&hdr), LNET_SKIP, "to be routed: we do not");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_for_me), 1, "counted");
	hdr_init(&hdr, 77);
	UNIT_EQUAL(receive(&hdr), LNET_CLOSE, "no such type");
	rails_end();
}

static void test_forged(void)
{
	struct lnet_hdr hdr;
	unsigned int i;

	rails_begin(NULL);
	for (i = 0; i < 64; i++) {
		hdr_init(&hdr, i & 1 ? LNET_MSG_GET : LNET_MSG_PUT);
		if (hdr.type == LNET_MSG_PUT) {
			hdr.msg.put.ptl_index = 60 + i * 3;
			hdr.msg.put.ack_wmd.cookie[0] = i & 4 ? rails_peer(0, 1)->tx.session_id : i;
			hdr.msg.put.ack_wmd.cookie[1] = i & 8 ? ~0ULL : (u64)i << 40;
		} else {
			hdr.msg.get.ptl_index = 60 + i * 3;
			hdr.msg.get.return_wmd.cookie[0] =
				i & 4 ? rails_peer(0, 1)->tx.session_id : i;
			hdr.msg.get.return_wmd.cookie[1] = i & 8 ? ~0ULL : (u64)i << 40;
		}
		UNIT_EQUAL(receive(&hdr), LNET_SKIP, "dropped");
	}
	rails_pump();
	UNIT_EQUAL(rails_stat(1, LNET_C_recv_count) > 64, true, "counted");
	rails_end();
}

/* ---- requests in the name of others ---------------------------------------------------------- */

/* A PUT to node 1 with the source @source, over the connection of @sender. */
static enum lnet_verdict named(const char *source, const struct lnet_nid *sender)
{
	struct lnet_hdr hdr;

	hdr_init(&hdr, LNET_MSG_PUT);
	UNIT_EQUAL(lnet_nid_parse(&hdr.src_nid, source), 0, source);
	hdr.msg.put.ptl_index = 60;
	hdr.msg.put.match_bits = 1;
	return receive_from(1, sender, &hdr);
}

static bool is_known(const char *text)
{
	struct lnet_peer_ni *pni;
	struct lnet_nid want;

	UNIT_EQUAL(lnet_nid_parse(&want, text), 0, text);
	pni = lnet_peer_ni_lookup(rails.node[1].ln, &want);

	lnet_peer_ni_put(pni);
	return pni;
}

/*
 * Node 0 sends with the source NID of another node on the same net, known or not, and with its own
 * NID of rail 1.
 */
static void test_forged_source(void)
{
	static const struct rails_cfg three = { .nr_nodes = 3, .quiet = true };
	struct lnet_nid sender = rails_nid(0, 0), other;
	char text[LNET_NIDSTR_SIZE];
	unsigned int i;

	rails_begin(&three);
	rails_get(2, 1, 8, 0);
	rails_get(0, 1, 8, 0);
	rails_run(100 * RAILS_MS);
	for (i = 0; i < 2; i++) {
		u64 was = rails_stat(1, LNET_C_no_match);

		other = rails_nid(2, i);
		UNIT_EQUAL(named(lnet_nid_str(&other, text), &sender), LNET_SKIP, "dropped");
		UNIT_EQUAL(rails_stat(1, LNET_C_forged_source), i + 1, "counted");
		UNIT_EQUAL(rails_stat(1, LNET_C_no_match), was, "matched nothing");
	}
	UNIT_EQUAL(rails_peer(1, 0)->nr_pnis > 1, true, "rail 1 of node 0 is known");
	other = rails_nid(0, 1);
	named(lnet_nid_str(&other, text), &sender);
	UNIT_EQUAL(rails_stat(1, LNET_C_forged_source), 2, "a further NID of the sender is not");
	named("10.0.0.99@tcp", &sender);
	UNIT_EQUAL(rails_stat(1, LNET_C_forged_source), 3, "a NID that nobody has");
	CU_ASSERT(!is_known("10.0.0.99@tcp"));
	rails_end();
}

/* Adds a route to @net through @gateway to node 1. */
static void route_by(const char *net, const struct lnet_nid *gateway)
{
	struct lnet_route_cfg cfg = { .hops = -1, .gateway = *gateway };

	UNIT_EQUAL(lnet_net_parse(&cfg.net, net), 0, net);
	UNIT_EQUAL(lnet_route_add(rails.node[1].ln, &cfg), 0, "a route");
}

/* Node 0 names sources on a net behind it, as a router does: at most claims_max become peers. */
static void test_claims(void)
{
	struct lnet_nid sender = rails_nid(0, 0);
	char text[LNET_NIDSTR_SIZE];
	unsigned int i, before;

	rails_begin(&stock);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "claims_max", 16), 0, "bound");
	route_by("tcp7", &sender);
	named("1.2.3.4@tcp7", &sender);
	before = rails.node[1].ln->nr_peers - 1;
	for (i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "1.2.4.%u@tcp7", i);
		UNIT_EQUAL(named(text, &sender), LNET_SKIP, "nothing matches");
	}
	UNIT_EQUAL(rails.node[1].ln->nr_peers - before, 16, "peers that node 0 has named");
	UNIT_EQUAL(rails_stat(1, LNET_C_claims_denied), 101 - 16, "counted");
	CU_ASSERT(is_known("1.2.4.0@tcp7"));
	rails_end();
}

/* ---- nodes on remote nets that a peer claims to forward for ---------------------------------- */

#define BEHIND "1.2.3.4@tcp7"	/* behind node 2, which is the gateway of node 1 */

static const char *behind_it;	/* the source of the messages of behind() */

static void begin_behind(void)
{
	static const struct rails_cfg cfg = { .nr_nodes = 3, .quiet = true };
	struct lnet_nid gateway = rails_nid(2, 0);

	behind_it = BEHIND;
	rails_begin(&cfg);
	route_by("tcp7", &gateway);
}

/* A message from behind_it to node 1, over the connection of node @by. */
static void behind(unsigned int by, struct lnet_hdr *hdr, u8 *data)
{
	struct rails_msg m = { .from = (int)by, .to = 1, .type = RAILS_CORE, .hdr = *hdr,
			       .via = rails_nid(by, 0), .at = rails_nid(1, 0), .data = data,
			       .len = hdr->payload_len };

	UNIT_EQUAL(lnet_nid_parse(&m.hdr.src_nid, behind_it), 0, behind_it);
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	rails_again(&m);
	rails_pump();
}

static void open_session(unsigned int by, u64 nonce)
{
	static u8 nothing[1];
	struct lnet_hdr hdr;

	hdr_init(&hdr, LNET_MSG_GET);
	hdr.msg.get.return_wmd = (struct lnet_handle){ { 77, nonce } };
	hdr.msg.get.ptl_index = LNET_PORTAL_TRACKED;
	hdr.msg.get.match_bits = LNET_OPEN_MATCHBITS;
	hdr.msg.get.sink_length = 64;
	behind(by, &hdr, nothing);
}

static unsigned int windows_of(const struct lnet_nid *opener)
{
	const struct lnet_window *w;
	unsigned int nr = 0;

	list_for_each_entry(w, &rails.node[1].ln->shard[0].windows, link)
		nr += lnet_nid_same(&w->opener, opener);
	return nr;
}

/* Node 0 opens sessions in the name of a node that has one through the gateway. */
static void test_claimed_sessions(void)
{
	struct lnet_nid claimer = rails_nid(0, 0), source;
	u64 i;

	begin_behind();
	UNIT_EQUAL(lnet_nid_parse(&source, BEHIND), 0, BEHIND);
	open_session(2, 1);
	UNIT_EQUAL(windows_of(&source), 1, "through the gateway");
	for (i = 2; i < 40; i++)
		open_session(0, i);
	UNIT_EQUAL(windows_of(&source), 1, "it is not displaced");
	UNIT_EQUAL(windows_of(&claimer), 8, "the claimer has its share: windows_per_peer");
	CU_ASSERT(rails_stat(1, LNET_C_session_opens_limited) > 0);
	open_session(2, 40);
	UNIT_EQUAL(windows_of(&source), 2, "session_opens_rate counts for the claimer");
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/*
 * Two nodes are behind a router that is no gateway. Sessions of the second one do not displace
 * sessions that the first one uses.
 */
static void test_claimed_in_use(void)
{
	struct lnet_shard *sh;
	struct lnet_hdr hdr;
	u8 nothing[1];
	u64 i;

	begin_behind();
	sh = &rails.node[1].ln->shard[0];
	hdr_init(&hdr, LNET_MSG_PUT);
	hdr.msg.put.ptl_index = LNET_PORTAL_TRACKED + RAILS_PORTAL + 1;
	hdr.msg.put.ack_wmd.cookie[1] = 1 | LNET_REQID_ALONE;
	for (i = 1; i <= 8; i++) {
		open_session(0, i);
		hdr.msg.put.ack_wmd.cookie[0] =
			list_first_entry(&sh->windows, struct lnet_window, link)->session_id;
		behind(0, &hdr, nothing);
	}
	behind_it = "1.2.3.5@tcp7";
	open_session(0, 9);
	UNIT_EQUAL(rails_stat(1, LNET_C_session_opens_rejected), 1, "all sessions are in use");
	UNIT_EQUAL(rails_stat(1, LNET_C_windows_dropped), 0, "none is dropped");
	rails_run(2 * NSEC_PER_SEC);
	open_session(0, 10);
	UNIT_EQUAL(rails_stat(1, LNET_C_windows_of_peer), 1, "later the oldest one is");
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* Node @by sends a push in the name of a known node on a remote net. */
static void push(unsigned int by, u32 seq)
{
	struct lnet_pinginfo_ni nis[2] = { { .status = LNET_NI_UP }, { .status = LNET_NI_UP } };
	u8 buf[512] = { 0 };
	struct lnet_hdr hdr;
	int len;

	UNIT_EQUAL(lnet_nid_parse(&nis[0].nid, BEHIND), 0, BEHIND);
	UNIT_EQUAL(lnet_nid_parse(&nis[1].nid, "1.2.3.99@tcp99"), 0, "another");
	len = lnet_pinginfo_encode(buf, sizeof(buf), LNET_FEAT_MULTI_RAIL | LNET_FEAT_DISCOVERY |
				   LNET_FEAT_NI_STATUS, LNET_PID, seq, nis, 2);
	CU_ASSERT_FATAL(len > 0);
	hdr_init(&hdr, LNET_MSG_PUT);
	hdr.payload_len = (u32)len;
	lnet_handle_set_none(&hdr.msg.put.ack_wmd);
	hdr.msg.put.match_bits = LNET_PING_MATCHBITS;
	behind(by, &hdr, buf);
}

static void test_claimed_push(void)
{
	struct lnet_peer_ni *pni;
	struct lnet_nid source;

	begin_behind();
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 1), 0, "discovery");
	UNIT_EQUAL(lnet_nid_parse(&source, BEHIND), 0, BEHIND);
	push(2, 5);
	rails_run(100 * RAILS_MS);
	pni = lnet_peer_ni_lookup(rails.node[1].ln, &source);
	CU_ASSERT_FATAL(pni != NULL);
	UNIT_EQUAL(pni->peer->disc.seq, 5, "the gateway's is taken");
	push(0, 6);
	rails_run(RAILS_MS);
	UNIT_EQUAL(pni->peer->disc.seq, 5, "the claimer's is not");
	UNIT_EQUAL(pni->peer->disc.want_ping, 1, "but the peer is asked");
	UNIT_EQUAL(rails_stat(1, LNET_C_pushes_received), 2, "counted");
	lnet_peer_ni_put(pni);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* A claimed message does not prove that its source is alive. */
static void test_claimed_life(void)
{
	struct lnet_nid claimer = rails_nid(0, 0), gateway = rails_nid(2, 0), source;
	struct lnet_peer_ni *pni;

	begin_behind();
	UNIT_EQUAL(lnet_nid_parse(&source, BEHIND), 0, BEHIND);
	named(BEHIND, &claimer);
	pni = lnet_peer_ni_lookup(rails.node[1].ln, &source);
	CU_ASSERT_FATAL(pni != NULL);
	UNIT_EQUAL(pni->last_rx_ns, 0, "by a peer that is no gateway");
	UNIT_EQUAL(rails_stat(1, LNET_C_no_match), 1, "but it is received");
	named(BEHIND, &gateway);
	CU_ASSERT(pni->last_rx_ns > 0);
	lnet_peer_ni_put(pni);
	rails_end();
}

/* ---- replies that the target did not send ---------------------------------------------------- */

/* A reply of type @type by @node, over its connection, to the last request of node 0. */
static void answer_init(struct lnet_hdr *hdr, unsigned int node, u32 type)
{
	memset(hdr, 0, sizeof(*hdr));
	hdr->type = type;
	hdr->src_nid = rails_nid(node, 0);
	hdr->dest_nid = rails_nid(0, 0);
	hdr->src_pid = hdr->dest_pid = LNET_PID;
	if (type == LNET_MSG_ACK)
		hdr->msg.ack.dst_wmd = rails.last.hdr.msg.put.ack_wmd;
	else
		hdr->msg.reply.dst_wmd = rails.last.hdr.msg.get.return_wmd;
}

/* A PUT, or GET, of node 0 to node 1, which is lost. */
static unsigned int unanswered(bool get)
{
	rails_on(0, -1, get ? RAILS_GET : RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	return get ? rails_get(0, 1, 100, 0) : rails_put(0, 1, 100, LNET_ACK, 0);
}

static void begin_three(bool marked)
{
	static const struct rails_cfg cfg = { .nr_nodes = 3, .quiet = true };

	rails_begin(&cfg);
	rails.node[1].stock = !marked;
	rails_get(0, 1, 8, 0);
	rails_get(2, 0, 8, 0);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "hedge", 0), 0, "no second copies");
}

static void strange(unsigned int tag, const struct lnet_nid *via, const struct lnet_hdr *hdr,
		    unsigned int counted)
{
	u64 was = rails_stat(0, LNET_C_unexpected_reply) + rails_stat(0, LNET_C_dup_reply) +
		  rails_stat(0, LNET_C_bad_handle);

	UNIT_EQUAL(receive_from(0, via, hdr), LNET_SKIP, "dropped");
	UNIT_EQUAL(rails_done(tag), 0, "not its answer");
	UNIT_EQUAL(rails_stat(0, LNET_C_unexpected_reply) + rails_stat(0, LNET_C_dup_reply) +
		   rails_stat(0, LNET_C_bad_handle), was + counted, "counted");
}

static void test_stranger_answers(void)
{
	struct lnet_nid peer = rails_nid(1, 0), stranger = rails_nid(2, 0);
	struct lnet_hdr hdr;
	unsigned int i, tag;

	for (i = 0; i < 4; i++) {
		u32 type = i & 1 ? LNET_MSG_REPLY : LNET_MSG_ACK;

		begin_three(i & 2);
		tag = unanswered(i & 1);
		UNIT_EQUAL(rails_done(tag), 0, "under way");
		answer_init(&hdr, 2, type);
		strange(tag, &stranger, &hdr, 1);
		hdr.src_nid = peer;		/* the source is the peer, the connection is not */
		strange(tag, &stranger, &hdr, 1);
		answer_init(&hdr, 2, type);	/* the peer names another source */
		strange(tag, &peer, &hdr, 1);
		answer_init(&hdr, 1, type);
		hdr.src_pid = 77;
		strange(tag, &peer, &hdr, 1);
		answer_init(&hdr, 1, type);
		hdr.src_nid = rails_nid(1, 1);	/* another interface of the peer is valid */
		if (type == LNET_MSG_ACK) {
			UNIT_EQUAL(receive_from(0, &peer, &hdr), LNET_SKIP, "taken");
			UNIT_EQUAL(rails_done(tag), 1, "answered");
		}
		rails_end();
	}
}

/* The target of a request cannot compute the handle of the next one, and no other node can. */
static void test_guessed_handle(void)
{
	struct lnet_nid peer = rails_nid(1, 0);
	struct lnet_hdr hdr;
	unsigned int tag;
	u64 first, shift;

	begin_three(false);
	rails_put(0, 1, 100, LNET_ACK, 0);
	first = rails.last.hdr.msg.put.ack_wmd.cookie[1];
	tag = unanswered(false);
	for (shift = 2; shift < 62; shift++) {
		answer_init(&hdr, 1, LNET_MSG_ACK);
		hdr.msg.ack.dst_wmd.cookie[1] = first + (1ULL << shift);
		strange(tag, &peer, &hdr, 1);
	}
	answer_init(&hdr, 1, LNET_MSG_ACK);
	UNIT_EQUAL(receive_from(0, &peer, &hdr), LNET_SKIP, "taken");
	UNIT_EQUAL(rails_done(tag), 1, "by its handle");
	rails_end();
}

/* An ACK for more bytes than were sent, a REPLY with more bytes than were requested. */
static void test_long_answers(void)
{
	struct lnet_nid peer = rails_nid(1, 0);
	struct lnet_hdr hdr;
	unsigned int i, tag;

	for (i = 0; i < 4; i++) {
		begin_three(i & 2);
		tag = unanswered(i & 1);
		answer_init(&hdr, 1, i & 1 ? LNET_MSG_REPLY : LNET_MSG_ACK);
		if (i & 1)
			hdr.payload_len = 101;
		else
			hdr.msg.ack.mlength = 101;
		UNIT_EQUAL(receive_from(0, &peer, &hdr), LNET_SKIP, "dropped");
		UNIT_EQUAL(rails_done(tag), 0, "not answered");
		if (!(i & 3)) {			/* only a tracked request is rejected */
			hdr.msg.ack.mlength = LNET_REJECTED + LNET_REJECTED_NO_MATCH;
			receive_from(0, &peer, &hdr);
			UNIT_EQUAL(rails_done(tag), 0, "not refused");
		}
		UNIT_EQUAL(rails_stat(0, LNET_C_long_reply), i & 3 ? 1 : 2, "counted");
		rails_end();
	}
}

/*
 * A cumulative ACK for requests that were never sent has no effect, and the node does not walk up
 * to its sequence. One for all requests in flight ends those that requested no separate ACK.
 */
static void test_merged_bound(void)
{
	struct lnet_nid peer = rails_nid(1, 0);
	unsigned int i, tag[3];
	struct lnet_hdr hdr;
	u64 next;

	begin_three(true);
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 3; i++)
		tag[i] = rails_put(0, 1, 8, i == 1 ? LNET_ACK : 0, 0);
	answer_init(&hdr, 1, LNET_MSG_ACK);
	next = rails_peer(0, 1)->tx.next;
	for (i = 0; i < 100; i++) {
		hdr.msg.ack.dst_wmd.cookie[1] = i ? next + i : (1ULL << 48) - 1;
		receive_from(0, &peer, &hdr);
	}
	UNIT_EQUAL(rails_stat(0, LNET_C_long_reply), 100, "counted");
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[1]) + rails_done(tag[2]), 0, "not believed");
	hdr.msg.ack.dst_wmd.cookie[1] = next - 1;
	receive_from(0, &peer, &hdr);
	rails_clear();
	rails_pump();
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[2]), 2, "those without ACK");
	UNIT_EQUAL(rails_done(tag[1]), 0, "not the one with");
	rails_end();
}

/* The driver completes the request before the reply arrives: first SEND, then ACK. */
static void test_posted_then_answered(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_POST, LNET_OK, 1);
	rails_on(1, -1, RAILS_ACK, FATE_DELAY, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails.req[tag].nr_sent, 0, "not given back: no SEND event");
	rails_run(RAILS_MS);
	rails_give(LNET_OK);
	UNIT_EQUAL(rails.req[tag].nr_sent, 1, "SEND");
	UNIT_EQUAL(rails_done(tag), 0, "the answer is missing");
	rails_release();
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "answered");
	UNIT_EQUAL(rails.req[tag].kind, LNET_EVENT_ACK, "ACK is the last");
	rails_end();
}

/*
 * The reply arrives while the driver still uses the memory: the request ends after the driver has
 * completed it.
 */
static void test_answered_while_posted(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_POST, LNET_OK, 1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "taken back, then ended");
	UNIT_EQUAL(rails_count(&rails.posted), 0, "the driver holds nothing");
	UNIT_EQUAL(rails.req[tag].nr_sent, 1, "SEND before ACK");
	rails_end();
}

/*
 * Two REPLYs are being received: the first complete one ends the GET, after the other receive is
 * aborted.
 */
static void test_two_replies(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_REPLY, FATE_HALF, LNET_OK, 2);
	tag = rails_get(0, 1, 4096, 0);
	rails_run(40 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 2, "two answers land");
	rails_land(1, LNET_OK);
	UNIT_EQUAL(rails_done(tag), 0, "no end while the other may write");
	rails_run(RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "ended");
	CU_ASSERT(!memcmp(rails.node[0].src, rails.node[1].dst, 4096));
	rails_end();
}

static void test_reply_breaks(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(1, -1, RAILS_REPLY, FATE_HALF, LNET_OK, 1);
	tag = rails_get(0, 1, 4096, 0);
	rails_pump();
	rails_land(0, LNET_LOCAL_ABORTED);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "asked again");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "one effect");
	rails_end();
}

/* A request for which there is no memory is not accepted; it is retransmitted. */
static void test_no_memory(void)
{
	unsigned int tag;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_GET, FATE_DELAY, LNET_OK, 1);
	tag = rails_get(0, 1, 64, 0);
	unit_fail_alloc(1);
	rails_release();
	unit_fail_alloc(0);
	UNIT_EQUAL(rails_stat(1, LNET_C_rx_no_memory), 1, "counted");
	UNIT_EQUAL(rails_done(tag), 0, "not taken");
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "asked again");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "one effect");
	rails_end();
}

static void test_stock_requests(void)
{
	unsigned int put, noack, get;

	rails_begin(&stock);
	rails.node[1].stock = true;
	put = rails_put(0, 1, 100, LNET_ACK, 0);
	noack = rails_put(0, 1, 100, 0, 0);
	get = rails_get(0, 1, 100, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails.req[put].status || !rails_done(put), 0, "PUT");
	UNIT_EQUAL(rails.req[put].mlength, 100, "mlength of the ACK");
	UNIT_EQUAL(rails.req[noack].kind, LNET_EVENT_SEND, "without ACK, SEND is the end");
	UNIT_EQUAL(rails.req[noack].mlength, 100, "mlength of SEND");
	UNIT_EQUAL(rails.req[get].status || !rails_done(get), 0, "GET");
	UNIT_EQUAL(rails.req[put].nr_effects + rails.req[noack].nr_effects +
		   rails.req[get].nr_effects, 3, "effects");
	rails_end();
}

/* Requests of a peer with too many unfinished replies are dropped; afterwards they are accepted. */
static void test_not_reading(void)
{
	struct lnet_nid src = rails_nid(0, 0);
	struct lnet_peer_ni *from;
	struct lnet_hdr hdr;

	rails_begin(&stock);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "replies_max", 100), 0, "bound");
	from = lnet_peer_ni_get(rails.node[1].ln, &src);
	hdr_init(&hdr, LNET_MSG_GET);
	hdr.msg.get.match_bits = LNET_PING_MATCHBITS;
	hdr.msg.get.sink_length = 272;
	hdr.msg.get.return_wmd.cookie[1] = 77;
	atomic_set(&from->nr_reply_ops, 100);
	UNIT_EQUAL(receive(&hdr), LNET_SKIP, "too many answers wait");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_reading), 1, "counted");
	UNIT_EQUAL(rails_stat(1, LNET_C_msgs_max), 0, "answers begun");
	atomic_set(&from->nr_reply_ops, 100 - 1);
	UNIT_EQUAL(receive(&hdr), LNET_SKIP, "one less: a ping needs no place");
	UNIT_EQUAL(rails_stat(1, LNET_C_not_reading), 1, "counted");
	UNIT_EQUAL(rails_stat(1, LNET_C_msgs_max), 1, "answers begun");
	atomic_sub(100 - 1, &from->nr_reply_ops);
	lnet_peer_ni_put(from);
	rails_end();
}

/* At replies_budget, the node serves an interface for which few replies wait. */
static void test_replies_budget(void)
{
	struct lnet_nid src = rails_nid(0, 0);
	struct lnet_peer_ni *from;
	struct lnet_hdr hdr;

	rails_begin(&stock);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "replies_budget", 100), 0, "bound");
	from = lnet_peer_ni_get(rails.node[1].ln, &src);
	hdr_init(&hdr, LNET_MSG_GET);
	hdr.msg.get.match_bits = LNET_PING_MATCHBITS;
	hdr.msg.get.sink_length = 272;
	hdr.msg.get.return_wmd.cookie[1] = 77;
	rails.node[1].ln->shard[0].nr_reply_ops += 100;
	atomic_set(&from->nr_reply_ops, 16);
	receive(&hdr);
	UNIT_EQUAL(rails_stat(1, LNET_C_replies_denied), 1, "counted");
	UNIT_EQUAL(rails_stat(1, LNET_C_msgs_max), 0, "answers begun");
	atomic_dec(&from->nr_reply_ops);
	receive(&hdr);
	UNIT_EQUAL(rails_stat(1, LNET_C_replies_denied), 1, "a peer with few is served");
	UNIT_EQUAL(rails_stat(1, LNET_C_msgs_max), 1, "answers begun");
	atomic_inc(&from->nr_reply_ops);
	rails.node[1].ln->shard[0].nr_reply_ops -= 1;
	receive(&hdr);
	UNIT_EQUAL(rails_stat(1, LNET_C_replies_denied), 1, "below the bound all are served");
	rails.node[1].ln->shard[0].nr_reply_ops -= 99;
	atomic_sub(16, &from->nr_reply_ops);
	lnet_peer_ni_put(from);
	rails_end();
}

UNIT_SUITE(rx,
	{ "who it is for", test_address },
	{ "forged names and portals are dropped", test_forged },
	{ "a request in the name of another node of the net is dropped", test_forged_source },
	{ "a sender names a bounded number of unknown peers", test_claims },
	{ "a claimed session uses the share of its sender", test_claimed_sessions },
	{ "a claimed session displaces none in use", test_claimed_in_use },
	{ "a claimed push is not applied", test_claimed_push },
	{ "a claimed message does not prove that its source is alive", test_claimed_life },
	{ "the handle of the next request cannot be computed", test_guessed_handle },
	{ "answers of those who were not asked", test_stranger_answers },
	{ "answers to more than was asked", test_long_answers },
	{ "a merged ACK for what was never sent", test_merged_bound },
	{ "posted, given back, answered: SEND, then ACK", test_posted_then_answered },
	{ "answered while the driver still refers to the memory", test_answered_while_posted },
	{ "rule 8: two REPLYs land at once", test_two_replies },
	{ "rule 8: a REPLY breaks off", test_reply_breaks },
	{ "no memory for a request", test_no_memory },
	{ "stock rules", test_stock_requests },
	{ "a peer that does not take its answers is dropped", test_not_reading },
	{ "at the bound of all answers, a peer with few is served", test_replies_budget })
