/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a document. The nodes and texts of the document are adjacent, and are freed together. A
 * large reply has half a million nodes and texts.
 */
#ifndef LNETCTL_ARENA_H
#define LNETCTL_ARENA_H

#include <stddef.h>

struct lnetctl_arena;

struct lnetctl_arena *arena_new(void);	/* the new arena has one user; NULL: no memory */
/* Returns @size bytes, which are valid until the last user drops the arena. NULL: no memory. */
void *arena_get(struct lnetctl_arena *a, size_t size);
char *arena_text(struct lnetctl_arena *a, const char *text, size_t len);	/* a copy */
void arena_use(struct lnetctl_arena *a);
/* the call of the last user frees @a; accepts NULL */
void arena_drop(struct lnetctl_arena *a);

#endif
