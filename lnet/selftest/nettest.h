/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * NETTEST: nodes that exchange messages in a topology, all at one time, and how long it takes.
 *
 *	nettest.def		topologies, patterns, states
 *	nettest_plan.c		who exchanges with whom, what is measured one after the other
 *	nettest.c		a node of a run: barrier, exchange, barrier, again and again
 *	nettest_io.c		its memory, requests and events
 *	nettest_noise.c		pairs that are not measured, and load the network meanwhile
 *	nettest_check.c		what messages hold
 *	nettest_record.c	what a node measured, as bytes
 *
 * One iteration is: barrier, t0, exchange, barrier, t1. A message is a PUT with ACK into memory
 * that waits for it: of each neighbour one piece of memory to send from and one to receive into.
 * No message overwrites one that is still wanted: it is sent when its sender has left the barrier
 * before the exchange, so when its target had entered that one, and the target enters it when what
 * came in the exchange before has been looked at. Barriers are of the kind where in round k node i
 * tells node i + 2^k. As nobody leaves a barrier that not all have entered, a node sees messages
 * of at most two of them, this one and the next.
 *
 * The engine uses nothing but the public API and never waits. Nodes are numbered 0 to nr - 1.
 */
#ifndef LNET_SELFTEST_NETTEST_H
#define LNET_SELFTEST_NETTEST_H

#include "plat.h"
#include <lnet/lnet.h>
#include "tally.h"

#define NETTEST_PORTAL		56U
#define NETTEST_NODES_MAX	1024U
#define NETTEST_LEN_MAX		(64U << 20)	/* bytes of a message, which may be several PUTs */
#define NETTEST_PARTS_MAX	(NETTEST_LEN_MAX / LNET_MTU)
#define NETTEST_ROUNDS_MAX	10U		/* of a barrier */
#define NETTEST_SIGNAL		8U		/* bytes of a message of a barrier */
#define NETTEST_MEASURES_MAX	65536U
#define NETTEST_NOISE_DEPTH	32U		/* messages of noise under way each way, at most */
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

/* What a message is checked for: nothing, its first and last eight bytes, all of it. */
enum nettest_check { NETTEST_CHECK_NONE, NETTEST_CHECK_ENDS, NETTEST_CHECK_FULL };

/* ---- nettest_plan.c -------------------------------------------------------------------------- */

/* Channels are pairs of nodes, of which each sends to the other one. @nr nodes, at least 2. */
u32 nettest_channels(enum nettest_topo topo, u32 nr);
u32 nettest_degree(enum nettest_topo topo, u32 nr, u32 rank);	/* channels of one node */
bool nettest_linked(enum nettest_topo topo, u32 nr, u32 a, u32 b);
/* One way: does @a send first to @b? */
bool nettest_speaks_first(enum nettest_topo topo, u32 nr, u32 a, u32 b);
u32 nettest_rounds(u32 nr);			/* of a barrier */
enum nettest_topo nettest_topo_of(enum nettest_pattern pattern);
bool nettest_two_way(enum nettest_pattern pattern);
const char *nettest_title(enum nettest_pattern pattern);

/* What is measured: lengths from least to most, in each repeat anew. Same at all nodes. */
struct nettest_plan {
	u32 least, most;		/* bytes */
	u32 step;			/* bytes that are added, if @factor is 0 */
	u32 factor;			/* that is multiplied by, or 0 */
	u32 repeats;
	u32 times;			/* iterations of each measure */
	u32 check;			/* enum nettest_check */
	u32 patterns;			/* a bit each; the barrier is always measured */
	/*
	 * Noise: the last 2 * @noise_pairs nodes are not measured, but send to each other messages
	 * of @noise bytes, each @noise_depth at one time, while others are. All 0: there is none.
	 */
	u32 noise, noise_pairs, noise_depth;
};

struct nettest_measure {
	u32 repeat;			/* from 0 */
	u32 pattern, len;
};

/* 0; -EINVAL: numbers that cannot be; -E2BIG: more than NETTEST_MEASURES_MAX. */
int nettest_plan_check(const struct nettest_plan *plan);
/* Of @nr nodes those that are measured, the first ones; less than 2: there are too few. */
u32 nettest_plan_measured(const struct nettest_plan *plan, u32 nr);
/* Does @rank make noise, and with whom? */
bool nettest_noise_other(const struct nettest_plan *plan, u32 nr, u32 rank, u32 *other);
u32 nettest_plan_lens(const struct nettest_plan *plan);	/* how many lengths */
/*
 * Measures one after the other: of each repeat the barrier alone, then by length all patterns.
 * False: @index is past the last one.
 */
bool nettest_plan_at(const struct nettest_plan *plan, u32 index, struct nettest_measure *m);
/* Where in a plan the measure of a pattern is, @len_ix counts lengths from 0. */
u32 nettest_plan_index(const struct nettest_plan *plan, u32 repeat, u32 len_ix, u32 pattern);
/* Behind the last one of a row of the table. */
u32 nettest_plan_row_end(const struct nettest_plan *plan, u32 repeat, u32 len_ix);
u32 nettest_plan_nr(const struct nettest_plan *plan);

/* ---- a node of a run ------------------------------------------------------------------------- */

struct nettest;

struct nettest_cfg {
	struct lnet *ln;		/* outlives it */
	u32 nr, rank;
	u32 run;			/* its number, at all nodes: other runs are apart */
	struct nettest_plan plan;
	bool gather;			/* node 0 gets the records of all */
	u64 stall_ns;			/* without anything happening, -ETIMEDOUT; 0: the above */
	void *user;
	/*
	 * All: no lock held, from handlers or from within the functions below; must not call
	 * them but nettest_record(). NULL: not asked for. Measure @index is over; the next one
	 * begins when it has returned.
	 */
	void (*measured)(struct nettest *nt, u32 index);
	void (*ended)(struct nettest *nt, int status);	/* once */
	void (*arm)(struct nettest *nt);	/* nettest_work() is to be called earlier */
	/* Once, last of all: it is stopped, and may be freed in there. */
	void (*gone)(struct nettest *nt);
};

/*
 * Memory waits from now on. May sleep. 0, -EINVAL, -ENOMEM; what is in *@ntp then, if not NULL, is
 * to be stopped and freed all the same.
 */
int nettest_create(struct nettest **ntp, const struct nettest_cfg *cfg);
/* Others may begin earlier, once this one was created. @nodes: all, by number; copied. */
void nettest_start(struct nettest *nt, const struct lnet_process *nodes);
/* What time demands; when to call it again. */
u64 nettest_work(struct nettest *nt);
/* Begin to end; unless it ended by itself, with @status. Twice does no harm. */
void nettest_stop(struct nettest *nt, int status);
bool nettest_stopped(struct nettest *nt);	/* all memory is back */
void nettest_free(struct nettest *nt);	/* once stopped; NULL is fine */
void *nettest_user(const struct nettest *nt);

/* What was asked of LNet so far, of this node: bytes of messages, barriers and records, noise. */
struct nettest_sums {
	u64 payload, control, barriers, errors, noise;
};
void nettest_sums(struct nettest *nt, struct nettest_sums *sums);

/* ---- nettest_record.c ------------------------------------------------------------------------ */

/* Bytes of a record at most. */
static inline u32 nettest_record_size(u32 nr)
{
	return 8 + LST_TALLY_WIRE + 8 * nr;
}
/* In measured(): of this node, or at node 0, if it gathers, of any. Bytes in *@len. */
const u8 *nettest_record(const struct nettest *nt, u32 rank, u32 *len);
/*
 * Times of the iterations; of messages to each node the median of time until the ACK, 0: there
 * were none. @median may be NULL. What a node that is not measured says it sent and received is
 * its noise. 0, -EINVAL.
 */
int nettest_record_decode(const u8 *buf, u32 len, u32 nr, struct lst_tally *tally, u64 *median);

#endif
