/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Socket addresses of both families. Include the platform's socket headers before this file. */
#ifndef SOCKLND_ADDR_H
#define SOCKLND_ADDR_H

#include "lnd/socklnd/socklnd.h"

struct sock_addr {
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
		struct sockaddr_storage any;
	};
	unsigned int len;
};

static inline void sock_addr_of(struct sock_addr *addr, const struct lnet_nid *nid, u16 port)
{
	memset(addr, 0, sizeof(*addr));
	if (nid->size == 0) {
		addr->in.sin_family = AF_INET;
		addr->in.sin_port = htons(port);
		memcpy(&addr->in.sin_addr, nid->addr, sizeof(addr->in.sin_addr));
		addr->len = sizeof(addr->in);
		return;
	}
	addr->in6.sin6_family = AF_INET6;
	addr->in6.sin6_port = htons(port);
	memcpy(&addr->in6.sin6_addr, nid->addr, sizeof(addr->in6.sin6_addr));
	addr->len = sizeof(addr->in6);
}

static inline bool sock_addr_is_privileged(const struct sock_addr *addr)
{
	bool ip4 = addr->sa.sa_family == AF_INET;

	return ntohs(ip4 ? addr->in.sin_port : addr->in6.sin6_port) <= LNET_PORT_RESERVED_MAX;
}

/* Writes the address to a struct sock_from. */
static inline void sock_addr_bytes(const struct sock_addr *addr, u8 to[16])
{
	memset(to, 0, 16);
	if (addr->sa.sa_family == AF_INET)
		memcpy(to, &addr->in.sin_addr, sizeof(addr->in.sin_addr));
	else
		memcpy(to, &addr->in6.sin6_addr, sizeof(addr->in6.sin6_addr));
}

/* Returns true if @addr and @nid have the same host address. Their families are equal. */
static inline bool sock_addr_is_host(const struct sock_addr *addr, const struct lnet_nid *nid)
{
	if (addr->sa.sa_family == AF_INET)
		return !memcmp(&addr->in.sin_addr, nid->addr, sizeof(addr->in.sin_addr));
	return !memcmp(&addr->in6.sin6_addr, nid->addr, sizeof(addr->in6.sin6_addr));
}

static inline void sock_from_addr(struct sock_from *from, const struct sock_addr *addr,
				  const struct lnet_nid *nid)
{
	sock_addr_bytes(addr, from->addr);
	from->privileged = sock_addr_is_privileged(addr);
	from->same_host = sock_addr_is_host(addr, nid);
}

#endif
