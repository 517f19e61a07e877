/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a document: nodes and their words stand one behind the other, and go all at once. A
 * large answer has half a million of them.
 */
#ifndef LNETCTL_ARENA_H
#define LNETCTL_ARENA_H

#include <stddef.h>

struct lnetctl_arena;

struct lnetctl_arena *arena_new(void);	/* with one user; NULL: no memory */
/* @size bytes for as long as the arena has users; NULL: no memory */
void *arena_get(struct lnetctl_arena *a, size_t size);
char *arena_text(struct lnetctl_arena *a, const char *text, size_t len);	/* a copy */
void arena_use(struct lnetctl_arena *a);
void arena_drop(struct lnetctl_arena *a);	/* the last user's frees it; NULL is fine */

#endif
