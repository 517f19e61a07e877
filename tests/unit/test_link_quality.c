/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Interfaces that are degraded or flap: their weight, how often they are selected, and when they
 * are used again. Attempts that wait for such an interface leave it at once.
 */
#include <lnet/lnd.h>
#include "rails.h"
#include "path/path.h"

#define SEC	((u64)NSEC_PER_SEC)

static u32 weight(unsigned int rail)
{
	struct lnet_weight_view v;

	lnet_weight_get(rails_ni(0, rail), &v);
	return v.weight;
}

static void speed(unsigned int rail, u32 mbit)
{
	struct lnet_link link = { .up = true, .speed_mbit = mbit };

	lnet_ni_link(rails_ni(0, rail), &link);
	rails_pump();
}

/* Sends @nr requests, one after the other. Returns how many used rail 1. */
static unsigned int by_rail_1(unsigned int nr)
{
	unsigned int i, tag, by = 0;

	for (i = 0; i < nr; i++) {
		tag = rails_put(0, 1, 8, LNET_ACK, 0);
		rails_pump();
		UNIT_EQUAL(rails_done(tag), 1, "done");
		UNIT_EQUAL(rails.req[tag].status, 0, "well");
		by += rails.req[tag].on_rail[1];
	}
	return by;
}

static void test_speed(void)
{
	rails_begin(NULL);
	speed(0, 10000);
	speed(1, 10000);
	UNIT_EQUAL(weight(1), 1000, "full speed");
	UNIT_EQUAL(by_rail_1(100), 50, "by turns");
	speed(1, 1000);
	UNIT_EQUAL(weight(0), 1000, "the other is what it was");
	UNIT_EQUAL(weight(1), 100, "a tenth");
	UNIT_EQUAL(by_rail_1(110), 10, "one for ten");
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "selection", 1), 0, "selection");
	UNIT_EQUAL(by_rail_1(20), 0, "where it is done first");
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "selection", 0), 0, "selection");
	speed(1, 40000);
	UNIT_EQUAL(weight(1), 1000, "as fast as it ever was");
	speed(1, 10000);
	UNIT_EQUAL(weight(1), 250, "what was best counts");
	UNIT_EQUAL(atomic_read(&rails_ni(0, 1)->health), LNET_HEALTH_MAX, "no health");
	rails_end();
}

/* The only rail, or one no worse than the other, is used whatever its weight. */
static void test_alone(void)
{
	rails_begin(NULL);
	speed(0, 10000);
	speed(1, 10000);
	speed(1, 10);
	UNIT_EQUAL(weight(1), 1, "a thousandth");
	rails_link(0, 0, false);
	rails_pump();
	UNIT_EQUAL(by_rail_1(20), 20, "the other has no link");
	rails_link(0, 0, true);
	rails_pump();
	speed(0, 10);
	by_rail_1(4);
	UNIT_EQUAL(by_rail_1(20), 10, "equally bad: by turns");
	rails_end();
}

/* Each sample has 1,000 packets. */
static void lose(unsigned int rail, u32 lost, unsigned int samples)
{
	while (samples--) {
		lnet_ni_loss(rails_ni(0, rail), 0, 0);
		rails_run(200 * RAILS_MS);
		lnet_ni_loss(rails_ni(0, rail), 1000, lost);
		rails_pump();
	}
}

static void test_loss(void)
{
	rails_begin(NULL);
	lose(1, 5, 10);
	UNIT_EQUAL(weight(1), 1000, "0.5 % is what a full link loses");
	lose(1, 900, 2);
	UNIT_EQUAL(weight(1), 1000, "a burst");
	lose(1, 0, 2);
	lose(1, 50, 2);
	UNIT_EQUAL(weight(1), 1000, "not yet");
	lose(1, 50, 1);
	UNIT_EQUAL(weight(1), 100, "5 %: a tenth");
	UNIT_EQUAL(by_rail_1(110), 10, "one for ten");
	lose(1, 600, 3);
	UNIT_EQUAL(weight(1), 10, "it rises, and is tested still");
	lose(1, 0, 30);
	UNIT_EQUAL(weight(1), 1000, "it is gone");
	UNIT_EQUAL(atomic_read(&rails_ni(0, 1)->health), LNET_HEALTH_MAX, "no health");
	lose(0, 50, 3);
	lnet_ni_loss(rails_ni(0, 0), 5, 4000);
	lnet_ni_loss(rails_ni(0, 0), 0, 5);
	CU_ASSERT(weight(0) >= 1);	/* more lost than sent is impossible, and harmless */
	rails_end();
}

/* Seconds until the weight is 1000 again, with nothing sent. */
static unsigned int forgotten_after(unsigned int rail)
{
	unsigned int sec;

	for (sec = 0; weight(rail) < 1000 && sec < 10000; sec++)
		rails_run(SEC);
	return sec;
}

static void test_forgets(void)
{
	unsigned int first, i, sec, last = 0;

	rails_begin(NULL);
	lose(1, 50, 3);
	first = forgotten_after(1);
	CU_ASSERT(first >= 18 && first <= 25);	/* four halvings, 5 s each */
	for (i = 0; i < 8; i++) {
		lose(1, 50, 3);
		UNIT_EQUAL(weight(1), 100, "it loses again");
		sec = forgotten_after(1);
		CU_ASSERT(i > 4 || sec > last);
		last = sec;
	}
	CU_ASSERT(last >= 60 * first && last <= 70 * first);
	rails_run(61 * SEC);
	lose(1, 50, 3);
	CU_ASSERT(forgotten_after(1) <= 25);	/* no loss for a minute */
	rails_end();
}

static void flap(u64 up_ns)
{
	rails_link(0, 1, false);
	rails_run(10 * RAILS_MS);
	rails_link(0, 1, true);
	rails_pump();
	if (up_ns)
		rails_run(up_ns);
}

static u32 damped_ms(void)
{
	struct lnet_weight_view v;

	lnet_weight_get(rails_ni(0, 1), &v);
	return v.damped_ms;
}

static void test_flaps(void)
{
	static const u32 holds_ms[] = { 0, 100, 200, 400, 800, 1000, 1000 };
	unsigned int i;

	rails_begin(NULL);
	for (i = 0; i < ARRAY_SIZE(holds_ms); i++) {
		flap(0);
		UNIT_EQUAL(damped_ms(), holds_ms[i], "held back, twice as long each time");
		UNIT_EQUAL(lnet_ni_up(rails_ni(0, 1)), !holds_ms[i], "what peers are told");
		if (!holds_ms[i])
			continue;
		UNIT_EQUAL(by_rail_1(10), 0, "the other carries all");
		rails_run(holds_ms[i] * RAILS_MS);
		UNIT_EQUAL(damped_ms(), 0, "let back");
		UNIT_EQUAL(lnet_ni_up(rails_ni(0, 1)), true, "and announced");
		UNIT_EQUAL(by_rail_1(10), 5, "and used");
	}
	rails_run(61 * SEC);
	flap(0);
	UNIT_EQUAL(damped_ms(), 0, "it had calmed down");
	flap(0);
	UNIT_EQUAL(damped_ms(), 100, "from the beginning");
	rails_link(0, 0, false);
	rails_pump();
	UNIT_EQUAL(by_rail_1(10), 10, "held back, it is used where no other is left");
	rails_link(0, 0, true);
	rails_pump();
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "flap_hold", 0), 0, "flap_hold");
	rails_run(SEC);
	for (i = 0; i < 5; i++)
		flap(0);
	UNIT_EQUAL(damped_ms(), 0, "turned off");
	rails_end();
}

/*
 * Attempts that wait for credits, or that the driver has not begun, move to another path at once.
 */
static void test_leaves_link(void)
{
	struct rails_cfg cfg = { .peer_credits = 2 };
	unsigned int i, tag[12];
	u64 at_ns;

	rails_begin(&cfg);
	rails_on(0, 1, RAILS_PUT, FATE_KEEP, LNET_OK, -1);
	rails_on(0, 0, RAILS_PUT, FATE_KEEP, LNET_OK, 2);
	for (i = 0; i < 12; i++)
		tag[i] = rails_put(0, 1, 8, LNET_ACK, 0);
	UNIT_EQUAL(rails_path(0, 1, 1)->pni->nr_wait, 4, "wait for rail 1");
	UNIT_EQUAL(rails_path(0, 1, 0)->pni->nr_wait, 4, "wait for rail 0");
	at_ns = rails.now_ns;
	rails_link(0, 1, false);
	rails_pump();
	UNIT_EQUAL(rails_path(0, 1, 1)->pni->nr_wait, 0, "none waits for rail 1");
	UNIT_EQUAL(rails_path(0, 1, 0)->pni->nr_wait, 10, "all do for rail 0");
	UNIT_EQUAL(rails_count(&rails.kept), 2, "the driver of rail 1 has none");
	UNIT_EQUAL(rails.now_ns, at_ns, "no time passed");
	rails_give_rail(0, 0, LNET_LOCAL_DROPPED);
	rails_run(5 * SEC);
	for (i = 0; i < 12; i++) {
		UNIT_EQUAL(rails_done(tag[i]), 1, "done");
		UNIT_EQUAL(rails.req[tag[i]].status, 0, "well");
		UNIT_EQUAL(rails.req[tag[i]].nr_effects, 1, "once");
	}
	rails_end();
}

/*
 * Requests to one peer hold all credits of both interfaces, and requests to another peer wait. Rail
 * 0 continues, but requests on rail 1 get no response.
 */
static void test_leaves_ni(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3, .peer_credits = 2, .credits = 2 };
	struct lnet_ni_shard *ns;
	unsigned int i, tag[8];

	rails_begin(&cfg);
	ns = rails_ni(0, 1)->sh;
	rails_get(0, 2, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 4);
	for (i = 0; i < 8; i++)
		tag[i] = rails_put(0, i < 4 ? 1 : 2, 8, LNET_ACK, 0);
	UNIT_EQUAL(ns[rails_peer(0, 2)->sh->ix].nr_wait, 2, "wait for rail 1");
	/* no hedges: they would end unresponsive attempts, and so return the credits */
	rails_peer(0, 1)->hedge_tokens = -(s64)rails.node[0].ln->tun.hedge_burst * 1000;
	rails_give_rail(0, 0, LNET_REMOTE_DROPPED);
	rails_run(60 * RAILS_MS);	/* unresponsive for three times hedge_floor, not yet down */
	UNIT_EQUAL(ns[rails_peer(0, 2)->sh->ix].nr_wait, 0, "not any more");
	for (i = 4; i < 8; i++)
		UNIT_EQUAL(rails_done(tag[i]), 1, "not stuck behind the silent rail");
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(5 * SEC);
	for (i = 4; i < 8; i++)
		UNIT_EQUAL(rails.req[tag[i]].nr_effects, 1, "once");
	rails_end();
}

/* The same if the first waiting request has no other path, because its peer has none. */
static void test_leaves_past(void)
{
	static const char *const nids[RAILS_NODES][RAILS_RAILS] = {
		{ "10.0.0.1@tcp", "10.1.0.1@tcp1" }, { "10.0.0.2@tcp", "10.1.0.2@tcp1" },
		{ NULL, "10.1.0.3@tcp1" }, { "10.0.0.4@tcp", "10.1.0.4@tcp1" },
	};
	struct rails_cfg cfg = { .nr_nodes = 4, .nr_shards = 1, .peer_credits = 2, .credits = 2,
				 .nids = nids };
	unsigned int i, stuck, tag[2];
	struct lnet_ni_shard *ns;

	rails_begin(&cfg);
	ns = rails_ni(0, 1)->sh;
	rails_get(0, 2, 8, 0);
	rails_get(0, 3, 8, 0);
	rails_run(50 * RAILS_MS);
	rails_on(0, -1, RAILS_PUT, FATE_KEEP, LNET_OK, 4);
	for (i = 0; i < 4; i++)
		rails_put(0, 1, 8, LNET_ACK, 0);
	stuck = rails_put(0, 2, 8, LNET_ACK, 0);
	for (i = 0; i < 2; i++)
		tag[i] = rails_put(0, 3, 8, LNET_ACK, 0);
	UNIT_EQUAL(ns->nr_wait, 2, "two wait for rail 1");
	rails_peer(0, 1)->hedge_tokens = -(s64)rails.node[0].ln->tun.hedge_burst * 1000;
	rails_give_rail(0, 0, LNET_REMOTE_DROPPED);
	rails_run(60 * RAILS_MS);
	UNIT_EQUAL(ns->nr_wait, 1, "one");
	UNIT_EQUAL(rails_done(stuck), 0, "which has no other way");
	UNIT_EQUAL(rails_done(tag[0]) + rails_done(tag[1]), 2, "those behind it have");
	rails_give(LNET_LOCAL_DROPPED);
	rails_run(5 * SEC);
	UNIT_EQUAL(rails.req[stuck].nr_effects, 1, "once");
	rails_end();
}

UNIT_SUITE(link_quality,
	{ "lnd-020, lnd-025: a slower link weighs less and has its turn more seldom", test_speed },
	{ "lnd-025: where there is no better one its weight keeps nothing from it", test_alone },
	{ "lnd-020, lnd-025: loss that rises lowers the weight, a burst does not", test_loss },
	{ "lnd-020: loss that nothing tests is forgotten, later each time", test_forgets },
	{ "a link that flaps is let back later each time, within a bound, and calms down",
	  test_flaps },
	{ "what waits for a link that goes leaves at once, once", test_leaves_link },
	{ "what waits for an interface that falls silent leaves it", test_leaves_ni },
	{ "also behind what cannot", test_leaves_past })
