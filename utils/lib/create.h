/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that programs write, in directories that other users may write as well. */
#ifndef LNET_CREATE_H
#define LNET_CREATE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * As open() with O_CREAT. If another user put a symbolic link at @path, open() would write the file
 * it points to: so a link is -1 with ELOOP. /dev/stdout and the like are links of the system.
 */
static inline int file_create(const char *path, int flags, mode_t mode)
{
	if (strncmp(path, "/dev/std", 8) && strncmp(path, "/dev/fd/", 8))
		flags |= O_NOFOLLOW;
	return open(path, flags | O_CREAT | O_CLOEXEC, mode);
}

/*
 * The same for a temporary name, which no other process shall have: what is there is removed, and
 * nothing that appears there meanwhile is opened.
 */
static inline int file_create_new(const char *path, mode_t mode)
{
	if (unlink(path) && errno != ENOENT)
		return -1;
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

/* As fopen(path, "we"). */
static inline FILE *file_write(const char *path)
{
	int fd = file_create(path, O_WRONLY | O_TRUNC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !out)
		close(fd);
	return out;
}

#endif
