/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/xfer/request_id.c: slots of untracked requests, and the sender's window. */
#include "node.h"
#include "rails.h"
#include "shard/shard.h"
#include "xfer/xfer.h"

/* Each slot that the node counts as free is used once before there is none. */
static void test_slots(void)
{
	static struct lnet_op ops[256];
	struct lnet *ln = node_begin(1);
	bool used[ARRAY_SIZE(ops) + 1] = { false };
	unsigned int nr = 0, grown, want;
	struct lnet_pass p;

	memset(ops, 0, sizeof(ops));
	for (grown = 0; grown < 3; grown++) {
		want = ln->nr_slot_free;
		CU_ASSERT_TRUE(want >= LNET_SLOTS_LOW);
		while (nr < ARRAY_SIZE(ops) && !lnet_slot_take(ln, &ops[nr])) {
			CU_ASSERT_FATAL(ops[nr].slot <= ln->nr_slots);
			UNIT_EQUAL(used[ops[nr].slot], false, "each slot once");
			used[ops[nr++].slot] = true;
			want--;
		}
		UNIT_EQUAL(want, 0, "slots that were not used");
		UNIT_EQUAL(ln->nr_slot_free, 0, "free slots");
		UNIT_EQUAL(lnet_slots_prealloc(ln), 0, "more slots");
	}
	lnet_pass_begin(&p, ln, LNET_PASS_CALL);
	lnet_enter(&p, &ln->shard[0]);
	while (nr--) {
		INIT_LIST_HEAD(&ops[nr].expired);
		lnet_op_free_id(&p, &ops[nr]);
	}
	lnet_pass_end(&p);
	node_end(ln);
}

/* A peer counts as unresponsive after the transaction timeout, if two requests have no reply. */
static void test_unresponsive(void)
{
	struct lnet *ln = node_begin(1);
	u64 T = ln->tun.transaction_timeout;
	struct lnet_pass p = { .ln = ln, .now_ns = 10 * T };
	struct lnet_txwin tx = { .session_id = 7, .seen = 3, .next = 6 };

	tx.heard_ns = p.now_ns - T + 1;
	UNIT_EQUAL(lnet_window_is_unresponsive(&p, &tx), false, "before the timeout");
	tx.heard_ns--;
	UNIT_EQUAL(lnet_window_is_unresponsive(&p, &tx), true, "at the timeout");
	tx.next = 4;
	UNIT_EQUAL(lnet_window_is_unresponsive(&p, &tx), false, "nothing awaits a reply");
	tx.next = 6;
	tx.session_id = 0;
	UNIT_EQUAL(lnet_window_is_unresponsive(&p, &tx), false, "no session");
	node_end(ln);
}

/* The newest request is 2 W beyond the last reply, so requests between them were aborted. */
static void test_stuck(void)
{
	struct lnet_txwin tx = { .session_id = 7, .W = 8, .seen = 4, .next = 20, .oldest = 13 };

	UNIT_EQUAL(lnet_window_stuck(&tx), true, "seven requests are unfinished");
	tx.oldest--;
	UNIT_EQUAL(lnet_window_stuck(&tx), false, "the window is full, and a reply will follow");
	tx.oldest++;
	tx.seen++;
	UNIT_EQUAL(lnet_window_stuck(&tx), false, "one request less");
	tx.seen--;
	tx.session_id = 0;
	UNIT_EQUAL(lnet_window_stuck(&tx), false, "no session");
}

/* After the end of a session no request gets an ID from it. */
static void test_expired(void)
{
	struct lnet_txwin *tx;
	struct lnet_op op;
	struct lnet_pass p;

	rails_begin(NULL);
	tx = &rails_peer(0, 1)->tx;
	CU_ASSERT_TRUE(tx->session_id != 0);
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_CALL);
	lnet_enter(&p, rails_peer(0, 1)->sh);
	lnet_session_expire(&p, rails_peer(0, 1), tx->session_id);
	memset(&op, 0, sizeof(op));
	op.peer = rails_peer(0, 1);
	op.id_state = ID_DUE;
	UNIT_EQUAL(lnet_op_draw_id(&p, &op), false, "no ID");
	lnet_pass_end(&p);
	rails_run(NSEC_PER_SEC);
	rails_end();
}

/* A request in flight has advertised the low-water mark, so no confirm message is needed yet. */
static void test_advertised(void)
{
	unsigned int core;

	rails_begin(NULL);
	rails_run(NSEC_PER_SEC);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	rails_on(1, -1, RAILS_ACK, FATE_DELAY, LNET_OK, 1);
	rails_tune(0, "hedge", 0);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_pump();
	core = rails.nr_carried[RAILS_CORE];
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE] - core, 0, "while one is in flight");
	rails_release();
	rails_run(100 * RAILS_MS);
	UNIT_EQUAL(rails.nr_carried[RAILS_CORE] - core, 1, "after the last reply");
	rails_end();
}

UNIT_SUITE(request_id,
	{ "each free slot is used before there is none", test_slots },
	{ "a peer is unresponsive after the transaction timeout", test_unresponsive },
	{ "rule 4: a window is stuck 2 W beyond the last reply", test_stuck },
	{ "an expired session gives no request IDs", test_expired },
	{ "rule 4: a low-water mark that a request advertised is not confirmed", test_advertised })
