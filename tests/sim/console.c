/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds commands to the console of a self-test, sends them, and waits for the answers. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tests/sim/console.h"

#define COMMAND_MAX_NS	(120ULL * NSEC_PER_SEC)

void sim_word(struct sim_console *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	c->len += (u32)vsnprintf(c->request + c->len, sizeof(c->request) - c->len, fmt, args) + 1;
	va_end(args);
}

void sim_verb(struct sim_console *c, const char *verb)
{
	c->len = 0;
	sim_word(c, "%s", verb);
	sim_word(c, "key=1");
	sim_word(c, "wait=60");
}

static void on_done(struct lst_command *cmd)
{
	container_of(cmd, struct sim_console, cmd)->done = true;
}

u64 sim_ask(struct sim_console *c)
{
	struct sim_world *w = c->m->w;
	u64 begin_ns = w->now_ns, until = begin_ns + COMMAND_MAX_NS;

	kfree(c->cmd.answer);
	c->cmd = (struct lst_command){ .request = c->request, .len = c->len, .done = on_done };
	c->done = false;
	c->m->ground->command(c->m->st, &c->cmd);
	while (!c->done && w->now_ns < until && !w->failed)
		sim_run(w, w->now_ns + 10 * SIM_US);
	if (!c->done || c->cmd.status)
		sim_fail(w, "%s: %s %d", c->request, c->done ? "status" : "no end", c->cmd.status);
	else if (c->cmd.answer && strstr(c->cmd.answer, "errors:\n"))
		sim_fail(w, "%s: %s", c->request, c->cmd.answer);
	return (w->now_ns - begin_ns) / SIM_US;
}

u64 sim_sum(const struct sim_console *c, const char *name)
{
	const char *at = c->cmd.answer;
	size_t len = strlen(name);
	u64 sum = 0;

	while (at && (at = strstr(at, name))) {
		at += len;
		if (at[0] == ':')
			sum += strtoull(at + 1, NULL, 10);
	}
	return sum;
}

void sim_console_free(struct sim_console *c)
{
	kfree(c->cmd.answer);
	c->cmd.answer = NULL;
}

void sim_equal(struct sim_world *w, const char *what, u64 got, u64 want)
{
	if (got != want && !w->failed)
		sim_fail(w, "%s: %llu, not %llu", what, (unsigned long long)got,
			 (unsigned long long)want);
}
