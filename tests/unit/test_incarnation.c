/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Incarnations in HELLOs: each set has another, and a stock peer accepts the next set at once. */
#include "sock_fake.h"
#include "wire_examples.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)

/*
 * A stock acceptor. It keeps connections that ended without notice, accepts one of each type, and
 * drops them all when a HELLO has another incarnation.
 */
struct acceptor {
	const char *nid;
	u64 incarnation;		/* of the dialling node, while there are connections */
	u64 last;			/* in the last HELLO */
	u8 held[4];
	u32 taken, stale, full;
};

static u32 stock_judge(struct acceptor *a, u32 type)
{
	bool known = a->held[1] || a->held[2] || a->held[3];

	if (known && a->incarnation != a->last) {
		a->stale++;
		memset(a->held, 0, sizeof(a->held));
		return LNET_CTYPE_NONE;
	}
	if (a->held[type]) {
		a->full++;
		return LNET_CTYPE_NONE;
	}
	a->taken++;
	a->held[type] = 1;
	a->incarnation = a->last;
	return lnet_ctype_invert(type);
}

/* Reads request and HELLO of the dial @f, and replies to the HELLO unless the reply is @lost. */
static void stock_accept(struct acceptor *a, struct fake *f, bool lost)
{
	struct lnet_hello h, reply = { .src_pid = LNET_PID, .src_incarnation = 77 };
	u32 skip = strchr(a->nid, ':') ? 28 : 16, len = strchr(a->nid, ':') ? 80 : 56;
	u8 buf[LNET_HELLO_SIZE_MAX];
	unsigned int need;

	fake_connected(f, 0);
	UNIT_EQUAL(f->nr_out, skip + len, "bytes of request and HELLO");
	UNIT_EQUAL(lnet_hello_decode(&h, f->out + skip, len, &need), LNET_HELLO_OK, "HELLO");
	fake_out_clear(f);
	a->last = h.src_incarnation;
	reply.version = h.version;
	reply.src_nid = h.dst_nid;
	reply.dst_nid = h.src_nid;
	reply.ctype = stock_judge(a, h.ctype);
	if (!lost)
		fake_in(f, buf, lnet_hello_encode(buf, &reply));
}

/* Accepts all dials of the next @ns. */
static void stock_runs(struct acceptor *a, u64 ns)
{
	unsigned int at = fw.nr;
	u64 past;

	for (past = 0; past < ns; past += 5 * MS) {
		for (; at < fw.nr; at++)
			stock_accept(a, &fw.fake[at], false);
		fake_run(5 * MS);
	}
}

/* Closes all connections here, without notice to the peer. */
static void cut_quietly(struct msg *msg)
{
	struct lnet_ni *ni = fw.node->ni;
	unsigned int i;
	struct lnet_pass p;

	for (i = 0; i < fw.nr; i++)
		fw.fake[i].unacked = 106;
	fake_run(100 * MS);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
	ni->ops->path_reset(&p, ni, msg->att.pni);
	lnet_pass_end(&p);
}

static void lose_set(const char *self, const char *nid)
{
	struct acceptor a = { .nid = nid };
	struct msg *msg;
	u64 first;

	fake_begin(self);
	msg = fake_send(nid, 10, 5 * SEC);
	stock_accept(&a, fake_last(), false);
	first = a.last;
	stock_accept(&a, &fw.fake[1], false);
	UNIT_EQUAL(a.last, first, "incarnation of the second");
	stock_accept(&a, &fw.fake[2], false);
	UNIT_EQUAL(a.last, first, "incarnation of the third");
	UNIT_EQUAL(a.taken, 3, "connections of the first set");
	msg = fake_send(nid, 10, 5 * SEC);
	cut_quietly(msg);
	CU_ASSERT(fw.fake[0].shut && fw.fake[2].shut);
	msg = fake_send(nid, 10, 5 * SEC);
	stock_accept(&a, fake_last(), false);
	UNIT_EQUAL(a.stale, 1, "refused as stale");
	UNIT_EQUAL(msg->nr_done, 0, "waits");
	stock_runs(&a, 250 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "sent by the new set");
	UNIT_EQUAL(a.taken, 6, "connections of both sets");
	UNIT_EQUAL(a.full, 0, "refused as too many");
	CU_ASSERT(a.last > first);
	fake_end();
}

/* A stock peer has not noticed that a set ended: it accepts the next set after one rejection. */
static void test_unnoticed(void)
{
	lose_set(A, B);
	lose_set("fd00::11@tcp", "fd00::12@tcp");
}

/* The peer received the HELLO of a dial, and its reply was lost; or a set ended during a dial. */
static void test_unnoticed_dial(void)
{
	struct acceptor a = { .nid = B };
	struct msg *msg;

	fake_begin(A);
	msg = fake_send(B, 10, 700 * MS);
	stock_accept(&a, fake_last(), true);
	fake_run(900 * MS);
	CU_ASSERT(fw.fake[0].shut);
	UNIT_EQUAL(msg->nr_done, 1, "given back");
	msg = fake_send(B, 10, 5 * SEC);
	stock_accept(&a, fake_last(), false);
	UNIT_EQUAL(a.stale, 1, "refused as stale");
	stock_runs(&a, 110 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "sent by the next");
	UNIT_EQUAL(a.full, 0, "refused as too many");
	fake_end();

	a = (struct acceptor){ .nid = B };
	fake_begin(A);
	fake_send(B, 10, 5 * SEC);
	stock_accept(&a, fake_last(), false);
	stock_accept(&a, &fw.fake[1], true);
	fake_eof(&fw.fake[0]);
	CU_ASSERT(fw.fake[0].shut && fw.fake[1].shut);
	msg = fake_send(B, 10, 5 * SEC);
	stock_runs(&a, 350 * MS);
	UNIT_EQUAL(msg->nr_done, 1, "sent by the new set");
	UNIT_EQUAL(a.taken, 5, "connections of both sets");
	UNIT_EQUAL(a.full, 0, "refused as too many");
	fake_end();
}

/* A rejection in a race contains the incarnation of the dial that wins. */
static void test_race_incarnation(void)
{
	struct acceptor a = { .nid = A };
	struct fake *theirs;
	u8 want[56];

	fake_begin(B);
	fake_send(A, 10, 5 * SEC);
	stock_accept(&a, fake_last(), true);
	theirs = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	memcpy(want, e5, sizeof(want));
	put_unaligned_le64(a.last, want + 32);
	fake_out_is(theirs, want, sizeof(want), "the lower one is refused");
	fake_end();
}

/* No incarnation is used twice, neither for an evicted NID nor for another NID. */
static void test_incarnations(void)
{
	struct acceptor a = { .nid = A }, c = { .nid = "192.168.50.13@tcp" };
	u64 last[2];

	fake_begin(B);
	fake_eof(fake_come(A, LNET_CTYPE_CONTROL, INC_A));
	last[0] = get_unaligned_le64(fw.fake[0].out + 32);
	fake_run(50 * MS);
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers");
	fake_send(A, 10, SEC);
	stock_accept(&a, fake_last(), true);
	CU_ASSERT(a.last > last[0]);
	last[1] = a.last;
	fake_send(c.nid, 10, SEC);
	stock_accept(&c, fake_last(), true);
	CU_ASSERT(c.last > last[1]);
	fake_end();
}

UNIT_SUITE(incarnation,
	{ "a stock peer that has not noticed the loss of a set takes the next", test_unnoticed },
	{ "a stock peer that took an unfinished dial takes the next", test_unnoticed_dial },
	{ "a refusal in a race has the incarnation of the dial", test_race_incarnation },
	{ "no set has the incarnation of an earlier one", test_incarnations },
)
