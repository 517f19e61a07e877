/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The exit statuses that all programs of this project have in common. lnetctl(8) documents them. */
#ifndef LNET_EXIT_STATUS_H
#define LNET_EXIT_STATUS_H

enum exit_status {
	EXIT_DONE = 0,
	EXIT_DIFFERS = 1,	/* only from `lnetctl plan --check` */
	EXIT_USAGE = 2,		/* an argument, an option or its value is invalid */
	EXIT_NO_NODE = 3,	/* no node responds, or the node is not configured */
	EXIT_NOT_PERMITTED = 4,
	/* The next three are the statuses of stock lnetctl: low bytes of -EINVAL, -EIO and -1. */
	EXIT_NO_GROUP_COMMAND = 234,	/* a command group without one of its commands */
	EXIT_NO_OUTPUT = 251,		/* standard output cannot be written */
	EXIT_NO_COMMAND = 255,		/* the first argument is not a command */
};

#endif
