/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Graceful close of an NI's connections: all bytes are written and received. */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)

static void set_come(void)
{
	fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	fake_come(A, LNET_CTYPE_BULK_IN, INC_A);
	fake_come(A, LNET_CTYPE_BULK_OUT, INC_A);
}

/*
 * Messages that a peer sent before it noticed the close are received. Connections end one by one.
 */
static void test_read(void)
{
	u8 put[512];
	u32 len;
	unsigned int i;

	fake_begin(B);
	set_come();
	CU_ASSERT(!sock_ni_close(fw.node->ni));
	for (i = 0; i < 3; i++)
		CU_ASSERT(fw.fake[i].finished && !fw.fake[i].shut);
	fake_eof(&fw.fake[0]);
	CU_ASSERT(fw.fake[0].shut && !fw.fake[0].aborted);
	CU_ASSERT(fake_is_open(&fw.fake[1]) && fake_is_open(&fw.fake[2]));
	len = fake_put(put, A, PLAN_LAND, 0, 100, 0);
	fake_in(&fw.fake[2], put, len);
	UNIT_EQUAL(fake_nr_got(), 1, "messages received after the end of a sibling");
	CU_ASSERT(!sock_ni_close(fw.node->ni));
	UNIT_EQUAL(fake_nr_lost(), 0, "path lost");
	fake_eof(&fw.fake[1]);
	fake_eof(&fw.fake[2]);
	CU_ASSERT(sock_ni_close(fw.node->ni));
	UNIT_EQUAL(fake_nr_lost(), 1, "path lost");
	fake_end();
}

/* A half-written message is written to its end before the close. */
static void test_written(void)
{
	struct msg *half;
	struct lnet_pass p;

	fake_begin(B);
	set_come();
	fw.fake[1].room = 5000;
	half = fake_send(A, 100000, 60 * SEC);
	UNIT_EQUAL(half->nr_done, 0, "half written");
	CU_ASSERT(!sock_ni_close(fw.node->ni));
	CU_ASSERT(fw.fake[0].finished && !fw.fake[1].finished);
	fw.fake[1].room = FAKE_BUFFER;
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	sock_conn_writable(&p, fw.fake[1].c);
	lnet_pass_end(&p);
	UNIT_EQUAL(half->how, LNET_OK, "written");
	CU_ASSERT(!sock_ni_close(fw.node->ni));
	CU_ASSERT(fw.fake[1].finished);
	fake_end();
}

/* No connection begins meanwhile, and a reset ends the set as usual. */
static void test_no_more(void)
{
	fake_begin(B);
	set_come();
	CU_ASSERT(!sock_ni_close(fw.node->ni));
	CU_ASSERT_PTR_NULL(fake_accept(true));
	fw.fake[0].err = -ECONNRESET;
	fake_in(&fw.fake[0], "", 0);
	CU_ASSERT(sock_ni_close(fw.node->ni));
	fake_send(A, 10, SEC);
	fake_run(200 * NSEC_PER_MSEC);
	UNIT_EQUAL(fw.nr, 3, "dials");
	fake_end();
}

UNIT_SUITE(finish,
	{ "what comes is received until the peer has ended its side", test_read },
	{ "what is half written is written before", test_written },
	{ "no connection begins while they end", test_no_more },
)
