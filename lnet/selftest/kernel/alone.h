/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For the modules bulk_server and bulk_write: bulk transfers between nodes that no console
 * controls.
 */
#ifndef LNET_SELFTEST_ALONE_H
#define LNET_SELFTEST_ALONE_H

#include <linux/types.h>

struct lst_alone {
	const char *name;		/* of the file below /proc */
	bool server;
	char *size;			/* "1M" */
	/* of a server: maximum concurrent transfers, 0: any number */
	unsigned int count;
	unsigned int loop;		/* of a client: requests to each target, 0: no limit */
	char *target;			/* NIDs, or addresses on net tcp */
};

/*
 * Runs a bulk test until lst_alone_end(), at the LNet node of the initial network namespace. May
 * sleep. Returns 0 or -errno.
 */
int lst_alone_begin(const struct lst_alone *alone);
void lst_alone_end(const struct lst_alone *alone);

#endif
