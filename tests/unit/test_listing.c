/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does the node find NIDs in a list, and bound the lists and the NIDs of all peers? */
#include "node.h"
#include "shard/shard.h"
#include "topology/topology.h"
#include "service/service.h"

static int push(struct lnet *ln, const char *from, struct lnet_sbuf *c, u32 len)
{
	struct lnet_nid first = nid(from);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &first);
	struct lnet_pass p;
	int rc;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	pni->peer->disc.acked = 1000;	/* it needs no push */
	rc = lnet_disc_take(&p, pni->peer, c, len, true);
	lnet_disc_step(&p, pni->peer);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
	return rc;
}

/* @from replies to a ping with the list @c. True: the node takes it as a reply. */
static bool answered(struct lnet *ln, const char *from, struct lnet_sbuf *c, u32 len)
{
	struct lnet_nid first = nid(from);
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &first);
	struct lnet_op *op;
	struct lnet_pass p;
	bool taken;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	op = lnet_op_take(p.sh);
	lnet_sbuf_get(c);
	op->sbuf = c;
	op->mlength = len;
	op->outcome = LNET_OK;
	taken = lnet_disc_ping_done(&p, pni->peer, op);
	lnet_op_free(op);
	lnet_pass_end(&p);
	lnet_peer_ni_put(pni);
	return taken;
}

/*
 * Lists wait while the configuration is busy: lists_budget bounds the lists of all peers together.
 */
static void test_many_lists(void)
{
	u32 len, short_len, nr = 0, i, size;
	struct lnet *ln = node_begin(1);
	struct lnet_sbuf *c, *few;
	char text[32];

	UNIT_EQUAL(lnet_tunable_set(ln, "lists_budget", 65536), 0, "lists_budget");
	c = node_list_from(100, 64, false, &len);
	few = node_list_from(100, 4, false, &short_len);
	size = sizeof(*c) + c->len;
	mutex_lock(&ln->cfg_mutex);
	for (i = 1; i <= 100; i++) {
		snprintf(text, sizeof(text), "10.8.0.%u@tcp", i);
		nr += !push(ln, text, c, len);
	}
	UNIT_EQUAL(nr, 65536 / size, "lists that have room");
	UNIT_EQUAL(ln->disc.list_bytes, nr * size, "their memory");
	UNIT_EQUAL(lnet_stat_sum(ln, LNET_C_lists_denied), 100 - nr, "others");
	UNIT_EQUAL(push(ln, "10.8.0.1@tcp", c, len), -ENOBUFS, "not even in its own place");
	UNIT_EQUAL(answered(ln, "10.8.0.1@tcp", c, len), true, "the ping counts as answered");
	UNIT_EQUAL(push(ln, "10.8.1.1@tcp", few, short_len), 0, "a short list has room");
	mutex_unlock(&ln->cfg_mutex);
	for (i = 0; i < 100; i++) {
		node_env.now_ns += 5 * NSEC_PER_MSEC;
		node_work(ln);
	}
	UNIT_EQUAL(ln->disc.list_bytes, 0, "all are merged");
	UNIT_EQUAL(push(ln, "10.8.0.100@tcp", c, len), 0, "there is room again");
	lnet_sbuf_put(c);
	lnet_sbuf_put(few);
	node_end(ln);
}

/* Each NID replies. All peers together get about 4 x peers_max NIDs, and each may have 4. */
static void test_many_proven(void)
{
	struct lnet_nid first[2] = { nid("10.9.0.1@tcp"), nid("10.9.5.1@tcp") };
	struct lnet *ln = node_begin(1);
	struct lnet_peer_ni *pni;
	unsigned int i, k;
	struct lnet_sbuf *c;
	u32 len;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.9@tcp"), 0, "interface");
	UNIT_EQUAL(lnet_tunable_set(ln, "peers_max", 20), 0, "peers_max");
	for (k = 0; k < 2; k++) {
		c = node_list_from(1000 * k, 256, false, &len);
		pni = lnet_peer_ni_get(ln, &first[k]);
		UNIT_EQUAL(push(ln, k ? "10.9.5.1@tcp" : "10.9.0.1@tcp", c, len), 0, "taken");
		for (i = 0; i < 200; i++) {
			node_env.now_ns += 5 * NSEC_PER_MSEC;
			node_work(ln);
			node_answer(ln, c->data, len, NULL);
		}
		if (k)
			UNIT_EQUAL(pni->peer->nr_pnis, 4, "NIDs of the second peer");
		else
			CU_ASSERT(pni->peer->nr_pnis > 60 && pni->peer->nr_pnis <= 80);
		CU_ASSERT(ln->nr_nids <= 80 + 4 + 20);	/* including those that wait for a proof */
		lnet_peer_ni_put(pni);
		lnet_sbuf_put(c);
	}
	node_end(ln);
}

/* The largest number of slots between two free ones: no search visits more. */
static unsigned int longest_run(const struct lnet_listing *l)
{
	unsigned int i, run = 0, most = 0;

	for (i = 0; i < 2 * LNET_LISTING_SLOTS; i++) {
		run = l->slot[i % LNET_LISTING_SLOTS] ? run + 1 : 0;
		most = max(most, run);
	}
	return most;
}

/* A host lists 256 addresses with equal bits in lnet_nid_hash(), which has no key. */
static void test_chosen(void)
{
	struct lnet_listing *l = kvzalloc(sizeof(*l), GFP_KERNEL);
	struct lnet *ln = node_begin(1);
	unsigned int i, nr = 0;
	struct lnet_nid n;
	char text[48];

	for (i = 0; nr < LNET_LISTED_MAX; i++) {
		snprintf(text, sizeof(text), "2001:db8::%x:%x@tcp", i >> 16, i & 0xffff);
		n = nid(text);
		if (lnet_nid_hash(&n) % LNET_LISTING_SLOTS == 7)
			l->nis[nr++].nid = n;
	}
	lnet_listing_fill(ln, l, nr);
	for (i = 0; i < nr; i++)
		CU_ASSERT(lnet_listing_find(ln, l, &l->nis[i].nid) == &l->nis[i]);
	CU_ASSERT_PTR_NULL(lnet_listing_find(ln, l, &LNET_NID_LO));
	UNIT_EQUAL(longest_run(l) <= 64, true, "the longest search is short");
	node_end(ln);
	kvfree(l);
}

UNIT_SUITE(listing,
	{ "NIDs that a host chooses are found in few steps", test_chosen },
	{ "lists_budget bounds the lists that wait", test_many_lists },
	{ "peers_max bounds the proven NIDs of all peers together", test_many_proven })
