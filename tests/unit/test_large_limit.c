/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Large requests to a peer behind a router. Only a few are in flight through each of its
 * interfaces, however many the driver has completed. The others wait for their turn, and end in all
 * ways.
 */
#include "routes.h"

#define LARGE (LNET_LARGE + 1)

/* Messages that the router forwards are delayed, so none of them is answered. */
static void stuck(unsigned int router, int type)
{
	rails_on((int)router, -1, type, FATE_DELAY, LNET_OK, -1);
}

static void let_go(void)
{
	rails_clear();
	rails_release();
	rails_pump();
}

static void begin_one(void)
{
	begin_routed(0, 5);
	puts_succeed(NEAR, FAR, 2);
}

static void all_ended_well(void)
{
	unsigned int tag;

	for (tag = 1; tag <= rails.nr_tags; tag++) {
		UNIT_EQUAL(rails.req[tag].nr_final, 1, "finished");
		UNIT_EQUAL(rails.req[tag].status, 0, "well");
		UNIT_EQUAL(rails.req[tag].nr_effects, 1, "once");
	}
}

static unsigned int turns(unsigned int router)
{
	return rails_count(&way(router)->large_queue);
}

static void test_few(void)
{
	unsigned int i;

	begin_one();
	stuck(R1, RAILS_PUT);
	for (i = 0; i < 5; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_put(NEAR, FAR, LNET_LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(way(R1)->nr_wire, 0, "the driver has none of them any more");
	UNIT_EQUAL(way(R1)->nr_large, 2, "two are not answered");
	UNIT_EQUAL(turns(R1), 3, "the others wait");
	UNIT_EQUAL(rails_count(&rails.delayed), 3, "but for one that is not large");
	let_go();
	all_ended_well();
	UNIT_EQUAL(way(R1)->nr_large, 0, "answered");
	rails_end();
}

/* The REPLY to a GET is as large as a PUT, and passes the same router. */
static void test_gets(void)
{
	unsigned int i;

	begin_one();
	stuck(R1, RAILS_REPLY);
	for (i = 0; i < 5; i++)
		rails_get(NEAR, FAR, LARGE, 0);
	rails_pump();
	UNIT_EQUAL(turns(R1), 3, "two are asked for");
	UNIT_EQUAL(rails_stat(FAR, LNET_C_forward_waits), 0, "answers do not wait");
	let_go();
	rails_run(NSEC_PER_SEC);
	all_ended_well();
	rails_end();
}

static void test_any_number(void)
{
	unsigned int i;

	begin_one();
	stuck(R1, RAILS_PUT);
	UNIT_EQUAL(lnet_tunable_set(ln_of(NEAR), "routed_large", 3), 0, "three");
	for (i = 0; i < 5; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(turns(R1), 2, "the others wait");
	UNIT_EQUAL(lnet_tunable_set(ln_of(NEAR), "routed_large", 0), 0, "any number");
	let_go();
	all_ended_well();
	stuck(R1, RAILS_PUT);
	for (i = 0; i < 4; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(turns(R1), 0, "none waits");
	let_go();
	all_ended_well();
	rails_end();
}

static void test_two_routers(void)
{
	unsigned int i;

	begin_routed(0, 0);
	puts_succeed(NEAR, FAR, 2);
	stuck(R1, RAILS_PUT);
	stuck(R2, RAILS_PUT);
	for (i = 0; i < 10; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(way(R1)->nr_large + way(R2)->nr_large, 4, "two by each");
	let_go();
	all_ended_well();
	rails_end();
}

/* Waiting requests use another router if theirs is unresponsive. */
static void test_silent(void)
{
	unsigned int i;

	begin_one();
	mute(R1);
	for (i = 0; i < 6; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(turns(R1), 4, "they wait");
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(turns(R1), 0, "they left");
	all_ended_well();
	rails_end();
}

static void test_given_up(void)
{
	unsigned int i, first = 3;
	lnet_md_t md;

	begin_one();
	stuck(R1, RAILS_PUT);
	UNIT_EQUAL(lnet_tunable_set(ln_of(NEAR), "hedge", 0), 0, "no copies");
	for (i = 0; i < 3; i++)
		rails_put(NEAR, FAR, LARGE, LNET_ACK, i == 2 ? 50 * RAILS_MS : 0);
	rails_pump();
	rails_run(60 * RAILS_MS);
	UNIT_EQUAL(rails.req[first + 2].status, -ETIMEDOUT, "its time is over");
	UNIT_EQUAL(rails.req[first + 2].unknown, false, "nothing of it left");
	UNIT_EQUAL(turns(R1), 0, "it does not wait any more");
	rails_put(NEAR, FAR, LARGE, LNET_ACK, 0);
	rails_pump();
	UNIT_EQUAL(turns(R1), 1, "another does");
	md = rails.node[NEAR].md;
	UNIT_EQUAL(lnet_md_unlink(ln_of(NEAR), md), 0, "all are given up");
	rails_pump();
	UNIT_EQUAL(way(R1)->nr_large, 0, "none has its turn");
	let_go();
	rails_run(NSEC_PER_SEC);
	rails_end();
}

/* A request that finds no room in the window passes its turn on, so no request waits for ever. */
static void test_no_room(void)
{
	unsigned int i;

	begin();
	UNIT_EQUAL(lnet_tunable_set(ln_of(FAR), "window", 3), 0, "a small window");
	UNIT_EQUAL(add(NEAR, R1, 0) + add(FAR, R1, 0), 0, "one router");
	rails_run(2 * NSEC_PER_SEC);
	puts_succeed(NEAR, FAR, 2);
	stuck(R1, RAILS_PUT);
	for (i = 0; i < 12; i++)
		rails_put(NEAR, FAR, i % 3 ? LARGE : 64, LNET_ACK, 0);
	rails_pump();
	let_go();
	rails_run(RAILS_MS);
	all_ended_well();
	rails_end();
}

UNIT_SUITE(large_limit,
	   { "two at a time to a peer by a router, whatever the driver has given back", test_few },
	   { "what is asked for counts as what is sent", test_gets },
	   { "as many as the tunable says, or any number", test_any_number },
	   { "by each router", test_two_routers },
	   { "who waits for a silent router leaves by another", test_silent },
	   { "who waits ends in time, and when given up", test_given_up },
	   { "a turn is given on by who cannot use it", test_no_room })
