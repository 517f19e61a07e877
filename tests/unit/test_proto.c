/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of the TCP driver: cuts at any byte, zero-copy acknowledgements, waiting, garbage. */
#include "sock_fake.h"
#include "wire_examples.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)

static u8 frames[FAKE_BUFFER / 2];

static void begin(void)
{
	fake_begin_with(B, A, INC_A);
}

/* Three frames and a NOOP, cut at every place. */
static void test_cuts(void)
{
	static const u32 lens[] = { 7, 0, 33 };
	u32 len = 0, cut, i;

	begin();
	for (i = 0; i < 3; i++)
		len += fake_put(frames + len, A, PLAN_LAND, i, lens[i], 0);
	memcpy(frames + len, e14, sizeof(e14));
	len += sizeof(e14);
	for (cut = 0; cut <= len; cut++) {
		fw.fake[CONTROL].chunk = cut == len ? 1 : 0;
		fake_in(&fw.fake[CONTROL], frames, cut);
		fake_in(&fw.fake[CONTROL], frames + cut, len - cut);
		for (i = 0; i < 3; i++)
			fake_landed(cut * 3 + i, lens[i], "landing");
	}
	UNIT_EQUAL(fake_nr_got(), 3 * (len + 1), "messages");
	fake_end();
}

static void test_sizes(void)
{
	static const u32 lens[] = { 1, 2047, 4096, 4097, 65535, 262144, 1048576 };
	static const u32 chunks[] = { 0, 1, 999, 70000 };
	u32 i, k, len, n = 0;

	begin();
	for (k = 0; k < ARRAY_SIZE(chunks); k++) {
		len = 0;
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			if (chunks[k] != 1 || lens[i] < 5000)
				len += fake_put(frames + len, A, PLAN_LAND, i, lens[i], 0);
		fw.fake[IN].chunk = chunks[k];
		fake_in(&fw.fake[IN], frames, len);
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			if (chunks[k] != 1 || lens[i] < 5000)
				fake_landed(n++, lens[i], "landing");
	}
	fake_end();
}

/* All verdicts in one burst: if one byte were lost, a payload would be read as a header. */
static void test_verdicts(void)
{
	static const enum plan plans[] = { PLAN_SKIP, PLAN_LAND, PLAN_LATER_AT_ONCE, PLAN_SKIP,
					   PLAN_LAND };
	static const u32 lens[] = { 3000, 10, 6000, 9000, 5000 };
	u32 len = 0, i;

	begin();
	for (i = 0; i < ARRAY_SIZE(plans); i++)
		len += fake_put(frames + len, A, plans[i], i, lens[i], 0);
	fake_in(&fw.fake[IN], frames, len);
	for (i = 0; i < ARRAY_SIZE(plans); i++)
		if (plans[i] != PLAN_SKIP)
			fake_landed(i, lens[i], "landing");
	len = fake_put(frames, A, PLAN_CLOSE, 0, 100, 0);
	fake_in(&fw.fake[IN], frames, len);
	CU_ASSERT(fw.fake[CONTROL].shut && fw.fake[IN].shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_bad_header], 1, "counted");
	fake_end();
}

/* A large message that is skipped is read in pieces of the size of the staging buffer. */
static void test_skipped(void)
{
	u32 len = 0;

	begin();
	len += fake_put(frames, A, PLAN_SKIP, 0, 1 << 20, 0);
	len += fake_put(frames + len, A, PLAN_LAND, 1, 100, 0);
	fake_in(&fw.fake[IN], frames, len);
	fake_landed(1, 100, "behind it");
	CU_ASSERT(fw.fake[IN].nr_reads <= 2 + DIV_ROUND_UP(len, SOCK_STAGING));
	fake_end();
}

/* A message without progress ends its connection after sock_timeout; if that is 0, lnd_timeout. */
static void test_no_progress(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct lnet_tunables *tun;
		u64 ns;

		begin();
		tun = &fw.node->ln.tun;
		tun->sock_timeout = i ? 7 * SEC : 0;
		ns = i ? 7 * SEC : div64_u64(tun->transaction_timeout, tun->retry_count);
		fake_put(frames, A, PLAN_LAND, 0, 100, 0);
		fake_in(&fw.fake[IN], frames, 50);
		fake_run(ns - 100 * MS);
		CU_ASSERT(!fw.fake[IN].shut);
		fake_run(200 * MS);
		CU_ASSERT(fw.fake[IN].shut);
		fake_end();
	}
}

static u32 noop(u8 *buf, u64 c1, u64 c2)
{
	struct lnet_ksock_hdr k = { .type = LNET_KSOCK_NOOP, .zc_cookie = { c1, c2 } };

	return lnet_ksock_encode(buf, &k, false);
}

/*
 * Each message that requests a zero-copy acknowledgement gets one, on our BULK_IN. Those of one
 * burst are merged; E11 and E12.
 */
static void test_answers(void)
{
	u8 want[24];
	u32 len, i;

	begin();
	len = fake_put(frames, A, PLAN_LAND, 0, 65536, 2);
	UNIT_EQUAL(memcmp(frames, e11, 24), 0, "frame header of E11");
	fake_in(&fw.fake[IN], frames, len - 1);
	fake_out_is(&fw.fake[IN], e12, 0, "answer before the last byte");
	fake_in(&fw.fake[IN], frames + len - 1, 1);
	fake_out_is(&fw.fake[IN], e12, sizeof(e12), "answer");
	len = fake_put(frames, A, PLAN_SKIP, 1, 65536, 3);
	fake_in(&fw.fake[CONTROL], frames, len);	/* dropped, and on another connection */
	fake_out_is(&fw.fake[CONTROL], want, 0, "answers there");
	fake_out_is(&fw.fake[IN], want, noop(want, 0, 3), "answer to one that is dropped");
	for (i = 5, len = 0; i <= 9; i++)
		len += fake_put(frames + len, A, PLAN_LAND, i, 100, i);
	fake_in(&fw.fake[IN], frames, len);
	fake_out_is(&fw.fake[IN], e13, sizeof(e13), "answers merged");
	fake_end();
}

/* Not after the loss of the connection set: the new set does not know the cookie of the old one. */
static void test_answer_lost(void)
{
	struct lnet_ni *ni;
	struct lnet_pass p;
	struct got *got;
	u32 len;

	begin();
	ni = fw.node->ni;
	len = fake_put(frames, A, PLAN_LATER_LAND, 0, 30000, 2);
	fake_in(&fw.fake[IN], frames, len);
	fake_eof(&fw.fake[CONTROL]);
	fake_out_clear(fake_come(A, LNET_CTYPE_CONTROL, INC_A));
	got = fake_got(0);
	got->waits = false;
	got->rx.verdict = LNET_RECEIVE;
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_CALL);
	ni->ops->receive(&p, ni, &got->rx);
	lnet_pass_end(&p);
	fake_landed(0, 30000, "all bytes had come");
	fake_out_is(fake_last(), frames, 0, "answers on the new set");
	fake_end();
}

/*
 * We request the acknowledgement: the driver holds the message until then. Acknowledgements may be
 * merged and arrive on any connection, but only once.
 */
static void test_asking(void)
{
	struct msg *msg[4];
	u8 buf[24];
	unsigned int i;

	begin();
	fw.node->ln.tun.zc_min_payload = 16384;
	for (i = 0; i < 4; i++)
		msg[i] = fake_send(A, 20000, 5 * SEC);
	UNIT_EQUAL(msg[0]->nr_done, 0, "given back before the answer");
	UNIT_EQUAL(get_unaligned_le64(fw.fake[OUT].out + 8), 2, "first cookie");
	fake_in(&fw.fake[IN], buf, noop(buf, 3, 2));
	UNIT_EQUAL(msg[0]->how, LNET_ACKNOWLEDGED, "one of a pair");
	UNIT_EQUAL(msg[1]->how, LNET_ACKNOWLEDGED, "one of a pair");
	UNIT_EQUAL(msg[2]->nr_done, 0, "not named");
	fake_in(&fw.fake[OUT], buf, noop(buf, 4, 5));
	UNIT_EQUAL(msg[3]->how, LNET_ACKNOWLEDGED, "end of a range");
	fake_in(&fw.fake[OUT], buf, noop(buf, 0, 5));	/* twice */
	CU_ASSERT(fw.fake[CONTROL].shut);
	UNIT_EQUAL(fw.sn->c[SOCK_C_bad_zcack], 1, "counted");
	fake_end();
}

static void test_asking_in_vain(void)
{
	struct msg *late, *lost;
	u8 buf[24];

	begin();
	fw.node->ln.tun.zc_min_payload = 16384;
	late = fake_send(A, 20000, 300 * MS);
	lost = fake_send(A, 20000, 5 * SEC);
	fake_run(320 * MS);
	UNIT_EQUAL(late->nr_done, 1, "given back at its time");
	UNIT_EQUAL(late->how, LNET_NETWORK_TIMEOUT, "outcome");
	fake_in(&fw.fake[OUT], buf, noop(buf, 0, 2));	/* late, but not unknown */
	CU_ASSERT(!fw.fake[CONTROL].shut);
	fake_eof(&fw.fake[CONTROL]);
	UNIT_EQUAL(lost->how, LNET_PATH_LOST, "set lost");
	UNIT_EQUAL(lost->nr_done, 1, "set lost");
	fake_end();
}

/* A message is half written at its deadline, and the peer takes bytes or none: it ends once. */
static void test_asking_half_written(void)
{
	struct lnet_pass p;
	struct msg *half;
	unsigned int moves;

	for (moves = 0; moves < 2; moves++) {
		begin();
		fw.node->ln.tun.zc_min_payload = 16384;
		fw.fake[OUT].room = 5000;
		fw.fake[OUT].unacked = moves ? 0 : 5000;
		half = fake_send(A, 100000, 300 * MS);
		fake_run(290 * MS);
		UNIT_EQUAL(half->nr_done, 0, "before its time");
		if (moves) {
			fw.fake[OUT].room = 10;
			lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
			sock_conn_writable(&p, fw.fake[OUT].c);
			lnet_pass_end(&p);
		}
		fake_run(20 * MS);
		UNIT_EQUAL(half->nr_done, 1, "given back at its time");
		UNIT_EQUAL(half->how, LNET_NETWORK_TIMEOUT, "outcome");
		fake_end();
	}
}

/* The peer acknowledges bytes, but many peers are due, so this one is served late. */
static void test_asking_served_late(void)
{
	struct msg *half;

	begin();
	fw.node->ln.tun.zc_min_payload = 16384;
	fw.fake[OUT].room = 5000;
	fw.fake[OUT].unacked = 5000;
	half = fake_send(A, 100000, 300 * MS);
	fake_run(10 * MS);
	fw.fake[OUT].unacked = 4000;
	contract_env_run(&fw.pair, 291 * MS);
	fake_run(MS);
	UNIT_EQUAL(half->nr_done, 1, "given back at its time");
	CU_ASSERT(!fw.fake[CONTROL].shut);
	fake_end();
}

static void land(unsigned int n, enum lnet_verdict verdict)
{
	struct got *got = fake_got(n);
	struct lnet_ni *ni = fw.node->ni;
	struct lnet_pass p;

	got->waits = false;
	got->rx.verdict = verdict;
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_CALL);
	ni->ops->receive(&p, ni, &got->rx);
	lnet_pass_end(&p);
	fake_run(10 * MS);
}

/* Messages without payload also use memory while they wait. */
static void test_waiting_empty(void)
{
	u32 i, len = 0;
	u64 held;

	begin();
	fw.node->ln.tun.hold_budget = 8192;
	for (i = 0; i < 40; i++)
		len += fake_put(frames + len, A, PLAN_LATER_LAND, i, 0, 0);
	fake_in(&fw.fake[CONTROL], frames, len);
	held = fw.sn->hold_bytes - fw.fake[CONTROL].c->stash_len;
	CU_ASSERT(held > 0 && held <= 8192);
	CU_ASSERT(fw.sn->c[SOCK_C_held] < 40);
	UNIT_EQUAL(fw.sn->c[SOCK_C_stopped], 1, "the connection is not read");
	for (i = 0; i < 40; i++)
		land(i, LNET_RECEIVE);
	UNIT_EQUAL(fake_nr_got(), 40, "all came");
	UNIT_EQUAL(fw.sn->hold_bytes, 0, "bytes held");
	fake_end();
}

/*
 * A small message is read aside and delays no other. A large one stops only its connection, and the
 * bytes that were read behind it are kept.
 */
static void test_waiting(void)
{
	u32 len, verdict;

	for (verdict = LNET_RECEIVE; verdict <= LNET_SKIP; verdict++) {
		begin();
		len = fake_put(frames, A, PLAN_LATER_LAND, 0, 3000, 0);
		len += fake_put(frames + len, A, PLAN_LAND, 1, 10, 0);
		fake_in(&fw.fake[CONTROL], frames, len);
		fake_landed(1, 10, "behind a held one");
		len = fake_put(frames, A, PLAN_LATER_LAND, 2, 100000, 0);
		len += fake_put(frames + len, A, PLAN_LAND, 3, 10, 0);
		fake_in(&fw.fake[IN], frames, len);
		UNIT_EQUAL(fake_nr_got(), 3, "behind one too large to hold");
		len = fake_put(frames, A, PLAN_LAND, 4, 10, 0);
		fake_in(&fw.fake[CONTROL], frames, len);
		fake_landed(3, 10, "on another connection");
		land(0, verdict);
		land(2, verdict);
		if (verdict == LNET_RECEIVE) {
			fake_landed(0, 3000, "held");
			fake_landed(2, 100000, "stopped");
		}
		fake_landed(4, 10, "read on");
		UNIT_EQUAL(fw.sn->hold_bytes, 0, "bytes held");
		fake_end();
	}
}

/* The connection ends at different points of a message. */
static void test_dying(void)
{
	u32 len, cut;
	static const enum plan plans[] = { PLAN_LAND, PLAN_LATER_LAND };
	static const u32 lens[] = { 500, 5000, 100000 };
	unsigned int i, k;

	for (k = 0; k < ARRAY_SIZE(plans); k++) {
		for (i = 0; i < ARRAY_SIZE(lens); i++) {
			for (cut = 1; cut < 8; cut++) {
				struct got *got;

				begin();
				len = fake_put(frames, A, plans[k], 0, lens[i], 7);
				fake_in(&fw.fake[IN], frames, 96 + (len - 96) / 8 * cut);
				fake_eof(&fw.fake[IN]);
				got = fake_got(0);
				CU_ASSERT(!got->waits && fw.fake[CONTROL].shut);
				if (plans[k] == PLAN_LAND)
					UNIT_EQUAL(got->how, LNET_PATH_LOST, "landing");
				else
					UNIT_EQUAL(got->nr_done, 0, "landings of one never landed");
				fake_end();
			}
		}
	}
}

static void test_stop(void)
{
	struct lnet_ni *ni;
	struct lnet_pass p;
	struct got *got;
	u32 len;

	begin();
	ni = fw.node->ni;
	len = fake_put(frames, A, PLAN_STOP, 0, 100000, 9);
	len += fake_put(frames + len, A, PLAN_LAND, 1, 10, 0);
	fake_in(&fw.fake[IN], frames, 50000);
	got = fake_got(0);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_CALL);
	ni->ops->rx_stop(&p, ni, &got->rx);
	UNIT_EQUAL(got->how, LNET_STOPPED, "at once");
	memset(got->memory, 0xa5, 100000);		/* the memory is ours after the stop */
	ni->ops->rx_stop(&p, ni, &got->rx);		/* ignored */
	lnet_pass_end(&p);
	fake_in(&fw.fake[IN], frames + 50000, len - 50000);
	UNIT_EQUAL(got->memory[90000], 0xa5, "written after the stop");
	fake_landed(1, 10, "what follows");
	fake_end();
}

/* Whatever the peer sends, the node keeps running; the connection set ends or continues. */
static void test_garbage(void)
{
	u64 random = 88172645463325252ULL;
	u32 round, i, len, at;

	for (round = 0; round < 400; round++) {
		begin();
		len = fake_put(frames, A, PLAN_LAND, 0, 200, 0);
		len += fake_put(frames + len, A, PLAN_LATER_LAND, 1, 300, 3);
		len += fake_put(frames + len, A, PLAN_SKIP, 2, 100, 4);
		for (i = 0; i <= round % 5; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			at = (u32)(random >> 8) % len;
			frames[at] = (u8)random;
		}
		fw.fake[IN].chunk = round % 3 ? 0 : 13;
		fake_in(&fw.fake[IN], frames, len);
		if (!fw.fake[IN].shut)
			fake_eof(&fw.fake[IN]);
		fake_end();
	}
}

static void test_bad_frames(void)
{
	static const struct {
		const char *name;
		u32 at;
		u32 value;
		enum sock_counter why;
	} rows[] = {
		{ "frame type", 0, 0xc2, SOCK_C_bad_frame },
		{ "message type", 24 + 24, 9, SOCK_C_bad_header },
		{ "payload too long", 24 + 28, 1048577, SOCK_C_bad_header },
		{ "ACK with payload", 24 + 24, 0, SOCK_C_bad_header },
		{ "cookie that is none", 8, 1, SOCK_C_bad_frame },
		{ "answer to nothing", 16, 77, SOCK_C_bad_zcack },
	};
	unsigned int i;
	u32 len;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		len = fake_put(frames, A, PLAN_LAND, 0, 10, 0);
		put_unaligned_le32(rows[i].value, frames + rows[i].at);
		fake_in(&fw.fake[CONTROL], frames, len);
		CU_ASSERT(fw.fake[CONTROL].shut && fw.fake[IN].shut && fw.fake[OUT].shut);
		UNIT_EQUAL(fw.sn->c[rows[i].why], 1, rows[i].name);
		fake_end();
	}
}

/*
 * The sent byte stream is the same, however few bytes the socket takes at a time, and whatever is
 * cancelled meanwhile.
 */
static void test_stream(void)
{
	static const u32 lens[] = { 10, 5000, 100, 70000, 4096, 4097, 0 };
	static const u32 chunks[] = { 0, 1, 7, 1000, 65536 };
	u32 i, k, at;

	for (k = 0; k < ARRAY_SIZE(chunks); k++) {
		fake_begin(B);
		fake_out_clear(fake_come(A, LNET_CTYPE_CONTROL, INC_A));
		fw.fake[0].chunk = chunks[k];
		fw.fake[0].room = 0;
		for (i = 0; i < ARRAY_SIZE(lens); i++)
			fake_send(A, lens[i], 5 * SEC);
		fw.fake[0].room = FAKE_BUFFER;
		for (i = 0; i < 3; i++) {
			struct lnet_pass p;

			lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
			sock_conn_writable(&p, fw.fake[0].c);
			lnet_pass_end(&p);
		}
		for (i = 0, at = 0; i < ARRAY_SIZE(lens); i++) {
			at += 96;
			for (u32 b = 0; b < lens[i] && at < fw.fake[0].nr_out; b++, at++)
				if (fw.fake[0].out[at] != contract_byte(i, b)) {
					UNIT_EQUAL(b, lens[i], "bytes before the first wrong one");
					break;
				}
		}
		UNIT_EQUAL(fw.fake[0].nr_out, at, "bytes");
		fake_end();
	}
}

static void test_abort(void)
{
	struct lnet_ni *ni;
	struct lnet_pass p;
	struct msg *half, *next;
	u32 i;

	fake_begin(B);
	ni = fw.node->ni;
	fake_out_clear(fake_come(A, LNET_CTYPE_CONTROL, INC_A));
	fw.fake[0].room = 50000;
	half = fake_send(A, 100000, 5 * SEC);
	next = fake_send(A, 10, 5 * SEC);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
	ni->ops->cancel(&p, ni, &half->att, LNET_CANCEL_UNSENT);
	UNIT_EQUAL(half->nr_done, 0, "begun: UNSENT is ignored");
	ni->ops->cancel(&p, ni, &half->att, LNET_CANCEL_ABORT);
	UNIT_EQUAL(half->how, LNET_ABORTED, "given back");
	memset(half->memory, 0, 100000);
	fw.fake[0].room = FAKE_BUFFER;
	sock_conn_writable(&p, fw.fake[0].c);
	lnet_pass_end(&p);
	UNIT_EQUAL(next->how, LNET_OK, "the stream goes on");
	UNIT_EQUAL(fw.fake[0].nr_out, 96 + 100000 + 96 + 10, "bytes");
	for (i = 0; i < 100000 && fw.fake[0].out[96 + i] == contract_byte(0, i); i++)
		;
	UNIT_EQUAL(i, 100000, "bytes as they were");
	fake_end();
}

static void test_keepalive(void)
{
	begin();
	fake_run(29 * SEC);
	fake_out_is(&fw.fake[IN], e14, 0, "before the time");
	fw.fake[IN].unacked = sizeof(e14);	/* an acknowledgement would prove liveness */
	fake_run(2 * SEC);
	fake_out_is(&fw.fake[IN], e14, sizeof(e14), "keepalive on BULK_IN");
	fake_run(8 * SEC);
	fake_out_is(&fw.fake[IN], e14, 0, "too soon again");
	fake_run(3 * SEC);
	fake_out_is(&fw.fake[IN], e14, sizeof(e14), "again");
	fw.fake[IN].unacked = 0;
	fake_run(12 * SEC);
	fake_out_is(&fw.fake[IN], e14, 0, "after a sign of life");
	fake_end();
}

static void test_choice(void)
{
	static const struct {
		u32 len;
		unsigned int on;
	} rows[] = { { 0, CONTROL }, { 927, CONTROL }, { 928, OUT }, { 60000, OUT } };
	unsigned int i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		fake_send(A, rows[i].len, SEC);
		for (k = 0; k < 3; k++)
			UNIT_EQUAL(fw.fake[k].nr_out, k == rows[i].on ? 96 + rows[i].len : 0,
				   "bytes by connection");
		fake_end();
	}
}

UNIT_SUITE(proto,
	   { "without progress a connection is closed in time", test_no_progress },
	   { "a large message that is skipped takes few reads", test_skipped },
	{ "reads frames however they are cut", test_cuts },
	{ "lands payloads of all sizes, however they come", test_sizes },
	{ "keeps its place over all verdicts", test_verdicts },
	{ "answers cookies once, merged, on BULK_IN", test_answers },
	{ "gives no answer across the loss of a set", test_answer_lost },
	{ "asks for answers and takes them once", test_asking },
	{ "gives messages back that are never answered", test_asking_in_vain },
	{ "and once those that are half written then", test_asking_half_written },
	{ "and the set stays if the peer acknowledges bytes", test_asking_served_late },
	{ "messages wait without holding up others", test_waiting },
	{ "empty messages that wait are bounded too", test_waiting_empty },
	{ "a connection may die in the middle of anything", test_dying },
	{ "a landing stops at once", test_stop },
	{ "survives garbage", test_garbage },
	{ "closes the set for bad frames and counts why", test_bad_frames },
	{ "writes one stream, however little goes at a time", test_stream },
	{ "gives back a half-written message and keeps the stream", test_abort },
	{ "says that it is there when nothing else is said", test_keepalive },
	{ "sorts messages by size", test_choice },
)
