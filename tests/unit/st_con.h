/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Commands to the console of a node of st_world.h, and its replies. */
#ifndef TESTS_UNIT_ST_CON_H
#define TESTS_UNIT_ST_CON_H

#include "st_world.h"

static struct lst_command cmd;
static bool done;

static void on_done(struct lst_command *user)
{
	done = true;
}

/* Each argument ends with "|". */
static void post(unsigned int node, const char *words)
{
	static char request[512];
	size_t i, len = strlen(words);

	for (i = 0; i < len; i++)
		request[i] = words[i] == '|' ? 0 : words[i];
	kfree(cmd.answer);
	cmd = (struct lst_command){ .request = request, .len = (u32)len, .done = on_done };
	done = false;
	lst_command(st_of(node), &cmd);
}

/* Returns the status; the reply stays until the next command. */
static int result(void)
{
	u64 until = rails.now_ns + 100 * NSEC_PER_SEC;

	while (!done && rails.now_ns < until)
		st_run(RAILS_MS / 10);
	CU_ASSERT_FATAL(done);
	return cmd.status;
}

static int tell(unsigned int node, const char *words)
{
	post(node, words);
	return result();
}

static bool said(const char *text)
{
	return cmd.answer && strstr(cmd.answer, text);
}

#endif
