/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Resolves host names to addresses. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <sys/socket.h>
#include "client.h"

static const void *ai_address(const struct addrinfo *ai)
{
	if (ai->ai_family == AF_INET)
		return &((const struct sockaddr_in *)ai->ai_addr)->sin_addr;
	return &((const struct sockaddr_in6 *)ai->ai_addr)->sin6_addr;
}

int ctl_host_resolve(const char *host, char *addr, size_t size)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *ai;
	int rc = -EINVAL;
	size_t i;

	for (i = 0; i < sizeof(families) / sizeof(families[0]) && rc; i++) {
		hints.ai_family = families[i];
		if (getaddrinfo(host, NULL, &hints, &ai))
			continue;
		rc = inet_ntop(ai->ai_family, ai_address(ai), addr, (socklen_t)size) ? 0 : -EINVAL;
		freeaddrinfo(ai);
	}
	return rc;
}
