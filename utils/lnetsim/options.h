/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of lnetsim. */
#ifndef LNETSIM_OPTIONS_H
#define LNETSIM_OPTIONS_H

#include "plat.h"

struct options {
	u64 first, last; /* seeds */
	u64 nodes;	 /* 0: the default of the mode */
	u64 jobs, partners;
	/*
	 * --crowd: maximum pushes, and maximum recovery pings, that a node sends per second. 0: the
	 * defaults of the tunables push_rate and recovery_rate.
	 */
	u64 rate;
	u64 verbose;
	bool twice, hashes, sock, brief, selftest, tree, flat, core, faults, storm;
	u64 children, loops;
	const char *scenario, *record, *replay;
	u64 record_node, record_bytes;
};

#define OPTIONS_RUN (-1)
/*
 * Reads the command line. OPTIONS_RUN: @o is complete. Any other value is the exit status, after
 * help, the version or an error was printed. An error names the invalid word and the accepted
 * values.
 */
int options_read(struct options *o, int argc, char **argv);

#endif
