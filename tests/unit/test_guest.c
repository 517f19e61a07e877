/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bounds on open connections, and the idle ones that are closed to make room. */
#include "sock_fake.h"

#define B "192.168.50.12@tcp"
#define SEC ((u64)NSEC_PER_SEC)

static u32 hosts;

/* A connection from @address, with another NID each time. */
static struct fake *come(unsigned int address)
{
	char from[32], nid[32];

	snprintf(from, sizeof(from), "10.0.0.%u@tcp", address);
	snprintf(nid, sizeof(nid), "10.1.0.%u@tcp", ++hosts);
	return fake_come_from(from, true, nid, LNET_CTYPE_CONTROL, 1);
}

static void begin(u64 most)
{
	hosts = 0;
	fake_begin(B);
	fw.node->ln.tun.hello_address = SOCK_ADDRESS_OFF;
	fw.node->ln.tun.conns_per_address = 1;	/* in effect two sets: 6 */
	fw.node->ln.tun.conns_max = most;
}

static void test_per_address(void)
{
	unsigned int i;

	begin(1000);
	for (i = 0; i < 6; i++)
		CU_ASSERT(fake_is_open(come(1)));
	CU_ASSERT_FALSE(fake_is_open(come(1)));
	UNIT_EQUAL(fw.sn->c[SOCK_C_rejected_many], 1, "counted");
	CU_ASSERT(fake_is_open(come(2)));
	fake_eof(&fw.fake[0]);
	CU_ASSERT(fake_is_open(come(1)));
	fake_end();
}

/* 14 of 16 connections are for all peers. */
static void test_in_all(void)
{
	struct fake *honest, *f;
	unsigned int i;

	begin(16);
	honest = come(9);
	for (i = 0; i < 12; i++)
		CU_ASSERT(fake_is_open(come(1 + i / 6)));
	CU_ASSERT(fake_is_open(come(3)));
	fake_run(SEC);		/* the HELLOs are acknowledged */
	CU_ASSERT(fake_is_open(come(4)));
	UNIT_EQUAL(fw.sn->c[SOCK_C_evicted_idle], 1, "one of those that have most");
	CU_ASSERT_FALSE(fake_is_open(&fw.fake[1]));
	CU_ASSERT(fake_is_open(honest));
	for (i = 0; i < fw.nr; i++) {
		f = &fw.fake[i];
		if (fake_is_open(f))
			fake_in(f, "x", 1);
	}
	CU_ASSERT_FALSE(fake_is_open(come(5)));
	UNIT_EQUAL(fw.sn->c[SOCK_C_rejected_many], 1, "nothing is idle");
	fake_end();
}

/* Descriptors run out while no connection is half-open. */
static void test_descriptors(void)
{
	struct fake *honest;
	struct lnet_pass p;
	unsigned int i;

	begin(1000);
	honest = come(9);
	fake_in(honest, "x", 1);
	for (i = 0; i < 6; i++)
		come(1);
	fake_run(SEC);
	lnet_pass_begin(&p, &fw.node->ln, LNET_PASS_DRIVER);
	CU_ASSERT(sock_accept_failed(&p, fw.sn, -EMFILE));
	CU_ASSERT_FALSE(sock_accept_failed(&p, fw.sn, -EMFILE));
	lnet_pass_end(&p);
	fake_run(NSEC_PER_MSEC);
	UNIT_EQUAL(fw.sn->c[SOCK_C_evicted_idle], 6, "closed");
	CU_ASSERT(fake_is_open(honest));
	fake_end();
}

UNIT_SUITE(guest,
	{ "an address has a bound of open connections", test_per_address },
	{ "an interface has a bound; the idle of the greediest address go", test_in_all },
	{ "without descriptors the idle of the greediest address go", test_descriptors },
)
