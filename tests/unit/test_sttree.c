/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does a session over a tree reach all nodes, add up their results, and know the missing ones? */
#include "st_con.h"
#include "selftest/tree.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

static void ranges_name_nodes(void)
{
	static const struct {
		const char *text;
		int rc;
		u32 nr;
		const char *first, *last;
	} rows[] = {
		{ "10.0.0.1@tcp", 0, 1, "10.0.0.1@tcp", "10.0.0.1@tcp" },
		{ "10.0.0.[1-4,9]@tcp", 0, 5, "10.0.0.1@tcp", "10.0.0.9@tcp" },
		{ "10.0.[1-2].[7,3-5/2]@o2ib3", 0, 6, "10.0.1.3@o2ib3", "10.0.2.7@o2ib3" },
		{ "10.[0-3].[0-255].[2-200]@tcp", 0, 4 * 256 * 199, "10.0.0.2@tcp",
		  "10.3.255.200@tcp" },
		{ "10.0.1.[0-9]@tcp, 10.0.0.[0-9]@tcp", 0, 20, "10.0.0.0@tcp", "10.0.1.9@tcp" },
		{ "10.0.0.[0-9]@tcp 10.0.0.[10-12]@tcp1", 0, 13, "10.0.0.0@tcp",
		  "10.0.0.12@tcp1" },
		{ "10.0.0.*@tcp", 0, 256, "10.0.0.0@tcp", "10.0.0.255@tcp" },
		{ "10.0.0.[1-9]@tcp 10.0.0.5@tcp", -EINVAL },
		{ "10.0.[0-1].1@tcp 10.0.[0-1].2@tcp", -EINVAL },
		{ "10.0.0.1@tcp[0-1]", -EINVAL },
		{ "10.[0-255].[0-255].[2-200]@tcp", -E2BIG },
		{ "", -EINVAL }, { " ,", -EINVAL }, { "10.0.0.300@tcp", -EINVAL },
		{ "fd00::/64@tcp", -EINVAL }, { "[1-4]@gni", -EINVAL }, { "x", -EINVAL },
	};
	char text[LNET_NIDSTR_SIZE];
	struct lst_ranges r;
	struct lnet_nid nid;
	unsigned int i;
	u32 ix;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		UNIT_EQUAL(lst_ranges_parse(&r, rows[i].text), rows[i].rc, rows[i].text);
		if (!rows[i].rc) {
			UNIT_EQUAL(r.nr, rows[i].nr, rows[i].text);
			lst_ranges_nid(&r, 0, &nid);
			UNIT_TEXT(lnet_nid_str(&nid, text), rows[i].first, rows[i].text);
			lst_ranges_nid(&r, r.nr - 1, &nid);
			UNIT_TEXT(lnet_nid_str(&nid, text), rows[i].last, rows[i].text);
			for (ix = 0; ix < r.nr; ix += 1 + r.nr / 100) {
				lst_ranges_nid(&r, ix, &nid);
				UNIT_EQUAL(lst_ranges_index(&r, &nid), ix, rows[i].text);
			}
		}
		lst_ranges_free(&r);
	}
}

static void who_is_in_no_range(void)
{
	static const char *const nids[] = { "10.0.0.0@tcp", "10.0.0.4@tcp", "10.0.0.8@tcp",
					    "10.0.0.3@tcp1", "0@lo", "fd00::1@tcp" };
	struct lst_ranges r;
	struct lnet_nid nid;
	unsigned int i;

	UNIT_EQUAL(lst_ranges_parse(&r, "10.0.0.[1-3,5-7]@tcp"), 0, "ranges");
	for (i = 0; i < ARRAY_SIZE(nids); i++) {
		UNIT_EQUAL(lnet_nid_parse(&nid, nids[i]), 0, nids[i]);
		UNIT_EQUAL(lst_ranges_index(&r, &nid), U32_MAX, nids[i]);
	}
	lst_ranges_free(&r);
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Each node is below one other, rows of children follow each other, and a node finds its place. */
static u32 walk(const struct lst_place *place, u32 nr, u32 k, u32 depth)
{
	u32 i, seen = place->head != LST_TREE_ROOT, next = place->first + seen, deepest = depth;
	struct lst_place child, found;

	for (i = 0; i < lst_place_children(place, k); i++) {
		lst_place_child(place, k, i, &child);
		UNIT_EQUAL(child.first, next, "rows follow each other");
		UNIT_EQUAL(child.head, child.first, "the first is the head");
		UNIT_EQUAL(child.parent, place->head, "parent");
		lst_place_find(&found, nr, k, child.head);
		UNIT_EQUAL(memcmp(&found, &child, sizeof(child)), 0, "it finds itself");
		next = child.first + child.nr;
		deepest = max(deepest, walk(&child, nr, k, depth + 1));
	}
	UNIT_EQUAL(next, place->first + place->nr, "nobody is left out");
	return deepest;
}

static void each_node_has_a_place(void)
{
	static const u32 sizes[] = { 1, 2, 3, 15, 16, 17, 18, 272, 273, 1000, 4369 };
	struct lst_place root;
	unsigned int i;
	u32 k;

	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		for (k = 2; k <= 64; k *= 2) {
			lst_place_root(&root, sizes[i]);
			UNIT_EQUAL(walk(&root, sizes[i], k, 0), lst_place_levels(sizes[i], k),
				   "levels");
		}
	UNIT_EQUAL(lst_place_levels(100000, 16), 5, "levels of 100,000");
}

/* ---- sets and records ------------------------------------------------------------------------ */

static void sets_travel(void)
{
	struct lst_set a = { .first = 100, .nr = 1000 }, b = { .first = 0, .nr = 2000 };
	u8 buf[LST_SET_WIRE(1000)];
	u32 len, at, nr, i;

	len = lst_set_encode(&a, buf);
	UNIT_EQUAL(len, 1, "nobody is one byte");
	UNIT_EQUAL(lst_set_merge(&b, 100, 1000, buf, len), 1, "nobody");
	UNIT_EQUAL(lst_set_add(&a, 100, 1), 0, "the first");
	UNIT_EQUAL(lst_set_add(&a, 500, 300), 0, "many");
	UNIT_EQUAL(lst_set_add(&a, 600, 300), 0, "some of these again");
	UNIT_EQUAL(lst_set_add(&a, 1099, 1), 0, "the last");
	UNIT_EQUAL(a.nr_in, 402, "how many");
	len = lst_set_encode(&a, buf);
	UNIT_EQUAL(len, 5 + 3 * 8, "three runs");
	UNIT_EQUAL(lst_set_merge(&b, 100, 1000, buf, len), len, "read");
	UNIT_EQUAL(b.nr_in, 402, "the same");
	at = 101;
	UNIT_EQUAL(lst_set_run(&b, &at, &nr), true, "a run");
	UNIT_EQUAL(at == 500 && nr == 400, true, "the large one");
	for (i = 0; i < len; i++)
		UNIT_EQUAL(lst_set_merge(&b, 100, 1000, buf, i), -EINVAL, "cut off");
	UNIT_EQUAL(lst_set_merge(&b, 100, 999, buf, len), -EINVAL, "beyond its row");
	buf[5] = 0xff;
	buf[6] = 0xff;
	UNIT_EQUAL(lst_set_merge(&b, 100, 1000, buf, len), -EINVAL, "out of order");
	for (i = 0; i < 1000; i += 2)
		lst_set_add(&a, 100 + i, 1);
	len = lst_set_encode(&a, buf);
	UNIT_EQUAL(len, 1 + 125, "every other one is bits");
	lst_set_free(&b);
	UNIT_EQUAL(lst_set_merge(&b, 100, 1000, buf, len), len, "read");
	UNIT_EQUAL(b.nr_in, a.nr_in, "the same");
	lst_set_free(&a);
	lst_set_free(&b);
}

/* Nodes [@first, @first + @nr): one is missing, one rejected, the others answered once each. */
static void record_fill(struct lst_tree_record *rec, u32 first, u32 nr)
{
	struct lnet_process id = { .pid = LNET_PID };
	struct lst_tally *tally = calloc(1, sizeof(*tally));
	u32 i;

	lst_tree_record_init(rec, first, nr);
	lst_set_add(&rec->missing, first, 1);
	lst_set_add(&rec->refused, first + 1, 1);
	rec->nr_refused = 1;
	rec->status = EBUSY;
	rec->nr_done = nr - 2;
	rec->nr_active = nr - 2;
	rec->late_ns = first;
	for (i = 2; i < nr; i++) {
		lst_tally_init(tally);
		lnet_nid_from_nid4(&id.nid, 0x000200000a000000ULL + first + i);
		tally->nr_nodes = 1;
		tally->c[LST_T_sent] = tally->c[LST_T_received] = 1;
		tally->first_ns = tally->last_ns = 1 + first + i;
		lst_tally_time(tally, 1000 * (first + i), &id);
		CU_ASSERT_EQUAL(lst_tree_record_tally(rec, 1 + i % 2, tally), 0);
	}
	free(tally);
}

static void records_add_up(void)
{
	struct lst_tree_record a, b, sum;
	u8 *buf;
	u32 len, i;

	record_fill(&a, 10, 20);
	record_fill(&b, 30, 50);
	lst_tree_record_init(&sum, 0, 100);
	buf = malloc(lst_tree_record_size(&b));
	len = lst_tree_record_encode(&b, buf);
	UNIT_EQUAL(lst_tree_record_merge(&sum, 30, 49, buf, len), -EINVAL, "of other nodes");
	for (i = 0; i < len; i++)
		UNIT_EQUAL(lst_tree_record_merge(&sum, 30, 50, buf, i), -EINVAL, "cut off");
	UNIT_EQUAL(sum.nr_done + sum.nr_tallies + sum.missing.nr_in, 0, "which changes nothing");
	UNIT_EQUAL(lst_tree_record_merge(&sum, 30, 50, buf, len), 0, "one");
	buf[8]++;
	UNIT_EQUAL(lst_tree_record_merge(&sum, 30, 50, buf, len), -EINVAL, "one too many");
	len = lst_tree_record_encode(&a, buf);
	UNIT_EQUAL(lst_tree_record_merge(&sum, 10, 20, buf, len), 0, "the other");
	UNIT_EQUAL(sum.nr_done, 66, "done");
	UNIT_EQUAL(sum.nr_refused, 2, "refused");
	UNIT_EQUAL(sum.status, EBUSY, "why");
	UNIT_EQUAL(sum.missing.nr_in, 2, "missing");
	UNIT_EQUAL(sum.late_ns, 30, "the later");
	UNIT_EQUAL(sum.nr_tallies, 2, "tests");
	UNIT_EQUAL(sum.tally[0]->id == 1 && sum.tally[1]->id == 2, true, "by id");
	UNIT_EQUAL(sum.tally[0]->tally.nr_times + sum.tally[1]->tally.nr_times, 66, "times");
	UNIT_EQUAL(sum.tally[1]->tally.slow[0].value, 79000, "the slowest");
	lst_tree_record_free(&a);
	lst_tree_record_free(&b);
	lst_tree_record_free(&sum);
	free(buf);
}

/* ---- a session ------------------------------------------------------------------------------- */

#define KEY "|key=5|"
/* The console is node 0; of the others node 2 is above node 3. */
#define JOIN "tree_join" KEY "ranges=10.0.0.[2-4]@tcp|k=2|"
#define PING "tree_test" KEY "batch=batch|from=10.0.0.[2-4]@tcp|to=10.0.0.[2-4]@tcp|seed=1|" \
	     "type=ping|"

static void begin(void)
{
	st_begin(4);
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|"), 0, "session");
}

static void end(void)
{
	kfree(cmd.answer);
	cmd.answer = NULL;
	rails_clear();
	st_end();
}

static void all_join_test_and_leave(void)
{
	unsigned int i;

	begin();
	UNIT_EQUAL(tell(0, "tree_sample" KEY), -ENOENT, "no tree");
	UNIT_EQUAL(tell(0, "tree_join" KEY "ranges=10.0.0.[2-4]@tcp|k=1|"), -EINVAL, "k");
	UNIT_EQUAL(tell(0, "tree_join" KEY "ranges=nothing|"), -EINVAL, "no ranges");
	UNIT_EQUAL(tell(0, JOIN), 0, "join");
	UNIT_EQUAL(said("done: 3, refused: 0, missing: 0, errno: 0, asked: 2, told: 2"), true,
		   "all, by two requests");
	UNIT_EQUAL(tell(0, JOIN), -EEXIST, "twice");
	for (i = 1; i < 4; i++)
		UNIT_TEXT(st_of(i)->session ? st_of(i)->session->name : "", "lab", "they know");
	UNIT_EQUAL(st_of(2)->tree->place.nr, 2, "node 2 is above node 3");
	UNIT_EQUAL(tell(0, PING "loop=7|"), 0, "a test");
	UNIT_EQUAL(said("done: 3"), true, "all have it");
	UNIT_EQUAL(tell(0, "tree_test" KEY "batch=no|from=10.0.0.2@tcp|to=10.0.0.3@tcp|type=ping|"),
		   -ENOENT, "no such batch");
	UNIT_EQUAL(tell(0, "tree_test" KEY "batch=batch|from=10.0.0.2@tcp|type=ping|"), -EINVAL,
		   "to nobody");
	UNIT_EQUAL(tell(0, PING "size=1000|"), -EINVAL, "a word that a ping does not have");
	UNIT_EQUAL(tell(0, "tree_test" KEY "batch=batch|from=x|to=x|type=ping|"), 0, "bad ranges");
	UNIT_EQUAL(said("refused: 3, missing: 0, errno: 22"), true, "are refused");
	UNIT_EQUAL(tell(0, "tree_run" KEY "batch=batch|"), 0, "run");
	UNIT_EQUAL(said("done: 3") && said("start: {in_us:"), true, "at a time");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("sent: 21\n  received: 21\n  lost: 0\n  under_way: 0"), true, "counts");
	UNIT_EQUAL(said("nodes: 3\n") && said("times: 21\n"), true, "of three nodes");
	UNIT_EQUAL(said("took_us: 0}"), true, "at once");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tree_show" KEY), 0, "the same again");
	UNIT_EQUAL(said("took_us: 0}"), true, "is not a second older");
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("running: {active: 0, started: 3, late_ns: 0}"), true, "in time");
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(said("done: 3"), true, "all");
	st_run(NSEC_PER_SEC);
	for (i = 1; i < 4; i++)
		UNIT_EQUAL(st_of(i)->session == NULL && st_of(i)->tree == NULL, true, "free");
	UNIT_EQUAL(tell(0, "tree_show" KEY), -ENOENT, "no tree any more");
	end();
}

static void a_test_is_stopped(void)
{
	begin();
	tell(0, JOIN);
	UNIT_EQUAL(tell(0, PING "loop=-1|"), 0, "endless");
	tell(0, "tree_run" KEY "batch=batch|");
	st_run(50 * RAILS_MS);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("running: {active: 3"), true, "it runs");
	UNIT_EQUAL(tell(0, "tree_stop" KEY "batch=batch|"), 0, "stop");
	UNIT_EQUAL(said("done: 3"), true, "all");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("running: {active: 0") && said("under_way: 0"), true, "it stopped");
	UNIT_EQUAL(tell(0, "end_session" KEY), 0, "the end of the session");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(!st_of(1)->session && !st_of(2)->session && !st_of(3)->session, true,
		   "is that of the tree");
	end();
}

/* Nodes report the result of a wave to the node above them; above the console there is none. */
static void a_console_tells_nobody(void)
{
	begin();
	tell(0, JOIN);
	st_run(2 * LST_TREE_BEAT_NS);
	UNIT_EQUAL(st_of(0)->root->wave.op, LST_TREE_BEAT, "a wave is over");
	UNIT_EQUAL(st_of(0)->root->tell.done == NULL, true, "no request is made of it");
	end();
}

/* ---- missing nodes --------------------------------------------------------------------------- */

static void who_is_dead_is_missing(void)
{
	begin();
	tell(0, JOIN);
	rails_on(2, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(2, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	UNIT_EQUAL(tell(0, PING "loop=1|"), 0, "a test");
	UNIT_EQUAL(said("done: 2, refused: 0, missing: 1"), true, "one is missing");
	UNIT_EQUAL(said("missing: [\"10.0.0.3@tcp\"]"), true, "that one");
	UNIT_EQUAL(st_of(3)->tree->asker_head, LST_TREE_ROOT, "the console asks the one below it");
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("done: 2, refused: 0, missing: 1"), true, "it stays so");
	UNIT_EQUAL(said("took_us: 0}"), true, "and is not waited for any more");
	end();
}

static void who_is_busy_refuses(void)
{
	begin();
	UNIT_EQUAL(tell(3, "new_session|name=other|key=6|"), 0, "another console");
	tell(3, "add_group|key=6|name=g|");
	UNIT_EQUAL(tell(3, "add_nodes|key=6|name=g|nid=10.0.0.3@tcp|"), 0, "has node 2");
	UNIT_EQUAL(tell(0, JOIN), 0, "join");
	UNIT_EQUAL(said("done: 2, refused: 1, missing: 0, errno: 16"), true, "two do");
	UNIT_EQUAL(said("refused: [\"10.0.0.3@tcp\"]"), true, "one is busy");
	UNIT_TEXT(st_of(2)->session->name, "other", "and stays so");
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(st_of(2)->session != NULL, true, "it is not asked to");
	end();
}

/* A console that has lost a node to another console does not get it back by force. */
static void who_is_taken_over_refuses(void)
{
	begin();
	UNIT_EQUAL(tell(0, "new_session|name=lab|key=5|force=1|"), 0, "by force");
	UNIT_EQUAL(tell(0, JOIN), 0, "join");
	UNIT_EQUAL(tell(3, "new_session|name=other|key=6|force=1|"), 0, "another console");
	tell(3, "add_group|key=6|name=g|");
	st_silence(2);
	UNIT_EQUAL(tell(3, "add_nodes|key=6|name=g|nid=10.0.0.3@tcp|"), 0, "takes node 2");
	UNIT_TEXT(st_of(2)->session->name, "other", "it has");
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("done: 2, refused: 1, missing: 0, errno: 116"), true, "it says so");
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(tell(0, JOIN), 0, "join again");
	UNIT_EQUAL(said("done: 2, refused: 1, missing: 0, errno: 116"), true, "it is late");
	UNIT_TEXT(st_of(2)->session->name, "other", "and stays so");
	end();
}

static void who_did_not_hear_the_end_joins_anew(void)
{
	begin();
	tell(0, JOIN);
	UNIT_EQUAL(tell(0, PING "loop=3|"), 0, "a test");
	rails_on(2, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(2, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(said("done: 2, refused: 0, missing: 1"), true, "but one");
	rails_clear();
	UNIT_EQUAL(st_of(2)->tree != NULL, true, "which is still there");
	UNIT_EQUAL(tell(0, "tree_join" KEY "ranges=10.0.0.[3-4]@tcp|k=2|"), 0, "another tree");
	UNIT_EQUAL(said("done: 2, refused: 0, missing: 0"), true, "has it");
	UNIT_EQUAL(st_of(2)->tree->ranges.nr, 2, "by the new ranges");
	UNIT_EQUAL(tell(0, "tree_test" KEY "batch=batch|from=10.0.0.[3-4]@tcp|to=10.0.0.[3-4]@tcp|"
			"type=ping|loop=5|"), 0, "a test");
	UNIT_EQUAL(tell(0, "tree_run" KEY "batch=batch|"), 0, "run");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(tell(0, "tree_sample" KEY), 0, "sample");
	UNIT_EQUAL(said("sent: 10\n  received: 10\n"), true, "of the new test only");
	UNIT_EQUAL(tell(0, "tree_leave" KEY), 0, "leave");
	UNIT_EQUAL(st_of(2)->session == NULL, true, "free");
	end();
}

static void a_silent_console_frees_its_nodes(void)
{
	unsigned int i;

	begin();
	tell(0, JOIN);
	tell(0, PING "loop=-1|");
	st_run(250 * NSEC_PER_SEC);
	for (i = 1; i < 4; i++)
		UNIT_EQUAL(st_of(i)->session != NULL, true, "they are kept");
	tell(0, "tree_run" KEY "batch=batch|");
	st_run(RAILS_MS);
	for (i = 1; i < 4; i++)
		UNIT_EQUAL(st_of(i)->session->nr_running > 0, true, "they test");
	rails_on(-1, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(-1, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	st_run((LST_LEASE + 5ULL) * NSEC_PER_SEC);
	for (i = 1; i < 4; i++)
		UNIT_EQUAL(st_of(i)->session == NULL && st_of(i)->tree == NULL, true, "free");
	end();
}

/* ---- invalid requests ------------------------------------------------------------------------ */

static u32 ask(struct lst_tree_ask_req *body, struct lst_sid sid)
{
	struct lst_msg rpy = { 0 }, req = { .type = LST_TREE_ASK_REQ, .feats = LST_FEATS };

	req.tree_ask_req = *body;
	req.tree_ask_req.sid = sid;
	UNIT_EQUAL(st_ask(1, 2, &req, &rpy), 0, "an answer");
	return rpy.status;
}

static u32 tell_record(u32 asker, u32 head, u64 wave, u32 len)
{
	struct lst_msg rpy = { 0 }, req = { .type = LST_TREE_TELL_REQ, .feats = LST_FEATS };

	req.tree_tell_req = (struct lst_tree_tell_req){ .sid = st_of(2)->tree->sid, .wave = wave,
							.head = head, .asker = asker, .len = len };
	UNIT_EQUAL(st_ask(3, 2, &req, &rpy), 0, "an answer");
	return rpy.status;
}

static void what_is_refused(void)
{
	struct lst_tree_ask_req beat = { .op = LST_TREE_BEAT, .head = 1, .budget_ms = 1000 };
	struct lst_sid sid;
	u64 wave;

	begin();
	beat.wave = 9;
	UNIT_EQUAL(ask(&beat, st_sid), ESRCH, "no session");
	tell(0, JOIN);
	sid = st_of(2)->tree->sid;
	UNIT_EQUAL(ask(&beat, st_sid), ESRCH, "another session");
	wave = st_of(2)->tree->wave.id;
	beat.wave = wave;
	UNIT_EQUAL(ask(&beat, sid), EALREADY, "it is over");
	beat.wave = 0;
	UNIT_EQUAL(ask(&beat, sid), EINVAL, "no wave");
	beat.wave = wave + 9;
	beat.op = LST_NR_TREE_OPS;
	UNIT_EQUAL(ask(&beat, sid), EINVAL, "no such thing to do");
	beat.op = LST_TREE_BEAT;
	beat.head = 2;
	UNIT_EQUAL(ask(&beat, sid), EINVAL, "another node is meant");
	beat.head = 1;
	beat.body_len = LST_TREE_BODY_MAX + 1;
	UNIT_EQUAL(ask(&beat, sid), EINVAL, "too large");
	beat.body_len = 0;
	UNIT_EQUAL(ask(&beat, sid), 0, "a new wave");
	beat.wave = wave + 8;
	UNIT_EQUAL(ask(&beat, sid), ESTALE, "an earlier one");
	UNIT_EQUAL(tell_record(1, 2, wave + 8, 50), ESTALE, "of an earlier one");
	UNIT_EQUAL(tell_record(1, 0, wave + 9, 50), ESTALE, "all is told");
	UNIT_EQUAL(tell_record(LST_TREE_ROOT, 2, wave + 9, 50), ESRCH, "this is no console");
	UNIT_EQUAL(tell_record(7, 2, wave + 9, 50), ESRCH, "another node is meant");
	UNIT_EQUAL(tell_record(1, 2, wave + 9, LST_TREE_SAID_MAX + 1), EINVAL, "too large");
	end();
}

static u32 tell_root(u32 head, u64 wave)
{
	struct lst_msg rpy = { 0 }, req = { .type = LST_TREE_TELL_REQ, .feats = LST_FEATS };

	req.tree_tell_req = (struct lst_tree_tell_req){ .sid = st_of(2)->tree->sid, .wave = wave,
							.head = head, .asker = LST_TREE_ROOT,
							.len = 50 };
	UNIT_EQUAL(st_ask(3, 0, &req, &rpy), 0, "an answer");
	return rpy.status;
}

/* Node 1, the first of the row, does not answer for a while, so that the wave does not end. */
static void a_record_counts_once(void)
{
	u64 wave;

	begin();
	tell(0, JOIN);
	rails_on(1, -1, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
	rails_on(1, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	post(0, "tree_sample" KEY);
	st_run(NSEC_PER_SEC);
	wave = st_of(0)->root->wave.id;
	UNIT_EQUAL(done, false, "one is waited for");
	UNIT_EQUAL(tell_root(1, wave), EALREADY, "the other's again");
	UNIT_EQUAL(tell_root(0, wave), EINVAL, "what is no record");
	UNIT_EQUAL(tell_root(2, wave), ENOENT, "of one that was not asked");
	UNIT_EQUAL(tell_root(0, wave - 1), ESTALE, "of an earlier wave");
	UNIT_EQUAL(result(), 0, "the end");
	UNIT_EQUAL(said("done: 2, refused: 0, missing: 1"), true, "each once");
	UNIT_EQUAL(tell_root(0, wave), ESTALE, "too late");
	end();
}

/*
 * A body consists of words, each ended by a zero byte; any other body, or one with an invalid
 * number, is rejected.
 */
static void bodies_may_be_anything(void)
{
	static const struct {
		const char *text;
		u32 len;
		int rc;
	} rows[] = {
#define BODY(text, rc) { text, sizeof(text), rc }
		BODY("id=1\0bid=2\0type=ping\0from=a\0to=b", 0),
		BODY("id=1\0bid=2\0type=brw\0from=a\0to=b\0size=4097", 0),
		BODY("id=1\0bid=2\0type=ping\0from=a", -EINVAL),
		BODY("id=17\0bid=2\0type=ping\0from=a\0to=b", -EINVAL),
		BODY("id=x\0bid=2\0type=ping\0from=a\0to=b", -EINVAL),
		BODY("id=1\0bid=2\0type=ping\0from=a\0to=b\0loop=0", -EINVAL),
		BODY("id=1\0bid=2\0type=ping\0from=a\0to=b\0span=342", -EINVAL),
		BODY("id=1\0bid=2\0type=ping\0from=a\0to=b\0colour=red", -EINVAL),
		BODY("id=1\0bid=2\0type=bulk\0from=a\0to=b", 0),
		BODY("id=1\0bid=2\0type=mail\0from=a\0to=b", -EINVAL),
		BODY("id=1\0bid=2\0type=bulk\0from=a\0to=b\0opc=1", -EINVAL),
		BODY("id=1\0bid=2\0type=ping\0from=a\0to=b\0mode=1\0seed=1", -EINVAL),
		BODY("id=16\0bid=2\0type=ping\0from=a\0to=b\0ways=2", -EINVAL),
		BODY("id=1\0bid=2\0type=brw\0from=a\0to=b\0size=1048577", -EINVAL),
		{ "type=ping", 9, -EINVAL },		/* no zero at its end */
		{ "", 0, -EINVAL },
#undef BODY
	};
	struct lst_tree_spec spec;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_EQUAL(lst_tree_spec_read(&spec, rows[i].text, rows[i].len, LST_FEATS),
			   rows[i].rc, rows[i].text);
}

UNIT_SUITE(sttree,
	   { "ranges name nodes", ranges_name_nodes },
	   { "who is in no range", who_is_in_no_range },
	   { "each node has a place", each_node_has_a_place },
	   { "sets travel", sets_travel },
	   { "records add up", records_add_up },
	   { "all join, test and leave", all_join_test_and_leave },
	   { "a test is stopped", a_test_is_stopped },
	   { "who is dead is missing", who_is_dead_is_missing },
	   { "a console, above which there is none, tells nobody", a_console_tells_nobody },
	   { "who is busy refuses", who_is_busy_refuses },
	   { "who is taken over refuses", who_is_taken_over_refuses },
	   { "who did not hear the end joins anew", who_did_not_hear_the_end_joins_anew },
	   { "a silent console frees its nodes", a_silent_console_frees_its_nodes },
	   { "a record counts once", a_record_counts_once },
	   { "bodies may be anything", bodies_may_be_anything },
	   { "what is refused", what_is_refused })
