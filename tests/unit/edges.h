/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* After a run of all unit tests: which legal edges of the core's machines no test took. */
#ifndef TESTS_UNIT_EDGES_H
#define TESTS_UNIT_EDGES_H

/*
 * Number of edges that are neither taken nor listed with a reason, or listed but taken; each is
 * printed. 0 in a build that does not record them.
 */
unsigned int edges_check(void);

#endif
