/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tracked request whose receive ends early: does it keep its buffer? (exactly-once rule 7) */
#include "rails.h"

/* Half of a request is received when both connections of its sender end for the reason @how. */
static unsigned int lose_half(bool lazy, enum lnet_outcome how)
{
	unsigned int tag;

	rails_begin(NULL);
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, lazy), 0, "lazy");
	rails_tune(0, "hedge", 0);
	rails_on(0, -1, RAILS_PUT, FATE_HALF, LNET_OK, 1);
	tag = rails_put(0, 1, 4096, LNET_ACK, 0);
	rails_pump();
	rails_land(0, how);
	rails_pump();
	return tag;
}

static void retry(unsigned int tag)
{
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	rails_lost(0, 1, 1, LNET_PATH_LOST);
	rails_pump();
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "one final event");
	UNIT_EQUAL(rails.req[tag].status, 0, "done");
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "one effect");
	CU_ASSERT(!memcmp(rails.node[1].dst, rails.node[0].src, 4096));
	rails_end();
}

static void test_lazy(void)
{
	static const enum lnet_outcome how[] = { LNET_PATH_LOST, LNET_NETWORK_TIMEOUT };
	unsigned int i, tag;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		tag = lose_half(true, how[i]);
		UNIT_EQUAL(rails.req[tag].nr_target, 1, "the buffer is free at once");
		UNIT_EQUAL(rails.req[tag].nr_effects, 0, "without effect");
		UNIT_EQUAL(rails_stat(1, LNET_C_unmatched), 1, "counted");
		retry(tag);
	}
}

static void test_not_lazy(void)
{
	unsigned int tag = lose_half(false, LNET_PATH_LOST);

	UNIT_EQUAL(rails.req[tag].nr_target, 0, "the retry needs the same place");
	UNIT_EQUAL(rails_stat(1, LNET_C_unmatched), 0, "still matched");
	retry(tag);
}

UNIT_SUITE(kept_buffer,
	   { "on a lazy portal a request loses its buffer with its connections", test_lazy },
	   { "on other portals a request keeps its buffer without connections", test_not_lazy })
