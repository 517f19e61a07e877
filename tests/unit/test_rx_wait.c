/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of lnet/receive/rx.c: messages that wait for a buffer and are then received. */
#include "rails.h"

static int ni_refs(void)
{
	return atomic_read(&rails_ni(1, 0)->refs) + atomic_read(&rails_ni(1, 1)->refs);
}

/* A message queued on a lazy portal may be received after another thread deleted its interface. */
static void test_keeps_ni(void)
{
	struct rails_cfg cfg = { .no_buffers = true, .quiet = true };
	unsigned int tag;
	int refs;

	rails_begin(&cfg);
	UNIT_EQUAL(lnet_portal_lazy(rails.node[1].ln, RAILS_PORTAL, true), 0, "lazy");
	refs = ni_refs();
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(50 * RAILS_MS);
	UNIT_EQUAL(rails_count(&rails.waiting), 2, "a request and its second copy wait");
	UNIT_EQUAL(ni_refs() - refs, 2, "each has a reference");
	rails_attach(1, LNET_MD_OP_PUT | LNET_MD_OP_GET);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "the request ends");
	UNIT_EQUAL(ni_refs(), refs, "the references are dropped");
	rails_end();
}

UNIT_SUITE(rx_wait,
	{ "a message that waits for a buffer keeps its interface", test_keeps_ni })
