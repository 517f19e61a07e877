/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Do lists of NID ranges match the NIDs that they describe, and are invalid lists rejected? */
#include "unit.h"
#include "lnet/nid.h"

static const struct {
	const char *list, *nid;
	bool match;
} matches[] = {
	{ "10.0.0.1@tcp", "10.0.0.1@tcp", true },
	{ "10.0.0.1@tcp", "10.0.0.2@tcp", false },
	{ "10.0.0.1@tcp", "10.0.0.1@tcp1", false },
	{ "10.0.0.1@tcp", "10.0.0.1@o2ib", false },
	{ "*@tcp", "1.2.3.4@tcp", true },
	{ "*@tcp", "fd00::1@tcp", true },
	{ "*@tcp", "1.2.3.4@tcp1", false },
	{ "*@tcp1", "1.2.3.4@tcp1", true },
	{ "*@tcp", "<?>", false },
	{ "*@lo", "0@lo", true },
	{ "0@lo", "0@lo", true },
	{ "10.0.0.*@tcp", "10.0.0.255@tcp", true },
	{ "10.0.0.*@tcp", "10.0.1.255@tcp", false },
	{ "10.*.*.1@tcp", "10.255.3.1@tcp", true },
	{ "10.0.0.[1-4]@tcp", "10.0.0.4@tcp", true },
	{ "10.0.0.[1-4]@tcp", "10.0.0.5@tcp", false },
	{ "10.0.0.[1-4]@tcp", "10.0.0.0@tcp", false },
	{ "10.0.0.[1-9/2]@tcp", "10.0.0.7@tcp", true },
	{ "10.0.0.[1-9/2]@tcp", "10.0.0.8@tcp", false },
	{ "10.0.0.[1-9/2]@tcp", "10.0.0.11@tcp", false },
	{ "10.0.0.[1-9/100]@tcp", "10.0.0.1@tcp", true },
	{ "10.0.0.[1,3,10-12]@tcp", "10.0.0.3@tcp", true },
	{ "10.0.0.[1,3,10-12]@tcp", "10.0.0.11@tcp", true },
	{ "10.0.0.[1,3,10-12]@tcp", "10.0.0.2@tcp", false },
	{ "10.0.0.[*]@tcp", "10.0.0.77@tcp", true },
	{ "10.[0-1].0.[1,2]@tcp", "10.1.0.2@tcp", true },
	{ "10.[0-1].0.[1,2]@tcp", "10.2.0.2@tcp", false },
	{ "10.0.0.1@tcp", "fd00::1@tcp", false },
	{ "10.0.0.0/24@tcp", "10.0.0.200@tcp", true },
	{ "10.0.0.0/24@tcp", "10.0.1.200@tcp", false },
	{ "10.0.0.7/24@tcp", "10.0.0.200@tcp", true },
	{ "10.0.0.0/23@tcp", "10.0.1.200@tcp", true },
	{ "10.0.0.0/23@tcp", "10.0.2.200@tcp", false },
	{ "128.0.0.0/1@tcp", "200.0.0.1@tcp", true },
	{ "128.0.0.0/1@tcp", "100.0.0.1@tcp", false },
	{ "10.0.0.1/32@tcp", "10.0.0.1@tcp", true },
	{ "10.0.0.1/32@tcp", "10.0.0.0@tcp", false },
	{ "10.0.0.0/8@tcp", "a00::1@tcp", false },
	{ "fd00::/64@tcp", "fd00::99@tcp", true },
	{ "fd00::/64@tcp", "fd00:0:0:1::99@tcp", false },
	{ "fd00::1@tcp", "fd00::1@tcp", true },
	{ "fd00::1@tcp", "fd00::2@tcp", false },
	{ "fd00::2/127@tcp", "fd00::3@tcp", true },
	{ "fd00::2/127@tcp", "fd00::4@tcp", false },
	{ "fd00::/8@tcp", "253.0.0.1@tcp", false },
	{ "[5-20/5]@gni", "15@gni", true },
	{ "[5-20/5]@gni", "16@gni", false },
	{ "70000@gni", "70000@gni", true },
	{ "*@kfi", "9@kfi", true },
	{ "1.1.1.1@tcp  2.2.2.2@tcp1 ", "2.2.2.2@tcp1", true },
	{ "*@tcp[1-3]", "1.2.3.4@tcp2", true },
	{ "*@tcp[1-3]", "1.2.3.4@tcp", false },
	{ "*@tcp[1-3]", "1.2.3.4@o2ib2", false },
	{ "*@tcp[0,4-8/2]", "fd00::1@tcp", true },
	{ "*@tcp[0,4-8/2]", "1.2.3.4@tcp6", true },
	{ "*@tcp[0,4-8/2]", "1.2.3.4@tcp7", false },
	{ "*@tcp[*]", "1.2.3.4@tcp65535", true },
	{ "*@tcp[7]", "1.2.3.4@tcp7", true },
	{ "10.0.[1,2].[1-9/2]@o2ib[3-4]", "10.0.2.9@o2ib4", true },
	{ "10.0.[1,2].[1-9/2]@o2ib[3-4]", "10.0.2.8@o2ib4", false },
	{ "10.0.[1,2].[1-9/2]@o2ib[3-4]", "10.0.2.9@o2ib5", false },
	{ "[5-6]@gni[1]", "6@gni1", true },
	{ "[5-6]@gni[1]", "6@gni", false },
	{ "10.0.0.0/24@tcp[1]", "10.0.0.7@tcp1", true },
	{ " 1.1.1.1@tcp 2.2.2.2@tcp1", "1.1.1.1@tcp", true },
	{ "1.1.1.1@tcp 2.2.2.2@tcp1", "2.2.2.2@tcp", false },
};

static const char *const bad_lists[] = {
	"",
	" ",
	"   ",
	"10.0.0.1",
	"@tcp",
	"10.0.0.1@",
	"10.0.0.1@xyz",
	"10.0.0.1@131072",
	"10.0.0.1@lo",
	"10.0.0@tcp",
	"10.0.0.0.1@tcp",
	"10.0.0.256@tcp",
	"10.0.0.[1-256]@tcp",
	"10.0.0.[4-1]@tcp",
	"10.0.0.[1-4/0]@tcp",
	"10.0.0.[1/2]@tcp",
	"10.0.0.[*/2]@tcp",
	"10.0.0.[1-4/]@tcp",
	"10.0.0.[1-]@tcp",
	"10.0.0.[-1]@tcp",
	"10.0.0.[]@tcp",
	"10.0.0.[@tcp",
	"10.0.0.]@tcp",
	"10.0.0.[1@tcp",
	"10.0.0.1]@tcp",
	"10.0.0.[1,]@tcp",
	"10.0.0.[,1]@tcp",
	"10.0.0.[1--2]@tcp",
	"10.0.0.1-4@tcp",
	"10.0.0.[1-4]/24@tcp",
	"10.0.0.[1 2]@tcp",
	"10.0.0.0/0@tcp",
	"10.0.0.0/33@tcp",
	"10.0.0.0/@tcp",
	"10.0.0.0/x@tcp",
	"10.0.0/8@tcp",
	"fd00::/0@tcp",
	"fd00::/129@tcp",
	"fd00::/@tcp",
	"fd00::g@tcp",
	"fd00::1@gni",
	"fd00::1@gip",
	"1/8@gni",
	"1.2.3.4@gni",
	"**@tcp",
	"*.*@tcp",
	"10.0.0.1@tcp,10.0.0.2@tcp",
	"10.0.0.1@tcp bad",
	"[1-2/0]@gni",
	"4294967296@gni",
	"[2-1]@gni",
	"*@tcp[",
	"*@tcp[]",
	"*@tcp[1",
	"*@tcp1[2]",
	"*@tcp[1]2",
	"*@tcp[65536]",
	"*@tcp[2-1]",
	"*@[1]",
	"*@lo[0]",
	"*@xyz[1]",
};

static void lists_match(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(matches); i++) {
		struct lnet_nidlist list;
		struct lnet_nid nid;

		UNIT_EQUAL(lnet_nidlist_parse(&list, matches[i].list), 0, matches[i].list);
		UNIT_EQUAL(lnet_nid_parse(&nid, matches[i].nid), 0, matches[i].nid);
		UNIT_EQUAL(lnet_nidlist_match(&list, &nid), matches[i].match, matches[i].list);
		lnet_nidlist_free(&list);
	}
}

static void bad_lists_refused(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad_lists); i++) {
		struct lnet_nidlist list;

		UNIT_EQUAL(lnet_nidlist_parse(&list, bad_lists[i]), -EINVAL, bad_lists[i]);
		UNIT_EQUAL(list.nr, 0, bad_lists[i]);
		lnet_nidlist_free(&list);
	}
}

static void empty_matches_nothing(void)
{
	struct lnet_nidlist list = { 0 };

	CU_ASSERT(!lnet_nidlist_match(&list, &LNET_NID_LO));
	lnet_nidlist_free(&list);
}

static void no_memory_is_told(void)
{
	struct lnet_nidlist list;

	unit_fail_alloc(1);
	CU_ASSERT_EQUAL(lnet_nidlist_parse(&list, "*@tcp"), -ENOMEM);
	unit_fail_alloc(0);
	CU_ASSERT_EQUAL(list.nr, 0);
	lnet_nidlist_free(&list);
}

/* @nr copies of @piece, then @last. */
static char *repeat(const char *piece, unsigned int nr, const char *last)
{
	unsigned int len = strlen(piece), i;
	char *text = kmalloc(nr * len + strlen(last) + 1, GFP_KERNEL);

	for (i = 0; i < nr; i++)
		memcpy(text + i * len, piece, len);
	strcpy(text + nr * len, last);
	return text;
}

static void long_texts_are_bounded(void)
{
	struct lnet_nidlist list;
	struct lnet_nid nid;
	char *text;

	text = repeat("*@gni ", 600, "9.9.9.9@tcp");
	CU_ASSERT_EQUAL(lnet_nidlist_parse(&list, text), 0);
	CU_ASSERT_EQUAL(list.nr, 601);
	CU_ASSERT_EQUAL(lnet_nid_parse(&nid, "9.9.9.9@tcp"), 0);
	CU_ASSERT(lnet_nidlist_match(&list, &nid));
	lnet_nidlist_free(&list);
	kfree(text);
	text = repeat(" ", LNET_NIDLIST_TEXT_MAX, "*@tcp");
	CU_ASSERT_EQUAL(lnet_nidlist_parse(&list, text), -EINVAL);
	kfree(text);
}

/* Random text of the characters that matter, in memory that ends with the text. */
static void garbage_does_no_harm(void)
{
	static const char letters[] = "0123456789.:/[]-,*@@  tcpgnifd";
	unsigned int round, i, accepted = 0;
	u64 seed = 3;

	for (round = 0; round < 200000; round++) {
		struct lnet_nidlist list;
		char text[40], *exact;
		unsigned int len;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		len = (seed >> 33) % 32;
		for (i = 0; i < len; i++) {
			seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
			text[i] = letters[(seed >> 33) % (sizeof(letters) - 1)];
		}
		strcpy(text + len, round & 1 ? "@tcp" : "@gni");
		exact = kstrdup(text, GFP_KERNEL);
		if (!lnet_nidlist_parse(&list, exact)) {
			accepted++;
			lnet_nidlist_match(&list, &LNET_NID_LO);
		}
		lnet_nidlist_free(&list);
		kfree(exact);
	}
	CU_ASSERT(accepted > 100);
}

UNIT_SUITE(nid_list,
	   { "lists match what they say", lists_match },
	   { "what means nothing is refused", bad_lists_refused },
	   { "an empty list matches nothing", empty_matches_nothing },
	   { "no memory is told", no_memory_is_told },
	   { "long texts are bounded", long_texts_are_bounded },
	   { "garbage does no harm", garbage_does_no_harm })
