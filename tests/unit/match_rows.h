/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of match entries and messages, and functions to build them, for matching and lazy portals.
 */
#ifndef TESTS_UNIT_MATCH_ROWS_H
#define TESTS_UNIT_MATCH_ROWS_H

#include "md_world.h"

#define PUT		LNET_MD_OP_PUT
#define GET		LNET_MD_OP_GET
#define TRUNC		LNET_MD_TRUNCATE
#define REMOTE		LNET_MD_MANAGE_REMOTE
#define MAXSZ		LNET_MD_MAX_SIZE
#define INF		LNET_THRESHOLD_INF
#define BITS		0x1122334455667788ULL

static char memory[4096] __maybe_unused;

/* NIDs by number: 1 and 2 are NIDs of one peer (1 its primary), 3 is of another, 0 is ANY. */
static inline struct lnet_nid nid_of(u8 n)
{
	struct lnet_nid nid = LNET_NID_ANY;

	if (n)
		lnet_nid_from_nid4(&nid, 0x000200000a000000ULL + n);
	return nid;
}

static struct lnet_peer peer_one;
static struct lnet_peer_ni pni_one[2];

static inline void peer_init(void)
{
	int i;

	INIT_LIST_HEAD(&peer_one.pnis);
	peer_one.primary = nid_of(1);
	for (i = 0; i < 2; i++) {
		pni_one[i].nid = nid_of((u8)(i + 1));
		pni_one[i].peer = &peer_one;
		list_add_tail(&pni_one[i].link, &peer_one.pnis);
	}
}

/* The interface of a peer with the primary NID @n and no other NID. */
static inline struct lnet_peer_ni *pni_other(u8 n)
{
	static struct lnet_peer_ni pni[256];
	static struct lnet_peer peer[256];

	INIT_LIST_HEAD(&peer[n].pnis);
	peer[n].primary = nid_of(n);
	pni[n].peer = &peer[n];
	return &pni[n];
}

struct me_row {				/* an entry with its MD; length 0: no entry */
	u32 length, options;
	s32 threshold;
	u32 max_size;
	u64 bits, ignore;
	u8 nid;
	u32 pid;
	u8 pos, unlink;			/* @unlink applies to both */
	u8 bare;			/* an ME without MD */
};

struct msg {
	u8 type;
	u32 rlength, offset;
	u64 bits;
	u8 nid;				/* number of the sender's primary NID */
	u32 pid, portal;
};

#define P(len)			{ LNET_OP_PUT, len, 0, BITS, 1, 12345, 7 }
#define P_AT(len, at)		{ LNET_OP_PUT, len, at, BITS, 1, 12345, 7 }
#define P_BITS(bits)		{ LNET_OP_PUT, 10, 0, bits, 1, 12345, 7 }
#define P_FROM(nid, pid)	{ LNET_OP_PUT, 10, 0, BITS, nid, pid, 7 }
#define G(len)			{ LNET_OP_GET, len, 0, BITS, 1, 12345, 7 }
#define ME(len, opt)		{ len, opt, INF, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_T(len, opt, thr)	{ len, opt, thr, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_MAX(len, opt, max)						\
	{ len, (opt) | MAXSZ, INF, max, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_BITS(bits, ign)	{ 100, PUT, INF, 0, bits, ign, 0, LNET_PID_ANY, LNET_INS_AFTER }
#define ME_FROM(nid, pid)	{ 100, PUT, INF, 0, BITS, 0, nid, pid, LNET_INS_AFTER }
#define ME_POS(pos)		{ 100, PUT, INF, 0, BITS, 0, 0, LNET_PID_ANY, pos }
#define ME_BARE			{ 1, PUT, INF, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, 0, 1 }

static inline void rx_init(struct lnet_rx *rx, const struct msg *msg)
{
	if (!pni_one[0].peer)
		peer_init();
	memset(rx, 0, sizeof(*rx));
	INIT_LIST_HEAD(&rx->link);
	rx->type = msg->type;
	rx->rlength = msg->rlength;
	rx->offset = msg->offset;
	rx->match_bits = msg->bits;
	rx->src_pid = msg->pid;
	rx->portal = msg->portal;
	rx->from = rx->src = msg->nid == 1 ? &pni_one[0] : pni_other(msg->nid);
}

static inline enum lnet_verdict match(struct mw *w, struct lnet_rx *rx, const struct msg *msg,
			       enum lnet_outcome *why)
{
	enum lnet_verdict verdict;
	struct lnet_pass p;

	rx_init(rx, msg);
	lnet_pass_begin(&p, &w->ln, LNET_PASS_DRIVER);
	lnet_enter(&p, &w->shard);
	verdict = lnet_match(&p, rx, why);
	lnet_pass_end(&p);
	return verdict;
}

static inline lnet_me_t make_me(struct mw *w, const struct me_row *row, u32 portal,
				lnet_handler_t handler, lnet_md_t *md)
{
	struct lnet_process from = { nid_of(row->nid), row->pid };
	struct lnet_md_cfg cfg = { .start = memory,
				   .length = row->length,
				   .options = row->options,
				   .threshold = row->threshold,
				   .max_size = row->max_size,
				   .handler = handler };
	lnet_me_t me = { 0 };

	UNIT_EQUAL(lnet_me_attach(&w->ln, portal, &from, row->bits, row->ignore, row->unlink,
				  row->pos, &me),
		   0, "ME");
	if (!row->bare)
		UNIT_EQUAL(lnet_md_attach(&w->ln, me, &cfg, row->unlink, md), 0, "MD");
	return me;
}

#endif
