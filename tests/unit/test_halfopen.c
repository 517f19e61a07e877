/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which half-open connection is closed when there are too many. */
#include "unit.h"
#include "lnd/socklnd/halfopen.h"

#define MANY 600

static struct sock_halfs hs;
static struct sock_half half[MANY];

static void begin(void)
{
	sock_halfs_init(&hs, 0x1234567);
	memset(half, 0, sizeof(half));
}

static void add(unsigned int i, u32 from)
{
	u8 addr[16] = { 10, (u8)(from >> 16), (u8)(from >> 8), (u8)from };

	UNIT_EQUAL(sock_half_add(&hs, &half[i], addr), 0, "added");
}

static void end(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		sock_half_del(&hs, &half[i]);
	UNIT_EQUAL(hs.nr, 0, "left");
	CU_ASSERT(list_empty(&hs.all));
	for (i = 0; i < ARRAY_SIZE(hs.classes); i++)
		CU_ASSERT(list_empty(&hs.classes[i]));
	UNIT_EQUAL(hs.sources.nr, 0, "addresses left");
	sock_halfs_fini(&hs);
}

static int excess(unsigned int newest, u64 per_address, u64 total)
{
	struct sock_half *h = sock_half_excess(&hs, &half[newest], per_address, total);

	return h ? (int)(h - half) : -1;
}

static void test_per_address(void)
{
	begin();
	add(0, 1);
	add(1, 2);
	add(2, 1);
	UNIT_EQUAL(excess(2, 2, 100), -1, "at the bound");
	UNIT_EQUAL(excess(2, 1, 100), 0, "the oldest of its own address");
	add(3, 1);
	UNIT_EQUAL(excess(3, 2, 100), 0, "the oldest of its own address");
	sock_half_del(&hs, &half[0]);
	UNIT_EQUAL(excess(3, 2, 100), -1, "one has gone");
	UNIT_EQUAL(excess(3, 1, 100), 2, "the next is the oldest");
	end();
}

/*
 * One address floods below its bound: an address with one connection keeps it, however old it is.
 */
static void test_one_floods(void)
{
	unsigned int i;

	begin();
	add(0, 1);
	for (i = 1; i < 100; i++)
		add(i, 2);
	UNIT_EQUAL(excess(99, 1000, 99), 1, "the oldest of who floods");
	add(100, 3);
	UNIT_EQUAL(excess(100, 1000, 99), 1, "and not of who comes");
	for (i = 1; i < 99; i++)
		sock_half_del(&hs, &half[i]);
	UNIT_EQUAL(excess(100, 1000, 2), 0, "one each: the oldest of all");
	end();
}

/*
 * Many addresses have two connections each: an address with one keeps it. If all have one each, the
 * oldest is closed.
 */
static void test_many_flood(void)
{
	unsigned int i;

	begin();
	add(0, 0xffff);
	for (i = 1; i <= 200; i++)
		add(i, (i - 1) / 2);
	UNIT_EQUAL(excess(200, 64, 200), 1, "the oldest of two");
	end();
	begin();
	for (i = 0; i < MANY; i++) {
		add(i, i);
		if (i < 256)
			continue;
		UNIT_EQUAL(excess(i, 64, 256), i - 256, "the oldest of all");
		sock_half_del(&hs, &half[i - 256]);
	}
	UNIT_EQUAL(hs.nr, 256, "of many");
	end();
}

/* Compared with a linear search: the address found has more than half of the largest number. */
static void test_model(void)
{
	u32 from[MANY], seed = 7;
	unsigned int i, j, nr = 0;

	begin();
	for (i = 0; i < MANY; i++) {
		u32 count[16] = {}, most = 0;
		struct sock_half *h;
		bool oldest = true;

		seed = seed * 1103515245 + 12345;
		from[i] = seed >> 16 & 15;
		from[i] = from[i] < 12 ? from[i] % 3 : from[i];
		add(i, from[i]);
		nr++;
		for (j = 0; j <= i; j++)
			if (half[j].source && ++count[from[j]] > most)
				most = count[from[j]];
		h = sock_half_most(&hs);
		for (j = 0; j < h - half; j++)
			oldest &= !half[j].source || from[j] != from[h - half];
		CU_ASSERT(oldest);
		CU_ASSERT(2 * count[from[h - half]] > most);
		if (seed >> 8 & 1) {
			sock_half_del(&hs, h);
			nr--;
		}
		UNIT_EQUAL(hs.nr, nr, "counted");
	}
	end();
}

static void test_no_memory(void)
{
	u8 addr[16] = { 1 };

	begin();
	unit_fail_alloc(1);
	UNIT_EQUAL(sock_half_add(&hs, &half[0], addr), -ENOMEM, "no memory");
	unit_fail_alloc(0);
	CU_ASSERT_PTR_NULL(half[0].source);
	CU_ASSERT_PTR_NULL(sock_half_most(&hs));
	UNIT_EQUAL(hs.nr, 0, "none");
	end();
}

UNIT_SUITE(halfopen,
	   { "an address beyond its bound loses its own oldest", test_per_address },
	   { "who floods makes room, not who has one", test_one_floods },
	   { "among equals the oldest goes", test_many_flood },
	   { "agrees with counting", test_model },
	   { "no memory changes nothing", test_no_memory })
