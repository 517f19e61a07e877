/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/memory/event.c: which passes run handlers, for how many events, one at a time. */
#include "md_world.h"
#include "base/base.h"

/* ---- delivery -------------------------------------------------------------------------------- */

static int nr_handled;

static void counting_handler(const struct lnet_event *ev)
{
	nr_handled++;
}

static void test_passes(void)
{
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .handler = counting_handler };
	struct lnet_md *md;
	lnet_md_t h;
	struct mw w;
	int i, err;

	mw_init(&w);
	nr_handled = 0;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h), 0, "bind");
	md = md_use_one(&w.ln, h, &err);
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(nr_handled, 1, "a driver's pass runs the handler");
	UNIT_EQUAL(w.nr_kicks, 0, "and wakes nobody");
	mw_post(&w, LNET_PASS_CALL, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(nr_handled, 1, "a caller's does not");
	UNIT_EQUAL(w.nr_kicks, 1, "but wakes a worker");
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(nr_handled, 1, "who is the one to deliver");
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 3, "all that came meanwhile");
	for (i = 0; i < 3 * LNET_EVENTS_PER_PASS / 2; i++)
		mw_post(&w, LNET_PASS_CALL, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(w.nr_kicks, 2, "one wake-up for many events");
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 3 + LNET_EVENTS_PER_PASS, "a pass has a budget");
	UNIT_EQUAL(w.nr_kicks, 3, "the rest is for another");
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 3 + 3 * LNET_EVENTS_PER_PASS / 2, "which does it");
	UNIT_EQUAL(w.nr_kicks, 3, "to the end");
	mw_fini(&w);
}

/* A handler makes calls: their events need no worker, and follow the handler, once each. */
static struct {
	struct mw *w;
	struct lnet_md *other;
	int calls, inside;
} calling;

static void calling_handler(const struct lnet_event *ev)
{
	calling.inside++;
	if (calling.calls) {
		calling.calls--;
		mw_post(calling.w, LNET_PASS_CALL, calling.other, LNET_EVENT_SEND, 0, false);
	}
	calling.inside--;
}

static void other_handler(const struct lnet_event *ev)
{
	CU_ASSERT_EQUAL(calling.inside, 0);
	calling_handler(ev);
	nr_handled++;
}

static void test_calls(void)
{
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .handler = calling_handler };
	struct lnet_md *md, *third;
	lnet_md_t h;
	struct mw w;
	int err;

	mw_init(&w);
	nr_handled = 0;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h), 0, "bind");
	md = md_use_one(&w.ln, h, &err);
	cfg.handler = other_handler;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h), 0, "the other");
	third = md_use_one(&w.ln, h, &err);
	calling.w = &w;
	calling.other = third;
	calling.calls = 1;
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(nr_handled, 1, "in the pass that runs the handler");
	UNIT_EQUAL(w.nr_kicks, 0, "without a worker");
	calling.calls = 3 * LNET_EVENTS_PER_PASS / 2;
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, false);
	UNIT_EQUAL(nr_handled, LNET_EVENTS_PER_PASS, "as many as a pass may");
	UNIT_EQUAL(w.nr_kicks, 1, "the rest is a worker's");
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 1 + 3 * LNET_EVENTS_PER_PASS / 2, "to the end");
	mw_fini(&w);
}

static struct mw *slow_world;

static void slow_handler(const struct lnet_event *ev)
{
	nr_handled++;
	slow_world->now_ns += NSEC_PER_MSEC / 2;
}

/* Each handler takes 0.5 ms: a delivery ends after one batch of 16, not after 128 events. */
static void test_slow(void)
{
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .handler = slow_handler };
	unsigned int i, visits = 0;
	struct lnet_md *md;
	lnet_md_t h;
	struct mw w;
	int err;

	mw_init(&w);
	nr_handled = 0;
	slow_world = &w;
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_RETAIN, &h), 0, "bind");
	md = md_use_one(&w.ln, h, &err);
	for (i = 0; i < 100; i++)
		mw_post(&w, LNET_PASS_CALL, md, LNET_EVENT_SEND, 0, false);
	mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 16, "events until sockets and timers have their turn");
	UNIT_EQUAL(w.nr_kicks, 2, "the worker is kicked for the other events");
	while (visits++ < 6)
		mw_visit(&w, LNET_PASS_WORKER);
	UNIT_EQUAL(nr_handled, 100, "all events after seven visits");
	mw_fini(&w);
}

static void test_discarded(void)
{
	struct lnet_md_cfg cfg = { .threshold = 1 };
	struct lnet_md *md;
	lnet_md_t h;
	struct mw w;
	int err;

	mw_init(&w);
	UNIT_EQUAL(lnet_md_bind(&w.ln, &cfg, LNET_UNLINK, &h), 0, "bind");
	md = md_use_one(&w.ln, h, &err);
	mw_post(&w, LNET_PASS_DRIVER, md, LNET_EVENT_SEND, 0, true);
	CU_ASSERT_PTR_NULL(mw_md(&w, h));
	UNIT_EQUAL(w.nr_evts, 0, "no handler: the event goes");
	mw_fini(&w);
}

/* ---- two threads ----------------------------------------------------------------------------- */

#define PER_THREAD 4000
static struct race {
	struct mw w;
	struct lnet_md *md;
	lnet_md_t h;
	int inside, overlaps, disorder, after_last, lasts;
	u64 next[2];
} race;

/* The events of a thread arrive in order, handlers never run in parallel, none after the last. */
static void race_handler(const struct lnet_event *ev)
{
	race.overlaps += __atomic_exchange_n(&race.inside, 1, __ATOMIC_RELAXED);
	race.after_last += race.lasts;
	if (ev->kind == LNET_EVENT_SEND)
		race.disorder += ev->hdr_data != race.next[ev->match_bits]++;
	race.lasts += ev->unlinked;
	__atomic_store_n(&race.inside, 0, __ATOMIC_RELAXED);
}

static void *racer(void *arg)
{
	u64 who = arg != NULL;
	u64 i;

	for (i = 0; i < PER_THREAD; i++) {
		struct lnet_evt *e = lnet_evt_new();
		struct lnet_pass p;

		e->ev.kind = LNET_EVENT_SEND;
		e->ev.match_bits = who;
		e->ev.hdr_data = i;
		lnet_pass_begin(&p, &race.w.ln, i % 3 ? LNET_PASS_DRIVER : LNET_PASS_CALL);
		spin_lock(race.md->lock);
		lnet_md_take(race.md);
		spin_unlock(race.md->lock);
		lnet_md_post(&p, race.md, e, true);
		lnet_pass_end(&p);
		if (i % 5 == 0)
			mw_visit(&race.w, LNET_PASS_WORKER);
		if (who && i == PER_THREAD / 2)
			lnet_md_unlink(&race.w.ln, race.h);
	}
	return NULL;
}

static void test_threads(void)
{
	struct lnet_md_cfg cfg = { .threshold = LNET_THRESHOLD_INF, .handler = race_handler };
	struct lnet_pass p;
	pthread_t thread;
	int err;

	memset(&race, 0, sizeof(race));
	mw_init(&race.w);
	UNIT_EQUAL(lnet_md_bind(&race.w.ln, &cfg, LNET_RETAIN, &race.h), 0, "bind");
	race.md = md_use_one(&race.w.ln, race.h, &err);
	pthread_create(&thread, NULL, racer, NULL);
	racer(&race);
	pthread_join(thread, NULL);
	UNIT_EQUAL(race.lasts, 0, "in use");
	lnet_pass_begin(&p, &race.w.ln, LNET_PASS_DRIVER);
	lnet_md_unuse(&p, race.md);
	lnet_pass_end(&p);
	while (!list_empty(&race.w.shard.ready))
		mw_visit(&race.w, LNET_PASS_WORKER);
	UNIT_EQUAL(race.next[0], PER_THREAD, "all of one thread");
	UNIT_EQUAL(race.next[1], PER_THREAD, "all of the other");
	UNIT_EQUAL(race.overlaps, 0, "one handler at a time");
	UNIT_EQUAL(race.disorder, 0, "in order");
	UNIT_EQUAL(race.lasts, 1, "one last event");
	UNIT_EQUAL(race.after_last, 0, "none after it");
	mw_fini(&race.w);
}

static void test_text(void)
{
	static const struct {
		u8 kind, outcome;
		bool unknown;
		const char *text;
	} rows[] = {
		{ LNET_EVENT_ACK, LNET_OK, false, "ACK to 10.0.0.2@tcp: 7 bytes" },
		{ LNET_EVENT_PUT, LNET_OK, false, "PUT from 10.0.0.1@tcp: 7 bytes" },
		{ LNET_EVENT_UNLINK, LNET_OK, false, "UNLINK" },
		{ LNET_EVENT_SEND, LNET_NO_PATH, false,
		  "SEND to 10.0.0.2@tcp: no_path (No route to host); not delivered" },
		{ LNET_EVENT_REPLY, LNET_REMOTE_TIMEOUT, true,
		  "REPLY to 10.0.0.2@tcp: remote_timeout (Connection timed out); "
		  "delivery unknown" },
		{ LNET_EVENT_GET, LNET_LOCAL_ERROR, true,
		  "GET from 10.0.0.1@tcp: local_error (Input/output error)" },
		{ 77, LNET_OK, false, "event of unknown kind 77" },
	};
	struct lnet_event ev = { .mlength = 7 };
	char text[160];
	unsigned int i;

	lnet_nid_parse(&ev.target.nid, "10.0.0.2@tcp");
	lnet_nid_parse(&ev.initiator.nid, "10.0.0.1@tcp");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ev.kind = rows[i].kind;
		ev.outcome = rows[i].outcome;
		ev.status = lnet_outcomes[ev.outcome].err;
		ev.delivery_unknown = rows[i].unknown;
		UNIT_EQUAL(lnet_event_text(&ev, text, sizeof(text)), strlen(rows[i].text), text);
		UNIT_TEXT(text, rows[i].text, rows[i].text);
	}
	CU_ASSERT(!lnet_outcome_name(LNET_NR_OUTCOMES));
	CU_ASSERT(!lnet_event_name(0) && !lnet_event_name(LNET_EVENT_UNLINK + 1));
}

UNIT_SUITE(event,
	{ "events as text", test_text },
	{ "callers never run handlers, others within a budget", test_passes },
	{ "what a handler calls needs no worker", test_calls },
	{ "slow handlers let sockets and timers have a turn", test_slow },
	{ "no handler", test_discarded },
	{ "two threads, one handler", test_threads })
