/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connections of the TCP driver: handshakes in both directions, races, rejections, restarts, and
 * the end of sets.
 */
#include "sock_fake.h"
#include "wire_examples.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define INC_B 0x17f0a1b2d0e0f001ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)


/*
 * A dials B, with the bytes of the worked examples, in the order CONTROL, IN, OUT. The message is
 * sent on the first connection.
 */
static void test_dial(void)
{
	u8 want[72];
	struct fake *f;
	struct msg *msg;
	u32 type;

	fake_begin(A);
	msg = fake_send(B, 10, SEC);
	memcpy(want, e1, 16);
	memcpy(want + 16, e2, 56);
	for (type = LNET_CTYPE_CONTROL; type <= LNET_CTYPE_BULK_OUT; type++) {
		f = fake_last();
		UNIT_EQUAL(fw.nr, type, "connections dialled");
		fake_connected(f, 0);
		put_unaligned_le32(type, want + 16 + 48);
		fake_out_is(f, want, sizeof(want), "request and HELLO");
		if (type == LNET_CTYPE_CONTROL)
			fake_in(f, e3, sizeof(e3));
		else
			fake_answer(f, B, lnet_ctype_invert(type), INC_B);
		CU_ASSERT(fake_is_open(f));
		UNIT_EQUAL(msg->nr_done, 1, "given back once the first is open");
	}
	UNIT_EQUAL(msg->how, LNET_OK, "outcome");
	UNIT_EQUAL(fw.fake[0].nr_out, 24 + 72 + 10, "bytes of the message");
	UNIT_EQUAL(fw.nr, 3, "connections of a set");
	fake_end();
}

/* A dials B; the bytes are divided at each place, and also arrive one by one. */
static void test_accept(void)
{
	static const u32 types[] = { LNET_CTYPE_CONTROL, LNET_CTYPE_BULK_OUT };
	u8 in[72];
	u32 cut, t;

	for (t = 0; t < ARRAY_SIZE(types); t++) {
		for (cut = 0; cut <= sizeof(in); cut++) {
			struct fake *f;

			fake_begin(B);
			f = fake_accept(true);
			memcpy(in, e1, 16);
			memcpy(in + 16, t ? e4 : e2, 56);
			f->chunk = cut == sizeof(in) ? 1 : 0;
			fake_in(f, in, cut);
			fake_in(f, in + cut, sizeof(in) - cut);
			CU_ASSERT(fake_is_open(f));
			fake_out_is(f, t ? e4r : e3, 56, "HELLO in answer");
			fake_end();
		}
	}
}

static void test_requests(void)
{
	static const u8 query[] = { 0x63, 0x69, 0x72, 0x45, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	u8 other[16], reply[LNET_ACR_REPLY_SIZE];
	struct fake *f;

	fake_begin(B);
	f = fake_accept(true);
	fake_in(f, query, sizeof(query));
	fake_out_is(f, reply, lnet_acr_reply(reply), "answer to a version query");
	CU_ASSERT(f->shut && !f->aborted);
	memcpy(other, e1, sizeof(other));
	other[8]++;
	f = fake_accept(true);
	fake_in(f, other, sizeof(other));
	fake_out_is(f, other, 0, "answer for a NID that is not here");
	CU_ASSERT(f->shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_bad_request], 2, "bad requests");
	fw.node->ln.tun.accept = 1;
	CU_ASSERT_PTR_NULL(fake_accept(false));
	CU_ASSERT_PTR_NOT_NULL(fake_accept(true));
	fw.node->ln.tun.accept = 0;
	CU_ASSERT_PTR_NULL(fake_accept(true));
	fake_end();
}

static void test_hellos(void)
{
	u8 in[72], want[56];
	struct fake *f;

	fake_begin(B);
	memcpy(in, e1, 16);
	memcpy(in + 16, e2, 56);
	in[20] = 5;			/* the reply has the version of this node */
	f = fake_accept(true);
	fake_in(f, in, sizeof(in));
	memcpy(want, e5, 56);
	memcpy(want + 16, want + 8, 8);
	fake_out_is(f, want, 56, "HELLO for an unknown version");
	CU_ASSERT(f->shut && !f->aborted);
	in[20] = 3;
	in[16 + 48] = 4;		/* an unknown type */
	f = fake_accept(true);
	fake_in(f, in, sizeof(in));
	fake_out_is(f, want, 0, "answer to a bad type");
	CU_ASSERT(f->shut);
	f = fake_accept(true);
	fake_run(6 * SEC);
	CU_ASSERT(f->shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_accept_timeout], 1, "timeouts");
	fake_end();
}

/* Both nodes dial: the connection of the higher NID wins. */
static void test_race(void)
{
	struct fake *mine, *theirs;
	struct msg *msg;

	fake_begin(B);
	msg = fake_send(A, 10, 5 * SEC);
	mine = fake_last();
	fake_connected(mine, 0);
	theirs = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	fake_out_is(theirs, e5, 56, "the lower one is refused");
	CU_ASSERT(theirs->shut && !theirs->aborted);
	fake_answer(mine, A, LNET_CTYPE_CONTROL, INC_A);
	UNIT_EQUAL(msg->how, LNET_OK, "and waits for the other");
	UNIT_EQUAL(msg->nr_done, 1, "and waits for the other");
	fake_end();

	fake_begin(A);
	msg = fake_send(B, 10, 5 * SEC);
	mine = fake_last();
	fake_connected(mine, 0);
	theirs = fake_come(B, LNET_CTYPE_CONTROL, INC_B);
	CU_ASSERT(fake_is_open(theirs));
	UNIT_EQUAL(msg->nr_done, 1, "goes by their connection");
	fake_in(mine, e5, sizeof(e5));
	CU_ASSERT(mine->shut && fake_is_open(theirs));
	fake_run(SEC);
	UNIT_EQUAL(fw.nr, 2, "connections: the winner completes the set");
	fake_end();
}

/*
 * While the node waits to dial again after a failure, it accepts the connection of the lower NID.
 */
static void test_race_paused(void)
{
	struct fake *mine, *theirs;
	struct msg *msg;

	fake_begin(B);
	fake_send(A, 10, 5 * SEC);
	mine = fake_last();
	fake_connected(mine, -ECONNREFUSED);
	theirs = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	CU_ASSERT(fake_is_open(theirs));
	UNIT_EQUAL(fw.sn->c[SOCK_C_rejected_race], 0, "refused");
	msg = fake_send(A, 10, 5 * SEC);
	UNIT_EQUAL(msg->how, LNET_OK, "goes by it");
	fake_end();
}

/* A rejection means "later". After three in a row, the dial has failed. */
static void test_refused(void)
{
	unsigned int i;
	struct msg *msg;

	fake_begin(A);
	msg = fake_send(B, 10, 60 * SEC);
	for (i = 0; i < 3; i++) {
		UNIT_EQUAL(fw.nr, i + 1, "dials");
		UNIT_EQUAL(msg->nr_done, 0, "waits");
		fake_connected(fake_last(), 0);
		fake_in(fake_last(), e5, sizeof(e5));
		if (i == 2)
			break;
		fake_run(50 * MS);
		UNIT_EQUAL(fw.nr, i + 1, "dials before the pause is over");
		fake_run(60 * MS);
	}
	UNIT_EQUAL(msg->nr_done, 1, "given up");
	UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, "outcome");
	fake_end();
}

/* A peer with a smaller limit rejects the second connection of a type; the open ones stay. */
static void test_full(void)
{
	struct fake *f;
	unsigned int i;

	fake_begin(A);
	fw.node->ni->conns_per_peer = 2;
	fake_send(B, 10, SEC);
	for (i = 0; i < 3; i++) {
		f = fake_last();
		fake_connected(f, 0);
		fake_answer(f, B, lnet_ctype_invert(i + 1), INC_B);
	}
	for (i = 0; i < 3; i++) {
		f = fake_last();
		CU_ASSERT(f->dialled && !fake_is_open(f));
		fake_connected(f, 0);
		fake_in(f, e5, sizeof(e5));
		fake_run(120 * MS);
	}
	i = fw.nr;
	fake_run(2 * SEC);
	UNIT_EQUAL(fw.nr, i, "it asks no more");
	CU_ASSERT(fake_is_open(&fw.fake[0]) && fake_is_open(&fw.fake[2]));
	fake_end();

	fake_begin(B);
	CU_ASSERT(fake_is_open(fake_come(A, LNET_CTYPE_CONTROL, INC_A)));
	fake_run(SEC);
	fake_out_clear(&fw.fake[0]);
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	fake_out_is(f, e5, 56, "one too many");
	UNIT_EQUAL(fw.sn->c[SOCK_C_rejected_full], 1, "counted");
	UNIT_EQUAL(fw.fake[0].nr_out, LNET_KSOCK_SIZE, "asks whether the old one lives");
	CU_ASSERT(fake_is_open(fake_come(A, LNET_CTYPE_BULK_OUT, INC_A)));
	fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	UNIT_EQUAL(fw.fake[0].nr_out, LNET_KSOCK_SIZE, "once for a while");
	fake_end();
}

static struct fake *open_set(const char *peer, u64 incarnation)
{
	struct fake *control = fake_come(peer, LNET_CTYPE_CONTROL, incarnation);

	fake_come(peer, LNET_CTYPE_BULK_IN, incarnation);
	fake_come(peer, LNET_CTYPE_BULK_OUT, incarnation);
	return control;
}

static void test_restart(void)
{
	struct fake *old, *f;
	u8 refusal[56];

	fake_begin(B);
	old = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	CU_ASSERT(fake_is_open(old));
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A + 1);
	memcpy(refusal, e5, sizeof(refusal));
	put_unaligned_le64(INC_B + 1, refusal + 32);
	fake_out_is(f, refusal, sizeof(refusal), "refused at first");
	CU_ASSERT(old->shut);
	UNIT_EQUAL(fake_nr_lost(), 1, "the old set is lost");
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A + 1);
	CU_ASSERT(fake_is_open(f));
	fake_end();

	fake_begin(A);			/* the dialling node notices the restart */
	fake_send(B, 10, SEC);
	fake_connected(fake_last(), 0);
	fake_answer(fake_last(), B, LNET_CTYPE_CONTROL, INC_B);
	fake_connected(fake_last(), 0);
	fake_answer(fake_last(), B, LNET_CTYPE_BULK_OUT, INC_B + 1);
	UNIT_EQUAL(fw.sn->nr_conns, 0, "all closed");
	UNIT_EQUAL(fake_nr_lost(), 1, "the old set is lost");
	fake_send(B, 10, SEC);
	fake_run(110 * MS);
	fake_connected(fake_last(), 0);
	fake_answer(fake_last(), B, LNET_CTYPE_CONTROL, INC_B + 1);
	CU_ASSERT(fake_is_open(&fw.fake[2]));
	fake_end();
}

/* The peer acknowledges nothing of the old set and opens a new one: only the old set ends. */
static void test_replaced(void)
{
	struct fake *old, *f;

	fake_begin(B);
	fw.node->ni->conns_per_peer = 2;
	old = open_set(A, INC_A);
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	CU_ASSERT(fake_is_open(old) && fake_is_open(f));
	fw.fake[0].unacked = fw.fake[1].unacked = fw.fake[3].unacked = 106;
	fake_send(A, 10, 60 * SEC);
	fake_run(100 * MS);
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	CU_ASSERT(old->shut && old->aborted && fw.fake[3].shut);
	CU_ASSERT(fake_is_open(f));
	UNIT_EQUAL(fw.sn->c[SOCK_C_replaced], 1, "counted");
	UNIT_EQUAL(fake_nr_lost(), 1, "the old set is lost");
	UNIT_EQUAL(fake_send(A, 10, SEC)->nr_done, 1, "sent by the new one");
	fake_end();
}

static void test_answers(void)
{
	static const struct {
		const char *name;
		u32 at;
		u8 value;
	} bad[] = {
		{ "magic", 0, 0 },   { "version", 4, 9 }, { "NID", 8, 0x0d },
		{ "pid", 24, 0x38 }, { "type", 48, 2 },
	};
	u8 hello[56];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct msg *msg;

		fake_begin(A);
		msg = fake_send(B, 10, SEC);
		fake_connected(fake_last(), 0);
		memcpy(hello, e3, 56);
		hello[bad[i].at] = bad[i].value;
		fake_in(fake_last(), hello, 56);
		CU_ASSERT(fake_last()->shut);
		UNIT_EQUAL(msg->nr_done, 1, bad[i].name);
		UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, bad[i].name);
		fake_end();
	}
}

/* After a HELLO of version 4 only, the node dials again at once with version 4. */
static void test_version(void)
{
	struct lnet_hello h = { .version = 4,
				.src_pid = LNET_PID,
				.ctype = LNET_CTYPE_NONE,
				.src_incarnation = INC_B };
	u8 buf[LNET_HELLO_SIZE_MAX];

	fake_begin(A);
	fake_send(B, 10, SEC);
	fake_connected(fake_last(), 0);
	CU_ASSERT_EQUAL(lnet_nid_parse(&h.src_nid, B), 0);
	h.dst_nid = fw.sn->nid;
	fake_in(fake_last(), buf, lnet_hello_encode(buf, &h));
	UNIT_EQUAL(fw.nr, 2, "dials");
	fake_connected(fake_last(), 0);
	UNIT_EQUAL(fake_last()->nr_out, 16 + 80, "bytes of the second request");
	h.ctype = LNET_CTYPE_CONTROL;
	fake_out_clear(fake_last());
	fake_in(&fw.fake[1], buf, lnet_hello_encode(buf, &h));
	CU_ASSERT(fake_is_open(&fw.fake[1]));
	UNIT_EQUAL(fw.fake[1].nr_out, 24 + 96 + 10, "bytes of the message in version 4");
	fake_end();
}

static void test_unreachable(void)
{
	static const struct {
		int err;
		bool at_once;
		enum lnet_outcome how;
	} rows[] = {
		{ -ECONNREFUSED, false, LNET_REMOTE_DROPPED },
		{ -EHOSTUNREACH, false, LNET_REMOTE_DROPPED },
		{ -ECONNREFUSED, true, LNET_REMOTE_DROPPED },
		{ -ENETUNREACH, true, LNET_LOCAL_NO_ROUTE },
		{ -EADDRNOTAVAIL, true, LNET_LOCAL_NO_ROUTE },
		{ -EMFILE, true, LNET_LOCAL_DROPPED },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msg *msg;

		fake_begin(A);
		fw.dial_err = rows[i].at_once ? rows[i].err : 0;
		msg = fake_send(B, 10, SEC);
		if (!rows[i].at_once)
			fake_connected(fake_last(), rows[i].err);
		UNIT_EQUAL(msg->nr_done, 1, "given back");
		UNIT_EQUAL(msg->how, rows[i].how, "outcome");
		if (rows[i].how == LNET_REMOTE_DROPPED)
			UNIT_EQUAL(msg->err, rows[i].err, "how it was rejected");
		fake_end();
	}
}

/* The peer accepts the connection, but has no NI with that NID, and closes it. */
static void test_reset(void)
{
	struct msg *msg;

	fake_begin(A);
	msg = fake_send(B, 10, 60 * SEC);
	fake_connected(fake_last(), 0);
	fake_eof(fake_last());
	UNIT_EQUAL(msg->nr_done, 1, "given back");
	UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, "outcome");
	UNIT_EQUAL(msg->err, -ECONNRESET, "how it was rejected");
	fake_end();
}

/* Pauses grow. In a long pause, the driver takes no attempt; in a short one, attempts wait. */
static void test_backoff(void)
{
	struct msg *msg;
	unsigned int i;

	fake_begin(A);
	for (i = 0; i < 6; i++) {
		msg = fake_send(B, 10, 60 * SEC);
		fake_run(i < 1 ? 0 : 101 * MS);
		UNIT_EQUAL(fw.nr, min(i + 1, 2U), "dials");
		if (i < 2)
			fake_connected(fake_last(), -ECONNREFUSED);
		if (i == 2)
			break;
	}
	UNIT_EQUAL(msg->nr_done, 1, "turned away in the second pause");
	UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, "outcome");
	UNIT_EQUAL(msg->err, -ECONNREFUSED, "as the last dial failed");
	fake_run(250 * MS);
	fake_send(B, 10, 60 * SEC);
	UNIT_EQUAL(fw.nr, 3, "dials after the pause");
	fake_connected(fake_last(), -ECONNREFUSED);
	fw.urgent = true;
	msg = fake_send(B, 10, 60 * SEC);
	UNIT_EQUAL(fw.nr, 4, "dials in the pause for an operator");
	UNIT_EQUAL(msg->nr_done, 0, "which waits for that");
	fake_end();
}

/*
 * A SYN without reply ends with the last message that waits for it. The first SYN to a peer lasts
 * at least as long as a reply over a long path takes. The next message starts a new SYN.
 */
static void test_hanging(void)
{
	struct msg *msg;

	fake_begin(A);
	msg = fake_send(B, 10, 300 * MS);
	fake_run(290 * MS);
	UNIT_EQUAL(msg->nr_done, 0, "waits");
	fake_run(30 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "given back");
	UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, "outcome");
	UNIT_EQUAL(msg->err, -ETIMEDOUT, "nothing answered");
	CU_ASSERT(!fw.fake[0].shut);
	fake_run(110 * MS);
	msg = fake_send(B, 10, 200 * MS);
	UNIT_EQUAL(fw.nr, 1, "the first SYN has time");
	fake_run(220 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "given back");
	CU_ASSERT(fw.fake[0].shut);
	fake_run(110 * MS);
	msg = fake_send(B, 10, 60 * SEC);
	UNIT_EQUAL(fw.nr, 2, "a new SYN");
	fake_run(2100 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "connect_timeout ends it, too");
	fake_end();
}

/*
 * If one connection ends, its siblings end, and the path is reported lost once. Messages that are
 * not begun wait for the next set.
 */
static void test_siblings(void)
{
	struct fake *f;
	struct msg *sent, *half, *waits;
	unsigned int i;

	fake_begin(B);
	f = open_set(A, INC_A);
	for (i = 0; i < 3; i++)
		fake_out_clear(&fw.fake[i]);
	sent = fake_send(A, 10, 5 * SEC);
	UNIT_EQUAL(sent->how, LNET_OK, "sent");
	fw.fake[1].room = 5000;
	half = fake_send(A, 100000, 5 * SEC);
	waits = fake_send(A, 100000, 5 * SEC);
	UNIT_EQUAL(half->nr_done, 0, "half written");
	fake_eof(f);
	for (i = 0; i < 3; i++)
		CU_ASSERT(fw.fake[i].shut && fw.fake[i].aborted);
	UNIT_EQUAL(half->nr_done, 1, "perhaps delivered");
	UNIT_EQUAL(half->how, LNET_PATH_LOST, "perhaps delivered");
	UNIT_EQUAL(half->att.epoch, sent->att.epoch, "epoch");
	UNIT_EQUAL(waits->nr_done, 0, "waits for the next set");
	UNIT_EQUAL(fake_nr_lost(), 1, "reports");
	UNIT_EQUAL(list_first_entry(&fw.node->lost, struct lost, link)->epoch, sent->att.epoch,
		   "epoch lost");
	fake_run(10 * MS);
	UNIT_EQUAL(fw.nr, 4, "dials again");
	open_set(A, INC_A);		/* rejected: B is dialling, and A is lower */
	fake_connected(&fw.fake[3], 0);
	fake_answer(&fw.fake[3], A, LNET_CTYPE_CONTROL, INC_A);
	UNIT_EQUAL(waits->how, LNET_OK, "sent with the next set");
	CU_ASSERT(waits->att.epoch != sent->att.epoch);
	fake_end();
}

static void test_broken(void)
{
	struct msg *half, *waits;

	fake_begin(B);
	open_set(A, INC_A);
	fw.fake[1].room = 5000;
	half = fake_send(A, 100000, 5 * SEC);
	waits = fake_send(A, 100000, 5 * SEC);
	fw.fake[0].err = -ECONNRESET;
	fake_in(&fw.fake[0], "", 0);
	UNIT_EQUAL(half->how, LNET_PATH_LOST, "perhaps");
	UNIT_EQUAL(waits->how, LNET_REMOTE_DROPPED, "certainly not");
	UNIT_EQUAL(waits->nr_done, 1, "at once, for another rail");
	fake_end();
}

/*
 * The peer reads nothing: a half-written message ends with a network timeout, a message that is not
 * begun with a local timeout. The end of the set does not change these outcomes.
 */
static void test_stalled(void)
{
	struct msg *half, *waits;

	fake_begin(B);
	open_set(A, INC_A);
	fw.fake[1].room = 5000;
	fw.fake[1].unacked = 5000;
	half = fake_send(A, 100000, 500 * MS);
	waits = fake_send(A, 100000, 500 * MS);
	fake_run(490 * MS);
	UNIT_EQUAL(half->nr_done + waits->nr_done, 0, "before the time");
	fake_run(20 * MS);
	UNIT_EQUAL(half->how, LNET_NETWORK_TIMEOUT, "half written");
	UNIT_EQUAL(waits->how, LNET_LOCAL_TIMEOUT, "not begun");
	CU_ASSERT(fw.fake[0].shut && fw.fake[1].shut);
	fake_end();
}

/* An accepted connection leaves no state. The pauses after a failed dial are kept for a while. */
static void test_leaves(void)
{
	struct fake *f;

	fake_begin(B);
	f = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	UNIT_EQUAL(fw.sn->nr_peers, 1, "peers");
	fake_run(120 * SEC);
	UNIT_EQUAL(fw.sn->nr_peers, 1, "peers while it is connected");
	fake_eof(f);
	fake_run(50 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers when it has gone");
	fake_send(A, 10, SEC);
	fake_connected(fake_last(), -ECONNREFUSED);
	fake_run(50 * SEC);
	UNIT_EQUAL(fw.sn->nr_peers, 1, "peers after a dial");
	fake_run(20 * SEC);
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers much later");
	fake_end();
}

/* The core has removed the peer: its connections end, and its NID may connect as a new peer. */
static void test_gone(void)
{
	struct msg *half, *waits;
	struct lnet_ni *ni;
	unsigned int i;

	fake_begin(B);
	ni = fw.node->ni;
	open_set(A, INC_A);
	fw.fake[1].room = 5000;
	half = fake_send(A, 100000, 5 * SEC);
	waits = fake_send(A, 100000, 5 * SEC);
	ni->ops->peer_gone(ni, half->att.pni);
	UNIT_EQUAL(half->how, LNET_PATH_LOST, "half written");
	UNIT_EQUAL(waits->how, LNET_REMOTE_DROPPED, "not begun");
	for (i = 0; i < 3; i++)
		CU_ASSERT(fw.fake[i].shut && fw.fake[i].aborted);
	CU_ASSERT(fake_is_open(fake_come(A, LNET_CTYPE_CONTROL, INC_A)));
	fake_run(50 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, 1, "peers");
	fake_end();
}

/* The peer is removed while a dial is in progress. */
static void test_gone_dialling(void)
{
	struct lnet_ni *ni;
	struct msg *msg;

	fake_begin(A);
	ni = fw.node->ni;
	msg = fake_send(B, 10, 5 * SEC);
	ni->ops->peer_gone(ni, msg->att.pni);
	UNIT_EQUAL(msg->how, LNET_REMOTE_DROPPED, "outcome");
	CU_ASSERT(fake_last()->shut);
	fake_run(50 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers");
	UNIT_EQUAL(fw.nr, 1, "dials");
	fake_end();
}

UNIT_SUITE(conn,
	{ "dials control, in, out with the bytes of the worked examples", test_dial },
	{ "accepts a request and HELLO however they are cut", test_accept },
	{ "answers, refuses and counts bad requests", test_requests },
	{ "answers, refuses and counts bad HELLOs", test_hellos },
	{ "of two crossing connections the higher NID's wins", test_race },
	{ "while we wait to dial again, the lower NID's is taken", test_race_paused },
	{ "asks again when refused, three times", test_refused },
	{ "is content with what the peer allows, and sets limits itself", test_full },
	{ "a peer that restarted gets a new set", test_restart },
	{ "a new set takes the place of one that is stuck", test_replaced },
	{ "bad answers fail the dial", test_answers },
	{ "dials again with the version it was told", test_version },
	{ "tells why it could not connect", test_unreachable },
	{ "closed before its HELLO", test_reset },
	{ "pauses after failures", test_backoff },
	{ "gives up a connection that hangs", test_hanging },
	{ "siblings end together", test_siblings },
	{ "lnd-040: what was not begun comes back when a set breaks", test_broken },
	{ "lnd-040/045/050: deadlines tell sent from unsent and end the set", test_stalled },
	{ "who came leaves nothing behind", test_leaves },
	{ "a peer taken away loses its connections", test_gone },
	{ "a peer taken away is not dialled", test_gone_dialling },
)
