/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* For users of the in-kernel API: access to the instance of a network namespace. */
#ifndef LNET_KERNEL_NETNS_H
#define LNET_KERNEL_NETNS_H

#include "plat.h"

struct lnet;
struct net;

/*
 * A user of an instance. The memory belongs to the user, and stays until lnet_client_close().
 *
 * @gone: the namespace is being removed. Called at most once, in process context, with no lock
 * held; may sleep. Before it returns, the user unlinks its MDs and receives their last events.
 * Afterwards the user calls only lnet_client_close() for this instance. @gone is NULL if the user
 * has nothing to end. It is also NULL if the user has its own pernet_operations, registered after
 * those of lnet.ko, which close the client earlier.
 */
struct lnet_client {
	struct lnet *ln;		/* the instance */
	void (*gone)(struct lnet_client *client);
	struct list_head link;		/* private to lnet.ko, like @state */
	enum { LNET_CLIENT_OPEN, LNET_CLIENT_BUSY, LNET_CLIENT_GONE } state;
};

/*
 * Sets client->ln to the instance of @net. If there is none, creates it with only the loopback
 * interface. Process context, may sleep, RTNL not held. 0, -ENOMEM, -ESHUTDOWN: @net is being
 * removed.
 */
int lnet_client_open(struct lnet_client *client, struct net *net);
/*
 * Writes to the log that the caller has set the module parameter @name to @text. Does nothing if
 * the caller's namespace has no instance. Process context, may sleep.
 */
void lnet_param_written(const char *name, const char *text);
/*
 * Ends the use of an instance. Waits for a running gone(), and prevents later calls of it. Must not
 * be called from gone() or from a handler.
 */
void lnet_client_close(struct lnet_client *client);

#endif
