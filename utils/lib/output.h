/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Standard output of programs: the program fails if it cannot write all output. */
#ifndef LNET_OUTPUT_H
#define LNET_OUTPUT_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "exit_status.h"

/*
 * printf() buffers its output, so it may succeed on a full disk. The error occurs only at the
 * flush.
 */
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

/* main() calls this before it does anything else. */
static inline void output_check(void)
{
	on_exit(output_end, NULL);
}

#endif
