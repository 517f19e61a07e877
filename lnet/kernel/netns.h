/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For users of the in-kernel API: how to come by the instance of a network namespace. */
#ifndef LNET_KERNEL_NETNS_H
#define LNET_KERNEL_NETNS_H

#include "plat.h"

struct lnet;
struct net;

/*
 * One who uses an instance; memory of the user's that stays until lnet_client_close(). @gone: the
 * namespace is being taken down. Called at most once, in process context, no lock held, may sleep;
 * when it returns the user has unlinked his MDs, has seen their last events, and does not call the
 * API for this instance any more but to close. NULL: there is nothing to end, or the user's own
 * pernet_operations, registered after ours, close before.
 */
struct lnet_client {
	struct lnet *ln;		/* the instance */
	void (*gone)(struct lnet_client *client);
	struct list_head link;		/* the module's, like what follows */
	enum { LNET_CLIENT_OPEN, LNET_CLIENT_BUSY, LNET_CLIENT_GONE } state;
};

/*
 * The instance of @net, made if there is none yet, with its loopback interface; other interfaces
 * are a matter of configuration. Process context, may sleep, RTNL not held. 0, -ENOMEM, -ESHUTDOWN
 * (the namespace is being taken down).
 */
int lnet_client_open(struct lnet_client *client, struct net *net);
/*
 * Logs that the caller has written @text to the module parameter @name. Does nothing if the
 * caller's namespace has no instance. Process context, may sleep.
 */
void lnet_param_written(const char *name, const char *text);
/* After it gone() is not called; waits for one that runs. Neither from there nor from a handler. */
void lnet_client_close(struct lnet_client *client);

#endif
