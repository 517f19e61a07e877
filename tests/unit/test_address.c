/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Addresses from which a HELLO is accepted, and what a HELLO from another address cannot do. */
#include "sock_fake.h"

#define A "192.168.50.11@tcp"
#define B "192.168.50.12@tcp"
#define STRANGER "10.0.0.9@tcp"
#define SEC ((u64)NSEC_PER_SEC)

static struct fake *come(const char *from, bool privileged, const char *nid, u64 incarnation)
{
	return fake_come_from(from, privileged, nid, LNET_CTYPE_CONTROL, incarnation);
}

/* STRICT, and AUTO if the interface is the only one on its net. */
static void test_strict(void)
{
	u32 rule;

	for (rule = SOCK_ADDRESS_STRICT; rule <= SOCK_ADDRESS_AUTO; rule++) {
		fake_begin(B);
		fw.node->ln.tun.hello_address = rule;
		CU_ASSERT_FALSE(fake_is_open(come(STRANGER, true, A, 1)));
		UNIT_EQUAL(fw.sn->c[SOCK_C_false_address], 1, "counted");
		UNIT_EQUAL(fw.sn->nr_peers, 0, "peers");
		CU_ASSERT(fake_is_open(come(A, true, A, 1)));
		fake_end();
	}
}

/* An unknown peer with the NID of a connected peer neither ends nor joins the set of that peer. */
static void test_set(void)
{
	struct fake *mine, *theirs;
	u64 incarnation;

	for (incarnation = 1; incarnation <= 2; incarnation++) {
		fake_begin(B);
		fw.node->ln.tun.hello_address = SOCK_ADDRESS_SET;
		mine = come(A, true, A, 1);
		fake_run(SEC);
		fake_out_clear(mine);
		theirs = come(STRANGER, true, A, incarnation);
		CU_ASSERT(theirs->shut && !fake_is_open(theirs));
		CU_ASSERT(fake_is_open(mine));
		UNIT_EQUAL(fake_nr_lost(), 0, "sets lost");
		UNIT_EQUAL(fw.sn->c[SOCK_C_rejected_address], 1, "counted");
		UNIT_EQUAL(mine->nr_out, LNET_KSOCK_SIZE, "the open set is probed");
		come(STRANGER, true, A, incarnation);
		UNIT_EQUAL(mine->nr_out, LNET_KSOCK_SIZE, "once for a while");
		CU_ASSERT(fake_is_open(fake_come(A, LNET_CTYPE_BULK_OUT, 1)));
		fake_eof(mine);
		fake_run(SEC);
		CU_ASSERT(fake_is_open(come(STRANGER, true, A, incarnation)));
		fake_end();
	}
}

static void test_off(void)
{
	fake_begin(B);
	fw.node->ln.tun.hello_address = SOCK_ADDRESS_OFF;
	CU_ASSERT(fake_is_open(come(A, true, A, 1)));
	CU_ASSERT(fake_is_open(fake_come_from(STRANGER, true, A, LNET_CTYPE_BULK_OUT, 1)));
	fake_end();
}

/* Any user may use a port above 1023, so such a connection may only claim its source address. */
static void test_unprivileged(void)
{
	u32 rule;

	for (rule = SOCK_ADDRESS_OFF; rule <= SOCK_ADDRESS_AUTO; rule++) {
		fake_begin(B);
		fw.node->ln.tun.hello_address = rule;
		CU_ASSERT_FALSE(fake_is_open(come(STRANGER, false, A, 1)));
		UNIT_EQUAL(fw.sn->c[SOCK_C_false_address], 1, "counted");
		CU_ASSERT(fake_is_open(come(STRANGER, false, STRANGER, 1)));
		fake_end();
	}
}

static bool is_taken(const char *from, const char *nid)
{
	return fake_is_open(fake_come_from(from, true, nid, LNET_CTYPE_CONTROL, 1));
}

/* An unknown peer that claims a NID of the node would be its loopback peer. */
static void test_false_nid(void)
{
	static const char *const bad[] = { B, "0.0.0.0@tcp", "255.255.255.255@tcp",
					   "224.0.0.1@tcp", "127.0.0.1@tcp" };
	unsigned int i;

	fake_begin(B);
	fw.node->ln.tun.hello_address = 0;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		UNIT_EQUAL(is_taken("10.0.0.9@tcp", bad[i]), false, bad[i]);
	UNIT_EQUAL(fw.sn->c[SOCK_C_false_nid], ARRAY_SIZE(bad), "counted");
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers");
	CU_ASSERT(is_taken("127.0.0.5@tcp", "127.0.0.5@tcp"));
	CU_ASSERT(is_taken("10.0.0.9@tcp", "10.0.0.9@tcp"));
	fake_end();
}

UNIT_SUITE(address,
	{ "strict: the NID of a HELLO is its source address", test_strict },
	{ "set: another address neither ends nor joins a set", test_set },
	{ "off: any address may speak for a NID", test_off },
	{ "a HELLO with a NID of this node or of no host is rejected", test_false_nid },
	{ "a port above 1023 speaks for its own address only", test_unprivileged },
)
