/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded library: makes the FAIL_ALLOC-th allocation since the start of main() fail, and
 * creates the file FAIL_MARK.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *old, size_t size);

static unsigned long left;		/* 1: the next allocation fails; 0: no further one fails */
static const char *mark;

/* Runs before main(), so earlier allocations of the loader and of libraries are not counted. */
__attribute__((constructor)) static void begin(void)
{
	const char *nth = getenv("FAIL_ALLOC");

	mark = getenv("FAIL_MARK");
	left = nth ? strtoul(nth, NULL, 10) : 0;
}

static int fails(void)
{
	if (!left || --left)
		return 0;
	close(open(mark, O_CREAT | O_WRONLY, 0600));
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	return fails() ? NULL : __libc_calloc(nr, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}
