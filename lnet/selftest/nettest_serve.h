/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* NETTEST in a session: what the console tells its nodes, and what it reads of node 0. */
#ifndef LNET_SELFTEST_NETTEST_SERVE_H
#define LNET_SELFTEST_NETTEST_SERVE_H

#include "nettest.h"
#include "plan.h"
#include "service.h"

#define LST_NETTEST_MEMORY	(1ULL << 30)	/* bytes of messages at one node */
#define LST_NETTEST_ROWS	(64ULL << 20)	/* bytes of what was measured */
#define LST_NETTEST_MATRIX	256U		/* nodes, if times from each to each are wanted */

/*
 * All nodes are told what to do and get memory (BEGIN), then, when all have it, go (START). Node 0
 * is asked for rows (READ). STOP, or the end of the session, ends it and frees the memory.
 */
enum lst_nettest_opc { LST_NETTEST_BEGIN = 1, LST_NETTEST_START, LST_NETTEST_READ,
		       LST_NETTEST_STOP };

struct lst_nettest_plan {
	struct nettest_plan plan;
	bool matrix;
	u32 nr;				/* nodes */
	u32 nr_runs;
	struct lst_run *run;		/* that they are */
};

/* Bytes; @buf NULL: only how many. */
u32 lst_nettest_encode(const struct lst_nettest_plan *p, u8 *buf);
/* 0; -EINVAL: cannot be; -EDOM: too few nodes; -E2BIG: for one of the bounds above. */
int lst_nettest_check(const struct nettest_plan *plan, u32 nr, bool matrix);
/*
 * Bytes of a row, little endian: nanoseconds of all iterations at the slowest node (8), iterations
 * (4), messages that were not as sent (4), bytes of noise that all sent and received (8, 8), and of
 * a matrix medians (8 each) from each to each.
 */
#define LST_NETTEST_ROW	32U	/* without a matrix */
u32 lst_nettest_row(u32 nr, bool matrix);

#endif
