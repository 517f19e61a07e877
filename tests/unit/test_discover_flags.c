/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The discovery flags of stock LNet compared with the state machine of states/discover.def. The
 * test causes each event, and compares the equivalent flags of stock before and after it. The
 * states are those flags of stock that exclude each other: PING is PING_SENT, MERGE is
 * DATA_PRESENT, PUSH is PUSH_SENT, FAILED is REDISCOVER. PING, MERGE and PUSH are also
 * DISCOVERING. PING_FAILED and PUSH_FAILED mark work for stock's thread, which is done here at the
 * event.
 */
#include "rails.h"
#include "service/service.h"

#define FORCE_PING	0x10000000U	/* in addition to the bits of `peer show` */
#define FORCE_PUSH	0x20000000U
#define BUSY		LNET_PEER_STATE_DISCOVERING
#define PING_SENT	LNET_PEER_STATE_PING_SENT
#define PUSH_SENT	LNET_PEER_STATE_PUSH_SENT
#define DATA		LNET_PEER_STATE_DATA
#define UPTODATE	LNET_PEER_STATE_UPTODATE
#define REDISCOVER	LNET_PEER_STATE_REDISCOVER
#define DISCOVERED	LNET_PEER_STATE_DISCOVERED
#define NO_DISCOVERY	LNET_PEER_STATE_NO_DISCOVERY

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

static struct lnet *ln0(void)
{
	return rails.node[0].ln;
}

static struct lnet_disc *disc(void)
{
	return &rails_peer(0, 1)->disc;
}

static u32 flags(void)
{
	struct lnet_peer *peer = rails_peer(0, 1);
	u32 all;

	spin_lock(&peer->sh->lock);
	all = lnet_disc_bits(peer);
	spin_unlock(&peer->sh->lock);
	return all | (peer->disc.want_ping ? FORCE_PING : 0) |
	       (peer->disc.force_push ? FORCE_PUSH : 0);
}

/* ---- arrangements: each begins with two nodes ------------------------------------------------ */

static void strange(void)
{
	rails_peer(0, 1);		/* creates the peer entry */
}

static void known(void)
{
	rails_get(0, 1, 8, 0);
	rails_run(20 * RAILS_MS);
}

static void core(enum rails_fate fate, enum lnet_outcome how, int count)
{
	rails_on(0, -1, RAILS_CORE, fate, how, count);
}

static void want(bool force)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln0(), LNET_PASS_CALL);
	lnet_enter_peer(&p, rails_peer(0, 1));
	lnet_disc_want(&p, rails_peer(0, 1), force);
	lnet_leave(&p);
	lnet_pass_end(&p);
}

/* The peer is known, and a ping to it is in flight; its REPLY waits for rails_release(). */
static void asked(void)
{
	known();
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
	want(true);
	rails_pump();
}

static void merge_locked(void)
{
	asked();
	rails_clear();
	mutex_lock(&ln0()->cfg_mutex);
	rails_release();
	rails_pump();
}

/* The peer is known, and the push of node 0 is in flight. */
static void telling(void)
{
	known();
	core(FATE_DELIVER, LNET_OK, 1);
	core(FATE_DELAY, LNET_OK, -1);
	want(true);
	rails_run(5 * RAILS_MS);
}

static void failed(void)
{
	known();
	core(FATE_LOSE, LNET_OK, -1);
	want(false);
	rails_run(3 * NSEC_PER_SEC);
	rails_clear();
}

static void not_multi_rail(void)
{
	known();
	rails_peer(0, 1)->mr = 0;
	lnet_tunable_set(rails.node[1].ln, "discovery", 0);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void queue(void)
{
	core(FATE_KEEP, LNET_OK, -1);
	want(false);
}

static void queue_busy(void)
{
	rails_peer(0, 1)->session_busy = 1;	/* another ping is in flight */
	want(true);
	rails_peer(0, 1)->session_busy = 0;
}

/* Runs until discovery has failed: at once, or after the last retry. */
static void until_failed(void)
{
	unsigned int ms;

	for (ms = 0; ms < 3000 && !disc()->status; ms++)
		rails_run(RAILS_MS);
}

static void send_refused(void)
{
	core(FATE_REFUSE, LNET_LOCAL_ERROR, -1);
	want(false);
	until_failed();
}

static void send_failed(void)
{
	core(FATE_POST_FAIL, LNET_NETWORK_TIMEOUT, -1);
	want(false);
	until_failed();
}

static void answer(void)
{
	mutex_lock(&ln0()->cfg_mutex);
	rails_clear();
	rails_release();
	rails_pump();
}

static void word_set(unsigned int at, u32 value)
{
	struct rails_msg *m = list_first_entry(&rails.delayed, struct rails_msg, link);

	put_unaligned_le32(value, m->data + at);
	rails_release();
	rails_pump();
}

static void answer_corrupt(void)
{
	word_set(0, 7);
}

static void answer_cut(void)
{
	word_set(12, 40);
}

static void nothing_comes(void)
{
	rails_clear();
	while (!list_empty(&rails.delayed))
		rails_msg_free(list_first_entry(&rails.delayed, struct rails_msg, link));
	core(FATE_LOSE, LNET_OK, -1);
	until_failed();
}

static void push_sent(void)
{
	core(FATE_KEEP, LNET_OK, -1);	/* later messages belong to another row */
	mutex_unlock(&ln0()->cfg_mutex);
	rails_run(5 * RAILS_MS);
}

static void merge_no_memory(void)
{
	core(FATE_KEEP, LNET_OK, -1);
	mutex_unlock(&ln0()->cfg_mutex);
	rails.now_ns += 2 * RAILS_MS;
	unit_fail_alloc(1);
	lnet_shard_work(ln0(), 0);
	unit_fail_alloc(0);
}

static void all_answers(void)
{
	rails_clear();
	rails_release();
	rails_run(5 * RAILS_MS);
}

static void time_passes(void)
{
	rails_clear();
	rails_run(5 * NSEC_PER_SEC);
}

static void ask_again(void)
{
	want(false);
	rails_run(20 * RAILS_MS);
}

static void force(void)
{
	core(FATE_KEEP, LNET_OK, -1);
	want(true);
}

/* A push as node 1 would send it, with @magic and without the features @not. */
static void pushed(u32 magic, u32 not)
{
	struct rails_msg m = { .from = 1, .type = RAILS_CORE };
	struct lnet_sbuf *info = rails.node[1].ln->ping_info;
	u8 buf[256];

	memcpy(buf, info->data, info->len);
	put_unaligned_le32(magic, buf);
	put_unaligned_le32(get_unaligned_le32(buf + 4) & ~not, buf + 4);
	put_unaligned_le32(77, buf + 24);
	m.data = buf;
	m.len = info->len;
	m.hdr.type = LNET_MSG_PUT;
	m.hdr.src_nid = m.via = rails_nid(1, 0);
	m.hdr.dest_nid = m.at = rails_nid(0, 0);
	m.hdr.src_pid = m.hdr.dest_pid = LNET_PID;
	m.hdr.payload_len = m.len;
	m.hdr.msg.put.ptl_index = LNET_PORTAL_RESERVED;
	m.hdr.msg.put.match_bits = LNET_PING_MATCHBITS;
	lnet_handle_set_none(&m.hdr.msg.put.ack_wmd);
	rails_again(&m);
	rails_deliver();
}

static void push_in(void)
{
	mutex_lock(&ln0()->cfg_mutex);
	pushed(LNET_PING_MAGIC, 0);
}

static void push_in_off(void)
{
	pushed(LNET_PING_MAGIC, LNET_FEAT_DISCOVERY);
	rails_run(5 * RAILS_MS);
}

static void push_in_bad(void)
{
	core(FATE_KEEP, LNET_OK, -1);
	pushed(7, 0);
}

static void push_in_cut(void)
{
	rails_peer(0, 1)->session_busy = 1;
	pushed(7, 0);
	rails_peer(0, 1)->session_busy = 0;
}

static void push_failed(void)
{
	telling();
	nothing_comes();
}

/* ---- the table ------------------------------------------------------------------------------- */

static const struct row {
	const char *event;
	void (*arrange)(void), (*happen)(void);
	u32 before, set, cleared;	/* @before: flags that must be set before the event */
	int status;			/* -errno that the peer entry keeps */
	enum lnet_disc_state state;
	bool locked;			/* the event leaves the configuration lock held */
} rows[] = {
	{ "queue for discovery", strange, queue, 0, BUSY, 0, 0, DISC_PING },
	{ "queue while another is asked", known, queue_busy, UPTODATE, FORCE_PING | FORCE_PUSH, 0,
	  0, DISC_DONE },
	{ "send ping", known, queue, UPTODATE, PING_SENT | BUSY, UPTODATE | FORCE_PING, 0,
	  DISC_PING },
	{ "ping send hard error", known, send_refused, 0, REDISCOVER, PING_SENT | BUSY, -EIO,
	  DISC_FAILED },
	{ "SEND event error of ping", known, send_failed, 0, REDISCOVER, PING_SENT | BUSY,
	  -ETIMEDOUT, DISC_FAILED },
	{ "REPLY ok", asked, answer, PING_SENT, DATA | BUSY, PING_SENT, 0, DISC_MERGE, true },
	{ "REPLY corrupt", asked, answer_corrupt, PING_SENT, REDISCOVER, PING_SENT | BUSY, -EPROTO,
	  DISC_FAILED },
	{ "REPLY truncated: asked at once", asked, answer_cut, PING_SENT, PING_SENT | BUSY, DATA, 0,
	  DISC_PING },
	{ "UNLINK while PING_SENT", asked, nothing_comes, PING_SENT, REDISCOVER | FORCE_PING,
	  PING_SENT | BUSY, -ETIMEDOUT, DISC_FAILED },
	{ "process data, and send push", merge_locked, push_sent, DATA | FORCE_PUSH,
	  UPTODATE | PUSH_SENT | BUSY, DATA | FORCE_PUSH, 0, DISC_PUSH },
	{ "process data without memory", merge_locked, merge_no_memory, DATA,
	  FORCE_PING | REDISCOVER, DATA | UPTODATE, -ENOMEM, DISC_FAILED },
	{ "process ping failure: asked when wanted", failed, ask_again, REDISCOVER,
	  UPTODATE | DISCOVERED, REDISCOVER, 0, DISC_DONE },
	{ "ACK ok, discovered", telling, all_answers, PUSH_SENT | BUSY, UPTODATE | DISCOVERED,
	  PUSH_SENT | BUSY | REDISCOVER, 0, DISC_DONE },
	{ "ACK error, complete(err)", telling, nothing_comes, PUSH_SENT | BUSY, REDISCOVER,
	  PUSH_SENT | BUSY, -ETIMEDOUT, DISC_FAILED },
	{ "process ping failure: after a pause", failed, time_passes, REDISCOVER | FORCE_PING,
	  UPTODATE | DISCOVERED, REDISCOVER | FORCE_PING | BUSY, 0, DISC_DONE },
	{ "process push failure: after a pause", push_failed, time_passes, REDISCOVER,
	  UPTODATE | DISCOVERED, REDISCOVER | BUSY, 0, DISC_DONE },
	{ "push to non-MR peer requested", not_multi_rail, force, 0, PING_SENT, FORCE_PUSH, 0,
	  DISC_PING },
	{ "inbound push ok", known, push_in, UPTODATE, DATA | BUSY, UPTODATE, 0, DISC_MERGE, true },
	{ "inbound push of one that does not discover", known, push_in_off, UPTODATE, NO_DISCOVERY,
	  DATA | BUSY, 0, DISC_DONE },
	{ "inbound push bad", known, push_in_bad, UPTODATE, PING_SENT | BUSY, UPTODATE | DATA, 0,
	  DISC_PING },
	{ "inbound push bad while another is asked", known, push_in_cut, UPTODATE, FORCE_PING, DATA,
	  0, DISC_DONE },
};

static void test_rows(void)
{
	const struct row *row;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		rails_begin(&strangers);
		row->arrange();
		UNIT_EQUAL(flags() & row->before, row->before, row->event);
		row->happen();
		UNIT_EQUAL(flags() & row->set, row->set, row->event);
		UNIT_EQUAL(flags() & row->cleared, 0, row->event);
		UNIT_EQUAL(disc()->status, row->status, row->event);
		UNIT_EQUAL(disc()->state, row->state, row->event);
		if (row->locked)
			mutex_unlock(&ln0()->cfg_mutex);
		rails_clear();
		rails_end();
	}
}

/* The data columns of the table: values that a REPLY, an ACK and a push leave behind. */
static void test_data(void)
{
	rails_begin(&strangers);
	telling();
	UNIT_EQUAL(disc()->pushing, 1, "not acked");
	all_answers();
	UNIT_EQUAL(disc()->acked, ln0()->ping_seq, "acked sequence");
	UNIT_EQUAL(disc()->seq, rails.node[1].ln->ping_seq, "sequence of the REPLY");
	pushed(LNET_PING_MAGIC, 0);
	UNIT_EQUAL(disc()->seq, 77, "sequence of the push");
	rails_end();
}

/* ---- pushes that only cause a ping ----------------------------------------------------------- */

#define INFO_SEQ 24	/* offset of the sequence in a ping info */

/* Node 0 receives a push of node 1 with an old sequence. */
static void push_old(void)
{
	struct lnet_sbuf *now = rails.node[1].ln->ping_info, *old = lnet_sbuf_new(now->len);
	struct lnet_peer *peer = rails_peer(0, 1);
	u32 seq = peer->disc.seq - 1;
	struct lnet_pass p;

	memcpy(old->data, now->data, now->len);
	memcpy(old->data + INFO_SEQ, &seq, sizeof(seq));
	lnet_pass_begin(&p, ln0(), LNET_PASS_DRIVER);
	lnet_enter_peer(&p, peer);
	UNIT_EQUAL(lnet_disc_take(&p, peer, old, old->len, true), 0, "taken");
	lnet_disc_step(&p, peer);
	lnet_pass_end(&p);
	lnet_sbuf_put(old);
}

static void test_old_pushes(void)
{
	unsigned int i;
	u64 pings;

	rails_begin(&strangers);
	known();
	pings = rails_stat(0, LNET_C_pings_sent);
	push_old();
	rails_pump();
	UNIT_EQUAL(rails_stat(0, LNET_C_pings_sent), pings + 1, "the first one causes a ping");
	for (i = 0; i < 500; i++) {
		push_old();
		rails_run(RAILS_MS);
	}
	pings = rails_stat(0, LNET_C_pings_sent) - pings;
	UNIT_EQUAL(pings >= 5 && pings <= 6, true, "few pings in 500 ms");
	rails_end();
}

UNIT_SUITE(discover_flags,
	{ "old pushes of a peer cause few pings", test_old_pushes },
	{ "behaviour.md 15.3: discovery flags by event", test_rows },
	{ "behaviour.md 15.3: data by event", test_data })
