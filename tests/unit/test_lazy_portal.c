/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/memory/match.c: which PUTs are queued on lazy portals, and for how long. */
#include "match_rows.h"
#include "base/base.h"

/* ---- waiting --------------------------------------------------------------------------------- */

static const struct me_row wide = ME(100, PUT);
static const struct msg ten = P(10), get_ten = G(10);

static void test_lazy(void)
{
	static const struct msg zero = { LNET_OP_PUT, 10, 0, BITS, 1, 12345, 0 };
	struct lnet_rx rx, more;
	enum lnet_outcome why;
	lnet_md_t md;
	struct mw w;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 64, true), -EINVAL, "portal 64");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 64, false), -EINVAL, "portal 64");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, false), 0, "not lazy anyway");
	UNIT_EQUAL(match(&w, &rx, &ten, &why), LNET_SKIP, "not lazy");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	UNIT_EQUAL(match(&w, &rx, &get_ten, &why), LNET_SKIP, "a GET never waits");
	UNIT_EQUAL(why, LNET_NO_MATCH, "a GET never waits");
	UNIT_EQUAL(match(&w, &rx, &ten, &why), LNET_LATER, "a PUT does, on a portal without type");
	UNIT_EQUAL(match(&w, &more, &zero, &why), LNET_SKIP, "not on another portal");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 0, true), 0, "portal 0 too");
	UNIT_EQUAL(match(&w, &more, &zero, &why), LNET_LATER, "may be made lazy");
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &more), 1, "taken back");
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &more), 0, "once");
	make_me(&w, &wide, 7, NULL, &md);
	UNIT_EQUAL(w.nr_told, 1, "matched");
	CU_ASSERT(w.told[0].rx == &rx && w.told[0].verdict == LNET_RECEIVE &&
		  rx.md == mw_md(&w, md));
	UNIT_EQUAL(lnet_match_unpark(&w.ln, &rx), 0, "matched: not to be taken back");
	mw_fini(&w);
}

static void test_too_long_while_lazy(void)
{
	static const struct msg big = P(101);
	enum lnet_outcome why;
	struct lnet_rx rx;
	lnet_md_t md;
	struct mw w;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	make_me(&w, &wide, 7, NULL, &md);
	UNIT_EQUAL(match(&w, &rx, &big, &why), LNET_SKIP, "what is too long does not wait");
	UNIT_EQUAL(why, LNET_TOO_LONG, "for it");
	mw_fini(&w);
}

/* PUTs are queued in order of arrival; then an MD is attached: which PUT gets which part of it. */
static const struct {
	const char *name;
	struct me_row me;
	struct msg msg[4];
	const char *want;		/* "L" too long, "-" still queued; else offset+length */
} parked_rows[] = {
	{ "in order of arrival", ME(100, PUT), { P(10), P(20), P(30) }, "0+10 10+20 30+30 " },
	{ "as many as the threshold", ME_T(100, PUT, 2), { P(10), P(20), P(30) }, "0+10 10+20 - " },
	{ "as many as there is room for",
	  ME_MAX(100, PUT, 40),
	  { P(40), P(40), P(1) },
	  "0+40 40+40 - " },
	{ "one that is too long is dropped",
	  ME(100, PUT),
	  { P(10), P(91), P(90) },
	  "0+10 L 10+90 " },
	{ "other bits wait on", ME(100, PUT), { P_BITS(1), P(10) }, "- 0+10 " },
	{ "another sender waits on",
	  ME_FROM(3, 12345),
	  { P_FROM(1, 12345), P_FROM(3, 12345) },
	  "- 0+10 " },
	{ "by the NID it came with alone",
	  ME_FROM(2, 12345),
	  { P_FROM(1, 12345), P_FROM(2, 12345) },
	  "- 0+10 " },
	{ "an MD for GETs changes nothing", ME(100, GET), { P(10) }, "- " },
	{ "auto-unlink",
	  { 100, PUT, 1, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, LNET_UNLINK },
	  { P(10), P(10) },
	  "0+10 - " },
	{ "cut", ME(100, PUT | TRUNC), { P(80), P(80) }, "0+80 80+20 " },
};

static void tell_row(struct mw *w, struct lnet_rx *rx, char *text, size_t size)
{
	size_t len = strlen(text);

	if (lnet_match_unpark(&w->ln, rx))
		snprintf(text + len, size - len, "- ");
	else if (!rx->md)
		snprintf(text + len, size - len, "L ");
	else
		snprintf(text + len, size - len, "%u+%u ", rx->offset, rx->mlength);
}

static void test_parked(void)
{
	u32 r, i;

	peer_init();
	for (r = 0; r < ARRAY_SIZE(parked_rows); r++) {
		struct lnet_rx rx[4];
		char got[128] = "";
		u32 nr_waiting = 0;
		enum lnet_outcome why;
		lnet_md_t md;
		struct mw w;

		mw_init(&w);
		UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
		for (i = 0; i < 4 && parked_rows[r].msg[i].pid; i++)
			UNIT_EQUAL(match(&w, &rx[i], &parked_rows[r].msg[i], &why), LNET_LATER,
				   parked_rows[r].name);
		make_me(&w, &parked_rows[r].me, 7, NULL, &md);
		for (i = 0; i < w.nr_told; i++) {
			struct mw_told *told = &w.told[i];

			CU_ASSERT(i == 0 || told->rx > told[-1].rx);
			UNIT_EQUAL(told->verdict, told->rx->md ? LNET_RECEIVE : LNET_SKIP,
				   parked_rows[r].name);
			UNIT_EQUAL(told->why, told->rx->md ? LNET_OK : LNET_TOO_LONG,
				   parked_rows[r].name);
		}
		for (i = 0; i < 4 && parked_rows[r].msg[i].pid; i++) {
			tell_row(&w, &rx[i], got, sizeof(got));
			nr_waiting += got[strlen(got) - 2] == '-';
		}
		UNIT_TEXT(got, parked_rows[r].want, parked_rows[r].name);
		UNIT_EQUAL(w.nr_told + nr_waiting, i, parked_rows[r].name);
		mw_fini(&w);
	}
}

static void test_cleared(void)
{
	struct lnet_rx rx[2];
	enum lnet_outcome why;
	struct mw w;
	u32 i;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	for (i = 0; i < 2; i++)
		UNIT_EQUAL(match(&w, &rx[i], &ten, &why), LNET_LATER, "waits");
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, false), 0, "not lazy any more");
	UNIT_EQUAL(w.nr_told, 2, "all that waited");
	for (i = 0; i < 2; i++) {
		CU_ASSERT(w.told[i].rx == &rx[i]);
		UNIT_EQUAL(w.told[i].verdict, LNET_SKIP, "is dropped");
		UNIT_EQUAL(lnet_outcomes[w.told[i].why].err, -ENOENT, "with ENOENT");
	}
	UNIT_EQUAL(match(&w, &rx[0], &ten, &why), LNET_SKIP, "and no other waits");
	mw_fini(&w);
}

static u64 expire(struct mw *w)
{
	struct lnet_pass p;
	u64 next_ns;

	lnet_pass_begin(&p, &w->ln, LNET_PASS_WORKER);
	next_ns = lnet_match_expire(&p);
	lnet_pass_end(&p);
	return next_ns;
}

static void test_expired(void)
{
	static const u32 portals[] = { 7, 9, 7 };
	struct msg msg = P(10);
	struct lnet_rx rx[3];
	enum lnet_outcome why;
	struct mw w;
	u64 start;
	u32 i;

	mw_init(&w);
	start = w.now_ns;
	UNIT_EQUAL(expire(&w), U64_MAX, "nothing waits");
	for (i = 0; i < 3; i++) {
		msg.portal = portals[i];
		UNIT_EQUAL(lnet_portal_lazy(&w.ln, msg.portal, true), 0, "lazy");
		w.now_ns = start + i * 100;
		UNIT_EQUAL(match(&w, &rx[i], &msg, &why), LNET_LATER, "waits");
		UNIT_EQUAL(rx[i].arrived_ns, start + i * 100, "since now");
	}
	UNIT_EQUAL(expire(&w), start + MW_TIMEOUT_NS, "the first is due next");
	w.now_ns = start + MW_TIMEOUT_NS - 1;
	UNIT_EQUAL(expire(&w), start + MW_TIMEOUT_NS, "not a nanosecond before");
	UNIT_EQUAL(w.nr_told, 0, "not a nanosecond before");
	w.now_ns++;
	UNIT_EQUAL(expire(&w), start + 100 + MW_TIMEOUT_NS, "then the next");
	UNIT_EQUAL(w.nr_told, 1, "one dropped");
	CU_ASSERT(w.told[0].rx == &rx[0] && w.told[0].verdict == LNET_SKIP &&
		  w.told[0].why == LNET_NO_MATCH);
	w.now_ns = start + 200 + MW_TIMEOUT_NS;
	UNIT_EQUAL(expire(&w), U64_MAX, "none is left");
	UNIT_EQUAL(w.nr_told, 3, "all dropped");
	UNIT_EQUAL(w.shard.c[LNET_C_lazy_timeouts], 3, "counted");
	mw_fini(&w);
}

static void test_drop_ni(void)
{
	struct lnet_ni ni[2];
	struct lnet_rx rx[4];
	enum lnet_outcome why;
	struct lnet_pass p;
	struct mw w;
	u32 i;

	mw_init(&w);
	UNIT_EQUAL(lnet_portal_lazy(&w.ln, 7, true), 0, "lazy");
	for (i = 0; i < 4; i++) {
		UNIT_EQUAL(match(&w, &rx[i], &ten, &why), LNET_LATER, "waits");
		rx[i].ni = &ni[i % 2];
	}
	lnet_pass_begin(&p, &w.ln, LNET_PASS_WORKER);
	lnet_match_drop_ni(&p, &ni[1]);
	UNIT_EQUAL(w.nr_told, 2, "what came over that NI");
	CU_ASSERT(w.told[0].rx == &rx[1] && w.told[1].rx == &rx[3] &&
		  w.told[0].verdict == LNET_SKIP);
	lnet_match_drop_ni(&p, NULL);
	UNIT_EQUAL(w.nr_told, 4, "everything");
	CU_ASSERT(w.told[2].rx == &rx[0] && w.told[3].rx == &rx[2]);
	lnet_pass_end(&p);
	mw_fini(&w);
}

/* ---- two threads ----------------------------------------------------------------------------- */

#define NR_RACE 2000
static struct mw race;
static struct lnet_rx race_rx[NR_RACE];
static u32 nr_landed_at_once;

static void *arrivals(void *arg)
{
	enum lnet_outcome why;
	u32 i;

	for (i = 0; i < NR_RACE; i++)
		nr_landed_at_once += match(&race, &race_rx[i], &ten, &why) == LNET_RECEIVE;
	return arg;
}

static void test_threads(void)
{
	static const struct me_row one = {
		100, PUT, 1, 0, BITS, 0, 0, LNET_PID_ANY, LNET_INS_AFTER, LNET_UNLINK
	};
	pthread_t thread;
	u32 i, bad = 0;
	lnet_md_t md;

	mw_init(&race);
	nr_landed_at_once = 0;
	UNIT_EQUAL(lnet_portal_lazy(&race.ln, 7, true), 0, "lazy");
	pthread_create(&thread, NULL, arrivals, NULL);
	for (i = 0; i < NR_RACE; i++)
		lnet_me_unlink(&race.ln, make_me(&race, &one, 7, NULL, &md));
	pthread_join(thread, NULL);
	/*
	 * No message was taken twice. The entries that found no message are gone, so some messages
	 * may still be queued.
	 */
	lnet_portal_lazy(&race.ln, 7, false);
	for (i = 0; i < NR_RACE; i++)
		bad += race_rx[i].lazy_queued;
	UNIT_EQUAL(bad, 0, "none is left");
	UNIT_EQUAL(race.nr_told + nr_landed_at_once, NR_RACE, "each is told once");
	while (!list_empty(&race.shard.ready))
		mw_visit(&race, LNET_PASS_WORKER);
	mw_fini(&race);
}

UNIT_SUITE(lazy_portal,
	{ "lazy portals let PUTs wait", test_lazy },
	{ "too long does not wait", test_too_long_while_lazy },
	{ "an MD takes what waits for it", test_parked },
	{ "a portal made not lazy drops what waits", test_cleared },
	{ "what waits too long is dropped", test_expired },
	{ "what came over an interface is dropped with it", test_drop_ni },
	{ "messages and buffers from two threads", test_threads })
