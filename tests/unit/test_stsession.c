/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Is a node in one session at a time, and are its replies those of the wire format's tables? */
#include "st_world.h"

static struct lst_msg rpy;

static int make(const struct lst_sid *sid, u32 force, u32 feats)
{
	struct lst_msg req = { .type = LST_MAKE_SESSION_REQ, .feats = feats,
			       .make_session_req = { .sid = *sid, .force = force,
						     .name = "other" } };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

static int debug(void)
{
	struct lst_msg req = { .type = LST_DEBUG_REQ, .feats = LST_FEATS,
			       .debug_req.sid = st_sid };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

static void made_and_removed(void)
{
	st_begin(2);
	UNIT_EQUAL(debug(), ESRCH, "idle");
	UNIT_EQUAL(rpy.debug_rpy.sid.nid, LST_NO_NID, "idle");
	UNIT_EQUAL(st_remove(1), ESRCH, "none to remove");
	UNIT_EQUAL(st_make(1), 0, "made");
	UNIT_EQUAL(debug(), 0, "asked");
	UNIT_TEXT(rpy.debug_rpy.name, "lab", "its name");
	UNIT_EQUAL(rpy.debug_rpy.timeout, 100, "its timeout");
	UNIT_EQUAL(lst_sid_same(&rpy.debug_rpy.sid, &st_sid), true, "its id");
	UNIT_EQUAL(st_make(1), 0, "made again");
	UNIT_EQUAL(st_remove(1), 0, "as often as made");
	UNIT_EQUAL(debug(), 0, "still there");
	UNIT_EQUAL(st_remove(1), 0, "removed");
	UNIT_EQUAL(debug(), ESRCH, "gone");
	st_end();
}

static void one_at_a_time(void)
{
	const struct lst_sid other = { 0x000200000a000009ULL, 1 }, none = LST_NO_SID;

	st_begin(2);
	UNIT_EQUAL(make(&none, 0, LST_FEATS), EINVAL, "no name");
	UNIT_EQUAL(make(&other, 0, 6), EPROTO, "unknown features");
	UNIT_EQUAL(st_make(1), 0, "made");
	UNIT_EQUAL(make(&other, 0, LST_FEATS), EBUSY, "taken");
	UNIT_TEXT(rpy.make_session_rpy.name, "lab", "by whom");
	UNIT_EQUAL(lst_sid_same(&rpy.make_session_rpy.sid, &st_sid), true, "by whom");
	UNIT_EQUAL(rpy.make_session_rpy.timeout, 100, "for how long");
	UNIT_EQUAL(make(&other, 1, LST_FEATS), 0, "by force");
	UNIT_EQUAL(st_remove(1), EBUSY, "no more ours");
	UNIT_EQUAL(st_batch(1, LST_BATCH_QUERY, 0, 0), ESRCH, "no more ours");
	UNIT_EQUAL(debug(), 0, "another's");
	UNIT_TEXT(rpy.debug_rpy.name, "other", "whose");
	st_end();
}

static void features_are_the_sessions(void)
{
	struct lst_msg req = { .type = LST_QUERY_STAT_REQ, .query_stat_req.sid = st_sid };

	st_begin(2);
	UNIT_EQUAL(make(&st_sid, 0, 0), 0, "pages only");
	UNIT_EQUAL(rpy.feats, 0, "pages only");
	UNIT_EQUAL(st_ask(0, 1, &req, &rpy), 0, "asked");
	UNIT_EQUAL(rpy.status, 0, "as it was made");
	req.feats = LST_FEATS;
	UNIT_EQUAL(st_ask(0, 1, &req, &rpy), 0, "asked");
	UNIT_EQUAL(rpy.status, EPROTO, "other features");
	UNIT_EQUAL(lst_sid_same(&rpy.query_stat_rpy.sid, &st_sid), true, "whose");
	st_end();
}

static void ends_by_itself(void)
{
	st_begin(2);
	st_make(1);
	st_run(99 * NSEC_PER_SEC);
	UNIT_EQUAL(debug(), 0, "in time");
	st_run(99 * NSEC_PER_SEC);
	UNIT_EQUAL(debug(), 0, "heard of in between");
	st_run(101 * NSEC_PER_SEC);
	UNIT_EQUAL(debug(), ESRCH, "not heard of");
	UNIT_EQUAL(st_nodes[1].st->session == NULL, true, "free");
	st_end();
}

static void whose_end_stops_tests(void)
{
	st_begin(3);
	st_make(1);
	st_make(2);
	UNIT_EQUAL(st_test(1, 2, -1, 4, 0, 0, 0), 0, "added");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), 0, "run");
	st_run(RAILS_MS);
	UNIT_EQUAL(st_nodes[1].st->session->nr_running, 4, "units");
	rails_on(1, -1, RAILS_PUT, FATE_LOSE, LNET_NETWORK_TIMEOUT, -1);
	st_run(RAILS_MS);
	UNIT_EQUAL(st_remove(1) < 0, true, "no answer comes");
	rails_clear();
	UNIT_EQUAL(st_nodes[1].st->session == NULL, true, "over");
	st_run(100 * NSEC_PER_SEC);
	UNIT_EQUAL(st_nodes[1].st->nr_zombies, 0, "what was under way ended");
	st_end();
}

static void garbage_is_dropped(void)
{
	struct lst_msg req = { .type = LST_PING_REQ, .feats = LST_FEATS };
	u64 dropped;

	st_begin(2);
	dropped = st_nodes[1].st->c[LST_C_rpcs_dropped];
	UNIT_EQUAL(st_ask(0, 1, &req, &rpy), -ETIMEDOUT, "a ping without its magic");
	UNIT_EQUAL(st_nodes[1].st->c[LST_C_rpcs_dropped], dropped + 1, "counted");
	UNIT_EQUAL(st_nodes[0].st->c[LST_C_rpcs_expired], 1, "counted");
	req.ping_req.magic = LST_PING_MAGIC;
	UNIT_EQUAL(st_ask(0, 1, &req, &rpy), 0, "a ping");
	req.feats = 5;
	UNIT_EQUAL(st_ask(0, 1, &req, &rpy), 0, "features");
	UNIT_EQUAL(rpy.status, EPROTO, "features");
	UNIT_EQUAL(rpy.feats, LST_FEATS, "what it has");
	st_end();
}

UNIT_SUITE(stsession,
	   { "is made, asked for, and removed as often as made", made_and_removed },
	   { "a node is in one, unless by force", one_at_a_time },
	   { "its features bind", features_are_the_sessions },
	   { "ends when its console is silent", ends_by_itself },
	   { "its end takes back what is under way", whose_end_stops_tests },
	   { "what is no request is dropped", garbage_is_dropped })
