/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands to the console of a self-test, as `lst' sends them, and the console's answers. */
#ifndef TESTS_SIM_CONSOLE_H
#define TESTS_SIM_CONSOLE_H

#include "tests/sim/ground.h"

struct sim_console {
	struct sim_member *m;		/* the node with the console */
	struct lst_command cmd;		/* its answer is valid until the next command */
	char request[65536];
	u32 len;
	bool done;
};

/* A command begins with its verb; arguments follow. */
void sim_verb(struct sim_console *c, const char *verb);
void sim_word(struct sim_console *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Sends the command and waits for the answer. Returns the duration in us. The world fails if the
 * answer reports an error, or does not arrive within two minutes.
 */
u64 sim_ask(struct sim_console *c);
/* Returns the sum of the numbers called @name in the whole answer. */
u64 sim_sum(const struct sim_console *c, const char *name);
void sim_console_free(struct sim_console *c);

/* The world fails if @got is not @want. */
void sim_equal(struct sim_world *w, const char *what, u64 got, u64 want);

#endif
