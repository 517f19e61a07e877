/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Taking an interface out of service by hand. */
#ifndef LNET_DRAIN_H
#define LNET_DRAIN_H

#include "plat.h"
#include <lnet/nid.h>

struct lnet;
struct lnet_ni;

/*
 * Config. @nid is used only for what can go no other way, and announced as down; or it is used
 * again. Twice is no error. 0, -ENOENT, -EINVAL (loopback).
 */
int lnet_ni_drain(struct lnet *ln, const struct lnet_nid *nid, bool drained);
/* config: nothing is under way over it */
bool lnet_ni_is_empty(struct lnet *ln, struct lnet_ni *ni);

/*
 * cfg_mutex held. Prepares the removal of the active @ni: pushes a list without it to peers that
 * may send to it and accept pushes. Waits until they have acknowledged the list, 1 s at most. Then
 * waits until @ni receives nothing and no message is in flight, @limit_ns at most.
 */
void lnet_ni_leave(struct lnet_ni *ni, u64 limit_ns);
/* cfg_mutex held. Closes the connections of @ni gracefully, within 1 s. */
void lnet_ni_close(struct lnet_ni *ni);

#endif
