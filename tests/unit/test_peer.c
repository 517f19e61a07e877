/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Peers: found by NID, created dynamically, merged and split by configuration, with a path for each
 * NI on their nets.
 */
#include "node.h"
#include "topology/topology.h"

static struct lnet_peer_ni *get(struct lnet *ln, const char *text)
{
	struct lnet_nid n = nid(text);

	return lnet_peer_ni_get(ln, &n);
}

static struct lnet_peer_ni *lookup(struct lnet *ln, const char *text)
{
	struct lnet_nid n = nid(text);

	return lnet_peer_ni_lookup(ln, &n);
}

static bool known(struct lnet *ln, const char *text)
{
	struct lnet_peer_ni *pni = lookup(ln, text);

	lnet_peer_ni_put(pni);
	return pni;
}

/* @list: NIDs, separated by blanks. */
static unsigned int parse(const char *list, struct lnet_nid *out)
{
	char copy[256], *save, *word;
	unsigned int nr = 0;

	strscpy(copy, list, sizeof(copy));
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
		out[nr++] = nid(word);
	return nr;
}

static int add(struct lnet *ln, const char *primary, const char *list, bool mr)
{
	struct lnet_nid nids[8], first = nid(primary);

	return lnet_peer_add(ln, &first, nids, parse(list, nids), mr);
}

static int del(struct lnet *ln, const char *primary, const char *list)
{
	struct lnet_nid nids[8], first = nid(primary);

	return lnet_peer_del(ln, &first, nids, parse(list, nids));
}

static unsigned int nr_paths(const struct lnet_peer_ni *pni)
{
	struct lnet_path *path;
	unsigned int nr = 0;

	list_for_each_entry(path, &pni->paths, link)
		nr++;
	return nr;
}

static void test_get(void)
{
	struct lnet *ln = node_begin(4);
	struct lnet_peer_ni *one, *again, *lo;

	node_ni_add(ln, "10.0.0.1@tcp");
	CU_ASSERT_PTR_NULL(lookup(ln, "10.0.0.2@tcp"));
	one = get(ln, "10.0.0.2@tcp");
	CU_ASSERT_PTR_NOT_NULL_FATAL(one);
	UNIT_EQUAL(one->peer->configured, 0, "made by traffic");
	UNIT_EQUAL(one->peer->mr, 0, "not multi-rail before it says so");
	UNIT_EQUAL(one->health, LNET_HEALTH_MAX, "health");
	again = get(ln, "10.0.0.2@tcp");
	CU_ASSERT_PTR_EQUAL(one, again);
	lo = get(ln, "10.0.0.1@tcp");		/* our own NID */
	CU_ASSERT(lnet_nid_is_lo(lnet_peer_ni_nid(lo)));
	CU_ASSERT_PTR_NULL(lnet_peer_ni_get(ln, &LNET_NID_ANY));
	lnet_peer_ni_put(one);
	lnet_peer_ni_put(again);
	lnet_peer_ni_put(lo);
	node_end(ln);
}

static void test_many(void)
{
	struct lnet *ln = node_begin(2);
	struct lnet_nid n = nid("10.0.0.0@tcp");
	struct lnet_peer_ni *pni;
	unsigned int i, nr = 0;
	struct lnet_peer *peer;

	node_ni_add(ln, "11.0.0.1@tcp");
	for (i = 1; i <= 3000; i++) {
		n.addr[0] = cpu_to_be32(0x0a000000 + i);
		lnet_peer_ni_put(lnet_peer_ni_get(ln, &n));
	}
	CU_ASSERT(ln->nid_bits > LNET_NID_HASH_BITS);
	UNIT_EQUAL(ln->nr_nids, 3001, "NIDs, the loopback's included");
	for (i = 1; i <= 3000; i++) {
		n.addr[0] = cpu_to_be32(0x0a000000 + i);
		pni = lnet_peer_ni_lookup(ln, &n);
		CU_ASSERT_FATAL(pni && lnet_nid_same(&pni->nid, &n));
		lnet_peer_ni_put(pni);
	}
	for (peer = lnet_peer_next(ln, NULL); peer; peer = lnet_peer_next(ln, peer))
		nr++;
	UNIT_EQUAL(nr, 3001, "peers in the list");
	node_end(ln);
}

struct visits {
	u32 wanted;			/* last number of the address of the peer to find */
	unsigned int nr;
};

static bool is_wanted(struct lnet_peer *peer, void *arg)
{
	struct visits *v = arg;

	lockdep_assert_held(&peer->sh->lock);
	v->nr++;
	return be32_to_cpu(peer->primary.addr[0]) == 0x0a000000 + v->wanted;
}

/* A walk continues behind the peer that it found, also after that peer has left the list. */
static void test_find(void)
{
	struct visits v = { .wanted = 20 };
	struct lnet *ln = node_begin(1);
	struct lnet_nid n = nid("10.0.0.1@tcp");
	struct lnet_peer *found;
	unsigned int i;

	node_ni_add(ln, "11.0.0.1@tcp");
	for (i = 1; i <= 40; i++) {
		n.addr[0] = cpu_to_be32(0x0a000000 + i);
		lnet_peer_ni_put(lnet_peer_ni_get(ln, &n));
	}
	found = lnet_peer_find(ln, NULL, is_wanted, &v);
	CU_ASSERT_FATAL(found != NULL);
	UNIT_EQUAL(be32_to_cpu(found->primary.addr[0]) & 0xff, 20, "the peer found");
	UNIT_EQUAL(v.nr, 21, "visits, with the loopback's peer");
	CU_ASSERT_EQUAL(lnet_peer_del(ln, &found->primary, NULL, 0), 0);
	v.wanted = 39;
	found = lnet_peer_find(ln, found, is_wanted, &v);
	CU_ASSERT_FATAL(found != NULL);
	UNIT_EQUAL(be32_to_cpu(found->primary.addr[0]) & 0xff, 39, "the next peer found");
	UNIT_EQUAL(v.nr, 40, "visits: none twice");
	CU_ASSERT_PTR_NULL(lnet_peer_find(ln, found, is_wanted, &v));
	UNIT_EQUAL(v.nr, 41, "visits to the end");
	node_end(ln);
}

static void test_paths(void)
{
	struct lnet_nid own = nid("10.0.0.1@tcp");
	struct lnet *ln = node_begin(2);
	struct lnet_peer_ni *a, *b;

	b = get(ln, "10.0.1.2@tcp1");
	UNIT_EQUAL(nr_paths(b), 0, "without an NI of the net");
	node_ni_add(ln, "10.0.0.1@tcp");
	node_ni_add(ln, "10.0.0.7@tcp");
	node_ni_add(ln, "10.0.1.1@tcp1");
	a = get(ln, "10.0.0.2@tcp");
	UNIT_EQUAL(nr_paths(a), 2, "one for each NI of its net");
	UNIT_EQUAL(nr_paths(b), 1, "for the NI that came later");
	UNIT_EQUAL(hweight64(a->peer->paths_used), 2, "bits");
	UNIT_EQUAL(lnet_ni_del(ln, &own), 0, "removing an NI");
	UNIT_EQUAL(nr_paths(a), 1, "then");
	UNIT_EQUAL(hweight64(a->peer->paths_used), 1, "bits then");
	UNIT_EQUAL(nr_paths(b), 1, "of another net");
	lnet_peer_ni_put(a);
	lnet_peer_ni_put(b);
	node_end(ln);
}

static void test_many_paths(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_peer_ni *pni = get(ln, "10.0.1.1@tcp");
	unsigned int i;
	char text[32];

	for (i = 1; i <= LNET_MAX_PATHS + 6; i++) {
		snprintf(text, sizeof(text), "10.0.0.%u@tcp", i);
		UNIT_EQUAL(node_ni_add(ln, text), 0, text);
	}
	UNIT_EQUAL(nr_paths(pni), LNET_MAX_PATHS + 6, "paths");
	UNIT_EQUAL(hweight64(pni->peer->paths_used), LNET_MAX_PATHS, "bits, some shared");
	lnet_peer_ni_put(pni);
	node_end(ln);
}

static void test_configure(void)
{
	static const struct {
		const char *primary, *list, *what;
		bool mr;
		int want;
	} rows[] = {
		{ "10.0.0.2@tcp", "10.0.1.2@tcp1 10.0.0.3@tcp", "a peer of three", true, 0 },
		{ "10.0.0.2@tcp", "10.0.1.2@tcp1", "what is there already", true, 0 },
		{ "10.0.0.2@tcp", "", "multi-rail taken back", false, -EPERM },
		{ "10.0.1.2@tcp1", "", "another's NID as primary", true, -EEXIST },
		{ "10.0.0.4@tcp", "10.0.0.3@tcp", "another's NID", true, -EEXIST },
		{ "10.0.0.4@tcp", "10.0.0.5@tcp", "two on a net without multi-rail", false,
		  -ENOTUNIQ },
		{ "10.0.0.4@tcp", "10.0.1.4@tcp1", "two on two nets without it", false, 0 },
		{ "10.0.0.4@tcp", "10.0.0.5@tcp", "a second on the net later", false, -ENOTUNIQ },
		{ "0@lo", "", "the loopback", true, -EINVAL },
		{ "10.0.0.1@tcp", "", "ourselves", true, -EINVAL },
		{ "10.0.0.6@tcp", "<?>", "any", true, -EINVAL },
	};
	struct lnet *ln = node_begin(4);
	unsigned int i;

	node_ni_add(ln, "10.0.0.1@tcp");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(add(ln, rows[i].primary, rows[i].list, rows[i].mr), rows[i].want,
			   rows[i].what);
	CU_ASSERT_FALSE(known(ln, "10.0.0.6@tcp"));
	UNIT_EQUAL(ln->nr_peers, 3, "peers, the loopback's included");
	node_end(ln);
}

/* Both NIDs were known as separate peers; the references of drivers stay valid. */
static void absorb(unsigned int nr_shards)
{
	struct lnet *ln = node_begin(nr_shards);
	struct lnet_peer_ni *a, *b;
	struct lnet_peer *peer;

	node_ni_add(ln, "10.0.0.1@tcp");
	node_ni_add(ln, "10.0.0.7@tcp");
	a = get(ln, "10.0.0.2@tcp");
	b = get(ln, "10.0.0.3@tcp");
	CU_ASSERT(a->peer != b->peer);
	UNIT_EQUAL(add(ln, "10.0.0.2@tcp", "10.0.0.3@tcp", true), 0, "joining");
	peer = a->peer;
	CU_ASSERT_PTR_EQUAL(b->peer, peer);
	CU_ASSERT_PTR_EQUAL(b->sh, peer->sh);
	UNIT_EQUAL(peer->nr_pnis, 2, "interfaces");
	UNIT_EQUAL(hweight64(peer->paths_used), 4, "paths with bits of their own");
	UNIT_EQUAL(peer->mr, 1, "multi-rail");
	UNIT_EQUAL(ln->nr_peers, 2, "peers");
	CU_ASSERT_TRUE(known(ln, "10.0.0.3@tcp"));
	lnet_peer_ni_put(a);
	lnet_peer_ni_put(b);
	node_end(ln);
}

static void test_absorb(void)
{
	absorb(1);
	absorb(7);
	absorb(16);
}

static void test_absorb_other(void)
{
	struct lnet *ln = node_begin(4);
	struct lnet_nid primary = nid("10.0.0.2@tcp");
	struct lnet_peer_ni *b;

	node_ni_add(ln, "10.0.0.1@tcp");
	b = get(ln, "10.0.0.3@tcp");
	UNIT_EQUAL(add(ln, "10.0.0.2@tcp", "10.0.0.3@tcp", true), 0, "a primary that is new");
	CU_ASSERT(lnet_nid_same(&b->peer->primary, &primary));
	UNIT_EQUAL(b->peer->nr_pnis, 2, "interfaces");
	lnet_peer_ni_put(b);
	node_end(ln);
}

static void test_absorb_busy(void)
{
	struct lnet *ln = node_begin(4);
	struct lnet_peer_ni *a, *b;

	node_ni_add(ln, "10.0.0.1@tcp");
	a = get(ln, "10.0.0.2@tcp");
	b = get(ln, "10.0.0.3@tcp");
	b->nr_wait = 1;
	UNIT_EQUAL(add(ln, "10.0.0.2@tcp", "10.0.0.3@tcp", true), -EBUSY, "something is under way");
	b->nr_wait = 0;
	UNIT_EQUAL(add(ln, "10.0.0.2@tcp", "10.0.0.3@tcp", true), 0, "nothing is");
	lnet_peer_ni_put(a);
	lnet_peer_ni_put(b);
	node_end(ln);
}

static void test_remove(void)
{
	struct lnet *ln = node_begin(4);
	struct lnet_peer_ni *held;

	node_ni_add(ln, "10.0.0.1@tcp");
	add(ln, "10.0.0.2@tcp", "10.0.0.3@tcp 10.0.0.4@tcp", true);
	held = get(ln, "10.0.0.3@tcp");
	UNIT_EQUAL(del(ln, "10.0.0.3@tcp", ""), -ENODEV, "by another NID than the primary");
	UNIT_EQUAL(del(ln, "10.0.0.9@tcp", ""), -ENOENT, "unknown");
	UNIT_EQUAL(del(ln, "10.0.0.2@tcp", "10.0.0.9@tcp"), -ENOENT, "a NID it has not");
	UNIT_EQUAL(del(ln, "0@lo", ""), -ENOENT, "the loopback");
	UNIT_EQUAL(del(ln, "10.0.0.1@tcp", ""), -ENOENT, "ourselves");
	UNIT_EQUAL(del(ln, "10.0.0.2@tcp", "10.0.0.3@tcp"), 0, "one NID");
	CU_ASSERT_FALSE(known(ln, "10.0.0.3@tcp"));
	CU_ASSERT_TRUE(known(ln, "10.0.0.4@tcp"));
	CU_ASSERT(held->deleted && nr_paths(held) == 0);
	UNIT_EQUAL(fake_lnd.nr_gone, 1, "drivers told");
	UNIT_EQUAL(del(ln, "10.0.0.2@tcp", "10.0.0.2@tcp"), 0, "the primary: all");
	CU_ASSERT_FALSE(known(ln, "10.0.0.2@tcp") || known(ln, "10.0.0.4@tcp"));
	UNIT_EQUAL(fake_lnd.nr_gone, 3, "drivers told");
	UNIT_EQUAL(ln->nr_peers, 1, "peers: the loopback's");
	CU_ASSERT(held->peer->deleted == 0 || held->peer->nr_pnis == 0);
	lnet_peer_ni_put(held);
	node_end(ln);
}

static void test_no_memory(void)
{
	struct lnet_nid far = nid("10.0.0.2@tcp");
	struct lnet *ln = node_begin(2);
	struct lnet_peer_ni *pni;
	unsigned int nth = 0;
	int err;

	node_ni_add(ln, "10.0.0.1@tcp");
	do {
		unit_fail_alloc(++nth);
		pni = lnet_peer_ni_get(ln, &far);
		unit_fail_alloc(0);
	} while (!pni && nth < 100);
	CU_ASSERT(nth > 3);
	lnet_peer_ni_put(pni);
	nth = 0;
	do {
		unit_fail_alloc(++nth);
		err = add(ln, "10.0.0.4@tcp", "10.0.0.5@tcp 10.0.0.2@tcp", true);
		unit_fail_alloc(0);
		if (err)
			UNIT_EQUAL(err, -ENOMEM, "configuring with an allocation failing");
	} while (err && nth < 100);
	CU_ASSERT(nth > 3);
	UNIT_EQUAL(ln->nr_peers, 2, "peers");
	node_end(ln);
}

/* Returns the length of the longest chain in the hash of NIDs. */
static unsigned int longest_chain(const struct lnet *ln)
{
	unsigned int i, nr, most = 0;
	struct hlist_node *at;

	for (i = 0; i < 1U << ln->nid_bits; i++) {
		nr = 0;
		hlist_for_each(at, &ln->nids[i])
			nr++;
		most = max(most, nr);
	}
	return most;
}

/* A host chose 500 addresses with equal bits in lnet_nid_hash(), which has no key. */
static void test_chosen(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_peer_ni *pni;
	unsigned int i, nr = 0;
	struct lnet_nid n;
	char text[32];

	for (i = 0; nr < 500; i++) {
		snprintf(text, sizeof(text), "2001:db8::%x:%x@tcp", i >> 16, i & 0xffff);
		n = nid(text);
		if (lnet_nid_hash(&n) >> 24)
			continue;
		pni = lnet_peer_ni_get(ln, &n);
		CU_ASSERT_PTR_NOT_NULL_FATAL(pni);
		lnet_peer_ni_put(pni);
		nr++;
	}
	UNIT_EQUAL(longest_chain(ln) <= 16, true, "the longest chain is short");
	node_end(ln);
}

UNIT_SUITE(peer,
	{ "addresses that a host chooses do not share one chain", test_chosen },
	{ "is made by traffic and found again", test_get },
	{ "is found among thousands", test_many },
	{ "is found by a walk that goes on where it ended", test_find },
	{ "has a path for each NI of the net", test_paths },
	{ "shares path numbers when there are too many", test_many_paths },
	{ "is configured, or refused with the reason", test_configure },
	{ "takes in peers that traffic made, from any shard", test_absorb },
	{ "takes over a peer that traffic made when its primary NID is new", test_absorb_other },
	{ "does not take in a busy one", test_absorb_busy },
	{ "is removed, by NID or whole; handles stay good", test_remove },
	{ "is not made without memory", test_no_memory },
)
