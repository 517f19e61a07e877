/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Effects of a simulated link on a message: applies the simulated faults, by rail, node and
 * probability.
 */
#include "lnd/simlnd/simlnd.h"
#include "lnd/socklnd/sim.h"
#include "lnet/fault/fault.h"
#include "lnet/manage/manage.h"

bool simlnd_active(const struct sim_world *w, const struct sim_fault *f, u64 now_ns)
{
	u64 at = now_ns - SIM_START_NS;

	if (at < f->from_ns || at >= f->to_ns)
		return false;
	return !f->period_ns || f->kind == SIM_RESET || f->kind == SIM_RESTART ||
	       !((at - f->from_ns) / (f->period_ns / 2) & 1);
}

static bool on_rail(const struct sim_fault *f, u32 rail)
{
	return f->rail < 0 || (u32)f->rail == rail;
}

/*
 * Returns true if fault @f acts on messages @from one node @to another. The direction matters only
 * for one-way kinds.
 */
static bool sim_fault_concerns(const struct sim_fault *f, u32 from, u32 to)
{
	if (f->below)
		return (from < f->below) != (to < f->below);
	if (f->node < 0)
		return true;
	if (f->kind == SIM_CUT_OUT || f->kind == SIM_MUTE)
		return (u32)f->node == from && (f->peer < 0 || (u32)f->peer == to);
	if (f->kind == SIM_CUT_IN)
		return (u32)f->node == to && (f->peer < 0 || (u32)f->peer == from);
	if (f->peer < 0)
		return (u32)f->node == from || (u32)f->node == to;
	return ((u32)f->node == from && (u32)f->peer == to) ||
	       ((u32)f->node == to && (u32)f->peer == from);
}

static bool cuts(u8 kind)
{
	return kind == SIM_CUT || kind == SIM_CUT_OUT || kind == SIM_CUT_IN || kind == SIM_LINK;
}

/* Returns the first fault that acts on this link now, and whose kind @want accepts; NULL: none. */
static const struct sim_fault *acting(struct sim_world *w, bool (*want)(u8 kind), u32 rail,
				      u32 from, u32 to)
{
	u32 i;

	for (i = 0; i < w->nr_faults; i++) {
		const struct sim_fault *f = &w->fault[i];

		if (want(f->kind) && on_rail(f, rail) && sim_fault_concerns(f, from, to) &&
		    simlnd_active(w, f, w->now_ns))
			return f;
	}
	return NULL;
}

bool simlnd_cut(struct sim_world *w, u32 rail, u32 from, u32 to)
{
	return acting(w, cuts, rail, from, to) != NULL;
}

u64 simlnd_rate(struct sim_world *w, u32 rail, u32 from, u32 to)
{
	u64 mbit = w->rate_mbit;
	u32 i;

	for (i = 0; i < w->nr_faults; i++) {
		const struct sim_fault *f = &w->fault[i];

		if (f->kind == SIM_SPEED && on_rail(f, rail) && sim_fault_concerns(f, from, to) &&
		    simlnd_active(w, f, w->now_ns))
			mbit = min(mbit, w->rate_mbit * f->permille / 1000);
	}
	return max(mbit, 1ULL);
}

bool simlnd_roll(struct sim_world *w, u8 kind, u32 rail, u32 node, u32 peer)
{
	u32 i;

	for (i = 0; i < w->nr_faults; i++) {
		const struct sim_fault *f = &w->fault[i];

		if (f->kind != kind || !on_rail(f, rail) || !sim_fault_concerns(f, node, peer) ||
		    !simlnd_active(w, f, w->now_ns) || !sim_chance(&w->rng, f->permille))
			continue;
		w->count.fault[kind]++;
		return true;
	}
	return false;
}

u64 simlnd_latency(struct sim_world *w)
{
	return w->latency_ns + sim_below(&w->rng, w->jitter_ns + 1);
}

static void sim_fault_apply(struct sim_world *w, const struct sim_fault *f,
			    struct simlnd_fate *fate)
{
	if (cuts(f->kind))
		fate->lost = true;
	else if (f->kind == SIM_DELAY)
		fate->delay_ns += f->delay_ns;
	else if (!sim_chance(&w->rng, f->permille))
		return;
	else if (f->kind == SIM_LOSS)
		fate->lost = true;
	else if (f->kind == SIM_DUP)
		fate->dup = true;
	else if (f->kind == SIM_REORDER) {
		fate->delay_ns += sim_below(&w->rng, f->delay_ns + 1);
		fate->unordered = true;
	} else
		return;
	fate->met = true;
	w->count.fault[f->kind]++;
}

void simlnd_fate(struct sim_world *w, u32 rail, u32 from, u32 to, struct simlnd_fate *fate)
{
	u32 i;

	memset(fate, 0, sizeof(*fate));
	for (i = 0; i < w->nr_faults; i++) {
		const struct sim_fault *f = &w->fault[i];

		if (f->kind > SIM_DELAY || !on_rail(f, rail) || !sim_fault_concerns(f, from, to) ||
		    !simlnd_active(w, f, w->now_ns))
			continue;
		sim_fault_apply(w, f, fate);
	}
}

/* ---- faults that are events ------------------------------------------------------------------ */

static void speed_set(struct sim_world *w, const struct sim_fault *f, bool slow)
{
	u32 n, rail, permille = slow ? f->permille : 1000;

	for (n = 0; n < w->nr_nodes; n++) {
		for (rail = 0; rail < w->nr_rails; rail++) {
			struct sim_node *node = &w->node[n];
			struct lnet_link link = { .up = !(node->link_down >> rail & 1),
						  .speed_mbit = w->rate_mbit * permille / 1000 };

			if (!node->lnet_ni[rail] || !on_rail(f, rail) ||
			    (f->node >= 0 && (u32)f->node != n))
				continue;
			w->count.fault[SIM_SPEED] += slow;
			lnet_ni_link(node->lnet_ni[rail], &link);
		}
	}
}

static void link_set(struct sim_world *w, const struct sim_fault *f, bool up)
{
	struct lnet_link link = { .up = up };
	u32 n, rail;

	for (n = 0; n < w->nr_nodes; n++) {
		for (rail = 0; rail < w->nr_rails; rail++) {
			struct sim_node *node = &w->node[n];
			u8 bit = 1U << rail;

			if (!node->lnet_ni[rail] || !on_rail(f, rail) ||
			    (f->node >= 0 && (u32)f->node != n) || !(node->link_down & bit) == up)
				continue;
			node->link_down ^= bit;
			w->count.fault[SIM_LINK]++;
			lnet_ni_link(node->lnet_ni[rail], &link);
		}
	}
}

static void restart(struct sim_world *w, const struct sim_fault *f)
{
	u32 n = f->node < 0 ? sim_below(&w->rng, w->nr_nodes) : (u32)f->node;

	if (!w->node[n].ln)
		return;
	sim_say(w, "node %u restarts", n);
	w->count.fault[SIM_RESTART]++;
	sim_node_down(w, n);
	if (sim_node_up(w, n))
		sim_fail(w, "node %u does not come up again", n);
	else if (w->on_restart)
		w->on_restart(w, n);
}

/*
 * Drains or deletes an interface while its node runs, or ends the drain or adds the interface
 * again.
 */
static void ni_set(struct sim_world *w, const struct sim_fault *f, u32 n, u32 rail, bool on)
{
	struct lnet *ln = w->node[n].ln;
	struct lnet_nid nid;
	int err;

	sim_nid(&nid, n, rail);
	if (f->kind == SIM_DRAIN)
		err = lnet_ni_drain(ln, &nid, on);
	else if (on)
		err = lnet_ni_del(ln, &nid);
	else
		err = sim_ni_add(w, n, rail);
	w->count.fault[f->kind] += on;
	if (err && err != -EEXIST && err != -ENOENT)	/* a restarted node has all */
		sim_fail(w, "node %u: %s: %d", n, sim_fault_names[f->kind], err);
}

static void nis_set(struct sim_world *w, const struct sim_fault *f, bool on)
{
	u32 n, rail;

	for (n = 0; n < w->nr_nodes; n++)
		for (rail = 0; rail < w->nr_rails; rail++)
			if (w->node[n].ln && on_rail(f, rail) &&
			    (f->node < 0 || (u32)f->node == n))
				ni_set(w, f, n, rail, on);
}

static bool is_config(u8 kind)
{
	return kind == SIM_DRAIN || kind == SIM_GONE;
}

static bool is_rule(u8 kind)
{
	return kind >= SIM_RULE && kind <= SIM_RULE_DOWN;
}

static enum lnet_rule_kind rule_kind(const struct sim_fault *f)
{
	return f->kind == SIM_RULE_DELAY ? LNET_RULE_K_STOCK_DELAY : LNET_RULE_K_STOCK_DROP;
}

/*
 * Adds a fault rule at interface @rail of node @n, as an operator would. A node that restarts loses
 * its rules.
 */
static int sim_rule_add(struct sim_world *w, const struct sim_fault *f, u32 n, u32 rail)
{
	struct lnet *ln = w->node[n].ln;
	struct lnet_rule rule;

	if (f->kind == SIM_RULE_DOWN)
		return lnet_fault_ni_down(ln, &w->node[n].lnet_ni[rail]->nid, true);
	lnet_rule_init(&rule, rule_kind(f));
	rule.rate = 1000 / max(f->permille, 1U);
	if (f->kind == SIM_RULE_DELAY)
		rule.delay_ns = f->delay_ns;	/* delay rules have no local NID */
	else
		rule.local = w->node[n].lnet_ni[rail]->nid;
	if (f->kind == SIM_RULE) {
		rule.outcomes = LNET_RULE_OUTCOMES;
		rule.when = sim_below(&w->rng, 3);
	}
	return lnet_rule_add(ln, &rule);
}

static void sim_rule_del(struct sim_world *w, const struct sim_fault *f, u32 n, u32 rail)
{
	struct lnet_rule_which which = { .kind = rule_kind(f), .src = LNET_NID_ANY,
					 .dst = LNET_NID_ANY };
	struct lnet *ln = w->node[n].ln;

	if (f->kind == SIM_RULE_DOWN)
		lnet_fault_ni_down(ln, &w->node[n].lnet_ni[rail]->nid, false);
	else
		lnet_rule_del(ln, &which);
}

static void sim_rule_set(struct sim_world *w, const struct sim_fault *f, bool on)
{
	u32 n, rail;

	for (n = 0; n < w->nr_nodes; n++) {
		for (rail = 0; rail < w->nr_rails; rail++) {
			if (!w->node[n].ln || !w->node[n].lnet_ni[rail] || !on_rail(f, rail) ||
			    (f->node >= 0 && (u32)f->node != n))
				continue;
			w->count.fault[f->kind] += on;
			if (!on)
				sim_rule_del(w, f, n, rail);
			else if (sim_rule_add(w, f, n, rail))
				sim_fail(w, "node %u refuses a rule", n);
		}
	}
}

static bool comes_and_goes(u8 kind)
{
	return kind == SIM_LINK || kind == SIM_SPEED || is_rule(kind) || is_config(kind);
}

/* Schedules the fault again while it acts: flapping links, periodic resets and restarts. */
static void fault_event(struct sim_world *w, void *arg, u64 num)
{
	const struct sim_fault *f = arg;
	bool flaps = comes_and_goes(f->kind);
	u64 period_ns = flaps ? f->period_ns / 2 : f->period_ns;
	bool on = simlnd_active(w, f, w->now_ns);

	sim_say(w, "%s node %d rail %d %s", sim_fault_names[f->kind], f->node, f->rail,
		on ? "on" : "off");
	sim_trace(w, f->kind, num);
	if (f->kind == SIM_LINK)
		link_set(w, f, !on);
	else if (f->kind == SIM_SPEED)
		speed_set(w, f, on);
	else if (is_rule(f->kind))
		sim_rule_set(w, f, on);
	else if (is_config(f->kind))
		nis_set(w, f, on);
	else if (on && f->kind == SIM_RESET)
		simlnd_reset_node(w, f->node < 0 ? sim_below(&w->rng, w->nr_nodes) : (u32)f->node,
				  f->rail, f->peer);
	else if (on && f->kind == SIM_RESTART)
		restart(w, f);
	if (!w->failed && period_ns && w->now_ns + period_ns < SIM_START_NS + f->to_ns)
		sim_at(w, w->now_ns + period_ns, fault_event, arg, num + 1);
}

void simlnd_faults_start(struct sim_world *w)
{
	u32 i;

	for (i = 0; i < w->nr_faults; i++) {
		struct sim_fault *f = &w->fault[i];

		w->faults_end_ns = max(w->faults_end_ns, SIM_START_NS + f->to_ns);
		if (f->kind != SIM_RESET && f->kind != SIM_RESTART && !comes_and_goes(f->kind))
			continue;
		sim_at(w, SIM_START_NS + f->from_ns, fault_event, f, 0);
		if (comes_and_goes(f->kind))
			sim_at(w, SIM_START_NS + f->to_ns, fault_event, f, 1U << 20);
	}
}
