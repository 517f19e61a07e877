/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Allocates the memory of a document in pieces of increasing size. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "arena.h"

#define PIECE_MIN 1024
/*
 * Maximum bytes of a piece. It is below the size from which malloc() calls the kernel for each
 * block: 128 KiB in glibc.
 */
#define PIECE_MAX 65536

struct piece {
	struct piece *next;
	uint64_t room[];
};

struct lnetctl_arena {
	struct piece *pieces;
	size_t nr_users;
	char *at, *end;
	size_t size;		/* of the last piece */
};

static size_t round_up(size_t size)
{
	return (size + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1);
}

struct lnetctl_arena *arena_new(void)
{
	struct lnetctl_arena *a = malloc(PIECE_MIN);

	if (!a)
		return NULL;
	*a = (struct lnetctl_arena){ .nr_users = 1, .size = PIECE_MIN };
	a->at = (char *)(a + 1);
	a->end = (char *)a + PIECE_MIN;
	return a;
}

/*
 * Allocates another piece. An object larger than half a piece gets a separate piece, and the
 * current piece stays in use.
 */
static void *piece_add(struct lnetctl_arena *a, size_t size)
{
	size_t whole = a->size < PIECE_MAX ? a->size * 2 : PIECE_MAX;
	struct piece *new;

	if (size > (whole - sizeof(*new)) / 2)
		whole = sizeof(*new) + size;
	new = malloc(whole);
	if (!new)
		return NULL;
	new->next = a->pieces;
	a->pieces = new;
	if (whole == sizeof(*new) + size)
		return new->room;
	a->size = whole;
	a->at = (char *)new->room + size;
	a->end = (char *)new + whole;
	return new->room;
}

void *arena_get(struct lnetctl_arena *a, size_t size)
{
	char *at = a->at;

	if (size > SIZE_MAX / 2)
		return NULL;
	size = round_up(size);
	if (size > (size_t)(a->end - at))
		return piece_add(a, size);
	a->at = at + size;
	return at;
}

char *arena_text(struct lnetctl_arena *a, const char *text, size_t len)
{
	char *copy = arena_get(a, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

void arena_use(struct lnetctl_arena *a)
{
	a->nr_users++;
}

void arena_drop(struct lnetctl_arena *a)
{
	if (!a || --a->nr_users)
		return;
	while (a->pieces) {
		struct piece *first = a->pieces;

		a->pieces = first->next;
		free(first);
	}
	free(a);
}
