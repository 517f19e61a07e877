/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Several requests in one call: each behaves as in a separate call; and where the call stops. */
#include "rails.h"

#define MANY 100

static struct lnet_xfer list[MANY];
static unsigned int first;	/* tag of list[0] */

/* Equal requests to node 1, with increasing tags. */
static void fill(unsigned int nr, u32 flags)
{
	unsigned int i;

	first = rails.nr_tags + 1;
	for (i = 0; i < nr; i++) {
		struct lnet_xfer *x = &list[i];

		rails_xfer(x, first + i);
		x->flags = flags;
	}
	rails.nr_tags += nr;
}

/* The first @done of @nr requests succeed and take effect once; the others cause no events. */
static void check(unsigned int nr, unsigned int done)
{
	unsigned int i;

	rails_pump();
	for (i = 0; i < nr; i++) {
		const struct rails_req *r = &rails.req[first + i];

		UNIT_EQUAL(r->nr_final, i < done, "final events");
		UNIT_EQUAL(r->nr_effects, i < done, "effects");
		UNIT_EQUAL(r->status, 0, "status");
	}
	rails.nr_tags -= nr - done;	/* rails_end() checks that all have ended */
}

static void test_all(void)
{
	static const struct { u32 flags, sent, kind; } rows[] = {
		{ 0, 1, LNET_EVENT_SEND },
		{ LNET_ACK, 1, LNET_EVENT_ACK },
		{ LNET_ACK | LNET_NO_SEND, 0, LNET_EVENT_ACK },
		{ LNET_NO_SEND, 1, LNET_EVENT_SEND },
	};
	unsigned int i, k;

	rails_begin(NULL);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		fill(MANY, rows[i].flags);
		UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, MANY), MANY, "taken");
		rails_run(100 * RAILS_MS);
		check(MANY, MANY);
		for (k = 0; k < MANY; k++) {
			UNIT_EQUAL(rails.req[first + k].kind, rows[i].kind, "its final event");
			UNIT_EQUAL(rails.req[first + k].nr_sent, rows[i].sent, "SEND events");
		}
	}
	fill(9, LNET_NO_SEND);
	UNIT_EQUAL(lnet_get_list(rails.node[0].ln, list, 9), 9, "GETs taken");
	check(9, 9);
	UNIT_EQUAL(rails.req[first].kind, LNET_EVENT_REPLY, "of a GET");
	UNIT_EQUAL(rails.req[first].nr_sent, 0, "SEND events of a GET");
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 0), 0, "none");
	rails_end();
}

/* To three nodes, node 0 included: no request is taken for another. */
static void test_mixed(void)
{
	struct rails_cfg cfg = { .nr_nodes = 3 };
	static const u8 to[] = { 1, 1, 2, 1, 2, 2, 0, 0, 1 };
	unsigned int i;

	rails_begin(&cfg);
	fill(ARRAY_SIZE(to), LNET_ACK);
	for (i = 0; i < ARRAY_SIZE(to); i++)
		list[i].target.nid = rails_nid(to[i], i & 1);
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, ARRAY_SIZE(to)), ARRAY_SIZE(to), "taken");
	rails_run(100 * RAILS_MS);
	check(ARRAY_SIZE(to), ARRAY_SIZE(to));
	rails_end();
}

static void test_stops(void)
{
	struct lnet *ln;
	unsigned int i;
	int refs;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	for (i = 0; i < 40; i += 13) {	/* at once, in the first burst, in the second */
		fill(40, LNET_ACK);
		refs = atomic_read(&rails_path(0, 1, 0)->pni->refs);
		list[i].portal = LNET_PORTALS;
		UNIT_EQUAL(lnet_put_list(ln, list, 40), i ? (int)i : -EINVAL, "a bad portal");
		check(40, i);
		fill(40, LNET_ACK);
		list[i].length = RAILS_MEM + 1;
		UNIT_EQUAL(lnet_put_list(ln, list, 40), i ? (int)i : -EINVAL, "too long");
		check(40, i);
		fill(40, LNET_ACK);
		list[i].md.cookie ^= 0x10000;
		UNIT_EQUAL(lnet_put_list(ln, list, 40), i ? (int)i : -ENOENT, "no such MD");
		check(40, i);
		fill(40, LNET_ACK);
		ln->tun.requests_max = 1 + i;	/* below the minimum of the tunable */
		UNIT_EQUAL(lnet_put_list(ln, list, 40), 1 + i, "too many under way");
		check(40, 1 + i);
		ln->tun.requests_max = 1000;
		UNIT_EQUAL(atomic_read(&rails_path(0, 1, 0)->pni->refs), refs, "references");
	}
	rails_end();
}

static unsigned int nr_unlinked;

static void count_unlinked(const struct lnet_event *ev)
{
	nr_unlinked += ev->unlinked;
	if (ev->final)
		rails.req[(unsigned long)ev->op_ptr].nr_final++;
}

/* An MD accepts no more requests than its threshold, and is then unlinked. */
static void test_threshold(void)
{
	struct lnet_md_cfg cfg = { .start = rails.node[0].src, .length = 64, .threshold = 3,
				   .cpt = -1, .handler = count_unlinked };
	unsigned int i;
	lnet_md_t md;

	rails_begin(NULL);
	nr_unlinked = 0;
	UNIT_EQUAL(lnet_md_bind(rails.node[0].ln, &cfg, LNET_UNLINK, &md), 0, "bind");
	fill(5, LNET_ACK);
	for (i = 0; i < 5; i++)
		list[i].md = md;
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 5), 3, "as many as its threshold");
	check(5, 3);
	UNIT_EQUAL(nr_unlinked, 1, "then it goes");
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 1), -ENOENT, "it has gone");
	rails_end();
}

/*
 * A long list is sent in parts: larger ones with more requests in flight, and none that is small.
 */
static void test_parts(void)
{
	static const struct { unsigned int nr, doorbells; } rows[] = {
		{ 1, 1 }, { 40, 1 },	/* not 32 and 8 */
		{ MANY, 3 },		/* 32, 36, and the rest */
		{ MANY, 1 },		/* half of 141 would leave 30 */
	};
	struct rails_cfg cfg = { .one_rail = true, .peer_credits = 1024, .credits = 1024 };
	unsigned int i, before, all = 0;

	rails_begin(&cfg);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		before = rails.nr_bells;
		fill(rows[i].nr, LNET_ACK);
		all += rows[i].nr;
		UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, rows[i].nr), (int)rows[i].nr,
			   "taken");
		UNIT_EQUAL(rails.nr_bells - before, rows[i].doorbells, "parts");
	}
	first = rails.nr_tags + 1 - all;
	rails_run(100 * RAILS_MS);
	check(all, all);
	rails_end();
}

/* The flags of the last request decide whether all of them wait. */
static void test_more(void)
{
	unsigned int i;

	rails_begin(NULL);
	fill(4, LNET_ACK | LNET_MORE);
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 4), 4, "taken");
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 0, "they wait");
	lnet_flush(rails.node[0].ln);
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 4, "until the bell");
	check(4, 4);
	fill(4, LNET_ACK | LNET_MORE);
	list[3].flags = LNET_ACK;
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 4), 4, "taken");
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], 8, "they left");
	check(4, 4);
	fill(MANY, LNET_ACK | LNET_MORE);
	for (i = 0; i < MANY; i++)
		list[i].target.nid = rails_nid(1, i & 1);
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, MANY), MANY, "taken");
	rails_run(100 * RAILS_MS);
	check(MANY, MANY);
	rails_end();
}

static unsigned int kicks;

/* When the first request ends, sends four more, which wait until the handler returns. */
static void put_more(struct rails_node *n, const struct lnet_event *ev)
{
	unsigned int before = n->nr_kicks, carried = rails.nr_carried[RAILS_PUT];

	if (n->ix || !ev->final || ev->op_ptr != (void *)(unsigned long)first)
		return;
	rails.on_event = NULL;
	fill(4, LNET_ACK | LNET_MORE);
	UNIT_EQUAL(lnet_put_list(n->ln, list, 4), 4, "taken");
	kicks += n->nr_kicks - before;
	UNIT_EQUAL(rails.nr_carried[RAILS_PUT], carried, "they wait");
}

/* Requests of a handler wake no worker: the pass that calls the handler sends them. */
static void test_more_of_handler(void)
{
	rails_begin(NULL);
	kicks = 0;
	fill(1, LNET_ACK);
	rails.on_event = put_more;
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 1), 1, "taken");
	check(4, 4);
	UNIT_EQUAL(kicks, 0, "kicks");
	rails_end();
}

static void test_ended(void)
{
	rails_begin(NULL);
	fill(2, LNET_ACK);
	WRITE_ONCE(rails.node[0].ln->stopping, 1);
	UNIT_EQUAL(lnet_put_list(rails.node[0].ln, list, 2), -ESHUTDOWN, "a node that ends");
	WRITE_ONCE(rails.node[0].ln->stopping, 0);
	check(2, 0);
	rails_end();
}

UNIT_SUITE(list,
	   { "each ends once, with the events asked for", test_all },
	   { "targets and nets may be mixed", test_mixed },
	   { "it stops at the first that is refused, and keeps nothing of it", test_stops },
	   { "a threshold bounds how many are taken", test_threshold },
	   { "it leaves in parts that are worth a send", test_parts },
	   { "LNET_MORE of the last counts", test_more },
	   { "LNET_MORE of a handler waits for the pass that called it", test_more_of_handler },
	   { "none is taken by a node that ends", test_ended })
