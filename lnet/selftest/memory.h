/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory from which messages are sent, or into which messages are received. */
#ifndef LNET_SELFTEST_MEMORY_H
#define LNET_SELFTEST_MEMORY_H

#include "plat.h"

/*
 * Allocates memory for payloads. The memory is zeroed, so that old data is not sent. The function
 * writes to it, because pages never written share one page that is always in the cache. The caller
 * frees the memory with kvfree(). NULL: no memory.
 */
static inline void *lst_memory(size_t size)
{
	void *mem = kvmalloc(size, GFP_NOFS | __GFP_NOWARN);

	return mem ? memset(mem, 0, size) : NULL;
}

#endif
