/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chains of the hash of addresses stay short, whoever chooses the addresses. */
#include "unit.h"
#include "lnd/socklnd/table.h"

#define MANY 20000

struct entry {
	struct sock_node node;
	u8 addr[16];
};

static struct sock_table t;
static struct entry entries[MANY];

static struct entry *find(const u8 addr[16])
{
	struct entry *e;

	hlist_for_each_entry(e, sock_table_chain(&t, sock_table_hash(&t, addr, 16)), node.link)
		if (!memcmp(e->addr, addr, 16))
			return e;
	return NULL;
}

static void add(unsigned int i, u32 addr)
{
	struct entry *e = &entries[i];

	put_unaligned_le32(addr, e->addr);
	sock_table_add(&t, &e->node, sock_table_hash(&t, e->addr, 16));
}

static unsigned int longest(void)
{
	unsigned int i, nr, most = 0;
	struct entry *e;

	for (i = 0; i < 1U << t.bits; i++) {
		nr = 0;
		hlist_for_each_entry(e, &t.heads[i], node.link)
			nr++;
		most = max(most, nr);
	}
	return most;
}

static void begin(u64 key)
{
	memset(entries, 0, sizeof(entries));
	sock_table_init(&t, key);
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		sock_table_del(&t, &entries[i].node);
	UNIT_EQUAL(t.nr, 0, "left");
	UNIT_EQUAL(longest(), 0, "left");
	sock_table_fini(&t);
}

static void test_grows(void)
{
	unsigned int i;

	begin(77);
	for (i = 0; i < MANY; i++)
		add(i, i);
	UNIT_EQUAL(t.nr, MANY, "entries");
	CU_ASSERT(t.nr >> t.bits < 2);
	CU_ASSERT(longest() < 14);
	for (i = 0; i < MANY; i++)
		CU_ASSERT(find(entries[i].addr) == &entries[i]);
	sock_table_del(&t, &entries[5].node);
	sock_table_del(&t, &entries[5].node);
	UNIT_EQUAL(t.nr, MANY - 1, "twice is once");
	CU_ASSERT_PTR_NULL(find(entries[5].addr));
	end();
}

/* Addresses that one key puts into one chain. */
static void test_key(void)
{
	u32 addr, same[100];
	unsigned int i = 0;
	u8 at[16] = {};

	begin(77);
	for (addr = 0; i < ARRAY_SIZE(same); addr++) {
		put_unaligned_le32(addr, at);
		if (!(sock_table_hash(&t, at, 16) >> 24))
			same[i++] = addr;
	}
	end();
	begin(78);
	for (i = 0; i < ARRAY_SIZE(same); i++)
		add(i, same[i]);
	CU_ASSERT(longest() < 10);
	end();
}

static void test_no_memory(void)
{
	unsigned int i;

	begin(77);
	unit_fail_alloc(1);
	for (i = 0; i < 200; i++)
		add(i, i);
	unit_fail_alloc(0);
	for (i = 0; i < 200; i++)
		CU_ASSERT(find(entries[i].addr) == &entries[i]);
	end();
}

UNIT_SUITE(table,
	   { "chains have two entries on average at most", test_grows },
	   { "another key has other chains", test_key },
	   { "without memory the chains grow", test_no_memory })
