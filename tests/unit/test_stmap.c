/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do all nodes compute the same senders and receivers, and is a plan unchanged by its encoding? */
#include "selftest/plan.h"
#include "unit.h"

static struct lst_plan plan_of(enum lst_map map, u32 nr_from, u32 nr_to)
{
	struct lst_plan p = { .map = map, .nr_from = nr_from, .nr_to = nr_to, .dist = 1,
			      .span = 1 };

	return p;
}

/* Returns the servers of client @self, one letter each, from 'a' on. */
static const char *servers(struct lst_plan p, u32 self)
{
	static char text[64];
	u32 nr = 0, pos = 0, ix;

	p.self = self;
	while ((ix = lst_map_next(&p, &pos)) != U32_MAX && nr < sizeof(text) - 1)
		text[nr++] = (char)('a' + ix);
	text[nr] = 0;
	return text;
}

static void by_hand(void)
{
	static const struct {
		const char *name;
		enum lst_map map;
		u32 from, to, dist, span;
		bool same;
		const char *of[4];
	} row[] = {
		{ "1:1", LST_MAP_SPREAD, 4, 3, 1, 1, 0, { "a", "b", "c", "a" } },
		{ "2:3", LST_MAP_SPREAD, 4, 5, 2, 3, 0, { "abc", "abc", "dea", "dea" } },
		{ "1:9", LST_MAP_SPREAD, 2, 3, 1, 9, 0, { "abc", "abc" } },
		{ "one to one", LST_MAP_ONE_TO_ONE, 4, 2, 1, 1, 0, { "a", "b", "a", "b" } },
		{ "one to all", LST_MAP_ONE_TO_ALL, 3, 3, 1, 1, 0, { "abc", "", "" } },
		{ "of one group", LST_MAP_ONE_TO_ALL, 3, 3, 1, 1, 1, { "bc", "", "" } },
		{ "all to all", LST_MAP_ALL_TO_ALL, 3, 3, 1, 1, 0, { "bca", "cab", "abc" } },
		{ "of one group", LST_MAP_ALL_TO_ALL, 3, 3, 1, 1, 1, { "bc", "ca", "ab" } },
		{ "ring", LST_MAP_RING, 4, 4, 1, 1, 1, { "b", "c", "d", "a" } },
		{ "ring of one", LST_MAP_RING, 1, 1, 1, 1, 1, { "" } },
		{ "star", LST_MAP_STAR, 4, 4, 1, 1, 1, { "bcd", "", "", "" } },
		{ "chaos", LST_MAP_CHAOS, 4, 4, 1, 1, 1, { "bcd", "cd", "d", "" } },
		{ "incast", LST_MAP_INCAST, 4, 2, 1, 1, 0, { "a", "a", "a", "a" } },
		{ "of one group", LST_MAP_INCAST, 3, 3, 1, 1, 1, { "", "a", "a" } },
		{ "listed", LST_MAP_LISTED, 2, 3, 1, 1, 0, { "abc", "abc" } },
		{ "nobody", LST_MAP_LISTED, 2, 0, 1, 1, 0, { "", "" } },
	};
	u32 i, self;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct lst_plan p = plan_of(row[i].map, row[i].from, row[i].to);

		p.dist = row[i].dist;
		p.span = row[i].span;
		p.same = row[i].same;
		for (self = 0; self < row[i].from; self++)
			UNIT_TEXT(servers(p, self), row[i].of[self], row[i].name);
	}
}

/* Each server has one client, no node is its own client, and another seed gives another order. */
static void permutations(void)
{
	static const u32 sizes[] = { 2, 3, 4, 5, 16, 17, 255, 1000, 100000 };
	static u8 nr_clients[100000];
	u32 i, self, pos, seed, ix, other, differ;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (seed = 0; seed < 3; seed++) {
			struct lst_plan p = plan_of(LST_MAP_PERMUTATION, sizes[i], sizes[i]);

			memset(nr_clients, 0, sizeof(nr_clients));
			for (differ = self = 0; self < sizes[i]; self++) {
				p.self = self;
				p.seed = seed;
				pos = 0;
				ix = lst_map_next(&p, &pos);
				UNIT_EQUAL(ix != self && ix < sizes[i], true, "another");
				UNIT_EQUAL(lst_map_next(&p, &pos), U32_MAX, "one");
				nr_clients[ix < sizes[i] ? ix : 0]++;
				p.seed = seed + 1;
				pos = 0;
				other = lst_map_next(&p, &pos);
				differ += other != ix;
			}
			for (self = 0; self < sizes[i]; self++)
				UNIT_EQUAL(nr_clients[self], 1, "one each");
			UNIT_EQUAL(sizes[i] < 16 || differ > sizes[i] / 2, true, "by the seed");
		}
}

/* For the way back, servers compute the same pairs as clients. */
static void both_ways(void)
{
	u32 map, from, to, i, pos, ix;
	static u8 sends[16][16];

	for (map = LST_MAP_SPREAD; map <= LST_MAP_LISTED; map++)
		for (from = 1; from < 9; from++)
			for (to = 1; to < 9; to++) {
				struct lst_plan p = plan_of(map, from, to);
				u32 nr = 0, nr_back = 0;

				p.span = 1 + from % to;
				p.dist = 2;
				p.same = from == to;
				memset(sends, 0, sizeof(sends));
				for (i = 0; i < from; i++) {
					p.self = i;
					pos = 0;
					while ((ix = lst_map_next(&p, &pos)) != U32_MAX) {
						UNIT_EQUAL(ix < to && !sends[i][ix]++, true,
							   "once");
						nr++;
					}
				}
				p.back = 1;
				for (i = 0; i < to; i++) {
					p.self = i;
					pos = 0;
					while ((ix = lst_map_next(&p, &pos)) != U32_MAX) {
						UNIT_EQUAL(sends[ix % 16][i], 1, "it sends to us");
						nr_back++;
					}
				}
				UNIT_EQUAL(nr, nr_back, "as many");
				if (map == LST_MAP_CHAOS && from == to)
					UNIT_EQUAL(nr, from * (from - 1) / 2, "each pair once");
			}
}

static struct lnet_process id_of(const char *text)
{
	struct lnet_process id = { .pid = LNET_PID };

	CU_ASSERT_EQUAL_FATAL(lnet_nid_parse(&id.nid, text), 0);
	return id;
}

static void runs(void)
{
	static const char *const names[] = { "10.0.0.1@tcp", "10.0.0.2@tcp", "10.0.0.3@tcp",
					     "10.0.0.3@tcp1", "10.0.0.9@tcp1", "10.0.0.10@tcp1",
					     "255.255.255.255@tcp", "0.0.0.0@tcp" };
	struct lnet_process id, want;
	struct lst_run run[8];
	u32 i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		id = id_of(names[i]);
		lst_runs_add(run, &nr, &id);
	}
	UNIT_EQUAL(nr, 5, "what follows each other is one");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		want = id_of(names[i]);
		UNIT_EQUAL(lst_runs_at(run, nr, i, &id), true, names[i]);
		UNIT_EQUAL(lnet_nid_same(&id.nid, &want.nid), true, names[i]);
	}
	UNIT_EQUAL(lst_runs_at(run, nr, i, &id), false, "the end");
}

/* The encoding of 100,000 neighbours is as long as that of one. */
static void bytes(void)
{
	struct lst_plan p = { 0 }, back;
	struct lst_run run = { .nr = 100000 };
	u8 buf[1024];
	u32 i, len;

	for (i = 0; i < lst_nr_plan_words; i++)
		*(u64 *)((u8 *)&p + lst_plan_words[i].at) = lst_plan_words[i].usual;
	p.index = p.tag = p.what = p.nr_from = 1;
	p.nr_to = 100000;
	p.run = &run;
	p.nr_runs = 1;
	run.first = id_of("10.0.0.1@tcp");
	len = lst_plan_encode(&p, NULL);
	UNIT_EQUAL(len < 1024, true, "short");
	UNIT_EQUAL(lst_plan_encode(&p, buf), len, "as long as said");
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), 0, "read");
	UNIT_EQUAL(memcmp(&p, &back, offsetof(struct lst_plan, nr_runs)), 0, "the same");
	UNIT_EQUAL(back.run[0].nr, 100000, "all of them");
	kvfree(back.run);
	for (i = 0; i < len; i++)
		UNIT_EQUAL(lst_plan_decode(&back, buf, i), -EINVAL, "cut off");
	buf[0]++;
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), -EINVAL, "another version");
	buf[0]--;
	put_unaligned_le64(~0ULL, buf + 8);
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), -EINVAL, "too many");
	put_unaligned_le64(1, buf + 8);
	put_unaligned_le32(99999, buf + len - 4);
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), -EINVAL, "one is missing");
	p.nr_runs = 0;
	p.nr_to = 0;
	len = lst_plan_encode(&p, buf);
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), -EINVAL, "nobody to send to");
	p.map = LST_MAP_LISTED;
	lst_plan_encode(&p, buf);
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), 0, "as is listed");
	p.back = 1;
	lst_plan_encode(&p, buf);
	UNIT_EQUAL(lst_plan_decode(&back, buf, len), -EINVAL, "who sends back is a client");
}

UNIT_SUITE(stmap,
	   { "small ones are as by hand", by_hand },
	   { "a permutation gives each server one client", permutations },
	   { "both ways are the same pairs", both_ways },
	   { "neighbours are told as one", runs },
	   { "a plan's bytes come back", bytes })
