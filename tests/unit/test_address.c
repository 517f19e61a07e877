/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NIDs that a HELLO must not have. */
#include "sock_fake.h"

#define B "192.168.50.12@tcp"

static bool is_taken(const char *from, const char *nid)
{
	return fake_is_open(fake_come_from(from, true, nid, LNET_CTYPE_CONTROL, 1));
}

/* A stranger that claims a NID of the node would be its own loopback peer. */
static void test_false_nid(void)
{
	static const char *const bad[] = { B, "0.0.0.0@tcp", "255.255.255.255@tcp",
					   "224.0.0.1@tcp", "127.0.0.1@tcp" };
	unsigned int i;

	fake_begin(B);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		UNIT_EQUAL(is_taken("10.0.0.9@tcp", bad[i]), false, bad[i]);
	UNIT_EQUAL(fw.sn->c[SOCK_C_false_nid], ARRAY_SIZE(bad), "counted");
	UNIT_EQUAL(fw.sn->nr_peers, 0, "peers");
	CU_ASSERT(is_taken("127.0.0.5@tcp", "127.0.0.5@tcp"));
	CU_ASSERT(is_taken("10.0.0.9@tcp", "10.0.0.9@tcp"));
	fake_end();
}

UNIT_SUITE(address,
	{ "a HELLO with a NID of this node or of no host is rejected", test_false_nid },
)
