/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Connections without a HELLO: how long they may stay, how many may exist, which make room. */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define INC_A 0x17f0a1b2c3d4e5f6ULL
#define SEC ((u64)NSEC_PER_SEC)

static void test_half_open(void)
{
	unsigned int i;

	fake_begin(B);
	for (i = 0; i < 20; i++)
		fake_accept(true);
	UNIT_EQUAL(fw.sn->halfs.nr, 20, "half-open");
	fake_run(6 * SEC);
	UNIT_EQUAL(fw.sn->halfs.nr, 0, "half-open after the time");
	UNIT_EQUAL(fw.sn->nr_conns, 0, "connections");
	fake_end();
}

/*
 * One address opens many connections, then many addresses open one each. A connection of another
 * address stays and can send its HELLO, and an open one is never closed.
 */
static void test_half_open_bounds(void)
{
	struct fake *first, *quiet, *open;
	u8 buf[200];
	unsigned int i;
	u32 len;

	fake_begin(B);
	fw.node->ln.tun.half_open_max = 16;
	fw.node->ln.tun.half_open_per_address = 8;
	open = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	quiet = fake_accept_from(true, 1);
	first = fake_accept_from(true, 2);
	for (i = 0; i < 20; i++)
		fake_accept_from(true, 2);
	CU_ASSERT(first->shut && first->aborted);
	UNIT_EQUAL(fw.sn->halfs.nr, 9, "one address");
	UNIT_EQUAL(fw.sn->c[SOCK_C_evicted_address], 13, "of it");
	for (i = 0; i < 9; i++)
		fake_accept_from(true, (u8)(10 + i));
	UNIT_EQUAL(fw.sn->halfs.nr, 16, "in all");
	UNIT_EQUAL(fw.sn->c[SOCK_C_evicted], 2, "of all");
	CU_ASSERT(!quiet->shut && fake_is_open(open));
	len = fake_request(buf);
	len += fake_hello(buf + len, "192.168.7.1@tcp", LNET_CTYPE_CONTROL, 77);
	fake_in(quiet, buf, len);
	CU_ASSERT(fake_is_open(quiet) && fake_is_open(open));
	UNIT_EQUAL(fw.sn->halfs.nr, 15, "one got in");
	fake_end();
}

/* No descriptor is left: connections without a HELLO make room, open ones do not. */
static void test_accept_failed(void)
{
	struct fake *open;
	struct lnet_pass p;
	unsigned int i;

	fake_begin(B);
	open = fake_come(A, LNET_CTYPE_CONTROL, INC_A);
	for (i = 0; i < SOCK_ROOM_FOR + 3; i++)
		fake_accept_from(true, (u8)i);
	for (i = 0; i < 3; i++) {
		lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
		UNIT_EQUAL(sock_accept_failed(&p, fw.sn, -EMFILE), i < 2, "room");
		lnet_pass_end(&p);
		UNIT_EQUAL(fw.sn->halfs.nr, i ? 0 : 3, "left");
	}
	UNIT_EQUAL(fw.sn->c[SOCK_C_accept_failed], 3, "failed");
	UNIT_EQUAL(fw.sn->c[SOCK_C_evicted], SOCK_ROOM_FOR + 3, "closed");
	CU_ASSERT(fake_is_open(open));
	fake_end();
}

UNIT_SUITE(no_hello,
	{ "ends half-open connections in time", test_half_open },
	{ "bounds half-open connections", test_half_open_bounds },
	{ "makes room for who cannot be accepted", test_accept_failed })
