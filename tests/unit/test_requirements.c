/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requirements on whole nodes: each test follows the check that the requirement names. */
#include "rails.h"
#include "path/path.h"

static const struct rails_cfg quiet = { .quiet = true };

/* ---- lnt-055 --------------------------------------------------------------------------------- */

/* Unbound memory and invalid arguments: the call fails at once, and nothing is sent. */
static void test_refused_at_once(void)
{
	struct lnet_xfer x;
	unsigned int tag;
	struct lnet *ln;
	u64 sent;

	rails_begin(NULL);
	ln = rails.node[0].ln;
	sent = rails_stat(0, LNET_C_send_count);
	rails_xfer(&x, 1);
	x.md.cookie += 77;
	UNIT_EQUAL(lnet_put(ln, &x), -ENOENT, "no such memory");
	rails_xfer(&x, 1);
	x.portal = 64;
	UNIT_EQUAL(lnet_put(ln, &x), -EINVAL, "no such portal");
	rails_xfer(&x, 1);
	x.md_offset = RAILS_MEM;
	UNIT_EQUAL(lnet_get(ln, &x), -EINVAL, "beyond the memory");
	tag = ++rails.nr_tags;
	rails_xfer(&x, tag);
	CU_ASSERT(lnet_nid_parse(&x.target.nid, "10.9.0.9@tcp7") == 0);
	UNIT_EQUAL(lnet_put(ln, &x), 0, "nobody knows the way");
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status, -EHOSTUNREACH, "as its end says");
	UNIT_EQUAL(rails_stat(0, LNET_C_send_count), sent, "nothing was sent");
	UNIT_EQUAL(rails_stat(0, LNET_C_resend_count), 0, "nor sent again");
	rails_end();
}

/* There is no node to discover: the request that waits for discovery ends once, unsent. */
static void test_no_discovery(void)
{
	const struct rails_cfg cfg = { .quiet = true, .discover = true, .strangers = true };
	unsigned int tag;

	rails_begin(&cfg);
	rails_tune(0, "discovery_wait", 1);
	rails_on(0, -1, RAILS_ANY, FATE_REFUSE, LNET_REMOTE_DROPPED, -1);
	tag = rails_put(0, 1, 8, LNET_ACK, 0);
	rails_run(20 * NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].nr_final, 1, "ended");
	CU_ASSERT(rails.req[tag].status != 0 && !rails.req[tag].unknown);
	UNIT_EQUAL(rails.req[tag].nr_effects, 0, "nothing happened");
	rails_end();
}

/* ---- lnt-035 --------------------------------------------------------------------------------- */

/* Submits two requests at a time, so that both rails are used in turn despite other messages. */
static void load(unsigned int nr, u64 every_ns)
{
	for (; nr; nr -= 2) {
		rails_put(0, 1, 64, LNET_ACK, 0);
		rails_put(0, 1, 64, LNET_ACK, 0);
		rails_run(2 * every_ns);
	}
}

/*
 * A rail is cut under load until it has lost health. Two seconds after it heals, it carries at
 * least 45 % of the load.
 */
static void test_share(void)
{
	unsigned int tag, first, on[2] = { 0, 0 };
	int rail;

	for (rail = 0; rail < 2; rail++) {
		rails_begin(NULL);
		on[0] = on[1] = 0;
		rails_on(-1, rail, RAILS_ANY, FATE_LOSE, LNET_OK, -1);
		load(150, 20 * RAILS_MS);
		CU_ASSERT(!lnet_path_is_healthy(rails_path(0, 1, (unsigned int)rail)));
		rails_clear();
		load(100, 20 * RAILS_MS);
		first = rails.nr_tags + 1;
		load(200, RAILS_MS);
		for (tag = first; tag <= rails.nr_tags; tag++) {
			on[0] += rails.req[tag].on_rail[0];
			on[1] += rails.req[tag].on_rail[1];
			UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
		}
		CU_ASSERT(on[rail] * 100 >= 45 * (on[0] + on[1]));
		rails_end();
	}
}

/* ---- lnt-095, lnd-030 ------------------------------------------------------------------------ */

/*
 * All replies are lost: a request ends at T, within 5 %, and not at a multiple of T, for any T and
 * R.
 */
static void test_ends_at_T(void)
{
	static const u64 times[] = { 300 * RAILS_MS, NSEC_PER_SEC, 5 * NSEC_PER_SEC,
				     50 * NSEC_PER_SEC };
	unsigned int i, k, tag;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		for (k = 0; k < 8; k++) {
			u64 T = times[i], took;

			rails_begin(NULL);
			rails_tune(0, "retry_count", k / 2);
			rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
			rails_on(1, -1, RAILS_REPLY, FATE_LOSE, LNET_OK, -1);
			tag = k & 1 ? rails_get(0, 1, 64, T) : rails_put(0, 1, 64, LNET_ACK, T);
			rails_run(2 * T);
			took = rails.req[tag].end_ns - rails.req[tag].started_ns;
			UNIT_EQUAL(rails.req[tag].status, -ETIMEDOUT, "told");
			CU_ASSERT(took * 100 >= T * 95 && took * 100 <= T * 105);
			rails_end();
		}
}

/* ---- lnt-105 --------------------------------------------------------------------------------- */

/*
 * A request that waited for session negotiation has its full timeout once the peer has responded.
 */
static void test_after_contact(void)
{
	u64 T = NSEC_PER_SEC, took;
	unsigned int tag;

	rails_begin(&quiet);
	rails_tune(0, "transaction_timeout", T);
	rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	rails_tune(0, "hedge", 0);
	rails_on(1, -1, RAILS_ACK, FATE_LOSE, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	rails_run(200 * RAILS_MS);
	UNIT_EQUAL(rails.req[tag].nr_attempts, 0, "waits");
	rails_release();
	rails_run(3 * T);
	took = rails.req[tag].end_ns - rails.req[tag].started_ns;
	took -= 200 * RAILS_MS;
	CU_ASSERT(took * 100 >= T * 95 && took * 100 <= T * 105);
	UNIT_EQUAL(rails.req[tag].nr_effects, 1, "it arrived");
	rails_end();
}

/* Without a connection, the ping to the peer is repeated while the waiting requests have time. */
static void test_no_connection_yet(void)
{
	unsigned int tag, i;

	rails_begin(&quiet);
	rails_tune(0, "transaction_timeout", NSEC_PER_SEC);
	rails_on(0, -1, RAILS_ANY, FATE_KEEP, LNET_OK, -1);
	tag = rails_put(0, 1, 64, LNET_ACK, 0);
	for (i = 0; i < 2; i++) {	/* as a driver does at the end of an attempt timeout */
		rails_run(250 * RAILS_MS);
		rails_give(LNET_REMOTE_DROPPED);
	}
	rails_run(200 * RAILS_MS);
	rails_clear();
	rails_give(LNET_REMOTE_DROPPED);
	rails_run(NSEC_PER_SEC);
	UNIT_EQUAL(rails.req[tag].status || !rails_done(tag), 0, "done");
	UNIT_EQUAL(rails.req[tag].nr_plain, 0, "marked");
	rails_end();
}

UNIT_SUITE(requirements,
	{ "lnt-055: bad information, memory that is not bound", test_refused_at_once },
	{ "lnt-055: nobody to be discovered", test_no_discovery },
	{ "lnt-035: a healed rail carries its half after two seconds", test_share },
	{ "lnt-095: without an answer it ends at T, whatever T and R are", test_ends_at_T },
	{ "lnt-105: a T of its own after first contact", test_after_contact },
	{ "lnt-105: while there is no connection the peer is asked again", test_no_connection_yet })
