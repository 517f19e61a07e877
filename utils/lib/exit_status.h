/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The exit statuses that all programs share; lnetctl(8) documents them. */
#ifndef LNET_EXIT_STATUS_H
#define LNET_EXIT_STATUS_H

enum exit_status {
	EXIT_DONE = 0,
	EXIT_DIFFERS = 1,	/* only from `lnetctl plan --check` */
	EXIT_USAGE = 2,		/* a word, an option or a value on the command line is invalid */
	EXIT_NO_NODE = 3,	/* no node answers, or the node is not configured */
	EXIT_NOT_PERMITTED = 4,
	/* stock lnetctl's: the low byte of the negative errno, or of -1 */
	EXIT_NO_GROUP_COMMAND = 234,	/* a group of commands without one of its commands */
	EXIT_NO_OUTPUT = 251,		/* standard output cannot be written: -EIO */
	EXIT_NO_COMMAND = 255,		/* the first word is not a command */
};

#endif
