/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The path of a self-test socket, in a directory where no other user can create or replace it. */
#ifndef UTILS_LIB_DOOR_H
#define UTILS_LIB_DOOR_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DOOR_ROOT	"/run/lnet"

/*
 * The directory of user @uid: /run/lnet for root, else $XDG_RUNTIME_DIR/lnet of the caller itself,
 * and /run/user/UID/lnet for all others.
 */
static inline int door_directory(char *path, size_t size, unsigned int uid)
{
	const char *own = uid == getuid() ? getenv("XDG_RUNTIME_DIR") : NULL;
	int len;

	if (!uid)
		len = snprintf(path, size, "%s", DOOR_ROOT);
	else if (own && *own == '/')
		len = snprintf(path, size, "%s/lnet", own);
	else
		len = snprintf(path, size, "/run/user/%u/lnet", uid);
	return len < (int)size ? 0 : -ENAMETOOLONG;
}

/* 0, -errno of lstat(), or -EPERM: neither root nor @uid owns @path, or others may write in it. */
static inline int door_directory_check(const char *path, unsigned int uid)
{
	struct stat st;

	if (lstat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode) || (st.st_uid && st.st_uid != uid) || st.st_mode & 022)
		return -EPERM;
	return 0;
}

/*
 * Writes to @at the socket of node @name of user @uid in the caller's network namespace, and checks
 * its directory. Nodes of two namespaces may have the same name, so the path has the number of the
 * namespace. 0 or -errno; -ENOENT: the directory does not exist.
 */
static inline int door_address(struct sockaddr_un *at, unsigned int uid, const char *name)
{
	char dir[sizeof(at->sun_path)];
	struct stat ns;
	int rc = door_directory(dir, sizeof(dir), uid), len;

	if (rc)
		return rc;
	if (!*name || strchr(name, '/'))
		return -EINVAL;
	if (stat("/proc/thread-self/ns/net", &ns))
		return -errno;
	at->sun_family = AF_UNIX;
	len = snprintf(at->sun_path, sizeof(at->sun_path), "%s/selftest.%lu.%s", dir,
		       (unsigned long)ns.st_ino, name);
	return len < (int)sizeof(at->sun_path) ? door_directory_check(dir, uid) : -ENAMETOOLONG;
}

#endif
