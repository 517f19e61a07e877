/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does the driver bound the memory for bytes that peers do not read? */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)
#define MS ((u64)NSEC_PER_MSEC)
#define PEERS 12
#define EACH 30

static u8 frames[4096];
static char nids[PEERS][32];
static struct msg *sent[PEERS][EACH];

static u32 length_of(unsigned int i)
{
	return 900 + 117 * i;		/* by value and by reference, in any buffer */
}

/* Connections of PEERS addresses whose sockets take nothing. Each has EACH messages to send. */
static void open_blocked(void)
{
	unsigned int i, k;
	struct fake *f;

	for (i = 0; i < PEERS; i++) {
		snprintf(nids[i], sizeof(nids[i]), "192.168.50.%u@tcp", 100 + i);
		f = fake_come(nids[i], LNET_CTYPE_CONTROL, INC_A);
		fake_out_clear(f);
		f->room = 0;
		for (k = 0; k < EACH; k++)
			sent[i][k] = fake_send(nids[i], length_of(k), 5 * SEC);
	}
}

static unsigned int nr_large(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < fw.nr; i++)
		nr += fw.fake[i].c->out && fw.fake[i].c->out_size == SOCK_OUT_SIZE;
	return nr;
}

/* The socket of @f takes @room bytes. */
static void unblock_for(struct fake *f, u32 room)
{
	struct lnet_pass p;

	f->room = room;
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
	sock_conn_writable(&p, f->c);
	lnet_pass_end(&p);
}

static void unblock(struct fake *f)
{
	unblock_for(f, FAKE_BUFFER);
}

/* Peer @i has received all messages, complete and in order. */
static void received(unsigned int i)
{
	u32 hdr = LNET_KSOCK_SIZE + lnet_hdr_size(false), k, n;
	struct fake *f = &fw.fake[i];
	const u8 *at = f->out;
	bool good = true;

	for (k = 0; k < EACH; k++) {
		UNIT_EQUAL(sent[i][k]->how, LNET_OK, "sent");
		at += hdr;
		for (n = 0; n < length_of(k); n++)
			good &= *at++ == contract_byte(sent[i][k]->seq, n);
	}
	CU_ASSERT(good);
	UNIT_EQUAL(at - f->out, f->nr_out, "bytes");
}

/*
 * Beyond unsent_budget a connection gets a small buffer. It does not wait for other connections,
 * and the driver closes none of them.
 */
static void test_buffers(void)
{
	unsigned int i;

	fake_begin(B);
	fw.node->ln.tun.unsent_budget = 4 * SOCK_OUT_SIZE;
	open_blocked();
	CU_ASSERT(fw.sn->unsent <= 4 * SOCK_OUT_SIZE);
	UNIT_EQUAL(nr_large(), 4 - 1, "large buffers: one is left for an address that has none");
	CU_ASSERT(fw.sn->c[SOCK_C_unsent_denied] >= PEERS - 3);
	for (i = 0; i < PEERS; i++) {
		CU_ASSERT(fake_is_open(&fw.fake[i]));
		unblock(&fw.fake[i]);
		received(i);
	}
	UNIT_EQUAL(fw.sn->unsent, 0, "bytes in use");
	fake_end();
}

/* A small buffer that is empty is replaced by a large one as soon as the budget permits it. */
static void test_grows(void)
{
	u32 size = LNET_KSOCK_SIZE + lnet_hdr_size(false) + 900;
	struct msg *last = NULL;
	struct fake *f;
	unsigned int i;

	fake_begin_with(B, A, INC_A);
	f = &fw.fake[CONTROL];
	f->room = 0;
	fw.node->ln.tun.unsent_budget = 0;
	for (i = 0; i < 20; i++)
		last = fake_send(A, 900, 5 * SEC);
	UNIT_EQUAL(nr_large(), 0, "large buffers without a budget");
	unblock_for(f, size);
	UNIT_EQUAL(nr_large(), 0, "large buffers without a budget");
	fw.node->ln.tun.unsent_budget = 4 * SOCK_OUT_SIZE;
	unblock_for(f, 1);
	UNIT_EQUAL(nr_large(), 0, "the small buffer has bytes");
	unblock_for(f, size - 1);
	UNIT_EQUAL(nr_large(), 1, "large buffers");
	UNIT_EQUAL(fw.sn->unsent, SOCK_OUT_SIZE, "bytes in use");
	unblock(f);
	UNIT_EQUAL(last->how, LNET_OK, "sent");
	UNIT_EQUAL(f->nr_out, 20 * size, "bytes");
	UNIT_EQUAL(fw.sn->unsent, 0, "bytes in use");
	fake_end();
}

/* One address uses half of the budget at most. */
static void test_share(void)
{
	struct fake *other;
	unsigned int i;

	fake_begin_with(B, A, INC_A);
	fw.node->ln.tun.unsent_budget = 4 * SOCK_OUT_SIZE;
	fw.fake[CONTROL].room = fw.fake[OUT].room = 0;
	for (i = 0; i < 3; i++) {
		fake_send(A, 100, SEC);
		fake_send(A, 20000, SEC);
	}
	UNIT_EQUAL(nr_large(), 2, "large buffers of the address");
	fw.fake[IN].room = 0;
	fake_in(&fw.fake[CONTROL], frames, fake_put(frames, A, PLAN_SKIP, 0, 0, 2));
	CU_ASSERT_PTR_NOT_NULL(fw.fake[IN].c->out);
	UNIT_EQUAL(nr_large(), 2, "its third buffer is small");
	other = fake_come("192.168.50.77@tcp", LNET_CTYPE_CONTROL, INC_A);
	other->room = 0;
	fake_send("192.168.50.77@tcp", 100, SEC);
	UNIT_EQUAL(nr_large(), 3, "and one of another");
	UNIT_EQUAL(fw.sn->unsent, 3 * SOCK_OUT_SIZE, "bytes in use");
	fake_end();
}

/* Sends requests for acknowledgements, and reads none; returns how many until the set is closed. */
static unsigned int ask(unsigned int most)
{
	unsigned int i;
	u32 len;

	fw.fake[IN].room = 0;
	for (i = 0; i < most && !fw.fake[IN].shut; i++) {
		len = fake_put(frames, A, PLAN_SKIP, 0, 0, 2 + 4 * i);
		fake_in(&fw.fake[CONTROL], frames, len);
	}
	return i;
}

static void test_answers(void)
{
	unsigned int nr;

	fake_begin_with(B, A, INC_A);
	nr = ask(4000);
	CU_ASSERT(nr > 1024 && nr < 2100);	/* two questions each */
	UNIT_EQUAL(fw.sn->c[SOCK_C_unread], 1, "counted");
	UNIT_EQUAL(fw.sn->unsent, 0, "bytes in use");
	fake_end();
	fake_begin_with(B, A, INC_A);
	fw.node->ln.tun.unsent_budget = 0;
	nr = ask(4000);
	CU_ASSERT(nr > 16 && nr < 40);
	UNIT_EQUAL(fw.sn->c[SOCK_C_unread], 1, "counted");
	fake_end();
}

/* A peer reads slowly. At the deadline the driver copies the message, or it closes the set. */
static void test_copies(void)
{
	struct lnet_pass p;
	struct msg *half;
	unsigned int fits;

	for (fits = 0; fits < 2; fits++) {
		fake_begin_with(B, A, INC_A);
		fw.node->ln.tun.unsent_budget = fits ? 1000000 : 300000;
		fw.fake[OUT].room = 5000;
		half = fake_send(A, 200000, 300 * MS);
		fake_run(270 * MS);
		UNIT_EQUAL(half->nr_done, 0, "before its time");
		fw.fake[OUT].room = 10;
		lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_WORKER);
		sock_conn_writable(&p, fw.fake[OUT].c);
		lnet_pass_end(&p);
		fake_run(40 * MS);
		UNIT_EQUAL(half->nr_done, 1, "given back at its time");
		UNIT_EQUAL(fw.fake[OUT].shut, !fits, "the set ends");
		if (fits) {
			CU_ASSERT(fw.sn->unsent > 200000 - 5010);
			unblock(&fw.fake[OUT]);
			UNIT_EQUAL(fw.fake[OUT].nr_out, 96 + 200000, "bytes");
		}
		UNIT_EQUAL(fw.sn->unsent, 0, "bytes in use");
		fake_end();
	}
}

UNIT_SUITE(unsent,
	{ "beyond the budget buffers are small", test_buffers },
	{ "an empty small buffer is replaced by a large one", test_grows },
	{ "an address uses half of the budget at most", test_share },
	{ "a peer that does not read answers loses its set", test_answers },
	{ "so does one that reads slowly, if nothing may be copied", test_copies },
)
