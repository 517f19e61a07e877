/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery switched on late, at one end or both: pings, their number, and the state that is shown.
 */
#include "rails.h"
#include "service/service.h"

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

#define OFF	LNET_PEER_STATE_NO_DISCOVERY

static void turn(unsigned int node, bool on)
{
	UNIT_EQUAL(lnet_tunable_set(rails.node[node].ln, "discovery", on), 0, on ? "on" : "off");
}

static void begin_off(void)
{
	rails_begin(&strangers);
	turn(0, false);
	turn(1, false);
}

static void send(unsigned int from, unsigned int to)
{
	unsigned int tag = rails_get(from, to, 8, 0);

	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "delivered");
}

static void knows(unsigned int from, unsigned int to, bool all, const char *what)
{
	UNIT_EQUAL(rails_nids(from, to), all ? RAILS_RAILS : 1, what);
	UNIT_EQUAL(rails_peer(from, to)->mr, all, what);
	UNIT_EQUAL(rails_disc_bits(from, to) & OFF, all ? 0 : OFF, what);
}

/*
 * The last node to switch discovery on finds the other one, whether or not it has sent a ping
 * before.
 */
static void on_at_both(unsigned int first)
{
	begin_off();
	send(0, 1);
	knows(0, 1, false, "off");
	turn(first, true);
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_nids(0, 1), 1, "still off at one");
	turn(!first, true);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, true, "on at both");
	knows(1, 0, true, "on at both");
	rails_end();
}

static void test_on_at_both(void)
{
	on_at_both(0);
	on_at_both(1);
}

/* Both nodes switch discovery on at the same moment: before they know each other, and after. */
static void test_at_once(void)
{
	unsigned int known, i;

	for (known = 0; known < 2; known++) {
		rails_begin(&strangers);
		if (known)
			send(0, 1);
		turn(0, false);
		turn(1, false);
		rails_run(2 * NSEC_PER_SEC);
		send(0, 1);
		send(1, 0);
		turn(0, true);
		turn(1, true);
		rails_run(2 * NSEC_PER_SEC);
		for (i = 0; i < 2; i++)
			knows(i, !i, true, known ? "again" : "at last");
		rails_end();
	}
}

/* A peer that keeps discovery off is pinged once each time that discovery is switched on here. */
static void test_asked_once(void)
{
	struct lnet_link down = { .up = false }, up = { .up = true };
	unsigned int before, i;

	begin_off();
	send(0, 1);
	for (i = 0; i < 3; i++) {
		before = (unsigned int)rails_stat(0, LNET_C_pings_sent);
		turn(0, true);
		rails_run(3 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_stat(0, LNET_C_pings_sent) - before, 1, "asked once");
		lnet_ni_link(rails_path(0, 1, 0)->ni, &down);
		rails_run(NSEC_PER_SEC);
		lnet_ni_link(rails_path(0, 1, 0)->ni, &up);
		rails_run(3 * NSEC_PER_SEC);
		UNIT_EQUAL(rails_stat(0, LNET_C_pings_sent) - before, 1, "not for a change");
		turn(0, false);
		rails_run(NSEC_PER_SEC);
	}
	rails_end();
}

static void discovered(struct lnet_disc_ask *ask, int status)
{
	UNIT_EQUAL(status, 0, "discovered");
	ask->status = 1;
}

/*
 * As in stock LNet, a REPLY while discovery is off here sets the state "no discovery" of the peer.
 */
static void test_shown(void)
{
	struct lnet_disc_ask ask = { .done = discovered };

	rails_begin(&strangers);
	send(0, 1);
	knows(0, 1, true, "on");
	turn(0, false);
	rails_run(2 * NSEC_PER_SEC);
	UNIT_EQUAL(rails_disc_bits(0, 1) & OFF, 0, "not asked yet");
	ask.nid = rails_nid(1, 0);
	UNIT_EQUAL(lnet_disc_ask(rails.node[0].ln, &ask), 0, "asks");
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_disc_bits(0, 1) & OFF, OFF, "asked");
	UNIT_EQUAL(rails_nids(0, 1), RAILS_RAILS, "its interfaces stay");
	UNIT_EQUAL(rails_peer(0, 1)->mr, 1, "and it multi-rail");
	turn(0, true);
	rails_run(2 * NSEC_PER_SEC);
	knows(0, 1, true, "on again");
	rails_end();
}

UNIT_SUITE(discover_switch,
	{ "off at both ends, then on, one after the other", test_on_at_both },
	{ "both at once", test_at_once },
	{ "who has it off is asked once each time", test_asked_once },
	{ "what it is while it is off here", test_shown })
