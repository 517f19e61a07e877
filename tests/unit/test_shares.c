/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bounds of one peer on cached replies and on held replies. */
#include "rails.h"
#include "sessions.h"

static const struct rails_cfg three = { .nr_nodes = 3 };

/* A GET of @len bytes that leaves all earlier sequences unfinished. */
static void get_open(unsigned int from, u64 session_id, u64 seq, u32 len)
{
	struct rails_msg m = sessions_message(from, 0, LNET_MSG_GET, session_id,
				     seq | (seq - 1) << 48 | LNET_REQID_ALONE);

	m.hdr.msg.get.sink_length = len;
	rails_again(&m);
	rails_pump();
}

/* @nr GETs in each of two sessions of @from. */
static void gets(unsigned int from, u64 nr, u32 len)
{
	u64 nonce, seq;

	for (nonce = 1; nonce <= 2; nonce++) {
		sessions_open(from, 80 + from, nonce);
		for (seq = 1; seq <= nr; seq++)
			get_open(from, sessions_newest()->session_id, seq, len);
	}
}

/* A peer that acknowledges no reply uses up its share of small buffers, but not another share. */
static void test_copies_share(void)
{
	struct lnet_shard *sh;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	rails_tune(1, "reply_cache_per_peer", 6 * 64);
	gets(2, 4, 64);
	UNIT_EQUAL(sh->cache_bytes, 6 * 64, "the share, over both sessions");
	UNIT_EQUAL(sh->nr_held, 2, "beyond it memory is held");
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_of_peer), 2, "counted");
	UNIT_EQUAL(rails_stat(1, LNET_C_reply_cache_denied), 2, "counted");
	gets(0, 1, 64);
	UNIT_EQUAL(sh->cache_bytes, 8 * 64, "another peer has a separate share");
	sessions_confirm(0, sessions_newest()->session_id, 2);
	UNIT_EQUAL(sh->cache_bytes, 7 * 64, "until it acknowledges one");
	UNIT_EQUAL(sessions_newest()->cache_bytes, 0, "also of the session");
	rails_tune(1, "windows_per_peer", 1);
	sessions_open(0, 80, 3);
	UNIT_EQUAL(sh->cache_bytes, 6 * 64, "until its window is dropped");
	rails_end();
}

/* The same for replies that are sent from the memory itself. */
static void test_held_share(void)
{
	struct lnet_shard *sh;
	struct lnet_window *w;

	rails_begin(&three);
	sh = &rails.node[1].ln->shard[0];
	rails_tune(1, "reply_cache_max", 0);
	rails_tune(1, "window", 4);
	rails_tune(1, "held_per_peer", 6);
	gets(2, 4, 64);
	w = sessions_newest();
	UNIT_EQUAL(sh->nr_held, 6, "the share, over both sessions");
	UNIT_EQUAL(rails_stat(1, LNET_C_held_denied), 2, "beyond it GETs are dropped");
	UNIT_EQUAL(w->nr_entries, 2, "the dropped GETs have no entry");
	sessions_put(2, RAILS_PORTAL, w->session_id, 3);
	UNIT_EQUAL(w->nr_entries, 3, "a PUT has an entry");
	gets(0, 1, 64);
	UNIT_EQUAL(sh->nr_held, 8, "another peer has a separate share");
	sessions_confirm(2, w->session_id, 3);
	UNIT_EQUAL(w->nr_held, 0, "confirmed");
	get_open(2, w->session_id, 4, 64);
	UNIT_EQUAL(w->nr_held, 1, "the retransmission is taken");
	UNIT_EQUAL(sh->nr_held, 7, "in all");
	rails_end();
}

UNIT_SUITE(shares,
	{ "rule 8: a peer has its share of small buffers", test_copies_share },
	{ "rule 8: a peer has its share of held replies", test_held_share })
