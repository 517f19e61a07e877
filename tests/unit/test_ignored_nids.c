/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NIDs of a peer that were ignored, because the peer or the node had too many, are merged later. */
#include "node.h"
#include "shard/shard.h"
#include "service/service.h"

#define FULL (LNET_FEAT_NI_STATUS | LNET_FEAT_RTE_DISABLED | LNET_FEAT_MULTI_RAIL | \
	      LNET_FEAT_DISCOVERY)

/* A ping info of @first and @nr - 1 NIDs that cannot be pinged; the caller frees it. */
static struct lnet_sbuf *list_of(const struct lnet_nid *first, unsigned int at, unsigned int nr,
				 u32 *len)
{
	struct lnet_pinginfo_ni nis[64] = { { .nid = *first, .status = LNET_NI_UP } };
	struct lnet_sbuf *c = lnet_sbuf_new(64 * nr);
	unsigned int i;
	char text[32];
	int rc;

	for (i = 1; i < nr; i++) {
		snprintf(text, sizeof(text), "10.8.%u.%u@tcp9", at, i);
		nis[i] = (struct lnet_pinginfo_ni){ .nid = nid(text), .status = LNET_NI_UP };
	}
	rc = lnet_pinginfo_encode(c->data, 64 * nr, FULL, LNET_PID, 1, nis, nr);
	CU_ASSERT_FATAL(rc > 0);
	*len = (u32)rc;
	return c;
}

static void push_list(struct lnet *ln, struct lnet_peer_ni *pni, struct lnet_sbuf *c, u32 len)
{
	struct lnet_pass p;

	lnet_pass_begin(&p, ln, LNET_PASS_DRIVER);
	lnet_enter_pni(&p, pni);
	pni->peer->disc.acked = 1000;	/* no push is needed */
	UNIT_EQUAL(lnet_disc_take(&p, pni->peer, c, len, true), 0, "taken");
	lnet_disc_step(&p, pni->peer);
	lnet_pass_end(&p);
	node_work(ln);
}

/* A peer replaces as many NIDs as it may have: it gets the new ones when the old ones have gone. */
static void test_replaces_all(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_nid first = nid("10.9.0.1@tcp");
	struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &first);
	struct lnet_sbuf *c;
	unsigned int i;
	u32 len;

	ln->tun.max_interfaces = 16;
	for (i = 0; i < 2; i++) {
		c = list_of(&first, i, 32, &len);
		push_list(ln, pni, c, len);
		lnet_sbuf_put(c);
		UNIT_EQUAL(!!pni->peer->disc.data, i, "the second list waits");
		UNIT_EQUAL(pni->peer->disc.merge_free, 0, "merge_pause bounds merges of it");
		node_env.now_ns += 10 * NSEC_PER_MSEC;
		node_work(ln);
		UNIT_EQUAL(pni->peer->nr_pnis, 32, "NIDs");
	}
	lnet_peer_ni_put(pni);
	node_end(ln);
}

/* The node ignored NIDs of a peer: it requests them when it has room, and accepts the same list. */
static void test_room_later(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_nid first = nid("10.9.0.1@tcp");
	struct lnet_peer_ni *pni;
	struct lnet_sbuf *c;
	u32 len;

	UNIT_EQUAL(node_ni_add(ln, "10.9.9.9@tcp"), 0, "interface");
	ln->tun.peers_max = 10;
	pni = lnet_peer_ni_get(ln, &first);
	c = list_of(&first, 0, 40, &len);
	push_list(ln, pni, c, len);
	CU_ASSERT(pni->peer->nr_pnis < 40);
	node_env.now_ns += 70 * NSEC_PER_SEC;
	node_work(ln);
	UNIT_EQUAL(pni->peer->disc.want_ping || pni->peer->disc.state == DISC_PING, 0, "no room");
	ln->tun.peers_max = 1000;
	node_env.now_ns += 70 * NSEC_PER_SEC;
	node_work(ln);
	UNIT_EQUAL(pni->peer->disc.want_ping || pni->peer->disc.state == DISC_PING, 1, "asks");
	push_list(ln, pni, c, len);
	UNIT_EQUAL(pni->peer->nr_pnis, 40, "NIDs");
	UNIT_EQUAL(pni->peer->disc.full, 0, "all are merged");
	lnet_sbuf_put(c);
	lnet_peer_ni_put(pni);
	node_end(ln);
}

UNIT_SUITE(ignored_nids,
	{ "a peer may replace all NIDs that it may have", test_replaces_all },
	{ "NIDs that were ignored are merged when there is room", test_room_later })
