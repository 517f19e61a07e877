/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Management of a node in user space: serves requests of lnetctl over NETLINK_USERSOCK. */
#ifndef LNET_USER_NETLINK_H
#define LNET_USER_NETLINK_H

#include "plat.h"

struct lnet_nl_server;
struct lnet_ctl_err;

#define LNET_NL_NODE_NAME_SIZE	64	/* size of the name of a node, with the final 0 */

struct lnet_nl_server_cfg {
	struct lnet *ln;		/* outlives the server */
	/* name of the node, copied; see lnet_nl_user_port() */
	const char *name, *version;
	/*
	 * For programs that store the configuration; set both functions or none. begin() is called
	 * before each request that may change the configuration; @size: bytes of requests. If it
	 * returns -errno, with a text in @e, the request is rejected. end() is called after the
	 * request and before the reply; @rc: result of the request. The client receives the return
	 * value and @e of end(). end() may call lnet_nl_server_serve().
	 */
	int (*begin)(void *arg, size_t size, struct lnet_ctl_err *e);
	int (*end)(void *arg, int rc, struct lnet_ctl_err *e);
	void *arg;
};

/*
 * Binds the port of the node's name in this network namespace. Returns 0, -EADDRINUSE (a node of
 * this user and name exists), -EINVAL (there is no name, or it is too long), or an error of
 * socket() or bind().
 */
int lnet_nl_server_create(struct lnet_nl_server **srv, const struct lnet_nl_server_cfg *cfg);
void lnet_nl_server_destroy(struct lnet_nl_server *srv);	/* NULL is fine */
/*
 * Serves clients for at most @timeout_ms, or until lnet_nl_server_wake(). Only the thread that
 * destroys the server calls it. It never waits for a client: it stores messages that a slow reader
 * does not take, within limits, and retries them. Returns 0 or -errno.
 */
int lnet_nl_server_step(struct lnet_nl_server *srv, int timeout_ms);
/* Makes lnet_nl_server_step() return. Any thread, also from signal handlers. */
void lnet_nl_server_wake(struct lnet_nl_server *srv);
/*
 * Serves one request of this process, as lnetctl_serve_fn. Only the thread that calls
 * lnet_nl_server_step() may call it. It replies before it returns, and rejects commands that wait
 * for other nodes.
 */
int lnet_nl_server_serve(void *srv, const void *msg, size_t len,
			 int (*reply)(void *to, const void *msgs, size_t len), void *to);

#endif
