/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that messages are sent from or received into. */
#ifndef LNET_SELFTEST_MEMORY_H
#define LNET_SELFTEST_MEMORY_H

#include "plat.h"

/*
 * Memory for payloads. It is zeroed, so that old data is not sent. It is also written, because
 * pages never written share one page that is always in the cache. NULL: no memory; kvfree().
 */
static inline void *lst_memory(size_t size)
{
	void *mem = kvmalloc(size, GFP_NOFS | __GFP_NOWARN);

	return mem ? memset(mem, 0, size) : NULL;
}

#endif
