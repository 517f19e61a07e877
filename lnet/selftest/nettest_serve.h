/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NETTEST in a session: requests of the console to its nodes, and results that node 0 stores. */
#ifndef LNET_SELFTEST_NETTEST_SERVE_H
#define LNET_SELFTEST_NETTEST_SERVE_H

#include "nettest.h"
#include "plan.h"
#include "service.h"

#define LST_NETTEST_MEMORY	(1ULL << 30)	/* maximum bytes of messages at one node */
#define LST_NETTEST_ROWS	(64ULL << 20)	/* bytes of results */
/* maximum nodes, if times of all pairs are requested */
#define LST_NETTEST_MATRIX	256U

/*
 * BEGIN sends the plan to all nodes, which allocate memory. When all nodes have replied, START
 * starts the run. READ reads rows of node 0. STOP, or the end of the session, ends the run and
 * frees its memory.
 */
enum lst_nettest_opc { LST_NETTEST_BEGIN = 1, LST_NETTEST_START, LST_NETTEST_READ,
		       LST_NETTEST_STOP };

struct lst_nettest_plan {
	struct nettest_plan plan;
	bool matrix;
	u32 nr;				/* nodes */
	u32 nr_runs;
	struct lst_run *run;		/* these nodes */
};

/* Encodes @p as bytes and returns their number. If @buf is NULL, only returns the number. */
u32 lst_nettest_encode(const struct lst_nettest_plan *p, u8 *buf);
/*
 * Returns 0, -EINVAL if the plan is impossible, -EDOM for too few nodes, or -E2BIG beyond a bound
 * above.
 */
int lst_nettest_check(const struct nettest_plan *plan, u32 nr, bool matrix);
/*
 * The bytes of a row, little endian; the length of each number is in parentheses:
 *	nanoseconds of all iterations at the slowest node (8), iterations (4), wrong messages (4);
 *	bytes of noise that all nodes sent and received (8, 8);
 *	with a matrix, the median time from each node to each node (8 each).
 */
#define LST_NETTEST_ROW	32U	/* without a matrix */
u32 lst_nettest_row(u32 nr, bool matrix);

#endif
