/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The world of the simulator: virtual time, one seed, one heap of events, and nodes whose
 * environment is the world.
 */
#ifndef TESTS_SIM_WORLD_H
#define TESTS_SIM_WORLD_H

#include "plat.h"
#include <lnet/env.h>
#include <lnet/hash.h>
#include <lnet/lnet.h>

/*
 * There is one thread, no clock, and no randomness except that of the seed. An event runs to
 * completion before the next one. Events at the same time run in the order of their creation.
 * Nothing may depend on an address.
 */

#define SIM_RAILS	4U
#define SIM_SHARDS	8U
#define SIM_START_NS	1000000000ULL	/* time is never 0, which means "not yet" in the core */
#define SIM_MS		1000000ULL
#define SIM_US		1000ULL

struct sim_world;
struct simlnd_ni;
struct simsock_ni;
struct sim_load;
struct sim_scenario;
struct lnet_hdr;

struct sim_rng {
	u64 state;
};

u64 sim_random(struct sim_rng *rng);
u64 sim_below(struct sim_rng *rng, u64 n);		/* 0..n-1; 0 if @n is 0 */
bool sim_chance(struct sim_rng *rng, u32 permille);

typedef void (*sim_event_fn)(struct sim_world *w, void *arg, u64 num);

struct sim_event {
	u64 when_ns, seq;
	sim_event_fn fn;
	void *arg;
	u64 num;
};

/* When the worker of a shard is due: at most one entry per shard. */
struct sim_wake {
	u64 when_ns, seq;
	u32 id;				/* node * SIM_SHARDS + shard */
};

struct sim_node {
	struct lnet_env env;			/* first */
	struct sim_world *w;
	struct lnet *ln;			/* NULL: down */
	/* life: the number of its lives; events of an earlier life have no effect */
	u32 ix, life;
	u8 kicked;				/* bit per shard: lnet_shard_work() is due */
	u8 dying;				/* lnet_destroy() runs */
	struct sim_rng rng, secret;		/* the core's random numbers: two streams */
	struct simsock_ni *sock[SIM_RAILS];	/* the TCP driver's; NULL: none */
	struct lnet_ni *lnet_ni[SIM_RAILS];	/* the core's, with either driver */
	u8 link_down;			/* bit per rail */
	struct simlnd_ni *ni[SIM_RAILS];	/* simlnd's; NULL: none */
	u64 up_ns;				/* when this life began */
};

enum sim_fault_kind {
	SIM_CUT,
	SIM_CUT_OUT,
	SIM_CUT_IN,
	SIM_LINK,
	SIM_LOSS,
	SIM_DUP,
	SIM_REORDER,
	SIM_DELAY,
	SIM_RESET,
	SIM_RESTART,
	SIM_REFUSE,
	SIM_BREAK,
	SIM_SHORT,
	SIM_UNLINK,
	/* rules that operators use in stock LNet; lnet_fault_ni_down() */
	SIM_RULE,
	SIM_RULE_DROP,
	SIM_RULE_DELAY,
	SIM_RULE_DOWN,
	/* ACKs and REPLYs of @node are lost, pings and their replies pass */
	SIM_MUTE,
	SIM_DRAIN,		/* lnet_ni_drain(), on and off */
	SIM_GONE,		/* lnet_ni_del(), and lnet_ni_add() */
	SIM_SPEED,		/* the link has @permille of its speed, and reports this */
	SIM_GRAMMAR,		/* a rule of lnet/fault/faults.def, which the scenario has */
	SIM_NR_FAULTS
};
extern const char *const sim_fault_names[SIM_NR_FAULTS];

struct sim_fault {
	u64 from_ns, to_ns;		/* relative to SIM_START_NS; acts in [from, to) */
	/* alternates: half on, half off; RESET, RESTART: repeats. 0: does not */
	u64 period_ns;
	u64 delay_ns;			/* DELAY, REORDER */
	/* LOSS, DUP, REORDER, REFUSE, BREAK, SHORT, UNLINK: per message; SPEED: of the speed */
	u32 permille;
	s32 rail, node, peer;		/* -1: all; @peer: only between the two nodes */
	/* between the nodes below this number and the others; 0: not */
	u32 below;
	u8 kind;
};

#define SIM_MAX_FAULTS 64U

struct sim_counts {			/* events of a run, for the report; summed over seeds */
	u64 messages;			/* given to links */
	u64 met;			/* of them affected by a fault */
	u64 fault[SIM_NR_FAULTS];	/* messages or events by kind */
	u64 events, steps;
	u64 requests, ok, failed, unknown, effects;
	u64 resends, hedges, hedge_wins, suspects, dup_taken, dup_final, dup_old, dup_reply,
		no_window, session_opens;
	u64 windows_dropped, recovery_pings, path_lost;
	u64 outcome[32];		/* failures by errno % 32 */
	u64 stall_max_ns;
	u64 others;		/* requests between other nodes than the slow one, done in time */
};

struct sim_world {
	u64 now_ns, seq, seed;
	struct sim_event *heap;
	u64 nr_heap, cap_heap;
	struct sim_wake *wakes;			/* heap of wake-ups */
	u32 *wake_at;			/* per id: its place in the heap + 1; 0: none */
	u32 nr_wakes;
	struct sim_node *node;
	u32 nr_nodes, nr_rails, nr_shards;
	u32 nr_routers;			/* the last nodes */
	u64 hash;			/* trace */
	u64 generations;		/* of connections */
	u64 same;			/* events at the current time */
	struct sim_rng rng;		/* links */
	struct sim_fault fault[SIM_MAX_FAULTS];
	u32 nr_faults;
	u64 latency_ns, jitter_ns, rate_mbit;
	u32 slow_node;
	u64 slow_mbit;			/* 0: no node is slow */
	const struct sim_scenario *scenario;
	struct list_head streams;	/* of the TCP driver */
	const struct lnet_lnd_ops *lnd;
	bool may_double;		/* links may repeat requests */
	u32 peer_credits;		/* 0: the driver's */
	u32 inline_max;			/* payloads up to this size are copied when sent */
	u64 faults_end_ns;		/* end of all faults */
	struct sim_counts count;
	u32 verbose;			/* 2: every message */
	bool failed;			/* an invariant is violated; the run ends */
	char why[512];
	struct sim_load *load;
	/* simlnd calls it for each message sent */
	void (*on_send)(struct sim_world *w, struct sim_node *node, const struct lnet_hdr *hdr,
			bool marked);
	/* an instance was created, and has no NIs yet */
	void (*on_up)(struct sim_world *w, struct lnet *ln);
	void (*on_dying)(struct sim_world *w, struct lnet *ln);	/* a node is about to stop */
	void (*on_restart)(struct sim_world *w, u32 node);	/* a node has restarted */
	void (*on_down)(struct sim_world *w, u32 node);		/* a life has ended */
};

/* All nodes are down at first. 0 or -ENOMEM */
int sim_world_init(struct sim_world *w, u64 seed, u32 nr_nodes);
void sim_world_fini(struct sim_world *w);				/* all nodes must be down */
void sim_at(struct sim_world *w, u64 when_ns, sim_event_fn fn, void *arg, u64 num);
/* Runs until @until_ns (true), or until no event is left (false) or the world failed (false). */
bool sim_run(struct sim_world *w, u64 until_ns);
void sim_fail(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints if verbose. */
void sim_say(struct sim_world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline void sim_trace(struct sim_world *w, u64 a, u64 b)
{
	w->hash = lnet_hash64(w->hash ^ a) + lnet_hash64(b ^ 0x9e3779b97f4a7c15ULL);
}

/* Adds an interface to a node that is up. 0 or -errno */
int sim_ni_add(struct sim_world *w, u32 node, u32 rail);
/* Creates an instance with the driver and an NI per rail. 0 or -errno */
int sim_node_up(struct sim_world *w, u32 ix);
void sim_node_down(struct sim_world *w, u32 ix);
struct sim_node *sim_node_of(const struct lnet *ln);
void sim_nid(struct lnet_nid *nid, u32 node, u32 rail);
/*
 * Has the node an interface on the rail? With routers each end node has one, on the rails in turn.
 */
bool sim_is_on(const struct sim_world *w, u32 node, u32 rail);
static inline u32 sim_nr_ends(const struct sim_world *w)
{
	return w->nr_nodes - w->nr_routers;
}

bool sim_nid_where(const struct lnet_nid *nid, u32 *node, u32 *rail);

#endif
