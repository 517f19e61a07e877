/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selection by expected time: what paths have under way, and how fast it gets done. */
#ifndef LNET_LOAD_H
#define LNET_LOAD_H

#include "plat.h"

struct lnet_att;
struct lnet_path;

struct lnet_load {			/* [sh of its peer] of a path, from its first traffic on */
	u64 bytes;			/* of requests that chose it and have not ended */
	u64 mib_ns;			/* time for 1 MiB, smoothed; 0: not measured */
	u64 end_ns;			/* when a request last ended */
	u64 since_ns;			/* begin of the sample */
	u64 seen_ns;			/* what the sample had seen when nothing was under way */
	u64 done;			/* bytes in it */
	u32 ends;			/* requests in it */
	u32 mbit;			/* the link's speed that it is for; 0 unknown */
};

/* [sh] ns until @bytes more would be done at the rate seen last; before any the link's speed. */
u64 lnet_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns);
/* [sh] An attempt that chose @path; one that ends there, @left: it had been given to the driver. */
void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns);
void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left);

#endif
