/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Does each lock hold of a walk visit a bounded number of operations? */
#include "rails.h"
#include "manage/manage.h"
#include "shard/hooks.h"

#define ACTS 64			/* operations that try in one slice; that it visits */
#define VISITS 256

static const struct rails_cfg three = { .nr_nodes = 3 };

static struct lnet_shard *shard(void)
{
	return &rails.node[0].ln->shard[0];
}

/* Operations to node @to that pause between two tries. */
static unsigned int pausing(unsigned int to)
{
	const struct lnet_op *op;
	unsigned int nr = 0;

	list_for_each_entry(op, &shard()->live, all)
		nr += op->peer == rails_peer(0, to) && op->state == OP_BACKOFF;
	return nr;
}

/* Sends @nr requests that fail on each path and then pause for a second; returns the first tag. */
static unsigned int put_in_vain(unsigned int to, unsigned int nr)
{
	unsigned int first = rails.nr_tags + 1, i;

	for (i = 0; i < nr; i++)
		rails_put(0, to, 8, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(pausing(to), nr, "requests that pause");
	return first;
}

static unsigned int nr_done(unsigned int first, unsigned int nr)
{
	unsigned int i, sum = 0;

	for (i = 0; i < nr; i++)
		sum += rails_done(first + i) && !rails.req[first + i].status;
	return sum;
}

static void path_back(unsigned int to, void (*look)(struct lnet_pass *p))
{
	struct lnet_pass p;

	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_enter(&p, shard());
	lnet_ops_path_back(&p, rails_peer(0, to));
	look(&p);
	lnet_pass_end(&p);
}

static void look_first(struct lnet_pass *p)
{
	(void)p;
	UNIT_EQUAL(pausing(1), 200 - ACTS, "requests that still pause");
}

/* A path works again: the requests try in slices, before their pauses end. */
static void test_back(void)
{
	unsigned int first;

	rails_begin(NULL);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
	first = put_in_vain(1, 200);
	rails_clear();
	path_back(1, look_first);
	rails_run(5 * RAILS_MS);
	UNIT_EQUAL(nr_done(first, 200), 200, "done soon");
	UNIT_EQUAL(shard()->walk.at == NULL, true, "the walk is over");
	rails_end();
}

/* The next operation to visit ends now, and a second path to node 1 works again. */
static void look_at_cursor(struct lnet_pass *p)
{
	struct list_head *at = shard()->walk.at;
	struct lnet_op *op = list_entry(at, struct lnet_op, all);
	unsigned int before = pausing(2);

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	UNIT_EQUAL(pausing(1), 10, "too far away for the first slice");
	lnet_op_finish(p, op, LNET_LOCAL_TIMEOUT);
	UNIT_EQUAL(pausing(2), before - 1, "it has ended");
	UNIT_EQUAL(shard()->walk.at != NULL && shard()->walk.at != at, true, "the walk goes on");
	lnet_ops_path_back(p, rails_peer(0, 1));
}

/* The walk visits operations to other peers, which do nothing. */
static void test_others(void)
{
	unsigned int first, others;

	rails_begin(&three);
	rails_get(0, 2, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, -1);
	others = put_in_vain(2, VISITS + 44);
	first = put_in_vain(1, 10);
	rails_clear();
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);	/* no ping finds a path */
	path_back(1, look_at_cursor);
	rails_run(5 * RAILS_MS);
	UNIT_EQUAL(nr_done(first, 10), 10, "done soon");
	UNIT_EQUAL(nr_done(others, VISITS + 44), 0, "others pause");
	rails_clear();
	rails_run(15 * NSEC_PER_SEC);
	rails_end();
}

/* Runs one slice; returns how many messages leave the queue of rail 0. */
static unsigned int moved(struct lnet_pass *p)
{
	const struct lnet_peer_ni *pni = rails_path(0, 1, 0)->pni;
	unsigned int before = pni->nr_wait;

	lnet_walk_timer(p);
	return before - pni->nr_wait;
}

/* A path is suspect: messages that wait for its credits leave it in slices. */
static void test_suspect(void)
{
	struct rails_cfg cfg = { .peer_credits = 1 };
	struct lnet_path *path;
	unsigned int i, first;
	struct lnet_pass p;
	u32 waiting;

	rails_begin(&cfg);
	rails_tune(0, "hedge", 0);
	first = rails.nr_tags + 1;
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 2);
	for (i = 0; i < 202; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	path = rails_path(0, 1, 0);
	waiting = path->pni->nr_wait;
	UNIT_EQUAL(waiting > 64 && waiting < 128, true, "half of them wait for this rail");
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_enter(&p, shard());
	path->suspect_ns = p.now_ns;
	lnet_ops_reselect_path(&p, path);
	UNIT_EQUAL(path->pni->nr_wait, waiting, "not at once");
	UNIT_EQUAL(list_empty(&shard()->walk.timer.link), false, "soon");
	UNIT_EQUAL(moved(&p), ACTS, "in the first slice");
	UNIT_EQUAL(moved(&p), waiting - ACTS, "in the second one");
	path->suspect_ns = 0;
	lnet_pass_end(&p);
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(nr_done(first, 202), 202, "done");
	rails_end();
}

/* An operation that is bound to a suspect path says nothing about others to its peer. */
static void test_bound(void)
{
	struct rails_cfg cfg = { .one_rail = true, .peer_credits = 1 };
	struct lnet_path *path;
	struct lnet_pass p;
	struct lnet_op *op;
	u8 state;

	rails_begin(&cfg);
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
	rails_put(0, 1, 8, LNET_ACK, 0);
	rails_put(0, 1, 8, LNET_ACK, 0);
	path = rails_path(0, 1, 0);
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_DRIVER);
	lnet_enter(&p, shard());
	op = list_last_entry(&shard()->live, struct lnet_op, all);
	path->suspect_ns = p.now_ns;
	UNIT_EQUAL(lnet_op_avoid(&p, op, false), false, "no path is better");
	state = op->id_state;
	op->id_state = ID_SLOT;
	op->binding = LNET_BIND_FIXED;
	UNIT_EQUAL(lnet_op_avoid(&p, op, false), true, "bound to this path");
	UNIT_EQUAL(path->pni->nr_wait, 1, "it keeps its place");
	op->id_state = state;
	op->binding = LNET_BIND_NONE;
	path->suspect_ns = 0;
	lnet_pass_end(&p);
	rails_give(LNET_OK);
	rails_run(10 * NSEC_PER_SEC);
	rails_end();
}

/* Attempts of node 0 that use rail 0, in any state. */
static unsigned int using(const struct lnet_ni *ni)
{
	const struct lnet_op *op;
	unsigned int nr = 0;

	list_for_each_entry(op, &shard()->live, all)
		nr += op->first.state != ATT_FREE && op->first.ni == ni;
	return nr;
}

/* An interface loses its link: messages leave it in slices, those that wait and those in flight. */
static void test_link_down(void)
{
	struct rails_cfg cfg = { .peer_credits = 1 };
	struct lnet_ni *ni;
	unsigned int i, first, before;
	struct lnet_pass p;

	rails_begin(&cfg);
	rails_tune(0, "hedge", 0);
	first = rails.nr_tags + 1;
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 2);
	for (i = 0; i < 402; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	ni = rails_ni(0, 0);
	before = using(ni);
	UNIT_EQUAL(before > 2 * ACTS, true, "half of them use this rail");
	rails_link(0, 0, false);
	lnet_pass_begin(&p, rails.node[0].ln, LNET_PASS_WORKER);
	p.ln->hooks->link_work(&p);
	UNIT_EQUAL(before - using(ni) > 0 && before - using(ni) <= ACTS, true, "one slice");
	lnet_pass_end(&p);
	rails_clear();
	rails_run(5 * RAILS_MS);
	UNIT_EQUAL(using(ni) <= 1, true, "all but the one in flight");
	rails_give(LNET_LOCAL_DROPPED);
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(nr_done(first, 402), 402, "done");
	rails_end();
}

UNIT_SUITE(walk,
	{ "when a path works again, requests try in slices", test_back },
	{ "operations of other peers delay a walk by some ticks", test_others },
	{ "messages leave an interface without link in slices", test_link_down },
	{ "a bound message does not represent its peer in a walk", test_bound },
	{ "messages that wait leave a suspect path in slices", test_suspect })
