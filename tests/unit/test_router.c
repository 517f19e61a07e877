/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages for other nodes: received, forwarded unchanged, and all that they use released however
 * they end. Node 1 is the router; the test writes the messages that it receives.
 */
#include "routed.h"

/* ---- forwarding ------------------------------------------------------------------------------ */

static struct lnet_hdr any_type(u32 type)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, type == LNET_MSG_REPLY ? 300 : 0);

	hdr.type = type;
	hdr.src_pid = 77;
	hdr.dest_pid = 78;
	memset(&hdr.msg, 0xa5, sizeof(hdr.msg));
	if (type == LNET_MSG_GET)
		hdr.msg.get.ptl_index = RAILS_PORTAL;
	return hdr;
}

static void test_header(void)
{
	u32 type;

	begin();
	for (type = LNET_MSG_ACK; type <= LNET_MSG_REPLY; type++) {
		struct lnet_hdr hdr = any_type(type), *got = &rails.last.hdr;

		if (type == LNET_MSG_PUT)
			hdr = hdr_of(0, 0, 2, 8192);
		rails_on(ROUTER, 1, RAILS_ANY, FATE_LOSE, LNET_OK, 1);
		inject(&hdr, 0, false);
		UNIT_EQUAL(got->type, type, "type");
		UNIT_EQUAL(lnet_nid_same(&got->src_nid, &hdr.src_nid), true, "originator");
		UNIT_EQUAL(lnet_nid_same(&got->dest_nid, &hdr.dest_nid), true, "destination");
		UNIT_EQUAL(got->src_pid, hdr.src_pid, "its process");
		UNIT_EQUAL(got->dest_pid, hdr.dest_pid, "and the other");
		UNIT_EQUAL(got->payload_len, hdr.payload_len, "payload");
		UNIT_EQUAL(memcmp(&got->msg, &hdr.msg, sizeof(hdr.msg)), 0, "the rest");
		UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), type + 1, "counted");
	}
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_length), 8192 + 300, "bytes");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_rst_alloc), 0, "whose answer it is is not our matter");
	finish();
}

/* Node 2 uses the router as a gateway, and so accepts its messages in the name of other nodes. */
static void trust_router(void)
{
	struct lnet_route_cfg cfg = { .hops = -1 };

	UNIT_EQUAL(lnet_net_parse(&cfg.net, "tcp9"), 0, "net");
	cfg.gateway = rails_nid(ROUTER, 1);
	UNIT_EQUAL(lnet_route_add(rails.node[2].ln, &cfg), 0, "a route by the router");
}

static void test_arrives(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 5000);

	begin();
	hdr.msg.put.match_bits = 6;
	inject(&hdr, 0, false);
	UNIT_EQUAL(rails.req[6].nr_effects, 0, "by a node that is no gateway");
	UNIT_EQUAL(rails_stat(2, LNET_C_forged_source), 1, "counted");
	trust_router();
	hdr.msg.put.match_bits = 7;
	inject(&hdr, 0, false);
	UNIT_EQUAL(rails.req[7].nr_effects, 1, "it is there, once");
	UNIT_EQUAL(rails.node[2].dst[4999], 0x5a, "to the last byte");
	UNIT_EQUAL(pool(LNET_RTR_large)->made, 1, "by one buffer");
	inject(&hdr, 0, false);
	UNIT_EQUAL(pool(LNET_RTR_large)->made, 1, "which is used again");
	hdr.dest_nid = rails_nid(2, 0);
	inject(&hdr, 0, false);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_bad_header), 1, "never within a net");
	finish();
}

static void test_off(void)
{
	rails_begin(&three);
	put(0, 0, 2, 8);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_not_for_me), 1, "dropped");
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 0, "not sent on");
	UNIT_EQUAL(lnet_router_enable(router(), false), 0, "off as it was");
	rails_end();
}

static void test_no_way(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8);

	begin();
	CU_ASSERT(!lnet_nid_parse(&hdr.dest_nid, "9.9.9.9@tcp7"));
	inject(&hdr, 0, false);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 1, "no net leads there");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_drop_length), 8, "counted");
	finish();
}

/* ---- waiting messages ------------------------------------------------------------------------ */

static void hold_all(void)
{
	rails_on(ROUTER, -1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
}

static void let_go(void)
{
	rails_clear();
	while (!list_empty(&rails.kept)) {
		rails_give(LNET_OK);
		rails_pump();
	}
}

static void test_credits(void)
{
	unsigned int i;

	begin();
	hold_all();
	for (i = 0; i < 6; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(sender(0, 0)->rtr_credits, 4, "one destination gets half of them");
	UNIT_EQUAL(rails_count(&rails.waiting), 2, "the others wait");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_waits), 2, "counted");
	for (i = 0; i < 3; i++)
		put(0, 0, 0, 8);
	UNIT_EQUAL(sender(0, 0)->rtr_credits, 2, "another one half of the rest");
	UNIT_EQUAL(rails_count(&rails.waiting), 3, "and no more");
	put(0, 1, 2, 8);
	UNIT_EQUAL(rails_count(&rails.waiting), 3, "another sender has its own");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 10, "all went");
	UNIT_EQUAL(sender(0, 0)->min_rtr_credits, 2, "the fewest there were");
	finish();
}

/* A message that is not read aside stops its connection. It does not wait for messages that are. */
static void test_large_credits(void)
{
	unsigned int i;

	begin();
	hold_all();
	for (i = 0; i < 6; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.waiting), 2, "small ones wait");
	for (i = 0; i < 6; i++)
		put(0, 0, 2, LNET_LARGE + 1);
	UNIT_EQUAL(rails_count(&rails.kept), 8, "four large ones as well");
	UNIT_EQUAL(rails_count(&rails.waiting), 4, "no more");
	put(0, 0, 0, LNET_LARGE + 1);
	UNIT_EQUAL(rails_count(&rails.kept), 9, "another destination has one, too");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 13, "all went");
	finish();
}

static void test_one_credit(void)
{
	unsigned int i;

	begin();
	sender(0, 0)->rtr_credits = 1;
	hold_all();
	for (i = 0; i < 3; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.kept), 1, "one at a time");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 3, "all went");
	sender(0, 0)->rtr_credits += 7;
	finish();
}

/*
 * A new value applies to known peers: with more credits, waiting messages are forwarded; with
 * fewer, the count of credits may be negative.
 */
static void test_credits_set(void)
{
	unsigned int i;

	begin();
	hold_all();
	for (i = 0; i < 10; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.kept), 4, "half of eight");
	set("peer_buffer_credits", 16);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.kept), 8, "half of sixteen");
	UNIT_EQUAL(sender(0, 0)->rtr_credits, 8, "the others");
	UNIT_EQUAL(sender(2, 1)->rtr_credits, 16, "who sends nothing has all");
	set("peer_buffer_credits", 2);
	UNIT_EQUAL(sender(0, 0)->rtr_credits, -6, "too many are out");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 10, "all went");
	UNIT_EQUAL(sender(0, 0)->rtr_credits, 2, "as many as set");
	set("peer_buffer_credits", 0);
	UNIT_EQUAL(sender(0, 0)->rtr_credits, 8, "as many as messages to it");
	finish();
}

static void test_quota(void)
{
	unsigned int i;

	begin();
	set("small_router_buffers", 4);
	hold_all();
	for (i = 0; i < 4; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(pool(LNET_RTR_small)->used, 2, "half of the pool");
	UNIT_EQUAL(pool(LNET_RTR_small)->nr_wait, 2, "the others wait with their credit");
	put(2, 0, 0, 8);
	UNIT_EQUAL(pool(LNET_RTR_small)->used, 3, "another destination gets one");
	put(2, 0, 0, 8);
	UNIT_EQUAL(pool(LNET_RTR_small)->used, 3, "one is left for the next");
	put(0, 0, 2, 0);
	UNIT_EQUAL(pool(LNET_RTR_tiny)->used, 0, "its credits are used up");
	put(0, 1, 2, 0);
	UNIT_EQUAL(pool(LNET_RTR_tiny)->used, 1, "sizes do not compete");
	put(0, 1, 2, 4097);
	UNIT_EQUAL(pool(LNET_RTR_large)->used, 1, "nor there");
	UNIT_EQUAL(pool(LNET_RTR_small)->min_credits, -2, "as shown");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 9, "all went");
	UNIT_EQUAL(pool(LNET_RTR_small)->made <= 4, true, "no more buffers than said");
	finish();
}

/* Messages that wait for a slow destination are not served before those for another destination. */
static void test_turns(void)
{
	unsigned int i;

	begin();
	set("small_router_buffers", 2);
	rails_on(ROUTER, 1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
	for (i = 0; i < 3; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(pool(LNET_RTR_small)->used, 1, "one of two");
	for (i = 0; i < 5; i++)
		put(0, 1, 2, 8);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 0, "the same node, by its other end");
	for (i = 0; i < 5; i++)
		put(2, 1, 0, 8);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 5, "they pass");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 13, "all went");
	finish();
}

static void test_waits_for_ever(void)
{
	unsigned int i;

	begin();
	set("transaction_timeout", 300 * RAILS_MS);
	hold_all();
	set("small_router_buffers", 2);
	for (i = 0; i < 6; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.waiting), 5, "for a buffer, for a credit");
	rails_run(150 * RAILS_MS);
	put(0, 0, 2, 8);
	rails_run(160 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.waiting) + rails_count(&rails.kept) <= 1, true,
		   "nobody waits longer than a transaction");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops) >= 5, true, "dropped");
	rails_run(300 * RAILS_MS);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 7, "the last, too");
	finish();
}

/* ---- all ends -------------------------------------------------------------------------------- */

/* Messages that receive payload, wait for a buffer or a credit, or are with the next hop. */
static void fill_up(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8);
	unsigned int i;

	begin();
	set("small_router_buffers", 4);
	hold_all();
	put(0, 0, 2, 8);
	inject(&hdr, 0, true);
	for (i = 0; i < 4; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.kept), 1, "with the next hop");
	UNIT_EQUAL(rails_count(&rails.landing), 1, "landing");
	UNIT_EQUAL(pool(LNET_RTR_small)->nr_wait, 2, "waiting for a buffer");
	UNIT_EQUAL(rails_count(&rails.waiting), 4, "and two for a credit");
}

static void test_connection_lost(void)
{
	fill_up();
	rails_land(0, LNET_PATH_LOST);
	while (rails_count(&rails.waiting))
		rails_gone(0);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 5, "dropped");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 1, "one was whole");
	finish();
}

static void test_waiter_lost(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		fill_up();
		rails_gone(i);
		rails_land(0, LNET_OK);
		let_go();
		UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 5, "the others went");
		finish();
	}
}

static void test_destination_dead(void)
{
	fill_up();
	rails_land(0, LNET_OK);
	rails_clear();
	rails_on(ROUTER, -1, RAILS_ANY, FATE_REFUSE, LNET_REMOTE_DROPPED, -1);
	rails_give(LNET_REMOTE_DROPPED);
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 6, "all were dropped");
	finish();
}

static void stop_at(u64 settle_ns)
{
	set("alive_router_check_interval", settle_ns / 2);
	set("router_ping_timeout", settle_ns / 2);
	UNIT_EQUAL(lnet_router_enable(router(), false), 0, "off");
}

static void test_switched_off(void)
{
	fill_up();
	stop_at(400 * RAILS_MS);
	UNIT_EQUAL(lnet_router_enable(router(), true), -EBUSY, "not now");
	rails_run(1150 * RAILS_MS);
	UNIT_EQUAL(router()->router->state, ROUTER_STOPPING, "there is work");
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(router()->router->state, ROUTER_DISABLED, "time is up");
	UNIT_EQUAL(rails_count(&rails.waiting), 0, "nobody waits any more");
	rails_land(0, LNET_OK);
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 2, "what was in goes on");
	UNIT_EQUAL(pool(LNET_RTR_small)->made, 0, "and its buffers are gone");
	put(0, 0, 2, 8);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_not_for_me), 1, "what comes now does not");
	finish();
}

static void test_ni_removed(void)
{
	unsigned int rail;

	for (rail = 0; rail < 2; rail++) {
		struct lnet_nid nid = rails_nid(ROUTER, rail);

		fill_up();
		set("drain_time", RAILS_MS);
		UNIT_EQUAL(lnet_ni_del(router(), &nid), 0, "removed");
		rails_clear();
		rails_run(10 * NSEC_PER_SEC);
		UNIT_EQUAL(pool(LNET_RTR_small)->used <= 1, true, "at most the one that lands");
		while (rails_count(&rails.landing))
			rails_land(0, LNET_OK);
		rails_run(10 * NSEC_PER_SEC);
		UNIT_EQUAL(pool(LNET_RTR_small)->used, 0, "buffers are back");
		UNIT_EQUAL(sender(0, 0)->rtr_credits, 8, "credits are");
		rails_end();
	}
}

static void test_shut_down(void)
{
	fill_up();
	rails_node_stop(ROUTER);
	rails_end();
}

static void test_sender_removed(void)
{
	struct lnet_nid nid = rails_nid(0, 0);

	fill_up();
	rails_land(0, LNET_PATH_LOST);
	while (rails_count(&rails.waiting))
		rails_gone(0);
	let_go();
	UNIT_EQUAL(lnet_peer_del(router(), &nid, NULL, 0), 0, "nobody refers to it");
	rails_end();
}

/* ---- retries --------------------------------------------------------------------------------- */

static void test_again(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8);

	begin();
	rails_on(ROUTER, 1, RAILS_PUT, FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, 1);
	put(0, 0, 2, 8);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 1, "perhaps it arrived: not again");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 1, "dropped");
	set("resend_ambiguous", 1);
	rails_on(ROUTER, 1, RAILS_PUT, FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, 1);
	put(0, 0, 2, 8);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 2, "whatever is said: it is not ours");
	hdr.msg.put.ptl_index += LNET_PORTAL_TRACKED;
	rails_on(ROUTER, 1, RAILS_PUT, FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, 1);
	inject(&hdr, 0, false);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 4, "what is marked may come twice");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 1, "and went");
	rails_on(ROUTER, 1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, 1);
	put(0, 0, 2, 8);
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 2, "what never left goes again");
	finish();
}

/* ---- replies to the sender ------------------------------------------------------------------- */

static void test_told(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8), *got = &rails.last.hdr;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		bool marked = i != 1, lost = i == 2;

		begin();
		hdr = hdr_of(0, 0, 2, i == 3 ? 0 : 8);
		hdr.type = i == 3 ? LNET_MSG_GET : LNET_MSG_PUT;
		if (i == 3) {
			memset(&hdr.msg, 0, sizeof(hdr.msg));
			hdr.msg.get.ptl_index = RAILS_PORTAL + LNET_PORTAL_TRACKED;
			hdr.msg.get.return_wmd.cookie[0] = 77;
		} else {
			hdr.msg.put.ptl_index += marked ? LNET_PORTAL_TRACKED : 0;
			hdr.msg.put.ack_wmd.cookie[0] = 77;
		}
		rails_on(ROUTER, -1, i == 3 ? RAILS_GET : RAILS_PUT,
			 lost ? FATE_POST_FAIL : FATE_REFUSE,
			 lost ? LNET_NETWORK_TIMEOUT : LNET_REMOTE_DROPPED, -1);
		inject(&hdr, 0, false);
		rails_run(5 * RAILS_MS);
		UNIT_EQUAL(rails.nr_carried[RAILS_ACK], marked && !lost, "at once");
		rails_run(20 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 1, "dropped");
		UNIT_EQUAL(rails.nr_carried[RAILS_ACK], marked && !lost, "told if it is certain");
		if (marked && !lost) {
			UNIT_EQUAL(got->type, LNET_MSG_ACK, "by an ACK");
			UNIT_EQUAL(got->msg.ack.mlength, LNET_REJECTED + LNET_REJECTED_BY_ROUTER,
				   "that says so");
			UNIT_EQUAL(got->msg.ack.dst_wmd.cookie[0], 77, "of this request");
			UNIT_EQUAL(lnet_nid_same(&got->src_nid, &hdr.dest_nid), true, "from it");
			UNIT_EQUAL(lnet_nid_same(&got->dest_nid, &hdr.src_nid), true, "to it");
		}
		UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 0, "which counts as nothing");
		finish();
	}
}

/* Without link, a tracked request is rejected at once; another message waits for the link. */
static void test_no_link(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8);

	begin();
	hdr.msg.put.ptl_index += LNET_PORTAL_TRACKED;
	rails_link(ROUTER, 1, false);
	rails_run(RAILS_MS);
	rails_on(ROUTER, 1, RAILS_ANY, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
	inject(&hdr, 0, false);
	UNIT_EQUAL(rails.nr_carried[RAILS_ACK], 1, "told at once");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_local_dropped_count), 0, "and not tried");
	put(0, 0, 2, 8);
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops), 1, "the other is kept");
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 0, "while there is none");
	rails_clear();
	rails_link(ROUTER, 1, true);
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 1, "and goes when it is back");
	finish();
}

/* A router-generated reply causes a retry on another path at once, and proves nothing else. */
static void test_hears(void)
{
	struct lnet_nid peer = rails_nid(1, 0);
	struct lnet_peer_ni *from;
	struct lnet_hdr hdr = { .type = LNET_MSG_ACK, .src_pid = LNET_PID };
	unsigned int tag, rail;
	struct lnet_pass p;
	struct lnet *ln;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	UNIT_EQUAL(lnet_tunable_set(ln, "hedge", 0), 0, "no second copies");
	rails_on(0, -1, RAILS_PUT, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 100, LNET_ACK, 0);
	rail = rails.req[tag].on_rail[1];
	peer = rails_nid(1, rail);
	hdr.src_nid = peer;
	hdr.dest_nid = rails_nid(0, rail);
	hdr.msg.ack.dst_wmd = rails.last.hdr.msg.put.ack_wmd;
	hdr.msg.ack.mlength = LNET_REJECTED + LNET_REJECTED_BY_ROUTER;
	from = lnet_peer_ni_get(ln, &peer);
	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_rx_begin(&p, rails_ni(0, rail), NULL, &hdr, from);
	lnet_pass_end(&p);
	lnet_peer_ni_put(from);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].on_rail[!rail], 1, "by the other rail");
	UNIT_EQUAL(rails_done(tag), 1, "done");
	UNIT_EQUAL(rails.req[tag].status, 0, "well");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
	rails_end();
}

/* ---- another NID of the destination ---------------------------------------------------------- */

static void test_substitute(void)
{
	struct rails_cfg cfg = three;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		bool mr = i == 0;

		cfg.single = i == 2;
		begin_with(&cfg);
		if (i == 1)
			rails_peer(ROUTER, 0)->mr = 0;
		put(0, 0, 2, 8);
		UNIT_EQUAL(rails.last.rail, 1, "as addressed");
		sender(2, 1)->health = 900;
		put(0, 0, 2, 8);
		UNIT_EQUAL(rails.last.rail, mr ? 0 : 1, "which is not healthy, and both know more");
		finish();
	}
}

static void test_substitute_later(void)
{
	begin();
	rails_on(ROUTER, 1, RAILS_PUT, FATE_FAIL, LNET_REMOTE_DROPPED, -1);
	put(0, 0, 2, 8);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 1, "there is another way");
	UNIT_EQUAL(rails.last.rail, 0, "by the other rail");
	finish();
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void test_no_memory(void)
{
	struct lnet_hdr hdr = hdr_of(0, 0, 2, 8);
	unsigned int nth;

	begin();
	for (nth = 1; nth < 8; nth++) {
		hdr.payload_len = nth & 1 ? 8 : 8000;
		hdr.msg.put.match_bits = nth;
		unit_fail_alloc(nth);
		inject(&hdr, 0, false);
		unit_fail_alloc(0);
		set("small_router_buffers", nth & 2 ? 0 : 1);
	}
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_forward_drops) +
		   rails_stat(ROUTER, LNET_C_route_count) >= 5, true, "each went or was dropped");
	finish();
	rails_begin(&three);
	unit_fail_alloc(1);
	UNIT_EQUAL(lnet_router_enable(router(), true), -ENOMEM, "nothing changed");
	unit_fail_alloc(0);
	UNIT_EQUAL(lnet_router_forwards(router()), false, "off");
	rails_end();
}

/* The buffer of a waiting message is allocated when the message is served, and that may fail. */
static void test_no_memory_later(void)
{
	unsigned int nth, failed = 0;
	u64 dropped;

	for (nth = 0; nth < 6; nth++) {
		begin();
		sender(0, 0)->rtr_credits = 1;
		hold_all();
		put(0, 0, 2, 0);
		put(0, 0, 2, 8);
		put(0, 0, 2, 9);
		UNIT_EQUAL(rails_count(&rails.waiting), 2, "for the credit");
		rails_clear();
		unit_fail_alloc(nth);
		let_go();
		unit_fail_alloc(0);
		dropped = rails_stat(ROUTER, LNET_C_forward_drops);
		UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 3 - dropped, "the others went");
		failed += dropped;
		sender(0, 0)->rtr_credits += 7;
		finish();
	}
	UNIT_EQUAL(failed, 1, "one allocation is that buffer");
}

static void test_resize(void)
{
	unsigned int i;

	begin();
	UNIT_EQUAL(pool(LNET_RTR_tiny)->nr, 2048, "as stock's");
	UNIT_EQUAL(pool(LNET_RTR_small)->nr, 16384, "as stock's");
	UNIT_EQUAL(pool(LNET_RTR_large)->nr, 1024, "as stock's");
	set("small_router_buffers", 2);
	hold_all();
	for (i = 0; i < 4; i++)
		put(0, 0, 2, 8);
	UNIT_EQUAL(rails_count(&rails.kept), 1, "half of two");
	set("small_router_buffers", 8);
	rails_pump();
	UNIT_EQUAL(rails_count(&rails.kept), 4, "half of eight");
	set("small_router_buffers", 1);
	let_go();
	UNIT_EQUAL(pool(LNET_RTR_small)->made, 1, "what is too much goes");
	finish();
}

/* ---- shards ---------------------------------------------------------------------------------- */

static void test_shards(void)
{
	struct rails_cfg cfg = three;
	unsigned int i;

	cfg.nr_shards = 3;
	begin_with(&cfg);
	set("small_router_buffers", 3);
	hold_all();
	for (i = 0; i < 5; i++) {
		put(0, 0, 2, 8);
		put(2, 0, 0, 8);
	}
	UNIT_EQUAL(rails_count(&rails.kept), 2, "a buffer for each of the senders' shards");
	let_go();
	UNIT_EQUAL(rails_stat(ROUTER, LNET_C_route_count), 10, "all went");
	finish();
}

UNIT_SUITE(router,
	   { "of what is sent on only the destination may differ", test_header },
	   { "what is sent on arrives", test_arrives },
	   { "a node that does not route drops", test_off },
	   { "without a way to the destination it is dropped", test_no_way },
	   { "a sender has so many credits, and each of its destinations half", test_credits },
	   { "large ones have credits of their own", test_large_credits },
	   { "one credit is enough", test_one_credit },
	   { "router credits are set for known peers", test_credits_set },
	   { "one destination gets half of a pool", test_quota },
	   { "a slow destination stops no other", test_turns },
	   { "nothing waits for ever", test_waits_for_ever },
	   { "a connection that is lost gives all back", test_connection_lost },
	   { "one that waits no more is passed over", test_waiter_lost },
	   { "a dead destination gives all back", test_destination_dead },
	   { "switching off gives all back", test_switched_off },
	   { "removing an interface gives all back", test_ni_removed },
	   { "the end gives all back", test_shut_down },
	   { "a sender may go", test_sender_removed },
	   { "lnt-050: what perhaps arrived is sent again if it is marked", test_again },
	   { "who sent what certainly went nowhere hears it", test_told },
	   { "at once if there is no link", test_no_link },
	   { "and sends it by another way at once", test_hears },
	   { "lnt-050: another NID stands for one that fails", test_substitute },
	   { "also when it fails only now", test_substitute_later },
	   { "without memory it is dropped", test_no_memory },
	   { "also when it has waited", test_no_memory_later },
	   { "pools grow and shrink", test_resize },
	   { "each shard has its buffers", test_shards })
