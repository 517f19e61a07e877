/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drills at a node. The node creates them from the plans of a console, and reports their counts. */
#include "drill.h"
#include "tree.h"

/* ---- creating -------------------------------------------------------------------------------- */

static int verifier_make(struct lst_drill *drill)
{
	const struct lst_plan *p = &drill->plan;

	drill->verifier = (struct lst_verifier){ .how = (u8)p->verify, .every = (u32)p->every };
	if (p->verify != LST_VERIFY_CRC32C)
		return 0;
	drill->crc = kvmalloc(sizeof(*drill->crc), GFP_NOFS);
	if (!drill->crc)
		return -ENOMEM;
	lst_crc32c_init(drill->crc);
	drill->verifier.crc = drill->crc;
	return 0;
}

static u32 nr_dests(const struct lst_plan *p)
{
	u32 pos = 0, nr = 0;

	while (lst_map_next(p, &pos) != U32_MAX)
		nr++;
	return nr;
}

static bool drill_dest_at(const struct lst_plan *p, u32 ix, struct lnet_process *id)
{
	if (!p->ranges)
		return lst_runs_at(p->run, p->nr_runs, ix, id);
	id->pid = LNET_PID;
	lst_ranges_nid(p->ranges, ix, &id->nid);
	return true;
}

static int dests_make(struct lst_drill *drill)
{
	const struct lst_plan *p = &drill->plan;
	u32 i, pos = 0;

	drill->nr_dests = nr_dests(p);
	if (!drill->nr_dests)
		return 0;
	drill->dest = kvcalloc(drill->nr_dests, sizeof(drill->dest[0]), GFP_NOFS);
	if (!drill->dest)
		return -ENOMEM;
	if (drill->nr_dests > 1 && drill->nr_dests <= LST_PAIRS_MAX)
		drill->pair = kvcalloc(drill->nr_dests, sizeof(drill->pair[0]), GFP_NOFS);
	for (i = 0; i < drill->nr_dests; i++) {
		INIT_LIST_HEAD(&drill->dest[i].asked);
		drill->dest[i].tally = drill->pair ? &drill->pair[i] : NULL;
		if (!drill_dest_at(p, lst_map_next(p, &pos), &drill->dest[i].id))
			return -EINVAL;
	}
	return 0;
}

/*
 * Creates the slots. Successive slots have different servers, so that all servers receive requests
 * from the start.
 */
static int slots_make(struct lst_drill *drill)
{
	u64 nr = drill->nr_dests * drill->plan.concur;
	u32 i;

	if (nr > LST_SLOTS_MAX)
		return -ENOMEM;
	drill->slot = nr ? kvcalloc((u32)nr, sizeof(drill->slot[0]), GFP_NOFS) : NULL;
	if (nr && !drill->slot)
		return -ENOMEM;
	drill->nr_slots = (u32)nr;
	drill->nr_offers = lst_plan_parts(&drill->plan) *
			   (lst_plan_goes_out(&drill->plan) + lst_plan_comes_in(&drill->plan));
	for (i = 0; i < drill->nr_slots; i++) {
		drill->slot[i].drill = drill;
		drill->slot[i].dest = &drill->dest[i % drill->nr_dests];
		INIT_LIST_HEAD(&drill->slot[i].link);
		INIT_LIST_HEAD(&drill->slot[i].of_dest);
	}
	return 0;
}

int lst_drill_make(struct lst_test *test, struct lst *st, const struct lst_sid *sid,
		   struct lst_plan *plan)
{
	struct lst_drill *drill = kvzalloc(sizeof(*drill), GFP_NOFS);
	int rc;

	if (!drill)
		return -ENOMEM;
	drill->st = st;
	drill->test = test;
	drill->plan = *plan;
	plan->run = NULL;
	drill->session_salt = lst_mix(sid->nid + lst_mix(sid->stamp));
	INIT_LIST_HEAD(&drill->link);
	INIT_LIST_HEAD(&drill->waiting);
	INIT_LIST_HEAD(&drill->asked);
	INIT_LIST_HEAD(&drill->hauls);
	INIT_LIST_HEAD(&drill->queued);
	lst_self(st, &drill->self);
	test->drill = drill;
	test->tally = &drill->tally;
	drill->tally.nr_nodes = 1;
	test->self = drill->self;
	test->is_client = !drill->plan.server;
	rc = verifier_make(drill);
	if (!rc && test->is_client)
		rc = dests_make(drill);
	if (!rc && test->is_client)
		rc = slots_make(drill);
	drill->plan.ranges = NULL;
	return rc;
}

void lst_drill_free(struct lst_drill *drill)
{
	spin_lock(&drill->st->lock);
	list_del(&drill->link);
	spin_unlock(&drill->st->lock);
	lst_hauls_free(drill);
	lst_slots_free(drill);
	kvfree(drill->plan.run);
	kvfree(drill->crc);
	kvfree(drill->pair);
	kvfree(drill);
}

/* ---- ADD ------------------------------------------------------------------------------------- */

static bool drill_exists(const struct lst_batch *batch, const struct lst_plan *p)
{
	const struct lst_test *test;

	list_for_each_entry(test, &batch->tests, link)
		if (test->drill && test->drill->plan.index == p->index &&
		    test->drill->plan.server == p->server)
			return true;
	return false;
}

/*
 * Adds the test to the session. Checks the session again, because the session may have changed in
 * the meantime.
 */
static u32 drill_join_locked(struct lst_call *call, struct lst_test *test)
{
	const struct lst_plan *p = &test->drill->plan;
	struct lst *st = call->st;
	u32 status = lst_session_check_locked(call, &call->req.add_req.sid);
	struct lst_batch *batch = status ? NULL : lst_batch_find(st->session, p->bid);

	if (batch && lst_batch_is_busy(batch))
		return EBUSY;
	if (batch && drill_exists(batch, p))
		return EEXIST;
	if (!status)
		status = lst_test_link_locked(st->session, p->bid, (u32)p->index, test);
	if (!status)
		list_add_tail(&test->drill->link, &st->drills);
	return status;
}

u32 lst_drill_add(struct lst_call *call, struct lst_plan *plan)
{
	struct lst_test *test = kzalloc(sizeof(*test), GFP_NOFS);
	u32 status;
	int rc;

	if (!test)
		return ENOMEM;
	rc = lst_drill_make(test, call->st, &call->req.add_req.sid, plan);
	if (!rc)
		rc = lst_serve_drills(call->st);
	spin_lock(&call->st->lock);
	status = rc ? (u32)-rc : drill_join_locked(call, test);
	spin_unlock(&call->st->lock);
	if (status)
		lst_test_free(test);
	return status;
}

static u32 drill_call_add(struct lst_call *call)
{
	struct lst_plan plan = { 0 };
	int rc = lst_plan_decode(&plan, call->bulk, call->bulk_len);
	u32 status = rc ? (u32)-rc : lst_drill_add(call, &plan);

	kvfree(plan.run);
	return status;
}

static void add_done(struct lst_call *call)
{
	call->rpy.add_rpy.status = drill_call_add(call);
	spin_lock(&call->st->lock);
	call->rpy.add_rpy.sid = lst_session_sid_locked(call->st);
	spin_unlock(&call->st->lock);
}

enum lst_verdict lst_add_serve_locked(struct lst_call *call)
{
	const struct lst_add_req *req = &call->req.add_req;
	struct lst_add_rpy *rpy = &call->rpy.add_rpy;

	rpy->status = lst_session_check_locked(call, &req->sid);
	if (!rpy->status && (!req->len || req->len > LNET_MTU))
		rpy->status = EINVAL;
	rpy->sid = lst_session_sid_locked(call->st);
	if (rpy->status)
		return LST_REPLY;
	call->bulk_get = true;
	call->bulkid = req->bulkid;
	call->bulk_len = req->len;
	call->bulk_done = add_done;
	return LST_BULK;
}

/* ---- TALLY ----------------------------------------------------------------------------------- */

static struct lst_test *test_find_locked(const struct lst_call *call)
{
	const struct lst_tally_req *req = &call->req.tally_req;
	const struct lst_batch *batch;
	struct lst_test *test;

	batch = call->st->session ? lst_batch_find(call->st->session, req->bid) : NULL;
	if (!batch)
		return NULL;
	list_for_each_entry(test, &batch->tests, link)
		if (test->index == req->test && test->is_client == !req->server && test->tally)
			return test;
	return NULL;
}

/* Returns the number of destinations with separate tallies. */
static u32 nr_pairs(const struct lst_test *test)
{
	u32 nr = test->drill ? test->drill->nr_dests : test->nr_dests;

	return nr == 1 || (test->drill && test->drill->pair) ? nr : 0;
}

/* Returns the tally of all destinations (@dest is 0) or of one destination. NULL: there is none. */
static const struct lst_tally *drill_tally_at(const struct lst_test *test, u32 dest)
{
	if (dest > nr_pairs(test))
		return NULL;
	return dest && test->drill && test->drill->pair ? &test->drill->pair[dest - 1] :
	       test->tally;
}

static struct lnet_nid dest_nid(const struct lst_test *test, u32 dest)
{
	if (!dest)
		return LNET_NID_ANY;
	return test->drill ? test->drill->dest[dest - 1].id.nid : test->units[0].dest.nid;
}

static void numbers_write(u8 *buf, const struct lst_drill *drill)
{
	const struct lst_flow *to = &drill->to_node, *from = &drill->from_node;
	const struct lst_finding *f = &drill->finding;
	const u64 numbers[] = { drill->nr_asked, drill->max_asked, drill->nr_served, to->bytes,
				to->first_ns, to->last_ns, from->bytes, from->first_ns,
				from->last_ns, f->nr, f->bad.off, f->bad.len, f->seq };
	u32 i;

	BUILD_BUG_ON(sizeof(numbers) != LST_TALLY_NUMBERS);
	for (i = 0; i < ARRAY_SIZE(numbers); i++, buf += 8)
		put_unaligned_le64(numbers[i], buf);
	memcpy(buf, &f->from, sizeof(f->from));
	memcpy(buf + sizeof(f->from), &f->to, sizeof(f->to));
}

static void test_write(u8 *buf, const struct lst_test *test, u32 dest)
{
	struct lnet_nid nid = dest_nid(test, dest);

	lst_tally_encode(drill_tally_at(test, dest), buf);
	if (test->drill) {
		numbers_write(buf + LST_TALLY_WIRE, test->drill);
		lst_rails_encode(test->drill, buf + LST_TALLY_RAILS);
	}
	memcpy(buf + LST_TALLY_WIRE + LST_TALLY_NUMBERS + 2 * sizeof(nid), &nid, sizeof(nid));
}

/* Reads the state of the test's rails from LNet. Calls the API without the lock. */
static void rails_look(struct lst_call *call)
{
	struct lst *st = call->st;
	struct lst_rail_look look;
	struct lst_test *test;
	u32 i;

	for (i = 0; i < LST_RAILS_MAX; i++) {
		spin_lock(&st->lock);
		test = test_find_locked(call);
		if (!test || !test->drill || i >= test->drill->nr_rails) {
			spin_unlock(&st->lock);
			return;
		}
		look.here = test->drill->rail[i].here;
		look.there = test->drill->rail[i].there;
		spin_unlock(&st->lock);
		lst_rail_look(st, &look);
		spin_lock(&st->lock);
		test = test_find_locked(call);
		if (test && test->drill && i < test->drill->nr_rails)
			lst_rail_looked_locked(&test->drill->rail[i], &look);
		spin_unlock(&st->lock);
	}
}

static int tally_write(struct lst_call *call)
{
	u32 dest = call->req.tally_req.dest;
	const struct lst_test *test;
	int rc = -ENOENT;

	memset(call->bulk, 0, LST_TALLY_BYTES);
	rails_look(call);
	spin_lock(&call->st->lock);
	test = test_find_locked(call);
	if (test && drill_tally_at(test, dest)) {
		test_write(call->bulk, test, dest);
		rc = 0;
	}
	spin_unlock(&call->st->lock);
	return rc;
}

enum lst_verdict lst_tally_serve_locked(struct lst_call *call)
{
	const struct lst_tally_req *req = &call->req.tally_req;
	struct lst_tally_rpy *rpy = &call->rpy.tally_rpy;
	const struct lst_test *test;

	rpy->got_ns = lst_now(call->st);
	rpy->status = lst_session_check_locked(call, &req->sid);
	test = rpy->status ? NULL : test_find_locked(call);
	if (!rpy->status && (!test || !drill_tally_at(test, req->dest)))
		rpy->status = ENOENT;
	rpy->nr_dests = test ? nr_pairs(test) : 0;
	rpy->sid = lst_session_sid_locked(call->st);
	if (rpy->status)
		return LST_REPLY;
	call->bulkid = req->bulkid;
	call->bulk_len = LST_TALLY_BYTES;
	call->bulk_prepare = tally_write;
	return LST_BULK;
}
