/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands to the console of a self-test, as `lst' sends them, and what it answers. */
#ifndef TESTS_SIM_CONSOLE_H
#define TESTS_SIM_CONSOLE_H

#include "tests/sim/ground.h"

struct sim_console {
	struct sim_member *m;		/* whose */
	struct lst_command cmd;		/* its answer stays until the next one */
	char request[65536];
	u32 len;
	bool done;
};

/* A command begins with its verb; then its words. */
void sim_verb(struct sim_console *c, const char *verb);
void sim_word(struct sim_console *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Until it is answered; the world fails with what says no, or nothing within two minutes. How long
 * it took, in us.
 */
u64 sim_ask(struct sim_console *c);
/* Sum of a number over all places of the answer that have it. */
u64 sim_sum(const struct sim_console *c, const char *name);
void sim_console_free(struct sim_console *c);

/* The world fails if @got is not @want. */
void sim_equal(struct sim_world *w, const char *what, u64 got, u64 want);

#endif
