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
 * Writes the directory of user @uid. It is /run/lnet for root. It is $XDG_RUNTIME_DIR/lnet for the
 * user of this process, and /run/user/UID/lnet for any other user.
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

/*
 * Checks that root or @uid owns @path, and that no other user may write to it. Returns 0, -EPERM,
 * or -errno of lstat().
 */
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
 * Writes to @at the address of the self-test socket of node @name, which user @uid runs in the
 * caller's network namespace. Checks the directory of the socket. Nodes of two namespaces may have
 * the same name, so the path contains the number of the namespace. Returns 0 or -errno; -ENOENT:
 * the directory does not exist.
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
