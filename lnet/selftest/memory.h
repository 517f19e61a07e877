/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory from which messages are sent, or into which messages are received. */
#ifndef LNET_SELFTEST_MEMORY_H
#define LNET_SELFTEST_MEMORY_H

#include "plat.h"

/*
 * Allocates memory for payloads, and writes zeros to it. So no old data is sent. Pages that were
 * never written would share one page, which is always in the cache and would distort measurements.
 * The caller frees the memory with kvfree(). NULL: no memory.
 */
static inline void *lst_memory(size_t size)
{
	void *mem = kvmalloc(size, GFP_NOFS | __GFP_NOWARN);

	return mem ? memset(mem, 0, size) : NULL;
}

#endif
