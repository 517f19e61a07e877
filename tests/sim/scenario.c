/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Draws a scenario from a seed and runs it: load, faults, healing, requests that must succeed,
 * rest, end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/sim/scenario.h"
#include "tests/sim/replay_file.h"
#include "lnd/simlnd/simlnd.h"
#include "lnd/socklnd/sim.h"
#include "lnet/shard/shard.h"
#include "lnet/recorder/recorder.h"

#define SAMPLE_NS (20 * SIM_MS)
#define REST_MAX_NS (120000 * SIM_MS)

/* ---- drawing --------------------------------------------------------------------------------- */

void sim_scenario_init(struct sim_scenario *s)
{
	memset(s, 0, sizeof(*s));
	snprintf(s->name, sizeof(s->name), "plain");
	s->nodes = 2;
	s->rails = 2;
	s->shards = 1;
	s->latency_ns = 50 * SIM_US;
	s->jitter_ns = 10 * SIM_US;
	s->rate_mbit = 10000;
	s->inline_max = 4096;
	s->duration_ns = 1000 * SIM_MS;
	s->heal_ns = 2000 * SIM_MS;
	s->gap_ns = 2 * SIM_MS;
	s->max_open = 400;
	s->max_len = 1048576;
	s->symmetric = true;
	s->timeout_ns = 5000 * SIM_MS;
	s->retry_count = 2;
	s->put_ack = 500;
	s->put = 200;
	s->get = 300;
}

static struct sim_fault *fault_add(struct sim_scenario *s, u8 kind)
{
	struct sim_fault *f = &s->fault[s->nr_faults++];

	*f = (struct sim_fault){
		.kind = kind, .rail = -1, .node = -1, .peer = -1, .to_ns = s->duration_ns,
	};
	return f;
}

/* Faults of every message: all rails delay, duplicate and reorder, and some rails also lose. */
static void draw_noise(struct sim_scenario *s, struct sim_rng *rng, s32 lossy)
{
	struct sim_fault *f = fault_add(s, SIM_DUP);

	f->permille = 80 + sim_below(rng, 120);
	f = fault_add(s, SIM_REORDER);
	f->permille = 220 + sim_below(rng, 200);
	f->delay_ns = SIM_MS + sim_below(rng, 8 * SIM_MS);
	f = fault_add(s, SIM_LOSS);
	f->rail = lossy;
	f->permille = 10 + sim_below(rng, 120);
	f = fault_add(s, SIM_REFUSE);
	f->rail = lossy;
	f->permille = sim_below(rng, 60);
	f = fault_add(s, SIM_BREAK);
	f->rail = lossy;
	f->permille = sim_below(rng, 100);
	f = fault_add(s, SIM_SHORT);
	f->permille = sim_below(rng, 300);
	f = fault_add(s, SIM_UNLINK);
	f->permille = sim_chance(rng, 300) ? sim_below(rng, 30) : 0;
}

static void draw_event(struct sim_scenario *s, struct sim_rng *rng, s32 lossy)
{
	static const u8 kinds[] = { SIM_CUT,   SIM_CUT_OUT, SIM_CUT_IN, SIM_LINK,
				    SIM_RESET, SIM_RESET,   SIM_DELAY };
	struct sim_fault *f = fault_add(s, kinds[sim_below(rng, ARRAY_SIZE(kinds))]);

	f->from_ns = sim_below(rng, s->duration_ns * 3 / 4);
	f->to_ns = f->from_ns + 20 * SIM_MS + sim_below(rng, s->duration_ns / 2);
	f->rail = lossy >= 0 ? lossy : (s32)sim_below(rng, s->rails);
	f->node = sim_chance(rng, 800) ? (s32)sim_below(rng, s->nodes) : -1;
	if (f->node >= 0 && f->kind != SIM_LINK && sim_chance(rng, 400))
		f->peer = (f->node + 1 + sim_below(rng, s->nodes - 1)) % s->nodes;
	if (f->kind == SIM_RESET)
		f->period_ns = 20 * SIM_MS + sim_below(rng, 300 * SIM_MS);
	else if (sim_chance(rng, 300))
		f->period_ns = 10 * SIM_MS + sim_below(rng, 400 * SIM_MS);
	f->delay_ns = sim_below(rng, 60 * SIM_MS);
}

static void draw_restart(struct sim_scenario *s, struct sim_rng *rng)
{
	struct sim_fault *f = fault_add(s, SIM_RESTART);

	f->node = sim_below(rng, s->nodes);
	f->from_ns = sim_below(rng, s->duration_ns);
	f->to_ns = f->from_ns + SIM_MS;
	if (sim_chance(rng, 300)) {
		f->period_ns = 100 * SIM_MS + sim_below(rng, 400 * SIM_MS);
		f->to_ns = f->from_ns + 2 * f->period_ns + SIM_MS;
	}
}

/* The size of a scenario: nodes, load and time. */
struct extent {
	const char *name;
	u32 nodes, requests;
	u64 duration_ns;
	bool crowds;			/* one seed in a hundred has many nodes */
};

static const struct extent whole = { "default", 7, 400, 1000 * SIM_MS, true };
static const struct extent brief = { "brief", 3, 80, 200 * SIM_MS, false };

static void draw(struct sim_scenario *s, u64 seed, const struct extent *e)
{
	struct sim_rng rng = { .state = lnet_hash64(seed ^ 0x7363656eULL) };
	u64 nr, target = e->requests + sim_below(&rng, e->requests * 3 / 2);
	s32 lossy;

	sim_scenario_init(s);
	snprintf(s->name, sizeof(s->name), "%s", e->name);
	s->nodes = e->crowds && seed % 100 == 37 ? 9 + sim_below(&rng, 192)
						 : 2 + sim_below(&rng, e->nodes);
	s->shards = sim_chance(&rng, 600) ? 1 : 2 + sim_below(&rng, 3);
	s->latency_ns = 10 * SIM_US + sim_below(&rng, 500 * SIM_US);
	s->jitter_ns = sim_below(&rng, s->latency_ns);
	s->rate_mbit = 1000 << sim_below(&rng, 5);
	s->inline_max = sim_chance(&rng, 700) ? 4096 : sim_chance(&rng, 500) ? 0 : 1048576;
	s->duration_ns = e->duration_ns + sim_below(&rng, e->duration_ns * 3 / 2);
	s->gap_ns = max(s->duration_ns * s->nodes / target, SIM_US);
	s->symmetric = sim_chance(&rng, 600);
	s->timeout_ns = sim_chance(&rng, 600) ? 5000 * SIM_MS
					      : 1000 * SIM_MS + sim_below(&rng, 2000 * SIM_MS);
	s->retry_count = 2 + sim_below(&rng, 4);
	s->hold_ns = sim_chance(&rng, 500) ? 0 : 500 * SIM_MS;
	s->windows_max = sim_chance(&rng, 800) ? 0 : 1 + sim_below(&rng, 4);
	s->window = sim_chance(&rng, 700) ? 0 : 2 + sim_below(&rng, 30);
	s->credits = sim_chance(&rng, 700) ? 0 : 1 + sim_below(&rng, 4);
	s->max_open = 50 + sim_below(&rng, 400);
	s->partners = sim_chance(&rng, 500) ? 0 : 1 + sim_below(&rng, 3);
	lossy = sim_chance(&rng, 500) ? (s32)sim_below(&rng, s->rails) : -1;
	draw_noise(s, &rng, lossy);
	for (nr = 1 + sim_below(&rng, 7); nr; nr--)
		draw_event(s, &rng, lossy);
	for (nr = sim_chance(&rng, 400) ? 1 + sim_below(&rng, 2) : 0; nr; nr--)
		draw_restart(s, &rng);
	s->expected_time = sim_chance(&rng, 250);
	s->discovery_wait = sim_chance(&rng, 250);
}

void sim_scenario_draw(struct sim_scenario *s, u64 seed)
{
	draw(s, seed, &whole);
}

void sim_scenario_draw_brief(struct sim_scenario *s, u64 seed)
{
	draw(s, seed, &brief);
}

/* ---- running --------------------------------------------------------------------------------- */

struct run {
	struct sim_world w;
	struct sim_load load;
	const struct sim_scenario *s;
	u64 copies_before;		/* retransmissions until calm_from */
};

static void tune(struct sim_world *w, struct lnet *ln, const char *name, u64 value)
{
	int err = lnet_tunable_set(ln, name, value);

	if (err)
		sim_fail(w, "tunable %s to %llu: %d", name, (unsigned long long)value, err);
}

static bool is_recorded(const struct sim_world *w, const struct lnet *ln)
{
	return w->scenario->record && sim_node_of(ln)->ix == w->scenario->record_node;
}

static void save_record(struct sim_world *w, struct lnet *ln)
{
	if (is_recorded(w, ln) && sim_record_save(ln, w->scenario->record))
		sim_fail(w, "%s cannot be written", w->scenario->record);
}

/* Times of a rule count from the start of the run, also in a node that restarts. */
static bool shift(struct lnet_rule *r, u64 ns)
{
	r->from_ns -= min(r->from_ns, ns);
	if (r->to_ns <= ns)
		return false;
	r->to_ns -= ns;
	return true;
}

static void rules_add(struct sim_world *w, struct lnet *ln)
{
	const struct sim_scenario *s = w->scenario;
	u32 i, ix = sim_node_of(ln)->ix;
	struct lnet_rule r;

	for (i = 0; i < s->nr_rules; i++) {
		r = s->rule[i].rule;
		if ((s->rule[i].node >= 0 && (u32)s->rule[i].node != ix) ||
		    !shift(&r, w->now_ns - SIM_START_NS))
			continue;
		if (s->rule[i].rail >= 0)
			sim_nid(&r.local, ix, s->rule[i].rail);
		if (lnet_rule_add(ln, &r))
			sim_fail(w, "node %u refuses a rule", ix);
	}
}

static void rules_count(struct sim_counts *c, struct lnet *ln)
{
	struct lnet_rule_info info = { .id = 0 };
	struct lnet_rule r;

	while (!lnet_rule_get(ln, info.id + 1, &r, &info))
		c->fault[SIM_GRAMMAR] += info.nr_hit;
}

static void tune_node(struct sim_world *w, struct lnet *ln)
{
	const struct sim_scenario *s = w->scenario;

	rules_add(w, ln);
	tune(w, ln, "transaction_timeout", s->timeout_ns);
	tune(w, ln, "retry_count", s->retry_count);
	if (s->hold_ns)
		tune(w, ln, "hold_time", s->hold_ns);
	if (s->windows_max)
		tune(w, ln, "windows_max", s->windows_max);
	if (s->window)
		tune(w, ln, "window", s->window);
	if (s->expected_time)
		tune(w, ln, "selection", 1);
	if (s->discovery_wait)
		tune(w, ln, "discovery_wait", 1);
	if (s->routers) {
		tune(w, ln, "alive_router_check_interval", 200 * SIM_MS);
		tune(w, ln, "router_ping_timeout", 200 * SIM_MS);
	}
	if (is_recorded(w, ln) && lnet_record_start(ln, s->record_bytes))
		sim_fail(w, "node %u does not record", s->record_node);
}

static void world_make(struct run *r, u64 seed, u32 verbose)
{
	const struct sim_scenario *s = r->s;
	struct sim_world *w = &r->w;
	u32 n;

	if (sim_world_init(w, seed, s->nodes) || sim_load_init(&r->load, w))
		abort();
	w->verbose = verbose;
	w->scenario = s;
	w->on_up = tune_node;
	w->on_dying = save_record;
	if (s->sock)
		w->lnd = &simsock_ops;
	w->nr_rails = s->rails;
	w->nr_shards = s->shards;
	w->nr_routers = s->routers;
	w->latency_ns = s->latency_ns;
	w->jitter_ns = s->jitter_ns;
	w->rate_mbit = s->rate_mbit;
	w->slow_node = s->slow_node;
	w->slow_mbit = s->slow_mbit;
	w->inline_max = s->inline_max;
	w->peer_credits = s->credits;
	w->may_double = !s->windows_max;
	r->load.gap_ns = s->gap_ns;
	r->load.until_ns = SIM_START_NS + s->duration_ns;
	r->load.timeout_ns = s->timeout_ns;
	r->load.nr_max_open = s->max_open;
	r->load.min_len = s->min_len;
	r->load.max_len = s->max_len;
	r->load.partners = s->partners;
	r->load.pair_open = s->pair_open;
	r->load.symmetric = s->symmetric;
	r->load.kind_permille[SIM_PUT_ACK] = s->put_ack;
	r->load.kind_permille[SIM_PUT] = s->put;
	r->load.kind_permille[SIM_GET] = s->get;
	memcpy(w->fault, s->fault, sizeof(w->fault));
	w->nr_faults = s->nr_faults;
	for (n = 0; n < w->nr_nodes && !w->failed; n++)
		if (sim_node_up(w, n))
			sim_fail(w, "node %u does not come up", n);
}

static bool go_on(struct run *r, u64 until_ns)
{
	struct sim_world *w = &r->w;
	u64 every_ns = SAMPLE_NS * (1 + w->nr_nodes / 16);

	while (!w->failed && w->now_ns < until_ns) {
		if (!sim_run(w, min(until_ns, w->now_ns + every_ns)) && !w->failed)
			w->now_ns = until_ns;	/* nothing is left */
		if (!w->failed)
			sim_check_now(w);
	}
	return !w->failed;
}

/* Runs until no request is unfinished. */
static bool finish(struct run *r)
{
	while (!list_empty(&r->load.open))
		if (!go_on(r, r->w.now_ns + SAMPLE_NS))
			return false;
	return true;
}

static void probe(struct run *r)
{
	struct sim_world *w = &r->w;
	u32 n, step = 1 + w->nr_nodes / 40, nr = sim_nr_ends(w);

	for (n = 0; n < nr && !w->failed; n += step) {
		u32 to = (n + 1) % nr, kind;

		for (kind = 0; kind < SIM_NR_REQ_KINDS; kind++) {
			struct sim_req *req = sim_request(&r->load, n, to, kind, 1000 * kind);

			if (req)
				req->probe = true;
		}
	}
}

/* Runs until nothing is in flight and held replies have expired. */
static bool rest(struct run *r)
{
	u64 hold_ns = max(r->s->hold_ns, 2 * r->s->timeout_ns);
	u64 end_ns;

	if (!go_on(r, r->w.now_ns + 10000 * SIM_MS + hold_ns * 2))
		return false;
	end_ns = r->w.now_ns + REST_MAX_NS;
	while (!sim_idle(&r->w) && r->w.now_ns < end_ns)
		if (!go_on(r, r->w.now_ns + SAMPLE_NS))
			return false;
	return true;
}

static void check_reqs(struct run *r)
{
	struct sim_req *req;

	list_for_each_entry(req, &r->load.ended, link)
		sim_check_req(&r->w, req);
}

static void count_node(struct sim_counts *c, const struct lnet *ln)
{
#define ADD(to, name) (c->to += lnet_stat_sum(ln, LNET_C_##name))
	ADD(resends, resend_count);
	ADD(hedges, hedges);
	ADD(hedge_wins, hedge_wins);
	ADD(suspects, suspects);
	ADD(dup_taken, dup_taken);
	ADD(dup_final, dup_final);
	ADD(dup_old, dup_old);
	ADD(dup_reply, dup_reply);
	ADD(no_window, no_window);
	ADD(session_opens, session_opens);
	ADD(windows_dropped, windows_dropped);
	ADD(recovery_pings, recovery_pings);
	ADD(path_lost, path_lost);
#undef ADD
}

/*
 * Without faults every retransmission is unnecessary. With SIM_DRAIN recovery pings are permitted:
 * an interface that is advertised as down costs health, which pings restore.
 */
static void check_calm(struct run *r)
{
	const struct sim_counts *c = &r->w.count;
	bool pings = c->recovery_pings && !c->fault[SIM_DRAIN];

	if (!r->w.failed && (c->resends || c->hedges || c->suspects || pings))
		sim_fail(&r->w, "%llu resends, %llu hedges, %llu suspects, %llu recovery pings",
			 (unsigned long long)c->resends, (unsigned long long)c->hedges,
			 (unsigned long long)c->suspects, (unsigned long long)c->recovery_pings);
}

struct unrest {
	u64 copies, suspects;
};

static struct unrest unrest_of(const struct sim_world *w)
{
	struct unrest u = { 0 };
	u32 n;

	for (n = 0; n < w->nr_nodes; n++) {
		const struct lnet *ln = w->node[n].ln;

		if (!ln)
			continue;
		u.copies += lnet_stat_sum(ln, LNET_C_resend_count);
		u.copies += lnet_stat_sum(ln, LNET_C_hedges);
		u.suspects += lnet_stat_sum(ln, LNET_C_suspects);
	}
	return u;
}

/* From calm_from until the first fault, or the end of the load. */
static bool stays_calm(struct run *r)
{
	u64 to_ns = r->s->nr_faults ? r->s->fault[0].from_ns : r->s->duration_ns;
	struct sim_world *w = &r->w;
	struct unrest before, after;

	if (!r->s->calm_from_ns)
		return true;
	if (!go_on(r, SIM_START_NS + r->s->calm_from_ns))
		return false;
	before = unrest_of(w);
	r->copies_before = before.copies;
	if (!go_on(r, SIM_START_NS + to_ns))
		return false;
	after = unrest_of(w);
	if (after.copies != before.copies || after.suspects != before.suspects)
		sim_fail(w, "%llu were sent twice and %llu paths suspected while all was well",
			 (unsigned long long)(after.copies - before.copies),
			 (unsigned long long)(after.suspects - before.suspects));
	return !w->failed;
}

static void check_copies(struct run *r)
{
	u64 copies = unrest_of(&r->w).copies - r->copies_before;

	if (!r->w.failed && r->s->copies_max && copies > r->s->copies_max)
		sim_fail(&r->w, "%llu were sent twice, at most %u were expected",
			 (unsigned long long)copies, r->s->copies_max);
}

static void show(const struct sim_scenario *s)
{
	u32 i;

	printf("scenario %s: nodes %u, rails %u, shards %u, T %llu ms, retries %u, hold %llu ms, "
	       "windows_max %u, window %u, "
	       "peer credits %u, inline %u, latency %llu us, %llu Mbit/s, %s%s%s\n",
	       s->name, s->nodes, s->rails, s->shards, (unsigned long long)(s->timeout_ns / SIM_MS),
	       s->retry_count, (unsigned long long)(s->hold_ns / SIM_MS), s->windows_max, s->window,
	       s->credits, s->inline_max, (unsigned long long)(s->latency_ns / SIM_US),
	       (unsigned long long)s->rate_mbit,
	       s->symmetric ? "both know each other" : "only senders know",
	       s->expected_time ? ", by expected time" : "",
	       s->discovery_wait ? ", after discovery" : "");
	for (i = 0; i < s->nr_faults; i++) {
		const struct sim_fault *f = &s->fault[i];

		printf("  %-9s rail %2d node %2d peer %2d from %6llu to %6llu ms period %4llu ms, "
		       "%3u permille, delay %llu us\n",
		       sim_fault_names[f->kind], f->rail, f->node, f->peer,
		       (unsigned long long)(f->from_ns / SIM_MS),
		       (unsigned long long)(f->to_ns / SIM_MS),
		       (unsigned long long)(f->period_ns / SIM_MS), f->permille,
		       (unsigned long long)(f->delay_ns / SIM_US));
	}
}

static void run(struct run *r)
{
	struct sim_world *w = &r->w;

	if (w->verbose)
		show(r->s);

	simlnd_faults_start(w);
	sim_load_start(&r->load);
	if (!stays_calm(r) || !go_on(r, SIM_START_NS + r->s->duration_ns) ||
	    !go_on(r, w->faults_end_ns) || !finish(r) ||
	    !go_on(r, max(w->now_ns, w->faults_end_ns + r->s->heal_ns)))
		return;
	probe(r);
	if (!w->failed && finish(r) && rest(r)) {
		sim_check_end(w);
		check_reqs(r);
		check_copies(r);
	}
}

static void run_once(const struct sim_scenario *s, u64 seed, u32 verbose,
		     struct sim_result *result)
{
	struct run *r = calloc(1, sizeof(*r));
	u32 n;

	if (!r)
		abort();
	r->s = s;
	world_make(r, seed, verbose);
	if (!r->w.failed)
		run(r);
	r->w.on_send = NULL;
	for (n = 0; n < r->w.nr_nodes; n++) {
		if (r->w.node[n].ln) {
			count_node(&r->w.count, r->w.node[n].ln);
			rules_count(&r->w.count, r->w.node[n].ln);
		}
		sim_node_down(&r->w, n);
	}
	if (s->calm)
		check_calm(r);
	result->failed = r->w.failed;
	memcpy(result->why, r->w.why, sizeof(result->why));
	result->hash = r->w.hash;
	result->count = r->w.count;
	sim_world_fini(&r->w);
	sim_load_fini(&r->load);
	free(r);
}

/* A slow node may reduce the requests of the others only by the given share. */
static void check_others(const struct sim_scenario *s, u64 seed, struct sim_result *result)
{
	struct sim_scenario even = *s;
	struct sim_result without;

	even.slow_mbit = even.rate_mbit;
	run_once(&even, seed, 0, &without);
	if (result->failed || result->count.others * 1000 >=
			      without.count.others * s->others_permille)
		return;
	result->failed = true;
	snprintf(result->why, sizeof(result->why), "%llu requests of others were done; %llu when "
		 "none is slow", (unsigned long long)result->count.others,
		 (unsigned long long)without.count.others);
}

void sim_scenario_run(const struct sim_scenario *s, u64 seed, u32 verbose,
		      struct sim_result *result)
{
	run_once(s, seed, verbose, result);
	if (s->others_permille)
		check_others(s, seed, result);
}
