/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* After a run of all unit tests: the legal edges of the core's state machines that no test took. */
#ifndef TESTS_UNIT_EDGES_H
#define TESTS_UNIT_EDGES_H

/*
 * Prints each edge that is neither taken nor listed with a reason, and each that is listed but
 * taken. Returns their number; 0 in a build that does not record edges.
 */
unsigned int edges_check(void);

#endif
