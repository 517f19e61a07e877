/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of lnet/topology/udsp.c: which policies are valid, their order, and their effect on
 * existing and future paths.
 */
#include "node.h"
#include "topology/topology.h"
#include "path/path.h"

#define NO LNET_UDSP_NONE

static struct lnet_udsp_rule rule_of(const char *src, const char *dst, const char *rte,
				     s64 priority)
{
	struct lnet_udsp_rule r = { .has_priority = priority != NO, .priority = (u32)priority };

	strscpy(r.text[LNET_UDSP_SRC], src ? src : "", LNET_UDSP_TEXT);
	strscpy(r.text[LNET_UDSP_DST], dst ? dst : "", LNET_UDSP_TEXT);
	strscpy(r.text[LNET_UDSP_RTE], rte ? rte : "", LNET_UDSP_TEXT);
	if (priority == NO)
		r.priority = 0;
	return r;
}

static int add(struct lnet *ln, int idx, const char *src, const char *dst, s64 priority)
{
	struct lnet_udsp_rule r = rule_of(src, dst, NULL, priority);

	return lnet_udsp_add(ln, idx, &r);
}

/* ---- valid policies -------------------------------------------------------------------------- */

static const struct {
	const char *src, *dst, *rte;
	s64 priority;
	int rc;
} kinds[] = {
	{ "tcp", NULL, NULL, 0, 0 },
	{ "tcp[1-3]", NULL, NULL, 4294967295LL, 0 },
	{ "10.0.0.*@tcp", NULL, NULL, 7, 0 },
	{ NULL, "o2ib", NULL, 1, 0 },
	{ NULL, "fd00::/64@tcp", NULL, 1, 0 },
	{ "*@tcp", "10.[1-2].0.*@tcp", NULL, NO, 0 },
	{ "tcp", "10.0.0.0/8@tcp", NULL, NO, 0 },
	{ NULL, "10.0.0.1@tcp", "10.0.0.9@tcp1", NO, 0 },
	{ NULL, NULL, NULL, 0, -EINVAL },
	{ NULL, NULL, "tcp", NO, -EINVAL },
	{ NULL, NULL, "tcp", 1, -EINVAL },
	{ "tcp", NULL, "tcp", NO, -EINVAL },
	{ "tcp", "tcp", "tcp", NO, -EINVAL },
	{ "tcp", NULL, NULL, NO, -EINVAL },
	{ NULL, "tcp", NULL, NO, -EINVAL },
	{ "tcp", "tcp1", NULL, 0, -EINVAL },
	{ NULL, "tcp", "tcp", 3, -EINVAL },
	{ "xyz", NULL, NULL, 0, -EINVAL },
	{ "10.0.0.1", NULL, NULL, 0, -EINVAL },
	{ "10.0.0.1@tcp 10.0.0.2@tcp", NULL, NULL, 0, -EINVAL },
	{ "tcp tcp1", NULL, NULL, 0, -EINVAL },
	{ "tcp", "10.0.0.[2-1]@tcp", NULL, NO, -EINVAL },
};

static void test_kinds(void)
{
	struct lnet *ln = node_begin(2);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct lnet_udsp_rule r = rule_of(kinds[i].src, kinds[i].dst, kinds[i].rte,
						  kinds[i].priority), back;

		UNIT_EQUAL(lnet_udsp_add(ln, -1, &r), kinds[i].rc, kinds[i].src);
		if (kinds[i].rc) {
			UNIT_EQUAL(lnet_udsp_get(ln, 0, &back), -ENOENT, "nothing was added");
			continue;
		}
		UNIT_EQUAL(lnet_udsp_get(ln, 0, &back), 0, "there");
		CU_ASSERT(!memcmp(&r, &back, sizeof(r)));
		UNIT_EQUAL(lnet_udsp_add(ln, -1, &r), -EALREADY, "the same once more");
		UNIT_EQUAL(lnet_udsp_del(ln, 0), 0, "deleted");
	}
	node_end(ln);
}

/* ---- order ----------------------------------------------------------------------------------- */

static void expect_order(struct lnet *ln, const char *want)
{
	struct lnet_udsp_rule r;
	char got[64] = "";
	unsigned int i;

	for (i = 0; !lnet_udsp_get(ln, i, &r); i++)
		scnprintf(got + strlen(got), sizeof(got) - strlen(got), "%s:%u ",
			  r.text[LNET_UDSP_SRC], r.priority);
	UNIT_TEXT(got, want, "rules in order");
}

static void test_order(void)
{
	struct lnet *ln = node_begin(1);

	add(ln, -1, "tcp", NULL, 1);
	add(ln, -1, "tcp1", NULL, 2);
	add(ln, 0, "tcp2", NULL, 3);
	add(ln, 1, "tcp3", NULL, 4);
	add(ln, 99, "tcp4", NULL, 5);
	expect_order(ln, "tcp2:3 tcp3:4 tcp:1 tcp1:2 tcp4:5 ");
	UNIT_EQUAL(add(ln, 0, "tcp0", NULL, 9), 0, "the same net, another priority");
	expect_order(ln, "tcp2:3 tcp3:4 tcp0:9 tcp1:2 tcp4:5 ");
	UNIT_EQUAL(lnet_udsp_del(ln, 1), 0, "del");
	UNIT_EQUAL(lnet_udsp_del(ln, 4), -ENOENT, "past the end");
	UNIT_EQUAL(lnet_udsp_del(ln, -2), -ENOENT, "no index");
	expect_order(ln, "tcp2:3 tcp0:9 tcp1:2 tcp4:5 ");
	UNIT_EQUAL(lnet_udsp_del(ln, -1), 0, "all");
	expect_order(ln, "");
	UNIT_EQUAL(lnet_udsp_del(ln, -1), 0, "all of none");
	node_end(ln);
}

static void test_limit(void)
{
	struct lnet *ln = node_begin(1);
	char net[16];
	unsigned int i;

	for (i = 0; i < LNET_UDSP_MAX; i++) {
		scnprintf(net, sizeof(net), "tcp%u", i);
		UNIT_EQUAL(add(ln, -1, net, NULL, i), 0, net);
	}
	UNIT_EQUAL(add(ln, 0, "o2ib", NULL, 0), -ENOSPC, "one more");
	UNIT_EQUAL(add(ln, 0, "tcp5", NULL, 77), 0, "another priority needs no room");
	node_end(ln);
}

static void test_no_memory(void)
{
	struct lnet *ln = node_begin(1);
	unsigned int nth;
	int rc;

	add(ln, -1, "tcp7", NULL, 7);
	for (nth = 1; nth < 10; nth++) {
		unit_fail_alloc(nth);
		rc = add(ln, 0, "tcp", NULL, 1);
		unit_fail_alloc(0);
		if (!rc)
			break;
		UNIT_EQUAL(rc, -ENOMEM, "add");
		expect_order(ln, "tcp7:7 ");
	}
	CU_ASSERT(nth > 2 && nth < 10);
	unit_fail_alloc(1);
	UNIT_EQUAL(lnet_udsp_del(ln, 0), -ENOMEM, "del");
	unit_fail_alloc(0);
	expect_order(ln, "tcp:1 tcp7:7 ");
	node_end(ln);
}

static void test_set(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_udsp_rule r[3];

	add(ln, -1, "tcp9", NULL, 7);
	r[0] = rule_of("tcp1", NULL, NULL, 5);
	r[1] = rule_of("tcp2", NULL, NULL, 6);
	r[2] = rule_of("tcp2", "tcp3", NULL, 6);	/* no such kind */
	UNIT_EQUAL(lnet_udsp_set(ln, r, 3), -EINVAL, "one is wrong");
	expect_order(ln, "tcp9:7 ");
	UNIT_EQUAL(lnet_udsp_set(ln, r, 2), 0, "all right");
	expect_order(ln, "tcp1:5 tcp2:6 ");
	UNIT_EQUAL(lnet_udsp_set(ln, NULL, 0), 0, "none");
	expect_order(ln, "");
	node_end(ln);
}

/* ---- selection ------------------------------------------------------------------------------- */

/*
 *	10.0.0.1@tcp  10.0.0.2@tcp	two of ours on one net, one on another:
 *	10.1.0.1@tcp1			the peer has 10.0.0.8, 10.0.0.9@tcp and 10.1.0.8@tcp1
 */
static struct lnet *three_begin(void)
{
	struct lnet *ln = node_begin(4);
	struct lnet_nid nids[2] = { nid("10.0.0.9@tcp"), nid("10.1.0.8@tcp1") };
	struct lnet_nid first = nid("10.0.0.8@tcp");

	node_ni_add(ln, "10.0.0.1@tcp");
	node_ni_add(ln, "10.0.0.2@tcp");
	node_ni_add(ln, "10.1.0.1@tcp1");
	UNIT_EQUAL(lnet_peer_add(ln, &first, nids, 2, true), 0, "peer");
	return ln;
}

/* Sets random round-robin positions, as if others had used the interfaces meanwhile. */
static void turns_shuffle(struct lnet *ln, struct lnet_peer *peer)
{
	static u64 seed = 1;
	struct lnet_peer_ni *pni;
	struct lnet_ni *ni;

	list_for_each_entry(ni, &ln->nis, link)
		ni->sh[peer->sh->ix].rr_pos = (seed = seed * 6364136223846793005ULL + 1) >> 60;
	list_for_each_entry(pni, &peer->pnis, link)
		pni->rr_pos = (seed = seed * 6364136223846793005ULL + 1) >> 60;
}

/* Prints the pairs that many selections return, as "1-8 2-9": last bytes, 3 for tcp1. */
static void chosen(struct lnet *ln, char *text, size_t size, unsigned int *decider)
{
	struct lnet_nid first = nid("10.0.0.8@tcp");
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, &first);
	struct lnet_select s = { .peer = pni->peer, .cpt = -1, .request = 1 };
	bool seen[4][10] = { 0 };
	unsigned int i, n, p;

	for (i = 0; i < 60; i++) {
		struct lnet_path *path;

		spin_lock(&pni->sh->lock);
		turns_shuffle(ln, pni->peer);
		path = lnet_select(pni->sh, &s);
		spin_unlock(&pni->sh->lock);
		n = be32_to_cpu(path->ni->nid.addr[0]) & 0xff;
		p = be32_to_cpu(path->pni->nid.addr[0]) & 0xff;
		seen[lnet_net_num(path->ni->net) ? 3 : n][p] = true;
	}
	*decider = s.decided_by;
	*text = 0;
	for (n = 0; n < 4; n++)
		for (p = 0; p < 10; p++)
			if (seen[n][p])
				scnprintf(text + strlen(text), size - strlen(text), "%u-%u ", n, p);
	lnet_peer_ni_put(pni);
}

#define RULES 4
static const struct {
	const char *name;
	struct { const char *src, *dst; s64 priority; } rule[RULES];
	const char *want;
	unsigned int decider;
} choices[] = {
	{ "no rule: all", { { NULL } }, "1-8 1-9 2-8 2-9 3-8 ", LNET_RANK_round_robin },
	{ "priority of our net", { { "tcp1", NULL, 0 } }, "3-8 ", LNET_RANK_priority },
	{ "priority of the peer's net", { { NULL, "tcp1", 5 } }, "3-8 ", LNET_RANK_priority },
	{ "a rule that all match changes nothing",
	  { { "tcp[0-1]", NULL, 3 } },
	  "1-8 1-9 2-8 2-9 3-8 ",
	  LNET_RANK_round_robin },
	{ "priority of our NID",
	  { { "10.0.0.2@tcp", NULL, 0 } },
	  "2-8 2-9 ",
	  LNET_RANK_round_robin },
	{ "priority of the peer's NID",
	  { { NULL, "*.*.*.9@tcp", 0 } },
	  "1-9 2-9 ",
	  LNET_RANK_round_robin },
	{ "the lower number is the better one",
	  { { "tcp", NULL, 2 }, { "tcp1", NULL, 1 } },
	  "3-8 ",
	  LNET_RANK_priority },
	{ "of two rules for one net the lower index counts",
	  { { "tcp[0-3]", NULL, 2 }, { "tcp1", NULL, 1 }, { "o2ib", NULL, 0 } },
	  "1-8 1-9 2-8 2-9 3-8 ",
	  LNET_RANK_round_robin },
	{ "our NIDs of the best net",
	  { { "tcp", NULL, 1 }, { "10.0.0.1@tcp", NULL, 9 }, { "10.1.0.1@tcp1", NULL, 0 } },
	  "1-8 1-9 ",
	  LNET_RANK_round_robin },
	{ "the peer's net before ours",
	  { { "tcp", NULL, 1 }, { NULL, "tcp1", 9 } },
	  "3-8 ",
	  LNET_RANK_priority },
	{ "our NID before the peer's NID",
	  { { NULL, "10.0.0.9@tcp", 0 }, { "10.1.0.1@tcp1", NULL, 4 } },
	  "3-8 ",
	  LNET_RANK_priority },
	{ "a pair is preferred",
	  { { "10.0.0.1@tcp", "10.0.0.9@tcp", NO } },
	  "1-9 ",
	  LNET_RANK_preferred },
	{ "pairs of ranges",
	  { { "tcp", "10.0.0.[8-9]@tcp", NO } },
	  "1-8 1-9 2-8 2-9 ",
	  LNET_RANK_round_robin },
	{ "preferred by any of two rules",
	  { { "10.0.0.1@tcp", "10.0.0.9@tcp", NO }, { "10.0.0.2@tcp", "10.0.0.8@tcp", NO } },
	  "1-9 2-8 ",
	  LNET_RANK_round_robin },
	{ "priority before preference",
	  { { "10.0.0.1@tcp", "10.0.0.9@tcp", NO }, { "tcp1", NULL, 0 } },
	  "3-8 ",
	  LNET_RANK_priority },
	{ "preference among those of equal priority",
	  { { "10.0.0.1@tcp", "10.0.0.9@tcp", NO }, { "tcp", NULL, 0 } },
	  "1-9 ",
	  LNET_RANK_preferred },
	{ "a rule for others changes nothing",
	  { { "10.7.*.*@tcp", NULL, 0 }, { "tcp", "10.9.0.0/16@tcp", NO } },
	  "1-8 1-9 2-8 2-9 3-8 ",
	  LNET_RANK_round_robin },
};

static void rules_add(struct lnet *ln, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < RULES; k++)
		if (choices[i].rule[k].src || choices[i].rule[k].dst)
			UNIT_EQUAL(add(ln, -1, choices[i].rule[k].src, choices[i].rule[k].dst,
				       choices[i].rule[k].priority), 0, choices[i].name);
}

/* Policies are added to existing interfaces and peers. */
static void test_choices(void)
{
	struct lnet *ln = three_begin();
	unsigned int i, decider;
	char got[64];

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		rules_add(ln, i);
		chosen(ln, got, sizeof(got), &decider);
		UNIT_TEXT(got, choices[i].want, choices[i].name);
		UNIT_EQUAL(decider, choices[i].decider, choices[i].name);
		lnet_udsp_del(ln, -1);
		chosen(ln, got, sizeof(got), &decider);
		UNIT_TEXT(got, choices[0].want, "rules are gone");
	}
	node_end(ln);
}

/* Interfaces and peers are added to existing policies. */
static void test_later(void)
{
	unsigned int i, decider;
	char got[64];

	for (i = 0; i < ARRAY_SIZE(choices); i++) {
		struct lnet *ln = node_begin(4);
		struct lnet_nid nids[2] = { nid("10.0.0.9@tcp"), nid("10.1.0.8@tcp1") };
		struct lnet_nid first = nid("10.0.0.8@tcp");

		rules_add(ln, i);
		node_ni_add(ln, "10.0.0.1@tcp");
		UNIT_EQUAL(lnet_peer_add(ln, &first, nids, 2, true), 0, "peer");
		node_ni_add(ln, "10.1.0.1@tcp1");
		node_ni_add(ln, "10.0.0.2@tcp");
		chosen(ln, got, sizeof(got), &decider);
		UNIT_TEXT(got, choices[i].want, choices[i].name);
		node_end(ln);
	}
}

static void test_health_first(void)
{
	struct lnet *ln = three_begin();
	struct lnet_nid n = nid("10.1.0.1@tcp1");
	unsigned int decider;
	char got[64];

	add(ln, -1, "tcp1", NULL, 0);
	lnet_health_set_ni(ln, &n, 900);
	chosen(ln, got, sizeof(got), &decider);
	UNIT_TEXT(got, "1-8 1-9 2-8 2-9 ", "health beats policy");
	lnet_tunable_set(ln, "health_range", 100);
	chosen(ln, got, sizeof(got), &decider);
	UNIT_TEXT(got, "3-8 ", "within the health range the policy decides");
	UNIT_EQUAL(decider, LNET_RANK_priority, "decider");
	node_end(ln);
}

/* ---- shows and routes ------------------------------------------------------------------------ */

static void expect_info(struct lnet *ln, enum lnet_udsp_end end, const char *text, s64 net, s64 one)
{
	struct lnet_nid n = nid(text);
	struct lnet_udsp_info info;

	mutex_lock(&ln->cfg_mutex);
	lnet_udsp_info(ln, end, &n, &info);
	mutex_unlock(&ln->cfg_mutex);
	UNIT_EQUAL(info.net_priority, net, text);
	UNIT_EQUAL(info.nid_priority, one, text);
}

static void test_info(void)
{
	struct lnet *ln = three_begin();

	expect_info(ln, LNET_UDSP_SRC, "10.0.0.1@tcp", NO, NO);
	add(ln, -1, "tcp", NULL, 4);
	add(ln, -1, "10.0.0.*@tcp", NULL, 0);
	add(ln, -1, "10.0.0.1@tcp", NULL, 6);
	add(ln, -1, NULL, "tcp[0-1]", 4294967295LL);
	add(ln, -1, NULL, "10.1.0.8@tcp1", 3);
	expect_info(ln, LNET_UDSP_SRC, "10.0.0.1@tcp", 4, 0);
	expect_info(ln, LNET_UDSP_SRC, "10.1.0.1@tcp1", NO, NO);
	expect_info(ln, LNET_UDSP_DST, "10.0.0.1@tcp", 4294967295LL, NO);
	expect_info(ln, LNET_UDSP_DST, "10.1.0.8@tcp1", 4294967295LL, 3);
	node_end(ln);
}

static bool prefers_router(struct lnet *ln, const char *gw, const char *dst)
{
	struct lnet_nid g = nid(gw);
	struct lnet_peer_ni *pni = lnet_peer_ni_lookup(ln, &g), far = { .nid = nid(dst) };
	struct lnet_path path = { .ni = ln->lo, .pni = &far, .hop = pni };

	spin_lock(&pni->sh->lock);
	lnet_udsp_path(ln, &path);
	spin_unlock(&pni->sh->lock);
	lnet_peer_ni_put(pni);
	return path.policy & 1;		/* twice the priority, plus 1 */
}

static void test_routers(void)
{
	struct lnet *ln = three_begin();
	struct lnet_udsp_rule r = rule_of(NULL, "*@o2ib[1-2]", "10.1.0.8@tcp1", NO);

	CU_ASSERT(!prefers_router(ln, "10.0.0.8@tcp", "1.1.1.1@o2ib2"));
	UNIT_EQUAL(lnet_udsp_add(ln, -1, &r), 0, "rule");
	CU_ASSERT(prefers_router(ln, "10.0.0.8@tcp", "1.1.1.1@o2ib2"));
	CU_ASSERT(!prefers_router(ln, "10.0.0.8@tcp", "1.1.1.1@o2ib3"));
	r = rule_of(NULL, "*@o2ib3", "10.9.0.8@tcp1", NO);
	UNIT_EQUAL(lnet_udsp_add(ln, -1, &r), 0, "another router");
	CU_ASSERT(!prefers_router(ln, "10.0.0.8@tcp", "1.1.1.1@o2ib3"));
	node_end(ln);
}

UNIT_SUITE(udsp,
	   { "four kinds of rules, and none else", test_kinds },
	   { "rules stand where they are put; later ones move", test_order },
	   { "there is room for so many", test_limit },
	   { "without memory nothing changes", test_no_memory },
	   { "all are replaced, or none", test_set },
	   { "lnt-030: what is chosen with rules, and without them again", test_choices },
	   { "lnt-030: the same when interfaces and peers come later", test_later },
	   { "lnt-030: health comes before rules", test_health_first },
	   { "priorities as they are shown", test_info },
	   { "routers that are preferred", test_routers })
