/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Many nodes on three rails. Each sends requests to some others, of which it knows one NID.
 * Discovery must find all rails with six control messages per pair. Rails of half the nodes are
 * lost and return, at all of these nodes at once. Meanwhile some nodes are cut off from all others,
 * and some restart. In a storm all nodes lose contact with half of the others, and have more probes
 * to send than their rate limit permits. Each node keeps its limit.
 */
#include <stdlib.h>
#include <string.h>
#include "tests/sim/crowd.h"
#include "lnd/simlnd/simlnd.h"
#include "lnet/shard/shard.h"
#include "lnet/topology/topology.h"

#define RAILS		3U
#define LOST_RAIL	1U
#define PORTAL		10U
#define START_MS	500U	/* by then all nodes have begun to send requests */
#define TALK_MS		200U	/* mean time between two requests of a node */
#define LOOK_MS		50U
#define FOUND_MS	5000U
#define CHANGED_MS	5000U
#define CUT_MS		3000U
#define CUT_OFF		5U	/* nodes */
/* a request that was cut off waits for its attempt timeout, then pauses */
#define HEALED_MS	15000U
#define WATCH_MS	1000U	/* interval between checks of the rate limits */
#define CONTROL_MAX	6U	/* ping, session open request, push, each with its reply */
/* allowed in a second beyond the rate: the burst, and one more because seconds overlap */
#define PUSHES_AT_ONCE	32U
#define PROBES_AT_ONCE	8U

struct member {
	struct lnet *ln;
	lnet_md_t source;
	u32 *partner;		/* nodes, crowd->partners of them */
	u32 turn, turns_until;	/* requests so far; when each partner has one */
	u64 pushes_before, probes_before;
	u8 byte[2];
};

struct crowd {
	struct sim_world w;
	struct sim_crowd *c;
	struct member *m;
	struct sim_rng rng;
	u64 strange;		/* a pair that did not know each other at the last check */
	u32 nr_behind;		/* nodes that have not reached turns_until */
	bool talking;
};

/* ---- requests -------------------------------------------------------------------------------- */

static void on_event(const struct lnet_event *ev)
{
	struct crowd *cr = ev->user_ptr;

	if (ev->kind == LNET_EVENT_PUT || !ev->final)
		return;
	cr->c->failed += ev->status != 0;
}

static void ready(struct crowd *cr, u32 ix)
{
	struct lnet_process any = { .nid = LNET_NID_ANY, .pid = LNET_PID_ANY };
	struct member *m = &cr->m[ix];
	struct lnet_md_cfg cfg = { .start = m->byte, .length = 1, .cpt = -1, .user_ptr = cr,
				   .threshold = LNET_THRESHOLD_INF, .handler = on_event };
	lnet_md_t target;
	lnet_me_t me;
	int err;

	m->ln = cr->w.node[ix].ln;
	m->pushes_before = m->probes_before = 0;
	err = lnet_md_bind(m->ln, &cfg, LNET_RETAIN, &m->source);
	cfg.start = m->byte + 1;
	cfg.options = LNET_MD_OP_PUT | LNET_MD_MANAGE_REMOTE;
	if (!err)
		err = lnet_me_attach(m->ln, PORTAL, &any, 0, ~0ULL, LNET_RETAIN, LNET_INS_AFTER,
				     &me);
	if (!err)
		err = lnet_md_attach(m->ln, me, &cfg, LNET_RETAIN, &target);
	if (err)
		sim_fail(&cr->w, "node %u is not ready: %d", ix, err);
}

static void say(struct crowd *cr, struct member *m, u32 to)
{
	struct lnet_xfer x;

	lnet_xfer_init(&x);
	x.md = m->source;
	sim_nid(&x.target.nid, to, 0);
	x.portal = PORTAL;
	x.flags = LNET_ACK;
	if (lnet_put(m->ln, &x))
		sim_fail(&cr->w, "a request was refused");
	cr->c->sent++;
}

static void talk(struct sim_world *w, void *arg, u64 num)
{
	struct crowd *cr = arg;
	struct member *m = &cr->m[num];

	if (!cr->talking)
		return;
	if (m->ln)
		say(cr, m, m->partner[m->turn++ % cr->c->partners]);
	cr->nr_behind -= m->turn == m->turns_until;
	sim_at(w, w->now_ns + (TALK_MS / 2 + sim_below(&cr->rng, TALK_MS)) * SIM_MS, talk, cr, num);
}

/* Runs until each node has sent a request to each of its partners. */
static void have_turns(struct crowd *cr)
{
	u32 n;

	for (n = 0; n < cr->c->nodes; n++)
		cr->m[n].turns_until = cr->m[n].turn + cr->c->partners;
	cr->nr_behind = cr->c->nodes;
	while (cr->nr_behind && sim_run(&cr->w, cr->w.now_ns + LOOK_MS * SIM_MS))
		;
}

/* ---- knowledge ------------------------------------------------------------------------------- */

/* Whether @ln has one peer entry with all rails of @node, and knows which of them work. */
static bool knows(struct lnet *ln, u32 node, bool half_lost)
{
	struct lnet_peer *peer = NULL;
	struct lnet_peer_ni *pni;
	struct lnet_nid nid;
	bool good = true;
	u32 rail;

	for (rail = 0; rail < RAILS && good; rail++) {
		bool lost = half_lost && rail == LOST_RAIL && node & 1;

		sim_nid(&nid, node, rail);
		pni = lnet_peer_ni_lookup(ln, &nid);
		good = pni && (!peer || pni->peer == peer) && pni->peer->mr &&
		       (pni->status == LNET_PNI_STATUS_DOWN) == lost;
		peer = pni ? pni->peer : NULL;
		lnet_peer_ni_put(pni);
	}
	return good && peer->nr_pnis == RAILS;
}

/* How many ends of pair @ix do not know the other end. */
static u32 strange_ends(const struct crowd *cr, u64 ix, bool half_lost)
{
	u32 n = ix / cr->c->partners;
	u32 to = cr->m[n].partner[ix % cr->c->partners];

	return !knows(cr->m[n].ln, to, half_lost) + !knows(cr->m[to].ln, n, half_lost);
}

static u64 strangers(const struct crowd *cr, bool half_lost)
{
	u64 nr = 0, ix;

	for (ix = 0; ix < cr->c->pairs; ix++)
		nr += strange_ends(cr, ix, half_lost);
	return nr;
}

/*
 * Whether each node knows all its partners now. A check of all pairs costs more than the events
 * between two checks, so it begins with the pair that failed last time.
 */
static bool all_known(struct crowd *cr, bool half_lost)
{
	u64 nr;

	for (nr = 0; nr < cr->c->pairs; nr++) {
		if (strange_ends(cr, cr->strange, half_lost))
			return false;
		cr->strange = (cr->strange + 1) % cr->c->pairs;
	}
	return true;
}

static u64 sum_of(const struct crowd *cr, enum lnet_counter counter)
{
	u64 sum = 0;
	u32 n;

	for (n = 0; n < cr->c->nodes; n++)
		if (cr->m[n].ln)
			sum += lnet_stat_sum(cr->m[n].ln, counter);
	return sum;
}

static void budget_kept(struct crowd *cr, u32 node, const char *what, u64 nr, u64 most)
{
	if (nr > most)
		sim_fail(&cr->w, "node %u sent %llu %s in a second, and may send %llu", node,
			 (unsigned long long)nr, what, (unsigned long long)most);
}

/* Checks the control messages that each node sent in the last second. */
static void watch(struct sim_world *w, void *arg, u64 num)
{
	struct crowd *cr = arg;
	struct sim_crowd *c = cr->c;
	u32 n;

	for (n = 0; n < c->nodes; n++) {
		struct member *m = &cr->m[n];
		u64 pushes = lnet_stat_sum(m->ln, LNET_C_pushes_sent);
		u64 probes = lnet_stat_sum(m->ln, LNET_C_recovery_pings);

		budget_kept(cr, n, "pushes", pushes - m->pushes_before,
			    c->push_rate + PUSHES_AT_ONCE + 1);
		budget_kept(cr, n, "probes", probes - m->probes_before,
			    c->recovery_rate + PROBES_AT_ONCE + 1);
		c->pushes_sec_max = max(c->pushes_sec_max, pushes - m->pushes_before);
		c->probes_sec_max = max(c->probes_sec_max, probes - m->probes_before);
		m->pushes_before = pushes;
		m->probes_before = probes;
	}
	if (cr->talking)
		sim_at(w, w->now_ns + WATCH_MS * SIM_MS, watch, cr, num);
}

/* Runs until all know their partners, at most @limit_ms of virtual time. Returns the time in ms. */
static u64 converge(struct crowd *cr, bool half_lost, u64 limit_ms, const char *what)
{
	u64 start_ns = cr->w.now_ns, ms = 0;
	bool known = false;

	while (!cr->w.failed && !known && ms < limit_ms) {
		sim_run(&cr->w, cr->w.now_ns + LOOK_MS * SIM_MS);
		ms = (cr->w.now_ns - start_ns) / SIM_MS;
		known = all_known(cr, half_lost);
	}
	if (!known)
		sim_fail(&cr->w, "%s: after %llu ms %llu of %llu do not know the other", what,
			 (unsigned long long)ms, (unsigned long long)strangers(cr, half_lost),
			 (unsigned long long)(2 * cr->c->pairs));
	return ms;
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* At every other node at once, so that most pairs have an end that changes. */
static void lost_rails(struct crowd *cr, bool lost)
{
	struct lnet_link link = { .up = !lost };
	u32 n;

	for (n = 1; n < cr->c->nodes; n += 2) {
		struct sim_node *node = &cr->w.node[n];

		if (lost)
			node->link_down |= 1U << LOST_RAIL;
		else
			node->link_down &= ~(1U << LOST_RAIL);
		lnet_ni_link(node->lnet_ni[LOST_RAIL], &link);
	}
}

static void meet(struct crowd *cr)
{
	struct sim_crowd *c = cr->c;
	u32 n;

	for (n = 0; n < c->nodes; n++)
		sim_at(&cr->w, cr->w.now_ns + sim_below(&cr->rng, START_MS * SIM_MS), talk, cr, n);
	have_turns(cr);
	c->found_ms = converge(cr, false, FOUND_MS, "found");
	c->control = 2 * (sum_of(cr, LNET_C_pings_sent) + sum_of(cr, LNET_C_pushes_sent));
	if (c->control > CONTROL_MAX * c->pairs)
		sim_fail(&cr->w, "%llu control messages for %llu pairs",
			 (unsigned long long)c->control, (unsigned long long)c->pairs);
}

static void change(struct crowd *cr)
{
	u64 pushes = sum_of(cr, LNET_C_pushes_sent), probes = sum_of(cr, LNET_C_recovery_pings);

	lost_rails(cr, true);
	cr->c->changed_ms = converge(cr, true, CHANGED_MS, "half of a rail is lost");
	lost_rails(cr, false);
	cr->c->changed_ms = max(cr->c->changed_ms,
				converge(cr, false, CHANGED_MS, "it came back"));
	cr->c->pushes = sum_of(cr, LNET_C_pushes_sent) - pushes;
	cr->c->probes = sum_of(cr, LNET_C_recovery_pings) - probes;
}

/*
 * The first @nr faults act from now on. Meanwhile rails are lost, at one end or both ends of most
 * pairs.
 */
static void cut(struct crowd *cr, u32 nr)
{
	u64 from_ns = cr->w.now_ns - SIM_START_NS;
	u32 i;

	for (i = 0; i < nr; i++) {
		cr->w.fault[i].kind = SIM_CUT;
		cr->w.fault[i].rail = cr->w.fault[i].peer = -1;
		cr->w.fault[i].from_ns = from_ns;
		cr->w.fault[i].to_ns = from_ns + CUT_MS * SIM_MS;
	}
	cr->w.nr_faults = nr;
	sim_run(&cr->w, cr->w.now_ns + CUT_MS / 3 * SIM_MS);
	lost_rails(cr, true);
	sim_run(&cr->w, cr->w.now_ns + (CUT_MS - CUT_MS / 3) * SIM_MS);
}

static u64 apart(struct crowd *cr, u32 nr, const char *what)
{
	u64 ms;

	cut(cr, nr);
	ms = converge(cr, true, HEALED_MS, what);
	cr->w.nr_faults = 0;
	lost_rails(cr, false);
	converge(cr, false, CHANGED_MS, "whole again");
	return ms;
}

/* Some nodes are cut off from all others. */
static void part(struct crowd *cr)
{
	u32 i;

	for (i = 0; i < CUT_OFF; i++)
		cr->w.fault[i] = (struct sim_fault){
			.node = (s32)(i * (cr->c->nodes / CUT_OFF)),
		};
	cr->c->healed_ms = apart(cr, CUT_OFF, "some were cut off and are joined");
}

/* Each node is cut off from the half to which it does not belong. */
static void split(struct crowd *cr)
{
	cr->w.fault[0] = (struct sim_fault){ .node = -1, .below = cr->c->nodes / 2 };
	cr->c->split_ms = apart(cr, 1, "two halves were apart and are joined");
}

/*
 * All nodes probe the paths that were cut, and each has hundreds of pings to send. The cut begins
 * and ends at a check of the rate limits, so that one period between two checks has as many pings
 * as possible. Some node must reach its limit, or it was no storm.
 */
static void storm(struct crowd *cr)
{
	struct sim_crowd *c = cr->c;
	u64 since_ns = (cr->w.now_ns - SIM_START_NS) % (WATCH_MS * SIM_MS);

	static_assert(CUT_MS % WATCH_MS == 0);
	sim_run(&cr->w, cr->w.now_ns + WATCH_MS * SIM_MS - since_ns);
	cr->w.fault[0] = (struct sim_fault){ .node = -1, .below = c->nodes / 2 };
	cut(cr, 1);
	lost_rails(cr, false);
	sim_run(&cr->w, cr->w.now_ns + (WATCH_MS + 1) * SIM_MS);
	c->pushes = sum_of(cr, LNET_C_pushes_sent);
	c->probes = sum_of(cr, LNET_C_recovery_pings);
	if (c->probes_sec_max < c->recovery_rate)
		sim_fail(&cr->w, "no storm: no node sent more than %llu probes in a second",
			 (unsigned long long)c->probes_sec_max);
}

static void restart(struct crowd *cr)
{
	u32 n, step = 10;

	for (n = 0; n < cr->c->nodes; n += step) {
		sim_node_down(&cr->w, n);
		if (sim_node_up(&cr->w, n))
			sim_fail(&cr->w, "node %u does not come up", n);
		ready(cr, n);
	}
	/* so that each restarted node sends or receives requests */
	have_turns(cr);
	cr->c->restarted_ms = converge(cr, false, HEALED_MS, "a tenth has started anew");
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void choose_partners(struct crowd *cr, u32 n)
{
	struct sim_crowd *c = cr->c;
	struct member *m = &cr->m[n];
	u32 k, i, to;

	m->partner = calloc(c->partners, sizeof(*m->partner));
	if (!m->partner)
		abort();
	for (k = 0; k < c->partners; k++) {
		do {
			to = sim_below(&cr->rng, c->nodes);
			for (i = 0; i < k && m->partner[i] != to; i++)
				;
		} while (to == n || i < k);
		m->partner[k] = to;
	}
}

static void on_up(struct sim_world *w, struct lnet *ln)
{
	struct crowd *cr = container_of(w, struct crowd, w);

	ln->tun.recovery_rate = cr->c->recovery_rate;
	ln->tun.push_rate = cr->c->push_rate;
}

static u32 default_of(const char *tunable)
{
	return lnet_tunable_find(tunable)->def;
}

static void begin(struct crowd *cr, u64 seed)
{
	struct sim_crowd *c = cr->c;
	u32 n;

	c->recovery_rate = c->recovery_rate ? c->recovery_rate : default_of("recovery_rate");
	c->push_rate = c->push_rate ? c->push_rate : default_of("push_rate");
	cr->m = calloc(c->nodes, sizeof(*cr->m));
	if (!cr->m || sim_world_init(&cr->w, seed, c->nodes))
		abort();
	cr->rng.state = lnet_hash64(seed ^ 0x63726f77ULL);
	cr->w.nr_rails = RAILS;
	cr->talking = true;
	cr->w.on_up = on_up;
	c->pairs = (u64)c->nodes * c->partners;
	for (n = 0; n < c->nodes && !cr->w.failed; n++) {
		if (sim_node_up(&cr->w, n))
			sim_fail(&cr->w, "node %u does not come up", n);
		else
			ready(cr, n);
		choose_partners(cr, n);
	}
	sim_at(&cr->w, cr->w.now_ns + WATCH_MS * SIM_MS, watch, cr, 0);
}

static void end(struct crowd *cr, struct sim_result *result)
{
	u32 n;

	for (n = 0; n < cr->c->nodes; n++) {
		sim_node_down(&cr->w, n);
		free(cr->m[n].partner);
	}
	result->failed = cr->w.failed;
	memcpy(result->why, cr->w.why, sizeof(result->why));
	result->hash = cr->w.hash;
	result->count = cr->w.count;
	sim_world_fini(&cr->w);
	free(cr->m);
}

void sim_crowd_run(struct sim_crowd *c, u64 seed, struct sim_result *result)
{
	static void (*const phases[])(struct crowd *cr) = { meet, change, part, split, restart };
	static void (*const stormy[])(struct crowd *cr) = { meet, storm };
	unsigned int i, nr = c->storm ? ARRAY_SIZE(stormy) : ARRAY_SIZE(phases);
	struct crowd *cr = calloc(1, sizeof(*cr));

	if (!cr)
		abort();
	cr->c = c;
	begin(cr, seed);
	for (i = 0; i < nr && !cr->w.failed; i++)
		(c->storm ? stormy : phases)[i](cr);
	cr->talking = false;
	end(cr, result);
	free(cr);
}
