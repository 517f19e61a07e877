/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Standard output of programs: a report that could not be written is a failure. */
#ifndef LNET_OUTPUT_H
#define LNET_OUTPUT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"

/* A disk may be full although each printf() succeeded, and an earlier error may be forgotten. */
static inline void output_end(int status, void *arg)
{
	int failed = ferror(stdout), err;

	(void)arg;
	errno = 0;
	failed |= fclose(stdout);
	err = errno;
	if (!failed)
		return;
	fprintf(stderr, "%s: cannot write standard output: %s\n", program_invocation_short_name,
		strerror(err ? err : EIO));
	if (!status)
		_exit(EXIT_NO_OUTPUT);
}

/* First of all in main(). */
static inline void output_check(void)
{
	on_exit(output_end, NULL);
}

#endif
