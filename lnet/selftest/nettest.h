/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETTEST: nodes exchange messages in a topology, all at one time, and measure the duration.
 *
 *	nettest.def		topologies, patterns, states
 *	nettest_plan.c		channels (pairs of neighbours) of a topology, sequence of measures
 *	nettest.c		a node of a run: barrier, exchange, barrier, repeated
 *	nettest_io.c		memory, requests and events of a node
 *	nettest_noise.c		pairs of nodes that load the network during measures
 *	nettest_check.c		contents of messages
 *	nettest_record.c	results of a node, as bytes
 *
 * One iteration is: barrier, t0, exchange, barrier, t1. A message is a PUT with ACK into prepared
 * memory. For each neighbour, a node has a buffer to send from and a buffer to receive into.
 *
 * No message overwrites a message that is still needed. A node enters a barrier after it has
 * checked the messages of the previous exchange. It sends the next messages after it has left this
 * barrier. No node leaves a barrier before all nodes have entered it. So each target has checked
 * its old messages before a node sends new ones.
 *
 * In round k of a barrier, node i signals node i + 2^k. Because all nodes must enter a barrier, no
 * node can be more than one barrier ahead of another. So a node receives signals of at most two
 * barriers, the current one and the next.
 *
 * The engine uses only the public API and never waits. Nodes are numbered 0 to nr - 1.
 */
#ifndef LNET_SELFTEST_NETTEST_H
#define LNET_SELFTEST_NETTEST_H

#include "plat.h"
#include <lnet/lnet.h>
#include "tally.h"

#define NETTEST_PORTAL		56U
#define NETTEST_NODES_MAX	1024U
#define NETTEST_LEN_MAX		(64U << 20)	/* bytes of a message: one or more PUTs */
#define NETTEST_PARTS_MAX	(NETTEST_LEN_MAX / LNET_MTU)
#define NETTEST_ROUNDS_MAX	10U		/* of a barrier */
#define NETTEST_SIGNAL		8U		/* bytes of a barrier message */
#define NETTEST_MEASURES_MAX	65536U
#define NETTEST_NOISE_DEPTH	32U		/* maximum messages of noise in flight each way */
#define NETTEST_STALL_NS	(60ULL * NSEC_PER_SEC)

#define TOPO(name)		NETTEST_##name,
#define PATTERN(...)
#define STATE(...)
enum nettest_topo {
#include "nettest.def"
};
#undef TOPO
#undef PATTERN
#define TOPO(...)
#define PATTERN(name, ...)	NETTEST_P_##name,
enum nettest_pattern {
#include "nettest.def"
	NETTEST_NR_PATTERNS
};
#define NETTEST_ALL		(BIT(NETTEST_NR_PATTERNS) - 2)
#define NETTEST_CHAOSES		(BIT(NETTEST_P_chaos) | BIT(NETTEST_P_chaos2))
#undef PATTERN
#undef STATE
#define PATTERN(...)
#define STATE(name, ...)	NETTEST_S_##name,
enum nettest_state {
#include "nettest.def"
};
#undef TOPO
#undef PATTERN
#undef STATE

/* The bytes of a message that are checked: none, the first and last eight, or all. */
enum nettest_check { NETTEST_CHECK_NONE, NETTEST_CHECK_ENDS, NETTEST_CHECK_FULL };

/* ---- nettest_plan.c -------------------------------------------------------------------------- */

/* A channel is a pair of nodes that send to each other. @nr: number of nodes, at least 2. */
u32 nettest_channels(enum nettest_topo topo, u32 nr);
u32 nettest_degree(enum nettest_topo topo, u32 nr, u32 rank);	/* channels of one node */
bool nettest_linked(enum nettest_topo topo, u32 nr, u32 a, u32 b);
/* One-way pattern: does @a send to @b before @b sends to @a? */
bool nettest_speaks_first(enum nettest_topo topo, u32 nr, u32 a, u32 b);
u32 nettest_rounds(u32 nr);			/* of a barrier */
enum nettest_topo nettest_topo_of(enum nettest_pattern pattern);
bool nettest_two_way(enum nettest_pattern pattern);
const char *nettest_title(enum nettest_pattern pattern);

/*
 * The plan of a run, equal at all nodes. A measure is one pattern with messages of one length. The
 * lengths increase from @least to @most. The sequence of all measures is executed @repeats times.
 */
struct nettest_plan {
	u32 least, most;		/* bytes */
	u32 step;			/* bytes to add to the length, if @factor is 0 */
	u32 factor;			/* multiplier of the length, or 0 */
	u32 repeats;
	u32 times;			/* iterations of each measure */
	u32 check;			/* enum nettest_check */
	/* set of enum nettest_pattern; the barrier is always measured */
	u32 patterns;
	/*
	 * Noise: the last 2 * @noise_pairs nodes are not measured. During measures each of them
	 * sends messages of @noise bytes to its partner, @noise_depth at one time. If all three are
	 * 0, there is no noise.
	 */
	u32 noise, noise_pairs, noise_depth;
};

struct nettest_measure {
	u32 repeat;			/* from 0 */
	u32 pattern, len;
};

/*
 * Returns 0, -EINVAL for impossible numbers, or -E2BIG for more than NETTEST_MEASURES_MAX measures.
 */
int nettest_plan_check(const struct nettest_plan *plan);
/*
 * Returns the number of measured nodes, which are the first of @nr nodes. Less than 2: too few
 * nodes.
 */
u32 nettest_plan_measured(const struct nettest_plan *plan, u32 nr);
/* Does node @rank make noise? If so, stores its partner in *@other. */
bool nettest_noise_other(const struct nettest_plan *plan, u32 nr, u32 rank, u32 *other);
u32 nettest_plan_lens(const struct nettest_plan *plan);	/* number of lengths */
/*
 * Finds measure @index. Each repeat measures the barrier alone, and then all patterns for each
 * length. False: @index is past the last measure.
 */
bool nettest_plan_at(const struct nettest_plan *plan, u32 index, struct nettest_measure *m);
/* Returns the index of the measure of a pattern. @len_ix counts lengths from 0. */
u32 nettest_plan_index(const struct nettest_plan *plan, u32 repeat, u32 len_ix, u32 pattern);
/*
 * Returns the index after the last measure of one repeat and one length. These measures are a row
 * of the table of results.
 */
u32 nettest_plan_row_end(const struct nettest_plan *plan, u32 repeat, u32 len_ix);
u32 nettest_plan_nr(const struct nettest_plan *plan);

/* ---- a node of a run ------------------------------------------------------------------------- */

struct nettest;

struct nettest_cfg {
	struct lnet *ln;		/* outlives it */
	u32 nr, rank;
	u32 run;			/* run number: equal at all nodes, different for each run */
	struct nettest_plan plan;
	bool gather;			/* node 0 receives the records of all */
	/* time without progress after which the run fails with -ETIMEDOUT; 0: NETTEST_STALL_NS */
	u64 stall_ns;
	void *user;
	/*
	 * The callbacks are called without the lock, by handlers or by the functions below. A
	 * callback may call only nettest_record(). A callback that is not needed is NULL.
	 * measured(): measure @index has ended; the next measure begins after the return.
	 */
	void (*measured)(struct nettest *nt, u32 index);
	void (*ended)(struct nettest *nt, int status);	/* once */
	void (*arm)(struct nettest *nt);	/* requests an earlier nettest_work() */
	/*
	 * Called once, as the last callback, when the run has stopped and LNet has released all
	 * memory. The callback may free the run.
	 */
	void (*gone)(struct nettest *nt);
};

/*
 * Allocates and posts memory of a run. May sleep. Returns 0, -EINVAL or -ENOMEM. If *@ntp is not
 * NULL, the caller stops and frees the run, also after an error.
 */
int nettest_create(struct nettest **ntp, const struct nettest_cfg *cfg);
/*
 * Starts the run at this node. Another node may start the run earlier, but not before
 * nettest_create() has returned at this node. @nodes contains all nodes, by number; the function
 * copies it.
 */
void nettest_start(struct nettest *nt, const struct lnet_process *nodes);
/* Does the work that is due. Returns the time at which the caller calls the function again. */
u64 nettest_work(struct nettest *nt);
/*
 * Begins to stop the run. Its status becomes @status unless the run has ended. A second call has no
 * effect.
 */
void nettest_stop(struct nettest *nt, int status);
bool nettest_stopped(struct nettest *nt);	/* LNet has released all memory */
void nettest_free(struct nettest *nt);	/* once stopped; NULL is fine */
void *nettest_user(const struct nettest *nt);

/*
 * Sums of this node so far: bytes of messages, bytes of barriers and records, and bytes of noise.
 */
struct nettest_sums {
	u64 payload, control, barriers, errors, noise;
};
void nettest_sums(struct nettest *nt, struct nettest_sums *sums);

/* ---- nettest_record.c ------------------------------------------------------------------------ */

/* Maximum bytes of a record. */
static inline u32 nettest_record_size(u32 nr)
{
	return 8 + LST_TALLY_WIRE + 8 * nr;
}
/*
 * Returns the record of node @rank, and its length in *@len. Call in measured(). Only node 0 has
 * records of other nodes, if it gathers them.
 */
const u8 *nettest_record(const struct nettest *nt, u32 rank, u32 *len);
/*
 * Reads a record: the times of the iterations, and for each node the median time until the ACK of
 * messages to the node (0: no messages). @median may be NULL. If the record is of a node that is
 * not measured, the bytes sent and received are noise. Returns 0 or -EINVAL.
 */
int nettest_record_decode(const u8 *buf, u32 len, u32 nr, struct lst_tally *tally, u64 *median);

#endif
