/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Virtual time: a heap of events, the seed's random numbers, and the environment of each node. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/sim/world.h"
#include "lnd/simlnd/simlnd.h"
#include "lnd/socklnd/sim.h"
#include "lnet/router/router.h"

#define SAME_MAX 2000000ULL	/* events without progress of time: an endless loop */

const char *const sim_fault_names[SIM_NR_FAULTS] = {
	[SIM_CUT] = "cut",	   [SIM_CUT_OUT] = "cut-out", [SIM_CUT_IN] = "cut-in",
	[SIM_LINK] = "link-down",  [SIM_LOSS] = "loss",	      [SIM_DUP] = "dup",
	[SIM_REORDER] = "reorder", [SIM_DELAY] = "delay",     [SIM_RESET] = "reset",
	[SIM_RESTART] = "restart", [SIM_REFUSE] = "refuse",   [SIM_BREAK] = "break",
	[SIM_SHORT] = "short",	   [SIM_UNLINK] = "unlink",   [SIM_RULE] = "rule",
	[SIM_RULE_DROP] = "rule-drop", [SIM_RULE_DELAY] = "rule-delay",
	[SIM_RULE_DOWN] = "rule-down", [SIM_MUTE] = "mute",
	[SIM_DRAIN] = "drain",	   [SIM_GONE] = "gone",	      [SIM_SPEED] = "speed",
	[SIM_GRAMMAR] = "of-grammar",
};

/* ---- random numbers: splitmix64 -------------------------------------------------------------- */

u64 sim_random(struct sim_rng *rng)
{
	u64 z = (rng->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

u64 sim_below(struct sim_rng *rng, u64 n)
{
	return n ? sim_random(rng) % n : 0;
}

bool sim_chance(struct sim_rng *rng, u32 permille)
{
	return permille && sim_below(rng, 1000) < permille;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool before(const struct sim_event *a, const struct sim_event *b)
{
	return a->when_ns < b->when_ns || (a->when_ns == b->when_ns && a->seq < b->seq);
}

static void heap_up(struct sim_world *w, u64 at)
{
	struct sim_event e = w->heap[at];

	while (at && before(&e, &w->heap[(at - 1) / 2])) {
		w->heap[at] = w->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	w->heap[at] = e;
}

static void heap_down(struct sim_world *w, u64 at)
{
	struct sim_event e = w->heap[at];
	u64 child;

	while ((child = 2 * at + 1) < w->nr_heap) {
		if (child + 1 < w->nr_heap && before(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!before(&w->heap[child], &e))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = e;
}

void sim_at(struct sim_world *w, u64 when_ns, sim_event_fn fn, void *arg, u64 num)
{
	if (w->nr_heap == w->cap_heap) {
		w->cap_heap = w->cap_heap ? w->cap_heap * 2 : 1024;
		w->heap = realloc(w->heap, w->cap_heap * sizeof(*w->heap));
		if (!w->heap)
			abort();
	}
	w->heap[w->nr_heap] = (struct sim_event){ .when_ns = max(when_ns, w->now_ns),
						  .seq = w->seq++,
						  .fn = fn,
						  .arg = arg,
						  .num = num };
	heap_up(w, w->nr_heap++);
}

/* ---- wake-ups of workers --------------------------------------------------------------------- */

/*
 * A second heap, in which entries can move. Most wake-up times are never reached, because the next
 * message sets an earlier one. As events they would stay for seconds, in millions.
 */

static bool wake_before(const struct sim_wake *a, const struct sim_wake *b)
{
	return a->when_ns < b->when_ns || (a->when_ns == b->when_ns && a->seq < b->seq);
}

static void wake_place(struct sim_world *w, u32 at, const struct sim_wake *wake)
{
	w->wakes[at] = *wake;
	w->wake_at[wake->id] = at + 1;
}

static void wake_up(struct sim_world *w, u32 at, const struct sim_wake *wake)
{
	while (at && wake_before(wake, &w->wakes[(at - 1) / 2])) {
		wake_place(w, at, &w->wakes[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	wake_place(w, at, wake);
}

static void wake_del(struct sim_world *w, u32 at)
{
	struct sim_wake last = w->wakes[--w->nr_wakes];
	u32 child;

	w->wake_at[w->wakes[at].id] = 0;
	if (at == w->nr_wakes)
		return;
	while ((child = 2 * at + 1) < w->nr_wakes) {
		if (child + 1 < w->nr_wakes &&
		    wake_before(&w->wakes[child + 1], &w->wakes[child]))
			child++;
		if (!wake_before(&w->wakes[child], &last))
			break;
		wake_place(w, at, &w->wakes[child]);
		at = child;
	}
	wake_up(w, at, &last);
}

/* Wakes the shard's worker at @when_ns, or earlier if an earlier time is set. */
static void arm_at(struct sim_node *node, unsigned int shard, u64 when_ns)
{
	struct sim_world *w = node->w;
	u32 id = node->ix * SIM_SHARDS + shard, at = w->wake_at[id];
	struct sim_wake wake = { .when_ns = max(when_ns, w->now_ns), .seq = w->seq, .id = id };

	if (at && wake.when_ns >= w->wakes[at - 1].when_ns)
		return;
	w->seq++;
	wake_up(w, at ? at - 1 : w->nr_wakes++, &wake);
}

static void disarm(struct sim_node *node)
{
	u32 *at = &node->w->wake_at[node->ix * SIM_SHARDS], shard;

	for (shard = 0; shard < SIM_SHARDS; shard++)
		if (at[shard])
			wake_del(node->w, at[shard] - 1);
}

static void work(struct sim_node *node, unsigned int shard)
{
	u64 next_ns;

	node->w->count.steps++;
	next_ns = lnet_shard_work(node->ln, shard);
	if (next_ns != U64_MAX)
		arm_at(node, shard, next_ns);
}

/* ---- time passes ----------------------------------------------------------------------------- */

static bool is_wake_next(const struct sim_world *w)
{
	const struct sim_event *e = w->heap;
	const struct sim_wake *k = w->wakes;

	if (!w->nr_wakes || !w->nr_heap)
		return w->nr_wakes;
	return k->when_ns < e->when_ns || (k->when_ns == e->when_ns && k->seq < e->seq);
}

static u64 next_ns(const struct sim_world *w)
{
	u64 event_ns = w->nr_heap ? w->heap[0].when_ns : U64_MAX;

	return w->nr_wakes ? min(event_ns, w->wakes[0].when_ns) : event_ns;
}

static void time_passes(struct sim_world *w, u64 when_ns)
{
	w->same = when_ns == w->now_ns ? w->same + 1 : 0;
	w->now_ns = when_ns;
	if (w->same > SAME_MAX)
		sim_fail(w, "time stands still");
	w->count.events++;
}

static void step_wake(struct sim_world *w)
{
	struct sim_wake k = w->wakes[0];

	wake_del(w, 0);
	time_passes(w, k.when_ns);
	work(&w->node[k.id / SIM_SHARDS], k.id % SIM_SHARDS);
}

static void step(struct sim_world *w)
{
	struct sim_event e = w->heap[0];

	if (is_wake_next(w)) {
		step_wake(w);
		return;
	}
	w->heap[0] = w->heap[--w->nr_heap];
	if (w->nr_heap)
		heap_down(w, 0);
	time_passes(w, e.when_ns);
	e.fn(w, e.arg, e.num);
}

bool sim_run(struct sim_world *w, u64 until_ns)
{
	u64 when_ns;

	while (!w->failed && (when_ns = next_ns(w)) != U64_MAX && when_ns <= until_ns)
		step(w);
	if (w->failed || next_ns(w) == U64_MAX)
		return false;
	w->now_ns = max(w->now_ns, until_ns);
	return true;
}

void sim_fail(struct sim_world *w, const char *fmt, ...)
{
	va_list args;
	int nr;

	if (w->failed)
		return;
	w->failed = true;
	nr = snprintf(w->why, sizeof(w->why),
		      "at %llu us: ", (unsigned long long)((w->now_ns - SIM_START_NS) / 1000));
	va_start(args, fmt);
	vsnprintf(w->why + nr, sizeof(w->why) - nr, fmt, args);
	va_end(args);
}

void sim_say(struct sim_world *w, const char *fmt, ...)
{
	va_list args;

	if (!w->verbose)
		return;
	printf("%10llu us  ", (unsigned long long)((w->now_ns - SIM_START_NS) / 1000));
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* ---- the environment of a node --------------------------------------------------------------- */

static struct sim_node *node_of_env(struct lnet_env *env)
{
	return (struct sim_node *)env;
}

struct sim_node *sim_node_of(const struct lnet *ln)
{
	return node_of_env(lnet_env_of(ln));
}

static u64 env_now(struct lnet_env *env)
{
	return node_of_env(env)->w->now_ns;
}

static u64 env_random(struct lnet_env *env)
{
	return sim_random(&node_of_env(env)->rng);
}

static u64 env_secret(struct lnet_env *env)
{
	return sim_random(&node_of_env(env)->secret);
}

/* num: life << 8 | shard. */
static bool is_due(const struct sim_node *node, u64 num)
{
	return node->ln && !node->dying && node->life == num >> 8;
}

static void kick_event(struct sim_world *w, void *arg, u64 num)
{
	struct sim_node *node = arg;

	(void)w;
	if (!is_due(node, num))
		return;
	node->kicked &= ~(1U << (num & 0xff));
	work(node, num & 0xff);
}

static void env_kick(struct lnet_env *env, unsigned int shard)
{
	struct sim_node *node = node_of_env(env);

	if (node->kicked & 1U << shard)
		return;
	node->kicked |= 1U << shard;
	sim_at(node->w, node->w->now_ns, kick_event, node, (u64)node->life << 8 | shard);
}

/*
 * While the instance is being created, node->ln is not set. Then the worker runs at once, and
 * returns its next time.
 */
static void env_arm(struct lnet_env *env, unsigned int shard)
{
	struct sim_node *node = node_of_env(env);

	if (node->ln)
		arm_at(node, shard, lnet_shard_next_ns(node->ln, shard));
	else
		env_kick(env, shard);
}

static const struct lnet_env_ops env_ops = {
	.now_ns = env_now, .random = env_random, .secret = env_secret,
	.kick = env_kick, .arm = env_arm,
};

/* ---- nodes ----------------------------------------------------------------------------------- */

void sim_nid(struct lnet_nid *nid, u32 node, u32 rail)
{
	/* 10.x.y.z@tcp<rail>: z begins with 1 */
	u64 net = lnet_net_make(LNET_LND_TCP, rail);

	lnet_nid_from_nid4(nid, net << 32 | 0x0a000000U | (node + 1));
}

bool sim_nid_where(const struct lnet_nid *nid, u32 *node, u32 *rail)
{
	u64 nid4 = lnet_nid_to_nid4(nid);

	if (lnet_net_type(nid4 >> 32) != LNET_LND_TCP)
		return false;
	*rail = lnet_net_num(nid4 >> 32);
	*node = (u32)(nid4 & 0xffffff) - 1;
	return true;
}

bool sim_is_on(const struct sim_world *w, u32 node, u32 rail)
{
	return !w->nr_routers || node >= sim_nr_ends(w) || node % w->nr_rails == rail;
}

/* Adds a route to each of the other rails by each router. */
static int routes_up(struct sim_world *w, u32 ix)
{
	struct lnet_route_cfg cfg = { .hops = 1 };
	u32 rail, router;
	int err = 0;

	for (rail = 0; rail < w->nr_rails; rail++)
		for (router = sim_nr_ends(w); router < w->nr_nodes && !err; router++) {
			if (sim_is_on(w, ix, rail))
				continue;
			cfg.net = lnet_net_make(LNET_LND_TCP, rail);
			sim_nid(&cfg.gateway, router, ix % w->nr_rails);
			err = lnet_route_add(w->node[ix].ln, &cfg);
		}
	return err;
}

static int routing_up(struct sim_world *w, u32 ix)
{
	if (!w->nr_routers)
		return 0;
	if (ix < sim_nr_ends(w))
		return routes_up(w, ix);
	return lnet_router_enable(w->node[ix].ln, true);
}

int sim_ni_add(struct sim_world *w, u32 ix, u32 rail)
{
	struct lnet_ni_cfg ni;

	lnet_ni_cfg_init(&ni);
	if (w->peer_credits)
		ni.peer_credits = w->peer_credits;
	sim_nid(&ni.nid, ix, rail);
	return lnet_ni_add(w->node[ix].ln, &ni);
}

int sim_node_up(struct sim_world *w, u32 ix)
{
	struct sim_node *node = &w->node[ix];
	struct lnet_cfg cfg = { .env = &node->env, .nr_shards = w->nr_shards };
	unsigned int rail;
	int err;

	node->kicked = 0;
	node->link_down = 0;
	node->up_ns = w->now_ns;
	err = lnet_create(&node->ln, &cfg);
	if (!err)
		err = lnet_lnd_register(node->ln, w->lnd);
	if (!err && w->on_up)
		w->on_up(w, node->ln);
	for (rail = 0; !err && rail < w->nr_rails; rail++)
		if (sim_is_on(w, ix, rail))
			err = sim_ni_add(w, ix, rail);
	if (!err)
		err = routing_up(w, ix);
	sim_trace(w, ix, node->life);
	return err;
}

void sim_node_down(struct sim_world *w, u32 ix)
{
	struct sim_node *node = &w->node[ix];

	if (!node->ln)
		return;
	sim_trace(w, ix, 0x646f776eU);
	if (w->on_dying)
		w->on_dying(w, node->ln);
	node->dying = 1;
	lnet_destroy(node->ln);
	node->ln = NULL;
	node->dying = 0;
	node->kicked = 0;
	disarm(node);
	node->life++;
	if (w->on_down)
		w->on_down(w, ix);
}

int sim_world_init(struct sim_world *w, u64 seed, u32 nr_nodes)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->now_ns = SIM_START_NS;
	w->rng.state = lnet_hash64(seed + 1);
	w->nr_nodes = nr_nodes;
	w->lnd = &simlnd_ops;
	INIT_LIST_HEAD(&w->streams);
	w->nr_rails = 2;
	w->nr_shards = 1;
	w->latency_ns = 50 * SIM_US;
	w->jitter_ns = 5 * SIM_US;
	w->rate_mbit = 10000;
	w->inline_max = 4096;
	w->node = calloc(nr_nodes, sizeof(*w->node));
	w->wakes = calloc((size_t)nr_nodes * SIM_SHARDS, sizeof(*w->wakes));
	w->wake_at = calloc((size_t)nr_nodes * SIM_SHARDS, sizeof(*w->wake_at));
	if (!w->node || !w->wakes || !w->wake_at) {
		sim_world_fini(w);
		return -ENOMEM;
	}
	for (i = 0; i < nr_nodes; i++) {
		w->node[i].env.ops = &env_ops;
		w->node[i].w = w;
		w->node[i].ix = i;
		w->node[i].life = 1;
		w->node[i].rng.state = lnet_hash64(seed ^ lnet_hash64(i + 1000));
		w->node[i].secret.state = lnet_hash64(~seed ^ lnet_hash64(i + 1000));
	}
	return 0;
}

void sim_world_fini(struct sim_world *w)
{
	while (w->nr_heap) {	/* events own the messages that they deliver */
		struct sim_event *e = &w->heap[--w->nr_heap];

		simlnd_event_drop(e->fn, e->arg);
		simsock_event_drop(e->fn, e->arg);
	}
	free(w->heap);
	free(w->wakes);
	free(w->wake_at);
	free(w->node);
	w->heap = NULL;
	w->wakes = NULL;
	w->wake_at = NULL;
	w->node = NULL;
}
