/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NIs: which configurations are rejected, which defaults apply, when look-ups find an NI, how an NI
 * ends, and the effects of a link change.
 */
#include "node.h"
#include "topology/topology.h"

static struct lnet_ni *find(struct lnet *ln, const char *text)
{
	struct lnet_nid n = nid(text);

	return lnet_ni_find(ln, &n);
}

static int del(struct lnet *ln, const char *text)
{
	struct lnet_nid n = nid(text);

	return lnet_ni_del(ln, &n);
}

static void test_add_del(void)
{
	struct lnet *ln = node_begin(2);
	struct lnet_ni *ni;

	UNIT_EQUAL(node_ni_add(ln, "10.0.0.1@tcp"), 0, "adding");
	CU_ASSERT_FALSE(fake_lnd.found_in_start);
	ni = find(ln, "10.0.0.1@tcp");
	CU_ASSERT_PTR_NOT_NULL_FATAL(ni);
	UNIT_EQUAL(ni->state, NI_ACTIVE, "state");
	UNIT_EQUAL(atomic_read(&ni->health), LNET_HEALTH_MAX, "health");
	CU_ASSERT_PTR_EQUAL(lnet_ni_instance(ni), ln);
	UNIT_EQUAL(lnet_ni_conns_per_peer(ni), 1, "connections, never 0");
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.1@tcp"), -EEXIST, "adding it again");
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.1@tcp1"), 0, "the same address on another net");
	UNIT_EQUAL(del(ln, "10.0.0.1@tcp"), 0, "removing");
	UNIT_EQUAL(fake_lnd.state_in_stop, NI_STOPPING, "state while the driver stops");
	UNIT_EQUAL(ni->state, NI_GONE, "state at the end");
	CU_ASSERT_PTR_NULL(find(ln, "10.0.0.1@tcp"));
	UNIT_EQUAL(del(ln, "10.0.0.1@tcp"), -ENOENT, "removing it again");
	lnet_ni_put(ni);		/* the last reference: the NI is freed only now */
	UNIT_EQUAL(del(ln, "0@lo"), -EINVAL, "removing the loopback");
	UNIT_EQUAL(fake_lnd.nr_stops, 1, "stops");
	node_end(ln);
	UNIT_EQUAL(fake_lnd.nr_stops, 2, "stops after the end");
}

static void test_refusals(void)
{
	static const struct {
		const char *nid, *what;
		s32 peer_credits, credits, timeout, conns, tos;
		int want;
	} rows[] = {
		{ "10.0.0.1@tcp", "good", -1, -1, -1, -1, -1, 0 },
		{ "<?>", "any", -1, -1, -1, -1, -1, -EINVAL },
		{ "0@lo", "loopback", -1, -1, -1, -1, -1, -EINVAL },
		{ "10.0.0.2@o2ib", "no driver", -1, -1, -1, -1, -1, -ENOENT },
		{ "10.0.0.2@tcp", "no peer credits", 0, -1, -1, -1, -1, -EINVAL },
		{ "10.0.0.2@tcp", "negative credits", -1, -2, -1, -1, -1, -EINVAL },
		{ "10.0.0.2@tcp", "negative timeout", -1, -1, -2, -1, -1, -EINVAL },
		{ "10.0.0.2@tcp", "negative connections", -1, -1, -1, -2, -1, -EINVAL },
		{ "10.0.0.2@tcp", "tos of nine bits", -1, -1, -1, -1, 256, -EINVAL },
	};
	struct lnet *ln = node_begin(1);
	struct lnet_ni_cfg cfg;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lnet_ni_cfg_init(&cfg);
		cfg.nid = nid(rows[i].nid);
		cfg.peer_credits = rows[i].peer_credits;
		cfg.credits = rows[i].credits;
		cfg.peer_timeout = rows[i].timeout;
		cfg.conns_per_peer = rows[i].conns;
		cfg.tos = rows[i].tos;
		UNIT_EQUAL(lnet_ni_add(ln, &cfg), rows[i].want, rows[i].what);
	}
	lnet_ni_cfg_init(&cfg);
	cfg.nid = nid("10.0.0.2@tcp");
	memset(cfg.ifname, 'x', sizeof(cfg.ifname));
	UNIT_EQUAL(lnet_ni_add(ln, &cfg), -EINVAL, "a name without end");
	UNIT_EQUAL(ln->nr_nis, 2, "NIs");
	ln->tun.max_interfaces = 2;
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.2@tcp"), -ENOSPC, "one too many");
	node_end(ln);
}

static void test_numbers(void)
{
	static const struct {
		const char *what;
		s32 peer_credits, credits, want_peer_credits, want_credits;
	} rows[] = {
		{ "defaults of the driver", -1, -1, 8, 256 },
		{ "given", 16, 64, 16, 64 },
		{ "a peer has no more than the NI", 512, 64, 64, 64 },
		{ "the default neither", -1, 4, 4, 4 },
	};
	struct lnet *ln = node_begin(1);
	struct lnet_ni_cfg cfg;
	struct lnet_ni *ni;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		lnet_ni_cfg_init(&cfg);
		cfg.nid = nid("10.0.0.1@tcp");
		cfg.peer_credits = rows[i].peer_credits;
		cfg.credits = rows[i].credits;
		UNIT_EQUAL(lnet_ni_add(ln, &cfg), 0, rows[i].what);
		ni = find(ln, "10.0.0.1@tcp");
		UNIT_EQUAL(ni->peer_credits, rows[i].want_peer_credits, rows[i].what);
		UNIT_EQUAL(ni->credits, rows[i].want_credits, rows[i].what);
		UNIT_EQUAL(ni->peer_timeout, 180, rows[i].what);
		lnet_ni_put(ni);
		UNIT_EQUAL(del(ln, "10.0.0.1@tcp"), 0, rows[i].what);
	}
	node_end(ln);
}

/* As in stock LNet, an interface without tunables takes those of the first interface on its net. */
static void test_net_numbers(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_ni_cfg cfg;
	struct lnet_ni *ni;

	lnet_ni_cfg_init(&cfg);
	cfg.nid = nid("10.0.0.1@tcp");
	cfg.peer_timeout = 100;
	cfg.peer_credits = 16;
	cfg.peer_buffer_credits = 4;
	cfg.credits = 512;
	UNIT_EQUAL(lnet_ni_add(ln, &cfg), 0, "the first");
	lnet_ni_cfg_init(&cfg);
	cfg.nid = nid("10.0.0.2@tcp");
	cfg.credits = 64;
	UNIT_EQUAL(lnet_ni_add(ln, &cfg), 0, "the second");
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.3@tcp1"), 0, "another net");
	ni = find(ln, "10.0.0.2@tcp");
	UNIT_EQUAL(ni->peer_timeout, 100, "as the first");
	UNIT_EQUAL(ni->peer_credits, 16, "as the first");
	UNIT_EQUAL(ni->peer_buffer_credits, 4, "as the first");
	UNIT_EQUAL(ni->credits, 64, "its own");
	lnet_ni_put(ni);
	ni = find(ln, "10.0.0.3@tcp1");
	UNIT_EQUAL(ni->peer_timeout, 180, "the driver's");
	UNIT_EQUAL(ni->credits, 256, "the driver's");
	lnet_ni_put(ni);
	node_end(ln);
}

static void test_start_fails(void)
{
	struct lnet *ln = node_begin(1);

	fake_lnd.start_error = -EADDRINUSE;
	UNIT_EQUAL(node_ni_add(ln, "10.0.0.1@tcp"), -EADDRINUSE, "what the driver said");
	UNIT_EQUAL(ln->nr_nis, 1, "NIs");
	UNIT_EQUAL(fake_lnd.nr_stops, 0, "stops of what never started");
	node_end(ln);
}

static void test_no_memory(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_nid far = nid("10.0.0.9@tcp");
	unsigned int nth = 0;
	int err;

	lnet_peer_ni_put(lnet_peer_ni_get(ln, &far));	/* so that a path must be created */
	do {
		unit_fail_alloc(++nth);
		err = node_ni_add(ln, "10.0.0.1@tcp");
		unit_fail_alloc(0);
		if (err) {
			UNIT_EQUAL(err, -ENOMEM, "with an allocation failing");
			UNIT_EQUAL(ln->nr_nis, 1, "NIs then");
		}
	} while (err && nth < 100);
	CU_ASSERT(nth > 3);
	UNIT_EQUAL(fake_lnd.nr_starts, fake_lnd.nr_stops + 1,
		   "each start but the last was stopped");
	node_end(ln);
}

static bool drop_hold(struct lnet_ni *ni)
{
	ni->sh[0].holds--;
	return true;
}

static void test_drain(void)
{
	struct lnet *ln = node_begin(1);
	struct lnet_ni *ni;

	node_ni_add(ln, "10.0.0.1@tcp");
	ni = find(ln, "10.0.0.1@tcp");
	ni->sh[0].holds = 1;			/* the driver holds an attempt */
	fake_lnd.in_stop = drop_hold;		/* and releases it only when it is stopped */
	UNIT_EQUAL(del(ln, "10.0.0.1@tcp"), 0, "removing");
	UNIT_EQUAL(ni->state, NI_GONE, "state");
	lnet_ni_put(ni);
	node_end(ln);
}

static void test_link(void)
{
	struct lnet_link down = { .up = false }, up = { .up = true, .speed_mbit = 1000 };
	struct lnet *ln = node_begin(2);
	unsigned int kicks;
	struct lnet_ni *ni;

	node_ni_add(ln, "10.0.0.1@tcp");
	node_work(ln);
	ni = find(ln, "10.0.0.1@tcp");
	kicks = node_env.nr_kicks;
	lnet_ni_link(ni, &down);
	CU_ASSERT(lnet_ni_marked(ni, LNET_MARK(LINK_DOWN)) && node_env.nr_kicks > kicks);
	UNIT_EQUAL(ni->nr_down, 0, "nothing but a record before the worker comes");
	node_work(ln);
	UNIT_EQUAL(ni->nr_down, 1, "times down");
	node_work(ln);
	UNIT_EQUAL(ni->nr_down, 1, "times down, once per change");
	lnet_ni_link(ni, &up);
	node_work(ln);
	UNIT_EQUAL(ni->nr_up, 1, "times up");
	UNIT_EQUAL(ni->link_speed, 1000, "speed");
	CU_ASSERT_FALSE(lnet_ni_marked(ni, LNET_MARK(LINK_DOWN)));
	UNIT_EQUAL(ln->ping_stale, 0, "ping info is fresh");
	lnet_ni_put(ni);
	node_end(ln);
}

#define MANY 400U

static struct lnet_nid many(unsigned int i)
{
	char text[32];

	snprintf(text, sizeof(text), "10.1.%u.%u@tcp", i / 100, i % 100 + 1);
	return nid(text);
}

/* Returns how many paths over @ni are in recovery. @hurt: also halves the health of each path. */
static unsigned int nr_told(struct lnet *ln, struct lnet_ni *ni, bool hurt)
{
	unsigned int i, nr = 0;

	for (i = 0; i < MANY; i++) {
		struct lnet_nid n = many(i);
		struct lnet_peer_ni *pni = lnet_peer_ni_get(ln, &n);
		struct lnet_path *path = lnet_path_find(pni, ni);

		if (hurt)
			path->health = LNET_HEALTH_MAX / 2;
		nr += path->recovering != 0;
		lnet_peer_ni_put(pni);
	}
	return nr;
}

static void link_set(struct lnet_ni *ni, bool up)
{
	struct lnet_link link = { .up = up };

	lnet_ni_link(ni, &link);
}

/* A link comes up, and again while peers are notified; then the NI is removed meanwhile. */
static void test_rise(void)
{
	struct lnet *ln = node_begin(2);
	unsigned int i, nr, before = 0;
	struct lnet_ni *ni;

	node_ni_add(ln, "10.0.0.1@tcp");
	ni = find(ln, "10.0.0.1@tcp");
	UNIT_EQUAL(nr_told(ln, ni, true), 0, "before");
	link_set(ni, false);
	node_work(ln);
	link_set(ni, true);
	for (i = 0; before < MANY && i < MANY; i++) {
		node_env.nr_kicks = 0;
		node_work(ln);
		nr = nr_told(ln, ni, false);
		CU_ASSERT(nr > before && nr - before <= MANY / 3 && node_env.nr_kicks);
		before = nr;
	}
	UNIT_EQUAL(before, MANY, "told");
	for (i = 0; i < 2; i++) {
		link_set(ni, false);
		node_work(ln);
		link_set(ni, true);
		node_work(ln);
	}
	UNIT_EQUAL(ni->nr_up, 3, "times up");
	CU_ASSERT(ni->up_pending && ni->up_notified);
	UNIT_EQUAL(del(ln, "10.0.0.1@tcp"), 0, "removing");
	CU_ASSERT(!ni->up_pending && !ni->up_notified);
	lnet_ni_put(ni);
	node_end(ln);
}

/* The states in the order in which they take precedence, with their marks. */
static enum lnet_ni_service service_wanted(u32 marks)
{
	if (marks & (LNET_MARK(LINK_DOWN) | LNET_MARK(RULE_DOWN)))
		return LNET_NI_NO_LINK;
	if (marks & (LNET_MARK(DRAINED) | LNET_MARK(LEAVING)))
		return LNET_NI_DRAINED;
	if (marks & LNET_MARK(DAMPED))
		return LNET_NI_DAMPED;
	return marks & (LNET_MARK(NO_HEALTH) | LNET_MARK(UNPINGED)) ? LNET_NI_ADVERTISED_DOWN :
								     LNET_NI_OK;
}

static void test_service(void)
{
	struct lnet_ni ni = { .ix = 1 };
	u32 set, bit, one;

	for (set = 0; set < 1U << LNET_NR_MARKS; set++) {
		u32 marks = set << LNET_SERVICE_BITS;

		UNIT_EQUAL(lnet_ni_mark(&ni, ~0U << LNET_SERVICE_BITS, false), set > 1, "cleared");
		UNIT_EQUAL(lnet_ni_service(&ni), LNET_NI_OK, "no mark");
		for (bit = 0; bit < LNET_NR_MARKS; bit++) {
			one = 1U << (LNET_SERVICE_BITS + bit);
			UNIT_EQUAL(lnet_ni_mark(&ni, one, marks & one), !!(marks & one), "changed");
			UNIT_EQUAL(lnet_ni_marked(&ni, one), !!(marks & one), "the mark");
		}
		UNIT_EQUAL(lnet_ni_service(&ni), service_wanted(marks), "the state");
		UNIT_EQUAL(lnet_ni_has_link(&ni), lnet_ni_service(&ni) != LNET_NI_NO_LINK, "link");
	}
}

UNIT_SUITE(ni_config,
	{ "is found from ACTIVE on until it stops, freed with its last count", test_add_del },
	{ "refuses impossible configurations", test_refusals },
	{ "takes numbers, else the driver's, and clips them", test_numbers },
	{ "numbers of the first one on the net", test_net_numbers },
	{ "is not there when its driver does not start", test_start_fails },
	{ "is not there without memory", test_no_memory },
	{ "waits for what its driver has", test_drain },
	{ "leaves link changes to the worker, which counts them", test_link },
	{ "tells many peers that a link is back in slices", test_rise },
	{ "computes the service state from the marks, whatever their order", test_service },
)
