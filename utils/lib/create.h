/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Creates files in directories that other users may also write to. */
#ifndef LNET_CREATE_H
#define LNET_CREATE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * As open() with O_CREAT, but a symbolic link at @path is an error (-1, ELOOP). If another user
 * made the link, open() would write to the target of the link. The system's own links, such as
 * /dev/stdout, are allowed.
 */
static inline int file_create(const char *path, int flags, mode_t mode)
{
	if (strncmp(path, "/dev/std", 8) && strncmp(path, "/dev/fd/", 8))
		flags |= O_NOFOLLOW;
	return open(path, flags | O_CREAT | O_CLOEXEC, mode);
}

/*
 * As file_create(), but for a temporary name. Removes a file at @path first, and then creates a new
 * file. If another process creates a file there in between, the function fails.
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
