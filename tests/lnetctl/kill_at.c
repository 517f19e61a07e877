/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Preloaded library: kills the program with SIGKILL just before its KILL_AT-th call of one of the
 * functions below. It counts from the start, or, with KILL_ARM, only while that file exists.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_long left;
static const char *arm;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("KILL_AT");

	arm = getenv("KILL_ARM");
	left = at ? strtol(at, NULL, 10) : 0;
}

static void count(void)
{
	if (left <= 0 || (arm && access(arm, F_OK)))
		return;
	if (atomic_fetch_sub(&left, 1) == 1)
		kill(getpid(), SIGKILL);
}

#define WRAP(result, name, params, ...)						\
result name params								\
{										\
	result (*real) params = (result (*) params)dlsym(RTLD_NEXT, #name);	\
										\
	count();								\
	return real(__VA_ARGS__);						\
}

WRAP(ssize_t, sendto, (int fd, const void *buf, size_t len, int flags, const struct sockaddr *to,
		       socklen_t to_len), fd, buf, len, flags, to, to_len)
WRAP(int, bind, (int fd, const struct sockaddr *to, socklen_t len), fd, to, len)
WRAP(int, listen, (int fd, int backlog), fd, backlog)
WRAP(int, close, (int fd), fd)
WRAP(int, posix_fallocate, (int fd, off_t from, off_t len), fd, from, len)
WRAP(int, ftruncate, (int fd, off_t len), fd, len)
WRAP(int, fsync, (int fd), fd)
WRAP(int, rename, (const char *from, const char *to), from, to)
