/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Control of a node: leases, epochs, takeovers, and requests that are late. */
#include "st_world.h"

#define LEASE	10U

static const struct lst_sid first = { 0x000200000a000001ULL, 4711 };
static const struct lst_sid second = { 0x000200000a000001ULL, 4712 };
static struct lst_msg rpy;

/* A console that supports epochs sends a request to node 1; returns the status of the reply. */
static int make(const struct lst_sid *sid, u32 force, u64 epoch, u32 lease)
{
	struct lst_msg req = { .type = LST_MAKE_SESSION_REQ, .feats = LST_FEATS,
			       .make_session_req = { .sid = *sid, .force = force, .epoch = epoch,
						     .lease = lease, .name = "lab" } };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

static int stat_of(const struct lst_sid *sid)
{
	struct lst_msg req = { .type = LST_QUERY_STAT_REQ, .feats = LST_FEATS,
			       .query_stat_req.sid = *sid };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

static int take_back(const struct lst_sid *sid)
{
	struct lst_msg req = { .type = LST_REMOVE_SESSION_REQ, .feats = LST_FEATS,
			       .remove_session_req.sid = *sid };
	int rc = st_ask(0, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

static u64 epoch_now(void)
{
	return st_of(1)->epoch;
}

static bool is_held_by(const struct lst_sid *sid)
{
	const struct lst_session *s = st_of(1)->session;

	return s && s->state == LEASE_HELD && lst_sid_same(&s->sid, sid);
}

static void an_epoch_each(void)
{
	u64 before;

	st_begin(2);
	before = epoch_now();
	UNIT_EQUAL(make(&first, 0, 0, LEASE), 0, "made");
	UNIT_EQUAL(epoch_now(), before + 1, "a new one");
	UNIT_EQUAL(rpy.make_session_rpy.epoch, before + 1, "told");
	UNIT_EQUAL(rpy.make_session_rpy.timeout, LEASE, "for how long");
	UNIT_EQUAL(make(&first, 0, 0, LEASE), 0, "again");
	UNIT_EQUAL(epoch_now(), before + 1, "is the same");
	UNIT_EQUAL(make(&second, 0, epoch_now(), LEASE), EBUSY, "only by force");
	UNIT_EQUAL(make(&second, 1, epoch_now(), LEASE), 0, "by force");
	UNIT_EQUAL(epoch_now(), before + 2, "a new one");
	UNIT_EQUAL(is_held_by(&second), true, "the other's");
	st_end();
}

/* A request without an epoch, or with an old one, was sent before the last takeover. */
static void late_force_changes_nothing(void)
{
	u64 seen;

	st_begin(2);
	make(&first, 0, 0, LEASE);
	seen = epoch_now();
	UNIT_EQUAL(make(&second, 1, 0, LEASE), EBUSY, "nothing seen");
	UNIT_EQUAL(rpy.make_session_rpy.epoch, seen, "but told");
	UNIT_EQUAL(make(&second, 1, seen, LEASE), 0, "seen");
	UNIT_EQUAL(make(&first, 1, seen, LEASE), ESTALE, "seen before it was lost");
	UNIT_EQUAL(make(&first, 1, 0, LEASE), ESTALE, "nothing seen");
	UNIT_EQUAL(is_held_by(&second), true, "unchanged");
	UNIT_EQUAL(take_back(&second), 0, "given back");
	UNIT_EQUAL(make(&first, 0, 0, LEASE), ESTALE, "sent when it was lost");
	UNIT_EQUAL(st_of(1)->session == NULL, true, "free");
	UNIT_EQUAL(make(&first, 0, epoch_now(), LEASE), 0, "knows of all");
	st_end();
}

static void who_lost_is_refused(void)
{
	st_begin(2);
	make(&first, 0, 0, LEASE);
	make(&second, 1, epoch_now(), LEASE);
	UNIT_EQUAL(stat_of(&first), ESTALE, "counters");
	UNIT_EQUAL(lst_sid_same(&rpy.query_stat_rpy.sid, &second), true, "by whom");
	UNIT_EQUAL(st_batch(1, LST_BATCH_RUN, 0, 0), ESTALE, "run");
	UNIT_EQUAL(st_test(1, 0, 1, 1, 0, 0, 0), ESTALE, "a test");
	UNIT_EQUAL(take_back(&first), ESTALE, "the end");
	UNIT_EQUAL(stat_of(&second), 0, "not the other");
	UNIT_EQUAL(take_back(&second), 0, "not the other");
	UNIT_EQUAL(stat_of(&first), ESTALE, "nor later");
	UNIT_EQUAL(stat_of(&second), ESRCH, "given back, not lost");
	st_end();
}

/* Stock consoles send neither lease nor epoch, and get the replies that stock nodes send. */
static void stock_is_stock(void)
{
	const struct lst_sid other = { 0x000200000a000009ULL, 1 };

	st_begin(2);
	UNIT_EQUAL(make(&other, 0, 0, 0), 0, "made");
	UNIT_EQUAL(rpy.make_session_rpy.timeout, 100, "its lease");
	UNIT_EQUAL(make(&first, 1, epoch_now(), LEASE), 0, "taken over");
	UNIT_EQUAL(stat_of(&other), ESRCH, "as stock says");
	UNIT_EQUAL(make(&other, 0, 0, 0), EBUSY, "as stock says");
	UNIT_EQUAL(make(&other, 1, 0, 0), 0, "as stock does");
	UNIT_EQUAL(is_held_by(&other), true, "back");
	UNIT_EQUAL(stat_of(&first), ESTALE, "who knows epochs is told");
	st_end();
}

static void many_takeovers(void)
{
	struct lst_sid sid = first;
	unsigned int i;

	st_begin(2);
	for (i = 0; i < 3 * LST_FENCED_MAX; i++) {
		sid.stamp = 100 + i;
		UNIT_EQUAL(make(&sid, 1, epoch_now(), LEASE), 0, "taken over");
	}
	sid.stamp = 100 + i - 2;
	UNIT_EQUAL(stat_of(&sid), ESTALE, "the last but one is known");
	sid.stamp = 100 + i - 1 - LST_FENCED_MAX;
	UNIT_EQUAL(stat_of(&sid), ESTALE, "the oldest that is known");
	sid.stamp--;
	UNIT_EQUAL(stat_of(&sid), ESRCH, "an older one is a stranger");
	sid.stamp = 100 + i - 1;
	UNIT_EQUAL(is_held_by(&sid), true, "the last one");
	st_end();
}

static void a_lease_ends(void)
{
	st_begin(3);
	make(&first, 0, 0, LEASE);
	st_run((LEASE - 1) * NSEC_PER_SEC);
	UNIT_EQUAL(stat_of(&first), 0, "in time");
	st_run((LEASE - 1) * NSEC_PER_SEC);
	UNIT_EQUAL(is_held_by(&first), true, "which was a sign of life");
	st_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(st_of(1)->session == NULL, true, "over");
	UNIT_EQUAL(stat_of(&first), ESRCH, "nobody took it");
	UNIT_EQUAL(make(&first, 0, 0, LEASE), 0, "and it may be had again");
	take_back(&first);
	make(&first, 0, 0, 1);
	UNIT_EQUAL(rpy.make_session_rpy.timeout, LST_LEASE_MIN, "not less");
	take_back(&first);
	make(&first, 0, 0, ~0U);
	UNIT_EQUAL(rpy.make_session_rpy.timeout, LST_LEASE_MAX, "not more");
	st_end();
}

/* Another console takes over the node while a test is added and its destinations are fetched. */
static void taken_meanwhile(void)
{
	struct lnet_nid nid = rails_nid(0, 0);
	struct lst_call *call;
	struct lst *st;

	st_begin(2);
	make(&first, 0, 0, LEASE);
	st = st_of(1);
	call = kzalloc(sizeof(*call), GFP_KERNEL);
	call->st = st;
	call->req = (struct lst_msg){ .type = LST_TEST_REQ, .feats = LST_FEATS };
	call->req.test_req = (struct lst_test_req){ .sid = first, .bid = 1, .loop = 1,
						    .service = LST_SERVICE_PING, .concur = 1,
						    .nr_dests = 1, .is_client = 1 };
	spin_lock(&st->lock);
	UNIT_EQUAL(lst_batch_serve_locked(call), LST_BULK, "it fetches");
	spin_unlock(&st->lock);
	make(&second, 1, epoch_now(), LEASE);
	call->bulk = kvcalloc(1, LST_DEST_SIZE, GFP_KERNEL);
	lst_dest_encode(call->bulk, 0, &(struct lst_dest){ lnet_nid_to_nid4(&nid), LNET_PID });
	call->bulk_done(call);
	UNIT_EQUAL(call->rpy.test_rpy.status, ESTALE, "too late");
	UNIT_EQUAL(list_empty(&st->session->batches), true, "nothing was added");
	kvfree(call->bulk);
	kfree(call);
	st_end();
}

/* The same request, but from node @from. */
static int make_from(unsigned int from, const struct lst_sid *sid, u32 force)
{
	struct lst_msg req = { .type = LST_MAKE_SESSION_REQ, .feats = LST_FEATS,
			       .make_session_req = { .sid = *sid, .force = force,
						     .epoch = epoch_now(), .lease = LEASE,
						     .name = "lab" } };
	int rc = st_ask(from, 1, &req, &rpy);

	return rc ? rc : (int)rpy.status;
}

/* A console may write any NID in the session ID, so the NID that sent the request decides. */
static void force_needs_the_console_or_silence(void)
{
	st_begin(3);
	UNIT_EQUAL(make(&first, 0, 0, LEASE), 0, "made");
	UNIT_EQUAL(make_from(2, &second, 1), EBUSY, "another node");
	UNIT_EQUAL(is_held_by(&first), true, "unchanged");
	st_run((LEASE - 3) * NSEC_PER_SEC);
	UNIT_EQUAL(make_from(2, &second, 1), EBUSY, "its console may live");
	st_run(NSEC_PER_SEC);
	UNIT_EQUAL(make_from(2, &second, 0), EBUSY, "only by force");
	UNIT_EQUAL(make_from(2, &second, 1), 0, "its console is silent");
	UNIT_EQUAL(is_held_by(&second), true, "taken");
	UNIT_EQUAL(make_from(0, &first, 1), EBUSY, "and its console lives");
	UNIT_EQUAL(make_from(2, &(struct lst_sid){ second.nid, 1 }, 1), 0, "the same console");
	st_end();
}

/*
 * Node @from sends a request of @type to node 1, whose list of consoles has only node 2. Returns
 * the status of the reply; -1: none.
 */
static int ask(unsigned int from, u32 type)
{
	struct lst_msg req = { .type = type, .feats = LST_FEATS };

	if (type == LST_MAKE_SESSION_REQ)
		req.make_session_req.sid = first;
	if (type == LST_BRW_REQ)
		req.brw_req = (struct lst_brw_req){ .rw = LST_BRW_READ, .len = 4096 };
	return st_ask(from, 1, &req, &rpy) ? -1 : (int)rpy.status;
}

static void only_listed_consoles_lead(void)
{
	static const u32 types[] = { LST_MAKE_SESSION_REQ, LST_REMOVE_SESSION_REQ, LST_DEBUG_REQ,
				     LST_BATCH_REQ, LST_TEST_REQ, LST_QUERY_STAT_REQ, LST_ADD_REQ,
				     LST_TALLY_REQ, LST_START_REQ, LST_TREE_ASK_REQ,
				     LST_NETTEST_REQ, LST_BRW_REQ };
	struct lnet_nidlist list;
	unsigned int i;

	st_begin(3);
	UNIT_EQUAL(lnet_nidlist_parse(&list, "10.0.0.[3-9]@tcp"), 0, "a list");
	st_of(1)->consoles = &list;
	for (i = 0; i < ARRAY_SIZE(types); i++)
		UNIT_EQUAL(ask(0, types[i]), EACCES, "a node that is not listed");
	UNIT_EQUAL(st_of(1)->c[LST_C_rpcs_rejected], ARRAY_SIZE(types), "counted");
	UNIT_EQUAL(st_of(1)->session == NULL, true, "no session");
	UNIT_EQUAL(ask(0, LST_MAKE_SESSION_REQ), EACCES, "again");
	UNIT_EQUAL(rpy.make_session_rpy.sid.nid == LST_NO_NID, true, "no session is named");
	UNIT_EQUAL(make_from(2, &first, 0), 0, "a node that is listed");
	UNIT_EQUAL(stat_of(&first), EACCES, "in a session still");
	UNIT_EQUAL(ask(0, LST_BRW_REQ) != EACCES, true, "tests come from any node of it");
	st_end();
	lnet_nidlist_free(&list);

	st_begin(3);
	UNIT_EQUAL(lnet_nidlist_parse(&list, "10.9.9.9@tcp"), 0, "a list");
	st_of(1)->consoles = &list;
	UNIT_EQUAL(make_from(1, &first, 0), 0, "the node itself");
	st_end();
	lnet_nidlist_free(&list);
}

UNIT_SUITE(stlease,
	   { "force needs the same console, or an unresponsive one",
	     force_needs_the_console_or_silence },
	   { "only consoles of the list lead a node", only_listed_consoles_lead },
	   { "each session of a node has an epoch", an_epoch_each },
	   { "force that comes late changes nothing", late_force_changes_nothing },
	   { "r.c2.net.self-test.session.node-exclusivity: who lost a node is refused",
	     who_lost_is_refused },
	   { "stock's consoles see stock", stock_is_stock },
	   { "of many takeovers the last are known", many_takeovers },
	   { "a node frees itself when its lease is over", a_lease_ends },
	   { "a takeover while a test is being added", taken_meanwhile })
