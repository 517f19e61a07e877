/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For the modules bulk_server and bulk_write: bulk between nodes that no console leads. */
#ifndef LNET_SELFTEST_ALONE_H
#define LNET_SELFTEST_ALONE_H

#include <linux/types.h>

struct lst_alone {
	const char *name;		/* of the file below /proc */
	bool server;
	char *size;			/* "1M" */
	unsigned int count;		/* of a server: transfers at one time, 0: any number */
	unsigned int loop;		/* of a client: to each target, 0: no end */
	char *target;			/* NIDs, or addresses on net tcp */
};

/* The first network namespace's node does it until _end(). May sleep. 0 or -errno. */
int lst_alone_begin(const struct lst_alone *alone);
void lst_alone_end(const struct lst_alone *alone);

#endif
