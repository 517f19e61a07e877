/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For users of the in-kernel API: access to the instance of a network namespace. */
#ifndef LNET_KERNEL_NETNS_H
#define LNET_KERNEL_NETNS_H

#include "plat.h"

struct lnet;
struct net;

/*
 * A user of an instance, in memory of the user that stays until lnet_client_close(). @gone: the
 * namespace is being removed. Called at most once, in process context, no lock held; may sleep.
 * Before it returns, the user unlinks its MDs and receives their last events; afterwards it calls
 * only lnet_client_close() for this instance. NULL: the user has nothing to end, or its own
 * pernet_operations, registered after those of lnet.ko, close the client earlier.
 */
struct lnet_client {
	struct lnet *ln;		/* the instance */
	void (*gone)(struct lnet_client *client);
	struct list_head link;		/* private to lnet.ko, as is @state */
	enum { LNET_CLIENT_OPEN, LNET_CLIENT_BUSY, LNET_CLIENT_GONE } state;
};

/*
 * Sets client->ln to the instance of @net, which it creates, with only the loopback interface, if
 * there is none. Process context, may sleep, RTNL not held. 0, -ENOMEM, -ESHUTDOWN: @net ends.
 */
int lnet_client_open(struct lnet_client *client, struct net *net);
/*
 * Logs that the caller has written @text to the module parameter @name. Does nothing if the
 * caller's namespace has no instance. Process context, may sleep.
 */
void lnet_param_written(const char *name, const char *text);
/* Waits for a running gone(), and prevents later calls. Not from gone() or from a handler. */
void lnet_client_close(struct lnet_client *client);

#endif
