/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Checks interfaces that a plan adds: each needs an address on this machine, and a free port. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "plan.h"

/* Returns the port of the node's listeners after the plan is applied. */
static unsigned int port_of(const struct plan *p)
{
	const struct lnetctl_node *set = lnetctl_find(p->doc, "set");
	const struct lnetctl_node *global = set ? lnetctl_find(set, "global") : NULL;
	const char *text = global ? lnetctl_text(global, "accept_port") : NULL;

	text = text ? text : lnetctl_text(p->global, "accept_port");
	return text ? (unsigned int)strtoul(text, NULL, 10) : 0;
}

static socklen_t nid_address_of(const char *nid, unsigned int port, struct sockaddr_storage *to)
{
	struct sockaddr_in *in = (struct sockaddr_in *)to;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)to;
	char text[INET6_ADDRSTRLEN];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(nid, "@"), nid);
	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons((uint16_t)port);
		return sizeof(*in);
	}
	if (inet_pton(AF_INET6, text, &in6->sin6_addr) != 1)
		return 0;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons((uint16_t)port);
	return sizeof(*in6);
}

/* Binds a socket as the node's listener would, and closes it. Returns 0 or -errno. */
static int bind_try(const char *nid, unsigned int port)
{
	struct sockaddr_storage to;
	socklen_t len = nid_address_of(nid, port, &to);
	int fd = len ? socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1, on = 1, rc;

	if (fd < 0)
		return 0;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (to.ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	rc = bind(fd, (struct sockaddr *)&to, len) ? -errno : 0;
	close(fd);
	return rc;
}

/* Does the node already listen at the address of @nid, on the same net or another net? */
static bool node_has(const struct plan *p, const char *nid)
{
	const struct lnetctl_node *nets = lnetctl_find(p->addresses, "net"), *net, *nis, *ni;
	size_t len = strcspn(nid, "@") + 1;
	const char *has;

	for (net = nets ? nets->first : NULL; net; net = net->next) {
		nis = lnetctl_find(net, "local NI(s)");
		for (ni = nis ? nis->first : NULL; ni; ni = ni->next) {
			has = lnetctl_text(ni, "nid");
			if (has && !strncmp(has, nid, len))
				return true;
		}
	}
	return false;
}

/* Will the node wait for this interface? True if the interface is missing or has no address. */
static bool ni_is_awaited(const struct lnetctl_node *ni)
{
	const struct lnetctl_node *intf = lnetctl_find(ni, "interfaces");
	const char *name = intf && intf->first ? intf->first->text : NULL;
	struct local_address *all;
	int nr = name ? local_addresses(&all) : -1, i;
	bool found = false;

	for (i = 0; i < nr; i++)
		found |= !strcmp(all[i].name, name);
	if (nr >= 0)
		free(all);
	return name && !found;
}

static int ni_probe(struct plan *p, const struct lnetctl_node *ni, unsigned int port)
{
	const char *nid = lnetctl_text(ni, "nid");
	int rc = nid && !node_has(p, nid) && !ni_is_awaited(ni) ? bind_try(nid, port) : 0;

	p->im.trans.at = ni;
	if (rc == -EADDRNOTAVAIL)
		return ctl_fail(p->im.c, rc, "add", "import",
				"cannot add interface %s: the address is not on this machine", nid);
	if (rc == -EADDRINUSE)
		return ctl_fail(p->im.c, rc, "add", "import",
				"cannot add interface %s: address and port are in use (another "
				"node of this machine? see accept_port)",
				nid);
	/*
	 * bind_try() may have failed in another way only because of a limit or permission of this
	 * process, so the node tries to add the interface
	 */
	return 0;
}

int plan_probe(struct plan *p)
{
	const struct lnetctl_node *add = lnetctl_find(p->doc, "add"), *nets, *net, *nis, *ni;
	unsigned int port = port_of(p);
	int rc = 0;

	nets = add ? lnetctl_find(add, "net") : NULL;
	for (net = nets ? nets->first : NULL; net && !rc; net = net->next) {
		nis = lnetctl_find(net, "local NI(s)");
		if (strncmp(lnetctl_text(net, "net type"), "tcp", 3))
			continue;
		for (ni = nis ? nis->first : NULL; ni && !rc; ni = ni->next)
			rc = ni_probe(p, ni, port);
	}
	return rc;
}
