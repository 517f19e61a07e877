/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selection by expected time: what paths have under way, and how fast it gets done. */
#ifndef LNET_LOAD_H
#define LNET_LOAD_H

#include "model/path.h"
#include "plat.h"

struct lnet_att;
struct lnet_path;

/* [sh] ns until @bytes more would be done at the rate seen last; before any the link's speed. */
u64 lnet_load_due_ns(const struct lnet_path *path, u32 bytes, u64 now_ns);
/* [sh] An attempt that chose @path; one that ends there, @left: it had been given to the driver. */
void lnet_load_add(struct lnet_path *path, struct lnet_att *att, u64 now_ns);
void lnet_load_sub(struct lnet_path *path, struct lnet_att *att, bool left);

#endif
