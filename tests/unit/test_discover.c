/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery: pings and pushes, how often they are sent, their results, and requests that continue.
 */
#include "manage/manage.h"
#include "rails.h"

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

static const struct lnet_disc *disc(unsigned int from, unsigned int to)
{
	return &rails_peer(from, to)->disc;
}

/* The number of peer entries of node @from, without its loopback. */
static unsigned int records(unsigned int from)
{
	struct lnet *ln = rails.node[from].ln;
	struct lnet_peer *peer;
	unsigned int nr = 0;

	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		nr += !lnet_nid_is_lo(&peer->primary);
	return nr;
}

/* Pings, session open requests, pushes and their replies since the last call. */
static unsigned int control(void)
{
	static unsigned int last;
	unsigned int nr = 0, was = last, i;

	for (i = 0; i < rails.cfg.nr_nodes; i++)
		nr += 2 * (unsigned int)(rails_stat(i, LNET_C_pings_sent) +
					 rails_stat(i, LNET_C_pushes_sent));
	last = nr;
	return nr > was ? nr - was : 0;
}

static void begin(void)
{
	rails_begin(&strangers);
	control();
}

static void send(unsigned int from, unsigned int to)
{
	unsigned int tag = rails_get(from, to, 8, 0);

	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "delivered");
}

static void knows(unsigned int from, unsigned int to, unsigned int nids)
{
	struct lnet_nid nid = rails_nid(to, 0);

	UNIT_EQUAL(disc(from, to)->state, DISC_DONE, "state");
	UNIT_EQUAL(rails_nids(from, to), nids, "interfaces");
	UNIT_EQUAL(records(from), 1, "one record");
	UNIT_EQUAL(lnet_nid_same(&rails_peer(from, to)->primary, &nid), true, "primary NID");
	UNIT_EQUAL(rails_peer(from, to)->mr, 1, "multi-rail");
}

/* From one NID, both nodes learn all NIDs of each other, by six messages. */
static void test_first(void)
{
	unsigned int i;

	begin();
	send(0, 1);
	knows(0, 1, 2);
	knows(1, 0, 2);
	UNIT_EQUAL(control(), 6, "ping, opening and push, each answered");
	for (i = 0; i < 16; i++)
		send(0, 1);
	UNIT_EQUAL(control(), 0, "and no more");
	CU_ASSERT(rails_path(0, 1, 1)->liveness_ns > 0);	/* the other rail is used */
	send(1, 0);
	UNIT_EQUAL(control(), 2, "who was told opens at once");
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(control(), 0, "nobody is told what it has asked for");
	rails_end();
}

/*
 * The state that `peer show` prints, as in stock LNet. With bit 0, which is of the peer entry, it
 * is 273 if all is known.
 */
static void test_bits(void)
{
	begin();
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, 1);
	rails_get(0, 1, 8, 0);
	UNIT_EQUAL(rails_disc_bits(0, 1), LNET_PEER_STATE_DISCOVERING | LNET_PEER_STATE_PING_SENT,
		   "asked");
	rails_run(3 * NSEC_PER_SEC);
	rails_clear();
	send(0, 1);
	knows(0, 1, 2);
	UNIT_EQUAL(rails_disc_bits(0, 1) | rails_peer(0, 1)->mr, 273, "known");
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	rails_ni_del(0, 1);
	send(0, 1);			/* liveness on the remaining rail */
	rails_run(380 * RAILS_MS);
	CU_ASSERT(rails_disc_bits(0, 1) & LNET_PEER_STATE_PUSH_SENT);
	rails_run(6 * NSEC_PER_SEC);
	CU_ASSERT(rails_disc_bits(0, 1) & LNET_PEER_STATE_REDISCOVER);
	rails_clear();
	rails_end();
}

/* As stock nodes do: a stock node gets a push after its ping, and no ping after its push. */
static void test_stock(void)
{
	begin();
	rails.node[0].stock = true;
	send(0, 1);
	knows(1, 0, 2);
	UNIT_EQUAL(rails_stat(1, LNET_C_pushes_sent), 1, "the reverse push");
	UNIT_EQUAL(rails_stat(1, LNET_C_pings_sent), 0, "no ping");
	control();
	send(1, 0);
	UNIT_EQUAL(rails_peer(1, 0)->session_state, SESSION_PLAIN, "under stock rules");
	UNIT_EQUAL(control(), 0, "nothing is asked");
	rails_end();
}

/* Changes are advertised by one push, however many there are. */
static void test_changes(void)
{
	begin();
	send(0, 1);
	control();
	rails_ni_del(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 1);
	UNIT_EQUAL(control(), 2, "one push");
	send(0, 1);
	rails_ni_add(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 2);
	UNIT_EQUAL(control(), 2, "one push");
	rails_ni_del(1, 1);
	rails_ni_add(1, 1);
	rails_ni_del(1, 1);
	rails_ni_add(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 2);
	UNIT_EQUAL(control(), 2, "one push for four changes");
	rails_end();
}

/* The NI is administratively drained, so its link does not change the ping info. */
static void test_no_news(void)
{
	struct lnet_nid nid = rails_nid(1, 1);
	u32 seq;

	begin();
	send(0, 1);
	control();
	UNIT_EQUAL(lnet_ni_drain(rails.node[1].ln, &nid, true), 0, "drain");
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(control(), 2, "one push");
	seq = rails.node[1].ln->ping_seq;
	rails_link(1, 1, false);
	rails_run(2 * NSEC_PER_SEC);
	rails_link(1, 1, true);
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.node[1].ln->ping_seq, seq, "the info says the same");
	UNIT_EQUAL(control(), 0, "nobody is told");
	rails_end();
}

static void test_both_change(void)
{
	begin();
	send(0, 1);
	send(1, 0);
	rails_ni_del(0, 1);
	rails_ni_del(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 1);
	knows(1, 0, 1);
	rails_ni_add(0, 1);
	rails_ni_add(1, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 2);
	knows(1, 0, 2);
	rails_end();
}

/* Pings without reply, and the pauses between them: requests continue, and few pings are sent. */
static void test_silent(void)
{
	unsigned int i;

	begin();
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	for (i = 0; i < 100; i++) {
		rails_get(0, 1, 8, 0);
		rails_run(200 * RAILS_MS);
	}
	UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, "failed");
	CU_ASSERT(rails_stat(0, LNET_C_pings_sent) <= 5);
	for (i = 1; i <= 100; i++)
		UNIT_EQUAL(!rails_done(i) && i < 80, 0, "nothing waits for it");
	rails_clear();
	rails_run(20 * NSEC_PER_SEC);
	send(0, 1);
	knows(0, 1, 2);
	rails_end();
}

/* LU-16149, LU-15234: after any loss, no discovery remains unfinished. */
static void test_push_lost(void)
{
	begin();
	rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, 2);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	send(0, 1);
	UNIT_EQUAL(disc(0, 1)->state, DISC_PUSH, "pushing");
	rails_run(6 * NSEC_PER_SEC);
	UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, "failed");
	rails_clear();
	rails_run(10 * NSEC_PER_SEC);
	knows(0, 1, 2);
	knows(1, 0, 2);
	rails_end();
}

/* ---- modified replies ------------------------------------------------------------------------ */

static struct rails_msg *reply_of(unsigned int node)
{
	struct rails_msg *m;

	list_for_each_entry(m, &rails.delayed, link)
		if (m->from == (int)node && m->hdr.type == LNET_MSG_REPLY && m->len == 64)
			return m;
	return NULL;
}

static u32 word_at(const struct rails_msg *m, unsigned int at)
{
	return get_unaligned_le32(m->data + at);
}

/*
 * LU-15512: after an invalid ping info, the node pings again after a pause, not at
 * once and not without end.
 */
static void test_nonsense(void)
{
	static const struct {
		const char *name;
		unsigned int at;
		u32 value;
	} rows[] = {
		{ "magic", 0, 0x12345678 },
		{ "no NI_STATUS", 4, LNET_FEAT_MULTI_RAIL },
		{ "no entries", 12, 0 },
		{ "too many entries", 12, 5000 },
		{ "entry 0 is not the loopback", 16, 7 },
	};
	struct rails_msg *m;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
		rails_get(0, 1, 8, 0);
		rails_pump();
		m = reply_of(1);
		CU_ASSERT_FATAL(m != NULL);
		put_unaligned_le32(rows[i].value, m->data + rows[i].at);
		rails_release();
		UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, rows[i].name);
		UNIT_EQUAL(rails_nids(0, 1), 1, rows[i].name);
		UNIT_EQUAL(rails_stat(0, LNET_C_pings_sent), 1, rows[i].name);
		rails_run(NSEC_PER_SEC * 2);
		send(0, 1);
		rails_run(NSEC_PER_SEC);
		knows(0, 1, 2);
		rails_end();
	}
}

/*
 * An info longer than its buffer causes another ping at once, with more room, but only one if it
 * never fits.
 */
static void test_cut(void)
{
	struct rails_msg *m;
	unsigned int i, asked;

	begin();
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	rails_get(0, 1, 8, 0);
	rails_pump();
	m = reply_of(1);
	CU_ASSERT_FATAL(m != NULL);
	put_unaligned_le32(40, m->data + 12);
	rails_release();
	UNIT_EQUAL(disc(0, 1)->size <= 656, true, "what it said");
	rails_run(20 * RAILS_MS);
	knows(0, 1, 2);
	rails_end();

	begin();
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
	for (i = 0; i < 100; i++) {
		if (!(i % 10))
			rails_get(0, 1, 8, 0);
		rails_run(200 * RAILS_MS);
		m = reply_of(1);
		if (m && word_at(m, 0) == LNET_PING_MAGIC)
			put_unaligned_le32(20 + i, m->data + 12);
		rails_release();
	}
	asked = (unsigned int)rails_stat(0, LNET_C_pings_sent);
	UNIT_EQUAL(asked < 25, true, "no loop");
	UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, "not known");
	rails_clear();
	rails_end();
}

/* ---- pushes that the test writes ------------------------------------------------------------- */

/* Puts a push with the @len bytes @buf on the wire, between the first interfaces of both nodes. */
static struct rails_msg *info_wire(unsigned int from, unsigned int to, u8 *buf, u32 len)
{
	struct rails_msg m = { .from = (int)from, .to = (int)to, .type = RAILS_CORE, .data = buf };

	m.len = len;
	m.hdr.type = LNET_MSG_PUT;
	m.hdr.src_nid = rails_nid(from, 0);
	m.hdr.dest_nid = rails_nid(to, 0);
	m.via = m.hdr.src_nid;
	m.at = m.hdr.dest_nid;
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	m.hdr.payload_len = m.len;
	m.hdr.msg.put.ptl_index = LNET_PORTAL_RESERVED;
	m.hdr.msg.put.match_bits = LNET_PING_MATCHBITS;
	lnet_handle_set_none(&m.hdr.msg.put.ack_wmd);
	rails_again(&m);
	return list_last_entry(&rails.wire, struct rails_msg, link);
}

static void push_info(unsigned int from, unsigned int to, u8 *buf, u32 len)
{
	info_wire(from, to, buf, len);
	rails_pump();
}

static struct rails_msg *push_wire(unsigned int from, unsigned int to, u32 features, u32 seq,
				   unsigned int nr, u32 status)
{
	struct lnet_pinginfo_ni nis[RAILS_RAILS];
	u8 buf[256];
	unsigned int i;
	int len;

	for (i = 0; i < nr; i++) {
		nis[i].nid = rails_nid(from, i);
		nis[i].status = i ? status : LNET_NI_UP;
	}
	len = lnet_pinginfo_encode(buf, sizeof(buf), features, LNET_PID, seq, nis, nr);
	CU_ASSERT_FATAL(len > 0);
	return info_wire(from, to, buf, (u32)len);
}

static void push(unsigned int from, unsigned int to, u32 features, u32 seq, unsigned int nr,
		 u32 status)
{
	push_wire(from, to, features, seq, nr, status);
	rails_pump();
}

#define FULL (LNET_FEAT_NI_STATUS | LNET_FEAT_RTE_DISABLED | LNET_FEAT_MULTI_RAIL | \
	      LNET_FEAT_DISCOVERY)

/* An inbound push: a row for each of stock LNet's rules. */
static void test_pushed(void)
{
	static const struct {
		const char *name;
		u32 features;
		unsigned int nr, nids, mr;
	} rows[] = {
		{ "all of it", FULL, 2, 2, 1 },
		{ "not multi-rail: ignored", FULL & ~LNET_FEAT_MULTI_RAIL, 2, 1, 0 },
		{ "does not discover: one record per NID", FULL & ~LNET_FEAT_DISCOVERY, 2, 1, 0 },
		{ "one NID", FULL, 1, 1, 1 },
		{ "without a primary NID", FULL, 0, 1, 0 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		rails_on(1, 0, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
		push(1, 0, rows[i].features, 7, rows[i].nr, LNET_NI_UP);
		UNIT_EQUAL(rails_nids(0, 1), rows[i].nids, rows[i].name);
		UNIT_EQUAL(rails_peer(0, 1)->mr, rows[i].mr, rows[i].name);
		rails_end();
	}
}

/* A peer that discovers advertises that discovery is off, and later that it is on again. */
static void test_toggled(void)
{
	begin();
	send(0, 1);
	knows(0, 1, 2);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 0), 0, "off");
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "as if it had one NID");
	UNIT_EQUAL(rails_peer(0, 1)->mr, 0, "not multi-rail");
	UNIT_EQUAL(rails_nids(1, 0), 2, "what it has learned stays");
	send(0, 1);
	send(1, 0);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 1), 0, "on");
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 2);
	knows(1, 0, 2);
	rails_end();
}

/* LU-14661: discovery is off before session negotiation, and on after it. */
static void test_late(void)
{
	begin();
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "discovery", 0), 0, "off");
	send(0, 1);
	UNIT_EQUAL(rails_nids(0, 1), 1, "nothing is learned");
	UNIT_EQUAL(rails_stat(0, LNET_C_pushes_sent), 0, "nor told");
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "discovery", 1), 0, "on");
	rails_run(3 * NSEC_PER_SEC);
	knows(0, 1, 2);
	knows(1, 0, 2);
	rails_end();
}

/* An advertised DOWN lowers health and the rail is avoided, until a newer push advertises UP. */
static void test_status(void)
{
	unsigned int i, tag, before;
	const struct lnet_peer_ni *pni;

	begin();
	send(0, 1);
	push(1, 0, FULL | LNET_FEAT_OPEN, 100, 2, LNET_NI_DOWN);
	pni = rails_path(0, 1, 1)->pni;
	UNIT_EQUAL(pni->status, LNET_PNI_STATUS_DOWN, "down");
	CU_ASSERT(pni->health < LNET_HEALTH_MAX);
	before = rails.nr_tags;
	for (i = 0; i < 10; i++)
		send(0, 1);
	for (tag = before + 1; tag <= rails.nr_tags; tag++)
		UNIT_EQUAL(rails.req[tag].on_rail[1], 0, "avoided");
	push(1, 0, FULL | LNET_FEAT_OPEN, 101, 2, LNET_NI_UP);
	UNIT_EQUAL(pni->status, LNET_PNI_STATUS_UP, "up");
	rails_end();
}

/* ---- events that coincide -------------------------------------------------------------------- */

static void lose_all(unsigned int from, unsigned int to)
{
	rails_lost(from, to, 0, LNET_PATH_LOST);
	rails_lost(from, to, 1, LNET_PATH_LOST);
	UNIT_EQUAL(rails_peer(from, to)->session_state, SESSION_DOUBT, "in doubt");
}

/* The session is in doubt, so the peer is pinged, while a change must be advertised. */
static void test_change_in_doubt(void)
{
	begin();
	send(0, 1);
	send(0, 1);
	lose_all(0, 1);
	rails_ni_del(0, 1);
	send(0, 1);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, 2);
	knows(1, 0, 1);
	rails_end();
}

/* A valid and an invalid push arrive together; or an invalid one while a push is in flight. */
static void test_bad_push(void)
{
	struct rails_msg *m;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin();
		send(0, 1);
		rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, i ? -1 : 0);
		if (i)
			rails_ni_del(0, 1);
		rails_run(NSEC_PER_SEC);
		UNIT_EQUAL(disc(0, 1)->state, i ? DISC_PUSH : DISC_DONE, "state");
		if (!i)
			push_wire(1, 0, FULL | LNET_FEAT_OPEN, 50, 1, LNET_NI_UP);
		m = push_wire(1, 0, FULL, 51, 2, LNET_NI_UP);
		put_unaligned_le32(0, m->data);
		while (!list_empty(&rails.wire))
			rails_deliver();
		rails_clear();
		rails_release();
		rails_run(2 * NSEC_PER_SEC);
		knows(0, 1, 2);
		rails_end();
	}
}

/* A change that arrives while the push of node 0 is in flight waits for the end of that push. */
static void test_news_while_pushing(void)
{
	begin();
	send(0, 1);
	rails_on(0, -1, RAILS_ANY, FATE_DELAY, LNET_OK, -1);
	rails_ni_del(0, 1);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(disc(0, 1)->state, DISC_PUSH, "pushing");
	push_wire(1, 0, FULL | LNET_FEAT_OPEN, 60, 2, LNET_NI_DOWN);
	while (!list_empty(&rails.wire))
		rails_deliver();
	UNIT_EQUAL(disc(0, 1)->seq, 60, "taken");
	rails_clear();
	rails_release();
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(disc(0, 1)->state, DISC_DONE, "and merged");
	knows(0, 1, 2);
	rails_end();
}

/* The ping failed, but then the peer sends a push: the same info as before, or a newer one. */
static void test_heard_after_failure(void)
{
	struct lnet_sbuf *info;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin();
		send(0, 1);
		send(0, 1);
		lose_all(0, 1);
		rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
		rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(3 * NSEC_PER_SEC);
		UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, "no answer");
		info = rails.node[1].ln->ping_info;
		push_info(1, 0, info->data, info->len);
		UNIT_EQUAL(disc(0, 1)->state, DISC_DONE, "heard");
		rails_put(0, 1, 8, LNET_ACK, 0);
		rails_run(3 * NSEC_PER_SEC);
		UNIT_EQUAL(disc(0, 1)->state, DISC_FAILED, "no answer");
		push(1, 0, FULL | LNET_FEAT_OPEN, 50, 2, LNET_NI_UP);
		UNIT_EQUAL(disc(0, 1)->state, DISC_DONE, "news");
		rails_end();
	}
}

/* ---- requests that wait for discovery -------------------------------------------------------- */

static void want_wait(bool wait)
{
	begin();
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "discovery_wait", wait), 0, "setting");
}

/*
 * With discovery_wait, the first requests wait until both nodes know all NIDs,
 * also with a @stock peer. Without it, they wait for session negotiation only. Later ones do not
 * wait.
 */
static void test_wait(void)
{
	unsigned int row, i, tag;

	for (row = 0; row < 4; row++) {
		bool wait = row & 1, stock = row & 2;

		want_wait(wait);
		rails.node[1].stock = stock;
		rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, stock ? 1 : 2);
		rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
		for (i = 0; i < 16; i++)
			tag = rails_get(0, 1, 8, 0);
		rails_run(20 * RAILS_MS);
		tag = rails_get(0, 1, 8, 0);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(disc(0, 1)->state, DISC_PUSH, "telling");
		for (i = 1; i <= tag; i++)
			UNIT_EQUAL(rails_done(i), !wait, row & 2 ? "stock" : "while it is told");
		rails_clear();
		rails_release();
		rails_run(20 * RAILS_MS);
		for (i = 1; i <= tag; i++)
			UNIT_EQUAL(rails_done(i) && !rails.req[i].status, true, "then");
		CU_ASSERT(!wait || rails.req[1].on_rail[0] + rails.req[2].on_rail[0] == 1);
		rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
		rails_ni_del(0, 1);
		rails_run(300 * RAILS_MS);
		tag = rails_get(0, 1, 8, 0);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(rails_done(tag), 1, "a change holds up nobody");
		rails_clear();
		rails_end();
	}
}

/*
 * Waiting requests continue if discovery fails. They fail if the peer entry is removed, the node
 * stops or their time is over.
 */
static void test_wait_in_vain(void)
{
	struct lnet_nid nid;
	unsigned int tag, row;

	want_wait(true);
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	tag = rails_get(0, 1, 8, 0);
	rails_run(5 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_done(tag) && !rails.req[tag].status, true, "goes all the same");
	rails_clear();
	rails_end();

	for (row = 0; row < 3; row++) {
		want_wait(true);
		rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, 2);
		rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
		tag = rails_get(0, 1, 8, row == 2 ? 100 * RAILS_MS : 0);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(rails_done(tag), 0, "waits");
		nid = rails_nid(1, 0);
		if (row == 0)
			UNIT_EQUAL(lnet_peer_del(rails.node[0].ln, &nid, NULL, 0), 0, "peer del");
		if (row == 1)
			rails_node_stop(0);
		if (row != 1)
			rails_run(200 * RAILS_MS);
		UNIT_EQUAL(rails_done(tag), 1, row == 0 ? "deleted" : row == 1 ? "stop" : "time");
		CU_ASSERT(rails.req[tag].status < 0);
		rails_clear();
		rails_end();
	}
}

/* ---- the end of a node ----------------------------------------------------------------------- */

/*
 * LU-15616, LU-17103: a node stops during pings, pushes and merges; nothing stays, nothing hangs.
 */
static void test_shutdown(void)
{
	unsigned int nr;

	for (nr = 0; nr < 12; nr++) {
		begin();
		rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, (int)(nr % 4));
		rails_on(0, -1, RAILS_CORE, nr & 4 ? FATE_KEEP : FATE_POST, LNET_OK, -1);
		rails_get(0, 1, 8, 0);
		if (nr & 8)
			rails_pump();
		else
			while (!list_empty(&rails.wire))
				rails_deliver();
		rails_node_stop(0);
		rails_end();
	}
}

UNIT_SUITE(discover,
	{ "wire.md 7.2: given one NID both know all, by six messages", test_first },
	{ "management.md 3.2: the state of a peer, as it is shown", test_bits },
	{ "wire.md 7.3: a stock node is told, and not asked when it told", test_stock },
	{ "wire.md 7.6: changes are told, several at once", test_changes },
	{ "what says the same as before is told to nobody", test_no_news },
	{ "wire.md 7.6: both ends change", test_both_change },
	{ "behaviour.md W24: a silent peer is asked now and then, requests go on", test_silent },
	{ "LU-16149: a push that is lost is sent again", test_push_lost },
	{ "LU-15512: nonsense is no loop", test_nonsense },
	{ "wire.md 6.4: what is cut is asked again with more room", test_cut },
	{ "wire.md 7.4: what pushes do", test_pushed },
	{ "LU-11641: off and on again at the other end", test_toggled },
	{ "LU-14661: off and on again here", test_late },
	{ "behaviour.md 5.6: DOWN and UP", test_status },
	{ "a change while the peer is asked whether it lives", test_change_in_doubt },
	{ "wire.md 7.4: a push that is nonsense makes a ping", test_bad_push },
	{ "news while pushing", test_news_while_pushing },
	{ "heard after a failure", test_heard_after_failure },
	{ "behaviour.md 3.2: first requests wait if they are to", test_wait },
	{ "but not for ever", test_wait_in_vain },
	{ "LU-15616: the end of a node with all of it under way", test_shutdown })
