/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A session over many nodes, controlled by commands to the console on node 0. All nodes join, and
 * each sends pings to two others. Meanwhile the console takes samples and nodes die; then the
 * remaining nodes leave. The console's answers are compared with the state of the nodes.
 *
 * r.c2.net.self-test.scalable r.c2.net.self-test.synchronized
 */
#include <stdlib.h>
#include <string.h>
#include "tests/sim/console.h"
#include "tests/sim/tree.h"
#include "selftest/tree.h"

#define RUN_MAX_NS	(100ULL * NSEC_PER_SEC)
#define DEAD_SHARE	1000U		/* one of so many nodes dies */
/* nodes with children that crash, while messages are lost */
#define CRASHED		20U
#define LOSS_PERMILLE	10U
/*
 * Pings must be in progress until the last live sample. With nodes of the core, a sample takes
 * about 220 us for each level, and a ping 133 us. So ten samples last as long as 17 pings for each
 * level.
 * A light node with a long latency pings for longer than all samples take, at any number of levels.
 */
#define LOOPS_MIN	60U
#define LOOPS_LEVEL	20U

struct tree {
	struct sim_world w;
	struct sim_tree *t;
	const struct sim_ground *ground;
	struct sim_member *m;
	struct sim_console c;
	char ranges[4096];
	u32 slow;			/* the node with the long latency */
	u64 sent_before;
};

/* ---- commands -------------------------------------------------------------------------------- */

/* Returns the duration in us. */
static u64 command(struct tree *x)
{
	struct sim_traffic traffic;
	u64 us;

	x->ground->traffic(&x->m[0], true);
	us = sim_ask(&x->c);
	traffic = x->ground->traffic(&x->m[0], true);
	x->t->root_messages_max = max(x->t->root_messages_max, traffic.out + traffic.in);
	x->t->root_bytes_max = max(x->t->root_bytes_max, traffic.bytes);
	return us;
}

/*
 * Checks a wave in which all nodes but @missing took part. If no node is missing, the console sends
 * at most k requests for it.
 */
static void whole(struct tree *x, const char *what, u32 missing)
{
	u64 asked = sim_sum(&x->c, " asked");

	sim_equal(&x->w, what, sim_sum(&x->c, " done"), x->t->nodes - missing);
	sim_equal(&x->w, "refused", sim_sum(&x->c, " refused"), 0);
	sim_equal(&x->w, "missing", sim_sum(&x->c, " missing"), missing);
	if (missing)
		x->t->asked_lost_max = max(x->t->asked_lost_max, asked);
	else
		x->t->asked_max = max(x->t->asked_max, asked);
	if (!missing && asked > x->t->k && !x->w.failed)
		sim_fail(&x->w, "%s: the console asked %llu times", what,
			 (unsigned long long)asked);
}

/* Is the node named in the answer between the last @list and the next @next? */
static bool says(const struct tree *x, const char *list, const char *next, u32 node)
{
	const char *at = x->c.cmd.answer ? strstr(x->c.cmd.answer, list) : NULL, *later;
	char text[LNET_NIDSTR_SIZE], quoted[LNET_NIDSTR_SIZE + 2];
	const char *end, *found;
	struct lnet_nid nid;

	while (at && (later = strstr(at + 1, list)))
		at = later;
	end = at ? strstr(at, next) : NULL;
	sim_nid(&nid, node, 0);
	snprintf(quoted, sizeof(quoted), "\"%s\"", lnet_nid_str(&nid, text));
	found = at ? strstr(at, quoted) : NULL;
	return found && end && found < end;
}

/* ---- the session ----------------------------------------------------------------------------- */

/*
 * Writes addresses [@lo, @hi] as ranges: as many whole rows of 256 as possible, and the rest of two
 * rows.
 */
static void ranges(struct tree *x, u32 lo, u32 hi)
{
	size_t len = 0, size = sizeof(x->ranges);

	while (lo <= hi) {
		u32 end = min(lo | 255, hi), rows = lo >> 8;

		if (!(lo & 255) && (hi | 0xffff) != (lo | 0xffff))
			end = lo | 0xffff;
		else if (!(lo & 255) && hi - lo >= 255)
			end = ((hi + 1) & ~255U) - 1;
		len += (size_t)snprintf(x->ranges + len, size - len,
					"%s10.%u.[%u-%u].[%u-%u]@tcp", len ? " " : "",
					rows >> 8 & 255, rows & 255, end >> 8 & 255, lo & 255,
					end & 255);
		lo = end + 1;
	}
}

static void join(struct tree *x)
{
	ranges(x, 0x0a000002, 0x0a000001 + x->t->nodes);
	sim_verb(&x->c, "new_session");
	sim_word(&x->c, "name=sim");
	command(x);
	sim_verb(&x->c, "tree_join");
	sim_word(&x->c, "ranges=%s", x->ranges);
	sim_word(&x->c, "k=%u", x->t->k);
	x->t->join_us = command(x);
	whole(x, "joined", 0);
	x->t->levels = (u32)sim_sum(&x->c, " levels");
}

static void add_test(struct tree *x, u32 seed)
{
	sim_verb(&x->c, "tree_test");
	sim_word(&x->c, "batch=batch");
	sim_word(&x->c, "from=%s", x->ranges);
	sim_word(&x->c, "to=%s", x->ranges);
	sim_word(&x->c, "type=ping");
	sim_word(&x->c, "loop=%u", x->t->loops);
	sim_word(&x->c, "stop_onerr=0");
	sim_word(&x->c, "seed=%u", seed);
	command(x);
	whole(x, "nodes with the test", 0);
}

static int by_size(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* By the world's clock: time between the first and the last start, of all and of 99 %. */
static void skew(struct tree *x)
{
	u64 *at = calloc(x->t->nodes, sizeof(*at));
	u32 i, n = x->t->nodes;

	for (i = 0; i < n; i++) {
		const struct sim_member *m = &x->m[1 + i];

		if (!m->st->tree || !m->st->tree->started_ns)
			sim_fail(&x->w, "node %u did not start", 1 + i);
		else
			at[i] = x->ground->true_ns(m, m->st->tree->started_ns);
	}
	qsort(at, n, sizeof(*at), by_size);
	x->t->skew_max_ns = at[n - 1] - at[0];
	x->t->skew_p99_ns = at[n - 1 - n / 200] - at[n / 200];
	free(at);
	if (x->t->skew_max_ns > 2 * x->t->bound_ns + SIM_US)
		sim_fail(&x->w, "starts are %llu ns apart, clocks off by at most %llu",
			 (unsigned long long)x->t->skew_max_ns, (unsigned long long)x->t->bound_ns);
}

static u64 sample(struct tree *x)
{
	u64 us;

	sim_verb(&x->c, "tree_sample");
	us = command(x);
	sim_equal(&x->w, "sent", sim_sum(&x->c, " sent"),
		  sim_sum(&x->c, " received") + sim_sum(&x->c, " lost") +
			  sim_sum(&x->c, " under_way"));
	return us;
}

static void run(struct tree *x)
{
	u64 us, until, sent;
	u32 i;

	add_test(x, 1);
	add_test(x, max(x->t->nodes / 2, 1));
	sim_verb(&x->c, "tree_run");
	sim_word(&x->c, "batch=batch");
	command(x);
	whole(x, "prepared", 0);
	x->t->bound_ns = sim_sum(&x->c, " bound_ns");
	sim_run(&x->w, x->w.now_ns + sim_sum(&x->c, "in_us") * SIM_US + x->t->bound_ns +
			       SIM_MS / 10);
	for (i = 0; i < SIM_TREE_SAMPLES && !x->w.failed; i++) {
		us = sample(x);
		whole(x, "live sample", 0);
		sent = sim_sum(&x->c, " sent");
		if (sent <= x->sent_before && !x->w.failed)
			sim_fail(&x->w, "sample %u: %llu were sent, before %llu", i,
				 (unsigned long long)sent, (unsigned long long)x->sent_before);
		x->sent_before = sent;
		x->t->sample_us += us / SIM_TREE_SAMPLES;
		x->t->sample_max_us = max(x->t->sample_max_us, us);
	}
	until = x->w.now_ns + RUN_MAX_NS;
	do {
		sim_run(&x->w, x->w.now_ns + 10 * SIM_MS);
		sample(x);
	} while (!x->w.failed && sim_sum(&x->c, "active") && x->w.now_ns < until);
	if (!x->w.failed)
		skew(x);
}

static void compare(struct tree *x)
{
	u64 want = 2ULL * x->t->nodes * x->t->loops;

	sim_equal(&x->w, "pings", sim_sum(&x->c, " sent"), want);
	sim_equal(&x->w, "answers", sim_sum(&x->c, " received"), want);
	sim_equal(&x->w, "round trips", sim_sum(&x->c, " times"), want);
	sim_equal(&x->w, "nodes of tests", sim_sum(&x->c, "  nodes"), 2ULL * x->t->nodes);
	sim_equal(&x->w, "started", sim_sum(&x->c, " started"), x->t->nodes);
	x->t->pings = want;
	/*
	 * Checked with the second test. In the first test most nodes send to neighbours, so ten
	 * times their latency is not longer than that of others.
	 */
	if (x->slow && !says(x, "slow:", "bad:", x->slow))
		sim_fail(&x->w, "node %u, which is far, is not among the slowest", x->slow);
}

/* ---- death ----------------------------------------------------------------------------------- */

static bool is_above(const struct tree *x, u32 node)
{
	struct lst_place place;

	lst_place_find(&place, x->t->nodes, x->t->k, node - 1);
	return lst_place_children(&place, x->t->k);
}

static void die(struct tree *x, u32 nr, bool above)
{
	u32 node, tries = 1000000;

	while (x->t->dead < nr && tries--) {
		node = 1 + (u32)sim_below(&x->w.rng, x->t->nodes);
		if (x->m[node].dead || (above && !is_above(x, node)))
			continue;
		x->ground->kill(&x->m[node]);
		x->t->dead++;
	}
}

/* Exactly the dead nodes are missing, and all others are present. */
static void miss(struct tree *x)
{
	u64 want = 2ULL * (x->t->nodes - x->t->dead) * x->t->loops;
	u32 node;

	x->t->recovered_us = sample(x);
	whole(x, "sample of those alive", x->t->dead);
	for (node = 1; node <= x->t->nodes && !x->w.failed; node++)
		if (says(x, "missing: [", "]", node) != x->m[node].dead)
			sim_fail(&x->w, "node %u is %s and %s", node,
				 x->m[node].dead ? "dead" : "alive",
				 x->m[node].dead ? "not missing" : "missing");
	if (!x->t->faults)
		sim_equal(&x->w, "pings of those alive", sim_sum(&x->c, " sent"), want);
	if (x->t->recovered_us * SIM_US > 3 * LST_TREE_TIMEOUT_NS)
		sim_fail(&x->w, "the sample took %llu us, more than three timeouts",
			 (unsigned long long)x->t->recovered_us);
	sample(x);
	whole(x, "a second sample", x->t->dead);
}

static void some_die(struct tree *x)
{
	die(x, max(x->t->nodes / DEAD_SHARE, 1), false);
	miss(x);
}

static void messages_are_lost(struct tree *x)
{
	sim_light_cfg.loss_permille = LOSS_PERMILLE;
	die(x, min(CRASHED, max(x->t->nodes / 50, 1)), true);
	miss(x);
}

static void leave(struct tree *x)
{
	u32 node;

	sim_verb(&x->c, "tree_leave");
	command(x);
	whole(x, "left", x->t->dead);
	sim_run(&x->w, x->w.now_ns + 2 * LST_TREE_TIMEOUT_NS);
	for (node = 1; node <= x->t->nodes && !x->w.failed; node++)
		if (!x->m[node].dead && (x->m[node].st->session || x->m[node].st->tree))
			sim_fail(&x->w, "node %u is not free", node);
	sim_verb(&x->c, "end_session");
	command(x);
}

/* ---- without a tree -------------------------------------------------------------------------- */

static void flat_join(struct tree *x)
{
	char text[LNET_NIDSTR_SIZE];
	struct lnet_nid nid;
	u64 us = 0;
	u32 node;

	sim_verb(&x->c, "new_session");
	sim_word(&x->c, "name=sim");
	command(x);
	sim_verb(&x->c, "add_group");
	sim_word(&x->c, "name=all");
	command(x);
	for (node = 1; node <= x->t->nodes && !x->w.failed;) {
		sim_verb(&x->c, "add_nodes");
		sim_word(&x->c, "name=all");
		for (; node <= x->t->nodes && x->c.len < 60000; node++) {
			sim_nid(&nid, node, 0);
			sim_word(&x->c, "nid=%s", lnet_nid_str(&nid, text));
		}
		us += command(x);
		x->sent_before += sim_sum(&x->c, "joined");
	}
	x->t->join_us = us;
	sim_equal(&x->w, "joined", x->sent_before, x->t->nodes);
	x->t->levels = 1;
}

static void flat_sample(struct tree *x)
{
	sim_verb(&x->c, "stat");
	sim_word(&x->c, "group=all");
	x->t->sample_us = x->t->sample_max_us = command(x);
	x->t->asked_max = x->t->nodes;
	sim_verb(&x->c, "end_session");
	command(x);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void begin(struct tree *x, u64 seed)
{
	u32 n, nr = x->t->nodes + 1;

	x->ground = x->t->core ? &sim_core : &sim_light;
	x->m = calloc(nr, sizeof(*x->m));
	if (!x->m || x->ground->begin(&x->w, seed, nr))
		abort();
	x->c.m = &x->m[0];
	sim_light_cfg.loss_permille = 0;
	x->slow = 0;
	if (!x->t->core && !x->t->faults && !x->t->flat)
		x->slow = 1 + (u32)sim_below(&x->w.rng, x->t->nodes);
	sim_light_cfg.slow = x->slow;
	for (n = 0; n < nr && !x->w.failed; n++) {
		x->m[n].ix = n;
		if (x->ground->up(&x->w, &x->m[n], n ? 8 : 512))
			sim_fail(&x->w, "node %u does not come up", n);
	}
}

static void end(struct tree *x, struct sim_result *result)
{
	u32 n;

	sim_light_cfg.loss_permille = 0;
	for (n = 0; n <= x->t->nodes; n++)
		if (x->m[n].st)
			x->ground->stop(&x->m[n]);
	result->failed = x->w.failed;
	memcpy(result->why, x->w.why, sizeof(result->why));
	result->hash = x->w.hash;
	result->count = x->w.count;
	x->w.failed = false;
	sim_run(&x->w, x->w.now_ns + 5 * NSEC_PER_SEC);
	for (n = 0; n <= x->t->nodes; n++)
		if (x->m[n].st)
			x->ground->free(&x->m[n]);
	if (x->w.failed && !result->failed) {
		result->failed = true;
		memcpy(result->why, x->w.why, sizeof(result->why));
	}
	x->t->messages = result->count.messages;
	x->t->events = result->count.events;
	sim_console_free(&x->c);
	x->ground->end(&x->w);
	free(x->m);
}

static u32 loops_by_levels(const struct sim_tree *t)
{
	return t->core ? max(LOOPS_MIN, LOOPS_LEVEL * lst_place_levels(t->nodes, t->k)) : LOOPS_MIN;
}

void sim_tree_run(struct sim_tree *t, u64 seed, struct sim_result *result)
{
	static void (*const tree_phases[])(struct tree *x) = { join, run, compare, some_die,
							       leave, NULL };
	static void (*const fault_phases[])(struct tree *x) = { join, messages_are_lost, leave,
								NULL };
	static void (*const flat_phases[])(struct tree *x) = { flat_join, flat_sample, NULL };
	void (*const *phase)(struct tree *x) = t->flat ? flat_phases : t->faults ? fault_phases :
					       tree_phases;
	struct tree *x = calloc(1, sizeof(*x));

	if (!x)
		abort();
	if (!t->loops)
		t->loops = loops_by_levels(t);
	x->t = t;
	begin(x, seed);
	for (; *phase && !x->w.failed; phase++)
		(*phase)(x);
	end(x, result);
	free(x);
}
