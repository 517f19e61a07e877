/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that messages are sent from, or land in. */
#ifndef LNET_SELFTEST_MEMORY_H
#define LNET_SELFTEST_MEMORY_H

#include "plat.h"

/*
 * For data of messages: zero, so that no leftover goes out, and written, as pages that nobody wrote
 * to share one that is always in the cache. NULL: none; kvfree().
 */
static inline void *lst_memory(size_t size)
{
	void *mem = kvmalloc(size, GFP_NOFS | __GFP_NOWARN);

	return mem ? memset(mem, 0, size) : NULL;
}

#endif
