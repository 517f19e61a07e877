/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Memory of a document: its nodes and texts follow each other, and are freed together. A large
 * reply has half a million of them.
 */
#ifndef LNETCTL_ARENA_H
#define LNETCTL_ARENA_H

#include <stddef.h>

struct lnetctl_arena;

struct lnetctl_arena *arena_new(void);	/* with one user; NULL: no memory */
/* @size bytes, valid until the last user drops the arena; NULL: no memory */
void *arena_get(struct lnetctl_arena *a, size_t size);
char *arena_text(struct lnetctl_arena *a, const char *text, size_t len);	/* a copy */
void arena_use(struct lnetctl_arena *a);
void arena_drop(struct lnetctl_arena *a);	/* the last user's call frees it; NULL is fine */

#endif
