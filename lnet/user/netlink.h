/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A node in user space as lnetctl sees it: management requests over NETLINK_USERSOCK. */
#ifndef LNET_USER_NETLINK_H
#define LNET_USER_NETLINK_H

#include "plat.h"

struct lnet_nl_server;
struct lnet_ctl_err;

#define LNET_NL_NODE_NAME_SIZE	64	/* of a node's name, with the final 0 */

struct lnet_nl_server_cfg {
	struct lnet *ln;		/* outlives the server */
	/* copied; the name is that of the node, see lnet_nl_user_port() */
	const char *name, *version;
	/*
	 * For those who keep the configuration; both or none. begin() before each request that may
	 * change it, by @size bytes of requests: 0, or -errno with the words in @e, and the request
	 * is refused. end() after it, before the client hears of it: @rc is how it ended; what it
	 * returns, with @e, the client is told. It may call serve.
	 */
	int (*begin)(void *arg, size_t size, struct lnet_ctl_err *e);
	int (*end)(void *arg, int rc, struct lnet_ctl_err *e);
	void *arg;
};

/*
 * Take the port of the node's name in this network namespace. 0, -EADDRINUSE (a node of this user
 * and name is there), -EINVAL (no or too long a name), or the error of socket().
 */
int lnet_nl_server_create(struct lnet_nl_server **srv, const struct lnet_nl_server_cfg *cfg);
void lnet_nl_server_destroy(struct lnet_nl_server *srv);	/* NULL is fine */
/*
 * Serve whoever calls, for at most @timeout_ms or until lnet_nl_server_wake(). One thread, the same
 * that destroys. Never waits for a client: what a slow reader does not take is kept, within limits,
 * and tried again. 0 or -errno.
 */
int lnet_nl_server_step(struct lnet_nl_server *srv, int timeout_ms);
/* Make lnet_nl_server_step() return. Any thread, also from signal handlers. */
void lnet_nl_server_wake(struct lnet_nl_server *srv);
/*
 * One request of this process, answered before it returns; the thread of step. As lnetctl_serve_fn.
 * Commands that wait for other nodes are refused.
 */
int lnet_nl_server_serve(void *srv, const void *msg, size_t len,
			 int (*reply)(void *to, const void *msgs, size_t len), void *to);

#endif
