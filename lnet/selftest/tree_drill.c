/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Drills over a tree. From arguments and ranges each node creates its own plans, as a client and as
 * a server. All nodes know a drill before it runs, so the order of creation does not matter.
 */
#include "drill.h"
#include "tree.h"

/* A console does not use these indices for tests of groups, whose numbers start at 1. */
#define INDEX_FIRST	(1U << 16)
#define TAG_FIRST	(1U << 30)

/*
 * Returns the tag of a test, which differs for each session and wave. A node that was taken over,
 * or joined again, may receive requests for former tests.
 */
static u32 tree_tag_of(const struct lst_tree *tree, u64 wave, bool back)
{
	u32 first = (u32)lst_mix(tree->sid.nid + lst_mix(tree->sid.stamp));

	return (first % (u32)S32_MAX + TAG_FIRST + (u32)(2 * wave + back) % TAG_FIRST) %
	       (u32)S32_MAX + 1;
}

/*
 * If this node is a client of the test of @p, adds the test to the tests whose tallies this node
 * reports in SAMPLE waves.
 */
static void tree_drill_note_locked(struct lst_tree *tree, u32 id, const struct lst_plan *p)
{
	const struct lst_batch *batch = lst_batch_find(tree->st->session, p->bid);
	const struct lst_test *test;

	list_for_each_entry(test, &batch->tests, link)
		if (test->drill && test->is_client && test->index == p->index)
			tree->test[tree->nr_tests++] = (struct lst_tree_test){ id, p->bid, test };
}

/* One side of a test. */
static u32 tree_drill_add(struct lst_tree *tree, u32 id, struct lst_plan p)
{
	struct lst_call *call = lst_tree_call(tree, LST_ADD_REQ, GFP_NOFS);
	struct lst *st = tree->st;
	u32 status = ENOMEM;

	if (!call)
		return status;
	call->req.add_req.sid = tree->sid;
	status = lst_drill_add(call, &p);
	kfree(call);
	spin_lock(&st->lock);
	if (!status && !p.server && !tree->ending && st->session)
		tree_drill_note_locked(tree, id, &p);
	spin_unlock(&st->lock);
	return status;
}

/* Adds one direction of a drill. This node may be neither client nor server in this direction. */
static u32 way_add(struct lst_tree *tree, u32 id, struct lst_plan p, u32 client, u32 server)
{
	u32 status = 0;

	p.index = INDEX_FIRST + id;
	if (server != U32_MAX) {
		p.server = 1;
		p.self = server;
		status = tree_drill_add(tree, id, p);
	}
	if (!status && client != U32_MAX) {
		p.server = 0;
		p.self = client;
		status = tree_drill_add(tree, id, p);
	}
	return status;
}

u32 lst_tree_drill_add(struct lst_tree *tree, const struct lst_tree_spec *spec,
		       const struct lst_ranges *from, const struct lst_ranges *to, u64 wave)
{
	struct lst_plan p = spec->plan;
	struct lnet_nid self;
	u32 client, server, status;

	lst_ranges_nid(&tree->ranges, tree->place.head, &self);
	client = lst_ranges_index(from, &self);
	server = lst_ranges_index(to, &self);
	p.bid = spec->bid;
	p.nr_from = from->nr;
	p.nr_to = to->nr;
	p.same = !strcmp(spec->from, spec->to);
	p.tag = tree_tag_of(tree, wave, false);
	p.ranges = to;
	status = way_add(tree, spec->id, p, client, server);
	if (status || p.ways == 1)
		return status;
	p.back = 1;
	p.tag = tree_tag_of(tree, wave, true);
	p.ranges = from;
	return way_add(tree, spec->id + 1, p, server, client);
}
