/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Notifies systemd (Type=notify) of the daemon's state, by one datagram to $NOTIFY_SOCKET. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "lnetd.h"

void notify(const char *what)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	socklen_t len;
	int fd;

	if (!path || !*path || strlen(path) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, strlen(path));
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (*path == '@')
		to.sun_path[0] = 0;	/* the abstract namespace */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, what, strlen(what), MSG_NOSIGNAL, (void *)&to, len) < 0)
		what = NULL;		/* ignored: no service manager may listen on the socket */
	close(fd);
}
