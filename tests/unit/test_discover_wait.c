/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A caller of discovery is notified once, whatever happens to the peer, its entry and the node. */
#include "rails.h"
#include "service/service.h"

#define ASKS 100

static const struct rails_cfg strangers = { .quiet = true, .discover = true, .strangers = true };

struct asked {
	struct lnet_disc_ask ask;
	unsigned int nr;		/* times that it was notified */
	int status;
};

static struct asked asked[ASKS];

static void told(struct lnet_disc_ask *ask, int status)
{
	struct asked *a = container_of(ask, struct asked, ask);

	a->nr++;
	a->status = status;
}

static void ask_nid(unsigned int ix, const struct lnet_nid *nid, bool force)
{
	struct asked *a = &asked[ix];

	memset(a, 0, sizeof(*a));
	a->ask.nid = *nid;
	a->ask.force = force;
	a->ask.done = told;
	UNIT_EQUAL(lnet_disc_ask(rails.node[0].ln, &a->ask), 0, "asked");
}

static void ask(unsigned int ix, unsigned int rail, bool force)
{
	struct lnet_nid nid = rails_nid(1, rail);

	ask_nid(ix, &nid, force);
}

static void is_told(unsigned int ix, int status, const char *what)
{
	UNIT_EQUAL(asked[ix].nr, 1, what);
	UNIT_EQUAL(asked[ix].status, status, what);
}

static u64 pings(void)
{
	return rails_stat(0, LNET_C_pings_sent);
}

static u64 pushes(void)
{
	return rails_stat(0, LNET_C_pushes_sent);
}

static void drop_core(void)
{
	rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
}

/* `discover` pings a known peer again; with force, it also repeats the push. */
static void test_rounds(void)
{
	rails_begin(&strangers);
	ask(0, 0, false);
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "unknown");
	UNIT_EQUAL(rails_nids(0, 1), 2, "all is known");
	UNIT_EQUAL(pings(), 1, "asked");
	UNIT_EQUAL(pushes(), 1, "told");
	ask(1, 1, false);
	rails_run(20 * RAILS_MS);
	is_told(1, 0, "known");
	UNIT_EQUAL(pings(), 2, "asked anew");
	UNIT_EQUAL(pushes(), 1, "not told anew");
	ask(2, 0, true);
	rails_run(20 * RAILS_MS);
	is_told(2, 0, "by force");
	UNIT_EQUAL(pings(), 3, "asked anew");
	UNIT_EQUAL(pushes(), 2, "told anew");
	rails_end();
}

/* The peer is known by one of its NIDs, and discovery is requested for another one. */
static void test_other_nid(void)
{
	unsigned int tag, rail;

	rails_begin(&strangers);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 0), 0, "setting");
	tag = rails_get(1, 0, 8, 0);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "it is known by one");
	UNIT_EQUAL(rails_nids(0, 1), 1, "it is known by one");
	rail = rails.req[tag].on_rail[0] ? 1 : 0;
	rails_on(1, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
	UNIT_EQUAL(lnet_tunable_set(rails.node[1].ln, "discovery", 1), 0, "setting");
	rails_clear();
	ask(0, rail, false);
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "by the other one");
	UNIT_EQUAL(rails_nids(0, 1), 2, "one node");
	UNIT_EQUAL(rails_peer(0, 1)->disc.state, DISC_DONE, "though nothing was asked by this one");
	rails_end();
}

/* Many callers at once share one discovery. */
static void test_many(void)
{
	unsigned int i;

	rails_begin(&strangers);
	for (i = 0; i < ASKS; i++)
		ask(i, 0, i & 1);
	rails_run(20 * RAILS_MS);
	for (i = 0; i < ASKS; i++)
		is_told(i, 0, "each");
	CU_ASSERT(pings() <= 2 && pushes() <= 2);
	rails_end();
}

static void test_nowhere(void)
{
	struct lnet_nid lo = LNET_NID_LO, own, far, any = LNET_NID_ANY;
	struct lnet_disc_ask none = { .nid = any, .done = told };

	rails_begin(&strangers);
	own = rails_nid(0, 1);
	lnet_nid_parse(&far, "10.9.9.9@o2ib");
	ask_nid(0, &lo, true);
	ask_nid(1, &own, false);
	ask_nid(2, &far, false);
	rails_run(RAILS_MS);
	is_told(0, 0, "loopback");
	is_told(1, 0, "ourselves");
	is_told(2, -EHOSTUNREACH, "no net in common");
	UNIT_EQUAL(lnet_disc_ask(rails.node[0].ln, &none), -EINVAL, "nobody");
	UNIT_EQUAL(pings(), 0, "nobody is asked");
	rails_end();
}

/* An unresponsive peer, and one whose ping info is invalid. */
static void test_failures(void)
{
	struct rails_msg *m;

	rails_begin(&strangers);
	drop_core();
	ask(0, 0, false);
	rails_run(5 * NSEC_PER_SEC);
	is_told(0, -ETIMEDOUT, "silence");
	rails_end();

	rails_begin(&strangers);
	rails_on(1, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	ask(0, 0, false);
	rails_pump();
	m = list_first_entry_or_null(&rails.delayed, struct rails_msg, link);
	CU_ASSERT_FATAL(m != NULL);
	put_unaligned_le32(7, m->data);
	rails_release();
	rails_run(RAILS_MS);
	is_told(0, -EPROTO, "nonsense");
	rails_end();

	/* half of 150 s would pass before the ping is repeated */
	rails_begin(&strangers);
	rails_tune(0, "transaction_timeout", 150 * NSEC_PER_SEC);
	rails_on(0, -1, RAILS_CORE, FATE_REJECT, LNET_OK, -1);
	ask(0, 0, false);
	rails_run(100 * RAILS_MS);
	is_told(0, -ECONNRESET, "rejected");
	rails_end();
}

/* Whatever delays the state machine, the time limit of the caller counts. */
static void test_limit(void)
{
	unsigned int i;

	rails_begin(&strangers);
	ask(0, 0, false);
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "known");
	rails_peer(0, 1)->session_busy = 1;
	for (i = 0; i < ASKS; i++)
		ask(i, 0, false);
	rails_run(14 * NSEC_PER_SEC);
	UNIT_EQUAL(asked[0].nr, 0, "not yet");
	rails_run(2 * NSEC_PER_SEC);
	for (i = 0; i < ASKS; i++)
		is_told(i, -ETIMEDOUT, "limit");
	rails_peer(0, 1)->session_busy = 0;
	ask(1, 0, false);
	rails_run(20 * RAILS_MS);
	is_told(0, -ETIMEDOUT, "once");
	is_told(1, 0, "it goes on");
	rails_end();
}

/* The discovery of a user does not wait for the rate limit of discoveries that no caller awaits. */
static void test_budget(void)
{
	struct lnet *ln;
	unsigned int i;

	rails_begin(&strangers);
	ln = rails.node[0].ln;
	lnet_tunable_set(ln, "push_rate", 1);
	for (i = 0; i < 200; i++)
		lnet_disc_rate_limit(ln, rails.now_ns);
	ask(0, 0, true);
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "asked and told at once");
	UNIT_EQUAL(pushes(), 1, "told");
	rails_end();
}

static void test_cancel(void)
{
	rails_begin(&strangers);
	rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	ask(0, 0, false);
	ask(1, 0, false);
	rails_pump();
	UNIT_EQUAL(lnet_disc_ask_cancel(&asked[0].ask), true, "cancelled");
	memset(&asked[0].ask, 0x5a, sizeof(asked[0].ask));
	rails_release();
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(asked[0].nr, 0, "not told");
	is_told(1, 0, "the other is");
	UNIT_EQUAL(lnet_disc_ask_cancel(&asked[1].ask), false, "too late");
	ask(2, 0, false);
	rails_lost(0, 1, 0, LNET_PATH_LOST);
	UNIT_EQUAL(lnet_disc_ask_cancel(&asked[2].ask), true, "over or not, not told yet");
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(asked[2].nr, 0, "nor told");
	rails_end();
}

/* ---- removed peer entries -------------------------------------------------------------------- */

static void configure_both(void)
{
	struct lnet_nid nids[2] = { rails_nid(1, 0), rails_nid(1, 1) };

	UNIT_EQUAL(lnet_peer_add(rails.node[0].ln, &nids[0], &nids[1], 1, true), 0, "peer add");
}

/* A waiting caller continues with the peer entry that has the NID then. */
static void test_gone(void)
{
	struct lnet_nid primary;

	rails_begin(&strangers);
	rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, -1);
	ask(0, 0, false);
	rails_pump();
	primary = rails_nid(1, 0);
	rails_clear();
	UNIT_EQUAL(lnet_peer_del(rails.node[0].ln, &primary, NULL, 0), 0, "peer del");
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "deleted");
	UNIT_EQUAL(rails_nids(0, 1), 2, "and found again");
	rails_release();
	rails_end();

	rails_begin(&strangers);
	mutex_lock(&rails.node[0].ln->cfg_mutex);	/* delays the merge */
	ask(0, 1, false);
	rails_run(5 * RAILS_MS);
	UNIT_EQUAL(asked[0].nr, 0, "merging");
	mutex_unlock(&rails.node[0].ln->cfg_mutex);
	configure_both();
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "absorbed");
	UNIT_EQUAL(rails_nids(0, 1), 2, "by what was configured");
	rails_end();
}

static void test_shutdown(void)
{
	unsigned int i, k;

	for (k = 0; k < 4; k++) {
		rails_begin(&strangers);
		rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, (int)k);
		rails_on(0, -1, RAILS_CORE, FATE_LOSE, LNET_OK, -1);
		for (i = 0; i < ASKS; i++)
			ask(i, i & 1, k & 1);
		if (k & 2)
			rails_pump();
		rails_node_stop(0);
		for (i = 0; i < ASKS; i++)
			UNIT_EQUAL(asked[i].nr, 1, "each once");
		is_told(ASKS - 1, asked[ASKS - 1].status ? -ESHUTDOWN : 0, "why");
		rails_end();
	}
}

/* ---- other settings -------------------------------------------------------------------------- */

/* With discovery off, the peer is pinged, and no NIDs are learned. */
static void test_off(void)
{
	rails_begin(&strangers);
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "discovery", 0), 0, "off");
	ask(0, 0, true);
	rails_run(20 * RAILS_MS);
	is_told(0, 0, "asked");
	UNIT_EQUAL(pings(), 1, "once");
	UNIT_EQUAL(rails_nids(0, 1), 1, "nothing is learned");
	UNIT_EQUAL(pushes(), 0, "nor told");
	rails_end();
}

/* Without a path, a discovery is not retried for ever. */
static void test_no_way(void)
{
	struct lnet_nid nid = rails_nid(0, 0);
	unsigned int before;

	rails_begin(&strangers);
	ask(0, 0, false);
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(lnet_ni_del(rails.node[0].ln, &nid), 0, "removal");
	nid = rails_nid(0, 1);
	UNIT_EQUAL(lnet_ni_del(rails.node[0].ln, &nid), 0, "removal");
	ask(1, 0, true);
	rails_run(NSEC_PER_SEC);
	is_told(1, -EHOSTUNREACH, "no way");
	before = rails.node[0].nr_arms;
	rails_run(100 * NSEC_PER_SEC);
	CU_ASSERT(rails.node[0].nr_arms - before < 200);
	rails_end();
}

static void test_no_memory(void)
{
	unsigned int nth;

	for (nth = 1; nth < 8; nth++) {
		rails_begin(&strangers);
		unit_fail_alloc(nth);
		ask(0, 0, false);
		unit_fail_alloc(0);
		rails_run(100 * RAILS_MS);
		UNIT_EQUAL(asked[0].nr, 1, "told");
		CU_ASSERT(!asked[0].status || asked[0].status == -ENOMEM);
		rails_end();
	}
}

static void pinged(void *arg, int status, const uint8_t *info, uint32_t len,
		   const struct lnet_nid *primary, uint64_t rtt_ns)
{
	*(int *)arg = status ? status : (int)len;
}

/* Messages to portal 0 do not wait for discovery, although requests do. */
static void test_ping(void)
{
	struct lnet_nid nid = rails_nid(1, 0);
	unsigned int tag;
	int got = 0;

	rails_begin(&strangers);
	UNIT_EQUAL(lnet_tunable_set(rails.node[0].ln, "discovery_wait", true), 0, "setting");
	rails_on(0, -1, RAILS_CORE, FATE_DELIVER, LNET_OK, 2);
	rails_on(0, -1, RAILS_CORE, FATE_DELAY, LNET_OK, 1);
	tag = rails_get(0, 1, 8, 0);
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 0, "a request waits until the other is told");
	UNIT_EQUAL(lnet_ping(rails.node[0].ln, &nid, NULL, NSEC_PER_SEC, pinged, &got), 0, "ping");
	rails_run(2 * RAILS_MS);
	UNIT_EQUAL(got, 64, "answered");
	UNIT_EQUAL(rails_done(tag), 0, "which ends no waiting");
	rails_release();
	rails_run(20 * RAILS_MS);
	UNIT_EQUAL(rails_done(tag), 1, "told");
	rails_end();
}

UNIT_SUITE(discover_wait,
	{ "a round is asked for", test_rounds },
	{ "a peer asked by a NID that its record does not have", test_other_nid },
	{ "many share one", test_many },
	{ "loopback, ourselves, nowhere", test_nowhere },
	{ "failures", test_failures },
	{ "nobody waits for ever", test_limit },
	{ "a user does not wait for his turn", test_budget },
	{ "who leaves is not told", test_cancel },
	{ "LU-15234: the record goes meanwhile", test_gone },
	{ "LU-15616: the node ends meanwhile", test_shutdown },
	{ "with discovery off", test_off },
	{ "a user's ping waits for no discovery", test_ping },
	{ "LU-15512: without a way to it there is no loop", test_no_way },
	{ "without memory", test_no_memory })
