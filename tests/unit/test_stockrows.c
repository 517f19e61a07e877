/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The transition tables of stock LNet as rows: a state, an event, the result. If
 * a node of this project differs by design (manual/deviations.md), the row states the difference,
 * and the test checks it. test_md.c has the table of an MD's life.
 */
#include "rails.h"
#include "path/path.h"
#include "router/router.h"

#define T (5 * NSEC_PER_SEC)

static struct lnet *node(void)
{
	return rails.node[0].ln;
}

static void tune(const char *name, u64 value)
{
	UNIT_EQUAL(lnet_tunable_set(node(), name, value), 0, name);
}

/* ---- 15.1: a request of our own -------------------------------------------------------------- */

enum event { NOTHING, TIME, LET_GO, ANSWER, NO_PEER, UNLINK, SHUTDOWN, NO_NI, ONE_TRY };

static const struct request_row {
	const char *row;
	bool one_rail, stranger, full;	/* full: another has the only credit */
	int type;			/* of the messages with @fate */
	enum rails_fate fate;
	enum lnet_outcome how;
	int count;
	enum event event;
	int status;			/* in the end */
	unsigned int least, most;	/* attempts */
	enum { SAME, FELL } health;	/* of our interface 0 */
} requests[] = {
	{ "new, selection error: done(err), not sent", .event = NO_NI, .status = -EHOSTUNREACH },
	{ "new, discovery needed: parked. Here: with its deadline", .stranger = true,
	  .type = RAILS_CORE, .fate = FATE_KEEP, .count = -1, .event = UNLINK,
	  .status = -ETIMEDOUT },
	{ "parked, discovery ok: new", .stranger = true, .type = RAILS_CORE, .fate = FATE_DELAY,
	  .count = -1, .event = ANSWER, .least = 1, .most = 1 },
	{ "parked, discovery err: done(err). Here: to the NID given, unmarked", .stranger = true,
	  .type = RAILS_CORE, .fate = FATE_LOSE, .count = -1, .event = TIME, .least = 1,
	  .most = 1 },
	{ "parked, peer destroyed: sent again by discovery. Here: done(err)", .stranger = true,
	  .type = RAILS_CORE, .fate = FATE_LOSE, .count = -1, .event = NO_PEER,
	  .status = -EHOSTUNREACH },
	{ "committed, credits ok: in LND; finalize 0: done(0)", .type = RAILS_PUT, .least = 1,
	  .most = 1 },
	{ "committed, no credit: queued; woken, ok: in LND", .one_rail = true, .full = true,
	  .event = LET_GO, .least = 1, .most = 1 },
	{ "queued, past deadline: done(-ETIMEDOUT), no change of health", .one_rail = true,
	  .full = true, .event = TIME, .status = -ETIMEDOUT },
	{ "queued, MD aborted: done(-ECANCELED). Here: -ETIMEDOUT, as all of an MD's", .full = true,
	  .one_rail = true, .event = UNLINK, .status = -ETIMEDOUT },
	{ "in LND, send() < 0: never resent. Here: by another rail", .type = RAILS_PUT,
	  .fate = FATE_REFUSE, .how = LNET_LOCAL_DROPPED, .count = 1, .event = TIME, .most = 2 },
	{ "in LND, finalize err, retryable: again, health falls", .type = RAILS_PUT,
	  .fate = FATE_FAIL, .how = LNET_LOCAL_DROPPED, .count = 1, .event = TIME, .least = 2,
	  .most = 2, .health = FELL },
	{ "in LND, finalize err otherwise (R = 0): done(err)", .type = RAILS_PUT,
	  .fate = FATE_FAIL, .how = LNET_LOCAL_DROPPED, .count = 1, .event = ONE_TRY,
	  .status = -ECANCELED, .least = 1, .most = 1, .health = FELL },
	{ "to be resent, its time comes: new. Here: not for a single rail alone", .one_rail = true,
	  .type = RAILS_PUT, .fate = FATE_FAIL, .how = LNET_LOCAL_DROPPED, .count = 1,
	  .event = TIME, .least = 2, .most = 2, .health = FELL },
	{ "to be resent, shutdown: done(-ESHUTDOWN)", .one_rail = true, .type = RAILS_PUT,
	  .fate = FATE_FAIL, .how = LNET_LOCAL_DROPPED, .count = -1, .event = SHUTDOWN,
	  .status = -ESHUTDOWN, .least = 1, .most = 2 },	/* a ping found the path healthy */
};

static u64 health(void)
{
	struct lnet_ni *ni = rails_ni(0, 0);

	return (u64)atomic_read(&ni->health);
}

static void happen(const struct request_row *r)
{
	struct lnet_nid nid = rails_nid(1, 0);

	switch (r->event) {
	case LET_GO:
		rails_give(LNET_OK);
		break;
	case ANSWER:
		rails_clear();
		rails_release();
		break;
	case NO_PEER:
		UNIT_EQUAL(lnet_peer_del(node(), &nid, NULL, 0), 0, r->row);
		break;
	case UNLINK:
		UNIT_EQUAL(lnet_md_unlink(node(), rails.node[0].md), 0, r->row);
		break;
	case SHUTDOWN:
		rails_node_stop(0);
		return;
	default:
		break;
	}
	rails_run(r->event == TIME ? 2 * T : 20 * RAILS_MS);
}

static void prepare(const struct request_row *r)
{
	struct rails_cfg cfg = { .one_rail = r->one_rail, .quiet = r->stranger,
				 .peer_credits = r->full ? 1 : 0 };
	struct lnet_nid nid[2];

	rails_begin(&cfg);
	nid[0] = rails_nid(0, 0);
	nid[1] = rails_nid(0, 1);
	if (r->event == NO_NI)
		UNIT_EQUAL(lnet_ni_del(node(), &nid[0]) + lnet_ni_del(node(), &nid[1]), 0, r->row);
	if (r->event == ONE_TRY)
		tune("retry_count", 0);
	if (r->full) {
		rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 1);
		rails_put(0, 1, 8, LNET_ACK, 0);
	} else {
		rails_on(0, -1, r->type, r->fate, r->how, r->count);
	}
}

/* A request has one final event, after its credits are returned: rails_end() checks this. */
static void test_request(void)
{
	const struct request_row *r;
	struct rails_req *req;
	unsigned int i, tag;
	u64 before;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		r = &requests[i];
		prepare(r);
		before = r->event == NO_NI ? 0 : health();
		/* it ends before the one that has the credit */
		tag = rails_put(0, 1, 64, LNET_ACK,
				r->full && r->event == TIME ? NSEC_PER_SEC : 0);
		req = &rails.req[tag];
		rails_run(RAILS_MS);
		if (r->stranger || r->full)
			UNIT_EQUAL(req->nr_attempts + rails_done(tag), 0, r->row);
		happen(r);
		UNIT_EQUAL(rails_done(tag), 1, r->row);
		UNIT_EQUAL(req->status, r->status, r->row);
		UNIT_EQUAL(req->nr_effects, !r->status, r->row);
		UNIT_EQUAL(req->nr_attempts >= r->least && req->nr_attempts <= r->most, true,
			   r->row);
		if (r->event != NO_NI && r->event != SHUTDOWN && r->health == FELL)
			UNIT_EQUAL(rails_stat(0, LNET_C_local_dropped_count) > 0, true, r->row);
		else if (r->event != NO_NI && r->event != SHUTDOWN && !r->fate)
			UNIT_EQUAL(health(), before, r->row);
		rails_end();
	}
}

/* ---- 15.4: an interface of our own ----------------------------------------------------------- */

static void goes_by(unsigned int rail, const char *row)
{
	unsigned int i, tag;

	for (i = 0; i < 8; i++) {
		tag = rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(20 * RAILS_MS);
		UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, row);
		UNIT_EQUAL(rails.req[tag].on_rail[!rail], 0, row);
	}
}

/* Row "failure". @sensitivity: S. Pings have no effect meanwhile, so nothing heals. */
static void fails(u64 sensitivity)
{
	tune("health_sensitivity", sensitivity);
	rails_on(0, 0, RAILS_CORE, FATE_FAIL, LNET_CANCELED, -1);
	rails_on(0, 0, RAILS_PUT, FATE_FAIL, LNET_LOCAL_DROPPED, 1);
	rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(RAILS_MS);
	rails_clear();
}

/*
 * Rows "failure" and "success". Here, a success adds `health_step'. The interface is advertised as
 * up after 16 successes in a row, not at 1000. Other nodes are notified of each change of the
 * status.
 */
static void test_interface_health(void)
{
	const struct rails_cfg one = { .one_rail = true };
	struct lnet_ni *ni;
	unsigned int i;
	u32 seq;

	rails_begin(&one);
	ni = rails_ni(0, 0);
	seq = node()->ping_seq;
	fails(100);
	UNIT_EQUAL(health(), LNET_HEALTH_MAX - 100, "failure: H - S");
	CU_ASSERT(rails_path(0, 1, 0)->recovering);	/* the recovery queue: of paths */
	UNIT_EQUAL(lnet_ni_up(ni), true, "failure: not DOWN before 0");
	UNIT_EQUAL(node()->ping_seq, seq, "failure: nor announced");
	fails(LNET_HEALTH_MAX);
	UNIT_EQUAL(health(), 0, "failure: at least 0");
	UNIT_EQUAL(lnet_ni_up(ni), false, "failure: DOWN at 0");
	UNIT_EQUAL(node()->ping_seq, seq + 1, "failure: announced");
	for (i = 0; i < 400 && health() < 15; i++) {
		UNIT_EQUAL(lnet_ni_up(ni), false, "success: not UP at once");
		rails_run(RAILS_MS / 4);
	}
	for (i = 0; i < 400 && !lnet_ni_up(ni); i++)
		rails_run(RAILS_MS / 4);
	UNIT_EQUAL(lnet_ni_up(ni), true, "success: UP");
	CU_ASSERT(health() >= 16);
	UNIT_EQUAL(node()->ping_seq, seq + 2, "success: announced");
	rails_run(10 * NSEC_PER_SEC);
	UNIT_EQUAL(health(), LNET_HEALTH_MAX, "success: up to 1000, no more");
	rails_end();
}

static void test_interface(void)
{
	struct lnet_nid nid;
	struct lnet_ni *ni;
	u32 seq;

	rails_begin(NULL);
	nid = rails_nid(0, 0);
	ni = rails_ni(0, 0);
	UNIT_EQUAL(ni->state, NI_ACTIVE, "started: ACTIVE");
	UNIT_EQUAL(health(), LNET_HEALTH_MAX, "started: full health");
	UNIT_EQUAL(ni->sh[0].credits, ni->credits, "started: all credits");
	seq = node()->ping_seq;
	rails_link(0, 0, false);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(ni->state, NI_ACTIVE, "fatal: still ACTIVE");
	UNIT_EQUAL(node()->ping_seq, seq + 1, "fatal: the ping info is made anew");
	goes_by(1, "fatal: not chosen");
	rails_link(0, 0, true);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(node()->ping_seq, seq + 2, "not fatal: the ping info is made anew");
	lnet_ni_get(ni);
	UNIT_EQUAL(lnet_ni_del(node(), &nid), 0, "delete");
	UNIT_EQUAL(ni->state, NI_GONE, "delete: gone");
	UNIT_EQUAL(node()->ping_seq, seq + 3, "delete: the ping info is made anew");
	lnet_ni_put(ni);
	goes_by(1, "delete: the others do its work");
	rails_end();
}

/* ---- 15.5: routing --------------------------------------------------------------------------- */

/* Events: on, off, and the time in which all other nodes check the router, or are notified. */
static const struct routing_row {
	const char *row, *events;
	enum lnet_router_state state;
	int status;			/* of the last event */
	bool forwards, says;
} routings[] = {
	{ "an end node", "", ROUTER_DISABLED, 0, false, false },
	{ "DISABLED, on: STARTING, forwards, says no", "+", ROUTER_STARTING, 0, true, false },
	{ "STARTING, on: as it was", "++", ROUTER_STARTING, 0, true, false },
	{ "STARTING, 110 s: ENABLED", "+t", ROUTER_ENABLED, 0, true, true },
	{ "STARTING, off: STOPPING", "+-", ROUTER_STOPPING, 0, true, false },
	{ "ENABLED, off: STOPPING, forwards, says no", "+t-", ROUTER_STOPPING, 0, true, false },
	{ "STOPPING, on: -EBUSY", "+t-+", ROUTER_STOPPING, -EBUSY, true, false },
	{ "STOPPING, off: as it was", "+t--", ROUTER_STOPPING, 0, true, false },
	{ "STOPPING, idle: DISABLED", "+t-t", ROUTER_DISABLED, 0, false, false },
	{ "DISABLED, on: STARTING", "+t-t+", ROUTER_STARTING, 0, true, false },
};

static void test_routing(void)
{
	const struct rails_cfg cfg = { .quiet = true, .nr_nodes = 2 };
	const char *e;
	unsigned int i;
	int status;

	for (i = 0; i < ARRAY_SIZE(routings); i++) {
		const struct routing_row *r = &routings[i];

		rails_begin(&cfg);
		status = 0;
		for (e = r->events; *e; e++) {
			if (*e == 't')
				rails_run(112 * NSEC_PER_SEC);
			else
				status = lnet_router_enable(node(), *e == '+');
		}
		UNIT_EQUAL(status, r->status, r->row);
		UNIT_EQUAL(node()->router ? node()->router->state : ROUTER_DISABLED, r->state,
			   r->row);
		UNIT_EQUAL(lnet_router_forwards(node()), r->forwards, r->row);
		UNIT_EQUAL(lnet_router_announced(node()), r->says, r->row);
		rails_end();
	}
}

UNIT_SUITE(stockrows, { "behaviour.md 15.1: a request, row by row", test_request },
	   { "behaviour.md 15.4: an interface, row by row", test_interface },
	   { "behaviour.md 15.4: its health", test_interface_health },
	   { "behaviour.md 15.5: routing, row by row", test_routing })
