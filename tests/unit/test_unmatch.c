/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exactly-once rule 7: aborted receives after which a request on a lazy portal keeps its buffer. */
#include "rails.h"

/* Two attempts of a PUT to a lazy portal, half received; the ACK for the first is lost. */
static unsigned int two_receives(void)
{
	unsigned int tag;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 2);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_run(40 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.landing), 2, "both are being received");
	return tag;
}

static void check_once(unsigned int tag)
{
	rails_run(4 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status, 0, "done");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "one effect");
	UNIT_EQUAL(rails.req[tag].nr_target, 1, "one event");
	UNIT_EQUAL(rails_stat(1, LNET_C_unmatched), 0, "it keeps its buffer");
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

static void test_after_effect(void)
{
	unsigned int tag = two_receives();

	rails_land(1, LNET_OK);
	rails_land(0, LNET_ABORTED);
	check_once(tag);
}

static void test_other_goes_on(void)
{
	unsigned int tag = two_receives();

	rails_land(0, LNET_ABORTED);
	UNIT_EQUAL(rails.req[tag].nr_target, 0, "no event while the other may write");
	rails_land(0, LNET_OK);
	check_once(tag);
}

UNIT_SUITE(unmatch,
	{ "rule 7: an abort after another copy is complete changes nothing", test_after_effect },
	{ "rule 7: an abort while another copy is received changes nothing", test_other_goes_on })
